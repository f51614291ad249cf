"""Reduces a program: builds the test of interest and the first candidate from modules and arguments of the user's."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Literal, TypeAlias

from hlotool.execution import Program, executor_named, fitted, read_module
from hlotool.ir import HloModule
from hlotool.ir.arrays import Array
from hlotool.numerics import Rows
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.command import Command
from hlotool.reduction.entry_values import made_rows
from hlotool.reduction.guilty_pass import GuiltyPass
from hlotool.reduction.oracle import Failure, Interest, ReportedCode, Timeout, WrongResult
from hlotool.reduction.reducer import Progress, ReduceOptions, Reduction, reduce_candidate
from hlotool.verdict import compare

#: names of tests that need no more than executors
TestName: TypeAlias = Literal["verdict", "pass", "crash", "timeout"]


def reduce(a: HloModule | str, b: HloModule | str | None = None, *, arguments: Sequence[Array] | None = None,
           test: Interest | TestName = "verdict", executors: Sequence[str] = ("pjrt:cpu", "reference"), seed: int = 0,
           run_limit: float = 60.0, time_limit: float = 600.0, jobs: int = 2, repeats: int = 0,
           progress: Callable[[Progress], None] = lambda _: None) -> Reduction:
    """Search for the fewest instructions and the simplest arguments with which a program shows a failure.

    The failure is told by `test`: "verdict", the first of `executors` differs from the second; "pass", it does and the
    guilty pass of its compiler stays the same; "crash", it crashes or refuses the module; "timeout", it gives no answer
    within `run_limit` seconds; or a test of hlotool.reduction, such as ReportedCode("W105"),
    GuiltyPass(guilty="algsimp") or Command(("python", "check.py")). With a second module `b`
    of the same signature the failure is that the two differ on the reference, and both are reduced. A module is
    anything that `hlotool.read` takes.

    `arguments` are the entry's, a flat list of arrays that every device gets; without them arguments that show a
    difference are searched from `seed`. `time_limit` is in seconds for all of it, `jobs` the number of processes,
    `repeats` how often the original is tried (0: three times, or once where that takes long); `progress` is called
    after each step. The result's `candidate.module`, `candidate.other` and `candidate.rows` (arguments by device) are
    the reduced ones. Raises HloError (E150) where the program does not show the failure, or cannot be read or run.
    """
    module = read_module(a)
    wanted = test if isinstance(test, Interest) else interest_named(test, executors, run_limit)
    if b is not None:
        wanted, original = pair_test(run_limit), pair_candidate(module, read_module(b), arguments, seed)
    else:
        original = candidate_for(module, wanted, arguments, seed)
    return reduce_candidate(original, wanted, ReduceOptions(time_limit, jobs, repeats, progress))


def interest_named(name: str, executors: Sequence[str], run_limit: float = 60.0, *, message: str = "", guilty: str = ""
               ) -> Interest:
    """Return the test of interest of a name: of a crash `message` is a pattern, `guilty` the pass that is to blame.

    Raises HloError for an executor that does not exist, or computes nothing.
    """
    for executor in (named := [executor_named(n) for n in executors]):
        executor.require_computing()
    one, other = (executor.name for executor in named)
    if name == "crash":
        return Failure(one, message, run_limit)
    if name == "timeout":
        return Timeout(one, run_limit)
    first, second = (other, one) if one == "reference" else (one, other)
    if guilty or name == "pass":
        return GuiltyPass(first, second, run_limit, guilty)
    return WrongResult(first, second, run_limit)


def pair_test(run_limit: float) -> Interest:
    """Return the test that two modules differ on the reference."""
    return WrongResult("OTHER", "MODULE", run_limit)


def needs_arguments(test: Interest) -> bool:
    """Return False for a test that runs nothing: what linting reports, or a command that takes no arguments."""
    if isinstance(test, ReportedCode):
        return test.runs
    return not isinstance(test, Command) or test.takes_arguments


def candidate_for(module: HloModule, test: Interest, arguments: Sequence[Array] | None = None, seed: int = 0
                  ) -> Candidate:
    """Return the module with the given arguments, with those that show a difference, or with made ones.

    Raises HloError for arguments that do not fit.
    """
    if not needs_arguments(test):
        return Candidate(module)
    program = Program(module)
    if arguments is not None:
        return Candidate(module, _on_each_device(program, arguments))
    if isinstance(test, WrongResult):
        shown = compare(module, executors=(test.executor, test.against), seed=seed, time_limit=test.time_limit)
        if shown.witness is not None:
            return Candidate(module, shown.witness)
    return Candidate(module, made_rows(module, program.devices))


def pair_candidate(module: HloModule, other: HloModule, arguments: Sequence[Array] | None = None, seed: int = 0
                   ) -> Candidate:
    """Return two modules with arguments on which they differ: the given ones, or searched ones. Raises HloError."""
    program = Program(module)
    if arguments is not None:
        return Candidate(module, _on_each_device(program, arguments), other)
    shown = compare(module, other, executors=("reference", "reference"), seed=seed)
    return Candidate(module, shown.witness or made_rows(module, program.devices), other)


def _on_each_device(program: Program, arguments: Sequence[Any]) -> Rows:
    return [fitted(program, arguments)] * program.devices
