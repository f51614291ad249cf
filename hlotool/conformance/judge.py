"""Runs one case on one executor and says what became of it."""

from __future__ import annotations

import enum
import math
import re
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.conformance.case import Case, PerDevice
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import ResultDifference, budget_of, differences, leaves, run_text, text_arguments, text_findings
from hlotool.ir import HloInstruction, HloModule
from hlotool.isolation import close_children
from hlotool.ops import OPS

Array: TypeAlias = Any

#: what judges texts that are to be refused, or verified only: hlotool's verifier, for every executor alike
VERIFIER = "verifier"
#: the reference
REFERENCE = "reference"

#: seconds for one case: reading, compiling and running
TIME_LIMIT = 60.0


class Status(enum.StrEnum):
    """What became of a case."""

    PASS = "pass"
    MISMATCH = "mismatch"
    COMPILE_ERROR = "compile error"
    RUN_ERROR = "run-time error"
    CRASH = "crash"
    TIME_OUT = "time-out"
    UNSUPPORTED = "unsupported"
    #: it failed, and in a new process it passed
    FLAKY = "flaky"


#: codes of diagnostics that say why there are no values; every other one is the compilation's
_STATUSES = {"E103": Status.RUN_ERROR, "E104": Status.CRASH, "E105": Status.TIME_OUT, "E106": Status.UNSUPPORTED,
             "E107": Status.RUN_ERROR, "E108": Status.RUN_ERROR, "E111": Status.RUN_ERROR,
             # what StableHLO has no form for, no executor behind it can be blamed for
             "X101": Status.UNSUPPORTED, "X103": Status.UNSUPPORTED, "X104": Status.UNSUPPORTED}
#: how runtimes say that they do not have something; the interpreter says so with its last words
_NOT_THERE = {
    "E102": re.compile(r": UNIMPLEMENTED: |Invalid XLA PrimitiveType"),
    "E103": re.compile(r": UNIMPLEMENTED: "),
    "E104": re.compile(r"LLVM ERROR: (Unsupported op|Operation \S+ is unsupported|.* (are|is) not supported|"
                       r".* only supported when)"),
}
#: codes that a case may expect of its run
_RUN_CODES = frozenset(_STATUSES)


@dataclass(frozen=True)
class Worst:
    """The element that is farthest away."""

    result: int
    device: int
    index: tuple[int, ...]
    value: str
    expected: str
    ulps: float
    #: elements outside the budget, and in all
    outside: int
    size: int


@dataclass(frozen=True)
class Outcome:
    """A status and the reason for it."""

    status: Status
    detail: str = ""
    #: what the elements were allowed to be apart, in units in the last place
    budget: float | None = None
    worst: Worst | None = None
    seconds: float = field(default=0.0, compare=False)


def judge(case: Case, executor: str, time_limit: float = TIME_LIMIT) -> Outcome:
    """Run a case; on the reference its text is verified, too.

    Nothing that the case does ends this process or keeps it waiting for longer than the limit of each step.
    """
    start = time.monotonic()
    found = _verified(case, time_limit) if executor == VERIFIER else _run(case, executor, time_limit)
    return Outcome(found.status, found.detail, found.budget, found.worst, round(time.monotonic() - start, 4))


#: times that a failing case is asked again, each in a new process
_AGAIN = 2
#: what a runtime that is not the same every time may give
_MAY_VARY = (Status.MISMATCH, Status.RUN_ERROR, Status.CRASH, Status.TIME_OUT)


def asked_again(case: Case, executor: str, first: Outcome, time_limit: float = TIME_LIMIT) -> Outcome:
    """The outcome of a case that failed, after new processes were asked: flaky where one of them passes it."""
    if first.status not in _MAY_VARY or executor == VERIFIER:
        return first
    found = [first]
    for _ in range(_AGAIN):
        close_children()
        found.append(judge(case, executor, time_limit))
    failed = [o for o in found if o.status is not Status.PASS]
    if len(failed) == len(found):
        return first
    detail = f"failed {len(failed)} of {len(found)} times ({', '.join(o.status for o in failed)}): {first.detail}"
    return Outcome(Status.FLAKY, detail, first.budget, first.worst, round(sum(o.seconds for o in found), 4))


def executors_of(case: Case, executors: Iterable[str]) -> tuple[str, ...]:
    """Those of the chosen executors that a case is for: a text to be refused is the verifier's, once."""
    if not case.is_bad:
        return tuple(executors)
    return (VERIFIER,) if not _codes(case) & _RUN_CODES else (REFERENCE,)


def _codes(case: Case) -> frozenset[str]:
    return frozenset((case.expected_code or "").split())


def _verified(case: Case, time_limit: float) -> Outcome:
    try:
        found = [d.code for d in text_findings(case.text, legalize=not case.expected_code, time_limit=time_limit,
                                               filename=case.source)]
    except HloError as error:
        return _failed(error.diagnostics)
    expected = (case.expected_code or "").split()
    if found == expected:
        return Outcome(Status.PASS)
    return Outcome(Status.MISMATCH, f"reported: {_listed(found)}; expected: {_listed(expected)}")


def _listed(codes: list[str]) -> str:
    return ", ".join(codes) or "no error"


