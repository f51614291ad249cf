"""Folds of windows: reduce-window and select-and-scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hlotool.ir import HloComputation, HloInstruction, Shape, Window, WindowDimension
from hlotool.ir.arrays import Array, np
from hlotool.ops import window_maps
from hlotool.ops.agreement import alike
from hlotool.ops.called import (
    parameter_shapes,
    require_reducer,
    same_up_to_precision,
    scalar,
)
from hlotool.ops.convolution import lifted_padding, lifted_row, window_output
from hlotool.ops.costs import Cost, Inner, elements_of, folds, traffic
from hlotool.ops.dilated_windows import emit_select_and_scatter
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import REDUCES
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64_array, i64_tensor, promoted
from hlotool.ops.random_programs import ORDERLESS, Draw, Undrawable
from hlotool.ops.reduction import Ints, halves, promoted_operands, require_one_size
from hlotool.ops.registry import op, require
from hlotool.ops.relation_files import relation_folds
from hlotool.ops.rules import listed, require_array, same_size
from hlotool.ops.values import Callee, apply
from hlotool.ops.windows import positions, unreversed, windowed_dims


def reduce_window_shape(*operands: Shape, window: Window = Window(), to_apply: HloComputation) -> Shape:  # noqa: B008
    """Constraints 1 to 4 of reduce-window."""
    inputs, inits = halves("reduce-window", operands, "reduce-window-c1")
    require_one_size(inputs, "reduce-window-c2")
    dims = windowed_dims("reduce-window", inputs[0], window, 3)
    require_reducer(to_apply, inputs, inits, "reduce-window-c4", attribute="to_apply")
    # Unlike reduce's, the element type is that of the initial value. XLA: ShapeInference::InferReduceWindowShape.
    return Shape.one_or_tuple([Shape.array(v.element_type, dims, None, i.dynamic)
                               for v, i in zip(inits, inputs, strict=True)])


def window_attributes(window: Window) -> dict[str, str]:
    """A window as StableHLO's attributes."""
    rows = window.dimensions
    found = {"window_dimensions": i64_array([d.size for d in rows])}
    if any(d.stride != 1 for d in rows):
        found["window_strides"] = i64_array([d.stride for d in rows])
    if any(d.pad_low or d.pad_high for d in rows):
        found["padding"] = i64_tensor([(d.pad_low, d.pad_high) for d in rows])
    return found


def window_of(r: Reader) -> Window:
    """The reverse."""
    sizes = r.ints("window_dimensions")
    strides, base, dilations = (lifted_row(r, name, len(sizes)) for name in (
        "window_strides", "base_dilations", "window_dilations"))
    padding = lifted_padding(r, len(sizes))
    return Window(tuple(WindowDimension(s, strides[i], *padding[i], base[i], dilations[i])
                        for i, s in enumerate(sizes)))


