"""Holds the definitions of names while a text is read: those of the body, and those of the module around it."""

from __future__ import annotations

from dataclasses import field

from hlotool.ir import HloComputation, HloInstruction, HloModule, lazy_dataclass

#: instructions in operands and computations in attributes, inside of each other
MOST_NESTED = 100


@lazy_dataclass(slots=True)
class PendingCall:
    """An attribute that names computations before they are defined."""

    instruction: HloInstruction
    attribute: str
    names: tuple[str, ...]
    offset: int
    is_many: bool


@lazy_dataclass(slots=True)
class Definitions:
    """Definitions of a text outside of single bodies."""

    module: HloModule
    computations: dict[str, HloComputation] = field(default_factory=dict)
    pending: list[PendingCall] = field(default_factory=list)
    #: instructions that had to be named, as they stand in place of operands: names already given
    anonymous: dict[str, None] = field(default_factory=dict)
    #: None, or where to put parameters that stand for unknown operands (a text of one instruction)
    missing_operands: list[HloInstruction] | None = None
    #: how many instructions and computations are inside of each other at this place
    depth: int = 0
    #: instructions that may be in a form of another time (hlotool.text.legacy)
    suspects: list[HloInstruction] = field(default_factory=list)


class Body:
    """A body while it is read: its computation, and what its names stand for so far."""

    __slots__ = ("computation", "failed", "root", "table", "undefined")

    def __init__(self, computation: HloComputation) -> None:
        self.computation = computation
        self.table: dict[str, HloInstruction] = {}
        self.root: HloInstruction | None = None
        #: names that were used and not defined before, with their offsets
        self.undefined: list[tuple[str, int]] = []
        #: where the statements begin that could not be read
        self.failed: list[int] = []

    def stand_ins(self) -> list[HloInstruction]:
        """Return placeholders for statements that could not be read, with their names where known and their offsets."""
        named = [i for i in self.table.values() if not i.opcode]
        begun = {i.offset for i in named}
        return named + [HloInstruction("", "", None, offset=at)  # type: ignore[arg-type]
                        for at in self.failed if at not in begun]


__all__ = ["MOST_NESTED", "Body", "Definitions", "PendingCall"]
