"""Running a module, or a program, on an executor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.execution.executor import TIME_LIMIT, Options, PerDevice
from hlotool.execution.executors import executor_named
from hlotool.execution.open_sizes import closed
from hlotool.execution.program import Program, fitted
from hlotool.ir import HloModule
from hlotool.ir.arrays import Array


def run_program(program: Program, arguments: PerDevice, executor: str = "pjrt:cpu",
                time_limit: float = TIME_LIMIT, options: Options | None = None) -> list[list[Array]]:
    """The results of every device for the arguments of every device."""
    given = [fitted(program, row) for row in arguments]
    return executor_named(executor, options or Options(time_limit)).run(program, [given])[0]


def execute(module: HloModule | str, arguments: Sequence[Array], executor: str = "pjrt:cpu",
            options: Options | None = None) -> list[Array]:
    """Run a module (or HLO text, or a StableHLO module) on flat arguments; the leaves of its result in order.

    A module of several replicas or partitions gets the same arguments on each and gives the results of the first;
    `run_program` speaks of each. Arguments fix the sizes that parameters leave open. Raises HloError for a module that
    cannot be run, or that fails.
    """
    program = Program(closed(read_module(module), arguments))
    return run_program(program, [arguments] * program.devices, executor, options=options)[0]


def read_module(module: Any) -> HloModule:
    """The module that something holds: see hlotool.stablehlo.read. Raises HloError for one that nothing can work on."""
    from hlotool.passes.verify import require_usable
    from hlotool.stablehlo import read

    found = read(module)
    require_usable(found)
    return found
