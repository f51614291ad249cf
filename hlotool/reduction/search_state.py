"""State that every step of a reduction works on: the best candidate so far, and the asker."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field

from hlotool.ir import NO_ATTRIBUTES, Attributes
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.entry_values import EntryValues, values_of
from hlotool.reduction.oracle_pool import Asker, Maker


@dataclass
class SearchState:
    """A reduction under way."""

    asker: Asker
    best: Candidate
    #: all signs of the original's failure
    signs: tuple[str, ...] = ()
    #: what sections say of replicas and partitions
    header: Attributes = NO_ATTRIBUTES
    #: hears of every step that was accepted: what was done
    hear: Callable[[str], None] = lambda what: None
    #: step -> how often it was accepted
    done: dict[str, int] = field(default_factory=dict)
    #: the candidates that were accepted, one after the other, the original first
    history: list[Candidate] = field(default_factory=list)
    _values: tuple[Candidate, EntryValues] | None = None

    def __post_init__(self) -> None:
        self.history.append(self.best)

    def accept(self, candidate: Candidate, step: str, *, keeps_values: bool) -> None:
        """Go on with a candidate; values by name stay where it is a section of the one before."""
        if keeps_values and self._values is not None:
            self._values = candidate, self._values[1]
        self.best = candidate
        self.history.append(candidate)
        self.asker.taken.add(candidate.key)
        self.done[step] = self.done.get(step, 0) + 1
        self.hear(step)

    def values_of(self, base: Candidate) -> EntryValues:
        """The values of a candidate: those of what it was cut out of, or a run of the reference."""
        if self._values is None or (self._values[0] is not base and self._values[0] is not self.best):
            self._values = base, values_of(base)
        return self._values[1]

    def back_to(self, number: int) -> None:
        """Go on from an earlier candidate of the history."""
        del self.history[number + 1:]
        self.best, self._values = self.history[-1], None

    def try_each(self, makers: Iterable[Maker], step: str, *, keeps_values: bool = False) -> bool:
        """Go on with the first candidate that is interesting; whether there was one."""
        found = self.asker.first(makers)
        if found is not None:
            self.accept(found[1], step, keeps_values=keeps_values)
        return found is not None

    def try_all(self, makers: Callable[[Candidate], Iterable[Maker]], step: str) -> bool:
        """The same again and again, of the candidates that the best one leads to, until none is interesting."""
        changed = False
        while self.try_each(makers(self.best), step):
            changed = True
        return changed
