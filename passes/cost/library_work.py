"""The arithmetic of library calls that are known: that of the operations they stand for."""

from __future__ import annotations

from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.ops import TARGETS
from hlotool.passes.edit import alone


def is_marker(call: HloInstruction) -> bool:
    """Return True if a custom call only marks a value, and costs nothing."""
    return call.attributes.get("custom_call_target") in TARGETS


def standing_for(call: HloInstruction) -> HloComputation | None:
    """Return a computation that does what a library call does; None where its target or configuration is not known."""
    from hlotool.passes.lift import lift_library_calls_recovering

    computation = alone(call, "alone")
    module = HloModule("alone", [*call.called_computations(), computation], computation)
    try:
        found = lift_library_calls_recovering(module)
    except ModuleNotFoundError:  # in a browser, where there is no NumPy, nobody can look into it
        return None
    return module.entry if found and not any(f.reason for f in found) else None
