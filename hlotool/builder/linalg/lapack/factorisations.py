"""LU, Cholesky's, QR and Hessenberg's forms, one column after the other, as LAPACK leaves them."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.builder import XlaBuilder, XlaOp
from hlotool.builder.linalg.lapack.routine import Config, letter, routine, xla_call
from hlotool.builder.linalg.loop_arrays import (
    adjoint,
    as_columns,
    as_rows,
    at,
    conj,
    each,
    exchanged,
    loop,
    pick,
    places,
    put,
    real,
    size_of,
    spread,
    summed,
    typed,
    zeros,
)
from hlotool.builder.linalg.reflections import (
    from_left,
    from_right,
    q_of,
    qr_form,
    reflection,
    stored,
    with_column_reduced,
    with_reflection,
)
from hlotool.builder.linalg.systems import lu_form
from hlotool.ir import HloInstruction, Shape
from hlotool.ops import flow_of
from hlotool.passes.lift import Call

Found = list[XlaOp]


@routine("getrf", 2)
def lu(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """L and U with row exchanges, the rows exchanged with, from 1; info is the number of the first pivot of zero."""
    a, pivots, info = lu_form(b, operands[0], size_of)
    return [a, b.Add(pivots, 1), info]


@routine("potrf", 2)
def cholesky(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """One triangle is replaced by Cholesky's factor; info is the order of the first minor that is not positive."""
    (a,) = operands
    batch, lower = a.dims[:-2], letter(config, "uplo", "L") == "L"

    def step(k: XlaOp, low: XlaOp, info: XlaOp) -> Found:
        right = places(b, low.dims, -1)
        row = at(b, pick(b, b.Lt(right, k), low), k, -2)
        known = summed(b, b.Mul(pick(b, b.Lt(right, k), low), as_rows(b, conj(b, row), low)), -1)
        column = b.Sub(at(b, low, k, -1), known)
        index = places(b, column.dims, -1)
        pivot = real(b, at(b, column, k, -1))
        goes_on = b.Eq(info, 0)
        is_positive = b.Gt(pivot, b.ZerosLike(pivot))
        root = b.Sqrt(pick(b, is_positive, pivot, b.OnesLike(pivot)))
        new = pick(b, b.Eq(index, k), each(b, typed(b, pick(b, is_positive, root, pivot), column), column),
                   pick(b, each(b, is_positive, column), b.Div(column, each(b, typed(b, root, column), column)),
                        at(b, low, k, -1)))
        mask = b.And(b.Ge(index, k), each(b, goes_on, column))
        low = put(b, low, pick(b, mask, new, at(b, low, k, -1)), k, -1)
        number = b.BroadcastInDim(b.Add(k, 1), list(batch), [])
        return [low, pick(b, b.And(goes_on, b.Not(is_positive)), number, info)]

    low, info = loop(b, a.dims[-1], step, [a if lower else adjoint(b, a), zeros(b, "s32", batch)])
    if not lower:
        # The other triangle stays as it was given, and so does an imaginary diagonal where none is expected.
        down, right = places(b, a.dims, -2), places(b, a.dims, -1)
        return [pick(b, b.Le(down, right), adjoint(b, low), a), info]
    return [low, info]


