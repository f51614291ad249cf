"""Shape rules that several operations share."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from hlotool.diagnostics import in_words
from hlotool.ir import UNBOUNDED, Shape
from hlotool.ops.registry import ConstraintError, require

#: element families (and names) that groups of operations take
FLOAT = ("float",)
FLOAT_OR_COMPLEX = ("float", "complex")
INTEGER = ("signed", "unsigned")
LOGICAL = ("pred", "signed", "unsigned")
NUMERIC = ("signed", "unsigned", "float", "complex")
SIGNED = ("signed", "float", "complex")
ANY = ("pred", "signed", "unsigned", "float", "complex")

_WORDS = {"signed": "signed integers", "unsigned": "unsigned integers", "float": "floats", "complex": "complex numbers"}


def require_array(shape: Shape, label: str, what: str = "the operand") -> None:
    """Only array shapes pass."""
    if not shape.is_array:  # a text of every shape would take longer than the rest of its check
        raise ConstraintError(label, f"{what} is {shape}, which is not an array")


def require_type(shape: Shape, types: Sequence[str], label: str, what: str = "the operand") -> None:
    """Only arrays of those element families or names pass."""
    require_array(shape, label, what)
    if shape.dtype.family not in types and shape.element_type not in types:
        require(False, label, f"{what} is {shape.text(False)}; it must hold {type_words(types)}")


def type_words(types: Sequence[str]) -> str:
    """Element families in words: "floats or complex numbers"."""
    return in_words([_WORDS.get(t, t) for t in types])


def require_same_type(shapes: Sequence[Shape], label: str, names: Sequence[str]) -> None:
    """All arrays have one element type."""
    for shape, name in zip(shapes[1:], names[1:], strict=True):
        if shape.element_type != shapes[0].element_type:
            raise ConstraintError(label, f"{names[0]} is {shapes[0].text(False)}, {name} is {shape.text(False)}: the "
                                  "element types differ")


def require_in_range(values: Iterable[int], limit: int, label: str, what: str, *,
                     attribute: str = "") -> None:
    """Every value lies in [0, limit)."""
    for value in values:
        require(0 <= value < limit, label, f"{what} {value} is not in [0, {limit})", attribute=attribute)


def require_unique(values: Sequence[int], label: str, what: str, *, attribute: str = "") -> None:
    """No value is listed twice."""
    for i, value in enumerate(values):
        require(value not in values[:i], label, f"{value} stands twice in {what} {{{listed(values)}}}",
                attribute=attribute)


def require_sorted(values: Sequence[int], label: str, what: str, *, attribute: str = "") -> None:
    """The values do not fall."""
    require(list(values) == sorted(values), label, f"{what} {{{listed(values)}}} is not in ascending order",
            attribute=attribute)


def listed(values: Iterable[int]) -> str:
    """Numbers as HLO text lists them."""
    return ",".join(map(str, values))


def same_size(x: int, y: int) -> bool:
    """Equal sizes, an unbounded one being equal to any."""
    return x == y or UNBOUNDED in (x, y)


def same_dims(a: Shape, b: Shape) -> bool:
    """Equal ranks and sizes, an unbounded dimension being equal to any."""
    return a.dims == b.dims or (
        a.rank == b.rank and all(same_size(x, y) for x, y in zip(a.dims, b.dims, strict=True)))


def merged_dims(a: Shape, b: Shape) -> tuple[tuple[int, ...], tuple[bool, ...]]:
    """Dimensions and dynamic flags of an elementwise result.

    What is known of a size, a bound included, beats an unbounded one; of two known sizes a bound beats a static one.
    Source: XLA, InferMostSpecificDimAndBound.
    """
    dims, flags = [], []
    for i, (x, y) in enumerate(zip(a.dims, b.dims, strict=True)):
        dims.append(y if x == UNBOUNDED else x)
        flags.append(dims[-1] == UNBOUNDED or a.is_bounded_dim(i) or b.is_bounded_dim(i))
    return tuple(dims), tuple(flags)


def merged(a: Shape, b: Shape) -> Shape:
    """The result of an elementwise operation on two arrays of the same dims, laid out like the first."""
    if a is b or (a.dims == b.dims and a.dynamic == b.dynamic):
        return a
    dims, flags = merged_dims(a, b)
    return Shape.array(a.element_type, dims, a.layout, flags)
