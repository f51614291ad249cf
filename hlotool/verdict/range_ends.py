"""Programs and arguments whose values stand at the ends of a type's range: overflow, underflow, infinities, NaN.

In a program of many roundings such arguments overflow in the first operations, and of what follows a result says
little: a rewrite that is sound on numbers gives another NaN, or none. What differs there is *doubtful*, element by
element, until it is known where the sides part (`Locator`):

    on finite numbers, or at one instruction by itself     it counts
    only in what several instructions make together out    no verdict: RANGE_END, for each element
    of infinities and NaN from further up
    it is not found where                                  it counts where the reference is finite, else RANGE_END

In a program of few roundings everything counts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

from hlotool.ir import HloModule, dtype_of_numpy
from hlotool.ops import OPS
from hlotool.verdict.judgement import Judgement, Kind

Array: TypeAlias = Any

#: programs of so many rounding instructions are small: what they do at the ends of the range can be followed
SMALL = 24
#: ordinary numbers: at least this from 0 and at most its reciprocal
_ORDINARY = 1e-9


@dataclass(frozen=True)
class Doubt:
    """A result that differs on arguments at the ends of the range."""

    #: the executor that gave it, and the leaf
    executor: str
    result: int
    arguments: list[list[Array]]


#: whether the sides part on finite numbers or at one instruction alone; None: it was not found where
Locator: TypeAlias = Callable[[Doubt], "bool | None"]


def without_ends(found: Judgement, located: bool | None) -> Judgement:
    """The judgement with what the ends of the range explain left open; itself."""
    import numpy as np

    if found.problem or located is True:
        return found
    open_ = found.kinds >= Kind.NON_FINITE
    kind = dtype_of_numpy(np.asarray(found.reference).dtype)
    if located is None and kind.family in ("float", "complex"):
        wide = found.reference.astype(np.complex128 if kind.is_complex else np.float64)
        open_ &= ~np.isfinite(wide)
    found.kinds = np.where(open_, Kind.RANGE_END, found.kinds).astype(np.int8)
    return found.count()


def roundings(module: HloModule) -> int:
    """How many instructions of a program round."""
    return sum(1 for i in module.instructions() if i.shape.is_array and i.shape.dtype.family in ("float", "complex")
               and (record := OPS.get(i.opcode)) is not None
               and ("sums" in record.flags or "backward" in record.flags
                    or ("elementwise" in record.flags and "exact" not in record.flags)))


def is_extreme(values: Sequence[Sequence[Array]]) -> bool:
    """Whether arguments hold numbers at the ends of the range, infinities or NaN."""
    import numpy as np

    for leaf in (leaf for row in values for leaf in row):
        if dtype_of_numpy(np.asarray(leaf).dtype).family not in ("float", "complex"):
            continue
        sizes = np.abs(np.asarray(leaf).astype(np.complex128 if leaf.dtype.kind == "c" else np.float64))
        if not bool(((sizes == 0) | ((sizes >= _ORDINARY) & (sizes <= 1 / _ORDINARY))).all()):
            return True
    return False
