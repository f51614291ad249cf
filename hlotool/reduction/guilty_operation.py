"""The step of a pair that keeps the instruction that is proven guilty, and its partner, on the values that prove it.

    left                             right                            what is left of both
    while(s), body={sine(x), ...}    while(s), body={cosine(x), ...}  sine(p) and cosine(p), on an iteration's x
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

from hlotool.blame import OperandValues, blame_pair
from hlotool.diagnostics import HloError
from hlotool.execution import OutOfTime, Program, run_limit
from hlotool.ir import HloInstruction, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.passes.edit import is_cuttable, section
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.entry_values import fitting
from hlotool.reduction.pair_cutting import joined, kept_header
from hlotool.reduction.pair_values import class_of
from hlotool.reduction.search_state import SearchState

#: seconds of one search for the guilty instruction at most, and the share of the time that is left
_LONGEST, _SHARE = 60.0, 0.25


def cut_guilty(work: SearchState) -> bool:
    """Keep the guilty instruction alone, where one is proven guilty. Return True if it helped.

    Alone it may be wrong in another way than the results of the whole: an infinity that a later step hides.
    """
    base = work.best
    small = _found(base, min(_LONGEST, _SHARE * work.asker.limit.left()))
    if small is None or small.size >= base.size or small.key in work.asker.taken:
        return False
    seen = [s for s in work.asker.look(small).signs if s in work.signs]
    if seen:
        work.asker.sign = work.asker.sign if work.asker.sign in seen else seen[0]
        work.accept(small, "guilty", keeps_values=False)
    return bool(seen)


def _found(base: Candidate, seconds: float) -> Candidate | None:
    """Return the guilty instruction and its partner; where a small edit is the proof, it before and after that."""
    assert base.other is not None
    try:
        with run_limit(seconds):
            right, rows = Program(base.other), base.rows or []
            found = blame_pair(Program(base.module), right, rows, seconds=seconds)
            if found is not None and found.mended is not None:
                found = blame_pair(Program(found.mended), right, rows, seconds=seconds)
    except (HloError, OutOfTime):
        return None
    return _alone(base, *found.proven_on) if found is not None and found.proven_on is not None else None


def _alone(base: Candidate, one: OperandValues, other: OperandValues) -> Candidate | None:
    """Return the two instructions as entries; None: a value cannot be handed in."""
    given = [_arrays(side) for side in (one, other)]
    arrays = [a for a in given if a is not None]
    if len(arrays) < 2:
        return None
    parts = [section(side.module, side.home, [side.instruction], set(side.values), kept_header(base))
             for side in (one, other)]

    def leaves(number: int, fed: HloInstruction, device: int) -> list[Array]:
        return arrays[number][fed][device]

    def key(number: int, fed: HloInstruction) -> Hashable:
        # A value that one module has in a wider type is the other one's.
        return class_of(fed, [[_widest(leaf) for leaf in leaves] for leaves in arrays[number][fed]])

    return joined(parts, key, leaves, one.devices)


def _widest(array: Array) -> Array:
    """Return the numbers of a narrow float type in the widest one."""
    return array.astype(np.float64) if dtype_of_numpy(array.dtype).is_floating else array


def _arrays(side: OperandValues) -> dict[HloInstruction, list[list[Array]]] | None:
    """Return the leaves of the values by device; None where one is none that an argument can have."""
    found: dict[HloInstruction, list[list[Array]]] = {}
    for instruction, values in side.values.items():
        given: list[Any] = [fitting(instruction.shape, v) for v in values]
        if not is_cuttable(instruction) or None in given:
            return None
        found[instruction] = given
    return found
