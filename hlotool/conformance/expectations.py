"""Failures that are expected, where, and why: TOML files, one for each executor, and those of users.

    executor = "pjrt:*"                  # of the whole file; a condition like those below

    [[expect]]
    cases = ["ops/outfeed/*"]            # patterns of suite/id, as shells write them; or one of
    op = ["outfeed"]                     #   operations,
    type = ["f8*"]                       #   element types, and
    edge = ["denormal"]                  #   what is special about a case
    status = ["time-out"]                # what it ends with: any but pass
    reason = "nobody takes what the module gives"
    right = "hlotool"                    # who is right: hlotool, executor, both, neither, unspecified
    detail = "no answer"                 # optional: a regular expression for what the executor says
    platform = "cpu"                     # optional conditions: patterns of what `describe_executor` says
    machine = "x86_64"
    jaxlib = ">=0.10,<0.13"              # a version specifier
    sometimes = true                     # some of the cases pass: no unexpected passes
    run = false                          # not even tried: it takes its whole time limit, say

The first entry that fits a failure explains it. A case that passes although an entry expects it to fail is an
unexpected pass.
"""

from __future__ import annotations

import enum
import fnmatch
import importlib.resources
import pathlib
import re
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.conformance.case import ConformanceCase
from hlotool.conformance.outcome import CaseOutcome, Status
from hlotool.diagnostics import HloError, define
from hlotool.execution import executor_name
from hlotool.process import read_plain_text

BAD_EXPECTATIONS = define("T103", "bad-expectations", "A file of expectations does not have the documented form.")

#: who is right where an executor and the expected values disagree
RIGHT = ("hlotool", "executor", "both", "neither", "unspecified")

_LISTS = ("cases", "op", "type", "edge", "status")
_WORDS = ("executor", "platform", "machine", "system", "jaxlib", "detail", "reason", "right")
_FLAGS = ("sometimes", "run")


@dataclass(frozen=True)
class Expectation:
    """One entry."""

    statuses: frozenset[Status]
    reason: str
    right: str = "unspecified"
    cases: tuple[str, ...] = ()
    ops: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    #: patterns of facts about the executor: its name, platform, machine, system
    conditions: tuple[tuple[str, str], ...] = ()
    jaxlib: str = ""
    detail: str = ""
    sometimes: bool = False
    run: bool = True
    #: the file and number of the entry
    source: str = ""

    def covers(self, case: ConformanceCase, facts: Mapping[str, str]) -> bool:
        """Return True if the entry covers a case on an executor with those facts."""
        return (_fits(case.name, self.cases) and _fits(case.opcode, self.ops) and _fits(case.dtype, self.types)
                and _fits(case.edge, self.edges)
                and all(fnmatch.fnmatchcase(facts.get(key, ""), pattern) for key, pattern in self.conditions)
                and _is_version(facts.get("jaxlib", ""), self.jaxlib))

    def explains(self, outcome: CaseOutcome) -> bool:
        """Return True if a failure is of the kind that the entry expects."""
        return outcome.status in self.statuses and re.search(self.detail, outcome.detail) is not None


class CaseVerdict(enum.StrEnum):
    """Meanings of a status in the light of the expectations."""

    PASSED = "passed"
    #: it failed as an entry says that it would
    EXPLAINED = "explained"
    #: it failed, and nothing says why
    UNEXPLAINED = "unexplained"
    #: it passed, and an entry says that it would fail
    UNEXPECTED_PASS = "unexpected pass"
    #: the executor does not have what the case needs, and says so
    UNSUPPORTED = "unsupported"
    #: what it gives may be right or wrong: its operands' last bits decide
    UNDECIDED = "undecided"
    #: it fails now and then: the executor is not the same every time
    FLAKY = "flaky"


def judged(case: ConformanceCase, facts: Mapping[str, str], outcome: CaseOutcome,
           expectations: Iterable[Expectation]) -> tuple[CaseVerdict, Expectation | None]:
    """The verdict, and the entry that it rests on."""
    covering = [e for e in expectations if e.covers(case, facts)]
    if outcome.status is Status.PASS:
        strict = next((e for e in covering if not e.sometimes), None)
        return (CaseVerdict.UNEXPECTED_PASS, strict) if strict else (CaseVerdict.PASSED, None)
    found = expectation_of(case, facts, outcome, covering)
    if found is not None:
        return CaseVerdict.EXPLAINED, found
    own = {Status.UNSUPPORTED: CaseVerdict.UNSUPPORTED, Status.UNDECIDED: CaseVerdict.UNDECIDED,
           Status.FLAKY: CaseVerdict.FLAKY}
    return own.get(outcome.status, CaseVerdict.UNEXPLAINED), None


