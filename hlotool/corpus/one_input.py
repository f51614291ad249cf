"""One input in a child process: read, each module in it looked at, the rows as bytes of Arrow."""

from __future__ import annotations

import importlib
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

from hlotool.corpus.codes import CRASH, INTERNAL, MEMORY, TIME
from hlotool.corpus.corpus_inputs import CorpusInput
from hlotool.corpus.corpus_tasks import ModuleRows, Task
from hlotool.corpus.libraries import library
from hlotool.corpus.result_tables import INPUTS, Rows, bounded, plain
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.ir import no_collection
from hlotool.process import TOO_DEEP, Child, Crashed, OutOfMemory, Refusal, TimedOut
from hlotool.text.input_files import Input, inputs_of

#: seconds for a child to start and import what it needs
_TO_START = 120


@dataclass(frozen=True, slots=True)
class InputResult:
    """The result of an input: its row, and the rows of the task's tables as streams of Arrow, by table."""

    row: dict[str, Any]
    tables: dict[str, bytes] = field(default_factory=dict)
    #: modules in it, those without a result included
    places: int = 0


def result_of(child: Child, task: Task, given: CorpusInput, seconds: float, memory: int | None,
              watch: Callable[[], None]) -> InputResult:
    """The result of an input, whatever becomes of the child. One that ends is asked once more: it may have been killed
    from outside, which says nothing of the input. `watch` is called before that, and may raise.
    """
    begun = time.perf_counter()
    for is_last in (False, True):
        try:
            if child.is_fresh:  # starting counts for no input
                child.ask("hlotool.corpus.one_input:get_ready", task, timeout=_TO_START)
                begun = time.perf_counter()
            found: InputResult = child.ask("hlotool.corpus.one_input:look_at", task, given, timeout=seconds,
                                           memory=memory)
            break
        except Crashed as error:
            if is_last:
                found = _without("crashed", CRASH, f"the process that looked at it was ended: {error}", given)
            else:
                watch()
        except TimedOut:
            found = _without("time-limit", TIME, f"no result within {seconds:g} s", given)
            break
        except OutOfMemory as error:
            found = _without("memory-limit", MEMORY, f"there is not enough memory for it: {error}", given)
            break
        except Refusal as error:
            if error.kind == "unsupported":
                found = _without("unusable", TOO_DEEP, "it is nested too deeply", given)
            else:
                found = _without("failed", INTERNAL, f"a bug in hlotool, please report it: {error.message}", given)
            break
    found.row["seconds"] = round(time.perf_counter() - begun, 6)
    return found


def _without(status: str, code: str, message: str, given: CorpusInput) -> InputResult:
    return InputResult(_row(given, 0, status, Diagnostic(code, message)))


def _row(given: CorpusInput, modules: int, status: str, problem: Diagnostic | None = None) -> dict[str, Any]:
    return {"input": given.name, "bytes": bounded(given.size), "modules": modules, "status": status,
            "code": problem.code if problem is not None else None,
            "message": plain(problem.message) if problem is not None else None,
            "line": problem.line or None if problem is not None else None}


def get_ready(task: Task) -> None:
    """Import what a task needs."""
    function_of(task)


def function_of(task: Task) -> ModuleRows:
    """The function that a task names."""
    module, _, name = task.rows.partition(":")
    library("pyarrow")
    function: ModuleRows = getattr(importlib.import_module(module), name)
    return function


def look_at(task: Task, given: CorpusInput) -> InputResult:
    """Return, in a child, the rows of every module of an input. Raises HloError (R170) alone."""
    function = function_of(task)
    rows = {table.name: Rows(table) for table in task.tables}
    problems: list[Diagnostic] = []
    done = places = 0
    for places, inner in enumerate(_modules_in(given, problems), 1):
        try:
            with no_collection():
                found = list(function(inner))
        except HloError as error:
            problems += error.diagnostics
            continue
        done += 1
        for table, row in found:
            rows[table].add(_placed(rows[table], row, given, inner, places - 1))
    status = "unusable" if problems else "ok"
    return InputResult(_row(given, done, status, next(iter(problems), None)),
                       {name: _stream(made) for name, made in rows.items() if len(made)}, places)


def _modules_in(given: CorpusInput, problems: list[Diagnostic]) -> Iterable[Input]:
    try:
        return inputs_of(given.read(), given.name)
    except HloError as error:
        problems += error.diagnostics
        return ()


def _placed(rows: Rows, row: dict[str, Any], given: CorpusInput, inner: Input, number: int) -> dict[str, Any]:
    """A row with what says which module it is of; the number of the module in its input becomes that of the index."""
    place = {"input": given.name, "first_line": inner.source.first_line if inner.source is not None else 1,
             "module_id": number}
    return {**{key: value for key, value in place.items() if key in rows.columns}, **row}


def _stream(rows: Rows) -> bytes:
    pa = library("pyarrow")
    sink = pa.BufferOutputStream()
    with library("pyarrow.ipc").new_stream(sink, rows.table.schema()) as writer:
        writer.write_table(rows.arrow())
    found: bytes = sink.getvalue().to_pybytes()
    return found


def inputs_table(rows: Iterable[dict[str, Any]]) -> Any:
    """The rows of inputs as a table of Arrow."""
    made = Rows(INPUTS)
    for row in rows:
        made.add(row)
    return made.arrow()
