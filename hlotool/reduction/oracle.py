"""Tests of interest: a test gives the *sign* of a candidate, and a candidate is interesting as long
as its sign is that of the original.

    WrongResult  an executor is wrong, or two modules differ; the sign is the kind of the difference
    Failure      an executor refuses the module or crashes; the sign is the code and the message without its numbers
    Timeout      an executor gives no answer in time
    ReportedCode linting, lifting or an executor reports a code
    Command      a program of the user's ends with exit code 0 (1: not interesting, 125: it cannot say)

A test is a small frozen value: it goes to the child processes that ask it.
"""

from __future__ import annotations

import abc
import re
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

from hlotool.diagnostics import HloError, Severity
from hlotool.execution import Executor, Options, Program, executor_named
from hlotool.ir import dtype_of_numpy
from hlotool.ir.arrays import digest
from hlotool.numerics import Evidence, Judgement, Kind, Rows
from hlotool.ops import OPS
from hlotool.process import work_time
from hlotool.reduction.candidate import Candidate
from hlotool.verdict import OutOfTime, Watch, compare


@dataclass(frozen=True)
class Observation:
    """Signs of a candidate, the worst one first (none: nothing is wrong), and a sentence for people."""

    signs: tuple[str, ...] = ()
    said: str = ""
    #: the test could not say
    is_unknown: bool = False


NOTHING = Observation()


@dataclass(frozen=True)
class Interest(abc.ABC):
    """A test of interest."""

    #: True if it starts programs of the user's, in this process's folder and environment
    is_own_process: ClassVar[bool] = False
    #: True if two askings may give two answers
    may_be_flaky: ClassVar[bool] = True

    @abc.abstractmethod
    def look(self, candidate: Candidate) -> Observation:
        """Return what the candidate shows. Raises HloError where it cannot be asked."""

    @abc.abstractmethod
    def describe(self) -> str:
        """The test, for people: `pjrt:cpu differs from reference`."""

    def quick(self) -> Interest | None:
        """Return a test that costs less, which nearly all that shows this one shows, too; None: there is none."""
        return None


@dataclass(frozen=True)
class WrongResult(Interest):
    """An executor is wrong by the error model, or (a pair) the second module differs from the first on the reference.

    The kind of the difference is kept: wrong, or a non-finite fold, which in a pair may come of integers or truth
    values that are wrong. `compare` on the same modules and arguments says that they differ, too, unless the test
    `is_quick`.
    """

    executor: str = "pjrt:cpu"
    #: what it is held against; the reference, unless another one is named
    against: str = "reference"
    time_limit: float = 60.0
    is_quick: bool = field(default=False, kw_only=True)

    def describe(self) -> str:
        return f"{self.executor} differs from {self.against}"

    def quick(self) -> Interest | None:
        return None if self.is_quick else WrongResult(self.executor, self.against, self.time_limit, is_quick=True)

    def look(self, candidate: Candidate) -> Observation:
        found = self._looked(candidate)
        if found.signs and not self.is_quick and candidate.partition() is None and (said := _denied(self, candidate)):
            return Observation((), f"{found.said}; {said}")
        return found

    def _looked(self, candidate: Candidate) -> Observation:
        if drawn := _random_instruction(candidate):
            return Observation((), f"{drawn} draws random numbers of an executor's own", is_unknown=True)
        if candidate.partition() is not None:
            return _parts_looked(self, candidate)
        try:
            found = wrong_results(self, candidate)
        except OutOfTime:
            return Observation((), f"the reference takes more than {self.time_limit:g} s", is_unknown=True)
        if not found:
            return NOTHING
        kinds = {k for judgement in found for k in Kind if k.is_wrong and bool((judgement.kinds == k).any())}
        signs = [str(k) for k in sorted(kinds, reverse=True)] or ["no result of that shape"]
        # A choice between a number and NaN, or a conversion to one, can only be wrong itself.
        if candidate.other is not None and not any(_may_be_nan(judgement) for judgement in found):
            signs.append(str(Kind.NON_FINITE))
        return Observation(tuple(signs), str(max(found, key=lambda j: (j.kind, j.problem))))


