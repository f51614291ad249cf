"""What a module holds, found in one walk for all groups of checks: most modules lack most of what is checked."""

from __future__ import annotations

import itertools
from collections.abc import Iterable

from hlotool.ir import Attributes, HloInstruction, HloModule


class Contents:
    """The instructions of a module by opcode and attribute. The module must stay unchanged as long as it is used."""

    def __init__(self, module: HloModule) -> None:
        #: all of them, in the order of the text
        self.instructions: list[HloInstruction] = list(module.instructions())
        self.opcodes: frozenset[str] = frozenset([i.opcode for i in self.instructions])
        distinct: dict[int, Attributes] = {id(a): a for a in [i.attributes for i in self.instructions] if a}
        #: the names of attributes that any instruction has
        self.attributes: frozenset[str] = frozenset(itertools.chain.from_iterable(distinct.values()))

    def of(self, opcodes: Iterable[str]) -> list[HloInstruction]:
        """The instructions with one of these opcodes, in the order of the text."""
        wanted = self.opcodes.intersection(opcodes)
        return [i for i in self.instructions if i.opcode in wanted] if wanted else []

    def having(self, attribute: str) -> list[HloInstruction]:
        """The instructions with an attribute of that name, in the order of the text."""
        if attribute not in self.attributes:
            return []
        return [i for i in self.instructions if i.attributes and attribute in i.attributes]
