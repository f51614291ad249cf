"""Floats as integers of few bits, and back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hlotool.builder.functions import function, today
from hlotool.builder.handles import XlaOp
from hlotool.builder.library.constants import limits_of
from hlotool.builder.python_values import element_type_of

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def _along(b: Core, value: Any, like: XlaOp, axis: int | None) -> XlaOp:
    """A scale or zero point: a scalar, or one for each place along an axis."""
    made = today(b, "ConvertElementType", b.operand(value, like.element_type), like.element_type)
    return today(b, "BroadcastInDim", made, like.dims, [] if axis is None or made.rank == 0 else [axis])


@function()
def quantize(b: Core, operand: Any, scale: Any, zero_point: Any = 0.0, element_type: Any = "s8",
             axis: int | None = None) -> XlaOp:
    """The nearest integers to operand / scale + zero_point, held within the element type."""
    made, name = b.operand(operand), element_type_of(element_type)
    moved = made / _along(b, scale, made, axis) + _along(b, zero_point, made, axis)
    low, high = limits_of(name)
    held = today(b, "Clamp", float(low), today(b, "RoundNearestEven", moved), float(high))
    return today(b, "ConvertElementType", held, name)


@function()
def dequantize(b: Core, operand: Any, scale: Any, zero_point: Any = 0.0, element_type: Any = "f32",
               axis: int | None = None) -> XlaOp:
    """The floats (operand - zero_point) * scale."""
    made = today(b, "ConvertElementType", operand, element_type)
    found: XlaOp = (made - _along(b, zero_point, made, axis)) * _along(b, scale, made, axis)
    return found


@function()
def fake_quantize(b: Core, operand: Any, scale: Any, zero_point: Any = 0.0, element_type: Any = "s8",
                  axis: int | None = None) -> XlaOp:
    """What is left of floats after Quantize and Dequantize."""
    made = b.operand(operand)
    return dequantize(b, quantize(b, made, scale, zero_point, element_type, axis), scale, zero_point,
                      made.element_type, axis)
