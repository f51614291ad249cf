"""Runs cases on an executor and says what became of each.

Many are asked at once: the questions of one kind go to a child process together, and compilers that can take many
programs in one get them so. Where that fails, the cases are halved until the one that failed stands alone; what it
then says is its outcome. So a case ends as it would end by itself, and one that crashes or hangs costs no other its
result.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from hlotool.conformance.case import ConformanceCase, PerDevice
from hlotool.conformance.case_verdict import allowance_of, beyond_budget, compared, is_wrong, plain_results
from hlotool.conformance.outcome import CaseOutcome, Status
from hlotool.diagnostics import Diagnostic, HloError
from hlotool.execution import NO_VALUE, TIMEOUT, ask_each
from hlotool.numerics import MODEL, TEXT_JUDGED, Allowance, ResultJudgement, is_settled
from hlotool.process import close_children

#: what judges texts that are to be refused, or verified only: hlotool's verifier, for every executor alike
VERIFIER = "verifier"
#: the reference
REFERENCE = "reference"

#: seconds for one case: reading, compiling and running
TIME_LIMIT = 60.0

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


def judge(case: ConformanceCase, executor: str, time_limit: float = TIME_LIMIT) -> CaseOutcome:
    """Run a case; on the reference its text is verified, too.

    Nothing that the case does ends this process or keeps it waiting for longer than the limit of each step.
    """
    return judge_all([case], executor, time_limit)[0]


def judge_all(cases: Sequence[ConformanceCase], executor: str, time_limit: float = TIME_LIMIT,
              is_alone: Callable[[ConformanceCase], bool] = lambda case: False) -> list[CaseOutcome]:
    """Run cases; what is known to end its process may be asked alone, so that nobody has to be asked again."""
    start = time.monotonic()
    work = [_CaseWork(c) for c in cases]
    asking = _Asking(executor, time_limit, is_alone)
    if executor == VERIFIER:
        asking.verify(work)
    else:
        asking.run(work)
        for one in work:
            if one.outcome is None:
                one.outcome = _judged(one)
    share = round((time.monotonic() - start) / max(1, len(cases)), 4)
    return [replace(one.outcome, seconds=share) for one in work if one.outcome is not None]


#: times that a failing case is asked again, each in a new process; a time-out costs its whole limit each time
_AGAIN, _AGAIN_FOR_TIME = 2, 1
#: what a runtime that is not the same every time may give
_MAY_VARY = (Status.MISMATCH, Status.RUN_ERROR, Status.CRASH, Status.TIME_OUT)


def asked_again(case: ConformanceCase, executor: str, first: CaseOutcome, time_limit: float = TIME_LIMIT
                ) -> CaseOutcome:
    """The outcome of a case that failed, after new processes were asked: flaky where one of them passes it."""
    if first.status not in _MAY_VARY or executor == VERIFIER:
        return first
    found = [first]
    for _ in range(_AGAIN_FOR_TIME if first.status is Status.TIME_OUT else _AGAIN):
        close_children()
        found.append(judge(case, executor, time_limit))
    failed = [o for o in found if o.status is not Status.PASS]
    if len(failed) == len(found):
        return first
    detail = f"failed {len(failed)} of {len(found)} times ({', '.join(o.status for o in failed)}): {first.detail}"
    return CaseOutcome(Status.FLAKY, detail, first.agreement, first.worst, round(sum(o.seconds for o in found), 4))


def executors_of(case: ConformanceCase, executors: Iterable[str]) -> tuple[str, ...]:
    """Those of the chosen executors that a case is for: a text to be refused is the verifier's, once."""
    if not case.is_bad:
        return tuple(executors)
    return (VERIFIER,) if not _codes(case) & _RUN_CODES else (REFERENCE,)


def _codes(case: ConformanceCase) -> frozenset[str]:
    return frozenset((case.expected_code or "").split())


