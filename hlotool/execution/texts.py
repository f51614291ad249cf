"""Runs HLO text whole in a child process, from reading it to its values.

Nothing that a text holds can end the caller or keep it waiting: reading, lifting, compiling, running and evaluating all
happen in the child, within one time limit. A child that ended, or was ended, is started again for the next text; its
start is not counted.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution.codes import TIMEOUT
from hlotool.execution.executor import START_LIMIT, TIME_LIMIT, Executor, Options, PerDevice
from hlotool.execution.executors import executor_named

#: rows in which a program is late before it is asked no more
_LATE = 2


def run_text(text: str, arguments: PerDevice, executor: str, *, infeed: PerDevice = (), devices: int = 1,
             time_limit: float = TIME_LIMIT, filename: str = "<string>") -> list[list[Any]]:
    """The results of every device, leaf by leaf, for the arguments of every device.

    `infeed` is what the host hands to each device. Raises HloError: what is wrong with the text, or a code of codes.py
    for what became of it.
    """
    found: list[list[Any]] = executor_named(executor, Options(time_limit)).ask(
        "compute_text", text, filename, arguments, infeed, devices=devices, filename=filename)
    return found


def ask_each(executor: str, task: str, rows: Sequence[tuple[Any, ...]], *, devices: int = 1,
             time_limit: float = TIME_LIMIT) -> list[Any]:
    """Return what a task of tasks.py about texts gives for each row of its arguments: its value, or the HloError.

    All rows are asked at once; where the child ends, each half by itself, and where it takes too long each row, so that
    a failure is that of its own row. A program that was late with the arguments of two rows is asked for no others:
    each would cost the whole limit.
    """
    asked = executor_named(executor, Options(time_limit))
    if len(rows) < 2:
        return [_single(asked, task, row, devices) for row in rows]
    try:
        answers = asked.ask("each", task, rows, devices=devices)
        return [found if is_good else HloError(found) for is_good, found in answers]
    except HloError as error:
        if _is_late(error):
            return _one_by_one(asked, task, rows, devices)
        size = (len(rows) + 1) // 2
        parts = [rows[at:at + size] for at in range(0, len(rows), size)]
        return [found for part in parts
                for found in ask_each(executor, task, part, devices=devices, time_limit=time_limit)]


def _is_late(answer: Any) -> bool:
    return isinstance(answer, HloError) and any(d.code == TIMEOUT for d in answer.diagnostics)


def _one_by_one(executor: Executor, task: str, rows: Sequence[tuple[Any, ...]], devices: int) -> list[Any]:
    """The answers of rows of which some are late."""
    found: list[Any] = []
    late: Counter[Any] = Counter()
    for row in rows:
        text = row[0]
        if late[text] == _LATE:
            found.append(HloError.of(TIMEOUT, f"not asked: {_LATE} other sets of arguments of this program "
                                              "gave no answer in time", filename=row[1]))
            continue
        found.append(_single(executor, task, row, devices))
        late[text] += _is_late(found[-1])
    return found


def _single(executor: Executor, task: str, row: tuple[Any, ...], devices: int) -> Any:
    try:
        return executor.ask(task, *row, devices=devices, filename=row[1])
    except HloError as error:
        return error


def text_arguments(text: str, kind: str, seed: int = 0, *, time_limit: float = TIME_LIMIT,
                   filename: str = "<string>") -> list[list[Any]]:
    """Made arguments of every device of a module; the kinds are those of arguments.py. Raises HloError."""
    found: list[list[Any]] = executor_named("reference", Options(time_limit)).ask(
        "text_arguments", text, filename, kind, seed, filename=filename)
    return found


def text_findings(text: str, *, legalize: bool = False, time_limit: float = TIME_LIMIT,
                  filename: str = "<string>") -> list[Diagnostic]:
    """Every error of a text: of its syntax, else of its verification.

    `legalize` writes forms of another time as today's first. Raises HloError for a crash or a time-out.
    """
    found: list[Diagnostic] = executor_named("reference", Options(time_limit)).ask(
        "text_findings", text, filename, legalize, filename=filename)
    return found


def describe_executor(executor: str) -> dict[str, str]:
    """Return an executor's platform, devices and the versions of its libraries. Raises HloError."""
    found: dict[str, str] = executor_named(executor).ask("facts", time_limit=START_LIMIT, filename="")
    return found
