"""The messages of HloModuleProto: fields and numbers in one table, classes made from it on first use.

Source: xla/service/hlo.proto and xla/xla_data.proto. Strings are read as bytes, because XLA does not hold them to
UTF-8; enumerations as integers, so that new values come through; floats of literals as the words that hold them, so
that every bit of a NaN does; maps as the repeated entries that they are. Every field has presence. A second set of the
same classes is for protobuf's text form, where enumerators are words and floats numbers.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping
from typing import Any

from hlotool.ir import API_VERSIONS, DTYPES, DType

#: int64, uint64, bool, bytes, float, double, 32 and 64 bits kept as they are, a message whose bytes are kept
_SCALARS = {"i": 3, "u": 4, "b": 8, "y": 12, "f": 2, "d": 1, "w": 7, "q": 6, "m": 12}
#: the types of the same fields in text; a message that is kept as bytes is no field there
_SCALARS_OF_TEXT = {**_SCALARS, "w": _SCALARS["f"], "q": _SCALARS["d"]}
_MESSAGE, _ENUMERATION, _OPTIONAL, _REPEATED = 11, 14, 1, 3

#: the names of enumerators, from 0; those of PrimitiveType follow from the element types
ENUMERATIONS: Mapping[str, tuple[str, ...]] = {
    "AccuracyMode": ("DEFAULT", "HIGHEST"),
    "Algorithm": ("ALG_UNSET", "ALG_DOT_ANY_F8_ANY_F8_F32", "ALG_DOT_ANY_F8_ANY_F8_F32_FAST_ACCUM",
                  "ALG_DOT_F16_F16_F16", "ALG_DOT_F16_F16_F32", "ALG_DOT_BF16_BF16_BF16", "ALG_DOT_BF16_BF16_F32",
                  "ALG_DOT_BF16_BF16_F32_X3", "ALG_DOT_BF16_BF16_F32_X6", "ALG_DOT_TF32_TF32_F32",
                  "ALG_DOT_TF32_TF32_F32_X3", "ALG_DOT_F32_F32_F32", "ALG_DOT_F64_F64_F64",
                  "ALG_DOT_BF16_BF16_F32_X9"),
    "AliasKind": ("UNDEFINED_ALIAS", "MAY_ALIAS", "MUST_ALIAS"),
    "ApiVersion": API_VERSIONS,
    "ConvolutionKind": ("CONVOLUTION_KIND_UNSET", "CONVOLUTION_KIND_FPROP", "CONVOLUTION_KIND_DGRAD",
                        "CONVOLUTION_KIND_WGRAD"),
    "DimLevelType": ("DIM_DENSE", "DIM_COMPRESSED", "DIM_SINGLETON", "DIM_LOOSE_COMPRESSED"),
    "Distribution": ("RNG_INVALID", "RNG_UNIFORM", "RNG_NORMAL"),
    "FftType": ("FFT", "IFFT", "RFFT", "IRFFT"),
    "Generator": ("RNG_DEFAULT", "RNG_THREE_FRY", "RNG_PHILOX"),
    "PaddingType": ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME"),
    "OperandPrecision": ("DEFAULT", "HIGH", "HIGHEST"),
    "ProfileType": ("INVALID", "WINDOW", "FLAG", "INTEGER"),
    "CallSchedule": ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST"),
    "ShardGroupType": ("AS", "LIKE"),
    "ShardingType": ("REPLICATED", "MAXIMAL", "TUPLE", "OTHER", "MANUAL", "UNKNOWN", "UNREDUCED"),
    "Transposition": ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"),
    "TriState": ("TRI_STATE_UNSPECIFIED", "TRI_STATE_TRUE", "TRI_STATE_FALSE"),
}
#: numbers of PrimitiveType that are no element type of arrays
OTHER_TYPES = {13: "tuple", 14: "opaque", 17: "token", 34: "buffer"}

# message: field=number:type, the type a letter of _SCALARS, an enumeration or a message, with * where it repeats; the
# fields of Literal that hold elements follow from the element types
_MESSAGES = """
Snapshot: hlo=1:Hlo arguments=2:*Literal result=3:Literal execution_platform=4:y
UnoptimizedSnapshot: hlo_module=1:Module partitions=2:*Inputs version=3:i
Inputs: arguments=1:*Literal arguments_descriptors=2:*Descriptor
Descriptor: version=1:i argument_size_bytes=2:u
Hlo: hlo_module=1:Module
Module: name=1:y entry_computation_name=2:y computations=3:*Computation host_program_shape=4:ProgramShape id=5:i
    entry_computation_id=6:i schedule=7:Schedule input_output_alias=8:AliasTable cross_program_prefetches=10:*Prefetch
    is_dynamic=11:b spmd_output_sharding=12:OpSharding profile_info=13:*m spmd_parameters_shardings=14:*OpSharding
    device_assignment=15:m use_auto_spmd_partitioning=16:b stack_frame_index=17:StackFrameIndex
    buffer_donor=18:DonorTable frontend_attributes=19:Map original_value_recovery_table=20:RecoveryTable
    device_type=21:y payloads=22:*y pjrt_id=23:i
