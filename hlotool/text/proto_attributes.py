"""The attributes of an HloInstructionProto, under the names that text gives them.

A message has one set of fields for all operations and does not say which of them an operation has: a zero is not
written. So fields whose zero means something name the operations that have them. Called computations are told apart
by their order. Source: XLA's HloInstruction::CreateFromProto, ToProto and PrintExtraAttributes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.ir import Domain, HloComputation, HloInstruction, Literal, Shape
from hlotool.text import proto_values as values
from hlotool.text.proto_values import INCONSISTENT, ProtoError, enumerator, ints, text_of


@dataclass(frozen=True, slots=True)
class Instruction:
    """What the readers of attributes may look at."""

    proto: Any
    opcode: str
    shape: Shape
    operands: tuple[HloInstruction, ...]
    payloads: Sequence[bytes]


def attributes_of(instruction: Instruction, called: tuple[HloComputation, ...]) -> dict[str, Any]:
    """The attributes of an instruction, by name, in the order of the text; the called computations among them."""
    found = {}
    for name, read in _READERS.items():
        value = read(instruction)
        if value is not None:
            found[name] = value
    first = {n: v for n, v in found.items() if n not in _LAST}
    return first | _called(instruction, called) | {n: v for n, v in found.items() if n in _LAST}


# Called computations

_ROLES = {"while": ("body", "condition"), "select-and-scatter": ("select", "scatter")}
_APPLYING = ("call", "map", "reduce", "reduce-window", "all-reduce", "all-reduce-start", "reduce-scatter", "scatter",
             "sort", "topk", "scan")


def _called(instruction: Instruction, called: tuple[HloComputation, ...]) -> dict[str, Any]:
    opcode = instruction.opcode
    if not called:
        return {}
    if opcode == "conditional":
        operands = instruction.operands
        if operands and operands[0].shape.element_type == "pred" and len(called) == 2:
            return dict(zip(("true_computation", "false_computation"), called, strict=True))
        return {"branch_computations": called}
    if opcode == "custom-call":
        return {"called_computations": called}
    roles = _ROLES.get(opcode, ("to_apply" if opcode in _APPLYING else "calls",))
    if len(roles) != len(called):
        raise ProtoError(INCONSISTENT, f"{opcode} calls {len(called)} computations, it has {len(roles)}")
    return dict(zip(roles, called, strict=True))


# Plain fields

def _number(field: str, always: str = "", default: int = 0) -> Callable[[Instruction], int | None]:
    """A number: written when it is not the default, or when the operation always has it."""
    opcodes = always.split()

    def read(i: Instruction) -> int | None:
        value: int = getattr(i.proto, field)
        return value if value not in (0, default) or i.opcode in opcodes else None
    return read


def _true(field: str, inside: str = "", unless: str = "") -> Callable[[Instruction], bool | None]:
    """A flag that text has only when it is set."""
    def read(i: Instruction) -> bool | None:
        holder = getattr(i.proto, inside) if inside else i.proto
        return True if getattr(holder, field) and i.opcode != unless else None
    return read


def _list(field: str, always: str = "", inside: str = "") -> Callable[[Instruction], tuple[int, ...] | None]:
    """Numbers: those of a message inside it where that is set; else when there are any or the operation has it."""
    opcodes = always.split()

    def read(i: Instruction) -> tuple[int, ...] | None:
        if inside:
            return ints(getattr(getattr(i.proto, inside), field)) if i.proto.HasField(inside) else None
        return ints(getattr(i.proto, field)) or (() if i.opcode in opcodes else None)
    return read


def _some(field: str, inside: str) -> Callable[[Instruction], tuple[int, ...] | None]:
    """Numbers of a message inside, where there are any."""
    return lambda i: ints(getattr(getattr(i.proto, inside), field)) or None


def _string(field: str, always: str = "") -> Callable[[Instruction], str | None]:
    return lambda i: text_of(getattr(i.proto, field)) or ("" if always and i.opcode == always else None)


def _enum(field: str, names: tuple[str, ...], always: str = "") -> Callable[[Instruction], str | None]:
    def read(i: Instruction) -> str | None:
        number = getattr(i.proto, field)
        return enumerator(names, number, field) if number or (always and i.opcode == always) else None
    return read


def _message(field: str, read: Callable[[Any], Any]) -> Callable[[Instruction], Any]:
    return lambda i: read(getattr(i.proto, field)) if i.proto.HasField(field) else None


# Fields with a rule of their own

_FIXED = ("reshape", "dynamic-reshape")
_DIMENSIONS = "broadcast concatenate reduce transpose reverse map sort"


def _dimensions(i: Instruction) -> tuple[int, ...] | None:
    if i.opcode in ("iota", *_FIXED):
        return None
    return ints(i.proto.dimensions) or (() if i.opcode in _DIMENSIONS.split() else None)


def _only_dimension(*opcodes: str) -> Callable[[Instruction], int | None]:
    return lambda i: i.proto.dimensions[0] if i.opcode in opcodes and len(i.proto.dimensions) == 1 else None


_GROUPED = ("all-reduce", "all-reduce-start", "all-gather", "all-gather-start", "reduce-scatter", "all-to-all",
            "collective-broadcast", "ragged-all-to-all")


def _replica_groups(i: Instruction) -> Any:
    groups = values.replica_groups(i.proto)
    return groups if i.opcode in _GROUPED or groups.groups or groups.iota or groups.mesh else None


def _channel_id(i: Instruction) -> int | None:
    # all_reduce_id is the older name; numbers below 1 stand for none.
    number = max(i.proto.channel_id, i.proto.all_reduce_id)
    return number if number > 0 else None


def _pairs(i: Instruction) -> Any:
    pairs = tuple((p.source, p.target) for p in i.proto.source_target_pairs)
    return pairs or (() if i.opcode.startswith("collective-permute") and not i.opcode.endswith("-done") else None)


def _comparison_type(i: Instruction) -> str | None:
    """The kind of comparison, where it is not the one of the operands' type. XLA: Comparison::DefaultComparisonType."""
    kind = text_of(i.proto.comparison_type)
    if not kind or not i.operands or not i.operands[0].shape.is_array:
        return kind or None
    dtype = i.operands[0].shape.dtype
    default = {"signed": "SIGNED", "float": "FLOAT", "complex": "FLOAT"}.get(dtype.family, "UNSIGNED")
    return None if kind == default else kind


