"""Arrays in loops: rows, columns and elements at an index; batches of matrices lie in the last two dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from hlotool.builder.handles import XlaOp
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def loop(b: Methods, count: int, step: Callable[..., Sequence[XlaOp]], init: Sequence[XlaOp],
         is_needed: Callable[..., XlaOp] | None = None) -> list[XlaOp]:
    """Return the values after step(i, *values) for i = 0 ... count - 1, while is_needed(*values) holds."""
    if count <= 0:
        return list(init)

    def goes_on(i: XlaOp, *values: XlaOp) -> XlaOp:
        below = b.Lt(i, count)
        return below if is_needed is None else b.And(below, is_needed(*values))

    def body(i: XlaOp, *values: XlaOp) -> list[XlaOp]:
        return [b.Add(i, 1), *step(i, *values)]

    found = b.While(goes_on, body, [b.operand(0, "s32"), *init])
    return [b.GetTupleElement(found, n + 1) for n in range(len(init))]


def zeros(b: Methods, element_type: str, dims: Sequence[int]) -> XlaOp:
    """Return zeros of that type."""
    return b.Full(Shape.array(element_type, tuple(dims)), False if element_type == "pred" else 0)


def places(b: Methods, dims: Sequence[int], axis: int) -> XlaOp:
    """Return the index of each element along an axis, counted from the end."""
    return b.Iota(Shape.array("s32", tuple(dims)), len(dims) + axis)


def at(b: Methods, table: XlaOp, index: XlaOp, axis: int) -> XlaOp:
    """Return the slice at an index of an axis, counted from the end, that dimension dropped."""
    axis += table.rank
    zero = b.ConstantR0(0, "s32")
    sizes = [1 if d == axis else n for d, n in enumerate(table.dims)]
    found = b.DynamicSlice(table, [index if d == axis else zero for d in range(table.rank)], sizes)
    return b.Reshape(found, [n for d, n in enumerate(table.dims) if d != axis])


def cell(b: Methods, matrix: XlaOp, row: XlaOp | int, column: XlaOp | int) -> XlaOp:
    """Return one element of a matrix."""
    places = [b.ConstantR0(n, "s32") if isinstance(n, int) else n for n in (row, column)]
    return b.Reshape(b.DynamicSlice(matrix, places, [1, 1]), [])


def put(b: Methods, table: XlaOp, new: XlaOp, index: XlaOp, axis: int) -> XlaOp:
    """Return the table with another slice at an index of an axis, counted from the end."""
    axis += table.rank
    zero = b.ConstantR0(0, "s32")
    sizes = [1 if d == axis else n for d, n in enumerate(table.dims)]
    return b.DynamicUpdateSlice(table, b.Reshape(new, sizes),
                                [index if d == axis else zero for d in range(table.rank)])


def spread(b: Methods, value: XlaOp, dims: Sequence[int], *missing: int) -> XlaOp:
    """Return a value repeated along dimensions, counted from the end, that it lacks."""
    gone = {d + len(dims) for d in missing}
    return b.BroadcastInDim(value, list(dims), [d for d in range(len(dims)) if d not in gone])


def as_rows(b: Methods, value: XlaOp, like: XlaOp) -> XlaOp:
    """Return a vector [..., columns] as each row of a matrix."""
    return spread(b, value, like.dims, -2)


def as_columns(b: Methods, value: XlaOp, like: XlaOp) -> XlaOp:
    """Return a vector [..., rows] as each column of a matrix."""
    return spread(b, value, like.dims, -1)


def each(b: Methods, value: XlaOp, like: XlaOp) -> XlaOp:
    """Return a number for each of a batch, repeated over the dimensions after it."""
    return spread(b, value, like.dims, *range(value.rank - like.rank, 0))


def is_complex(value: XlaOp) -> bool:
    """Return True if the elements are complex numbers."""
    return value.shape.dtype.is_complex


def conj(b: Methods, value: XlaOp) -> XlaOp:
    """Return the complex conjugate; real numbers as they are."""
    return b.Conj(value) if is_complex(value) else value


def real(b: Methods, value: XlaOp) -> XlaOp:
    """Return the real part; real numbers as they are."""
    return b.Real(value) if is_complex(value) else value


def imaginary(b: Methods, value: XlaOp) -> XlaOp:
    """Return the imaginary part; of real numbers, zeros."""
    return b.Imag(value) if is_complex(value) else b.ZerosLike(value)


def squares(b: Methods, value: XlaOp) -> XlaOp:
    """Return the squares of magnitudes."""
    if not is_complex(value):
        return b.Mul(value, value)
    return b.Add(*(b.Mul(part, part) for part in (b.Real(value), b.Imag(value))))


def typed(b: Methods, value: XlaOp, like: XlaOp) -> XlaOp:
    """Return a real value in the element type of another one, which may be complex."""
    return b.Complex(value, b.ZerosLike(value)) if is_complex(like) and not is_complex(value) else value


def size_of(b: Methods, value: XlaOp) -> XlaOp:
    """Return the sizes by which LAPACK compares pivots: of complex numbers, the sum of both parts' sizes."""
    if not is_complex(value):
        return b.Abs(value)
    return b.Add(b.Abs(b.Real(value)), b.Abs(b.Imag(value)))


