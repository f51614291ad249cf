"""Holds the rules by which frontends' converters and compilers simplify, as rules of a numbering.

    c = f32[] constant(2)                             c = f32[4] constant({2,2,2,2})
    b = f32[4] broadcast(c), dimensions={}            y = f32[4] multiply(c, x)
    y = f32[4] multiply(x, b)

have one expression under EXACT. Each of its rules keeps every bit (payloads of NaN apart), whatever the arguments are;
SIMPLIFICATIONS names them. CONVERTED adds rules that keep all but the sign of a zero or a last digit (CONVERSIONS),
ALONG_PASSES rules of compilers for processors: a dot's products are summed in no promised order. REASSOCIATING lets
sums and products of more than two terms be taken in any order, too.

Rules of an operation are tried in the order of the file, from the top after each that applies.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable
from typing import TypeAlias

from hlotool.ir import DType, HloModule, Padding, Shape, SliceDimension
from hlotool.ir.arrays import Array, np
from hlotool.ops import MIRRORED, OPS, Op, common_parts, places_of_parts
from hlotool.passes.equality.movements import merged
from hlotool.passes.equality.numbering import Node, NotComparable, Numbering, NumberingRule
from hlotool.passes.equality.structure import Aspects, module_attributes

#: differences that rules of EXACT remove, by name
SIMPLIFICATIONS = {
    "operand-order": "the order of the operands of a commutative operation, and of a comparison and its direction",
    "movements": "reshapes, broadcasts and transposes that follow each other, or insert and drop dimensions of size 1; "
                 "slices of parts of a concatenation, and its empty parts",
    "iotas": "whether an iota of several dimensions is one, or a broadcast of one",
    "folded": "whether operations on constants, and what constants decide, are carried out, or their result is written "
              "down",
    "neutral": "operations that leave an operand as it is: conversions to its type, times one, less zero, and with all "
               "bits set, whole slices, reversals of nothing, padding by nothing, folding one element, parts of a "
               "complex number that was put together of them",
    "loop-order": "the order of what a loop carries",
    "topk": "whether a topk says that it is stable: StableHLO's is, and so is what every executor makes of HLO's",
}

#: differences that frontends' converters make and that change bits, by name
CONVERSIONS = {
    "zero-sums": "adding zero to floats, which turns -0 into 0 and leaves all else as it is",
    "factors": "the order of complex factors, on which the last digit of a product may depend",
    "rounded": "logarithms, powers and the like of constants: whoever carries them out rounds their last digits",
}

#: header attributes that frontends' converters leave out or put in: layouts of parameters and results
_HEADERS = frozenset({"entry_computation_layout"})
#: elements of a constant above which nothing is computed with it
_LARGEST = 4096
#: units of rounding by which constants that are computed may differ
_SLACK = 4


#: all rules, in the order of the file
_RULES: list[NumberingRule] = []
#: a rule's function: the node or the number that takes a node's place; None where the rule does not apply
Apply: TypeAlias = Callable[[Numbering, Node], "Node | int | None"]


def rule(name: str, *opcodes: str, flag: str = "", keeps: str = "bits", keeps_nans: bool = True
         ) -> Callable[[Apply], Apply]:
    """Make a function a rule of operations, those with a flag of the record included."""
    def register(function: Apply) -> Apply:
        flagged = [opcode for opcode, record in OPS.items() if flag in record.flags]
        _RULES.append(NumberingRule(name, (*opcodes, *flagged), keeps, function, keeps_nans))
        return function

    return register


def _rules_that_keep(*kept: str) -> tuple[NumberingRule, ...]:
    return tuple(r for r in _RULES if r.keeps in kept)


def _is_splat(array: Array) -> bool:
    """Return True if an array has elements, and takes the memory of one for all of them."""
    return bool(array.size) and not any(array.strides)


def dims_of(node: Node) -> tuple[int, ...]:
    """Return the attribute `dimensions` of a node; none where it has no such."""
    return tuple(node.given("dimensions") or ())


def _arrays(form: Numbering, node: Node) -> list[Array] | None:
    """Return the arrays of an elementwise operation's operands, if they are constants to compute with."""
    arrays = [form.array(n) for n in node.operands]
    shape = node.shapes[0] if len(node.shapes) == 1 else None
    if shape is None or not shape.is_array or not shape.is_static or shape.size > _LARGEST:
        return None
    # Parts of complex numbers stay what they are: each way to compute a function of them has its own signs of zeros.
    known = [a for a in arrays if a is not None and (a.dtype.kind == "c") == shape.dtype.is_complex]
    return known if known and len(known) == len(arrays) == len(OPS[node.opcode].operands) else None


