"""Systems of linear equations: LU with partial pivoting, and tridiagonal ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.library.matrices import matrix
from hlotool.builder.problems import demand
from hlotool.builder.python_values import unqualified
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def _loop(b: Core, count: int, step: Any, init: list[XlaOp]) -> list[XlaOp]:
    """The values after step(i, *values) for i = 0 ... count - 1."""
    found = b.today("ForEachIndex", count, step, init)
    return [b.today("GetTupleElement", found, i) for i in range(len(init))]


def _column(b: Core, table: XlaOp, at: XlaOp, axis: int) -> XlaOp:
    """The slice at an index of an axis, that dimension dropped."""
    axis += table.rank
    starts = [at if d == axis else b.operand(0, "s32") for d in range(table.rank)]
    sizes = [1 if d == axis else n for d, n in enumerate(table.dims)]
    found = b.today("DynamicSlice", table, starts, sizes)
    return b.today("Reshape", found, [n for d, n in enumerate(table.dims) if d != axis])


def _with_column(b: Core, table: XlaOp, new: XlaOp, at: XlaOp, axis: int) -> XlaOp:
    axis += table.rank
    starts = [at if d == axis else b.operand(0, "s32") for d in range(table.rank)]
    return b.today("DynamicUpdateSlice", table,
                 b.today("Reshape", new, [1 if d == axis else n for d, n in enumerate(table.dims)]), starts)


def _wide(b: Core, value: XlaOp, dims: Any, missing: int) -> XlaOp:
    """A value repeated along a dimension, counted from the end, that it lacks."""
    return b.today("BroadcastInDim", value, dims, [d for d in range(len(dims)) if d != missing + len(dims)])


@function()
def lu_decomposition(b: Core, a: Any) -> XlaOp:
    """P A = L U with rows exchanged so that the greatest element leads: a tuple (lu, pivots, permutation).

    `lu` holds L below the diagonal, whose own is 1, and U on and above it; row i was exchanged with row pivots[i];
    row i of P A is row permutation[i] of A.
    """
    made = matrix(b, a, "LuDecomposition")
    demand(made.shape.dtype.is_floating or made.shape.dtype.is_complex, ARGUMENTS,
           f"LuDecomposition takes floats or complex numbers; it is given {made.shape.text(False)}")
    rows, columns = made.dims[-2:]
    batch, count = made.dims[:-2], min(rows, columns)
    line = Shape.array("s32", (*batch, rows))
    places = b.today("Iota", line, len(batch))
    down = b.today("Iota", Shape.array("s32", made.dims), made.rank - 2)
    right = b.today("Iota", Shape.array("s32", made.dims), made.rank - 1)

    def step(j: XlaOp, lu: XlaOp, pivots: XlaOp, order: XlaOp, places: XlaOp, down: XlaOp, right: XlaOp) -> list[XlaOp]:
        column = _column(b, lu, j, -1)
        height = b.today("Select", places >= j, b.today("Abs", column), -1.0)
        pivot = b.today("ArgMax", height, height.rank - 1)
        swapped = b.today("Select", b.today("Eq", places, j), _wide(b, pivot, places.dims, -1), b.today(
            "Select", b.today("Eq", places, _wide(b, pivot, places.dims, -1)), j, places))
        lu = b.today("TorchGather", lu, _wide(b, swapped, lu.dims, -1), lu.rank - 2)
        order = b.today("TorchGather", order, swapped, order.rank - 1)
        row, column = _column(b, lu, j, -2), _column(b, lu, j, -1)
        head = _column(b, column, j, -1)
        is_zero = b.today("Eq", head, b.today("ZerosLike", head))
        safe = b.today("Select", is_zero, b.today("OnesLike", head), head)
        share = b.today("Div", column, _wide(b, safe, column.dims, -1))
        below = b.today("Gt", down, j)
        factors = b.today("Select", below, _wide(b, share, lu.dims, -1), b.today("ZerosLike", lu))
        rest = lu - factors * _wide(b, row, lu.dims, -2)
        lu = b.today("Select", below & b.today("Gt", right, j), rest,
                   b.today("Select", below & b.today("Eq", right, j), factors, lu))
        return [lu, _with_column(b, pivots, pivot, j, -1), order, places, down, right]

    start = [made, b.today("Full", Shape.array("s32", (*batch, count)), 0), places, places, down, right]
    return b.today("Tuple", _loop(b, count, step, start)[:3])


def without_algorithm(args: Sequence[Any]) -> list[Any]:
    """C++'s first argument names the algorithm, of which this function has one."""
    named = bool(args) and isinstance(args[0], str) and unqualified(args[0]).removeprefix("k").lower() == "thomas"
    return list(args[1:] if named else args)


@function("ThomasSolver", regroup=without_algorithm)
def tridiagonal_solver(b: Core, lower_diagonal: Any, main_diagonal: Any, upper_diagonal: Any, rhs: Any) -> XlaOp:
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
    below, middle, above = (b.today("BroadcastInDim", o, given.dims, range(given.rank)) for o in (lower, main, upper))

    def forward(i: XlaOp, middle: XlaOp, found: XlaOp, below: XlaOp, above: XlaOp) -> list[XlaOp]:
        at, before = i + 1, i
        factor = _column(b, below, at, -1) / _column(b, middle, before, -1)
        new = _column(b, middle, at, -1) - factor * _column(b, above, before, -1)
        value = _column(b, found, at, -1) - factor * _column(b, found, before, -1)
        return [_with_column(b, middle, new, at, -1), _with_column(b, found, value, at, -1), below, above]

    middle, found, _, above = _loop(b, size - 1, forward, [middle, given, below, above])

    def backward(i: XlaOp, found: XlaOp, middle: XlaOp, above: XlaOp) -> list[XlaOp]:
        at = b.today("Sub", size - 1, i)
        after = b.today("Min", at + 1, size - 1)
        rest = b.today("Select", b.today("Eq", i, 0), 0.0, _column(b, above, at, -1) * _column(b, found, after, -1))
        value = (_column(b, found, at, -1) - rest) / _column(b, middle, at, -1)
        return [_with_column(b, found, value, at, -1), middle, above]

    return _loop(b, size, backward, [found, middle, above])[0]
