"""Orders that sorts leave open: of equivalent elements, and of all where a comparator is no order.

A comparator that is no strict weak order of the elements (LT of NaN, LE of equal keys) leaves each algorithm with an
order of its own, even where the sort has to be stable. It shows where two sorts of the same elements, begun in
different orders, leave elements at one place of which one comes before the other.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from hlotool.ir.arrays import Array, np
from hlotool.numerics.ulps import is_nan
from hlotool.ops.values import apply, as_tuple

Function: TypeAlias = Callable[..., Any]

#: elements of a sort that is made twice
_MOST = 1 << 20


def sorted_otherwise(function: Function, operands: Sequence[Array], keywords: dict[str, Any], turn: int, random: Any,
                     fill: Function) -> Any:
    """A sort as another algorithm may do it, the first turns with the ends of what is left open.

    `fill` makes what stands for anything of an array.
    """
    if not operands[0].ndim or not operands[0].size:
        return function(*operands, **keywords)
    axis = keywords["dimensions"][0]
    is_stable = keywords.get("is_stable") in (True, "true")
    given = list(operands) if is_stable else _begun(operands, axis, random)
    found: tuple[Array, ...] = as_tuple(function(*given, **keywords))
    if operands[0].size <= _MOST:
        before = functools.partial(_before, keywords["to_apply"])
        ends = ((np.fmin, False), (np.fmax, False), (np.maximum, False), (np.fmin, True), (np.fmax, True))
        if not is_stable and turn < len(ends):
            found = _ends_of_runs(found, before, axis, *ends[turn])
        other = as_tuple(function(*(np.flip(a, axis) for a in operands), **keywords))
        open_ = _is_no_order(found, other, before, axis)
        if open_.any():
            found = tuple(np.asarray(np.where(open_, fill(a), a), a.dtype) for a in found)
    return found[0] if len(found) == 1 else found


def _begun(operands: Sequence[Array], axis: int, random: Any) -> list[Array]:
    """The elements in an order in which equivalent ones may be left."""
    drawn = random.permutation(operands[0].shape[axis])
    return [np.take(a, drawn, axis=axis) for a in operands]


def _before(comparator: Any, left: Sequence[Array], right: Sequence[Array]) -> Array:
    """At which places the left elements come before the right ones."""
    pairs = [side for pair in zip(left, right, strict=True) for side in pair]
    return np.asarray(apply(comparator, *pairs)[0]).astype(np.bool_)


def _ends_of_runs(found: Sequence[Array], before: Function, axis: int, end: Any,
                  is_finite: bool) -> tuple[Array, ...]:
    """Each element the smallest, or the largest, of its run of equivalent ones: all others lie in between.

    `maximum` gives NaN where there is one; `is_finite` leaves infinities out where there are other numbers.
    """
    lines = [np.moveaxis(a if a.dtype.kind in "biufc" else a.astype(np.float64), axis, -1) for a in found]
    length = lines[0].shape[-1]
    begins = np.ones(lines[0].shape, np.bool_)
    if length > 1:
        own = [np.moveaxis(a, axis, -1) for a in found]
        begins[..., 1:] = before([a[..., :-1] for a in own], [a[..., 1:] for a in own])
    starts = np.flatnonzero(begins.reshape(-1))
    counts = np.diff([*starts, begins.size])
    runs = []
    for line in lines:
        ordinary = np.where(np.isfinite(line), line, np.nan) if is_finite and line.dtype.kind in "fc" else line
        whole, some = (end.reduceat(a.reshape(-1), starts) for a in (line, ordinary))
        runs.append(np.repeat(np.where(is_nan(some), whole, some), counts).reshape(line.shape))
    return tuple(np.moveaxis(r.astype(a.dtype, copy=False), -1, axis) for r, a in zip(runs, found, strict=True))


def _is_no_order(left: Sequence[Array], right: Sequence[Array], before: Function, axis: int) -> Array:
    """In which lines the comparator is no order: two sorts leave different elements at a place, or one that comes
    neither before nor after another (NaN) does so to two of which one comes before the other."""
    unlike: Array = (before(left, right) | before(right, left)).any(axis=axis, keepdims=True)
    for operand in left:
        if operand.dtype.kind in "biu" or not (nan := np.isnan(operand)).any():
            continue
        odd = _repeated(left, np.argmax(nan, axis=axis), axis)
        alike = nan.any(axis=axis, keepdims=True) & ~nan & ~before(odd, left) & ~before(left, odd)
        one = _repeated(left, np.argmax(alike, axis=axis), axis)
        unlike |= (alike & (before(one, left) | before(left, one))).any(axis=axis, keepdims=True)
    return unlike


def _repeated(arrays: Sequence[Array], places: Array, axis: int) -> list[Array]:
    """One element of each line everywhere in it."""
    at = np.expand_dims(places, axis)
    return [np.broadcast_to(np.take_along_axis(a, at, axis), a.shape) for a in arrays]