Computation: name=1:y instructions=2:*Instruction program_shape=4:ProgramShape id=5:i root_id=6:i
    is_fusion_computation=7:b execution_thread=8:y
Instruction: name=1:y opcode=2:y shape=3:Shape metadata=7:Metadata literal=8:Literal parameter_number=9:i
    fusion_kind=11:y tuple_index=13:i dimensions=14:*i window=15:Window convolution_dimension_numbers=16:ConvDims
    slice_dimensions=17:*SliceDim exponent_bits=18:i mantissa_bits=19:i dynamic_slice_sizes=20:*i
    padding_config=21:Padding outfeed_config=22:y distribution=23:Distribution epsilon=24:f feature_index=25:i
    channel_id=26:i infeed_config=27:y custom_call_target=28:y outfeed_shape=29:Shape dot_dimension_numbers=30:DotDims
    fft_type=31:FftType fft_length=32:*i gather_dimension_numbers=33:GatherDims gather_slice_sizes=34:*i id=35:i
    operand_ids=36:*i control_predecessor_ids=37:*i called_computation_ids=38:*i sharding=40:OpSharding
    backend_config=43:y all_reduce_id=45:i is_host_transfer=47:b scatter_dimension_numbers=48:ScatterDims
    replica_groups=49:*Group feature_group_count=50:i precision_config=51:Precision source_target_pairs=52:*Pair
    domain_entry_sharding=54:OpSharding domain_exit_sharding=55:OpSharding constrain_layout=56:b
    operand_shapes_with_layout=57:*Shape batch_group_count=58:i triangular_solve_options=59:TriangularSolve
    is_stable=60:b parameter_replication=61:Replication cholesky_options=62:Cholesky comparison_direction=63:y
    custom_call_has_side_effect=65:b delta=66:i indices_are_sorted=67:b frontend_attributes=68:Map unique_indices=69:b
    rng_algorithm=70:Generator use_global_device_ids=71:b comparison_type=72:y is_cross_program_prefetch=73:b
    output_operand_aliasing=74:*OperandAlias padding_type=75:PaddingType custom_call_schedule=76:CallSchedule
    custom_call_api_version=77:ApiVersion async_execution_thread=79:y cross_program_prefetch_index=80:i k=81:i
    statistics_viz=82:Statistics largest=85:b collective_device_list=87:DeviceList original_value=88:OriginalValue
    is_composite=89:b ragged_dot_dimension_numbers=90:RaggedDotDims result_accuracy=91:Accuracy
    iota_collective_device_list=92:IotaGroups mesh_axes_replica_group_list=93:MeshGroups is_reverse=94:b
    num_carries=95:i is_associative=96:TriState conv_kind=97:ConvolutionKind sparsity_config=98:Sparsity
    backend_config_payload=99:Payload comparison_order=102:y
Payload: value=1:y id=2:i
Schedule: sequences=1:*Sequence
Sequence: key=1:i value=2:InstructionIds
InstructionIds: instruction_ids=1:*i
AliasTable: entries=1:*Alias
Alias: output_shape_index=1:*i parameter_number=2:i parameter_shape_index=3:*i kind=4:AliasKind
DonorTable: entries=1:*Donor
Donor: parameter_number=1:i parameter_shape_index=2:*i
Prefetch: parameter=1:i index=2:*i offset=3:i
StackFrameIndex: file_names=1:*y function_names=2:*y file_locations=3:*FileLocation stack_frames=4:*StackFrame
FileLocation: file_name_id=1:i function_name_id=2:i line=3:i column=4:i end_line=5:i end_column=6:i
StackFrame: file_location_id=1:i parent_frame_id=2:i
RecoveryTable: entries=1:*Recovery
Recovery: old_original_array=1:OriginalArray new_original_array=2:OriginalArray recovery_module=3:Module
OriginalArray: instruction_name=1:y shape_index=2:*i
OriginalValue: elements=1:*OriginalElement is_synthetic_call=2:b
OriginalElement: shape_index=1:*i original_array=2:OriginalArray
ProgramShape: parameters=1:*Shape result=2:Shape parameter_names=3:*y
Shape: element_type=2:PrimitiveType dimensions=3:*i tuple_shapes=4:*Shape layout=5:Layout is_dynamic_dimension=6:*b
Layout: minor_to_major=1:*i tiles=6:*Tile element_size_in_bits=7:i memory_space=8:i dim_level_types=9:*DimLevelType
    physical_shape=10:Shape index_primitive_type=11:PrimitiveType pointer_primitive_type=12:PrimitiveType
    dim_unique=13:*b dim_ordered=14:*b dynamic_shape_metadata_prefix_bytes=15:i tail_padding_alignment_in_elements=16:i
    split_configs=17:*Split
