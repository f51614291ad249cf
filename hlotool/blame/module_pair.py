"""Names the instruction by which a module computes other results than another one; both run on the reference.

An instruction is guilty only if on the left module's values of its operands it gives another value than its partner
there, and the results are the left module's once it has that value. Partners are found by structure first, and by the
values of operands where the modules have been rewritten (value_partners.py). Where no instruction passes the test, the
finding says between which instructions the modules part, and names none.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from hlotool.blame.corrected_run import CorrectedRun, Expected, Suspect, guilty, repairing
from hlotool.blame.edit_search import EditSearch, EditSearchResult
from hlotool.blame.fresh_sets import FreshSet, fresh_sets
from hlotool.blame.inside_folds import guilty_inside
from hlotool.blame.operand_values import OperandValues, operand_values
from hlotool.blame.places import InstructionPlace, path_into, result_maker
from hlotool.blame.reference_run import FOLDS, UNKNOWN, ReferenceRun, Site, Time, leaf_pairs, path_to, site_of, time_of
from hlotool.blame.small_edits import mended_module
from hlotool.blame.structural_partners import StructuralPartners, structural_partners
from hlotool.blame.value_partners import LeftValues, are_near_numbers, operand_leaves
from hlotool.blame.value_proof import GuiltProof, SiteRepair, ValueProofs, fitted_to
from hlotool.diagnostics import HloError
from hlotool.execution import UNDEFINED, Observer, Program, RunningCall, evaluate_program, flat, require_one_signature
from hlotool.ir import HloInstruction, HloModule, reachable
from hlotool.ir.arrays import Array, np
from hlotool.numerics import Evidence, Judgement, Known, Rows, judge, takes_ordinary
from hlotool.ops import flow_of
from hlotool.passes.equality import ModuleChange
from hlotool.process import work_time
from hlotool.verdict import small_changes

#: candidates for guilt in a rewritten module that are tried
_TRIED = 40
#: largest difference of a value from what a legal rewrite makes of it, of the largest element: some units of bf16
_NEARLY = 2.0 ** -5
#: instructions before the difference that are listed where none is named
_SHOWN = 4


@dataclass
class PairBlame:
    """The instruction of the right module that makes the difference, or where it is made."""

    #: the guilty instruction; None: no instruction is proven to be
    place: InstructionPlace | None
    #: the comparison of its value with the left module's; where none is named, of the result
    judgement: Judgement
    #: its partner in the left module
    partner: HloInstruction | None
    #: the first result that differs, and where it does
    result: int
    device: int = 0
    #: where none is named: instructions that have the left module's values, and one that has not
    between: tuple[tuple[InstructionPlace, ...], InstructionPlace] | None = None
    #: True if it, or its partner, takes ordinary numbers where they differ (extreme_values.py)
    is_fed_ordinary: bool = False
    #: the small edit with which the results are the left module's, where that is the proof
    edit: str = ""
    #: the right module with that edit
    mended: HloModule | None = None
    #: where none is named: instructions of which a small edit gives the left module's results
    remaining: tuple[InstructionPlace, ...] = ()
    #: its partner and it, on the values on which they differ; of an instruction in a reducer, the fold
    proven_on: tuple[OperandValues, OperandValues] | None = None
    seconds: float = 0.0

    @property
    def shown_at(self) -> InstructionPlace:
        """The guilty instruction; where none is named, one whose value differs."""
        if self.place is not None:
            return self.place
        assert self.between is not None
        return self.between[1]

    def __str__(self) -> str:
        """`at add.3`, or `between mul.1 and add.3`."""
        if self.place is not None:
            return f"at {self.place}"
        assert self.between is not None
        before, after = self.between
        return f"between {', '.join(map(str, before)) or 'the parameters'} and {after}: not decided"


def blame_pair(left: Program, right: Program, arguments: Rows, *, seconds: float = 60.0) -> PairBlame | None:
    """Return the instruction of `right` by which its results differ from those of `left`; None: they do not.

    Raises HloError where the two take other arguments or give other results, or the reference cannot run one of them.
    """
    require_one_signature(left, right)
    started = work_time()
    known, own = ReferenceRun(), ReferenceRun()
    evidence = Evidence(left, arguments, reference_known=evaluate_program(left, arguments, known.see, sees_parts=True))
    undefined: HloError | None = None
    try:
        given = evaluate_program(right, arguments, own.see, sees_parts=True)
    except HloError as error:
        if all(d.code != UNDEFINED for d in error.diagnostics):
            raise
        undefined, own = error, ReferenceRun()
        given = evaluate_program(right, arguments, own.see, sees_parts=True, unlike_parts=True)
    wrong = _first_wrong(evidence, given)
    if wrong is None:
        if undefined is not None:
            raise undefined
        return None
    search = _Search(left, right, arguments, evidence, known, own, started + seconds)
    with np.errstate(all="ignore"):  # infinities and NaN are values like others
        found = search.by_structure() or search.by_only_change(wrong[2]) or search.by_values()
        if found is None:
            found = search.by_edits(*wrong)
        found = _with_inside(found, started + seconds)
    found.seconds = work_time() - started
    return found


def _with_inside(found: PairBlame, deadline: float) -> PairBlame:
    """Return a finding with the instruction in a guilty fold's computation in its place, where one is proven guilty."""
    place = found.place
    if place is None or place.instruction.opcode not in FOLDS or found.proven_on is None:
        return found

    def named(one: Program, other: Program, rows: Rows) -> HloInstruction | None:
        guilty = blame_pair(one, other, rows, seconds=max(1.0, deadline - work_time()))
        return guilty.place.instruction if guilty is not None and guilty.place is not None else None

    inside = guilty_inside(*found.proven_on, named)
    if inside is None:
        return found
    computation, instruction = inside
    path = (*place.path, RunningCall(place.instruction, computation, 0))
    return replace(found, place=InstructionPlace(place.module, instruction, path), partner=None)


