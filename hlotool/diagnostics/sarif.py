"""Findings as SARIF 2.1.0, which code scanning services and editors read.

Source: OASIS, Static Analysis Results Interchange Format (SARIF) Version 2.1.0.
"""

from __future__ import annotations

import json
import os
import urllib.parse
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from hlotool.diagnostics.codes import find_code
from hlotool.diagnostics.diagnostic import Diagnostic, Fix, Origin
from hlotool.diagnostics.fingerprint import fingerprints
from hlotool.diagnostics.formats import LEVELS, Findings
from hlotool.ir import Position

SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"
HOME = "https://openxla.org/xla"


def write(findings: Findings) -> str:
    """Return the log as JSON text: one run, its rules and files each listed once."""
    codes = list(dict.fromkeys(d.code for d in findings.diagnostics))
    files = list(dict.fromkeys([*findings.files, *(d.filename for d in findings.diagnostics)]))
    keys = fingerprints(findings.diagnostics, findings.sources)
    numbers = {code: n for n, code in enumerate(codes)}
    places = {file: n for n, file in enumerate(files)}
    driver: dict[str, Any] = {"name": "hlo-lint", "informationUri": HOME, "rules": list(map(_rule, codes))}
    if findings.version:
        driver["version"] = findings.version
    run = {
        "tool": {"driver": driver},
        "columnKind": "unicodeCodePoints",
        "originalUriBaseIds": {"SRCROOT": {"uri": f"{Path.cwd().as_uri()}/"}},
        "artifacts": [{"location": _artifact(file)} for file in files],
        "results": [_result(d, key, numbers, places) for d, key in zip(findings.diagnostics, keys, strict=True)],
    }
    return json.dumps({"$schema": SCHEMA, "version": "2.1.0", "runs": [run]}, indent=2)


def _rule(code: str) -> dict[str, Any]:
    entry = find_code(code)
    if entry is None:
        return {"id": code}
    from hlotool.diagnostics.links import help_address

    made: dict[str, Any] = {"id": code, "name": entry.name, "shortDescription": {"text": entry.summary or entry.name}}
    if entry.source:
        made["help"] = {"text": f"Source: {entry.source}"}
    made["helpUri"] = help_address(entry.source, code)
    return made


def _result(diagnostic: Diagnostic, key: str, numbers: Mapping[str, int], places: Mapping[str, int]) -> dict[str, Any]:
    file = diagnostic.filename
    text = diagnostic.message + (f"\n{diagnostic.help}" if diagnostic.help else "")
    physical: dict[str, Any] = {"artifactLocation": _artifact(file) | {"index": places[file]}}
    if diagnostic.line:
        physical["region"] = _region(Position(diagnostic.line, diagnostic.column),
                                     Position(diagnostic.end_line, diagnostic.end_column))
    made: dict[str, Any] = {
        "ruleId": diagnostic.code, "ruleIndex": numbers[diagnostic.code], "level": LEVELS[diagnostic.severity],
        "message": {"text": text}, "locations": [{"physicalLocation": physical}],
        "partialFingerprints": {"hloLint/v1": key},
    }
    if related := [*_notes(diagnostic), *_origin(diagnostic.origin)]:
        made["relatedLocations"] = related
    if diagnostic.fixes:
        made["fixes"] = [_fix(fix, file) for fix in diagnostic.fixes]
    return made


def _notes(diagnostic: Diagnostic) -> list[dict[str, Any]]:
    return [{"message": {"text": note.message},
             "physicalLocation": {"artifactLocation": _artifact(diagnostic.filename),
                                  "region": _region(note.start, note.end or note.start)}}
            if note.start is not None else {"message": {"text": note.message}} for note in diagnostic.notes]


def _origin(origin: Origin | None) -> list[dict[str, Any]]:
    if origin is None:
        return []
    made: dict[str, Any] = {"message": {"text": f"made by {origin.op_name or origin}"}}
    if origin.file:
        made["physicalLocation"] = {"artifactLocation": _artifact(origin.file)}
        if origin.line:
            made["physicalLocation"]["region"] = {"startLine": origin.line}
    return [made]


def _fix(fix: Fix, file: str) -> dict[str, Any]:
    replacements = [{"deletedRegion": _region(edit.start, edit.end), "insertedContent": {"text": edit.replacement}}
                    for edit in fix.edits]
    return {"description": {"text": fix.message},
            "artifactChanges": [{"artifactLocation": _artifact(file), "replacements": replacements}]}


def _region(start: Position, end: Position) -> dict[str, int]:
    return {"startLine": start.line, "startColumn": start.column, "endLine": end.line, "endColumn": end.column}


def _artifact(file: str) -> dict[str, Any]:
    """Return the place of a file: below the current folder relative to it, else as it is."""
    relative = os.path.relpath(file) if os.path.isabs(file) else os.path.normpath(file)
    if relative.startswith(".."):
        return {"uri": Path(os.path.abspath(file)).as_uri()}
    uri = urllib.parse.quote(relative.replace(os.sep, "/"), errors="surrogateescape")
    return {"uri": uri, "uriBaseId": "SRCROOT"}
