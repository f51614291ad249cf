"""The types and attributes of VHLO, the versioned form of StableHLO: encodings, first versions, builtin types.

One row for each. VHLO's values are those of a dialect: `#vhlo.integer_v1` has the parameters `type` and `value`.
Source: StableHLO, VhloTypes.td, VhloAttrs.td, VhloEnums.td, VhloBytecode.cpp.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.ir import API_VERSIONS
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.builtin_codec import I1, packed, unpacked
from hlotool.mlir.print_floats import float_width
from hlotool.mlir.value_codec import (
    ATTRIBUTE,
    ATTRIBUTES,
    BLOB,
    BOOL,
    DIMENSIONS,
    DOUBLE,
    SIGNED,
    SIGNED_LIST,
    STRING,
    TYPE,
    TYPES,
    VARINT,
    Codec,
    Encoding,
    FieldKind,
    ValueSink,
    ValueSource,
    enum_of,
    integer_width,
    list_of,
    pair_of,
    read_number,
    signed_of,
    write_number,
)

#: a version of StableHLO
Version = tuple[int, int, int]
FIRST: Version = (0, 9, 0)


def _width(done: list[Any]) -> int:
    """The bits of a number whose type stands before it."""
    builtin = PLAIN.get(getattr(done[0], "mnemonic", ""))
    found = float_width(builtin.name) if isinstance(builtin, mlir.FloatType) else integer_width(builtin)
    if not found:
        raise TypeError("a number has a type that is none of numbers")
    return found


def _read_value(source: ValueSource, done: list[Any]) -> int:
    try:
        bits = read_number(source, _width(done))
    except TypeError as error:
        raise source.cursor.error(str(error)) from None
    builtin = PLAIN[done[0].mnemonic]
    is_signed = isinstance(builtin, mlir.IndexType) or (isinstance(builtin, mlir.IntegerType) and builtin != I1
                                                       and not builtin.signedness)
    return signed_of(bits, _width(done)) if is_signed else bits


_VALUE = FieldKind(_read_value, lambda sink, value, done: write_number(sink, value, _width(done)))


def _elements(type: Any) -> tuple[bool, int | None]:
    """Return True if a tensor's elements are truths, and how many there are."""
    given = dict(getattr(type, "parameters", ()))
    count = 1
    for size in given.get("shape") or ():
        count *= size or 0
    is_open = given.get("shape") is None or None in given["shape"]
    return getattr(given.get("element"), "mnemonic", "") == "bool_v1", None if is_open else count


def _read_data(source: ValueSource, done: list[Any]) -> bytes:
    data, (truths, count) = BLOB.read(source, done), _elements(done[0])
    found: bytes = unpacked(data, count) if truths else data
    return found


def _write_data(sink: ValueSink, value: bytes, done: list[Any]) -> None:
    truths, count = _elements(done[0])
    sink.blob(packed(value, count) if truths else value)


def _read_optional(source: ValueSource, done: list[Any]) -> Any:
    return source.attribute() if BOOL.read(source, done) else None


def _write_optional(sink: ValueSink, value: Any, done: list[Any]) -> None:
    sink.varint(int(value is not None))
    if value is not None:
        sink.attribute(value)


_DATA = FieldKind(_read_data, _write_data)
_OPTIONAL = FieldKind(_read_optional, _write_optional)
_DOUBLES = list_of(DOUBLE)


@dataclass(frozen=True, slots=True)
class VhloValue:
    """A row: name, number of the encoding, first version, fields, and the builtin type that it stands for, if one.

    An enumeration also has its words.
    """

    mnemonic: str
    number: int
    first: Version
    fields: dict[str, FieldKind]
    builtin: Any = None
    words: tuple[str, ...] = ()


def _row(mnemonic: str, number: int, first: Version = FIRST, /, builtin: Any = None, **fields: FieldKind) -> VhloValue:
    return VhloValue(mnemonic, number, first, fields, builtin)


