"""dynamic-slice and dynamic-update-slice; gather and scatter are in gathering.py."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir import UNBOUNDED, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import index_maps
from hlotool.ops.boundaries import of_dynamic_slice, of_dynamic_update_slice
from hlotool.ops.costs import reads_a_part, updates_a_part
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import PICKS, Elements, Flow
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64_array
from hlotool.ops.random_programs import Draw, Drawn
from hlotool.ops.registry import op, require
from hlotool.ops.relation_files import relation_moves
from hlotool.ops.rules import ANY, listed, require_array, require_same_type


def _require_starts(opcode: str, operand: Shape, starts: Sequence[Shape]) -> None:
    """One integral scalar a dimension, all of one type; or, as until 2019, one integral vector."""
    for i, start in enumerate(starts):
        require(start.is_array and start.dtype.is_integral, f"{opcode}-c3",
                f"start index {i} is {start}, which is not an array of integers")
    if len(starts) == 1 and starts[0].rank == 1:
        require(starts[0].dims[0] in (operand.rank, UNBOUNDED), f"{opcode}-c2",
                f"the start indices are {starts[0].text(False)}, the operand {operand.text(False)} "
                f"has {operand.rank} dimensions")
        return
    require(len(starts) == operand.rank, f"{opcode}-c2",
            f"{len(starts)} start indices are given, the operand {operand.text(False)} has {operand.rank} dimensions")
    for i, start in enumerate(starts):
        require(not start.dims, f"{opcode}-c3", f"start index {i} is {start.text(False)}, which is not a scalar")
    require_same_type(starts, f"{opcode}-c3", [f"start index {i}" for i in range(len(starts))])


def dynamic_slice_shape(operand: Shape, *start_indices: Shape, dynamic_slice_sizes: tuple[int, ...]) -> Shape:
    """Constraints 1 to 5 of dynamic-slice."""
    sizes = dynamic_slice_sizes
    require_array(operand, "dynamic-slice-c1")
    _require_starts("dynamic-slice", operand, start_indices)
    require(len(sizes) == operand.rank, "dynamic-slice-c4",
            f"dynamic_slice_sizes={{{listed(sizes)}}} has {len(sizes)} entries, "
            f"the operand {operand.text(False)} has {operand.rank} dimensions", attribute="dynamic_slice_sizes")
    for i, (size, whole) in enumerate(zip(sizes, operand.dims, strict=True)):
        require(size >= 0 and (size <= whole or whole == UNBOUNDED), "dynamic-slice-c5",
                f"slice size {size} does not fit dimension {i}, which has size {whole}",
                attribute="dynamic_slice_sizes")
    flags = tuple(flag and size == whole and size > 1
                  for flag, size, whole in zip(operand.dynamic_flags, sizes, operand.dims, strict=True))
    return operand.with_dims(sizes, flags)


def start_numbers(starts: Sequence[Array]) -> list[int]:
    """The start indices as Python numbers, of either form."""
    if len(starts) == 1 and starts[0].ndim == 1:
        return [int(i) for i in starts[0]]
    return [int(i) for i in starts]


def clamped(starts: Sequence[int], whole: Sequence[int], block: Sequence[int]) -> tuple[slice, ...]:
    """The block at the starts, moved so that it fits."""
    places = [min(max(s, 0), w - b) for s, w, b in zip(starts, whole, block, strict=True)]
    return tuple(np.s_[p:p + b] for p, b in zip(places, block, strict=True))


def scalar_starts(e: Emitter, instruction: HloInstruction, operands: Sequence[Value], first: int) -> list[Value]:
    """The start indices as scalars; the one vector of the old form is cut up."""
    starts = list(operands[first:])
    shapes = [o.shape for o in instruction.operands[first:]]
    if len(starts) != 1 or shapes[0].rank != 1:
        return starts
    scalar = Shape.array(shapes[0].element_type)
    rows = [e.op("stablehlo.slice", starts, scalar.with_dims((1,)), {
        "start_indices": i64_array([i]), "limit_indices": i64_array([i + 1]), "strides": i64_array([1])})
        for i in range(shapes[0].dims[0])]
    return [e.op("stablehlo.reshape", [row], scalar) for row in rows]


def _emit_dynamic_slice(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    if not instruction.shape.dims:
        return operands[0]  # all of a scalar; StableHLO cannot read its own text of a slice without starts
    return e.op("stablehlo.dynamic_slice", [operands[0], *scalar_starts(e, instruction, operands, 1)],
                instruction.shape, {"slice_sizes": i64_array(instruction.attributes["dynamic_slice_sizes"])})


def _lift_dynamic_slice(r: Reader) -> HloInstruction:
    return r.add("dynamic-slice", r.shape(), r.operands(), {"dynamic_slice_sizes": r.ints("slice_sizes")})


def _draw_starts(d: Draw, sizes: Sequence[int], kept: Sequence[int]) -> list[Drawn]:
    """A scalar for each dimension, past the ends for an edge."""
    is_outside, kind = d.edge("clamped"), d.pick(("s32", "s64", "u32", "u8", "s8"))
    least = 0 if kind.startswith("u") else -3
    return [d.argument((), kind, among=range(least, size + 4) if is_outside else range(size - own + 1))
            for size, own in zip(sizes, kept, strict=True)]


def _draw_dynamic_slice(d: Draw) -> None:
    operand = d.argument(d.dims(0))
    sizes = tuple(d.between(0 if d.edge("nothing") else min(1, n), n) for n in operand.dims)
    d.add("dynamic-slice", operand, *_draw_starts(d, operand.dims, sizes), dynamic_slice_sizes=sizes)


@op(dynamic_slice_shape, element_types=ANY, source=SPECIFICATION,
    lowering=Lowering(_emit_dynamic_slice, _lift_dynamic_slice, ("stablehlo.dynamic_slice",),
                      ("dynamic_slice_sizes",)), draw=_draw_dynamic_slice,
    boundaries=of_dynamic_slice, cost=reads_a_part, flow=PICKS,
    index_map=index_maps.of_dynamic_slice, sharding=relation_moves.dynamic_slice)
def dynamic_slice(operand: Array, *start_indices: Array, dynamic_slice_sizes: tuple[int, ...]) -> Array:
    """Cut a block at start indices that are computed; starts are clamped so that the block fits.

    C1  The operand is an array.
    C2  There is one start index for each dimension of the operand.
    C3  Start indices are integral scalars of one type (or, as in old texts, one integral vector).
    C4  dynamic_slice_sizes has one entry for each dimension.
    C5  Each size is between 0 and the dimension's size.
    """
    block = [min(b, w) for b, w in zip(dynamic_slice_sizes, operand.shape, strict=True)]
    return np.asarray(operand[clamped(start_numbers(start_indices), operand.shape, block)], order="C")


def dynamic_update_slice_shape(operand: Shape, update: Shape, *start_indices: Shape) -> Shape:
    """Constraints 1 to 6 of dynamic-update-slice."""
    array = operand.elements[0] if operand.is_buffer else operand
    require_array(array, "dynamic-update-slice-c1")
    require_array(update, "dynamic-update-slice-c1", "the update")
    require(array.element_type == update.element_type, "dynamic-update-slice-c4",
            f"the operand is {array.text(False)}, the update {update.text(False)}: the element types differ")
    require(array.rank == update.rank, "dynamic-update-slice-c5",
            f"the operand is {array.text(False)}, the update {update.text(False)}: the ranks differ")
    for i, (size, whole) in enumerate(zip(update.dims, array.dims, strict=True)):
        require(size <= whole or whole == UNBOUNDED, "dynamic-update-slice-c6",
                f"the update's size {size} exceeds the operand's {whole} in dimension {i}")
    _require_starts("dynamic-update-slice", array, start_indices)
    return operand


def _emit_dynamic_update_slice(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return e.op("stablehlo.dynamic_update_slice", [*operands[:2], *scalar_starts(e, instruction, operands, 2)],
                instruction.shape)


def _lift_dynamic_update_slice(r: Reader) -> HloInstruction:
    return r.add("dynamic-update-slice", r.shape(), r.operands())


def _draw_dynamic_update_slice(d: Draw) -> None:
    operand = d.argument(d.dims(0))
    update = d.argument(tuple(d.between(0 if d.edge("nothing") else min(1, n), n) for n in operand.dims))
    d.add("dynamic-update-slice", operand, update, *_draw_starts(d, operand.dims, update.dims))


@op(dynamic_update_slice_shape, element_types=ANY, source=SPECIFICATION,
    lowering=Lowering(_emit_dynamic_update_slice, _lift_dynamic_update_slice, ("stablehlo.dynamic_update_slice",)),
    draw=_draw_dynamic_update_slice, boundaries=of_dynamic_update_slice, cost=updates_a_part,
    flow=Flow(Elements.ASSEMBLED, (0, 2), updates=(0, 1)),
    index_map=index_maps.of_dynamic_update_slice, sharding=relation_moves.dynamic_update_slice)
def dynamic_update_slice(operand: Array, update: Array, *start_indices: Array, shape: Shape) -> Array:
    """Overwrite a block at start indices that are computed; starts are clamped so that the block fits.

    Of bounded dimensions the bound counts for what fits, and what lies behind their size is lost.

    C1  The operand and the update are arrays.
    C2  There is one start index for each dimension of the operand.
    C3  Start indices are integral scalars of one type (or, as in old texts, one integral vector).
    C4  Both arrays have one element type.
    C5  Both have the same rank.
    C6  The update is no larger than the operand in any dimension.
    """
    bounds = [max(n, m) for n, m in zip(operand.shape, shape.dims, strict=True)]
    grown = [(0, m - n) for n, m in zip(operand.shape, bounds, strict=True)]
    result = np.pad(operand, grown) if grown else operand.copy()  # NumPy pads no scalars
    result[clamped(start_numbers(start_indices), result.shape, update.shape)] = update
    return np.ascontiguousarray(result[tuple(map(slice, operand.shape))]).reshape(operand.shape)
