"""Values of a scaled-dot's scaled operands where a processor flushes subnormals.

A scale, an operand and their product each may be smaller than the smallest normal number, and a zero then. Beside an
infinity of the other side that is NaN; beside a large scale it is a product that is missing.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hlotool.ir import Shape
from hlotool.ir.arrays import Array, np
from hlotool.numerics.higher_precision import own
from hlotool.ops import over_blocks


def scaled_sides(values: Sequence[Array], shape: Shape, flushed: Callable[[Array], Array], *, overflows: bool
                 ) -> list[Array]:
    """Operands times scales, and scalars in place of the scales, which stand for none.

    `values` are both operands and both scales, `shape` is the result's, whose type all are converted to. A product too
    large for it `overflows` at once, or is kept for the sum.
    """
    lhs, rhs, *scales = (flushed(own(value, shape)) for value in values)
    with np.errstate(all="ignore"):
        sides = [_scaled(side, scale) for side, scale in zip((lhs, rhs), scales, strict=True)]
    return [*(flushed(own(side, shape) if overflows else side) for side in sides), *[np.ones(())] * 2]


def _scaled(operand: Array, scale: Array) -> Array:
    wide = np.longdouble if operand.dtype.itemsize == 8 else np.float64
    return operand.astype(wide) * over_blocks(scale, operand).astype(wide) if scale.ndim else operand
