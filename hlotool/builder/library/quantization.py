"""Floats as integers of few bits, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.library.constants import limits_of
from hlotool.builder.problems import demand
from hlotool.builder.python_values import element_type_of
from hlotool.ir import Shape
from hlotool.ir.arrays import np

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def _along(b: Methods, value: Any, like: XlaOp, axis: int | None) -> XlaOp:
    """A scale or zero point: a scalar, or one for each place along an axis."""
    made = b.ConvertElementType(b.operand(value, like.element_type), like.element_type)
    return b.BroadcastInDim(made, like.dims, [] if axis is None or made.rank == 0 else [axis])


@function()
def quantize(b: Methods, operand: Any, scale: Any, zero_point: Any = 0.0, element_type: Any = "s8",
             axis: int | None = None) -> XlaOp:
    """The nearest integers to operand / scale + zero_point, held within the element type."""
    made, name = b.operand(operand), element_type_of(element_type)
    moved = made / _along(b, scale, made, axis) + _along(b, zero_point, made, axis)
    low, high = limits_of(name)
    held = b.Clamp(float(low), b.RoundNearestEven(moved), float(high))
    return b.ConvertElementType(held, name)


@function()
def dequantize(b: Methods, operand: Any, scale: Any, zero_point: Any = 0.0, element_type: Any = "f32",
               axis: int | None = None) -> XlaOp:
    """The floats (operand - zero_point) * scale."""
    made = b.ConvertElementType(operand, element_type)
    found: XlaOp = (made - _along(b, zero_point, made, axis)) * _along(b, scale, made, axis)
    return found


@function(name="PackToUint32")
def pack_to_uint32(b: Methods, values: Any) -> Any:
    """Integers of 8 or 16 bits, four or two in each u32, the first one uppermost: an array of NumPy's."""
    given = np.asarray(values)
    demand(given.ndim == 1 and given.dtype.kind in "iu" and given.itemsize in (1, 2), ARGUMENTS,
           f"PackToUint32 takes a list of integers of 8 or 16 bits; it is given {given.dtype.name}{list(given.shape)}")
    count = 4 // given.itemsize
    bits = given.view(f"u{given.itemsize}").astype(np.uint32)
    rows = np.pad(bits, (0, -len(bits) % count)).reshape(-1, count)
    shifts = np.uint32(8 * given.itemsize) * np.arange(count, dtype=np.uint32)[::-1]
    return np.bitwise_or.reduce(rows << shifts, axis=1)


@function()
def dequantize_packed(b: Methods, input: Any, min_in: float, max_in: float, element_type: Any = "u8",
                      transpose_output: bool = False) -> XlaOp:
    """bf16 from what PackToUint32 packed, whose range is [min_in, max_in]: XLA's Dequantize, mode MIN_COMBINED.

    The last dimension is as many times longer as a u32 holds values; `transpose_output` reverses the dimensions.
    """
    made, name = b.operand(input), element_type_of(element_type)
    demand(made.element_type == "u32" and made.rank >= 1 and name in ("u8", "u16", "s8", "s16"), ARGUMENTS,
           f"packed values are u32 and hold u8, u16, s8 or s16; they are {made.shape.text(False)} of {name}")
    bits, is_signed = int(name[1:]), name[0] == "s"
    count, levels = 32 // bits, (1 << bits) - 1
    shape = Shape.array("u32", (*made.dims, count))
    shift = b.Mul(b.Sub(count - 1, b.Iota(shape, made.rank)), bits)
    spread = b.BroadcastInDim(made, shape.dims, list(range(made.rank)))
    parts = b.And(b.ShiftRightLogical(spread, shift), levels)
    # XLA does not extend signs: what it adds to signed values, as if they were so, is kept.
    wide = b.ConvertElementType(parts, "bf16")
    import ml_dtypes

    low, high = (ml_dtypes.bfloat16(v) for v in (min_in, max_in))
    scale = ml_dtypes.bfloat16((high - low) / ml_dtypes.bfloat16(levels))
    moved = b.Add(wide, float(1 << (bits - 1)) if is_signed else 0.0)
    values = b.Add(b.Mul(moved, float(scale)), float(low))
    found = b.Reshape(values, [*made.dims[:-1], made.dims[-1] * count])
    return b.Transpose(found, list(reversed(range(found.rank)))) if transpose_output else found


@function()
def fake_quantize(b: Methods, operand: Any, scale: Any, zero_point: Any = 0.0, element_type: Any = "s8",
                  axis: int | None = None) -> XlaOp:
    """Return floats after Quantize and Dequantize."""
    made = b.operand(operand)
    return dequantize(b, quantize(b, made, scale, zero_point, element_type, axis), scale, zero_point,
                      made.element_type, axis)
