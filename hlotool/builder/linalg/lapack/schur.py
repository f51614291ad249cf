"""Schur's form of a square matrix, by QR iterations with shifts on its Hessenberg form. Source: LAPACK, ?lahqr.

One matrix at a time, for how many iterations it takes depends on its values. Complex matrices become triangular by
single shifts and reflections of two elements. Real ones stay real: double shifts and reflections of three leave blocks
of two on the diagonal, one for each pair of complex eigenvalues (hlotool.builder.linalg.lapack.real_blocks).
"""

from __future__ import annotations

from functools import partial
from typing import NamedTuple

import ml_dtypes

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.builder.linalg.lapack.factorisations import hessenberg_form
from hlotool.builder.linalg.lapack.real_blocks import standardised
from hlotool.builder.linalg.loop_arrays import (
    as_columns,
    at,
    cell,
    conj,
    eye,
    imaginary,
    is_complex,
    loop,
    one_if_zero,
    pick,
    places,
    put,
    real,
    size_of,
    stacked,
    typed,
)
from hlotool.builder.linalg.reflections import from_left, from_right, q_of, reflection
from hlotool.ir import Shape

#: iterations for each row, and those at which a shift that goes round in circles is replaced by another; as LAPACK has
_ROUNDS, _UNUSUAL = 30, (10, 20)


class Schur(NamedTuple):
    """a = vectors form vectors^H; info is 0, or the order of the part in which eigenvalues were not found."""

    form: XlaOp
    vectors: XlaOp
    info: XlaOp


def schur(b: XlaBuilder, a: XlaOp) -> Schur:
    """Schur's form of one matrix [n, n], n > 0, whose elements are finite."""
    size, width = a.dims[-1], 2 if is_complex(a) else 3
    scale = typed(b, _power_of_two(b, a), a)
    packed, taus = hessenberg_form(b, b.Div(a, scale))
    form, vectors = _below(b, packed, 1), _vectors_of(b, packed, taus)
    # Rows and columns of zeros at the end let every reflection have its full width.
    form = b.PadInDim(b.PadInDim(form, 0, 0, 0, width - 1), 0, 1, 0, width - 1)
    vectors = b.PadInDim(vectors, 0, 1, 0, width - 1)
    zero = b.ConstantR0(0, "s32")
    found = b.While(partial(_goes_on, b), partial(_iteration, b),
                    [form, vectors, b.ConstantR0(size - 1, "s32"), zero, zero])
    form, vectors, last = (b.GetTupleElement(found, n) for n in range(3))
    if width == 3:
        form, vectors = loop(b, size - 1, partial(standardised, b), [form, vectors])
    form, vectors = (b.Slice(v, [0, 0], [size, size], [1, 1]) for v in (form, vectors))
    info = b.Select(b.Gt(last, 0), b.Add(last, 1), zero)
    return Schur(b.Mul(_below(b, form, width - 2), scale), vectors, info)


def _power_of_two(b: XlaBuilder, a: XlaOp) -> XlaOp:
    """Near the largest element: dividing by it loses no digit, and keeps squares in the type's range."""
    largest = b.ReduceMax(b.Max(b.Abs(real(b, a)), b.Abs(imaginary(b, a))), [0, 1])
    return one_if_zero(b, b.ReducePrecision(b.Mul(largest, 0.5), 8 if largest.element_type == "f32" else 11, 0))


def _below(b: XlaBuilder, matrix: XlaOp, count: int) -> XlaOp:
    """The matrix with zeros below so many diagonals under the main one."""
    down, right = places(b, matrix.dims, -2), places(b, matrix.dims, -1)
    return pick(b, b.Le(down, b.Add(right, count)), matrix)


def _vectors_of(b: XlaBuilder, packed: XlaOp, taus: XlaOp) -> XlaOp:
    """The product of the reflections that lead to Hessenberg's form: they leave the first row alone."""
    size = packed.dims[-1]
    whole = eye(b, packed, size, size)
    if size < 2:
        return whole
    inner = q_of(b, b.Slice(packed, [1, 0], [size, size - 1], [1, 1]), taus, size - 1)
    return b.UpdateSlice(whole, inner, [1, 1])


def _goes_on(b: XlaBuilder, form: XlaOp, vectors: XlaOp, last: XlaOp, rounds: XlaOp, total: XlaOp) -> XlaOp:
    return b.And(b.Gt(last, 0), b.Lt(total, _ROUNDS * max(10, vectors.dims[0])))


