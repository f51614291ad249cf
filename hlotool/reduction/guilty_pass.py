"""A test of interest that keeps the guilty pass of a compiler: what a bisection of the module's dump blames.

The bisection is a function "module:name" of hlotool that takes a module, the arguments of every device and a limit in
seconds, and gives the name of the guilty pass, or an empty text.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass

from hlotool.reduction.candidate import Candidate
from hlotool.reduction.interest import NOTHING, Interest, Sighting


@dataclass(frozen=True)
class GuiltyPass(Interest):
    """A bisection blames a pass."""

    bisection: str = ""
    time_limit: float = 60.0

    def describe(self) -> str:
        return "the same pass is guilty"

    def look(self, candidate: Candidate) -> Sighting:
        module, _, name = self.bisection.partition(":")
        if module.split(".", 1)[0] != "hlotool":
            raise ValueError(f"{self.bisection} is no function of hlotool")
        blamed = getattr(importlib.import_module(module), name)(candidate.module, candidate.rows or [], self.time_limit)
        return Sighting((f"pass {blamed}",), f"the pass {blamed} is guilty") if blamed else NOTHING
