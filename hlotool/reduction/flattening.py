"""Steps that replace a call by what it calls: calls and fusions inlined, branches taken, loops run once or not at all.

    y = f32[4] fusion(x), calls=f        ->   the instructions of f
    y = conditional(p, a, b), ...        ->   the instructions of one branch
    y = while(s), body=b                 ->   the instructions of b on s, once; or s
    d = async-done(async-start(x))       ->   the instructions that run asynchronously
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape
from hlotool.passes.edit import Editing, clone_module
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import Work

#: what an instruction is replaced by: a called computation and its arguments
Body: TypeAlias = "tuple[HloComputation, tuple[HloInstruction, ...]]"
#: instructions that one step inlines at once
_AT_ONCE = 5000


def flatten(work: Work) -> bool:
    """Inline what can be, all at once or one after the other; take branches, and run loops once."""
    base = work.best
    changed = False
    if any(_bodies(i) and i.opcode in _ALWAYS for i in base.module.instructions()):
        changed = work.try_each([lambda: Candidate(all_inlined(base.module), base.rows)], "inlined")
    return work.try_all(_each, "inlined") or changed


def _each(base: Candidate) -> Iterator[Maker]:
    for computation in base.module.computations:
        for instruction in computation.instructions:
            for number in range(len(_bodies(instruction))):
                yield _maker(base, computation.name, instruction.name, number)


def _maker(base: Candidate, computation: str, name: str, number: int) -> Maker:
    return lambda: _one_inlined(base, computation, name, number)


#: what calls one computation once
_ALWAYS = ("call", "fusion", "async-done")


def _bodies(instruction: HloInstruction) -> Sequence[Body]:
    """What an instruction may be replaced by."""
    attributes = instruction.attributes
    match instruction.opcode:
        case "call" | "fusion":
            callee = next(iter(instruction.called_computations()), None)
            return [(callee, instruction.operands)] if callee is not None else []
        case "conditional":
            branches = attributes.get("branch_computations") or tuple(
                attributes[n] for n in ("true_computation", "false_computation") if n in attributes)
            return [(b, (o,)) for b, o in zip(branches, instruction.operands[1:], strict=False)]
        case "while":
            return [(attributes["body"], instruction.operands)] if "body" in attributes else []
        case "async-done":
            start = instruction.operands[0]
            callee = next(iter(start.called_computations()), None) if start.opcode == "async-start" else None
            return [(callee, start.operands)] if callee is not None else []
    return []


def _one_inlined(base: Candidate, computation: str, name: str, number: int) -> Candidate | None:
    module = clone_module(base.module)
    home = next(c for c in module.computations if c.name == computation)
    instruction = next(i for i in home.instructions if i.name == name)
    edit = Editing(module)
    if not _inline(edit, home, instruction, number):
        return None
    return Candidate(tidied(edit), base.rows)


def all_inlined(given: HloModule) -> HloModule:
    """A copy of a module without calls, fusions and what runs asynchronously."""
    module = clone_module(given)
    edit = Editing(module)
    steps = 0
    others: dict[HloInstruction, HloInstruction] = {}
    for computation in module.computations:
        for instruction in list(computation.instructions):
            if instruction.opcode in _ALWAYS and _bodies(instruction) and steps < _AT_ONCE:
                value = _value(edit, computation, instruction, 0)
                if value is not None:
                    others[instruction] = value
                    steps += len(_bodies(instruction)[0][0].instructions)
    edit.replace_uses(others)
    return tidied(edit)


def _inline(edit: Editing, home: HloComputation, instruction: HloInstruction, number: int) -> bool:
    value = _value(edit, home, instruction, number)
    if value is None:
        return False
    edit.replace_uses({instruction: value})
    return True


def _value(edit: Editing, home: HloComputation, instruction: HloInstruction, number: int) -> HloInstruction | None:
    callee, arguments = _bodies(instruction)[number]
    parameters = callee.parameters()
    if len(parameters) != len(arguments) or not all(
            p.shape.compatible(a.shape) for p, a in zip(parameters, arguments, strict=True)):
        return None
    return edit.inline(home, callee, arguments, instruction)


def tidied(edit: Editing) -> HloModule:
    """The module without what is dead, and without elements taken of tuples that stand in the same computation."""
    others: dict[HloInstruction, HloInstruction] = {}
    for instruction in edit.module.instructions():
        if instruction.opcode == "get-tuple-element" and instruction.operands[0].opcode == "tuple":
            others[instruction] = instruction.operands[0].operands[instruction.attributes["index"]]
    edit.replace_uses(others)
    edit.sweep()
    return edit.module


def narrow_loops(work: Work) -> bool:
    """Take out of a loop's state what the failure does not need."""
    return work.try_all(_narrowed_loops, "loop state")


def _narrowed_loops(base: Candidate) -> Iterator[Maker]:
    for computation in base.module.computations:
        for instruction in computation.instructions:
            if instruction.opcode == "while" and instruction.shape.is_tuple:
                for index in range(len(instruction.shape.elements) - 1, -1, -1):
                    yield _loop_maker(base, computation.name, instruction.name, index)


def _loop_maker(base: Candidate, computation: str, name: str, index: int) -> Maker:
    return lambda: _without_element(base, computation, name, index)


def _without_element(base: Candidate, computation: str, name: str, index: int) -> Candidate | None:
    """The loop without one element of its state; what reads it gets zeros."""
    module = clone_module(base.module)
    home = next(c for c in module.computations if c.name == computation)
    loop = next(i for i in home.instructions if i.name == name)
    body, condition = loop.attributes["body"], loop.attributes["condition"]
    kept = tuple(s for n, s in enumerate(loop.shape.elements) if n != index)
    shape = Shape.tuple(*kept)
    edit = Editing(module)
    if body.root.opcode != "tuple" or body is condition or not (
            (home.root is loop and home is module.entry) or _only_taken(home, loop)):
        return None
    if loop.operands[0].opcode == "tuple":
        members = _left(loop.operands[0].operands, index)
    else:
        members = tuple(_element(edit, home, loop.operands[0], n, loop) for n in range(len(loop.shape.elements))
                        if n != index)
    start = edit.insert(home, "tuple", shape, members, before=loop)
    loop.operands, loop.shape = (start,), shape
    loop.attributes = loop.attributes.without("backend_config", "sharding")
    if not _renumbered(edit, home, loop, index):
        return None
    for called in (body, condition):
        parameter = called.parameters()[0]
        if not _only_taken(called, parameter) or not _renumbered(edit, called, parameter, index):
            return None
        parameter.shape = shape
    end = edit.insert(body, "tuple", shape, _left(body.root.operands, index))
    body.root = end
    return Candidate(tidied(edit), base.rows)


def _left(members: Sequence[HloInstruction], index: int) -> tuple[HloInstruction, ...]:
    return tuple(m for n, m in enumerate(members) if n != index)


def _element(edit: Editing, home: HloComputation, whole: HloInstruction, index: int,
             before: HloInstruction) -> HloInstruction:
    return edit.insert(home, "get-tuple-element", whole.shape.elements[index], (whole,), {"index": index},
                       before=before)


def _only_taken(home: HloComputation, whole: HloInstruction) -> bool:
    """Whether a tuple is used element by element only."""
    return home.root is not whole and all(u.opcode == "get-tuple-element" for u in home.users()[whole])


def _renumbered(edit: Editing, home: HloComputation, whole: HloInstruction, index: int) -> bool:
    """Let the elements behind one move up; those who take it get zeros."""
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
    edit.replace_uses(others)
    return True
