"""A folder of results: a Parquet dataset for each table, what was planned, and what of it is done.

    OUT/run.json                   the task, the version, how many inputs
    OUT/plan.parquet               each input with its part
    OUT/TABLE/part-PART.parquet    the rows of a part, for each table of the task
    OUT/inputs/part-PART.parquet   the row of each input of the part, written last: the part is done

A part has the digest of its inputs, their stamps, the task and the version in its name, so that a part that is there is
the right one, whoever wrote it and however often. Files are written whole: here under another name first, in object
stores by one request.
"""

from __future__ import annotations

import contextlib
import hashlib
import io
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hlotool.corpus.codes import NOT_AN_INDEX, OTHER_RUN
from hlotool.corpus.corpus_inputs import CorpusInput, folder_of, joined_path
from hlotool.corpus.libraries import library
from hlotool.corpus.result_tables import INPUTS, VERSION
from hlotool.diagnostics import HloError, visible
from hlotool.process import OwnFiles

if TYPE_CHECKING:
    from hlotool.corpus.corpus_tasks import Task

RUN, PLAN, _LOCK = "run.json", "plan.parquet", ".lock"
#: parts of a run; their numbers are the upper half of those of modules
_MOST_PARTS = 1 << 30
#: rows that a plan may have, whatever its size, and beyond that for each byte: every row names another input
_FEW_ROWS, _ROWS_OF_A_BYTE = 1 << 20, 16
#: names of parts
_PART = re.compile(r"part-\d{6,}-[0-9a-f]{12}\.parquet")
_HELP = "name a new folder for the results"
#: rows of a group within a file: what a reader passes over or reads
_GROUP_ROWS = 1 << 15


@dataclass(frozen=True, slots=True)
class RunPart:
    """A group of inputs whose rows lie in one file of each table."""

    number: int
    inputs: tuple[CorpusInput, ...]
    digest: str

    @property
    def file(self) -> str:
        """The name of its files."""
        return f"part-{self.number:06}-{self.digest}.parquet"


@dataclass(frozen=True, slots=True)
class ResultStore:
    """A folder for results, here or in a store."""

    protocol: str
    path: str
    #: the user's word for it
    name: str

    @staticmethod
    def named(word: str) -> ResultStore:
        """Return the folder that a command line names. Raises HloError."""
        return ResultStore(*folder_of(word), word)

    def read(self, name: str) -> bytes | None:
        """Return the bytes of a file; None where there is none. Raises OSError, and HloError for what is not ours."""
        if self.own is not None:
            return self.own.read(name)
        try:
            found: bytes = self.system.cat_file(self.at(name))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found

    def write(self, name: str, data: bytes) -> None:
        """Write a file, whole or not at all. Raises OSError, and HloError where another's is in its place."""
        if self.own is not None:
            self.own.write(name, data)
        else:
            self.system.pipe_file(self.at(name), data)

    def files(self, below: str = "") -> list[str]:
        """Return the names of the files and folders in it, or in a folder of it; none where that is not there."""
        if self.own is not None:
            return self.own.names(below)
        try:
            found = self.system.ls(self.at(below), detail=False)
        except (FileNotFoundError, NotADirectoryError):
            return []
        return sorted(str(path).rstrip("/").rpartition("/")[2] for path in found)

    def remove_other_parts(self, table: str, wanted: set[str]) -> None:
        """Remove the parts of a table that are not wanted, and those that a killed writer began."""
        if self.own is not None:
            self.own.remove_others(table, wanted, _PART)
            return
        for name in self.files(table):
            if name not in wanted and _PART.fullmatch(name):
                with contextlib.suppress(FileNotFoundError):
                    self.system.rm_file(self.at(f"{table}/{name}"))

    def at(self, name: str) -> str:
        """Return the path of a file of it."""
        return joined_path(self.path, name)

    @property
    def own(self) -> OwnFiles | None:
        """Its files; None in a store."""
        return OwnFiles(Path(self.path), OTHER_RUN, _HELP) if self.protocol == "file" else None

    @property
    def system(self) -> Any:
        """The file system of fsspec; its listings are not remembered, for others write too."""
        options = {} if self.protocol in ("file", "memory") else {"use_listings_cache": False}
        return library("fsspec").filesystem(self.protocol, **options)


