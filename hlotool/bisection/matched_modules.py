"""Two modules on one set of arguments, side by side: what the second changes is held against the first where it stands.

    before                                  after
    a = multiply(x, 3)                      c = multiply(x, 6)            c has the value of b, but for a rounding of
    b = multiply(a, 2)                      r = tanh(c)                   what b is computed of: from there on r is r
    r = tanh(b)

Numbers (canonical_form.py) say what both modules share. A new number of the second module is computed from the values
of the first; where it has the value of one there, it is *matched*, and what follows from it has the number that it has
in the first module (congruence), so that nothing else need be computed. A match up to rounding is judged alone: by the
shadow and samples of the few instructions between it and what both modules share.
"""

from __future__ import annotations

import hashlib
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.bisection.canonical_form import CanonicalForm
from hlotool.bisection.remembered_values import RememberedValues, Unknown
from hlotool.diagnostics import HloError
from hlotool.execution import Program
from hlotool.ir import dtype_of_numpy
from hlotool.numerics import Evidence, Judgement, Kind, Known, Rows, Way, judge
from hlotool.passes.equality import leaf_numbers

Array: TypeAlias = Any

#: instructions between a match and what is shared; of more, values are judged where results are
_DEEPEST = 160
#: values of one shape that a new one is held against
_CANDIDATES = 48
#: how far apart two ways to compute a value may be, as a share of the largest element, by mantissa bits
_LOOSE = {52: 1e-9, 23: 1e-4, 10: 1e-2}
_NARROW = 5e-2


@dataclass
class Match:
    """The outcome for two modules."""

    #: results of the second module that are those of the first, by match or congruence
    settled: set[int] = field(default_factory=set)
    #: kinds of elements of all that was matched
    counts: Counter[str] = field(default_factory=Counter)


@dataclass
class MatchedValues:
    """The values of a chain's modules on one set of arguments, each module matched with the one before it."""

    form: CanonicalForm
    values: RememberedValues
    program: Program
    until: float
    _closures: dict[tuple[int, ...], set[int]] = field(default_factory=dict)
    _refused: set[int] = field(default_factory=set)

    def match(self, before: tuple[int, ...], after: tuple[int, ...], program: Program) -> Match:
        """Match the second module's numbers with the first one's. Raises HloError, OutOfTime."""
        self.values.of(program, before)
        work = _Matching(self, self._closure(before), self._closure(after))
        for number in sorted(work.right - work.left):
            work.settle(number)
        found = Match(counts=work.counts)
        for place, (one, other) in enumerate(zip(before, after, strict=True)):
            if one == other or work.partner.get(other) == one or work.is_same_result(other, one):
                found.settled.add(place)
        return found

    def _closure(self, results: tuple[int, ...]) -> set[int]:
        """All numbers that results consist of."""
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


class _Matching:
    """One pair of modules at work."""

    def __init__(self, whole: MatchedValues, left: set[int], right: set[int]) -> None:
        self.whole, self.form, self.values = whole, whole.form.numbering, whole.values
        self.recipes = whole.form.recipes
        self.left, self.right = left, right
        #: new numbers of the second module -> numbers of the first
        self.partner: dict[int, int] = {}
        #: those with another value than what stands for them, and all that follows from them: judged where results are
        self.astray: set[int] = set()
        #: partners in other dimensions: no congruence follows, but what is computed of them begins there
        self.reshaped: dict[int, int] = {}
        self.counts: Counter[str] = Counter()
        self._digests: dict[bytes, dict[tuple[int, ...], int]] = {}
        self._alike: dict[tuple[str, tuple[int, ...]], list[int]] = {}
        for number in sorted(left - right):
            if self.values.knows(number):
                self._enter(number, self.values.value(number))

    def _enter(self, number: int, value: Array) -> None:
        if getattr(value, "dtype", None) is None:
            return
        self._digests.setdefault(_digest(value), {}).setdefault(value.shape, number)
        self._alike.setdefault((value.dtype.name, value.shape), []).append(number)

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
        if getattr(value, "dtype", None) is None:
            return
        equal = self._digests.get(_digest(value))
        if equal is not None:
            if value.shape in equal:
                self._join(number, equal[value.shape])
            else:
                self.reshaped[number] = next(iter(equal.values()))
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
        """Whether a result that matched nothing, or something else, is the one of the first module by itself."""
        try:
            value, reference = self.values.one(number), self.values.one(wanted)
        except Unknown:
            return False
        if getattr(value, "dtype", None) is None or _digest(value) == _digest(reference):
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
        """The number of the first module whose value is nearest, if it may be another way to compute it."""
        import numpy as np

        kind = dtype_of_numpy(value.dtype)
        if not (kind.is_floating or kind.is_complex) or not value.size:
            return None
        bits = kind.component.mantissa_bits
        best, found = _LOOSE.get(bits, _NARROW), None
        wide = np.complex128 if kind.is_complex else np.float64
        with np.errstate(all="ignore"):
            own = value.astype(wide)
            finite = np.isfinite(own)
            for number in self._alike.get((value.dtype.name, value.shape), ())[-_CANDIDATES:]:
                other = self.values.value(number).astype(wide)
                if not np.array_equal(finite, np.isfinite(other)):
                    continue
                largest = np.abs(other[finite]).max(initial=0.0)
                away = np.abs(own - other)[finite].max(initial=0.0)
                if largest and away <= best * largest:
                    best, found = away / largest, number
        return found

    def _judged(self, number: int, partner: int, value: Array) -> Judgement | None:
        """The verdict on a value, by what the partner's own instructions allow; None: too many of them."""
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
            return Evidence(self.whole.program, (), source=source).judge(value)
        except (HloError, Unknown):
            return None

    def _frontier(self, number: int, stops: set[int]) -> set[int] | None:
        """The numbers where what a value is computed of begins to be known; None: too many are between."""
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


def _digest(array: Array) -> bytes:
    """The same for the same elements of one type in the same order, whatever the dimensions."""
    import numpy as np

    array = np.ascontiguousarray(array)
    return hashlib.blake2b(array.tobytes(), digest_size=16, key=array.dtype.name.encode()).digest()
