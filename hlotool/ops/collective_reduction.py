"""Collectives that fold what the devices bring: all-reduce and reduce-scatter."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import UNBOUNDED, HloComputation, HloInstruction, ReplicaGroups, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.called import parameter_shapes, same_up_to_precision, scalar
from hlotool.ops.collective import (
    Ints,
    declared_results,
    device_of,
    drawn_groups,
    packed,
    require_arrays,
    require_global,
    require_sizes,
    required_group,
    scaled,
    size_of,
)
from hlotool.ops.costs import communicates, is_free
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import AWAITS, AsyncStep, Calls, Effect, Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.groups import GROUPED, group_attributes, lifted_attributes
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64, promoted
from hlotool.ops.random_programs import ORDERLESS, Draw, shape_text
from hlotool.ops.registry import op, require
from hlotool.ops.relation_files import collective_relations
from hlotool.ops.rules import listed
from hlotool.ops.values import Callee, applied
from hlotool.text import is_paired_start


def _require_reduction(opcode: str, number: int, operands: Sequence[Shape], to_apply: HloComputation) -> None:
    """to_apply folds two scalars of each operand's element type into one."""
    label, found, root = f"{opcode}-c{number}", parameter_shapes(to_apply), to_apply.root.shape
    require(len(found) == 2 and root.is_scalar, label,
            f"to_apply {to_apply.name} takes {len(found)} parameters and gives {root.text(False)}; it must take two "
            "scalars and give one", attribute="to_apply")
    for i, shape in enumerate(operands):
        fits = all(p.is_scalar and same_up_to_precision(p, scalar(shape)) for p in (*found, root))
        # One computation for several operands fits one of their types only; XLA converts for the others.
        require(fits or len({s.element_type for s in operands}) > 1, label,
                f"to_apply {to_apply.name} works on {found[0].text(False)}, operand {i} is {shape.text(False)}",
                attribute="to_apply")


def all_reduce_shape(*operands: Shape, to_apply: HloComputation, channel_id: int | None = None,
                     use_global_device_ids: bool = False, replica_groups: ReplicaGroups | None = None,
                     declared: Shape | None = None) -> Shape:
    """Constraints 1 to 4 of all-reduce."""
    return _all_reduce("all-reduce", operands, to_apply, channel_id, use_global_device_ids, replica_groups, declared)


def _all_reduce(opcode: str, operands: Sequence[Shape], to_apply: HloComputation, channel_id: int | None,
                use_global: bool, groups: ReplicaGroups | None, declared: Shape | None) -> Shape:
    require_arrays(opcode, operands)
    _require_reduction(opcode, 2, operands, to_apply)
    require(channel_id is None or channel_id > 0, f"{opcode}-c3", f"channel_id is {channel_id}; it must be positive",
            attribute="channel_id")
    require_global(opcode, 4, channel_id, use_global, groups)
    result = Shape.one_or_tuple(operands)
    # Floats may be reduced in another precision than they come in.
    return declared if declared is not None and same_up_to_precision(declared, result) else result


def _reduced(to_apply: Callee, parts: Sequence[Array]) -> Array:
    total, combine = parts[0], applied(to_apply)
    for part in parts[1:]:
        total = combine(total, part)[0]
    return total.astype(parts[0].dtype, copy=False)


