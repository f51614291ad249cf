"""Dot, DotGeneral and their relatives, and the convolutions."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.argument_types import Ints
from hlotool.builder.codes import ARGUMENTS, WINDOW_PARTS
from hlotool.builder.dimension_numbers import ConvPadding, DotDimensionNumbers, RaggedDotDimensionNumbers, numbers_of
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import element_type_of, ints, labels_of, precision_of, unqualified
from hlotool.ir import ConvolutionDimensions, Shape, Window, WindowDimension

if TYPE_CHECKING:
    from hlotool.builder.core import Core

_ATTRIBUTES = {"lhs_contracting_dimensions": "lhs_contracting_dims", "rhs_contracting_dimensions":
               "rhs_contracting_dims", "lhs_batch_dimensions": "lhs_batch_dims", "rhs_batch_dimensions":
               "rhs_batch_dims", "lhs_ragged_dimensions": "lhs_ragged_dims", "rhs_group_dimensions": "rhs_group_dims"}


def _typed(b: Core, opcode: str, operands: Sequence[XlaOp], found: dict[str, Any], preferred: Any) -> XlaOp:
    """An instruction whose result has the preferred element type, where one is given."""
    if preferred is None:
        return b.emit(opcode, operands, found)
    from hlotool.ir import Attributes, HloInstruction
    from hlotool.ops import OPS

    probe = HloInstruction(opcode, opcode, None, tuple(o.instruction for o in operands), Attributes(found))  # type: ignore[arg-type]
    inferred = OPS[opcode].infer_instruction(probe)
    wanted = Shape.array(element_type_of(preferred), inferred.dims, inferred.layout, inferred.dynamic)
    return b.emit(opcode, operands, found, wanted)


def _dot_numbers(dimension_numbers: Any) -> dict[str, Any]:
    if isinstance(dimension_numbers, tuple) and len(dimension_numbers) == 2:
        (lhs, rhs), (lhs_batch, rhs_batch) = dimension_numbers
        dimension_numbers = {"lhs_contracting_dimensions": lhs, "rhs_contracting_dimensions": rhs,
                             "lhs_batch_dimensions": lhs_batch, "rhs_batch_dimensions": rhs_batch}
    return {_ATTRIBUTES[k]: v for k, v in numbers_of(DotDimensionNumbers, dimension_numbers).items() if v}


@function()
def dot(b: Core, lhs: Any, rhs: Any, precision_config: Any = None, preferred_element_type: Any = None) -> XlaOp:
    """The product of vectors and matrices.

    Sums over the last dimension of lhs and over the first of rhs, of ranks 1 and 2.
    """
    left, right = b.operands(lhs, rhs)
    demand(left.rank in (1, 2) and right.rank in (1, 2), ARGUMENTS,
           f"Dot takes vectors and matrices; lhs is {left.shape.text(False)}, rhs is {right.shape.text(False)}",
           "DotGeneral takes arrays of all ranks")
    found: dict[str, Any] = {"lhs_contracting_dims": (left.rank - 1,), "rhs_contracting_dims": (0,)}
    return _dotted(b, left, right, found, precision_config, preferred_element_type)


def _dotted(b: Core, left: XlaOp, right: XlaOp, found: dict[str, Any], precision: Any, preferred: Any,
            algorithm: Any = None) -> XlaOp:
    if words := precision_of(precision):
        found["operand_precision"] = words
    if algorithm:
        found["algorithm"] = algorithm
    return _typed(b, "dot", [left, right], found, preferred)


@function()
def dot_general(b: Core, lhs: Any, rhs: Any, dimension_numbers: Any, precision_config: Any = None,
                preferred_element_type: Any = None, algorithm: str | None = None) -> XlaOp:
    """Sum over the contracting dimensions, for each combination of the batch dimensions and the others.

    dimension_numbers: a DotDimensionNumbers, a mapping with its fields, or JAX's ((lhs, rhs), (lhs_batch, rhs_batch)).
    """
    left, right = b.operands(lhs, rhs)
    return _dotted(b, left, right, _dot_numbers(dimension_numbers), precision_config, preferred_element_type,
                   algorithm)


@function()
def scaled_dot(b: Core, lhs: Any, lhs_scale: Any, rhs: Any, rhs_scale: Any, dimension_number: Any,
               precision_config: Any = None, preferred_element_type: Any = None) -> XlaOp:
    """DotGeneral of operands that are multiplied by scales, block by block."""
    found = _dot_numbers(dimension_number)
    if words := precision_of(precision_config):
        found["operand_precision"] = words
    return _typed(b, "scaled-dot", [b.operand(o) for o in (lhs, rhs, lhs_scale, rhs_scale)], found,
                  preferred_element_type)


@function()
def ragged_dot(b: Core, lhs: Any, rhs: Any, group_sizes: Any, dimension_numbers: Any, precision_config: Any = None,
               preferred_element_type: Any = None) -> XlaOp:
    """A product for each group of rows, of the sizes that an array holds."""
    given = numbers_of(RaggedDotDimensionNumbers, dimension_numbers)
    found = _dot_numbers(given.pop("dot_dimension_numbers", None))
    found |= {_ATTRIBUTES[k]: v for k, v in given.items() if v}
    if words := precision_of(precision_config):
        found["operand_precision"] = words
    return _typed(b, "ragged-dot", [b.operand(o) for o in (lhs, rhs, group_sizes)], found, preferred_element_type)


# Convolutions


def default_labels(rank: int) -> ConvolutionDimensions:
    """The numbers that Conv and ConvWithGeneralPadding take: batch, feature, then space; output, input, then space."""
    space = "".join(map(str, range(rank - 2)))
    return ConvolutionDimensions(f"bf{space}", f"oi{space}", f"bf{space}")


def same_padding(sizes: Sequence[int], window: Sequence[int], strides: Sequence[int],
                 dilations: Sequence[int] | None = None) -> list[tuple[int, int]]:
    """Padding that gives ceil(size / stride) places, one more behind than before where it is odd."""
    rows = []
    for i, (size, width, stride) in enumerate(zip(sizes, window, strides, strict=True)):
        wide = (width - 1) * (dilations[i] if dilations else 1) + 1 if width else 0
        total = max((-(-size // stride) - 1) * stride + wide - size, 0)
        rows.append((total // 2, total - total // 2))
    return rows


def padding_rows(padding: Any, sizes: Sequence[int], window: Sequence[int], strides: Sequence[int],
                 dilations: Sequence[int] | None = None) -> list[tuple[int, int]]:
    """Padding as pairs, from pairs or from the words SAME and VALID (kSame, kValid)."""
    word = padding.value if isinstance(padding, ConvPadding) else getattr(padding, "name", padding)
    if isinstance(word, str):
        name = unqualified(word).removeprefix("k").upper()
        demand(name != "SAME" or all(s > 0 for s in strides), WINDOW_PARTS,
               f"window_strides are {list(strides)}; each is at least 1")
        demand(name in ("SAME", "VALID"), ARGUMENTS, f"padding is {word!r}; it is SAME, VALID, or (low, high) pairs")
        return same_padding(sizes, window, strides, dilations) if name == "SAME" else [(0, 0)] * len(window)
    return [(int(low), int(high)) for low, high in padding]


def window_of(sizes: Sequence[int], strides: Any = None, padding: Any = None, base: Any = None, dilation: Any = None,
              reversal: Any = None) -> Window:
    """A window of parts; those that are absent are the default in every dimension."""
    count = len(sizes)

    def part(value: Any, what: str, default: Any) -> list[Any]:
        rows = list(value) if value is not None else []
        demand(len(rows) in (0, count), WINDOW_PARTS, f"{what} has {len(rows)} entries, the window {count} dimensions")
        return rows or [default] * count

    rows = zip(sizes, part(strides, "window_strides", 1), part(padding, "padding", (0, 0)),
               part(base, "the base dilation", 1), part(dilation, "the window dilation", 1),
               part(reversal, "window_reversal", False), strict=True)
    return Window(tuple(WindowDimension(n, s, low, high, bd, wd, bool(r)) for n, s, (low, high), bd, wd, r in rows))


def _labels(b: Core, left: XlaOp, numbers: Any) -> ConvolutionDimensions:
    if numbers is not None:
        from hlotool.builder.python_values import attribute_value

        return attribute_value("dim_labels", numbers) if isinstance(numbers, str) else labels_of(numbers)
    demand(left.rank >= 2, ARGUMENTS, f"lhs is {left.shape.text(False)}; a convolution needs batch and feature")
    return default_labels(left.rank)


@function()
def conv_general_dilated(b: Core, lhs: Any, rhs: Any, window_strides: Ints | None = None, padding: Any = None,
                         lhs_dilation: Ints | None = None, rhs_dilation: Ints | None = None,
                         dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1,
                         precision_config: Any = None, preferred_element_type: Any = None,
                         window_reversal: Iterable[bool] | None = None) -> XlaOp:
    """A convolution with everything said: strides, padding, dilations of both operands, roles of the dimensions."""
    left, right = b.operands(lhs, rhs)
    labels = _labels(b, left, dimension_numbers)
    space = sorted(c for c in labels.rhs if c.isdigit())
    demand(len(labels.rhs) == right.rank and len(labels.lhs) == left.rank, ARGUMENTS,
           f"dimension_numbers are {labels.lhs}_{labels.rhs}->{labels.output}; lhs is {left.shape.text(False)}, "
           f"rhs is {right.shape.text(False)}")
    sizes = [right.dims[labels.rhs.index(c)] for c in space]
    strides = list(window_strides) if window_strides is not None else [1] * len(sizes)
    wide = [left.dims[labels.lhs.index(c)] for c in space]
    if lhs_dilation is not None:
        wide = [(n - 1) * d + 1 if n else 0 for n, d in zip(wide, ints(lhs_dilation, "lhs_dilation"), strict=False)]
    dilations = list(rhs_dilation) if rhs_dilation is not None else None
    if isinstance(padding, (str, ConvPadding)) or hasattr(padding, "name"):
        demand(len(strides) == len(sizes), WINDOW_PARTS,
               f"window_strides has {len(strides)} entries, the window {len(sizes)} dimensions")
        padding = padding_rows(padding, wide, sizes, strides, dilations)
    found: dict[str, Any] = {
        "window": window_of(sizes, window_strides, padding, lhs_dilation, rhs_dilation, window_reversal),
        "dim_labels": labels}
    if feature_group_count != 1:
        found["feature_group_count"] = feature_group_count
    if batch_group_count != 1:
        found["batch_group_count"] = batch_group_count
    if words := precision_of(precision_config):
        found["operand_precision"] = words
    return _typed(b, "convolution", [left, right], found, preferred_element_type)


@function()
def conv_general(b: Core, lhs: Any, rhs: Any, window_strides: Ints | None = None, padding: Any = None,
                 dimension_numbers: Any = None, feature_group_count: int = 1, batch_group_count: int = 1,
                 precision_config: Any = None, preferred_element_type: Any = None) -> XlaOp:
    """A convolution with padding in pairs and dimension numbers, without dilation."""
    return conv_general_dilated(b, lhs, rhs, window_strides, padding, None, None, dimension_numbers,
                                feature_group_count, batch_group_count, precision_config, preferred_element_type)


@function()
def conv_with_general_dimensions(b: Core, lhs: Any, rhs: Any, window_strides: Ints | None = None,
                                 padding: Any = "VALID", dimension_numbers: Any = None, feature_group_count: int = 1,
                                 batch_group_count: int = 1, precision_config: Any = None,
                                 preferred_element_type: Any = None) -> XlaOp:
    """A convolution with padding SAME or VALID and dimension numbers."""
    return conv_general_dilated(b, lhs, rhs, window_strides, padding, None, None, dimension_numbers,
                                feature_group_count, batch_group_count, precision_config, preferred_element_type)


@function()
def conv_with_general_padding(b: Core, lhs: Any, rhs: Any, window_strides: Ints | None = None, padding: Any = None,
                              feature_group_count: int = 1, batch_group_count: int = 1, precision_config: Any = None,
                              preferred_element_type: Any = None) -> XlaOp:
    """A convolution with padding in pairs; lhs is batch, feature, space..., rhs output, input, space..."""
    return conv_general_dilated(b, lhs, rhs, window_strides, padding, None, None, None, feature_group_count,
                                batch_group_count, precision_config, preferred_element_type)


@function()
def conv(b: Core, lhs: Any, rhs: Any, window_strides: Ints | None = None, padding: Any = "VALID",
         feature_group_count: int = 1, batch_group_count: int = 1, precision_config: Any = None,
         preferred_element_type: Any = None) -> XlaOp:
    """A convolution with padding SAME or VALID; lhs is batch, feature, space..., rhs output, input, space..."""
    return conv_general_dilated(b, lhs, rhs, window_strides, padding, None, None, None, feature_group_count,
                                batch_group_count, precision_config, preferred_element_type)
