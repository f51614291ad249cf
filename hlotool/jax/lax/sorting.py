"""Sorts: by JAX's own order where the comparison is that, else by the comparison itself."""

from __future__ import annotations

from collections.abc import Callable

from hlotool.ir import HloInstruction
from hlotool.ir.arrays import np
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.function_code import FunctionCode, writes
from hlotool.ops import comparison_type

#: a sort by a comparison of all pairs takes the square of the size
_LONGEST = 4096


@writes("sort")
def _sort(code: FunctionCode, i: HloInstruction) -> str:
    dimension, stable = i.attributes["dimensions"][0], bool(i.attributes.get("is_stable", False))
    arrays = code.operands(i)
    given = code.whole(arrays) if i.shape.is_tuple else arrays[0]
    keys = _keys(i.attributes["to_apply"].root)
    if keys:
        more = f", num_keys={keys}" if i.shape.is_tuple else ""
        return f"lax.sort({given}, dimension={dimension}, is_stable={stable}{more})"
    if i.operands[0].shape.dims[dimension] > _LONGEST:
        raise NotWritable(f"JAX sorts in ascending order only; by a comparison of our own, more than {_LONGEST} "
                          "elements take too much memory")
    helper = code.helper("_sorted_by")
    call = f"{helper}({code.called(i.attributes['to_apply'])}, {code.whole(list(arrays))}, {dimension})"
    return call if i.shape.is_tuple else f"{call}[0]"


@writes("topk")
def _top_k(code: FunctionCode, i: HloInstruction) -> str:
    if not i.attributes.get("largest", True):
        raise NotWritable("JAX has the largest k only")
    return f"lax.top_k({code.operand(i)}, {i.attributes['k']})"


def _keys(root: HloInstruction) -> int:
    """Return the number of arrays, from the first on, by which lax.sort's own comparison sorts; 0 for another one.

    That is a < b of one key, or a1 < b1 | (a1 == b1 & (a2 < b2 ...)); floats in total order, after every zero was made
    +0 and every NaN the same.
    """
    count = 0
    while True:
        if _is_order(root, "LT", count):
            return count + 1
        if root.opcode != "or" or not _is_order(root.operands[0], "LT", count):
            return 0
        rest = root.operands[1]
        if rest.opcode != "and" or not _is_order(rest.operands[0], "EQ", count):
            return 0
        root, count = rest.operands[1], count + 1


def _is_order(compare: HloInstruction, direction: str, key: int) -> bool:
    """Return True if an instruction compares the two values of a key as lax.sort does."""
    if compare.opcode != "compare" or compare.attributes["direction"] != direction:
        return False
    left, right = compare.operands
    if left.shape.element_type.startswith(("f", "bf")):
        total = comparison_type(compare) == "TOTALORDER"
        return (total or direction == "EQ") and _is_made_equal(left, 2 * key) and _is_made_equal(right, 2 * key + 1)
    return not left.shape.element_type.startswith("c") and _is_parameter(left, 2 * key) and (
        _is_parameter(right, 2 * key + 1))


def _is_parameter(value: HloInstruction, number: int) -> bool:
    return value.opcode == "parameter" and value.parameter_number == number


def _is_made_equal(value: HloInstruction, number: int) -> bool:
    """Return True if a value is a parameter of which zeros have lost their sign and NaNs their bits."""
    return _is_replaced(value, "NE", number, lambda inner: _is_replaced(
        inner, "EQ", number, lambda last: _is_parameter(last, number)))


def _is_replaced(value: HloInstruction, direction: str, number: int,
                 is_rest: Callable[[HloInstruction], bool]) -> bool:
    """select(x != x, constant, rest) for NE; select(x == 0, constant, rest) for EQ."""
    if value.opcode != "select":
        return False
    condition, constant, rest = value.operands
    if condition.opcode != "compare" or condition.attributes["direction"] != direction or (
            constant.opcode != "constant"):
        return False
    left, right = condition.operands
    if left is not rest and not _is_parameter(left, number):
        return False  # it asks about something else
    array = constant.literal.array
    if direction == "EQ":
        fits = right.opcode == "constant" and right.literal.array == 0 and array == 0
    else:
        fits = left is right and bool(np.isnan(array))
    return bool(fits) and is_rest(rest)
