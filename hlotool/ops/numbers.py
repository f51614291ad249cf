"""Arithmetic that NumPy lacks: small element types, wrapping, bit patterns.

Floats below 32 bits are computed in f32 and integers below 8 bits in 32, then rounded or wrapped, which gives the
correctly rounded result of one operation.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from hlotool.ir import DType, dtype_of_numpy
from hlotool.ir.arrays import Array, np


@functools.cache
def dtype_of(dtype: Any) -> DType:
    """The element type that a NumPy dtype holds; the extended types, which are none of HLO's, count as f64 and c128."""
    if is_extended(dtype):
        return dtype_of_numpy(np.float64 if np.dtype(dtype).kind == "f" else np.complex128)
    return dtype_of_numpy(dtype)


def is_extended(dtype: Any) -> bool:
    """Return True if a type holds more than f64 does, as in shadows of programs of f64."""
    return np.dtype(dtype).type in (np.longdouble, np.clongdouble)  # other packages' types have the same characters


@functools.cache
def wide_dtype(dtype: Any, *, precise: bool = False) -> Any:
    """The NumPy dtype to compute in for values of `dtype`; `precise` widens f32 and c64 as well."""
    kind = dtype_of(dtype)
    if is_extended(dtype):
        return np.dtype(dtype)
    if kind.is_floating:
        return np.dtype(np.float64 if kind.bits > 32 or precise else np.float32)
    if kind.is_complex:
        return np.dtype(np.complex128) if precise else dtype
    if kind.is_integral and kind.bits < 8:
        return np.dtype(np.int32 if kind.family == "signed" else np.uint32)
    return dtype


def narrow(array: Any, dtype: Any) -> Array:
    """Values of a wide computation as `dtype`: floats rounded to nearest even, integers wrapped."""
    array = np.asarray(array)
    if array.dtype == dtype:
        return np.asarray(array)
    kind = dtype_of(dtype)
    with np.errstate(all="ignore"):
        if kind.is_integral and kind.bits < 8:
            return from_bits(array.astype(np.int64).view(np.uint64), dtype)
        if array.dtype.kind == "c" and not kind.is_complex:
            array = array.real
        return rounded_once(array, dtype)


def rounded_once(array: Array, dtype: Any) -> Array:
    """Numbers as `dtype`, rounded to nearest even once.

    The casts of narrow floats from wide types go over f32, where the first rounding may make a tie of what is none.
    """
    if not _casts_over_f32(array.dtype, dtype):
        return np.asarray(array.astype(dtype, copy=False))
    exact = array.astype(np.float64, copy=False)
    near = exact.astype(np.float32)
    if not (is_cut := (near != exact) & ~np.isnan(exact)).any():
        return np.asarray(near.astype(dtype))
    # Cut towards zero, with the last bit set where anything was cut off (Boldo and Melquiond, 2005: rounding to odd).
    bits = near.view(np.uint32)
    bits = bits - (np.abs(near) > np.abs(exact)) | is_cut
    return np.asarray(bits.astype(np.uint32).view(np.float32).astype(dtype))


@functools.cache
def _casts_over_f32(source: Any, target: Any) -> bool:
    kind = dtype_of(target)
    return (kind.is_floating and kind.bits < 32 and np.dtype(target) != np.float16
            and np.dtype(source).kind in "fiu" and np.dtype(source).itemsize > 2 and np.dtype(source) != np.float32)


def maximum(left: Array, right: Array) -> Array:
    """The greater of two arrays' elements; NaN if either is, and +0 is greater than -0 (IEEE 754-2019, maximum)."""
    found = np.maximum(left, right)
    if found.dtype.kind != "f" or not (zero := (found == 0) & (left == 0) & (right == 0)).any():
        return np.asarray(found)
    return np.where(zero, left + right, found)


def minimum(left: Array, right: Array) -> Array:
    """The less of two arrays' elements; NaN if either is, and -0 is less than +0 (IEEE 754-2019, minimum)."""
    found = np.minimum(left, right)
    if found.dtype.kind != "f" or not (zero := (found == 0) & (left == 0) & (right == 0)).any():
        return np.asarray(found)
    return np.where(zero, -(-left - right), found)


def product_dtype(target: Any, *operands: Array) -> Any:
    """The dtype in which products of arrays are added up for a result of dtype `target`.

    The result's own; but floats and complex numbers with an integral result stay what they are until the sum is
    converted, as XLA's ConvolutionTypeCanonicalizer and its CPU compiler have it.
    """
    if not (dtype_of(target).is_integral or dtype_of(target).family == "pred"):
        return np.dtype(target)
    kinds = [dtype_of(np.asarray(o).dtype) for o in operands]
    if any(k.is_complex for k in kinds):
        return np.dtype(np.complex128)
    return np.dtype(np.float64 if any(k.is_floating for k in kinds) else target)


