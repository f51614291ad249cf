"""Other values of a constant: those of the first module, numbers made of them, and the one that a result asks for.

    left                                right, optimised
    n = f32[] constant(12)              c = f32[] constant(0.25)      1 / 12 is tried
    m = f32[4] divide(s, n)             m = f32[4] multiply(s, c)

The number that a result asks for is found by the secant method: with two values of the constant an element of a wrong
result has two values, and the straight line through them says where it has the first module's.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator

from hlotool.blame.small_edits import SmallEdit, edit_of
from hlotool.blame.value_partners import LeftValues, plain
from hlotool.execution import flat
from hlotool.ir import DType, HloInstruction, Literal
from hlotool.ir.arrays import Array, np

#: numbers of the first module of which others are made, and those that are tried where no result tells the number
_MADE_OF, _TRIED = 24, 100
#: whole arrays of the first module that are tried
_ARRAYS = 12
#: steps of the secant method, and the share of a number that ends it
_STEPS, _NEAR = 16, 1e-3
#: numbers near the one that a result asks for which are tried
_NEAREST = 4


class FirstNumbers:
    """The numbers of the first module: values that are one number everywhere, and arrays."""

    def __init__(self, left: LeftValues) -> None:
        numbers: dict[tuple[str, float], None] = {}
        self._arrays: dict[int, list[Array]] = {}
        for site, times in left.run.values.items():
            for leaf in flat(site[-1].shape, next(iter(times.values()))):
                row = plain(leaf)
                if row.size and row.dtype.kind != "c" and (row == row[0]).all():
                    numbers[row.dtype.kind, row[0].item()] = None
                elif site[-1].opcode != "parameter":
                    self._arrays.setdefault(row.size, []).append(row)
        self._numbers = numbers

    def plain(self, dtype: DType) -> list[float]:
        """Return the numbers for constants of a type."""
        kind = "f" if dtype.is_floating else "b" if dtype.family == "pred" else "i"
        return [number for k, number in self._numbers if k == kind]

    def arrays(self, size: int) -> list[Array]:
        """Return values of a size, in one row."""
        return self._arrays.get(size, [])[:_ARRAYS]


def constant_edits(constant: HloInstruction, numbers: FirstNumbers, asked: Callable[[SmallEdit], float | None]
                   ) -> Iterator[SmallEdit]:
    """Yield the edits of a constant. `asked` gives how far an element of a result is off with an edit."""
    value, dtype = constant.literal.array, constant.shape.dtype
    if not value.size or dtype.is_complex:
        return
    if not (value == value.reshape(-1)[0]).all():
        for row in numbers.arrays(value.size):
            yield _with(constant, row.reshape(value.shape))
        return
    old = value.reshape(-1)[0].item()
    found: list[float]
    if dtype.is_floating:
        found = list(_floats(constant, old, numbers.plain(dtype), asked))
    elif dtype.family == "pred":
        found = [not old]
    else:
        found = [*_whole(int(old), numbers.plain(dtype))]
    for number in dict.fromkeys(found):
        if number != old and (edit := _fitting(constant, number)) is not None:
            yield edit


def _floats(constant: HloInstruction, old: float, numbers: list[float], asked: Callable[[SmallEdit], float | None]
            ) -> Iterator[float]:
    starts = dict.fromkeys((old, 0.0, -old)) if math.isfinite(old) else ()
    found = (_secant(start, lambda number: asked(_with(constant, np.asarray(number)))) for start in starts)
    roots = [root for root in found if root is not None]
    for wanted in roots:
        made = sorted(set(_made_of(numbers[:_MADE_OF])), key=lambda n: abs(n - wanted))
        yield from (n for n in made[:_NEAREST] if abs(n - wanted) <= _NEAR * abs(wanted) + 1e-30)
        yield wanted
    if not roots:
        others = (*numbers, 0.0, 1.0, -1.0, -old, math.inf, -math.inf, *_made_of(numbers[:_MADE_OF]))
        yield from itertools.islice(dict.fromkeys(others), _TRIED)


def _made_of(numbers: Iterable[float]) -> Iterator[float]:
    """Yield numbers, their opposites, inverses and the like, and products and quotients of two."""
    finite = [n for n in numbers if math.isfinite(n)]
    for n in (0.0, 1.0, *finite):
        yield from (n, -n, n * n, 1 - n, n + 1, n - 1, math.sqrt(abs(n)), n * math.log2(math.e), n * math.log(2))
        if n:
            yield from (1 / n, -1 / n)
    for a, b in itertools.permutations(finite, 2):
        yield from (a * b, a + b, a - b, *([a / b] if b else []))


def _whole(old: int, numbers: list[float]) -> list[int]:
    near = (old + 1, old - 1, old + 2, old - 2, 2 * old, old // 2, -old, ~old, 0, 1, -1)
    return [*near, *map(int, numbers)][:_TRIED]


def _secant(start: float, error: Callable[[float], float | None]) -> float | None:
    """Return the number at which there is no error; None where none is found."""
    one, other = start, start * 1.25 + 0.125
    first, second = error(one), error(other)
    for _ in range(_STEPS):
        if first is None or second is None or first == second:
            return None
        one, other, first = other, other - second * (other - one) / (second - first), second
        if not math.isfinite(other):
            return None
        if abs(other - one) <= 1e-7 * abs(other):
            return other
        second = error(other)
        if second == 0.0:
            return other
    return None


def _with(constant: HloInstruction, value: Array) -> SmallEdit:
    shape = constant.shape.without_layout()
    with np.errstate(all="ignore"):
        array = np.broadcast_to(value, shape.dims).astype(shape.dtype.numpy)
    return edit_of(constant, attributes=constant.attributes | {"literal": Literal(shape, array)})


def _fitting(constant: HloInstruction, number: float) -> SmallEdit | None:
    """Return the edit to a number; None for one that the type does not hold."""
    try:
        edit = _with(constant, np.asarray(number))
    except (OverflowError, ValueError):
        return None
    dtype = constant.shape.dtype
    if dtype.is_integral and int(edit.attributes["literal"].array.reshape(-1)[0]) != number:
        return None
    return edit
