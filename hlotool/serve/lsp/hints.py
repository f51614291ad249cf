"""Hints between the words of a text: the shapes of operands, or the names that their operation has for them."""

from __future__ import annotations

from collections.abc import Iterator

from lsprotocol import types as lsp

from hlotool.diagnostics import visible
from hlotool.ir import HloInstruction
from hlotool.ops import OPS
from hlotool.serve.lsp.document import Document, ModulePart
from hlotool.serve.lsp.features import Places
from hlotool.serve.lsp.names import Occurrence

#: what hints show, as the setting `inlayHints` names it
STYLES = ("shapes", "names", "off")
#: hints of one answer, and characters of a shape
MOST_HINTS, _LONGEST = 1000, 40


def hints(document: Document, places: Places, chosen: lsp.Range, style: str) -> list[lsp.InlayHint]:
    """Return the hints of some lines; operands whose shapes are written need none."""
    if style == "off":
        return []
    first, last = places.read(chosen.start)[0], places.read(chosen.end)[0]
    found: list[lsp.InlayHint] = []
    for part in document.parts:
        begin, behind = part.source.first_line, part.source.first_line + len(part.source.line_starts())
        if last < begin or first >= behind:
            continue
        start = part.offset(max(first, begin), 1) or 0
        end = part.offset(last + 1, 1) if last + 1 < behind else None
        for statement in part.names.statements(start, len(part.source.text) if end is None else end - 1):
            found += [h for h in _of_statement(part, places, statement, style)
                      if chosen.start.line <= h.position.line <= chosen.end.line]
            if len(found) >= MOST_HINTS:
                return found[:MOST_HINTS]
    return found


def _of_statement(part: ModulePart, places: Places, statement: list[Occurrence], style: str
                  ) -> Iterator[lsp.InlayHint]:
    operands = [o for o in statement if o.is_operand]
    if style == "names":
        yield from _names(part, places, statement, operands)
        return
    for operand in operands:
        shape = operand.item.shape if isinstance(operand.item, HloInstruction) else None
        if shape is not None and not _has_shape(part.source.text, operand.start):
            text = visible(str(shape))
            at = places.of(part, operand.start, operand.end).end
            yield lsp.InlayHint(at, f": {text if len(text) <= _LONGEST else text[:_LONGEST - 1] + '…'}",
                                lsp.InlayHintKind.Type, tooltip=text if len(text) > _LONGEST else None)


def _names(part: ModulePart, places: Places, statement: list[Occurrence], operands: list[Occurrence]
           ) -> Iterator[lsp.InlayHint]:
    """Yield the name of each operand, where the operation has one for each."""
    defined = next((o.item for o in statement if o.is_definition), None)
    record = OPS.get(defined.opcode) if isinstance(defined, HloInstruction) else None
    if record is None or record.is_variadic or len(record.operands) < 2 or len(operands) != len(record.operands):
        return
    for operand, name in zip(operands, record.operands, strict=True):
        start = operand.start - part.source.text.startswith("%", operand.start - 1)
        yield lsp.InlayHint(places.of(part, start, operand.end).start, f"{name}:", lsp.InlayHintKind.Parameter,
                            padding_right=True)


def _has_shape(text: str, start: int) -> bool:
    """Return True if a shape is written in front of a name."""
    return text[max(0, start - 8):start].rstrip("%").rstrip().endswith(("]", "}", ")"))
