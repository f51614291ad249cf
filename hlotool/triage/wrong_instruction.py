"""The instruction on which an executor parts from the reference.

A program that the executor gets wrong is cut into segments, each fed with the reference's values, and all of them
run at once: a segment that is wrong by itself holds the cause, and what is wrong only because its operands are does
not count. The wrong segment is cut again, until one instruction is left. One that calls computations is entered: a
call or fusion with its operands, a conditional by the branch that is taken, a loop with the reference's state at each
iteration.

Where no segment is wrong alone, cutting has undone the fault: a compiler folded or fused instructions on both sides of
a cut. Then the program is shortened from its end, until the first instruction that is wrong *with* what it is computed
of is found, and lengthened backwards from there, to say which instructions it takes together.
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.execution import Call, Executor, Moment, Path, Program, evaluate_program, flat, leaves
from hlotool.ir import HloComputation, HloInstruction
from hlotool.triage.cuts import Part, ancestors, is_cuttable, part, varying
from hlotool.triage.nonfinite import FOLDS
from hlotool.triage.places import Place, require_partitioned, result_maker
from hlotool.triage.side_by_side import side_by_side
from hlotool.triage.trials import Bench, Rows, Values, Wrong
from hlotool.verdict import Judgement

Array: TypeAlias = Any

#: what computes nothing
_HANDED_ON = frozenset(("tuple", "get-tuple-element", "constant", "parameter", "optimization-barrier"))
#: what gives the elements that it takes, in their order: never at fault where something else may be
_SAME_ELEMENTS = frozenset(("reshape", "bitcast", "copy"))
#: segments of one round
_SEGMENTS = 16
#: iterations of a loop that one question to an executor holds
_ITERATIONS = 32


@dataclass
class Blame:
    """The instruction that an executor gets wrong."""

    executor: str
    place: Place
    judgement: Judgement
    #: the smallest program found that shows it, and its arguments
    part: Part
    arguments: Rows
    device: int
    #: the instructions that it takes, where the one alone is right: the compiler folds or fuses them
    together: tuple[HloInstruction, ...]
    #: programs that the executor was asked to run
    runs: int
    seconds: float
    #: parts that the executor refused, and why
    refusals: list[str] = field(default_factory=list)
    #: instructions before it of which no value is known: it may be one of those
    untold: tuple[HloInstruction, ...] = ()


def search(program: Program, arguments: Rows, executor: Executor, *, seconds: float = 60.0,
           results: Sequence[int] | None = None) -> Blame | None:
    """The instruction that an executor gets wrong, by running parts on it; None where its results are right.

    `results` are the leaves that are known to be wrong, where that is known. After `seconds` the best answer so far is
    given. Raises HloError where the reference or the executor cannot run the program.
    """
    require_partitioned(program)
    started = time.monotonic()
    bench = Bench(executor, started + seconds)
    entry = program.module.entry
    whole = part(program, entry, _targets(entry, results))
    rows = _chosen(program, whole, arguments)
    wrong = bench.first_wrong(whole, rows)
    if wrong is None:
        # As it stands, all of it: a shorter module may be compiled otherwise.
        whole = Part(program, tuple(entry.parameters()), (entry.root,), tuple(entry.instructions))
        refused = bool(bench.refusals)
        wrong = bench.first_wrong(whole, arguments)
        found = None if wrong is not None else _behind_undecided(program, bench)
        if wrong is None and found is None:
            if refused and len(bench.refusals) > 1:
                raise bench.refusals[-1]
            return None
        if wrong is not None:
            found = _Found(wrong, (), result_maker(entry.root, wrong.result), tuple(entry.instructions))
    else:
        found = _Search(program, bench, entry, ()).narrow(wrong)
    assert found is not None
    return Blame(executor.name, Place(program.module, found.instruction, found.path), found.wrong.judgement,
                 found.wrong.part, found.wrong.arguments, found.wrong.device, found.together, bench.runs,
                 time.monotonic() - started, [str(e) for e in bench.refusals])


def _behind_undecided(program: Program, bench: Bench) -> _Found | None:
    """What is wrong before a result that the roundings leave open, as a chaotic program leaves all of its results."""
    open_ = bench.undecided
    return _Search(program, bench, program.module.entry, ()).within(open_) if open_ is not None else None


def _targets(entry: HloComputation, results: Sequence[int] | None) -> list[HloInstruction]:
    """The instructions of the wanted results; members of the root's tuple where it is one."""
    if entry.root.opcode != "tuple":
        return [entry.root]
    if results is None:
        return list(dict.fromkeys(entry.root.operands)) or [entry.root]
    owners = [o for o in entry.root.operands for _ in leaves(o.shape)]
    return list(dict.fromkeys(owners[r] for r in results if r < len(owners))) or [entry.root]


