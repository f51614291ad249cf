"""Collectives: what replicas and partitions do together."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS, NOT_ALLOWED, SPLIT
from hlotool.builder.dimension_numbers import channel_of
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import shape_of
from hlotool.ir import UNBOUNDED, Shape

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def _common(replica_groups: Any, channel_id: Any, use_global_device_ids: Any = None) -> dict[str, Any]:
    found: dict[str, Any] = {}
    if (channel := channel_of(channel_id)) is not None:
        found["channel_id"] = channel
    found["replica_groups"] = () if replica_groups is None else replica_groups
    if use_global_device_ids:
        found["use_global_device_ids"] = True
    return found


def _operands(b: Core, name: str, operand: Any) -> list[XlaOp]:
    """The operands of a collective: a list, the elements of a tuple that is not empty, or one array."""
    made = operand if isinstance(operand, (list, tuple)) else b.operand(operand)
    count = len(made) if isinstance(made, (list, tuple)) else len(made.shape.elements) if made.shape.is_tuple else 1
    demand(count > 0, NOT_ALLOWED, f"{name} takes an array or a tuple that is not empty; the operand is ()")
    if isinstance(made, (list, tuple)):
        return [b.operand(o) for o in made]
    demand(made.shape.is_array or made.shape.is_tuple, NOT_ALLOWED,
           f"{name} takes an array or a tuple of arrays; the operand is {made.shape.text(False)}")
    if made.shape.is_tuple:
        demand(all(e.is_array for e in made.shape.elements), NOT_ALLOWED,
               f"{name} takes an array or a tuple of arrays; the operand is {made.shape.text(False)}")
        return [b.emit("get-tuple-element", [made], {"index": i}) for i in range(count)]
    return [made]


def _fits_groups(name: str, what: str, count: int, groups: Any) -> None:
    """The number of parts is that of the members of each group, where groups are listed."""
    rows = _rows(groups)
    demand(all(len(row) == count for row in rows), SPLIT,
           f"{name}: {what} is {count}, the groups have {', '.join(str(len(row)) for row in rows)} members")


def _rows(groups: Any) -> Sequence[Any]:
    """The groups as lists; none where all devices are in one."""
    found: Sequence[Any] = groups.lists() if hasattr(groups, "lists") else groups or ()
    return found if any(len(row) for row in found) else ()


def _adder(b: Core, kind: str) -> Any:
    def make() -> Any:
        scalar = Shape.array(kind)
        return b.callee((lambda x, y: x | y) if kind == "pred" else (lambda x, y: x + y), [scalar, scalar],
                        "or" if kind == "pred" else f"add_{kind}")

    return make()


@function()
def all_gather(b: Core, operand: Any, all_gather_dimension: int, shard_count: int, replica_groups: Any = None,
               channel_id: Any = None, layout: Any = None, use_global_device_ids: bool | None = None) -> XlaOp:
    """Join the operands of a group's members along a dimension; shard_count is the number of members."""
    made = _operands(b, "AllGather", operand)
    _fits_groups("AllGather", "shard_count", shard_count, None if use_global_device_ids else replica_groups)
    found = {**_common(replica_groups, channel_id, use_global_device_ids), "dimensions": (all_gather_dimension,)}
    shapes = []
    for m in made:
        demand(m.shape.is_array and 0 <= all_gather_dimension < m.rank, ARGUMENTS,
               f"all_gather_dimension is {all_gather_dimension}, the operand is {m.shape.text(False)}")
        dims = list(m.dims)
        dims[all_gather_dimension] = _times(dims[all_gather_dimension], shard_count)
        shapes.append(Shape.array(m.element_type, tuple(dims), None, m.shape.dynamic))
    return b.emit("all-gather", made, found, _one(shapes, layout))


def _times(size: int, count: int) -> int:
    """A size so many times; an unknown one stays unknown."""
    return size if size == UNBOUNDED else size * count


def _cut(size: int, count: int) -> int:
    """The part of a size that a count of equal parts has; an unknown size has unknown parts."""
    return size if size == UNBOUNDED else size // count


def _can_be_cut(size: int, count: int) -> bool:
    return count > 0 and (size == UNBOUNDED or size % count == 0)


def _one(shapes: Sequence[Shape], layout: Any = None) -> Shape:
    if layout is not None and len(shapes) == 1:
        return shapes[0].with_layout(layout if not isinstance(layout, (list, tuple)) else shape_of(
            f"{shapes[0].text(False)}{{{','.join(map(str, layout))}}}").layout)
    return Shape.one_or_tuple(shapes)


@function()
def all_reduce(b: Core, operand: Any, computation: Any = None, replica_groups: Any = None, channel_id: Any = None,
               shape_with_layout: Any = None, use_global_device_ids: bool | None = None) -> XlaOp:
    """Fold the operands of a group's members, element by element; the sum where no computation is given."""
    return _all_reduced(b, "AllReduce", operand, computation,
                        _common(replica_groups, channel_id, use_global_device_ids), shape_with_layout)


