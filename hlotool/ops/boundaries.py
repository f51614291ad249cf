"""Where operations change their behaviour: operand values worth trying, as rewrites that are almost right fail there.

What an operation declares (`Op.boundaries`) stands beside it; the functions here say it for families. What follows from
element types (`limits`) or shows in the function itself (`turning_points`: where exp overflows, tanh saturates, log
leaves the reals) needs no declaration.
"""

from __future__ import annotations

import functools
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from hlotool.ir import DTYPES, DType, HloInstruction
from hlotool.ir.arrays import Array, np

Boundaries = Mapping[int, Sequence[float]]


def around(*values: int) -> tuple[int, ...]:
    """Each number and its neighbours."""
    return tuple(dict.fromkeys(n for v in values for n in (v, v - 1, v + 1)))


def of_starts(whole: Sequence[int], block: Sequence[int], first: int) -> dict[int, tuple[int, ...]]:
    """Start indices that are operands of their own: the first and the last place that fits, both sides of them."""
    return {first + i: around(0, max(0, w - b), w) for i, (w, b) in enumerate(zip(whole, block, strict=True))}


def of_dynamic_slice(instruction: HloInstruction) -> Boundaries:
    """Starts are clamped so that the block fits."""
    sizes = instruction.attributes.get("dynamic_slice_sizes", ())
    return _starts(instruction, sizes, 1)


def of_dynamic_update_slice(instruction: HloInstruction) -> Boundaries:
    """The same for the block that is written."""
    return _starts(instruction, instruction.operands[1].shape.dims, 2)


def _starts(instruction: HloInstruction, block: Sequence[int], first: int) -> Boundaries:
    whole = instruction.operands[0].shape
    if not whole.is_array or len(whole.dims) != len(block):
        return {}
    found = of_starts(whole.dims, block, first)
    if len(instruction.operands) == first + 1 and instruction.operands[first].shape.rank == 1:
        return {first: tuple(dict.fromkeys(v for row in found.values() for v in row))}
    return found


def of_gather(instruction: HloInstruction) -> Boundaries:
    """Indices are clamped so that the slice fits."""
    sizes = instruction.attributes.get("slice_sizes", ())
    dims = instruction.operands[0].shape.dims
    mapped = instruction.attributes.get("start_index_map", ())
    return {1: tuple(dict.fromkeys(v for d in mapped for v in around(0, dims[d] - sizes[d], dims[d])))}


def of_scatter(instruction: HloInstruction) -> Boundaries:
    """Updates outside of the operand are dropped."""
    count = (len(instruction.operands) - 1) // 2
    dims = instruction.operands[0].shape.dims
    sizes, mapped = scatter_window(instruction), instruction.attributes.get("scatter_dims_to_operand_dims", ())
    return {count: tuple(dict.fromkeys(v for d in mapped for v in around(0, dims[d] - sizes.get(d, 1))))}


def scatter_window(scatter: HloInstruction) -> dict[int, int]:
    """Return the size of an update's window along each dimension of the operand; those left out have size 1."""
    given = scatter.attributes
    gone = (*given.get("inserted_window_dims", ()), *given.get("input_batching_dims", ()))
    kept = [d for d in range(scatter.operands[0].shape.rank) if d not in gone]
    update = scatter.operands[-1].shape
    return dict(zip(kept, (update.dims[d] for d in given.get("update_window_dims", ())), strict=False))


def of_conditional(instruction: HloInstruction) -> Boundaries:
    """A number without a branch takes the last one."""
    count = len(instruction.operands) - 1
    return {0: (*range(min(count, 16)), -1, count, count + 1)}


def of_shift(instruction: HloInstruction) -> Boundaries:
    """Past the width nothing is left; there is no negative shift."""
    bits = instruction.shape.dtype.bits
    return {1: (0, 1, bits - 1, bits, bits + 1, -1)}


def of_divide(instruction: HloInstruction) -> Boundaries:
    """By zero and by -1, of the least integer; by numbers whose reciprocals do not exist."""
    kind = instruction.shape.dtype
    if kind.is_integral:
        return {0: limits(kind), 1: (0, -1, 1, 2, *limits(kind))}
    return {1: (0.0, -0.0, 3.0, *limits(kind))} if kind.is_floating else {}


def of_power(instruction: HloInstruction) -> Boundaries:
    """Exponents with forms of their own."""
    return {0: (0, 1, -1, 2), 1: (0, 1, -1, 2, 3, -2, *((0.5, -0.5) if instruction.shape.dtype.is_floating else ()))}


def of_convert(instruction: HloInstruction) -> Boundaries:
    """Return values that the narrower type cannot hold: past its limits, between its numbers."""
    source, target = instruction.operands[0].shape.dtype, instruction.shape.dtype
    if not (target.is_integral or target.is_floating):
        return {}
    found: list[float] = [*limits(target)]
    if target.is_integral:
        low, high = int_limits(target)
        found += [low - 1, high + 1, 2 * high, -1]
        if source.is_floating:
            found += [0.5, -0.5, 1.5, 2.75, -1.25, -2.75]
    elif source.is_integral or target.bits < source.bits:
        found += [2 ** (target.mantissa_bits + 1) + 1, 2 ** (target.mantissa_bits + 2) + 3]
        if source.is_floating:
            found += _beside_ties(source, target)
    return {0: tuple(found)}


