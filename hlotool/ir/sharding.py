"""Shardings of all three generations, replica groups, and the device meshes they share."""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Sequence

from hlotool.ir.arrays import np
from hlotool.ir.interning import Interned
from hlotool.ir.lazy_dataclasses import lazy_dataclass

#: devices that are written out one by one; `[1000000000]` of them is a few characters in a text
MOST_DEVICES = 1 << 20


class UnlistedDevicesError(ValueError):
    """A list of devices was asked for that is none: of more than MOST_DEVICES, or of a mesh that fits nothing."""


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class IotaTile(metaclass=Interned):
    """`[dims]<=[reshape]T(permutation)`: the device numbers 0..n-1 reshaped, transposed, and cut to `dims`.

    Source: XLA's IotaTileAssignment.
    """

    dims: tuple[int, ...]
    reshape_dims: tuple[int, ...]
    permutation: tuple[int, ...]

    def devices(self) -> tuple[int, ...]:
        """Return the device numbers in row-major order of `dims`. Raises UnlistedDevicesError."""
        require_listable(math.prod(self.reshape_dims))
        strides = [math.prod(self.reshape_dims[d + 1:]) for d in self.permutation]
        numbers = [0]
        for d, stride in zip(self.permutation, strides, strict=True):
            steps = range(0, stride * self.reshape_dims[d], stride)
            numbers = [number + step for number in numbers for step in steps]
        return tuple(numbers)


@functools.lru_cache(64)
def _rows(iota: IotaTile) -> tuple[tuple[int, ...], ...]:
    """Return the groups of a tile of two dimensions, which many operations share."""
    devices, (count, size) = iota.devices(), iota.dims
    return tuple(devices[i * size:(i + 1) * size] for i in range(count))


def require_listable(count: int) -> None:
    """Raise UnlistedDevicesError where so many devices are not listed one by one."""
    if count > MOST_DEVICES:
        raise UnlistedDevicesError(f"{count} devices are not listed one by one: {MOST_DEVICES} are the most")


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Mesh(metaclass=Interned):
    """`mesh['x'=2,'y'=4]`, with `device_ids=(...)` (row-major) or an iota where they are not 0..n-1.

    `maximal_device` is set for `maximal_mesh[device_id=n]`.
    """

    axes: tuple[tuple[str, int], ...]
    device_ids: tuple[int, ...] | IotaTile | None = None
    maximal_device: int | None = None


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class AxisRef(metaclass=Interned):
    """A mesh axis, or the part of one: `'b':(2)2` has pre_size 2 and size 2."""

    name: str
    pre_size: int | None = None
    size: int | None = None


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class DimSharding(metaclass=Interned):
    """The axes that one dimension is split over; open (`?`) dimensions may be split further."""

    axes: tuple[AxisRef, ...] = ()
    is_open: bool = False
    priority: int | None = None


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class Sharding(metaclass=Interned):
    """The distribution of a value over devices.

    `kind` is one of replicated, maximal, manual, unknown, unreduced, tiled (V1 and V2), named (V3), tuple.
    Source: xla_data.proto, OpSharding and NamedSharding.
    """

    kind: str
    #: maximal: the device
    device: int | None = None
    #: tiled: number of tiles for each dimension (subgroup dimensions included), and the devices in row-major order
    tile_dims: tuple[int, ...] = ()
    devices: tuple[int, ...] | IotaTile | None = None
    #: the last tile dimension is replication
    last_tile_dim_replicate: bool = False
    #: kinds of the trailing subgroup dimensions (`last_tile_dims={manual, replicated}`)
    last_tile_dims: tuple[str, ...] = ()
    #: `shard_as` / `shard_like` and its number
    shard_group: tuple[str, int] | None = None
    #: `metadata={...}` as written
    metadata: str | None = None
    #: tuple: one for each leaf
    elements: tuple[Sharding, ...] = ()
    #: named: the mesh, the dimensions, and the axes that stand outside them
    mesh: Mesh | None = None
    dim_shardings: tuple[DimSharding, ...] = ()
    replicated_axes: tuple[AxisRef, ...] = ()
    unreduced_axes: tuple[AxisRef, ...] = ()
    manual_axes: tuple[AxisRef, ...] = ()
    #: reduction of unreduced axes where it is not a sum: `unreduced=max{'x'}`
    unreduced_kind: str | None = None


