"""The attributes of an HloInstructionProto, under the names that text gives them.

A message has one set of fields for all operations and does not say which of them an operation has: a zero is not
written. So fields whose zero means something name the operations that have them. Called computations are told apart
by their order. Source: XLA's HloInstruction::CreateFromProto, ToProto and PrintExtraAttributes.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.ir import Domain, HloComputation, HloInstruction, Literal, Shape, may_be_elided
from hlotool.proto import proto_values as values
from hlotool.proto.proto_values import INCONSISTENT, ProtoError, enumerator, ints, text_of


@dataclass(frozen=True, slots=True)
class Instruction:
    """The context of a reader of attributes."""

    proto: Any
    opcode: str
    shape: Shape
    operands: tuple[HloInstruction, ...]
    payloads: Sequence[bytes]


def attributes_of(instruction: Instruction, called: tuple[HloComputation, ...]) -> dict[str, Any]:
    """The attributes of an instruction, by name, in the order of the text; the called computations among them."""
    present = tuple(field.name for field, _ in instruction.proto.ListFields())
    found: dict[str, Any] = {}
    for name, reader in _readers_of(instruction.opcode, present):
        if name == "called":
            found |= _called(instruction, called)
        elif (value := reader.read(instruction)) is not None:
            found[name] = value
    return found


@functools.lru_cache(4096)
def _readers_of(opcode: str, present: tuple[str, ...]) -> list[tuple[str, AttributeReader]]:
    return [(name, reader) for name, reader in _READERS.items()
            if opcode in reader.opcodes or not set(present).isdisjoint(reader.fields)]


# Called computations


def _roles(opcode: str) -> tuple[str, ...]:
    """Return the attributes that name what an instruction calls, in the order of its message."""
    if opcode == "while":
        return "body", "condition"
    if opcode == "select-and-scatter":
        return "select", "scatter"
    return ("calls" if opcode == "fusion" or opcode.startswith("async-") else "to_apply",)


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
    roles = _roles(opcode)
    if len(roles) != len(called):
        raise ProtoError(INCONSISTENT, f"{opcode} calls {len(called)} computations, it has {len(roles)}")
    return dict(zip(roles, called, strict=True))


# Plain fields

@dataclass(frozen=True, slots=True)
class AttributeReader:
    """Reads one attribute: asked when one of `fields` is set, or of `opcodes` whatever is set."""

    fields: tuple[str, ...]
    opcodes: tuple[str, ...]
    read: Callable[[Instruction], Any]


def _own(fields: str, read: Callable[[Instruction], Any], always: str = "") -> AttributeReader:
    """Read a field with a rule of its own."""
    return AttributeReader(tuple(fields.split()), tuple(always.split()), read)


def _number(field: str, always: str = "", default: int = 0) -> AttributeReader:
    """Read a number: written when it is not the default, or when the operation always has it."""
    opcodes = always.split()

    def read(i: Instruction) -> int | None:
        value: int = getattr(i.proto, field)
        return value if value not in (0, default) or i.opcode in opcodes else None
    return _own(field, read, always)


def _true(field: str, inside: str = "", unless: str = "") -> AttributeReader:
    """Read a flag that text has only when it is set."""
    def read(i: Instruction) -> bool | None:
        holder = getattr(i.proto, inside) if inside else i.proto
        return True if getattr(holder, field) and i.opcode != unless else None
    return _own(inside or field, read)


def _list(field: str, always: str = "") -> AttributeReader:
    """Numbers: when there are any, or the operation always has them."""
    return _own(field, lambda i: ints(getattr(i.proto, field)), always)


def _inner(field: str, inside: str) -> AttributeReader:
    """Read numbers of a message that is set, even when there are none."""
    return _own(inside, lambda i: ints(getattr(getattr(i.proto, inside), field)))


def _some(field: str, inside: str) -> AttributeReader:
    """Read numbers of a message that is set, where there are any."""
    return _own(inside, lambda i: ints(getattr(getattr(i.proto, inside), field)) or None)


def _string(field: str, always: str = "") -> AttributeReader:
    """Read a string that is not empty, or that the operation always has."""
    return _own(field, lambda i: text_of(getattr(i.proto, field)) or ("" if always else None), always)


def _enum(field: str, enumeration: str, always: str = "", say: Callable[[str], str] = str) -> AttributeReader:
    """Read an enumerator, where it is not the first or the operation always has it, as `say` has it in text."""
    def read(i: Instruction) -> str | None:
        number = getattr(i.proto, field)
        return say(enumerator(enumeration, number, field)) if number or i.opcode == always else None
    return _own(field, read, always)


def _message(field: str, read: Callable[[Any], Any]) -> AttributeReader:
    """Read a message as the value that `read` makes of it."""
    return _own(field, lambda i: read(getattr(i.proto, field)))


# Fields with a rule of their own

_FIXED = ("reshape", "dynamic-reshape")


def _dimensions(i: Instruction) -> tuple[int, ...] | None:
    return None if i.opcode in ("iota", *_FIXED) else ints(i.proto.dimensions)


def _only_dimension(*opcodes: str) -> AttributeReader:
    return _own("dimensions", lambda i: i.proto.dimensions[0] if i.opcode in opcodes and len(i.proto.dimensions) == 1
                else None)


_BATCH_NORM = "batch-norm-training batch-norm-inference batch-norm-grad"
_GROUPED = ("all-reduce all-reduce-start all-gather all-gather-start reduce-scatter all-to-all collective-broadcast "
            "ragged-all-to-all")


def _replica_groups(i: Instruction) -> Any:
    return values.replica_groups(i.proto)


def _channel_id(i: Instruction) -> int | None:
    # all_reduce_id is the older name; numbers below 1 stand for none.
    number = max(i.proto.channel_id, i.proto.all_reduce_id)
    return number if number > 0 else None


def _pairs(i: Instruction) -> Any:
    return tuple((p.source, p.target) for p in i.proto.source_target_pairs)


def _slice_sizes(i: Instruction) -> tuple[int, ...] | None:
    return None if i.opcode.startswith("collective-permute") else ints(i.proto.dynamic_slice_sizes)


def _gathered_or_permuted_sizes(i: Instruction) -> tuple[Any, ...] | None:
    """Return a gather's sizes; or those of each slice that a collective-permute in place moves, one after the other."""
    sizes = ints(i.proto.dynamic_slice_sizes)
    if not i.opcode.startswith("collective-permute"):
        return ints(i.proto.gather_slice_sizes) if not sizes or i.proto.gather_slice_sizes else None
    ranks = {shape.rank for o in i.operands[:1] for _, shape in o.shape.leaves()}
    rank = ranks.pop() if len(ranks) == 1 else 0
    if not rank or len(sizes) % rank:
        raise ProtoError(INCONSISTENT, f"{len(sizes)} sizes of slices for operands of rank {rank}")
    return tuple(sizes[at:at + rank] for at in range(0, len(sizes), rank))


