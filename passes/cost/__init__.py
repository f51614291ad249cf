"""The cost of running a module: arithmetic, traffic, memory, communication, and how often loops run."""

from hlotool.passes.cost.communication import (
    TRANSFER_GROUPINGS,
    UNPARTITIONED,
    Transfer,
    every_transfer,
    has_to_be_partitioned,
    is_collective,
    sent_by,
    transfers,
)
from hlotool.passes.cost.cost_report import CostReport, cost
from hlotool.passes.cost.group_axes import axes_of_groups, meshes_of
from hlotool.passes.cost.live_ranges import LiveBuffer, PeakMemory, peak_memory
from hlotool.passes.cost.module_costs import GROUPINGS, OPEN_SHAPES, CostRow, ModuleCost, module_cost, uncounted
from hlotool.passes.cost.rooflines import Device, Roofline, RowTime, devices, roofline
from hlotool.passes.trip_counts import noted_trip_count, trip_count

__all__ = [
    "GROUPINGS", "OPEN_SHAPES", "TRANSFER_GROUPINGS", "UNPARTITIONED", "CostReport", "CostRow", "Device",
    "LiveBuffer", "ModuleCost", "PeakMemory", "Roofline", "RowTime", "Transfer", "axes_of_groups", "cost",
    "devices", "every_transfer", "has_to_be_partitioned", "is_collective", "meshes_of", "module_cost",
    "noted_trip_count", "peak_memory", "roofline", "sent_by", "transfers", "trip_count", "uncounted",
]
