"""Steps that make arguments plainer: zeros, ones, one number, whole numbers, and few elements that are not zero."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial

from hlotool.ir.arrays import Array, np
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import SearchState
from hlotool.reduction.shrinking import Shrinking
from hlotool.reduction.simplify import plainer_arrays

#: elements of an argument that are set to zero one by one, and distinct ones that are tried for all
_MOST, _DISTINCT = 4096, 6
#: digits that numbers may keep
_DIGITS = (1, 2, 3)


def simplify_arguments(work: SearchState) -> bool:
    """Plainer values in every argument."""
    if not work.best.elements:
        return False
    before = work.best
    work.try_all(_whole, "arguments")
    for device, row in enumerate(work.best.rows or ()):
        for leaf, array in enumerate(row):
            if 1 < array.size <= _MOST:
                _fewer_elements(work, device, leaf)
    work.try_all(_whole, "arguments")
    return work.best is not before


def _whole(base: Candidate) -> Iterator[Maker]:
    for device, row in enumerate(base.rows or ()):
        for leaf, array in enumerate(row):
            for other in plainer_arrays(array, distinct=_DISTINCT, digits=_DIGITS):
                yield partial(_with, base, device, leaf, other)


def _fewer_elements(work: SearchState, device: int, leaf: int) -> None:
    base = work.best
    array = base.rows[device][leaf] if base.rows is not None else np.zeros(())
    flat = array.reshape(-1)
    units = [int(n) for n in np.flatnonzero(np.frombuffer(flat.tobytes(), np.uint8).reshape(flat.size, -1).any(axis=1))]
    if not units or bool((flat == flat[0]).all()):
        return

    def build(kept: Sequence[int]) -> Candidate:
        other = np.zeros_like(flat)
        other[list(kept)] = flat[list(kept)]
        return _with(base, device, leaf, other.reshape(array.shape))

    def accept(candidate: Candidate, kept: Sequence[int]) -> Sequence[int]:
        work.accept(candidate, "arguments", keeps_values=False)
        return kept

    Shrinking(work.asker, build, accept).swept(units)


def _with(base: Candidate, device: int, leaf: int, array: Array) -> Candidate:
    rows = [list(row) for row in base.rows or ()]
    rows[device][leaf] = array
    return Candidate(base.module, rows, base.other)
