"""A child process that answers questions, outlives their failures, and is started again when it dies.

Some modules abort XLA or the StableHLO interpreter, others never end: both are answers here. Frames on the pipes
are a length of eight bytes and a pickle; both ends are this program.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import pickle
import re
import select
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from typing import IO, Any

_LENGTH = 8
#: how a runtime says why it ends: F1121 is a fatal line of its log on a 21st of November
_COMPLAINT = re.compile(r"ERROR|Check failed|what\(\)|^F\d{4} ")


class Crashed(Exception):
    """The process ended without an answer; the message holds the last lines that it wrote."""


class TimedOut(Exception):
    """No answer in time; the process was killed."""


class Refusal(Exception):
    """What a task in the child could not do: the kind of failure (compile, run, unsupported) and a sentence."""

    def __init__(self, kind: str, message: str) -> None:
        self.kind = kind
        self.message = message
        super().__init__(message)


@dataclass
class Process:
    """One child of a given environment, started when first asked."""

    environment: dict[str, str]
    _child: subprocess.Popen[bytes] | None = None
    _errors: IO[bytes] | None = None

    def ask(self, question: Any, timeout: float) -> Any:
        """The answer to a question. Raises Crashed or TimedOut, after which the next question starts a new child."""
        child = self._started()
        assert child.stdin is not None and child.stdout is not None and self._errors is not None
        self._errors.seek(0)
        self._errors.truncate()
        deadline = time.monotonic() + timeout
        try:
            _send(child.stdin, question)
            size = int.from_bytes(self._receive(child.stdout, _LENGTH, deadline), "little")
            return pickle.loads(self._receive(child.stdout, size, deadline))
        except (BrokenPipeError, EOFError) as error:
            raise Crashed(self._last_words()) from error
        except TimeoutError as error:
            raise TimedOut(f"no answer within {timeout:g} s") from error
        except BaseException:  # an interrupt between question and answer would give the next question this answer
            self.close()
            raise
        finally:
            if child.poll() is not None or time.monotonic() > deadline:
                self.close()

    @property
    def is_running(self) -> bool:
        """Whether a child waits for questions; its runtime may still have to start with the first."""
        return self._child is not None and self._child.poll() is None

    def close(self) -> None:
        """End the child, if there is one."""
        child, self._child = self._child, None
        if child is None:
            return
        child.kill()
        child.wait()
        for stream in (child.stdin, child.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError):  # a dead child's pipe may still hold a buffered question
                    stream.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
            self._child = subprocess.Popen(
                [sys.executable, "-m", "hlotool.execution.worker"], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                stderr=self._errors, env={**os.environ, **self.environment}, start_new_session=True)
            atexit.register(self.close)
        return self._child

    def _receive(self, stream: IO[bytes], size: int, deadline: float) -> bytes:
        parts, missing = [], size
        while missing:
            ready, _, _ = select.select([stream], [], [], max(0.0, deadline - time.monotonic()))
            if not ready:
                self.close()
                raise TimeoutError
            part = os.read(stream.fileno(), min(missing, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _last_words(self) -> str:
        child, errors = self._child, self._errors
        code = child.wait() if child is not None else None
        if errors is None or errors.closed:
            return f"exit code {code}"
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
        said = next((row for row in lines if _COMPLAINT.search(row)), lines[-1] if lines else "")
        return f"exit code {code}" + (f": {said.strip()[:300]}" if said else "")


def _send(stream: IO[bytes], value: Any) -> None:
    data = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)
    stream.write(len(data).to_bytes(_LENGTH, "little") + data)
    stream.flush()