@lazy_dataclass(frozen=True, slots=True, weakref_slot=True, eq=False)
class ReplicaGroups(metaclass=Interned):
    """`replica_groups=`: a list of groups (V1), an iota (V2), or mesh axes (V3)."""

    groups: tuple[tuple[int, ...], ...] = ()
    iota: IotaTile | None = None
    mesh: Mesh | None = None
    axes: tuple[AxisRef, ...] = ()

    @property
    def is_listed(self) -> bool:
        """True if there are groups at all: without any, all devices are one group."""
        return self.iota is not None or self.mesh is not None or bool(self.groups)

    def sizes(self) -> set[int]:
        """Return the sizes that the groups have. Raises UnlistedDevicesError for a mesh that cannot be listed."""
        if self.iota is not None:
            return {self.iota.dims[-1]} if self.iota.dims[0] else set()
        return {len(g) for g in self.lists()}

    def device_count(self) -> int:
        """One more than the largest device number that the groups name. Raises UnlistedDevicesError."""
        if self.iota is not None:
            return math.prod(self.iota.dims)
        return 1 + max((device for group in self.lists() for device in group), default=-1)

    def lists(self) -> tuple[tuple[int, ...], ...]:
        """Return the groups as lists of device numbers, whatever the form. V3: devices that differ only in `axes`.

        Raises UnlistedDevicesError.
        """
        if self.iota is not None:
            return _rows(self.iota)
        return _of_mesh(self, self.mesh) if self.mesh is not None else self.groups

    def listed(self) -> ReplicaGroups:
        """Return the same groups as a list; an iota or a mesh that cannot be listed as it is."""
        if self.iota is None and self.mesh is None:
            return self
        try:
            return ReplicaGroups(self.lists())
        except UnlistedDevicesError:
            return self


@functools.lru_cache(64)
def _of_mesh(groups: ReplicaGroups, mesh: Mesh) -> tuple[tuple[int, ...], ...]:
    """Return the groups of devices that differ only in some of the axes. Raises UnlistedDevicesError."""
    ids = mesh.device_ids
    if problem := mesh_problem(mesh, groups.axes):
        raise UnlistedDevicesError(problem)
    total = math.prod(size for _, size in mesh.axes)
    require_listable(total)
    order = ids.devices() if isinstance(ids, IotaTile) else ids or tuple(range(total))
    # Split every axis that is used in part, so that each reference is a whole dimension of the grid.
    dims: list[int] = []
    chosen: dict[int, int] = {}
    for name, size in mesh.axes:
        for low, high in itertools.pairwise(_cuts(name, size, groups.axes)):
            for position, axis in enumerate(groups.axes):
                start = axis.pre_size or 1
                stop = start * axis.size if axis.size is not None else size
                if axis.name == name and start <= low and high <= stop:
                    chosen[len(dims)] = position
            dims.append(high // low)
    inside = sorted(chosen, key=lambda d: (chosen[d], d))
    outside = [d for d in range(len(dims)) if d not in chosen]
    grid = np.asarray(order).reshape(dims or (1,)).transpose([*outside, *inside] or None)
    width = math.prod(dims[d] for d in inside)
    return tuple(tuple(int(x) for x in row) for row in grid.reshape(-1, width))


def mesh_problem(mesh: Mesh, parts: Sequence[AxisRef] = ()) -> str:
    """Return the fault of a mesh, or of its relation to parts of its axes; '' where there is none.

    Source: XLA, mesh_and_axis.cc: as many devices as the axes say, and parts that divide their axis.
    """
    for name, size in mesh.axes:
        if size < 1:
            return f"the axis '{name}' has {size} devices"
        cuts = _cuts(name, size, parts)
        if cuts[0] < 1 or cuts[-1] > size or any(high % low for low, high in itertools.pairwise(cuts)):
            written = ", ".join(f"({a.pre_size}){a.size}" for a in parts if a.name == name)
            return f"the parts {written} do not divide the axis '{name}' of {size}"
    ids, total = mesh.device_ids, math.prod(size for _, size in mesh.axes)
    count = total if ids is None else math.prod(ids.reshape_dims) if isinstance(ids, IotaTile) else len(ids)
    return "" if count == total else f"the mesh has {total} devices, device_ids lists {count}"


def _cuts(name: str, size: int, parts: Sequence[AxisRef]) -> list[int]:
    """Return the cuts of an axis, from 1 to its size, between which each of its parts is made of whole pieces."""
    inner = {cut for part in parts if part.name == name and part.pre_size is not None and part.size is not None
             for cut in (part.pre_size, part.pre_size * part.size)}
    return sorted({1, size, *inner})
