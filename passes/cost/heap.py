"""Computes the size of a heap that holds buffers while they live, and packs pieces of memory.

Source: XLA, GlobalDecreasingSizeBestFitHeap and BufferAssignment::CombineTempAllocations.
"""

from __future__ import annotations

import bisect
from collections.abc import Callable, Sequence
from dataclasses import dataclass

#: temporaries begin at multiples of this. Source: XLA's CPU compiler, cpu::MinAlign
ALIGNMENT = 64
#: buffers that are placed; of more, gaps between them count for little, and the most that lives at once is told
MOST_PLACED = 1_000


@dataclass(frozen=True, slots=True)
class Interval:
    """A buffer, and when it is needed: first and last times, both included, in order."""

    size: int
    spans: tuple[tuple[int, int], ...]

    @property
    def start(self) -> int:
        return self.spans[0][0]

    @property
    def end(self) -> int:
        return self.spans[-1][1]

    def meets(self, other: Interval) -> bool:
        """Return True if both are needed at one time."""
        if other.start > self.end or other.end < self.start:
            return False
        return any(a <= d and c <= b for a, b in self.spans for c, d in other.spans)


def heap_size(intervals: Sequence[Interval]) -> int:
    """Bytes of the smaller of two heaps, in which buffers are placed in different orders.

    What lies highest needs no padding behind it. The time grows with the square of their number: see MOST_PLACED.
    """
    buffers = [i for i in intervals if i.size]
    return min(_placed(sorted(buffers, key=order)) for order in _ORDERS)


#: the largest first, and what lives longest first
_ORDERS: tuple[Callable[[Interval], tuple[int, int, int]], ...] = (
    lambda i: (-i.size, i.start - i.end, i.start), lambda i: (i.start - i.end, -i.size, i.start))


def _placed(buffers: Sequence[Interval]) -> int:
    """Return the end of the highest buffer, where each takes the smallest gap that it fits into, in this order."""
    placed: list[tuple[int, Interval]] = []  # by offset
    end = 0
    for buffer in buffers:
        offset = _offset(placed, buffer)
        bisect.insort(placed, (offset, buffer), key=lambda pair: pair[0])
        end = max(end, offset + buffer.size)
    return end


def _offset(placed: Sequence[tuple[int, Interval]], buffer: Interval) -> int:
    """Return the lowest offset of the smallest gap between what lives at the same time."""
    best, best_room, free = -1, 0, 0
    for offset, other in placed:
        if not other.meets(buffer):
            continue
        room = offset - free
        if room >= buffer.size and (best < 0 or room < best_room):
            best, best_room = free, room
        free = max(free, aligned(offset + other.size))
    return free if best < 0 else best


@dataclass(frozen=True, slots=True)
class Piece:
    """Memory that the compiler asks for as a whole."""

    size: int
    #: it holds temporaries
    is_temporary: bool


def combined_size(pieces: Sequence[Piece]) -> int:
    """Bytes of the temporary ones of some pieces, laid behind each other; the last needs no padding behind it.

    Which one is the last, its order says after the temporary ones were moved behind the others, as std::partition does
    it: the first one changes its place with the last that is not temporary, and so on.
    """
    order = list(pieces)
    first, last = 0, len(order)
    while True:
        while first < last and not order[first].is_temporary:
            first += 1
        last -= 1
        while last > first and order[last].is_temporary:
            last -= 1
        if first >= last:
            break
        order[first], order[last] = order[last], order[first]
        first += 1
    sizes = [piece.size for piece in order if piece.is_temporary]
    return sum(map(aligned, sizes[:-1])) + sum(sizes[-1:])


def aligned(offset: int) -> int:
    """Return the next offset at which a buffer may begin."""
    return -(-offset // ALIGNMENT) * ALIGNMENT
