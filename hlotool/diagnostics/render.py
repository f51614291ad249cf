"""Diagnostics for people: a frame with the line of the source, or one line each.

    error[clamp-c1]: min is f32[2], operand is f32[3]
      --> dump.hlo:4:3
       |
     4 |   c = f32[3] clamp(min, x, max)
       |   ^
       = help: broadcast min to f32[3]
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hlotool.diagnostics.diagnostic import Diagnostic, Note, Origin, Severity, shortened
from hlotool.diagnostics.escaping import visible
from hlotool.ir import Position, Source

#: columns of a frame where the terminal does not say
WIDTH = 120
#: characters of a long line that are shown before the marked range
_LEAD = 24
_STYLES = {"error": "1;31", "warning": "1;33", "info": "1;36", "bold": "1", "frame": "1;34", "note": "1;32"}
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Return each diagnostic once, by file, place, severity and code."""
    return sorted(dict.fromkeys(diagnostics),
                  key=lambda d: (d.filename, d.line, d.column, _ORDER[d.severity], d.code, d.message))


def summary(diagnostics: Sequence[Diagnostic], files: int = 0) -> str:
    """"2 errors, 1 warning in 3 files"; "no findings in 3 files"."""
    counts = [(sum(d.severity is s for d in diagnostics), word) for s, word in
              ((Severity.ERROR, "error"), (Severity.WARNING, "warning"), (Severity.INFO, "note"))]
    found = ", ".join(counted(n, word) for n, word in counts if n) or "no findings"
    return f"{found} in {counted(files, 'file')}" if files else found


def counted(number: int, word: str) -> str:
    """"1 file", "2 files"."""
    return f"{number} {word}{'' if number == 1 else 's'}"


def concise(diagnostic: Diagnostic) -> str:
    """One line: `file:line:column: severity: message [code]`; notes and help are left out."""
    return str(diagnostic)


