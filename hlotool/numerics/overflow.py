"""Values that programs leave open where their numbers overflow, in one sample of rounding.py.

    sums, products      of many numbers, in an order of the backend's choice: where partial ones may leave the range of
                        the type, what comes out is the result, an infinity or NaN (of products 0, too); two such
                        sums that are added may be one, and one of sums of two numbers two such sums
    x * y + z           may be one operation, whose product is not rounded (contraction): where x * y alone overflows,
                        what comes out is finite, or another infinity
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.numerics.higher_precision import own, widened
from hlotool.numerics.ulps import largest, unit_of
from hlotool.ops import binary_opcode, limits, opcodes

Function: TypeAlias = Callable[..., Any]

#: operations that forward numbers, up to the sign, so that a product may be their operand
MOVES = opcodes(lambda flow: flow.repeats) | {"slice", "negate"}
#: products, and sums, that are remembered at a time
_MOST_KNOWN = 64


class _Known:
    """Facts about the last arrays, which are known by identity."""

    def __init__(self) -> None:
        self._facts: dict[int, tuple[Array, Array]] = {}

    def remember(self, value: Array, fact: Array) -> None:
        if len(self._facts) >= _MOST_KNOWN:
            self._facts.pop(next(iter(self._facts)))
        self._facts[id(value)] = value, fact

    def of(self, value: Array) -> Array | None:
        found = self._facts.get(id(value))
        return found[1] if found is not None and found[0] is value else None


class OpenEnds:
    """The choices of one sample; of one thread."""

    def __init__(self, seed: int, random: Any) -> None:
        self._seed, self._random = seed, random
        #: products that overflow, by identity, beside what they are at higher precision
        self._products = _Known()
        #: sums of large numbers, by identity, beside what they are at higher precision and the sums of magnitudes
        self._sums = _Known()
        #: sums of two numbers that are summed up further, by identity, beside the sums of their magnitudes
        self._terms = _Known()

    # Contraction.

    def note_product(self, product: Array, exact: Array) -> None:
        """Remember what a product would be that is not rounded, where that makes a difference in kind."""
        if product.dtype.kind != "c" and bool((~np.isfinite(product.astype(exact.dtype)) & np.isfinite(exact)).any()):
            self._products.remember(product, exact)

    def moved(self, function: Function, operand: Array, keywords: dict[str, Any], shape: Shape) -> Array:
        """Operations that forward a number, and so an unrounded product."""
        found: Array = function(operand, **keywords)
        exact = self._products.of(operand)
        if exact is not None:
            self._products.remember(found, widened(function(exact, **keywords), shape))
        return found

    def contracted(self, values: Sequence[Array], shapes: Sequence[Shape]) -> list[Array]:
        """The operands of a sum at higher precision, one of them a product that is not rounded, or none."""
        wide = [widened(v, s) for v, s in zip(values, shapes, strict=True)]
        exact = {n: e for n, v in enumerate(values) if (e := self._products.of(np.asarray(v))) is not None}
        chosen = int(self._random.integers(0, len(values) + 1)) if exact else len(values)
        if chosen in exact:
            wide[chosen] = exact[chosen]
        return wide

    # Orders.

    def note_terms(self, found: Array, terms: Sequence[Array]) -> None:
        """Remember what a sum (or difference) of two numbers is made of: where many such are summed up, the first ones
        may be summed up apart from the second ones, and overflow there although these hold infinities."""
        sizes = [np.where(np.isfinite(t), np.abs(t), 0) for t in terms]
        self._terms.remember(found, functools.reduce(np.add, sizes))

    def magnitudes(self, values: Array, wide: Array) -> Array:
        """The magnitudes of numbers that are summed up, at higher precision; of sums, those of their finite terms."""
        known = self._terms.of(values)
        return np.abs(wide) if known is None else known

    def note_sum(self, found: Array, exact: Array, size: Array, shape: Shape) -> None:
        """Remember a sum of many numbers at higher precision, where that of their magnitudes is near the end of the
        range."""
        if found.dtype.kind != "c" and bool((size > largest(shape.dtype) / 4).any()):
            self._sums.remember(found, np.stack([exact, size]))

    def added(self, function: Function, found: Array, values: Sequence[Array], shape: Shape) -> Array:
        """A sum (or difference) of two sums, left open where as one sum it may leave the range."""
        known = [self._sums.of(np.asarray(v)) for v in values]
        if all(k is None for k in known):
            return found
        with np.errstate(all="ignore"):
            wide = [(w := widened(v, shape), np.abs(w)) if k is None else k for k, v in zip(known, values, strict=True)]
            exact, size = function(*(w[0] for w in wide)), sum(w[1] for w in wide)
            # One that overflows alone stays open beside an infinity, too: together they may be that infinity.
            where = np.logical_or.reduce([(w > largest(shape.dtype)) & np.isfinite(w)
                                          for w in (size, *(k[1] for k in wide))])
            most = np.minimum(size * unit_of(shape.dtype), largest(shape.dtype) / 4)
            off = self._random.uniform(-1.0, 1.0, exact.shape) * most
            return self.ends(found, where, [own(exact + off, shape)]) if where.any() else found

    def ends(self, found: Array, where: Array, others: Sequence[Array] = ()) -> Array:
        """Some elements as they are, infinite or NaN, or one of the others: few samples must show each of them.

        Of the first samples all elements go one way, of the later ones each goes its own.
        """
        return self._one_of([found, *(np.full_like(found, end) for end in (np.nan, np.inf, -np.inf)), *others], where)

    def folded(self, instruction: HloInstruction, function: Function, operands: Sequence[Array],
               keywords: dict[str, Any], found: Array) -> Array:
        """The result of a sum or product of many numbers, left open where partial ones may leave the range."""
        opcode = fold_of(instruction)
        if not opcode:
            return found
        values, initial = self._products.of(operands[0]), operands[1]
        is_contracted = values is not None
        if values is None:
            values = widened(operands[0], instruction.operands[0].shape)
        initial = widened(initial, instruction.operands[1].shape)
        if not values.size:
            return found
        with np.errstate(all="ignore"):
            fold = functools.partial(_folded, function, keywords)
            if opcode == "add":
                most = largest(instruction.shape.dtype)
                sizes = self.magnitudes(operands[0], values)
                widest = np.nan_to_num(sizes, nan=0.0, posinf=np.inf).max()
                if float(widest) * values.size + abs(float(initial)) <= most:
                    return found
                size = fold(np.add, sizes, np.abs(initial))
                exact = own(fold(np.add, values, initial), instruction.shape)
                if is_contracted:
                    found = self._either(found, size > most, [exact])
                where = (size > most) & np.isfinite(size)
                return self.ends(found, where, [exact]) if where.any() else found
            return self._product_folded(instruction, fold, values, initial, found)

    def _product_folded(self, instruction: HloInstruction, fold: Function, values: Array, initial: Array,
                        found: Array) -> Array:
        highest, _, least = limits(instruction.shape.dtype)[:3]
        logs = [np.log2(np.abs(a)) for a in (values, initial)]
        zero = fold(np.add, *((np.abs(a) == 0).astype(values.dtype) for a in (values, initial))) > 0
        logs = [np.where(np.isfinite(a), a, 0) for a in logs]
        up, down = (fold(np.add, *(part(a, 0) for a in logs)) for part in (np.maximum, np.minimum))
        known = np.isfinite(fold(np.add, *(np.where(a == 0, 1.0, a) for a in (values, initial))))
        over, under = up > np.log2(float(highest)), (down < np.log2(float(least))) | zero
        exact = own(fold(np.multiply, values, initial), instruction.shape)
        nothing = np.zeros_like(found)
        found = self._either(found, known & under & ~over, [nothing, exact])
        return self.ends(found, known & over, [nothing, exact]) if (known & over).any() else found

    def _either(self, found: Array, where: Array, others: Sequence[Array]) -> Array:
        return self._one_of([found, *others], where) if where.any() else found

    def _one_of(self, ways: Sequence[Array], where: Array) -> Array:
        """Some elements as one of the arrays has them, the others as the first has."""
        found = ways[0]
        ways = [np.asarray(w).astype(found.dtype) for w in ways]
        which = (np.full(found.shape, self._seed % len(ways)) if self._seed < len(ways)
                 else self._random.integers(0, len(ways), found.shape))
        return np.where(where, np.choose(which, ways), found).astype(found.dtype, copy=False)


def fold_of(instruction: HloInstruction) -> str:
    """The opcode of a reducer that is one sum or product of two real floats; empty for others."""
    called = instruction.called_computations()
    if len(called) != 1 or len(instruction.operands) != 2 or not instruction.shape.is_array:
        return ""
    opcode = binary_opcode(called[0])
    return opcode if opcode in ("add", "multiply") and instruction.shape.dtype.is_floating else ""


@dataclass(frozen=True)
class Plain:
    """An operation of NumPy in the place of a reducer."""

    computation: HloComputation
    combine: Function

    def __call__(self, left: Array, right: Array) -> Any:
        return self.combine(left, right)


def _folded(function: Function, keywords: dict[str, Any], combine: Function, values: Array, initial: Array) -> Any:
    """The fold of other numbers by another operation."""
    return function(values, initial, **keywords | {"to_apply": Plain(keywords["to_apply"].computation, combine)})
