"""The part of the second module in which a fault has to be: between values of the first module and a wrong result."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from hlotool.blame.reference_run import ReferenceRun, Site
from hlotool.blame.value_partners import LeftValues, are_near_numbers, operand_leaves, plain
from hlotool.execution import flat
from hlotool.ir import HloInstruction, reachable
from hlotool.ir.arrays import Array, np
from hlotool.ops import flow_of, is_a

#: different elements from which on an array is not another one's by chance
_DISTINCT = 8


def tells(leaf: Array, distinct: int = _DISTINCT) -> bool:
    """Return True for a value that two instructions hardly have by chance: many numbers, or a fraction."""
    row = plain(leaf)
    if not row.size or (row.dtype == np.bool_ and distinct > 1 + (row.size > 1)):
        return False
    different = len(np.unique(row))
    if row.size == 1:
        return bool(np.isfinite(row[0]) and row[0] != np.round(row[0]))
    return different >= min(distinct, row.size)


def undecided_region(makers: Iterable[Site], left: LeftValues, own: ReferenceRun) -> list[HloInstruction]:
    """Return the instructions from which wrong results are computed, up to those that have values of the left module.

    Of called computations those that lead to a result, of reducers and comparators all; the ones nearest to the
    results come first, and last those that have a value of the left module: it may be another one's.
    """
    waiting = list(dict.fromkeys(makers))
    seen, found = set(waiting), dict.fromkeys(site[-1] for site in waiting)
    right: dict[HloInstruction, None] = {}
    while waiting:
        site = waiting.pop(0)
        found.setdefault(site[-1])
        if not flow_of(site[-1]).enters:
            found.update(dict.fromkeys(i for c in reachable(site[-1].called_computations()) for i in c.instructions))
        for before in _before(site):
            if before not in seen:
                seen.add(before)
                if _is_right(before, left, own):
                    right[before[-1]] = None
                else:
                    waiting.append(before)
    return list(found | right)


def hands_on(instruction: HloInstruction) -> bool:
    """Return True for an instruction whose value another one has made."""
    flow = flow_of(instruction)
    return flow.is_trivial or flow.enters or flow.keeps_numbers or flow.packs


def _before(site: Site) -> Iterator[Site]:
    """Yield the sites whose values a value is made of."""
    *callers, instruction = site
    if instruction.opcode == "parameter":
        if callers:
            yield from _given(tuple(callers), instruction)
        return
    yield from ((*callers, o) for o in instruction.operands)
    if flow_of(instruction).enters:
        yield from ((*site, c.root) for c in instruction.called_computations())


def _given(caller: Site, parameter: HloInstruction) -> Iterator[Site]:
    """Yield the sites whose values a parameter takes."""
    *around, calling = caller
    flow = flow_of(calling)
    if flow.in_place:
        yield (*around, calling.operands[parameter.parameter_number])
        return
    yield from ((*around, o) for o in calling.operands)
    if not flow.in_place:
        yield from ((*caller, c.root) for c in calling.called_computations())


def _is_right(site: Site, left: LeftValues, own: ReferenceRun) -> bool:
    """Return True if an instruction always has a value of the left module that no other would have by chance.

    The value of one of its operands is no sign that it computes what it should.
    """
    times = own.values.get(site)
    if not times or hands_on(site[-1]) or site[-1].shape.is_tuple:
        return False
    return all(tells(leaf) and left.like(leaf) for value in times.values() for leaf in flat(site[-1].shape, value)) \
        and not (is_a(site[-1], "elementwise") and all(
            any(are_near_numbers(o, value) for o in operand_leaves(own, site, time)) for time, value in times.items()))
