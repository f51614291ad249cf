"""The bits of NaN as numbers: which of the many NaNs an operation gives, IEEE 754 leaves open, its sign included."""

from __future__ import annotations

from collections.abc import Callable, Container
from typing import Any

from hlotool.ir import HloInstruction, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.numerics.ulps import is_nan
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


def tells_signs_of_nan(instruction: HloInstruction) -> bool:
    """Return True if an instruction compares in the order of all values, in which -NaN is the least and NaN the
    greatest, or sorts by such comparisons."""
    if instruction.opcode == "sort":
        return any(map(tells_signs_of_nan, instruction.called_computations()[0].instructions))
    return instruction.opcode == "compare" and instruction.attributes.get("type") == "TOTALORDER"


def with_open_signs(instruction: HloInstruction, function: Callable[..., Any], turn: int,
                    given: Container[HloInstruction] = ()) -> Callable[..., Any]:
    """The function of such an instruction, for which all NaNs that the program computes have, turn about, one sign."""
    is_given = [source_of(o, lambda flow: flow.moves) in given for o in instruction.operands]

    def call(*operands: Array, **keywords: Any) -> Any:
        return function(*(operand if fixed else _signed(operand, turn)
                          for operand, fixed in zip(operands, is_given, strict=True)), **keywords)

    return call


def _signed(operand: Array, turn: int) -> Array:
    if not dtype_of_numpy(operand.dtype).is_floating or not (nan := is_nan(operand)).any():
        return operand
    sign = np.asarray(-1 if turn % 2 else 1).astype(operand.dtype)
    return np.where(nan, np.copysign(operand, sign), operand)
