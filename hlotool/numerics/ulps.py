"""Units in the last place (ULPs): of element types, errors that are counted in them, and distances of numbers.

Two floats of one type are n ULPs apart when n steps to the next representable value lead from one to the other;
-0 and +0 are no step apart. Integers and pred have steps of one.
The halves of a complex number are measured in the steps of the larger one: products and functions mix the halves, so
that the smaller one is only as exact as the whole number is. NaN is no step away from NaN, and infinitely far from
everything else.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

from hlotool.ir import DType, ResultAccuracy, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.ops import limits

#: ULPs that an operation which declares fewer may be off: a reciprocal, a fused product, are one rounding more
LEAST_ULPS = 1.0


def error_of(accuracy: ResultAccuracy | None, ulps: float) -> Callable[[Array, Array], Array]:
    """Return a function that gives the largest error of results of some magnitudes, from these and their ULPs."""
    if accuracy is not None and accuracy.mode == "highest":
        ulps = LEAST_ULPS
    if accuracy is None or accuracy.mode:
        return lambda size, ulp: ulps * ulp
    atol, rtol, wanted = accuracy.atol, accuracy.rtol, max(LEAST_ULPS, accuracy.ulps)
    return lambda size, ulp: atol + rtol * size + wanted * ulp


@functools.cache
def largest(kind: DType) -> float:
    """Return the largest finite number of a type, or of the halves of a complex one."""
    return float(limits(kind.component)[0])


@functools.cache
def least_exponent(kind: DType) -> int:
    """Return the exponent of the smallest normal number of a type."""
    bits = kind.component.exponent_bits
    return 2 - int(2 ** (bits - 1))


def are_whole(unit: float, size: Array, *sums: Array) -> Array:
    """Return where sums are exact in every order.

    These are sums of whole numbers whose magnitudes have a sum, `size`, that fits a type's unit.


    >>> import numpy as np
    >>> are_whole(2.0**-8, np.array([5.0, 5.5, 300.0])).tolist()
    [True, False, False]
    """
    return np.asarray(np.logical_and.reduce([size * unit <= 0.5, *(a == np.rint(a) for a in (size, *sums))]))


def ulp_of(size: Array, kind: DType) -> Array:
    """Return the unit in the last place of numbers of those magnitudes in an element type, as f64 or wider.

    >>> import numpy as np
    >>> from hlotool.ir import DTYPES
    >>> float(ulp_of(np.float64([1.5]), DTYPES["bf16"])[0])
    0.0078125
    """
    _, exponent = np.frexp(size)
    places = np.maximum(exponent - 1, least_exponent(kind)) - mantissa_bits(kind)
    return np.asarray(np.ldexp(np.ones((), np.asarray(size).dtype), places))


def unit_of(kind: DType) -> float:
    """Return half an ULP of 1."""
    return 2.0 ** -(mantissa_bits(kind) + 1)


def mantissa_bits(kind: DType) -> int:
    """Return the stored mantissa bits of a float, or of the halves of a complex number."""
    return kind.component.mantissa_bits


def ordered(array: Array) -> Array:
    """Return the values as int64 in the order of the numbers, neighbours one apart.

    The bit pattern of a float with its sign as the sign of an integer: the formats are ordered that way.
    """
    kind = dtype_of_numpy(array.dtype)
    if not kind.is_floating:
        return array if kind.name == "u64" else array.astype(np.int64)
    storage = array.dtype.itemsize
    bits = np.ascontiguousarray(array).reshape(array.shape).view(f"u{storage}")
    if kind.specials == "no sign":  # an exponent only
        return np.asarray(bits, np.int64)
    sign = bits >> np.array(kind.bits - 1, bits.dtype) & np.array(1, bits.dtype)
    magnitude = (bits & np.array((1 << (kind.bits - 1)) - 1, bits.dtype)).astype(np.int64)
    return np.asarray(np.where(sign == 1, -magnitude, magnitude))


def ulp_distance(a: Array, b: Array) -> Array:
    """Return the distance of each pair of elements as float64; the arrays have one element type and shape.

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
    """Return where an array of any element type holds NaN."""
    if array.dtype.kind in "fc":
        return np.isnan(array)
    if not dtype_of_numpy(array.dtype).is_floating:
        return np.zeros(array.shape, np.bool_)
    with np.errstate(invalid="ignore"):
        return np.isnan(array.astype(np.float64))
