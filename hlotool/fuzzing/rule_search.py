"""Searches for operands on which a function of them is large: values that are related first, then better neighbours.

What simplifiers rewrite is wrong where sums cancel, near 1, at the ends of a type, and where operands are equal,
opposite or reciprocal. A search that looks there first, and goes on from the worst that it finds, shows how far apart
two forms can be; it cannot show that they are the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

from hlotool.fuzzing.type_values import operand_values
from hlotool.ir import DTYPES
from hlotool.ir.arrays import Array, np

#: arrays of operands -> a number for each element, which is to become large
Score: TypeAlias = Callable[[list[Array]], Array]
#: combinations of a batch, rounds of improvement, and the best that each goes on from
_BATCH, _ROUNDS, _BEST = 1 << 14, 24, 64


def searched(element_type: str, count: int, score: Score) -> Iterator[list[Array]]:
    """Yield arrays of operands: boundaries, related values, then what is near to those with the highest scores.

    The arrays of one list have one length. The search is the same each time.
    """
    dice = np.random.default_rng(20 + count)
    boundaries, _ = operand_values(element_type, count)
    best: list[Array] = []
    for batch in (boundaries, *_related(element_type, count, dice)):
        yield batch
        best = _best(score, best, batch)
    for _ in range(_ROUNDS):
        batch = _neighbours(best, dice)
        yield batch
        best = _best(score, best, batch)


def _best(score: Score, best: list[Array], batch: list[Array]) -> list[Array]:
    """Return the combinations with the highest scores of those known and a batch."""
    both = [np.concatenate([a, b]) for a, b in zip(best, batch, strict=True)] if best else batch
    at = np.argsort(-score(both), kind="stable")[:_BEST]
    return [a[at] for a in both]


def _related(element_type: str, count: int, dice: np.random.Generator) -> Iterator[list[Array]]:
    """Yield values of all exponents, ordinary ones, ones near to 1, and operands that are nearly each other's ends."""
    kind = DTYPES[element_type]
    whole = np.dtype(f"u{kind.bits // 8}")

    def draw() -> Array:
        return dice.integers(0, 1 << kind.bits, _BATCH, dtype=whole).view(kind.numpy)

    if not kind.is_floating:
        yield [draw() for _ in range(count)]
        yield [dice.integers(0, 12, _BATCH).astype(kind.numpy) for _ in range(count)]
        return

    def ordinary(deviation: float) -> Array:
        with np.errstate(all="ignore"):
            made: Array = (np.exp2(dice.normal(0, deviation, _BATCH)) * dice.choice([-1, 1], _BATCH)).astype(kind.numpy)
        return made

    def near(values: Array) -> Array:
        steps = np.exp2(dice.uniform(0, kind.mantissa_bits, _BATCH)).astype(np.int64) * dice.choice([-1, 0, 1], _BATCH)
        made: Array = (values.view(whole).astype(np.int64) + steps).astype(whole).view(kind.numpy)
        return made

    yield [draw() for _ in range(count)]
    for deviation in (1.0, 8.0):
        yield [ordinary(deviation) for _ in range(count)]
    yield [near(np.full(_BATCH, dice.choice([1, -1, 0.5, 2])).astype(kind.numpy)) for _ in range(count)]
    for change in (np.positive, np.negative, np.reciprocal):
        first = ordinary(3.0)
        with np.errstate(all="ignore"):
            ends = change(first.astype(np.float64)).astype(kind.numpy)
        others = [near(ends) for _ in range(count - 1)]
        yield [first, *others]
        yield [ordinary(3.0), *reversed(others), first][:count] if count > 2 else [first, *others]


def _neighbours(best: list[Array], dice: np.random.Generator) -> list[Array]:
    """Return changes of combinations: some of the bits of an operand, a few units, or another operand's opposite."""
    kind = best[0].dtype
    whole = np.dtype(f"u{kind.itemsize}")
    bits = 8 * kind.itemsize
    at = dice.integers(0, len(best[0]), _BATCH)
    found = [a[at].view(whole) for a in best]
    changed, way = dice.integers(0, len(best), _BATCH), dice.integers(0, 4, _BATCH)
    one = np.ones(_BATCH, whole)
    flip = np.left_shift(one, dice.integers(0, bits, _BATCH).astype(whole))
    step = dice.integers(1, 9, _BATCH).astype(whole)
    sign = np.left_shift(one, np.asarray(bits - 1, whole))
    for n, own in enumerate(found):
        other = found[(n + 1) % len(found)]
        ways = (own ^ flip, own + step, own - step, other ^ sign)
        found[n] = np.where(changed == n, np.choose(way, ways), own)
    return [f.view(kind) for f in found]
