"""Strings of HLO text: what stands between the quotes, and how it is written there."""

from __future__ import annotations

import re

from hlotool.ir import deferred


def unquote(text: str) -> str:
    """Return the contents of a quoted string, escapes resolved as C does."""
    body = text[1:-1]
    if "\\" not in body:
        return body
    plain = _ESCAPE.sub(_unescaped, body)
    if plain.isascii():
        return plain
    # Escapes give bytes, several of which may be one character.
    return text_bytes(plain).decode("utf-8", "surrogateescape")


_ESCAPE = deferred(lambda: r"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.S)
_SIMPLE = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


def _unescaped(match: re.Match[str]) -> str:
    octal, hexadecimal, short, long, simple = match.groups()
    if octal or hexadecimal:
        # Of longer hexadecimal escapes the last byte counts, as in C.
        byte = (int(octal, 8) if octal else int(hexadecimal[-2:], 16)) & 0xFF
        return chr(byte) if byte < 128 else chr(0xDC00 + byte)
    if short or long:
        number = int(short or long, 16)
        return chr(number) if number < 0x110000 else "\N{REPLACEMENT CHARACTER}"
    return _SIMPLE.get(simple, simple)


def quote(text: str) -> str:
    """Return a string with double quotes, escaped as XLA prints it (absl::CEscape).

    >>> print(quote('a"b'))
    "a\\"b"
    """
    if text.isascii() and text.isprintable() and not _NEEDS_ESCAPE.search(text):
        return f'"{text}"'
    return '"' + "".join(_escaped(byte) for byte in text_bytes(text)) + '"'


def text_bytes(text: str) -> bytes:
    """UTF-8, with the bytes that a reader kept as surrogates; other lone surrogates by their number."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


_NEEDS_ESCAPE = deferred(lambda: r"""["'\\]""")
_NAMED = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def _escaped(byte: int) -> str:
    return _NAMED.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")


def docstring_words(name: str) -> str:
    """A name as a docstring of Python can hold it: what ends a string, or is no printable ASCII, is an underscore."""
    return re.sub(r"[^ -~]|[\\\"]", "_", name)
