"""A text that is open in an editor: its modules, their findings and names, each found when first asked for."""

from __future__ import annotations

import bisect
import functools
from collections.abc import Sequence
from typing import Any

from hlotool import mlir
from hlotool.diagnostics import Diagnostic
from hlotool.ir import HloModule, Position, Source, with_line_feeds
from hlotool.passes.read import read_to_follow
from hlotool.serve.lsp.mlir_names import MlirNames
from hlotool.serve.lsp.names import Names, Occurrence
from hlotool.serve.lsp.text_lines import Lines, TextChange
from hlotool.text import Changed, reread
from hlotool.text.input_files import is_mlir, split_modules


class ModulePart:
    """One module of a text. Of a text with errors it holds what could be read."""

    def __init__(self, source: Source) -> None:
        self.reading, self.errors = read_to_follow(source)

    @property
    def source(self) -> Source:
        return self.reading.source

    @property
    def module(self) -> HloModule:
        return self.reading.module

    @functools.cached_property
    def names(self) -> Names:
        return Names(self.module, bool(self.errors))

    def change(self, change: TextChange) -> Changed | None:
        """Follow a change of the text; None where all of it must be read again, and this be thrown away."""
        changed = reread(self.reading, change.start, change.end, change.text)
        self.errors = self.reading.errors
        vars(self).pop("names", None)
        return changed

    def offset(self, line: int, column: int) -> int | None:
        """Return the offset of a place of the file, None where it lies outside of this module; both count from 1."""
        return self.source.offset(Position(line, column))


class MlirPart:
    """The program of an MLIR text. Of a text with errors it holds what could be read."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.program, self.errors = mlir.read_recovering(source)
        self.names = MlirNames(source, self.program, not self.errors)


class Document:
    """A whole text, which may hold several modules of HLO, or is one program of MLIR."""

    def __init__(self, text: str, filename: str, lines: Lines | None = None) -> None:
        self.text, self.filename = text, filename
        if lines is not None:
            self.lines = lines

    @property
    def is_read(self) -> bool:
        return "parts" in vars(self)

    @functools.cached_property
    def lines(self) -> Lines:
        return Lines(self.text)

    @functools.cached_property
    def is_mlir(self) -> bool:
        return is_mlir(self.text)

    @functools.cached_property
    def parts(self) -> list[ModulePart]:
        """The modules of HLO; reading an MLIR text finds none, and has its program ready."""
        if self.mlir is not None:
            return []
        return [ModulePart(source) for source in split_modules(with_line_feeds(self.text), self.filename)]

    @functools.cached_property
    def mlir(self) -> MlirPart | None:
        """The program of an MLIR text."""
        return MlirPart(Source(self.text, self.filename)) if self.is_mlir else None

    @property
    def followed(self) -> ModulePart | None:
        """The one module of a text whose changes can be followed."""
        if not self.is_read or len(self.parts) != 1 or not self.parts[0].reading.is_plain:
            return None
        return self.parts[0] if self.parts[0].source.text == self.text else None

    def changed(self, changes: Sequence[TextChange], lines: Lines) -> tuple[Document, list[Changed]] | None:
        """Return the document after some changes, and what was read again; it takes the module over, which is changed.

        None where all of the text must be read again; then this document is of no more use, too.
        """
        part = self.followed
        if part is None:
            return None
        made = [found for change in changes if (found := part.change(change)) is not None]
        if len(made) < len(changes) or part.source.text != lines.text:
            return None
        following = Document(lines.text, self.filename, lines)
        following.is_mlir, following.parts = False, self.parts
        return following, made

    def findings(self, config: Any = None) -> list[Diagnostic]:
        """Syntax errors; for modules without any, what verification and the rules find."""
        from hlotool.linting import lint

        if self.is_mlir:
            return lint(self.text, self.filename, config, each=True)
        found: list[Diagnostic] = []
        for part in self.parts:
            found += part.errors or lint(part.module, self.filename, config, each=True)
        return found

    def at(self, line: int, column: int) -> tuple[ModulePart, int] | None:
        """Return the module at a place, and the offset in its text; both count from 1."""
        # The last one that begins on the line or above it: a text may hold thousands.
        number = bisect.bisect_right(self.parts, line, key=lambda part: part.source.first_line) - 1
        if number < 0 or (offset := self.parts[number].offset(line, column)) is None:
            return None
        return self.parts[number], offset

    def name_at(self, line: int, column: int) -> tuple[ModulePart | MlirPart, Occurrence] | None:
        """Return the name that stands at a place."""
        place: tuple[ModulePart | MlirPart, int] | None = self.at(line, column)
        if self.mlir is not None and (offset := self.mlir.source.offset(Position(line, column))) is not None:
            place = self.mlir, offset
        found = place[0].names.at(place[1]) if place else None
        return (place[0], found) if place and found else None
