"""Rules that carry relations to whole values (relations.py) through operations on one device's arrays.

A rule gets the relations, the instruction and what its operands are on all devices; it gives what the result is, or
raises NotCarried. It is the `sharding` of an operation's record; elementwise operations and those whose records have an
index map of reads need none.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

from hlotool.ir import DTYPES, HloInstruction
from hlotool.ir.arrays import Array, np
from hlotool.ops.relation_lookups import within
from hlotool.ops.relation_moves import by_index_map
from hlotool.ops.relation_values import (
    Rule,
    along_dimensions,
    array_of,
    evaluated,
    label_of,
    on_whole_arrays,
    region_of,
    spread_to,
)
from hlotool.ops.relations import NotCarried, Pieces, Read, Relations, TermPiece, TermView, Value, is_near, sizes_of
from hlotool.ops.table import OPS

#: classes of devices that are told apart at most
_MOST_CLASSES = 8
#: whole numbers that all integral types of this size and more hold
_LARGEST = 1 << 62


def carried(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return what an instruction's result is, by the record of its operation. Raises NotCarried.

    Where an operand is one value on some devices and another one on others, each of those is carried by itself.
    """
    try:
        return _carried(relations, instruction, operands)
    except NotCarried:
        record = OPS.get(instruction.opcode)
        parts = _by_devices(relations, operands) if record is not None and not record.flow.exchanges else []
        if len(parts) < 2:
            raise
    return _put_together(relations, [(mask, _carried(relations, instruction, own)) for mask, own in parts])


def _by_devices(relations: Relations, operands: Sequence[Value]) -> list[tuple[Array, list[Value]]]:
    """Return classes of devices on which each operand is one view; none if regions are parts of arrays."""
    found: list[tuple[Array, list[Value]]] = [(np.ones(relations.devices, bool), [])]
    for operand in operands:
        if not isinstance(operand, Pieces):
            found = [(mask, [*own, operand]) for mask, own in found]
            continue
        sizes = np.asarray(sizes_of(operand.dims))
        split = []
        for piece in operand.pieces:
            live = np.broadcast_to(relations.live(piece), relations.devices)
            is_whole = np.broadcast_to(((piece.low.array <= 0) & (piece.high.array >= sizes)).all(axis=1), len(live))
            if not is_whole[live].all():
                return []
            split += [(mask & live, [*own, piece.view]) for mask, own in found if (mask & live).any()]
        found = split
        if len(found) > _MOST_CLASSES:
            return []
    return [(mask, [relations.where(o, mask) if isinstance(o, TermView) else o for o in own]) for mask, own in found]


def _put_together(relations: Relations, parts: Sequence[tuple[Array, Value]]) -> Value:
    """Return the value that is another one on each class of devices."""
    first = parts[0][1]
    if isinstance(first, tuple):
        return tuple(_put_together(relations, [(m, v[n]) for m, v in parts if isinstance(v, tuple)])
                     for n in range(len(first)))
    found = [TermPiece(p.low, relations.table(np.where(mask[:, None], p.high.array, 0)), p.view)
             for mask, value in parts for p in relations.pieces_of(array_of(value))]
    return relations.pieces(found, first.dims)


