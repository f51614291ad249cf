"""Says in a sentence which of two sides is right about an element, and why."""

from __future__ import annotations

from hlotool.ir.arrays import np
from hlotool.numerics.judgement import Judgement, Kind


def who_is_right(found: Judgement, side: str, other: str) -> tuple[str, str]:
    """Return the side that is nearer to the value at higher precision, and a sentence that says why."""
    if found.problem:
        return other, "what does not have the declared shape is wrong"
    at = found.worst
    given, reference = found.given[at], found.reference[at]
    shadow = found.shadow[at] if found.shadow is not None and found.shadow.dtype.kind in "fc" else None
    if shadow is None:
        return other, f"{side} gives {given}, {other} {reference}, which is exact"
    if found.kind is Kind.NON_FINITE:
        exact = f"the value at higher precision is {shadow:.9g}"
        if np.isfinite(reference):
            what = "overflow" if np.isinf(given) else "a value that is not finite"
            return other, f"{side} gives {given}, {exact}: a fold at {what}"
        if np.isnan(reference) or not np.isfinite(given):
            return other, f"{side} gives {given}, but the program's own types give {reference}: a NaN folded away"
        return other, f"{side} gives {given}, {exact}, but the program's own types give {reference}: a fold at overflow"
    with np.errstate(all="ignore"):
        nearer = np.abs(given - shadow) < np.abs(reference - shadow)
    who = side if nearer else other
    return who, f"{side} gives {given}, {other} {reference}; at higher precision it is {shadow:.9g}, so {who} is right"
