"""Equality of modules: one normal form, matching by structure, and the differences that remain."""

from hlotool.passes.equality.differences import Change, Diff, diff
from hlotool.passes.equality.fingerprints import fingerprint, size_blind_fingerprint
from hlotool.passes.equality.matching import Matching
from hlotool.passes.equality.movements import common_parts, merged, split
from hlotool.passes.equality.normal_form import (
    NOT_COMPARED,
    Expressions,
    Node,
    NotComparable,
    Value,
    gone,
    leaf_numbers,
)
from hlotool.passes.equality.op_name_matching import FATES, Became, became, is_optimised
from hlotool.passes.equality.simplified import CONVERSIONS, SIMPLIFICATIONS, Simplified, same_up_to
from hlotool.passes.equality.structure import Aspects, Structure

__all__ = [
    "CONVERSIONS", "FATES", "NOT_COMPARED", "SIMPLIFICATIONS", "Aspects", "Became", "Change", "Diff", "Expressions",
    "Matching", "Node", "NotComparable", "Simplified", "Structure", "Value", "became", "common_parts", "diff",
    "fingerprint", "gone", "is_optimised", "leaf_numbers", "merged", "same_up_to",
    "size_blind_fingerprint", "split",
]
