"""Functions of neural networks."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.python_values import axis_of

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def _spread(b: Methods, folded: XlaOp, like: XlaOp, axis: int) -> XlaOp:
    """Return the result of a fold along an axis in the shape before it."""
    return b.BroadcastInDim(folded, like.dims, [d for d in range(like.rank) if d != axis])


@function()
def softmax(b: Methods, operand: Any, axis: int = -1) -> XlaOp:
    """Exponentials that add up to 1 along an axis."""
    made = b.operand(operand)
    axis = axis_of(made, axis)
    raised = b.Exp(made - _spread(b, b.ReduceMax(made, [axis]), made, axis))
    found: XlaOp = raised / _spread(b, b.Sum(raised, [axis]), made, axis)
    return found


@function()
def log_softmax(b: Methods, operand: Any, axis: int = -1) -> XlaOp:
    """The logarithm of Softmax, without leaving the range of floats."""
    made = b.operand(operand)
    axis = axis_of(made, axis)
    low = made - _spread(b, b.ReduceMax(made, [axis]), made, axis)
    total = b.Log(b.Sum(b.Exp(low), [axis]))
    found: XlaOp = low - _spread(b, total, made, axis)
    return found


@function()
def relu(b: Methods, operand: Any) -> XlaOp:
    """Zero where the operand is negative."""
    made = b.operand(operand)
    return b.Max(made, b.ZerosLike(made))


@function()
def gelu(b: Methods, operand: Any) -> XlaOp:
    """x times the probability that a normal number is below it."""
    made = b.operand(operand)
    found: XlaOp = 0.5 * made * (1.0 + b.Erf(made * math.sqrt(0.5)))
    return found


@function()
def silu(b: Methods, operand: Any) -> XlaOp:
    """x times Logistic(x)."""
    made = b.operand(operand)
    found: XlaOp = made * b.Logistic(made)
    return found


@function()
def layer_norm(b: Methods, operand: Any, scale: Any, offset: Any, epsilon: float = 1e-5) -> XlaOp:
    """Normalised along the last dimension, then scaled and moved."""
    made = b.operand(operand)
    last = made.rank - 1
    centred = made - _spread(b, b.Mean(made, [last]), made, last)
    variance = b.Mean(centred * centred, [last])
    normal = centred * _spread(b, b.Rsqrt(variance + epsilon), made, last)
    scaled = b.Mul(normal, b.operand(scale, made.element_type), [last])
    return b.Add(scaled, b.operand(offset, made.element_type), [last])


@function()
def one_hot(b: Methods, indices: Any, depth: int, element_type: Any = "f32") -> XlaOp:
    """A new last dimension with 1 at the index, 0 elsewhere."""
    made = b.operand(indices)
    dims = (*made.dims, depth)
    from hlotool.ir import Shape

    places = b.Iota(Shape.array(made.element_type, dims), len(dims) - 1)
    same = b.Eq(b.BroadcastInDim(made, dims, range(made.rank)), places)
    return b.ConvertElementType(same, element_type)
