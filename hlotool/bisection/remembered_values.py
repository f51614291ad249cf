"""Computes values of numbered expressions on one set of arguments, each once, in whatever module it is.

Three ways to compute: as the program's types ask for, at higher precision, and with roundings of a seed (what the
error model of hlotool.verdict wants to know).
"""

from __future__ import annotations

from collections.abc import Container, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.bisection.canonical_form import CanonicalForm, Recipe
from hlotool.execution import InstructionRuns, Program, Rebinding, flat
from hlotool.ir import Shape, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.numerics import RandomRounding, Way, shadow_rebinding, widened
from hlotool.passes.equality import Value, leaf_numbers
from hlotool.process import available_memory, work_time
from hlotool.verdict import OutOfTime, Watch

#: the share of the memory that remembered values may take
_SHARE = 0.25


class Unknown(Exception):
    """A number whose value cannot be had: that of a loop's or reducer's parameter."""


@dataclass
class RememberedValues:
    """Values by number and way, for one device."""

    form: CanonicalForm
    arguments: Sequence[Array]
    #: when to stop, on the clock of `work_time()`
    until: float
    _known: dict[Way, dict[int, Any]] = field(default_factory=dict)
    _runs: dict[tuple[int, Way], InstructionRuns] = field(default_factory=dict)
    _size: int = 0
    _most: int = field(default_factory=lambda: int(available_memory() * _SHARE))

    def of(self, program: Program, numbers: Sequence[int], way: Way = "own") -> list[Array]:
        """Return the values of a program's results. Raises HloError or Unknown where one has none, OutOfTime."""
        known = self._known.get(way)
        if known is None or self._size > self._most:
            known = self._known[way] = self._given(program, way)
            self._size = 0
        for number in numbers:
            self._compute(number, way, known)
        return [known[n] for n in numbers]

    def one(self, number: int) -> Any:
        """Return the value of any number. Raises Unknown, HloError, OutOfTime."""
        known = self._known["own"]
        self._compute(number, "own", known)
        return known[number]

    def put(self, number: int, value: Any) -> None:
        """Give a number the value of another one that stands for it."""
        self._known["own"].setdefault(number, value)

    def apart(self, number: int, way: Way, stops: Container[int]) -> Any:
        """Return the value of a number computed in another way from the own values of `stops`."""
        known: dict[int, Any] = {}
        self._compute(number, way, known, stops)
        return known[number]

    def knows(self, number: int) -> bool:
        """Return True if a number's own value has been computed."""
        return number in self._known.get("own", {})

    def value(self, number: int) -> Any:
        """Return a value that has been computed."""
        return self._known["own"][number]

    def _given(self, program: Program, way: Way) -> dict[int, Any]:
        found = {}
        for number, (array, shape) in enumerate(zip(self.arguments, program.parameters, strict=True)):
            place = self.form.numbering.parameter(number, shape)
            if way == "own":
                found[place] = array
            elif way == "shadow":
                found[place] = widened(array, shape)
            else:
                found[place] = _rounding(program, way).flushed(array, shape)
        return found

    def _compute(self, wanted: int, way: Way, known: dict[int, Any], stops: Container[int] = ()) -> None:
        """Compute a value and all that it needs; what is in `stops` is taken from the own values."""
        stack = [wanted]
        while stack:
            number = stack[-1]
            if number in known:
                stack.pop()
                continue
            recipe = self.form.recipes.get(number)
            if stops and (number in stops or recipe is None) and number != wanted:
                known[number] = self._in_another_way(number, way)
                continue
            if recipe is None:
                raise Unknown
            missing = [n for o in recipe.operands for n in leaf_numbers(o) if n not in known]
            if missing:
                stack.extend(missing)
                continue
            if work_time() > self.until:
                raise OutOfTime
            self._run(recipe, way, known)
            stack.pop()

    def _in_another_way(self, number: int, way: Way) -> Any:
        value = self.one(number)
        if way != "shadow" or getattr(value, "dtype", None) is None:
            return value
        return widened(value, Shape.array(dtype_of_numpy(np.asarray(value).dtype).name, value.shape))

    def _run(self, recipe: Recipe, way: Way, known: dict[int, Any]) -> None:
        place = id(recipe.program), way
        runs = self._runs.get(place)
        if runs is None:
            runs = self._runs[place] = InstructionRuns(recipe.program, self._rebinding(recipe.program, way))
        instruction = recipe.instruction
        operands = [_nested(o, known) for o in recipe.operands]
        value = runs.run(instruction, operands)
        found = list(flat(instruction.shape, value))
        for number, leaf in zip(recipe.leaves, found, strict=True):
            if number not in known:
                known[number] = leaf
                self._size += getattr(leaf, "nbytes", 0)

    def _rebinding(self, program: Program, way: Way) -> Rebinding:
        if way == "own":
            return Watch(until=self.until).rebind
        return shadow_rebinding if way == "shadow" else _rounding(program, way).rebound


def _rounding(program: Program, way: Way) -> RandomRounding:
    assert not isinstance(way, str)
    return RandomRounding.of(program.module, way)


def _nested(value: Value, known: dict[int, Any]) -> Any:
    return known[value] if isinstance(value, int) else tuple(_nested(v, known) for v in value)
