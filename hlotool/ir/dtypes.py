"""Element types: name, width, NumPy type, MLIR spelling and protobuf numbers, in one table."""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING, Any, Literal

from hlotool.ir.arrays import np
from hlotool.ir.lazy_dataclasses import lazy_dataclass

if TYPE_CHECKING:
    from fractions import Fraction

#: "real" is of no element type: proofs know numbers that are not rounded
Family = Literal["pred", "signed", "unsigned", "float", "complex", "real"]
#: what the bit patterns of a float hold beside numbers. "ieee": infinities, and NaNs with a payload; "one": a single
#: NaN for each sign, where the largest number would be; "no minus zero": a NaN where that would be; "no sign": a NaN
#: at the largest exponent, neither sign nor zero; "none": numbers only
Specials = Literal["ieee", "one", "no minus zero", "no sign", "none"]


@lazy_dataclass(frozen=True, slots=True)
class DType:
    """One array element type of HLO.

    `bits` is the width of a value (pred counts as 8, as XLA stores it), `numpy_name` names the type in numpy
    or ml_dtypes, `mlir` is its spelling in MLIR, `number` its value in xla_data.proto's PrimitiveType, `literal_field`
    the number of the field of LiteralProto that holds its values. Source: xla_data.proto.
    """

    name: str
    family: Family
    bits: int
    numpy_name: str
    mlir: str
    number: int
    literal_field: int
    #: stored mantissa and exponent bits, for floats only
    mantissa_bits: int = 0
    exponent_bits: int = 0
    #: the least n for which 2^n is more than the type holds, for floats only
    overflow_exponent: int = -1
    specials: Specials = "ieee"

    @property
    def numpy(self) -> Any:
        """The NumPy dtype that holds values of this type."""
        return _numpy_dtype(self.numpy_name)

    @property
    def is_floating(self) -> bool:
        return self.family == "float"

    @property
    def is_complex(self) -> bool:
        return self.family == "complex"

    @property
    def is_integral(self) -> bool:
        return self.family in ("signed", "unsigned")

    @property
    def is_signed(self) -> bool:
        return self.family in ("signed", "float", "complex")

    @property
    def component(self) -> DType:
        """The type of the two parts of a complex number; every other type is its own."""
        return next(d for d in DTYPES.values() if f"complex<{d.mlir}>" == self.mlir) if self.is_complex else self

    @property
    def is_stored_whole(self) -> bool:
        """True if LiteralProto holds each value as a number; those of narrower types are bytes, one after the other."""
        return self.family == "pred" or self.component.bits >= 32

    @property
    def is_narrow(self) -> bool:
        """True if few backends compute with it: floats of 8 bits and fewer, integers that do not fill a byte."""
        return self.bits < 8 or (self.is_floating and self.bits == 8)

    @property
    def nan_payload_bits(self) -> int:
        """Width of a NaN's payload; 0 where NaNs have none. Source: XLA, util.h, NanPayloadBits."""
        component = self.component
        return component.mantissa_bits if component.specials == "ieee" else 0

    @property
    def largest(self) -> Fraction:
        """The largest finite value of a float."""
        mantissas = (2 << self.mantissa_bits) - (2 if self.specials == "one" else 1)
        return mantissas * self.largest_ulp

    @property
    def largest_ulp(self) -> Fraction:
        """The distance of a float's largest finite value to the number below it."""
        return _power_of_two(self.overflow_exponent - 1 - self.mantissa_bits)

    @property
    def least(self) -> Fraction:
        """The smallest value of a float: minus the largest, unless it has no sign."""
        return _power_of_two(1 - self.overflow_exponent) if self.specials == "no sign" else -self.largest

    def __str__(self) -> str:
        return self.name


