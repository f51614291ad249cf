"""Places in a text: offsets, kept small, turned into lines and columns when asked."""

from __future__ import annotations

import bisect
import itertools
from typing import Any

from hlotool.ir.lazy_dataclasses import lazy_dataclass


@lazy_dataclass(frozen=True, slots=True)
class Position:
    """Line and column, both counted from 1; columns count characters."""

    line: int
    column: int


def with_line_feeds(text: str) -> str:
    """Return a text with line feeds for all line ends."""
    return text.replace("\r\n", "\n").replace("\r", "\n") if "\r" in text else text


def line_starts(text: str) -> list[int]:
    """Return the offset at which each line of a text begins; only a line feed ends one."""
    *starts, _ = itertools.accumulate(map((1).__add__, map(len, text.split("\n"))), initial=0)
    return starts


def moved_starts(starts: list[int], start: int, end: int, text: str) -> list[int]:
    """Return the starts of lines after `text` has replaced the part between two offsets, from those before."""
    before, behind = bisect.bisect_right(starts, start), bisect.bisect_right(starts, end)
    added, rest = len(text) - (end - start), starts[behind:]
    inside = [start + n + 1 for n, character in enumerate(text) if character == "\n"]
    return starts[:before] + inside + ([s + added for s in rest] if added else rest)


class Source:
    """A text with its file name, and the arithmetic between offsets, lines and columns."""

    __slots__ = ("_last_line", "_starts", "filename", "first_line", "style", "text")

    def __init__(self, text: str, filename: str = "<string>", first_line: int = 1) -> None:
        self.text = text
        self.filename = filename
        #: the line of the file at which `text` begins, counted from 1
        self.first_line = first_line
        self._starts: list[int] | None = None
        #: how the text is laid out, once somebody has asked hlotool.text for it
        self.style: Any = None
        # What is said about a line is often more than one thing, and a line may be megabytes long.
        self._last_line = (0, "")

    def line_starts(self) -> list[int]:
        """Return the offset at which each line begins."""
        if self._starts is None:
            self._starts = line_starts(self.text)
        return self._starts

    def changed(self, start: int, end: int, text: str) -> Source:
        """Return the source in which `text` stands for what stood from one offset to another."""
        found = Source(self.text[:start] + text + self.text[end:], self.filename, self.first_line)
        found._starts = moved_starts(self.line_starts(), start, end, text)
        return found

    def position(self, offset: int) -> Position:
        """Line and column of an offset; offsets past the end are those of the end."""
        starts = self.line_starts()
        offset = max(0, min(offset, len(self.text)))
        line = bisect.bisect_right(starts, offset) - 1
        return Position(line + self.first_line, offset - starts[line] + 1)

    def offset(self, position: Position) -> int | None:
        """The offset of a line and column; columns past the end are the line's end. None for a line of elsewhere."""
        starts, i = self.line_starts(), position.line - self.first_line
        if not 0 <= i < len(starts):
            return None
        end = starts[i + 1] - 1 if i + 1 < len(starts) else len(self.text)
        return min(starts[i] + max(0, position.column - 1), end)

    def line(self, number: int) -> str:
        """Return the text of a line (counted as `position` does), without its line end; '' where there is none."""
        if self._last_line[0] == number:
            return self._last_line[1]
        starts, i = self.line_starts(), number - self.first_line
        if not 0 <= i < len(starts):
            return ""
        end = starts[i + 1] - 1 if i + 1 < len(starts) else len(self.text)
        self._last_line = (number, self.text[starts[i]:end].rstrip("\r"))
        return self._last_line[1]
