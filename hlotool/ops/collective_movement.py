"""Collectives that pass data on as it is: all-to-all, ragged-all-to-all and collective-broadcast."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import UNBOUNDED, HloInstruction, ReplicaGroups, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.collective import (
    GroupMode,
    Ints,
    device_of,
    group_mode_of,
    group_of,
    packed,
    require_arrays,
    required_group,
    scaled,
    size_of,
)
from hlotool.ops.costs import communicates
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import EXCHANGES, Effect, Elements, Flow
from hlotool.ops.groups import group_attributes, lifted_attributes
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64, i64_array, i64_tensor
from hlotool.ops.random_programs import Draw
from hlotool.ops.registry import op, require
from hlotool.ops.relation_files import collective_relations
from hlotool.ops.rules import listed, require_array, same_dims
from hlotool.ops.values import EvaluationError


def all_to_all_shape(*operands: Shape, dimensions: Ints | None = None, replica_groups: ReplicaGroups | None = None
                     ) -> Shape:
    """Constraints 1 to 5 of all-to-all."""
    require_arrays("all-to-all", operands)
    size = size_of(replica_groups)
    if dimensions is None:
        for i, shape in enumerate(operands):
            require(shape.compatible(operands[0]), "all-to-all-c4",
                    f"operand 0 is {operands[0].text(False)}, operand {i} is {shape.text(False)}: the shapes differ")
            require(UNBOUNDED not in shape.dims, "all-to-all-c4",
                    f"operand {i} is {shape.text(False)}: with several operands no dimension is unbounded")
        require(size is None or size == len(operands), "all-to-all-c4",
                f"{len(operands)} operands are given, the groups have {size} members")
        return Shape.tuple(*operands)
    require(len(operands) == 1, "all-to-all-c2", f"with dimensions= there is one operand, {len(operands)} given",
            attribute="dimensions")
    shape = operands[0]
    require(len(dimensions) == 1 and 0 <= dimensions[0] < shape.rank, "all-to-all-c2",
            f"dimensions={{{listed(dimensions)}}}; it names one dimension of {shape.text(False)}",
            attribute="dimensions")
    require(not any(map(shape.is_bounded_dim, range(shape.rank))), "all-to-all-c5",
            f"the operand {shape.text(False)} has a bounded dynamic dimension")
    n = shape.dims[dimensions[0]]
    require(size is None or n == UNBOUNDED or (size > 0 and n % size == 0), "all-to-all-c3",
            f"dimension {dimensions[0]} of {shape.text(False)} does not divide into {size} blocks")
    return shape


def _emit_all_to_all(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    dimensions = instruction.attributes.get("dimensions")
    shape, count = instruction.operands[0].shape.without_layout(), len(operands)
    if dimensions is not None:
        size = size_of(instruction.attributes.get("replica_groups")) or _all_members(e, instruction)
        if not size:
            e.refuse(instruction, "StableHLO's all_to_all needs the size of the groups, and neither replica_groups "
                     "nor the module's header says it")
        return e.op("stablehlo.all_to_all", operands, shape, _all_to_all(instruction, dimensions[0], size))
    # Blocks side by side in one array with a leading dimension.
    block, whole = shape.with_dims((1, *shape.dims)), shape.with_dims((count, *shape.dims))
    blocks = [e.op("stablehlo.reshape", [o], block) for o in operands]
    joined = e.op("stablehlo.concatenate", blocks, whole, {"dimension": i64(0)})
    found = e.op("stablehlo.all_to_all", [joined], whole, _all_to_all(instruction, 0, count))
    pieces = []
    for i in range(count):
        piece = e.op("stablehlo.slice", [found], block, {
            "start_indices": i64_array((i, *(0 for _ in shape.dims))),
            "limit_indices": i64_array((i + 1, *shape.dims)), "strides": i64_array((1,) * (shape.rank + 1))})
        pieces.append(e.op("stablehlo.reshape", [piece], shape))
    return tuple(pieces)


def _all_members(e: Emitter, instruction: HloInstruction) -> int:
    """The size of the one group that empty replica_groups stand for; 0 where the header does not say it."""
    count = "replica_count" if group_mode_of(instruction) is GroupMode.CROSS_REPLICA else "num_partitions"
    return int(e.module.attributes.get(count, 0))


def _all_to_all(instruction: HloInstruction, axis: int, count: int) -> dict[str, str]:
    found = {"split_dimension": i64(axis), "concat_dimension": i64(axis), "split_count": i64(count),
             **group_attributes(instruction)}
    if not (groups := instruction.attributes.get("replica_groups")) or not groups.lists():
        # One group of all; MLIR's verifier divides by the groups' size.
        found["replica_groups"] = i64_tensor([range(count)])
    return found


def _lift_all_to_all(r: Reader) -> HloInstruction:
    operands, shape = r.operands(), r.shape()
    if not r.has("split_dimension"):  # MHLO's, of several operands: each goes to another device
        return r.add("all-to-all", shape, operands, lifted_attributes(r))
    if len(operands) == 1:
        return _exchanged(r, operands[0], shape.elements[0] if shape.is_tuple else shape)
    found = [_exchanged(r, o, s) for o, s in zip(operands, shape.elements, strict=True)]
    return r.add("tuple", shape, found)


def _exchanged(r: Reader, operand: HloInstruction, result: Shape) -> HloInstruction:
    """One operand of an all_to_all; HLO's takes several for something else."""
    split, joined, count = r.int("split_dimension"), r.int("concat_dimension"), r.int("split_count")
    attributes = {**lifted_attributes(r), "dimensions": (split,)}
    for name, dimension in (("split_dimension", split), ("concat_dimension", joined)):
        if not 0 <= dimension < operand.shape.rank:
            r.refuse(f"{name} is {dimension}, its operand {operand.shape.text(False)} has {operand.shape.rank} "
                     "dimensions")
    sizes = [len(group) for group in attributes["replica_groups"].lists()]
    if count <= 0 or not sizes or any(size != count for size in sizes):
        r.refuse(f"split_count is {count}, the groups have {listed(sizes) or 'no'} members; it is a positive number, "
                 "and each group has as many")
    made = r.add("all-to-all", operand.shape.without_layout(), (operand,), attributes)
    if split == joined:
        return made
    # HLO splits and joins along one dimension: the blocks get a dimension of their own and move to the other one.
    shape, dims = made.shape, made.shape.dims
    apart = shape.with_dims((*dims[:split], count, dims[split] // count, *dims[split + 1:]))
    blocks = r.add("reshape", apart, (made,))
    order = [d if d < split else d + 1 for d in range(len(dims))]
    order.insert(joined, split)
    # A block stands for the dimension after it, so that the reshape joins them.
    moved = r.add("transpose", shape.with_dims(tuple(apart.dims[d] for d in order)), (blocks,),
                  {"dimensions": tuple(order)})
    return r.add("reshape", result, (moved,))


def _drawn_plain_groups(d: Draw) -> tuple[dict[str, Any], int]:
    """Groups of replicas, or for an edge of partitions: what operations without use_global_device_ids take."""
    is_partitions, count = d.edge("cross partition"), d.pick((2, 4))
    d.devices(*((1, count) if is_partitions else (count, 1)))
    size, ids = d.pick((1, 2, count)), d.shuffled(range(count))
    groups = ",".join(f"{{{listed(ids[i:i + size])}}}" for i in range(0, count, size))
    return {"replica_groups": f"{{{groups}}}", "channel_id": 1 if is_partitions else None}, size


def _draw_all_to_all(d: Draw) -> None:
    groups, size = _drawn_plain_groups(d)
    dims = d.dims()
    if d.edge("tuple"):
        d.add("all-to-all", *(d.argument(dims) for _ in range(size)), **groups)
        return
    at = d.between(0, len(dims) - 1)
    operand = d.argument(tuple(n * size if i == at else n for i, n in enumerate(dims)))
    d.add("all-to-all", operand, **groups, dimensions=(at,))


@op(all_to_all_shape, flags=("collective",), source=SPECIFICATION,
    lowering=Lowering(_emit_all_to_all, _lift_all_to_all, ("stablehlo.all_to_all", "mhlo.all_to_all")),
    draw=_draw_all_to_all, cost=communicates, flow=EXCHANGES, sharding=collective_relations.all_to_all)
def all_to_all(*operands: Array, dimensions: Ints | None = None, replica_groups: ReplicaGroups | None = None,
               channel_id: int | None = None, constrain_layout: bool = False, world: Any) -> Any:
    """Every device sends its k-th block to the k-th member of its group and joins what it receives in that order.

    With dimensions= the blocks are pieces of the one operand along that dimension; without, they are the operands
    and the result is a tuple.

    C1  At least one operand, all arrays.
    C2  With dimensions= there is one operand and one dimension, which the operand has.
    C3  That dimension divides into as many blocks as a group has members.
    C4  Without dimensions= the operands have one shape, without unbounded dimensions, and there are as many as
        members of a group.
    C5  With dimensions= no dimension is bounded dynamic.
    """
    members = required_group(world, replica_groups, channel_id, None)
    brought, place = world.exchange(operands, members), members.index(device_of(world))
    if dimensions is None:
        return tuple(theirs[place] for theirs in brought)
    pieces = [np.split(theirs[0], len(members), dimensions[0])[place] for theirs in brought]
    return np.concatenate(pieces, dimensions[0])


def ragged_all_to_all_shape(input: Shape, output: Shape, input_offsets: Shape, send_sizes: Shape,
                            output_offsets: Shape, recv_sizes: Shape) -> Shape:
    """Constraints 1 to 3 of ragged-all-to-all."""
    require_array(input, "ragged-all-to-all-c1", "input")
    require_array(output, "ragged-all-to-all-c1", "output")
    require(input.element_type == output.element_type and input.rank == output.rank
            and same_dims(scaled(input, 0, 1), scaled(output, 0, 1)), "ragged-all-to-all-c1",
            f"input is {input.text(False)}, output is {output.text(False)}; they may differ in dimension 0 only")
    names = ("input_offsets", "send_sizes", "output_offsets", "recv_sizes")
    for name, shape in zip(names, (input_offsets, send_sizes, output_offsets, recv_sizes), strict=True):
        require(shape.is_array and shape.rank in (1, 2) and shape.dtype.is_integral, "ragged-all-to-all-c2",
                f"{name} is {shape.text(False)}; it must be an array of integers of rank 1 or 2")
        require(shape.compatible(input_offsets) and shape.dynamic == input_offsets.dynamic, "ragged-all-to-all-c3",
                f"input_offsets is {input_offsets.text(False)}, {name} is {shape.text(False)}: the shapes differ")
        require(shape.full_layout == input_offsets.full_layout, "ragged-all-to-all-c3",
                f"input_offsets is {input_offsets}, {name} is {shape}: the layouts differ")
    return output


def _emit_ragged_all_to_all(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    # StableHLO has no such operation; XLA's own way through StableHLO is this custom call.
    groups = group_attributes(instruction)
    config = f"{{replica_groups = {groups['replica_groups']}"
    if (channel := instruction.attributes.get("channel_id")) is not None:
        config += f", channel_id = {channel} : i64"
    return e.op("stablehlo.custom_call", operands, instruction.shape, {
        "call_target_name": '"ragged_all_to_all"', "api_version": "4 : i32", "backend_config": config + "}"})


def _lift_ragged_all_to_all(r: Reader) -> HloInstruction:
    config, operands = r.struct("backend_config"), r.operands()
    rows = config.get("replica_groups")
    if not isinstance(rows, tuple) or not all(isinstance(row, tuple) for row in rows) or len(operands) != 6:
        r.refuse("a ragged_all_to_all takes six operands, and its backend_config has replica_groups")
    groups = tuple(tuple(v for v in row if v >= 0) for row in rows)
    attributes: dict[str, Any] = {"replica_groups": ReplicaGroups(groups)}
    if (channel := config.get("channel_id")) is not None:
        attributes["channel_id"] = channel
    return r.add("ragged-all-to-all", r.shape(), operands, attributes)


def _draw_ragged_all_to_all(d: Draw) -> None:
    """Every device sends blocks of random lengths, which the others lay end to end."""
    d.devices(4)
    lengths = np.array([[d.between(0, 2) for _ in range(4)] for _ in range(4)], np.int32)
    inner = d.dims(most=1)
    given = [d.values((8, *inner)) for _ in range(4)], [d.values((8, *inner), edges=()) for _ in range(4)]
    starts = np.cumsum(lengths, axis=1) - lengths
    places = np.cumsum(lengths, axis=0) - lengths
    numbers = starts, lengths, places, lengths.T
    d.add("ragged-all-to-all", *(d.parameter(side, d.dtype) for side in given),
          *(d.parameter([row.astype(np.int32) for row in rows], "s32") for rows in numbers),
          replica_groups="{{0,1,2,3}}")


@op(ragged_all_to_all_shape, flags=("collective",), source=SPECIFICATION, lowering=Lowering(
    _emit_ragged_all_to_all, _lift_ragged_all_to_all, ("stablehlo.custom_call @ragged_all_to_all",)),
    draw=_draw_ragged_all_to_all, cost=communicates, flow=Flow(Elements.ASSEMBLED, (0, 2), effect=Effect.EXCHANGE))
def ragged_all_to_all(input: Array, output: Array, input_offsets: Array, send_sizes: Array, output_offsets: Array,
                      recv_sizes: Array, *, replica_groups: ReplicaGroups | None = None, channel_id: int | None = None,
                      world: Any) -> Array:
    """Send rows of `input` to each member of the group, which writes them into a copy of its `output`.

    output_offsets are rows in the receiver's output. Offsets of rank 2 describe several pieces for each member.

    C1  input and output are arrays that differ in dimension 0 only.
    C2  Offsets and sizes are arrays of integers of rank 1 or 2.
    C3  Offsets and sizes have one shape and layout.
    """
    members = required_group(world, replica_groups, channel_id, None)
    place, found = members.index(device_of(world)), output.copy()
    for theirs, starts, sizes, places in world.exchange((input, input_offsets, send_sizes, output_offsets), members):
        for start, size, to in zip(*(np.atleast_1d(a[place]) for a in (starts, sizes, places)), strict=True):
            if start < 0 or to < 0 or start + size > len(theirs) or to + size > len(found):
                raise EvaluationError(
                    f"{size} rows from row {start} of {len(theirs)} do not fit at row {to} of {len(found)}")
            found[to:to + size] = theirs[start:start + size]
    return found


def collective_broadcast_shape(*operands: Shape, has_dynamic_root: bool = False) -> Shape:
    """Constraints 1 and 2 of collective-broadcast."""
    require_arrays("collective-broadcast", operands)
    if not has_dynamic_root:
        return Shape.one_or_tuple(operands)
    *values, roots = operands
    require(bool(values) and roots.element_type == "s32" and roots.dims == (len(values),), "collective-broadcast-c2",
            f"has_dynamic_root=true takes operands and a root for each, s32[{len(values)}]; the last operand is "
            f"{roots.text(False)}", attribute="has_dynamic_root")
    return Shape.one_or_tuple(values)


def _emit_collective_broadcast(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    if instruction.attributes.get("has_dynamic_root"):
        e.refuse(instruction, "its root is computed, which StableHLO's collective_broadcast does not have")
    return packed([e.op("stablehlo.collective_broadcast", [value], operand.shape, group_attributes(instruction))
                    for operand, value in zip(instruction.operands, operands, strict=True)])


def _lift_collective_broadcast(r: Reader) -> HloInstruction:
    return r.add("collective-broadcast", r.shape(), r.operands(), lifted_attributes(r))


def _draw_collective_broadcast(d: Draw) -> None:
    groups, _ = _drawn_plain_groups(d)
    d.add("collective-broadcast", d.argument(d.dims(0)), **groups)


@op(collective_broadcast_shape, flags=("collective", "uniform"), source=SPECIFICATION, lowering=Lowering(
    _emit_collective_broadcast, _lift_collective_broadcast, ("stablehlo.collective_broadcast",)),
    draw=_draw_collective_broadcast, cost=communicates, flow=EXCHANGES)
def collective_broadcast(*operands: Array, replica_groups: ReplicaGroups | None = None,
                         channel_id: int | None = None, has_dynamic_root: bool = False, world: Any) -> Any:
    """Every device of a group gets the operand of the group's first member; devices in no group get zeros.

    With has_dynamic_root the last operand holds, for each of the others, the place in the group of the member whose
    operand counts. Source: XLA, pull request 44145.

    C1  At least one operand, all arrays.
    C2  With has_dynamic_root the last operand is s32[n], for n operands before it.
    """
    values = operands[:-1] if has_dynamic_root else operands
    members = group_of(world, replica_groups, channel_id, None)
    if members is None:
        return packed([np.zeros_like(a) for a in values])
    everybodys = world.exchange(values, members)
    roots = operands[-1].tolist() if has_dynamic_root else [0] * len(values)
    if not all(0 <= root < len(members) for root in roots):
        raise EvaluationError(f"the roots are {roots}, the group has {len(members)} members")
    return packed([everybodys[root][i] for i, root in enumerate(roots)])
