"""The verdict on programs: arguments that show differences, comparison, and how much an agreement is worth."""

from hlotool.execution import OutOfTime
from hlotool.verdict.argument_sets import KINDS, ArgumentSearch, ArgumentSet
from hlotool.verdict.comparison import TIME_BUDGET, compare
from hlotool.verdict.comparison_report import comparison_json, comparison_schema, part_record
from hlotool.verdict.findings import Comparison, Finding, listed
from hlotool.verdict.run_observer import Coverage, Watch, is_finite

__all__ = [
    "KINDS",
    "TIME_BUDGET",
    "ArgumentSearch",
    "ArgumentSet",
    "Comparison",
    "Coverage",
    "Finding",
    "OutOfTime",
    "Watch",
    "compare",
    "comparison_json",
    "comparison_schema",
    "is_finite",
    "listed",
    "part_record",
]
