"""Comparison: one module on several executors, or two modules; the verdict, the reason, and the arguments that show it.

Two modules are compared on the reference as well as on the device, as a compiler may make one wrong rewrite in both of
them. What the first module allows (hlotool.numerics.judgement) is what the second is held against.

    agree    every element is equal, within rounding, or better than the types ask for
    differ   some are not; `kind` says whether wrong or a non-finite fold
    none     nothing was decided: an executor failed, nothing depends on the arguments or all is NaN (vacuous), or of
             some result more than half is left open by all sets of arguments (ill-conditioned, left open by the
             specification, range end)
"""

from __future__ import annotations

import functools
import itertools
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.distributed import Partition, PartPlace, Version, partition_between, prove_partition
from hlotool.execution import (
    ARGUMENTS,
    MEMORY,
    TIMEOUT,
    UNDEFINED,
    UNSUPPORTED,
    Executor,
    OutOfTime,
    Program,
    arguments_problem,
    bytes_of,
    executor_named,
    fitted,
    read_module,
    require_one_signature,
    run_limit,
)
from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import Array, np
from hlotool.numerics import (
    SMALL,
    Allowance,
    Doubt,
    Evidence,
    Judgement,
    Kind,
    Known,
    Locator,
    OpenElements,
    Policy,
    Tolerance,
    assumed_ulps,
    is_extreme,
    is_nan,
    judge,
    roundings,
    who_is_right,
    without_elements,
    without_ends,
)
from hlotool.ops import OPS, gives_to_host
from hlotool.passes.equality import ModuleChange, diff
from hlotool.process import work_time
from hlotool.proof import ProofStatus, prove
from hlotool.verdict.argument_sets import ArgumentSearch, ArgumentSet
from hlotool.verdict.codes import DIFFERENCE
from hlotool.verdict.dependence import Dependence
from hlotool.verdict.enumerated_arguments import count_of_all, enumeration, every_argument
from hlotool.verdict.findings import Comparison, Finding, listed
from hlotool.verdict.handed_out import with_handed_out
from hlotool.verdict.loop_bounds import most_rounds
from hlotool.verdict.parts_evidence import PartsEvidence
from hlotool.verdict.run_observer import Coverage, Watch, sides_of
from hlotool.verdict.small_changes import small_changes, unreached

#: seconds for a module, by default
TIME_BUDGET = 10.0
#: sets of arguments at most, and for small programs, which cost little
_MOST_SETS, _SETS_OF_SMALL = 160, 320
#: instructions, and elements of parameters, of a small program
_FEW_INSTRUCTIONS, _FEW_ELEMENTS = 40, 1024
#: sets that are judged after a difference between a program and its partitioned form
_MORE_SETS_OF_PARTS = 3
#: doubts for which the instruction is searched
_MOST_LOCATED = 3
#: sets run at a time, first and at most, so that a device is asked seldom and an early difference ends the search;
#: seconds in which more are run the next time; bytes that they hold
_FIRST_BATCH, _LAST_BATCH, _QUICK, _BATCH_BYTES = 12, 96, 1.0, 1 << 28
#: sets that are run whatever the budget, so that a slow machine has the same verdict: of small programs all
_LEAST_SETS = 24
#: sets that are compared beside all arguments there are, which one run tries in longer arrays
_BESIDE_ENUMERATED = 24
#: kind of the sets that are some of all arguments there are
_ENUMERATED = "enumerated"
#: sets that are compared beside a proof that a program is another one's partitioned form
_BESIDE_PROVED = 12
#: seconds that those may take beyond the budget
_GRACE = 10.0
#: bytes of arguments and results that are kept, and seconds in which a change of the modules must reach one of those
_MOST_KEPT, _REACHING = 1 << 26, 10.0
#: seconds that one run of the reference may take in a search
_LONGEST_RUN = 20.0


