"""Runs of a module with one instruction edited; what the edit cannot change is not computed again."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any

from hlotool.blame.reference_run import UNKNOWN, ReferenceRun
from hlotool.blame.small_edits import SmallEdit, apply_edit
from hlotool.diagnostics import HloError
from hlotool.execution import TIMEOUT, InstructionRuns, Observer, OutOfTime, Program, evaluate_program, flat
from hlotool.ir import HloComputation, HloInstruction, post_order, reachable
from hlotool.ir.arrays import Array, np
from hlotool.numerics import Rows
from hlotool.ops import OPS, Calls, flow_of
from hlotool.passes.edit import clone_module

#: how many times as many rounds as the module's loops make an edited one's may make, and how many more
_LONGER, _LEAST = 4, 1_000


class EditedRuns:
    """Runs of a program of one device, with an edit of one of its instructions."""

    def __init__(self, program: Program, own: ReferenceRun, most: int) -> None:
        copies: dict[Any, Any] = {}
        self._program = Program(clone_module(program.module, copies=copies))
        self._copies = copies
        self._originals = {copy: original for original, copy in copies.items()}
        self._homes = program.module.parents()
        self._order = post_order(program.module.entry)
        self._known = {i: own.value((i,), (0,)) for i in self._order}
        self._cost = own.steps
        self._affected: dict[HloInstruction, list[HloInstruction]] = {}
        ends = {c.root for i in program.module.instructions() if flow_of(i).calls is Calls.LOOP
                for c in i.called_computations()}
        self._loop_ends = {copies[end] for end in ends}
        self._most_rounds = _LEAST + _LONGER * sum(len(t) for site, t in own.values.items() if site[-1] in ends)
        self._rounds = 0
        #: the edited instruction, and the operation after it
        self._followed: tuple[HloInstruction, str] | None = None
        self._runner = InstructionRuns(self._program, self._bound)
        #: instructions that runs may still compute
        self.left = most

    def results(self, edit: SmallEdit) -> list[list[Array]] | None:
        """Return the results on the arguments of the module's own run, with an edit; None where there are none then.

        Nor are there where more would be computed than is left.
        """
        affected = self._affected_by(edit.instruction)
        self.left -= sum(self._cost[i] for i in affected)
        if self.left < 0:
            return None
        values, self._rounds = dict(self._known), 0
        with self.edited(edit):
            try:
                for instruction in affected:
                    copy = self._copies[instruction]
                    values[instruction] = self._runner.run(copy, [values[self._originals[o]] for o in copy.operands])
            except (HloError, OutOfTime):
                return None
        root = self._program.module.entry.root
        return [list(flat(root.shape, values[self._originals[root]]))]

    def results_on(self, arguments: Rows, edit: SmallEdit, observer: Observer | None = None
                   ) -> list[list[Array]] | None:
        """Return the results on any arguments, with an edit; None where there are none then."""
        self._rounds = 0
        try:
            with self.edited(edit), np.errstate(all="ignore"):
                return evaluate_program(self._program, arguments, observer, rebind=self._bound, sees_parts=True)
        except (HloError, OutOfTime):
            return None

    def original(self, site: tuple[HloInstruction, ...]) -> tuple[HloInstruction, ...]:
        """Return the site in the module of what runs in its copy."""
        return tuple(self._originals.get(i, i) for i in site)

    @contextlib.contextmanager
    def edited(self, edit: SmallEdit) -> Iterator[None]:
        """Within it the instructions that an observer has seen are those of the edited module."""
        copy, home = self._copies[edit.instruction], self._copies[self._homes[edit.instruction]]
        before = copy.opcode, copy.operands, copy.attributes
        apply_edit(edit, self._copies)
        self._followed = (copy, edit.after)
        self._runner.forget(copy, home)
        try:
            yield
        finally:
            copy.opcode, copy.operands, copy.attributes = before
            self._followed = None
            self._runner.forget(copy, home)

    def _bound(self, instruction: HloInstruction, function: Callable[..., Any], keywords: dict[str, Any]
               ) -> tuple[Callable[..., Any], dict[str, Any]]:
        """Let loops end, and the edited instruction's value go through the operation after it."""
        if instruction in self._loop_ends:
            function = self._counted(function)
        if self._followed is not None and self._followed[0] is instruction and self._followed[1]:
            function = _followed_by(function, self._followed[1])
        return function, keywords

    def _counted(self, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*operands: Any, **keywords: Any) -> Any:
            self._rounds += 1
            if self._rounds > self._most_rounds:
                raise HloError.of(TIMEOUT, "the edited module runs much longer than it did before")
            return function(*operands, **keywords)

        return run

    def _affected_by(self, edited: HloInstruction) -> list[HloInstruction]:
        """Return the entry's instructions whose values an edit may change, and those whose values are not known."""
        if edited not in self._affected:
            home = self._homes[edited]
            found: set[HloInstruction] = set()
            for instruction in self._order:
                if instruction is edited or home in _called(instruction) or self._known[instruction] is UNKNOWN \
                        or not found.isdisjoint(instruction.operands):
                    found.add(instruction)
            self._affected[edited] = [i for i in self._order if i in found]
        return self._affected[edited]


def _called(instruction: HloInstruction) -> frozenset[HloComputation]:
    return frozenset(reachable(instruction.called_computations()))


def _followed_by(function: Callable[..., Any], opcode: str) -> Callable[..., Any]:
    def run(*operands: Any, **keywords: Any) -> Any:
        value = function(*operands, **keywords)
        return np.asarray(OPS[opcode].evaluate(value)).astype(value.dtype)

    return run
