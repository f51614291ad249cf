"""Rules that carry relations to whole values (relations.py) through operations on one device's arrays.

A rule gets the relations, the instruction and what its operands are on all devices; it gives what the result is, or
raises NotCarried. It is the `sharding` of an operation's record; elementwise operations and those whose records have an
index map of reads need none.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Hashable, Iterator, Sequence
from typing import Any, TypeAlias

from hlotool.ir import DTYPES, HloComputation, HloInstruction, Literal, ReplicaGroups
from hlotool.ir.arrays import Array, np
from hlotool.ops import index_maps
from hlotool.ops.index_maps import Folded, IndexMap, Mapped, Sized, whole
from hlotool.ops.relations import NotCarried, Piece, Pieces, Read, Relations, Rows, Value, View, sizes_of
from hlotool.ops.table import OPS

#: what carries relations through an operation
Rule: TypeAlias = "Callable[[Relations, HloInstruction, Sequence[Any]], Value]"
#: whole numbers that all integral types of this size and more hold
_LARGEST = 1 << 62


def carried(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return what an instruction's result is, by the record of its operation. Raises NotCarried."""
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


def array_of(value: Value) -> View | Pieces:
    """Return a value that is an array. Raises NotCarried."""
    if isinstance(value, tuple):
        raise NotCarried("a tuple in place of an array")
    return value


def one_view(value: Value) -> View:
    """Return a value that is a view of one term. Raises NotCarried."""
    if not isinstance(value, View):
        raise NotCarried("an operand is put together of parts of several values")
    return value


def label_of(relations: Relations, instruction: HloInstruction) -> Hashable:
    """Return what tells an operation from others: its opcode, types and own attributes."""
    record = OPS[instruction.opcode]
    given = dict(record.plain(instruction)) if record.plain is not None else instruction.attributes
    named = {a.name for a in record.attributes} | ({"backend_config"} if "opaque" in record.flags else set())
    attributes = tuple(sorted((n, plain(given[n])) for n in named if given.get(n) is not None))
    return (instruction.opcode, tuple(o.shape.element_type if o.shape.is_array else "" for o in instruction.operands),
            attributes)


def plain(value: Any) -> Hashable:
    """Return an attribute's value as what it means: computations by what they compute, groups as lists."""
    if isinstance(value, HloComputation):
        return meaning(value)
    if isinstance(value, ReplicaGroups):
        return value.listed()
    if isinstance(value, Literal):
        return str(value.shape), "" if value.has_elided or not value.shape.is_array else value.array.tobytes()
    if isinstance(value, tuple | list):
        return tuple(map(plain, value))
    return value if isinstance(value, Hashable) else str(value)


def meaning(computation: HloComputation) -> Hashable:
    """Return what is the same of two computations that do the same operations in one order."""
    numbers = {i: n for n, i in enumerate(computation.instructions)}
    lines = tuple((i.opcode, i.shape.text(False), tuple(numbers[o] for o in i.operands),
                   tuple((a, plain(v)) for a, v in sorted(i.attributes.items())
                         if a not in ("metadata", "sharding", "frontend_attributes", "control-predecessors",
                                      "backend_config")))
                  for i in computation.instructions)
    return lines, numbers[computation.root]


# Elementwise operations


