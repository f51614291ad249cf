"""Arguments that are solved for: what ordinary ones leave untried, carried back through runs of the reference.

    change    where two modules differ in a constant, what meets it lies between both; a table is read where it differs
    equal     a comparison, minimum, maximum or clamp gets equal operands, or the lesser one on the other side
    side      a select, a conditional or a conversion of pred takes the side that it did not, together with those that
              let its result through; a logical operation gives the other truth value
    at        an operand holds a value at which the operation changes its behaviour (boundary_arguments.py)
    rounds    a loop whose condition depends on the arguments runs a number of rounds, or as many as a constant in it

A goal is kept where a run of the arguments that were found reaches it. The search is bounded by what it runs, not by
time, so that a busy machine finds the same.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution import OutOfTime, Program
from hlotool.ir import HloInstruction, HloModule
from hlotool.ir.arrays import Array, np
from hlotool.ops import OPS, Calls, Elements, flow_of
from hlotool.passes.equality import ModuleChange
from hlotool.verdict.boundary_arguments import boundaries_of, constants_in
from hlotool.verdict.dependence import Dependence
from hlotool.verdict.traced_run import Place, TracedRun, Wanted, stepped

#: rounds of loops that are tried: faults show where a counter, a table or a narrow type ends
ROUNDS = (13, 20, 21, 50, 51, 300, 301, 1000, 1001)
#: instructions that a loop may run in all for that
_MOST_IN_LOOP = 40_000
#: what all runs may cost (TracedRun.work), and goals that are tried
_MOST_WORK, _MOST_GOALS = 6_000_000, 160
#: instructions that a loop may run in all to reach a constant in it, and the largest step of its counter
_MOST_TO_CONSTANT, _LARGEST_STEP = 200_000, 10
#: selects around one whose sides are taken together with its own
_MOST_TOGETHER = 4
#: share of a number by which another one may be off that is as good
_NEAR = 2.0 ** -16
#: runs after one another for one goal, and values of one operand
_TURNS, _VALUES = 10, 10
#: plain arguments that are begun with
_BASES = 4


@dataclass(frozen=True)
class _Goal:
    """Something that no run has shown, at an instruction."""

    instruction: HloInstruction
    #: of an operand; -1: it is the value
    number: int
    #: what that should be, from what the operands are
    values: Callable[[Sequence[Array]], Array]
    #: floats that are about as large reach it, too
    is_near: bool = False


class SolvedArguments:
    """Searches arguments for one program; `draw` gives plain ones by number, `changes` are those of another module."""

    def __init__(self, program: Program, draw: Callable[[int], list[Array]], changes: Sequence[ModuleChange] = ()
                 ) -> None:
        self.program, self._changes = program, changes
        self._left = _MOST_WORK
        self._depends = Dependence(program)
        self._generator = np.random.default_rng(0)
        self._bases: list[TracedRun] = []
        for number in range(_BASES if program.devices == 1 else 0):
            run = self._run(draw(number))
            self._bases += [run] if run is not None else []
            if self.is_long:
                break

    @property
    def is_long(self) -> bool:
        """True if plain arguments make the program run long."""
        return any(run.is_cut for run in self._bases)

    def found(self) -> Iterator[list[Array]]:
        """Yield arguments for each goal that plain ones do not reach."""
        if not self._bases:
            return
        for goal in self._goals():
            if self._left < 0:
                return
            if (arguments := self._reached(goal)) is not None:
                yield arguments
        for goals in self._ways():
            if self._left < 0:
                return
            if (arguments := self._reached_together(goals)) is not None:
                yield arguments

    def rounds(self) -> Iterator[tuple[int, list[Array]]]:
        """Yield numbers of rounds, and arguments with which a loop should run as often, the few rounds first."""
        if not self._bases:
            return
        known = {loop: _constants_in(loop) for loop in self._loops()}
        for count in sorted({*ROUNDS, *itertools.chain(*known.values())}):
            for loop, own in known.items():
                most = _MOST_IN_LOOP if count in ROUNDS else _MOST_TO_CONSTANT if count in own else 0
                if count * _size(loop) <= most and (made := self._with_rounds(loop, count)) is not None:
                    yield count, made

    # Goals.

    def _goals(self) -> Iterator[_Goal]:
        for change in self._changes:
            yield from _change_goals(self.program.module, change)
        places = [run.places() for run in self._bases]
        made = 0
        for instruction in (i for c in self.program.module.computations for i in c.instructions):
            if not any(instruction in p for p in places) or not self._depends.depends(instruction):
                continue
            for goal in (*_choice_goals(instruction), *_boundary_goals(instruction)):
                made += 1
                if made > _MOST_GOALS:
                    return
                yield goal

    def _reached(self, goal: _Goal) -> list[Array] | None:
        """Return arguments that reach a goal; None where a plain run does, or none are found."""
        runs = [(run, run.places().get(goal.instruction, [])) for run in self._bases]
        if any(_is_met(run, p, goal) for run, places in runs for p in places):
            return None
        run, places = max(runs, key=lambda r: len(r[1]))
        for place in dict.fromkeys([*places[:1], *places[-1:]]):
            for takes_turns in (False, True):
                if (found := self._solved(run, place, goal, takes_turns)) is not None:
                    return found
        return None

    def _solved(self, run: TracedRun, place: Place, goal: _Goal, takes_turns: bool) -> list[Array] | None:
        """Arguments that reach a goal; `takes_turns` changes the first and the last operands of operations in turn."""
        mask = self._mask(_operands(run, place)[goal.number].shape)
        for turn in range(_TURNS):
            if place not in run.moments:
                return None
            values = goal.values(_operands(run, place))
            arguments = run.with_operand(place, goal.number, Wanted(values, mask),
                                         is_last_first=takes_turns and turn % 2 == 1)
            following = self._run(arguments) if arguments is not None else None
            if following is None:
                return None
            if any(_is_met(following, p, goal) for p in following.places().get(goal.instruction, [])):
                return following.arguments
            run = following
        return None

    def _ways(self) -> Iterator[list[_Goal]]:
        """The sides of each select within the data of others, with those by which the others let it through."""
        for computation in self.program.module.computations:
            users = computation.users()
            for select in computation.instructions:
                if select.opcode == "select" and self._depends.depends(select.operands[0]):
                    outer = _letting_through(select, users)
                    if outer:
                        yield from ([*outer, _side(select, truth)] for truth in (True, False))

    def _reached_together(self, goals: Sequence[_Goal]) -> list[Array] | None:
        """Return arguments that reach several goals at once, one after the other; None where none are found."""
        run = self._bases[0]
        for goal in (*goals, *goals):  # a later one may have undone an earlier one
            places = run.places().get(goal.instruction, [])
            if places and _is_met(run, places[0], goal):
                continue
            found = self._solved(run, places[0], goal, False) if places else None
            following = self._run(found) if found is not None else None
            if following is None:
                return None
            run = following
        return run.arguments

    def _mask(self, dims: Sequence[int]) -> Array:
        """About half of the elements, one at least."""
        mask = np.asarray(self._generator.random(tuple(dims)) < 0.5)
        if mask.size and not mask.any():
            mask.reshape(-1)[0] = True
        return mask

    # Loops.

    def _loops(self) -> list[HloInstruction]:
        return [i for i in self.program.module.instructions() if flow_of(i).calls is Calls.LOOP
                and self._depends.depends(i) and self._depends.depends(i.attributes["condition"].root)]

    def _with_rounds(self, loop: HloInstruction, count: int) -> list[Array] | None:
        """Arguments that move the ends of a loop's comparison so far apart as the rounds need."""
        run = max(self._bases, key=lambda r: max((r.rounds(p, loop) for p, _ in r.places().get(loop, [])), default=0))
        for place in _comparisons(run, loop):
            for number in (1, 0):
                held = run.operand(place, 1 - number)
                with np.errstate(all="ignore"):
                    wanted = (held.astype(np.float64) + count * _step(run, place, number, loop)).astype(held.dtype)
                arguments = run.with_operand(place, number, Wanted(wanted, np.ones(wanted.shape, np.bool_)))
                if arguments is not None:
                    return arguments
        return None

    def _run(self, arguments: list[Array]) -> TracedRun | None:
        if self._left < 0:
            return None
        try:
            run = TracedRun(self.program, arguments)
        except (HloError, OutOfTime):
            self._left -= _MOST_WORK // 20
            return None
        self._left -= run.work
        return run


