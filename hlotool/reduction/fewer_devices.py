"""The step that runs a module on fewer devices, where a mesh has axes along which it only repeats itself."""

from __future__ import annotations

from hlotool.diagnostics import HloError
from hlotool.passes.edit import clone_module
from hlotool.passes.shrink_mesh import devices_left, shrink_axes
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.search_state import SearchState


def leave_out_devices(work: SearchState) -> bool:
    """Leave two devices along axes of the mesh that only repeat. Return True if it helped."""
    base = work.best
    replicas, partitions = base.module.device_counts
    if replicas != 1 or partitions < 3 or base.other is not None:
        return False
    module = clone_module(base.module)
    try:
        kept = devices_left(shrink_axes(module), partitions)
    except HloError:
        return False
    rows = None if base.rows is None or len(base.rows) != partitions else [base.rows[d] for d in kept]
    if base.rows is not None and rows is None:
        return False
    module.attributes = module.attributes.without("entry_computation_layout")
    return work.try_each([lambda: Candidate(module, rows)], "devices")
