"""Facts about the functions of numbers that elementwise operations are: domain, poles, sign, inverse."""

from __future__ import annotations

import enum
import math
from collections.abc import Callable, Sequence
from typing import TypeAlias

from hlotool.ir import lazy_dataclass
from hlotool.ops import inverses
from hlotool.ops.inverses import Undo

#: a result to operands that give it; raises ValueError, ZeroDivisionError or OverflowError where there are none
Inverse: TypeAlias = Callable[[float], Sequence[float]]


class Finite(enum.Enum):
    """The arguments for which a function has a value that is finite."""

    ALL = "all"
    POSITIVE = "positive"
    #: from -1 to 1
    UNIT = "unit"
    #: positive definite matrices
    DEFINITE = "definite"


class Sign(enum.IntEnum):
    """The sign of all elements of an array; of two that are combined at random the lesser one holds."""

    #: nothing is known
    UNKNOWN = 0
    #: made by an operation that makes negative numbers of positive ones
    SIGNED = 1
    NONNEGATIVE = 2
    POSITIVE = 3


@lazy_dataclass(frozen=True, slots=True)
class Curve:
    """Facts about a function of numbers."""

    #: of the operand that decides; of binary functions the one behind
    domain: Finite = Finite.ALL
    #: the sign of results, whatever the operands are
    sign: Sign = Sign.UNKNOWN
    #: True if results have the sign of the operand
    keeps_sign: bool = False
    #: True if floats become whole numbers
    is_whole: bool = False
    #: what an argument is called that gives NaN
    outside: str = ""
    #: what is meant where an argument gives an infinity, though no result is large
    pole: str = ""
    inverse: Inverse | None = None
    #: the operand that gives a result, on arrays (inverses.py); of functions of one float `inverse` says it
    undo: Undo | None = None
    #: the operation that it is on truth values. Source: XLA, ElementalIrEmitter::EmitPredBinaryOp
    on_truth: str = ""
    #: the sign between two operands, as people and Python write it
    symbol: str = ""


#: the function of which nothing is known
PLAIN = Curve()


def same(value: float) -> Sequence[float]:
    """Return the inverse of functions that leave numbers as they are."""
    return (value,)


_UNIT = "an argument outside of -1 to 1"
_ANGLE = "an angle that is infinite"
_LOG = "the logarithm of a negative number"
_ROOT = "the square root of a negative number"

ABS = Curve(inverse=lambda v: (v, -v), undo=inverses.of_identity)
ACOS = ASIN = Curve(Finite.UNIT, outside=_UNIT)
ACOSH = Curve(Finite.POSITIVE, outside="an argument below 1")
ATANH = Curve(Finite.UNIT, outside=_UNIT, pole="a pole at -1 and 1")
CBRT = Curve(keeps_sign=True, inverse=lambda v: (v**3,))
CEIL = Curve(keeps_sign=True, is_whole=True, inverse=lambda v: (v, v - 0.5))
COMPONENT = Curve(inverse=same)
COSINE = SINE = Curve(sign=Sign.SIGNED, outside=_ANGLE)
COSH = Curve(sign=Sign.POSITIVE)
COUNT = Curve(sign=Sign.NONNEGATIVE)
CLZ = Curve(sign=Sign.NONNEGATIVE, undo=inverses.of_count_leading_zeros)
POPCNT = Curve(sign=Sign.NONNEGATIVE, undo=inverses.of_popcnt)
ADD = Curve(on_truth="or", symbol="+", undo=inverses.of_add)
AND = Curve(symbol="&", undo=inverses.of_and)
OR = Curve(symbol="|", undo=inverses.of_or)
XOR = Curve(symbol="^", undo=inverses.of_xor)
MAXIMUM = Curve(on_truth="or", undo=inverses.of_identity)
DEFINITE = Curve(Finite.DEFINITE)
DIVIDE = Curve(Finite.POSITIVE, symbol="/", pole="division by zero", undo=inverses.of_divide)
EXPONENTIAL = Curve(sign=Sign.POSITIVE, inverse=lambda v: (math.log(v),))
EXPONENTIAL_MINUS_ONE = Curve(sign=Sign.SIGNED, inverse=lambda v: (math.log1p(v),))
LOG = Curve(Finite.POSITIVE, sign=Sign.SIGNED, outside=_LOG, pole="the logarithm of zero",
            inverse=lambda v: (math.exp(v),))
LOG_PLUS_ONE = Curve(Finite.POSITIVE, outside=_LOG, pole="the logarithm of zero", inverse=lambda v: (math.expm1(v),))
LOGISTIC = Curve(sign=Sign.POSITIVE, inverse=lambda v: (-math.log(1 / v - 1),))
NEGATE = Curve(inverse=lambda v: (-v,), undo=inverses.of_negate)
NOT = Curve(inverse=lambda v: (-1 - v,), undo=inverses.of_not)
POWER = Curve(Finite.POSITIVE, outside="a negative number to a power that is no integer",
              pole="zero to a negative power", undo=inverses.of_power)
POSITIVE = Curve(Finite.POSITIVE)
ROUND = Curve(is_whole=True, inverse=lambda v: (v, v + 0.5))
RSQRT = Curve(Finite.POSITIVE, keeps_sign=True, outside=_ROOT, pole="one over the square root of zero",
              inverse=lambda v: (1 / (v * v),))
SIGN = Curve(inverse=same, undo=inverses.of_identity)
MINIMUM = Curve(on_truth="and", undo=inverses.of_identity)
MULTIPLY = Curve(on_truth="and", symbol="*", undo=inverses.of_multiply)
REMAINDER = Curve(Finite.POSITIVE, symbol="%", undo=inverses.of_identity)
SHIFT_LEFT = Curve(undo=inverses.of_shift_left)
SHIFT_RIGHT = Curve(undo=inverses.of_shift_right)
SIGNED = Curve(sign=Sign.SIGNED)
SUBTRACT = Curve(sign=Sign.SIGNED, on_truth="xor", symbol="-", undo=inverses.of_subtract)
SQRT = Curve(Finite.POSITIVE, keeps_sign=True, outside=_ROOT, inverse=lambda v: (v * v,))
TAN = Curve(sign=Sign.SIGNED, outside=_ANGLE)
TANH = Curve(sign=Sign.SIGNED, inverse=lambda v: (math.atanh(v),))
