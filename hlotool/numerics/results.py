"""The verdict on all results of a run: every leaf of every device, held against those of another run of the program.

Most results need no samples: what is within a few ULPs of the other run is settled at once, and `samples` are asked for
once, when something is not.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.ir import HloModule
from hlotool.numerics.judgement import SPREAD_FACTOR, Evidence, Judgement, Kind, judge
from hlotool.numerics.rounding import Samples
from hlotool.numerics.static_bound import assumed_ulps

Array: TypeAlias = Any
#: device, then leaf
Rows: TypeAlias = Sequence[Sequence[Array]]


@dataclass(frozen=True)
class ResultJudgement:
    """The verdict on one leaf of one device; device and result are -1 where their numbers differ."""

    device: int
    result: int
    judgement: Judgement

    def __str__(self) -> str:
        place = f"result {self.result}" + (f" of device {self.device}" if self.device > 0 else "")
        return f"{place}: {self.judgement}" if self.result >= 0 else str(self.judgement)


def judge_results(given: Rows, reference: Rows, samples: Samples | None = None, *, factor: float = SPREAD_FACTOR,
                  free_ulps: float | None = None, is_own: bool = True) -> list[ResultJudgement]:
    """The verdict on each leaf: first by `free_ulps` alone, then, where there are samples, by the error model.

    `is_own` says that `reference` is what hlotool's reference gives, and not what a document or another executor does.
    """
    counts = [list(map(len, side)) for side in (given, reference)]
    if counts[0] != counts[1]:
        return [ResultJudgement(-1, -1, _unlike(*counts))]
    found = []
    for device, (row, other) in enumerate(zip(given, reference, strict=True)):
        for result, (value, expected) in enumerate(zip(row, other, strict=True)):
            judgement = judge(value, Evidence(expected), factor=factor, free_ulps=free_ulps)
            if not judgement.problem and judgement.kind > Kind.WITHIN and samples is not None:
                evidence = _evidence(samples, device, result)
                sampled = judge(value, evidence, factor=factor, free_ulps=free_ulps)
                judgement = sampled if is_own else _beside(
                    judgement, sampled, judge(expected, evidence, factor=factor, free_ulps=free_ulps))
            found.append(ResultJudgement(device, result, judgement))
    return found


def settled_results(given: Rows, reference: Rows, samples: Callable[[int], Samples], module: HloModule, *,
                    is_own: bool = True, counts: Sequence[int] = (5, 16)) -> list[ResultJudgement]:
    """The verdict on each leaf; `samples` makes so many, and is asked for more before anything is called wrong.

    Where there are none (HloError: the reference cannot run the program), so many ULPs are allowed as its operations
    suggest (static_bound.py).
    """
    from hlotool.diagnostics import HloError

    found = judge_results(given, reference)
    for count in counts:
        if not any(f.judgement.is_wrong and not f.judgement.problem for f in found):
            break
        try:
            found = judge_results(given, reference, samples(count), is_own=is_own)
        except HloError:
            return judge_results(given, reference, free_ulps=assumed_ulps(module))
    return found


def worst_of(found: Sequence[ResultJudgement]) -> ResultJudgement | None:
    """The leaf of the worst kind; None where there is none."""
    return max(found, key=lambda f: (f.judgement.kind, bool(f.judgement.problem)), default=None)


def _evidence(samples: Samples, device: int, result: int) -> Evidence:
    return Evidence(samples.reference[device][result], samples.shadow[device][result],
                    [s[device][result] for s in samples.samples], lambda: [s[device][result] for s in samples.strict])


def _beside(plain: Judgement, given: Judgement, said: Judgement) -> Judgement:
    """The verdict on what is held against something that the program's own evidence judges, too.

    Where the two are not as good as equal, both have to be what the program allows.
    """
    import numpy as np

    kinds = np.where(plain.kinds <= Kind.WITHIN, plain.kinds, np.maximum(given.kinds, said.kinds))
    tolerance = np.maximum(given.tolerance, said.tolerance)
    return Judgement(kinds, plain.given, plain.reference, given.shadow, tolerance, plain.error).count()


def _unlike(given: list[int], reference: list[int]) -> Judgement:
    import numpy as np

    none = np.zeros((0,))
    said = [f"{len(c)} devices" if len(given) != len(reference) else f"{c[0] if c else 0} results"
            for c in (given, reference)]
    return Judgement(none, none, none, None, none, none, f"{said[0]} against {said[1]}")
