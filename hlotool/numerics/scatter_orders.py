"""Orders that scatters leave open: of updates, which shows where indices are equal.

Who splits a scatter that adds sums the updates up first, and adds the operand at the end. A reducer whose result hangs
on the order of the updates, and that is no assignment, leaves open what meets several of them.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.numerics.overflow import Plain
from hlotool.ops import binary_opcode
from hlotool.ops.values import apply, as_tuple

Function: TypeAlias = Callable[..., Any]

#: numbers on which a reducer is tried
_TRIED = 32


def scattered_otherwise(instruction: HloInstruction, function: Function, random: Any, turn: int,
                        fill: Function) -> Function:
    """A scatter with its updates in another order; `fill` makes what stands for anything of an array."""
    # Of one operand, and by one operation: add, maximum, ...
    plain = binary_opcode(instruction.called_computations()[0]) if len(instruction.operands) == 3 else ""
    adds_last = turn % 3 == 1 and plain == "add" and instruction.shape.dtype.is_floating

    def call(*operands: Array, **keywords: Any) -> Any:
        count = len(operands) // 2
        indices, updates = operands[count], list(operands[count + 1:])
        over = [d for d in range(indices.ndim) if d != keywords["index_vector_dim"]]
        rest = [d for d in range(updates[0].ndim) if d not in keywords["update_window_dims"]]
        for d, u in zip(over, rest, strict=False):
            if d not in keywords.get("scatter_indices_batching_dims", ()):
                order = random.permutation(indices.shape[d])
                indices = np.take(indices, order, axis=d)
                updates = [np.take(a, order, axis=u) for a in updates]
        if adds_last:
            with np.errstate(all="ignore"):
                return operands[0] + function(np.zeros_like(operands[0]), indices, *updates, **keywords)
        found = function(*operands[:count], indices, *updates, **keywords)
        if plain or is_order_free(keywords["to_apply"], operands[:count]):
            return found
        counted = Plain(keywords["to_apply"].computation, np.add)
        open_ = function(np.zeros(operands[0].shape, np.int64), indices, np.ones(updates[0].shape, np.int64),
                         **keywords | {"to_apply": counted}) > 1
        made = [np.asarray(np.where(open_, fill(a), a)).astype(a.dtype) for a in as_tuple(found)]
        return made[0] if count == 1 else tuple(made)

    return call


def is_order_free(reducer: Any, operands: Sequence[Array]) -> bool:
    """Return True if two updates may be exchanged, or the last one is simply assigned, tried on a few numbers."""
    drawn = np.random.default_rng(0x5CA7)
    # All different: of equal keys a sound reducer may take either.
    sides = [np.split(drawn.permutation(3 * _TRIED).astype(o.dtype), 3) for o in operands]
    state, one, other = zip(*sides, strict=True)
    with np.errstate(all="ignore"):
        first = as_tuple(apply(reducer, *state, *one))
        there, back = apply(reducer, *first, *other), apply(reducer, *apply(reducer, *state, *other), *one)
    return all(map(np.array_equal, first, one)) or all(map(_alike, there, back))


def _alike(left: Array, right: Array) -> bool:
    if left.dtype.kind in "biu":
        return np.array_equal(left, right)
    wide = np.complex128 if left.dtype.kind == "c" else np.float64
    return np.allclose(left.astype(wide), right.astype(wide), rtol=0.3, equal_nan=True)
