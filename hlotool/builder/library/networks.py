"""What neural networks are made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hlotool.builder.functions import function, today
from hlotool.builder.handles import XlaOp

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def _axis(made: XlaOp, axis: int) -> int:
    return axis + made.rank if axis < 0 else axis


def _spread(b: Core, folded: XlaOp, like: XlaOp, axis: int) -> XlaOp:
    """What was folded along an axis, in the shape that it had."""
    return today(b, "BroadcastInDim", folded, like.dims, [d for d in range(like.rank) if d != axis])


@function()
def softmax(b: Core, operand: Any, axis: int = -1) -> XlaOp:
    """Exponentials that add up to 1 along an axis."""
    made = b.operand(operand)
    axis = _axis(made, axis)
    raised = today(b, "Exp", made - _spread(b, today(b, "ReduceMax", made, [axis]), made, axis))
    found: XlaOp = raised / _spread(b, today(b, "Sum", raised, [axis]), made, axis)
    return found


@function()
def log_softmax(b: Core, operand: Any, axis: int = -1) -> XlaOp:
    """The logarithm of Softmax, without leaving the range of floats."""
    made = b.operand(operand)
    axis = _axis(made, axis)
    low = made - _spread(b, today(b, "ReduceMax", made, [axis]), made, axis)
    total = today(b, "Log", today(b, "Sum", today(b, "Exp", low), [axis]))
    found: XlaOp = low - _spread(b, total, made, axis)
    return found


@function()
def relu(b: Core, operand: Any) -> XlaOp:
    """Zero where the operand is negative."""
    made = b.operand(operand)
    return today(b, "Max", made, today(b, "ZerosLike", made))


@function()
def gelu(b: Core, operand: Any) -> XlaOp:
    """x times the probability that a normal number is below it."""
    made = b.operand(operand)
    found: XlaOp = 0.5 * made * (1.0 + today(b, "Erf", made * math.sqrt(0.5)))
    return found


@function()
def silu(b: Core, operand: Any) -> XlaOp:
    """x times Logistic(x)."""
    made = b.operand(operand)
    found: XlaOp = made * today(b, "Logistic", made)
    return found


@function()
def layer_norm(b: Core, operand: Any, scale: Any, offset: Any, epsilon: float = 1e-5) -> XlaOp:
    """Normalised along the last dimension, then scaled and moved."""
    made = b.operand(operand)
    last = made.rank - 1
    centred = made - _spread(b, today(b, "Mean", made, [last]), made, last)
    variance = today(b, "Mean", centred * centred, [last])
    normal = centred * _spread(b, today(b, "Rsqrt", variance + epsilon), made, last)
    scaled = today(b, "Mul", normal, b.operand(scale, made.element_type), [last])
    return today(b, "Add", scaled, b.operand(offset, made.element_type), [last])


@function()
def one_hot(b: Core, indices: Any, depth: int, element_type: Any = "f32") -> XlaOp:
    """A new last dimension with 1 at the index, 0 elsewhere."""
    made = b.operand(indices)
    dims = (*made.dims, depth)
    from hlotool.ir import Shape

    places = today(b, "Iota", Shape.array(made.element_type, dims), len(dims) - 1)
    same = today(b, "Eq", today(b, "BroadcastInDim", made, dims, range(made.rank)), places)
    return today(b, "ConvertElementType", same, element_type)
