"""The tables of strings, resources, types and attributes of a bytecode file, whose entries are made when asked for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir import codes
from hlotool.mlir.byte_cursor import ByteCursor, DamagedError, varint_at
from hlotool.mlir.value_codec import Codec

#: levels of types and attributes inside of each other; real programs have a dozen
_DEEPEST = 64
#: how many times locations may be so deep inside of each other; those of real programs have a hundred levels
_MOST_STEPS = 1000
#: the size of a value with all that it holds written out, as often as it is referred to
_LARGEST = 1 << 24
#: a type or attribute of a dialect as its text: sign, dialect, mnemonic, parameters
_DIALECT_TEXT = re.compile(r"[#!]([A-Za-z_][\w$]*)(?:\.([A-Za-z_][\w$.]*)(?:<(.*)>)?|<(.*)>)", re.S)


def read_strings(cursor: ByteCursor) -> list[str]:
    """Return the strings of a file: sizes of the last one first, then all bytes, with a zero after each string."""
    count = cursor.count("strings", 2)
    sizes = [cursor.varint() for _ in range(count)]
    if sum(sizes) != cursor.left or 0 in sizes:
        raise cursor.error(f"strings take {sum(sizes)} bytes, and {cursor.left} are left")
    data = cursor.take(cursor.left)
    ends = list(itertools.accumulate(reversed(sizes)))
    parts = zip([0, *ends], ends, strict=False)
    if data.isascii():
        text = data.decode()
        return [text[start:end - 1] for start, end in parts]
    return [data[start:end - 1].decode("utf-8", "surrogateescape") for start, end in parts]


def value_of_text(text: str, is_type: bool) -> Any:
    """Return the type or attribute of a text. Nothing inside of it is taken apart."""
    found = _DIALECT_TEXT.fullmatch(text)
    if found is None:
        if is_type and re.fullmatch(r"f\d+\w*|tf32|bf16", text):
            return mlir.FloatType(text)
        return mlir.TextType(text) if is_type else mlir.TextAttribute(text)
    dialect, mnemonic, body, pretty = found.groups()
    make = mlir.DialectType if is_type else mlir.DialectAttribute
    if pretty is not None:
        word = re.fullmatch(r"([A-Za-z_]\w*) ([A-Za-z_]\w*)", pretty)
        return make(dialect, word[1], (("", word[2]),)) if word else make(dialect, "", (("", mlir.Bracketed(pretty)),))
    return make(dialect, mnemonic, () if body is None else (("", mlir.Bracketed(body)),))


#: what stands in a table for a value that is being made
_BUSY = object()
_LOCATIONS = frozenset(mlir.LOCATIONS)
#: the first bytes of a name and of a string: the numbers of their rows in BUILTIN
_NAME_ROW, _STRING_ROW = 14 << 1 | 1, 2 << 1 | 1
#: the size and the levels of a location, which is never written out inside of others
_SMALL = (1, 0)


class _DeeperError(Exception):
    """A value that is too deep inside of others for Python's stack, and is to be made before them."""

    def __init__(self, index: int, is_type: bool) -> None:
        super().__init__()
        self.place = index, is_type


