"""Orders that reductions leave open: of their elements, and of the places of initial values among them.

    sums in windows     are the sums of two random halves of the elements
    every sum           may be off by the last place of the sum of magnitudes: few orders are drawn of many, and
                        compilers draw sums that are parts of sums together
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import Array, np
from hlotool.numerics.higher_precision import own, widened
from hlotool.numerics.overflow import OpenEnds, Plain, fold_of
from hlotool.numerics.ulps import are_whole, ulp_of, unit_of
from hlotool.ops import Freedom, binary_opcode, freedom_of

Function: TypeAlias = Callable[..., Any]


def reduced_otherwise(instruction: HloInstruction, function: Function, random: Any, turn: int,
                      ends: OpenEnds) -> Function:
    """A reduction in another order; one that chooses meets its initial values last at every second turn."""
    chooses = len(instruction.operands) > 2 and any(
        i.opcode == "compare" for c in instruction.called_computations() for i in c.instructions)

    def call(*operands: Array, dimensions: Sequence[int] = (), **keywords: Any) -> Any:
        count = len(operands) // 2
        inputs = list(operands[:count])
        for d in dimensions:
            order = random.permutation(inputs[0].shape[d])
            inputs = [np.take(a, order, axis=d) for a in inputs]
        if chooses and dimensions and turn % 2:  # of equal ones the last may be chosen
            inputs = [_with_slice(a, i, dimensions[0]) for a, i in zip(inputs, operands[count:], strict=True)]
        found = function(*inputs, *operands[count:], dimensions=dimensions, **keywords)
        return ends.folded(instruction, function, operands, {"dimensions": dimensions, **keywords}, found)

    return call


def _with_slice(array: Array, value: Array, dimension: int) -> Array:
    """An array with a slice of one value behind the others."""
    dims = [1 if d == dimension else n for d, n in enumerate(array.shape)]
    return np.concatenate([array, np.broadcast_to(value, dims).astype(array.dtype)], axis=dimension)


def windows_otherwise(instruction: HloInstruction, function: Function, random: Any) -> Function:
    """The sums in windows as sums of two halves of their elements; other operations as they are."""
    if fold_of(instruction) != "add":
        return function

    def call(values: Array, initial: Array, **keywords: Any) -> Any:
        nothing = np.zeros((), values.dtype)
        is_first = random.integers(0, 2, values.shape) > 0
        first = function(np.where(is_first, values, nothing), initial, **keywords)
        second = function(np.where(is_first, nothing, values), np.zeros_like(initial), **keywords)
        with np.errstate(all="ignore"):
            return np.asarray(first + second).astype(first.dtype, copy=False)

    return call


def summed_up_further(module: HloModule) -> frozenset[HloInstruction]:
    """The sums and differences of two floats that a reduction sums up."""
    return frozenset(i.operands[0] for i in module.instructions() if i.opcode == "reduce" and fold_of(i) == "add"
                     and i.operands[0].opcode in ("add", "subtract"))


def sums_up(instruction: HloInstruction) -> bool:
    """Return True if an instruction adds up many floats: along dimensions, in windows, or those of several devices."""
    if freedom_of(instruction) in (Freedom.TERMS, Freedom.WINDOWS):
        return fold_of(instruction) == "add"
    shape = instruction.shape
    return (freedom_of(instruction) is Freedom.DEVICES and shape.is_array and shape.dtype.is_floating
            and binary_opcode(instruction.called_computations()[0]) == "add")


def off_by_magnitudes(instruction: HloInstruction, function: Function, drawn: Function, random: Any,
                      ends: OpenEnds | None) -> Function:
    """The sum, off by up to the last place of the sum of its terms' magnitudes; sums of whole numbers that fit not.

    `function` is the operation's own, `drawn` takes the sum in another order; `ends` hears of sums that may overflow.
    """
    shape, kind = instruction.shape, instruction.shape.dtype

    def call(*operands: Array, **keywords: Any) -> Any:
        found = drawn(*operands, **keywords)
        plain = keywords | {"to_apply": Plain(keywords["to_apply"].computation, np.add)}
        with np.errstate(all="ignore"):
            wide = [widened(a, o.shape) for a, o in zip(operands, instruction.operands, strict=True)]
            sizes = [np.abs(w) if ends is None else ends.magnitudes(a, w) for a, w in zip(operands, wide, strict=True)]
            size = function(*sizes, **plain)
            is_open = np.isfinite(size) & ~are_whole(unit_of(kind), size)
            error = np.where(is_open, ulp_of(np.where(np.isfinite(size), size, 0), kind), 0.0)
            moved = own(widened(found, shape) + random.uniform(-1.0, 1.0, error.shape) * error, shape)
        if ends is not None:
            ends.note_sum(moved, function(*wide, **plain), size, shape)
        return moved

    return call
