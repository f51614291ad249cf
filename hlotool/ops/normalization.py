"""Batch normalisation: training, inference and gradient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.called import same_up_to_precision, scalar
from hlotool.ops.costs import Cost, Inner, elements_of, traffic
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64, shortest
from hlotool.ops.numbers import narrow, wide_dtype
from hlotool.ops.random_programs import Draw, Drawn
from hlotool.ops.registry import op, require
from hlotool.ops.rules import FLOAT, require_in_range, require_type, same_dims, same_size


def _require_batch_norm(opcode: str, operand: Shape, features: dict[str, Shape], feature_index: int) -> Shape:
    """Constraints 1 to 4 of the three; the shape of one value for each feature."""
    require_type(operand, FLOAT, f"{opcode}-c1")
    require(operand.rank > 0, f"{opcode}-c1", f"the operand is {operand.text(False)}; it must have a dimension")
    require_in_range((feature_index,), operand.rank, f"{opcode}-c2", "feature_index", attribute="feature_index")
    size = operand.dims[feature_index]
    for name, shape in features.items():
        require(shape.is_array and shape.rank == 1 and same_size(shape.dims[0], size), f"{opcode}-c3",
                f"{name} is {shape.text(False)}; the operand {operand.text(False)} has {size} features along "
                f"dimension {feature_index}, which need [{size}]")
        require(same_up_to_precision(scalar(shape), scalar(operand)), f"{opcode}-c4",
                f"{name} is {shape.text(False)}, the operand is {operand.text(False)}: the element types differ")
    return Shape.array(operand.element_type, (size,), None, (operand.dynamic_flags[feature_index],))


def _lowering(name: str, opcode: str) -> Lowering:
    full = f"stablehlo.{name}"

    def emit(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        return e.op(full, operands, instruction.shape, {
            "epsilon": f"{_f32(instruction.attributes['epsilon'])} : f32",
            "feature_index": i64(instruction.attributes["feature_index"])})

    def lift(r: Reader) -> HloInstruction:
        return r.add(opcode, r.shape(), r.operands(),
                     {"epsilon": r.float("epsilon"), "feature_index": r.int("feature_index")})

    return Lowering(emit, lift, (full,), ("feature_index",), {"epsilon": _is_short})


def _is_short(epsilon: float, _: HloInstruction) -> bool:
    """Return True if an import, which knows 32 bits of it, writes the same number."""
    return shortest(epsilon) == epsilon


def _f32(value: float) -> str:
    """A float as MLIR reads it: bits where decimals would not do."""
    with np.errstate(over="ignore"):  # what is larger than the type holds is infinity
        single = np.float32(value)
    return f"{single:.9e}" if np.isfinite(single) else f"0x{single.view(np.uint32):08X}"


def _axes(operand: Array, feature_index: int) -> tuple[int, ...]:
    return tuple(d for d in range(operand.ndim) if d != feature_index)


def _spread(values: Array, operand: Array, feature_index: int) -> Array:
    """One value for each feature, so that it broadcasts against the operand."""
    dims = [-1 if d == feature_index else 1 for d in range(operand.ndim)]
    return values.astype(_wide(operand)).reshape(dims)


def _wide(operand: Array) -> Any:
    return wide_dtype(operand.dtype, precise=True)


def batch_norm_training_shape(operand: Shape, scale: Shape, offset: Shape, *, feature_index: int) -> Shape:
    """Constraints 1 to 4 of batch-norm-training."""
    feature = _require_batch_norm("batch-norm-training", operand, {"scale": scale, "offset": offset}, feature_index)
    return Shape.tuple(operand, feature, feature)


def _draw_batch_norm(d: Draw) -> None:
    dims = tuple(d.between(1, 4) for _ in range(d.between(2, 4)))
    if d.edge("empty"):
        dims = (0, *dims[1:])
    at = d.between(0, len(dims) - 1)
    row = (dims[at],)

    def some(dims: tuple[int, ...] = row) -> Drawn:
        return d.argument(dims, edges=("nan",))

    variance = d.parameter([np.abs(d.values(row, edges=())) + np.ones(row, d.kind.numpy)], d.dtype)
    operands = {"batch-norm-training": lambda: [some(dims), some(), some()],
                "batch-norm-inference": lambda: [some(dims), some(), some(), some(), variance],
                "batch-norm-grad": lambda: [some(dims), some(), some(), variance, some(dims)]}[d.opcode]()
    d.add(d.opcode, *operands, epsilon=0.125, feature_index=at)


#: arithmetic for each element of the operand: sums, centring and squaring, then scaling; gradients need both sums
_WORK = {"batch-norm-training": 7, "batch-norm-inference": 3, "batch-norm-grad": 11}


def _cost(instruction: HloInstruction, inner: Inner) -> Cost:
    """A few operations an element, and a square root for each feature."""
    operand, scale = (o.shape for o in instruction.operands[:2])
    work = Cost(_WORK[instruction.opcode] * elements_of(operand) + 2 * elements_of(scale), elements_of(scale))
    return traffic(instruction) + work


@op(batch_norm_training_shape, lowering=_lowering("batch_norm_training", "batch-norm-training"), element_types=FLOAT,
    ulps=64.0, flags=("relayouts",), freedom=Freedom.BACKWARD, source=SPECIFICATION, draw=_draw_batch_norm, cost=_cost)
def batch_norm_training(operand: Array, scale: Array, offset: Array, *, epsilon: float, feature_index: int) -> Any:
    """Normalise each feature by its own mean and variance over all other dimensions; gives those two as well.

    The variance divides by the number of elements. No elements give NaN moments.

    C1  The operand is an array of floats with at least one dimension.
    C2  feature_index is a dimension of the operand.
    C3  scale and offset have one dimension, as long as the feature dimension.
    C4  All have one element type, up to the precision of floats.
    """
    x, axes = operand.astype(_wide(operand)), _axes(operand, feature_index)
    with np.errstate(all="ignore"):
        count = int(np.prod([operand.shape[a] for a in axes], dtype=np.int64))
        mean = x.sum(axes) / count if count else np.full(operand.shape[feature_index], np.nan)
        centred = x - _spread(mean, x, feature_index)
        variance = (centred**2).sum(axes) / count if count else np.full_like(mean, np.nan)
        deviation = np.sqrt(variance + np.float32(epsilon))
        result = (centred / _spread(deviation, x, feature_index) * _spread(scale, x, feature_index)
                  + _spread(offset, x, feature_index))
    return tuple(narrow(a, operand.dtype) for a in (result, mean, variance))


def batch_norm_inference_shape(operand: Shape, scale: Shape, offset: Shape, mean: Shape, variance: Shape, *,
                               feature_index: int) -> Shape:
    """Constraints 1 to 4 of batch-norm-inference."""
    _require_batch_norm("batch-norm-inference", operand, {
        "scale": scale, "offset": offset, "mean": mean, "variance": variance}, feature_index)
    return operand


@op(batch_norm_inference_shape, lowering=_lowering("batch_norm_inference", "batch-norm-inference"),
    element_types=FLOAT, ulps=64.0, flags=("relayouts",), freedom=Freedom.BACKWARD, source=SPECIFICATION,
    draw=_draw_batch_norm, cost=_cost)
def batch_norm_inference(operand: Array, scale: Array, offset: Array, mean: Array, variance: Array, *,
                         epsilon: float, feature_index: int) -> Array:
    """Normalise each feature by a mean and a variance that are given.

    C1  The operand is an array of floats with at least one dimension.
    C2  feature_index is a dimension of the operand.
    C3  scale, offset, mean and variance have one dimension, as long as the feature dimension.
    C4  All have one element type, up to the precision of floats.
    """
    x = operand.astype(_wide(operand))
    with np.errstate(all="ignore"):
        deviation = np.sqrt(variance.astype(x.dtype) + np.float32(epsilon))
        result = ((x - _spread(mean, x, feature_index)) / _spread(deviation, x, feature_index)
                  * _spread(scale, x, feature_index) + _spread(offset, x, feature_index))
    return narrow(result, operand.dtype)


def batch_norm_grad_shape(operand: Shape, scale: Shape, mean: Shape, variance: Shape, grad_output: Shape, *,
                          feature_index: int) -> Shape:
    """Constraints 1 to 5 of batch-norm-grad."""
    feature = _require_batch_norm("batch-norm-grad", operand, {"scale": scale, "mean": mean, "variance": variance},
                                  feature_index)
    require_type(grad_output, FLOAT, "batch-norm-grad-c5", "grad_output")
    require(same_dims(grad_output, operand), "batch-norm-grad-c5",
            f"grad_output is {grad_output.text(False)}, the operand is {operand.text(False)}: the dimensions differ")
    require(same_up_to_precision(scalar(grad_output), scalar(operand)), "batch-norm-grad-c4",
            f"grad_output is {grad_output.text(False)}, the operand is {operand.text(False)}: the element types differ")
    return Shape.tuple(operand, feature, feature)


@op(batch_norm_grad_shape, lowering=_lowering("batch_norm_grad", "batch-norm-grad"), element_types=FLOAT, ulps=256.0,
    flags=("relayouts",), freedom=Freedom.BACKWARD, source=SPECIFICATION, draw=_draw_batch_norm, cost=_cost)
def batch_norm_grad(operand: Array, scale: Array, mean: Array, variance: Array, grad_output: Array, *,
                    epsilon: float, feature_index: int) -> Any:
    """Gradients of batch-norm-training for its operand, scale and offset; mean and variance are given.

    C1  The operand is an array of floats with at least one dimension.
    C2  feature_index is a dimension of the operand.
    C3  scale, mean and variance have one dimension, as long as the feature dimension.
    C4  All have one element type, up to the precision of floats.
    C5  grad_output is an array of floats with the operand's dimensions.
    """
    x, gradient = operand.astype(_wide(operand)), grad_output.astype(_wide(operand))
    axes = _axes(operand, feature_index)
    with np.errstate(all="ignore"):
        count = np.prod([operand.shape[a] for a in axes], dtype=np.float64)
        spread_variance = variance.astype(x.dtype) + np.float32(epsilon)
        centred = x - _spread(mean, x, feature_index)
        grad_offset = gradient.sum(axes)
        weighted = (gradient * centred).sum(axes)
        grad_scale = weighted / np.sqrt(spread_variance)
        slope = _spread(weighted / spread_variance / count, x, feature_index)
        factor = _spread(scale.astype(x.dtype) / np.sqrt(spread_variance), x, feature_index)
        grad_operand = factor * (gradient - _spread(grad_offset / count, x, feature_index) - slope * centred)
    return tuple(narrow(a, operand.dtype) for a in (grad_operand, grad_scale, grad_offset))
