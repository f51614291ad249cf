"""In which type's last places operations on narrow floats are off.

Floats of fewer than 32 bits are computed as f32 and rounded once, so that only f32's last places are open. Three things
round in the narrow type itself more often than the program does, by one rounding or two:

    expanded functions   compilers write `logistic`, `asin` and others out as several operations of their own type
    quotients, powers    x / y is taken as x * (1 / y) or x * rsqrt(z), a power as a product, by rules that come before
                         any type is widened
    f16, bf16            processors compute with them: sums and products are fused, distributed and reassociated as
                         f32's are, wherever there are two of them; one alone is rounded once

A conversion rounds once, whatever stands beside it.
"""

from __future__ import annotations

from hlotool.ir import DTYPES, DType, HloInstruction, HloModule
from hlotool.numerics.ulps import LEAST_ULPS
from hlotool.ops import Freedom, freedom_of, is_a

#: operations that are rewritten in the narrow type, whatever stands beside them
_REWRITTEN = frozenset({"divide", "power"})
#: narrow types that processors compute with
_NATIVE = frozenset({"f16", "bf16"})


class NarrowSteps:
    """Facts about a module's operations on narrow floats."""

    def __init__(self, module: HloModule) -> None:
        count = sum(1 for i in module.instructions() if _rounds(i) and i.shape.dtype.name in _NATIVE)
        self._is_alone = count < 2

    def places(self, instruction: HloInstruction, ulps: float) -> tuple[DType, float, bool]:
        """The type in whose last places an operation on narrow floats is off, and by how many.

        And whether it is off where its result needs no rounding, too: what is multiplied with a reciprocal is.
        """
        kind = instruction.shape.dtype
        is_rewritten = instruction.opcode in _REWRITTEN or freedom_of(instruction) is Freedom.EXPANDED
        is_native = kind.name in _NATIVE and not self._is_alone and _rounds(instruction)
        return (kind, LEAST_ULPS, is_rewritten) if is_rewritten or is_native else (DTYPES["f32"], ulps, False)


def _rounds(instruction: HloInstruction) -> bool:
    """Return True if an operation rounds and is no conversion; complex numbers, rounded by size, are never narrow."""
    return (instruction.shape.is_array and is_a(instruction, "elementwise") and freedom_of(instruction).rounds
            and instruction.opcode != "abs")
