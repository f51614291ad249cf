"""Preparing modules for StableHLO: library calls as operations, fusions and random state as calls of computations."""

from hlotool.passes.lift.fusion_calls import has_fusions, outline_fusions, restore_fusion
from hlotool.passes.lift.lift_library_calls import (
    Lifted,
    lift_library_calls_recovering,
    load_library_calls,
    without_library_calls,
)
from hlotool.passes.lift.random_state_calls import (
    has_random_state,
    is_random_state,
    outline_random_state,
    restore_random_state,
)

__all__ = [
    "Lifted", "has_fusions", "has_random_state", "is_random_state", "lift_library_calls_recovering",
    "load_library_calls", "outline_fusions", "outline_random_state", "restore_fusion", "restore_random_state",
    "without_library_calls",
]
