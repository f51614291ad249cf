"""Traffic of fusions: what crosses their border; what is handed on inside stays in registers."""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir import HloInstruction
from hlotool.ops.costs import Cost, Inner

#: instructions that hand a value on, under another name or in another form, without reading all of it
_HANDED_ON = frozenset(("bitcast", "reshape", "get-tuple-element", "tuple", "copy", "convert"))
#: instructions that read of their first operand only what they give
_PARTIAL = frozenset(("slice", "dynamic-slice", "gather"))
#: instructions whose result is written over their first operand, but for what is updated
UPDATES = frozenset(("dynamic-update-slice", "scatter"))


def cost_of_fusion(instruction: HloInstruction, inner: Inner) -> Cost:
    """The arithmetic of what is fused; of an operand that is only sliced, the slices are read.

    A result that updates an operand in its place is written where it changes. Source: XLA,
    HloCostAnalysis::HandleFusion and FusionParameterReadBytes.
    """
    (computation,) = instruction.called_computations()
    users = computation.users()
    read = sum(_read(p, users) for p in computation.parameters()[:len(instruction.operands)])
    return inner(computation).work_only() + Cost(bytes_read=read,
                                                 bytes_written=sum(map(_written, computation.results())))


def _read(parameter: HloInstruction, users: dict[HloInstruction, list[HloInstruction]]) -> int:
    """Bytes of a parameter that the fusion reads: all of it, or what slices take, or nothing where it is updated."""
    full, found, seen = parameter.shape.nbytes, 0, {parameter}
    todo = [parameter]
    while todo:
        value = todo.pop()
        for user in users.get(value, ()):
            if user.opcode in _PARTIAL and user.operands[0] is value and value not in user.operands[1:]:
                found += user.shape.nbytes
            elif user.opcode in UPDATES and user.operands[0] is value and value not in user.operands[1:]:
                # it is the result's own place; what is combined with an update is read
                found += sum(u.shape.nbytes for u in _updates(user)) if user.opcode == "scatter" else 0
            elif user.opcode in _HANDED_ON:
                if user not in seen:
                    seen.add(user)
                    todo.append(user)
            else:
                return full
        if value not in users:
            return full  # it is a result as it is
    return min(full, found)


def _written(result: HloInstruction) -> int:
    """Bytes of a result that the fusion writes: all of it, or what changes in an operand that has its place."""
    value = result
    while value.opcode in ("bitcast", "convert") and value.operands:
        value = value.operands[0]
    if value.opcode in UPDATES and result.shape.is_array:
        bits = result.shape.nbytes * 8 // max(result.shape.size, 1)
        return sum(update.shape.size for update in _updates(value)) * bits // 8
    return result.shape.nbytes


def _updates(value: HloInstruction) -> Sequence[HloInstruction]:
    """Return the values that an update puts into its operand."""
    if value.opcode == "dynamic-update-slice":
        return value.operands[1:2]
    return value.operands[len(value.operands) // 2 + 1:]