def _chosen(program: Program, whole: Part, arguments: Rows) -> list[list[Array]]:
    """The arguments of those parameters that a part of the entry has."""
    parameters = program.module.entry.parameters()
    owners = [p for p in parameters for _ in leaves(p.shape)]
    return [[a for f in whole.fed for a, owner in zip(row, owners, strict=True) if owner is f] for row in arguments]


@dataclass
class _Found:
    """Where a search ended."""

    wrong: Wrong
    path: Path
    instruction: HloInstruction
    together: tuple[HloInstruction, ...] = ()


@dataclass
class _Search:
    """The search in one computation of a module, called along `path`."""

    program: Program
    bench: Bench
    computation: HloComputation
    path: Path

    def narrow(self, wrong: Wrong) -> _Found:
        """The instruction behind a wrong result of a part of the computation."""
        while len(self._steps(wrong.part)) > 1:
            smaller = self._smaller(wrong)
            if smaller is None:
                return self._together(wrong)
            wrong = smaller
        steps = self._steps(wrong.part)
        wrong, instruction = self._among_constants(wrong, steps[0] if steps else wrong.owner)
        entered = self._entered(wrong, instruction)
        return entered if entered is not None else _Found(wrong, self.path, instruction)

    def within(self, open_: Wrong) -> _Found | None:
        """What is wrong in a part whose result is left open; None: nothing is."""
        steps = self._steps(open_.part)
        if len(steps) > 1:
            smaller = self._smaller(open_)
            return self.narrow(smaller) if smaller is not None else None
        return self._entered(open_, steps[0]) if steps else None

    def _among_constants(self, wrong: Wrong, step: HloInstruction) -> tuple[Wrong, HloInstruction]:
        """The last step, or what it takes that no argument changes, where that is wrong already."""
        fixed = [i for i in wrong.part.computed if i.opcode not in _HANDED_ON - {"constant"} and i is not step
                 and is_cuttable(i)]
        if not fixed or self.bench.is_late:
            return wrong, step
        tried = part(self.program, self.computation, fixed, wrong.part.fed)
        found = self.bench.first_wrong(tried, _of_part(wrong.part, wrong.arguments, tried))
        if found is None:
            return wrong, step
        alone = part(self.program, self.computation, [found.owner], tried.fed)
        again = self.bench.first_wrong(alone, _of_part(tried, found.arguments, alone))
        return again or found, found.owner

    def _steps(self, tried: Part) -> list[HloInstruction]:
        """The instructions of a part that can be at fault: constants and what only hands on values are not."""
        steps = [i for i in tried.computed if i.opcode not in _HANDED_ON]
        moving = varying(tried.computed, tried.fed)
        return [s for s in steps if s in moving] or steps

    def _smaller(self, wrong: Wrong) -> Wrong | None:
        """A segment that is wrong by itself: of equal ones, and of ones that begin in the middle of those."""
        steps = [s for s in self._steps(wrong.part) if is_cuttable(s)]
        size = -(-len(steps) // _SEGMENTS)
        for shift in (0, size // 2) if size > 3 else (0,):
            if self.bench.is_late or len(steps) < 2:
                return None
            found = self._wrong_segment(wrong, steps, size, shift)
            if found is not None:
                return found
        return None

    def _wrong_segment(self, wrong: Wrong, steps: list[HloInstruction], size: int, shift: int) -> Wrong | None:
        """The first segment, in the order of data flow, that the executor gets wrong when it is fed."""
        owner = wrong.owner
        numbers = {s: (n + shift) // size for n, s in enumerate(steps)}
        parts = self._segments(wrong.part, numbers, owner)
        values = Values(wrong.part.program, wrong.arguments)
        names = {i.name: i for i in wrong.part.program.module.entry.instructions}
        every = list(dict.fromkeys(i for p in parts for i in p.fed))
        values.of([names[i.name] for i in every])
        given = self._together_run(parts, values, names)
        for number, segment in enumerate(parts):
            rows = values.of([names[i.name] for i in segment.fed])
            found = self.bench.first_wrong(segment, rows, given[number] if given is not None else None)
            if found is not None and len(self._steps(segment)) < len(self._steps(wrong.part)):
                return self._confirmed(found, given is not None)
        return None

    def _confirmed(self, found: Wrong, was_shared: bool) -> Wrong | None:
        """The same with the segment compiled alone, with only the result that is wrong."""
        alone = part(self.program, self.computation, [found.owner], found.part.fed)
        rows = _of_part(found.part, found.arguments, alone)
        again = self.bench.first_wrong(alone, rows)
        if again is not None:
            return again
        return found if was_shared is False else self.bench.first_wrong(found.part, found.arguments)

    def _segments(self, whole: Part, numbers: dict[HloInstruction, int], owner: HloInstruction) -> list[Part]:
        """The parts of a program, one for each number, each fed with what earlier ones compute."""
        members: dict[int, list[HloInstruction]] = {}
        for step, number in numbers.items():
            members.setdefault(number, []).append(step)
        inside = set(whole.computed)
        users: dict[HloInstruction, list[HloInstruction]] = {}
        for instruction in whole.computed:
            for operand in instruction.operands:
                users.setdefault(operand, []).append(instruction)
        found = []
        for number, own in sorted(members.items()):
            own_set = set(own)
            targets = [i for i in own if i is owner or i in whole.targets or any(
                u not in own_set and u in inside for u in users.get(i, ()))]
            outside = {s for s, n in numbers.items() if n != number} | set(whole.fed)
            if targets:
                found.append(part(self.program, self.computation, targets, outside))
        return found

    def _together_run(self, parts: list[Part], values: Values, names: dict[str, HloInstruction]
                      ) -> list[list[list[Array]]] | None:
        """The executor's values of all segments from one run of a module that holds them side by side."""
        if len(parts) == 1:
            return None
        joined = side_by_side(self.program, [p.program for p in parts])
        rows = [[leaf for p in parts for leaf in values.of([names[i.name] for i in p.fed])[device]]
                for device in range(self.program.devices)]
        given = self.bench.run(joined, [rows])[0]
        if not given:
            return None
        counts = [len(p.owners()) for p in parts]
        ends = list(itertools.accumulate(counts))
        return [[row[end - count:end] for row in given] for end, count in zip(ends, counts, strict=True)]

    # Cutting has undone the fault.

    def _together(self, wrong: Wrong) -> _Found:
        """The first instruction that is wrong with all that it is computed of, and what it takes of that."""
        steps = self._steps(wrong.part)
        owner = wrong.owner
        order = [s for s in ancestors(self.computation, [owner]) if s in set(steps)]
        low, high, best = 0, len(order) - 1, wrong
        while low < high and not self.bench.is_late:
            middle = (low + high) // 2
            found = self._upto(wrong, order[middle])
            if found is None:
                low = middle + 1
            else:
                high, best = middle, found
        best = self._first_among_operands(wrong, best, set(order))
        best, needed = self._lengthened(best)
        instruction = best.owner
        while instruction.opcode in _SAME_ELEMENTS:
            instruction = instruction.operands[0]
        steps = self._steps(best.part)
        if len(steps) == 1:
            entered = self._entered(best, steps[0])
            if entered is not None:
                return entered
        others = tuple(i for i in needed if i is not instruction)
        return _Found(best, self.path, instruction, others)

    def _upto(self, wrong: Wrong, last: HloInstruction) -> Wrong | None:
        """The program shortened to one instruction and what it is computed of."""
        if not is_cuttable(last):
            return None
        tried = part(self.program, self.computation, [last], wrong.part.fed)
        return self.bench.first_wrong(tried, _of_part(wrong.part, wrong.arguments, tried))

    def _first_among_operands(self, wrong: Wrong, best: Wrong, steps: set[HloInstruction]) -> Wrong:
        """Go on to an operand as long as one is wrong, too."""
        is_moving = True
        while is_moving and not self.bench.is_late:
            is_moving = False
            for operand in _operands(best.owner):
                found = self._upto(wrong, operand) if operand in steps else None
                if found is not None:
                    best, is_moving = found, True
                    break
        return best

    def _lengthened(self, wrong: Wrong) -> tuple[Wrong, tuple[HloInstruction, ...]]:
        """The fewest levels of operands with which the instruction is wrong, the rest fed by the reference."""
        owner = wrong.owner
        steps = self._steps(wrong.part)
        names = {i.name: i for i in wrong.part.program.module.entry.instructions}
        values = Values(wrong.part.program, wrong.arguments)
        level, inside = [owner], {owner}
        while len(inside) < len(steps) and not self.bench.is_late:
            cut = {s for s in steps if s not in inside and is_cuttable(s)} | set(wrong.part.fed)
            tried = part(self.program, self.computation, [owner], cut)
            found = self.bench.first_wrong(tried, values.of([names[i.name] for i in tried.fed]))
            if found is not None:
                return found, tuple(s for s in steps if s in inside)
            level = [o for i in level for o in _operands(i) if o in set(steps) - inside]
            if not level:
                break
            inside |= set(level)
        return wrong, tuple(steps)

    # Called computations.

    def _entered(self, wrong: Wrong, caller: HloInstruction) -> _Found | None:
        """The search in what the instruction calls, where that is wrong by itself."""
        if caller.opcode in FOLDS or not caller.called_computations() or self.bench.is_late:
            return None
        for computation, states in _activations(wrong, caller):
            whole = part(self.program, computation, _inner_targets(computation))
            for first in range(0, len(states), _ITERATIONS):
                batch = states[first:first + _ITERATIONS]
                rows = [_parameters(computation, whole, s) for s in batch]
                for number, given in enumerate(self.bench.run(whole.program, rows)):
                    found = self.bench.first_wrong(whole, rows[number], given) if given else None
                    if found is not None:
                        call = Call(caller, computation, first + number)
                        return _Search(self.program, self.bench, computation, (*self.path, call)).narrow(found)
        return None


def _inner_targets(computation: HloComputation) -> list[HloInstruction]:
    root = computation.root
    if root.opcode != "tuple":
        return [root]
    return [o for o in dict.fromkeys(root.operands) if any(True for _ in leaves(o.shape))] or [root]


def _operands(instruction: HloInstruction) -> Iterator[HloInstruction]:
    """What an instruction takes; of tuples that are only handed on, what they hold."""
    for operand in instruction.operands:
        source = operand
        while source.opcode == "get-tuple-element":
            source = source.operands[0]
        if source.opcode == "tuple":
            yield from _operands(source)
        else:
            yield source


def _of_part(whole: Part, arguments: Rows, smaller: Part) -> list[list[Array]]:
    """The arguments of a smaller part that is fed with some of what a larger one is."""
    owners = [f for f in whole.fed for _ in leaves(f.shape)]
    return [[a for f in smaller.fed for a, owner in zip(row, owners, strict=True) if owner is f] for row in arguments]


def _parameters(computation: HloComputation, whole: Part, state: list[list[Any]]) -> list[list[Array]]:
    """The arguments of a called computation's part: of each device, from the values of its parameters."""
    parameters = computation.parameters()
    return [[leaf for f in whole.fed for leaf in flat(f.shape, row[parameters.index(f)])] for row in state]


def _activations(wrong: Wrong, caller: HloInstruction) -> list[tuple[HloComputation, list[list[list[Any]]]]]:
    """What the caller calls, with the values of the parameters at each time: computation, time, device, parameter."""
    found: dict[HloComputation, dict[int, list[list[Any]]]] = {}
    devices = wrong.part.program.devices

    def watch(moment: Moment) -> Any:
        if len(moment.path) == 1 and moment.path[0].caller.name == caller.name:
            call = moment.path[0]
            times = found.setdefault(call.computation, {})
            rows = times.setdefault(call.iteration, [[] for _ in range(devices)])
            if moment.instruction.opcode == "parameter":
                rows[moment.device].append(moment.value)
        return moment.value

    evaluate_program(wrong.part.program, wrong.arguments, watch)
    return [(c, [times[n] for n in sorted(times)]) for c, times in found.items()]
