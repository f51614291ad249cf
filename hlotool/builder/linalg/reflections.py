"""Householder's reflections 1 - tau v v^H, with the signs that LAPACK gives them."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from hlotool.builder.handles import XlaOp
from hlotool.builder.linalg.loop_arrays import (
    as_columns,
    as_rows,
    at,
    conj,
    each,
    eye,
    imaginary,
    is_complex,
    loop,
    pick,
    places,
    put,
    real,
    spread,
    summed,
    typed,
    zeros,
)

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


class Reflection(NamedTuple):
    """A reflection for each of a batch: v [..., n] with v_k = 1 and zeros before it, beta and tau [...]."""

    vector: XlaOp
    beta: XlaOp
    tau: XlaOp


def reflection(b: Methods, x: XlaOp, k: XlaOp, end: XlaOp | int) -> Reflection:
    """Return the reflection that leaves, of the elements k to end - 1 of x, only beta in place k.

    Source: LAPACK, ?larfg.

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


def hypot(b: Methods, x: XlaOp, y: XlaOp) -> XlaOp:
    """Return the square root of x^2 + y^2, which does not overflow on the way."""
    x, y = b.Abs(x), b.Abs(y)
    large, small = b.Max(x, y), b.Min(x, y)
    is_zero = b.Eq(large, b.ZerosLike(large))
    share = b.Div(small, pick(b, is_zero, b.OnesLike(large), large))
    return b.Mul(large, b.Sqrt(b.Add(b.OnesLike(share), b.Mul(share, share))))


def from_left(b: Methods, a: XlaOp, v: XlaOp, tau: XlaOp) -> XlaOp:
    """Return (1 - tau v v^H) a."""
    row = summed(b, b.Mul(as_columns(b, conj(b, v), a), a), -2)
    return b.Sub(a, b.Mul(as_columns(b, b.Mul(each(b, tau, v), v), a), as_rows(b, row, a)))


def from_right(b: Methods, a: XlaOp, v: XlaOp, tau: XlaOp) -> XlaOp:
    """Return a (1 - tau v v^H)."""
    column = summed(b, b.Mul(a, as_rows(b, v, a)), -1)
    return b.Sub(a, b.Mul(as_columns(b, column, a), as_rows(b, b.Mul(each(b, tau, v), conj(b, v)), a)))


def stored(b: Methods, a: XlaOp, k: XlaOp, row: XlaOp) -> XlaOp:
    """Return the vector of a reflection that stands in column k of a, below a row; a one in that row."""
    column = at(b, a, k, -1)
    index = places(b, column.dims, -1)
    return pick(b, b.Eq(index, row), b.OnesLike(column), pick(b, b.Gt(index, row), column))


def with_reflection(b: Methods, a: XlaOp, found: Reflection, k: XlaOp, row: XlaOp, end: XlaOp | int) -> XlaOp:
    """Return a with beta in a row of column k, and the vector's tail below it, down to the row before `end`."""
    right, down = places(b, a.dims, -1), places(b, a.dims, -2)
    column = pick(b, b.Eq(down, row), spread(b, found.beta, a.dims, -2, -1), as_columns(b, found.vector, a))
    here = b.And(b.And(b.Eq(right, k), b.Ge(down, row)), b.Lt(down, end))
    return pick(b, here, column, a)


def qr_form(b: Methods, a: XlaOp) -> tuple[XlaOp, XlaOp]:
    """Return R on and above the diagonal with the tails of the reflections below it, and their factors."""
    rows, count = a.dims[-2], min(a.dims[-2:])

    def step(k: XlaOp, a: XlaOp, taus: XlaOp) -> list[XlaOp]:
        return with_column_reduced(b, k, a, taus, rows)

    a, taus = loop(b, count, step, [a, zeros(b, a.element_type, (*a.dims[:-2], count))])
    return a, taus


def with_column_reduced(b: Methods, k: XlaOp, a: XlaOp, taus: XlaOp, rows: int) -> list[XlaOp]:
    """Return a and the factors after one more column of a QR form."""
    found = reflection(b, at(b, a, k, -1), k, rows)
    rest = from_left(b, a, found.vector, conj(b, found.tau))
    a = pick(b, b.Gt(places(b, a.dims, -1), k), rest, a)
    return [with_reflection(b, a, found, k, k, rows), put(b, taus, found.tau, k, -1)]


def q_of(b: Methods, a: XlaOp, taus: XlaOp, columns: int) -> XlaOp:
    """Return so many columns of the product of reflections."""
    count = taus.dims[-1]

    def step(i: XlaOp, q: XlaOp, a: XlaOp, taus: XlaOp) -> list[XlaOp]:
        k = b.Sub(b.operand(count - 1, "s32"), i)
        return [from_left(b, q, stored(b, a, k, k), at(b, taus, k, -1)), a, taus]

    return loop(b, count, step, [eye(b, a, a.dims[-2], columns), a, taus])[0]
