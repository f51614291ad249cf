"""Matrices in the last two dimensions: identity, diagonals, triangles, products, Einstein sums."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function, today
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import element_type_of
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def matrix(b: Core, value: Any, what: str) -> XlaOp:
    """An operand of two dimensions or more."""
    made = b.operand(value)
    demand(made.shape.is_array and made.rank >= 2, ARGUMENTS,
           f"{what} takes matrices in the last two dimensions; it is given {made.shape.text(False)}")
    return made


@function()
def identity_matrix(b: Core, element_type: Any, rows: int, columns: int | None = None) -> XlaOp:
    """Ones on the diagonal, zeros elsewhere."""
    dims = (rows, rows if columns is None else columns)
    same = today(b, "Eq", *(today(b, "Iota", Shape.array("s32", dims), d) for d in (0, 1)))
    return today(b, "ConvertElementType", same, element_type_of(element_type))


@function()
def triangle_mask(b: Core, operand: Any, diagonal: int = 0) -> XlaOp:
    """Where column - row is at most `diagonal`."""
    dims = matrix(b, operand, "TriangleMask").dims
    shape = Shape.array("s32", dims)
    row, column = (today(b, "Iota", shape, len(dims) - n) for n in (2, 1))
    return today(b, "Le", column, today(b, "Add", row, diagonal))


@function()
def lower_triangle(b: Core, operand: Any, diagonal: int = 0) -> XlaOp:
    """The elements on and below a diagonal, zeros above."""
    made = matrix(b, operand, "LowerTriangle")
    return today(b, "Select", triangle_mask(b, made, diagonal), made, today(b, "ZerosLike", made))


@function()
def upper_triangle(b: Core, operand: Any, diagonal: int = 0) -> XlaOp:
    """The elements on and above a diagonal, zeros below."""
    made = matrix(b, operand, "UpperTriangle")
    return today(b, "Select", triangle_mask(b, made, diagonal - 1), today(b, "ZerosLike", made), made)


@function()
def get_matrix_diagonal(b: Core, operand: Any) -> XlaOp:
    """The elements of the diagonal."""
    made = matrix(b, operand, "GetMatrixDiagonal")
    size = min(made.dims[-2:])
    limits = [*made.dims[:-2], size, size]
    square = today(b, "Slice", made, [0] * made.rank, limits)
    eye = identity_matrix(b, "pred", size)
    mask = today(b, "BroadcastInDim", eye, limits, [made.rank - 2, made.rank - 1])
    kept = today(b, "Select", mask, square, today(b, "ZerosLike", square))
    return today(b, "Sum", kept, [made.rank - 1])


@function()
def set_matrix_diagonal(b: Core, operand: Any, diagonal: Any) -> XlaOp:
    """The operand with another diagonal."""
    made = matrix(b, operand, "SetMatrixDiagonal")
    new = b.operand(diagonal, made.element_type)
    eye = today(b, "BroadcastInDim", identity_matrix(b, "pred", *made.dims[-2:]), made.dims,
                [made.rank - 2, made.rank - 1])
    wide = made.dims[-1] <= made.dims[-2]
    kept = [d for d in range(made.rank) if d != made.rank - (2 if wide else 1)]
    return today(b, "Select", eye, today(b, "BroadcastInDim", new, made.dims, kept), made)


@function()
def transpose_in_minor_dims(b: Core, operand: Any) -> XlaOp:
    """The last two dimensions exchanged."""
    made = matrix(b, operand, "TransposeInMinorDims")
    return today(b, "Transpose", made, [*range(made.rank - 2), made.rank - 1, made.rank - 2])


@function()
def batch_dot(b: Core, lhs: Any, rhs: Any, transpose_lhs: bool = False, transpose_rhs: bool = False,
              precision_config: Any = None, preferred_element_type: Any = None) -> XlaOp:
    """The product of matrices in the last two dimensions; the others count through both."""
    left, right = matrix(b, lhs, "BatchDot"), matrix(b, rhs, "BatchDot")
    batch = tuple(range(left.rank - 2))
    numbers = {"lhs_contracting_dimensions": (left.rank - (2 if transpose_lhs else 1),),
               "rhs_contracting_dimensions": (right.rank - (1 if transpose_rhs else 2),),
               "lhs_batch_dimensions": batch, "rhs_batch_dimensions": batch}
    return today(b, "DotGeneral", left, right, numbers, precision_config, preferred_element_type)


@function()
def einsum(b: Core, subscripts: str, lhs: Any, rhs: Any | None = None) -> XlaOp:
    """An Einstein sum of one operand or two: "ij,jk->ik"."""
    inputs, arrow, output = subscripts.replace(" ", "").partition("->")
    parts = inputs.split(",")
    given = [b.operand(o) for o in (lhs, rhs) if o is not None]
    demand(bool(arrow) and len(parts) == len(given) and all(
        len(p) == o.rank and len(set(p)) == len(p) for p, o in zip(parts, given, strict=True)) and
        len(set(output)) == len(output) and set(output) <= set("".join(parts)), ARGUMENTS,
        f"{subscripts!r} does not fit {', '.join(o.shape.text(False) for o in given)}",
        'each operand has one different letter a dimension, and "->" stands before the result')
    if len(given) == 1:
        return _arranged(b, *_summed(b, given[0], parts[0], set(output)), output)
    left, right = parts
    one, left = _summed(b, given[0], left, set(output) | set(right))
    two, right = _summed(b, given[1], right, set(output) | set(left))
    batch = [c for c in left if c in right and c in output]
    summed = [c for c in left if c in right and c not in output]
    numbers = {"lhs_contracting_dimensions": tuple(map(left.index, summed)),
               "rhs_contracting_dimensions": tuple(map(right.index, summed)),
               "lhs_batch_dimensions": tuple(map(left.index, batch)),
               "rhs_batch_dimensions": tuple(map(right.index, batch))}
    letters = "".join([*batch, *(c for c in left if c not in right), *(c for c in right if c not in left)])
    return _arranged(b, today(b, "DotGeneral", one, two, numbers), letters, output)


def _summed(b: Core, operand: XlaOp, letters: str, kept: set[str]) -> tuple[XlaOp, str]:
    """The operand summed over the letters that nobody else has."""
    axes = [i for i, c in enumerate(letters) if c not in kept]
    if not axes:
        return operand, letters
    return today(b, "Sum", operand, axes), "".join(c for c in letters if c in kept)


def _arranged(b: Core, operand: XlaOp, letters: str, output: str) -> XlaOp:
    order = [letters.index(c) for c in output]
    return operand if order == sorted(order) else today(b, "Transpose", operand, order)
