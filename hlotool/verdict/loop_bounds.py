"""The most rounds that a loop can run, whatever the arguments are, where its counter and the limit of that tell.

    while (i < min(n, 40)) i += 1       at most 40
    while (i < convert(u8 n)) i += 1    at most 255
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.ir import HloInstruction
from hlotool.ops import flow_of, int_limits, source_of
from hlotool.passes.loop_states import place_read
from hlotool.verdict.boundary_arguments import constant_of

#: instructions that a bound is followed through; types with fewer bits bound by themselves
_DEEPEST, _FEW_BITS = 24, 16


def most_rounds(loop: HloInstruction) -> int | None:
    """Return a number of rounds that a while cannot exceed; None where the module does not tell."""
    test, body = loop.attributes["condition"].root, loop.attributes["body"].root
    start = loop.operands[0]
    if test.opcode != "compare" or {body.opcode, start.opcode} != {"tuple"}:
        return None
    counter, limit = test.operands
    place = place_read(counter)
    if test.attributes.get("direction") not in ("LT", "LE") or place is None or not counter.shape.dtype.is_integral:
        return None
    step, first = _step(body.operands[place], place), _constant(start.operands[place])
    kept = place_read(limit)
    if kept is not None and place_read(body.operands[kept]) != kept:
        return None
    most = _upper(start.operands[kept] if kept is not None else limit, start.operands, body.operands)
    if step is None or first is None or most is None or most + step > int_limits(counter.shape.dtype)[1] + 1:
        return None
    return max(0, -int((first - most - (test.attributes["direction"] == "LE")) // step))


def _constant(at: HloInstruction) -> float | None:
    """The number that an instruction holds everywhere, in its own type: conversions may wrap."""
    source = source_of(at, lambda flow: flow.repeats)
    return constant_of(source) if source.opcode == "constant" else None


def _step(update: HloInstruction, place: int) -> int | None:
    """Return the constant added to a counter in a round, if it is positive; else None."""
    if update.opcode != "add" or place not in map(place_read, update.operands):
        return None
    found = next((c for o in update.operands if (c := _constant(o)) is not None), None)
    return int(found) if found is not None and found > 0 else None


def _upper(at: HloInstruction, start: Sequence[HloInstruction], body: Sequence[HloInstruction], depth: int = 0
           ) -> float | None:
    """A number that no element exceeds. Places of a loop's state are followed where its body leaves them alone."""
    if depth > _DEEPEST or not at.shape.is_array or not at.shape.dtype.is_integral:
        return None
    if (known := _constant(at)) is not None:
        return known
    place = place_read(at)
    if place is not None and place < len(body) and place_read(body[place]) == place:
        return _upper(start[place], (), (), depth + 1)  # outside of the loop
    bounds = [_upper(o, start, body, depth + 1) for o in at.operands if o.shape.is_array]
    some = [b for b in bounds if b is not None]
    end = float(int_limits(at.shape.dtype)[1])
    if at.opcode == "minimum" and some:
        return min(some)
    if at.opcode == "clamp":
        return bounds[2]
    if at.opcode in ("maximum", "select") and None not in bounds[-2:]:
        return max(some[-2:])
    if flow_of(at).keeps_numbers and some and some[0] <= end:
        return some[0]
    return end if at.shape.dtype.bits <= _FEW_BITS else None
