"""The comments of HLO text, which belong to its reader and not to the module."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir import deferred
from hlotool.text.tokens import ANY_COMMENT, STRING

#: strings and comments; a comment that is never closed goes to the end
_COMMENT = deferred(lambda: rf"{STRING}|({ANY_COMMENT})")
#: what the printer itself writes: the number of every fifth operand or element
_NUMBER = deferred(lambda: r"/\*(?:index=|i\d+=)?\d*\*/")


def comments_in(text: str) -> list[str]:
    """Return every comment of a text in order, without the marks that printing makes anew (`/*index=5*/`).

    >>> comments_in('a // b\\n "// c" /* d */ /*index=5*/')
    ['// b', '/* d */']
    """
    found = [text[start:end] for start, end in comment_spans(text)]
    return [c.rstrip() for c in found if not _NUMBER.fullmatch(c)]


def strings_in(text: str) -> Iterator[str]:
    """Every string of a text, quotes included."""
    yield from (m[0] for m in _COMMENT.finditer(text) if m[1] is None)


def comment_spans(text: str) -> Iterator[tuple[int, int]]:
    """Start and end of every comment of a text, marks included."""
    if "//" in text or "/*" in text:
        yield from (m.span(1) for m in _COMMENT.finditer(text) if m[1] is not None)
