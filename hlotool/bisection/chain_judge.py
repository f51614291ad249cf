"""Judges every pass of a chain: by proof where structure shows it, by values where something has changed.

All modules of a chain are numbered together (canonical_form.py): passes that rename, fuse, lay out, schedule or move
dimensions leave the numbers of the results as they are. What is left is run on sets of arguments, which all modules
share, so that only what a pass has changed is computed anew (remembered_values.py). Each module is held against the
one before it, by the error model of hlotool.verdict.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from hlotool.bisection.canonical_form import CanonicalForm
from hlotool.bisection.codes import NO_VERDICT, PASS_IS_WRONG
from hlotool.bisection.pass_verdicts import ChainVerdict, Difference, PassVerdict
from hlotool.bisection.tried_arguments import Stage, TriedArguments, is_decided
from hlotool.blame import PairBlame, blame_pair, pair_diagnostic
from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.distributed import Partition, partition_between
from hlotool.dumps import Chain, Dump, DumpReader
from hlotool.execution import Program, evaluate_program, fitted, run_limit
from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import Array, np
from hlotool.numerics import (
    SMALL,
    Evidence,
    Judgement,
    Kind,
    Look,
    avoids_overflow,
    is_extreme,
    is_nan,
    look_at,
    rounding_instructions,
    who_is_right,
)
from hlotool.ops import OPS
from hlotool.passes.equality import REASSOCIATING, NotComparable, Numbering
from hlotool.passes.rewrite_rules import rule_of_change, rule_sentence
from hlotool.process import note_progress, work_time
from hlotool.verdict import KINDS, ArgumentSearch, ArgumentSet, OutOfTime, compare

#: kinds of arguments for programs of many roundings: at the ends of the range these overflow early
_KINDS_OF_LARGE = ("random", "near", "positive", "ties", "negative", "alike", "whole", "targets", "special", "wide")
#: sets of arguments at most; one of each kind, which are tried for longer than the budget; and at least
_MOST_SETS, _ONE_OF_EACH, _LEAST_SETS = 40, len(KINDS), 2
#: the budget of the first sets, one of each kind, as a multiple of that of the others
_GRACE = 4.0
#: dumps in a row without the values of a constant that are judged together with the next one
_MOST_ELIDED = 4
#: differences of one pass that are no plain ones for which an instruction is searched
_MOST_SEARCHED = 3


@dataclass(frozen=True)
class BisectOptions:
    """Settings for judging a folder."""

    #: flat arguments of the entry, for every device; None: sets are made
    arguments: tuple[Array, ...] | None = None
    seed: int = 0
    #: processor seconds for the search of arguments, a chain
    budget: float = 4.0
    #: seconds that one run of a module may take, and the search for an instruction
    time_limit: float = 60.0
    #: count differences at the ends of the range; None: in small programs
    counts_extremes: bool | None = None
    #: told what is at work
    progress: Callable[[str], None] = lambda _: None


def judge_chain(chain: Chain, options: BisectOptions, reader: DumpReader | None = None) -> ChainVerdict:
    """Return the verdict on each pass of a chain; its diagnostics report what cannot be read or run."""
    started = time.monotonic()
    work = _ChainJudge(chain, options, reader or DumpReader())
    work.run()
    work.found.seconds = time.monotonic() - started
    return work.found


def judge_pairs(name: str, pairs: Sequence[tuple[Dump, Dump]], options: BisectOptions, reader: DumpReader
                ) -> list[PassVerdict]:
    """Return the verdicts on pairs of dumps of one module; pairs with a dump that cannot be read have none."""
    work = _ChainJudge(Chain(name, 0, ""), options, reader)
    return work.pairs(pairs)


@dataclass
class _ChainJudge:
    """A chain at work."""

    chain: Chain
    options: BisectOptions
    reader: DumpReader
    form: CanonicalForm = field(default_factory=CanonicalForm)
    stages: dict[Dump, Stage] = field(default_factory=dict)
    _by_module: dict[HloModule, Stage] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.found = ChainVerdict(self.chain)
        self._seen_number: set[int] = set()
        #: parameters of modules that a pass has partitioned -> how
        self._partitions: dict[tuple[Any, ...], Partition] = {}
        self._decided: set[int] = set()

    def run(self) -> None:
        """Judge all passes."""
        for dump in self.chain.dumps:
            self.options.progress(f"{self.chain.name}: reading {dump.label}")
            self._make_ready(dump)
            if dump not in self.stages:
                self.found.diagnostics += dump.problems
        gap: list[Dump] = []
        last: Dump | None = None
        without_values = self._without_values()
        for dump in self.chain.dumps:
            if dump not in self.stages or dump in without_values:
                gap.append(dump)
                continue
            if last is not None:
                self.found.passes.append(PassVerdict(last, dump, gap))
            last, gap = dump, []
        open_ = [p for p in self.found.passes if not self._is_settled(p)]
        for verdict in self.found.passes:
            self._judge_partitioning(verdict)
        whole = self._whole()
        self._try_arguments([*open_, *([whole] if whole is not None else [])])
        for verdict in open_:
            self._conclude(verdict)
        if whole is not None:
            self._conclude(whole)

    def _without_values(self) -> set[Dump]:
        """Return the dumps in which constants are elided from the text, where others before and after them hold all.

        Such a constant is made by one pass and removed by another one: the two are judged together.
        """
        ready = [d for d in self.chain.dumps if d in self.stages]
        runs = [(elided, list(run)) for elided, run in itertools.groupby(ready, lambda d: self.stages[d].has_elided)]
        return {d for elided, run in runs[1:-1] if elided and len(run) <= _MOST_ELIDED for d in run}

    def pairs(self, pairs: Sequence[tuple[Dump, Dump]]) -> list[PassVerdict]:
        """Judge pairs; of those that hold the same two modules again the first one's verdict is taken."""
        found, known = [], dict[tuple[object, object], PassVerdict]()
        for one, other in pairs:
            for dump in (one, other):
                self._make_ready(dump)
            verdict = PassVerdict(one, other)
            found.append(verdict)
            if unread := [d for d in (one, other) if d not in self.stages]:
                verdict.reason = f"failed: {unread[0].problems[0].message}"
                continue
            known.setdefault((self.stages[one].key, self.stages[other].key), verdict)
        open_ = [v for v in known.values() if not self._is_settled(v)]
        self._try_arguments(open_)
        for verdict in open_:
            self._conclude(verdict)
        for verdict in found:
            if verdict.before in self.stages and verdict.after in self.stages:
                first = known[self.stages[verdict.before].key, self.stages[verdict.after].key]
                if first is not verdict:
                    verdict.take(first)
        return found

    def _make_ready(self, dump: Dump) -> None:
        self.reader.read(dump)
        note_progress()
        if dump.module is None:
            return
        stage = self._by_module.get(dump.module)
        if stage is None:
            try:
                stage = self._by_module[dump.module] = self._stage(dump.module)
            except HloError as error:
                dump.problems = error.diagnostics
                return
        self.stages[dump] = stage

    def _stage(self, module: HloModule) -> Stage:
        program = Program(module)
        size = sum(len(c.instructions) for c in module.computations)
        has_elided = any(i.opcode == "constant" and i.literal.has_elided for i in module.instructions())
        try:
            numbers, why = self.form.results(program), ""
        except NotComparable as error:
            numbers, why = None, str(error)
        except RecursionError:
            numbers, why = None, "its calls are nested too deeply"
        used = frozenset(self.form.numbering.used)
        self.form.numbering.used.clear()
        return Stage(program, numbers, why, size, used, has_elided)

    def _whole(self) -> PassVerdict | None:
        """Compare the first module with the last; return None if that adds nothing."""
        passes = self.found.passes
        if len(passes) < 2:
            return None
        whole = PassVerdict(passes[0].before, passes[-1].after)
        is_settled = self._is_settled(whole)
        ends = [self.stages[d] for d in (whole.before, whole.after)]
        if is_settled or max(rounding_instructions(s.program.module) for s in ends) <= SMALL:
            self.found.whole = whole
        return whole if self.found.whole is not None and not is_settled else None

    def _is_settled(self, verdict: PassVerdict) -> bool:
        """Return True if a verdict needs no values: it is proved, or impossible."""
        before, after = self.stages[verdict.before], self.stages[verdict.after]
        verdict.sizes, verdict.rests_on_names = (before.size, after.size, 0), before.has_elided or after.has_elided
        if before is after:
            verdict.proof = ()
            return True
        try:
            if problem := _not_alike(before.program, after.program):
                verdict.reason = f"signature: {problem}"
                return True
            if before.numbers is not None and before.numbers == after.numbers and self.form.keeps_nans(
                    before.program, after.program, before.numbers):
                verdict.proof = tuple(sorted(before.used ^ after.used))
                return True
        except HloError as error:
            verdict.reason = f"failed: {error.diagnostics[0].message}"
            return True
        for program in (before.program, after.program):
            if drawn := _random(program.module):
                verdict.reason = f"random: {drawn} draws random numbers of an executor's own"
                return True
        return False

    def _judge_partitioning(self, verdict: PassVerdict) -> None:
        """Judge a pass that splits the module over devices: on whole arguments before it, on their parts after it."""
        if not verdict.reason.startswith("signature: "):
            return
        before, after = self.stages[verdict.before], self.stages[verdict.after]
        parts = partition_between(before.program, after.program)
        if parts is None:
            if before.program.partitioning == "automatic" != after.program.partitioning:
                verdict.reason = f"partitioning: {verdict.reason.removeprefix('signature: ')}"
                self._conclude(verdict)
            return
        self._partitions[after.program.parameters] = parts
        verdict.partitioner = self._partitioner(verdict)
        verdict.reason, started = "", time.process_time()
        sets = self._sets([verdict], only_before=True)
        for number, given in enumerate(itertools.islice(sets, _MOST_SETS)):
            if verdict.difference is not None or self._is_late(started, number):
                break
            self._try_parts(verdict, parts, given)
        if not verdict.inputs:
            said = verdict.diagnostics[0].message if verdict.diagnostics else "no arguments were tried"
            verdict.reason = f"failed: {said}"
        elif verdict.difference is None and verdict.doubts:
            verdict.reason = f"rounding: no instruction is known to be guilty of a difference ({verdict.doubts[0]})"
        if verdict.difference is not None:
            self._report(verdict, verdict.difference)

    def _partitioner(self, verdict: PassVerdict) -> str:
        """Return the name of the pass that splits the module: that of the first dump from there on with such a name."""
        at = self.chain.dumps.index(verdict.after)
        names = [d.name.after for d in self.chain.dumps[at:]]
        return next((n for n in names if "partition" in n), names[0])

    def _try_parts(self, verdict: PassVerdict, parts: Partition, given: ArgumentSet) -> None:
        """Return one set of arguments, whole before the pass and in parts after it."""
        before = self.stages[verdict.before].program
        try:
            with run_limit(self.options.time_limit):
                evidence = Evidence(before, given.values)
                found = parts.made(evaluate_program(parts.part, parts.given(given.values[0])))
                for result, version in ((n, v) for n, versions in enumerate(found) for v in versions):
                    judgement = evidence.judge(version.array, 0, result)
                    verdict.counts.update(judgement.counts)
                    if judgement.is_wrong and verdict.difference is None:
                        _, why = who_is_right(judgement, "the module after the pass", "the one before")
                        places = version.places_of(judgement.wrong) if not judgement.problem else []
                        made = Difference(result, 0, given.name, given.values, judgement, why, places)
                        if _is_plain(judgement, is_small=self._is_small(verdict)):
                            verdict.difference = made
                        else:
                            verdict.doubts.append(made)
        except HloError as error:
            verdict.diagnostics = verdict.diagnostics or list(error.diagnostics)
            return
        verdict.inputs.append(given.name)

    # Values

    def _try_arguments(self, verdicts: list[PassVerdict]) -> None:
        started, tried = time.process_time(), 0
        groups: dict[tuple[Any, ...], list[PassVerdict]] = {}
        for verdict in verdicts:
            program = self.stages[verdict.before].program
            groups.setdefault((program.parameters, program.devices), []).append(verdict)
        for group in groups.values():
            for number, given in enumerate(self._sets(group)):
                waiting = [v for v in group if v.difference is None and not v.reason]
                if not waiting or number >= _MOST_SETS or self._is_late(started, number):
                    break
                tried += 1
                self.options.progress(f"{self.chain.name}: {len(waiting)} passes on arguments, set {tried}")
                note_progress()
                values = TriedArguments(self.form, given, work_time() + self.options.time_limit)
                for verdict in waiting:
                    self._try(verdict, values)
                    if self._is_late(started, number):
                        break

    def _is_late(self, started: float, number: int) -> bool:
        """Return True if no further set may be tried, after so many; `started` is on the clock of the processor."""
        budget = self.options.budget * (_GRACE if number < _ONE_OF_EACH else 1.0)
        return number >= _LEAST_SETS and time.process_time() - started > budget

    def _sets(self, verdicts: Sequence[PassVerdict], *, only_before: bool = False) -> Iterator[ArgumentSet]:
        programs = list(dict.fromkeys(self.stages[d].program for v in verdicts for d in (
            (v.before,) if only_before else (v.before, v.after))))
        first = programs[0]
        if self.options.arguments is not None:
            parts = self._partitions.get(first.parameters)
            whole = self.options.arguments
            rows = parts.given(whole) if parts is not None else [whole] * first.devices
            yield ArgumentSet("given", [fitted(first, row) for row in rows])
            return
        search = ArgumentSearch(programs, self.options.seed)
        kinds = None if rounding_instructions(first.module) <= SMALL else _KINDS_OF_LARGE
        sets = search.sets(kinds)
        yield from itertools.chain(sets, search.sets() if kinds else ())

    def _try(self, verdict: PassVerdict, values: TriedArguments) -> None:
        """Judge one pass on one set of arguments."""
        started = time.monotonic()
        before = self.stages[verdict.before]
        values.give_time(self.options.time_limit)
        try:
            settled = self._settle_by_matching(verdict, values)
            for device in range(before.program.devices):
                for result in range(len(before.program.results)):
                    if result not in settled and verdict.difference is None:
                        self._hold(verdict, values, device, result)
            verdict.inputs.append(values.given.name)
        except OutOfTime:
            if not verdict.inputs:
                verdict.reason = f"time: a run takes longer than {self.options.time_limit:g} s"
        except HloError as error:
            # Arguments that a program has no value for are none of a pass's doing, as long as others are.
            if not verdict.diagnostics:
                verdict.diagnostics = list(error.diagnostics)
        verdict.seconds += time.monotonic() - started

    def _settle_by_matching(self, verdict: PassVerdict, values: TriedArguments) -> set[int]:
        """Return the results that are those of the module before, because each changed instruction's value is."""
        before, after = self.stages[verdict.before], self.stages[verdict.after]
        found = values.match(before, after)
        if found is None:
            return set()
        verdict.counts.update(found.counts)
        if any(_has_number(values.value_of(before, n)) for n in found.settled):
            self._seen_number.add(id(verdict))
        if found.settled:
            self._decided.add(id(verdict))
        return found.settled

    def _hold(self, verdict: PassVerdict, values: TriedArguments, device: int, result: int) -> None:
        before, after = self.stages[verdict.before], self.stages[verdict.after]
        judgement = values.judge(before, after, device, result)
        reference = values.results(before)[device][result]
        if _has_number(reference):
            self._seen_number.add(id(verdict))
        if is_decided(judgement):
            self._decided.add(id(verdict))
        verdict.counts.update(judgement.counts)
        if not judgement.is_wrong:
            return
        _, why = who_is_right(judgement, "the module after the pass", "the one before")
        given = values.given
        found = Difference(result, device, given.name, given.values, judgement, why)
        counts_extremes = self._is_small(verdict)
        if not counts_extremes and given.name != "given" and is_extreme(given.values):
            verdict.noted.append(found)
        elif self._is_explained(verdict, judgement, given.name == "given"):
            verdict.fold = verdict.fold or found
        elif _is_plain(judgement, is_small=counts_extremes) and self._is_confirmed(verdict, found):
            verdict.difference = found
        elif len(verdict.doubts) < _MOST_SEARCHED:
            verdict.doubts.append(found)

    def _is_small(self, verdict: PassVerdict) -> bool:
        """Return True if what happens at the ends of the range counts."""
        if self.options.counts_extremes is not None:
            return self.options.counts_extremes
        modules = (self.stages[d].program.module for d in (verdict.before, verdict.after))
        return max(map(rounding_instructions, modules)) <= SMALL

    def _is_confirmed(self, verdict: PassVerdict, found: Difference) -> bool:
        """Return True if `hlotool compare` of the two modules on those arguments says that they differ, too."""
        rows = found.arguments
        if any(a.tobytes() != b.tobytes() for row in rows[1:] for a, b in zip(rows[0], row, strict=True)):
            return True  # compare gives each device the same
        one, other = (self.stages[d].program.module for d in (verdict.before, verdict.after))
        said = compare(one, other, arguments=rows[0], executors=("reference",), time_limit=self.options.time_limit)
        return bool(said.findings)

    def _is_explained(self, verdict: PassVerdict, judgement: Judgement, is_given: bool) -> bool:
        """Return True if a compiler may do what a pass did; finiteness on a user's own arguments may never change."""
        if is_given and judgement.kind is Kind.NON_FINITE:
            return False
        return self._is_reassociated(verdict) or avoids_overflow(judgement)

    def _is_reassociated(self, verdict: PassVerdict) -> bool:
        """Return True if a pass takes sums or products in another order, and does nothing else."""
        if verdict.is_reassociated is None:
            form = Numbering(REASSOCIATING, layouts_of_calls=True)
            try:
                one, other = (form.module(self.stages[d].program.module) for d in (verdict.before, verdict.after))
                verdict.is_reassociated = one == other
            except (NotComparable, RecursionError):
                verdict.is_reassociated = False
        return verdict.is_reassociated

    # Conclusions

    def _conclude(self, verdict: PassVerdict) -> None:
        """Say why there is no verdict; name the instruction of a wrong one."""
        if verdict.reason:
            pass
        elif not verdict.inputs:
            said = verdict.diagnostics[0].message if verdict.diagnostics else "no arguments were tried"
            verdict.reason = f"failed: {said}"
        elif verdict.difference is None and not self._settle_doubts(verdict):
            if id(verdict) not in self._seen_number and any(
                    s.size for s in self.stages[verdict.before].program.results if s.is_array):
                verdict.reason = "vacuous: every result is NaN, on all arguments"
            elif id(verdict) not in self._decided:
                verdict.reason = "ill-conditioned: the spread of the roundings covers every element"
        if verdict.difference is None and verdict.up_to and not verdict.reason:
            self._is_reassociated(verdict)  # what the agreement is up to says so
        if verdict.shown is not None and verdict.blame is None and not verdict.reason:
            self._blame(verdict, verdict.shown)
        if verdict.difference is not None:
            self._report(verdict, verdict.difference)
        elif verdict.reason:
            verdict.diagnostics.insert(0, Diagnostic(
                NO_VERDICT, f"no verdict on {verdict.changed_by}: {verdict.reason}", Severity.WARNING,
                filename=verdict.after.path))

    def _settle_doubts(self, verdict: PassVerdict) -> bool:
        """Decide about differences that rounding may have made; True if there are such.

        They count where `hlotool compare` calls them wrong, too, and an instruction is guilty of them by itself.
        """
        for doubt in verdict.doubts:
            if self._is_confirmed(verdict, doubt):
                self._blame(verdict, doubt)
                if verdict.blame is not None:
                    verdict.difference = doubt
                    return True
        if verdict.doubts:
            verdict.reason = f"rounding: no instruction is known to be guilty of a difference ({verdict.doubts[0]})"
        return bool(verdict.doubts)

    def _blame(self, verdict: PassVerdict, difference: Difference) -> None:
        """Name the instruction that is guilty of a difference, where one is, and the rule by which it was made."""
        before, after = self.stages[verdict.before].program, self.stages[verdict.after].program
        self.options.progress(f"{self.chain.name}: which instruction of {verdict.after.label}")
        note_progress()
        try:
            found = blame_pair(before, after, difference.arguments, seconds=self.options.time_limit)
        except HloError as error:
            verdict.diagnostics += [d for d in error.diagnostics if d not in verdict.diagnostics]
            return
        if found is not None:
            verdict.rule = _rule_of(verdict, found)
            verdict.blame = found if found.place is not None else None

    def _report(self, verdict: PassVerdict, difference: Difference) -> None:
        """Add the finding about a pass that is wrong."""
        said = f"{verdict.changed_by} changes what {self.chain.name} computes"
        if verdict.blame is None or verdict.blame.place is None:
            where = f"; the modules part {verdict.blame}" if verdict.blame is not None else ""
            verdict.diagnostics.append(Diagnostic(PASS_IS_WRONG, f"{said}: {difference}{where}",
                                                  filename=verdict.after.path))
            return
        frame = pair_diagnostic(verdict.blame)
        verdict.diagnostics.append(replace(frame, code=PASS_IS_WRONG, message=f"{said}, first at {verdict.blame.place}",
                                           notes=frame.notes[-1:]))


