"""Verdicts in a child process: the evidence about texts and programs is gathered where nothing of it can harm."""

from __future__ import annotations

from hlotool.diagnostics import HloError
from hlotool.execution import Executor, PerDevice, Program, fitted_rows, program_of_text
from hlotool.numerics.allowance import MODEL, Allowance, assumed_ulps
from hlotool.numerics.evidence import Evidence
from hlotool.numerics.results import ResultJudgement, is_settled, judge_plainly, judge_results

#: the tasks, as hlotool.execution's `Executor.ask` and `ask_each` take them
JUDGED, TEXT_JUDGED = "hlotool.numerics.judging_tasks:judged", "hlotool.numerics.judging_tasks:text_judged"


def judge_apart(reference: Executor, program: Program, arguments: PerDevice, given: PerDevice, held: PerDevice, *,
                is_own: bool) -> list[ResultJudgement]:
    """Return the verdict on an executor's results, held against those of another one.

    The evidence, where any is needed, is gathered in the child of `reference`, and `is_own` says that `held` comes from
    there. Where it cannot run the program, the two may be as far apart as the program's operations suggest.
    """
    found = judge_plainly(given, held)
    if is_settled(found):
        return found
    try:
        found = reference.ask(JUDGED, program, arguments, given, held, is_own, filename=program.filename)
    except HloError:
        found = judge_plainly(given, held, Allowance(assumed_ulps(program.module)))
    return found


def judged(executor: Executor, program: Program, arguments: PerDevice, given: PerDevice, held: PerDevice, is_own: bool,
           infeed: PerDevice = (), allowance: Allowance = MODEL) -> list[ResultJudgement]:
    """Return the verdict on an executor's results, held against those of another one.

    `is_own` says that these are the reference's. Raises HloError where arguments do not fit or the program cannot be
    evaluated.
    """
    evidence = Evidence(program, fitted_rows(program, arguments), reference_known=held if is_own else None,
                        infeed=infeed, allowance=allowance)
    return judge_results(given, evidence, None if is_own else held)


def text_judged(executor: Executor, text: str, filename: str, arguments: PerDevice, infeed: PerDevice,
                given: PerDevice, held: PerDevice, is_own: bool, allowance: Allowance) -> list[ResultJudgement]:
    """Return the same for a text. Raises HloError."""
    return judged(executor, program_of_text(text, filename), arguments, given, held, is_own, infeed, allowance)