def _precision(i: Instruction) -> tuple[str, ...] | None:
    numbers = i.proto.precision_config.operand_precision
    return tuple(enumerator(_PRECISIONS, n, "precision") for n in numbers) if any(numbers) else None


def _algorithm(i: Instruction) -> str | None:
    if i.opcode == "rng-bit-generator":
        return enumerator(_GENERATORS, i.proto.rng_algorithm, "random number algorithm")
    number = i.proto.precision_config.algorithm
    return enumerator(_ALGORITHMS, number, "dot algorithm") if number else None


def _literal(i: Instruction) -> Literal | None:
    if i.opcode == "constant":
        if not i.proto.HasField("literal"):
            return Literal(i.shape, text="{...}", is_elided=True)
        return values.literal(i.proto.literal, i.shape)
    return values.literal(i.proto.literal, values.shape(i.proto.literal.shape)) if i.proto.HasField("literal") else None


def _operand_layouts(i: Instruction) -> tuple[Shape, ...] | None:
    is_constrained = i.opcode == "custom-call" and i.proto.constrain_layout
    return tuple(map(values.shape, i.proto.operand_shapes_with_layout)) if is_constrained else None


def _prefetch_index(i: Instruction) -> int | None:
    if i.proto.HasField("cross_program_prefetch_index"):
        return int(i.proto.cross_program_prefetch_index)
    return 0 if i.proto.is_cross_program_prefetch else None  # the older field


def _domain(i: Instruction) -> Domain | None:
    if i.opcode != "domain":
        return None
    return Domain("sharding", values.sharding(i.proto.domain_entry_sharding),
                  values.sharding(i.proto.domain_exit_sharding))


def _thread(i: Instruction) -> str | None:
    thread = text_of(i.proto.async_execution_thread)
    return thread if thread not in ("", "main") else None


def _epsilon(i: Instruction) -> float | None:
    return float(i.proto.epsilon) if i.opcode.startswith("batch-norm-") else None


def _associative(i: Instruction) -> bool | None:
    return {1: True, 2: False}.get(i.proto.is_associative)


def _api_version(i: Instruction) -> str | None:
    number = i.proto.custom_call_api_version
    return enumerator(_API_VERSIONS, number, "version of the custom-call interface") if number > 1 else None


