"""A mistake in a piece of a text, with its place."""

from __future__ import annotations


class TextError(Exception):
    """A mistake at a place of the source, in offsets; it ends the reading of one operation."""

    def __init__(self, code: str, message: str, start: int, end: int, *, help: str = "",
                 second: tuple[str, int, int] | None = None) -> None:
        self.code = code
        self.message = message
        self.start = start
        self.end = end
        self.help = help
        #: another place, with what it is
        self.second = second
        super().__init__(message)
