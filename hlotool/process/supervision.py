"""A command under the eyes of its parent: limits of time and memory hold for whatever it does, and crashes have a code.

The process splits in two before the work begins. One does the work; the other waits, hands on the signals that it
gets, and says what became of the work where that cannot.

A command without a time limit ends when one of its threads, or one of its children's, has used a minute of processor
time since the last sign of progress. A machine that is busy, a reader that waits and a process that is stopped use
none. Signs are a file or module read, a question to a child asked and answered, a step of a search. What was read, and
a question's own limit, allow more than the minute.
"""

from __future__ import annotations

import contextlib
import math
import os
import select
import signal
import struct
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import field
from types import FrameType

from hlotool.diagnostics import Diagnostic
from hlotool.ir import lazy_dataclass
from hlotool.process.codes import ENDED, TIME
from hlotool.process.work_clock import run_by_threads, waited_by_all
from hlotool.process.worker import die_with_parent

#: seconds that a command has to end by itself after an interrupt
_PATIENCE = 0.5
#: seconds between two looks at how long the work has waited for a processor, which take milliseconds
_LOOK = 1.0
#: seconds of processor time without a sign of progress after which a command ends that has no time limit
STALLED = 60.0
#: more of them for each byte of the largest file that was read: commands take less than a fifth of it
_PER_BYTE = 5.0 / (1 << 20)
#: a sign of progress: seconds that what begins may take, bytes that were read
_SIGN = struct.Struct("=dQ")
#: where the process at work says that it goes on; None: nobody watches
_progress: int | None = None
#: seconds that the questions may take which wait for an answer now
_ASKED: list[float] = []


def can_supervise() -> bool:
    """Return True if this system lets a process split."""
    return hasattr(os, "fork") and hasattr(signal, "SIGHUP")


def note_progress(size: int = 0, seconds: float = 0.0) -> None:
    """The limits begin anew: so many bytes were read, or work begins that has a limit of its own in seconds."""
    if _progress is not None:
        with contextlib.suppress(OSError):
            os.write(_progress, _SIGN.pack(max(_ASKED, default=0.0) + seconds, size))


@contextlib.contextmanager
def asking(seconds: float) -> Iterator[None]:
    """Within it somebody works on a question that has a limit of its own, in seconds."""
    _ASKED.append(seconds)
    note_progress()
    try:
        yield
    finally:
        _ASKED.remove(seconds)
        note_progress()


def supervised(work: Callable[[], int], seconds: float | None, tell: Callable[[Diagnostic], int],
               stalled: float | None = None) -> int:
    """The exit code of `work`, done in a process of its own within limits between two signs of progress.

    They are `seconds` on the clock of work_clock.py and `stalled` seconds of one thread's processor time; None: no
    such limit. `tell` reports what ended it otherwise, and gives the exit code for that.
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
    return _WaitingProcess(worker, reading, seconds, tell, stalled).exit_code(before)


@lazy_dataclass
class _WaitingProcess:
    """The process that waits."""

    worker: int
    progress: int
    seconds: float | None
    tell: Callable[[Diagnostic], int]
    stalled: float | None = None
    interrupted_at: float | None = None
    #: what each thread had used when somebody looked first after a sign of progress; None: nobody did
    _used: dict[str, float] | None = field(default=None, init=False)
    #: what is allowed beyond `stalled`: for what is asked now, for the largest file that was read
    _allowed: float = 0.0
    _largest: int = 0
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
            return self.tell(self._said_of_time())
        if not os.WIFSIGNALED(status):
            return os.WEXITSTATUS(status)
        ended_by = os.WTERMSIG(status)
        if ended_by == signal.SIGINT:
            return 130
        name = signal.Signals(ended_by).name
        hint = "; the system may be out of memory" if ended_by == signal.SIGKILL else ""
        return self.tell(Diagnostic(ENDED, f"the command ended with {name}{hint}", filename="<command>"))

    def _said_of_time(self) -> Diagnostic:
        said = f"no end within {self.seconds:g} s" if self.seconds is not None else (
            f"no progress within {self._most():g} s of processor time")
        return Diagnostic(TIME, f"{said}; --time-limit sets another limit", filename="--time-limit")

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
            is_over = self.seconds is not None and self._work_time() - begun > self.seconds and (
                self._work_time(is_exact=True) - begun > self.seconds)
            if is_over or self._is_stalled():
                os.kill(self.worker, signal.SIGKILL)
                os.waitpid(self.worker, 0)
                return None
            left = 0.2 if self.seconds is None else min(0.2, self.seconds)
            if not is_open:  # its end of the pipe is closed: it is about to end
                time.sleep(0.005)
            elif select.select([self.progress], [], [], left)[0]:
                is_open = self._hear()
                begun = self._work_time()

    def _hear(self) -> bool:
        """Read signs of progress; return False where there will be no more."""
        signs = os.read(self.progress, 4096 * _SIGN.size)
        for allowed, size in _SIGN.iter_unpack(signs):
            self._allowed, self._largest, self._used = allowed, max(self._largest, size), None
        return bool(signs)

    def _most(self) -> float:
        """Return the seconds of processor time that a thread may use until the next sign of progress."""
        return (self.stalled or 0.0) + self._allowed + self._largest * _PER_BYTE

    def _is_stalled(self) -> bool:
        """Return True if a thread of the work has used more since the last sign of progress."""
        now = time.monotonic()
        if self.stalled is None or now - self._looked_at < min(_LOOK, self.stalled / 4):
            return False
        self._looked_at, used = now, run_by_threads(self.worker)
        if self._used is None:
            self._used = used
        return max((seconds - self._used.get(thread, 0.0) for thread, seconds in used.items()), default=0.0) > (
            self._most())

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
