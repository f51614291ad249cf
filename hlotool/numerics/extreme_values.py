"""Programs and arguments whose values stand at the ends of a type's range: overflow, underflow, infinities, NaN.

In a program of many roundings such arguments overflow in the first operations, and of what follows a result says
little: a rewrite that is sound on numbers gives another NaN, or none. What differs there is *doubtful*, element by
element, until it is known where the sides part (`Locator`):

    on ordinary numbers (an exponential of      it counts
    100 overflows), or at one operation alone
    only in what several operations make        no verdict: RANGE_END, for each element
    together out of numbers at the ends
    it is not found where                       it counts where both sides are finite, else RANGE_END

Of a result that few roundings lead to everything counts.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.execution import leaves
from hlotool.ir import HloComputation, HloInstruction, HloModule, dtype_of_numpy, reachable
from hlotool.ir.arrays import Array, np
from hlotool.numerics.allowance import terms
from hlotool.numerics.judgement import Judgement, Kind
from hlotool.ops import OPS, Calls, Elements, Freedom, limits, opcodes, with_flag

#: programs of so many rounding instructions are small: what they do at the ends of the range can be followed
SMALL = 24
#: what gives elements at the place where it takes them, or numbers that no argument changes
_IN_PLACE = with_flag("elementwise") | {"broadcast"} | opcodes(
    lambda flow: flow.elements is Elements.GIVEN and not flow.effect)
#: how near to the value at higher precision a value is that has avoided an overflow
_NEAR = 1e-2
#: ordinary numbers: at least this from 0 and at most its reciprocal; less in types of short range (`_are_ordinary`)
_ORDINARY = 1e-9


@dataclass(frozen=True)
class Doubt:
    """A result that differs on arguments at the ends of the range."""

    #: the executor that gave it, and the leaf
    executor: str
    result: int
    arguments: list[list[Array]]


#: whether the sides part on ordinary numbers or at one operation alone; None: it was not found where
Locator: TypeAlias = Callable[[Doubt], "bool | None"]


def without_ends(found: Judgement, located: bool | None) -> Judgement:
    """The judgement with what the ends of the range explain left open; itself."""
    if found.problem or located is True:
        return found
    open_ = found.kinds >= Kind.NON_FINITE
    kind = dtype_of_numpy(np.asarray(found.reference).dtype)
    if located is None and kind.family in ("float", "complex"):
        wide = np.complex128 if kind.is_complex else np.float64
        open_ &= ~(np.isfinite(found.reference.astype(wide)) & np.isfinite(found.given.astype(wide)))
    found.kinds = np.where(open_, Kind.RANGE_END, found.kinds).astype(np.int8)
    return found.count()


def roundings(module: HloModule, result: int | None = None) -> int:
    """How many roundings stand between a program's arguments and its results, or one leaf of them, about."""
    return round(sum(map(_roundings, module.instructions() if result is None else _behind(module.entry, result))))


def is_exact(module: HloModule, result: int) -> bool:
    """Return True if nothing rounds between a program's arguments and a leaf of its result, nor may have been rounded.

    A constant that is no whole number may be what a compiler has made of a rounded value.
    """
    behind = list(_behind(module.entry, result))
    return any(i.opcode == "parameter" for i in behind) and all(map(_only_moves, behind))


def _only_moves(instruction: HloInstruction) -> bool:
    is_number = instruction.shape.is_array and instruction.shape.dtype.family in ("float", "complex")
    if instruction.opcode == "constant" and is_number:
        return not instruction.literal.has_elided and _is_whole(instruction.literal.array)
    return instruction.opcode in OPS and OPS[instruction.opcode].freedom.defined


def _is_whole(numbers: Array) -> bool:
    """Return True if all are whole numbers, infinities, or NaN."""
    with np.errstate(all="ignore"):
        wide = numbers.astype(np.complex128)
        return bool(((wide == np.rint(wide)) | ~np.isfinite(wide)).all())


def _behind(entry: HloComputation, result: int) -> Iterator[HloInstruction]:
    """Return what a leaf of the result is computed of, in called computations too."""
    owners = [o for o in entry.root.operands for _ in leaves(o.shape)] if entry.root.opcode == "tuple" else []
    waiting = [owners[result] if result < len(owners) else entry.root]
    found: set[HloInstruction] = set()
    while waiting:
        instruction = waiting.pop()
        if instruction not in found:
            found.add(instruction)
            waiting += instruction.operands
    yield from found
    for computation in reachable(c for i in found for c in i.called_computations()):
        yield from computation.instructions


