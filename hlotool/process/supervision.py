"""A command under the eyes of its parent: limits of time and memory hold for whatever it does, and crashes have a code.

The process splits in two before the work begins. One does the work; the other waits, hands on the signals that it
gets, and says what became of the work where that cannot.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from types import FrameType

from hlotool.diagnostics import Diagnostic
from hlotool.process.codes import ENDED, TIME
from hlotool.process.work_clock import waited_by_all
from hlotool.process.worker import die_with_parent

#: seconds that a command has to end by itself after an interrupt
_PATIENCE = 0.5
#: seconds between two looks at how long the work has waited for a processor, which take milliseconds
_LOOK = 1.0
#: where the process at work says that it goes on; None: nobody watches
_progress: int | None = None


def can_supervise() -> bool:
    """Return True if this system lets a process split."""
    return hasattr(os, "fork") and hasattr(signal, "SIGHUP")


def note_progress() -> None:
    """The time limit begins anew: the next module is at work."""
    if _progress is not None:
        with contextlib.suppress(OSError):
            os.write(_progress, b".")


def supervised(work: Callable[[], int], seconds: float | None, tell: Callable[[Diagnostic], int]) -> int:
    """The exit code of `work`, done in a process of its own within so many seconds between two notes of progress.

    `tell` reports what ended it otherwise, and gives the exit code for that.
    """
    global _progress  # noqa: PLW0603 - one process, one supervisor
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    parent = os.getpid()
    reading, writing = os.pipe()
    # No interrupt comes between the fork and what answers it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT})
    worker = os.fork()
    if not worker:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
        os.close(reading)
        os.set_inheritable(writing, False)
        die_with_parent(parent)
        _progress = writing
        return work()
    os.close(writing)
    return _WaitingProcess(worker, reading, seconds, tell).exit_code(before)


@dataclass
class _WaitingProcess:
    """The process that waits."""

    worker: int
    progress: int
    seconds: float | None
    tell: Callable[[Diagnostic], int]
    interrupted_at: float | None = None
    #: seconds that the work has waited for a processor, and when that was looked at
    _waited: float = 0.0
    _looked_at: float = -math.inf

    def exit_code(self, mask: Iterable[int]) -> int:
        """Return the exit code of the work. `mask` are the signals to block once this process heeds them."""
        for number in (signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, self._end)
        signal.signal(signal.SIGINT, self._interrupted)
        signal.pthread_sigmask(signal.SIG_SETMASK, mask)
        status = self._wait()
        if status is None:
            return self.tell(Diagnostic(TIME, f"no end within {self.seconds:g} s; --time-limit sets another limit",
                                        filename="--time-limit"))
        if not os.WIFSIGNALED(status):
            return os.WEXITSTATUS(status)
        ended_by = os.WTERMSIG(status)
        if ended_by == signal.SIGINT:
            return 130
        name = signal.Signals(ended_by).name
        hint = "; the system may be out of memory" if ended_by == signal.SIGKILL else ""
        return self.tell(Diagnostic(ENDED, f"the command ended with {name}{hint}", filename="<command>"))

    def _wait(self) -> int | None:
        """Return the status with which the work ended; None if it was ended for its time."""
        begun, is_open = self._work_time(), True
        while True:
            found, status = os.waitpid(self.worker, os.WNOHANG)
            if found:
                return status
            if self.interrupted_at is not None and time.monotonic() - self.interrupted_at > _PATIENCE:
                self.interrupted_at = None
                with contextlib.suppress(ProcessLookupError):  # it was the only one to get the interrupt
                    os.kill(self.worker, signal.SIGINT)
            if self.seconds is not None and self._work_time() - begun > self.seconds and (
                    self._work_time(is_exact=True) - begun > self.seconds):
                os.kill(self.worker, signal.SIGKILL)
                os.waitpid(self.worker, 0)
                return None
            left = 0.2 if self.seconds is None else min(0.2, self.seconds)
            if not is_open:  # its end of the pipe is closed: it is about to end
                time.sleep(0.005)
            elif select.select([self.progress], [], [], left)[0]:
                is_open = bool(os.read(self.progress, 1 << 16))
                begun = self._work_time()

    def _work_time(self, *, is_exact: bool = False) -> float:
        """Return seconds on a clock that does not go on while the work waits for a processor, or a little more."""
        now = time.monotonic()
        if self.seconds is not None and (is_exact or now - self._looked_at > _LOOK):
            self._waited, self._looked_at = max(self._waited, waited_by_all(self.worker)), now
        return now - self._waited

    def _end(self, number: int, frame: FrameType | None) -> None:
        """End the worker, then this process by the same signal."""
        with contextlib.suppress(ProcessLookupError):
            os.kill(self.worker, signal.SIGKILL)
        signal.signal(number, signal.SIG_DFL)
        os.kill(os.getpid(), number)

    def _interrupted(self, number: int, frame: FrameType | None) -> None:
        """A terminal interrupts both; the work ends in its own way."""
        self.interrupted_at = time.monotonic()
