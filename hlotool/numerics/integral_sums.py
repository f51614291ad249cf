"""Products of float arrays whose sums are integers: converted at the end, they hang on the last place of the sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeAlias

from hlotool.ir import DTYPES, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.numerics.higher_precision import WideShape, is_real
from hlotool.numerics.product_precision import terms_of_product
from hlotool.numerics.ulps import are_whole, unit_of
from hlotool.ops import OPS, Freedom, freedom_of

Function: TypeAlias = Callable[..., Any]


def has_integral_sums(instruction: HloInstruction) -> bool:
    """Return True if an instruction adds up products of floats and gives integers."""
    shape = instruction.shape
    return (freedom_of(instruction) is Freedom.SUMS and shape.is_array and shape.dtype.is_integral
            and any(is_real(o.shape) for o in instruction.operands[:2]))


def with_open_last_places(instruction: HloInstruction, function: Function, seed: int) -> Function:
    """The function with its sums moved by what another order of them may change, whole sums of whole numbers not.

    By all of it, up or down by the seed: few samples must show what lies on the other side of a whole number.
    """
    lhs, rhs = (o.shape for o in instruction.operands[:2])
    shape = instruction.shape
    terms = terms_of_product(lhs, rhs, shape)
    # A backend may round the sum to the operands' type before it is converted.
    unit = max(unit_of(s.dtype) for s in (lhs, rhs) if is_real(s))
    wide = WideShape(Shape.array("f64", shape.dims, None, shape.dynamic), DTYPES["f64"])

    def call(*values: Array, **keywords: Any) -> Array:
        held = [np.asarray(v).astype(np.float64) for v in values[:2]]
        with np.errstate(all="ignore"):
            exact = function(*held, *values[2:], **keywords | {"shape": wide})
            size = function(*map(np.abs, held), *values[2:], **keywords | {"shape": wide})
            error = np.where(are_whole(unit, size, exact) | ~np.isfinite(size), 0.0, 2 * size * unit * terms)
            found: Array = OPS["convert"].evaluate(exact + error if seed % 2 else exact - error, shape=shape)
            return found

    return call
