"""Tells instructions of a partitioned program that do what their counterparts do, so that they are not guilty.

A value that is not the whole program's is often found behind the instruction that makes it: indices, masks and numbers
of devices are no values of the whole program. An instruction with its counterpart's operation and attributes, of
counterparts of its operands, is innocent of what it computes, and what is guilty stands before it.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from hlotool.blame.collective_repairs import COLLECTIVES
from hlotool.blame.number_repairs import ELEMENTWISE
from hlotool.blame.parts_run import Key, PartsRun
from hlotool.blame.value_repairs import ValueRepairs
from hlotool.ir import HloInstruction
from hlotool.ops import flow_of
from hlotool.passes.edit import ancestors
from hlotool.passes.equality import Aspects, Structure, op_name

#: attributes that say how a program is partitioned
_OF_PARTITIONING = frozenset(("sharding", "frontend_attributes", "backend_config"))
#: steps by which two values without names are followed to what they are computed of
_STEPS = 8


@dataclass
class Innocence:
    """The instructions of one run that do what their counterparts do."""

    run: PartsRun
    values: ValueRepairs
    structure: Structure = field(default_factory=lambda: Structure(Aspects(ignored=_OF_PARTITIONING)))

    def __post_init__(self) -> None:
        for program in (self.run.partition.whole, self.run.partition.part):
            self.structure.add(program.module)

    def is_alike(self, own: HloInstruction, whole: HloInstruction) -> bool:
        """Return True if two are one operation with equal attributes, whatever their sizes."""
        return own.opcode == whole.opcode and self.structure.own(own)[2] == self.structure.own(whole)[2]

    def is_one_value(self, own: object, whole: object) -> bool:
        """Return True for two values of an attribute that mean the same; computations by what they compute."""
        def key(value: object) -> object:
            return self.structure.aspects.value(value, lambda c: self.structure.computations.get(c, -1)) or ()

        return key(own) == key(whole)

    def other_operands(self, key: Key, whole: HloInstruction) -> list[tuple[HloInstruction, HloInstruction]]:
        """Return the operands that are no counterparts of those of a counterpart, with the latter."""
        path, own = key
        return [(o, w) for o, w in zip(own.operands, whole.operands, strict=False)
                if not self._stands_for((path, o), w)]

    def is_innocent(self, key: Key) -> bool:
        """Return True if an instruction does what its counterpart does, to counterparts of its operands."""
        whole = self.values.partners.get(key[1])
        return whole is not None and self.guilty(key, whole) != key

    def behind(self, key: Key) -> Key:
        """Return what is guilty of the value of an instruction with a counterpart; itself where that is not known."""
        whole = self.values.partners.get(key[1])
        return (self.guilty(key, whole) if whole is not None else None) or key

    def guilty(self, key: Key, whole: HloInstruction, steps: int = _STEPS) -> Key | None:
        """Return what is guilty of a value that should be a counterpart's: the instruction, or what it is computed of.

        None where that cannot be told: the operand that is another one may belong to how the operation is split.
        """
        path, own = key
        if own.opcode in COLLECTIVES:  # a copy with the counterpart's name may have taken its place
            return None if any(flow_of(o).forwards and op_name(o) == op_name(whole) for o in own.operands) else key
        if not self.is_alike(own, whole):
            return key
        others = self.other_operands(key, whole)
        if len(others) > 1 or steps == 0:
            return key if others else None
        for operand, wanted in others or zip(own.operands, whole.operands, strict=True):
            at = path, operand
            if operand.opcode == wanted.opcode == "constant" and others:
                return at if self.run.is_mended_with(operand, wanted.literal.array) else key
            is_same_name = bool(op_name(operand)) and op_name(operand) == op_name(wanted)
            if others and (self.is_elsewhere(at, wanted) or not (is_same_name or self._is_one_step(operand, wanted))):
                is_of_split = op_name(operand) == op_name(own) and operand not in self.values.partners
                return None if is_of_split and operand.operands else key
            if wanted not in self.values.held(at) and self._is_mended(at, wanted):
                return self.guilty(at, wanted, steps - 1)
        return None

    def is_elsewhere(self, key: Key, whole: HloInstruction) -> bool:
        """Return True if another instruction is the counterpart of a value, and this one is not computed of it."""
        own = next((i for i, w in self.values.partners.items() if w is whole), key[1])
        home = key[0][-1].computation if key[0] else self.run.partition.part.module.entry
        return own is not key[1] and own not in ancestors(home, [key[1]])

    def _is_one_step(self, own: HloInstruction, whole: HloInstruction) -> bool:
        """Return True for two that do alike to one operand, and have no name."""
        return not op_name(own) and own.opcode in ELEMENTWISE and len(own.operands) == 1 and self.is_alike(own, whole)

    def _is_mended(self, key: Key, whole: HloInstruction) -> bool:
        """Return True if the results are right with the tiles of a value of the whole program."""
        part = self.run.parts.get(key)
        return part is not None and any(self.run.is_mended(values={key: t.parts})
                                        for t in self.run.wholes.placed(whole, part[0]))

    def _stands_for(self, key: Key, whole: HloInstruction, steps: int = _STEPS) -> bool:
        """Return True if a value is the counterpart of one of the whole program, by its name or its value."""
        own, partners = key[1], self.values.partners
        if own in partners:
            return partners[own] is whole
        if whole in self.values.held(key):
            return True
        return steps > 0 and not op_name(own) and self.is_alike(own, whole) and len(own.operands) == len(
            whole.operands) and all(self._stands_for((key[0], o), w, steps - 1)
                                    for o, w in zip(own.operands, whole.operands, strict=True))