def _computed(form: Numbering, node: Node, arrays: list[Array]) -> int | None:
    """Return the constant that an elementwise operation gives on constants."""
    evaluate, shape = OPS[node.opcode].evaluate, node.shapes[0]
    given = {**dict(node.attributes), "shape": shape}
    wanted = inspect.signature(evaluate).parameters
    with np.errstate(all="ignore"):
        value = evaluate(*arrays, **{k: v for k, v in given.items() if k in wanted})
    is_array = isinstance(value, np.ndarray | np.generic)
    if not is_array or value.dtype != shape.dtype.numpy or np.shape(value) != shape.dims:
        return None
    return form.constant(np.asarray(value), shape, node)


# Movements


@rule("movements", "reshape")
def reshape_of_reshape(form: Numbering, node: Node) -> Node | None:
    """Leave out the first of two reshapes."""
    inner = form.made(node.operands[0], "reshape")
    is_static = form.shape(node.operands[0]) is not None and node.shapes[0].is_static
    return node.with_operands(*inner.operands) if inner is not None and is_static else None


@rule("", "reshape")
def reshape_to_the_same_shape(form: Numbering, node: Node) -> int | None:
    """Leave out a reshape that changes nothing."""
    return node.operands[0] if form.shape(node.operands[0]) is node.shapes[0] else None


@rule("movements", "reshape")
def reshape_of_constant(form: Numbering, node: Node) -> int | None:
    """Write a constant in the new shape."""
    array = form.array(node.operands[0])
    is_cheap = array is not None and (array.size <= _LARGEST or _is_splat(array)) and node.shapes[0].is_static
    return form.constant(array, node.shapes[0], node) if array is not None and is_cheap else None


@rule("movements", "transpose")
def transpose_of_transpose(form: Numbering, node: Node) -> int | None:
    """Take two orders as one, also where a reshape is between them that cuts both alike."""
    source, order = form.shape(node.operands[0]), dims_of(node)
    outer = form.made(node.operands[0], "reshape")
    first = form.made(outer.operands[0] if outer is not None else node.operands[0], "transpose")
    shape = form.shape(first.operands[0]) if first is not None else None
    if first is None or shape is None or source is None:
        return None
    before = dims_of(first)
    middle = tuple(shape.dims[d] for d in before)
    parts = common_parts(middle, source.dims)
    if parts is None:
        return None
    # Both transposes on the common parts: those of the inner result, and those of the outer operand.
    of_middle, of_source = places_of_parts(parts, middle), places_of_parts(parts, source.dims)
    stored = [part for d in range(shape.rank) for part in of_middle[before.index(d)]]
    place = {part: n for n, part in enumerate(stored)}
    laid = Shape(shape.element_type, tuple(parts[p] for p in stored))
    inner = form.reshaped(first.operands[0], laid, node)
    moved = form.transposed(inner, tuple(place[part] for d in order for part in of_source[d]), node)
    return form.reshaped(moved, node.shapes[0], node)


@rule("", "transpose")
def transpose_of_few_parts(form: Numbering, node: Node) -> int | None:
    """Leave out dimensions of size 1, and take those that stay neighbours as one."""
    source = form.shape(node.operands[0])
    if source is None:
        return None
    sizes, order = merged(source.dims, dims_of(node)) if source.size else ((), ())
    if len(sizes) < 2:
        return form.reshaped(node.operands[0], node.shapes[0], node)
    if sizes == source.dims:
        return None
    inner = form.reshaped(node.operands[0], Shape(source.element_type, sizes), node)
    return form.reshaped(form.transposed(inner, order, node), node.shapes[0], node)


