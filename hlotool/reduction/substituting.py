"""Steps that let a user take another value of the same shape: what an instruction takes in place of what it gives,
one parameter in place of another, a constant's value in place of the instruction that it feeds.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hlotool.execution import rows_of
from hlotool.ir import HloComputation, HloInstruction, post_order
from hlotool.passes.edit import Editing
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import SearchState

#: earlier values of a shape that are tried in place of a later one
_EARLIER = 4


def substitute(work: SearchState) -> bool:
    """Pass instructions by, and merge parameters. Return True if it helped."""
    return work.try_all(_substitutions, "substituted")


def _substitutions(base: Candidate) -> Iterator[Maker]:
    for computation in base.module.computations:
        order = post_order(computation)
        for number in range(len(order) - 1, -1, -1):
            instruction = order[number]
            earlier = [e for e in order[:number] if e.shape.without_layout() is instruction.shape.without_layout()]
            chosen = dict.fromkeys([*(o for o in instruction.operands if o in earlier), *earlier[:_EARLIER]])
            if instruction.opcode == "parameter" and computation is not base.module.entry:
                continue
            for other in chosen:
                if instruction.opcode not in ("parameter", "constant") or other.opcode == instruction.opcode:
                    yield partial(_substituted, base, computation, instruction, other)


def _substituted(base: Candidate, home: HloComputation, old: HloInstruction, new: HloInstruction) -> Candidate | None:
    edit = Editing.of_copy(base.module)
    edit.replace_uses({edit.copies[old]: edit.copies[new]}, edit.copies[home])
    edit.tidy()
    found = _without_unused_parameters(edit, base)
    return found if found.size < base.size else None


def _without_unused_parameters(edit: Editing, base: Candidate) -> Candidate:
    """Return the edited candidate without entry parameters that nothing takes, and without their arguments."""
    entry = edit.module.entry
    used = {o for i in entry.instructions for o in i.operands} | {entry.root}
    parameters = entry.parameters()
    if used.issuperset(parameters):
        return base.with_module(edit.module)
    edit.drop_parameters(entry, set(parameters) - used)
    return Candidate(edit.module, base.rows and rows_of(parameters, entry.parameters(), base.rows))
