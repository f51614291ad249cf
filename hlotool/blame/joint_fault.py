"""Faults that every cut undoes: a compiler folds or fuses instructions on both sides of it.

The part is shortened from its end, until the first instruction that is wrong *with* what it is computed of is found,
and lengthened backwards from there, to say which instructions it takes together.
"""

from __future__ import annotations

from hlotool.blame.probe import Wrong
from hlotool.blame.search_scope import SearchScope, sources, steps_of
from hlotool.ir import HloInstruction
from hlotool.ops import keeps_order
from hlotool.passes.edit import ancestors, is_cuttable


def acting_together(scope: SearchScope, wrong: Wrong) -> tuple[Wrong, HloInstruction, tuple[HloInstruction, ...]]:
    """The smallest part found that is wrong, its instruction, and the others that it takes together."""
    steps = steps_of(wrong.part)
    order = [s for s in ancestors(scope.computation, [wrong.owner]) if s in set(steps)]
    low, high, best = 0, len(order) - 1, wrong
    while low < high and not scope.bench.is_late:
        middle = (low + high) // 2
        found = _upto(scope, wrong, order[middle])
        if found is None:
            low = middle + 1
        else:
            high, best = middle, found
    best = _first_among_sources(scope, wrong, best, set(order))
    best, needed = _lengthened(scope, best)
    instruction = best.owner
    while keeps_order(instruction):  # never at fault where something else may be
        instruction = instruction.operands[0]
    return best, instruction, tuple(i for i in needed if i is not instruction)


def _upto(scope: SearchScope, wrong: Wrong, last: HloInstruction) -> Wrong | None:
    """The part shortened to one instruction and what it is computed of."""
    return scope.first_wrong(scope.part([last], wrong.part.fed)) if is_cuttable(last) else None


def _first_among_sources(scope: SearchScope, wrong: Wrong, best: Wrong, steps: set[HloInstruction]) -> Wrong:
    """Go on to an operand as long as one is wrong, too."""
    is_moving = True
    while is_moving and not scope.bench.is_late:
        is_moving = False
        for operand in sources(best.owner):
            found = _upto(scope, wrong, operand) if operand in steps else None
            if found is not None:
                best, is_moving = found, True
                break
    return best


def _lengthened(scope: SearchScope, wrong: Wrong) -> tuple[Wrong, tuple[HloInstruction, ...]]:
    """The fewest levels of operands with which the instruction is wrong, the rest fed by the reference."""
    owner = wrong.owner
    steps = steps_of(wrong.part)
    level, inside = [owner], {owner}
    while len(inside) < len(steps) and not scope.bench.is_late:
        cut = {s for s in steps if s not in inside and is_cuttable(s)} | set(wrong.part.fed)
        found = scope.first_wrong(scope.part([owner], cut))
        if found is not None:
            return found, tuple(s for s in steps if s in inside)
        level = [o for i in level for o in sources(i) if o in set(steps) - inside]
        if not level:
            break
        inside |= set(level)
    return wrong, tuple(steps)
