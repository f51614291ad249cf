"""Matrices in the last two dimensions: identity, diagonals, triangles, products, Einstein sums."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import element_type_of
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def matrix(b: Methods, value: Any, what: str) -> XlaOp:
    """An operand of two dimensions or more."""
    made = b.operand(value)
    demand(made.shape.is_array and made.rank >= 2, ARGUMENTS,
           f"{what} takes matrices in the last two dimensions; it is given {made.shape.text(False)}")
    return made


@function()
def identity_matrix(b: Methods, element_type: Any, rows: int, columns: int | None = None) -> XlaOp:
    """Ones on the diagonal, zeros elsewhere."""
    dims = (rows, rows if columns is None else columns)
    same = b.Eq(*(b.Iota(Shape.array("s32", dims), d) for d in (0, 1)))
    return b.ConvertElementType(same, element_type_of(element_type))


@function()
def triangle_mask(b: Methods, operand: Any, diagonal: int = 0) -> XlaOp:
    """Where column - row is at most `diagonal`."""
    dims = matrix(b, operand, "TriangleMask").dims
    shape = Shape.array("s32", dims)
    row, column = (b.Iota(shape, len(dims) - n) for n in (2, 1))
    return b.Le(column, b.Add(row, diagonal))


@function()
def get_diagonal_mask(b: Methods, operand: Any, diagonal: int = 0) -> XlaOp:
    """Where column - row is `diagonal`."""
    return _diagonal_mask(b, matrix(b, operand, "GetDiagonalMask"), diagonal)


@function()
def lower_triangle(b: Methods, operand: Any, diagonal: int = 0) -> XlaOp:
    """The elements on and below a diagonal, zeros above."""
    made = matrix(b, operand, "LowerTriangle")
    return b.Select(triangle_mask(b, made, diagonal), made, b.ZerosLike(made))


@function()
def upper_triangle(b: Methods, operand: Any, diagonal: int = 0) -> XlaOp:
    """The elements on and above a diagonal, zeros below."""
    made = matrix(b, operand, "UpperTriangle")
    return b.Select(triangle_mask(b, made, diagonal - 1), b.ZerosLike(made), made)


@function()
def triangle(b: Methods, operand: Any, lower: bool) -> XlaOp:
    """The elements on and below the diagonal, or on and above it; zeros elsewhere."""
    return lower_triangle(b, operand) if lower else upper_triangle(b, operand)


@function()
def symmetrize(b: Methods, operand: Any, lower: bool = True) -> XlaOp:
    """The symmetric (of complex elements Hermitian) matrices whose lower, or upper, triangle the operand holds."""
    made = matrix(b, operand, "Symmetrize")
    demand(made.dims[-1] == made.dims[-2], ARGUMENTS, f"Symmetrize takes square matrices; it is given "
           f"{made.shape.text(False)}")
    other = b.Conj(transpose_in_minor_dims(b, made))
    mask = triangle_mask(b, made, 0)
    if made.shape.dtype.is_complex:  # the diagonal of a Hermitian matrix is real
        on_diagonal = mask & b.Not(triangle_mask(b, made, -1))
        real = b.Complex(b.Real(made), b.ZerosLike(b.Real(made)))
        made = b.Select(on_diagonal, real, made)
    above = made if not lower else other
    below = made if lower else other
    mask = mask if lower else triangle_mask(b, made, -1)
    return b.Select(mask, below, above)


def _diagonal_mask(b: Methods, made: XlaOp, k: int) -> XlaOp:
    """Where column - row is k."""
    shape = Shape.array("s32", made.dims)
    row, column = (b.Iota(shape, made.rank - n) for n in (2, 1))
    return b.Eq(column, b.Add(row, k))


@function("GetMatrixDiagonalViaGather")
def get_matrix_diagonal(b: Methods, operand: Any, k: int = 0) -> XlaOp:
    """The elements of a diagonal: the main one, the k-th above it, or the -k-th below."""
    made = matrix(b, operand, "GetMatrixDiagonal")
    rows, columns = made.dims[-2:]
    size = max(min(rows + min(k, 0), columns - max(k, 0)), 0)
    kept = b.Select(_diagonal_mask(b, made, k), made, b.ZerosLike(made))
    # Of each column on the diagonal (each row, where the diagonal lies below) one element is left.
    line = b.today("Sum" if made.element_type != "pred" else "Any", kept, [made.rank - 1 if k >= 0 else made.rank - 2])
    return b.SliceInDim(line, 0, size, 1, line.rank - 1)


@function()
def set_matrix_diagonal(b: Methods, operand: Any, diagonal: Any, k: int = 0) -> XlaOp:
    """The operand with another diagonal: the main one, the k-th above it, or the -k-th below."""
    made = matrix(b, operand, "SetMatrixDiagonal")
    new = b.operand(diagonal, made.element_type)
    along = made.rank - 2 if k >= 0 else made.rank - 1  # rows count along diagonals that begin in the first row
    padded = b.PadInDim(new, False if made.element_type == "pred" else 0, new.rank - 1, 0,
                        made.dims[along] - new.dims[-1])
    wide = b.BroadcastInDim(padded, made.dims, [*range(made.rank - 2), along])
    return b.Select(_diagonal_mask(b, made, k), wide, made)


@function()
def transpose_in_minor_dims(b: Methods, operand: Any) -> XlaOp:
    """The last two dimensions exchanged."""
    made = matrix(b, operand, "TransposeInMinorDims")
    return b.Transpose(made, [*range(made.rank - 2), made.rank - 1, made.rank - 2])


def matrices_first(args: Sequence[Any]) -> list[Any]:
    """C++'s order, `BatchDot(x, transpose_x, y, transpose_y, precision)`, as that of this function."""
    is_theirs = len(args) >= 4 and isinstance(args[1], bool)
    return [args[0], args[2], args[1], *args[3:]] if is_theirs else list(args)


@function(regroup=matrices_first)
def batch_dot(b: Methods, lhs: Any, rhs: Any, transpose_lhs: bool = False, transpose_rhs: bool = False,
              precision_config: Any = None, preferred_element_type: Any = None) -> XlaOp:
    """The product of matrices in the last two dimensions; the others count through both."""
    left, right = matrix(b, lhs, "BatchDot"), matrix(b, rhs, "BatchDot")
    batch = tuple(range(left.rank - 2))
    numbers = {"lhs_contracting_dimensions": (left.rank - (2 if transpose_lhs else 1),),
               "rhs_contracting_dimensions": (right.rank - (1 if transpose_rhs else 2),),
               "lhs_batch_dimensions": batch, "rhs_batch_dimensions": batch}
    return b.DotGeneral(left, right, numbers, precision_config, preferred_element_type)
