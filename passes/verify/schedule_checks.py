"""Verification of schedules: in a scheduled module the order of a computation's instructions is what runs."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Diagnostic
from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.passes.codes import SCHEDULE
from hlotool.passes.instruction_findings import report


def verify_schedule(module: HloModule) -> Iterator[Diagnostic]:
    """What is wrong with the order of a scheduled module. Source: XLA, hlo_schedule.cc, HloSchedule::Verify.

    That operands stand before their users, and nothing twice, holds for every module (V116).
    """
    if module.attributes.get("is_scheduled"):
        for computation in module.computations:
            yield from _sequence(module, computation)


def _sequence(module: HloModule, computation: HloComputation) -> Iterator[Diagnostic]:
    done: set[HloInstruction] = set()
    for instruction in computation.instructions:
        done.add(instruction)
        late = next((b for b in instruction.control_predecessors() if b not in done), None)
        if late is not None:
            yield report(module, instruction, SCHEDULE, f"its predecessor {late.name} runs after it")
