"""The instruction on which an executor parts from the reference.

A program whose results are not the reference's is cut into segments, each fed with the reference's values: a segment
that is wrong by itself holds the cause, and what is wrong only because its operands are does not count. What is far
from the reference is cut again before it is judged, until one instruction is left; that one is judged, and what is near
the reference, for which roundings may be the reason. One that calls computations is entered: a call or fusion with its
operands, a conditional by the branch that is taken, a loop with the reference's state at each iteration.

Where no segment is wrong alone, cutting has undone the fault (acting_together.py), or there is none.

What it costs: the whole program once on the executor and once on the reference, whose values are kept; segments once,
at most; then ever smaller parts. Samples of roundings, which cost several times as much, are drawn of small parts, and
of the whole only where it is near the reference, or nothing in it is wrong by itself.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from hlotool.blame.call_trace import Activation, called, inner_targets
from hlotool.blame.cuts import ProgramPart, part
from hlotool.blame.joint_fault import acting_together
from hlotool.blame.places import InstructionPlace, require_partitioned, result_maker
from hlotool.blame.probe import Bench, Trial, Wrong
from hlotool.blame.reference_run import FOLDS
from hlotool.blame.reference_values import FORWARDING, ReferenceValues
from hlotool.blame.search_scope import SearchScope, steps_of
from hlotool.blame.segments import SEGMENTS, segment_trials
from hlotool.execution import Executor, Path, Program, RunningCall, leaves
from hlotool.ir import HloComputation, HloInstruction
from hlotool.numerics import Judgement, Kind, Look, Rows
from hlotool.passes.edit import is_cuttable

#: iterations of a loop that one question to an executor holds
_ITERATIONS = 32


@dataclass
class Blame:
    """The instruction that an executor gets wrong."""

    executor: str
    place: InstructionPlace
    judgement: Judgement
    #: the smallest program found that shows it, and its arguments
    part: ProgramPart
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
           results: Sequence[int] | None = None, values: ReferenceValues | None = None) -> Blame | None:
    """The instruction that an executor gets wrong, by running parts on it; None where its results are right.

    `results` are the leaves that are known to be wrong, where that is known; `values` the reference's run, where there
    is one already. After `seconds` the best answer so far is given. Raises HloError where the reference or the executor
    cannot run the program.
    """
    require_partitioned(program)
    started = time.monotonic()
    bench = Bench(executor, started + seconds)
    values = values if values is not None else ReferenceValues(program, arguments)
    scope = SearchScope(program, bench, program.module.entry, (), values)
    found = _Whole(scope, arguments, results).found()
    if found is None:
        return None
    return Blame(executor.name, InstructionPlace(program.module, found.instruction, found.path), found.wrong.judgement,
                 found.wrong.part, found.wrong.arguments, found.wrong.device, found.together, bench.runs,
                 time.monotonic() - started, [str(e) for e in bench.refusals])


@dataclass
class _Located:
    """Where a search ended."""

    wrong: Wrong
    path: Path
    instruction: HloInstruction
    together: tuple[HloInstruction, ...] = ()


@dataclass
class _Whole:
    """The search in the entry of a program."""

    scope: SearchScope
    arguments: Rows
    #: leaves of the result that are known to be wrong
    known: Sequence[int] | None

    def found(self) -> _Located | None:
        """The instruction behind a wrong result. Raises HloError where the executor runs nothing of the program."""
        trial = self._trial()
        looks = [(look, result) for _, result, look in trial.looks() if look is not Look.SAME]
        if not looks:
            return None
        search = _Search(self.scope)
        far = [r for look, r in looks if look is Look.FAR]
        if not far and not self.known:
            return self._judged(search, trial, ())
        chosen = [r for _, r in looks if self.known is not None and r in self.known] or far or [r for _, r in looks]
        inside = search.within(self._to(trial, chosen))
        return inside if inside is not None else self._judged(search, trial, chosen)

    def _trial(self) -> Trial:
        """The executor's results: of the module as it stands, or of what its results need where that is refused."""
        scope = self.scope
        # A shorter module may be compiled otherwise.
        whole = ProgramPart.whole(scope.program)
        given = scope.bench.run(scope.program, [self.arguments])[0]
        if given:
            return Trial(whole, self.arguments, scope.values.results, given)
        trial = scope.run(self._to(Trial(whole, self.arguments, (), ()), self.known))
        if not trial.given:
            raise scope.bench.refusals[-1]
        return trial

    def _to(self, trial: Trial, results: Sequence[int] | None) -> ProgramPart:
        """The part that ends at some results of what was run."""
        targets = trial.part.targets
        if len(targets) == 1 and targets[0].opcode == "tuple":
            targets = targets[0].operands
        owners = [t for t in targets for _ in leaves(t.shape)]
        wanted = [owners[r] for r in results if r < len(owners)] if results is not None else list(targets)
        return self.scope.part(list(dict.fromkeys(wanted)) or [self.scope.computation.root], ())

    def _judged(self, search: _Search, trial: Trial, tried: Sequence[int]) -> _Located | None:
        """Search behind the worst verdict on the whole; before the results that were `tried` nothing was found."""
        scope = self.scope
        open_ = wrong = None
        for judged in scope.bench.judged(trial.part, trial.arguments, trial.given, trial.reference,
                                         Kind.ILL_CONDITIONED):
            wrong = judged if judged.judgement.is_wrong else None
            open_ = open_ or judged
            if wrong is not None:
                break
        worst = wrong or open_
        if worst is None:
            return None
        ending = self._to(trial, [worst.result])
        inside = search.within(ending) if worst.result not in tried else None
        if inside is not None or wrong is None:
            return inside
        again = scope.first_wrong(ending)
        if again is not None:
            return search.settled(again)
        return _Located(wrong, (), result_maker(scope.computation.root, wrong.result), trial.part.computed)


