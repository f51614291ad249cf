"""Sizes that a program sets at run time and its types do not say: HLO's shapes have to.

    %0 = "stablehlo.set_dimension_size"(%x, %n) : (tensor<4xf32>, tensor<i32>) -> tensor<4xf32>   ->   f32[<=4]
    %1 = stablehlo.negate %0 : tensor<4xf32>                                                      ->   f32[<=4]

Source: XLA, which infers the shapes of what it imports from those of the operands.
"""

from __future__ import annotations

from collections.abc import Iterable

from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.ops import OPS, ConstraintError

_SETS = "set-dimension-size"
_SIZE = Shape.array("s32")


def say_sizes(computations: Iterable[HloComputation]) -> None:
    """Write the sizes that set-dimension-size gives into its shape, and into those of what is computed from it."""
    for computation in _with_unsaid_sizes(computations):
        _say(computation)


def changed_shapes(computations: Iterable[HloComputation]) -> dict[HloInstruction, Shape]:
    """The instructions whose shapes `say_sizes` would change, with what they would become; nothing is changed."""
    unsaid = _with_unsaid_sizes(computations)
    before = {i: i.shape for c in unsaid for i in c.instructions}
    try:
        for computation in unsaid:
            _say(computation)
        return {i: i.shape for i, shape in before.items() if i.shape != shape}
    finally:
        for instruction, shape in before.items():
            instruction.shape = shape


def _with_unsaid_sizes(computations: Iterable[HloComputation]) -> list[HloComputation]:
    return [c for c in computations if any(i.opcode == _SETS and _is_unsaid(i) for i in c.instructions)]


def _is_unsaid(instruction: HloInstruction) -> bool:
    """Return True if set-dimension-size sets a size that its shape denies: no constant, or another than the shape's.

    A shape that tells other sizes than the operand's does say something, and stays.
    """
    if len(instruction.operands) != 2 or instruction.operands[1].shape != _SIZE:
        return False
    (at,) = instruction.attributes["dimensions"]
    literal = instruction.operands[1].attributes.get("literal")
    shape = instruction.shape
    return 0 <= at < shape.rank and not shape.is_dynamic_dim(at) and shape == instruction.operands[0].shape and (
        literal is None or literal.whole_number != shape.dims[at])


def _say(computation: HloComputation) -> None:
    for instruction in computation.instructions:
        shape = instruction.shape
        if instruction.opcode == _SETS and _is_unsaid(instruction):
            (at,) = instruction.attributes["dimensions"]
            flags = [shape.is_dynamic_dim(d) for d in range(shape.rank)]
            flags[at] = True
            instruction.shape = shape.with_dims(shape.dims, tuple(flags))
        elif any(o.shape.is_array and any(o.shape.dynamic) for o in instruction.operands):
            found = _inferred(instruction)
            if found.is_array and shape.is_array and found.dims == shape.dims:
                instruction.shape = found


def _inferred(instruction: HloInstruction) -> Shape:
    """The shape by the operation's rule; what is written where the rule refuses it: verification tells why."""
    try:
        return OPS[instruction.opcode].infer_instruction(instruction)
    except (ConstraintError, KeyError):
        return instruction.shape