def elementwise(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Make each element of those at the same index."""
    shape, label = instruction.shape, label_of(relations, instruction)
    arrays = [_spread(relations, array_of(o), shape.dims) for o in operands]

    def function(views: Sequence[View]) -> View | Pieces:
        return _of_elements(relations, instruction, label, views)

    if all(isinstance(a, View) for a in arrays):
        return function([one_view(a) for a in arrays])
    return relations.each(lambda views: one_view(function(views)), arrays, shape.dims)


def _spread(relations: Relations, value: View | Pieces, dims: Sequence[int]) -> View | Pieces:
    """Return a scalar as an array, as operations take one beside arrays."""
    if value.dims == tuple(dims) or value.dims:
        return value
    return relations.moved(value, (), np.zeros((1, 0), np.int64), dims)


def _of_elements(relations: Relations, instruction: HloInstruction, label: Hashable, views: Sequence[View]
                 ) -> View | Pieces:
    kind, dims = instruction.shape.element_type, instruction.shape.dims
    numbers = [relations.number_of(v) for v in views]
    if all(n is not None for n in numbers) and (
            made := _evaluated(instruction, [n for n in numbers if n is not None])) is not None:
        return relations.constant(kind, made, dims)
    if instruction.opcode == "select" and (numbers[0] is not None or views[1] == views[2]):
        return views[1] if numbers[0] is None or numbers[0].item() else views[2]
    if (counted := _counted(relations, instruction, views, numbers)) is not None:
        return counted
    return _padded(relations, instruction, label, views, numbers) or _combined(relations, instruction, label, views)


def _combined(relations: Relations, instruction: HloInstruction, label: Hashable, views: Sequence[View]) -> View:
    if "commutative" in OPS[instruction.opcode].flags:
        views = sorted(views, key=lambda v: v.term.number)
    return relations.combined(label, instruction.shape.element_type, [Read(v) for v in views], instruction.shape.dims)


def _evaluated(instruction: HloInstruction, numbers: Sequence[Array]) -> Array | None:
    """Return what an elementwise operation gives for scalars, or for arrays of them; None: nothing of its type."""
    record = OPS[instruction.opcode]
    wanted = inspect.signature(record.evaluate).parameters
    given = {**record.attributes_of(instruction), "shape": instruction.shape.with_dims(np.shape(numbers[0]))}
    with np.errstate(all="ignore"):
        value = record.evaluate(*numbers, **{k: v for k, v in given.items() if k in wanted})
    made = np.asarray(value)
    fits = made.dtype == instruction.shape.dtype.numpy and made.shape == np.shape(numbers[0])
    return made if fits else None


def _padded(relations: Relations, instruction: HloInstruction, label: Hashable, views: Sequence[View],
            numbers: Sequence[Array | None]) -> View | None:
    """Return the padded term of a function of padded terms, all with the same window, and of numbers."""
    if any(v.term.kind != "pad" for v, n in zip(views, numbers, strict=True) if n is None):
        return None
    fills = [n if n is not None else v.term.value for v, n in zip(views, numbers, strict=True)]
    fill = _evaluated(instruction, [f for f in fills if f is not None])
    regions = {region_of(v) for v, n in zip(views, numbers, strict=True) if n is None}
    if fill is None or len(regions) != 1 or None in regions:
        return None
    low, high = (np.asarray(r) for r in next(r for r in regions if r is not None))
    inner = [v if n is not None else View(v.term.operands[0], v.rows, v.offsets, v.dims)
             for v, n in zip(views, numbers, strict=True)]
    return relations.padded(_combined(relations, instruction, label, inner), low, high, fill)


def region_of(view: View) -> tuple[tuple[tuple[int, ...], ...], tuple[tuple[int, ...], ...]] | None:
    """Return the indices of a padded view that are within its windows, device by device; None: they are no region."""
    windows: Any = view.term.key[2]
    sizes = np.asarray(sizes_of(view.dims), np.int64)
    low = np.zeros((len(view.offsets.array), len(sizes)), np.int64)
    high = np.broadcast_to(sizes, low.shape).copy()
    for t, (begin, end) in enumerate(windows):
        if (begin, end) == (None, None):
            continue
        used = [k for k, c in enumerate(view.rows[t]) if c]
        if len(used) != 1 or view.rows[t][used[0]] != 1:
            return None
        if begin is not None:
            low[:, used[0]] = np.maximum(low[:, used[0]], begin - view.offsets.array[:, t])
        if end is not None:
            high[:, used[0]] = np.minimum(high[:, used[0]], end - view.offsets.array[:, t])
    return tuple(map(tuple, low.tolist())), tuple(map(tuple, high.tolist()))


def _counted(relations: Relations, instruction: HloInstruction, views: Sequence[View], numbers: Sequence[Array | None]
             ) -> View | Pieces | None:
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
        own = _evaluated(instruction, given)
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


def _compared(relations: Relations, instruction: HloInstruction, views: Sequence[View]) -> View | Pieces | None:
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
          ) -> View | Pieces:
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
        found.append(Piece(relations.table(lows), relations.table(highs), number))
    return relations.pieces(found, dims)


# Operations with index maps


def by_index_map(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Carry by what the record's index map reads: one element of an operand, or a fold of a product of elements."""
    record = OPS[instruction.opcode]
    assert record.index_map is not None
    arrays = [array_of(o) for o in operands]
    shape = instruction.shape
    if not shape.is_array:
        return on_whole_arrays(relations, instruction, operands)
    sized = [Sized(tuple(map(whole, a.dims)), _reader(str(n))) for n, a in enumerate(arrays)]
    made = record.index_map(*sized, **_given(record.index_map, record, instruction))
    name, matrix, shifts = _affine(made.element, len(shape.dims), arrays)
    return relations.moved(arrays[int(name)], matrix, np.asarray([shifts], np.int64), shape.dims)


def _given(index_map: IndexMap, record: Any, instruction: HloInstruction) -> dict[str, Any]:
    wanted = {n for n, p in inspect.signature(index_map).parameters.items() if p.kind is p.KEYWORD_ONLY}
    given = {**record.attributes_of(instruction), "shape": instruction.shape.dims}
    return {k: v for k, v in given.items() if k in wanted}


def _reader(name: str) -> Callable[[index_maps.Places], index_maps.Element]:
    return lambda places: index_maps.Read(name, places)


def _affine(element: Callable[[index_maps.Places], Any], rank: int, arrays: Sequence[View | Pieces]
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


def dot(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Fold products along the contracted dimensions; the rest is read as the index map says."""
    record = OPS[instruction.opcode]
    views = [one_view(o) for o in operands]
    assert record.index_map is not None
    sized = [Sized(tuple(map(whole, v.dims)), _reader(str(n))) for n, v in enumerate(views)]
    made = record.index_map(*sized, **_given(record.index_map, record, instruction))
    free = len(instruction.shape.dims)
    fold = made.element((index_maps.ZERO,) * free)
    if not isinstance(fold, Folded):
        raise NotCarried("a product that is not folded")
    over = tuple(n.value or 0 for n in fold.sizes)
    dims = (*instruction.shape.dims, *over)

    def factor(which: int) -> Callable[[index_maps.Places], Any]:
        def element(index: index_maps.Places) -> Any:
            found = made.element(index[:free])
            product = found.body(index[free:]) if isinstance(found, Folded) else None
            return product.operands[which] if isinstance(product, Mapped) else None

        return element

    reads = []
    for which in (0, 1):
        _, matrix, origin = _affine(factor(which), len(dims), views)
        reads.append(Read(one_view(relations.moved(views[which], matrix, np.asarray([origin], np.int64), dims))))
    kind = instruction.shape.element_type
    label = ("product of dot", tuple(o.shape.element_type for o in instruction.operands[:2]), tuple(
        (n, instruction.attributes.get(n)) for n in ("operand_precision", "algorithm")))
    product = _product(relations, label, kind, reads, dims)
    return relations.folded(("add", kind), product, range(free, len(dims)), False)


def _product(relations: Relations, label: Hashable, kind: str, reads: Sequence[Read], dims: Sequence[int]) -> View:
    """Return the products of two views; of operands that are padded with zeros alike, a padded term."""
    views = [r.view for r in reads]
    if all(v.term.kind == "pad" and v.term.value is not None and not v.term.value for v in views):
        regions = {region_of(v) for v in views}
        if len(regions) == 1 and (region := regions.pop()) is not None:
            inner = [Read(View(v.term.operands[0], v.rows, v.offsets, v.dims)) for v in views]
            made = relations.padded(relations.combined(label, kind, inner, dims), np.asarray(region[0]),
                                    np.asarray(region[1]), np.zeros((), DTYPES[kind].numpy))
            if made is not None:
                return made
    return relations.combined(label, kind, reads, dims)


def fold_of(computation: HloComputation) -> str:
    """Return the opcode by which a computation of two scalars folds; "" where it does something else, or more."""
    root = computation.root
    while root.opcode == "copy":
        root = root.operands[0]
    record = OPS.get(root.opcode)
    is_fold = record is not None and "commutative" in record.flags and record.identity is not None and (
        sorted(o.opcode for o in root.operands) == ["parameter", "parameter"]
        and len(set(root.operands)) == 2 and len(computation.parameters()) == 2)
    return root.opcode if is_fold else ""


#: folds in which an element may stand several times
IDEMPOTENT = frozenset(("maximum", "minimum", "and", "or"))


def reduce(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Fold along dimensions, beginning with the neutral element; with another one, that is folded in, too."""
    opcode = fold_of(instruction.attributes["to_apply"])
    if not opcode or len(operands) != 2:
        return on_whole_arrays(relations, instruction, operands)
    view, over = one_view(operands[0]), sorted(instruction.attributes.get("dimensions", ()))
    kind = instruction.shape.element_type
    made = relations.folded((opcode, kind), view, over, opcode in IDEMPOTENT)
    start = one_view(operands[1])
    number, neutral = relations.number_of(start), OPS[opcode].identity(DTYPES[kind])
    if number is not None and number.item() == np.asarray(neutral).astype(number.dtype).item():
        return made
    spread = one_view(_spread(relations, start, made.dims))
    return relations.combined(("begun with", opcode), kind, [Read(made), Read(spread)], made.dims)


# Movements that are not one read


def bitcast(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return the operand, where layouts change nothing either."""
    (given,), shape = instruction.operands, instruction.shape
    if given.shape.without_layout() != shape.without_layout() or given.shape.layout != shape.layout:
        raise NotCarried("a bitcast by layouts")
    return operands[0]


def reshape(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Split dimensions, and join those that are read one behind the other."""
    value, target = array_of(operands[0]), instruction.shape.dims
    if value.dims == target:
        return value
    sizes = index_maps.factors_of_numbers(value.dims, target) if 0 not in target else None
    if sizes is None:
        raise NotCarried("the dimensions of both shapes are no products of the same sizes")
    own, others = ([[n.value or 1 for n in row] for row in side] for side in sizes)
    atoms = [n for row in own for n in row]
    matrix, at = [], 0
    for row in own:
        strides = [math.prod(row[p + 1:]) for p in range(len(row))]
        matrix.append((*(0,) * at, *strides, *(0,) * (len(atoms) - at - len(row))))
        at += len(row)
    split = relations.moved(value, matrix, np.zeros((1, len(value.dims)), np.int64), atoms)
    if all(len(row) <= 1 for row in others):
        units = [tuple(int(row != [] and d == k) for d, row in enumerate(others))
                 for k in (d for d, row in enumerate(others) if row)]
        return relations.moved(split, units, np.zeros((1, len(atoms)), np.int64), target)
    return _joined(relations, one_view(split), others, target)


def _joined(relations: Relations, view: View, groups: Sequence[Sequence[int]], target: Sequence[int]) -> View:
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


def join_two(relations: Relations, view: View, at: int) -> View:
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


def _joined_within(relations: Relations, view: View, at: int, dims: tuple[int, ...]) -> View:
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


def convolution(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Fold products of a padded image and a kernel along the kernel's spatial dimensions and the features."""
    given, rank = instruction.attributes, len(instruction.shape.dims)
    window = given["window"].dimensions if given.get("window") is not None else ()
    image, kernel, out = (getattr(given["dim_labels"], n) for n in ("lhs", "rhs", "output"))
    is_plain = len(operands) == 2 and not given.get("convolution_kind") and len(window) == rank - 2 and all(
        w.base_dilation == 1 for w in window) and given.get("feature_group_count", 1) == given.get(
        "batch_group_count", 1) == 1 and len(image) == len(kernel) == len(out) == rank and "?" not in image + kernel
    if not is_plain:
        return on_whole_arrays(relations, instruction, operands)
    lhs, rhs = one_view(operands[0]), one_view(operands[1])
    lows = [window[int(c)].pad_low if c.isdigit() else 0 for c in image]
    wide = [n + (window[int(c)].pad_low + window[int(c)].pad_high if c.isdigit() else 0)
            for n, c in zip(lhs.dims, image, strict=True)]
    zero = relations.constant(lhs.element_type, np.zeros((), DTYPES[lhs.element_type].numpy), wide)
    lhs = one_view(_placed(relations, lhs, relations.same(lows).array, zero, wide))
    # the index: that of the result, then the kernel's spatial dimensions, then the features
    places = {"out" + c: d for d, c in enumerate(out)} | {f"tap{n}": rank + n for n in range(rank - 2)}
    dims = (*instruction.shape.dims, *(rhs.dims[kernel.index(str(n))] for n in range(rank - 2)),
            rhs.dims[kernel.index("i")])

    def row(**steps: int) -> tuple[int, ...]:
        found = [0] * len(dims)
        for name, step in steps.items():
            found[places.get(name, len(dims) - 1)] = step
        return tuple(found)

    left = [row(features=1) if c == "f" else row(outb=1) if c == "b" else row(
        **{f"out{c}": window[int(c)].stride, f"tap{c}": window[int(c)].window_dilation}) for c in image]
    right = [row(features=1) if c == "i" else row(outf=1) if c == "o" else row(
        **{f"tap{c}": -1 if window[int(c)].reversal else 1}) for c in kernel]
    starts = [n - 1 if c.isdigit() and window[int(c)].reversal else 0 for n, c in zip(rhs.dims, kernel, strict=True)]
    kind = instruction.shape.element_type
    label = ("product of convolution", lhs.element_type, rhs.element_type, given.get("operand_precision"))
    reads = [Read(one_view(relations.moved(lhs, left, np.zeros((1, rank), np.int64), dims))),
             Read(one_view(relations.moved(rhs, right, np.asarray([starts], np.int64), dims)))]
    product = relations.combined(label, kind, reads, dims)
    return relations.folded(("add", kind), product, range(rank, len(dims)), False)


def gather(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Gather slices for each index vector; dimensions that slices have as a whole are parallel."""
    view, indices = one_view(operands[0]), one_view(operands[1])
    given, shape = instruction.attributes, instruction.shape
    vector = given["index_vector_dim"]
    if given.get("operand_batching_dims") or given.get("start_indices_batching_dims") or vector >= len(indices.dims):
        return on_whole_arrays(relations, instruction, operands)
    offsets = list(given.get("offset_dims", ()))
    batch = [d for d in range(shape.rank) if d not in offsets]
    kept = [d for d in range(len(view.dims)) if d not in given.get("collapsed_slice_dims", ())]
    whole_dims = {d: o for d, o in zip(kept, offsets, strict=True)
                  if d not in given["start_index_map"] and given["slice_sizes"][d] == view.dims[d]}
    parallel = sorted([*batch, *whole_dims.values()])
    own = [d for d in range(shape.rank) if d not in parallel]
    rows = [tuple(int(whole_dims.get(d) == p) for p in parallel) for d in range(len(view.dims))]
    inner = [d for d in range(len(view.dims)) if d not in whole_dims]
    sizes = [shape.dims[p] for p in parallel]
    scanned = [d for d in range(len(indices.dims)) if d != vector]
    reads = [_read_of(relations, view, rows, inner, sizes),
             _read_of(relations, indices, [tuple(int(d != vector and batch[scanned.index(d)] == p) for p in parallel)
                                           for d in range(len(indices.dims))], [vector], sizes)]
    label = ("gather", indices.element_type, tuple(view.dims[d] for d in inner), tuple(
        given["slice_sizes"][d] for d in inner), tuple(inner.index(d) for d in given["start_index_map"]),
        tuple(inner.index(d) for d in given.get("collapsed_slice_dims", ())), len(own))
    made = relations.combined(label, shape.element_type, reads, sizes, [shape.dims[d] for d in own])
    return _in_order(relations, made, [*parallel, *own])


def _read_of(relations: Relations, view: View, rows: Sequence[Sequence[int]], inner: Sequence[int],
             sizes: Sequence[int]) -> Read:
    """Return a read of an operand by rows of the parallel dimensions, with some dimensions for itself."""
    outer = np.asarray(view.rows, np.int64).reshape(len(view.rows), len(view.dims)) @ np.asarray(
        rows, np.int64).reshape(len(view.dims), len(sizes))
    own = tuple(tuple(row[d] for d in inner) for row in view.rows)
    return Read(View(view.term, tuple(tuple(map(int, r)) for r in outer), view.offsets, tuple(sizes)), own)


def pad(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Put the operand into a region, and the number everywhere else."""
    value, fill = array_of(operands[0]), array_of(operands[1])
    rows = instruction.attributes["padding"].dimensions
    if any(r.interior for r in rows):
        raise NotCarried("padding between elements")
    lows = [int(r.low) for r in rows]
    return _placed(relations, value, relations.same(lows).array, _spread(relations, fill, instruction.shape.dims),
                   instruction.shape.dims)


def _placed(relations: Relations, value: View | Pieces, starts: Array, around: View | Pieces, dims: Sequence[int]
            ) -> View | Pieces:
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


def _within(relations: Relations, value: View | Pieces, low: Array, high: Array) -> Iterator[Piece]:
    """Yield the regions of an array that are within a region of it."""
    for piece in relations.pieces_of(value):
        yield Piece(relations.table(np.maximum(low, piece.low.array)),
                    relations.table(np.minimum(high, piece.high.array)), piece.view)


def concatenate(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Put operands one behind the other."""
    (along,), dims = instruction.attributes["dimensions"], instruction.shape.dims
    units = tuple(tuple(int(a == b) for b in range(len(dims))) for a in range(len(dims)))
    found, start = list[Piece](), 0
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
    reads = [_split_read(view, along), *(Read(one_view(_spread(
        relations, one_view(operands[1 + d]), [shape.dims[r] for r in rest]))) for d in along)]
    made = relations.combined(label, shape.element_type, reads, [shape.dims[d] for d in rest],
                              [shape.dims[d] for d in along])
    return _in_order(relations, made, [*rest, *along])


def _split_read(view: View, inner: Sequence[int]) -> Read:
    """Return a read of an operand that has some of its dimensions for itself."""
    rest = [d for d in range(len(view.dims)) if d not in inner]
    return Read(View(view.term, tuple(tuple(row[d] for d in rest) for row in view.rows), view.offsets,
                     tuple(view.dims[d] for d in rest)), tuple(tuple(row[d] for d in inner) for row in view.rows))


def _in_order(relations: Relations, view: View, dims: Sequence[int]) -> View:
    """Return a view whose dimensions are those of a result, in another order, in the result's."""
    order = [list(dims).index(d) for d in range(len(dims))]
    return relations.view(view.term, tuple(tuple(row[k] for k in order) for row in view.rows), view.offsets,
                          tuple(view.dims[k] for k in order))


def dynamic_update_slice(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Put the update at each device's place; a place that is not known needs whole dimensions."""
    value, update = array_of(operands[0]), array_of(operands[1])
    starts, dims = _starts(relations, operands[2:]), instruction.shape.dims
    if any(s is None for s in starts):
        return _updated_somewhere(relations, instruction, operands, starts)
    columns = [np.clip(s, 0, n - m) for s, n, m in zip(starts, dims, update.dims, strict=True) if s is not None]
    count = max([1, *map(len, columns)])
    places = np.stack([np.broadcast_to(c, count) for c in columns], 1) if columns else np.zeros((1, 0), np.int64)
    return _placed(relations, update, places, value, dims)


def _updated_somewhere(relations: Relations, instruction: HloInstruction, operands: Sequence[Value],
                       starts: Sequence[Array | None]) -> Value:
    view, update, dims = one_view(operands[0]), one_view(operands[1]), instruction.shape.dims
    along = [d for d, s in enumerate(starts) if s is None or update.dims[d] != dims[d]]
    rest = [d for d in range(len(dims)) if d not in along]
    label = ("dynamic-update-slice", tuple((dims[d], update.dims[d]) for d in along))
    sizes = [dims[d] for d in rest]
    reads = [_split_read(view, along), _split_read(update, along), *(
        Read(one_view(_spread(relations, one_view(operands[2 + d]), sizes))) for d in along)]
    made = relations.combined(label, instruction.shape.element_type, reads, sizes, [dims[d] for d in along])
    return _in_order(relations, made, [*rest, *along])


def iota(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Count along a dimension."""
    dims, along = instruction.shape.dims, instruction.attributes["iota_dimension"]
    return relations.count(instruction.shape.element_type, [int(d == along) for d in range(len(dims))],
                           relations.same((0,)), dims)


# Tuples, constants and devices

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


def on_whole_arrays(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Return a function of whole arrays, of which nothing is known: all devices have to have the same ones."""
    return along_dimensions(relations, instruction, operands, ())


def along_dimensions(relations: Relations, instruction: HloInstruction, operands: Sequence[Value],
                     parallel: Sequence[int]) -> Value:
    """Return a function that does the same for each index of some dimensions, which operands and results share."""
    record = OPS[instruction.opcode]
    if record.flow.effect or "random" in record.flags or instruction.attributes.get("custom_call_has_side_effect"):
        raise NotCarried(f"{instruction.opcode} is not carried")
    views = [one_view(o) for o in operands]
    results = instruction.shape.elements if instruction.shape.is_tuple else (instruction.shape,)
    if not all(s.is_array for s in results):
        raise NotCarried(f"{instruction.opcode} gives no arrays")
    label, sizes = label_of(relations, instruction), [views[0].dims[d] for d in parallel] if parallel else []
    reads = []
    for view in views:
        shared = list(parallel) if view.dims else []
        spread = view if view.dims else one_view(_spread(relations, view, sizes))
        inner = [d for d in range(len(spread.dims)) if d not in shared] if view.dims else []
        reads.append(_split_read(spread, inner))
    inside = tuple(tuple(n for d, n in enumerate(v.dims) if d not in parallel) for v in views)
    found = []
    for number, shape in enumerate(results):
        own = [d for d in range(shape.rank) if d not in parallel]
        made = relations.combined((label, inside, number), shape.element_type, reads, sizes,
                                  [shape.dims[d] for d in own])
        found.append(_in_order(relations, made, [*parallel, *own]))
    return tuple(found) if instruction.shape.is_tuple else found[0]


def along_last(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Do the same for each index of all dimensions but the last."""
    return along_dimensions(relations, instruction, operands, range(len(array_of(operands[0]).dims) - 1))


def sort(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Sort along one dimension, for each index of the others."""
    (along,) = instruction.attributes["dimensions"]
    rank = len(array_of(operands[0]).dims)
    return along_dimensions(relations, instruction, operands, [d for d in range(rank) if d != along])


def reduce_window(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Fold windows; dimensions that windows take element by element are parallel."""
    window = instruction.attributes.get("window")
    own = list(window.dimensions) if window is not None else []
    parallel = [d for d, w in enumerate(own) if w.size == w.stride == w.base_dilation == 1
                and not (w.pad_low or w.pad_high)]
    return along_dimensions(relations, instruction, operands, parallel)