def expectation_of(case: ConformanceCase, facts: Mapping[str, str], outcome: CaseOutcome,
                   expectations: Iterable[Expectation]) -> Expectation | None:
    """The first entry that explains a failure."""
    return next((e for e in expectations if e.covers(case, facts) and e.explains(outcome)), None)


def not_to_run(case: ConformanceCase, facts: Mapping[str, str], expectations: Iterable[Expectation]
               ) -> Expectation | None:
    """The entry that says that the case is not to be tried."""
    return next((e for e in expectations if not e.run and e.covers(case, facts)), None)


def shipped() -> list[Expectation]:
    """The entries that come with hlotool."""
    folder = importlib.resources.files("hlotool.conformance") / "expectations"
    return [e for entry in sorted(folder.iterdir(), key=lambda f: f.name) if entry.name.endswith(".toml")
            for e in read_expectations(entry.read_text("utf-8"), entry.name)]


def load_expectations(path: pathlib.Path) -> list[Expectation]:
    """The entries of a file. Raises HloError."""
    return read_expectations(read_plain_text(path, BAD_EXPECTATIONS, "the file"), str(path))


def read_expectations(text: str, filename: str) -> list[Expectation]:
    """The entries of a text. Raises HloError."""
    try:
        table = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise _wrong(filename, str(error)) from error
    common = {k: v for k, v in table.items() if k != "expect"}
    entries = table.get("expect", [])
    if not isinstance(entries, list) or not all(isinstance(e, dict) for e in entries):
        raise _wrong(filename, "expect is to be a list of tables: [[expect]]")
    return [_entry({**common, **entry}, f"{filename}, entry {number}", filename)
            for number, entry in enumerate(entries, 1)]


def _entry(given: dict[str, Any], source: str, filename: str) -> Expectation:
    def wrong(message: str) -> HloError:
        return _wrong(filename, f"{source.removeprefix(filename).strip(', ')}: {message}")

    for key, value in given.items():
        if key not in (*_LISTS, *_WORDS, *_FLAGS):
            raise wrong(f"{key} is no key")
        fits = isinstance(value, bool) if key in _FLAGS else isinstance(value, str) or (
            key in _LISTS and isinstance(value, list) and all(isinstance(v, str) for v in value))
        if not fits:
            raise wrong(f"{key} is {value!r}")
    lists = {key: tuple([value] if isinstance(value := given.get(key, []), str) else value) for key in _LISTS}
    unknown = [s for s in lists["status"] if s not in tuple(Status)[1:]]
    if unknown or not lists["status"]:
        raise wrong(f"status is to be some of {', '.join(tuple(Status)[1:])}; found {lists['status']}")
    if not given.get("reason", "").strip():
        raise wrong("there is no reason")
    if given.get("right", "unspecified") not in RIGHT:
        raise wrong(f"right is {given['right']!r}, not one of {', '.join(RIGHT)}")
    if not any(lists[key] for key in ("cases", "op", "type", "edge")):
        raise wrong("none of cases, op, type and edge says what it is about")
    _checked_patterns(given, wrong)
    given = {**given, "executor": _executor(given["executor"])} if "executor" in given else given
    conditions = tuple((k, given[k]) for k in ("executor", "platform", "machine", "system") if k in given)
    return Expectation(
        frozenset(map(Status, lists["status"])), " ".join(given["reason"].split()), given.get("right", "unspecified"),
        lists["cases"], lists["op"], lists["type"], lists["edge"], conditions, given.get("jaxlib", ""),
        given.get("detail", ""), given.get("sometimes", False), given.get("run", True), source)


def _executor(name: str) -> str:
    """The one name of an executor that has several; a pattern as it is."""
    try:
        return executor_name(name)
    except HloError:
        return name


def _checked_patterns(given: Mapping[str, Any], wrong: Any) -> None:
    from packaging.specifiers import InvalidSpecifier, SpecifierSet

    try:
        re.compile(given.get("detail", ""))
        SpecifierSet(given.get("jaxlib", ""))
    except (re.error, InvalidSpecifier) as error:
        raise wrong(f"{error}") from error


def _fits(name: str, patterns: Sequence[str]) -> bool:
    return not patterns or any(fnmatch.fnmatchcase(name, p) for p in patterns)


def _is_version(version: str, specifier: str) -> bool:
    from packaging.specifiers import SpecifierSet

    return not specifier or SpecifierSet(specifier).contains(version, prereleases=True)


def _wrong(filename: str, message: str) -> HloError:
    return HloError.of(BAD_EXPECTATIONS, message, filename=filename)
