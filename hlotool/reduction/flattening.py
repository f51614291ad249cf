"""Steps that replace a call by what it calls (hlotool.passes.edit.calls), and that take values out of loops' states."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from typing import TypeVar

from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.passes.edit import ALWAYS_CALLED, Editing, all_inlined, bodies_of, replace_by_body
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import SearchState

_T = TypeVar("_T")


def flatten(work: SearchState) -> bool:
    """Inline calls, all at once or one after the other; take branches, and run loops once. Return True if it helped."""
    base = work.best
    changed = False
    if any(i.opcode in ALWAYS_CALLED and bodies_of(i) for i in base.module.instructions()):
        changed = work.try_each([lambda: base.with_module(all_inlined(base.module))], "inlined")
    return work.try_all(_each_inlined, "inlined") or changed


def _each_inlined(base: Candidate) -> Iterator[Maker]:
    for computation in base.module.computations:
        for instruction in computation.instructions:
            for number in range(len(bodies_of(instruction))):
                yield partial(_inlined, base, computation, instruction, number)


def _inlined(base: Candidate, home: HloComputation, instruction: HloInstruction, number: int) -> Candidate:
    edit = Editing.of_copy(base.module)
    copy = edit.copies[instruction]
    replace_by_body(edit, edit.copies[home], copy, bodies_of(copy)[number])
    return base.with_module(edit.tidy())


def narrow_loops(work: SearchState) -> bool:
    """Take out of loops' states what the failure does not need. Return True if it helped."""
    return work.try_all(_each_narrowed, "loop state")


def _each_narrowed(base: Candidate) -> Iterator[Maker]:
    for computation in base.module.computations:
        for instruction in computation.instructions:
            if instruction.opcode == "while" and instruction.shape.is_tuple:
                for index in range(len(instruction.shape.elements) - 1, -1, -1):
                    yield partial(_without_element, base, computation, instruction, index)


def _without_element(base: Candidate, home: HloComputation, loop: HloInstruction, index: int) -> Candidate | None:
    """Return the candidate whose loop lacks an element of its state; what reads it gets zeros."""
    edit = Editing.of_copy(base.module)
    home, loop = edit.copies[home], edit.copies[loop]
    body, condition = loop.attributes["body"], loop.attributes["condition"]
    if body.root.opcode != "tuple" or body is condition or not (
            (home.root is loop and home is edit.module.entry) or _is_taken_apart(home, loop)):
        return None
    given = loop.operands[0]
    members = given.operands if given.opcode == "tuple" else [
        edit.insert(home, "get-tuple-element", s, (given,), {"index": n}, before=loop)
        for n, s in enumerate(loop.shape.elements)]
    shape = Shape.tuple(*_without(loop.shape.elements, index))
    loop.operands = (edit.insert(home, "tuple", shape, _without(members, index), before=loop),)
    loop.shape, loop.attributes = shape, loop.attributes.without("backend_config", "sharding")
    if not _renumbered(edit, home, loop, index):
        return None
    for called in (body, condition):
        parameter = called.parameters()[0]
        if not _is_taken_apart(called, parameter) or not _renumbered(edit, called, parameter, index):
            return None
        parameter.shape = shape
    body.root = edit.insert(body, "tuple", shape, _without(body.root.operands, index))
    return base.with_module(edit.tidy())


def _without(members: Sequence[_T], index: int) -> tuple[_T, ...]:
    return (*members[:index], *members[index + 1:])


def _is_taken_apart(home: HloComputation, whole: HloInstruction) -> bool:
    """Return True if a tuple is used element by element only."""
    return home.root is not whole and all(u.opcode == "get-tuple-element" for u in home.users()[whole])


def _renumbered(edit: Editing, home: HloComputation, whole: HloInstruction, index: int) -> bool:
    """Let the elements behind one move up, and who takes it get zeros; return False where it has none."""
    others: dict[HloInstruction, HloInstruction] = {}
    for user in home.users()[whole]:
        number = user.attributes["index"]
        if number > index:
            user.attributes = user.attributes | {"index": number - 1}
        elif number == index:
            zero = edit.zeros(home, user.shape, before=user)
            if zero is None:
                return False
            others[user] = zero
    edit.replace_uses(others, home)
    return True
