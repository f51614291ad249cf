"""Every version of every operation of VHLO, one row each: from and to which StableHLO version, and its attributes.

A row is the name, the versions, and the attributes in the order of the bytes, each as `name:kind=default`. An attribute
without a kind is converted by its value; `i64s` and `bools` are arrays in StableHLO and tensors in VHLO, a `symbol` is
a string, a `flag` is a unit where it is true, a `channel` is the number of a channel handle. One with a default is left
out in StableHLO where it has it, and has it in versions of the operation before it was there. What several attributes
of VHLO make together stands in `_GROUPS`. Source: StableHLO, VhloOps.td, VhloDialect.td.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from hlotool.mlir.vhlo_codec import Version

#: the newest version whose operations, types and attributes are known here
NEWEST: Version = (1, 21, 0)

_ROWS = """
abs_v1 0.9.0
add_v1 0.9.0
after_all_v1 0.9.0
all_gather_v1 0.9.0-1.4.0 all_gather_dim channel_id:channel=0 replica_groups use_global_device_ids:flag=false
all_gather_v2 1.5.0 all_gather_dim channel_id:channel=0 replica_groups use_global_device_ids:flag=false
all_reduce_v1 0.9.0-1.4.0 channel_id:channel=0 replica_groups use_global_device_ids:flag=false
all_reduce_v2 1.5.0 channel_id:channel=0 replica_groups use_global_device_ids:flag=false
all_to_all_v1 0.9.0-1.4.0 channel_id:channel=0 concat_dimension replica_groups split_count split_dimension
all_to_all_v2 1.5.0 channel_id:channel=0 concat_dimension replica_groups split_count split_dimension
and_v1 0.9.0
async_done_v1 1.15.0
async_start_v1 1.15.0
atan2_v1 0.9.0
batch_norm_grad_v1 0.9.0 epsilon feature_index
batch_norm_inference_v1 0.9.0 epsilon feature_index
batch_norm_training_v1 0.9.0 epsilon feature_index
bitcast_convert_v1 0.9.0
broadcast_in_dim_v1 0.9.0 broadcast_dimensions:i64s
broadcast_v1 0.9.0 broadcast_sizes:i64s
call_v1 0.9.0 callee:symbol
case_v1 0.9.0
cbrt_v1 0.9.0-1.9.0
cbrt_v2 1.10.0 result_accuracy=accuracy
ceil_v1 0.9.0
cholesky_v1 0.9.0 lower=false
clamp_v1 0.9.0
collective_broadcast_v1 0.16.0-1.19.0 channel_id:channel=0 replica_groups
collective_broadcast_v2 1.20.0 channel_id:channel=0 has_dynamic_root:flag=false replica_groups
collective_permute_v1 0.9.0 channel_id:channel=0 source_target_pairs
collective_reduce_v1 1.19.0 channel_id:channel=0 has_dynamic_root:flag=false replica_groups
    use_global_device_ids:flag=false
compare_v1 0.9.0 compare_type=NOTYPE comparison_direction
complex_v1 0.9.0
composite_v1 0.19.0-1.13.0 composite_attributes={} decomposition:symbol name version=0
composite_v2 1.14.0 composite_attributes={} decomposition:symbol name version=0
concatenate_v1 0.9.0 dimension
constant_v1 0.9.0 value
convert_v1 0.9.0
convolution_v1 0.9.0 batch_group_count feature_group_count input_batch_dimension input_feature_dimension
    input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension
    kernel_spatial_dimensions lhs_dilation:i64s=ones output_batch_dimension output_feature_dimension
    output_spatial_dimensions padding=zeros precision_config=precisions rhs_dilation:i64s=ones
    window_reversal:bools=falses window_strides:i64s=ones
cosine_v1 0.9.0-1.9.0
cosine_v2 1.10.0 result_accuracy=accuracy
count_leading_zeros_v1 0.9.0
create_token_v1 0.9.0
cross-replica-sum_v1 0.9.0 replica_groups
custom_call_v1 0.9.0-1.17.0 api_version:number=API_VERSION_ORIGINAL backend_config=config call_target_name
    called_computations:symbols=[] has_side_effect=false operand_layouts=[] output_operand_aliases=[]
    result_layouts=[]
