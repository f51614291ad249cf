"""Compares two modules on one set of arguments, instruction by instruction.

    before                                  after
    a = multiply(x, 3)                      c = multiply(x, 6)            c has the value of b, but for a rounding of
    b = multiply(a, 2)                      r = tanh(c)                   what b is computed of: from there on r is r
    r = tanh(b)

Values of one number (canonical_form.py) are shared by both modules. A new number of the second module is computed from
the values of the first; if one of the first has its value, both are a pair, and what follows from it has the number
that it has in the first module (congruence), so that nothing else need be computed. A pair up to rounding is judged by
itself: by the shadow and samples of the few instructions between it and what both modules share.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from hlotool.bisection.canonical_form import CanonicalForm
from hlotool.bisection.remembered_values import RememberedValues, Unknown
from hlotool.diagnostics import HloError
from hlotool.execution import Program
from hlotool.ir import dtype_of_numpy
from hlotool.ir.arrays import Array, digest
from hlotool.numerics import Evidence, Judgement, Kind, Known, Rows, Way, judge
from hlotool.passes.equality import ValueIndex, leaf_numbers

#: instructions between a pair and what is shared; with more, only results are judged
_DEEPEST = 160
#: values of one size with which a new one is compared
_CANDIDATES = 48


@dataclass
class PairedResults:
    """The outcome for two modules."""

    #: results of the second module that are those of the first, by a pair or congruence
    settled: set[int] = field(default_factory=set)
    #: kinds of elements of all pairs
    counts: Counter[str] = field(default_factory=Counter)


@dataclass
class MatchedValues:
    """The values of a chain's modules on one set of arguments, each module paired with the one before it."""

    form: CanonicalForm
    values: RememberedValues
    program: Program
    until: float
    _closures: dict[tuple[int, ...], set[int]] = field(default_factory=dict)
    _refused: set[int] = field(default_factory=set)

    def match(self, before: tuple[int, ...], after: tuple[int, ...], program: Program) -> PairedResults:
        """Pair the second module's numbers with the first one's. Raises HloError, OutOfTime."""
        self.values.of(program, before)
        work = _ModulePair(self, self._closure(before), self._closure(after))
        for number in sorted(work.right - work.left):
            work.settle(number)
        found = PairedResults(counts=work.counts)
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            if one == other or work.partner.get(other) == one or work.is_same_result(other, one):
                found.settled.add(place)
        return found

    def _closure(self, results: tuple[int, ...]) -> set[int]:
        """Return all numbers that results consist of."""
        found = self._closures.get(results)
        if found is None:
            found, stack = set(), list(results)
            while stack:
                number = stack.pop()
                if number not in found:
                    found.add(number)
                    stack.extend(self.form.numbering.nodes[number].operands)
            self._closures[results] = found
        return found


class _ModulePair:
    """Two modules while their numbers are paired."""

    def __init__(self, whole: MatchedValues, left: set[int], right: set[int]) -> None:
        self.whole, self.form, self.values = whole, whole.form.numbering, whole.values
        self.recipes = whole.form.recipes
        self.left, self.right = left, right
        #: new numbers of the second module -> numbers of the first
        self.partner: dict[int, int] = {}
        #: numbers with another value than their partner, and all that follows from them: judged where results are
        self.astray: set[int] = set()
        #: partners in other dimensions: no congruence follows, but what is computed of them begins there
        self.reshaped: dict[int, int] = {}
        self.counts: Counter[str] = Counter()
        self._known = ValueIndex[int](_CANDIDATES)
        for number in sorted(left - right):
            if self.values.knows(number) and _is_array(value := self.values.value(number)):
                self._known.add(number, value)

    def settle(self, number: int) -> None:
        """Find the partner of a new number, by congruence or by value."""
        node = self.form.nodes[number]
        operands = tuple(self.partner.get(o, o) for o in node.operands)
        same = self.form.known(node.with_operands(*operands)) if operands != node.operands else None
        if same is not None and same in self.left:
            self._join(number, same)
            return
        if number in self.whole._refused or number not in self.recipes:
            return
        try:
            value = self.values.one(number)
        except Unknown:
            self.whole._refused.add(number)
            return
        if not _is_array(value):
            return
        if equal := self._known.equal(value):
            same = next((n for n in equal if self.values.value(n).shape == value.shape), None)
            if same is not None:
                self._join(number, same)
            else:
                self.reshaped[number] = equal[0]
            return
        if any(o in self.astray for o in operands):
            self.astray.add(number)
            return
        near = self._nearest(value)
        if near is None:
            return
        judgement = self._judged(number, near, value)
        if judgement is None or judgement.is_wrong or (judgement.kinds >= Kind.ILL_CONDITIONED).any():
            self.astray.add(number)
            return
        self.counts.update(judgement.counts)
        self._join(number, near)

    def is_same_result(self, number: int, wanted: int) -> bool:
        """Return True if a result without this partner agrees with the first module's by itself."""
        try:
            value, reference = self.values.one(number), self.values.one(wanted)
        except Unknown:
            return False
        if not _is_array(value) or digest(value) == digest(reference):
            return True
        if number in self.astray:
            return False
        judgement = self._judged(number, wanted, value)
        if judgement is None or judgement.is_wrong or not (judgement.kinds < Kind.ILL_CONDITIONED).all():
            return False
        self.counts.update(judgement.counts)
        return True

    def _join(self, number: int, partner: int) -> None:
        self.partner[number] = partner
        if self.values.knows(partner):
            self.values.put(number, self.values.value(partner))

    def _nearest(self, value: Array) -> int | None:
        """Return the number of the first module whose value of these dimensions is nearest; None: none is near."""
        kind = dtype_of_numpy(value.dtype)
        if not (kind.is_floating or kind.is_complex) or not value.size:
            return None
        found = [(away, -n) for away, n in self._known.near(value) if self.values.value(n).shape == value.shape]
        return -min(found)[1] if found else None

    def _judged(self, number: int, partner: int, value: Array) -> Judgement | None:
        """Return the verdict on a value, by what the partner's own instructions allow; None: they are too many."""
        reference = self.values.value(partner)
        found = judge(value, Known(reference))
        if not found.is_wrong or found.problem:
            return found
        shared = self.left & self.right
        ends = self._frontier(number, shared | set(self.partner) | set(self.reshaped))
        if ends is None:
            return None
        stops = shared | {self.partner.get(e, self.reshaped.get(e, e)) for e in ends}
        if self._frontier(partner, stops) is None:
            return None

        def source(way: Way) -> Rows:
            return [[reference if way == "own" else self.values.apart(partner, way, stops)]]

        try:
            return Evidence(self.whole.program, (), source=source, of_results=False).judge(value)
        except (HloError, Unknown):
            return None

    def _frontier(self, number: int, stops: set[int]) -> set[int] | None:
        """Return the known numbers that a value is computed of; None: too many instructions are between."""
        seen, ends, stack = set[int](), set[int](), [number]
        while stack:
            here = stack.pop()
            if here in seen:
                continue
            seen.add(here)
            recipe = self.recipes.get(here)
            if (here in stops and here != number) or recipe is None:
                ends.add(here)
                continue
            if len(seen) > _DEEPEST:
                return None
            stack.extend(n for o in recipe.operands for n in leaf_numbers(o))
        return ends


def _is_array(value: Any) -> bool:
    """Return False for tokens and tuples."""
    return getattr(value, "dtype", None) is not None
