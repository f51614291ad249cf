"""Reading a phrase with its grammar: parsers made on first need, errors turned into sentences."""

from __future__ import annotations

import functools
import importlib.resources
import re
from collections.abc import Callable
from typing import Any

from hlotool.text.phrase_errors import PhraseError, closest

_COMMENT_OR_STRING = re.compile(
    r"""/\*(?:.*?\*/|.*)|//[^\n]*|("[^"\\]*+(?:\\.[^"\\]*+)*+"|'[^'\\]*+(?:\\.[^'\\]*+)*+')""", re.S)

#: terminals in words
_WORDS = {
    "INT": "a number", "DECIMAL": "a number", "WORD": "a word", "STRING": "a string", "BALANCED": "'{...}'",
    "TYPE": "an element type", "BOOLEAN": "true or false", "NUMBER": "a number", "PADDING": "low_high padding",
    "LEVEL": "D, C, S or H", "FLAG": "replicated, maximal, manual, unknown or unreduced",
    "SHARD_GROUP": "shard_as or shard_like", "AXES_NAME": "replicated=, unreduced= or manual=",
    "WINDOW_PART": "size=, stride=, lhs_dilate=, rhs_dilate= or rhs_reversal=",
    "DIM_LABELS": "labels like b01f_01io->b01f", "ALIAS_KIND": "may-alias or must-alias",
    "TOLERANCE_NAME": "atol=, rtol= or ulps=", "SPARSE_SIDE": "lhs= or rhs=",
    "SPARSITY_FIELD": "sparsity=1x4, dimension=, stride= or idx=",
    "ATTRIBUTE": "name=", "PRIORITY": "a priority", "NONFINITE": "inf",
    "_DEVICE_IDS": "', device_ids='",
    "REDUCTION": "a reduction", "$END": "the end", "T": "T(...)", "D": "D(...)", "L": "L(...)", "E": "E(...)",
    "S": "S(...)", "SC": "SC(...)", "P": "P(...)", "M": "M(...)",
}


def blank_comments(text: str) -> str:
    """The text with every comment replaced by as many blanks, so that offsets stay what they are."""
    if "/*" not in text and "//" not in text:
        return text
    return _COMMENT_OR_STRING.sub(lambda m: m[0] if m[1] is not None else " " * len(m[0]), text)


@functools.cache
def parser_of(grammar: str, rule: str, transformer: Callable[[], Any]) -> Any:
    """The LALR parser of one rule of a grammar file, its result built while parsing."""
    from lark import Lark

    path = importlib.resources.files("hlotool.grammars").joinpath(f"{grammar}.lark")
    return Lark.open(str(path), parser="lalr", start=rule, transformer=transformer(), maybe_placeholders=True)


def parse_phrase(grammar: str, rule: str, text: str, transformer: Callable[[], Any], *, code: str,
                 what: str) -> Any:
    """The value of a phrase; PhraseError with `code`, calling the phrase `what`, when it cannot be read."""
    from lark.exceptions import LarkError, UnexpectedInput, VisitError

    parser = parser_of(grammar, rule, transformer)
    try:
        return parser.parse(text)
    except PhraseError as error:
        error.end = min(error.end, len(text))
        raise
    except VisitError as error:
        if isinstance(error.orig_exc, (PhraseError, ValueError)):
            raise error.orig_exc from None
        raise
    except UnexpectedInput as error:
        raise _explained(parser, error, text, code, what) from None
    except LarkError as error:
        raise PhraseError(code, f"this is not {what}: {error}", 0, len(text)) from None


def _explained(parser: Any, error: Any, text: str, code: str, what: str) -> PhraseError:
    wanted = _wanted(parser, error)
    token = getattr(error, "token", None)
    start: int = len(text) if token is not None and token.type == "$END" else error.pos_in_stream or 0
    start = min(start, len(text))
    found = re.compile(r"[\w.\-]+|\S|$").search(text, start)
    shown = found[0] if found else ""
    names = sorted({_spelled(parser, w) for w in wanted if not w.endswith(("COMMENT", "SPACE"))},
                   key=lambda name: (name[0] == "'", name))
    expected = f"expected {_either(names)}" if names else f"this is not {what}"
    seen = f"found '{shown}'" if shown else "found the end of the text"
    if len(shown) > 2:
        seen += closest(shown, re.findall(r"[a-z_]{3,}", " ".join(names)))
    return PhraseError(code, f"in {what}: {expected}, {seen}", found.start() if found else start,
                       found.end() if found else None)


#: (parser, its stack) to the terminals that may follow, which is slow to find out
_accepted: dict[tuple[int, tuple[Any, ...]], set[str]] = {}


def _wanted(parser: Any, error: Any) -> set[str]:
    """The terminals that may stand where an error is."""
    interactive = getattr(error, "interactive_parser", None)
    if interactive is None or not hasattr(error, "accepts"):  # a character that begins no terminal
        return getattr(error, "allowed", None) or getattr(error, "expected", None) or set()
    stack = interactive.parser_state.state_stack
    key = (id(parser), tuple(stack[-40:]))
    if key not in _accepted:
        if len(_accepted) > 2000:
            _accepted.clear()
        # Terminals of a deep stack depend on little of it, and copying it whole for each would cost its depth.
        few: set[str] | None = getattr(error, "accepts", None) if len(stack) <= 40 else None
        _accepted[key] = few or getattr(error, "expected", None) or getattr(error, "allowed", None) or set()
    return _accepted[key]


def _spelled(parser: Any, terminal: str) -> str:
    """A terminal in words; one that stands for itself is quoted."""
    plain = terminal.rsplit("__", 1)[-1] if not terminal.startswith("__") else terminal
    if plain in _WORDS:
        return _WORDS[plain]
    if plain == "<END-OF-FILE>":
        return _WORDS["$END"]
    return f"'{parser.get_terminal(terminal).pattern.value}'"


def _either(names: list[str]) -> str:
    return names[0] if len(names) == 1 else ", ".join(names[:-1]) + " or " + names[-1]


def unquote(text: str) -> str:
    """The contents of a quoted string, escapes resolved as C does."""
    body = text[1:-1]
    if "\\" not in body:
        return body
    plain = _ESCAPE.sub(_unescaped, body)
    if plain.isascii():
        return plain
    # Escapes give bytes, several of which may be one character.
    return _bytes(plain).decode("utf-8", "surrogateescape")


_ESCAPE = re.compile(r"\\(?:([0-7]{1,3})|[xX]([0-9a-fA-F]+)|u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8})|(.))", re.S)
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
    """A string with double quotes, escaped as XLA prints it (absl::CEscape).

    >>> print(quote('a"b'))
    "a\\"b"
    """
    if text.isascii() and text.isprintable() and not _NEEDS_ESCAPE.search(text):
        return f'"{text}"'
    return '"' + "".join(_escaped(byte) for byte in _bytes(text)) + '"'


def _bytes(text: str) -> bytes:
    """UTF-8, with the bytes that a reader kept as surrogates; other lone surrogates by their number."""
    try:
        return text.encode("utf-8", "surrogateescape")
    except UnicodeEncodeError:
        return text.encode("utf-8", "surrogatepass")


_NEEDS_ESCAPE = re.compile(r"""["'\\]""")
_NAMED = {10: "\\n", 13: "\\r", 9: "\\t", 34: '\\"', 39: "\\'", 92: "\\\\"}


def _escaped(byte: int) -> str:
    return _NAMED.get(byte) or (chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
