"""What rules ask about a module beside the instruction at hand; everything is computed once, when first asked for."""

from __future__ import annotations

import functools

from hlotool.ir import HloComputation, HloInstruction, HloModule, uses


class View:
    """A module under the eyes of rules."""

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self._users: dict[HloComputation, dict[HloInstruction, list[HloInstruction]]] = {}
        #: the computation that the walk is in
        self.computation: HloComputation = module.entry

    def users(self, instruction: HloInstruction) -> list[HloInstruction]:
        """The users of an instruction of the computation at hand, one entry a use."""
        found = self._users.get(self.computation)
        if found is None:
            found = self._users[self.computation] = uses(self.computation)
        return found.get(instruction, [])

    @functools.cached_property
    def callers(self) -> dict[HloComputation, list[tuple[HloInstruction, HloComputation]]]:
        """The calls of each computation: the calling instruction and the computation that it stands in."""
        found: dict[HloComputation, list[tuple[HloInstruction, HloComputation]]] = {}
        for computation in self.module.computations:
            for instruction in computation.instructions:
                if instruction.attributes:
                    for callee in instruction.called_computations():
                        found.setdefault(callee, []).append((instruction, computation))
        return found

    @functools.cached_property
    def fused(self) -> set[HloComputation]:
        """The computations that fusions call, and what those call."""
        found: set[HloComputation] = set()
        stack = [c for c, calls in self.callers.items() if any(i.opcode == "fusion" for i, _ in calls)]
        while stack:
            computation = stack.pop()
            if computation not in found:
                found.add(computation)
                stack.extend(c for i in computation.instructions for c in i.called_computations())
        return found
