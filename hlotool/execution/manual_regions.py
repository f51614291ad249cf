"""Runs regions that are partitioned by hand within a program of whole arrays: ops/region_borders.py finds them.

Every partition computes the whole arrays outside of a region, all alike; at its beginning each takes its own part of
them, at its end the parts of all partitions become whole arrays again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.execution.devices import DeviceWorld
from hlotool.ir import (
    HloInstruction,
    HloModule,
    NoPlacementError,
    Shape,
    Sharding,
    UnlistedDevicesError,
    placement_of,
)
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, begins_region, sharding_kinds
from hlotool.ops.values import EvaluationError
from hlotool.passes.equality import are_near

#: for each dimension the number of this part, and how many there are
Part: TypeAlias = tuple[tuple[int, int], ...]

_MESH = re.compile(r'([\w.]+|"[^"]*") = #sdy\.mesh<\[([^\]\[]*)\](?:, device_ids=\[([0-9, ]*)\])?>')
_AXIS = re.compile(r'"([^"]*)"=([0-9]{1,7})')
_VALUE = re.compile(r'<@([\w.]+|"[^"]*"), \[([^\]\[]*)\](?:, (?:replicated|unreduced)=\{[^{}]*\})*>')
#: a dimension: the axes that it is split over, open to more of them or not, and how urgent that is
_DIMENSION = re.compile(r"\{([^{}]*)\}(?:p\d+)?")
_NAME = re.compile(r'"([^"]*)"')
#: an axis or a part of it: `"a"`, or `"a":(2)4`, which is 4 of it behind 2 before
_PIECE = re.compile(r'"([^"]*)"(?::\((\d{1,7})\)(\d{1,7}))?')


class NotSplit(ValueError):
    """How a value is split is not known here; the message says why."""


@dataclass(frozen=True)
class Border:
    """Where values enter a region, or leave it: of each value and partition the part."""

    enters: bool
    parts: tuple[tuple[Part, ...], ...]
    #: False where partitions which have one part may have several values of it
    is_checked: bool = True

    def function(self, world: DeviceWorld, is_tuple: bool) -> Callable[..., Any]:
        """Return what it makes of the values of one device."""
        def call(*values: Array, **_: Any) -> Any:
            if self.enters:
                found = [_cut(v, p[world.partition]) for v, p in zip(values, self.parts, strict=True)]
            else:
                first = world.replica * world.partitions
                rows = world.exchange(values, range(first, first + world.partitions))
                for n, p in enumerate(self.parts if self.is_checked else ()):
                    _require_alike([r[n] for r in rows], p)
                found = [_joined([r[n] for r in rows], p) for n, p in enumerate(self.parts)]
            return tuple(found) if is_tuple else found[0]

        return call


def border_of(module: HloModule, instruction: HloInstruction, partitions: int) -> Border:
    """Return what happens at one. Raises NotSplit."""
    target = str(instruction.attributes["custom_call_target"])
    enters = begins_region(instruction)
    given = [o.shape for o in instruction.operands]
    made = list(instruction.shape.elements) if instruction.shape.is_tuple else [instruction.shape]
    wholes, parts = (given, made) if enters else (made, given)
    if not all(s.is_array for s in wholes):
        raise NotSplit("a value that is no array")
    if target.startswith("xla.sdy."):
        rows = _shardy(module, instruction, "xla.sdy.in_shardings" if enters else "xla.sdy.out_shardings", partitions)
    else:
        outside, inside = (instruction.operands[0], instruction)[:: 1 if enters else -1]
        rows = [_tiled(outside, inside, wholes[0], parts[0], partitions)]
    if len(rows) != len(wholes):
        raise NotSplit(f"{len(rows)} shardings for {len(wholes)} values")
    for row, whole, part in zip(rows, wholes, parts, strict=True):
        counts = [c for _, c in row[0]] + [1] * (whole.rank - len(row[0]))
        if not part.is_array or tuple(d * c for d, c in zip(part.dims, counts, strict=True)) != whole.dims:
            raise NotSplit(f"{whole.text(layout=False)} in parts of other sizes")
    return Border(enters, tuple(tuple(row) for row in rows))


def require_whole(module: HloModule, inside: frozenset[HloInstruction]) -> None:
    """Raise NotSplit where parts are results or arguments of the program, or devices meet outside of the regions."""
    root = module.entry.root
    if not inside.isdisjoint((root, *(root.operands if root.opcode == "tuple" else ()))):
        raise NotSplit("a result is a part")
    for parameter in module.entry.parameters():
        if "manual" in sharding_kinds(parameter):
            raise NotSplit(f"{parameter.name} is a part")
    for instruction in module.instructions():
        record = OPS.get(instruction.opcode)
        if record is not None and "collective" in record.flags and instruction not in inside:
            raise NotSplit(f"{instruction.opcode} {instruction.name} is outside of it")


def _tiled(outside: HloInstruction, inside: HloInstruction, whole: Shape, part: Shape, partitions: int) -> list[Part]:
    """The parts that the sharding of the value outside says; of axes that the region leaves to the partitioner none.

    The manual axes of a dimension come before the others. Source: XLA, spmd_partitioner.cc, HandleCustomCall.
    """
    sharding = outside.attributes.get("sharding")
    if not isinstance(sharding, Sharding):
        raise NotSplit(f"{outside.name} has no sharding")
    try:
        found = placement_of(sharding, whole.rank, partitions)
    except (NoPlacementError, UnlistedDevicesError) as error:
        raise NotSplit(f"{outside.name}: {error}") from error
    if found.manual or None in found.places:
        raise NotSplit(f"the sharding of {outside.name} is not in tiles of whole devices")
    groups = _manual_groups(inside, whole.rank, partitions)
    counts = found.counts
    if groups is not None and part.is_array and part.rank == whole.rank and 0 not in part.dims:
        counts = tuple(w // p for w, p in zip(whole.dims, part.dims, strict=True))
        if any(c % n for c, n in zip(found.counts, counts, strict=True)):
            raise NotSplit(f"{whole.text(layout=False)} in parts of other sizes")
    parts = [tuple((p // (all_ // n), n) for p, all_, n in zip(place or (), found.counts, counts, strict=True))
             for place in found.places]
    if groups is not None and len(set(zip(groups, parts, strict=True))) != len(set(groups)):
        raise NotSplit(f"the subgroups of {inside.name} do not have one part each")
    return parts


def _manual_groups(inside: HloInstruction, rank: int, partitions: int) -> tuple[int, ...] | None:
    """The manual subgroup of each device where a region leaves axes to the partitioner; None: it leaves none."""
    sharding = inside.attributes.get("sharding")
    if not isinstance(sharding, Sharding) or sharding.kind not in ("tiled", "named"):
        return None
    try:
        return placement_of(sharding, rank, partitions).manual or None
    except (NoPlacementError, UnlistedDevicesError) as error:
        raise NotSplit(f"{inside.name}: {error}") from error


def _shardy(module: HloModule, instruction: HloInstruction, name: str, partitions: int) -> list[list[Part]]:
    """The parts that Shardy's attribute of that name says, value by value."""
    header, own = (_frontend(a, n) for a, n in ((module.attributes, "xla.sdy.meshes"), (instruction.attributes, name)))
    meshes = {m[1]: m for m in _MESH.finditer(header)}
    inside = own.removeprefix("#sdy.sharding_per_value<[").removesuffix("]>")
    values = list(_VALUE.finditer(inside))
    if ", ".join(v[0] for v in values) != inside:
        raise NotSplit(f"{name} holds more than axes of a mesh")
    manual = set(_NAME.findall(_frontend(instruction.attributes, "xla.sdy.manual_axes")))
    return [_of_axes(meshes.get(v[1]), v[2], manual, partitions) for v in values]


