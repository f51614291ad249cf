"""Passes over a module; PASSES finds those that transform modules by name.

A folder is a subject: `verify` what must hold, `legalize` forms of other times, `lift` what stands between HLO and
StableHLO, `lints` what is allowed but hardly meant, `equality` whether two modules are the same, `cost` what running
one costs. The files beside them serve all: shapes inferred, instructions rewritten, findings placed in the text.
"""

from __future__ import annotations

import functools
import importlib
import pathlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from hlotool.ir import HloModule

#: takes a module and gives the transformed one, which may be the same object; keyword parameters are its options
Pass: TypeAlias = Callable[..., HloModule]


def library_files() -> tuple[str, ...]:
    """The files of `lift` that lift library calls: each is a pass of its name, and declares the rules of a family."""
    return tuple(sorted(path.stem for path in pathlib.Path(__file__).parent.glob("lift/lift_library_*.py")))


@functools.cache
def _homes() -> Mapping[str, str]:
    """Name -> the module that holds the function of that name, hyphens as underscores."""
    return {
        "dce": "hlotool.passes.dce",
        "legalize": "hlotool.passes.legalize.legalizer",
        **{name.replace("_", "-"): f"hlotool.passes.lift.{name}" for name in library_files()},
        "outline-fusions": "hlotool.passes.lift.fusion_calls",
        "outline-random-state": "hlotool.passes.lift.random_state_calls",
    }


class _Passes(Mapping[str, Pass]):
    """Name -> pass, imported when asked for: reading a module must not load every operation."""

    def __getitem__(self, name: str) -> Pass:
        found: Pass = getattr(importlib.import_module(_homes()[name]), name.replace("-", "_"))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_homes())

    def __len__(self) -> int:
        return len(_homes())


PASSES: Mapping[str, Pass] = _Passes()
