"""The elements of results of which no set of arguments has led to a verdict."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from hlotool.ir.arrays import Array
from hlotool.numerics import Judgement, Kind

#: side, device and leaf of a result
Place: TypeAlias = tuple[str, int, int]
#: a place, and the dimensions that a result has there: those of dynamic ones change with the arguments
_Key: TypeAlias = tuple[Place, tuple[int, ...]]

#: a result of which a larger share is open has no verdict
_MOST_OPEN = 0.5


@dataclass
class OpenElements:
    """The elements that are open after all sets so far."""

    _open: dict[_Key, Array] = field(default_factory=dict)
    _kinds: dict[_Key, Kind] = field(default_factory=dict)

    def note(self, place: Place, found: Judgement) -> None:
        """One more judgement of a result."""
        if found.problem or not found.kinds.size:
            return
        key = place, found.kinds.shape
        now = (found.kinds >= Kind.ILL_CONDITIONED) & (found.kinds <= Kind.RANGE_END)
        if now.any():
            self._kinds[key] = Kind(int(found.kinds[now].max()))
        before = self._open.get(key)
        self._open[key] = now if before is None else before & now

    @property
    def elements(self) -> int:
        """Elements of all results, for each side."""
        return sum(int(o.size) for o in self._open.values())

    @property
    def undecided(self) -> int:
        """Those that are open."""
        return sum(int(o.sum()) for o in self._open.values())

    @property
    def kind(self) -> str:
        """Why some result has no verdict; empty: all have one."""
        return next((str(self._kinds[p]) for p, o in self._open.items() if o.mean() > _MOST_OPEN), "")