def _of_axes(mesh: re.Match[str] | None, text: str, manual: set[str], partitions: int) -> list[Part]:
    """The parts of a value whose dimensions are split over axes of a mesh."""
    if mesh is None:
        raise NotSplit("the mesh stands nowhere")
    axes = {axis: int(size) for axis, size in _AXIS.findall(mesh[2])}
    if math.prod(axes.values()) != partitions:
        raise NotSplit(f"the mesh has not {partitions} devices")
    order = [int(d) for d in mesh[3].split(",")] if mesh[3] else list(range(partitions))
    if sorted(order) != list(range(partitions)):
        raise NotSplit("the mesh names other devices")
    # Of axes that the region leaves to the partitioner each device computes all.
    dimensions = [[p for p in pieces if p.axis in manual] for pieces in _pieces(text, axes)]
    parts: dict[int, Part] = {}
    for number, device in enumerate(order):
        place = dict(zip(axes, np.unravel_index(number, tuple(axes.values())), strict=True))
        parts[device] = tuple((int(np.ravel_multi_index([p.index(place[p.axis]) for p in d], [p.size for p in d]))
                               if d else 0, math.prod(p.size for p in d)) for d in dimensions)
    return [parts[d] for d in range(partitions)]


@dataclass(frozen=True)
class _Piece:
    """An axis of a mesh, or a part of it: `size` places, each of them `stride` devices of the axis."""

    axis: str
    size: int
    stride: int = 1

    def index(self, place: int) -> int:
        """Return the number of the place of a device that is at `place` of the whole axis."""
        return place // self.stride % self.size


