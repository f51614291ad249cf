"""Keeps expressions of a numbering in classes of equal ones, and says by which steps two are equal.

    a = reshape(add(x, y))              one class by the move `reshape of add`, which adds a third expression to the
    b = add(reshape(x), reshape(y))     numbering or meets one that is there
    tanh(a), tanh(b)                    alike: one operation on equal operands

Moves (passes/equality/moves.py) have no direction, so that all expressions that they make are kept. What is tried is
bounded by numbers of expressions and rounds, and its order is that of the numbering: every run gives one answer.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass, field

from hlotool.passes.equality import Node, Numbering, NumberingRule
from hlotool.proof.observed_nans import reached

#: expressions that moves may add, rounds of moves, and expressions of a class that are tried as an operand
_MOST_ADDED, _MOST_ROUNDS, _MOST_MEMBERS = 6000, 8, 4


@dataclass(frozen=True, slots=True)
class ProofStep:
    """Why two expressions are equal."""

    #: "alike", "taken", "move" and a rule's name, or "solver" and its name
    how: tuple[str, ...]
    one: int
    other: int
    #: of "taken": the operands, equal to those of the first expression, on which its operation gives the second one
    operands: tuple[int, ...] = ()
    #: of "solver": pairs of expressions that it took for equal
    needed: tuple[tuple[int, int], ...] = ()


@dataclass
class EqualityGraph:
    """Classes of equal expressions of a numbering."""

    form: Numbering
    #: rules without a direction, in the order in which they are tried
    moves: Sequence[NumberingRule] = ()
    #: all steps, in order
    steps: list[ProofStep] = field(default_factory=list)
    _parents: list[int] = field(default_factory=list)
    _members: dict[int, list[int]] = field(default_factory=dict)
    #: a class -> the expressions with an operand in it
    _users: dict[int, list[int]] = field(default_factory=dict)
    _known: dict[Hashable, int] = field(default_factory=dict)
    #: an expression -> the steps that join it with others, by their numbers
    _edges: dict[int, list[int]] = field(default_factory=dict)
    _by_opcode: dict[str, list[NumberingRule]] = field(default_factory=dict)
    _joined: list[int] = field(default_factory=list)
    #: an expression that was added -> the number of the step in which it was
    _made_by: dict[int, int] = field(default_factory=dict)
    _paths: dict[tuple[int, int], list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for move in self.moves:
            for opcode in move.opcodes:
                self._by_opcode.setdefault(opcode, []).append(move)
        self._take_over()

    def root(self, number: int) -> int:
        """Return the expression that stands for all that are equal to one."""
        self._take_over()
        return self._root(number)

    def members(self, number: int) -> list[int]:
        """Return the expressions that are equal to one, itself included."""
        return self._members[self.root(number)]

    def join(self, step: ProofStep) -> None:
        """Take the expressions of a step for equal, and all that follows from it."""
        fresh = range(len(self._parents), len(self.form.nodes))
        if not fresh and self._root(step.one) == self._root(step.other):
            return
        at = len(self.steps)
        self._made_by.update(dict.fromkeys(fresh, at))
        self.steps.append(step)
        self._take_over()
        self._unite(at)

    def _unite(self, at: int) -> None:
        """Take the expressions of the step of that number for equal, and those that are alike then."""
        waiting = [at]
        while waiting:
            at = waiting.pop()
            step = self.steps[at]
            one, other = self._root(step.one), self._root(step.other)
            if one == other:
                continue
            for end in (step.one, step.other):
                self._edges.setdefault(end, []).append(at)
            kept, gone = (one, other) if len(self._members[one]) >= len(self._members[other]) else (other, one)
            self._parents[gone] = kept
            self._members[kept] += self._members.pop(gone)
            users = self._users.pop(gone, [])
            self._users.setdefault(kept, []).extend(users)
            self._joined.append(kept)
            waiting += [n for user in users if (n := self._alike(user)) is not None]

    def _alike(self, number: int) -> int | None:
        """Return the number of a new step if another expression is the same operation on equal operands."""
        same = self._same(number)
        if same == number or self._root(same) == self._root(number):
            return None
        self.steps.append(ProofStep(("alike",), same, number))
        return len(self.steps) - 1

    def _root(self, number: int) -> int:
        while (above := self._parents[number]) != number:
            self._parents[number] = number = self._parents[above]
        return number

    def _same(self, number: int) -> int:
        """Return the first expression that is one operation on equal operands with another one, or that one."""
        node = self.form.nodes[number]
        return self._known.setdefault((node.own, tuple([self._root(n) for n in node.operands])), number)

    def _take_over(self) -> None:
        """Take in the expressions that the numbering has got since."""
        while (number := len(self._parents)) < len(self.form.nodes):
            self._parents.append(number)
            self._members[number] = [number]
            for operand in dict.fromkeys(self.form.nodes[number].operands):
                self._users.setdefault(self._root(operand), []).append(number)
            if (at := self._alike(number)) is not None:
                self._unite(at)

    # Moves

    def saturate(self, ones: Sequence[int], others: Sequence[int]) -> bool:
        """Apply moves to what two lists of values do not share; return True if they are equal, pair by pair."""
        if self._are_equal(ones, others):
            return True
        used, first = set(self.form.used), len(self.form.nodes)
        frontier = self._apart(ones, others)
        for _ in range(_MOST_ROUNDS):
            known = len(self.form.nodes)
            for number in frontier:
                if len(self.form.nodes) - first < _MOST_ADDED:
                    self._moved(number)
            users, self._joined = self._users_of_joined(), []
            for number in users:
                if len(self.form.nodes) - first < _MOST_ADDED:
                    self._taken(number)
            frontier = list(range(known, len(self.form.nodes)))
            if self._are_equal(ones, others) or not (frontier or self._joined):
                break
        self.form.used.clear()
        self.form.used.update(used)  # without the rules of what was only tried
        return self._are_equal(ones, others)

    def _are_equal(self, ones: Sequence[int], others: Sequence[int]) -> bool:
        return all(self.root(a) == self.root(b) for a, b in zip(ones, others, strict=True))

    def _apart(self, ones: Iterable[int], others: Iterable[int]) -> list[int]:
        """Return the expressions, operands first, whose class only one side has."""
        sides = [reached(self.form, side) for side in (ones, others)]
        classes = [{self.root(n) for n in side} for side in sides]
        shared = classes[0] & classes[1]
        return sorted(n for n in sides[0] | sides[1] if self.root(n) not in shared)

    def _moved(self, number: int) -> None:
        node = self.form.nodes[number]
        for move in () if self.form.is_directed(node) else self._by_opcode.get(node.opcode, ()):
            made = move.made(self.form, node)
            if made is None:
                continue
            target = made if isinstance(made, int) else self.form.number(made)
            if not move.keeps_nans:
                self.form.other_nans.update(n for n in (number, target) if self.form.may_be_nan(n))
            self.join(ProofStep(("move", move.apply.__name__), number, target))

    def _users_of_joined(self) -> list[int]:
        return sorted({u for kept in self._joined for u in self._users.get(self._root(kept), ())})

    def _taken(self, number: int) -> None:
        """Try an operation on other expressions that are equal to its operands."""
        node = self.form.nodes[number]
        if self.form.is_directed(node):
            return
        for at, operand in enumerate(node.operands):
            for member in self.members(operand)[-_MOST_MEMBERS:]:
                if member != operand:
                    operands = (*node.operands[:at], member, *node.operands[at + 1:])
                    target = self.form.number(node.with_operands(*operands))
                    self.join(ProofStep(("taken",), number, target, operands))

    # Explanations

    def explained(self, pairs: Iterable[tuple[int, int]]) -> list[ProofStep]:
        """Return the steps by which pairs of values are equal, each after those that it needs."""
        needed, waiting = set[int](), [at for one, other in pairs for at in self._path(one, other)]
        while waiting:
            at = waiting.pop()
            if at in needed:
                continue
            needed.add(at)
            step = self.steps[at]
            waiting += [self._made_by[n] for n in (step.one, step.other, *step.operands) if n in self._made_by]
            given = step.operands if step.how[0] == "taken" else (
                self.form.nodes[step.other].operands if step.how[0] == "alike" else ())
            own = self.form.nodes[step.one].operands if given else ()
            for pair in (*zip(own, given, strict=True), *step.needed):
                if pair not in self._paths:
                    self._paths[pair] = self._path(*pair)
                waiting += self._paths[pair]
        return [self.steps[at] for at in sorted(needed)]

    def _path(self, one: int, other: int) -> list[int]:
        """Return the numbers of the steps from one expression to another one of its class: there is one way."""
        came, waiting = {one: (-1, -1)}, [one]
        while waiting and other not in came:
            at = waiting.pop()
            for number in self._edges.get(at, ()):
                step = self.steps[number]
                end = step.other if step.one == at else step.one
                if end not in came:
                    came[end] = number, at
                    waiting.append(end)
        found = []
        while other != one:
            number, other = came[other]
            found.append(number)
        return found


def is_one_operation(left: Node, right: Node) -> bool:
    """Return True if two expressions are one operation on operands that may differ."""
    return left.own == right.own and len(left.operands) == len(right.operands) > 0
