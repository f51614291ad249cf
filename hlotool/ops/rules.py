"""Shape rules that several operations share."""

from __future__ import annotations

from hlotool.ir import UNBOUNDED, Shape
from hlotool.ops.registry import require


def require_array(shape: Shape, label: str, what: str = "the operand") -> None:
    """Only array shapes pass."""
    require(shape.is_array, label, f"{what} is {shape}, which is not an array")


def same_dims(a: Shape, b: Shape) -> bool:
    """Equal ranks and sizes, an unbounded dimension being equal to any."""
    return a.rank == b.rank and all(x == y or UNBOUNDED in (x, y) for x, y in zip(a.dims, b.dims, strict=True))


def merged_dims(a: Shape, b: Shape) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Dimensions and dynamic flags of an elementwise result: static beats bounded beats unbounded."""
    dims, flags = [], []
    for i, (x, y) in enumerate(zip(a.dims, b.dims, strict=True)):
        dims.append(y if x == UNBOUNDED else x if y == UNBOUNDED else min(x, y))
        flags.append((a.is_dynamic_dim(i) or x == UNBOUNDED) and (b.is_dynamic_dim(i) or y == UNBOUNDED))
    return tuple(dims), tuple(flags)
