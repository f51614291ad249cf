"""Verifies certificates of proofs, by rule applications: no search, and no solver where the proof had none.

Both modules are read as expressions without rules. Then every step that the certificate has for an expression is
applied: the rule of that name, to that expression, must make the expression that the step names. So must the rule of a
step `move`, and an operation on other operands in a step `taken`, which must be equal to its own. Steps `alike` need
one operation on equal operands. Steps of solvers are counted; each is asked again of the solvers that are installed. At
the end the results must be equal, and every step have been used.

Trusted are the rules (hlotool.passes.equality), how modules are read, questions to solvers, and this file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from hlotool.diagnostics import HloError
from hlotool.ir import HloModule
from hlotool.passes.equality import Node, NotComparable, Numbering, NumberingRule
from hlotool.proof.certificate import HEAD, MOVES, RULES, ExpressionNames, digest, ended, raw_results, taken_over
from hlotool.proof.codes import REFUSED
from hlotool.proof.observed_nans import reads_bits
from hlotool.proof.value_questions import ValueQuestions


@dataclass(frozen=True)
class CheckedProof:
    """The statement that a certificate proves, and the number of solvers' steps in it."""

    #: "exact": every bit, payloads of NaN apart; "reassociating": but for the order of sums
    kind: str
    steps: int
    solver_steps: int

    def __str__(self) -> str:
        what = "equal" if self.kind == "exact" else "equal but for the order of sums"
        solvers = f", {self.solver_steps} of them a solver's word" if self.solver_steps else ", no solver's among them"
        return f"{what}: {self.steps} steps{solvers}"


def check_certificate(text: str, before: HloModule, after: HloModule, filename: str = "<certificate>") -> CheckedProof:
    """Return what a certificate proves of two modules.

    Raises HloError where a step is wrong (R179, in `filename`), or is a solver's and none is installed (R178).
    """
    try:
        return _checked(text, before, after)
    except _RefusedError as error:
        raise HloError.of(REFUSED, f"the certificate is refused: {error}", filename=filename,
                          help="write it anew: hlotool compare --prove --certificate FILE") from None


class _RefusedError(Exception):
    """A reason why a certificate proves nothing."""


def _checked(text: str, before: HloModule, after: HloModule) -> CheckedProof:
    lines = text.splitlines()
    if ended(lines[:-1]) != text or len(lines) < 3:
        raise _RefusedError("its last line does not have the digest of the others")
    head, kind = lines[0].rsplit(" ", 1) if " " in lines[0] else ("", "")
    if head != HEAD or kind not in RULES:
        raise _RefusedError("it begins with another line")
    if lines[1] != f"modules {digest(str(before))} {digest(str(after))}":
        raise _RefusedError("it is about other modules")
    try:
        checker = _Checker(kind, _rule_steps(lines[2:-1]))
        return checker.checked(lines[2:-1], before, after)
    except NotComparable as error:
        raise _RefusedError(str(error)) from None


def _rule_steps(lines: list[str]) -> dict[str, tuple[str, str]]:
    """Return the steps by rules: the name of an expression -> a rule, and the name of what it makes."""
    found: dict[str, tuple[str, str]] = {}
    for line in lines:
        words = line.split(" ")
        if words[0] == "rule" and len(words) == 4:
            if words[2] in found:
                raise _RefusedError(f"two steps for {words[2]}")
            found[words[2]] = words[1], words[3]
    return found


class _Form(Numbering):
    """A numbering that applies the rule of an expression's step, and no other one."""

    checker: _Checker

    def number(self, node: Node) -> int:
        return self.checker.number(node)


