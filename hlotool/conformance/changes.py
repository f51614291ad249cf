"""Two runs compared: which cases are better, worse, otherwise, new and gone.

A pass is better than what is undecided or unsupported, and that is better than a failure. Another kind of failure is
neither: the case fails otherwise.
"""

from __future__ import annotations

import json
import pathlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.conformance.outcome import Status
from hlotool.diagnostics import HloError, define, reason_of
from hlotool.process import read_plain

NO_REPORT = define("T106", "no-conformance-report", "A file that is to be compared with is no JSON report of a run of "
                                                    "hlotool conform.")

Record: TypeAlias = Mapping[str, Any]
_RANK = {Status.PASS: 0, Status.UNDECIDED: 1, Status.UNSUPPORTED: 1}
#: what says which case a record is of, and what became of it
_KEY = ("suite", "case", "executor", "status")
_STATUSES = frozenset(map(str, Status))
#: cases of each list that are shown
_SHOWN = 20


@dataclass
class Changes:
    """The cases of two runs that did not end the same, each a line: name, executor, what it was and is."""

    better: list[str] = field(default_factory=list)
    worse: list[str] = field(default_factory=list)
    otherwise: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    gone: list[str] = field(default_factory=list)

    def __str__(self) -> str:
        lines = []
        for name, found in vars(self).items():
            lines.append(f"{name}: {len(found)}")
            lines += [f"  {line}" for line in found[:_SHOWN]]
            lines += [f"  ... and {len(found) - _SHOWN} more"] * (len(found) > _SHOWN)
        return "\n".join(lines)


def changes(old: Iterable[Record], new: Iterable[Record]) -> Changes:
    """Changes of each case between two runs, by suite, name and executor."""
    before, after = ({(r["suite"], r["case"], r["executor"]): r for r in records} for records in (old, new))
    found = Changes()
    for key in sorted(before.keys() | after.keys()):
        name = f"{key[0]}/{key[1]} on {key[2]}"
        if key not in before:
            found.new.append(f"{name}: {after[key]['status']}")
        elif key not in after:
            found.gone.append(f"{name}: {before[key]['status']}")
        elif before[key]["status"] != after[key]["status"]:
            was, now = Status(before[key]["status"]), Status(after[key]["status"])
            step = _RANK.get(now, 2) - _RANK.get(was, 2)
            kind = found.worse if step > 0 else found.better if step < 0 else found.otherwise
            detail = f" ({after[key]['detail'][:160]})" if after[key].get("detail") else ""
            kind.append(f"{name}: {was}, now {now}{detail}")
    return found


def read_report(path: pathlib.Path) -> list[Record]:
    """The records of a report that `--json` wrote. Raises HloError."""
    try:
        report = json.loads(read_plain(path, NO_REPORT, "the report"))
    except (ValueError, RecursionError) as error:
        raise _no_report(path, reason_of(error)) from error
    cases = report.get("cases") if isinstance(report, dict) else None
    if not isinstance(cases, list):
        raise _no_report(path, "it holds no list of cases")
    for number, record in enumerate(cases):
        if not isinstance(record, dict) or not all(isinstance(record.get(k), str) for k in _KEY):
            raise _no_report(path, f"its case {number} has no {', '.join(_KEY)} that are texts")
        if record["status"] not in _STATUSES or not isinstance(record.get("detail", ""), str):
            raise _no_report(path, f"the status or the detail of its case {number} is none")
    return cases


def _no_report(path: pathlib.Path, why: str) -> HloError:
    return HloError.of(NO_REPORT, why, filename=str(path))
