"""Applying fixes: as many as fit together, again until none is left, each round read and verified before it counts."""

from __future__ import annotations

import bisect
import difflib
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from hlotool.diagnostics import Diagnostic, Fix, HloError, Severity
from hlotool.ir import Source
from hlotool.linting.codes import NOT_FIXABLE, UNUSED_SUPPRESSION
from hlotool.linting.linter import lint
from hlotool.linting.settings import Settings
from hlotool.passes.read import parse
from hlotool.passes.verify import verify
from hlotool.text import comments_in
from hlotool.text.input_files import split_modules

#: rounds of fixing; what a fix uncovers is fixed in the next one
_ROUNDS = 12

#: an edit in offsets: from, to, by what
Change = tuple[int, int, str]


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


def fix(text: str, filename: str = "<string>", settings: Settings | None = None, *, unsafe: bool = False) -> Fixed:
    """The text with the fixes of its findings applied, the unsafe ones only where asked for.

    Only findings that the settings and comments leave are fixed. A fix that overlaps an earlier one waits for the
    next round; one after which the text would have errors that it had not is refused. Reads and verifies, so that
    what comes out is never worse than what went in.
    """
    settings = settings or Settings()
    current, applied = text, list[Diagnostic]()
    refused: dict[tuple[str, str], Diagnostic] = {}
    found = lint(current, filename, settings)
    for _ in range(_ROUNDS):
        wanted = [(d, f) for d in found for f in d.fixes[:1]
                  if (f.is_safe or unsafe) and (d.code, d.message) not in refused]
        chosen = _compatible(current, wanted)
        if not chosen:
            break
        good = _sound(current, _faults(current, filename), chosen, filename, [])
        for diagnostic, _ in chosen:
            if all(diagnostic is not d for d, _ in good):
                refused[diagnostic.code, diagnostic.message] = diagnostic
        if good:
            current = _edited(current, (c for _, changes in good for c in changes))
            applied += [d for d, _ in good]
            found = lint(current, filename, settings)
    return Fixed(text, current, tuple(applied), tuple(refused.values()), tuple(found))


_Choice = tuple[Diagnostic, list[Change]]


def _compatible(text: str, wanted: Iterable[tuple[Diagnostic, Fix]]) -> list[_Choice]:
    """The fixes that do not overlap, the first in the text winning."""
    source = Source(text)
    chosen: list[_Choice] = []
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
        """Whether a range has a character, or an insertion has its place, inside of a known one."""
        at = bisect.bisect_right(self._starts, start)
        before = at > 0 and (self._ends[at - 1] > start or self._starts[at - 1] == start)
        return before or (at < len(self._starts) and self._starts[at] < max(end, start + 1))

    def add(self, start: int, end: int) -> None:
        at = bisect.bisect_right(self._starts, start)
        self._starts.insert(at, start)
        self._ends.insert(at, end)


def _edited(text: str, changes: Iterable[Change]) -> str:
    """The text after changes that do not overlap."""
    pieces, at = [], 0
    for start, end, replacement in sorted(changes):
        pieces += [text[at:start], replacement]
        at = end
    return "".join([*pieces, text[at:]])


@dataclass(frozen=True, slots=True)
class _Faults:
    """What is wrong with a text: the problems that keep it from being read, or the errors by their codes."""

    unread: int
    errors: Counter[str]

    def is_no_worse_than(self, before: _Faults) -> bool:
        if before.unread:
            # A text that reads at last may have errors that nobody could see, but not more than were reported.
            return self.unread + self.errors.total() <= before.unread and self != before
        return not self.unread and self.errors <= before.errors


def _faults(text: str, filename: str) -> _Faults:
    try:
        module = parse(text, filename)
    except HloError as error:
        return _Faults(len(error.diagnostics), Counter())
    return _Faults(0, Counter(d.code for d in verify(module) if d.severity is Severity.ERROR))


def _sound(text: str, faults: _Faults, chosen: Sequence[_Choice], filename: str,
           beside: list[_Choice]) -> list[_Choice]:
    """Those of the choices after which, made together, the text is no worse than it was."""
    both = [*beside, *chosen]
    if _faults(_edited(text, (c for _, changes in both for c in changes)), filename).is_no_worse_than(faults):
        return list(chosen)
    if len(chosen) <= 1:
        return []
    half = len(chosen) // 2
    first = _sound(text, faults, chosen[:half], filename, beside)
    return [*first, *_sound(text, faults, chosen[half:], filename, [*beside, *first])]


def fix_file(text: str, filename: str, settings: Settings | None = None, *, unsafe: bool = False) -> Fixed:
    """`fix` for the text of a file, which may hold several modules; each is fixed for itself.

    Line ends stay what they are. Raises HloError for a log whose lines have prefixes: the module is not written there
    as it is read.
    """
    plain = text.replace("\r\n", "\n").replace("\r", "\n")
    parts = split_modules(plain, filename)
    if any(source.text not in plain for source in parts):
        raise HloError([Diagnostic(NOT_FIXABLE, "the lines have a logger's prefixes, so they cannot be rewritten",
                                   filename=filename, help="take the module out of the log first")])
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
