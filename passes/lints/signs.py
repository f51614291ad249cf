"""Whether values may be zero or negative, as far as the operations that make them say."""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable

from hlotool.ir import HloInstruction
from hlotool.passes.lints.module_view import View


class Sign(enum.IntEnum):
    """What is known of all elements; where two meet, the lesser one holds."""

    #: comes from data that nothing is known of: parameters, gathers, products
    UNKNOWN = 0
    #: comes from an operation that makes negative numbers: a difference, a sine
    SIGNED = 1
    NONNEGATIVE = 2
    POSITIVE = 3


#: operations, and the sign of what they give whatever they get
_GIVES = {
    "exponential": Sign.POSITIVE, "logistic": Sign.POSITIVE, "cosh": Sign.POSITIVE, "iota": Sign.NONNEGATIVE,
    "is-finite": Sign.NONNEGATIVE, "compare": Sign.NONNEGATIVE, "count-leading-zeros": Sign.NONNEGATIVE,
    "popcnt": Sign.NONNEGATIVE, "subtract": Sign.SIGNED, "sine": Sign.SIGNED,
    "cosine": Sign.SIGNED, "tanh": Sign.SIGNED, "log": Sign.SIGNED, "exponential-minus-one": Sign.SIGNED,
    "erf": Sign.SIGNED, "tan": Sign.SIGNED, "sinh": Sign.SIGNED,
}
#: operations that keep the sign of their first operand
_KEEPS = frozenset({"copy", "bitcast", "reshape", "transpose", "broadcast", "reverse", "slice", "dynamic-slice", "sqrt",
                    "rsqrt", "cbrt", "ceil", "reduce-precision", "opt-barrier", "all-gather", "collective-permute",
                    "all-to-all", "gather", "dynamic-reshape", "domain"})
_DEEPEST = 40


