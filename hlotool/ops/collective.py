"""The base of collectives: their members, and the numbers of replicas and partitions.

The protocol of `world`. A module runs on `replicas` x `partitions` simulated devices, numbered replica-major, each on
a thread of its own with its own World. An evaluate function that names `world` gets its device's:

    world.replicas, world.partitions     how many there are
    world.replica, world.partition       which one this device is
    world.exchange(value, participants)  bring a value, wait for the devices named (this one among them, all of them
                                         naming the same), get what each brought, in the order of `participants`
    world.together(members, compute)     what compute() gives, which is the same for all of those devices
    world.storage                        a dictionary that lives as long as the device's run (random state)
    world.send(channel, value, pairs, is_host)         put a value into a channel, without waiting
    world.recv(channel, pairs, is_host, shape)         take the next one, waiting for its sender
    world.infeed(shape), world.outfeed(value)          the device's declared queues

`exchange` pairs the n-th meeting of a set of devices on each of them, so control flow may differ between devices
outside of the set; a meeting that can never happen is an EvaluationError. `pairs` are (source, target) replica or
partition numbers, empty where the program names none (a device then sends to itself).
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, Protocol

from hlotool.ir import UNBOUNDED, HloInstruction, ReplicaGroups, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.costs import is_free
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import Effect, Elements, Flow
from hlotool.ops.lowering import Emitter, Lowering, Value
from hlotool.ops.random_programs import Draw
from hlotool.ops.registry import op, require
from hlotool.ops.relation_files import relation_rules
from hlotool.ops.rules import listed, require_array
from hlotool.ops.table import OPS
from hlotool.ops.values import EvaluationError

Ints = tuple[int, ...]


class World(Protocol):
    """A device's view of the others; see the top of this file."""

    replicas: int
    partitions: int
    replica: int
    partition: int
    storage: dict[str, Any]

    def exchange(self, value: Any, participants: Sequence[int]) -> list[Any]: ...
    def together(self, members: Sequence[int], compute: Callable[[], Any]) -> Any: ...
    def send(self, channel: int | None, value: Any, pairs: Sequence[tuple[int, int]], is_host: bool) -> None: ...
    def recv(self, channel: int | None, pairs: Sequence[tuple[int, int]], is_host: bool, shape: Shape) -> Any: ...
    def infeed(self, shape: Shape) -> Any: ...
    def outfeed(self, value: Any) -> None: ...


class GroupMode(enum.Enum):
    """The meaning of the ids in replica_groups. Source: XLA, xla/hlo/ir/collective_op_group_mode.cc."""

    #: replicas, in every partition by itself: no channel
    CROSS_REPLICA = "replica_count"
    #: partitions, in every replica by itself: a channel, and an operation without use_global_device_ids
    CROSS_PARTITION = "num_partitions"
    #: replicas with all their partitions: a channel and use_global_device_ids=false
    CROSS_REPLICA_AND_PARTITION = "replica_count (of replicas with all their partitions)"
    #: devices: a channel and use_global_device_ids=true
    FLATTENED_ID = "replica_count times num_partitions"

    def ids(self, replicas: int, partitions: int) -> int:
        """Return the number of ids that there are to name."""
        return {GroupMode.CROSS_PARTITION: partitions, GroupMode.FLATTENED_ID: replicas * partitions}.get(
            self, replicas)

    def members(self, ids: int, partitions: int) -> int:
        """Return the number of devices that meet in a group of so many ids."""
        return ids * partitions if self is GroupMode.CROSS_REPLICA_AND_PARTITION else ids

    def devices(self, ids: Iterable[int], replicas: int, partitions: int) -> Iterator[tuple[int, ...]]:
        """Yield the groups of devices, in order and numbered replica-major, that one group of ids stands for."""
        if self is GroupMode.CROSS_REPLICA:
            yield from (tuple(r * partitions + p for r in ids) for p in range(partitions))
        elif self is GroupMode.CROSS_PARTITION:
            yield from (tuple(r * partitions + p for p in ids) for r in range(replicas))
        elif self is GroupMode.CROSS_REPLICA_AND_PARTITION:
            yield tuple(r * partitions + p for r in ids for p in range(partitions))
        else:
            yield tuple(ids)


