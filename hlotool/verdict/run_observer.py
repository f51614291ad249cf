"""Looks at a reference run while it goes on: which sides of choices it takes, where the first NaN is made, how long.

A watch is a rebinding for `evaluate_program`: it puts a function that looks in the place of an operation's own.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.diagnostics import HloError
from hlotool.execution import TIMEOUT, OutOfTime, Program, evaluate_program, run_limit
from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.ops import called_routine
from hlotool.process import work_time

Function: TypeAlias = Callable[..., Any]

#: rounds of loops in one run; more are taken for no end
MOST_ROUNDS = 20_000
#: opcode of a choice -> the names of its sides, where they are always the same
SIDES: dict[str, tuple[str, ...]] = {}
_Look: TypeAlias = "Callable[[Watch, HloInstruction, Function], Function]"
#: opcode -> the function that notes what an instruction chooses
_LOOKS: dict[str, _Look] = {}


def _looks_at(opcode: str, *sides: str) -> Callable[[_Look], _Look]:
    """Register the look at an operation that chooses, and the names of its sides."""
    def register(look: _Look) -> _Look:
        _LOOKS[opcode], SIDES[opcode] = look, sides
        return look

    return register


@dataclass
class Coverage:
    """The sides of selects, clamps, conditionals, loops and truth values that some run has taken."""

    taken: dict[HloInstruction, set[int]] = field(default_factory=dict)
    #: the most rounds that a run of a loop took
    rounds: dict[HloInstruction, int] = field(default_factory=dict)

    def take(self, instruction: HloInstruction, *sides: int) -> None:
        self.taken.setdefault(instruction, set()).update(sides)

    def missing(self, instruction: HloInstruction) -> tuple[str, ...]:
        """The sides of a choice that no run has taken."""
        names = sides_of(instruction)
        return tuple(n for i, n in enumerate(names) if i not in self.taken.get(instruction, ()))


def sides_of(instruction: HloInstruction) -> tuple[str, ...]:
    """The sides of a choice by name; none for other operations."""
    if instruction.opcode == "conditional":
        return tuple(c.name for c in instruction.called_computations())
    if instruction.opcode in ("convert", "xor") and (
            not instruction.operands[0].shape.is_array or instruction.operands[0].shape.element_type != "pred"):
        return ()  # of truth values a number is made, or another truth value that each of them decides
    return SIDES.get(instruction.opcode, ())


@dataclass
class Watch:
    """One run. `coverage` notes the sides taken; `until` is when it must end, on the clock of `work_time()`."""

    coverage: Coverage | None = None
    until: float | None = None
    #: puts another function in the place of an instruction's own
    replaced: Callable[[HloInstruction, Function], Function] | None = None
    #: note the instructions that make NaN or infinities of finite operands
    is_after_origins: bool = False
    origins: list[HloInstruction] = field(default_factory=list)
    rounds: int = 0
    #: a routine of LAPACK that iterates was asked about what is not finite, on which some versions do not end
    may_hang: bool = False

    def run(self, program: Program, arguments: Sequence[Sequence[Array]]) -> list[list[Array]]:
        """The results of the reference. Raises OutOfTime, and HloError as it does."""
        limit = contextlib.nullcontext() if self.until is None else run_limit(self.until - work_time())
        with limit:
            try:
                return evaluate_program(program, arguments, rebind=self.rebind)
            except HloError as error:
                if any(d.code == TIMEOUT for d in error.diagnostics):
                    raise OutOfTime(str(error)) from error
                raise

    def rebind(self, instruction: HloInstruction, function: Function,
               keywords: dict[str, Any]) -> tuple[Function, dict[str, Any]]:
        """The function of an instruction, with a look at what it gets."""
        if self.replaced is not None:
            function = self.replaced(instruction, function)
        if instruction.opcode in _LOOKS:
            function = _LOOKS[instruction.opcode](self, instruction, function)
        if self.is_after_origins and instruction.shape.is_array and instruction.operands:
            function = self._origin(instruction, function)
        return function, keywords

    @_looks_at("select", "on_true", "on_false")
    def _select(self, instruction: HloInstruction, function: Function) -> Function:
        def call(pred: Array, *values: Array) -> Array:
            if self.coverage is not None and pred.size:
                self.coverage.take(instruction, *([0] if pred.any() else []), *([] if pred.all() else [1]))
            found: Array = function(pred, *values)
            return found

        return call

    @_looks_at("convert", "true", "false")
    def _convert(self, instruction: HloInstruction, function: Function) -> Function:
        def call(value: Array, **keywords: Any) -> Array:
            if self.coverage is not None and value.size:
                self.coverage.take(instruction, *([0] if value.any() else []), *([] if value.all() else [1]))
            found: Array = function(value, **keywords)
            return found

        return call if sides_of(instruction) else function

    @_looks_at("xor", "first true", "first false", "second true", "second false")
    def _xor(self, instruction: HloInstruction, function: Function) -> Function:
        def call(*values: Array) -> Array:
            if self.coverage is not None and values[0].size:
                for number, value in enumerate(values):
                    self.coverage.take(instruction, *([2 * number] if value.any() else []),
                                       *([] if value.all() else [2 * number + 1]))
            found: Array = function(*values)
            return found

        return call if sides_of(instruction) else function

    @_looks_at("clamp", "below min", "between", "above max")
    def _clamp(self, instruction: HloInstruction, function: Function) -> Function:
        def call(low: Array, value: Array, high: Array) -> Array:
            if self.coverage is not None and value.size:
                below, above = value < low, value > high
                self.coverage.take(instruction, *([0] if below.any() else []), *([2] if above.any() else []),
                                   *([] if (below | above).all() else [1]))
            found: Array = function(low, value, high)
            return found

        return call

    @_looks_at("custom-call")
    def _custom_call(self, instruction: HloInstruction, function: Function) -> Function:
        routine = called_routine(instruction)

        def call(*values: Any, **keywords: Any) -> Any:
            self.may_hang |= not all(np.isfinite(v).all() for v in values if v.dtype.kind in "fc")
            return function(*values, **keywords)

        return call if routine is not None and routine.columns else function

    @_looks_at("conditional")
    def _conditional(self, instruction: HloInstruction, function: Function) -> Function:
        count = len(instruction.called_computations())

        def call(selector: Array, *values: Any, **keywords: Any) -> Any:
            if self.coverage is not None:
                number = int(selector)
                if selector.dtype == bool:
                    number = 1 - number
                self.coverage.take(instruction, number if 0 <= number < count else count - 1)
            return function(selector, *values, **keywords)

        return call

    @_looks_at("while", "body")
    def _while(self, instruction: HloInstruction, function: Function) -> Function:
        def call(init: Any, *, condition: Any, body: Any) -> Any:
            rounds = 0

            def counted(state: Any) -> Any:
                nonlocal rounds
                self.rounds, rounds = self.rounds + 1, rounds + 1
                if self.coverage is not None:
                    self.coverage.take(instruction, 0)
                    self.coverage.rounds[instruction] = max(rounds, self.coverage.rounds.get(instruction, 0))
                if self.rounds > MOST_ROUNDS or (self.until is not None and work_time() > self.until):
                    raise OutOfTime(f"while {instruction.name} does not end within {self.rounds - 1:,} rounds")
                return body(state)

            return function(init, condition=condition, body=counted)

        return call

    def _origin(self, instruction: HloInstruction, function: Function) -> Function:
        def call(*values: Any, **keywords: Any) -> Any:
            found = function(*values, **keywords)
            if not is_finite(found) and all(map(is_finite, values)):
                self.origins.append(instruction)
            return found

        return call


def is_finite(value: Any) -> bool:
    """Return True if a value, tuples and tokens included, holds neither NaN nor infinities."""
    if isinstance(value, tuple):
        return all(map(is_finite, value))
    if value is None or getattr(value, "dtype", None) is None or value.dtype.kind in "biu":
        return True
    return bool(np.isfinite(value if value.dtype.kind in "fc" else value.astype(np.float64)).all())
