"""Whether an executor gave what a case expects: the verdict of hlotool.verdict, held to what operations declare.

A case about an operation gets no rounding for free but what the operations in it declare (`Op.ulps_of`; several add
like independent errors), so that one that is exact has to be exact; where that is not enough, samples with other
roundings show what the case's own arguments make of them. A whole module is judged as `hlotool compare` does.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from hlotool.conformance.case import Case, PerDevice
from hlotool.conformance.outcome import Outcome, Status, Worst
from hlotool.diagnostics import HloError
from hlotool.ir import HloInstruction
from hlotool.numerics import (
    LEAST_ULPS,
    SPREAD_FACTOR,
    Kind,
    ResultJudgement,
    Samples,
    judge_results,
    terms,
    ulp_distance,
    worst_of,
)
from hlotool.ops import OPS


@dataclass(frozen=True)
class Allowance:
    """What a case may be off by."""

    #: ULPs of each element that need no explanation; None: as many as the type needs
    free_ulps: float | None = None
    #: how many times the spread of the samples an element may be off by
    factor: float = SPREAD_FACTOR
    #: how far each operation of a sample is moved at least
    least_ulps: float = LEAST_ULPS


def allowance_of(case: Case) -> Allowance:
    """The allowance of a case; the rule is in this file's docstring.

    The samples move each operation by all that it declares, so that their spread counts once; only of sums, which may
    be taken in more orders than are drawn, it counts as in `hlotool compare`.
    """
    from hlotool.passes.read import parse

    if not case.opcode:
        return Allowance()
    try:
        instructions = [i for i in parse(case.text).instructions() if i.opcode in OPS]
    except HloError:
        return Allowance(0.0, 1.0, 0.0)
    declared = math.hypot(*(float(OPS[i.opcode].ulps_of(i.shape)) for i in instructions))
    return Allowance(declared, SPREAD_FACTOR if any(map(_sums, instructions)) else 1.0, 0.0)


def _sums(instruction: HloInstruction) -> bool:
    record = OPS[instruction.opcode]
    return "elementwise" not in record.flags and terms(instruction) > 1


def is_settled(case: Case, found: PerDevice, expected: PerDevice) -> bool:
    """Whether the verdict needs no samples."""
    if case.only_shapes:
        return True
    judged = judge_results(found, expected, free_ulps=allowance_of(case).free_ulps)
    return all(j.judgement.kind <= Kind.WITHIN or j.judgement.problem for j in judged)


def compared(case: Case, found: PerDevice, expected: PerDevice, samples: Samples | None = None) -> Outcome:
    """The outcome of a case that gave values."""
    if case.only_shapes:
        return _shapes_compared(found, expected)
    allowed = allowance_of(case)
    judged = judge_results(found, expected, samples, factor=allowed.factor, free_ulps=allowed.free_ulps,
                           is_own=case.expected is None)
    worst = worst_of(judged)
    if worst is None:
        return Outcome(Status.PASS)
    if worst.judgement.problem:
        return Outcome(Status.MISMATCH, str(worst), str(worst.judgement.kind))
    kind = worst.judgement.kind
    status = Status.MISMATCH if kind.is_wrong else Status.UNDECIDED if kind is Kind.ILL_CONDITIONED else Status.PASS
    said = _worst(worst)
    detail = _difference(said, kind) if status is not Status.PASS and said is not None else ""
    return Outcome(status, detail, str(kind), said)


def _shapes_compared(found: PerDevice, expected: PerDevice) -> Outcome:
    said = [[f"{a.dtype}{list(a.shape)}" for row in side for a in row] for side in (found, expected)]
    if said[0] == said[1]:
        return Outcome(Status.PASS)
    return Outcome(Status.MISMATCH, f"gave {', '.join(said[0])}; expected {', '.join(said[1])}")


def _difference(worst: Worst, kind: Kind) -> str:
    place = f"result {worst.result}" + (f" of device {worst.device}" if worst.device else "")
    index = "[" + ", ".join(map(str, worst.index)) + "]"
    exact = f", at higher precision {worst.exact}" if worst.exact else ""
    what = "wrong" if kind.is_wrong else "left open by the roundings of what they are computed of"
    return (f"{place}: element {index} is {worst.value}, expected {worst.expected}{exact}, {worst.ulps:g} ULPs apart: "
            f"{kind}; {worst.outside} of {worst.size} elements are {what}")


def _worst(found: ResultJudgement) -> Worst | None:
    judged = found.judgement
    if not judged.kinds.size:
        return None
    at = judged.worst
    shadow = judged.shadow[at] if judged.shadow is not None and judged.shadow.dtype.kind in "fc" else None
    given, expected = judged.given[at], judged.reference[at]
    least = max(Kind.ILL_CONDITIONED, min(judged.kind, Kind.NON_FINITE))
    return Worst(found.result, found.device, at, str(given), str(expected), "" if shadow is None else f"{shadow:.9g}",
                 float(ulp_distance(given, expected)), int((judged.kinds >= least).sum()), judged.kinds.size)
