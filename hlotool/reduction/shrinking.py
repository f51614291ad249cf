"""Delta debugging over a list of units: which of them a failure needs.

First the list is narrowed to a window (a half, then a quarter of it) as long as one shows the failure by itself; then
chunks are taken out, large ones first, from the end to the beginning, down to single units.

Source: Zeller and Hildebrandt, "Simplifying and Isolating Failure-Inducing Input", 2002.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Asker, Maker

Unit = TypeVar("Unit")
#: units from which on narrowing pays
_FEW = 12


@dataclass
class Shrinking(Generic[Unit]):
    """One search: how candidates are built of the units that are kept, and what becomes of those that are accepted."""

    asker: Asker
    #: the candidate of those units; None: there is none
    build: Callable[[Sequence[Unit]], Candidate | None]
    #: hears of a candidate that is interesting; gives those of its units that it still has
    accept: Callable[[Candidate, Sequence[Unit]], Sequence[Unit]]

    def narrowed(self, units: Sequence[Unit]) -> Sequence[Unit]:
        """The units of the smallest window that was found."""
        while len(units) > _FEW:
            windows = list(_windows(units))
            found = self.asker.first(self._maker(w) for w in windows)
            if found is None:
                break
            units = self.accept(found[1], windows[found[0]])
        return units

    def swept(self, units: Sequence[Unit]) -> Sequence[Unit]:
        """The units of which no chunk, and no single one, can be left out."""
        size = max(1, len(units) // 2)
        while units:
            before = len(units)
            units = self._swept_once(units, size)
            if size == 1 and len(units) == before:
                break
            size = max(1, min(size, len(units)) // 2)
        return units

    def _swept_once(self, units: Sequence[Unit], size: int) -> Sequence[Unit]:
        end = len(units)
        while end > 0:
            ends = range(end, 0, -size)
            found = self.asker.first(self._maker([*units[:max(0, e - size)], *units[e:]]) for e in ends)
            if found is None:
                break
            at = ends[found[0]]
            first = max(0, at - size)
            left = self.accept(found[1], [*units[:first], *units[at:]])
            remaining = set(left)
            end = sum(1 for u in units[:first] if u in remaining)
            units = left
        return units

    def _maker(self, units: Sequence[Unit]) -> Maker:
        return lambda: self.build(units)


def _windows(units: Sequence[Unit]) -> Iterator[Sequence[Unit]]:
    """Halves of a list, those in its middle too; then quarters."""
    count = len(units)
    for parts in (2, 4):
        size = -(-count // parts)
        for first in range(count - size, -1, -max(1, size // 2)):
            yield units[first:first + size]
