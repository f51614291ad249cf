"""The verdict on all results of a run: every leaf of every device, by the evidence about the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hlotool.ir.arrays import Array
from hlotool.numerics.allowance import MODEL, Allowance
from hlotool.numerics.evidence import Evidence, Rows
from hlotool.numerics.judgement import Judgement, Kind, Known, judge, without_elements


@dataclass(frozen=True)
class ResultJudgement:
    """The verdict on one leaf of one device; device and result are -1 where their numbers differ."""

    device: int
    result: int
    judgement: Judgement

    def __str__(self) -> str:
        place = f"result {self.result}" + (f" of device {self.device}" if self.device > 0 else "")
        return f"{place}: {self.judgement}" if self.result >= 0 else str(self.judgement)


def judge_results(given: Rows, evidence: Evidence, held: Rows | None = None) -> list[ResultJudgement]:
    """Return the verdict on each leaf, held against the reference, or against `held`: another executor's, a document's.

    Raises HloError as `Evidence.judge` does.
    """
    return _judged(given, evidence.reference if held is None else held,
                   lambda device, result, value: evidence.judge(value, device, result) if held is None
                   else evidence.judge_beside(value, held[device][result], device, result))


def judge_plainly(given: Rows, held: Rows, allowance: Allowance = MODEL) -> list[ResultJudgement]:
    """Return the verdict on each leaf without any evidence but the other side's values."""
    return _judged(given, held, lambda device, result, value: judge(value, Known(held[device][result]), allowance))


def _judged(given: Rows, held: Rows, judged: Callable[[int, int, Array], Judgement]
            ) -> list[ResultJudgement]:
    counts = [list(map(len, side)) for side in (given, held)]
    if counts[0] != counts[1]:
        return [ResultJudgement(-1, -1, _unlike(*counts))]
    return [ResultJudgement(device, result, judged(device, result, value))
            for device, row in enumerate(given) for result, value in enumerate(row)]


def is_settled(found: Sequence[ResultJudgement]) -> bool:
    """Return True if verdicts need no further evidence."""
    return all(f.judgement.kind <= Kind.WITHIN or f.judgement.problem for f in found)


def worst_of(found: Sequence[ResultJudgement]) -> ResultJudgement | None:
    """Return the leaf of the worst kind; None where there is none."""
    return max(found, key=lambda f: (f.judgement.kind, bool(f.judgement.problem)), default=None)


def _unlike(given: list[int], held: list[int]) -> Judgement:
    """Return the verdict on rows of other numbers of devices or results."""
    said = [f"{len(c)} devices" if len(given) != len(held) else f"{c[0] if c else 0} results" for c in (given, held)]
    return without_elements(f"{said[0]} against {said[1]}")
