"""The encodings of builtin types, attributes and locations. Source: MLIR, BuiltinDialectBytecode.td."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir import codes
from hlotool.mlir.byte_cursor import DamagedError
from hlotool.mlir.narrow_integers import with_signs, without_signs
from hlotool.mlir.print_values import stored_bytes
from hlotool.mlir.value_codec import (
    ATTRIBUTE,
    ATTRIBUTES,
    BLOB,
    DIMENSIONS,
    FLOAT_OF_TYPE,
    INTEGER_OF_TYPE,
    RESOURCE,
    STRING,
    TYPE,
    TYPES,
    VARINT,
    Codec,
    Encoding,
    FieldKind,
    ValueSink,
    ValueSource,
    integer_width,
    list_of,
    pair_of,
    signed_of,
)

_SIGNS = ("", "s", "u")
_MOST_BITS = 1 << 24
I1 = mlir.IntegerType(1)


def integer_attribute(type: Any, bits: int) -> mlir.IntegerAttribute:
    """Return the attribute of a type's bits, as a number in the type's range."""
    width = integer_width(type) or 0
    unsigned = type == I1 or (isinstance(type, mlir.IntegerType) and type.signedness == "u")
    return mlir.IntegerAttribute(bits if unsigned else signed_of(bits, width), type)


def element_count(type: Any) -> int | None:
    """Return the number of elements of a shape; None where a size is open."""
    shape = getattr(type, "shape", None)
    return None if shape is None or None in shape else math.prod(shape)


def unpacked(data: bytes, count: int | None) -> bytes:
    """Return truths as a byte each, be they one to a byte, eight to a byte or the same for all."""
    if data in (b"\0", b"\xff"):
        return bytes([data[0] & 1])
    if len(data) != count:
        if count is not None and len(data) == -(-count // 8):
            bits = int.from_bytes(data, "little")
            return bytes([bits >> n & 1 for n in range(count)])
        if len(data) != 1:
            return data
    return bytes([b & 1 for b in data])


def packed(data: bytes, count: int | None) -> bytes:
    """Return truths as bits, eight to a byte; one that stands for all as a byte of such bits."""
    if len(data) == 1 and count != 1:
        return b"\xff" if data[0] else b"\0"
    bits = sum(1 << n for n, byte in enumerate(data) if byte)
    return bits.to_bytes(-(-len(data) // 8), "little")


def dense_attribute(type: Any, data: bytes) -> mlir.DenseAttribute:
    """Return the elements of a shaped type, one byte string of an element where all are equal.

    Raises TypeError for bytes that are not as many as its elements take.
    """
    if not isinstance(type, mlir.TensorType | mlir.VectorType):
        raise TypeError("elements have a type without a shape")
    count, width = element_count(type), stored_bytes(type.element)
    if not width or count is None or len(data) not in (width, width * count):
        raise TypeError(f"{len(data)} bytes are no elements of the type")
    first = data[:width]
    if len(data) > width and data[width:2 * width] == first and data == first * count:
        data = first
    return mlir.DenseAttribute(type, with_signs(data, type.element))


def _dense(type: Any, data: bytes) -> mlir.DenseAttribute:
    truths = getattr(type, "element", None) == I1
    return dense_attribute(type, unpacked(data, element_count(type)) if truths else data)


def _dense_fields(value: mlir.DenseAttribute) -> Sequence[Any]:
    element = value.type.element  # type: ignore[union-attr]
    data = packed(value.data, element_count(value.type)) if element == I1 else without_signs(value.data, element)
    return value.type, data


def _dense_array(element: Any, size: int, data: bytes) -> mlir.DenseArrayAttribute:
    width = stored_bytes(element)
    if not width or len(data) != size * width:
        raise TypeError(f"{len(data)} bytes are no {size} elements of an array")
    signed = isinstance(element, mlir.IntegerType) and element != I1
    return mlir.DenseArrayAttribute(element, tuple([
        int.from_bytes(data[n:n + width], "little", signed=signed) for n in range(0, len(data), width)]))


def _dense_array_fields(value: mlir.DenseArrayAttribute) -> Sequence[Any]:
    width = stored_bytes(value.element)
    data = b"".join([(v & (1 << 8 * width) - 1).to_bytes(width, "little") for v in value.values])
    return value.element, len(value.values), data


def _read_texts(source: ValueSource, done: list[Any]) -> tuple[str, ...]:
    count = element_count(done[0])
    if count is None:
        raise source.cursor.error("strings have a type without a number of elements")
    number = 1 if done[1] else source.cursor.checked(count, "strings")
    return tuple([source.string() for _ in range(number)])


def _write_texts(sink: ValueSink, value: Any, done: list[Any]) -> None:
    for text in value:
        sink.string(text)


def _file_range(file: mlir.StringAttribute, numbers: tuple[int, ...]) -> mlir.FileLocation:
    """The place of a file name and up to four numbers: line; column; end's column; or end's line and column."""
    if len(numbers) < 3:
        return mlir.FileLocation(_text(file), *numbers, *[0] * (2 - len(numbers)))
    line, column, *end = numbers
    return mlir.FileLocation(_text(file), line, column, *(end if len(end) == 2 else (line, end[0])))


def _file_range_fields(value: mlir.FileLocation) -> Sequence[Any]:
    end = () if value.end_column is None else (value.end_column,) if value.end_line == value.line else \
        (value.end_line, value.end_column)
    return mlir.StringAttribute(value.file), (value.line, value.column, *end)


def _read_range(source: ValueSource, done: list[Any]) -> tuple[int, ...]:
    start, count = source.cursor.place, source.cursor.varint()
    if count > 4:
        raise DamagedError(codes.DAMAGED, start, f"a place in a file has {count} numbers")
    return tuple([source.cursor.varint() for _ in range(count)])


def _integer_type(number: int) -> mlir.IntegerType:
    width, sign = number >> 2, number & 3
    if width > _MOST_BITS or sign > 2:
        raise TypeError(f"an integer type has {width} bits and sign {sign}")
    return mlir.IntegerType(width, _SIGNS[sign])


def _vector_sizes() -> FieldKind:
    """The sizes of a vector some of which may scale: how many do, which, and all sizes."""
    flags = list_of(FieldKind(lambda s, d: bool(s.cursor.byte()), lambda s, v, d: s.byte(int(v))))
    return pair_of(flags, DIMENSIONS)


def _tensor(encoding: bool) -> Encoding:
    if encoding:
        return Encoding((ATTRIBUTE, DIMENSIONS, TYPE), lambda e, s, t: mlir.TensorType(s, t, e),
                   lambda v: (v.encoding, v.shape, v.element))
    return Encoding((DIMENSIONS, TYPE), mlir.TensorType, lambda v: (v.shape, v.element))


def _memref(space: bool) -> Encoding:
    def layout(value: Any) -> Any:
        return value.layout if value.layout is not None else mlir.TextAttribute(_identity(len(value.shape)))

    def built(shape: Any, element: Any, given: Any, memory_space: Any = None) -> Any:
        plain = given == mlir.TextAttribute(_identity(len(shape)))
        return mlir.MemRefType(shape, element, None if plain else given, memory_space)

    if space:
        return Encoding((ATTRIBUTE, DIMENSIONS, TYPE, ATTRIBUTE), lambda m, s, t, a: built(s, t, a, m),
                   lambda v: (v.memory_space, v.shape, v.element, layout(v)))
    return Encoding((DIMENSIONS, TYPE, ATTRIBUTE), built, lambda v: (v.shape, v.element, layout(v)))


def _identity(rank: int) -> str:
    """The map that is the layout of a memref without one."""
    names = ", ".join(f"d{n}" for n in range(rank))
    return f"affine_map<({names}) -> ({names})>"


def _plain(value: Any) -> Encoding:
    return Encoding((), lambda: value, lambda v: ())


def _names(*parts: Any) -> mlir.SymbolAttribute:
    root, *nested = parts
    inner = nested[0] if nested else ()
    if any(not isinstance(s, mlir.SymbolAttribute) for s in inner):
        raise TypeError("a part of a symbol is no symbol")
    return mlir.SymbolAttribute((_text(root), *[n for s in inner for n in s.names]))


def _entries(pairs: Sequence[tuple[Any, Any]]) -> mlir.DictionaryAttribute:
    if any(not isinstance(name, mlir.StringAttribute) for name, _ in pairs):
        raise TypeError("a name in a dictionary is no string")
    if len({name for name, _ in pairs}) < len(pairs):
        raise TypeError("a name is twice in a dictionary")
    return mlir.DictionaryAttribute(tuple([(name.text, value) for name, value in pairs]))


def _text(name: Any) -> str:
    if not isinstance(name, mlir.StringAttribute):
        raise TypeError("a name is no string")
    return name.text


_string = mlir.StringAttribute
_ATTRIBUTES: dict[int, Encoding] = {
    0: Encoding((ATTRIBUTES,), mlir.ArrayAttribute, lambda v: (v.members,)),
    1: Encoding((list_of(pair_of(ATTRIBUTE, ATTRIBUTE)),), _entries,
                lambda v: ([(_string(n), a) for n, a in v.entries],)),
    2: Encoding((STRING,), mlir.StringAttribute, lambda v: (v.text,)),
    3: Encoding((STRING, TYPE), mlir.StringAttribute, lambda v: (v.text, v.type)),
    4: Encoding((ATTRIBUTE,), _names, lambda v: (_string(v.names[0]),)),
    5: Encoding((ATTRIBUTE, ATTRIBUTES), _names,
           lambda v: (_string(v.names[0]), [mlir.SymbolAttribute((n,)) for n in v.names[1:]])),
    6: Encoding((TYPE,), mlir.TypeAttribute, lambda v: (v.type,)),
    7: _plain(mlir.UNIT),
    8: Encoding((TYPE, INTEGER_OF_TYPE), integer_attribute, lambda v: (v.type, v.value)),
    9: Encoding((TYPE, FLOAT_OF_TYPE), lambda t, b: mlir.FloatAttribute(b, t), lambda v: (v.type, v.bits)),
    10: Encoding((ATTRIBUTE, ATTRIBUTE), mlir.CallLocation, lambda v: (v.callee, v.caller)),
    11: Encoding((ATTRIBUTE, VARINT, VARINT), lambda f, n, c: mlir.FileLocation(_text(f), n, c),
            lambda v: (_string(v.file), v.line, v.column)),
    12: Encoding((ATTRIBUTES,), mlir.FusedLocation, lambda v: (v.places,)),
    13: Encoding((ATTRIBUTES, ATTRIBUTE), mlir.FusedLocation, lambda v: (v.places, v.metadata)),
    14: Encoding((ATTRIBUTE, ATTRIBUTE), lambda n, p: mlir.NameLocation(_text(n), p),
                 lambda v: (_string(v.name), v.place)),
    15: _plain(mlir.UNKNOWN),
    16: Encoding((TYPE, RESOURCE), lambda t, r: mlir.DenseResourceAttribute(t, *r),
            lambda v: (v.type, (v.key, v.data, v.alignment))),
    17: Encoding((TYPE, VARINT, BLOB), _dense_array, _dense_array_fields),
    18: Encoding((TYPE, BLOB), _dense, _dense_fields),
    19: Encoding((TYPE, VARINT, FieldKind(_read_texts, _write_texts)),
                 lambda t, splat, s: mlir.DenseStringsAttribute(t, s),
                 lambda v: (v.type, int(len(v.texts) == 1), v.texts)),
    20: Encoding((TYPE, ATTRIBUTE, ATTRIBUTE), mlir.SparseAttribute, lambda v: (v.type, v.indices, v.values)),
    22: Encoding((ATTRIBUTE, FieldKind(_read_range, list_of(VARINT).write)), _file_range, _file_range_fields),
}
_TYPES: dict[int, Encoding] = {
    0: Encoding((VARINT,), _integer_type, lambda v: (v.width << 2 | _SIGNS.index(v.signedness),)),
    1: _plain(mlir.IndexType()),
    2: Encoding((TYPES, TYPES), mlir.FunctionType, lambda v: (v.inputs, v.results)),
    3: _plain(mlir.FloatType("bf16")),
    4: _plain(mlir.FloatType("f16")),
    5: _plain(mlir.FloatType("f32")),
    6: _plain(mlir.FloatType("f64")),
    7: _plain(mlir.FloatType("f80")),
    8: _plain(mlir.FloatType("f128")),
    9: Encoding((TYPE,), mlir.ComplexType, lambda v: (v.element,)),
    10: _memref(space=False),
    11: _memref(space=True),
    12: _plain(mlir.NoneType()),
    13: _tensor(encoding=False),
    14: _tensor(encoding=True),
    15: Encoding((TYPES,), mlir.TupleType, lambda v: (v.members,)),
    16: Encoding((TYPE,), lambda t: mlir.MemRefType(None, t), lambda v: (v.element,)),
    17: Encoding((ATTRIBUTE, TYPE), lambda a, t: mlir.MemRefType(None, t, None, a),
                 lambda v: (v.memory_space, v.element)),
    18: Encoding((TYPE,), lambda t: mlir.TensorType(None, t), lambda v: (v.element,)),
    19: Encoding((DIMENSIONS, TYPE), mlir.VectorType, lambda v: (v.shape, v.element)),
    20: Encoding((_vector_sizes(), TYPE), lambda sizes, t: mlir.VectorType(sizes[1], t, sizes[0]),
            lambda v: ((v.scalable, v.shape), v.element)),
    # Newer ones, which are written as texts for those who do not know the numbers.
    **{number: _plain(mlir.FloatType(name)) for number, name in enumerate((
        "tf32", "f8E5M2", "f8E4M3", "f8E4M3FN", "f8E5M2FNUZ", "f8E4M3FNUZ", "f8E4M3B11FNUZ", "f8E3M4", "f4E2M1FN",
        "f6E2M3FN", "f6E3M2FN", "f8E8M0FNU"), 21)},
}
_FLOATS = {"bf16": 3, "f16": 4, "f32": 5, "f64": 6, "f80": 7, "f128": 8}

#: the number of a value's row by its class, or a function that tells
_NUMBERS: dict[type, int | Callable[[Any], int | None]] = {
    mlir.ArrayAttribute: 0,
    mlir.DictionaryAttribute: 1,
    mlir.StringAttribute: lambda v: 2 if v.type is None else 3,
    mlir.SymbolAttribute: lambda v: 4 if len(v.names) == 1 else 5,
    mlir.TypeAttribute: 6,
    mlir.UnitAttribute: 7,
    mlir.IntegerAttribute: 8,
    mlir.FloatAttribute: 9,
    mlir.CallLocation: 10,
    mlir.FileLocation: lambda v: 11 if v.end_column is None else 22,
    mlir.FusedLocation: lambda v: 12 if v.metadata is None else 13,
    mlir.NameLocation: 14,
    mlir.UnknownLocation: 15,
    mlir.DenseResourceAttribute: 16,
    mlir.DenseArrayAttribute: 17,
    mlir.DenseAttribute: 18,
    mlir.DenseStringsAttribute: 19,
    mlir.SparseAttribute: 20,
    mlir.IntegerType: 0,
    mlir.IndexType: 1,
    mlir.FunctionType: 2,
    mlir.FloatType: lambda v: _FLOATS.get(v.name),
    mlir.ComplexType: 9,
    mlir.MemRefType: lambda v: (16 if v.shape is None else 10) + (v.memory_space is not None),
    mlir.NoneType: 12,
    mlir.TensorType: lambda v: 18 if v.shape is None else 13 if v.encoding is None else 14,
    mlir.TupleType: 15,
    mlir.VectorType: lambda v: 20 if any(v.scalable) else 19,
}


def _number(value: Any) -> int | None:
    found = _NUMBERS.get(type(value))
    return found(value) if callable(found) else found


BUILTIN = Codec(_ATTRIBUTES, _TYPES, _number)
