"""The greatest elements in parts or nearly, scattering along one dimension, and sizes that are set when running."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.library.slicing import whole_indices
from hlotool.builder.problems import demand
from hlotool.builder.python_values import axis_of
from hlotool.ops import elements_left

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


@function()
def top_k_with_partitions(b: Methods, operand: Any, k: int, num_partitions: int = 1) -> XlaOp:
    """TopK along the last dimension, first of each part, then of what the parts gave; the same values and places."""
    made = b.operand(operand)
    size = made.dims[-1]
    demand(num_partitions >= 1, ARGUMENTS, f"num_partitions is {num_partitions}; it is at least 1")
    width = -(-size // num_partitions)
    if num_partitions == 1 or k >= width:
        return b.TopK(made, k)
    values, places = [], []
    for start in range(0, size, width):
        part = b.SliceInDim(made, start, min(start + width, size), 1, made.rank - 1)
        found = b.TopK(part, min(k, part.dims[-1]))
        values.append(b.GetTupleElement(found, 0))
        places.append(b.Add(b.GetTupleElement(found, 1), start))
    whole, where = (b.ConcatInDim(rows, dimension=made.rank - 1) for rows in (values, places))
    best = b.TopK(whole, k)
    chosen = b.TorchGather(where, b.GetTupleElement(best, 1), made.rank - 1)
    return b.Tuple([b.GetTupleElement(best, 0), chosen])


@function()
def approx_top_k_reduction_output_size(b: Methods, input_size: int, rank: int, top_k: int, recall_target: float,
                                       aggregate_to_topk: bool = True, input_size_override: int = -1
                                       ) -> tuple[int, int]:
    """How many elements ApproxTopK leaves, and by which power of two it reduces (-1 where it aggregates).

    Source: Chern et al., "TPU-KNN: K Nearest Neighbor Search at Peak FLOP/s", and the sizes that XLA gives.
    """
    if aggregate_to_topk:
        return top_k, -1
    demand(input_size_override < 0 or input_size <= input_size_override, ARGUMENTS,
           f"reduction_input_size_override is {input_size_override}; it is at least the dimension's size, {input_size}")
    whole = input_size_override if input_size_override >= 0 else input_size
    return elements_left(input_size, rank, top_k, recall_target, whole)


@function("AggregateToTopKBuilder")
def aggregate_to_top_k_builder(b: Methods, operands: Sequence[Any], init_values: Sequence[Any], top_k: int,
                               reduction_dim: int, comparator: Any) -> XlaOp:
    """The k first along a dimension in a comparator's order: a tuple with a row of each operand."""
    return _first(b, [b.operand(o) for o in operands], top_k, reduction_dim, comparator)


def _first(b: Methods, made: list[XlaOp], count: int, axis: int, comparator: Any) -> XlaOp:
    found = b.Sort(made, comparator, axis, True)
    rows = [found] if len(made) == 1 else [b.GetTupleElement(found, i) for i in range(len(made))]
    return b.Tuple([b.SliceInDim(row, 0, count, 1, axis) for row in rows])


@function("ApproxTopKFallback")
def approx_top_k(b: Methods, operands: Sequence[Any], init_values: Sequence[Any], top_k: int, reduction_dim: int,
                 comparator: Any, recall_target: float = 0.9, aggregate_to_topk: bool = True,
                 reduction_input_size_override: int = -1) -> XlaOp:
    """The k first along a dimension in a comparator's order: a tuple with a row of each operand.

    This is XLA's fallback, which sorts: it finds all of them, which is more than recall_target, a lower bound, asks
    for. Without aggregation the result is as long as ApproxTopKReductionOutputSize says.
    """
    made = [b.operand(o) for o in operands]
    demand(bool(made) and len(made) == len(init_values) and all(m.dims == made[0].dims for m in made), ARGUMENTS,
           "ApproxTopK takes operands of the same dimensions and an initial value for each")
    axis = axis_of(made[0], reduction_dim)
    demand(0 <= axis < made[0].rank and 0 <= top_k <= made[0].dims[axis], ARGUMENTS,
           f"top_k is {top_k}, reduction_dim {reduction_dim}; the operand is {made[0].shape.text(False)}")
    demand(0.0 < recall_target <= 1.0, ARGUMENTS, f"recall_target is {recall_target}; it lies in (0, 1]")
    count, _ = approx_top_k_reduction_output_size(b, made[0].dims[axis], made[0].rank, top_k, recall_target,
                                                  aggregate_to_topk, reduction_input_size_override)
    return _first(b, made, count, axis, comparator)


@function()
def torch_scatter_dense(b: Methods, input: Any, index: Any, src: Any, dim: int, combiner: Any) -> XlaOp:
    """input with src combined into it: src[i][j] at index[i][j] along `dim`, at its own place along the others."""
    made, given, new = b.operand(input), b.operand(index), b.operand(src)
    axis = axis_of(made, dim)
    demand(0 <= axis < made.rank and given.dims == new.dims and given.rank == made.rank, ARGUMENTS,
           f"TorchScatterDense takes an index and a src of the same dimensions, of the rank of input; they are "
           f"{', '.join(o.shape.text(False) for o in (made, given, new))}")
    numbers = {"update_window_dims": [], "inserted_window_dims": range(made.rank),
               "scatter_dims_to_operand_dims": range(made.rank), "index_vector_dim": made.rank}
    return b.Scatter(made, whole_indices(b, given, axis), new, combiner, numbers)


@function()
def disassemble_tuple(b: Methods, tuple_data: Any) -> list[XlaOp]:
    """The elements of a tuple."""
    made = b.operand(tuple_data)
    demand(made.shape.is_tuple, ARGUMENTS, f"DisassembleTuple takes a tuple; it is given {made.shape.text(False)}")
    return [b.GetTupleElement(made, i) for i in range(len(made.shape.elements))]


@function()
def box_muller_transform(b: Methods, first: Any, second: Any) -> XlaOp:
    """Two arrays of normal numbers, from two of numbers that are uniform in (0, 1): a tuple."""
    x, y = b.operands(first, second)
    radius = b.Sqrt(b.Log(b.Max(x, 1e-7)) * -2.0)
    angle = y * (2.0 * math.pi)
    return b.Tuple([b.Sin(angle) * radius, b.Cos(angle) * radius])
