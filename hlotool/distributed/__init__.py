"""Whole programs and their partitioned forms: parts of arguments, results of all devices, mesh axes."""

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

__all__ = [
    "Grid",
    "Groups",
    "Pairs",
    "PartPlace",
    "Partition",
    "RelationProof",
    "SharedValue",
    "Version",
    "choices_of_axes",
    "device_grid",
    "groups_along_axes",
    "partition_between",
    "parts_of",
    "permutations_along_axes",
    "placement_for",
    "placements_along_axes",
    "prove_partition",
    "shared_values",
    "steps_along_axes",
    "tables_along_axes",
    "versions_of",
]
