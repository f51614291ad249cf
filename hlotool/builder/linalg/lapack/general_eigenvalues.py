"""Eigenvalues, eigenvectors and Schur forms of matrices that are not symmetric."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import ml_dtypes

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.builder.linalg.lapack.real_blocks import pair_parts, triangular
from hlotool.builder.linalg.lapack.routine import Config, letter, routine
from hlotool.builder.linalg.lapack.schur import schur
from hlotool.builder.linalg.loop_arrays import (
    adjoint,
    as_columns,
    as_rows,
    at,
    is_complex,
    is_finite,
    loop,
    one_if_zero,
    pick,
    places,
    product,
    put,
    real,
    size_of,
    squares,
    summed,
    typed,
    zeros,
)
from hlotool.ir import Shape
from hlotool.passes.lift import Call

Found = list[XlaOp]


@routine("geev", 2)
def eigenvectors(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """Eigenvalues, and left and right eigenvectors of length 1; info.

    LAPACK balances a matrix before, which is not done here: eigenvalues may come in another order.
    """
    wants = [letter(config, name, "N") == "V" for name in ("compute_left", "compute_right")]

    def one(a: XlaOp) -> Found:
        found = schur(b, a)
        values = pair_parts(b, found.form)
        form, vectors = found.form, found.vectors
        if not is_complex(a):
            form, vectors = loop(b, a.dims[0] - 1, partial(triangular, b),
                                 [b.Complex(v, b.ZerosLike(v)) for v in (form, vectors)])
        sides = [_left_of(b, form) if wants[0] else None, _right_of(b, form) if wants[1] else None]
        if sides[0] is not None and not is_complex(a):
            sides[0] = b.Mul(sides[0], as_rows(b, _signs_of_pairs(b, found.form), form))
        made = [zeros(b, form.element_type, form.dims) if side is None else
                _as_lapack_gives(b, _unit(b, product(b, vectors, side)), None if is_complex(a) else values[1])
                for side in sides]
        return [*(values if not is_complex(a) else [b.Complex(*values)]), *made, found.info]

    return _each_matrix(b, operands[0], one, results)


def _is_unsorted(call: Call) -> None:
    call.expect(chr(call.config().get("sort", ord("N"))) == "N", "its eigenvalues are to be in an order of its own")


@routine("gees", 2, allow=_is_unsorted)
def schur_form(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """Schur's form, the unitary matrix that leads there, the eigenvalues, how many were chosen (none), and info."""

    def one(a: XlaOp) -> Found:
        found = schur(b, a)
        values = pair_parts(b, found.form)
        return [found.form, found.vectors, *(values if not is_complex(a) else [b.Complex(*values)]),
                zeros(b, "s32", ()), found.info]

    return _each_matrix(b, operands[0], one, results)


def _each_matrix(b: XlaBuilder, a: XlaOp, one: Callable[[XlaOp], Found], results: Sequence[Shape]) -> Found:
    """Return the results of `one` for each matrix of a batch; NaN, and info 1, for one that is not finite."""
    batch, size = a.dims[:-2], a.dims[-1]
    if size == 0:
        return [zeros(b, s.element_type, s.dims) for s in results]
    good = is_finite(b, a)
    safe = b.Select(b.BroadcastInDim(good, list(a.dims), range(len(batch))), a, b.ZerosLike(a))
    if not batch:
        made = one(safe)
    else:
        count = good.shape.size
        start = [zeros(b, s.element_type, (count, *s.dims[len(batch):])) for s in results]

        def step(i: XlaOp, matrices: XlaOp, *found: XlaOp) -> Found:
            new = one(_first(b, matrices, i))
            return [matrices, *(_with_first(b, f, n, i) for f, n in zip(found, new, strict=True))]

        flat = b.Reshape(safe, [count, size, size])
        made = [b.Reshape(v, list(s.dims))
                for v, s in zip(loop(b, count, step, [flat, *start])[1:], results, strict=True)]
    return [_where_good(b, good, value) for value in made]


def _first(b: XlaBuilder, table: XlaOp, index: XlaOp) -> XlaOp:
    return at(b, table, index, -table.rank)


def _with_first(b: XlaBuilder, table: XlaOp, new: XlaOp, index: XlaOp) -> XlaOp:
    return put(b, table, new, index, -table.rank)


def _where_good(b: XlaBuilder, good: XlaOp, value: XlaOp) -> XlaOp:
    """The value; elsewhere NaN, or 1 in numbers that tell what failed."""
    kind = value.element_type
    bad = b.Full(Shape.array(kind, value.dims), 1 if kind == "s32" else float("nan"))
    return b.Select(b.BroadcastInDim(good, list(value.dims), range(good.rank)), value, bad)


