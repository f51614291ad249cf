"""The proof of guilt where the right module has been rewritten: what an instruction gives on the left module's values.

    left                          right
    s = f32[4] subtract(x, y)     e = f32[4] subtract(p, q)       p has the value of y, and q that of x: guilty
    m = f32[4] multiply(s, z)     n = f32[4] multiply(e, r)       e has not the value of s: e is looked at instead
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.blame.reference_run import UNKNOWN, ReferenceRun, Site, Time, is_folded, site_of, time_of
from hlotool.blame.value_partners import (
    LeftValues,
    made_at,
    named_suspects,
    operand_leaves,
    plain,
    sizes,
    value_suspects,
)
from hlotool.diagnostics import HloError
from hlotool.execution import InstructionRuns, Moment, Program, flat, nested
from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.ops import flow_of

#: different elements from which on an array does not have another one's elements by chance
_DISTINCT = 8


@dataclass(frozen=True)
class GuiltProof:
    """A right instruction, its partner, and a time at which it gives another value on the same operands."""

    site: Site
    partner: Site
    time: Time


@dataclass
class ValueProofs:
    """The instructions that give another value than their partners on the values of the partners' operands."""

    right: Program
    left: LeftValues
    own: ReferenceRun
    _seen: set[tuple[Site, Site]] = field(default_factory=set)

    def __iter__(self) -> Iterator[GuiltProof]:
        for suspects in (value_suspects(self.left, self.own), named_suspects(self.left, self.own)):
            for site, candidates, time in suspects:
                for candidate in candidates:
                    yield from self._behind(site, candidate, time)

    def _behind(self, site: Site, partner: Site, time: Time) -> Iterator[GuiltProof]:
        """Yield what makes two values differ: the right instruction, or what makes its operands."""
        site, partner = made_at(site), made_at(partner)
        value = self.own.value(site, time)
        if (site, partner) in self._seen or value is UNKNOWN or self.left.run.value(partner, time) is UNKNOWN \
                or sizes(site[-1]) != sizes(partner[-1]) or self.left.has_value(partner, time, site[-1].shape, value):
            return
        self._seen.add((site, partner))
        wrong = self._wrong_operands(site, partner, time)
        if wrong is None:
            return
        for here, there in wrong:
            yield from self._behind((*site[:-1], here), (*partner[:-1], there), time)
        flow = flow_of(site[-1])
        if not wrong and not flow.enters and not flow.packs and self._differs(site, partner, time):
            yield GuiltProof(site, partner, time)

    def _wrong_operands(self, site: Site, partner: Site, time: Time
                        ) -> list[tuple[HloInstruction, HloInstruction]] | None:
        """Return the operands that have not their partners' values, with these; None: which they stand for is open."""
        here, there = site[-1].operands, partner[-1].operands
        have = [[self.left.like(leaf) for leaf in self._leaves(self.own, site, o, time)] for o in here]
        want = [[self.left.number(leaf) for leaf in self._leaves(self.left.run, partner, o, time)] for o in there]
        if site[-1].opcode == partner[-1].opcode and len(here) == len(there):
            wrong = [n for n, (h, w) in enumerate(zip(have, want, strict=True))
                     if not _holds(h, w) and not self._is_rearranged(site, here[n], w, time)]
            if _are_the_same([have[n] for n in wrong], [want[n] for n in wrong]):
                return []
            return [(here[n], there[n]) for n in wrong]
        if not all(self._is_computed_there((*site[:-1], o), time) for o in here):
            return None
        # Another operation may take the operands in any order, or stand for an operand: then it is to be its own one.
        own = [self.left.number(leaf) for leaf in flat(partner[-1].shape, self.left.run.value(partner, time))]
        is_same = all(any(_holds(h, w) for w in want) for h in have) and all(
            any(_holds(h, w) for h in have) for w in want)
        return [] if is_same or all(_holds(h, own) for h in have) else None

    def _is_computed_there(self, site: Site, time: Time) -> bool:
        """Return True if the left module computes a value of the same operands.

            left: x / y      right: x * (1 * y), where 1 * y is to be 1 / y

        Otherwise another operation on the value need not be wrong: what makes the value for it may be.
        """
        site = made_at(site)
        while flow_of(site[-1]).keeps_numbers and site[-1].operands:
            site = made_at((*site[:-1], site[-1].operands[0]))
        value, shape = self.own.value(site, time), site[-1].shape
        return flow_of(site[-1]).is_trivial or not site[-1].operands or any(
            self.left.has_value(s, time, shape, value) for s in self.left.candidates(site, time, self.own))

    def _is_rearranged(self, site: Site, operand: HloInstruction, want: list[int], time: Time) -> bool:
        """Return True if an operand is a left value that has the elements of the wanted one in another order.

        Arrays of few different elements have each other's elements by chance, and an iota those of another one.
        """
        made = made_at((*site[:-1], operand))[-1]
        if not made.operands and made.opcode != "parameter":
            return False
        leaves = self._leaves(self.own, site, operand, time)
        return len(leaves) == len(want) and all(
            self.left.like(leaf) and number in self.left.rearranged(leaf)
            and len(np.unique(plain(leaf))) >= min(leaf.size, _DISTINCT)
            for leaf, number in zip(leaves, want, strict=True))

    def _leaves(self, run: ReferenceRun, site: Site, operand: HloInstruction, time: Time) -> list[Array]:
        value = run.value((*site[:-1], operand), time)
        return [] if value is UNKNOWN else list(flat(operand.shape, value))

    def _differs(self, site: Site, partner: Site, time: Time) -> bool:
        """Return True if an instruction gives another value than its partner on exactly the partner's operands."""
        instruction = site[-1]
        if flow_of(instruction).exchanges or self.right.devices > 1:
            return True
        exact = self.exact_values(partner)
        operands = [exact((*site[:-1], o), time) for o in instruction.operands]
        try:
            value = InstructionRuns(self.right).run(instruction, operands)
        except HloError:
            return False
        if self.left.has_value(partner, time, instruction.shape, value):
            return False
        expected = self.left.run.value(partner, time)
        if not instruction.shape.is_array or not _are_rearranged(np.asarray(value), np.asarray(expected)):
            return True
        # Of operands in another order a value in another order says nothing. The right value itself is in none.
        own = [[self.left.like(leaf) for leaf in flat(o.shape, held)]
               for o, held in zip(instruction.operands, operands, strict=True)]
        want = [[self.left.number(leaf) for leaf in self._leaves(self.left.run, partner, o, time)]
                for o in partner[-1].operands]
        return any(_holds(have, [self.left.number(expected)]) for have in own) or all(
            _holds(have, w) for have, w in zip(own, want, strict=False))

    def exact_values(self, partner: Site) -> Callable[[Site, Time], Any]:
        """Return what gives right values as the left values that are taken by an instruction's partner."""
        def value(site: Site, time: Time) -> Any:
            own = self.own.value(site, time)
            if own is UNKNOWN:
                return UNKNOWN
            exact = {self.left.number(leaf): leaf for leaf in operand_leaves(self.left.run, partner, time)}
            shape = site[-1].shape
            return nested(shape, iter([_exact(leaf, self.left.like(leaf), exact) for leaf in flat(shape, own)]))

        return value


