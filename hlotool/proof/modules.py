"""Proves that two modules compute the same, for all arguments of their shapes.

Both become numbered expressions under rules that keep every bit (hlotool.passes.equality). Results of one number are
equal. Where numbers differ, two expressions are equal if they are one operation on equal operands, or if a solver says
so of the elementwise operations that they end in, or of the places from which their elements come (moved_values.py).
Bodies of loops are values of a state that is unknown: equal bodies from equal starts are equal loops. What differs only
in the order of sums and products is proved up to that order, which is named.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from enum import Enum

from hlotool.diagnostics import HloError
from hlotool.ir import HloModule
from hlotool.passes.equality import (
    ALL_MOVES,
    EXACT,
    EXACT_MOVES,
    REASSOCIATING,
    STRICT,
    Node,
    NotComparable,
    Numbering,
    NumberingRule,
)
from hlotool.proof.certificate import MOVES, RULES, ProofLog
from hlotool.proof.certificate_check import check_certificate
from hlotool.proof.equality_graph import EqualityGraph, ProofStep, is_one_operation
from hlotool.proof.moved_values import sources_of_array
from hlotool.proof.observed_nans import keeps_nans, reached
from hlotool.proof.queries import sources
from hlotool.proof.value_questions import MOST_QUESTIONS, ValueQuestions


class ProofStatus(Enum):
    """How far two modules are proved to be equal."""

    #: every bit, payloads of NaN apart
    PROVED = "proved"
    #: but for the order of the terms of sums and products
    REASSOCIATED = "proved up to the order of sums"
    UNKNOWN = "unknown"


@dataclass(frozen=True)
class EqualityProof:
    """The extent of a proof about two modules, what it rests on, and where it stopped."""

    status: ProofStatus
    #: simplifications and solvers that the proof rests on
    by: tuple[str, ...] = ()
    #: the innermost expressions that could not be proved to be equal
    stopped: tuple[Node, Node] | None = None
    #: why there is no proof, where no two expressions say it
    reason: str = ""

    def __str__(self) -> str:
        if self.status is ProofStatus.UNKNOWN:
            at = " and ".join(_words(n) for n in self.stopped or ())
            return f"not proved: {self.reason or f'it stopped at {at}'}"
        return f"{self.status.value} ({', '.join(self.by)})" if self.by else self.status.value


def prove(before: HloModule, after: HloModule, effort: int = 4) -> EqualityProof:
    """Return how far two modules are proved to be equal.

    `effort` bounds the steps that a solver may take for one question. Raises HloError where a solver is needed and none
    is installed.
    """
    try:
        return _proved(before, after, effort)
    except NotComparable as error:
        return EqualityProof(ProofStatus.UNKNOWN, reason=str(error))


def _proved(before: HloModule, after: HloModule, effort: int) -> EqualityProof:
    form = Numbering(EXACT, layouts_of_calls=True)
    results = form.module(before), form.module(after)
    if not form.elided.isdisjoint(reached(form, itertools.chain(*results))):
        return EqualityProof(ProofStatus.UNKNOWN, reason="its text leaves out the elements of constants")
    if len(results[0]) != len(results[1]):
        return EqualityProof(ProofStatus.UNKNOWN, reason="they have other numbers of results or effects")
    prover = _Prover(form, effort)
    if not prover.graph.saturate(*results):
        loose = Numbering(REASSOCIATING, layouts_of_calls=True)
        ends = loose.module(before), loose.module(after)
        if ends[0] == ends[1] and keeps_nans(loose, ends[0]):
            return EqualityProof(ProofStatus.REASSOCIATED, tuple(sorted(loose.used)))
        if not prover.all_equal(*results):
            return _reassociated(loose, ends, effort) or EqualityProof(ProofStatus.UNKNOWN, stopped=prover.stopped)
    if keeps_nans(form, itertools.chain(*results), prover.graph.members):
        return EqualityProof(ProofStatus.PROVED, prover.basis(*results))
    strict = Numbering(STRICT, layouts_of_calls=True)
    if strict.module(before) == strict.module(after):
        return EqualityProof(ProofStatus.PROVED, tuple(sorted(strict.used)))
    return EqualityProof(ProofStatus.UNKNOWN, reason="it tells NaNs apart, which no solver does")


def _reassociated(loose: Numbering, results: tuple[tuple[int, ...], tuple[int, ...]], effort: int
                  ) -> EqualityProof | None:
    """Return a proof up to the order of sums; None where there is none."""
    prover = _Prover(loose, effort, ALL_MOVES, _FEWER_QUESTIONS)
    if not prover.graph.saturate(*results) and not prover.all_equal(*results):
        return None
    if not keeps_nans(loose, itertools.chain(*results), prover.graph.members):
        return EqualityProof(ProofStatus.UNKNOWN, reason="it tells NaNs apart, which sums in another order do not keep")
    return EqualityProof(ProofStatus.REASSOCIATED, prover.basis(*results))


def certified(before: HloModule, after: HloModule, effort: int = 4) -> str:
    """Return a certificate that two modules compute the same; "" where none can be written.

    It was verified (certificate_check.py). Raises HloError where a solver is needed and none is installed.
    """
    for kind in RULES:
        with contextlib.suppress(NotComparable):
            log = ProofLog(before, after, kind)
            if log.has_elided or len(log.results[0]) != len(log.results[1]):
                continue
            prover = _Prover(log.form, effort, MOVES[kind])
            if not prover.graph.saturate(*log.results) and not prover.all_equal(*log.results):
                continue
            if text := _written(log, prover.graph):
                return text
    return ""


def _written(log: ProofLog, graph: EqualityGraph) -> str:
    """Return the certificate of what a graph found, which was verified; "" where it cannot be."""
    # Without the steps that were only tried, operands may be numbered, and so ordered, in another way.
    for steps in (graph.explained(zip(*log.results, strict=True)), graph.steps):
        lines = log.lines_of(steps)
        if text := _verified(log, lines):
            break
    else:
        return ""
    for line in lines[::-1] if len(lines) <= _FEW_STEPS else ():
        shorter = [other for other in lines if other is not line]
        if made := _verified(log, shorter):
            text, lines = made, shorter
    return text


def _verified(log: ProofLog, lines: Sequence[str]) -> str:
    """Return the certificate that has lines for steps if it is right, else ""."""
    with contextlib.suppress(HloError, KeyError):
        text = ProofLog(log.before, log.after, log.kind).text(lines)
        check_certificate(text, log.before, log.after)
        return text
    return ""


#: steps of a proof up to which each is left out for a try
_FEW_STEPS = 24
#: questions to solvers for a proof up to the order of sums, after one that failed
_FEWER_QUESTIONS = 16
#: pairs of operations that are looked at for one proof
_MOST_PAIRS = 100_000


@dataclass
class _Prover:
    """Values of one numbering that are known to be equal, or not to be provable."""

    form: Numbering
    effort: int
    moves: Sequence[NumberingRule] = EXACT_MOVES
    #: questions that may be asked
    left: int = MOST_QUESTIONS
    stopped: tuple[Node, Node] | None = None
    graph: EqualityGraph = field(init=False)
    _questions: ValueQuestions = field(init=False)
    _failed: set[tuple[int, int]] = field(default_factory=set)
    #: pairs that need not be equal for others to be
    _tried: set[tuple[int, int]] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.graph = EqualityGraph(self.form, self.moves)
        self._questions = ValueQuestions(self.form, self.graph.root, self.effort, self.left)

    def all_equal(self, ones: Sequence[int], others: Sequence[int]) -> bool:
        """Return True if two lists of values are proved to be equal, pair by pair."""
        return all(self.equal(a, b) for a, b in zip(ones, others, strict=True))

    def equal(self, one: int, other: int) -> bool:
        """Return True if two values are proved to be equal; operands first, without recursion."""
        waiting, opened = [(one, other)], set[tuple[int, int]]()
        while waiting and len(self._failed) < _MOST_PAIRS:
            pair = waiting[-1]
            left, right = (self.graph.root(n) for n in pair)
            if left == right or pair in self._failed:
                waiting.pop()
                continue
            needed = [p for p in self._needed(*pair) if self.graph.root(p[0]) != self.graph.root(p[1])]
            fresh = [p for p in needed if p not in self._failed and p not in opened]
            if fresh:
                opened.add(pair)
                waiting += fresh
                is_needed = is_one_operation(*(self.form.nodes[n] for n in pair)) and pair not in self._tried
                self._tried.update([] if is_needed else fresh)
                continue
            waiting.pop()
            if (solved := self._questions.decided(*pair)) is not None:
                self.graph.join(ProofStep(("solver", solved.by), *pair, needed=solved.needed))
                self.form.other_nans.update(n for n in (*pair, *solved.collapsed) if self.form.may_be_nan(n))
            else:
                self._failed.add(pair)
                if pair not in self._tried:
                    self.stopped = self.stopped or (self.form.nodes[pair[0]], self.form.nodes[pair[1]])
        return self.graph.root(one) == self.graph.root(other)

    def basis(self, ones: Sequence[int], others: Sequence[int]) -> tuple[str, ...]:
        """Return the simplifications and solvers by which two lists of values are equal."""
        how = {s.how[:2] for s in self.graph.explained(zip(ones, others, strict=True))}
        moves = {"moves" for h in how if h[0] == "move"}
        return (*sorted(self.form.used | moves), *sorted(h[1] for h in how if h[0] == "solver"))

    def _needed(self, one: int, other: int) -> list[tuple[int, int]]:
        """Return the pairs of values to look at first: operands, or what elementwise operations end in."""
        nodes = [self.form.nodes[n] for n in (one, other)]
        if is_one_operation(*nodes):
            return list(zip(nodes[0].operands, nodes[1].operands, strict=True))
        ends = [self._ends(n) for n in (one, other)]
        return [(a, b) for a in ends[0] for b in ends[1] if a != b and is_one_operation(
            self.form.nodes[a], self.form.nodes[b])]

    def _ends(self, number: int) -> list[int]:
        """Return the values that a value's elementwise operations end in."""
        found, seen, waiting = [], set[int](), [number]
        while waiting:
            at = waiting.pop()
            if at not in seen:
                seen.add(at)
                inner = sources(self.form, at) or sources_of_array(self.form, at)
                waiting += inner
                found += [] if inner else [at]
        return found


def _words(node: Node) -> str:
    return f"%{node.instruction.name}" if node.instruction is not None else node.opcode
