"""sort and topk."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from typing import Any

from hlotool.ir import UNBOUNDED, HloComputation, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.agreement import alike
from hlotool.ops.called import odd_one, parameter_shapes, same_up_to_precision, scalar
from hlotool.ops.choice import total_order
from hlotool.ops.costs import elements_of, flops, folds
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import Calls, Elements, Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, boolean, i64
from hlotool.ops.numbers import wide_dtype
from hlotool.ops.random_programs import Draw, Undrawable
from hlotool.ops.registry import ConstraintError, op, require
from hlotool.ops.relation_files import relation_rules, relation_values
from hlotool.ops.rules import listed, require_array, same_dims
from hlotool.ops.values import Callee, apply


def sort_shape(*operands: Shape, dimensions: tuple[int, ...], to_apply: HloComputation) -> Shape:
    """Constraints 1 to 5 of sort."""
    require(bool(operands), "sort-c1", "sort takes at least one operand")
    for i, shape in enumerate(operands):
        require_array(shape, "sort-c1", f"operand {i}")
        require(same_dims(shape, operands[0]), "sort-c2",
                f"operand 0 is {operands[0].text(False)}, operand {i} is {shape.text(False)}: the dimensions differ")
    require(len(dimensions) == 1, "sort-c3", f"dimensions={{{listed(dimensions)}}}; sort goes along exactly one",
            attribute="dimensions")
    require(0 <= dimensions[0] < max(operands[0].rank, 1), "sort-c3",
            f"the sort dimension {dimensions[0]} is not in [0, {operands[0].rank})", attribute="dimensions")
    root, found = to_apply.root.shape, parameter_shapes(to_apply)
    require(root.is_scalar and root.element_type == "pred", "sort-c4",
            f"the comparator {to_apply.name} gives {root.text(False)}; it must give pred[]", attribute="to_apply")
    require(len(found) == 2 * len(operands), "sort-c5",
            f"the comparator {to_apply.name} takes {len(found)} parameters; {len(operands)} operands need "
            f"{2 * len(operands)}", attribute="to_apply")
    parameters = to_apply.parameters()
    for i, parameter in enumerate(found):
        operand = operands[i // 2]
        if not (parameter.is_scalar and same_up_to_precision(parameter, scalar(operand))):
            pair = [(p, p.shape) for p in parameters[i // 2 * 2:i // 2 * 2 + 2]]
            raise ConstraintError("sort-c5", f"parameter {i} of {to_apply.name} is {parameter.text(False)}, operand "
                                  f"{i // 2} is {operand.text(False)}",
                                  odd_one([*pair, (None, scalar(operand))], same_up_to_precision))
    return Shape.one_or_tuple(operands)


def _emit_sort(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = instruction.attributes
    if not instruction.operands[0].shape.dims:
        # StableHLO sorts no scalars; there is nothing to sort.
        return operands[0] if len(operands) == 1 else tuple(operands)
    return e.op("stablehlo.sort", operands, instruction.shape, {
        "dimension": i64(attributes["dimensions"][0]), "is_stable": boolean(attributes.get("is_stable", False))},
        [e.region(attributes["to_apply"])])


def _lift_sort(r: Reader) -> HloInstruction:
    operands = r.operands()
    axis = r.int("dimension", -1)
    attributes: dict[str, Any] = {"dimensions": (axis if axis >= 0 else axis + operands[0].shape.rank,)}
    if r.bool("is_stable"):
        attributes["is_stable"] = True
    return r.add("sort", r.shape(), operands, attributes | {"to_apply": r.computation(0, "compare")})


def _draw_sort(d: Draw) -> None:
    """Keys, and for an edge values that a stable sort keeps in order where keys are equal."""
    if d.kind.is_complex:
        raise Undrawable
    dims = d.dims(size=9)
    is_stable = d.edge("stable")
    order = "TOTALORDER" if d.kind.is_floating else None
    keys = d.argument(dims, among=(0, 1) if is_stable else None)
    given = [keys, d.argument(dims, "s32", among=range(100))] if is_stable else [keys]
    name = d.comparison(d.pick(("LT", "GT")), order, rest=("s32",) if is_stable else ())
    d.add("sort", *given, dimensions=(d.between(0, len(dims) - 1),), is_stable=is_stable or None, to_apply=name)


def _comparisons(instruction: HloInstruction) -> int:
    """n log2 n for each line of n elements."""
    operand = instruction.operands[0].shape
    (dimension,) = instruction.attributes["dimensions"]
    size = operand.dims[dimension] if operand.rank else 1
    return elements_of(operand) * max(size - 1, 0).bit_length()


_cost_of_sort = folds(_comparisons)


@op(sort_shape, lowering=Lowering(_emit_sort, _lift_sort, ("stablehlo.sort",), ("dimensions", "to_apply")),
    source=SPECIFICATION,
    draw=_draw_sort, agreement=alike, cost=_cost_of_sort,
    flow=Flow(Elements.ASSEMBLED, calls=Calls.COMPARATOR, updates=(0, None)), flags=("mixed",),
    freedom=Freedom.TIES, sharding=relation_rules.sort)
def sort(*operands: Array, dimensions: tuple[int, ...], is_stable: bool = False, to_apply: Callee) -> Any:
    """Sort the lines along a dimension, all operands together, so that to_apply(earlier, later) never fails backwards.

    Parameters 2k and 2k + 1 of the comparator are operand k at two places. is_stable keeps the order of
    equivalent elements; the reference always does.

    C1  At least one operand, all arrays.
    C2  All operands have the same dimensions.
    C3  dimensions names exactly one dimension, which is in range.
    C4  The comparator gives pred[].
    C5  The comparator takes two scalars of each operand's element type, one after the other.
    """
    if not operands[0].ndim:
        return operands[0] if len(operands) == 1 else operands
    axis = dimensions[0]
    moved = [np.moveaxis(a, axis, -1) for a in operands]
    lines = [a.reshape(math.prod(a.shape[:-1]), a.shape[-1]) for a in moved]
    order = _order(lines, to_apply)
    rows = np.arange(order.shape[0])[:, None]
    found = tuple(np.moveaxis(a[rows, order].reshape(m.shape), -1, axis) for a, m in zip(lines, moved, strict=True))
    return found[0] if len(found) == 1 else found


def _order(lines: Sequence[Array], comparator: Callee) -> Array:
    """For each line the stable order of its elements: a merge sort whose comparisons run side by side."""
    count, length = lines[0].shape
    order = np.broadcast_to(np.arange(length), (count, length)).copy()
    rows = np.arange(count)[:, None]

    def before(a: Array, b: Array) -> Array:
        pairs = [side for line in lines for side in (line[rows, a], line[rows, b])]
        return apply(comparator, *pairs)[0].astype(np.bool_)

    width = 1
    while width < length and count:
        order = _merged(order, width, before)
        width *= 2
    if not _is_permutation(order):
        # The comparator is no strict weak order (NaN under LT): any order will do, but elements must survive.
        return np.stack([_by_hand(line, row, comparator) for row, line in enumerate(zip(*lines, strict=True))])
    return order


def _merged(order: Array, width: int, before: Any) -> Array:
    """One pass of the merge sort: neighbouring sorted runs of `width` elements become one."""
    length = order.shape[1]
    place = np.arange(length)
    start = place // (2 * width) * (2 * width)
    middle, end = np.minimum(start + width, length), np.minimum(start + 2 * width, length)
    is_left = place < middle
    # How many elements of the other run go first: binary search, all elements at once.
    low = np.broadcast_to(np.where(is_left, middle, start), order.shape).copy()
    high = np.broadcast_to(np.where(is_left, end, middle), order.shape).copy()
    for _ in range(int(width).bit_length()):
        half = np.minimum((low + high) // 2, length - 1)
        other = np.take_along_axis(order, half, 1)
        first = np.where(is_left, other, order)
        second = np.where(is_left, order, other)
        precedes = before(first, second)
        # From the left run: others that are strictly less go first; from the right run: those not greater do.
        advance = (low < high) & np.where(is_left, precedes, ~precedes)
        retreat = (low < high) & ~advance
        low, high = np.where(advance, half + 1, low), np.where(retreat, half, high)
    own = np.where(is_left, place - start, place - middle)
    target = start + own + low - np.where(is_left, middle, start)
    found = np.full_like(order, -1)
    np.put_along_axis(found, target, order, 1)
    return found


def _is_permutation(order: Array) -> bool:
    return bool((np.sort(order, axis=1) == np.arange(order.shape[1])).all())


def _by_hand(line: tuple[Array, ...], row: int, comparator: Callee) -> Array:
    def compared(i: int, j: int) -> int:
        there = [v for a in line for v in (a[i], a[j])]
        back = [v for a in line for v in (a[j], a[i])]
        if bool(apply(comparator, *map(np.asarray, there))[0]):
            return -1
        return int(bool(apply(comparator, *map(np.asarray, back))[0]))

    return np.array(sorted(range(len(line[0])), key=functools.cmp_to_key(compared)), np.int64)


def topk_shape(operand: Shape, *, k: int) -> Shape:
    """Constraints 1 and 2 of topk."""
    require_array(operand, "topk-c1")
    require(operand.rank > 0, "topk-c1", f"the operand is {operand.text(False)}; it must have a dimension")
    size = operand.dims[-1]
    require(k >= 0 and (k <= size or size == UNBOUNDED), "topk-c2",
            f"k is {k}; the last dimension of {operand.text(False)} has {size} elements", attribute="k")
    dims, flags = (*operand.dims[:-1], k), (*operand.dynamic_flags[:-1], False)
    return Shape.tuple(Shape.array(operand.element_type, dims, None, flags), Shape.array("s32", dims, None, flags))


def _emit_topk(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    operand, k = instruction.operands[0].shape, instruction.attributes["k"]
    if instruction.attributes.get("largest", True):
        return e.op("chlo.top_k", operands, instruction.shape, {"k": i64(k)})
    return _emit_smallest(e, instruction, operands[0], operand, k)


def _emit_smallest(e: Emitter, instruction: HloInstruction, operand: Value, shape: Shape, k: int) -> Value:
    """The k smallest: chlo.top_k takes the largest only, so bits are turned around before and after."""
    if shape.dtype.family in ("signed", "unsigned"):
        turned = e.op("stablehlo.not", [operand], shape)
        values, indices = e.op("chlo.top_k", [turned], instruction.shape, {"k": i64(k)})
        return e.op("stablehlo.not", [values], instruction.shape.elements[0]), indices
    if shape.dtype.is_floating:
        # Negation reverses the total order, NaN's sign included.
        values, indices = e.op("chlo.top_k", [e.op("stablehlo.negate", [operand], shape)], instruction.shape,
                               {"k": i64(k)})
        return e.op("stablehlo.negate", [values], instruction.shape.elements[0]), indices
    e.refuse(instruction, f"chlo.top_k takes the largest elements, and {shape.element_type} cannot be turned around")


def _lift_topk(r: Reader) -> HloInstruction:
    return r.add("topk", r.shape(), r.operands(), {"k": r.int("k"), "largest": r.bool("largest", True)})


def _draw_topk(d: Draw) -> None:
    if d.kind.is_complex:
        raise Undrawable
    operand = d.argument(d.dims(size=8))
    d.add("topk", operand, k=d.between(min(1, operand.dims[-1]), operand.dims[-1]),
          largest=d.edge("smallest") is False)


@flops
def _cost_of_topk(instruction: HloInstruction) -> int:
    """Each element is held against a heap of k."""
    return elements_of(instruction.operands[0].shape) * max(int(instruction.attributes["k"]), 1).bit_length()


@op(topk_shape, lowering=Lowering(_emit_topk, _lift_topk, ("chlo.top_k", "mhlo.topk")), source=SPECIFICATION,
    draw=_draw_topk, cost=_cost_of_topk, flags=("typed", "nans"), sharding=relation_values.along_last)
def topk(operand: Array, *, k: int, largest: bool = True, is_stable: bool = False) -> Any:
    """The k largest (or smallest) elements of each line along the last dimension, best first, and their places.

    Floats are ordered by their bits, as TOTALORDER compares; of equal elements the first comes first, also where
    is_stable does not ask for it.

    C1  The operand is an array of rank 1 or more.
    C2  k is at least 0 and at most the size of the last dimension.
    """
    keys = total_order(operand)
    keys = keys.astype(wide_dtype(keys.dtype), copy=False)
    if largest:
        order = keys.shape[-1] - 1 - np.argsort(keys[..., ::-1], axis=-1, kind="stable")[..., ::-1]
    else:
        order = np.argsort(keys, axis=-1, kind="stable")
    order = order[..., :k]
    return np.take_along_axis(operand, order, -1), order.astype(np.int32)
