"""A program that the user names, run so that nothing of it stays: see reaper.py."""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO

from hlotool.process.supervision import asking

#: seconds that the reaper has to end what the program left, before it is ended itself
_PATIENCE = 2.0
#: those that are running
_RUNNING: set[UserProgram] = set()


@dataclass(eq=False)
class UserProgram:
    """A program with an empty standard input, whose output goes to a file."""

    words: Sequence[str]
    output: IO[bytes]
    _reaper: subprocess.Popen[bytes] = field(init=False)
    _result: int = field(init=False)

    def __post_init__(self) -> None:
        self._result, writing = os.pipe()
        try:
            self._reaper = subprocess.Popen(
                [sys.executable, "-I", "-S", str(Path(__file__).with_name("reaper.py")), str(writing), *self.words],
                stdin=subprocess.PIPE, stdout=self.output, stderr=subprocess.STDOUT, start_new_session=True,
                pass_fds=(writing,))
        except BaseException:
            os.close(self._result)
            raise
        finally:
            os.close(writing)
        _RUNNING.add(self)

    def wait(self, seconds: float) -> int | None:
        """Return the exit code, negative for a signal; None where the program takes longer, or was ended meanwhile.

        When this returns, the program and all that it started have ended. Raises OSError where it could not be started.
        """
        try:
            with contextlib.suppress(subprocess.TimeoutExpired), asking(seconds):
                self._reaper.wait(seconds)
        finally:
            self.end()
        word, _, number = self._said().partition(" ")
        if word == "error":
            raise OSError(int(number), os.strerror(int(number)))
        return int(number) if word == "code" else None

    def end(self) -> None:
        """End the program with all that it started; nothing where it has ended."""
        self._let_go()
        try:
            self._reaper.wait(_PATIENCE)
        except subprocess.TimeoutExpired:
            with contextlib.suppress(OSError):
                os.killpg(self._reaper.pid, signal.SIGKILL) if hasattr(os, "killpg") else self._reaper.kill()
            self._reaper.wait()
        _RUNNING.discard(self)

    def _let_go(self) -> None:
        """Tell the reaper to end the program."""
        with contextlib.suppress(OSError):
            if self._reaper.stdin is not None:
                self._reaper.stdin.close()

    def _said(self) -> str:
        """Return the reaper's line, without waiting for who else may hold the pipe."""
        os.set_blocking(self._result, False)
        try:
            return os.read(self._result, 1 << 10).decode().strip()
        except OSError:
            return ""
        finally:
            os.close(self._result)


def end_user_programs() -> None:
    """End those that are running, each with all that it started."""
    running = list(_RUNNING)
    for program in running:  # all are told before one is waited for
        program._let_go()
    for program in running:
        program.end()
