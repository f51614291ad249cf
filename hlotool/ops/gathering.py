"""gather and scatter."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from hlotool.ir import UNBOUNDED, HloComputation, HloInstruction, Shape, lazy_dataclass
from hlotool.ir.arrays import Array, np
from hlotool.ops import index_maps
from hlotool.ops.agreement import scattered
from hlotool.ops.boundaries import of_gather, of_scatter, scatter_window
from hlotool.ops.called import require_reducer
from hlotool.ops.costs import Cost, Inner, elements_of, reads_a_part
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import PICKS, Calls, Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.long_loops import in_time
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, boolean, i64_array, promoted
from hlotool.ops.random_programs import ORDERLESS, Draw, Drawn
from hlotool.ops.registry import op, require
from hlotool.ops.relation_files import relation_lookups
from hlotool.ops.rules import (
    ANY,
    listed,
    require_array,
    require_in_range,
    require_sorted,
    require_type,
    require_unique,
    same_size,
)
from hlotool.ops.values import Callee, apply

Ints = tuple[int, ...]


def _require_indices(opcode: str, indices: Shape, index_vector_dim: int, label: str) -> tuple[int, ...]:
    """The dimensions of the index array, the implicit last one of size 1 included."""
    require_type(indices, ("signed", "unsigned"), f"{opcode}-c1", "the index array")
    require(0 <= index_vector_dim <= indices.rank, label,
            f"index_vector_dim is {index_vector_dim}; the indices {indices.text(False)} have {indices.rank} dimensions",
            attribute="index_vector_dim")
    return indices.dims if index_vector_dim < indices.rank else (*indices.dims, 1)


def _require_map(label: str, name: str, mapped: Ints, vector: int, rank: int) -> None:
    require(len(mapped) == vector or vector == UNBOUNDED, label,
            f"{name}={{{listed(mapped)}}} has {len(mapped)} entries, index vectors have {vector}", attribute=name)
    require_in_range(mapped, rank, label, f"{name} entry", attribute=name)
    require_unique(mapped, label, name, attribute=name)


def _require_dims(label: str, name: str, dims: Ints, rank: int, *, ascending: bool = True) -> None:
    require_in_range(dims, rank, label, f"{name} entry", attribute=name)
    require_unique(dims, label, name, attribute=name)
    if ascending:
        require_sorted(dims, label, name, attribute=name)


def _require_disjoint(label: str, one: str, a: Ints, other: str, b: Ints) -> None:
    shared = sorted(set(a) & set(b))
    require(not shared, label, f"dimension {listed(shared)} stands in both {one} and {other}", attribute=one)


def _require_batching(label: str, names: tuple[str, str], operand: tuple[Shape, Ints], indices: tuple[Ints, Ints],
                      index_vector_dim: int) -> None:
    (shape, dims), (sizes, index_dims) = operand, indices
    require(len(dims) == len(index_dims), label,
            f"{names[0]} has {len(dims)} entries, {names[1]} has {len(index_dims)}", attribute=names[0])
    _require_dims(label, names[0], dims, shape.rank)
    _require_dims(label, names[1], index_dims, len(sizes), ascending=False)
    require(index_vector_dim not in index_dims, label, f"{names[1]} names index_vector_dim {index_vector_dim}",
            attribute=names[1])
    for d, i in zip(dims, index_dims, strict=True):
        require(same_size(shape.dims[d], sizes[i]), label,
                f"dimension {d} of the operand has size {shape.dims[d]}, dimension {i} of the indices {sizes[i]}")


def gather_shape(operand: Shape, start_indices: Shape, *, offset_dims: Ints, collapsed_slice_dims: Ints,
                 start_index_map: Ints, index_vector_dim: int, slice_sizes: Ints,
                 operand_batching_dims: Ints = (), start_indices_batching_dims: Ints = ()) -> Shape:
    """Constraints 1 to 10 of gather."""
    require_array(operand, "gather-c1")
    indices = _require_indices("gather", start_indices, index_vector_dim, "gather-c2")
    batch = [i for i in range(len(indices)) if i != index_vector_dim]
    rank = len(batch) + len(offset_dims)
    _require_dims("gather-c3", "offset_dims", offset_dims, rank)
    _require_map("gather-c4", "start_index_map", start_index_map, indices[index_vector_dim], operand.rank)
    _require_dims("gather-c5", "collapsed_slice_dims", collapsed_slice_dims, operand.rank)
    _require_batching("gather-c6", ("operand_batching_dims", "start_indices_batching_dims"),
                      (operand, operand_batching_dims), (indices, start_indices_batching_dims), index_vector_dim)
    _require_disjoint("gather-c7", "collapsed_slice_dims", collapsed_slice_dims,
                      "operand_batching_dims", operand_batching_dims)
    _require_disjoint("gather-c7", "start_index_map", start_index_map, "operand_batching_dims", operand_batching_dims)
    count = len(offset_dims) + len(collapsed_slice_dims) + len(operand_batching_dims)
    require(operand.rank == count, "gather-c8",
            f"the operand {operand.text(False)} has {operand.rank} dimensions; "
            f"offset, collapsed and batching dimensions are {count}")
    _require_slice_sizes(operand, slice_sizes, (*collapsed_slice_dims, *operand_batching_dims))
    kept = [d for d in range(operand.rank) if d not in collapsed_slice_dims and d not in operand_batching_dims]
    dims, flags = [0] * rank, [False] * rank
    for place, d in zip(offset_dims, kept, strict=True):
        dims[place] = slice_sizes[d]
        flags[place] = operand.is_dynamic_dim(d) and slice_sizes[d] == operand.dims[d]
    others = [i for i in range(rank) if i not in offset_dims]
    for place, i in zip(others, batch, strict=True):
        dims[place], flags[place] = indices[i], start_indices.is_dynamic_dim(i)
    return operand.with_dims(tuple(dims), tuple(flags))


def _require_slice_sizes(operand: Shape, sizes: Ints, flat: Ints) -> None:
    require(all(isinstance(size, int) for size in sizes), "gather-c9", "slice_sizes holds lists, where sizes belong",
            attribute="slice_sizes")
    require(len(sizes) == operand.rank, "gather-c9",
            f"slice_sizes={{{listed(sizes)}}} has {len(sizes)} entries, the operand {operand.text(False)} "
            f"has {operand.rank} dimensions", attribute="slice_sizes")
    for i, (size, whole) in enumerate(zip(sizes, operand.dims, strict=True)):
        require(size >= 0 and (size <= whole or whole == UNBOUNDED), "gather-c9",
                f"slice size {size} does not fit dimension {i} of the operand, which has size {whole}",
                attribute="slice_sizes")
    for d in flat:
        require(sizes[d] <= 1, "gather-c10", f"dimension {d} is collapsed or batching; its slice size is {sizes[d]}",
                attribute="slice_sizes")


def _fields(attributes: dict[str, Any], renames: dict[str, str]) -> str:
    rows = [f"{theirs} = [{', '.join(map(str, attributes.get(ours, ())))}]" for ours, theirs in renames.items()]
    return ", ".join([*rows, f"index_vector_dim = {attributes['index_vector_dim']}"])


def _unfields(r: Reader, attribute: str, renames: dict[str, str], optional: Sequence[str]) -> dict[str, Any]:
    """The dimension lists of a struct attribute; the batching ones only where they list something."""
    fields = r.struct(attribute)
    found = {ours: fields.get(theirs, ()) for ours, theirs in renames.items()}
    return {**{ours: dims for ours, dims in found.items() if dims or ours not in optional},
            "index_vector_dim": fields.get("index_vector_dim", 0)}


GATHER_FIELDS = {"offset_dims": "offset_dims", "collapsed_slice_dims": "collapsed_slice_dims",
                 "operand_batching_dims": "operand_batching_dims",
                 "start_indices_batching_dims": "start_indices_batching_dims", "start_index_map": "start_index_map"}


def _emit_gather(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = instruction.attributes
    return e.op("stablehlo.gather", operands, instruction.shape, {
        "dimension_numbers": f"#stablehlo.gather<{_fields(attributes, GATHER_FIELDS)}>",
        "slice_sizes": i64_array(attributes.get("slice_sizes", ())),
        "indices_are_sorted": boolean(attributes.get("indices_are_sorted", False))})


def _lift_index_select(r: Reader) -> HloInstruction:
    """torch_index_select: the slices along `dim` that the indices name. Source: StableHLO's ODS, torch_index_select."""
    operand, index = r.operands()
    dim, batch = r.int("dim"), r.int("batch_dims")
    if not 0 <= batch <= dim < operand.shape.rank or batch > index.shape.rank:
        r.refuse(f"dim is {dim}, batch_dims {batch}, the operand is {operand.shape.text(False)}")
    indexed = range(dim, dim + index.shape.rank - batch)
    batching = {"operand_batching_dims": tuple(range(batch)), "start_indices_batching_dims": tuple(range(batch))}
    return r.add("gather", r.shape(), (operand, index), {
        "offset_dims": tuple(d for d in range(batch, r.shape().rank) if d not in indexed),
        "collapsed_slice_dims": (dim,), "start_index_map": (dim,), "index_vector_dim": index.shape.rank,
        "slice_sizes": tuple(1 if d == dim or d < batch else n for d, n in enumerate(operand.shape.dims)),
        **(batching if batch else {})})


