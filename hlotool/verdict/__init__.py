"""The verdict on programs: arguments that show differences, comparison, and how much an agreement is worth."""

from hlotool.execution import OutOfTime
from hlotool.verdict.argument_sets import KINDS, ArgumentSearch, ArgumentSet
from hlotool.verdict.comparison import TIME_BUDGET, compare
from hlotool.verdict.comparison_report import (
    ComparisonRecord,
    ComparisonReport,
    PartRecord,
    comparison_json,
    failed_record,
    part_record,
)
from hlotool.verdict.findings import Comparison, Finding, listed
from hlotool.verdict.handed_out import with_handed_out
from hlotool.verdict.parts_evidence import PartsEvidence
from hlotool.verdict.run_observer import Coverage, Watch, is_finite
from hlotool.verdict.small_changes import small_changes

__all__ = [
    "KINDS",
    "TIME_BUDGET",
    "ArgumentSearch",
    "ArgumentSet",
    "Comparison",
    "ComparisonRecord",
    "ComparisonReport",
    "Coverage",
    "Finding",
    "OutOfTime",
    "PartRecord",
    "PartsEvidence",
    "Watch",
    "compare",
    "comparison_json",
    "failed_record",
    "is_finite",
    "listed",
    "part_record",
    "small_changes",
    "with_handed_out",
]
