"""The functions of XlaBuilder. Made by `python -m hlotool.builder.stubs`: do not edit."""

import builtins
import typing
from collections.abc import Callable, Iterable, Sequence
from typing import Unpack

from hlotool.builder.argument_types import Applied, Common, Ints, Operand, ShapeLike, Unnamed
from hlotool.builder.core import Core
from hlotool.builder.handles import XlaOp

class Methods(Core):
    def Abs(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Magnitude. The least integer stays itself; complex gives the component type."""
    def Acos(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
             **common: Unpack[Common]) -> XlaOp:
        """Inverse cosine."""
    def Acosh(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
              **common: Unpack[Common]) -> XlaOp:
        """Inverse hyperbolic cosine."""
    def Add(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """Sum; integers wrap; pred: or."""
    def AddDependency(self, operand: Operand, token: Operand, *, shape: ShapeLike | None = None,
                      **common: Unpack[Common]) -> XlaOp:
        """The first operand, after the token."""
    def AfterAll(self, *tokens: Operand, **common: Unpack[Common]) -> XlaOp:
        """A token that waits for all others: `AfterAll([t, u])`."""
    def AggregateToTopKBuilder(self, operands: Sequence[typing.Any], init_values: Sequence[typing.Any], top_k: int,
                               reduction_dim: int, comparator: Applied, **common: Unpack[Common]) -> XlaOp:
        """The k first along a dimension in a comparator's order: a tuple with a row of each operand."""
    def All(self, predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """Return true where all predicates hold."""
    def AllGather(self, operand: Operand, all_gather_dimension: int, shard_count: int,
                  replica_groups: typing.Any = None, channel_id: typing.Any = None, layout: typing.Any = None,
                  use_global_device_ids: bool | None = None, **common: Unpack[Common]) -> XlaOp:
        """Join the operands of a group's members along a dimension; shard_count is the number of members."""
    def AllGatherDone(self, start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Wait for all-gather-start and give what it gathered."""
    def AllGatherStart(self, *operands: Operand, dimensions: typing.Any, replica_groups: typing.Any = None,
                       channel_id: typing.Any = None, use_global_device_ids: typing.Any = False,
                       constrain_layout: typing.Any = False, shape: ShapeLike | None = None,
                       **common: Unpack[Common]) -> XlaOp:
        """all-gather, begun: the operands beside what all-gather-done gives."""
    def AllReduce(self, operand: Operand, computation: Applied | None = None, replica_groups: typing.Any = None,
                  channel_id: typing.Any = None, shape_with_layout: ShapeLike | None = None,
                  use_global_device_ids: bool | None = None, **common: Unpack[Common]) -> XlaOp:
        """Fold the operands of a group's members, element by element; the sum where no computation is given."""
    def AllReduceDone(self, start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Wait for all-reduce-start and give what it computed."""
    def AllReduceStart(self, *operands: Operand, to_apply: typing.Any, replica_groups: typing.Any = None,
                       channel_id: typing.Any = None, use_global_device_ids: typing.Any = False,
                       constrain_layout: typing.Any = False, shape: ShapeLike | None = None,
                       **common: Unpack[Common]) -> XlaOp:
        """all-reduce, begun; its shape is that of all-reduce itself."""
    def AllToAll(self, operand: Operand, split_dimension: int | None = None, concat_dimension: int | None = None,
                 split_count: int | None = None, replica_groups: typing.Any = None, layout: typing.Any = None,
                 channel_id: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """Cut along one dimension, send the k-th part to the k-th member, and join what arrives along another."""
    def AllToAllTuple(self, operand: Operand, split_dimension: int | None = None, concat_dimension: int | None = None,
                      split_count: int | None = None, replica_groups: typing.Any = None, layout: typing.Any = None,
                      channel_id: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """AllToAll of operands that are sent one to each member, which gives a tuple."""
    def And(self, lhs: Operand, rhs: Operand, *others: typing.Any, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """Element by element and: of bits, or of predicates; of two operands, with broadcast_dimensions, or of more."""
    def Any(self, predicates: typing.Any, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """Return true where one of the predicates holds."""
    def ApproxTopK(self, operands: Sequence[typing.Any], init_values: Sequence[typing.Any], top_k: int,
                   reduction_dim: int, comparator: Applied, recall_target: float = 0.9, aggregate_to_topk: bool = True,
                   reduction_input_size_override: int = -1, **common: Unpack[Common]) -> XlaOp:
        """The k first along a dimension in a comparator's order: a tuple with a row of each operand."""
    def ApproxTopKReductionOutputSize(self, input_size: int, rank: int, top_k: int, recall_target: float,
                                      aggregate_to_topk: bool = True, input_size_override: int = -1,
                                      **common: Unpack[Common]) -> XlaOp:
        """How many elements ApproxTopK leaves, and by which power of two it reduces (-1 where it aggregates)."""
    def ArgMax(self, operand: Operand, axis: int = 0, index_type: typing.Any = 's32',
               **common: Unpack[Common]) -> XlaOp:
        """Where the greatest element along an axis stands; the first of several."""
    def ArgMin(self, operand: Operand, axis: int = 0, index_type: typing.Any = 's32',
               **common: Unpack[Common]) -> XlaOp:
        """Where the least element along an axis stands; the first of several."""
    def ArgSort(self, operand: Operand, axis: int = -1, is_descending: bool = False, index_type: typing.Any = 's32',
                **common: Unpack[Common]) -> XlaOp:
        """Where the elements along an axis stand, in their order."""
    def Asin(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
             **common: Unpack[Common]) -> XlaOp:
        """Inverse sine."""
    def Asinh(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
              **common: Unpack[Common]) -> XlaOp:
        """Inverse hyperbolic sine."""
    def AsyncDone(self, previous: typing.Any, calls: typing.Any = None, async_execution_thread: typing.Any = 'main',
                  async_group_id: typing.Any = None, *, shape: ShapeLike | None = None,
                  **common: Unpack[Common]) -> XlaOp:
        """Wait for what async-start started and give its result."""
    def AsyncStart(self, computation: Applied, *operands: Operand, async_execution_thread: str = '',
                   **common: Unpack[Common]) -> XlaOp:
        """Start a computation that goes on while others run; AsyncDone waits for it."""
    def AsyncUpdate(self, previous: typing.Any, *operands: Operand, calls: typing.Any = None,
                    output_to_operand_aliasing: typing.Any = None, async_group_id: typing.Any = None,
                    async_execution_thread: typing.Any = 'main', shape: ShapeLike | None = None,
                    **common: Unpack[Common]) -> XlaOp:
        """A step between start and done, which may bind operands that start left out."""
    def Atan(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The angle whose tangent the operand is."""
    def Atan2(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
              **common: Unpack[Common]) -> XlaOp:
        """Angle of the point (rhs, lhs), with the signs of zeros."""
    def Atanh(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
              **common: Unpack[Common]) -> XlaOp:
        """Inverse hyperbolic tangent."""
    def AvgPool(self, operand: Operand, kernel_size: Ints, stride: Ints | None = None, padding: typing.Any = 'VALID',
                counts_include_padding: bool = True, spatial_dimensions: Ints | None = None,
                **common: Unpack[Common]) -> XlaOp:
        """The mean of each window over the spatial dimensions; padding counts as zeros, or not at all."""
    def AvgPoolGrad(self, out_backprop: typing.Any, operand: Operand, kernel_size: Ints, stride: Ints | None = None,
                    padding: typing.Any = 'VALID', counts_include_padding: bool = True,
                    spatial_dimensions: Ints | None = None, **common: Unpack[Common]) -> XlaOp:
        """The gradient of AvgPool for its operand."""
    def BatchDot(self, lhs: Operand, rhs: Operand, transpose_lhs: bool = False, transpose_rhs: bool = False,
                 precision_config: typing.Any = None, preferred_element_type: typing.Any = None,
                 **common: Unpack[Common]) -> XlaOp:
        """The product of matrices in the last two dimensions; the others count through both."""
    def BatchNormGrad(self, operand: Operand, scale: Operand, batch_mean: Operand, batch_var: Operand,
                      grad_output: Operand, epsilon: float, feature_index: int, **common: Unpack[Common]) -> XlaOp:
        """The gradients of batch normalisation: a tuple of those of operand, scale and offset."""
    def BatchNormInference(self, operand: Operand, scale: Operand, offset: Operand, mean: Operand, variance: Operand,
                           epsilon: typing.Any, feature_index: typing.Any, *, shape: ShapeLike | None = None,
                           **common: Unpack[Common]) -> XlaOp:
        """Normalise each feature by a mean and a variance that are given."""
    def BatchNormTraining(self, operand: Operand, scale: Operand, offset: Operand, epsilon: typing.Any,
                          feature_index: typing.Any, *, shape: ShapeLike | None = None,
                          **common: Unpack[Common]) -> XlaOp:
        """Normalise each feature by its own mean and variance over all other dimensions; gives those two as well."""
    def BesselI0e(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """e^-|x| times the modified Bessel function I0."""
    def BesselI1e(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """e^-|x| times the modified Bessel function I1."""
    def Bitcast(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Read the operand's memory as another shape and layout (the default layout where none is written)."""
    def BitcastConvertType(self, operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Read the bits of each element as another type; a last dimension makes up for different widths."""
    def BoxMullerTransform(self, first: typing.Any, second: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Two arrays of normal numbers, from two of numbers that are uniform in (0, 1): a tuple."""
    def Broadcast(self, operand: Operand, broadcast_sizes: Ints, **common: Unpack[Common]) -> XlaOp:
        """Put dimensions of those sizes in front; the operand is repeated along them."""
    def BroadcastInDim(self, operand: Operand, out_dim_size: Ints, broadcast_dimensions: Ints = (),
                       **common: Unpack[Common]) -> XlaOp:
        """Give the operand the sizes out_dim_size; its dimension i becomes dimension broadcast_dimensions[i]."""
    def BroadcastTo(self, operand: Operand, dims: Ints, **common: Unpack[Common]) -> XlaOp:
        """The operand in other dimensions, as NumPy broadcasts: the last ones meet, and those of size 1 stretch."""
    def Call(self, computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp:
        """Call a computation: `Call(computation, a, b)` or `Call(computation, [a, b])`."""
    def Cbrt(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
             **common: Unpack[Common]) -> XlaOp:
        """Real cube root; negative for negative elements."""
    def Ceil(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Least whole number that is not below."""
    def Cholesky(self, a: Operand, lower: typing.Any = False, *, shape: ShapeLike | None = None,
                 **common: Unpack[Common]) -> XlaOp:
        """The triangular factor of each positive definite matrix: lower L with L * L^H, or upper U with U^H * U."""
    def Clamp(self, min: Operand, operand: Operand, max: Operand, **common: Unpack[Common]) -> XlaOp:
        """Hold every element of `operand` between `min` and `max`, which are scalars or of its shape."""
    def Clz(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Zero bits above the highest set bit, within the element's own width."""
    def Collapse(self, operand: Operand, dimensions: Ints, **common: Unpack[Common]) -> XlaOp:
        """Make one dimension of several neighbours: consecutive numbers in order."""
    def CollectiveBroadcast(self, operand: Operand, replica_groups: typing.Any = None, channel_id: typing.Any = None,
                            root: typing.Any = None, has_dynamic_root: bool = False, **common: Unpack[Common]) -> XlaOp:
        """Every member of a group gets the first member's operand, or that of the member whose place `root`
        computes."""
    def CollectivePermute(self, operand: Operand, source_target_pairs: Sequence[builtins.tuple[int, int]],
                          channel_id: typing.Any = None, inplace: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """Send each source's operand to its target; who gets nothing has zeros."""
    def CollectivePermuteDone(self, start: typing.Any, *, shape: ShapeLike | None = None,
                              **common: Unpack[Common]) -> XlaOp:
        """Wait for collective-permute-start and give what it brought."""
    def CollectivePermuteStart(self, *operands: Operand, source_target_pairs: typing.Any, channel_id: typing.Any = None,
                               slice_sizes: typing.Any = None, shape: ShapeLike | None = None,
                               **common: Unpack[Common]) -> XlaOp:
        """collective-permute, begun: the operands, what collective-permute-done gives, and contexts."""
    def Compare(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] | str = (),
                direction: str | None = None, type: str | None = None, **common: Unpack[Common]) -> XlaOp:
        """Compare element by element: direction is EQ, NE, GE, GT, LE or LT; type is FLOAT, TOTALORDER, SIGNED,
        UNSIGNED."""
    def Complex(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                **common: Unpack[Common]) -> XlaOp:
        """lhs + i rhs."""
    def CompositeCall(self, computation: Applied, *operands: Operand, name: str = '', attributes: str | None = None,
                      version: int | None = None, **common: Unpack[Unnamed]) -> XlaOp:
        """Call a computation that stands for an operation of that name; attributes are MLIR text: "{n = 1 : i32}"."""
    def ConcatInDim(self, *operands: Operand, dimension: int | None = None, **common: Unpack[Common]) -> XlaOp:
        """Join arrays along a dimension: `ConcatInDim([a, b], 0)`."""
    def ConcatScalars(self, scalars: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """Scalars as a vector."""
    def Conditional(self, predicate: Operand, *rest: typing.Any, branch_computations: typing.Any = None,
                    branch_operands: typing.Any = None, true_operand: Operand | None = None,
                    true_computation: Applied | None = None, false_operand: Operand | None = None,
                    false_computation: Applied | None = None, **common: Unpack[Common]) -> XlaOp:
        """One of two computations by pred[], or one of several by s32[]."""
    def Conj(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The complex conjugate; floats stay themselves."""
    def ConstantLiteral(self, literal: typing.Any, element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """A constant: a number, a list of numbers, a NumPy array, a Literal, or HLO's text of one: "f32[2] {1, 2}"."""
    def ConstantR0WithType(self, element_type: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp:
        """A number as a scalar of an element type."""
    def Conv(self, lhs: Operand, rhs: Operand, window_strides: Ints | None = None, padding: typing.Any = 'VALID',
             feature_group_count: int = 1, batch_group_count: int = 1, precision_config: typing.Any = None,
             preferred_element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """A convolution with padding SAME or VALID; lhs is batch, feature, space..., rhs output, input, space..."""
    def ConvGeneral(self, lhs: Operand, rhs: Operand, window_strides: Ints | None = None, padding: typing.Any = None,
                    dimension_numbers: typing.Any = None, feature_group_count: int = 1, batch_group_count: int = 1,
                    precision_config: typing.Any = None, preferred_element_type: typing.Any = None,
                    **common: Unpack[Common]) -> XlaOp:
        """A convolution with padding in pairs and dimension numbers, without dilation."""
    def ConvGeneralDilated(self, lhs: Operand, rhs: Operand, window_strides: Ints | None = None,
                           padding: typing.Any = None, lhs_dilation: Ints | None = None,
                           rhs_dilation: Ints | None = None, dimension_numbers: typing.Any = None,
                           feature_group_count: int = 1, batch_group_count: int = 1,
                           precision_config: typing.Any = None, preferred_element_type: typing.Any = None,
                           window_reversal: Iterable[bool] | None = None, **common: Unpack[Common]) -> XlaOp:
        """A convolution with everything said: strides, padding, dilations of both operands, roles of the dimensions."""
    def ConvGradExtractAndVerifyDimension(self, input_size: int, filter_size: int, output_size: int, dilation: int,
                                          stride: int, padding: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Return the padding of the output's gradient in a gradient for the input, along one dimension."""
    def ConvWithGeneralDimensions(self, lhs: Operand, rhs: Operand, window_strides: Ints | None = None,
                                  padding: typing.Any = 'VALID', dimension_numbers: typing.Any = None,
                                  feature_group_count: int = 1, batch_group_count: int = 1,
                                  precision_config: typing.Any = None, preferred_element_type: typing.Any = None,
                                  **common: Unpack[Common]) -> XlaOp:
        """A convolution with padding SAME or VALID and dimension numbers."""
    def ConvWithGeneralPadding(self, lhs: Operand, rhs: Operand, window_strides: Ints | None = None,
                               padding: typing.Any = None, feature_group_count: int = 1, batch_group_count: int = 1,
                               precision_config: typing.Any = None, preferred_element_type: typing.Any = None,
                               **common: Unpack[Common]) -> XlaOp:
        """A convolution with padding in pairs; lhs is batch, feature, space..., rhs output, input, space..."""
    def ConvertElementType(self, operand: Operand, new_element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Convert every element to another type, as C++'s static_cast does."""
    def Convolution(self, lhs: Operand, rhs: Operand, *sparsity: typing.Any, dim_labels: typing.Any,
                    window: typing.Any = None, feature_group_count: typing.Any = 1, batch_group_count: typing.Any = 1,
                    operand_precision: typing.Any = None, sparsity_config: typing.Any = None,
                    convolution_kind: typing.Any = 'fprop', shape: ShapeLike | None = None,
                    **common: Unpack[Common]) -> XlaOp:
        """Slide the kernel over the image and sum the products at each place."""
    def Copy(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """The same value, possibly in another layout or memory."""
    def CopyDone(self, start: typing.Any, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Wait for a copy and give it."""
    def CopyStart(self, operand: Operand, cross_program_prefetch_index: typing.Any = None,
                  is_cross_program_prefetch: typing.Any = False, *, shape: ShapeLike | None = None,
                  **common: Unpack[Common]) -> XlaOp:
        """Start a copy; copy-done gives it."""
    def Cos(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
            **common: Unpack[Common]) -> XlaOp:
        """Cosine of radians."""
    def Cosh(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
             **common: Unpack[Common]) -> XlaOp:
        """Hyperbolic cosine."""
    def CreateScalarAddComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Add."""
    def CreateScalarAndComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: And."""
    def CreateScalarComparisonComputation(self, name: str, element_types: Sequence[typing.Any],
                                          generators: Sequence[Callable[..., XlaOp] | None],
                                          **common: Unpack[Unnamed]) -> XlaOp:
        """A comparator of operands of those element types: by the first generator, by the next where those are equal,
        ..."""
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
    def CreateScalarLtComputation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """A comparator of operands of those element types: the first two are compared by Lt, in the total order of
        floats."""
    def CreateScalarMaxComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Max."""
    def CreateScalarMinComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Min."""
    def CreateScalarMulComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Mul."""
    def CreateScalarNeComputation(self, element_types: Sequence[typing.Any], **common: Unpack[Common]) -> XlaOp:
        """A comparator of operands of those element types: the first two are compared by Ne, in the total order of
        floats."""
    def CreateScalarOrComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Or."""
    def CreateScalarXorComputation(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A computation of two scalars: Xor."""
    def CreateToken(self, **common: Unpack[Common]) -> XlaOp:
        """A token that waits for nothing."""
    def CrossReplicaSum(self, operand: Operand, replica_groups: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """AllReduce that adds; of pred it is or."""
    def CumulativeMax(self, operand: Operand, axis: int = 0, is_reverse: bool = False,
                      **common: Unpack[Common]) -> XlaOp:
        """The greatest of all elements up to each along an axis, or from each on."""
    def CumulativeProduct(self, operand: Operand, axis: int = 0, is_reverse: bool = False,
                          **common: Unpack[Common]) -> XlaOp:
        """Products of all elements up to each along an axis, or from each on."""
    def CumulativeSum(self, operand: Operand, axis: int = 0, is_reverse: bool = False,
                      **common: Unpack[Common]) -> XlaOp:
        """Sums of all elements up to each along an axis, or from each on."""
    def CustomCall(self, call_target_name: str, operands: Operand = (), shape: ShapeLike | None = None,
                   opaque: str | None = None, operand_shapes_with_layout: Iterable[typing.Any] | None = None,
                   has_side_effect: bool = False, output_operand_aliasing: typing.Any = (), literal: typing.Any = None,
                   window: typing.Any = None, dnums: typing.Any = None, schedule: typing.Any = None,
                   api_version: typing.Any = None, called_computations: Sequence[typing.Any] | None = None,
                   **common: Unpack[Common]) -> XlaOp:
        """Call a function that the platform knows by name; `opaque` is handed over as it is."""
    def Dequantize(self, operand: Operand, scale: Operand, zero_point: typing.Any = 0.0,
                   element_type: typing.Any = 'f32', axis: int | None = None, **common: Unpack[Common]) -> XlaOp:
        """The floats (operand - zero_point) * scale."""
    def DequantizePacked(self, input: Operand, min_in: float, max_in: float, element_type: typing.Any = 'u8',
                         transpose_output: bool = False, **common: Unpack[Common]) -> XlaOp:
        """bf16 from what PackToUint32 packed, whose range is [min_in, max_in]: XLA's Dequantize, mode MIN_COMBINED."""
    def Digamma(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The slope of Lgamma; NaN at 0, -1, -2, ..."""
    def DisassembleTuple(self, tuple_data: Operand, **common: Unpack[Common]) -> XlaOp:
        """The elements of a tuple."""
    def Div(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """Quotient; integers truncate, x / 0 has all bits set, and the least integer / -1 is itself."""
    def Domain(self, operand: Operand, domain: typing.Any, *, shape: ShapeLike | None = None,
               **common: Unpack[Common]) -> XlaOp:
        """The operand; marks where the sharding of values changes."""
    def Dot(self, lhs: Operand, rhs: Operand, precision_config: typing.Any = None,
            preferred_element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The product of vectors and matrices."""
    def DotGeneral(self, lhs: Operand, rhs: Operand, dimension_numbers: typing.Any, precision_config: typing.Any = None,
                   preferred_element_type: typing.Any = None, algorithm: str | None = None,
                   **common: Unpack[Common]) -> XlaOp:
        """Sum over the contracting dimensions, for each combination of the batch dimensions and the others."""
    def DynamicConditional(self, predicate: Operand, *rest: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Conditional of branches whose results may have other sizes: they grow to the greatest, with sizes that are
        set."""
    def DynamicReshape(self, operand: Operand, dim_sizes: Sequence[typing.Any], new_size_bounds: Ints,
                       dims_are_dynamic: Sequence[bool], **common: Unpack[Common]) -> XlaOp:
        """Reshape to sizes that are known when the program runs, each at most its bound."""
    def DynamicSlice(self, operand: Operand, start_indices: Operand, slice_sizes: Ints,
                     **common: Unpack[Common]) -> XlaOp:
        """Cut a block at start indices that are computed; starts are clamped so that the block fits."""
    def DynamicSliceInMinorDims(self, operand: Operand, starts: Sequence[typing.Any], sizes: Ints,
                                **common: Unpack[Common]) -> XlaOp:
        """DynamicSlice of the last dimensions, the others whole."""
    def DynamicUpdateSlice(self, operand: Operand, update: Operand, start_indices: Operand,
                           **common: Unpack[Common]) -> XlaOp:
        """Overwrite a block at start indices that are computed; starts are clamped so that the block fits."""
    def DynamicUpdateSliceInMinorDims(self, operand: Operand, update: Operand, starts: Sequence[typing.Any],
                                      **common: Unpack[Common]) -> XlaOp:
        """DynamicUpdateSlice of the last dimensions."""
    def Eigh(self, a: Operand, lower: bool = True, max_iter: int = 15, tol: float = 1e-05,
             sort_eigenvalues: bool = True, **common: Unpack[Common]) -> XlaOp:
        """Eigenvectors (columns) and eigenvalues (rising) of symmetric matrices: a tuple (v, w); A v = v diag(w)."""
    def Einsum(self, subscripts: str, lhs: Operand, rhs: typing.Any | None = None, precision_config: typing.Any = None,
               **common: Unpack[Common]) -> XlaOp:
        """An Einstein sum of one operand or two: "ij,jk->ik", "ii", "...ij->...ji"."""
    def Epsilon(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The distance from 1 to the next float."""
    def Eq(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
           **common: Unpack[Common]) -> XlaOp:
        """Where equal, element by element; operands of different shapes are broadcast."""
    def EqTotalOrder(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                     **common: Unpack[Common]) -> XlaOp:
        """Where equal, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands of
        different shapes are broadcast."""
    def Erf(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
            **common: Unpack[Common]) -> XlaOp:
        """Error function."""
    def ErfInv(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Return the value whose Erf is the operand: infinite at -1 and 1, NaN beyond."""
    def Erfc(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """1 - Erf(x), exact to 2e-7 of its value also where Erf is next to 1."""
    def EvaluateChebyshevPolynomial(self, x: typing.Any, coefficients: Sequence[float],
                                    **common: Unpack[Common]) -> XlaOp:
        """The sum of Chebyshev's polynomials of x/2, the one of the highest degree first, the last halved:
        Clenshaw's."""
    def EvaluatePolynomial(self, x: typing.Any, coefficients: Sequence[float], **common: Unpack[Common]) -> XlaOp:
        """The polynomial of x with those coefficients, the one of the highest power first: Horner's scheme."""
    def Exp(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
            **common: Unpack[Common]) -> XlaOp:
        """e to the power of each element."""
    def Expm1(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
              **common: Unpack[Common]) -> XlaOp:
        """e to the power of each element, less one, exact near 0."""
    def FakeQuantize(self, operand: Operand, scale: Operand, zero_point: typing.Any = 0.0,
                     element_type: typing.Any = 's8', axis: int | None = None, **common: Unpack[Common]) -> XlaOp:
        """Return floats after Quantize and Dequantize."""
    def Fft(self, operand: Operand, fft_type: typing.Any, fft_length: Iterable[int], **common: Unpack[Common]) -> XlaOp:
        """Fourier transform over the last dimensions: fft_type is FFT, IFFT, RFFT or IRFFT."""
    def Floor(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Greatest whole number that is not above."""
    def ForEachIndex(self, number: typing.Any, body: Callable[..., typing.Any], init: Sequence[typing.Any],
                     index_type: typing.Any = 's32', **common: Unpack[Common]) -> XlaOp:
        """Call body(i, *values) for i in 0 ... number - 1; it gives the next values, and the loop the last ones."""
    def Full(self, shape: ShapeLike, value: Operand, **common: Unpack[Common]) -> XlaOp:
        """One number, or a scalar, in a shape."""
    def FullLike(self, operand: Operand, value: Operand, **common: Unpack[Common]) -> XlaOp:
        """One number in an operand's shape."""
    def Fusion(self, *operands: Operand, kind: typing.Any, calls: typing.Any,
               output_to_operand_aliasing: typing.Any = None, shape: ShapeLike | None = None,
               **common: Unpack[Common]) -> XlaOp:
        """The result of a computation that a backend compiles as one kernel."""
    def FusionCall(self, kind: str, computation: Applied, *operands: Operand, **common: Unpack[Common]) -> XlaOp:
        """A fusion of that kind (kLoop, kInput, ...): a computation that is compiled as one."""
    def Gather(self, operand: Operand, start_indices: Operand, dimension_numbers: typing.Any, slice_sizes: Ints,
               indices_are_sorted: bool = False, **common: Unpack[Common]) -> XlaOp:
        """Take many slices of an operand, at start indices that an array holds."""
    def Ge(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
           **common: Unpack[Common]) -> XlaOp:
        """Where lhs not below rhs, element by element; operands of different shapes are broadcast."""
    def GeTotalOrder(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                     **common: Unpack[Common]) -> XlaOp:
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
    def GetTupleElement(self, tuple_data: Operand, index: int, **common: Unpack[Common]) -> XlaOp:
        """The element of a tuple at an index that is a number."""
    def Gt(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
           **common: Unpack[Common]) -> XlaOp:
        """Where lhs above rhs, element by element; operands of different shapes are broadcast."""
    def GtTotalOrder(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                     **common: Unpack[Common]) -> XlaOp:
        """Where lhs above rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands
        of different shapes are broadcast."""
    def IdentityMatrix(self, element_type: typing.Any, rows: int, columns: int | None = None,
                       **common: Unpack[Common]) -> XlaOp:
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
        """Build `operand[key]`: slices and numbers as NumPy reads them, values of the program as start indices."""
    def IndexConditional(self, branch_index: Operand, branch_computations: Sequence[typing.Any],
                         branch_operands: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Conditional by s32[]."""
    def IndexSelect(self, operand: Operand, indices: typing.Any, axis: int = 0, batch_dims: int = 0,
                    **common: Unpack[Common]) -> XlaOp:
        """The slices along an axis that stand at the indices; the first `batch_dims` dimensions count through both."""
    def Infeed(self, shape: ShapeLike, config: str = '', **common: Unpack[Common]) -> XlaOp:
        """The next value of the infeed, after all transfers before it."""
    def InfeedWithToken(self, token: Operand, shape: ShapeLike, config: str = '', **common: Unpack[Common]) -> XlaOp:
        """The next value of the infeed after a token, and the token after it: a tuple."""
    def Inverse(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """The inverse of square matrices."""
    def Iota(self, shape: ShapeLike, iota_dimension: int = 0, **common: Unpack[Common]) -> XlaOp:
        """Numbers that count up along one dimension; also `Iota(element_type, size)`."""
    def IsConstant(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Return True if a value depends on nothing that only a run knows. XLA: XlaBuilder::IsConstant."""
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
    def LayerNorm(self, operand: Operand, scale: Operand, offset: Operand, epsilon: float = 1e-05,
                  **common: Unpack[Common]) -> XlaOp:
        """Normalised along the last dimension, then scaled and moved."""
    def Le(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
           **common: Unpack[Common]) -> XlaOp:
        """Where lhs not above rhs, element by element; operands of different shapes are broadcast."""
    def LeTotalOrder(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                     **common: Unpack[Common]) -> XlaOp:
        """Where lhs not above rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN;
        operands of different shapes are broadcast."""
    def Lgamma(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The logarithm of the gamma function's magnitude."""
    def Log(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
            **common: Unpack[Common]) -> XlaOp:
        """Natural logarithm."""
    def Log1p(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
              **common: Unpack[Common]) -> XlaOp:
        """Natural logarithm of one more, exact near 0."""
    def LogDet(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """The logarithm of the determinant; NaN where that is negative."""
    def LogSoftmax(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """The logarithm of Softmax, without leaving the range of floats."""
    def Logistic(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
                 **common: Unpack[Common]) -> XlaOp:
        """1 / (1 + e^-x)."""
    def LowerTriangle(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
        """The elements on and below a diagonal, zeros above."""
    def Lt(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
           **common: Unpack[Common]) -> XlaOp:
        """Where lhs below rhs, element by element; operands of different shapes are broadcast."""
    def LtTotalOrder(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                     **common: Unpack[Common]) -> XlaOp:
        """Where lhs below rhs, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands
        of different shapes are broadcast."""
    def LuDecomposition(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """P A = L U with rows exchanged so that the greatest element leads: a tuple (lu, pivots, permutation)."""
    def MakeSpatialPadding(self, input_size: Ints, kernel_size: Ints, stride: Ints, padding: typing.Any,
                           **common: Unpack[Common]) -> XlaOp:
        """The padding of each spatial dimension, before and after it, that "SAME" or "VALID" stands for."""
    def Map(self, *operands: Operand, computation: Applied | None = None, dimensions: Ints | None = None,
            **common: Unpack[Common]) -> XlaOp:
        """Apply a computation of scalars to the elements of operands: `Map([x, y], computation, dimensions)`."""
    def MapRows(self, operand: Operand, body: Callable[[typing.Any], typing.Any], axis: int = 0,
                **common: Unpack[Common]) -> XlaOp:
        """Call body on each slice along an axis, one after the other, and stack what it gives along the first
        dimension."""
    def Max(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """The greater; NaN if either is; +0 above -0; pred: or."""
    def MaxFiniteValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The greatest finite element."""
    def MaxPool(self, operand: Operand, kernel_size: Ints, stride: Ints | None = None, padding: typing.Any = 'VALID',
                spatial_dimensions: Ints | None = None, **common: Unpack[Common]) -> XlaOp:
        """The greatest element of each window over the spatial dimensions: those between the first and the last."""
    def MaxPoolGrad(self, out_backprop: typing.Any, operand: Operand, kernel_size: Ints, stride: Ints | None = None,
                    padding: typing.Any = 'VALID', spatial_dimensions: Ints | None = None,
                    **common: Unpack[Common]) -> XlaOp:
        """The gradient of MaxPool for its operand."""
    def MaxValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Return the greatest value of an element type: infinity, or the greatest integer."""
    def MaybeConjugate(self, x: typing.Any, conjugate: bool, **common: Unpack[Common]) -> XlaOp:
        """The complex conjugate where that is asked for and x is complex, else x."""
    def MaybeTransposeInMinorDims(self, x: typing.Any, transpose: bool, **common: Unpack[Common]) -> XlaOp:
        """The last two dimensions exchanged where that is asked for."""
    def Mean(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The mean of floats along axes; along all by default."""
    def Median(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """The element in the middle along an axis; the mean of two where their number is even."""
    def Min(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """The less; NaN if either is; -0 below +0; pred: and."""
    def MinFiniteValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The least finite element."""
    def MinPositiveNormalValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The least float above zero that has all its digits."""
    def MinValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Return the least value of an element type: minus infinity, or the least integer."""
    def Mul(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """Product; integers wrap; pred: and."""
    def Mulhi(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
              **common: Unpack[Common]) -> XlaOp:
        """The high half of the product of twice the width."""
    def MultiCollectivePermute(self, operands: Sequence[typing.Any],
                               source_target_pairs: Sequence[builtins.tuple[int, int]], channel_id: typing.Any = None,
                               **common: Unpack[Common]) -> XlaOp:
        """CollectivePermute of several operands at once; gives a tuple."""
    def NanValue(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Not a number."""
    def Ne(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
           **common: Unpack[Common]) -> XlaOp:
        """Where not equal, element by element; operands of different shapes are broadcast."""
    def NeTotalOrder(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                     **common: Unpack[Common]) -> XlaOp:
        """Where not equal, element by element in the order -NaN < -inf < -1 < -0 < +0 < 1 < +inf < +NaN; operands of
        different shapes are broadcast."""
    def Neg(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Minus each element; integers wrap."""
    def NextAfter(self, from_: typing.Any, to: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The float after one in the direction of another."""
    def NormalFloatingPointDistribution(self, key: typing.Any, initial_state: Operand, bit_generator: typing.Any,
                                        shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Normal floats, by Box's and Muller's transform of two halves of uniform ones: a tuple, with the next
        state."""
    def Not(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Logical not of pred, complement of the bits of integers."""
    def One(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The scalar 1."""
    def OneHot(self, indices: typing.Any, depth: int, element_type: typing.Any = 'f32',
               **common: Unpack[Common]) -> XlaOp:
        """A new last dimension with 1 at the index, 0 elsewhere."""
    def OnesLike(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Ones of an operand's shape."""
    def OptimizationBarrier(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The same value, that no optimisation moves anything across."""
    def Or(self, lhs: Operand, rhs: Operand, *others: typing.Any, broadcast_dimensions: Iterable[int] = (),
           **common: Unpack[Common]) -> XlaOp:
        """Element by element or: of bits, or of predicates; of two operands, with broadcast_dimensions, or of more."""
    def Outfeed(self, operand: Operand, shape_with_layout: ShapeLike | None = None, outfeed_config: str = '',
                **common: Unpack[Common]) -> XlaOp:
        """Give a value to the outfeed, after all transfers before it; what it makes is a token."""
    def OutfeedWithToken(self, operand: Operand, token: Operand, shape_with_layout: ShapeLike | None = None,
                         outfeed_config: str = '', **common: Unpack[Common]) -> XlaOp:
        """Give a value to the outfeed after a token; what it makes is the token after it."""
    def PackToUint32(self, values: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Integers of 8 or 16 bits, four or two in each u32, the first one uppermost: an array of NumPy's."""
    def Pad(self, operand: Operand, padding_value: Operand, padding_config: typing.Any,
            **common: Unpack[Common]) -> XlaOp:
        """Put the padding value around and between the elements: (low, high, interior) for each dimension."""
    def PadInDim(self, operand: Operand, padding_value: Operand, dimno: int, pad_lo: int, pad_hi: int,
                 **common: Unpack[Common]) -> XlaOp:
        """Pad one dimension."""
    def Parameter(self, parameter_number: int, shape: ShapeLike, name: str = '',
                  replicated: Sequence[bool] | None = None, **common: Unpack[Unnamed]) -> XlaOp:
        """An argument of the computation, by number; names are for people."""
    def PartitionId(self, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """The number of the partition, u32[]."""
    def Philox4x32(self, key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Four random words of a key of two words and a counter of four: lists of u32; gives a tuple. Ten rounds."""
    def PhiloxBitGenerator(self, key: typing.Any, initial_state: Operand, shape: ShapeLike,
                           **common: Unpack[Common]) -> XlaOp:
        """Bits of Philox, from a key u64[] and a counter u64[2]: a tuple of bits and the next counter."""
    def PhiloxIncreaseCounter(self, counter: typing.Any, delta: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A counter u64[2], its low half first, greater by a number of 64 bits."""
    def Polygamma(self, n: typing.Any, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The n-th slope of Digamma, for n = 0, 1, ...; NaN for other n."""
    def PopulationCount(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Number of bits that are 1."""
    def Pow(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """lhs to the power of rhs; x^0 is 1 for every x."""
    def PrependMajorDims(self, starts: typing.Any, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Indices for every dimension of an operand: zeros for the first ones, then those given for the last."""
    def Product(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The product along axes; along all by default."""
    def ProductOfElementaryHouseholderReflectors(self, a: Operand, taus: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The columns of the product of reflections 1 - tau v v^H, whose vectors stand below the diagonal of a."""
    def QR(self, a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp:
        """A = Q R with Q orthogonal and R upper triangular: a tuple."""
    def Qr(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """R on and above the diagonal with the tails of Householder's vectors below it, and their factors: a tuple."""
    def QrExplicit(self, a: Operand, full_matrices: bool = True, **common: Unpack[Common]) -> XlaOp:
        """Q and R of the form that Qr gives: a tuple; Q is square, or as wide as a is at most."""
    def Quantize(self, operand: Operand, scale: Operand, zero_point: typing.Any = 0.0, element_type: typing.Any = 's8',
                 axis: int | None = None, **common: Unpack[Common]) -> XlaOp:
        """The nearest integers to operand / scale + zero_point, held within the element type."""
    def RaggedAllToAll(self, input: Operand, input_offsets: Operand, send_sizes: Operand, output: Operand,
                       output_offsets: Operand, recv_sizes: Operand, replica_groups: typing.Any = None,
                       channel_id: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """Send slices of different sizes to the members of a group, which place them in `output`."""
    def RaggedDot(self, lhs: Operand, rhs: Operand, group_sizes: Operand, dimension_numbers: typing.Any,
                  precision_config: typing.Any = None, preferred_element_type: typing.Any = None,
                  **common: Unpack[Common]) -> XlaOp:
        """A product for each group of rows, of the sizes that an array holds."""
    def RandomBernoulli(self, key: typing.Any, mean: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """pred in the dimensions of a shape, true with a probability, of a key."""
    def RandomBits(self, key: typing.Any, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Random u32 or u64 in a shape, the same for the same key (u32[2], u64[] or a number)."""
    def RandomGammaGrad(self, a: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """How a sample x of the gamma distribution moves with its shape a: -(dP/da) / (dP/dx)."""
    def RandomIntegers(self, key: typing.Any, low: int, high: int, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Integers in [low, high), of a key; uniform as far as the remainder of 64 bits is."""
    def RandomNormal(self, key: typing.Any, mu: Operand, sigma: Operand, shape: ShapeLike,
                     **common: Unpack[Common]) -> XlaOp:
        """Floats, normal with mean mu and standard deviation sigma, of a key."""
    def RandomUniform(self, key: typing.Any, low: typing.Any, high: typing.Any, shape: ShapeLike,
                      **common: Unpack[Common]) -> XlaOp:
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
    def RecvWithToken(self, token: Operand, shape: ShapeLike, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The value that comes over a channel after a token, and the token after it: a tuple."""
    def Reduce(self, operands: Operand, init_values: Operand, computation: Applied,
               dimensions_to_reduce: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """Fold operands along dimensions by a computation, from initial values; by default along all."""
    def ReduceAll(self, operand: Operand, init_value: Operand, computation: Applied, **common: Unpack[Common]) -> XlaOp:
        """Fold an operand along all its dimensions."""
    def ReduceMax(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The greatest element along axes; along all by default."""
    def ReduceMin(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The least element along axes; along all by default."""
    def ReducePrecision(self, operand: Operand, exponent_bits: typing.Any, mantissa_bits: typing.Any, *,
                        shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Round each element to the nearest number with so many exponent and mantissa bits, ties to even."""
    def ReduceScatter(self, operand: Operand, computation: Applied, scatter_dimension: int, shard_count: int,
                      replica_groups: typing.Any = None, channel_id: typing.Any = None, layout: typing.Any = None,
                      use_global_device_ids: bool | None = None, **common: Unpack[Common]) -> XlaOp:
        """AllReduce, of whose result each member keeps its part along a dimension."""
    def ReduceWindow(self, operands: Operand, init_values: Operand, computation: Applied, window_dimensions: Ints,
                     window_strides: Ints | None = None, padding: typing.Any = 'VALID',
                     base_dilations: Ints | None = None, window_dilations: Ints | None = None,
                     **common: Unpack[Common]) -> XlaOp:
        """Fold what a window covers at each place; padding is SAME, VALID or pairs, and counts as the initial value."""
    def ReduceWindowWithGeneralPadding(self, operands: Operand, init_values: Operand, computation: Applied,
                                       window_dimensions: Ints, window_strides: Ints | None = None,
                                       base_dilations: Ints | None = None, window_dilations: Ints | None = None,
                                       padding: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """ReduceWindow in the order of the C++ function, with padding in pairs."""
    def RegularizedIncompleteBeta(self, a: Operand, b_: Operand, x: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """I_x(a, b), the share of the beta function's integral below x; NaN outside. Source: DLMF 8.17.22."""
    def Relu(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Zero where the operand is negative."""
    def Rem(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """Remainder with the sign of lhs; integers: x rem 0 is x, the least integer rem -1 is 0."""
    def RemoveDynamicDimension(self, operand: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp:
        """Let a dimension have the size of its bound again."""
    def ReplicaId(self, **common: Unpack[Common]) -> XlaOp:
        """The number of the replica, u32[]."""
    def Reshape(self, operand: Operand, dimensions: typing.Any = None, inferred_dimension: typing.Any = None, *,
                shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Give the elements, in row-major order, other dimensions; -1 stands for the size that is left over."""
    def Rev(self, operand: Operand, dimensions: Ints, **common: Unpack[Common]) -> XlaOp:
        """Reverse the order of the elements along those dimensions."""
    def Rng(self, a: Operand, b: Operand, distribution: typing.Any, *, shape: ShapeLike | None = None,
            **common: Unpack[Common]) -> XlaOp:
        """Independent random numbers: uniform in [a, b), or normal with mean a and standard deviation b."""
    def RngBitGenerator(self, algorithm: typing.Any, initial_state: Operand, shape: ShapeLike,
                        **common: Unpack[Common]) -> XlaOp:
        """Random bits and the state after them: a tuple. algorithm is rng_default, rng_three_fry or rng_philox."""
    def RngGetAndUpdateState(self, delta: typing.Any, *, shape: ShapeLike | None = None,
                             **common: Unpack[Common]) -> XlaOp:
        """The 128-bit state of the module's random numbers, low word first, advanced by delta for the next time."""
    def RngNormal(self, mu: Operand, sigma: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Independent numbers, normal with mean mu and standard deviation sigma."""
    def RngUniform(self, a: Operand, b_: Operand, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Independent numbers, uniform in [a, b)."""
    def Round(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The nearest whole number, halves away from zero."""
    def RoundNearestAfz(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Nearest whole number, halves away from zero."""
    def RoundNearestEven(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """Nearest whole number, halves to the even one."""
    def RoundToEven(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """RoundNearestEven under the name that C++'s library has for it."""
    def Rsqrt(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
              **common: Unpack[Common]) -> XlaOp:
        """1 / square root; -0 gives -inf."""
    def SLogDet(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """The sign of the determinant and the logarithm of its magnitude: a tuple."""
    def ScalarLike(self, prototype: typing.Any, value: Operand, **common: Unpack[Common]) -> XlaOp:
        """A number as a scalar of an operand's element type."""
    def ScaledDot(self, lhs: Operand, lhs_scale: Operand, rhs: Operand, rhs_scale: Operand,
                  dimension_number: typing.Any, precision_config: typing.Any = None,
                  preferred_element_type: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """DotGeneral of operands that are multiplied by scales, block by block."""
    def Scan(self, operands: Operand, computation: Applied, dimension: int = 0, num_carries: int | None = None,
             is_reverse: bool = False, is_associative: bool | None = None, **common: Unpack[Common]) -> XlaOp:
        """Run a computation along a dimension, handing carries on: inputs first, then the initial carries."""
    def Scatter(self, operands: Operand, scatter_indices: Operand, updates: Operand, update_computation: Applied,
                dimension_numbers: typing.Any, indices_are_sorted: bool = False, unique_indices: bool = False,
                **common: Unpack[Common]) -> XlaOp:
        """Combine updates into operands at indices that an array holds, by a computation."""
    def ScramblePhiloxKey(self, key: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """A counter u64[2] and a key u64[] for Philox, made of a key of any bits: a tuple."""
    def Select(self, pred: Operand, on_true: Operand, on_false: Operand, **common: Unpack[Common]) -> XlaOp:
        """Elements of `on_true` where `pred` holds, else of `on_false`; scalars are broadcast."""
    def SelectAndScatter(self, operand: Operand, select: Applied, window_dimensions: Ints, window_strides: Ints | None,
                         padding: typing.Any, source: Operand, init_value: Operand, scatter: Applied,
                         **common: Unpack[Common]) -> XlaOp:
        """In each window one element is selected, and an element of source is scattered to it."""
    def SelectAndScatterWithGeneralPadding(self, operand: Operand, select: Applied, window_dimensions: Ints,
                                           window_strides: Ints | None, padding: typing.Any, source: Operand,
                                           init_value: Operand, scatter: Applied, **common: Unpack[Common]) -> XlaOp:
        """SelectAndScatter with padding in pairs."""
    def Send(self, operand: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Send a value over a channel, after all transfers before it, and wait until it is away; it makes a token."""
    def SendDone(self, context: Operand, **common: Unpack[Common]) -> XlaOp:
        """Wait until what `SendStart` began is away; what `Send` gives is away already."""
    def SendStart(self, operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The first half of SendWithToken, HLO's send."""
    def SendToHost(self, operand: Operand, token: Operand, shape_with_layout: ShapeLike | None = None,
                   handle: typing.Any = 1, **common: Unpack[Common]) -> XlaOp:
        """Send an array to the host."""
    def SendWithToken(self, operand: Operand, token: Operand, handle: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Send a value over a channel after a token; what it makes is the token after it."""
    def SetAllDimensionSizes(self, value: Operand, sizes: Sequence[typing.Any] | XlaOp,
                             **common: Unpack[Common]) -> XlaOp:
        """SetDimensionSize of every dimension, by a list of sizes or by an array that holds them."""
    def SetDimensionSize(self, operand: Operand, val: Operand, dimension: int, **common: Unpack[Common]) -> XlaOp:
        """Let a dimension have a size that is computed; its present size becomes the bound."""
    def SetDimensionSizeWithRebound(self, value: Operand, dimension_size: typing.Any, dimension: int,
                                    **common: Unpack[Common]) -> XlaOp:
        """SetDimensionSize; a size that is a constant cuts the array down to it instead, and stays static."""
    def SetMatrixDiagonal(self, operand: Operand, diagonal: typing.Any, k: int = 0, **common: Unpack[Common]) -> XlaOp:
        """The operand with another diagonal: the main one, the k-th above it, or the -k-th below."""
    def ShiftLeft(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                  **common: Unpack[Common]) -> XlaOp:
        """Bits moved up, zeros entering; past the width: 0."""
    def ShiftRightArithmetic(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                             **common: Unpack[Common]) -> XlaOp:
        """Bits moved down, the highest bit entering; past the width: 0 or -1."""
    def ShiftRightLogical(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
                          **common: Unpack[Common]) -> XlaOp:
        """Bits moved down, zeros entering; past the width: 0."""
    def Sign(self, operand: Operand, *, shape: ShapeLike | None = None, **common: Unpack[Common]) -> XlaOp:
        """-1, 0 or 1; floats keep zeros and NaN, complex gives x / |x|."""
    def Silu(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """x times Logistic(x)."""
    def Sin(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
            **common: Unpack[Common]) -> XlaOp:
        """Sine of radians."""
    def Sinh(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
             **common: Unpack[Common]) -> XlaOp:
        """Hyperbolic sine."""
    def Slice(self, operand: Operand, start_indices: Ints, limit_indices: Ints, strides: Ints | None = None,
              **common: Unpack[Common]) -> XlaOp:
        """Cut out the elements from start (inclusive) to limit (exclusive), every stride-th one."""
    def SliceInDim(self, operand: Operand, start_index: int, limit_index: int, stride: int = 1, dimno: int = 0,
                   **common: Unpack[Common]) -> XlaOp:
        """Slice along one dimension, the others whole."""
    def SliceInMinorDims(self, operand: Operand, start: Ints, end: Ints, **common: Unpack[Common]) -> XlaOp:
        """Slice the last dimensions, the others whole."""
    def Softmax(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """Exponentials that add up to 1 along an axis."""
    def Solve(self, a: Operand, b_: Operand, **common: Unpack[Common]) -> XlaOp:
        """x with A x = b, for square matrices A and the columns of b."""
    def Sort(self, operands: Operand, comparator: Applied | None = None, dimension: int = -1, is_stable: bool = False,
             **common: Unpack[Common]) -> XlaOp:
        """Sort along a dimension, by default the last; several operands move together and give a tuple."""
    def SortAscending(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """The elements along an axis, rising."""
    def SortByKey(self, keys: typing.Any, values: typing.Any, axis: int = -1, is_descending: bool = False,
                  **common: Unpack[Common]) -> XlaOp:
        """Keys in order and the values that belong to them: a tuple; equal keys keep their order."""
    def SortDescending(self, operand: Operand, axis: int = -1, **common: Unpack[Common]) -> XlaOp:
        """The elements along an axis, falling."""
    def Sqrt(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
             **common: Unpack[Common]) -> XlaOp:
        """Square root, the principal one."""
    def Square(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """x times x."""
    def StochasticConvert(self, operand: Operand, random: Operand, *, shape: ShapeLike | None = None,
                          **common: Unpack[Common]) -> XlaOp:
        """Convert to integers, rounding away from zero with the probability that the fraction says."""
    def StochasticConvertType(self, operand: Operand, random: Operand, new_element_type: typing.Any,
                              **common: Unpack[Common]) -> XlaOp:
        """Convert floats to a narrower type, rounding up as often as the random bits say."""
    def Sub(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """Difference; integers wrap."""
    def Sum(self, operand: Operand, axes: typing.Any = None, **common: Unpack[Common]) -> XlaOp:
        """The sum along axes; along all by default."""
    def Svd(self, a: Operand, **common: Unpack[Common]) -> XlaOp:
        """Singular vectors and values: a tuple (u, s, v) with A = u diag(s) v^H, s falling, the thin form."""
    def Symmetrize(self, operand: Operand, lower: bool = True, **common: Unpack[Common]) -> XlaOp:
        """The symmetric (of complex elements Hermitian) matrices whose lower, or upper, triangle the operand holds."""
    def TakeAlong(self, operand: Operand, indices: typing.Any, axis: int = 0, sparse: bool = True,
                  **common: Unpack[Common]) -> XlaOp:
        """For each place of the indices, the element that stands there along an axis, and at that place along
        others."""
    def Tan(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
            **common: Unpack[Common]) -> XlaOp:
        """Tangent of radians."""
    def Tanh(self, operand: Operand, result_accuracy: typing.Any = None, *, shape: ShapeLike | None = None,
             **common: Unpack[Common]) -> XlaOp:
        """Hyperbolic tangent."""
    def ThreeFry2x32(self, key: typing.Any, counter: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Two random words of a key of two words and a counter of two: lists of u32; gives a tuple. Twenty rounds."""
    def ThreeFryBitGenerator(self, key: typing.Any, initial_state: Operand, shape: ShapeLike,
                             **common: Unpack[Common]) -> XlaOp:
        """Bits of Threefry, from a key u64[] and a state u64[1], which counts: a tuple of bits and the next state."""
    def TopK(self, operand: Operand, k: int, largest: bool = True, index_type: typing.Any = 's32',
             **common: Unpack[Common]) -> XlaOp:
        """The k greatest (or least) elements along the last dimension, and where they stood, as integers of
        `index_type`."""
    def TopKWithPartitions(self, operand: Operand, k: int, num_partitions: int = 1, **common: Unpack[Common]) -> XlaOp:
        """TopK along the last dimension, first of each part, then of what the parts gave; the same values and
        places."""
    def TorchScatterDense(self, input: Operand, index: typing.Any, src: typing.Any, dim: int, combiner: typing.Any,
                          **common: Unpack[Common]) -> XlaOp:
        """input with src combined into it: src[i][j] at index[i][j] along `dim`, at its own place along the others."""
    def Transpose(self, operand: Operand, permutation: Ints | None = None, **common: Unpack[Common]) -> XlaOp:
        """Dimension i of the result is dimension permutation[i] of the operand; by default the order is reversed."""
    def TransposeInMinorDims(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """The last two dimensions exchanged."""
    def Triangle(self, operand: Operand, lower: bool, **common: Unpack[Common]) -> XlaOp:
        """The elements on and below the diagonal, or on and above it; zeros elsewhere."""
    def TriangleMask(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
        """Where column - row is at most `diagonal`."""
    def TriangularSolve(self, a: Operand, b_: Operand, left_side: bool, lower: bool, unit_diagonal: bool,
                        transpose_a: typing.Any = 'NO_TRANSPOSE', **common: Unpack[Common]) -> XlaOp:
        """Solve op(a) x = b (left_side) or x op(a) = b for a triangular a."""
    def TridiagonalMatMul(self, upper_diagonal: typing.Any, main_diagonal: typing.Any, lower_diagonal: typing.Any,
                          rhs: Operand, **common: Unpack[Common]) -> XlaOp:
        """Multiply matrices with three diagonals, each [..., 1, m], by matrices [..., m, n]."""
    def TridiagonalSolver(self, lower_diagonal: typing.Any, main_diagonal: typing.Any, upper_diagonal: typing.Any,
                          rhs: Operand, **common: Unpack[Common]) -> XlaOp:
        """Solve systems with three diagonals, each [..., 1, n], for right sides [..., m, n]: Thomas's algorithm."""
    def Tuple(self, *elements: Operand, **common: Unpack[Common]) -> XlaOp:
        """A tuple of values: `Tuple([a, b])` or `Tuple(a, b)`."""
    def UniformFloatingPointDistribution(self, key: typing.Any, initial_state: Operand, bit_generator: typing.Any,
                                         minval: typing.Any, maxval: typing.Any, shape: ShapeLike,
                                         **common: Unpack[Common]) -> XlaOp:
        """Floats in [minval, maxval): a tuple of them and the next state."""
    def UniformIntDistribution(self, key: typing.Any, initial_state: Operand, bit_generator: typing.Any,
                               minval: typing.Any, maxval: typing.Any, shape: ShapeLike,
                               **common: Unpack[Common]) -> XlaOp:
        """Integers in [minval, maxval), the remainders of bits: a tuple of them and the next state."""
    def UpdateSlice(self, operand: Operand, update: Operand, start: Ints, **common: Unpack[Common]) -> XlaOp:
        """Overwrite a block at indices that are numbers."""
    def UpdateSliceInMinorDims(self, operand: Operand, update: Operand, start: Ints, **common: Unpack[Common]) -> XlaOp:
        """Overwrite a block of the last dimensions, at indices that are numbers."""
    def UpperTriangle(self, operand: Operand, diagonal: int = 0, **common: Unpack[Common]) -> XlaOp:
        """The elements on and above a diagonal, zeros below."""
    def While(self, condition: Applied, body: Applied, init: Operand, **common: Unpack[Common]) -> XlaOp:
        """Apply body to a value as long as condition holds of it; a list stands for a tuple."""
    def WhileLoopHelper(self, condition: Callable[..., typing.Any], body: Callable[..., typing.Any],
                        initial_values: Sequence[typing.Any], name: str = 'while', **common: Unpack[Unnamed]) -> XlaOp:
        """Call body(*values) as long as condition(*values) holds; the values that it leaves, as a list."""
    def Xor(self, lhs: Operand, rhs: Operand, broadcast_dimensions: Iterable[int] = (),
            **common: Unpack[Common]) -> XlaOp:
        """Logical exclusive or of pred, of the bits of integers."""
    def Zero(self, element_type: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """The scalar 0."""
    def Zeros(self, shape: ShapeLike, **common: Unpack[Common]) -> XlaOp:
        """Zeros in a shape."""
    def ZerosLike(self, operand: Operand, **common: Unpack[Common]) -> XlaOp:
        """Zeros of an operand's shape."""
    def Zeta(self, x: typing.Any, q: typing.Any, **common: Unpack[Common]) -> XlaOp:
        """Hurwitz's zeta function, the sum of (q + n)^-x for n = 0, 1, ...; NaN for x < 1. Source: DLMF 25.11.7."""
    ApproxTopKFallback = ApproxTopK
    BitcastConvert = BitcastConvertType
    BuildPartitionId = PartitionId
    Concat = ConcatInDim
    Concatenate = ConcatInDim
    Constant = ConstantLiteral
    ConstantR0 = ConstantLiteral
    ConstantR1 = ConstantLiteral
    ConstantR2 = ConstantLiteral
    Convert = ConvertElementType
    Cosine = Cos
    CountLeadingZeros = Clz
    CreateScalarLogicalAndComputation = CreateScalarAndComputation
    CreateScalarMultiplyComputation = CreateScalarMulComputation
    Divide = Div
    Exponential = Exp
    ExponentialMinusOne = Expm1
    GetMatrixDiagonalViaGather = GetMatrixDiagonal
    LogPlusOne = Log1p
    Maximum = Max
    Minimum = Min
    Multiply = Mul
    Negate = Neg
    OptBarrier = OptimizationBarrier
    PartitionID = PartitionId
    Popcnt = PopulationCount
    Power = Pow
    QrDecomposition = QR
    RecvToHost = RecvFromHost
    RecvWithTokens = RecvWithToken
    ReduceProduct = Product
    ReduceSum = Sum
    Remainder = Rem
    Reverse = Rev
    SVD = Svd
    SelfAdjointEig = Eigh
    SendWithTokens = SendWithToken
    Sine = Sin
    Subtract = Sub
    Switch = IndexConditional
    ThomasSolver = TridiagonalSolver
    Topk = TopK
    TorchGather = TakeAlong
    TorchIndexSelect = IndexSelect
    abs = Abs
    acos = Acos
    acosh = Acosh
    add = Add
    add_dependency = AddDependency
    after_all = AfterAll
    aggregate_to_top_k_builder = AggregateToTopKBuilder
    all = All
    all_gather = AllGather
    all_gather_done = AllGatherDone
    all_gather_start = AllGatherStart
    all_reduce = AllReduce
    all_reduce_done = AllReduceDone
    all_reduce_start = AllReduceStart
    all_to_all = AllToAll
    all_to_all_tuple = AllToAllTuple
    and_ = And
    any = Any
    approx_top_k = ApproxTopK
    approx_top_k_fallback = ApproxTopK
    approx_top_k_reduction_output_size = ApproxTopKReductionOutputSize
    arg_max = ArgMax
    arg_min = ArgMin
    arg_sort = ArgSort
    asin = Asin
    asinh = Asinh
    async_done = AsyncDone
    async_start = AsyncStart
    async_update = AsyncUpdate
    atan = Atan
    atan2 = Atan2
    atanh = Atanh
    avg_pool = AvgPool
    avg_pool_grad = AvgPoolGrad
    batch_dot = BatchDot
    batch_norm_grad = BatchNormGrad
    batch_norm_inference = BatchNormInference
    batch_norm_training = BatchNormTraining
    bessel_i0e = BesselI0e
    bessel_i1e = BesselI1e
    bitcast = Bitcast
    bitcast_convert = BitcastConvertType
    bitcast_convert_type = BitcastConvertType
    box_muller_transform = BoxMullerTransform
    broadcast = Broadcast
    broadcast_in_dim = BroadcastInDim
    broadcast_to = BroadcastTo
    build_partition_id = PartitionId
    call = Call
    cbrt = Cbrt
    ceil = Ceil
    cholesky = Cholesky
    clamp = Clamp
    clz = Clz
    collapse = Collapse
    collective_broadcast = CollectiveBroadcast
    collective_permute = CollectivePermute
    collective_permute_done = CollectivePermuteDone
    collective_permute_start = CollectivePermuteStart
    compare = Compare
    complex = Complex
    composite_call = CompositeCall
    concat = ConcatInDim
    concat_in_dim = ConcatInDim
    concat_scalars = ConcatScalars
    concatenate = ConcatInDim
    conditional = Conditional
    conj = Conj
    constant = ConstantLiteral
    constant_literal = ConstantLiteral
    constant_r0 = ConstantLiteral
    constant_r0_with_type = ConstantR0WithType
    constant_r1 = ConstantLiteral
    constant_r2 = ConstantLiteral
    conv = Conv
    conv_general = ConvGeneral
    conv_general_dilated = ConvGeneralDilated
    conv_grad_extract_and_verify_dimension = ConvGradExtractAndVerifyDimension
    conv_with_general_dimensions = ConvWithGeneralDimensions
    conv_with_general_padding = ConvWithGeneralPadding
    convert = ConvertElementType
    convert_element_type = ConvertElementType
    convolution = Convolution
    copy = Copy
    copy_done = CopyDone
    copy_start = CopyStart
    cos = Cos
    cosh = Cosh
    cosine = Cos
    count_leading_zeros = Clz
    create_scalar_add_computation = CreateScalarAddComputation
    create_scalar_and_computation = CreateScalarAndComputation
    create_scalar_comparison_computation = CreateScalarComparisonComputation
    create_scalar_eq_computation = CreateScalarEqComputation
    create_scalar_ge_computation = CreateScalarGeComputation
    create_scalar_gt_computation = CreateScalarGtComputation
    create_scalar_identity_with_zero_computation = CreateScalarIdentityWithZeroComputation
    create_scalar_le_computation = CreateScalarLeComputation
    create_scalar_logical_and_computation = CreateScalarAndComputation
    create_scalar_lt_computation = CreateScalarLtComputation
    create_scalar_max_computation = CreateScalarMaxComputation
    create_scalar_min_computation = CreateScalarMinComputation
    create_scalar_mul_computation = CreateScalarMulComputation
    create_scalar_multiply_computation = CreateScalarMulComputation
    create_scalar_ne_computation = CreateScalarNeComputation
    create_scalar_or_computation = CreateScalarOrComputation
    create_scalar_xor_computation = CreateScalarXorComputation
    create_token = CreateToken
    cross_replica_sum = CrossReplicaSum
    cumulative_max = CumulativeMax
    cumulative_product = CumulativeProduct
    cumulative_sum = CumulativeSum
    custom_call = CustomCall
    dequantize = Dequantize
    dequantize_packed = DequantizePacked
    digamma = Digamma
    disassemble_tuple = DisassembleTuple
    div = Div
    divide = Div
    domain = Domain
    dot = Dot
    dot_general = DotGeneral
    dynamic_conditional = DynamicConditional
    dynamic_reshape = DynamicReshape
    dynamic_slice = DynamicSlice
    dynamic_slice_in_minor_dims = DynamicSliceInMinorDims
    dynamic_update_slice = DynamicUpdateSlice
    dynamic_update_slice_in_minor_dims = DynamicUpdateSliceInMinorDims
    eigh = Eigh
    einsum = Einsum
    epsilon = Epsilon
    eq = Eq
    eq_total_order = EqTotalOrder
    erf = Erf
    erf_inv = ErfInv
    erfc = Erfc
    evaluate_chebyshev_polynomial = EvaluateChebyshevPolynomial
    evaluate_polynomial = EvaluatePolynomial
    exp = Exp
    expm1 = Expm1
    exponential = Exp
    exponential_minus_one = Expm1
    fake_quantize = FakeQuantize
    fft = Fft
    floor = Floor
    for_each_index = ForEachIndex
    full = Full
    full_like = FullLike
    fusion = Fusion
    fusion_call = FusionCall
    gather = Gather
    ge = Ge
    ge_total_order = GeTotalOrder
    gelu = Gelu
    get_diagonal_mask = GetDiagonalMask
    get_dimension_size = GetDimensionSize
    get_matrix_diagonal = GetMatrixDiagonal
    get_matrix_diagonal_via_gather = GetMatrixDiagonal
    get_tuple_element = GetTupleElement
    gettupleelement = GetTupleElement
    gt = Gt
    gt_total_order = GtTotalOrder
    identity_matrix = IdentityMatrix
    igamma = Igamma
    igamma_grad_a = IgammaGradA
    igammac = Igammac
    imag = Imag
    index = Index
    index_conditional = IndexConditional
    index_select = IndexSelect
    infeed = Infeed
    infeed_with_token = InfeedWithToken
    inverse = Inverse
    iota = Iota
    is_constant = IsConstant
    is_finite = IsFinite
    is_inf = IsInf
    is_nan = IsNan
    is_neg_inf = IsNegInf
    is_neg_zero = IsNegZero
    is_pos_inf = IsPosInf
    layer_norm = LayerNorm
    le = Le
    le_total_order = LeTotalOrder
    lgamma = Lgamma
    log = Log
    log1p = Log1p
    log_det = LogDet
    log_plus_one = Log1p
    log_softmax = LogSoftmax
    logistic = Logistic
    lower_triangle = LowerTriangle
    lt = Lt
    lt_total_order = LtTotalOrder
    lu_decomposition = LuDecomposition
    make_spatial_padding = MakeSpatialPadding
    map = Map
    map_rows = MapRows
    max = Max
    max_finite_value = MaxFiniteValue
    max_pool = MaxPool
    max_pool_grad = MaxPoolGrad
    max_value = MaxValue
    maximum = Max
    maybe_conjugate = MaybeConjugate
    maybe_transpose_in_minor_dims = MaybeTransposeInMinorDims
    mean = Mean
    median = Median
    min = Min
    min_finite_value = MinFiniteValue
    min_positive_normal_value = MinPositiveNormalValue
    min_value = MinValue
    minimum = Min
    mul = Mul
    mulhi = Mulhi
    multi_collective_permute = MultiCollectivePermute
    multiply = Mul
    nan_value = NanValue
    ne = Ne
    ne_total_order = NeTotalOrder
    neg = Neg
    negate = Neg
    next_after = NextAfter
    normal_floating_point_distribution = NormalFloatingPointDistribution
    not_ = Not
    one = One
    one_hot = OneHot
    ones_like = OnesLike
    opt_barrier = OptimizationBarrier
    optimization_barrier = OptimizationBarrier
    or_ = Or
    outfeed = Outfeed
    outfeed_with_token = OutfeedWithToken
    pack_to_uint32 = PackToUint32
    pad = Pad
    pad_in_dim = PadInDim
    parameter = Parameter
    partition_id = PartitionId
    philox4x32 = Philox4x32
    philox_bit_generator = PhiloxBitGenerator
    philox_increase_counter = PhiloxIncreaseCounter
    polygamma = Polygamma
    popcnt = PopulationCount
    population_count = PopulationCount
    pow = Pow
    power = Pow
    prepend_major_dims = PrependMajorDims
    product = Product
    product_of_elementary_householder_reflectors = ProductOfElementaryHouseholderReflectors
    qr = QR
    qr_decomposition = QR
    qr_explicit = QrExplicit
    quantize = Quantize
    ragged_all_to_all = RaggedAllToAll
    ragged_dot = RaggedDot
    random_bernoulli = RandomBernoulli
    random_bits = RandomBits
    random_gamma_grad = RandomGammaGrad
    random_integers = RandomIntegers
    random_normal = RandomNormal
    random_uniform = RandomUniform
    real = Real
    reciprocal = Reciprocal
    recv = Recv
    recv_done = RecvDone
    recv_from_host = RecvFromHost
    recv_start = RecvStart
    recv_to_host = RecvFromHost
    recv_with_token = RecvWithToken
    recv_with_tokens = RecvWithToken
    reduce = Reduce
    reduce_all = ReduceAll
    reduce_max = ReduceMax
    reduce_min = ReduceMin
    reduce_precision = ReducePrecision
    reduce_product = Product
    reduce_scatter = ReduceScatter
    reduce_sum = Sum
    reduce_window = ReduceWindow
    reduce_window_with_general_padding = ReduceWindowWithGeneralPadding
    regularized_incomplete_beta = RegularizedIncompleteBeta
    relu = Relu
    rem = Rem
    remainder = Rem
    remove_dynamic_dimension = RemoveDynamicDimension
    replica_id = ReplicaId
    reshape = Reshape
    rev = Rev
    reverse = Rev
    rng = Rng
    rng_bit_generator = RngBitGenerator
    rng_get_and_update_state = RngGetAndUpdateState
    rng_normal = RngNormal
    rng_uniform = RngUniform
    round = Round
    round_nearest_afz = RoundNearestAfz
    round_nearest_even = RoundNearestEven
    round_to_even = RoundToEven
    rsqrt = Rsqrt
    s_log_det = SLogDet
    scalar_like = ScalarLike
    scaled_dot = ScaledDot
    scan = Scan
    scatter = Scatter
    scramble_philox_key = ScramblePhiloxKey
    select = Select
    select_and_scatter = SelectAndScatter
    select_and_scatter_with_general_padding = SelectAndScatterWithGeneralPadding
    self_adjoint_eig = Eigh
    send = Send
    send_done = SendDone
    send_start = SendStart
    send_to_host = SendToHost
    send_with_token = SendWithToken
    send_with_tokens = SendWithToken
    set_all_dimension_sizes = SetAllDimensionSizes
    set_dimension_size = SetDimensionSize
    set_dimension_size_with_rebound = SetDimensionSizeWithRebound
    set_matrix_diagonal = SetMatrixDiagonal
    shift_left = ShiftLeft
    shift_right_arithmetic = ShiftRightArithmetic
    shift_right_logical = ShiftRightLogical
    sign = Sign
    silu = Silu
    sin = Sin
    sine = Sin
    sinh = Sinh
    slice = Slice
    slice_in_dim = SliceInDim
    slice_in_minor_dims = SliceInMinorDims
    softmax = Softmax
    solve = Solve
    sort = Sort
    sort_ascending = SortAscending
    sort_by_key = SortByKey
    sort_descending = SortDescending
    sqrt = Sqrt
    square = Square
    stochastic_convert = StochasticConvert
    stochastic_convert_type = StochasticConvertType
    sub = Sub
    subtract = Sub
    sum = Sum
    svd = Svd
    switch = IndexConditional
    symmetrize = Symmetrize
    take_along = TakeAlong
    tan = Tan
    tanh = Tanh
    thomas_solver = TridiagonalSolver
    three_fry2x32 = ThreeFry2x32
    three_fry_bit_generator = ThreeFryBitGenerator
    top_k = TopK
    top_k_with_partitions = TopKWithPartitions
    topk = TopK
    torch_gather = TakeAlong
    torch_index_select = IndexSelect
    torch_scatter_dense = TorchScatterDense
    transpose = Transpose
    transpose_in_minor_dims = TransposeInMinorDims
    triangle = Triangle
    triangle_mask = TriangleMask
    triangular_solve = TriangularSolve
    tridiagonal_mat_mul = TridiagonalMatMul
    tridiagonal_solver = TridiagonalSolver
    tuple = Tuple
    uniform_floating_point_distribution = UniformFloatingPointDistribution
    uniform_int_distribution = UniformIntDistribution
    update_slice = UpdateSlice
    update_slice_in_minor_dims = UpdateSliceInMinorDims
    upper_triangle = UpperTriangle
    while_ = While
    while_loop = While
    while_loop_helper = WhileLoopHelper
    xor = Xor
    zero = Zero
    zeros = Zeros
    zeros_like = ZerosLike
    zeta = Zeta

_builder: Methods
Abs = _builder.Abs
Acos = _builder.Acos
Acosh = _builder.Acosh
Add = _builder.Add
AddDependency = _builder.AddDependency
AfterAll = _builder.AfterAll
AggregateToTopKBuilder = _builder.AggregateToTopKBuilder
All = _builder.All
AllGather = _builder.AllGather
AllGatherDone = _builder.AllGatherDone
AllGatherStart = _builder.AllGatherStart
AllReduce = _builder.AllReduce
AllReduceDone = _builder.AllReduceDone
AllReduceStart = _builder.AllReduceStart
AllToAll = _builder.AllToAll
AllToAllTuple = _builder.AllToAllTuple
And = _builder.And
Any = _builder.Any
ApproxTopK = _builder.ApproxTopK
ApproxTopKFallback = _builder.ApproxTopK
ApproxTopKReductionOutputSize = _builder.ApproxTopKReductionOutputSize
ArgMax = _builder.ArgMax
ArgMin = _builder.ArgMin
ArgSort = _builder.ArgSort
Asin = _builder.Asin
Asinh = _builder.Asinh
AsyncDone = _builder.AsyncDone
AsyncStart = _builder.AsyncStart
AsyncUpdate = _builder.AsyncUpdate
Atan = _builder.Atan
Atan2 = _builder.Atan2
Atanh = _builder.Atanh
AvgPool = _builder.AvgPool
AvgPoolGrad = _builder.AvgPoolGrad
BatchDot = _builder.BatchDot
BatchNormGrad = _builder.BatchNormGrad
BatchNormInference = _builder.BatchNormInference
BatchNormTraining = _builder.BatchNormTraining
BesselI0e = _builder.BesselI0e
BesselI1e = _builder.BesselI1e
Bitcast = _builder.Bitcast
BitcastConvert = _builder.BitcastConvertType
BitcastConvertType = _builder.BitcastConvertType
BoxMullerTransform = _builder.BoxMullerTransform
Broadcast = _builder.Broadcast
BroadcastInDim = _builder.BroadcastInDim
BroadcastTo = _builder.BroadcastTo
BuildPartitionId = Methods.PartitionId
Call = _builder.Call
Cbrt = _builder.Cbrt
Ceil = _builder.Ceil
Cholesky = _builder.Cholesky
Clamp = _builder.Clamp
Clz = _builder.Clz
Collapse = _builder.Collapse
CollectiveBroadcast = _builder.CollectiveBroadcast
CollectivePermute = _builder.CollectivePermute
CollectivePermuteDone = _builder.CollectivePermuteDone
CollectivePermuteStart = _builder.CollectivePermuteStart
Compare = _builder.Compare
Complex = _builder.Complex
CompositeCall = _builder.CompositeCall
Concat = _builder.ConcatInDim
ConcatInDim = _builder.ConcatInDim
ConcatScalars = _builder.ConcatScalars
Concatenate = _builder.ConcatInDim
Conditional = _builder.Conditional
Conj = _builder.Conj
Constant = Methods.ConstantLiteral
ConstantLiteral = Methods.ConstantLiteral
ConstantR0 = Methods.ConstantLiteral
ConstantR0WithType = _builder.ConstantR0WithType
ConstantR1 = Methods.ConstantLiteral
ConstantR2 = Methods.ConstantLiteral
Conv = _builder.Conv
ConvGeneral = _builder.ConvGeneral
ConvGeneralDilated = _builder.ConvGeneralDilated
ConvGradExtractAndVerifyDimension = _builder.ConvGradExtractAndVerifyDimension
ConvWithGeneralDimensions = _builder.ConvWithGeneralDimensions
ConvWithGeneralPadding = _builder.ConvWithGeneralPadding
Convert = _builder.ConvertElementType
ConvertElementType = _builder.ConvertElementType
Convolution = _builder.Convolution
Copy = _builder.Copy
CopyDone = _builder.CopyDone
CopyStart = _builder.CopyStart
Cos = _builder.Cos
Cosh = _builder.Cosh
Cosine = _builder.Cos
CountLeadingZeros = _builder.Clz
CreateScalarAddComputation = _builder.CreateScalarAddComputation
CreateScalarAndComputation = _builder.CreateScalarAndComputation
CreateScalarComparisonComputation = _builder.CreateScalarComparisonComputation
CreateScalarEqComputation = _builder.CreateScalarEqComputation
CreateScalarGeComputation = _builder.CreateScalarGeComputation
CreateScalarGtComputation = _builder.CreateScalarGtComputation
CreateScalarIdentityWithZeroComputation = _builder.CreateScalarIdentityWithZeroComputation
CreateScalarLeComputation = _builder.CreateScalarLeComputation
CreateScalarLogicalAndComputation = _builder.CreateScalarAndComputation
CreateScalarLtComputation = _builder.CreateScalarLtComputation
CreateScalarMaxComputation = _builder.CreateScalarMaxComputation
CreateScalarMinComputation = _builder.CreateScalarMinComputation
CreateScalarMulComputation = _builder.CreateScalarMulComputation
CreateScalarMultiplyComputation = _builder.CreateScalarMulComputation
CreateScalarNeComputation = _builder.CreateScalarNeComputation
CreateScalarOrComputation = _builder.CreateScalarOrComputation
CreateScalarXorComputation = _builder.CreateScalarXorComputation
CreateToken = Methods.CreateToken
CrossReplicaSum = _builder.CrossReplicaSum
CumulativeMax = _builder.CumulativeMax
CumulativeProduct = _builder.CumulativeProduct
CumulativeSum = _builder.CumulativeSum
CustomCall = Methods.CustomCall
Dequantize = _builder.Dequantize
DequantizePacked = _builder.DequantizePacked
Digamma = _builder.Digamma
DisassembleTuple = _builder.DisassembleTuple
Div = _builder.Div
Divide = _builder.Div
Domain = _builder.Domain
Dot = _builder.Dot
DotGeneral = _builder.DotGeneral
DynamicConditional = _builder.DynamicConditional
DynamicReshape = _builder.DynamicReshape
DynamicSlice = _builder.DynamicSlice
DynamicSliceInMinorDims = _builder.DynamicSliceInMinorDims
DynamicUpdateSlice = _builder.DynamicUpdateSlice
DynamicUpdateSliceInMinorDims = _builder.DynamicUpdateSliceInMinorDims
Eigh = _builder.Eigh
Einsum = _builder.Einsum
Epsilon = _builder.Epsilon
Eq = _builder.Eq
EqTotalOrder = _builder.EqTotalOrder
Erf = _builder.Erf
ErfInv = _builder.ErfInv
Erfc = _builder.Erfc
EvaluateChebyshevPolynomial = _builder.EvaluateChebyshevPolynomial
EvaluatePolynomial = _builder.EvaluatePolynomial
Exp = _builder.Exp
Expm1 = _builder.Expm1
Exponential = _builder.Exp
ExponentialMinusOne = _builder.Expm1
FakeQuantize = _builder.FakeQuantize
Fft = _builder.Fft
Floor = _builder.Floor
ForEachIndex = _builder.ForEachIndex
Full = Methods.Full
FullLike = _builder.FullLike
Fusion = _builder.Fusion
FusionCall = _builder.FusionCall
Gather = _builder.Gather
Ge = _builder.Ge
GeTotalOrder = _builder.GeTotalOrder
Gelu = _builder.Gelu
GetDiagonalMask = _builder.GetDiagonalMask
GetDimensionSize = _builder.GetDimensionSize
GetMatrixDiagonal = _builder.GetMatrixDiagonal
GetMatrixDiagonalViaGather = _builder.GetMatrixDiagonal
GetTupleElement = _builder.GetTupleElement
Gt = _builder.Gt
GtTotalOrder = _builder.GtTotalOrder
IdentityMatrix = _builder.IdentityMatrix
Igamma = _builder.Igamma
IgammaGradA = _builder.IgammaGradA
Igammac = _builder.Igammac
Imag = _builder.Imag
Index = _builder.Index
IndexConditional = _builder.IndexConditional
IndexSelect = _builder.IndexSelect
Infeed = Methods.Infeed
InfeedWithToken = _builder.InfeedWithToken
Inverse = _builder.Inverse
Iota = Methods.Iota
IsConstant = _builder.IsConstant
IsFinite = _builder.IsFinite
IsInf = _builder.IsInf
IsNan = _builder.IsNan
IsNegInf = _builder.IsNegInf
IsNegZero = _builder.IsNegZero
IsPosInf = _builder.IsPosInf
LayerNorm = _builder.LayerNorm
Le = _builder.Le
LeTotalOrder = _builder.LeTotalOrder
Lgamma = _builder.Lgamma
Log = _builder.Log
Log1p = _builder.Log1p
LogDet = _builder.LogDet
LogPlusOne = _builder.Log1p
LogSoftmax = _builder.LogSoftmax
Logistic = _builder.Logistic
LowerTriangle = _builder.LowerTriangle
Lt = _builder.Lt
LtTotalOrder = _builder.LtTotalOrder
LuDecomposition = _builder.LuDecomposition
MakeSpatialPadding = _builder.MakeSpatialPadding
Map = _builder.Map
MapRows = _builder.MapRows
Max = _builder.Max
MaxFiniteValue = _builder.MaxFiniteValue
MaxPool = _builder.MaxPool
MaxPoolGrad = _builder.MaxPoolGrad
MaxValue = _builder.MaxValue
Maximum = _builder.Max
MaybeConjugate = _builder.MaybeConjugate
MaybeTransposeInMinorDims = _builder.MaybeTransposeInMinorDims
Mean = _builder.Mean
Median = _builder.Median
Min = _builder.Min
MinFiniteValue = _builder.MinFiniteValue
MinPositiveNormalValue = _builder.MinPositiveNormalValue
MinValue = _builder.MinValue
Minimum = _builder.Min
Mul = _builder.Mul
Mulhi = _builder.Mulhi
MultiCollectivePermute = _builder.MultiCollectivePermute
Multiply = _builder.Mul
NanValue = _builder.NanValue
Ne = _builder.Ne
NeTotalOrder = _builder.NeTotalOrder
Neg = _builder.Neg
Negate = _builder.Neg
NextAfter = _builder.NextAfter
NormalFloatingPointDistribution = _builder.NormalFloatingPointDistribution
Not = _builder.Not
One = _builder.One
OneHot = _builder.OneHot
OnesLike = _builder.OnesLike
OptBarrier = _builder.OptimizationBarrier
OptimizationBarrier = _builder.OptimizationBarrier
Or = _builder.Or
Outfeed = _builder.Outfeed
OutfeedWithToken = _builder.OutfeedWithToken
PackToUint32 = _builder.PackToUint32
Pad = _builder.Pad
PadInDim = _builder.PadInDim
Parameter = Methods.Parameter
PartitionID = Methods.PartitionId
PartitionId = Methods.PartitionId
Philox4x32 = _builder.Philox4x32
PhiloxBitGenerator = _builder.PhiloxBitGenerator
PhiloxIncreaseCounter = _builder.PhiloxIncreaseCounter
Polygamma = _builder.Polygamma
Popcnt = _builder.PopulationCount
PopulationCount = _builder.PopulationCount
Pow = _builder.Pow
Power = _builder.Pow
PrependMajorDims = _builder.PrependMajorDims
Product = _builder.Product
ProductOfElementaryHouseholderReflectors = _builder.ProductOfElementaryHouseholderReflectors
QR = _builder.QR
Qr = _builder.Qr
QrDecomposition = _builder.QR
QrExplicit = _builder.QrExplicit
Quantize = _builder.Quantize
RaggedAllToAll = _builder.RaggedAllToAll
RaggedDot = _builder.RaggedDot
RandomBernoulli = _builder.RandomBernoulli
RandomBits = _builder.RandomBits
RandomGammaGrad = _builder.RandomGammaGrad
RandomIntegers = _builder.RandomIntegers
RandomNormal = _builder.RandomNormal
RandomUniform = _builder.RandomUniform
Real = _builder.Real
Reciprocal = _builder.Reciprocal
Recv = Methods.Recv
RecvDone = _builder.RecvDone
RecvFromHost = _builder.RecvFromHost
RecvStart = _builder.RecvStart
RecvToHost = _builder.RecvFromHost
RecvWithToken = _builder.RecvWithToken
RecvWithTokens = _builder.RecvWithToken
Reduce = _builder.Reduce
ReduceAll = _builder.ReduceAll
ReduceMax = _builder.ReduceMax
ReduceMin = _builder.ReduceMin
ReducePrecision = _builder.ReducePrecision
ReduceProduct = _builder.Product
ReduceScatter = _builder.ReduceScatter
ReduceSum = _builder.Sum
ReduceWindow = _builder.ReduceWindow
ReduceWindowWithGeneralPadding = _builder.ReduceWindowWithGeneralPadding
RegularizedIncompleteBeta = _builder.RegularizedIncompleteBeta
Relu = _builder.Relu
Rem = _builder.Rem
Remainder = _builder.Rem
RemoveDynamicDimension = _builder.RemoveDynamicDimension
ReplicaId = Methods.ReplicaId
Reshape = _builder.Reshape
Rev = _builder.Rev
Reverse = _builder.Rev
Rng = _builder.Rng
RngBitGenerator = Methods.RngBitGenerator
RngGetAndUpdateState = _builder.RngGetAndUpdateState
RngNormal = _builder.RngNormal
RngUniform = _builder.RngUniform
Round = _builder.Round
RoundNearestAfz = _builder.RoundNearestAfz
RoundNearestEven = _builder.RoundNearestEven
RoundToEven = _builder.RoundToEven
Rsqrt = _builder.Rsqrt
SLogDet = _builder.SLogDet
SVD = _builder.Svd
ScalarLike = _builder.ScalarLike
ScaledDot = _builder.ScaledDot
Scan = _builder.Scan
Scatter = _builder.Scatter
ScramblePhiloxKey = _builder.ScramblePhiloxKey
Select = _builder.Select
SelectAndScatter = _builder.SelectAndScatter
SelectAndScatterWithGeneralPadding = _builder.SelectAndScatterWithGeneralPadding
SelfAdjointEig = _builder.Eigh
Send = _builder.Send
SendDone = _builder.SendDone
SendStart = _builder.SendStart
SendToHost = _builder.SendToHost
SendWithToken = _builder.SendWithToken
SendWithTokens = _builder.SendWithToken
SetAllDimensionSizes = _builder.SetAllDimensionSizes
SetDimensionSize = _builder.SetDimensionSize
SetDimensionSizeWithRebound = _builder.SetDimensionSizeWithRebound
SetMatrixDiagonal = _builder.SetMatrixDiagonal
ShiftLeft = _builder.ShiftLeft
ShiftRightArithmetic = _builder.ShiftRightArithmetic
ShiftRightLogical = _builder.ShiftRightLogical
Sign = _builder.Sign
Silu = _builder.Silu
Sin = _builder.Sin
Sine = _builder.Sin
Sinh = _builder.Sinh
Slice = _builder.Slice
SliceInDim = _builder.SliceInDim
SliceInMinorDims = _builder.SliceInMinorDims
Softmax = _builder.Softmax
Solve = _builder.Solve
Sort = _builder.Sort
SortAscending = _builder.SortAscending
SortByKey = _builder.SortByKey
SortDescending = _builder.SortDescending
Sqrt = _builder.Sqrt
Square = _builder.Square
StochasticConvert = _builder.StochasticConvert
StochasticConvertType = _builder.StochasticConvertType
Sub = _builder.Sub
Subtract = _builder.Sub
Sum = _builder.Sum
Svd = _builder.Svd
Switch = _builder.IndexConditional
Symmetrize = _builder.Symmetrize
TakeAlong = _builder.TakeAlong
Tan = _builder.Tan
Tanh = _builder.Tanh
ThomasSolver = _builder.TridiagonalSolver
ThreeFry2x32 = _builder.ThreeFry2x32
ThreeFryBitGenerator = _builder.ThreeFryBitGenerator
TopK = _builder.TopK
TopKWithPartitions = _builder.TopKWithPartitions
Topk = _builder.TopK
TorchGather = _builder.TakeAlong
TorchIndexSelect = _builder.IndexSelect
TorchScatterDense = _builder.TorchScatterDense
Transpose = _builder.Transpose
TransposeInMinorDims = _builder.TransposeInMinorDims
Triangle = _builder.Triangle
TriangleMask = _builder.TriangleMask
TriangularSolve = _builder.TriangularSolve
TridiagonalMatMul = _builder.TridiagonalMatMul
TridiagonalSolver = _builder.TridiagonalSolver
Tuple = _builder.Tuple
UniformFloatingPointDistribution = _builder.UniformFloatingPointDistribution
UniformIntDistribution = _builder.UniformIntDistribution
UpdateSlice = _builder.UpdateSlice
UpdateSliceInMinorDims = _builder.UpdateSliceInMinorDims
UpperTriangle = _builder.UpperTriangle
While = _builder.While
WhileLoopHelper = _builder.WhileLoopHelper
Xor = _builder.Xor
Zero = _builder.Zero
Zeros = Methods.Zeros
ZerosLike = _builder.ZerosLike
Zeta = _builder.Zeta
abs = _builder.Abs
acos = _builder.Acos
acosh = _builder.Acosh
add = _builder.Add
add_dependency = _builder.AddDependency
after_all = _builder.AfterAll
aggregate_to_top_k_builder = _builder.AggregateToTopKBuilder
all = _builder.All
all_gather = _builder.AllGather
all_gather_done = _builder.AllGatherDone
all_gather_start = _builder.AllGatherStart
all_reduce = _builder.AllReduce
all_reduce_done = _builder.AllReduceDone
all_reduce_start = _builder.AllReduceStart
all_to_all = _builder.AllToAll
all_to_all_tuple = _builder.AllToAllTuple
and_ = _builder.And
any = _builder.Any
approx_top_k = _builder.ApproxTopK
approx_top_k_fallback = _builder.ApproxTopK
approx_top_k_reduction_output_size = _builder.ApproxTopKReductionOutputSize
arg_max = _builder.ArgMax
arg_min = _builder.ArgMin
arg_sort = _builder.ArgSort
asin = _builder.Asin
asinh = _builder.Asinh
async_done = _builder.AsyncDone
async_start = _builder.AsyncStart
async_update = _builder.AsyncUpdate
atan = _builder.Atan
atan2 = _builder.Atan2
atanh = _builder.Atanh
avg_pool = _builder.AvgPool
avg_pool_grad = _builder.AvgPoolGrad
batch_dot = _builder.BatchDot
batch_norm_grad = _builder.BatchNormGrad
batch_norm_inference = _builder.BatchNormInference
batch_norm_training = _builder.BatchNormTraining
bessel_i0e = _builder.BesselI0e
bessel_i1e = _builder.BesselI1e
bitcast = _builder.Bitcast
bitcast_convert = _builder.BitcastConvertType
bitcast_convert_type = _builder.BitcastConvertType
box_muller_transform = _builder.BoxMullerTransform
broadcast = _builder.Broadcast
broadcast_in_dim = _builder.BroadcastInDim
broadcast_to = _builder.BroadcastTo
build_partition_id = Methods.PartitionId
call = _builder.Call
cbrt = _builder.Cbrt
ceil = _builder.Ceil
cholesky = _builder.Cholesky
clamp = _builder.Clamp
clz = _builder.Clz
collapse = _builder.Collapse
collective_broadcast = _builder.CollectiveBroadcast
collective_permute = _builder.CollectivePermute
collective_permute_done = _builder.CollectivePermuteDone
collective_permute_start = _builder.CollectivePermuteStart
compare = _builder.Compare
complex = _builder.Complex
composite_call = _builder.CompositeCall
concat = _builder.ConcatInDim
concat_in_dim = _builder.ConcatInDim
concat_scalars = _builder.ConcatScalars
concatenate = _builder.ConcatInDim
conditional = _builder.Conditional
conj = _builder.Conj
constant = Methods.ConstantLiteral
constant_literal = Methods.ConstantLiteral
constant_r0 = Methods.ConstantLiteral
constant_r0_with_type = _builder.ConstantR0WithType
constant_r1 = Methods.ConstantLiteral
constant_r2 = Methods.ConstantLiteral
conv = _builder.Conv
conv_general = _builder.ConvGeneral
conv_general_dilated = _builder.ConvGeneralDilated
conv_grad_extract_and_verify_dimension = _builder.ConvGradExtractAndVerifyDimension
conv_with_general_dimensions = _builder.ConvWithGeneralDimensions
conv_with_general_padding = _builder.ConvWithGeneralPadding
convert = _builder.ConvertElementType
convert_element_type = _builder.ConvertElementType
convolution = _builder.Convolution
copy = _builder.Copy
copy_done = _builder.CopyDone
copy_start = _builder.CopyStart
cos = _builder.Cos
cosh = _builder.Cosh
cosine = _builder.Cos
count_leading_zeros = _builder.Clz
create_scalar_add_computation = _builder.CreateScalarAddComputation
create_scalar_and_computation = _builder.CreateScalarAndComputation
create_scalar_comparison_computation = _builder.CreateScalarComparisonComputation
create_scalar_eq_computation = _builder.CreateScalarEqComputation
create_scalar_ge_computation = _builder.CreateScalarGeComputation
create_scalar_gt_computation = _builder.CreateScalarGtComputation
create_scalar_identity_with_zero_computation = _builder.CreateScalarIdentityWithZeroComputation
create_scalar_le_computation = _builder.CreateScalarLeComputation
create_scalar_logical_and_computation = _builder.CreateScalarAndComputation
create_scalar_lt_computation = _builder.CreateScalarLtComputation
create_scalar_max_computation = _builder.CreateScalarMaxComputation
create_scalar_min_computation = _builder.CreateScalarMinComputation
create_scalar_mul_computation = _builder.CreateScalarMulComputation
create_scalar_multiply_computation = _builder.CreateScalarMulComputation
create_scalar_ne_computation = _builder.CreateScalarNeComputation
create_scalar_or_computation = _builder.CreateScalarOrComputation
create_scalar_xor_computation = _builder.CreateScalarXorComputation
create_token = Methods.CreateToken
cross_replica_sum = _builder.CrossReplicaSum
cumulative_max = _builder.CumulativeMax
cumulative_product = _builder.CumulativeProduct
cumulative_sum = _builder.CumulativeSum
custom_call = Methods.CustomCall
dequantize = _builder.Dequantize
dequantize_packed = _builder.DequantizePacked
digamma = _builder.Digamma
disassemble_tuple = _builder.DisassembleTuple
div = _builder.Div
divide = _builder.Div
domain = _builder.Domain
dot = _builder.Dot
dot_general = _builder.DotGeneral
dynamic_conditional = _builder.DynamicConditional
dynamic_reshape = _builder.DynamicReshape
dynamic_slice = _builder.DynamicSlice
dynamic_slice_in_minor_dims = _builder.DynamicSliceInMinorDims
dynamic_update_slice = _builder.DynamicUpdateSlice
dynamic_update_slice_in_minor_dims = _builder.DynamicUpdateSliceInMinorDims
eigh = _builder.Eigh
einsum = _builder.Einsum
epsilon = _builder.Epsilon
eq = _builder.Eq
eq_total_order = _builder.EqTotalOrder
erf = _builder.Erf
erf_inv = _builder.ErfInv
erfc = _builder.Erfc
evaluate_chebyshev_polynomial = _builder.EvaluateChebyshevPolynomial
evaluate_polynomial = _builder.EvaluatePolynomial
exp = _builder.Exp
expm1 = _builder.Expm1
exponential = _builder.Exp
exponential_minus_one = _builder.Expm1
fake_quantize = _builder.FakeQuantize
fft = _builder.Fft
floor = _builder.Floor
for_each_index = _builder.ForEachIndex
full = Methods.Full
full_like = _builder.FullLike
fusion = _builder.Fusion
fusion_call = _builder.FusionCall
gather = _builder.Gather
ge = _builder.Ge
ge_total_order = _builder.GeTotalOrder
gelu = _builder.Gelu
get_diagonal_mask = _builder.GetDiagonalMask
get_dimension_size = _builder.GetDimensionSize
get_matrix_diagonal = _builder.GetMatrixDiagonal
get_matrix_diagonal_via_gather = _builder.GetMatrixDiagonal
get_tuple_element = _builder.GetTupleElement
gettupleelement = _builder.GetTupleElement
gt = _builder.Gt
gt_total_order = _builder.GtTotalOrder
identity_matrix = _builder.IdentityMatrix
igamma = _builder.Igamma
igamma_grad_a = _builder.IgammaGradA
igammac = _builder.Igammac
imag = _builder.Imag
index = _builder.Index
index_conditional = _builder.IndexConditional
index_select = _builder.IndexSelect
infeed = Methods.Infeed
infeed_with_token = _builder.InfeedWithToken
inverse = _builder.Inverse
iota = Methods.Iota
is_constant = _builder.IsConstant
is_finite = _builder.IsFinite
is_inf = _builder.IsInf
is_nan = _builder.IsNan
is_neg_inf = _builder.IsNegInf
is_neg_zero = _builder.IsNegZero
is_pos_inf = _builder.IsPosInf
layer_norm = _builder.LayerNorm
le = _builder.Le
le_total_order = _builder.LeTotalOrder
lgamma = _builder.Lgamma
log = _builder.Log
log1p = _builder.Log1p
log_det = _builder.LogDet
log_plus_one = _builder.Log1p
log_softmax = _builder.LogSoftmax
logistic = _builder.Logistic
lower_triangle = _builder.LowerTriangle
lt = _builder.Lt
lt_total_order = _builder.LtTotalOrder
lu_decomposition = _builder.LuDecomposition
make_spatial_padding = _builder.MakeSpatialPadding
map = _builder.Map
map_rows = _builder.MapRows
max = _builder.Max
max_finite_value = _builder.MaxFiniteValue
max_pool = _builder.MaxPool
max_pool_grad = _builder.MaxPoolGrad
max_value = _builder.MaxValue
maximum = _builder.Max
maybe_conjugate = _builder.MaybeConjugate
maybe_transpose_in_minor_dims = _builder.MaybeTransposeInMinorDims
mean = _builder.Mean
median = _builder.Median
min = _builder.Min
min_finite_value = _builder.MinFiniteValue
min_positive_normal_value = _builder.MinPositiveNormalValue
min_value = _builder.MinValue
minimum = _builder.Min
mul = _builder.Mul
mulhi = _builder.Mulhi
multi_collective_permute = _builder.MultiCollectivePermute
multiply = _builder.Mul
nan_value = _builder.NanValue
ne = _builder.Ne
ne_total_order = _builder.NeTotalOrder
neg = _builder.Neg
negate = _builder.Neg
next_after = _builder.NextAfter
normal_floating_point_distribution = _builder.NormalFloatingPointDistribution
not_ = _builder.Not
one = _builder.One
one_hot = _builder.OneHot
ones_like = _builder.OnesLike
opt_barrier = _builder.OptimizationBarrier
optimization_barrier = _builder.OptimizationBarrier
or_ = _builder.Or
outfeed = _builder.Outfeed
outfeed_with_token = _builder.OutfeedWithToken
pack_to_uint32 = _builder.PackToUint32
pad = _builder.Pad
pad_in_dim = _builder.PadInDim
parameter = Methods.Parameter
partition_id = Methods.PartitionId
philox4x32 = _builder.Philox4x32
philox_bit_generator = _builder.PhiloxBitGenerator
philox_increase_counter = _builder.PhiloxIncreaseCounter
polygamma = _builder.Polygamma
popcnt = _builder.PopulationCount
population_count = _builder.PopulationCount
pow = _builder.Pow
power = _builder.Pow
prepend_major_dims = _builder.PrependMajorDims
product = _builder.Product
product_of_elementary_householder_reflectors = _builder.ProductOfElementaryHouseholderReflectors
qr = _builder.QR
qr_decomposition = _builder.QR
qr_explicit = _builder.QrExplicit
quantize = _builder.Quantize
ragged_all_to_all = _builder.RaggedAllToAll
ragged_dot = _builder.RaggedDot
random_bernoulli = _builder.RandomBernoulli
random_bits = _builder.RandomBits
random_gamma_grad = _builder.RandomGammaGrad
random_integers = _builder.RandomIntegers
random_normal = _builder.RandomNormal
random_uniform = _builder.RandomUniform
real = _builder.Real
reciprocal = _builder.Reciprocal
recv = Methods.Recv
recv_done = _builder.RecvDone
recv_from_host = _builder.RecvFromHost
recv_start = _builder.RecvStart
recv_to_host = _builder.RecvFromHost
recv_with_token = _builder.RecvWithToken
recv_with_tokens = _builder.RecvWithToken
reduce = _builder.Reduce
reduce_all = _builder.ReduceAll
reduce_max = _builder.ReduceMax
reduce_min = _builder.ReduceMin
reduce_precision = _builder.ReducePrecision
reduce_product = _builder.Product
reduce_scatter = _builder.ReduceScatter
reduce_sum = _builder.Sum
reduce_window = _builder.ReduceWindow
reduce_window_with_general_padding = _builder.ReduceWindowWithGeneralPadding
regularized_incomplete_beta = _builder.RegularizedIncompleteBeta
relu = _builder.Relu
rem = _builder.Rem
remainder = _builder.Rem
remove_dynamic_dimension = _builder.RemoveDynamicDimension
replica_id = Methods.ReplicaId
reshape = _builder.Reshape
rev = _builder.Rev
reverse = _builder.Rev
rng = _builder.Rng
rng_bit_generator = Methods.RngBitGenerator
rng_get_and_update_state = _builder.RngGetAndUpdateState
rng_normal = _builder.RngNormal
rng_uniform = _builder.RngUniform
round = _builder.Round
round_nearest_afz = _builder.RoundNearestAfz
round_nearest_even = _builder.RoundNearestEven
round_to_even = _builder.RoundToEven
rsqrt = _builder.Rsqrt
s_log_det = _builder.SLogDet
scalar_like = _builder.ScalarLike
scaled_dot = _builder.ScaledDot
scan = _builder.Scan
scatter = _builder.Scatter
scramble_philox_key = _builder.ScramblePhiloxKey
select = _builder.Select
select_and_scatter = _builder.SelectAndScatter
select_and_scatter_with_general_padding = _builder.SelectAndScatterWithGeneralPadding
self_adjoint_eig = _builder.Eigh
send = _builder.Send
send_done = _builder.SendDone
send_start = _builder.SendStart
send_to_host = _builder.SendToHost
send_with_token = _builder.SendWithToken
send_with_tokens = _builder.SendWithToken
set_all_dimension_sizes = _builder.SetAllDimensionSizes
set_dimension_size = _builder.SetDimensionSize
set_dimension_size_with_rebound = _builder.SetDimensionSizeWithRebound
set_matrix_diagonal = _builder.SetMatrixDiagonal
shift_left = _builder.ShiftLeft
shift_right_arithmetic = _builder.ShiftRightArithmetic
shift_right_logical = _builder.ShiftRightLogical
sign = _builder.Sign
silu = _builder.Silu
sin = _builder.Sin
sine = _builder.Sin
sinh = _builder.Sinh
slice = _builder.Slice
slice_in_dim = _builder.SliceInDim
slice_in_minor_dims = _builder.SliceInMinorDims
softmax = _builder.Softmax
solve = _builder.Solve
sort = _builder.Sort
sort_ascending = _builder.SortAscending
sort_by_key = _builder.SortByKey
sort_descending = _builder.SortDescending
sqrt = _builder.Sqrt
square = _builder.Square
stochastic_convert = _builder.StochasticConvert
stochastic_convert_type = _builder.StochasticConvertType
sub = _builder.Sub
subtract = _builder.Sub
sum = _builder.Sum
svd = _builder.Svd
switch = _builder.IndexConditional
symmetrize = _builder.Symmetrize
take_along = _builder.TakeAlong
tan = _builder.Tan
tanh = _builder.Tanh
thomas_solver = _builder.TridiagonalSolver
three_fry2x32 = _builder.ThreeFry2x32
three_fry_bit_generator = _builder.ThreeFryBitGenerator
top_k = _builder.TopK
top_k_with_partitions = _builder.TopKWithPartitions
topk = _builder.TopK
torch_gather = _builder.TakeAlong
torch_index_select = _builder.IndexSelect
torch_scatter_dense = _builder.TorchScatterDense
transpose = _builder.Transpose
transpose_in_minor_dims = _builder.TransposeInMinorDims
triangle = _builder.Triangle
triangle_mask = _builder.TriangleMask
triangular_solve = _builder.TriangularSolve
tridiagonal_mat_mul = _builder.TridiagonalMatMul
tridiagonal_solver = _builder.TridiagonalSolver
tuple = _builder.Tuple
uniform_floating_point_distribution = _builder.UniformFloatingPointDistribution
uniform_int_distribution = _builder.UniformIntDistribution
update_slice = _builder.UpdateSlice
update_slice_in_minor_dims = _builder.UpdateSliceInMinorDims
upper_triangle = _builder.UpperTriangle
while_ = _builder.While
while_loop = _builder.While
while_loop_helper = _builder.WhileLoopHelper
xor = _builder.Xor
zero = _builder.Zero
zeros = Methods.Zeros
zeros_like = _builder.ZerosLike
zeta = _builder.Zeta
