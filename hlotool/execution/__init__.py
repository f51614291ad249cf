"""Executors and comparison: a module's values on PJRT, StableHLO's interpreter and the NumPy reference."""

from hlotool.execution.arguments import arguments_for, random_arguments
from hlotool.execution.compare import (
    Comparison,
    ResultDifference,
    budget_of,
    compare,
    difference,
    differences,
    explain_difference,
)
from hlotool.execution.evaluate import Call, Moment, Observer, Path, Rebinding, evaluate_program
from hlotool.execution.executors import EXECUTORS, Executor, execute, executor_named, run_program
from hlotool.execution.program import Program, fitted, flat, leaves
from hlotool.execution.rounding import mantissa_bits, sample_program, ulp_of
from hlotool.execution.shadow import own, shadow_program
from hlotool.execution.texts import (
    checked_executor,
    close_children,
    describe_executor,
    run_text,
    text_arguments,
    text_findings,
)
from hlotool.execution.ulps import ulp_distance

__all__ = [
    "EXECUTORS", "Call", "Comparison", "Executor", "Moment", "Observer", "Path", "Program", "Rebinding",
    "ResultDifference", "arguments_for", "budget_of", "checked_executor", "close_children", "compare",
    "describe_executor", "difference", "differences", "evaluate_program", "execute", "executor_named",
    "explain_difference", "fitted", "flat", "leaves", "mantissa_bits", "own", "random_arguments", "run_program",
    "run_text", "sample_program", "shadow_program", "text_arguments", "text_findings", "ulp_distance", "ulp_of",
]