def _words(mnemonic: str, number: int, first: Version, words: str) -> VhloValue:
    """The row of an enumeration: its words by number; "-" where a number has none."""
    known = words.split()
    return VhloValue(mnemonic, number, first, {"": enum_of([None if w == "-" else w for w in known])},
                     words=tuple([w for w in known if w != "-"]))


ATTRIBUTE_ROWS = (
    _row("array_v1", 1, members=ATTRIBUTES),
    _row("bool_v1", 2, value=BOOL),
    _words("comparison_direction_v1", 3, FIRST, "EQ NE GE GT LE LT"),
    _words("comparison_type_v1", 4, FIRST, "NOTYPE FLOAT TOTALORDER SIGNED UNSIGNED"),
    _words("api_version_v1", 5, FIRST, " ".join(API_VERSIONS)),
    _row("dict_v1", 6, entries=list_of(pair_of(ATTRIBUTE, ATTRIBUTE))),
    _words("fft_type_v1", 7, FIRST, "FFT IFFT RFFT IRFFT"),
    _row("float_v1", 8, type=TYPE, value=_VALUE),
    _row("integer_v1", 9, type=TYPE, value=_VALUE),
    _row("output_operand_alias_v1", 10, output_tuple_indices=SIGNED_LIST, operand_index=SIGNED,
         operand_tuple_indices=SIGNED_LIST),
    _words("precision_v1", 11, FIRST, "DEFAULT HIGH HIGHEST"),
    _words("rng_algorithm_v1", 12, FIRST, "DEFAULT THREE_FRY PHILOX"),
    _words("rng_distribution_v1", 13, FIRST, "- UNIFORM NORMAL"),
    _row("string_v1", 14, value=STRING),
    _row("tensor_v1", 15, type=TYPE, data=_DATA),
    _words("transpose_v1", 16, FIRST, "TRANSPOSE_INVALID NO_TRANSPOSE TRANSPOSE ADJOINT"),
    _row("type_v1", 17, value=TYPE),
    _row("type_extensions_v1", 18, bounds=DIMENSIONS),
    _words("result_accuracy_mode_v1", 19, (1, 9, 0), "DEFAULT HIGHEST TOLERANCE"),
    _row("result_accuracy_v1", 20, (1, 9, 0), atol=DOUBLE, rtol=DOUBLE, ulps=SIGNED, mode=ATTRIBUTE),
    _row("sub_axis_info_v1", 21, (1, 16, 0), pre_size=SIGNED, size=SIGNED),
    _row("axis_ref_v1", 22, (1, 16, 0), name=ATTRIBUTE, sub_axis_info=_OPTIONAL),
    _row("replica_group_mesh_axes_v1", 23, (1, 16, 0), mesh=ATTRIBUTE, axes=ATTRIBUTE),
)


def _float(name: str, number: int, first: Version = FIRST, mnemonic: str = "") -> VhloValue:
    return VhloValue(mnemonic or f"{name}_v1", number, first, {}, mlir.FloatType(name))


def _integers(width: int, signed: int, unsigned: int, first: Version = FIRST) -> tuple[VhloValue, VhloValue]:
    """The rows of an integer and of the one without a sign, with their numbers."""
    return (VhloValue(f"i{width}_v1", signed, first, {}, mlir.IntegerType(width)),
            VhloValue(f"ui{width}_v1", unsigned, first, {}, mlir.IntegerType(width, "u")))


