"""Groups and channels of collectives as StableHLO's attributes, and back."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hlotool.ir import AxisRef, HloInstruction, Mesh, ReplicaGroups
from hlotool.ops.lowering import Reader, i64_tensor


def group_attributes(instruction: HloInstruction) -> dict[str, str]:
    """replica_groups, channel_handle and use_global_device_ids."""
    groups: ReplicaGroups | None = instruction.attributes.get("replica_groups")
    rows = [list(g) for g in groups.lists()] if groups is not None else []
    width = max(map(len, rows), default=0)
    # Groups of different sizes are filled up with -1. Source: StableHLO specification, all_reduce.
    found = {"replica_groups": i64_tensor([row + [-1] * (width - len(row)) for row in rows]),
             **channel_attributes(instruction)}
    # Without a channel and groups StableHLO has no place for it. Source: StableHLO specification, all_reduce, C6.
    if instruction.attributes.get("use_global_device_ids") and instruction.attributes.get("channel_id", 0) > 0 and rows:
        found["use_global_device_ids"] = "unit"
    return found


def channel_attributes(instruction: HloInstruction) -> dict[str, str]:
    """channel_handle where the instruction has a channel."""
    channel = instruction.attributes.get("channel_id")
    if channel is None:
        return {}
    return {"channel_handle": f"#stablehlo.channel_handle<handle = {channel}, type = 1>"}


def _comes_back(groups: ReplicaGroups, _: HloInstruction) -> bool:
    """Return True for a list of groups that have members; an iota and the axes of a mesh are written as a list."""
    return groups.iota is None and groups.mesh is None and all(groups.groups)


#: with which values groups and channels come back
GROUPED: dict[str, Callable[[Any, HloInstruction], bool]] = {
    "channel_id": lambda channel, _: channel > 0, "replica_groups": _comes_back}


def lifted_attributes(r: Reader) -> dict[str, Any]:
    """The three as HLO's attributes."""
    found: dict[str, Any] = {}
    channel = r.struct("channel_handle").get("handle", 0)
    # A channel that is not positive is none. Source: StableHLO specification, all_reduce, Semantics.
    if channel > 0:
        found["channel_id"] = channel
    if axes := r.struct("replica_groups"):
        found["replica_groups"] = _groups_of_axes(r, axes["mesh"], axes["axes"])
        if r.has("use_global_device_ids"):
            found["use_global_device_ids"] = True
        return found
    rows = lifted_table(r, "replica_groups") if r.has("replica_groups") else ()
    if any(v < -1 for row in rows for v in row):
        r.refuse("its replica_groups name a negative device; only -1 stands for none")
    found["replica_groups"] = ReplicaGroups(tuple(tuple(v for v in row if v >= 0) for row in rows if row))
    if r.has("use_global_device_ids"):
        if channel <= 0 or not found["replica_groups"].lists():
            r.refuse(f"use_global_device_ids goes with a channel and groups; the channel is {channel}, there are "
                     f"{len(found['replica_groups'].lists())} groups")
        found["use_global_device_ids"] = True
    return found


def _groups_of_axes(r: Reader, name: Any, axes: Sequence[Mapping[str, Any]]) -> ReplicaGroups:
    """Groups that are written as the axes of a mesh of the module."""
    mesh = r.mesh(name) if isinstance(name, str) else None
    if not mesh or not mesh["axes"]:
        r.refuse(f"its replica_groups name the mesh {name}, which the module does not have or which has no axes")
    sizes = tuple((axis["name"], axis["size"]) for axis in mesh["axes"])
    refs = tuple(AxisRef(axis["name"], *(part["pre_size"], part["size"]) if (part := axis["sub_axis_info"]) else ())
                 for axis in axes)
    if unknown := sorted({a.name for a in refs} - {axis for axis, _ in sizes}):
        r.refuse(f"its replica_groups name the axis {unknown[0]}, which the mesh {name} does not have")
    return ReplicaGroups(mesh=Mesh(sizes, mesh["device_ids"] or None), axes=refs)


def lifted_table(r: Reader, attribute: str) -> tuple[tuple[int, ...], ...]:
    """The rows of a dense attribute of integers, which must have two dimensions."""
    found, rank = r.value(attribute), _rank(r.value(attribute))
    if rank == 0:
        r.refuse(f"{attribute} is {r.text(attribute)}, which is no table of integers")
    if rank != 2 and found:
        r.refuse(f"{attribute} has {rank} dimension{'s' * (rank != 1)}; it is a table of two")
    return tuple(found)


def _rank(table: Any) -> int:
    """How deep a table of tuples is nested."""
    return 1 + _rank(table[0] if table else None) if isinstance(table, tuple) else 0
