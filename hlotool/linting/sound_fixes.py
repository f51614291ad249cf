"""Fixes that leave a text no worse than it was: all are tried together, then those apart at whose places errors came.

A trial reads and verifies the whole text, so their number is limited whatever the number of fixes: what is undecided
after that is not made.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hlotool.diagnostics import Diagnostic, HloError, Severity
from hlotool.ir import Position, Source
from hlotool.passes.read import parse_source
from hlotool.passes.verify import verify
from hlotool.text.input_files import split_modules

#: trials for a text, in all rounds of fixing it
_TRIALS = 100

#: an edit in offsets: from, to, by what
Change = tuple[int, int, str]
#: a finding, and the edits of its fix
Choice = tuple[Diagnostic, list[Change]]


def edited(text: str, changes: Iterable[Change]) -> str:
    """The text after changes that do not overlap."""
    pieces, at = [], 0
    for start, end, replacement in sorted(changes):
        pieces += [text[at:start], replacement]
        at = end
    return "".join([*pieces, text[at:]])


@dataclass(frozen=True, slots=True)
class Faults:
    """Faults of a text: the problems that keep it from being read, or the errors of verification."""

    is_read: bool
    found: tuple[Diagnostic, ...]

    def is_no_worse_than(self, before: Faults) -> bool:
        if not before.is_read:
            # A text that reads at last may have errors that nobody could see, but not more than were reported.
            return len(self.found) + (not self.is_read) < len(before.found) + 1
        return self.is_read and _codes(self.found) <= _codes(before.found)

    def beyond(self, before: Faults) -> list[Diagnostic]:
        """The problems that were not there before."""
        known = Counter((d.code, d.message) for d in before.found)
        new = []
        for found in self.found:
            key = found.code, found.message
            known[key] -= 1
            if known[key] < 0:
                new.append(found)
        return new


def _codes(found: Iterable[Diagnostic]) -> Counter[str]:
    return Counter(d.code for d in found)


def faults(text: str, filename: str = "<string>") -> Faults:
    """Return the faults of the text of a module."""
    return _faults_of_source(Source(text, filename))


def _faults_of_source(source: Source) -> Faults:
    try:
        module = parse_source(source)
    except HloError as error:
        return Faults(False, tuple(error.diagnostics))
    return Faults(True, tuple(d for d in verify(module) if d.severity is Severity.ERROR))


def faults_of_file(text: str, filename: str = "<string>") -> Faults:
    """Return the faults of a text of several modules."""
    found = [_faults_of_source(source) for source in split_modules(text, filename)]
    return Faults(all(f.is_read for f in found), tuple(d for f in found for d in f.found))


@dataclass
class Trials:
    """Results of the trials of a text, and of later forms of it."""

    filename: str = "<string>"
    #: what is wrong with a text of that file name
    faults_of: Callable[[str, str], Faults] = faults
    left: int = _TRIALS
    #: the text that was tried last and found sound, with what is wrong with it
    _known: tuple[str, Faults] | None = None

    def sound(self, text: str, chosen: Sequence[Choice]) -> list[Choice]:
        """Those of the choices after which, made together, the text is no worse than it was, in their order."""
        if self._known is None or self._known[0] != text:
            self._known = text, self.faults_of(text, self.filename)
        before, good = self._known[1], list[Choice]()
        waiting = [list(chosen)]
        while waiting and self.left > 0:
            group = waiting.pop()
            if not group:
                continue
            self.left -= 1
            new = edited(text, (c for _, changes in (*good, *group) for c in changes))
            after = self.faults_of(new, self.filename)
            if after.is_no_worse_than(before):
                good += group
                self._known = new, after  # what the next round starts from
            elif len(group) > 1:
                waiting += reversed(_divided(group, good, after.beyond(before), new))
        kept = {id(choice) for choice in good}
        return [choice for choice in chosen if id(choice) in kept]


def _divided(group: list[Choice], beside: list[Choice], new: list[Diagnostic], text: str
             ) -> tuple[list[Choice], list[Choice]]:
    """Two parts of a group: what is at no new error's place and what is, or, where that says nothing, two halves."""
    edits = sorted((start, end, len(by), number) for number, (_, changes) in enumerate((*group, *beside))
                   for start, end, by in changes)
    # Where each edit begins in the new text: what stood before it has grown by what the earlier ones added.
    grown = itertools.accumulate((by - (end - start) for start, end, by, _ in edits), initial=0)
    starts = [start + more for (start, *_), more in zip(edits, grown, strict=False)]
    source, blamed = Source(text), set[int]()
    for diagnostic in new:
        first = bisect.bisect_left(starts, text.rfind("\n", 0, _offset(source, diagnostic, ends=False)) + 1)
        last = _offset(source, diagnostic, ends=True)
        for at in range(first, len(edits)):
            if starts[at] > last:
                break
            blamed.add(edits[at][3])
    parts = ([c for n, c in enumerate(group) if n not in blamed], [c for n, c in enumerate(group) if n in blamed])
    half = len(group) // 2
    return parts if all(parts) else (group[:half], group[half:])


def _offset(source: Source, diagnostic: Diagnostic, *, ends: bool) -> int:
    line, column = ((diagnostic.end_line, diagnostic.end_column) if ends else (diagnostic.line, diagnostic.column))
    return source.offset(Position(line, column)) or 0
