"""Verdicts on cases: those of hlotool.verdict, held to what operations declare.

A case about an operation gets no rounding for free but what the operations in it declare (`Op.ulps_of`; several add
like independent errors), so that one that is exact has to be exact; where that is not enough, samples with other
roundings show what the case's own arguments make of them. A whole module is judged as `hlotool compare` does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from hlotool.conformance.case import ConformanceCase, PerDevice
from hlotool.conformance.outcome import CaseOutcome, Status, Worst
from hlotool.diagnostics import HloError
from hlotool.numerics import (
    MODEL,
    Allowance,
    Kind,
    ResultJudgement,
    declared_allowance,
    judge_plainly,
    ulp_distance,
    worst_of,
)


def allowance_of(case: ConformanceCase) -> Allowance:
    """Return the allowance of a case; the rule is in this file's docstring."""
    from hlotool.passes.read import parse

    if not case.opcode:
        return MODEL
    try:
        return declared_allowance(parse(case.text).instructions())
    except HloError:
        return declared_allowance(())


def plain_results(case: ConformanceCase, found: PerDevice, expected: PerDevice) -> list[ResultJudgement]:
    """Return the verdict on each result without any evidence but what is expected."""
    return judge_plainly(found, expected, allowance_of(case))


def compared(case: ConformanceCase, found: PerDevice, expected: PerDevice,
             judged: Sequence[ResultJudgement]) -> CaseOutcome:
    """Return the outcome of a case that gave values, and of which each result was judged."""
    if case.only_shapes:
        return _shapes_compared(found, expected)
    worst = worst_of(judged)
    if worst is None:
        return CaseOutcome(Status.PASS)
    if worst.judgement.problem:
        return CaseOutcome(Status.MISMATCH, str(worst), str(worst.judgement.kind))
    kind = worst.judgement.kind
    is_open = kind in (Kind.ILL_CONDITIONED, Kind.OPEN)
    status = Status.MISMATCH if kind.is_wrong else Status.UNDECIDED if is_open else Status.PASS
    said = _worst(worst)
    detail = _difference(said, kind) if status is not Status.PASS and said is not None else ""
    return CaseOutcome(status, detail, str(kind), said)


def is_wrong(judged: Sequence[ResultJudgement]) -> bool:
    """Return True if some result is wrong."""
    return any(j.judgement.is_wrong for j in judged)


def beyond_budget(found: CaseOutcome) -> CaseOutcome:
    """Return the outcome of a case whose errors are larger than its operations declare, and not wrong for all that."""
    said = found.detail.replace("are wrong", "are off by more than the operations declare, within the error model")
    return replace(found, status=Status.UNDECIDED, detail=said.replace(": wrong;", ":"), agreement=str(Kind.WITHIN))


def _shapes_compared(found: PerDevice, expected: PerDevice) -> CaseOutcome:
    said = [[f"{a.dtype}{list(a.shape)}" for row in side for a in row] for side in (found, expected)]
    if said[0] == said[1]:
        return CaseOutcome(Status.PASS)
    return CaseOutcome(Status.MISMATCH, f"gave {', '.join(said[0])}; expected {', '.join(said[1])}")


def _difference(worst: Worst, kind: Kind) -> str:
    place = f"result {worst.result}" + (f" of device {worst.device}" if worst.device else "")
    index = "[" + ", ".join(map(str, worst.index)) + "]"
    exact = f", at higher precision {worst.exact}" if worst.exact else ""
    what = ("wrong" if kind.is_wrong else "left open by the specification" if kind is Kind.OPEN else
            "left open by the roundings of what they are computed of")
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
