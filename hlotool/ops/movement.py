"""Operations that move elements without computing: broadcast, transpose, reverse, concatenate, slice, pad, iota."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir import UNBOUNDED, HloInstruction, Layout, Padding, PaddingDimension, Shape, SliceDimension
from hlotool.ir.arrays import Array, np
from hlotool.ops import index_maps
from hlotool.ops.agreement import alike_but_along
from hlotool.ops.conversion import declared_array
from hlotool.ops.costs import moves, reads_a_part
from hlotool.ops.curves import COUNT
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import ASSEMBLES, PICKS, REARRANGES, REPEATS, Elements, Flow
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, check_sizes, i64, i64_array, settled_shape
from hlotool.ops.numbers import converted
from hlotool.ops.random_programs import Draw, shape_text
from hlotool.ops.registry import Leading, op, require
from hlotool.ops.relation_files import relation_moves, relation_rules
from hlotool.ops.rules import (
    ANY,
    NUMERIC,
    listed,
    merged_dims,
    require_array,
    require_in_range,
    require_same_type,
    require_type,
    require_unique,
    same_size,
)


def attribute_lowering(name: str, opcode: str, renames: dict[str, str]) -> Lowering:
    """The same operands; integer-list attributes, renamed from HLO's name to StableHLO's."""
    full = f"stablehlo.{name}"

    def emit(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        return e.op(full, operands, instruction.shape, {
            theirs: i64_array(instruction.attributes.get(ours, ())) for ours, theirs in renames.items()})

    def lift(r: Reader) -> HloInstruction:
        return r.add(opcode, r.shape(), r.operands(), {ours: r.ints(theirs) for ours, theirs in renames.items()})

    return Lowering(emit, lift, (full,), tuple(renames))


def dimension_lowering(name: str, opcode: str) -> Lowering:
    """The same operands; `dimensions={d}` of HLO is `dimension = d`."""
    full = f"stablehlo.{name}"

    def emit(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        return e.op(full, operands, instruction.shape, {"dimension": i64(instruction.attributes["dimensions"][0])})

    def lift(r: Reader) -> HloInstruction:
        return r.add(opcode, r.shape(), r.operands(), {"dimensions": (r.int("dimension"),)})

    return Lowering(emit, lift, (full,), ("dimensions",))


# broadcast


def broadcast_shape(operand: Shape, *, dimensions: tuple[int, ...] = (), declared: Shape | None) -> Shape:
    """Constraints 1 to 5 of broadcast."""
    require_array(operand, "broadcast-c1")
    result = declared_array(declared, "broadcast-c1", "broadcast")
    require(len(dimensions) == operand.rank, "broadcast-c2",
            f"dimensions={{{listed(dimensions)}}} has {len(dimensions)} entries, "
            f"the operand {operand.text(False)} has {operand.rank} dimensions", attribute="dimensions")
    require_in_range(dimensions, result.rank, "broadcast-c3", "dimension", attribute="dimensions")
    require_unique(dimensions, "broadcast-c4", "dimensions", attribute="dimensions")
    for i, d in enumerate(dimensions):
        require(same_size(operand.dims[i], result.dims[d]), "broadcast-c5",
                f"dimension {i} of the operand has size {operand.dims[i]}, "
                f"dimension {d} of the result {result.dims[d]}")
    return result.with_element_type(operand.element_type)


def _lift_broadcast(r: Reader) -> HloInstruction:
    (operand, *sizes_of_result), result = r.operands(), settled_shape(r)
    if sizes_of_result:
        check_sizes(r, sizes_of_result[0], result)
    if r.name == "stablehlo.broadcast":
        sizes = r.ints("broadcast_sizes")
        added = len(sizes)
        if sizes != result.dims[:added]:
            r.refuse(f"broadcast_sizes are {{{listed(sizes)}}}, its result is {result.text(False)}")
        return r.add("broadcast", result, (operand,), {"dimensions": tuple(range(added, result.rank))})
    dimensions = r.ints("broadcast_dimensions")
    if (len(dimensions) != operand.shape.rank or len(set(dimensions)) != len(dimensions)
            or not all(0 <= d < result.rank for d in dimensions)):
        r.refuse(f"broadcast_dimensions are {{{listed(dimensions)}}}; they name a dimension of {result.text(False)} "
                 f"for each of {operand.shape.text(False)}")
    # StableHLO repeats dimensions of size 1, HLO does not: they are taken out first.
    kept = [i for i, d in enumerate(dimensions) if operand.shape.dims[i] != 1
            or (result.dims[d] == 1 and operand.shape.is_dynamic_dim(i) == result.is_dynamic_dim(d))]
    if len(kept) < len(dimensions):
        dims = tuple(operand.shape.dims[i] for i in kept)
        operand = r.add("reshape", operand.shape.with_dims(dims, tuple(operand.shape.is_dynamic_dim(i) for i in kept)),
                        (operand,))
    return r.add("broadcast", result, (operand,), {"dimensions": tuple(dimensions[i] for i in kept)})


def _emit_broadcast(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return e.op("stablehlo.broadcast_in_dim", operands, instruction.shape, {
        "broadcast_dimensions": i64_array(instruction.attributes.get("dimensions", ()))})


def _draw_broadcast(d: Draw) -> None:
    dims = d.dims(0)
    kept = d.shuffled(d.some(range(len(dims))))
    operand = d.argument(tuple(dims[i] for i in kept))
    d.add("broadcast", operand, dimensions=kept, shape=shape_text(d.dtype, dims))


@op(broadcast_shape, element_types=ANY, source=SPECIFICATION,
    lowering=Lowering(_emit_broadcast, _lift_broadcast, (
        "stablehlo.broadcast_in_dim", "stablehlo.broadcast", "stablehlo.dynamic_broadcast_in_dim"), ("dimensions",)),
    draw=_draw_broadcast, cost=moves, flow=REPEATS, flags=("relayouts",), leading=Leading(led=("dimensions",)),
    index_map=index_maps.of_broadcast)
def broadcast(operand: Array, *, dimensions: tuple[int, ...] = (), shape: Shape) -> Array:
    """Repeat the operand along the dimensions of the result that `dimensions` does not name.

    Operand dimension i becomes result dimension dimensions[i]; sizes must agree, 1 is not repeated.

    C1  The operand and the result are arrays.
    C2  dimensions has one entry for each dimension of the operand.
    C3  Each entry is a dimension of the result.
    C4  No entry occurs twice.
    C5  Operand dimension i has the size of result dimension dimensions[i].
    """
    dims = list(shape.dims)
    for i, d in enumerate(dimensions):
        dims[d] = operand.shape[i]
    order = sorted(range(operand.ndim), key=lambda i: dimensions[i])
    spread = [1] * len(dims)
    for i in order:
        spread[dimensions[i]] = operand.shape[i]
    return np.asarray(np.broadcast_to(operand.transpose(order).reshape(spread), dims), order="C")


def transpose_shape(operand: Shape, *, dimensions: tuple[int, ...]) -> Shape:
    """Constraints 1 and 2 of transpose."""
    require_array(operand, "transpose-c1")
    require(sorted(dimensions) == list(range(operand.rank)), "transpose-c2",
            f"dimensions={{{listed(dimensions)}}} is no permutation of the {operand.rank} dimensions "
            f"of {operand.text(False)}", attribute="dimensions")
    flags = operand.dynamic_flags
    result = operand.with_dims(tuple(operand.dims[d] for d in dimensions), tuple(flags[d] for d in dimensions))
    # The layout goes along, so that no element moves. XLA: ShapeUtil::PermuteDimensions
    order = operand.minor_to_major
    if sorted(order) != list(range(operand.rank)):
        return result  # an invalid layout is reported where it is declared
    return result.with_layout(Layout(tuple(dimensions.index(d) for d in order)) if operand.rank else None)


def _draw_transpose(d: Draw) -> None:
    operand = d.argument(d.dims(0))
    d.add("transpose", operand, dimensions=d.shuffled(range(len(operand.dims))))


@op(transpose_shape, lowering=attribute_lowering("transpose", "transpose", {"dimensions": "permutation"}),
    element_types=ANY, source=SPECIFICATION, draw=_draw_transpose, cost=moves, flow=REARRANGES, flags=("relayouts",),
    leading=Leading(led=("dimensions",)), index_map=index_maps.of_transpose)
def transpose(operand: Array, *, dimensions: tuple[int, ...]) -> Array:
    """Reorder the dimensions: result dimension i is operand dimension dimensions[i].

    C1  The operand is an array.
    C2  dimensions is a permutation of the operand's dimensions.
    """
    return np.asarray(operand.transpose(dimensions), order="C") if dimensions else operand


def reverse_shape(operand: Shape, *, dimensions: tuple[int, ...]) -> Shape:
    """Constraints 1 to 3 of reverse."""
    require_array(operand, "reverse-c3")
    require_unique(dimensions, "reverse-c1", "dimensions", attribute="dimensions")
    require_in_range(dimensions, operand.rank, "reverse-c2", "dimension", attribute="dimensions")
    return operand


def _draw_reverse(d: Draw) -> None:
    operand = d.argument(d.dims(0))
    d.add("reverse", operand, dimensions=d.some(range(len(operand.dims))))


@op(reverse_shape, lowering=attribute_lowering("reverse", "reverse", {"dimensions": "dimensions"}), element_types=ANY,
    source=SPECIFICATION, draw=_draw_reverse, cost=moves, flow=REARRANGES, index_map=index_maps.of_reverse)
def reverse(operand: Array, *, dimensions: tuple[int, ...]) -> Array:
    """Turn the elements round along the listed dimensions.

    C1  No dimension is listed twice.
    C2  Each is a dimension of the operand.
    C3  The operand is an array.
    """
    return np.asarray(np.flip(operand, dimensions), order="C") if dimensions else operand


def concatenate_shape(*operands: Shape, dimensions: tuple[int, ...]) -> Shape:
    """Constraints 1 to 5 of concatenate."""
    require(bool(operands), "concatenate-c3", "concatenate takes at least one operand")
    names = [f"operand {i}" for i in range(len(operands))]
    for shape, name in zip(operands, names, strict=True):
        require_array(shape, "concatenate-c3", name)
    require_same_type(operands, "concatenate-c1", names)
    first = operands[0]
    require(len(dimensions) == 1 and 0 <= dimensions[0] < first.rank, "concatenate-c4",
            f"dimensions={{{listed(dimensions)}}} is not one dimension of {first.text(False)}", attribute="dimensions")
    at = dimensions[0]
    dims, flags = list(first.dims), list(first.dynamic_flags)
    for name, shape in zip(names[1:], operands[1:], strict=True):
        require(shape.rank == first.rank and all(
            same_size(x, y) for i, (x, y) in enumerate(zip(first.dims, shape.dims, strict=True)) if i != at),
            "concatenate-c2", f"operand 0 is {first.text(False)}, {name} is {shape.text(False)}: "
                              f"they may differ in dimension {at} only")
        joined = _joined(dims[at], shape.dims[at]), flags[at] or shape.is_dynamic_dim(at)
        both, dynamic = merged_dims(Shape.array(first.element_type, tuple(dims), None, tuple(flags)), shape)
        dims, flags = list(both), list(dynamic)
        dims[at], flags[at] = joined
    return first.with_dims(tuple(dims), tuple(flags))


def _joined(x: int, y: int) -> int:
    return UNBOUNDED if UNBOUNDED in (x, y) else x + y


def _draw_concatenate(d: Draw) -> None:
    dims = d.dims()
    at = d.between(0, len(dims) - 1)
    operands = [d.argument(tuple(d.between(0, 3) if i == at else n for i, n in enumerate(dims)))
                for _ in range(d.between(1, 3))]
    d.add("concatenate", *operands, dimensions=(at,))


@op(concatenate_shape, lowering=dimension_lowering("concatenate", "concatenate"), element_types=ANY,
    source=SPECIFICATION, draw=_draw_concatenate, agreement=alike_but_along, cost=moves, flow=ASSEMBLES,
    leading=Leading(("dimensions",)), index_map=index_maps.of_concatenate, sharding=relation_moves.concatenate)
def concatenate(*operands: Array, dimensions: tuple[int, ...]) -> Array:
    """Lay the operands end to end along a dimension.

    C1  All operands have one element type.
    C2  They have the same rank, and the same sizes in every other dimension.
    C3  There is at least one operand, and all are arrays.
    C4  dimensions names one dimension of the operands.
    """
    return np.concatenate(operands, axis=dimensions[0])


def slice_shape(operand: Shape, *, slice: tuple[SliceDimension, ...]) -> Shape:
    """Constraints 1 to 5 of slice."""
    require_array(operand, "slice-c1")
    require(len(slice) == operand.rank, "slice-c2",
            f"slice has {len(slice)} ranges, the operand {operand.text(False)} has {operand.rank} dimensions",
            attribute="slice")
    dims, flags = [], []
    for i, (s, size) in enumerate(zip(slice, operand.dims, strict=True)):
        where = f"[{s.start}:{s.limit}:{s.stride}] of dimension {i}, which has size {size}"
        require(s.stride > 0, "slice-c4", f"{where}: the stride must be positive", attribute="slice")
        require(s.start >= 0, "slice-c3", f"{where}: the start must not be negative", attribute="slice")
        require(s.limit <= size or size == UNBOUNDED, "slice-c3", f"{where}: the limit lies past the end",
                attribute="slice")
        require(s.start <= s.limit, "slice-c3", f"{where}: the start lies past the limit", attribute="slice")
        dims.append(-(-(s.limit - s.start) // s.stride))
        flags.append(operand.is_bounded_dim(i) and dims[-1] != 1)
    return operand.with_dims(tuple(dims), tuple(flags))


def _emit_slice(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    ranges = instruction.attributes["slice"]
    return e.op("stablehlo.slice", operands, instruction.shape, {
        "start_indices": i64_array([s.start for s in ranges]), "limit_indices": i64_array([s.limit for s in ranges]),
        "strides": i64_array([s.stride for s in ranges])})


def _lift_slice(r: Reader) -> HloInstruction:
    ranges = zip(r.ints("start_indices"), r.ints("limit_indices"), r.ints("strides"), strict=True)
    return r.add("slice", r.shape(), r.operands(), {"slice": tuple(SliceDimension(*s) for s in ranges)})


def _draw_slice(d: Draw) -> None:
    operand, rows = d.argument(d.dims(0, size=6)), []
    for size in operand.dims:
        start = d.between(0, size)
        rows.append(f"[{start}:{d.between(start, size)}:{d.between(1, 3)}]")
    d.add("slice", operand, slice=f"{{{','.join(rows)}}}")


@op(slice_shape, lowering=Lowering(_emit_slice, _lift_slice, ("stablehlo.slice",), ("slice",)), element_types=ANY,
    source=SPECIFICATION, draw=_draw_slice, cost=reads_a_part, flow=PICKS, index_map=index_maps.of_slice)
def slice_(operand: Array, *, slice: tuple[SliceDimension, ...]) -> Array:
    """Cut a block, taking every stride-th element of each dimension.

    C1  The operand is an array.
    C2  There is one range for each dimension.
    C3  0 <= start <= limit <= size.
    C4  Strides are positive.
    """
    return np.asarray(operand[tuple(np.s_[s.start:s.limit:s.stride] for s in slice)], order="C")


def pad_shape(operand: Shape, padding_value: Shape, *, padding: Padding) -> Shape:
    """Constraints 1 to 5 of pad."""
    require_array(operand, "pad-c5")
    require(padding_value.is_scalar, "pad-c5", f"the padding value is {padding_value}, not a scalar")
    require_same_type((operand, padding_value), "pad-c1", ("the operand", "the padding value"))
    require(len(padding.dimensions) == operand.rank, "pad-c2",
            f"padding has {len(padding.dimensions)} entries, the operand {operand.text(False)} "
            f"has {operand.rank} dimensions", attribute="padding")
    dims = []
    for i, (p, size) in enumerate(zip(padding.dimensions, operand.dims, strict=True)):
        require(p.interior >= 0, "pad-c3", f"interior padding {p.interior} of dimension {i} is negative",
                attribute="padding")
        dims.append(UNBOUNDED if size == UNBOUNDED else p.low + p.high + size + max(size - 1, 0) * p.interior)
        require(size == UNBOUNDED or dims[-1] >= 0, "pad-c4",
                f"padding {p.low}_{p.high}_{p.interior} of dimension {i}, which has size {size}, leaves {dims[-1]}",
                attribute="padding")
    return operand.with_dims(tuple(dims), operand.dynamic)


def _emit_pad(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    dimensions = instruction.attributes["padding"].dimensions
    return e.op("stablehlo.pad", operands, instruction.shape, {
        "edge_padding_low": i64_array([d.low for d in dimensions]),
        "edge_padding_high": i64_array([d.high for d in dimensions]),
        "interior_padding": i64_array([d.interior for d in dimensions])})


def _lift_pad(r: Reader) -> HloInstruction:
    rows = zip(r.ints("edge_padding_low"), r.ints("edge_padding_high"), r.ints("interior_padding"), strict=True)
    return r.add("pad", r.shape(), r.operands(), {"padding": Padding(tuple(PaddingDimension(*row) for row in rows))})


def _draw_pad(d: Draw) -> None:
    operand = d.argument(d.dims())
    least, inner = -2 if d.edge("negative") else 0, 2 if d.edge("interior") else 0
    rows = []
    for size in operand.dims:
        low, interior = d.between(least, 2), d.between(0, inner)
        whole = size + max(size - 1, 0) * interior
        rows.append(f"{low}_{max(d.between(least, 2), -whole - low)}_{interior}")
    d.add("pad", operand, d.argument(), padding="x".join(rows))


@op(pad_shape, lowering=Lowering(_emit_pad, _lift_pad, ("stablehlo.pad",)), element_types=ANY, source=SPECIFICATION,
    draw=_draw_pad, cost=moves, flow=Flow(Elements.ASSEMBLED, (0, 2)),
    index_map=index_maps.of_pad, sharding=relation_moves.pad)
def pad(operand: Array, padding_value: Array, *, padding: Padding) -> Array:
    """Put the padding value between and around the elements; negative edges take elements away.

    C1  Both operands have one element type.
    C2  There is one padding entry for each dimension.
    C3  Interior padding is not negative.
    C4  No dimension of the result is negative.
    C5  The operand is an array and the padding value a scalar.
    """
    rows = padding.dimensions
    spread = [size + max(size - 1, 0) * p.interior for size, p in zip(operand.shape, rows, strict=True)]
    result = np.full([s + p.low + p.high for s, p in zip(spread, rows, strict=True)], padding_value, operand.dtype)
    source, target = [], []
    for size, step, p, total in zip(operand.shape, (p.interior + 1 for p in rows), rows, result.shape, strict=True):
        # Element k stands at low + k * step; those that fall outside are dropped.
        first = max(0, (step - 1 - p.low) // step)
        last = max(first, min(size, (total - p.low + step - 1) // step))
        source.append(np.s_[first:last])
        target.append(np.s_[p.low + first * step:p.low + (last - 1) * step + 1:step] if last > first else np.s_[0:0])
    result[tuple(target)] = operand[tuple(source)]
    return result


def iota_shape(*, iota_dimension: int, declared: Shape | None) -> Shape:
    """Constraints 1 and 2 of iota."""
    result = declared_array(declared, "iota-c2", "iota")
    require_type(result, NUMERIC, "iota-c2", "the result")
    require_in_range((iota_dimension,), result.rank, "iota-c1", "iota_dimension", attribute="iota_dimension")
    return result


def _emit_iota(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return e.op("stablehlo.iota", [], instruction.shape, {
        "iota_dimension": i64(instruction.attributes["iota_dimension"])})


def _lift_iota(r: Reader) -> HloInstruction:
    shape = r.shape()
    for sizes in r.operands():
        check_sizes(r, sizes, shape)
    return r.add("iota", shape, (), {"iota_dimension": r.int("iota_dimension")})


def _draw_iota(d: Draw) -> None:
    dims = d.dims(size=300 if d.edge("past the range") else 5, most=2)
    d.add("iota", iota_dimension=d.between(0, len(dims) - 1), shape=shape_text(d.dtype, dims))


@op(iota_shape, source=SPECIFICATION,
    lowering=Lowering(_emit_iota, _lift_iota, ("stablehlo.iota", "stablehlo.dynamic_iota"),
                                                  ("iota_dimension",)), draw=_draw_iota, cost=moves,
    flow=Flow(Elements.GIVEN), curve=COUNT, flags=("typed",), index_map=index_maps.of_iota,
    sharding=relation_rules.iota)
def iota(*, iota_dimension: int, shape: Shape) -> Array:
    """Count 0, 1, 2, ... along a dimension; narrow integers wrap.

    C1  iota_dimension is a dimension of the result.
    C2  The result is an array of integers, floats or complex numbers.
    """
    if not shape.size:  # its own dimension may be beyond what a machine holds
        return np.empty(shape.dims, shape.dtype.numpy)
    row = converted(np.arange(shape.dims[iota_dimension], dtype=np.int64), shape.dtype.numpy)
    column = row.reshape([-1 if d == iota_dimension else 1 for d in range(shape.rank)])
    return np.asarray(np.broadcast_to(column, shape.dims), order="C")
