"""Functions of the gamma family: incomplete gamma and beta functions, polygamma, Hurwitz's zeta, Bessel functions.

Series and continued fractions run in loops until nothing changes any more, in f64 inside where the operand is f64 and
in f32 else; their sources stand with them.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.library.special import digamma, lgamma, real
from hlotool.builder.problems import demand
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods

#: rounds after which a series or a fraction has settled wherever it is used
_ROUNDS = 2000


def _together(b: Methods, what: str, *values: Any) -> tuple[list[XlaOp], str]:
    """The operands as f64 of one shape, and the element type that the result is to have.

    Sums of many terms lose digits: f64 inside keeps those of every narrower type.
    """
    made = [real(b, v, what) for v in b.operands(*values)]
    kind = made[0].element_type
    demand(all(m.element_type == kind for m in made), ARGUMENTS,
           f"{what} takes floats of one type; they are {', '.join(m.shape.text(False) for m in made)}")
    wide = max((m.shape for m in made), key=lambda s: s.rank)
    zeros = b.Full(Shape.array("f64", wide.dims), 0.0)
    return [zeros + b.ConvertElementType(m, "f64") for m in made], kind


def _given_back(b: Methods, value: XlaOp, kind: str) -> XlaOp:
    return b.ConvertElementType(value, kind)


def _full(b: Methods, like: XlaOp, value: float) -> XlaOp:
    return b.Full(Shape.array("f64", like.dims), value)


def _until_settled(b: Methods, step: Callable[..., Sequence[XlaOp]], init: Sequence[XlaOp]) -> list[XlaOp]:
    """step(n, *values) for n = 1, 2, ... as long as its last value, a predicate, holds somewhere."""
    def goes_on(n: XlaOp, *values: XlaOp) -> XlaOp:
        return b.And(b.Lt(n, float(_ROUNDS)), b.Any(values[-1]))

    def body(n: XlaOp, *values: XlaOp) -> list[XlaOp]:
        return [n + 1.0, *step(n, *values)]

    start = b.Full(Shape.array("pred", init[0].dims), True)
    loop = b.While(goes_on, body, [b.operand(1.0, "f64"), *init, start])
    return [b.GetTupleElement(loop, i + 1) for i in range(len(init))]


def _settles(b: Methods, term: XlaOp, total: XlaOp) -> XlaOp:
    """Where a term still changes a sum."""
    return b.Gt(b.Abs(term), b.Abs(total) * 2.0**-54)


def _series(b: Methods, a: XlaOp, x: XlaOp) -> tuple[XlaOp, XlaOp]:
    """The sum of x^n / ((a + 1) ... (a + n)), and its slope in a. Source: DLMF 8.11.4."""
    one, zero = _full(b, x, 1.0), _full(b, x, 0.0)

    def step(n: XlaOp, term: XlaOp, total: XlaOp, slope: XlaOp, whole: XlaOp, a: XlaOp, x: XlaOp, on: XlaOp
             ) -> list[XlaOp]:
        slope = (slope - term / (a + n)) * x / (a + n)
        term = term * x / (a + n)
        on = _settles(b, term, total) | _settles(b, slope, whole)
        return [term, total + term, slope, whole + slope, a, x, on]

    found = _until_settled(b, step, [one, one, zero, zero, a, x])
    return found[1], found[3]


def _fraction(b: Methods, a: XlaOp, x: XlaOp) -> XlaOp:
    """Q(a, x) Gamma(a) e^x x^-a. Source: DLMF 8.9.2, by Lentz's method."""
    tiny = 1e-300
    start = x + 1.0 - a

    def step(n: XlaOp, c: XlaOp, d: XlaOp, h: XlaOp, middle: XlaOp, a: XlaOp, on: XlaOp) -> list[XlaOp]:
        factor = n * (a - n)
        middle = middle + 2.0
        d = factor * d + middle
        d = 1.0 / b.Select(b.Eq(d, 0.0), _full(b, d, tiny), d)
        c = middle + factor / c
        c = b.Select(b.Eq(c, 0.0), _full(b, c, tiny), c)
        change = c * d
        on = b.Gt(b.Abs(change - 1.0), 2.0**-52)
        return [c, d, h * change, middle, a, on]

    first = 1.0 / b.Select(b.Eq(start, 0.0), _full(b, start, tiny), start)
    return _until_settled(b, step, [_full(b, x, 1.0 / tiny), first, first, start, a])[2]


