"""A first look at a result: how far it is from the reference's, told by the two alone, before any verdict is asked for.

What is far away is worth a look inside before its verdict: evidence about a large part costs many times as much as the
reference.
"""

from __future__ import annotations

import enum

from hlotool.ir import dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.numerics.judgement import Kind, Known, judge
from hlotool.numerics.ulps import ulp_of

#: last places of an array's largest element that are far; of types of fewer than 32 bits
_FAR_ULPS, _FAR_NARROW_ULPS = 64.0, 8.0
#: elements that are looked at before all are
_FEW = 4096


class Look(enum.IntEnum):
    """The distance of a result by a first look."""

    #: equal, or a few last places apart
    SAME = 0
    #: apart by what roundings may well have done
    NEAR = 1
    #: by more than that, unless the program is ill-conditioned
    FAR = 2


def look_at(given: Array, reference: Array) -> Look:
    """Return how far a result is from the reference's."""
    given, reference = np.asarray(given), np.asarray(reference)
    if given.dtype != reference.dtype or given.shape != reference.shape:
        return Look.FAR
    kind = dtype_of_numpy(reference.dtype)
    with np.errstate(all="ignore"):
        differs = given != reference
        if not (kind.is_floating or kind.is_complex):
            return Look.FAR if differs.any() else Look.SAME
        differs &= ~(np.isnan(given) & np.isnan(reference))
        if not differs.any():
            return Look.SAME
        sizes = np.abs(reference)
        largest = np.max(sizes, where=np.isfinite(sizes), initial=0.0)
    places = _FAR_NARROW_ULPS if kind.component.bits < 32 else _FAR_ULPS
    far = places * float(ulp_of(np.asarray(largest, np.float64), kind))
    given, reference = given[differs], reference[differs]
    # Some of many elements show already that a result is far away.
    step = -(-given.size // _FEW)
    if step > 1 and _look_at(given[::step], reference[::step], far) is Look.FAR:
        return Look.FAR
    return _look_at(given, reference, far)


def _look_at(given: Array, reference: Array, far: float) -> Look:
    """Return the same for elements that differ; what is farther away than `far` is so."""
    found = judge(given, Known(reference))
    if found.kind <= Kind.WITHIN:
        return Look.SAME
    return Look.FAR if found.kind is Kind.NON_FINITE or float(found.error.max()) > far else Look.NEAR
