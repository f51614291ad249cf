"""The pytest plugin: cases are items, and selection, parallel runs and JUnit are pytest's own.

    pytest -p hlotool.conformance.plugin --suite spec --executors pjrt:cpu -n 4
    pytest -p hlotool.conformance.plugin my/cases --executors reference --junitxml=out.xml

`hlo-conformance` is this command with shorter options. A case's status, its verdict and its numbers are on the test
report (`report.conformance`), and in JUnit as properties.
"""

from __future__ import annotations

import pathlib
import re
import time
from collections.abc import Generator, Iterable, Iterator, Mapping
from typing import Any

import pytest

from hlotool.conformance.case import ConformanceCase
from hlotool.conformance.changes import Changes, changes, read_report
from hlotool.conformance.expectations import (
    CaseVerdict,
    Expectation,
    judged,
    load_expectations,
    not_to_run,
    shipped,
)
from hlotool.conformance.judge import (
    REFERENCE,
    TIME_LIMIT,
    VERIFIER,
    asked_again,
    executors_of,
    judge_all,
)
from hlotool.conformance.model_cuts import cut_model
from hlotool.conformance.outcome import CaseOutcome, Status
from hlotool.conformance.report import CaseRecord, Run, record_of, write_html, write_json
from hlotool.conformance.samples import read_cases
from hlotool.conformance.selection import Selection, executor_words, option_words
from hlotool.conformance.suites import DESCRIPTION, checked_names, descriptions, suite_cases
from hlotool.diagnostics import HloError, visible, visible_lines, without_commands
from hlotool.diagnostics.records import plain
from hlotool.execution import describe_executor, executor_name, executor_named, executor_names
from hlotool.ops import OPS
from hlotool.process import close_children, ends_at, note_progress, seconds_in
from hlotool.text.folder_files import leads_out

#: how failures show in the row of dots
_LETTERS = {Status.MISMATCH: "M", Status.COMPILE_ERROR: "C", Status.RUN_ERROR: "R", Status.CRASH: "X",
            Status.TIME_OUT: "T", Status.UNSUPPORTED: "U", Status.UNDECIDED: "?", Status.FLAKY: "F", Status.PASS: "."}
#: cases that are asked together at most
_MOST_TOGETHER = 64
#: the end of a case's name, behind the opcode or file that it is about: neighbours up to there are asked together
_REST = re.compile(r"/.*(?=\[[^\[]*\]$)", re.S)
_RUN = pytest.StashKey["_Session"]()
_ENDS = "conformance_ends"
#: why a case has no result
OUT_OF_TIME = "the time for the run was over"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options; those with values in lists take commas or are given several times."""
    group = parser.getgroup("conformance", "conformance of HLO implementations")
    group.addoption("--suite", action="append", default=[], metavar="NAMES",
                    help=f"suites to run: {', '.join(descriptions())}, or all")
    group.addoption("--executors", "--executor", dest="executors", action="append", default=[], metavar="NAMES",
                    help="what runs the cases: " + ", ".join(executor_names()) + " (default pjrt:cpu)")
    group.addoption("--op", action="append", default=[], metavar="PATTERNS", help="only cases about these operations")
    group.addoption("--dtype", action="append", default=[], metavar="PATTERNS", help="only these element types")
    group.addoption("--cases", type=int, default=Selection.count, metavar="N",
                    help="programs for each operation and element type of the suite ops (default: every edge for "
                         "pred, s32, u8, f32, bf16 and c64, two programs for the other types)")
    group.addoption("--seed", type=int, default=0, help="of the random programs")
    group.addoption("--case-time-limit", type=seconds_in, default=TIME_LIMIT, metavar="SECONDS",
                    help="for one case on one executor (default %(default)g)")
    group.addoption("--conformance-deadline", type=seconds_in, metavar="SECONDS",
                    help="for the whole run: what has not ended by then has no result, and the exit code is 2")
    group.addoption("--expectations", action="append", default=[], metavar="FILE",
                    help="a TOML file of expected failures; it is heard before those that come with hlotool")
    group.addoption("--from", action="append", default=[], metavar="FILE", dest="from_models",
                    help="an HLO module, optimised or not, whose distinct operations are cases")
    group.addoption("--conformance-against", metavar="FILE",
                    help="a JSON report of another run: say what became better, worse, new and gone")
    group.addoption("--run-all", action="store_true", help="also try cases that an expectation says not to run")
    group.addoption("--conformance-json", metavar="FILE", help="write a report as JSON")
    group.addoption("--conformance-html", metavar="FILE", help="write a report as one page of HTML")


def pytest_configure(config: pytest.Config) -> None:
    """Read what is chosen; the suites stand among pytest's paths as the file that describes them."""
    try:
        session = _Session(config)
    except HloError as error:
        said = visible("; ".join(f"{d.filename}: {d.message} [{d.code}]".removeprefix(": ") for d in error.diagnostics))
        raise pytest.UsageError(said) from error
    config.stash[_RUN] = session
    config.pluginmanager.register(session, "hlotool-conformance-session")
    if (session.selection.suites or session.models) and str(DESCRIPTION) not in config.args:
        given = config.args if config.args_source is pytest.Config.ArgsSource.ARGS else []
        config.args[:] = [*given, str(DESCRIPTION)]