def _lift_gather(r: Reader) -> HloInstruction:
    if r.name == "stablehlo.torch_index_select":
        return _lift_index_select(r)
    attributes = _unfields(r, "dimension_numbers", GATHER_FIELDS,
                           ("operand_batching_dims", "start_indices_batching_dims"))
    attributes["slice_sizes"] = r.ints("slice_sizes")
    if r.bool("indices_are_sorted"):
        attributes["indices_are_sorted"] = True
    return r.add("gather", r.shape(), r.operands(), attributes)


@lazy_dataclass
class _Gathering:
    """Dimension numbers that gather and scatter share, and the shapes that fit them."""

    operand: Ints
    indices: Ints
    window: Ints
    mapped: Ints
    collapsed: Ints
    batching: Ints
    indices_batching: Ints
    index_vector_dim: int
    #: dimensions of a gather's result, of a scatter's updates, and those of them that go over the window
    result: Ints
    offset: Ints


def _drawn_gathering(d: Draw) -> _Gathering:
    operand = d.dims(size=5)
    axes = range(len(operand))
    batching = d.some(axes, most=1) if d.edge("batching") else ()
    rest = [a for a in axes if a not in batching]
    collapsed = d.some([a for a in rest if operand[a]])
    least = 0 if d.edge("empty window") else 1
    window = tuple(min(operand[a], 1) if a in (*batching, *collapsed) else d.between(min(least, operand[a]), operand[a])
                   for a in axes)
    mapped = d.shuffled(d.some(rest, least=1)) if rest else ()
    places = [*[("batch", operand[a]) for a in batching], *[("free", d.between(1, 4)) for _ in range(d.between(0, 2))]]
    if d.edge("no indices"):
        places.append(("free", 0))
    d.random.shuffle(places)
    at = d.between(0, len(places))
    sizes = [n for _, n in places]
    indices = (*sizes[:at], len(mapped), *sizes[at:])
    if len(mapped) == 1 and d.edge("no index vector"):
        at, indices = len(places), tuple(sizes)
    indices_batching = tuple(i + (i >= at) for i, (kind, _) in enumerate(places) if kind == "batch")
    inner = [n for a, n in enumerate(window) if a not in (*batching, *collapsed)]
    offset = d.some(range(len(inner) + len(sizes)), least=len(inner), most=len(inner))
    outer, held = iter(sizes), iter(inner)
    result = tuple(next(held) if i in offset else next(outer) for i in range(len(inner) + len(sizes)))
    return _Gathering(operand, indices, window, mapped, collapsed, batching, indices_batching, at, result, offset)