def _is_plain(judgement: Judgement, *, is_small: bool) -> bool:
    """Return True if a difference is far beyond what roundings make; in large programs of finite numbers only."""
    if judgement.problem or judgement.kind is Kind.NON_FINITE:
        return bool(judgement.problem) or is_small
    return look_at(judgement.given, judgement.reference) is Look.FAR


def _rule_of(verdict: PassVerdict, blame: PairBlame) -> str:
    """Return the rewrite rule by which a pass makes the guilty instruction of its partner; "" if there is none.

    The instruction that a rule rewrites is where the result is made, or what has the guilty one's partner for a value.
    """
    if verdict.before.module is None or verdict.after.module is None:
        return ""
    after = blame.shown_at.instruction
    starts = [blame.partner] if blame.partner is not None else []
    starts += [i for c in verdict.before.module.computations for i in c.instructions
               if i.shape == after.shape and i not in starts]
    for start in starts:
        if not _stands_on(start, verdict.after.module):
            found = rule_of_change(start, after)
            if found is not None:
                shapes = [o.shape for o in (*start.operands, start)]
                return rule_sentence(found, next((s.element_type for s in shapes if s.is_array), ""))
    return ""


def _stands_on(instruction: HloInstruction, module: HloModule) -> bool:
    """Return True if a module still has an instruction of that name, opcode and operands."""
    given = [o.name for o in instruction.operands]
    return any(i.name == instruction.name and i.opcode == instruction.opcode and [o.name for o in i.operands] == given
               for i in module.instructions())


def _not_alike(before: Program, after: Program) -> str:
    """Return why two modules do not take the same arguments; "" if they do."""
    for what, a, b in (("parameters", before.parameters, after.parameters), ("results", before.results, after.results)):
        if [(s.element_type, s.dims) for s in a] != [(s.element_type, s.dims) for s in b]:
            left, right = (", ".join(s.text(layout=False) for s in side) for side in (a, b))
            return f"the {what} are ({left}) before and ({right}) after"
    if before.devices != after.devices:
        return f"it takes arguments for {before.devices} devices before and for {after.devices} after"
    return ""


def _random(module: HloModule) -> str:
    """Return an instruction that draws random numbers; "" if there is none."""
    return next((f"{i.opcode} {i.name}" for i in module.instructions()
                 if (record := OPS.get(i.opcode)) is not None and "random" in record.flags), "")


def _has_number(array: Array) -> bool:
    """Return True if an array has no elements, or one that is not NaN."""
    array = np.asarray(array)
    return not array.size or not bool(is_nan(array).all())
