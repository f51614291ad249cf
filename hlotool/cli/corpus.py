"""One task on every file of folders, archives and object stores; results as Parquet, which the next run goes on from.

    hlotool corpus index dumps/ -o dumps.index               for `hlotool find`
    hlotool corpus lint dumps/ more.tar.gz -o findings       every finding, a row each
    hlotool corpus cost 's3://bucket/dumps/' -o costs -j 16  with the package that serves s3://
    hlotool corpus convert dumps/ -o out --engine dask --scheduler tcp://a:8786
    hlotool corpus roundtrip dumps/ -o journeys --time-limit 20

The folder of -o has a folder of Parquet files for each table, and `inputs` with exactly one row for each file, whatever
became of it: one that crashes, takes too long or too much memory has a row that says so. A run that ends early is taken
up by the next one with the same -o; files that are new or were changed meanwhile are looked at, those that are gone are
left out. Exit code 0: every file has its result, 1: some have none, of this run or an earlier one, 2: the run cannot
begin.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping
from typing import TYPE_CHECKING

from hlotool.cli.console import INTERRUPTED, complain, progress_bar
from hlotool.cli.option_values import processes, seconds, whole_number
from hlotool.cli.report_format import add_format, print_json
from hlotool.diagnostics import format_seconds, visible
from hlotool.process import note_progress

if TYPE_CHECKING:
    from hlotool.corpus import RunReport, Task


def add_arguments(parser: argparse.ArgumentParser) -> None:
    from hlotool.corpus import ENGINES

    parser.add_argument("task", choices=tuple(tasks()), metavar="TASK",
                        help="; ".join(f"{name}: {task.what}" for name, task in tasks().items()))
    parser.add_argument("paths", nargs="+", metavar="PATH",
                        help="files, folders, patterns, archives (.zip, .tar, .tar.gz, .tgz) and addresses that fsspec "
                             "reads (s3://, gs://, https://, ...); files of folders and archives by their suffix")
    parser.add_argument("--output", "-o", metavar="FOLDER", required=True, help="where results go, or are already")
    parser.add_argument("--engine", choices=tuple(ENGINES), default="local",
                        help="; ".join(f"{name}: {what}" for name, what in ENGINES.items()))
    parser.add_argument("--scheduler", metavar="ADDRESS", help="of --engine dask: tcp://HOST:PORT")
    parser.add_argument("--jobs", "-j", type=processes(), metavar="N",
                        help="processes (default: one a processor)")
    parser.add_argument("--part", type=whole_number(1), default=2000, metavar="N",
                        help="files of a part at most: what is done again when a run is killed (%(default)s)")
    parser.add_argument("--time-limit", type=seconds, default=60.0, metavar="SECONDS", dest="input_seconds",
                        help="for each file")
    add_format(parser, "hlotool.corpus:CorpusReport")
    parser.add_argument("--quiet", "-q", action="store_true", help="no progress, no summary")


def tasks() -> Mapping[str, Task]:
    """The tasks by name: those of the room, and those that need a command's code."""
    from hlotool.cli.corpus_conform import CONFORM_TASK
    from hlotool.cli.corpus_fuzz import FUZZ_TASK
    from hlotool.cli.corpus_roundtrip import JOURNEY_TASKS
    from hlotool.corpus import TASKS

    return {**TASKS, **{task.name: task for task in (*JOURNEY_TASKS, CONFORM_TASK, FUZZ_TASK)}}


def run(args: argparse.Namespace) -> int:
    from hlotool import __version__
    from hlotool.corpus import default_processes, run_corpus

    if args.scheduler is not None and args.engine != "dask":
        complain(f"{args.prog}: --scheduler is for --engine dask")
        return 2
    begun = time.perf_counter()
    with progress_bar(is_wanted=not args.quiet) as move:
        def watch(report: RunReport) -> None:
            note_progress()
            if report.parts:
                move(completed=report.kept + report.statuses.total(), total=report.inputs, description="files")

        report = run_corpus(
            tasks()[args.task], args.paths, args.output, version=__version__, engine=args.engine,
            scheduler=args.scheduler, processes=args.jobs or default_processes(), seconds=args.input_seconds,
            memory=args.memory_limit, most=args.part, watch=watch)
    taken = time.perf_counter() - begun
    if args.format == "json":
        print_json(report.as_json(taken))
    elif not args.quiet:
        _print_summary(report, taken)
    if report.is_interrupted:
        complain(f"{args.prog}: interrupted; {report.kept + report.statuses.total()} of {report.inputs} files have "
                 "their row; the same command goes on from here")
        return INTERRUPTED
    return int(report.without_result > 0)


def _print_summary(report: RunReport, seconds: float) -> None:
    from hlotool.corpus import STATUSES

    counts = ", ".join(f"{report.statuses[status]} {status}" for status in STATUSES if report.statuses[status])
    kept = f", {report.kept} had theirs already" if report.kept else ""
    print(f"{report.inputs} files: {counts or 'nothing to do'}{kept}")
    if report.without_result > report.statuses.total() - report.statuses["ok"]:
        print(f"{report.without_result} files have no result, or not all of it")
    print(f"{report.modules} modules, {report.rows} rows in {format_seconds(seconds)}: {visible(report.folder)}")
