"""What isolating found, as diagnostics for frames and as records for programs.

A record of `isolate --nan` has the fields of `Place.as_json` for the first instruction that is guilty, null where there
is none, and

    module       the file's name
    verdict      nan, infinity (a result holds one), or finite
    kind         makes-nan, makes-infinity, given-nan
    reason       in plain words
    findings     every maker, guilty ones first: the same fields, with reaches_result, times, operands and cause
"""

from __future__ import annotations

from typing import Any

from hlotool.diagnostics import Diagnostic, Note, Severity, find_code
from hlotool.triage.codes import GIVEN_NAN, MAKES_INFINITY, MAKES_NAN, MASKED_NAN
from hlotool.triage.nonfinite import Maker, NonFinite
from hlotool.triage.number_text import extremes, number, place_in
from hlotool.triage.places import Place

#: makers that are shown in frames
_SHOWN = 5


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
    if maker.times > 1:
        found.append(Note(f"it does so {maker.times} times in this run; this is the first"))
    if maker.cause is not None:
        cause = maker.cause
        line, column = cause.place.line
        source = f" ({cause.place.origin})" if cause.place.origin else ""
        where = f" at {line}:{column}" if line else ""
        found.append(Note(f"the infinity in it was made by {cause.place}{where}{source}: {cause.reason.text}"))
    return found


def at_place(code: str, message: str, place: Place, *, severity: Severity = Severity.ERROR,
             notes: tuple[Note, ...] = (), help: str = "") -> Diagnostic:
    """A diagnostic at the instruction of a place."""
    source = place.module.source
    line, column = place.line
    return Diagnostic(code, message, severity, line, column, line, column + len(place.instruction.name) * bool(line),
                      source.filename if source else "<module>", notes, help, (), place.origin)


def nonfinite_json(name: str, found: NonFinite) -> dict[str, Any]:
    """The record of one module; its fields are described at the top of this file."""
    guilty = found.guilty
    empty = dict.fromkeys(Place(found.program.module, found.program.module.entry.root).as_json())
    first = maker_json(guilty[0]) if guilty else empty
    shown = sorted(found.makers, key=lambda m: m not in guilty)
    return {"module": name, "verdict": found.verdict, **first, "findings": [maker_json(m) for m in shown]}


def maker_json(maker: Maker) -> dict[str, Any]:
    """One maker."""
    entry = find_code(_code(maker))
    return {
        "kind": entry.name if entry else _code(maker), "code": _code(maker), **maker.place.as_json(),
        "reason": maker.reason.text, "index": list(maker.reason.index), "value": number(maker.reason.value),
        "operands": [{"instruction": o.name, "shape": o.shape.text(layout=False),
                      "holds": extremes(v) if hasattr(v, "dtype") else None,
                      "element": number(maker.reason.operands[n]) if n < len(maker.reason.operands) else None}
                     for n, (o, v) in enumerate(zip(maker.place.instruction.operands, maker.operands, strict=False))],
        "inner": maker.inner.name if maker.inner is not None else None,
        "reaches_result": maker.reaches, "times": maker.times,
        "cause": maker_json(maker.cause) if maker.cause is not None else None,
    }
