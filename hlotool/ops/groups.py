"""Groups and channels of collectives as StableHLO's attributes, and back."""

from __future__ import annotations

import re
from typing import Any

from hlotool.ir import HloInstruction, ReplicaGroups
from hlotool.ops.lowering import Reader, i64_tensor


def group_attributes(instruction: HloInstruction) -> dict[str, str]:
    """replica_groups, channel_handle and use_global_device_ids."""
    groups: ReplicaGroups | None = instruction.attributes.get("replica_groups")
    rows = [list(g) for g in groups.lists()] if groups is not None else []
    width = max(map(len, rows), default=0)
    # Groups of different sizes are filled up with -1. Source: StableHLO specification, all_reduce.
    found = {"replica_groups": i64_tensor([row + [-1] * (width - len(row)) for row in rows]),
             **channel_attributes(instruction)}
    if instruction.attributes.get("use_global_device_ids"):
        found["use_global_device_ids"] = "unit"
    return found


def channel_attributes(instruction: HloInstruction) -> dict[str, str]:
    """channel_handle where the instruction has a channel."""
    channel = instruction.attributes.get("channel_id")
    if channel is None:
        return {}
    return {"channel_handle": f"#stablehlo.channel_handle<handle = {channel}, type = 1>"}


def lifted_attributes(r: Reader) -> dict[str, Any]:
    """The three as HLO's attributes."""
    found: dict[str, Any] = {}
    handle = re.search(r"handle = (\d+)", r.text("channel_handle"))
    if handle and int(handle[1]):
        found["channel_id"] = int(handle[1])
    flat = r.ints("replica_groups")
    rows = re.search(r"tensor<(\d+)x\d+xi64>", r.text("replica_groups"))
    count = int(rows[1]) if rows else 0
    width = len(flat) // count if count else 0
    groups = tuple(tuple(v for v in flat[i * width:(i + 1) * width] if v >= 0) for i in range(count)) if width else ()
    found["replica_groups"] = ReplicaGroups(groups)
    if r.has("use_global_device_ids") and "channel_id" in found:
        found["use_global_device_ids"] = True
    return found