def pick(b: Methods, mask: XlaOp, yes: XlaOp, no: XlaOp | None = None) -> XlaOp:
    """Return the one where the mask holds, else the other, or zeros."""
    return b.Select(mask, yes, b.ZerosLike(yes) if no is None else no)


def one_if_zero(b: Methods, value: XlaOp) -> XlaOp:
    """Return the value, ones in place of zeros: to divide by."""
    return pick(b, b.Eq(value, b.ZerosLike(value)), b.OnesLike(value), value)


def stacked(b: Methods, *numbers: XlaOp) -> XlaOp:
    """Return a vector of numbers."""
    return b.ConcatInDim([b.Reshape(n, [1]) for n in numbers], 0)


def summed(b: Methods, value: XlaOp, axis: int) -> XlaOp:
    """Return the sum along an axis, counted from the end."""
    return b.Sum(value, [value.rank + axis])


def adjoint(b: Methods, matrix: XlaOp) -> XlaOp:
    """Return the conjugate of the transposed matrices."""
    return conj(b, b.TransposeInMinorDims(matrix))


def product(b: Methods, left: XlaOp, right: XlaOp) -> XlaOp:
    """Return the product of matrices, in full precision."""
    return b.BatchDot(left, right, False, False, "highest")


def exchanged(b: Methods, table: XlaOp, k: XlaOp, pivots: XlaOp, axis: int) -> XlaOp:
    """Return the table with slice k of an axis, counted from the end, and slice pivots[...] of each batch exchanged."""
    chosen = b.Eq(places(b, table.dims, axis), each(b, pivots, table))
    # Both slices are read before either is written.
    new, here = summed(b, pick(b, chosen, table), axis), at(b, table, k, axis)
    return put(b, pick(b, chosen, spread(b, here, table.dims, axis), table), new, k, axis)


def eye(b: Methods, like: XlaOp, rows: int, columns: int) -> XlaOp:
    """Return ones on the diagonal, for each of a batch."""
    dims = [*like.dims[:-2], rows, columns]
    return b.BroadcastInDim(b.IdentityMatrix(like.element_type, rows, columns), dims, [len(dims) - 2, len(dims) - 1])


def is_finite(b: Methods, matrix: XlaOp) -> XlaOp:
    """Return, for each matrix, True if all elements are finite numbers."""
    found = b.And(b.IsFinite(real(b, matrix)), b.IsFinite(imaginary(b, matrix)))
    return b.Not(b.Any(b.Not(found), [matrix.rank - 2, matrix.rank - 1]))
