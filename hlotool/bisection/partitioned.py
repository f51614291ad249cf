"""Recognises a pass that splits a module over devices: its arguments and results are parts of those before it.

    before, for whole arrays                              after, for each device
    x = s32[2,8] parameter(0), sharding={[1,2]<=[2]}      x = s32[2,4] parameter(0)
    ROOT y = s32[2,6] ..., sharding={[1,2]<=[2]}          ROOT y = s32[2,3] ...

The arguments are cut by the parameters' shardings, the module after the pass runs on all devices, and its results are
put together by the result's sharding; then they are held against those of the module before. What does not divide is
filled up behind its end, as XLA's partitioner does.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hlotool.execution import Program
from hlotool.ir import HloInstruction, IotaTile, Shape, Sharding
from hlotool.ir.arrays import Array, np


@dataclass(frozen=True)
class Tiles:
    """Where each device's part of an array lies."""

    #: tiles along each dimension
    counts: tuple[int, ...]
    #: device -> the position of its part, in tiles
    places: tuple[tuple[int, ...], ...]

    def size(self, dims: Sequence[int]) -> tuple[int, ...]:
        """Return the dimensions of a part of an array."""
        return tuple(-(-d // n) for d, n in zip(dims, self.counts, strict=True))

    def parts(self, array: Array) -> list[Array]:
        """Return the part of each device."""
        sizes = self.size(array.shape)
        filled = np.zeros([s * n for s, n in zip(sizes, self.counts, strict=True)], array.dtype)
        filled[tuple(map(slice, array.shape))] = array
        return [np.array(filled[self._range(d, sizes)]) for d in range(len(self.places))]

    def whole(self, parts: Sequence[Array], dims: Sequence[int]) -> Array:
        """Return the array of those dimensions whose parts these are."""
        sizes = parts[0].shape
        filled = np.zeros([s * n for s, n in zip(sizes, self.counts, strict=True)], parts[0].dtype)
        for device, part in enumerate(parts):
            filled[self._range(device, sizes)] = part
        return np.array(filled[tuple(map(slice, dims))])

    def _range(self, device: int, sizes: Sequence[int]) -> tuple[slice, ...]:
        return tuple(slice(p * n, (p + 1) * n) for p, n in zip(self.places[device], sizes, strict=True))


@dataclass(frozen=True)
class Partition:
    """The tiles in which a module's arguments and results are spread over the devices of the next module."""

    arguments: tuple[Tiles, ...]
    results: tuple[Tiles, ...]
    #: dimensions of the whole results
    dims: tuple[tuple[int, ...], ...]

    def given(self, row: Sequence[Array]) -> list[list[Array]]:
        """Return the arguments of each device."""
        cut = [tiles.parts(a) for tiles, a in zip(self.arguments, row, strict=True)]
        return [[parts[d] for parts in cut] for d in range(len(self.arguments[0].places) if self.arguments else 1)]

    def made(self, rows: Sequence[Sequence[Array]]) -> list[Array]:
        """Return the whole results."""
        return [tiles.whole([row[n] for row in rows], dims)
                for n, (tiles, dims) in enumerate(zip(self.results, self.dims, strict=True))]


def partition_between(before: Program, after: Program) -> Partition | None:
    """Return the partition by which one module is the other's; None: it is not, or its shardings do not tell."""
    if before.partitioning != "automatic" or after.partitioning == "automatic" or before.replicas != after.replicas:
        return None
    if after.devices != before.all_devices or before.replicas != 1:
        return None
    devices = after.devices
    arguments = [_tiles(s, shape, devices) for p in before.module.entry.parameters()
                 for s, shape in _leaves(p)]
    results = [_tiles(s, shape, devices) for s, shape in _leaves(before.module.entry.root)]
    if not (_fits(arguments, before.parameters, after.parameters) and _fits(results, before.results, after.results)):
        return None
    return Partition(tuple(t for t in arguments if t), tuple(t for t in results if t),
                     tuple(s.dims for s in before.results))


def _leaves(instruction: HloInstruction) -> list[tuple[Sharding | None, Shape]]:
    """Return the sharding of each array of a value."""
    found = instruction.attributes.get("sharding")
    shapes = [s for _, s in instruction.shape.leaves()]
    if not isinstance(found, Sharding):
        return [(None, s) for s in shapes]
    each = found.elements if found.elements else (found,) * len(shapes)
    return list(zip(each, shapes, strict=True)) if len(each) == len(shapes) else [(None, s) for s in shapes]


def _tiles(sharding: Sharding | None, shape: Shape, devices: int) -> Tiles | None:
    """Return the tiles of a sharding; None if it is none of whole tiles."""
    rank = len(shape.dims)
    if sharding is None or sharding.kind in ("replicated", "maximal"):
        return Tiles((1,) * rank, ((0,) * rank,) * devices)
    order = sharding.devices.devices() if isinstance(sharding.devices, IotaTile) else sharding.devices
    if sharding.kind != "tiled" or order is None or len(order) != devices or len(sharding.tile_dims) < rank:
        return None
    places: list[tuple[int, ...]] = [(0,) * rank] * devices
    for device, place in zip(order, np.ndindex(*sharding.tile_dims), strict=True):
        places[device] = tuple(place[:rank])
    return Tiles(tuple(sharding.tile_dims[:rank]), tuple(places))


def _fits(tiles: Sequence[Tiles | None], whole: Sequence[Shape], parts: Sequence[Shape]) -> bool:
    """Return True if the parts have the shapes of the tiles."""
    return len(tiles) == len(whole) == len(parts) and all(
        t is not None and t.size(w.dims) == p.dims and w.element_type == p.element_type
        for t, w, p in zip(tiles, whole, parts, strict=True))
