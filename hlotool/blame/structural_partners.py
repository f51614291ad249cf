"""Partners of a module's instructions in another one, by structure: what they are called plays no part."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hlotool.ir import HloComputation, HloInstruction, HloModule, reachable
from hlotool.ops import flow_of
from hlotool.passes.equality import diff


@dataclass(frozen=True)
class StructuralPartners:
    """Instructions of the right module with their partners in the left one, and the tree difference of the two."""

    partner: dict[HloInstruction, HloInstruction]
    #: instructions of the right module that are other operations than their partners, or take other operands
    changed: frozenset[HloInstruction]

    def may_differ(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction may give another value than its partner on the same operands.

        One that runs computations may do so by itself only if all that they hold does what its partner does: by the
        choice of a branch.
        """
        if flow_of(instruction).enters:
            return instruction in self.changed and all(i in self.partner and i not in self.changed
                                                       for i in _inside(instruction))
        return instruction in self.changed or bool(instruction.called_computations())

    def changed_inside(self, instruction: HloInstruction) -> list[tuple[HloComputation, HloInstruction]]:
        """Return the changed instructions of the computations that an instruction calls."""
        return [(c, i) for c in instruction.called_computations() for i in c.instructions if i in self.changed]


def structural_partners(left: HloModule, right: HloModule) -> StructuralPartners:
    """Pair the instructions of `right` with those of `left` by the tree difference."""
    found = diff(right, left)
    partner = found.pairs()
    changed = {c.left for c in found.changes if c.left is not None}
    for change in found.changes:
        if change.left_computation is not None and change.right_computation is not None:
            partner.setdefault(change.left_computation.root, change.right_computation.root)
    changed.update(_standing_for(partner))
    alike = {i: o for i, o in partner.items() if i.shape.without_layout() is o.shape.without_layout()}
    return StructuralPartners(alike, frozenset(changed))


def _standing_for(partner: dict[HloInstruction, HloInstruction]) -> Iterator[HloInstruction]:
    """Pair the operands of partners that have none of their own, and yield them.

        y = tanh(dynamic-update-slice(x, u, i))      y = tanh(copy(x))
    """
    taken, waiting = set(partner.values()), list(partner)
    while waiting:
        here = waiting.pop()
        there = partner[here]
        if here.opcode == there.opcode and len(here.operands) == len(there.operands):
            for one, other in zip(here.operands, there.operands, strict=True):
                is_alike = one.shape.without_layout() is other.shape.without_layout()
                if is_alike and one not in partner and other not in taken:
                    partner[one] = other
                    taken.add(other)
                    waiting.append(one)
                    yield one


def _inside(instruction: HloInstruction) -> Iterator[HloInstruction]:
    for computation in reachable(instruction.called_computations()):
        yield from computation.instructions
