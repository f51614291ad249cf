"""Rules that carry relations through folds: reductions, products, convolutions and windows."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.ir import DTYPES, HloComputation, HloInstruction, post_order
from hlotool.ir.arrays import Array, np
from hlotool.ops import index_maps
from hlotool.ops.called import binary_opcode
from hlotool.ops.index_maps import Folded, Mapped, Sized, whole
from hlotool.ops.relation_moves import affine, given_to, placed, reader
from hlotool.ops.relation_values import (
    along_dimensions,
    array_of,
    evaluated,
    meaning,
    on_whole_arrays,
    one_view,
    region_of,
    spread_to,
)
from hlotool.ops.relations import Kind, NotCarried, Pieces, Read, Relations, TermPiece, TermView, Value, is_neutral
from hlotool.ops.table import OPS

#: folds in which an element may stand several times
IDEMPOTENT = frozenset(("maximum", "minimum", "and", "or"))


def fold_of(computation: HloComputation) -> str:
    """Return the opcode by which a computation of two scalars folds; "" where it does something else, or more."""
    from hlotool.ops.custom_call import TARGETS

    root = computation.root
    while root.opcode == "copy" or (root.attributes.get("custom_call_target") in TARGETS and len(root.operands) == 1):
        root = root.operands[0]
    opcode = binary_opcode(computation, root)
    record = OPS.get(opcode)
    return opcode if record is not None and "commutative" in record.flags and record.identity is not None else ""


def dot(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Fold products along the contracted dimensions; the rest is read as the index map says."""
    record = OPS[instruction.opcode]
    arrays = [array_of(o) for o in operands]
    assert record.index_map is not None
    sized = [Sized(tuple(map(whole, a.dims)), reader(str(n))) for n, a in enumerate(arrays)]
    made = record.index_map(*sized, **given_to(record.index_map, record, instruction))
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
        _, matrix, origin = affine(factor(which), len(dims), arrays)
        reads.append(relations.moved(arrays[which], matrix, np.asarray([origin], np.int64), dims))
    kind = instruction.shape.element_type
    label = ("product of dot", tuple(sorted(o.shape.element_type for o in instruction.operands[:2])), tuple(
        (n, instruction.attributes.get(n)) for n in ("operand_precision", "algorithm")))
    product = relations.each(lambda v: _product(relations, label, kind, [Read(x) for x in v], dims), reads, dims)
    return _folded(relations, ("add", kind), product, range(free, len(dims)), False)


def _folded(relations: Relations, kind: Kind, value: TermView | Pieces, over: Sequence[int], is_idempotent: bool
            ) -> TermView | Pieces:
    """Return the fold of an array over some dimensions, along which its regions have to be whole."""
    if isinstance(value, TermView):
        return relations.folded(kind, value, over, is_idempotent)
    kept = [d for d in range(len(value.dims)) if d not in over]
    found = []
    for piece in value.pieces:
        live = relations.live(piece)
        low, high = (np.broadcast_to(b.array, (len(live), b.array.shape[1])) for b in (piece.low, piece.high))
        if any((low[live, d] > 0).any() or (high[live, d] < value.dims[d]).any() for d in over):
            raise NotCarried("parts of several values are folded into one")
        low, high = low[:, kept], high[:, kept]
        if not kept:
            low, high = np.zeros((len(live), 1), np.int64), live[:, None].astype(np.int64)
        else:
            high = np.where(live[:, None], high, 0)
        found.append(TermPiece(relations.table(low), relations.table(high),
                               relations.folded(kind, piece.view, over, is_idempotent)))
    return relations.pieces(found, [value.dims[d] for d in kept])


def _product(relations: Relations, label: Hashable, kind: str, reads: Sequence[Read], dims: Sequence[int]) -> TermView:
    """Return the products of two views; of operands that are padded with zeros alike, a padded term."""
    reads = sorted(reads, key=lambda r: r.view.term.number)
    views = [r.view for r in reads]
    if all(v.term.kind == "pad" and v.term.value is not None and not v.term.value for v in views):
        regions = {region_of(v) for v in views}
        if len(regions) == 1 and (region := regions.pop()) is not None:
            inner = [Read(TermView(v.term.operands[0], v.rows, v.offsets, v.dims)) for v in views]
            made = relations.padded(relations.combined(label, kind, inner, dims), np.asarray(region[0]),
                                    np.asarray(region[1]), np.zeros((), DTYPES[kind].numpy))
            if made is not None:
                return made
    return relations.combined(label, kind, reads, dims)


