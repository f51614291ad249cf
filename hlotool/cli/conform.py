"""Runs conformance cases: what an implementation makes of each operation, element type and edge case.

    hlo-conformance                                    the suites ops and spec on pjrt:cpu
    hlo-conformance --suite spec --executors pjrt:cpu stablehlo --jobs 4
    hlo-conformance my/cases --junitxml out.xml        .hlo files with `// expect:` lines
    hlo-conformance --from model.hlo --save-json new.json --against old.json    a model's operations, what changed
    hlo-conformance --suite ops --op 'dot*' --dtype 'f*' --html report.html

Each case runs in a child process with a time limit: one that crashes or hangs is a result. The run itself is pytest's:
-k, -x, -v and --junitxml are its options, and so is all that stands behind `--`. Failures that are known, and why,
are listed in TOML files (--expectations); 1 is the exit code where something else fails.
"""

from __future__ import annotations

import argparse
import contextlib
import importlib.util
import os
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

from hlotool.cli.console import INTERRUPTED, complain, report
from hlotool.cli.option_values import processes, seconds, whole_number
from hlotool.cli.report_format import add_format
from hlotool.cli.whole_files import note_read, require_beside, write_beside
from hlotool.diagnostics import HloError
from hlotool.text.folder_files import files_below

#: our option -> that of the plugin, or of pytest; with a value
_VALUES = {
    "suite": ("NAMES", "--suite", "ops, spec, models or all; by default ops and spec, where no path is given"),
    "executor": ("NAME", "--executors", "what runs the cases: numpy, stablehlo, pjrt:PLATFORM, pjrt:PLUGIN.so "
                                        "(default pjrt:cpu)"),
    "op": ("PATTERNS", "--op", "only cases about these operations"),
    "dtype": ("PATTERNS", "--dtype", "only these element types"),
    "cases": ("N", "--cases", "programs for each operation and element type of the suite ops"),
    "seed": ("N", "--seed", "of the programs drawn at random"),
    "run-limit": ("SECONDS", "--case-time-limit", "for one case on one executor (default 60)"),
    "time-limit": ("SECONDS", "--conformance-deadline", "for the whole run: what has not ended by then has no result, "
                                                        "and the exit code is 2"),
    "from": ("FILE", "--from", "an HLO module, optimised or not, whose distinct operations are cases"),
    "against": ("FILE", "--conformance-against", "a JSON report of another run: what is better, worse, new and gone; "
                                                 "exit code 1 where something is worse"),
    "expectations": ("FILE", "--expectations", "a TOML file of failures that are known, and why"),
    "save-json": ("FILE", "--conformance-json", "write a report as JSON"),
    "html": ("FILE", "--conformance-html", "write a report as one page of HTML"),
    "jobs": ("N", "-n", "processes (pytest-xdist); by default whole suites take one for each processor"),
    "junitxml": ("FILE", "--junitxml", "write a report as JUnit's XML"),
}
#: programs for each operation and element type that anybody waits for
_MOST_CASES = 100_000
#: how the values of some are read, which the plugin does again
_READERS = {"cases": whole_number(1, _MOST_CASES), "seed": whole_number(0), "run-limit": seconds, "time-limit": seconds,
            "jobs": processes()}
_LETTERS = {"k": ("EXPRESSION", "-k", "only cases whose names match, as pytest's -k")}
#: names of options that are not the keys above
_NAMES = {"jobs": ("--jobs", "-j"), "executor": ("--executors",)}
_FLAGS = {"run-all": ("--run-all", "also try cases that an expectation says not to run"),
          "collect-only": ("--collect-only", "list the cases, run nothing")}

#: processes for whole suites at most, unless --jobs says how many
_MOST_PROCESSES = 8

_NEEDED = ("pytest", "jinja2", "packaging")


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("paths", nargs="*", metavar="PATH",
                        help="files and folders of cases; behind `--`, anything that pytest takes")
    for name, (metavar, _, what) in _VALUES.items():
        parser.add_argument(*_NAMES.get(name, (f"--{name}",)), action="extend", default=[], metavar=metavar, help=what,
                            dest=name.replace("-", "_"), nargs="+" if name == "executor" else 1,
                            type=_READERS.get(name, str))
    for name, (metavar, _, what) in _LETTERS.items():
        parser.add_argument(f"-{name}", action="append", default=[], metavar=metavar, help=what)
    for name, (_, what) in _FLAGS.items():
        parser.add_argument(f"--{name}", action="store_true", help=what)
    add_format(parser, "hlotool.conformance.report:ConformanceReport", has_json=False,
               what="json: the report on standard output, and what pytest says on standard error")
    parser.add_argument("-x", "--exitfirst", action="store_true", help="stop at the first failure")
    parser.add_argument("-v", "--verbose", action="count", default=0, help="one line for each case")
    parser.add_argument("-q", "--quiet", action="count", default=0, help="less")


