"""A whole program and its partitioned form: arguments cut into parts, results put together of all devices' parts.

    whole                                                 on each device
    x = s32[2,8] parameter(0), sharding={[1,2]<=[2]}      x = s32[2,4] parameter(0)
    ROOT y = s32[2,6] ..., sharding={[1,2]<=[2]}          ROOT y = s32[2,3] ...

Devices that hold the same tile should have the same value. A result is put together once for each value that a tile
has on some device, so that no device's value is left out. What does not divide is filled up behind its end, as XLA's
partitioner does; the padding is never compared.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.execution import Program, numbered
from hlotool.ir import (
    HloInstruction,
    HloModule,
    NoPlacementError,
    Placement,
    Shape,
    Sharding,
    UnlistedDevicesError,
    placement_of,
    replicated,
)
from hlotool.ir.arrays import Array, np

#: a range of elements of a whole array, dimension by dimension
Ranges = tuple[slice, ...]


@dataclass(frozen=True)
class Version:
    """One value of a whole array, and the devices of which each part is."""

    array: Array
    #: the range of each part, without padding, and the devices that hold this value of it
    holders: tuple[tuple[Ranges, tuple[int, ...]], ...]

    def places_of(self, mask: Array) -> list[PartPlace]:
        """Return the devices and ranges of the elements of a mask."""
        found = []
        for ranges, devices in self.holders:
            held = np.asarray(mask[ranges])
            if not held.any():
                continue
            at = np.nonzero(held) if held.ndim else ()
            bounds = tuple(slice(r.start + int(a.min()), r.start + int(a.max()) + 1)
                           for r, a in zip(ranges, at, strict=True))
            found.append(PartPlace(devices, bounds))
        return found


@dataclass(frozen=True)
class PartPlace:
    """Elements of a whole array on the devices that hold them."""

    devices: tuple[int, ...]
    ranges: Ranges

    @property
    def on(self) -> str:
        """The devices in words."""
        return f"on {numbered(self.devices)}"

    def __str__(self) -> str:
        within = ", ".join(f"{r.start}:{r.stop}" for r in self.ranges)
        return f"[{within}] {self.on}"


def parts_of(placement: Placement, array: Array) -> list[Array]:
    """Return the part of each device; zeros stand behind the array's end, and where a device has no part.

    Devices that hold one tile share one array.
    """
    sizes = placement.size(array.shape)
    filled = np.zeros([s * n for s, n in zip(sizes, placement.counts, strict=True)], array.dtype)
    filled[tuple(map(slice, array.shape))] = array
    made: dict[tuple[int, ...] | None, Array] = {None: np.zeros(sizes, array.dtype)}
    for device, place in enumerate(placement.places):
        if place not in made:
            made[place] = np.array(filled[placement.span(device, sizes)])
    return [made[place] for place in placement.places]


def versions_of(placement: Placement, parts: Sequence[Array], dims: Sequence[int]) -> list[Version]:
    """Return the whole arrays of these dimensions of which the parts of all devices are: one, if copies are equal."""
    sizes = parts[0].shape
    tiles: dict[tuple[int, ...], dict[bytes, list[int]]] = {}
    held: dict[tuple[tuple[int, ...], int], list[int]] = {}
    for device, place in enumerate(placement.places):
        if place is not None:
            held.setdefault((place, id(parts[device])), []).append(device)
    for (place, _), devices in held.items():
        spans = placement.span(devices[0], sizes)
        inside = tuple(slice(0, max(0, min(r.stop, d) - r.start)) for r, d in zip(spans, dims, strict=True))
        tiles.setdefault(place, {}).setdefault(parts[devices[0]][inside].tobytes(), []).extend(devices)
    found = []
    for number in range(max((len(values) for values in tiles.values()), default=0)):
        filled = np.zeros([s * n for s, n in zip(sizes, placement.counts, strict=True)], parts[0].dtype)
        holders = []
        for values in tiles.values():
            devices = sorted(list(values.values())[min(number, len(values) - 1)])
            spans = placement.span(devices[0], sizes)
            filled[spans] = parts[devices[0]]
            cut = tuple(slice(min(r.start, d), min(r.stop, d)) for r, d in zip(spans, dims, strict=True))
            holders.append((cut, tuple(devices)))
        found.append(Version(np.array(filled[tuple(map(slice, dims))]), tuple(holders)))
    return found


@dataclass(frozen=True, eq=False)
class Partition:
    """A whole program, its partitioned form, and where the parts of arguments and results are."""

    whole: Program
    part: Program
    arguments: tuple[Placement, ...]
    results: tuple[Placement, ...]

    def given(self, row: Sequence[Array]) -> list[list[Array]]:
        """Return the arguments of each device."""
        cut = [parts_of(placement, a) for placement, a in zip(self.arguments, row, strict=True)]
        return [[parts[device] for parts in cut] for device in range(self.part.devices)]

    def edited(self, module: HloModule) -> Program:
        """Return another form of the partitioned module as a program of the same devices."""
        return _as_part(module, self.part.partitions)

    def made(self, rows: Sequence[Sequence[Array]]) -> list[list[Version]]:
        """Return the versions of each whole result."""
        return [versions_of(placement, [row[n] for row in rows], shape.dims)
                for n, (placement, shape) in enumerate(zip(self.results, self.whole.results, strict=True))]


def partition_between(whole: Program, part: Program) -> Partition | None:
    """Return the partition by which one module is the other's; None: it is not, or its shardings do not tell.

    Sharded dimensions are told by the shardings of the whole program's parameters and results; parameters of the
    partitioned program that still have theirs count where the whole one's have none. Values of the same dimensions on
    both sides are on each device as a whole.
    """
    if whole.partitioning != "automatic" or whole.replicas != 1 or part.replicas != 1 or not _is_part(whole, part):
        return None
    devices = whole.all_devices
    if part.partitioning == "automatic" or part.partitions != devices:
        if int(part.module.attributes.get("num_partitions", devices)) != devices:
            return None
        part = _as_part(part.module, devices)
    own = [found for p in part.module.entry.parameters() for found, _ in _leaves(p)]
    stated = [(s or o, shape) for (s, shape), o in zip(
        [leaf for p in whole.module.entry.parameters() for leaf in _leaves(p)], own, strict=False)]
    arguments = _placements(stated, part.parameters, devices)
    results = _placements(_leaves(whole.module.entry.root), part.results, devices)
    return Partition(whole, part, arguments, results) if arguments is not None and results is not None else None


def _as_part(module: HloModule, devices: int) -> Program:
    """Return a module as the program of each of several devices, whatever tells that it still has to be partitioned."""
    program = Program(module, is_part=True)
    program.partitions = devices
    return program


def _is_part(whole: Program, part: Program) -> bool:
    """Return True if a module looks like another one's part: it has been partitioned, or its shapes are smaller."""
    pairs = [(a, b) for a, b in zip((*whole.parameters, *whole.results), (*part.parameters, *part.results),
                                    strict=False)]
    return part.partitioning == "manual" or any(a.dims != b.dims for a, b in pairs)


