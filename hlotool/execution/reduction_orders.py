"""What reductions leave open: the order of their elements, and where among them the initial values stand."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeAlias

from hlotool.execution.open_ends import OpenEnds
from hlotool.ir import HloInstruction

Array: TypeAlias = Any
Function: TypeAlias = Callable[..., Any]


def reduced_otherwise(instruction: HloInstruction, function: Function, random: Any, turn: int,
                      ends: OpenEnds) -> Function:
    """A reduction in another order; one that chooses meets its initial values last at every second turn."""
    import numpy as np

    chooses = len(instruction.operands) > 2 and any(
        i.opcode == "compare" for c in instruction.called_computations() for i in c.instructions)

    def call(*operands: Array, dimensions: Sequence[int] = (), **keywords: Any) -> Any:
        count = len(operands) // 2
        inputs = list(operands[:count])
        for d in dimensions:
            order = random.permutation(inputs[0].shape[d])
            inputs = [np.take(a, order, axis=d) for a in inputs]
        if chooses and dimensions and turn % 2:  # of equal ones the last may be chosen
            inputs = [_with_slice(a, i, dimensions[0]) for a, i in zip(inputs, operands[count:], strict=True)]
        found = function(*inputs, *operands[count:], dimensions=dimensions, **keywords)
        return ends.folded(instruction, function, operands, {"dimensions": dimensions, **keywords}, found)

    return call


def _with_slice(array: Array, value: Array, dimension: int) -> Array:
    """An array with a slice of one value behind the others."""
    import numpy as np

    dims = [1 if d == dimension else n for d, n in enumerate(array.shape)]
    return np.concatenate([array, np.broadcast_to(value, dims).astype(array.dtype)], axis=dimension)