_ROWS = (
    # name, family, bits, numpy, mlir, proto number, literal's proto field; of floats also mantissa bits, exponent bits,
    # overflow exponent, specials
    ("pred", "pred", 8, "bool", "i1", 1, 2),
    ("s1", "signed", 1, "int1", "i1", 30, 30),
    ("s2", "signed", 2, "int2", "i2", 26, 26),
    ("s4", "signed", 4, "int4", "i4", 21, 21),
    ("s8", "signed", 8, "int8", "i8", 2, 15),
    ("s16", "signed", 16, "int16", "i16", 3, 17),
    ("s32", "signed", 32, "int32", "i32", 4, 4),
    ("s64", "signed", 64, "int64", "i64", 5, 5),
    ("u1", "unsigned", 1, "uint1", "ui1", 31, 31),
    ("u2", "unsigned", 2, "uint2", "ui2", 27, 27),
    ("u4", "unsigned", 4, "uint4", "ui4", 22, 22),
    ("u8", "unsigned", 8, "uint8", "ui8", 6, 3),
    ("u16", "unsigned", 16, "uint16", "ui16", 7, 16),
    ("u32", "unsigned", 32, "uint32", "ui32", 8, 6),
    ("u64", "unsigned", 64, "uint64", "ui64", 9, 7),
    ("f16", "float", 16, "float16", "f16", 10, 11, 10, 5, 16),
    ("f32", "float", 32, "float32", "f32", 11, 8, 23, 8, 128),
    ("bf16", "float", 16, "bfloat16", "bf16", 16, 13, 7, 8, 128),
    ("f64", "float", 64, "float64", "f64", 12, 9, 52, 11, 1024),
    ("f8e5m2", "float", 8, "float8_e5m2", "f8E5M2", 19, 19, 2, 5, 16),
    ("f8e4m3", "float", 8, "float8_e4m3", "f8E4M3", 28, 28, 3, 4, 8),
    ("f8e4m3fn", "float", 8, "float8_e4m3fn", "f8E4M3FN", 20, 20, 3, 4, 9, "one"),
    ("f8e4m3b11fnuz", "float", 8, "float8_e4m3b11fnuz", "f8E4M3B11FNUZ", 23, 23, 3, 4, 5, "no minus zero"),
    ("f8e3m4", "float", 8, "float8_e3m4", "f8E3M4", 29, 29, 4, 3, 4),
    ("f8e5m2fnuz", "float", 8, "float8_e5m2fnuz", "f8E5M2FNUZ", 24, 24, 2, 5, 16, "no minus zero"),
    ("f8e4m3fnuz", "float", 8, "float8_e4m3fnuz", "f8E4M3FNUZ", 25, 25, 3, 4, 8, "no minus zero"),
    ("f8e8m0fnu", "float", 8, "float8_e8m0fnu", "f8E8M0FNU", 33, 33, 0, 8, 128, "no sign"),
    ("f4e2m1fn", "float", 4, "float4_e2m1fn", "f4E2M1FN", 32, 32, 1, 2, 3, "none"),
    ("f6e2m3fn", "float", 6, "float6_e2m3fn", "f6E2M3FN", 36, 36, 3, 2, 3, "none"),
    ("f6e3m2fn", "float", 6, "float6_e3m2fn", "f6E3M2FN", 35, 35, 2, 3, 5, "none"),
    ("c64", "complex", 64, "complex64", "complex<f32>", 15, 12),
    ("c128", "complex", 128, "complex128", "complex<f64>", 18, 18),
)

#: every array element type by its HLO name
DTYPES: dict[str, DType] = {row[0]: DType(*row) for row in _ROWS}

#: the types that are written as a word alone: they have no elements
BARE_TYPES = frozenset({"token", "opaque"})


#: words for types that were names of instructions until they became words
LATER_TYPE_WORDS = frozenset({*DTYPES, *BARE_TYPES} - {
    "pred", "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "c64", "tuple",
    "opaque"})


def is_type_word(word: str) -> bool:
    """Return True if a word stands for a type wherever a name could stand too: no instruction can be called by it."""
    return word in DTYPES or word in BARE_TYPES


def _power_of_two(exponent: int) -> Fraction:
    from fractions import Fraction  # not at the top: reading a module needs none of it

    return Fraction(2**exponent) if exponent >= 0 else Fraction(1, 2**-exponent)


@functools.cache
def _numpy_dtype(name: str) -> Any:
    if hasattr(np, name):
        return np.dtype(getattr(np, name))
    import ml_dtypes

    # s1 and u1 have no type of their own in ml_dtypes releases so far: the next wider one holds them.
    name = {"int1": "int2", "uint1": "uint2"}.get(name, name) if not hasattr(ml_dtypes, name) else name
    return np.dtype(getattr(ml_dtypes, name))


@functools.cache
def dtype_of_numpy(dtype: Any) -> DType:
    """Return the element type that holds values of a NumPy dtype; KeyError when HLO has none."""
    name = np.dtype(dtype).name
    found = next((d for d in DTYPES.values() if d.numpy_name == name), None)
    if found is None:
        raise KeyError(name)
    return found