custom_call_v2 1.18.0 api_version:number=API_VERSION_ORIGINAL backend_config=config call_target_name
    called_computations:symbols=[] has_side_effect=false operand_layouts=[] output_operand_aliases=[]
    result_layouts=[] result_tilings=[]
divide_v1 0.9.0
dot_general_v1 0.9.0-1.5.0 lhs_batching_dimensions lhs_contracting_dimensions precision_config=precisions
    rhs_batching_dimensions rhs_contracting_dimensions
dot_general_v2 1.6.0 accumulation_type=none allow_imprecise_accumulation=none lhs_batching_dimensions
    lhs_component_count=none lhs_contracting_dimensions lhs_precision_type=none num_primitive_operations=none
    precision_config=precisions rhs_batching_dimensions rhs_component_count=none rhs_contracting_dimensions
    rhs_precision_type=none
dot_v1 0.9.0 precision_config=precisions
dynamic_broadcast_in_dim_v1 0.9.0 broadcast_dimensions:i64s known_expanding_dimensions:i64s=empty
    known_nonexpanding_dimensions:i64s=empty
dynamic_conv_v1 0.9.0-0.19.0 batch_group_count feature_group_count input_batch_dimension input_feature_dimension
    input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension
    kernel_spatial_dimensions lhs_dilation:i64s=ones output_batch_dimension output_feature_dimension
    output_spatial_dimensions padding=zeros precision_config=precisions rhs_dilation:i64s=ones
    window_reversal:bools=falses window_strides:i64s=ones
dynamic_conv_v2 0.20.0 batch_group_count feature_group_count input_batch_dimension input_feature_dimension
    input_spatial_dimensions kernel_input_feature_dimension kernel_output_feature_dimension
    kernel_spatial_dimensions lhs_dilation:i64s=ones output_batch_dimension output_feature_dimension
    output_spatial_dimensions precision_config=precisions rhs_dilation:i64s=ones window_reversal:bools=falses
    window_strides:i64s=ones
dynamic_gather_v1 0.9.0-1.0.0 collapsed_slice_dims index_vector_dim indices_are_sorted=false offset_dims
    start_index_map
dynamic_gather_v2 1.1.0 collapsed_slice_dims index_vector_dim indices_are_sorted=false offset_dims
    operand_batching_dims=empty start_index_map start_indices_batching_dims=empty
dynamic_iota_v1 0.9.0 iota_dimension
dynamic_pad_v1 0.9.0
dynamic_reshape_v1 0.9.0
dynamic_slice_v1 0.9.0 slice_sizes:i64s
dynamic_update_slice_v1 0.9.0
einsum_v1 0.9.0 einsum_config
exponential_minus_one_v1 0.9.0-1.9.0
exponential_minus_one_v2 1.10.0 result_accuracy=accuracy
exponential_v1 0.9.0-1.8.0
exponential_v2 1.9.0 result_accuracy=accuracy
fft_v1 0.9.0 fft_length:i64s fft_type
floor_v1 0.9.0
func_v1 0.9.0 arg_attrs=[] function_type res_attrs=[] sym_name sym_visibility=""
gather_v1 0.9.0-1.0.0 collapsed_slice_dims index_vector_dim indices_are_sorted=false offset_dims slice_sizes:i64s
    start_index_map
gather_v2 1.1.0 collapsed_slice_dims index_vector_dim indices_are_sorted=false offset_dims
    operand_batching_dims=empty slice_sizes:i64s start_index_map start_indices_batching_dims=empty
