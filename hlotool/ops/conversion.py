"""convert, bitcast-convert, reduce-precision and stochastic-convert."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import DTYPES, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import smt
from hlotool.ops.boundaries import of_convert, of_reduce_precision
from hlotool.ops.costs import moves
from hlotool.ops.curves import COMPONENT
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import CONVERTS, Elements, Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value
from hlotool.ops.numbers import converted, dtype_of, from_bits, narrow, to_bits
from hlotool.ops.random_programs import Draw, Undrawable, shape_text, special_integers
from hlotool.ops.registry import op, require
from hlotool.ops.rules import ANY, FLOAT, require_array, require_type, same_dims, same_size
from hlotool.ops.values import EvaluationError


def declared_array(declared: Shape | None, label: str, opcode: str) -> Shape:
    """The written result shape of an operation whose result does not follow from its operands."""
    require(declared is not None, f"{opcode}-shape", f"the result shape of {opcode} must be written")
    assert declared is not None
    require_array(declared, label, "the result")
    return declared


def convert_shape(operand: Shape, *, declared: Shape | None) -> Shape:
    """Constraints 1 and 2 of convert."""
    require_array(operand, "convert-c1")
    result = declared_array(declared, "convert-c1", "convert")
    require(same_dims(operand, result), "convert-c2",
            f"the operand is {operand.text(False)}, the result {result.text(False)}: the dimensions differ")
    return result


def cast(e: Emitter, value: Value, source: Shape, target: Shape) -> Value:
    """stablehlo.convert; complex to real goes over the real part, which the conversion is not defined to take."""
    if source.element_type == target.element_type:
        return value
    if source.dtype.is_complex and not target.dtype.is_complex:
        part = source.with_element_type(source.dtype.component.name)
        return cast(e, e.op("stablehlo.real", [value], part), part, target)
    return e.op("stablehlo.convert", [value], target)


def _emit_convert(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    source = instruction.operands[0].shape
    if source.element_type == instruction.shape.element_type:
        return e.op("stablehlo.convert", operands, instruction.shape)
    return cast(e, operands[0], source, instruction.shape)


def _lift_convert(r: Reader) -> HloInstruction:
    return r.add("convert", r.shape(), r.operands())


def _draw_convert(d: Draw) -> None:
    (operand,) = d.pairs(1)
    d.add("convert", operand, shape=shape_text(d.pick(tuple(DTYPES)), operand.dims))


@op(convert_shape, lowering=Lowering(_emit_convert, _lift_convert, ("stablehlo.convert",)), element_types=ANY,
    flags=("elementwise",), freedom=Freedom.NEAREST, source=SPECIFICATION, draw=_draw_convert,
    boundaries=of_convert, flow=CONVERTS, curve=COMPONENT, term=smt.CONVERT)
def convert(operand: Array, *, shape: Shape) -> Array:
    """Convert each element to the result's element type.

    Floats to integers truncate and saturate, NaN gives 0; integers wrap; anything to pred is x != 0; complex to
    real takes the real part; to floats rounds to nearest even.

    C1  The operand and the result are arrays.
    C2  Both have the same dimensions.
    """
    return converted(operand, shape.dtype.numpy)


def bitcast_convert_shape(operand: Shape, *, declared: Shape | None) -> Shape:
    """Constraints 1 to 5 of bitcast-convert."""
    require_array(operand, "bitcast-convert-c1")
    result = declared_array(declared, "bitcast-convert-c1", "bitcast-convert")
    old, new = operand.dtype, result.dtype
    require(old.is_complex == new.is_complex, "bitcast-convert-c2",
            f"{old} and {new}: complex elements only become complex ones")
    require(max(old.bits, new.bits) % min(old.bits, new.bits) == 0, "bitcast-convert-c3",
            f"{old} has {old.bits} bits and {new} {new.bits}: one must be a multiple of the other")
    ratio = max(old.bits, new.bits) // min(old.bits, new.bits)
    wanted, flags = operand.dims, operand.dynamic
    if old.bits > new.bits:
        wanted, flags = (*wanted, ratio), (*flags, False) if flags else ()
    elif old.bits < new.bits:
        require(bool(wanted) and same_size(wanted[-1], ratio), "bitcast-convert-c4",
                f"the operand is {operand.text(False)}: {old} to {new} takes a last dimension of {ratio}")
        wanted, flags = wanted[:-1], flags[:-1]
    return result.with_dims(wanted, flags)


def _emit_bitcast_convert(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return bitcast_elements(e, operands[0], instruction.operands[0].shape, instruction.shape)


def bitcast_elements(e: Emitter, value: Value, source: Shape, target: Shape) -> Value:
    """stablehlo.bitcast_convert; pred, one bit wide in StableHLO and eight in HLO, goes over u8."""
    if source.element_type == target.element_type:
        return value
    if source.element_type == "pred":
        byte = source.with_element_type("u8")
        return bitcast_elements(e, e.op("stablehlo.convert", [value], byte), byte, target)
    if target.element_type == "pred":
        byte = target.with_element_type("u8")
        return e.op("stablehlo.convert", [bitcast_elements(e, value, source, byte)], target)
    return e.op("stablehlo.bitcast_convert", [value], target)


def _lift_bitcast_convert(r: Reader) -> HloInstruction:
    return r.add("bitcast-convert", r.shape(), r.operands())


def _draw_bitcast_convert(d: Draw) -> None:
    fitting = [t for t in DTYPES.values() if t.is_complex == d.kind.is_complex
               and max(t.bits, d.kind.bits) % min(t.bits, d.kind.bits) == 0]
    target, dims = d.pick(fitting), d.dims()
    ratio = target.bits // d.kind.bits, d.kind.bits // target.bits
    operand = d.argument((*dims, ratio[0]) if ratio[0] > 1 else dims)
    d.add("bitcast-convert", operand, shape=shape_text(target.name, (*dims, ratio[1]) if ratio[1] > 1 else dims))


@op(bitcast_convert_shape, element_types=ANY, source=SPECIFICATION,
    lowering=Lowering(_emit_bitcast_convert, _lift_bitcast_convert, ("stablehlo.bitcast_convert",)),
    draw=_draw_bitcast_convert, cost=moves, flow=Flow(Elements.RECAST, (0, 1)), flags=("typed",),
    freedom=Freedom.BITS)
def bitcast_convert(operand: Array, *, shape: Shape) -> Array:
    """Read the bits of each element as the result's element type.

    Elements that become narrower gain a last dimension, index 0 holding the least significant bits; elements that
    become wider lose it. pred counts as eight bits.

    C1  The operand and the result are arrays.
    C2  Complex becomes complex, and nothing else does.
    C3  The larger width is a multiple of the smaller.
    C4  To widen, the last dimension has as many elements as make up one of the result.
    """
    target = shape.dtype
    old = dtype_of(operand.dtype)
    operand = np.asarray(operand, order="C")
    if old.is_complex:
        return _recast_complex(operand, old.bits, target)
    if old.bits == target.bits:
        return from_bits(to_bits(operand), target.numpy)
    bits = to_bits(operand)
    if old.bits > target.bits:
        places = np.arange(old.bits // target.bits, dtype=np.uint64) * np.uint64(target.bits)
        return from_bits(bits[..., None] >> places, target.numpy)
    places = np.arange(target.bits // old.bits, dtype=np.uint64) * np.uint64(old.bits)
    return from_bits(np.bitwise_or.reduce(bits << places, axis=-1), target.numpy)


def _recast_complex(operand: Array, bits: int, target: Any) -> Array:
    if bits == target.bits:
        return operand
    found = operand.reshape(*operand.shape, 1).view(target.numpy) if bits > target.bits else operand.view(target.numpy)
    return np.asarray(found if bits > target.bits else found[..., 0])


def reduce_precision_shape(operand: Shape, *, exponent_bits: int, mantissa_bits: int) -> Shape:
    """Constraints 1 to 3 of reduce-precision."""
    require_type(operand, FLOAT, "reduce-precision-c3")
    require(exponent_bits >= 1, "reduce-precision-c1", f"exponent_bits is {exponent_bits}; it must be at least 1",
            attribute="exponent_bits")
    require(mantissa_bits >= 0, "reduce-precision-c2", f"mantissa_bits is {mantissa_bits}; it must not be negative",
            attribute="mantissa_bits")
    return operand


def _emit_reduce_precision(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return e.op("stablehlo.reduce_precision", operands, instruction.shape, {
        name: f"{instruction.attributes[name]} : i32" for name in ("exponent_bits", "mantissa_bits")})


def _lift_reduce_precision(r: Reader) -> HloInstruction:
    return r.add("reduce-precision", r.shape(), r.operands(),
                 {name: r.int(name) for name in ("exponent_bits", "mantissa_bits")})


def _draw_reduce_precision(d: Draw) -> None:
    d.add("reduce-precision", *d.pairs(1), exponent_bits=d.between(1, d.kind.exponent_bits + 1),
          mantissa_bits=d.between(0, d.kind.mantissa_bits + 1))


@op(reduce_precision_shape, element_types=FLOAT, flags=("elementwise",), freedom=Freedom.NEAREST, source=SPECIFICATION,
    lowering=Lowering(_emit_reduce_precision, _lift_reduce_precision, ("stablehlo.reduce_precision",)),
    draw=_draw_reduce_precision, flow=CONVERTS, boundaries=of_reduce_precision)
def reduce_precision(operand: Array, *, exponent_bits: int, mantissa_bits: int) -> Array:
    """Round each element to the nearest number with so many exponent and mantissa bits, ties to even.

    What rounds past the range becomes infinite, what lies below its normal numbers becomes zero, NaN stays.

    C1  exponent_bits is at least 1.
    C2  mantissa_bits is not negative.
    C3  The operand is an array of floats.
    """
    kind = dtype_of(operand.dtype)
    if kind.bits < 16:
        wide = reduce_precision.evaluate(
            operand.astype(np.float32), exponent_bits=exponent_bits, mantissa_bits=mantissa_bits)
        return narrow(wide, operand.dtype)
    bits = _fewer_bits(to_bits(operand), kind.mantissa_bits, kind.exponent_bits, exponent_bits, mantissa_bits)
    return np.where(np.isnan(operand), operand, from_bits(bits, operand.dtype))


def _fewer_bits(bits: Array, mantissa: int, exponent: int, new_exponent: int, new_mantissa: int) -> Array:
    word = np.uint64
    if new_mantissa < mantissa:
        dropped = mantissa - new_mantissa
        last = word(1 << dropped)
        # Half of the last kept bit, less one where that bit is even: ties then go to even.
        bits = bits + ((bits & last) >> word(dropped)) + word((1 << dropped >> 1) - 1)
        bits = bits & ~word((1 << dropped) - 1)
    if new_exponent < exponent:
        sign = bits & word(1 << (mantissa + exponent))
        field = bits & word(((1 << exponent) - 1) << mantissa)
        bias, small = (1 << (exponent - 1)) - 1, (1 << (new_exponent - 1)) - 1
        infinity = word(((1 << exponent) - 1) << mantissa)
        bits = np.where(field > word((bias + small) << mantissa), sign | infinity, bits)
        bits = np.where(field <= word((bias - small) << mantissa), sign, bits)
    return bits


def stochastic_convert_shape(operand: Shape, random: Shape, *, declared: Shape | None) -> Shape:
    """Constraints 1 to 5 of stochastic-convert."""
    require_type(operand, FLOAT, "stochastic-convert-c1")
    require_type(random, ("unsigned",), "stochastic-convert-c2", "random")
    require(operand.dtype.bits == random.dtype.bits, "stochastic-convert-c3",
            f"the operand's {operand.element_type} has {operand.dtype.bits} bits, "
            f"random's {random.element_type} {random.dtype.bits}")
    require(same_dims(operand, random), "stochastic-convert-c4",
            f"the operand is {operand.text(False)}, random is {random.text(False)}: the dimensions differ")
    require(operand.minor_to_major == random.minor_to_major, "stochastic-convert-c5",
            f"the operand is {operand}, random is {random}: the layouts differ")
    result = declared_array(declared, "stochastic-convert-c1", "stochastic-convert")
    return operand.with_element_type(result.element_type)


def _emit_stochastic_convert(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    source, random = (o.shape for o in instruction.operands)
    if not instruction.shape.dtype.is_integral:
        e.refuse(instruction, "stochastic-convert is defined for integer results only")
    wide = source.with_element_type("f64").without_layout()

    def apply(name: str, *values: Value) -> Value:
        return e.op(f"stablehlo.{name}", values, wide)

    value = apply("convert", operands[0])
    size = apply("abs", value)
    whole = apply("floor", size)
    scale = e.constant(np.full(source.dims, 2.0 ** random.dtype.bits), wide)
    part = e.op("stablehlo.convert", [apply("multiply", apply("subtract", size, whole), scale)], random)
    up = e.op("stablehlo.compare", [operands[1], part], wide.with_element_type("pred"), {
        "comparison_direction": "#stablehlo<comparison_direction LT>",
        "compare_type": "#stablehlo<comparison_type UNSIGNED>"})
    rounded = apply("add", whole, apply("convert", up))
    return e.op("stablehlo.convert", [apply("multiply", apply("sign", value), rounded)], instruction.shape)


def _lift_stochastic_convert(r: Reader) -> HloInstruction:
    return r.add("stochastic-convert", r.shape(), r.operands())


def _draw_stochastic_convert(d: Draw) -> None:
    if (bits := f"u{d.kind.bits}") not in DTYPES:
        raise Undrawable
    (operand,) = d.pairs(1)
    numbers = special_integers(DTYPES[bits])
    random = d.parameter([numbers[d.indices(operand.dims, len(numbers))]], bits)
    d.add("stochastic-convert", operand, random, shape=shape_text(d.pick(("s8", "s32", "u16")), operand.dims))


@op(stochastic_convert_shape, element_types=FLOAT, flags=("elementwise", "typed"), source=SPECIFICATION,
    lowering=Lowering(_emit_stochastic_convert, _lift_stochastic_convert, ("mhlo.stochastic_convert",)),
    draw=_draw_stochastic_convert, flow=CONVERTS)
def stochastic_convert(operand: Array, random: Array, *, shape: Shape) -> Array:
    """Convert to integers, rounding away from zero with the probability that the fraction says.

    The magnitude rounds up where `random`, as a fraction of its range, lies below the magnitude's fraction.

    C1  The operand is an array of floats.
    C2  random is an array of unsigned integers.
    C3  Elements of both have the same width.
    C4  Both have the same dimensions.
    C5  Both have the same layout.
    """
    if not shape.dtype.is_integral:
        raise EvaluationError(f"stochastic-convert to {shape.element_type} has no defined value")
    value = operand.astype(np.float64)
    with np.errstate(all="ignore"):
        size = np.abs(value)
        whole = np.floor(size)
        fraction = np.ldexp(np.nan_to_num(size - whole), dtype_of(random.dtype).bits)
        up = random.astype(np.float64) < np.floor(fraction)
        return converted(np.copysign(whole + up, value), shape.dtype.numpy)
