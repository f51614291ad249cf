"""Scalars beside the arrays of a collective, by which some frameworks order their collectives, are taken off it.

    zero = f32[] constant(0)                             zero = f32[] constant(0)
    ROOT g = (f32[8], f32[]) all-gather(a, zero),   ->   g.arrays = f32[8] all-gather(a), dimensions={0}, ...
        dimensions={0}, ...                              ROOT g = (f32[8], f32[]) tuple(g.arrays, zero)

A scalar has no dimension to gather or scatter, so XLA's own compilers refuse such a call, and the vendors' that take it
do not say what the result is. It is rewritten where that does not matter: every reading gives zero for zeros, and
nobody sees a result that is not used.
"""

from __future__ import annotations

from hlotool.ir import Attributes, HloInstruction, Shape
from hlotool.ir.arrays import np
from hlotool.ops import Elements, opcodes
from hlotool.passes.edit import ComputationEditor
from hlotool.passes.legalize.legacy_rules import MISFIT, Inexact, on_opcode

#: operations that give zeros of zeros
_ZERO_KEEPING = opcodes(lambda flow: flow.step is None and (flow.keeps or flow.elements is Elements.PICKED))


def _has_token(instruction: HloInstruction) -> bool:
    """Return True if an array is beside a scalar, and so are the results."""
    operands, shape = instruction.operands, instruction.shape
    return (len(operands) > 1 and shape.is_tuple and len(shape.elements) == len(operands)
            and any(o.shape.is_scalar for o in operands) and not all(o.shape.is_scalar for o in operands)
            and all(r.compatible(o.shape) for o, r in zip(operands, shape.elements, strict=True) if o.shape.is_scalar))


@on_opcode("all-gather", "reduce-scatter", when=_has_token)
def scalar_beside_arrays(edit: ComputationEditor, instruction: HloInstruction) -> None:
    """The collective of the arrays alone, and zeros where the scalars were."""
    operands, shape = instruction.operands, instruction.shape
    tokens = [n for n, o in enumerate(operands) if o.shape.is_scalar]
    for n in tokens:
        if not _is_zero(operands[n]) and _is_used(edit, instruction, n):
            raise Inexact(MISFIT, f"operand {n} is a scalar, which has no dimension to {_VERBS[instruction.opcode]}; "
                          f"it is not known to be zero, and its result is used")
    rest = [n for n in range(len(operands)) if n not in tokens]
    results = [shape.elements[n] for n in rest]
    whole = Shape.tuple(*results) if len(rest) > 1 else results[0]
    # Whoever reads the tuple keeps its name; what was said about the whole does not fit the part.
    attributes = Attributes(instruction.attributes).without("sharding")
    made = edit.add(instruction.opcode, whole, tuple(operands[n] for n in rest), attributes, like=instruction)
    parts = [edit.element(made, n, like=instruction) for n in range(len(rest))] if len(rest) > 1 else [made]
    found = dict(zip(rest, parts, strict=True))
    for n in tokens:
        found[n] = operands[n] if _is_zero(operands[n]) else _zero(edit, operands[n].shape, instruction)
    order = {n: v for n, v in instruction.attributes.items() if n in ("control-predecessors", "sharding")}
    edit.become(instruction, "tuple", tuple(found[n] for n in range(len(operands))), order)


_VERBS = {"all-gather": "gather along", "reduce-scatter": "scatter along"}


def _zero(edit: ComputationEditor, shape: Shape, like: HloInstruction) -> HloInstruction:
    return edit.constant(np.zeros((), shape.dtype.numpy), like=like)


def _is_zero(value: HloInstruction) -> bool:
    """Return True if a scalar is provably zero; a product with zero counts as zero, as for its writers."""
    left = [value]
    for _ in range(64):
        if not left:
            return False
        one = left.pop()
        if one.opcode == "get-tuple-element" and one.operands and one.operands[0].opcode == "tuple":
            left.append(one.operands[0].operands[one.attributes["index"]])
        elif one.opcode in _ZERO_KEEPING and one.operands:
            left.append(one.operands[0])
        elif one.opcode == "multiply":
            left.extend(one.operands)
        elif one.opcode == "constant":
            literal = one.attributes.get("literal")
            if literal is not None and not literal.has_elided and not literal.array.any():
                return True
    return False


def _is_used(edit: ComputationEditor, instruction: HloInstruction, number: int) -> bool:
    """Return True if anything reads one result."""
    if instruction is edit.computation.root:
        return True
    readers = edit.computation.users()
    for user in readers.get(instruction, ()):
        if user.opcode != "get-tuple-element":
            return True
        if user.attributes["index"] == number and (user is edit.computation.root or readers.get(user)):
            return True
    return False