def _first_wrong(evidence: Evidence, given: list[list[Array]]) -> tuple[int, int, Judgement] | None:
    """Return device, result and verdict of the first result that is wrong."""
    for device, row in enumerate(given):
        for result, value in enumerate(row):
            if result >= len(evidence.reference[device]):
                return None
            judgement = evidence.judge(value, device, result)
            if judgement.is_wrong:
                return device, result, judgement
    return None


@dataclass
class _Search:
    """The search for what is guilty of a difference of two programs."""

    left: Program
    right: Program
    arguments: Rows
    evidence: Evidence
    #: the two programs' runs
    known: ReferenceRun
    own: ReferenceRun
    #: work_time at which it ends
    deadline: float

    @functools.cached_property
    def _left_values(self) -> LeftValues:
        return LeftValues(self.known)

    def by_structure(self) -> PairBlame | None:
        """Return what is guilty among the instructions that the tree difference pairs."""
        partners = structural_partners(self.left.module, self.right.module)
        run = CorrectedRun(Expected(self.known, partners.partner), partners.may_differ)
        self._results(run.see)
        for suspect in run.suspects.values():
            suspect.is_fed_right = self._is_fed_right(suspect, run.expected)
        found = guilty(list(run.suspects.values()), lambda repaired: self._is_right(repairing(run.expected, repaired)))
        if found is None or self._is_rewritten(found) or self._takes_another_value(found, partners):
            return None
        found = _behind_copies(found, partners, self.right.module)
        site = site_of(found.path, found.instruction)
        return replace(self._blamed(_inner(found, partners)), proven_on=self._operands_of(
            site, (*(partners.partner[i] for i in site[:-1]), found.partner), time_of(found.path, found.device),
            run.expected.at))

    def _is_fed_right(self, suspect: Suspect, expected: Expected) -> bool:
        """Return True if its operands hold nearly the left module's values without any correction."""
        site, time = site_of(suspect.path, suspect.instruction), time_of(suspect.path, suspect.device)
        for operand in suspect.instruction.operands:
            place = (*site[:-1], operand)
            own, wanted = self.own.value(place, time), expected.at(place, time)
            if own is not UNKNOWN and wanted is not UNKNOWN and not all(
                    are_near_numbers(a, b) for a, b in leaf_pairs(operand.shape, own, wanted)):
                return False
        return True

    def _operands_of(self, site: Site, partner: Site, time: Time, value: Callable[[Site, Time], Any]
                     ) -> tuple[OperandValues, OperandValues] | None:
        """Return a partner and an instruction with what they take; `value` gives that of the right module's."""
        devices = self.known.devices(partner, time)
        left = operand_values(self.left.module, partner, time, devices, self.known.value)
        right = operand_values(self.right.module, site, time, devices, value)
        return (left, right) if left is not None and right is not None else None

    def _is_rewritten(self, suspect: Suspect) -> bool:
        """Return True if another operation on other operands has nearly the value of its partner: a legal rewrite.

        Its partner's operands are not its own then, so that what it makes of them says nothing.
        """
        here, there = suspect.instruction, suspect.partner
        if here.opcode == there.opcode:
            return False
        time = (suspect.device,)
        value, expected = self.own.value((here,), time), self.known.value((there,), time)
        if value is UNKNOWN or expected is UNKNOWN or not here.shape.is_array or not here.shape.dtype.is_floating:
            return False
        wide = [np.asarray(v).astype(np.float64) for v in (value, expected)]
        if wide[0].shape != wide[1].shape or not all(np.isfinite(w).all() for w in wide) or not wide[0].size:
            return False
        return bool(np.abs(wide[0] - wide[1]).max() <= _NEARLY * np.abs(wide[1]).max())

    def _takes_another_value(self, suspect: Suspect, partners: StructuralPartners) -> bool:
        """Return True if a tuple or a copy takes a wrong value that has no partner: that may be guilty."""
        here, there, flow = suspect.instruction, suspect.partner, flow_of(suspect.instruction)
        if not (flow.packs or flow.forwards) or here.opcode != there.opcode or \
                len(here.operands) != len(there.operands):
            return False
        time = time_of(suspect.path, suspect.device)
        site = site_of(suspect.path, here)
        home = tuple(partners.partner[i] for i in site[:-1])
        for own, other in zip(here.operands, there.operands, strict=True):
            value, expected = self.own.value((*site[:-1], own), time), self.known.value((*home, other), time)
            if own not in partners.partner and value is not UNKNOWN and expected is not UNKNOWN and not (
                    own.shape.compatible(other.shape) and all(
                        are_near_numbers(a, b) for a, b in leaf_pairs(own.shape, value, expected))):
                return True
        return False

    @functools.cached_property
    def _changes(self) -> list[ModuleChange]:
        return small_changes(self.left.module, self.right.module)

    def _is_alike(self, instruction: HloInstruction) -> bool:
        """Return True if the modules differ in a few instructions, but not in this one, nor in what it calls."""
        changed = {c.right for c in self._changes}
        return bool(changed) and instruction not in changed and not any(
            i in changed for c in reachable(instruction.called_computations()) for i in c.instructions)

    def by_only_change(self, judgement: Judgement) -> PairBlame | None:
        """Return the only instruction in which the modules differ, at the first time that its value does.

        Zeros of two signs are the same number to the judge, and values of two types have no common one.
        """
        if len(self._changes) != 1:
            return None
        left, right = self._changes[0].left, self._changes[0].right
        assert left is not None and right is not None
        partners = structural_partners(self.left.module, self.right.module).partner | {right: left}
        for site, times in self.own.values.items():
            if site[-1] is not right or any(i not in partners for i in site):
                continue
            partner = tuple(partners[i] for i in site)
            for time, value in times.items():
                expected = self.known.value(partner, time)
                if expected is not UNKNOWN and _are_other_numbers(value, expected):
                    return PairBlame(InstructionPlace(self.right.module, right, path_to(site, time)), judgement, left,
                                     0, time[-1])
        return None

    def by_values(self) -> PairBlame | None:
        """Return what is guilty among the instructions that have the values of a left one's operands."""
        proofs = ValueProofs(self.right, self._left_values, self.own)
        for proof in itertools.islice((p for p in proofs if not self._is_alike(p.site[-1])), _TRIED):
            repair = SiteRepair(self.known, proof.site, proof.partner)
            # Another operation that takes more or less than its partner is not meant to have that value.
            here, there = proof.site[-1], proof.partner[-1]
            is_like = here.opcode == there.opcode or len(here.operands) == len(there.operands)
            if is_like and self._is_right(repair.see) and self._holds_on_fresh_sets(proof):
                return replace(self._proven(proof), proven_on=self._operands_of(
                    proof.site, proof.partner, proof.time, proofs.exact_values(proof.partner)))
        return None

    def _holds_on_fresh_sets(self, proof: GuiltProof) -> bool:
        """Return True if the partner's values mend the results on fresh arguments, too.

        On one set of arguments another operation may have the right values by chance.
        """
        for one in self._fresh_sets:
            run = ReferenceRun()
            try:
                evaluate_program(self.left, one.arguments, run.see, sees_parts=True)
                repaired = SiteRepair(run, proof.site, proof.partner)
                results = evaluate_program(self.right, one.arguments, repaired.see, sees_parts=True, unlike_parts=True)
            except HloError:
                return False
            if work_time() > self.deadline or not one.is_right(results):
                return False
        return True

    @functools.cached_property
    def _fresh_sets(self) -> list[FreshSet]:
        return list(fresh_sets(self.left, self.right, self.arguments))

    def _proven(self, proof: GuiltProof) -> PairBlame:
        here, there = proof.site[-1], proof.partner[-1]
        value, expected = self.own.value(proof.site, proof.time), self.known.value(proof.partner, proof.time)
        judged = [judge(v, Known(fitted_to(e, v)))
                  for v, e in zip(flat(here.shape, value), flat(there.shape, expected), strict=True)]
        judgement = next((j for j in judged if j.is_wrong), judged[0])
        operands = list(operand_leaves(self.own, proof.site, proof.time))
        return PairBlame(InstructionPlace(self.right.module, here, path_to(proof.site, proof.time)), judgement, there,
                         0, proof.time[-1], is_fed_ordinary=any(takes_ordinary(operands, judgement, [i])
                                                                for i in (here, there)))

    def by_edits(self, device: int, result: int, judgement: Judgement) -> PairBlame:
        """Return the one instruction that a small edit mends; else between which the modules part."""
        makers: list[Site] = [(result_maker(self.right.module.entry.root, n),) for n in self._wrong_results()]
        search = EditSearch(self.left, self.right, self.arguments, self.evidence, self._left_values, self.own, makers,
                            self.deadline, self._is_alike)
        found = search.find() if self.right.devices == 1 else EditSearchResult(None)
        if found.edit is None:
            open_ = self.undecided(device, result, judgement)
            open_.remaining = tuple(self._place_of(i) for i in found.remaining)
            return open_
        return PairBlame(self._place_of(found.edit.instruction), judgement, None, result, device, edit=found.edit.text,
                         mended=mended_module(found.edit, self.right.module))

    def _wrong_results(self) -> Iterator[int]:
        for row, given in zip(self.evidence.reference, evaluate_program(
                self.right, self.arguments, unlike_parts=True), strict=True):
            for n, (one, other) in enumerate(zip(row, given, strict=True)):
                if not are_near_numbers(one, other) or self.evidence.judge(other, 0, n).is_wrong:
                    yield n

    def _place_of(self, instruction: HloInstruction) -> InstructionPlace:
        """Return where an instruction runs first; inside of reducers, the calls that lead there."""
        for site, times in self.own.values.items():
            if site[-1] is instruction:
                return InstructionPlace(self.right.module, instruction, path_to(site, next(iter(times))))
        return InstructionPlace(self.right.module, instruction, path_into(self.right.module, instruction))

    def undecided(self, device: int, result: int, judgement: Judgement) -> PairBlame:
        """Return between which instructions a result comes to differ."""
        maker = result_maker(self.right.module.entry.root, result)
        before = [InstructionPlace(self.right.module, i) for i in self._last_right(maker, device)]
        return PairBlame(None, judgement, None, result, device,
                         (tuple(before[:_SHOWN]), InstructionPlace(self.right.module, maker)))

    def _last_right(self, maker: HloInstruction, device: int) -> Iterator[HloInstruction]:
        """Yield the entry's last instructions on the way to one that have values of the left module."""
        values, waiting, seen = self._left_values, [maker], {maker}
        while waiting:
            for operand in waiting.pop().operands:
                if operand in seen:
                    continue
                seen.add(operand)
                value = self.own.value((operand,), (device,))
                if value is UNKNOWN or not all(values.like(leaf) for leaf in flat(operand.shape, value)):
                    waiting.append(operand)
                elif operand.opcode not in ("constant", "parameter"):
                    yield operand

    def _is_right(self, observer: Observer) -> bool:
        """Return True if the results are the left module's with what an observer puts in place of values."""
        if work_time() > self.deadline:
            return False
        results = self._results(observer)
        return results is not None and _first_wrong(self.evidence, results) is None

    def _results(self, observer: Observer) -> list[list[Array]] | None:
        try:
            return evaluate_program(self.right, self.arguments, observer, sees_parts=True, unlike_parts=True)
        except HloError:
            return None

    def _blamed(self, suspect: Suspect) -> PairBlame:
        place = InstructionPlace(self.right.module, suspect.instruction, suspect.path)
        return PairBlame(place, suspect.judgement, suspect.partner, 0, suspect.device,
                         is_fed_ordinary=suspect.is_fed_ordinary)


