"""Rules that carry relations through what reads and writes at places that are values.

    whole                                    on device d of 4
    e = f32[6,4] gather(w, i)                l = s32[6] subtract(i, first)       first is 4d
                                             g = f32[6,4] gather(w_d, l)         row i - 4d, held within the part
                                             m = pred[6] and(i >= first, i < first + 4)
                                             s = f32[6,4] select(m, g, zeros)    row i where this device has it
                                             e = f32[6,4] all-reduce(s)          row i: one device has it
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.ir import DTYPES, HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.ops.relation_values import array_of, in_order, meaning, on_whole_arrays, one_view, read_of
from hlotool.ops.relations import NotCarried, Read, Relations, TermView, Value

#: places beyond this are not told from those that wrap around
_FARTHEST = 1 << 30


def gather(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Gather slices for each index vector; dimensions that slices have as a whole are parallel."""
    view, indices = one_view(operands[0]), one_view(operands[1])
    given, shape = instruction.attributes, instruction.shape
    vector, scanned = given["index_vector_dim"], [d for d in range(len(indices.dims)) if d != given["index_vector_dim"]]
    offsets = list(given.get("offset_dims", ()))
    batch = [d for d in range(shape.rank) if d not in offsets]
    places = {d: batch[scanned.index(i)] for d, i in zip(given.get("operand_batching_dims", ()), given.get(
        "start_indices_batching_dims", ()), strict=True)}
    kept = [d for d in range(len(view.dims)) if d not in given.get("collapsed_slice_dims", ()) and d not in places]
    places |= {d: o for d, o in zip(kept, offsets, strict=True)
               if d not in given["start_index_map"] and given["slice_sizes"][d] == view.dims[d]}
    one_by_one = [o for d, o in zip(kept, offsets, strict=True) if d not in places and given["slice_sizes"][d] == 1]
    parallel = sorted({*batch, *places.values(), *one_by_one})
    own = [d for d in range(shape.rank) if d not in parallel]
    rows = [tuple(int(places.get(d) == p) for p in parallel) for d in range(len(view.dims))]
    inner = [d for d in range(len(view.dims)) if d not in places]
    sizes = [shape.dims[p] for p in parallel]
    places_read = [tuple(int(d != vector and batch[scanned.index(d)] == p) for p in parallel)
                   for d in range(len(indices.dims))]
    read = read_of(relations, view, rows, inner, sizes)
    if inner == list(given["start_index_map"]) and len(inner) == 1 and not own:
        return looked_up(relations, shape.element_type, read, read_of(
            relations, indices, places_read, [], sizes).view, view.dims[inner[0]])
    if vector >= len(indices.dims):
        return on_whole_arrays(relations, instruction, operands)
    label = ("gather", indices.element_type, tuple(view.dims[d] for d in inner), tuple(
        given["slice_sizes"][d] for d in inner), tuple(inner.index(d) for d in given["start_index_map"]),
        tuple(inner.index(d) for d in given.get("collapsed_slice_dims", ())), len(own))
    made = relations.combined(label, shape.element_type, [read, read_of(
        relations, indices, places_read, [vector], sizes)], sizes, [shape.dims[d] for d in own])
    return in_order(relations, made, [*parallel, *own])


def looked_up(relations: Relations, element_type: str, read: Read, index: TermView, size: int) -> TermView:
    """Return what an operand has at an index of its own dimension, which is held within its size."""
    kind = index.element_type
    if size - 1 > np.iinfo(DTYPES[kind].numpy).max:
        raise NotCarried("an index that is held within more than its type has")
    reach = _reach(relations, index)
    if reach is None or reach[0] < 0 or reach[1] >= size:
        ends = [Read(relations.constant(kind, n, index.dims)) for n in (0, size - 1)]
        index = relations.combined(("clamp", (kind,) * 3, ()), kind, [ends[0], Read(index), ends[1]], index.dims)
    return relations.combined(("lookup",), element_type, [read, Read(index)], index.dims)


def _label(view: TermView) -> Any:
    """Return what a function is, if a term is one of elements at the same index."""
    return view.term.key[1] if view.term.kind == "of" and not view.term.key[3] else ("",)


def _operands(relations: Relations, view: TermView, opcode: str) -> list[TermView] | None:
    """Return the operands of an operation on elements, by which a view is made; None: it is made by another one."""
    label = _label(view)
    if not isinstance(label, tuple) or not label or label[0] != opcode:
        return None
    return [r.view for r in relations.reads_of(view)]


