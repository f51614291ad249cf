"""The error model: units in the last place, higher precision, sampled roundings and orders, evidence, judgement."""

from hlotool.numerics.allowance import MODEL, Allowance, assumed_ulps, declared_allowance
from hlotool.numerics.evidence import Evidence, Policy, Rows, Way, computed
from hlotool.numerics.extreme_values import (
    SMALL,
    Doubt,
    Locator,
    avoids_overflow,
    is_extreme,
    rounding_instructions,
    roundings,
    takes_ordinary,
    without_ends,
)
from hlotool.numerics.first_look import Look, look_at
from hlotool.numerics.higher_precision import own, shadow_program, shadow_rebinding, widened
from hlotool.numerics.judgement import Judgement, Kind, Known, judge, without_elements
from hlotool.numerics.judging_tasks import TEXT_JUDGED, judge_apart
from hlotool.numerics.open_elements import OpenElements
from hlotool.numerics.product_precision import terms_of_product
from hlotool.numerics.results import ResultJudgement, is_settled, judge_plainly, judge_results, worst_of
from hlotool.numerics.rounding import Draws, RandomRounding, sample_program
from hlotool.numerics.tolerance import PRESETS, Tolerance
from hlotool.numerics.ulps import is_nan, mantissa_bits, ulp_distance, ulp_of
from hlotool.numerics.who_is_right import who_is_right

__all__ = [
    "MODEL", "PRESETS", "SMALL", "TEXT_JUDGED", "Allowance", "Doubt", "Draws", "Evidence", "Judgement", "Kind", "Known",
    "Locator", "Look", "OpenElements", "Policy", "RandomRounding", "ResultJudgement", "Rows", "Tolerance", "Way",
    "assumed_ulps", "avoids_overflow", "computed", "declared_allowance", "is_extreme", "is_nan", "is_settled", "judge",
    "judge_apart", "judge_plainly", "judge_results", "look_at", "mantissa_bits", "own", "rounding_instructions",
    "roundings", "sample_program", "shadow_program", "shadow_rebinding", "takes_ordinary", "terms_of_product",
    "ulp_distance", "ulp_of", "who_is_right", "widened", "without_elements", "without_ends", "worst_of",
]
