"""Runs the modules of a chain on one set of arguments, and gathers evidence about their results."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TypeAlias

from hlotool.bisection.canonical_form import CanonicalForm
from hlotool.bisection.matched_modules import MatchedValues, PairedResults
from hlotool.bisection.remembered_values import RememberedValues, Unknown
from hlotool.diagnostics import HloError
from hlotool.execution import Program
from hlotool.ir.arrays import Array
from hlotool.numerics import Evidence, Judgement, Kind, Way, computed
from hlotool.process import work_time
from hlotool.verdict import ArgumentSet, Watch

Rows: TypeAlias = "list[list[Array]]"


@dataclass(eq=False)
class Stage:
    """A module of a chain made ready. `numbers` are those of its results; None where it has no such form."""

    program: Program
    numbers: tuple[int, ...] | None
    why: str = ""
    #: its number of instructions, and the simplifications that its form needed
    size: int = 0
    used: frozenset[str] = frozenset()
    #: True if the text leaves out values of constants
    has_elided: bool = False

    @property
    def key(self) -> object:
        """Equal for modules that compute the same."""
        return self.numbers if self.numbers is not None else id(self)


@dataclass
class TriedArguments:
    """One set of arguments for all modules of a chain that take them."""

    form: CanonicalForm
    given: ArgumentSet
    until: float
    _values: RememberedValues | None = None
    _matched: MatchedValues | None = None
    _results: dict[tuple[object, Way], Rows] = field(default_factory=dict)
    _evidence: dict[object, Evidence] = field(default_factory=dict)
    #: modules whose values cannot be remembered, and are computed as a whole
    _whole: set[object] = field(default_factory=set)

    def give_time(self, seconds: float) -> None:
        """Set the time for what is computed next."""
        self.until = work_time() + seconds
        for values in (self._values, self._matched.values if self._matched is not None else None):
            if values is not None:
                values.until = self.until
        if self._matched is not None:
            self._matched.until = self.until

    def results(self, stage: Stage, way: Way = "own") -> Rows:
        """Return the results of every device. Raises HloError, OutOfTime."""
        place = stage.key, way
        found = self._results.get(place)
        if found is None:
            found = self._results[place] = self._computed(stage, way)
        return found

    def _computed(self, stage: Stage, way: Way) -> Rows:
        program, numbers = stage.program, stage.numbers
        if numbers is not None and program.devices == 1 and stage.key not in self._whole:
            if self._values is None:
                self._values = RememberedValues(self.form, self.given.values[0], self.until)
            try:
                return [self._values.of(program, numbers[:len(program.results)], way)]
            except (HloError, Unknown):
                self._whole.add(stage.key)
        rows = self.given.values
        if way == "own":
            return Watch(until=self.until).run(program, rows)
        return computed(program, rows, way)

    def match(self, before: Stage, after: Stage) -> PairedResults | None:
        """Return the results of the second module that are those of the first, by pairs of values; None: unknown."""
        if before.numbers is None or after.numbers is None or before.program.devices != 1 \
                or before.key in self._whole or after.key in self._whole:
            return None
        if self._matched is None:
            values = RememberedValues(self.form, self.given.values[0], self.until)
            self._matched = MatchedValues(self.form, values, before.program, self.until)
        count = len(before.program.results)
        try:
            return self._matched.match(before.numbers[:count], after.numbers[:count], before.program)
        except (HloError, Unknown):
            return None

    def value_of(self, stage: Stage, result: int) -> Array:
        """Return a result of a module whose values have been paired."""
        assert self._matched is not None and stage.numbers is not None
        value: Array = self._matched.values.one(stage.numbers[result])
        return value

    def judge(self, before: Stage, after: Stage, device: int, result: int) -> Judgement:
        """Judge one result of the second module by that of the first. Raises HloError, OutOfTime."""
        evidence = self._evidence.get(before.key)
        if evidence is None:
            evidence = self._evidence[before.key] = Evidence(
                before.program, self.given.values, source=lambda way: self.results(before, way))
        return evidence.judge(self.results(after)[device][result], device, result)


def is_decided(judgement: Judgement) -> bool:
    """Return True if some element was judged, or there is none."""
    return not judgement.kinds.size or bool((judgement.kinds < Kind.ILL_CONDITIONED).any())
