"""Values of HloModuleProto's messages as IR values: shapes, literals, shardings, windows, metadata, ...

Source: xla_data.proto and hlo.proto; for what is left out when it is a default, XLA's ToProto and CreateFromProto.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterable
from typing import Any

from hlotool.diagnostics import define
from hlotool.ir import (
    COMBINE,
    DTYPES,
    UNBOUNDED,
    Aliasing,
    AxisRef,
    BackendConfig,
    ConvolutionDimensions,
    DimSharding,
    DType,
    FrontendAttributes,
    IotaTile,
    Kind,
    Layout,
    Literal,
    Mesh,
    OperandSparsity,
    Padding,
    PaddingDimension,
    Raw,
    ReplicaGroups,
    ResultAccuracy,
    Shape,
    Sharding,
    SliceDimension,
    Sparsity,
    SplitConfig,
    Statistics,
    Window,
    WindowDimension,
    mesh_problem,
)
from hlotool.ir.arrays import np
from hlotool.proto.proto_schema import ENUMERATIONS, OTHER_TYPES, elements_field, message_class
from hlotool.text import PhraseError, quote, read_value

HLO_PROTO = "xla/service/hlo.proto, xla/xla_data.proto"
INCONSISTENT = define("R103", "inconsistent-proto", "a message whose parts contradict each other", HLO_PROTO)
UNKNOWN_NUMBER = define("R104", "unknown-enumerator", "a number of an enumeration that stands for nothing known",
                        HLO_PROTO)

_MINUS_2_63 = -(2**63)
_TYPE_NAMES = {d.number: d.name for d in DTYPES.values()}


class ProtoError(Exception):
    """A message that cannot be read: a code and a sentence."""

    def __init__(self, code: str, message: str) -> None:
        self.code = code
        self.message = message
        super().__init__(message)


def text_of(data: bytes) -> str:
    """Read a string field; bytes that are not UTF-8 survive."""
    return data.decode("utf-8", "surrogateescape")


def enumerator(enumeration: str, number: int, what: str) -> str:
    """Return the name of a number of an enumeration."""
    return _word(ENUMERATIONS[enumeration], number, what)


def _word(names: tuple[str, ...], number: int, what: str) -> str:
    if not 0 <= number < len(names):
        raise ProtoError(UNKNOWN_NUMBER, f"{number} is not a known {what}")
    return names[number]


def ints(values: Iterable[int]) -> tuple[int, ...]:
    """Read a repeated field of numbers."""
    return tuple(values)


# Shapes

def element_type(number: int) -> str:
    """Return the name of a PrimitiveType."""
    name = _TYPE_NAMES.get(number) or OTHER_TYPES.get(number)
    if name is None:
        raise ProtoError(UNKNOWN_NUMBER, f"{number} is not a known element type")
    return name


def shape(proto: Any) -> Shape:
    """Read a ShapeProto."""
    # A module repeats its shapes; the bytes tell them apart faster than their fields.
    return _shape_of(proto.SerializeToString())


@functools.lru_cache(4096)
def _shape_of(data: bytes) -> Shape:
    proto = message_class("Shape").FromString(data)
    name = element_type(proto.element_type)
    if name in ("tuple", "buffer"):
        elements = tuple(map(shape, proto.tuple_shapes))
        if name == "buffer" and len(elements) != 1:
            raise ProtoError(INCONSISTENT, f"a buffer holds one shape, this one {len(elements)}")
        return Shape(name, elements=elements)
    if name not in DTYPES:
        return Shape(name)
    dims = tuple(UNBOUNDED if d == _MINUS_2_63 else d for d in proto.dimensions)
    flags = tuple(proto.is_dynamic_dimension)
    if any(d < UNBOUNDED for d in dims) or len(flags) not in (0, len(dims)):
        raise ProtoError(INCONSISTENT, f"the dimensions {list(dims)} of a shape of {name} make no sense")
    order = layout(proto.layout) if proto.HasField("layout") else None
    if order is not None and sorted(order.minor_to_major) != list(range(len(dims))):
        raise ProtoError(INCONSISTENT, f"{list(order.minor_to_major)} is not an order of {len(dims)} dimensions")
    if order is not None and not dims and str(order) == "{}":
        order = None
    return _as_text_says(Shape.array(name, dims, order, flags))


def _as_text_says(found: Shape) -> Shape:
    """Return the shape, unless its layout holds what text cannot say."""
    if found.layout is None or found.layout == Layout(found.layout.minor_to_major):
        return found
    try:
        if read_value(Kind.SHAPE, str(found)) == found:
            return found
    except PhraseError as error:
        raise ProtoError(INCONSISTENT, f"the layout {found.layout} of a shape: {error.message}") from None
    raise ProtoError(INCONSISTENT, f"the layout {found.layout} of a shape, which text does not say")


def layout(proto: Any) -> Layout:
    """Read a LayoutProto."""
    levels = tuple(_level(proto, i, number) for i, number in enumerate(proto.dim_level_types))
    index_type, pointer_type = proto.index_primitive_type, proto.pointer_primitive_type
    return Layout(
        tuple(proto.minor_to_major), levels,
        tuple(tuple(COMBINE if d == _MINUS_2_63 else d for d in tile.dimensions) for tile in proto.tiles),
        # 0 stands for 1 in files of before 2023.
        proto.tail_padding_alignment_in_elements or 1,
        element_type(index_type) if index_type else None, element_type(pointer_type) if pointer_type else None,
        proto.element_size_in_bits, proto.memory_space,
        tuple(SplitConfig(s.dimension, tuple(s.split_indices)) for s in proto.split_configs),
        shape(proto.physical_shape) if proto.HasField("physical_shape") else None,
        proto.dynamic_shape_metadata_prefix_bytes)


def _level(proto: Any, index: int, number: int) -> str:
    unique = index >= len(proto.dim_unique) or proto.dim_unique[index]
    ordered = index >= len(proto.dim_ordered) or proto.dim_ordered[index]
    return _word(("D", "C", "S", "H"), number, "level type") + ("" if unique else "+") + ("" if ordered else "~")


# Literals

def literal(proto: Any, declared: Shape) -> Literal:
    """Read a LiteralProto, as the value of a constant of the shape `declared`."""
    if declared.is_tuple:
        if len(proto.tuple_literals) != len(declared.elements):
            raise ProtoError(INCONSISTENT, f"a literal of {len(proto.tuple_literals)} elements for {declared}")
        pairs = zip(proto.tuple_literals, declared.elements, strict=True)
        return Literal(declared, elements=tuple(literal(p, s) for p, s in pairs))
    if not declared.is_array:
        return Literal(declared, text="")
    stored = shape(proto.shape)
    if not stored.compatible(declared) or UNBOUNDED in declared.dims:
        raise ProtoError(INCONSISTENT, f"a literal of shape {stored} for {declared}")
    if proto.dynamic_sizes or proto.sparse_indices:
        raise ProtoError(INCONSISTENT, f"the {declared} literal is sparse or dynamic, which HLO text cannot say")
    order = stored.layout.minor_to_major if stored.layout else tuple(range(len(stored.dims)))[::-1]
    return Literal(declared, _in_row_major(_elements(proto, declared), declared.dims, order))


def _in_row_major(flat: Any, dims: tuple[int, ...], order: tuple[int, ...]) -> Any:
    """Elements that lie in memory as a layout says, as an array of the dimensions."""
    major_first = order[::-1]
    return flat.reshape([dims[d] for d in major_first]).transpose([major_first.index(d) for d in range(len(dims))])


def _elements(proto: Any, declared: Shape) -> Any:
    """Return the elements of an array literal in the order of memory."""
    dtype, count = declared.dtype, declared.size
    field = getattr(proto, elements_field(dtype))
    if dtype.is_stored_whole and (dtype.is_floating or dtype.is_complex):
        flat = np.array(field, f"u{dtype.component.bits // 8}").view(dtype.numpy)
    elif dtype.is_stored_whole:
        flat = np.array(field, np.uint64 if dtype.family == "unsigned" else np.int64).astype(dtype.numpy)
    elif dtype.bits < 8:
        flat = _small(dtype, np.frombuffer(field, np.uint8), count)
    else:
        if len(field) % (dtype.bits // 8):
            raise ProtoError(INCONSISTENT, f"{len(field)} bytes are not a whole number of {dtype}")
        flat = np.frombuffer(field, f"<u{dtype.bits // 8}").view(dtype.numpy)
    if flat.size != count:
        raise ProtoError(INCONSISTENT, f"{flat.size} values for a literal of shape {declared}, which needs {count}")
    return flat


def _small(dtype: DType, data: Any, count: int) -> Any:
    """Elements of less than a byte: the low bits of a byte each."""
    if dtype.bits == 4 and count != data.size == (count + 1) // 2:
        # Files of 2023 hold two values a byte, the first in the high half. XLA: PackInt4.
        data = np.stack([data >> 4, data & 15], axis=1).reshape(-1)[:count]
    if data.size != count:
        raise ProtoError(INCONSISTENT, f"{data.size} bytes for {count} values of {dtype}")
    values = data & ((1 << dtype.bits) - 1)
    if dtype.family != "signed":
        return values.view(dtype.numpy) if dtype.is_floating else values.astype(dtype.numpy)
    sign = 1 << (dtype.bits - 1)
    return ((values.astype(np.int16) ^ sign) - sign).astype(dtype.numpy)


def literal_in_memory(shape_proto: Any, data: bytes) -> Any:
    """Return the LiteralProto of an array whose elements lie in memory as its shape says; bits are packed, low first.

    Source: Literal::SerializeState in xla/literal.h.
    """
    declared = shape(shape_proto)
    if not declared.is_array or any(declared.dynamic):
        raise ProtoError(INCONSISTENT, f"a literal of {declared} in bytes: only arrays of fixed sizes are read")
    dtype, made = declared.dtype, message_class("Literal")()
    bits = 1 if dtype.family == "pred" else dtype.bits
    if len(data) != -(-declared.size * (-(-bits // 8) * 8 if bits > 4 else bits) // 8):
        raise ProtoError(INCONSISTENT, f"{len(data)} bytes for a literal of shape {declared}")
    field = elements_field(dtype)
    made.shape.CopyFrom(shape_proto)
    if bits <= 4:
        rows = np.unpackbits(np.frombuffer(data, np.uint8), bitorder="little").reshape(-1, bits)
        data = np.packbits(rows, axis=1, bitorder="little").reshape(-1)[:declared.size].tobytes()
    if not dtype.is_stored_whole:
        setattr(made, field, data)
    else:
        words = "?" if bits == 1 else f"<{'i' if dtype.family == 'signed' else 'u'}{dtype.component.bits // 8}"
        getattr(made, field).extend(np.frombuffer(data, words).tolist())
    return made


# Shardings

_SHARDING_KINDS = tuple(name.lower().replace("other", "tiled") for name in ENUMERATIONS["ShardingType"])


def sharding(proto: Any) -> Sharding:
    """Read an OpSharding."""
    if proto.HasField("named_sharding"):
        return _named_sharding(proto.named_sharding)
    kind = _word(_SHARDING_KINDS, proto.type, "kind of sharding")
    if kind == "tuple":
        return Sharding("tuple", elements=tuple(map(sharding, proto.tuple_shardings)))
    group = ("shard_like" if proto.shard_group_type else "shard_as", proto.shard_group_id)
    common: dict[str, Any] = {"shard_group": group if proto.is_shard_group else None,
                              "metadata": _sharding_metadata(proto.metadata)}
    if kind == "maximal":
        if len(proto.tile_assignment_devices) != 1:
            raise ProtoError(INCONSISTENT, "a maximal sharding has one device")
        return Sharding("maximal", device=proto.tile_assignment_devices[0], **common)
    if kind != "tiled":
        return Sharding(kind, **common)
    dims = tuple(proto.tile_assignment_dimensions)
    devices: Any = tuple(proto.tile_assignment_devices)
    if proto.iota_reshape_dims:
        devices = _iota(dims, proto.iota_reshape_dims, proto.iota_transpose_perm)
    elif len(devices) != math.prod(dims):
        raise ProtoError(INCONSISTENT, f"{len(devices)} devices for {math.prod(dims)} tiles of a sharding")
    last = tuple(_word(_SHARDING_KINDS, n, "kind of sharding") for n in proto.last_tile_dims)
    return Sharding("tiled", tile_dims=dims, devices=devices, last_tile_dims=last,
                    last_tile_dim_replicate=proto.replicate_on_last_tile_dim, **common)


def _sharding_metadata(records: Any) -> str | None:
    shown = [metadata_text(m) for m in records]
    return None if not shown else shown[0] if len(shown) == 1 else "{" + ", ".join(shown) + "}"


def _iota(dims: tuple[int, ...], reshape: Iterable[int], order: Iterable[int]) -> IotaTile:
    reshape_dims, permutation = tuple(reshape), tuple(order)
    if sorted(permutation) != list(range(len(reshape_dims))) or math.prod(dims) != math.prod(reshape_dims):
        raise ProtoError(INCONSISTENT, f"{list(dims)}<={list(reshape_dims)}T{permutation} is no order of devices")
    return IotaTile(dims, reshape_dims, permutation)


def _mesh(proto: Any) -> Mesh:
    axes = tuple((text_of(a.name), a.size) for a in proto.axes)
    sizes = tuple(size for _, size in axes)
    ids: Any = tuple(proto.device_ids) or None
    if not axes and ids and len(ids) == 1:
        return Mesh((), maximal_device=ids[0])
    if proto.HasField("iota_transform"):
        ids = _iota(sizes, proto.iota_transform.reshape_dims, proto.iota_transform.transpose_perm)
    made = Mesh(axes, ids)
    if problem := mesh_problem(made):
        raise ProtoError(INCONSISTENT, problem)
    return made


def _axis_refs(mesh: Mesh, refs: Any) -> tuple[AxisRef, ...]:
    found = tuple(_axis_ref(mesh, r) for r in refs)
    if problem := mesh_problem(mesh, found):
        raise ProtoError(INCONSISTENT, problem)
    return found


def _axis_ref(mesh: Mesh, ref: Any) -> AxisRef:
    if not 0 <= ref.mesh_axis_index < len(mesh.axes):
        raise ProtoError(INCONSISTENT, f"axis {ref.mesh_axis_index} of a mesh of {len(mesh.axes)} axes")
    name = mesh.axes[ref.mesh_axis_index][0]
    part = ref.sub_axis_info
    return AxisRef(name, part.pre_size, part.size) if ref.HasField("sub_axis_info") else AxisRef(name)


def _named_sharding(proto: Any) -> Sharding:
    if proto.tuple_shardings:
        return Sharding("tuple", elements=tuple(map(_named_sharding, proto.tuple_shardings)))
    mesh = _mesh(proto.mesh)
    return Sharding("named", mesh=mesh, metadata=_sharding_metadata(proto.metadata),
                    dim_shardings=tuple(DimSharding(_axis_refs(mesh, d.axes), not d.is_closed)
                                        for d in proto.dim_shardings),
                    replicated_axes=_axis_refs(mesh, proto.replicated_axes),
                    unreduced_axes=_axis_refs(mesh, proto.unreduced_axes),
                    manual_axes=_axis_refs(mesh, proto.manual_axes))


def replica_groups(proto: Any) -> ReplicaGroups:
    """Return the devices of a collective, in whichever of its five fields they stand."""
    devices = proto.collective_device_list
    if proto.HasField("mesh_axes_replica_group_list"):
        mesh = _mesh(proto.mesh_axes_replica_group_list.mesh)
        return ReplicaGroups(mesh=mesh, axes=_axis_refs(mesh, proto.mesh_axes_replica_group_list.axes))
    iota = proto.iota_collective_device_list if proto.HasField("iota_collective_device_list") \
        else devices.iota_replica_group_list if devices.HasField("iota_replica_group_list") else None
    if iota is not None:
        dims = (iota.num_replica_groups, iota.num_devices_per_group)
        return ReplicaGroups(iota=_iota(dims, iota.iota_reshape_dims, iota.iota_transpose_perm))
    groups = devices.replica_groups or proto.replica_groups
    return ReplicaGroups(tuple(tuple(g.replica_ids) for g in groups))


# Numbers of dimensions

def window(proto: Any) -> Window | None:
    """Read a Window; None where it has no dimension, as text has it."""
    # 0 stands for a dilation or stride that was never set.
    dims = tuple(WindowDimension(d.size, d.stride or 1, d.padding_low, d.padding_high, d.base_dilation or 1,
                                 d.window_dilation or 1, d.window_reversal) for d in proto.dimensions)
    return Window(dims) if dims else None


def convolution_dimensions(proto: Any) -> ConvolutionDimensions:
    """Read a ConvolutionDimensionNumbers as labels."""
    counts = [len(d) for d in (proto.input_spatial_dimensions, proto.kernel_spatial_dimensions,
                               proto.output_spatial_dimensions)]
    if len(set(counts)) > 1:
        raise ProtoError(INCONSISTENT, "input, kernel and output of a convolution have {}, {} and {} spatial "
                         "dimensions".format(*counts))
    return ConvolutionDimensions(
        _labels({proto.input_batch_dimension: "b", proto.input_feature_dimension: "f"},
                proto.input_spatial_dimensions),
        _labels({proto.kernel_input_feature_dimension: "i", proto.kernel_output_feature_dimension: "o"},
                proto.kernel_spatial_dimensions),
        _labels({proto.output_batch_dimension: "b", proto.output_feature_dimension: "f"},
                proto.output_spatial_dimensions))


def _labels(named: dict[int, str], spatial: Any) -> str:
    roles = named | {dimension: str(number) for number, dimension in enumerate(spatial)}
    if len(named) != 2 or len(roles) != 2 + len(spatial) or min(roles) < 0 or max(roles) > 64:
        raise ProtoError(INCONSISTENT, "two roles of a convolution stand at one dimension")
    return "".join(roles.get(d, "?") for d in range(max(roles) + 1))


def slices(proto: Any) -> tuple[SliceDimension, ...]:
    """Return the bounds of a slice."""
    return tuple(SliceDimension(d.start, d.limit, d.stride) for d in proto.slice_dimensions)


def padding(proto: Any) -> Padding:
    """Read a PaddingConfig."""
    return Padding(tuple(PaddingDimension(d.edge_padding_low, d.edge_padding_high, d.interior_padding)
                         for d in proto.dimensions))


def operand_aliasing(entries: Any) -> tuple[Aliasing, ...] | None:
    """Return the aliases between the outputs and operands of an instruction."""
    return tuple(Aliasing(tuple(e.output_shape_index), e.operand_index, tuple(e.operand_shape_index))
                 for e in entries) or None


# What compilers pass along

def result_accuracy(proto: Any) -> ResultAccuracy | None:
    """Read a ResultAccuracy; None for the default."""
    if proto.HasField("tolerance"):
        wanted = proto.tolerance
        return ResultAccuracy(None, wanted.atol, wanted.rtol, wanted.ulps)
    mode = enumerator("AccuracyMode", proto.mode, "accuracy mode").lower()
    return ResultAccuracy(mode) if mode != "default" else None


def frontend_attributes(proto: Any) -> FrontendAttributes | None:
    """Read a map of attributes, sorted by key; a value that is a dictionary keeps its braces, others get quotes."""
    entries = sorted((text_of(e.key), text_of(e.value)) for e in proto.map)
    return FrontendAttributes(tuple((k, v if is_dictionary(v) else quote(v)) for k, v in entries)) if entries else None


def is_dictionary(text: str) -> bool:
    """Return True if a text is one pair of braces with all inside balanced, quotes included. XLA: LexesAsJsonDict."""
    if text[:1] != "{" or text[-1:] != "}":
        return False
    depth, in_string, at = 0, False, 0
    while at < len(text):
        sign = text[at]
        if sign == "\\" and in_string:
            at += 1
        elif sign == '"':
            in_string = not in_string
        elif not in_string and sign in "{}":
            depth += 1 if sign == "{" else -1
            if depth == 0 and at != len(text) - 1:
                return False
        at += 1
    return depth == 0 and not in_string


def payload(proto: Any, name: str, payloads: Any) -> bytes:
    """Read a Payload: its bytes, or those of the module's table that its number names; empty where it is not set."""
    if not proto.HasField(name):
        return b""
    held = getattr(proto, name)
    if not held.HasField("id"):
        return bytes(held.value)
    if not 0 <= held.id < len(payloads):
        raise ProtoError(INCONSISTENT, f"payload {held.id} of {len(payloads)}")
    return bytes(payloads[held.id])