@dataclass
class _CaseWork:
    """A case under way: what is known of it so far, and its outcome as soon as that is known."""

    case: ConformanceCase
    outcome: CaseOutcome | None = None
    rows: PerDevice = ()
    given: PerDevice = ()
    expected: PerDevice | None = None
    judged: Sequence[ResultJudgement] = ()
    #: what is wrong by the operations' declared budgets is wrong by the error model, too
    is_confirmed: bool = True

    @property
    def devices(self) -> int:
        return max(self.case.devices, len(self.rows))


@dataclass(frozen=True)
class _Asking:
    """Questions about cases, step by step; a case that fails has its outcome and is asked no more."""

    executor: str
    time_limit: float
    is_alone: Callable[[ConformanceCase], bool]

    def verify(self, work: Sequence[_CaseWork]) -> None:
        """The outcomes of texts that are to be refused, or verified only."""
        answers = ask_each(REFERENCE, "text_findings", [
            (w.case.text, w.case.source, not w.case.expected_code) for w in work], time_limit=self.time_limit)
        for one, found in zip(work, answers, strict=True):
            one.outcome = (_failed(found.diagnostics) if isinstance(found, HloError)
                           else _codes_compared(one.case, [d.code for d in found]))

    def run(self, work: Sequence[_CaseWork]) -> None:
        """The values that cases give and are held against."""
        if self.executor == REFERENCE:
            self._check(work)
        self._make_arguments(_open(work))
        self._compute(_open(work))
        self._compute_reference([w for w in _open(work) if w.expected is None])
        for one in _open(work):
            if one.expected is not None and not one.case.is_bad and not one.case.only_shapes:
                one.judged = plain_results(one.case, one.given, one.expected)
        self._judge([w for w in _open(work) if not is_settled(w.judged)])

    def _check(self, work: Sequence[_CaseWork]) -> None:
        """The others read the same text: that it is valid HLO is asked once."""
        answers = ask_each(REFERENCE, "text_findings", [(w.case.text, w.case.source, True) for w in work],
                           time_limit=self.time_limit)
        for one, found in zip(work, answers, strict=True):
            problems = found.diagnostics if isinstance(found, HloError) else found
            if problems:
                one.outcome = _refused(one.case, problems)

    def _make_arguments(self, work: Sequence[_CaseWork]) -> None:
        for one in work:
            one.rows, one.expected = one.case.rows(), one.case.expected
        made = [w for w in work if w.case.inputs]
        answers = ask_each(REFERENCE, "text_arguments", [(w.case.text, w.case.source, w.case.inputs, 0) for w in made],
                           time_limit=self.time_limit)
        for one, found in zip(made, answers, strict=True):
            if isinstance(found, HloError):
                one.outcome = _refused(one.case, found.diagnostics)
            else:
                one.rows = tuple(map(tuple, found))

    def _compute(self, work: Sequence[_CaseWork]) -> None:
        for one, found in self._values(work, self.executor):
            if isinstance(found, HloError):
                one.outcome = _refused(one.case, found.diagnostics)
            elif one.case.is_bad:
                one.outcome = CaseOutcome(Status.MISMATCH, f"gave values; expected: {one.case.expected_code}")
            else:
                one.given = found
                if one.expected is None and self.executor == REFERENCE:
                    one.expected = found

    def _compute_reference(self, work: Sequence[_CaseWork]) -> None:
        for one, found in self._values(work, REFERENCE):
            if not isinstance(found, HloError):
                one.expected = found
                continue
            # What has no defined value cannot be judged; any other failure of the reference is a failure.
            undefined = all(d.code in NO_VALUE for d in found.diagnostics)
            one.outcome = CaseOutcome(Status.UNSUPPORTED if undefined else Status.RUN_ERROR,
                                      f"the reference gives nothing to compare with: {_sentence(found)}")

    def _judge(self, work: Sequence[_CaseWork]) -> None:
        """Judge by the program's own evidence; a case of which there is none is judged without.

        What is more than operations declare is wrong only where `hlotool compare` says so, too.
        """
        for one, found in self._by_evidence([(w, allowance_of(w.case)) for w in work]):
            if not isinstance(found, HloError):
                one.judged = found
            elif any(d.code == TIMEOUT for d in found.diagnostics):
                one.outcome = CaseOutcome(Status.TIME_OUT, f"no verdict: {_sentence(found)}")
        beyond = [w for w in _open(work) if w.judged and is_wrong(w.judged) and allowance_of(w.case) != MODEL]
        for one, found in self._by_evidence([(w, MODEL) for w in beyond]):
            one.is_confirmed = isinstance(found, HloError) or is_wrong(found)

    def _by_evidence(self, work: Sequence[tuple[_CaseWork, Allowance]]
                     ) -> Iterable[tuple[_CaseWork, list[ResultJudgement] | HloError]]:
        """Return the verdicts on cases by allowances."""
        answers = ask_each(REFERENCE, TEXT_JUDGED, [
            (w.case.text, w.case.source, w.rows, w.case.infeed, w.given, w.expected, w.case.expected is None, allowance)
            for w, allowance in work], time_limit=self.time_limit)
        return zip((w for w, _ in work), answers, strict=True)

    def _values(self, work: Sequence[_CaseWork], executor: str) -> Iterable[tuple[_CaseWork, PerDevice | HloError]]:
        """Return an executor's results for each case; cases with as many devices are asked together."""
        found: dict[int, Any] = {}
        groups: dict[tuple[int, int], list[_CaseWork]] = {}
        for number, one in enumerate(work):
            alone = number + 1 if executor == self.executor and self.is_alone(one.case) else 0
            groups.setdefault((one.devices, alone), []).append(one)
        for (devices, _), members in groups.items():
            rows = [(w.case.text, w.case.source, w.rows, w.case.infeed) for w in members]
            answers = ask_each(executor, "compute_text", rows, devices=devices, time_limit=self.time_limit)
            found.update((id(w), a) for w, a in zip(members, answers, strict=True))
        for one in work:
            values = found[id(one)]
            yield one, values if isinstance(values, HloError) else tuple(map(tuple, values))


