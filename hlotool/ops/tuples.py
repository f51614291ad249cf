"""Tuples and their elements."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import (
    HloInstruction,
    Shape,
)
from hlotool.ops.costs import is_free
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import Elements, Flow
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value
from hlotool.ops.random_programs import Draw
from hlotool.ops.registry import ConstraintError, op
from hlotool.ops.relation_files import relation_rules


def tuple_shape(*elements: Shape) -> Shape:
    """The operands side by side."""
    return Shape.tuple(*elements)


def _emit_tuple(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return tuple(operands)


def _lift_tuple(r: Reader) -> HloInstruction:
    return r.add("tuple", r.shape(), r.operands())


def _draw_tuple(d: Draw) -> None:
    d.add("tuple", *(d.argument(d.dims(0)) for _ in range(d.between(0 if d.edge("nothing") else 1, 3))))


@op(tuple_shape, lowering=Lowering(_emit_tuple, _lift_tuple, ("stablehlo.tuple",)), source=SPECIFICATION,
    draw=_draw_tuple, cost=is_free, flow=Flow(Elements.PACKED, is_free=True), sharding=relation_rules.packed)
def tuple_(*elements: Any) -> Any:
    """The operands as one tuple; none give the empty tuple."""
    return elements


def get_tuple_element_shape(operand: Shape, *, index: int) -> Shape:
    """Constraints 1 and 2 of get-tuple-element."""
    if not operand.is_tuple:
        raise ConstraintError("get-tuple-element-c1", f"the operand is {operand.text(False)}, which is no tuple")
    count = len(operand.elements)
    if not 0 <= index < count:  # the text of a tuple of thousands would be copied for each of its elements
        raise ConstraintError(
            "get-tuple-element-c2",
            f"index is {index}; the operand {operand.text(False)} has {count} element{'s' * (count != 1)}",
            attribute="index")
    return operand.elements[index]


def _emit_get_tuple_element(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return operands[0][instruction.attributes["index"]]


def _lift_get_tuple_element(r: Reader) -> HloInstruction:
    return r.add("get-tuple-element", r.shape(), r.operands(), {"index": r.int("index")})


def _draw_get_tuple_element(d: Draw) -> None:
    members = [d.argument(d.dims(0)) for _ in range(d.between(1, 3))]
    d.add("get-tuple-element", d.add("tuple", *members), index=d.between(0, len(members) - 1))


@op(get_tuple_element_shape, source=SPECIFICATION,
    lowering=Lowering(_emit_get_tuple_element, _lift_get_tuple_element, ("stablehlo.get_tuple_element",),
                      ("index",)),
    draw=_draw_get_tuple_element, cost=is_free, flow=Flow(Elements.UNPACKED, (0, 1), is_free=True),
    sharding=relation_rules.unpacked)
def get_tuple_element(operand: Any, *, index: int) -> Any:
    """One element of a tuple.

    C1  The operand is a tuple.
    C2  index counts from 0 and is below the number of elements.
    """
    return operand[index]
