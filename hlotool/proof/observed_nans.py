"""Finds the floats of which results tell one NaN from another: they read its sign and payload.

    s = s32[4] bitcast-convert(f32[4] x)                  tells -NaN from NaN
    p = pred[4] compare(x, y), type=TOTALORDER            so does this
    y = f4e2m1fn[4] convert(x)                            makes -0 or +0 of NaN by its sign

Rules and solvers know one NaN. What they call equal may be another NaN, which counts here. Library calls are taken not
to tell NaNs apart.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from hlotool.ir.arrays import np
from hlotool.ops import OPS, Elements
from hlotool.passes.equality import Node, Numbering


def reached(form: Numbering, numbers: Iterable[int], equal: Callable[[int], Sequence[int]] = lambda n: (n,)
            ) -> set[int]:
    """Return all values that values are computed of, themselves included, and what is `equal` to any of these."""
    found, waiting = set[int](), list(numbers)
    while waiting:
        if (at := waiting.pop()) not in found:
            found.add(at)
            waiting += form.nodes[at].operands
            waiting += (n for n in equal(at) if n not in found)
    return found


def observed(form: Numbering, numbers: Iterable[int], equal: Callable[[int], Sequence[int]] = lambda n: (n,)
             ) -> set[int]:
    """Return the floats whose NaNs decide what values are, by more than that they are NaN."""
    below = reached(form, numbers, equal)
    waiting = [o for n in below if reads_bits(form, form.nodes[n]) for o in form.nodes[n].operands]
    found = set[int]()
    while waiting:
        at = waiting.pop()
        node = form.nodes[at]
        if at in found or not form.may_be_nan(at) or (len(equal(at)) == 1 and _has_one_nan(form, node)):
            continue
        if node.opcode == "argument":  # of a loop or fold: any value may come to it
            return below
        found.add(at)
        waiting += equal(at)
        waiting += node.operands
    return found


def keeps_nans(form: Numbering, numbers: Iterable[int], equal: Callable[[int], Sequence[int]] = lambda n: (n,)
               ) -> bool:
    """Return True if the rules of a numbering changed no NaN of which values depend on the sign or payload."""
    return not form.other_nans or form.other_nans.isdisjoint(observed(form, numbers, equal))


def reads_bits(form: Numbering, node: Node) -> bool:
    """Return True if an operation's result depends on the sign or payload of a NaN."""
    record = OPS.get(node.opcode)
    if record is None:
        return False
    shapes = [s for n in node.operands for s in form.nodes[n].shapes]
    is_recast = len(shapes) == 1 and node.shapes and shapes[0].element_type != node.shapes[0].element_type and (
        record.flow.elements is Elements.RECAST or node.opcode == "bitcast")
    target = node.shapes[0].dtype if node.shapes and node.shapes[0].is_array else None
    lacks_nan = target is not None and target.is_floating and target.specials == "none"
    return bool(is_recast) or (node.opcode == "convert" and lacks_nan) or "nans" in record.flags or str(
        node.given("type")) == "TOTALORDER"


def _has_one_nan(form: Numbering, node: Node) -> bool:
    """Return True for `select(x != x, constant, x)`, whose NaN is that of the constant."""
    if node.opcode != "select":
        return False
    predicate, chosen, other = node.operands
    asks = form.nodes[predicate]
    array = form.array(chosen)
    return (asks.opcode == "compare" and asks.operands == (other, other) and asks.given("direction") == "NE"
            and asks.given("type") != "TOTALORDER" and array is not None and bool(np.not_equal(array, array).all()))
