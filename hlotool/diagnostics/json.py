"""Diagnostics for programs: a JSON document, or one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

from hlotool.diagnostics.diagnostic import Diagnostic, Fix, Note, Origin
from hlotool.ir import Position


def as_record(diagnostic: Diagnostic) -> dict[str, Any]:
    """Return a diagnostic as JSON values. Lines and columns count from 1; null stands for no place."""
    has_place = diagnostic.line > 0
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": str(diagnostic.severity),
        "message": diagnostic.message,
        "filename": diagnostic.filename,
        "start": _position(Position(diagnostic.line, diagnostic.column)) if has_place else None,
        "end": _position(Position(diagnostic.end_line, diagnostic.end_column)) if has_place else None,
        "help": diagnostic.help,
        "rule": diagnostic.rule,
        "link": diagnostic.link,
        "origin": _origin(diagnostic.origin),
        "notes": [_note(n) for n in diagnostic.notes],
        "fixes": [_fix(f) for f in diagnostic.fixes],
    }


def as_json(diagnostics: Iterable[Diagnostic]) -> str:
    """A JSON array of every diagnostic, in ASCII: names of files stay what they are and reach no terminal raw."""
    return json.dumps([as_record(d) for d in diagnostics], indent=2)


def as_json_lines(diagnostics: Iterable[Diagnostic]) -> str:
    """One JSON object a line."""
    return "\n".join(json.dumps(as_record(d)) for d in diagnostics)


def _position(position: Position | None) -> dict[str, int] | None:
    return None if position is None else {"line": position.line, "column": position.column}


def _origin(origin: Origin | None) -> dict[str, Any] | None:
    return None if origin is None else {"file": origin.file, "line": origin.line, "column": origin.column,
                                        "function": origin.function, "op_name": origin.op_name}


def _note(note: Note) -> dict[str, Any]:
    return {"message": note.message, "start": _position(note.start), "end": _position(note.end)}


def _fix(fix: Fix) -> dict[str, Any]:
    return {"message": fix.message, "start": _position(fix.start), "end": _position(fix.end),
            "replacement": fix.replacement, "is_safe": fix.is_safe,
            "also": [{"start": _position(e.start), "end": _position(e.end), "replacement": e.replacement}
                     for e in fix.also]}