@dataclass(frozen=True, slots=True)
class Renderer:
    """Writes frames. `sources` maps file names to the texts that the lines come from."""

    sources: Mapping[str, Source]
    color: bool = False
    width: int = WIDTH

    def frame(self, diagnostic: Diagnostic, with_link: bool = False) -> str:
        """The diagnostic as several lines, without a line feed at the end; `with_link` adds its rule's address."""
        return "\n".join(self._lines(diagnostic, with_link))

    def _lines(self, diagnostic: Diagnostic, with_link: bool) -> Iterator[str]:
        severity = str(diagnostic.severity)
        yield self._style(severity, f"{severity}[{diagnostic.code}]") + self._style("bold", f": {diagnostic.message}")
        start, end = Position(diagnostic.line, diagnostic.column), Position(diagnostic.end_line, diagnostic.end_column)
        margin = len(str(max([start.line, *(n.start.line for n in diagnostic.notes if n.start)])))
        place = self._window(diagnostic.filename, start, end, margin, "^")
        labels = [n for n in diagnostic.notes if place is not None and place.holds(n)]
        yield from self._place(diagnostic.filename, start, place, margin=margin, style=severity, labels=labels)
        for note in diagnostic.notes:
            if note in labels:
                continue
            if note.start is None:
                yield self._remark(margin, "note", note.message)
            else:
                yield f"{self._style('note', 'note')}: {note.message}"
                place = self._window(diagnostic.filename, note.start, note.end or note.start, margin, "-")
                yield from self._place(diagnostic.filename, note.start, place, margin=margin, style="note")
        if diagnostic.origin:
            yield self._remark(margin, "from", _made_by(diagnostic.origin))
        if diagnostic.help:
            yield self._remark(margin, "help", diagnostic.help)
        if with_link and diagnostic.link:
            yield self._remark(margin, "rule", diagnostic.link)

    def _remark(self, margin: int, word: str, text: str) -> str:
        return f"{' ' * margin} {self._style('frame', '=')} {self._style('note', word)}: {text}"

    def _window(self, filename: str, start: Position, end: Position, margin: int, mark: str) -> _Window | None:
        source = self.sources.get(filename) if start.line else None
        if source is None:
            return None
        return _cut(source.line(start.line), start, end, max(30, self.width - margin - 3), mark)

    def _place(self, filename: str, start: Position, place: _Window | None, *, margin: int, style: str,
               labels: Sequence[Note] = ()) -> Iterator[str]:
        blank = " " * margin
        if not start.line:
            yield f"{blank}{self._style('frame', '-->')} {visible(filename)}"
            return
        yield f"{blank}{self._style('frame', '-->')} {visible(filename)}:{start.line}:{start.column}"
        if place is None:
            return
        bar = self._style("frame", "|")
        yield f"{blank} {bar}"
        yield f"{self._style('frame', str(start.line).rjust(margin))} {bar} {place.shown}".rstrip()
        yield f"{blank} {bar} {self._marks(place, style, labels)}"
        for row in place.label_rows(labels):
            yield f"{blank} {bar} {self._style('note', row)}"

    def _marks(self, place: _Window, style: str, labels: Sequence[Note]) -> str:
        """Return the marks of a line, those of labels in their own colour."""
        if not labels:
            return self._style(style, place.marks)
        runs = itertools.groupby(place.with_labels(labels), key=lambda mark: style if mark == "^" else "note")
        return "".join(self._style(own, "".join(marks)) for own, marks in runs)

    def _style(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color else text


def _made_by(origin: Origin) -> str:
    """Return the program's line, and what it called the operation."""
    place, called = str(origin), visible(origin.op_name)
    return place if called in ("", place) else f"{place} ({shortened(called)})"


@dataclass(frozen=True, slots=True)
class _Window:
    """The part of a line that is shown, the marks under it, and how many characters are cut off in front."""

    line: int
    shown: str
    marks: str
    cut: int

    def holds(self, note: Note) -> bool:
        """Return True if a second place is in this part of the line, beside the marks."""
        if note.start is None or note.start.line != self.line:
            return False
        at = note.start.column - 1 - self.cut
        # The first and the last character of a line that is cut are ellipses.
        is_shown = bool(self.cut) <= at < len(self.shown) - self.shown.endswith("…")
        return is_shown and self.marks[at:at + 1] in (" ", "")

    def with_labels(self, labels: Sequence[Note]) -> str:
        """Return the marks with those of second places."""
        row = list(self.marks.ljust(len(self.shown)))
        for at, length in map(self._range, labels):
            row[at:at + length] = ["-" if mark == " " else mark for mark in row[at:at + length]]
        return "".join(row).rstrip()

    def label_rows(self, labels: Sequence[Note]) -> Iterator[str]:
        """Return the notes on second places, each under its mark, the last place first."""
        left = sorted(labels, key=lambda label: self._range(label)[0])
        while left:
            label = left.pop()
            bars = dict.fromkeys((self._range(other)[0] for other in left), "|")
            at = self._range(label)[0]
            yield "".join(bars.get(n, " ") for n in range(at)) + label.message

    def _range(self, label: Note) -> tuple[int, int]:
        assert label.start is not None
        at, end = label.start.column - 1 - self.cut, label.end or label.start
        length = end.column - label.start.column if end.line == label.start.line else len(self.shown)
        return at, max(1, min(length, len(self.shown) - at))


def window(line: str, start: Position, end: Position, width: int, mark: str = "^") -> tuple[str, str]:
    """Return the part of a line around a range, and the marks that go under it.

    A line longer than `width` is cut on either side, each cut shown as an ellipsis; a range that goes on in later
    lines is marked to the end of this one.
    """
    found = _cut(line, start, end, width, mark)
    return found.shown, found.marks


def _cut(line: str, start: Position, end: Position, width: int, mark: str) -> _Window:
    first = min(start.column - 1, len(line))
    last = end.column - 1 if end.line == start.line else len(line)
    last = max(first + 1, min(last, len(line)))
    cut = 0
    if len(line) > width:
        cut = max(0, min(first - _LEAD, len(line) - width))
    shown = "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}"
                    for c in line[cut:cut + width])
    if cut:
        shown = "…" + shown[1:]
    if cut + width < len(line):
        shown = shown[:-1] + "…"
    length = min(last, cut + width) - first
    return _Window(start.line, shown, " " * (first - cut) + mark * max(1, length), cut)
