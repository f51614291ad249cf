"""Sizes of dynamic dimensions, read and set."""

from __future__ import annotations

from hlotool.ir import Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.costs import is_free
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import PICKS
from hlotool.ops.movement import dimension_lowering
from hlotool.ops.random_programs import Draw
from hlotool.ops.registry import op, require
from hlotool.ops.rules import (
    listed,
    require_array,
)
from hlotool.ops.values import EvaluationError


def _dimension_shape(opcode: str, operand: Shape, dimensions: tuple[int, ...]) -> int:
    require_array(operand, f"{opcode}-c2")
    require(len(dimensions) == 1 and 0 <= dimensions[0] < operand.rank, f"{opcode}-c1",
            f"dimensions={{{listed(dimensions)}}} is not one dimension of {operand.text(False)}",
            attribute="dimensions")
    size = operand.dims[dimensions[0]]
    require(size < 2**31, f"{opcode}-c3", f"dimension {dimensions[0]} of {operand.text(False)} does not fit in s32")
    return dimensions[0]


def get_dimension_size_shape(operand: Shape, *, dimensions: tuple[int, ...]) -> Shape:
    """Constraints 1 to 3 of get-dimension-size."""
    _dimension_shape("get-dimension-size", operand, dimensions)
    return Shape.array("s32")


def _draw_dimension_size(d: Draw) -> None:
    operand = d.argument(d.dims())
    at = d.between(0, len(operand.dims) - 1)
    size = d.argument((), "s32", among=range(operand.dims[at] + 1))
    cut = d.add("set-dimension-size", operand, size, dimensions=(at,))
    d.add("get-dimension-size", cut, dimensions=(at,))


@op(get_dimension_size_shape, lowering=dimension_lowering("get_dimension_size", "get-dimension-size"),
    source=SPECIFICATION, draw=_draw_dimension_size, cost=is_free)
def get_dimension_size(operand: Array, *, dimensions: tuple[int, ...]) -> Array:
    """The size that a dimension has when the program runs.

    C1  dimensions names one dimension of the operand.
    C2  The operand is an array.
    C3  The dimension's size, or bound, fits in 32 bits.
    """
    return np.array(operand.shape[dimensions[0]], np.int32)


def set_dimension_size_shape(operand: Shape, size: Shape, *, dimensions: tuple[int, ...],
                             declared: Shape | None) -> Shape:
    """Constraints 1 to 4 of set-dimension-size."""
    at = _dimension_shape("set-dimension-size", operand, dimensions)
    require(size.is_scalar and size.element_type == "s32", "set-dimension-size-c4", f"the size is {size}, not s32[]")
    flags = list(operand.dynamic_flags)
    # A result that is written static removes the dynamism.
    is_static = declared is not None and declared.rank == operand.rank and not declared.is_dynamic_dim(at)
    flags[at] = not is_static
    return operand.with_dims(operand.dims, tuple(flags))


@op(set_dimension_size_shape, lowering=dimension_lowering("set_dimension_size", "set-dimension-size"),
    source=SPECIFICATION, draw=_draw_dimension_size, cost=is_free, flow=PICKS)
def set_dimension_size(operand: Array, size: Array, *, dimensions: tuple[int, ...], shape: Shape | None = None
                       ) -> Array:
    """Let only the first `size` slices of a dimension count.

    A larger size than before uncovers what the operand was first set of; has anything been computed since, what lies
    there is up to the platform, and has no value here. A result that is written without `<=` has one size only: no
    other one has a value here.

    C1  dimensions names one dimension of the operand.
    C2  The operand is an array.
    C3  The dimension's size, or bound, fits in 32 bits.
    C4  The size is s32[].
    """
    at, wanted = dimensions[0], int(size)
    if wanted < 0:
        raise EvaluationError(f"the size is {wanted} when the program runs; it may not be negative")
    if shape is not None and not shape.is_dynamic_dim(at) and wanted != shape.dims[at]:
        raise EvaluationError(f"the size is {wanted} when the program runs; the result is written "
                              f"{shape.text(False)}, which says that all {shape.dims[at]} count")
    if wanted <= operand.shape[at]:
        return np.asarray(np.take(operand, np.arange(wanted), axis=at), order="C")
    raise EvaluationError(f"dimension {at} has {operand.shape[at]} elements when the program runs; what lies behind "
                          f"them, which the size {wanted} uncovers, is not defined")
