"""Orders that explicit sums of three numbers and more leave open: x + y + z in another order.

Compilers may take such a sum in any order, and what comes out where large terms cancel or overflow hangs on it. Only
`add` counts, and only partial sums with one user: who writes (x + y) - x, adds a negative, or adds two constants in
turn asks for that order.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from hlotool.execution import DeviceState
from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.ir.arrays import Array, np
from hlotool.ops import source_of

#: terms of a sum for which other orders are tried
_MOST_TERMS = 32


class SumOrders:
    """The explicit sums of a module: terms are noted at each `add` on the way, and added up anew at the last one."""

    def __init__(self, module: HloModule) -> None:
        #: adds whose value is a part of a larger sum
        self._inner: set[int] = set()
        #: the last adds of sums
        self._last: set[int] = set()
        self._terms = DeviceState()
        for computation in module.computations:
            self._find(computation)

    def __contains__(self, instruction: HloInstruction) -> bool:
        return id(instruction) in self._inner or id(instruction) in self._last

    def _find(self, computation: HloComputation) -> None:
        if not any(_is_add(i) and any(map(_is_add, i.operands)) for i in computation.instructions):
            return
        users = computation.users()
        inner = {i for i in computation.instructions
                 if _is_add(i) and i is not computation.root and len(users.get(i, ())) == 1 and _is_add(users[i][0])}
        for last in computation.instructions:
            if not _is_add(last) or last in inner or not any(o in inner for o in last.operands):
                continue
            adds, terms = _flattened(last, inner)
            if len(terms) <= _MOST_TERMS and _is_free(terms):
                self._last.add(id(last))
                self._inner.update(map(id, adds))

    def note(self, instruction: HloInstruction, values: Sequence[Array]) -> list[Array] | None:
        """Keep the terms of an `add`, given the values of its operands; those of the whole sum at its last one."""
        noted: dict[int, list[Array]] = self._terms.kept("noted", dict)
        terms = [t for o, value in zip(instruction.operands, values, strict=True)
                 for t in noted.pop(id(o), (value,))]
        if id(instruction) in self._last:
            return terms
        noted[id(instruction)] = terms
        return None


def in_another_order(terms: Sequence[Array], turn: int, random: Any, rounded: Callable[[Array], Array]) -> Array:
    """The sum of terms, every partial sum `rounded`: of three in the order of that turn, of more in a random one."""
    left = [terms[(turn + n) % len(terms)] for n in range(len(terms))]
    with np.errstate(all="ignore"):
        while len(left) > 1:
            a, b = random.permutation(len(left))[:2] if len(terms) > 3 else (0, 1)
            total = rounded(left[a] + left[b])
            left = [total, *(t for n, t in enumerate(left) if n not in (a, b))]
    return left[0]


def _is_add(instruction: HloInstruction) -> bool:
    return instruction.opcode == "add" and instruction.shape.is_array and instruction.shape.dtype.is_floating


def _flattened(last: HloInstruction,
               inner: Iterable[HloInstruction]) -> tuple[list[HloInstruction], list[HloInstruction]]:
    """The partial sums of a sum and its terms."""
    adds: list[HloInstruction] = []
    terms: list[HloInstruction] = []
    waiting = list(reversed(last.operands))
    while waiting:
        at = waiting.pop()
        if at in inner:
            adds.append(at)
            waiting += reversed(at.operands)
        else:
            terms.append(at)
    return adds, terms


def _is_free(terms: Sequence[HloInstruction]) -> bool:
    """Return True if nothing says that the order is meant."""
    return not any(t.opcode == "negate" for t in terms) and sum(map(_is_constant, terms)) < 2


def _is_constant(term: HloInstruction) -> bool:
    return source_of(term, lambda flow: flow.keeps_numbers).opcode == "constant"
