"""Makes the values on which rules are tried: all of narrow types, boundaries of wider ones."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hlotool.ir import DTYPES
from hlotool.ir.arrays import Array, np

#: values at the boundaries that each value of a 16-bit type is paired with, and of three operands each
_PARTNERS, _THREE = 8, 24
#: combinations of a batch of all values
_BATCH = 1 << 20


def operand_values(element_type: str, count: int) -> tuple[list[Array], str]:
    """Return arrays that hold combinations of values of `count` operands, and words for what they cover."""
    bits = DTYPES[element_type].bits
    if count == 1:
        first = _boundaries(element_type) if bits > 16 else _everything(element_type)
        return [first], "boundaries" if bits > 16 else "all values"
    if count == 2:
        # Making all values of a wide type would need too much memory.
        first = _boundaries(element_type) if bits > 16 else _everything(element_type)
        sides = [first, first if bits != 16 else _boundaries(element_type, _PARTNERS)]
        words = {8: "all pairs", 16: f"all values, each with {_PARTNERS}", 32: "pairs of boundaries"}[bits]
    else:
        sides, words = [_boundaries(element_type, _THREE)] * count, f"{_THREE} boundaries of each operand"
    return [np.ascontiguousarray(a.reshape(-1)) for a in np.meshgrid(*sides, indexing="ij")], words


def all_values(element_type: str, count: int, bits: int) -> Iterator[list[Array]] | None:
    """Return batches of all combinations of operands' values; None if they are more than so many bits have."""
    own = DTYPES[element_type].bits
    return _all_values(element_type, count) if own * count <= bits else None


def _all_values(element_type: str, count: int) -> Iterator[list[Array]]:
    kind = DTYPES[element_type]
    for start in range(0, 1 << (kind.bits * count), _BATCH):
        numbers = np.arange(start, min(start + _BATCH, 1 << (kind.bits * count)), dtype=np.uint64)
        yield [(numbers >> (kind.bits * n)).astype(f"u{kind.bits // 8}").view(kind.numpy)
               for n in reversed(range(count))]


def matrices(element_type: str, count: int) -> list[list[Array]]:
    """Return square matrices of all values, or boundaries, the second ones in another order; and of ordinary ones."""
    bits = DTYPES[element_type].bits
    values = _boundaries(element_type, 256) if bits > 16 else _everything(element_type)
    if bits == 16:
        values = values[::255][:256]  # all signs and exponents; a whole type has matrices too large for products
    size = int(len(values)**0.5)
    values = values[:size * size]
    whole = [np.ascontiguousarray(np.roll(values, 37 * n).reshape(size, size)) for n in range(count)]
    random = np.random.default_rng(0)
    ordinary = [(2 * random.standard_normal((size, size))).astype(values.dtype) if DTYPES[element_type].is_floating
                else random.integers(0, 12, (size, size)).astype(values.dtype) for _ in range(count)]
    return [whole, ordinary]


def _everything(element_type: str) -> Array:
    bits = DTYPES[element_type].bits
    return np.arange(1 << bits, dtype=f"u{bits // 8}").view(DTYPES[element_type].numpy)


def _boundaries(element_type: str, count: int = 240) -> Array:
    """Return values at the ends and in the middle of exponents, with both signs, evenly thinned out to `count`."""
    kind = DTYPES[element_type]
    half = 1 << (kind.bits - 1)
    if not kind.is_floating:
        chosen: Sequence[int] = sorted({v % (2 * half) for p in range(kind.bits) for v in (
            (1 << p) - 1, 1 << p, (1 << p) + 1, -(1 << p), 3 * p)})
        return _thinned(np.array(chosen, f"u{kind.bits // 8}").view(kind.numpy), count)
    step = 1 << kind.mantissa_bits
    exponents = half // step
    known = np.array([0, 1, 2, 3, 0.5, 0.75, 10, np.inf, np.nan], np.float64).astype(kind.numpy)
    inner = {int(b) for b in known.view(f"u{kind.bits // 8}")} | {1, step - 1, step, half - step - 1, half - 1}
    every = max(1, exponents // 60)
    inner |= {e * step + m for e in range(0, exponents, every) for m in (0, 1, step * 2 // 3)}
    first = sorted(b for b in inner if b < half)
    essential = sorted({int(b) for b in known.view(f"u{kind.bits // 8}") if int(b) < half} | {1, half - step - 1})
    rest = [b for b in first if b not in essential]
    room = max(0, count // 2 - len(essential))
    kept = essential[:count // 2] + list(_thinned(np.array(rest), room) if room else ())
    both = list(itertools.chain.from_iterable((int(b), int(b) | half) for b in kept))
    return np.array(both, f"u{kind.bits // 8}").view(kind.numpy)


def _thinned(values: Array, count: int) -> Array:
    if len(values) <= count:
        return values
    places: Array = np.unique(np.linspace(0, len(values) - 1, count).astype(int))
    return np.take(values, places)
