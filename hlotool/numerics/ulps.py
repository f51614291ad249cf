"""Distances between numbers in units in the last place (ULPs), for every element type.

Two floats of one type are n ULPs apart when n steps to the next representable value lead from one to the other;
-0 and +0 are no step apart. Integers and pred have steps of one.
The halves of a complex number are measured in the steps of the larger one: products and functions mix the halves, so
that the smaller one is only as exact as the whole number is. NaN is no step away from NaN, and infinitely far from
everything else.
"""

from __future__ import annotations

from hlotool.ir import dtype_of_numpy
from hlotool.ir.arrays import Array, np


def ordered(array: Array) -> Array:
    """The values as int64 (f64: as Python-exact int64 too) in the order of the numbers, neighbours one apart.

    The bit pattern of a float with its sign as the sign of an integer: the formats are ordered that way.
    """
    kind = dtype_of_numpy(array.dtype)
    if not kind.is_floating:
        return array.astype(np.int64) if kind.name != "u64" else array
    storage = array.dtype.itemsize
    bits = np.ascontiguousarray(array).reshape(array.shape).view(f"u{storage}")
    if kind.specials == "no sign":  # an exponent only
        return np.asarray(bits, np.int64)
    sign = bits >> np.array(kind.bits - 1, bits.dtype) & np.array(1, bits.dtype)
    magnitude = (bits & np.array((1 << (kind.bits - 1)) - 1, bits.dtype)).astype(np.int64)
    return np.asarray(np.where(sign == 1, -magnitude, magnitude))


def ulp_distance(a: Array, b: Array) -> Array:
    """The distance of each pair of elements as float64; the arrays have one element type and shape.

    >>> import numpy as np
    >>> ulp_distance(np.float32([1, 0, np.nan]), np.nextafter(np.float32([1, -0.0, np.nan]), np.float32(2)))
    array([1., 1., 0.])
    """
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        raise TypeError(f"{a.dtype}{a.shape} and {b.dtype}{b.shape} have no distance")
    if a.dtype.kind == "c":
        return _complex_distance(a, b)
    kind = dtype_of_numpy(a.dtype)
    low, high = ordered(a), ordered(b)
    # Unsigned subtraction is exact for distances that overflow int64.
    swap = low > high
    least, most = np.asarray(np.where(swap, high, low)), np.asarray(np.where(swap, low, high))
    distance = (most.astype(np.uint64) - least.astype(np.uint64)).astype(np.float64)
    if not kind.is_floating:
        return distance
    nan_a, nan_b = is_nan(a), is_nan(b)
    return np.where(nan_a | nan_b, np.where(nan_a & nan_b, 0.0, np.inf), distance)


def _complex_distance(a: Array, b: Array) -> Array:
    own = np.maximum(ulp_distance(a.real, b.real), ulp_distance(a.imag, b.imag))
    with np.errstate(all="ignore"):
        largest = np.max([np.abs(half) for z in (a, b) for half in (z.real, z.imag)], axis=0)
        gap = np.maximum(np.abs(a.real - b.real), np.abs(a.imag - b.imag)) / np.spacing(largest)
    return np.where(np.isfinite(gap), np.minimum(own, gap.astype(np.float64)), own)


def is_nan(array: Array) -> Array:
    """Where an array of any element type holds NaN."""
    if array.dtype.kind in "fc":
        return np.isnan(array)
    if not dtype_of_numpy(array.dtype).is_floating:
        return np.zeros(array.shape, np.bool_)
    with np.errstate(invalid="ignore"):
        return np.isnan(array.astype(np.float64))
