"""Counts the bytes that devices send each other in each collective, by rings, as often as it runs."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.ir import (
    KINDS,
    FrontendAttributes,
    HloInstruction,
    HloModule,
    Mesh,
    ReplicaGroups,
    Sharding,
    UnlistedDevicesError,
)
from hlotool.ops import (
    FREE,
    TARGETS,
    begins_region,
    device_group_sizes,
    device_groups,
    device_pairs,
    flow_of,
    inside_of,
    is_border,
    sharding_kinds,
)
from hlotool.passes.cost.group_axes import axes_of_groups, axes_of_pairs, meshes_of
from hlotool.passes.cost.module_costs import GROUPINGS, CostRow, ModuleCost, name_of_row
from hlotool.text import print_value

#: devices of one group at most, whose numbers are looked at
_MOST_DEVICES = 1 << 16
#: in Shardy's text: an axis's name in the list of dimensions
_AXIS_OF_A_DIMENSION = re.compile(r'\[[^\]]*"')
#: in Shardy's text: the sharding of a value, behind the mesh
_OF_ONE_VALUE = re.compile(r"<@[^,]*, (\[[^\]]*\][^>]*)>")
#: of a module with sharded values that has still to be partitioned
UNPARTITIONED = ("values have shardings that no partitioner has carried out yet: what devices send each other is "
                 "decided when the program is partitioned, and until then the figures are those of whole arrays")


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
    #: mesh axes along which the devices lie, by their names or, where the module names no mesh, by their strides
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
    return sorted(_transfers(cost.module, cost.rows), key=lambda t: -t.total)


def every_transfer(cost: ModuleCost) -> list[Transfer]:
    """Return every collective of a module; those in branches that are not counted, with no execution."""
    counted = {row.instruction for row in cost.rows}
    others = [CostRow(i, c, 0, FREE) for c in cost.module.computations for i in c.instructions if i not in counted]
    return _transfers(cost.module, [*cost.rows, *others])


def is_collective(opcode: str) -> bool:
    """Return True for operations in which devices send each other something, and what begins such."""
    return opcode.removesuffix("-start") in _SENT


def _transfers(module: HloModule, rows: Iterable[CostRow]) -> list[Transfer]:
    meshes = meshes_of(module)
    return [_transfer(module, row, meshes) for row in rows if is_collective(row.instruction.opcode)]


def has_to_be_partitioned(cost: ModuleCost) -> bool:
    """Return True if values are sharded over several devices, and a partitioner may still add collectives for that.

    Of a program with regions that are partitioned by hand (shard_map) these are all there are, if nothing is computed
    outside of the regions and nothing goes in or out in another sharding.
    """
    module = cost.module
    if module.device_counts[1] < 2 or module.attributes.get("is_scheduled"):
        return False
    if borders := list(filter(is_border, module.instructions())):
        inside = inside_of(borders, module)
        outside = [*borders, *(i for i in module.instructions() if i not in inside)]
        return any(not _only_passes(i) or _is_resharded(i) for i in outside)
    if any(is_collective(row.instruction.opcode) for row in cost.rows):
        return False
    return any(_is_split(i) for i in module.instructions())


def _only_passes(instruction: HloInstruction) -> bool:
    """Return True if an instruction computes nothing: it passes values on, calls, or marks them."""
    flow, target = flow_of(instruction), str(instruction.attributes.get("custom_call_target", ""))
    return flow.is_free or flow.packs or flow.forwards or flow.enters or is_border(instruction) or target in TARGETS


def _is_resharded(instruction: HloInstruction) -> bool:
    """Return True if a mark or the beginning of a region wants an operand in another sharding than it has."""
    own = instruction.attributes.get("sharding")
    for number, operand in enumerate(instruction.operands):
        given = operand.attributes.get("sharding")
        if instruction.opcode == "custom-call" and not is_border(instruction) and isinstance(own, Sharding) and (
                isinstance(given, Sharding) and "manual" not in sharding_kinds(operand) and given != own):
            return True
        had = _of_shardy(operand, "out_shardings" if is_border(operand) else "sharding")
        wanted = _of_shardy(instruction, "in_shardings" if begins_region(instruction) else "sharding")
        if had and instruction.opcode == "custom-call" and number < len(wanted) and had[0] != wanted[number]:
            return True
    return False


def _of_shardy(instruction: HloInstruction, name: str) -> list[str]:
    """Return the shardings that a frontend attribute of Shardy gives an instruction, one for each value."""
    return _OF_ONE_VALUE.findall(_shardy_text(instruction, name))


def _shardy_text(instruction: HloInstruction, name: str) -> str:
    """Return a frontend attribute of Shardy; "" where an instruction has none."""
    frontend = instruction.attributes.get("frontend_attributes")
    return (frontend.get(f"xla.sdy.{name}") or "") if isinstance(frontend, FrontendAttributes) else ""


def _is_split(instruction: HloInstruction) -> bool:
    """Return True if a value is sharded over devices, by XLA's sharding or by Shardy's, which JAX's programs have."""
    sharding = instruction.attributes.get("sharding")
    if isinstance(sharding, Sharding) and any(s.kind in ("tiled", "named") for s in sharding.elements or (sharding,)):
        return True
    return any(_AXIS_OF_A_DIMENSION.search(_shardy_text(instruction, name)) for name in (
        "sharding", "in_shardings", "out_shardings"))


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


def _transfer(module: HloModule, row: CostRow, meshes: Sequence[Mesh]) -> Transfer:
    instruction = row.instruction
    opcode = instruction.opcode.removesuffix("-start")
    if opcode == "collective-permute":
        pairs = device_pairs(instruction, *module.device_counts)
        moved = any(source != target for source, target in pairs)
        return Transfer(row, opcode, 2 if moved else 1, f"{len(pairs)} pairs", axes_of_pairs(pairs, meshes),
                        _operands(instruction) if moved else 0)
    written = instruction.attributes.get("replica_groups")
    size, axis = 0, ""
    with contextlib.suppress(UnlistedDevicesError):
        size = max(device_group_sizes(instruction, *module.device_counts), default=0)
        if size <= _MOST_DEVICES:
            axis = axes_of_groups(device_groups(instruction, *module.device_counts), meshes)
    return Transfer(row, opcode, size, _written(written), axis or _axes_written(written),
                    _SENT[opcode](instruction, size))


def _axes_written(groups: object) -> str:
    """Return the axes, or parts of axes, that groups name."""
    axes = groups.axes if isinstance(groups, ReplicaGroups) else ()
    return ", ".join(a.name if a.size is None else f"{a.name}:({a.pre_size}){a.size}" for a in axes)


def _written(groups: object) -> str:
    return print_value(KINDS["replica_groups"], groups) if isinstance(groups, ReplicaGroups) else ""


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