@rule("movements", "transpose")
def transpose_of_broadcast(form: Numbering, node: Node) -> int | None:
    """Broadcast a transpose instead."""
    source, outer = form.shape(node.operands[0]), form.made(node.operands[0], "reshape")
    cast = form.made(outer.operands[0] if outer is not None else node.operands[0], "broadcast")
    operand = form.shape(cast.operands[0]) if cast is not None else None
    if source is None or cast is None or operand is None:
        return None
    parts = common_parts(cast.shapes[0].dims, source.dims)
    if parts is None:
        return None
    of_cast, of_source = places_of_parts(parts, cast.shapes[0].dims), places_of_parts(parts, source.dims)
    kept = [part for d in dims_of(cast) for part in of_cast[d]]
    after = [part for d in dims_of(node) for part in of_source[d]]
    wanted = [part for part in after if part in set(kept)]
    laid = form.reshaped(cast.operands[0], Shape(operand.element_type, tuple(parts[p] for p in kept)), node)
    inner = form.transposed(laid, tuple(kept.index(p) for p in wanted), node)
    target = Shape(operand.element_type, tuple(parts[p] for p in after))
    return form.reshaped(form.spread(inner, target, tuple(after.index(p) for p in wanted), node), node.shapes[0], node)


@rule("folded", "transpose")
def transpose_of_constant(form: Numbering, node: Node) -> int | None:
    """Write a constant in the new order."""
    array = form.array(node.operands[0])
    if array is None or not (array.size <= _LARGEST or _is_splat(array)):
        return None
    return form.constant(array.transpose(dims_of(node)), node.shapes[0], node)


@rule("movements", "broadcast")
def broadcast_with_ones(form: Numbering, node: Node) -> int | None:
    """Broadcast without dimensions of size 1, which reshapes drop and insert."""
    source, shape, dimensions = form.shape(node.operands[0]), node.shapes[0], dims_of(node)
    if source is None or not shape.is_static or 1 not in (*source.dims, *shape.dims) or _is_unordered(dimensions):
        return None
    kept = [d for d, n in enumerate(shape.dims) if n != 1]
    places = tuple(kept.index(d) for n, d in zip(source.dims, dimensions, strict=True) if n != 1)
    narrow = Shape(source.element_type, tuple(n for n in source.dims if n != 1))
    made = form.spread(form.reshaped(node.operands[0], narrow, node),
                       Shape(shape.element_type, tuple(shape.dims[d] for d in kept)), places, node)
    return form.reshaped(made, shape, node)


def _is_unordered(dimensions: tuple[int, ...]) -> bool:
    return list(dimensions) != sorted(dimensions)


@rule("", "broadcast")
def broadcast_to_the_same_shape(form: Numbering, node: Node) -> int | None:
    """Leave out a broadcast that changes nothing."""
    is_same = form.shape(node.operands[0]) is node.shapes[0] and not _is_unordered(dims_of(node))
    return node.operands[0] if is_same else None


@rule("", "broadcast")
def broadcast_of_constant(form: Numbering, node: Node) -> int | None:
    """Write out what a constant is broadcast to."""
    array, shape, dimensions = form.array(node.operands[0]), node.shapes[0], dims_of(node)
    if array is None or not shape.is_static or _is_unordered(dimensions) or (
            array.size != 1 and shape.size > _LARGEST):
        return None
    index = tuple(slice(None) if d in dimensions else None for d in range(shape.rank))
    return form.constant(np.broadcast_to(array[index], shape.dims), shape, node)


@rule("movements", "broadcast")
def broadcast_of_broadcast(form: Numbering, node: Node) -> Node | None:
    """Take two broadcasts as one."""
    inner, dimensions = form.made(node.operands[0], "broadcast"), dims_of(node)
    if inner is None or _is_unordered(dimensions) or _is_unordered(dims_of(inner)):
        return None
    return node.instead("broadcast", node.shapes[0], inner.operands,
                        dimensions=tuple(dimensions[d] for d in dims_of(inner)))


