"""Over which operands the result of an instruction may be written, where nobody reads them later.

Source: XLA, HloDataflowAnalysis::CanShareOperandBufferWithUser.
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir import HloComputation, HloInstruction, post_order
from hlotool.ops import OPS

#: operations whose result takes their first operand's place where nobody reads that later
_IN_PLACE = frozenset(("dynamic-update-slice", "scatter", "sort", "all-reduce", "triangular-solve", "cholesky"))


def overwritten(instruction: HloInstruction) -> Sequence[HloInstruction]:
    """Operands over which a result may be written."""
    if instruction.opcode == "sort":
        return instruction.operands
    if instruction.opcode in _IN_PLACE:
        return instruction.operands[:1] if instruction.opcode != "triangular-solve" else instruction.operands[1:]
    record = OPS.get(instruction.opcode)
    if record is not None and "elementwise" in record.flags and "identity" not in record.flags:
        return [o for o in instruction.operands if o.shape.dims == instruction.shape.dims]
    if instruction.opcode != "fusion":
        return ()
    (called,) = instruction.called_computations() or (None,)
    if called is None:
        return ()
    passed = _passed_through(called)
    return [o for p, o in zip(called.parameters(), instruction.operands, strict=False) if p in passed]


def _passed_through(computation: HloComputation) -> set[HloInstruction]:
    """Parameters of which a fusion reads an element only where it writes the result's element of that place."""
    elementwise: set[HloInstruction] = set()
    other: set[HloInstruction] = set()
    roots = computation.root.operands if computation.root.opcode == "tuple" else (computation.root,)
    elementwise.update(roots)
    for instruction in reversed(post_order(computation)):
        record = OPS.get(instruction.opcode)
        is_plain = record is not None and "elementwise" in record.flags
        for place, operand in enumerate(instruction.operands):
            keeps = is_plain and operand.shape.dims == instruction.shape.dims
            keeps = keeps or instruction.opcode == "bitcast"
            keeps = keeps or (instruction.opcode in _IN_PLACE and place == 0)
            if instruction in elementwise and instruction not in other and keeps:
                elementwise.add(operand)
            elif instruction is not computation.root or instruction.opcode != "tuple":
                other.add(operand)
    return {p for p in computation.parameters() if p in elementwise and p not in other}
