"""The executors, by name, and `execute`.

    pjrt:cpu    StableHLO bytecode compiled and run by PJRT's CPU client (any platform that JAX finds: pjrt:cuda)
    stablehlo   StableHLO's own reference interpreter
    reference   the NumPy functions of hlotool.ops, instruction by instruction

The first two live in a child process: a module that aborts them, or never ends, is a result with a code.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol, TypeAlias

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution.codes import COMPILE_ERROR, CRASH, RUN_ERROR, TIMEOUT, UNKNOWN_EXECUTOR, UNSUPPORTED
from hlotool.execution.evaluate import evaluate_program
from hlotool.execution.pjrt import Job
from hlotool.execution.process import Crashed, Process, TimedOut
from hlotool.execution.program import Program, fitted
from hlotool.ir import HloModule

Array: TypeAlias = Any
#: arguments or results of every device, replica-major: device, then leaf
PerDevice: TypeAlias = Sequence[Sequence[Array]]

#: seconds for one question: compilation and all its runs
TIME_LIMIT = 60.0
#: devices that the CPU client of a child offers at least
HOST_DEVICES = 8


class Executor(Protocol):
    """Runs programs."""

    name: str

    def run(self, program: Program, argument_sets: Sequence[PerDevice]) -> list[list[list[Array]]]:
        """The results for each set of arguments: set, then device, then leaf.

        Raises HloError, with a code of codes.py, for a program that cannot be run or that fails.
        """


@dataclass
class ChildExecutor:
    """An executor in a child process; `question` makes what the child is asked."""

    name: str
    time_limit: float = TIME_LIMIT

    def run(self, program: Program, argument_sets: Sequence[PerDevice]) -> list[list[list[Array]]]:
        question = self._question(program, argument_sets)
        devices = max(HOST_DEVICES, program.replicas * program.partitions)
        try:
            kind, value = _child(self._platform, devices).ask(question, self.time_limit)
        except Crashed as error:
            raise HloError([self._problem(program, CRASH, f"{self.name} crashed: {error}")]) from error
        except TimedOut as error:
            raise HloError([self._problem(program, TIMEOUT, f"{self.name} gave {error}")]) from error
        if kind != "ok":
            code = {"compile": COMPILE_ERROR, "unsupported": UNSUPPORTED}.get(kind, RUN_ERROR)
            raise HloError([self._problem(program, code, f"{self.name}: {value}")])
        results: list[list[list[Array]]] = value
        return results

    @property
    def _platform(self) -> str:
        return self.name.removeprefix("pjrt:") if self.name != "stablehlo" else "cpu"

    def _question(self, program: Program, argument_sets: Sequence[PerDevice]) -> tuple[str, tuple[Any, ...]]:
        if self.name == "stablehlo":
            if program.partitioning == "automatic":
                raise HloError([self._problem(program, UNSUPPORTED,
                                              "stablehlo: the interpreter does not partition modules")])
            return "stablehlo", (program.stablehlo, program.replicas, program.partitions, argument_sets)
        job = Job(self._platform, program.stablehlo, program.replicas, program.partitions,
                  program.partitioning)
        return "pjrt", (job, argument_sets)

    def _problem(self, program: Program, code: str, message: str) -> Diagnostic:
        source = program.module.source
        return Diagnostic(code, message, filename=source.filename if source else "<module>")


@dataclass
class Reference:
    """The evaluator, in this process."""

    name: str = "reference"

    def run(self, program: Program, argument_sets: Sequence[PerDevice]) -> list[list[list[Array]]]:
        return [evaluate_program(program, arguments) for arguments in argument_sets]


@functools.cache
def _child(platform: str, devices: int) -> Process:
    """The child for a platform and that many CPU devices, both fixed when its runtime starts."""
    flags = f"{os.environ.get('XLA_FLAGS', '')} --xla_force_host_platform_device_count={devices}".strip()
    # No other platform is started: a GPU's client takes most of its memory at once.
    return Process({"XLA_FLAGS": flags, "JAX_PLATFORMS": platform, "TF_CPP_MIN_LOG_LEVEL": "3"})


#: names that `hlotool run --executor` offers; pjrt: takes every platform
EXECUTORS = ("pjrt:cpu", "reference", "stablehlo")


def executor_named(name: str, time_limit: float = TIME_LIMIT) -> Executor:
    """The executor of that name. Raises HloError when there is none."""
    if name == "reference":
        return Reference()
    if name == "stablehlo" or (name.startswith("pjrt:") and len(name) > len("pjrt:")):
        return ChildExecutor(name, time_limit)
    known = ", ".join(EXECUTORS)
    raise HloError([Diagnostic(UNKNOWN_EXECUTOR, f"no executor is called {name!r}; there are {known}")])


def run_program(program: Program, arguments: PerDevice, executor: str = "pjrt:cpu",
                time_limit: float = TIME_LIMIT) -> list[list[Array]]:
    """The results of every device for the arguments of every device."""
    given = [fitted(program, row) for row in arguments]
    return executor_named(executor, time_limit).run(program, [given])[0]


def execute(module: HloModule | str, arguments: Sequence[Array], executor: str = "pjrt:cpu") -> list[Array]:
    """Run a module (or HLO text, or a StableHLO module) on flat arguments; the leaves of its result in order.

    A module of several replicas or partitions gets the same arguments on each and gives the results of the first;
    `run_program` speaks of each. Raises HloError for a module that cannot be run, or that fails.
    """
    program = Program(read_module(module))
    return run_program(program, [arguments] * program.devices, executor)[0]


def read_module(module: Any) -> HloModule:
    """A module, the one that an HLO text holds, or the one that a StableHLO module (or its bytecode) says."""
    if isinstance(module, HloModule):
        return module
    if not isinstance(module, str):
        from hlotool.mlir import from_stablehlo

        return from_stablehlo(module)
    from hlotool.passes.read import parse

    parsed: HloModule = parse(module)
    return parsed
