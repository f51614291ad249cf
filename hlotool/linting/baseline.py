"""Baselines: findings that are known and accepted, so that only new ones are reported.

A finding is known by its file, code, statement and message, not by its line; see hlotool.diagnostics.fingerprint.
"""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError
from hlotool.diagnostics.fingerprint import fingerprint, normal
from hlotool.dumps import dump_name
from hlotool.ir import Source
from hlotool.linting.codes import BAD_BASELINE
from hlotool.process import read_plain

_VERSION = 1


@dataclass(slots=True)
class Baseline:
    """How often each fingerprint is accepted; what was not met is left in `counts`."""

    path: Path
    counts: Counter[str] = field(default_factory=Counter)

    def new(self, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> list[Diagnostic]:
        """The findings that are not accepted."""
        kept = []
        for diagnostic in diagnostics:
            key = _key(diagnostic, sources, self.path)
            if self.counts[key] > 0:
                self.counts[key] -= 1
            else:
                kept.append(diagnostic)
        return kept

    @property
    def gone(self) -> int:
        """How many accepted findings were not met."""
        return sum(self.counts.values())


def read_baseline(path: Path) -> Baseline:
    """Return the baseline of a file. Raises HloError (C006) for any other file."""
    data = read_plain(path, BAD_BASELINE, "the baseline")
    try:
        record = json.loads(data.decode("utf-8"))
        if record["version"] != _VERSION:
            raise _bad(path, f"it is of version {record['version']}, this is version {_VERSION}")
        return Baseline(path, Counter({row["fingerprint"]: int(row["count"]) for row in record["findings"]}))
    except json.JSONDecodeError as error:
        raise _bad(path, f"it is no JSON: {error.msg}", error.lineno, error.colno) from error
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise _bad(path, f"it is not as --write-baseline writes it: {error}") from error


def baseline_text(path: Path, diagnostics: Iterable[Diagnostic], sources: Mapping[str, Source]) -> str:
    """The text of a baseline that accepts those findings."""
    rows: dict[str, dict[str, Any]] = {}
    for diagnostic in diagnostics:
        key = _key(diagnostic, sources, path)
        row = rows.setdefault(key, {"file": _name(diagnostic.filename, path), "code": diagnostic.code,
                                    "message": normal(diagnostic.message), "fingerprint": key, "count": 0})
        row["count"] += 1
    listed = sorted(rows.values(), key=lambda row: (row["file"], row["code"], row["message"], row["fingerprint"]))
    return json.dumps({"version": _VERSION, "findings": listed}, indent=1, ensure_ascii=False) + "\n"


def _key(diagnostic: Diagnostic, sources: Mapping[str, Source], path: Path) -> str:
    source = sources.get(diagnostic.filename)
    line = source.line(diagnostic.line) if source is not None else ""
    return fingerprint(diagnostic, line, _name(diagnostic.filename, path))


def _name(filename: str, path: Path) -> str:
    """Return the name of a file in a baseline: a dump by module and stage, others by their path from the baseline."""
    dump = dump_name(Path(filename).name)
    if dump is not None and dump.module:
        return f"{dump.module} {dump.stage}"
    try:
        return Path(os.path.realpath(filename)).relative_to(Path(os.path.realpath(path)).parent).as_posix()
    except ValueError:
        return Path(filename).name


def _bad(path: Path, why: str, line: int = 0, column: int = 0) -> HloError:
    return HloError([Diagnostic(BAD_BASELINE, f"the baseline cannot be used: {why}", line=line, column=column,
                                end_line=line, end_column=column + bool(line), filename=str(path),
                                help=f"write it anew: hlo-lint --write-baseline {path} ...")])
