"""Fills in the shapes that a text leaves out.

    x = f32[2] parameter(0)         x = f32[2] parameter(0)
    y = add(x, x)              ->   y = f32[2] add(x, x)
"""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Diagnostic, HloError, at
from hlotool.ir import HloInstruction, HloModule, callees_first, is_sound, post_order
from hlotool.ops import OPS, ConstraintError
from hlotool.passes.codes import NO_SHAPE
from hlotool.passes.instruction_findings import constraint_part, report
from hlotool.text import ROOT_SHAPE, other_result


def infer_shapes(module: HloModule) -> list[Diagnostic]:
    """Give every instruction without a shape the one that its operation infers.

    What cannot be inferred keeps None and is reported, once: instructions that depend on it are not. Raises HloError
    where the module's objects do not hang together.
    """
    from hlotool.passes.verify import verify_objects

    if not is_sound(module) and (found := verify_objects(module, has_shapes=False)):
        raise HloError(found)
    return fill_shapes(module)


def fill_shapes(module: HloModule) -> list[Diagnostic]:
    """Do so in a module that was read just now."""
    problems: list[Diagnostic] = []
    for computation in callees_first(module):
        if all(i.shape is not None for i in computation.instructions):
            continue
        for instruction in post_order(computation):
            if instruction.shape is None and _is_ready(instruction):
                problem = _infer(module, instruction)
                if problem is not None:
                    problems.append(problem)
    return problems + list(_other_results(module))


def _other_results(module: HloModule) -> Iterator[Diagnostic]:
    """Yield what headers say otherwise of roots that have a shape only now."""
    for computation, declared, start, end in module.declared_results:
        shape = computation.root.shape
        if module.source is not None and shape is not None and not declared.agrees(shape):
            yield at(module.source, start, end, ROOT_SHAPE, other_result(computation, declared))
    module.declared_results.clear()


def _is_ready(instruction: HloInstruction) -> bool:
    return (all(o.shape is not None for o in instruction.operands)
            and all(c.root.shape is not None for c in instruction.called_computations()))


def _infer(module: HloModule, instruction: HloInstruction) -> Diagnostic | None:
    opcode = instruction.opcode
    record = OPS.get(opcode)
    if record is None:
        return report(module, instruction, NO_SHAPE,
                      f"the result shape of the unknown operation {opcode} must be written")
    try:
        instruction.shape = record.infer_instruction(instruction)
    except ConstraintError as error:
        code = NO_SHAPE if error.label == f"{opcode}-shape" else error.label
        return report(module, instruction, code, error.message, part=constraint_part(instruction, error),
                      help=f"write the result shape before {opcode}" if code == NO_SHAPE else error.help)
    return None
