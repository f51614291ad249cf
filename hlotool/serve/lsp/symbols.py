"""The outline of a text: computations with their instructions inside, and what can be folded.

A dump of megabytes has tens of thousands of instructions; its outline is written as JSON at once, for one object of the
protocol each would take seconds. Of a text with more than MOST_LISTED instructions those are listed that say how it is
built: parameters, roots, and what calls computations or talks to other devices. The detail of a computation tells how
many of its instructions are listed.
"""

from __future__ import annotations

import bisect
import itertools
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from lsprotocol import types as lsp

from hlotool.diagnostics import visible
from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.ops import is_a
from hlotool.serve.lsp.document import Document, ModulePart
from hlotool.serve.lsp.features import Places
from hlotool.serve.lsp.names import name_start

#: instructions in an outline, and computations
MOST_LISTED, _MOST_COMPUTATIONS = 5000, 10_000
#: characters of an instruction's shape
_LONGEST = 80
_FUNCTION, _VARIABLE = lsp.SymbolKind.Function.value, lsp.SymbolKind.Variable.value


class Ready(str):
    """The JSON text of an answer."""

    __slots__ = ()


def symbols(document: Document, places: Places) -> Ready:
    """Modules' computations, with their instructions inside: the JSON of a list of the protocol's DocumentSymbol."""
    total = sum(len(c.instructions) for part in document.parts for c in part.module.computations)
    room = _Room(MOST_LISTED, total > MOST_LISTED)
    texts = (text for part in document.parts for text in _Outline(part, places, room).computations())
    return Ready(f"[{','.join(itertools.islice(texts, _MOST_COMPUTATIONS))}]")


@dataclass
class _Room:
    """The number of instructions that an outline has still room for, and whether the text has more than those."""

    left: int
    is_short: bool

    def taken(self, computation: HloComputation) -> list[HloInstruction]:
        """Return the instructions of a computation that are listed."""
        found = [i for i in computation.instructions if i.offset >= 0]
        if self.is_short:
            found = [i for i in found if i is computation.root or i.opcode == "parameter" or i.called_computations()
                     or is_a(i, "collective")][:self.left]
        self.left -= len(found)
        return found


class _Outline:
    """Writes the outline of one module."""

    def __init__(self, part: ModulePart, places: Places, room: _Room) -> None:
        self._part, self._room = part, room
        self._text, self._starts = part.source.text, part.source.line_starts()
        self._first = part.source.first_line - 1
        self._place: Callable[[int], str] = self._plain if self._text.isascii() else self._measured(places)
        self._shapes: dict[Shape | None, str] = {}

    def computations(self) -> Iterator[str]:
        for computation, start, end in extents(self._part):
            if self._text.startswith(computation.name, start):
                listed = self._room.taken(computation)
                detail = self._detail(computation, len(listed))
                inside = ",".join(map(self._instruction, listed))
                yield (f"{self._beginning(computation.name, detail, _FUNCTION, start, start + len(computation.name))},"
                       f'"range":{self._range(start, end)},"children":[{inside}]}}')

    def _detail(self, computation: HloComputation, listed: int) -> str:
        count = len(computation.instructions)
        parts = ["ENTRY"] if computation is self._part.module.entry else []
        parts += [f"{listed:,} of {count:,} instructions"] if listed < count and self._room.is_short else []
        return ", ".join(parts)

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
