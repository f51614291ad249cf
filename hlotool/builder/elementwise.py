"""Comparisons, selection, conversion and rounding: what the records of elementwise operations do not give."""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import BROADCAST, Function, add, function, without_builder
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import attribute_value, element_type_of, unqualified
from hlotool.ir import HloInstruction, Shape
from hlotool.ir.arrays import np
from hlotool.ops import OPS, Calls, Effect, opcodes

if TYPE_CHECKING:
    from hlotool.builder.core import Core


@function(synonyms=BROADCAST)
def compare(b: Core, lhs: Any, rhs: Any, broadcast_dimensions: Iterable[int] | str = (), direction: str | None = None,
            type: str | None = None) -> XlaOp:
    """Compare element by element: direction is EQ, NE, GE, GT, LE or LT; type is FLOAT, TOTALORDER, SIGNED, UNSIGNED.

    Operands of different shapes are broadcast. The direction may stand third, where nothing is broadcast.
    """
    if isinstance(broadcast_dimensions, str):
        direction, type, broadcast_dimensions = broadcast_dimensions, direction or type, ()
    demand(isinstance(direction, str), ARGUMENTS, "Compare needs a direction: EQ, NE, GE, GT, LE or LT")
    found = {"direction": unqualified(str(direction)).upper()}
    if type:
        found["type"] = unqualified(type).upper().replace("FLOATTOTALORDER", "TOTALORDER")
    return b.broadcasting("compare", lhs, rhs, broadcast_dimensions, found)


_WORDS = {"Eq": "equal", "Ne": "not equal", "Ge": "lhs not below rhs", "Gt": "lhs above rhs", "Le": "lhs not above rhs",
          "Lt": "lhs below rhs"}


def _comparison(name: str, words: str, is_total: bool) -> None:
    def call(b: Core, lhs: Any, rhs: Any, broadcast_dimensions: Iterable[int] = ()) -> XlaOp:
        if not is_total:
            return compare(b, lhs, rhs, broadcast_dimensions, name)
        left, right = b.operands(lhs, rhs)
        # Only floats have two orders; XLA's TotalOrder functions fall back likewise.
        total = left.shape.is_array and left.shape.dtype.is_floating
        return compare(b, left, right, broadcast_dimensions, name, "TOTALORDER" if total else None)

    order = " in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN" if is_total else ""
    add(Function(name + ("TotalOrder" if is_total else ""), call,
                 f"Where {words}, element by element{order}; operands of different shapes are broadcast.",
                 without_builder(inspect.signature(call)), synonyms=BROADCAST))


for _name, _text in _WORDS.items():
    _comparison(_name, _text, False)
    _comparison(_name, _text, True)


@function("Convert")
def convert_element_type(b: Core, operand: Any, new_element_type: Any) -> XlaOp:
    """Convert every element to another type, as C++'s static_cast does."""
    made, name = b.operand(operand), element_type_of(new_element_type)
    return b.emit("convert", [made], shape=_retyped(made, name))


def _retyped(made: XlaOp, name: str) -> Shape:
    shape = made.shape
    return Shape.array(name, shape.dims, shape.layout, shape.dynamic) if shape.is_array else Shape.array(name)


@function("BitcastConvert")
def bitcast_convert_type(b: Core, operand: Any, new_element_type: Any) -> XlaOp:
    """Read the bits of each element as another type; a last dimension makes up for different widths."""
    from hlotool.ir import DTYPES

    made, name = b.operand(operand), element_type_of(new_element_type)
    shape = made.shape
    if not shape.is_array:
        return b.emit("bitcast-convert", [made], shape=Shape.array(name))
    ratio_down = shape.dtype.bits // DTYPES[name].bits
    ratio_up = DTYPES[name].bits // shape.dtype.bits
    dims, flags = shape.dims, shape.dynamic_flags
    if ratio_down > 1:
        dims, flags = (*dims, ratio_down), (*flags, False)
    elif ratio_up > 1:
        dims, flags = dims[:-1], flags[:-1]
    return b.emit("bitcast-convert", [made], shape=Shape.array(name, dims, None, flags))


@function()
def stochastic_convert_type(b: Core, operand: Any, random: Any, new_element_type: Any) -> XlaOp:
    """Convert floats to a narrower type, rounding up as often as the random bits say."""
    made = b.operand(operand)
    return b.emit("stochastic-convert", [made, random], shape=_retyped(made, element_type_of(new_element_type)))


def _of_several(name: str) -> None:
    def call(b: Core, lhs: Any, rhs: Any, *others: Any, broadcast_dimensions: Iterable[int] = ()) -> XlaOp:
        given = list(others)
        if len(given) == 1 and not isinstance(given[0], (XlaOp, bool, np.ndarray, np.generic)):
            broadcast_dimensions, given = given[0], []
        found = b.broadcasting(name.lower(), lhs, rhs, broadcast_dimensions)
        for other in given:
            found = b.broadcasting(name.lower(), found, other)
        return found

    add(Function(name, call, f"Element by element {name.lower()}: of bits, or of predicates; of two operands, with "
                 "broadcast_dimensions, or of more.", without_builder(inspect.signature(call)), synonyms=BROADCAST))


