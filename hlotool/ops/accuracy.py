"""Lowering of `result_accuracy`, which twenty transcendental operations carry."""

from __future__ import annotations

import re
from collections.abc import Sequence

from hlotool.ir import HloInstruction, ResultAccuracy
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value


def accurate(name: str, dialect: str = "stablehlo") -> Lowering:
    """The same operand and result, with the wanted accuracy where StableHLO has a place for it."""
    full = f"{dialect}.{name}"
    opcode = name.replace("_", "-")

    def emit(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
        wanted = instruction.attributes.get("result_accuracy")
        # CHLO has no such attribute; its operations are as accurate as their expansion.
        attributes = {"result_accuracy": accuracy_text(wanted)} if wanted and dialect == "stablehlo" else {}
        return e.op(full, operands, instruction.shape, attributes)

    def lift(r: Reader) -> HloInstruction:
        text = r.text("result_accuracy")
        found = accuracy_of(text)
        if (found is None or found.mode) and any(tolerances(text)):
            r.refuse(f"its result_accuracy has a mode and tolerances: {text}; only the mode TOLERANCE goes with them")
        return r.add(opcode, r.shape(), r.operands(), {"result_accuracy": found} if found else {})

    return Lowering(emit, lift, (full,))


def accuracy_text(wanted: ResultAccuracy) -> str:
    """As MLIR writes it."""
    mode = (wanted.mode or "tolerance").upper()
    return (f"#stablehlo.result_accuracy<atol = {wanted.atol:e}, rtol = {wanted.rtol:e}, ulps = {wanted.ulps}, "
            f"mode = #stablehlo.result_accuracy_mode<{mode}>>")


def accuracy_of(text: str) -> ResultAccuracy | None:
    """The reverse; None for the default, and where there is no text."""
    mode = re.search(r"result_accuracy_mode<(\w+)>", text)
    if mode is None or mode[1] == "DEFAULT":
        return None
    if mode[1] == "HIGHEST":
        return ResultAccuracy("highest")
    return ResultAccuracy(None, *tolerances(text))


def tolerances(text: str) -> tuple[float, float, int]:
    """The absolute, relative and ULP tolerance that the attribute's text names."""
    numbers = dict(re.findall(r"(atol|rtol|ulps) = ([^,\s>]+)", text))
    atol, rtol = (float(numbers.get(name, 0)) for name in ("atol", "rtol"))
    return atol, rtol, int(numbers.get("ulps", 0))
