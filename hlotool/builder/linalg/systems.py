"""Systems of linear equations: LU with partial pivoting, and tridiagonal ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.linalg.loop_arrays import as_columns, as_rows, at, each, exchanged, loop, pick, places, put, zeros
from hlotool.builder.linalg.matrices import matrix
from hlotool.builder.problems import demand
from hlotool.builder.python_values import unqualified

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def lu_form(b: Methods, a: XlaOp, size: Callable[[Methods, XlaOp], XlaOp]) -> list[XlaOp]:
    """Return L and U in one matrix, the row that each row was exchanged with, and the number of the first zero pivot.

    `size` gives the magnitudes that pivots are chosen by. A zero pivot leaves its column as it is.
    """
    batch, count = a.dims[:-2], min(a.dims[-2:])

    def step(k: XlaOp, a: XlaOp, pivots: XlaOp, info: XlaOp) -> list[XlaOp]:
        height = size(b, at(b, a, k, -1))
        is_open = b.Ge(places(b, height.dims, -1), k)
        pivot = b.ArgMax(b.Select(is_open, height, -1.0), height.rank - 1)
        a = exchanged(b, a, k, pivot, -2)
        row, column = at(b, a, k, -2), at(b, a, k, -1)
        head = at(b, row, k, -1)
        is_zero = b.Eq(head, b.ZerosLike(head))
        share = b.Div(column, each(b, pick(b, is_zero, b.OnesLike(head), head), column))
        down, right = places(b, a.dims, -2), places(b, a.dims, -1)
        below = b.And(b.Gt(down, k), b.Not(each(b, is_zero, a)))
        rest = b.Sub(a, b.Mul(as_columns(b, share, a), as_rows(b, row, a)))
        a = pick(b, below & b.Eq(right, k), as_columns(b, share, a),
                 pick(b, below & b.Gt(right, k), rest, a))
        number = b.BroadcastInDim(b.Add(k, 1), list(batch), [])
        info = pick(b, b.And(is_zero, b.Eq(info, 0)), number, info)
        return [a, put(b, pivots, pivot, k, -1), info]

    return loop(b, count, step, [a, zeros(b, "s32", (*batch, count)), zeros(b, "s32", batch)])


@function()
def lu_decomposition(b: Methods, a: Any) -> XlaOp:
    """P A = L U with rows exchanged so that the greatest element leads: a tuple (lu, pivots, permutation).

    `lu` holds L below the diagonal, whose own is 1, and U on and above it; row i was exchanged with row pivots[i];
    row i of P A is row permutation[i] of A.
    """
    made = matrix(b, a, "LuDecomposition")
    demand(made.shape.dtype.is_floating or made.shape.dtype.is_complex, ARGUMENTS,
           f"LuDecomposition takes floats or complex numbers; it is given {made.shape.text(False)}")
    lu, pivots, _ = lu_form(b, made, lambda b, value: b.Abs(value))
    return b.Tuple([lu, pivots, order_of_rows(b, pivots, made.dims[:-1])])


def order_of_rows(b: Methods, pivots: XlaOp, dims: Sequence[int]) -> XlaOp:
    """Return which row each row was before row i was exchanged with row pivots[i], one i after the other."""
    def step(k: XlaOp, order: XlaOp, pivots: XlaOp) -> list[XlaOp]:
        return [exchanged(b, order, k, at(b, pivots, k, -1), -1), pivots]

    return loop(b, pivots.dims[-1], step, [places(b, dims, -1), pivots])[0]


def without_algorithm(args: Sequence[Any]) -> list[Any]:
    """C++'s first argument names the algorithm, of which this function has one."""
    named = bool(args) and isinstance(args[0], str) and unqualified(args[0]).removeprefix("k").lower() == "thomas"
    return list(args[1:] if named else args)


