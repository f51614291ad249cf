"""Pooling over windows: the greatest and the mean, and the gradients of both."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, NamedTuple

from hlotool.builder.argument_types import Ints
from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.contraction import padding_rows
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.library.constants import min_value, zero
from hlotool.builder.library.reducers import fold_of
from hlotool.builder.problems import demand
from hlotool.builder.python_values import ints

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def _whole(made: XlaOp, kernel_size: Ints, stride: Ints | None, padding: Any, spatial_dimensions: Ints | None
           ) -> tuple[list[int], list[int], list[tuple[int, int]]]:
    """Window, strides and padding of all dimensions, from those of the spatial ones (1 to rank - 2: NHWC)."""
    space = list(range(1, made.rank - 1)) if spatial_dimensions is None else ints(spatial_dimensions, "dimensions")
    sizes, window, strides = ints(kernel_size, "kernel_size"), [1] * made.rank, [1] * made.rank
    steps = sizes if stride is None else ints(stride, "stride")
    rows = padding_rows(padding, [made.dims[d] for d in space], sizes, steps)
    pads = [(0, 0)] * made.rank
    for d, size, step, row in zip(space, sizes, steps, rows, strict=True):
        window[d], strides[d], pads[d] = size, step, row
    return window, strides, pads


@function()
def make_spatial_padding(b: Methods, input_size: Ints, kernel_size: Ints, stride: Ints, padding: Any
                         ) -> list[tuple[int, int]]:
    """The padding of each spatial dimension, before and after it, that "SAME" or "VALID" stands for."""
    sizes, kernel, steps = (ints(v, n) for v, n in ((input_size, "input_size"), (kernel_size, "kernel_size"),
                                                    (stride, "stride")))
    demand(len(sizes) == len(kernel) == len(steps), ARGUMENTS,
           f"{len(sizes)} sizes, {len(kernel)} of windows and {len(steps)} strides are given")
    return [(int(low), int(high)) for low, high in padding_rows(padding, sizes, kernel, steps)]


class SpatialDimensionOutputSizeAndPadding(NamedTuple):
    """A spatial dimension of a convolution's gradient: its size with strides put in, and what is padded."""

    output_size: int
    pad_before: int
    pad_after: int


@function()
def conv_grad_extract_and_verify_dimension(b: Methods, input_size: int, filter_size: int, output_size: int,
                                           dilation: int, stride: int, padding: Any
                                           ) -> SpatialDimensionOutputSizeAndPadding:
    """Return the padding of the output's gradient in a gradient for the input, along one dimension.

    `output_size` is the size that the convolution's output must have.
    """
    window = (filter_size - 1) * dilation + 1
    ((low, high),) = padding_rows(padding, [input_size], [window], [stride])
    computed = (input_size + low + high - window) // stride + 1
    demand(output_size == computed, ARGUMENTS,
           f"output_size is {output_size}; a window of {window} on {input_size} elements gives {computed}")
    whole = (output_size - 1) * stride + 1
    before = window - 1 - int(low)
    return SpatialDimensionOutputSizeAndPadding(whole, before, input_size + window - 1 - whole - before)


@function()
def max_pool(b: Methods, operand: Any, kernel_size: Ints, stride: Ints | None = None, padding: Any = "VALID",
             spatial_dimensions: Ints | None = None) -> XlaOp:
    """The greatest element of each window over the spatial dimensions: those between the first and the last."""
    made = b.operand(operand)
    window, strides, pads = _whole(made, kernel_size, stride, padding, spatial_dimensions)
    return b.ReduceWindow(made, min_value(b, made.element_type), fold_of(b, "Max"), window, strides, pads)


def _sums(b: Methods, made: XlaOp, window: Any, strides: Any, pads: Any, base: Any = None) -> XlaOp:
    return b.ReduceWindow(made, zero(b, made.element_type), fold_of(b, "Add"), window, strides, pads, base)


@function()
def avg_pool(b: Methods, operand: Any, kernel_size: Ints, stride: Ints | None = None, padding: Any = "VALID",
             counts_include_padding: bool = True, spatial_dimensions: Ints | None = None) -> XlaOp:
    """The mean of each window over the spatial dimensions; padding counts as zeros, or not at all."""
    made = b.operand(operand)
    parts = _whole(made, kernel_size, stride, padding, spatial_dimensions)
    found: XlaOp = _sums(b, made, *parts) / _counts(b, made, parts, counts_include_padding)
    return found


def _counts(b: Methods, made: XlaOp, parts: Any, counts_include_padding: bool) -> Any:
    window, _, _ = parts
    return float(math.prod(window)) if counts_include_padding else _sums(b, b.OnesLike(made), *parts)


@function()
def avg_pool_grad(b: Methods, out_backprop: Any, operand: Any, kernel_size: Ints, stride: Ints | None = None,
                  padding: Any = "VALID", counts_include_padding: bool = True,
                  spatial_dimensions: Ints | None = None) -> XlaOp:
    """The gradient of AvgPool for its operand."""
    made, given = b.operand(operand), b.operand(out_backprop)
    parts = _whole(made, kernel_size, stride, padding, spatial_dimensions)
    window, strides, pads = parts
    shares = given / _counts(b, made, parts, counts_include_padding)
    # Each element gets the shares of the windows that cover it: a sum over shares set apart by the strides.
    rows = []
    for d, (low, _high) in enumerate(pads):
        wide = (given.dims[d] - 1) * strides[d] + 1
        before = window[d] - 1 - low
        rows.append((before, made.dims[d] - (wide + before - window[d] + 1)))
    return _sums(b, shares, window, [1] * made.rank, rows, strides)


@function()
def max_pool_grad(b: Methods, out_backprop: Any, operand: Any, kernel_size: Ints, stride: Ints | None = None,
                  padding: Any = "VALID", spatial_dimensions: Ints | None = None) -> XlaOp:
    """The gradient of MaxPool for its operand."""
    made = b.operand(operand)
    window, strides, pads = _whole(made, kernel_size, stride, padding, spatial_dimensions)
    return b.SelectAndScatter(made, fold_of(b, "Ge"), window, strides, pads, out_backprop,
                              zero(b, made.element_type), fold_of(b, "Add"))
