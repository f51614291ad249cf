"""Collectives: operations in which replicas and partitions take part together.

The protocol of `world`. A module runs on `replicas` x `partitions` simulated devices, numbered replica-major, each on
a thread of its own with its own World. An evaluate function that names `world` gets its device's:

    world.replicas, world.partitions     how many there are
    world.replica, world.partition       which one this device is
    world.exchange(value, participants)  bring a value, wait for the devices named (this one among them, all of them
                                         naming the same), get what each brought, in the order of `participants`
    world.storage                        a dictionary that lives as long as the device's run (random state)
    world.send(channel, value, pairs, is_host)         put a value into a channel, without waiting
    world.recv(channel, pairs, is_host, shape)         take the next one, waiting for its sender
    world.infeed(shape), world.outfeed(value)          the device's declared queues

`exchange` pairs the n-th meeting of a set of devices on each of them, so control flow may differ between devices
outside of the set; a meeting that can never happen is an EvaluationError. `pairs` are (source, target) replica or
partition numbers, empty where the program names none (a device then sends to itself).

Group modes (source: XLA, xla/hlo/ir/collective_op_group_mode.cc): ids in replica_groups are replicas in every
partition by itself (cross-replica, no channel_id); partitions in every replica by itself (cross-partition: channel_id,
operations without use_global_device_ids); replicas with all their partitions (cross-replica-and-partition:
channel_id, use_global_device_ids=false); devices (flattened-id: use_global_device_ids=true).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from hlotool.ir import UNBOUNDED, HloComputation, HloInstruction, ReplicaGroups, Shape
from hlotool.ops.asynchronous import contexts
from hlotool.ops.called import parameter_shapes, same_up_to_precision, scalar
from hlotool.ops.costs import communicates, is_free
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.groups import GROUPED, group_attributes, lifted_attributes
from hlotool.ops.lazy_numpy import np
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64, promoted
from hlotool.ops.numbers import Array
from hlotool.ops.random_programs import ORDERLESS, Draw, shape_text
from hlotool.ops.registry import op, require
from hlotool.ops.rules import flags_of, listed, require_array, same_dims
from hlotool.ops.values import Callee, EvaluationError, apply

Ints = tuple[int, ...]


class World(Protocol):
    """A device's view of the others; see the top of this file."""

    replicas: int
    partitions: int
    replica: int
    partition: int
    storage: dict[str, Any]

    def exchange(self, value: Any, participants: Sequence[int]) -> list[Any]: ...
    def send(self, channel: int | None, value: Any, pairs: Sequence[tuple[int, int]], is_host: bool) -> None: ...
    def recv(self, channel: int | None, pairs: Sequence[tuple[int, int]], is_host: bool, shape: Shape) -> Any: ...
    def infeed(self, shape: Shape) -> Any: ...
    def outfeed(self, value: Any) -> None: ...


def group_of(world: World, groups: ReplicaGroups | None, channel_id: int | None, use_global_device_ids: bool | None
             ) -> list[int] | None:
    """The devices of this device's group, in order; None where no group names it.

    `use_global_device_ids` is None for operations that do not have it.
    """
    parts, replica, partition = world.partitions, world.replica, world.partition
    lists = groups.lists() if groups is not None else ()

    def mine(own: int, count: int) -> Sequence[int] | None:
        return next((g for g in lists if own in g), None) if lists else range(count)

    if channel_id is None:
        found = mine(replica, world.replicas)
        return None if found is None else [r * parts + partition for r in found]
    if use_global_device_ids is None:
        found = mine(partition, parts)
        return None if found is None else [replica * parts + p for p in found]
    if use_global_device_ids:
        found = mine(replica * parts + partition, world.replicas * parts)
        return None if found is None else list(found)
    found = mine(replica, world.replicas)
    return None if found is None else [r * parts + p for r in found for p in range(parts)]


def device_of(world: World) -> int:
    """The number of the device that runs this."""
    return world.replica * world.partitions + world.partition


def required_group(world: World, groups: ReplicaGroups | None, channel_id: int | None, use_global: bool | None
                    ) -> list[int]:
    """The group of this device. Raises EvaluationError where none names it."""
    found = group_of(world, groups, channel_id, use_global)
    if found is None:
        raise EvaluationError(f"no replica group names replica {world.replica}, partition {world.partition}")
    return found


def require_arrays(opcode: str, operands: Sequence[Shape], number: int = 1) -> None:
    """At least one operand, all arrays."""
    label = f"{opcode}-c{number}"
    require(bool(operands), label, f"{opcode} takes at least one operand")
    for i, shape in enumerate(operands):
        require_array(shape, label, f"operand {i}")


