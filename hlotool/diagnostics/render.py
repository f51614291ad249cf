"""Diagnostics for people: a frame with the line of the source, or one line each.

    error[clamp-c1]: min is f32[2], operand is f32[3]
      --> dump.hlo:4:3
       |
     4 |   c = f32[3] clamp(min, x, max)
       |   ^
       = help: broadcast min to f32[3]
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from hlotool.diagnostics.diagnostic import Diagnostic, Origin, Severity, shortened
from hlotool.ir import Position, Source

#: columns of a frame where the terminal does not say
WIDTH = 120
#: characters of a long line that are shown before the marked range
_LEAD = 24
_STYLES = {"error": "1;31", "warning": "1;33", "info": "1;36", "bold": "1", "frame": "1;34", "note": "1;32"}
_ORDER = {Severity.ERROR: 0, Severity.WARNING: 1, Severity.INFO: 2}


def in_order(diagnostics: Iterable[Diagnostic]) -> list[Diagnostic]:
    """Each diagnostic once, by file, place, severity and code."""
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
    where = f":{diagnostic.line}:{diagnostic.column}" if diagnostic.line else ""
    return f"{diagnostic.filename}{where}: {diagnostic.severity}: {diagnostic.message} [{diagnostic.code}]"


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
        yield from self._place(diagnostic.filename, start, end, margin=margin, style=severity, mark="^")
        for note in diagnostic.notes:
            if note.start is None:
                yield self._remark(margin, "note", note.message)
            else:
                yield f"{self._style('note', 'note')}: {note.message}"
                yield from self._place(diagnostic.filename, note.start, note.end or note.start,
                                       margin=margin, style="note", mark="-")
        if diagnostic.origin:
            yield self._remark(margin, "from", _made_by(diagnostic.origin))
        if diagnostic.help:
            yield self._remark(margin, "help", diagnostic.help)
        if with_link and diagnostic.link:
            yield self._remark(margin, "rule", diagnostic.link)

    def _remark(self, margin: int, word: str, text: str) -> str:
        return f"{' ' * margin} {self._style('frame', '=')} {self._style('note', word)}: {text}"

    def _place(self, filename: str, start: Position, end: Position, *, margin: int, style: str,
               mark: str) -> Iterator[str]:
        blank = " " * margin
        if not start.line:
            yield f"{blank}{self._style('frame', '-->')} {filename}"
            return
        yield f"{blank}{self._style('frame', '-->')} {filename}:{start.line}:{start.column}"
        source = self.sources.get(filename)
        if source is None:
            return
        shown, marks = window(source.line(start.line), start, end, max(30, self.width - margin - 3), mark)
        bar = self._style("frame", "|")
        yield f"{blank} {bar}"
        yield f"{self._style('frame', str(start.line).rjust(margin))} {bar} {shown}".rstrip()
        yield f"{blank} {bar} {self._style(style, marks)}"

    def _style(self, style: str, text: str) -> str:
        return f"\x1b[{_STYLES[style]}m{text}\x1b[0m" if self.color else text


def _made_by(origin: Origin) -> str:
    """The program's line, and what it called the operation."""
    place = str(origin)
    return place if not origin.op_name or place == origin.op_name else f"{place} ({shortened(origin.op_name)})"


def window(line: str, start: Position, end: Position, width: int, mark: str = "^") -> tuple[str, str]:
    """The part of a line around a range, and the marks that go under it.

    A line longer than `width` is cut on either side, each cut shown as an ellipsis; a range that goes on in later
    lines is marked to the end of this one.
    """
    line = "".join(c if c.isprintable() else " " if c == "\t" else "\N{REPLACEMENT CHARACTER}" for c in line)
    first = min(start.column - 1, len(line))
    last = end.column - 1 if end.line == start.line else len(line)
    last = max(first + 1, min(last, len(line)))
    cut = 0
    if len(line) > width:
        cut = max(0, min(first - _LEAD, len(line) - width))
    shown = line[cut:cut + width]
    if cut:
        shown = "…" + shown[1:]
    if cut + width < len(line):
        shown = shown[:-1] + "…"
    length = min(last, cut + width) - first
    return shown, " " * (first - cut) + mark * max(1, length)