def _operands(run: TracedRun, place: Place) -> list[Any]:
    """Return the operands of an instruction and its value as arrays; tuples (of branches) stay tuples."""
    moment = run.moments[place]
    return [v if isinstance(v, tuple | list) else np.asarray(v) for v in (*moment.operands, moment.value)]


def _is_met(run: TracedRun, place: Place, goal: _Goal) -> bool:
    values = _operands(run, place)
    if goal.number >= len(values):
        return False
    found, wanted = values[goal.number], goal.values(values)
    if goal.is_near and found.dtype.kind != "b" and not flow_of(place[1]).packs:
        found, wanted = found.astype(np.float64), wanted.astype(np.float64)
        return bool((np.abs(found - wanted) <= _NEAR * np.abs(wanted)).any())
    return bool((found == wanted).any())


def _choice_goals(instruction: HloInstruction) -> Iterator[_Goal]:
    """Equal operands of what compares, either order, and both sides of what chooses by a pred."""
    opcode, operands = instruction.opcode, instruction.operands
    if opcode in ("compare", "minimum", "maximum") and operands[0].shape.element_type != "pred" \
            and not operands[0].shape.dtype.is_complex:
        for by in (0, -1, 1):
            for number in (0, 1):
                yield _Goal(instruction, number, _beside(1 - number, by))
    elif opcode == "clamp" and all(o.shape.dims == operands[1].shape.dims for o in operands):
        for other, by in ((0, 0), (2, 0), (0, -1), (2, 1)):
            yield _Goal(instruction, 1, _beside(other, by))
    elif opcode in ("select", "conditional", "convert") and operands[0].shape.is_array \
            and operands[0].shape.element_type == "pred":
        for truth in (True, False):
            yield _Goal(instruction, 0, _everywhere(0, truth))
    elif operands and not flow_of(instruction).moves and all(
            i.shape.is_array and i.shape.element_type == "pred" for i in (instruction, *operands)):
        for number, truth in itertools.product((0, 1, -1) if opcode == "xor" else (-1,), (True, False)):
            yield _Goal(instruction, number, _everywhere(number, truth))


