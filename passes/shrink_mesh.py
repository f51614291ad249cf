"""Shrinks axes of a mesh along which a partitioned program only repeats itself to two devices.

    HloModule m, num_partitions=8              HloModule m, num_partitions=2
    ENTRY main {                               ENTRY main {
      x = f32[4] parameter(0)                    x = f32[4] parameter(0)
      ROOT y = f32[4] all-reduce(x),      ->     ROOT y = f32[4] all-reduce(x),
        replica_groups={{0,1,2,3,4,5,6,7}},        replica_groups={{0,1}},
        channel_id=1, to_apply=add,                channel_id=1, to_apply=add,
        use_global_device_ids=true                 use_global_device_ids=true
    }                                          }
    add { ... }                                add { ... }

Two devices along an axis are enough where moving all devices along it changes nothing: each runs the same instructions
on parts of the same shapes, no number depends on the place along the axis, and devices at several places meet in
all-reduces of the whole axis only. Such an all-reduce folds two values as it folds hundreds. What gathers, scatters or
shifts along the axis has the number of devices in its shapes, or in the way around, and keeps it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import HloInstruction, HloModule, Literal, ReplicaGroups, Shape, UnlistedDevicesError
from hlotool.ir.arrays import Array, np
from hlotool.ops import Effect, device_groups, device_pairs, flow_of, is_a
from hlotool.passes.codes import NOT_SHRUNK

#: the users of each instruction
_Users: TypeAlias = dict[HloInstruction, list[HloInstruction]]
#: devices along an axis that are left
_LEFT = 2


@dataclass(frozen=True)
class MeshAxis:
    """Devices whose numbers differ by multiples of a stride: `size` places, over and over."""

    stride: int
    size: int

    def place(self, devices: Array) -> Array:
        """Return the place of each device along the axis."""
        return np.asarray(devices // self.stride % self.size)

    def kept(self, count: int) -> Array:
        """Return the devices that are left of so many, in order."""
        devices = np.arange(count)
        return devices[self.place(devices) < _LEFT]


@dataclass(frozen=True)
class ShrunkAxis:
    """An axis that was shrunk to two devices, and why that is enough."""

    axis: MeshAxis
    reason: str


def shrink_mesh(module: HloModule) -> HloModule:
    """Return the module, changed in place, for the fewest devices that do what all did. Raises HloError."""
    shrink_axes(module)
    return module


def devices_left(axes: Sequence[ShrunkAxis], count: int) -> list[int]:
    """Return which of so many devices are left after axes were shrunk one after the other."""
    kept = np.arange(count)
    for shrunk in axes:
        kept = kept[shrunk.axis.kept(len(kept))]
    return [int(d) for d in kept]


def shrink_axes(module: HloModule) -> list[ShrunkAxis]:
    """Shrink what only repeats, in place; return the axes. Raises HloError (V271) where no axis is."""
    found: list[ShrunkAxis] = []
    refused: dict[str, HloInstruction] = {}
    while (axis := next(_repeated(module, refused), None)) is not None:
        found.append(axis)
        _shrink_one(module, axis.axis)
    if not found:
        raise HloError([_refusal(module, refused)])
    return found


def _refusal(module: HloModule, refused: dict[str, HloInstruction]) -> Diagnostic:
    if not refused:
        said = f"there are {_devices(module)} devices; a mesh of more than {_LEFT} along an axis can be shrunk"
        return Diagnostic(NOT_SHRUNK, said, filename=_filename(module))
    reason, at = next(iter(refused.items()))
    place = module.position(at)
    return Diagnostic(NOT_SHRUNK, f"no axis of the mesh only repeats: {reason}", line=place.line, column=place.column,
                      filename=_filename(module))


def _filename(module: HloModule) -> str:
    return module.source.filename if module.source is not None else "<module>"


def _devices(module: HloModule) -> int:
    replicas, partitions = module.device_counts
    return partitions if replicas == 1 else 1


def _repeated(module: HloModule, refused: dict[str, HloInstruction]) -> Iterator[ShrunkAxis]:
    """Yield the axes along which the program only repeats itself, the longest first."""
    count = _devices(module)
    axes = [MeshAxis(stride, size) for stride in range(1, count) if count % stride == 0
            for size in range(_LEFT + 1, count // stride + 1) if count // stride % size == 0]
    for axis in sorted(axes, key=lambda a: (-a.size, a.stride)):
        problem = next(_problems(module, axis, count), None)
        if problem is None:
            yield ShrunkAxis(axis, _reason(module, axis, count))
        else:
            refused.setdefault(*problem)


def _reason(module: HloModule, axis: MeshAxis, count: int) -> str:
    over = [i for i in module.instructions() if i.attributes.get("to_apply") is not None and flow_of(i).exchanges
            and any(len(set(axis.place(np.asarray(g)))) > 1 for g in device_groups(i, 1, count))]
    meet = f"they meet in {len(over)} all-reduce{'s' * (len(over) != 1)} of all of them" if over else "they never meet"
    return (f"the {axis.size} devices along an axis of stride {axis.stride} run the same instructions on parts of the "
            f"same shapes, and no number depends on the place; {meet}")


# Why an axis is more than a repetition


def _problems(module: HloModule, axis: MeshAxis, count: int) -> Iterator[tuple[str, HloInstruction]]:
    """Yield what depends on the place along an axis, or on how long it is."""
    for computation in module.computations:
        users = computation.users()
        for instruction in computation.instructions:
            flow = flow_of(instruction)
            if flow.effect & Effect.DEVICE:
                for user in _numbers_of(instruction, users, computation.root):
                    if not _is_even(_table(user, count, users), axis):
                        yield f"{user.opcode} {user.name} depends on the number of the device", user
            elif flow.exchanges and (problem := _collective_problem(instruction, axis, count)):
                yield f"{instruction.opcode} {instruction.name} {problem}", instruction


def _numbers_of(instruction: HloInstruction, users: _Users, root: HloInstruction) -> list[HloInstruction]:
    """Return what uses a device's number, in whatever type and shape; a root that is it, too."""
    found: list[HloInstruction] = []
    waiting = [instruction]
    while waiting:
        number = waiting.pop()
        found += [number] if number is root else []
        for user in users.get(number, ()):
            (waiting if flow_of(user).keeps_numbers else found).append(user)
    return found


