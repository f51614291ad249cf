"""Findings of a text while it is typed: what a change can tell at once, and what was known before of the rest.

A look at all of a text of megabytes takes a second. A change tells at once every syntax error of the text, and what the
operations say about the instructions of the computation that was changed and of its callers. What else is known (the
rules, channels, buffers, ...) stays from the last look at the whole text, without what it said about changed lines. The
next look at the whole text, which begins when typing rests, settles all of it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hlotool.diagnostics import Diagnostic, Severity
from hlotool.ir import HloComputation, HloInstruction
from hlotool.linting import Settings, left
from hlotool.passes.lints import RULES
from hlotool.passes.verify import InstructionChecks
from hlotool.serve.lsp.document import ModulePart
from hlotool.text import Changed, moved


class Following:
    """The findings about one module, kept up to date with its text."""

    def __init__(self, part: ModulePart, settings: Settings) -> None:
        self._part, self._settings = part, settings
        #: made when the text has no syntax errors for the first time
        self._checks: InstructionChecks | None = None
        #: changed computations that were not looked at since, with what was changed and what is gone
        self._stale: dict[HloComputation, tuple[set[HloInstruction], list[HloInstruction]]] = {}
        #: what the last look at a whole text without syntax errors found beside the instructions' own rules
        self._others: list[Diagnostic] = []
        #: what the last look at the whole text found, where nothing was changed since
        self._settled: list[Diagnostic] | None = None

    def prepare(self) -> bool:
        """Have everything at hand that the first change needs; True once that is so."""
        if not self._part.errors:
            self._checked()
        return True

    def follow(self, changed: Changed) -> None:
        """Note a change that the module has made already."""
        self._settled = None
        if changed.computation is not None:
            instructions, gone = self._stale.setdefault(changed.computation, (set(), []))
            instructions.update(changed.instructions)
            gone += changed.gone
        source = self._part.source
        first, behind = changed.first, changed.behind
        lines = {source.position(i.offset).line for i in changed.instructions}
        kept = [moved(d, behind, changed.added) for d in self._others if not first <= d.line < behind]
        self._others = [d for d in kept if d.line not in lines]

    def findings(self) -> list[Diagnostic]:
        """Return the findings as far as they are known now. The module must not be changed meanwhile."""
        if self._settled is not None:
            return self._settled
        if self._part.errors:
            return self._part.errors
        checks = self._checked()
        checked = self._own(checks)
        others = [d for d in self._others if d.code not in RULES]
        failed = checks.failed_lines() if others else set()
        found = [*checked, *(d for d in others if d.line not in failed or d.code.startswith("P"))]
        if not any(d.severity is Severity.ERROR for d in found):
            found += [d for d in self._others if d.code in RULES]
        return sorted(dict.fromkeys(found), key=lambda d: (d.line, d.column))

    def settle(self, found: Sequence[Diagnostic]) -> bool:
        """Take over what a look at the whole text found; False where it shows that this is out of step."""
        errors = self._part.errors
        if errors:
            if _places(errors) != _places(found):
                return False
            self._settled = list(found)
            return True
        own = _places(self._own(self._checked()))
        if not own <= _places(found):
            return False
        self._others = [d for d in found if (d.code, d.line, d.column) not in own]
        self._settled = list(found)
        return True

    def _checked(self) -> InstructionChecks:
        """Return the checks of the text as it is now, which has no syntax errors."""
        stale, self._stale = self._stale, {}
        if self._checks is None:
            self._checks = InstructionChecks(self._part.module)
            return self._checks
        for computation, (changed, gone) in stale.items():
            self._checks.recheck(computation, changed, gone)
        return self._checks

    def _own(self, checks: InstructionChecks) -> list[Diagnostic]:
        """Return the findings of rules about single instructions, under the settings and comments of the text."""
        return left(checks.findings(), self._part.module, self._settings)[0]


def _places(found: Iterable[Diagnostic]) -> set[tuple[str, int, int]]:
    return {(d.code, d.line, d.column) for d in found}
