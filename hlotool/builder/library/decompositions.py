"""Decompositions of matrices in the last two dimensions, by iteration: QR, SVD, eigenvalues; solutions with them.

Householder's reflections for QR; Jacobi's rotations for symmetric eigenvalues and singular values, each pair of
columns in turn, until nothing is left to turn. Of floats, f32 and f64.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.library.matrices import (
    batch_dot,
    get_matrix_diagonal,
    identity_matrix,
    symmetrize,
    transpose_in_minor_dims,
)
from hlotool.builder.problems import demand
from hlotool.ir import Shape
from hlotool.ir.arrays import np

if TYPE_CHECKING:
    from hlotool.builder.core import Core

#: rounds over all pairs, more than matrices of any size have been seen to need
_ROUNDS = 15


_FLOATS = ("f32", "f64")


def _matrix(b: Core, value: Any, what: str, is_square: bool = False, kinds: Sequence[str] = _FLOATS) -> XlaOp:
    made = b.operand(value)
    demand(made.shape.is_array and made.rank >= 2 and made.element_type in kinds, ARGUMENTS,
           f"{what} takes matrices of {', '.join(kinds[:-1])} or {kinds[-1]} in the last two dimensions; it is given "
           f"{made.shape.text(False)}")
    demand(min(made.dims[-2:]) > 0 and (not is_square or made.dims[-1] == made.dims[-2]), ARGUMENTS,
           f"{what} takes {'square' if is_square else 'non-empty'} matrices; it is given {made.shape.text(False)}")
    return made


def _eye(b: Core, like: XlaOp, size: int) -> XlaOp:
    """Identity matrices for each of a batch."""
    batch = like.dims[:-2]
    eye = identity_matrix(b, like.element_type, size)
    return b.today("BroadcastInDim", eye, [*batch, size, size], [len(batch), len(batch) + 1])


def _spread(b: Core, value: XlaOp, dims: Sequence[int], *missing: int) -> XlaOp:
    """A value in more dimensions: those counted from the end that it is missing."""
    gone = {d + len(dims) for d in missing}
    return b.today("BroadcastInDim", value, dims, [d for d in range(len(dims)) if d not in gone])


def _while(b: Core, limit: int, step: Callable[..., list[XlaOp]], init: Sequence[XlaOp],
           is_needed: Callable[..., XlaOp] | None = None) -> list[XlaOp]:
    """step(i, *values) for i below a limit, as long as is_needed(*values)."""
    def goes_on(i: XlaOp, *values: XlaOp) -> Any:
        below = b.today("Lt", i, limit)
        return below if is_needed is None else below & is_needed(*values)

    def body(i: XlaOp, *values: XlaOp) -> list[Any]:
        return [b.today("Add", i, 1), *step(i, *values)]

    loop = b.today("While", goes_on, body, [b.operand(0, "s32"), *init])
    return [b.today("GetTupleElement", loop, n + 1) for n in range(len(init))]


@function("QrDecomposition", name="QR")
def qr(b: Core, a: Any, full_matrices: bool = True) -> XlaOp:
    """A = Q R with Q orthogonal and R upper triangular: a tuple."""
    made = _matrix(b, a, "QR")
    rows, columns = made.dims[-2:]
    dims = made.dims

    def step(j: XlaOp, q: XlaOp, r: XlaOp) -> list[XlaOp]:
        zero = b.operand(0, "s32")
        starts = [zero] * (len(dims) - 1)
        x = b.today("Reshape", b.today("DynamicSlice", r, [*starts, j], [*dims[:-1], 1]), dims[:-1])
        place = b.today("Iota", Shape.array("s32", x.dims), x.rank - 1)
        x = b.today("Select", place >= j, x, 0.0)
        norm = b.today("Sqrt", b.today("Sum", x * x, [x.rank - 1]))
        head = b.today("Sum", b.today("Select", b.today("Eq", place, j), x, 0.0), [x.rank - 1])
        # The sign that adds: it cancels no digits.
        alpha = b.today("Select", head < 0.0, norm, -norm)
        v = x - b.today("Select", b.today("Eq", place, j), _spread(b, alpha, x.dims, -1), 0.0)
        length = b.today("Sum", v * v, [v.rank - 1])
        factor = b.today("Select", length > 0.0, 2.0 / b.today("Select", length > 0.0, length, 1.0), 0.0)
        return [_reflected(b, q, v, factor, False), _reflected(b, r, v, factor, True)]

    q, r = _while(b, min(rows - 1, columns), step, [_eye(b, made, rows), made])
    r = b.today("UpperTriangle", r)
    if not full_matrices and rows > columns:
        q = b.today("SliceInDim", q, 0, columns, 1, q.rank - 1)
        r = b.today("SliceInDim", r, 0, columns, 1, r.rank - 2)
    return b.today("Tuple", [q, r])


def _reflected(b: Core, matrix: XlaOp, v: XlaOp, factor: XlaOp, on_left: bool) -> XlaOp:
    """H M or M H for H = 1 - factor v v^T."""
    along = v.rank - 1
    batch = tuple(range(along))
    numbers = {"lhs_contracting_dimensions": (along,), "rhs_contracting_dimensions": (along if on_left else along + 1,),
               "lhs_batch_dimensions": batch, "rhs_batch_dimensions": batch}
    product = b.today("DotGeneral", v, matrix, numbers, "highest")
    column, row = (v, product) if on_left else (product, v)
    outer = _spread(b, column, matrix.dims, -1) * _spread(b, row, matrix.dims, -2)
    found: XlaOp = matrix - outer * _spread(b, factor, matrix.dims, -1, -2)
    return found


def _pairs(b: Core, size: int) -> list[XlaOp]:
    """All pairs p < q, as two constants."""
    first, second = np.triu_indices(size, 1)
    return [b.constant_of(first.astype(np.int32)), b.constant_of(second.astype(np.int32))]


def _pick(b: Core, table: XlaOp, k: XlaOp) -> XlaOp:
    return b.today("Reshape", b.today("DynamicSlice", table, [k], [1]), ())


def _line(b: Core, matrix: XlaOp, at: XlaOp, axis: int) -> XlaOp:
    """The row (axis -2) or column (axis -1) at an index, that dimension dropped."""
    axis += matrix.rank
    zero = b.operand(0, "s32")
    sizes = [1 if d == axis else n for d, n in enumerate(matrix.dims)]
    found = b.today("DynamicSlice", matrix, [at if d == axis else zero for d in range(matrix.rank)], sizes)
    return b.today("Reshape", found, [n for d, n in enumerate(matrix.dims) if d != axis])


def _with_line(b: Core, matrix: XlaOp, line: XlaOp, at: XlaOp, axis: int) -> XlaOp:
    axis += matrix.rank
    zero = b.operand(0, "s32")
    sizes = [1 if d == axis else n for d, n in enumerate(matrix.dims)]
    return b.today("DynamicUpdateSlice", matrix, b.today("Reshape", line, sizes),
                 [at if d == axis else zero for d in range(matrix.rank)])


def _turned(b: Core, matrix: XlaOp, p: XlaOp, q: XlaOp, c: XlaOp, s: XlaOp, axis: int) -> XlaOp:
    """Rows or columns p and q turned by an angle of cosine c and sine s."""
    one, two = _line(b, matrix, p, axis), _line(b, matrix, q, axis)
    cosine, sine = (_typed(b, _spread(b, n, one.dims, -1), one) for n in (c, s))
    found = _with_line(b, matrix, one * cosine - two * sine, p, axis)
    return _with_line(b, found, one * sine + two * cosine, q, axis)


def _typed(b: Core, value: XlaOp, like: XlaOp) -> XlaOp:
    """A real value in the element type of another one, which may be complex."""
    return b.today("Complex", value, b.today("ZerosLike", value)) if like.shape.dtype.is_complex else value


def _squares(b: Core, value: XlaOp) -> XlaOp:
    """The squares of magnitudes."""
    if not value.shape.dtype.is_complex:
        return b.today("Mul", value, value)
    parts = (b.today(part, value) for part in ("Real", "Imag"))
    return b.today("Add", *(b.today("Mul", part, part) for part in parts))


def _rotation(b: Core, alpha: XlaOp, beta: XlaOp, gamma: XlaOp) -> tuple[XlaOp, XlaOp]:
    """Cosine and sine that make the symmetric [[alpha, gamma], [gamma, beta]] diagonal."""
    is_turned = b.today("Ne", gamma, 0.0)
    zeta = (beta - alpha) / (2.0 * b.today("Select", is_turned, gamma, 1.0))
    root = b.today("Sqrt", 1.0 + zeta * zeta)
    t = b.today("Select", zeta >= 0.0, b.operand(1.0, zeta.element_type), -1.0) / (b.today("Abs", zeta) + root)
    t = b.today("Select", is_turned & b.today("IsFinite", t), t, 0.0)
    c = b.today("Rsqrt", 1.0 + t * t)
    return c, c * t


def _tolerance(made: XlaOp) -> float:
    return 2.0 ** -made.shape.with_element_type(_real_kind(made)).dtype.mantissa_bits


def _real_kind(made: XlaOp) -> str:
    """The element type of real parts."""
    return made.shape.dtype.component.name


@function("SelfAdjointEig")
def eigh(b: Core, a: Any, lower: bool = True, max_iter: int = 15, tol: float = 1e-5, sort_eigenvalues: bool = True
         ) -> XlaOp:
    """Eigenvectors (columns) and eigenvalues (rising) of symmetric matrices: a tuple (v, w); A v = v diag(w).

    Only the lower triangle is read, or the upper one; of complex (Hermitian) matrices likewise. `max_iter` and `tol`
    stand for XLA's: the rotations end where nothing is left to turn.
    """
    given = b.operand(a)
    if given.shape.is_array and given.rank >= 2 and given.dims[-1] == given.dims[-2] == 0:
        return b.today("Tuple", [given, b.today("Full", Shape.array(_real_kind(given), given.dims[:-1]), 0.0)])
    if given.shape.is_array and given.shape.dtype.is_complex:
        return _hermitian(b, symmetrize(b, given, lower), sort_eigenvalues)
    given = _matrix(b, given, "Eigh", is_square=True)
    size = given.dims[-1]
    made = symmetrize(b, given, lower)
    eye = _eye(b, made, size)
    if size > 1:
        first, second = _pairs(b, size)
        count, limit = first.dims[0], _tolerance(made)

        def step(k: XlaOp, matrix: XlaOp, vectors: XlaOp, ones: XlaOp, twos: XlaOp) -> list[XlaOp]:
            place = b.today("Rem", k, count)
            p, q = _pick(b, ones, place), _pick(b, twos, place)
            row_p, row_q = _line(b, matrix, p, -2), _line(b, matrix, q, -2)
            c, s = _rotation(b, _element(b, row_p, p), _element(b, row_q, q), _element(b, row_p, q))
            matrix = _turned(b, _turned(b, matrix, p, q, c, s, -2), p, q, c, s, -1)
            return [matrix, _turned(b, vectors, p, q, c, s, -1), ones, twos]

        def is_needed(matrix: XlaOp, vectors: XlaOp, ones: XlaOp, twos: XlaOp) -> XlaOp:
            off = b.today("Select", b.today("Eq", _eye(b, matrix, size), 1.0), 0.0, matrix)
            return b.today("Gt", b.today("ReduceMax", b.today("Abs", off)),
                         b.today("ReduceMax", b.today("Abs", matrix)) * (limit * 0.25))

        made, eye, _, _ = _while(b, _ROUNDS * count, step, [made, eye, first, second], is_needed)
    values = get_matrix_diagonal(b, made)
    return _in_order(b, eye, values, False) if sort_eigenvalues else b.today("Tuple", [eye, values])


def _hermitian(b: Core, a: XlaOp, sort_eigenvalues: bool) -> XlaOp:
    """Eigenvalues of Hermitian matrices, from the symmetric [[Re, -Im], [Im, Re]], which has each of them twice."""
    size = a.dims[-1]
    real, imag = b.today("Real", a), b.today("Imag", a)
    last = a.rank - 1
    upper, under = (b.today("ConcatInDim", row, dimension=last) for row in ([real, -imag], [imag, real]))
    found = eigh(b, b.today("ConcatInDim", [upper, under], dimension=last - 1))
    vectors, values = (b.today("GetTupleElement", found, i) for i in range(2))
    # Of each pair of equal values one vector is taken, made orthogonal to those before: a Gram-Schmidt sweep over all.
    parts = [b.today("SliceInDim", vectors, i * size, (i + 1) * size, 1, last - 1) for i in range(2)]
    columns = b.today("Complex", *parts)
    start = Shape.array(a.element_type, (*a.dims[:-2], size, 2 * size))
    basis = b.today("Full", start, 0.0)

    def step(k: XlaOp, basis: XlaOp, count: XlaOp, chosen: XlaOp, columns: XlaOp) -> list[XlaOp]:
        column = _line(b, columns, k, -1)
        rest = column
        for _ in range(2):  # twice is enough
            share = b.today("Einsum", "...ij,...i->...j", b.today("Conj", basis), rest)
            rest = rest - b.today("Einsum", "...ij,...j->...i", basis, share)
        length = b.today("Sqrt", b.today("Sum", b.today("Real", rest * b.today("Conj", rest)), [rest.rank - 1]))
        taken = b.today("And", b.today("Gt", length, 0.5), b.today("Lt", count, size))
        safe = b.today("Select", taken, length, 1.0)
        unit = b.today("Div", rest, b.today("Complex", _spread(b, safe, rest.dims, -1),
                                           b.today("Full", Shape.array(safe.element_type, rest.dims), 0.0)))
        mask = _spread(b, taken, rest.dims, -1)
        basis = _with_line(b, basis, b.today("Select", mask, unit, b.today("ZerosLike", unit)), k, -1)
        chosen = _with_row(b, chosen, taken, k)
        return [basis, count + b.today("ConvertElementType", taken, "s32"), chosen, columns]

    batch = a.dims[:-2]
    count = b.today("Full", Shape.array("s32", batch), 0)
    chosen = b.today("Full", Shape.array("pred", (*batch, 2 * size)), False)
    basis, _, chosen, _ = _while(b, 2 * size, step, [basis, count, chosen, columns])
    # Those that are taken go to the front, in order.
    places = b.today("Select", chosen, b.today("Iota", Shape.array("s32", chosen.dims), chosen.rank - 1), 2 * size)
    kept = [b.today("SliceInDim", b.today("GetTupleElement", b.today("SortByKey", keys, value, axis), 1), 0, size, 1,
                  axis)
            for keys, value, axis in ((_spread(b, places, basis.dims, -2), basis, basis.rank - 1),
                                      (places, values, values.rank - 1))]
    return b.today("Tuple", kept)


def _with_row(b: Core, line: XlaOp, value: XlaOp, at: XlaOp) -> XlaOp:
    """Rows with another element at an index."""
    zero = b.operand(0, "s32")
    return b.today("DynamicUpdateSlice", line, b.today("Reshape", value, [*value.dims, 1]),
                 [zero] * (line.rank - 1) + [at])


def _element(b: Core, line: XlaOp, at: XlaOp) -> XlaOp:
    """The element of each row at an index."""
    zero = b.operand(0, "s32")
    found = b.today("DynamicSlice", line, [zero] * (line.rank - 1) + [at], [*line.dims[:-1], 1])
    return b.today("Reshape", found, line.dims[:-1])


def _in_order(b: Core, vectors: XlaOp, values: XlaOp, is_descending: bool, *others: XlaOp) -> XlaOp:
    """Vectors (columns) and values, the values in order; `others` have columns that move along."""
    keys = [_spread(b, values, m.dims, -2) for m in (vectors, *others)]
    columns = [b.today("GetTupleElement", b.today("SortByKey", k, m, m.rank - 1, is_descending), 1)
               for k, m in zip(keys, (vectors, *others), strict=True)]
    order = "SortDescending" if is_descending else "SortAscending"
    return b.today("Tuple", [columns[0], b.today(order, values, values.rank - 1), *columns[1:]])


@function("SVD")
def svd(b: Core, a: Any) -> XlaOp:
    """Singular vectors and values: a tuple (u, s, v) with A = u diag(s) v^H, s falling, the thin form."""
    made = _matrix(b, a, "Svd", kinds=(*_FLOATS, "c64", "c128"))
    rows, columns = made.dims[-2:]
    if rows < columns:
        found = svd(b, b.today("Conj", transpose_in_minor_dims(b, made)))
        u, s, v = (b.today("GetTupleElement", found, i) for i in range(3))
        return b.today("Tuple", [v, s, u])
    vectors = _eye(b, made, columns)
    if columns > 1:
        first, second = _pairs(b, columns)
        count, limit = first.dims[0], _tolerance(made)
        # How far from orthogonal the worst pair of the round was, and of the last one.
        kind = _real_kind(made)
        worst, least = b.operand(float("inf"), kind), b.operand(0.0, kind)

        def step(k: XlaOp, matrix: XlaOp, v: XlaOp, now: XlaOp, last: XlaOp, ones: XlaOp, twos: XlaOp) -> list[XlaOp]:
            place = b.today("Rem", k, count)
            p, q = _pick(b, ones, place), _pick(b, twos, place)
            one, two = _line(b, matrix, p, -1), _line(b, matrix, q, -1)
            alpha, beta = (b.today("Sum", _squares(b, x), [x.rank - 1]) for x in (one, two))
            gamma = b.today("Sum", b.today("Conj", one) * two, [one.rank - 1])
            if made.shape.dtype.is_complex:  # a factor of size one for column q makes the product real
                matrix, v, gamma = _with_real_product(b, matrix, v, q, gamma)
            scale = b.today("Sqrt", alpha * beta)
            angle = b.today("Abs", gamma) / b.today("Select", scale > 0.0, scale, 1.0)
            seen = b.today("ReduceMax", b.today("Select", scale > 0.0, angle, 0.0))
            now = b.today("Max", b.today("Select", b.today("Eq", place, 0), 0.0, now), seen)
            last = b.today("Select", b.today("Eq", place, count - 1), now, last)
            c, s = _rotation(b, alpha, beta, gamma)
            return [_turned(b, matrix, p, q, c, s, -1), _turned(b, v, p, q, c, s, -1), now, last, ones, twos]

        def is_needed(*values: XlaOp) -> XlaOp:
            return b.today("Gt", values[3], limit)

        made, vectors, *_ = _while(b, _ROUNDS * count, step, [made, vectors, least, worst, first, second], is_needed)
    lengths = b.today("Sqrt", b.today("Sum", _squares(b, made), [made.rank - 2]))
    safe = b.today("Select", lengths > 0.0, lengths, 1.0)
    left = made / _typed(b, _spread(b, safe, made.dims, -2), made)
    found = _in_order(b, left, lengths, True, vectors)
    return b.today("Tuple", [b.today("GetTupleElement", found, i) for i in range(3)])


def _with_real_product(b: Core, matrix: XlaOp, v: XlaOp, q: XlaOp, gamma: XlaOp) -> tuple[XlaOp, XlaOp, XlaOp]:
    """Matrix and vectors with columns q times a number of size one; gamma's size, the product with column q then."""
    size = b.today("Abs", gamma)
    none = b.today("Eq", size, b.today("ZerosLike", size))
    safe = b.today("Select", none, b.today("OnesLike", size), size)
    phase = b.today("Select", none, b.today("OnesLike", gamma), b.today("Conj", gamma) / _typed(b, safe, gamma))
    turned = []
    for table in (matrix, v):
        line = _line(b, table, q, -1)
        turned.append(_with_line(b, table, line * _spread(b, phase, line.dims, -1), q, -1))
    return turned[0], turned[1], size


