"""Differences between the two sides of a rewrite rule: counted over all values where they can be tried, else searched.

    all values      types of 8 bits with one or two operands, types of 16 bits with one: figures are exact
    a search        everything else: figures are lower bounds, and what is not found may exist (rule_search.py)
    movement        sides that move elements without looking at them: equal for one array of distinct elements means
                    equal for every array of that shape
    bitwuzla, z3    where a search finds nothing, a solver that says that there is nothing
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeAlias

from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program
from hlotool.fuzzing.rule_search import Score, searched
from hlotool.fuzzing.type_values import all_values, matrices
from hlotool.ir import DTYPES, HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.numerics import is_nan, ulp_distance
from hlotool.ops import flow_of
from hlotool.passes.equality import Numbering
from hlotool.passes.read import parse
from hlotool.passes.rewrite_rules import MATRIX, RewriteRule, module_text, names_in
from hlotool.proof import Decision, ElementQuery, NoSort, as_numbers, asked

#: kinds of differences, the gravest first
KINDS = ("nan_lost", "nan_made", "infinite", "zero_signs", "ulps")
#: results of a rule's module before the condition
_SIDES = 2


@dataclass(frozen=True)
class Witness:
    """Operands on which both sides differ, as numbers, and both results."""

    operands: Mapping[str, float]
    before: float
    after: float

    def as_json(self) -> dict[str, Any]:
        """Return names and numbers, these as Python writes them."""
        given = {**self.operands, "before": self.before, "after": self.after}
        return {k: repr(v) for k, v in given.items()}


@dataclass
class RuleOutcome:
    """The differences between the two sides of a rule on values of one element type."""

    #: "all values", "search", "movement" or the solver that proved that the sides are equal
    cover: str
    #: combinations of operands that were tried
    tried: int = 0
    #: elements that differ, by kind; `ulps` counts finite ones that are other numbers
    counts: dict[str, int] = field(default_factory=lambda: dict.fromkeys(KINDS, 0))
    #: the largest distance of finite elements in ULPs, of integers the difference
    ulps: float = 0.0
    #: True for values of type pred
    is_truth: bool = False
    #: by kind of difference the first place, of `ulps` the worst
    witnesses: dict[str, Witness] = field(default_factory=dict)

    @property
    def different(self) -> int:
        """The number of elements that differ."""
        return sum(self.counts.values())

    def as_json(self) -> dict[str, Any]:
        """Return the record: kinds of differences with a witness each."""
        found: dict[str, Any] = {"cover": self.cover, "tried": self.tried}
        if self.ulps:
            found["distance"] = self.ulps
        if self.is_truth:
            found["is_truth"] = True
        return found | {k: w.as_json() for k in KINDS if (w := self.witnesses.get(k)) is not None}

    def add(self, before: Array, after: Array, given: Mapping[str, Array]) -> None:
        """Count the elements of both sides, whose operands are given."""
        self.tried += before.size
        self.is_truth = before.dtype == np.bool_
        # Equal bits are most of them.
        at = np.flatnonzero(_bits(before) != _bits(after))
        before, after = before[at], after[at]
        for kind, places, distance in _differences(before, after):
            self.counts[kind] += len(places)
            worst = places[int(np.argmax(distance))] if len(places) else 0
            if len(places) and (kind not in self.witnesses or distance.max() > self.ulps):
                operands = {n: _number(a[at[worst]]) for n, a in given.items()}
                self.witnesses[kind] = Witness(operands, _number(before[worst]), _number(after[worst]))
            if kind == "ulps" and len(places):
                self.ulps = max(self.ulps, float(distance.max()))


#: the outcome on all operands, and on those for which the rule's condition holds, if it has one
Outcomes: TypeAlias = tuple[RuleOutcome, "RuleOutcome | None"]


def evaluated(rule: RewriteRule, element_type: str, *, is_whole: bool = False) -> Outcomes | None:
    """Return the outcome for one element type, and that under the rule's condition; None: a side has no value there.

    All values of one operand of 32 bits are tried only if the whole is asked for: that takes minutes.
    Raises HloError where no solver is installed and one is needed.
    """
    names = names_in(rule.before, rule.after)
    if rule.of == "matrix":
        return _of_matrices(rule, element_type, len(names))
    values = all_values(element_type, len(names), 32 if is_whole else 16)
    batches = values if values is not None else searched(element_type, len(names), _score(rule, element_type))
    both = _Both.of("search" if values is None else "all values")
    for arguments in batches:
        found = _results(rule, element_type, arguments)
        if found is None:
            return None
        both.add(found, dict(zip(names, arguments, strict=True)))
    if values is None:
        _prove(rule, element_type, both)
    return both.whole, both.allowed if both.has_condition else None


@dataclass
class _Both:
    """The outcome on all operands, and on those for which the condition holds."""

    whole: RuleOutcome
    allowed: RuleOutcome
    has_condition: bool = False

    @classmethod
    def of(cls, cover: str) -> _Both:
        return cls(RuleOutcome(cover), RuleOutcome(cover))

    def add(self, found: Sequence[Array], given: Mapping[str, Array]) -> None:
        self.whole.add(found[0], found[1], given)
        if len(found) > _SIDES:
            self.has_condition = True
            at = np.flatnonzero(found[_SIDES])
            self.allowed.add(found[0][at], found[1][at], {n: a[at] for n, a in given.items()})


def _prove(rule: RewriteRule, element_type: str, both: _Both) -> None:
    """Ask a solver of outcomes in which nothing was found; what it finds is added if it shows on the reference."""
    for outcome, is_restricted in ((both.whole, False), (both.allowed, True)):
        if outcome.different or (is_restricted and not both.has_condition):
            continue
        form = Numbering()
        before, after, *when = form.module(parse(module_text(rule if is_restricted else replace(rule, when=""),
                                                             element_type, (2,))))
        query = ElementQuery(form)
        try:
            text = query.ask(before, after, when[0] if is_restricted else None)
        except NoSort:
            continue
        reply = asked(text, tuple(query.unknowns))
        if reply.answer is Decision.EQUAL:
            outcome.cover = reply.by
        elif reply.answer is Decision.DIFFER:
            names = names_in(rule.before, rule.after)
            numbers = {int(form.nodes[n].given("number")): v for n, v in as_numbers(reply.bits, query).items()}
            zero = np.zeros(1).astype(DTYPES[element_type].numpy)[0]
            arguments = [np.array([numbers.get(n, zero)]) for n in range(len(names))]
            found = _results(rule, element_type, arguments)
            if found is not None:
                both.add(found, dict(zip(names, arguments, strict=True)))


def _of_matrices(rule: RewriteRule, element_type: str, count: int) -> tuple[RuleOutcome, None] | None:
    if _only_moves(rule):
        whole, kind = RuleOutcome("movement"), "u32"
        distinct = np.arange(1, MATRIX * MATRIX * count + 1, dtype=np.uint32).reshape(count, MATRIX, MATRIX)
        sets = [list(distinct)]
    else:
        whole, kind, sets = RuleOutcome("search"), element_type, matrices(element_type, count)
    for arguments in sets:
        found = _results(rule, kind, arguments)
        if found is not None:
            whole.add(found[0], found[1], {})
    return (whole, None) if whole.tried else None


def _only_moves(rule: RewriteRule) -> bool:
    """Return True if each element of both sides is an element of an operand or a constant, whatever their values."""
    def moves(instruction: HloInstruction) -> bool:
        first, last = (flow := flow_of(instruction)).sources
        places = instruction.operands[:first] + (instruction.operands[last:] if last is not None else ())
        return flow.moves and all(p.opcode == "constant" for p in places)

    module = parse(module_text(rule, "u32", (MATRIX, MATRIX)))
    return all(i.opcode in ("parameter", "constant") or i is module.entry.root or moves(i)
               for i in module.entry.instructions)


def _score(rule: RewriteRule, element_type: str) -> Score:
    """Return a function of operands that says how far the sides are apart, infinity where one of them is no number."""
    def score(arguments: list[Array]) -> Array:
        found = _results(rule, element_type, arguments)
        if found is None:
            return np.zeros(arguments[0].shape)
        with np.errstate(invalid="ignore"):
            is_finite = np.logical_and(*(np.isfinite(side.astype(np.float64)) for side in found[:_SIDES]))
        return np.where(is_finite, ulp_distance(found[0], found[1]), 0.0)

    return score


def _results(rule: RewriteRule, element_type: str, arguments: list[Array]) -> list[Array] | None:
    """Return both sides and the condition, if that has a meaning for the type; None: a side has no value."""
    for each in dict.fromkeys((rule, replace(rule, when=""))):
        try:
            module = parse(module_text(each, element_type, arguments[0].shape))
            return [np.asarray(a).reshape(-1) for a in evaluate_program(Program(module), [arguments])[0]]
        except HloError:
            continue
    return None


def _bits(array: Array) -> Array:
    return np.ascontiguousarray(array).view(f"u{array.dtype.itemsize}")


def _differences(before: Array, after: Array) -> Iterable[tuple[str, Array, Array]]:
    """Yield each kind of difference, the places that have it, and how far apart they are."""
    nan_before, nan_after = is_nan(before), is_nan(after)
    with np.errstate(invalid="ignore"):
        wide = [a.astype(np.float64) for a in (before, after)]
    numbers = ~nan_before & ~nan_after
    infinite = numbers & (np.isinf(wide[0]) | np.isinf(wide[1])) & (wide[0] != wide[1])
    zeros = numbers & (wide[0] == 0) & (wide[1] == 0) & (np.signbit(wide[0]) != np.signbit(wide[1]))
    distance = np.where(numbers & ~infinite, ulp_distance(before, after), 0.0)
    for kind, is_there in zip(KINDS, (nan_before & ~nan_after, ~nan_before & nan_after, infinite, zeros, distance > 0),
                              strict=True):
        places = np.flatnonzero(is_there)
        yield kind, places, distance[places]


def _number(value: Any) -> float:
    return float(value) if value.dtype.kind not in "iub" else int(value)