def _comparison_type(i: Instruction) -> str | None:
    """The kind of comparison, where it is not the one of the operands' type. XLA: Comparison::DefaultComparisonType."""
    kind = text_of(i.proto.comparison_type)
    if not kind or not i.operands or not i.operands[0].shape.is_array:
        return kind or None
    dtype = i.operands[0].shape.dtype
    default = {"signed": "SIGNED", "float": "FLOAT", "complex": "FLOAT"}.get(dtype.family, "UNSIGNED")
    return None if kind == default else kind


def _comparison_order(i: Instruction) -> str | None:
    """The order of a comparison (2026), where it is not the default: partial for floats, total for the others."""
    order = text_of(i.proto.comparison_order)
    shape = i.operands[0].shape if i.operands else None
    is_float = shape is not None and shape.is_array and shape.dtype.family in ("float", "complex")
    return None if not order or order == ("PARTIAL" if is_float else "TOTAL") else order


def _precision(i: Instruction) -> tuple[str, ...] | None:
    numbers = i.proto.precision_config.operand_precision
    return tuple(enumerator("OperandPrecision", n, "precision").lower() for n in numbers) if any(numbers) else None


def _algorithm(i: Instruction) -> str | None:
    if i.opcode == "rng-bit-generator":
        return enumerator("Generator", i.proto.rng_algorithm, "random number algorithm").lower()
    number = i.proto.precision_config.algorithm
    return enumerator("Algorithm", number, "dot algorithm").removeprefix("ALG_").lower() if number else None


def _literal(i: Instruction) -> Literal | None:
    if i.opcode == "constant":
        if not i.proto.HasField("literal"):
            if not may_be_elided(i.shape):
                raise values.ProtoError(values.INCONSISTENT, f"a {i.shape} constant has no literal, and only arrays "
                                        "with dimensions may be without values")
            return Literal.elided(i.shape)
        return values.literal(i.proto.literal, i.shape)
    return values.literal(i.proto.literal, values.shape(i.proto.literal.shape)) if i.proto.HasField("literal") else None


def _operand_layouts(i: Instruction) -> tuple[Shape, ...] | None:
    is_constrained = i.opcode == "custom-call" and i.proto.constrain_layout
    return tuple(map(values.shape, i.proto.operand_shapes_with_layout)) if is_constrained else None


