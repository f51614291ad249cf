"""Numbers, arrays and element types as Python writes them, such that the same bits come back."""

from __future__ import annotations

import base64
import math
import zlib
from collections.abc import Callable
from typing import Any

from hlotool.ir import DTYPES, DType, Literal
from hlotool.jax.lax.codes import NotWritable

#: arrays of more elements are packed, for nobody reads them
_READABLE = 64
#: Python numbers without a type are 32 bits wide to JAX
_WEAK_INTEGERS = range(-(2**31), 2**31)


def element_type(name: str) -> str:
    """`jnp.float32` for `f32`."""
    if name not in DTYPES:
        raise NotWritable(f"JAX has no arrays of {name}")
    if name in ("s1", "u1", "f6e2m3fn", "f6e3m2fn"):
        raise NotWritable(f"JAX has no element type {name}")
    return "jnp.bool_" if name == "pred" else f"jnp.{DTYPES[name].numpy_name}"


def weak_number(value: Any, dtype: DType) -> str | None:
    """A scalar as a plain Python number beside an array of its type; None where the type would be lost or the bits."""
    if dtype.family == "pred" or dtype.is_complex:
        return None
    if dtype.is_integral:
        return repr(int(value)) if int(value) in _WEAK_INTEGERS and dtype.bits >= 8 else None
    return _float(value, dtype) if math.isfinite(value) else None


def scalar(value: Any, dtype: DType) -> str:
    """Return a scalar with its type: `jnp.float32(0.5)`."""
    kind = element_type(dtype.name)
    if dtype.family == "pred":
        return f"jnp.bool_({bool(value)})"
    if dtype.is_integral:
        return f"{kind}({int(value)})" if dtype.bits >= 8 else f"jnp.asarray({int(value)}, {kind})"
    if dtype.is_complex:
        real, imag = (number(part, dtype.component) for part in (value.real, value.imag))
        return f"lax.complex({_typed(real, dtype.component)}, {_typed(imag, dtype.component)})"
    if math.isnan(value) and not _is_usual_nan(value, dtype):
        bits = int(value.view(f"u{dtype.bits // 8}"))
        return f"lax.bitcast_convert_type(jnp.uint{dtype.bits}({bits:#x}), {kind})"
    return _typed(number(value, dtype), dtype)


def number(value: Any, dtype: DType) -> str:
    """Return a float's digits, `jnp.inf` or `jnp.nan`."""
    if math.isfinite(value):
        return _float(value, dtype)
    return "jnp.nan" if math.isnan(value) else "jnp.inf" if value > 0 else "-jnp.inf"


def array(literal: Literal, packer: Callable[[], str]) -> str:
    """Return a constant with dimensions; a large one is bytes, unpacked by the function that `packer` names."""
    values, dtype = literal.array, DTYPES[literal.shape.element_type]
    kind = element_type(dtype.name)
    if values.size <= _READABLE and dtype.bits >= 8 and not dtype.is_complex and _reads_back(values, dtype):
        return f"jnp.array({_nested(values, dtype)}, {kind})"
    packed = base64.b85encode(zlib.compress(values.tobytes(), 9)).decode("ascii")
    return f"{packer()}({packed!r}, {kind}, {values.shape!r})"


def _reads_back(values: Any, dtype: DType) -> bool:
    return not dtype.is_floating or all(not math.isnan(v) or _is_usual_nan(v, dtype) for v in values.flat)


def _nested(values: Any, dtype: DType) -> str:
    if values.ndim:
        return f"[{', '.join(_nested(row, dtype) for row in values)}]"
    if dtype.family == "pred":
        return str(bool(values))
    return repr(int(values)) if dtype.is_integral else number(values[()], dtype)


def _typed(digits: str, dtype: DType) -> str:
    return f"{element_type(dtype.name)}({digits})" if dtype.bits >= 8 else f"jnp.asarray({digits}, " \
                                                                          f"{element_type(dtype.name)})"


def _float(value: Any, dtype: DType) -> str:
    """Return the shortest digits that give the same value."""
    short = str(value)
    made = dtype.numpy.type
    try:
        same = made(float(short)) == value
    except ValueError:
        same = False
    text = short if same else repr(float(value))
    return text if any(c in text for c in ".en") else f"{text}.0"


def _is_usual_nan(value: Any, dtype: DType) -> bool:
    """Return True if `jnp.nan` of this type has the same bits."""
    usual = dtype.numpy.type(float("nan"))
    return bool(usual.tobytes() == value.tobytes())
