"""Tells how a bitcast moves elements: they stay where they are in memory, and are counted in another order.

    y = f32[2,3]{1,0} bitcast(f32[2,3]{0,1} x)     reads x's columns as rows: a transpose and a reshape
    y = f32[2,3]{0,1} bitcast(f32[2,3]{0,1} x)     is x

Any bitcast of one element type is a transpose, a reshape and a transpose. `transposed_parts` has them as one: the
array's dimensions are cut into parts, and the parts put in another order.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable

from hlotool.ir import HloInstruction, Shape
from hlotool.ops import common_parts, places_of_parts

#: sizes of dimensions, and the order in which they come after a transpose
Movement = tuple[tuple[int, ...], tuple[int, ...]]


def major_to_minor(shape: Shape) -> tuple[int, ...] | None:
    """Return the order of an array's dimensions in memory; None if it is not a plain permutation of them."""
    if not shape.is_array or not shape.is_static:
        return None
    layout = shape.full_layout
    if layout.tiles or layout.dim_level_types or layout.element_size or not _is_permutation(layout.minor_to_major,
                                                                                           shape.rank):
        return None
    return tuple(reversed(layout.minor_to_major))


def _is_permutation(order: tuple[int, ...], rank: int) -> bool:
    """Return True if an order, which may be anything in a text, is one of `rank` dimensions."""
    return len(order) == rank and set(order) == set(range(rank))


def is_idle_bitcast(instruction: HloInstruction) -> bool:
    """Return True if a bitcast gives its operand element by element, wherever the bytes are."""
    source, target = instruction.operands[0].shape, instruction.shape
    if source.without_layout() is not target.without_layout():
        return False
    return source is target or not source.is_array or memory_key(source) == memory_key(target)


def bitcast_key(instruction: HloInstruction) -> Hashable:
    """Return a key that is equal for bitcasts that do the same to the same operand, whatever their layouts are."""
    source, target = instruction.operands[0].shape, instruction.shape
    if is_idle_bitcast(instruction):
        return ()
    if source.element_type == target.element_type and (moved := transposed_parts(source, target)) is not None:
        return moved
    return memory_key(source), memory_key(target)


def memory_key(shape: Shape) -> Hashable:
    """Return an array's order in memory, without the name of the memory and untiled dimensions of size 1."""
    layout = shape.full_layout
    is_plain = shape.is_array and not layout.tiles and not layout.dim_level_types
    if not is_plain or not _is_permutation(shape.minor_to_major, shape.rank):
        return shape.rank, shape.minor_to_major, str(layout.tiles), str(layout.dim_level_types), layout.element_size
    dims = shape.dims if shape.is_static else (2,) * shape.rank
    return tuple(d for d in shape.minor_to_major if dims[d] != 1), layout.element_size


def transposed_parts(source: Shape, target: Shape) -> Movement | None:
    """Return a bitcast as the sizes of the operand's parts and their order in the result; None: it is no transpose."""
    first, last = major_to_minor(source), major_to_minor(target)
    if first is None or last is None or source.size != target.size or not source.size:
        return None
    sides = [(order, tuple(shape.dims[d] for d in order)) for shape, order in ((source, first), (target, last))]
    parts = common_parts(sides[0][1], sides[1][1])
    if parts is None:
        return None
    places = []
    for order, stored in sides:
        cut = dict(zip(order, places_of_parts(parts, stored), strict=True))
        places.append([part for d in range(len(order)) for part in cut[d]])
    return merged(tuple(parts[p] for p in places[0]), tuple(places[0].index(p) for p in places[1]))


def inverse(order: tuple[int, ...]) -> tuple[int, ...]:
    """Return the transpose that undoes one."""
    return tuple(order.index(d) for d in range(len(order)))


def merged(sizes: tuple[int, ...], order: tuple[int, ...]) -> Movement:
    """Return the same transpose without dimensions of size 1, and with neighbours that stay neighbours as one."""
    order = tuple(d for d in order if sizes[d] != 1)
    runs: list[list[int]] = []
    kept = [d for d in range(len(sizes)) if sizes[d] != 1]
    after = dict(itertools.pairwise(kept))
    for d in order:
        if runs and after.get(runs[-1][-1]) == d:
            runs[-1].append(d)
        else:
            runs.append([d])
    by_source = sorted(runs)
    return (tuple(math.prod(sizes[d] for d in run) for run in by_source),
            tuple(by_source.index(run) for run in runs))
