"""scan as a loop that StableHLO has: a while over a counter, the inputs, the outputs and the carries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import Attributes, HloComputation, HloInstruction, Literal, Shape
from hlotool.ir.arrays import np
from hlotool.ops.lowering import Emitter, Value

_INDEX = Shape.array("s64")


class _Builder:
    """A computation in the making: one parameter for each shape."""

    def __init__(self, name: str, shapes: Sequence[Shape]) -> None:
        self.computation = HloComputation(name)
        self.parameters = [self.add("parameter", s, (), parameter_number=i) for i, s in enumerate(shapes)]

    def add(self, opcode: str, shape: Shape, operands: Sequence[HloInstruction] = (), **attributes: Any
            ) -> HloInstruction:
        made = HloInstruction(f"{opcode}.{len(self.computation.instructions)}", opcode, shape, tuple(operands),
                              Attributes(attributes))
        self.computation.instructions.append(made)
        self.computation.root = made
        return made

    def number(self, value: int) -> HloInstruction:
        array = np.asarray(value, np.int64)
        return self.add("constant", _INDEX, literal=Literal(_INDEX, array))


def emit_loop(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """The while loop that means a scan, and from its results those of the scan."""
    attributes, shape = instruction.attributes, instruction.shape
    members = shape.members
    carries: int = attributes.get("num_carries", 0)
    axis: int = attributes["dimensions"][0]
    inputs = [o.shape for o in instruction.operands[:len(operands) - carries]]
    outputs = members[:len(members) - carries]
    length = (inputs or outputs)[0].dims[axis]
    shapes = [_INDEX, *inputs, *outputs, *members[len(outputs):]]
    if not length:
        # Nothing is walked, and a slice of nothing is no StableHLO.
        empty = [e.constant(np.zeros(o.dims, o.dtype.numpy), o.without_layout()) for o in outputs]
        found = (*empty, *operands[len(inputs):])
        return found if shape.is_tuple else found[0]
    condition = _condition(f"{instruction.name}.condition", shapes, length)
    body = _body(instruction, shapes, len(inputs), len(outputs), axis, length)
    start = [e.constant(np.asarray(0, np.int64), _INDEX), *operands[:len(inputs)],
             *(e.constant(np.zeros(o.dims, o.dtype.numpy), o) for o in outputs), *operands[len(inputs):]]
    walked = e.op("stablehlo.while", start, Shape.tuple(*shapes), {}, [e.region(condition), e.region(body)])
    results = tuple(walked[1 + len(inputs):])
    return results if shape.is_tuple else results[0]


def _condition(name: str, shapes: Sequence[Shape], length: int) -> HloComputation:
    b = _Builder(name, shapes)
    b.add("compare", Shape.array("pred"), (b.parameters[0], b.number(length)), direction="LT")
    return b.computation


def _body(instruction: HloInstruction, shapes: Sequence[Shape], n_in: int, n_out: int, axis: int, length: int
          ) -> HloComputation:
    to_apply: HloComputation = instruction.attributes["to_apply"]
    b = _Builder(f"{instruction.name}.body", shapes)
    step = b.parameters[0]
    at = step
    if instruction.attributes.get("is_reverse", False):
        at = b.add("subtract", _INDEX, (b.number(length - 1), step))
    zero = b.number(0)

    def indices(rank: int) -> list[HloInstruction]:
        return [at if d == axis else zero for d in range(rank)]

    arguments = []
    for parameter, slot in zip(b.parameters[1:1 + n_in], to_apply.parameters(), strict=False):
        dims = parameter.shape.dims
        sizes = tuple(1 if d == axis else n for d, n in enumerate(dims))
        piece = b.add("dynamic-slice", parameter.shape.with_dims(sizes), (parameter, *indices(len(dims))),
                      dynamic_slice_sizes=sizes)
        arguments.append(b.add("reshape", slot.shape.without_layout(), (piece,)))
    # A fusion is written where it stands, so that the loop's body holds the step and no call.
    root = to_apply.root.shape
    stepped = b.add("fusion", root, (*arguments, *b.parameters[1 + n_in + n_out:]), kind="kLoop", calls=to_apply)
    found = ([b.add("get-tuple-element", s, (stepped,), index=i) for i, s in enumerate(root.elements)]
             if root.is_tuple else [stepped])
    written = []
    for parameter, value in zip(b.parameters[1 + n_in:1 + n_in + n_out], found, strict=False):
        dims = parameter.shape.dims
        piece = b.add("reshape", parameter.shape.with_dims(tuple(1 if d == axis else n for d, n in enumerate(dims))),
                      (value,))
        written.append(b.add("dynamic-update-slice", parameter.shape, (parameter, piece, *indices(len(dims)))))
    after = b.add("add", _INDEX, (step, b.number(1)))
    members = [after, *b.parameters[1:1 + n_in], *written, *found[n_out:]]
    b.add("tuple", Shape.tuple(*(m.shape for m in members)), members)
    return b.computation
