"""Operations that make, cut and rearrange arrays."""

from __future__ import annotations

from hlotool.ir import HloInstruction
from hlotool.jax.lax import python_literals
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.function_code import FunctionCode, Value, constant_below, dtype_of, refuses, writes
from hlotool.jax.lax.python_literals import element_type

refuses("JAX has no arrays of dynamic sizes", "set-dimension-size", "dynamic-reshape")


@writes("constant")
def _constant(code: FunctionCode, i: HloInstruction) -> Value:
    literal = i.literal
    if literal.has_elided:
        raise NotWritable("the values of the constant were left out of the text")
    if literal.elements:
        raise NotWritable("tuples of constants are no values of JAX")
    if not i.shape.dims:
        return python_literals.scalar(literal.array[()], dtype_of(i))
    return python_literals.array(literal, lambda: code.helper("_unpacked"))


@writes("iota")
def _iota(code: FunctionCode, i: HloInstruction) -> str:
    kind = element_type(i.shape.element_type)
    if i.shape.rank == 1:
        return f"lax.iota({kind}, {i.shape.dims[0]})"
    return f"lax.broadcasted_iota({kind}, {i.shape.dims}, {i.attributes['iota_dimension']})"


@writes("broadcast")
def _broadcast(code: FunctionCode, i: HloInstruction) -> str:
    source = constant_below(i)
    if source is None:
        return f"lax.broadcast_in_dim({code.operand(i)}, {i.shape.dims}, {tuple(i.attributes.get('dimensions', ()))})"
    if not i.shape.dims:
        return code.operand(i)
    number = code.weak(source)
    if number is None:
        return f"jnp.full({i.shape.dims}, {code.operand(i)})"
    return f"jnp.full({i.shape.dims}, {number}, {element_type(i.shape.element_type)})"


@writes("reshape")
def _reshape(code: FunctionCode, i: HloInstruction) -> str:
    if i.operands[0].shape.dims == i.shape.dims:
        return code.operand(i)
    return f"lax.reshape({code.operand(i)}, {i.shape.dims})"


@writes("transpose")
def _transpose(code: FunctionCode, i: HloInstruction) -> str:
    return f"lax.transpose({code.operand(i)}, {tuple(i.attributes['dimensions'])})"


@writes("reverse")
def _reverse(code: FunctionCode, i: HloInstruction) -> str:
    return f"lax.rev({code.operand(i)}, {tuple(i.attributes['dimensions'])})"


@writes("concatenate")
def _concatenate(code: FunctionCode, i: HloInstruction) -> str:
    if len(i.operands) == 1:
        return code.operand(i)
    return f"lax.concatenate([{', '.join(code.operands(i))}], {i.attributes['dimensions'][0]})"


@writes("slice")
def _slice(code: FunctionCode, i: HloInstruction) -> str:
    rows = i.attributes["slice"]
    starts, limits, strides = (tuple(getattr(r, n) for r in rows) for n in ("start", "limit", "stride"))
    more = "" if all(s == 1 for s in strides) else f", {strides}"
    return f"lax.slice({code.operand(i)}, {starts}, {limits}{more})"


@writes("pad")
def _pad(code: FunctionCode, i: HloInstruction) -> str:
    rows = [(d.low, d.high, d.interior) for d in i.attributes["padding"].dimensions]
    return f"lax.pad({code.operand(i)}, {code.operand(i, 1)}, {rows})"


@writes("get-dimension-size")
def _dimension_size(code: FunctionCode, i: HloInstruction) -> str:
    return f"jnp.int32({i.operands[0].shape.dims[i.attributes['dimensions'][0]]})"
