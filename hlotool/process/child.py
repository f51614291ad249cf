"""A child process that answers questions, outlives their failures, and is started again when it dies.

Some modules abort XLA or MLIR's readers, others never end: both are answers here. Frames on the pipes are a length of
eight bytes and a pickle; both ends are this program. The child sees neither the current folder nor more of the
environment than runtimes need, and it ends with its parent, however that ends.
"""

from __future__ import annotations

import atexit
import contextlib
import json
import os
import pickle
import re
import select
import signal
import subprocess
import sys
import tempfile
import threading
import weakref
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any

from hlotool.diagnostics import HloError
from hlotool.process.ending import time_left
from hlotool.process.failures import Crashed, OutOfMemory, Refusal, TimedOut
from hlotool.process.frames import LENGTH_BYTES, framed, length_in
from hlotool.process.memory import granted_memory
from hlotool.process.plain_answers import plain_answer
from hlotool.process.safe_imports import OWN_FOLDER, outside_current
from hlotool.process.sandbox import is_wanted
from hlotool.process.supervision import asking
from hlotool.process.work_clock import Question

#: seconds for a process to end by itself when nobody asks any more
_PATIENCE = 1.0
#: seconds from which on a limit is none: a command that makes no progress ends sooner
_UNLIMITED = 1e6
#: how a runtime says why it ends: F1121 is a fatal line of its log on a 21st of November
_COMPLAINT = re.compile(r"ERROR|Check failed|what\(\)|^F\d{4} |bad_alloc|emory")
#: how it says that there was not enough memory
_NO_MEMORY = re.compile(r"bad_alloc|MemoryError|[Oo]ut of memory|Cannot allocate memory|RESOURCE_EXHAUSTED")
#: environment variables that runtimes, libraries and tests of them read; by _PYI_* a program that PyInstaller made
#: (.ci/one_file) finds what it has unpacked, and is one process
_KEPT = re.compile(
    r"(PATH|_PYI_\w+|LD_LIBRARY_PATH|DYLD_\w+|HOME|USER|LOGNAME|LANG|LC_\w+|TZ|TMPDIR|TEMP|TMP|SYSTEMROOT|XDG_\w+|SSL_\w+|"
    r"(XLA|JAX|JAXLIB|PJRT|TF|CUDA|NVIDIA|NCCL|CUDNN|CUBLAS|ROCM|HIP|HSA|ROCR|TPU|LIBTPU|NEURON|OMP|OPENBLAS|MKL|"
    r"COVERAGE|HLOTOOL)_?\w*)", re.I)

_ALL: weakref.WeakSet[Child] = weakref.WeakSet()


