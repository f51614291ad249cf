"""Limits of the documents: checks of a call's arguments, before today's function builds it.

Each is called with the builder, the function's name and the arguments by the names of the document; its message
speaks of that function. HLO itself allows these things: what it refuses, its operations refuse.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import STRICTER
from hlotool.builder.dimension_numbers import DotDimensionNumbers, numbers_of
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import element_type_of, ints, shape_of
from hlotool.ir import DTYPES, Shape

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def _year(b: Core) -> str:
    return f"the document of {b.semantics.year}"


def _shape(value: Any) -> Shape | None:
    """The shape of an operand; None for Python's own numbers, which take the type of their place."""
    return value.shape if isinstance(value, XlaOp) else None


def one_width(b: Core, name: str, /, operand: Any, new_element_type: Any) -> None:
    """Both types have one width."""
    shape, kind = b.operand(operand).shape, element_type_of(new_element_type)
    demand(not shape.is_array or shape.dtype.bits == DTYPES[kind].bits, STRICTER,
           f"{name}: {shape.text(False)} and {kind} differ in width, which {_year(b)} does not allow")


def logical(b: Core, name: str, /, **operands: Any) -> None:
    """The operands are predicates."""
    operands.pop("broadcast_dimensions", None)
    for which, value in operands.items():
        shape = _shape(value)
        demand(shape is None or not shape.is_array or shape.element_type == "pred", STRICTER,
               f"{name}: {which} is {shape.text(False) if shape else ''}; in {_year(b)} it is a function of pred",
               'semantics="2025" has And, Or and Not of integers')


def dot_of_one_type(b: Core, name: str, /, lhs: Any, rhs: Any) -> None:
    """Both operands are arrays of type T."""
    left, right = _shape(lhs), _shape(rhs)
    demand(left is None or right is None or left.element_type == right.element_type, STRICTER,
           f"{name}: lhs is {left.text(False) if left else ''}, rhs is {right.text(False) if right else ''}; "
           f"{_year(b)} takes arrays of one type")


def dot_general_of_2018(b: Core, name: str, /, lhs: Any, rhs: Any, dimension_numbers: Any) -> None:
    """One contracting dimension, and leading batch dimensions of the same numbers."""
    given = numbers_of(DotDimensionNumbers, dimension_numbers)
    left, right = (tuple(given.get(f"{side}_batch_dimensions", ())) for side in ("lhs", "rhs"))
    contracted = [given.get(f"{side}_contracting_dimensions", ()) for side in ("lhs", "rhs")]
    demand(all(len(c) == 1 for c in contracted), STRICTER,
           f"{name}: {_year(b)} demands exactly one contracting dimension on both sides")
    demand(left == right == tuple(range(len(left))), STRICTER, f"{name}: lhs_batch_dimensions are {list(left)}, "
           f"rhs_batch_dimensions {list(right)}; in {_year(b)} they are the leading ones, with the same numbers on "
           "both sides")


def _one_array(b: Core, name: str, operand: Any, start_indices: Any) -> None:
    """start_indices are one array, with an index for each dimension."""
    is_list = isinstance(start_indices, (list, tuple))
    demand(not is_list or not any(isinstance(s, XlaOp) for s in start_indices), STRICTER,
           f"{name}: start_indices are a list of values; in {_year(b)} they are one array of rank 1",
           "ConcatInDim joins them")
    rank = b.operand(operand).rank
    shape = _shape(start_indices)
    count = len(start_indices) if is_list else shape.dims[0] if shape is not None and shape.rank == 1 else None
    demand(count == rank or (shape is None and not is_list), STRICTER,
           f"{name}: start_indices are {shape.text(False) if shape else start_indices}; {_year(b)} demands an "
           f"array of rank 1 with {rank} elements, one for each dimension of the operand")


def _positive(b: Core, name: str, what: str, sizes: Sequence[int]) -> None:
    demand(all(s > 0 for s in sizes), STRICTER,
           f"{name}: {what} {list(sizes)} are to be greater than zero in {_year(b)}")


def slice_at_one_array(b: Core, name: str, /, operand: Any, start_indices: Any, size_indices: Any) -> None:
    """DynamicSlice until 2018: one array of start indices, sizes above zero."""
    _one_array(b, name, operand, start_indices)
    slice_not_empty(b, name, size_indices=size_indices)


def slice_not_empty(b: Core, name: str, /, **given: Any) -> None:
    """The sizes of a slice are strictly greater than zero."""
    what = next(n for n in ("size_indices", "slice_sizes") if n in given)
    _positive(b, name, what, ints(given[what], what))


