"""Arrays in loops: rows, columns and elements at an index; batches of matrices lie in the last two dimensions."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.ir import Shape


def loop(b: XlaBuilder, count: int, step: Callable[..., Sequence[XlaOp]], init: Sequence[XlaOp]) -> list[XlaOp]:
    """The values after step(i, *values) for i = 0 ... count - 1."""
    if count <= 0:
        return list(init)
    found = b.ForEachIndex(count, step, list(init))
    return [b.GetTupleElement(found, n) for n in range(len(init))]


def zeros(b: XlaBuilder, element_type: str, dims: Sequence[int]) -> XlaOp:
    """Zeros of that type."""
    return b.Full(Shape.array(element_type, tuple(dims)), False if element_type == "pred" else 0)


def places(b: XlaBuilder, dims: Sequence[int], axis: int) -> XlaOp:
    """The index of each element along an axis, counted from the end."""
    return b.Iota(Shape.array("s32", tuple(dims)), len(dims) + axis)


def at(b: XlaBuilder, table: XlaOp, index: XlaOp, axis: int) -> XlaOp:
    """The slice at an index of an axis, counted from the end, that dimension dropped."""
    axis += table.rank
    zero = b.ConstantR0(0, "s32")
    sizes = [1 if d == axis else n for d, n in enumerate(table.dims)]
    found = b.DynamicSlice(table, [index if d == axis else zero for d in range(table.rank)], sizes)
    return b.Reshape(found, [n for d, n in enumerate(table.dims) if d != axis])


def cell(b: XlaBuilder, matrix: XlaOp, row: XlaOp | int, column: XlaOp | int) -> XlaOp:
    """One element of a matrix."""
    places = [b.ConstantR0(n, "s32") if isinstance(n, int) else n for n in (row, column)]
    return b.Reshape(b.DynamicSlice(matrix, places, [1, 1]), [])


def put(b: XlaBuilder, table: XlaOp, new: XlaOp, index: XlaOp, axis: int) -> XlaOp:
    """The table with another slice at an index of an axis, counted from the end."""
    axis += table.rank
    zero = b.ConstantR0(0, "s32")
    sizes = [1 if d == axis else n for d, n in enumerate(table.dims)]
    return b.DynamicUpdateSlice(table, b.Reshape(new, sizes),
                                [index if d == axis else zero for d in range(table.rank)])


def spread(b: XlaBuilder, value: XlaOp, dims: Sequence[int], *missing: int) -> XlaOp:
    """A value repeated along dimensions, counted from the end, that it lacks."""
    gone = {d + len(dims) for d in missing}
    return b.BroadcastInDim(value, list(dims), [d for d in range(len(dims)) if d not in gone])


def as_rows(b: XlaBuilder, value: XlaOp, like: XlaOp) -> XlaOp:
    """A vector [..., columns] as each row of a matrix."""
    return spread(b, value, like.dims, -2)


def as_columns(b: XlaBuilder, value: XlaOp, like: XlaOp) -> XlaOp:
    """A vector [..., rows] as each column of a matrix."""
    return spread(b, value, like.dims, -1)


def each(b: XlaBuilder, value: XlaOp, like: XlaOp) -> XlaOp:
    """A number for each of a batch, repeated over the dimensions after it."""
    return spread(b, value, like.dims, *range(value.rank - like.rank, 0))


def is_complex(value: XlaOp) -> bool:
    """Whether the elements are complex numbers."""
    return value.shape.dtype.is_complex


def conj(b: XlaBuilder, value: XlaOp) -> XlaOp:
    """The complex conjugate; of real numbers, they."""
    return b.Conj(value) if is_complex(value) else value


def real(b: XlaBuilder, value: XlaOp) -> XlaOp:
    """The real part; of real numbers, they."""
    return b.Real(value) if is_complex(value) else value


def imaginary(b: XlaBuilder, value: XlaOp) -> XlaOp:
    """The imaginary part; of real numbers, zeros."""
    return b.Imag(value) if is_complex(value) else b.ZerosLike(value)


def typed(b: XlaBuilder, value: XlaOp, like: XlaOp) -> XlaOp:
    """A real value in the element type of another one, which may be complex."""
    return b.Complex(value, b.ZerosLike(value)) if is_complex(like) and not is_complex(value) else value


def size_of(b: XlaBuilder, value: XlaOp) -> XlaOp:
    """What LAPACK compares pivots by: of complex numbers, the sum of both parts' sizes."""
    if not is_complex(value):
        return b.Abs(value)
    return b.Add(b.Abs(b.Real(value)), b.Abs(b.Imag(value)))


def pick(b: XlaBuilder, mask: XlaOp, yes: XlaOp, no: XlaOp | None = None) -> XlaOp:
    """Where the mask holds the one, else the other, or zeros."""
    return b.Select(mask, yes, b.ZerosLike(yes) if no is None else no)


def one_if_zero(b: XlaBuilder, value: XlaOp) -> XlaOp:
    """The value, ones in place of zeros: to divide by."""
    return pick(b, b.Eq(value, b.ZerosLike(value)), b.OnesLike(value), value)


def stacked(b: XlaBuilder, *numbers: XlaOp) -> XlaOp:
    """A vector of numbers."""
    return b.ConcatInDim([b.Reshape(n, [1]) for n in numbers], 0)


def summed(b: XlaBuilder, value: XlaOp, axis: int) -> XlaOp:
    """The sum along an axis, counted from the end."""
    return b.Sum(value, [value.rank + axis])


def adjoint(b: XlaBuilder, matrix: XlaOp) -> XlaOp:
    """The conjugate of the transposed matrices."""
    return conj(b, b.TransposeInMinorDims(matrix))


def product(b: XlaBuilder, left: XlaOp, right: XlaOp) -> XlaOp:
    """The product of matrices, in full precision."""
    return b.BatchDot(left, right, False, False, "highest")


def eye(b: XlaBuilder, like: XlaOp, rows: int, columns: int) -> XlaOp:
    """Ones on the diagonal, for each of a batch."""
    dims = [*like.dims[:-2], rows, columns]
    return b.BroadcastInDim(b.IdentityMatrix(like.element_type, rows, columns), dims, [len(dims) - 2, len(dims) - 1])


def is_finite(b: XlaBuilder, matrix: XlaOp) -> XlaOp:
    """Whether all elements of each matrix are finite numbers."""
    found = b.And(b.IsFinite(real(b, matrix)), b.IsFinite(imaginary(b, matrix)))
    return b.Not(b.Any(b.Not(found), [matrix.rank - 2, matrix.rank - 1]))