def _side(select: HloInstruction, truth: bool) -> _Goal:
    return _Goal(select, 0, _everywhere(0, truth))


def _letting_through(at: HloInstruction, users: Mapping[HloInstruction, Sequence[HloInstruction]]) -> list[_Goal]:
    """The sides of selects that a value passes on its way to the root of its computation, the last one first."""
    goals: list[_Goal] = []
    while (following := users.get(at)) and len(goals) < _MOST_TOGETHER:
        user = following[0]
        if user.opcode == "select" and at is not user.operands[0]:
            goals.insert(0, _side(user, at is user.operands[1]))
        at = user
    return goals


def _change_goals(module: HloModule, change: ModuleChange) -> Iterator[_Goal]:
    """Numbers between two constants for what is compared with them, and the places where two tables differ."""
    sides = [s for s in (change.left, change.right) if s is not None]
    if len(sides) < 2 or any(s.opcode != "constant" or not s.shape.is_array for s in sides):
        return
    one, other = (getattr(s.attributes.get("literal"), "array", None) for s in sides)
    own = next((s for s in sides if s in module.parents()), None)
    if one is None or other is None or one.shape != other.shape or own is None:
        return
    places = np.argwhere(one != other)[:_VALUES]
    if not places.size and one.ndim:
        return
    users = module.parents()[own].users()
    for user, at in _readers(own, users):
        if user.opcode in ("dynamic-slice", "gather") and user.operands[0] is own:
            for place in places:
                yield from _lookup_goals(user, place)
        elif "elementwise" in OPS[user.opcode].flags or user.opcode == "clamp":
            others = [n for n, o in enumerate(user.operands) if o is not at]
            first = tuple(places[0]) if one.ndim else ()
            for number, value in itertools.product(others, _between(one[first], other[first])):
                yield _Goal(user, number, _held(number, value, one.dtype), is_near=True)


def _between(one: Any, other: Any) -> list[float]:
    """Two numbers and the one in their middle."""
    if not all(map(np.isfinite, (one, other))) or one.dtype.kind in "bc":
        return []
    return [int(v) if one.dtype.kind in "iu" else float(v) for v in (float(one) / 2 + float(other) / 2, one, other)]


def _readers(at: HloInstruction, users: Mapping[HloInstruction, Sequence[HloInstruction]]
             ) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """The users of a value, repetitions of it included, and what they read."""
    for user in users.get(at, ()):
        if flow_of(user).elements is Elements.REPEATED:
            yield from _readers(user, users)
        else:
            yield user, at


