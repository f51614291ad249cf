"""Names of the mesh axes along which the devices of a collective lie, for every form of groups.

    replica_groups={{0,2},{1,3}} of a mesh <["a"=2, "b"=2]>      a
    source_target_pairs={{0,1},{1,0}} of the same mesh           b
    replica_groups=[4,2]<=[8] where no mesh is named             2 of stride 1
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence

from hlotool.ir import AxisRef, HloModule, Mesh, ReplicaGroups, Sharding, UnlistedDevicesError

_MESH = re.compile(r'#sdy\.mesh<\[(.*?)\](?:, device_ids=\[([\d, ]*)\])?>')
_AXIS = re.compile(r'\\?"([^"\\]+)\\?"=(\d+)')
#: axes of a mesh at most, whose subsets are tried
_MOST_AXES = 8


def meshes_of(module: HloModule) -> list[Mesh]:
    """Return the meshes that a module names: in the header, in shardings and in groups, each once."""
    return list(dict.fromkeys(_meshes(module)))


def _meshes(module: HloModule) -> Iterator[Mesh]:
    frontend = module.attributes.get("frontend_attributes")
    for axes, ids in _MESH.findall(str(frontend.get("xla.sdy.meshes", "") or "") if frontend is not None else ""):
        yield Mesh(tuple((name, int(size)) for name, size in _AXIS.findall(axes)),
                   tuple(map(int, ids.split(","))) if ids.strip() else None)
    for instruction in module.instructions():
        groups, sharding = instruction.attributes.get("replica_groups"), instruction.attributes.get("sharding")
        if isinstance(groups, ReplicaGroups) and groups.mesh is not None:
            yield groups.mesh
        if isinstance(sharding, Sharding):
            yield from (s.mesh for s in sharding.elements or (sharding,) if s.mesh is not None)


def axes_of_groups(groups: Sequence[Sequence[int]], meshes: Sequence[Mesh], *, is_named: bool = False) -> str:
    """Return the axes of a mesh whose devices the groups join, else the strides that they have, else ''.

    Where it `is_named`, only axes are returned.
    """
    wanted = {frozenset(g) for g in groups}
    for names, lists in _parts(meshes):
        if {frozenset(g) for g in lists} == wanted:
            return names
    return "" if is_named else _strides([sorted(g) for g in groups])


def axes_of_pairs(pairs: Iterable[Sequence[int]], meshes: Sequence[Mesh]) -> str:
    """Return the fewest axes of a mesh along which all pairs lie, else the strides of what they connect, else ''."""
    moved = [(pair[0], pair[1]) for pair in pairs if pair[0] != pair[1]]
    for names, lists in _parts(meshes):
        group_of = {device: number for number, group in enumerate(lists) for device in group}
        if all(a in group_of and group_of[a] == group_of.get(b) for a, b in moved):
            return names
    return _strides([sorted(g) for g in _joined(moved)])


def _parts(meshes: Sequence[Mesh]) -> Iterator[tuple[str, tuple[tuple[int, ...], ...]]]:
    """Yield the groups along each set of axes of each mesh, the smallest sets first."""
    for mesh in meshes:
        names = [name for name, size in mesh.axes if size > 1][:_MOST_AXES]
        for count in range(1, len(names) + 1):
            for chosen in itertools.combinations(names, count):
                try:
                    yield ", ".join(chosen), ReplicaGroups(mesh=mesh, axes=tuple(map(AxisRef, chosen))).lists()
                except UnlistedDevicesError:
                    continue


def _joined(pairs: Sequence[tuple[int, int]]) -> list[set[int]]:
    """Return the sets of devices that pairs connect."""
    found: list[set[int]] = []
    for pair in pairs:
        touched = [s for s in found if not s.isdisjoint(pair)]
        found = [s for s in found if s.isdisjoint(pair)] + [set(pair).union(*touched)]
    return found


def _strides(groups: Sequence[Sequence[int]]) -> str:
    """Return the extents and strides of groups that are alike: `2 of stride 4`; '' of others."""
    offsets = {tuple(device - group[0] for device in group) for group in groups if group}
    if len(offsets) != 1:
        return ""
    (rest,) = offsets
    found, known = [], 1
    while known < len(rest):
        stride = rest[known]
        count = next((n for n in range(2, len(rest) // known + 1) if n * known == len(rest)
                      or rest[n * known] != n * stride), 2)
        found.append((count, stride))
        known *= count
    made = [0]
    for count, stride in found:
        made = [n * stride + at for n in range(count) for at in made]
    return " x ".join(f"{count} of stride {stride}" for count, stride in found) if tuple(made) == rest else ""


__all__ = ["axes_of_groups", "axes_of_pairs", "meshes_of"]