def _prefetch_index(i: Instruction) -> int | None:
    if i.proto.HasField("cross_program_prefetch_index"):
        return int(i.proto.cross_program_prefetch_index)
    return 0 if i.proto.is_cross_program_prefetch else None  # the older field


def _domain(i: Instruction) -> Domain:
    # XLA writes the side of the operand, which text calls exit, into the field called entry.
    return Domain("sharding", values.sharding(i.proto.domain_exit_sharding),
                  values.sharding(i.proto.domain_entry_sharding))


def _thread(i: Instruction) -> str | None:
    thread = text_of(i.proto.async_execution_thread)
    return thread if thread not in ("", "main") else None


def _api_version(i: Instruction) -> str | None:
    number = i.proto.custom_call_api_version
    return enumerator("ApiVersion", number, "version of the custom-call interface") if number > 1 else None


def _backend_config(i: Instruction) -> Any:
    held = values.payload(i.proto, "backend_config_payload", i.payloads)
    return values.backend_config(held or i.proto.backend_config)


def _index_vector_dim(i: Instruction) -> int:
    numbers = i.proto.gather_dimension_numbers if i.proto.HasField("gather_dimension_numbers") \
        else i.proto.scatter_dimension_numbers
    return int(numbers.index_vector_dim)


def _replication(i: Instruction) -> tuple[bool, ...] | None:
    return tuple(i.proto.parameter_replication.replicated_at_leaf_buffers) or None


def _transpose_a(i: Instruction) -> str | None:
    number = i.proto.triangular_solve_options.transpose_a
    return enumerator("Transposition", number, "transposition") if number else None


def _dot(side: str, what: str) -> AttributeReader:
    """Dimensions of a dot, or of the dot in a ragged dot. Contracting ones are written even when there are none."""
    def read(i: Instruction) -> tuple[int, ...] | None:
        numbers = i.proto.dot_dimension_numbers if i.proto.HasField("dot_dimension_numbers") \
            else i.proto.ragged_dot_dimension_numbers.dot_dimension_numbers
        found = ints(getattr(numbers, f"{side}_{what}_dimensions"))
        return found if found or what == "contracting" else None
    return _own("dot_dimension_numbers ragged_dot_dimension_numbers", read)