@rule("iotas", "iota")
def iota_of_several_dimensions(form: Numbering, node: Node) -> int | None:
    """Broadcast an iota of one dimension."""
    shape = node.shapes[0]
    if shape.rank < 2 or not shape.is_static:
        return None
    dimension = node.given("iota_dimension", 0)
    row = form.number(node.instead("iota", Shape(shape.element_type, (shape.dims[dimension],))))
    return form.spread(row, shape, (dimension,), node)


@rule("folded", "iota")
def iota_of_one_element(form: Numbering, node: Node) -> int | None:
    """Write a zero."""
    shape = node.shapes[0]
    if shape.dims != (1,) or shape.dtype.numpy is None:
        return None
    return form.constant(np.zeros(shape.dims, shape.dtype.numpy), shape, node)


@rule("", "iota")
def iota_of_one_dimension(form: Numbering, node: Node) -> Node | None:
    """Leave out the attribute that names the only dimension."""
    return node.instead("iota", node.shapes[0]) if node.attributes and node.shapes[0].rank == 1 else None


@rule("movements", "slice")
def slice_of_part(form: Numbering, node: Node) -> Node | None:
    """Slice the part of a concatenation that holds the slice."""
    whole, taken = form.made(node.operands[0], "concatenate"), node.given("slice") or ()
    if whole is None:
        return None
    dimension, before = dims_of(whole)[0], 0
    at = taken[dimension]
    for part in whole.operands:
        shape = form.shape(part)
        if shape is None:
            return None
        after = before + shape.dims[dimension]
        if before <= at.start and at.limit <= after:
            moved = dataclasses.replace(at, start=at.start - before, limit=at.limit - before)
            return node.instead("slice", node.shapes[0], (part,),
                                slice=(*taken[:dimension], moved, *taken[dimension + 1:]))
        before = after
    return None


@rule("neutral", "slice", "convert")
def operation_to_the_same_shape(form: Numbering, node: Node) -> int | None:
    """Leave out a slice of everything, and a conversion to the type that there is."""
    return node.operands[0] if form.shape(node.operands[0]) is node.shapes[0] else None


@rule("folded", "slice")
def slice_of_constant(form: Numbering, node: Node) -> int | None:
    """Write a constant's slice."""
    array, shape = form.array(node.operands[0]), node.shapes[0]
    if array is None or array.size > _LARGEST or not shape.is_static or not shape.size:
        return None
    cut = tuple(slice(t.start, t.limit, t.stride) for t in node.given("slice") or ())
    return form.constant(array[cut], shape, node)


@rule("folded", "dynamic-slice")
def dynamic_slice_at_constants(form: Numbering, node: Node) -> Node | None:
    """Slice at known starts, clamped as they are when the operation runs."""
    source, shape = form.shape(node.operands[0]), node.shapes[0]
    starts = [form.array(n) for n in node.operands[1:]]
    known = [int(s) for s in starts if s is not None and s.ndim == 0]
    if source is None or not shape.is_static or len(starts) != source.rank or len(known) != source.rank:
        return None
    begins = [min(max(s, 0), n - size) for s, n, size in zip(known, source.dims, shape.dims, strict=True)]
    taken = tuple(SliceDimension(s, s + size, 1) for s, size in zip(begins, shape.dims, strict=True))
    return node.instead("slice", shape, node.operands[:1], slice=taken)


@rule("neutral", "pad")
def pad_by_nothing(form: Numbering, node: Node) -> int | None:
    """Leave out padding by nothing."""
    padding = node.given("padding")
    rows = padding.dimensions if isinstance(padding, Padding) else ()
    is_none = all(not (row.low or row.high or row.interior) for row in rows)
    return node.operands[0] if is_none and form.shape(node.operands[0]) is node.shapes[0] else None


