"""Whole programs and their partitioned forms: parts of arguments, results of all devices, mesh axes, hangs."""

from hlotool.distributed.axes import (
    Grid,
    Groups,
    Pairs,
    choices_of_axes,
    device_grid,
    groups_along_axes,
    permutations_along_axes,
    placements_along_axes,
    steps_along_axes,
    tables_along_axes,
)
from hlotool.distributed.codes import STUCK
from hlotool.distributed.partition import (
    Partition,
    PartPlace,
    Version,
    partition_between,
    parts_of,
    placement_for,
    versions_of,
)
from hlotool.distributed.relation_proof import RelationProof, SharedValue, prove_partition, shared_values
from hlotool.distributed.stuck_instructions import StuckInstruction, stuck_instructions
from hlotool.distributed.watchdog_logs import StuckCollective, merged_logs, read_watchdog_log

__all__ = [
    "STUCK",
    "Grid",
    "Groups",
    "Pairs",
    "PartPlace",
    "Partition",
    "RelationProof",
    "SharedValue",
    "StuckCollective",
    "StuckInstruction",
    "Version",
    "choices_of_axes",
    "device_grid",
    "groups_along_axes",
    "merged_logs",
    "partition_between",
    "parts_of",
    "permutations_along_axes",
    "placement_for",
    "placements_along_axes",
    "prove_partition",
    "read_watchdog_log",
    "shared_values",
    "steps_along_axes",
    "stuck_instructions",
    "tables_along_axes",
    "versions_of",
]
