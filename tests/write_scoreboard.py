"""Writes the scoreboard, an appendix of the manual, from reports of `hlotool conform --json`:

    python tests/write_scoreboard.py cpu.json interpreter.json plugin.json --called xla_cpu_pjrt.so='xla-cpu-pjrt 0.0.1'

Each executor of each report is a column. What nobody measured is said to be that.
"""

from __future__ import annotations

import argparse
import json
import pathlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

PAGE = pathlib.Path(__file__).parents[1] / "hlotool" / "docs" / "scoreboard.md"
_BOARD = re.compile(r"(<!-- scoreboard -->\n).*?(<!-- end of scoreboard -->)", re.S)
#: what cases of texts that are to be refused are asked of
_NO_EXECUTOR = "verifier"
_VERDICTS = {"passed": "passed", "explained": "failed, explained", "unexplained": "failed, unexplained",
             "undecided": "undecided", "flaky": "flaky", "unsupported": "not supported"}
_STATUSES = ("mismatch", "compile error", "run-time error", "crash", "time-out")
#: columns of which there is no report, and why
_UNMEASURED = {"`pjrt:cuda`": "not measured"}


@dataclass
class Column:
    """An executor, as one report has it."""

    name: str
    facts: dict[str, str]
    verdicts: Counter[str] = field(default_factory=Counter)
    statuses: Counter[str] = field(default_factory=Counter)
    #: operation -> verdicts on what did not pass
    operations: dict[str, Counter[str]] = field(default_factory=dict)

    def add(self, case: dict[str, Any]) -> None:
        self.verdicts[case["verdict"]] += 1
        if case["verdict"] in ("explained", "unexplained", "flaky"):
            self.statuses[case["status"]] += 1
            if case["status"] != "compile error":
                self.operations.setdefault(case["operation"] or "-", Counter())[case["verdict"]] += 1


def columns_of(reports: Sequence[dict[str, Any]], called: dict[str, str]) -> list[Column]:
    """The executors of reports in their order, each once: the first report that has it counts."""
    found: dict[str, Column] = {}
    for report in reports:
        own = {}
        for executor, record in report["executors"].items():
            file = executor.rpartition("/")[2]  # no machine's folders in the manual
            name = called.get(file) or (f"`pjrt:{file}`" if "/" in executor else f"`{executor}`")
            facts = {"run on": report["started"][:10], "hlotool": report["version"],
                     **{k: record[k] for k in ("jaxlib", "numpy", "python") if k in record}}
            if "library_sha256" in record:
                facts["library's SHA-256"] = f"`{record['library_sha256'][:12]}`"
            if name not in found:
                found[name] = own[executor] = Column(name, facts)
        for case in report["cases"]:
            if case["executor"] in own:
                own[case["executor"]].add(case)
    return list(found.values())


def table(rows: Sequence[Sequence[str]]) -> list[str]:
    """A table, numbers to the right."""
    head, *body = [f"| {' | '.join(row)} |" for row in rows]
    return [head, "|---" + "|---:" * (len(rows[0]) - 1) + "|", *body]


def scoreboard(reports: Sequence[dict[str, Any]], called: dict[str, str]) -> str:
    columns = columns_of(reports, called)
    names = [c.name for c in columns]
    missing = list(_UNMEASURED.values())
    rows = [["", *names, *_UNMEASURED]]
    for fact in dict.fromkeys(f for c in columns for f in c.facts):
        rows.append([fact, *(c.facts.get(fact, "") for c in columns), *("" for _ in missing)])
    for verdict, word in _VERDICTS.items():
        rows.append([f"**{word}**", *(str(c.verdicts[verdict]) for c in columns), *missing])
    rows += [[f"of the failed: {status}", *(str(c.statuses[status]) for c in columns), *missing]
             for status in _STATUSES]
    lines = [*table(rows), "", "Failures by operation, but for what an executor refuses to compile:", ""]
    by_operation = [["operation", *names]]
    for operation in sorted({o for c in columns for o in c.operations}):
        by_operation.append([f"`{operation}`", *(_cell(c.operations.get(operation, Counter())) for c in columns)])
    return "\n".join([*lines, *table(by_operation), ""])


def _cell(verdicts: Counter[str]) -> str:
    if not verdicts:
        return ""
    unexplained = verdicts["unexplained"] + verdicts["flaky"]
    return f"{verdicts.total()}" + (f" ({unexplained} unexplained)" if unexplained else "")


def written(page: str, reports: Sequence[dict[str, Any]], called: dict[str, str]) -> str:
    return _BOARD.sub(lambda m: f"{m[1]}{scoreboard(reports, called)}{m[2]}", page)


def main() -> None:
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("reports", nargs="+", type=pathlib.Path, metavar="REPORT")
    arguments.add_argument("--called", action="append", default=[], metavar="FILE=NAME", help="a plugin's name")
    given = arguments.parse_args()
    reports = [json.loads(path.read_text("utf-8")) for path in given.reports]
    called = dict(word.split("=", 1) for word in given.called)
    PAGE.write_text(written(PAGE.read_text("utf-8"), reports, called), "utf-8")


if __name__ == "__main__":
    main()
