"""The test of interest that keeps the guilty pass: as a module gets smaller, another pass may become guilty."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.bisection import first_wrong_pass
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle import Interest, Observation, WrongResult


@dataclass(frozen=True)
class GuiltyPass(WrongResult):
    """An executor is wrong, and by the dumps of its compiler a pass is to blame: the first one after which values are.

    The pass is kept; with `guilty` only that one is of interest.
    """

    guilty: str = ""

    def describe(self) -> str:
        return f"{self.executor} is wrong after {self.guilty or 'a pass'}"

    def quick(self) -> Interest | None:
        return WrongResult(self.executor, self.against, self.time_limit, is_quick=True)

    def look(self, candidate: Candidate) -> Observation:
        found = super().look(candidate)
        if not found.signs:
            return found
        wrong = first_wrong_pass(candidate.module, candidate.rows or [], self.executor, self.time_limit)
        if wrong is None:
            return Observation((), f"{found.said}; no pass is to blame")
        said = f"after {wrong.changed_by}: {found.said}" + (f"; {wrong.rule}" if wrong.rule else "")
        is_wanted = self.guilty in ("", wrong.changed_by)
        return Observation((f"wrong after {wrong.changed_by}",) if is_wanted else (), said)