@function("ThomasSolver", regroup=without_algorithm)
def tridiagonal_solver(b: Methods, lower_diagonal: Any, main_diagonal: Any, upper_diagonal: Any, rhs: Any) -> XlaOp:
    """Solve systems with three diagonals, each [..., 1, n], for right sides [..., m, n]: Thomas's algorithm.

    The first element of the lower diagonal and the last of the upper one do not count. As in XLA's kThomas there is
    no pivoting: the main diagonal should dominate.
    """
    lower, main, upper, given = b.operands(lower_diagonal, main_diagonal, upper_diagonal, rhs)
    size = main.dims[-1] if main.rank >= 2 else 0
    demand(size > 0 and lower.dims == main.dims == upper.dims and main.dims[-2] == 1 and given.rank == main.rank
           and (*given.dims[:-2], given.dims[-1]) == (*main.dims[:-2], size), ARGUMENTS,
           "TridiagonalSolver takes diagonals [..., 1, n] and right sides [..., m, n]; they are "
           f"{', '.join(o.shape.text(False) for o in (lower, main, upper, given))}")
    below, middle, above = (b.BroadcastInDim(o, given.dims, range(given.rank)) for o in (lower, main, upper))

    def forward(i: XlaOp, middle: XlaOp, found: XlaOp, below: XlaOp, above: XlaOp) -> list[XlaOp]:
        k = i + 1
        factor = at(b, below, k, -1) / at(b, middle, i, -1)
        new = at(b, middle, k, -1) - factor * at(b, above, i, -1)
        value = at(b, found, k, -1) - factor * at(b, found, i, -1)
        return [put(b, middle, new, k, -1), put(b, found, value, k, -1), below, above]

    middle, found, _, above = loop(b, size - 1, forward, [middle, given, below, above])

    def backward(i: XlaOp, found: XlaOp, middle: XlaOp, above: XlaOp) -> list[XlaOp]:
        k = b.Sub(size - 1, i)
        after = b.Min(k + 1, size - 1)
        rest = b.Select(b.Eq(i, 0), 0.0, at(b, above, k, -1) * at(b, found, after, -1))
        value = (at(b, found, k, -1) - rest) / at(b, middle, k, -1)
        return [put(b, found, value, k, -1), middle, above]

    return loop(b, size, backward, [found, middle, above])[0]


@function()
def tridiagonal_mat_mul(b: Methods, upper_diagonal: Any, main_diagonal: Any, lower_diagonal: Any, rhs: Any) -> XlaOp:
    """Multiply matrices with three diagonals, each [..., 1, m], by matrices [..., m, n].

    The last element of the upper diagonal and the first of the lower one do not count.
    Source: XLA, xla/hlo/builder/lib/tridiagonal.cc.
    """
    upper, main, lower, given = b.operands(upper_diagonal, main_diagonal, lower_diagonal, rhs)
    demand(given.rank >= 2 and upper.dims == main.dims == lower.dims == (*given.dims[:-2], 1, given.dims[-2])
           and given.dims[-2] > 0, ARGUMENTS, "TridiagonalMatMul takes diagonals [..., 1, m] and a matrix [..., m, n]; "
           f"they are {', '.join(o.shape.text(False) for o in (upper, main, lower, given))}")
    rank, size = given.rank, given.dims[-2]

    def rows(diagonal: XlaOp, start: int, of: int) -> XlaOp:
        """A diagonal without one of its ends, times the rows of the right side from `of` on, at its own rows."""
        count = size - max(start, of)
        part = b.SliceInDim(diagonal, start, start + count, 1, rank - 1)
        block = b.SliceInDim(given, of, of + count, 1, rank - 2)
        scales = b.BroadcastInDim(b.Reshape(part, [*given.dims[:-2], count]), block.dims, range(rank - 1))
        padded: XlaOp = b.PadInDim(b.Mul(scales, block), b.Zero(given.element_type), rank - 2, start,
                                   size - count - start)
        return padded

    return b.Add(b.Add(rows(main, 0, 0), rows(upper, 0, 1)), rows(lower, 1, 0))
