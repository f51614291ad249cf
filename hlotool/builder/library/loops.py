"""Loops that count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.python_values import axis_of, element_type_of

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


@function()
def for_each_index(b: Methods, number: Any, body: Callable[..., Any], init: Sequence[Any], index_type: Any = "s32"
                   ) -> XlaOp:
    """Call body(i, *values) for i in 0 ... number - 1; it gives the next values, and the loop the last ones."""
    kind = element_type_of(index_type)
    values = [b.result_of(v) for v in init]
    limit = b.operand(number, kind)

    def goes_on(*state: XlaOp) -> XlaOp:
        return b.Lt(state[0], state[1])

    def step(*state: XlaOp) -> list[Any]:
        # The body is the user's, and its calls are, too.
        with b.users_calls():
            found = body(state[0], *state[2:])
        rows = list(found) if isinstance(found, (list, tuple)) else [found]
        return [b.Add(state[0], 1), state[1], *rows]

    loop = b.While(goes_on, step, [b.operand(0, kind), limit, *values])
    return b.Tuple([b.GetTupleElement(loop, i + 2) for i in range(len(values))])


@function()
def while_loop_helper(b: Methods, condition: Callable[..., Any], body: Callable[..., Any],
                      initial_values: Sequence[Any], name: str = "while") -> list[XlaOp]:
    """Call body(*values) as long as condition(*values) holds; the values that it leaves, as a list."""
    values = [b.result_of(v) for v in initial_values]

    def goes_on(*state: XlaOp) -> Any:
        with b.users_calls():
            return condition(*state)

    def step(*state: XlaOp) -> list[Any]:
        with b.users_calls():
            found = body(*state)
        return list(found) if isinstance(found, (list, tuple)) else [found]

    loop = b.While(goes_on, step, values).named(name)
    return [b.GetTupleElement(loop, i) for i in range(len(values))]


@function()
def map_rows(b: Methods, operand: Any, body: Callable[[Any], Any], axis: int = 0) -> XlaOp:
    """Call body on each slice along an axis, one after the other, and stack what it gives along the first dimension."""
    made = b.operand(operand)
    axis = axis_of(made, axis)
    sizes = [1 if d == axis else n for d, n in enumerate(made.dims)]
    rest = [n for d, n in enumerate(made.dims) if d != axis]

    def row(source: XlaOp, i: XlaOp) -> Any:
        starts = [i if d == axis else b.operand(0, "s32") for d in range(made.rank)]
        with b.users_calls():
            return body(b.Reshape(b.DynamicSlice(source, starts, sizes), rest))

    with b.building("probe", is_users=False):
        probe = row(b.Parameter(0, made.shape), b.Parameter(1, "s32[]"))
    shape = probe.shape
    start = b.Full(shape.with_dims((made.dims[axis], *shape.dims)), b.operand(
        False if shape.element_type == "pred" else 0, shape.element_type))

    def step(i: XlaOp, source: XlaOp, found: XlaOp) -> list[XlaOp]:
        new = b.Reshape(row(source, i), [1, *shape.dims])
        zeros = [b.operand(0, "s32") for _ in shape.dims]
        return [source, b.DynamicUpdateSlice(found, new, [i, *zeros])]

    loop = for_each_index(b, made.dims[axis], step, [made, start])
    return b.GetTupleElement(loop, 1)
