"""The methods of XlaBuilder. Made by `python -m hlotool.builder.stubs`: do not edit."""

import builtins
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import TypeAlias, TypedDict, Unpack

import numpy as np

from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.ir import HloComputation, HloModule, Shape

#: a value of the program, or a constant
Operand: TypeAlias = XlaOp | np.ndarray[typing.Any, typing.Any] | np.generic | complex | Sequence[typing.Any]
#: a Shape, its text, a pair of element type and dimensions, or an array of it
ShapeLike: TypeAlias = (
    Shape | str | builtins.tuple[typing.Any, ...] | list[typing.Any] | np.ndarray[typing.Any, typing.Any])
#: a computation, another builder, or a function of values
Applied: TypeAlias = XlaComputation | HloComputation | HloModule | Callable[..., typing.Any] | typing.Any


class Unnamed(TypedDict, total=False):
    """What every function takes besides its own parameters."""

    sharding: typing.Any
    metadata: typing.Any
    frontend_attributes: typing.Any
    backend_config: typing.Any
    control_predecessors: Sequence[XlaOp] | None
    statistics: typing.Any
    origin: typing.Any


class Common(Unnamed, total=False):
    """What functions take that have no parameter `name` of their own."""

    name: str | None


class Methods:
    def Abs(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Magnitude. The least integer stays itself; complex gives the component type."""
    def Acos(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Inverse cosine."""
    def Acosh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Inverse hyperbolic cosine."""
    def Add(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Sum; integers wrap; pred: or."""
    def AddDependency(
            self,
            operand: Operand,
            token: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The first operand, after the token."""
    def AfterAll(self, *tokens: Operand, **common: Unpack[Common]) -> XlaOp:
        """A token that waits for all others: `AfterAll([t, u])`."""
    def AggregateToTopKBuilder(
            self,
            operands: Sequence[typing.Any],
            init_values: Sequence[typing.Any],
            top_k: int,
            reduction_dim: int,
            comparator: Applied,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The k first along a dimension in a comparator's order: a tuple with a row of each operand."""
    def All(self, predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """Whether all predicates hold."""
    def AllGather(
            self,
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
    def AllGatherDone(
            self,
            start: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Wait for all-gather-start and give what it gathered."""
    def AllGatherStart(
            self,
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
            self,
            operand: Operand,
            computation: Applied | None = None,
            replica_groups: typing.Any = None,
            channel_id: typing.Any = None,
            shape_with_layout: ShapeLike | None = None,
            use_global_device_ids: bool | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Fold the operands of a group's members, element by element; the sum where no computation is given."""
    def AllReduceDone(
            self,
            start: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Wait for all-reduce-start and give what it computed."""
    def AllReduceStart(
            self,
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
            self,
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
            self,
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
            self,
            lhs: Operand,
            rhs: Operand,
            *others: typing.Any,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Element by element and: of bits, or of predicates; of two operands, with broadcast_dimensions, or of more."""
    def Any(self, predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """Whether one of the predicates holds."""
    def ApproxTopK(
            self,
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
            self,
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
            self,
            input_size: int,
            rank: int,
            top_k: int,
            recall_target: float,
            aggregate_to_topk: bool = True,
            input_size_override: int = -1,
            **common: Unpack[Common]
    ) -> XlaOp:
        """How many elements ApproxTopK leaves, and by which power of two it reduces (-1 where it aggregates)."""
    def ArgMax(
            self,
            operand: Operand,
            axis: int = 0,
            index_type: typing.Any = 's32',
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where the greatest element along an axis stands; the first of several."""
    def ArgMin(
            self,
            operand: Operand,
            axis: int = 0,
            index_type: typing.Any = 's32',
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where the least element along an axis stands; the first of several."""
    def ArgSort(
            self,
            operand: Operand,
            axis: int = -1,
            is_descending: bool = False,
            index_type: typing.Any = 's32',
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where the elements along an axis stand, in their order."""
    def Asin(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Inverse sine."""
    def Asinh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Inverse hyperbolic sine."""
    def AsyncDone(
            self,
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
            self,
            computation: Applied,
            *operands: Operand,
            async_execution_thread: str = '',
            **common: Unpack[Common]
    ) -> XlaOp:
        """Start a computation that goes on while others run; AsyncDone waits for it."""
    def AsyncUpdate(
            self,
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
    def Atan(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The angle whose tangent the operand is."""
    def Atan2(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Angle of the point (rhs, lhs), with the signs of zeros."""
    def Atanh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Inverse hyperbolic tangent."""
    def AvgPool(
            self,
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
            self,
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
            self,
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
            self,
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
            self,
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
            self,
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
    def BesselI0e(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """e^-|x| times the modified Bessel function I0."""
    def BesselI1e(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """e^-|x| times the modified Bessel function I1."""
    def Bitcast(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Read the operand's memory as another shape and layout (the default layout where none is written)."""
    def BitcastConvert(self, operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def BitcastConvertType(self, operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Read the bits of each element as another type; a last dimension makes up for different widths."""
    def BoxMullerTransform(self, first: typing.Any, second: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Two arrays of normal numbers, from two of numbers that are uniform in (0, 1): a tuple."""
    def Broadcast(self, operand: Operand, broadcast_sizes: Iterable[int], **common: Unpack[Common]) -> XlaOp:
        """Put dimensions of those sizes in front; the operand is repeated along them."""
    def BroadcastInDim(
            self,
            operand: Operand,
            out_dim_size: Iterable[int],
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Give the operand the sizes out_dim_size; its dimension i becomes dimension broadcast_dimensions[i]."""
    def BroadcastTo(self, operand: Operand, dims: Iterable[int], **common: Unpack[Common]) -> XlaOp:
        """The operand in other dimensions, as NumPy broadcasts: the last ones meet, and those of size 1 stretch."""
    def BuildPartitionId(self, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def Call(self, computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp:
        """Call a computation: `Call(computation, a, b)` or `Call(computation, [a, b])`."""
    def Cbrt(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Real cube root; negative for negative elements."""
    def Ceil(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Least whole number that is not below."""
    def Cholesky(
            self,
            a: Operand,
            lower: typing.Any = False,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The triangular factor of each positive definite matrix: lower L with L * L^H, or upper U with U^H * U."""
    def Clamp(self, min: Operand, operand: Operand, max: Operand, **common: Unpack[Common]) -> XlaOp:
        """Hold every element of `operand` between `min` and `max`, which are scalars or of its shape."""
    def Clz(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Zero bits above the highest set bit, within the element's own width."""
    def Collapse(self, operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp:
        """Make one dimension of several neighbours: consecutive numbers in order."""
    def CollectiveBroadcast(
            self,
            operand: Operand,
            replica_groups: typing.Any = None,
            channel_id: typing.Any = None,
            root: typing.Any = None,
            has_dynamic_root: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Every member of a group gets the first member's operand, or that of the member whose place `root`
        computes."""
    def CollectivePermute(
            self,
            operand: Operand,
            source_target_pairs: Sequence[builtins.tuple[int, int]],
            channel_id: typing.Any = None,
            inplace: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Send each source's operand to its target; who gets nothing has zeros."""
    def CollectivePermuteDone(
            self,
            start: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Wait for collective-permute-start and give what it brought."""
    def CollectivePermuteStart(
            self,
            *operands: Operand,
            source_target_pairs: typing.Any,
            channel_id: typing.Any = None,
            slice_sizes: typing.Any = None,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """collective-permute, begun: the operands, what collective-permute-done gives, and contexts."""
    def Compare(
            self,
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
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """lhs + i rhs."""
    def CompositeCall(
            self,
            computation: Applied,
            *operands: Operand,
            name: str = '',
            attributes: str | None = None,
            version: int | None = None,
            **common: Unpack[Unnamed]
    ) -> XlaOp:
        """Call a computation that stands for an operation of that name; attributes are MLIR text: "{n = 1 : i32}"."""
    def Concat(self, *operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def ConcatInDim(self, *operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp:
        """Join arrays along a dimension: `ConcatInDim([a, b], 0)`."""
    def ConcatScalars(self, scalars: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """Scalars as a vector."""
    def Concatenate(self, *operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def Conditional(
            self,
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
    def Conj(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The complex conjugate; floats stay themselves."""
    def Constant(self, literal: typing.Any, element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def ConstantLiteral(
            self,
            literal: typing.Any,
            element_type: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """A constant: a number, a list of numbers, a NumPy array, a Literal, or HLO's text of one: "f32[2] {1, 2}"."""
    def ConstantR0(self, literal: typing.Any, element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def ConstantR0WithType(self, element_type: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp:
        """A number as a scalar of an element type."""
    def ConstantR1(self, literal: typing.Any, element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def ConstantR2(self, literal: typing.Any, element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def Conv(
            self,
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
            self,
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
            self,
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
            self,
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
            self,
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
            self,
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
    def Convert(self, operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def ConvertElementType(self, operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Convert every element to another type, as C++'s static_cast does."""
    def Convolution(
            self,
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
    def Copy(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """The same value, possibly in another layout or memory."""
    def CopyDone(self, start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Wait for a copy and give it."""
    def CopyStart(
            self,
            operand: Operand,
            cross_program_prefetch_index: typing.Any = None,
            is_cross_program_prefetch: typing.Any = False,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Start a copy; copy-done gives it."""
    def Cos(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Cosine of radians."""
    def Cosh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Hyperbolic cosine."""
    def Cosine(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def CountLeadingZeros(
            self,
            operand: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def CreateScalarAddComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Add."""
    def CreateScalarAndComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: And."""
    def CreateScalarComparisonComputation(
            self,
            name: str,
            element_types: Sequence[typing.Any],
            generators: Sequence[Callable[..., XlaOp] | None],
            **common: Unpack[Unnamed]
    ) -> XlaOp:
        """A comparator of operands of those element types: by the first generator, by the next where those are
        equal, ..."""
    def CreateScalarEqComputation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """A comparator of operands of those element types: the first two are compared by Eq, in the total order of
        floats."""
    def CreateScalarGeComputation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """A comparator of operands of those element types: the first two are compared by Ge, in the total order of
        floats."""
    def CreateScalarGtComputation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """A comparator of operands of those element types: the first two are compared by Gt, in the total order of
        floats."""
    def CreateScalarIdentityWithZeroComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars that gives the other one where one is zero: Or of integers, else Add."""
    def CreateScalarLeComputation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """A comparator of operands of those element types: the first two are compared by Le, in the total order of
        floats."""
    def CreateScalarLogicalAndComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def CreateScalarLtComputation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """A comparator of operands of those element types: the first two are compared by Lt, in the total order of
        floats."""
    def CreateScalarMaxComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Max."""
    def CreateScalarMinComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Min."""
    def CreateScalarMulComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Mul."""
    def CreateScalarMultiplyComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def CreateScalarNeComputation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """A comparator of operands of those element types: the first two are compared by Ne, in the total order of
        floats."""
    def CreateScalarOrComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Or."""
    def CreateScalarXorComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Xor."""
    def CreateToken(self, **common: Unpack[Common]) -> XlaOp:
        """A token that waits for nothing."""
    def CrossReplicaSum(
            self,
            operand: Operand,
            replica_groups: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """AllReduce that adds; of pred it is or."""
    def CumulativeMax(
            self,
            operand: Operand,
            axis: int = 0,
            is_reverse: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The greatest of all elements up to each along an axis, or from each on."""
    def CumulativeProduct(
            self,
            operand: Operand,
            axis: int = 0,
            is_reverse: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Products of all elements up to each along an axis, or from each on."""
    def CumulativeSum(
            self,
            operand: Operand,
            axis: int = 0,
            is_reverse: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Sums of all elements up to each along an axis, or from each on."""
    def CustomCall(
            self,
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
            self,
            operand: Operand,
            scale: Operand,
            zero_point: typing.Any = 0.0,
            element_type: typing.Any = 'f32',
            axis: int | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The floats (operand - zero_point) * scale."""
    def DequantizePacked(
            self,
            input: Operand,
            min_in: float,
            max_in: float,
            element_type: typing.Any = 'u8',
            transpose_output: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp:
        """bf16 from what PackToUint32 packed, whose range is [min_in, max_in]: XLA's Dequantize, mode MIN_COMBINED."""
    def Digamma(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The slope of Lgamma; NaN at 0, -1, -2, ..."""
    def DisassembleTuple(self, tuple_data: Operand, **common: Unpack[Common]) -> XlaOp:
        """The elements of a tuple."""
    def Div(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Quotient; integers truncate, x / 0 has all bits set, and the least integer / -1 is itself."""
    def Divide(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def Domain(
            self,
            operand: Operand,
            domain: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The operand; marks where the sharding of values changes."""
    def Dot(
            self,
            lhs: Operand,
            rhs: Operand,
            precision_config: typing.Any = None,
            preferred_element_type: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The product of vectors and matrices."""
    def DotGeneral(
            self,
            lhs: Operand,
            rhs: Operand,
            dimension_numbers: typing.Any,
            precision_config: typing.Any = None,
            preferred_element_type: typing.Any = None,
            algorithm: str | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Sum over the contracting dimensions, for each combination of the batch dimensions and the others."""
    def DynamicConditional(self, predicate: Operand, *rest: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Conditional of branches whose results may have other sizes: they grow to the greatest, with sizes that are
        set."""
    def DynamicReshape(
            self,
            operand: Operand,
            dim_sizes: Sequence[typing.Any],
            new_size_bounds: Iterable[int],
            dims_are_dynamic: Sequence[bool],
            **common: Unpack[Common]
    ) -> XlaOp:
        """Reshape to sizes that are known when the program runs, each at most its bound."""
    def DynamicSlice(
            self,
            operand: Operand,
            start_indices: Operand,
            slice_sizes: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp:
        """Cut a block at start indices that are computed; starts are clamped so that the block fits."""
    def DynamicSliceInMinorDims(
            self,
            operand: Operand,
            starts: Sequence[typing.Any],
            sizes: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp:
        """DynamicSlice of the last dimensions, the others whole."""
    def DynamicUpdateSlice(
            self,
            operand: Operand,
            update: Operand,
            start_indices: Operand,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Overwrite a block at start indices that are computed; starts are clamped so that the block fits."""
    def DynamicUpdateSliceInMinorDims(
            self,
            operand: Operand,
            update: Operand,
            starts: Sequence[typing.Any],
            **common: Unpack[Common]
    ) -> XlaOp:
        """DynamicUpdateSlice of the last dimensions."""
    def Eigh(
            self,
            a: Operand,
            lower: bool = True,
            max_iter: int = 15,
            tol: float = 1e-05,
            sort_eigenvalues: bool = True,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Eigenvectors (columns) and eigenvalues (rising) of symmetric matrices: a tuple (v, w); A v = v diag(w)."""
    def Einsum(
            self,
            subscripts: str,
            lhs: Operand,
            rhs: typing.Any | None = None,
            precision_config: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """An Einstein sum of one operand or two: "ij,jk->ik", "ii", "...ij->...ji"."""
    def Epsilon(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The distance from 1 to the next float."""
    def Eq(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where equal, element by element; operands of different shapes are broadcast."""
    def EqTotalOrder(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where equal, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands of
        different shapes are broadcast."""
    def Erf(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Error function."""
    def ErfInv(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """What Erf takes to the operand: infinite at -1 and 1, NaN beyond."""
    def Erfc(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """1 - Erf(x), exact to 2e-7 of its value also where Erf is next to 1."""
    def EvaluateChebyshevPolynomial(
            self,
            x: typing.Any,
            coefficients: Sequence[float],
            **common: Unpack[Common]
    ) -> XlaOp:
        """The sum of Chebyshev's polynomials of x/2, the one of the highest degree first, the last halved:
        Clenshaw's."""
    def EvaluatePolynomial(self, x: typing.Any, coefficients: Sequence[float], **common: Unpack[Common]) -> XlaOp:
        """The polynomial of x with those coefficients, the one of the highest power first: Horner's scheme."""
    def Exp(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """e to the power of each element."""
    def Expm1(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """e to the power of each element, less one, exact near 0."""
    def Exponential(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def ExponentialMinusOne(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def FakeQuantize(
            self,
            operand: Operand,
            scale: Operand,
            zero_point: typing.Any = 0.0,
            element_type: typing.Any = 's8',
            axis: int | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """What is left of floats after Quantize and Dequantize."""
    def Fft(
            self,
            operand: Operand,
            fft_type: typing.Any,
            fft_length: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp:
        """Fourier transform over the last dimensions: fft_type is FFT, IFFT, RFFT or IRFFT."""
    def Floor(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Greatest whole number that is not above."""
    def ForEachIndex(
            self,
            number: typing.Any,
            body: Callable[..., typing.Any],
            init: Sequence[typing.Any],
            index_type: typing.Any = 's32',
            **common: Unpack[Common]
    ) -> XlaOp:
        """Call body(i, *values) for i in 0 ... number - 1; it gives the next values, and the loop the last ones."""
    def Full(self, shape: ShapeLike, value: Operand, **common: Unpack[Common]) -> XlaOp:
        """One number, or a scalar, in a shape."""
    def FullLike(self, operand: Operand, value: Operand, **common: Unpack[Common]) -> XlaOp:
        """One number in an operand's shape."""
    def Fusion(
            self,
            *operands: Operand,
            kind: typing.Any,
            calls: typing.Any,
            output_to_operand_aliasing: typing.Any = None,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The result of a computation that a backend compiles as one kernel."""
    def FusionCall(self, kind: str, computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp:
        """A fusion of that kind (kLoop, kInput, ...): a computation that is compiled as one."""
    def Gather(
            self,
            operand: Operand,
            start_indices: Operand,
            dimension_numbers: typing.Any,
            slice_sizes: Iterable[int],
            indices_are_sorted: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Take many slices of an operand, at start indices that an array holds."""
    def Ge(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where lhs not below rhs, element by element; operands of different shapes are broadcast."""
    def GeTotalOrder(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where lhs not below rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN;
        operands of different shapes are broadcast."""
    def Gelu(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """x times the probability that a normal number is below it."""
    def GetDiagonalMask(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
        """Where column - row is `diagonal`."""
    def GetDimensionSize(self, operand: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp:
        """The size that a dimension has when the program runs, s32[]."""
    def GetMatrixDiagonal(self, operand: Operand, k: int = 0, **common: Unpack[Common]) -> XlaOp:
        """The elements of a diagonal: the main one, the k-th above it, or the -k-th below."""
    def GetMatrixDiagonalViaGather(self, operand: Operand, k: int = 0, **common: Unpack[Common]) -> XlaOp: ...
    def GetTupleElement(self, tuple_data: Operand, index: int, **common: Unpack[Common]) -> XlaOp:
        """The element of a tuple at an index that is a number."""
    def Gt(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where lhs above rhs, element by element; operands of different shapes are broadcast."""
    def GtTotalOrder(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where lhs above rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN;
        operands of different shapes are broadcast."""
    def IdentityMatrix(
            self,
            element_type: typing.Any,
            rows: int,
            columns: int | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Ones on the diagonal, zeros elsewhere."""
    def Igamma(self, a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The lower incomplete gamma function P(a, x), between 0 and 1; NaN where a is not positive or x is
        negative."""
    def IgammaGradA(self, a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The slope of Igamma(a, x) in a."""
    def Igammac(self, a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The upper incomplete gamma function Q(a, x) = 1 - P(a, x), exact also where it is small."""
    def Imag(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Imaginary part; zeros for floats."""
    def Index(self, operand: Operand, key: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """What `operand[key]` builds: slices and numbers as NumPy reads them, values of the program as start
        indices."""
    def IndexConditional(
            self,
            branch_index: Operand,
            branch_computations: Sequence[typing.Any],
            branch_operands: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Conditional by s32[]."""
    def IndexSelect(
            self,
            operand: Operand,
            indices: typing.Any,
            axis: int = 0,
            batch_dims: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The slices along an axis that stand at the indices; the first `batch_dims` dimensions count through both."""
    def Infeed(self, shape: ShapeLike, config: str = '', **common: Unpack[Common]) -> XlaOp:
        """The next value of the infeed, after all transfers before it."""
    def InfeedWithToken(
            self,
            token: Operand,
            shape: ShapeLike,
            config: str = '',
            **common: Unpack[Common]
    ) -> XlaOp:
        """The next value of the infeed after a token, and the token after it: a tuple."""
    def Inverse(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """The inverse of square matrices."""
    def Iota(self, shape: ShapeLike, iota_dimension: int = 0, **common: Unpack[Common]) -> XlaOp:
        """Numbers that count up along one dimension; also `Iota(element_type, size)`."""
    def IsConstant(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Whether a value depends on nothing that is known only when the program runs. XLA: XlaBuilder::IsConstant."""
    def IsFinite(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Whether each element is neither infinite nor NaN."""
    def IsInf(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Where a float is infinite, of either sign."""
    def IsNan(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Where a float is not a number."""
    def IsNegInf(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Where a float is minus infinity."""
    def IsNegZero(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Where a float is -0."""
    def IsPosInf(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Where a float is plus infinity."""
    def LayerNorm(
            self,
            operand: Operand,
            scale: Operand,
            offset: Operand,
            epsilon: float = 1e-05,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Normalised along the last dimension, then scaled and moved."""
    def Le(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where lhs not above rhs, element by element; operands of different shapes are broadcast."""
    def LeTotalOrder(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where lhs not above rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN;
        operands of different shapes are broadcast."""
    def Lgamma(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The logarithm of the gamma function's magnitude."""
    def Log(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Natural logarithm."""
    def Log1p(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Natural logarithm of one more, exact near 0."""
    def LogDet(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """The logarithm of the determinant; NaN where that is negative."""
    def LogPlusOne(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def LogSoftmax(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """The logarithm of Softmax, without leaving the range of floats."""
    def Logistic(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """1 / (1 + e^-x)."""
    def LowerTriangle(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
        """The elements on and below a diagonal, zeros above."""
    def Lt(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where lhs below rhs, element by element; operands of different shapes are broadcast."""
    def LtTotalOrder(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where lhs below rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN;
        operands of different shapes are broadcast."""
    def LuDecomposition(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """P A = L U with rows exchanged so that the greatest element leads: a tuple (lu, pivots, permutation)."""
    def MakeSpatialPadding(
            self,
            input_size: Iterable[int],
            kernel_size: Iterable[int],
            stride: Iterable[int],
            padding: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The padding of each spatial dimension, before and after it, that "SAME" or "VALID" stands for."""
    def Map(
            self,
            *operands: Operand,
            computation: Applied | None = None,
            dimensions: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Apply a computation of scalars to the elements of operands: `Map([x, y], computation, dimensions)`."""
    def MapRows(
            self,
            operand: Operand,
            body: Callable[[typing.Any], typing.Any],
            axis: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Call body on each slice along an axis, one after the other, and stack what it gives along the first
        dimension."""
    def Max(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """The greater; NaN if either is; pred: or."""
    def MaxFiniteValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The greatest finite element."""
    def MaxPool(
            self,
            operand: Operand,
            kernel_size: Iterable[int],
            stride: Iterable[int] | None = None,
            padding: typing.Any = 'VALID',
            spatial_dimensions: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The greatest element of each window over the spatial dimensions: those between the first and the last."""
    def MaxPoolGrad(
            self,
            out_backprop: typing.Any,
            operand: Operand,
            kernel_size: Iterable[int],
            stride: Iterable[int] | None = None,
            padding: typing.Any = 'VALID',
            spatial_dimensions: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The gradient of MaxPool for its operand."""
    def MaxValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """What no element is above: infinity, or the greatest integer."""
    def Maximum(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def MaybeConjugate(self, x: typing.Any, conjugate: bool, **common: Unpack[Common]) -> XlaOp:
        """The complex conjugate where that is asked for and x is complex, else x."""
    def MaybeTransposeInMinorDims(self, x: typing.Any, transpose: bool, **common: Unpack[Common]) -> XlaOp:
        """The last two dimensions exchanged where that is asked for."""
    def Mean(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The mean of floats along axes; along all by default."""
    def Median(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """The element in the middle along an axis; the mean of two where their number is even."""
    def Min(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """The less; NaN if either is; pred: and."""
    def MinFiniteValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The least finite element."""
    def MinPositiveNormalValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The least float above zero that has all its digits."""
    def MinValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """What no element is below: minus infinity, or the least integer."""
    def Minimum(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def Mul(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Product; integers wrap; pred: and."""
    def Mulhi(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """The high half of the product of twice the width."""
    def MultiCollectivePermute(
            self,
            operands: Sequence[typing.Any],
            source_target_pairs: Sequence[builtins.tuple[int, int]],
            channel_id: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """CollectivePermute of several operands at once; gives a tuple."""
    def Multiply(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def NanValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Not a number."""
    def Ne(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where not equal, element by element; operands of different shapes are broadcast."""
    def NeTotalOrder(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Where not equal, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands of
        different shapes are broadcast."""
    def Neg(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Minus each element; integers wrap."""
    def Negate(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def NextAfter(self, from_: typing.Any, to: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The float after one in the direction of another."""
    def NormalFloatingPointDistribution(
            self,
            key: typing.Any,
            initial_state: Operand,
            bit_generator: typing.Any,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Normal floats, by Box's and Muller's transform of two halves of uniform ones: a tuple, with the next
        state."""
    def Not(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Logical not of pred, complement of the bits of integers."""
    def One(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The scalar 1."""
    def OneHot(
            self,
            indices: typing.Any,
            depth: int,
            element_type: typing.Any = 'f32',
            **common: Unpack[Common]
    ) -> XlaOp:
        """A new last dimension with 1 at the index, 0 elsewhere."""
    def OnesLike(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Ones of an operand's shape."""
    def OptBarrier(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def OptimizationBarrier(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The same value, that no optimisation moves anything across."""
    def Or(
            self,
            lhs: Operand,
            rhs: Operand,
            *others: typing.Any,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Element by element or: of bits, or of predicates; of two operands, with broadcast_dimensions, or of more."""
    def Outfeed(
            self,
            operand: Operand,
            shape_with_layout: ShapeLike | None = None,
            outfeed_config: str = '',
            **common: Unpack[Common]
    ) -> XlaOp:
        """Give a value to the outfeed, after all transfers before it; what it makes is a token."""
    def OutfeedWithToken(
            self,
            operand: Operand,
            token: Operand,
            shape_with_layout: ShapeLike | None = None,
            outfeed_config: str = '',
            **common: Unpack[Common]
    ) -> XlaOp:
        """Give a value to the outfeed after a token; what it makes is the token after it."""
    def PackToUint32(self, values: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Integers of 8 or 16 bits, four or two in each u32, the first one uppermost: an array of NumPy's."""
    def Pad(
            self,
            operand: Operand,
            padding_value: Operand,
            padding_config: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Put the padding value around and between the elements: (low, high, interior) for each dimension."""
    def PadInDim(
            self,
            operand: Operand,
            padding_value: Operand,
            dimno: int,
            pad_lo: int,
            pad_hi: int,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Pad one dimension."""
    def Parameter(
            self,
            parameter_number: int,
            shape: ShapeLike,
            name: str = '',
            replicated: Sequence[bool] | None = None,
            **common: Unpack[Unnamed]
    ) -> XlaOp:
        """An argument of the computation, by number; names are for people."""
    def PartitionID(self, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def PartitionId(self, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """The number of the partition, u32[]."""
    def Philox4x32(self, key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Four random words of a key of two words and a counter of four: lists of u32; gives a tuple. Ten rounds."""
    def PhiloxBitGenerator(
            self,
            key: typing.Any,
            initial_state: Operand,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Bits of Philox, from a key u64[] and a counter u64[2]: a tuple of bits and the next counter."""
    def PhiloxIncreaseCounter(self, counter: typing.Any, delta: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A counter u64[2], its low half first, greater by a number of 64 bits."""
    def Polygamma(self, n: typing.Any, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The n-th slope of Digamma, for n = 0, 1, ...; NaN for other n."""
    def Popcnt(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def PopulationCount(
            self,
            operand: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Number of bits that are 1."""
    def Pow(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """lhs to the power of rhs; x^0 is 1 for every x."""
    def Power(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def PrependMajorDims(self, starts: typing.Any, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Indices for every dimension of an operand: zeros for the first ones, then those given for the last."""
    def Product(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The product along axes; along all by default."""
    def ProductOfElementaryHouseholderReflectors(
            self,
            a: Operand,
            taus: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The columns of the product of reflections 1 - tau v v^H, whose vectors stand below the diagonal of a."""
    def QR(self, a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp:
        """A = Q R with Q orthogonal and R upper triangular: a tuple."""
    def Qr(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """R on and above the diagonal with the tails of Householder's vectors below it, and their factors: a tuple."""
    def QrDecomposition(self, a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp: ...
    def QrExplicit(self, a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp:
        """Q and R of the form that Qr gives: a tuple; Q is square, or as wide as a is at most."""
    def Quantize(
            self,
            operand: Operand,
            scale: Operand,
            zero_point: typing.Any = 0.0,
            element_type: typing.Any = 's8',
            axis: int | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The nearest integers to operand / scale + zero_point, held within the element type."""
    def RaggedAllToAll(
            self,
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
            self,
            lhs: Operand,
            rhs: Operand,
            group_sizes: Operand,
            dimension_numbers: typing.Any,
            precision_config: typing.Any = None,
            preferred_element_type: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """A product for each group of rows, of the sizes that an array holds."""
    def RandomBernoulli(self, key: typing.Any, mean: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """pred in the dimensions of a shape, true with a probability, of a key."""
    def RandomBits(self, key: typing.Any, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Random u32 or u64 in a shape, the same for the same key (u32[2], u64[] or a number)."""
    def RandomGammaGrad(self, a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """How a sample x of the gamma distribution moves with its shape a: -(dP/da) / (dP/dx)."""
    def RandomIntegers(
            self,
            key: typing.Any,
            low: int,
            high: int,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Integers in [low, high), of a key; uniform as far as the remainder of 64 bits is."""
    def RandomNormal(
            self,
            key: typing.Any,
            mu: Operand,
            sigma: Operand,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Floats, normal with mean mu and standard deviation sigma, of a key."""
    def RandomUniform(
            self,
            key: typing.Any,
            low: typing.Any,
            high: typing.Any,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Floats, uniform in [low, high), of a key."""
    def Real(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Real part; floats stay themselves."""
    def Reciprocal(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """1 / x."""
    def Recv(self, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The value that comes over a channel, after all transfers before it."""
    def RecvDone(self, context: Operand, **common: Unpack[Common]) -> XlaOp:
        """Wait for what `RecvStart` asked for: the data and a token; what `Recv` gives is there already."""
    def RecvFromHost(self, token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The value that comes from the host, and the token after it: a tuple."""
    def RecvStart(self, token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The first half of RecvWithToken, HLO's recv."""
    def RecvToHost(self, token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def RecvWithToken(
            self,
            token: Operand,
            shape: ShapeLike,
            handle: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The value that comes over a channel after a token, and the token after it: a tuple."""
    def RecvWithTokens(
            self,
            token: Operand,
            shape: ShapeLike,
            handle: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def Reduce(
            self,
            operands: Operand,
            init_values: Operand,
            computation: Applied,
            dimensions_to_reduce: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Fold operands along dimensions by a computation, from initial values; by default along all."""
    def ReduceAll(
            self,
            operand: Operand,
            init_value: Operand,
            computation: Applied,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Fold an operand along all its dimensions."""
    def ReduceMax(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The greatest element along axes; along all by default."""
    def ReduceMin(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The least element along axes; along all by default."""
    def ReducePrecision(
            self,
            operand: Operand,
            exponent_bits: typing.Any,
            mantissa_bits: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Round each element to the nearest number with so many exponent and mantissa bits, ties to even."""
    def ReduceProduct(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def ReduceScatter(
            self,
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
    def ReduceSum(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def ReduceWindow(
            self,
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
            self,
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
    def RegularizedIncompleteBeta(self, a: Operand, b_: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """I_x(a, b), the share of the beta function's integral below x; NaN outside. Source: DLMF 8.17.22."""
    def Relu(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Zero where the operand is negative."""
    def Rem(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Remainder with the sign of lhs; integers: x rem 0 is x, the least integer rem -1 is 0."""
    def Remainder(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def RemoveDynamicDimension(self, operand: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp:
        """Let a dimension have the size of its bound again."""
    def ReplicaId(self, **common: Unpack[Common]) -> XlaOp:
        """The number of the replica, u32[]."""
    def Reshape(
            self,
            operand: Operand,
            dimensions: typing.Any = None,
            inferred_dimension: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Give the elements, in row-major order, other dimensions; -1 stands for the size that is left over."""
    def Rev(self, operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp:
        """Reverse the order of the elements along those dimensions."""
    def Reverse(self, operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
    def Rng(
            self,
            a: Operand,
            b: Operand,
            distribution: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Independent random numbers: uniform in [a, b), or normal with mean a and standard deviation b."""
    def RngBitGenerator(
            self,
            algorithm: typing.Any,
            initial_state: Operand,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Random bits and the state after them: a tuple. algorithm is rng_default, rng_three_fry or rng_philox."""
    def RngGetAndUpdateState(
            self,
            delta: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The 128-bit state of the module's random numbers, low word first, advanced by delta for the next time."""
    def RngNormal(self, mu: Operand, sigma: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Independent numbers, normal with mean mu and standard deviation sigma."""
    def RngUniform(self, a: Operand, b_: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Independent numbers, uniform in [a, b)."""
    def Round(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The nearest whole number, halves away from zero."""
    def RoundNearestAfz(
            self,
            operand: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Nearest whole number, halves away from zero."""
    def RoundNearestEven(
            self,
            operand: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Nearest whole number, halves to the even one."""
    def RoundToEven(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """RoundNearestEven under the name that C++'s library has for it."""
    def Rsqrt(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """1 / square root; -0 gives -inf."""
    def SLogDet(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """The sign of the determinant and the logarithm of its magnitude: a tuple."""
    def SVD(self, a: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def ScalarLike(self, prototype: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp:
        """A number as a scalar of an operand's element type."""
    def ScaledDot(
            self,
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
            self,
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
            self,
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
    def ScramblePhiloxKey(self, key: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A counter u64[2] and a key u64[] for Philox, made of a key of any bits: a tuple."""
    def Select(self, pred: Operand, on_true: Operand, on_false: Operand, **common: Unpack[Common]) -> XlaOp:
        """Elements of `on_true` where `pred` holds, else of `on_false`; scalars are broadcast."""
    def SelectAndScatter(
            self,
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
            self,
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
            self,
            a: Operand,
            lower: bool = True,
            max_iter: int = 15,
            tol: float = 1e-05,
            sort_eigenvalues: bool = True,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def Send(self, operand: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Send a value over a channel, after all transfers before it, and wait until it is away; it makes a token."""
    def SendDone(self, context: Operand, **common: Unpack[Common]) -> XlaOp:
        """Wait until what `SendStart` began is away; what `Send` gives is away already."""
    def SendStart(self, operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The first half of SendWithToken, HLO's send."""
    def SendToHost(
            self,
            operand: Operand,
            token: Operand,
            shape_with_layout: ShapeLike | None = None,
            handle: typing.Any = 1,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Send an array to the host."""
    def SendWithToken(
            self,
            operand: Operand,
            token: Operand,
            handle: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Send a value over a channel after a token; what it makes is the token after it."""
    def SendWithTokens(
            self,
            operand: Operand,
            token: Operand,
            handle: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def SetAllDimensionSizes(
            self,
            value: Operand,
            sizes: Sequence[typing.Any] | XlaOp,
            **common: Unpack[Common]
    ) -> XlaOp:
        """SetDimensionSize of every dimension, by a list of sizes or by an array that holds them."""
    def SetDimensionSize(self, operand: Operand, val: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp:
        """Let a dimension have a size that is computed; its present size becomes the bound."""
    def SetDimensionSizeWithRebound(
            self,
            value: Operand,
            dimension_size: typing.Any,
            dimension: int,
            **common: Unpack[Common]
    ) -> XlaOp:
        """SetDimensionSize; a size that is a constant cuts the array down to it instead, and stays static."""
    def SetMatrixDiagonal(
            self,
            operand: Operand,
            diagonal: typing.Any,
            k: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp:
        """The operand with another diagonal: the main one, the k-th above it, or the -k-th below."""
    def ShiftLeft(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Bits moved up, zeros entering; past the width: 0."""
    def ShiftRightArithmetic(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Bits moved down, the highest bit entering; past the width: 0 or -1."""
    def ShiftRightLogical(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Bits moved down, zeros entering; past the width: 0."""
    def Sign(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """-1, 0 or 1; floats keep zeros and NaN, complex gives x / |x|."""
    def Silu(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """x times Logistic(x)."""
    def Sin(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Sine of radians."""
    def Sine(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def Sinh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Hyperbolic sine."""
    def Slice(
            self,
            operand: Operand,
            start_indices: Iterable[int],
            limit_indices: Iterable[int],
            strides: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Cut out the elements from start (inclusive) to limit (exclusive), every stride-th one."""
    def SliceInDim(
            self,
            operand: Operand,
            start_index: int,
            limit_index: int,
            stride: int = 1,
            dimno: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Slice along one dimension, the others whole."""
    def SliceInMinorDims(
            self,
            operand: Operand,
            start: Iterable[int],
            end: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp:
        """Slice the last dimensions, the others whole."""
    def Softmax(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """Exponentials that add up to 1 along an axis."""
    def Solve(self, a: Operand, b_: Operand, **common: Unpack[Common]) -> XlaOp:
        """x with A x = b, for square matrices A and the columns of b."""
    def Sort(
            self,
            operands: Operand,
            comparator: Applied | None = None,
            dimension: int = -1,
            is_stable: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Sort along a dimension, by default the last; several operands move together and give a tuple."""
    def SortAscending(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """The elements along an axis, rising."""
    def SortByKey(
            self,
            keys: typing.Any,
            values: typing.Any,
            axis: int = -1,
            is_descending: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Keys in order and the values that belong to them: a tuple; equal keys keep their order."""
    def SortDescending(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """The elements along an axis, falling."""
    def Sqrt(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Square root, the principal one."""
    def Square(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """x times x."""
    def StochasticConvert(
            self,
            operand: Operand,
            random: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Convert to integers, rounding away from zero with the probability that the fraction says."""
    def StochasticConvertType(
            self,
            operand: Operand,
            random: Operand,
            new_element_type: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Convert floats to a narrower type, rounding up as often as the random bits say."""
    def Sub(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Difference; integers wrap."""
    def Subtract(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def Sum(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The sum along axes; along all by default."""
    def Svd(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """Singular vectors and values: a tuple (u, s, v) with A = u diag(s) v^H, s falling, the thin form."""
    def Switch(
            self,
            branch_index: Operand,
            branch_computations: Sequence[typing.Any],
            branch_operands: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def Symmetrize(self, operand: Operand, lower: bool = True, **common: Unpack[Common]) -> XlaOp:
        """The symmetric (of complex elements Hermitian) matrices whose lower, or upper, triangle the operand holds."""
    def TakeAlong(
            self,
            operand: Operand,
            indices: typing.Any,
            axis: int = 0,
            sparse: bool = True,
            **common: Unpack[Common]
    ) -> XlaOp:
        """For each place of the indices, the element that stands there along an axis, and at that place along
        others."""
    def Tan(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Tangent of radians."""
    def Tanh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Hyperbolic tangent."""
    def ThomasSolver(
            self,
            lower_diagonal: typing.Any,
            main_diagonal: typing.Any,
            upper_diagonal: typing.Any,
            rhs: Operand,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def ThreeFry2x32(self, key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Two random words of a key of two words and a counter of two: lists of u32; gives a tuple. Twenty rounds."""
    def ThreeFryBitGenerator(
            self,
            key: typing.Any,
            initial_state: Operand,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Bits of Threefry, from a key u64[] and a state u64[1], which counts: a tuple of bits and the next state."""
    def TopK(self, operand: Operand, k: int, largest: bool = True, **common: Unpack[Common]) -> XlaOp:
        """The k greatest (or least) elements along the last dimension, and where they stood."""
    def TopKWithPartitions(
            self,
            operand: Operand,
            k: int,
            num_partitions: int = 1,
            **common: Unpack[Common]
    ) -> XlaOp:
        """TopK along the last dimension, first of each part, then of what the parts gave; the same values and
        places."""
    def Topk(self, operand: Operand, k: int, largest: bool = True, **common: Unpack[Common]) -> XlaOp: ...
    def TorchGather(
            self,
            operand: Operand,
            indices: typing.Any,
            axis: int = 0,
            sparse: bool = True,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def TorchIndexSelect(
            self,
            operand: Operand,
            indices: typing.Any,
            axis: int = 0,
            batch_dims: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def TorchScatterDense(
            self,
            input: Operand,
            index: typing.Any,
            src: typing.Any,
            dim: int,
            combiner: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp:
        """input with src combined into it: src[i][j] at index[i][j] along `dim`, at its own place along the others."""
    def Transpose(
            self,
            operand: Operand,
            permutation: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Dimension i of the result is dimension permutation[i] of the operand; by default the order is reversed."""
    def TransposeInMinorDims(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The last two dimensions exchanged."""
    def Triangle(self, operand: Operand, lower: bool, **common: Unpack[Common]) -> XlaOp:
        """The elements on and below the diagonal, or on and above it; zeros elsewhere."""
    def TriangleMask(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
        """Where column - row is at most `diagonal`."""
    def TriangularSolve(
            self,
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
            self,
            lower_diagonal: typing.Any,
            main_diagonal: typing.Any,
            upper_diagonal: typing.Any,
            rhs: Operand,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Solve systems with three diagonals, each [..., 1, n], for right sides [..., m, n]: Thomas's algorithm."""
    def Tuple(self, *elements: Operand, **common: Unpack[Common]) -> XlaOp:
        """A tuple of values: `Tuple([a, b])` or `Tuple(a, b)`."""
    def UniformFloatingPointDistribution(
            self,
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
            self,
            key: typing.Any,
            initial_state: Operand,
            bit_generator: typing.Any,
            minval: typing.Any,
            maxval: typing.Any,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp:
        """Integers in [minval, maxval), the remainders of bits: a tuple of them and the next state."""
    def UpdateSlice(
            self,
            operand: Operand,
            update: Operand,
            start: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp:
        """Overwrite a block at indices that are numbers."""
    def UpdateSliceInMinorDims(
            self,
            operand: Operand,
            update: Operand,
            start: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp:
        """Overwrite a block of the last dimensions, at indices that are numbers."""
    def UpperTriangle(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
        """The elements on and above a diagonal, zeros below."""
    def While(self, condition: Applied, body: Applied, init: Operand, **common: Unpack[Common]) -> XlaOp:
        """Apply body to a value as long as condition holds of it; a list stands for a tuple."""
    def WhileLoopHelper(
            self,
            condition: Callable[..., typing.Any],
            body: Callable[..., typing.Any],
            initial_values: Sequence[typing.Any],
            name: str = 'while',
            **common: Unpack[Unnamed]
    ) -> XlaOp:
        """Call body(*values) as long as condition(*values) holds; the values that it leaves, as a list."""
    def Xor(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp:
        """Logical exclusive or of pred, of the bits of integers."""
    def Zero(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The scalar 0."""
    def Zeros(self, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Zeros in a shape."""
    def ZerosLike(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Zeros of an operand's shape."""
    def Zeta(self, x: typing.Any, q: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Hurwitz's zeta function, the sum of (q + n)^-x for n = 0, 1, ...; NaN for x < 1. Source: DLMF 25.11.7."""
    def abs(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def acos(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def acosh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def add(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def add_dependency(
            self,
            operand: Operand,
            token: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def after_all(self, *tokens: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def aggregate_to_top_k_builder(
            self,
            operands: Sequence[typing.Any],
            init_values: Sequence[typing.Any],
            top_k: int,
            reduction_dim: int,
            comparator: Applied,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def all(self, predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def all_gather(
            self,
            operand: Operand,
            all_gather_dimension: int,
            shard_count: int,
            replica_groups: typing.Any = None,
            channel_id: typing.Any = None,
            layout: typing.Any = None,
            use_global_device_ids: bool | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def all_gather_done(
            self,
            start: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def all_gather_start(
            self,
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
            self,
            operand: Operand,
            computation: Applied | None = None,
            replica_groups: typing.Any = None,
            channel_id: typing.Any = None,
            shape_with_layout: ShapeLike | None = None,
            use_global_device_ids: bool | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def all_reduce_done(
            self,
            start: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def all_reduce_start(
            self,
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
            self,
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
            self,
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
            self,
            lhs: Operand,
            rhs: Operand,
            *others: typing.Any,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def any(self, predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def approx_top_k(
            self,
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
            self,
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
            self,
            input_size: int,
            rank: int,
            top_k: int,
            recall_target: float,
            aggregate_to_topk: bool = True,
            input_size_override: int = -1,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def arg_max(
            self,
            operand: Operand,
            axis: int = 0,
            index_type: typing.Any = 's32',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def arg_min(
            self,
            operand: Operand,
            axis: int = 0,
            index_type: typing.Any = 's32',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def arg_sort(
            self,
            operand: Operand,
            axis: int = -1,
            is_descending: bool = False,
            index_type: typing.Any = 's32',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def asin(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def asinh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def async_done(
            self,
            previous: typing.Any,
            calls: typing.Any = None,
            async_execution_thread: typing.Any = 'main',
            async_group_id: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def async_start(
            self,
            computation: Applied,
            *operands: Operand,
            async_execution_thread: str = '',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def async_update(
            self,
            previous: typing.Any,
            *operands: Operand,
            calls: typing.Any = None,
            output_to_operand_aliasing: typing.Any = None,
            async_group_id: typing.Any = None,
            async_execution_thread: typing.Any = 'main',
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def atan(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def atan2(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def atanh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def avg_pool(
            self,
            operand: Operand,
            kernel_size: Iterable[int],
            stride: Iterable[int] | None = None,
            padding: typing.Any = 'VALID',
            counts_include_padding: bool = True,
            spatial_dimensions: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def avg_pool_grad(
            self,
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
            self,
            lhs: Operand,
            rhs: Operand,
            transpose_lhs: bool = False,
            transpose_rhs: bool = False,
            precision_config: typing.Any = None,
            preferred_element_type: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def batch_norm_grad(
            self,
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
            self,
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
            self,
            operand: Operand,
            scale: Operand,
            offset: Operand,
            epsilon: typing.Any,
            feature_index: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def bessel_i0e(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def bessel_i1e(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def bitcast(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def bitcast_convert(self, operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def bitcast_convert_type(
            self,
            operand: Operand,
            new_element_type: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def box_muller_transform(self, first: typing.Any, second: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def broadcast(self, operand: Operand, broadcast_sizes: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
    def broadcast_in_dim(
            self,
            operand: Operand,
            out_dim_size: Iterable[int],
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def broadcast_to(self, operand: Operand, dims: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
    def build_partition_id(self, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def call(self, computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def cbrt(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def ceil(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def cholesky(
            self,
            a: Operand,
            lower: typing.Any = False,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def clamp(self, min: Operand, operand: Operand, max: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def clz(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def collapse(self, operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
    def collective_broadcast(
            self,
            operand: Operand,
            replica_groups: typing.Any = None,
            channel_id: typing.Any = None,
            root: typing.Any = None,
            has_dynamic_root: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def collective_permute(
            self,
            operand: Operand,
            source_target_pairs: Sequence[builtins.tuple[int, int]],
            channel_id: typing.Any = None,
            inplace: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def collective_permute_done(
            self,
            start: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def collective_permute_start(
            self,
            *operands: Operand,
            source_target_pairs: typing.Any,
            channel_id: typing.Any = None,
            slice_sizes: typing.Any = None,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def compare(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] | str = (),
            direction: str | None = None,
            type: str | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def complex(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def composite_call(
            self,
            computation: Applied,
            *operands: Operand,
            name: str = '',
            attributes: str | None = None,
            version: int | None = None,
            **common: Unpack[Unnamed]
    ) -> XlaOp: ...
    def concat(self, *operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def concat_in_dim(self, *operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def concat_scalars(self, scalars: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
    def concatenate(self, *operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def conditional(
            self,
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
    def conj(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def constant(self, literal: typing.Any, element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def constant_literal(
            self,
            literal: typing.Any,
            element_type: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def constant_r0(self, literal: typing.Any, element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def constant_r0_with_type(self, element_type: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def constant_r1(self, literal: typing.Any, element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def constant_r2(self, literal: typing.Any, element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def conv(
            self,
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
            self,
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
            self,
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
            self,
            input_size: int,
            filter_size: int,
            output_size: int,
            dilation: int,
            stride: int,
            padding: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def conv_with_general_dimensions(
            self,
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
            self,
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
    def convert(self, operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def convert_element_type(
            self,
            operand: Operand,
            new_element_type: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def convolution(
            self,
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
    def copy(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def copy_done(self, start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def copy_start(
            self,
            operand: Operand,
            cross_program_prefetch_index: typing.Any = None,
            is_cross_program_prefetch: typing.Any = False,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def cos(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def cosh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def cosine(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def count_leading_zeros(
            self,
            operand: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def create_scalar_add_computation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_and_computation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_comparison_computation(
            self,
            name: str,
            element_types: Sequence[typing.Any],
            generators: Sequence[Callable[..., XlaOp] | None],
            **common: Unpack[Unnamed]
    ) -> XlaOp: ...
    def create_scalar_eq_computation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_ge_computation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_gt_computation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_identity_with_zero_computation(
            self,
            element_type: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def create_scalar_le_computation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_logical_and_computation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_lt_computation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_max_computation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_min_computation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_mul_computation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_multiply_computation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_ne_computation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_or_computation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def create_scalar_xor_computation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def create_token(self, **common: Unpack[Common]) -> XlaOp: ...
    def cross_replica_sum(
            self,
            operand: Operand,
            replica_groups: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def cumulative_max(
            self,
            operand: Operand,
            axis: int = 0,
            is_reverse: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def cumulative_product(
            self,
            operand: Operand,
            axis: int = 0,
            is_reverse: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def cumulative_sum(
            self,
            operand: Operand,
            axis: int = 0,
            is_reverse: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def custom_call(
            self,
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
            self,
            operand: Operand,
            scale: Operand,
            zero_point: typing.Any = 0.0,
            element_type: typing.Any = 'f32',
            axis: int | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def dequantize_packed(
            self,
            input: Operand,
            min_in: float,
            max_in: float,
            element_type: typing.Any = 'u8',
            transpose_output: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def digamma(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def disassemble_tuple(self, tuple_data: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def div(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def divide(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def domain(
            self,
            operand: Operand,
            domain: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def dot(
            self,
            lhs: Operand,
            rhs: Operand,
            precision_config: typing.Any = None,
            preferred_element_type: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def dot_general(
            self,
            lhs: Operand,
            rhs: Operand,
            dimension_numbers: typing.Any,
            precision_config: typing.Any = None,
            preferred_element_type: typing.Any = None,
            algorithm: str | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def dynamic_conditional(self, predicate: Operand, *rest: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def dynamic_reshape(
            self,
            operand: Operand,
            dim_sizes: Sequence[typing.Any],
            new_size_bounds: Iterable[int],
            dims_are_dynamic: Sequence[bool],
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def dynamic_slice(
            self,
            operand: Operand,
            start_indices: Operand,
            slice_sizes: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def dynamic_slice_in_minor_dims(
            self,
            operand: Operand,
            starts: Sequence[typing.Any],
            sizes: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def dynamic_update_slice(
            self,
            operand: Operand,
            update: Operand,
            start_indices: Operand,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def dynamic_update_slice_in_minor_dims(
            self,
            operand: Operand,
            update: Operand,
            starts: Sequence[typing.Any],
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def eigh(
            self,
            a: Operand,
            lower: bool = True,
            max_iter: int = 15,
            tol: float = 1e-05,
            sort_eigenvalues: bool = True,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def einsum(
            self,
            subscripts: str,
            lhs: Operand,
            rhs: typing.Any | None = None,
            precision_config: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def epsilon(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def eq(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def eq_total_order(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def erf(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def erf_inv(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def erfc(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def evaluate_chebyshev_polynomial(
            self,
            x: typing.Any,
            coefficients: Sequence[float],
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def evaluate_polynomial(self, x: typing.Any, coefficients: Sequence[float], **common: Unpack[Common]) -> XlaOp: ...
    def exp(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def expm1(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def exponential(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def exponential_minus_one(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def fake_quantize(
            self,
            operand: Operand,
            scale: Operand,
            zero_point: typing.Any = 0.0,
            element_type: typing.Any = 's8',
            axis: int | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def fft(
            self,
            operand: Operand,
            fft_type: typing.Any,
            fft_length: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def floor(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def for_each_index(
            self,
            number: typing.Any,
            body: Callable[..., typing.Any],
            init: Sequence[typing.Any],
            index_type: typing.Any = 's32',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def full(self, shape: ShapeLike, value: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def full_like(self, operand: Operand, value: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def fusion(
            self,
            *operands: Operand,
            kind: typing.Any,
            calls: typing.Any,
            output_to_operand_aliasing: typing.Any = None,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def fusion_call(self, kind: str, computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def gather(
            self,
            operand: Operand,
            start_indices: Operand,
            dimension_numbers: typing.Any,
            slice_sizes: Iterable[int],
            indices_are_sorted: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def ge(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def ge_total_order(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def gelu(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def get_diagonal_mask(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp: ...
    def get_dimension_size(self, operand: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp: ...
    def get_matrix_diagonal(self, operand: Operand, k: int = 0, **common: Unpack[Common]) -> XlaOp: ...
    def get_matrix_diagonal_via_gather(self, operand: Operand, k: int = 0, **common: Unpack[Common]) -> XlaOp: ...
    def get_tuple_element(self, tuple_data: Operand, index: int, **common: Unpack[Common]) -> XlaOp: ...
    def gettupleelement(self, tuple_data: Operand, index: int, **common: Unpack[Common]) -> XlaOp: ...
    def gt(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def gt_total_order(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def identity_matrix(
            self,
            element_type: typing.Any,
            rows: int,
            columns: int | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def igamma(self, a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def igamma_grad_a(self, a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def igammac(self, a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def imag(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def index(self, operand: Operand, key: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def index_conditional(
            self,
            branch_index: Operand,
            branch_computations: Sequence[typing.Any],
            branch_operands: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def index_select(
            self,
            operand: Operand,
            indices: typing.Any,
            axis: int = 0,
            batch_dims: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def infeed(self, shape: ShapeLike, config: str = '', **common: Unpack[Common]) -> XlaOp: ...
    def infeed_with_token(
            self,
            token: Operand,
            shape: ShapeLike,
            config: str = '',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def inverse(self, a: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def iota(self, shape: ShapeLike, iota_dimension: int = 0, **common: Unpack[Common]) -> XlaOp: ...
    def is_constant(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def is_finite(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def is_inf(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def is_nan(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def is_neg_inf(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def is_neg_zero(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def is_pos_inf(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def layer_norm(
            self,
            operand: Operand,
            scale: Operand,
            offset: Operand,
            epsilon: float = 1e-05,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def le(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def le_total_order(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def lgamma(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def log(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def log1p(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def log_det(self, a: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def log_plus_one(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def log_softmax(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
    def logistic(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def lower_triangle(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp: ...
    def lt(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def lt_total_order(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def lu_decomposition(self, a: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def make_spatial_padding(
            self,
            input_size: Iterable[int],
            kernel_size: Iterable[int],
            stride: Iterable[int],
            padding: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def map(
            self,
            *operands: Operand,
            computation: Applied | None = None,
            dimensions: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def map_rows(
            self,
            operand: Operand,
            body: Callable[[typing.Any], typing.Any],
            axis: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def max(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def max_finite_value(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def max_pool(
            self,
            operand: Operand,
            kernel_size: Iterable[int],
            stride: Iterable[int] | None = None,
            padding: typing.Any = 'VALID',
            spatial_dimensions: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def max_pool_grad(
            self,
            out_backprop: typing.Any,
            operand: Operand,
            kernel_size: Iterable[int],
            stride: Iterable[int] | None = None,
            padding: typing.Any = 'VALID',
            spatial_dimensions: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def max_value(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def maximum(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def maybe_conjugate(self, x: typing.Any, conjugate: bool, **common: Unpack[Common]) -> XlaOp: ...
    def maybe_transpose_in_minor_dims(self, x: typing.Any, transpose: bool, **common: Unpack[Common]) -> XlaOp: ...
    def mean(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def median(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
    def min(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def min_finite_value(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def min_positive_normal_value(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def min_value(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def minimum(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def mul(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def mulhi(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def multi_collective_permute(
            self,
            operands: Sequence[typing.Any],
            source_target_pairs: Sequence[builtins.tuple[int, int]],
            channel_id: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def multiply(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def nan_value(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def ne(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def ne_total_order(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def neg(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def negate(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def next_after(self, from_: typing.Any, to: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def normal_floating_point_distribution(
            self,
            key: typing.Any,
            initial_state: Operand,
            bit_generator: typing.Any,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def not_(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def one(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def one_hot(
            self,
            indices: typing.Any,
            depth: int,
            element_type: typing.Any = 'f32',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def ones_like(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def opt_barrier(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def optimization_barrier(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def or_(
            self,
            lhs: Operand,
            rhs: Operand,
            *others: typing.Any,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def outfeed(
            self,
            operand: Operand,
            shape_with_layout: ShapeLike | None = None,
            outfeed_config: str = '',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def outfeed_with_token(
            self,
            operand: Operand,
            token: Operand,
            shape_with_layout: ShapeLike | None = None,
            outfeed_config: str = '',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def pack_to_uint32(self, values: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def pad(
            self,
            operand: Operand,
            padding_value: Operand,
            padding_config: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def pad_in_dim(
            self,
            operand: Operand,
            padding_value: Operand,
            dimno: int,
            pad_lo: int,
            pad_hi: int,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def parameter(
            self,
            parameter_number: int,
            shape: ShapeLike,
            name: str = '',
            replicated: Sequence[bool] | None = None,
            **common: Unpack[Unnamed]
    ) -> XlaOp: ...
    def partition_id(self, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def philox4x32(self, key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def philox_bit_generator(
            self,
            key: typing.Any,
            initial_state: Operand,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def philox_increase_counter(self, counter: typing.Any, delta: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def polygamma(self, n: typing.Any, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def popcnt(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def population_count(
            self,
            operand: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def pow(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def power(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def prepend_major_dims(self, starts: typing.Any, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def product(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def product_of_elementary_householder_reflectors(
            self,
            a: Operand,
            taus: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def qr(self, a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp: ...
    def qr_decomposition(self, a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp: ...
    def qr_explicit(self, a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp: ...
    def quantize(
            self,
            operand: Operand,
            scale: Operand,
            zero_point: typing.Any = 0.0,
            element_type: typing.Any = 's8',
            axis: int | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def ragged_all_to_all(
            self,
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
            self,
            lhs: Operand,
            rhs: Operand,
            group_sizes: Operand,
            dimension_numbers: typing.Any,
            precision_config: typing.Any = None,
            preferred_element_type: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def random_bernoulli(self, key: typing.Any, mean: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
    def random_bits(self, key: typing.Any, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
    def random_gamma_grad(self, a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def random_integers(
            self,
            key: typing.Any,
            low: int,
            high: int,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def random_normal(
            self,
            key: typing.Any,
            mu: Operand,
            sigma: Operand,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def random_uniform(
            self,
            key: typing.Any,
            low: typing.Any,
            high: typing.Any,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def real(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def reciprocal(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def recv(self, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def recv_done(self, context: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def recv_from_host(
            self,
            token: Operand,
            shape: ShapeLike,
            handle: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def recv_start(self, token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def recv_to_host(self, token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def recv_with_token(
            self,
            token: Operand,
            shape: ShapeLike,
            handle: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def recv_with_tokens(
            self,
            token: Operand,
            shape: ShapeLike,
            handle: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def reduce(
            self,
            operands: Operand,
            init_values: Operand,
            computation: Applied,
            dimensions_to_reduce: typing.Any = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def reduce_all(
            self,
            operand: Operand,
            init_value: Operand,
            computation: Applied,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def reduce_max(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def reduce_min(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def reduce_precision(
            self,
            operand: Operand,
            exponent_bits: typing.Any,
            mantissa_bits: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def reduce_product(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def reduce_scatter(
            self,
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
    def reduce_sum(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def reduce_window(
            self,
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
            self,
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
    def regularized_incomplete_beta(
            self,
            a: Operand,
            b_: Operand,
            x: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def relu(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def rem(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def remainder(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def remove_dynamic_dimension(self, operand: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp: ...
    def replica_id(self, **common: Unpack[Common]) -> XlaOp: ...
    def reshape(
            self,
            operand: Operand,
            dimensions: typing.Any = None,
            inferred_dimension: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def rev(self, operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
    def reverse(self, operand: Operand, dimensions: Iterable[int], **common: Unpack[Common]) -> XlaOp: ...
    def rng(
            self,
            a: Operand,
            b: Operand,
            distribution: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def rng_bit_generator(
            self,
            algorithm: typing.Any,
            initial_state: Operand,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def rng_get_and_update_state(
            self,
            delta: typing.Any,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def rng_normal(self, mu: Operand, sigma: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
    def rng_uniform(self, a: Operand, b_: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
    def round(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def round_nearest_afz(
            self,
            operand: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def round_nearest_even(
            self,
            operand: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def round_to_even(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def rsqrt(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def s_log_det(self, a: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def scalar_like(self, prototype: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def scaled_dot(
            self,
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
            self,
            operands: Operand,
            computation: Applied,
            dimension: int = 0,
            num_carries: int | None = None,
            is_reverse: bool = False,
            is_associative: bool | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def scatter(
            self,
            operands: Operand,
            scatter_indices: Operand,
            updates: Operand,
            update_computation: Applied,
            dimension_numbers: typing.Any,
            indices_are_sorted: bool = False,
            unique_indices: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def scramble_philox_key(self, key: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def select(self, pred: Operand, on_true: Operand, on_false: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def select_and_scatter(
            self,
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
            self,
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
            self,
            a: Operand,
            lower: bool = True,
            max_iter: int = 15,
            tol: float = 1e-05,
            sort_eigenvalues: bool = True,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def send(self, operand: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def send_done(self, context: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def send_start(self, operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def send_to_host(
            self,
            operand: Operand,
            token: Operand,
            shape_with_layout: ShapeLike | None = None,
            handle: typing.Any = 1,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def send_with_token(
            self,
            operand: Operand,
            token: Operand,
            handle: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def send_with_tokens(
            self,
            operand: Operand,
            token: Operand,
            handle: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def set_all_dimension_sizes(
            self,
            value: Operand,
            sizes: Sequence[typing.Any] | XlaOp,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def set_dimension_size(self, operand: Operand, val: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp: ...
    def set_dimension_size_with_rebound(
            self,
            value: Operand,
            dimension_size: typing.Any,
            dimension: int,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def set_matrix_diagonal(
            self,
            operand: Operand,
            diagonal: typing.Any,
            k: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def shift_left(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def shift_right_arithmetic(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def shift_right_logical(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def sign(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp: ...
    def silu(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def sin(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def sine(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def sinh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def slice(
            self,
            operand: Operand,
            start_indices: Iterable[int],
            limit_indices: Iterable[int],
            strides: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def slice_in_dim(
            self,
            operand: Operand,
            start_index: int,
            limit_index: int,
            stride: int = 1,
            dimno: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def slice_in_minor_dims(
            self,
            operand: Operand,
            start: Iterable[int],
            end: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def softmax(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
    def solve(self, a: Operand, b_: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def sort(
            self,
            operands: Operand,
            comparator: Applied | None = None,
            dimension: int = -1,
            is_stable: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def sort_ascending(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
    def sort_by_key(
            self,
            keys: typing.Any,
            values: typing.Any,
            axis: int = -1,
            is_descending: bool = False,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def sort_descending(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp: ...
    def sqrt(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def square(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def stochastic_convert(
            self,
            operand: Operand,
            random: Operand,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def stochastic_convert_type(
            self,
            operand: Operand,
            random: Operand,
            new_element_type: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def sub(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def subtract(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def sum(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp: ...
    def svd(self, a: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def switch(
            self,
            branch_index: Operand,
            branch_computations: Sequence[typing.Any],
            branch_operands: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def symmetrize(self, operand: Operand, lower: bool = True, **common: Unpack[Common]) -> XlaOp: ...
    def take_along(
            self,
            operand: Operand,
            indices: typing.Any,
            axis: int = 0,
            sparse: bool = True,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def tan(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def tanh(
            self,
            operand: Operand,
            result_accuracy: typing.Any = None,
            *,
            shape: ShapeLike | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def thomas_solver(
            self,
            lower_diagonal: typing.Any,
            main_diagonal: typing.Any,
            upper_diagonal: typing.Any,
            rhs: Operand,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def three_fry2x32(self, key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def three_fry_bit_generator(
            self,
            key: typing.Any,
            initial_state: Operand,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def top_k(self, operand: Operand, k: int, largest: bool = True, **common: Unpack[Common]) -> XlaOp: ...
    def top_k_with_partitions(
            self,
            operand: Operand,
            k: int,
            num_partitions: int = 1,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def topk(self, operand: Operand, k: int, largest: bool = True, **common: Unpack[Common]) -> XlaOp: ...
    def torch_gather(
            self,
            operand: Operand,
            indices: typing.Any,
            axis: int = 0,
            sparse: bool = True,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def torch_index_select(
            self,
            operand: Operand,
            indices: typing.Any,
            axis: int = 0,
            batch_dims: int = 0,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def torch_scatter_dense(
            self,
            input: Operand,
            index: typing.Any,
            src: typing.Any,
            dim: int,
            combiner: typing.Any,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def transpose(
            self,
            operand: Operand,
            permutation: Iterable[int] | None = None,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def transpose_in_minor_dims(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def triangle(self, operand: Operand, lower: bool, **common: Unpack[Common]) -> XlaOp: ...
    def triangle_mask(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp: ...
    def triangular_solve(
            self,
            a: Operand,
            b_: Operand,
            left_side: bool,
            lower: bool,
            unit_diagonal: bool,
            transpose_a: typing.Any = 'NO_TRANSPOSE',
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def tridiagonal_solver(
            self,
            lower_diagonal: typing.Any,
            main_diagonal: typing.Any,
            upper_diagonal: typing.Any,
            rhs: Operand,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def tuple(self, *elements: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def uniform_floating_point_distribution(
            self,
            key: typing.Any,
            initial_state: Operand,
            bit_generator: typing.Any,
            minval: typing.Any,
            maxval: typing.Any,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def uniform_int_distribution(
            self,
            key: typing.Any,
            initial_state: Operand,
            bit_generator: typing.Any,
            minval: typing.Any,
            maxval: typing.Any,
            shape: ShapeLike,
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def update_slice(
            self,
            operand: Operand,
            update: Operand,
            start: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def update_slice_in_minor_dims(
            self,
            operand: Operand,
            update: Operand,
            start: Iterable[int],
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def upper_triangle(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp: ...
    def while_(self, condition: Applied, body: Applied, init: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def while_loop(self, condition: Applied, body: Applied, init: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def while_loop_helper(
            self,
            condition: Callable[..., typing.Any],
            body: Callable[..., typing.Any],
            initial_values: Sequence[typing.Any],
            name: str = 'while',
            **common: Unpack[Unnamed]
    ) -> XlaOp: ...
    def xor(
            self,
            lhs: Operand,
            rhs: Operand,
            broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]
    ) -> XlaOp: ...
    def zero(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
    def zeros(self, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp: ...
    def zeros_like(self, operand: Operand, **common: Unpack[Common]) -> XlaOp: ...
    def zeta(self, x: typing.Any, q: typing.Any, **common: Unpack[Common]) -> XlaOp: ...
