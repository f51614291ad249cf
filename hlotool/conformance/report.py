"""Reports of a run: a record for each case and executor, tables, JSON and HTML.

HTML is one page that needs nothing else.
"""

from __future__ import annotations

import importlib.metadata
import json
import math
import pathlib
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import resources
from typing import Annotated, Any, Final, Literal, TypedDict

from hlotool.conformance.case import ConformanceCase
from hlotool.conformance.expectations import CaseVerdict, Expectation
from hlotool.conformance.outcome import CaseOutcome, Status
from hlotool.conformance.samples import written
from hlotool.diagnostics.pages import head, hlo_text, policy, style

#: version of the JSON's form: raised when a key changes its meaning or goes
FORM: Final = 2
_LONGEST_TEXT = 20_000


class WorstRecord(TypedDict):
    """The element with the largest error."""

    result: Annotated[int, "leaf of the result, in order"]
    device: Annotated[int, "device, replica-major"]
    index: Annotated[list[int], "place of the element"]
    value: Annotated[str, "what the executor gave"]
    expected: str
    exact: Annotated[str, "the value at higher precision; empty where nobody had to ask"]
    ulps: Annotated[float | None, "distance in units in the last place; null: infinite, such as from NaN"]
    outside: Annotated[int, "elements that are wrong or undecided"]
    size: Annotated[int, "elements in all"]


class CaseRecord(TypedDict):
    """A case on an executor."""

    suite: Annotated[str, "ops, spec, models, or the folder of a user's file"]
    case: Annotated[str, "the name of the case, unique in the suite"]
    operation: Annotated[str, "the opcode that the case is about; empty for whole modules"]
    element_type: Annotated[str, "HLO's name of the element type; empty where the text has none"]
    edge: Annotated[str, "what is special about the case"]
    source: Annotated[str, "file and line, or how the case was made"]
    executor: Annotated[str, "what ran it; `verifier` for texts that are to be refused"]
    status: Status
    verdict: Annotated[CaseVerdict, "what the status means in the light of the expectations"]
    detail: Annotated[str, "what the executor or the comparison says; empty for a pass"]
    seconds: Annotated[float, "wall time"]
    agreement: Annotated[str, "the kind of the worst element, as hlotool compare names them; empty where nothing was "
                              "compared"]
    worst: Annotated[WorstRecord | None, "the element with the largest error; null where nothing was compared"]
    reason: Annotated[str, "the reason that an expectation gives"]
    right: Annotated[str, "who is right, as the expectation says: hlotool, executor, both, neither, unspecified"]
    expectation: Annotated[str, "file and number of the expectation"]
    text: Annotated[str, "the case in the form of a file, to be run again; empty for a pass"]


class TotalsRecord(TypedDict):
    """Cases by what became of them."""

    collected: Annotated[int, "cases times executors that were chosen"]
    finished: Annotated[int, "those that have a record"]
    statuses: dict[Status, int]
    verdicts: dict[CaseVerdict, int]


class MissingRecord(TypedDict):
    """A case that was chosen and has no record: the run was stopped, or the process that ran the cases ended."""

    id: Annotated[str, "test id"]
    reason: Annotated[str, "what pytest says"]


class ConformanceReport(TypedDict):
    """The report of `hlotool conform`: what was chosen, on what it ran, and a record for each case and executor."""

    form: Literal[2]
    tool: Literal["hlotool"]
    version: Annotated[str, "of hlotool"]
    started: Annotated[str, "date and time"]
    seconds: Annotated[float, "wall time of the run"]
    executors: Annotated[dict[str, dict[str, str]],
                         "executor: its platform, device and the versions of its libraries"]
    totals: TotalsRecord
    missing: list[MissingRecord]
    cases: list[CaseRecord]


