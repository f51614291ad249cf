"""scaled-dot: a product of blocks that carry scales."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir import UNBOUNDED, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.contraction import (
    Ints,
    contract,
    cost_of_dot,
    dot_dimensions,
    dot_shape,
    precision_config,
    require_dot,
)
from hlotool.ops.conversion import cast
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Value, i64_array
from hlotool.ops.numbers import computed, converted
from hlotool.ops.random_programs import ORDERLESS, Draw
from hlotool.ops.registry import op, require
from hlotool.ops.rules import (
    ANY,
    require_array,
)


def scaled_dot_shape(lhs: Shape, rhs: Shape, lhs_scale: Shape, rhs_scale: Shape, *, lhs_contracting_dims: Ints = (),
                     rhs_contracting_dims: Ints = (), lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (),
                     declared: Shape | None = None) -> Shape:
    """Constraints 1 to 11 of scaled-dot."""
    require_dot("scaled-dot", lhs, rhs, (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims))
    for name, shape, scale, contracting in (("lhs", lhs, lhs_scale, lhs_contracting_dims),
                                            ("rhs", rhs, rhs_scale, rhs_contracting_dims)):
        require_array(scale, "scaled-dot-c1", f"the scale of {name}")
        if _has_any_rank(scale):
            continue
        require(scale.rank == shape.rank, "scaled-dot-c8",
                f"{name} is {shape.text(False)}, its scale {scale.text(False)}: the ranks differ")
        require(len(contracting) == 1, "scaled-dot-c9",
                f"{name} has a scale and {len(contracting)} contracting dimensions; it must have one",
                attribute=f"{name}_contracting_dims")
        require(all(UNBOUNDED in (d, s) or (s > 0 and d % s == 0)
                    for d, s in zip(shape.dims, scale.dims, strict=True)), "scaled-dot-c10",
                f"{name} is {shape.text(False)}: its dimensions are no multiples of those of "
                f"its scale {scale.text(False)}")
    require(bool(lhs_scale.dims or rhs_scale.dims), "scaled-dot-c11", "both scales are scalars")
    return dot_shape(lhs, rhs, lhs_contracting_dims=lhs_contracting_dims, rhs_contracting_dims=rhs_contracting_dims,
                     lhs_batch_dims=lhs_batch_dims, rhs_batch_dims=rhs_batch_dims, declared=declared)


def _has_any_rank(scale: Shape) -> bool:
    """A scalar, or a bf16 scale of one element, goes with any operand. Source: XLA, HloVerifier's scaled-dot check.

    A scalar stands for no scale; that one element is one all the same, and counts.
    """
    return not scale.dims or (scale.element_type == "bf16" and all(d == 1 for d in scale.dims))


def _emit_scaled_dot(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    shapes = [o.shape.without_layout() for o in instruction.operands]
    kind = instruction.shape.element_type
    sides = [_scaled(e, (operands[i], shapes[i]), (operands[i + 2], shapes[i + 2]), kind) for i in (0, 1)]
    return e.op("stablehlo.dot_general", sides, instruction.shape, {
        "dot_dimension_numbers": dot_dimensions(instruction.attributes),
        "precision_config": precision_config(instruction.attributes)})


def _scaled(e: Emitter, operand: tuple[Value, Shape], scaling: tuple[Value, Shape], kind: str) -> Value:
    """The operand in the result's type, each block times its scale."""
    (value, shape), (scale, scale_shape) = operand, scaling
    wide = shape.with_element_type(kind)
    value = cast(e, value, shape, wide)
    if not scale_shape.dims:
        return value
    scale = cast(e, scale, scale_shape, scale_shape.with_element_type(kind))
    if scale_shape.rank != shape.rank:
        scale_shape = shape.with_dims((1,) * shape.rank)
        scale = e.op("stablehlo.reshape", [scale], scale_shape.with_element_type(kind))
    blocks = tuple(n for d, s in zip(shape.dims, scale_shape.dims, strict=True) for n in (s, d // s))
    spread = e.op("stablehlo.broadcast_in_dim", [scale], wide.with_dims(blocks), {
        "broadcast_dimensions": i64_array(tuple(range(0, 2 * shape.rank, 2)))})
    return e.op("stablehlo.multiply", [value, e.op("stablehlo.reshape", [spread], wide)], wide)


def _draw_scaled_dot(d: Draw) -> None:
    m, n, blocks, size = d.between(1, 3), d.between(1, 3), d.between(1, 3), d.between(1, 3)
    sides = [d.argument((rows, blocks * size), edges=ORDERLESS) for rows in (m, n)]
    scales = [d.argument((rows, d.pick((1, blocks))), edges=()) for rows in (m, n)]
    d.add("scaled-dot", *sides, *scales, lhs_contracting_dims=(1,), rhs_contracting_dims=(1,))


@op(scaled_dot_shape, lowering=Lowering(_emit_scaled_dot), element_types=ANY, ulps=8, flags=("relayouts",),
    freedom=Freedom.SUMS, source=SPECIFICATION, draw=_draw_scaled_dot, cost=cost_of_dot)
def scaled_dot(lhs: Array, rhs: Array, lhs_scale: Array, rhs_scale: Array, *, lhs_contracting_dims: Ints = (),
               rhs_contracting_dims: Ints = (), lhs_batch_dims: Ints = (), rhs_batch_dims: Ints = (),
               operand_precision: tuple[str, ...] = (), shape: Shape) -> Array:
    """A dot of operands whose blocks are multiplied by scales first; a scalar scale counts as none.

    C1   All four operands are arrays.
    C2   Contracting and batch dimensions are dimensions of their operand.
    C3   No dimension of an operand is named twice.
    C4   Both sides have as many contracting dimensions.
    C5   Contracting dimensions pair up with equal sizes.
    C6   Both sides have as many batch dimensions.
    C7   Batch dimensions pair up with equal sizes.
    C8   A scale has the rank of its operand.
    C9   An operand with a scale has one contracting dimension.
    C10  Each dimension of an operand is a multiple of its scale's.
    C11  The scales are not both scalars.
    """
    target = shape.dtype.numpy
    sides = []
    for operand, scale in ((lhs, lhs_scale), (rhs, rhs_scale)):
        value = converted(operand, target)
        if scale.ndim:
            value = computed(np.multiply, value, over_blocks(converted(scale, target), value))
        sides.append(value)
    return contract(sides[0], sides[1], (lhs_contracting_dims, rhs_contracting_dims), (lhs_batch_dims, rhs_batch_dims),
                    target)


def over_blocks(scale: Array, operand: Array) -> Array:
    """A scale with each of its elements repeated over the block of the operand that it is for."""
    if scale.ndim != operand.ndim:  # of one element only
        scale = scale.reshape((1,) * operand.ndim)
    for axis, (d, s) in enumerate(zip(operand.shape, scale.shape, strict=True)):
        scale = np.repeat(scale, d // s, axis=axis)
    return scale
