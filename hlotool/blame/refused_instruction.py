"""The instruction at which an executor crashes, or which it refuses to compile: by shortening the program."""

from __future__ import annotations

from hlotool.blame.cuts import part
from hlotool.blame.places import InstructionPlace
from hlotool.diagnostics import HloError
from hlotool.execution import FAILURES, Executor, Program, arguments_for, rows_of
from hlotool.ir import HloInstruction
from hlotool.ops import flow_of
from hlotool.passes.edit import ancestors, is_cuttable
from hlotool.process import work_time


def refused_instruction(program: Program, executor: Executor, *, seconds: float = 30.0) -> InstructionPlace | None:
    """The first instruction of the entry with which the program, shortened to end there, fails on the executor.

    None where the whole does not fail on made arguments, or time is over before it is known.
    """
    until = work_time() + seconds
    entry = program.module.entry
    failing = next((r for r in dict.fromkeys(entry.results())
                    if work_time() < until and _fails(program, executor, r)), None)
    if failing is None:
        return None
    order = [i for i in ancestors(entry, [failing]) if i is failing or (
        not flow_of(i).is_trivial and is_cuttable(i))]
    low, high = 0, len(order) - 1
    while low < high:
        if work_time() > until:
            return None
        middle = (low + high) // 2
        if _fails(program, executor, order[middle]):
            high = middle
        else:
            low = middle + 1
    return InstructionPlace(program.module, order[high])


def _fails(program: Program, executor: Executor, last: HloInstruction) -> bool:
    """Return True if the program that ends with an instruction fails."""
    entry = program.module.entry
    tried = part(program, entry, [last])
    made = [arguments_for(program, device) for device in range(program.devices)]
    try:
        executor.run(tried.program, [rows_of(entry.parameters(), tried.fed, made)])
    except HloError as error:
        return any(d.code in FAILURES for d in error.diagnostics)
    return False