def _right_of(b: XlaBuilder, form: XlaOp) -> XlaOp:
    """Eigenvectors of an upper triangular matrix, from its last row up; none has an element above 1.

    Where two eigenvalues agree, they are held as far apart as rounding would move them. Source: LAPACK, ?trevc.
    """
    size, info = form.dims[-1], ml_dtypes.finfo(real(b, form).shape.dtype.numpy)
    eps, tiny = float(info.eps), float(info.tiny) * size / float(info.eps)

    def step(i: XlaOp, form: XlaOp, found: XlaOp) -> Found:
        row = b.Sub(b.ConstantR0(size - 1, "s32"), i)
        values, index = b.GetMatrixDiagonal(form), places(b, [size], -1)
        coefficients = pick(b, b.Gt(index, row), at(b, form, row, -2))
        known = summed(b, b.Mul(as_columns(b, coefficients, found), found), -2)
        apart = b.Sub(b.BroadcastInDim(at(b, values, row, -1), [size], []), values)
        least = b.Max(b.Mul(size_of(b, values), eps), tiny)
        apart = b.Select(b.Lt(size_of(b, apart), least), typed(b, least, apart), apart)
        new = pick(b, b.Gt(index, row), b.Neg(b.Div(known, apart)))
        new = pick(b, b.Eq(index, row), b.OnesLike(new), new)
        scale = typed(b, b.Max(size_of(b, new), 1), new)
        found = b.Div(found, as_rows(b, scale, found))
        return [form, put(b, found, b.Div(new, scale), row, -2)]

    return loop(b, size, step, [form, zeros(b, form.element_type, form.dims)])[1]


def _left_of(b: XlaBuilder, form: XlaOp) -> XlaOp:
    """Left eigenvectors of an upper triangular matrix: right ones of its adjoint, turned upside down."""
    return b.Rev(_right_of(b, b.Rev(adjoint(b, form), [0, 1])), [0, 1])


def _signs_of_pairs(b: XlaBuilder, form: XlaOp) -> XlaOp:
    """Return the factors of a real form's left vectors: as with right ones, LAPACK fixes the sign of the first part.

    It is that of the element beside the diagonal; columns of real eigenvalues keep theirs.
    """
    up, low = (b.PadInDim(b.GetMatrixDiagonal(form, k), 0, 0, 0, 1) for k in (1, -1)) if form.dims[0] > 1 else (
        b.ZerosLike(b.GetMatrixDiagonal(form)),) * 2
    signs = pick(b, b.Ne(low, b.ZerosLike(low)), b.Sign(up), b.OnesLike(up))
    return b.Complex(signs, b.ZerosLike(signs))


def _unit(b: XlaBuilder, vectors: XlaOp) -> XlaOp:
    """Columns of length 1."""
    length = one_if_zero(b, b.Sqrt(summed(b, squares(b, vectors), -2)))
    return b.Div(vectors, as_rows(b, typed(b, length, vectors), vectors))


def _as_lapack_gives(b: XlaBuilder, vectors: XlaOp, imaginary_parts: XlaOp | None) -> XlaOp:
    """Vectors turned until their largest element is real and positive.

    Of a real matrix it keeps the sign of its real part, those for real eigenvalues are real, and pairs have conjugates.
    """
    chosen = b.Eq(places(b, vectors.dims, -2), as_rows(b, b.ArgMax(squares(b, vectors), 0), vectors))
    largest = summed(b, pick(b, chosen, vectors), -2)
    length = one_if_zero(b, b.Abs(largest))
    if imaginary_parts is not None:
        length = b.Select(b.Lt(b.Real(largest), 0), b.Neg(length), length)
    turn = b.Div(b.Conj(largest), typed(b, length, largest))
    made = b.Mul(vectors, as_rows(b, turn, vectors))
    made = pick(b, chosen, _without_imaginary_part(b, made), made)
    if imaginary_parts is None:
        return made
    before = b.ConcatInDim([b.SliceInDim(made, 0, 1, 1, 1), b.SliceInDim(made, 0, made.dims[1] - 1, 1, 1)], 1)
    kind = as_rows(b, imaginary_parts, vectors)
    made = b.Select(b.Lt(kind, 0), b.Conj(before), made)
    return b.Select(b.Eq(kind, 0), _without_imaginary_part(b, vectors), made)


def _without_imaginary_part(b: XlaBuilder, value: XlaOp) -> XlaOp:
    return b.Complex(b.Real(value), b.ZerosLike(b.Real(value)))
