"""Validity of shapes, layouts and shardings by themselves."""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator

from hlotool.ir import COMBINE, UNBOUNDED, HloInstruction, IotaTile, Layout, Mesh, Shape, Sharding
from hlotool.passes.codes import BAD_LAYOUT, BAD_SHAPE, SHARDING
from hlotool.passes.instruction_findings import Problem


@functools.lru_cache(maxsize=65536)
def verify_shape(shape: Shape) -> tuple[Problem, ...]:
    """Return the faults of a shape. Source: XLA, ShapeUtil::ValidateShape and LayoutUtil::ValidateLayoutForShape."""
    return tuple(_shape_findings(shape))


def _shape_findings(shape: Shape) -> Iterator[Problem]:
    if not shape.is_array:
        for element in shape.elements:
            yield from verify_shape(element)
        return
    for i, size in enumerate(shape.dims):
        if size < 0 and size != UNBOUNDED:
            yield Problem(BAD_SHAPE, f"dimension {i} of {shape.text(False)} is negative")
    if UNBOUNDED not in shape.dims and shape.size * max(1, shape.dtype.bits // 8) >= 2**63:
        yield Problem(BAD_SHAPE, f"{shape.text(False)} has more bytes than 63 bits can count")
    if shape.layout is not None:
        for message in _layout_messages(shape, shape.layout):
            yield Problem(BAD_LAYOUT, f"{shape}: {message}")


def _layout_messages(shape: Shape, layout: Layout) -> Iterator[str]:
    order, rank = layout.minor_to_major, shape.rank
    if len(order) != rank:
        yield f"the layout lists {len(order)} dimensions, the shape has {rank}"
    elif sorted(order) != list(range(rank)):
        yield f"minor-to-major {{{','.join(map(str, order))}}} is no permutation of the dimensions"
    if layout.tail_padding_alignment <= 0:
        yield f"tail padding alignment {layout.tail_padding_alignment} is not positive"
    if any(not tile or any(d <= 0 and d != COMBINE for d in tile) for tile in layout.tiles):
        yield "tile sizes must be positive"
    if layout.index_type or layout.pointer_type or layout.physical_shape is not None:
        yield "index type, pointer type and physical shape belong to sparse layouts, which there are no more"
    if layout.element_size < 0:
        yield f"element size {layout.element_size} is negative"
    yield from _split_messages(shape, layout)


def _split_messages(shape: Shape, layout: Layout) -> Iterator[str]:
    seen: set[int] = set()
    for split in layout.split_configs:
        if not 0 <= split.dimension < shape.rank or split.dimension in seen:
            yield f"split dimension {split.dimension} is out of range or named twice"
            continue
        seen.add(split.dimension)
        rising = all(a < b for a, b in zip(split.indices, split.indices[1:], strict=False))
        inside = all(0 < i < shape.dims[split.dimension] for i in split.indices)
        if not (rising and inside):
            yield f"split indices {split.indices} must rise and lie inside dimension {split.dimension}"


#: a number of devices that no signed integer of 64 bits holds
_TOO_MANY = 2**63


def verify_sharding(instruction: HloInstruction, partitions: int) -> Iterator[Problem]:
    """Report faults of an instruction's sharding. Source: XLA, HloSharding::Validate."""
    sharding = instruction.attributes.get("sharding")
    # An outfeed's sharding describes what it sends, not its token.
    if isinstance(sharding, Sharding) and instruction.shape is not None and instruction.opcode != "outfeed":
        for message in _sharding_messages(sharding, instruction.shape, partitions):
            yield Problem(SHARDING, message, r"\bsharding\s*=")


def _has_empty(shape: Shape) -> bool:
    return shape.is_tuple and (not shape.elements or any(map(_has_empty, shape.elements)))


def _sharding_messages(sharding: Sharding, shape: Shape, partitions: int) -> Iterator[str]:
    if sharding.kind == "tuple":
        leaves = [leaf for _, leaf in shape.leaves()]
        if not shape.is_tuple:
            yield f"a tuple sharding on {shape.text(False)}, which is no tuple"
        elif len(sharding.elements) != max(1, len(leaves)):
            yield f"{len(sharding.elements)} shardings for {len(leaves) or 1} leaves of {shape.text(False)}" + (
                "; an empty tuple inside has none" if leaves and _has_empty(shape) else "")
        else:
            for element, leaf in zip(sharding.elements, leaves, strict=False):
                yield from _sharding_messages(element, leaf, partitions)
        return
    if sharding.kind == "maximal" and sharding.device is not None:
        yield from _maximal_messages(sharding.device, partitions)
    elif sharding.kind == "tiled":
        yield from _tile_messages(sharding, shape, partitions)
    elif sharding.kind == "named" and sharding.mesh is not None:
        yield from _mesh_messages(sharding, sharding.mesh, shape, partitions)


def _mesh_messages(sharding: Sharding, mesh: Mesh, shape: Shape, partitions: int) -> Iterator[str]:
    """Report faults of a named sharding; one that splits nothing is replicated, whatever its dimensions."""
    if mesh.maximal_device is not None:
        yield from _maximal_messages(mesh.maximal_device, partitions)
        return
    for name, size in mesh.axes:
        if size >= _TOO_MANY:
            yield f"the axis {name!r} of the mesh has size {size}, which does not fit in 64 bits"
            return
    sizes = dict(mesh.axes)
    apart = (*sharding.manual_axes, *(a for d in sharding.dim_shardings for a in d.axes))
    if all(sizes.get(axis.name, 1) == 1 or axis.size == 1 for axis in apart):
        return
    yield from _rank_messages(len(sharding.dim_shardings), shape)
    yield from _count_messages(math.prod(sizes.values()), partitions)


def _maximal_messages(device: int, partitions: int) -> Iterator[str]:
    if device < 0 or (partitions > 1 and device >= partitions):
        yield f"device {device} is not in [0, {partitions})"


def _rank_messages(dimensions: int, shape: Shape) -> Iterator[str]:
    """Compare with the shape, or with the leaves of a tuple, each of which has the sharding."""
    leaf = next((leaf for _, leaf in shape.leaves() if leaf.is_array and leaf.rank != dimensions), None)
    if leaf is not None:
        yield f"the sharding has {dimensions} tile dimensions, {leaf.text(False)} has {leaf.rank} dimensions"


def _count_messages(count: int, partitions: int) -> Iterator[str]:
    if 1 < partitions != count:
        yield f"the sharding is over {count} devices, num_partitions is {partitions}"


def _tile_messages(sharding: Sharding, shape: Shape, partitions: int) -> Iterator[str]:
    tiles, devices = sharding.tile_dims, sharding.devices
    count = math.prod(tiles)
    if any(d <= 0 for d in tiles):
        yield f"tile dimensions {list(tiles)} must be positive"
        return
    if isinstance(devices, IotaTile):
        listed = math.prod(devices.reshape_dims)
        if listed != count or math.prod(devices.dims) != count:
            yield f"the tiles {list(tiles)} are {count}, the device list has {listed}"
            return
        if sorted(devices.permutation) != list(range(len(devices.reshape_dims))):
            order = ",".join(map(str, devices.permutation))
            yield f"T({order}) is no permutation of {len(devices.reshape_dims)} dimensions"
    elif devices is not None:
        yield from _device_messages(devices, count, partitions)
    subgroups = len(sharding.last_tile_dims) + sharding.last_tile_dim_replicate
    yield from _rank_messages(len(tiles) - subgroups, shape)
    # The text may say fewer devices, XLA's parser reads it; its verifier refuses all but num_partitions. What is the
    # same on all devices is replicated to it, however many are listed.
    is_replicated = sharding.last_tile_dim_replicate and math.prod(tiles[:-1]) == 1
    if not (is_replicated and count < partitions):
        yield from _count_messages(count, partitions)


def _device_messages(devices: tuple[int, ...], count: int, partitions: int) -> Iterator[str]:
    if len(devices) != count:
        yield f"the tiles are {count}, {len(devices)} devices are listed"
    for i, device in enumerate(devices):
        if device < 0 or (partitions > 1 and device >= partitions):
            yield f"device {device} is not in [0, {partitions})"
        elif device in devices[:i]:
            yield f"device {device} is listed twice"


def flags_differ(written: Shape, inferred: Shape) -> bool:
    """Return True if a dimension is marked dynamic on one side only."""
    if written is inferred or len(written.elements) != len(inferred.elements):
        return False
    if written.is_array:
        return any(written.is_dynamic_dim(d) != inferred.is_dynamic_dim(d) for d in range(written.rank)
                   if UNBOUNDED not in (written.dims[d], inferred.dims[d]))
    return any(map(flags_differ, written.elements, inferred.elements))


def is_narrowed(written: Shape, inferred: Shape) -> bool:
    """Return True if a tiling backend has let an operation on f32 give bf16, or one on bf16 give f32.

    TPU's compiler keeps what bf16 propagation found in the operations themselves, without converts around them, and
    XLA verifies its modules so. Source: XLA, bfloat16_propagation.cc; HloVerifierOpts, allow_mixed_precision.
    """
    layout = written.layout if written.is_array else None
    return layout is not None and bool(layout.tiles) and inferred.is_array and inferred.dims == written.dims and {
        written.element_type, inferred.element_type} == {"bf16", "f32"}
