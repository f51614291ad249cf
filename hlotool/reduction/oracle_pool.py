"""Asking tests of interest: in several child processes at once, with a memory of what was asked, and as often as a
failure that comes and goes needs.
"""

from __future__ import annotations

import itertools
import math
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from queue import SimpleQueue
from typing import TypeAlias

from hlotool.diagnostics import HloError, Severity
from hlotool.process import Child, Crashed, OutOfMemory, Refusal, TimedOut, end_user_programs, shared_child
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle import Interest, Observation
from hlotool.reduction.time_limit import TimeLimit

#: how likely at most a failure that is still there may be missed by repeated asking
_MISSED = 0.05
#: askings of one candidate at most
_MOST_REPEATS = 12
#: seconds between two looks at the clock while an answer is awaited
_TICK = 1.0
#: seconds beyond a test's own limit: reading, the reference, its samples
_AROUND = 120.0

#: makes a candidate when its turn comes; None: it cannot be made
Maker: TypeAlias = Callable[[], Candidate | None]


class OutOfTimeError(Exception):
    """The time for all of the reduction is over."""


@dataclass
class Asked:
    """How often a candidate was asked, and showed the failure."""

    seen: int = 0
    times: int = 0
    unknown: int = 0
    said: str = ""

    def __str__(self) -> str:
        return f"seen {self.seen} of {self.times}"


