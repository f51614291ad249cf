"""In which type's last places operations on narrow floats are off.

Floats of fewer than 32 bits are computed in a wider type and rounded once, so that only its last places are open:
f32's, or f16's where a type has 8 bits or fewer and no wider range. Three things round in the narrow type itself more
often than the program does, by one rounding or two:

    expanded functions   compilers write `logistic`, `asin` and others out as several operations of their own type
    quotients, powers    x / y is taken as x * (1 / y) or x * rsqrt(z), a power as a product, by rules that come before
                         any type is widened
    f16, bf16            processors compute with them: sums and products are fused, distributed and reassociated as
                         f32's are, wherever there are two of them; one alone is rounded once

A conversion rounds once, whatever stands beside it; but where its operand is computed in f32 of numbers of its own
narrow type, the two are that type's operation, written out as compilers write it.
"""

from __future__ import annotations

from typing import NamedTuple

from hlotool.ir import DTYPES, DType, HloInstruction, HloModule
from hlotool.numerics.ulps import LEAST_ULPS
from hlotool.ops import Freedom, freedom_of, is_a, rounded_once, source_of

#: operations that are rewritten in the narrow type, whatever stands beside them
_REWRITTEN = frozenset({"divide", "power"})
#: narrow types that processors compute with
_NATIVE = frozenset({"f16", "bf16"})
#: bits of the types that are computed in f16, and how many of its last places an operation is off at most
_MOST_BITS_IN_F16, _MOST_ULPS_IN_F16 = 8, 4.0


class LastPlaces(NamedTuple):
    """How far an operation may be off, before its result is rounded to its own type."""

    #: the type in whose last places it is off
    unit: DType
    ulps: float
    #: it is off where its result needs no rounding, too: what is multiplied with a reciprocal is
    is_everywhere: bool = False
    #: it is not off where `unit` holds its result: IEEE 754 defines it
    is_rounded_once: bool = False


class NarrowSteps:
    """Facts about a module's operations on narrow floats."""

    def __init__(self, module: HloModule) -> None:
        instructions = list(module.instructions())
        native = [i for i in instructions if _rounds(i) and i.shape.dtype.name in _NATIVE]
        self._written_out = {id(i) for i in instructions if _is_written_out(i)}
        self._is_alone = len(native) + len(self._written_out) < 2

    def is_native(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction is one of several operations that round to a type that processors compute with.

        So is the conversion at the end of one that is written out:

            wide = f32 convert(bf16 x)   product = f32 multiply(wide, wide)   narrow = bf16 convert(product)
        """
        is_narrow = id(instruction) in self._written_out or (_rounds(instruction)
                                                             and instruction.shape.dtype.name in _NATIVE)
        return is_narrow and not self._is_alone

    def places(self, instruction: HloInstruction, ulps: float) -> LastPlaces:
        """How far an operation on narrow floats may be off."""
        kind, freedom = instruction.shape.dtype, freedom_of(instruction)
        is_rewritten = instruction.opcode in _REWRITTEN or freedom is Freedom.EXPANDED
        if is_rewritten or self.is_native(instruction):
            return LastPlaces(kind, LEAST_ULPS, is_everywhere=is_rewritten)
        return wide_places(kind, ulps)._replace(is_rounded_once=freedom is Freedom.IEEE)


def wide_places(kind: DType, ulps: float) -> LastPlaces:
    """How far an operation may be off in the type in which compilers compute a narrow one."""
    f16 = DTYPES["f16"]
    if kind.bits <= _MOST_BITS_IN_F16 and kind.exponent_bits <= f16.exponent_bits:
        return LastPlaces(f16, min(ulps, _MOST_ULPS_IN_F16))
    return LastPlaces(DTYPES["f32"], ulps)


def _rounds(instruction: HloInstruction) -> bool:
    """Return True if an operation rounds and is no conversion; complex numbers, rounded by size, are never narrow."""
    return (instruction.shape.is_array and is_a(instruction, "elementwise") and freedom_of(instruction).rounds
            and instruction.opcode != "abs")


def _is_written_out(conversion: HloInstruction) -> bool:
    kind = conversion.shape.dtype if conversion.opcode == "convert" and conversion.shape.is_array else None
    if kind is None or kind.name not in _NATIVE:
        return False
    computed = _source(conversion.operands[0])
    return (_rounds(computed) and computed.shape.dtype.name == "f32"
            and all(_holds(operand, kind) for operand in map(_source, computed.operands)))


def _holds(value: HloInstruction, kind: DType) -> bool:
    """Return True if a value has been converted from a type, or is a constant of numbers of it."""
    if value.opcode == "constant" and value.shape.is_array:
        return bool((rounded_once(value.literal.array, kind.numpy).astype("f4") == value.literal.array).all())
    return value.opcode == "convert" and value.operands[0].shape.dtype is kind


def _source(value: HloInstruction) -> HloInstruction:
    return source_of(value, lambda flow: flow.repeats)