def _open(work: Iterable[_CaseWork]) -> list[_CaseWork]:
    return [w for w in work if w.outcome is None]


def _judged(one: _CaseWork) -> CaseOutcome:
    found = compared(one.case, one.given, one.given if one.expected is None else one.expected, one.judged)
    return found if one.is_confirmed else beyond_budget(found)


def _codes_compared(case: ConformanceCase, found: list[str]) -> CaseOutcome:
    expected = (case.expected_code or "").split()
    if found == expected:
        return CaseOutcome(Status.PASS)
    return CaseOutcome(Status.MISMATCH, f"reported: {_listed(found)}; expected: {_listed(expected)}")


def _listed(codes: list[str]) -> str:
    return ", ".join(codes) or "no error"


def _refused(case: ConformanceCase, diagnostics: list[Diagnostic]) -> CaseOutcome:
    """The outcome of a case without values: what a bad case asks for, or a failure."""
    if case.is_bad and [d.code for d in diagnostics] == (case.expected_code or "").split():
        return CaseOutcome(Status.PASS)
    return _failed(diagnostics)


def _failed(diagnostics: list[Diagnostic]) -> CaseOutcome:
    if not diagnostics:
        return CaseOutcome(Status.COMPILE_ERROR, "failed without a reason")
    first = diagnostics[0]
    status = _STATUSES.get(first.code, Status.COMPILE_ERROR)
    if first.code in _NOT_THERE and _NOT_THERE[first.code].search(first.message):
        status = Status.UNSUPPORTED
    return CaseOutcome(status, f"{first.message} [{first.code}]")


def _sentence(error: HloError) -> str:
    return "; ".join(f"{d.message} [{d.code}]" for d in error.diagnostics[:3])
