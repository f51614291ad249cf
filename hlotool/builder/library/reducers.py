"""Computations of scalars to fold and to sort with, and the folds that everybody needs."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.functions import Function, add, function, without_builder
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.builder.library.constants import max_value, min_value, one, zero
from hlotool.builder.problems import demand
from hlotool.builder.python_values import axis_of, element_type_of, ints
from hlotool.ir import Shape

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


def fold_of(b: Methods, name: str) -> Callable[[XlaOp, XlaOp], XlaOp]:
    """Return the function of two scalars that the builder function of that name computes."""
    def fold(lhs: XlaOp, rhs: XlaOp) -> XlaOp:
        return b.today(name, lhs, rhs)

    return fold


def _folding(name: str) -> None:
    def call(b: Methods, element_type: Any) -> XlaComputation:
        scalar = Shape.array(element_type_of(element_type))
        return XlaComputation(b.callee(fold_of(b, name), [scalar, scalar], f"{name.lower()}_{scalar.element_type}"))

    other = {"Mul": "Multiply", "And": "LogicalAnd"}.get(name)
    add(Function(f"CreateScalar{name}Computation", call, f"A computation of two scalars: {name}.",
                 without_builder(inspect.signature(call)), (f"CreateScalar{other}Computation",) if other else ()))


def _ordering(name: str) -> None:
    def call(b: Methods, element_types: Sequence[Any]) -> XlaComputation:
        rows = [Shape.array(element_type_of(t)) for t in element_types for _ in range(2)]

        def compare(lhs: XlaOp, rhs: XlaOp, *others: XlaOp) -> XlaOp:
            return b.today(f"{name}TotalOrder", lhs, rhs)

        return XlaComputation(b.callee(compare, rows, f"{name.lower()}_comparator"))

    add(Function(f"CreateScalar{name}Computation", call, f"A comparator of operands of those element types: the first "
                 f"two are compared by {name}, in the total order of floats.",
                 without_builder(inspect.signature(call))))


@function()
def create_scalar_comparison_computation(b: Methods, name: str, element_types: Sequence[Any],
                                         generators: Sequence[Callable[..., XlaOp] | None]) -> XlaComputation:
    """A comparator of operands of those element types: by the first generator, by the next where those are equal, ...

    A generator takes two scalars and gives pred[]; operands with None are not compared. Equal is equal in the total
    order of floats. Source: XLA, CreateScalarComparisonComputation.
    """
    demand(len(element_types) == len(generators) and any(generators), ARGUMENTS, f"{len(generators)} generators for "
           f"{len(element_types)} element types; each has one, or None, and one at least compares")
    rows = [Shape.array(element_type_of(t)) for t in element_types for _ in range(2)]

    def compare(*values: XlaOp) -> XlaOp:
        found: XlaOp | None = None
        for at in reversed(range(len(generators))):
            generator, left, right = generators[at], values[2 * at], values[2 * at + 1]
            if generator is not None:
                first = generator(left, right)
                found = first if found is None else b.Or(first, b.And(b.EqTotalOrder(left, right), found))
        assert found is not None
        return found

    return XlaComputation(b.callee(compare, rows, name))


def _identity_with_zero(b: Methods, element_type: Any) -> XlaComputation:
    name = element_type_of(element_type)
    is_whole = name == "pred" or Shape.array(name).dtype.is_integral
    found: XlaComputation = b.today(f"CreateScalar{'Or' if is_whole else 'Add'}Computation",  # type: ignore[assignment]
                                    element_type)
    return found


add(Function("CreateScalarIdentityWithZeroComputation", _identity_with_zero,
             "A computation of two scalars that gives the other one where one is zero: Or of integers, else Add.",
             without_builder(inspect.signature(_identity_with_zero))))

for _name in ("Add", "Mul", "And", "Or", "Xor", "Max", "Min"):
    _folding(_name)
for _name in ("Lt", "Gt", "Le", "Ge", "Eq", "Ne"):
    _ordering(_name)


def folded(b: Methods, operand: Any, axes: Any, name: str, start: Any) -> XlaOp:
    """An operand folded along axes (all, by default) by a function, from what `start` gives."""
    made = b.operand(operand)
    return b.Reduce(made, start(b, made.element_type), fold_of(b, name), _axes(made, axes))


def _axes(made: XlaOp, axes: Any) -> tuple[int, ...]:
    return tuple(range(made.rank)) if axes is None else tuple(axis_of(made, a) for a in ints(axes, "axes"))


@function("ReduceSum")
def sum_(b: Methods, operand: Any, axes: Any = None) -> XlaOp:
    """The sum along axes; along all by default."""
    return folded(b, operand, axes, "Add", zero)


@function("ReduceProduct")
def product(b: Methods, operand: Any, axes: Any = None) -> XlaOp:
    """The product along axes; along all by default."""
    return folded(b, operand, axes, "Mul", one)


@function()
def reduce_max(b: Methods, operand: Any, axes: Any = None) -> XlaOp:
    """The greatest element along axes; along all by default."""
    return folded(b, operand, axes, "Max", min_value)


@function()
def reduce_min(b: Methods, operand: Any, axes: Any = None) -> XlaOp:
    """The least element along axes; along all by default."""
    return folded(b, operand, axes, "Min", max_value)


@function()
def mean(b: Methods, operand: Any, axes: Any = None) -> XlaOp:
    """The mean of floats along axes; along all by default."""
    made = b.operand(operand)
    return b.Div(sum_(b, made, axes), float(math.prod(made.dims[axis] for axis in _axes(made, axes))))


@function()
def any_(b: Methods, predicates: Any, axes: Any = None) -> XlaOp:
    """Return true where one of the predicates holds."""
    return folded(b, predicates, axes, "Or", zero)


@function()
def all_(b: Methods, predicates: Any, axes: Any = None) -> XlaOp:
    """Return true where all predicates hold."""
    return folded(b, predicates, axes, "And", one)


def _arg(b: Methods, operand: Any, axis: int, index_type: Any, is_max: bool) -> XlaOp:
    made = b.operand(operand)
    axis = axis_of(made, axis)
    kind = element_type_of(index_type)
    places = b.emit("iota", (), {"iota_dimension": axis}, Shape.array(kind, made.dims))

    def fold(best: XlaOp, at: XlaOp, value: XlaOp, index: XlaOp) -> Any:
        better = b.today("Gt" if is_max else "Lt", value, best)
        same = b.Eq(value, best)
        if made.shape.dtype.is_floating:  # NaN beats all, as in NumPy
            is_nan, was_nan = b.IsNan(value), b.IsNan(best)
            better, same = better | (is_nan & ~was_nan), same | (is_nan & was_nan)
        take = better | (same & (index < at))
        return b.Select(take, value, best), b.Select(take, index, at)

    start = (min_value if is_max else max_value)(b, made.element_type)
    # The start has no place: any other element of its value goes before it.
    last = b.operand(max(made.dims[axis] - 1, 0), kind)
    found = b.Reduce([made, places], [start, last], fold, [axis])
    return b.GetTupleElement(found, 1)


def axis_first(args: Sequence[Any]) -> list[Any]:
    """C++'s order, `ArgMax(input, output_type, axis)`, as that of this function."""
    return [args[0], args[2], args[1]] if len(args) == 3 and not isinstance(args[1], int) else list(args)


