"""Sorting, and its places."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.python_values import axis_of
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def _sorted(b: Methods, operands: list[XlaOp], axis: int, is_descending: bool) -> XlaOp:
    def before(lhs: XlaOp, rhs: XlaOp, *others: XlaOp) -> XlaOp:
        return b.today("GtTotalOrder" if is_descending else "LtTotalOrder", lhs, rhs)

    return b.Sort(operands, before, axis, True)


@function()
def sort_ascending(b: Methods, operand: Any, axis: int = -1) -> XlaOp:
    """The elements along an axis, rising."""
    made = b.operand(operand)
    return _sorted(b, [made], axis_of(made, axis), False)


@function()
def sort_descending(b: Methods, operand: Any, axis: int = -1) -> XlaOp:
    """The elements along an axis, falling."""
    made = b.operand(operand)
    return _sorted(b, [made], axis_of(made, axis), True)


@function()
def sort_by_key(b: Methods, keys: Any, values: Any, axis: int = -1, is_descending: bool = False) -> XlaOp:
    """Keys in order and the values that belong to them: a tuple; equal keys keep their order."""
    made = b.operand(keys)
    return _sorted(b, [made, b.operand(values)], axis_of(made, axis), is_descending)


@function()
def arg_sort(b: Methods, operand: Any, axis: int = -1, is_descending: bool = False, index_type: Any = "s32") -> XlaOp:
    """Where the elements along an axis stand, in their order."""
    made = b.operand(operand)
    axis = axis_of(made, axis)
    from hlotool.builder.python_values import element_type_of

    places = b.Iota(Shape.array(element_type_of(index_type), made.dims), axis)
    return b.GetTupleElement(_sorted(b, [made, places], axis, is_descending), 1)


@function()
def median(b: Methods, operand: Any, axis: int = -1) -> XlaOp:
    """The element in the middle along an axis; the mean of two where their number is even."""
    made = b.operand(operand)
    axis = axis_of(made, axis)
    rows, size = sort_ascending(b, made, axis), made.dims[axis]
    dims = [n for d, n in enumerate(made.dims) if d != axis]

    def at(place: int) -> XlaOp:
        return b.Reshape(b.SliceInDim(rows, place, place + 1, 1, axis), dims)

    if size % 2:
        return at(size // 2)
    found: XlaOp = (at(size // 2 - 1) + at(size // 2)) * 0.5
    return found
