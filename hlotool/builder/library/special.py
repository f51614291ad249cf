"""Functions of numbers that HLO has no operation for."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def real(b: Methods, value: Any, what: str) -> XlaOp:
    """An operand of floats. XLA: EnsureOperandIsRealFp."""
    made = b.operand(value)
    demand(made.shape.is_array and made.shape.dtype.is_floating, ARGUMENTS,
           f"{what} takes floats; the operand is {made.shape.text(False)}")
    return made


def _polynomial(x: XlaOp, coefficients: Sequence[float]) -> Any:
    """Horner's scheme, the highest power first."""
    found: Any = coefficients[0]
    for c in coefficients[1:]:
        found = found * x + c
    return found


@function()
def square(b: Methods, operand: Any) -> XlaOp:
    """x times x."""
    made = b.operand(operand)
    return b.Mul(made, made)


@function()
def reciprocal(b: Methods, operand: Any) -> XlaOp:
    """1 / x."""
    return b.Div(1.0, operand)


@function()
def round_to_even(b: Methods, operand: Any) -> XlaOp:
    """RoundNearestEven under the name that C++'s library has for it."""
    return b.RoundNearestEven(operand)


@function()
def is_nan(b: Methods, operand: Any) -> XlaOp:
    """Where a float is not a number."""
    made = real(b, operand, "IsNan")
    return b.Ne(made, made)


@function()
def is_inf(b: Methods, operand: Any) -> XlaOp:
    """Where a float is infinite, of either sign."""
    return b.Eq(b.Abs(real(b, operand, "IsInf")), math.inf)


@function()
def is_pos_inf(b: Methods, operand: Any) -> XlaOp:
    """Where a float is plus infinity."""
    return b.Eq(real(b, operand, "IsPosInf"), math.inf)


@function()
def is_neg_inf(b: Methods, operand: Any) -> XlaOp:
    """Where a float is minus infinity."""
    return b.Eq(real(b, operand, "IsNegInf"), -math.inf)


@function()
def is_neg_zero(b: Methods, operand: Any) -> XlaOp:
    """Where a float is -0."""
    made = real(b, operand, "IsNegZero")
    found: XlaOp = (made == 0.0) & (b.Div(1.0, made) < 0.0)
    return found


@function()
def atan(b: Methods, operand: Any) -> XlaOp:
    """The angle whose tangent the operand is."""
    made = b.operand(operand)
    if not made.shape.is_array or not made.shape.dtype.is_complex:
        return b.Atan2(real(b, made, "Atan"), 1.0)
    # Source: DLMF 4.23.26.
    turned = made * 1j
    found: XlaOp = (b.Log1p(turned) - b.Log1p(-turned)) * -0.5j
    return found


@function()
def conj(b: Methods, operand: Any) -> XlaOp:
    """The complex conjugate; floats stay themselves."""
    made = b.operand(operand)
    if not made.shape.dtype.is_complex:
        return made
    return b.Complex(b.Real(made), b.Neg(b.Imag(made)))


@function()
def next_after(b: Methods, from_: Any, to: Any) -> XlaOp:
    """The float after one in the direction of another."""
    start, goal = b.operands(from_, to)
    bits = start.shape.dtype.bits
    kind = f"s{bits}"
    sign_bit = -(1 << (bits - 1))
    word = b.BitcastConvertType(start, kind)
    is_up = b.Eq(start < goal, start > 0.0)
    stepped = word + b.Select(is_up, b.operand(1, kind), b.operand(-1, kind))
    least = b.Select(goal > 0.0, b.operand(1, kind), b.operand(sign_bit + 1, kind))
    moved = b.BitcastConvertType(b.Select(start == 0.0, least, stepped), start.element_type)
    found = b.Select(start == goal, goal, moved)
    return b.Select(is_nan(b, start) | is_nan(b, goal), start + goal, found)


#: W. J. Giles, "Approximating the erfinv function": w < 5, and sqrt(w) beyond
_ERF_INV_NEAR = (2.81022636e-08, 3.43273939e-07, -3.5233877e-06, -4.39150654e-06, 0.00021858087, -0.00125372503,
                 -0.00417768164, 0.246640727, 1.50140941)
_ERF_INV_FAR = (-0.000200214257, 0.000100950558, 0.00134934322, -0.00367342844, 0.00573950773, -0.0076224613,
                0.00943887047, 1.00167406, 2.83297682)


