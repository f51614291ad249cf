"""Executors: each is one way to run programs, declared as one class in one file of `executors`.

    class Doubled(Executor):
        names = ("doubled",)

        def compute(self, work, argument_sets, infeed):
            ...

`prepare` says, where the program is, what the executor needs of it; `compute` makes the values of it, in a child
process with limits of time and memory unless the options say otherwise. Both may raise HloError and Refusal.
"""

from __future__ import annotations

import abc
import functools
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Self, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution.codes import (
    ABSENT,
    BAD_OPTION,
    COMPILE_ERROR,
    CRASH,
    MEMORY,
    OF_EXECUTOR,
    RUN_ERROR,
    TIMEOUT,
    UNSUPPORTED,
)
from hlotool.execution.program import Program
from hlotool.execution.sizes import MOST_THREADS
from hlotool.ir.arrays import Array
from hlotool.process import Child, Crashed, OutOfMemory, Refusal, TimedOut, note_progress, shared_child

#: arguments or results of every device, replica-major: device, then leaf
PerDevice: TypeAlias = Sequence[Sequence[Array]]
#: results for each set of arguments: set, then device, then leaf
Results: TypeAlias = "list[list[list[Array]]]"

#: seconds for one question: compilation and all its runs
TIME_LIMIT = 60.0
#: seconds for a runtime to start, which the limit does not count
START_LIMIT = 180.0
#: devices that a CPU client offers at least
HOST_DEVICES = 8


@dataclass(frozen=True)
class Options:
    """Options of how programs are run; every executor takes them."""

    #: seconds for one question: compilation and all its runs, but not the start of a runtime
    time_limit: float = TIME_LIMIT
    #: bytes that a question may take; None: a share of the machine's memory
    memory_limit: int | None = None
    #: devices that a CPU client offers at least
    devices: int = HOST_DEVICES
    #: XLA's own options (the fields of DebugOptions in xla.proto, without dashes) and their values, for executors that
    #: compile
    compile_options: tuple[tuple[str, str | int | float | bool], ...] = ()
    #: run in this process, where no limit of time holds and a crash is the caller's; for executors that can
    in_process: bool = False


@dataclass(frozen=True)
class Executor(abc.ABC):
    """One way to run programs; see this file's docstring."""

    #: whether programs of one device may be compiled as one (merged.py), which saves most of the time
    compiles_together: ClassVar[bool] = False
    #: devices of one program at most
    most_devices: ClassVar[int] = MOST_THREADS
    #: modules that its child needs and that take long to import, and start nothing when imported
    imports: ClassVar[tuple[str, ...]] = ()
    #: the name that users give, and other names of the same
    names: ClassVar[tuple[str, ...]]
    #: what stands behind a colon of the name (the platform of pjrt:cpu), as help shows it; empty: nothing does
    parameter: ClassVar[str] = ""
    #: the words that mostly stand there
    parameters: ClassVar[tuple[str, ...]] = ()
    #: whether it computes any program; else it holds the results of one, which no part and no other form of it has
    computes: ClassVar[bool] = True
    #: whether that is a file of the user's
    reads_files: ClassVar[bool] = False
    #: what stands behind the colon
    argument: str = ""
    options: Options = field(default_factory=Options)

    @property
    def product_bits(self) -> int:
        """Mantissa bits to which its platform cuts f32 operands of dots and convolutions of default precision; 0: none.

        `operand_precision` asks for more, and `algorithm` says exactly what is done.
        """
        return 0

    @property
    def is_shareable(self) -> bool:
        """True if several processes may have it at work at once: the first one takes an accelerator's memory whole."""
        return True

    @property
    def name(self) -> str:
        return f"{self.names[0]}:{self.argument}" if self.parameter else self.names[0]

    @classmethod
    def argument_of(cls, words: str) -> str:
        """The argument that words behind the colon stand for. Raises HloError where there can be no such executor."""
        return words

    @classmethod
    def is_harmless(cls, words: str) -> bool:
        """Return True if words behind the colon make the executor read or write no file."""
        return re.fullmatch(r"[A-Za-z0-9_]*", words) is not None

    # What an executor says.

    def prepare(self, program: Program) -> Any:
        """Return what `compute` gets of a program; it is pickled on its way into the child."""
        return program

    def runs_here(self, program: Program) -> bool:
        """Return True if a program runs in this process; executors of native code never do."""
        return False

    @abc.abstractmethod
    def compute(self, work: Any, argument_sets: Sequence[PerDevice], infeed: PerDevice) -> Results:
        """The values: set, then device, then leaf. `infeed` is what the host hands to each device."""

    def environment(self, devices: int) -> Mapping[str, str]:
        """Environment variables of the child for so many devices, fixed when it starts."""
        return {}

    def writable(self) -> tuple[str, ...] | None:
        """Return the folders that the child may write to in its sandbox; None: it works without one.

        An accelerator's runtime opens devices and writes caches, so only executors on the processor have one.
        """
        return None

    def facts(self) -> dict[str, str]:
        """Return the executor's platform, device and version, asked in the child."""
        return {"platform": self.name}

    def check(self) -> None:
        """Raises HloError (E121, E122) for one that does not start, or not with its options."""
        return

    def require_computing(self) -> None:
        """Raises HloError (E106) for one that holds the results of one program where others have to run."""
        if not self.computes:
            raise HloError.of(UNSUPPORTED, f"{self.name} holds the results of one program, and other programs "
                              "have to run to find out", filename="--executors",
                              help="`hlotool compare` holds them against the reference; a file with values of "
                              "instructions (`hlotool run --trace` writes one) is also looked through")

    def stored_arrays(self) -> dict[str, Any] | None:
        """The arrays of the user's file by name, where there are such. Raises HloError (R110)."""
        return None

    # What callers use.

    def run(self, program: Program, argument_sets: Sequence[PerDevice], infeed: PerDevice = ()) -> Results:
        """The results for each set of arguments: the program is compiled once.

        Raises HloError, with a code of codes.py, for a program that cannot be run or that fails.
        """
        with self._said_of(program.filename):
            program.require_devices(self.most_devices)
            work = self.prepare(program)
            if self.runs_here(program):
                return self.compute(work, argument_sets, infeed)
        found: Results = self.ask("compute", work, argument_sets, infeed, devices=program.all_devices,
                                  filename=program.filename)
        return found

    def ask(self, task: str, *arguments: Any, devices: int = 1, time_limit: float | None = None,
            filename: str = "<module>") -> Any:
        """Return what a task gives in this executor's child. Raises HloError.

        `task` is a function of tasks.py, or "module:function" of another room.
        """
        child = self._child(devices)
        limit = self.options.time_limit if time_limit is None else time_limit
        with self._said_of(filename):
            if child.is_fresh:
                # What a program is compiled with, dumps for one, is no business of the start.
                child.ask("hlotool.execution.tasks:ready", self.without_compile_options(), timeout=START_LIMIT)
            note_progress()
            return child.ask(task_path(task), self, *arguments, timeout=limit,
                             memory=self.options.memory_limit)

    def without_compile_options(self: Self) -> Self:
        """The same executor without what only a compilation is told."""
        return replace(self, options=replace(self.options, compile_options=()))

    def close(self) -> None:
        """End the children of this executor; the next question starts new ones."""
        self._child(1).close()

    def _child(self, devices: int) -> Child:
        # What only a compilation is told needs no child of its own.
        return shared_child(self.without_compile_options().name,
                            {**self.environment(max(self.options.devices, devices))}, self.imports, self.writable())

    def _said_of(self, filename: str) -> _Said:
        return _Said(self, filename)


