"""Matrices as LAPACK sees them: the buffers of a call's operands and results, columns first, batches outermost."""

from __future__ import annotations

from hlotool.ir import HloInstruction, Layout, Shape
from hlotool.passes.lift.library_calls import Call


def seen(call: Call, number: int, rank: int = 2) -> HloInstruction:
    """Return an operand as LAPACK sees it: a batch of matrices (rank 2), columns first, or of vectors (rank 1).

    The buffer is the operand's in the layout that the call asks for.
    """
    operand = call.operands[number]
    wanted = call.instruction.attributes.get("operand_layout_constraints")
    shape: Shape = wanted[number] if wanted is not None else operand.shape
    natural = _natural(shape.rank, rank)
    if shape.minor_to_major == natural.minor_to_major:
        return operand
    return call.add("bitcast", [call.add("copy", [operand], shape)], shape.with_layout(natural))


def given_back(call: Call, value: HloInstruction, shape: Shape, rank: int = 2) -> HloInstruction:
    """Return a result of the call, of that shape and layout, from the matrices or vectors that LAPACK writes."""
    natural = _natural(shape.rank, rank)
    if shape.minor_to_major == natural.minor_to_major:
        return value
    laid_out = call.add("copy", [value], shape.without_layout().with_layout(natural))
    whole = shape if shape.layout is not None else shape.with_layout(Layout.descending(shape.rank))
    return call.add("copy", [call.add("bitcast", [laid_out], whole)], shape.without_layout())


def _natural(rank: int, inner: int) -> Layout:
    """Return the layout of a batch of vectors, or of matrices whose columns come first."""
    if inner < 2:
        return Layout.descending(rank)
    return Layout((rank - 2, rank - 1, *range(rank - 3, -1, -1)))
