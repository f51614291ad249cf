"""The cost of running a module: arithmetic, traffic, memory, communication, and how often loops run."""

from hlotool.passes.cost.buffer_assignment import (
    Allocation,
    device_bytes,
    is_buffer_assignment,
    read_buffer_assignment,
)
from hlotool.passes.cost.communication import TRANSFER_GROUPINGS, Transfer, sent_by, transfers
from hlotool.passes.cost.cost_report import CostReport, cost
from hlotool.passes.cost.live_ranges import LiveBuffer, PeakMemory, peak_memory
from hlotool.passes.cost.module_costs import GROUPINGS, OPEN_SHAPES, CostRow, ModuleCost, module_cost, uncounted
from hlotool.passes.cost.peak_of_assignment import AssignedPeak, LiveRanges, assigned_peak, read_live_ranges
from hlotool.passes.cost.rooflines import Device, Roofline, RowTime, devices, roofline
from hlotool.passes.trip_counts import noted_trip_count, trip_count

__all__ = [
    "GROUPINGS", "OPEN_SHAPES", "TRANSFER_GROUPINGS", "Allocation", "AssignedPeak", "CostReport", "CostRow", "Device",
    "LiveBuffer", "LiveRanges", "ModuleCost", "PeakMemory", "Roofline", "RowTime", "Transfer", "assigned_peak", "cost",
    "device_bytes", "devices", "is_buffer_assignment", "module_cost", "noted_trip_count", "peak_memory",
    "read_buffer_assignment", "read_live_ranges", "roofline", "sent_by", "transfers", "trip_count", "uncounted",
]