def record_of(case: ConformanceCase, executor: str, outcome: CaseOutcome, verdict: CaseVerdict,
              entry: Expectation | None) -> CaseRecord:
    """The record of an outcome; the text of what did not pass goes with it."""
    worst = outcome.worst
    return {
        "suite": case.suite, "case": case.id, "operation": case.opcode, "element_type": case.dtype, "edge": case.edge,
        "source": case.source, "executor": executor, "status": outcome.status, "verdict": verdict,
        "detail": outcome.detail, "seconds": outcome.seconds, "agreement": outcome.agreement,
        "worst": None if worst is None else {
            "result": worst.result, "device": worst.device, "index": list(worst.index), "value": worst.value,
            "expected": worst.expected, "exact": worst.exact, "ulps": worst.ulps if math.isfinite(worst.ulps) else None,
            "outside": worst.outside, "size": worst.size},
        "reason": entry.reason if entry else "", "right": entry.right if entry else "",
        "expectation": entry.source if entry else "",
        "text": "" if outcome.status is Status.PASS else written(case)[:_LONGEST_TEXT]}


@dataclass
class Run:
    """Everything that one run found."""

    started: float = 0.0
    seconds: float = 0.0
    #: executor -> what it is
    executors: dict[str, dict[str, str]] = field(default_factory=dict)
    #: test ids of the chosen cases
    collected: set[str] = field(default_factory=set)
    #: test id -> record
    records: dict[str, CaseRecord] = field(default_factory=dict)
    #: test id -> what pytest says of an item that has no record
    broken: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> list[str]:
        """Cases without a result: the run was stopped before them, or they broke the process that ran them."""
        return sorted(self.collected - self.records.keys())

    def counts(self) -> dict[tuple[str, str], Counter[str]]:
        """How many of each suite and executor ended how: by status, and failures by whether they are explained."""
        found: dict[tuple[str, str], Counter[str]] = {}
        for record in self.records.values():
            row = found.setdefault((record["suite"], record["executor"]), Counter())
            row["cases"] += 1
            row[record["status"]] += 1
            if record["verdict"] in (CaseVerdict.EXPLAINED, CaseVerdict.UNEXPLAINED):
                row[record["verdict"]] += 1
        return dict(sorted(found.items()))

    def summary(self) -> str:
        """The table of suites and executors, and what to look at."""
        columns = ["cases", *Status, CaseVerdict.EXPLAINED, CaseVerdict.UNEXPLAINED]
        counts = self.counts()
        shown = [c for c in columns if c in ("cases", "pass", "explained", "unexplained")
                 or any(row[c] for row in counts.values())]
        rows = [["suite", "executor", *shown],
                *([suite, executor, *(str(row[c]) for c in shown)] for (suite, executor), row in counts.items())]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["  ".join(cell.ljust(w) if n < 2 else cell.rjust(w)
                           for n, (cell, w) in enumerate(zip(row, widths, strict=True))).rstrip() for row in rows]
        return "\n".join([*lines, *self._remarks()])

    def _remarks(self) -> Iterator[str]:
        passes = Counter((r["expectation"], r["reason"]) for r in self.records.values()
                         if r["verdict"] == CaseVerdict.UNEXPECTED_PASS)
        for (source, reason), count in passes.items():
            yield f"{count} unexpected {'pass' if count == 1 else 'passes'}: {source}: {reason}"
        if self.missing:
            yield f"{len(self.missing)} of {len(self.collected)} cases have no result, {self.missing[0]} is the first"
        else:
            yield f"{len(self.records)} of {len(self.collected)} cases have a result"

    def as_json(self) -> ConformanceReport:
        """Return the report as JSON holds it."""
        from datetime import UTC, datetime

        verdicts = Counter(r["verdict"] for r in self.records.values())
        statuses = Counter(r["status"] for r in self.records.values())
        return {
            "form": FORM, "tool": "hlotool", "version": importlib.metadata.version("hlotool"),
            "started": datetime.fromtimestamp(self.started, UTC).isoformat(timespec="seconds"),
            "seconds": round(self.seconds, 3), "executors": self.executors,
            "totals": {"collected": len(self.collected), "finished": len(self.records),
                       "statuses": {s: statuses[s] for s in Status},
                       "verdicts": {v: verdicts[v] for v in CaseVerdict}},
            "missing": [{"id": name, "reason": self.broken.get(name, "")} for name in self.missing],
            "cases": [self.records[name] for name in sorted(self.records)]}


