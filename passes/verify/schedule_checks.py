"""Verification of schedules: in a scheduled module the order of a computation's instructions is what runs."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Diagnostic
from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.passes.codes import SCHEDULE
from hlotool.passes.instruction_findings import report


def verify_schedule(module: HloModule) -> Iterator[Diagnostic]:
    """What is wrong with the order of a scheduled module. Source: XLA, hlo_schedule.cc, HloSchedule::Verify.

    In HLO text names stand before their uses, so only modules from elsewhere can be wrong here.
    """
    if module.attributes.get("is_scheduled"):
        for computation in module.computations:
            yield from _sequence(module, computation)


def _sequence(module: HloModule, computation: HloComputation) -> Iterator[Diagnostic]:
    done: set[HloInstruction] = set()
    own = set(computation.instructions)
    for instruction in computation.instructions:
        if instruction in done:
            yield report(module, instruction, SCHEDULE, f"{instruction.name} stands in {computation.name} twice")
            continue
        done.add(instruction)
        for before, what in ((instruction.operands, "operand"), (instruction.control_predecessors(), "predecessor")):
            late = next((b for b in before if b in own and b not in done), None)
            if late is not None:
                yield report(module, instruction, SCHEDULE, f"its {what} {late.name} runs after it")
                break
