"""Parameters and constants, the values that a computation is given."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import (
    Attributes,
    HloInstruction,
    Literal,
    Shape,
)
from hlotool.ops.costs import is_free
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import Elements, Flow
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value
from hlotool.ops.random_programs import Draw, literal_text, shape_text
from hlotool.ops.registry import ConstraintError, op, require
from hlotool.ops.relation_files import relation_rules
from hlotool.ops.values import TOKEN, EvaluationError


def parameter_shape(*, parameter_number: int, parameter_replication: tuple[bool, ...] | None = None,
                    declared: Shape | None) -> Shape:
    """Constraints 1 to 3 of parameter."""
    require(parameter_number >= 0, "parameter-c1", f"the parameter number is {parameter_number}")
    require(declared is not None, "parameter-c2", "a parameter's shape must be written")
    assert declared is not None
    if parameter_replication is not None:
        leaves = sum(1 for _ in declared.leaves())
        require(len(parameter_replication) == leaves, "parameter-c3",
                f"parameter_replication has {len(parameter_replication)} entries, the parameter {leaves} leaves",
                attribute="parameter_replication")
    return declared


def _emit_parameter(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    e.refuse(instruction, "the parameter is bound by what calls its computation")


def _draw_parameter(d: Draw) -> None:
    d.argument(d.dims(0))


@op(parameter_shape, lowering=Lowering(_emit_parameter), source=SPECIFICATION, draw=_draw_parameter, cost=is_free,
    flow=Flow(Elements.GIVEN, is_free=True))
def parameter(*, parameter_number: int, parameter_replication: Any = None) -> Any:
    """An argument of the computation; what calls the computation gives its value.

    C1  The parameter number is not negative.
    C2  The shape is written.
    C3  parameter_replication has an entry for each leaf of the shape.
    """
    raise EvaluationError(f"parameter {parameter_number} has no argument")


def constant_shape(*, literal: Literal, declared: Shape | None) -> Shape:
    """Constraint 1 of constant."""
    shape = literal.shape
    if declared is not None and not shape.compatible(declared):
        raise ConstraintError("constant-c1", f"the literal is {shape.text(False)}, the result {declared}")
    return declared or shape


def _emit_constant(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    def value(literal: Literal, shape: Shape) -> Value:
        if shape.is_tuple:
            return tuple(map(value, literal.elements, shape.elements))
        return e.op("stablehlo.create_token", (), shape) if shape.is_token else e.constant(literal.array, shape)

    return value(instruction.literal, instruction.shape)


#: constants of one value repeated more often than this come back as broadcasts
_SPLAT = 16


def _lift_constant(r: Reader) -> HloInstruction:
    shape = r.shape()
    held: Attributes = r.once("value", lambda: _held(r, shape))
    literal = held["literal"]
    if literal.shape.dims == shape.dims:
        return r.add("constant", shape, (), held)
    return r.add("broadcast", shape, (r.add("constant", literal.shape, (), held),), {"dimensions": ()})


def _held(r: Reader, shape: Shape) -> Attributes:
    """Return the values of a constant, or the one that repeats."""
    # HLO writes every element of a constant, so one that repeats is better a broadcast.
    own, literal = r.literal("value", _SPLAT)
    if own != shape or not shape.is_static:
        r.refuse(f"its value is {own.text(False)}, its result {shape.text(False)}")
    return Attributes(literal=literal)


def _draw_constant(d: Draw) -> None:
    values = d.values(d.dims(0))
    d.line(f"{shape_text(d.dtype, values.shape)} constant({literal_text(values)})")


@op(constant_shape, source=SPECIFICATION, lowering=Lowering(
    _emit_constant, _lift_constant, ("stablehlo.constant", "arith.constant", "sdy.constant")),
    draw=_draw_constant, cost=is_free, flow=Flow(Elements.GIVEN, is_free=True), flags=("typed",),
    sharding=relation_rules.constant)
def constant(*, literal: Literal) -> Any:
    """A literal value.

    C1  The result's shape is the literal's.
    """
    return _literal_value(literal)


def _literal_value(literal: Literal) -> Any:
    if literal.shape.is_tuple:
        return tuple(map(_literal_value, literal.elements))
    return TOKEN if literal.shape.is_token else literal.array
