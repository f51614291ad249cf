"""Eigenvalues of symmetric matrices and singular values, by Jacobi's rotations."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.builder.linalg.lapack.routine import Config, letter, routine
from hlotool.builder.linalg.loop_arrays import adjoint, as_rows, each, is_finite, pick, real, typed, zeros
from hlotool.builder.linalg.reflections import q_of, qr_form
from hlotool.ir import Shape


def _masked(b: XlaBuilder, good: XlaOp, value: XlaOp) -> XlaOp:
    """The value, NaN where it is not good."""
    return pick(b, each(b, good, value) if value.rank > good.rank else good, value,
                b.Full(Shape.array(value.element_type, value.dims), float("nan")))


def _number(b: XlaBuilder, good: XlaOp, otherwise: int) -> XlaOp:
    return pick(b, good, zeros(b, "s32", good.dims), b.Full(Shape.array("s32", good.dims), otherwise))


@routine("syevd", 2, letters="sd")
@routine("heevd", 2, letters="cz")
def eigh(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> list[XlaOp]:
    """Eigenvectors and eigenvalues, rising, of a symmetric matrix, one triangle of which is read."""
    (a,) = operands
    good = is_finite(b, a)
    found = b.SelfAdjointEig(pick(b, each(b, good, a), a), letter(config, "uplo", "L") == "L")
    vectors, values = b.GetTupleElement(found, 0), b.GetTupleElement(found, 1)
    if letter(config, "mode", "V") != "V":
        vectors = a
    return [_masked(b, good, vectors), _masked(b, good, values), _number(b, good, a.dims[-1] + 1)]


@routine("gesdd gesvd", 2)
def svd(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> list[XlaOp]:
    """Singular values, falling, and singular vectors: all (A), as many as there are values (S), or none (N).

    `transposed`: of the matrix whose rows are the columns of the operand's buffer.
    """
    (a,) = operands
    if config.get("transposed"):
        made = svd(b, [_in_memory(b, a, a.dims[-1], a.dims[-2])], {**config, "transposed": 0}, results)
        return [_in_memory(b, part, *shape.dims[-2:]) if part.rank == a.rank else part
                for part, shape in zip(made, results, strict=True)]
    good, mode = is_finite(b, a), letter(config, "mode", "A")
    is_wide = a.dims[-2] < a.dims[-1]
    tall = pick(b, each(b, good, a), a)
    tall = adjoint(b, tall) if is_wide else tall
    found = b.Svd(tall)
    u, values, v = (b.GetTupleElement(found, n) for n in range(3))
    values = _masked(b, good, values)
    if mode == "N":
        return [a, values, *(zeros(b, s.element_type, s.dims) for s in results[2:4]), _number(b, good, -4)]
    u = _completed(b, u, tall.dims[-2] if mode == "A" else tall.dims[-1])
    left, right = (v, adjoint(b, u)) if is_wide else (u, adjoint(b, v))
    return [a, values, _masked(b, good, left), _masked(b, good, right), _number(b, good, -4)]


@routine("gesvdj gesvdp", 2)
def svd_in_columns(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> list[XlaOp]:
    """Singular values, falling, and singular vectors, both of them in columns, whether they are asked for or not."""
    rest, values, left, right, info = svd(
        b, operands, {"mode": ord("A" if config.get("full_matrices") else "S")}, results)
    return [rest, values, left, adjoint(b, right), info]


def _in_memory(b: XlaBuilder, a: XlaOp, rows: int, columns: int) -> XlaOp:
    """Matrices of other sizes in the buffers of matrices, columns first."""
    order = [*range(a.rank - 2), a.rank - 1, a.rank - 2]
    return b.Transpose(b.Reshape(b.Transpose(a, order), [*a.dims[:-2], columns, rows]), order)


def _completed(b: XlaBuilder, u: XlaOp, columns: int) -> XlaOp:
    """Orthonormal columns whose first ones are those of u; where u has a column of zeros, any that fits.

    Reflections make u the identity but for signs, and so their product begins with u's columns but for those signs.
    """
    form, taus = qr_form(b, u)
    q = q_of(b, form, taus, columns)
    diagonal = real(b, b.GetMatrixDiagonal(form))
    signs = pick(b, b.Lt(diagonal, b.ZerosLike(diagonal)), b.Neg(b.OnesLike(diagonal)), b.OnesLike(diagonal))
    missing = columns - u.dims[-1]
    if missing:
        signs = b.ConcatInDim([signs, b.Full(Shape.array(signs.element_type, (*signs.dims[:-1], missing)), 1)],
                              dimension=signs.rank - 1)
    return b.Mul(q, typed(b, as_rows(b, signs, q), q))
