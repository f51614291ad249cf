"""Calls that multiply so that no executor comes to their end: a calls b twice, b calls c twice, and so on.

    if (call := endless_calls(module)) is not None:
        ...                                       # that call of the entry is where a user begins to look
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TypeAlias

from hlotool.execution.sizes import leaves
from hlotool.ir import HloComputation, HloInstruction, HloModule, callees_first

#: executed instructions that no executor comes to the end of: it would take it minutes at ten in a nanosecond
MOST_EXECUTED = 10 ** 13


def endless_calls(module: HloModule) -> HloInstruction | None:
    """A call in the entry of a module whose calls multiply so that no executor comes to their end; None where it may.

    Only what is certain to be executed counts: what the results need, one branch of a conditional, the condition of a
    loop, a called computation once wherever it is called for arrays that are not empty.
    """
    if module.entry is None or _executed(module, _called)[module.entry] <= MOST_EXECUTED:
        return None
    counts = _executed(module, _certainly_called)
    if counts[module.entry] <= MOST_EXECUTED:
        return None
    return max((i for i in module.entry.instructions if i.attributes and i.called_computations()),
               key=lambda i: sum(counts[c] for c in i.called_computations()), default=None)


#: of a computation and the counts of those that it calls, how many instructions it executes
_Counted: TypeAlias = Callable[[HloComputation, Mapping[HloComputation, int]], int]


def _executed(module: HloModule, called: _Counted) -> dict[HloComputation, int]:
    """How many instructions each computation executes with all that it calls, up to what is no longer told apart."""
    found: dict[HloComputation, int] = {}
    for computation in callees_first(module):
        found[computation] = min(len(computation.instructions) + called(computation, found), MOST_EXECUTED ** 2)
    return found


def _called(computation: HloComputation, counts: Mapping[HloComputation, int]) -> int:
    """Everything that is called, wherever it stands: quick to count, and never too few."""
    return sum(counts.get(c, 0) for i in computation.instructions if i.attributes for c in i.called_computations())


def _certainly_called(computation: HloComputation, counts: Mapping[HloComputation, int]) -> int:
    needed = {computation.root} if computation.root else set()
    waiting = list(needed)
    total = 0
    while waiting:
        instruction = waiting.pop()
        if instruction.attributes and (called := instruction.called_computations()) and not _is_empty(instruction):
            if instruction.opcode == "while":
                called = tuple(c for c in called if c is instruction.attributes.get("condition"))
            least = [counts.get(c, 0) for c in called]
            total += min(least) if instruction.opcode == "conditional" else sum(least)
        for operand in instruction.operands:
            if operand not in needed:
                needed.add(operand)
                waiting.append(operand)
    return total


def _is_empty(instruction: HloInstruction) -> bool:
    """Return True if an array that goes in or comes out has no elements, so that nothing may be called for it."""
    shapes = (instruction.shape, *(o.shape for o in instruction.operands))
    return any(s.is_array and s.size == 0 for shape in shapes for s in leaves(shape))
