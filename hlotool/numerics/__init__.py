"""The error model: units in the last place, higher precision, sampled roundings and orders, evidence, judgement."""

from hlotool.numerics.extreme_values import SMALL, Doubt, Locator, is_extreme, roundings, takes_ordinary, without_ends
from hlotool.numerics.higher_precision import own, shadow_program, shadow_rebinding, widened
from hlotool.numerics.judgement import BEYOND_DOUBT, FREE_ULPS, SPREAD_FACTOR, Evidence, Judgement, Kind, judge
from hlotool.numerics.last_places import LEAST_ULPS, ulp_of
from hlotool.numerics.product_precision import mantissa_bits, terms_of_product
from hlotool.numerics.results import ResultJudgement, judge_results, settled_results, worst_of
from hlotool.numerics.rounding import RandomRounding, Samples, sample_program
from hlotool.numerics.sample_tasks import text_samples
from hlotool.numerics.static_bound import assumed_ulps, terms
from hlotool.numerics.tolerance import PRESETS, Tolerance
from hlotool.numerics.ulps import is_nan, ulp_distance
from hlotool.numerics.who_is_right import who_is_right

__all__ = [
    "BEYOND_DOUBT", "FREE_ULPS", "LEAST_ULPS", "PRESETS", "SMALL", "SPREAD_FACTOR", "Doubt", "Evidence", "Judgement",
    "Kind", "Locator", "RandomRounding", "ResultJudgement", "Samples", "Tolerance", "assumed_ulps", "is_extreme",
    "is_nan", "judge", "judge_results", "mantissa_bits", "own", "roundings", "sample_program", "settled_results",
    "shadow_program", "shadow_rebinding", "takes_ordinary", "terms", "terms_of_product", "text_samples", "ulp_distance",
    "ulp_of", "who_is_right", "widened", "without_ends", "worst_of",
]
