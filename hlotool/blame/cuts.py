"""Sections of a program as programs of their own."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from hlotool.execution import Program, leaves
from hlotool.ir import HloComputation, HloInstruction
from hlotool.passes.edit import Section, section


@dataclass(frozen=True)
class ProgramPart(Section):
    """Instructions of a computation as a program: `fed`, `targets` and `computed` are instructions of the whole."""

    program: Program

    @classmethod
    def whole(cls, program: Program) -> ProgramPart:
        """Return all of a program."""
        entry = program.module.entry
        return cls(program.module, tuple(entry.parameters()), (entry.root,), tuple(entry.instructions), program)

    def owners(self) -> list[HloInstruction]:
        """Return the target that each leaf of the result belongs to."""
        return [t for t in self.targets for _ in leaves(t.shape)]


def part(whole: Program, computation: HloComputation, targets: Sequence[HloInstruction],
         cut: Collection[HloInstruction] = (), order: Mapping[HloInstruction, int] | None = None) -> ProgramPart:
    """Return the program that computes `targets` of a computation of `whole` from the parameters and what is `cut`.

    `order` tells where each instruction of the computation stands (`positions`): who asks for many parts has it once.
    Of a program that has still to be partitioned, a part without shardings is for one partition: it takes whole arrays.
    """
    counts = {"replica_count": whole.replicas, "num_partitions": whole.partitions}
    found = section(whole.module, computation, targets, cut, {n: count for n, count in counts.items() if count > 1},
                    order)
    program = Program(found.module)
    if whole.partitioning == "automatic" and program.partitioning != "automatic":
        found.module.attributes = found.module.attributes.without("num_partitions")
        program = Program(found.module)
    return ProgramPart(program.module, found.fed, found.targets, found.computed, program)