@rule("folded", "reverse")
def reverse_of_constant(form: Numbering, node: Node) -> int | None:
    """Write a constant in the reversed order."""
    array = form.array(node.operands[0])
    if array is None or array.size > _LARGEST:
        return None
    return form.constant(np.flip(array, dims_of(node)), node.shapes[0], node)


@rule("neutral", "reverse")
def reverse_of_nothing(form: Numbering, node: Node) -> int | None:
    """Leave out a reversal of dimensions of size 1."""
    shape = node.shapes[0]
    return node.operands[0] if shape.is_static and all(shape.dims[d] <= 1 for d in dims_of(node)) else None


@rule("movements", "concatenate")
def concatenation_of_concatenations(form: Numbering, node: Node) -> Node | int | None:
    """Concatenate all parts that are not empty in one operation."""
    flat = list[int]()
    for operand in node.operands:
        shape, inner = form.shape(operand), form.made(operand, "concatenate")
        if shape is None or shape.size:
            flat.extend(inner.operands if inner is not None and dims_of(inner) == dims_of(node) else (operand,))
    if len(flat) < 2:  # without elements, parts may have other dimensions than the whole
        return flat[0] if flat else form.reshaped(node.operands[0], node.shapes[0], node)
    return node.with_operands(*flat) if tuple(flat) != node.operands else None


@rule("folded", "concatenate")
def concatenation_of_constants(form: Numbering, node: Node) -> int | None:
    """Write a concatenation of constants."""
    arrays, shape = [form.array(n) for n in node.operands], node.shapes[0]
    parts = [a for a in arrays if a is not None]
    if not parts or len(parts) != len(arrays) or not shape.is_static or shape.size > _LARGEST:
        return None
    return form.constant(np.concatenate(parts, dims_of(node)[0]), shape, node)


# Choices, folds and parts


@rule("folded", "select")
def select_that_is_decided(form: Numbering, node: Node) -> int | None:
    """Take one of both operands where the predicate is constant, or both are one."""
    predicate, on_true, on_false = node.operands
    chosen = form.array(predicate)
    if on_true == on_false:
        return on_true
    if chosen is None or not _is_splat(chosen):
        return None
    return on_true if chosen.reshape(-1)[0] else on_false


@rule("movements", "select")
def select_by_scalar(form: Numbering, node: Node) -> Node | None:
    """Broadcast a scalar predicate."""
    shape, predicate = node.shapes[0], form.shape(node.operands[0])
    if predicate is None or not predicate.is_scalar or not shape.rank or not shape.is_static:
        return None
    return node.with_operands(form.spread(node.operands[0], Shape("pred", shape.dims), (), node), *node.operands[1:])


@rule("folded", "conditional")
def conditional_that_is_decided(form: Numbering, node: Node) -> int | None:
    """Take the branch that a known index chooses, or what all branches give alike."""
    branches = node.operands[1:]
    if len(node.shapes) != 1 or len(branches) != node.given("branches"):
        return None
    if len(set(branches)) == 1:
        return branches[0]
    index = form.array(node.operands[0])
    if index is None:
        return None
    if index.dtype == np.bool_:
        return branches[not index]
    return branches[int(index)] if 0 <= index < len(branches) else branches[-1]


def _fold_of_one(form: Numbering, node: Node) -> tuple[str, Shape] | None:
    """Return the operation by which a reduce folds one element into its start, and the element's shape."""
    source = form.shape(node.operands[0])
    if len(node.operands) != 3 or source is None or any(source.dims[d] != 1 for d in dims_of(node)):
        return None
    folded = form.nodes[node.operands[2]]
    arguments = [form.nodes[n] for n in folded.operands]
    # Sums in any order may have three terms, of which two are one argument.
    is_plain = len(set(folded.operands)) == len(folded.operands) == 2 and all(
        a.opcode == "argument" and a.shapes[0].element_type == source.element_type for a in arguments)
    record = OPS.get(folded.opcode)
    is_plain = is_plain and record is not None and "commutative" in record.flags
    return (folded.opcode, source) if is_plain else None