def update_at_one_array(b: Core, name: str, /, operand: Any, update: Any, start_indices: Any) -> None:
    """DynamicUpdateSlice until 2018: one array of start indices, an update that is not empty."""
    _one_array(b, name, operand, start_indices)
    update_not_empty(b, name, operand, update, start_indices)


def update_not_empty(b: Core, name: str, /, operand: Any, update: Any, start_indices: Any) -> None:
    """The dimensions of the update are strictly greater than zero."""
    shape = _shape(update)
    if shape is not None and shape.is_array:
        _positive(b, name, "the dimensions of update", [n for n in shape.dims if n != -1])


def limits_past_starts(b: Core, name: str, /, operand: Any, start_indices: Any, limit_indices: Any) -> None:
    """Limits lie past the starts."""
    starts, ends = ints(start_indices, "start_indices"), ints(limit_indices, "limit_indices")
    demand(all(low < high for low, high in zip(starts, ends, strict=False)), STRICTER, f"{name}: limit_indices "
           f"{list(ends)} must be greater than start_indices {list(starts)} in {_year(b)}")


def sort_of_one(b: Core, name: str, /, operand: Any) -> None:
    """The operand is one array."""
    shape = _shape(operand)
    demand(shape is None or shape.is_array, STRICTER,
           f"{name}: operand is {shape.text(False) if shape else ''}; in {_year(b)} one array is sorted")


def sum_of_one(b: Core, name: str, /, operand: Any) -> None:
    """The operand is the array to sum."""
    shape = _shape(operand)
    demand(shape is None or not shape.is_tuple, STRICTER,
           f"{name}: operand is {shape.text(False) if shape else ''}; in {_year(b)} it sums one array")


def _scalar(b: Core, name: str, what: str, value: Any, kind: str) -> None:
    """A parameter of a distribution is a scalar of a type; Python's own numbers take it."""
    shape = _shape(value)
    demand(shape is None or (shape.is_array and shape.rank == 0 and shape.element_type == kind), STRICTER,
           f"{name}: {what} is {shape.text(False) if shape else value!r}; {_year(b)} demands a scalar of {kind}")


def _result(b: Core, name: str, shape: Any, kinds: Sequence[str]) -> Shape:
    wanted = shape_of(shape)
    demand(wanted.is_array and wanted.element_type in kinds, STRICTER,
           f"{name}: the result is to be {wanted.text(False)}; {_year(b)} allows {', '.join(kinds)}")
    return wanted


def rng_bernoulli(b: Core, name: str, /, mean: Any, shape: Any) -> None:
    """A mean of F32, a result of U32."""
    _result(b, name, shape, ("u32",))
    _scalar(b, name, "mean", mean, "f32")


def rng_normal_of_f32(b: Core, name: str, /, shape: Any, sigma: Any, mean: Any = None, kinds: Sequence[str] = ("f32",)
                      ) -> None:
    """Parameters and result of F32."""
    _result(b, name, shape, kinds)
    _scalar(b, name, "mean", mean, "f32")
    _scalar(b, name, "sigma", sigma, "f32")


def rng_normal_of_f32_or_u32(b: Core, name: str, /, shape: Any, sigma: Any, mean: Any = None) -> None:
    """Parameters of F32, a result of U32 as the table has it, or of F32 as its sense has it."""
    rng_normal_of_f32(b, name, shape, sigma, mean, ("f32", "u32"))


def rng_normal(b: Core, name: str, /, mu: Any, sigma: Any, shape: Any) -> None:
    """Parameters and result of one type of floats."""
    kind = _result(b, name, shape, [n for n, d in DTYPES.items() if d.is_floating]).element_type
    _scalar(b, name, "mu", mu, kind)
    _scalar(b, name, "sigma", sigma, kind)


def rng_uniform_of_2017(b: Core, name: str, /, shape: Any, kinds: Sequence[str] = ("f32", "s32", "u32"),
                        **bounds: Any) -> None:
    """Parameters and result of one type: F32, S32 or U32."""
    kind = _result(b, name, shape, kinds).element_type
    for what, value in bounds.items():
        _scalar(b, name, what, value, kind)


def rng_uniform(b: Core, name: str, /, shape: Any, **bounds: Any) -> None:
    """Parameters and result of one type: predicates, integers or floats."""
    kinds = [n for n, d in DTYPES.items() if d.is_floating or d.is_integral or d.family == "pred"]
    rng_uniform_of_2017(b, name, shape, kinds, **bounds)
