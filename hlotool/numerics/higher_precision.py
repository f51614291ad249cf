"""The shadow: a program at higher precision than it asks for, to tell what its own precision costs.

Every float is held as f64, every f64 as the machine's extended type (80 bits on x86-64; where it has no more than
f64, nor has the shadow), complex numbers likewise. Narrow intermediates are not rounded: f32 -> bf16 -> f32 leaves the
value alone. Rounded as the program asks are numbers that the program *names* in a type, as no compiler may do better:
constants, iota, integers converted to floats, and reduce-precision. What reads the bits of floats sees them in the
program's own type.

The same with floats of fewer than 32 bits held as f32, and all else as the program asks, is what compilers make of
narrow types that processors do not compute with: `HELD_AS_F32`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hlotool.execution import Observer, Program, evaluate_program, fed, leaves
from hlotool.ir import DTYPES, DType, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, rounded_once, with_flag

#: operations that compute in the program's own types: they name numbers of a type, draw random ones, or read bits
_OWN = with_flag("typed")


@dataclass(frozen=True)
class Holding:
    """Types that hold values in place of a program's own, and what computes with them."""

    #: the type that holds values of a type; itself where it holds its own
    type_for: Callable[[DType], DType]

    def widened(self, value: Any, shape: Shape) -> Any:
        """A value of that shape with its floats and complex numbers as they are held."""
        if shape.is_tuple:
            found = [self.widened(v, s) for v, s in zip(value, shape.elements, strict=True)]
            return tuple(found) if type(value) is tuple else value
        if shape.is_buffer:
            return self.widened(value, shape.elements[0])
        if not shape.is_array:
            return value
        array = np.asarray(value)
        with np.errstate(invalid="ignore"):  # some NaNs signal
            return array.astype(self.type_for(shape.dtype).numpy, copy=False) if self.holds(shape.dtype) else array

    def holds(self, kind: DType) -> bool:
        """Return True if values of a type are held in another one."""
        return self.type_for(kind) is not kind

    def _rounds(self, shape: Shape) -> bool:
        return shape.is_array and self.holds(shape.dtype)

    def rebinding(self, instruction: HloInstruction, function: Callable[..., Any],
                  keywords: dict[str, Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
        """The function that computes an instruction from held values of its operands."""
        opcode = instruction.opcode
        if not any(self._rounds(s) for o in (*instruction.operands, instruction) for s in leaves(o.shape)):
            return function, keywords
        if opcode in _OWN or opcode not in OPS:
            return self._in_own_types(instruction, function), keywords
        if opcode == "convert":
            return self._converting(instruction, function), keywords
        if opcode == "reduce-precision":
            return self._reducing(instruction, function), keywords
        shape = keywords.get("shape")
        if shape is not None and self._rounds(shape):
            keywords = keywords | {"shape": WideShape(shape, self.type_for(shape.dtype))}
        return self._attempted(instruction, function), keywords

    def _in_own_types(self, instruction: HloInstruction, function: Callable[..., Any]) -> Callable[..., Any]:
        shapes = [o.shape for o in instruction.operands]

        def call(*values: Any, **keywords: Any) -> Any:
            if isinstance(keywords.get("shape"), WideShape):
                keywords = keywords | {"shape": instruction.shape}
            return self.widened(function(*map(own, values, shapes), **keywords), instruction.shape)

        return call

    def _converting(self, instruction: HloInstruction, function: Callable[..., Any]) -> Callable[..., Any]:
        source, target = instruction.operands[0].shape, instruction.shape
        if not is_real(target):
            return function  # truncates what is held
        if not is_real(source):
            return self._in_own_types(instruction, function)
        kind = self.type_for(target.dtype).numpy

        def call(value: Array, **_: Any) -> Array:
            part = value.real if source.dtype.is_complex and not target.dtype.is_complex else value
            return part.astype(kind)

        return call

    def _reducing(self, instruction: HloInstruction, function: Callable[..., Any]) -> Callable[..., Any]:
        """reduce-precision is asked for by name, so that what holds more rounds too; from what it holds."""
        def call(value: Array, **keywords: Any) -> Array:
            held = value if value.dtype.char in "df" else own(value, instruction.shape)
            found: Array = self.widened(function(held, **keywords), instruction.shape)
            return found

        return call

    def _attempted(self, instruction: HloInstruction, function: Callable[..., Any]) -> Callable[..., Any]:
        """The function on held values; one that cannot take them (it looks at bits, say) gets its own types."""
        narrow = self._in_own_types(instruction, function)
        is_held = True

        def call(*values: Any, **keywords: Any) -> Any:
            nonlocal is_held
            if is_held:
                try:
                    return self.widened(function(*values, **keywords), instruction.shape)
                except (TypeError, ValueError, KeyError, AttributeError):
                    is_held = False
            return narrow(*values, **keywords)

        return call


class WideShape:
    """A shape whose elements have another type, which holds them: what functions that ask for `shape` get."""

    def __init__(self, shape: Shape, dtype: DType) -> None:
        self._shape, self.dtype = shape, dtype
        self.element_type = shape.element_type if shape.dtype.bits == 64 else dtype.name

    def __getattr__(self, name: str) -> Any:
        return getattr(self._shape, name)


def own(value: Any, shape: Shape) -> Any:
    """A held value rounded to the types of a shape."""
    if shape.is_tuple:
        return tuple(own(v, s) for v, s in zip(value, shape.elements, strict=True))
    if shape.is_buffer:
        return own(value, shape.elements[0])
    if not shape.is_array:
        return value
    with np.errstate(all="ignore"):
        return rounded_once(np.asarray(value), shape.dtype.numpy)


def is_real(shape: Shape) -> bool:
    """Return True if a shape is an array of floats or complex numbers."""
    return shape.is_array and (shape.dtype.is_floating or shape.dtype.is_complex)


@functools.cache
def wide_kind(kind: DType) -> DType:
    """The element type of the shadow; beyond f64 one that no text can name."""
    if kind.is_complex:
        return DTYPES["c128"] if kind.bits == 64 else replace(kind, numpy_name="clongdouble")
    if not kind.is_floating:
        return kind
    return DTYPES["f64"] if kind.bits < 64 else replace(kind, numpy_name="longdouble")


def _at_least_f32(kind: DType) -> DType:
    return DTYPES["f32"] if kind.is_floating and kind.bits < 32 else kind


#: the shadow's types
HELD_WIDER = Holding(wide_kind)
#: narrow floats without their roundings
HELD_AS_F32 = Holding(_at_least_f32)
widened, shadow_rebinding = HELD_WIDER.widened, HELD_WIDER.rebinding


def shadow_program(program: Program, arguments: Sequence[Sequence[Array]], observer: Observer | None = None,
                   infeed: Sequence[Sequence[Array]] = ()) -> list[list[Array]]:
    """The results of every device at higher precision: floats as f64 or wider, the rest in its own type.

    `infeed` is what the host hands to each device.
    """
    given = [[widened(a, s) for a, s in zip(row, program.parameters, strict=True)] for row in arguments]
    return evaluate_program(program, given, observer, fed(infeed), rebind=shadow_rebinding, rebinds_alike=True)
