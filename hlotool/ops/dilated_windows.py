"""select-and-scatter over dilated windows, in StableHLO's other operations: its own windows have no holes."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hlotool.ir import HloInstruction, Shape, Window
from hlotool.ir.arrays import Array, np
from hlotool.ops.lowering import Emitter, Value, i64_array
from hlotool.ops.registry import value_of
from hlotool.ops.windows import positions

#: elements of a window beyond which the code would grow too long
LARGEST = 256

_GATHER = "#stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>"
_SCATTER = ("#stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], "
            "index_vector_dim = 1>")


def emit_select_and_scatter(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """The window's elements one after the other, each compared with the best so far at all places at once.

    Places are numbered in one row; where no element lies, the number is that of no element, which scatter skips.
    """
    operand, source = (o.shape for o in instruction.operands[:2])
    window: Window = value_of(instruction, "window")
    if not (operand.is_static and source.is_static):
        e.refuse(instruction, "a dilated window has a StableHLO form on arrays of known sizes only")
    if math.prod(d.size for d in window.dimensions) > LARGEST:
        e.refuse(instruction, f"its dilated window has more than {LARGEST} elements, each of which takes some lines")
    count, places = math.prod(operand.dims), math.prod(source.dims)
    row, elements = Shape.array(source.element_type, (places,)), Shape.array(operand.element_type, (count,))
    flat = e.op("stablehlo.reshape", [operands[0]], elements)
    if not count:
        return operands[0]
    picked = _picked(e, instruction, flat, window)
    updates = e.op("stablehlo.reshape", [operands[1]], row)
    start = e.op("stablehlo.broadcast_in_dim", [operands[2]], elements, {"broadcast_dimensions": i64_array(())})
    found = e.op("stablehlo.scatter", [start, picked, updates], elements, {
        "scatter_dimension_numbers": _SCATTER}, [e.region(instruction.attributes["scatter"])])
    return e.op("stablehlo.reshape", [found], instruction.shape)


def _picked(e: Emitter, instruction: HloInstruction, flat: Value, window: Window) -> Value:
    """The number of the element picked at each place, in a column."""
    operand, source = (o.shape for o in instruction.operands[:2])
    count, places = math.prod(operand.dims), math.prod(source.dims)
    numbers = np.arange(count).reshape(operand.dims)
    column, flags = Shape.array("s64", (places, 1)), Shape.array("pred", (places,))
    values = Shape.array(operand.element_type, (places,))
    best: Value = None
    picked, is_free = e.constant(np.full((places, 1), count, np.int64), column), _all(e, True, flags)
    for index, real in positions(operand.dims, source.dims, window):
        here = np.broadcast_to(numbers[index], source.dims)
        at = e.constant(_column(here), column)
        found = e.op("stablehlo.gather", [flat, at], values, {
            "dimension_numbers": _GATHER, "slice_sizes": i64_array((1,))})
        stays = e.op("stablehlo.map", [best if best is not None else found, found], flags,
                     {"dimensions": i64_array((0,))}, [e.region(instruction.attributes["select"])])
        is_real = e.constant(np.ascontiguousarray(real).reshape(-1), flags)
        beaten = e.op("stablehlo.or", [is_free, e.op("stablehlo.not", [stays], flags)], flags)
        take = e.op("stablehlo.and", [is_real, beaten], flags)
        best = found if best is None else e.op("stablehlo.select", [take, found, best], values)
        wide = e.op("stablehlo.reshape", [take], column.with_element_type("pred"))
        picked = e.op("stablehlo.select", [wide, at, picked], column)
        is_free = e.op("stablehlo.and", [is_free, e.op("stablehlo.not", [is_real], flags)], flags)
    return picked


def _column(numbers: Array) -> Array:
    return np.ascontiguousarray(numbers, np.int64).reshape(-1, 1)


def _all(e: Emitter, value: bool, shape: Shape) -> Value:
    return e.constant(np.full(shape.dims, value), shape)