def one_or_tuple(shapes: Sequence[Shape]) -> Shape:
    """One shape as it is, several as a tuple."""
    return shapes[0] if len(shapes) == 1 else Shape.tuple(*shapes)


def packed(values: Sequence[Any]) -> Any:
    """One value as it is, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)


def _require_global(opcode: str, number: int, channel_id: int | None, use_global: bool,
                    groups: ReplicaGroups | None) -> None:
    """use_global_device_ids needs a channel and groups."""
    label = f"{opcode}-c{number}"
    require(not use_global or channel_id is not None, label, "use_global_device_ids=true stands without channel_id",
            attribute="use_global_device_ids")
    require(not use_global or (groups is not None and groups.is_listed), label,
            "use_global_device_ids=true stands without replica_groups", attribute="use_global_device_ids")


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


def size_of(groups: ReplicaGroups | None) -> int | None:
    """The size of the groups where they are listed and equal."""
    sizes = groups.sizes() if groups is not None else set()
    return sizes.pop() if len(sizes) == 1 else None


def scaled(shape: Shape, axis: int, size: int) -> Shape:
    """The shape with another size along a dimension; a size in place of an unbounded one is no bound."""
    dims = tuple(size if d == axis else n for d, n in enumerate(shape.dims))
    flags = list(flags_of(shape))
    flags[axis] = size == UNBOUNDED or shape.is_bounded_dim(axis)
    return Shape.array(shape.element_type, dims, None, tuple(flags))


# all-reduce


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
    _require_global(opcode, 4, channel_id, use_global, groups)
    result = one_or_tuple(operands)
    # Floats may be reduced in another precision than they come in.
    return declared if declared is not None and same_up_to_precision(declared, result) else result


def _reduced(to_apply: Callee, parts: Sequence[Array]) -> Array:
    total = parts[0]
    for part in parts[1:]:
        total = apply(to_apply, total, part)[0]
    return total.astype(parts[0].dtype, copy=False)


def _emit_all_reduce(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    found = []
    region = instruction.attributes["to_apply"]
    # One operation an operand: their element types may differ, and StableHLO's computation takes one.
    root = region.root.shape
    results = instruction.shape.elements if instruction.shape.is_tuple else (instruction.shape,)
    for result, operand, value in zip(results, instruction.operands, operands, strict=True):
        # The computation decides the type that is added in, which StableHLO wants all around.
        wide = operand.shape.with_element_type(root.element_type) if root.is_array else operand.shape
        given = value if wide is operand.shape else e.op("stablehlo.convert", [value], wide)
        sum_ = e.op("stablehlo.all_reduce", [given], wide, group_attributes(instruction), [e.region(region)])
        found.append(sum_ if result.compatible(wide) else e.op("stablehlo.convert", [sum_], result))
    return found[0] if len(found) == 1 else tuple(found)


def _lift_all_reduce(r: Reader) -> HloInstruction:
    return r.add("all-reduce", r.shape(), _promoted_operands(r), {
        **lifted_attributes(r), "to_apply": r.computation(0)})


def _promoted_operands(r: Reader) -> list[HloInstruction]:
    """The operands in the element types of the results."""
    shape = r.shape()
    return promoted(r, r.operands(), shape.elements if shape.is_tuple else (shape,))


def drawn_groups(d: Draw) -> tuple[dict[str, Any], int]:
    """Devices, groups of one size in one of the group modes as attributes, and how many devices a group has."""
    mode = next((m for m in ("cross partition", "replicas and partitions", "flattened ids") if d.edge(m)), "replicas")
    few = d.pick((2, 4))
    d.devices(*{"replicas": (few, 1), "cross partition": (1, few)}.get(mode, (2, 2)))
    count = {"replicas and partitions": 2, "flattened ids": 4}.get(mode, few)
    size = d.pick([n for n in (1, 2, 4) if n <= count])
    ids = d.shuffled(range(count))
    groups = ",".join(f"{{{listed(ids[i:i + size])}}}" for i in range(0, count, size))
    found: dict[str, Any] = {"replica_groups": f"{{{groups}}}"}
    if mode != "replicas":
        found["channel_id"] = 1
    if mode in ("cross partition", "flattened ids"):
        found["use_global_device_ids"] = True
    return found, size * (2 if mode == "replicas and partitions" else 1)


def _draw_all_reduce(d: Draw) -> None:
    groups, _ = drawn_groups(d)
    operand = d.argument(d.dims(0), edges=ORDERLESS)
    if d.opcode == "all-reduce":
        d.add("all-reduce", operand, **groups, to_apply=d.fold())
    else:
        d.add("all-reduce-done", d.add("all-reduce-start", operand, **groups, to_apply=d.fold()))


@op(all_reduce_shape, flags=("collective", "calls"), ulps=4.0, source=SPECIFICATION,
    lowering=Lowering(_emit_all_reduce, _lift_all_reduce, ("stablehlo.all_reduce",), ("to_apply",),
                      GROUPED), draw=_draw_all_reduce, cost=communicates)
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
    """Constraints 1 to 4 of all-reduce-start."""
    return _all_reduce("all-reduce-start", operands, to_apply, channel_id, use_global_device_ids, replica_groups,
                       declared)


@op(all_reduce_start_shape, flags=("collective", "calls", "async"), ulps=4.0, source=SPECIFICATION,
    lowering=Lowering(_emit_all_reduce), draw=_draw_all_reduce, cost=communicates)
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


def all_reduce_done_shape(start: Shape) -> Shape:
    """The operand's shape."""
    return start


