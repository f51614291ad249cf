"""The builder functions on their own. Made by `python -m hlotool.builder.stubs`: do not edit."""

import builtins
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Unpack

from hlotool.builder.builder import XlaBuilder
from hlotool.builder.handles import XlaOp
from hlotool.builder.methods import Applied, Common, Operand, ShapeLike, Unnamed

def Abs(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Magnitude. The least integer stays itself; complex gives the component type."""
def Acos(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Inverse cosine."""
def Acosh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Inverse hyperbolic cosine."""
def Add(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Sum; integers wrap; pred: or."""
def AddDependency(
        operand: Operand,
        token: Operand,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The first operand, after the token."""
def AfterAll(*tokens: Operand, **common: Unpack[Common]) -> XlaOp:
    """A token that waits for all others: `AfterAll([t, u])`."""
def AggregateToTopKBuilder(
        operands: Sequence[typing.Any],
        init_values: Sequence[typing.Any],
        top_k: int,
        reduction_dim: int,
        comparator: Applied,
        **common: Unpack[Common]
) -> XlaOp:
    """The k first along a dimension in a comparator's order: a tuple with a row of each operand."""
def All(predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
    """Whether all predicates hold."""
def AllGather(
        operand: Operand,
        all_gather_dimension: int,
        shard_count: int,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        layout: typing.Any = None,
        use_global_device_ids: bool | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Join the operands of a group's members along a dimension; shard_count is the number of members."""
def AllGatherDone(start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Wait for all-gather-start and give what it gathered."""
def AllGatherStart(
        *operands: Operand,
        dimensions: typing.Any,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        use_global_device_ids: typing.Any = False,
        constrain_layout: typing.Any = False,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """all-gather, begun: the operands beside what all-gather-done gives."""
def AllReduce(
        operand: Operand,
        computation: Applied | None = None,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        shape_with_layout: ShapeLike | None = None,
        use_global_device_ids: bool | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Fold the operands of a group's members, element by element; the sum where no computation is given."""
def AllReduceDone(start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Wait for all-reduce-start and give what it computed."""
def AllReduceStart(
        *operands: Operand,
        to_apply: typing.Any,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        use_global_device_ids: typing.Any = False,
        constrain_layout: typing.Any = False,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """all-reduce, begun; its shape is that of all-reduce itself."""
def AllToAll(
        operand: Operand,
        split_dimension: int | None = None,
        concat_dimension: int | None = None,
        split_count: int | None = None,
        replica_groups: typing.Any = None,
        layout: typing.Any = None,
        channel_id: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Cut along one dimension, send the k-th part to the k-th member, and join what arrives along another."""
def AllToAllTuple(
        operand: Operand,
        split_dimension: int | None = None,
        concat_dimension: int | None = None,
        split_count: int | None = None,
        replica_groups: typing.Any = None,
        layout: typing.Any = None,
        channel_id: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """AllToAll of operands that are sent one to each member, which gives a tuple."""
def And(
        lhs: Operand,
        rhs: Operand,
        *others: typing.Any,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Element by element and: of bits, or of predicates; of two operands, with broadcast_dimensions, or of more."""
def Any(predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
    """Whether one of the predicates holds."""
def ApproxTopK(
        operands: Sequence[typing.Any],
        init_values: Sequence[typing.Any],
        top_k: int,
        reduction_dim: int,
        comparator: Applied,
        recall_target: float = 0.9,
        aggregate_to_topk: bool = True,
        reduction_input_size_override: int = -1,
        **common: Unpack[Common]
) -> XlaOp:
    """The k first along a dimension in a comparator's order: a tuple with a row of each operand."""
def ApproxTopKFallback(
        operands: Sequence[typing.Any],
        init_values: Sequence[typing.Any],
        top_k: int,
        reduction_dim: int,
        comparator: Applied,
        recall_target: float = 0.9,
        aggregate_to_topk: bool = True,
        reduction_input_size_override: int = -1,
        **common: Unpack[Common]
) -> XlaOp: ...
def ApproxTopKReductionOutputSize(
        input_size: int,
        rank: int,
        top_k: int,
        recall_target: float,
        aggregate_to_topk: bool = True,
        input_size_override: int = -1,
        **common: Unpack[Common]
) -> XlaOp:
    """How many elements ApproxTopK leaves, and by which power of two it reduces (-1 where it aggregates)."""
def ArgMax(operand: Operand, axis: int = 0, index_type: typing.Any = 's32', **common: Unpack[Common]) -> XlaOp:
    """Where the greatest element along an axis stands; the first of several."""
def ArgMin(operand: Operand, axis: int = 0, index_type: typing.Any = 's32', **common: Unpack[Common]) -> XlaOp:
    """Where the least element along an axis stands; the first of several."""
def ArgSort(
        operand: Operand,
        axis: int = -1,
        is_descending: bool = False,
        index_type: typing.Any = 's32',
        **common: Unpack[Common]
) -> XlaOp:
    """Where the elements along an axis stand, in their order."""
def Asin(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Inverse sine."""
def Asinh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Inverse hyperbolic sine."""
def AsyncDone(
        previous: typing.Any,
        calls: typing.Any = None,
        async_execution_thread: typing.Any = 'main',
        async_group_id: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Wait for what async-start started and give its result."""
def AsyncStart(
        computation: Applied,
        *operands: Operand,
        async_execution_thread: str = '',
        **common: Unpack[Common]
) -> XlaOp:
    """Start a computation that goes on while others run; AsyncDone waits for it."""
def AsyncUpdate(
        previous: typing.Any,
        *operands: Operand,
        calls: typing.Any = None,
        output_to_operand_aliasing: typing.Any = None,
        async_group_id: typing.Any = None,
        async_execution_thread: typing.Any = 'main',
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """A step between start and done, which may bind operands that start left out."""
def Atan(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """The angle whose tangent the operand is."""
def Atan2(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Angle of the point (rhs, lhs), with the signs of zeros."""
def Atanh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Inverse hyperbolic tangent."""
def AvgPool(
        operand: Operand,
        kernel_size: Iterable[int],
        stride: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        counts_include_padding: bool = True,
        spatial_dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The mean of each window over the spatial dimensions; padding counts as zeros, or not at all."""
def AvgPoolGrad(
        out_backprop: typing.Any,
        operand: Operand,
        kernel_size: Iterable[int],
        stride: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        counts_include_padding: bool = True,
        spatial_dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The gradient of AvgPool for its operand."""
def BatchDot(
        lhs: Operand,
        rhs: Operand,
        transpose_lhs: bool = False,
        transpose_rhs: bool = False,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The product of matrices in the last two dimensions; the others count through both."""
def BatchNormGrad(
        operand: Operand,
        scale: Operand,
        batch_mean: Operand,
        batch_var: Operand,
        grad_output: Operand,
        epsilon: float,
        feature_index: int,
        **common: Unpack[Common]
) -> XlaOp:
    """The gradients of batch normalisation: a tuple of those of operand, scale and offset."""
def BatchNormInference(
        operand: Operand,
        scale: Operand,
        offset: Operand,
        mean: Operand,
        variance: Operand,
        epsilon: typing.Any,
        feature_index: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Normalise each feature by a mean and a variance that are given."""
def BatchNormTraining(
        operand: Operand,
        scale: Operand,
        offset: Operand,
        epsilon: typing.Any,
        feature_index: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Normalise each feature by its own mean and variance over all other dimensions; gives those two as well."""
def BesselI0e(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """e^-|x| times the modified Bessel function I0."""
def BesselI1e(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """e^-|x| times the modified Bessel function I1."""
def Bitcast(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Read the operand's memory as another shape and layout (the default layout where none is written)."""
def BitcastConvert(operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def BitcastConvertType(operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Read the bits of each element as another type; a last dimension makes up for different widths."""
def BoxMullerTransform(first: typing.Any, second: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Two arrays of normal numbers, from two of numbers that are uniform in (0, 1): a tuple."""
def Broadcast(operand: Operand, broadcast_sizes: Iterable[int], **common: Unpack[Common]) -> XlaOp:
    """Put dimensions of those sizes in front; the operand is repeated along them."""
def BroadcastInDim(
        operand: Operand,
        out_dim_size: Iterable[int],
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Give the operand the sizes out_dim_size; its dimension i becomes dimension broadcast_dimensions[i]."""
def BroadcastTo(operand: Operand, dims: Iterable[int], **common: Unpack[Common]) -> XlaOp:
    """The operand in other dimensions, as NumPy broadcasts: the last ones meet, and those of size 1 stretch."""
def BuildPartitionId(builder: XlaBuilder, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def Call(computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp:
    """Call a computation: `Call(computation, a, b)` or `Call(computation, [a, b])`."""
def Cbrt(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Real cube root; negative for negative elements."""
def Ceil(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Least whole number that is not below."""
def Cholesky(
        a: Operand,
        lower: typing.Any = False,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The triangular factor of each positive definite matrix: lower L with L * L^H, or upper U with U^H * U."""
def Clamp(min: Operand, operand: Operand, max: Operand, **common: Unpack[Common]) -> XlaOp:
    """Hold every element of `operand` between `min` and `max`, which are scalars or of its shape."""
def Clz(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Zero bits above the highest set bit, within the element's own width."""
def Collapse(operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp:
    """Make one dimension of several neighbours: consecutive numbers in order."""
def CollectiveBroadcast(
        operand: Operand,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        root: typing.Any = None,
        has_dynamic_root: bool = False,
        **common: Unpack[Common]
) -> XlaOp:
    """Every member of a group gets the first member's operand, or that of the member whose place `root` computes."""
def CollectivePermute(
        operand: Operand,
        source_target_pairs: Sequence[builtins.tuple[int, int]],
        channel_id: typing.Any = None,
        inplace: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Send each source's operand to its target; who gets nothing has zeros."""
def CollectivePermuteDone(start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Wait for collective-permute-start and give what it brought."""
def CollectivePermuteStart(
        *operands: Operand,
        source_target_pairs: typing.Any,
        channel_id: typing.Any = None,
        slice_sizes: typing.Any = None,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """collective-permute, begun: the operands, what collective-permute-done gives, and contexts."""
def Compare(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] | str = (),
        direction: str | None = None,
        type: str | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Compare element by element: direction is EQ, NE, GE, GT, LE or LT; type is FLOAT, TOTALORDER, SIGNED,
    UNSIGNED."""
def Complex(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """lhs + i rhs."""
def CompositeCall(
        computation: Applied,
        *operands: Operand,
        name: str = '',
        attributes: str | None = None,
        version: int | None = None,
        **common: Unpack[Unnamed]
) -> XlaOp:
    """Call a computation that stands for an operation of that name; attributes are MLIR text: "{n = 1 : i32}"."""
def Concat(*operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
def ConcatInDim(*operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp:
    """Join arrays along a dimension: `ConcatInDim([a, b], 0)`."""
def ConcatScalars(scalars: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
    """Scalars as a vector."""
def Concatenate(*operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
def Conditional(
        predicate: Operand,
        *rest: typing.Any,
        branch_computations: typing.Any = None,
        branch_operands: typing.Any = None,
        true_operand: Operand | None = None,
        true_computation: Applied | None = None,
        false_operand: Operand | None = None,
        false_computation: Applied | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """One of two computations by pred[], or one of several by s32[]."""
def Conj(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """The complex conjugate; floats stay themselves."""
def Constant(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def ConstantLiteral(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """A constant: a number, a list of numbers, a NumPy array, a Literal, or HLO's text of one: "f32[2] {1, 2}"."""
def ConstantR0(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def ConstantR0WithType(element_type: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp:
    """A number as a scalar of an element type."""
def ConstantR1(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def ConstantR2(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def Conv(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """A convolution with padding SAME or VALID; lhs is batch, feature, space..., rhs output, input, space..."""
def ConvGeneral(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = None,
        dimension_numbers: typing.Any = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """A convolution with padding in pairs and dimension numbers, without dilation."""
def ConvGeneralDilated(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = None,
        lhs_dilation: Iterable[int] | None = None,
        rhs_dilation: Iterable[int] | None = None,
        dimension_numbers: typing.Any = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        window_reversal: Iterable[bool] | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """A convolution with everything said: strides, padding, dilations of both operands, roles of the dimensions."""
def ConvGradExtractAndVerifyDimension(
        input_size: int,
        filter_size: int,
        output_size: int,
        dilation: int,
        stride: int,
        padding: typing.Any,
        **common: Unpack[Common]
) -> XlaOp:
    """What a gradient for the input pads the output's gradient with, along one dimension."""
def ConvWithGeneralDimensions(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        dimension_numbers: typing.Any = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """A convolution with padding SAME or VALID and dimension numbers."""
def ConvWithGeneralPadding(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """A convolution with padding in pairs; lhs is batch, feature, space..., rhs output, input, space..."""
def Convert(operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def ConvertElementType(operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Convert every element to another type, as C++'s static_cast does."""
def Convolution(
        lhs: Operand,
        rhs: Operand,
        *sparsity: typing.Any,
        dim_labels: typing.Any,
        window: typing.Any = None,
        feature_group_count: typing.Any = 1,
        batch_group_count: typing.Any = 1,
        operand_precision: typing.Any = None,
        sparsity_config: typing.Any = None,
        convolution_kind: typing.Any = 'fprop',
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Slide the kernel over the image and sum the products at each place."""
def Copy(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """The same value, possibly in another layout or memory."""
def CopyDone(start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Wait for a copy and give it."""
def CopyStart(
        operand: Operand,
        cross_program_prefetch_index: typing.Any = None,
        is_cross_program_prefetch: typing.Any = False,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Start a copy; copy-done gives it."""
def Cos(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Cosine of radians."""
def Cosh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Hyperbolic cosine."""
def Cosine(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def CountLeadingZeros(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def CreateScalarAddComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A computation of two scalars: Add."""
def CreateScalarAndComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A computation of two scalars: And."""
def CreateScalarComparisonComputation(
        name: str,
        element_types: Sequence[typing.Any],
        generators: Sequence[Callable[..., XlaOp] | None],
        **common: Unpack[Unnamed]
) -> XlaOp:
    """A comparator of operands of those element types: by the first generator, by the next where those are equal,
    ..."""
def CreateScalarEqComputation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
    """A comparator of operands of those element types: the first two are compared by Eq, in the total order of
    floats."""
def CreateScalarGeComputation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
    """A comparator of operands of those element types: the first two are compared by Ge, in the total order of
    floats."""
def CreateScalarGtComputation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
    """A comparator of operands of those element types: the first two are compared by Gt, in the total order of
    floats."""
def CreateScalarIdentityWithZeroComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A computation of two scalars that gives the other one where one is zero: Or of integers, else Add."""
def CreateScalarLeComputation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
    """A comparator of operands of those element types: the first two are compared by Le, in the total order of
    floats."""
def CreateScalarLogicalAndComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def CreateScalarLtComputation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
    """A comparator of operands of those element types: the first two are compared by Lt, in the total order of
    floats."""
def CreateScalarMaxComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A computation of two scalars: Max."""
def CreateScalarMinComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A computation of two scalars: Min."""
def CreateScalarMulComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A computation of two scalars: Mul."""
def CreateScalarMultiplyComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def CreateScalarNeComputation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
    """A comparator of operands of those element types: the first two are compared by Ne, in the total order of
    floats."""
def CreateScalarOrComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A computation of two scalars: Or."""
def CreateScalarXorComputation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A computation of two scalars: Xor."""
def CreateToken(builder: XlaBuilder, **common: Unpack[Common]) -> XlaOp:
    """A token that waits for nothing."""
def CrossReplicaSum(operand: Operand, replica_groups: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
    """AllReduce that adds; of pred it is or."""
def CumulativeMax(operand: Operand, axis: int = 0, is_reverse: bool = False, **common: Unpack[Common]) -> XlaOp:
    """The greatest of all elements up to each along an axis, or from each on."""
def CumulativeProduct(operand: Operand, axis: int = 0, is_reverse: bool = False, **common: Unpack[Common]) -> XlaOp:
    """Products of all elements up to each along an axis, or from each on."""
def CumulativeSum(operand: Operand, axis: int = 0, is_reverse: bool = False, **common: Unpack[Common]) -> XlaOp:
    """Sums of all elements up to each along an axis, or from each on."""
def CustomCall(
        builder: XlaBuilder,
        call_target_name: str,
        operands: Operand = (),
        shape: ShapeLike | None = None,
        opaque: str | None = None,
        operand_shapes_with_layout: Iterable[typing.Any] | None = None,
        has_side_effect: bool = False,
        output_operand_aliasing: typing.Any = (),
        literal: typing.Any = None,
        window: typing.Any = None,
        dnums: typing.Any = None,
        schedule: typing.Any = None,
        api_version: typing.Any = None,
        called_computations: Sequence[typing.Any] | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Call a function that the platform knows by name; `opaque` is handed over as it is."""
def Dequantize(
        operand: Operand,
        scale: Operand,
        zero_point: typing.Any = 0.0,
        element_type: typing.Any = 'f32',
        axis: int | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The floats (operand - zero_point) * scale."""
def DequantizePacked(
        input: Operand,
        min_in: float,
        max_in: float,
        element_type: typing.Any = 'u8',
        transpose_output: bool = False,
        **common: Unpack[Common]
) -> XlaOp:
    """bf16 from what PackToUint32 packed, whose range is [min_in, max_in]: XLA's Dequantize, mode MIN_COMBINED."""
def Digamma(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """The slope of Lgamma; NaN at 0, -1, -2, ..."""
def DisassembleTuple(tuple_data: Operand, **common: Unpack[Common]) -> XlaOp:
    """The elements of a tuple."""
def Div(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Quotient; integers truncate, x / 0 has all bits set, and the least integer / -1 is itself."""
def Divide(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def Domain(
        operand: Operand,
        domain: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The operand; marks where the sharding of values changes."""
def Dot(
        lhs: Operand,
        rhs: Operand,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The product of vectors and matrices."""
def DotGeneral(
        lhs: Operand,
        rhs: Operand,
        dimension_numbers: typing.Any,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        algorithm: str | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Sum over the contracting dimensions, for each combination of the batch dimensions and the others."""
def DynamicConditional(predicate: Operand, *rest: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Conditional of branches whose results may have other sizes: they grow to the greatest, with sizes that are
    set."""
def DynamicReshape(
        operand: Operand,
        dim_sizes: Sequence[typing.Any],
        new_size_bounds: Iterable[int],
        dims_are_dynamic: Sequence[bool],
        **common: Unpack[Common]
) -> XlaOp:
    """Reshape to sizes that are known when the program runs, each at most its bound."""
def DynamicSlice(
        operand: Operand,
        start_indices: Operand,
        slice_sizes: Iterable[int],
        **common: Unpack[Common]
) -> XlaOp:
    """Cut a block at start indices that are computed; starts are clamped so that the block fits."""
def DynamicSliceInMinorDims(
        operand: Operand,
        starts: Sequence[typing.Any],
        sizes: Iterable[int],
        **common: Unpack[Common]
) -> XlaOp:
    """DynamicSlice of the last dimensions, the others whole."""
def DynamicUpdateSlice(
        operand: Operand,
        update: Operand,
        start_indices: Operand,
        **common: Unpack[Common]
) -> XlaOp:
    """Overwrite a block at start indices that are computed; starts are clamped so that the block fits."""
def DynamicUpdateSliceInMinorDims(
        operand: Operand,
        update: Operand,
        starts: Sequence[typing.Any],
        **common: Unpack[Common]
) -> XlaOp:
    """DynamicUpdateSlice of the last dimensions."""
def Eigh(
        a: Operand,
        lower: bool = True,
        max_iter: int = 15,
        tol: float = 1e-05,
        sort_eigenvalues: bool = True,
        **common: Unpack[Common]
) -> XlaOp:
    """Eigenvectors (columns) and eigenvalues (rising) of symmetric matrices: a tuple (v, w); A v = v diag(w)."""
def Einsum(
        subscripts: str,
        lhs: Operand,
        rhs: typing.Any | None = None,
        precision_config: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """An Einstein sum of one operand or two: "ij,jk->ik", "ii", "...ij->...ji"."""
def Epsilon(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The distance from 1 to the next float."""
def Eq(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Where equal, element by element; operands of different shapes are broadcast."""
def EqTotalOrder(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Where equal, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands of
    different shapes are broadcast."""
def Erf(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Error function."""
def ErfInv(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """What Erf takes to the operand: infinite at -1 and 1, NaN beyond."""
def Erfc(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """1 - Erf(x), exact to 2e-7 of its value also where Erf is next to 1."""
def EvaluateChebyshevPolynomial(x: typing.Any, coefficients: Sequence[float], **common: Unpack[Common]) -> XlaOp:
    """The sum of Chebyshev's polynomials of x/2, the one of the highest degree first, the last halved: Clenshaw's."""
def EvaluatePolynomial(x: typing.Any, coefficients: Sequence[float], **common: Unpack[Common]) -> XlaOp:
    """The polynomial of x with those coefficients, the one of the highest power first: Horner's scheme."""
def Exp(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """e to the power of each element."""
def Expm1(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """e to the power of each element, less one, exact near 0."""
def Exponential(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def ExponentialMinusOne(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def FakeQuantize(
        operand: Operand,
        scale: Operand,
        zero_point: typing.Any = 0.0,
        element_type: typing.Any = 's8',
        axis: int | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """What is left of floats after Quantize and Dequantize."""
def Fft(operand: Operand, fft_type: typing.Any, fft_length: Iterable[int], **common: Unpack[Common]) -> XlaOp:
    """Fourier transform over the last dimensions: fft_type is FFT, IFFT, RFFT or IRFFT."""
def Floor(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Greatest whole number that is not above."""
def ForEachIndex(
        number: typing.Any,
        body: Callable[..., typing.Any],
        init: Sequence[typing.Any],
        index_type: typing.Any = 's32',
        **common: Unpack[Common]
) -> XlaOp:
    """Call body(i, *values) for i in 0 ... number - 1; it gives the next values, and the loop the last ones."""
def Full(builder: XlaBuilder, shape: ShapeLike, value: Operand, **common: Unpack[Common]) -> XlaOp:
    """One number, or a scalar, in a shape."""
def FullLike(operand: Operand, value: Operand, **common: Unpack[Common]) -> XlaOp:
    """One number in an operand's shape."""
def Fusion(
        *operands: Operand,
        kind: typing.Any,
        calls: typing.Any,
        output_to_operand_aliasing: typing.Any = None,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The result of a computation that a backend compiles as one kernel."""
def FusionCall(kind: str, computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp:
    """A fusion of that kind (kLoop, kInput, ...): a computation that is compiled as one."""
def Gather(
        operand: Operand,
        start_indices: Operand,
        dimension_numbers: typing.Any,
        slice_sizes: Iterable[int],
        indices_are_sorted: bool = False,
        **common: Unpack[Common]
) -> XlaOp:
    """Take many slices of an operand, at start indices that an array holds."""
def Ge(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Where lhs not below rhs, element by element; operands of different shapes are broadcast."""
def GeTotalOrder(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Where lhs not below rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN;
    operands of different shapes are broadcast."""
def Gelu(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """x times the probability that a normal number is below it."""
def GetDiagonalMask(operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
    """Where column - row is `diagonal`."""
def GetDimensionSize(operand: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp:
    """The size that a dimension has when the program runs, s32[]."""
def GetMatrixDiagonal(operand: Operand, k: int = 0, **common: Unpack[Common]) -> XlaOp:
    """The elements of a diagonal: the main one, the k-th above it, or the -k-th below."""
def GetMatrixDiagonalViaGather(operand: Operand, k: int = 0, **common: Unpack[Common]) -> XlaOp: ...
def GetTupleElement(tuple_data: Operand, index: int, **common: Unpack[Common]) -> XlaOp:
    """The element of a tuple at an index that is a number."""
def Gt(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Where lhs above rhs, element by element; operands of different shapes are broadcast."""
def GtTotalOrder(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Where lhs above rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands of
    different shapes are broadcast."""
def IdentityMatrix(
        element_type: typing.Any,
        rows: int,
        columns: int | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Ones on the diagonal, zeros elsewhere."""
def Igamma(a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The lower incomplete gamma function P(a, x), between 0 and 1; NaN where a is not positive or x is negative."""
def IgammaGradA(a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The slope of Igamma(a, x) in a."""
def Igammac(a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The upper incomplete gamma function Q(a, x) = 1 - P(a, x), exact also where it is small."""
def Imag(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Imaginary part; zeros for floats."""
def Index(operand: Operand, key: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """What `operand[key]` builds: slices and numbers as NumPy reads them, values of the program as start indices."""
def IndexConditional(
        branch_index: Operand,
        branch_computations: Sequence[typing.Any],
        branch_operands: typing.Any,
        **common: Unpack[Common]
) -> XlaOp:
    """Conditional by s32[]."""
def IndexSelect(
        operand: Operand,
        indices: typing.Any,
        axis: int = 0,
        batch_dims: int = 0,
        **common: Unpack[Common]
) -> XlaOp:
    """The slices along an axis that stand at the indices; the first `batch_dims` dimensions count through both."""
def Infeed(builder: XlaBuilder, shape: ShapeLike, config: str = '', **common: Unpack[Common]) -> XlaOp:
    """The next value of the infeed, after all transfers before it."""
def InfeedWithToken(token: Operand, shape: ShapeLike, config: str = '', **common: Unpack[Common]) -> XlaOp:
    """The next value of the infeed after a token, and the token after it: a tuple."""
def Inverse(a: Operand, **common: Unpack[Common]) -> XlaOp:
    """The inverse of square matrices."""
def Iota(builder: XlaBuilder, shape: ShapeLike, iota_dimension: int = 0, **common: Unpack[Common]) -> XlaOp:
    """Numbers that count up along one dimension; also `Iota(element_type, size)`."""
def IsConstant(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Whether a value depends on nothing that is known only when the program runs. XLA: XlaBuilder::IsConstant."""
def IsFinite(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Whether each element is neither infinite nor NaN."""
def IsInf(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Where a float is infinite, of either sign."""
def IsNan(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Where a float is not a number."""
def IsNegInf(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Where a float is minus infinity."""
def IsNegZero(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Where a float is -0."""
def IsPosInf(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Where a float is plus infinity."""
def LayerNorm(
        operand: Operand,
        scale: Operand,
        offset: Operand,
        epsilon: float = 1e-05,
        **common: Unpack[Common]
) -> XlaOp:
    """Normalised along the last dimension, then scaled and moved."""
def Le(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Where lhs not above rhs, element by element; operands of different shapes are broadcast."""
def LeTotalOrder(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Where lhs not above rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN;
    operands of different shapes are broadcast."""
def Lgamma(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """The logarithm of the gamma function's magnitude."""
def Log(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Natural logarithm."""
def Log1p(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Natural logarithm of one more, exact near 0."""
def LogDet(a: Operand, **common: Unpack[Common]) -> XlaOp:
    """The logarithm of the determinant; NaN where that is negative."""
def LogPlusOne(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def LogSoftmax(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
    """The logarithm of Softmax, without leaving the range of floats."""
def Logistic(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """1 / (1 + e^-x)."""
def LowerTriangle(operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
    """The elements on and below a diagonal, zeros above."""
def Lt(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Where lhs below rhs, element by element; operands of different shapes are broadcast."""
def LtTotalOrder(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Where lhs below rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands of
    different shapes are broadcast."""
def LuDecomposition(a: Operand, **common: Unpack[Common]) -> XlaOp:
    """P A = L U with rows exchanged so that the greatest element leads: a tuple (lu, pivots, permutation)."""
def MakeSpatialPadding(
        input_size: Iterable[int],
        kernel_size: Iterable[int],
        stride: Iterable[int],
        padding: typing.Any,
        **common: Unpack[Common]
) -> XlaOp:
    """The padding of each spatial dimension, before and after it, that "SAME" or "VALID" stands for."""
def Map(
        *operands: Operand,
        computation: Applied | None = None,
        dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Apply a computation of scalars to the elements of operands: `Map([x, y], computation, dimensions)`."""
def MapRows(
        operand: Operand,
        body: Callable[[typing.Any], typing.Any],
        axis: int = 0,
        **common: Unpack[Common]
) -> XlaOp:
    """Call body on each slice along an axis, one after the other, and stack what it gives along the first dimension."""
def Max(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """The greater; NaN if either is; pred: or."""
def MaxFiniteValue(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The greatest finite element."""
def MaxPool(
        operand: Operand,
        kernel_size: Iterable[int],
        stride: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        spatial_dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The greatest element of each window over the spatial dimensions: those between the first and the last."""
def MaxPoolGrad(
        out_backprop: typing.Any,
        operand: Operand,
        kernel_size: Iterable[int],
        stride: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        spatial_dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The gradient of MaxPool for its operand."""
def MaxValue(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """What no element is above: infinity, or the greatest integer."""
def Maximum(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def MaybeConjugate(x: typing.Any, conjugate: bool, **common: Unpack[Common]) -> XlaOp:
    """The complex conjugate where that is asked for and x is complex, else x."""
def MaybeTransposeInMinorDims(x: typing.Any, transpose: bool, **common: Unpack[Common]) -> XlaOp:
    """The last two dimensions exchanged where that is asked for."""
def Mean(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
    """The mean of floats along axes; along all by default."""
def Median(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
    """The element in the middle along an axis; the mean of two where their number is even."""
def Min(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """The less; NaN if either is; pred: and."""
def MinFiniteValue(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The least finite element."""
def MinPositiveNormalValue(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The least float above zero that has all its digits."""
def MinValue(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """What no element is below: minus infinity, or the least integer."""
def Minimum(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def Mul(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Product; integers wrap; pred: and."""
def Mulhi(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """The high half of the product of twice the width."""
def MultiCollectivePermute(
        operands: Sequence[typing.Any],
        source_target_pairs: Sequence[builtins.tuple[int, int]],
        channel_id: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """CollectivePermute of several operands at once; gives a tuple."""
def Multiply(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def NanValue(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Not a number."""
def Ne(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Where not equal, element by element; operands of different shapes are broadcast."""
def NeTotalOrder(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Where not equal, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands of
    different shapes are broadcast."""
def Neg(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Minus each element; integers wrap."""
def Negate(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def NextAfter(from_: typing.Any, to: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The float after one in the direction of another."""
def NormalFloatingPointDistribution(
        key: typing.Any,
        initial_state: Operand,
        bit_generator: typing.Any,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp:
    """Normal floats, by Box's and Muller's transform of two halves of uniform ones: a tuple, with the next state."""
def Not(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Logical not of pred, complement of the bits of integers."""
def One(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The scalar 1."""
def OneHot(indices: typing.Any, depth: int, element_type: typing.Any = 'f32', **common: Unpack[Common]) -> XlaOp:
    """A new last dimension with 1 at the index, 0 elsewhere."""
def OnesLike(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Ones of an operand's shape."""
def OptBarrier(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def OptimizationBarrier(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """The same value, that no optimisation moves anything across."""
def Or(
        lhs: Operand,
        rhs: Operand,
        *others: typing.Any,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Element by element or: of bits, or of predicates; of two operands, with broadcast_dimensions, or of more."""
def Outfeed(
        operand: Operand,
        shape_with_layout: ShapeLike | None = None,
        outfeed_config: str = '',
        **common: Unpack[Common]
) -> XlaOp:
    """Give a value to the outfeed, after all transfers before it; what it makes is a token."""
def OutfeedWithToken(
        operand: Operand,
        token: Operand,
        shape_with_layout: ShapeLike | None = None,
        outfeed_config: str = '',
        **common: Unpack[Common]
) -> XlaOp:
    """Give a value to the outfeed after a token; what it makes is the token after it."""
def PackToUint32(values: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Integers of 8 or 16 bits, four or two in each u32, the first one uppermost: an array of NumPy's."""
def Pad(operand: Operand, padding_value: Operand, padding_config: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Put the padding value around and between the elements: (low, high, interior) for each dimension."""
def PadInDim(
        operand: Operand,
        padding_value: Operand,
        dimno: int,
        pad_lo: int,
        pad_hi: int,
        **common: Unpack[Common]
) -> XlaOp:
    """Pad one dimension."""
def Parameter(
        builder: XlaBuilder,
        parameter_number: int,
        shape: ShapeLike,
        name: str = '',
        replicated: Sequence[bool] | None = None,
        **common: Unpack[Unnamed]
) -> XlaOp:
    """An argument of the computation, by number; names are for people."""
def PartitionID(builder: XlaBuilder, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def PartitionId(builder: XlaBuilder, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """The number of the partition, u32[]."""
def Philox4x32(key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Four random words of a key of two words and a counter of four: lists of u32; gives a tuple. Ten rounds."""
def PhiloxBitGenerator(
        key: typing.Any,
        initial_state: Operand,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp:
    """Bits of Philox, from a key u64[] and a counter u64[2]: a tuple of bits and the next counter."""
def PhiloxIncreaseCounter(counter: typing.Any, delta: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A counter u64[2], its low half first, greater by a number of 64 bits."""
def Polygamma(n: typing.Any, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The n-th slope of Digamma, for n = 0, 1, ...; NaN for other n."""
def Popcnt(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def PopulationCount(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Number of bits that are 1."""
def Pow(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """lhs to the power of rhs; x^0 is 1 for every x."""
def Power(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def PrependMajorDims(starts: typing.Any, operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Indices for every dimension of an operand: zeros for the first ones, then those given for the last."""
def Product(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
    """The product along axes; along all by default."""
def ProductOfElementaryHouseholderReflectors(a: Operand, taus: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The columns of the product of reflections 1 - tau v v^H, whose vectors stand below the diagonal of a."""
def QR(a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp:
    """A = Q R with Q orthogonal and R upper triangular: a tuple."""
def Qr(a: Operand, **common: Unpack[Common]) -> XlaOp:
    """R on and above the diagonal with the tails of Householder's vectors below it, and their factors: a tuple."""
def QrDecomposition(a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp: ...
def QrExplicit(a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp:
    """Q and R of the form that Qr gives: a tuple; Q is square, or as wide as a is at most."""
def Quantize(
        operand: Operand,
        scale: Operand,
        zero_point: typing.Any = 0.0,
        element_type: typing.Any = 's8',
        axis: int | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """The nearest integers to operand / scale + zero_point, held within the element type."""
def RaggedAllToAll(
        input: Operand,
        input_offsets: Operand,
        send_sizes: Operand,
        output: Operand,
        output_offsets: Operand,
        recv_sizes: Operand,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Send slices of different sizes to the members of a group, which place them in `output`."""
def RaggedDot(
        lhs: Operand,
        rhs: Operand,
        group_sizes: Operand,
        dimension_numbers: typing.Any,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """A product for each group of rows, of the sizes that an array holds."""
def RandomBernoulli(key: typing.Any, mean: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
    """pred in the dimensions of a shape, true with a probability, of a key."""
def RandomBits(key: typing.Any, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
    """Random u32 or u64 in a shape, the same for the same key (u32[2], u64[] or a number)."""
def RandomGammaGrad(a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """How a sample x of the gamma distribution moves with its shape a: -(dP/da) / (dP/dx)."""
def RandomIntegers(key: typing.Any, low: int, high: int, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
    """Integers in [low, high), of a key; uniform as far as the remainder of 64 bits is."""
def RandomNormal(key: typing.Any, mu: Operand, sigma: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
    """Floats, normal with mean mu and standard deviation sigma, of a key."""
def RandomUniform(
        key: typing.Any,
        low: typing.Any,
        high: typing.Any,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp:
    """Floats, uniform in [low, high), of a key."""
def Real(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Real part; floats stay themselves."""
def Reciprocal(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """1 / x."""
def Recv(builder: XlaBuilder, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The value that comes over a channel, after all transfers before it."""
def RecvDone(context: Operand, **common: Unpack[Common]) -> XlaOp:
    """Wait for what `RecvStart` asked for: the data and a token; what `Recv` gives is there already."""
def RecvFromHost(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The value that comes from the host, and the token after it: a tuple."""
def RecvStart(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The first half of RecvWithToken, HLO's recv."""
def RecvToHost(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def RecvWithToken(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The value that comes over a channel after a token, and the token after it: a tuple."""
def RecvWithTokens(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def Reduce(
        operands: Operand,
        init_values: Operand,
        computation: Applied,
        dimensions_to_reduce: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Fold operands along dimensions by a computation, from initial values; by default along all."""
def ReduceAll(operand: Operand, init_value: Operand, computation: Applied, **common: Unpack[Common]) -> XlaOp:
    """Fold an operand along all its dimensions."""
def ReduceMax(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
    """The greatest element along axes; along all by default."""
def ReduceMin(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
    """The least element along axes; along all by default."""
def ReducePrecision(
        operand: Operand,
        exponent_bits: typing.Any,
        mantissa_bits: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Round each element to the nearest number with so many exponent and mantissa bits, ties to even."""
def ReduceProduct(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def ReduceScatter(
        operand: Operand,
        computation: Applied,
        scatter_dimension: int,
        shard_count: int,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        layout: typing.Any = None,
        use_global_device_ids: bool | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """AllReduce, of whose result each member keeps its part along a dimension."""
def ReduceSum(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def ReduceWindow(
        operands: Operand,
        init_values: Operand,
        computation: Applied,
        window_dimensions: Iterable[int],
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        base_dilations: Iterable[int] | None = None,
        window_dilations: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Fold what a window covers at each place; padding is SAME, VALID or pairs, and counts as the initial value."""
def ReduceWindowWithGeneralPadding(
        operands: Operand,
        init_values: Operand,
        computation: Applied,
        window_dimensions: Iterable[int],
        window_strides: Iterable[int] | None = None,
        base_dilations: Iterable[int] | None = None,
        window_dilations: Iterable[int] | None = None,
        padding: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """ReduceWindow in the order of the C++ function, with padding in pairs."""
def RegularizedIncompleteBeta(a: Operand, b_: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """I_x(a, b), the share of the beta function's integral below x; NaN outside. Source: DLMF 8.17.22."""
def Relu(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Zero where the operand is negative."""
def Rem(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Remainder with the sign of lhs; integers: x rem 0 is x, the least integer rem -1 is 0."""
def Remainder(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def RemoveDynamicDimension(operand: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp:
    """Let a dimension have the size of its bound again."""
def ReplicaId(builder: XlaBuilder, **common: Unpack[Common]) -> XlaOp:
    """The number of the replica, u32[]."""
def Reshape(
        operand: Operand,
        dimensions: typing.Any = None,
        inferred_dimension: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Give the elements, in row-major order, other dimensions; -1 stands for the size that is left over."""
def Rev(operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp:
    """Reverse the order of the elements along those dimensions."""
def Reverse(operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
def Rng(
        a: Operand,
        b: Operand,
        distribution: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Independent random numbers: uniform in [a, b), or normal with mean a and standard deviation b."""
def RngBitGenerator(
        builder: XlaBuilder,
        algorithm: typing.Any,
        initial_state: Operand,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp:
    """Random bits and the state after them: a tuple. algorithm is rng_default, rng_three_fry or rng_philox."""
def RngGetAndUpdateState(delta: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """The 128-bit state of the module's random numbers, low word first, advanced by delta for the next time."""
def RngNormal(mu: Operand, sigma: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
    """Independent numbers, normal with mean mu and standard deviation sigma."""
def RngUniform(a: Operand, b_: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
    """Independent numbers, uniform in [a, b)."""
def Round(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """The nearest whole number, halves away from zero."""
def RoundNearestAfz(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Nearest whole number, halves away from zero."""
def RoundNearestEven(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """Nearest whole number, halves to the even one."""
def RoundToEven(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """RoundNearestEven under the name that C++'s library has for it."""
def Rsqrt(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """1 / square root; -0 gives -inf."""
def SLogDet(a: Operand, **common: Unpack[Common]) -> XlaOp:
    """The sign of the determinant and the logarithm of its magnitude: a tuple."""
def SVD(a: Operand, **common: Unpack[Common]) -> XlaOp: ...
def ScalarLike(prototype: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp:
    """A number as a scalar of an operand's element type."""
def ScaledDot(
        lhs: Operand,
        lhs_scale: Operand,
        rhs: Operand,
        rhs_scale: Operand,
        dimension_number: typing.Any,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp:
    """DotGeneral of operands that are multiplied by scales, block by block."""
def Scan(
        operands: Operand,
        computation: Applied,
        dimension: int = 0,
        num_carries: int | None = None,
        is_reverse: bool = False,
        is_associative: bool | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Run a computation along a dimension, handing carries on: inputs first, then the initial carries."""
def Scatter(
        operands: Operand,
        scatter_indices: Operand,
        updates: Operand,
        update_computation: Applied,
        dimension_numbers: typing.Any,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        **common: Unpack[Common]
) -> XlaOp:
    """Combine updates into operands at indices that an array holds, by a computation."""
def ScramblePhiloxKey(key: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """A counter u64[2] and a key u64[] for Philox, made of a key of any bits: a tuple."""
def Select(pred: Operand, on_true: Operand, on_false: Operand, **common: Unpack[Common]) -> XlaOp:
    """Elements of `on_true` where `pred` holds, else of `on_false`; scalars are broadcast."""
def SelectAndScatter(
        operand: Operand,
        select: Applied,
        window_dimensions: Iterable[int],
        window_strides: Iterable[int] | None,
        padding: typing.Any,
        source: Operand,
        init_value: Operand,
        scatter: Applied,
        **common: Unpack[Common]
) -> XlaOp:
    """In each window one element is selected, and an element of source is scattered to it."""
def SelectAndScatterWithGeneralPadding(
        operand: Operand,
        select: Applied,
        window_dimensions: Iterable[int],
        window_strides: Iterable[int] | None,
        padding: typing.Any,
        source: Operand,
        init_value: Operand,
        scatter: Applied,
        **common: Unpack[Common]
) -> XlaOp:
    """SelectAndScatter with padding in pairs."""
def SelfAdjointEig(
        a: Operand,
        lower: bool = True,
        max_iter: int = 15,
        tol: float = 1e-05,
        sort_eigenvalues: bool = True,
        **common: Unpack[Common]
) -> XlaOp: ...
def Send(operand: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Send a value over a channel, after all transfers before it, and wait until it is away; it makes a token."""
def SendDone(context: Operand, **common: Unpack[Common]) -> XlaOp:
    """Wait until what `SendStart` began is away; what `Send` gives is away already."""
def SendStart(operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The first half of SendWithToken, HLO's send."""
def SendToHost(
        operand: Operand,
        token: Operand,
        shape_with_layout: ShapeLike | None = None,
        handle: typing.Any = 1,
        **common: Unpack[Common]
) -> XlaOp:
    """Send an array to the host."""
def SendWithToken(operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Send a value over a channel after a token; what it makes is the token after it."""
def SendWithTokens(operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def SetAllDimensionSizes(value: Operand, sizes: Sequence[typing.Any] | XlaOp, **common: Unpack[Common]) -> XlaOp:
    """SetDimensionSize of every dimension, by a list of sizes or by an array that holds them."""
def SetDimensionSize(operand: Operand, val: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp:
    """Let a dimension have a size that is computed; its present size becomes the bound."""
def SetDimensionSizeWithRebound(
        value: Operand,
        dimension_size: typing.Any,
        dimension: int,
        **common: Unpack[Common]
) -> XlaOp:
    """SetDimensionSize; a size that is a constant cuts the array down to it instead, and stays static."""
def SetMatrixDiagonal(operand: Operand, diagonal: typing.Any, k: int = 0, **common: Unpack[Common]) -> XlaOp:
    """The operand with another diagonal: the main one, the k-th above it, or the -k-th below."""
def ShiftLeft(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Bits moved up, zeros entering; past the width: 0."""
def ShiftRightArithmetic(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Bits moved down, the highest bit entering; past the width: 0 or -1."""
def ShiftRightLogical(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp:
    """Bits moved down, zeros entering; past the width: 0."""
def Sign(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
    """-1, 0 or 1; floats keep zeros and NaN, complex gives x / |x|."""
def Silu(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """x times Logistic(x)."""
def Sin(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Sine of radians."""
def Sine(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def Sinh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Hyperbolic sine."""
def Slice(
        operand: Operand,
        start_indices: Iterable[int],
        limit_indices: Iterable[int],
        strides: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Cut out the elements from start (inclusive) to limit (exclusive), every stride-th one."""
def SliceInDim(
        operand: Operand,
        start_index: int,
        limit_index: int,
        stride: int = 1,
        dimno: int = 0,
        **common: Unpack[Common]
) -> XlaOp:
    """Slice along one dimension, the others whole."""
def SliceInMinorDims(operand: Operand, start: Iterable[int], end: Iterable[int], **common: Unpack[Common]) -> XlaOp:
    """Slice the last dimensions, the others whole."""
def Softmax(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
    """Exponentials that add up to 1 along an axis."""
def Solve(a: Operand, b_: Operand, **common: Unpack[Common]) -> XlaOp:
    """x with A x = b, for square matrices A and the columns of b."""
def Sort(
        operands: Operand,
        comparator: Applied | None = None,
        dimension: int = -1,
        is_stable: bool = False,
        **common: Unpack[Common]
) -> XlaOp:
    """Sort along a dimension, by default the last; several operands move together and give a tuple."""
def SortAscending(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
    """The elements along an axis, rising."""
def SortByKey(
        keys: typing.Any,
        values: typing.Any,
        axis: int = -1,
        is_descending: bool = False,
        **common: Unpack[Common]
) -> XlaOp:
    """Keys in order and the values that belong to them: a tuple; equal keys keep their order."""
def SortDescending(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
    """The elements along an axis, falling."""
def Sqrt(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Square root, the principal one."""
def Square(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """x times x."""
def StochasticConvert(
        operand: Operand,
        random: Operand,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Convert to integers, rounding away from zero with the probability that the fraction says."""
def StochasticConvertType(
        operand: Operand,
        random: Operand,
        new_element_type: typing.Any,
        **common: Unpack[Common]
) -> XlaOp:
    """Convert floats to a narrower type, rounding up as often as the random bits say."""
def Sub(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Difference; integers wrap."""
def Subtract(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def Sum(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
    """The sum along axes; along all by default."""
def Svd(a: Operand, **common: Unpack[Common]) -> XlaOp:
    """Singular vectors and values: a tuple (u, s, v) with A = u diag(s) v^H, s falling, the thin form."""
def Switch(
        branch_index: Operand,
        branch_computations: Sequence[typing.Any],
        branch_operands: typing.Any,
        **common: Unpack[Common]
) -> XlaOp: ...
def Symmetrize(operand: Operand, lower: bool = True, **common: Unpack[Common]) -> XlaOp:
    """The symmetric (of complex elements Hermitian) matrices whose lower, or upper, triangle the operand holds."""
def TakeAlong(
        operand: Operand,
        indices: typing.Any,
        axis: int = 0,
        sparse: bool = True,
        **common: Unpack[Common]
) -> XlaOp:
    """For each place of the indices, the element that stands there along an axis, and at that place along others."""
def Tan(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Tangent of radians."""
def Tanh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp:
    """Hyperbolic tangent."""
def ThomasSolver(
        lower_diagonal: typing.Any,
        main_diagonal: typing.Any,
        upper_diagonal: typing.Any,
        rhs: Operand,
        **common: Unpack[Common]
) -> XlaOp: ...
def ThreeFry2x32(key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Two random words of a key of two words and a counter of two: lists of u32; gives a tuple. Twenty rounds."""
def ThreeFryBitGenerator(
        key: typing.Any,
        initial_state: Operand,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp:
    """Bits of Threefry, from a key u64[] and a state u64[1], which counts: a tuple of bits and the next state."""
def TopK(operand: Operand, k: int, largest: bool = True, **common: Unpack[Common]) -> XlaOp:
    """The k greatest (or least) elements along the last dimension, and where they stood."""
def TopKWithPartitions(operand: Operand, k: int, num_partitions: int = 1, **common: Unpack[Common]) -> XlaOp:
    """TopK along the last dimension, first of each part, then of what the parts gave; the same values and places."""
def Topk(operand: Operand, k: int, largest: bool = True, **common: Unpack[Common]) -> XlaOp: ...
def TorchGather(
        operand: Operand,
        indices: typing.Any,
        axis: int = 0,
        sparse: bool = True,
        **common: Unpack[Common]
) -> XlaOp: ...
def TorchIndexSelect(
        operand: Operand,
        indices: typing.Any,
        axis: int = 0,
        batch_dims: int = 0,
        **common: Unpack[Common]
) -> XlaOp: ...
def TorchScatterDense(
        input: Operand,
        index: typing.Any,
        src: typing.Any,
        dim: int,
        combiner: typing.Any,
        **common: Unpack[Common]
) -> XlaOp:
    """input with src combined into it: src[i][j] at index[i][j] along `dim`, at its own place along the others."""
def Transpose(operand: Operand, permutation: Iterable[int] | None = None, **common: Unpack[Common]) -> XlaOp:
    """Dimension i of the result is dimension permutation[i] of the operand; by default the order is reversed."""
def TransposeInMinorDims(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """The last two dimensions exchanged."""
def Triangle(operand: Operand, lower: bool, **common: Unpack[Common]) -> XlaOp:
    """The elements on and below the diagonal, or on and above it; zeros elsewhere."""
def TriangleMask(operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
    """Where column - row is at most `diagonal`."""
def TriangularSolve(
        a: Operand,
        b_: Operand,
        left_side: bool,
        lower: bool,
        unit_diagonal: bool,
        transpose_a: typing.Any = 'NO_TRANSPOSE',
        **common: Unpack[Common]
) -> XlaOp:
    """Solve op(a) x = b (left_side) or x op(a) = b for a triangular a."""
def TridiagonalSolver(
        lower_diagonal: typing.Any,
        main_diagonal: typing.Any,
        upper_diagonal: typing.Any,
        rhs: Operand,
        **common: Unpack[Common]
) -> XlaOp:
    """Solve systems with three diagonals, each [..., 1, n], for right sides [..., m, n]: Thomas's algorithm."""
def Tuple(*elements: Operand, **common: Unpack[Common]) -> XlaOp:
    """A tuple of values: `Tuple([a, b])` or `Tuple(a, b)`."""
def UniformFloatingPointDistribution(
        key: typing.Any,
        initial_state: Operand,
        bit_generator: typing.Any,
        minval: typing.Any,
        maxval: typing.Any,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp:
    """Floats in [minval, maxval): a tuple of them and the next state."""
def UniformIntDistribution(
        key: typing.Any,
        initial_state: Operand,
        bit_generator: typing.Any,
        minval: typing.Any,
        maxval: typing.Any,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp:
    """Integers in [minval, maxval), the remainders of bits: a tuple of them and the next state."""
def UpdateSlice(operand: Operand, update: Operand, start: Iterable[int], **common: Unpack[Common]) -> XlaOp:
    """Overwrite a block at indices that are numbers."""
def UpdateSliceInMinorDims(
        operand: Operand,
        update: Operand,
        start: Iterable[int],
        **common: Unpack[Common]
) -> XlaOp:
    """Overwrite a block of the last dimensions, at indices that are numbers."""
def UpperTriangle(operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
    """The elements on and above a diagonal, zeros below."""
def While(condition: Applied, body: Applied, init: Operand, **common: Unpack[Common]) -> XlaOp:
    """Apply body to a value as long as condition holds of it; a list stands for a tuple."""
def WhileLoopHelper(
        condition: Callable[..., typing.Any],
        body: Callable[..., typing.Any],
        initial_values: Sequence[typing.Any],
        name: str = 'while',
        **common: Unpack[Unnamed]
) -> XlaOp:
    """Call body(*values) as long as condition(*values) holds; the values that it leaves, as a list."""
def Xor(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp:
    """Logical exclusive or of pred, of the bits of integers."""
def Zero(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """The scalar 0."""
def Zeros(builder: XlaBuilder, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
    """Zeros in a shape."""
def ZerosLike(operand: Operand, **common: Unpack[Common]) -> XlaOp:
    """Zeros of an operand's shape."""
def Zeta(x: typing.Any, q: typing.Any, **common: Unpack[Common]) -> XlaOp:
    """Hurwitz's zeta function, the sum of (q + n)^-x for n = 0, 1, ...; NaN for x < 1. Source: DLMF 25.11.7."""
def abs(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def acos(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def acosh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def add(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def add_dependency(
        operand: Operand,
        token: Operand,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def after_all(*tokens: Operand, **common: Unpack[Common]) -> XlaOp: ...
def aggregate_to_top_k_builder(
        operands: Sequence[typing.Any],
        init_values: Sequence[typing.Any],
        top_k: int,
        reduction_dim: int,
        comparator: Applied,
        **common: Unpack[Common]
) -> XlaOp: ...
def all(predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def all_gather(
        operand: Operand,
        all_gather_dimension: int,
        shard_count: int,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        layout: typing.Any = None,
        use_global_device_ids: bool | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def all_gather_done(start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def all_gather_start(
        *operands: Operand,
        dimensions: typing.Any,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        use_global_device_ids: typing.Any = False,
        constrain_layout: typing.Any = False,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def all_reduce(
        operand: Operand,
        computation: Applied | None = None,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        shape_with_layout: ShapeLike | None = None,
        use_global_device_ids: bool | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def all_reduce_done(start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def all_reduce_start(
        *operands: Operand,
        to_apply: typing.Any,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        use_global_device_ids: typing.Any = False,
        constrain_layout: typing.Any = False,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def all_to_all(
        operand: Operand,
        split_dimension: int | None = None,
        concat_dimension: int | None = None,
        split_count: int | None = None,
        replica_groups: typing.Any = None,
        layout: typing.Any = None,
        channel_id: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def all_to_all_tuple(
        operand: Operand,
        split_dimension: int | None = None,
        concat_dimension: int | None = None,
        split_count: int | None = None,
        replica_groups: typing.Any = None,
        layout: typing.Any = None,
        channel_id: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def and_(
        lhs: Operand,
        rhs: Operand,
        *others: typing.Any,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def any(predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def approx_top_k(
        operands: Sequence[typing.Any],
        init_values: Sequence[typing.Any],
        top_k: int,
        reduction_dim: int,
        comparator: Applied,
        recall_target: float = 0.9,
        aggregate_to_topk: bool = True,
        reduction_input_size_override: int = -1,
        **common: Unpack[Common]
) -> XlaOp: ...
def approx_top_k_fallback(
        operands: Sequence[typing.Any],
        init_values: Sequence[typing.Any],
        top_k: int,
        reduction_dim: int,
        comparator: Applied,
        recall_target: float = 0.9,
        aggregate_to_topk: bool = True,
        reduction_input_size_override: int = -1,
        **common: Unpack[Common]
) -> XlaOp: ...
def approx_top_k_reduction_output_size(
        input_size: int,
        rank: int,
        top_k: int,
        recall_target: float,
        aggregate_to_topk: bool = True,
        input_size_override: int = -1,
        **common: Unpack[Common]
) -> XlaOp: ...
def arg_max(operand: Operand, axis: int = 0, index_type: typing.Any = 's32', **common: Unpack[Common]) -> XlaOp: ...
def arg_min(operand: Operand, axis: int = 0, index_type: typing.Any = 's32', **common: Unpack[Common]) -> XlaOp: ...
def arg_sort(
        operand: Operand,
        axis: int = -1,
        is_descending: bool = False,
        index_type: typing.Any = 's32',
        **common: Unpack[Common]
) -> XlaOp: ...
def asin(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def asinh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def async_done(
        previous: typing.Any,
        calls: typing.Any = None,
        async_execution_thread: typing.Any = 'main',
        async_group_id: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def async_start(
        computation: Applied,
        *operands: Operand,
        async_execution_thread: str = '',
        **common: Unpack[Common]
) -> XlaOp: ...
def async_update(
        previous: typing.Any,
        *operands: Operand,
        calls: typing.Any = None,
        output_to_operand_aliasing: typing.Any = None,
        async_group_id: typing.Any = None,
        async_execution_thread: typing.Any = 'main',
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def atan(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def atan2(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def atanh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def avg_pool(
        operand: Operand,
        kernel_size: Iterable[int],
        stride: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        counts_include_padding: bool = True,
        spatial_dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def avg_pool_grad(
        out_backprop: typing.Any,
        operand: Operand,
        kernel_size: Iterable[int],
        stride: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        counts_include_padding: bool = True,
        spatial_dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def batch_dot(
        lhs: Operand,
        rhs: Operand,
        transpose_lhs: bool = False,
        transpose_rhs: bool = False,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def batch_norm_grad(
        operand: Operand,
        scale: Operand,
        batch_mean: Operand,
        batch_var: Operand,
        grad_output: Operand,
        epsilon: float,
        feature_index: int,
        **common: Unpack[Common]
) -> XlaOp: ...
def batch_norm_inference(
        operand: Operand,
        scale: Operand,
        offset: Operand,
        mean: Operand,
        variance: Operand,
        epsilon: typing.Any,
        feature_index: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def batch_norm_training(
        operand: Operand,
        scale: Operand,
        offset: Operand,
        epsilon: typing.Any,
        feature_index: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def bessel_i0e(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def bessel_i1e(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def bitcast(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def bitcast_convert(operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def bitcast_convert_type(operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def box_muller_transform(first: typing.Any, second: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def broadcast(operand: Operand, broadcast_sizes: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
def broadcast_in_dim(
        operand: Operand,
        out_dim_size: Iterable[int],
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def broadcast_to(operand: Operand, dims: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
def build_partition_id(builder: XlaBuilder, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def call(computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp: ...
def cbrt(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def ceil(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def cholesky(
        a: Operand,
        lower: typing.Any = False,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def clamp(min: Operand, operand: Operand, max: Operand, **common: Unpack[Common]) -> XlaOp: ...
def clz(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def collapse(operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
def collective_broadcast(
        operand: Operand,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        root: typing.Any = None,
        has_dynamic_root: bool = False,
        **common: Unpack[Common]
) -> XlaOp: ...
def collective_permute(
        operand: Operand,
        source_target_pairs: Sequence[builtins.tuple[int, int]],
        channel_id: typing.Any = None,
        inplace: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def collective_permute_done(
        start: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def collective_permute_start(
        *operands: Operand,
        source_target_pairs: typing.Any,
        channel_id: typing.Any = None,
        slice_sizes: typing.Any = None,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def compare(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] | str = (),
        direction: str | None = None,
        type: str | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def complex(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def composite_call(
        computation: Applied,
        *operands: Operand,
        name: str = '',
        attributes: str | None = None,
        version: int | None = None,
        **common: Unpack[Unnamed]
) -> XlaOp: ...
def concat(*operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
def concat_in_dim(*operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
def concat_scalars(scalars: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
def concatenate(*operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
def conditional(
        predicate: Operand,
        *rest: typing.Any,
        branch_computations: typing.Any = None,
        branch_operands: typing.Any = None,
        true_operand: Operand | None = None,
        true_computation: Applied | None = None,
        false_operand: Operand | None = None,
        false_computation: Applied | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def conj(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def constant(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def constant_literal(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def constant_r0(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def constant_r0_with_type(element_type: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp: ...
def constant_r1(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def constant_r2(
        builder: XlaBuilder,
        literal: typing.Any,
        element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def conv(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def conv_general(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = None,
        dimension_numbers: typing.Any = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def conv_general_dilated(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = None,
        lhs_dilation: Iterable[int] | None = None,
        rhs_dilation: Iterable[int] | None = None,
        dimension_numbers: typing.Any = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        window_reversal: Iterable[bool] | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def conv_grad_extract_and_verify_dimension(
        input_size: int,
        filter_size: int,
        output_size: int,
        dilation: int,
        stride: int,
        padding: typing.Any,
        **common: Unpack[Common]
) -> XlaOp: ...
def conv_with_general_dimensions(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        dimension_numbers: typing.Any = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def conv_with_general_padding(
        lhs: Operand,
        rhs: Operand,
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = None,
        feature_group_count: int = 1,
        batch_group_count: int = 1,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def convert(operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def convert_element_type(operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def convolution(
        lhs: Operand,
        rhs: Operand,
        *sparsity: typing.Any,
        dim_labels: typing.Any,
        window: typing.Any = None,
        feature_group_count: typing.Any = 1,
        batch_group_count: typing.Any = 1,
        operand_precision: typing.Any = None,
        sparsity_config: typing.Any = None,
        convolution_kind: typing.Any = 'fprop',
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def copy(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def copy_done(start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def copy_start(
        operand: Operand,
        cross_program_prefetch_index: typing.Any = None,
        is_cross_program_prefetch: typing.Any = False,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def cos(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def cosh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def cosine(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def count_leading_zeros(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_add_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_and_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_comparison_computation(
        name: str,
        element_types: Sequence[typing.Any],
        generators: Sequence[Callable[..., XlaOp] | None],
        **common: Unpack[Unnamed]
) -> XlaOp: ...
def create_scalar_eq_computation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_ge_computation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_gt_computation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_identity_with_zero_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_le_computation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_logical_and_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_lt_computation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_max_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_min_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_mul_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_multiply_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_ne_computation(element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_or_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_scalar_xor_computation(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def create_token(builder: XlaBuilder, **common: Unpack[Common]) -> XlaOp: ...
def cross_replica_sum(operand: Operand, replica_groups: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def cumulative_max(operand: Operand, axis: int = 0, is_reverse: bool = False, **common: Unpack[Common]) -> XlaOp: ...
def cumulative_product(
        operand: Operand,
        axis: int = 0,
        is_reverse: bool = False,
        **common: Unpack[Common]
) -> XlaOp: ...
def cumulative_sum(operand: Operand, axis: int = 0, is_reverse: bool = False, **common: Unpack[Common]) -> XlaOp: ...
def custom_call(
        builder: XlaBuilder,
        call_target_name: str,
        operands: Operand = (),
        shape: ShapeLike | None = None,
        opaque: str | None = None,
        operand_shapes_with_layout: Iterable[typing.Any] | None = None,
        has_side_effect: bool = False,
        output_operand_aliasing: typing.Any = (),
        literal: typing.Any = None,
        window: typing.Any = None,
        dnums: typing.Any = None,
        schedule: typing.Any = None,
        api_version: typing.Any = None,
        called_computations: Sequence[typing.Any] | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def dequantize(
        operand: Operand,
        scale: Operand,
        zero_point: typing.Any = 0.0,
        element_type: typing.Any = 'f32',
        axis: int | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def dequantize_packed(
        input: Operand,
        min_in: float,
        max_in: float,
        element_type: typing.Any = 'u8',
        transpose_output: bool = False,
        **common: Unpack[Common]
) -> XlaOp: ...
def digamma(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def disassemble_tuple(tuple_data: Operand, **common: Unpack[Common]) -> XlaOp: ...
def div(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def divide(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def domain(
        operand: Operand,
        domain: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def dot(
        lhs: Operand,
        rhs: Operand,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def dot_general(
        lhs: Operand,
        rhs: Operand,
        dimension_numbers: typing.Any,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        algorithm: str | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def dynamic_conditional(predicate: Operand, *rest: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def dynamic_reshape(
        operand: Operand,
        dim_sizes: Sequence[typing.Any],
        new_size_bounds: Iterable[int],
        dims_are_dynamic: Sequence[bool],
        **common: Unpack[Common]
) -> XlaOp: ...
def dynamic_slice(
        operand: Operand,
        start_indices: Operand,
        slice_sizes: Iterable[int],
        **common: Unpack[Common]
) -> XlaOp: ...
def dynamic_slice_in_minor_dims(
        operand: Operand,
        starts: Sequence[typing.Any],
        sizes: Iterable[int],
        **common: Unpack[Common]
) -> XlaOp: ...
def dynamic_update_slice(
        operand: Operand,
        update: Operand,
        start_indices: Operand,
        **common: Unpack[Common]
) -> XlaOp: ...
def dynamic_update_slice_in_minor_dims(
        operand: Operand,
        update: Operand,
        starts: Sequence[typing.Any],
        **common: Unpack[Common]
) -> XlaOp: ...
def eigh(
        a: Operand,
        lower: bool = True,
        max_iter: int = 15,
        tol: float = 1e-05,
        sort_eigenvalues: bool = True,
        **common: Unpack[Common]
) -> XlaOp: ...
def einsum(
        subscripts: str,
        lhs: Operand,
        rhs: typing.Any | None = None,
        precision_config: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def epsilon(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def eq(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def eq_total_order(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def erf(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def erf_inv(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def erfc(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def evaluate_chebyshev_polynomial(x: typing.Any, coefficients: Sequence[float], **common: Unpack[Common]) -> XlaOp: ...
def evaluate_polynomial(x: typing.Any, coefficients: Sequence[float], **common: Unpack[Common]) -> XlaOp: ...
def exp(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def expm1(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def exponential(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def exponential_minus_one(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def fake_quantize(
        operand: Operand,
        scale: Operand,
        zero_point: typing.Any = 0.0,
        element_type: typing.Any = 's8',
        axis: int | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def fft(operand: Operand, fft_type: typing.Any, fft_length: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
def floor(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def for_each_index(
        number: typing.Any,
        body: Callable[..., typing.Any],
        init: Sequence[typing.Any],
        index_type: typing.Any = 's32',
        **common: Unpack[Common]
) -> XlaOp: ...
def full(builder: XlaBuilder, shape: ShapeLike, value: Operand, **common: Unpack[Common]) -> XlaOp: ...
def full_like(operand: Operand, value: Operand, **common: Unpack[Common]) -> XlaOp: ...
def fusion(
        *operands: Operand,
        kind: typing.Any,
        calls: typing.Any,
        output_to_operand_aliasing: typing.Any = None,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def fusion_call(kind: str, computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp: ...
def gather(
        operand: Operand,
        start_indices: Operand,
        dimension_numbers: typing.Any,
        slice_sizes: Iterable[int],
        indices_are_sorted: bool = False,
        **common: Unpack[Common]
) -> XlaOp: ...
def ge(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def ge_total_order(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def gelu(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def get_diagonal_mask(operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp: ...
def get_dimension_size(operand: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp: ...
def get_matrix_diagonal(operand: Operand, k: int = 0, **common: Unpack[Common]) -> XlaOp: ...
def get_matrix_diagonal_via_gather(operand: Operand, k: int = 0, **common: Unpack[Common]) -> XlaOp: ...
def get_tuple_element(tuple_data: Operand, index: int, **common: Unpack[Common]) -> XlaOp: ...
def gettupleelement(tuple_data: Operand, index: int, **common: Unpack[Common]) -> XlaOp: ...
def gt(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def gt_total_order(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def identity_matrix(
        element_type: typing.Any,
        rows: int,
        columns: int | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def igamma(a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def igamma_grad_a(a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def igammac(a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def imag(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def index(operand: Operand, key: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def index_conditional(
        branch_index: Operand,
        branch_computations: Sequence[typing.Any],
        branch_operands: typing.Any,
        **common: Unpack[Common]
) -> XlaOp: ...
def index_select(
        operand: Operand,
        indices: typing.Any,
        axis: int = 0,
        batch_dims: int = 0,
        **common: Unpack[Common]
) -> XlaOp: ...
def infeed(builder: XlaBuilder, shape: ShapeLike, config: str = '', **common: Unpack[Common]) -> XlaOp: ...
def infeed_with_token(token: Operand, shape: ShapeLike, config: str = '', **common: Unpack[Common]) -> XlaOp: ...
def inverse(a: Operand, **common: Unpack[Common]) -> XlaOp: ...
def iota(builder: XlaBuilder, shape: ShapeLike, iota_dimension: int = 0, **common: Unpack[Common]) -> XlaOp: ...
def is_constant(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def is_finite(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def is_inf(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def is_nan(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def is_neg_inf(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def is_neg_zero(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def is_pos_inf(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def layer_norm(
        operand: Operand,
        scale: Operand,
        offset: Operand,
        epsilon: float = 1e-05,
        **common: Unpack[Common]
) -> XlaOp: ...
def le(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def le_total_order(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def lgamma(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def log(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def log1p(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def log_det(a: Operand, **common: Unpack[Common]) -> XlaOp: ...
def log_plus_one(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def log_softmax(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
def logistic(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def lower_triangle(operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp: ...
def lt(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def lt_total_order(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def lu_decomposition(a: Operand, **common: Unpack[Common]) -> XlaOp: ...
def make_spatial_padding(
        input_size: Iterable[int],
        kernel_size: Iterable[int],
        stride: Iterable[int],
        padding: typing.Any,
        **common: Unpack[Common]
) -> XlaOp: ...
def map(
        *operands: Operand,
        computation: Applied | None = None,
        dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def map_rows(
        operand: Operand,
        body: Callable[[typing.Any], typing.Any],
        axis: int = 0,
        **common: Unpack[Common]
) -> XlaOp: ...
def max(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def max_finite_value(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def max_pool(
        operand: Operand,
        kernel_size: Iterable[int],
        stride: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        spatial_dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def max_pool_grad(
        out_backprop: typing.Any,
        operand: Operand,
        kernel_size: Iterable[int],
        stride: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        spatial_dimensions: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def max_value(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def maximum(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def maybe_conjugate(x: typing.Any, conjugate: bool, **common: Unpack[Common]) -> XlaOp: ...
def maybe_transpose_in_minor_dims(x: typing.Any, transpose: bool, **common: Unpack[Common]) -> XlaOp: ...
def mean(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def median(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
def min(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def min_finite_value(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def min_positive_normal_value(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def min_value(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def minimum(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def mul(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def mulhi(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def multi_collective_permute(
        operands: Sequence[typing.Any],
        source_target_pairs: Sequence[builtins.tuple[int, int]],
        channel_id: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def multiply(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def nan_value(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def ne(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def ne_total_order(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def neg(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def negate(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def next_after(from_: typing.Any, to: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def normal_floating_point_distribution(
        key: typing.Any,
        initial_state: Operand,
        bit_generator: typing.Any,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp: ...
def not_(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def one(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def one_hot(indices: typing.Any, depth: int, element_type: typing.Any = 'f32', **common: Unpack[Common]) -> XlaOp: ...
def ones_like(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def opt_barrier(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def optimization_barrier(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def or_(
        lhs: Operand,
        rhs: Operand,
        *others: typing.Any,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def outfeed(
        operand: Operand,
        shape_with_layout: ShapeLike | None = None,
        outfeed_config: str = '',
        **common: Unpack[Common]
) -> XlaOp: ...
def outfeed_with_token(
        operand: Operand,
        token: Operand,
        shape_with_layout: ShapeLike | None = None,
        outfeed_config: str = '',
        **common: Unpack[Common]
) -> XlaOp: ...
def pack_to_uint32(values: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def pad(operand: Operand, padding_value: Operand, padding_config: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def pad_in_dim(
        operand: Operand,
        padding_value: Operand,
        dimno: int,
        pad_lo: int,
        pad_hi: int,
        **common: Unpack[Common]
) -> XlaOp: ...
def parameter(
        builder: XlaBuilder,
        parameter_number: int,
        shape: ShapeLike,
        name: str = '',
        replicated: Sequence[bool] | None = None,
        **common: Unpack[Unnamed]
) -> XlaOp: ...
def partition_id(builder: XlaBuilder, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def philox4x32(key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def philox_bit_generator(
        key: typing.Any,
        initial_state: Operand,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp: ...
def philox_increase_counter(counter: typing.Any, delta: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def polygamma(n: typing.Any, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def popcnt(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def population_count(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def pow(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def power(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def prepend_major_dims(starts: typing.Any, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def product(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def product_of_elementary_householder_reflectors(a: Operand, taus: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def qr(a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp: ...
def qr_decomposition(a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp: ...
def qr_explicit(a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp: ...
def quantize(
        operand: Operand,
        scale: Operand,
        zero_point: typing.Any = 0.0,
        element_type: typing.Any = 's8',
        axis: int | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def ragged_all_to_all(
        input: Operand,
        input_offsets: Operand,
        send_sizes: Operand,
        output: Operand,
        output_offsets: Operand,
        recv_sizes: Operand,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def ragged_dot(
        lhs: Operand,
        rhs: Operand,
        group_sizes: Operand,
        dimension_numbers: typing.Any,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def random_bernoulli(key: typing.Any, mean: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
def random_bits(key: typing.Any, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
def random_gamma_grad(a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def random_integers(key: typing.Any, low: int, high: int, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
def random_normal(
        key: typing.Any,
        mu: Operand,
        sigma: Operand,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp: ...
def random_uniform(
        key: typing.Any,
        low: typing.Any,
        high: typing.Any,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp: ...
def real(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def reciprocal(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def recv(builder: XlaBuilder, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def recv_done(context: Operand, **common: Unpack[Common]) -> XlaOp: ...
def recv_from_host(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def recv_start(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def recv_to_host(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def recv_with_token(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def recv_with_tokens(token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def reduce(
        operands: Operand,
        init_values: Operand,
        computation: Applied,
        dimensions_to_reduce: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def reduce_all(operand: Operand, init_value: Operand, computation: Applied, **common: Unpack[Common]) -> XlaOp: ...
def reduce_max(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def reduce_min(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def reduce_precision(
        operand: Operand,
        exponent_bits: typing.Any,
        mantissa_bits: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def reduce_product(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def reduce_scatter(
        operand: Operand,
        computation: Applied,
        scatter_dimension: int,
        shard_count: int,
        replica_groups: typing.Any = None,
        channel_id: typing.Any = None,
        layout: typing.Any = None,
        use_global_device_ids: bool | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def reduce_sum(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def reduce_window(
        operands: Operand,
        init_values: Operand,
        computation: Applied,
        window_dimensions: Iterable[int],
        window_strides: Iterable[int] | None = None,
        padding: typing.Any = 'VALID',
        base_dilations: Iterable[int] | None = None,
        window_dilations: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def reduce_window_with_general_padding(
        operands: Operand,
        init_values: Operand,
        computation: Applied,
        window_dimensions: Iterable[int],
        window_strides: Iterable[int] | None = None,
        base_dilations: Iterable[int] | None = None,
        window_dilations: Iterable[int] | None = None,
        padding: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def regularized_incomplete_beta(a: Operand, b_: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def relu(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def rem(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def remainder(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def remove_dynamic_dimension(operand: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp: ...
def replica_id(builder: XlaBuilder, **common: Unpack[Common]) -> XlaOp: ...
def reshape(
        operand: Operand,
        dimensions: typing.Any = None,
        inferred_dimension: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def rev(operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
def reverse(operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
def rng(
        a: Operand,
        b: Operand,
        distribution: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def rng_bit_generator(
        builder: XlaBuilder,
        algorithm: typing.Any,
        initial_state: Operand,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp: ...
def rng_get_and_update_state(
        delta: typing.Any,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def rng_normal(mu: Operand, sigma: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
def rng_uniform(a: Operand, b_: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
def round(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def round_nearest_afz(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def round_nearest_even(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def round_to_even(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def rsqrt(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def s_log_det(a: Operand, **common: Unpack[Common]) -> XlaOp: ...
def scalar_like(prototype: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp: ...
def scaled_dot(
        lhs: Operand,
        lhs_scale: Operand,
        rhs: Operand,
        rhs_scale: Operand,
        dimension_number: typing.Any,
        precision_config: typing.Any = None,
        preferred_element_type: typing.Any = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def scan(
        operands: Operand,
        computation: Applied,
        dimension: int = 0,
        num_carries: int | None = None,
        is_reverse: bool = False,
        is_associative: bool | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def scatter(
        operands: Operand,
        scatter_indices: Operand,
        updates: Operand,
        update_computation: Applied,
        dimension_numbers: typing.Any,
        indices_are_sorted: bool = False,
        unique_indices: bool = False,
        **common: Unpack[Common]
) -> XlaOp: ...
def scramble_philox_key(key: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def select(pred: Operand, on_true: Operand, on_false: Operand, **common: Unpack[Common]) -> XlaOp: ...
def select_and_scatter(
        operand: Operand,
        select: Applied,
        window_dimensions: Iterable[int],
        window_strides: Iterable[int] | None,
        padding: typing.Any,
        source: Operand,
        init_value: Operand,
        scatter: Applied,
        **common: Unpack[Common]
) -> XlaOp: ...
def select_and_scatter_with_general_padding(
        operand: Operand,
        select: Applied,
        window_dimensions: Iterable[int],
        window_strides: Iterable[int] | None,
        padding: typing.Any,
        source: Operand,
        init_value: Operand,
        scatter: Applied,
        **common: Unpack[Common]
) -> XlaOp: ...
def self_adjoint_eig(
        a: Operand,
        lower: bool = True,
        max_iter: int = 15,
        tol: float = 1e-05,
        sort_eigenvalues: bool = True,
        **common: Unpack[Common]
) -> XlaOp: ...
def send(operand: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def send_done(context: Operand, **common: Unpack[Common]) -> XlaOp: ...
def send_start(operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def send_to_host(
        operand: Operand,
        token: Operand,
        shape_with_layout: ShapeLike | None = None,
        handle: typing.Any = 1,
        **common: Unpack[Common]
) -> XlaOp: ...
def send_with_token(operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def send_with_tokens(operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def set_all_dimension_sizes(value: Operand, sizes: Sequence[typing.Any] | XlaOp, **common: Unpack[Common]) -> XlaOp: ...
def set_dimension_size(operand: Operand, val: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp: ...
def set_dimension_size_with_rebound(
        value: Operand,
        dimension_size: typing.Any,
        dimension: int,
        **common: Unpack[Common]
) -> XlaOp: ...
def set_matrix_diagonal(operand: Operand, diagonal: typing.Any, k: int = 0, **common: Unpack[Common]) -> XlaOp: ...
def shift_left(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def shift_right_arithmetic(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def shift_right_logical(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def sign(operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
def silu(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def sin(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def sine(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def sinh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def slice(
        operand: Operand,
        start_indices: Iterable[int],
        limit_indices: Iterable[int],
        strides: Iterable[int] | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def slice_in_dim(
        operand: Operand,
        start_index: int,
        limit_index: int,
        stride: int = 1,
        dimno: int = 0,
        **common: Unpack[Common]
) -> XlaOp: ...
def slice_in_minor_dims(
        operand: Operand,
        start: Iterable[int],
        end: Iterable[int],
        **common: Unpack[Common]
) -> XlaOp: ...
def softmax(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
def solve(a: Operand, b_: Operand, **common: Unpack[Common]) -> XlaOp: ...
def sort(
        operands: Operand,
        comparator: Applied | None = None,
        dimension: int = -1,
        is_stable: bool = False,
        **common: Unpack[Common]
) -> XlaOp: ...
def sort_ascending(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
def sort_by_key(
        keys: typing.Any,
        values: typing.Any,
        axis: int = -1,
        is_descending: bool = False,
        **common: Unpack[Common]
) -> XlaOp: ...
def sort_descending(operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
def sqrt(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def square(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def stochastic_convert(
        operand: Operand,
        random: Operand,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def stochastic_convert_type(
        operand: Operand,
        random: Operand,
        new_element_type: typing.Any,
        **common: Unpack[Common]
) -> XlaOp: ...
def sub(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def subtract(
        lhs: Operand,
        rhs: Operand,
        broadcast_dimensions: Iterable[int] = (),
        **common: Unpack[Common]
) -> XlaOp: ...
def sum(operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
def svd(a: Operand, **common: Unpack[Common]) -> XlaOp: ...
def switch(
        branch_index: Operand,
        branch_computations: Sequence[typing.Any],
        branch_operands: typing.Any,
        **common: Unpack[Common]
) -> XlaOp: ...
def symmetrize(operand: Operand, lower: bool = True, **common: Unpack[Common]) -> XlaOp: ...
def take_along(
        operand: Operand,
        indices: typing.Any,
        axis: int = 0,
        sparse: bool = True,
        **common: Unpack[Common]
) -> XlaOp: ...
def tan(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def tanh(
        operand: Operand,
        result_accuracy: typing.Any = None,
        *,
        shape: ShapeLike | None = None,
        **common: Unpack[Common]
) -> XlaOp: ...
def thomas_solver(
        lower_diagonal: typing.Any,
        main_diagonal: typing.Any,
        upper_diagonal: typing.Any,
        rhs: Operand,
        **common: Unpack[Common]
) -> XlaOp: ...
def three_fry2x32(key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def three_fry_bit_generator(
        key: typing.Any,
        initial_state: Operand,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp: ...
def top_k(operand: Operand, k: int, largest: bool = True, **common: Unpack[Common]) -> XlaOp: ...
def top_k_with_partitions(operand: Operand, k: int, num_partitions: int = 1, **common: Unpack[Common]) -> XlaOp: ...
def topk(operand: Operand, k: int, largest: bool = True, **common: Unpack[Common]) -> XlaOp: ...
def torch_gather(
        operand: Operand,
        indices: typing.Any,
        axis: int = 0,
        sparse: bool = True,
        **common: Unpack[Common]
) -> XlaOp: ...
def torch_index_select(
        operand: Operand,
        indices: typing.Any,
        axis: int = 0,
        batch_dims: int = 0,
        **common: Unpack[Common]
) -> XlaOp: ...
def torch_scatter_dense(
        input: Operand,
        index: typing.Any,
        src: typing.Any,
        dim: int,
        combiner: typing.Any,
        **common: Unpack[Common]
) -> XlaOp: ...
def transpose(operand: Operand, permutation: Iterable[int] | None = None, **common: Unpack[Common]) -> XlaOp: ...
def transpose_in_minor_dims(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def triangle(operand: Operand, lower: bool, **common: Unpack[Common]) -> XlaOp: ...
def triangle_mask(operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp: ...
def triangular_solve(
        a: Operand,
        b_: Operand,
        left_side: bool,
        lower: bool,
        unit_diagonal: bool,
        transpose_a: typing.Any = 'NO_TRANSPOSE',
        **common: Unpack[Common]
) -> XlaOp: ...
def tridiagonal_solver(
        lower_diagonal: typing.Any,
        main_diagonal: typing.Any,
        upper_diagonal: typing.Any,
        rhs: Operand,
        **common: Unpack[Common]
) -> XlaOp: ...
def tuple(*elements: Operand, **common: Unpack[Common]) -> XlaOp: ...
def uniform_floating_point_distribution(
        key: typing.Any,
        initial_state: Operand,
        bit_generator: typing.Any,
        minval: typing.Any,
        maxval: typing.Any,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp: ...
def uniform_int_distribution(
        key: typing.Any,
        initial_state: Operand,
        bit_generator: typing.Any,
        minval: typing.Any,
        maxval: typing.Any,
        shape: ShapeLike,
        **common: Unpack[Common]
) -> XlaOp: ...
def update_slice(operand: Operand, update: Operand, start: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
def update_slice_in_minor_dims(
        operand: Operand,
        update: Operand,
        start: Iterable[int],
        **common: Unpack[Common]
) -> XlaOp: ...
def upper_triangle(operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp: ...
def while_(condition: Applied, body: Applied, init: Operand, **common: Unpack[Common]) -> XlaOp: ...
def while_loop(condition: Applied, body: Applied, init: Operand, **common: Unpack[Common]) -> XlaOp: ...
def while_loop_helper(
        condition: Callable[..., typing.Any],
        body: Callable[..., typing.Any],
        initial_values: Sequence[typing.Any],
        name: str = 'while',
        **common: Unpack[Unnamed]
) -> XlaOp: ...
def xor(lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (), **common: Unpack[Common]) -> XlaOp: ...
def zero(element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
def zeros(builder: XlaBuilder, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
def zeros_like(operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
def zeta(x: typing.Any, q: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