def _iteration(b: XlaBuilder, form: XlaOp, vectors: XlaOp, last: XlaOp, rounds: XlaOp, total: XlaOp) -> list[XlaOp]:
    """Let small elements below the diagonal be zero; then leave the block that ends at `last`, or chase its bulge."""
    width = form.dims[0] - vectors.dims[0] + 1
    small = _small(b, form)
    is_below = b.Eq(places(b, form.dims, -2), b.Add(places(b, form.dims, -1), 1))
    form = pick(b, b.And(is_below, as_columns(b, small, form)), b.ZerosLike(form), form)
    index = places(b, small.dims, -1)
    first = b.ReduceMax(pick(b, b.And(small, b.Le(index, last)), index), [0])
    is_done = b.Lt(b.Sub(last, first), width - 1)
    start = (_start_of_two if width == 2 else _start_of_three)(b, form, first, last, rounds)
    # A block that is done is left without a step.
    found = b.While(partial(_is_inside, b), partial(_chase, b),
                    [first, form, vectors, first, b.Select(is_done, first, last), start])
    return [b.GetTupleElement(found, 1), b.GetTupleElement(found, 2),
            b.Select(is_done, b.Sub(first, 1), last),
            b.Select(is_done, b.ZerosLike(last), b.Add(rounds, 1)), b.Add(total, 1)]


def _small(b: XlaBuilder, form: XlaOp) -> XlaOp:
    """For each row whether its element below the diagonal is as good as zero, by Ahues and Tisseur's test."""
    info, rows = ml_dtypes.finfo(form.shape.dtype.numpy), form.dims[0]
    eps, tiny = float(info.eps), float(info.tiny) * rows / float(info.eps)
    middle = b.GetMatrixDiagonal(form)
    before, here = b.Slice(middle, [0], [rows - 1], [1]), b.Slice(middle, [1], [rows], [1])
    low, up = (size_of(b, b.GetMatrixDiagonal(form, k)) for k in (-1, 1))
    around = one_if_zero(b, b.Add(size_of(b, before), size_of(b, here)))
    apart = size_of(b, b.Sub(before, here))
    wide, narrow = b.Max(size_of(b, here), apart), b.Min(size_of(b, here), apart)
    large, less = b.Max(low, up), b.Min(low, up)
    total = one_if_zero(b, b.Add(wide, large))
    is_light = b.Le(b.Mul(less, b.Div(large, total)),
                    b.Max(b.Mul(b.Mul(narrow, b.Div(wide, total)), eps), tiny))
    found = b.Or(b.Le(low, tiny), b.And(b.Le(low, b.Mul(around, eps)), is_light))
    return b.ConcatInDim([b.Full(Shape.array("pred", (1,)), True), found], 0)


def _start_of_two(b: XlaBuilder, form: XlaOp, first: XlaOp, last: XlaOp, rounds: XlaOp) -> XlaOp:
    """The first column of form - shift; the shift is the eigenvalue of the last block that is nearer to its corner."""
    before, after, (once, twice) = b.Sub(last, 1), b.Add(first, 1), _UNUSUAL
    corner, low = cell(b, form, last, last), cell(b, form, last, before)
    cross = b.Mul(cell(b, form, before, last), low)
    half = b.Mul(b.Sub(cell(b, form, before, before), corner), 0.5)
    root = b.Sqrt(b.Add(b.Mul(half, half), cross))
    plus, minus = b.Add(half, root), b.Sub(half, root)
    divisor = b.Select(b.Ge(size_of(b, plus), size_of(b, minus)), plus, minus)
    is_zero = b.Eq(divisor, b.ZerosLike(divisor))
    usual = b.Sub(corner, b.Div(cross, b.Select(is_zero, b.OnesLike(divisor), divisor)))

    def unusual(low: XlaOp, row: XlaOp) -> XlaOp:
        return b.Add(cell(b, form, row, row), typed(b, b.Mul(b.Abs(b.Real(low)), 0.75), low))

    shift = b.Select(b.Eq(rounds, once), unusual(cell(b, form, after, first), first),
                     b.Select(b.Eq(rounds, twice), unusual(low, last), usual))
    return stacked(b, b.Sub(cell(b, form, first, first), shift), cell(b, form, after, first))


