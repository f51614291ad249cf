"""Users that an instruction's result reaches, directly or through tuples, calls and loops.

    ag = all-gather(p)                       feeds convert, fusion, tuple and
    c = convert(ag)                          while, by whose names one may ask,
    f = fusion(c), calls={ ... dot(...) }    and the dot in the fusion
    t = tuple(n, ag), w = while(t), ...      and what takes it out of the tuple in the loop

Operations that move (their records say so) are looked through, tuples by the place in them, and what runs computations
is entered and left again. One way round a loop is looked at: what the next one does with it is not.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

from hlotool.corpus.result_tables import plain
from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.ops import flow_of

#: tuples in tuples that are looked through
_DEEPEST = 8

#: where in a tuple, from the outside; () for all of a value
Path: TypeAlias = tuple[int, ...]
#: a value, or the part of one
Part: TypeAlias = tuple[HloInstruction, Path]


@dataclass(slots=True)
class _Reached:
    """Users of a part in its computation and in those that run there, as bits; its places in the root."""

    opcodes: int = 0
    ends: frozenset[Path] = frozenset()


@dataclass(slots=True)
class _Users:
    """Who uses an instruction: its elements by number, and others, with the operand that it is."""

    elements: dict[int, list[HloInstruction]] = field(default_factory=lambda: defaultdict(list))
    others: list[tuple[HloInstruction, int]] = field(default_factory=list)


class ReachedUsers:
    """The opcodes that the results of a module's instructions feed."""

    def __init__(self, module: HloModule) -> None:
        self._users: dict[HloInstruction, _Users] = {}
        #: computation -> what runs it
        self._runners: dict[HloComputation, list[HloInstruction]] = defaultdict(list)
        self._home: dict[HloInstruction, HloComputation] = {}
        self._parameters: dict[tuple[HloComputation, int], HloInstruction] = {}
        self._bits: dict[str, int] = {}
        self._known: dict[Part, _Reached] = {}
        self._outside: dict[tuple[HloComputation, Path], int] = {}
        self._names: dict[int, list[str]] = {}
        for computation in module.computations:
            for instruction in computation.instructions:
                self._home[instruction] = computation
                self._bits.setdefault(instruction.opcode, 1 << len(self._bits))
                if instruction.opcode == "parameter":
                    self._parameters[computation, instruction.attributes.get("parameter_number", -1)] = instruction
                for number, operand in enumerate(instruction.operands):
                    users = self._users.setdefault(operand, _Users())
                    if instruction.opcode == "get-tuple-element":
                        users.elements[instruction.attributes.get("index", -1)].append(instruction)
                    else:
                        users.others.append((instruction, number))
                for callee in dict.fromkeys(c for c, _, _ in _run_by(instruction)):
                    self._runners[callee].append(instruction)

    def opcodes(self, instruction: HloInstruction) -> list[str]:
        """The opcodes of everything that an instruction's result feeds, each once, sorted."""
        found = self._reached((instruction, ()))
        bits = found.opcodes
        for path in found.ends:
            bits |= self._beyond(self._home[instruction], path)
        names = self._names.get(bits)
        if names is None:
            names = self._names[bits] = sorted(plain(opcode) for opcode, bit in self._bits.items() if bits & bit)
        return names

    def _beyond(self, computation: HloComputation, path: Path) -> int:
        """Return the users of a place of a computation's root where that is run."""
        waiting, seen, bits = [(computation, path)], set(), 0
        while waiting:
            one = waiting.pop()
            if one in seen:
                continue
            seen.add(one)
            computation, path = one
            for runner in self._runners.get(computation, ()):
                if not _gives_its_root(runner, computation):
                    continue
                found = self._reached((runner, _outer(runner, path)))
                bits |= found.opcodes
                waiting += [(self._home[runner], end) for end in found.ends]
        return bits

    def _reached(self, part: Part) -> _Reached:
        """The same for a part, without recursion: modules may be chains of any length."""
        known, waiting, begun = self._known, [part], set[Part]()
        while waiting:
            one = waiting[-1]
            if one in known:
                waiting.pop()
                continue
            begun.add(one)
            # What is begun and not known leads here: a circle, which no module has that verifies.
            if missing := [p for p in self._next(one) if p not in known and p not in begun]:
                waiting += missing
                continue
            known[one] = self._joined(one)
            waiting.pop()
        return known[part]

    def _uses(self, part: Part) -> Iterator[tuple[HloInstruction, int, Path]]:
        """The users of a part, the operand that it is of each, and the place in that."""
        value, path = part
        users = self._users.get(value)
        if users is None:
            return
        if path:
            yield from ((user, 0, path[1:]) for user in users.elements.get(path[0], ()))
        else:
            yield from ((user, 0, path) for several in users.elements.values() for user in several)
        yield from ((user, number, path) for user, number in users.others)

    def _next(self, part: Part) -> Iterator[Part]:
        """The parts that a part goes on as, as far as is known of computations that it enters."""
        for user, number, path in self._uses(part):
            yield from self._onward(user, number, path)
            for inner in self._entered(user, number, path):
                yield inner
                if (found := self._known.get(inner)) is not None and _gives_its_root(user, self._home[inner[0]]):
                    yield from ((user, _outer(user, end)) for end in found.ends)

    def _entered(self, user: HloInstruction, number: int, path: Path) -> Iterator[Part]:
        """The parameters that an operand becomes in what its user runs."""
        for computation, first, count in _run_by(user):
            place = number - first
            if place >= 0 and (count is None or place < count):
                parameter = self._parameters.get((computation, place))
                if parameter is not None:
                    yield parameter, path

    def _onward(self, user: HloInstruction, number: int, path: Path) -> Iterator[Part]:
        """Return the parts of a user's result that are an operand, without running anything."""
        if user.opcode == "tuple":
            if len(path) < _DEEPEST:
                yield user, (number, *path)
        elif user.opcode == "get-tuple-element" or (number == 0 and flow_of(user).keeps):
            yield user, path

    def _joined(self, part: Part) -> _Reached:
        """Return the users that a part reaches, through the parts that it goes on as."""
        bits, ends = 0, set()
        if part[0] is self._home[part[0]].root:
            ends.add(part[1])
        for user, _, _ in self._uses(part):
            bits |= self._bits[user.opcode]
        for one in self._next(part):
            found = self._known.get(one)
            if found is None:
                continue
            bits |= found.opcodes
            if self._home[one[0]] is self._home[part[0]]:
                ends |= found.ends
        return _Reached(bits, frozenset(ends))


def _run_by(instruction: HloInstruction) -> Iterable[tuple[HloComputation, int, int | None]]:
    """The computations that an instruction runs on its operands as they are: with the first operand that a parameter
    of it gets, and how many do (None: all from there on).
    """
    attributes = instruction.attributes
    if instruction.opcode in ("fusion", "call", "async-start"):
        return [(c, 0, None) for c in instruction.called_computations()]
    if instruction.opcode == "while":
        return [(c, 0, 1) for c in map(attributes.get, ("condition", "body")) if isinstance(c, HloComputation)]
    if instruction.opcode == "conditional":
        branches = attributes.get("branch_computations") or map(
            attributes.get, ("true_computation", "false_computation"))
        return [(c, number, 1) for number, c in enumerate(branches, 1) if isinstance(c, HloComputation)]
    return ()


def _gives_its_root(runner: HloInstruction, computation: HloComputation) -> bool:
    """Return True if the result of the instruction that runs a computation holds that of the computation."""
    return runner.opcode != "while" or computation is runner.attributes.get("body")


def _outer(runner: HloInstruction, path: Path) -> Path:
    """Where a place of a computation's root is in the result of what runs it."""
    return () if runner.opcode == "async-start" else path  # which holds its operands, too
