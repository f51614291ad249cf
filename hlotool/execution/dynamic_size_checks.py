"""Operands whose sizes have to agree and are known only when the program runs: bounded dimensions.

Where one is smaller than what it is combined with, as a broadcast at the bound is larger than a size that was set, the
larger one is cut. Sizes that the program sets on both sides and of which one is 1 are an implicit broadcast instead:
that one is spread. Source: XLA's dynamic_dimension_inference.cc, HandleElementwiseNary.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.ir import HloInstruction
from hlotool.ir.arrays import np
from hlotool.ops import OPS, Place


@dataclass(frozen=True, slots=True)
class OneSize:
    """Places of operands that have one size when an instruction runs, and whether a size of 1 is spread."""

    places: Sequence[Place]
    spreads: bool


def one_size(instruction: HloInstruction) -> Sequence[OneSize]:
    """The places of operands that agree, where one may be smaller than written."""
    if not any(o.shape.is_array and not o.shape.is_static for o in instruction.operands):
        return ()
    record = OPS[instruction.opcode]
    spreads = "elementwise" in record.flags and len(instruction.operands) > 1
    return [OneSize(group, spreads and all(_is_set(instruction.operands[i], d) for i, d in group))
            for group in record.one_size(instruction)]


def with_one_size(values: Sequence[Any], groups: Sequence[OneSize]) -> list[Any]:
    """The operands, each dimension as large as the smallest of those that it agrees with, or spread to them."""
    found = list(values)
    for group in groups:
        sizes = [found[i].shape[d] for i, d in group.places]
        size = min(sizes)
        if group.spreads and size == 1 and max(sizes) > 1:
            size = min(s for s in sizes if s > 1)
        for i, d in group.places:
            if found[i].shape[d] > size:
                found[i] = found[i][(slice(None),) * d + (slice(size),)]
            elif found[i].shape[d] < size and group.spreads:
                found[i] = np.repeat(found[i], size, axis=d)
    return found


def _is_set(instruction: HloInstruction, dimension: int) -> bool:
    """Return True if a size comes from the program: a broadcast, whatever its type, is as large as its bound."""
    waiting, seen = [(instruction, dimension)], set()
    while waiting:
        at, d = waiting.pop()
        if (at, d) in seen or not at.shape.is_array or not (at.shape.dynamic and at.shape.dynamic[d]):
            continue
        seen.add((at, d))
        record = OPS.get(at.opcode)
        if at.opcode == "broadcast":
            waiting += [(at.operands[0], k) for k, to in enumerate(at.attributes.get("dimensions", ())) if to == d]
        elif at.opcode in ("iota", "constant"):
            continue
        elif record is not None and "elementwise" in record.flags:
            waiting += [(o, d) for o in at.operands if o.shape.is_array and o.shape.rank == at.shape.rank]
        else:
            return True
    return False
