"""Over which operands the result of an instruction may be written, where nobody reads them later.

Source: XLA, HloDataflowAnalysis::CanShareOperandBufferWithUser.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from hlotool.ir import Aliasing, HloComputation, HloInstruction, Shape, post_order
from hlotool.ops import OPS, UPDATES, flow_of, is_a

#: bitcasts in a row that are looked through
_LONGEST_CHAIN = 1_000


def overwritten(instruction: HloInstruction) -> Sequence[HloInstruction]:
    """Operands over which a result may be written."""
    flow = flow_of(instruction)
    if flow.updates is not None:
        return instruction.operands[slice(*flow.updates)]
    if is_a(instruction, "elementwise") and not flow.forwards:
        return [o for o in instruction.operands if _is_alike(o.shape, instruction.shape)]
    if instruction.opcode != "fusion":
        return ()
    (called,) = instruction.called_computations() or (None,)
    if called is None:
        return ()
    passed = _passed_through(called)
    made = [shape for _, shape in instruction.shape.leaves()]
    return [o for p, o in zip(called.parameters(), instruction.operands, strict=False)
            if p in passed and any(_is_alike(o.shape, shape) for shape in made)]


def updated_in_place(instruction: HloInstruction) -> Iterator[Aliasing]:
    """Operands that compilers update where they lie, and the parts of the result that these become.

    Source: XLA, HloDataflowAnalysis::GetInPlaceInputOutputPairs.
    """
    if instruction.opcode in UPDATES:
        if not instruction.shape.is_tuple:
            yield Aliasing((), 0)
        for number in range(len(instruction.shape.elements)):  # a scatter into several arrays
            yield Aliasing((number,), number)
    if instruction.opcode != "fusion":
        return
    for called in instruction.called_computations():
        is_tuple = called.root.opcode == "tuple"
        for number, made in enumerate(called.results()):
            update = _behind_bitcasts(made)
            given = _behind_bitcasts(update.operands[0]) if update.opcode in UPDATES and update.operands else None
            if given is not None and given.opcode == "parameter":
                yield Aliasing((number,) if is_tuple else (), given.parameter_number)


def _behind_bitcasts(instruction: HloInstruction) -> HloInstruction:
    for _ in range(_LONGEST_CHAIN):  # a module that is not valid may have circles
        if instruction.opcode != "bitcast" or not instruction.operands:
            break
        instruction = instruction.operands[0]
    return instruction


def _is_alike(one: Shape, other: Shape) -> bool:
    """Return True if elements of both are of one type and lie in one order."""
    return one is other or (one.element_type == other.element_type and one.dims == other.dims
                            and one.minor_to_major == other.minor_to_major)


def _passed_through(computation: HloComputation) -> set[HloInstruction]:
    """Parameters of which a fusion reads an element only where it writes the result's element of that place."""
    elementwise: set[HloInstruction] = set()
    other: set[HloInstruction] = set()
    elementwise.update(computation.results())
    for instruction in reversed(post_order(computation)):
        record = OPS.get(instruction.opcode)
        is_plain = record is not None and "elementwise" in record.flags
        for place, operand in enumerate(instruction.operands):
            keeps = is_plain and operand.shape.dims == instruction.shape.dims
            keeps = keeps or instruction.opcode == "bitcast"
            keeps = keeps or (flow_of(instruction).updates is not None and place == 0)
            if instruction in elementwise and instruction not in other and keeps:
                elementwise.add(operand)
            elif instruction is not computation.root or instruction.opcode != "tuple":
                other.add(operand)
    return {p for p in computation.parameters() if p in elementwise and p not in other}