@dataclass
class _Checker:
    """A certificate's steps, and which expressions are equal by those that were verified."""

    kind: str
    steps: dict[str, tuple[str, str]]
    form: _Form = field(init=False)
    names: ExpressionNames = field(init=False)
    _questions: ValueQuestions = field(init=False)
    _used: set[str] = field(default_factory=set)
    _rules: dict[str, NumberingRule] = field(default_factory=dict)
    _moves: dict[str, NumberingRule] = field(default_factory=dict)
    _parents: dict[int, int] = field(default_factory=dict)
    _open: set[str] = field(default_factory=set)
    _solver_steps: int = 0
    _changes_nans: bool = False

    def __post_init__(self) -> None:
        self.form = _Form(layouts_of_calls=True)
        self.form.checker = self
        self.names = ExpressionNames(self.form)
        self._questions = ValueQuestions(self.form, self._root)
        self._rules = {rule.apply.__name__: rule for rule in RULES[self.kind]}
        self._moves = {rule.apply.__name__: rule for rule in MOVES[self.kind]}

    def checked(self, lines: list[str], before: HloModule, after: HloModule) -> CheckedProof:
        """Verify all steps."""
        raw, results = raw_results(before, after)
        if raw.elided:
            raise _RefusedError("elements of constants are left out in a module")
        numbers = taken_over(raw, self.form, self.number)
        rest = [line for line in lines if not line.startswith("rule ")]
        joins = [line.split(" ") for line in rest if not line.startswith("result ")]
        for words in joins:
            self._join(words)
        if unused := set(self.steps) - self._used:
            raise _RefusedError(f"the step for {min(unused)} is of no use")
        wanted = [line for line in rest if line.startswith("result ")]
        self._compare([[numbers[n] for n in side] for side in results], wanted)
        if self._changes_nans and any(reads_bits(raw, node) for node in raw.nodes):
            raise _RefusedError("a module reads the bits of NaNs, which steps do not keep")
        return CheckedProof(self.kind, len(self.steps) + len(joins), self._solver_steps)

    def number(self, node: Node) -> int:
        """Return the number of an expression after its step, which is verified."""
        name = self.names.of_node(node)
        step = self.steps.get(name)
        if step is None:
            return self.form.add(node)
        rule, target = self._rules.get(step[0]), step[1]
        if rule is None or node.opcode not in rule.opcodes:
            raise _RefusedError(f"there is no rule {step[0]} for {node.opcode}")
        if name in self._open:
            raise _RefusedError(f"the steps of {name} go round in a circle")
        self._open.add(name)
        made = rule.made(self.form, node)
        found = made if made is None or isinstance(made, int) else self.number(made)
        self._open.discard(name)
        if found is None or self.names.of(found) != target:
            raise _RefusedError(f"the rule {step[0]} does not make {target} of {name}")
        self._used.add(name)
        self._changes_nans |= not rule.keeps_nans and self.form.may_be_nan(found)
        return found

    def _join(self, words: list[str]) -> None:
        """Verify a step that says that two expressions are equal."""
        kinds: dict[str, Callable[..., tuple[int, int]]] = {
            "alike": self._alike, "solver": self._solver, "move": self._move, "taken": self._taken}
        try:
            one, other = kinds[words[0]](*words[1:])
        except (TypeError, KeyError):
            raise _RefusedError(f"{' '.join(words)} is about what neither module computes") from None
        a, b = self._root(one), self._root(other)
        self._parents[max(a, b)] = min(a, b)

    def _alike(self, one: str, other: str) -> tuple[int, int]:
        numbers = self.names.number(one), self.names.number(other)
        left, right = (self.form.nodes[n] for n in numbers)
        if left.own != right.own or not self._are_equal(left.operands, right.operands):
            raise _RefusedError(f"{one} and {other} are not one operation on equal operands")
        return numbers

    def _solver(self, _: str, one: str, other: str) -> tuple[int, int]:
        numbers = self.names.number(one), self.names.number(other)
        if self._questions.decided(*numbers) is None:
            raise _RefusedError(f"no solver says that {one} and {other} are equal")
        self._solver_steps += 1
        self._changes_nans = True
        return numbers

    def _move(self, rule: str, one: str, other: str) -> tuple[int, int]:
        number, move = self.names.number(one), self._moves[rule]
        node = self.form.nodes[number]
        made = move.made(self.form, node) if node.opcode in move.opcodes and not self.form.is_directed(node) else None
        found = made if made is None or isinstance(made, int) else self.number(made)
        if found is None or self.names.of(found) != other:
            raise _RefusedError(f"the rule {rule} does not make {other} of {one}")
        self._changes_nans |= not move.keeps_nans and self.form.may_be_nan(found)
        return number, found

    def _taken(self, one: str, other: str, *operands: str) -> tuple[int, int]:
        number, taken = self.names.number(one), tuple(map(self.names.number, operands))
        node = self.form.nodes[number]
        if self.form.is_directed(node) or not self._are_equal(node.operands, taken):
            raise _RefusedError(f"{one} has no operands that are equal to {' '.join(operands)}")
        found = self.number(node.with_operands(*taken))
        if self.names.of(found) != other:
            raise _RefusedError(f"{one} is not {other} on {' '.join(operands)}")
        return number, found

    def _are_equal(self, ones: Sequence[int], others: Sequence[int]) -> bool:
        return len(ones) == len(others) and all(
            self._root(a) == self._root(b) for a, b in zip(ones, others, strict=True))

    def _root(self, number: int) -> int:
        while (above := self._parents.get(number, number)) != number:
            number = above
        return number

    def _compare(self, results: list[list[int]], lines: list[str]) -> None:
        """Hold both modules' results against each other, and against what the certificate says that they are."""
        if len(results[0]) != len(results[1]):
            raise _RefusedError("the modules have other numbers of results or effects")
        pairs = list(zip(*results, strict=True))
        said = [f"result {n} {self.names.of(a)} {self.names.of(b)}" for n, (a, b) in enumerate(pairs)]
        if said != lines:
            raise _RefusedError("the modules have other results than it says")
        for n, (a, b) in enumerate(pairs):
            if self._root(a) != self._root(b):
                raise _RefusedError(f"no steps make result {n} of both modules equal")
