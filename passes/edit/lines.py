"""A computation rewritten line by line, as passes do that know nothing of the lines after the one at hand."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from hlotool.ir import NO_ATTRIBUTES, Attributes, HloComputation, HloInstruction, Literal, Shape
from hlotool.passes.edit.copies import mapped_attributes
from hlotool.passes.edit.editor import Editing


class ComputationEditor:
    """A computation under change: walk `lines`, and what is added stands in front of the line at hand."""

    def __init__(self, edit: Editing, computation: HloComputation) -> None:
        self.module = edit
        self.computation = computation
        #: where additions go: the end of the computation, or what is done of it while `lines` runs
        self._lines = computation.instructions
        self._loose: dict[HloInstruction, None] = {}
        self._effects: dict[HloInstruction, HloInstruction] = {}

    def lines(self) -> Iterable[HloInstruction]:
        """Yield each instruction that the computation had, in order; afterwards the changes hold."""
        before, self._lines = self.computation.instructions, []
        for instruction in before:
            yield instruction
            self._lines.append(instruction)
        self.computation.instructions = self._lines
        self._settle()

    def add(self, opcode: str, shape: Shape, operands: tuple[HloInstruction, ...] = (),
            attributes: Mapping[str, Any] = NO_ATTRIBUTES, *, name: str = "",
            like: HloInstruction | None = None) -> HloInstruction:
        """Add an instruction at this place; `like` gives it metadata and its place in the source."""
        name = self.module.free_name(self.computation, name or opcode)
        made = HloInstruction(name, opcode, shape, operands, Attributes(attributes), like.metadata if like else None,
                              like.offset if like else -1)
        self._lines.append(made)
        return made

    def mark(self) -> int:
        """Return how many lines there are now, for `rewind`."""
        return len(self._lines)

    def rewind(self, mark: int) -> None:
        """Drop the lines that were added after a mark."""
        del self._lines[mark:]

    def take_back(self, instruction: HloInstruction, mark: int) -> bool:
        """Drop the instruction if it is the line that was added last, after the mark; return True if it was."""
        if len(self._lines) <= mark or self._lines[-1] is not instruction:
            return False
        self._lines.pop()
        return True

    def constant(self, array: Any, *, like: HloInstruction) -> HloInstruction:
        """Add a constant of a NumPy array."""
        literal = Literal.of(array)
        return self.add("constant", literal.shape, (), {"literal": literal}, like=like)

    def element(self, operand: HloInstruction, index: int, *, like: HloInstruction) -> HloInstruction:
        """Return an element of a tuple; of a tuple instruction, its operand."""
        if operand.opcode == "tuple":
            return operand.operands[index]
        return self.add("get-tuple-element", operand.shape.elements[index], (operand,), {"index": index}, like=like)

    def become(self, instruction: HloInstruction, opcode: str, operands: tuple[HloInstruction, ...] = (),
               attributes: Mapping[str, Any] = NO_ATTRIBUTES) -> None:
        """Let an instruction compute its value otherwise; name, shape, users and sharding stay."""
        kept = {n: v for n, v in instruction.attributes.items() if n in ("sharding", "frontend_attributes")}
        instruction.opcode, instruction.operands = opcode, operands
        instruction.attributes = Attributes({**attributes, **kept})

    def loosen(self, instruction: HloInstruction, effect: HloInstruction | None = None) -> None:
        """Drop the instruction at the end if nothing uses it; control dependencies move to `effect`."""
        self._loose[instruction] = None
        if effect is not None:
            self._effects[instruction] = effect

    def _settle(self) -> None:
        if not self._loose:
            return
        computation = self.computation
        if self._effects:
            for instruction in computation.instructions:
                if "control-predecessors" in instruction.attributes:
                    instruction.attributes = mapped_attributes(
                        instruction.attributes, lambda item: self._effects.get(item, item))
        while True:
            used = {o for i in computation.instructions for o in (*i.operands, *i.control_predecessors())}
            unused = {i for i in self._loose if i not in used and i is not computation.root}
            if not unused:
                return
            computation.instructions = self._lines = [i for i in computation.instructions if i not in unused]
            for instruction in unused:
                del self._loose[instruction]