def _are_rearranged(one: Array, other: Array) -> bool:
    """Return True if two arrays of one type hold the same elements in another order."""
    return one.dtype == other.dtype and np.sort(one, axis=None).tobytes() == np.sort(other, axis=None).tobytes()


def _holds(have: Sequence[frozenset[int]], want: Sequence[int]) -> bool:
    """Return True if values with those numbers are the wanted ones, leaf by leaf."""
    return len(have) == len(want) and all(w in h for h, w in zip(have, want, strict=True))


def _are_the_same(have: list[list[frozenset[int]]], want: list[list[int]]) -> bool:
    """Return True if operands have the wanted values in another order."""
    return bool(have) and all(len(n) == 1 for h in have for n in h) and Counter(
        tuple(min(n) for n in h) for h in have) == Counter(map(tuple, want))


def _exact(leaf: Array, numbers: frozenset[int], exact: dict[int, Array]) -> Array:
    """Return the left module's value that one is like, in the same type and dimensions."""
    found = next((exact[n] for n in numbers if n in exact), None)
    return leaf if found is None else fitted_to(found, leaf)


def fitted_to(value: Array, like: Array) -> Array:
    """Return a value in the type and dimensions of an array."""
    return np.asarray(value).reshape(like.shape).astype(like.dtype)


@dataclass
class SiteRepair:
    """An observer that puts a left instruction's values in place of a right one's own."""

    left: ReferenceRun
    site: Site
    partner: Site

    def see(self, moment: Moment) -> Any:
        """Return the partner's value at the same time."""
        if moment.instruction is not self.site[-1] or is_folded(moment.path) \
                or site_of(moment.path, moment.instruction) != self.site:
            return moment.value
        value = self.left.value(self.partner, time_of(moment.path, moment.device))
        if value is UNKNOWN:
            return moment.value
        shapes = self.site[-1].shape, self.partner[-1].shape
        leaves = zip(flat(shapes[1], value), flat(shapes[0], moment.value), strict=True)
        return nested(shapes[0], iter([fitted_to(v, own) for v, own in leaves]))