class Signs:
    """Signs of a module's values, remembered."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[HloInstruction, Sign] = {}

    def of(self, instruction: HloInstruction, depth: int = 0) -> Sign:
        """The sign of an instruction's elements."""
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
        if opcode in _GIVES:
            return _GIVES[opcode]
        if opcode in _KEEPS:
            return self.of(operands[0], depth)
        special = _SPECIAL.get(opcode)
        return special(self, instruction, depth) if special else Sign.UNKNOWN

    def _is_chosen_less_constant(self, instruction: HloInstruction) -> bool:
        """Whether a constant is taken from what a comparison has chosen: where(a >= 1, a, a + 1) - 1/3."""
        chosen = self._view.origin(instruction.operands[0])
        return chosen.opcode == "select" and self._view.origin(chosen.operands[0]).opcode == "compare" \
            and self._view.constant(instruction.operands[1]) is not None

    def _is_one_less_share(self, instruction: HloInstruction) -> bool:
        """1 - logistic(x), 1 - tanh(x)^2 and 1 - 0.9^n are at least 0."""
        lhs, rhs = instruction.operands
        square = rhs.opcode == "multiply" and rhs.operands[0] is rhs.operands[1] \
            and rhs.operands[0].opcode in ("tanh", "sine", "cosine", "erf")
        decay = rhs.opcode == "power" and 0 <= (self._view.constant(rhs.operands[0]) or 2) <= 1
        return (rhs.opcode == "logistic" or square or decay) and self._view.constant(lhs) == 1

    def constant(self, instruction: HloInstruction, depth: int) -> Sign:
        numbers = self._view.numbers(instruction)
        if not numbers:
            return Sign.UNKNOWN
        least = min(numbers)
        return Sign.POSITIVE if least > 0 else Sign.NONNEGATIVE if least >= 0 else Sign.SIGNED

    def parameter(self, instruction: HloInstruction, depth: int) -> Sign:
        outer = self._view.outer(instruction)
        return self.of(outer, depth) if outer is not None else Sign.UNKNOWN

    def fusion(self, instruction: HloInstruction, depth: int) -> Sign:
        called = instruction.called_computations()
        return self.of(called[0].root, depth) if called else Sign.UNKNOWN

    def negate(self, instruction: HloInstruction, depth: int) -> Sign:
        return Sign.SIGNED if self.of(instruction.operands[0], depth) >= Sign.NONNEGATIVE else Sign.UNKNOWN

    def absolute(self, instruction: HloInstruction, depth: int) -> Sign:
        return max(Sign.NONNEGATIVE, self.of(instruction.operands[0], depth))

    def convert(self, instruction: HloInstruction, depth: int) -> Sign:
        operand = instruction.operands[0]
        if operand.shape.dtype.family in ("pred", "unsigned"):
            return max(Sign.NONNEGATIVE, self.of(operand, depth))
        sign = self.of(operand, depth)
        # A fraction becomes zero.
        rounds = operand.shape.dtype.is_floating and instruction.shape.dtype.is_integral
        return min(sign, Sign.NONNEGATIVE) if rounds else sign

    def add(self, instruction: HloInstruction, depth: int) -> Sign:
        a, b = (self.of(o, depth) for o in instruction.operands)
        if min(a, b) >= Sign.NONNEGATIVE:
            return max(a, b)
        return min(a, b)

    def multiply(self, instruction: HloInstruction, depth: int) -> Sign:
        a, b = instruction.operands
        if self._view.origin(a) is self._view.origin(b) and a.opcode not in ("constant",):
            return max(Sign.NONNEGATIVE, self.of(a, depth))
        return self._least((a, b), depth)

    def divide(self, instruction: HloInstruction, depth: int) -> Sign:
        return self._least(instruction.operands, depth)

    def maximum(self, instruction: HloInstruction, depth: int) -> Sign:
        a, b = (self.of(o, depth) for o in instruction.operands)
        return max(a, b) if max(a, b) >= Sign.NONNEGATIVE else min(a, b)

    def minimum(self, instruction: HloInstruction, depth: int) -> Sign:
        return self._least(instruction.operands, depth)

    def clamp(self, instruction: HloInstruction, depth: int) -> Sign:
        low, value, _ = (self.of(o, depth) for o in instruction.operands)
        return max(low, value) if low >= Sign.NONNEGATIVE else value

    def power(self, instruction: HloInstruction, depth: int) -> Sign:
        base, exponent = instruction.operands
        sign, value = self.of(base, depth), self._view.constant(exponent)
        if sign >= Sign.NONNEGATIVE:
            return sign
        return Sign.NONNEGATIVE if value is not None and value % 2 == 0 else Sign.UNKNOWN

    def select(self, instruction: HloInstruction, depth: int) -> Sign:
        predicate, *sides = instruction.operands
        test = self._view.origin(predicate)
        origins = {self._view.origin(s) for s in sides}
        if test.opcode == "compare" and any(self._view.origin(o) in origins for o in test.operands):
            return Sign.POSITIVE  # the side that would do harm is not taken: the guard is the author's own
        return self._least(sides, depth)

    def reduce(self, instruction: HloInstruction, depth: int) -> Sign:
        called, count = instruction.called_computations(), len(instruction.operands) // 2
        record = self._view.reducer(called[0]) if called and count == 1 else None
        if record is None:
            return Sign.UNKNOWN
        if record.opcode == "add" and self._counts_extremes(instruction):
            return Sign.POSITIVE
        sign = self.of(instruction.operands[0], depth)
        initial = self.of(instruction.operands[1], depth)
        if record.opcode == "add":
            return max(sign, initial) if min(sign, initial) >= Sign.NONNEGATIVE else min(sign, initial)
        return sign if record.opcode in ("maximum", "minimum", "multiply") else Sign.UNKNOWN

    def _counts_extremes(self, instruction: HloInstruction) -> bool:
        """Whether it counts elements equal to their own maximum or minimum over the same dimensions: at least one is.

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
            record = self._view.reducer(called[0]) if len(called) == 1 and len(extreme.operands) == 2 else None
            if record is not None and record.opcode in ("maximum", "minimum") \
                    and self._view.origin(extreme.operands[0]) is self._view.origin(value) \
                    and extreme.attributes.get("dimensions") == instruction.attributes.get("dimensions"):
                return True
        return False

    def all(self, instruction: HloInstruction, depth: int) -> Sign:
        return self._least(instruction.operands, depth)

    def all_reduce(self, instruction: HloInstruction, depth: int) -> Sign:
        return self.of(instruction.operands[0], depth) if len(instruction.operands) == 1 else Sign.UNKNOWN

    def _least(self, operands: Iterable[HloInstruction], depth: int) -> Sign:
        return min(self.of(o, depth) for o in operands)


_SPECIAL: dict[str, Callable[[Signs, HloInstruction, int], Sign]] = {
    "constant": Signs.constant, "parameter": Signs.parameter, "fusion": Signs.fusion, "abs": Signs.absolute,
    "negate": Signs.negate,
    "convert": Signs.convert, "add": Signs.add, "multiply": Signs.multiply, "divide": Signs.divide,
    "maximum": Signs.maximum, "minimum": Signs.minimum, "clamp": Signs.clamp, "power": Signs.power,
    "select": Signs.select, "reduce": Signs.reduce, "concatenate": Signs.all, "pad": Signs.all,
    "all-reduce": Signs.all_reduce, "reduce-scatter": Signs.all_reduce,
}