def _both(b: Methods, a: XlaOp, x: XlaOp) -> tuple[XlaOp, XlaOp]:
    """P(a, x) and Q(a, x): the series where x is small, the fraction beyond."""
    is_small = (x <= 1.0) | (x <= a)
    inside = (x > 0.0) & (a > 0.0) & b.IsFinite(x) & b.IsFinite(a)
    front = b.Exp(a * b.Log(b.Select(inside, x, 1.0)) - x - lgamma(b, b.Select(inside, a, 1.0)))
    total, _ = _series(b, b.Select(inside & is_small, a, 1.0), b.Select(inside & is_small, x, 0.5))
    lower = front * total / b.Select(inside, a, 1.0)
    upper = front * _fraction(b, b.Select(inside & ~is_small, a, 1.0), b.Select(inside & ~is_small, x, 2.0))
    p, q = b.Select(is_small, lower, 1.0 - upper), b.Select(is_small, 1.0 - lower, upper)
    nan = b.IsNan(x) | b.IsNan(a) | (x < 0.0) | (a <= 0.0) | (
        b.IsInf(a) & b.IsInf(x))
    ends = []
    for value, at_zero in ((p, 0.0), (q, 1.0)):
        found = b.Select(b.Eq(x, 0.0) | b.IsInf(a), _full(b, x, at_zero), value)
        found = b.Select(b.IsInf(x), _full(b, x, 1.0 - at_zero), found)
        ends.append(b.Select(nan, _full(b, x, math.nan), found))
    return ends[0], ends[1]


@function()
def igamma(b: Methods, a: Any, x: Any) -> XlaOp:
    """The lower incomplete gamma function P(a, x), between 0 and 1; NaN where a is not positive or x is negative."""
    (first, second), kind = _together(b, "Igamma", a, x)
    return _given_back(b, _both(b, first, second)[0], kind)


@function()
def igammac(b: Methods, a: Any, x: Any) -> XlaOp:
    """The upper incomplete gamma function Q(a, x) = 1 - P(a, x), exact also where it is small."""
    (first, second), kind = _together(b, "Igammac", a, x)
    return _given_back(b, _both(b, first, second)[1], kind)


def _slope_in_a(b: Methods, a: XlaOp, x: XlaOp) -> XlaOp:
    """dP(a, x)/da: the slope of the series, which converges for every x that is not far beyond a."""
    inside = (x > 0.0) & (a > 0.0) & b.IsFinite(x) & b.IsFinite(a)
    alpha, place = b.Select(inside, a, 1.0), b.Select(inside, x, 1.0)
    total, slope = _series(b, alpha, place)
    log_front = alpha * b.Log(place) - place - lgamma(b, alpha + 1.0)
    found = b.Exp(log_front) * (total * (b.Log(place) - digamma(b, alpha + 1.0)) + slope)
    found = b.Select(inside, found, _full(b, x, math.nan))
    return b.Select(b.Eq(x, 0.0) & (a > 0.0), _full(b, x, 0.0), found)


@function()
def igamma_grad_a(b: Methods, a: Any, x: Any) -> XlaOp:
    """The slope of Igamma(a, x) in a."""
    (first, second), kind = _together(b, "IgammaGradA", a, x)
    return _given_back(b, _slope_in_a(b, first, second), kind)


@function()
def random_gamma_grad(b: Methods, a: Any, x: Any) -> XlaOp:
    """How a sample x of the gamma distribution moves with its shape a: -(dP/da) / (dP/dx)."""
    (first, second), kind = _together(b, "RandomGammaGrad", a, x)
    density = b.Exp((first - 1.0) * b.Log(second) - second - lgamma(b, first))
    return _given_back(b, -_slope_in_a(b, first, second) / density, kind)


#: B(2k) / (2k)!, k = 1, 2, ...: Euler and Maclaurin's terms
_BERNOULLI = (1 / 12, -1 / 720, 1 / 30240, -1 / 1209600, 1 / 47900160, -691 / 1307674368000, 1 / 74724249600,
              -3617 / 10670622842880000)


@function()
def zeta(b: Methods, x: Any, q: Any) -> XlaOp:
    """Hurwitz's zeta function, the sum of (q + n)^-x for n = 0, 1, ...; NaN for x < 1. Source: DLMF 25.11.7."""
    (s, start), kind = _together(b, "Zeta", x, q)
    total = _full(b, s, 0.0)
    for n in range(12):
        total = total + b.Pow(start + float(n), -s)
    end = start + 12.0
    tail = b.Pow(end, -s)
    total = total + tail * end / (s - 1.0) + tail * 0.5
    factor, power = s, tail / end
    for k, coefficient in enumerate(_BERNOULLI):
        total = total + power * factor * coefficient
        factor = factor * (s + (2.0 * k + 1.0)) * (s + (2.0 * k + 2.0))
        power = power / (end * end)
    pole = (start <= 0.0) & b.Eq(start, b.Floor(start))
    undefined = (s < 1.0) | ((start <= 0.0) & b.Ne(s, b.Floor(s)))
    found = b.Select(pole | b.Eq(s, 1.0), _full(b, s, math.inf), total)
    return _given_back(b, b.Select(undefined, _full(b, s, math.nan), found), kind)