Tile: dimensions=1:*i
Split: dimension=1:i split_indices=2:*i
Literal: shape=1:Shape tuple_literals=10:*Literal sparse_indices=14:*i dynamic_sizes=34:*i
Metadata: op_type=1:y op_name=2:y source_file=3:y source_line=4:i profile_type=5:*ProfileType
    size_of_generated_code_in_bytes=8:i size_of_memory_working_set_in_bytes=9:i profile_info=10:m deduplicated_name=12:y
    preserve_layout=13:b stack_frame_id=15:i scheduling_name=16:y source_end_line=17:i source_column=18:i
    source_end_column=19:i metadata_payload=20:Payload
Window: dimensions=1:*WindowDim
WindowDim: size=1:i stride=2:i padding_low=3:i padding_high=4:i window_dilation=5:i base_dilation=6:i
    window_reversal=7:b
ConvDims: kernel_input_feature_dimension=3:i kernel_output_feature_dimension=4:i kernel_spatial_dimensions=6:*i
    input_batch_dimension=7:i input_feature_dimension=8:i output_batch_dimension=9:i output_feature_dimension=10:i
    input_spatial_dimensions=11:*i output_spatial_dimensions=12:*i
SliceDim: start=1:i limit=2:i stride=3:i
Padding: dimensions=1:*PaddingDim
PaddingDim: edge_padding_low=1:i edge_padding_high=2:i interior_padding=3:i
DotDims: lhs_contracting_dimensions=1:*i rhs_contracting_dimensions=2:*i lhs_batch_dimensions=3:*i
    rhs_batch_dimensions=4:*i
RaggedDotDims: dot_dimension_numbers=1:DotDims lhs_ragged_dimensions=2:*i rhs_group_dimensions=3:*i
GatherDims: offset_dims=1:*i collapsed_slice_dims=2:*i start_index_map=3:*i index_vector_dim=4:i
    operand_batching_dims=5:*i start_indices_batching_dims=6:*i
ScatterDims: update_window_dims=1:*i inserted_window_dims=2:*i scatter_dims_to_operand_dims=3:*i index_vector_dim=4:i
    input_batching_dims=5:*i scatter_indices_batching_dims=6:*i
Precision: operand_precision=1:*OperandPrecision algorithm=2:Algorithm
TriangularSolve: left_side=1:b lower=2:b unit_diagonal=3:b transpose_a=4:Transposition
Cholesky: lower=1:b
Replication: replicated_at_leaf_buffers=1:*b
OperandAlias: output_shape_index=1:*i operand_index=2:i operand_shape_index=3:*i
Pair: source=1:i target=2:i
Map: map=1:*MapEntry
MapEntry: key=1:y value=2:y
Statistics: stat_index_to_visualize=1:i statistics=2:*Statistic
Statistic: stat_name=1:y stat_val=2:d
Accuracy: mode=1:AccuracyMode tolerance=2:Tolerance
Tolerance: atol=1:d rtol=2:d ulps=3:i
Sparsity: lhs=1:TensorSparsity rhs=2:TensorSparsity
TensorSparsity: num_non_zero=1:i block_size=2:i dimension=3:i stride=4:i idx=5:i
Group: replica_ids=1:*i
DeviceList: replica_groups=1:*Group iota_replica_group_list=2:IotaGroups
IotaGroups: num_replica_groups=1:i num_devices_per_group=2:i iota_reshape_dims=3:*i iota_transpose_perm=4:*i
MeshGroups: mesh=1:Mesh axes=2:*AxisRef
Mesh: axes=1:*MeshAxis device_ids=2:*i iota_transform=3:MeshIota
MeshAxis: name=1:y size=2:i
MeshIota: reshape_dims=1:*i transpose_perm=2:*i
AxisRef: mesh_axis_index=1:i sub_axis_info=2:SubAxis
SubAxis: pre_size=1:i size=2:i
NamedSharding: tuple_shardings=1:*NamedSharding mesh=2:Mesh dim_shardings=3:*DimSharding replicated_axes=4:*AxisRef
    unreduced_axes=5:*AxisRef metadata=6:*Metadata manual_axes=7:*AxisRef
