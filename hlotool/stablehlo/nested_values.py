"""Values of tuples: nested as their shapes are, while MLIR has them one beside the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from hlotool.ir import HloInstruction, Shape
from hlotool.ops.lowering import Value
from hlotool.stablehlo.export_findings import LoweringRefusal


def is_missing(value: Value) -> bool:
    """Return True if a value, or a part of one, could not be made."""
    return value is None or (isinstance(value, tuple) and any(map(is_missing, value)))


def is_made_of(value: Value, kind: type) -> bool:
    """Return True if a value is of a class, or a tuple of such."""
    return all(is_made_of(v, kind) for v in value) if isinstance(value, tuple) else isinstance(value, kind)


def flat(values: Sequence[Value]) -> Sequence[Value]:
    """The leaves of nested tuples of values, in order. Raises Refusal where one is missing."""
    for value in values:
        if value is None or isinstance(value, tuple):
            return list(_leaves(values))
    return values


def _leaves(values: Iterable[Value]) -> Iterator[Value]:
    stack = [iter(values)]
    while stack:
        for value in stack[-1]:
            if isinstance(value, tuple):
                stack.append(iter(value))
                break
            if value is None:
                raise LoweringRefusal
            yield value
        else:
            stack.pop()


def nested(shape: Shape, leaves: Iterator[Value]) -> Value:
    """The leaves in nested tuples as the shape is."""
    return tuple(nested(e, leaves) for e in shape.elements) if shape.is_tuple else next(leaves)


def bind(parameters: Sequence[HloInstruction], arguments: Iterable[Value]) -> dict[HloInstruction, Value]:
    """Each parameter's value out of the flat block arguments."""
    leaves = iter(arguments)
    return {p: nested(p.shape, leaves) for p in parameters}
