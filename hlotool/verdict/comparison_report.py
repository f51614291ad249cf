"""Results of a comparison as records for programs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Annotated, Any, NotRequired, TypeAlias, TypedDict

from hlotool.diagnostics import Diagnostic
from hlotool.diagnostics.records import DiagnosticRecord, diagnostic_records
from hlotool.distributed import PartPlace
from hlotool.verdict.findings import Basis, Comparison, Finding, Verdict

#: NaN, infinities and complex numbers are strings
Number: TypeAlias = float | bool | str | None


class PartRecord(TypedDict):
    """A range of a whole result that is wrong, and the devices of a partitioned program that hold it."""

    devices: list[int]
    range: Annotated[list[list[int]], "start and stop in each dimension"]


class DifferenceRecord(TypedDict):
    """A difference, with the worst element."""

    side: str
    result: int
    device: int
    parts: list[PartRecord]
    inputs: Annotated[str, "how the arguments were made"]
    set: int
    kind: str
    problem: Annotated[str | None, "why there are no elements to compare"]
    index: list[int] | None
    given: Number
    reference: Number
    shadow: Annotated[Number, "the value at higher precision"]
    elements: dict[str, int]


class ArgumentsRecord(TypedDict):
    """The arguments that were tried."""

    sets: int
    planned: Annotated[int, "sets that a longer time budget allows"]
    left_out: Annotated[int, "sets on which a LAPACK routine may not end, as it would iterate on what is not finite"]
    enumerated: Annotated[int, "arguments there are, where all were tried; or 0"]
    kinds: list[str]


class CoverageRecord(TypedDict):
    """The parts of both modules that the arguments reached."""

    elements: Annotated[int, "of results, for each side"]
    undecided: Annotated[int, "those that no arguments decided: ill-conditioned, left open by the specification, "
                              "range end"]
    choices: Annotated[int, "selects, clamps, conditionals and loops that the arguments decide"]
    covered: Annotated[int, "those of which all sides were taken"]
    untaken: Annotated[list[str], "in either module"]
    loops: Annotated[dict[str, int], "loops whose rounds depend on the arguments: the most rounds that one ran"]
    handed_out: Annotated[list[str], "instructions whose values go to the host, where nothing compares them"]
    not_run: Annotated[list[str], "executors that failed on a module"]
    vacuous: Annotated[list[str], "why agreement would mean nothing"]


class ComparisonRecord(TypedDict):
    """A comparison."""

    module: Annotated[str, "the file, or both of them"]
    verdict: Verdict
    kind: Annotated[str, "equal, within rounding, excess precision; wrong, non-finite fold; failed, vacuous, "
                         "ill-conditioned, left open by the specification, range end"]
    basis: Annotated[Basis, "the same for all arguments; all arguments there are; some of them"]
    proof: NotRequired[Annotated[str | None, "what proves that both modules compute the same"]]
    unproved: NotRequired[Annotated[str | None, "of a proof that was asked for: where it stopped"]]
    open: Annotated[list[str], "what is left undecided, in words"]
    left: NotRequired[str]
    right: NotRequired[str]
    executors: NotRequired[list[str]]
    instruction: Annotated[str | None, "the instruction to blame"]
    line: Annotated[int | None, "its line in the module's text"]
    iteration: Annotated[int | None, "the round of the loop that it is in, from 0"]
    who_is_right: NotRequired[str | None]
    why: NotRequired[str | None]
    worst: DifferenceRecord | None
    devices: NotRequired[Annotated[list[int], "of a partitioned program that have wrong elements of a result"]]
    noted: NotRequired[Annotated[list[DifferenceRecord],
                                 "differences that an overflow further up explains, which decide nothing"]]
    elements: Annotated[dict[str, int], "elements by kind, over all results and arguments"]
    arguments: ArgumentsRecord
    coverage: CoverageRecord
    diagnostics: list[DiagnosticRecord]
    seconds: NotRequired[float]


#: the report of `hlotool compare`: a list where there are several comparisons
ComparisonReport: TypeAlias = ComparisonRecord | list[ComparisonRecord]


def failed_record(name: str, diagnostics: Sequence[Diagnostic]) -> ComparisonRecord:
    """Return the record of modules that could not be compared."""
    return {"module": name, "verdict": "none", "kind": "failed", "basis": "sampled", "open": [], "instruction": None,
            "line": None, "iteration": None, "worst": None, "elements": {},
            "arguments": {"sets": 0, "planned": 0, "left_out": 0, "enumerated": 0, "kinds": []},
            "coverage": {"elements": 0, "undecided": 0, "choices": 0, "covered": 0, "untaken": [], "loops": {},
                         "handed_out": [], "not_run": [], "vacuous": []},
            "diagnostics": diagnostic_records(diagnostics)}


def comparison_json(name: str, found: Comparison) -> ComparisonRecord:
    """The record of one comparison; `name` is the file, or both of them."""
    worst = found.worst
    return {
        "module": name, "verdict": found.verdict, "kind": found.kind,
        "basis": found.basis, "proof": found.proof or None, "unproved": found.unproved or None, "open": found.open,
        "left": found.left, "right": found.right, "executors": list(found.executors),
        "instruction": found.instruction or None, "line": found.line or None, "iteration": found.iteration,
        "who_is_right": worst.right if worst else None, "why": worst.why if worst else None,
        "worst": _finding(worst) if worst else None,
        "devices": found.devices,
        "noted": [_finding(f) for f in found.noted[:8]],
        "elements": dict(found.counts),
        "arguments": {"sets": found.compared, "planned": max(found.planned, found.compared),
                      "left_out": found.left_out, "enumerated": found.enumerated,
                      "kinds": list(dict.fromkeys(found.inputs))},
        "coverage": {"elements": found.elements, "undecided": found.undecided,
                     "choices": found.choices, "covered": found.covered, "untaken": found.untaken,
                     "loops": found.loops, "handed_out": found.handed_out, "not_run": found.not_run,
                     "vacuous": found.vacuous},
        "diagnostics": diagnostic_records(found.diagnostics),
        "seconds": round(found.seconds, 3)}


def _finding(found: Finding) -> DifferenceRecord:
    judged = found.judgement
    has_worst = not judged.problem and bool(judged.kinds.size)
    at = judged.worst if has_worst else ()
    shadow = judged.shadow if has_worst else None
    return {
        "side": found.side, "result": found.result, "device": found.device,
        "parts": [part_record(p) for p in found.parts], "inputs": found.inputs, "set": found.number,
        "kind": str(judged.kind), "problem": judged.problem or None, "index": list(at) if has_worst else None,
        "given": _number(judged.given[at]) if has_worst else None,
        "reference": _number(judged.reference[at]) if has_worst else None,
        "shadow": _number(shadow[at]) if shadow is not None else None,
        "elements": judged.counts if has_worst else {}}


def part_record(part: PartPlace) -> PartRecord:
    """Return a range of a whole array on the devices of a partitioned program that hold it."""
    return {"devices": list(part.devices), "range": [[r.start, r.stop] for r in part.ranges]}


def _number(value: Any) -> Any:
    """A number of any element type as JSON has it; what it has not, as text: nan, inf, 1+2j."""
    if getattr(value, "dtype", None) is not None and value.dtype.kind == "c":
        return str(complex(value))
    if str(getattr(value, "dtype", "")) == "bool":
        return bool(value)
    number = float(value)
    if not math.isfinite(number):
        return str(number)
    return int(value) if number == int(number) and getattr(value, "dtype", None) is not None \
        and value.dtype.kind in "iu" else number
