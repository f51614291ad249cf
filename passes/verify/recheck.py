"""Instructions against their operations, of a module that is changed one computation after the other.

An editor's text: what its instructions' own rules say is known again a moment after each change. What only a look at
the whole module tells (channels, buffers, schedules, ...) is not here: see verifier.py.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from hlotool.diagnostics import Diagnostic
from hlotool.ir import HloComputation, HloInstruction, HloModule, callees_first, no_collection
from hlotool.passes.instruction_findings import report_finding
from hlotool.passes.verify.verifier import Checker, Wrong


class InstructionChecks:
    """What is wrong with instructions, by computation; `recheck` brings it up to date.

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

    def recheck(self, computation: HloComputation, gone: Iterable[HloInstruction] = ()) -> None:
        """Look again at a computation that was changed, and at what calls it."""
        self._gone += gone
        with no_collection():
            callers = list(self._callers[computation])
            calls = [i for c in callers for i in c.instructions if computation in i.called_computations()]
            self._checker.forget_calls(calls)
            self._checker.forget(computation, gone)
            self._look(computation)
            for caller in callers:
                self._checker.forget(caller, ())
                self._look(caller)

    def findings(self) -> list[Diagnostic]:
        """Every finding, at the place where its instruction stands now."""
        return [report_finding(self._module, *wrong) for found in self._found.values() for wrong in found]

    def failed_lines(self) -> set[int]:
        """Lines of instructions that are wrong or use wrong ones: more about them would be cascades."""
        return self._checker.failed_lines()

    def _look(self, computation: HloComputation) -> None:
        self._found[computation] = list(self._checker.computation(computation, computation.instructions))
        for instruction in computation.instructions:
            for called in instruction.called_computations():
                self._callers[called][computation] = None
