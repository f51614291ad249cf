"""A step of a pair: what only one of the modules takes becomes a constant of it, for both have the same parameters.

    left                                       right                       what is left
    s = dynamic-update-slice(p0, p1, p2)       s = copy(p0)                p2 = constant(3) in the left one alone
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

from hlotool.execution import rows_of
from hlotool.ir import HloInstruction, HloModule, Literal, Shape
from hlotool.ir.arrays import digest
from hlotool.passes.edit import Editing
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.search_state import SearchState

#: elements of a constant at most
_MOST = 16


def fix_one_sided(work: SearchState) -> bool:
    """Make constants of the parameters that one module does not use. Return True if it helped."""
    changed = False
    while True:
        numbers = _one_sided(work.best)
        each = [numbers, *([n] for n in numbers)] if len(numbers) > 1 else [[n] for n in numbers]
        if not work.try_each([partial(_fixed, work.best, chosen) for chosen in each], "constants"):
            return changed
        changed = True


def _one_sided(base: Candidate) -> list[int]:
    """Return the numbers of small array parameters that at most one module uses, and all devices get alike.

    Where the modules share no parameter, theirs are what they differ by.
    """
    assert base.other is not None
    used = [_used_numbers(m) for m in (base.module, base.other)]
    found: list[int] = []
    if used[0].isdisjoint(used[1]):
        return found
    for parameter in base.module.entry.parameters():
        number, shape = parameter.parameter_number, parameter.shape
        if shape.is_array and shape.is_static and not all(number in u for u in used) and shape.size <= _MOST:
            [first, *others] = [row[0] for row in rows_of(base.module.entry.parameters(), [parameter], base.rows or [])]
            if all(digest(o) == digest(first) for o in others):
                found.append(number)
    return found


def _used_numbers(module: HloModule) -> set[int]:
    used = {o for i in module.entry.instructions for o in i.operands} | {module.entry.root}
    return {p.parameter_number for p in module.entry.parameters() if p in used}


def _fixed(base: Candidate, numbers: Sequence[int]) -> Candidate:
    assert base.other is not None
    parameters = base.module.entry.parameters()
    kept = [p for p in parameters if p.parameter_number not in numbers]
    left, right = (_with_constants(m, numbers, base) for m in (base.module, base.other))
    return Candidate(left, rows_of(parameters, kept, base.rows or []), right)


def _with_constants(module: HloModule, numbers: Sequence[int], base: Candidate) -> HloModule:
    """Return a copy with constants in place of parameters; what takes them has them in its own dimensions."""
    edit = Editing.of_copy(module)
    entry = edit.module.entry
    others: dict[HloInstruction, HloInstruction] = {}
    for parameter in entry.parameters():
        if parameter.parameter_number in numbers:
            [value] = rows_of(base.module.entry.parameters(),
                              [base.module.entry.parameters()[parameter.parameter_number]], (base.rows or [])[:1])[0]
            shape = Shape.array(parameter.shape.element_type, parameter.shape.dims)
            others[parameter] = edit.insert(entry, "constant", shape, (), {"literal": Literal(shape, value)},
                                            before=parameter)
    edit.replace_uses(others, entry)
    edit.drop_parameters(entry, set(others))
    edit.tidy()
    return edit.module