def computed(function: Callable[..., Any], *arrays: Array, result: Any = None, precise: bool = False) -> Array:
    """`function` applied in the wide type of the first array and rounded to `result` (default: its own type)."""
    dtype = arrays[0].dtype
    wide = wide_dtype(dtype, precise=precise)
    with np.errstate(all="ignore"):
        found = function(*(a.astype(wide, copy=False) for a in map(np.asarray, arrays)))
    return narrow(found, dtype if result is None else result)


# Bit patterns.

_UNSIGNED = {1: "uint8", 2: "uint16", 4: "uint32", 8: "uint64"}


def to_bits(array: Array) -> Array:
    """Each element's bits in the low end of a uint64. Complex arrays have no single word: not for them."""
    array = np.asarray(array, order="C")
    kind = dtype_of(array.dtype)
    if kind.is_integral and kind.bits < 8:
        return array.astype(np.int64).view(np.uint64) & np.uint64((1 << kind.bits) - 1)
    return array.view(_UNSIGNED[array.dtype.itemsize]).astype(np.uint64)


def from_bits(bits: Any, dtype: Any) -> Array:
    """The reverse: bits above the type's width are dropped."""
    bits = np.asarray(bits, dtype=np.uint64, order="C")
    kind = dtype_of(dtype)
    if kind.family == "pred":
        return np.asarray(bits & np.uint64(0xFF) != 0)
    if kind.bits == 64:
        return np.asarray(bits.view(dtype))
    low = bits & np.uint64((1 << kind.bits) - 1)
    if kind.is_integral and kind.bits < 8:
        signed = low.view(np.int64)
        if kind.family == "signed":
            signed = np.where(signed >> (kind.bits - 1) != 0, signed - (1 << kind.bits), signed)
        return np.asarray(signed.astype(np.int8).astype(dtype))
    return np.asarray(low.astype(_UNSIGNED[np.dtype(dtype).itemsize]).view(dtype))


def signed_bits(array: Array) -> Array:
    """Each element's bits as a sign-extended int64."""
    width = dtype_of(array.dtype).bits
    return (to_bits(array) << np.uint64(64 - width)).view(np.int64) >> np.int64(64 - width)


def bit_length(bits: Array) -> Array:
    """Position of the highest set bit, counted from 1; 0 for 0."""
    rest, found = bits.copy(), np.zeros(bits.shape, np.int64)
    for step in (32, 16, 8, 4, 2, 1):
        high = rest >> np.uint64(step)
        found += step * (high != 0)
        rest = np.where(high != 0, high, rest)
    return np.asarray(found + (rest != 0))


def converted(array: Array, target: Any) -> Array:
    """XLA's convert: floats to integers truncate and saturate with NaN to 0; integers wrap; x != 0 gives pred."""
    source, kind = dtype_of(array.dtype), dtype_of(target)
    if array.dtype == target:
        return array
    if kind.family == "pred":
        return np.asarray(array.astype(wide_dtype(array.dtype)) != 0)
    if source.is_complex and not kind.is_complex:
        return converted(array.real.copy(), target)
    if source.is_floating and kind.is_integral:
        return _to_integer(array, kind, target)
    if source.is_integral and source.bits < 8:
        array = array.astype(np.int64)
    with np.errstate(all="ignore"):
        if kind.is_integral:
            return narrow(array, target)
        if kind.is_floating and kind.bits < 16:
            if array.dtype.kind in "iub":
                array = array.astype(np.float64)
            elif source.is_floating and source.bits < 16:
                # Not every pair of the small types has a cast; f32 holds all their numbers.
                array = array.astype(np.float32)
        return rounded_once(array, target)


def _to_integer(array: Array, kind: DType, target: Any) -> Array:
    low = -(1 << (kind.bits - 1)) if kind.family == "signed" else 0
    high = (1 << (kind.bits - (kind.family == "signed"))) - 1
    values = np.trunc(array.astype(np.float64))
    # float(high) may round up to high + 1, which must still saturate.
    inside = (values > low) & (values < float(high))
    with np.errstate(all="ignore"):
        whole = np.where(inside, values, 0)
        found = whole.astype(np.uint64).view(np.int64) if kind.family == "unsigned" else whole.astype(np.int64)
    found = np.where(values >= float(high), np.array(high, np.uint64).view(np.int64), found)
    found = np.where(values <= low, np.int64(low), found)
    return from_bits(np.asarray(found, np.int64).view(np.uint64), target)
