"""All arguments there are, where they are few: a program whose elements each depend on at most 20 bits of arguments.

    average(u8[16], u8[16]), element by element      16 bits: the same program on 65,536 elements gets every pair
    f(bf16[])                                        16 bits: on 65,536 elements in place of one

Such a program is made longer, so that one run tries all of them. A program of a few bits in all is run on each of them,
whatever it computes.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

from hlotool.execution import Program
from hlotool.ir import HloInstruction, HloModule, Literal, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, Calls, Elements, flow_of, from_bits
from hlotool.passes.edit import clone_module

#: bits of arguments that an element may depend on, and instructions of the program
_MOST_BITS, _MOST_INSTRUCTIONS = 20, 200
#: bits of all arguments of a program that is run on each of them
_MOST_BITS_IN_ALL = 10


@dataclass(frozen=True)
class Enumeration:
    """Programs of longer arrays, and the arguments that hold every combination once."""

    programs: list[Program]
    arguments: list[Array]

    @property
    def count(self) -> int:
        """How many combinations there are."""
        return int(self.arguments[0].size)


def enumeration(programs: list[Program]) -> Enumeration | None:
    """Return the programs made longer; None where elements depend on each other, or on too much."""
    shapes = programs[0].parameters
    if not shapes or any(p.devices > 1 or p.partitioning != "none" for p in programs):
        return None
    if any(not s.is_array or s.dims != shapes[0].dims or s.dtype.is_complex for s in shapes):
        return None
    widths = [_width(s) for s in shapes]
    if sum(widths) > _MOST_BITS:
        return None
    longer = [_longer(p.module, shapes[0].dims, 1 << sum(widths)) for p in programs]
    if any(m is None for m in longer):
        return None
    numbers, arguments = np.arange(1 << sum(widths), dtype=np.uint64), []
    for shape, width in zip(shapes, widths, strict=True):
        arguments.append(from_bits(numbers & np.uint64((1 << width) - 1), shape.dtype.numpy))
        numbers = numbers >> np.uint64(width)
    return Enumeration([Program(m) for m in longer if m is not None], arguments)


def count_of_all(programs: list[Program]) -> int:
    """Return how many arguments there are for programs of one signature; 0 where they are too many to run each."""
    shapes = programs[0].parameters
    if not shapes or any(p.devices > 1 or p.partitioning != "none" for p in programs) or any(
            not s.is_array or s.dtype.is_complex for s in shapes):
        return 0
    if any(sum(1 for _ in p.module.instructions()) > _MOST_INSTRUCTIONS for p in programs):
        return 0
    bits = sum(_width(s) * s.size for s in shapes)
    return 1 << bits if 0 < bits <= _MOST_BITS_IN_ALL else 0


def every_argument(program: Program) -> Iterator[list[Array]]:
    """Yield all arguments there are, leaf by leaf."""
    shapes = program.parameters
    for number in range(count_of_all([program])):
        row, left = [], number
        for shape in shapes:
            width, size = _width(shape), math.prod(shape.dims)
            elements = [(left >> (width * n)) & ((1 << width) - 1) for n in range(size)]
            left >>= width * size
            row.append(from_bits(np.array(elements, np.uint64).reshape(shape.dims), shape.dtype.numpy))
        yield row


def _width(shape: Shape) -> int:
    """Bits of an element."""
    return 1 if shape.dtype.family == "pred" else shape.dtype.bits


def _longer(module: HloModule, dims: tuple[int, ...], count: int) -> HloModule | None:
    """A copy of a module in which arrays of those dimensions have `count` elements; None where that is another one."""
    instructions = list(module.instructions())
    if len(instructions) > _MOST_INSTRUCTIONS or not all(_is_each(i, dims) for i in instructions):
        return None
    copied = clone_module(module)
    copied.attributes = copied.attributes.without("entry_computation_layout")
    for instruction in copied.instructions():
        _lengthen(instruction, dims, count)
    return copied


def _is_each(instruction: HloInstruction, dims: tuple[int, ...]) -> bool:
    """Return True if each element of the result depends on the elements at its own place alone."""
    flow, shape = flow_of(instruction), instruction.shape
    if flow.packs:
        return True
    if not shape.is_array or shape.dims not in {dims, ()}:
        return False
    if instruction.opcode == "parameter":
        return shape.dims == dims
    if instruction.opcode == "constant":
        return shape.dims == () or _is_splat(instruction)
    if flow.elements is Elements.REPEATED:
        return instruction.operands[0].shape.dims == ()
    if flow.calls in (Calls.INLINE, Calls.FUSED) or flow.forwards:
        return True
    record = OPS.get(instruction.opcode)
    is_each = record is not None and ("elementwise" in record.flags or instruction.opcode in ("select", "clamp"))
    if flow.elements is Elements.RECAST:
        return instruction.operands[0].shape.dims == shape.dims
    return is_each and all(o.shape.dims == shape.dims for o in instruction.operands)


def _is_splat(constant: HloInstruction) -> bool:
    literal = constant.attributes.get("literal")
    array = getattr(literal, "array", None)
    return array is not None and array.size > 0 and bool((array == array.reshape(-1)[0]).all())


def _lengthen(instruction: HloInstruction, dims: tuple[int, ...], count: int) -> None:
    instruction.shape = _longer_shape(instruction.shape, dims, count)
    literal = instruction.attributes.get("literal")
    if isinstance(literal, Literal) and instruction.shape.is_array and instruction.shape.dims == (count,):
        one = literal.array.reshape(-1)[:1]
        longer = Literal(instruction.shape, np.broadcast_to(one, (count,)).copy())
        instruction.attributes = instruction.attributes | {"literal": longer}
    if flow_of(instruction).elements is Elements.REPEATED and not dims:
        instruction.attributes = instruction.attributes | {"dimensions": (0,)}


def _longer_shape(shape: Shape, dims: tuple[int, ...], count: int) -> Shape:
    if shape.is_tuple:
        return Shape.tuple(*(_longer_shape(e, dims, count) for e in shape.elements))
    return Shape.array(shape.element_type, (count,)) if shape.is_array and shape.dims == dims else shape