#: attribute -> what reads it, in the order of the text
_READERS: dict[str, AttributeReader] = {
    "literal": _own("literal", _literal, "constant"),
    "parameter_number": _number("parameter_number", "parameter"),
    "index": _number("tuple_index", "get-tuple-element"),
    "epsilon": _own("epsilon", lambda i: float(i.proto.epsilon), _BATCH_NORM),
    "feature_index": _number("feature_index", _BATCH_NORM),
    "fft_type": _enum("fft_type", "FftType", "fft"),
    "fft_length": _list("fft_length"),
    "left_side": _true("left_side", "triangular_solve_options"),
    "lower": _own("triangular_solve_options cholesky_options",
                  lambda i: i.proto.triangular_solve_options.lower or i.proto.cholesky_options.lower or None),
    "unit_diagonal": _true("unit_diagonal", "triangular_solve_options"),
    "transpose_a": _own("triangular_solve_options", _transpose_a),
    "channel_id": _own("channel_id all_reduce_id", _channel_id),
    "replica_groups": _own("replica_groups collective_device_list iota_collective_device_list "
                           "mesh_axes_replica_group_list", _replica_groups, _GROUPED),
    "source_target_pairs": _own("source_target_pairs", _pairs, "collective-permute collective-permute-start"),
    "constrain_layout": _true("constrain_layout", unless="custom-call"),
    "use_global_device_ids": _true("use_global_device_ids"),
    "dimensions": _own("dimensions", _dimensions, "broadcast concatenate reduce transpose reverse map sort"),
    "iota_dimension": _only_dimension("iota"),
    "inferred_dimension": _only_dimension(*_FIXED),
    "is_stable": _true("is_stable"),
    "num_carries": _number("num_carries", "scan"),
    "is_reverse": _true("is_reverse"),
    "is_associative": _own("is_associative", lambda i: {1: True, 2: False}.get(i.proto.is_associative)),
    "k": _number("k", "topk"),
    "largest": _own("largest", lambda i: bool(i.proto.largest), "topk"),
    "slice": _own("slice_dimensions", lambda i: values.slices(i.proto), "slice"),
    "dynamic_slice_sizes": _own("dynamic_slice_sizes", _slice_sizes, "dynamic-slice"),
    "padding": _own("padding_config", lambda i: values.padding(i.proto.padding_config), "pad"),
    "window": _message("window", values.window),
    "dim_labels": _message("convolution_dimension_numbers", values.convolution_dimensions),
    "feature_group_count": _number("feature_group_count", default=1),
    "batch_group_count": _number("batch_group_count", default=1),
    "convolution_kind": _enum("conv_kind", "ConvolutionKind",
                              say=lambda name: name.removeprefix("CONVOLUTION_KIND_").lower()),
    "sparsity_config": _message("sparsity_config", values.sparsity),
    "padding_type": _enum("padding_type", "PaddingType"),
    "offset_dims": _inner("offset_dims", "gather_dimension_numbers"),
    "collapsed_slice_dims": _inner("collapsed_slice_dims", "gather_dimension_numbers"),
    "start_index_map": _inner("start_index_map", "gather_dimension_numbers"),
    "operand_batching_dims": _some("operand_batching_dims", "gather_dimension_numbers"),
    "start_indices_batching_dims": _some("start_indices_batching_dims", "gather_dimension_numbers"),
    "update_window_dims": _inner("update_window_dims", "scatter_dimension_numbers"),
    "inserted_window_dims": _inner("inserted_window_dims", "scatter_dimension_numbers"),
    "scatter_dims_to_operand_dims": _inner("scatter_dims_to_operand_dims", "scatter_dimension_numbers"),
    "input_batching_dims": _some("input_batching_dims", "scatter_dimension_numbers"),
    "scatter_indices_batching_dims": _some("scatter_indices_batching_dims", "scatter_dimension_numbers"),
    "index_vector_dim": _own("gather_dimension_numbers scatter_dimension_numbers", _index_vector_dim),
    "slice_sizes": _own("gather_slice_sizes dynamic_slice_sizes", _gathered_or_permuted_sizes, "gather"),
    "indices_are_sorted": _true("indices_are_sorted"),
    "unique_indices": _true("unique_indices"),
    "lhs_batch_dims": _dot("lhs", "batch"),
    "lhs_contracting_dims": _dot("lhs", "contracting"),
    "rhs_batch_dims": _dot("rhs", "batch"),
    "rhs_contracting_dims": _dot("rhs", "contracting"),
    "lhs_ragged_dims": _some("lhs_ragged_dimensions", "ragged_dot_dimension_numbers"),
    "rhs_group_dims": _some("rhs_group_dimensions", "ragged_dot_dimension_numbers"),
    "operand_precision": _own("precision_config", _precision),
    "algorithm": _own("precision_config rng_algorithm", _algorithm, "rng-bit-generator"),
    "direction": _string("comparison_direction"),
    "type": _own("comparison_type", _comparison_type),
    "order": _own("comparison_order", _comparison_order),
    "exponent_bits": _number("exponent_bits", "reduce-precision"),
    "mantissa_bits": _number("mantissa_bits", "reduce-precision"),
    "distribution": _enum("distribution", "Distribution", "rng", str.lower),
    "delta": _number("delta", "rng-get-and-update-state"),
    "kind": _string("fusion_kind"),
    "is_host_transfer": _true("is_host_transfer"),
    "infeed_config": _string("infeed_config"),
    "outfeed_shape": _message("outfeed_shape", values.shape),
    "outfeed_config": _string("outfeed_config"),
    "custom_call_target": _string("custom_call_target", "custom-call"),
    "operand_layout_constraints": _own("constrain_layout", _operand_layouts),
    "custom_call_has_side_effect": _true("custom_call_has_side_effect"),
    "output_to_operand_aliasing": _message("output_operand_aliasing", values.operand_aliasing),
    "schedule": _enum("custom_call_schedule", "CallSchedule"),
    "api_version": _own("custom_call_api_version", _api_version),
    "cross_program_prefetch_index": _own("cross_program_prefetch_index is_cross_program_prefetch", _prefetch_index),
    "domain": _own("", _domain, "domain"),
    "async_execution_thread": _own("async_execution_thread", _thread),
    "parameter_replication": _own("parameter_replication", _replication),
    "called": _own("called_computation_ids", lambda i: None),
    "is_composite": _true("is_composite"),
    "result_accuracy": _message("result_accuracy", values.result_accuracy),
    "sharding": _message("sharding", values.sharding),
    "frontend_attributes": _message("frontend_attributes", values.frontend_attributes),
    "origin": _message("original_value", values.original_value),
    "backend_config": _own("backend_config backend_config_payload", _backend_config),
    "statistics": _message("statistics_viz", values.statistics),
}
