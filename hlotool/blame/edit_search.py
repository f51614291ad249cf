"""The one instruction that a small edit mends, where no value of the first module proves an instruction guilty.

Between the last values of the first module and the wrong results, each instruction is edited (small_edits.py), and the
second module is run with it. One whose edit gives the first module's results, on the arguments at hand and on fresh
ones, may be guilty. It is named only if

    no other instruction's edit does so,
        or every other one makes fewer values those of the first module, and none that this one does not;
    no value of the first module is lost by its edit;
    the difference shows on several sets of arguments, and the edited module is right on all of them.

An edit that only undoes a fault further up leaves the values between them wrong; it loses against the edit of the
fault, and where that is none of the small ones, edits of what lies between show that it is not the only one. Edits that
take two instructions (a value negated afterwards) name nothing; they only keep others from being the only ones.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hlotool.blame.constant_edits import FirstNumbers, constant_edits
from hlotool.blame.edited_runs import EditedRuns
from hlotool.blame.fresh_sets import FreshSet, fresh_sets, smallest_share
from hlotool.blame.reference_run import UNKNOWN, ReferenceRun, Site, Time
from hlotool.blame.small_edits import SmallEdit, SmallEdits
from hlotool.blame.undecided_region import hands_on, tells, undecided_region
from hlotool.blame.value_partners import LeftValues, made_at, plain
from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program, flat
from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.numerics import Evidence, Rows
from hlotool.ops import OPS, flow_of, is_a
from hlotool.passes.equality import is_optimised
from hlotool.process import work_time

#: instructions that are computed again in edited modules; a search that needs more decides nothing
MOST_VALUES = 2_000_000
#: edits of one instruction that are looked at further
_EDITS = 4
#: on how many sets of arguments a difference has to show
_SHOWING = 3
#: different elements from which on a value counts as one of the first module
_DISTINCT = 2


@dataclass
class EditSearchResult:
    """The instruction that is named, with its edit; or all that could be."""

    edit: SmallEdit | None
    #: instructions of which an edit gives the first module's results
    remaining: list[HloInstruction] = field(default_factory=list)


@dataclass
class EditSearch:
    """The search for the one instruction of the right module that a small edit mends."""

    left: Program
    right: Program
    arguments: Rows
    evidence: Evidence
    values: LeftValues
    own: ReferenceRun
    #: the sites that make wrong results
    makers: Sequence[Site]
    #: work_time at which the search ends, and decides nothing
    deadline: float
    #: tells the instructions that are known to be innocent
    is_innocent: Callable[[HloInstruction], bool] = lambda _: False

    def __post_init__(self) -> None:
        self._runs = EditedRuns(self.right, self.own, MOST_VALUES)
        self._here = FreshSet(self.arguments, self.evidence, smallest_share(self.left))

    def find(self, among: Iterable[HloInstruction] | None = None) -> EditSearchResult:
        """Return the instruction that is named, with its edit; `among` are those that may be, else all that may."""
        candidates = [i for i in (undecided_region(self.makers, self.values, self.own) if among is None else among)
                      if not self.is_innocent(i)]
        mending: dict[HloInstruction, list[SmallEdit]] = {}
        for edits in (self._edits, self._small.of_two):
            for instruction in candidates:
                for edit in edits(instruction):
                    found = mending.setdefault(instruction, [])
                    if self._here.is_near(self._runs.results(edit)):
                        found.append(edit)
                    if self._runs.left <= 0 or work_time() > self.deadline:
                        return EditSearchResult(None)
                    if len(found) >= _EDITS:
                        break
            if not any(mending.values()):
                return EditSearchResult(None)
        return self._chosen([e for edits in mending.values() for e in edits])

    def _edits(self, instruction: HloInstruction) -> Iterator[SmallEdit]:
        if instruction.opcode == "constant" and instruction.shape.is_array:
            yield from constant_edits(instruction, self._numbers, self._error)
        yield from self._small.of(instruction)

    @functools.cached_property
    def _small(self) -> SmallEdits:
        return SmallEdits(self.right.module, self.left.module)

    @functools.cached_property
    def _numbers(self) -> FirstNumbers:
        return FirstNumbers(self.values)

    def _error(self, edit: SmallEdit) -> float | None:
        """Return how far the element that is wrong the most is off with an edit; None where no float is wrong."""
        results = self._runs.results(edit) if self._worst is not None else None
        return None if results is None or self._worst is None else _off(results, self.evidence.reference, self._worst)

    @functools.cached_property
    def _worst(self) -> tuple[int, int, int] | None:
        """Device, result and element where the module is wrong the most, among results of the widest type."""
        found: list[tuple[int, float, tuple[int, int, int]]] = []
        given = evaluate_program(self.right, self.arguments)
        for device, (row, right) in enumerate(zip(given, self.evidence.reference, strict=True)):
            for result, (value, wanted) in enumerate(zip(row, right, strict=True)):
                one, other = plain(value), plain(wanted)
                if one.dtype == np.float64 and one.size:
                    away = np.nan_to_num(np.abs(one - other), nan=0.0, posinf=0.0)
                    largest = np.abs(other[np.isfinite(other)]).max(initial=1e-30)
                    share = float(away.max() / largest)
                    found += [(value.itemsize, share, (device, result, int(away.argmax())))] if share > 0 else []
        return max(found)[2] if found else None

    def _chosen(self, edits: list[SmallEdit]) -> EditSearchResult:
        """Return the instruction that alone can be mended."""
        sets = [self._here, *fresh_sets(self.left, self.right, self.arguments)] if edits else []
        left = [e for e in edits if all(s.is_near(self._runs.results_on(s.arguments, e)) for s in sets)]
        remaining = EditSearchResult(None, list(dict.fromkeys(e.instruction for e in left)))
        if sum(not s.is_right(self._given(s)) for s in sets) < min(_SHOWING, len(sets)) or len(sets) < _SHOWING:
            return remaining
        known = {k for k in self._known(self.own) if k[2] == "known"}
        knowing = [(e, self._known_with(e)) for e in left]
        for edit, there in knowing:
            is_best = all(e.instruction is edit.instruction or there > other for e, other in knowing)
            if not edit.after and is_best and there >= known and all(
                    s.is_right(self._runs.results_on(s.arguments, edit)) for s in sets):
                return EditSearchResult(edit, [edit.instruction])
        return remaining

    def _given(self, one: FreshSet) -> list[list[Array]] | None:
        try:
            return evaluate_program(self.right, one.arguments)
        except HloError:
            return None

    def _known_with(self, edit: SmallEdit) -> frozenset[tuple[Site, Time, str]]:
        run = ReferenceRun()
        self._runs.results_on(self.arguments, edit, run.see)
        with self._runs.edited(edit):
            return self._known(run)

    def _known(self, run: ReferenceRun) -> frozenset[tuple[Site, Time, str]]:
        """Return where instructions have values of the left module that tell something, and do something.

        An operation on its identity, `1 * x`, only has its operand's value; a compiler leaves none of those.
        """
        found: set[tuple[Site, Time, str]] = set()
        for site, times in run.values.items():
            if hands_on(site[-1]):
                continue
            original = self._runs.original(site)
            for time, value in times.items():
                if _is_idle(run, site, time):
                    continue
                if self._is_optimised and is_a(site[-1], "elementwise"):
                    found.add((original, time, "works"))
                if all(tells(leaf, _DISTINCT) and self.values.like(leaf) for leaf in flat(site[-1].shape, value)):
                    found.add((original, time, "known"))
        return frozenset(found)

    @functools.cached_property
    def _is_optimised(self) -> bool:
        return is_optimised(self.right.module)


def _is_idle(run: ReferenceRun, site: Site, time: Time) -> bool:
    """Return True for an operation of two operands of which a constant leaves the other one as it is."""
    record, operands = OPS.get(site[-1].opcode), site[-1].operands
    if record is None or record.identity is None or not site[-1].shape.is_array:
        return False
    # Of a subtraction only the second operand does.
    for operand in operands[not is_a(site[-1], "commutative"):]:
        value = run.value((*site[:-1], operand), time)
        if value is not UNKNOWN and _is_constant((*site[:-1], operand)) and np.all(
                np.asarray(value) == record.identity(operand.shape.dtype)):
            return True
    return False


def _is_constant(site: Site) -> bool:
    """Return True if a value is that of a constant, in other dimensions or at another precision."""
    site = made_at(site)
    while flow_of(site[-1]).keeps_numbers and site[-1].operands:
        site = made_at((*site[:-1], site[-1].operands[0]))
    return site[-1].opcode == "constant"


def _off(results: list[list[Array]], reference: Rows, place: tuple[int, int, int]) -> float | None:
    device, result, element = place
    away = float(plain(results[device][result])[element] - plain(reference[device][result])[element])
    return away if math.isfinite(away) else None
