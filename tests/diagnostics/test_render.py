"""Frames, one-line forms and JSON of diagnostics."""

from __future__ import annotations

import json

import pytest

from hlotool.diagnostics import Diagnostic, Fix, Note, Severity
from hlotool.diagnostics.json import as_json, as_json_lines
from hlotool.diagnostics.render import Renderer, concise, in_order, summary, window
from hlotool.ir import Position, Source

SOURCE = Source("HloModule m\nENTRY e {\n  a = f32[2] parameter(0)\n  ROOT b = f32[2] add(a, c)\n}\n", "m.hlo")
PROBLEM = Diagnostic("P011", "c is not defined", line=4, column=26, end_line=4, end_column=27, filename="m.hlo",
                     notes=(Note("the computation begins here", Position(2, 1), Position(2, 8)), Note("a is near")),
                     help="did you mean a?")


def test_frame_shows_line_caret_notes_and_help() -> None:
    assert Renderer({"m.hlo": SOURCE}).frame(PROBLEM) == """\
error[P011]: c is not defined
 --> m.hlo:4:26
  |
4 |   ROOT b = f32[2] add(a, c)
  |                          ^
note: the computation begins here
 --> m.hlo:2:1
  |
2 | ENTRY e {
  | -------
  = note: a is near
  = help: did you mean a?"""


def test_color_adds_only_escape_sequences() -> None:
    import re

    plain = Renderer({"m.hlo": SOURCE}).frame(PROBLEM)
    colored = Renderer({"m.hlo": SOURCE}, color=True).frame(PROBLEM)
    assert colored != plain
    assert re.sub(r"\x1b\[[\d;]*m", "", colored) == plain


def test_frame_without_place_or_source() -> None:
    nowhere = Diagnostic("E105", "no answer", filename="m.hlo")
    assert Renderer({}).frame(nowhere) == "error[E105]: no answer\n --> m.hlo"
    assert "|" not in Renderer({}).frame(PROBLEM)


@pytest.mark.parametrize("column", [1, 2, 40, 500, 990, 1001])
@pytest.mark.parametrize("width", [30, 80])
def test_window_keeps_the_marked_character(column: int, width: int) -> None:
    line = "".join(chr(0x4E00 + i) for i in range(1001))  # every character once
    shown, marks = window(line, Position(1, column), Position(1, column + 1), width)
    assert len(shown) <= width
    assert marks.strip() == "^"
    at = marks.index("^")
    assert shown[at] in (line[column - 1], "…")
    assert (shown[0] == "…") == (shown[0] != line[0])


def test_window_of_long_and_multiline_ranges() -> None:
    shown, marks = window("x" * 1000, Position(1, 1), Position(1, 900), 50)
    assert len(shown) == len(marks) == 50
    _, marks = window("abc def", Position(1, 5), Position(3, 2), 50)
    assert marks == "    ^^^"
    assert window("", Position(1, 1), Position(1, 1), 50) == ("", "^")


def test_window_replaces_what_would_move_the_caret() -> None:
    shown, marks = window("\ta\x1b[31mb\udc80", Position(1, 2), Position(1, 3), 50)
    assert shown == " a\ufffd[31mb\ufffd"
    assert marks == " ^"


def test_order_without_duplicates() -> None:
    first = Diagnostic("B1", "later", line=9, filename="a")
    second = Diagnostic("A1", "warning", Severity.WARNING, line=3, filename="a")
    third = Diagnostic("Z1", "error", line=3, filename="a")
    assert in_order([first, second, third, first]) == [third, second, first]


def test_concise_and_summary() -> None:
    assert concise(PROBLEM) == "m.hlo:4:26: error: c is not defined [P011]"
    assert concise(Diagnostic("E105", "slow", filename="m.hlo")) == "m.hlo: error: slow [E105]"
    warning = Diagnostic("W1", "x", Severity.WARNING)
    assert summary([PROBLEM, PROBLEM, warning], 3) == "2 errors, 1 warning in 3 files"
    assert summary([], 1) == "no findings in 1 file"


def test_json() -> None:
    fixed = Diagnostic("P011", "m", line=1, column=2, end_line=1, end_column=3,
                       fixes=(Fix("write a", Position(1, 2), Position(1, 3), "a"),))
    record, nowhere = json.loads(as_json([fixed, Diagnostic("E105", "slow")]))
    assert record["start"] == {"line": 1, "column": 2}
    assert record["fixes"] == [{"message": "write a", "start": {"line": 1, "column": 2},
                                "end": {"line": 1, "column": 3}, "replacement": "a", "is_safe": True, "also": []}]
    assert nowhere["start"] is None
    assert [json.loads(row)["code"] for row in as_json_lines([PROBLEM, fixed]).splitlines()] == ["P011", "P011"]
    assert json.loads(as_json([])) == []
