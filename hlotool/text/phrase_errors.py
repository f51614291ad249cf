"""Explains a phrase that cannot be read, and defines the codes for it."""

from __future__ import annotations

from collections.abc import Iterable

from hlotool.diagnostics import define, nearest
from hlotool.ir import deferred

_XLA = "XLA: xla/hlo/parser/hlo_parser.cc"

BAD_SHAPE = define("P101", "bad-shape", "The text is not a shape.", f"{_XLA}, ParseShape")
UNKNOWN_TYPE = define("P102", "unknown-element-type", "No element type has this name.",
                      "xla_data.proto, PrimitiveType")
BAD_LAYOUT = define("P103", "bad-layout", "The layout does not fit its shape.", f"{_XLA}, ParseLayout")
PLACEHOLDER = define("P104", "placeholder", "A placeholder of a template stands where a value belongs.")
BAD_LITERAL = define("P110", "bad-literal", "The text is not a literal of the constant's shape.",
                     f"{_XLA}, ParseLiteral")
RAGGED_LITERAL = define("P111", "ragged-literal", "The nesting of a literal does not match its shape.",
                        f"{_XLA}, ParseDenseLiteral")
OUT_OF_RANGE = define("P112", "literal-out-of-range", "A number does not fit the element type.",
                      f"{_XLA}, CheckParsedValueIsInRange")
BAD_NUMBER = define("P113", "bad-number", "A number is written in a way that HLO text does not have.",
                    "XLA: xla/hlo/parser/hlo_lexer.cc, LexNumberOrPattern")
BAD_NAN = define("P114", "bad-nan-payload", "The payload of a NaN does not fit the element type.",
                 "XLA: xla/hlo/parser/hlo_lexer.cc, LexNanPayload")
BAD_ATTRIBUTE = define("P120", "bad-attribute-value", "The value of an attribute cannot be read.",
                       f"{_XLA}, ParseAttributeHelper")
BAD_SHARDING = define("P121", "bad-sharding", "The text is not a sharding.", f"{_XLA}, ParseSingleSharding")
BAD_METADATA = define("P122", "bad-metadata", "The text is not a record of metadata.", f"{_XLA}, ParseMetadata")
BAD_WORD = define("P123", "unknown-word", "The attribute has no such value.", f"{_XLA}, ParseAttributeHelper")


#: the end of a complaint about a whole phrase
WHOLE = 2**31


class PhraseError(Exception):
    """A phrase that cannot be read; `start` and `end` are offsets in its text."""

    def __init__(self, code: str, message: str, start: int = 0, end: int | None = None, help: str = "") -> None:
        super().__init__(message)
        self.code = code
        self.message = message
        self.start = start
        self.end = start + 1 if end is None else max(end, start)
        self.help = help


#: digits from which Python refuses to read a whole number (sys.set_int_max_str_digits), rounded down
_LONG_NUMBER = deferred(lambda: r"\d{4000,}")


def too_long(error: ValueError, text: str) -> Exception:
    """Return the exception for a ValueError in a phrase: a user's number has too many digits, or it is ours."""
    found = _LONG_NUMBER.search(text)
    if found is None:
        return error
    return PhraseError(OUT_OF_RANGE, f"a number of {len(found[0])} digits does not fit any element type or attribute",
                       *found.span())


def closest(word: str, known: Iterable[str]) -> str:
    """`; did you mean x?` for the known word that is most like `word`, or nothing.

    >>> closest("replicatd", ["replicated", "manual"])
    '; did you mean replicated?'
    """
    found = nearest(word, known)
    return f"; did you mean {found[0]}?" if found else ""
