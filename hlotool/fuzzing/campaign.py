"""A campaign: children draw, run and judge batch after batch, and follow up what is seen.

Each child asks an executor of its own. A sighting that is like none before goes to a child that makes it small; at most
half of the children do that at a time. What a batch holds follows from the seed and its number, so that a campaign can
be interrupted and go on, and two of the same seed and size find the same, whatever the number of children.
"""

from __future__ import annotations

import threading
import time
from collections import Counter, deque
from collections.abc import Callable
from dataclasses import dataclass, field
from queue import Empty, SimpleQueue
from typing import Any, Protocol, TypeAlias

from hlotool.fuzzing.batch import BatchReport, Sighting
from hlotool.fuzzing.finding_class import FindingClass, likely_class, likeness
from hlotool.fuzzing.process_finding import Followed, as_it_was_drawn
from hlotool.fuzzing.test_program import Plan
from hlotool.process import Child, answer_of, note_progress

Key: TypeAlias = tuple[Any, ...]

#: seconds that a batch may take beyond what its programs may, and a sighting beyond its reduction
_AROUND = 180.0
#: batches after which a child is replaced: runtimes keep what they compiled
_REPLACED = 60
#: seconds between two looks at the clock
_TICK = 0.2


class Keeper(Protocol):
    """Memory of a campaign (campaign_folder.py)."""

    def keep_batch(self, report: BatchReport) -> None: ...
    def keep_class(self, found: FindingClass, plan: Plan) -> None: ...
    def keep_seconds(self, seconds: float) -> None: ...


@dataclass
class Limits:
    """When a campaign ends, and how much it does at once."""

    #: seconds; None: no limit
    seconds: float | None = 60.0
    #: programs; None: no limit
    programs: int | None = None
    jobs: int = 2
    #: seconds for making one sighting small
    reduction: float = 60.0


@dataclass
class Tally:
    """Counts and findings of a campaign so far."""

    plan: Plan
    programs: int = 0
    seconds: float = 0.0
    drawn: Counter[str] = field(default_factory=Counter)
    outcomes: Counter[str] = field(default_factory=Counter)
    done: set[int] = field(default_factory=set)
    classes: dict[Key, FindingClass] = field(default_factory=dict)
    #: sightings that are still to be made small
    pending: deque[Sighting] = field(default_factory=deque)
    #: likenesses of sightings that were, or are being, made small
    known: dict[tuple[str, str], Key | None] = field(default_factory=dict)
    #: batches that ended their child, and how
    lost: list[str] = field(default_factory=list)
    is_interrupted: bool = False
    #: following up at the moment
    busy: int = 0

    def note(self, report: BatchReport) -> None:
        """Count a batch, and take up what was seen in it."""
        self.done.add(report.batch)
        self.programs += report.programs
        self.drawn.update(report.drawn)
        self.outcomes.update(report.outcomes)
        for sighting in report.sightings:
            self.take_up(sighting)

    def take_up(self, sighting: Sighting) -> None:
        """Put a sighting to those that are to be made small, unless one like it is."""
        like = likeness(sighting)
        if like in self.known:
            known = self.known[like]
            if known is not None and known in self.classes:
                self.classes[known].likely += 1
            return
        if not self.is_likely(sighting):
            self.known[like] = None
            self.pending.append(sighting)

    def is_likely(self, sighting: Sighting) -> bool:
        """Return True if a sighting is very likely of a class that is known, which then counts it."""
        found = likely_class(sighting, self.classes.values())
        if found is not None:
            found.likely += 1
        return found is not None

    def sort_in(self, found: Followed) -> FindingClass:
        """The class of what was made small."""
        self.known[likeness(found.sighting)] = found.key
        if found.key in self.classes:
            self.classes[found.key].add(found)
        else:
            self.classes[found.key] = FindingClass(found)
        return self.classes[found.key]


