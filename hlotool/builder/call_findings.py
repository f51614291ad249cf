"""Findings about calls of the builder, at the lines of Python that made them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hlotool.builder.call_places import Place
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import Refused
from hlotool.diagnostics import Diagnostic, Note, Severity
from hlotool.ir import HloInstruction, HloModule, Source
from hlotool.ops import ConstraintError
from hlotool.passes.codes import NO_SHAPE
from hlotool.passes.verify import verify


def diagnostic_at(place: Place, code: str, message: str, help: str = "", severity: Severity = Severity.ERROR,
                  notes: tuple[Note, ...] = ()) -> Diagnostic:
    """A diagnostic about a range of a Python file."""
    return Diagnostic(code, message, severity, place.line, place.column, place.end_line, place.end_column,
                      place.filename, notes, help)


def finding_of(error: Refused | ConstraintError, place: Place, args: Iterable[Any],
               function: str = "") -> Diagnostic:
    """The finding about a call, which speaks of the function that was called also where an operation refuses."""
    shapes = [a for arg in args for a in (arg if isinstance(arg, (list, tuple)) else (arg,))
              if isinstance(a, XlaOp) and a.is_valid]
    listed = ", ".join(dict.fromkeys(f"{a.name} is {a.shape.text(False)}" for a in shapes))
    notes = (Note(f"operands: {listed}"),) if shapes else ()
    if isinstance(error, Refused):
        return diagnostic_at(place, error.code, error.message, error.help, notes=notes)
    code = NO_SHAPE if error.label.endswith("-shape") else error.label
    said = function and not function.islower() and function not in error.message
    return diagnostic_at(place, code, f"{function}: {error.message}" if said else error.message, notes=notes)


def verified(module: HloModule, places: Mapping[HloInstruction, Place]) -> list[Diagnostic]:
    """What verification says, at the lines that built the instructions."""
    instructions = list(module.instructions())
    for offset, instruction in enumerate(instructions):
        instruction.offset = offset
    # One line an instruction, so that a finding's line says whose it is.
    module.source = Source("\n" * len(instructions))
    try:
        found = verify(module)
    finally:
        module.source = None
        for instruction in instructions:
            instruction.offset = -1
    return [_at_call(d, instructions, places) for d in found]


def _at_call(diagnostic: Diagnostic, instructions: list[HloInstruction],
             places: Mapping[HloInstruction, Place]) -> Diagnostic:
    index = diagnostic.line - 1
    place = places.get(instructions[index], Place()) if 0 <= index < len(instructions) else Place()
    named = f"{instructions[index].name}: " if 0 <= index < len(instructions) else ""
    return diagnostic_at(place, diagnostic.code, named + diagnostic.message, diagnostic.help, diagnostic.severity,
                         tuple(Note(n.message) for n in diagnostic.notes))
