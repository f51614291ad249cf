"""Reduce, ReduceWindow, SelectAndScatter, Map and Sort, of one operand or several."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.argument_types import Ints
from hlotool.builder.codes import ARGUMENTS
from hlotool.builder.contraction import padding_rows, window_of
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import axis_of, element_type_of, ints
from hlotool.ir import DTYPES, HloComputation, HloModule, Shape

if TYPE_CHECKING:
    from hlotool.builder.core import Core

_AT_LEAST_ONE = "at least one operand is needed"


def several(value: Any) -> list[Any]:
    """Return a list of operands; one stands for itself."""
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _scalars(operands: Sequence[XlaOp]) -> list[Shape]:
    return [Shape.array(o.element_type) if o.shape.is_array else o.shape for o in operands]


def with_inits(b: Core, operands: Any, init_values: Any) -> tuple[list[XlaOp], list[XlaOp]]:
    """Operands, and an initial value for each of its element type."""
    made, starts = [b.operand(o) for o in several(operands)], several(init_values)
    demand(bool(made), ARGUMENTS, _AT_LEAST_ONE)
    demand(len(made) == len(starts), ARGUMENTS, f"{len(made)} operands and {len(starts)} init_values")
    return made, [b.operand(s, m.element_type if m.shape.is_array else None)
                  for s, m in zip(starts, made, strict=True)]


def folding(b: Core, computation: Any, inits: Sequence[XlaOp], name: str = "reducer") -> Any:
    """The computation that folds: accumulators, then elements."""
    scalars = _scalars(inits)
    return b.callee(computation, [*scalars, *scalars], name if getattr(computation, "__name__", "<lambda>") ==
                    "<lambda>" else "")


def is_computation(value: Any) -> bool:
    """Return True if an argument is a computation, among those that may be operands."""
    return isinstance(value, (XlaComputation, HloComputation, HloModule)) or hasattr(value, "build") or (
        callable(value) and not isinstance(value, XlaOp))


def grouped(args: Sequence[Any], split: Any) -> list[Any]:
    """Operands that stand one by one before the computation put into lists, as `split` divides them."""
    at = next((i for i, a in enumerate(args) if is_computation(a)), None)
    return list(args) if at is None else [*split(list(args[:at])), *args[at:]]


def in_halves(args: Sequence[Any]) -> list[Any]:
    """`x, y, i, j, computation` as `[x, y], [i, j], computation`."""
    return grouped(args, lambda given: given if len(given) <= 2 or len(given) % 2 else [
        given[:len(given) // 2], given[len(given) // 2:]])


def computation_before_start(args: Sequence[Any]) -> list[Any]:
    """ReduceWindow's arguments in the order of its signature.

    An example of the older documents writes `ReduceWindow(input, max, init, ...)`, and the tables of the newer ones
    have the dilations before the padding.
    """
    given = in_halves(args)
    if len(given) > 2 and is_computation(given[1]) and not is_computation(given[2]):
        given[1], given[2] = given[2], given[1]
    if len(given) == 8 and _are_ints(given[5]):
        given = [*given[:5], given[7], given[5], given[6]]
    return given


def _are_ints(value: Any) -> bool:
    return isinstance(value, (list, tuple)) and bool(value) and all(isinstance(v, int) for v in value)


@function(regroup=in_halves)
def reduce(b: Core, operands: Any, init_values: Any, computation: Any, dimensions_to_reduce: Any = None) -> XlaOp:
    """Fold operands along dimensions by a computation, from initial values; by default along all.

    The computation takes an accumulator for each operand, then an element of each. Several operands, or a list of
    one, give a tuple of results.
    """
    made, inits = with_inits(b, operands, init_values)
    rows = tuple(range(made[0].rank)) if dimensions_to_reduce is None else ints(dimensions_to_reduce, "dimensions")
    return b.emit("reduce", [*made, *inits], {"dimensions": rows, "to_apply": folding(b, computation, inits)})


@function()
def reduce_all(b: Core, operand: Any, init_value: Any, computation: Any) -> XlaOp:
    """Fold an operand along all its dimensions."""
    return reduce(b, operand, init_value, computation)


#: names of two arguments in the comments of the documents' example
EXAMPLE_NAMES = {"init_val": "init_values", "window_stride_dimensions": "window_strides"}


@function(regroup=computation_before_start, synonyms=EXAMPLE_NAMES)
def reduce_window(b: Core, operands: Any, init_values: Any, computation: Any, window_dimensions: Ints,
                  window_strides: Ints | None = None, padding: Any = "VALID", base_dilations: Ints | None = None,
                  window_dilations: Ints | None = None) -> XlaOp:
    """Fold what a window covers at each place; padding is SAME, VALID or pairs, and counts as the initial value."""
    made, inits = with_inits(b, operands, init_values)
    window = sliding(made[0], window_dimensions, window_strides, padding, base_dilations, window_dilations)
    return b.emit("reduce-window", [*made, *inits], {"window": window, "to_apply": folding(b, computation, inits)})


def sliding(operand: XlaOp, window_dimensions: Ints, window_strides: Ints | None, padding: Any,
            base_dilations: Ints | None = None, window_dilations: Ints | None = None) -> Any:
    """The window of those parts over an operand."""
    sizes = ints(window_dimensions, "window_dimensions")
    strides = ints(window_strides, "window_strides") if window_strides is not None else (1,) * len(sizes)
    base = ints(base_dilations, "base_dilations") if base_dilations is not None else None
    dilation = ints(window_dilations, "window_dilations") if window_dilations is not None else None
    rows: Any = padding
    if padding is None or len(sizes) == operand.rank == len(strides):
        wide = list(operand.dims)
        if base:
            wide = [(n - 1) * d + 1 if n else 0 for n, d in zip(wide, base, strict=False)]
        rows = None if padding is None else padding_rows(padding, wide, sizes, strides, dilation)
    elif isinstance(padding, str) or not isinstance(padding, (list, tuple)):
        rows = None
    return window_of(sizes, strides, rows, base, dilation)


@function()
def reduce_window_with_general_padding(b: Core, operands: Any, init_values: Any, computation: Any,
                                       window_dimensions: Ints, window_strides: Ints | None = None,
                                       base_dilations: Ints | None = None, window_dilations: Ints | None = None,
                                       padding: Any = None) -> XlaOp:
    """ReduceWindow in the order of the C++ function, with padding in pairs."""
    return reduce_window(b, operands, init_values, computation, window_dimensions, window_strides,
                         padding, base_dilations, window_dilations)


@function()
def select_and_scatter(b: Core, operand: Any, select: Any, window_dimensions: Ints, window_strides: Ints | None,
                       padding: Any, source: Any, init_value: Any, scatter: Any) -> XlaOp:
    """In each window one element is selected, and an element of source is scattered to it."""
    made = b.operand(operand)
    kind = made.element_type if made.shape.is_array else None
    scalar = [Shape.array(kind or "f32")] * 2
    found = {"window": sliding(made, window_dimensions, window_strides, padding),
             "select": b.callee(select, scalar, "select"), "scatter": b.callee(scatter, scalar, "scatter")}
    return b.emit("select-and-scatter", [made, b.operand(source, kind), b.operand(init_value, kind)], found)


@function()
def select_and_scatter_with_general_padding(b: Core, operand: Any, select: Any, window_dimensions: Ints,
                                            window_strides: Ints | None, padding: Any, source: Any, init_value: Any,
                                            scatter: Any) -> XlaOp:
    """SelectAndScatter with padding in pairs."""
    return select_and_scatter(b, operand, select, window_dimensions, window_strides, padding, source, init_value,
                              scatter)


@function()
def map_(b: Core, *operands: Any, computation: Any = None, dimensions: Ints | None = None) -> XlaOp:
    """Apply a computation of scalars to the elements of operands: `Map([x, y], computation, dimensions)`.

    The arguments may also stand one by one: `Map(x, y, computation)`.
    """
    given = list(operands)
    if computation is None:
        at = next((i for i, g in enumerate(given) if is_computation(g)), None)
        demand(at is not None, ARGUMENTS, "Map needs a computation")
        assert at is not None
        computation, rest = given[at], given[at + 1:]
        dimensions = rest[0] if rest else dimensions
        given = given[:at]
    if len(given) == 1 and isinstance(given[0], (list, tuple)):
        given = list(given[0])
    made = b.operands(*given)
    demand(bool(made), ARGUMENTS, _AT_LEAST_ONE)
    rows = tuple(range(made[0].rank)) if dimensions is None else ints(dimensions, "dimensions")
    to_apply = b.callee(computation, _scalars(made), "mapped")
    return b.emit("map", made, {"dimensions": rows, "to_apply": to_apply})


@function()
def sort(b: Core, operands: Any, comparator: Any = None, dimension: int = -1, is_stable: bool = False) -> XlaOp:
    """Sort along a dimension, by default the last; several operands move together and give a tuple.

    The comparator takes two elements of each operand and says whether the first go first; by default the first
    operand rises, in the total order of floats.
    """
    made = [b.operand(o) for o in several(operands)]
    demand(bool(made), ARGUMENTS, _AT_LEAST_ONE)
    axis = axis_of(made[0], dimension)
    rows = [s for s in _scalars(made) for _ in range(2)]
    to_apply = b.callee(_rising if comparator is None else comparator, rows,
                        "comparator" if comparator is None or getattr(comparator, "__name__", "") == "<lambda>" else "")
    found: dict[str, Any] = {"dimensions": (axis,), "to_apply": to_apply}
    if is_stable:
        found["is_stable"] = True
    return b.emit("sort", made, found)


def _rising(lhs: XlaOp, rhs: XlaOp, *others: XlaOp) -> XlaOp:
    return lhs.builder.today("LtTotalOrder", lhs, rhs)


@function("Topk")
def top_k(b: Core, operand: Any, k: int, largest: bool = True, index_type: Any = "s32") -> XlaOp:
    """The k greatest (or least) elements along the last dimension, and where they stood, as integers of `index_type`.

    HLO's operation gives s32; XLA's library sorts an iota of the type in question along.
    """
    made, kind = b.operand(operand), element_type_of(index_type)
    found = b.emit("topk", [made], {"k": k, "largest": largest})
    if kind == "s32":
        return found
    size, dtype = made.dims[-1], DTYPES[kind]
    demand(dtype.family in ("signed", "unsigned") and size <= 2 ** (dtype.bits - (dtype.family == "signed")), ARGUMENTS,
           f"TopK: {kind} does not hold the numbers of {size} elements")
    values, places = (b.today("GetTupleElement", found, i) for i in range(2))
    return b.today("Tuple", values, b.today("ConvertElementType", places, kind))


@function()
def scan(b: Core, operands: Any, computation: Any, dimension: int = 0, num_carries: int | None = None,
         is_reverse: bool = False, is_associative: bool | None = None) -> XlaOp:
    """Run a computation along a dimension, handing carries on: inputs first, then the initial carries."""
    made = [b.operand(o) for o in several(operands)]
    demand(bool(made), ARGUMENTS, _AT_LEAST_ONE)
    found: dict[str, Any] = {"dimensions": (dimension,), "to_apply": b.callee(computation, None, "scan")}
    if num_carries:
        found["num_carries"] = num_carries
    if is_reverse:
        found["is_reverse"] = True
    if is_associative is not None:
        found["is_associative"] = is_associative
    return b.emit("scan", made, found)
