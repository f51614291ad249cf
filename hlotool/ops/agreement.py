"""Dimensions of an operation's operands that have one size when it runs.

A bounded dimension may be smaller than it is written. Where it meets one that is written static, the first elements
of the static operand count. Source: XLA, DynamicDimensionInference, and what PJRT computes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias

from hlotool.ir import HloInstruction

#: an operand's number and one of its dimensions
Place: TypeAlias = tuple[int, int]
#: the places of an instruction that have one size, group by group
Agreement: TypeAlias = Callable[[HloInstruction], Iterable[Sequence[Place]]]


def alike(instruction: HloInstruction, but: Sequence[int] = ()) -> Iterable[Sequence[Place]]:
    """Every dimension, of all operands that have as many dimensions as the largest."""
    ranks = [o.shape.rank if o.shape.is_array else 0 for o in instruction.operands]
    rank = max(ranks, default=0)
    among = [i for i, r in enumerate(ranks) if r == rank]
    return [[(i, d) for i in among] for d in range(rank) if d not in but and len(among) > 1]


def alike_but_along(instruction: HloInstruction) -> Iterable[Sequence[Place]]:
    """Every dimension but those that the attribute `dimensions` names."""
    return alike(instruction, instruction.attributes["dimensions"])


def contracted_sides(instruction: HloInstruction) -> Iterable[Sequence[Place]]:
    """Contracting and batch dimensions of dot."""
    a = instruction.attributes
    for kind in ("contracting", "batch"):
        sides = (a.get(f"{side}_{kind}_dims", ()) for side in ("lhs", "rhs"))
        yield from ([(0, left), (1, right)] for left, right in zip(*sides, strict=True))


def features(instruction: HloInstruction) -> Iterable[Sequence[Place]]:
    """The input features of a convolution's image and kernel, where they are not in groups."""
    labels = instruction.attributes["dim_labels"]
    counts = (instruction.attributes.get(f"{what}_group_count", 1) for what in ("feature", "batch"))
    return [[(0, labels.lhs.index("f")), (1, labels.rhs.index("i"))]] if all(n == 1 for n in counts) else []


def scattered(instruction: HloInstruction) -> Iterable[Sequence[Place]]:
    """The dimensions of scatter's indices, and those of its updates that go over them."""
    count = len(instruction.operands) // 2
    indices, updates = instruction.operands[count].shape, instruction.operands[count + 1].shape
    over = [d for d in range(indices.rank) if d != instruction.attributes["index_vector_dim"]]
    rest = [d for d in range(updates.rank) if d not in instruction.attributes["update_window_dims"]]
    return [[(count, d), *((count + 1 + i, u) for i in range(count))] for d, u in zip(over, rest, strict=False)]
