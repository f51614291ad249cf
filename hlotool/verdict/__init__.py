"""The verdict on values: what a difference between two executions means, and arguments that show one."""

from hlotool.execution import OutOfTime
from hlotool.verdict.argument_sets import KINDS, ArgumentSearch, ArgumentSet
from hlotool.verdict.comparison import TIME_BUDGET, compare
from hlotool.verdict.comparison_report import comparison_json, comparison_schema
from hlotool.verdict.extreme_values import SMALL, Doubt, Locator, is_extreme, roundings, takes_ordinary, without_ends
from hlotool.verdict.findings import Comparison, Finding
from hlotool.verdict.judgement import BEYOND_DOUBT, FREE_ULPS, SPREAD_FACTOR, Evidence, Judgement, Kind, judge
from hlotool.verdict.results import ResultJudgement, judge_results, settled_results, worst_of
from hlotool.verdict.run_observer import Coverage, Watch, is_finite
from hlotool.verdict.static_bound import assumed_ulps, terms
from hlotool.verdict.tolerance import PRESETS, Tolerance
from hlotool.verdict.who_is_right import who_is_right

__all__ = [
    "BEYOND_DOUBT", "FREE_ULPS", "KINDS", "PRESETS", "SMALL", "SPREAD_FACTOR", "TIME_BUDGET", "ArgumentSearch",
    "ArgumentSet", "Comparison", "Coverage", "Doubt", "Evidence", "Finding", "Judgement", "Kind", "Locator",
    "OutOfTime", "ResultJudgement", "Tolerance", "Watch", "assumed_ulps", "compare", "comparison_json",
    "comparison_schema", "is_extreme", "is_finite", "judge", "judge_results", "roundings", "settled_results",
    "takes_ordinary", "terms", "who_is_right", "without_ends", "worst_of",
]