def _reach(relations: Relations, index: TermView) -> tuple[int, int] | None:
    """Return the least and the greatest number that an index may be; None: it is not known."""
    if index.term.kind == "count":
        low, high = relations.reached(index)
        return int(low.min()), int(high.max())
    if (given := _operands(relations, index, "clamp")) is not None:
        ends = [relations.number_of(given[n]) for n in (0, 2)]
        if ends[0] is not None and ends[1] is not None:
            return int(ends[0]), int(ends[1])
    return None


# Rows of which each device has some


@dataclass(frozen=True)
class _Within:
    """An index, and the range of it of each device in which something holds; None: without an end."""

    index: TermView
    low: Array | None
    high: Array | None

    def and_also(self, other: _Within) -> _Within | None:
        """Return the range in which both hold, of the same index."""
        if self.index != other.index:
            return None
        ends = [f(a, b) if a is not None and b is not None else a if b is None else b for f, a, b in (
            (np.maximum, self.low, other.low), (np.minimum, self.high, other.high))]
        return _Within(self.index, *ends)


_OPPOSITE = {"LT": "GE", "GE": "LT", "GT": "LE", "LE": "GT", "EQ": "NE", "NE": "EQ"}
_TURNED = {"LT": "GT", "GT": "LT", "GE": "LE", "LE": "GE", "EQ": "EQ", "NE": "NE"}


def _range(relations: Relations, mask: TermView, truth: bool) -> _Within | None:
    """Return the range of an index in which a mask is true, or false."""
    if (given := _operands(relations, mask, "not")) is not None:
        return _range(relations, given[0], not truth)
    if (given := _operands(relations, mask, "and" if truth else "or")) is not None:
        one, other = (_range(relations, g, truth) for g in given)
        return one.and_also(other) if one is not None and other is not None else None
    if (given := _operands(relations, mask, "compare")) is None or not DTYPES[given[0].element_type].is_integral:
        return None
    direction = dict(_label(mask)[2])["direction"]
    if given[1].number is None:
        given, direction = given[::-1], _TURNED[direction]
    edge = given[1].number
    if edge is None or np.abs(edge).max() > _FARTHEST:
        return None
    direction = direction if truth else _OPPOSITE[direction]
    ends = {"LT": (None, edge), "LE": (None, edge + 1), "GE": (edge, None), "GT": (edge + 1, None),
            "EQ": (edge, edge + 1)}.get(direction)
    return _Within(given[0], *ends) if ends is not None else None


def within(relations: Relations, views: Sequence[TermView]) -> TermView | None:
    """Return what a select keeps of rows that are looked up in each device's part: those that it has, else a number."""
    mask, one, other = views
    for truth, value, fill in ((True, one, other), (False, other, one)):
        if relations.number_of(fill) is None or _label(value) != ("lookup",):
            continue
        found = _range(relations, mask, truth)
        if found is None or found.low is None or found.high is None:
            continue
        row = _row(relations, value, found)
        if row is None:
            continue
        kind, dims = found.index.element_type, value.dims
        ends = [relations.count("s64", (0,) * len(dims), relations.table(e[:, None]), dims)
                for e in (found.low, found.high)]
        return relations.combined(("within", kind), value.element_type, [
            Read(fill), Read(found.index), Read(row), *map(Read, ends)], dims)
    return None


def _row(relations: Relations, value: TermView, found: _Within) -> TermView | None:
    """Return what is looked up in the part at the index less the part's start, as looked up in the whole."""
    read, held = relations.reads_of(value)
    given = _operands(relations, held.view, "clamp")
    if given is None or (last := relations.number_of(given[2])) is None or relations.number_of(given[0]) != 0:
        return None
    index, start = given[1], np.zeros(1, np.int64)
    if index != found.index:
        apart = _operands(relations, index, "subtract")
        if apart is None or apart[0] != found.index or (column := apart[1].number) is None:
            return None
        index, start = apart[0], column
    low, high = found.low, found.high
    assert low is not None and high is not None
    reach = _reach(relations, index)
    if reach is None or reach[0] < 0 or reach[1] > _FARTHEST or (start < 0).any() or (start > low).any() or (
            high > start + int(last) + 1).any():
        return None
    steps = np.asarray([sum(row) for row in read.inner_rows], np.int64)
    moved = TermView(read.view.term, read.view.rows, relations.table(read.view.offsets.array - start[:, None] * steps),
                     read.view.dims)
    return relations.combined(("lookup",), value.element_type, [Read(moved, read.inner), Read(index)], value.dims)


