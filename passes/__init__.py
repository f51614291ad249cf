"""Passes over a module, one a file; PASSES finds those that transform modules by name."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from hlotool.ir import HloModule

#: takes a module and gives the transformed one, which may be the same object; keyword parameters are its options
Pass: TypeAlias = Callable[..., HloModule]


class _Passes(Mapping[str, Pass]):
    """Name -> pass, imported when asked for: reading a module must not load every operation.

    Each pass is the function of its name, hyphens as underscores, in the file of that name.
    """

    names = ("dce", "legalize", "lift-library-calls", "lift-library-convolution", "lift-library-linalg",
             "lift-library-matmul", "lift-library-other", "outline-fusions", "outline-random-state")

    def __getitem__(self, name: str) -> Pass:
        if name not in self.names:
            raise KeyError(name)
        function = name.replace("-", "_")
        found: Pass = getattr(importlib.import_module(f"hlotool.passes.{function}"), function)
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


PASSES: Mapping[str, Pass] = _Passes()
