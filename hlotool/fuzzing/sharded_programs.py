"""Programs of other generators with shardings drawn over a mesh, which a partitioner must not change the results of.

The program is for several devices then; who runs it partitions it, and its results are held against those of the whole.
Arguments and results are split where devices have parts of one size; other values as the dice say, unevenly too.
"""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import replace

from hlotool.fuzzing.test_program import Subject
from hlotool.ir import IotaTile, Shape, Sharding
from hlotool.ops import flow_of
from hlotool.passes.read import parse

#: axes of the meshes
_MESHES = ((2,), (4,), (8,), (2, 2), (2, 4), (4, 2), (2, 2, 2))


def sharded(subject: Subject, dice: random.Random) -> Subject | None:
    """Return a program with shardings; None for one of several devices, of dynamic sizes, or without a split array."""
    module = parse(subject.text, "sharded")
    if module.device_counts != (1, 1) or len(subject.rows) != 1 or any(
            not s.is_static for i in module.instructions() for _, s in i.shape.leaves() if s.is_array):
        return None
    mesh = dice.choice(_MESHES)
    is_split = False
    for instruction in module.entry.instructions:
        at_border = instruction.opcode == "parameter" or instruction is module.entry.root
        flow = flow_of(instruction)
        # the shardings of tuples and of what computations give follow from those of others
        if at_border or (not flow.packs and not flow.enters and dice.random() < 0.4):
            found = _sharding(instruction.shape, mesh, dice, is_even=at_border)
            is_split |= any(s.kind == "tiled" for s in found.elements or (found,))
            instruction.attributes = instruction.attributes | {"sharding": found}
    if not is_split:
        return None
    module.attributes = module.attributes | {"num_partitions": math.prod(mesh)}
    return replace(subject, generator="sharded", text=str(module), original="", original_rows=[])


def _sharding(shape: Shape, mesh: Sequence[int], dice: random.Random, *, is_even: bool) -> Sharding:
    """Return a sharding of a value, of a tuple one for each of its arrays."""
    if shape.is_tuple:
        return Sharding("tuple", elements=tuple(_of_array(s, mesh, dice, is_even) for _, s in shape.leaves()))
    return _of_array(shape, mesh, dice, is_even)


def _of_array(shape: Shape, mesh: Sequence[int], dice: random.Random, is_even: bool) -> Sharding:
    """Give each axis of the mesh to a dimension, or to none; several axes of one dimension in any order."""
    axes: list[list[int]] = [[] for _ in range(shape.rank + 1)]
    order = list(range(len(mesh)))
    dice.shuffle(order)
    for axis in order if shape.is_array else ():
        fitting = [d for d in range(shape.rank) if shape.dims[d] > 1 and (
            not is_even or shape.dims[d] % (math.prod(mesh[a] for a in axes[d]) * mesh[axis]) == 0)]
        axes[dice.choice(fitting) if fitting and dice.random() < 0.8 else -1].append(axis)
    if not any(axes[:-1]):
        return Sharding("replicated")
    counts = [math.prod(mesh[a] for a in row) for row in axes]
    is_repeated = counts[-1] > 1
    tiles = tuple(counts if is_repeated else counts[:-1])
    return Sharding("tiled", tile_dims=tiles, last_tile_dim_replicate=is_repeated, devices=IotaTile(
        tiles, tuple(mesh), tuple(a for row in axes for a in row)))