@pytest.hookimpl(tryfirst=True)
def pytest_collect_directory(path: pathlib.Path, parent: pytest.Collector) -> pytest.Collector:
    """A folder of cases is never a package: what pytest takes for one it imports."""
    return _shown(pytest.Dir.from_parent(parent, path=path))


@pytest.hookimpl(tryfirst=True)
def pytest_ignore_collect(collection_path: pathlib.Path, config: pytest.Config) -> bool | None:
    """Nothing but cases is collected: other plugins would run what stands in other files; no link out of a folder."""
    given = (config.invocation_params.dir / name.partition("::")[0] for name in config.args)
    above = [folder for folder in given if folder in collection_path.parents]
    if collection_path.is_symlink() and above and all(leads_out(str(collection_path), str(f)) for f in above):
        return True
    is_ours = collection_path.is_dir() or collection_path.suffix == ".hlo" or collection_path == DESCRIPTION
    return None if is_ours else True


@pytest.hookimpl(tryfirst=True)
def pytest_collect_file(file_path: pathlib.Path, parent: pytest.Collector) -> pytest.Collector | None:
    """`.hlo` files, and the suites."""
    if file_path == DESCRIPTION:
        # Directly below the session: the folders above it are packages, and pytest would import those.
        return _Suites.from_parent(parent.session, path=file_path, nodeid="suites")
    if file_path.suffix == ".hlo":
        return _shown(_File.from_parent(parent, path=file_path))
    return None


#: parts of paths that hold what terminals and CI logs act on; pytest prints paths as they are
_UNSEEN_PARTS: set[str] = set()


def _shown(collector: pytest.Collector) -> pytest.Collector:
    """Note the parts of a collector's path that must not be printed as they are."""
    _UNSEEN_PARTS.update(part for part in collector.path.parts if visible(part) != part)
    return collector


