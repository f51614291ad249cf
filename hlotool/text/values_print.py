"""Attribute values to text, in XLA's present spelling."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from hlotool.ir import (
    Aliasing,
    AxisRef,
    BackendConfig,
    ConvolutionDimensions,
    DimSharding,
    Domain,
    EntryLayout,
    FrontendAttributes,
    IotaTile,
    Kind,
    Literal,
    Mesh,
    Padding,
    ReplicaGroups,
    ResultAccuracy,
    Sharding,
    SliceDimension,
    Sparsity,
    Statistics,
    Window,
    WindowDimension,
)
from hlotool.text.literals_print import print_literal
from hlotool.text.quoting import quote


def print_value(kind: Kind, value: Any, *, percent: bool = True) -> str:
    """Return the text of an attribute value.

    >>> print_value(Kind.INTS, (1, 2))
    '{1,2}'
    """
    sign = "%" if percent else ""
    if kind is Kind.COMPUTATION:
        return f"{sign}{value.name}"
    if kind in (Kind.COMPUTATIONS, Kind.INSTRUCTIONS):
        return "{" + ", ".join(f"{sign}{v.name}" for v in value) + "}"
    return _PRINTERS[kind](value)


def _numbers(values: Iterable[int]) -> str:
    return ",".join(map(str, values))


def _ints(values: tuple[Any, ...]) -> str:
    if values and isinstance(values[0], tuple):
        return _pairs(values)
    return "{" + _numbers(values) + "}"


def _bool(value: bool) -> str:
    return "true" if value else "false"


def _bools(values: tuple[bool, ...]) -> str:
    return "{" + ",".join(map(_bool, values)) + "}"


def _float(value: float) -> str:
    return f"{value:g}" if float(f"{value:g}") == value else repr(float(value))


def _shapes(shapes: Iterable[Any]) -> str:
    return "{" + ", ".join(map(str, shapes)) + "}"


def _entry_layout(layout: EntryLayout) -> str:
    parameters = ", ".join(f"/*index={i}*/{s}" if i and i % 5 == 0 else str(s)
                           for i, s in enumerate(layout.parameters))
    return "{(" + parameters + f")->{layout.result}}}"


def _slice(dims: tuple[SliceDimension, ...]) -> str:
    has_strides = any(d.stride != 1 for d in dims)  # XLA writes all of them, or none
    return "{" + ", ".join(f"[{d.start}:{d.limit}{f':{d.stride}' if has_strides else ''}]" for d in dims) + "}"


def _window(window: Window) -> str:
    """Parts that are the default in every dimension are left out. XLA: window_util::ToString."""
    dims = window.dimensions
    parts: list[str] = []

    def add(name: str, default: str, show: Callable[[WindowDimension], str]) -> None:
        shown = [show(d) for d in dims]
        if any(s != default for s in shown):
            parts.append(f"{name}={'x'.join(shown)}")

    if dims:
        parts.append(f"size={'x'.join(str(d.size) for d in dims)}")
    add("stride", "1", lambda d: str(d.stride))
    add("pad", "0_0", lambda d: f"{d.pad_low}_{d.pad_high}")
    add("lhs_dilate", "1", lambda d: str(d.base_dilation))
    add("rhs_dilate", "1", lambda d: str(d.window_dilation))
    add("rhs_reversal", "0", lambda d: str(int(d.reversal)))
    return "{" + " ".join(parts) + "}"


def _dim_labels(labels: ConvolutionDimensions) -> str:
    return f"{labels.lhs}_{labels.rhs}->{labels.output}"


def _padding(padding: Padding) -> str:
    interior = any(d.interior for d in padding.dimensions)
    return "x".join(f"{d.low}_{d.high}" + (f"_{d.interior}" if interior else "") for d in padding.dimensions)


def _iota(iota: IotaTile) -> str:
    order = f"T({_numbers(iota.permutation)})" if len(iota.reshape_dims) > 1 else ""
    return f"[{_numbers(iota.dims)}]<=[{_numbers(iota.reshape_dims)}]{order}"


def _mesh(mesh: Mesh) -> str:
    if mesh.maximal_device is not None:
        return f"maximal_mesh[device_id={mesh.maximal_device}]"
    text = "mesh[" + ",".join(f"{_axis_name(name)}={size}" for name, size in mesh.axes) + "]"
    if isinstance(mesh.device_ids, IotaTile):
        order = mesh.device_ids
        moved = f"T({_numbers(order.permutation)})" if len(order.reshape_dims) > 1 else ""
        return f"{text}, device_ids=([{_numbers(order.reshape_dims)}]{moved})"
    return text if mesh.device_ids is None else f"{text}, device_ids=({_numbers(mesh.device_ids)})"


def _axis_name(name: str) -> str:
    """Return the name in its quotes. XLA prints it as it is, so that a quote in it cannot be read again."""
    return f"'{quote(name)[1:-1]}'"


def _axis(axis: AxisRef) -> str:
    return _axis_name(axis.name) + (f":({axis.pre_size}){axis.size}" if axis.pre_size is not None else "")


def _axes(axes: Iterable[AxisRef]) -> str:
    return "{" + ", ".join(map(_axis, axes)) + "}"


def _dim(dim: DimSharding) -> str:
    items = [*map(_axis, dim.axes), *(["?"] if dim.is_open else [])]
    return "{" + ", ".join(items) + "}" + (f"p{dim.priority}" if dim.priority is not None else "")


def _sharding(sharding: Sharding) -> str:
    if sharding.kind == "tuple":
        return "{" + ", ".join(map(_sharding, sharding.elements)) + "}"
    if sharding.kind == "named":
        return _named(sharding)
    if sharding.kind == "maximal":
        text = f"maximal device={sharding.device}"
    elif sharding.kind != "tiled":
        text = sharding.kind
    elif isinstance(sharding.devices, IotaTile):
        text = f"devices={_iota(sharding.devices)}"
    else:
        text = f"devices=[{_numbers(sharding.tile_dims)}]{_numbers(sharding.devices or ())}"
    if sharding.last_tile_dim_replicate:
        text += " last_tile_dim_replicate"
    if sharding.last_tile_dims:
        text += " last_tile_dims={" + ", ".join(sharding.last_tile_dims) + "}"
    if sharding.shard_group is not None:
        text += f" {sharding.shard_group[0]} {sharding.shard_group[1]}"
    if sharding.metadata is not None:
        text += f" metadata={sharding.metadata}"
    return "{" + text + "}"


def _named(sharding: Sharding) -> str:
    mesh = sharding.mesh
    assert mesh is not None
    parts = [_mesh(mesh)]
    if mesh.maximal_device is None:
        parts.append("[" + ", ".join(map(_dim, sharding.dim_shardings)) + "]")
    text = (", " if mesh.device_ids is not None else " ").join(parts)
    if sharding.replicated_axes:
        text += f", replicated={_axes(sharding.replicated_axes)}"
    if sharding.unreduced_axes:
        text += f", unreduced={sharding.unreduced_kind or ''}{_axes(sharding.unreduced_axes)}"
    if sharding.manual_axes:
        text += f", manual={_axes(sharding.manual_axes)}"
    if sharding.metadata is not None:
        text += f", metadata={sharding.metadata}"
    return "{" + text + "}"


def _replica_groups(groups: ReplicaGroups) -> str:
    if groups.iota is not None:
        return _iota(groups.iota)
    if groups.mesh is not None:
        return f"{_mesh(groups.mesh)} {_axes(groups.axes)}"
    return _pairs(groups.groups)


def _pairs(pairs: tuple[tuple[int, ...], ...]) -> str:
    return "{" + ",".join(map(_ints, pairs)) + "}"


def _frontend_attributes(attributes: FrontendAttributes) -> str:
    return "{" + ",".join(f"{name}={value}" for name, value in attributes.entries) + "}"


def _backend_config(config: BackendConfig) -> str:
    return quote(config.text) if config.quoted else config.text


def _statistics(statistics: Statistics) -> str:
    parts = [f"visualizing_index={statistics.visualizing_index}"]
    return "{" + ",".join([*parts, *(f"{name}={value}" for name, value in statistics.entries)]) + "}"


def _index(index: tuple[int, ...]) -> str:
    return f"{{{_numbers(index)}}}"


def _aliasing(entries: tuple[Aliasing, ...]) -> str:
    shown = [f"{_index(e.output_index)}: ({e.parameter}, {_index(e.parameter_index)}"
             + (f", {e.kind})" if e.kind else ")") for e in entries]
    return "{ " + ", ".join(shown) + " }" if any(e.kind for e in entries) else "{" + ", ".join(shown) + "}"


def _donors(entries: tuple[Any, ...]) -> str:
    return "{ " + ", ".join(f"({e.parameter}, {_index(e.parameter_index)})" for e in entries) + " }"


def _domain(domain: Domain) -> str:
    return f'{{kind="{domain.kind}", entry={_sharding(domain.entry)}, exit={_sharding(domain.exit)}}}'


def _result_accuracy(accuracy: ResultAccuracy) -> str:
    if accuracy.mode is not None:
        return f"{{mode={accuracy.mode}}}"
    return f"{{tolerance={{atol={_float(accuracy.atol)},rtol={_float(accuracy.rtol)},ulps={accuracy.ulps}}}}}"


def _sparsity(config: Sparsity) -> str:
    sides = (("lhs", config.lhs), ("rhs", config.rhs))
    return "{" + " ".join(f"{name}={{sparsity={s.num_non_zero}x{s.block_size} dimension={s.dimension} "
                          f"stride={s.stride} idx={s.index_operand}}}" for name, s in sides if s is not None) + "}"


def _literal(literal: Literal) -> str:
    if literal.shape.is_tuple:
        return "(" + ", ".join(map(_literal, literal.elements)) + ")"
    return f"{literal.shape} {print_literal(literal)}"


_PRINTERS: dict[Kind, Callable[[Any], str]] = {
    Kind.INT: str, Kind.BOOL: _bool, Kind.FLOAT: _float, Kind.STRING: quote, Kind.WORD: str, Kind.INTS: _ints,
    Kind.BOOLS: _bools, Kind.WORDS: lambda words: "{" + ",".join(words) + "}", Kind.SHAPE: str, Kind.SHAPES: _shapes,
    Kind.LITERAL: _literal, Kind.SLICE: _slice, Kind.WINDOW: _window, Kind.DIM_LABELS: _dim_labels,
    Kind.PADDING: _padding, Kind.SHARDING: _sharding, Kind.REPLICA_GROUPS: _replica_groups, Kind.PAIRS: _pairs,
    Kind.METADATA: lambda metadata: str(metadata.text), Kind.FRONTEND_ATTRIBUTES: _frontend_attributes,
    Kind.BACKEND_CONFIG: _backend_config, Kind.STATISTICS: _statistics, Kind.ALIASING: _aliasing,
    Kind.DONORS: _donors, Kind.ENTRY_LAYOUT: _entry_layout, Kind.DOMAIN: _domain,
    Kind.RESULT_ACCURACY: _result_accuracy, Kind.SPARSITY: _sparsity, Kind.RAW: lambda raw: str(raw.text),
}