@rule("neutral", "reduce", keeps_nans=False)
def reduce_of_one_element(form: Numbering, node: Node) -> int | None:
    """Take the element where it is folded into the neutral one."""
    found = _fold_of_one(form, node)
    start = form.array(node.operands[1]) if found is not None else None
    if found is None or start is None or not _is_neutral(OPS[found[0]], found[1].dtype, start):
        return None
    return form.reshaped(node.operands[0], node.shapes[0], node)


@rule("topk", "topk")
def topk_is_stable(form: Numbering, node: Node) -> Node | None:
    """Leave out that a topk is stable: every one is."""
    kept = tuple((k, v) for k, v in node.attributes if k != "is_stable")
    return dataclasses.replace(node, attributes=kept) if kept != node.attributes else None


@rule("neutral", "real", "imag")
def part_of_complex(form: Numbering, node: Node) -> int | None:
    """Take the real or imaginary part of which a complex number was made."""
    made = form.made(node.operands[0], "complex")
    return made.operands[node.opcode == "imag"] if made is not None else None


# Elementwise operations


@rule("rounded", flag="elementwise", keeps="values", keeps_nans=False)
def elementwise_of_rounded_constants(form: Numbering, node: Node) -> int | None:
    """Take the constant met before that differs by roundings from what the operation gives."""
    if not _is_rounded(node) and form.rounded.isdisjoint(node.operands):
        return None
    arrays = _arrays(form, node)
    number = _computed(form, node, arrays) if arrays is not None else None
    if number is None:
        return None
    form.rounded.add(number)
    value = form.array(number)
    if value is None or value.dtype.kind not in "fc" or value.dtype.itemsize < 4 or not np.isfinite(value).all():
        return number
    slack = _SLACK * np.finfo(value.dtype).eps * np.abs(value)
    for other, node_there in enumerate(form.nodes):
        array = form.array(other) if node_there.opcode == "constant" and other not in form.rounded else None
        if array is not None and array.dtype == value.dtype and array.shape == value.shape and bool(
                (np.abs(array - value) <= slack).all()):
            return other
    return number


def _is_rounded(node: Node) -> bool:
    """Return True for functions whose last digits depend on the executor, as those of complex products do.

    Every one rounds the square root of a float alike.
    """
    record, is_complex = OPS[node.opcode], node.shapes[0].is_array and node.shapes[0].dtype.is_complex
    is_root = node.opcode == "sqrt" and not is_complex
    return ("transcendental" in record.flags and not is_root) or (is_complex and record.complex_ulps > 0)


@rule("folded", flag="elementwise", keeps_nans=False)
def elementwise_of_constants(form: Numbering, node: Node) -> int | None:
    """Write what an exact operation gives on constants."""
    if _is_rounded(node) or "random" in OPS[node.opcode].flags:
        return None
    arrays = _arrays(form, node)
    return _computed(form, node, arrays) if arrays is not None else None


@rule("folded", "compare")
def compare_with_itself(form: Numbering, node: Node) -> int | None:
    """Decide a comparison of a value with itself; floats may be NaN, which is not equal to itself."""
    left, right = node.operands
    source = form.shape(left)
    if left != right or source is None or source.dtype.is_floating or source.dtype.is_complex:
        return None
    is_true = node.given("direction") in ("EQ", "LE", "GE")
    return form.constant(np.full(node.shapes[0].dims, is_true), node.shapes[0], node)


@rule("neutral", "compare")
def differs_from_false(form: Numbering, node: Node) -> int | None:
    """Take a predicate where it is asked if it differs from false."""
    truth = form.array(node.operands[1])
    is_false = truth is not None and truth.dtype == np.bool_ and _is_splat(truth) and not truth.reshape(-1)[0]
    return node.operands[0] if is_false and node.given("direction") == "NE" else None


