"""The functions of older documents, a row each: their parameters in those documents, and what they meant.

A row without a meaning is today's function under other names. Source: the five documents, compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.builder import document_limits as limits
from hlotool.builder import old_meanings as old
from hlotool.builder.reduction import computation_before_start

#: places of the documents in versions.DOCUMENTS
APACHECN, ZH, EN, KO, RU = range(5)


@dataclass(frozen=True, slots=True)
class Form:
    """A function as the documents from `first` to `last` have it.

    `signature` lists its parameters: `old=new` where today's parameter is called otherwise, `one|other` where the
    document has two names for it, `?` where it may be left out, `*` where there are many. `says` is what means
    something else today; `limits` refuses what the document does not allow, before anything is built.
    """

    name: str
    first: int
    last: int
    signature: str
    today: str = ""
    meaning: Callable[..., Any] | None = None
    says: str = ""
    regroup: Callable[[Sequence[Any]], list[Any]] | None = None
    limits: Callable[..., None] | None = None


_MODULO = "start indices count modulo the dimensions of the operand; today they are clamped"
_ROWS = (
    Form("AfterAll", KO, KO, "operands", meaning=old.after_all),
    Form("AllGather", KO, KO, "operand, all_gather_dim=all_gather_dimension, shard_count, "
         "replica_group_ids|replica_groups=replica_groups?, channel_id?"),
    Form("AllReduce", KO, KO, "operand, computation, replica_group_ids|replica_groups=replica_groups?, channel_id?"),
    Form("AllToAll", KO, KO, "operand, split_dimension?, concat_dimension?, split_count?, replica_groups?"),
    Form("BatchNormGrad", ZH, ZH, "operand, scale, mean, variance, grad_output, epsilon, feature_index",
         meaning=old.batch_norm_grad, says="the formulas multiply by sqrt(variance + epsilon) and leave out the means "
         "over the batch; today they divide by it. The result is (grad_operand, grad_offset, grad_scale); today "
         "scale stands before offset"),
    Form("BatchNormGrad", EN, KO, "operand, scale, mean=batch_mean, variance=batch_var, grad_output, epsilon, "
         "feature_index"),
    Form("BitcastConvertType", EN, EN, "operand, new_element_type", limits=limits.one_width),
    Form("Call", APACHECN, KO, "computation, *args=operands"),
    Form("Clamp", ZH, ZH, "*args, computation?, operand?, min?, max?", meaning=old.clamp_of_2017,
         says="the arguments are (operand, min, max); today (min, operand, max)"),
    Form("CollectivePermute", KO, KO, "operand, source_target_pairs"),
    Form("Conditional", EN, EN, "pred=predicate, true_operand, true_computation, false_operand, false_computation"),
    Form("Conditional", KO, KO, "pred|branch_index=predicate, *rest, branch_computations?, branch_operands?, "
         "true_operand?, true_computation?, false_operand?, false_computation?"),
    Form("Conv", APACHECN, EN, "lhs, rhs, window_strides?, padding?, lhs_dilation?, rhs_dilation?",
         today="ConvGeneralDilated", meaning=old.conv),
    Form("Conv", KO, KO, "lhs, rhs, window_strides?, padding?, lhs_dilation?, rhs_dilation?, feature_group_count?, "
         "batch_group_count?", meaning=old.conv),
    Form("ConvWithGeneralPadding", APACHECN, EN, "lhs, rhs, window_strides?, padding?, lhs_dilation?, rhs_dilation?",
         meaning=old.conv),
    Form("ConvWithGeneralPadding", KO, KO, "lhs, rhs, window_strides?, padding?, lhs_dilation?, rhs_dilation?, "
         "feature_group_count?, batch_group_count?", meaning=old.conv),
    Form("CrossReplicaSum", APACHECN, EN, "operand", limits=limits.sum_of_one),
    Form("CustomCall", APACHECN, KO, "target_name, *args, shape?", meaning=old.custom_call),
    Form("Dot", APACHECN, EN, "lhs, rhs", meaning=old.dot, limits=limits.dot_of_one_type),
    Form("Dot", KO, KO, "lhs, rhs", limits=limits.dot_of_one_type),
    Form("DotGeneral", EN, EN, "lhs, rhs, dimension_numbers", limits=limits.dot_general_of_2018),
    Form("DotGeneral", KO, KO, "lhs, rhs, dimension_numbers"),
    Form("DynamicSlice", APACHECN, ZH, "operand, start_indices, size_indices", meaning=old.wrapping_slice,
         says=_MODULO, limits=limits.slice_at_one_array),
    Form("DynamicSlice", EN, EN, "operand, start_indices, size_indices=slice_sizes",
         limits=limits.slice_at_one_array),
    Form("DynamicSlice", KO, KO, "operand, start_indices, size_indices=slice_sizes", limits=limits.slice_not_empty),
    # The signature and the table of 2025 have different names.
    Form("DynamicSlice", RU, RU, "operand, start_indices, slice_sizes|size_indices=slice_sizes",
         limits=limits.slice_not_empty),
    Form("DynamicUpdateSlice", APACHECN, APACHECN, "operand, update, start_indices",
         meaning=old.update_modulo_update, says="start indices count modulo the dimensions of the update; today they "
         "are clamped", limits=limits.update_at_one_array),
    Form("DynamicUpdateSlice", ZH, ZH, "operand, update, start_indices", meaning=old.wrapping_update, says=_MODULO,
         limits=limits.update_at_one_array),
    Form("DynamicUpdateSlice", EN, EN, "operand, update, start_indices", limits=limits.update_at_one_array),
    Form("DynamicUpdateSlice", KO, RU, "operand, update, start_indices", limits=limits.update_not_empty),
    Form("Gather", EN, EN, "operand, gather_indices, output_window_dims, elided_window_dims, window_bounds, "
         "gather_dims_to_operand_dims, index_vector_dim?", meaning=old.gather_of_2018),
    Form("Gather", KO, KO, "operand, start_indices, offset_dims, collapsed_slice_dims, slice_sizes, start_index_map, "
         "index_vector_dim?, indices_are_sorted?", meaning=old.gather_of_2022),
    Form("GetTupleElement", APACHECN, KO, "tuple=tuple_data, index"),
    Form("Infeed", APACHECN, KO, "shape"),
    Form("LogicalAnd", APACHECN, EN, "lhs, rhs, broadcast_dimensions?", today="And", limits=limits.logical),
    Form("LogicalNot", APACHECN, EN, "operand", today="Not", limits=limits.logical),
    Form("LogicalOr", APACHECN, EN, "lhs, rhs, broadcast_dimensions?", today="Or", limits=limits.logical),
    Form("Map", APACHECN, APACHECN, "operands, computation, static_operands?, dimensions?",
         meaning=old.map_with_statics, regroup=old.operands_first),
    Form("Map", ZH, EN, "operands, computation, dimensions?, static_operands?", meaning=old.map_with_statics,
         regroup=old.operands_first),
    Form("Map", KO, RU, "operands, computation, dimensions?, static_operands?", meaning=old.map_with_statics,
         regroup=old.operands_first),
    Form("Recv", EN, KO, "shape, channel_handle|channel_id=handle"),
    Form("Recv", RU, RU, "shape, handle|channel_id=handle"),
    Form("Reduce", APACHECN, EN, "operand=operands, init_value=init_values, computation, "
         "dimensions=dimensions_to_reduce"),
    Form("Reduce", KO, KO, "operands, init_values, computation, dimensions=dimensions_to_reduce"),
    Form("ReducePrecision", ZH, KO, "operand, mantissa_bits, exponent_bits",
         says="mantissa_bits stand before exponent_bits; today they follow"),
    Form("ReduceScatter", KO, KO, "operand, computation, scatter_dim|scatter_dimension=scatter_dimension, shard_count, "
         "replica_group_ids|replica_groups=replica_groups?, channel_id?"),
    Form("ReduceWindow", APACHECN, EN, "operand=operands, init_value|init_val=init_values, computation, "
         "window_dimensions, window_strides|window_stride_dimensions=window_strides, padding",
         regroup=computation_before_start),
    Form("Reshape", APACHECN, KO, "operand, dimensions?, new_sizes?", meaning=old.reshape,
         says="with three arguments the second is the order in which dimensions are collapsed; today there are two, "
         "and `dimensions` are the new sizes"),
    Form("RngBernoulli", APACHECN, ZH, "mean, shape", meaning=old.rng_bernoulli, limits=limits.rng_bernoulli),
    Form("RngBitGenerator", KO, KO, "algorithm, key|initial_state=initial_state, shape"),
    Form("RngNormal", APACHECN, APACHECN, "mean|mu=mu, sigma, shape", limits=limits.rng_normal_of_f32),
    # Its table gives the result the type U32: the numbers, rounded towards zero.
    Form("RngNormal", ZH, ZH, "mean|mu=mu, sigma, shape", meaning=old.rng_normal_of_2017,
         limits=limits.rng_normal_of_f32_or_u32),
    Form("RngNormal", EN, EN, "mean|mu=mu, sigma, shape", limits=limits.rng_normal_of_f32),
    Form("RngNormal", KO, RU, "mu, sigma, shape", limits=limits.rng_normal),
    Form("RngUniform", APACHECN, ZH, "a, b=b_, shape", limits=limits.rng_uniform_of_2017),
    Form("RngUniform", EN, RU, "a, b=b_, shape", limits=limits.rng_uniform),
    Form("ScaledDot", RU, RU, "lhs, lhs_scale, rhs, rhs_scale, dimension_number|dimension_numbers=dimension_number, "
         "precision_config?, preferred_element_type?"),
    Form("Scatter", KO, KO, "operands, scatter_indices, updates, update_computation, index_vector_dim, "
         "update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, indices_are_sorted?, "
         "unique_indices?", meaning=old.scatter_of_2022),
    Form("Scatter", RU, RU, "operands, scatter_indices, updates, update_computation, "
         "dimension_numbers|dimension_number?, indices_are_sorted?, unique_indices?, index_vector_dim?, "
         "update_window_dims?, inserted_window_dims?, scatter_dims_to_operand_dims?", meaning=old.scatter_of_2025),
    Form("Send", EN, KO, "operand, channel_handle|channel_id=handle"),
    Form("Send", RU, RU, "operand, handle|channel_id=handle"),
    Form("SetDimensionSize", KO, KO, "operand, size=val, dimension"),
    Form("Sign", APACHECN, EN, "operand", meaning=old.sign_of_three,
         says="the sign of -0 is +0; today it is -0"),
    Form("Slice", APACHECN, EN, "operand, start_indices, limit_indices", limits=limits.limits_past_starts),
    Form("Sort", APACHECN, EN, "operand=operands", limits=limits.sort_of_one),
    Form("TriangularSolve", KO, RU, "a, b=b_, left_side, lower, unit_diagonal, transpose_a"),
    Form("While", APACHECN, EN, "condition, body, init", meaning=old.while_without_while),
)
#: name -> its forms, by document
FORMS: dict[str, tuple[Form, ...]] = {
    name: tuple(f for f in _ROWS if f.name == name) for name in dict.fromkeys(f.name for f in _ROWS)}

_FIRST = {
    ZH: "BatchNormGrad BatchNormInference BatchNormTraining Clamp Cos ReducePrecision",
    EN: "BitcastConvertType Conditional DotGeneral Gather Lt Recv RecvDone Send SendDone",
    KO: """AfterAll AllGather AllReduce AllToAll And Atan2 BroadcastInDim Cbrt Cholesky Clz CollectivePermute Complex
        EqTotalOrder Erf Expm1 Fft GeTotalOrder GetDimensionSize GtTotalOrder Imag Iota LeTotalOrder Log1p Logistic
        LtTotalOrder NeTotalOrder Not OptimizationBarrier Or PopulationCount Pow Real ReduceScatter ReplicaId
        RngBitGenerator Round RoundNearestEven Rsqrt Scatter SetDimensionSize ShiftLeft ShiftRightArithmetic
        ShiftRightLogical Sin Sqrt Tan TriangularSolve Xor""",
    RU: """CollectiveBroadcast Compare CompositeCall ConvGeneral ConvGeneralDilated ConvWithGeneralDimensions Cosh
        DynamicReshape Outfeed PartitionId RaggedAllToAll RaggedDot RecvFromHost RecvWithToken RoundNearestAfz ScaledDot
        SendToHost SendWithToken TopK AddDependency AllGatherDone AllGatherStart AllReduceDone AllReduceStart AsyncDone
        AsyncStart AsyncUpdate Bitcast CollectivePermuteDone CollectivePermuteStart Copy CopyDone CopyStart Domain
        Fusion RngGetAndUpdateState""",
}
#: name -> the first document that has it, where that is not the first of all
SINCE = {name: first for first, names in _FIRST.items() for name in names.split()}