def completed(relations: Relations, view: TermView, groups: Array, is_neutral: Any) -> TermView | None:
    """Return the rows of which each member of a group has some, and all together each one once; None: they have not.

    `groups` holds the devices, a row for each group; `is_neutral` tells whether a number leaves others as they are.
    """
    if _label(view)[:1] != ("within",):
        return None
    fill, index, row, *ends = (r.view for r in relations.reads_of(view))
    number, reach = relations.number_of(fill), _reach(relations, index)
    if number is None or reach is None or not is_neutral(number):
        return None
    for same in (index, row):
        places = np.broadcast_to(same.offsets.array, (relations.devices, same.offsets.array.shape[1]))[groups]
        if (places != places[:, :1]).any():
            return None
    low, high = (np.sort(np.broadcast_to(e.offsets.array[:, 0], relations.devices)[groups], axis=1) for e in ends)
    is_whole = (low[:, 0] <= reach[0]).all() and (high[:, -1] > reach[1]).all()
    return row if is_whole and (low[:, 1:] == high[:, :-1]).all() and (low < high).all() else None


# Rows that are written


def scatter(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Write rows of updates where indices say: each place of a result takes those whose index is its own.

    A device whose part begins at a place writes at indices less that; what is beyond its part is left out.
    """
    given, dims = instruction.attributes, instruction.shape.dims if instruction.shape.is_array else ()
    along = list(given["scatter_dims_to_operand_dims"])
    if len(operands) != 3 or given.get("input_batching_dims"):
        return on_whole_arrays(relations, instruction, operands)
    value, updates, (indices, starts) = array_of(operands[0]), one_view(operands[2]), _from_start(
        relations, one_view(operands[1]), given["index_vector_dim"], [dims[d] for d in along])
    windows = dict(zip(given["update_window_dims"], (d for d in range(len(dims)) if d not in given[
        "inserted_window_dims"]), strict=True))
    if any(d not in along for d in given["inserted_window_dims"]) or any(
            updates.dims[w] != (1 if d in along else dims[d]) for w, d in windows.items()):
        return on_whole_arrays(relations, instruction, operands)
    scanned = [d for d in range(len(updates.dims)) if d not in windows]
    rows = [tuple(int(windows.get(w) == d and d not in along) for d in range(len(dims)))
            for w in range(len(updates.dims))]
    reads = [read_of(relations, indices, [(0,) * len(dims)] * len(indices.dims), list(range(len(indices.dims))), dims),
             read_of(relations, updates, rows, scanned, dims)]
    own = [relations.count("s64", [int(e == d) for e in range(len(dims))], relations.table(starts[k][:, None]), dims)
           for k, d in enumerate(along)]
    label = ("scatter", indices.dims, given["index_vector_dim"], tuple(updates.dims[d] for d in scanned),
             meaning(given["to_apply"]), bool(given.get("unique_indices")), bool(given.get("indices_are_sorted")))

    def function(views: Sequence[TermView]) -> TermView:
        return relations.combined(label, instruction.shape.element_type, [*reads, *map(Read, views)], dims)

    return relations.each(function, [value, *own], dims)


def _from_start(relations: Relations, indices: TermView, vector: int, sizes: Sequence[int]
                ) -> tuple[TermView, list[Array]]:
    """Return indices of which each device's start is taken away, without that, and the starts, one for each number.

    The difference wraps around where it is negative, and is beyond a part as well.
    """
    nothing = [np.zeros(1, np.int64)] * len(sizes)
    given = _operands(relations, indices, "subtract")
    if given is None or given[1].term.kind != "count":
        return indices, nothing
    row, column = given[1].rows[0], given[1].offsets.array[:, 0]
    step = row[vector] if vector < len(row) else 0
    largest = np.iinfo(DTYPES[indices.element_type].numpy).max
    starts = [column + step * k for k in range(len(sizes))]
    is_plain = not any(c for d, c in enumerate(row) if d != vector) and all(
        (s >= 0).all() and (s + n <= largest).all() for s, n in zip(starts, sizes, strict=True))
    return (given[0], starts) if is_plain else (indices, nothing)