def _drawn_indices(d: Draw, g: _Gathering) -> Drawn:
    """Indices within the operand, except for an edge."""
    room = min([g.operand[a] - g.window[a] for a in g.mapped], default=0)
    if d.edge("out of bounds"):
        return d.argument(g.indices, "s32", among=range(-2, max(g.operand) + 3))
    return d.argument(g.indices, d.pick(("s32", "s64", "u8")), among=range(room + 1))


def _draw_gather(d: Draw) -> None:
    g = _drawn_gathering(d)
    d.add("gather", d.argument(g.operand), _drawn_indices(d, g), offset_dims=g.offset,
          collapsed_slice_dims=g.collapsed, start_index_map=g.mapped, index_vector_dim=g.index_vector_dim,
          slice_sizes=g.window, operand_batching_dims=g.batching or None,
          start_indices_batching_dims=g.indices_batching or None)


@op(gather_shape, element_types=ANY, source=SPECIFICATION,
    lowering=Lowering(_emit_gather, _lift_gather, ("stablehlo.gather", "stablehlo.torch_index_select"),
                      (*GATHER_FIELDS, "slice_sizes")),
    draw=_draw_gather,
    boundaries=of_gather, cost=reads_a_part, flow=PICKS, flags=("relayouts",),
    index_map=index_maps.of_gather, sharding=relation_lookups.gather)
