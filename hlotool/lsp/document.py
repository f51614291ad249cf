"""A text that is open in an editor: its modules, their findings and names, each found when first asked for."""

from __future__ import annotations

import bisect
import functools
from typing import Any

from hlotool.diagnostics import Diagnostic
from hlotool.ir import Position, Source
from hlotool.lsp.names import Names, Occurrence, names_of
from hlotool.passes.read import read_recovering
from hlotool.text.input_files import is_mlir, plain_text, split_modules


class Part:
    """One module of a text. Of a text with errors it holds what could be read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.module, self.errors = read_recovering(source)

    @functools.cached_property
    def names(self) -> Names:
        return names_of(self.module)

    def offset(self, line: int, column: int) -> int | None:
        """The offset of a place of the file, None where it lies outside of this module; both count from 1."""
        return self.source.offset(Position(line, column))


class Document:
    """A whole text, which may hold several modules. Of StableHLO the findings are known, and no names."""

    def __init__(self, text: str, filename: str) -> None:
        self.text, self.filename = text, filename

    @property
    def is_read(self) -> bool:
        return "parts" in vars(self)

    @functools.cached_property
    def is_mlir(self) -> bool:
        return is_mlir(self.text)

    @functools.cached_property
    def parts(self) -> list[Part]:
        if self.is_mlir:
            return []
        return [Part(source) for source in split_modules(plain_text(self.text), self.filename)]

    def findings(self, config: Any = None) -> list[Diagnostic]:
        """Syntax errors; for modules without any, what verification and the rules find."""
        from hlotool.linting import lint

        if self.is_mlir:
            return lint(self.text, self.filename, config, each=True)
        found: list[Diagnostic] = []
        for part in self.parts:
            found += part.errors or lint(part.module, self.filename, config, each=True)
        return found

    def at(self, line: int, column: int) -> tuple[Part, int] | None:
        """The module at a place, and the offset in its text; both count from 1."""
        # The last one that begins on the line or above it: a text may hold thousands.
        number = bisect.bisect_right(self.parts, line, key=lambda part: part.source.first_line) - 1
        if number < 0 or (offset := self.parts[number].offset(line, column)) is None:
            return None
        return self.parts[number], offset

    def name_at(self, line: int, column: int) -> tuple[Part, Occurrence] | None:
        """The name that stands at a place."""
        place = self.at(line, column)
        found = place[0].names.at(place[1]) if place else None
        return (place[0], found) if place and found else None
