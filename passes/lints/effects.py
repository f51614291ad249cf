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
        # Loops are nested deeper than Python's calls may be.
        waiting, begun = [computation], set[HloComputation]()
        while waiting:
            here = waiting[-1]
            if here in self._known:
                waiting.pop()
            elif here not in begun:
                begun.add(here)
                waiting += [c for i in here.instructions for c in i.called_computations() if c not in begun]
            else:
                self._known[waiting.pop()] = any(map(self._known_of, here.instructions))
        return self._known[computation]

    def _known_of(self, instruction: HloInstruction) -> bool:
        """The same, for one whose computations have been looked at; recursion is the verifier's."""
        return instruction.opcode != "parameter" and (has_effect(instruction) or any(
            self._known.get(c, False) for c in instruction.called_computations()))