def reduce(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Fold along dimensions, beginning with the neutral element; with another one, that is folded in, too."""
    opcode, over = fold_of(instruction.attributes["to_apply"]), sorted(instruction.attributes.get("dimensions", ()))
    if len(operands) > 2:
        return _chosen(relations, instruction, operands, over)
    if not opcode:
        return on_whole_arrays(relations, instruction, operands)
    kind = instruction.shape.element_type
    made = _folded(relations, (opcode, kind), array_of(operands[0]), over, opcode in IDEMPOTENT)
    start = one_view(operands[1])
    number, neutral = relations.number_of(start), OPS[opcode].identity(DTYPES[kind])
    if number is not None and number.item() == np.asarray(neutral).astype(number.dtype).item():
        return made
    made = one_view(made)
    begun = one_view(spread_to(relations, start, made.dims))
    return relations.combined(("begun with", opcode), kind, [Read(made), Read(begun)], made.dims)


# Folds of several arrays at once that choose among elements: the largest one, and where it is


def _chosen(relations: Relations, instruction: HloInstruction, operands: Sequence[Value], over: Sequence[int]
            ) -> Value:
    """Choose elements of several arrays along dimensions; of chosen ones, where they are in the order of their places.

    A choice is folded as values are: it is associative, and beginning anew for each part changes nothing.
    """
    count, choice = len(operands) // 2, instruction.attributes["to_apply"]
    views = [one_view(o) for o in operands[:count]]
    starts = [relations.number_of(one_view(o)) for o in operands[count:]]
    dims = views[0].dims
    if any(s is None for s in starts) or len(over) != 1 or dims[over[0]] == 1 or not is_choice(
            choice, [s for s in starts if s is not None]):
        return on_whole_arrays(relations, instruction, operands)
    kind = (("choice", meaning(choice), tuple(s.tobytes() for s in starts if s is not None)), views[0].element_type)
    (k,) = over
    base = _together(relations, views)
    steps = [row[k] for row in base.view.rows]
    unit, reach = (1,), 1
    if base.is_chosen:
        patterns = dict(base.view.term.key[3])
        if base.view.term.key[1] != kind or len(patterns) != 1:
            return on_whole_arrays(relations, instruction, operands)
        ((unit, positions),) = patterns.items()
        reach = positions[-1][1]
    scale = max(map(abs, steps), default=0) if not base.is_chosen else next(
        (s // u for s, u in zip(steps, unit, strict=True) if u), 0)
    ordered = all(s >= 0 for s in steps) if not base.is_chosen else scale >= reach and all(
        s == scale * u for s, u in zip(steps, unit, strict=True))
    if not ordered or not scale:
        return on_whole_arrays(relations, instruction, operands)
    made = relations.folded(kind, base.view, over, True)
    relations.is_reordered |= base.is_chosen
    return tuple(relations.combined(("part", n), shape.element_type, [Read(made)], made.dims)
                 for n, shape in enumerate(instruction.shape.elements))


@dataclass(frozen=True)
class _Together:
    """Several arrays as one whose elements are tuples; True if those were chosen already."""

    view: TermView
    is_chosen: bool


def _together(relations: Relations, views: Sequence[TermView]) -> _Together:
    parts = [relations.reads_of(v)[0].view if v.term.key[:2] == ("of", ("part", n)) else None
             for n, v in enumerate(views)]
    if parts[0] is not None and all(p == parts[0] for p in parts):
        return _Together(parts[0], True)
    made = relations.combined(("together",), views[0].element_type, list(map(Read, views)), views[0].dims)
    return _Together(made, False)


def is_choice(computation: HloComputation, starts: Sequence[Array]) -> bool:
    """Return True if a computation of two tuples is associative, whenever it begins anew.

    It may only compare, choose and combine truth values: then it depends on the order of elements alone, and all orders
    of three elements and the first ones are tried.
    """
    inner = [i for i in computation.instructions if i.opcode != "parameter"]
    if computation.root.opcode != "tuple" or any(i.opcode not in _CHOOSING or not all(
            s.dims == () for _, s in i.shape.leaves()) for i in inner):
        return False
    if any(s.dtype.kind not in "biuf" for s in starts):
        return False
    grid = [g.reshape(-1) for g in np.meshgrid(*map(_ranked, starts), indexing="ij")]
    size = len(grid[0])
    if size ** 3 > _MOST_TRIALS:
        return False
    a, b, c = ([g[at] for g in grid] for at in np.indices((size, size, size)).reshape(3, -1))
    first = [np.full(size ** 3, s) for s in starts]

    def call(x: Sequence[Array], y: Sequence[Array]) -> list[Array]:
        values: dict[HloInstruction, Any] = {p: ([*x, *y])[p.parameter_number] for p in computation.parameters()}
        for i in post_order(computation):
            if i.opcode == "tuple":
                continue
            if i.opcode != "parameter":
                values[i] = evaluated(i, [values[o] for o in i.operands])
        return [values[o] for o in computation.root.operands]

    def same(x: Sequence[Array], y: Sequence[Array]) -> bool:
        return all(np.array_equal(p, q, equal_nan=p.dtype.kind == "f") for p, q in zip(x, y, strict=True))

    begun = call(first, a)
    return same(call(call(a, b), c), call(a, call(b, c))) and same(call(begun, call(first, b)), call(begun, b))


#: operations that depend on the order of elements alone
_CHOOSING = frozenset(("compare", "select", "and", "or", "not", "tuple"))


#: triples of elements that are tried at most
_MOST_TRIALS = 1 << 16


def _ranked(start: Array) -> Array:
    """Return a few elements of all ranks: that one, ones below and above it, and what is no number."""
    kind = start.dtype
    if kind.kind == "b":
        return np.array([False, True])
    near = [np.asarray(n).astype(kind) for n in ((0, 1, 2) if kind.kind == "u" else (-1, 0, 1))]
    others = [np.asarray(np.nan, kind)] if kind.kind == "f" else []
    return np.unique(np.stack([start.reshape(()), *near, *others]))


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
    lhs = one_view(placed(relations, lhs, relations.same(lows).array, zero, wide))
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


def reduce_window(relations: Relations, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Fold windows of a padded array; where that is no one operation, what windows take one by one is parallel."""
    window, opcode = instruction.attributes.get("window"), fold_of(instruction.attributes["to_apply"])
    own = list(window.dimensions) if window is not None else []
    if len(operands) == 2 and opcode and own and all(w.base_dilation == 1 and not w.reversal for w in own):
        start, kind = relations.number_of(one_view(operands[1])), instruction.shape.element_type
        if start is not None and is_neutral((opcode, kind), start):
            return _of_windows(relations, instruction, array_of(operands[0]), (opcode, kind), start)
    parallel = [d for d, w in enumerate(own) if w.size == w.stride == w.base_dilation == 1
                and not (w.pad_low or w.pad_high)]
    return along_dimensions(relations, instruction, operands, parallel)


def _of_windows(relations: Relations, instruction: HloInstruction, value: TermView | Pieces, kind: Kind, start: Array
                ) -> Value:
    own, rank = instruction.attributes["window"].dimensions, len(value.dims)
    wide = [n + w.pad_low + w.pad_high for n, w in zip(value.dims, own, strict=True)]
    lows = relations.same([w.pad_low for w in own]).array
    padded = placed(relations, value, lows, relations.constant(value.element_type, start, wide), wide)
    dims = (*instruction.shape.dims, *(w.size for w in own))
    rows = [tuple(w.stride * (k == d) + w.window_dilation * (k == rank + d) for k in range(2 * rank))
            for d, w in enumerate(own)]
    read = relations.moved(padded, rows, np.zeros((1, rank), np.int64), dims)
    return _folded(relations, kind, read, range(rank, 2 * rank), kind[0] in IDEMPOTENT)
