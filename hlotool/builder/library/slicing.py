"""Slices of the last dimensions, updates at fixed places, selection by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.argument_types import Ints
from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import axis_of, ints
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


@function()
def prepend_major_dims(b: Methods, starts: Any, operand: Any) -> list[XlaOp]:
    """Indices for every dimension of an operand: zeros for the first ones, then those given for the last."""
    given = [b.operand(s) for s in starts]
    kind = given[0].element_type if given else "s32"
    return [*(b.operand(0, kind) for _ in range(b.operand(operand).rank - len(given))), *given]


@function()
def slice_in_minor_dims(b: Methods, operand: Any, start: Ints, end: Ints) -> XlaOp:
    """Slice the last dimensions, the others whole."""
    made, low, high = b.operand(operand), ints(start, "start"), ints(end, "end")
    major = made.rank - len(low)
    return b.Slice(made, [0] * major + list(low), [*made.dims[:major], *high])


@function()
def update_slice(b: Methods, operand: Any, update: Any, start: Ints) -> XlaOp:
    """Overwrite a block at indices that are numbers."""
    return b.DynamicUpdateSlice(operand, update, [b.operand(s, "s32") for s in ints(start, "start")])


@function()
def update_slice_in_minor_dims(b: Methods, operand: Any, update: Any, start: Ints) -> XlaOp:
    """Overwrite a block of the last dimensions, at indices that are numbers."""
    made, low = b.operand(operand), ints(start, "start")
    return update_slice(b, made, update, [0] * (made.rank - len(low)) + list(low))


def _starts(b: Methods, made: XlaOp, starts: Sequence[Any]) -> list[XlaOp]:
    given = b.operands(*starts)
    zero = b.operand(0, given[0].element_type if given else "s32")
    return [zero] * (made.rank - len(given)) + given


@function()
def dynamic_slice_in_minor_dims(b: Methods, operand: Any, starts: Sequence[Any], sizes: Ints) -> XlaOp:
    """DynamicSlice of the last dimensions, the others whole."""
    made, rows = b.operand(operand), ints(sizes, "sizes")
    return b.DynamicSlice(made, _starts(b, made, starts), [*made.dims[:made.rank - len(rows)], *rows])


@function()
def dynamic_update_slice_in_minor_dims(b: Methods, operand: Any, update: Any, starts: Sequence[Any]) -> XlaOp:
    """DynamicUpdateSlice of the last dimensions."""
    made = b.operand(operand)
    return b.DynamicUpdateSlice(made, update, _starts(b, made, starts))


@function("TorchIndexSelect")
def index_select(b: Methods, operand: Any, indices: Any, axis: int = 0, batch_dims: int = 0) -> XlaOp:
    """The slices along an axis that stand at the indices; the first `batch_dims` dimensions count through both."""
    made, given = b.operand(operand), b.operand(indices)
    axis = axis_of(made, axis)
    batch_dims = batch_dims + given.rank if batch_dims < 0 else batch_dims
    demand(not batch_dims or (batch_dims <= axis and made.dims[:batch_dims] == given.dims[:batch_dims]), ARGUMENTS,
           f"the first {batch_dims} dimensions of {made.shape.text(False)} and {given.shape.text(False)} are to be "
           f"the same, and axis {axis} is to stand behind them")
    counted = list(range(batch_dims))
    own = given.rank - batch_dims
    offsets = [d if d < axis else d + own - 1 for d in range(batch_dims, made.rank) if d != axis]
    return b.Gather(made, given, {
        "offset_dims": offsets, "collapsed_slice_dims": [axis], "start_index_map": [axis],
        "operand_batching_dims": counted, "start_indices_batching_dims": counted, "index_vector_dim": given.rank},
                    [min(n, 1) if d in counted or d == axis else n for d, n in enumerate(made.dims)])


@function("TorchGather")
def take_along(b: Methods, operand: Any, indices: Any, axis: int = 0, sparse: bool = True) -> XlaOp:
    """For each place of the indices, the element that stands there along an axis, and at that place along others.

    `sparse` chooses in C++ between a gather and products with masks, which give the same; here it is always a gather.
    """
    made, given = b.operand(operand), b.operand(indices)
    axis = axis_of(made, axis)
    rank = made.rank
    return b.Gather(made, whole_indices(b, given, axis), {
        "offset_dims": [], "collapsed_slice_dims": range(rank), "start_index_map": range(rank),
        "index_vector_dim": rank}, [1] * rank)


def whole_indices(b: Methods, indices: XlaOp, axis: int) -> XlaOp:
    """Return indices of all dimensions, in a last one: those given along an axis, an element's own along others."""
    columns = []
    for d in range(indices.rank):
        column = indices if d == axis else b.Iota(Shape.array(indices.element_type, indices.dims), d)
        columns.append(b.Reshape(column, [*indices.dims, 1]))
    return b.ConcatInDim(columns, dimension=indices.rank)


@function()
def broadcast_to(b: Methods, operand: Any, dims: Ints) -> XlaOp:
    """The operand in other dimensions, as NumPy broadcasts: the last ones meet, and those of size 1 stretch."""
    made, wanted = b.operand(operand), ints(dims, "dims")
    return b.BroadcastInDim(made, wanted, range(len(wanted) - made.rank, len(wanted)))
