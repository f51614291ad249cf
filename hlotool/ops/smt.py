"""Elementwise operations as terms of SMT-LIB, for solvers: what one element of the result is, of one of each operand.

Floats are IEEE 754 numbers (`fp.add`, rounded to nearest, ties to even), integers bit vectors, pred is Bool. There is
one NaN. What a document leaves open has no term, such as integers of floats that are out of range.

Source: XLA Operation Semantics, by operation; SMT-LIB 2.7, theories FloatingPoint and FixedSizeBitVectors.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from typing import Any, TypeAlias

from hlotool.ir import DType, lazy_dataclass

#: the real numbers, which no array has: what an operation means before it rounds
REAL = DType("real", "real", 0, "", "", 0, 0)


@lazy_dataclass(frozen=True, slots=True)
class Applied:
    """An operation with its types: that of the first operand, and that of the result."""

    operand: DType
    result: DType
    attributes: Mapping[str, Any] = field(default_factory=dict)


#: an operation and the terms of its operands -> the term of its result; None: there is none
Meaning: TypeAlias = Callable[..., "str | None"]

_ROUND = "RNE"


def sort_of(dtype: DType) -> str | None:
    """Return the sort of an element type; None for complex types and floats that are not IEEE 754's.

    >>> from hlotool.ir import DTYPES
    >>> sort_of(DTYPES["bf16"]), sort_of(DTYPES["s4"]), sort_of(DTYPES["f8e4m3fn"])
    ('(_ FloatingPoint 8 8)', '(_ BitVec 4)', None)
    """
    if dtype.family in ("pred", "real"):
        return "Bool" if dtype.family == "pred" else "Real"
    if dtype.is_integral:
        return f"(_ BitVec {dtype.bits})"
    if dtype.is_floating and dtype.specials == "ieee":
        return f"(_ FloatingPoint {dtype.exponent_bits} {dtype.mantissa_bits + 1})"
    return None


def bits_term(dtype: DType, bits: int) -> str:
    """Return the element with those bits, of a type that has a sort."""
    if dtype.family == "pred":
        return "true" if bits else "false"
    pattern = f"#b{bits:0{dtype.bits}b}"
    return f"((_ to_fp {dtype.exponent_bits} {dtype.mantissa_bits + 1}) {pattern})" if dtype.is_floating else pattern


def plain(floating: str = "", signed: str = "", unsigned: str = "", truth: str = "", real: str = "") -> Meaning:
    """Return the meaning that applies an operator to the operands, by their type; "" where there is none.

    Operators of floats that round take a mode, which is written into them: "fp.add RNE".
    """
    def meaning(of: Applied, *operands: str) -> str | None:
        kind = of.operand
        operator = (floating if kind.is_floating else truth if kind.family == "pred" else real if kind == REAL
                    else "" if kind.is_complex else signed if kind.is_signed else unsigned or signed)
        return f"({operator} {' '.join(operands)})" if operator else None

    return meaning


def _abs(of: Applied, x: str) -> str | None:
    kind = of.operand
    if kind.is_floating:
        return f"(fp.abs {x})"
    if kind == REAL:
        return f"(ite (< {x} 0.0) (- {x}) {x})"
    if not kind.is_integral:
        return None
    return f"(ite (bvslt {x} {bits_term(kind, 0)}) (bvneg {x}) {x})" if kind.is_signed else x


def _sign(of: Applied, x: str) -> str | None:
    kind = of.operand
    if kind.is_floating:
        one = _number(kind, 1)
        return f"(ite (or (fp.isNaN {x}) (fp.isZero {x})) {x} (ite (fp.isNegative {x}) (fp.neg {one}) {one}))"
    if kind == REAL:
        return f"(ite (< {x} 0.0) (- 1.0) (ite (> {x} 0.0) 1.0 0.0))"
    if not kind.is_integral:
        return None
    zero, one = bits_term(kind, 0), bits_term(kind, 1)
    other = f"(ite (bvslt {x} {zero}) (bvneg {one}) {one})" if kind.is_signed else one
    return f"(ite (= {x} {zero}) {zero} {other})"


def _number(kind: DType, value: int) -> str:
    """Return a whole number as an element of a float type."""
    return f"((_ to_fp {kind.exponent_bits} {kind.mantissa_bits + 1}) RNE {value}.0)"


def _whole(mode: str, real: str) -> Meaning:
    """Return the meaning of a rounding to whole numbers; `real` is that of a real number."""
    def meaning(of: Applied, x: str) -> str | None:
        if of.operand == REAL:
            return real.format(x=x)
        return f"(fp.roundToIntegral {mode} {x})" if of.operand.is_floating else None

    return meaning


def _is_finite(of: Applied, x: str) -> str | None:
    if of.operand == REAL:
        return "true"
    return f"(not (or (fp.isNaN {x}) (fp.isInfinite {x})))"


def _divide(of: Applied, x: str, y: str) -> str | None:
    kind = of.operand
    if kind.is_floating:
        return f"(fp.div {_ROUND} {x} {y})"
    if kind == REAL:
        return f"(/ {x} {y})"
    if not kind.is_integral:
        return None
    if not kind.is_signed:
        return f"(bvudiv {x} {y})"  # by 0 it has all bits set, as in HLO
    return f"(ite (= {y} {bits_term(kind, 0)}) (bvnot {bits_term(kind, 0)}) (bvsdiv {x} {y}))"


_OF_REALS = {"lt": "<", "le": "<=", "gt": ">", "ge": ">="}


def _extreme(relation: str, truth: str, negative: str) -> Meaning:
    """Return the meaning of maximum or minimum; `negative` chooses between zeros, where the first one is negative."""
    def meaning(of: Applied, x: str, y: str) -> str | None:
        kind = of.operand
        if kind.family == "pred":
            return f"({truth} {x} {y})"
        if kind.is_integral:
            return f"(ite (bv{'s' if kind.is_signed else 'u'}{relation} {x} {y}) {x} {y})"
        if kind == REAL:
            return f"(ite ({_OF_REALS[relation]} {x} {y}) {x} {y})"
        if not kind.is_floating:
            return None
        zeros = f"(ite (fp.isNegative {x}) {negative.format(x=x, y=y)})"
        chosen = f"(ite (and (fp.isZero {x}) (fp.isZero {y})) {zeros} (ite (fp.{relation} {x} {y}) {x} {y}))"
        return f"(ite (fp.isNaN {x}) {x} (ite (fp.isNaN {y}) {y} {chosen}))"

    return meaning


def _clamp(of: Applied, low: str, x: str, high: str) -> str | None:
    above = MAXIMUM(of, x, low)
    return None if above is None else MINIMUM(of, above, high)


def _compare(of: Applied, x: str, y: str) -> str | None:
    kind, direction = of.operand, str(of.attributes.get("direction"))
    if "TOTALORDER" in str(of.attributes.get("type", "")) or kind.is_complex:
        return None
    if direction in ("EQ", "NE"):
        equal = f"(fp.eq {x} {y})" if kind.is_floating else f"(= {x} {y})"
        return equal if direction == "EQ" else f"(not {equal})"
    relation = {"LT": "lt", "LE": "le", "GT": "gt", "GE": "ge"}[direction]
    if kind.is_floating:
        return f"(fp.{relation.replace('le', 'leq').replace('ge', 'geq')} {x} {y})"
    if kind.is_integral:
        return f"(bv{'s' if kind.is_signed else 'u'}{relation} {x} {y})"
    if kind == REAL:
        return f"({_OF_REALS[relation]} {x} {y})"
    low, high = (x, y) if direction in ("LT", "LE") else (y, x)
    return f"(and (not {low}) {high})" if direction in ("LT", "GT") else f"(or (not {low}) {high})"


def _select(of: Applied, choice: str, x: str, y: str) -> str | None:
    return f"(ite {choice} {x} {y})"


def _convert(of: Applied, x: str) -> str | None:
    source, target = of.operand, of.result
    if REAL in (source, target):
        return None
    if source.family == target.family and source.bits == target.bits and source == target:
        return x
    if source.family == "pred":
        one, zero = (bits_term(target, n) if target.is_integral else _number(target, n) for n in (1, 0))
        return f"(ite {x} {one} {zero})" if sort_of(target) and sort_of(target) != "Bool" else None
    if target.family == "pred":
        return f"(not (fp.isZero {x}))" if source.is_floating else f"(not (= {x} {bits_term(source, 0)}))"
    if source.is_floating and target.is_floating:
        return f"((_ to_fp {target.exponent_bits} {target.mantissa_bits + 1}) {_ROUND} {x})"
    if source.is_integral and target.is_integral:
        wider = target.bits - source.bits
        if wider <= 0:
            return f"((_ extract {target.bits - 1} 0) {x})"
        return f"((_ {'sign' if source.is_signed else 'zero'}_extend {wider}) {x})"
    return None  # floats to integers are open out of range; integers to narrow floats may round twice


def _popcount(of: Applied, x: str) -> str | None:
    bits = of.operand.bits
    ones = (f"((_ zero_extend {bits - 1}) ((_ extract {n} {n}) {x}))" if bits > 1 else x for n in range(bits))
    return f"(bvadd {' '.join(ones)})" if bits > 1 else x


def _high_half(of: Applied, x: str, y: str) -> str | None:
    kind = of.operand
    extend = f"(_ {'sign' if kind.is_signed else 'zero'}_extend {kind.bits})"
    return f"((_ extract {2 * kind.bits - 1} {kind.bits}) (bvmul ({extend} {x}) ({extend} {y})))"


ABS, SIGN, IS_FINITE = _abs, _sign, _is_finite
NEGATE = plain("fp.neg", "bvneg", real="-")
CEIL = _whole("RTP", "(- (to_real (to_int (- {x}))))")
FLOOR = _whole("RTN", "(to_real (to_int {x}))")
ROUND_EVEN, ROUND_AWAY = plain(f"fp.roundToIntegral {_ROUND}"), plain("fp.roundToIntegral RNA")
SQRT = plain(f"fp.sqrt {_ROUND}")
NOT, AND, OR = plain("", "bvnot", truth="not"), plain("", "bvand", truth="and"), plain("", "bvor", truth="or")
XOR = plain("", "bvxor", truth="xor")
ADD = plain(f"fp.add {_ROUND}", "bvadd", truth="or", real="+")
SUBTRACT = plain(f"fp.sub {_ROUND}", "bvsub", real="-")
MULTIPLY = plain(f"fp.mul {_ROUND}", "bvmul", truth="and", real="*")
DIVIDE = _divide
# IEEE's remainder of floats rounds the quotient, HLO's cuts it off.
REMAINDER = plain("", "bvsrem", "bvurem")
MAXIMUM, MINIMUM = _extreme("gt", "or", "{y} {x}"), _extreme("lt", "and", "{x} {y}")
SHIFT_LEFT = plain("", "bvshl")
SHIFT_RIGHT_ARITHMETIC, SHIFT_RIGHT_LOGICAL = plain("", "bvashr"), plain("", "bvlshr")
POPCOUNT, HIGH_HALF = _popcount, _high_half
CLAMP, COMPARE, SELECT, CONVERT = _clamp, _compare, _select, _convert
