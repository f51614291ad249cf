"""A query as SQL with parameters: what a user writes is never a part of the statement, always a value.

    dot where bytes > 64MB and feeds add    ->    opcode = ? AND (bytes > ? AND list_contains(feeds, ?))
                                                  ['dot', 64000000, 'add']
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hlotool.corpus.query_parts import (
    OF_MODULES,
    Condition,
    Dimension,
    FieldComparison,
    Joined,
    Mark,
    Negated,
    Neighbour,
    Number,
    Query,
    Search,
    Text,
    Within,
)
from hlotool.corpus.scope_paths import scope_path

#: columns that are not called as the field is
_NUMBER_COLUMNS = {"operands": "len(operands)"}
_MARKS = {"entry": "in_entry", "root": "is_root"}


@dataclass(slots=True)
class Statement:
    """A condition of SQL on the table of instructions, and its values in order. `?` stands for each."""

    sql: str = ""
    values: list[Any] = field(default_factory=list)


def compiled(query: Query, modules: str) -> Statement:
    """The condition of a query; `modules` is SQL for the table of modules, without values."""
    writer = _SqlWriter(modules)
    parts = [writer.opcode(query.opcode)]
    if query.condition is not None:
        parts.append(writer.condition(query.condition, is_negated=False))
    return Statement(" AND ".join(filter(None, parts)) or "true", writer.values)


class _SqlWriter:
    """Writes conditions, the value of each `?` noted as it is written."""

    def __init__(self, modules: str) -> None:
        self._modules = modules
        self.values: list[Any] = []

    def opcode(self, text: Text) -> str:
        """The opcode; of a pattern its beginning is a range, by which whole groups of sorted rows are passed over."""
        if not text.is_pattern:
            return f"opcode = {self._value(text.text)}"
        if text.text == "*":
            return ""
        begin = text.text.replace("?", "*").partition("*")[0]
        parts = []
        if begin and begin.isascii():
            parts.append(f"opcode >= {self._value(begin)} AND opcode < {self._value(_behind(begin))}")
        if not parts or text.text != f"{begin}*":
            parts.append(self._like("opcode", text))
        return " AND ".join(parts)

    def condition(self, part: Condition, is_negated: bool) -> str:
        """A condition. Inside of a negation what is not there (NULL) has to be false, not unknown."""
        if isinstance(part, Joined):
            word = " AND " if part.is_all else " OR "
            return f"({word.join(self.condition(p, is_negated) for p in part.parts)})"
        if isinstance(part, Negated):
            return f"(NOT {self.condition(part.part, True)})"
        test = _TESTS[type(part)](self, part)
        return f"coalesce({test}, false)" if is_negated else test

    def number(self, part: Number) -> str:
        return f"{_NUMBER_COLUMNS.get(part.field, part.field)} {part.comparison} {self._value(part.value)}"

    def dimension(self, part: Dimension) -> str:
        if part.index is None:
            return f"len(list_filter(dims, lambda d: d {part.comparison} {self._value(part.value)})) > 0"
        place = part.index + 1 if part.index >= 0 else part.index
        return f"dims[{self._value(place)}] {part.comparison} {self._value(part.value)}"

    def comparison(self, part: FieldComparison) -> str:
        column = OF_MODULES.get(part.field, part.field)
        test = self._like(column, part.text) if part.text.is_pattern else f"{column} = {self._value(part.text.text)}"
        if not part.is_equal:
            test = f"NOT coalesce({test}, false)"
        return self._of(part.field, test)

    def search(self, part: Search) -> str:
        column = OF_MODULES.get(part.field, part.field)
        return self._of(part.field, f"regexp_matches({column}, {self._value(part.expression)})")

    def neighbour(self, part: Neighbour) -> str:
        if not part.opcode.is_pattern:
            return f"list_contains({part.side}, {self._value(part.opcode.text)})"
        return f"len(list_filter({part.side}, lambda o: {self._like('o', part.opcode)})) > 0"

    def within(self, part: Within) -> str:
        if not part.scope.is_pattern:
            return f"contains(scope_path, {self._value(scope_path(part.scope.text))})"
        return f"regexp_matches(scope_path, {self._value('/' + _expression(part.scope.text.strip('/')) + '/')})"

    def mark(self, part: Mark) -> str:
        return _MARKS[part.name]

    def _of(self, name: str, test: str) -> str:
        """A test of a field, which may be the module's."""
        return f"module_id IN (SELECT module_id FROM {self._modules} WHERE {test})" if name in OF_MODULES else test

    def _like(self, column: str, text: Text) -> str:
        escaped = "".join(f"\\{c}" if c in "\\%_" else c for c in text.text)
        return f"{column} LIKE {self._value(escaped.replace('*', '%').replace('?', '_'))} ESCAPE '\\'"

    def _value(self, value: Any) -> str:
        self.values.append(value)
        return "?"


_TESTS: dict[type, Callable[[_SqlWriter, Any], str]] = {
    Number: _SqlWriter.number, Dimension: _SqlWriter.dimension, FieldComparison: _SqlWriter.comparison,
    Search: _SqlWriter.search, Neighbour: _SqlWriter.neighbour, Within: _SqlWriter.within, Mark: _SqlWriter.mark}


def _behind(begin: str) -> str:
    """The least text behind all that begin so; opcodes are of letters, digits and joints."""
    return begin[:-1] + chr(ord(begin[-1]) + 1)


def _expression(pattern: str) -> str:
    """A pattern of one scope as a regular expression; every character that is no letter is written by its number."""
    return "".join("[^/]*" if c == "*" else "[^/]" if c == "?" else c if c.isalnum() and c.isascii()
                   else f"\\x{{{ord(c):x}}}" for c in pattern)
