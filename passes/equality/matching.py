"""Pairs the instructions of two computations by structure: from operands up and from users down."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from typing import TypeAlias

from hlotool.ir import HloComputation, HloInstruction, post_order
from hlotool.passes.equality.pairing import Pairing
from hlotool.passes.equality.structure import Structure, has_effect

#: users by operand, its place among theirs, and their opcode
_Users: TypeAlias = dict[tuple[HloInstruction, int, str], list[HloInstruction]]


class Matching(Pairing[HloInstruction]):
    """The instructions of two computations, and their pairs, found by `run`."""

    def __init__(self, left: HloComputation, right: HloComputation, structure: Structure, by_name: bool) -> None:
        super().__init__(left.instructions, right.instructions)
        self.left = left
        self.right = right
        self.structure = structure
        self.by_name = by_name
        self._numbers: tuple[set[int], set[int]] = (set(), set())

    @property
    def roots_equal(self) -> bool:
        """True if both roots are of one structure."""
        numbers = self.structure.instructions
        return numbers[self.left.root] == numbers[self.right.root]

    def run(self) -> None:
        """Find the pairs."""
        numbers = self.structure.instructions
        self._numbers = ({numbers[i] for i in self.left.instructions}, {numbers[i] for i in self.right.instructions})
        self._parameters()
        if self.by_name:
            self.pair(lambda i: (i.name, i.opcode))
        self._certain()
        self._down([(self.left.root, self.right.root)])
        self.pair(numbers.__getitem__)
        self._up()
        self._up(relaxed=True)
        self._down(list(self.partner.items()), relaxed=True)
        self.pair(self.structure.own)
        self._down(list(self.partner.items()))
        self.pair(lambda i: (i.opcode, i.shape.without_layout()))
        self._down(list(self.partner.items()), relaxed=True)
        self._untwist()

    def is_repeated(self, instruction: HloInstruction, side: int) -> bool:
        """Return True if the other side has the same value, so that nothing is lost without this instruction."""
        return (self.structure.instructions[instruction] in self._numbers[1 - side]
                and not has_effect(instruction, self.structure.effects))

    def same(self, left: HloInstruction, right: HloInstruction) -> bool:
        """Return True if two instructions are a pair, or of one structure."""
        return (self.partner.get(left) is right
                or self.structure.instructions[left] == self.structure.instructions[right])

    def same_set(self, left: Sequence[HloInstruction], right: Sequence[HloInstruction]) -> bool:
        """Return True if two sets of instructions are the same."""
        if not left and not right:
            return True
        numbers = self.structure.instructions
        in_left, in_right = frozenset(left), frozenset(right)
        rest = [numbers[i] for i in left if self.partner.get(i) not in in_right]
        other = [numbers[i] for i in right if self.taken.get(i) not in in_left]
        return sorted(rest) == sorted(other)

    def _parameters(self) -> None:
        other = {p.parameter_number: p for p in self.right.parameters()}
        for parameter in self.left.parameters():
            if (found := other.get(parameter.parameter_number)) is not None:
                self.add(parameter, found)

    def _certain(self) -> None:
        """Pair instructions of one structure, where as many of both sides have it.

        Elsewhere users tell first which of them stands for which.
        """
        numbers = self.structure.instructions
        left, right = (Counter(numbers[i] for i in side) for side in self.members)
        certain = {n for n, count in left.items() if right[n] == count}
        self.pair(lambda i: numbers[i] if numbers[i] in certain else i)

    def _down(self, start: Sequence[tuple[HloInstruction, HloInstruction]], relaxed: bool = False) -> None:
        """Pair operands of pairs that differ: those of one opcode, or also (relaxed) of one shape."""
        numbers = self.structure.instructions
        stack = list(reversed(start))
        if not relaxed and len(start) == 1:
            (roots,) = start
            if not self._alike(*roots, relaxed=True):
                stack.clear()
            elif self.are_free(*roots):
                self.add(*roots)
        while stack:
            left, right = stack.pop()
            if self.partner.get(left) is not right or numbers[left] == numbers[right]:
                continue
            for pair in self._aligned(left.operands, right.operands):
                if self.are_free(*pair) and self._alike(*pair, relaxed):
                    self.add(*pair)
                    stack.append(pair)

    def _aligned(self, left: Sequence[HloInstruction], right: Sequence[HloInstruction]
                 ) -> Iterator[tuple[HloInstruction, HloInstruction]]:
        """Yield operands side by side; where one side has more, those without a partner in order."""
        if len(left) != len(right):
            left = [i for i in left if i not in self.partner]
            right = [i for i in right if i not in self.taken]
        return zip(left, right, strict=False)

    def _untwist(self) -> None:
        """Cross two pairs that are as good crossed, if a user asks for it."""
        numbers, own = self.structure.instructions, self.structure.own
        for user, other in list(self.partner.items()):
            if numbers[user] == numbers[other]:
                continue
            for left, right in zip(user.operands, other.operands, strict=False):
                left_to, right_from = self.partner.get(left), self.taken.get(right)
                if left_to is None or right_from is None or left_to is right:
                    continue
                if numbers[right] == numbers[left_to] != numbers[left]:  # the user tells which of two stands for it
                    self.add(left, right)
                    self.add(right_from, left_to)
                if self.same(left, right) or own(left) != own(right):
                    continue
                if numbers[left] == numbers[left_to] or numbers[right] == numbers[right_from]:
                    continue
                if own(right_from) == own(left_to) and self._agree(left, right) and self._agree(right_from, left_to):
                    self.add(left, right)
                    self.add(right_from, left_to)

    def _agree(self, left: HloInstruction, right: HloInstruction) -> bool:
        """Return True if all operands are pairs already."""
        return len(left.operands) == len(right.operands) and all(map(self.same, left.operands, right.operands))

    def _alike(self, left: HloInstruction, right: HloInstruction, relaxed: bool) -> bool:
        if "parameter" in (left.opcode, right.opcode):
            return False
        return left.opcode == right.opcode or (relaxed and len(left.operands) == len(right.operands)
                                               and left.shape.without_layout() is right.shape.without_layout())

    def _up(self, relaxed: bool = False) -> None:
        """Pair users of pairs: of one opcode (relaxed: of any), with a paired operand in the same place."""
        users: _Users = defaultdict(list)
        for instruction in self.rest(1):
            for place, operand in enumerate(instruction.operands):
                users[operand, place, "" if relaxed else instruction.opcode].append(instruction)
        if not users:
            return
        waiting = set(self.rest(0))
        for instruction in post_order(self.left):
            if instruction in waiting:
                found = self._best(instruction, self._candidates(instruction, users, relaxed))
                if found is not None:
                    self.add(instruction, found)

    def _candidates(self, instruction: HloInstruction, users: _Users, relaxed: bool) -> Iterator[HloInstruction]:
        for place, operand in enumerate(instruction.operands):
            partner = self.partner.get(operand)
            if partner is not None:
                # Hubs such as a zero have too many users to tell anything about one of them.
                found = users.get((partner, place, "" if relaxed else instruction.opcode), ())[:64]
                yield from (f for f in found if self._alike(instruction, f, relaxed))

    def _best(self, instruction: HloInstruction, candidates: Iterable[HloInstruction]) -> HloInstruction | None:
        own, best, best_score = self.structure.own(instruction), None, (0, 0)
        for candidate in dict.fromkeys(candidates):
            if candidate in self.taken:
                continue
            shared = sum(self.same(p, q) for p, q in zip(instruction.operands, candidate.operands, strict=False))
            score = (shared, int(self.structure.own(candidate) == own))
            if score > best_score:
                best, best_score = candidate, score
        return best