get_dimension_size_v1 0.9.0 dimension
get_tuple_element_v1 0.9.0 index
if_v1 0.9.0
imag_v1 0.9.0
infeed_v1 0.9.0 infeed_config="" layout=[]
iota_v1 0.9.0 iota_dimension
is_finite_v1 0.9.0
log_plus_one_v1 0.9.0-1.9.0
log_plus_one_v2 1.10.0 result_accuracy=accuracy
log_v1 0.9.0-1.9.0
log_v2 1.10.0 result_accuracy=accuracy
logistic_v1 0.9.0-1.9.0
logistic_v2 1.10.0 result_accuracy=accuracy
map_v1 0.9.0 dimensions:i64s
maximum_v1 0.9.0
minimum_v1 0.9.0
multiply_v1 0.9.0
negate_v1 0.9.0
not_v1 0.9.0
optimization_barrier_v1 0.9.0
or_v1 0.9.0
outfeed_v1 0.9.0 outfeed_config=""
pad_v1 0.9.0 edge_padding_high:i64s edge_padding_low:i64s interior_padding:i64s
partition_id_v1 0.9.0
popcnt_v1 0.9.0
power_v1 0.9.0
real_dynamic_slice_v1 0.9.0
real_v1 0.9.0
recv_v1 0.9.0-1.11.0 channel_id channel_type is_host_transfer=false
recv_v2 1.12.0 channel_id channel_type is_host_transfer=false source_target_pairs=empty
reduce_precision_v1 0.9.0 exponent_bits mantissa_bits
reduce_scatter_v1 0.9.0 channel_id:channel=0 replica_groups scatter_dimension use_global_device_ids:flag=false
reduce_v1 0.9.0 dimensions:i64s
reduce_window_v1 0.9.0 base_dilations:i64s=ones padding=zeros window_dilations:i64s=ones window_dimensions:i64s
    window_strides:i64s=ones
remainder_v1 0.9.0
replica_id_v1 0.9.0
reshape_v1 0.9.0
return_v1 0.9.0
reverse_v1 0.9.0 dimensions:i64s
rng_bit_generator_v1 0.9.0 rng_algorithm
rng_v1 0.9.0 rng_distribution
round_nearest_afz_v1 0.9.0
round_nearest_even_v1 0.9.0
rsqrt_v1 0.9.0-1.9.0
rsqrt_v2 1.10.0 result_accuracy=accuracy
scatter_v1 0.9.0-1.0.0 index_vector_dim indices_are_sorted=false inserted_window_dims scatter_dims_to_operand_dims
    unique_indices=false update_window_dims
scatter_v2 1.1.0 index_vector_dim indices_are_sorted=false input_batching_dims=empty inserted_window_dims
    scatter_dims_to_operand_dims scatter_indices_batching_dims=empty unique_indices=false update_window_dims
select_and_scatter_v1 0.9.0 padding=zeros window_dimensions:i64s window_strides:i64s=ones
select_v1 0.9.0
send_v1 0.9.0-1.11.0 channel_id channel_type is_host_transfer=false
send_v2 1.12.0 channel_id channel_type is_host_transfer=false source_target_pairs=empty
set_dimension_size_v1 0.9.0 dimension
shift_left_v1 0.9.0
shift_right_arithmetic_v1 0.9.0
shift_right_logical_v1 0.9.0
sign_v1 0.9.0
sine_v1 0.9.0-1.9.0
sine_v2 1.10.0 result_accuracy=accuracy
slice_v1 0.9.0 limit_indices:i64s start_indices:i64s strides:i64s
sort_v1 0.9.0 dimension=-1 is_stable=false
sqrt_v1 0.9.0-1.9.0
sqrt_v2 1.10.0 result_accuracy=accuracy
subtract_v1 0.9.0
tan_v1 1.4.0-1.9.0
tan_v2 1.10.0 result_accuracy=accuracy
tanh_v1 0.9.0-1.9.0
tanh_v2 1.10.0 result_accuracy=accuracy
torch_index_select_v1 0.9.0 batch_dims dim
transpose_v1 0.9.0 permutation:i64s
triangular_solve_v1 0.9.0 left_side lower transpose_a unit_diagonal
tuple_v1 0.9.0
unary_einsum_v1 0.9.0 einsum_config
uniform_dequantize_v1 0.9.0
uniform_quantize_v1 0.9.0
while_v1 0.9.0
xor_v1 0.9.0
"""


class VhloAttribute(NamedTuple):
    """An attribute of a row: kind and default are "" where it has none."""

    name: str
    kind: str
    default: str


@dataclass(frozen=True, slots=True)
class VhloOperation:
    """A row: one version of an operation, `last` being None for the one that StableHLO has today."""

    name: str
    first: Version
    last: Version | None
    attributes: tuple[VhloAttribute, ...]

    @property
    def base(self) -> str:
        """The name without its version."""
        return self.name.rpartition("_v")[0]


class AttributeGroup(NamedTuple):
    """An attribute of StableHLO that VHLO has as several: its mnemonic, and (VHLO's name, StableHLO's field, what)."""

    name: str
    mnemonic: str
    fields: tuple[tuple[str, str, str], ...]


#: what attributes make together, a row each: the operations, StableHLO's attribute, its mnemonic, its fields; those
#: of lists have a star, and `field=name` stands where VHLO has another name
_GROUPS = """
convolution,dynamic_conv dimension_numbers conv input_batch_dimension input_feature_dimension
    input_spatial_dimensions* kernel_input_feature_dimension kernel_output_feature_dimension
    kernel_spatial_dimensions* output_batch_dimension output_feature_dimension output_spatial_dimensions*