@function(name="SLogDet")
def sign_and_log_det(b: Core, a: Any) -> XlaOp:
    """The sign of the determinant and the logarithm of its magnitude: a tuple."""
    made = _matrix(b, a, "SLogDet", is_square=True)
    size = made.dims[-1]
    found = qr(b, made)
    diagonal = get_matrix_diagonal(b, b.today("GetTupleElement", found, 1))
    # Q is a product of size - 1 reflections, each of determinant -1, but for those of columns that are zero below.
    q_sign = _sign_of(b, b.today("GetTupleElement", found, 0), size)
    signs = b.today("Product", b.today("Sign", diagonal), [diagonal.rank - 1])
    return b.today("Tuple", [signs * q_sign, b.today("Sum", b.today("Log", b.today("Abs", diagonal)),
                                                    [diagonal.rank - 1])])


@function()
def log_det(b: Core, a: Any) -> XlaOp:
    """The logarithm of the determinant; NaN where that is negative."""
    found = sign_and_log_det(b, a)
    sign, value = (b.today("GetTupleElement", found, i) for i in range(2))
    return b.today("Select", b.today("Ge", sign, 0.0), value, float("nan"))


def _sign_of(b: Core, q: XlaOp, size: int) -> XlaOp:
    """The determinant of an orthogonal matrix: the product of signs of its elimination."""
    made = q

    def step(j: XlaOp, matrix: XlaOp, sign: XlaOp) -> list[XlaOp]:
        # Partial pivoting: the row with the greatest element of column j changes places with row j.
        column = _line(b, matrix, j, -1)
        place = b.today("Iota", Shape.array("s32", column.dims), column.rank - 1)
        height = b.today("Select", place >= j, b.today("Abs", column), -1.0)
        pivot = b.today("ArgMax", height, column.rank - 1)
        chosen = b.today("Eq", place, _spread(b, pivot, place.dims, -1))
        row = b.today("Sum", matrix * _spread(b, b.today("ConvertElementType", chosen, matrix.element_type),
                                               matrix.dims, -1), [matrix.rank - 2])
        here = _line(b, matrix, j, -2)
        moved = b.today("Select", _spread(b, chosen, matrix.dims, -1), _spread(b, here, matrix.dims, -2), matrix)
        moved = _with_line(b, moved, row, j, -2)
        head = _element(b, row, j)
        factors = _line(b, moved, j, -1) / _spread(b, head, column.dims, -1)
        factors = b.today("Select", place > j, factors, 0.0)
        turned = b.today("Select", b.today("Eq", pivot, j), b.operand(1.0, matrix.element_type), -1.0)
        sign = sign * turned * b.today("Sign", head)
        return [moved - _spread(b, factors, matrix.dims, -1) * _spread(b, row, matrix.dims, -2), sign]

    start = b.today("Full", Shape.array(q.element_type, q.dims[:-2]), 1.0)
    return _while(b, size, step, [made, start])[1]


@function()
def solve(b: Core, a: Any, b_: Any) -> XlaOp:
    """x with A x = b, for square matrices A and the columns of b."""
    made = _matrix(b, a, "Solve", is_square=True)
    found = qr(b, made)
    q, r = (b.today("GetTupleElement", found, i) for i in range(2))
    turned = batch_dot(b, q, b.operand(b_, made.element_type), True, False, "highest")
    return b.today("TriangularSolve", r, turned, True, False, False, "NO_TRANSPOSE")


@function()
def inverse(b: Core, a: Any) -> XlaOp:
    """The inverse of square matrices."""
    made = _matrix(b, a, "Inverse", is_square=True)
    return solve(b, made, _eye(b, made, made.dims[-1]))
