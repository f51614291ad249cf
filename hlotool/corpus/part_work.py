"""One part of a run: each of its inputs looked at in a child process, then its files written."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from hlotool.corpus.corpus_tasks import Task
from hlotool.corpus.libraries import library
from hlotool.corpus.one_input import inputs_table, result_of
from hlotool.corpus.result_folder import ResultStore, RunPart, write_part
from hlotool.process import Child


@dataclass(frozen=True, slots=True)
class PartWork:
    """The work on each part, wherever it is done."""

    task: Task
    folder: ResultStore
    #: limits for each input
    seconds: float
    memory: int | None = None


@dataclass(frozen=True, slots=True)
class PartDone:
    """The result of a part."""

    number: int
    statuses: Counter[str] = field(default_factory=Counter)
    modules: int = 0
    rows: int = 0


class Stopped(Exception):
    """Nobody wants the part any more."""


def do_part(child: Child, work: PartWork, part: RunPart, watch: Callable[[], None] = lambda: None) -> PartDone:
    """Do a part and write it; `watch` is called now and then, and may raise. Raises OSError where writing fails."""
    tables: dict[str, list[Any]] = {}
    rows, statuses, first = [], Counter[str](), part.number << 32
    for given in part.inputs:
        found = result_of(child, work.task, given, work.seconds, work.memory, watch)
        for name, stream in found.tables.items():
            tables.setdefault(name, []).append(_numbered(_table(stream), first))
        first += found.places
        rows.append(found.row)
        statuses[found.row["status"]] += 1
        watch()
    written = write_part(work.folder, work.task, part, tables, inputs_table(rows))
    return PartDone(part.number, statuses, sum(row["modules"] for row in rows), written)


def _table(stream: bytes) -> Any:
    return library("pyarrow.ipc").open_stream(stream).read_all()


def _numbered(table: Any, first: int) -> Any:
    """The table with numbers of modules that count in the index, where it has such: in the input they count from 0."""
    at = table.schema.get_field_index("module_id")
    if at < 0:
        return table
    return table.set_column(at, table.schema.field(at), library("pyarrow.compute").add(table["module_id"], first))
