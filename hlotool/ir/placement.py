"""Places of an array's tiles on devices, by shardings of every generation."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.ir.arrays import np
from hlotool.ir.sharding import IotaTile, ReplicaGroups, Sharding, mesh_problem


class NoPlacementError(ValueError):
    """A sharding does not tell which part of an array each device has; the message says why."""


@dataclass(frozen=True)
class Placement:
    """The part of an array that each device has."""

    #: tiles along each dimension
    counts: tuple[int, ...]
    #: device -> the position of its part, in tiles; None: the device has no part of the array
    places: tuple[tuple[int, ...] | None, ...]
    #: device -> the number of its manual subgroup; empty where no dimension of the sharding is manual
    manual: tuple[int, ...] = ()

    def size(self, dims: Sequence[int]) -> tuple[int, ...]:
        """Return the dimensions of a part of an array. Parts of what does not divide are filled up behind its end."""
        return tuple(-(-d // n) for d, n in zip(dims, self.counts, strict=True))

    def span(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        """Return the range of a device's part of these sizes in the filled array; the device has one."""
        place = self.places[device]
        assert place is not None
        return tuple(slice(p * n, (p + 1) * n) for p, n in zip(place, sizes, strict=True))


def replicated(rank: int, devices: int) -> Placement:
    """Return the placement of an array that every device has as a whole."""
    return Placement((1,) * rank, ((0,) * rank,) * devices)


def placement_of(sharding: Sharding, rank: int, devices: int) -> Placement:
    """Return where the tiles of an array are. Raises NoPlacementError, and UnlistedDevicesError.

    A manual subgroup's devices have different values in one place; `Placement.manual` numbers those.
    Source: XLA, hlo_sharding.cc; xla_data.proto, OpSharding and NamedSharding.
    """
    if sharding.kind == "replicated":
        return replicated(rank, devices)
    if sharding.kind == "maximal" and sharding.device is not None and sharding.device < devices:
        return Placement((1,) * rank, tuple((0,) * rank if d == sharding.device else None for d in range(devices)))
    if sharding.kind == "named":
        return _named(sharding, rank, devices)
    if sharding.kind != "tiled":
        raise NoPlacementError(f"a {sharding.kind} sharding says nothing about places")
    order = sharding.devices.devices() if isinstance(sharding.devices, IotaTile) else sharding.devices
    dims = sharding.tile_dims
    if order is None or sorted(order) != list(range(devices)) or math.prod(dims) != devices or len(dims) < rank:
        raise NoPlacementError(f"the sharding is not over {devices} devices")
    kinds = sharding.last_tile_dims or ("replicated",) * sharding.last_tile_dim_replicate
    if len(dims) != rank + len(kinds) or not {"manual", "replicated"}.issuperset(kinds):
        raise NoPlacementError(f"the sharding has {len(dims)} tile dimensions, of kinds {', '.join(kinds) or 'none'}")
    places: list[tuple[int, ...] | None] = [None] * devices
    manual = [0] * devices
    for device, place in zip(order, np.ndindex(*dims), strict=True):
        places[device] = tuple(place[:rank])
        for kind, at, size in zip(kinds, place[rank:], dims[rank:], strict=True):
            manual[device] = manual[device] * size + at if kind == "manual" else manual[device]
    return Placement(tuple(dims[:rank]), tuple(places), tuple(manual) if "manual" in kinds else ())


def _named(sharding: Sharding, rank: int, devices: int) -> Placement:
    """Return the placement that axes of a mesh give."""
    mesh = sharding.mesh
    if mesh is None or sharding.unreduced_axes:
        raise NoPlacementError("the value is not reduced yet" if mesh is not None else "the sharding has no mesh")
    if mesh.maximal_device is not None:
        return placement_of(Sharding("maximal", device=mesh.maximal_device), rank, devices)
    axes = [*(a for d in sharding.dim_shardings for a in d.axes), *sharding.manual_axes]
    if math.prod(size for _, size in mesh.axes) != devices or mesh_problem(mesh, axes):
        raise NoPlacementError(f"the mesh is not of {devices} devices")
    columns = [_along(ReplicaGroups(mesh=mesh, axes=d.axes), devices) if d.axes else (1, [0] * devices)
               for d in sharding.dim_shardings]
    columns += [(1, [0] * devices)] * (rank - len(columns))
    if len(columns) != rank:
        raise NoPlacementError(f"{len(columns)} dimensions are sharded, the array has {rank}")
    manual = _along(ReplicaGroups(mesh=mesh, axes=sharding.manual_axes), devices)[1] if sharding.manual_axes else ()
    return Placement(tuple(count for count, _ in columns),
                     tuple(tuple(column[d] for _, column in columns) for d in range(devices)), tuple(manual))


def _along(groups: ReplicaGroups, devices: int) -> tuple[int, list[int]]:
    """Return the size of groups, and the position of each device in its group."""
    found = [0] * devices
    for group in groups.lists():
        for position, device in enumerate(group):
            found[device] = position
    return len(groups.lists()[0]), found
