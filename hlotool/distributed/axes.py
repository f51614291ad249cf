"""Axes of a mesh of devices, tried one after the other: groups, permutations and placements that a program may mean.

A mesh need not be known: devices are laid out along the prime factors of their number, and every axis of a mesh that
is laid out row by row is one of these, or several next to each other. A `Grid` has an axis for each factor.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import TypeAlias

from hlotool.ir import IotaTile, Mesh, Placement
from hlotool.ir.arrays import Array, np

#: a list of groups of devices
Groups = tuple[tuple[int, ...], ...]
#: sources and targets
Pairs = tuple[tuple[int, int], ...]
#: numbers of devices, laid out along axes
Grid: TypeAlias = Array

#: devices for which all choices of prime axes are tried; of more those of the mesh are
_MOST_SPLIT = 64


def prime_axes(devices: int) -> tuple[int, ...]:
    """Return the prime factors of a number of devices, each an axis."""
    found, rest, factor = [], devices, 2
    while rest > 1:
        while rest % factor == 0:
            found.append(factor)
            rest //= factor
        factor += 1
    return tuple(found)


def device_grid(devices: int, mesh: Mesh | None = None) -> Grid:
    """Return a number of devices laid out along axes: those of a mesh, as far as it is one of these devices."""
    sizes: tuple[int, ...] = (devices,)
    order: Array = np.arange(devices)
    if mesh is not None and int(np.prod([size for _, size in mesh.axes])) == devices:
        sizes = tuple(size for _, size in mesh.axes)
        ids = mesh.device_ids.devices() if isinstance(mesh.device_ids, IotaTile) else mesh.device_ids
        order = np.array(ids) if ids else order
    if devices <= _MOST_SPLIT:
        sizes = tuple(factor for size in sizes for factor in prime_axes(size))
    return np.asarray(order.reshape(sizes or (1,)))


def choices_of_axes(grid: Grid) -> Iterator[tuple[int, ...]]:
    """Yield each choice of axes but none, the smallest first."""
    for count in range(1, grid.ndim + 1):
        yield from itertools.combinations(range(grid.ndim), count)


def groups_along_axes(grid: Grid) -> Iterator[Groups]:
    """Yield the groups of devices that differ only in some of the axes, for each choice of axes."""
    for chosen in choices_of_axes(grid):
        rest = [a for a in range(grid.ndim) if a not in chosen]
        rows = grid.transpose([*rest, *chosen]).reshape(-1, int(np.prod([grid.shape[a] for a in chosen])))
        yield tuple(tuple(int(d) for d in row) for row in rows)


def permutations_along_axes(grid: Grid) -> Iterator[Pairs]:
    """Yield shifts along axes, with and without the way around, and exchanges of the axes themselves."""
    for groups in groups_along_axes(grid):
        size = len(groups[0])
        for shift in [s for k in range(1, size) for s in (k, -k)]:
            for wraps in (False, True):
                yield tuple((g[at], g[(at + shift) % size]) for g in groups for at in range(size)
                            if wraps or 0 <= at + shift < size)
    order = grid.ravel()
    for axes in itertools.permutations(range(grid.ndim)):
        yield tuple((int(a), int(d)) for d, a in zip(order, grid.transpose(axes).ravel(), strict=True))


def placements_along_axes(whole: Sequence[int], part: Sequence[int], grid: Grid) -> Iterator[Placement]:
    """Yield the placements of an array of some dimensions in parts of others, each dimension split over some axes."""
    if len(whole) != len(part) or any(p == 0 < w or p > w for w, p in zip(whole, part, strict=True)):
        return
    counts = [-(-w // p) if p else 1 for w, p in zip(whole, part, strict=True)]
    for chosen in _splits(counts, grid.shape, ()):
        columns = [position_along(grid, along) for along in chosen]
        yield Placement(tuple(counts), tuple(tuple(int(c[d]) for c in columns) for d in range(grid.size)))


def position_along(grid: Grid, along: Sequence[int]) -> Array:
    """Return the position of each device along some axes, by its number."""
    found = np.zeros(grid.size, np.int64)
    if along:
        places = np.indices(grid.shape)
        found[grid] = np.ravel_multi_index([places[a] for a in along], [grid.shape[a] for a in along])
    return found


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


def tables_along_axes(table: Sequence[int], grid: Grid) -> Iterator[tuple[int, ...]]:
    """Yield tables with an entry for each device, equal to the given one but for a few, that grow evenly along axes."""
    seen = {tuple(table)}
    for size in sorted({len(g[0]) for g in groups_along_axes(grid)}):
        for along in _of_product(size, grid.shape, range(grid.ndim)):
            column = position_along(grid, along)
            start = _most([t for t, p in zip(table, column, strict=True) if not p])
            step = _most([(t - start) // int(p) for t, p in zip(table, column, strict=True)
                          if p and (t - start) % int(p) == 0])
            found = tuple(start + step * int(p) for p in column)
            if found not in seen and 4 * sum(a != b for a, b in zip(found, table, strict=True)) <= grid.size:
                seen.add(found)
                yield found


def steps_along_axes(table: Sequence[int], grid: Grid, sizes: Sequence[int]) -> Iterator[tuple[int, ...]]:
    """Yield tables that grow by other steps along the axes along which the given one grows."""
    seen = {tuple(table)}
    for chosen in choices_of_axes(grid):
        column = position_along(grid, chosen)
        if len(set(zip(table, column.tolist(), strict=True))) == len(set(table)) == int(column.max()) + 1:
            for size in sizes:
                found = tuple(int(p) * size for p in column)
                if found not in seen:
                    seen.add(found)
                    yield found


def _most(numbers: Sequence[int]) -> int:
    return max(numbers, key=numbers.count, default=0)
