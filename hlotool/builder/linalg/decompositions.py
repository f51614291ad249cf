"""Decompositions of matrices in the last two dimensions, by iteration: QR, SVD, eigenvalues; solutions with them.

Householder's reflections for QR; Jacobi's rotations for symmetric eigenvalues and singular values, each pair of
columns in turn, until nothing is left to turn. Of floats, f32 and f64.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.linalg.loop_arrays import at, eye, loop, one_if_zero, put, spread, squares, typed
from hlotool.builder.linalg.matrices import (
    batch_dot,
    get_matrix_diagonal,
    symmetrize,
    transpose_in_minor_dims,
)
from hlotool.builder.linalg.reflections import q_of, qr_form
from hlotool.builder.problems import demand
from hlotool.diagnostics import in_words
from hlotool.ir import Shape
from hlotool.ir.arrays import np

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods

#: rounds over all pairs, more than matrices of any size have been seen to need
_ROUNDS = 15


_FLOATS = ("f32", "f64")


def _matrix(b: Methods, value: Any, what: str, is_square: bool = False, kinds: Sequence[str] = _FLOATS) -> XlaOp:
    made = b.operand(value)
    demand(made.shape.is_array and made.rank >= 2 and made.element_type in kinds, ARGUMENTS,
           f"{what} takes matrices of {in_words(kinds)} in the last two dimensions; it is given "
           f"{made.shape.text(False)}")
    demand(min(made.dims[-2:]) > 0 and (not is_square or made.dims[-1] == made.dims[-2]), ARGUMENTS,
           f"{what} takes {'square' if is_square else 'non-empty'} matrices; it is given {made.shape.text(False)}")
    return made


@function("QrDecomposition", name="QR")
def qr(b: Methods, a: Any, full_matrices: bool = True) -> XlaOp:
    """A = Q R with Q orthogonal and R upper triangular: a tuple."""
    made = _matrix(b, a, "QR")
    rows, columns = made.dims[-2:]
    form, taus = qr_form(b, made)
    r, is_thin = b.UpperTriangle(form), not full_matrices and rows > columns
    q = q_of(b, form, taus, columns if is_thin else rows)
    return b.Tuple([q, b.SliceInDim(r, 0, columns, 1, r.rank - 2) if is_thin else r])


def _pairs(b: Methods, size: int) -> list[XlaOp]:
    """All pairs p < q, as two constants."""
    first, second = np.triu_indices(size, 1)
    return [b.constant_of(first.astype(np.int32)), b.constant_of(second.astype(np.int32))]


def _turned(b: Methods, matrix: XlaOp, p: XlaOp, q: XlaOp, c: XlaOp, s: XlaOp, axis: int) -> XlaOp:
    """Rows or columns p and q turned by an angle of cosine c and sine s."""
    one, two = at(b, matrix, p, axis), at(b, matrix, q, axis)
    cosine, sine = (typed(b, spread(b, n, one.dims, -1), one) for n in (c, s))
    found = put(b, matrix, one * cosine - two * sine, p, axis)
    return put(b, found, one * sine + two * cosine, q, axis)


def _rotation(b: Methods, alpha: XlaOp, beta: XlaOp, gamma: XlaOp) -> tuple[XlaOp, XlaOp]:
    """Cosine and sine that make the symmetric [[alpha, gamma], [gamma, beta]] diagonal."""
    is_turned = b.Ne(gamma, 0.0)
    zeta = (beta - alpha) / (2.0 * b.Select(is_turned, gamma, 1.0))
    root = b.Sqrt(1.0 + zeta * zeta)
    t = b.Select(zeta >= 0.0, b.operand(1.0, zeta.element_type), -1.0) / (b.Abs(zeta) + root)
    t = b.Select(is_turned & b.IsFinite(t), t, 0.0)
    c = b.Rsqrt(1.0 + t * t)
    return c, c * t


def _tolerance(made: XlaOp) -> float:
    return 2.0 ** -made.shape.with_element_type(_real_kind(made)).dtype.mantissa_bits


def _real_kind(made: XlaOp) -> str:
    """The element type of real parts."""
    return made.shape.dtype.component.name


@function("SelfAdjointEig")
def eigh(b: Methods, a: Any, lower: bool = True, max_iter: int = 15, tol: float = 1e-5, sort_eigenvalues: bool = True
         ) -> XlaOp:
    """Eigenvectors (columns) and eigenvalues (rising) of symmetric matrices: a tuple (v, w); A v = v diag(w).

    Only the lower triangle is read, or the upper one; of complex (Hermitian) matrices likewise. `max_iter` and `tol`
    stand for XLA's: the rotations end where nothing is left to turn.
    """
    given = b.operand(a)
    if given.shape.is_array and given.rank >= 2 and given.dims[-1] == given.dims[-2] == 0:
        return b.Tuple([given, b.Full(Shape.array(_real_kind(given), given.dims[:-1]), 0.0)])
    if given.shape.is_array and given.shape.dtype.is_complex:
        return _hermitian(b, symmetrize(b, given, lower), sort_eigenvalues)
    given = _matrix(b, given, "Eigh", is_square=True)
    size = given.dims[-1]
    made = symmetrize(b, given, lower)
    vectors = eye(b, made, size, size)
    if size > 1:
        first, second = _pairs(b, size)
        count, limit = first.dims[0], _tolerance(made)

        def step(k: XlaOp, matrix: XlaOp, vectors: XlaOp, ones: XlaOp, twos: XlaOp) -> list[XlaOp]:
            place = b.Rem(k, count)
            p, q = at(b, ones, place, -1), at(b, twos, place, -1)
            row_p, row_q = at(b, matrix, p, -2), at(b, matrix, q, -2)
            c, s = _rotation(b, at(b, row_p, p, -1), at(b, row_q, q, -1), at(b, row_p, q, -1))
            matrix = _turned(b, _turned(b, matrix, p, q, c, s, -2), p, q, c, s, -1)
            return [matrix, _turned(b, vectors, p, q, c, s, -1), ones, twos]

        def is_needed(matrix: XlaOp, vectors: XlaOp, ones: XlaOp, twos: XlaOp) -> XlaOp:
            off = b.Select(b.Eq(eye(b, matrix, size, size), 1.0), 0.0, matrix)
            return b.Gt(b.ReduceMax(b.Abs(off)),
                        b.ReduceMax(b.Abs(matrix)) * (limit * 0.25))

        made, vectors, _, _ = loop(b, _ROUNDS * count, step, [made, vectors, first, second], is_needed)
    values = get_matrix_diagonal(b, made)
    return _in_order(b, vectors, values, False) if sort_eigenvalues else b.Tuple([vectors, values])


def _hermitian(b: Methods, a: XlaOp, sort_eigenvalues: bool) -> XlaOp:
    """Eigenvalues of Hermitian matrices, from the symmetric [[Re, -Im], [Im, Re]], which has each of them twice."""
    size = a.dims[-1]
    real, imag = b.Real(a), b.Imag(a)
    last = a.rank - 1
    upper, under = (b.ConcatInDim(row, dimension=last) for row in ([real, -imag], [imag, real]))
    found = eigh(b, b.ConcatInDim([upper, under], dimension=last - 1))
    vectors, values = (b.GetTupleElement(found, i) for i in range(2))
    # Of each pair of equal values one vector is taken, made orthogonal to those before: a Gram-Schmidt sweep over all.
    parts = [b.SliceInDim(vectors, i * size, (i + 1) * size, 1, last - 1) for i in range(2)]
    columns = b.Complex(*parts)
    start = Shape.array(a.element_type, (*a.dims[:-2], size, 2 * size))
    basis = b.Full(start, 0.0)

    def step(k: XlaOp, basis: XlaOp, count: XlaOp, chosen: XlaOp, columns: XlaOp) -> list[XlaOp]:
        column = at(b, columns, k, -1)
        rest = column
        for _ in range(2):  # twice is enough
            share = b.Einsum("...ij,...i->...j", b.Conj(basis), rest)
            rest = rest - b.Einsum("...ij,...j->...i", basis, share)
        length = b.Sqrt(b.Sum(b.Real(rest * b.Conj(rest)), [rest.rank - 1]))
        taken = b.And(b.Gt(length, 0.5), b.Lt(count, size))
        safe = b.Select(taken, length, 1.0)
        unit = b.Div(rest, b.Complex(spread(b, safe, rest.dims, -1),
                                     b.Full(Shape.array(safe.element_type, rest.dims), 0.0)))
        mask = spread(b, taken, rest.dims, -1)
        basis = put(b, basis, b.Select(mask, unit, b.ZerosLike(unit)), k, -1)
        chosen = put(b, chosen, taken, k, -1)
        return [basis, count + b.ConvertElementType(taken, "s32"), chosen, columns]

    batch = a.dims[:-2]
    count = b.Full(Shape.array("s32", batch), 0)
    chosen = b.Full(Shape.array("pred", (*batch, 2 * size)), False)
    basis, _, chosen, _ = loop(b, 2 * size, step, [basis, count, chosen, columns])
    # Those that are taken go to the front, in order.
    places = b.Select(chosen, b.Iota(Shape.array("s32", chosen.dims), chosen.rank - 1), 2 * size)
    kept = [b.SliceInDim(b.GetTupleElement(b.SortByKey(keys, value, axis), 1), 0, size, 1,
                         axis)
            for keys, value, axis in ((spread(b, places, basis.dims, -2), basis, basis.rank - 1),
                                      (places, values, values.rank - 1))]
    return b.Tuple(kept)


def _in_order(b: Methods, vectors: XlaOp, values: XlaOp, is_descending: bool, *others: XlaOp) -> XlaOp:
    """Vectors (columns) and values, the values in order; `others` have columns that move along."""
    keys = [spread(b, values, m.dims, -2) for m in (vectors, *others)]
    columns = [b.GetTupleElement(b.SortByKey(k, m, m.rank - 1, is_descending), 1)
               for k, m in zip(keys, (vectors, *others), strict=True)]
    order = "SortDescending" if is_descending else "SortAscending"
    return b.Tuple([columns[0], b.today(order, values, values.rank - 1), *columns[1:]])


@function("SVD")
def svd(b: Methods, a: Any) -> XlaOp:
    """Singular vectors and values: a tuple (u, s, v) with A = u diag(s) v^H, s falling, the thin form."""
    made = _matrix(b, a, "Svd", kinds=(*_FLOATS, "c64", "c128"))
    rows, columns = made.dims[-2:]
    if rows < columns:
        found = svd(b, b.Conj(transpose_in_minor_dims(b, made)))
        u, s, v = (b.GetTupleElement(found, i) for i in range(3))
        return b.Tuple([v, s, u])
    vectors = eye(b, made, columns, columns)
    if columns > 1:
        first, second = _pairs(b, columns)
        count, limit = first.dims[0], _tolerance(made)
        # How far from orthogonal the worst pair of the round was, and of the last one.
        kind = _real_kind(made)
        worst, least = b.operand(float("inf"), kind), b.operand(0.0, kind)

        def step(k: XlaOp, matrix: XlaOp, v: XlaOp, now: XlaOp, last: XlaOp, ones: XlaOp, twos: XlaOp) -> list[XlaOp]:
            place = b.Rem(k, count)
            p, q = at(b, ones, place, -1), at(b, twos, place, -1)
            one, two = at(b, matrix, p, -1), at(b, matrix, q, -1)
            alpha, beta = (b.Sum(squares(b, x), [x.rank - 1]) for x in (one, two))
            gamma = b.Sum(b.Conj(one) * two, [one.rank - 1])
            if made.shape.dtype.is_complex:  # a factor of size one for column q makes the product real
                matrix, v, gamma = _with_real_product(b, matrix, v, q, gamma)
            scale = b.Sqrt(alpha * beta)
            angle = b.Abs(gamma) / b.Select(scale > 0.0, scale, 1.0)
            seen = b.ReduceMax(b.Select(scale > 0.0, angle, 0.0))
            now = b.Max(b.Select(b.Eq(place, 0), 0.0, now), seen)
            last = b.Select(b.Eq(place, count - 1), now, last)
            c, s = _rotation(b, alpha, beta, gamma)
            return [_turned(b, matrix, p, q, c, s, -1), _turned(b, v, p, q, c, s, -1), now, last, ones, twos]

        def is_needed(*values: XlaOp) -> XlaOp:
            return b.Gt(values[3], limit)

        made, vectors, *_ = loop(b, _ROUNDS * count, step, [made, vectors, least, worst, first, second], is_needed)
    lengths = b.Sqrt(b.Sum(squares(b, made), [made.rank - 2]))
    safe = b.Select(lengths > 0.0, lengths, 1.0)
    left = made / typed(b, spread(b, safe, made.dims, -2), made)
    found = _in_order(b, left, lengths, True, vectors)
    return b.Tuple([b.GetTupleElement(found, i) for i in range(3)])


def _with_real_product(b: Methods, matrix: XlaOp, v: XlaOp, q: XlaOp, gamma: XlaOp) -> tuple[XlaOp, XlaOp, XlaOp]:
    """Matrix and vectors with columns q times a number of size one; gamma's size, the product with column q then."""
    size = b.Abs(gamma)
    phase = b.Select(b.Eq(size, 0.0), b.OnesLike(gamma), b.Conj(gamma) / typed(b, one_if_zero(b, size), gamma))
    turned = []
    for table in (matrix, v):
        line = at(b, table, q, -1)
        turned.append(put(b, table, line * spread(b, phase, line.dims, -1), q, -1))
    return turned[0], turned[1], size