def gather(operand: Array, start_indices: Array, *, offset_dims: Ints, collapsed_slice_dims: Ints,
           start_index_map: Ints, index_vector_dim: int, slice_sizes: Ints,
           operand_batching_dims: Ints = (), start_indices_batching_dims: Ints = (),
           indices_are_sorted: bool = False) -> Array:
    """Cut a slice for each index vector and stitch the slices together; starts are clamped so that slices fit.

    C1   The operand is an array, start_indices an array of integers.
    C2   index_vector_dim is a dimension of start_indices, or their rank (each index is then a scalar).
    C3   offset_dims are dimensions of the result, ascending.
    C4   start_index_map has an entry for each element of an index vector: different dimensions of the operand.
    C5   collapsed_slice_dims are dimensions of the operand, ascending.
    C6   operand_batching_dims and start_indices_batching_dims pair up dimensions of equal sizes.
    C7   Batching dimensions are neither collapsed nor indexed.
    C8   Offset, collapsed and batching dimensions together are as many as the operand has.
    C9   slice_sizes has one size for each dimension of the operand, between 0 and the dimension's size.
    C10  Slices have at most one element in collapsed and batching dimensions.
    """
    indices = start_indices[..., None] if index_vector_dim == start_indices.ndim else start_indices
    vectors = np.moveaxis(indices, index_vector_dim, -1).astype(np.int64)
    flat = {*collapsed_slice_dims, *operand_batching_dims}
    kept = [d for d in range(operand.ndim) if d not in flat]
    # A slice of all of a bounded dimension is as large as the dimension is now.
    slice_sizes = tuple(map(min, slice_sizes, operand.shape))
    rank = vectors.ndim - 1 + len(offset_dims)
    others = [i for i in range(rank) if i not in offset_dims]
    spread = [1] * rank
    for place, size in zip(others, vectors.shape[:-1], strict=True):
        spread[place] = size
    rows: list[Array] = []
    for d in range(operand.ndim):
        rows.append(np.zeros([1] * rank, np.int64))
        if d in start_index_map:
            start = np.clip(vectors[..., start_index_map.index(d)], 0, operand.shape[d] - slice_sizes[d])
            rows[d] = start.reshape(spread)
        elif d in operand_batching_dims:
            dim = start_indices_batching_dims[operand_batching_dims.index(d)]
            place = others[dim - (dim > index_vector_dim)]
            rows[d] = _along(np.arange(operand.shape[d]), place, rank)
        if d in kept:
            rows[d] = rows[d] + _along(np.arange(slice_sizes[d]), offset_dims[kept.index(d)], rank)
    result_dims = [spread[i] for i in range(rank)]
    for place, d in zip(offset_dims, kept, strict=True):
        result_dims[place] = slice_sizes[d]
    if 0 in result_dims:
        return np.zeros(result_dims, operand.dtype)
    return np.asarray(np.broadcast_to(operand[tuple(rows)] if rows else operand, result_dims), order="C")


def _along(row: Array, place: int, rank: int) -> Array:
    return row.reshape([-1 if i == place else 1 for i in range(rank)])