def write_json(run: Run, path: pathlib.Path) -> None:
    """The report as JSON."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run.as_json(), indent=1, ensure_ascii=False) + "\n", "utf-8", "backslashreplace")


def write_html(run: Run, path: pathlib.Path) -> None:
    """The report as a page."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(page(run.as_json()), "utf-8", "backslashreplace")


def page(report: ConformanceReport) -> str:
    """The page of a report, such as one read from JSON."""
    import jinja2
    from markupsafe import Markup

    template = resources.files("hlotool.conformance").joinpath("report.html").read_text("utf-8")
    environment = jinja2.Environment(autoescape=True, trim_blocks=True, lstrip_blocks=True,
                                     undefined=jinja2.StrictUndefined)
    return environment.from_string(template).render(
        report=report, tables=list(_tables(report["cases"])), failures=_failures(report["cases"]),
        heading=_heading(report), head=Markup(head()), style=Markup(style()), hlo_text=Markup(hlo_text()),
        csp=Markup(policy(template.replace("{{ style }}", style()).replace("{{ hlo_text }}", hlo_text()))))


def _heading(report: ConformanceReport) -> str:
    """The verdict in a sentence."""
    totals, counts = report["totals"], report["totals"]["verdicts"]
    if not totals["collected"]:
        return "There are no cases"
    if unexplained := counts.get(CaseVerdict.UNEXPLAINED, 0):
        return f"{unexplained} of {totals['finished']} cases fail without an expectation"
    said = [(totals["collected"] - totals["finished"], "without a result"),
            (counts.get(CaseVerdict.FLAKY, 0), "that pass now and then"),
            (counts.get(CaseVerdict.UNEXPECTED_PASS, 0), "that pass though they should fail"),
            (counts.get(CaseVerdict.UNDECIDED, 0), "undecided")]
    if told := [f"{count} {what}" for count, what in said if count > 0]:
        return f"{totals['collected']} cases: {', '.join(told)}"
    return f"{totals['finished']} cases: nothing fails that was not expected to"


def _failures(records: Iterable[CaseRecord]) -> list[CaseRecord]:
    """Return the records that did not pass, unexplained ones first."""
    order = {v: n for n, v in enumerate(
        (CaseVerdict.UNEXPLAINED, CaseVerdict.UNEXPECTED_PASS, CaseVerdict.FLAKY, CaseVerdict.EXPLAINED,
         CaseVerdict.UNDECIDED, CaseVerdict.UNSUPPORTED))}
    return sorted((r for r in records if r["verdict"] != CaseVerdict.PASSED),
                  key=lambda r: (order[CaseVerdict(r["verdict"])], r["executor"], r["suite"], r["case"]))


def _tables(records: list[CaseRecord]) -> Iterator[dict[str, Any]]:
    """For each executor, operations by element types: how many cases passed of how many, and the worst verdict."""
    from hlotool.ir import DTYPES

    for executor in sorted({r["executor"] for r in records}):
        mine = [r for r in records if r["executor"] == executor]
        used = {r["element_type"] for r in mine}
        types = [t for t in (*DTYPES, "") if t in used]
        rows: dict[str, dict[str, list[CaseRecord]]] = {}
        for record in mine:
            rows.setdefault(record["operation"], {}).setdefault(record["element_type"], []).append(record)
        yield {"executor": executor, "types": types,
               "rows": [(op, [_cell(op, t, executor, cells.get(t, [])) for t in types])
                        for op, cells in sorted(rows.items())]}


def _cell(operation: str, element_type: str, executor: str, records: list[CaseRecord]) -> dict[str, Any]:
    verdicts = Counter(r["verdict"] for r in records)
    worst = next((v for v in (CaseVerdict.UNEXPLAINED, CaseVerdict.UNEXPECTED_PASS, CaseVerdict.FLAKY,
                              CaseVerdict.EXPLAINED, CaseVerdict.UNDECIDED, CaseVerdict.UNSUPPORTED, CaseVerdict.PASSED)
                  if verdicts[v]), None)
    statuses = Counter(r["status"] for r in records)
    return {"key": f"{executor} {operation} {element_type}", "cases": len(records),
            "passed": statuses[Status.PASS], "verdict": str(worst or "").replace(" ", "-"),
            "title": ", ".join(f"{n} {s}" for s, n in statuses.items())}
