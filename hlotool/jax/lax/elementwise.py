"""Operations that work element by element."""

from __future__ import annotations

from hlotool.ir import HloComputation, HloInstruction
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.function_code import FunctionCode, Value, dtype_of, refuses, writes
from hlotool.jax.lax.python_literals import element_type
from hlotool.ops import OPS, comparison_type

#: (names of JAX, no facts about operations)
_UNARY = {
    "abs": "lax.abs", "acos": "lax.acos", "acosh": "lax.acosh", "asin": "lax.asin", "asinh": "lax.asinh",
    "atanh": "lax.atanh", "cbrt": "lax.cbrt", "ceil": "lax.ceil", "count-leading-zeros": "lax.clz",
    "cosine": "lax.cos", "cosh": "lax.cosh", "erf": "lax.erf", "exponential": "lax.exp",
    "exponential-minus-one": "lax.expm1", "floor": "lax.floor", "imag": "lax.imag", "is-finite": "lax.is_finite",
    "log": "lax.log", "log-plus-one": "lax.log1p", "logistic": "lax.logistic", "popcnt": "lax.population_count",
    "real": "lax.real", "rsqrt": "lax.rsqrt", "sign": "lax.sign", "sine": "lax.sin", "sinh": "lax.sinh",
    "sqrt": "lax.sqrt", "tan": "lax.tan", "tanh": "lax.tanh",
}
_BINARY = {
    "add": "lax.add", "and": "lax.bitwise_and", "atan2": "lax.atan2", "complex": "lax.complex", "divide": "lax.div",
    "maximum": "lax.max", "minimum": "lax.min", "mulhi": "lax.mulhi", "multiply": "lax.mul", "or": "lax.bitwise_or",
    "power": "lax.pow", "remainder": "lax.rem", "shift-left": "lax.shift_left",
    "shift-right-arithmetic": "lax.shift_right_arithmetic", "shift-right-logical": "lax.shift_right_logical",
    "subtract": "lax.sub", "xor": "lax.bitwise_xor",
}
#: operations whose value is the same in a wider type, but for what does not fit
#: (a lack of JAX, no fact about operations)
_OF_BYTES = frozenset({"abs", "sign", "maximum", "minimum", "divide", "remainder", "power"})
_COMPARISONS = {"EQ": "==", "NE": "!=", "LT": "<", "LE": "<=", "GT": ">", "GE": ">="}

refuses("JAX rounds at random only inside of kernels", "stochastic-convert")


def plain_function(computation: HloComputation) -> str | None:
    """`lax.add` for a computation that adds its two parameters; None for any other that is more than one operation."""
    root = computation.root
    parameters = computation.parameters()
    if len(parameters) != 2 or root.opcode not in _BINARY or list(root.operands) != parameters or (
            parameters[0].shape.element_type != parameters[1].shape.element_type):
        return None
    return _BINARY[_meant(root)]


def _meant(instruction: HloInstruction) -> str:
    """Return the opcode, with arithmetic on truth values as logic."""
    is_truth = instruction.operands[0].shape.element_type == "pred"
    return (is_truth and OPS[instruction.opcode].curve.on_truth) or instruction.opcode


@writes(*_UNARY)
def _unary(code: FunctionCode, i: HloInstruction) -> str:
    dtype = dtype_of(i.operands[0])
    if i.opcode in ("real", "imag") and not dtype.is_complex:  # HLO has both for reals too
        return code.operand(i) if i.opcode == "real" else f"jnp.zeros_like({code.operand(i)})"
    if dtype.is_integral and i.opcode in ("floor", "ceil"):
        return code.operand(i)
    return _through_bytes(i, _UNARY[i.opcode], code.operands(i))


def _through_bytes(i: HloInstruction, function: str, operands: list[str]) -> str:
    """Return a call; on integers that fill no byte, for which JAX has few functions, on bytes of the same values."""
    dtype = dtype_of(i.operands[0])
    if not dtype.is_integral or dtype.bits >= 8 or i.opcode not in _OF_BYTES:
        return f"{function}({', '.join(operands)})"
    wide = "jnp.int8" if dtype.is_signed else "jnp.uint8"
    call = f"{function}({', '.join(f'lax.convert_element_type({o}, {wide})' for o in operands)})"
    return f"lax.convert_element_type({call}, {element_type(dtype.name)})"


