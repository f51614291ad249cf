"""Collects findings while a text is read: errors, and notes on forms of other times."""

from __future__ import annotations

from collections.abc import Collection

from hlotool.diagnostics import Diagnostic, Fix, Note, Severity, shortened
from hlotool.ir import Position, Source
from hlotool.text.keywords import LATER_WORDS
from hlotool.text.legacy import GENERATION
from hlotool.text.mistakes import similar_names, typographic_advice
from hlotool.text.phrase_generations import BARE_ALIAS, SPLAT
from hlotool.text.phrases import PhraseError
from hlotool.text.syntax_errors import BAD_NAME, HAND_WRITTEN, CutError

#: what surely misleads, and what no parser of XLA reads; the rest is of another generation
NOTE_SEVERITIES = {SPLAT: Severity.WARNING, HAND_WRITTEN: Severity.WARNING, BARE_ALIAS: Severity.ERROR}


class Reports:
    """Collects diagnostics about one source; places are offsets into its text."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.text = source.text
        self.diagnostics: list[Diagnostic] = []
        self.notes: list[Diagnostic] = []
        #: how many more times to look for a name like one that is unknown, which is slow
        self._suggestions = 20

    def report(self, code: str, message: str, start: int, end: int, *, help: str = "",
               second: tuple[str, int, int] | None = None, fixes: tuple[Fix, ...] = ()) -> None:
        """Add an error for a range of the source; `second` is a second place with what it is."""
        position = self.source.position
        help = help or typographic_advice(self.text, start, end)
        notes = (Note(second[0], position(second[1]), position(second[2])),) if second else ()
        start = max(0, min(start, len(self.text) - 1))
        first, last = position(start), position(max(end, start + 1))
        if end <= start + 1:  # the end of a line and of the text count as a character, too
            last = Position(first.line, first.column + 1)
        self.diagnostics.append(Diagnostic(
            code, shortened(message), Severity.ERROR, first.line, first.column, last.line, last.column,
            self.source.filename, notes, shortened(help), fixes))

    def report_cut(self, error: CutError) -> None:
        fixes: tuple[Fix, ...] = ()
        if error.insert is not None:
            where = self.source.position(error.insert[0])
            fixes = (Fix(f"add {error.insert[1]}", where, where, error.insert[1], is_safe=False),)
        self.report(error.code, error.message, error.start, error.end, help=error.help,
                    second=error.note, fixes=fixes)

    def report_phrase(self, error: PhraseError, offset: int) -> None:
        self.report(error.code, error.message, offset + error.start, offset + max(error.end, error.start + 1),
                    help=error.help)

    def reserved_name(self, name: str, start: int) -> None:
        """Add an error for a name that is a word of the language, a note where it became one later."""
        if name in LATER_WORDS:
            self.note("", f"{name} has become a word of the language: today's parsers refuse it as a name", start,
                      start + len(name))
        else:
            self.report(BAD_NAME, f"{name} is a word of the language and cannot be a name", start, start + len(name),
                        help=f"rename it to {name}_")

    def note(self, era: str, message: str, start: int, end: int, code: str = GENERATION) -> None:
        """Add a finding about a form that is read although today's XLA does not; `NOTE_SEVERITIES` grades it."""
        first, last = self.source.position(start), self.source.position(end)
        message = shortened(f"{message} ({era})" if era else message)
        self.notes.append(Diagnostic(code, message, NOTE_SEVERITIES.get(code, Severity.INFO), first.line,
                                     first.column, last.line, last.column, self.source.filename))

    def suggest(self, name: str, known: Collection[str], offset: int, cutoff: float) -> tuple[str, tuple[Fix, ...]]:
        """Advice about a name that is not known, and the fix when only one known name is like it."""
        if not self._suggestions:
            return "", ()
        self._suggestions -= 1
        close = similar_names(name, known, cutoff)
        if not close:
            return "", ()
        if len(close) > 1 and (close[0].lower() != name.lower()):
            return f"did you mean {close[0]}?", ()
        position = self.source.position
        fix = Fix(f"write {close[0]}", position(offset), position(offset + len(name)), close[0], is_safe=False)
        return f"did you mean {close[0]}?", (fix,)
