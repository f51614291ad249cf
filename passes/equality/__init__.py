"""Compares modules: one numbering of values, one pairing of instructions, and the differences that remain."""

from hlotool.passes.equality.differences import Diff, DiffRecord, ModuleChange, diff
from hlotool.passes.equality.fingerprints import fingerprint, size_blind_fingerprint
from hlotool.passes.equality.moves import ALL_MOVES, EXACT_MOVES
from hlotool.passes.equality.numbering import (
    DIRECTIVES,
    NOT_COMPARED,
    Node,
    NotComparable,
    Numbering,
    NumberingRule,
    Value,
    gone,
    leaf_numbers,
)
from hlotool.passes.equality.numbering_rules import (
    ALONG_PASSES,
    CONVERSIONS,
    EXACT,
    REASSOCIATING,
    SIMPLIFICATIONS,
    STRICT,
    same_up_to,
)
from hlotool.passes.equality.op_name_matching import FATES, Became, became, is_optimised
from hlotool.passes.equality.pairing import Candidates, ValueIndex, are_near, distance, op_name, share_of
from hlotool.passes.equality.structure import Aspects, Structure

__all__ = [
    "ALL_MOVES", "ALONG_PASSES", "CONVERSIONS", "DIRECTIVES", "EXACT", "EXACT_MOVES", "FATES", "NOT_COMPARED",
    "REASSOCIATING", "SIMPLIFICATIONS", "STRICT", "Aspects", "Became", "Candidates", "Diff", "DiffRecord",
    "ModuleChange", "Node", "NotComparable", "Numbering", "NumberingRule", "Structure", "Value", "ValueIndex",
    "are_near", "became", "diff", "distance", "fingerprint", "gone", "is_optimised", "leaf_numbers", "op_name",
    "same_up_to", "share_of", "size_blind_fingerprint",
]