@dataclass(eq=False)
class Child:
    """One child of a given environment, started when first asked. Questions of several threads wait for each other."""

    environment: Mapping[str, str]
    #: modules that take long to import: a child that crashed is replaced without importing them again (forkserver.py)
    imports: tuple[str, ...] = ()
    #: folders that it may write to in a sandbox (sandbox.py); None: it has none
    writable: tuple[str, ...] | None = None
    _process: subprocess.Popen[bytes] | None = None
    _errors: IO[bytes] | None = None
    #: the process that started the child: what a fork of it inherits is not its own
    _owner: int = 0
    _has_answered: bool = field(default=False, init=False)
    #: seconds that it had waited for a processor when somebody last looked
    _waited: float = field(default=0.0, init=False)
    _turn: threading.RLock = field(default_factory=threading.RLock)

    def ask(self, task: str, *arguments: Any, timeout: float, memory: int | None = None) -> Any:
        """Run the function `task` ("module:name" of hlotool) in the child for so many seconds (see ending.py).

        `memory` are the bytes that it may take beyond what its runtime holds, by default what this process may. Raises
        HloError and Refusal as the function does; Crashed, TimedOut, OutOfMemory, after which the next question may
        start a new child.
        """
        with self._turn:
            if (timeout := time_left(timeout)) <= 0:
                raise TimedOut("no time is left to ask")
            with asking(timeout if timeout < _UNLIMITED else 0.0):
                word, *found = self._asked((task, arguments, memory or granted_memory()), timeout)
            self._has_answered = word != "crashed"
            if not self._has_answered:
                raise self._crash(self._last_words(found[0]))
        if word == "ok":
            return found[0]
        if word == "diagnostics":
            raise HloError(found[0])
        if word == "refused":
            raise Refusal(*found)
        self.close()  # who lacked memory, or a library, may have kept half of something
        raise OutOfMemory(*found) if word == "memory" else Crashed(*found)

    def _asked(self, question: Any, timeout: float) -> Any:
        process = self._started()
        assert process.stdin is not None and process.stdout is not None and self._errors is not None
        self._errors.seek(0)
        self._errors.truncate()
        limit = Question(process.pid, self._waited, timeout)
        try:
            _send(process.stdin, question)
            size = length_in(self._receive(process.stdout, LENGTH_BYTES, limit))
            data = self._receive(process.stdout, size, limit)
            return pickle.loads(data) if self.writable is None else plain_answer(data)
        except pickle.UnpicklingError as error:
            self.close()
            raise Crashed(f"its answer is no value: {error}") from error
        except (BrokenPipeError, EOFError) as error:
            raise self._crash(self._last_words(process.wait())) from error
        except TimeoutError as error:
            raise TimedOut(f"no answer within {timeout:g} s") from error
        except BaseException:  # an interrupt between question and answer would give the next question this answer
            self.close()
            raise
        finally:
            self._waited = limit.end()
            if process.poll() is not None or limit.left() <= 0:
                self.close()

    def _crash(self, said: str) -> Crashed | OutOfMemory:
        return OutOfMemory(said) if _NO_MEMORY.search(said) else Crashed(said)

    @property
    def is_running(self) -> bool:
        """True if a child waits for questions; its runtime may still have to start with the first."""
        return self._owner == os.getpid() and self._process is not None and self._process.poll() is None

    @property
    def is_fresh(self) -> bool:
        """True if the next question is the first one of a process, whose runtime has to start for it."""
        return not (self._has_answered and self.is_running)

    def close(self) -> None:
        """End the child and what it started, if there is one."""
        process, self._process = self._process, None
        if process is None or self._owner != os.getpid():
            return
        if self.imports:  # who forked the process at work ends it and waits for it: nobody else may
            _hang_up(process)
        if process.poll() is None:
            with contextlib.suppress(OSError):
                os.killpg(process.pid, signal.SIGKILL) if hasattr(os, "killpg") else process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, self._errors):
            if stream is not None:
                with contextlib.suppress(OSError, ValueError):  # a pipe may still hold a buffered question
                    stream.close()

    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None or not self.is_running:
            self.close()
            self._owner = os.getpid()
            self._errors = tempfile.TemporaryFile()  # noqa: SIM115 - lives as long as the child
            self._has_answered, self._waited = False, 0.0
            configuration = {"paths": library_paths(), "imports": self.imports, "parent": os.getpid(),
                             "writable": self.writable,
                             "own": str(OWN_FOLDER),
                             "has_lasting_parent": threading.current_thread() is threading.main_thread()}
            self._process = subprocess.Popen(
                [sys.executable, "-I", str(Path(__file__).with_name("worker.py")), json.dumps(configuration)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._errors, start_new_session=True,
                # The root folder holds no modules, and nobody but its owner writes there.
                cwd=os.path.abspath(os.sep), env=kept_environment() | dict(self.environment))
            _ALL.add(self)
        return self._process

    def _receive(self, stream: IO[bytes], size: int, limit: Question) -> bytes:
        parts, missing = [], size
        while missing:
            while not select.select([stream], [], [], max(0.0, limit.left()))[0]:
                if limit.left() <= 0:
                    self.close()
                    raise TimeoutError
            part = os.read(stream.fileno(), min(missing, 1 << 20))
            if not part:
                raise EOFError
            parts.append(part)
            missing -= len(part)
        return b"".join(parts)

    def _last_words(self, code: int) -> str:
        errors = self._errors
        if errors is None or errors.closed:
            return f"exit code {code}"
        errors.seek(0)
        lines = errors.read().decode(errors="replace").strip().splitlines()
        said = next((row for row in lines if _COMPLAINT.search(row)), lines[-1] if lines else "")
        return f"exit code {code}" + (f": {said.strip()[:300]}" if said else "")


def _hang_up(process: subprocess.Popen[bytes]) -> None:
    """Close the end that questions go into, whatever is left in its buffer, and wait a while for the process to end."""
    raw = getattr(process.stdin, "raw", None)
    with contextlib.suppress(OSError, subprocess.TimeoutExpired):
        if raw is not None:
            raw.close()
            process.wait(_PATIENCE)


def _send(stream: IO[bytes], value: Any) -> None:
    stream.write(framed(pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)))
    stream.flush()


def kept_environment() -> dict[str, str]:
    """Return the part of the environment that a child sees."""
    return {name: value for name, value in os.environ.items() if _KEPT.fullmatch(name)}


def library_paths() -> list[str]:
    """Return the folders from which a child may import: those of this process, but never the current one."""
    return outside_current(sys.path)


#: environment and use -> the child that all share
_SHARED: dict[tuple[str, frozenset[tuple[str, str]], tuple[str, ...] | None], Child] = {}


def shared_child(use: str, environment: Mapping[str, str], imports: tuple[str, ...] = (),
                 writable: tuple[str, ...] | None = None) -> Child:
    """Return the one child for a use in an environment, which is fixed when it starts, as its imports are.

    With `writable` it is in a sandbox, unless the user wants none.
    """
    writable = writable if is_wanted() else None
    key = use, frozenset(environment.items()), writable
    return _SHARED.setdefault(key, Child(dict(environment), imports, writable))


@atexit.register
def close_children() -> None:
    """End the child processes; the next question starts new ones."""
    for child in list(_ALL):
        child.close()