@function(regroup=axis_first, synonyms={"input": "operand", "output_type": "index_type"})
def arg_max(b: Methods, operand: Any, axis: int = 0, index_type: Any = "s32") -> XlaOp:
    """Where the greatest element along an axis stands; the first of several."""
    return _arg(b, operand, axis, index_type, True)


@function(regroup=axis_first, synonyms={"input": "operand", "output_type": "index_type"})
def arg_min(b: Methods, operand: Any, axis: int = 0, index_type: Any = "s32") -> XlaOp:
    """Where the least element along an axis stands; the first of several."""
    return _arg(b, operand, axis, index_type, False)


def _running(b: Methods, operand: Any, axis: int, name: str, start: Any, is_reverse: bool) -> XlaOp:
    made = b.operand(operand)
    axis = axis_of(made, axis)
    size = made.dims[axis]
    window = [size if d == axis else 1 for d in range(made.rank)]
    side = (0, max(size - 1, 0)) if is_reverse else (max(size - 1, 0), 0)
    padding = [side if d == axis else (0, 0) for d in range(made.rank)]
    return b.ReduceWindow(made, start(b, made.element_type), fold_of(b, name), window, None, padding)


@function()
def cumulative_sum(b: Methods, operand: Any, axis: int = 0, is_reverse: bool = False) -> XlaOp:
    """Sums of all elements up to each along an axis, or from each on."""
    return _running(b, operand, axis, "Add", zero, is_reverse)


@function()
def cumulative_product(b: Methods, operand: Any, axis: int = 0, is_reverse: bool = False) -> XlaOp:
    """Products of all elements up to each along an axis, or from each on."""
    return _running(b, operand, axis, "Mul", one, is_reverse)


@function()
def cumulative_max(b: Methods, operand: Any, axis: int = 0, is_reverse: bool = False) -> XlaOp:
    """The greatest of all elements up to each along an axis, or from each on."""
    return _running(b, operand, axis, "Max", min_value, is_reverse)
