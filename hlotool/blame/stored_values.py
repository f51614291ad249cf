"""Values of instructions from a device of the user's own, held against the reference one by one.

`hlotool run --trace` writes such a file, and so may anybody: arrays by the names of instructions, `w[3]/s` for s in
what w calls for the fourth time. Each value is judged with the program's own arguments, and one that is wrong a second
time, fed with the stored values before it: what is wrong then holds the cause, or an instruction between them does.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.blame.cuts import part
from hlotool.blame.places import InstructionPlace
from hlotool.blame.reference_values import ReferenceValues
from hlotool.blame.value_trace import TracedNames
from hlotool.blame.wrong_instruction import Blame, search
from hlotool.diagnostics import HloError
from hlotool.execution import ARGUMENTS, Executor, Moment, Observer, Path, Program, evaluate_program, flat, typed
from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array
from hlotool.numerics import Evidence, Judgement, Rows, Way, computed, own, who_is_right
from hlotool.passes.edit import is_cuttable
from hlotool.process import work_time
from hlotool.verdict import Comparison, Finding


@dataclass
class StoredValue:
    """One value of the file and what became of it."""

    name: str
    path: Path
    instruction: HloInstruction
    given: Array
    #: against the reference on the program's arguments
    judgement: Judgement


def blame(program: Program, arguments: Rows, executor: Executor, *, seconds: float = 60.0,
          results: Sequence[int] | None = None, values: ReferenceValues | None = None) -> Blame | None:
    """The instruction that an executor gets wrong: by search, or among values that a file holds; None: none is.

    `results` are the leaves that are known to be wrong, where that is known; `values` the reference's run, where there
    is one already. After `seconds` the best answer so far is given. Raises HloError where the reference or the executor
    cannot run the program, or the executor holds results alone.
    """
    trace = stored_trace(program, executor)
    if trace is None:
        executor.require_computing()
        return search(program, arguments, executor, seconds=seconds, results=results, values=values)
    return _blame_stored(program, arguments, executor.name, judge_stored(program, arguments, trace), seconds)


def stored_trace(program: Program, executor: Executor) -> dict[str, Array] | None:
    """The values of instructions that an executor's file holds; None: it holds results, or there is no file.

    Raises HloError where some arrays are named after instructions and others are not: those would go unjudged.
    """
    held = executor.stored_arrays() or {}
    names = {i.name for i in program.module.instructions()}
    unknown = [n for n in held if n.rsplit("/", 1)[-1] not in names]
    if len(unknown) == len(held):
        return None
    if unknown:
        raise HloError.of(ARGUMENTS, f"{executor.name} holds {', '.join(map(repr, unknown[:4]))}"
                                     f"{' and others' if len(unknown) > 4 else ''} beside values of "
                                     "instructions, and no instruction has such a name",
                          filename=program.filename)
    return held


def compare_stored(program: Program, arguments: Rows, name: str, trace: Mapping[str, Array]) -> Comparison:
    """A comparison of stored values with the reference; each one that is wrong is a finding."""
    found = Comparison(f"{program.module.name} on {name}", f"{program.module.name} on reference", (name, "reference"))
    found.inputs.append("given")
    for value in judge_stored(program, arguments, trace):
        found.counts.update(value.judgement.counts)
        found.elements += int(value.judgement.kinds.size)
        if value.judgement.is_wrong:
            right, why = who_is_right(value.judgement, name, "reference")
            found.findings.append(
                Finding(name, "reference", -1, 0, "given", 0, value.judgement, right, why, value.name))
            found.witness = [list(row) for row in arguments]
    return found


def judge_stored(program: Program, arguments: Rows, trace: Mapping[str, Array]) -> list[StoredValue]:
    """The verdict on each stored value, in the order of evaluation. Raises HloError where one fits no instruction."""
    places: dict[str, tuple[Path, HloInstruction]] = {}
    reference: dict[str, Array] = {}
    names = TracedNames()

    def watch(moment: Moment) -> Any:
        name = names.name(moment.path, moment.instruction)
        if name in trace and not moment.device and moment.instruction.shape.is_array:
            places[name], reference[name] = (moment.path, moment.instruction), moment.value
        return moment.value

    evaluate_program(program, arguments, watch)
    if unknown := [name for name in trace if name not in places]:
        raise HloError.of(ARGUMENTS, "on these arguments no instruction that gives an array runs as "
                                     f"{', '.join(unknown[:4])}", filename=program.filename)
    given = {name: typed(trace[name], places[name][1].shape) for name in places}
    order = list(given)

    def source(way: Way) -> list[list[Any]]:
        kept: dict[str, Array] = reference if way == "own" else {}
        if way != "own":
            computed(program, arguments, way, observer=_keeping(given, kept))
        if not isinstance(way, str):  # as results are: what a sample holds in a wider type is rounded
            kept = {name: own(value, places[name][1].shape) for name, value in kept.items()}
        return [[kept.get(name) for name in order]]  # a loop may run less often in a sample

    evidence = Evidence(program, arguments, source=source, of_results=False)
    judged = {name: evidence.judge(given[name], result=number) for number, name in enumerate(order)}
    return [StoredValue(name, *place, given[name], judged[name]) for name, place in places.items()]


def _keeping(wanted: Mapping[str, Array], kept: dict[str, Array]) -> Observer:
    """An observer that keeps those values of the first device."""
    names = TracedNames()

    def watch(moment: Moment) -> Any:
        name = names.name(moment.path, moment.instruction)
        if name in wanted and not moment.device:
            kept[name] = moment.value
        return moment.value

    return watch


def _blame_stored(program: Program, arguments: Rows, name: str, values: Sequence[StoredValue], seconds: float
                  ) -> Blame | None:
    """The first value that is wrong on the stored values before it; else the first that is wrong."""
    started = work_time()
    stored = {v.name: v.given for v in values}
    wrong = [v for v in values if v.judgement.is_wrong]
    first: Blame | None = None
    for value in wrong:
        if first is not None and work_time() > started + seconds:
            break
        found = _fed(program, arguments, name, stored, value)
        first = first or found
        if found.judgement.is_wrong:
            return found
    return first


def _fed(program: Program, arguments: Rows, name: str, stored: Mapping[str, Array], value: StoredValue) -> Blame:
    """The verdict on a value that is computed of the stored ones before it, and the program that does so."""
    started = work_time()
    computation = value.path[-1].computation if value.path else program.module.entry
    names = TracedNames()
    cut = [i for i in computation.instructions
           if i is not value.instruction and names.name(value.path, i) in stored and is_cuttable(i)]
    alone = part(program, computation, [value.instruction], cut)
    rows = [_rows(program, arguments, stored, value.path, alone.fed)]
    fits = alone.program.devices == 1 and alone.computed
    judged = Evidence(alone.program, rows).judge(value.given) if fits else value.judgement
    between = tuple(i for i in alone.computed if i is not value.instruction and i.opcode not in ("constant", "tuple"))
    return Blame(name, InstructionPlace(program.module, value.instruction, value.path), judged, alone, rows, 0, (), 0,
                 work_time() - started, untold=between)


def _rows(program: Program, arguments: Rows, stored: Mapping[str, Array], path: Path,
          fed: Sequence[HloInstruction]) -> list[Array]:
    """The stored values of instructions of one call, or the reference's where none is stored, leaf by leaf."""
    known: dict[HloInstruction, Any] = {}
    way = [(call.caller, call.iteration) for call in path]

    def watch(moment: Moment) -> Any:
        if moment.instruction in wanted and not moment.device and way == [(c.caller, c.iteration) for c in moment.path]:
            known[moment.instruction] = moment.value
        return moment.value

    traced = TracedNames()
    names = {i: traced.name(path, i) for i in fed}
    wanted = {i for i, n in names.items() if n not in stored}
    if wanted:
        evaluate_program(program, arguments, watch)
    return [leaf for i in fed for leaf in ([stored[names[i]]] if names[i] in stored else flat(i.shape, known[i]))]
