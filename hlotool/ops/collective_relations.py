"""Rules that carry relations to whole values (relations.py) through collectives: what devices get of one another."""

from __future__ import annotations

import functools
import itertools
from collections.abc import Sequence

from hlotool.ir import DTYPES, HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.ops.collective import device_groups, device_pairs
from hlotool.ops.relation_folds import IDEMPOTENT, fold_of
from hlotool.ops.relation_lookups import completed
from hlotool.ops.relation_moves import join_two
from hlotool.ops.relation_values import array_of, one_view
from hlotool.ops.relations import (
    Intervals,
    Kind,
    NotCarried,
    Pieces,
    Relations,
    TermPiece,
    TermView,
    Value,
    is_neutral,
    sizes_of,
)

#: members of a group, regions of which are listed where they do not follow a rule
_MOST_MEMBERS = 64


@functools.lru_cache(64)
def _rows(groups: tuple[tuple[int, ...], ...]) -> Array:
    """Return groups of one size as an array, a row for each."""
    if len({len(g) for g in groups}) != 1:
        raise NotCarried("the groups are of several sizes")
    return np.asarray(groups, np.int64)


def _groups(relations: Relations, instruction: HloInstruction) -> Array:
    """Return the groups in which all devices meet, a row for each. Raises NotCarried."""
    rows = _rows(device_groups(instruction, 1, relations.devices))
    if rows.size != relations.devices or len(np.unique(rows)) != relations.devices:
        raise NotCarried("the groups do not name each device once")
    return rows


def _all_rows(relations: Relations, array: Array) -> Array:
    """Return a table's rows, one for each device."""
    return np.broadcast_to(array, (relations.devices, array.shape[1]))


def _results(instruction: HloInstruction, values: Sequence[Value]) -> Value:
    return tuple(values) if instruction.shape.is_tuple else values[0]