def backend_config(data: bytes) -> BackendConfig | None:
    """Return the configuration of a backend."""
    text = text_of(data)
    return BackendConfig(text, quoted=not is_dictionary(text)) if text else None


def statistics(proto: Any) -> Statistics | None:
    """Read a StatisticsViz; None without statistics."""
    entries = tuple((text_of(s.stat_name), _number(s.stat_val)) for s in proto.statistics)
    return Statistics(proto.stat_index_to_visualize, entries) if entries else None


def _number(value: float) -> str:
    short = f"{value:g}"
    return short if float(short) == value else repr(value)


_METADATA_FIELDS = (
    "op_type", "op_name", "source_file", "source_line", "source_end_line", "source_column", "source_end_column",
    "profile_type", "deduplicated_name", "preserve_layout", "scheduling_name", "stack_frame_id",
)


def metadata_text(proto: Any, payloads: Any = ()) -> str:
    """Read an OpMetadata as `{op_name="..." ...}`; `{}` where nothing is set."""
    shown = []
    for name in _METADATA_FIELDS:
        value = getattr(proto, name)
        if isinstance(value, bytes):
            value = quote(text_of(value)) if value else ""
        elif isinstance(value, bool):
            value = "true" if value else ""
        elif not isinstance(value, int):
            value = "{" + ",".join(map(str, value)) + "}" if value and value[0] else ""
        if value:
            shown.append(f"{name}={value}")
    if held := payload(proto, "metadata_payload", payloads):
        shown.append(f"metadata_payload={quote(text_of(held))}")
    return "{" + " ".join(shown) + "}"


