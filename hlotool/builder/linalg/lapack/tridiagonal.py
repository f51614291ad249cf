"""Systems of equations of three diagonals, by elimination with exchanges of neighbouring rows."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import NamedTuple

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.builder.linalg.lapack.routine import Config, routine
from hlotool.builder.linalg.loop_arrays import at, each, loop, pick, put, size_of, zeros
from hlotool.ir import Shape


@routine("gtsv", 1, 1, 1, 2)
def solve(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> list[XlaOp]:
    """x of a x = b; the first element below the diagonal stands second. Source: LAPACK, ?gtsv.

    Where a pivot is zero, info is its number, and everything is left as it was by then.
    """
    below, middle, above, right = operands
    size, batch = middle.dims[-1], middle.dims[:-1]
    below, middle, above, right, info = loop(
        b, size - 1, functools.partial(_forward, b, size), [below, middle, above, right, zeros(b, "s32", batch)])
    if size:
        end = at(b, middle, b.ConstantR0(size - 1, "s32"), -1)
        is_singular = b.And(b.Eq(info, 0), b.Eq(end, b.ZerosLike(end)))
        info = pick(b, is_singular, b.Full(Shape.array("s32", batch), size), info)
    right = loop(b, size, functools.partial(_backward, b, size), [right, below, middle, above, info])[0]
    return [below, middle, above, right, info]


@routine("gtsv2", 1, 1, 1, 2)
def solution(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> list[XlaOp]:
    """x of gtsv alone."""
    return [solve(b, operands, config, results)[3]]


class _TwoRows(NamedTuple):
    """Elements of row k and of the one after it: head and up beside low, following and up_after; right-hand sides.

    After a step `low` holds the second element above the diagonal of row k, which an exchange brings there.
    """

    low: XlaOp
    head: XlaOp
    following: XlaOp
    up: XlaOp
    up_after: XlaOp
    row: XlaOp
    row_after: XlaOp


def _forward(b: XlaBuilder, size: int, k: XlaOp, below: XlaOp, middle: XlaOp, above: XlaOp, right: XlaOp,
             info: XlaOp) -> list[XlaOp]:
    """Eliminate what stands below the diagonal in column k, unless a pivot has been zero."""
    batch, after = list(info.dims), b.Add(k, 1)
    old = _TwoRows(at(b, below, after, -1), at(b, middle, k, -1), at(b, middle, after, -1), at(b, above, k, -1),
                   at(b, above, after, -1), at(b, right, k, -2), at(b, right, after, -2))
    stays = b.Ge(size_of(b, old.head), size_of(b, old.low))
    is_singular = b.And(stays, b.Eq(old.head, b.ZerosLike(old.head)))
    goes_on = b.And(b.Eq(info, 0), b.Not(is_singular))
    info = pick(b, b.And(b.Eq(info, 0), is_singular), b.BroadcastInDim(after, batch, []), info)
    divisor = pick(b, is_singular, b.OnesLike(old.head), pick(b, stays, old.head, old.low))
    factor = b.Div(pick(b, stays, old.low, old.head), divisor)
    is_inner = b.BroadcastInDim(b.Lt(k, b.ConstantR0(size - 2, "s32")), batch, [])
    new = _TwoRows(*(pick(b, each(b, goes_on, n) if n.rank > goes_on.rank else goes_on, n, o)
                     for n, o in zip(_eliminated(b, old, stays, factor, is_inner), old, strict=True)))
    below = put(b, below, new.low, after, -1)
    middle = put(b, put(b, middle, new.head, k, -1), new.following, after, -1)
    above = put(b, put(b, above, new.up, k, -1), new.up_after, after, -1)
    right = put(b, put(b, right, new.row, k, -2), new.row_after, after, -2)
    return [below, middle, above, right, info]


def _eliminated(b: XlaBuilder, old: _TwoRows, stays: XlaOp, factor: XlaOp, is_inner: XlaOp) -> _TwoRows:
    """Both rows after a step: as they stand, or exchanged where the pivot is in the second one."""
    low, head, following, up, up_after, row, row_after = old
    stay, wide = each(b, stays, row), each(b, factor, row)
    first = pick(b, stay, row, row_after)
    return _TwoRows(
        low=pick(b, is_inner, pick(b, stays, b.ZerosLike(low), up_after), low),
        head=pick(b, stays, head, low),
        following=pick(b, stays, b.Sub(following, b.Mul(factor, up)), b.Sub(up, b.Mul(factor, following))),
        up=pick(b, stays, up, following),
        up_after=pick(b, b.Or(stays, b.Not(is_inner)), up_after, b.Neg(b.Mul(factor, up_after))),
        row=first,
        row_after=b.Sub(pick(b, stay, row_after, row), b.Mul(wide, first)))


def _backward(b: XlaBuilder, size: int, i: XlaOp, right: XlaOp, below: XlaOp, middle: XlaOp, above: XlaOp,
              info: XlaOp) -> list[XlaOp]:
    """Solve for the i-th row from the end, which has two more elements behind the diagonal."""
    final = b.ConstantR0(size - 1, "s32")
    k = b.Sub(final, i)
    one, two = b.Min(b.Add(k, 1), final), b.Min(b.Add(k, 2), final)
    row = at(b, right, k, -2)
    first = b.Mul(each(b, at(b, above, k, -1), row), at(b, right, one, -2))
    second = b.Mul(each(b, at(b, below, one, -1), row), at(b, right, two, -2))
    none = b.ZerosLike(row)
    total = b.Sub(row, b.Select(b.Ge(i, 1), first, none))
    total = b.Sub(total, b.Select(b.Ge(i, 2), second, none))
    found = b.Div(total, each(b, at(b, middle, k, -1), row))
    right = put(b, right, pick(b, each(b, b.Eq(info, 0), row), found, row), k, -2)
    return [right, below, middle, above, info]
