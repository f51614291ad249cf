"""Lowering of `result_accuracy`, which twenty transcendental operations carry."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hlotool.ir import HloInstruction, ResultAccuracy
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, f64


def accurate(name: str, dialect: str = "stablehlo") -> Lowering:
    """The same operand and result, with the wanted accuracy where StableHLO has a place for it."""
    full = f"{dialect}.{name}"
    opcode = name.replace("_", "-")

    def emit(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        wanted = instruction.attributes.get("result_accuracy")
        if wanted and min(wanted.atol, wanted.rtol, wanted.ulps) < 0:
            e.refuse(instruction, "a tolerance of its result_accuracy is negative")
        # CHLO has no such attribute; its operations are as accurate as their expansion.
        attributes = {"result_accuracy": accuracy_text(wanted)} if wanted and dialect == "stablehlo" else {}
        return e.op(full, operands, instruction.shape, attributes)

    def lift(r: Reader) -> HloInstruction:
        fields = r.struct("result_accuracy")
        found = accuracy_of(fields)
        is_contradictory = (found is None or found.mode) and any(fields.get(name) for name in _TOLERANCES)
        if is_contradictory or (r.has("result_accuracy") and not fields):
            r.refuse(f"its result_accuracy has a mode and tolerances: {r.text('result_accuracy')}; only the mode "
                     "TOLERANCE goes with them")
        return r.add(opcode, r.shape(), r.operands(), {"result_accuracy": found} if found else {})

    return Lowering(emit, lift, (full,))


def accuracy_text(wanted: ResultAccuracy) -> str:
    """As MLIR writes it."""
    mode = (wanted.mode or "tolerance").upper()
    return (f"#stablehlo.result_accuracy<atol = {f64(wanted.atol)}, rtol = {f64(wanted.rtol)}, ulps = {wanted.ulps}, "
            f"mode = #stablehlo.result_accuracy_mode<{mode}>>")


_TOLERANCES = ("atol", "rtol", "ulps")


def accuracy_of(fields: Mapping[str, Any]) -> ResultAccuracy | None:
    """The reverse, of the attribute's fields; None for the default, and where there are none."""
    match fields.get("mode", "DEFAULT"):
        case "DEFAULT":
            return None
        case "HIGHEST":
            return ResultAccuracy("highest")
    return ResultAccuracy(None, *(fields[name] for name in _TOLERANCES))