@function()
def erf_inv(b: Methods, operand: Any) -> XlaOp:
    """Return the value whose Erf is the operand: infinite at -1 and 1, NaN beyond."""
    given = real(b, operand, "ErfInv")
    is_double = given.element_type == "f64"
    made = given if is_double else b.ConvertElementType(given, "f32")
    w = -b.Log1p(-(made * made))
    near = w < 5.0
    v = b.Select(near, w - 2.5, b.Sqrt(w) - 3.0)
    factor: Any = b.Select(near, b.operand(_ERF_INV_NEAR[0], made.element_type),
                           b.operand(_ERF_INV_FAR[0], made.element_type))
    for close, far in zip(_ERF_INV_NEAR[1:], _ERF_INV_FAR[1:], strict=True):
        factor = factor * v + b.Select(near, b.operand(close, made.element_type), b.operand(far, made.element_type))
    found = factor * made
    if is_double:  # the polynomials are made for f32: Newton's method brings the rest
        for _ in range(2):
            slope = 2.0 / math.sqrt(math.pi) * b.Exp(-(found * found))
            found = found - (b.Erf(found) - made) / slope
    found = b.Select(b.Abs(made) == 1.0, made * math.inf, found)
    return b.ConvertElementType(found, given.element_type)


#: Numerical Recipes, erfcc: a Chebyshev fit, relative error below 1.2e-7 everywhere
_ERFC = (0.17087277, -0.82215223, 1.48851587, -1.13520398, 0.27886807, -0.18628806, 0.09678418, 0.37409196, 1.00002368,
         -1.26551223)


@function()
def erfc(b: Methods, operand: Any) -> XlaOp:
    """1 - Erf(x), exact to 2e-7 of its value also where Erf is next to 1."""
    made = real(b, operand, "Erfc")
    z = b.Abs(made)
    t = 1.0 / (1.0 + 0.5 * z)
    # exp(-z*z) loses digits of z*z: the part that rounding cut off is put back.
    tail = t * b.Exp(-(z * z) + _polynomial(t, _ERFC))
    return b.Select(z < 0.5, 1.0 - b.Erf(made), b.Select(made < 0.0, 2.0 - tail, tail))


#: C. Lanczos's approximation with g = 7 and nine terms
_LANCZOS_BASE = 0.99999999999980993
_LANCZOS = (676.5203681218851, -1259.1392167224028, 771.3234287776531, -176.6150291621406, 12.507343278686905,
            -0.13857109526572012, 9.984369578019572e-6, 1.5056327351493116e-7)


def _wide(b: Methods, operand: Any, what: str) -> tuple[XlaOp, XlaOp]:
    """The operand, and the same in a type that is wide enough to compute in."""
    made = real(b, operand, what)
    return made, made if made.element_type == "f64" else b.ConvertElementType(made, "f32")


@function()
def lgamma(b: Methods, operand: Any) -> XlaOp:
    """The logarithm of the gamma function's magnitude."""
    given, x = _wide(b, operand, "Lgamma")
    is_small = x < 0.5
    z = b.Select(is_small, -x, x - 1.0)
    total: Any = b.operand(_LANCZOS_BASE, x.element_type)
    for i, c in enumerate(_LANCZOS, 1):
        total = c / (z + float(i)) + total
    t = z + 7.5
    # log1p keeps the digits that log(7.5 + z) would lose for small z.
    log_t = b.Log1p(z / 7.5) + math.log(7.5)
    log_y = (z + 0.5 - t / log_t) * log_t + math.log(math.sqrt(2 * math.pi)) + b.Log(total)
    part = b.Abs(x) - b.Floor(b.Abs(x))
    part = b.Select(part > 0.5, 1.0 - part, part)
    sine = b.Log(b.Sin(math.pi * part))
    mirrored = b.Select(b.IsFinite(sine), math.log(math.pi) - sine - log_y, -sine)
    found = b.Select(is_inf(b, x), b.operand(math.inf, x.element_type), b.Select(is_small, mirrored, log_y))
    return b.ConvertElementType(found, given.element_type)


@function()
def digamma(b: Methods, operand: Any) -> XlaOp:
    """The slope of Lgamma; NaN at 0, -1, -2, ..."""
    given, x = _wide(b, operand, "Digamma")
    is_small = x < 0.5
    z = b.Select(is_small, -x, x - 1.0)
    above: Any = b.operand(0.0, x.element_type)
    below: Any = b.operand(_LANCZOS_BASE, x.element_type)
    for i, c in enumerate(_LANCZOS, 1):
        above = above - c / ((z + float(i)) * (z + float(i)))
        below = below + c / (z + float(i))
    log_t = b.Log1p(z / 7.5) + math.log(7.5)
    y = log_t + above / below - 7.0 / (z + 7.5)
    turned = x + b.Abs(b.Floor(x + 0.5))
    mirrored = y - math.pi * b.Cos(math.pi * turned) / b.Sin(math.pi * turned)
    pole = (x <= 0.0) & (x == b.Floor(x))
    found = b.Select(pole, b.operand(math.nan, x.element_type), b.Select(is_small, mirrored, y))
    return b.ConvertElementType(found, given.element_type)