def _emit_first(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return operands[0]


@op(all_reduce_done_shape, flags=("async",), lowering=Lowering(_emit_first), source=SPECIFICATION,
    draw=_draw_all_reduce, cost=is_free)
def all_reduce_done(start: Any) -> Any:
    """Wait for all-reduce-start and give what it computed."""
    return start


# all-gather


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


def _members(shape: Shape | None, count: int) -> Sequence[Shape] | None:
    """The declared results: a tuple's members for several operands, else the shape itself."""
    if shape is None:
        return None
    return shape.elements if shape.is_tuple and (count > 1 or len(shape.elements) == 1) else (shape,)


def all_gather_shape(*operands: Shape, dimensions: Ints, replica_groups: ReplicaGroups | None = None,
                     channel_id: int | None = None, use_global_device_ids: bool = False,
                     declared: Shape | None) -> Shape:
    """Constraints 1 to 4 of all-gather."""
    found = _gather_rule("all-gather", operands, _members(declared, len(operands)), dimensions, replica_groups)
    _require_global("all-gather", 4, channel_id, use_global_device_ids, replica_groups)
    return Shape.tuple(*found) if declared is not None and declared.is_tuple else one_or_tuple(found)


def _emit_all_gather_of(e: Emitter, instruction: HloInstruction, operands: Sequence[Value], shape: Shape) -> Value:
    if not shape.is_tuple and not shape.size:
        # StableHLO gathers no empty dimension.
        return e.constant(np.zeros(shape.dims, shape.dtype.numpy), shape)
    return e.op("stablehlo.all_gather", operands, shape, {
        "all_gather_dim": i64(instruction.attributes["dimensions"][0]), **group_attributes(instruction)})


def _emit_all_gather(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return _emit_all_gather_of(e, instruction, operands, instruction.shape)


def _lift_all_gather(r: Reader) -> HloInstruction:
    return r.add("all-gather", r.shape(), r.operands(),
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


@op(all_gather_shape, flags=("collective",), source=SPECIFICATION,
    lowering=Lowering(_emit_all_gather, _lift_all_gather, ("stablehlo.all_gather",), ("dimensions",),
                      GROUPED), draw=_draw_all_gather, cost=communicates)
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
    return tuple(found) if shape.is_tuple else found[0]


def all_gather_start_shape(*operands: Shape, dimensions: Ints, replica_groups: ReplicaGroups | None = None,
                           channel_id: int | None = None, use_global_device_ids: bool = False,
                           declared: Shape | None) -> Shape:
    """Constraints 1 to 5 of all-gather-start."""
    inputs = one_or_tuple(operands)
    fits = declared is None or (declared.is_tuple and len(declared.elements) >= 2
                                and declared.elements[0].compatible(inputs))
    require(fits, "all-gather-start-c5", f"the result is {shown(declared)}; it must be (operands, gathered operands), "
            f"the first {inputs.text(False)}")
    results = None if declared is None else _members(declared.elements[1], len(operands))
    found = _gather_rule("all-gather-start", operands, results, dimensions, replica_groups)
    _require_global("all-gather-start", 4, channel_id, use_global_device_ids, replica_groups)
    return Shape.tuple(inputs, one_or_tuple(found), *(declared.elements[2:] if declared is not None else ()))


def shown(shape: Shape | None) -> str:
    """A shape as messages show it."""
    return "not written" if shape is None else shape.text(False)


def _emit_all_gather_start(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    found = _emit_all_gather_of(e, instruction, operands, instruction.shape.elements[1])
    return packed(operands), found, *contexts(e, instruction.shape)


@op(all_gather_start_shape, flags=("collective", "async"), lowering=Lowering(_emit_all_gather_start),
    source=SPECIFICATION, draw=_draw_all_gather, cost=communicates)
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


def second_of(label: str, start: Shape) -> Shape:
    """The results in the state of something begun."""
    require(start.is_tuple and len(start.elements) >= 2, label,
            f"the operand is {start.text(False)}; it must be (operands, results, ...)")
    return start.elements[1]


def emit_second(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """The results in the state of something begun."""
    return operands[0][1]


def all_gather_done_shape(start: Shape) -> Shape:
    """Constraint 1 of all-gather-done."""
    return second_of("all-gather-done-c1", start)


@op(all_gather_done_shape, flags=("async",), lowering=Lowering(emit_second), source=SPECIFICATION,
    draw=_draw_all_gather, cost=is_free)
def all_gather_done(start: Any) -> Any:
    """Wait for all-gather-start and give what it gathered.

    C1  The operand is a tuple of operands and results.
    """
    return start[1]


# reduce-scatter


def reduce_scatter_shape(*operands: Shape, dimensions: Ints, to_apply: HloComputation,
                         replica_groups: ReplicaGroups | None = None, channel_id: int | None = None,
                         use_global_device_ids: bool = False, declared: Shape | None) -> Shape:
    """Constraints 1 to 5 of reduce-scatter."""
    require_arrays("reduce-scatter", operands)
    require(len(dimensions) == 1 and all(0 <= dimensions[0] < o.rank for o in operands), "reduce-scatter-c2",
            f"dimensions={{{listed(dimensions)}}}; it names one dimension of "
            f"{', '.join(o.text(False) for o in operands)}", attribute="dimensions")
    _require_reduction("reduce-scatter", 4, operands, to_apply)
    _require_global("reduce-scatter", 5, channel_id, use_global_device_ids, replica_groups)
    axis, size, found = dimensions[0], size_of(replica_groups), []
    results = _members(declared, len(operands))
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
    return Shape.tuple(*found) if declared is not None and declared.is_tuple else one_or_tuple(found)


def _emit_reduce_scatter(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = {"scatter_dimension": i64(instruction.attributes["dimensions"][0]), **group_attributes(instruction)}
    shape = instruction.shape
    results = shape.elements if shape.is_tuple else (shape,)
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


@op(reduce_scatter_shape, flags=("collective", "calls"), ulps=4.0, source=SPECIFICATION,
    lowering=Lowering(_emit_reduce_scatter, _lift_reduce_scatter, ("stablehlo.reduce_scatter",)),
    draw=_draw_reduce_scatter, cost=communicates)
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
    found = [np.split(_reduced(to_apply, parts), len(members), dimensions[0])[place]
             for parts in zip(*brought, strict=True)]
    return tuple(found) if shape.is_tuple else found[0]


# partition-id, replica-id


def _number_rule(opcode: str) -> Callable[..., Shape]:
    def rule(*, declared: Shape | None) -> Shape:
        expected = Shape.array("u32")
        require(declared is None or declared.compatible(expected), f"{opcode}-c1",
                f"the result is {shown(declared)}; it is always u32[]")
        return expected

    return rule


def _number_lowering(name: str, opcode: str) -> Lowering:
    def emit(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        return e.op(name, (), instruction.shape)

    return Lowering(emit, lambda r: r.add(opcode, r.shape()), (name,))


def _draw_number(d: Draw) -> None:
    d.devices(*d.pick(((1, 1), (4, 1), (1, 4), (2, 2))))
    d.add(d.opcode, shape=f"{d.dtype}[]")


@op(_number_rule("partition-id"), lowering=_number_lowering("stablehlo.partition_id", "partition-id"),
    flags=("collective",), source=SPECIFICATION, draw=_draw_number, cost=is_free)
def partition_id(*, world: Any) -> Array:
    """The number of the partition that runs this.

    C1  The result is u32[].
    """
    return np.asarray(world.partition, np.uint32)


@op(_number_rule("replica-id"), lowering=_number_lowering("stablehlo.replica_id", "replica-id"),
    flags=("collective",), source=SPECIFICATION, draw=_draw_number, cost=is_free)
def replica_id(*, world: Any) -> Array:
    """The number of the replica that runs this.

    C1  The result is u32[].
    """
    return np.asarray(world.replica, np.uint32)
