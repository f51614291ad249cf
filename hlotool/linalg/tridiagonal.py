"""Systems of equations of three diagonals, by elimination with exchanges of neighbouring rows."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.ir import Shape
from hlotool.linalg.loop_arrays import at, each, loop, pick, put, size_of, zeros
from hlotool.linalg.routine import Config, routine


@routine("gtsv", 1, 1, 1, 2)
def solve(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> list[XlaOp]:
    """x of a x = b; the first element below the diagonal stands second. Source: LAPACK, ?gtsv.

    Where a pivot is zero, info is its number, and everything is left as it was by then.
    """
    below, middle, above, right = operands
    size, batch = middle.dims[-1], middle.dims[:-1]

    def forward(k: XlaOp, below: XlaOp, middle: XlaOp, above: XlaOp, right: XlaOp, info: XlaOp) -> list[XlaOp]:
        after = b.Add(k, 1)
        low, head, following = at(b, below, after, -1), at(b, middle, k, -1), at(b, middle, after, -1)
        up, up_after = at(b, above, k, -1), at(b, above, after, -1)
        row, row_after = at(b, right, k, -2), at(b, right, after, -2)
        stays = b.Ge(size_of(b, head), size_of(b, low))
        is_singular = b.And(stays, b.Eq(head, b.ZerosLike(head)))
        goes_on = b.And(b.Eq(info, 0), b.Not(is_singular))
        info = pick(b, b.And(b.Eq(info, 0), is_singular), b.BroadcastInDim(after, list(batch), []), info)
        factor = b.Div(pick(b, stays, low, head), pick(b, is_singular, b.OnesLike(head), pick(b, stays, head, low)))
        is_inner = b.BroadcastInDim(b.Lt(k, b.ConstantR0(size - 2, "s32")), list(batch), [])
        wide = each(b, factor, row)
        # As it stands, or with both rows exchanged.
        new_low = pick(b, is_inner, pick(b, stays, b.ZerosLike(low), up_after), low)
        new_head = pick(b, stays, head, low)
        new_following = pick(b, stays, b.Sub(following, b.Mul(factor, up)), b.Sub(up, b.Mul(factor, following)))
        new_up = pick(b, stays, up, following)
        new_up_after = pick(b, b.Or(stays, b.Not(is_inner)), up_after, b.Neg(b.Mul(factor, up_after)))
        new_row = pick(b, each(b, stays, row), row, row_after)
        new_row_after = b.Sub(pick(b, each(b, stays, row), row_after, row),
                              b.Mul(wide, pick(b, each(b, stays, row), row, row_after)))

        def kept(new: XlaOp, old: XlaOp) -> XlaOp:
            return pick(b, each(b, goes_on, new) if new.rank > goes_on.rank else goes_on, new, old)

        below = put(b, below, kept(new_low, low), after, -1)
        middle = put(b, put(b, middle, kept(new_head, head), k, -1), kept(new_following, following), after, -1)
        above = put(b, put(b, above, kept(new_up, up), k, -1), kept(new_up_after, up_after), after, -1)
        right = put(b, put(b, right, kept(new_row, row), k, -2), kept(new_row_after, row_after), after, -2)
        return [below, middle, above, right, info]

    below, middle, above, right, info = loop(
        b, size - 1, forward, [below, middle, above, right, zeros(b, "s32", batch)])
    if size:
        end = at(b, middle, b.ConstantR0(size - 1, "s32"), -1)
        is_singular = b.And(b.Eq(info, 0), b.Eq(end, b.ZerosLike(end)))
        info = pick(b, is_singular, b.Full(Shape.array("s32", batch), size), info)

    def backward(i: XlaOp, right: XlaOp, below: XlaOp, middle: XlaOp, above: XlaOp, info: XlaOp) -> list[XlaOp]:
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

    right = loop(b, size, backward, [right, below, middle, above, info])[0]
    return [below, middle, above, right, info]