def group_mode(channel_id: int | None, use_global_device_ids: bool | None) -> GroupMode:
    """Return the mode of those attributes; `use_global_device_ids` is None for operations that do not have it.

    A channel that is not positive is none. Source: XLA, xla/hlo/ir/hlo_instruction.cc, CreateFromProto.
    """
    if channel_id is None or channel_id <= 0:
        return GroupMode.CROSS_REPLICA
    if use_global_device_ids is None:
        return GroupMode.CROSS_PARTITION
    return GroupMode.FLATTENED_ID if use_global_device_ids else GroupMode.CROSS_REPLICA_AND_PARTITION


def group_mode_of(instruction: HloInstruction) -> GroupMode:
    """Return the mode of a collective; one of an unknown opcode has use_global_device_ids where it stands."""
    attributes, record = instruction.attributes, OPS.get(instruction.opcode)
    has_global = "use_global_device_ids" in attributes or (
        record is not None and any(a.name == "use_global_device_ids" for a in record.attributes))
    return group_mode(attributes.get("channel_id"),
                      bool(attributes.get("use_global_device_ids")) if has_global else None)


def device_groups(instruction: HloInstruction, replicas: int, partitions: int) -> tuple[tuple[int, ...], ...]:
    """Return the groups of devices that meet in a collective, numbered replica-major; without a list all meet.

    Raises UnlistedDevicesError where the groups follow from a mesh of more devices than are listed.
    """
    groups = instruction.attributes.get("replica_groups")
    return _device_groups(group_mode_of(instruction), groups, replicas, partitions)


def device_group_sizes(instruction: HloInstruction, replicas: int, partitions: int) -> set[int]:
    """Return the numbers of devices in the groups of `device_groups`, of which none is listed.

    Raises UnlistedDevicesError as that does, but for an iota.
    """
    groups, mode = instruction.attributes.get("replica_groups"), group_mode_of(instruction)
    sizes = groups.sizes() if groups is not None and groups.is_listed else {mode.ids(replicas, partitions)}
    return {mode.members(size, partitions) for size in sizes}


def device_pairs(instruction: HloInstruction, replicas: int, partitions: int) -> tuple[tuple[int, int], ...]:
    """Return the devices that send and receive in a collective-permute, numbered replica-major."""
    mode = group_mode_of(instruction)
    return tuple((source, target) for pair in instruction.attributes.get("source_target_pairs") or ()
                 for source, target in mode.devices(pair, replicas, partitions))


@functools.lru_cache(maxsize=1024)
def _device_groups(mode: GroupMode, groups: ReplicaGroups | None, replicas: int, partitions: int
                   ) -> tuple[tuple[int, ...], ...]:
    lists: Iterable[Iterable[int]] = groups.lists() if groups is not None else ()
    return tuple(devices for ids in lists or (range(mode.ids(replicas, partitions)),)
                 for devices in mode.devices(ids, replicas, partitions))


def group_of(world: World, groups: ReplicaGroups | None, channel_id: int | None, use_global_device_ids: bool | None
             ) -> list[int] | None:
    """Return the devices of this device's group, in order; None where no group names it.

    `use_global_device_ids` is None for operations that do not have it.
    """
    mode, own = group_mode(channel_id, use_global_device_ids), device_of(world)
    found = _group_by_device(mode, groups, world.replicas, world.partitions).get(own)
    return None if found is None else list(found)


@functools.lru_cache(64)
def _group_by_device(mode: GroupMode, groups: ReplicaGroups | None, replicas: int, partitions: int
                     ) -> dict[int, Ints]:
    """Return the first group of each device."""
    found = list(_device_groups(mode, groups, replicas, partitions))
    return {device: tuple(group) for group in reversed(found) for device in group}


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


