"""A clock for budgets and limits, which gives the same answers on a busy machine as on a free one.

While other programs keep the processors busy, this process and its children are ready to run and wait for one. That
time does not pass on this clock, so that as much work is done within a budget as on a free machine; it only takes
longer. Time in which a process sleeps, or hangs, does pass. Linux tells how long threads have waited
(`/proc/.../schedstat`); on other systems this is `time.monotonic`.
"""

from __future__ import annotations

import contextlib
import os
import threading
import time

from hlotool.process.reaper import descendants

#: seconds for which what was read is not read again: reading takes longer than many an instruction
_FRESH = 0.005
_LOCK = threading.Lock()


class _Waited:
    """The waiting times of this process."""

    #: of its main thread, and when that was read
    own, read_at = 0.0, -1.0
    #: of children while they were asked, which end with them in /proc and are kept here; questions that are open now
    children, asked = 0.0, 0


def work_time() -> float:
    """Return seconds on a clock that does not go on while this process or a child at work waits for a processor."""
    now = time.monotonic()
    if now - _Waited.read_at > _FRESH:
        _Waited.own, _Waited.read_at = waited_by(os.getpid()), now
    return now - _Waited.own - _Waited.children


def waited_by(process: int, *, is_with_threads: bool = False) -> float:
    """Return the seconds that a process's main thread was ready to run and did not; the most of any of its threads."""
    threads = ["schedstat"]
    if is_with_threads:
        with contextlib.suppress(OSError):
            threads = [f"task/{name}/schedstat" for name in os.listdir(f"/proc/{process}/task")]
    return max((_waited(f"/proc/{process}/{name}") for name in threads), default=0.0)


def waited_by_all(process: int) -> float:
    """Return what a process and those below it have waited, who work by turns: a parent waits for an answer."""
    below = max((waited_by(p, is_with_threads=True) for p in descendants(process)), default=0.0)
    return waited_by(process, is_with_threads=True) + below


def run_by_threads(process: int) -> dict[str, float]:
    """Return the seconds that each thread of a process, and of those below it, has run; nothing that is not told."""
    found = {}
    for one in (process, *descendants(process)):
        with contextlib.suppress(OSError):
            for name in os.listdir(f"/proc/{one}/task"):
                found[f"{one}/{name}"] = _times(f"/proc/{one}/task/{name}/schedstat")[0]
    return found


def _waited(file: str) -> float:
    return _times(file)[1]


def _times(file: str) -> tuple[float, float]:
    """Return the seconds that a thread has run, and waited for a processor."""
    try:
        with open(file, "rb") as opened:
            run, waited = opened.read().split()[:2]
            return int(run) / 1e9, int(waited) / 1e9
    except (OSError, ValueError):  # it has ended, or the system does not tell
        return 0.0, 0.0


class Question:
    """The time that one question to a child takes on the clock; `process` and those below it work on the answer.

    Looking for processes takes milliseconds, so it is done when a time limit seems to be over, or once at the end of a
    question that took long.
    """

    #: seconds below which nobody looks
    SHORT = 0.25

    def __init__(self, process: int, before: float, seconds: float):
        #: `before` is what they had waited when somebody last looked
        self.process, self.before, self.seconds = process, before, seconds
        self.begun = time.monotonic()
        self.waited = 0.0
        with _LOCK:
            _Waited.asked += 1

    def left(self) -> float:
        """Return the seconds until the limit, none or less if it is over."""
        left = self.begun + self.seconds + self.waited - time.monotonic()
        if left > 0:
            return left
        self._look()
        return self.begun + self.seconds + self.waited - time.monotonic()

    def end(self) -> float:
        """Stop the clock for what the child has waited; return what it had waited until now."""
        if time.monotonic() - self.begun > self.SHORT:
            self._look()
        with _LOCK:
            _Waited.children += self.waited / _Waited.asked  # those that are asked at once wait at once
            _Waited.asked -= 1
        return self.before + self.waited

    def _look(self) -> None:
        found = waited_by_all(self.process) - self.before
        self.waited = min(max(self.waited, found), time.monotonic() - self.begun)
