"""The outline of a text: computations with their instructions inside, and what can be folded.

A dump of megabytes has tens of thousands of instructions; its outline is written as JSON at once, for one object of the
protocol each would take seconds.
"""

from __future__ import annotations

import bisect
import json
from collections.abc import Callable, Iterator

from lsprotocol import types as lsp

from hlotool.diagnostics import visible
from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.serve.lsp.document import Document, ModulePart
from hlotool.serve.lsp.features import Places
from hlotool.serve.lsp.names import name_start

#: characters of an instruction's shape
_LONGEST = 80
_FUNCTION, _VARIABLE = lsp.SymbolKind.Function.value, lsp.SymbolKind.Variable.value


class Ready(str):
    """The JSON text of an answer."""

    __slots__ = ()


def symbols(document: Document, places: Places) -> Ready:
    """Modules' computations, with their instructions inside: the JSON of a list of the protocol's DocumentSymbol."""
    return Ready(f"[{','.join(text for part in document.parts for text in _Outline(part, places).computations())}]")


class _Outline:
    """Writes the outline of one module."""

    def __init__(self, part: ModulePart, places: Places) -> None:
        self._part = part
        self._text, self._starts = part.source.text, part.source.line_starts()
        self._first = part.source.first_line - 1
        self._place: Callable[[int], str] = self._plain if self._text.isascii() else self._measured(places)
        self._shapes: dict[Shape | None, str] = {}

    def computations(self) -> Iterator[str]:
        for computation, start, end in extents(self._part):
            if self._text.startswith(computation.name, start):
                detail = "ENTRY" if computation is self._part.module.entry else ""
                inside = ",".join([self._instruction(i) for i in computation.instructions if i.offset >= 0])
                yield (f"{self._beginning(computation.name, detail, _FUNCTION, start, start + len(computation.name))},"
                       f'"range":{self._range(start, end)},"children":[{inside}]}}')

    def _instruction(self, instruction: HloInstruction) -> str:
        name, start = instruction.name, name_start(self._text, instruction)
        # What stands in place of an operand has no name in the text.
        start, name_end = (start, start + len(name)) if start >= 0 else (instruction.offset, instruction.offset)
        detail = f"{self._shape(instruction.shape)} {instruction.opcode}"
        return f"{self._beginning(name, detail, _VARIABLE, start, name_end)},\"range\":{self._range(start, name_end)}}}"

    def _beginning(self, name: str, detail: str, kind: int, start: int, end: int) -> str:
        return (f'{{"name":{json.dumps(visible(name))},"detail":{json.dumps(detail)},"kind":{kind},'
                f'"selectionRange":{self._range(start, end)}')

    def _range(self, start: int, end: int) -> str:
        return f'{{"start":{self._place(start)},"end":{self._place(end)}}}'

    def _plain(self, offset: int) -> str:
        line = bisect.bisect_right(self._starts, offset) - 1
        return f'{{"line":{line + self._first},"character":{offset - self._starts[line]}}}'

    def _measured(self, places: Places) -> Callable[[int], str]:
        def place(offset: int) -> str:
            found = places.place(self._part.source.position(offset))
            return f'{{"line":{found.line},"character":{found.character}}}'

        return place

    def _shape(self, shape: Shape | None) -> str:
        found = self._shapes.get(shape)
        if found is None:
            text = str(shape)
            found = self._shapes[shape] = text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"
        return found


def extents(part: ModulePart) -> Iterator[tuple[HloComputation, int, int]]:
    """Yield each computation that has a name in the text, with the offsets of its name and of its closing brace."""
    text = part.source.text
    ordered = sorted((c for c in part.module.computations if c.offset >= 0), key=lambda c: c.offset)
    for computation, following in zip(ordered, [*ordered[1:], None], strict=True):
        limit = following.offset if following is not None else len(text)
        yield computation, computation.offset, max(text.rfind("}", computation.offset, limit), computation.offset)


def folding(document: Document, places: Places) -> list[lsp.FoldingRange]:
    """Return the bodies of computations that take more than a line."""
    found = []
    for part in document.parts:
        for _, start, end in extents(part):
            first, last = part.source.position(start).line - 1, part.source.position(end).line - 1
            if last > first:
                found.append(lsp.FoldingRange(first, last, kind=lsp.FoldingRangeKind.Region))
    return found
