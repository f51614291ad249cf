"""Builds keys from the facts about an instruction that its operation's rule can see: equal keys, equal verdicts.

    sum.1 { ... add(a, b) }    x = f32[8] all-reduce(p), channel_id=1, to_apply=sum.1
    sum.2 { ... add(c, d) }    y = f32[8] all-reduce(q), channel_id=2, to_apply=sum.2     -> one key
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any

from hlotool.ir import Attributes, HloComputation, HloInstruction, Interned, Literal, called_by
from hlotool.ops import COMMON_ATTRIBUTES

#: numbers that only tell instructions apart: rules look at their signs
_NUMBERS = frozenset(("channel_id", "parameter_number"))
#: attributes of every operation, which no rule but that of shardings looks at
_UNSEEN = frozenset(COMMON_ATTRIBUTES) - {"sharding"}
#: larger computations are told apart by identity: few instructions call equal ones
_LARGE = 16
#: numbers of a module's own structures are this one and those below it
_OWN = -(1 << 40)


#: the facts about attributes and the structures of computations that hold for every module, with their numbers, which
#: are never given twice; and how many there may be before all are forgotten
_GENERAL: dict[Hashable, int] = {}
_next_number = itertools.count(1).__next__
_MOST_GENERAL = 1 << 16


class Signatures:
    """The keys of a module's instructions. The module must stay alive and unchanged as long as they are used.

    A key that is *general* holds for every module; others have a number of this one, which is below 0.
    """

    def __init__(self) -> None:
        #: the numbers of attributes, by their identity
        self.numbers: dict[int, int] = {}
        #: a key holds numbers for what is called, not the callees' keys, so that hashing one does not walk a call
        #: graph, whose paths may be exponentially many
        self._computations: dict[HloComputation, int] = {}
        self._own: dict[Hashable, int] = {}

    def instruction(self, instruction: HloInstruction) -> Hashable:
        """Opcode, attributes up to names and numbers, shapes of the result and the operands."""
        return (instruction.opcode, instruction.shape, self.of_attributes(instruction.attributes),
                *[o.shape for o in instruction.operands])

    def is_general(self, instruction: HloInstruction) -> bool:
        """Return True if the key of an instruction holds for every module."""
        return self.of_attributes(instruction.attributes) >= 0

    def of_attributes(self, attributes: Attributes) -> int:
        """Return a number that attributes share of which rules see the same; 0 for none."""
        if not attributes:
            return 0
        known = self.numbers.get(id(attributes))
        if known is None:
            keys: list[tuple[str, Hashable]] = []
            is_general = True
            for name, value in attributes.items():
                key, holds = (None, True) if name in _UNSEEN else self._of_value(name, value)
                keys.append((name, key))
                is_general = is_general and holds
            known = self.numbers[id(attributes)] = self._number(tuple(keys), is_general)
        return known

    def _number(self, key: Hashable, is_general: bool) -> int:
        if not is_general:
            return self._own.setdefault(key, _OWN - len(self._own))
        number = _GENERAL.get(key)
        if number is None:
            if len(_GENERAL) >= _MOST_GENERAL:
                _GENERAL.clear()
            number = _GENERAL[key] = _next_number()
        return number

    def _of_value(self, name: str, value: Any) -> tuple[Hashable, bool]:
        """Return the key of an attribute's value, and True if it is general."""
        kind = type(value)
        if kind is HloComputation:
            number = self._of_computation(value)
            return number, number >= 0
        if kind is tuple:
            if value and type(value[0]) is HloComputation:
                numbers = tuple([self._of_computation(c) for c in value])
                return numbers, min(numbers) >= 0
            # True is 1 to Python.
            return ((value, True) if value and type(value[0]) is not bool else ((bool, value), True)) \
                if _is_hashable(value) else (id(value), False)
        if kind is int:
            return (min(value, 1) if name in _NUMBERS else value), True
        if kind is Literal:  # rules see no more of one
            return (kind, value.shape), True
        if kind is str or type(kind) is Interned:
            return value, True
        return ((kind, repr(value)), True) if kind in (bool, float) else (id(value), False)

    def _of_computation(self, computation: HloComputation) -> int:
        """Return the number of a computation's structure; callees first, without recursion, for chains may be long."""
        known = self._computations
        if computation in known:
            return known[computation]
        stack = [(computation, False)]
        while stack:
            current, is_ready = stack.pop()
            if current not in known:
                known[current] = -1 - len(known)  # should it call itself
                before = [(c, False) for c in called_by(current) if c not in known] \
                    if len(current.instructions) <= _LARGE else []
                is_ready = not before
                if before:
                    stack += [(current, True), *before]
            if is_ready:
                known[current] = self._of_structure(current)
        return known[computation]

    def _of_structure(self, computation: HloComputation) -> int:
        instructions, number_of = computation.instructions, self.of_attributes
        if len(instructions) > _LARGE:
            return self._number(id(computation), False)
        numbers = [number_of(i.attributes) for i in instructions]
        place = dict(zip(instructions, itertools.count())).get
        structure = (place(computation.root), *[
            (i.opcode, i.shape, number and i.attributes.get("parameter_number"), number, *map(place, i.operands))
            for i, number in zip(instructions, numbers, strict=True)])
        return self._number(structure, min(numbers, default=0) >= 0)


def _is_hashable(value: tuple[Any, ...]) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