for _name in ("And", "Or"):
    _of_several(_name)


@function()
def is_constant(b: Core, operand: Any) -> bool:
    """Return True if a value depends on nothing that only a run knows. XLA: XlaBuilder::IsConstant."""
    seen: set[HloInstruction] = set()
    stack = [b.operand(operand).instruction]
    while stack:
        one = stack.pop()
        if one in seen or (one.opcode == "get-dimension-size" and one.operands[0].shape.is_static):
            continue
        seen.add(one)
        if one.opcode in _RUN_TIME or one.opcode not in OPS:
            return False
        called = [i for c in one.called_computations() for i in c.instructions]
        seen.update(i for i in called if i.opcode == "parameter")  # those get the operands
        stack += [*one.operands, *called]
    return True


#: operations whose results only a run knows; XLA's folder runs no loop
_RUN_TIME = opcodes(lambda flow: bool(flow.effect & ~Effect.ORDER) or flow.calls in (Calls.LOOP, Calls.OPAQUE)) | {
    "parameter"}


@function()
def round_(b: Core, operand: Any) -> XlaOp:
    """The nearest whole number, halves away from zero."""
    return b.emit("round-nearest-afz", [operand])


@function()
def clamp(b: Core, min: Any, operand: Any, max: Any) -> XlaOp:
    """Hold every element of `operand` between `min` and `max`, which are scalars or of its shape."""
    low, middle, high = (b.operand(v, _known(operand, min, max)) for v in (min, operand, max))
    # XLA: XlaBuilder::TernaryOp broadcasts scalars; HLO's clamp itself takes scalar bounds.
    wide = next((o.shape for o in (low, high) if o.shape.is_array and o.shape.rank), None)
    return b.emit("clamp", [low, _spread(b, middle, wide), high])


def _known(*values: Any) -> str | None:
    """The element type of the first value that has one."""
    return next((v.element_type for v in values if isinstance(v, XlaOp) and v.is_valid and v.shape.is_array), None)


@function()
def select(b: Core, pred: Any, on_true: Any, on_false: Any) -> XlaOp:
    """Elements of `on_true` where `pred` holds, else of `on_false`; scalars are broadcast.

    Tuples are chosen whole, by a scalar `pred`.
    """
    condition = b.operand(pred, "pred")
    yes, no = b.operands(on_true, on_false)
    if yes.shape.is_tuple and no.shape.is_tuple and condition.shape.is_scalar:
        return b.today("Conditional", condition, yes, _same, no, _same)
    shapes = [o.shape for o in (condition, yes, no)]
    wide = next((s for s in shapes if s.is_array and s.rank), None)
    made = [_spread(b, o, wide) for o in (condition, yes, no)]
    return b.emit("select", made)


def _same(value: XlaOp) -> XlaOp:
    return value


def _spread(b: Core, operand: XlaOp, wide: Shape | None) -> XlaOp:
    if wide is None or not operand.shape.is_scalar:
        return operand
    shape = Shape.array(operand.element_type, wide.dims, None, wide.dynamic)
    return b.emit("broadcast", [operand], {"dimensions": ()}, shape)


@function("Constant", "ConstantR0", "ConstantR1", "ConstantR2")
def constant_literal(b: Core, literal: Any, element_type: Any = None) -> XlaOp:
    """A constant: a number, a list of numbers, a NumPy array, a Literal, or HLO's text of one: "f32[2] {1, 2}".

    Numbers are of the element type, where one is given.
    """
    if isinstance(literal, XlaOp) and literal.instruction.opcode == "constant" and element_type is None:
        return b.operand(literal)  # the documents' `ConstantLiteral(MinValue(F32))`
    if isinstance(literal, str):
        return b.constant_of(attribute_value("literal", literal))
    if element_type is None:
        return b.constant_of(literal)
    from hlotool.builder.python_values import is_weak
    from hlotool.ir import DTYPES

    name = element_type_of(element_type)
    if is_weak(literal):
        return b.constant_of(literal, name)
    return b.constant_of(np.asarray(literal).astype(DTYPES[name].numpy))


@function()
def zeros_like(b: Core, operand: Any) -> XlaOp:
    """Zeros of an operand's shape."""
    return full_like(b, operand, 0)


@function()
def ones_like(b: Core, operand: Any) -> XlaOp:
    """Ones of an operand's shape."""
    return full_like(b, operand, 1)


@function()
def full_like(b: Core, operand: Any, value: Any) -> XlaOp:
    """One number in an operand's shape."""
    shape = b.operand(operand).shape
    return _spread(b, b.operand(bool(value) if shape.element_type == "pred" else value, shape.element_type), shape)


@function()
def full(b: Core, shape: Any, value: Any) -> XlaOp:
    """One number, or a scalar, in a shape."""
    from hlotool.builder.python_values import shape_of

    wanted = shape_of(shape)
    return b.emit("broadcast", [b.operand(value, wanted.element_type)], {"dimensions": ()}, wanted)