def _is_neutral(record: Op, dtype: DType, array: Array) -> bool:
    """Return True if equal elements are the neutral one of an operation, to the bit: -0 is not 0."""
    # Of complex numbers, even one changes what is infinite: 0 times infinity is NaN.
    if record.identity is None or dtype.is_complex or not _is_splat(array):
        return False
    one = array.reshape(-1)[:1]
    if dtype.is_floating and record.opcode == "add":
        return not one.any() and bool(np.signbit(one).all())
    if dtype.is_floating and record.opcode == "power":
        return False
    element = record.identity(dtype)
    written = np.asarray(element).astype(dtype.numpy)
    if dtype.is_floating and float(written) != element:
        return False  # small types lack infinities, or zero
    return one.tobytes() == written.tobytes()


def _sides(node: Node) -> tuple[tuple[int, int], ...]:
    """Return the pairs of an operand that may decide, and the other operand."""
    if len(node.operands) != 2:
        return ()
    left, right = node.operands
    return ((right, left), (left, right)) if "commutative" in OPS[node.opcode].flags else ((right, left),)


@rule("zero-sums", "add", keeps="values", keeps_nans=False)
def sum_with_zero(form: Numbering, node: Node) -> int | None:
    """Leave out a sum with +0, which makes +0 of -0."""
    for one, other in _sides(node):
        if _is_zero(node.shapes[0].dtype, form.array(one)):
            return other
    return None


@rule("zero-sums", "reduce", keeps="values", keeps_nans=False)
def sum_of_one_element(form: Numbering, node: Node) -> int | None:
    """Take the element where it is added to +0, which makes +0 of -0."""
    found = _fold_of_one(form, node)
    if found is None or found[0] != "add" or not _is_zero(found[1].dtype, form.array(node.operands[1])):
        return None
    return form.reshaped(node.operands[0], node.shapes[0], node)


def _is_zero(dtype: DType, array: Array | None) -> bool:
    """Return True for floats that are all +0."""
    if array is None or not _is_splat(array) or not dtype.is_floating:
        return False
    one = array.reshape(-1)[:1]
    return not one.any() and not bool(np.signbit(one).any())


@rule("neutral", flag="elementwise", keeps_nans=False)
def operation_with_neutral_element(form: Numbering, node: Node) -> int | None:
    """Take the other operand where one is neutral."""
    for one, other in _sides(node):
        array = form.array(one)
        if array is not None and len(node.shapes) == 1 and _is_neutral(OPS[node.opcode], node.shapes[0].dtype, array):
            return other
    return None


@rule("folded", "and", "or", "multiply")
def operation_with_absorbing_element(form: Numbering, node: Node) -> int | None:
    """Take the operand whose equal elements are the result, whatever the other one is."""
    for one, _ in _sides(node):
        array = form.array(one)
        if array is None or not _is_splat(array) or array.dtype.kind not in "iub":
            continue
        element = array.reshape(-1)[0]
        if (np.invert(element) == 0) if node.opcode == "or" else not element:
            return one
    return None


# Orders


@rule("", "add", "multiply", keeps="sums", keeps_nans=False)
def terms_in_any_order(form: Numbering, node: Node) -> Node | None:
    """Order all terms of sums of sums, or of products of products, by number."""
    terms = [t for n in node.operands for t in (form.nodes[n].operands if form.nodes[n].own == node.own else (n,))]
    return node.with_operands(*sorted(terms)) if tuple(sorted(terms)) != node.operands else None


@rule("operand-order", flag="commutative", keeps_nans=False)
def operands_in_order(form: Numbering, node: Node) -> Node | None:
    """Order two operands by number."""
    is_exact = node.shapes[0].is_array and OPS[node.opcode].commutes(node.shapes[0].dtype)
    return _two_in_order(node) if is_exact else None


@rule("factors", "multiply", keeps="values", keeps_nans=False)
def factors_in_order(form: Numbering, node: Node) -> Node | None:
    """Order two complex factors by number."""
    return _two_in_order(node)


def _two_in_order(node: Node) -> Node | None:
    is_swapped = len(node.operands) == 2 and node.operands[0] > node.operands[1]
    return node.with_operands(*reversed(node.operands)) if is_swapped else None