def compare(a: HloModule | str, b: HloModule | str | None = None, *, arguments: Sequence[Array] | None = None,
            inputs: Sequence[str] | None = None, executors: Sequence[str] = ("pjrt:cpu", "reference"), seed: int = 0,
            tolerance: Tolerance | None = None, ulps: float | None = None, time_limit: float = 60.0,
            time_budget: float = TIME_BUDGET, counts_extremes: bool | None = None,
            is_proof_wanted: bool = False, locate: Locator | None = None) -> Comparison:
    """Compare one module on several executors, or two modules on the reference and on the other executors.

    `arguments` are flat leaves for every device; without them sets are made (argument_sets.py), of the kinds that
    `inputs` names or of all kinds, until `time_budget` seconds are over. `tolerance` (or `ulps`) is a budget by hand in
    place of the error model. Failures to run are diagnostics of the comparison. Raises HloError where the modules are
    no pair, ValueError without an executor.

    `is_proof_wanted` also tries to prove that two modules compute the same for all arguments (hlotool.proof), which
    raises HloError where a solver is needed and none is installed.

    What both modules hand to the host in one order is compared as further results (handed_out.py).

    Where `b` is the partitioned form of `a`, both run on the reference, `b` on all devices, and the parts of each
    device are judged (hlotool.distributed). Whether it is that for all arguments is tried to be proved, too, without
    solvers; after a proof few sets of arguments are compared.

    What differs on arguments at the ends of the range counts in small programs, and in large ones where it is no
    consequence of an overflow further up (hlotool/numerics/extreme_values.py), which `locate` tells; `counts_extremes`
    says that it always counts, or never.

    `hlotool.compare` is this with the search for the instruction to blame (hlotool.blame).
    """
    left, right = read_module(a), None if b is None else read_module(b)
    if right is not None:
        left, right = with_handed_out(left, right)
    one = Program(left)
    other = one if right is None else Program(right)
    if ulps is not None:
        tolerance = Tolerance(ulps=ulps)
    partition = partition_between(one, other)
    if partition is None:
        require_one_signature(one, other)
    else:
        other = partition.part
    if not executors:
        raise ValueError("compare needs an executor, or several")
    work = _Work(one, other, tuple(executors), tolerance, time_limit, work_time() + time_budget, b is not None,
                 counts_extremes, locate, partition, is_proof_wanted)
    if arguments is None and one.parameters and (stored := [e.name for e in work.running if not e.computes]):
        raise HloError.of(ARGUMENTS, f"{stored[0]} holds results of one run: give its arguments, too",
                          filename=one.filename)
    started = time.monotonic()
    try:
        with run_limit(time_limit):
            work.prove_parts()
            is_searched = arguments is None and inputs is None and tolerance is None and partition is None
            first = work.enumerate() if is_searched else []
            held = one if partition is not None else other
            changes = work.changes if is_searched else []
            work.compare(itertools.chain(first, _sets(one, held, arguments, inputs, seed, changes)))
    except HloError as error:
        work.found.diagnostics.extend(error.diagnostics)
    work.found.seconds = time.monotonic() - started
    return work.found


def _set_limits(one: Program, other: Program) -> tuple[int, int]:
    """How many sets of arguments are tried whatever they cost, and at most."""
    is_small = (sum(s.size for s in one.parameters if s.is_array) <= _FEW_ELEMENTS
                and all(sum(1 for _ in p.module.instructions()) <= _FEW_INSTRUCTIONS for p in (one, other)))
    return (_SETS_OF_SMALL, _SETS_OF_SMALL) if is_small else (_LEAST_SETS, _MOST_SETS)


def _both(executors: Sequence[str]) -> tuple[str, str]:
    """Return the first and the last executor; one alone is compared with the reference."""
    alone = "reference" if executors[0] != "reference" else executors[0]
    return executors[0], executors[-1] if len(executors) > 1 else alone


def _is_same(one: HloModule, other: HloModule) -> bool:
    """Return True if two modules differ in nothing but names and metadata: on an executor they are one program."""
    try:
        return diff(one, other, layouts=True).is_equal
    except HloError:  # a module that is not valid
        return False


