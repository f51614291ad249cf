"""A query as data: its grammar is grammars/query.lark, its errors are located in its text.

    all-gather* where bytes > 64MB and feeds dot
    dot where dtype = bf16 and (dim[0] >= 1024 or in attention) and not module = "jit_init"
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.corpus.codes import BAD_QUERY
from hlotool.corpus.result_tables import plain
from hlotool.diagnostics import HloError, at, did_you_mean
from hlotool.ir import Source
from hlotool.ops import OPS
from hlotool.process import bytes_in
from hlotool.text import PhraseError, parse_phrase

#: characters of a query, and conditions inside of each other
_LONGEST, _DEEPEST = 10_000, 100
#: digits of a number; sizes of 64 bits have 19
_MOST_DIGITS = 30
#: what a field stands for, for the manual
NUMBER_FIELDS = {
    "bytes": "bytes of the result, with units: `64MB`, `1.5 GiB`", "elements": "elements of an array: `1M`",
    "rank": "how many dimensions an array has", "operands": "how many operands", "users": "how many users",
    "line": "the line of the input", "source_line": "the line of the program"}
TEXT_FIELDS = {
    "name": "the instruction's name", "opcode": "its opcode", "dtype": "its element type", "shape": "its shape, layout "
    "included", "computation": "the computation's name", "scope": "its op_name", "source_file": "the file of the "
    "program", "module": "the module's name", "file": "the input", "exact": "a fingerprint of the module",
    "name_blind": "another", "size_blind": "another"}
#: those of them that are a module's
OF_MODULES = {"module": "module", "file": "input", "exact": "exact", "name_blind": "name_blind",
              "size_blind": "size_blind"}


@dataclass(frozen=True, slots=True)
class Text:
    """A text that is compared: exactly, or as a pattern in which * stands for any characters and ? for one."""

    text: str
    is_pattern: bool = False


@dataclass(frozen=True, slots=True)
class Number:
    """`bytes > 64MB`."""

    field: str
    comparison: str
    value: int


@dataclass(frozen=True, slots=True)
class Dimension:
    """`dim[0] = 8`; without an index (None) some dimension. Negative ones count from the end."""

    index: int | None
    comparison: str
    value: int


@dataclass(frozen=True, slots=True)
class FieldComparison:
    """`name = fusion.*`; what is not there equals nothing."""

    field: str
    is_equal: bool
    text: Text


@dataclass(frozen=True, slots=True)
class Search:
    """`scope ~ "at+ention"`: a regular expression (RE2) that fits somewhere. `start` is its place in the query."""

    field: str
    expression: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Neighbour:
    """`feeds dot`, `fed by parameter`: the opcode of something that the result gets to, of some operand."""

    #: feeds or fed_by
    side: str
    opcode: Text


@dataclass(frozen=True, slots=True)
class Within:
    """`in attention`: a part of the op_name between slashes, whatever transformations stand around it."""

    scope: Text


@dataclass(frozen=True, slots=True)
class Mark:
    """`entry`: of the entry computation; `root`: a computation's result."""

    name: str


@dataclass(frozen=True, slots=True)
class Joined:
    """Conditions of which all hold, or some."""

    is_all: bool
    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Negated:
    """A condition that does not hold."""

    part: Condition


Condition: TypeAlias = (
    "Number | Dimension | FieldComparison | Search | Neighbour | Within | Mark | Joined | Negated")


@dataclass(frozen=True, slots=True)
class Query:
    """Instructions of an opcode for which a condition holds."""

    opcode: Text
    condition: Condition | None = None


def unknown_opcode(query: Query) -> str:
    """Return a sentence if HLO has no opcode of the name that a query asks for; "" if it has, or for a pattern."""
    word = query.opcode.text
    if query.opcode.is_pattern or word in OPS:
        return ""
    return "; ".join(filter(None, (f"{word} is no opcode of HLO", did_you_mean(word, OPS))))