def _carried(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    record = OPS.get(instruction.opcode)
    if record is None:
        raise NotCarried(f"nothing is known of {instruction.opcode}")
    if record.sharding is not None:
        rule: Rule = record.sharding
        return rule(relations, instruction, operands)
    if record.flow.forwards and operands:
        return operands[0]
    if "elementwise" in record.flags:
        return elementwise(relations, instruction, operands)
    if record.index_map is not None:
        return by_index_map(relations, instruction, operands)
    return on_whole_arrays(relations, instruction, operands)


# Elementwise operations


def elementwise(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Make each element of those at the same index."""
    shape = instruction.shape
    if instruction.opcode == "divide" and (inverse := _inverse_of(relations, operands[1])) is not None:
        instruction = HloInstruction(instruction.name, "multiply", shape, instruction.operands)
        operands = (operands[0], inverse)
    if instruction.opcode == "subtract" and (negative := _negative_of(relations, operands[1])) is not None:
        instruction = HloInstruction(instruction.name, "add", shape, instruction.operands)
        operands = (operands[0], negative)
    label = label_of(relations, instruction)
    arrays = [spread_to(relations, array_of(o), shape.dims) for o in operands]

    def function(views: Sequence[TermView]) -> TermView | Pieces:
        return _of_elements(relations, instruction, label, views)

    return relations.each(function, arrays, shape.dims) if arrays else function([])


def _inverse_of(relations: Relations, value: Value) -> TermView | None:
    """Return the number by which multiplying is the same as dividing by another one: that of a power of two."""
    number = relations.number_of(value) if isinstance(value, TermView) else None
    if number is None or not isinstance(value, TermView) or not DTYPES[value.element_type].is_floating:
        return None
    wide = float(number)
    inverse = np.asarray(1 / wide).astype(number.dtype) if wide and math.isfinite(wide) else number
    is_power = math.isfinite(wide) and abs(math.frexp(wide)[0]) == 0.5 and float(inverse) == 1 / wide
    return relations.constant(value.element_type, inverse, value.dims) if is_power else None


def _negative_of(relations: Relations, value: Value) -> TermView | None:
    """Return the number of which adding is the same as subtracting another one."""
    number = relations.number_of(value) if isinstance(value, TermView) else None
    if number is None or not isinstance(value, TermView) or not DTYPES[value.element_type].is_floating:
        return None
    return relations.constant(value.element_type, np.negative(number), value.dims)


def _of_elements(relations: Relations, instruction: HloInstruction, label: Hashable, views: Sequence[TermView]
                 ) -> TermView | Pieces:
    kind, dims = instruction.shape.element_type, instruction.shape.dims
    numbers = [relations.number_of(v) for v in views]
    if all(n is not None for n in numbers) and (
            made := evaluated(instruction, [n for n in numbers if n is not None])) is not None:
        return relations.constant(kind, made, dims)
    if instruction.opcode == "select" and (numbers[0] is not None or views[1] == views[2]):
        return views[1] if numbers[0] is None or numbers[0].item() else views[2]
    if instruction.opcode == "select" and (looked := within(relations, views)) is not None:
        return looked
    if (counted := _counted(relations, instruction, views, numbers)) is not None:
        return counted
    if instruction.opcode == "multiply" and (factors := _with_one_factor(relations, instruction, views)) is not None:
        views = factors
        numbers = [relations.number_of(v) for v in views]
    return _padded(relations, instruction, label, views, numbers) or _combined(relations, instruction, label, views)


def _with_one_factor(relations: Relations, instruction: HloInstruction, views: Sequence[TermView]
                     ) -> list[TermView] | None:
    """Return a value and a number, of the product of a number and of a value times another number; None: it is none."""
    kind = instruction.shape.element_type
    value, number = views if relations.number_of(views[0]) is None else reversed(views)
    factor, apart = relations.number_of(number), relations.factor_of(("add", kind), value)
    if factor is None or apart is None or not is_near(factor):
        return None
    inner = np.asarray(relations.number_of(apart[0]))
    made = evaluated(instruction, [factor, inner])
    relations.is_reordered = True
    relations.factors.update((float(factor), float(inner)))
    return [apart[1], relations.constant(kind, made, number.dims)] if made is not None else None


def _combined(relations: Relations, instruction: HloInstruction, label: Hashable, views: Sequence[TermView]
              ) -> TermView:
    if OPS[instruction.opcode].commutes(instruction.shape.dtype):
        views = sorted(views, key=lambda v: v.term.number)
    return relations.combined(label, instruction.shape.element_type, [Read(v) for v in views], instruction.shape.dims)


def _padded(relations: Relations, instruction: HloInstruction, label: Hashable, views: Sequence[TermView],
            numbers: Sequence[Array | None]) -> TermView | None:
    """Return the padded term of a function of padded terms, all with the same window, and of numbers."""
    if any(v.term.kind != "pad" for v, n in zip(views, numbers, strict=True) if n is None):
        return None
    fills = [n if n is not None else v.term.value for v, n in zip(views, numbers, strict=True)]
    fill = evaluated(instruction, [f for f in fills if f is not None])
    regions = {region_of(v) for v, n in zip(views, numbers, strict=True) if n is None}
    if fill is None or len(regions) != 1 or None in regions:
        return None
    low, high = (np.asarray(r) for r in next(r for r in regions if r is not None))
    inner = [v if n is not None else TermView(v.term.operands[0], v.rows, v.offsets, v.dims)
             for v, n in zip(views, numbers, strict=True)]
    return relations.padded(_combined(relations, instruction, label, inner), low, high, fill)


def _counted(relations: Relations, instruction: HloInstruction, views: Sequence[TermView],
             numbers: Sequence[Array | None]) -> TermView | Pieces | None:
    """Return what an operation makes of whole numbers that grow with indices, or are each device's own."""
    if not views or any(v.term.kind != "count" or not DTYPES[v.element_type].is_integral for v in views):
        return None
    kind, dims = instruction.shape.dtype, instruction.shape.dims
    rows = [np.asarray(v.rows[0], np.int64) for v in views]
    columns = [v.offsets.array[:, 0] for v in views]
    if instruction.opcode == "compare" and (made := _compared(relations, instruction, views)) is not None:
        return made
    if not any(r.any() for r in rows) and kind.is_integral:
        types = [DTYPES[v.element_type].numpy for v in views]
        given = [np.asarray(c).astype(t) for c, t in zip(np.broadcast_arrays(*columns), types, strict=True)]
        own = evaluated(instruction, given)
        if own is not None and all((c == g.astype(np.int64)).all() for c, g in zip(columns, given, strict=False)):
            return relations.count(kind.name, (0,) * len(dims), relations.table(own.astype(np.int64)[:, None]), dims)
        return None
    grown = _grown(instruction.opcode, rows, columns)
    if grown is None or not kind.is_integral:
        return None
    row, column = grown
    steps = [int(c) * max(n - 1, 0) for c, n in zip(row, dims, strict=True)]
    least, most = (int(f(column)) + sum(g(s, 0) for s in steps) for f, g in ((np.min, min), (np.max, max)))
    limits = np.iinfo(kind.numpy) if kind.bits >= 8 else None
    if limits is None or least < limits.min or most > limits.max:
        return None
    return relations.count(kind.name, tuple(map(int, row)), relations.table(column[:, None]), dims)


def _grown(opcode: str, rows: Sequence[Array], columns: Sequence[Array]) -> tuple[Array, Array] | None:
    """Return the coefficients and offsets of sums of two, multiples of one, and the same number in another type."""
    if any(np.abs(c).max(initial=0) > 1 << 31 for c in columns):
        return None
    if opcode == "convert":
        return rows[0], columns[0]
    if opcode in ("add", "subtract"):
        sign = 1 if opcode == "add" else -1
        return rows[0] + sign * rows[1], columns[0] + sign * columns[1]
    if opcode == "multiply":
        for a, b in ((0, 1), (1, 0)):
            if not rows[b].any() and (columns[b] == columns[b][0]).all():
                return rows[a] * columns[b][0], columns[a] * columns[b][0]
    return None


def _compared(relations: Relations, instruction: HloInstruction, views: Sequence[TermView]) -> TermView | Pieces | None:
    """Return where a comparison of whole numbers holds: regions of true and of false."""
    dims, direction = instruction.shape.dims, instruction.attributes["direction"]
    row = np.asarray(views[0].rows[0], np.int64) - np.asarray(views[1].rows[0], np.int64)
    column = views[0].offsets.array[:, 0] - views[1].offsets.array[:, 0]
    used = np.flatnonzero(row)
    if len(used) > 1 or np.abs(column).max(initial=0) > _LARGEST:
        return None
    if not len(used):
        holds = {"EQ": column == 0, "NE": column != 0, "LT": column < 0, "LE": column <= 0, "GT": column > 0,
                 "GE": column >= 0}[direction]
        return _told(relations, [(np.zeros_like(column), np.where(holds, 1, 0), True),
                                 (np.zeros_like(column), np.where(holds, 0, 1), False)], dims, None)
    k, step = int(used[0]), int(row[used[0]])
    if abs(step) != 1:
        return None
    # below, at and above the index at which both are equal
    zero = -column * step
    n = np.full_like(zero, dims[k])
    signs = (-step, 0, step)
    truth = {"EQ": (0,), "NE": (-1, 1), "LT": (-1,), "LE": (-1, 0), "GT": (1,), "GE": (0, 1)}[direction]
    edges = (np.zeros_like(zero), np.clip(zero, 0, n), np.clip(zero + 1, 0, n), n)
    return _told(relations, [(edges[p], edges[p + 1], signs[p] in truth) for p in range(3)], dims, k)


def _told(relations: Relations, regions: Sequence[tuple[Array, Array, bool]], dims: Sequence[int], along: int | None
          ) -> TermView | Pieces:
    """Return an array of true and false in regions: ranges along a dimension, or all of it where there is none."""
    found = []
    for low, high, is_true in regions:
        sizes = np.asarray(sizes_of(dims), np.int64)
        lows = np.zeros((len(low), len(sizes)), np.int64)
        highs = np.broadcast_to(sizes, lows.shape).copy()
        if along is None:
            highs[:, 0] = np.where(high > low, highs[:, 0], 0)
        else:
            lows[:, along], highs[:, along] = low, high
        number = relations.constant("pred", np.bool_(is_true), dims)
        found.append(TermPiece(relations.table(lows), relations.table(highs), number))
    return relations.pieces(found, dims)


# Tuples, constants and devices


def iota(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Count along a dimension."""
    dims, along = instruction.shape.dims, instruction.attributes["iota_dimension"]
    return relations.count(instruction.shape.element_type, [int(d == along) for d in range(len(dims))],
                           relations.same((0,)), dims)


def partition_id(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Count the devices."""
    return relations.count("u32", (), relations.table(np.arange(relations.devices)[:, None]), ())


def replica_id(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """There is one replica."""
    return relations.constant("u32", np.uint32(0))


def constant(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return the number or the array that is written out."""
    if instruction.literal.has_elided or not instruction.shape.is_array:
        raise NotCarried("the elements of the constant are not in the text")
    return relations.literal(instruction.shape.element_type, instruction.literal.array)


def packed(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return the tuple of the operands."""
    return tuple(operands)


def unpacked(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return one value of a tuple."""
    (given,) = operands
    if not isinstance(given, tuple):
        raise NotCarried("no tuple")
    return given[instruction.attributes["index"]]


# Other functions of arrays


def sort(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Sort along one dimension, for each index of the others."""
    (along,) = instruction.attributes["dimensions"]
    rank = len(array_of(operands[0]).dims)
    return along_dimensions(relations, instruction, operands, [d for d in range(rank) if d != along])