def _may_be_nan(judgement: Judgement) -> bool:
    kind = dtype_of_numpy(judgement.given.dtype)
    return kind.is_floating or kind.is_complex


def _parts_looked(test: WrongResult, candidate: Candidate) -> Observation:
    """Return what `compare` says of a program and its partitioned form."""
    said = compare(candidate.module, candidate.other, arguments=(candidate.rows or [[]])[0], executors=("reference",),
                   time_limit=test.time_limit)
    kinds = sorted({f.judgement.kind for f in said.findings}, reverse=True)
    return Observation(tuple(map(str, kinds)), str(said.worst)) if kinds else NOTHING


def _random_instruction(candidate: Candidate) -> str:
    """An instruction whose value each executor draws for itself, which is no difference; empty: there is none."""
    for module in (candidate.module, candidate.other):
        for instruction in module.instructions() if module is not None else ():
            record = OPS.get(instruction.opcode)
            if record is not None and "random" in record.flags:
                return instruction.name
    return ""


def _denied(test: WrongResult, candidate: Candidate) -> str:
    """Return why `compare` does not say that a candidate differs; empty: it does, or takes no such arguments."""
    rows = candidate.rows or []
    if any(digest(a) != digest(b) for row in rows[1:] for a, b in zip(rows[0], row, strict=True)):
        return ""  # the devices take different ones
    executors = ("reference", "reference") if candidate.other is not None else (test.executor, test.against)
    said = compare(candidate.module, candidate.other, arguments=rows[0] if rows else [], executors=executors,
                   time_limit=test.time_limit)
    return "" if said.verdict == "differ" else f"compare does not say so: {said.verdict}"


def wrong_results(test: WrongResult, candidate: Candidate) -> list[Judgement]:
    """The results of a candidate that are wrong."""
    program = Program(candidate.module)
    rows = candidate.rows or []
    until = work_time() + test.time_limit
    # The reference goes first: a loop that does not end any more ends there without a child's death.
    evidence = Evidence(program, rows, reference_known=_reference(program, rows, until))
    free = None
    if candidate.other is not None:
        given = _reference(Program(candidate.other), rows, until) or []
    else:
        given = _executor(test.executor, test.time_limit).run(program, [rows])[0]
        if test.against != "reference":
            free = _executor(test.against, test.time_limit).run(program, [rows])[0]
    wrong: list[Judgement] = []
    for device, row in enumerate(given):
        for result, value in enumerate(row):
            if free is not None:
                found = evidence.judge_beside(value, free[device][result], device, result)
            elif result < len(evidence.reference[device]):
                found = evidence.judge(value, device, result)
            else:
                continue
            if found.is_wrong:
                wrong.append(found)
    return wrong


def _reference(program: Program, rows: Rows, until: float) -> list[list[Any]] | None:
    """The values on the reference; None where it cannot run the program. Raises OutOfTime."""
    try:
        return Watch(until=until).run(program, rows)
    except HloError:
        return None


def _executor(name: str, time_limit: float) -> Executor:
    return executor_named(name, Options(time_limit=time_limit))


