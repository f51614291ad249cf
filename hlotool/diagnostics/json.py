"""Diagnostics for programs: a JSON document, or one JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Annotated, TypeAlias, TypedDict

from hlotool.diagnostics.diagnostic import Diagnostic, Edit, Fix, Note, Origin, Severity
from hlotool.ir import Position


class PositionRecord(TypedDict):
    """A place in a text."""

    line: Annotated[int, "from 1"]
    column: Annotated[int, "from 1, in characters"]


class OriginRecord(TypedDict):
    """The line of the program that made a module."""

    file: str
    line: int
    column: int
    function: str
    op_name: str


class NoteRecord(TypedDict):
    """A further place, with a sentence."""

    message: str
    start: PositionRecord | None
    end: PositionRecord | None


class EditRecord(TypedDict):
    """A replacement of a range of the text."""

    start: PositionRecord
    end: PositionRecord
    replacement: str


class FixRecord(EditRecord):
    """A remedy that can be applied."""

    message: str
    is_safe: bool
    also: list[EditRecord]


class FindingRecord(TypedDict):
    """A diagnostic, whole."""

    code: str
    name: str
    severity: Severity
    message: str
    filename: str
    start: Annotated[PositionRecord | None, "null: no place in a text"]
    end: PositionRecord | None
    help: str
    rule: Annotated[str, "where the rule is written down"]
    link: str
    origin: Annotated[OriginRecord | None, "the line of the program that made the module"]
    notes: list[NoteRecord]
    fixes: list[FixRecord]


#: the report of `hlotool lint`; json-lines has one of its items a line
LintReport: TypeAlias = list[FindingRecord]


def as_record(diagnostic: Diagnostic) -> FindingRecord:
    """Return a diagnostic as JSON values. Lines and columns count from 1; null stands for no place."""
    has_place = diagnostic.line > 0
    return {
        "code": diagnostic.code,
        "name": diagnostic.name,
        "severity": diagnostic.severity,
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


def _position(position: Position) -> PositionRecord:
    return {"line": position.line, "column": position.column}


def _place(position: Position | None) -> PositionRecord | None:
    return None if position is None else _position(position)


def _origin(origin: Origin | None) -> OriginRecord | None:
    return None if origin is None else {"file": origin.file, "line": origin.line, "column": origin.column,
                                        "function": origin.function, "op_name": origin.op_name}


def _note(note: Note) -> NoteRecord:
    return {"message": note.message, "start": _place(note.start), "end": _place(note.end)}


def _edit(edit: Edit) -> EditRecord:
    return {"start": _position(edit.start), "end": _position(edit.end), "replacement": edit.replacement}


def _fix(fix: Fix) -> FixRecord:
    return {"message": fix.message, "start": _position(fix.start), "end": _position(fix.end),
            "replacement": fix.replacement, "is_safe": fix.is_safe, "also": [_edit(e) for e in fix.also]}
