"""Blocks of two on the diagonal of a real Schur form: triangular, or with one number twice on their diagonal.

Source: LAPACK, ?lanv2. The second kind stands for a pair of complex eigenvalues.
"""

from __future__ import annotations

import ml_dtypes

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.builder.linalg.loop_arrays import adjoint, cell, is_complex, one_if_zero, pick, places, product, stacked
from hlotool.builder.linalg.reflections import hypot


def standardised(b: XlaBuilder, k: XlaOp, form: XlaOp, vectors: XlaOp) -> list[XlaOp]:
    """Turn the block of two at k, where there is one, until it is of one of both kinds."""
    after = b.Add(k, 1)
    low = cell(b, form, after, k)
    is_block = b.Ne(low, b.ZerosLike(low))
    cosine, sine, is_pair = _turn(b, *(cell(b, form, i, j) for i in (k, after) for j in (k, after)))
    cosine, sine = b.Select(is_block, cosine, b.OnesLike(cosine)), b.Select(is_block, sine, b.ZerosLike(sine))
    form, vectors = turned(b, k, form, vectors, b.Reshape(stacked(b, cosine, sine, b.Neg(sine), cosine), [2, 2]))
    block = b.DynamicSlice(form, [k, k], [2, 2])
    mean = b.Mul(b.Add(cell(b, block, 0, 0), cell(b, block, 1, 1)), 0.5)
    down, right = places(b, [2, 2], -2), places(b, [2, 2], -1)
    pair = pick(b, b.Eq(down, right), b.BroadcastInDim(mean, [2, 2], []), block)
    block = b.Select(is_pair, pair, pick(b, b.Le(down, right), block))
    # Nothing is touched where there was no block: the element below is zero, as it was.
    block = b.Select(is_block, block, b.DynamicSlice(form, [k, k], [2, 2]))
    return [b.DynamicUpdateSlice(form, block, [k, k]), vectors]


def triangular(b: XlaBuilder, k: XlaOp, form: XlaOp, vectors: XlaOp) -> list[XlaOp]:
    """Make the block of a complex pair at k triangular, in complex numbers: the positive imaginary part comes first."""
    after = b.Add(k, 1)
    up, low = b.Real(cell(b, form, k, after)), b.Real(cell(b, form, after, k))
    is_block = b.Ne(low, b.ZerosLike(low))
    # The eigenvector of [[m, up], [low, m]] for m + i sqrt(-up low), in a form that neither part of can overflow; of
    # its two parts, the larger one is positive, as LAPACK has it.
    first, second = (b.Sqrt(b.Abs(v)) for v in (up, low))
    length = one_if_zero(b, hypot(b, first, second))
    first, second, sign = b.Div(first, length), b.Div(second, length), b.Sign(up)
    is_upper = b.Ge(b.Abs(up), b.Abs(low))
    first = b.Select(is_block, b.Select(is_upper, first, b.Mul(first, sign)), b.OnesLike(first))
    second = b.Select(is_block, b.Select(is_upper, b.Mul(second, sign), second), b.ZerosLike(second))
    none = b.ZerosLike(first)
    turn = b.Reshape(stacked(b, b.Complex(first, none), b.Complex(none, b.Neg(second)),
                             b.Complex(none, b.Neg(second)), b.Complex(first, none)), [2, 2])
    form, vectors = turned(b, k, form, vectors, turn)
    corner = cell(b, form, after, k)
    form = b.DynamicUpdateSlice(form, b.Reshape(b.ZerosLike(corner), [1, 1]), [after, k])
    return [form, vectors]


def turned(b: XlaBuilder, k: XlaOp, form: XlaOp, vectors: XlaOp, turn: XlaOp) -> list[XlaOp]:
    """turn form turn^H and vectors turn^H, of a unitary matrix for rows and columns k and k + 1."""
    zero, back = b.ConstantR0(0, "s32"), adjoint(b, turn)
    rows = b.DynamicSlice(form, [k, zero], [2, form.dims[1]])
    form = b.DynamicUpdateSlice(form, product(b, turn, rows), [k, zero])

    def from_its_right(value: XlaOp) -> XlaOp:
        columns = b.DynamicSlice(value, [zero, k], [value.dims[0], 2])
        return b.DynamicUpdateSlice(value, product(b, columns, back), [zero, k])

    return [from_its_right(form), from_its_right(vectors)]


