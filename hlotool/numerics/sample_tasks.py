"""Samples that a child process makes: tasks that executors' children run, beside those of hlotool.execution."""

from __future__ import annotations

from hlotool.execution import (
    TIME_LIMIT,
    Executor,
    Options,
    PerDevice,
    Program,
    executor_named,
    fitted_rows,
    program_of_text,
)
from hlotool.numerics.last_places import LEAST_ULPS
from hlotool.numerics.rounding import Samples, samples_of


def samples(executor: Executor, program: Program, arguments: PerDevice, count: int, least_ulps: float) -> Samples:
    """Return what other ways to compute a program give, evaluated as the reference does."""
    return samples_of(program, fitted_rows(program, arguments), count, least_ulps=least_ulps)


def samples_of_text(executor: Executor, text: str, filename: str, arguments: PerDevice, infeed: PerDevice, count: int,
                    least_ulps: float) -> Samples:
    """Return what other ways to compute a text give, evaluated as the reference does."""
    program = program_of_text(text, filename)
    return samples_of(program, fitted_rows(program, arguments), count, least_ulps=least_ulps, infeed=infeed)


def text_samples(text: str, arguments: PerDevice, count: int, *, least_ulps: float = LEAST_ULPS, infeed: PerDevice = (),
                 time_limit: float = TIME_LIMIT, filename: str = "<string>") -> Samples:
    """Return what other ways to compute a text give (rounding.py), from a child process. Raises HloError."""
    found: Samples = executor_named("reference", Options(time_limit)).ask(
        "hlotool.numerics.sample_tasks:samples_of_text", text, filename, arguments, infeed, count, least_ulps,
        filename=filename)
    return found