def parse_query(text: str) -> Query:
    """The query that a text is. Raises HloError (R172), located in the text."""
    if len(text) > _LONGEST:
        raise query_error(text, f"a query of {len(text)} characters is too long", _LONGEST, len(text))
    try:
        found: Query = parse_phrase("query", "start", text, _QueryBuilder, code=BAD_QUERY, what="a query")
        _check_depth(found, len(text))
    except PhraseError as error:
        raise query_error(text, error.message, error.start, error.end) from None
    except RecursionError:
        raise query_error(text, "the query is nested too deeply", 0, len(text)) from None
    return found


def query_error(text: str, message: str, start: int, end: int) -> HloError:
    """Return the error at a place of a query."""
    help = ("a text with blanks or brackets needs quotes: in \"transpose(jvp(mlp))\"; `hlotool find --help` shows "
            "queries")
    return HloError([at(Source(text, QUERY), start, end, BAD_QUERY, message, help=help)])


#: the name of a query in diagnostics
QUERY = "<query>"


def _check_depth(query: Query, length: int) -> None:
    waiting: list[tuple[Condition | None, int]] = [(query.condition, 1)]
    while waiting:
        part, depth = waiting.pop()
        if depth > _DEEPEST:
            raise PhraseError(BAD_QUERY, "the query is nested too deeply", 0, length)
        inner = part.parts if isinstance(part, Joined) else (part.part,) if isinstance(part, Negated) else ()
        waiting += [(p, depth + 1) for p in inner]


class _QueryBuilder:
    """Builds the parts of a query; tokens know where they stand."""

    def start(self, opcode: Text, where: Any, condition: Condition | None) -> Query:
        return Query(opcode, condition)

    def any(self, *parts: Any) -> Condition:
        return Joined(False, parts[::2])  # an `or` between each two

    def all(self, *parts: Any) -> Condition:
        return Joined(True, parts[::2])

    def negated(self, word: Any, part: Condition) -> Condition:
        return Negated(part)

    def inner(self, part: Condition) -> Condition:
        return part

    def number(self, field: Any, comparison: Any, quantity: Any) -> Condition:
        return Number(str(field), _plain_sign(comparison), _quantity(quantity, str(field)))

    def dimension(self, word: Any, index: Any, comparison: Any, quantity: Any) -> Condition:
        if index is not None and len(index) > 3:
            raise _wrong(index, f"no array has a dimension {index}")
        return Dimension(None if index is None else int(index), _plain_sign(comparison), _quantity(quantity, "dim"))

    def comparison(self, field: Any, sign: Any, text: Text) -> Condition:
        return FieldComparison(str(field), _plain_sign(sign) == "=", text)

    def search(self, field: Any, string: Any) -> Condition:
        quote = string[0]
        return Search(str(field), plain(string[1:-1].replace(f"\\{quote}", quote)), string.start_pos, string.end_pos)

    def feeds(self, word: Any, opcode: Text) -> Condition:
        return Neighbour("feeds", opcode)

    def fed_by(self, word: Any, by: Any, opcode: Text) -> Condition:
        return Neighbour("fed_by", opcode)

    def scope(self, word: Any, scope: Text) -> Condition:
        return Within(scope)

    def mark(self, word: Any) -> Condition:
        return Mark(str(word))

    def glob(self, word: Any) -> Text:
        return Text(str(word), "*" in word or "?" in word)

    def exact(self, string: Any) -> Text:
        quote, inner = string[0], string[1:-1]
        return Text(plain(inner.replace(f"\\{quote}", quote).replace("\\\\", "\\")))

    def text(self, text: Text) -> Text:
        return text


def _plain_sign(sign: Any) -> str:
    return "=" if sign == "==" else str(sign)


def _quantity(token: Any, field: str) -> int:
    """The number that a quantity says; units of bytes are for bytes alone."""
    text = str(token).replace("k", "K")
    if len(text) > _MOST_DIGITS:
        raise _wrong(token, f"a number of {len(text)} characters is larger than anything")
    if text.isdigit():
        return int(text)
    if text.endswith("B") and field != "bytes":
        raise _wrong(token, f"{field} are no bytes: write {text.rstrip('iB').strip()}")
    if text.replace(".", "").isdigit():
        raise _wrong(token, f"{field} is a whole number, {text} is none")
    return bytes_in(text)


def _wrong(token: Any, message: str) -> PhraseError:
    return PhraseError(BAD_QUERY, message, token.start_pos, token.end_pos)


