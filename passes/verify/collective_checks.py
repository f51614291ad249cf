"""Verification of collectives: groups against the numbers of replicas and partitions."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

from hlotool.diagnostics import Diagnostic
from hlotool.ir import HloInstruction, HloModule, ReplicaGroups, UnlistedDevicesError
from hlotool.ops import OPS, group_mode_of, opcodes, with_flag
from hlotool.passes.codes import CONSTRAIN_LAYOUT, GROUPS, PERMUTE_RANGE
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import report

#: operations by which devices exchange data
_EXCHANGES = opcodes(lambda flow: flow.exchanges)
#: collectives whose result is longer or shorter than the operand by the size of the groups
_RESIZES = frozenset(opcode for opcode in with_flag("combinable") if OPS[opcode].attribute("dimensions"))


def verify_collectives(module: HloModule, contents: Contents) -> Iterator[Diagnostic]:
    """Report faults of the devices of collectives. Source: XLA, hlo_verifier.cc, CheckReplicaGroups."""
    if "replica_groups" not in contents.attributes and contents.opcodes.isdisjoint(_EXCHANGES):
        return
    replicas, partitions = module.device_counts
    constrained: dict[bool, HloInstruction] = {}
    found = {*contents.having("replica_groups"), *contents.of(_EXCHANGES)}
    for instruction in sorted(found, key=lambda i: i.offset):
        attributes = instruction.attributes
        groups = attributes.get("replica_groups")
        if isinstance(groups, ReplicaGroups):
            message = groups_message(groups, instruction, replicas, partitions)
            message = message or _shards_message(groups, instruction, replicas, partitions)
            if message:
                yield report(module, instruction, GROUPS, message, part="replica_groups")
        elif message := _parts_message(instruction, replicas, partitions):
            yield report(module, instruction, GROUPS, message)
        if instruction.opcode.startswith("collective-permute") and "source_target_pairs" in attributes:
            yield from _pairs(module, instruction, group_mode_of(instruction).ids(replicas, partitions))
        if instruction.opcode in ("all-reduce", "all-reduce-start"):
            yield from _constrained(module, instruction, constrained)


@functools.lru_cache(maxsize=4096)
def _listed(groups: ReplicaGroups) -> tuple[str, int, bool, bool]:
    """Return the fault of the groups, the number of devices, True if all are of one size, True if one is empty."""
    iota = groups.iota
    if iota is not None and len(iota.dims) == 2 and math.prod(iota.dims) == math.prod(iota.reshape_dims):
        count, size = iota.dims  # a permutation of 0 to n - 1, which needs no look at each
        return "", count * size, True, bool(count) and not size
    if iota is not None and math.prod(iota.dims) != math.prod(iota.reshape_dims):
        return (f"{list(iota.dims)} are {math.prod(iota.dims)} devices, {list(iota.reshape_dims)} are "
                f"{math.prod(iota.reshape_dims)}"), 0, True, False
    try:
        lists = groups.lists()
    except UnlistedDevicesError as error:
        return str(error), 0, True, False
    if not any(lists):
        return "", 0, True, bool(lists)
    devices = [d for group in lists for d in group]
    n, seen, message = len(devices), set[int](), ""
    for device in devices:
        if device in seen:
            message = f"device {device} is listed twice"
        elif not 0 <= device < n:
            message = f"device {device} is not in [0, {n}): {n} devices are listed"
        if message:
            break
        seen.add(device)
    return message, n, len({len(g) for g in lists}) == 1, not all(lists)


def groups_message(groups: ReplicaGroups, instruction: HloInstruction, replicas: int, partitions: int) -> str:
    """Return the fault of an instruction's groups, or ""."""
    if instruction.opcode == "collective-broadcast":
        return _some_devices(groups, instruction, replicas, partitions)
    message, n, is_even, has_empty = _listed(groups)
    if has_empty:
        return "a group is empty"
    if message or not n:
        return message
    if not is_even and not instruction.opcode.startswith("all-reduce"):
        return "the groups have different sizes"
    mode = group_mode_of(instruction)
    count = mode.ids(replicas, partitions)
    return f"{n} devices are listed, {mode.value} is {count}" if count > 1 and count != n else ""