def all_reduce(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Fold what the members of each group have."""
    return _results(instruction, [_reduced(relations, instruction, o) for o in operands])


def _reduced(relations: Relations, instruction: HloInstruction, value: Value) -> TermView | Pieces:
    opcode, groups = fold_of(instruction.attributes["to_apply"]), _groups(relations, instruction)
    if not opcode:
        raise NotCarried("the reduction is not one operation")
    if isinstance(value, Pieces):
        return _of_one_member(relations, opcode, value, groups)
    view = one_view(value)
    if groups.shape[1] == 1:
        return view
    kind = (opcode, view.element_type)
    if (apart := relations.factor_of(kind, view)) is not None:
        return relations.times(kind, apart[0], one_view(_reduced(relations, instruction, apart[1])))
    if (rows := completed(relations, view, groups, lambda n: is_neutral(kind, n))) is not None:
        return rows
    offsets = _all_rows(relations, view.offsets.array)[groups]
    differences = offsets - offsets[:, :1]
    order = np.lexsort(differences[0].T[::-1]) if differences.shape[2] else np.arange(groups.shape[1])
    points = differences[0][order]
    for group in differences[1:]:
        own = group[np.lexsort(group.T[::-1])] if differences.shape[2] else group
        if not (own - own[:1] == points - points[:1]).all():
            raise NotCarried("the groups bring parts that lie differently")
    least = np.stack([o[np.lexsort(o.T[::-1])][0] if differences.shape[2] else o[0] for o in offsets])
    table = np.zeros((relations.devices, differences.shape[2]), np.int64)
    table[groups] = least[:, None]
    moved = TermView(view.term, view.rows, relations.table(table), view.dims)
    return _summed(relations, kind, moved, points - points[:1])


def _summed(relations: Relations, kind: Kind, view: TermView, points: Array) -> TermView:
    """Return the fold of a view's term at some points from each place on: of a line, or of a box."""
    is_idempotent = kind[0] in IDEMPOTENT
    varying = np.flatnonzero((points != 0).any(axis=0))
    made = view
    if not len(varying):
        return relations.trimmed(relations.summed(kind, view, (0,) * len(view.rows), ((0, len(points)),), is_idempotent,
                                                  is_across=True))
    if (line := _line(points)) is not None:
        direction, positions = line
        made = relations.summed(kind, made, direction, _as_intervals(positions, is_idempotent), is_idempotent,
                                is_across=True)
        return relations.trimmed(made)
    values = [np.unique(points[:, t]) for t in varying]
    if len(np.unique(points, axis=0)) != len(points) or int(np.prod([len(v) for v in values])) != len(points):
        raise NotCarried("the parts that are added lie in no box")
    for t, positions in zip(varying, values, strict=True):
        unit = tuple(int(q == t) for q in range(len(view.rows)))
        made = relations.summed(kind, made, unit, _as_intervals(positions, True), is_idempotent, is_across=True)
    return relations.trimmed(made)


def _line(points: Array) -> tuple[tuple[int, ...], Array] | None:
    """Return a direction and the multiples of it that points are; None: they are on no line."""
    first = points[np.argmax((points != 0).any(axis=1))]
    direction = first // np.gcd.reduce(first)
    t = int(np.flatnonzero(direction)[0])
    positions = points[:, t] // direction[t]
    return (tuple(map(int, direction)), positions) if (positions[:, None] * direction == points).all() else None


def _as_intervals(positions: Array, is_idempotent: bool) -> Intervals:
    numbers = np.unique(positions)
    if len(numbers) != len(positions) and not is_idempotent:
        raise NotCarried("some parts are added more than once")
    breaks = np.flatnonzero(np.diff(numbers) != 1)
    starts, stops = numbers[np.r_[0, breaks + 1]], numbers[np.r_[breaks, len(numbers) - 1]] + 1
    return tuple((int(a), int(b)) for a, b in zip(starts, stops, strict=True))


def _of_one_member(relations: Relations, opcode: str, value: Pieces, groups: Array) -> TermView | Pieces:
    """Return what all get where one member of each group has an element, and the others have the neutral one."""
    if groups.shape[1] > _MOST_MEMBERS:
        raise NotCarried("parts of many values are added")
    own = Pieces(tuple(p for p in value.pieces if (n := relations.number_of(p.view)) is None
                       or not is_neutral((opcode, value.element_type), n)), value.dims)
    found = [p for place in range(groups.shape[1]) if own.pieces
             for p in _brought(relations, own, groups, place, None, 0, value.dims)]
    found = [p for p in found if relations.live(p).any()]
    sizes = np.asarray(sizes_of(value.dims), np.int64)
    boxes = [[np.clip(_all_rows(relations, b.array), 0, sizes) for b in (p.low, p.high)] for p in found]
    meets = any((np.maximum(a[0], b[0]) < np.minimum(a[1], b[1])).all(axis=1).any()
                for a, b in itertools.combinations(boxes, 2))
    covered = sum((np.prod(np.maximum(high - low, 0), axis=1) for low, high in boxes), np.zeros(1, np.int64))
    if meets or (covered != np.prod(sizes)).any():
        raise NotCarried("the members of a group do not have one value between them")
    return relations.pieces(found, value.dims)


def all_gather(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Put what the members of each group have one behind the other."""
    groups, (along,) = _groups(relations, instruction), instruction.attributes["dimensions"]
    shapes = instruction.shape.members
    found = []
    for operand, shape in zip(map(array_of, operands), shapes, strict=True):
        if shape.dims[along] != operand.dims[along] * groups.shape[1]:
            raise NotCarried("the groups are of another size than the shape")
        found.append(_gathered(relations, operand, groups, along, shape.dims))
    return _results(instruction, found)


def _gathered(relations: Relations, value: TermView | Pieces, groups: Array, along: int, dims: Sequence[int]) -> Value:
    if isinstance(value, TermView) and (made := _put_together(relations, value, groups, along, 0)) is not None:
        return made
    if groups.shape[1] > _MOST_MEMBERS:
        raise NotCarried("the parts of so many devices do not lie one behind the other")
    size = value.dims[along]
    return relations.pieces([p for place in range(groups.shape[1])
                             for p in _brought(relations, value, groups, place, along, place * size, dims)], dims)


def _put_together(relations: Relations, view: TermView, groups: Array, along: int, shift: Array | int
                  ) -> TermView | None:
    """Return what members of each group have, one behind the other along a dimension; None: they lie on no line.

    `shift` is where the part begins that each device takes of all of them.
    """
    offsets = _all_rows(relations, view.offsets.array)[groups]
    step = offsets[0, 1] - offsets[0, 0] if groups.shape[1] > 1 else np.zeros(offsets.shape[2], np.int64)
    if not (offsets - offsets[:, :1] == np.arange(groups.shape[1])[None, :, None] * step).all():
        return None
    table = np.zeros((relations.devices, len(view.rows)), np.int64)
    table[groups] = offsets[:, :1]
    column = np.asarray([row[along] for row in view.rows], np.int64)
    own = relations.table(table + np.reshape(shift, (-1, 1)) * column)
    rows = tuple((*row[:along], int(s), *row[along:]) for row, s in zip(view.rows, step, strict=True))
    dims = (*view.dims[:along], groups.shape[1], *view.dims[along:])
    return join_two(relations, relations.view(view.term, rows, own, dims), along)


def _brought(relations: Relations, value: TermView | Pieces, groups: Array, place: int, along: int | None, start: int,
             dims: Sequence[int], within: tuple[int, Array] | None = None) -> list[TermPiece]:
    """Return the regions of what the member at a place of each group brings, put at a start along a dimension, if any.

    `within` is the number of the elements that each device takes, and where each begins.
    """
    giver = np.zeros(relations.devices, np.int64)
    giver[groups] = groups[:, place][:, None]
    size = 0 if along is None else value.dims[along] if within is None else within[0]
    taken = np.zeros(relations.devices, np.int64) if within is None else within[1]
    found = []
    for piece in relations.pieces_of(value):
        low, high = (_all_rows(relations, t.array)[giver].copy() for t in (piece.low, piece.high))
        column = np.asarray([0 if along is None else row[along] for row in piece.view.rows], np.int64)
        if along is not None:
            low[:, along] = np.clip(low[:, along] - taken, 0, size) + start
            high[:, along] = np.clip(high[:, along] - taken, 0, size) + start
        offsets = _all_rows(relations, piece.view.offsets.array)[giver] + (taken - start)[:, None] * column
        found.append(TermPiece(relations.table(low), relations.table(high),
                               TermView(piece.view.term, piece.view.rows, relations.table(offsets), tuple(dims))))
    return found


def _block(relations: Relations, groups: Array) -> Array:
    """Return the place of each device in its group."""
    found = np.zeros(relations.devices, np.int64)
    found[groups] = np.arange(groups.shape[1])
    return found


def reduce_scatter(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Fold what the members of each group have; each keeps the block of its place."""
    groups, (along,) = _groups(relations, instruction), instruction.attributes["dimensions"]
    shapes = instruction.shape.members
    found = []
    for operand, shape in zip(operands, shapes, strict=True):
        view = _reduced(relations, instruction, operand)
        if shape.dims[along] * groups.shape[1] != view.dims[along]:
            raise NotCarried("the groups are of another size than the shape")
        shift = np.zeros((relations.devices, len(view.dims)), np.int64)
        shift[:, along] = _block(relations, groups) * shape.dims[along]
        units = tuple(tuple(int(a == b) for b in range(len(view.dims))) for a in range(len(view.dims)))
        found.append(relations.moved(view, units, shift, shape.dims))
    return _results(instruction, found)


def all_to_all(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Cut what each member has into blocks, and give each member the blocks of its place; or so with whole operands."""
    groups, dimensions = _groups(relations, instruction), instruction.attributes.get("dimensions")
    places = _block(relations, groups)
    if instruction.shape.is_tuple:
        return _exchanged(relations, instruction, operands, groups, places)
    value, (along,) = array_of(operands[0]), dimensions or (0,)
    count, dims = groups.shape[1], value.dims
    size, rest = divmod(dims[along], count)
    if not dimensions or rest:
        raise NotCarried("the blocks are of several sizes")
    if isinstance(value, TermView):
        block = TermView(value.term, value.rows, value.offsets, tuple(
            size if d == along else n for d, n in enumerate(dims)))
        if (made := _put_together(relations, block, groups, along, places * size)) is not None:
            return made
    if count > _MOST_MEMBERS:
        raise NotCarried("the blocks of so many devices do not lie one behind the other")
    return relations.pieces([p for place in range(count) for p in _brought(
        relations, value, groups, place, along, place * size, dims, (size, places * size))], dims)


def _exchanged(relations: Relations, instruction: HloInstruction, operands: Sequence[Value], groups: Array,
               places: Array) -> Value:
    """Return for each place the operand of that number which its member has for the own place."""
    views = [one_view(o) for o in operands]
    if len(views) != groups.shape[1] or len({(v.term, v.rows, v.dims) for v in views}) != 1:
        raise NotCarried("operands of several values are exchanged")
    tables = np.stack([_all_rows(relations, v.offsets.array) for v in views])
    found = []
    for place in range(groups.shape[1]):
        giver = np.zeros(relations.devices, np.int64)
        giver[groups] = groups[:, place][:, None]
        found.append(relations.view(views[0].term, views[0].rows, relations.table(tables[places, giver]),
                                    views[0].dims))
    return tuple(found)


def collective_permute(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Give each target what its source has; the others get zeros."""
    if instruction.shape.is_tuple:
        raise NotCarried("a permute of several operands")
    return _permuted(relations, instruction, operands)


def _permuted(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    if len(operands) != 1:
        raise NotCarried("a permute in place")
    value, pairs = array_of(operands[0]), device_pairs(instruction, 1, relations.devices)
    source = np.full(relations.devices, -1, np.int64)
    for giver, target in pairs:
        if source[target] >= 0:
            raise NotCarried("a device receives twice")
        source[target] = giver
    receives, dims = source >= 0, value.dims
    found = []
    for piece in relations.pieces_of(value):
        low, high = (_all_rows(relations, t.array)[source].copy() for t in (piece.low, piece.high))
        high[~receives] = 0
        offsets = relations.table(_all_rows(relations, piece.view.offsets.array)[source])
        found.append(TermPiece(relations.table(low), relations.table(high),
                               TermView(piece.view.term, piece.view.rows, offsets, dims)))
    if not receives.all():
        kind = value.element_type
        zero = relations.constant(kind, np.zeros((), DTYPES[kind].numpy), dims)
        low = np.zeros((relations.devices, len(sizes_of(dims))), np.int64)
        high = np.where(receives[:, None], 0, np.asarray(sizes_of(dims), np.int64))
        found.append(TermPiece(relations.table(low), relations.table(high), zero))
    return relations.pieces(found, dims)


def all_gather_start(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return the operands beside what is gathered."""
    groups, (along,) = _groups(relations, instruction), instruction.attributes["dimensions"]
    result = instruction.shape.elements[1]
    found = [_gathered(relations, o, groups, along, s.dims) for o, s in zip(
        map(array_of, operands), result.members, strict=True)]
    return (operands[0] if len(operands) == 1 else tuple(operands), tuple(found) if result.is_tuple else found[0])


def collective_permute_start(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return the operand beside what is received."""
    return (operands[0], _permuted(relations, instruction, operands))


def awaited(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return the second value of what was begun: the results."""
    (begun,) = operands
    if not isinstance(begun, tuple):
        raise NotCarried("nothing was begun")
    return begun[1]


def reduction_awaited(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return what an all-reduce-start gives, which is its result."""
    if isinstance(operands[0], tuple) and not instruction.shape.is_tuple:
        raise NotCarried("a pair of operands and results")
    return operands[0]
