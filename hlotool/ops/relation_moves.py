"""Rules that carry relations through operations that move elements: a view of another place, or regions."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any

from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.ops import index_maps
from hlotool.ops.dimension_parts import common_parts, places_of_parts
from hlotool.ops.index_maps import IndexMap, Sized, whole
from hlotool.ops.relation_values import array_of, in_order, on_whole_arrays, one_view, split_read, spread_to
from hlotool.ops.relations import NotCarried, Pieces, Read, Relations, Rows, TermPiece, TermView, Value
from hlotool.ops.table import OPS


def by_index_map(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Carry by what the record's index map reads: one element of an operand, or a fold of a product of elements."""
    record = OPS[instruction.opcode]
    assert record.index_map is not None
    arrays = [array_of(o) for o in operands]
    shape = instruction.shape
    if not shape.is_array:
        return on_whole_arrays(relations, instruction, operands)
    sized = [Sized(tuple(map(whole, a.dims)), reader(str(n))) for n, a in enumerate(arrays)]
    made = record.index_map(*sized, **given_to(record.index_map, record, instruction))
    name, matrix, shifts = affine(made.element, len(shape.dims), arrays)
    return relations.moved(arrays[int(name)], matrix, np.asarray([shifts], np.int64), shape.dims)


def given_to(index_map: IndexMap, record: Any, instruction: HloInstruction) -> dict[str, Any]:
    """Return the attributes of an instruction, and its shape, that an index map asks for."""
    wanted = {n for n, p in inspect.signature(index_map).parameters.items() if p.kind is p.KEYWORD_ONLY}
    given = {**record.attributes_of(instruction), "shape": instruction.shape.dims}
    return {k: v for k, v in given.items() if k in wanted}


def reader(name: str) -> Callable[[index_maps.Places], index_maps.Element]:
    """Return an operand of an index map, of which reads are told by its name."""
    return lambda places: index_maps.Read(name, places)


def affine(element: Callable[[index_maps.Places], Any], rank: int, arrays: Sequence[TermView | Pieces]
            ) -> tuple[str, Rows, tuple[int, ...]]:
    """Return which operand is read, and the matrix and the offsets of the place, tried at each unit of the index."""
    def place(index: Sequence[int]) -> tuple[str, tuple[int, ...]]:
        found = element(tuple(map(whole, index)))
        if not isinstance(found, index_maps.Read) or any(p.value is None for p in found.places):
            raise NotCarried("more than one element is read")
        return found.name, tuple(p.value or 0 for p in found.places)

    name, origin = place((0,) * rank)
    units = [place([int(d == k) for d in range(rank)])[1] for k in range(rank)]
    return name, tuple(tuple(units[k][t] - origin[t] for k in range(rank)) for t in range(len(origin))), origin


# Movements that are not one read


