"""Findings about calls of the builder, at the lines of Python that made them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from hlotool.builder.call_places import CallPlace
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import Refused
from hlotool.diagnostics import Diagnostic, Note, Severity
from hlotool.ir import HloInstruction, HloModule, Source
from hlotool.ops import ConstraintError
from hlotool.passes.codes import ASYNC_OPEN, NO_SHAPE
from hlotool.passes.verify import verify


def diagnostic_at(place: CallPlace, code: str, message: str, help: str = "", severity: Severity = Severity.ERROR,
                  notes: tuple[Note, ...] = ()) -> Diagnostic:
    """A diagnostic about a range of a Python file."""
    return Diagnostic(code, message, severity, place.line, place.column, place.end_line, place.end_column,
                      place.filename, notes, help)


def finding_of(error: Refused | ConstraintError, place: CallPlace, args: Iterable[Any],
               function: str = "") -> Diagnostic:
    """The finding about a call, which speaks of the function that was called also where an operation refuses."""
    shapes = [a for arg in args for a in (arg if isinstance(arg, (list, tuple)) else (arg,))
              if isinstance(a, XlaOp) and a.is_valid]
    listed = ", ".join(dict.fromkeys(f"{a.name} is {a.shape.text(False)}" for a in shapes))
    notes = (Note(f"operands: {listed}"),) if shapes else ()
    message = _speaking_of(function, error.message)
    if isinstance(error, Refused):
        return diagnostic_at(place, error.code, message, error.help, notes=notes)
    code = NO_SHAPE if error.label.endswith("-shape") else error.label
    return diagnostic_at(place, code, message, notes=notes)


def _speaking_of(function: str, message: str) -> str:
    """The message, which names the function that was called; opcodes are no functions of the documents."""
    said = not function or function.islower() or re.search(rf"\b{re.escape(function)}\b", message)
    return message if said else f"{function}: {message}"


def verified(module: HloModule, places: Mapping[HloInstruction, CallPlace]) -> list[Diagnostic]:
    """Return the findings of verification, at the lines that built the instructions."""
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
    # A module that ends in what is under way is the beginning of a program.
    kept = [d for d in found if d.code != ASYNC_OPEN or d.line < 1 or instructions[d.line - 1] is not module.entry.root]
    return [_at_call(d, instructions, places) for d in kept]


def _at_call(diagnostic: Diagnostic, instructions: list[HloInstruction],
             places: Mapping[HloInstruction, CallPlace]) -> Diagnostic:
    index = diagnostic.line - 1
    place = places.get(instructions[index], CallPlace()) if 0 <= index < len(instructions) else CallPlace()
    message = diagnostic.message
    if 0 <= index < len(instructions):
        message = _speaking_of(place.function, f"{instructions[index].name}: {message}")
    return diagnostic_at(place, diagnostic.code, message, diagnostic.help, diagnostic.severity,
                         tuple(Note(n.message) for n in diagnostic.notes))
