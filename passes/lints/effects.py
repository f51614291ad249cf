"""Whether running an instruction does something beside giving its value."""

from __future__ import annotations

from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import OPS


def has_effect(instruction: HloInstruction) -> bool:
    """Whether running an instruction does something beside giving its value; unknown operations may."""
    record = OPS.get(instruction.opcode)
    return record is None or bool(record.flags & {"side_effect", "async", "collective"}) or \
        instruction.opcode in ("parameter", "after-all", "add-dependency", "domain") or \
        bool(instruction.attributes.get("custom_call_has_side_effect"))


class Effects:
    """Whether instructions do something, what they call included."""

    def __init__(self) -> None:
        self._known: dict[HloComputation, bool] = {}

    def of(self, instruction: HloInstruction) -> bool:
        return has_effect(instruction) or any(map(self._inside, instruction.called_computations()))

    def _inside(self, computation: HloComputation) -> bool:
        known = self._known.get(computation)
        if known is None:
            self._known[computation] = False  # recursion is the verifier's
            known = self._known[computation] = any(self.of(i) for i in computation.instructions
                                                   if i.opcode != "parameter")
        return known