DimSharding: axes=1:*AxisRef is_closed=2:b
OpSharding: type=1:ShardingType tile_shape=2:Shape tile_assignment_dimensions=3:*i tile_assignment_devices=4:*i
    tuple_shardings=5:*OpSharding replicate_on_last_tile_dim=6:b metadata=7:*Metadata last_tile_dims=8:*ShardingType
    iota_reshape_dims=9:*i iota_transpose_perm=10:*i is_shard_group=11:b shard_group_id=12:i
    shard_group_type=13:ShardGroupType named_sharding=14:NamedSharding
"""


@functools.cache
def messages() -> dict[str, list[tuple[str, int, str, bool]]]:
    """Message name to its fields: name, number, type, whether it repeats."""
    found: dict[str, list[tuple[str, int, str, bool]]] = {}
    for entry in _MESSAGES.replace("\n    ", " ").strip().splitlines():
        name, _, fields = entry.partition(": ")
        found[name] = []
        for field in fields.split():
            spelled, _, kind = field.partition(":")
            field_name, _, number = spelled.partition("=")
            found[name].append((field_name, int(number), kind.removeprefix("*"), kind.startswith("*")))
    found["Literal"] += [(elements_field(d), d.literal_field, _letter(d), d.is_stored_whole) for d in DTYPES.values()]
    return found


def elements_field(dtype: DType) -> str:
    """Return the name of the field of Literal that holds elements of a type."""
    return f"{dtype.name}s"


def _letter(dtype: DType) -> str:
    """Return the type of that field: numbers, or one string of bytes for types that are not stored whole."""
    if not dtype.is_stored_whole:
        return "y"
    words = {32: "w", 64: "q"}.get(dtype.component.bits, "")
    return {"pred": "b", "signed": "i", "unsigned": "u"}.get(dtype.family, words)


def enumerators(enumeration: str) -> dict[str, int]:
    """Return the names of an enumeration's values and their numbers."""
    if enumeration != "PrimitiveType":
        return {name: number for number, name in enumerate(ENUMERATIONS[enumeration])}
    others = {("opaque_type" if name == "opaque" else name).upper(): number for number, name in OTHER_TYPES.items()}
    return {"PRIMITIVE_TYPE_INVALID": 0, **{d.name.upper(): d.number for d in DTYPES.values()}, **others}


@functools.cache
def message_class(name: str, in_text: bool = False) -> Any:
    """Return the protobuf class of a message of the table, for bytes or for protobuf's text form."""
    from google.protobuf import message_factory

    return message_factory.GetMessageClass(_pool(in_text).FindMessageTypeByName(f"hlotool.{name}"))


@functools.cache
def _pool(in_text: bool) -> Any:
    from google.protobuf import descriptor_pb2, descriptor_pool

    # Of proto2, whose singular fields all have presence; on the wire it is the same.
    file = descriptor_pb2.FileDescriptorProto(name="hlotool_module.proto", package="hlotool", syntax="proto2")
    for name, fields in messages().items():
        message = file.message_type.add(name=name)
        for field, number, kind, repeats in fields:
            if not (in_text and kind == "m"):
                added = message.field.add(name=field, number=number, label=_REPEATED if repeats else _OPTIONAL)
                _set_type(added, kind, in_text)
    for name in ("PrimitiveType", *ENUMERATIONS):
        # Names of values are names of what their enumeration stands in: a message each.
        values = file.message_type.add(name=name).enum_type.add(name="Name").value
        for value, number in enumerators(name).items():
            values.add(name=value, number=number)
    pool = descriptor_pool.DescriptorPool()
    pool.Add(file)
    return pool


def _set_type(field: Any, kind: str, in_text: bool) -> None:
    """Give a field of a descriptor the type that a word of the table stands for."""
    scalars = _SCALARS_OF_TEXT if in_text else _SCALARS
    is_enumeration = kind == "PrimitiveType" or kind in ENUMERATIONS
    if is_enumeration and not in_text:
        kind = "i"
    field.type = scalars.get(kind, _ENUMERATION if is_enumeration else _MESSAGE)
    if kind not in scalars:
        field.type_name = f".hlotool.{kind}.Name" if is_enumeration else f".hlotool.{kind}"