def task_path(task: str) -> str:
    """Return the module and function of a task, as "module:function"."""
    return task if ":" in task else f"hlotool.execution.tasks:{task}"


@dataclass
class _Said:
    """Turns what becomes of a question into diagnostics with a code."""

    executor: Executor
    filename: str

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: BaseException | None, trace: Any) -> None:
        name = self.executor.name
        match error:
            case Crashed():
                code, message = CRASH, f"{name} crashed: {error}"
            case TimedOut():
                code, message = TIMEOUT, f"{name} gave {error}"
            case OutOfMemory() | MemoryError():
                code, message = MEMORY, f"{name} needs more memory than it may take: {error}".removesuffix(": ")
            case Refusal():
                raise HloError([refused(name, error, self.filename)]) from error
            case _:
                return
        raise HloError.of(code, message, filename=self.filename) from error


#: kind of a refusal -> its code
_REFUSALS = {"compile": COMPILE_ERROR, "unsupported": UNSUPPORTED, "absent": ABSENT, "option": BAD_OPTION}


def refused(name: str, refusal: Refusal, filename: str) -> Diagnostic:
    """Return what an executor of that name refuses, as a diagnostic."""
    code = _REFUSALS.get(refusal.kind, RUN_ERROR)
    return Diagnostic(code, f"{name}: {refusal.message}", filename="--executors" if code in OF_EXECUTOR else filename)


#: the flag of XLA that says how many devices a CPU client has
_DEVICE_COUNT = "--xla_force_host_platform_device_count"


def cpu_environment(platform: str, devices: int) -> dict[str, str]:
    """The environment in which XLA's client of a platform starts."""
    given = os.environ.get("XLA_FLAGS", ""), f"{_DEVICE_COUNT}={devices}"
    # No other platform is started: a GPU's client takes most of its memory at once.
    return {"XLA_FLAGS": " ".join(filter(None, given)), "JAX_PLATFORMS": platform, "TF_CPP_MIN_LOG_LEVEL": "3"}


@functools.cache
def library_versions() -> dict[str, str]:
    """The versions of the libraries that results depend on, the machine, and the user's flags for XLA."""
    import importlib.metadata
    import platform

    versions = {name: importlib.metadata.version(name) for name in ("numpy", "ml_dtypes", "jaxlib")}
    given = re.sub(rf" *{_DEVICE_COUNT}=\d+\Z", "", os.environ.get("XLA_FLAGS", ""))
    flags = {"xla_flags": given} if given else {}
    return {"machine": platform.machine(), "system": platform.system(), "python": platform.python_version(),
            **versions, **flags}
