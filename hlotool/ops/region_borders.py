"""Where regions that are partitioned by hand begin and end in a program of whole arrays, as shard_map writes them.

    SPMDFullToShardShape, SPMDShardToFullShape              by the sharding of the operand, and by the own
    xla.sdy.GlobalToLocalShape, xla.sdy.LocalToGlobalShape  by shardings of Shardy, of a mesh in the module's header

Source: XLA's spmd_partitioner.cc and shardy's round-trip of manual computations.
"""

from __future__ import annotations

from collections.abc import Iterable

from hlotool.ir import HloInstruction, HloModule, Sharding, post_order, reachable

_ENTRIES = frozenset(("SPMDFullToShardShape", "xla.sdy.GlobalToLocalShape"))
_EXITS = frozenset(("SPMDShardToFullShape", "xla.sdy.LocalToGlobalShape"))
_BORDERS = _ENTRIES | _EXITS


def is_border(instruction: HloInstruction) -> bool:
    """Return True if a region begins or ends there."""
    return instruction.attributes.get("custom_call_target") in _BORDERS


def begins_region(instruction: HloInstruction) -> bool:
    """Return True if a region begins there."""
    return instruction.attributes.get("custom_call_target") in _ENTRIES


def inside_of(borders: Iterable[HloInstruction], module: HloModule) -> frozenset[HloInstruction]:
    """Return what is computed of parts: between beginnings of regions and their ends, and in called computations."""
    begins = set(filter(begins_region, borders))
    ends = set(borders) - begins
    found: set[HloInstruction] = set()
    for computation in module.computations:
        for instruction in post_order(computation):
            starts = instruction in begins or "manual" in sharding_kinds(instruction)
            if instruction not in ends and (starts or not found.isdisjoint(instruction.operands)):
                found.add(instruction)
    called = reachable(c for i in found for c in i.called_computations())
    return frozenset(found.union(*(c.instructions for c in called)))


def sharding_kinds(instruction: HloInstruction) -> set[str]:
    """Return the kinds of an instruction's shardings."""
    sharding = instruction.attributes.get("sharding")
    each = (sharding, *sharding.elements) if isinstance(sharding, Sharding) else ()
    return {kind for s in each for kind in (s.kind, *s.last_tile_dims, *["manual"] * bool(s.manual_axes))}
