"""Applying fixes: as many as fit together, again until none is left, each round read and verified before it counts."""

from __future__ import annotations

import bisect
import difflib
from collections.abc import Iterable
from dataclasses import dataclass

from hlotool.diagnostics import Diagnostic, Fix, HloError
from hlotool.ir import Source, no_collection, with_line_feeds
from hlotool.linting.codes import NOT_FIXABLE, UNUSED_SUPPRESSION
from hlotool.linting.linter import lint
from hlotool.linting.settings import Settings
from hlotool.linting.sound_fixes import Choice, Trials, edited
from hlotool.text import comments_in
from hlotool.text.input_files import split_modules

#: rounds of fixing; what a fix uncovers is fixed in the next one
_ROUNDS = 12


@dataclass(frozen=True, slots=True)
class Fixed:
    """A text with fixes applied."""

    before: str
    text: str
    #: the findings whose fixes were made, in the order in which that happened
    applied: tuple[Diagnostic, ...]
    #: the findings whose fixes would have left a text that does not verify
    refused: tuple[Diagnostic, ...]
    #: what there is to say about the text as it is now
    remaining: tuple[Diagnostic, ...]

    @property
    def is_changed(self) -> bool:
        return self.text != self.before

    def diff(self, filename: str) -> str:
        """The change as a unified diff; '' for none."""
        rows = difflib.unified_diff(self.before.splitlines(keepends=True), self.text.splitlines(keepends=True),
                                    filename, filename)
        return "".join(row if row.endswith("\n") else f"{row}\n\\ No newline at end of file\n" for row in rows)


@no_collection()
def fix(text: str, filename: str = "<string>", settings: Settings | None = None, *, unsafe: bool = False) -> Fixed:
    """The text with the fixes of its findings applied, the unsafe ones only where asked for.

    Only findings that the settings and comments leave are fixed. A fix that overlaps an earlier one waits for the
    next round; one after which the text would have errors that it had not is refused. Reads and verifies, so that
    what comes out is never worse than what went in.
    """
    settings = settings or Settings()
    current, applied = text, list[Diagnostic]()
    refused: dict[tuple[str, str], Diagnostic] = {}
    found, trials = lint(current, filename, settings, each=True), Trials(filename)
    for _ in range(_ROUNDS):
        wanted = [(d, f) for d in found for f in d.fixes[:1]
                  if (f.is_safe or unsafe) and (d.code, d.message) not in refused]
        chosen = compatible(current, wanted)
        if not chosen:
            break
        good = trials.sound(current, chosen)
        kept = {id(diagnostic) for diagnostic, _ in good}
        refused |= {(d.code, d.message): d for d, _ in chosen if id(d) not in kept}
        if good:
            current = edited(current, (c for _, changes in good for c in changes))
            applied += [d for d, _ in good]
            found = lint(current, filename, settings, each=True)
    return Fixed(text, current, tuple(applied), tuple(refused.values()), tuple(found))


def compatible(text: str, wanted: Iterable[tuple[Diagnostic, Fix]]) -> list[Choice]:
    """The fixes that do not overlap, the first in the text winning."""
    source = Source(text)
    chosen: list[Choice] = []
    taken: set[tuple[int, int]] = set()
    covered = _Ranges()
    for diagnostic, fix in wanted:
        changes = [(source.offset(e.start) or 0, source.offset(e.end) or 0, e.replacement) for e in fix.edits]
        if diagnostic.code != UNUSED_SUPPRESSION and any(comments_in(text[a:b]) != comments_in(new)
                                                         for a, b, new in changes):
            continue  # a comment is its author's, except where the comment is what is wrong
        spans = {(a, b) for a, b, _ in changes}
        if len(spans) < len(changes) or spans & taken or any(covered.meets(a, b) for a, b in spans):
            continue
        taken |= spans
        for a, b in spans:
            covered.add(a, b)
        chosen.append((diagnostic, changes))
    return chosen


class _Ranges:
    """Disjoint ranges of a text, kept sorted."""

    def __init__(self) -> None:
        self._starts: list[int] = []
        self._ends: list[int] = []

    def meets(self, start: int, end: int) -> bool:
        """Return True if a range has a character, or an insertion its place, inside of a known one."""
        at = bisect.bisect_right(self._starts, start)
        before = at > 0 and (self._ends[at - 1] > start or self._starts[at - 1] == start)
        return before or (at < len(self._starts) and self._starts[at] < max(end, start + 1))

    def add(self, start: int, end: int) -> None:
        at = bisect.bisect_right(self._starts, start)
        self._starts.insert(at, start)
        self._ends.insert(at, end)


def fix_file(text: str, filename: str, settings: Settings | None = None, *, unsafe: bool = False) -> Fixed:
    """`fix` for the text of a file, which may hold several modules; each is fixed for itself.

    Line ends stay what they are. Raises HloError for a log whose lines have prefixes: the module is not written there
    as it is read.
    """
    plain = with_line_feeds(text)
    parts = split_modules(plain, filename)
    if any(source.text not in plain for source in parts):
        raise HloError.of(NOT_FIXABLE, "the lines have a logger's prefixes, so they cannot be rewritten",
                          filename=filename, help="take the module out of the log first")
    pieces: list[str] = []
    results: list[Fixed] = []
    at = 0
    for source in parts:
        start = plain.index(source.text, at)
        result = fix(source.text, filename, settings, unsafe=unsafe)
        pieces += [plain[at:start], result.text]
        results.append(result)
        at = start + len(source.text)
    fixed = "".join([*pieces, plain[at:]])
    if "\r\n" in text:
        fixed = fixed.replace("\n", "\r\n")
    return Fixed(text, fixed if any(r.is_changed for r in results) else text,
                 tuple(d for r in results for d in r.applied), tuple(d for r in results for d in r.refused),
                 tuple(d for r in results for d in r.remaining))
