"""Asks solvers whether two values of a numbering are equal, by their elements or by the places of these.

Proofs ask, and whoever verifies a certificate asks again.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from hlotool.passes.equality import Numbering
from hlotool.proof.index_proofs import IndexProof, Strength
from hlotool.proof.index_terms import IndexQuery, NumberDomain
from hlotool.proof.moved_values import MovedValues, is_moved
from hlotool.proof.queries import ElementQuery, NoSort, is_elementwise, is_recast
from hlotool.proof.solvers import Decision, asked

#: questions to solvers for one proof
MOST_QUESTIONS = 64


@dataclass(frozen=True)
class Solved:
    """A solver's word that two values are equal, and what it rests on."""

    by: str
    #: pairs of values that the question took for equal
    needed: tuple[tuple[int, int], ...]
    #: values of which it took all NaNs for one
    collapsed: frozenset[int]


@dataclass
class ValueQuestions:
    """Questions about the values of one numbering."""

    form: Numbering
    #: a value -> the one that stands for all that are known to be equal to it
    same: Callable[[int], int]
    effort: int = 4
    #: questions that may still be asked
    left: int = MOST_QUESTIONS
    _needed: dict[tuple[int, int], None] = field(default_factory=dict)
    _collapsed: set[int] = field(default_factory=set)

    def decided(self, one: int, other: int) -> Solved | None:
        """Return the word of a solver that two values are equal; None: there is none."""
        nodes = [self.form.nodes[n] for n in (one, other)]
        if nodes[0].shapes != nodes[1].shapes or self.form.shape(one) is None:
            return None
        for is_worth_it, ask in ((any(is_elementwise(n) or is_recast(self.form, n) for n in nodes), self._by_elements),
                                 (is_moved(self.form, one) or is_moved(self.form, other), self._by_index_maps)):
            if is_worth_it and self.left > 0:
                self.left -= 1
                self._needed.clear()
                self._collapsed.clear()
                if by := ask(one, other):
                    return Solved(by, tuple(self._needed), frozenset(self._collapsed))
        return None

    def _stand_in(self, number: int) -> int:
        found = self.same(number)
        self._needed.update({(number, found): None} if found != number else {})
        return found

    def _by_elements(self, one: int, other: int) -> str:
        """Return the solver that says that an element of two values is made alike of elements at the same place."""
        query = ElementQuery(self.form, self._stand_in)
        try:
            reply = asked(query.ask(one, other), tuple(query.unknowns), self.effort)
        except NoSort:
            return ""
        self._collapsed.update(query.collapsed)
        return reply.by if reply.answer is Decision.EQUAL else ""

    def _by_index_maps(self, one: int, other: int) -> str:
        """Return `index maps and z3` if they say that two values have the same elements, wherever these come from."""
        values = MovedValues(self.form, self._stand_in)
        arrays = values.array(one), values.array(other)
        query = IndexQuery(NumberDomain.ANY, (), tuple(values.wholes), effort=1, left=MOST_QUESTIONS)
        found, _ = IndexProof(query).arrays(*arrays)
        return "index maps and z3" if found is Strength.EQUAL else ""
