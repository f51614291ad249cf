"""Counts the bytes that devices send each other in each collective, by rings, as often as it runs."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.ir import KINDS, HloInstruction, HloModule, ReplicaGroups, UnlistedDevicesError
from hlotool.passes.cost.module_costs import GROUPINGS, CostRow, ModuleCost, name_of_row
from hlotool.text import print_value


@dataclass(frozen=True, slots=True)
class Transfer:
    """One collective."""

    row: CostRow
    #: without -start
    opcode: str
    #: devices that take part together; 0 where the module does not tell
    group_size: int
    #: groups as HLO writes them, or source-target pairs
    groups: str
    #: mesh axes, where the groups name them
    axis: str
    #: bytes that a device sends in one execution
    once: int

    @property
    def total(self) -> int:
        return self.once * self.row.executions


def transfers(cost: ModuleCost) -> list[Transfer]:
    """Return every collective of a module that runs, what sends most first.

    All-reduce sends 2 (n - 1) / n of its operands, all-gather (n - 1) / n of its result, reduce-scatter and all-to-all
    (n - 1) / n of their operands, the others their operands: what a ring of n devices needs at least.
    """
    found = [_transfer(cost.module, row) for row in cost.rows
             if row.instruction.opcode.removesuffix("-start") in _SENT]
    return sorted(found, key=lambda t: -t.total)


def sent_by(module: HloModule, found: Iterable[Transfer], grouping: str) -> dict[str, tuple[int, int]]:
    """Bytes sent and executions, by `axis`, `group`, or what ModuleCost.by knows; what sends most first.

    By opcode means by kind of collective. Raises KeyError for another grouping.
    """
    name_of = _NAMES.get(grouping) or (lambda t: name_of_row(module, t.row, grouping))
    sums: dict[str, tuple[int, int]] = {}
    for transfer in found:
        sent, runs = sums.get(name := name_of(transfer), (0, 0))
        sums[name] = sent + transfer.total, runs + transfer.row.executions
    return dict(sorted(sums.items(), key=lambda item: -item[1][0]))


#: names of transfers by what only they are grouped by, or by what is grouped otherwise than rows of costs
_NAMES: dict[str, Callable[[Transfer], str]] = {
    "axis": lambda t: t.axis, "group": lambda t: t.groups, "opcode": lambda t: t.opcode,
}
#: groupings that only communication has
TRANSFER_GROUPINGS = tuple(name for name in _NAMES if name not in GROUPINGS)


def _transfer(module: HloModule, row: CostRow) -> Transfer:
    instruction = row.instruction
    opcode = instruction.opcode.removesuffix("-start")
    groups = instruction.attributes.get("replica_groups")
    size = _group_size(module, instruction, groups)
    if opcode == "collective-permute":
        pairs = instruction.attributes.get("source_target_pairs") or ()
        moved = any(source != target for source, target in pairs)
        return Transfer(row, opcode, 2 if moved else 1, f"{len(pairs)} pairs", "", _operands(instruction) if moved
                        else 0)
    axis = ", ".join(a.name for a in groups.axes) if isinstance(groups, ReplicaGroups) else ""
    return Transfer(row, opcode, size, _written(groups), axis,
                    _SENT[opcode](instruction, size))


def _written(groups: object) -> str:
    return print_value(KINDS["replica_groups"], groups) if isinstance(groups, ReplicaGroups) else ""


def _group_size(module: HloModule, instruction: HloInstruction, groups: object) -> int:
    """Return the size of the largest group; all devices where there are no groups."""
    if isinstance(groups, ReplicaGroups) and groups.is_listed:
        try:
            return max(groups.sizes(), default=0)
        except UnlistedDevicesError:
            return 0
    replicas = int(module.attributes.get("replica_count", 1))
    partitions = int(module.attributes.get("num_partitions", 1))
    if instruction.attributes.get("use_global_device_ids"):
        return replicas * partitions
    return partitions if instruction.attributes.get("channel_id") and partitions > 1 else replicas


_Sent: TypeAlias = Callable[[HloInstruction, int], int]
#: opcode -> bytes that each of n devices sends
_SENT: dict[str, _Sent] = {}


def _sends(*opcodes: str) -> Callable[[_Sent], _Sent]:
    """Register the bytes that each device sends in a collective."""
    def register(sent: _Sent) -> _Sent:
        _SENT.update(dict.fromkeys(opcodes, sent))
        return sent

    return register


def _operands(instruction: HloInstruction) -> int:
    return sum(o.shape.nbytes for o in instruction.operands)


def _share(size: int, devices: int, times: int = 1) -> int:
    return times * size * (devices - 1) // devices if devices > 1 else 0


@_sends("all-reduce")
def _reduced(instruction: HloInstruction, devices: int) -> int:
    return _share(_operands(instruction), devices, 2)


@_sends("all-gather")
def _gathered(instruction: HloInstruction, devices: int) -> int:
    return _operands(instruction) * (devices - 1) if devices > 1 else 0


@_sends("reduce-scatter", "all-to-all")
def _scattered(instruction: HloInstruction, devices: int) -> int:
    return _share(_operands(instruction), devices)


@_sends("ragged-all-to-all")
def _ragged(instruction: HloInstruction, devices: int) -> int:
    return instruction.operands[0].shape.nbytes if devices > 1 and instruction.operands else 0


@_sends("collective-broadcast", "collective-permute")
def _all(instruction: HloInstruction, devices: int) -> int:
    return _operands(instruction) if devices > 1 else 0