def pair_parts(b: XlaBuilder, form: XlaOp) -> tuple[XlaOp, XlaOp]:
    """Real and imaginary parts of the eigenvalues of a standardised form [n, n]."""
    if is_complex(form):
        middle = b.GetMatrixDiagonal(form)
        return b.Real(middle), b.Imag(middle)
    middle = b.GetMatrixDiagonal(form)
    if form.dims[0] < 2:
        return middle, b.ZerosLike(middle)
    low, up = (b.Sqrt(b.Abs(b.GetMatrixDiagonal(form, k))) for k in (-1, 1))
    size = b.Mul(low, up)
    return middle, b.Sub(b.PadInDim(size, 0, 0, 0, 1), b.PadInDim(size, 0, 0, 1, 0))


def _turn(b: XlaBuilder, p: XlaOp, q: XlaOp, r: XlaOp, s: XlaOp) -> tuple[XlaOp, XlaOp, XlaOp]:
    """Cosine and sine that standardise [[p, q], [r, s]], r not 0; whether its eigenvalues are a complex pair."""
    zero, one = b.ZerosLike(p), b.OnesLike(p)
    gap, both = b.Mul(b.Sub(p, s), 0.5), b.Add(q, r)
    large = b.Max(b.Abs(q), b.Abs(r))
    less = b.Mul(b.Min(b.Abs(q), b.Abs(r)), b.Mul(b.Sign(q), b.Sign(r)))
    scale = one_if_zero(b, b.Max(b.Abs(gap), large))
    room = b.Add(b.Mul(b.Div(gap, scale), gap), b.Mul(b.Div(large, scale), less))
    # Two real eigenvalues, well apart.
    reach = b.Mul(b.Sqrt(scale), b.Sqrt(b.Max(room, zero)))
    reach = b.Add(gap, b.Select(b.Lt(gap, 0), b.Neg(reach), reach))
    length = one_if_zero(b, hypot(b, r, reach))
    apart = [b.Div(reach, length), b.Div(r, length)]
    # Else the diagonal is made one number twice.
    length = hypot(b, both, b.Add(gap, gap))
    share = b.Select(b.Eq(length, zero), one, b.Div(b.Abs(both), one_if_zero(b, length)))
    length = one_if_zero(b, length)
    cosine = b.Sqrt(b.Mul(b.Add(one, share), 0.5))
    sine = b.Neg(b.Div(b.Mul(gap, b.Select(b.Lt(both, 0), b.Neg(one), one)), b.Mul(length, cosine)))
    new_q, new_r = _off_diagonal(b, (p, q, r, s), cosine, sine)
    # Where both sides still have one sign, the eigenvalues are real and nearly agree.
    is_near = b.Gt(b.Mul(b.Sign(new_q), b.Sign(new_r)), 0)
    length = one_if_zero(b, b.Sqrt(b.Abs(b.Add(new_q, new_r))))
    on_cosine, on_sine = (b.Div(b.Sqrt(b.Abs(v)), length) for v in (new_q, new_r))
    near = [b.Sub(b.Mul(cosine, on_cosine), b.Mul(sine, on_sine)),
            b.Add(b.Mul(cosine, on_sine), b.Mul(sine, on_cosine))]
    # Or it is triangular, from below: both are exchanged.
    was_lower, is_lower = b.Eq(q, zero), b.And(b.Eq(new_q, zero), b.Ne(new_r, zero))
    is_apart = b.And(b.Ge(room, 4 * float(ml_dtypes.finfo(p.shape.dtype.numpy).eps)), b.Not(was_lower))
    found = [b.Select(was_lower, w, b.Select(is_apart, a, b.Select(is_lower, i, b.Select(is_near, n, c))))
             for w, a, i, n, c in zip((zero, one), apart, (b.Neg(sine), cosine), near, (cosine, sine), strict=True)]
    is_single = b.Or(b.Or(was_lower, is_apart), b.Or(b.Or(is_near, is_lower), b.Eq(new_r, zero)))
    return found[0], found[1], b.Not(is_single)


def _off_diagonal(b: XlaBuilder, block: tuple[XlaOp, XlaOp, XlaOp, XlaOp], cosine: XlaOp, sine: XlaOp
                  ) -> tuple[XlaOp, XlaOp]:
    """Return the elements beside the diagonal of a block after a turn."""
    p, q, r, s = block
    right = [b.Sub(b.Mul(q, cosine), b.Mul(p, sine)), b.Sub(b.Mul(s, cosine), b.Mul(r, sine))]
    left = [b.Add(b.Mul(p, cosine), b.Mul(q, sine)), b.Add(b.Mul(r, cosine), b.Mul(s, sine))]
    return (b.Add(b.Mul(right[0], cosine), b.Mul(right[1], sine)),
            b.Sub(b.Mul(left[1], cosine), b.Mul(left[0], sine)))