@dataclass(frozen=True)
class Failure(Interest):
    """An executor crashes, or refuses to compile or run the module; with `message`, so that it says that."""

    executor: str = "pjrt:cpu"
    message: str = ""
    time_limit: float = 60.0

    def describe(self) -> str:
        return f"{self.executor} fails" + (f" with {self.message!r}" if self.message else "")

    @property
    def sign(self) -> str:
        """Return the sign of a failure with the message."""
        return f"message {self.message}"

    def plain(self, said: str) -> Failure:
        """The test with the text that its pattern found in place of the pattern: others match no pattern of ours."""
        found = re.search(self.message, said) if self.message else None
        return replace(self, message=re.escape(found[0])) if found is not None and found[0] else self

    def look(self, candidate: Candidate) -> Observation:
        from hlotool.execution import CRASH, TIMEOUT

        try:
            _ran(self.executor, self.time_limit, candidate)
        except HloError as error:
            first = error.diagnostics[0]
            if first.code == TIMEOUT:
                return Observation((), first.message, is_unknown=True)
            if self.message:
                said = next((d.message for d in error.diagnostics if re.search(self.message, d.message)), None)
                return Observation((self.sign,), said) if said is not None else Observation((), first.message)
            if not first.code.startswith("E"):
                return Observation((), f"{first.message} [{first.code}]")  # it did not come as far as the executor
            # Crashes say where in the compiler; what they say of the module's names and sizes is no sign.
            sign = f"{first.code} {without_numbers(first.message)}"
            return Observation((sign if first.code != CRASH else sign.replace(" exit code #", ""),), first.message)
        return NOTHING


@dataclass(frozen=True)
class Timeout(Interest):
    """An executor gives no answer within so many seconds."""

    executor: str = "pjrt:cpu"
    seconds: float = 10.0

    def describe(self) -> str:
        return f"{self.executor} gives no answer within {self.seconds:g} s"

    def look(self, candidate: Candidate) -> Observation:
        from hlotool.execution import TIMEOUT

        try:
            _ran(self.executor, self.seconds, candidate)
        except HloError as error:
            first = error.diagnostics[0]
            return Observation(("timeout",) if first.code == TIMEOUT else (), first.message)
        return NOTHING


def _ran(executor: str, time_limit: float, candidate: Candidate) -> None:
    program = Program(candidate.module)
    _executor(executor, time_limit).run(program, [candidate.rows or [[]] * program.devices])


@dataclass(frozen=True)
class ReportedCode(Interest):
    """Linting or lifting reports a code; one that begins with E comes from running the module on an executor."""

    code: str = ""
    executor: str = "reference"
    time_limit: float = 60.0

    may_be_flaky = False

    @property
    def runs(self) -> bool:
        """Return True if the module has to run to show the code."""
        return self.code.startswith("E")

    def describe(self) -> str:
        return f"{self.code} is reported"

    def look(self, candidate: Candidate) -> Observation:
        from hlotool.linting import lint
        from hlotool.stablehlo import to_stablehlo
        from hlotool.text import print_module

        if self.runs:
            try:
                _ran(self.executor, self.time_limit, candidate)
                found = []
            except HloError as error:
                found = error.diagnostics
        else:
            found = lint(print_module(candidate.module), each=True)
            if not any(d.code == self.code for d in found) and not any(d.severity is Severity.ERROR for d in found):
                try:
                    to_stablehlo(candidate.module)
                except HloError as error:
                    found = error.diagnostics
        said = next((d for d in found if d.code == self.code), None)
        return Observation((self.code,), said.message) if said is not None else NOTHING


_WORD_OR_QUOTATION = re.compile(r"%?[\w.\-/]++|\[[^\]]*+\]|\{[^}]*+\}|'[^']*+'|\"[^\"]*+\"")
#: characters of a message that are looked at: brackets that nobody closes take a look at all that follows
_LONGEST = 2000


def _without_number(found: re.Match[str]) -> str:
    text = found[0]
    is_plain_word = text[0] not in "[{'\"" and not any(map(str.isdecimal, text))
    return text if is_plain_word else "#"


def without_numbers(message: str) -> str:
    """A message without what depends on the module at hand: numbers, names that hold some, shapes, quotations.

    >>> without_numbers("Check failed: lhs.rank() == 2 (3 vs. 2) at dot.17 f32[3,4]{1,0}")
    'Check failed: lhs.rank() == # (# vs. #) at # #'
    """
    return " ".join(re.sub(r"#+", "#", _WORD_OR_QUOTATION.sub(_without_number, message[:_LONGEST])).split())[:160]
