"""Lists the contents of a module in one walk, for all groups of checks and all rules: most modules lack most of it."""

from __future__ import annotations

import functools
import itertools
import operator
from collections import defaultdict
from collections.abc import Iterable

from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, Shape

#: instructions with the computations that they are in
Rows = list[tuple[HloInstruction, HloComputation]]
_shape = operator.attrgetter("shape")


class Contents:
    """The instructions of a module by opcode and attribute. The module must stay unchanged as long as it is used."""

    def __init__(self, module: HloModule) -> None:
        #: the instructions that call others, by the computation that they are in, in the order of the text
        self.calls: dict[HloComputation, list[HloInstruction]] = {}
        #: the parameters of each computation, in the order of the text
        self.parameters: dict[HloComputation, list[HloInstruction]] = {}
        by_opcode: defaultdict[str, list[HloInstruction]] = defaultdict(list)
        by_attributes: defaultdict[int, list[HloInstruction]] = defaultdict(list)
        parameters = by_opcode["parameter"]
        for computation in module.computations:
            calling, begin = [], len(parameters)
            for instruction in computation.instructions:
                opcode, attributes = instruction.opcode, instruction.attributes
                by_opcode[opcode].append(instruction)
                if attributes:
                    by_attributes[id(attributes)].append(instruction)
                    called = attributes.called if type(attributes) is Attributes else None
                    if instruction.called_computations() if called is None else called:
                        calling.append(instruction)
            self.parameters[computation] = parameters[begin:]
            if calling:
                self.calls[computation] = calling
        self._computations = module.computations
        if not parameters:
            del by_opcode["parameter"]
        #: the instructions by opcode, those of one in the order of the text
        self.by_opcode = {**by_opcode}
        self._homes: dict[HloInstruction, HloComputation] = {}
        self._by_attributes = list(by_attributes.values())
        self.opcodes = frozenset(by_opcode)
        #: the names of attributes that any instruction has
        self.attributes = frozenset(itertools.chain.from_iterable([i[0].attributes for i in self._by_attributes]))

    def called_by(self, computation: HloComputation) -> list[HloComputation]:
        """Return the computations that one calls, each once, in order."""
        calls = self.calls.get(computation)
        return list(dict.fromkeys([c for i in calls for c in i.called_computations()])) if calls else []

    def of(self, opcodes: Iterable[str]) -> list[HloInstruction]:
        """Return the instructions with one of these opcodes, those of one opcode in the order of the text."""
        return [i for opcode in opcodes for i in self.by_opcode.get(opcode, ())]

    def rows(self, opcode: str) -> Rows:
        """Return the instructions of an opcode with their computations, in the order of the text."""
        found = self.by_opcode.get(opcode, ())
        if found and not self._homes:
            self._homes = {i: c for c in self._computations for i in c.instructions}
        return [(i, self._homes[i]) for i in found]

    def having(self, attribute: str) -> list[HloInstruction]:
        """The instructions with an attribute of that name, those that share their attributes in the order of the text.
        """
        if attribute not in self.attributes:
            return []
        return [i for found in self._by_attributes if attribute in found[0].attributes for i in found]

    @functools.cached_property
    def shapes(self) -> set[Shape]:
        """The shapes of all instructions, each once."""
        return set(map(_shape, itertools.chain.from_iterable([c.instructions for c in self._computations])))