@writes("negate")
def _negate(code: FunctionCode, i: HloInstruction) -> str:
    return f"-{code.operand(i)}"


@writes("not")
def _not(code: FunctionCode, i: HloInstruction) -> str:
    return f"~{code.operand(i)}"


@writes("round-nearest-even", "round-nearest-afz")
def _round(code: FunctionCode, i: HloInstruction) -> str:
    method = "TO_NEAREST_EVEN" if i.opcode == "round-nearest-even" else "AWAY_FROM_ZERO"
    return f"lax.round({code.operand(i)}, lax.RoundingMethod.{method})"


@writes(*_BINARY)
def _binary(code: FunctionCode, i: HloInstruction) -> str:
    opcode, dtype = _meant(i), dtype_of(i.operands[0])
    operator = OPS[opcode].curve.symbol
    # Python's remainder has the sign of the divisor, and its quotient of integers is rounded down.
    if not operator or opcode == "remainder" or (opcode == "divide" and dtype.is_integral):
        return _through_bytes(i, _BINARY[opcode], code.operands(i))
    return _infix(code, i, operator)


def _infix(code: FunctionCode, i: HloInstruction, operator: str) -> str:
    """Two operands with an operator between; a constant as a bare number, if the other has the type and the sizes."""
    left, right = code.operands(i)
    numbers = [code.weak(o) for o in i.operands]
    if numbers[0] is None and numbers[1] is not None:
        right = numbers[1]
    elif numbers[1] is None and numbers[0] is not None:
        left = numbers[0]
    return f"{left} {operator} {right}"


@writes("compare")
def _compare(code: FunctionCode, i: HloInstruction) -> str:
    operator = _COMPARISONS[i.attributes["direction"]]
    dtype = dtype_of(i.operands[0])
    if comparison_type(i) != "TOTALORDER":
        return _infix(code, i, operator)
    if dtype.bits < 8:
        raise NotWritable(f"JAX compares no {dtype.name} in total order")
    helper = code.helper("_total_order")
    left, right = (f"{helper}({o})" for o in code.operands(i))
    return f"{left} {operator} {right}"


@writes("select")
def _select(code: FunctionCode, i: HloInstruction) -> str:
    condition, *sides = code.operands(i)
    numbers = [code.weak(o) for o in i.operands[1:]]
    if (numbers[0] is None) != (numbers[1] is None):
        sides = [n or s for n, s in zip(numbers, sides, strict=True)]
        return f"jnp.where({condition}, {', '.join(sides)})"
    return f"lax.select({condition}, {', '.join(sides)})"


@writes("clamp")
def _clamp(code: FunctionCode, i: HloInstruction) -> str:
    return f"lax.clamp({code.scalar(i, 0)}, {code.operand(i, 1)}, {code.scalar(i, 2)})"


@writes("convert")
def _convert(code: FunctionCode, i: HloInstruction) -> str:
    kind = element_type(i.shape.element_type)
    if i.operands[0].shape.element_type == i.shape.element_type:
        return code.operand(i)
    return f"lax.convert_element_type({code.operand(i)}, {kind})"


@writes("bitcast-convert")
def _bitcast_convert(code: FunctionCode, i: HloInstruction) -> str:
    return f"lax.bitcast_convert_type({code.operand(i)}, {element_type(i.shape.element_type)})"


@writes("reduce-precision")
def _reduce_precision(code: FunctionCode, i: HloInstruction) -> str:
    exponent, mantissa = i.attributes["exponent_bits"], i.attributes["mantissa_bits"]
    return f"lax.reduce_precision({code.operand(i)}, {exponent}, {mantissa})"


@writes("copy", "add-dependency")
def _same(code: FunctionCode, i: HloInstruction) -> Value:
    return code.values[i.operands[0]]


@writes("opt-barrier")
def _barrier(code: FunctionCode, i: HloInstruction) -> str:
    return f"lax.optimization_barrier({code.operand(i)})"
