"""What neural networks are made of."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def _axis(made: XlaOp, axis: int) -> int:
    return axis + made.rank if axis < 0 else axis


def _spread(b: Core, folded: XlaOp, like: XlaOp, axis: int) -> XlaOp:
    """What was folded along an axis, in the shape that it had."""
    return b.today("BroadcastInDim", folded, like.dims, [d for d in range(like.rank) if d != axis])


@function()
def softmax(b: Core, operand: Any, axis: int = -1) -> XlaOp:
    """Exponentials that add up to 1 along an axis."""
    made = b.operand(operand)
    axis = _axis(made, axis)
    raised = b.today("Exp", made - _spread(b, b.today("ReduceMax", made, [axis]), made, axis))
    found: XlaOp = raised / _spread(b, b.today("Sum", raised, [axis]), made, axis)
    return found


@function()
def log_softmax(b: Core, operand: Any, axis: int = -1) -> XlaOp:
    """The logarithm of Softmax, without leaving the range of floats."""
    made = b.operand(operand)
    axis = _axis(made, axis)
    low = made - _spread(b, b.today("ReduceMax", made, [axis]), made, axis)
    total = b.today("Log", b.today("Sum", b.today("Exp", low), [axis]))
    found: XlaOp = low - _spread(b, total, made, axis)
    return found


@function()
def relu(b: Core, operand: Any) -> XlaOp:
    """Zero where the operand is negative."""
    made = b.operand(operand)
    return b.today("Max", made, b.today("ZerosLike", made))


@function()
def gelu(b: Core, operand: Any) -> XlaOp:
    """x times the probability that a normal number is below it."""
    made = b.operand(operand)
    found: XlaOp = 0.5 * made * (1.0 + b.today("Erf", made * math.sqrt(0.5)))
    return found


@function()
def silu(b: Core, operand: Any) -> XlaOp:
    """x times Logistic(x)."""
    made = b.operand(operand)
    found: XlaOp = made * b.today("Logistic", made)
    return found


@function()
def layer_norm(b: Core, operand: Any, scale: Any, offset: Any, epsilon: float = 1e-5) -> XlaOp:
    """Normalised along the last dimension, then scaled and moved."""
    made = b.operand(operand)
    last = made.rank - 1
    centred = made - _spread(b, b.today("Mean", made, [last]), made, last)
    variance = b.today("Mean", centred * centred, [last])
    normal = centred * _spread(b, b.today("Rsqrt", variance + epsilon), made, last)
    scaled = b.today("Mul", normal, b.operand(scale, made.element_type), [last])
    return b.today("Add", scaled, b.operand(offset, made.element_type), [last])


@function()
def one_hot(b: Core, indices: Any, depth: int, element_type: Any = "f32") -> XlaOp:
    """A new last dimension with 1 at the index, 0 elsewhere."""
    made = b.operand(indices)
    dims = (*made.dims, depth)
    from hlotool.ir import Shape

    places = b.today("Iota", Shape.array(made.element_type, dims), len(dims) - 1)
    same = b.today("Eq", b.today("BroadcastInDim", made, dims, range(made.rank)), places)
    return b.today("ConvertElementType", same, element_type)
