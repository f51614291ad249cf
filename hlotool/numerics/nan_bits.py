"""The bits of NaN as numbers: which of the many NaNs an operation gives, IEEE 754 leaves open, its sign included."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hlotool.ir.arrays import Array, np


def with_open_nans(function: Callable[..., Array], turn: int) -> Callable[..., Array]:
    """A bitcast-convert to integers of as many bits whose NaNs are, turn about, negative, all ones, or their own."""
    def call(operand: Array, **keywords: Any) -> Array:
        found = np.asarray(function(operand, **keywords))
        given = np.asarray(operand)
        if given.dtype.kind in "iubc" or found.dtype.kind not in "iu" or found.shape != given.shape:
            return found
        nan = np.isnan(given)
        if turn % 3 == 2 or not nan.any():
            return found
        other = ~np.zeros_like(found) if turn % 3 else np.copysign(given, -np.ones((), given.dtype)).view(found.dtype)
        return np.where(nan, other, found)

    return call