def _pieces(text: str, axes: Mapping[str, int]) -> list[list[_Piece]]:
    """The axes that each dimension is split over. Raises NotSplit."""
    found = []
    for dimension in _DIMENSION.findall(text):
        written = [entry for entry in dimension.split(", ") if entry not in ("", "?")]
        pieces = [_PIECE.fullmatch(entry) for entry in written]
        if any(p is None or p[1] not in axes for p in pieces):
            raise NotSplit(f"a dimension that is split over {dimension}")
        found.append([_piece(p[1], axes[p[1]], int(p[2] or 1), int(p[3] or axes[p[1]])) for p in pieces if p])
    if _DIMENSION.sub("", text).strip(", "):
        raise NotSplit(f"dimensions that are split over {text}")
    return found


def _piece(axis: str, whole: int, before: int, size: int) -> _Piece:
    if before * size < 1 or whole % (before * size):
        raise NotSplit(f"the part ({before}){size} does not divide the axis {axis} of {whole}")
    return _Piece(axis, size, whole // (before * size))


def _frontend(attributes: Any, name: str) -> str:
    """A frontend attribute without its quotes; empty where there is none."""
    found = attributes.get("frontend_attributes")
    text = str(found.get(name, "") or "") if found is not None else ""
    return text.replace('\\"', '"')


def _slices(dims: Sequence[int], part: Part) -> tuple[slice, ...]:
    return tuple(slice(n * (d // c), (n + 1) * (d // c)) for d, (n, c) in zip(dims, part, strict=False))


def _cut(value: Array, part: Part) -> Array:
    return value[_slices(value.shape, part)]


def _require_alike(values: Sequence[Array], parts: Sequence[Part]) -> None:
    """Raise EvaluationError where values of one part differ by more than the order of sums: no whole array has both."""
    first: dict[Part, int] = {}
    for partition, (value, part) in enumerate(zip(values, parts, strict=True)):
        held = values[first.setdefault(part, partition)]
        if value is not held and value.tobytes() != held.tobytes() and not are_near(held, value):
            raise EvaluationError(f"partitions {first[part]} and {partition} leave the region with different values of "
                                  "one part of the whole array, so that it has no value")


def _joined(values: Sequence[Array], parts: Sequence[Part]) -> Array:
    """The whole array of parts; of equal parts the first counts."""
    first = values[0]
    counts = [c for _, c in parts[0]] + [1] * (first.ndim - len(parts[0]))
    whole = np.empty([d * c for d, c in zip(first.shape, counts, strict=True)], first.dtype)
    for value, part in reversed(list(zip(values, parts, strict=True))):
        whole[_slices(whole.shape, part)] = value
    return whole
