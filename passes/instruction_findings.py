"""Diagnostics about instructions, placed in the module's text."""

from __future__ import annotations

import re
from typing import NamedTuple

from hlotool.diagnostics import Diagnostic, Fix, Note, Severity, at
from hlotool.grammars import beginning
from hlotool.ir import HloComputation, HloInstruction, HloModule, Position, Source, deferred
from hlotool.ops import ConstraintError
from hlotool.passes.origins import origin_of

_NEXT_STATEMENT = deferred(
    lambda: rf"\n\s*+(?:{beginning('hlo', 'instruction', through=('EQUALS',))}|\}}\s*+(?:\n|$))")
#: characters of a statement that are looked through for its parts: a whole program may stand on one line
_FARTHEST = 20_000


class Problem(NamedTuple):
    """A finding of a check of one instruction, without the instruction's place."""

    code: str
    message: str
    #: pattern of the part of the statement to underline
    part: str = ""
    help: str = ""
    #: what belongs in place of that part
    replacement: str = ""
    #: the replacement is what the author meant, surely
    is_certain: bool = False
    #: the instruction at fault, where it is another one
    culprit: HloInstruction | None = None


def report_finding(module: HloModule, instruction: HloInstruction, finding: Problem,
                   severity: Severity = Severity.ERROR) -> Diagnostic:
    """Return the diagnostic of a finding about an instruction, with its fix."""
    code, message, part, help, replacement, is_certain, culprit = finding
    if culprit is not None and culprit is not instruction:
        here = report(module, instruction, code, message, part=part)
        notes = (Note(f"{instruction.name} calls it here", Position(here.line, here.column),
                      Position(here.end_line, here.end_column)),) if here.line else ()
        return report(module, culprit, code, message, part=SHAPE_PART, help=help, severity=severity, notes=notes)
    fixes: tuple[Fix, ...] = ()
    if replacement and module.source is not None and instruction.offset >= 0 and (
            span := _part(module.source.text, instruction.offset, part)):
        start, end = map(module.source.position, span)
        fixes = (Fix(f"write {replacement}", start, end, replacement, is_safe=is_certain),)
    return report(module, instruction, code, message, part=part, help=help, severity=severity, fixes=fixes)


def opcode_pattern(opcode: str) -> str:
    """Return a pattern of the opcode where it is applied to operands."""
    return rf"(?<![\w.\-]){re.escape(opcode)}(?=\s*\()"


def constraint_part(instruction: HloInstruction, error: ConstraintError) -> str:
    """A pattern of what a constraint finds fault with: its attribute where that is written, otherwise the opcode."""
    if error.attribute not in instruction.attributes:
        return opcode_pattern(instruction.opcode)
    return rf"\b{re.escape(error.attribute)}\s*=\s*(?:\{{(?:[^{{}}]++|\{{[^{{}}]*+\}})*+\}}|[^\s,]+)"


#: the result shape in a statement
SHAPE_PART = r"=\s*(\S.*?)\s+(?=(?<![\w.\-])[a-z][\w\-]*\s*\()"


def report(module: HloModule, item: HloInstruction | HloComputation | None, code: str, message: str, *,
           part: str = "", help: str = "", severity: Severity = Severity.ERROR, notes: tuple[Note, ...] = (),
           fixes: tuple[Fix, ...] = ()) -> Diagnostic:
    """Return a diagnostic at an instruction or computation; at the first line for None.

    `part` is a pattern of the statement's text (an attribute, the opcode) that the diagnostic underlines; its first
    group where it has one.
    """
    source = module.source or module.imported_from
    origin = origin_of(module, item) if isinstance(item, HloInstruction) else None
    where = f"{item.name}: " if item is not None and module.source is None else ""
    is_placed = item is None or (type(item.offset) is int and item.offset >= 0)  # a program may have put anything there
    if not isinstance(source, Source) or not is_placed:
        where = f"{item.name}: " if item is not None else ""
        return Diagnostic(code, where + message, severity, notes=notes, help=help, fixes=fixes, origin=origin)
    word = "HloModule" if module.source is not None else "module"
    start = item.offset if item is not None else max(source.text.find(word), 0)
    end = source.text.find("\n", start, start + _FARTHEST)
    end = end if end >= 0 else min(len(source.text), start + _FARTHEST)
    if module.source is not None and (span := _part(source.text, start, part)):
        start, end = span
    else:
        end = start + len(source.text[start:end].rstrip())
    return at(source, start, end, code, where + message, severity=severity, help=help, notes=notes, fixes=fixes,
              origin=origin)


def _part(text: str, start: int, part: str) -> tuple[int, int] | None:
    """Return the place of a part of a statement."""
    found = re.compile(part).search(text, start, _statement_end(text, start)) if part else None
    return None if found is None else found.span(1) if found.re.groups else found.span()


def _statement_end(text: str, start: int) -> int:
    """About where the statement ends: at the next line that begins another one, or a closing brace."""
    limit = min(len(text), start + _FARTHEST)
    end = _NEXT_STATEMENT.search(text, start, limit)
    return end.start() if end else limit
