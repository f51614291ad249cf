"""The record of `hlotool cost`: figures as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal, TypeAlias, TypedDict

from hlotool.dumps import Allocation, AssignedPeak, device_bytes
from hlotool.ir import HloInstruction, HloModule
from hlotool.ops import Cost
from hlotool.passes.cost import CostReport as Costs
from hlotool.passes.cost import CostRow, Device, Transfer
from hlotool.passes.origins import line_of, origin_of


class InstructionRecord(TypedDict):
    """An instruction."""

    instruction: str
    opcode: str
    line: Annotated[int, "of the module's text; 0: not read from one"]


class CostRecord(TypedDict):
    """Arithmetic and traffic."""

    flops: int
    transcendentals: int
    bytes_read: int
    bytes_written: int


class RowRecord(InstructionRecord, CostRecord):
    """The cost of an instruction over all executions."""

    computation: str
    executions: Annotated[int, "how often the module runs it"]
    scope: str
    source: Annotated[str, "file:line of the program"]


class BufferRecord(TypedDict):
    """A value that is alive when memory is at its peak."""

    instruction: str
    index: list[int]
    bytes: int
    kind: str


class MemoryRecord(TypedDict):
    """The memory of a module, in bytes."""

    total: int
    arguments: int
    results: int
    donated: int
    temporaries: int
    scheduled: Annotated[bool, "the order of execution is known"]
    at: Annotated[str | None, "the instruction at which temporaries need the most"]
    live: list[BufferRecord]


class TransferRecord(InstructionRecord):
    """The communication of a collective."""

    source: Annotated[str, "the line of the program; empty where the dump does not tell"]
    devices: Annotated[int | None, "null: not known"]
    groups: str | None
    axis: str | None
    executions: int
    bytes: Annotated[int, "sent by one device, all executions"]


class RooflineRecord(TypedDict):
    """The least time on a device."""

    device: str
    seconds: float
    compute_seconds: float
    memory_seconds: float
    ridge: Annotated[float, "flops for each byte"]
    source: str


class ModuleRecord(TypedDict):
    """All figures of a module."""

    name: str
    module: str
    total: CostRecord
    rows: Annotated[list[RowRecord], "totals over all executions"]
    unknown_loops: Annotated[list[InstructionRecord], "counted once"]
    opaque: Annotated[list[InstructionRecord], "custom calls whose arithmetic is not counted"]
    open_shapes: Annotated[list[InstructionRecord], "instructions with an open size, which counts as 1"]
    memory: MemoryRecord
    communication: list[TransferRecord]
    roofline: RooflineRecord | None


class AssignedValueRecord(TypedDict):
    """A value in an allocation."""

    name: str
    bytes: int
    offset: int
    shape: str


class AllocationRecord(TypedDict):
    """An allocation of a buffer assignment."""

    number: int
    bytes: int
    kind: str
    values: list[AssignedValueRecord]


class LiveRecord(TypedDict):
    """A value that is alive at the peak of a buffer assignment."""

    name: str
    bytes: int
    kind: str
    allocation: int


class PeakRecord(TypedDict):
    """The moment at which a buffer assignment needs the most memory."""

    time: int
    at: Annotated[str, "the instruction that runs then"]
    live: list[LiveRecord]


class AssignedMemoryRecord(TypedDict):
    """The memory of a buffer assignment, in bytes."""

    total: int
    allocations: list[AllocationRecord]
    peak: Annotated[PeakRecord | None, "the values at the worst moment; null: the files give no live ranges"]


class AssignmentRecord(TypedDict):
    """A buffer assignment that XLA wrote."""

    name: str
    memory: AssignedMemoryRecord


class FiguresRecord(TypedDict):
    """The figures of what was given."""

    version: Literal[1]
    modules: list[ModuleRecord | AssignmentRecord]


#: the report of `hlotool cost`; with --devices, the peaks of each
CostReport: TypeAlias = FiguresRecord | list[Device]


def module_record(found: Costs) -> ModuleRecord:
    """All figures of a module."""
    module, memory = found.cost.module, found.memory
    return {
        "name": found.name, "module": module.name, "total": _cost(found.cost.total),
        "rows": [_row(module, r) for r in found.cost.rows],
        "unknown_loops": [_place(module, i) for i in found.cost.unknown_loops],
        "opaque": [_place(module, i) for i in found.cost.opaque],
        "open_shapes": [_place(module, i) for i in found.cost.open_shapes],
        "memory": {
            "total": memory.total, "arguments": memory.arguments, "results": memory.outputs,
            "donated": memory.aliased, "temporaries": memory.temporaries, "scheduled": memory.is_scheduled,
            "at": memory.at.name if memory.at is not None else None,
            "live": [{"instruction": b.instruction.name, "index": list(b.index), "bytes": b.bytes, "kind": b.kind}
                     for b in memory.live]},
        "communication": [_transfer(module, t) for t in found.transfers],
        "roofline": None if found.roofline is None else {
            "device": found.roofline.device.name, "seconds": found.roofline.seconds,
            "compute_seconds": found.roofline.compute_seconds, "memory_seconds": found.roofline.memory_seconds,
            "ridge": found.roofline.ridge, "source": found.roofline.device.source},
    }


def _transfer(module: HloModule, found: Transfer) -> TransferRecord:
    instruction = found.row.instruction
    return {"instruction": instruction.name, "opcode": found.opcode, "line": module.position(instruction).line,
            "source": _origin(module, instruction)[1], "devices": found.group_size, "groups": found.groups,
            "axis": found.axis, "executions": found.row.executions, "bytes": found.total}


def _row(module: HloModule, row: CostRow) -> RowRecord:
    scope, source = _origin(module, row.instruction)
    return {**_place(module, row.instruction), "computation": row.computation.name, "executions": row.executions,
            **_cost(row.total), "scope": scope, "source": source}


def _origin(module: HloModule, instruction: HloInstruction) -> tuple[str, str]:
    """The scope and the line of the program; empty where the dump does not tell."""
    origin = origin_of(module, instruction)
    return origin.op_name if origin is not None else "", line_of(module, instruction)


def _place(module: HloModule, instruction: HloInstruction) -> InstructionRecord:
    return {"instruction": instruction.name, "opcode": instruction.opcode, "line": module.position(instruction).line}


def _cost(cost: Cost) -> CostRecord:
    return {"flops": cost.flops, "transcendentals": cost.transcendentals, "bytes_read": cost.bytes_read,
            "bytes_written": cost.bytes_written}


def allocations_record(path: str, allocations: Sequence[Allocation], peak: AssignedPeak | None) -> AssignmentRecord:
    """Return the record of a buffer assignment, with the values that live at the worst moment where that is known."""
    return {"name": path, "memory": {
        "total": device_bytes(allocations),
        "allocations": [{"number": a.number, "bytes": a.size, "kind": a.kind, "values": [
            {"name": v.name, "bytes": v.size, "offset": v.offset, "shape": v.shape} for v in a.values]}
            for a in allocations],
        "peak": None if peak is None else {"time": peak.time, "at": peak.at, "live": [
            {"name": v.name, "bytes": v.size, "kind": a.kind, "allocation": a.number} for v, a in peak.live]}}}