@dataclass
class Campaign:
    """A campaign under way."""

    tally: Tally
    limits: Limits
    keeper: Keeper | None = None
    #: hears of the tally now and then
    hear: Callable[[Tally], None] = lambda tally: None

    def __post_init__(self) -> None:
        self._lock = threading.Condition()
        self._answers: SimpleQueue[tuple[Sighting | int, Any]] = SimpleQueue()
        self._is_over = False
        self._begun = time.monotonic()
        self._next = 0
        self._under_way: set[int] = set()
        self._children: list[Child] = []

    def run(self) -> Tally:
        """Go on until a limit is reached, or an interrupt."""
        before = self.tally.seconds
        threads = []
        for _ in range(self.limits.jobs):
            child = Child({})
            self._children.append(child)
            threads.append(threading.Thread(target=self._work, args=(child,), daemon=True))
        try:
            for thread in threads:
                thread.start()
            while any(t.is_alive() for t in threads) or not self._answers.empty():
                self._take(before)
                if self._is_late():
                    break
        except KeyboardInterrupt:
            self.tally.is_interrupted = True
        finally:
            self._end()
        while not self._answers.empty():
            self._take(before)
        self.tally.seconds = before + time.monotonic() - self._begun
        if self.keeper is not None:
            self.keeper.keep_seconds(self.tally.seconds)
        return self.tally

    def _end(self) -> None:
        with self._lock:
            self._is_over = True
            self._lock.notify_all()
        for child in self._children:
            child.close()

    def _is_late(self) -> bool:
        return self.limits.seconds is not None and time.monotonic() - self._begun > self.limits.seconds

    def _take(self, before: float) -> None:
        """One answer of a child, or a moment without."""
        try:
            asked, answer = self._answers.get(timeout=_TICK)
        except Empty:
            self.hear(self.tally)
            return
        note_progress()
        with self._lock:
            if isinstance(asked, Sighting):
                self._take_followed(asked, answer)
            else:
                self._take_batch(asked, answer)
            self._lock.notify_all()
        self.tally.seconds = before + time.monotonic() - self._begun
        self.hear(self.tally)

    def _take_followed(self, sighting: Sighting, answer: Any) -> None:
        self.tally.busy -= 1
        if not isinstance(answer, Followed):
            answer = as_it_was_drawn(sighting, f"not reduced: {answer}")
        found = self.tally.sort_in(answer)
        if self.keeper is not None:
            self.keeper.keep_class(found, self.tally.plan)

    def _take_batch(self, number: int, answer: Any) -> None:
        self._under_way.discard(number)
        if not isinstance(answer, BatchReport):
            self.tally.lost.append(f"batch {number}: {answer}")
            answer = BatchReport(number)
        self.tally.note(answer)
        if self.keeper is not None:
            self.keeper.keep_batch(answer)

    # In the threads, each with a child.

    def _work(self, child: Child) -> None:
        asked = 0
        while (question := self._question()) is not None:
            answer = self._answer(child, question)
            if self._is_over and isinstance(answer, Exception):
                break  # the end of the campaign ended it: the next one asks again
            self._answers.put((question, answer))
            asked += 1
            if asked % _REPLACED == 0:
                child.close()
        child.close()

    def _question(self) -> Sighting | int | None:
        """A sighting to make small, or the number of a batch; None: there is nothing more to do."""
        with self._lock:
            while not self._is_over:
                if self.tally.pending and (self.tally.busy < max(1, self.limits.jobs // 2) or self._is_drawn()):
                    sighting = self.tally.pending.popleft()
                    if self.tally.is_likely(sighting):
                        continue
                    self.tally.busy += 1
                    return sighting
                if not self._is_drawn():
                    while self._next in self.tally.done:
                        self._next += 1
                    self._next += 1
                    self._under_way.add(self._next - 1)
                    return self._next - 1
                if not self._under_way and not self.tally.pending:
                    return None
                self._lock.wait(_TICK)
        return None

    def _is_drawn(self) -> bool:
        """Return True if all programs are drawn that are asked for."""
        wanted = self.limits.programs
        if wanted is None:
            return False
        size = self.tally.plan.size
        return size * (len(self.tally.done) + len(self._under_way)) >= wanted

    def _answer(self, child: Child, question: Sighting | int) -> Any:
        plan = self.tally.plan
        if isinstance(question, Sighting):
            return answer_of(child, "hlotool.fuzzing.process_finding:follow_up",
                             (question, plan, self.limits.reduction), self.limits.reduction + _AROUND)
        return answer_of(child, "hlotool.fuzzing.batch:run_batch", (plan, question),
                         plan.size * plan.time_limit + _AROUND)