def _all_reduced(b: Core, name: str, operand: Any, computation: Any, found: dict[str, Any], shape: Any = None) -> XlaOp:
    made = _operands(b, name, operand)
    kind = made[0].element_type
    scalar = Shape.array(kind)
    to_apply = _adder(b, kind) if computation is None else b.callee(computation, [scalar, scalar], "reducer")
    return b.emit("all-reduce", made, {**found, "to_apply": to_apply}, shape)


@function()
def cross_replica_sum(b: Core, operand: Any, replica_groups: Any = None) -> XlaOp:
    """AllReduce that adds; of pred it is or."""
    return _all_reduced(b, "CrossReplicaSum", operand, None, _common(replica_groups, None))


@function()
def reduce_scatter(b: Core, operand: Any, computation: Any, scatter_dimension: int, shard_count: int,
                   replica_groups: Any = None, channel_id: Any = None, layout: Any = None,
                   use_global_device_ids: bool | None = None) -> XlaOp:
    """AllReduce, of whose result each member keeps its part along a dimension."""
    made = _operands(b, "ReduceScatter", operand)
    _fits_groups("ReduceScatter", "shard_count", shard_count, None if use_global_device_ids else replica_groups)
    scalar = Shape.array(made[0].element_type)
    shapes = []
    for m in made:
        demand(m.shape.is_array and 0 <= scatter_dimension < m.rank, ARGUMENTS,
               f"scatter_dimension is {scatter_dimension}, the operand is {m.shape.text(False)}")
        dims = list(m.dims)
        demand(_can_be_cut(dims[scatter_dimension], shard_count), SPLIT,
               f"dimension {scatter_dimension} of {m.shape.text(False)} is not cut into {shard_count} equal parts")
        dims[scatter_dimension] = _cut(dims[scatter_dimension], shard_count)
        shapes.append(Shape.array(m.element_type, tuple(dims), None, m.shape.dynamic))
    found = {**_common(replica_groups, channel_id, use_global_device_ids), "dimensions": (scatter_dimension,),
             "to_apply": b.callee(computation, [scalar, scalar], "reducer")}
    return b.emit("reduce-scatter", made, found, _one(shapes, layout))


