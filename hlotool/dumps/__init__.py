"""Folders of dumps: names of files, chains of passes, modules, and the texts on memory that XLA writes beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hlotool.ir import lazily

if TYPE_CHECKING:
    from hlotool.dumps.buffer_assignment import (
        Allocation,
        AssignedValue,
        device_bytes,
        is_buffer_assignment,
        read_buffer_assignment,
    )
    from hlotool.dumps.codes import NO_CHAIN, NOT_A_DUMP
    from hlotool.dumps.dump_folder import (
        Chain,
        Dump,
        DumpFolder,
        DumpReader,
        SortedFolder,
        chains_of,
        dumps_of,
        read_folder,
        sort_folder,
    )
    from hlotool.dumps.dump_names import DumpName, dump_name, other_kind
    from hlotool.dumps.peak_of_assignment import AssignedPeak, LiveRanges, assigned_peak, read_live_ranges

__all__ = [
    "NOT_A_DUMP", "NO_CHAIN", "Allocation", "AssignedPeak", "AssignedValue", "Chain", "Dump", "DumpFolder", "DumpName",
    "DumpReader", "LiveRanges", "SortedFolder", "assigned_peak", "chains_of", "device_bytes", "dump_name", "dumps_of",
    "is_buffer_assignment", "other_kind", "read_buffer_assignment", "read_folder", "read_live_ranges", "sort_folder",
]

__getattr__ = lazily(__name__, {
        "buffer_assignment": ("Allocation", "AssignedValue", "device_bytes", "is_buffer_assignment",
        "read_buffer_assignment"),
    "codes": ("NO_CHAIN", "NOT_A_DUMP"),
        "dump_folder": ("Chain", "Dump", "DumpFolder", "DumpReader", "SortedFolder", "chains_of", "dumps_of",
        "read_folder", "sort_folder"),
    "dump_names": ("DumpName", "dump_name", "other_kind"),
    "peak_of_assignment": ("AssignedPeak", "LiveRanges", "assigned_peak", "read_live_ranges"),
})
