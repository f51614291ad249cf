"""Passes over a module; PASSES finds those that transform modules by name.

A folder is a subject: `verify` what must hold, `legalize` forms of other times, `lift` what stands between HLO and
StableHLO, `lints` what is allowed but hardly meant, `equality` whether two modules are the same, `cost` what running
one costs. The files beside them serve all: shapes inferred, instructions rewritten, findings placed in the text.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterator, Mapping
from typing import TypeAlias

from hlotool.ir import HloModule

#: takes a module and gives the transformed one, which may be the same object; keyword parameters are its options
Pass: TypeAlias = Callable[..., HloModule]


#: name -> the module that holds the function of that name, hyphens as underscores
_HOMES = {
    "dce": "hlotool.passes.dce",
    "legalize": "hlotool.passes.legalize.legalizer",
    **{name: f"hlotool.passes.lift.{name.replace('-', '_')}" for name in (
        "lift-library-calls", "lift-library-convolution", "lift-library-linalg", "lift-library-matmul",
        "lift-library-other")},
    "outline-fusions": "hlotool.passes.lift.fusion_calls",
    "outline-random-state": "hlotool.passes.lift.random_state_calls",
}


class _Passes(Mapping[str, Pass]):
    """Name -> pass, imported when asked for: reading a module must not load every operation."""

    def __getitem__(self, name: str) -> Pass:
        found: Pass = getattr(importlib.import_module(_HOMES[name]), name.replace("-", "_"))
        return found

    def __iter__(self) -> Iterator[str]:
        return iter(_HOMES)

    def __len__(self) -> int:
        return len(_HOMES)


PASSES: Mapping[str, Pass] = _Passes()
