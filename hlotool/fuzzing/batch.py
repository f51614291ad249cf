"""One batch in a child process: its programs are drawn, compiled together, run, and judged.

What looks wrong is run once more alone. The judge is that of hlotool.verdict: the reference, its shadow, and samples.
"""

from __future__ import annotations

import functools
import re
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.conformance import CaseOutcome, ConformanceCase, Status, expectation_of, not_to_run, shipped
from hlotool.diagnostics import HloError
from hlotool.execution import (
    NO_VALUE,
    Program,
    ask_each,
    describe_executor,
    evaluate_program,
    executor_named,
    run_limit,
    run_text,
)
from hlotool.fuzzing.open_values import differs_in_signs_of_zero, is_open
from hlotool.fuzzing.programs import programs_of
from hlotool.fuzzing.test_program import Plan, Rows, Subject
from hlotool.ir.arrays import Array, np
from hlotool.numerics import SMALL, Evidence, Judgement, Kind, is_extreme, is_nan, roundings, without_ends
from hlotool.passes.read import parse

#: codes of diagnostics that say what became of a run; every other one is the compilation's
_WORDS = {"E103": "run-time error", "E104": "crash", "E105": "time-out", "E112": "time-out"}
#: what says that nobody can be blamed: an executor or StableHLO has no form for what the program holds
_NOT_THERE = ("E106", "E107", "E112", "E120", "X")
_UNIMPLEMENTED = re.compile(r"UNIMPLEMENTED|[Uu]nsupported|not supported|not implemented|Invalid XLA PrimitiveType")


@dataclass
class Sighting:
    """A program on which an executor does what it must not, or hlotool itself does."""

    subject: Subject
    #: wrong, non-finite fold, crash, refused, time-out, ...; or, of hlotool itself: reference, rewriting
    kind: str
    said: str
    #: where it stands in the campaign
    batch: int = 0
    number: int = 0
    #: why this is known (an entry of hlotool.conformance's expectations); empty: it is not
    known: str = ""


@dataclass
class BatchReport:
    """Outcome of a batch."""

    batch: int
    programs: int = 0
    #: generator -> programs
    drawn: Counter[str] = field(default_factory=Counter)
    #: agrees, undecided, unsupported, no value, left out, known, seen
    outcomes: Counter[str] = field(default_factory=Counter)
    sightings: list[Sighting] = field(default_factory=list)
    seconds: float = 0.0


@functools.cache
def _facts(executor: str) -> dict[str, str]:
    return describe_executor(executor) | {"executor": executor}


def run_batch(plan: Plan, batch: int) -> BatchReport:
    """Draw, run and judge the programs of a batch."""
    return judge_programs(plan, batch, programs_of(plan, batch))


def judge_programs(plan: Plan, batch: int, programs: Iterable[Subject]) -> BatchReport:
    """Run and judge programs."""
    started = time.monotonic()
    found = BatchReport(batch)
    subjects: dict[int, Subject] = {}
    for number, subject in enumerate(programs):
        found.drawn[subject.generator] += 1
        if not plan.with_known and _is_left_out(subject, plan.executor):
            found.outcomes["left out"] += 1
        else:
            subjects[number] = subject
    found.programs = len(subjects)
    values = computed(list(subjects.values()), plan)
    for (number, subject), given in zip(subjects.items(), values, strict=True):
        for sighting in _judged(subject, given, plan, found.outcomes):
            sighting.batch, sighting.number = batch, number
            sighting.known = _known(sighting, plan.executor)
            found.outcomes["known" if sighting.known else "seen"] += 1
            if not sighting.known:
                found.sightings.append(sighting)
    found.seconds = time.monotonic() - started
    return found


def computed(subjects: Sequence[Subject], plan: Plan) -> list[Any]:
    """Return the executor's results for each program, or the HloError; programs of one device are compiled together."""
    found: list[Any] = [None] * len(subjects)
    groups: dict[int, list[int]] = {}
    for number, subject in enumerate(subjects):
        groups.setdefault(len(subject.rows), []).append(number)
    for devices, members in groups.items():
        rows = [(subjects[n].text, f"{subjects[n].generator}-{n}", subjects[n].rows, ()) for n in members]
        answers = ask_each(plan.executor, "compute_text", rows, devices=devices, time_limit=_limit(plan, len(rows)))
        for number, answer in zip(members, answers, strict=True):
            found[number] = answer
    return found


def _limit(plan: Plan, count: int) -> float:
    """Seconds for many programs at once."""
    return plan.time_limit * (1 + count / 8)


def _judged(subject: Subject, given: Any, plan: Plan, outcomes: Counter[str]) -> Iterator[Sighting]:
    try:
        with run_limit(plan.time_limit), np.errstate(all="ignore"):
            yield from _looked_at(subject, given, plan, outcomes)
    except HloError as error:
        first = error.diagnostics[0]
        if first.code in NO_VALUE:
            outcomes["no value"] += 1
        else:
            yield Sighting(subject, "reference", f"{first.message} [{first.code}]")
    except Exception as error:  # hlotool's own mistake is a finding like others
        yield Sighting(subject, "reference", f"{type(error).__name__}: {error}")


