"""The bits of NaN as numbers: which of the many NaNs an operation gives, IEEE 754 leaves open, its sign included."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.ops import source_of


def with_open_nans(instruction: HloInstruction, function: Callable[..., Array], turn: int,
                   given: Container[HloInstruction] = ()) -> Callable[..., Array]:
    """A bitcast-convert to integers of as many bits whose NaNs are, turn about, the usual one with either sign, all
    ones, or their own.

    `given` are the arguments of the program: NaNs that nothing computes with keep their bits.
    """
    if source_of(instruction.operands[0], lambda flow: flow.moves) in given:
        return function

    def call(operand: Array, **keywords: Any) -> Array:
        found = np.asarray(function(operand, **keywords))
        held = np.asarray(operand)
        if held.dtype.kind in "iubc" or found.dtype.kind not in "iu" or found.shape != held.shape:
            return found
        nan = np.isnan(held)
        if turn % 4 == 3 or not nan.any():
            return found
        usual = np.full(held.shape, np.nan, held.dtype)
        other = (~np.zeros_like(found) if turn % 4 == 1
                 else np.copysign(usual, np.asarray(turn % 4 - 1).astype(held.dtype)).view(found.dtype))
        return np.where(nan, other, found)

    return call
