"""The functions of older documents, a row each: their parameters in those documents, and what they meant.

A row without a meaning is today's function under other names. Source: the five documents, compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.builder import old_meanings as old

#: places of the documents in versions.DOCUMENTS
APACHECN, ZH, EN, KO, RU = range(5)


@dataclass(frozen=True, slots=True)
class Form:
    """A function as the documents from `first` to `last` have it.

    `signature` lists its parameters: `old=new` where today's parameter is called otherwise, `?` where it may be left
    out. `says` is what means something else today.
    """

    name: str
    first: int
    last: int
    signature: str
    today: str = ""
    meaning: Callable[..., Any] | None = None
    says: str = ""
    regroup: Callable[[Sequence[Any]], list[Any]] | None = None


_MODULO = "start indices count modulo the dimensions of the operand; today they are clamped"
_ROWS = (
    Form("AfterAll", KO, KO, "operands", meaning=old.after_all),
    Form("AllGather", KO, KO, "operand, all_gather_dim=all_gather_dimension, shard_count, "
         "replica_group_ids=replica_groups?, channel_id?, replica_groups?", meaning=old.all_gather),
    Form("AllReduce", KO, KO, "operand, computation, replica_group_ids=replica_groups?, channel_id?, replica_groups?",
         meaning=old.all_reduce),
    Form("AllToAll", KO, KO, "operand, split_dimension?, concat_dimension?, split_count?, replica_groups?"),
    Form("BatchNormGrad", ZH, ZH, "operand, scale, mean, variance, grad_output, epsilon, feature_index",
         meaning=old.batch_norm_grad, says="the result is (grad_operand, grad_offset, grad_scale); today scale stands "
         "before offset"),
    Form("BatchNormGrad", EN, KO, "operand, scale, mean=batch_mean, variance=batch_var, grad_output, epsilon, "
         "feature_index"),
    Form("BitcastConvertType", EN, EN, "operand, new_element_type", meaning=old.bitcast_of_one_width),
    Form("Clamp", ZH, ZH, "operand, min, max", says="the arguments are (operand, min, max); today (min, operand, max)"),
    Form("CollectivePermute", KO, KO, "operand, source_target_pairs"),
    Form("Conditional", EN, EN, "pred=predicate, true_operand, true_computation, false_operand, false_computation"),
    Form("Conv", APACHECN, EN, "lhs, rhs, window_strides?, padding?, lhs_dilation?, rhs_dilation?",
         today="ConvGeneralDilated", meaning=old.conv),
    Form("Conv", KO, KO, "lhs, rhs, window_strides?, padding?, lhs_dilation?, rhs_dilation?, feature_group_count?, "
         "batch_group_count?", meaning=old.conv),
    Form("ConvWithGeneralPadding", APACHECN, EN, "lhs, rhs, window_strides?, padding?, lhs_dilation?, rhs_dilation?",
         meaning=old.conv),
    Form("ConvWithGeneralPadding", KO, KO, "lhs, rhs, window_strides?, padding?, lhs_dilation?, rhs_dilation?, "
         "feature_group_count?, batch_group_count?", meaning=old.conv),
    Form("CrossReplicaSum", APACHECN, EN, "operand"),
    Form("CustomCall", APACHECN, KO, "target_name, *args", meaning=old.custom_call),
    Form("Dot", APACHECN, EN, "lhs, rhs", meaning=old.dot),
    Form("DotGeneral", EN, EN, "lhs, rhs, dimension_numbers", meaning=old.dot_general),
    Form("DynamicSlice", APACHECN, ZH, "operand, start_indices, size_indices", meaning=old.wrapping_slice,
         says=_MODULO),
    Form("DynamicSlice", EN, KO, "operand, start_indices, size_indices=slice_sizes"),
    Form("DynamicUpdateSlice", APACHECN, APACHECN, "operand, update, start_indices",
         meaning=old.update_modulo_update, says="start indices count modulo the dimensions of the update; today they "
         "are clamped"),
    Form("DynamicUpdateSlice", ZH, ZH, "operand, update, start_indices", meaning=old.wrapping_update, says=_MODULO),
    Form("Gather", EN, EN, "operand, gather_indices, output_window_dims, elided_window_dims, window_bounds, "
         "gather_dims_to_operand_dims, index_vector_dim?", meaning=old.gather_of_2018),
    Form("Gather", KO, KO, "operand, start_indices, offset_dims, collapsed_slice_dims, slice_sizes, start_index_map, "
         "index_vector_dim?, indices_are_sorted?", meaning=old.gather_of_2022),
    Form("GetTupleElement", APACHECN, KO, "tuple=tuple_data, index"),
    Form("Infeed", APACHECN, KO, "shape"),
    Form("LogicalAnd", APACHECN, EN, "lhs, rhs, broadcast_dimensions?", today="And"),
    Form("LogicalNot", APACHECN, EN, "operand", today="Not"),
    Form("LogicalOr", APACHECN, EN, "lhs, rhs, broadcast_dimensions?", today="Or"),
    Form("Map", APACHECN, EN, "operands, computation, static_operands?, dimensions?", meaning=old.map_with_statics,
         regroup=old.operands_first),
    Form("Recv", EN, KO, "shape, channel_handle=handle"),
    Form("Reduce", APACHECN, EN, "operand=operands, init_value=init_values, computation, "
         "dimensions=dimensions_to_reduce"),
    Form("Reduce", KO, KO, "operands, init_values, computation, dimensions=dimensions_to_reduce"),
    Form("ReducePrecision", ZH, KO, "operand, mantissa_bits, exponent_bits",
         says="mantissa_bits stand before exponent_bits; today they follow"),
    Form("ReduceScatter", KO, KO, "operand, computation, scatter_dim=scatter_dimension, shard_count, "
         "replica_group_ids=replica_groups?, channel_id?", meaning=old.reduce_scatter),
    Form("ReduceWindow", APACHECN, EN, "operand=operands, init_value=init_values, computation, window_dimensions, "
         "window_strides, padding"),
    Form("Reshape", APACHECN, KO, "operand, dimensions, new_sizes?", meaning=old.reshape,
         says="with three arguments the second is the order in which dimensions are collapsed; today there are two, "
         "and `dimensions` are the new sizes"),
    Form("RngBernoulli", APACHECN, ZH, "mean, shape", meaning=old.rng_bernoulli),
    Form("RngBitGenerator", KO, KO, "algorithm, key=initial_state, shape"),
    Form("RngNormal", APACHECN, EN, "mean=mu, sigma, shape"),
    Form("RngUniform", APACHECN, KO, "a, b=b_, shape"),
    Form("RngUniform", RU, RU, "a, b=b_, shape"),
    Form("Scatter", KO, KO, "operands, scatter_indices, updates, update_computation, index_vector_dim, "
         "update_window_dims, inserted_window_dims, scatter_dims_to_operand_dims, indices_are_sorted?, "
         "unique_indices?", meaning=old.scatter_of_2022),
    Form("Send", EN, KO, "operand, channel_handle=handle"),
    Form("SetDimensionSize", KO, KO, "operand, size=val, dimension"),
    Form("Sign", APACHECN, EN, "operand", meaning=old.sign_of_three,
         says="the sign of -0 is +0; today it is -0"),
    Form("Slice", APACHECN, EN, "operand, start_indices, limit_indices", meaning=old.slice_not_empty),
    Form("Sort", APACHECN, EN, "operand=operands"),
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
