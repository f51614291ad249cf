"""The instruction at which an executor crashes, or which it refuses to compile: by shortening the program."""

from __future__ import annotations

from hlotool.blame.cuts import ancestors, is_cuttable, part
from hlotool.blame.places import Place
from hlotool.diagnostics import HloError
from hlotool.execution import FAILURES, Executor, Program, arguments_for, leaves
from hlotool.ir import HloInstruction
from hlotool.process import work_time


def refused_instruction(program: Program, executor: Executor, *, seconds: float = 30.0) -> Place | None:
    """The first instruction of the entry with which the program, shortened to end there, fails on the executor.

    None where the whole does not fail on made arguments, or time is over before it is known.
    """
    until = work_time() + seconds
    entry = program.module.entry
    results = entry.root.operands if entry.root.opcode == "tuple" else (entry.root,)
    failing = next((r for r in dict.fromkeys(results)
                    if work_time() < until and _fails(program, executor, r)), None)
    if failing is None:
        return None
    order = [i for i in ancestors(entry, [failing]) if i is failing or (
        i.opcode not in ("parameter", "constant", "tuple", "get-tuple-element") and is_cuttable(i))]
    low, high = 0, len(order) - 1
    while low < high:
        if work_time() > until:
            return None
        middle = (low + high) // 2
        if _fails(program, executor, order[middle]):
            high = middle
        else:
            low = middle + 1
    return Place(program.module, order[high])


def _fails(program: Program, executor: Executor, last: HloInstruction) -> bool:
    """Whether the program that ends with an instruction fails."""
    entry = program.module.entry
    tried = part(program, entry, [last])
    owners = [p for p in entry.parameters() for _ in leaves(p.shape)]
    made = [arguments_for(program, device) for device in range(program.devices)]
    rows = [[a for f in tried.fed for a, owner in zip(row, owners, strict=True) if owner is f] for row in made]
    try:
        executor.run(tried.program, [rows])
    except HloError as error:
        return any(d.code in FAILURES for d in error.diagnostics)
    return False
