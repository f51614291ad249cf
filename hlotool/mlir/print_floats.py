"""The numbers of MLIR's float types: what bits hold, and how it is written."""

from __future__ import annotations

import math
import struct
from fractions import Fraction

from hlotool.ir import DTYPES, DType

_ROWS = {row.mlir: row for row in DTYPES.values() if row.is_floating}
#: bits of the float types that HLO does not have
_OTHER_WIDTHS = {"tf32": 19, "f80": 80, "f128": 128}
_FORMATS = {"f64": "<d", "f32": "<f", "f16": "<e"}


def float_width(name: str) -> int:
    """Return the bits of a float type by its spelling; 0 for what is none."""
    row = _ROWS.get(name)
    return row.bits if row is not None else _OTHER_WIDTHS.get(name, 0)


def float_text(bits: int, name: str) -> str:
    """Return the text of a number as MLIR writes it: decimal where that reads back to the same bits, else its bits.

    >>> float_text(0x3FC00000, "f32"), float_text(0x7F800000, "f32")
    ('1.500000e+00', '0x7F800000')
    """
    value = float_value(bits, name)
    if value is None or not math.isfinite(value):
        return f"0x{bits:0{(float_width(name) + 3) // 4}X}"
    short = _scientific(value)
    if float_bits(float(short), name) == bits:
        return short
    # so many digits tell the numbers of a type apart
    plain = _plain(value, 2 + (_ROWS[name].mantissa_bits + 1) * 59 // 196)
    return plain or f"0x{bits:0{(float_width(name) + 3) // 4}X}"


def _digits(value: float, most: int) -> tuple[str, int]:
    """At most so many digits of a number that is not negative, and the power of ten of the last one.

    Rounded as LLVM does: most of what stands behind the last digit is cut off first, and the next digit rounds.
    Source: llvm, APFloat.cpp, toString.
    """
    number, divisor = value.as_integer_ratio()
    unit = 1 - divisor.bit_length()
    number *= 5 ** -unit
    cut = max(0, number.bit_length() - (most * 196 + 58) // 59) * 59 // 196
    digits = str(number // 10**cut)
    kept = digits.rstrip("0") or "0"
    unit += cut + len(digits) - len(kept)
    if len(kept) > most:
        unit += len(kept) - most
        kept = str(int(kept[:most]) + (kept[most] >= "5"))
        unit, kept = unit + len(kept) - len(kept.rstrip("0")), kept.rstrip("0")
    return (kept, unit) if value else ("0", 0)


def _scientific(value: float) -> str:
    """The number with six digits: `1.500000e+00`."""
    digits, unit = _digits(abs(value), 6)
    exponent = unit + len(digits) - 1
    sign = "-" if math.copysign(1, value) < 0 else ""
    return f"{sign}{digits[0]}.{digits[1:]:0<6}e{'-' if exponent < 0 else '+'}{abs(exponent):02d}"


def _plain(value: float, most: int) -> str:
    """The number with all digits that it needs; "" where it would have no point, and look like an integer."""
    digits, unit = _digits(abs(value), most)
    sign, top = "-" if value < 0 else "", unit + len(digits) - 1
    if (unit > 3 or len(digits) + unit > most) if unit >= 0 else top < -3:
        return f"{sign}{digits[0]}.{digits[1:] or '0'}E{'-' if top < 0 else '+'}{abs(top)}"
    if unit >= 0:
        return ""
    if top < 0:
        return f"{sign}0.{'0' * (-top - 1)}{digits}"
    return f"{sign}{digits[:top + 1]}.{digits[top + 1:]}"


def float_value(bits: int, name: str) -> float | None:
    """Return the number that bits hold; None where the type is not known, or Python's floats have no such number."""
    row = _ROWS.get(name)
    if row is None:
        return None
    if code := _FORMATS.get(name):
        return float(struct.unpack(code, bits.to_bytes(row.bits // 8, "little"))[0])
    if name == "bf16":
        return float(struct.unpack("<f", (bits << 16).to_bytes(4, "little"))[0])
    return _small_float(bits, row)


def float_bits(value: float, name: str) -> int | None:
    """Return the bits of the number of a float type that is nearest to a value, of two the even one.

    What is too large becomes an infinity, NaN or the largest number, as the type has them. None for a type that HLO
    does not have.

    >>> hex(float_bits(0.1, "f32"))
    '0x3dcccccd'
    """
    row = _ROWS.get(name)
    if row is None:
        return None
    negative = math.copysign(1, value) < 0
    width = row.exponent_bits + row.mantissa_bits
    magnitude = _largest(row) + 1 if not math.isfinite(value) else _nearest(abs(value), row)
    sign = negative << width
    if math.isnan(value):
        return _special(row, sign, row.specials == "ieee")
    if magnitude > _largest(row):
        return _special(row, sign, False)
    if row.specials == "no sign":
        return _largest(row) + 1 if negative else magnitude
    return magnitude if not magnitude and row.specials == "no minus zero" else sign | magnitude


def _special(row: DType, sign: int, is_nan: bool) -> int:
    """The bits of infinity, or of NaN where there is none or it is asked for."""
    match row.specials:
        case "no minus zero":
            return 1 << row.exponent_bits + row.mantissa_bits
        case "none":
            return sign | _largest(row)
    return sign | _largest(row) + 1 | (is_nan << row.mantissa_bits >> 1)


def _largest(row: DType) -> int:
    """The bits of the largest number."""
    top = (1 << row.exponent_bits + row.mantissa_bits) - 1
    return {"ieee": top - (1 << row.mantissa_bits), "one": top - 1, "no sign": top - 1}.get(row.specials, top)


def _bias(row: DType) -> int:
    top = (1 << row.exponent_bits) - 1
    return top - (row.specials in ("ieee", "no sign")) - (row.overflow_exponent - 1)


def _nearest(value: float, row: DType) -> int:
    """The bits of the number nearest to a finite value that is not negative, as if there were no largest one."""
    if not value:
        return 0
    signed = row.specials != "no sign"
    exponent = max(math.frexp(value)[1] - 1, 1 - _bias(row) if signed else -_bias(row))
    units = round(Fraction(value) / Fraction(2) ** (exponent - row.mantissa_bits))
    return (exponent + _bias(row) - signed << row.mantissa_bits) + units - (not signed) * (1 << row.mantissa_bits)


def _small_float(bits: int, row: DType) -> float:
    """The number of a float of eight bits and fewer; NaN stands for every special value."""
    signed = row.specials != "no sign"
    width = row.exponent_bits + row.mantissa_bits
    negative = bool(signed and bits >> width & 1)
    magnitude = bits & (1 << width) - 1
    if magnitude > _largest(row) or (negative and not magnitude and row.specials == "no minus zero"):
        return math.nan
    field, fraction = divmod(magnitude, 1 << row.mantissa_bits)
    if field or not signed:
        value = math.ldexp((1 << row.mantissa_bits) + fraction, field - _bias(row) - row.mantissa_bits)
    else:
        value = math.ldexp(fraction, 1 - _bias(row) - row.mantissa_bits)
    return -value if negative else value
