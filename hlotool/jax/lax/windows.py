"""Operations that move a window over arrays."""

from __future__ import annotations

from hlotool.ir import HloComputation, HloInstruction, Window, WindowDimension
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.elementwise import plain_function
from hlotool.jax.lax.function_code import FunctionCode, constant_below, writes
from hlotool.jax.lax.reduction import combiner


@writes("reduce-window")
def _reduce_window(code: FunctionCode, i: HloInstruction) -> str:
    count = len(i.operands) // 2
    arrays, starts = code.operands(i)[:count], code.operands(i)[count:]
    several = i.shape.is_tuple
    given = [code.whole(arrays), code.whole(starts)] if several else [arrays[0], starts[0]]
    function = combiner(code, i.attributes["to_apply"], count if several else 1)
    rows = _rows(i.attributes["window"])
    sizes, strides, padding = (tuple(r.size for r in rows), tuple(r.stride for r in rows),
                               tuple((r.pad_low, r.pad_high) for r in rows))
    dilations = tuple(r.base_dilation for r in rows), tuple(r.window_dilation for r in rows)
    more = "" if all(d == 1 for side in dilations for d in side) else f", {dilations[0]}, {dilations[1]}"
    return f"lax.reduce_window({', '.join(given)}, {function}, {sizes}, {strides}, {padding}{more})"


@writes("select-and-scatter")
def _select_and_scatter(code: FunctionCode, i: HloInstruction) -> str:
    """The gradient of the maximum of windows is what JAX has it for, and all that it has."""
    operand, source, _ = code.operands(i)
    start = constant_below(i.operands[2])
    better = {"GE": "lax.ge_p", "LE": "lax.le_p"}.get(_direction(i.attributes["select"]))
    rows = _rows(i.attributes["window"])
    if better is None or plain_function(i.attributes["scatter"]) != "lax.add" or start is None or (
            start.literal.array != 0) or any((r.base_dilation, r.window_dilation) != (1, 1) for r in rows):
        raise NotWritable("JAX's select-and-scatter chooses by >= or <= and adds to zero")
    return (f"lax.select_and_scatter_add_p.bind({source}, {operand}, select_prim={better}, "
            f"window_dimensions={tuple(r.size for r in rows)}, window_strides={tuple(r.stride for r in rows)}, "
            f"padding={tuple((r.pad_low, r.pad_high) for r in rows)})")


def _direction(computation: HloComputation) -> str:
    """Return the direction in which a computation compares its parameters; empty where it does anything else."""
    root = computation.root
    in_order = [o.attributes.get("parameter_number") for o in root.operands] == [0, 1]
    return str(root.attributes["direction"]) if root.opcode == "compare" and in_order else ""


def _rows(window: Window) -> tuple[WindowDimension, ...]:
    if any(row.reversal for row in window.dimensions):
        raise NotWritable("JAX's windows are not reversed")
    return window.dimensions