def _are_other_numbers(value: Any, expected: Any) -> bool:
    """Return True if two arrays hold other numbers, or zeros of other signs; tuples and tokens are not compared."""
    one, other = np.asarray(value), np.asarray(expected)
    if isinstance(value, tuple) or value is None or one.dtype == object or one.shape != other.shape:
        return False
    if one.dtype == other.dtype:
        return one.tobytes() != other.tobytes()
    return not np.array_equal(one.astype(np.complex128), other.astype(np.complex128), equal_nan=True)


def _behind_copies(suspect: Suspect, partners: StructuralPartners, module: HloModule) -> Suspect:
    """Return what a copy hands on in its place, where it is its partner's operation, and the copy alone takes it."""
    here = suspect.instruction
    users = module.parents()[here].users()
    while flow_of(here).forwards and suspect.partner.opcode != here.opcode and (
            here.operands[0] not in partners.partner or len(users[here.operands[0]]) == 1):
        here = here.operands[0]
    return replace(suspect, instruction=here) if here.opcode == suspect.partner.opcode else suspect


def _inner(suspect: Suspect, partners: StructuralPartners) -> Suspect:
    """Return a fold's guilt as that of the only instruction of its computation that is another operation.

    All others do on any operands what their partners do.
    """
    inside = partners.changed_inside(suspect.instruction)
    if suspect.instruction in partners.changed or len(inside) != 1 or not suspect.instruction:
        return suspect
    computation, instruction = inside[0]
    partner = partners.partner.get(instruction)
    if partner is None:
        return suspect
    path = (*suspect.path, RunningCall(suspect.instruction, computation, 0))
    return Suspect(path, instruction, partner, suspect.device, suspect.judgement, True, suspect.is_fed_ordinary)
