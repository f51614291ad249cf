"""Builds keys from the facts about an instruction that its operation's rule can see: equal keys, equal verdicts.

    sum.1 { ... add(a, b) }    x = f32[8] all-reduce(p), channel_id=1, to_apply=sum.1
    sum.2 { ... add(c, d) }    y = f32[8] all-reduce(q), channel_id=2, to_apply=sum.2     -> one key
"""

from __future__ import annotations

import itertools
from collections.abc import Hashable
from typing import Any

from hlotool.ir import Attributes, HloComputation, HloInstruction, called_by
from hlotool.ops import COMMON_ATTRIBUTES

#: numbers that only tell instructions apart: rules look at their signs
_NUMBERS = frozenset(("channel_id", "parameter_number"))
#: attributes of every operation, which no rule but that of shardings looks at
_UNSEEN = frozenset(COMMON_ATTRIBUTES) - {"sharding"}
#: larger computations are told apart by identity: few instructions call equal ones
_LARGE = 16


class Signatures:
    """The keys of a module's instructions. The module must stay alive and unchanged as long as they are used."""

    def __init__(self) -> None:
        self._attributes: dict[int, Hashable] = {}
        self._computations: dict[HloComputation, int] = {}
        #: structure -> number: a key holds numbers for what is called, not the callees' keys, so that hashing one does
        #: not walk a call graph, whose paths may be exponentially many
        self._numbers: dict[Hashable, int] = {}

    def instruction(self, instruction: HloInstruction) -> Hashable:
        """Opcode, attributes up to names and numbers, shapes of the result and the operands."""
        return (instruction.opcode, instruction.shape, self._of_attributes(instruction.attributes),
                *[o.shape for o in instruction.operands])

    def computation(self, computation: HloComputation) -> int | None:
        """Return a number that computations of one structure share; None for a large one, which is told by identity."""
        return self._of_computation(computation) if len(computation.instructions) <= _LARGE else None

    def _of_attributes(self, attributes: Attributes) -> Hashable:
        if not attributes:
            return ()
        known = self._attributes.get(id(attributes))
        if known is None:
            of_value = self._of_value
            known = self._attributes[id(attributes)] = tuple(
                [(name, None if name in _UNSEEN else of_value(name, value)) for name, value in attributes.items()])
        return known

    def _of_value(self, name: str, value: Any) -> Hashable:
        kind = type(value)
        if kind is HloComputation:
            known = self._computations.get(value)
            return self._of_computation(value) if known is None else known
        if kind is tuple and value and type(value[0]) is HloComputation:
            return tuple([self._of_computation(c) for c in value])
        if name in _NUMBERS and isinstance(value, int):
            return min(value, 1)
        return value if isinstance(value, (int, str)) else id(value)

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
                known[current] = self._numbers.setdefault(self._structure(current), len(self._numbers))
        return known[computation]

    def _structure(self, computation: HloComputation) -> Hashable:
        if len(computation.instructions) > _LARGE:
            return id(computation)
        instructions, of_attributes = computation.instructions, self._of_attributes
        place = dict(zip(instructions, itertools.count())).get
        return (place(computation.root), *[
            (i.opcode, i.shape, a.get("parameter_number"), of_attributes(a), *map(place, i.operands))
            if (a := i.attributes) else (i.opcode, i.shape, None, (), *map(place, i.operands)) for i in instructions])
