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
from hlotool.distributed.partition import Partition, PartPlace, Version, partition_between, parts_of, versions_of
from hlotool.distributed.relation_proof import RelationProof, prove_partition

__all__ = [
    "Grid",
    "Groups",
    "Pairs",
    "PartPlace",
    "Partition",
    "RelationProof",
    "Version",
    "choices_of_axes",
    "device_grid",
    "groups_along_axes",
    "partition_between",
    "parts_of",
    "permutations_along_axes",
    "placements_along_axes",
    "prove_partition",
    "steps_along_axes",
    "tables_along_axes",
    "versions_of",
]