def require_sizes(found: Sequence[Array], shape: Shape, axis: int, members: Sequence[int]) -> None:
    """Raise EvaluationError where a shape was written for groups of another size than this run has."""
    for array, result in zip(found, shape.members, strict=True):
        if not result.is_dynamic_dim(axis) and array.shape[axis] != result.dims[axis]:
            of = f"{len(members)} member{'s' * (len(members) != 1)}"
            raise EvaluationError(f"the group has {of}, so that dimension {axis} has {array.shape[axis]} elements, "
                                  f"and not the {result.dims[axis]} of the shape")


def require_arrays(opcode: str, operands: Sequence[Shape], number: int = 1) -> None:
    """At least one operand, all arrays."""
    label = f"{opcode}-c{number}"
    require(bool(operands), label, f"{opcode} takes at least one operand")
    for i, shape in enumerate(operands):
        require_array(shape, label, f"operand {i}")


def require_global(opcode: str, number: int, channel_id: int | None, use_global: bool,
                   groups: ReplicaGroups | None) -> None:
    """use_global_device_ids needs a channel and groups."""
    label = f"{opcode}-c{number}"
    if not use_global:
        return
    require(channel_id is not None, label, "use_global_device_ids=true stands without channel_id",
            attribute="use_global_device_ids")
    require((channel_id or 0) > 0, label, f"channel_id is {channel_id}; use_global_device_ids needs a positive "
            "channel_id", attribute="channel_id")
    require(groups is not None and groups.is_listed, label,
            "use_global_device_ids=true stands without replica_groups", attribute="use_global_device_ids")


def packed(values: Sequence[Any]) -> Any:
    """One value as it is, several as a tuple."""
    return values[0] if len(values) == 1 else tuple(values)


def declared_results(shape: Shape | None, count: int) -> Sequence[Shape] | None:
    """The declared results: a tuple's members for several operands, else the shape itself."""
    if shape is None:
        return None
    return shape.elements if shape.is_tuple and (count > 1 or len(shape.elements) == 1) else (shape,)


def size_of(groups: ReplicaGroups | None) -> int | None:
    """The size of the groups where they are listed and equal."""
    sizes = groups.sizes() if groups is not None else set()
    return sizes.pop() if len(sizes) == 1 else None


def scaled(shape: Shape, axis: int, size: int) -> Shape:
    """The shape with another size along a dimension; a size in place of an unbounded one is no bound."""
    dims = tuple(size if d == axis else n for d, n in enumerate(shape.dims))
    flags = list(shape.dynamic_flags)
    flags[axis] = size == UNBOUNDED or shape.is_bounded_dim(axis)
    return Shape.array(shape.element_type, dims, None, tuple(flags))


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


def shown(shape: Shape | None) -> str:
    """A shape as messages show it."""
    return "not written" if shape is None else shape.text(False)


def second_of(label: str, start: Shape) -> Shape:
    """The results in the state of something begun."""
    require(start.is_tuple and len(start.elements) >= 2, label,
            f"the operand is {start.text(False)}; it must be (operands, results, ...)")
    return start.elements[1]


def emit_second(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """The results in the state of something begun."""
    return operands[0][1]


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
    flags=("collective",), source=SPECIFICATION, draw=_draw_number, cost=is_free,
    flow=Flow(Elements.GIVEN, effect=Effect.DEVICE), sharding=relation_rules.partition_id)
def partition_id(*, world: Any) -> Array:
    """The number of the partition that runs this.

    C1  The result is u32[].
    """
    return np.asarray(world.partition, np.uint32)


@op(_number_rule("replica-id"), lowering=_number_lowering("stablehlo.replica_id", "replica-id"),
    flags=("collective",), source=SPECIFICATION, draw=_draw_number, cost=is_free,
    flow=Flow(Elements.GIVEN, effect=Effect.DEVICE), sharding=relation_rules.replica_id)
def replica_id(*, world: Any) -> Array:
    """The number of the replica that runs this.

    C1  The result is u32[].
    """
    return np.asarray(world.replica, np.uint32)
