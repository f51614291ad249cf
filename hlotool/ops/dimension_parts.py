"""Parts that the dimensions of two shapes have in common: [6,4] and [2,12] are products of 2, 3 and 4."""

from __future__ import annotations

import math
from collections.abc import Sequence


def common_parts(left: Sequence[int], right: Sequence[int]) -> tuple[int, ...] | None:
    """Return the sizes of the parts of which the dimensions of both shapes are products; None: there are none.

    Shapes have at least one element.
    """
    if math.prod(left) != math.prod(right):
        return None
    cuts = set()
    for dims in (left, right):
        done = 1
        for size in dims:
            done *= size
            cuts.add(done)
    parts, last = [], 1
    for cut in sorted(cuts):
        if cut % last:
            return None
        parts.append(cut // last)
        last = cut
    return tuple(p for p in parts if p != 1)


def places_of_parts(parts: Sequence[int], dims: Sequence[int]) -> list[list[int]]:
    """Return the places of each dimension's parts."""
    found, at = [], 0
    for size in dims:
        own, done = [], 1
        while done < size:
            done *= parts[at]
            own.append(at)
            at += 1
        found.append(own)
    return found
