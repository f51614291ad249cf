"""A run: inputs listed, parts planned, those that are not done given to an engine."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Annotated, Literal, TypedDict

from hlotool.corpus.corpus_inputs import CorpusInput, listed
from hlotool.corpus.corpus_tasks import Task
from hlotool.corpus.engines import dask, local
from hlotool.corpus.part_work import PartDone, PartWork
from hlotool.corpus.result_folder import ResultFolder, ResultStore, RunPart

#: inputs and bytes of a part at most: what is done again where a worker is killed
MOST_INPUTS, MOST_BYTES = 2000, 64 << 20
#: parts for each process at least, so that none waits long for the last one
_FOR_EACH = 8
#: inputs between two signs that listing goes on
_LISTED_AT_ONCE = 1000


class CorpusReport(TypedDict):
    """The report of `hlotool corpus`: the work of a run."""

    version: Literal[1]
    folder: Annotated[str, "where the results are"]
    task: str
    inputs: Annotated[int, "files, members of archives and objects that were listed"]
    kept: Annotated[int, "of these, those whose results were there already"]
    done: Annotated[int, "of these, those that this run looked at"]
    statuses: Annotated[dict[str, int], "what became of those that this run looked at, and of how many"]
    modules: Annotated[int, "modules that got a result in this run"]
    rows: Annotated[int, "rows that this run wrote to the task's tables"]
    parts: Annotated[int, "parts that were to be done"]
    parts_done: int
    without_result: Annotated[int, "files without a result, or not all of it, those of earlier runs included"]
    interrupted: bool
    seconds: float


@dataclass(slots=True)
class RunReport:
    """The progress of a run."""

    folder: str
    task: str
    inputs: int = 0
    parts: int = 0
    #: inputs whose results were there already
    kept: int = 0
    #: of this run
    statuses: Counter[str] = field(default_factory=Counter)
    modules: int = 0
    rows: int = 0
    parts_done: int = 0
    #: inputs without a result, or not all of it, those of earlier runs included
    without_result: int = 0
    is_interrupted: bool = False

    def add(self, done: PartDone) -> None:
        """Count a part."""
        self.statuses += done.statuses
        self.modules += done.modules
        self.rows += done.rows
        self.parts_done += 1

    def as_json(self, seconds: float) -> CorpusReport:
        """Return the report as plain data; `seconds` that the run took."""
        return {"version": 1, "folder": self.folder, "task": self.task, "inputs": self.inputs, "kept": self.kept,
                "done": self.statuses.total(), "statuses": dict(sorted(self.statuses.items())),
                "modules": self.modules, "rows": self.rows, "parts": self.parts, "parts_done": self.parts_done,
                "without_result": self.without_result, "interrupted": self.is_interrupted, "seconds": round(seconds, 3)}


def run_corpus(task: Task, paths: Iterable[str], out: str, *, version: str, engine: str = "local",
               scheduler: str | None = None, processes: int = 1, seconds: float = 60.0, memory: int | None = None,
               most: int = MOST_INPUTS, watch: Callable[[RunReport], None] = lambda report: None) -> RunReport:
    """Do a task on every input of the paths, and write the results; what is there already is kept.

    `seconds` and `memory` (bytes) are for each input. An interrupt ends the run with the parts that are done: the
    report says so, and the next run goes on from there. Raises HloError and OSError.
    """
    folder = ResultStore.named(out)
    report = RunReport(folder.name, task.name)
    results = ResultFolder(folder, task, version)
    with results.alone():
        inputs: list[CorpusInput] = []
        for given in listed(paths):
            inputs.append(given)
            if len(inputs) % _LISTED_AT_ONCE == 0:
                watch(report)
        report.inputs = len(inputs)
        share = max(1, min(most, -(-len(inputs) // (processes * _FOR_EACH))))
        left = results.begin(inputs, share, MOST_BYTES)
        report.parts = len(left)
        report.kept = len(inputs) - sum(len(part.inputs) for part in left)
        work = PartWork(task, folder, seconds, memory)
        try:
            for done in _done(left, work, engine, scheduler, processes, lambda: watch(report)):
                report.add(done)
                watch(report)
            report.without_result = results.without_result()
        except KeyboardInterrupt:
            report.is_interrupted = True
    return report


def _done(parts: list[RunPart], work: PartWork, engine: str, scheduler: str | None, processes: int,
          watch: Callable[[], None]) -> Iterable[PartDone]:
    if not parts:
        return ()
    if engine == "dask" and scheduler is not None:  # without one, starting a cluster here would open ports for others
        return dask(parts, work, watch, scheduler)
    return local(parts, work, processes, watch)