@dataclass
class _Search:
    """The search in one computation of a module."""

    scope: SearchScope

    def within(self, tried: ProgramPart) -> _Located | None:
        """Search a part, which as a whole is not judged, for what is wrong by itself."""
        steps = steps_of(tried)
        if len(steps) <= 1:
            return self._entered(tried, steps[0]) if steps else None
        cuttable = [s for s in steps if is_cuttable(s)]
        size = -(-len(cuttable) // SEGMENTS)
        # Of equal segments, then of ones that begin in the middle of those.
        for shift in (0, size // 2) if size > 3 else (0,):
            if self.scope.bench.is_late or len(cuttable) < 2:
                return None
            found = _first_of((self, trial) for trial in segment_trials(self.scope, tried, cuttable, size, shift))
            if found is not None:
                return found
        return None

    def locate(self, trial: Trial) -> _Located | None:
        """Search what was run for what is wrong by itself, or, where nothing is, for what acts together there."""
        found = self.within(trial.part)
        if found is not None:
            return found
        wrong = self._alone(trial)
        return self.settled(wrong) if wrong is not None else None

    def settled(self, wrong: Wrong) -> _Located:
        """The instruction behind a wrong part in which no step is wrong by itself, but where there is only one."""
        steps = steps_of(wrong.part)
        if len(steps) > 1:
            return self._together(wrong)
        fixed = self._among_constants(wrong, steps[0] if steps else wrong.owner)
        return fixed if fixed is not None else _Located(wrong, self.scope.path, steps[0] if steps else wrong.owner)

    def _alone(self, trial: Trial) -> Wrong | None:
        """Search a part that is compiled alone: with the result that is farthest off only, or with all."""
        scope, tried = self.scope, trial.part
        if len(tried.targets) == 1 and not trial.is_shared:
            return scope.judge(trial)
        wrong = scope.first_wrong(scope.part([tried.owners()[trial.farthest[1]]], tried.fed))
        if wrong is not None or len(tried.targets) == 1:
            return wrong
        return scope.first_wrong(tried) if trial.is_shared else scope.judge(trial)

    def _together(self, wrong: Wrong) -> _Located:
        """Search a part for instructions that are wrong together only."""
        best, instruction, others = acting_together(self.scope, wrong)
        steps = steps_of(best.part)
        entered = self._entered(best.part, steps[0]) if len(steps) == 1 else None
        return entered if entered is not None else _Located(best, self.scope.path, instruction, others)

    def _among_constants(self, wrong: Wrong, step: HloInstruction) -> _Located | None:
        """Search the operands of the last step that no argument changes, as they may be wrong already."""
        scope = self.scope
        fixed = [i for i in wrong.part.computed if i.opcode not in FORWARDING and i is not step
                 and is_cuttable(i)]
        if not fixed or scope.bench.is_late:
            return None
        tried = scope.part(fixed, wrong.part.fed)
        found = scope.first_wrong(tried)
        if found is None:
            return None
        alone = scope.part([found.owner], tried.fed)
        inside = self._entered(alone, found.owner)
        return inside or _Located(scope.first_wrong(alone) or found, scope.path, found.owner)

    # Called computations.

    def _entered(self, tried: ProgramPart, caller: HloInstruction) -> _Located | None:
        """The search in what the only step of a part calls, at each time that it does."""
        scope = self.scope
        if caller.opcode in FOLDS or not caller.called_computations() or scope.bench.is_late:
            return None
        for computation, times in called(tried.program, scope.values.of(tried.fed), caller):
            whole = part(scope.program, computation, inner_targets(computation))
            for first in range(0, len(times), _ITERATIONS):
                found = self._in_times(caller, whole, computation, times[first:first + _ITERATIONS], first)
                if found is not None:
                    return found
        return None

    def _in_times(self, caller: HloInstruction, whole: ProgramPart, computation: HloComputation,
                  times: Sequence[Activation], first: int) -> _Located | None:
        """The search in some runs of a computation."""
        rows = [t.arguments(whole) for t in times]

        def searches() -> Iterator[tuple[_Search, Trial]]:
            for number, given in enumerate(self.scope.bench.run(whole.program, rows)):
                path = (*self.scope.path, RunningCall(caller, computation, first + number))
                values = ReferenceValues(whole.program, rows[number])
                inner = _Search(SearchScope(self.scope.program, self.scope.bench, computation, path, values))
                yield inner, Trial(whole, rows[number], times[number].results(whole), given)

        return _first_of(searches())


def _first_of(searches: Iterable[tuple[_Search, Trial]]) -> _Located | None:
    """Return the first finding of the searches; trials far from the reference need no verdict and go first."""
    near = []
    for search, trial in searches:
        look, _ = trial.farthest
        if look is Look.FAR and (found := search.locate(trial)) is not None:
            return found
        if look is Look.NEAR:
            near.append((search, trial))
    for search, trial in near:
        if search.scope.judge(trial) is not None and (found := search.locate(trial)) is not None:
            return found
    return None
