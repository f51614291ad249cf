"""all-gather: every device gets what all of them brought."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import UNBOUNDED, HloInstruction, ReplicaGroups, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.asynchronous import contexts
from hlotool.ops.collective import (
    Ints,
    declared_results,
    drawn_groups,
    emit_second,
    packed,
    require_arrays,
    require_global,
    require_sizes,
    required_group,
    scaled,
    second_of,
    shown,
    size_of,
)
from hlotool.ops.costs import begun, communicates, is_free
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import AWAITS, EXCHANGES, AsyncStep, Effect, Elements, Flow
from hlotool.ops.groups import GROUPED, group_attributes, lifted_attributes
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64
from hlotool.ops.random_programs import Draw, shape_text
from hlotool.ops.registry import op, require
from hlotool.ops.relation_files import collective_relations
from hlotool.ops.rules import listed, same_dims


def _gather_rule(opcode: str, operands: Sequence[Shape], results: Sequence[Shape] | None, dimensions: Ints,
                 groups: ReplicaGroups | None) -> list[Shape]:
    """Constraints 1 to 3 of an all-gather; `results` are the declared ones."""
    require_arrays(opcode, operands)
    require(len(dimensions) == 1, f"{opcode}-c2",
            f"dimensions={{{listed(dimensions)}}}; it names exactly one dimension", attribute="dimensions")
    axis, found, size = dimensions[0], [], size_of(groups)
    for i, shape in enumerate(operands):
        require(0 <= axis < shape.rank, f"{opcode}-c2", f"dimension {axis} is no dimension of operand {i}, which is "
                f"{shape.text(False)}", attribute="dimensions")
    require(results is None or len(results) == len(operands), f"{opcode}-c3",
            f"{len(operands)} operands give as many results, the result has {len(results or ())}")
    shards: set[int] = set()
    for i, shape in enumerate(operands):
        if results is None:
            require(size is not None, f"{opcode}-c3", "the shape must be written where replica_groups is empty",
                    attribute="replica_groups")
            found.append(scaled(shape, axis, _times(shape.dims[axis], size or 1)))
            continue
        wide = results[i]
        fits = wide.is_array and wide.rank == shape.rank and wide.element_type == shape.element_type
        require(fits and same_dims(scaled(shape, axis, 1), scaled(wide, axis, 1)), f"{opcode}-c3",
                f"operand {i} is {shape.text(False)}, its result {wide.text(False)}; "
                f"they differ beside dimension {axis}")
        n, m = shape.dims[axis], wide.dims[axis]
        if UNBOUNDED not in (n, m):
            require(m == 0 if n == 0 else m % n == 0 and m > 0, f"{opcode}-c3",
                    f"dimension {axis} has {n} elements in operand {i}, {m} in the result, which is no multiple")
            if n:
                shards.add(m // n)
        found.append(scaled(shape, axis, m))
    require(len(shards) <= 1, f"{opcode}-c3", f"operands are gathered {' and '.join(map(str, sorted(shards)))} times")
    if shards and size not in (None, 1):
        count = shards.pop()
        # A group of replicas spans all their partitions in one of the modes, so only a multiple is known.
        require(count % (size or 1) == 0, f"{opcode}-c3",
                f"the result is {count} times as long as the operand, the groups have {size} members")
    return found


def _times(size: int, count: int) -> int:
    return UNBOUNDED if size == UNBOUNDED else size * count


def all_gather_shape(*operands: Shape, dimensions: Ints, replica_groups: ReplicaGroups | None = None,
                     channel_id: int | None = None, use_global_device_ids: bool = False,
                     declared: Shape | None) -> Shape:
    """Constraints 1 to 4 of all-gather."""
    found = _gather_rule("all-gather", operands, declared_results(declared, len(operands)), dimensions, replica_groups)
    require_global("all-gather", 4, channel_id, use_global_device_ids, replica_groups)
    return Shape.tuple(*found) if declared is not None and declared.is_tuple else Shape.one_or_tuple(found)


def _emit_all_gather_of(e: Emitter, instruction: HloInstruction, operands: Sequence[Value], shape: Shape) -> Value:
    if not shape.is_tuple and not shape.size:
        # StableHLO gathers no empty dimension.
        return e.constant(np.zeros(shape.dims, shape.dtype.numpy), shape)
    return e.op("stablehlo.all_gather", operands, shape, {
        "all_gather_dim": i64(instruction.attributes["dimensions"][0]), **group_attributes(instruction)})


def _emit_all_gather(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return _emit_all_gather_of(e, instruction, operands, instruction.shape)


def _lift_all_gather(r: Reader) -> HloInstruction:
    operands, shape = r.operands(), r.shape()
    results = shape.members
    for operand, result in zip(operands, results, strict=False):
        if operand.shape.is_static and not result.is_static:
            r.refuse(f"its result is {result.text(False)}, its operand {operand.shape.text(False)}: of known sizes the "
                     "result's are known")
    return r.add("all-gather", shape, operands,
                 {"dimensions": (r.int("all_gather_dim"),), **lifted_attributes(r)})


def _draw_all_gather(d: Draw) -> None:
    groups, count = drawn_groups(d)
    operand = d.argument(d.dims())
    at = d.between(0, len(operand.dims) - 1)
    whole = shape_text(d.dtype, tuple(n * count if i == at else n for i, n in enumerate(operand.dims)))
    if d.opcode == "all-gather":
        d.add("all-gather", operand, **groups, dimensions=(at,), shape=whole)
        return
    both = f"({shape_text(d.dtype, operand.dims)}, {whole})"
    d.add("all-gather-done", d.add("all-gather-start", operand, **groups, dimensions=(at,), shape=both))


@op(all_gather_shape, flags=("collective", "uniform", "combinable", "mixed"), source=SPECIFICATION,
    lowering=Lowering(_emit_all_gather, _lift_all_gather, ("stablehlo.all_gather",), ("dimensions",),
                      GROUPED), draw=_draw_all_gather, cost=communicates, flow=EXCHANGES,
    sharding=collective_relations.all_gather)
def all_gather(*operands: Array, dimensions: Ints, replica_groups: ReplicaGroups | None = None,
               channel_id: int | None = None, use_global_device_ids: bool = False, constrain_layout: bool = False,
               shape: Shape, world: Any) -> Any:
    """Every device of a group gets the members' operands joined along a dimension, in the group's order.

    C1  At least one operand, all arrays.
    C2  dimensions names one dimension that every operand has.
    C3  A result is its operand with that dimension multiplied, all by the same number: the size of the groups.
    C4  use_global_device_ids needs channel_id and replica_groups.
    """
    members = required_group(world, replica_groups, channel_id, use_global_device_ids)
    brought = world.exchange(operands, members)
    found = [np.concatenate(parts, dimensions[0]) for parts in zip(*brought, strict=True)]
    require_sizes(found, shape, dimensions[0], members)
    return tuple(found) if shape.is_tuple else found[0]


def all_gather_start_shape(*operands: Shape, dimensions: Ints, replica_groups: ReplicaGroups | None = None,
                           channel_id: int | None = None, use_global_device_ids: bool = False,
                           declared: Shape | None) -> Shape:
    """Constraints 1 to 5 of all-gather-start."""
    inputs = Shape.one_or_tuple(operands)
    fits = declared is None or (declared.is_tuple and len(declared.elements) >= 2
                                and declared.elements[0].compatible(inputs))
    require(fits, "all-gather-start-c5", f"the result is {shown(declared)}; it must be (operands, gathered operands), "
            f"the first {inputs.text(False)}")
    results = None if declared is None else declared_results(declared.elements[1], len(operands))
    found = _gather_rule("all-gather-start", operands, results, dimensions, replica_groups)
    require_global("all-gather-start", 4, channel_id, use_global_device_ids, replica_groups)
    return Shape.tuple(inputs, Shape.one_or_tuple(found), *(declared.elements[2:] if declared is not None else ()))


def _emit_all_gather_start(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    found = _emit_all_gather_of(e, instruction, operands, instruction.shape.elements[1])
    return packed(operands), found, *contexts(e, instruction.shape)


@op(all_gather_start_shape, flags=("collective", "uniform", "combinable"),
    lowering=Lowering(_emit_all_gather_start), source=SPECIFICATION, draw=_draw_all_gather, cost=begun(communicates),
    flow=Flow(Elements.ASSEMBLED, effect=Effect.EXCHANGE, step=AsyncStep.START),
    sharding=collective_relations.all_gather_start)
def all_gather_start(*operands: Array, dimensions: Ints, replica_groups: ReplicaGroups | None = None,
                     channel_id: int | None = None, use_global_device_ids: bool = False,
                     constrain_layout: bool = False, shape: Shape, world: Any) -> Any:
    """all-gather, begun: the operands beside what all-gather-done gives.

    C1  At least one operand, all arrays.
    C2  dimensions names one dimension that every operand has.
    C3  A result is its operand with that dimension multiplied, all by the same number: the size of the groups.
    C4  use_global_device_ids needs channel_id and replica_groups.
    C5  The result is the operands, then the gathered operands.
    """
    found = all_gather.evaluate(*operands, dimensions=dimensions, replica_groups=replica_groups,
                                channel_id=channel_id, use_global_device_ids=use_global_device_ids,
                                shape=shape.elements[1], world=world)
    return packed(operands), found


def all_gather_done_shape(start: Shape) -> Shape:
    """Constraint 1 of all-gather-done."""
    return second_of("all-gather-done-c1", start)


@op(all_gather_done_shape, lowering=Lowering(emit_second), source=SPECIFICATION,
    draw=_draw_all_gather, cost=is_free, flow=AWAITS, sharding=collective_relations.awaited)
def all_gather_done(start: Any) -> Any:
    """Wait for all-gather-start and give what it gathered.

    C1  The operand is a tuple of operands and results.
    """
    return start[1]
