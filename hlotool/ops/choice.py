"""compare, clamp and select."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hlotool.ir import HloInstruction, Shape
from hlotool.ir.arrays import Array, np, ufunc
from hlotool.ops import smt
from hlotool.ops.curves import COUNT
from hlotool.ops.elementwise import SPECIFICATION, paired
from hlotool.ops.flow import Elements, Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, enum_attribute, renamed
from hlotool.ops.numbers import computed, dtype_of, maximum, minimum, signed_bits, wide_dtype
from hlotool.ops.random_programs import Draw, Undrawable, own_edges
from hlotool.ops.registry import op, require
from hlotool.ops.rules import ANY, merged, require_array, require_same_type, require_type, same_dims

DIRECTIONS: dict[str, Callable[[Any, Any], Any]] = {
    "EQ": ufunc("equal"), "NE": ufunc("not_equal"), "GE": ufunc("greater_equal"), "GT": ufunc("greater"),
    "LE": ufunc("less_equal"), "LT": ufunc("less")}
#: the words of 2026 for what `type` said before
ORDERS = ("TOTAL", "PARTIAL")
#: comparison types that an element family takes, the default first
COMPARISON_TYPES = {"pred": ("UNSIGNED",), "unsigned": ("UNSIGNED",), "signed": ("SIGNED",),
                    "float": ("FLOAT", "TOTALORDER"), "complex": ("FLOAT",)}

#: directions of comparisons by the direction of the same comparison with its operands exchanged
MIRRORED = {"LT": "GT", "GT": "LT", "LE": "GE", "GE": "LE", "EQ": "EQ", "NE": "NE"}


def compare_shape(lhs: Shape, rhs: Shape, *, direction: str, type: str | None = None,
                  order: str | None = None) -> Shape:
    """Constraints 1 to 6 of compare."""
    shape = paired("compare", lhs, rhs, ANY)
    require(direction in DIRECTIONS, "compare-c4",
            f"direction is {direction}; it is one of {', '.join(DIRECTIONS)}", attribute="direction")
    allowed = COMPARISON_TYPES[lhs.dtype.family]
    require(type is None or type in allowed, "compare-c5",
            f"type is {type}; elements of {lhs.element_type} are compared as {' or '.join(allowed)}", attribute="type")
    require(order is None or (type is None and order in ORDERS), "compare-c6",
            f"order is {order}; it is TOTAL or PARTIAL, and stands without type" if type is None
            else f"type={type} and order={order} say the same thing twice",
            attribute="order" if type is None else "type")
    return shape.with_element_type("pred")


def comparison_type(instruction: HloInstruction) -> str:
    """Return what `type` says, `order` says, or is meant where neither is written."""
    family = instruction.operands[0].shape.dtype.family
    if family == "float" and instruction.attributes.get("order") == "TOTAL":
        return "TOTALORDER"
    return instruction.attributes.get("type") or COMPARISON_TYPES[family][0]


def _plain_compare(instruction: HloInstruction) -> Mapping[str, Any]:
    """The attributes with `type` alone, and only where it says more than the elements do."""
    attributes = instruction.attributes
    if not instruction.operands or not instruction.operands[0].shape.is_array:
        return attributes
    kind, default = comparison_type(instruction), COMPARISON_TYPES[instruction.operands[0].shape.dtype.family][0]
    rest = attributes.without("type", "order")
    return rest if kind == default else rest | {"type": kind}


def _emit_compare(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return e.op("stablehlo.compare", operands, instruction.shape, {
        "comparison_direction": enum_attribute("comparison_direction", instruction.attributes["direction"]),
        "compare_type": enum_attribute("comparison_type", comparison_type(instruction))})


def _lift_compare(r: Reader) -> HloInstruction:
    operands, kind = r.operands(), r.word("compare_type")
    attributes = {"direction": r.word("comparison_direction")}
    if kind not in ("", "NOTYPE", COMPARISON_TYPES[operands[0].shape.dtype.family][0]):
        attributes["type"] = kind
    return r.add("compare", r.shape(), operands, attributes)


def total_order(array: Array) -> Array:
    """Keys that order floats as their bits do: -NaN < -inf < ... < -0 < +0 < ... < +inf < +NaN."""
    if dtype_of(array.dtype).family != "float":
        return array
    bits = signed_bits(array)
    return np.where(bits < 0, bits ^ np.int64(2**63 - 1), bits)


def _draw_compare(d: Draw) -> None:
    is_total = d.kind.is_floating and d.edge("total order")
    operands = d.pairs(2, own_edges(d.kind) if is_total else None)
    # The documents give complex numbers no order.
    directions = ("EQ", "NE") if d.kind.is_complex else tuple(DIRECTIONS)
    d.add("compare", *operands, direction=d.pick(directions), type="TOTALORDER" if is_total else None)


@op(compare_shape, lowering=Lowering(_emit_compare, _lift_compare, ("stablehlo.compare",), ("direction",)),
    element_types=ANY, freedom=Freedom.READS,
    flags=("elementwise",), source=SPECIFICATION, draw=_draw_compare, plain=_plain_compare, curve=COUNT,
    term=smt.COMPARE)
def compare(lhs: Array, rhs: Array, *, direction: str, type: str | None = None, order: str | None = None) -> Array:
    """Compare element by element.

    FLOAT is IEEE's partial order: NaN differs from everything, -0 equals +0. TOTALORDER orders the bits of floats.

    C1  lhs and rhs are arrays.
    C2  Both have one element type.
    C3  Both have the same dimensions: HLO has no implicit broadcast.
    C4  direction is EQ, NE, GE, GT, LE or LT.
    C5  type fits the elements: FLOAT or TOTALORDER for floats, FLOAT for complex, SIGNED, UNSIGNED for integers,
        UNSIGNED for pred.
    C6  order, the word of 2026 for the same, is TOTAL or PARTIAL, and stands without type.
    """
    if "TOTAL" in (order, (type or "").removesuffix("ORDER")):
        lhs, rhs = total_order(lhs), total_order(rhs)
    wide = wide_dtype(lhs.dtype)
    return np.asarray(DIRECTIONS[direction](lhs.astype(wide, copy=False), rhs.astype(wide, copy=False)))


def clamp_shape(min: Shape, operand: Shape, max: Shape) -> Shape:
    """Constraints 1 to 4 of clamp."""
    for shape, name in ((min, "min"), (operand, "operand"), (max, "max")):
        require_array(shape, "clamp-c4", name)
    for shape, name, label in ((min, "min", "clamp-c1"), (max, "max", "clamp-c2")):
        require(not shape.dims or same_dims(shape, operand), label,
                f"{name} is {shape.text(False)}, operand is {operand.text(False)}; "
                f"{name} must be a scalar or have the operand's dimensions")
    require(not min.dims or not max.dims or same_dims(min, max), "clamp-c2",
            f"min is {min.text(False)}, max is {max.text(False)}; where neither is a scalar, both have one size")
    require_same_type((operand, min, max), "clamp-c3", ("operand", "min", "max"))
    return operand


def _draw_clamp(d: Draw) -> None:
    if d.kind.is_complex:
        raise Undrawable
    if d.edge("scalars"):
        d.add("clamp", d.argument(), d.argument(d.dims()), d.argument())
    else:
        d.add("clamp", *d.pairs(3))


@op(clamp_shape, lowering=renamed("clamp"), element_types=ANY, flags=("elementwise",), freedom=Freedom.EXACT,
    source=SPECIFICATION, draw=_draw_clamp, term=smt.CLAMP)
def clamp(min: Array, operand: Array, max: Array) -> Array:
    """Hold every element of `operand` between `min` and `max`.

    NaN in any of the three gives NaN; where min is above max the result is max.

    C1  min is a scalar or has the dimensions of operand.
    C2  max is a scalar or has the dimensions of operand.
    C3  All three have one element type.
    C4  All three are arrays.
    """
    return computed(lambda x, low, high: minimum(maximum(x, low), high), operand, min, max)


def select_shape(pred: Shape, on_true: Shape, on_false: Shape) -> Shape:
    """Constraints 1 to 4 of select."""
    require_array(on_true, "select-c4", "on_true")
    require_array(on_false, "select-c4", "on_false")
    require_type(pred, ("pred",), "select-c3", "the predicate")
    require(same_dims(on_true, on_false) and on_true.element_type == on_false.element_type, "select-c2",
            f"on_true is {on_true.text(False)}, on_false is {on_false.text(False)}: they must have one shape")
    require(not pred.dims or same_dims(pred, on_true), "select-c1",
            f"the predicate is {pred.text(False)}, on_true is {on_true.text(False)}; "
            "it must be a scalar or have the same dimensions")
    require(not pred.dims or same_dims(pred, on_false), "select-c1",
            f"the predicate is {pred.text(False)}, on_false is {on_false.text(False)}; "
            "it must be a scalar or have the same dimensions")
    found = merged(on_true, on_false)
    return merged(found, pred) if pred.dims else found


def _draw_select(d: Draw) -> None:
    is_scalar = d.edge("scalar predicate")
    lhs, rhs = d.pairs(2)
    d.add("select", d.argument(() if is_scalar else lhs.dims, "pred"), lhs, rhs)


@op(select_shape, lowering=renamed("select"), element_types=("pred",), flags=("elementwise",), freedom=Freedom.EXACT,
    source=SPECIFICATION, draw=_draw_select,
    flow=Flow(Elements.ASSEMBLED, (1, 3)), term=smt.SELECT)
def select(pred: Array, on_true: Array, on_false: Array) -> Array:
    """Take each element of `on_true` where `pred` holds, else of `on_false`; a scalar pred takes one array whole.

    C1  pred is a scalar or has the dimensions of on_true.
    C2  on_true and on_false have one shape and element type.
    C3  pred holds pred elements.
    C4  on_true and on_false are arrays.
    """
    return np.where(pred, on_true, on_false).astype(on_true.dtype, copy=False)
