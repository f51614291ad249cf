"""Findings as one self-contained page: the findings beside the text, filtered by rule, severity, file and words.

The texts stand in the page compressed, and the browser makes only the lines that are in view, so that a dump of
megabytes scrolls like a small one.
"""

from __future__ import annotations

from html import escape
from importlib import resources
from typing import Any

from hlotool.diagnostics.codes import find_code
from hlotool.diagnostics.diagnostic import Diagnostic
from hlotool.diagnostics.formats import Findings
from hlotool.diagnostics.links import link
from hlotool.diagnostics.pages import filled, packed, plain, script_data
from hlotool.diagnostics.render import summary


def write(findings: Findings) -> str:
    """Return the page; it needs no other file and no network."""
    page = resources.files("hlotool.diagnostics").joinpath("page.html").read_text("utf-8")
    data = _data(findings)
    return filled(page, {"DATA": script_data(data), "TITLE": escape(data["summary"])})


def _data(findings: Findings) -> dict[str, Any]:
    files = list(dict.fromkeys([*(d.filename for d in findings.diagnostics), *findings.files]))
    numbers = {file: n for n, file in enumerate(files)}
    found_in = {d.filename for d in findings.diagnostics}
    codes = dict.fromkeys(d.code for d in findings.diagnostics)
    return {
        "summary": summary(findings.diagnostics, len(findings.files)),
        "version": findings.version,
        "files": [{"name": plain(file), **(_text(findings, file) if file in found_in else {})} for file in files],
        "rules": {code: _rule(code) for code in codes},
        "findings": [_finding(d, numbers[d.filename]) for d in findings.diagnostics],
    }


def _text(findings: Findings, file: str) -> dict[str, Any]:
    source = findings.sources.get(file)
    if source is None:
        return {}
    return {"first": source.first_line, "text": packed(source.text)}


def _rule(code: str) -> dict[str, str]:
    entry = find_code(code)
    if entry is None:
        return {"name": code}
    return {"name": entry.name, "summary": entry.summary, "source": entry.source, "link": link(entry.source, code)}


def _finding(diagnostic: Diagnostic, file: int) -> dict[str, Any]:
    notes = [{"text": plain(n.message), **({"line": n.start.line, "column": n.start.column} if n.start else {})}
             for n in diagnostic.notes]
    made = {
        "file": file, "code": diagnostic.code, "severity": str(diagnostic.severity),
        "message": plain(diagnostic.message), "line": diagnostic.line, "column": diagnostic.column,
        "endLine": diagnostic.end_line, "endColumn": diagnostic.end_column, "help": plain(diagnostic.help),
        "origin": plain(str(diagnostic.origin)) if diagnostic.origin else "", "notes": notes,
    }
    return {key: value for key, value in made.items() if value not in ("", [])}
