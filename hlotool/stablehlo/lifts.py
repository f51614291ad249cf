"""The lifts of MLIR operations by name, of custom calls first by their target."""

from __future__ import annotations

import functools
from typing import Any

from hlotool.ops import OPS
from hlotool.ops.lowering import Lift
from hlotool.stablehlo.expansion import KEPT
from hlotool.stablehlo.strings import string_of

CUSTOM_CALL = "stablehlo.custom_call"


@functools.cache
def lifts() -> dict[str, Lift]:
    """MLIR's name of an operation ("stablehlo.custom_call @target" with a target of its own) -> what reads it."""
    return {name: op.lowering.lift for op in reversed(OPS.values()) if op.lowering.lift is not None
            for name in op.lowering.names}


def lift_of(operation: Any, name: str) -> Lift | None:
    """Return the lift of an operation of that name; None for one that HLO lacks."""
    known = lifts()
    if name != CUSTOM_CALL:
        return known.get(name)
    target = string_of(operation.attributes["call_target_name"])
    if target.startswith(KEPT):
        return known.get(target.removeprefix(KEPT))
    return known.get(f"{name} @{target}") or known.get(name)