@xla_call("Qr", 1)
@routine("geqrf", 2)
def qr(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """R above the diagonal, the tails of the reflections below it, and their factors."""
    return list(qr_form(b, operands[0]))


def _no_column_stays(call: Call) -> None:
    first: HloInstruction = call.operands[1]
    while first.opcode == "fusion" or flow_of(first).keeps_numbers:
        first = first.called_computations()[0].root if first.opcode == "fusion" else first.operands[0]
    literal = first.attributes.get("literal")
    call.expect(literal is not None and not literal.array.any(), "columns may have to stay in front")


@routine("geqp3", 2, 1, allow=_no_column_stays)
def qr_by_length(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """geqrf of the columns in the order of their remaining lengths, and that order, from 1."""
    a = operands[0]
    batch, (rows, columns), count = a.dims[:-2], a.dims[-2:], min(a.dims[-2:])

    def step(k: XlaOp, a: XlaOp, order: XlaOp, taus: XlaOp) -> Found:
        down = places(b, a.dims, -2)
        size = b.Abs(pick(b, b.Ge(down, k), a))
        length = summed(b, b.Mul(size, size), -2)
        index = places(b, length.dims, -1)
        length = pick(b, b.Ge(index, k), length, b.Sub(b.ZerosLike(length), b.OnesLike(length)))
        pivot = b.ArgMax(length, length.rank - 1)
        a, order = exchanged(b, a, k, pivot, -1), exchanged(b, order, k, pivot, -1)
        a, taus = with_column_reduced(b, k, a, taus, rows)
        return [a, order, taus]

    numbers = b.Add(places(b, (*batch, columns), -1), 1)
    return loop(b, count, step, [a, numbers, zeros(b, a.element_type, (*batch, count))])


@xla_call("ProductOfElementaryHouseholderReflectors", 2)
@routine("orgqr", 2, 1, letters="sd")
@routine("ungqr", 2, 1, letters="cz")
def q_of_reflections(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """The columns of the product of reflections."""
    a, taus = operands
    return [q_of(b, a, taus, a.dims[-1])]


@routine("ormqr", 2, 1, 2, letters="sd")
@routine("unmqr", 2, 1, 2, letters="cz")
def product_with_q(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """c times the product of reflections, or its adjoint, from the left or the right."""
    a, taus, c = operands
    left = bool(config["left"]) if "left" in config else letter(config, "side", "L") == "L"
    is_adjoint = config.get("transpose", config.get("trans", 0)) in (1, ord("T"), ord("C"))
    count = taus.dims[-1]

    def step(i: XlaOp, c: XlaOp, a: XlaOp, taus: XlaOp) -> Found:
        k = i if is_adjoint == left else b.Sub(b.ConstantR0(count - 1, "s32"), i)
        tau = at(b, taus, k, -1)
        tau = conj(b, tau) if is_adjoint else tau
        return [(from_left if left else from_right)(b, c, stored(b, a, k, k), tau), a, taus]

    return loop(b, count, step, [c, a, taus])[:1]


@routine("gehrd", 2)
def hessenberg(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """Hessenberg's form between rows `low` and `high`, and the reflections that lead there."""
    (a,) = operands
    return list(hessenberg_form(b, a, config.get("low", 1) - 1, config.get("high", a.dims[-1])))


def hessenberg_form(b: XlaBuilder, a: XlaOp, first: int = 0, end: int | None = None) -> tuple[XlaOp, XlaOp]:
    """Hessenberg's form with the tails of the reflections below it, and their factors."""
    size = a.dims[-1]
    last = size if end is None else end

    def step(i: XlaOp, a: XlaOp, taus: XlaOp) -> Found:
        k = b.Add(i, first)
        row = b.Add(k, 1)
        found = reflection(b, at(b, a, k, -1), row, last)
        down, right = places(b, a.dims, -2), places(b, a.dims, -1)
        a = pick(b, b.Lt(down, last), from_right(b, a, found.vector, found.tau), a)
        a = pick(b, b.Gt(right, k), from_left(b, a, found.vector, conj(b, found.tau)), a)
        return [with_reflection(b, a, found, k, row, last), put(b, taus, found.tau, k, -1)]

    taus = zeros(b, a.element_type, (*a.dims[:-2], max(size - 1, 0)))
    a, taus = loop(b, last - 1 - first, step, [a, taus])
    return a, taus


def _is_lower(call: Call) -> None:
    call.expect(chr(call.config().get("uplo", 0)) == "L", "the upper triangle is read, which is not written here")


@routine("sytrd", 2, letters="sd", allow=_is_lower)
@routine("hetrd", 2, letters="cz", allow=_is_lower)
def tridiagonal_form(b: XlaBuilder, operands: Sequence[XlaOp], config: Config, results: Sequence[Shape]) -> Found:
    """The tridiagonal form of a symmetric matrix: both diagonals, and the reflections that lead there."""
    (a,) = operands
    batch, size = a.dims[:-2], a.dims[-1]
    line = (*batch, max(size - 1, 0))

    def step(k: XlaOp, a: XlaOp, beside: XlaOp, taus: XlaOp) -> Found:
        row = b.Add(k, 1)
        found = reflection(b, at(b, a, k, -1), row, size)
        v, tau = found.vector, found.tau
        down, right = places(b, a.dims, -2), places(b, a.dims, -1)
        inside = b.And(b.Gt(down, k), b.Gt(right, k))
        whole = pick(b, inside, b.Symmetrize(a, True))
        x = b.Mul(each(b, tau, v), summed(b, b.Mul(whole, as_rows(b, v, a)), -1))
        share = b.Mul(tau, summed(b, b.Mul(conj(b, x), v), -1))
        half = b.Div(share, b.Add(b.OnesLike(share), b.OnesLike(share)))
        w = b.Sub(x, b.Mul(each(b, half, v), v))
        update = b.Add(b.Mul(as_columns(b, v, a), as_rows(b, conj(b, w), a)),
                       b.Mul(as_columns(b, w, a), as_rows(b, conj(b, v), a)))
        a = pick(b, b.And(inside, b.Ge(down, right)), b.Sub(a, update), a)
        a = with_reflection(b, a, found, k, row, size)
        return [a, put(b, beside, real(b, found.beta), k, -1), put(b, taus, tau, k, -1)]

    kind = results[1].element_type
    a, beside, taus = loop(b, size - 1, step, [a, zeros(b, kind, line), zeros(b, a.element_type, line)])
    middle = real(b, b.GetMatrixDiagonal(a))
    down, right = places(b, a.dims, -2), places(b, a.dims, -1)
    a = pick(b, b.Eq(down, right), typed(b, spread(b, middle, a.dims, -1), a), a)
    return [a, middle, beside, taus]
