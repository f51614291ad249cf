"""Broadcasting as the documents define it, which HLO itself does not have: the steps that give an operand a shape."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from hlotool.builder.codes import COUNT, DEGENERATE, DYNAMIC, IMPLICIT, IN_DIM, ORDER, RANGE, SAME_RANK, SIZES
from hlotool.builder.problems import demand
from hlotool.ir import UNBOUNDED, Shape

#: instructions that an operand goes through: opcode, attributes and the shape of the result
Steps: TypeAlias = list[tuple[str, dict[str, Any], Shape]]


def matched(opcode: str, left: Shape, right: Shape, dimensions: tuple[int, ...]) -> tuple[Steps, Steps]:
    """Return the steps that broadcast each of two operands to the shape of the result. Raises Refused."""
    if not left.is_array or not right.is_array:
        return [], []  # the operation's own constraint says it best
    if not dimensions and left.dims == right.dims:
        return [], []
    what = f"{opcode}: lhs is {left.text(False)}, rhs is {right.text(False)}"
    if left.rank == right.rank:
        identity = tuple(range(left.rank))
        demand(dimensions in ((), identity), SAME_RANK, f"{what}: operands of one rank take no "
               f"broadcast_dimensions, {list(dimensions)} given", "leave broadcast_dimensions out")
        return _degenerate(left, right, what)
    small, large = sorted((left, right), key=lambda s: s.rank)
    _check(small, large, dimensions, what)
    wanted = _result(small, large, dimensions)
    first, second = (_grow(s, wanted, dimensions if s is small else range(s.rank)) for s in (left, right))
    return first, second


def _check(small: Shape, large: Shape, dimensions: tuple[int, ...], what: str) -> None:
    demand(bool(dimensions) or small.rank == 0, IMPLICIT, f"{what}: the ranks differ, and broadcast_dimensions do not "
           "say which dimensions belong together", f"give {small.rank} of 0 to {large.rank - 1}")
    demand(len(dimensions) == small.rank, COUNT, f"{what}: {len(dimensions)} broadcast_dimensions for an operand of "
           f"{small.rank} dimensions")
    for i, d in enumerate(dimensions):
        demand(0 <= d < large.rank, RANGE, f"{what}: broadcast dimension {d} is not in [0, {large.rank})")
        n, m = small.dims[i], large.dims[d]
        demand(n == m or 1 in (n, m), SIZES, f"{what}: dimension {i} of the smaller operand has "
               f"{_count(n)} elements, dimension {d} of the larger {_count(m)}")
        flags = small.is_dynamic_dim(i), large.is_dynamic_dim(d)
        stretches = (n == 1 and not flags[0]) or (m == 1 and not flags[1])
        demand(flags[0] == flags[1] or stretches or UNBOUNDED in (n, m), DYNAMIC,
               f"{what}: dimension {i} of the smaller operand and {d} of the larger are not both dynamic")
    demand(list(dimensions) == sorted(set(dimensions)), ORDER,
           f"{what}: broadcast_dimensions {list(dimensions)} do not strictly increase")


def _count(size: int) -> str:
    return "an unknown number of" if size == UNBOUNDED else str(size)


def _result(small: Shape, large: Shape, dimensions: Sequence[int]) -> Shape:
    dims, flags = list(large.dims), [large.is_dynamic_dim(i) for i in range(large.rank)]
    for i, d in enumerate(dimensions):
        if dims[d] == 1 and small.dims[i] != 1:
            dims[d], flags[d] = small.dims[i], small.is_dynamic_dim(i)
    return Shape.array(large.element_type, tuple(dims), None, tuple(flags))


def _degenerate(left: Shape, right: Shape, what: str) -> tuple[Steps, Steps]:
    """Return the steps that stretch dimensions of size 1 to the size that they meet."""
    if left.dims == right.dims:
        return [], []
    for i, (n, m) in enumerate(zip(left.dims, right.dims, strict=True)):
        demand(n == m or 1 in (n, m) or UNBOUNDED in (n, m), DEGENERATE,
               f"{what}: dimension {i} has {n} elements in one and {m} in the other")
    wanted = _result(left, right, range(left.rank))
    return _grow(left, wanted, range(left.rank)), _grow(right, wanted, range(right.rank))


def _grow(shape: Shape, wanted: Shape, dimensions: Sequence[int]) -> Steps:
    if shape.dims == wanted.dims:
        return []
    return in_dim(shape, wanted.with_element_type(shape.element_type), dimensions)


def in_dim(shape: Shape, target: Shape, dimensions: Sequence[int]) -> Steps:
    """Return the steps from a shape to the target: dimension i becomes dimension dimensions[i]; size 1 may stretch."""
    steps: Steps = []
    kept = [i for i in range(shape.rank)
            if not (shape.dims[i] == 1 and target.dims[dimensions[i]] != 1 and not shape.is_dynamic_dim(i))]
    if len(kept) < shape.rank:
        dropped = Shape.array(shape.element_type, tuple(shape.dims[i] for i in kept), None,
                              tuple(shape.is_dynamic_dim(i) for i in kept))
        steps.append(("reshape", {}, dropped))
        shape = dropped
    mapped = tuple(dimensions[i] for i in kept)
    if shape.dims == target.dims and mapped == tuple(range(target.rank)):
        return steps
    return [*steps, ("broadcast", {"dimensions": mapped}, target)]


def checked_in_dim(shape: Shape, target: Shape, dimensions: tuple[int, ...]) -> Steps:
    """Return the steps of BroadcastInDim. Raises Refused where its rules are broken."""
    what = f"the operand is {shape.text(False)}, the result {target.text(False)}, broadcast_dimensions are " \
           f"{list(dimensions)}"
    demand(shape.is_array, IN_DIM, f"the operand is {shape.text(False)}, which is not an array")
    demand(shape.rank <= target.rank, IN_DIM, f"{what}: the operand has more dimensions")
    demand(len(dimensions) == shape.rank, IN_DIM, f"{what}: one is needed for each dimension of the operand")
    demand(all(0 <= d < target.rank for d in dimensions), IN_DIM, f"{what}: they lie in [0, {target.rank})")
    demand(list(dimensions) == sorted(set(dimensions)), IN_DIM, f"{what}: they strictly increase")
    demand(UNBOUNDED not in target.dims, IN_DIM, f"{what}: the result has a dimension of unknown size")
    for i, d in enumerate(dimensions):
        n, m = shape.dims[i], target.dims[d]
        demand(n in (1, m, UNBOUNDED), IN_DIM, f"{what}: dimension {i} has {n} elements, dimension {d} of the "
               f"result {m}")
    return in_dim(shape, target, dimensions)
