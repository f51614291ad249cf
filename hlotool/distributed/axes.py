"""Axes of a mesh of devices, tried one after the other: groups, permutations and placements that a program may mean.

A mesh need not be known: devices are laid out along the prime factors of their number, and every axis of a mesh that
is laid out row by row is one of these, or several next to each other.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hlotool.ir import Placement
from hlotool.ir.arrays import np

#: a list of groups of devices
Groups = tuple[tuple[int, ...], ...]
#: sources and targets
Pairs = tuple[tuple[int, int], ...]


def prime_axes(devices: int) -> tuple[int, ...]:
    """Return the prime factors of a number of devices, each an axis."""
    found, rest, factor = [], devices, 2
    while rest > 1:
        while rest % factor == 0:
            found.append(factor)
            rest //= factor
        factor += 1
    return tuple(found)


def groups_along_axes(devices: int) -> Iterator[Groups]:
    """Yield the groups of devices that differ only in some of the axes, for each choice of axes but none."""
    axes = prime_axes(devices)
    grid = np.arange(devices).reshape(axes or (1,))
    for count in range(1, len(axes) + 1):
        for chosen in itertools.combinations(range(len(axes)), count):
            rest = [a for a in range(len(axes)) if a not in chosen]
            rows = grid.transpose([*rest, *chosen]).reshape(-1, int(np.prod([axes[a] for a in chosen])))
            yield tuple(tuple(int(d) for d in row) for row in rows)


def permutations_along_axes(devices: int) -> Iterator[Pairs]:
    """Yield shifts along axes, with and without the way around, and exchanges of the axes themselves."""
    for groups in groups_along_axes(devices):
        size = len(groups[0])
        for shift in [s for k in range(1, size) for s in (k, -k)]:
            for wraps in (False, True):
                yield tuple((g[at], g[(at + shift) % size]) for g in groups for at in range(size)
                            if wraps or 0 <= at + shift < size)
    axes = prime_axes(devices)
    grid = np.arange(devices).reshape(axes or (1,))
    for order in itertools.permutations(range(len(axes))):
        yield tuple((int(a), d) for d, a in enumerate(grid.transpose(order).ravel()))


def placements_along_axes(whole: Sequence[int], part: Sequence[int], devices: int) -> Iterator[Placement]:
    """Yield the placements of an array of some dimensions in parts of others, each dimension split over some axes."""
    if len(whole) != len(part) or any(p == 0 < w or p > w for w, p in zip(whole, part, strict=True)):
        return
    counts = [-(-w // p) if p else 1 for w, p in zip(whole, part, strict=True)]
    axes = prime_axes(devices)
    grid = np.indices(axes or (1,)).reshape(len(axes) or 1, -1)
    for chosen in _splits(counts, axes, ()):
        columns = [np.ravel_multi_index([grid[a] for a in along], [axes[a] for a in along]) if along
                   else np.zeros(devices, np.int64) for along in chosen]
        yield Placement(tuple(counts), tuple(tuple(int(c[d]) for c in columns) for d in range(devices)))


def _splits(counts: Sequence[int], axes: Sequence[int], used: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Yield for each dimension the axes over which it is split, in order."""
    if not counts:
        yield ()
        return
    free = [a for a in range(len(axes)) if a not in used]
    for along in _of_product(counts[0], axes, free):
        for rest in _splits(counts[1:], axes, (*used, *along)):
            yield (along, *rest)


def _of_product(count: int, axes: Sequence[int], free: Sequence[int]) -> Iterator[tuple[int, ...]]:
    if count == 1:
        yield ()
        return
    for axis in free:
        if count % axes[axis] == 0:
            for rest in _of_product(count // axes[axis], axes, [f for f in free if f != axis]):
                yield (axis, *rest)


def tables_along_axes(table: Sequence[int], devices: int) -> Iterator[tuple[int, ...]]:
    """Yield tables with an entry for each device, equal to the given one but for a few, that grow evenly along axes."""
    axes = prime_axes(devices)
    seen = {tuple(table)}
    for size in sorted({len(g[0]) for g in groups_along_axes(devices)}):
        for along in _of_product(size, axes, range(len(axes))):
            grid = np.indices(axes).reshape(len(axes), -1)
            column = np.ravel_multi_index([grid[a] for a in along], [axes[a] for a in along])
            start = _most([t for t, p in zip(table, column, strict=True) if not p])
            step = _most([(t - start) // int(p) for t, p in zip(table, column, strict=True)
                          if p and (t - start) % int(p) == 0])
            found = tuple(start + step * int(p) for p in column)
            if found not in seen and 4 * sum(a != b for a, b in zip(found, table, strict=True)) <= devices:
                seen.add(found)
                yield found


def _most(numbers: Sequence[int]) -> int:
    return max(numbers, key=numbers.count, default=0)
