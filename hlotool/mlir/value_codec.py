"""How types and attributes of dialects are encoded: rows of fields, by which they are both read and written.

A row has a value's fields in the order of the bytes; each field is of a kind, which reads it from a source and writes
it to a sink. `Codec` is all rows of a dialect, by the number that the bytes begin with.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir import codes
from hlotool.mlir.byte_cursor import ByteCursor, DamagedError
from hlotool.mlir.print_floats import float_width

#: the size of a dimension that is open, as the bytes have it
OPEN = -(1 << 63)


class ValueSource(Protocol):
    """A source of fields: bytes, and the tables of the file."""

    @property
    def cursor(self) -> ByteCursor: ...

    def attribute(self) -> Any: ...
    def attribute_at(self, index: int) -> Any: ...
    def type(self) -> Any: ...
    def string(self) -> str: ...
    def resource(self) -> tuple[str, bytes | None, int]: ...


class ValueSink(Protocol):
    """A sink of fields: bytes, and the tables of the file."""

    def byte(self, value: int) -> None: ...
    def varint(self, value: int) -> None: ...
    def signed(self, value: int) -> None: ...
    def blob(self, data: bytes) -> None: ...
    def attribute(self, value: Any) -> None: ...
    def type(self, value: Any) -> None: ...
    def string(self, text: str) -> None: ...
    def resource(self, key: str, data: bytes | None, alignment: int) -> None: ...


@dataclass(frozen=True, slots=True)
class FieldKind:
    """A kind of field. Reading and writing get the fields before it, on which some depend."""

    read: Callable[[ValueSource, list[Any]], Any]
    write: Callable[[ValueSink, Any, list[Any]], None]


@dataclass(frozen=True, slots=True)
class Encoding:
    """One type or attribute: what makes it of its fields, and what gives them back."""

    kinds: tuple[FieldKind, ...]
    build: Callable[..., Any]
    fields: Callable[[Any], Sequence[Any]]


@dataclass(slots=True)
class Codec:
    """The rows of a dialect by number, and which number a value is written by (None: as its text)."""

    attributes: Mapping[int, Encoding]
    types: Mapping[int, Encoding]
    number: Callable[[Any], int | None]


def list_of(kind: FieldKind) -> FieldKind:
    """Return the kind of a counted list."""
    def read(source: ValueSource, done: list[Any]) -> Any:
        return tuple([kind.read(source, done) for _ in range(source.cursor.count("elements"))])

    def write(sink: ValueSink, value: Any, done: list[Any]) -> None:
        sink.varint(len(value))
        for item in value:
            kind.write(sink, item, done)

    return FieldKind(read, write)


def pair_of(first: FieldKind, second: FieldKind) -> FieldKind:
    """Return the kind of two fields, one after the other."""
    def read(source: ValueSource, done: list[Any]) -> Any:
        return first.read(source, done), second.read(source, done)

    def write(sink: ValueSink, value: Any, done: list[Any]) -> None:
        first.write(sink, value[0], done)
        second.write(sink, value[1], done)

    return FieldKind(read, write)


def enum_of(words: Sequence[str | None]) -> FieldKind:
    """Return the kind of a word that is written as its number; None where a number has no word."""
    def read(source: ValueSource, done: list[Any]) -> Any:
        start, number = source.cursor.place, source.cursor.varint()
        word = words[number] if number < len(words) else None
        if word is None:
            raise DamagedError(codes.UNKNOWN, start, f"{number} is no number of {', '.join(filter(None, words))}")
        return word

    return FieldKind(read, lambda sink, value, done: sink.varint(words.index(value)))


def read_number(source: ValueSource, width: int) -> int:
    """Read a number of so many bits, as one without a sign."""
    cursor = source.cursor
    if width <= 8:
        return cursor.byte() & (1 << width) - 1
    if width <= 64:
        return cursor.signed() & (1 << width) - 1
    words = [cursor.signed() & (1 << 64) - 1 for _ in range(cursor.count("words"))]
    return sum(w << 64 * n for n, w in enumerate(words)) & (1 << width) - 1


def write_number(sink: ValueSink, value: int, width: int) -> None:
    """Write the bits of a number."""
    bits = value & (1 << width) - 1
    if width <= 8:
        sink.byte(bits)
    elif width <= 64:
        sink.signed(bits - (bits >> width - 1 << width) if width == 64 else bits)
    else:
        words = max(1, -(-bits.bit_length() // 64))
        sink.varint(words)
        for word in range(words):
            part = bits >> 64 * word & (1 << 64) - 1
            sink.signed(part - (part >> 63 << 64))


def signed_of(bits: int, width: int) -> int:
    """Return the number with a sign that bits stand for."""
    return bits - (bits >> width - 1 << width) if width else 0


def _read_bool(source: ValueSource, done: list[Any]) -> bool:
    number = source.cursor.varint()
    if number > 1:
        raise source.cursor.error(f"a truth is {number}")
    return number == 1


def _read_flag(source: ValueSource, done: list[Any]) -> bool:
    number = source.cursor.byte()
    if number > 1:
        raise source.cursor.error(f"a truth is {number}")
    return bool(number)


def _read_dimensions(source: ValueSource, done: list[Any]) -> tuple[int | None, ...]:
    sizes = SIGNED_LIST.read(source, done)
    if any(s < 0 and s != OPEN for s in sizes):
        raise source.cursor.error(f"a size of a dimension is {min(s for s in sizes if s != OPEN)}")
    return tuple([None if s == OPEN else s for s in sizes])


def _write_dimensions(sink: ValueSink, value: Any, done: list[Any]) -> None:
    SIGNED_LIST.write(sink, [OPEN if s is None else s for s in value], done)


def _of_type(width_of: Callable[[Any], int | None], what: str) -> FieldKind:
    """The kind of a number whose width its type tells, which is the field before it."""
    def width(done: list[Any], source: ValueSource | None = None) -> int:
        found = width_of(done[0])
        if found is None:
            problem = f"a {what} has a type that is none of {what}s"
            raise source.cursor.error(problem) if source is not None else TypeError(problem)
        return found

    return FieldKind(lambda source, done: read_number(source, width(done, source)),
                lambda sink, value, done: write_number(sink, value, width(done)))


ATTRIBUTE = FieldKind(lambda s, d: s.attribute(), lambda s, v, d: s.attribute(v))
TYPE = FieldKind(lambda s, d: s.type(), lambda s, v, d: s.type(v))
STRING = FieldKind(lambda s, d: s.string(), lambda s, v, d: s.string(v))
VARINT = FieldKind(lambda s, d: s.cursor.varint(), lambda s, v, d: s.varint(v))
SIGNED = FieldKind(lambda s, d: s.cursor.signed(), lambda s, v, d: s.signed(v))
BOOL = FieldKind(_read_bool, lambda s, v, d: s.varint(int(v)))
#: a truth as a byte
FLAG = FieldKind(_read_flag, lambda s, v, d: s.byte(int(v)))
BLOB = FieldKind(lambda s, d: s.cursor.take(s.cursor.varint()), lambda s, v, d: s.blob(v))
RESOURCE = FieldKind(lambda s, d: s.resource(), lambda s, v, d: s.resource(*v))
#: the bits of a double
DOUBLE = FieldKind(lambda s, d: read_number(s, 64), lambda s, v, d: write_number(s, v, 64))
ATTRIBUTES = list_of(ATTRIBUTE)
TYPES = list_of(TYPE)
SIGNED_LIST = list_of(SIGNED)
DIMENSIONS = FieldKind(_read_dimensions, _write_dimensions)


def integer_width(type: Any) -> int | None:
    """Return the bits of a builtin integer type, or of index; None for any other."""
    return type.width if isinstance(type, mlir.IntegerType) else 64 if isinstance(type, mlir.IndexType) else None


def _float_bits(type: Any) -> int | None:
    return (float_width(type.name) or None) if isinstance(type, mlir.FloatType) else None


INTEGER_OF_TYPE = _of_type(integer_width, "integer")
FLOAT_OF_TYPE = _of_type(_float_bits, "float")


