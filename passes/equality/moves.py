"""Holds rules between expressions of which neither is the simpler one: operations are moved past others.

    transpose(add(x, y)) = add(transpose(x), transpose(y))        slice(slice(x)) = slice(x)
    multiply(broadcast(x), broadcast(y)) = broadcast(multiply(x, y))

A numbering has one direction for each of its rules (numbering_rules.py). These have none, so that a graph of equal
expressions (hlotool.proof) takes both sides. They keep every bit, but where `keeps` says that terms are summed in
another order.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from dataclasses import replace
from typing import TypeAlias

from hlotool.ir import ConvolutionDimensions, Padding, PaddingDimension, Shape, SliceDimension
from hlotool.ir.arrays import np
from hlotool.ops import OPS, Op, common_parts, places_of_parts
from hlotool.passes.equality.movements import inverse
from hlotool.passes.equality.numbering import Node, Numbering, NumberingRule
from hlotool.passes.equality.numbering_rules import Apply, dims_of

#: a value, and what a slice takes of it
_Cut: TypeAlias = tuple[int, tuple[SliceDimension, ...]]
_MOVES: list[NumberingRule] = []
#: parts of concatenations that are moved past other operations at most
_MOST_PARTS = 8
_ELEMENTWISE = tuple(o for o, record in OPS.items() if "elementwise" in record.flags and "random" not in record.flags)


def _move(*opcodes: str, keeps: str = "bits", keeps_nans: bool = True) -> Callable[[Apply], Apply]:
    def register(function: Apply) -> Apply:
        _MOVES.append(NumberingRule("moves", opcodes, keeps, function, keeps_nans))
        return function

    return register


def _elementwise(form: Numbering, node: Node) -> Node | None:
    """Return a node if it is an elementwise operation whose operands have the dimensions of its result, else None."""
    # Sums and products have more than two terms where their order does not count.
    is_one = node.opcode in _ELEMENTWISE and (len(node.operands) == len(OPS[node.opcode].operands) > 0 or (
        node.opcode in ("add", "multiply") and len(node.operands) > 2))
    if not is_one or len(node.shapes) != 1 or not node.shapes[0].is_array or not node.shapes[0].is_static or (
            form.is_directed(node)):
        return None
    shapes = [form.shape(n) for n in node.operands]
    return node if all(s is not None and s.dims == node.shapes[0].dims for s in shapes) else None


def _type(form: Numbering, number: int) -> str:
    return form.nodes[number].shapes[0].element_type


def _applied(node: Node, function: Node, dims: Sequence[int], operands: Sequence[int]) -> Node:
    """Return an elementwise operation on other operands, at the place of a node."""
    shape = Shape(function.shapes[0].element_type, tuple(dims))
    return replace(function, shapes=(shape,), operands=tuple(operands), instruction=node.instruction,
                   computation=node.computation)


def _own_applied(form: Numbering, node: Node, dims: Sequence[int], operands: Sequence[int]) -> int:
    return form.number(_applied(node, node, dims, operands))


def _with(node: Node, shape: Shape, operands: tuple[int, ...], **changed: Hashable) -> Node:
    """Return an operation with another shape, other operands and some other attributes."""
    return node.instead(node.opcode, shape, operands, **dict(sorted({**dict(node.attributes), **changed}.items())))


def _splat(form: Numbering, number: int, dims: Sequence[int], near: Node) -> int | None:
    """Return a constant of equal elements in other dimensions; None for other values."""
    array = form.array(number)
    if array is None or not array.size or any(array.strides):
        return None
    shape = Shape(_type(form, number), tuple(dims))
    return form.constant(np.broadcast_to(array.reshape(-1)[0], shape.dims), shape, near)


# Elementwise operations


@_move("reshape", "transpose", "broadcast", "slice", "reverse", "dynamic-slice", "gather")
def move_of_elementwise(form: Numbering, node: Node) -> Node | None:
    """Move the operands of an elementwise operation instead of its result."""
    function, shape = _elementwise(form, form.nodes[node.operands[0]]), node.shapes[0]
    if function is None or not shape.is_static or len(node.shapes) != 1 or (
            node.opcode == "gather" and len(node.operands) != 2):
        return None
    moved = [form.number(replace(node, shapes=(Shape(_type(form, n), shape.dims),),
                                 operands=(n, *node.operands[1:]))) for n in function.operands]
    return _applied(node, function, shape.dims, moved)


@_move(*_ELEMENTWISE)
def elementwise_of_reshape(form: Numbering, node: Node) -> int | None:
    """Reshape the result of an elementwise operation instead of an operand."""
    return _outwards(form, node, "reshape")


@_move(*_ELEMENTWISE)
def elementwise_of_transpose(form: Numbering, node: Node) -> int | None:
    """Transpose the result of an elementwise operation instead of an operand."""
    return _outwards(form, node, "transpose")


def _outwards(form: Numbering, node: Node, opcode: str) -> int | None:
    if _elementwise(form, node) is None:
        return None
    moved = next((m for n in node.operands if (m := form.made(n, opcode)) is not None), None)
    source = form.shape(moved.operands[0]) if moved is not None else None
    if moved is None or source is None:
        return None
    if opcode == "reshape":
        inner = [form.reshaped(n, Shape(_type(form, n), source.dims), node) for n in node.operands]
        return form.reshaped(_own_applied(form, node, source.dims, inner), node.shapes[0], node)
    order = dims_of(moved)
    inner = [form.transposed(n, inverse(order), node) for n in node.operands]
    return form.transposed(_own_applied(form, node, source.dims, inner), order, node)


@_move(*_ELEMENTWISE)
def elementwise_of_broadcasts(form: Numbering, node: Node) -> int | None:
    """Broadcast the result of an elementwise operation instead of all of its operands."""
    if _elementwise(form, node) is None:
        return None
    casts = [form.made(n, "broadcast") for n in node.operands]
    taken = sorted({d for cast in casts if cast is not None for d in dims_of(cast)})
    if not any(casts) or len(taken) == node.shapes[0].rank:
        return None
    narrow, inner = tuple(node.shapes[0].dims[d] for d in taken), []
    for number, cast in zip(node.operands, casts, strict=True):
        small = _splat(form, number, narrow, node)
        if small is None and cast is not None and list(dims_of(cast)) == sorted(dims_of(cast)):
            small = form.spread(cast.operands[0], Shape(_type(form, number), narrow),
                                tuple(taken.index(d) for d in dims_of(cast)), node)
        if small is None:
            return None
        inner.append(small)
    return form.spread(_own_applied(form, node, narrow, inner), node.shapes[0], tuple(taken), node)


@_move("concatenate")
def concatenation_of_elementwise(form: Numbering, node: Node) -> Node | None:
    """Concatenate the operands of one elementwise operation instead of its results."""
    functions, shape = [_elementwise(form, form.nodes[n]) for n in node.operands], node.shapes[0]
    first, found = functions[0], [f for f in functions if f is not None]
    if first is None or len(found) != len(functions) or not shape.is_static or any(
            (f.opcode, f.attributes, len(f.operands)) != (first.opcode, first.attributes, len(first.operands))
            or [_type(form, n) for n in f.operands] != [_type(form, n) for n in first.operands] for f in found):
        return None
    joined = [form.number(replace(node, shapes=(Shape(_type(form, parts[0]), shape.dims),), operands=parts))
              for parts in zip(*(f.operands for f in found), strict=True)]
    return _applied(node, first, shape.dims, joined)


@_move(*_ELEMENTWISE)
def elementwise_of_concatenation(form: Numbering, node: Node) -> Node | None:
    """Apply an elementwise operation to the parts of a concatenation."""
    joined = next((m for n in node.operands if (m := form.made(n, "concatenate")) is not None), None)
    if joined is None or _elementwise(form, node) is None or len(joined.operands) > _MOST_PARTS:
        return None
    (along,), at, parts, shape = dims_of(joined), 0, list[int](), node.shapes[0]
    for part in joined.operands:
        source = form.shape(part)
        if source is None:
            return None
        inner = [_cut(form, n, along, at, at + source.dims[along], node) for n in node.operands]
        parts.append(_own_applied(form, node, source.dims, inner))
        at += source.dims[along]
    return node.instead("concatenate", shape, tuple(parts), dimensions=(along,))


def _cut(form: Numbering, number: int, along: int, start: int, limit: int, near: Node) -> int:
    """Return the elements of a value from start to limit in one dimension."""
    source = form.shape(number)
    assert source is not None
    taken = tuple(SliceDimension(start, limit, 1) if d == along else SliceDimension(0, n, 1)
                  for d, n in enumerate(source.dims))
    dims = tuple(limit - start if d == along else n for d, n in enumerate(source.dims))
    return form.number(near.instead("slice", Shape(source.element_type, dims), (number,), slice=taken))


# Slices, parts and paddings


def _taken(node: Node) -> tuple[SliceDimension, ...]:
    return tuple(node.given("slice") or ())


@_move("slice")
def slice_of_slice(form: Numbering, node: Node) -> Node | None:
    """Take two slices as one."""
    inner = form.made(node.operands[0], "slice")
    if inner is None:
        return None
    rows = zip(_taken(inner), _taken(node), node.shapes[0].dims, strict=True)
    taken = tuple(SliceDimension(a.start + b.start * a.stride,
                                 a.start + (b.start + max(0, (n - 1) * b.stride)) * a.stride + min(n, 1),
                                 a.stride * b.stride) for a, b, n in rows)
    return node.instead("slice", node.shapes[0], inner.operands, slice=taken)


@_move("slice")
def slice_of_transpose(form: Numbering, node: Node) -> int | None:
    """Transpose a slice instead."""
    inner, shape = form.made(node.operands[0], "transpose"), node.shapes[0]
    if inner is None or not shape.is_static:
        return None
    back = inverse(dims_of(inner))
    taken = _taken(node)
    cut = form.number(node.instead("slice", Shape(shape.element_type, tuple(shape.dims[d] for d in back)),
                                   inner.operands, slice=tuple(taken[d] for d in back)))
    return form.transposed(cut, dims_of(inner), node)


@_move("slice")
def slice_of_broadcast(form: Numbering, node: Node) -> int | None:
    """Broadcast a slice instead."""
    inner, shape = form.made(node.operands[0], "broadcast"), node.shapes[0]
    source = form.shape(inner.operands[0]) if inner is not None else None
    if inner is None or source is None or not shape.is_static:
        return None
    dimensions, taken = dims_of(inner), _taken(node)
    small = Shape(shape.element_type, tuple(shape.dims[d] for d in dimensions))
    cut = form.number(node.instead("slice", small, inner.operands, slice=tuple(taken[d] for d in dimensions)))
    return form.spread(cut, shape, dimensions, node)


@_move("slice")
def slice_of_reverse(form: Numbering, node: Node) -> Node | None:
    """Reverse a slice instead, where it takes every element of its range."""
    inner, source = form.made(node.operands[0], "reverse"), form.shape(node.operands[0])
    taken = _taken(node)
    if inner is None or source is None or any(taken[d].stride != 1 for d in dims_of(inner)):
        return None
    turned = tuple(SliceDimension(n - t.limit, n - t.start, 1) if d in dims_of(inner) else t
                   for d, (t, n) in enumerate(zip(taken, source.dims, strict=True)))
    cut = form.number(node.instead("slice", node.shapes[0], inner.operands, slice=turned))
    return node.instead("reverse", node.shapes[0], (cut,), dimensions=dims_of(inner))


@_move("slice")
def slice_of_concatenation(form: Numbering, node: Node) -> Node | None:
    """Concatenate slices of the parts instead, where the slice takes every element of its range."""
    inner, taken = form.made(node.operands[0], "concatenate"), _taken(node)
    if inner is None or len(inner.operands) > _MOST_PARTS or taken[dims_of(inner)[0]].stride != 1:
        return None
    (along,), at, parts = dims_of(inner), 0, list[int]()
    for part in inner.operands:
        source = form.shape(part)
        if source is None:
            return None
        first, last = (min(max(n - at, 0), source.dims[along]) for n in (taken[along].start, taken[along].limit))
        if first < last:
            cut = (*taken[:along], SliceDimension(first, last, 1), *taken[along + 1:])
            dims = (*node.shapes[0].dims[:along], last - first, *node.shapes[0].dims[along + 1:])
            parts.append(form.number(node.instead("slice", Shape(source.element_type, dims), (part,), slice=cut)))
        at += source.dims[along]
    return node.instead("concatenate", node.shapes[0], tuple(parts), dimensions=(along,)) if parts else None


@_move("slice")
def slice_of_pad(form: Numbering, node: Node) -> Node | None:
    """Slice what is padded, where the slice has no padding in it."""
    inner, taken = form.made(node.operands[0], "pad"), _taken(node)
    source = form.shape(inner.operands[0]) if inner is not None else None
    padding = inner.given("padding") if inner is not None else None
    if inner is None or source is None or not isinstance(padding, Padding) or any(
            row.interior or t.start < row.low or t.limit > row.low + n
            for row, t, n in zip(padding.dimensions, taken, source.dims, strict=True)):
        return None
    moved = tuple(SliceDimension(t.start - row.low, t.limit - row.low, t.stride)
                  for row, t in zip(padding.dimensions, taken, strict=True))
    return node.instead("slice", node.shapes[0], inner.operands[:1], slice=moved)


@_move("concatenate")
def concatenation_of_slices(form: Numbering, node: Node) -> int | None:
    """Take slices of one value that follow each other as one slice."""
    (along,) = dims_of(node)
    merged, held = list[int](), list[_Cut | None]()
    for number in node.operands:
        cut = form.made(number, "slice")
        own = (cut.operands[0], _taken(cut)) if cut is not None else None
        if held and held[-1] is not None and own is not None and (both := _followed(held[-1], own, along)) is not None:
            dims = tuple(t.limit - t.start for t in both[1])
            merged[-1] = form.number(node.instead("slice", Shape(_type(form, number), dims), both[:1], slice=both[1]))
            held[-1] = both
        else:
            merged.append(number)
            held.append(own)
    return form.number(node.with_operands(*merged)) if len(merged) < len(node.operands) else None


def _followed(one: _Cut, other: _Cut, along: int) -> _Cut | None:
    """Return the slice of two that follow each other in one dimension and take the same of all others, else None."""
    rows = list(zip(one[1], other[1], strict=True))
    is_next = one[0] == other[0] and rows[along][0].limit == rows[along][1].start and all(
        a.stride == b.stride == 1 and (a == b or d == along) for d, (a, b) in enumerate(rows))
    whole = SliceDimension(rows[along][0].start, rows[along][1].limit, 1)
    return (one[0], (*one[1][:along], whole, *one[1][along + 1:])) if is_next else None


@_move("concatenate")
def concatenation_with_splat(form: Numbering, node: Node) -> Node | None:
    """Pad a value instead of concatenating it with a constant of equal elements."""
    if len(node.operands) != 2 or not node.shapes[0].is_static:
        return None
    (along,) = dims_of(node)
    for side, other in ((0, 1), (1, 0)):
        value, rest = form.shape(node.operands[side]), form.shape(node.operands[other])
        fill = _splat(form, node.operands[side], (), node)
        if fill is not None and value is not None and rest is not None:
            edge = PaddingDimension(value.dims[along] * (side == 0), value.dims[along] * (side == 1))
            rows = tuple(edge if d == along else PaddingDimension(0, 0) for d in range(rest.rank))
            return node.instead("pad", node.shapes[0], (node.operands[other], fill), padding=Padding(rows))
    return None


# Folds


def _folded_by(form: Numbering, node: Node) -> Op | None:
    """Return the operation of a reduce of one array, if elements may be folded by it in groups and in any order."""
    if len(node.operands) != 3 or len(node.shapes) != 1 or not node.shapes[0].is_static:
        return None
    folded = form.nodes[node.operands[2]]
    record, arguments = OPS.get(folded.opcode), [form.nodes[n] for n in folded.operands]
    is_plain = len(set(folded.operands)) == len(folded.operands) == 2 and all(
        a.opcode == "argument" and a.shapes == folded.shapes for a in arguments)
    return record if record is not None and is_plain and {"associative", "commutative"} <= set(record.flags) else None


@_move("reduce", keeps_nans=False)
def reduce_of_movement(form: Numbering, node: Node) -> int | None:
    """Fold what is transposed or reshaped, where the order makes no difference."""
    record = _folded_by(form, node)
    if record is None:
        return None
    is_exact = "idempotent" in record.flags or node.shapes[0].dtype.is_integral or node.shapes[0].element_type == "pred"
    return _unmoved(form, node) if is_exact else None


@_move("reduce", keeps="sums", keeps_nans=False)
def sum_of_movement(form: Numbering, node: Node) -> int | None:
    """Fold what is transposed or reshaped, in another order."""
    return _unmoved(form, node) if _folded_by(form, node) is not None else None


def _unmoved(form: Numbering, node: Node) -> int | None:
    if (moved := form.made(node.operands[0], "transpose")) is not None:
        return _fold_of_transpose(form, node, moved)
    if (moved := form.made(node.operands[0], "reshape")) is not None:
        return _fold_of_reshape(form, node, moved)
    return None


def _fold_of_transpose(form: Numbering, node: Node, moved: Node) -> int | None:
    order, source = dims_of(moved), form.shape(moved.operands[0])
    if source is None:
        return None
    folded = tuple(sorted(order[d] for d in dims_of(node)))
    left = [d for d in range(source.rank) if d not in folded]
    shape = Shape(node.shapes[0].element_type, tuple(source.dims[d] for d in left))
    made = form.number(_with(node, shape, (moved.operands[0], *node.operands[1:]), dimensions=folded))
    return form.transposed(made, tuple(left.index(d) for d in order if d not in folded), node)


def _fold_of_reshape(form: Numbering, node: Node, moved: Node) -> int | None:
    source, whole = form.shape(moved.operands[0]), form.shape(node.operands[0])
    parts = common_parts(source.dims, whole.dims) if source is not None and whole is not None and source.size else None
    if source is None or whole is None or parts is None:
        return None
    folded = {p for d, own in enumerate(places_of_parts(parts, whole.dims)) for p in own if d in dims_of(node)}
    of_source = places_of_parts(parts, source.dims)
    if any(0 < len(folded.intersection(own)) < len(own) for own in of_source):
        return None
    dimensions = tuple(d for d, own in enumerate(of_source) if own and folded.issuperset(own))
    if not dimensions:
        return None
    dims = tuple(n for d, n in enumerate(source.dims) if d not in dimensions)
    made = form.number(_with(node, Shape(node.shapes[0].element_type, dims),
                             (moved.operands[0], *node.operands[1:]), dimensions=dimensions))
    return form.reshaped(made, node.shapes[0], node)


# Lookups


@_move("gather")
def gather_in_order(form: Numbering, node: Node) -> int | None:
    """Look up blocks of all dimensions by a list of indices, and put the results in their places."""
    if node.given("operand_batching_dims") or len(node.operands) != 2 or not node.shapes[0].is_static:
        return None
    source, indices = (form.shape(n) for n in node.operands)
    starts, sizes = tuple(node.given("start_index_map") or ()), tuple(node.given("slice_sizes") or ())
    collapsed, offsets = (tuple(node.given(n) or ()) for n in ("collapsed_slice_dims", "offset_dims"))
    if source is None or indices is None or any(sizes[d] != 1 for d in collapsed):
        return None
    listed, batch = _listed(form, node.operands[1], node.given("index_vector_dim"), node)
    order = (*starts, *(d for d in range(source.rank) if d not in starts))
    operand = form.transposed(node.operands[0], order, node)
    block = tuple(sizes[d] for d in order)
    kind, count = source.element_type, math.prod(batch)
    made = form.number(_with(
        node, Shape(kind, (count, *block)), (operand, listed), offset_dims=tuple(range(1, source.rank + 1)),
        collapsed_slice_dims=(), start_index_map=tuple(range(len(starts))), index_vector_dim=1, slice_sizes=block))
    # From [count, block in the new order] to the block's own order, to the batch's dimensions, to the result's order.
    back = form.transposed(made, (0, *(1 + d for d in inverse(order))), node)
    kept = [d for d in range(source.rank) if d not in collapsed]
    wide = form.reshaped(back, Shape(kind, (*batch, *(sizes[d] for d in kept))), node)
    rank, places = len(batch) + len(kept), list[int]()
    of_batch, of_block = iter(range(len(batch))), iter(range(len(batch), rank))
    for d in range(rank):
        places.append(next(of_block) if d in offsets else next(of_batch))
    return form.transposed(wide, tuple(places), node)


def _listed(form: Numbering, number: int, vector: int, near: Node) -> tuple[int, tuple[int, ...]]:
    """Return indices as rows, and the dimensions of which the rows are a list."""
    shape = form.shape(number)
    assert shape is not None
    batch = tuple(n for d, n in enumerate(shape.dims) if d != vector)
    laid = form.transposed(number, (*(d for d in range(shape.rank) if d != vector), vector), near) \
        if vector < shape.rank else number
    width = shape.dims[vector] if vector < shape.rank else 1
    return form.reshaped(laid, Shape(shape.element_type, (math.prod(batch), width)), near), batch


@_move("scatter")
def scatter_in_order(form: Numbering, node: Node) -> int | None:
    """Write blocks of all dimensions by a list of indices."""
    if node.given("input_batching_dims") or len(node.shapes) != 1 or not node.shapes[0].is_static:
        return None
    source, indices, updates = (form.shape(n) for n in node.operands[:3])
    if source is None or indices is None or updates is None:
        return None
    starts = tuple(node.given("scatter_dims_to_operand_dims") or ())
    inserted, windows = (tuple(node.given(n) or ()) for n in ("inserted_window_dims", "update_window_dims"))
    listed, batch = _listed(form, node.operands[1], node.given("index_vector_dim"), node)
    order = (*starts, *(d for d in range(source.rank) if d not in starts))
    kept = [d for d in range(source.rank) if d not in inserted]
    if len(windows) != len(kept):
        return None
    block = [1] * source.rank
    for window, d in zip(windows, kept, strict=True):
        block[d] = updates.dims[window]
    own = form.transposed(node.operands[2], (*(d for d in range(updates.rank) if d not in windows), *windows), node)
    rows = form.reshaped(own, Shape(updates.element_type, (math.prod(batch), *block)), node)
    rows = form.transposed(rows, (0, *(1 + d for d in order)), node)
    operand = form.transposed(node.operands[0], order, node)
    made = form.number(_with(
        node, Shape(source.element_type, tuple(source.dims[d] for d in order)),
        (operand, listed, rows, *node.operands[3:]), update_window_dims=tuple(range(1, source.rank + 1)),
        inserted_window_dims=(), scatter_dims_to_operand_dims=tuple(range(len(starts))), index_vector_dim=1))
    return form.transposed(made, inverse(order), node)


# Convolutions


@_move("convolution", keeps="dots", keeps_nans=False)
def convolution_in_order(form: Numbering, node: Node) -> int | None:
    """Convolve with batch and features before the windows' dimensions."""
    labels = node.given("dim_labels")
    shapes = [form.shape(n) for n in node.operands]
    if not isinstance(labels, ConvolutionDimensions) or len(shapes) != 2 or any(s is None for s in shapes) or (
            "?" in labels.lhs + labels.rhs + labels.output):
        return None
    digits = "".join(map(str, range(labels.spatial_rank)))
    wanted = ConvolutionDimensions(f"bf{digits}", f"oi{digits}", f"bf{digits}")
    if labels is wanted:
        return None
    laid = [form.transposed(n, tuple(have.index(c) for c in want), node) for n, have, want in zip(
        node.operands, (labels.lhs, labels.rhs), (wanted.lhs, wanted.rhs), strict=True)]
    dims = tuple(node.shapes[0].dims[labels.output.index(c)] for c in wanted.output)
    made = form.number(_with(node, Shape(node.shapes[0].element_type, dims), tuple(laid), dim_labels=wanted))
    return form.transposed(made, tuple(wanted.output.index(c) for c in labels.output), node)


#: moves that keep every bit, and those that take terms in another order, too
EXACT_MOVES = tuple(m for m in _MOVES if m.keeps == "bits")
ALL_MOVES = tuple(_MOVES)