def sparsity(proto: Any) -> Sparsity:
    """Read a SparsityConfig."""
    sides = {n: getattr(proto, n) for n in ("lhs", "rhs") if proto.HasField(n)}
    return Sparsity(**{n: OperandSparsity(s.num_non_zero, s.block_size, s.dimension, s.stride, s.idx)
                       for n, s in sides.items()})


def original_array(proto: Any) -> str:
    """Read an OriginalArrayProto as `{"name" {index}}`."""
    index = " {" + ",".join(map(str, proto.shape_index)) + "}" if proto.shape_index else ""
    return "{" + quote(text_of(proto.instruction_name)) + index + "}"


def original_value(proto: Any) -> Raw:
    """Read an OriginalValueProto as `{({"x"}, {"y" {1}})}`."""
    if proto.is_synthetic_call:
        return Raw("{[synthetic_call]}")
    tree: dict[Any, Any] = {}
    for element in proto.elements:
        level = tree
        for step in element.shape_index:
            level = level.setdefault(step, {})
        level["leaf"] = original_array(element.original_array) if element.HasField("original_array") else "{}"
    return Raw("{" + _origin(tree) + "}")


def _origin(tree: dict[Any, Any]) -> str:
    steps = [k for k in tree if k != "leaf"]
    if not steps:
        return str(tree.get("leaf", "()"))
    if min(steps) < 0 or max(steps) > 1 << 20:
        raise ProtoError(INCONSISTENT, "an original value has an element of an impossible number")
    return "(" + ", ".join(_origin(tree[k]) if k in tree else "{}" for k in range(max(steps) + 1)) + ")"