@function()
def polygamma(b: Methods, n: Any, x: Any) -> XlaOp:
    """The n-th slope of Digamma, for n = 0, 1, ...; NaN for other n."""
    (order, place), kind = _together(b, "Polygamma", n, x)
    plain = digamma(b, place)
    sign = b.Select(b.Eq(b.Rem(order, 2.0), 0.0), _full(b, order, -1.0), 1.0)
    higher = sign * b.Exp(lgamma(b, order + 1.0)) * zeta(b, order + 1.0, place)
    found = b.Select(b.Eq(order, 0.0), plain, higher)
    wrong = (order < 0.0) | b.Ne(order, b.Floor(order))
    return _given_back(b, b.Select(wrong, _full(b, order, math.nan), found), kind)


@function()
def regularized_incomplete_beta(b: Methods, a: Any, b_: Any, x: Any) -> XlaOp:
    """I_x(a, b), the share of the beta function's integral below x; NaN outside. Source: DLMF 8.17.22."""
    (first, second, place), kind = _together(b, "RegularizedIncompleteBeta", a, b_, x)
    valid = (first > 0.0) & (second > 0.0) & (place >= 0.0) & (place <= 1.0)
    turned = place > (first + 1.0) / (first + second + 2.0)
    one = _full(b, place, 1.0)
    p = b.Select(valid, b.Select(turned, second, first), one)
    q = b.Select(valid, b.Select(turned, first, second), one)
    at = b.Select(valid, b.Select(turned, 1.0 - place, place), one * 0.5)

    def step(m: XlaOp, c: XlaOp, d: XlaOp, h: XlaOp, p: XlaOp, q: XlaOp, at: XlaOp, on: XlaOp) -> list[XlaOp]:
        for factor in (m * (q - m) * at / ((p + 2.0 * m - 1.0) * (p + 2.0 * m)),
                       -(p + m) * (p + q + m) * at / ((p + 2.0 * m) * (p + 2.0 * m + 1.0))):
            d = 1.0 / (1.0 + factor * d)
            c = 1.0 + factor / c
            change = c * d
            h = h * change
        return [c, d, h, p, q, at, b.Gt(b.Abs(change - 1.0), 2.0**-52)]

    start = 1.0 / (1.0 - (p + q) * at / (p + 1.0))
    fraction = _until_settled(b, step, [one, start, start, p, q, at])[2]
    inner = (at > 0.0) & (at < 1.0)
    safe = b.Select(inner, at, one * 0.5)
    logs = p * b.Log(safe) + q * b.Log1p(-safe) + lgamma(b, p + q) - lgamma(b, p) - lgamma(b, q)
    share = b.Select(inner, b.Exp(logs) * fraction / p, at)
    found = b.Select(turned, 1.0 - share, share)
    return _given_back(b, b.Select(valid, found, _full(b, place, math.nan)), kind)


def _scaled_bessel(b: Methods, operand: Any, what: str, order: int) -> XlaOp:
    """e^-|x| I_n(x): the power series up to 20, the asymptotic one beyond. Source: DLMF 10.25.2 and 10.40.1."""
    (x,), kind = _together(b, what, operand)
    size = b.Abs(x)
    is_small = size <= 20.0
    near, far = b.Select(is_small, size, 1.0), b.Select(is_small, _full(b, x, 30.0), size)
    half = near * near * 0.25
    term = _full(b, x, 1.0) if order == 0 else near * 0.5
    total = term
    for k in range(1, 61):
        term = term * half / float(k * (k + order))
        total = total + term
    total = total * b.Exp(-near)
    mu, step, tail = 4.0 * order * order, _full(b, x, 1.0), _full(b, x, 1.0)
    for k in range(1, 21):
        step = step * -(mu - (2.0 * k - 1.0) ** 2) / (far * (8.0 * k))
        tail = tail + step
    tail = tail * b.Rsqrt(far * (2.0 * math.pi))
    found = b.Select(is_small, total, tail)
    found = b.Select(b.IsInf(x), _full(b, x, 0.0), found)
    return _given_back(b, found * b.Sign(x) if order else found, kind)


@function()
def bessel_i0e(b: Methods, operand: Any) -> XlaOp:
    """e^-|x| times the modified Bessel function I0."""
    return _scaled_bessel(b, operand, "BesselI0e", 0)


@function()
def bessel_i1e(b: Methods, operand: Any) -> XlaOp:
    """e^-|x| times the modified Bessel function I1."""
    return _scaled_bessel(b, operand, "BesselI1e", 1)