# scatter


def scatter_shape(*inputs: Shape, update_window_dims: Ints, inserted_window_dims: Ints,
                  scatter_dims_to_operand_dims: Ints, index_vector_dim: int, input_batching_dims: Ints = (),
                  scatter_indices_batching_dims: Ints = (), to_apply: HloComputation) -> Shape:
    """Constraints 1 to 12 of scatter."""
    require(len(inputs) >= 3 and len(inputs) % 2 == 1, "scatter-c2",
            f"scatter takes N operands, the indices and N updates; {len(inputs)} operands are given")
    count = len(inputs) // 2
    operands, scatter_indices, updates = inputs[:count], inputs[count], inputs[count + 1:]
    operand, update = operands[0], updates[0]
    _require_scatter_arrays(operands, updates)
    indices = _require_indices("scatter", scatter_indices, index_vector_dim, "scatter-c4")
    rank = len(indices) - 1 + len(update_window_dims)
    require(update.rank == rank, "scatter-c5",
            f"the update is {update.text(False)}; it must have {rank} dimensions: {len(indices) - 1} of the indices "
            f"{scatter_indices.text(False)} and {len(update_window_dims)} of the window")
    _require_dims("scatter-c6", "update_window_dims", update_window_dims, rank)
    _require_dims("scatter-c7", "inserted_window_dims", inserted_window_dims, operand.rank)
    _require_batching("scatter-c8", ("input_batching_dims", "scatter_indices_batching_dims"),
                      (operand, input_batching_dims), (indices, scatter_indices_batching_dims), index_vector_dim)
    _require_disjoint("scatter-c8", "inserted_window_dims", inserted_window_dims,
                      "input_batching_dims", input_batching_dims)
    total = len(update_window_dims) + len(inserted_window_dims) + len(input_batching_dims)
    require(operand.rank == total, "scatter-c9",
            f"the operand {operand.text(False)} has {operand.rank} dimensions; window, inserted and batching "
            f"dimensions are {total}")
    _require_map("scatter-c10", "scatter_dims_to_operand_dims", scatter_dims_to_operand_dims,
                 indices[index_vector_dim], operand.rank)
    flat = {*inserted_window_dims, *input_batching_dims}
    window = [operand.dims[d] for d in range(operand.rank) if d not in flat]
    _require_update(update, update_window_dims, window, [s for i, s in enumerate(indices) if i != index_vector_dim])
    require_reducer(to_apply, updates, operands, "scatter-c13", "to_apply")
    return operand if count == 1 else Shape.tuple(*operands)


def _require_scatter_arrays(operands: Sequence[Shape], updates: Sequence[Shape]) -> None:
    for i, (shape, update) in enumerate(zip(operands, updates, strict=True)):
        require_array(shape, "scatter-c1", f"operand {i}")
        require_array(update, "scatter-c1", f"update {i}")
        require(shape.dims == operands[0].dims and update.dims == updates[0].dims, "scatter-c3",
                f"operand {i} is {shape.text(False)} with update {update.text(False)}, "
                f"operand 0 is {operands[0].text(False)} with update {updates[0].text(False)}: the dimensions differ")
        require(shape.element_type == update.element_type, "scatter-c3",
                f"operand {i} is {shape.text(False)}, its update {update.text(False)}: the element types differ")


def _require_update(update: Shape, window_dims: Ints, window: Sequence[int], scattered: Sequence[int]) -> None:
    for place, whole in zip(window_dims, window, strict=True):
        size = update.dims[place]
        require(size <= whole or whole == UNBOUNDED, "scatter-c11",
                f"dimension {place} of the update has size {size}; the operand's window has only {whole}")
    places = [i for i in range(update.rank) if i not in window_dims]
    for place, size in zip(places, scattered, strict=True):
        require(same_size(update.dims[place], size), "scatter-c12",
                f"dimension {place} of the update has size {update.dims[place]}, the indices have {size} there")


