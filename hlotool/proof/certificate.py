"""Writes the steps of a proof that two modules compute the same, as text that certificate_check.py verifies.

    hlotool-certificate 1 exact
    modules 3f1c... 99a0...                     digests of both modules
    rule reshape_of_reshape 8d2e... 51ff...     an expression, and the one that the rule makes of it
    move slice_of_slice 8d2e... 51ff...         the same of a rule that has no direction
    taken 8d2e... 51ff... 77b1... 0c3d...       an operation, and what it is on other operands, which follow
    alike 77b1... 0c3d...                       one operation on operands that are equal
    solver bitwuzla 5e2a... e11f...             a solver said that no elements differ
    result 0 77b1... 0c3d...                    what both modules give first
    end 4f21...                                 the digest of all lines before

Expressions are named by digests of what they are: opcode, shapes, attributes, and the names of their operands.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hlotool.ir import HloModule
from hlotool.passes.equality import (
    ALL_MOVES,
    DIRECTIVES,
    EXACT,
    EXACT_MOVES,
    REASSOCIATING,
    Node,
    NotComparable,
    Numbering,
    NumberingRule,
)
from hlotool.proof.equality_graph import ProofStep

HEAD = "hlotool-certificate 1"
#: names of sets of rules in a certificate
RULES = {"exact": EXACT, "reassociating": REASSOCIATING}
#: the same of rules that have no direction
MOVES = {"exact": EXACT_MOVES, "reassociating": ALL_MOVES}
_DIGITS = 16


@dataclass
class ExpressionNames:
    """The names of expressions of a numbering."""

    form: Numbering
    _known: dict[int, str] = field(default_factory=dict)
    _numbers: dict[str, int] = field(default_factory=dict)

    def of(self, number: int) -> str:
        """Return the name of a numbered expression."""
        for at in range(len(self._known), number + 1):
            self._known[at] = self.of_node(self.form.nodes[at])
        return self._known[number]

    def number(self, name: str) -> int:
        """Return the number of the expression of a name. Raises KeyError."""
        for at in range(len(self._numbers), len(self.form.nodes)):
            self._numbers[self.of(at)] = at
        return self._numbers[name]

    def of_node(self, node: Node) -> str:
        """Return the name of an expression whose operands are numbered."""
        own = (node.opcode, [s.text(False) for s in node.shapes], sorted((k, repr(v)) for k, v in node.attributes))
        return digest(repr((own, [self.of(n) for n in node.operands])))


def digest(text: str) -> str:
    """Return the name of a text."""
    return hashlib.sha256(text.encode()).hexdigest()[:_DIGITS]


def raw_results(before: HloModule, after: HloModule) -> tuple[Numbering, tuple[tuple[int, ...], tuple[int, ...]]]:
    """Return both modules as expressions to which no rule was applied, and their results. Raises NotComparable."""
    raw = Numbering(layouts_of_calls=True)
    return raw, (raw.module(before), raw.module(after))


def taken_over(raw: Numbering, form: Numbering, number_of: Callable[[Node], int]) -> list[int]:
    """Return the numbers in another numbering of all raw expressions, operands first."""
    found = list[int]()
    for node in raw.nodes:
        own = node.with_operands(*(found[n] for n in node.operands))
        is_told = any(name in DIRECTIVES for name, _ in own.attributes)
        found.append(form.add(own) if is_told else number_of(own))
    return found


@dataclass
class ProofLog:
    """The steps of a proof, as lines."""

    before: HloModule
    after: HloModule
    kind: str
    steps: dict[str, None] = field(default_factory=dict)
    form: Numbering = field(init=False)
    names: ExpressionNames = field(init=False)
    #: both modules' results in the numbering of the proof
    results: tuple[tuple[int, ...], tuple[int, ...]] = field(init=False)
    #: constants whose elements are not known
    has_elided: bool = field(init=False)

    def __post_init__(self) -> None:
        """Apply the rules to both modules. Raises NotComparable."""
        raw, results = raw_results(self.before, self.after)
        self.has_elided = bool(raw.elided)
        self.form = Numbering(RULES[self.kind], layouts_of_calls=True, applied=self._applied)
        self.names = ExpressionNames(self.form)
        numbers = taken_over(raw, self.form, self.form.number)
        one, other = ([numbers[n] for n in side] for side in results)
        self.results = tuple(one), tuple(other)

    def _applied(self, rule: NumberingRule, node: Node, number: int) -> None:
        self.steps[f"rule {rule.apply.__name__} {self.names.of_node(node)} {self.names.of(number)}"] = None

    def lines_of(self, steps: Iterable[ProofStep]) -> list[str]:
        """Return steps of a graph of this numbering as lines."""
        return [" ".join((*step.how[:1], *(h.rsplit(" ", 1)[-1] for h in step.how[1:]),
                          *map(self.names.of, (step.one, step.other, *step.operands)))) for step in steps]

    def text(self, joins: Sequence[str]) -> str:
        """Return the certificate with the lines of a graph's steps.

        Raises KeyError where a step is about an expression that no step before it makes.
        """
        moves = {m.apply.__name__: m for m in MOVES[self.kind]}
        for words in (line.split(" ") for line in joins):
            if words[0] == "move":
                node = self.form.nodes[self.names.number(words[2])]
                made = moves[words[1]].made(self.form, node)
            elif words[0] == "taken":
                node = self.form.nodes[self.names.number(words[1])]
                made = node.with_operands(*map(self.names.number, words[3:]))
            else:
                continue
            if isinstance(made, Node):
                self.form.number(made)
        lines = [f"{HEAD} {self.kind}", f"modules {digest(str(self.before))} {digest(str(self.after))}",
                 *self.steps, *joins]
        lines += [f"result {n} {self.names.of(a)} {self.names.of(b)}"
                  for n, (a, b) in enumerate(zip(*self.results, strict=True))]
        return ended(lines)


def ended(lines: Sequence[str]) -> str:
    """Return lines with the last one, which has their digest."""
    body = "\n".join(lines) + "\n"
    return f"{body}end {digest(body)}\n"


__all__ = ["HEAD", "RULES", "ExpressionNames", "NotComparable", "ProofLog", "digest", "ended", "raw_results",
           "taken_over"]
