"""The precision in which products of arrays are summed up, and to which their operands are cut."""

from __future__ import annotations

import math

from hlotool.ir import DTYPES, HloInstruction, Shape
from hlotool.numerics.ulps import unit_of

#: bits of the products' operands by `algorithm` and by the hint that lets a backend use fewer
_ALGORITHM_BITS = {"tf32": 10} | {d.name: d.mantissa_bits for d in DTYPES.values() if d.is_floating}
#: the unit of sums of products of 8-bit floats on tensor cores. Source: DeepSeek-V3 Technical Report, 3.3.2: about 14
#: bits of such sums are kept on NVIDIA's Hopper
_UNIT_OF_TENSOR_CORES = 2.0**-13


def accumulation(instruction: HloInstruction, product_bits: int = 0) -> tuple[float, int]:
    """Return the unit of a sum of products on the way, and the bits that its operands may be cut to (0: none).

    `product_bits`: see hlotool.execution.executor.
    """
    kind = instruction.shape.dtype
    unit = max(unit_of(kind) if kind.bits >= 32 else 2.0**-24, 2.0**-53)
    if product_bits and _is_left_to_platform(instruction) and all(
            o.shape.dtype.is_floating and o.shape.dtype.bits <= 8 for o in instruction.operands[:2]):
        unit = max(unit, _UNIT_OF_TENSOR_CORES)
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
    is_single = instruction.operands[0].shape.element_type in ("f32", "c64")
    return product_bits if is_single and _is_left_to_platform(instruction) else 0


def _is_left_to_platform(instruction: HloInstruction) -> bool:
    """Return True if a product has no algorithm, and asks for no more than the default precision."""
    algorithm = str(instruction.attributes.get("algorithm") or "dot_unset")
    return algorithm == "dot_unset" and "default" in (instruction.attributes.get("operand_precision") or ("default",))


def terms_of_product(lhs: Shape, rhs: Shape, result: Shape) -> float:
    """Return how many products are added up for each element of a product of matrices; rather too many for a batch."""
    return math.sqrt(max(1.0, lhs.size * rhs.size / max(1, result.size)))
