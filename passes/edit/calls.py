"""Calls replaced by what they call: calls and fusions inlined, branches taken, loops run once or not at all.

    y = f32[4] fusion(x), calls=f        ->   the instructions of f
    y = conditional(p, a, b), ...        ->   the instructions of one branch
    y = while(s), body=b                 ->   the instructions of b on s, once
    d = async-done(async-start(x))       ->   the instructions that run asynchronously

Calls, fusions and asynchronous calls keep their meaning; a branch or a round of a loop is another program.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeAlias

from hlotool.ir import HloComputation, HloInstruction, HloModule, callees_first
from hlotool.ops import opcodes
from hlotool.passes.edit.editor import Editing

#: what an instruction may be replaced by: a called computation and its arguments
Body: TypeAlias = "tuple[HloComputation, tuple[HloInstruction, ...]]"
#: operations that call one computation, once
ALWAYS_CALLED = opcodes(lambda flow: flow.in_place) | {"async-done"}
#: instructions that `all_inlined` adds to a module, about
_MOST = 5000


def bodies_of(instruction: HloInstruction) -> Sequence[Body]:
    """Return the computations, with their arguments, that an instruction may be replaced by."""
    attributes, operands = instruction.attributes, instruction.operands
    match instruction.opcode:
        case "call" | "fusion":
            found: list[Body] = [(c, operands) for c in instruction.called_computations()[:1]]
        case "conditional":
            branches = attributes.get("branch_computations") or tuple(
                attributes[n] for n in ("true_computation", "false_computation") if n in attributes)
            found = [(b, (o,)) for b, o in zip(branches, operands[1:], strict=False)]
        case "while":
            found = [(attributes["body"], operands)] if "body" in attributes else []
        case "async-done" if operands[0].opcode == "async-start":
            found = [(c, operands[0].operands) for c in operands[0].called_computations()[:1]]
        case _:
            found = []
    return [(body, given) for body, given in found if _fits(body, given)]


def _fits(body: HloComputation, arguments: Sequence[HloInstruction]) -> bool:
    parameters = body.parameters()
    return len(parameters) == len(arguments) and all(
        p.shape.compatible(a.shape) for p, a in zip(parameters, arguments, strict=True))


def replace_by_body(edit: Editing, home: HloComputation, instruction: HloInstruction, body: Body) -> None:
    """Let users of an instruction take what one of its `bodies_of` gives, inlined in front of it."""
    edit.replace_uses({instruction: edit.inline(home, *body, instruction)}, home)


def all_inlined(module: HloModule) -> HloModule:
    """Return a copy of a module without calls, fusions and what runs asynchronously; of large ones some stay."""
    edit = Editing.of_copy(module)
    added = 0
    for computation in callees_first(edit.module):  # so that what is inlined holds no calls any more
        others: dict[HloInstruction, HloInstruction] = {}
        for instruction in list(computation.instructions):
            if instruction.opcode in ALWAYS_CALLED and added < _MOST:
                for body, arguments in bodies_of(instruction):
                    others[instruction] = edit.inline(computation, body, arguments, instruction)
                    added += len(body.instructions)
        edit.replace_uses(others, computation)
        computation.instructions = [i for i in computation.instructions if i not in others]
    return edit.tidy()
