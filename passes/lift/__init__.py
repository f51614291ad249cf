"""Preparing modules for StableHLO: library calls as operations, fusions and random state as calls of computations."""

from hlotool.passes.lift.column_major import given_back, seen
from hlotool.passes.lift.composites import make_composite
from hlotool.passes.lift.fusion_calls import has_fusions, outline_fusions, restore_fusion
from hlotool.passes.lift.library_calls import Call, Unclear, on_target
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
    "Call", "Lifted", "Unclear", "given_back", "has_fusions", "has_random_state", "is_random_state",
    "lift_library_calls_recovering", "load_library_calls", "make_composite", "on_target", "outline_fusions",
    "outline_random_state", "restore_fusion", "restore_random_state", "seen", "without_library_calls",
]
