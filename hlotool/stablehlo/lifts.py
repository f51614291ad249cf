"""The lifts of MLIR operations by name, of custom calls first by their target."""

from __future__ import annotations

import functools

from hlotool.mlir import Operation, is_known
from hlotool.ops import OPS
from hlotool.ops.lowering import Lift
from hlotool.stablehlo.strings import text_of

CUSTOM_CALL = "stablehlo.custom_call"
#: how the target of a custom call begins that stands for an operation while a pass runs
KEPT = "hlotool.kept."
#: how custom calls begin that stand for CHLO's operations, and names that differ. XLA: legalization of CHLO to MHLO
_ENCODED = ("mhlo.", "chlo.")
_CHLO_NAMES = {"topk": "top_k"}


@functools.cache
def lifts() -> dict[str, Lift]:
    """MLIR's name of an operation ("stablehlo.custom_call @target" with a target of its own) -> what reads it."""
    return {name: op.lowering.lift for op in reversed(OPS.values()) if op.lowering.lift is not None
            for name in op.lowering.names}


def lift_of(operation: Operation, name: str) -> Lift | None:
    """Return the lift of an operation of that name; None for one that HLO lacks."""
    known = lifts()
    if name != CUSTOM_CALL:
        return known.get(name)
    target = target_of(operation)
    if target.startswith(KEPT):
        return known.get(target.removeprefix(KEPT))
    return known.get(f"{name} @{target}") or known.get(name)


def target_of(operation: Operation) -> str:
    """Return the target of a custom call."""
    target = operation.attribute("call_target_name")
    return "" if target is None else text_of(target)


def encoded_operation(operation: Operation) -> str:
    """Return the CHLO operation that a custom call stands for: chlo.cosh for @mhlo.cosh; '' for other operations."""
    return encoded_name(target_of(operation)) if operation.name == CUSTOM_CALL else ""


def encoded_name(target: str) -> str:
    """Return the CHLO operation that custom calls of a target stand for, '' for other targets."""
    if not target.startswith(_ENCODED):
        return ""
    plain = target[len(_ENCODED[0]):]
    base = _CHLO_NAMES.get(plain, plain)
    return f"chlo.{base}" if is_known(f"chlo.{base}") else ""