def _start_of_three(b: XlaBuilder, form: XlaOp, first: XlaOp, last: XlaOp, rounds: XlaOp) -> XlaOp:
    """The first column of (form - shift) (form - other shift), but for a factor: it is real, as both or neither are."""
    after, third = b.Add(first, 1), b.Add(first, 2)
    block = _shift_block(b, form, first, last, rounds)
    scale = one_if_zero(b, b.Add(b.Add(*map(b.Abs, block[:2])), b.Add(*map(b.Abs, block[2:]))))
    h11, h12, h21, h22 = (b.Div(h, scale) for h in block)
    mean = b.Mul(b.Add(h11, h22), 0.5)
    det = b.Sub(b.Mul(b.Sub(h11, mean), b.Sub(h22, mean)), b.Mul(h12, h21))
    root, is_pair = b.Sqrt(b.Abs(det)), b.Ge(det, 0)
    plus, minus = b.Add(mean, root), b.Sub(mean, root)
    nearer = b.Select(b.Le(b.Abs(b.Sub(plus, h22)), b.Abs(b.Sub(minus, h22))), plus, minus)
    shift = b.Mul(b.Select(is_pair, mean, nearer), scale)
    side = b.Mul(b.Select(is_pair, root, b.ZerosLike(root)), scale)
    low, rest = cell(b, form, after, first), b.Sub(cell(b, form, first, first), shift)
    whole = one_if_zero(b, b.Add(b.Add(b.Abs(rest), b.Abs(side)), b.Abs(low)))
    share = b.Div(low, whole)
    squares = b.Add(b.Mul(rest, b.Div(rest, whole)), b.Mul(side, b.Div(side, whole)))
    return stacked(b, b.Add(b.Mul(share, cell(b, form, first, after)), squares),
                   b.Mul(share, b.Add(rest, b.Sub(cell(b, form, after, after), shift))),
                   b.Mul(share, cell(b, form, third, after)))


def _shift_block(b: XlaBuilder, form: XlaOp, first: XlaOp, last: XlaOp, rounds: XlaOp) -> list[XlaOp]:
    """The block of two whose eigenvalues are the shifts, row by row."""
    before, after, third, (once, twice) = b.Sub(last, 1), b.Add(first, 1), b.Add(first, 2), _UNUSUAL
    usual = [cell(b, form, i, j) for i in (before, last) for j in (before, last)]

    def unusual(low: XlaOp, other: XlaOp, row: XlaOp) -> list[XlaOp]:
        part = b.Add(b.Abs(low), b.Abs(other))
        middle = b.Add(b.Mul(part, 0.75), cell(b, form, row, row))
        return [middle, b.Mul(part, -0.4375), part, middle]

    top = unusual(cell(b, form, after, first), cell(b, form, third, after), first)
    end = unusual(usual[2], cell(b, form, before, b.Sub(before, 1)), last)
    return [b.Select(b.Eq(rounds, once), t, b.Select(b.Eq(rounds, twice), e, u))
            for t, e, u in zip(top, end, usual, strict=True)]


def _is_inside(b: XlaBuilder, k: XlaOp, form: XlaOp, vectors: XlaOp, first: XlaOp, last: XlaOp, start: XlaOp) -> XlaOp:
    return b.Lt(k, last)


def _chase(b: XlaBuilder, k: XlaOp, form: XlaOp, vectors: XlaOp, first: XlaOp, last: XlaOp, start: XlaOp
           ) -> list[XlaOp]:
    """One reflection of rows and columns k, k + 1, ...: the first makes a bulge, those after it push it down."""
    (width,), zero, before = start.dims, b.ConstantR0(0, "s32"), b.Sub(k, 1)
    rows = b.DynamicSlice(form, [k, zero], [width, form.dims[1]])
    is_first, end = b.Eq(k, first), b.Sub(b.Add(last, 1), k)
    found = reflection(b, b.Select(is_first, start, at(b, rows, before, -1)), zero, end)
    rows = from_left(b, rows, found.vector, conj(b, found.tau))
    # What the reflection makes zero is zero, not nearly so.
    index, old = places(b, start.dims, -1), at(b, rows, before, -1)
    made = pick(b, b.Eq(index, 0), b.BroadcastInDim(found.beta, [width], []))
    stays = b.Or(b.BroadcastInDim(is_first, [width], []), b.Ge(index, end))
    rows = put(b, rows, pick(b, stays, old, made), before, -1)
    form = b.DynamicUpdateSlice(form, rows, [k, zero])

    def from_its_right(value: XlaOp) -> XlaOp:
        columns = b.DynamicSlice(value, [zero, k], [value.dims[0], width])
        return b.DynamicUpdateSlice(value, from_right(b, columns, found.vector, found.tau), [zero, k])

    return [b.Add(k, 1), from_its_right(form), from_its_right(vectors), first, last, start]