def _run(case: Case, executor: str, time_limit: float) -> Outcome:
    try:
        if executor == REFERENCE:
            # The others read the same text: that it is valid HLO is asked once.
            problems = text_findings(case.text, legalize=True, time_limit=time_limit, filename=case.source)
            if problems:
                return _failed(problems)
        rows = (tuple(map(tuple, text_arguments(case.text, case.inputs, time_limit=time_limit)))
                if case.inputs else case.rows())
        found = _values(case, executor, rows, time_limit)
    except HloError as error:
        if case.is_bad and [d.code for d in error.diagnostics] == (case.expected_code or "").split():
            return Outcome(Status.PASS)
        return _failed(error.diagnostics)
    if case.is_bad:
        return Outcome(Status.MISMATCH, f"gave values; expected: {case.expected_code}")
    expected = case.expected
    if expected is None and executor != REFERENCE:
        try:
            expected = _values(case, REFERENCE, rows, time_limit)
        except HloError as error:
            # What has no defined value cannot be judged; any other failure of the reference is a failure.
            undefined = all(d.code in ("E106", "E108") for d in error.diagnostics)
            return Outcome(Status.UNSUPPORTED if undefined else Status.RUN_ERROR,
                           f"the reference gives nothing to compare with: {_sentence(error)}")
    return _compared(case, found, found if expected is None else expected)


def _values(case: Case, executor: str, rows: PerDevice, time_limit: float) -> PerDevice:
    found = run_text(case.text, rows, executor, infeed=case.infeed, devices=max(case.devices, len(rows)),
                     time_limit=time_limit, filename=case.source)
    return tuple(map(tuple, found))


def _failed(diagnostics: list[Diagnostic]) -> Outcome:
    if not diagnostics:
        return Outcome(Status.COMPILE_ERROR, "failed without a reason")
    first = diagnostics[0]
    status = _STATUSES.get(first.code, Status.COMPILE_ERROR)
    if first.code in _NOT_THERE and _NOT_THERE[first.code].search(first.message):
        status = Status.UNSUPPORTED
    return Outcome(status, f"{first.message} [{first.code}]")


def _sentence(error: HloError) -> str:
    return "; ".join(f"{d.message} [{d.code}]" for d in error.diagnostics[:3])


def _compared(case: Case, found: PerDevice, expected: PerDevice) -> Outcome:
    from hlotool.passes.read import parse

    if case.only_shapes:
        return _shapes_compared(found, expected)
    budget, strict = budget_for(case, parse(case.text))
    results = differences(found, expected, "given", budget, strict=strict)
    worst = max(results, key=lambda r: (not r.is_equal, bool(r.problem), r.error), default=None)
    if worst is None:
        return Outcome(Status.PASS)
    if worst.problem:
        return Outcome(Status.MISMATCH, str(worst), budget)
    status = Status.PASS if worst.is_equal else Status.MISMATCH
    return Outcome(status, "" if worst.is_equal else _difference(worst), budget, _worst(worst))


def _shapes_compared(found: PerDevice, expected: PerDevice) -> Outcome:
    said = [[f"{a.dtype}{list(a.shape)}" for row in side for a in row] for side in (found, expected)]
    if said[0] == said[1]:
        return Outcome(Status.PASS)
    return Outcome(Status.MISMATCH, f"gave {', '.join(said[0])}; expected {', '.join(said[1])}")


def _difference(found: ResultDifference) -> str:
    place = f"result {found.result}" + (f" of device {found.device}" if found.device else "")
    index = "[" + ", ".join(map(str, found.index)) + "]"
    return (f"{place}: element {index} is {found.left}, expected {found.right}, {found.ulps:g} ULPs apart; "
            f"{found.outside} of {found.size} elements are outside the budget")


def _worst(found: ResultDifference) -> Worst | None:
    if not found.size:
        return None
    return Worst(found.result, found.device, found.index, str(found.left), str(found.right), found.ulps, found.outside,
                 found.size)


def budget_for(case: Case, module: HloModule) -> tuple[float, bool]:
    """The budget in ULPs, and whether it holds for each element by itself.

    A case about an operation gets what the operations in it declare (`Op.ulps_of`; several add like independent
    errors), and the square root of the number of terms for the order of a sum. Where terms are summed, their
    cancellation leaves errors of the size of the largest: the budget then is in ULPs of the largest element, too.
    A whole module gets the budget of `hlotool compare`.
    """
    if not case.opcode:
        return budget_of(module), False
    instructions = [i for i in module.instructions() if i.opcode in OPS]
    budget = math.hypot(*(_own(i) for i in instructions))
    return budget, not any(_sums(i) for i in instructions)


def _own(instruction: HloInstruction) -> float:
    record = OPS[instruction.opcode]
    declared = float(record.ulps_of(instruction.shape))
    return declared + math.sqrt(_terms(instruction)) - 1.0 if _sums(instruction) else declared


def _sums(instruction: HloInstruction) -> bool:
    record = OPS[instruction.opcode]
    return record.ulps > 0 and "elementwise" not in record.flags


def _terms(instruction: HloInstruction) -> float:
    before = max((o.shape.size for o in instruction.operands if o.shape.is_array), default=1)
    after = max((leaf.size for leaf in leaves(instruction.shape) if leaf.is_array), default=1)
    return max(1.0, before / max(1, after))
