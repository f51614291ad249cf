"""Sizes that are known when the program runs: all at once, with tighter bounds, and of branches that differ in them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.builder.library.constants import zero
from hlotool.builder.problems import demand
from hlotool.ir import HloComputation, Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


@function()
def set_dimension_size_with_rebound(b: Methods, value: Any, dimension_size: Any, dimension: int) -> XlaOp:
    """SetDimensionSize; a size that is a constant cuts the array down to it instead, and stays static."""
    made, size = b.operand(value), b.operand(dimension_size, "s32")
    literal = size.instruction.attributes.get("literal")
    if literal is None:
        return b.SetDimensionSize(made, size, dimension)
    bound = int(literal.array)
    return made if bound >= made.dims[dimension] else b.SliceInDim(made, 0, bound, 1, dimension)


@function()
def set_all_dimension_sizes(b: Methods, value: Any, sizes: Sequence[Any] | XlaOp) -> XlaOp:
    """SetDimensionSize of every dimension, by a list of sizes or by an array that holds them."""
    made = b.operand(value)
    rows = _elements(b, sizes) if isinstance(sizes, XlaOp) else list(sizes)
    demand(len(rows) == made.rank, ARGUMENTS, f"{len(rows)} sizes for {made.shape.text(False)}")
    for d, size in enumerate(rows):
        made = set_dimension_size_with_rebound(b, made, size, d)
    return made


def _elements(b: Methods, sizes: XlaOp) -> list[XlaOp]:
    """The elements of an array of one dimension, as s32[]."""
    demand(sizes.rank == 1, ARGUMENTS, f"the sizes are {sizes.shape.text(False)}; they take one dimension")
    parts = [b.Reshape(b.Slice(sizes, [d], [d + 1]), ()) for d in range(sizes.dims[0])]
    return [b.ConvertElementType(part, "s32") for part in parts]


@function()
def dynamic_conditional(b: Methods, predicate: Any, *rest: Any) -> XlaOp:
    """Conditional of branches whose results may have other sizes: they grow to the greatest, with sizes that are set.

    `DynamicConditional(predicate, true_operand, true_computation, false_operand, false_computation)`, or
    `DynamicConditional(branch_index, branch_computations, branch_operands)`.
    """
    if len(rest) == 2:
        computations, operands = (list(part) for part in rest)
    else:
        demand(len(rest) == 4, ARGUMENTS, "DynamicConditional takes (predicate, true_operand, true_computation, "
               "false_operand, false_computation) or (branch_index, branch_computations, branch_operands)")
        operands, computations = [rest[0], rest[2]], [rest[1], rest[3]]
    demand(len(computations) == len(operands) > 0, ARGUMENTS,
           f"{len(computations)} branch_computations, {len(operands)} branch_operands")
    made = [b.result_of(o) for o in operands]
    branches = [b.callee(c, [m.shape], f"branch{i}")
                for i, (c, m) in enumerate(zip(computations, made, strict=True))]
    results = [branch.root.shape for branch in branches]
    found = [XlaComputation(branch) for branch in branches]
    if not all(shape.compatible(results[0]) for shape in results):
        whole = _greatest(results)
        found = [_grown(b, branch, m.shape, whole) for branch, m in zip(branches, made, strict=True)]
    if len(rest) == 4:
        return b.Conditional(predicate, made[0], found[0], made[1], found[1])
    return b.Conditional(predicate, found, made)


def _greatest(shapes: Sequence[Shape]) -> Shape:
    """The shape that has the greatest of the sizes in each dimension."""
    first = shapes[0]
    alike = all(s.is_tuple == first.is_tuple and len(s.elements) == len(first.elements)
                and (s.is_tuple or (s.rank, s.element_type) == (first.rank, first.element_type)) for s in shapes)
    demand(alike, ARGUMENTS, "the branches give " + ", ".join(s.text(False) for s in shapes)
           + ": they may differ in sizes only")
    if first.is_tuple:
        return Shape.tuple(*(_greatest(parts) for parts in zip(*(s.elements for s in shapes), strict=True)))
    return Shape.array(first.element_type, tuple(map(max, *(s.dims for s in shapes))))


def _grown(b: Methods, branch: HloComputation, operand: Shape, whole: Shape) -> XlaComputation:
    """A computation that gives what a branch gives, with the bounds of `whole`."""

    def call(value: XlaOp) -> XlaOp:
        return _filled(b, b.Call(XlaComputation(branch), value), whole)

    with b.building(f"{branch.name}_grown", is_users=False) as body:
        body.root = call(b.Parameter(0, operand, "value")).instruction
        return XlaComputation(b.finished(body))


def _filled(b: Methods, value: XlaOp, whole: Shape) -> XlaOp:
    """A value with zeros up to the sizes of `whole`; where those are greater, its own are set."""
    if whole.is_tuple:
        parts = [_filled(b, b.GetTupleElement(value, i), part) for i, part in enumerate(whole.elements)]
        return b.Tuple(parts)
    for d, size in enumerate(whole.dims):
        own = value.dims[d]
        if own != size:
            count = b.GetDimensionSize(value, d)
            value = b.PadInDim(value, zero(b, whole.element_type), d, 0, size - own)
            value = b.SetDimensionSize(value, count, d)
    return value