@rule("operand-order", "compare")
def comparison_in_order(form: Numbering, node: Node) -> Node | None:
    """Order two operands by number, and mirror the direction if they change places."""
    given = dict(node.attributes)
    if node.operands[0] <= node.operands[1] or str(given.get("direction")) not in MIRRORED:
        return None
    given["direction"] = MIRRORED[str(given["direction"])]
    return dataclasses.replace(node, attributes=tuple(given.items()), operands=node.operands[::-1])


# Products of matrices


@rule("", "dot", keeps="dots", keeps_nans=False)
def dot_of_matrices(form: Numbering, node: Node) -> int | None:
    """Multiply [batch, rows, terms] by [batch, columns, terms], the operand of the lower number first."""
    shapes = [s for n in node.operands if (s := form.shape(n)) is not None]
    result, precision = node.shapes[0], {str(p).lower() for p in node.given("operand_precision") or ()}
    if len(shapes) != 2 or not result.is_static or len(precision) > 1 or not _DOT.issuperset(dict(node.attributes)):
        return None
    batch, terms = ([tuple(node.given(f"{side}_{kind}_dims") or ()) for side in ("lhs", "rhs")]
                    for kind in ("batch", "contracting"))
    # The terms in the order of the left operand's dimensions, whatever order the attributes list them in.
    ranks = sorted(range(len(terms[0])), key=lambda n: terms[0][n])
    count = math.prod(shapes[0].dims[d] for d in batch[0])
    sides = []
    for number, shape, b, t in zip(node.operands, shapes, batch, terms, strict=True):
        free = tuple(d for d in range(shape.rank) if d not in b and d not in t)
        laid = form.transposed(number, (*b, *free, *(t[n] for n in ranks)), node)
        flat = Shape(shape.element_type, (count, math.prod(shape.dims[d] for d in free),
                                          math.prod(shape.dims[d] for d in t)))
        sides.append((form.reshaped(laid, flat, node), flat.dims[1]))
    is_swapped = sides[0][0] > sides[1][0]
    if is_swapped:
        sides.reverse()
        form.used.add("operand-order")
    product = node.instead(
        "dot", Shape(result.element_type, (count, sides[0][1], sides[1][1])), (sides[0][0], sides[1][0]),
        lhs_batch_dims=(0,), rhs_batch_dims=(0,), lhs_contracting_dims=(2,), rhs_contracting_dims=(2,),
        operand_precision=node.given("operand_precision") or ())
    if (product.own, product.operands) == (node.own, node.operands):
        return None
    made = form.add(product)
    return form.reshaped(form.transposed(made, (0, 2, 1), node) if is_swapped else made, result, node)


#: attributes of a dot that asks for nothing but dimensions and precision
_DOT = frozenset({"lhs_batch_dims", "rhs_batch_dims", "lhs_contracting_dims", "rhs_contracting_dims",
                  "operand_precision"})

#: rules that keep every bit
EXACT = _rules_that_keep("bits")
#: those that keep the payloads of NaN, too
STRICT = tuple(r for r in EXACT if r.keeps_nans)
#: the same, and rules of frontends' converters
CONVERTED = _rules_that_keep("bits", "values")
#: rules for the modules of a chain of passes
ALONG_PASSES = _rules_that_keep("bits", "dots")
#: the same, and sums and products of any number of terms in any order
REASSOCIATING = _rules_that_keep("bits", "dots", "sums")


def same_up_to(left: HloModule, right: HloModule, *, is_converted: bool = False) -> tuple[str, ...] | None:
    """Return the simplifications up to which two modules are the same; None if they differ, or are too large to tell.

    is_converted: `left` was made of `right` by a frontend's converter, and so CONVERSIONS are no differences either.
    """
    headers = [{k: v for k, v in module_attributes(m, Aspects()).items() if k not in _HEADERS} for m in (left, right)]
    if headers[0] != headers[1]:
        return None
    form = Numbering(CONVERTED if is_converted else EXACT)
    try:
        is_same = form.module(left) == form.module(right)
    except NotComparable:
        return None
    return tuple(name for name in (*SIMPLIFICATIONS, *CONVERSIONS) if name in form.used) if is_same else None