def _roundings(instruction: HloInstruction) -> float:
    """Of one instruction: each term of a sum, each element of a matrix that is factored, is one."""
    record = OPS.get(instruction.opcode)
    shapes = [s for s in leaves(instruction.shape) if s.is_array and s.dtype.family in ("float", "complex")]
    if record is None or not shapes:
        return 0
    dims = instruction.operands[0].shape.dims if instruction.operands and instruction.operands[0].shape.is_array else ()
    if record.freedom is Freedom.SUMS:
        lhs, rhs = (o.shape.size for o in instruction.operands[:2])
        return max(1.0, math.sqrt(lhs * rhs / max(1, shapes[0].size)))
    target = str(instruction.attributes.get("custom_call_target", ""))
    if record.freedom is Freedom.BACKWARD or target.startswith("lapack_"):
        return max(1, math.prod(dims[-2:]))
    if "elementwise" in record.flags:
        return 0 if record.freedom in (Freedom.EXACT, Freedom.READS) else 1
    if record.flow.enters or record.flow.calls is Calls.EACH:
        return 0
    # What folds rounds in its reducer, and that is counted once by itself.
    inside = sum(_roundings(i) for c in instruction.called_computations() for i in c.instructions)
    return inside * (terms(instruction) - 1)


def is_extreme(values: Sequence[Sequence[Array]]) -> bool:
    """Return True if arguments hold numbers at the ends of the range, infinities or NaN."""
    return not all(bool(_are_ordinary(leaf).all()) for row in values for leaf in row)


def takes_ordinary(values: Sequence[Array], judgement: Judgement, instructions: Iterable[HloInstruction]) -> bool:
    """Return True if one of the wrong elements of what instructions make is computed of ordinary numbers only.

    Of elementwise instructions each element takes those at its own place; of others all of `values` count.
    """
    wrong = judgement.kinds >= Kind.NON_FINITE
    if judgement.problem or not is_elementwise(instructions):
        return not is_extreme([values])
    for ordinary in map(_are_ordinary, values):
        wrong = wrong & (ordinary if ordinary.shape == wrong.shape else ordinary.all())
    return bool(wrong.any())


def _are_ordinary(array: Array) -> Array:
    """Return the elements that are ordinary numbers, as a mask."""
    array = np.asarray(array)
    kind = dtype_of_numpy(array.dtype)
    if kind.family not in ("float", "complex"):
        return np.ones(array.shape, np.bool_)
    with np.errstate(invalid="ignore"):  # casts of signalling NaNs
        sizes = np.abs(array.astype(np.complex128 if array.dtype.kind == "c" else np.float64))
    # The square of an ordinary number is far from overflow; small numbers of types of short range are drawn everywhere.
    most = min(1 / _ORDINARY, math.sqrt(limits(kind.component)[0]) / 2)
    return np.asarray((sizes == 0) | ((sizes >= _ORDINARY) & (sizes <= most)))


def is_elementwise(instructions: Iterable[HloInstruction]) -> bool:
    """Return True if elements of those instructions take only elements at their own place, and what is broadcast."""
    return all(i.opcode in _IN_PLACE for i in instructions)


def avoids_overflow(judgement: Judgement) -> bool:
    """Return True if all that is wrong is finiteness, and what is judged is what higher precision gives."""
    shadow = judgement.shadow
    if judgement.kind is not Kind.NON_FINITE or shadow is None:
        return False
    at = judgement.kinds == Kind.NON_FINITE
    given, exact = judgement.given[at], shadow[at]
    if given.dtype.kind == "c":
        return bool((np.isfinite(given) == np.isfinite(exact)).all())
    with np.errstate(all="ignore"):
        given, exact = given.astype(exact.dtype), exact.astype(given.dtype).astype(exact.dtype)
        near = np.isfinite(given) & (np.abs(given - exact) <= _NEAR * np.abs(exact))
    return bool((near | (given == exact) | (np.isnan(given) & np.isnan(exact))).all())


def rounding_instructions(module: HloModule) -> int:
    """Return how many instructions of a module round.

    A sum counts once, whatever its length: `roundings` weighs it, which asks how large an error may be, not
    how much of a program there is to blame.
    """
    return sum(1 for i in module.instructions() if i.shape.is_array and i.shape.dtype.family in ("float", "complex")
               and (record := OPS.get(i.opcode)) is not None
               and (record.freedom in (Freedom.SUMS, Freedom.BACKWARD)
                    or ("elementwise" in record.flags and record.freedom not in (Freedom.EXACT, Freedom.READS))))
