"""Dimension numbers and other records that builder functions take, under the documents' names."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

from hlotool.builder.codes import NO_ATTRIBUTE
from hlotool.builder.problems import Refused
from hlotool.builder.python_values import ints

Ints = tuple[int, ...]


class ConvPadding(enum.Enum):
    """Padding by rule: SAME gives ceil(size / stride) places, VALID pads nothing."""

    SAME = "SAME"
    VALID = "VALID"


class Message:
    """A record that may also be filled field by field, as the documents' examples fill theirs.

    >>> numbers = DotDimensionNumbers()
    >>> numbers.add_lhs_contracting_dimensions(1)
    >>> numbers
    DotDimensionNumbers(lhs_contracting_dimensions=(1,), rhs_contracting_dimensions=(), lhs_batch_dimensions=(), \
rhs_batch_dimensions=())
    """

    def __getattr__(self, name: str) -> Callable[[Any], None]:
        verb, _, wanted = name.partition("_")
        known = {f.name: f.default for f in fields(self)}  # type: ignore[arg-type]  # its classes are dataclasses
        if wanted not in known or verb != ("add" if known[wanted] == () else "set"):
            raise AttributeError(f"{type(self).__name__} has no {name}")

        def fill(value: Any) -> None:
            setattr(self, wanted, (*getattr(self, wanted), value) if verb == "add" else value)

        return fill


@dataclass
class DotDimensionNumbers(Message):
    """Dimensions that DotGeneral contracts, and those of batches."""

    lhs_contracting_dimensions: Ints = ()
    rhs_contracting_dimensions: Ints = ()
    lhs_batch_dimensions: Ints = ()
    rhs_batch_dimensions: Ints = ()


@dataclass
class RaggedDotDimensionNumbers(Message):
    """DotDimensionNumbers, and the dimensions that the groups divide."""

    dot_dimension_numbers: Any = None
    lhs_ragged_dimensions: Ints = ()
    rhs_group_dimensions: Ints = ()


@dataclass
class GatherDimensionNumbers(Message):
    """How Gather's result, slices and indices belong together."""

    offset_dims: Ints = ()
    collapsed_slice_dims: Ints = ()
    start_index_map: Ints = ()
    index_vector_dim: int = 0
    operand_batching_dims: Ints = ()
    start_indices_batching_dims: Ints = ()


@dataclass
class ScatterDimensionNumbers(Message):
    """How Scatter's updates, windows and indices belong together."""

    update_window_dims: Ints = ()
    inserted_window_dims: Ints = ()
    scatter_dims_to_operand_dims: Ints = ()
    index_vector_dim: int = 0
    input_batching_dims: Ints = ()
    scatter_indices_batching_dims: Ints = ()


@dataclass
class ConvDimensionNumbers(Message):
    """The role of each dimension of a convolution's operands and result."""

    input_batch_dimension: int = 0
    input_feature_dimension: int = 1
    input_spatial_dimensions: Ints = ()
    kernel_input_feature_dimension: int = 1
    kernel_output_feature_dimension: int = 0
    kernel_spatial_dimensions: Ints = ()
    output_batch_dimension: int = 0
    output_feature_dimension: int = 1
    output_spatial_dimensions: Ints = ()


@dataclass
class PaddingDimension(Message):
    """PaddingConfig's row: zeros before, after and between the elements of a dimension."""

    edge_padding_low: int = 0
    edge_padding_high: int = 0
    interior_padding: int = 0


@dataclass(frozen=True)
class ChannelHandle:
    """The number that a send and its recv share, and whether the host is at the other end."""

    handle: int = 1
    is_host: bool = False


def numbers_of(kind: type[Any], value: Any) -> dict[str, Any]:
    """The numbers of a record, of a mapping or of an object with such fields; those that are absent left out."""
    if value is None:
        return {}
    given = dict(value) if isinstance(value, Mapping) else {
        f.name: getattr(value, f.name) for f in fields(kind) if hasattr(value, f.name)}
    if not given and not isinstance(value, Mapping):
        raise Refused(NO_ATTRIBUTE, f"{value!r} is no {kind.__name__}", "a mapping with its fields will do")
    known = {f.name: f for f in fields(kind)} | {
        f.name.replace("dimensions", "dims"): f for f in fields(kind)}
    found = {}
    for name, numbers in given.items():
        if name not in known:
            listed = ", ".join(f.name for f in fields(kind))
            raise Refused(NO_ATTRIBUTE, f"{kind.__name__} has no {name}", f"it has {listed}")
        found[known[name].name] = int(numbers) if name == "index_vector_dim" else (
            numbers if name == "dot_dimension_numbers" else ints(numbers, name))
    return found


def channel_of(handle: Any) -> int | None:
    """The number of a channel handle, or a number itself."""
    return handle if handle is None or isinstance(handle, int) else int(getattr(handle, "handle", handle))
