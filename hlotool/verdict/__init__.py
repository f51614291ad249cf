"""The verdict on values: what a difference between two executions means, and arguments that show one."""

from hlotool.verdict.argument_sets import KINDS, ArgumentSearch, ArgumentSet
from hlotool.verdict.comparison import TIME_BUDGET, Comparison, Finding, compare
from hlotool.verdict.comparison_report import comparison_json, comparison_schema
from hlotool.verdict.judgement import Evidence, Judgement, Kind, judge
from hlotool.verdict.tolerance import PRESETS, Tolerance
from hlotool.verdict.watching import Coverage, OutOfTime, Watch

__all__ = [
    "KINDS", "PRESETS", "TIME_BUDGET", "ArgumentSearch", "ArgumentSet", "Comparison", "Coverage", "Evidence", "Finding",
    "Judgement", "Kind", "OutOfTime", "Tolerance", "Watch", "compare", "comparison_json", "comparison_schema", "judge",
]
