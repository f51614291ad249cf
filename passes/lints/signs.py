"""Bounds the signs of values, as far as the operations that make them tell."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TypeVar

from hlotool.ir import HloInstruction
from hlotool.ops import OPS, Sign, binary_opcode, flow_of
from hlotool.passes.lints.module_view import View

_DEEPEST = 40
#: opcode -> the sign of an instruction, found from those of its operands
_RULES: dict[str, Callable[[Signs, HloInstruction, int], Sign]] = {}
_Rule = TypeVar("_Rule", bound="Callable[[Signs, HloInstruction, int], Sign]")


def _sign_of(*opcodes: str) -> Callable[[_Rule], _Rule]:
    """Register a method as the rule of operations."""
    def register(rule: _Rule) -> _Rule:
        _RULES.update(dict.fromkeys(opcodes, rule))
        return rule

    return register


class Signs:
    """Signs of a module's values, remembered."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[HloInstruction, Sign] = {}

    def of(self, instruction: HloInstruction, depth: int = 0) -> Sign:
        """Return the sign of an instruction's elements."""
        known = self._known.get(instruction)
        if known is None:
            if depth > _DEEPEST:
                return Sign.UNKNOWN
            self._known[instruction] = Sign.UNKNOWN  # loops of calls end here
            known = self._known[instruction] = self._find(instruction, depth + 1)
        return known

    def _find(self, instruction: HloInstruction, depth: int) -> Sign:
        opcode, operands = instruction.opcode, instruction.operands
        if not instruction.shape.is_array or instruction.shape.dtype.is_complex:
            return Sign.UNKNOWN
        if opcode == "subtract" and self._is_one_less_share(instruction):
            return Sign.NONNEGATIVE
        if opcode == "subtract" and self._is_chosen_less_constant(instruction):
            return Sign.UNKNOWN
        if opcode in _RULES:
            return _RULES[opcode](self, instruction, depth)
        record, flow = OPS.get(opcode), flow_of(instruction)
        if record is None or record.curve.sign is not Sign.UNKNOWN:
            return Sign.UNKNOWN if record is None else record.curve.sign
        if record.curve.keeps_sign or opcode == "reduce-precision":
            return self.of(operands[0], depth)
        return self._least(flow.data(operands), depth) if flow.moves and operands else Sign.UNKNOWN

    def _is_chosen_less_constant(self, instruction: HloInstruction) -> bool:
        """Return True if a constant is taken from what a comparison has chosen: where(a >= 1, a, a + 1) - 1/3."""
        chosen = self._view.origin(instruction.operands[0])
        return chosen.opcode == "select" and self._view.origin(chosen.operands[0]).opcode == "compare" \
            and self._view.constant(instruction.operands[1]) is not None

    def _is_one_less_share(self, instruction: HloInstruction) -> bool:
        """1 - logistic(x), 1 - tanh(x)^2 and 1 - 0.9^n are at least 0."""
        lhs, rhs = instruction.operands
        decay = rhs.opcode == "power" and 0 <= (self._view.constant(rhs.operands[0]) or 2) <= 1
        return (rhs.opcode == "logistic" or _is_square_of_share(rhs) or decay) and self._view.constant(lhs) == 1

    @_sign_of("constant")
    def constant(self, instruction: HloInstruction, depth: int) -> Sign:
        numbers = self._view.numbers(instruction)
        if not numbers:
            return Sign.UNKNOWN
        least = min(numbers)
        return Sign.POSITIVE if least > 0 else Sign.NONNEGATIVE if least >= 0 else Sign.SIGNED

    @_sign_of("parameter")
    def parameter(self, instruction: HloInstruction, depth: int) -> Sign:
        outer = self._view.outer(instruction)
        return self.of(outer, depth) if outer is not None else Sign.UNKNOWN

    @_sign_of("fusion")
    def fusion(self, instruction: HloInstruction, depth: int) -> Sign:
        called = instruction.called_computations()
        return self.of(called[0].root, depth) if called else Sign.UNKNOWN

    @_sign_of("negate")
    def negate(self, instruction: HloInstruction, depth: int) -> Sign:
        return Sign.SIGNED if self.of(instruction.operands[0], depth) >= Sign.NONNEGATIVE else Sign.UNKNOWN

    @_sign_of("abs")
    def absolute(self, instruction: HloInstruction, depth: int) -> Sign:
        return max(Sign.NONNEGATIVE, self.of(instruction.operands[0], depth))

    @_sign_of("convert")
    def convert(self, instruction: HloInstruction, depth: int) -> Sign:
        operand = instruction.operands[0]
        if operand.shape.dtype.family in ("pred", "unsigned"):
            return max(Sign.NONNEGATIVE, self.of(operand, depth))
        sign = self.of(operand, depth)
        # A fraction becomes zero.
        rounds = operand.shape.dtype.is_floating and instruction.shape.dtype.is_integral
        return min(sign, Sign.NONNEGATIVE) if rounds else sign

    @_sign_of("add")
    def add(self, instruction: HloInstruction, depth: int) -> Sign:
        a, b = (self.of(o, depth) for o in instruction.operands)
        if min(a, b) >= Sign.NONNEGATIVE:
            return max(a, b)
        return min(a, b)

    @_sign_of("multiply")
    def multiply(self, instruction: HloInstruction, depth: int) -> Sign:
        a, b = instruction.operands
        if self._view.origin(a) is self._view.origin(b) and a.opcode not in ("constant",):
            return max(Sign.NONNEGATIVE, self.of(a, depth))
        return self._least((a, b), depth)

    @_sign_of("divide")
    def divide(self, instruction: HloInstruction, depth: int) -> Sign:
        return self._least(instruction.operands, depth)

    @_sign_of("maximum")
    def maximum(self, instruction: HloInstruction, depth: int) -> Sign:
        a, b = (self.of(o, depth) for o in instruction.operands)
        return max(a, b) if max(a, b) >= Sign.NONNEGATIVE else min(a, b)

    @_sign_of("minimum")
    def minimum(self, instruction: HloInstruction, depth: int) -> Sign:
        return self._least(instruction.operands, depth)

    @_sign_of("clamp")
    def clamp(self, instruction: HloInstruction, depth: int) -> Sign:
        low, value, _ = (self.of(o, depth) for o in instruction.operands)
        return max(low, value) if low >= Sign.NONNEGATIVE else value

    @_sign_of("power")
    def power(self, instruction: HloInstruction, depth: int) -> Sign:
        base, exponent = instruction.operands
        sign, value = self.of(base, depth), self._view.constant(exponent)
        if sign >= Sign.NONNEGATIVE:
            return sign
        return Sign.NONNEGATIVE if value is not None and value % 2 == 0 else Sign.UNKNOWN

    @_sign_of("select")
    def select(self, instruction: HloInstruction, depth: int) -> Sign:
        predicate, *sides = instruction.operands
        test = self._view.origin(predicate)
        origins = {self._view.origin(s) for s in sides}
        if test.opcode == "compare" and any(self._view.origin(o) in origins for o in test.operands):
            return Sign.POSITIVE  # the side that would do harm is not taken: the guard is the author's own
        return self._least(sides, depth)

    @_sign_of("reduce")
    def reduce(self, instruction: HloInstruction, depth: int) -> Sign:
        called, count = instruction.called_computations(), len(instruction.operands) // 2
        opcode = binary_opcode(called[0]) if called and count == 1 else ""
        if not opcode:
            return Sign.UNKNOWN
        if opcode == "add" and self._counts_extremes(instruction):
            return Sign.POSITIVE
        sign = self.of(instruction.operands[0], depth)
        initial = self.of(instruction.operands[1], depth)
        if opcode == "add":
            return max(sign, initial) if min(sign, initial) >= Sign.NONNEGATIVE else min(sign, initial)
        return sign if opcode in ("maximum", "minimum", "multiply") else Sign.UNKNOWN

    def _counts_extremes(self, instruction: HloInstruction) -> bool:
        """Return True for the number of elements equal to their own maximum or minimum: at least one.

        The gradient of a maximum divides by that count.
        """
        counted = instruction.operands[0]
        while counted.opcode in ("convert", "copy", "bitcast"):
            counted = counted.operands[0]
        if counted.opcode != "compare" or str(counted.attributes.get("direction")) != "EQ":
            return False
        for value, other in (counted.operands, counted.operands[::-1]):
            extreme = self._view.origin(other)
            called = extreme.called_computations() if extreme.opcode == "reduce" else ()
            if len(called) == 1 and len(extreme.operands) == 2 \
                    and binary_opcode(called[0]) in ("maximum", "minimum") \
                    and self._view.origin(extreme.operands[0]) is self._view.origin(value) \
                    and extreme.attributes.get("dimensions") == instruction.attributes.get("dimensions"):
                return True
        return False

    @_sign_of("all-reduce", "reduce-scatter")
    def all_reduce(self, instruction: HloInstruction, depth: int) -> Sign:
        return self.of(instruction.operands[0], depth) if len(instruction.operands) == 1 else Sign.UNKNOWN

    def _least(self, operands: Iterable[HloInstruction], depth: int) -> Sign:
        return min(self.of(o, depth) for o in operands)


def _is_square_of_share(instruction: HloInstruction) -> bool:
    """Return True for the square of a function whose results are from -1 to 1."""
    return instruction.opcode == "multiply" and instruction.operands[0] is instruction.operands[1] \
        and instruction.operands[0].opcode in ("tanh", "sine", "cosine", "erf")