def _table(user: HloInstruction, count: int, users: _Users) -> Array | None:
    """Return the table in which an instruction looks up a device's number; None: it does something else."""
    if user.opcode != "dynamic-slice" or user.operands[0].opcode != "constant" or len(user.operands) != 2 or any(
            u.opcode != "dynamic-slice" or u.operands[0] is not user.operands[0] for u in users[user.operands[0]]):
        return None
    literal = user.operands[0].literal
    is_table = user.operands[0].shape.dims == (count,) and not literal.has_elided and user.shape.dims == (1,)
    return literal.array if is_table else None


def _is_even(table: Array | None, axis: MeshAxis) -> bool:
    """Return True if a number is the same at all places of the axis."""
    if table is None:
        return False
    rows = table.reshape(-1, axis.size, axis.stride)
    return bool((rows == rows[:, :1]).all())


def _collective_problem(instruction: HloInstruction, axis: MeshAxis, count: int) -> str:
    """Return why the devices of an exchange are not moved along an axis; "" if they are."""
    if not is_a(instruction, "collective"):
        return "exchanges data in another way than a collective"
    try:
        pairs = device_pairs(instruction, 1, count)
        groups = pairs or device_groups(instruction, 1, count)
    except UnlistedDevicesError as error:
        return str(error)
    if "source_target_pairs" in instruction.attributes and not pairs:
        return "has no pairs"
    moved = {tuple(_moved(g, axis)) for g in groups}
    whole = all(len(set(axis.place(np.asarray(g)))) in (1, axis.size) for g in groups)
    is_inside = all(len(set(axis.place(np.asarray(g)))) == 1 for g in groups)
    if not is_inside and (instruction.opcode not in ("all-reduce", "all-reduce-start") or not whole):
        return f"joins places of an axis of {axis.size} devices, stride {axis.stride}, in its shapes or its order"
    same = moved == set(groups) if is_inside else {frozenset(g) for g in moved} == {frozenset(g) for g in groups}
    return "" if same else f"does not do the same at all places of an axis of {axis.size} devices"


def _moved(group: Sequence[int], axis: MeshAxis) -> list[int]:
    """Return the devices one place further along an axis."""
    return [d + axis.stride if d // axis.stride % axis.size < axis.size - 1 else d - axis.stride * (axis.size - 1)
            for d in group]


# Fewer devices


def _shrink_one(module: HloModule, axis: MeshAxis) -> None:
    """Leave two devices along an axis, in place."""
    count = _devices(module)
    kept = axis.kept(count)
    numbers = {int(d): n for n, d in enumerate(kept)}
    tables = {}
    for computation in module.computations:
        users = computation.users()
        for instruction in computation.instructions:
            instruction.attributes = instruction.attributes.without("sharding")
            if flow_of(instruction).effect & Effect.DEVICE:
                tables.update({user.operands[0]: user for user in _numbers_of(instruction, users, computation.root)})
            elif flow_of(instruction).exchanges:
                _keep_devices(instruction, numbers, count)
    for table in tables:
        plain = Shape.array(table.shape.element_type, (len(kept),))
        left = np.ascontiguousarray(table.literal.array[kept])
        table.attributes, table.shape = table.attributes | {"literal": Literal(plain, left)}, plain
    module.attributes = module.attributes | {"num_partitions": len(kept)}


def _keep_devices(instruction: HloInstruction, numbers: dict[int, int], count: int) -> None:
    if "source_target_pairs" in instruction.attributes:
        pairs = device_pairs(instruction, 1, count)
        instruction.attributes = instruction.attributes | {"source_target_pairs": tuple(
            (numbers[a], numbers[b]) for a, b in pairs if a in numbers and b in numbers)}
        return
    groups = [tuple(numbers[d] for d in g if d in numbers) for g in device_groups(instruction, 1, count)]
    instruction.attributes = instruction.attributes | {"replica_groups": ReplicaGroups(tuple(g for g in groups if g))}
