"""Element types: name, width, NumPy type, MLIR spelling and protobuf number, in one table."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from typing import Any, Literal

Family = Literal["pred", "signed", "unsigned", "float", "complex"]


@dataclass(frozen=True, slots=True)
class DType:
    """One array element type of HLO.

    `bits` is the width of a value (pred counts as 8, as XLA stores it), `numpy_name` names the type in numpy
    or ml_dtypes, `mlir` is its spelling in MLIR, `number` its value in xla_data.proto's PrimitiveType.
    Source: xla_data.proto, PrimitiveType.
    """

    name: str
    family: Family
    bits: int
    numpy_name: str
    mlir: str
    number: int
    #: stored mantissa and exponent bits, for floats only
    mantissa_bits: int = 0
    exponent_bits: int = 0
    #: the least n for which 2^n is more than the type holds, for floats only
    overflow_exponent: int = -1

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

    def __str__(self) -> str:
        return self.name


_ROWS = (
    # name, family, bits, numpy, mlir, proto number, mantissa bits, exponent bits, overflow exponent
    ("pred", "pred", 8, "bool", "i1", 1),
    ("s1", "signed", 1, "int1", "i1", 30),
    ("s2", "signed", 2, "int2", "i2", 26),
    ("s4", "signed", 4, "int4", "i4", 21),
    ("s8", "signed", 8, "int8", "i8", 2),
    ("s16", "signed", 16, "int16", "i16", 3),
    ("s32", "signed", 32, "int32", "i32", 4),
    ("s64", "signed", 64, "int64", "i64", 5),
    ("u1", "unsigned", 1, "uint1", "ui1", 31),
    ("u2", "unsigned", 2, "uint2", "ui2", 27),
    ("u4", "unsigned", 4, "uint4", "ui4", 22),
    ("u8", "unsigned", 8, "uint8", "ui8", 6),
    ("u16", "unsigned", 16, "uint16", "ui16", 7),
    ("u32", "unsigned", 32, "uint32", "ui32", 8),
    ("u64", "unsigned", 64, "uint64", "ui64", 9),
    ("f16", "float", 16, "float16", "f16", 10, 10, 5, 16),
    ("f32", "float", 32, "float32", "f32", 11, 23, 8, 128),
    ("bf16", "float", 16, "bfloat16", "bf16", 16, 7, 8, 128),
    ("f64", "float", 64, "float64", "f64", 12, 52, 11, 1024),
    ("f8e5m2", "float", 8, "float8_e5m2", "f8E5M2", 19, 2, 5, 16),
    ("f8e4m3", "float", 8, "float8_e4m3", "f8E4M3", 28, 3, 4, 8),
    ("f8e4m3fn", "float", 8, "float8_e4m3fn", "f8E4M3FN", 20, 3, 4, 9),
    ("f8e4m3b11fnuz", "float", 8, "float8_e4m3b11fnuz", "f8E4M3B11FNUZ", 23, 3, 4, 5),
    ("f8e3m4", "float", 8, "float8_e3m4", "f8E3M4", 29, 4, 3, 4),
    ("f8e5m2fnuz", "float", 8, "float8_e5m2fnuz", "f8E5M2FNUZ", 24, 2, 5, 16),
    ("f8e4m3fnuz", "float", 8, "float8_e4m3fnuz", "f8E4M3FNUZ", 25, 3, 4, 8),
    ("f8e8m0fnu", "float", 8, "float8_e8m0fnu", "f8E8M0FNU", 33, 0, 8, 128),
    ("f4e2m1fn", "float", 4, "float4_e2m1fn", "f4E2M1FN", 32, 1, 2, 3),
    ("f6e2m3fn", "float", 6, "float6_e2m3fn", "f6E2M3FN", 34, 3, 2, 3),
    ("f6e3m2fn", "float", 6, "float6_e3m2fn", "f6E3M2FN", 35, 2, 3, 5),
    ("c64", "complex", 64, "complex64", "complex<f32>", 15),
    ("c128", "complex", 128, "complex128", "complex<f64>", 18),
)

#: every array element type by its HLO name
DTYPES: dict[str, DType] = {row[0]: DType(*row) for row in _ROWS}

#: words that are a shape of their own and take no dimensions of data: protobuf numbers beside them
NON_ARRAY_TYPES: dict[str, int] = {"tuple": 13, "opaque": 14, "token": 17, "buffer": 36}


@functools.cache
def _numpy_dtype(name: str) -> Any:
    import numpy as np

    if hasattr(np, name):
        return np.dtype(getattr(np, name))
    import ml_dtypes

    # s1 and u1 have no type of their own in ml_dtypes releases so far: the next wider one holds them.
    name = {"int1": "int2", "uint1": "uint2"}.get(name, name) if not hasattr(ml_dtypes, name) else name
    return np.dtype(getattr(ml_dtypes, name))


@functools.cache
def dtype_of_numpy(dtype: Any) -> DType:
    """The element type that holds values of a NumPy dtype; KeyError when HLO has none."""
    import numpy as np

    name = np.dtype(dtype).name
    return next(d for d in DTYPES.values() if d.numpy_name == name)