@function(name="SLogDet")
def sign_and_log_det(b: Methods, a: Any) -> XlaOp:
    """The sign of the determinant and the logarithm of its magnitude: a tuple."""
    made = _matrix(b, a, "SLogDet", is_square=True)
    form, taus = qr_form(b, made)
    diagonal = get_matrix_diagonal(b, form)
    # A reflection has the determinant -1; where there was nothing to reflect, its factor is zero.
    turns = b.Select(b.Eq(taus, 0.0), b.OnesLike(taus), -1.0)
    sign = b.Product(b.Sign(diagonal) * turns, [diagonal.rank - 1])
    return b.Tuple([sign, b.Sum(b.Log(b.Abs(diagonal)), [diagonal.rank - 1])])


@function()
def log_det(b: Methods, a: Any) -> XlaOp:
    """The logarithm of the determinant; NaN where that is negative."""
    found = sign_and_log_det(b, a)
    sign, value = (b.GetTupleElement(found, i) for i in range(2))
    return b.Select(b.Ge(sign, 0.0), value, float("nan"))


@function()
def solve(b: Methods, a: Any, b_: Any) -> XlaOp:
    """x with A x = b, for square matrices A and the columns of b."""
    made = _matrix(b, a, "Solve", is_square=True)
    found = qr(b, made)
    q, r = (b.GetTupleElement(found, i) for i in range(2))
    turned = batch_dot(b, q, b.operand(b_, made.element_type), True, False, "highest")
    return b.TriangularSolve(r, turned, True, False, False, "NO_TRANSPOSE")


@function()
def inverse(b: Methods, a: Any) -> XlaOp:
    """The inverse of square matrices."""
    made = _matrix(b, a, "Inverse", is_square=True)
    return solve(b, made, eye(b, made, made.dims[-1], made.dims[-1]))
