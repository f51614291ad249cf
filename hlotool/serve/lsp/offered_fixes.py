"""Chooses the fixes that an editor offers: those that bring no new errors, as for `lint --fix`."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from hlotool.diagnostics import Diagnostic, Edit, Fix
from hlotool.linting import Trials, compatible, faults_of_file


class OfferedFixes:
    """The fixes of a text's findings, each tried on the text when it is first asked for.

    A text is read for each trial, so their number is limited: what could not be tried is not offered.
    """

    def __init__(self, text: str, filename: str, findings: Sequence[Diagnostic]) -> None:
        self.findings = findings
        self._text = text.replace("\r\n", "\n")
        self._trials = Trials(filename, faults_of=faults_of_file)
        self._is_sound: dict[Fix, bool] = {}

    def is_sound(self, finding: Diagnostic, fix: Fix) -> bool:
        """Return True if the text is no worse after a fix, and keeps its comments."""
        if fix not in self._is_sound:
            self._is_sound[fix] = bool(self._trials.sound(self._text, compatible(self._text, [(finding, fix)])))
        return self._is_sound[fix]

    @functools.cached_property
    def together(self) -> list[Edit]:
        """The edits of all safe fixes that can be made at once; [] where that is one fix or none."""
        wanted = [(d, f) for d in self.findings for f in d.fixes[:1] if f.is_safe]
        if len(wanted) < 2:
            return []
        good = {id(d) for d, _ in self._trials.sound(self._text, compatible(self._text, wanted))}
        return [edit for d, f in wanted if id(d) in good for edit in f.edits] if len(good) > 1 else []
