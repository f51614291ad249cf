"""Operations that work element by element: about fifty rows, and the few that are not rows."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from hlotool.ir import KINDS, UNBOUNDED, DType, HloInstruction, Shape
from hlotool.ir.arrays import Array, np, ufunc
from hlotool.ops import curves, smt
from hlotool.ops.accuracy import accurate
from hlotool.ops.boundaries import Boundaries, int_limits, of_divide, of_power, of_shift
from hlotool.ops.curves import PLAIN, Curve
from hlotool.ops.freedom import Freedom
from hlotool.ops.integers import (
    clz,
    divided,
    multiplied_high,
    popcount,
    powered,
    remaindered,
    shifted_left,
    shifted_right_arithmetic,
    shifted_right_logical,
)
from hlotool.ops.lowering import Emitter, Lowering, Value, renamed
from hlotool.ops.numbers import computed, dtype_of
from hlotool.ops.numbers import maximum as greater
from hlotool.ops.numbers import minimum as less
from hlotool.ops.random_programs import Recipe, draw_ordered
from hlotool.ops.registry import Attribute, ConstraintError, Op, register
from hlotool.ops.rules import (
    ANY,
    FLOAT,
    FLOAT_OR_COMPLEX,
    INTEGER,
    LOGICAL,
    NUMERIC,
    SIGNED,
    merged,
    require_array,
    require_same_type,
    require_type,
    same_dims,
    type_words,
)

Function = Callable[..., Any]
SPECIFICATION = "XLA Operation Semantics"
#: what products and functions of complex numbers may be wrong by: a few roundings of each half, and of what they share
COMPLEX_ULPS = 16.0


def _same(operand: Shape) -> Shape:
    return operand


def component_shape(operand: Shape) -> Shape:
    """Complex elements become their component type."""
    return operand.with_element_type(operand.dtype.component.name) if operand.is_array else operand


def _component_dtype(dtype: Any) -> Any:
    kind = dtype_of(dtype)
    return kind.component.numpy if kind.is_complex else dtype


def unary(opcode: str, function: Function, types: Sequence[str], doc: str, *, result: Callable[[Shape], Shape] = _same,
          lowering: Lowering | None = None, exact: bool = False, accuracy: bool = False, raw: bool = False,
          ulps: float = 0.0, complex_ulps: float = COMPLEX_ULPS, freedom: Freedom = Freedom.ROUNDED, builder: str = "",
          curve: Curve = PLAIN, term: smt.Meaning | None = None) -> Op:
    """Declare an elementwise operation of one operand.

    `result` maps the operand's shape to the result's. `exact` computes in the operand's own precision, as results
    need no rounding, else in a wider one; `raw` hands the array over as it is. `accuracy` adds the attribute
    result_accuracy.
    """
    label = f"{opcode}-c1"

    def infer(operand: Shape, **_: Any) -> Shape:
        require_type(operand, types, label)
        return result(operand)

    def evaluate(operand: Array, **_: Any) -> Array:
        if raw:
            return np.asarray(function(operand))
        return computed(function, operand, precise=not exact)

    name = opcode.replace("-", "_")
    return register(Op(
        opcode, ("operand",), False,
        (Attribute("result_accuracy", KINDS["result_accuracy"], None),) if accuracy else (),
        infer, evaluate, lowering or (accurate(name) if accuracy else renamed(name)),
        doc=f"{doc}\n\nC1  The operand is an array of {type_words(types)}.",
        constraints={label: f"The operand is an array of {type_words(types)}."},
        element_types=tuple(types), ulps=ulps,
        flags=frozenset({"elementwise", *(("transcendental",) if accuracy else ())}),
        freedom=Freedom.EXACT if exact else freedom,
        complex_ulps=complex_ulps if ulps else 0.0, source=SPECIFICATION,
        builder=builder, curve=curve, smt=term))


def binary(opcode: str, function: Function, types: Sequence[str], doc: str, *, result: Callable[[Shape], Shape] = _same,
           lowering: Lowering | None = None, exact: bool = True, raw: bool = False, ulps: float = 0.0,
           complex_ulps: float = 0.0, draw: Recipe | None = None,
           flags: Sequence[str] = (), freedom: Freedom = Freedom.ROUNDED,
           identity: Callable[[DType], Any] | None = None,
           builder: str = "", boundaries: Callable[[HloInstruction], Boundaries] | None = None,
           curve: Curve = PLAIN, term: smt.Meaning | None = None) -> Op:
    """Declare an elementwise operation of two operands of one shape, with the keywords of `unary`.

    `identity` gives the element that leaves the other operand as it is.
    """

    def infer(lhs: Shape, rhs: Shape, **_: Any) -> Shape:
        return result(paired(opcode, lhs, rhs, types))

    def evaluate(lhs: Array, rhs: Array, **_: Any) -> Array:
        return np.asarray(function(lhs, rhs)) if raw else computed(function, lhs, rhs, precise=not exact)

    constraints = pair_constraints(opcode, types)
    lines = "\n".join(f"C{n}  {text}" for n, text in enumerate(constraints.values(), 1))
    return register(Op(
        opcode, ("lhs", "rhs"), False, (), infer, evaluate, lowering or renamed(opcode.replace("-", "_")),
        doc=f"{doc}\n\n{lines}", constraints=constraints, element_types=tuple(types),
        flags=frozenset({"elementwise", *flags}), freedom=freedom, ulps=ulps, complex_ulps=complex_ulps,
        source=SPECIFICATION, identity=identity, builder=builder, draw=draw, boundaries=boundaries, curve=curve,
        smt=term))


def pair_constraints(opcode: str, types: Sequence[str]) -> dict[str, str]:
    """Check the constraints of every elementwise operation of two operands."""
    return {f"{opcode}-c1": f"lhs is an array of {type_words(types)}, and rhs is an array.",
            f"{opcode}-c2": "Both have one element type.",
            f"{opcode}-c3": "Both have the same dimensions: HLO has no implicit broadcast."}


def paired(opcode: str, lhs: Shape, rhs: Shape, types: Sequence[str]) -> Shape:
    """Test those constraints; the common shape."""
    require_type(lhs, types, f"{opcode}-c1", "lhs")
    require_array(rhs, f"{opcode}-c1", "rhs")
    require_same_type((lhs, rhs), f"{opcode}-c2", ("lhs", "rhs"))
    if not same_dims(lhs, rhs):
        raise ConstraintError(f"{opcode}-c3", f"lhs is {lhs.text(False)}, rhs is {rhs.text(False)}: the dimensions "
                              f"differ, and {opcode} does not broadcast")
    return _left_open(lhs, rhs, merged(lhs, rhs))


def _left_open(lhs: Shape, rhs: Shape, found: Shape) -> Shape:
    """Return the result with `?` where 1 meets `?`.

    Source: XLA, ShapeInference::InferDegenerateDimensionBroadcastShape, which lets one element meet any number.
    """
    if UNBOUNDED not in lhs.dims and UNBOUNDED not in rhs.dims:
        return found
    are_open = [{x, y} == {1, UNBOUNDED} for x, y in zip(lhs.dims, rhs.dims, strict=True)]
    flags = found.dynamic_flags
    return found.with_dims(tuple(UNBOUNDED if is_open else n for n, is_open in zip(found.dims, are_open, strict=True)),
                           tuple(map(any, zip(flags, are_open, strict=True))))


# Functions that NumPy has otherwise or not at all.


def _sign(x: Array) -> Array:
    if x.dtype.kind == "c":
        # Scaled first: the magnitude of tiny numbers has few digits, and dividing by it may overflow.
        scaled = x * np.asarray(2.0 ** 60 if x.dtype == np.complex64 else 2.0 ** 300, x.real.dtype)
        near = np.where(np.abs(x) < 1, scaled, x)
        return np.where(x == 0, x, near / np.abs(near))
    return np.where((x == 0) | np.isnan(x), x, np.sign(x)) if x.dtype.kind == "f" else np.sign(x)


def _nearest_away(x: Array) -> Array:
    whole = np.trunc(x)
    return np.where(np.abs(x - whole) >= 0.5, whole + np.copysign(1.0, x).astype(x.dtype), whole)


def _logistic(x: Array) -> Array:
    power = np.exp(-x)
    # NumPy divides by an infinite complex number to NaN.
    return np.where(np.isinf(power), 0, 1 / (1 + power)) if x.dtype.kind == "c" else np.asarray(1 / (1 + power))


def _less_one(x: Array) -> Array:
    found = np.expm1(x)
    # Whatever the direction, e to the power of -inf is 0.
    return np.where(x.real == -np.inf, -1, found) if x.dtype.kind == "c" else found


def _log_plus_one(x: Array) -> Array:
    # NumPy's magnitude overflows before the numbers do.
    return np.where(np.abs(x) > 2.0 ** 60, np.log(x), np.log1p(x)) if x.dtype.kind == "c" else np.log1p(x)


def _rsqrt(x: Array) -> Array:
    root = np.sqrt(x)
    # NumPy divides by an infinite complex number to NaN.
    return np.where(np.isinf(root), 0, 1 / root) if x.dtype.kind == "c" else np.asarray(1 / root)


def _erf(x: Array) -> Array:
    return np.asarray(np.vectorize(math.erf, otypes=[np.float64])(x))


def _atan2(y: Array, x: Array) -> Array:
    if y.dtype.kind == "c":
        return np.asarray(-1j * np.log((x + 1j * y) / np.sqrt(x * x + y * y)))
    return np.asarray(np.arctan2(y, x))


def _part(array: Array, imaginary: bool) -> Array:
    if array.dtype.kind != "c":
        # Converted, as a type without zero has something else in its place.
        return np.zeros(array.shape).astype(array.dtype) if imaginary else array
    return np.asarray(array.imag if imaginary else array.real, order="C")


def _magnitude(array: Array) -> Array:
    return computed(np.abs, array, result=_component_dtype(array.dtype), precise=True)


def _complex(real: Array, imaginary: Array) -> Array:
    made = np.empty(real.shape, np.result_type(real.dtype, np.complex64))
    made.real, made.imag = real, imaginary
    return made


def _is_finite(array: Array) -> Array:
    return np.isfinite(array.astype(np.float64))


def _pred_shape(operand: Shape) -> Shape:
    return operand.with_element_type("pred")


def _complex_shape(operand: Shape) -> Shape:
    return operand.with_element_type("c64" if operand.element_type == "f32" else "c128")


# Rows: opcode, NumPy function, element types, meaning.

abs_ = unary("abs", _magnitude, SIGNED, "Magnitude. The least integer stays itself; complex gives the component type.",
             result=component_shape, raw=True, ulps=1, curve=curves.ABS, term=smt.ABS)
acos = unary("acos", ufunc("arccos"), FLOAT_OR_COMPLEX, "Inverse cosine.", lowering=accurate("acos", "chlo"),
             accuracy=True, ulps=4, freedom=Freedom.EXPANDED, curve=curves.ACOS)
acosh = unary("acosh", ufunc("arccosh"), FLOAT_OR_COMPLEX, "Inverse hyperbolic cosine.",
              lowering=accurate("acosh", "chlo"), accuracy=True, ulps=4, freedom=Freedom.EXPANDED, curve=curves.ACOSH)
asin = unary("asin", ufunc("arcsin"), FLOAT_OR_COMPLEX, "Inverse sine.", lowering=accurate("asin", "chlo"),
             accuracy=True, ulps=4, freedom=Freedom.EXPANDED, curve=curves.ASIN)
asinh = unary("asinh", ufunc("arcsinh"), FLOAT_OR_COMPLEX, "Inverse hyperbolic sine.",
              lowering=accurate("asinh", "chlo"), accuracy=True, ulps=4, freedom=Freedom.EXPANDED)
atanh = unary("atanh", ufunc("arctanh"), FLOAT_OR_COMPLEX, "Inverse hyperbolic tangent.",
              lowering=accurate("atanh", "chlo"), accuracy=True, ulps=128, freedom=Freedom.EXPANDED, curve=curves.ATANH)
cbrt = unary("cbrt", ufunc("cbrt"), FLOAT, "Real cube root; negative for negative elements.", accuracy=True, ulps=4,
             curve=curves.CBRT)
ceil = unary("ceil", ufunc("ceil"), FLOAT, "Least whole number that is not below.", exact=True, curve=curves.CEIL,
             term=smt.CEIL)
count_leading_zeros = unary("count-leading-zeros", clz, INTEGER,
                            "Zero bits above the highest set bit, within the element's own width.", raw=True,
                            builder="Clz", curve=curves.CLZ)
cosine = unary("cosine", ufunc("cos"), FLOAT_OR_COMPLEX, "Cosine of radians.", accuracy=True, ulps=4, builder="Cos",
               curve=curves.COSINE)
cosh = unary("cosh", ufunc("cosh"), FLOAT_OR_COMPLEX, "Hyperbolic cosine.", lowering=accurate("cosh", "chlo"),
             accuracy=True, ulps=32, curve=curves.COSH)
erf = unary("erf", _erf, FLOAT, "Error function.", lowering=accurate("erf", "chlo"), accuracy=True, ulps=8,
            curve=curves.SIGNED)
exponential = unary("exponential", ufunc("exp"), FLOAT_OR_COMPLEX, "e to the power of each element.", accuracy=True,
                    ulps=4, builder="Exp", curve=curves.EXPONENTIAL)
exponential_minus_one = unary("exponential-minus-one", _less_one, FLOAT_OR_COMPLEX,
                              "e to the power of each element, less one, exact near 0.", accuracy=True, ulps=4,
                              freedom=Freedom.EXPANDED, builder="Expm1", curve=curves.EXPONENTIAL_MINUS_ONE)
floor = unary("floor", ufunc("floor"), FLOAT, "Greatest whole number that is not above.", exact=True,
              curve=curves.ROUND, term=smt.FLOOR)
imag = unary("imag", lambda x: _part(x, True), FLOAT_OR_COMPLEX, "Imaginary part; zeros for floats.",
             result=component_shape, raw=True, curve=curves.COMPONENT)
is_finite = unary("is-finite", _is_finite, FLOAT, "Whether each element is neither infinite nor NaN.",
                  result=_pred_shape, raw=True, curve=curves.COUNT, term=smt.IS_FINITE)
log = unary("log", ufunc("log"), FLOAT_OR_COMPLEX, "Natural logarithm.", accuracy=True, ulps=4, curve=curves.LOG)
log_plus_one = unary("log-plus-one", _log_plus_one, FLOAT_OR_COMPLEX, "Natural logarithm of one more, exact near 0.",
                     accuracy=True, ulps=4, builder="Log1p", curve=curves.LOG_PLUS_ONE)
logistic = unary("logistic", _logistic, FLOAT_OR_COMPLEX, "1 / (1 + e^-x).", accuracy=True, ulps=8,
                 freedom=Freedom.EXPANDED, curve=curves.LOGISTIC)
negate = unary("negate", ufunc("negative"), NUMERIC, "Minus each element; integers wrap.", exact=True, builder="Neg",
               curve=curves.NEGATE, term=smt.NEGATE)
not_ = unary("not", ufunc("invert"), LOGICAL, "Logical not of pred, complement of the bits of integers.", exact=True,
             curve=curves.NOT, term=smt.NOT)
popcnt = unary("popcnt", popcount, INTEGER, "Number of bits that are 1.", raw=True, builder="PopulationCount",
               curve=curves.POPCNT, term=smt.POPCOUNT)
real = unary("real", lambda x: _part(x, False), FLOAT_OR_COMPLEX, "Real part; floats stay themselves.",
             result=component_shape, raw=True, curve=curves.COMPONENT)
round_nearest_afz = unary("round-nearest-afz", _nearest_away, FLOAT, "Nearest whole number, halves away from zero.",
                          exact=True, curve=curves.ROUND, term=smt.ROUND_AWAY)
round_nearest_even = unary("round-nearest-even", ufunc("rint"), FLOAT, "Nearest whole number, halves to the even one.",
                           exact=True, curve=curves.ROUND, term=smt.ROUND_EVEN)
rsqrt = unary("rsqrt", _rsqrt, FLOAT_OR_COMPLEX, "1 / square root; -0 gives -inf.", accuracy=True, ulps=4,
              curve=curves.RSQRT)
sign = unary("sign", _sign, SIGNED, "-1, 0 or 1; floats keep zeros and NaN, complex gives x / |x|.", exact=True, ulps=4,
             curve=curves.SIGN, term=smt.SIGN)
sine = unary("sine", ufunc("sin"), FLOAT_OR_COMPLEX, "Sine of radians.", accuracy=True, ulps=4, builder="Sin",
             curve=curves.SINE)
sinh = unary("sinh", ufunc("sinh"), FLOAT_OR_COMPLEX, "Hyperbolic sine.", lowering=accurate("sinh", "chlo"),
             accuracy=True, ulps=32, curve=curves.SIGNED)
sqrt = unary("sqrt", ufunc("sqrt"), FLOAT_OR_COMPLEX, "Square root, the principal one.", accuracy=True, ulps=2,
             curve=curves.SQRT, freedom=Freedom.IEEE, term=smt.SQRT)
tan = unary("tan", ufunc("tan"), FLOAT_OR_COMPLEX, "Tangent of radians.", accuracy=True, ulps=8, curve=curves.TAN)
tanh = unary("tanh", ufunc("tanh"), FLOAT_OR_COMPLEX, "Hyperbolic tangent.", accuracy=True, ulps=8, curve=curves.TANH)


def _least(dtype: DType) -> Any:
    """The bound that no element is below."""
    if dtype.is_integral:
        return int_limits(dtype)[0]
    return -math.inf if dtype.is_floating else False


def _greatest(dtype: DType) -> Any:
    """The bound that no element is above."""
    if dtype.is_integral:
        return (1 << (dtype.bits - dtype.is_signed)) - 1
    return math.inf if dtype.is_floating else True


def _ones(dtype: DType) -> Any:
    """All bits set."""
    return True if dtype.family == "pred" else -1 if dtype.is_signed else (1 << dtype.bits) - 1


def _zero(dtype: DType) -> Any:
    return 0


def _one(dtype: DType) -> Any:
    return 1


COMMUTES = ("commutative",)
#: floats up to rounding
FOLDS = ("commutative", "associative")
#: one value, taken twice, is itself
CHOICES = (*FOLDS, "idempotent")
add = binary("add", ufunc("add"), ANY, "Sum; integers wrap; pred: or.", flags=FOLDS, freedom=Freedom.IEEE,
             identity=_zero, curve=curves.ADD, term=smt.ADD)
and_ = binary("and", ufunc("bitwise_and"), LOGICAL, "Logical and of pred, of the bits of integers.", flags=CHOICES,
              identity=_ones, curve=curves.AND, term=smt.AND)
atan2 = binary("atan2", _atan2, FLOAT_OR_COMPLEX, "Angle of the point (rhs, lhs), with the signs of zeros.",
               exact=False, ulps=8, complex_ulps=COMPLEX_ULPS, flags=("transcendental",))
complex_ = binary("complex", _complex, ("f32", "f64"), "lhs + i rhs.", result=_complex_shape, raw=True)
divide = binary("divide", divided, NUMERIC,
                "Quotient; integers truncate, x / 0 has all bits set, and the least integer / -1 is itself.", ulps=1,
                complex_ulps=COMPLEX_ULPS, identity=_one,
                builder="Div", boundaries=of_divide, curve=curves.DIVIDE, freedom=Freedom.IEEE, term=smt.DIVIDE)
maximum = binary("maximum", greater, ANY, "The greater; NaN if either is; +0 above -0; pred: or.", flags=CHOICES,
                 freedom=Freedom.EXACT, identity=_least, builder="Max", draw=draw_ordered, curve=curves.MAXIMUM,
                 term=smt.MAXIMUM)
minimum = binary("minimum", less, ANY, "The less; NaN if either is; -0 below +0; pred: and.", flags=CHOICES,
                 freedom=Freedom.EXACT, identity=_greatest, builder="Min", draw=draw_ordered, curve=curves.MINIMUM,
                 term=smt.MINIMUM)
multiply = binary("multiply", ufunc("multiply"), ANY, "Product; integers wrap; pred: and.", flags=FOLDS,
                  freedom=Freedom.IEEE, identity=_one, complex_ulps=COMPLEX_ULPS, builder="Mul", curve=curves.MULTIPLY,
                  term=smt.MULTIPLY)
or_ = binary("or", ufunc("bitwise_or"), LOGICAL, "Logical or of pred, of the bits of integers.", flags=CHOICES,
             identity=_zero, curve=curves.OR, term=smt.OR)
power = binary("power", powered, NUMERIC, "lhs to the power of rhs; x^0 is 1 for every x.", exact=False, ulps=8,
               complex_ulps=COMPLEX_ULPS, builder="Pow", boundaries=of_power, flags=("transcendental",),
               curve=curves.POWER)
remainder = binary("remainder", remaindered, NUMERIC,
                   "Remainder with the sign of lhs; integers: x rem 0 is x, the least integer rem -1 is 0.",
                   builder="Rem", draw=draw_ordered, boundaries=of_divide, curve=curves.REMAINDER, freedom=Freedom.IEEE,
                   term=smt.REMAINDER)
shift_left = binary("shift-left", shifted_left, INTEGER, "Bits moved up, zeros entering; past the width: 0.", raw=True,
                    identity=_zero, boundaries=of_shift, curve=curves.SHIFT_LEFT, term=smt.SHIFT_LEFT)
shift_right_arithmetic = binary("shift-right-arithmetic", shifted_right_arithmetic, INTEGER,
                                "Bits moved down, the highest bit entering; past the width: 0 or -1.", raw=True,
                                identity=_zero, boundaries=of_shift, curve=curves.SHIFT_RIGHT,
                                term=smt.SHIFT_RIGHT_ARITHMETIC)
shift_right_logical = binary("shift-right-logical", shifted_right_logical, INTEGER,
                             "Bits moved down, zeros entering; past the width: 0.", raw=True, identity=_zero,
                             boundaries=of_shift, curve=curves.SHIFT_RIGHT, term=smt.SHIFT_RIGHT_LOGICAL)
subtract = binary("subtract", ufunc("subtract"), NUMERIC, "Difference; integers wrap.", identity=_zero, builder="Sub",
                  curve=curves.SUBTRACT, freedom=Freedom.IEEE, term=smt.SUBTRACT)
xor = binary("xor", ufunc("bitwise_xor"), LOGICAL, "Logical exclusive or of pred, of the bits of integers.",
             flags=FOLDS, identity=_zero, curve=curves.XOR, term=smt.XOR)


def _emit_mulhi(e: Emitter, instruction: Any, operands: Sequence[Value]) -> Value:
    shape = instruction.shape
    kind = shape.dtype
    if kind.bits > 32:
        return _mulhi_by_halves(e, shape, operands)
    wide = shape.with_element_type(("s" if kind.is_signed else "u") + str(max(8, kind.bits * 2)))
    lhs, rhs = (e.op("stablehlo.convert", [o], wide) for o in operands)
    product = e.op("stablehlo.multiply", [lhs, rhs], wide)
    by = e.constant(np.full(shape.dims, kind.bits, wide.dtype.numpy), wide)
    return e.op("stablehlo.convert", [e.op("stablehlo.shift_right_arithmetic", [product, by], wide)], shape)


def _mulhi_by_halves(e: Emitter, shape: Shape, operands: Sequence[Value]) -> Value:
    # Schoolbook multiplication of 32-bit halves; the high halves carry the sign.
    def constant(value: int) -> Value:
        return e.constant(np.full(shape.dims, value, shape.dtype.numpy), shape)

    def apply(name: str, *values: Value) -> Value:
        return e.op(f"stablehlo.{name}", values, shape)

    mask, by = constant(0xFFFFFFFF), constant(32)
    down = "shift_right_arithmetic" if shape.dtype.is_signed else "shift_right_logical"
    (al, ah), (bl, bh) = ((apply("and", o, mask), apply(down, o, by)) for o in operands)
    low = apply("shift_right_logical", apply("multiply", al, bl), by)
    middle = apply("add", apply("multiply", ah, bl), low)
    other = apply("add", apply("multiply", al, bh), apply("and", middle, mask))
    high = apply("add", apply("multiply", ah, bh), apply(down, middle, by))
    return apply("add", high, apply(down, other, by))


mulhi = binary("mulhi", multiplied_high, INTEGER, "The high half of the product of twice the width.", raw=True,
               flags=COMMUTES, lowering=replace(renamed("mulhi", "chlo"), emit=_emit_mulhi), term=smt.HIGH_HALF)

__all__ = [name for name, value in list(globals().items()) if isinstance(value, Op)] + ["binary", "paired", "unary"]
