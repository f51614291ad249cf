"""Proves that arrays are equal whose elements are functions of indices, for all sizes.

    reduce(concatenate(x, y)) and reduce(x) + reduce(y)      sums of the same terms: equal up to their order
    slice(pad(x, v), [L:L+M]) and x                          the same element of x at each index

Elements without folds go to a solver. Folds are equal if they fold equal elements in one way; else both sides are
written as one fold each of all their terms, and the terms are paired: a pair needs a function between their indices
that hits each index of one range once (indices in another order, shifted, or counted from the end).
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from enum import IntEnum
from typing import TypeAlias

from hlotool.ops import OPS
from hlotool.ops.index_maps import (
    ONE,
    ZERO,
    Condition,
    Element,
    Folded,
    Mapped,
    Places,
    Scalar,
    Selected,
    Sized,
    WholeNumber,
    both,
    joined_index,
    negated,
    whole,
)
from hlotool.proof.index_terms import IndexQuery, NumberDomain, commutes, has_fold, with_operands
from hlotool.proof.queries import NoSort
from hlotool.proof.solvers import Decision


class Strength(IntEnum):
    """How far two elements are proved to be equal."""

    UNKNOWN = 0
    #: but for the order in which terms are folded, and how exactly a dot sums
    REORDERED = 1
    EQUAL = 2


#: terms of one side that are paired at most
_MOST_TERMS = 6
#: a term for indices, and where it is one
_Made: TypeAlias = "tuple[Condition, Element]"


@dataclass(frozen=True)
class _Term:
    """One of the elements that are folded: for each index below its sizes, where a condition holds."""

    sizes: Places
    made: Callable[[Places], _Made]


@dataclass
class IndexProof:
    """Proofs about arrays in one domain, by one query."""

    query: IndexQuery
    _names: Iterator[int] = field(default_factory=itertools.count)
    #: names of indices that are declared, and what holds of them
    _indices: list[str] = field(default_factory=list)

    def arrays(self, before: Sized, after: Sized) -> tuple[Strength, str]:
        """Return how far two arrays are equal where the first one is valid, and why no further."""
        if len(before.dims) != len(after.dims):
            return Strength.UNKNOWN, "the ranks differ"
        for condition in after.valid:
            if not self.query.always(condition):
                return Strength.UNKNOWN, f"{condition} is not proved"
        for one, other in zip(before.dims, after.dims, strict=True):
            if not self.query.always(one.equals(other)):
                return Strength.UNKNOWN, f"the sizes {one.text} and {other.text} are not proved to be equal"
        index, within = self.index(before.dims)
        try:
            found = self.equal(before.element(index), after.element(index), within)
        except (NoSort, TypeError) as error:
            return Strength.UNKNOWN, f"nothing is known of {error}"
        return found, ("", "the order of sums", "elements are not proved to be equal")[2 - found]

    def index(self, dims: Places) -> tuple[Places, Condition]:
        """Return a new index of an array, and the condition that it is one."""
        places, conditions = [], []
        for size in dims:
            digits = []
            for part in size.parts if len(size.parts) > 1 else (size,):
                name = f"i{next(self._names)}"
                self._indices.append(name)
                digits.append((WholeNumber(name), part))
                conditions += [f"(<= 0 {name})", WholeNumber(name).below(part)]
            places.append(digits[0][0] if len(digits) == 1 else joined_index(digits))
        return tuple(places), both(*conditions)

    def equal(self, one: Element, other: Element, within: Condition) -> Strength:
        """Return how far two elements are equal where a condition holds. Raises NoSort."""
        one, other = (e.start if isinstance(e, Folded) and ZERO in e.sizes and e.start is not None else e
                      for e in (one, other))
        if not has_fold(one) and not has_fold(other):
            reply = self.query.may_differ(one, other, within, self._indices)
            return Strength.EQUAL if reply.answer is Decision.EQUAL else Strength.UNKNOWN
        for side, swapped in ((one, False), (other, True)):
            if isinstance(side, Selected):
                rest = other if not swapped else one
                return min(self._where(side.yes, rest, both(within, side.when)),
                           self._where(side.no, rest, both(within, negated(side.when))))
        found = self._alike(one, other, within)
        return found or self._paired(one, other, within)

    def _where(self, one: Element, other: Element, within: Condition) -> Strength:
        return Strength.EQUAL if self.query.never(within, self._indices) else self.equal(one, other, within)

    def _alike(self, one: Element, other: Element, within: Condition) -> Strength:
        """Return how far two folds or functions of one kind are equal, operand by operand."""
        if isinstance(one, Folded) and isinstance(other, Folded) and one.opcode == other.opcode \
                and len(one.sizes) == len(other.sizes):
            if not all(self.query.always(a.equals(b), within, self._indices)
                       for a, b in zip(one.sizes, other.sizes, strict=True)):
                return Strength.UNKNOWN
            index, inside = self.index(one.sizes)
            return min(self._order(one.opcode), self.equal(one.body(index), other.body(index), both(within, inside)),
                       Strength.EQUAL if one.start is None and other.start is None
                       else self.equal(one.start, other.start, within) if one.start is not None
                       and other.start is not None else Strength.UNKNOWN)
        if isinstance(one, Mapped) and isinstance(other, Mapped) and (one.opcode, one.attributes) == (
                other.opcode, other.attributes) and len(one.operands) == len(other.operands):
            orders = [other.operands]
            if commutes(one):
                orders.append(other.operands[::-1])
            return max(min((self.equal(a, b, within) for a, b in zip(one.operands, order, strict=True)),
                           default=Strength.EQUAL) for order in orders)
        return Strength.UNKNOWN

    # Folds in another order

    def _paired(self, one: Element, other: Element, within: Condition) -> Strength:
        """Return REORDERED if both sides fold the same terms, EQUAL if their order makes no difference."""
        opcodes = {e.opcode for e in _folds(one)} | {e.opcode for e in _folds(other)}
        (opcode,) = opcodes if len(opcodes) == 1 else ("",)
        if not opcode or "associative" not in OPS[opcode].flags:
            return Strength.UNKNOWN
        sides = [list(self._terms(e, opcode)) for e in (one, other)]
        if max(map(len, sides)) > 2 * _MOST_TERMS:
            return Strength.UNKNOWN
        left, right = self._without_starts(opcode, *sides)
        for term in left:
            partner = next((t for t in right if self._is_pair(term, t, within)), None)
            if partner is None:
                if self._is_empty(term, within):
                    continue
                return Strength.UNKNOWN
            right.remove(partner)
        if not all(self._is_empty(t, within) for t in right):
            return Strength.UNKNOWN
        return self._order(opcode)

    def _order(self, opcode: str) -> Strength:
        """Return EQUAL where folds by an operation have one result in any order, which HLO leaves open."""
        return Strength.EQUAL if self._is_exact or "idempotent" in OPS[opcode].flags else Strength.REORDERED

    def _terms(self, element: Element, opcode: str) -> Iterator[_Term]:
        """Yield the terms of an element as one fold by an operation."""
        element = _unrolled(element)
        if isinstance(element, Folded) and element.opcode == opcode:
            parts, sizes = _split(element.sizes)
            yield from self._inner(sizes, lambda k: element.body(_united(k, parts)), opcode)
            yield from self._terms(element.start, opcode) if element.start is not None else ()
        elif isinstance(element, Mapped) and element.opcode == opcode:
            for operand in element.operands:
                yield from self._terms(operand, opcode)
        else:
            yield from self._inner((), lambda _: element, opcode)

    def _inner(self, sizes: Places, folded: Callable[[Places], Element], opcode: str) -> Iterator[_Term]:
        """Yield the terms of a body: it may be a choice, a fold, or a sum or product of some."""
        count = len(sizes)

        def made(k: Places) -> Element:
            return _unrolled(folded(k))

        shape = made(tuple(WholeNumber(f"k{n}") for n in range(count)))

        def follow(path: Callable[[Element], Element], guard: Callable[[Element], Condition]) -> Iterator[_Term]:
            for term in self._inner(sizes, lambda k: path(made(k[:count])), opcode):
                yield _Term(term.sizes, lambda k, t=term: _guarded(guard(made(k[:count])), t.made(k)))  # type: ignore[misc]

        if isinstance(shape, Selected):
            yield from follow(lambda e: _choice(e).yes, lambda e: _choice(e).when)
            yield from follow(lambda e: _choice(e).no, lambda e: negated(_choice(e).when))
        elif isinstance(shape, Folded) and shape.opcode == opcode:
            parts, own = _split(shape.sizes)
            yield from self._inner((*sizes, *own), lambda k: _fold(made(k[:count])).body(_united(k[count:], parts)),
                                   opcode)
            if shape.start is not None:
                yield from follow(_start, lambda e: "true")
        elif isinstance(shape, Mapped) and shape.opcode == opcode:
            for n in range(len(shape.operands)):
                yield from follow(lambda e, n=n: _function(e).operands[n], lambda e: "true")  # type: ignore[misc]
        elif isinstance(shape, Mapped) and (chosen := [n for n, o in enumerate(shape.operands)
                                                         if isinstance(o, Selected)]):
            yield from follow(lambda e: _decided(e, chosen[0], True), lambda e: _choice_of(e, chosen[0]).when)
            yield from follow(lambda e: _decided(e, chosen[0], False), lambda e: negated(_choice_of(e, chosen[0]).when))
        elif isinstance(shape, Mapped) and self._distributes(shape, opcode):
            at = next(n for n, o in enumerate(shape.operands)
                      if has_fold(o) or (isinstance(o, Mapped) and o.opcode == opcode))
            yield from self._distributed(sizes, made, opcode, at)
        else:
            yield _Term(sizes, lambda k: ("true", made(k)))

    def _distributes(self, element: Mapped, opcode: str) -> bool:
        return self._is_exact and opcode == "add" and element.opcode in ("multiply", "negate") and any(
            has_fold(o) or (isinstance(o, Mapped) and o.opcode == opcode) for o in element.operands)

    @property
    def _is_exact(self) -> bool:
        """True where nothing is rounded, so that sums have no order and products go into sums."""
        return self.query.domain in (NumberDomain.REALS, NumberDomain.INTEGERS)

    def _distributed(self, sizes: Places, made: Callable[[Places], Element], opcode: str, at: int) -> Iterator[_Term]:
        """Yield the terms of a product with a sum: products with each of its terms."""
        count = len(sizes)
        for term in self._inner(sizes, lambda k: _function(made(k[:count])).operands[at], opcode):
            def product(k: Places, term: _Term = term) -> _Made:
                whole_one = _function(made(k[:count]))
                guard, body = term.made(k)
                return guard, with_operands(whole_one, *(body if n == at else o
                                                         for n, o in enumerate(whole_one.operands)))

            shown = product(tuple(WholeNumber(f"k{n}") for n in range(len(term.sizes))))[1]
            if has_fold(shown) or (isinstance(shown, Mapped) and self._distributes(shown, opcode)):
                for inner in self._inner(term.sizes, lambda k, p=product: p(k)[1], opcode):  # type: ignore[misc]
                    size = len(term.sizes)
                    yield _Term(inner.sizes, lambda k, i=inner, p=product, c=size: _guarded(  # type: ignore[misc]
                        p(k[:c])[0], i.made(k)))
            else:
                yield _Term(term.sizes, product)

    def _without_starts(self, opcode: str, *sides: list[_Term]) -> list[list[_Term]]:
        """Leave out starts that both sides fold in, however often: a sum with a term +0 is the same with two."""
        if opcode != "add" and "idempotent" not in OPS[opcode].flags:
            return [*sides]
        starts = [{e for t in side if not t.sizes and (e := t.made(()))[0] == "true"} for side in sides]
        shared = {e for _, e in starts[0] & starts[1] if isinstance(e, Scalar) and (opcode != "add" or e.text == "0")}
        return [[t for t in side if self._shown(t) not in shared] for side in sides]

    def _shown(self, term: _Term) -> Element:
        return term.made(tuple(WholeNumber(f"k{n}") for n in range(len(term.sizes))))[1]

    def _is_empty(self, term: _Term, within: Condition) -> bool:
        index, inside = self.index(term.sizes)
        guard, element = term.made(index)
        if self.query.never(both(within, inside, guard), self._indices):
            return True
        zero = Scalar("0")
        return self._is_exact and not has_fold(element) and self.query.may_differ(
            element, zero, both(within, inside, guard), self._indices).answer is Decision.EQUAL

    def _is_pair(self, one: _Term, other: _Term, within: Condition) -> bool:
        if len(one.sizes) != len(other.sizes):
            return False
        index, inside = self.index(one.sizes)
        guard, element = one.made(index)
        for places in _bijections(index, one.sizes, [*other.sizes, *map(WholeNumber, self.query.wholes)]):
            there = both(*(c for p, n in zip(places, other.sizes, strict=True) for c in (p.at_least(ZERO), p.below(n))))
            also, body = other.made(places)
            here = both(inside, guard)
            if (self.query.always(both(there, also), both(within, here), self._indices)
                    and self.query.always(here, both(within, there, also), self._indices)
                    and self._is_same(element, body, both(within, here))):
                return True
        return False

    def _is_same(self, one: Element, other: Element, within: Condition) -> bool:
        return not has_fold(one) and not has_fold(other) and self.query.may_differ(
            one, other, within, self._indices).answer is Decision.EQUAL


def _split(sizes: Places) -> tuple[list[Places], Places]:
    """Return the factors of sizes, one by one and all in a row."""
    parts = [() if n == ONE else tuple(n.parts) if len(n.parts) > 1 else (n,) for n in sizes]
    return parts, tuple(p for row in parts for p in row)


def _united(index: Places, parts: list[Places]) -> Places:
    rest = iter(index)
    return tuple(joined_index([(next(rest), n) for n in row]) for row in parts)


def _unrolled(element: Element) -> Element:
    """Return a fold of few elements, of which the first size says how many, as an operation on folds."""
    if not isinstance(element, Folded) or not element.sizes or (
            count := element.sizes[0].value) is None or not 1 < count <= _MOST_TERMS:
        return element

    def part(number: int) -> Element:
        if len(element.sizes) == 1:
            return element.body((whole(number),))
        return Folded(element.opcode, element.sizes[1:], lambda k: element.body((whole(number), *k)), None)

    starts = (element.start,) if element.start is not None else ()
    return Mapped(element.opcode, (*map(part, range(count)), *starts))


def _guarded(guard: Condition, made: _Made) -> _Made:
    return both(guard, made[0]), made[1]


def _choice(element: Element) -> Selected:
    assert isinstance(element, Selected)
    return element


def _choice_of(element: Element, number: int) -> Selected:
    return _choice(_function(element).operands[number])


def _decided(element: Element, number: int, is_yes: bool) -> Element:
    """Return a function of elements with one side of a choice among its operands."""
    own = _function(element)
    choice = _choice_of(element, number)
    side = choice.yes if is_yes else choice.no
    return with_operands(own, *(side if n == number else o for n, o in enumerate(own.operands)))


def _fold(element: Element) -> Folded:
    assert isinstance(element, Folded)
    return element


def _start(element: Element) -> Element:
    start = _fold(element).start
    assert start is not None
    return start


def _function(element: Element) -> Mapped:
    assert isinstance(element, Mapped)
    return element


def _folds(element: Element) -> Iterator[Folded]:
    """Yield the outermost folds of an element."""
    match element:
        case Folded():
            yield element
        case Selected(_, yes, no):
            yield from (*_folds(yes), *_folds(no))
        case Mapped(_, operands):
            for operand in operands:
                yield from _folds(operand)


def _bijections(index: Places, sizes: Places, others: Sequence[WholeNumber]) -> Iterator[Places]:
    """Yield functions of an index, each of which hits no index twice: reordered, shifted, or counted from the end."""
    orders = list(itertools.permutations(range(len(index))))
    for order in orders:
        yield tuple(index[n] for n in order)
    shifts = list(dict.fromkeys((*sizes, *others)))
    for order in orders:
        choices = [[index[n], sizes[n] - ONE - index[n], *(index[n] - s for s in shifts),
                    *(index[n] + s for s in shifts)] for n in order]
        yield from itertools.islice(itertools.product(*choices), 1, 40)