def _backend_config(i: Instruction) -> Any:
    held = values.payload(i.proto, "backend_config_payload", i.payloads)
    return values.backend_config(held or i.proto.backend_config)


_PRECISIONS = ("default", "high", "highest")
_GENERATORS = ("rng_default", "rng_three_fry", "rng_philox")
_ALGORITHMS = ("unset", "dot_any_f8_any_f8_f32", "dot_any_f8_any_f8_f32_fast_accum", "dot_f16_f16_f16",
               "dot_f16_f16_f32", "dot_bf16_bf16_bf16", "dot_bf16_bf16_f32", "dot_bf16_bf16_f32_x3",
               "dot_bf16_bf16_f32_x6", "dot_tf32_tf32_f32", "dot_tf32_tf32_f32_x3", "dot_f32_f32_f32",
               "dot_f64_f64_f64", "dot_bf16_bf16_f32_x9")
_API_VERSIONS = ("API_VERSION_UNSPECIFIED", "API_VERSION_ORIGINAL", "API_VERSION_STATUS_RETURNING",
                 "API_VERSION_STATUS_RETURNING_UNIFIED", "API_VERSION_TYPED_FFI")
_SCHEDULES = ("SCHEDULE_NONE", "SCHEDULE_LATEST", "SCHEDULE_EARLIEST")
_PADDING_TYPES = ("PADDING_INVALID", "PADDING_VALID", "PADDING_SAME")
_CONVOLUTION_KINDS = ("unset", "fprop", "dgrad", "wgrad")
_TRANSPOSES = ("TRANSPOSE_INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


def _transpose_a(i: Instruction) -> str | None:
    number = i.proto.triangular_solve_options.transpose_a
    return enumerator(_TRANSPOSES, number, "transposition") if number else None


def _dot(side: str, what: str) -> Callable[[Instruction], tuple[int, ...] | None]:
    """Dimensions of a dot, or of the dot in a ragged dot. Contracting ones are written even when there are none."""
    def read(i: Instruction) -> tuple[int, ...] | None:
        if i.proto.HasField("dot_dimension_numbers"):
            numbers = i.proto.dot_dimension_numbers
        elif i.proto.HasField("ragged_dot_dimension_numbers"):
            numbers = i.proto.ragged_dot_dimension_numbers.dot_dimension_numbers
        else:
            return None
        found = ints(getattr(numbers, f"{side}_{what}_dimensions"))
        return found if found or what == "contracting" else None
    return read


#: attribute -> what reads it, in the order of the text
_READERS: dict[str, Callable[[Instruction], Any]] = {
    "literal": _literal,
    "parameter_number": _number("parameter_number", "parameter"),
    "index": _number("tuple_index", "get-tuple-element"),
    "epsilon": _epsilon,
    "feature_index": _number("feature_index", "batch-norm-training batch-norm-inference batch-norm-grad"),
    "fft_type": _enum("fft_type", ("FFT", "IFFT", "RFFT", "IRFFT"), "fft"),
    "fft_length": _list("fft_length"),
    "left_side": _true("left_side", "triangular_solve_options"),
    "lower": lambda i: True if i.proto.triangular_solve_options.lower or i.proto.cholesky_options.lower else None,
    "unit_diagonal": _true("unit_diagonal", "triangular_solve_options"),
    "transpose_a": _transpose_a,
    "channel_id": _channel_id,
    "replica_groups": _replica_groups,
    "source_target_pairs": _pairs,
    "constrain_layout": _true("constrain_layout", unless="custom-call"),
    "use_global_device_ids": _true("use_global_device_ids"),
    "dimensions": _dimensions,
    "iota_dimension": _only_dimension("iota"),
    "inferred_dimension": _only_dimension(*_FIXED),
    "is_stable": _true("is_stable"),
    "num_carries": _number("num_carries", "scan"),
    "is_reverse": _true("is_reverse"),
    "is_associative": _associative,
    "k": _number("k", "topk"),
    "largest": lambda i: bool(i.proto.largest) if i.opcode == "topk" else None,
    "slice": lambda i: values.slices(i.proto) if i.opcode == "slice" else None,
    "dynamic_slice_sizes": _list("dynamic_slice_sizes", "dynamic-slice"),
    "padding": lambda i: values.padding(i.proto.padding_config) if i.opcode == "pad" else None,
    "window": _message("window", values.window),
    "dim_labels": _message("convolution_dimension_numbers", values.convolution_dimensions),
    "feature_group_count": _number("feature_group_count", default=1),
    "batch_group_count": _number("batch_group_count", default=1),
    "convolution_kind": _enum("conv_kind", _CONVOLUTION_KINDS),
    "sparsity_config": _message("sparsity_config", values.sparsity),
    "padding_type": _enum("padding_type", _PADDING_TYPES),
    "offset_dims": _list("offset_dims", inside="gather_dimension_numbers"),
    "collapsed_slice_dims": _list("collapsed_slice_dims", inside="gather_dimension_numbers"),
    "start_index_map": _list("start_index_map", inside="gather_dimension_numbers"),
    "operand_batching_dims": _some("operand_batching_dims", "gather_dimension_numbers"),
    "start_indices_batching_dims": _some("start_indices_batching_dims", "gather_dimension_numbers"),
    "update_window_dims": _list("update_window_dims", inside="scatter_dimension_numbers"),
    "inserted_window_dims": _list("inserted_window_dims", inside="scatter_dimension_numbers"),
    "scatter_dims_to_operand_dims": _list("scatter_dims_to_operand_dims", inside="scatter_dimension_numbers"),
    "input_batching_dims": _some("input_batching_dims", "scatter_dimension_numbers"),
    "scatter_indices_batching_dims": _some("scatter_indices_batching_dims", "scatter_dimension_numbers"),
    "index_vector_dim": lambda i: (i.proto.gather_dimension_numbers.index_vector_dim
                                   if i.proto.HasField("gather_dimension_numbers")
                                   else i.proto.scatter_dimension_numbers.index_vector_dim
                                   if i.proto.HasField("scatter_dimension_numbers") else None),
    "slice_sizes": _list("gather_slice_sizes", "gather"),
    "indices_are_sorted": _true("indices_are_sorted"),
    "unique_indices": _true("unique_indices"),
    "lhs_batch_dims": _dot("lhs", "batch"),
    "lhs_contracting_dims": _dot("lhs", "contracting"),
    "rhs_batch_dims": _dot("rhs", "batch"),
    "rhs_contracting_dims": _dot("rhs", "contracting"),
    "lhs_ragged_dims": _some("lhs_ragged_dimensions", "ragged_dot_dimension_numbers"),
    "rhs_group_dims": _some("rhs_group_dimensions", "ragged_dot_dimension_numbers"),
    "operand_precision": _precision,
    "algorithm": _algorithm,
    "direction": _string("comparison_direction"),
    "type": _comparison_type,
    "exponent_bits": _number("exponent_bits", "reduce-precision"),
    "mantissa_bits": _number("mantissa_bits", "reduce-precision"),
    "distribution": _enum("distribution", ("rng_invalid", "rng_uniform", "rng_normal"), "rng"),
    "delta": _number("delta", "rng-get-and-update-state"),
    "kind": _string("fusion_kind"),
    "is_host_transfer": _true("is_host_transfer"),
    "infeed_config": _string("infeed_config"),
    "outfeed_shape": _message("outfeed_shape", values.shape),
    "outfeed_config": _string("outfeed_config"),
    "custom_call_target": _string("custom_call_target", "custom-call"),
    "operand_layout_constraints": _operand_layouts,
    "custom_call_has_side_effect": _true("custom_call_has_side_effect"),
    "output_to_operand_aliasing": lambda i: values.operand_aliasing(i.proto.output_operand_aliasing),
    "schedule": _enum("custom_call_schedule", _SCHEDULES),
    "api_version": _api_version,
    "cross_program_prefetch_index": _prefetch_index,
    "domain": _domain,
    "async_execution_thread": _thread,
    "parameter_replication": lambda i: tuple(i.proto.parameter_replication.replicated_at_leaf_buffers) or None,
    "is_composite": _true("is_composite"),
    "result_accuracy": _message("result_accuracy", values.result_accuracy),
    "sharding": _message("sharding", values.sharding),
    "frontend_attributes": lambda i: values.frontend_attributes(i.proto.frontend_attributes),
    "origin": _message("original_value", values.original_value),
    "backend_config": _backend_config,
    "statistics": lambda i: values.statistics(i.proto.statistics_viz),
}
#: attributes that stand after the called computations
_LAST = frozenset(list(_READERS)[list(_READERS).index("is_composite"):])
