"""Several programs as one: their parameters, and their results, one after the other."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.execution import Program
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, Shape, clone_computation, unique_name


def side_by_side(like: Program, programs: Sequence[Program]) -> Program:
    """The programs in one module, so that one compilation gives the values of all.

    Computations that they share are shared; the entries must not have effects on each other.
    """
    taken: dict[str, None] = {}
    instructions: list[HloInstruction] = []
    results: list[HloInstruction] = []
    computations: dict[HloComputation, None] = {}
    number = 0
    for program in programs:
        module = program.module
        computations |= dict.fromkeys(c for c in module.computations if c is not module.entry)
        entry = clone_computation(module.entry, module.entry.name)
        for parameter in entry.parameters():
            parameter.attributes = Attributes({"parameter_number": number})
            number += 1
        for instruction in entry.instructions:
            instruction.name = unique_name(instruction.name, taken)
            taken[instruction.name] = None
        root = entry.root
        instructions += entry.instructions
        results += root.operands if root.opcode == "tuple" else [root]
    root = HloInstruction(unique_name("values", taken), "tuple", Shape.tuple(*(r.shape for r in results)),
                          tuple(results))
    # Of programs still to be partitioned, parts without shardings are for one partition.
    first = max(programs, key=lambda p: p.partitions).module
    whole = HloComputation(unique_name("segments", [c.name for c in computations]), [*instructions, root], root)
    return Program(HloModule(first.name, [*computations, whole], whole, first.attributes, dict(like.module.tables),
                             like.module.source))
