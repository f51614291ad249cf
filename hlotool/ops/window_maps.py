"""Windows as functions of indices: each element of a result folds the elements that are in its window.

    y = reduce-window(x), window={size=K stride=2 pad=L_H}      y[i] folds x[2 i + k - L] for k below K

Padding and holes of a reduce-window's operand are its start, those of a convolution's are zeros. Source: XLA Operation
Semantics, ReduceWindow and ConvWithGeneralPadding; StableHLO's specification, convolution.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ops.index_maps import (
    ONE,
    Condition,
    Element,
    Folded,
    Mapped,
    Places,
    Scalar,
    Sized,
    TermWindow,
    both,
    chosen,
    whole,
)


def _rows(window: Any, rank: int) -> list[TermWindow]:
    if window is None or not window.dimensions:
        return [TermWindow()] * rank
    return [TermWindow(whole(d.size), whole(d.stride), whole(d.pad_low), whole(d.pad_high), whole(d.base_dilation),
                       whole(d.window_dilation), d.reversal) for d in window.dimensions]


def _read(x: Sized, rows: Sequence[TermWindow], i: Places, k: Places) -> tuple[Places, Condition]:
    found = [row.place(a, b, n) for row, a, b, n in zip(rows, i, k, x.dims, strict=True)]
    return tuple(p for p, _ in found), both(*(c for _, c in found))


def of_reduce_window(x: Sized, start: Sized, *, fold: str, window: Any = None) -> Sized:
    """Fold the elements of each window by an operation, `fold`."""
    rows = _rows(window, len(x.dims))

    def element(i: Places) -> Element:
        def body(k: Places) -> Element:
            places, is_own = _read(x, rows, i, k)
            return chosen(is_own, lambda: x.element(places), lambda: start.element(()))

        return Folded(fold, tuple(r.size for r in rows), body, start.element(()))

    dims = tuple(row.places(n) for row, n in zip(rows, x.dims, strict=True))
    return Sized(dims, element, (*x.valid, *start.valid, *(v for r in rows for v in r.valid)))


def of_convolution(x: Sized, y: Sized, *, dim_labels: Any, window: Any = None) -> Sized:
    """Sum the products of each window's elements with the filter's, over features and the window."""
    digits = sorted(c for c in dim_labels.lhs if c.isdigit())
    rows = _rows(window, len(digits))
    at_x, at_y = ({c: n for n, c in enumerate(labels)} for labels in (dim_labels.lhs, dim_labels.rhs))
    spatial = Sized(tuple(x.dims[at_x[c]] for c in digits), lambda i: Scalar("0"))

    def element(i: Places) -> Element:
        own = dict(zip(dim_labels.output, i, strict=True))

        def body(k: Places) -> Element:
            places, is_own = _read(spatial, rows, tuple(own[c] for c in digits), k[1:])
            left = {"b": own["b"], "f": k[0]} | dict(zip(digits, places, strict=True))
            taps = (row.size - ONE - p if row.reversal else p for row, p in zip(rows, k[1:], strict=True))
            right = {"i": k[0], "o": own["f"]} | dict(zip(digits, taps, strict=True))
            factor = chosen(is_own, lambda: x.element(tuple(left[c] for c in dim_labels.lhs)), lambda: Scalar("0"))
            return Mapped("multiply", (factor, y.element(tuple(right[c] for c in dim_labels.rhs))))

        return Folded("add", (x.dims[at_x["f"]], *(r.size for r in rows)), body, Scalar("0"))

    sizes = {"b": x.dims[at_x["b"]], "f": y.dims[at_y["o"]]} | {
        c: row.places(n) for c, row, n in zip(digits, rows, spatial.dims, strict=True)}
    fits = (x.dims[at_x["f"]].equals(y.dims[at_y["i"]]),
            *(y.dims[at_y[c]].equals(row.size) for c, row in zip(digits, rows, strict=True)))
    return Sized(tuple(sizes[c] for c in dim_labels.output), element,
                 (*x.valid, *y.valid, *(v for r in rows for v in r.valid), *fits))