def _looked_at(subject: Subject, given: Any, plan: Plan, outcomes: Counter[str]) -> Iterator[Sighting]:
    program = Program(parse(subject.text, subject.generator))
    evidence = Evidence(program, subject.rows, product_bits=executor_named(plan.executor).product_bits)
    reference = evidence.reference
    if subject.original and (problem := _unlike(subject, reference)):
        yield Sighting(subject, "rewriting", problem)
        return
    if isinstance(given, HloError):
        sighting = _failure(subject, given, plan)
        if sighting is None:
            outcomes["unsupported"] += 1
        else:
            yield sighting
        return
    judged = judge_rows(evidence, given, subject.rows)
    if judged is None or not judged.is_wrong or is_open(program.module, subject.rows) or differs_in_signs_of_zero(
            program.module, judged.given, judged.reference):
        outcomes["undecided" if judged is not None and judged.kind >= Kind.ILL_CONDITIONED else "agrees"] += 1
        return
    yield from _confirmed(subject, judged, evidence, plan)


def _confirmed(subject: Subject, first: Judgement, evidence: Evidence, plan: Plan) -> Iterator[Sighting]:
    """Run alone what looked wrong among others."""
    try:
        alone = run_text(subject.text, subject.rows, plan.executor, devices=len(subject.rows),
                         time_limit=plan.time_limit)
    except HloError as error:
        sighting = _failure(subject, error, plan)
        if sighting is not None:
            yield sighting
        return
    judged = judge_rows(evidence, alone, subject.rows)
    if judged is not None and judged.is_wrong:
        yield Sighting(subject, str(judged.kind), str(judged))
    else:
        yield Sighting(subject, "only together", str(first))


def judge_rows(evidence: Evidence, given: Rows, rows: Rows) -> Judgement | None:
    """The worst judgement on the results of all devices; None where there are none."""
    found: list[Judgement] = []
    counts_ends = roundings(evidence.program.module) <= SMALL or not is_extreme(rows)
    for device, row in enumerate(given):
        for result, value in enumerate(row):
            judged = evidence.judge(value, device, result)
            found.append(judged if counts_ends or not judged.is_wrong else without_ends(judged, None))
    return max(found, key=lambda j: (j.kind, bool(j.problem)), default=None)


def _unlike(subject: Subject, reference: Sequence[Sequence[Array]]) -> str:
    """Why the rewriting of a program gives other bits on the reference; empty: it does not."""
    original = evaluate_program(Program(parse(subject.original, "original")), subject.original_rows)
    for device, (row, other) in enumerate(zip(reference, original, strict=True)):
        for result, (a, b) in enumerate(zip(row, other, strict=True)):
            same = (a == b) | (is_nan(a) & is_nan(b))
            if not bool(np.all(same)):
                return f"result {result} of device {device} of the rewritten program has other bits on the reference"
    return ""


def _failure(subject: Subject, error: HloError, plan: Plan) -> Sighting | None:
    """Return the kind of failure where an executor gives no values; None: it lacks what the program needs."""
    first = error.diagnostics[0]
    if first.code.startswith(_NOT_THERE) or _UNIMPLEMENTED.search(first.message):
        return None
    return Sighting(subject, _WORDS.get(first.code, "refused"), f"{first.message} [{first.code}]")


# What is known.


def known_reason(opcode: str, element_types: Sequence[str], kind: str, said: str, executor: str) -> str:
    """Why an operation of some element type is expected to fail, whatever is special about it; empty: it is not."""
    status = _STATUSES.get(kind, Status.MISMATCH)
    facts, detail = _facts(executor), said.replace(", the reference ", ", expected ")
    for element_type in element_types:
        case = ConformanceCase(f"{opcode}/{element_type}/0-random", "ops", opcode, element_type, "", edge="random")
        found = expectation_of(case, facts, CaseOutcome(status, detail), _entries())
        if found is not None:
            return found.reason
    return ""


def _case(subject: Subject) -> ConformanceCase:
    return ConformanceCase(f"{subject.opcode}/{subject.element_type}/0-{subject.edge}", "ops", subject.opcode,
                           subject.element_type, subject.text, edge=subject.edge)


_STATUSES = {"crash": Status.CRASH, "time-out": Status.TIME_OUT, "run-time error": Status.RUN_ERROR,
             "refused": Status.COMPILE_ERROR}


@functools.cache
def _entries() -> tuple[Any, ...]:
    return tuple(shipped())


def _is_left_out(subject: Subject, executor: str) -> bool:
    """Return True if a program is known to end the executor's process, or to keep it waiting."""
    if not subject.opcode:
        return False
    facts, case = _facts(executor), _case(subject)
    return (not_to_run(case, facts, _entries()) is not None
            or any(e.covers(case, facts) and Status.CRASH in e.statuses for e in _entries()))


def _known(sighting: Sighting, executor: str) -> str:
    """Why what was seen of one operation is known; empty: it is not."""
    subject = sighting.subject
    if not subject.opcode or sighting.kind in ("reference", "rewriting", "only together"):
        return ""
    outcome = CaseOutcome(_STATUSES.get(sighting.kind, Status.MISMATCH),
                          sighting.said.replace(", the reference ", ", expected "))
    found = expectation_of(_case(subject), _facts(executor), outcome, _entries())
    return found.reason if found is not None else ""
