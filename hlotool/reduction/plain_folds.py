"""A step of a pair: folds with a reducer of their own, over several arrays, become folds of one array by one operation.

    left                                      right                                  what is left
    (m, n) = reduce(x, y, a, b),              ... window={size=1x2},                 m = reduce(x, a),
             to_apply=larger_with_place       ...                                        to_apply=maximum
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from hlotool.ir import HloComputation, HloInstruction, HloModule
from hlotool.passes.edit import Editing
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.oracle_pool import Maker
from hlotool.reduction.search_state import SearchState

#: folds that give an array for each pair of an operand and an initial value
_FOLDS = ("reduce", "reduce-window")
#: what they fold with: numbers, and truth values
_REDUCERS = ("maximum", "add")
_OF_TRUTH_VALUES = ("or", "and")


def simplify_folds(work: SearchState) -> bool:
    """Fold one array, by one operation, in both modules alike. Return True if it helped."""
    return work.try_all(_each_plain, "folds")


def _each_plain(base: Candidate) -> Iterator[Maker]:
    assert base.other is not None
    for pair in _folds(base.module, base.other):
        if all(_is_plain(f.attributes["to_apply"]) for f in pair):
            continue
        arrays = [len(f.operands) // 2 for f in pair]
        for index in range(min(arrays)):
            given = pair[0].operands[index].shape
            for opcode in _OF_TRUTH_VALUES if given.element_type == "pred" else _REDUCERS:
                yield partial(_with_plain, base, pair, index, opcode)


def _folds(one: HloModule, other: HloModule) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    for opcode in _FOLDS:
        left, right = ([i for i in m.entry.instructions if i.opcode == opcode] for m in (one, other))
        if len(left) == len(right):
            yield from zip(left, right, strict=True)


def _is_plain(reducer: HloComputation) -> bool:
    """Return True for a reducer of two scalars that is one operation."""
    return len(reducer.instructions) <= len(reducer.parameters()) + 1 == 3


def _with_plain(base: Candidate, pair: tuple[HloInstruction, HloInstruction], index: int, opcode: str
                ) -> Candidate | None:
    assert base.other is not None
    made = [_folding_one(m, fold, index, opcode) for m, fold in zip((base.module, base.other), pair, strict=True)]
    return Candidate(made[0], base.rows, made[1]) if made[0] is not None and made[1] is not None else None


def _folding_one(module: HloModule, fold: HloInstruction, index: int, opcode: str) -> HloModule | None:
    """Return a copy in which the fold takes one array; None where its other results are used."""
    edit = Editing.of_copy(module)
    fold = edit.copies[fold]
    entry, arrays = edit.module.entry, len(fold.operands) // 2
    if fold.shape.is_tuple:
        users = [u for u in entry.instructions if fold in u.operands]
        if any(u.opcode != "get-tuple-element" or u.attributes["index"] != index for u in users):
            return None
        fold.shape = fold.shape.elements[index]
        edit.replace_uses(dict.fromkeys(users, fold), entry)
    fold.operands = (fold.operands[index], fold.operands[arrays + index])
    fold.attributes = fold.attributes.without("backend_config") | {
        "to_apply": edit.binary(opcode, fold.operands[0].shape.element_type)}
    edit.sweep()
    return edit.module
