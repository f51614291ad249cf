"""Instructions against their operations, of a module that is changed one computation after the other.

An editor's text: what its instructions' own rules say is known again a moment after each change. What only a look at
the whole module tells (channels, buffers, schedules, ...) is not here: see verifier.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable

from hlotool.diagnostics import Diagnostic
from hlotool.ir import HloComputation, HloInstruction, HloModule, callees_first, no_collection
from hlotool.passes.instruction_findings import report_finding
from hlotool.passes.verify.verifier import Checker, Wrong


class InstructionChecks:
    """The findings about instructions, by computation; `recheck` brings them up to date.

    The module is one that was read from a text without errors: operands stand in front of their users.
    """

    def __init__(self, module: HloModule) -> None:
        self._module = module
        self._checker = Checker(module)
        self._found: dict[HloComputation, list[Wrong]] = {}
        self._callers: dict[HloComputation, dict[HloComputation, None]] = defaultdict(dict)
        #: the checker tells attributes apart by identity, so that those which are gone must not be freed
        self._gone: list[HloInstruction] = []
        with no_collection():
            for computation in callees_first(module):
                self._look(computation)

    def recheck(self, computation: HloComputation, changed: Collection[HloInstruction],
                gone: Iterable[HloInstruction] = ()) -> None:
        """Look again at a computation of which some instructions were changed, and at what calls it."""
        self._gone += gone
        with no_collection():
            callers = list(self._callers[computation])
            calls = {c: [i for i in c.instructions if computation in i.called_computations()] for c in callers}
            if calls:
                self._checker.forget_calls([i for found in calls.values() for i in found])
            self._look_again(computation, changed, gone)
            for caller, found in calls.items():
                self._look_again(caller, found, ())

    def _look_again(self, computation: HloComputation, changed: Collection[HloInstruction],
                    gone: Iterable[HloInstruction]) -> None:
        """Look at what was changed, and at all else where that is wrong: then it tells what follows from what."""
        if not self._checker.has_failed:
            among = set(changed)
            order = [i for i in computation.instructions if i in among]
            self._note_calls(computation, order)
            if not any(True for _ in self._checker.computation(computation, order)):
                return
        self._checker.forget(computation, gone)
        self._look(computation)

    def findings(self) -> list[Diagnostic]:
        """Return every finding, at the place where its instruction stands now."""
        return [report_finding(self._module, *wrong) for found in self._found.values() for wrong in found]

    def failed_lines(self) -> set[int]:
        """Lines of instructions that are wrong or use wrong ones: more about them would be cascades."""
        return self._checker.failed_lines()

    def _look(self, computation: HloComputation) -> None:
        self._found[computation] = list(self._checker.computation(computation, computation.instructions))
        self._note_calls(computation, computation.instructions)

    def _note_calls(self, computation: HloComputation, instructions: Iterable[HloInstruction]) -> None:
        for instruction in instructions:
            for called in instruction.called_computations():
                self._callers[called][computation] = None