@dataclass(slots=True)
class ResultFolder:
    """The results of a task in the making."""

    folder: ResultStore
    task: Task
    version: str
    parts: list[RunPart] = field(default_factory=list)

    def begin(self, inputs: Sequence[CorpusInput], most: int, most_bytes: int) -> list[RunPart]:
        """Plan the parts, keeping those that an earlier run planned; gives the parts that are still to be done.

        Raises HloError (R171) where the folder holds something else.
        """
        self._check()
        known = self._planned()
        if known and not any(given.name in known for given in inputs):
            raise _other(self.folder, f"{self.folder.name} holds results of {len(known)} other inputs and of none of "
                         "these")
        divided = _divided(inputs, known, most, most_bytes)
        self.parts = [RunPart(number, tuple(group), self._digest(group)) for number, group in sorted(divided.items())]
        self.folder.write(PLAN, self._plan())
        self.folder.write(RUN, json.dumps({
            "version": VERSION, "hlotool": self.version, "task": self.task.name, "inputs": len(inputs),
            "parts": len(self.parts), "tables": [t.name for t in (INPUTS, *self.task.tables)]}, indent=2).encode())
        self._remove_others()
        done = set(self.folder.files(INPUTS.name))
        return [part for part in self.parts if part.file not in done]

    def _check(self) -> None:
        """Raises HloError unless the folder is new, empty, or holds results of the task."""
        try:
            found = [name for name in self.folder.files() if not name.startswith(".")]
            run = self.folder.read(RUN)
        except OSError as error:
            raise _other(self.folder, f"{self.folder.name} cannot be read: {error.strerror or error}") from error
        if run is None and set(found) <= {PLAN}:
            if self.folder.protocol == "file" and os.path.lexists(self.folder.path) and not os.path.isdir(
                    self.folder.path):
                raise _other(self.folder, f"{self.folder.name} is no folder")
            return
        task = _record(run).get("task") if run is not None else None
        if task is None:
            raise _other(self.folder, f"{self.folder.name} holds files that are no results")
        if task != self.task.name:
            raise _other(self.folder, f"{self.folder.name} holds results of {visible(str(task))}, not of "
                         f"{self.task.name}")

    def _planned(self) -> dict[str, int]:
        """Input -> its part, as an earlier run planned; a plan that cannot be read is none."""
        data = self.folder.read(PLAN)
        if data is None:
            return {}
        rows = zip(*_columns(data, _FEW_ROWS + _ROWS_OF_A_BYTE * len(data), "input", "part") or ((), ()), strict=True)
        return {name: part for name, part in rows
                if isinstance(name, str) and isinstance(part, int) and 0 <= part < _MOST_PARTS}

    def _plan(self) -> bytes:
        pa = library("pyarrow")
        rows = [(given.name, part.number) for part in self.parts for given in part.inputs]
        table = pa.table({"input": pa.array([name for name, _ in rows], pa.string()),
                          "part": pa.array([number for _, number in rows], pa.int32())})
        return _parquet(table)

    def _digest(self, group: Iterable[CorpusInput]) -> str:
        told = [self.task.name, self.version, VERSION, *((g.name, g.stamp) for g in group)]
        return hashlib.sha256(repr(told).encode()).hexdigest()[:12]

    def _remove_others(self) -> None:
        """Remove parts that are of no input any more, or of another version of it, and what a killed writer left."""
        for table in (INPUTS.name, *(t.name for t in self.task.tables)):
            self.folder.remove_other_parts(table, {part.file for part in self.parts})

    def without_result(self) -> int:
        """Inputs of finished parts, of this run and earlier ones, that have no result, or not all of it."""
        done = set(self.folder.files(INPUTS.name))
        found = 0
        for part in self.parts:
            data = self.folder.read(f"{INPUTS.name}/{part.file}") if part.file in done else None
            if data is None:
                continue
            columns = _columns(data, len(part.inputs), "status")
            if columns is None:
                raise _other(self.folder, f"{INPUTS.name}/{part.file} in {self.folder.name} is no result of a run")
            found += sum(status != "ok" for status in columns[0])
        return found

    @contextlib.contextmanager
    def alone(self) -> Iterator[None]:
        """Hold the folder against other runs on this machine. Raises HloError (R171) where one is at work."""
        own = self.folder.own
        if own is None:
            yield
            return
        self._check()
        with own.lock(_LOCK, f"another run writes to {self.folder.name}"):
            yield


