"""The precision in which products of arrays are summed up, and to which their operands are cut."""

from __future__ import annotations

import math

from hlotool.ir import DTYPES, HloInstruction, Shape
from hlotool.numerics.ulps import unit_of

#: bits of the products' operands by `algorithm` and by the hint that lets a backend use fewer
_ALGORITHM_BITS = {"tf32": 10} | {d.name: d.mantissa_bits for d in DTYPES.values() if d.is_floating}


def accumulation(instruction: HloInstruction) -> tuple[float, int]:
    """Return the unit of a sum of products on the way, and the bits that its operands may be cut to (0: none)."""
    kind = instruction.shape.dtype
    unit = max(unit_of(kind) if kind.bits >= 32 else 2.0**-24, 2.0**-53)
    algorithm = str(instruction.attributes.get("algorithm") or "")
    words = algorithm.removeprefix("dot_").split("_")
    if len(words) < 3 or (words[-1] not in _ALGORITHM_BITS and words[-1] not in ("x3", "x6", "x9", "accum")):
        return unit, 0
    total = next((w for w in reversed(words) if w in _ALGORITHM_BITS), "f32")
    fewer = _ALGORITHM_BITS.get(words[0], 0) if words[-1] not in ("x6", "x9") else 0
    if words[-1] == "x3":
        fewer *= 2
    return max(unit, 2.0 ** -(_ALGORITHM_BITS[total] + 1)), fewer if fewer < 23 else 0


def cut_by_platform(instruction: HloInstruction, product_bits: int) -> int:
    """Return the bits to which a platform cuts operands of f32 products without an algorithm or a wanted precision."""
    words = instruction.attributes.get("operand_precision") or ("default",)
    algorithm = str(instruction.attributes.get("algorithm") or "dot_unset")
    if instruction.operands[0].shape.element_type not in ("f32", "c64") or algorithm != "dot_unset":
        return 0
    return product_bits if "default" in words else 0


def terms_of_product(lhs: Shape, rhs: Shape, result: Shape) -> float:
    """Return how many products are added up for each element of a product of matrices; rather too many for a batch."""
    return math.sqrt(max(1.0, lhs.size * rhs.size / max(1, result.size)))