def _shards_message(groups: ReplicaGroups, instruction: HloInstruction, replicas: int, partitions: int) -> str:
    """Say how the size of the groups contradicts the shapes of an all-gather or reduce-scatter, or return "".

    Source: XLA, hlo_verifier.cc, CheckCommonAllGatherInvariants and HandleReduceScatter.
    """
    dims = instruction.attributes.get("dimensions")
    if instruction.opcode not in _RESIZES or not instruction.operands or not dims:
        return ""
    result = instruction.shape
    if instruction.opcode.endswith("-start"):
        if result is None or len(result.elements) < 2:
            return ""
        result = result.elements[1]
    while result is not None and result.is_tuple and result.elements:
        result = result.elements[0]
    shapes = (instruction.operands[0].shape, result)
    if not all(s is not None and s.is_array and 0 <= dims[0] < s.rank and s.dims[dims[0]] > 0 for s in shapes):
        return ""
    small, large = sorted(s.dims[dims[0]] for s in shapes)
    mode = group_mode_of(instruction)
    try:
        size = next(map(len, groups.lists()), mode.ids(replicas, partitions))
    except UnlistedDevicesError:
        return ""
    size = mode.members(size, partitions)
    if size in (1, large // small):
        return ""
    return (f"dimension {dims[0]} has {small} and {large} elements, a ratio of {large // small}; a group has {size} "
            "devices")


def _parts_message(instruction: HloInstruction, replicas: int, partitions: int) -> str:
    """Return the fault of an all-to-all of operands without groups: each device gives every other one an operand.

    Source: XLA, hlo_verifier.cc, HandleAllToAll. With groups, the operation's own rule counts.
    """
    if instruction.opcode != "all-to-all" or instruction.attributes.get("dimensions"):
        return ""
    mode = group_mode_of(instruction)
    size = mode.members(mode.ids(replicas, partitions), partitions)
    count = len(instruction.operands)
    return "" if count == size else f"all-to-all takes an operand for each of {size} devices, {count} given"


def _some_devices(groups: ReplicaGroups, instruction: HloInstruction, replicas: int, partitions: int) -> str:
    """Return the fault of groups that need not name every device: those in no group get zeros.

    Source: XLA Operation Semantics (2025), CollectiveBroadcast.
    """
    lists = groups.lists()
    if not all(lists):
        return "a group is empty"
    devices = [d for group in lists for d in group]
    mode = group_mode_of(instruction)
    count = mode.ids(replicas, partitions)
    seen: set[int] = set()
    for device in devices:
        if device in seen:
            return f"device {device} is listed twice"
        if device < 0 or (count > 1 and device >= count):
            return f"device {device} is not in [0, {count}): {mode.value} is {count}"
        seen.add(device)
    return ""


def _pairs(module: HloModule, instruction: HloInstruction, count: int) -> Iterator[Diagnostic]:
    if count <= 1:
        return
    for pair in instruction.attributes["source_target_pairs"]:
        for device in pair:
            if device >= count:
                yield report(module, instruction, PERMUTE_RANGE, f"device {device} is not in [0, {count})",
                             part="source_target_pairs")
                return


def _constrained(module: HloModule, instruction: HloInstruction,
                 seen: dict[bool, HloInstruction]) -> Iterator[Diagnostic]:
    value = bool(instruction.attributes.get("constrain_layout", False))
    other = seen.get(not value)
    if other is not None and value not in seen:
        yield report(module, instruction, CONSTRAIN_LAYOUT,
                     f"constrain_layout is {str(value).lower()} here and {str(not value).lower()} at {other.name}")
    seen.setdefault(value, instruction)