_TENSOR = {"shape": DIMENSIONS, "element": TYPE}
TYPE_ROWS = (
    _row("bool_v1", 0, builtin=I1),
    _row("complex_v1", 1, element=TYPE),
    _float("bf16", 2),
    _float("f16", 3),
    _float("f32", 4),
    _float("f64", 5),
    _float("f8E4M3FN", 6),
    _float("f8E5M2", 7),
    _row("func_v1", 8, inputs=TYPES, outputs=TYPES),
    _row("index_v1", 9, builtin=mlir.IndexType()),
    *_integers(2, 31, 32, (1, 2, 0)),
    *_integers(4, 10, 15),
    *_integers(8, 11, 16),
    *_integers(16, 12, 17),
    *_integers(32, 13, 18),
    *_integers(64, 14, 19),
    VhloValue("tensor_v1", 20, FIRST, _TENSOR),
    VhloValue("tensor_v1", 21, FIRST, {"encoding": ATTRIBUTE, **_TENSOR}),
    _row("token_v1", 22, builtin=mlir.DialectType("stablehlo", "token")),
    _row("tuple_v1", 23, members=TYPES),
    _row("quant_v1", 24, flags=VARINT, storage=TYPE, expressed=TYPE, scale=DOUBLE, zero_point=SIGNED, minimum=SIGNED,
         maximum=SIGNED),
    _row("unranked_tensor_v1", 25, element=TYPE),
    _row("witness_v1", 26, builtin=mlir.DialectType("shape", "witness")),
    _float("f8E4M3FNUZ", 27, (0, 10, 0)),
    _float("f8E5M2FNUZ", 28, (0, 10, 0)),
    _float("f8E4M3B11FNUZ", 29, (0, 11, 0)),
    _row("quant_per_axis_v1", 30, (0, 18, 0), flags=VARINT, storage=TYPE, expressed=TYPE, dimension=VARINT,
         minimum=SIGNED, maximum=SIGNED, scales=_DOUBLES, zero_points=SIGNED_LIST),
    _row("none_v1", 33, (1, 6, 0), builtin=mlir.NoneType()),
    _float("tf32", 34, (1, 6, 0), "tf31_v1"),
    _float("f8E4M3", 35, (1, 7, 0)),
    _float("f8E3M4", 36, (1, 7, 0)),
    _float("f4E2M1FN", 37, (1, 8, 0)),
    _float("f6E2M3FN", 38, (1, 8, 0)),
    _float("f6E3M2FN", 39, (1, 8, 0)),
    _float("f8E8M0FNU", 40, (1, 8, 0)),
    VhloValue("buffer_v1", 41, (1, 13, 0), _TENSOR),
    _row("future_v1", 42, (1, 15, 0), members=TYPES),
)
#: builtin types without parameters by VHLO's names, and the other way around
PLAIN: dict[str, Any] = {row.mnemonic: row.builtin for row in TYPE_ROWS if row.builtin is not None}
PLAIN_NAMES: dict[Any, str] = {builtin: name for name, builtin in PLAIN.items()}
#: the first version of each type and attribute
FIRST_VERSIONS = {(is_type, row.mnemonic): row.first for is_type, rows in ((False, ATTRIBUTE_ROWS), (True, TYPE_ROWS))
                  for row in rows}


def words_of(enumeration: str) -> tuple[str, ...]:
    """Return the words of one of StableHLO's enumerations, none for another name.

    >>> words_of("precision")
    ('DEFAULT', 'HIGH', 'HIGHEST')
    """
    return next((row.words for row in ATTRIBUTE_ROWS if row.mnemonic == f"{enumeration}_v1"), ())


def _codec_row(row: VhloValue, make: Any) -> Encoding:
    names = tuple(row.fields)

    def build(*values: Any) -> Any:
        return make("vhlo", row.mnemonic, tuple(zip(names, values, strict=True)))

    def fields(value: Any) -> Sequence[Any]:
        given = dict(value.parameters)
        return [given[name] for name in names]

    return Encoding(tuple(row.fields.values()), build, fields)


def _number() -> Callable[[Any], int | None]:
    attributes = {row.mnemonic: row.number for row in ATTRIBUTE_ROWS}
    types = {(row.mnemonic, "encoding" in row.fields): row.number for row in TYPE_ROWS}

    def number(value: Any) -> int | None:
        if isinstance(value, mlir.DialectAttribute):
            return attributes.get(value.mnemonic)
        return types.get((value.mnemonic, any(name == "encoding" for name, _ in value.parameters)))

    return number


VHLO = Codec({row.number: _codec_row(row, mlir.DialectAttribute) for row in ATTRIBUTE_ROWS},
             {row.number: _codec_row(row, mlir.DialectType) for row in TYPE_ROWS}, _number())