def of_reduce_precision(instruction: HloInstruction) -> Boundaries:
    """Return numbers half-way between two of the fewer bits, and the ends of the smaller range."""
    kind, kept = instruction.shape.dtype, instruction.attributes["mantissa_bits"]
    top = 2.0 ** min(2 ** (min(instruction.attributes["exponent_bits"], 12) - 1) - 1, _top_exponent(kind))
    half, step = 2.0 ** -(kept + 1), 2.0**-kind.mantissa_bits
    if kept >= kind.mantissa_bits:
        return {0: (top, -top)}
    ties = [1 + half, 1 + 3 * half, -(1 + half)]
    ends = [top * (2 - half), top * (2 - half - step), 2 / top, 1 / top, -(2 - half) * top]
    return {0: (*ties, ties[0] + step, ties[1] - step, *ends)}


def _top_exponent(kind: DType) -> int:
    """Return the exponent of the largest number of a type."""
    return int(np.frexp(np.float64(limits(kind)[0]))[1]) - 1


def _beside_ties(source: DType, target: DType) -> list[float]:
    """Numbers half-way between two of the narrower type, and just beside: rounded twice they go the other way."""
    half, step = 2.0 ** -(target.mantissa_bits + 1), 2.0**-source.mantissa_bits
    ties = [1 + half, 1 + 3 * half]
    return [*ties, ties[0] + step, ties[1] - step, -(ties[0] + step), (1 - half / 2) * 2 * float(limits(target)[0])]


def int_limits(kind: DType) -> tuple[int, int]:
    """The least and the greatest integer of a type."""
    top = 1 << (kind.bits - kind.is_signed)
    return (-top if kind.is_signed else 0), top - 1


def flushed(array: Array, kind: DType) -> Array:
    """Return an array with zeros of their sign for subnormal numbers of floats of 16 bits and more.

    Processors may read and give them so.
    """
    if not kind.is_floating or kind.bits < 16:
        return array
    with np.errstate(all="ignore"):
        is_small = np.abs(array.astype(np.float64)) < limits(kind)[2]
        return np.where(is_small, array * np.zeros((), array.dtype), array) if is_small.any() else array


@functools.cache
def limits(kind: DType) -> tuple[float, ...]:
    """The ends of an element type: its extreme numbers, and for floats its smallest normal one."""
    if kind.is_integral:
        low, high = int_limits(kind)
        return tuple(dict.fromkeys((low, high, low + 1, high - 1)))
    if not kind.is_floating:
        return ()
    import ml_dtypes

    known = ml_dtypes.finfo(kind.numpy)
    return (float(known.max), -float(known.max), float(known.tiny), -float(known.tiny))


@functools.cache
def specials(kind: DType) -> tuple[float, ...]:
    """Numbers that every operation on a type should meet."""
    if kind.is_integral:
        low, high = int_limits(kind)
        return tuple(dict.fromkeys(v for v in (0, 1, -1, 2, low, high, low + 1, high - 1, high // 2 + 1)
                                   if low <= v <= high))
    if kind.is_floating:
        return (0.0, -0.0, 1.0, -1.0, 0.5, -2.0, *limits(kind), float("inf"), float("-inf"), float("nan"))
    return (0, 1)


@functools.cache
def turning_points(opcode: str, type_name: str) -> tuple[float, ...]:
    """Where an elementwise function of one float changes: finite to infinite, normal to zero, real to NaN, its sign, or
    where it stops changing.

    >>> [round(x) for x in turning_points("exponential", "f32") if 80 < x < 100]
    [89, 89]
    """
    from hlotool.ops.table import OPS

    record, kind = OPS.get(opcode), DTYPES[type_name]
    if record is None or not kind.is_floating or "elementwise" not in record.flags or len(record.operands) != 1:
        return ()
    grid = _grid(kind)
    with np.errstate(all="ignore"):
        try:
            classes = _classes(record.evaluate(grid.astype(kind.numpy)))
        except (TypeError, ValueError, KeyError):
            return ()
        low, high = grid[:-1].copy(), grid[1:].copy()
        ends = classes[:-1] != classes[1:]
        low, high, left = low[ends], high[ends], classes[:-1][ends]
        for _ in range(60):
            middle = (low + high) / 2
            same = _classes(record.evaluate(middle.astype(kind.numpy))) == left
            low, high = np.where(same, middle, low), np.where(same, high, middle)
    if len(low) > 12:  # a periodic function: no place is special
        return ()
    found = np.concatenate([low, high]).astype(kind.numpy).astype(np.float64)
    return tuple(float(v) for v in dict.fromkeys(found.tolist()) if np.isfinite(v))


def _grid(kind: DType) -> Any:
    known = limits(kind)
    with np.errstate(over="ignore"):
        sizes = np.geomspace(known[2], known[0], 400) if known[2] > 0 else np.linspace(known[0] / 400, known[0], 400)
    return np.concatenate([-sizes[::-1], [0.0], sizes])


def _classes(values: Any) -> Any:
    """NaN, the infinities, zeros, ones (where functions saturate), negative, positive."""
    import ml_dtypes

    tiny = float(ml_dtypes.finfo(values.dtype).tiny) if values.dtype.kind != "b" else 0.0
    wide = values.astype(np.float64)
    found = np.where(wide > 0, 1, np.where(wide < 0, 2, 0))
    found = np.where(np.abs(wide) < tiny, 3, found)
    found = np.where(np.abs(wide) == 1, 4 + found, found)
    found = np.where(np.isinf(wide), 8 + found, found)
    return np.where(np.isnan(wide), 12, found)


def unique(values: Iterable[float]) -> tuple[float, ...]:
    """Each number once, zeros of both signs apart."""
    return tuple({(v, str(v)[:1] == "-"): v for v in values}.values())
