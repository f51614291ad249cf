"""Findings of `isolate` as diagnostics for frames and as records for programs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal, NotRequired, TypeAlias, TypedDict, cast

from hlotool.blame.codes import (
    GIVEN_NAN,
    MAKES_INFINITY,
    MAKES_NAN,
    MASKED_NAN,
    MENDED_HERE,
    MODULES_PART,
    NOT_DECIDED,
    PARTS_HERE,
    PARTS_TOGETHER,
)
from hlotool.blame.module_pair import PairBlame
from hlotool.blame.nonfinite import Maker, NonFinite
from hlotool.blame.number_text import extremes, number, place_in
from hlotool.blame.places import InstructionPlace, PlaceRecord, no_place
from hlotool.blame.wrong_instruction import Blame
from hlotool.diagnostics import Diagnostic, Note, Severity, find_code, first_few
from hlotool.execution import leaves
from hlotool.numerics import Kind
from hlotool.verdict import Comparison, PartRecord

#: makers that are shown in frames
_SHOWN = 5


IsolateVerdict: TypeAlias = Literal["nan", "infinity", "finite", "differ", "agree", "none"]


class OperandRecord(TypedDict):
    """An operand of an instruction that makes NaN or an infinity."""

    instruction: str
    shape: str
    holds: Annotated[str | None, "its range; null: no array"]
    element: Any


class BlameRecord(PlaceRecord):
    """A finding: an instruction, or a difference of which no instruction is named."""

    kind: Annotated[str | None, "makes-nan, makes-infinity, given-nan; or of a difference: wrong, non-finite fold"]
    code: str | None
    reason: Annotated[str | None, "in plain words"]
    index: NotRequired[list[int]]
    value: NotRequired[Any]
    reference: NotRequired[Annotated[Any, "what the reference computes"]]
    exact: NotRequired[Annotated[Any, "the value at higher precision"]]
    executor: NotRequired[str]
    device: NotRequired[int]
    result: NotRequired[int]
    together: NotRequired[Annotated[list[str], "instructions without which it is right"]]
    operands: NotRequired[list[OperandRecord]]
    inner: NotRequired[Annotated[str | None, "an instruction of a reducer"]]
    reaches_result: NotRequired[bool | None]
    times: NotRequired[int]
    cause: NotRequired[BlameRecord | None]
    partner: NotRequired[Annotated[str | None, "the first module's instruction that stands for it"]]
    confirmed: NotRequired[Annotated[bool | None, "true: on the first module's values of its operands it gives another "
                                                  "value, and with the first module's value in its place the results "
                                                  "are equal, or they are with its `edit` alone; false: no "
                                                  "instruction is named"]]
    edit: NotRequired[Annotated[str | None, "where that is the proof: a small edit of the instruction with which the "
                                            "results are the first module's, on fresh arguments, too"]]
    remaining: NotRequired[Annotated[list[str], "where none is named: instructions that can be edited so"]]
    between: NotRequired[Annotated[list[list[str] | str] | None,
                                   "where none is named: instructions that have the first module's values, and one "
                                   "that has not"]]
    devices: NotRequired[Annotated[list[int], "of a partitioned program: those that have wrong elements of a result"]]
    parts: NotRequired[Annotated[list[PartRecord], "ranges of the whole results that are wrong, with their devices"]]
    runs: NotRequired[int]
    refusals: NotRequired[Any]
    seconds: NotRequired[float]


class IsolateReport(BlameRecord):
    """The report of `hlotool isolate`: a record a line, with the fields of the first guilty instruction."""

    module: str
    against: NotRequired[Annotated[str, "two modules: the first"]]
    verdict: Annotated[IsolateVerdict,
                       "a result holds NaN or an infinity; two executors or modules (none: no verdict of `compare`, of "
                       "which none was asked where arguments are given); with --nan: finite"]
    findings: Annotated[list[BlameRecord], "guilty ones first"]
    inputs: NotRequired[Annotated[str | None, "the arguments that showed it: given, random, ..."]]
    reproduced: NotRequired[Annotated[str | None, "with --reproduce: the file of the small module; null: it does not "
                                                  "show the finding alone"]]


def nonfinite_diagnostics(found: NonFinite) -> list[Diagnostic]:
    """The first makers that reach a result as errors, those that are masked as notes of level info."""
    return [*(_diagnostic(m) for m in found.guilty[:_SHOWN]), *(_diagnostic(m) for m in found.masked[:_SHOWN])]


def _code(maker: Maker) -> str:
    if maker.reaches is False:
        return MASKED_NAN
    if maker.is_given:
        return GIVEN_NAN
    return MAKES_NAN if maker.kind == "nan" else MAKES_INFINITY


def _diagnostic(maker: Maker) -> Diagnostic:
    made = "NaN" if maker.kind == "nan" else "an infinity"
    is_masked = maker.reaches is False
    tail = ", which no result shows" if is_masked else ""
    verb = "holds" if maker.is_given else "makes"
    return at_place(_code(maker), f"{maker.place} {verb} {made}{tail}: {maker.reason.text}", maker.place,
                    severity=Severity.INFO if is_masked else Severity.ERROR, notes=tuple(_notes(maker)))


def _notes(maker: Maker) -> list[Note]:
    found = [Note(f"element {place_in(maker.reason.index)} is {number(maker.reason.value)}")
             ] if maker.reason.index else []
    for operand, value in zip(maker.place.instruction.operands, maker.operands, strict=False):
        if hasattr(value, "dtype"):
            found.append(Note(f"{operand.name}, {operand.shape.text(layout=False)}: {extremes(value)}"))
    if maker.inner is not None:
        found.append(Note(f"inside, {maker.inner.name} = {maker.inner.opcode} does it"))
    if maker.device:
        found.append(Note(f"on device {maker.device}, and not on those before it"))
    if maker.times > 1:
        which = (f"no result shows the {maker.dropped} before this one" if maker.dropped > 1 else
                 "no result shows the one before this" if maker.dropped else "this is the first")
        found.append(Note(f"it does so {maker.times} times in this run; {which}"))
    if maker.cause is not None:
        cause = maker.cause
        line, column = cause.place.line
        source = f" ({cause.place.origin})" if cause.place.origin else ""
        where = f" at {line}:{column}" if line else ""
        found.append(Note(f"the infinity in it was made by {cause.place}{where}{source}: {cause.reason.text}"))
    return found


def at_place(code: str, message: str, place: InstructionPlace, *, severity: Severity = Severity.ERROR,
             notes: tuple[Note, ...] = (), help: str = "") -> Diagnostic:
    """A diagnostic at the instruction of a place."""
    source = place.module.source
    line, column = place.line
    return Diagnostic(code, message, severity, line, column, line, column + len(place.instruction.name) * bool(line),
                      source.filename if source else "<module>", notes, help, (), place.origin)


def record(name: str, found: NonFinite | None, blame: Blame | None, *, is_compared: bool = True,
           inputs: str | None = None, comparison: Comparison | None = None) -> IsolateReport:
    """Return the record of one module. `is_compared` says that an executor was held against the reference."""
    guilty = found.guilty if found is not None else []
    makers = sorted(found.makers, key=lambda m: m not in guilty) if found is not None else []
    findings = [maker_json(m) for m in makers] + ([blame_json(blame)] if blame is not None else [])
    verdict: IsolateVerdict = "differ" if blame is not None else _unexplained(comparison)
    if found is not None and (found.verdict != "finite" or not is_compared):
        verdict = found.verdict
    first = maker_json(guilty[0]) if guilty else blame_json(blame) if blame is not None else nothing()
    return isolation(verdict, name, first, findings, inputs=inputs)


def finding(place: PlaceRecord, kind: str | None, code: str | None, reason: str | None, **facts: Any) -> BlameRecord:
    """Return a finding; `facts` are further fields of its record."""
    return cast("BlameRecord", {"kind": kind, "code": code, **place, "reason": reason, **facts})


def isolation(verdict: IsolateVerdict, module: str, first: BlameRecord, findings: list[BlameRecord], **facts: Any
              ) -> IsolateReport:
    """Return the report of a module; `facts` are further fields."""
    return cast("IsolateReport", {"module": module, "verdict": verdict, **first, "findings": findings, **facts})


def _unexplained(comparison: Comparison | None) -> IsolateVerdict:
    """Return the verdict where no instruction is found: that of `compare`, or that given arguments show nothing."""
    return "agree" if comparison is None else comparison.verdict


def nothing() -> BlameRecord:
    """Return the fields of a finding where there is none."""
    return finding(no_place(), None, None, None)


def blame_diagnostic(blame: Blame) -> Diagnostic:
    """The instruction that an executor gets wrong, as an error."""
    judgement, alone = blame.judgement, not blame.together
    notes = [Note(str(judgement))]
    for name, holds in _operands_at(blame):
        notes.append(Note(f"{name}: {holds}"))
    if not alone:
        names = first_few((i.name for i in blame.together), 8)
        notes.append(Note(f"given the reference's values of {names} it is right, so the compiler folds or fuses them "
                          "with it"))
    if blame.untold:
        names = first_few((i.name for i in blame.untold), 8)
        notes.append(Note(f"no values are known of {names}: it may be one of those"))
    what = "is not finite where it should be, or finite where it should not" \
        if judgement.kind is Kind.NON_FINITE else "is wrong"
    how = ("by itself, given the reference's values of its operands" if alone
           else "when it is compiled together with others")
    return at_place(PARTS_HERE if alone else PARTS_TOGETHER,
                    f"{blame.place} {what} on {blame.executor} {how}", blame.place, notes=tuple(notes))


def pair_diagnostic(pair: PairBlame) -> Diagnostic:
    """The instruction by which the second module computes something else, or where it comes to do so, as an error."""
    if pair.place is not None and pair.edit:
        return at_place(MENDED_HERE, f"{pair.place} makes the results differ: {pair.judgement}", pair.place,
                        notes=(Note(f"with {pair.edit} in its place, the results are those of the first module, on "
                                    "fresh arguments, too"),
                               Note("no other instruction has an edit with which they are, and as many values of the "
                                    "first module")))
    if pair.place is None:
        assert pair.between is not None
        return at_place(NOT_DECIDED, f"result {pair.result} differs, and which instruction is guilty is not decided: "
                        f"{pair.judgement}", pair.between[1],
                        notes=(Note(f"the modules part {pair}"),
                               Note("no instruction gives another value on the first module's values of its operands, "
                                    "with the results right once it has the first module's value"),
                               *([Note("each of these can be edited so that the results are those of the first module: "
                                       + _listed(pair.remaining))] if pair.remaining else [])))
    if pair.partner is None:
        return at_place(MODULES_PART, f"{pair.place} makes the results differ: {pair.judgement}", pair.place, notes=(
            Note("the fold is right with the first module's computation"),
            Note("of both computations, judged as programs, it gives another value on its partner's operands")))
    notes = (Note("on the first module's values of its operands it gives another value"),
             Note("with the first module's value in its place, the results are those of the first module"))
    return at_place(MODULES_PART, f"{pair.place} differs from {pair.partner.name} of the first module: "
                    f"{pair.judgement}", pair.place, notes=notes)


def _listed(places: Sequence[InstructionPlace]) -> str:
    return first_few((p.instruction.name for p in places), _SHOWN)


def pair_record(left: str, right: str, pair: PairBlame | None, inputs: str | None = None,
                comparison: Comparison | None = None) -> IsolateReport:
    """Return the record of two modules: the fields of a place in the second one, all null where none is named."""
    if pair is None:
        return isolation(_unexplained(comparison), right, nothing(), [], against=left, inputs=inputs)
    at, judgement = pair.judgement.worst, pair.judgement
    place = no_place() if pair.place is None else pair.place.as_json()
    found = finding(
        place, str(judgement.kind), NOT_DECIDED if pair.place is None else MENDED_HERE if pair.edit else MODULES_PART,
        str(judgement),
        index=list(at), device=pair.device, value=number(judgement.given[at]) if judgement.kinds.size else None,
        reference=number(judgement.reference[at]) if judgement.kinds.size else None,
        partner=pair.partner.name if pair.partner is not None else None, confirmed=pair.place is not None,
        between=[[str(p) for p in pair.between[0]], str(pair.between[1])] if pair.between else None,
        edit=pair.edit or None, remaining=[p.instruction.name for p in pair.remaining], result=pair.result,
        seconds=round(pair.seconds, 3))
    return isolation("differ", right, found, [found], against=left, inputs=inputs)


def _operands_at(blame: Blame) -> list[tuple[str, str]]:
    """Return what the smallest program that shows the difference is fed with."""
    arrays = iter(blame.arguments[blame.device])
    found = []
    for fed in blame.part.fed[:6]:
        held = [extremes(next(arrays)) for _ in leaves(fed.shape)]
        found.append((f"{fed.name}, {fed.shape.text(layout=False)}", "; ".join(held[:4])))
    return found


def blame_json(blame: Blame) -> BlameRecord:
    """Return the record of a difference."""
    judgement = blame.judgement
    at, shadow, has_values = judgement.worst, judgement.shadow, bool(judgement.kinds.size)
    return finding(
        blame.place.as_json(), str(judgement.kind), PARTS_TOGETHER if blame.together else PARTS_HERE, str(judgement),
        executor=blame.executor, index=list(at), device=blame.device,
        value=number(judgement.given[at]) if has_values else None,
        reference=number(judgement.reference[at]) if has_values else None,
        exact=number(shadow[at]) if shadow is not None and has_values else None,
        together=[i.name for i in blame.together], runs=blame.runs, seconds=round(blame.seconds, 3),
        refusals=blame.refusals)


def maker_json(maker: Maker) -> BlameRecord:
    """Return the record of an instruction that makes NaN or an infinity."""
    entry = find_code(_code(maker))
    operands = [OperandRecord(
        instruction=o.name, shape=o.shape.text(layout=False), holds=extremes(v) if hasattr(v, "dtype") else None,
        element=number(maker.reason.operands[n]) if n < len(maker.reason.operands) else None)
        for n, (o, v) in enumerate(zip(maker.place.instruction.operands, maker.operands, strict=False))]
    return finding(
        maker.place.as_json(), entry.name if entry else _code(maker), _code(maker), maker.reason.text,
        index=list(maker.reason.index), value=number(maker.reason.value), operands=operands,
        inner=maker.inner.name if maker.inner is not None else None, reaches_result=maker.reaches, times=maker.times,
        cause=maker_json(maker.cause) if maker.cause is not None else None)