def _divided(inputs: Sequence[CorpusInput], known: dict[str, int], most: int, most_bytes: int
             ) -> dict[int, list[CorpusInput]]:
    """Inputs by part: those that are known where they were, the others in new ones."""
    from hlotool.corpus.corpus_inputs import grouped

    found: dict[int, list[CorpusInput]] = {}
    new = []
    for given in inputs:
        number = known.get(given.name)
        if number is None:
            new.append(given)
        else:
            found.setdefault(number, []).append(given)
    first = 1 + max(known.values(), default=-1)
    found.update(enumerate(grouped(new, most, most_bytes), first))
    return found


def write_part(folder: ResultStore, task: Task, part: RunPart, tables: dict[str, list[Any]], inputs: Any) -> int:
    """Write the rows of a part, tables of Arrow, the inputs last; gives how many rows the task's tables got."""
    pa = library("pyarrow")
    rows = 0
    for table in task.tables:
        given = tables.get(table.name, [])
        whole = pa.concat_tables(given) if given else table.schema().empty_table()
        if table.order:
            # Not sort_by, whose threads may outlive the interpreter and then end the process with an abort.
            order = library("pyarrow.compute").sort_indices(whole, [(name, "ascending") for name in table.order])
            whole = whole.take(order)
        rows += whole.num_rows
        folder.write(f"{table.name}/{part.file}", _parquet(whole))
    folder.write(f"{INPUTS.name}/{part.file}", _parquet(inputs))
    return rows


def _columns(data: bytes, most: int, *names: str) -> tuple[list[Any], ...] | None:
    """Return columns of a Parquet file, read without threads; None where it is none, or has more than `most` rows.

    A few bytes can hold the same row any number of times.
    """
    try:
        file = library("pyarrow.parquet").ParquetFile(io.BytesIO(data))
        if file.metadata.num_rows > most:
            return None
        table = file.read(columns=list(names), use_threads=False)
        return tuple(table[name].to_pylist() for name in names)
    except (library("pyarrow").ArrowException, KeyError, OSError, ValueError):
        return None


def _parquet(table: Any) -> bytes:
    sink = io.BytesIO()
    library("pyarrow.parquet").write_table(table, sink, compression="zstd", row_group_size=_GROUP_ROWS)
    return sink.getvalue()


def holds_results(path: str) -> bool:
    """True if a path is that of a folder with results of a task, of whatever version."""
    return os.path.isfile(os.path.join(path, RUN))


def finished_parts(folder: ResultStore, task: str, tables: Sequence[str] = ()) -> tuple[dict[str, Any], list[str]]:
    """Return the record of run.json, and the names of the parts that are done, whose files in `tables` are ours.

    Raises HloError (R173).
    """
    try:
        data = folder.read(RUN)
        names = [name for name in folder.files(INPUTS.name) if _PART.fullmatch(name)]
        if folder.own is not None:
            folder.own.require(*(f"{table}/{name}" for table in tables for name in names))
    except OSError as error:
        raise _not_an_index(folder, f"{folder.name} cannot be read: {error.strerror or error}") from error
    except HloError as error:
        raise _not_an_index(folder, error.diagnostics[0].message) from error
    record = _record(data) if data is not None else {}
    if not record:
        raise _not_an_index(folder, f"{folder.name} is no folder of results")
    if record.get("task") != task:
        raise _not_an_index(folder, f"{folder.name} holds results of {visible(str(record.get('task')))}")
    if record.get("version") != VERSION:
        raise _not_an_index(folder, f"{folder.name} was written by another version of hlotool; write it again")
    return record, names


def _record(data: bytes) -> dict[str, Any]:
    try:
        found = json.loads(data)
    except (ValueError, RecursionError):
        return {}
    return found if isinstance(found, dict) else {}


def _other(folder: ResultStore, message: str) -> HloError:
    return HloError.of(OTHER_RUN, message, filename=folder.name, help=_HELP)


def _not_an_index(folder: ResultStore, message: str) -> HloError:
    return HloError.of(NOT_AN_INDEX, message, filename=folder.name,
                       help="`hlotool corpus index PATH -o INDEX` writes one")
