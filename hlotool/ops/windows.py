"""Windows that slide over arrays: where each place lies, for reduce-window and select-and-scatter."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from hlotool.ir import Shape, Window, WindowDimension
from hlotool.ir.arrays import Array, np
from hlotool.ops.convolution import dilated, window_output
from hlotool.ops.long_loops import in_time
from hlotool.ops.registry import require


def windowed_dims(opcode: str, operand: Shape, window: Window, number: int) -> tuple[int, ...]:
    """The dimensions of the places that a window takes on an operand; constraint `number` of the operation."""
    label = f"{opcode}-c{number}"
    require(len(window.dimensions) == operand.rank, label,
            f"the window has {len(window.dimensions)} dimensions, the operand {operand.text(False)} has {operand.rank}",
            attribute="window")
    for i, d in enumerate(window.dimensions):
        for value, what in ((d.size, "size"), (d.stride, "stride"), (d.base_dilation, "base dilation"),
                            (d.window_dilation, "window dilation")):
            require(value > 0, label, f"the {what} of window dimension {i} is {value}; it must be positive",
                    attribute="window")
    return tuple(map(window_output, operand.dims, window.dimensions))


def unreversed(operand: Shape, places: Sequence[int], window: Window) -> tuple[tuple[int, ...], Window]:
    """The dimensions to reverse in operand and places so that a window without reversals sees the same.

    What is left over behind the last place then lies before the first, and is cut off there.
    """
    axes = tuple(i for i, d in enumerate(window.dimensions) if d.reversal)
    rows = list(window.dimensions)
    for i in axes:
        d = rows[i]
        covered = (places[i] - 1) * d.stride + dilated(d.size, d.window_dilation)
        left = dilated(operand.dims[i], d.base_dilation) + d.pad_low + d.pad_high - covered if places[i] else 0
        rows[i] = dataclasses.replace(d, pad_low=d.pad_high - left, pad_high=d.pad_low, reversal=False)
    return axes, Window(tuple(rows))


def positions(sizes: Sequence[int], places: Sequence[int], window: Window
              ) -> Iterator[tuple[tuple[Array, ...], Array]]:
    """For each element of the window, in row-major order: which operand elements it covers, place by place.

    Yields index arrays (one a dimension, broadcast against each other, clipped into the operand) and a mask of
    the places where the window element lies on an operand element and not on padding or a hole.
    """
    rows = window.dimensions
    for offset in in_time(np.ndindex(*(d.size for d in rows))):
        indices, masks = zip(*(_along(sizes[i], places[i], d, offset[i]) for i, d in enumerate(rows)),
                             strict=True) if rows else ((), ())
        mask = np.ones(tuple(places), np.bool_)
        for axis, m in enumerate(masks):
            mask = mask & m.reshape([-1 if a == axis else 1 for a in range(len(rows))])
        yield (np.ix_(*indices) if indices else ()), mask


def _along(size: int, places: int, d: WindowDimension, offset: int) -> tuple[Array, Array]:
    """Operand indices of one window element along a dimension, and where they are real."""
    step = d.size - 1 - offset if d.reversal else offset
    at = np.arange(places) * d.stride + step * d.window_dilation - d.pad_low
    index = at // d.base_dilation
    real = (at % d.base_dilation == 0) & (index >= 0) & (index < size)
    return np.clip(index, 0, max(size - 1, 0)), real