@dataclass
class Asker:
    """Asks one test; `sign` is what must be seen, once the original has shown it."""

    test: Interest
    jobs: int = 2
    limit: TimeLimit = field(default_factory=TimeLimit)
    sign: str = ""
    #: errors of verification that the original has, and candidates may have
    allowed: frozenset[str] = frozenset()
    #: how often the failure shows where it is; 1: always
    rate: float = 1.0
    #: key of a candidate -> whether it shows the failure
    known: dict[str, bool] = field(default_factory=dict)
    #: hears of every answer: key, whether it is interesting
    hear: Callable[[str, bool], None] = lambda key, answer: None
    #: candidates that a reduction went on with, which are not tried again
    taken: set[str] = field(default_factory=set)
    #: candidates that are being asked
    _under_way: set[int] = field(default_factory=set)
    #: askings so far, those answered from memory left out
    asked: int = 0

    def __post_init__(self) -> None:
        self._pool = ThreadPoolExecutor(max(1, self.jobs))
        self._children: SimpleQueue[Child] = SimpleQueue()
        # They stay when this reduction ends: the next one finds their runtimes warm.
        self._all = [shared_child(f"reduction {number}", {}) for number in range(max(1, self.jobs))]
        for child in self._all:
            self._children.put(child)

    def interrupt(self) -> None:
        """End what is being asked; nobody waits for its answers any more."""
        self._pool.shutdown(wait=False, cancel_futures=True)
        for child in self._all:
            child.close()
        end_user_programs()
        self._pool = ThreadPoolExecutor(max(1, self.jobs))

    def close(self) -> None:
        """Ask nothing more."""
        if self._under_way:
            self.interrupt()
        self._pool.shutdown(wait=False, cancel_futures=True)

    @property
    def repeats(self) -> int:
        """Askings after which a failure that is there has very likely been seen."""
        if self.rate >= 1:
            return 1
        if self.rate <= 0:
            return _MOST_REPEATS
        return min(_MOST_REPEATS, math.ceil(math.log(_MISSED) / math.log(1 - self.rate)))

    # One candidate.

    def look(self, candidate: Candidate) -> Observation:
        """Ask the test about a candidate, once. Failures of the asking show nothing."""
        self.asked += 1
        self._under_way.add(id(candidate))
        try:
            return self._looked(candidate)
        finally:
            self._under_way.discard(id(candidate))

    def _looked(self, candidate: Candidate) -> Observation:
        if self.test.is_own_process:
            try:
                return looked(self.test, candidate, self.allowed)
            except HloError as error:
                return Observation((), error.diagnostics[0].message, is_unknown=True)
        child = self._children.get()
        try:
            limit = getattr(self.test, "time_limit", 0.0) + getattr(self.test, "seconds", 0.0) + _AROUND
            return self._answer(child, candidate, max(1.0, min(limit, self.limit.left())))
        except HloError as error:
            return Observation((), error.diagnostics[0].message)
        except (Crashed, TimedOut, OutOfMemory, Refusal) as error:
            return Observation((), str(error), is_unknown=True)
        except (OSError, ValueError) as error:  # the pipe of a child that was ended meanwhile
            return Observation((), f"{type(error).__name__}: {error}", is_unknown=True)
        finally:
            self._children.put(child)

    def _answer(self, child: Child, candidate: Candidate, limit: float) -> Observation:
        found: Observation = child.ask("hlotool.reduction.oracle_pool:looked", self.test, candidate, self.allowed,
                                       timeout=limit)
        return found

    def count(self, candidate: Candidate, times: int) -> Asked:
        """Ask several times, whatever the answers; fewer times, but once, where time is over."""
        found = Asked()
        futures = [self._pool.submit(self.look, candidate) for _ in range(times)]
        for future in futures:
            if found.times and self.limit.is_over and future.cancel():
                continue
            seen = future.result()
            if found.times and seen.is_unknown and self.limit.is_over:
                continue  # it was ended, and says nothing
            found.times += 1
            found.unknown += seen.is_unknown
            if self.sign in seen.signs or (not self.sign and seen.signs):
                found.seen += 1
                found.said = seen.said
            elif not found.said:
                found.said = seen.said
        return found

    def is_interesting(self, candidate: Candidate) -> bool:
        """Return True if a candidate shows the failure; ask as often as that takes."""
        key = self._key(candidate)
        if key not in self.known:
            self.known[key] = any(self.sign in self.look(candidate).signs for _ in range(self.repeats))
            self.hear(key, self.known[key])
        return self.known[key]

    def _key(self, candidate: Candidate) -> str:
        """Return the candidate's key among answers; those to a quick test are no answers to another one."""
        return candidate.key + (" quick" if getattr(self.test, "is_quick", False) else "")

    # Several candidates.

    def first(self, makers: Iterable[Maker]) -> tuple[int, Candidate] | None:
        """The first candidate, in their order, that is interesting, and its number; None: none is.

        The next ones are asked while the answer of one is awaited. Raises OutOfTimeError.
        """
        waiting: deque[tuple[int, Candidate, Future[bool]]] = deque()
        rest = self._made(makers)
        while True:
            self._check_time()
            for number, candidate in itertools.islice(rest, max(0, self.jobs - len(waiting))):
                waiting.append((number, candidate, self._pool.submit(self.is_interesting, candidate)))
            if not waiting:
                return None
            number, candidate, future = waiting.popleft()
            if self._answered(future):
                return number, candidate

    def _answered(self, future: Future[bool]) -> bool:
        while True:
            try:
                return future.result(_TICK)
            except TimeoutError:
                self._check_time()

    def _made(self, makers: Iterable[Maker]) -> Iterator[tuple[int, Candidate]]:
        for number, make in enumerate(makers):
            candidate = make()
            if candidate is not None and candidate.key not in self.taken and self.known.get(self._key(candidate), True):
                yield number, candidate
            self._check_time()

    def _check_time(self) -> None:
        if self.limit.is_over:
            raise OutOfTimeError


def looked(test: Interest, candidate: Candidate, allowed: frozenset[str]) -> Observation:
    """Ask a test about a candidate, in the child process; an invalid module shows nothing."""
    from hlotool.passes.verify import verify

    for module in (candidate.module, candidate.other):
        if module is not None and any(d.severity is Severity.ERROR and d.code not in allowed for d in verify(module)):
            return Observation((), "the module is not valid")
    return test.look(candidate)


def errors_of(candidate: Candidate) -> frozenset[str]:
    """The codes of the errors that verification finds in a candidate."""
    from hlotool.passes.verify import verify

    return frozenset(d.code for m in (candidate.module, candidate.other) if m is not None for d in verify(m)
                     if d.severity is Severity.ERROR)