def _leaves(instruction: HloInstruction) -> list[tuple[Sharding | None, Shape]]:
    """Return the sharding of each array of a value; that of the operands where a tuple has none of its own."""
    found = instruction.attributes.get("sharding")
    shapes = [s for _, s in instruction.shape.leaves() if not s.is_token]
    if not isinstance(found, Sharding):
        if instruction.opcode == "tuple":
            return [leaf for o in instruction.operands for leaf in _leaves(o)]
        return [(None, s) for s in shapes]
    each = found.elements if found.elements else (found,) * len(shapes)
    return list(zip(each, shapes, strict=True)) if len(each) == len(shapes) else [(None, s) for s in shapes]


def _placements(wholes: Sequence[tuple[Sharding | None, Shape]], parts: Sequence[Shape],
                devices: int) -> tuple[Placement, ...] | None:
    """Return the placement of each value; None where one is not known, or its parts have other shapes."""
    if len(wholes) != len(parts):
        return None
    found = []
    for (sharding, shape), part in zip(wholes, parts, strict=True):
        if not (shape.is_array and part.is_array) or shape.element_type != part.element_type:
            return None
        placement = _placement(sharding, shape, part, devices)
        if placement is None or placement.size(shape.dims) != part.dims:
            return None
        found.append(placement)
    return tuple(found)


def placement_for(whole: HloInstruction, part: HloInstruction, devices: int) -> Placement | None:
    """Return the placement that a value's sharding says, if the parts have these dimensions; else None."""
    if not (whole.shape.is_array and part.shape.is_array) or whole.shape.element_type != part.shape.element_type:
        return None
    sharding = whole.attributes.get("sharding")
    found = _placement(sharding if isinstance(sharding, Sharding) else None, whole.shape, part.shape, devices)
    return found if found is not None and found.size(whole.shape.dims) == part.shape.dims else None


def _placement(sharding: Sharding | None, shape: Shape, part: Shape, devices: int) -> Placement | None:
    if sharding is None or sharding.kind in ("unknown", "manual"):
        return replicated(shape.rank, devices) if shape.dims == part.dims else None
    try:
        found = placement_of(sharding, shape.rank, devices)
    except (NoPlacementError, UnlistedDevicesError):
        return None
    return None if found.manual else found
