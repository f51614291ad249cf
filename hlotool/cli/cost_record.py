"""The record of `hlotool cost`: figures as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.dumps import Allocation, AssignedPeak, device_bytes
from hlotool.ir import HloInstruction, HloModule
from hlotool.ops import Cost
from hlotool.passes.cost import CostReport, CostRow, Device
from hlotool.passes.origins import origin_of


def module_record(found: CostReport) -> dict[str, Any]:
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
        "communication": [{
            "instruction": t.row.instruction.name, "opcode": t.opcode, "devices": t.group_size,
            "groups": t.groups, "axis": t.axis, "executions": t.row.executions, "bytes": t.total,
            "line": module.position(t.row.instruction).line, "source": _origin(module, t.row.instruction)[1]}
            for t in found.transfers],
        "roofline": None if found.roofline is None else {
            "device": found.roofline.device.name, "seconds": found.roofline.seconds,
            "compute_seconds": found.roofline.compute_seconds, "memory_seconds": found.roofline.memory_seconds,
            "ridge": found.roofline.ridge, "source": found.roofline.device.source},
    }


def _row(module: HloModule, row: CostRow) -> dict[str, Any]:
    scope, source = _origin(module, row.instruction)
    return {**_place(module, row.instruction), "computation": row.computation.name, "executions": row.executions,
            **_cost(row.total), "scope": scope, "source": source}


def _origin(module: HloModule, instruction: HloInstruction) -> tuple[str, str]:
    """The scope and the line of the program; empty where the dump does not tell."""
    origin = origin_of(module, instruction)
    if origin is None:
        return "", ""
    return origin.op_name, f"{origin.file}:{origin.line}" if origin.line else ""


def _place(module: HloModule, instruction: HloInstruction) -> dict[str, Any]:
    return {"instruction": instruction.name, "opcode": instruction.opcode, "line": module.position(instruction).line}


def _cost(cost: Cost) -> dict[str, int]:
    return {"flops": cost.flops, "transcendentals": cost.transcendentals, "bytes_read": cost.bytes_read,
            "bytes_written": cost.bytes_written}


def allocations_record(path: str, allocations: Sequence[Allocation], peak: AssignedPeak | None) -> dict[str, Any]:
    """Return the record of a buffer assignment, with the values that live at the worst moment where that is known."""
    return {"name": path, "memory": {
        "total": device_bytes(allocations),
        "allocations": [{"number": a.number, "bytes": a.size, "kind": a.kind, "values": [
            {"name": v.name, "bytes": v.size, "offset": v.offset, "shape": v.shape} for v in a.values]}
            for a in allocations],
        "peak": None if peak is None else {"time": peak.time, "at": peak.at, "live": [
            {"name": v.name, "bytes": v.size, "kind": a.kind, "allocation": a.number} for v, a in peak.live]}}}


def device_record(device: Device) -> dict[str, Any]:
    """The peaks of a device."""
    return {"name": device.name, "flops": device.flops, "vector_flops": device.vector_flops,
            "bandwidth": device.bandwidth, "memory": device.memory, "source": device.source}