SCATTER_FIELDS = {"update_window_dims": "update_window_dims", "inserted_window_dims": "inserted_window_dims",
                  "input_batching_dims": "input_batching_dims",
                  "scatter_indices_batching_dims": "scatter_indices_batching_dims",
                  "scatter_dims_to_operand_dims": "scatter_dims_to_operand_dims"}


def _emit_scatter(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = instruction.attributes
    return e.op("stablehlo.scatter", operands, instruction.shape, {
        "scatter_dimension_numbers": f"#stablehlo.scatter<{_fields(attributes, SCATTER_FIELDS)}>",
        "indices_are_sorted": boolean(attributes.get("indices_are_sorted", False)),
        "unique_indices": boolean(attributes.get("unique_indices", False))}, [e.region(attributes["to_apply"])])


def _lift_scatter(r: Reader) -> HloInstruction:
    attributes = _unfields(r, "scatter_dimension_numbers", SCATTER_FIELDS,
                           ("input_batching_dims", "scatter_indices_batching_dims"))
    for name in ("indices_are_sorted", "unique_indices"):
        if r.bool(name):
            attributes[name] = True
    if twice := set(attributes["scatter_dims_to_operand_dims"]) & set(attributes.get("input_batching_dims", ())):
        r.refuse(f"dimension {min(twice)} stands in both scatter_dims_to_operand_dims and input_batching_dims")
    operands, shape = r.operands(), r.shape()
    results = shape.members
    n = len(operands) // 2
    inputs, updates = (promoted(r, given, results) for given in (operands[:n], operands[n + 1:]))
    return r.add("scatter", shape, [*inputs, operands[n], *updates], {**attributes, "to_apply": r.computation(0)})


def _scatter_parts(instruction: HloInstruction) -> str:
    """The case in which StableHLO's scatter gives another value: a window of which a part lies outside."""
    indices, sizes = instruction.operands[len(instruction.operands) // 2].shape, scatter_window(instruction)
    if 0 in indices.dims or all(sizes.get(d, 1) == 1 for d in instruction.attributes["scatter_dims_to_operand_dims"]):
        return ""
    return ("where a window lies partly outside of the operand, HLO drops it as a whole and StableHLO the elements "
            "that lie outside")


def _draw_scatter(d: Draw) -> None:
    """Duplicate indices are the rule here; the computation does not mind the order."""
    g = _drawn_gathering(d)
    inputs = [d.argument(g.operand, edges=ORDERLESS)]
    indices = _drawn_indices(d, g)
    updates = [d.argument(g.result, edges=ORDERLESS)]
    d.add("scatter", *inputs, indices, *updates, update_window_dims=g.offset, inserted_window_dims=g.collapsed,
          scatter_dims_to_operand_dims=g.mapped, index_vector_dim=g.index_vector_dim,
          input_batching_dims=g.batching or None, scatter_indices_batching_dims=g.indices_batching or None,
          to_apply=d.fold())


def _cost_of_scatter(instruction: HloInstruction, inner: Inner) -> Cost:
    """Each update is combined with one element; the result takes the inputs' place."""
    count = len(instruction.operands) // 2
    updates = instruction.operands[count + 1:]
    size, elements = sum(u.shape.nbytes for u in updates), elements_of(updates[0].shape) if updates else 0
    read = Cost(bytes_read=2 * size + instruction.operands[count].shape.nbytes, bytes_written=size)
    return read + inner(instruction.attributes["to_apply"]).work_only() * elements


@op(scatter_shape, element_types=ANY, source=SPECIFICATION,
    lowering=Lowering(_emit_scatter, _lift_scatter, ("stablehlo.scatter",), (*SCATTER_FIELDS, "to_apply"),
                      parts=_scatter_parts),
    draw=_draw_scatter, agreement=scattered, boundaries=of_scatter, cost=_cost_of_scatter,
    flow=Flow(calls=Calls.UPDATER, updates=(0, 1)), freedom=Freedom.UPDATES, sharding=relation_lookups.scatter)
def scatter(*inputs: Array, update_window_dims: Ints, inserted_window_dims: Ints,
            scatter_dims_to_operand_dims: Ints, index_vector_dim: int, input_batching_dims: Ints = (),
            scatter_indices_batching_dims: Ints = (), indices_are_sorted: bool = False,
            unique_indices: bool = False, to_apply: Callee) -> Any:
    """Combine updates into the operands at the places that index vectors name, in row-major order of the updates.

    A window of which any part lies outside of the operand is dropped as a whole, as XLA's evaluator and its backends
    do. StableHLO drops the elements that lie outside and keeps the others of the window.

    C1   Operands and updates are arrays, the indices an array of integers.
    C2   There are N operands, one index array and N updates.
    C3   All operands have the same dimensions, all updates too, and each update its operand's element type.
    C4   index_vector_dim is a dimension of the indices, or their rank (each index is then a scalar).
    C5   The update has the dimensions of the indices but the vector's, and those of the window.
    C6   update_window_dims are dimensions of the update, ascending.
    C7   inserted_window_dims are dimensions of the operand, ascending.
    C8   input_batching_dims and scatter_indices_batching_dims pair up dimensions of equal sizes, none of them inserted.
    C9   Window, inserted and batching dimensions together are as many as the operand has.
    C10  scatter_dims_to_operand_dims has an entry for each element of an index vector: different dimensions.
    C11  The update's window fits the operand.
    C12  The update's other dimensions have the sizes of the indices.
    C13  to_apply takes N current values and N updates, scalars, and gives N scalars of the operands' types.
    """
    count = len(inputs) // 2
    operands, indices, updates = inputs[:count], inputs[count], inputs[count + 1:]
    if index_vector_dim == indices.ndim:
        indices = indices[..., None]
    vectors = np.moveaxis(indices, index_vector_dim, -1).astype(np.int64)
    dims, places = operands[0].shape, np.indices(updates[0].shape).reshape(updates[0].ndim, updates[0].size)
    batch = places[[i for i in range(updates[0].ndim) if i not in update_window_dims]]
    target = np.zeros((len(dims), places.shape[1]), np.int64)
    starts = vectors[tuple(batch)]
    for k, d in enumerate(scatter_dims_to_operand_dims):
        target[d] += starts[..., k]
    for d, dim in zip(input_batching_dims, scatter_indices_batching_dims, strict=True):
        target[d] = batch[dim - (dim > index_vector_dim)]
    window = [d for d in range(len(dims)) if d not in (*inserted_window_dims, *input_batching_dims)]
    sizes = dict(zip(window, (updates[0].shape[i] for i in update_window_dims), strict=True))
    # XLA: ScatterExpander, CheckIndexValidity; HloEvaluator::HandleScatter
    inside = np.all([(t >= 0) & (t <= size - sizes.get(d, 1))
                     for d, (t, size) in enumerate(zip(target, dims, strict=True))], axis=0)
    for d, i in zip(window, update_window_dims, strict=True):
        target[d] += places[i]
    inside = np.broadcast_to(inside, places.shape[1:])
    flat = np.zeros(places.shape[1], np.int64)
    for t, size in zip(target, dims, strict=True):
        flat = flat * size + t
    results = [o.reshape(-1).copy() for o in operands]
    flat, sources = flat[inside], np.flatnonzero(inside)
    for chosen in _rounds(flat):
        at, source = flat[chosen], sources[chosen]
        found = apply(to_apply, *(r[at] for r in results), *(u.reshape(-1)[source] for u in updates))
        for result, value in zip(results, found, strict=True):
            result[at] = value
    shaped = tuple(r.reshape(dims) for r in results)
    return shaped[0] if count == 1 else shaped


def _rounds(targets: Array) -> Iterator[Array]:
    """Positions in `targets`, cut into rounds without duplicates: the first of each target, then the second, ..."""
    order = np.argsort(targets, kind="stable")
    sorted_targets = targets[order]
    first = np.flatnonzero(np.r_[True, sorted_targets[1:] != sorted_targets[:-1]][:len(order)])
    rank = np.arange(len(order)) - np.repeat(first, np.diff(np.r_[first, len(order)]))
    by_rank = np.argsort(rank, kind="stable")
    for piece in in_time(np.split(order[by_rank], np.flatnonzero(np.diff(rank[by_rank])) + 1)):
        if piece.size:
            yield piece