def _lookup_goals(lookup: HloInstruction, place: Sequence[int]) -> Iterator[_Goal]:
    """The indices that read a place of a table."""
    if lookup.opcode == "dynamic-slice":
        for number, index in enumerate(place, 1):
            if number < len(lookup.operands):
                yield _Goal(lookup, number, _held(number, int(index), lookup.operands[number].shape.dtype.numpy))
        return
    starts = lookup.attributes.get("start_index_map", ())
    axis = int(lookup.attributes.get("index_vector_dim", 0))
    where = np.asarray([int(place[d]) for d in starts])

    def indices(values: Sequence[Array]) -> Array:
        dims = values[1].shape
        rows = where.reshape([-1 if d == axis else 1 for d in range(len(dims))]) if axis < len(dims) else where[0]
        return np.broadcast_to(rows, dims).astype(values[1].dtype)

    yield _Goal(lookup, 1, indices)


def _constants_in(loop: HloInstruction) -> set[int]:
    """Numbers of rounds after which a counter is at, or past, a constant in a loop, for steps of one or as written."""
    numbers = {abs(int(c)) for part in loop.called_computations() for c in constants_in(part) if math.isfinite(c)}
    steps = {n for n in numbers if n <= _LARGEST_STEP} | {1}
    return {n // step + more for n in numbers for step in steps if step for more in (0, 1) if n > _LARGEST_STEP}


def _beside(other: int, by: int) -> Callable[[Sequence[Array]], Array]:
    return lambda values: stepped(values[other], by) if by else values[other]


def _everywhere(number: int, value: float) -> Callable[[Sequence[Array]], Array]:
    return lambda values: np.full(values[number].shape, value)


def _boundary_goals(instruction: HloInstruction) -> Iterator[_Goal]:
    """Values at which an operation changes its behaviour, where its operand is computed."""
    if instruction.opcode not in OPS:
        return
    for number, values in boundaries_of(instruction).items():
        if number >= len(instruction.operands) or not instruction.operands[number].shape.is_array:
            continue
        operand = instruction.operands[number]
        if operand.opcode in ("parameter", "constant") or operand.shape.element_type == "pred":
            continue
        numpy = operand.shape.dtype.numpy
        for value in list(dict.fromkeys(values))[:_VALUES]:
            yield _Goal(instruction, number, _held(number, value, numpy))


def _held(number: int, value: float, numpy: object) -> Callable[[Sequence[Array]], Array]:
    def call(values: Sequence[Array]) -> Array:
        with np.errstate(all="ignore"):
            try:
                one = np.asarray(value).astype(numpy)  # type: ignore[call-overload]
            except (OverflowError, TypeError, ValueError):
                one = np.zeros((), values[number].dtype)
        return np.full(values[number].shape, one, values[number].dtype)

    return call


def _comparisons(run: TracedRun, loop: HloInstruction) -> list[Place]:
    """Where a loop's condition compares numbers before its first round, in what it calls, too."""
    condition = loop.attributes["condition"]
    return [place for place in run.moments if place[1].opcode == "compare" and any(
        call.caller is loop and call.computation is condition and call.iteration == 0 for call in place[0])]


def _step(run: TracedRun, place: Place, number: int, loop: HloInstruction) -> Array:
    """How much the other operand of a loop's comparison gains on one in each round; 1 or -1 where it did not run."""
    path, compare = place
    condition = loop.attributes["condition"]
    after = tuple(replace(c, iteration=1) if c.caller is loop and c.computation is condition else c for c in path)
    if (after, compare) in run.moments:
        held, gone = ([run.operand(p, n).astype(np.float64) for n in (1 - number, number)]
                      for p in (place, (after, compare)))
        gain = np.asarray(gone[0] - gone[1] - (held[0] - held[1]))
        if (gain != 0).all():
            return gain
    falls = str(compare.attributes.get("direction")) in ("GT", "GE")
    return np.asarray(-1.0 if falls == (number == 1) else 1.0)


def _size(loop: HloInstruction) -> int:
    """Instructions of a loop's body and condition, those that they call included; large arrays count for more."""
    waiting, seen, size = list(loop.called_computations()), set(), 0
    while waiting:
        computation = waiting.pop()
        if computation in seen:
            continue
        seen.add(computation)
        for instruction in computation.instructions:
            size += 1 + (instruction.shape.size // 1000 if instruction.shape.is_array else 0)
            waiting += instruction.called_computations()
    return size
