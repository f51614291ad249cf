"""Says in a sentence which of two sides is right about an element, and why."""

from __future__ import annotations

from typing import Any

from hlotool.ir.arrays import np
from hlotool.numerics.judgement import Judgement, Kind

#: who is right where the evidence does not tell
UNDECIDED = "not decided"


def who_is_right(found: Judgement, side: str, other: str) -> tuple[str, str]:
    """Return the side that is right about the worst element, and a sentence that says why.

    `side` gave it, `other` is what it is held against. Where both were held against the program, the one that the
    program allows is right, and none where it allows neither; else the one that is nearer to higher precision.
    """
    if found.problem:
        return other, "what does not have the declared shape is wrong"
    at = found.worst
    given, reference = found.given[at], found.reference[at]
    if found.expected is not None and found.held is not None and Kind(int(found.held[at])).is_wrong:
        return _of_two(found, side, other)
    shadow = found.shadow[at] if found.shadow is not None and found.shadow.dtype.kind in "fc" else None
    if shadow is None:
        return other, f"{side} gives {given}, {other} {reference}, which is exact"
    if found.kind is Kind.NON_FINITE:
        return other, _why_finiteness(given, reference, shadow, side)
    with np.errstate(all="ignore"):
        off = [np.abs(value - shadow) for value in (given, reference)]
    said = f"{side} gives {given}, {other} {reference}; at higher precision it is {shadow:.9g}"
    if off[0] == off[1]:
        return other, f"{said}, and {other} rounds as the program asks"
    who = side if off[0] < off[1] else other
    return who, f"{said}, so {who} is right"


def _of_two(found: Judgement, side: str, other: str) -> tuple[str, str]:
    """The sentence about two sides of which the one that stands as the reference is wrong by itself."""
    at = found.worst
    assert found.expected is not None
    expected, given = found.expected[at], found.given[at]
    said = f"{side} gives {given}, {other} {found.reference[at]} there; the program's own types give {expected}"
    if given == expected or (np.isnan(given) and np.isnan(expected)):
        return side, f"{said}, so {side} is right"
    return UNDECIDED, f"{said}: neither is right"


def _why_finiteness(given: Any, reference: Any, shadow: Any, side: str) -> str:
    exact = f"the value at higher precision is {shadow:.9g}"
    own = f"but the program's own types give {reference}"
    if np.isfinite(reference):
        what = "overflow" if np.isinf(given) else "a value that is not finite"
        return f"{side} gives {given}, {exact}: a fold at {what}"
    if np.isnan(reference):
        return f"{side} gives {given}, {own}: a NaN folded away"
    if np.isnan(given):
        return f"{side} gives {given}, {own}: a NaN that the program does not make"
    if np.isinf(given):
        return f"{side} gives {given}, {own}: an infinity of the other sign"
    if not np.isfinite(shadow):
        return f"{side} gives {given}, the program {reference}: an infinity folded away"
    return f"{side} gives {given}, {exact}, {own}: a fold at overflow"
