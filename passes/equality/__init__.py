"""Equality of modules: one normal form, matching by structure, and the differences that remain."""

from hlotool.passes.equality.differences import Diff, diff
from hlotool.passes.equality.matching import Matching
from hlotool.passes.equality.normal_form import NOT_COMPARED, Expressions, Node, NotComparable, gone
from hlotool.passes.equality.structure import Aspects, Structure

__all__ = [
    "NOT_COMPARED", "Aspects", "Diff", "Expressions", "Matching", "Node", "NotComparable", "Structure", "diff", "gone",
]
