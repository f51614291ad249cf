"""Tasks for each input of a corpus: a task is a function of one module, and the tables of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.corpus.index_rows import instruction_rows, module_row
from hlotool.corpus.result_tables import COSTS, FINDINGS, INSTRUCTIONS, MODULES, PROGRAMS, Table, bounded, plain
from hlotool.diagnostics import HloError
from hlotool.ir import HloModule
from hlotool.text.input_files import Input

#: the rows of one module, each with the name of its table; without what stands in every row of it. Raises HloError.
ModuleRows: TypeAlias = Callable[[Input], Iterator[tuple[str, dict[str, Any]]]]


@dataclass(frozen=True, slots=True)
class Task:
    """A task: `rows` is "module:function" of hlotool, a function as ModuleRows says."""

    name: str
    what: str
    rows: str
    tables: tuple[Table, ...]


def index(given: Input) -> Iterator[tuple[str, dict[str, Any]]]:
    """A module and its instructions, for `hlotool find`."""
    module = _module(given)
    yield MODULES.name, {"module": plain(module.name), **module_row(module)}
    for row in instruction_rows(module):
        yield INSTRUCTIONS.name, row


def lint(given: Input) -> Iterator[tuple[str, dict[str, Any]]]:
    """The findings about a module, mistakes of syntax included, by the rules that are on by default."""
    from hlotool.linting import Settings, lint_module

    settings = Settings()
    try:
        module = _module(given)
    except HloError as error:
        name, found = "", settings.apply(error.diagnostics)
    else:
        name, (found, _) = plain(module.name), lint_module(module, settings)
    for d in found:
        yield FINDINGS.name, {
            "module": name, "code": d.code, "name": d.name, "severity": str(d.severity), "message": plain(d.message),
            "line": d.line or None, "column": d.column or None, "help": plain(d.help)}


def cost(given: Input) -> Iterator[tuple[str, dict[str, Any]]]:
    """Count the cost of running a module."""
    from hlotool.passes.cost import cost as cost_of

    module = _module(given)
    found = cost_of(module, name=given.filename)
    yield COSTS.name, {
        "module": plain(module.name), "flops": bounded(found.flops), "transcendentals": bounded(found.transcendentals),
        "bytes_read": bounded(found.bytes_read), "bytes_written": bounded(found.bytes_written),
        "bytes_sent": bounded(found.communication), "peak_bytes": bounded(found.peak_memory),
        "argument_bytes": bounded(found.memory.arguments), "result_bytes": bounded(found.memory.outputs),
        "unknown_loops": len(found.cost.unknown_loops)}


def convert(given: Input) -> Iterator[tuple[str, dict[str, Any]]]:
    """A module as StableHLO text; what is StableHLO already as it is read."""
    from hlotool.stablehlo import LossReport, program_text, to_stablehlo

    module, losses = _module(given), LossReport()
    text = program_text(to_stablehlo(module, losses=losses))
    yield PROGRAMS.name, {"module": plain(module.name), "stablehlo": plain(text),
                          "losses": [plain(d.message) for d in losses.diagnostics()]}


def _module(given: Input) -> HloModule:
    from hlotool.stablehlo import module_of_input

    return module_of_input(given)


def _task(function: ModuleRows, what: str, *tables: Table) -> Task:
    return Task(function.__name__, what, f"{function.__module__}:{function.__name__}", tables)


#: the tasks by name; commands add those of rooms above this one
TASKS = {task.name: task for task in (
    _task(index, "fingerprints, and every instruction, for `hlotool find`", MODULES, INSTRUCTIONS),
    _task(lint, "the findings of `hlotool lint`", FINDINGS),
    _task(cost, "flops, traffic, memory and communication", COSTS),
    _task(convert, "StableHLO text, and what it does not say", PROGRAMS),
)}