class ValueTable:
    """Types and attributes by index. Each one is made once, when it is first asked for."""

    def __init__(self, dialects: Sequence[str], strings: list[str], resources: list[tuple[str, bytes | None, int]],
                 codecs: Mapping[str, Codec]) -> None:
        self.dialects = dialects
        self.strings = strings
        self.resources = resources
        self.codecs = codecs
        self.entries: tuple[list[tuple[str, bool, int, int]], list[tuple[str, bool, int, int]]] = ([], [])
        #: attributes and types by index, `_BUSY` while one is made; size and levels of each
        self.known: tuple[list[Any], list[Any]] = ([], [])
        self.sizes: tuple[list[tuple[int, int]], list[tuple[int, int]]] = ([], [])
        self.busy: list[tuple[int, bool]] = []

    def read_offsets(self, offsets: ByteCursor, values: ByteCursor) -> None:
        """Read where each attribute and each type has its bytes: sizes in groups of a dialect."""
        counts = offsets.count("attributes"), offsets.count("types")
        offsets.checked(sum(counts), "attributes and types")
        for number, count in enumerate(counts):
            entries = self.entries[number]
            while len(entries) < count:
                dialect = self.entry(self.dialects, offsets.varint(), "dialect", offsets)
                size = offsets.count("attributes or types")
                if len(entries) + size > count:
                    raise offsets.error(f"{len(entries) + size} attributes or types are grouped, of {count}")
                start = values.place
                for _ in range(size):
                    length = offsets.varint()
                    end = start + (length >> 1)
                    if end > values.end:
                        values.place = start
                        values.slice(length >> 1)  # which raises
                    entries.append((dialect, bool(length & 1), start, end))
                    start = end
                values.place = start
            self.known[number].extend([None] * count)
            self.sizes[number].extend([(1, 1)] * count)
        offsets.finish("the sizes of attributes and types")
        self.data = values.data

    def name(self, index: int, levels: int = 3) -> mlir.NameLocation | None:
        """Return the location that is a name with a place that is known, as most are; None for all others.

        So many levels of such names inside of each other may be new.
        """
        known, entries, data = self.known[False], self.entries[False], self.data
        try:
            dialect, has_codec, start, end = entries[index]
            if not has_codec or data[start] != _NAME_ROW or dialect != "builtin":
                return None
            named, start = varint_at(data, start + 1)
            inner, start = varint_at(data, start)
            dialect, has_codec, first, last = entries[named]
            if start != end or not has_codec or data[first] != _STRING_ROW or dialect != "builtin":
                return None
            number, first = varint_at(data, first + 1)
            place = known[inner]
            if type(place) not in _LOCATIONS and (place is not None or not levels or not (
                    place := self.name(inner, levels - 1))):
                return None
            if first != last:
                return None
            found = known[index] = mlir.NameLocation(self.strings[number], place)
        except IndexError:  # which is said where the entry is read field by field
            return None
        self.sizes[False][index] = _SMALL
        return found

    def entry(self, table: Sequence[Any], index: int, what: str, cursor: ByteCursor) -> Any:
        """Return what a table has at an index."""
        if index >= len(table):
            raise cursor.error(f"{what} {index} is asked for, and there are {len(table)}")
        return table[index]

    def attribute(self, index: int, cursor: ByteCursor) -> Any:
        """Return an attribute; `cursor` tells where it was asked for."""
        known = self.known[False]
        return (known[index] if index < len(known) else None) or self._made(index, False, cursor)

    def type(self, index: int, cursor: ByteCursor) -> Any:
        """Return a type; `cursor` tells where it was asked for."""
        known = self.known[True]
        return (known[index] if index < len(known) else None) or self._made(index, True, cursor)

    def _made(self, index: int, is_type: bool, cursor: ByteCursor) -> Any:
        steps = [(index, is_type)]
        while True:
            try:
                found = self._value(*steps[-1], cursor)
            except IndexError:
                raise DamagedError(codes.TRUNCATED, len(self.data), "the bytes end in the middle of a value") from None
            except _DeeperError as deeper:
                for place, kind in self.busy:
                    self.known[kind][place] = None
                self.busy.clear()
                if deeper.place in steps or len(steps) == _MOST_STEPS:
                    raise cursor.error("types, attributes or locations hold themselves, or are nested too deep",
                                       codes.TOO_DEEP) from None
                steps.append(deeper.place)
                continue
            steps.pop()
            if not steps:
                return found

    def _value(self, index: int, is_type: bool, cursor: ByteCursor, depth: int = 0) -> Any:
        known = self.known[is_type]
        if index < len(known) and (found := known[index]) is not None:
            if found is _BUSY:
                raise cursor.error(f"{'type' if is_type else 'attribute'} {index} holds itself")
            return found
        if not is_type and (named := self.name(index)) is not None:
            return named
        dialect, has_codec, start, end = self.entry(
            self.entries[is_type], index, "type" if is_type else "attribute", cursor)
        if depth > _DEEPEST:
            raise _DeeperError(index, is_type)
        known[index] = _BUSY
        self.busy.append((index, is_type))
        source = _Source(self, start, end, depth + 1)
        value = self._coded(dialect, is_type, source) if has_codec else value_of_text(
            source.terminated().decode("utf-8", "surrogateescape"), is_type)
        if source.place != end:
            raise source.error(f"{'type' if is_type else 'attribute'} {index} takes other bytes than those it has")
        self.busy.pop()
        if type(value) in _LOCATIONS:
            self.sizes[is_type][index] = _SMALL
        else:
            if source.size > _LARGEST or source.level > _DEEPEST:
                raise DamagedError(codes.TOO_DEEP, start, f"{'type' if is_type else 'attribute'} {index} is nested "
                                   f"more than {_DEEPEST} deep, or larger than {_LARGEST} when written out")
            self.sizes[is_type][index] = source.size, source.level
        known[index] = value
        return value

    def _coded(self, dialect: str, is_type: bool, source: _Source) -> Any:
        codec = self.codecs.get(dialect)
        start = source.place
        number = source.varint()
        row = (codec.types if is_type else codec.attributes).get(number) if codec is not None else None
        if row is None:
            what = "type" if is_type else "attribute"
            raise DamagedError(codes.UNKNOWN, start, f"{what} {number} of dialect {dialect} is not known")
        done: list[Any] = []
        for kind in row.kinds:
            done.append(kind.read(source, done))
        try:
            return row.build(*done)
        except (TypeError, ValueError, AttributeError) as error:  # of a field that holds something else
            raise DamagedError(codes.DAMAGED, start, str(error)) from None


class _Source(ByteCursor):
    """The source of the fields of one value; adds up the size and the levels of the values that they refer to."""

    __slots__ = ("depth", "level", "size", "table")

    def __init__(self, table: ValueTable, place: int, end: int, depth: int) -> None:
        self.data = table.data
        self.place = place
        self.end = end
        self.table = table
        self.depth = depth
        self.size = self.level = 1

    @property
    def cursor(self) -> ByteCursor:
        """Itself, as `ValueSource` has it."""
        return self

    def _value(self, is_type: bool, index: int) -> Any:
        table = self.table
        known = table.known[is_type]
        found = known[index] if index < len(known) else None
        if found is None or found is _BUSY:
            found = table._value(index, is_type, self, self.depth)
        size, level = table.sizes[is_type][index]
        self.size += size
        if level >= self.level:
            self.level = level + 1
        return found

    def attribute(self) -> Any:
        first = self.data[self.place]
        if first & 1:
            self.place += 1
            return self._value(False, first >> 1)
        return self._value(False, self.varint())

    def attribute_at(self, index: int) -> Any:
        return self._value(False, index)

    def type(self) -> Any:
        return self._value(True, self.varint())

    def string(self) -> str:
        text: str = self.table.entry(self.table.strings, self.varint(), "string", self)
        return text

    def resource(self) -> tuple[str, bytes | None, int]:
        found: tuple[str, bytes | None, int] = self.table.entry(self.table.resources, self.varint(), "resource", self)
        return found
