"""Whole programs and their partitioned forms: parts of arguments, results of all devices, mesh axes."""

from hlotool.distributed.partition import Partition, PartPlace, Version, partition_between, parts_of, versions_of

__all__ = ["PartPlace", "Partition", "Version", "partition_between", "parts_of", "versions_of"]
