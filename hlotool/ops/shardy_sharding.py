"""Shardings of Shardy, which name axes of a mesh, as HLO's own, which list devices."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from hlotool.ir import IotaTile, Sharding
from hlotool.ops.lowering import Reader


def listed_sharding(r: Reader, attribute: str = "sharding") -> Sharding | None:
    """The operation's sharding over the devices of its mesh; None where XLA's form of it is not known here.

    Source: XLA, xla/service/spmd/shardy/stablehlo_round_trip/export_shardings.
    """
    said = r.struct(attribute)
    mesh = r.mesh(said["mesh_or_ref"]) if isinstance(said.get("mesh_or_ref"), str) else None
    if mesh is None or mesh["device_ids"] or said.get("unreduced_axes") or r.is_inside("sdy.manual_computation"):
        return None
    sizes = {axis["name"]: axis["size"] for axis in mesh["axes"]}
    return _over(sizes, [dimension["axes"] for dimension in said["dimension_shardings"]])


def _over(sizes: Mapping[str, int], dimensions: Sequence[Sequence[Mapping[str, Any]]]) -> Sharding | None:
    """The sharding of dimensions that are cut over axes; what is left of the mesh holds copies."""
    if any(axis["sub_axis_info"] for axes in dimensions for axis in axes):
        return None
    cut = [axis["name"] for axes in dimensions for axis in axes]
    if math.prod(sizes[name] for name in cut) == 1:
        return Sharding("replicated")
    tiles = [math.prod(sizes[axis["name"]] for axis in axes) for axes in dimensions]
    rest = [name for name in sizes if name not in cut]
    copies = math.prod(sizes[name] for name in rest)
    dims = (*tiles, copies) if copies > 1 else tuple(tiles)
    return Sharding("tiled", tile_dims=dims, devices=_iota(dims, sizes, [*cut, *rest]),
                    last_tile_dim_replicate=copies > 1)


def _iota(dims: tuple[int, ...], sizes: Mapping[str, int], order: Sequence[str]) -> IotaTile:
    """All devices in the order of the axes; axes that stay beside each other count as one, as XLA writes them."""
    names = [name for name, size in sizes.items() if size > 1]
    runs: list[list[int]] = []
    for at in (names.index(name) for name in order if name in names):
        if runs and runs[-1][-1] + 1 == at:
            runs[-1].append(at)
        else:
            runs.append([at])
    written = sorted(runs)
    reshape = tuple(math.prod(sizes[names[at]] for at in run) for run in written)
    return IotaTile(dims, reshape, tuple(written.index(run) for run in runs))
