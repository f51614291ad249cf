"""Literals of a few elements from their bits, as the texts that the elements have: NumPy is not asked."""

from __future__ import annotations

import math
import struct
from collections.abc import Sequence

from hlotool.ir import DType, Literal, Shape
from hlotool.text.literal_elements import array_of
from hlotool.text.literal_tokens import nested_text

#: floats that Python packs: by name the codes of their bits and of their numbers
_PACKED = {"f64": ("Q", "d"), "f32": ("I", "f"), "f16": ("H", "e")}
#: numbers of 32 bits that every version of NumPy writes without an exponent
_SMALLEST, _LARGEST = 1e-3, 1e6


def literal_of_bits(shape: Shape, numbers: Sequence[int]) -> Literal | None:
    """Return the literal of elements in row-major order: integers, or the bits of floats, two of a complex number.

    None where an element is a NaN, of a type of floats that Python does not have, or (of 32 bits) so large or small
    that versions of NumPy write it in forms of their own.

    >>> literal_of_bits(Shape.array("f32", (2,)), [0x3f800000, 0x3dcccccd]).text
    '{1, 0.1}'
    """
    dtype = shape.dtype
    if dtype.family == "pred":
        tokens = ["1" if n else "0" for n in numbers] if shape.dims else ["true" if numbers[0] else "false"]
    elif dtype.is_integral:
        tokens = list(map(str, numbers))
    else:
        texts = [_float_text(dtype.component, n) for n in numbers]
        if "" in texts:
            return None
        tokens = [f"({a}, {b})" for a, b in zip(texts[::2], texts[1::2], strict=True)] if dtype.is_complex else texts
    return Literal(shape, text=nested_text(shape.dims, tokens), reader=array_of)


def _float_text(dtype: DType, bits: int) -> str:
    """Return the shortest number that has these bits; '' for what is not decided here."""
    if dtype.name == "bf16":
        value = struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    elif dtype.name in _PACKED:
        unsigned, code = _PACKED[dtype.name]
        value = struct.unpack(f"<{code}", struct.pack(f"<{unsigned}", bits))[0]
    else:
        return ""
    if math.isnan(value):
        return ""
    if dtype.name == "f64" or math.isinf(value):
        return _plain(value)
    if dtype.name == "f32" and value and not _SMALLEST <= abs(value) < _LARGEST:
        return ""
    for digits in range(1, 10):
        short = float(f"{value:.{digits}g}")
        if _bits(dtype, short) == bits:
            return _plain(short)
    return ""


def _bits(dtype: DType, value: float) -> int:
    """Return the bits of the nearest number, -1 where it is infinite; 16 bits are rounded from 32."""
    try:
        single = struct.unpack("<I", struct.pack("<f", value))[0]
        if dtype.name == "f32":
            return int(single)
        if dtype.name == "bf16":
            return int(single + 0x7FFF + (single >> 16 & 1) >> 16)
        rounded = struct.unpack("<f", struct.pack("<f", value))[0]
        return int(struct.unpack("<H", struct.pack("<e", rounded))[0])
    except OverflowError:
        return -1


def _plain(value: float) -> str:
    return repr(value).removesuffix(".0")
