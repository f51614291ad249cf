"""Diagnostics about instructions, placed in the module's text."""

from __future__ import annotations

import re

from hlotool.diagnostics import Diagnostic, Fix, Note, Severity, at
from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.passes.origins import origin_of

_STATEMENT = re.compile(r"[^\n]*")


def report(module: HloModule, item: HloInstruction | HloComputation | None, code: str, message: str, *,
           part: str = "", help: str = "", severity: Severity = Severity.ERROR, notes: tuple[Note, ...] = (),
           fixes: tuple[Fix, ...] = ()) -> Diagnostic:
    """A diagnostic at an instruction or computation; at the first line for None.

    `part` is a pattern of the statement's text (an attribute, the opcode) that the diagnostic underlines; its first
    group where it has one.
    """
    source = module.source
    origin = origin_of(module, item) if isinstance(item, HloInstruction) else None
    if source is None or (item is not None and item.offset < 0):
        where = f"{item.name}: " if item is not None else ""
        return Diagnostic(code, where + message, severity, notes=notes, help=help, fixes=fixes, origin=origin)
    start = item.offset if item is not None else max(source.text.find("HloModule"), 0)
    line = _STATEMENT.match(source.text, start)
    end = line.end() if line else start
    if part and (found := re.compile(part).search(source.text, start, _statement_end(source.text, start))):
        start, end = found.span(1) if found.re.groups else found.span()
    else:
        end = start + len(source.text[start:end].rstrip())
    return at(source, start, end, code, message, severity=severity, help=help, notes=notes, fixes=fixes, origin=origin)


def _statement_end(text: str, start: int) -> int:
    """About where the statement ends: at the next line that begins another one, or a closing brace."""
    end = re.compile(r"\n\s*(?:ROOT\s+)?%?[\w.\-]+\s*=|\n\s*\}\s*(?:\n|$)").search(text, start)
    return end.start() if end else len(text)
