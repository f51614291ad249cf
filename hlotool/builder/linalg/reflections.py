"""Householder's reflections 1 - tau v v^H, with the signs that LAPACK gives them."""

from __future__ import annotations

from typing import NamedTuple

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.builder.linalg.loop_arrays import (
    as_columns,
    as_rows,
    at,
    conj,
    each,
    imaginary,
    is_complex,
    pick,
    places,
    real,
    spread,
    summed,
    typed,
)


class Reflection(NamedTuple):
    """A reflection for each of a batch: v [..., n] with v_k = 1 and zeros before it, beta and tau [...]."""

    vector: XlaOp
    beta: XlaOp
    tau: XlaOp


def reflection(b: XlaBuilder, x: XlaOp, k: XlaOp, end: XlaOp | int) -> Reflection:
    """The reflection that leaves, of the elements k to end - 1 of x, only beta in place k. Source: LAPACK, ?larfg.

    beta is real, and has the sign that cancels no digits; where there is nothing to reflect, tau is 0.
    """
    index = places(b, x.dims, -1)
    tail = pick(b, b.And(b.Gt(index, k), b.Lt(index, end)), x)
    alpha = at(b, x, k, -1)
    scale = b.ReduceMax(b.Max(b.Abs(real(b, tail)), b.Abs(imaginary(b, tail))), [x.rank - 1])
    safe = pick(b, b.Gt(scale, b.ZerosLike(scale)), scale, b.OnesLike(scale))
    parts = [b.Div(part(b, tail), each(b, safe, tail)) for part in (real, imaginary)]
    norm = b.Mul(safe, b.Sqrt(summed(b, b.Add(*(b.Mul(p, p) for p in parts)), -1)))
    still = b.And(b.Eq(norm, b.ZerosLike(norm)), b.Eq(imaginary(b, alpha), b.ZerosLike(norm)))
    length = hypot(b, hypot(b, real(b, alpha), imaginary(b, alpha)), norm)
    is_negative = b.Lt(real(b, alpha), b.ZerosLike(norm))
    moved = pick(b, is_negative, length, b.Neg(length))
    turned = pick(b, still, b.OnesLike(moved), moved)
    tau = b.Div(b.Sub(turned, real(b, alpha)), turned)
    if is_complex(x):
        tau = b.Complex(tau, b.Neg(b.Div(b.Imag(alpha), turned)))
    divisor = pick(b, still, b.OnesLike(alpha), b.Sub(alpha, typed(b, turned, alpha)))
    vector = pick(b, b.Eq(index, k), b.OnesLike(x), b.Div(tail, each(b, divisor, tail)))
    return Reflection(vector, pick(b, still, alpha, typed(b, moved, alpha)), pick(b, still, b.ZerosLike(tau), tau))


def hypot(b: XlaBuilder, x: XlaOp, y: XlaOp) -> XlaOp:
    """The square root of x^2 + y^2, which does not overflow on the way."""
    x, y = b.Abs(x), b.Abs(y)
    large, small = b.Max(x, y), b.Min(x, y)
    is_zero = b.Eq(large, b.ZerosLike(large))
    share = b.Div(small, pick(b, is_zero, b.OnesLike(large), large))
    return b.Mul(large, b.Sqrt(b.Add(b.OnesLike(share), b.Mul(share, share))))


def from_left(b: XlaBuilder, a: XlaOp, v: XlaOp, tau: XlaOp) -> XlaOp:
    """(1 - tau v v^H) a."""
    row = summed(b, b.Mul(as_columns(b, conj(b, v), a), a), -2)
    return b.Sub(a, b.Mul(as_columns(b, b.Mul(each(b, tau, v), v), a), as_rows(b, row, a)))


def from_right(b: XlaBuilder, a: XlaOp, v: XlaOp, tau: XlaOp) -> XlaOp:
    """a (1 - tau v v^H)."""
    column = summed(b, b.Mul(a, as_rows(b, v, a)), -1)
    return b.Sub(a, b.Mul(as_columns(b, column, a), as_rows(b, b.Mul(each(b, tau, v), conj(b, v)), a)))


def stored(b: XlaBuilder, a: XlaOp, k: XlaOp, row: XlaOp) -> XlaOp:
    """The vector of a reflection that stands in column k of a, below a row; a one in that row."""
    column = at(b, a, k, -1)
    index = places(b, column.dims, -1)
    return pick(b, b.Eq(index, row), b.OnesLike(column), pick(b, b.Gt(index, row), column))


def with_reflection(b: XlaBuilder, a: XlaOp, found: Reflection, k: XlaOp, row: XlaOp, end: XlaOp | int) -> XlaOp:
    """a with beta in a row of column k, and the vector's tail below it, down to the row before `end`."""
    right, down = places(b, a.dims, -1), places(b, a.dims, -2)
    column = pick(b, b.Eq(down, row), spread(b, found.beta, a.dims, -2, -1), as_columns(b, found.vector, a))
    here = b.And(b.And(b.Eq(right, k), b.Ge(down, row)), b.Lt(down, end))
    return pick(b, here, column, a)
