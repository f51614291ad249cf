"""The proof of guilt between two modules, whose instructions are pairs.

The right module runs on the reference, and each of its instructions that has a partner goes on with the partner's
value:

    left                               right
    y = f32[4] sine(x)                 b = f32[4] cosine(a)       other than y on the value of x: suspect
    z = f32[4] add(y, x)               c = f32[4] add(b, a)       on the values of y and x the value of z: cleared

So every instruction is given the left module's values, and what only carries a fault has its partner's value. One that
has another value is *suspect*. It is guilty if all its operands hold the left module's values, and the results are
those of the left module once its value is.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from hlotool.blame.reference_run import (
    UNKNOWN,
    ReferenceRun,
    Site,
    Time,
    are_same,
    is_folded,
    leaf_pairs,
    site_of,
    time_of,
)
from hlotool.execution import Moment, Path
from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array
from hlotool.numerics import Judgement, Known, judge, takes_ordinary

#: suspects of which each alone is tried
_TRIED = 16


@dataclass
class Suspect:
    """An instruction of the right module that gives another value than its partner, at the first time that it does."""

    path: Path
    instruction: HloInstruction
    partner: HloInstruction
    device: int
    judgement: Judgement
    #: True if its operands hold the left module's values
    is_given_right: bool
    #: True if it takes ordinary numbers where the values differ (extreme_values.py)
    is_fed_ordinary: bool = False
    #: True if its operands hold nearly the left module's values in the right module's own run, too
    is_fed_right: bool = True


@dataclass
class Expected:
    """The left module's values for the right module's instructions."""

    run: ReferenceRun
    partner: Mapping[HloInstruction, HloInstruction]
    _sites: dict[Site, Site | None] = field(default_factory=dict)

    def of(self, moment: Moment) -> Any:
        """Return the value of an instruction's partner at the same time; UNKNOWN where there is none."""
        return self.at(site_of(moment.path, moment.instruction), time_of(moment.path, moment.device))

    def at(self, site: Site, time: Time) -> Any:
        """Return the value for a site of the right module."""
        if site not in self._sites:
            partners = tuple(self.partner.get(i) for i in site)
            self._sites[site] = None if None in partners else partners  # type: ignore[assignment]
        found = self._sites[site]
        return UNKNOWN if found is None else self.run.value(found, time)


@dataclass
class CorrectedRun:
    """An observer of the right module's run that puts the left module's values in place, and collects suspects."""

    expected: Expected
    #: instructions that may differ by themselves; all others do what their partners do
    may_differ: Callable[[HloInstruction], bool]
    suspects: dict[HloInstruction, Suspect] = field(default_factory=dict)
    #: instructions that have another value than their partners on the left module's values
    corrected: set[HloInstruction] = field(default_factory=set)
    #: times at which an instruction goes on with its partner's value
    held: set[tuple[Site, Time]] = field(default_factory=set)

    def see(self, moment: Moment) -> Any:
        """Return the partner's value, or the instruction's own where there is no partner."""
        expected = UNKNOWN if is_folded(moment.path) else self.expected.of(moment)
        if expected is UNKNOWN:
            return moment.value
        if not are_same(moment.instruction.shape, moment.value, expected):
            self.corrected.add(moment.instruction)
            self._differs(moment, expected)
        self.held.add((site_of(moment.path, moment.instruction), time_of(moment.path, moment.device)))
        return expected

    def _differs(self, moment: Moment, expected: Any) -> None:
        """Make the instruction a suspect; of a parameter the instruction that calls its computation."""
        path, instruction = moment.path, moment.instruction
        if instruction.opcode == "parameter" and path:
            path, instruction = path[:-1], path[-1].caller
        partner = self.expected.partner[instruction]
        if instruction in self.suspects or not self.may_differ(instruction):
            return
        judgement = _judged(moment.instruction, moment.value, expected)
        if judgement is not None:
            operands = list(arrays(moment.operands))
            self.suspects[instruction] = Suspect(
                path, instruction, partner, moment.device, judgement, self._holds(path, instruction, moment.device),
                any(takes_ordinary(operands, judgement, [i]) for i in (instruction, partner)))

    def _holds(self, path: Path, instruction: HloInstruction, device: int) -> bool:
        """Return True if the operands hold the left module's values; one that stands for no operand, its own.

        An operand without a partner may have been put in for the instruction, which is else as its partner is.
        """
        time, partner = time_of(path, device), self.expected.partner
        other = partner[instruction]
        is_alike = instruction.opcode == other.opcode and len(instruction.operands) == len(other.operands)

        def is_right(operand: HloInstruction) -> bool:
            return (site_of(path, operand), time) in self.held and (
                partner[operand] in other.operands or operand not in self.corrected)

        return all(is_right(o) if o in partner else is_alike and _is_single(o) and all(
            p in partner and is_right(p) for p in o.operands) for o in instruction.operands)


def _is_single(instruction: HloInstruction) -> bool:
    """Return True for an operation that takes operands and runs no computation."""
    return bool(instruction.operands) and not instruction.called_computations()


def _judged(instruction: HloInstruction, given: Any, expected: Any) -> Judgement | None:
    """Return the verdict on the first leaf that is wrong; None: none is."""
    judged = (judge(a, Known(b)) for a, b in leaf_pairs(instruction.shape, given, expected))
    return next((j for j in judged if j.is_wrong), None)


def arrays(values: Iterable[Any]) -> Iterator[Array]:
    """Yield the arrays among values, also those in tuples."""
    for value in values:
        if isinstance(value, tuple):
            yield from arrays(value)
        elif value is not None and hasattr(value, "dtype"):
            yield value


def repairing(expected: Expected, repaired: Collection[HloInstruction]) -> Callable[[Moment], Any]:
    """Return an observer that puts the left module's values in place of some instructions' own."""
    def watch(moment: Moment) -> Any:
        if moment.instruction not in repaired or is_folded(moment.path):
            return moment.value
        value = expected.of(moment)
        return moment.value if value is UNKNOWN else value

    return watch


def guilty(suspects: Collection[Suspect], is_right: Callable[[Collection[HloInstruction]], bool]) -> Suspect | None:
    """Return the first suspect that is guilty; None: none is proven to be.

    `is_right` tells whether the results are right once those instructions have the left module's values. That is so
    of any instruction behind all the others that differ: it is guilty only if what it is fed with is right.
    """
    provable = [s for s in suspects if s.is_given_right][:_TRIED]
    for suspect in (s for s in provable if s.is_fed_right):
        if is_right([suspect.instruction]):
            return suspect
    needed = {s.instruction: s for s in suspects} if 1 < len(suspects) <= _TRIED else {}
    if not needed or not provable or not is_right(needed):
        return None
    for suspect in list(needed.values())[::-1]:
        if is_right([i for i in needed if i is not suspect.instruction]):
            del needed[suspect.instruction]
    first = next(iter(needed.values()))
    return first if first.is_fed_right and all(s.is_given_right for s in needed.values()) else None