def run(args: argparse.Namespace) -> int:
    missing = [name for name in _NEEDED if importlib.util.find_spec(name) is None]
    if missing:
        complain(f"hlotool conform needs {', '.join(missing)}: pip install 'hlotool[conformance]'")
        return 2
    if python := next((p for p in args.paths if p.partition("::")[0].endswith((".py", ".pyc"))), None):
        complain(f"hlotool conform: {python} is Python; cases are HLO, and nothing else that is tested is run")
        return 2
    files = (p.partition("::")[0] for p in args.paths if not p.startswith("-"))
    if missing_file := next((p for p in files if not os.path.exists(p)), None):
        complain(f"hlotool conform: there is no file or folder {missing_file}")
        return 2
    import pytest

    try:
        _require_no_input_is_written(args)
        # pytest: 0 all passed, 1 failures, 2 interrupted or errors while collecting, 3 a bug, 4 usage, 5 no cases
        ending = _Ending()
        code = _reporting(lambda: int(pytest.main(_pytest_arguments(args), [ending])), args)
    except HloError as error:
        return report(error.diagnostics)
    if ending.is_interrupted:
        complain("hlotool conform: interrupted; the report is of the cases that had ended")
        return INTERRUPTED
    if code == 5:
        complain("hlotool conform: no case is chosen")
    return code if code < 2 else 2


class _Ending:
    """A plugin of pytest's that hears of an interrupt, which has the exit code of files that cannot be collected."""

    is_interrupted = False

    def pytest_keyboard_interrupt(self, excinfo: Any) -> None:
        # pytest's own errors, of files that cannot be collected, say, are subclasses.
        self.is_interrupted |= excinfo.type is KeyboardInterrupt


def _require_no_input_is_written(args: argparse.Namespace) -> None:
    """Raises HloError (R120) where a report would take the place of something that is read."""
    for name in (*args.paths, *getattr(args, "from"), *args.against, *args.expectations):
        path = Path(name.partition("::")[0])
        for file in files_below(str(path), lambda name: name.endswith(".hlo")) if path.is_dir() else (path,):
            note_read(file)
    for name in (*args.save_json, *args.html, *args.junitxml):
        require_beside(name)


def _reporting(work: Callable[[], int], args: argparse.Namespace) -> int:
    """The exit code of a run whose reports are written when it has ended, whole or not at all.

    With --format json its report goes to standard output, and its words to standard error.
    """
    with tempfile.TemporaryDirectory() as folder:
        made = {name: Path(folder) / name for name in ("save_json", "html")}
        wanted = {name: getattr(args, name)[-1:] for name in made}
        is_printed = args.format == "json"
        for name, file in made.items():
            setattr(args, name, [str(file)] if wanted[name] or (is_printed and name == "save_json") else [])
        with contextlib.redirect_stdout(sys.stderr) if is_printed else contextlib.nullcontext():
            code = work()
        for name, file in made.items():
            if file.is_file() and wanted[name]:
                write_beside(Path(wanted[name][0]), file.read_bytes())
        if is_printed and made["save_json"].is_file():
            print(made["save_json"].read_text("utf-8"), end="")
    return code


def _pytest_arguments(args: argparse.Namespace) -> list[str]:
    ini = Path(__file__).parents[1] / "conformance" / "pytest.ini"
    given = ["-p", "hlotool.conformance.plugin", "-p", "no:cacheprovider", "-p", "no:doctest", "--noconftest",
             # hlotool's own fixtures are known to pytest, which wishes that it had seen hlotool imported
             "-W", "ignore::pytest.PytestAssertRewriteWarning",
             "-c", str(ini), "--rootdir", str(Path.cwd())]
    options = {**_VALUES, **_LETTERS}
    for name, (_, option, _) in options.items():
        for value in getattr(args, name.replace("-", "_")):
            given += [option, str(value)] if option.startswith("--") is False else [f"{option}={value}"]
    given += [option for name, (option, _) in _FLAGS.items() if getattr(args, name.replace("-", "_"))]
    given += ["-x"] * args.exitfirst + ["-v"] * args.verbose + ["-q"] * args.quiet
    if not args.suite and not getattr(args, "from") and not any(not p.startswith("-") for p in args.paths):
        given.append("--suite=ops,spec")
    if (processes := _processes(args)) > 1:
        given.append(f"-n{processes}")
    return [*given, *args.paths]


def _processes(args: argparse.Namespace) -> int:
    """How many processes share what is to be done, where nobody says: a part of a suite is soon done in one."""
    if any((args.jobs, args.paths, args.op, args.dtype, args.k, getattr(args, "from"), args.collect_only)):
        return 1
    if importlib.util.find_spec("xdist") is None:
        return 1
    from hlotool.conformance import executor_words
    from hlotool.execution import executor_name, executor_named
    from hlotool.process import processors

    if not all(executor_named(executor_name(name)).is_shareable for name in executor_words(args.executor)):
        return 1
    return min(processors(), _MOST_PROCESSES)