@pytest.hookimpl(trylast=True)
def pytest_sessionstart(session: pytest.Session) -> None:
    """Let what pytest's terminal reporter writes be seen, whatever the names of files hold."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    if reporter is None:
        return
    terminal = reporter._tw
    write = terminal.write

    def seen(text: str, **how: Any) -> None:
        for part in _UNSEEN_PARTS:
            text = text.replace(part, visible(part))
        write(without_commands(visible_lines(text, color=True)), **how)

    terminal.write = seen


#: questions of their own time limit that the cases of one file may ask between two reports
_CASES_AT_ONCE = 20


class _Suites(pytest.File):
    """All chosen suites."""

    def collect(self) -> Iterator[pytest.Collector]:
        session = self.config.stash[_RUN]
        for name in session.selection.suites:
            yield _Suite.from_parent(self, name=name, nodeid=name)
        for path in session.models:
            yield _Model.from_parent(self, name=str(path), nodeid=visible(f"from {path}"))


class _Suite(pytest.Collector):
    """One suite."""

    def collect(self) -> Iterator[pytest.Item]:
        yield from _items(self, suite_cases(self.name, self.config.stash[_RUN].selection))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return _said(excinfo) or super().repr_failure(excinfo)


class _Model(pytest.Collector):
    """The distinct operations of a model."""

    def collect(self) -> Iterator[pytest.Item]:
        session = self.config.stash[_RUN]
        found = cut_model(pathlib.Path(self.name))
        if found.left_out:
            said = ", ".join(f"{count} {opcode}" for opcode, count in sorted(found.left_out.items()))
            session.remarks[self.name] = f"{self.name}: no case by themselves are {said}"
        yield from _items(self, (c for c in found.cases if session.selection.takes(c)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return _said(excinfo) or super().repr_failure(excinfo)


class _File(pytest.File):
    """A file of cases, or of a whole module."""

    def collect(self) -> Iterator[pytest.Item]:
        selection = self.config.stash[_RUN].selection
        yield from _items(self, (c for c in read_cases(self.path, visible(self.path.parent.name), tuple(OPS))
                                 if selection.takes(c)))

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        return _said(excinfo) or super().repr_failure(excinfo)


def _said(excinfo: pytest.ExceptionInfo[BaseException]) -> str | None:
    return str(excinfo.value) if isinstance(excinfo.value, HloError) else None


def _items(parent: pytest.Collector, cases: Iterable[ConformanceCase]) -> Iterator[pytest.Item]:
    session = parent.config.stash[_RUN]
    chosen = session.selection.executors
    for case in cases:
        if session.is_over:
            session.remarks[parent.name] = f"{parent.name}: not all of its cases were read: {OUT_OF_TIME}"
            return
        for executor in executors_of(case, chosen):
            yield CaseItem.from_parent(parent, name=visible(f"{case.id}[{executor}]"), case=case, executor=executor)


class CaseFailure(Exception):
    """A failure that nothing explains."""


class CaseItem(pytest.Item):
    """A case on an executor."""

    def __init__(self, *, case: ConformanceCase, executor: str, **keywords: Any) -> None:
        super().__init__(**keywords)
        self.case = case
        self.executor = executor
        self.record: CaseRecord | None = None
        self.extra_keyword_matches.update(filter(None, (case.suite, case.opcode, case.dtype, case.edge, executor)))

    def runtest(self) -> None:
        session = self.config.stash[_RUN]
        with ends_at(session.ends):
            found = self._found(session)
        if found is None:
            if not session.has_outcomes:
                self.session.shouldstop = OUT_OF_TIME
            raise pytest.skip.Exception(OUT_OF_TIME, _use_item_location=True)
        outcome, verdict, entry = found
        # Workers send plain words to the process that reports.
        self.record = plain(record_of(self.case, self.executor, outcome, verdict, entry))
        self.user_properties += [(k, v) for k in ("status", "verdict", "operation", "element_type", "edge", "seconds")
                                 if (v := self.record[k])]
        self._raise(outcome, verdict, entry)

    def _found(self, session: _Session) -> tuple[CaseOutcome, CaseVerdict, Expectation | None] | None:
        """Return the outcome of the case and its meaning; None where time was over before that was settled."""
        if session.is_over and not session.has_outcomes:
            return None
        facts = session.facts(self.executor)
        entry = None if session.runs_all else not_to_run(self.case, facts, session.expectations)
        if entry is not None:
            return CaseOutcome(min(entry.statuses), "not run"), CaseVerdict.EXPLAINED, entry
        outcome = session.outcome_of(self)
        verdict, entry = judged(self.case, facts, outcome, session.expectations)
        if verdict is CaseVerdict.UNEXPLAINED:
            outcome = session.asked_again(self.case, self.executor, outcome)
            verdict, entry = judged(self.case, facts, outcome, session.expectations)
        # What a question without an answer leaves looks like a failure.
        return None if session.is_over and outcome.status is not Status.PASS else (outcome, verdict, entry)

    def _raise(self, outcome: CaseOutcome, verdict: CaseVerdict, entry: Expectation | None) -> None:
        if verdict in (CaseVerdict.UNSUPPORTED, CaseVerdict.UNDECIDED):
            raise pytest.skip.Exception(f"{outcome.status}: {outcome.detail}", _use_item_location=True)
        if verdict is CaseVerdict.FLAKY:
            pytest.xfail(f"{outcome.status}: {outcome.detail}")
        if verdict is CaseVerdict.EXPLAINED and entry is not None:
            pytest.xfail(f"{outcome.status}: {entry.reason}")
        if verdict is CaseVerdict.UNEXPLAINED:
            raise CaseFailure(outcome.detail)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        if isinstance(excinfo.value, pytest.xfail.Exception):
            return str(excinfo.value)  # a traceback would show this file's lines, and cost more than most cases do
        if not isinstance(excinfo.value, CaseFailure) or self.record is None:
            return super().repr_failure(excinfo, style)
        return (f"{self.case.name} on {self.executor}: {self.record['status']}\n  {self.record['detail']}\n"
                f"  from {self.case.source or 'the registry'}\n\n{self.record['text']}")

    def reportinfo(self) -> tuple[pathlib.Path, int | None, str]:
        path, _, line = self.case.source.rpartition(":")
        place = (pathlib.Path(path), int(line) - 1) if line.isdigit() else (self.path, 0)
        return *place, f"{self.case.suite}/{self.name}"


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Generator[None, Any, Any]:
    """The record goes with the report, also from the workers of xdist to the process that reports."""
    report = yield
    if isinstance(item, CaseItem) and call.when == "call":
        report.conformance = item.record
        if item.record is not None and item.record["verdict"] == CaseVerdict.UNEXPECTED_PASS:
            report.wasxfail = str(item.record["reason"])
    return report


def pytest_report_teststatus(report: pytest.TestReport) -> tuple[str, str, str] | None:
    """A letter and a word for each status."""
    record = getattr(report, "conformance", None)
    if record is None or report.when != "call":
        return None
    status, verdict = Status(record["status"]), CaseVerdict(record["verdict"])
    category = {CaseVerdict.PASSED: "passed", CaseVerdict.UNEXPLAINED: "failed"}.get(verdict, str(verdict))
    letter = {CaseVerdict.PASSED: ".", CaseVerdict.UNEXPLAINED: _LETTERS[status], CaseVerdict.UNEXPECTED_PASS: "p"}
    word = str(status if verdict is CaseVerdict.UNEXPLAINED else verdict).upper()
    return category, letter.get(verdict, verdict[0]), word


class _Session:
    """One run: what is chosen, what is expected, and what was found so far."""

    def __init__(self, config: pytest.Config) -> None:
        option = config.getoption
        self.config = config
        self.selection = Selection(
            checked_names(option_words(option("suite"))),
            tuple(dict.fromkeys(map(executor_name, executor_words(option("executors")) or ("pjrt:cpu",)))),
            option_words(option("op")), option_words(option("dtype")), max(0, option("cases")), option("seed"),
            option("case_time_limit"))
        self.expectations = [e for name in option("expectations") for e in load_expectations(pathlib.Path(name))]
        self.expectations += shipped()
        self.runs_all = bool(option("run_all"))
        self.models = [pathlib.Path(name) for name in option("from_models")]
        #: when time is over for all cases, of time.monotonic(), a clock of the machine; workers of xdist are told
        self.ends: float | None = getattr(config, "workerinput", {}).get(_ENDS)
        if (seconds := option("conformance_deadline")) and self.ends is None:
            self.ends = time.monotonic() + seconds
        #: what else the summary says, by what it is about
        self.remarks: dict[str, str] = {}
        against = option("conformance_against")
        self.against = read_report(pathlib.Path(against)) if against else None
        self.changes: Changes | None = None
        #: not in the workers of xdist
        self.reports = not hasattr(config, "workerinput")
        self.run = Run(started=time.time())
        self._facts: dict[str, Mapping[str, str]] = {}
        #: neighbours -> those of them that are chosen, and outcomes that nobody has taken yet
        self._groups: dict[str, list[CaseItem]] = {}
        self._outcomes: dict[str, CaseOutcome] = {}
        #: text and executor of programs that were late, and late again
        self._late: set[tuple[str, str]] = set()

    @property
    def is_over(self) -> bool:
        """Return True if the time for all cases is over."""
        return self.ends is not None and time.monotonic() >= self.ends

    @property
    def has_outcomes(self) -> bool:
        """Return True if there are outcomes of cases whose turn has not come."""
        return bool(self._outcomes)

    def outcome_of(self, item: CaseItem) -> CaseOutcome:
        """Return the outcome of a case; its neighbours are asked with it."""
        if item.nodeid not in self._outcomes:
            members = self._groups.get(_group(item.nodeid), [])
            at = members.index(item) if item in members else -1
            chosen = [m for m in members[at:at + _MOST_TOGETHER] if not self._is_left_out(m)] if at >= 0 else [item]
            found = judge_all([m.case for m in chosen], item.executor, self.selection.time_limit,
                              lambda case: self._may_end_its_process(case, item.executor))
            self._outcomes.update((m.nodeid, o) for m, o in zip(chosen, found, strict=True))
        return self._outcomes.pop(item.nodeid)

    def asked_again(self, case: ConformanceCase, executor: str, first: CaseOutcome) -> CaseOutcome:
        """The outcome of a failed case, asked again; a program that was late twice is not asked for other arguments."""
        if first.status is Status.TIME_OUT and (case.text, executor) in self._late:
            return first
        found = asked_again(case, executor, first, self.selection.time_limit)
        if found.status is Status.TIME_OUT:
            self._late.add((case.text, executor))
        return found

    def _is_left_out(self, item: CaseItem) -> bool:
        return not self.runs_all and not_to_run(item.case, self.facts(item.executor), self.expectations) is not None

    def _may_end_its_process(self, case: ConformanceCase, executor: str) -> bool:
        facts = self.facts(executor)
        return any(e.covers(case, facts) and e.statuses & {Status.CRASH, Status.TIME_OUT} for e in self.expectations)

    def describe_executors(self) -> None:
        """Ask what stands behind the executors, before any case runs. Raises UsageError for one that is not there."""
        if not self.reports or self.config.getoption("collectonly", False):
            return
        try:
            for executor in self.selection.executors:
                executor_named(executor).require_computing()
                self.facts(executor)
        except HloError as error:
            raise pytest.UsageError("; ".join(d.message for d in error.diagnostics)) from error

    def facts(self, executor: str) -> Mapping[str, str]:
        """Return the facts about an executor. Raises HloError for one that is not there."""
        if executor not in self._facts:
            asked = REFERENCE if executor == VERIFIER else executor
            self._facts[executor] = {**describe_executor(asked), "executor": executor}
            self.run.executors[executor] = dict(self._facts[executor])
        return self._facts[executor]

    def pytest_collection_finish(self, session: pytest.Session) -> None:
        cases = [item for item in session.items if isinstance(item, CaseItem)]
        self.run.collected.update(item.nodeid for item in cases)
        for item in cases:
            self._groups.setdefault(_group(item.nodeid), []).append(item)
        if self.run.collected:
            self.describe_executors()

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_make_scheduler(self, config: pytest.Config, log: Any) -> Any:
        """Neighbours go to one worker, which asks them together."""
        from xdist.scheduler import LoadScopeScheduling

        class Neighbours(LoadScopeScheduling):  # type: ignore[misc]
            def _split_scope(self, nodeid: str) -> str:
                return _group(nodeid)

        return Neighbours(config, log) if config.getoption("dist") in ("no", "load") else None

    @pytest.hookimpl(optionalhook=True)
    def pytest_configure_node(self, node: Any) -> None:
        """Tell a worker of xdist when it ends."""
        node.workerinput[_ENDS] = self.ends

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_setupnodes(self) -> None:
        self.describe_executors()
        self._note_progress()
        close_children()  # the workers have their own, and a GPU's memory is taken whole

    @pytest.hookimpl(optionalhook=True)
    def pytest_xdist_node_collection_finished(self, node: Any, ids: list[str]) -> None:
        self.run.collected.update(ids)

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        self._note_progress()
        if not self.reports:
            return
        record = getattr(report, "conformance", None)
        if record is not None:
            self.run.records[report.nodeid] = record
        elif report.failed and report.nodeid in self.run.collected:
            self.run.broken[report.nodeid] = str(report.longrepr)

    def _note_progress(self) -> None:
        """Tell who watches this process that xdist's processes go on, whose cases have limits of their own."""
        note_progress(seconds=_CASES_AT_ONCE * self.selection.time_limit)

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        close_children()
        if not self.reports:
            return
        self.run.seconds = time.time() - self.run.started
        if self.is_over and (self.run.missing or not self.run.collected):
            self.run.broken = {**dict.fromkeys(self.run.missing, OUT_OF_TIME), **self.run.broken}
            seconds = self.config.option.conformance_deadline
            self.remarks[""] = f"{OUT_OF_TIME}: {seconds:g} s were given"
            session.exitstatus = pytest.ExitCode.INTERRUPTED
        if self.against is not None and self.run.records:
            self.changes = changes(self.against, self.run.records.values())
            if self.changes.worse and session.exitstatus == pytest.ExitCode.OK:
                session.exitstatus = pytest.ExitCode.TESTS_FAILED
        for option, write in (("conformance_json", write_json), ("conformance_html", write_html)):
            if name := self.config.getoption(option):
                write(self.run, pathlib.Path(name))

    def pytest_terminal_summary(self, terminalreporter: Any, exitstatus: int) -> None:
        is_usage = exitstatus == pytest.ExitCode.USAGE_ERROR
        if (self.run.collected or self.remarks) and not is_usage and not self.config.getoption("collectonly", False):
            terminalreporter.section("conformance")
            terminalreporter.write_line("\n".join([self.run.summary(), *self.remarks.values()]))
            if self.changes is not None:
                terminalreporter.section(f"against {self.config.getoption('conformance_against')}")
                terminalreporter.write_line(str(self.changes))


def _group(nodeid: str) -> str:
    """`ops::add[pjrt:cpu]` of `ops::add/f32/0-random[pjrt:cpu]`."""
    return _REST.sub("", nodeid)
