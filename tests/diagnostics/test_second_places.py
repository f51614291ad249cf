"""Second places of a finding that are in the line of the first: marks, and the notes under them."""

from __future__ import annotations

import pytest

from hlotool.diagnostics import Diagnostic, Note, Severity
from hlotool.diagnostics.render import _Window, in_order
from hlotool.ir import Position


def note(message: str, column: int, end: int, line: int = 1) -> Note:
    return Note(message, Position(line, column), Position(line, end))


def test_marks_and_notes_of_second_places() -> None:
    window = _Window(1, "abcdefghij", "    ^^", 0)
    labels = [note("first", 2, 4), note("second", 9, 11)]
    assert window.with_labels(labels) == " -- ^^  --"
    assert list(window.label_rows(labels)) == [" |      second", " first"]
    assert list(window.label_rows([])) == [] and window.with_labels([]) == "    ^^"


@pytest.mark.parametrize(("cut", "shown", "column", "is_held"), [
    (0, "abcdefghij", 1, True), (0, "abcdefghij", 4, True), (0, "abcdefghij", 5, False), (0, "abcdefghij", 10, True),
    (0, "abcdefghij", 11, False), (0, "abcdefghi…", 9, True), (0, "abcdefghi…", 10, False),
    (7, "…bcdefghij", 8, False), (7, "…bcdefghij", 9, True), (7, "…bcdefghij", 17, True)])
def test_what_a_part_of_a_line_holds(cut: int, shown: str, column: int, is_held: bool) -> None:
    window = _Window(1, shown, "    ^^", cut)
    assert window.holds(note("x", column, column + 1)) == is_held
    assert not window.holds(note("x", column, column + 1, line=2)) and not window.holds(Note("x"))


def test_findings_are_in_the_order_of_their_places() -> None:
    def of(severity: Severity, line: int = 1, column: int = 1, code: str = "A1", file: str = "f") -> Diagnostic:
        return Diagnostic(code, "m", severity, line, column, filename=file)

    wanted = [of(Severity.INFO, file="e"), of(Severity.ERROR), of(Severity.WARNING), of(Severity.INFO),
              of(Severity.INFO, code="A2"), of(Severity.ERROR, column=2), of(Severity.ERROR, line=2)]
    assert in_order([*reversed(wanted), *wanted]) == wanted