def bitcast(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Read the elements in the order of the operand's layout, as another shape in the order of its own."""
    source, target = instruction.operands[0].shape, instruction.shape
    if source.without_layout() == target.without_layout() and source.layout == target.layout:
        return operands[0]
    if source.element_type != target.element_type or any(
            s.layout is not None and s.layout.tiles for s in (source, target)):
        raise NotCarried("a bitcast to another type, or by tiles")
    orders = [s.minor_to_major[::-1] for s in (source, target)]
    stored = _permuted(relations, array_of(operands[0]), orders[0])
    made = reshaped(relations, stored, [target.dims[d] for d in orders[1]])
    return _permuted(relations, made, [orders[1].index(d) for d in range(target.rank)])


def _permuted(relations: Relations, value: TermView | Pieces, order: Sequence[int]) -> TermView | Pieces:
    """Return an array whose dimensions are those of another one, in an order."""
    rows = [tuple(int(order[k] == d) for k in range(len(order))) for d in range(len(order))]
    return relations.moved(value, rows, np.zeros((1, len(order)), np.int64), [value.dims[d] for d in order])


def reshape(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Split dimensions, and join those that are read one behind the other."""
    return reshaped(relations, array_of(operands[0]), instruction.shape.dims)


def reshaped(relations: Relations, value: TermView | Pieces, target: Sequence[int]) -> TermView | Pieces:
    """Return an array with the elements of another one, in row-major order."""
    if value.dims == tuple(target):
        return value
    parts = common_parts(value.dims, target) if 0 not in target else None
    if parts is None:
        raise NotCarried("the dimensions of both shapes are no products of the same sizes")
    own, others = (places_of_parts(parts, dims) for dims in (value.dims, target))
    matrix = []
    for row in own:
        strides = {p: math.prod(parts[p + 1:row[-1] + 1]) for p in row}
        matrix.append(tuple(strides.get(p, 0) for p in range(len(parts))))
    split = relations.moved(value, matrix, np.zeros((1, len(value.dims)), np.int64), parts)
    if all(len(row) <= 1 for row in others):
        units = [tuple(int(row != [] and d == k) for d, row in enumerate(others))
                 for k in (d for d, row in enumerate(others) if row)]
        return relations.moved(split, units, np.zeros((1, len(parts)), np.int64), target)
    return _joined(relations, one_view(split), others, target)


def _joined(relations: Relations, view: TermView, groups: Sequence[Sequence[int]], target: Sequence[int]) -> TermView:
    """Return a view with neighbouring dimensions joined to one, group by group."""
    at = 0
    for group in groups:
        for _ in group[1:]:
            view = join_two(relations, view, at)
        at += bool(group)
    rows = []
    for row in view.rows:
        own = iter(row)
        rows.append(tuple(next(own) if group else 0 for group in groups))
    return relations.view(view.term, tuple(rows), view.offsets, target)


def join_two(relations: Relations, view: TermView, at: int) -> TermView:
    """Return a view with dimension `at` and the one behind it joined, the first being the major one."""
    size = view.dims[at + 1]
    dims = (*view.dims[:at], view.dims[at] * size, *view.dims[at + 2:])
    if size == 1 or view.dims[at] == 1:
        left_out = at + (size == 1)
        rows = tuple((*row[:left_out], *row[left_out + 1:]) for row in view.rows)
        return relations.view(view.term, rows, view.offsets, dims)
    if all(row[at] == row[at + 1] * size for row in view.rows):
        rows = tuple((*row[:at], *row[at + 1:]) for row in view.rows)
        return relations.view(view.term, rows, view.offsets, dims)
    used = [(t, row[at], row[at + 1]) for t, row in enumerate(view.rows) if row[at] or row[at + 1]]
    majors, minors = ([u for u in used if u[side]] for side in (1, 2))
    is_plain = len(majors) <= 1 and len(minors) <= 1 and not (majors and majors == minors) and all(
        c in (0, 1) and d in (0, 1) and sum(map(bool, view.rows[t])) == 1 for t, c, d in used)
    starts = view.offsets.array[:, minors[0][0]] if minors else np.zeros(1, np.int64)
    if not is_plain or (starts != starts[0]).any():
        return _joined_within(relations, view, at, dims)
    major, minor = (side[0][0] if side else None for side in (majors, minors))
    start, term = int(starts[0]), view.term
    gone = {t for t in (major, minor) if t is not None}
    kept = [t for t in range(len(view.rows)) if t not in gone]
    bounds = [term.domain[t] for t in kept]
    least, most = term.domain[major] if major is not None else (None, None)
    joined = relations.term(("joined", term.number, major, minor, start, size), term.element_type,
                            [*bounds, (None if least is None else least * size, None if most is None else most * size)],
                            operands=(term,))
    unit = tuple(int(d == at) for d in range(len(dims)))
    rows = (*((*view.rows[t][:at], 0, *view.rows[t][at + 2:]) for t in kept), unit)
    first = view.offsets.array[:, major] * size if major is not None else np.zeros(len(view.offsets.array), np.int64)
    offsets = np.column_stack([view.offsets.array[:, kept], first])
    return relations.view(joined, rows, relations.table(offsets), dims)


def _joined_within(relations: Relations, view: TermView, at: int, dims: tuple[int, ...]) -> TermView:
    """Return the same as a term with a coordinate for the joined dimension, where its places are of no one line."""
    term, size = view.term, view.dims[at + 1]
    steps = tuple((row[at], row[at + 1]) for row in view.rows)
    made = relations.term(("joined", term.number, steps, size), term.element_type,
                          [*(b if s == (0, 0) else (None, None) for b, s in zip(term.domain, steps, strict=True)),
                           (0, dims[at])], operands=(term,))
    unit = tuple(int(d == at) for d in range(len(dims)))
    rows = (*((*row[:at], 0, *row[at + 2:]) for row in view.rows), unit)
    offsets = np.column_stack([view.offsets.array, np.zeros(len(view.offsets.array), np.int64)])
    return relations.view(made, rows, relations.table(offsets), dims)


def pad(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Put the operand into a region, and the number everywhere else."""
    value, fill = array_of(operands[0]), array_of(operands[1])
    rows = instruction.attributes["padding"].dimensions
    if any(r.interior for r in rows):
        raise NotCarried("padding between elements")
    lows = [int(r.low) for r in rows]
    return placed(relations, value, relations.same(lows).array, spread_to(relations, fill, instruction.shape.dims),
                  instruction.shape.dims)


def placed(relations: Relations, value: TermView | Pieces, starts: Array, around: TermView | Pieces, dims: Sequence[int]
            ) -> TermView | Pieces:
    """Return an array in which one stands at each device's place, with another one around it."""
    rank = len(dims)
    if not rank:
        return value
    low = np.clip(starts, 0, np.asarray(dims, np.int64))
    high = np.clip(starts + np.asarray(value.dims, np.int64), low, np.asarray(dims, np.int64))
    units = tuple(tuple(int(a == b) for b in range(rank)) for a in range(rank))
    inside = relations.moved(value, units, -starts, dims)
    found = list(_within(relations, inside, low, high))
    for d in range(rank):
        for edge in (0, 1):
            region = low.copy(), high.copy()
            region[0][:, d:], region[1][:, d:] = 0, np.asarray(dims)[d:]
            (region[1] if edge == 0 else region[0])[:, d] = (low if edge == 0 else high)[:, d]
            found += _within(relations, around, *region)
    return relations.pieces(found, dims)


def _within(relations: Relations, value: TermView | Pieces, low: Array, high: Array) -> Iterator[TermPiece]:
    """Yield the regions of an array that are within a region of it."""
    for piece in relations.pieces_of(value):
        yield TermPiece(relations.table(np.maximum(low, piece.low.array)),
                        relations.table(np.minimum(high, piece.high.array)), piece.view)


def concatenate(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Put operands one behind the other."""
    (along,), dims = instruction.attributes["dimensions"], instruction.shape.dims
    units = tuple(tuple(int(a == b) for b in range(len(dims))) for a in range(len(dims)))
    found, start = list[TermPiece](), 0
    for operand in map(array_of, operands):
        shift = np.zeros((1, len(dims)), np.int64)
        shift[0, along] = -start
        low, high = -shift, np.asarray([dims], np.int64)
        start += operand.dims[along]
        high[0, along] = start
        found += _within(relations, relations.moved(operand, units, shift, dims), low, high)
    return relations.pieces(found, dims)


def _starts(relations: Relations, operands: Sequence[Value]) -> list[Array | None]:
    """Return where a part begins on each device, dimension by dimension; None where it is not known."""
    if len(operands) == 1 and array_of(operands[0]).dims:
        raise NotCarried("starts in one array")
    views = [one_view(o) for o in operands]
    return [v.offsets.array[:, 0] if v.term.kind == "count" else None for v in views]


def dynamic_slice(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Take the part that begins at each device's place; a place that is not known needs a whole dimension."""
    value, dims = array_of(operands[0]), instruction.shape.dims
    starts = _starts(relations, operands[1:])
    if any(s is None for s in starts):
        return _sliced_somewhere(relations, instruction, operands, starts)
    limits = [n - m for n, m in zip(value.dims, dims, strict=True)]
    columns = [np.clip(s, 0, limit) for s, limit in zip(starts, limits, strict=True) if s is not None]
    count = max([1, *map(len, columns)])
    shifts = np.stack([np.broadcast_to(c, count) for c in columns], 1) if columns else np.zeros((1, 0), np.int64)
    units = tuple(tuple(int(a == b) for b in range(len(dims))) for a in range(len(dims)))
    return relations.moved(value, units, shifts, dims)


def _sliced_somewhere(relations: Relations, instruction: HloInstruction, operands: Sequence[Value],
                      starts: Sequence[Array | None]) -> Value:
    view, shape = one_view(operands[0]), instruction.shape
    along = [d for d, s in enumerate(starts) if s is None]
    for d, start in enumerate(starts):
        if start is not None and shape.dims[d] != view.dims[d]:
            raise NotCarried("a part that begins at a known place in one dimension, and at an unknown one in another")
    rest = [d for d in range(len(shape.dims)) if d not in along]
    label = ("dynamic-slice", tuple((view.dims[d], shape.dims[d]) for d in along))
    reads = [split_read(view, along), *(Read(one_view(spread_to(
        relations, one_view(operands[1 + d]), [shape.dims[r] for r in rest]))) for d in along)]
    made = relations.combined(label, shape.element_type, reads, [shape.dims[d] for d in rest],
                              [shape.dims[d] for d in along])
    return in_order(relations, made, [*rest, *along])


def dynamic_update_slice(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Put the update at each device's place; a place that is not known needs whole dimensions."""
    value, update = array_of(operands[0]), array_of(operands[1])
    starts, dims = _starts(relations, operands[2:]), instruction.shape.dims
    if any(s is None for s in starts):
        return _updated_somewhere(relations, instruction, operands, starts)
    columns = [np.clip(s, 0, n - m) for s, n, m in zip(starts, dims, update.dims, strict=True) if s is not None]
    count = max([1, *map(len, columns)])
    places = np.stack([np.broadcast_to(c, count) for c in columns], 1) if columns else np.zeros((1, 0), np.int64)
    return placed(relations, update, places, value, dims)


def _updated_somewhere(relations: Relations, instruction: HloInstruction, operands: Sequence[Value],
                       starts: Sequence[Array | None]) -> Value:
    view, update, dims = one_view(operands[0]), one_view(operands[1]), instruction.shape.dims
    along = [d for d, s in enumerate(starts) if s is None or update.dims[d] != dims[d]]
    rest = [d for d in range(len(dims)) if d not in along]
    label = ("dynamic-update-slice", tuple((dims[d], update.dims[d]) for d in along))
    sizes = [dims[d] for d in rest]
    reads = [split_read(view, along), split_read(update, along), *(
        Read(one_view(spread_to(relations, one_view(operands[2 + d]), sizes))) for d in along)]
    made = relations.combined(label, instruction.shape.element_type, reads, sizes, [dims[d] for d in along])
    return in_order(relations, made, [*rest, *along])
