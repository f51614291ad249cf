"""Reduction: the smallest module and arguments that still show a failure.

    found = reduce_candidate(Candidate(module, rows), WrongResult("pjrt:cpu"), time_limit=600)
    print(found.candidate.module)

Steps follow each other, those that cut much first, and again from the beginning as long as one of them gets somewhere:

    devices        axes of a mesh along which the program only repeats itself
    promoted       a called computation becomes the entry, on the arguments of one of its calls
    results, cut   of the entry: windows by delta debugging, chunks, then single instructions
    inlined        calls, fusions, branches; loops run once
    cut in calls   the same in bodies, branches and reducers; elements of loops' states
    substituted    an instruction by what it takes, parameters by each other
    sizes, ranks, element types
    plainer        metadata, layouts, attributes, header; literals and arguments

Two modules take steps of their own (guilty_operation.py, pair_values.py, pair_cutting.py, pair_calls.py,
plain_folds.py).
Where a test has a quick one, that is asked first, and the whole test about what it led to.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from hlotool.diagnostics import HloError
from hlotool.execution import Program
from hlotool.ir import Attributes
from hlotool.passes.edit import clone_module
from hlotool.passes.read import parse
from hlotool.process import work_time
from hlotool.reduction.argument_values import simplify_arguments
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.codes import NOT_SHOWN
from hlotool.reduction.cutting import cut_called, cut_entry, cut_results, promote
from hlotool.reduction.fewer_devices import leave_out_devices
from hlotool.reduction.flattening import flatten, narrow_loops
from hlotool.reduction.guilty_operation import cut_guilty
from hlotool.reduction.guilty_pass import GuiltyPass
from hlotool.reduction.one_sided_parameters import fix_one_sided
from hlotool.reduction.oracle import Interest, Observation
from hlotool.reduction.oracle_pool import Asked, Asker, OutOfTimeError, errors_of
from hlotool.reduction.pair_calls import promote_pair
from hlotool.reduction.pair_cutting import are_alike, cut_pair, inline_pair
from hlotool.reduction.part_cutting import cut_parts
from hlotool.reduction.plain_folds import simplify_folds
from hlotool.reduction.resizing import resize
from hlotool.reduction.search_state import SearchState
from hlotool.reduction.simplify import rename, simplify_literals, strip, strip_metadata
from hlotool.reduction.substituting import substitute
from hlotool.reduction.time_limit import TimeLimit
from hlotool.text import print_module

#: askings of the original that say whether a failure comes and goes, and of the result that confirm it
_FIRST, _LAST = 3, 5
#: seconds for one asking from which on the original is asked once
_SLOW = 20.0
#: seconds that a candidate gets at least, and how many times what the original takes
_LEAST, _SLOWER = 4.0, 8.0
#: the share of the time in which a quick test is asked, where there is one
_QUICK_SHARE = 0.7
#: seconds in which the result is confirmed at least, and the share of the whole time
_LEAST_TO_CONFIRM, _SHARE_TO_CONFIRM = 10.0, 0.1
#: rounds of all steps at most
_ROUNDS = 8


@dataclass
class Progress:
    """Where a reduction stands."""

    step: str
    instructions: int
    elements: int
    asked: int
    seconds: float


@dataclass
class Reduction:
    """The findings."""

    original: Candidate
    candidate: Candidate
    #: what is seen of both: a kind of difference, a code with its message, ...
    sign: str
    said: str
    #: how often the original, and the result, showed the failure
    first: Asked
    last: Asked
    asked: int = 0
    seconds: float = 0.0
    #: True if no step gets any further; time was not over
    is_complete: bool = True
    done: dict[str, int] = field(default_factory=dict)
    #: True if the user ended the search: the candidate is the best until then, and was not asked again
    is_interrupted: bool = False

    @property
    def is_flaky(self) -> bool:
        """Return True if the failure comes and goes."""
        return self.first.seen < self.first.times or self.last.seen < self.last.times

    @property
    def confidence(self) -> float:
        """A bound, with 95 %, on how often the result shows the failure at least (Clopper and Pearson)."""
        if not self.last.seen:
            return 0.0
        if self.last.seen == self.last.times:
            return float(0.05 ** (1 / self.last.times))
        return _lower_bound(self.last.seen, self.last.times)


def _lower_bound(seen: int, times: int) -> float:
    low, high = 0.0, seen / times
    for _ in range(40):
        p = (low + high) / 2
        tail = sum(math.comb(times, k) * p ** k * (1 - p) ** (times - k) for k in range(seen, times + 1))
        low, high = (p, high) if tail < 0.05 else (low, p)
    return low


@dataclass
class ReduceOptions:
    """How a reduction goes about."""

    time_limit: float = 600.0
    jobs: int = 2
    #: askings of the original; 0: three, or one where that takes long
    repeats: int = 0
    #: hears of every step
    hear: Callable[[Progress], None] = lambda progress: None
    #: hears of every answer: key of a candidate, whether it is interesting
    hear_answer: Callable[[str, bool], None] = lambda key, answer: None
    #: hears of every smaller candidate
    keep: Callable[[Candidate], None] = lambda candidate: None
    #: answers that are known from before, and the best candidate of that time
    known: dict[str, bool] = field(default_factory=dict)
    resumed: Candidate | None = None


def reduce_candidate(original: Candidate, test: Interest, options: ReduceOptions | None = None) -> Reduction:
    """The smallest candidate found that shows what the original shows; an interrupt ends the search, not the result.

    Raises HloError (E150) where the original does not show a failure.
    """
    options = options or ReduceOptions()
    started = time.monotonic()
    plain, source = _unsourced(original), original.module.source
    asker = Asker(test.quick() or test, options.jobs, TimeLimit(options.time_limit), allowed=errors_of(plain),
                  known=options.known, hear=options.hear_answer)
    try:
        filename = source.filename if source is not None else "<module>"
        return _ReductionRun(plain, test, asker, options, started, filename).reduction()
    except BaseException:
        asker.interrupt()
        raise
    finally:
        asker.close()


def _unsourced(original: Candidate) -> Candidate:
    """A copy without the text that it was read from, which children need not get each time."""
    module = replace(clone_module(original.module), source=None, notes=[])
    other = None if original.other is None else replace(clone_module(original.other), source=None, notes=[])
    return Candidate(module, original.rows, other)


@dataclass
class _ReductionRun:
    original: Candidate
    test: Interest
    asker: Asker
    options: ReduceOptions
    started: float
    #: of the original, for messages
    filename: str
    #: seconds of work for one asking of the original
    seconds_of_first: float = 0.0

    def reduction(self) -> Reduction:
        whole = self.asker.limit
        is_quick = self.asker.test is not self.test
        if is_quick:
            self.asker.limit = whole.part(_QUICK_SHARE)
        first, signs = self._first()
        work = SearchState(self.asker, self.original, signs, _header(self.original))
        self.asker.taken.add(self.original.key)
        work.hear = lambda step: self._hear(work, step)
        if self.options.resumed is not None:
            work.try_each([lambda: self.options.resumed], "resumed")
        is_complete, is_interrupted = self._search(work)
        self.asker.limit = whole
        if is_quick and not is_interrupted:
            is_complete, is_interrupted = self._search_confirmed(work, is_complete)
        self.asker.limit = TimeLimit(max(_LEAST_TO_CONFIRM, _SHARE_TO_CONFIRM * self.options.time_limit))
        if is_interrupted:  # nobody waits now; it was seen when it was taken
            last = Asked(1, 1, said=first.said)
        else:
            last = self.asker.count(_read_again(work.best), max(1, first.times if first.times > 1 else _LAST))
        return Reduction(self.original, work.best, self.asker.sign, last.said or first.said, first, last,
                         self.asker.asked, time.monotonic() - self.started, is_complete, work.done, is_interrupted)

    def _search(self, work: SearchState) -> tuple[bool, bool]:
        """Make the candidate smaller; return True if nothing more can be left out, and True if the user ended it."""
        try:
            _rounds(work)
        except (OutOfTimeError, KeyboardInterrupt) as end:
            self.asker.interrupt()
            return False, isinstance(end, KeyboardInterrupt)
        return True, False

    def _search_confirmed(self, work: SearchState, is_complete: bool) -> tuple[bool, bool]:
        """Ask the whole test about what the quick one led to; where it denies, go on from what it confirms.

        Raises HloError (E150) where it confirms nothing, the original included.
        """
        self.asker.test = self._tightened(self.test)
        found = self.asker.look(work.best)
        if isinstance(self.test, GuiltyPass):
            self.asker.sign = self._sign_of_pass(found, work)
        if self.asker.sign in found.signs:
            return is_complete, False
        shows = _last_that(lambda candidate: self.asker.sign in self.asker.look(candidate).signs, work.history[:-1])
        if shows is None:
            raise self._not_shown(found)
        work.back_to(shows)
        return self._search(work)

    def _sign_of_pass(self, found: Observation, work: SearchState) -> str:
        """Return the sign of the pass that is named, else of the original's, or of the smallest where that is unknown.
        """
        if self.test.guilty:  # type: ignore[attr-defined]
            return f"wrong after {self.test.guilty}"  # type: ignore[attr-defined]
        signs = self.asker.look(work.history[0]).signs or found.signs
        return signs[0] if signs else ""

    def _not_shown(self, seen: Observation) -> HloError:
        how = f" in {self.options.repeats} trials" if self.options.repeats > 1 else ""
        return HloError.of(NOT_SHOWN, f"the module does not show the failure{how}: {self.test.describe()}"
                           + (f" ({seen.said})" if seen.said else ""), filename=self.filename)

    def _first(self) -> tuple[Asked, tuple[str, ...]]:
        """Ask the original, and learn the signs of its failure, the worst one first."""
        begun = work_time()
        seen = self.asker.look(self.original)
        for _ in range(max(0, (self.options.repeats or 1) - 1)):
            if seen.signs or self.asker.limit.is_over:
                break
            seen = self.asker.look(self.original)
        if not seen.signs:
            raise self._not_shown(seen)
        self.asker.sign = seen.signs[0]
        times = self.options.repeats or (_FIRST if work_time() - begun < _SLOW else 1)
        if not self.asker.test.may_be_flaky:
            times = 1
        begun = begun if times == 1 else work_time()
        first = self.asker.count(self.original, times - 1) if times > 1 else Asked()
        self.seconds_of_first = work_time() - begun
        self.asker.test = self._tightened(self.asker.test)
        first.times, first.seen, first.said = first.times + 1, first.seen + 1, seen.said
        self.asker.rate = first.seen / first.times
        return first, seen.signs

    def _tightened(self, test: Interest) -> Interest:
        """Return the test with a limit by which no candidate takes much longer than the original: loops may not end."""
        limit = getattr(test, "time_limit", None)
        if limit is None:
            return test
        found: Interest = replace(test, time_limit=min(limit, max(_LEAST, _SLOWER * self.seconds_of_first)))  # type: ignore[call-arg]
        return found

    def _hear(self, work: SearchState, step: str) -> None:
        best = work.best
        self.options.keep(best)
        self.options.hear(Progress(step, best.size, best.elements, self.asker.asked, time.monotonic() - self.started))


def _last_that(shows: Callable[[Candidate], bool], history: Sequence[Candidate]) -> int | None:
    """Return the number of the last candidate that shows something, as if those before it all did; None: none does."""
    if not history or not shows(history[0]):
        return None
    low, high = 0, len(history)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if shows(history[middle]) else (low, middle)
    return low


def _read_again(candidate: Candidate) -> Candidate:
    """The candidate as somebody reads its text: what is confirmed is what is written."""
    module, other = (None if m is None else parse(print_module(m), "<reduced>") for m in (
        candidate.module, candidate.other))
    return Candidate(module or candidate.module, candidate.rows, other)


def _header(original: Candidate) -> Attributes:
    """Return the counts of replicas and partitions for sections, as the module states or its groups imply them."""
    header = original.module.attributes
    found = {n: header[n] for n in ("replica_count", "num_partitions") if n in header}
    if not found and original.rows is not None:
        try:
            program = Program(original.module)
            counts = {"replica_count": program.replicas, "num_partitions": program.partitions}
        except HloError:
            return Attributes()
        found = {n: count for n, count in counts.items() if count > 1}
    return Attributes(found)


def _rounds(work: SearchState) -> None:
    if work.best.other is not None:
        _pair_rounds(work)
        return
    strip(work)
    leave_out_devices(work)
    for _ in range(_ROUNDS):
        before = work.best
        promote(work)
        cut_results(work)
        cut_entry(work)
        if flatten(work):
            cut_entry(work)
        cut_called(work)
        narrow_loops(work)
        substitute(work)
        resize(work)
        strip(work)
        simplify_literals(work)
        simplify_arguments(work)
        if work.best is before:
            break
    rename(work)


def _pair_rounds(work: SearchState) -> None:
    """The steps that two modules take together.

    A program and its partitioned form are cut together. Of others, the first steps keep values, and so the difference
    that there was; the rest is done where what it changes is changed alike in both.
    """
    strip_metadata(work)
    if work.best.partition() is not None:
        cut_parts(work)
        rename(work)
        return
    for _ in range(_ROUNDS):
        before = work.best
        cut_guilty(work)
        promote_pair(work, is_made=False)
        cut_pair(work)
        inline_pair(work)
        cut_pair(work)
        promote_pair(work)
        if work.best is before:
            break
    fix_one_sided(work)
    if are_alike(work.best):
        if simplify_folds(work):
            cut_pair(work)
            fix_one_sided(work)
        strip(work)
        resize(work)
        simplify_arguments(work)
    rename(work)