def _sets(one: Program, other: Program, given: Sequence[Array] | None, inputs: Sequence[str] | None,
          seed: int, changes: Sequence[ModuleChange]) -> Iterator[ArgumentSet]:
    if given is not None:
        yield ArgumentSet("given", [fitted(one, given)] * one.devices)
        return
    yield from ArgumentSearch([one] if other is one else [one, other], seed, changes).sets(inputs)


@dataclass
class _Work:
    """A comparison under way."""

    one: Program
    other: Program
    executors: tuple[str, ...]
    tolerance: Tolerance | None
    time_limit: float
    until: float
    is_pair: bool
    counts_extremes: bool | None = None
    locate: Locator | None = None
    #: the other is the partitioned form of the one
    partition: Partition | None = None
    is_proof_wanted: bool = False

    def __post_init__(self) -> None:
        # The parts of a partitioned program are run on the reference only, which has any number of devices.
        names = self.executors = self.executors if self.partition is None else ("reference",)
        left, right = _module_names(self.one, self.other) if self.is_pair else (
            f"{self.one.module.name} on {name}" for name in _both(names))
        self.found = Comparison(left, right, names)
        self.coverage, self.coverage_of_other = Coverage(), Coverage()
        self.least_sets, self.most_sets = _set_limits(self.one, self.other)
        #: of each result leaf, whether few roundings lead to it
        self._is_small: dict[int, bool] = {}
        self.running: list[Executor] = [
            e for e in (executor_named(n, self.time_limit) for n in dict.fromkeys(names)) if e.name != "reference"]
        for executor in self.running if self.is_pair else ():
            executor.require_computing()
        #: of the executor that cuts the operands of products most
        self.product_bits = min((e.product_bits for e in self.running if e.product_bits), default=0)
        self.has_no_reference = False
        #: how many arguments there are, where each is run
        self.every = 0
        #: the reference is held against nothing but itself
        self.is_alone = not self.running and not self.is_pair
        #: of every result leaf: whether it ever held something else than NaN, whether it ever changed, and its first
        self._seen_number = False
        self._first: list[list[Array]] | None = None
        self._varied = False
        self._open = OpenElements()
        self._open_arguments: list[list[Array]] | None = None
        self._doubts: list[tuple[Doubt, Finding]] = []
        #: (device, result) of truth values -> those that the first module gave
        self._truths: dict[tuple[int, int], set[bool]] = {}
        #: arguments that were compared, with the first module's results, as far as they are kept
        self._kept: list[tuple[list[list[Array]], list[list[Array]]]] = []
        self._kept_bytes = 0
        #: sets on which the second module has a value on the reference, and on which it has none
        self._has_value: Counter[bool] = Counter()

    @functools.cached_property
    def changes(self) -> list[ModuleChange]:
        """The instructions in which two modules differ, where they are a few."""
        return small_changes(self.one.module, self.other.module) if self.is_pair and self.partition is None else []

    def prove_parts(self) -> None:
        """Try to prove that all devices' results are parts of the whole ones, which costs little."""
        if self.partition is None:
            return
        proof = prove_partition(self.partition)
        if proof.is_proved:
            self.found.proof = str(proof)
            self.most_sets, self.least_sets = _BESIDE_PROVED, 1
        elif self.is_proof_wanted:
            self.found.unproved = str(proof)

    def enumerate(self) -> list[ArgumentSet]:
        """Try all arguments where they are few enough; return those to compare first, as one shows a difference."""
        programs = [self.one, self.other] if self.is_pair else [self.one]
        longer = enumeration(programs)
        if longer is None:
            self.every = count_of_all(programs)
            self.most_sets, self.least_sets = max(self.most_sets, self.every), max(self.least_sets, self.every)
            return [ArgumentSet(_ENUMERATED, [row]) for row in every_argument(self.one)] if self.every else []
        modules = [p.module for p in longer.programs]
        tried = compare(modules[0], modules[1] if self.is_pair else None, arguments=longer.arguments,
                        executors=self.executors, time_limit=self.time_limit)
        worst = tried.worst
        if worst is not None and worst.judgement.kinds.size:
            at = worst.judgement.worst
            row = [np.full(s.dims, a[at]) for s, a in zip(self.one.parameters, longer.arguments, strict=True)]
            return [ArgumentSet(_ENUMERATED, [row])]
        if tried.compared and not (tried.findings or tried.undecided or tried.not_run or tried.noted):
            self.found.enumerated = longer.count
            self.most_sets = self.least_sets = _BESIDE_ENUMERATED
        return []

    def compare(self, sets: Iterator[ArgumentSet]) -> None:
        """Go through the sets until a difference is found or time is over."""
        drawn = next((i for p in (self.one, self.other) for i in p.module.instructions()
                      if (record := OPS.get(i.opcode)) is not None and "random" in record.flags), None)
        if drawn is not None:
            said = f"{drawn.opcode} {drawn.name} draws random numbers of an executor's own: there is nothing to compare"
            raise HloError.of(UNSUPPORTED, said)
        shapes = [s for s in (*self.one.parameters, *self.one.results) if s.is_array]
        if problem := arguments_problem(self.one.devices, shapes):
            raise HloError.of(MEMORY, problem, filename=self.one.filename)
        numbered = itertools.islice(enumerate(sets), self.most_sets)
        held = self.one.devices * sum(map(bytes_of, shapes))
        most = max(1, min(_LAST_BATCH, _BATCH_BYTES // max(1, held)))
        at_a_time = min(_FIRST_BATCH, most)
        begun = work_time()
        while drawn_sets := list(itertools.islice(numbered, at_a_time)):
            if batch := self._evaluated(drawn_sets):
                self._compare_batch(batch)
            if work_time() < begun + _QUICK:
                at_a_time = min(2 * at_a_time, most)
            begun = work_time()
            if not (self.running or self.is_pair or self.is_alone):
                break
            if self.found.findings:
                break
            if (self.found.compared or not batch) and self._is_late():
                self.found.planned = self.most_sets
                break
        if not self.found.findings:
            self._settle()
        if self.every and self.found.inputs.count(_ENUMERATED) == self.every and not self.found.not_run:
            self.found.enumerated = self.every
        self._cover()
        if self.found.findings:
            self.found.proof = ""
            self._say()

    def _is_late(self) -> bool:
        return work_time() > self.until + (self.least_sets > self.found.compared) * _GRACE

    def _evaluated(self, sets: list[tuple[int, ArgumentSet]]) -> list[_Case]:
        """The sets with what the reference makes of them; those that take too long, or have no value, left out."""
        cases = []
        for number, chosen in sets:
            is_first = number == 0
            # The first sets, those of every kind among them, are not left out because a machine is busy.
            until = self.until + (self.least_sets > number) * min(_GRACE, self.time_limit)
            if not is_first and work_time() > until:
                break
            if self.has_no_reference:
                cases.append(self._case(chosen, number, None))
                continue
            longest = work_time() + (min(_LONGEST_RUN, self.time_limit) if is_first else 0)
            watch = Watch(self.coverage, until=max(until, longest))
            try:
                reference = watch.run(self.one, chosen.values)
                if not watch.may_hang or chosen.name == "given":
                    cases.append(self._case(chosen, number, reference))
                else:
                    self.found.left_out += 1
            except OutOfTime as error:
                if is_first:
                    self._note_late(error)
                continue
            except HloError as error:
                if not is_first and chosen.name != "given":
                    continue
                if not self.is_pair and len(self.running) < 2:
                    raise
                # Two executors, or two modules, can be held against each other.
                self.has_no_reference = True
                self.found.diagnostics.extend(error.diagnostics)
                cases.append(self._case(chosen, number, None))
        return cases

    def _case(self, chosen: ArgumentSet, number: int, reference: list[list[Array]] | None) -> _Case:
        return _Case(chosen, number, reference, Evidence(self.one, chosen.values, Policy(self.time_limit),
                                                         reference, self.product_bits))

    def _note_late(self, error: OutOfTime) -> None:
        """Say that the reference takes too long, for what may be left without a verdict."""
        self.found.diagnostics.append(Diagnostic(TIMEOUT, str(error) or "the reference does not end",
                                                 filename=self.one.filename))

    def _compare_batch(self, cases: list[_Case]) -> None:
        values = [c.arguments.values for c in cases]
        rows: list[tuple[str, list[_Pair | None]]] = []
        if self.partition is not None:
            self._compare_parts(self.partition, cases)
            return
        if self.is_pair and not self.has_no_reference:
            made = [self._reference_of_other(v) for v in values]
            rows.append(("reference", made))
        for executor in list(self.running):
            try:
                theirs = executor.run(self.other, values)
                own = executor.run(self.one, values) if self.is_pair else None
            except HloError as error:
                self._failed(executor, error)
                continue
            rows.append((executor.name, [_Pair(t, own[n] if own else None) for n, t in enumerate(theirs)]))
        if self.is_alone:
            rows.append(("reference", [_Pair(c.reference or [], None) for c in cases]))
        rows = self._held_against(rows, cases)
        # What two modules are on the reference costs no samples, and decides about most: of all sets first.
        first = 1 if self.is_pair and rows and rows[0][0] == "reference" else len(rows)
        held = self._judge_rows(rows[:first], cases, range(len(cases)))
        left = list(held)[-1:] if self.found.findings else range(len(cases))
        held |= self._judge_rows(rows[first:], cases, left)
        for position in sorted(held):
            self.found.inputs.append(cases[position].arguments.name)
            self._note(cases[position])

    def _compare_parts(self, partition: Partition, cases: list[_Case]) -> None:
        """Judge what the devices of a partitioned program make of the parts of the arguments.

        After a difference a few more sets are judged, as each may show it on some of the devices only.
        """
        left = len(cases)
        for number, case in enumerate(cases):
            if number >= left:
                break
            made = self._reference_of_other(partition.given(case.arguments.values[0]))
            if made is None or case.reference is None:
                continue
            evidence = PartsEvidence(partition, case.evidence, case.arguments.values[0])
            for result, versions in enumerate(partition.made(made.given)):
                for version in versions:
                    self._judge_version(case, evidence, result, version)
            self.found.inputs.append(case.arguments.name)
            self._note(case)
            if self.found.findings:
                left = min(left, number + 1 + _MORE_SETS_OF_PARTS)

    def _judge_version(self, case: _Case, evidence: PartsEvidence, result: int, version: Version) -> None:
        """Judge one value of a whole result that some devices have."""
        is_measured = self.tolerance is None and not self.has_no_reference
        judged = evidence.judge(result, version) if is_measured else self._judged(case, 0, result, version.array)
        if judged.is_wrong:
            parts = version.places_of(judged.wrong) if not judged.problem else []
            judged = self._find(case, "reference", 0, result, judged, parts)
        self.found.counts.update(judged.counts)
        self._open.note(("reference", 0, result), judged)
        if self._open_arguments is None and judged.kind in (Kind.ILL_CONDITIONED, Kind.OPEN):
            self._open_arguments = case.arguments.values

    def _judge_rows(self, rows: list[tuple[str, list[_Pair | None]]], cases: list[_Case],
                    positions: Sequence[int]) -> dict[int, None]:
        """Judge executors' results on the cases at those positions, up to a difference; where there was something."""
        held: dict[int, None] = {}
        for position in positions:
            case = cases[position]
            compared = self.found.compared + len(held)
            if work_time() > self.until + (self.least_sets > case.number) * _GRACE and compared > 2:
                break
            judged = [self._judge_case(case, name, found[position]) for name, found in rows]
            if any(judged):
                held[position] = None
            if self.found.findings:
                break
        return held

    def _held_against(self, rows: list[tuple[str, list[_Pair | None]]],
                      cases: list[_Case]) -> list[tuple[str, list[_Pair | None]]]:
        """Where there is no reference, or a budget by hand asks for two executors, the last one takes its place."""
        if self.is_pair and self.has_no_reference:
            for case, pair in zip(cases, rows[-1][1] if rows else (), strict=False):
                case.reference = pair.own if pair is not None else None
        elif not self.is_pair and len(rows) > 1 and "reference" not in self.executors and (
                self.has_no_reference or self.tolerance is not None):
            *rows, (_, held) = rows
            for case, pair in zip(cases, held, strict=True):
                case.reference = pair.given if pair is not None else None
        return rows

    def _reference_of_other(self, values: list[list[Array]]) -> _Pair | None:
        try:
            watch = Watch(self.coverage_of_other, until=max(self.until, work_time() + 2))
            made = watch.run(self.other, values)
        except OutOfTime:
            return None
        except HloError as error:
            self._has_value[False] += any(d.code == UNDEFINED for d in error.diagnostics)
            if not self.found.diagnostics:
                self.found.diagnostics.extend(error.diagnostics)
            return None
        self._has_value[True] += 1
        return _Pair(made, None)

    def _failed(self, executor: Executor, error: HloError) -> None:
        """An executor that cannot run a module says so once, and the others go on."""
        self.running.remove(executor)
        self.found.not_run.append(executor.name)
        self.found.diagnostics.extend(error.diagnostics)

    def _judge_case(self, case: _Case, name: str, pair: _Pair | None) -> bool:
        """Judge one side on one set; whether there was anything to judge."""
        if pair is None or case.reference is None:
            return False
        for device, (row, reference) in enumerate(zip(pair.given, case.reference, strict=False)):
            if len(row) != len(reference):
                self._mismatch(case, name, device, len(row), len(reference))
                return True
            for result, given in enumerate(row):
                twin = pair.own[device][result] if pair.own is not None else None
                found = (self._judged(case, device, result, given) if twin is None
                         else self._beside_twin(case, device, result, given, twin))
                if found.is_wrong:
                    found = self._find(case, name, device, result, found)
                self.found.counts.update(found.counts)
                self._open.note((name, device, result), found)
                if self._open_arguments is None and found.kind in (Kind.ILL_CONDITIONED, Kind.OPEN):
                    self._open_arguments = case.arguments.values
        return True

    def _judged(self, case: _Case, device: int, result: int, given: Array) -> Judgement:
        """Return the verdict on one result, held against the reference or what takes its place."""
        assert case.reference is not None
        if self.tolerance is not None:
            return self.tolerance.judge(given, case.reference[device][result])
        if self.has_no_reference:
            return judge(given, Known(case.reference[device][result]), Allowance(assumed_ulps(self.one.module)))
        return case.evidence.judge(given, device, result)

    def _beside_twin(self, case: _Case, device: int, result: int, given: Array, twin: Array) -> Judgement:
        """Return the verdict on two modules on one device: where both are wrong in the same way, they agree."""
        if self.has_no_reference:
            return self._judged(case, device, result, given)  # the twin takes the reference's place
        if self.tolerance is None:
            return case.evidence.judge_beside(given, twin, device, result)
        plain = self.tolerance.judge(given, twin)
        return plain if plain.problem else plain.excused_by(*(self._judged(case, device, result, side)
                                                              for side in (given, twin)))

    def _mismatch(self, case: _Case, name: str, device: int, given: int, expected: int) -> None:
        self._find(case, name, device, 0, without_elements(f"{given} results against {expected}"))

    def _find(self, case: _Case, name: str, device: int, result: int, found: Judgement,
              parts: Sequence[PartPlace] = ()) -> Judgement:
        """Keep what is wrong as a finding, or as a doubt; the judgement as it counts."""
        side = name if not self.is_pair else self.found.right + f" on {name}" * (name != "reference")
        right, why = who_is_right(found, side, self.found.left if self.is_pair else "reference")
        made = Finding(side, self.found.left, result, device, case.arguments.name, case.number, found, right, why,
                       parts=list(parts))
        values = case.arguments.values
        if self._is_doubtful(case, found, result):
            self._doubts.append((Doubt(name, result, values), made))
            return without_ends(replace(found), located=False)
        self._count(made, values)
        return found

    def _is_doubtful(self, case: _Case, found: Judgement, result: int) -> bool:
        """Return True if the ends of the range may explain what is wrong."""
        if self.counts_extremes or found.problem or self.tolerance is not None or case.arguments.name == "given":
            return False
        if self.counts_extremes is None and result not in self._is_small:
            self._is_small[result] = max(roundings(p.module, result) for p in (self.one, self.other)) <= SMALL
        return not self._is_small.get(result) and is_extreme(case.arguments.values)

    def _count(self, made: Finding, values: list[list[Array]]) -> None:
        self.found.findings.append(made)
        if self.found.worst is made:
            self.found.witness = values

    def _settle(self) -> None:
        """Decide about the doubts: by where the sides part, as long as there is time for that."""
        tries = 0
        for doubt, made in self._doubts:
            located = False if self.counts_extremes is False else None
            if located is None and self.locate is not None and tries < _MOST_LOCATED:
                tries += 1
                located = self.locate(doubt)
            without_ends(made.judgement, located)
            if made.judgement.is_wrong:
                self._count(made, doubt.arguments)
                return
            self.found.noted.append(made)

    def _note(self, case: _Case) -> None:
        """Note what the results of one more set say about the worth of agreement."""
        assert case.reference is not None
        rows = [leaf for row in case.reference for leaf in row]
        if self._kept_bytes < _MOST_KEPT and case.arguments.name != "given":
            self._kept.append((case.arguments.values, case.reference))
            self._kept_bytes += sum(np.asarray(a).nbytes for row in (*case.arguments.values, rows) for a in row)
        for device, row in enumerate(case.reference):
            for result, leaf in enumerate(row):
                if np.asarray(leaf).dtype == np.bool_ and leaf.size:
                    self._truths.setdefault((device, result), set()).update((bool(leaf.any()), bool(leaf.all())))
        for leaf in rows:
            self._seen_number |= not leaf.size or not bool(is_nan(leaf).all())
        if self._first is None:
            self._first = case.reference
        elif not self._varied:
            self._varied = any(a.tobytes() != b.tobytes() for x, y in zip(self._first, case.reference, strict=True)
                               for a, b in zip(map(np.asarray, x), map(np.asarray, y), strict=True))

    def _cover(self) -> None:
        """Say what was never exercised."""
        found = self.found
        if not found.compared:
            return
        found.elements, found.undecided, found.open_kind = self._open.elements, self._open.undecided, self._open.kind
        found.open_arguments = self._open_arguments if found.open_kind else None
        known = Dependence(self.one)
        leaves = [leaf for row in self._first or [] for leaf in row]
        if not any(leaf.size for leaf in leaves):
            found.vacuous.append("no result has an element")
        elif not self._seen_number:
            found.vacuous.append("every result is NaN, on all arguments")
        elif self.one.parameters:
            if not known.results:
                found.vacuous.append("no result depends on the arguments")
            elif found.compared > 1 and not self._varied:
                found.vacuous.append("the results are the same whatever goes in")
        # One that has no value on any set may hold what the reference does not know; other executors decide then.
        if self._has_value[False] and self._has_value[True]:
            found.vacuous.append(f"the second module has no value on {self._has_value[False]:,} sets of arguments on "
                                 "which the first has one")
        self._cover_choices(self.one, self.coverage, known, "")
        self._cover_truths(known)
        if self.is_pair and not self.has_no_reference:
            self._cover_choices(self.other, self.coverage_of_other, Dependence(self.other), "second module, ")
            self._prove()
            self._cover_changes()
        if not found.is_one_program:
            programs = [(self.one, ""), *([(self.other, "second module, ")] if self.is_pair else [])]
            found.handed_out = [f"{whose}{i.opcode} {i.name}" for program, whose in programs
                                for i in program.module.instructions() if gives_to_host(i)]

    def _cover_choices(self, program: Program, coverage: Coverage, known: Dependence, whose: str) -> None:
        """Note the sides that no run of a module took, and how far its loops ran."""
        found = self.found
        for instruction in program.module.instructions():
            if not sides_of(instruction) or not self._is_choice(instruction, known):
                continue
            found.choices += 1
            missing = coverage.missing(instruction)
            found.covered += not missing
            found.untaken += [f"{whose}{instruction.opcode} {instruction.name}: {side}" for side in missing]
            if instruction.opcode == "while" and not missing:
                ran, most = coverage.rounds.get(instruction, 0), most_rounds(instruction)
                if most is None or ran < most:
                    found.loops[f"{whose}{instruction.opcode} {instruction.name}"] = ran

    def _cover_truths(self, known: Dependence) -> None:
        """Note the results that are truth values and were the same one, or not each of both, on all arguments."""
        marks = known.root if isinstance(known.root, tuple) else (known.root,)
        for (device, result), seen in self._truths.items():
            if len(seen) == 1 and (result >= len(marks) or marks[result]):
                where = f"result {result}" + f" of device {device}" * bool(device)
                self.found.untaken.append(f"{where}: {str(not next(iter(seen))).lower()}")

    def _prove(self) -> None:
        """Note what is known of the modules for all arguments."""
        one, other = self.one.module, self.other.module
        if _is_same(one, other):
            self.found.proof, self.found.is_one_program = "one program under two names", True
        elif self.is_proof_wanted and self.partition is None:
            proof = prove(one, other)
            if proof.status is ProofStatus.PROVED:
                self.found.proof = ", ".join(proof.by) or "one program"
            else:
                self.found.unproved = str(proof)

    def _cover_changes(self) -> None:
        """Note where all that differs between the modules is an instruction or a few that reached no result."""
        found = self.found
        if found.basis != "sampled" or found.verdict != "agree" or self.partition is not None or not self._kept:
            return
        until = work_time() + _REACHING
        if lost := unreached(self.one, self.other, self.changes, self._kept, until):
            found.vacuous.append(f"the modules differ in {listed(lost)}, of which no result told anything: with other "
                                 "numbers in that place the results are the same")

    @staticmethod
    def _is_choice(instruction: HloInstruction, known: Dependence) -> bool:
        """Return True if the arguments decide which side is taken."""
        if instruction.opcode == "xor":
            return all(map(known.depends, instruction.operands))
        if instruction.opcode == "while":
            return known.depends(instruction) and known.depends(instruction.attributes["condition"].root)
        chooser = instruction.operands[instruction.opcode == "clamp"]
        return known.depends(chooser)

    def _say(self) -> None:
        """The worst finding as a diagnostic."""
        self.found.diagnostics.append(Diagnostic(
            DIFFERENCE, f"{self.found.left} and {self.found.right} differ: {self.found.worst}",
            filename=self.other.filename))


def _module_names(one: Program, other: Program) -> tuple[str, str]:
    """Names that tell two modules apart: their own, those of their files, or their places in the pair."""
    own, files = (one.module.name, other.module.name), (one.filename, other.filename)
    return next((two for two in (own, files) if two[0] != two[1]), ("the first module", "the second module"))


@dataclass
class _Case:
    """One set of arguments, what the second side is held against, and the evidence about it."""

    arguments: ArgumentSet
    number: int
    #: None where the reference cannot run the program, until another executor takes its place
    reference: list[list[Array]] | None
    evidence: Evidence


@dataclass
class _Pair:
    """Values of an executor for the module to judge, and for the one that it is held against where there are two."""

    given: list[list[Array]]
    own: list[list[Array]] | None