def _emit_reduce_window(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    n, window = len(operands) // 2, instruction.attributes.get("window", Window())
    result, inputs = instruction.shape, [o.shape for o in instruction.operands[:n]]
    axes, window = _unreversed(e, instruction, (result.elements or (result,))[0])
    given = [*(_reversed(e, v, s, axes) for v, s in zip(operands[:n], inputs, strict=True)), *operands[n:]]
    rows, attributes = window.dimensions, window_attributes(window)
    if any(d.base_dilation != 1 for d in rows):
        attributes["base_dilations"] = i64_array([d.base_dilation for d in rows])
    if any(d.window_dilation != 1 for d in rows):
        attributes["window_dilations"] = i64_array([d.window_dilation for d in rows])
    found = e.op("stablehlo.reduce_window", given, result, attributes, [e.region(instruction.attributes["to_apply"])])
    if not axes:
        return found
    if not result.is_tuple:
        return _reversed(e, found, result, axes)
    return tuple(_reversed(e, v, s, axes) for v, s in zip(found, result.elements, strict=True))


def _unreversed(e: Emitter, instruction: HloInstruction, places: Shape) -> tuple[Ints, Window]:
    """StableHLO's windows are never reversed: the operand is, and what comes out."""
    window: Window = instruction.attributes.get("window", Window())
    operand = instruction.operands[0].shape
    if any(d.reversal for d in window.dimensions) and not (operand.is_static and places.is_static):
        e.refuse(instruction, "a reversed window has a StableHLO form on arrays of known sizes only")
    return unreversed(operand, places.dims, window)


def _reversed(e: Emitter, value: Value, shape: Shape, axes: Ints) -> Value:
    return e.op("stablehlo.reverse", [value], shape, {"dimensions": i64_array(axes)}) if axes else value


def _is_forward(window: Window, _: HloInstruction) -> bool:
    """Return True if a window is not the default and is walked forward, as StableHLO's are."""
    return bool(window.dimensions) and not any(d.reversal for d in window.dimensions)


def _lift_reduce_window(r: Reader) -> HloInstruction:
    to_apply = r.computation(0)
    return r.add("reduce-window", r.shape(), promoted_operands(r, to_apply), {
        "window": window_of(r), "to_apply": to_apply})


def _drawn_window(d: Draw, dims: Ints, *, dilations: bool = True) -> tuple[str, Ints]:
    """A window over those dimensions, and how many places it takes along each."""
    is_dilated, is_padded = dilations and d.edge("dilated"), d.edge("padded")
    least = -1 if d.edge("negative padding") else 0
    rows = []
    for size in dims:
        rows.append(WindowDimension(
            d.between(1, max(1, min(3, size)) + (2 if d.edge("window too large") else 0)), d.between(1, 2),
            d.between(least, 2 if is_padded else 0), d.between(least, 2 if is_padded else 0),
            d.between(1, 2) if is_dilated else 1, d.between(1, 2) if is_dilated else 1))
    columns: dict[str, list[Any]] = {
        "size": [r.size for r in rows], "stride": [r.stride for r in rows],
        "pad": [f"{r.pad_low}_{r.pad_high}" for r in rows], "lhs_dilate": [r.base_dilation for r in rows],
        "rhs_dilate": [r.window_dilation for r in rows]}
    text = " ".join(f"{name}={'x'.join(map(str, column))}" for name, column in columns.items())
    return f"{{{text}}}", tuple(map(window_output, dims, rows))


def _draw_reduce_window(d: Draw) -> None:
    dims, opcode = d.dims(size=6), d.folding()
    window, _ = _drawn_window(d, dims)
    d.add("reduce-window", d.argument(dims, edges=ORDERLESS), d.identity(opcode), window=window,
          to_apply=d.combiner(opcode))


def _folded_in_windows(instruction: HloInstruction) -> int:
    size = int(math.prod(d.size for d in instruction.attributes["window"].dimensions))
    results = instruction.shape.elements or (instruction.shape,)
    return elements_of(results[0]) * (size - 1)


_cost_of_reduce_window = folds(_folded_in_windows)


@op(reduce_window_shape, lowering=Lowering(
    _emit_reduce_window, _lift_reduce_window, ("stablehlo.reduce_window",), ("to_apply",), {"window": _is_forward}),
    ulps=4.0, source=SPECIFICATION, draw=_draw_reduce_window, agreement=alike,
    cost=_cost_of_reduce_window, flow=REDUCES, flags=("mixed",), freedom=Freedom.WINDOWS,
    index_map=window_maps.of_reduce_window, sharding=relation_folds.reduce_window)
def reduce_window(*operands: Array, window: Window = Window(), to_apply: Callee) -> Any:  # noqa: B008
    """Fold the elements under each place of a window: operands are N inputs, then N initial values.

    Padding and the holes of base dilation count as initial values, as the document has it. XLA skips them, which
    is the same wherever the initial value is an identity. A bounded dimension is padded where its elements end
    (XLA of 2025, which jaxlib 0.10 holds, leaves the places in that padding out).

    C1  N inputs, then N scalars to begin with, N at least 1.
    C2  All inputs have the same dimensions.
    C3  The window has a dimension for each of the operand's; sizes, strides and dilations are positive.
    C4  to_apply takes N accumulators, then N elements, all scalars, and gives N scalars like the accumulators;
        the types fit the inputs and initial values up to the precision of floats.
    """
    n = len(operands) // 2
    inputs, inits = [np.asarray(a) for a in operands[:n]], [np.asarray(a) for a in operands[n:]]
    places = windowed_dims("reduce-window", Shape.array("pred", inputs[0].shape), window, 3)
    state = tuple(np.broadcast_to(i, places) for i in inits)
    for index, real in positions(inputs[0].shape, places, window):
        taken = [np.where(real, a[index], i).astype(a.dtype, copy=False) if a.size else np.broadcast_to(i, places)
                 for a, i in zip(inputs, inits, strict=True)]
        state = apply(to_apply, *state, *taken)
    return state[0] if n == 1 else state


def select_and_scatter_shape(operand: Shape, source: Shape, init_value: Shape, *, window: Window = Window(),  # noqa: B008
                             select: HloComputation, scatter: HloComputation) -> Shape:
    """Constraints 1 to 5 of select-and-scatter."""
    for shape, name in ((operand, "the operand"), (source, "source"), (init_value, "the initial value")):
        require_array(shape, "select-and-scatter-c1", name)
    require(not init_value.dims, "select-and-scatter-c1", f"the initial value is {init_value.text(False)}, no scalar")
    dims = windowed_dims("select-and-scatter", operand, window, 2)
    found = parameter_shapes(select)
    right = len(found) == 2 and all(p.is_scalar and same_up_to_precision(p, scalar(operand)) for p in found)
    require(right, "select-and-scatter-c3",
            f"select {select.name} takes ({', '.join(s.text(False) for s in found)}); "
            f"for {operand.text(False)} it must take two scalars {operand.element_type}[]", attribute="select")
    require(select.root.shape.is_scalar and select.root.shape.element_type == "pred", "select-and-scatter-c3",
            f"select {select.name} gives {select.root.shape.text(False)}; it must give pred[]", attribute="select")
    require_reducer(scatter, (source,), (init_value,), "select-and-scatter-c4", attribute="scatter")
    fits = source.rank == len(dims) and all(map(same_size, source.dims, dims))
    require(fits and same_up_to_precision(scalar(source), scalar(operand)), "select-and-scatter-c5",
            f"source is {source.text(False)}; the window takes {operand.element_type}[{listed(dims)}] places on the "
            f"operand {operand.text(False)}")
    return operand


def _emit_select_and_scatter(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    operand, source, _ = (o.shape for o in instruction.operands)
    rows = instruction.attributes.get("window", Window()).dimensions
    if any(d.base_dilation != 1 or d.window_dilation != 1 for d in rows):
        # Holes are never picked, and no value that could be padded with is passed over by every select.
        return emit_select_and_scatter(e, instruction, operands)
    axes, window = _unreversed(e, instruction, source)
    given = [_reversed(e, operands[0], operand, axes), _reversed(e, operands[1], source, axes), operands[2]]
    found = e.op("stablehlo.select_and_scatter", given, instruction.shape, window_attributes(window),
                 [e.region(instruction.attributes["select"]), e.region(instruction.attributes["scatter"])])
    return _reversed(e, found, instruction.shape, axes)


def _lift_select_and_scatter(r: Reader) -> HloInstruction:
    scatter = r.computation(1, "scatter")
    if scatter.root.shape.is_tuple:
        r.refuse(f"its second region gives {scatter.root.shape.text(False)}, which is no array")
    operands, shape = r.operands(), r.shape()
    return r.add("select-and-scatter", shape, promoted(r, operands, [shape] * len(operands)), {
        "window": window_of(r), "select": r.computation(0, "select"), "scatter": scatter})


def _draw_select_and_scatter(d: Draw) -> None:
    if d.kind.is_complex:
        raise Undrawable
    dims = d.dims(size=6)
    window, places = _drawn_window(d, dims, dilations=False)
    operand = d.argument(dims, edges=("zeros", "limits"))
    source = d.argument(places, edges=ORDERLESS)
    d.add("select-and-scatter", operand, source, d.identity("add"), window=window,
          select=d.comparison(d.pick(("GE", "LE", "GT"))), scatter=d.combiner("add"))


def _cost_of_select_and_scatter(instruction: HloInstruction, inner: Inner) -> Cost:
    """In each place of the window all but one element are compared, and one element is combined."""
    attributes, places = instruction.attributes, elements_of(instruction.operands[1].shape)
    size = int(math.prod(d.size for d in attributes["window"].dimensions))
    return (traffic(instruction) + inner(attributes["select"]).work_only() * (places * (size - 1))
            + inner(attributes["scatter"]).work_only() * places)


@op(select_and_scatter_shape, ulps=4.0, source=SPECIFICATION, lowering=Lowering(
    _emit_select_and_scatter, _lift_select_and_scatter, ("stablehlo.select_and_scatter",)),
    draw=_draw_select_and_scatter, cost=_cost_of_select_and_scatter, flow=REDUCES)
def select_and_scatter(operand: Array, source: Array, init_value: Array, *, window: Window = Window(),  # noqa: B008
                       select: Callee, scatter: Callee) -> Array:
    """Pick one element of the operand under each place of a window; scatter the source to the picked places.

    Going through the window in row-major order, the earlier element stays where select(earlier, later) holds.
    The result starts as init_value, and scatter(current, source) goes in. Padding is never picked.

    C1  operand and source are arrays, init_value is a scalar.
    C2  The window has a dimension for each of the operand's; sizes, strides and dilations are positive.
    C3  select takes two scalars of the operand's element type and gives pred[].
    C4  scatter takes two scalars and gives one, fitting source and init_value.
    C5  source has the shape of the places that the window takes.
    """
    places = source.shape
    picked = np.full(places, -1, np.int64)
    best = np.zeros(places, operand.dtype)
    numbers = np.arange(operand.size).reshape(operand.shape)
    for index, real in positions(operand.shape, places, window):
        if not operand.size:
            break
        value, number = np.broadcast_to(operand[index], places), np.broadcast_to(numbers[index], places)
        stays = apply(select, best, value)[0].astype(np.bool_)
        take = real & ((picked < 0) | ~stays)
        best, picked = np.where(take, value, best).astype(operand.dtype), np.where(take, number, picked)
    return _scattered(np.broadcast_to(init_value, operand.shape).astype(operand.dtype), picked.reshape(-1),
                      source.reshape(-1), scatter)


def _scattered(start: Array, picked: Array, source: Array, scatter: Callee) -> Array:
    """Source elements put in one after the other, those for different places at once."""
    flat = start.reshape(-1).copy()
    source, picked = source[picked >= 0], picked[picked >= 0]
    while picked.size:
        places, first = np.unique(picked, return_index=True)
        flat[places] = apply(scatter, flat[places], source[first])[0]
        left = np.ones(picked.shape, np.bool_)
        left[first] = False
        picked, source = picked[left], source[left]
    return flat.reshape(start.shape)