@function()
def all_to_all(b: Core, operand: Any, split_dimension: int | None = None, concat_dimension: int | None = None,
               split_count: int | None = None, replica_groups: Any = None, layout: Any = None,
               channel_id: Any = None) -> XlaOp:
    """Cut along one dimension, send the k-th part to the k-th member, and join what arrives along another.

    A list of operands is sent one to each member, and gives a tuple.
    """
    whole = None if isinstance(operand, (list, tuple)) else b.operand(operand)
    demand(whole is None or split_dimension is None or not whole.shape.is_tuple, NOT_ALLOWED,
           f"AllToAll splits an array; the operand is {whole.shape.text(False) if whole is not None else ''}",
           "a tuple is sent element by element without split_dimension")
    made = _operands(b, "AllToAll", operand)
    found = _common(replica_groups, channel_id)
    if split_dimension is None or (isinstance(operand, (list, tuple)) and len(made) > 1):
        return b.emit("all-to-all", made, found)
    [source] = made
    split = split_dimension
    joined = split if concat_dimension is None else concat_dimension
    shape, dims = source.shape, source.dims
    count = split_count if split_count is not None else _group_size(replica_groups)
    demand(shape.is_array and 0 <= split < shape.rank and 0 <= joined < shape.rank, ARGUMENTS,
           f"split_dimension is {split}, concat_dimension {joined}; the operand is {shape.text(False)}")
    demand(_can_be_cut(dims[split], count), SPLIT,
           f"dimension {split} of {shape.text(False)} is not cut into {count} equal parts")
    _fits_groups("AllToAll", "split_count", count, replica_groups)
    wanted = shape if layout is None or split != joined else _one([shape.without_layout()], layout)
    made_one = b.emit("all-to-all", [source], {**found, "dimensions": (split,)}, wanted)
    if split == joined:
        return made_one
    demand(UNBOUNDED not in dims, NOT_ALLOWED, f"the parts of {shape.text(False)} cannot move to dimension {joined}: "
           "HLO reshapes no array of unknown sizes", "cut and join along one dimension")
    # HLO joins along the dimension that it cuts: the parts get a dimension of their own and move to the other one.
    apart = (*dims[:split], count, dims[split] // count, *dims[split + 1:])
    blocks = b.today("Reshape", made_one, apart)
    order = [d if d < split else d + 1 for d in range(shape.rank)]
    order.insert(joined, split)
    moved = b.emit("transpose", [blocks], {"dimensions": tuple(order)})
    sizes = list(dims)
    sizes[split], sizes[joined] = dims[split] // count, dims[joined] * count
    if layout is None:
        return b.today("Reshape", moved, sizes)
    return b.emit("reshape", [moved], shape=_one([Shape.array(shape.element_type, tuple(sizes))], layout))


@function()
def all_to_all_tuple(b: Core, operand: Any, split_dimension: int | None = None, concat_dimension: int | None = None,
                     split_count: int | None = None, replica_groups: Any = None, layout: Any = None,
                     channel_id: Any = None) -> XlaOp:
    """AllToAll of operands that are sent one to each member, which gives a tuple.

    One operand with dimensions is cut into such operands first, and what arrives is joined along concat_dimension.
    """
    if split_dimension is None:
        return all_to_all(b, operand, replica_groups=replica_groups, channel_id=channel_id)
    whole = b.operand(operand)
    count = split_count if split_count is not None else _group_size(replica_groups)
    demand(whole.shape.is_array and whole.shape.is_static and 0 <= split_dimension < whole.rank, ARGUMENTS,
           f"split_dimension is {split_dimension}, the operand is {whole.shape.text(False)}: its sizes must be known")
    size = whole.dims[split_dimension]
    demand(_can_be_cut(size, count), SPLIT,
           f"dimension {split_dimension} of {whole.shape.text(False)} is not cut into {count} equal parts")
    step = size // count
    parts = [b.today("SliceInDim", whole, i * step, (i + 1) * step, 1, split_dimension) for i in range(count)]
    sent = b.emit("all-to-all", parts, _common(replica_groups, channel_id))
    arrived = [b.today("GetTupleElement", sent, i) for i in range(count)]
    joined = b.today("ConcatInDim", arrived, split_dimension if concat_dimension is None else concat_dimension)
    return joined if layout is None else b.emit("copy", [joined], shape=_one([joined.shape], layout))


def _group_size(groups: Any) -> int:
    rows = _rows(groups)
    demand(bool(rows), SPLIT, "split_count is not given, and replica_groups do not say it")
    return len(rows[0])


@function("CollectiveBroadcast")
def collective_broadcast(b: Core, operand: Any, replica_groups: Any = None, channel_id: Any = None,
                         root: Any = None, has_dynamic_root: bool = False) -> XlaOp:
    """Every member of a group gets the first member's operand, or that of the member whose place `root` computes.

    With `has_dynamic_root` the places stand last among the operands, as XLA's own builder takes them.
    """
    made, found = _operands(b, "CollectiveBroadcast", operand), _common(replica_groups, channel_id)
    if has_dynamic_root and root is None:
        return b.emit("collective-broadcast", made, {**found, "has_dynamic_root": True})
    if root is None:
        return b.emit("collective-broadcast", made, found)
    place = b.operand(root, "s32")
    if place.shape.is_scalar:
        place = b.emit("broadcast", [place], {"dimensions": ()}, Shape.array("s32", (len(made),)))
    return b.emit("collective-broadcast", [*made, place], {**found, "has_dynamic_root": True})


@function()
def collective_permute(b: Core, operand: Any, source_target_pairs: Sequence[tuple[int, int]], channel_id: Any = None,
                       inplace: Any = None) -> XlaOp:
    """Send each source's operand to its target; who gets nothing has zeros.

    `inplace` is the documents' flag, which changes no value, or what HLO's form in place takes besides the operand: a
    list of a buffer that is written into, of the indices in it and of those in the operand.
    """
    found: dict[str, Any] = {} if channel_id is None else {"channel_id": channel_of(channel_id)}
    found["source_target_pairs"] = source_target_pairs
    made = _operands(b, "CollectivePermute", operand)
    if inplace and not isinstance(inplace, bool):
        made += [b.result_of(part) for part in inplace]
    return b.emit("collective-permute", made, found)


@function()
def multi_collective_permute(b: Core, operands: Sequence[Any], source_target_pairs: Sequence[tuple[int, int]],
                             channel_id: Any = None) -> XlaOp:
    """CollectivePermute of several operands at once; gives a tuple."""
    return collective_permute(b, list(operands), source_target_pairs, channel_id)


@function()
def ragged_all_to_all(b: Core, input: Any, input_offsets: Any, send_sizes: Any, output: Any, output_offsets: Any,
                      recv_sizes: Any, replica_groups: Any = None, channel_id: Any = None) -> XlaOp:
    """Send slices of different sizes to the members of a group, which place them in `output`."""
    made = [b.operand(o) for o in (input, output, input_offsets, send_sizes, output_offsets, recv_sizes)]
    return b.emit("ragged-all-to-all", made, _common(replica_groups, channel_id))


@function()
def replica_id(b: Core) -> XlaOp:
    """The number of the replica, u32[]."""
    return b.emit("replica-id", ())


@function("PartitionID", "BuildPartitionId")
def partition_id(b: Core, shape: Any = None) -> XlaOp:
    """The number of the partition, u32[]."""
    return b.emit("partition-id", (), {}, shape)