def _emit_all_reduce(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """One operation for all operands, in the element type that the computation adds in."""
    region = instruction.attributes["to_apply"]
    root = region.root.shape
    results = instruction.shape.members
    given = [o.shape.without_layout() for o in instruction.operands]
    wide = [s.with_element_type(root.element_type) for s in given] if root.is_array else given
    values = [v if s is w else e.op("stablehlo.convert", [v], w) for v, s, w in zip(operands, given, wide, strict=True)]
    whole = Shape.tuple(*wide) if instruction.shape.is_tuple else wide[0]
    made = e.op("stablehlo.all_reduce", values, whole, group_attributes(instruction), [e.region(region)])
    sums = made if isinstance(made, tuple) else (made,)
    found = [v if r.compatible(w) else e.op("stablehlo.convert", [v], r)
             for v, r, w in zip(sums, results, wide, strict=True)]
    return tuple(found) if instruction.shape.is_tuple else found[0]


def _lift_all_reduce(r: Reader) -> HloInstruction:
    return r.add("all-reduce", r.shape(), _promoted_operands(r), {
        **lifted_attributes(r), "to_apply": r.computation(0)})


def _promoted_operands(r: Reader) -> list[HloInstruction]:
    """The operands in the element types of the results."""
    shape = r.shape()
    return promoted(r, r.operands(), shape.members)


def _draw_all_reduce(d: Draw) -> None:
    groups, _ = drawn_groups(d)
    operand = d.argument(d.dims(0), edges=ORDERLESS)
    if d.opcode == "all-reduce":
        d.add("all-reduce", operand, **groups, to_apply=d.fold())
    else:
        d.add("all-reduce-done", d.add("all-reduce-start", operand, **groups, to_apply=d.fold()))


@op(all_reduce_shape, flags=("collective", "uniform", "combinable", "mixed"), freedom=Freedom.DEVICES, ulps=4.0,
    source=SPECIFICATION,
    lowering=Lowering(_emit_all_reduce, _lift_all_reduce, ("stablehlo.all_reduce",), ("to_apply",),
                      GROUPED), draw=_draw_all_reduce, cost=communicates,
    flow=Flow(calls=Calls.REDUCER, effect=Effect.EXCHANGE), sharding=collective_relations.all_reduce)
def all_reduce(*operands: Array, to_apply: Callee, replica_groups: ReplicaGroups | None = None,
               channel_id: int | None = None, use_global_device_ids: bool = False, constrain_layout: bool = False,
               world: Any) -> Any:
    """Every device of a group gets the fold of all members' operands, element by element, in the group's order.

    C1  At least one operand, all arrays.
    C2  to_apply takes two scalars of the operands' element type and gives one.
    C3  channel_id is positive.
    C4  use_global_device_ids needs channel_id and replica_groups.
    """
    members = required_group(world, replica_groups, channel_id, use_global_device_ids)
    brought = world.exchange(operands, members)
    return packed([_reduced(to_apply, parts) for parts in zip(*brought, strict=True)])


def all_reduce_start_shape(*operands: Shape, to_apply: HloComputation, channel_id: int | None = None,
                           use_global_device_ids: bool = False,
                           replica_groups: ReplicaGroups | None = None, declared: Shape | None = None) -> Shape:
    """Constraints 1 to 4 of all-reduce-start; the pair of 2020 is accepted as it is declared."""
    pair = declared if declared is not None and is_paired_start(operands, declared) else None
    found = _all_reduce("all-reduce-start", operands, to_apply, channel_id, use_global_device_ids, replica_groups,
                        declared if pair is None else None)
    return found if pair is None else pair


@op(all_reduce_start_shape, flags=("collective", "uniform", "combinable"), ulps=4.0, source=SPECIFICATION,
    lowering=Lowering(_emit_all_reduce), draw=_draw_all_reduce, cost=communicates,
    flow=Flow(calls=Calls.REDUCER, effect=Effect.EXCHANGE, step=AsyncStep.START),
    sharding=collective_relations.all_reduce)
def all_reduce_start(*operands: Array, to_apply: Callee, replica_groups: ReplicaGroups | None = None,
                     channel_id: int | None = None, use_global_device_ids: bool = False,
                     constrain_layout: bool = False, world: Any) -> Any:
    """all-reduce, begun; its shape is that of all-reduce itself.

    C1  At least one operand, all arrays.
    C2  to_apply takes two scalars of the operands' element type and gives one.
    C3  channel_id is positive.
    C4  use_global_device_ids needs channel_id and replica_groups.
    """
    return all_reduce.evaluate(*operands, to_apply=to_apply, replica_groups=replica_groups, channel_id=channel_id,
                               use_global_device_ids=use_global_device_ids, world=world)


def all_reduce_done_shape(start: Shape, *, declared: Shape | None = None) -> Shape:
    """The operand's shape; of the pair of 2020 the second element."""
    pairs = start.is_tuple and len(start.elements) == 2 and declared is not None and not declared.compatible(start)
    return start.elements[1] if pairs and start.elements[0].compatible(start.elements[1]) else start


def _emit_first(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return operands[0]


@op(all_reduce_done_shape, lowering=Lowering(_emit_first), source=SPECIFICATION,
    draw=_draw_all_reduce, cost=is_free, flow=AWAITS, sharding=collective_relations.reduction_awaited)
def all_reduce_done(start: Any) -> Any:
    """Wait for all-reduce-start and give what it computed."""
    return start


def reduce_scatter_shape(*operands: Shape, dimensions: Ints, to_apply: HloComputation,
                         replica_groups: ReplicaGroups | None = None, channel_id: int | None = None,
                         use_global_device_ids: bool = False, declared: Shape | None) -> Shape:
    """Constraints 1 to 5 of reduce-scatter."""
    require_arrays("reduce-scatter", operands)
    require(len(dimensions) == 1 and all(0 <= dimensions[0] < o.rank for o in operands), "reduce-scatter-c2",
            f"dimensions={{{listed(dimensions)}}}; it names one dimension of "
            f"{', '.join(o.text(False) for o in operands)}", attribute="dimensions")
    _require_reduction("reduce-scatter", 4, operands, to_apply)
    require_global("reduce-scatter", 5, channel_id, use_global_device_ids, replica_groups)
    axis, size, found = dimensions[0], size_of(replica_groups), []
    results = declared_results(declared, len(operands))
    require(results is None or len(results) == len(operands), "reduce-scatter-c3",
            f"{len(operands)} operands give as many results, the result has {len(results or ())}")
    for i, shape in enumerate(operands):
        n = shape.dims[axis]
        require(results is not None or size is not None, "reduce-scatter-c3",
                "the shape must be written where replica_groups is empty", attribute="replica_groups")
        m = results[i].dims[axis] if results is not None and results[i].rank > axis else n // (size or 1)
        if UNBOUNDED not in (n, m):
            shards = n // m if m else 1
            fits = shards > 0 and shards * m == n and (size in (None, 1) or not n or shards % (size or 1) == 0)
            require(fits, "reduce-scatter-c3",
                    f"dimension {axis} has {n} elements in operand {i} and {m} in the result, the groups have "
                    f"{size if size is not None else 'all'} members")
        found.append(scaled(shape, axis, m))
    return Shape.tuple(*found) if declared is not None and declared.is_tuple else Shape.one_or_tuple(found)


def _emit_reduce_scatter(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = {"scatter_dimension": i64(instruction.attributes["dimensions"][0]), **group_attributes(instruction)}
    shape = instruction.shape
    results = shape.members
    # StableHLO scatters no empty dimension.
    found = [e.op("stablehlo.reduce_scatter", [value], result, attributes,
                  [e.region(instruction.attributes["to_apply"])])
             if result.size else e.constant(np.zeros(result.dims, result.dtype.numpy), result)
             for value, result in zip(operands, results, strict=True)]
    return tuple(found) if shape.is_tuple else found[0]


def _lift_reduce_scatter(r: Reader) -> HloInstruction:
    shape, to_apply = r.shape(), r.computation(0)
    if shape.is_array and to_apply.root.shape.element_type != shape.element_type:
        r.refuse(f"its region gives {to_apply.root.shape.text(False)}, its result is {shape.text(False)}")
    return r.add("reduce-scatter", shape, _promoted_operands(r), {
        "dimensions": (r.int("scatter_dimension"),), **lifted_attributes(r), "to_apply": to_apply})


def _draw_reduce_scatter(d: Draw) -> None:
    groups, count = drawn_groups(d)
    dims = d.dims()
    at = d.between(0, len(dims) - 1)
    operand = d.argument(tuple(n * count if i == at else n for i, n in enumerate(dims)), edges=ORDERLESS)
    d.add("reduce-scatter", operand, **groups, dimensions=(at,), to_apply=d.fold(), shape=shape_text(d.dtype, dims))


@op(reduce_scatter_shape, flags=("collective", "combinable"), freedom=Freedom.DEVICES, ulps=4.0, source=SPECIFICATION,
    lowering=Lowering(_emit_reduce_scatter, _lift_reduce_scatter, ("stablehlo.reduce_scatter",)),
    draw=_draw_reduce_scatter, cost=communicates, flow=Flow(calls=Calls.REDUCER, effect=Effect.EXCHANGE),
    sharding=collective_relations.reduce_scatter)
def reduce_scatter(*operands: Array, dimensions: Ints, to_apply: Callee, replica_groups: ReplicaGroups | None = None,
                   channel_id: int | None = None, use_global_device_ids: bool = False,
                   constrain_layout: bool = False, shape: Shape, world: Any) -> Any:
    """all-reduce, of which each device keeps one block along a dimension: that of its place in the group.

    C1  At least one operand, all arrays.
    C2  dimensions names one dimension that every operand has.
    C3  A result is its operand with that dimension divided by the size of the groups.
    C4  to_apply takes two scalars of the operands' element type and gives one.
    C5  use_global_device_ids needs channel_id and replica_groups.
    """
    members = required_group(world, replica_groups, channel_id, use_global_device_ids)
    brought, place = world.exchange(operands, members), members.index(device_of(world))
    totals = world.together(members, lambda: [_reduced(to_apply, parts) for parts in zip(*brought, strict=True)])
    found = [np.split(total, len(members), dimensions[0])[place] for total in totals]
    require_sizes(found, shape, dimensions[0], members)
    return tuple(found) if shape.is_tuple else found[0]
