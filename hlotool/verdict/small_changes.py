"""Tells if arguments let what differs between two modules reach a result, where it is an instruction or a few.

    k = s32[] constant(1)      in the second module constant(2)
    y = s32[] select(c, k, x)  c is true on no arguments

Agreement on such arguments tells nothing: with any other number in the place of `k` the results are the same. So a
changed instruction gets numbers beside those that it has, on one set of arguments after the other, until a result
changes. A comparison that gives the same truth values in both modules on all arguments was not tried, either.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution import InstructionRuns, OutOfTime, Program
from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import Array, np
from hlotool.passes.equality import ModuleChange, diff
from hlotool.process import work_time
from hlotool.verdict.run_observer import Function, Watch

#: changed instructions of two modules that are looked at
_MOST_CHANGED = 3
#: factors of the difference that are added to a number: its place is judged by numbers beside it and its partner
_BESIDE = (-1, 2)


def small_changes(one: HloModule, other: HloModule) -> list[ModuleChange]:
    """Return the pairs of instructions in which two modules differ; none where they are not a few, or not valid."""
    try:
        found = diff(one, other)
    except HloError:
        return []
    changes = found.changes
    if found.header or len(changes) > _MOST_CHANGED or any(c.kind != "changed" for c in changes):
        return []
    return changes


def unreached(one: Program, other: Program, changes: Sequence[ModuleChange], sets: Sequence[tuple[Any, Any]],
              until: float) -> list[str]:
    """Return the changed instructions of `one`, in words, where no set of arguments lets any of them reach a result.

    `sets` are arguments and the results of `one` on them; after `until`, on the clock of work_time(), no more are run.
    """
    places = [place for c in changes if (place := _place(c, other)) is not None]
    if not places or any(place.reaches(one, sets, until) for place in places):
        return []
    return [f"{p.instruction.opcode} {p.instruction.name}" for p in places]


def _place(change: ModuleChange, other: Program) -> _Place | None:
    left, right = change.left, change.right
    assert left is not None and right is not None
    if not left.shape.is_array or left.opcode == "parameter" or any(p.name == "shape" for p in change.parts):
        return None
    return _Place(left, None if any(p.name.startswith("operand") for p in change.parts) else right, other)


class _Place:
    """A changed instruction, and the other module's form of it on the same operands, if it has that."""

    def __init__(self, instruction: HloInstruction, other: HloInstruction | None, program: Program) -> None:
        self.instruction, self.other = instruction, other
        self._runs = InstructionRuns(program)
        self._factor = 0
        #: True if both forms gave another value once, or may have
        self.parted = False

    def reaches(self, program: Program, sets: Sequence[tuple[Any, Any]], until: float) -> bool:
        """Return True if other numbers in the place of the instruction's change a result on some arguments."""
        for arguments, results in sets:
            for self._factor in _BESIDE:
                if work_time() > until:
                    return False
                try:
                    found = Watch(until=until, replaced=self._replaced).run(program, arguments)
                except (OutOfTime, HloError):
                    return work_time() < until  # it decides how long the program runs, or if it has a value
                if _bits(found) != _bits(results):
                    return True
        # An operation in place of another one, with the same values, is a rewrite. A comparison in another direction
        # that always gave the same truth values has not been tried where the two directions part.
        return not self.parted and not (self.other is not None and self.other.opcode == self.instruction.opcode
                                        and self.instruction.shape.element_type == "pred")

    def _replaced(self, instruction: HloInstruction, function: Function) -> Function:
        if instruction is not self.instruction:
            return function

        def call(*operands: Any, **keywords: Any) -> Any:
            value = np.asarray(function(*operands, **keywords))
            changed = self._beside(value, self._other_value(operands))
            self.parted |= changed.tobytes() != value.tobytes()
            return changed

        return call

    def _other_value(self, operands: Sequence[Any]) -> Array | None:
        """Return the value of the other module's form; None where it has other operands, or no value."""
        try:
            return None if self.other is None else np.asarray(self._runs.run(self.other, list(operands)))
        except (OutOfTime, HloError):
            return None

    def _beside(self, value: Array, partner: Array | None) -> Array:
        """Return numbers beside both forms', where those differ; everywhere where the other one is not known."""
        if value.dtype.kind == "b":
            return ~value if partner is None else np.asarray(partner)
        with np.errstate(all="ignore"):
            step = np.ones_like(value) if partner is None else partner - value
            factor = np.asarray(self._factor).astype(value.dtype)
            return np.asarray(np.where(step != 0, value + factor * step, value)).astype(value.dtype)


def _bits(results: Sequence[Sequence[Array]]) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for row in results for leaf in row]
