"""Units in the last place, and errors that are counted in them."""

from __future__ import annotations

import functools
from collections.abc import Callable

from hlotool.ir import DType, ResultAccuracy
from hlotool.ir.arrays import Array, np
from hlotool.numerics.product_precision import mantissa_bits
from hlotool.ops import limits

#: how much an operation that declares less may be off, in ULPs: a reciprocal, a fused product, are one rounding more
LEAST_ULPS = 1.0


def error_of(accuracy: ResultAccuracy | None, ulps: float) -> Callable[[Array, Array], Array]:
    """The largest error of a result of a size whose last place is known."""
    if accuracy is not None and accuracy.mode == "highest":
        ulps = LEAST_ULPS
    if accuracy is None or accuracy.mode:
        return lambda size, ulp: ulps * ulp
    atol, rtol, wanted = accuracy.atol, accuracy.rtol, max(LEAST_ULPS, accuracy.ulps)
    return lambda size, ulp: atol + rtol * size + wanted * ulp


@functools.cache
def largest(kind: DType) -> float:
    """The largest finite number of a type, or of the halves of a complex one."""
    return float(limits(kind.component)[0])


@functools.cache
def least_exponent(kind: DType) -> int:
    """The exponent of the smallest normal number."""
    bits = kind.component.exponent_bits
    return 2 - int(2 ** (bits - 1))


def are_whole(unit: float, size: Array, *sums: Array) -> Array:
    """Where sums are exact in every order: whole numbers, of which the sum of magnitudes, `size`, fits a type's unit.

    >>> import numpy as np
    >>> are_whole(2.0**-8, np.array([5.0, 5.5, 300.0])).tolist()
    [True, False, False]
    """
    found: Array = np.logical_and.reduce([size * unit <= 0.5, *(a == np.rint(a) for a in (size, *sums))])
    return found


def ulp_of(size: Array, kind: DType) -> Array:
    """The unit in the last place of numbers of those magnitudes in an element type, as f64 or wider.

    >>> import numpy as np
    >>> from hlotool.ir import DTYPES
    >>> float(ulp_of(np.float64([1.5]), DTYPES["bf16"])[0])
    0.0078125
    """
    _, exponent = np.frexp(size)
    places = np.maximum(exponent - 1, least_exponent(kind)) - mantissa_bits(kind)
    units: Array = np.ldexp(np.ones((), np.asarray(size).dtype), places)
    return units
