"""Comparison with the search for instructions: where sides part decides doubts, and is named in what was found."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, ParamSpec

from hlotool.blame.finding_reports import at_place, blame_diagnostic, pair_diagnostic
from hlotool.blame.module_pair import blame_pair
from hlotool.blame.partitioned_cause import blame_parts, parts_diagnostic
from hlotool.blame.places import InstructionPlace, result_maker
from hlotool.blame.reference_run import FOLDS
from hlotool.blame.refused_instruction import refused_instruction
from hlotool.blame.stored_values import blame, compare_stored, stored_trace
from hlotool.blame.wrong_instruction import Blame
from hlotool.diagnostics import Diagnostic, HloError, Note
from hlotool.distributed import partition_between
from hlotool.execution import (
    ARGUMENTS,
    DIFFERENCE,
    FAILURES,
    OutOfTime,
    Program,
    executor_named,
    fitted,
    read_module,
    run_limit,
)
from hlotool.numerics import SMALL, Doubt, Locator, roundings, takes_ordinary, who_is_right
from hlotool.verdict import Comparison, Finding, with_handed_out
from hlotool.verdict import compare as compare_values

P = ParamSpec("P")
#: seconds for one doubt, and to name an instruction
_LOCATE, _NAME = 15.0, 30.0


def _searching(function: Callable[P, Comparison], names: bool) -> Callable[P, Comparison]:
    """The comparison of hlotool.verdict with doubts decided and, where it `names`, the instruction named by search."""
    signature = inspect.signature(function)

    @functools.wraps(function)
    def compare(*args: P.args, **kwargs: P.kwargs) -> Comparison:
        bound = signature.bind(*args, **kwargs)
        for given in {"a", "b"} & set(bound.arguments):
            if bound.arguments[given] is not None:
                bound.arguments[given] = read_module(bound.arguments[given])
        if bound.arguments.get("b") is not None:
            bound.arguments["a"], bound.arguments["b"] = with_handed_out(bound.arguments["a"], bound.arguments["b"])
        one = Program(bound.arguments["a"])
        other = Program(bound.arguments["b"]) if bound.arguments.get("b") is not None else None
        found = _stored(one, bound.arguments) if other is None else None
        if found is None:
            found = function(**{"locate": locator(one, other)} | bound.arguments)  # type: ignore[call-arg]
            _look_behind_open(found, one, other)
        if other is not None and partition_between(one, other) is not None:
            if names and found.witness is not None:
                _name_in_parts(found, one, other)
        elif names and (found.findings or found.diagnostics):
            name_instruction(found, one, other, seconds=_NAME)
        return found

    return compare


def _name_in_parts(found: Comparison, one: Program, other: Program) -> None:
    """Put the instruction of a partitioned program into a comparison, if one is proved guilty."""
    assert found.witness is not None
    try:
        with run_limit(_NAME):
            guilty = blame_parts(one, other, found.witness[0], _NAME)
    except (HloError, OutOfTime):
        return
    if guilty is not None and guilty.place is not None:
        found.instruction, found.line = guilty.place.instruction.name, guilty.place.line[0]
        found.diagnostics[:] = [*(d for d in found.diagnostics if d.code != DIFFERENCE), replace(
            parts_diagnostic(guilty), code=DIFFERENCE)]


#: hlotool.verdict.compare with what a search adds (`_searching`): `hlotool.compare`
compare = _searching(compare_values, names=True)
#: the same for who looks for the instruction himself
compare_unnamed = _searching(compare_values, names=False)


def _stored(one: Program, given: Mapping[str, Any]) -> Comparison | None:
    """The comparison with values of instructions from a file; None where no executor holds such."""
    for name in given.get("executors", ()):
        executor = executor_named(name)
        trace = stored_trace(one, executor)
        if trace is None:
            continue
        if given.get("arguments") is None:
            raise HloError.of(ARGUMENTS, f"{name} holds values of one run, whose arguments are not given",
                              filename="--executors", help="give them: --args x.npz")
        return compare_stored(one, [fitted(one, given["arguments"])] * one.devices, name, trace)
    return None


def _look_behind_open(found: Comparison, one: Program, other: Program | None) -> None:
    """Where the roundings leave a result open: whether an instruction on the way there is wrong by itself."""
    side = next((n for n in found.executors if n != "reference"), None)
    if found.verdict != "none" or other is not None or side is None or found.open_arguments is None:
        return
    try:
        with run_limit(_LOCATE):
            wrong = blame(one, found.open_arguments, executor_named(side), seconds=_LOCATE)
    except HloError:
        return
    if wrong is not None:
        right, why = who_is_right(wrong.judgement, side, "reference")
        found.findings.append(Finding(side, found.left, 0, wrong.device, found.inputs[0], 0, wrong.judgement, right,
                                      f"{why}; seen at {wrong.place}, while the results hang on roundings"))
        found.witness = found.open_arguments


def locator(one: Program, other: Program | None, *, seconds: float = _LOCATE) -> Locator:
    """Return what decides a doubt: True if the sides part on ordinary numbers or at one operation by itself."""

    def locate(doubt: Doubt) -> bool | None:
        try:
            with run_limit(seconds):
                return _is_cause(one, other, doubt, seconds)
        except HloError:
            return None

    return locate


def _is_cause(one: Program, other: Program | None, doubt: Doubt, seconds: float) -> bool | None:
    if doubt.executor == "reference":
        pair = blame_pair(one, other, doubt.arguments, seconds=seconds) if other is not None else None
        return pair.is_fed_ordinary if pair is not None and pair.place is not None and not pair.edit else None
    for program in (one,) if other is None else (other, one):
        wrong = blame(program, doubt.arguments, executor_named(doubt.executor), seconds=seconds)
        if wrong is not None:
            if roundings(wrong.part.program.module) > SMALL:
                return None
            return _is_alone(wrong) or takes_ordinary(wrong.arguments[wrong.device], wrong.judgement,
                                                      wrong.part.computed)
    return None


def _is_alone(wrong: Blame) -> bool:
    """Return True if one operation is wrong: not several that a compiler takes together, nor a call of others."""
    instruction = wrong.place.instruction
    return not wrong.together and (instruction.opcode in FOLDS or not instruction.called_computations())


def name_instruction(found: Comparison, one: Program, other: Program | None, *, seconds: float = _NAME) -> None:
    """Put the instruction to blame into a comparison that found a difference or a failure, and say so at its place.

    Where none is proven to be guilty, none is put in, and the diagnostic is at the one that makes the result.
    """
    worst = found.worst
    if worst is None or found.witness is None:
        _name_refused(found, one, other, seconds)
        return
    try:
        with run_limit(seconds):
            named = _searched(found, one, other, seconds)
    except HloError as error:
        named = None
        found.diagnostics.extend(d for d in error.diagnostics if d not in found.diagnostics)
    if named is None:
        place = InstructionPlace((other or one).module, result_maker((other or one).module.entry.root, worst.result))
        named = None, at_place(DIFFERENCE, f"result {worst.result} differs, which {place} makes", place)
    guilty, frame = named
    if guilty is not None:
        found.instruction, found.line = guilty.instruction.name, guilty.line[0]
        found.iteration = guilty.iterations[-1] if guilty.iterations else None
    said = Note(f"{found.left} and {found.right} differ: {worst}")
    found.diagnostics[:] = [d for d in found.diagnostics if d.code != DIFFERENCE]
    found.diagnostics.append(replace(frame, notes=(said, *frame.notes)))


def _name_refused(found: Comparison, one: Program, other: Program | None, seconds: float) -> None:
    """Where an executor cannot run a program: the instruction that it fails at."""
    failures = [d for d in found.diagnostics if d.code in FAILURES]
    if not failures or found.findings:
        return
    for name in found.executors:
        if name == "reference":
            continue
        for program in (one,) if other is None else (other, one):
            place = refused_instruction(program, executor_named(name), seconds=seconds)
            if place is not None:
                found.instruction, found.line = place.instruction.name, place.line[0]
                number = found.diagnostics.index(failures[0])
                found.diagnostics[number] = at_place(failures[0].code, f"{name} fails at {place}: "
                                                     f"{failures[0].message}", place)
                return


def _searched(found: Comparison, one: Program, other: Program | None, seconds: float
              ) -> tuple[InstructionPlace | None, Diagnostic] | None:
    worst, witness = found.worst, found.witness
    assert worst is not None and witness is not None
    if other is not None:
        pair = blame_pair(one, other, witness, seconds=seconds)
        if pair is not None:
            return pair.place, pair_diagnostic(pair)
    side = worst.side.rsplit(" on ", 1)[-1]
    for program in (one,) if other is None else (other, one):
        wrong = blame(program, witness, executor_named(side), seconds=seconds) if side != "reference" else None
        if wrong is not None:
            return wrong.place, blame_diagnostic(wrong)
    return None