dot_general dot_dimension_numbers dot lhs_batching_dimensions* rhs_batching_dimensions* lhs_contracting_dimensions*
    rhs_contracting_dimensions*
dot_general algorithm dot_algorithm lhs_precision_type rhs_precision_type accumulation_type lhs_component_count
    rhs_component_count num_primitive_operations allow_imprecise_accumulation
gather,dynamic_gather dimension_numbers gather offset_dims* collapsed_slice_dims* operand_batching_dims*
    start_indices_batching_dims* start_index_map* index_vector_dim
scatter scatter_dimension_numbers scatter update_window_dims* inserted_window_dims* input_batching_dims*
    scatter_indices_batching_dims* scatter_dims_to_operand_dims* index_vector_dim
send,recv channel_handle channel_handle handle=channel_id type=channel_type
"""
#: attributes of StableHLO of which every field is written, be it empty or zero
WHOLE = frozenset(("conv", "channel_handle", "dot_algorithm"))


def version_of(text: str) -> Version:
    """Return a version of its text: "1.4.0"."""
    major, minor, patch = map(int, text.split("."))
    return major, minor, patch


def version_text(version: Version) -> str:
    """Return the text of a version."""
    return ".".join(map(str, version))


@functools.cache
def groups_of(base: str) -> tuple[AttributeGroup, ...]:
    """Return what attributes of an operation make together, by its name without a version."""
    return tuple([group for operations, group in _groups() if base in operations])


def all_groups() -> tuple[AttributeGroup, ...]:
    """Return what attributes of all operations make together."""
    return tuple([group for _, group in _groups()])


@functools.cache
def _groups() -> tuple[tuple[frozenset[str], AttributeGroup], ...]:
    """An attribute that several attributes of VHLO make together, and the operations that have it."""
    found = []
    for row in _rows(_GROUPS):
        operations, name, mnemonic, *words = row.split()
        fields = [word.rstrip("*").partition("=") for word in words]
        found.append((frozenset(operations.split(",")), AttributeGroup(name, mnemonic, tuple(
            [(vhlo or field, field, "ints" if word.endswith("*") else "one")
             for (field, _, vhlo), word in zip(fields, words, strict=True)]))))
    return tuple(found)


def _rows(text: str) -> list[str]:
    """The rows of a table; one that is longer than a line goes on indented."""
    return re.split(r"\n(?! )", text.strip())


@functools.cache
def vhlo_operations() -> Mapping[str, VhloOperation]:
    """Return all rows by name (`add_v1`)."""
    found = {}
    for row in _rows(_ROWS):
        name, versions, *words = row.split()
        first, _, last = versions.partition("-")
        attributes = [VhloAttribute(*re.fullmatch(r"(\w+)(?::(\w+))?(?:=(.*))?", word).groups(""))  # type: ignore[union-attr]
                      for word in words]
        found[name] = VhloOperation(name, version_of(first), version_of(last) if last else None, tuple(attributes))
    return found


@functools.cache
def versions_of_operation(base: str) -> tuple[VhloOperation, ...]:
    """Return the rows of an operation by its name without a version, the newest first."""
    return tuple(sorted((row for row in vhlo_operations().values() if row.base == base), key=lambda row: row.first,
                        reverse=True))
