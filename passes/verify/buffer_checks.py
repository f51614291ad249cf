"""Verification of buffers: memory that custom calls pin, write and unpin."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from hlotool.diagnostics import Diagnostic
from hlotool.ir import Aliasing, HloComputation, HloInstruction, HloModule, Shape
from hlotool.ops import opcodes
from hlotool.passes.codes import BUFFER_ALIASING, BUFFER_PLACE, BUFFER_WRITERS, PIN
from hlotool.passes.contents import Contents
from hlotool.passes.instruction_findings import report
from hlotool.passes.verify.async_checks import step_of

#: operations that give the buffers of their operands as they are
_FORWARDING = opcodes(lambda flow: flow.packs) | {"opt-barrier"}
_WRITERS = opcodes(lambda flow: flow.enters and flow.step is None) | {"custom-call", "dynamic-update-slice"}
#: operations that buffers pass through
_CARRIERS = _FORWARDING | _WRITERS | {"parameter"}


def verify_buffers(module: HloModule, contents: Contents) -> Iterator[Diagnostic]:
    """Report faults of buffers. Source: XLA, hlo_verifier.cc, VerifyBuffers."""
    held = set(filter(_holds, contents.shapes))
    calling = set() if held else {i for i in contents.of(("custom-call",))
                                  if i.attributes.get("custom_call_target") in _RULES}
    if not held and not calling:
        return
    for computation in module.computations:
        has_buffers = False
        for instruction in computation.instructions if held else filter(calling.__contains__, computation.instructions):
            target = instruction.attributes.get("custom_call_target") if instruction.attributes else None
            touched = (instruction.shape, *(o.shape for o in instruction.operands))
            if instruction.shape is None or not (target in _RULES or not held.isdisjoint(touched)):
                continue
            has_buffers = True
            yield from _instruction(module, computation, instruction, str(target))
        if has_buffers:
            yield from _writers(module, computation)


def _holds(shape: Shape | None) -> bool:
    return shape is not None and (shape.is_buffer or any(map(_holds, shape.elements)))


def _instruction(module: HloModule, computation: HloComputation, instruction: HloInstruction,
                 target: str) -> Iterator[Diagnostic]:
    if instruction.opcode == "custom-call":
        rule = _RULES.get(target)
        message = rule(instruction) if rule else _aliased(instruction)
        if message:
            yield report(module, instruction, PIN if rule else BUFFER_ALIASING, message)
    elif instruction.opcode == "parameter" and computation is module.entry:
        yield report(module, instruction, BUFFER_PLACE, "a parameter of the entry computation is no buffer")
    elif instruction.opcode not in _CARRIERS and not step_of(instruction.opcode)[1]:
        if not any(o.opcode == "parameter" and computation is module.entry for o in instruction.operands):
            yield report(module, instruction, BUFFER_PLACE, f"{instruction.opcode} takes values, not buffers")
    elif instruction.opcode == "dynamic-update-slice" and any(_holds(o.shape) for o in instruction.operands[1:]):
        yield report(module, instruction, BUFFER_PLACE, "only the first operand may be a buffer")


def _pairs(instruction: HloInstruction) -> list[Aliasing]:
    pairs = instruction.attributes.get("output_to_operand_aliasing") or ()
    return [p for p in pairs if isinstance(p, Aliasing)]


def _same(shape: Shape, other: Shape) -> bool:
    """Return True if two shapes are equal but for layouts; which sizes are bounds is compared, too."""
    return shape.compatible(other) and shape.dynamic == other.dynamic


def _pin(instruction: HloInstruction) -> str:
    given, shape = [o.shape for o in instruction.operands], instruction.shape
    if len(given) != 1 or not given[0].is_array:
        return f"Pin takes one array, {', '.join(s.text(False) for s in given) or 'nothing'} is given"
    if not shape.is_buffer or not _same(shape.elements[0], given[0]):
        return f"Pin gives {shape.text(False)}; it must be b({given[0].text(False)})"
    return "" if len(_pairs(instruction)) == 1 else "Pin needs one pair in output_to_operand_aliasing"


def _unpin(instruction: HloInstruction) -> str:
    given, shape = [o.shape for o in instruction.operands], instruction.shape
    if len(given) != 1 or not given[0].is_buffer:
        return f"Unpin takes one buffer, {', '.join(s.text(False) for s in given) or 'nothing'} is given"
    if not shape.is_array or not _same(shape, given[0].elements[0]):
        return f"Unpin gives {shape.text(False)}; it must be {given[0].elements[0].text(False)}"
    return "" if len(_pairs(instruction)) == 1 else "Unpin needs one pair in output_to_operand_aliasing"


def _create(instruction: HloInstruction) -> str:
    if instruction.operands or not instruction.shape.is_buffer:
        return (f"CreateBuffer takes {len(instruction.operands)} operands and gives {instruction.shape.text(False)}; "
                "it takes none and gives a buffer")
    return ""


_RULES = {"Pin": _pin, "Unpin": _unpin, "CreateBuffer": _create}


def _aliased(instruction: HloInstruction) -> str:
    """Every buffer that goes in or comes out is in exactly one pair."""
    pairs = _pairs(instruction)
    for number, operand in enumerate(instruction.operands):
        for index, leaf in operand.shape.leaves():
            found = sum(p.parameter == number and p.parameter_index == index for p in pairs)
            if leaf.is_buffer and found != 1:
                return f"the buffer in operand {number} is in {found} pairs of output_to_operand_aliasing, not in one"
    for index, leaf in instruction.shape.leaves():
        found = sum(p.output_index == index for p in pairs)
        if leaf.is_buffer and found != 1:
            return f"the buffer in the result is in {found} pairs of output_to_operand_aliasing, not in one"
    return ""


def _writers(module: HloModule, computation: HloComputation) -> Iterator[Diagnostic]:
    """Report buffers that more than one user may write; tuples only forward them."""
    users = computation.users()
    for instruction in computation.instructions:
        if instruction.opcode in _FORWARDING or not _holds(instruction.shape):
            continue
        for index, leaf in instruction.shape.leaves():
            writers = _writers_of(instruction, index, users) if leaf.is_buffer else []
            if len(writers) > 1:
                place = f" (its element {','.join(map(str, index))})" if index else ""
                yield report(module, writers[1], BUFFER_WRITERS,
                             f"{writers[0].name} writes the buffer {instruction.name}{place} already")


def _writers_of(giver: HloInstruction, index: tuple[int, ...],
                users: Mapping[HloInstruction, Sequence[HloInstruction]]) -> list[HloInstruction]:
    """Return the instructions that may write the buffer at an index of what an instruction gives, in order."""
    found: dict[HloInstruction, None] = {}
    seen, waiting = {(giver, index)}, [(giver, index)]
    while waiting:
        held, at = waiting.pop()
        for user in users.get(held, ()):
            places: list[tuple[int, ...]] = []
            if user.opcode == "tuple":
                places = [(i, *at) for i, operand in enumerate(user.operands) if operand is held]
            elif user.opcode == "get-tuple-element":
                places = [at[1:]] if at and at[0] == user.attributes.get("index") else []
            elif user.opcode == "opt-barrier":
                places = [at]
            elif user.opcode in _WRITERS:
                found[user] = None
            new = [(user, place) for place in places if (user, place) not in seen]
            seen.update(new)
            waiting += new
    return sorted(found, key=lambda writer: writer.offset)
