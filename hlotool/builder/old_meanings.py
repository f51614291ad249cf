"""What functions of older documents meant, built of what there is today."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS, STRICTER
from hlotool.builder.functions import today
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import element_type_of, ints, shape_of
from hlotool.ir import DTYPES, HloComputation, Shape

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def after_all(b: Core, operands: Any) -> XlaOp:
    """AfterAll of a list."""
    return today(b, "AfterAll", operands)


def all_gather(b: Core, operand: Any, all_gather_dim: int, shard_count: int, replica_group_ids: Any = None,
               channel_id: Any = None, replica_groups: Any = None) -> XlaOp:
    """Groups go by either name."""
    return today(b, "AllGather", operand, all_gather_dim, shard_count, replica_group_ids or replica_groups, channel_id)


def all_reduce(b: Core, operand: Any, computation: Any, replica_group_ids: Any = None, channel_id: Any = None,
               replica_groups: Any = None) -> XlaOp:
    """Groups go by either name."""
    return today(b, "AllReduce", operand, computation, replica_group_ids or replica_groups, channel_id)


def reduce_scatter(b: Core, operand: Any, computation: Any, scatter_dim: int, shard_count: int,
                   replica_group_ids: Any = None, channel_id: Any = None) -> XlaOp:
    """Groups and the dimension go by other names."""
    return today(b, "ReduceScatter", operand, computation, scatter_dim, shard_count, replica_group_ids, channel_id)


def batch_norm_grad(b: Core, operand: Any, scale: Any, mean: Any, variance: Any, grad_output: Any, epsilon: float,
                    feature_index: int) -> XlaOp:
    """The gradients in the order (operand, offset, scale)."""
    found = today(b, "BatchNormGrad", operand, scale, mean, variance, grad_output, epsilon, feature_index)
    return today(b, "Tuple", [today(b, "GetTupleElement", found, i) for i in (0, 2, 1)])


def bitcast_of_one_width(b: Core, operand: Any, new_element_type: Any) -> XlaOp:
    """Both types have one width."""
    made, name = b.operand(operand), element_type_of(new_element_type)
    demand(not made.shape.is_array or made.shape.dtype.bits == DTYPES[name].bits, STRICTER,
           f"{made.element_type} and {name} differ in width, which the document of 2018 does not allow")
    return today(b, "BitcastConvertType", made, name)


def conv(b: Core, lhs: Any, rhs: Any, window_strides: Any = None, padding: Any = None, lhs_dilation: Any = None,
         rhs_dilation: Any = None, feature_group_count: int | None = None,
         batch_group_count: int | None = None) -> XlaOp:
    """Dilations stand in the call; the roles of the dimensions are fixed."""
    return today(b, "ConvGeneralDilated", lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, None,
                 feature_group_count or 1, batch_group_count or 1)


def custom_call(b: Core, target_name: str, args: Sequence[Any] = ()) -> XlaOp:
    """The operands stand one by one before the shape."""
    demand(len(args) >= 1, ARGUMENTS, "CustomCall takes a name, operands and the shape of the result")
    return today(b, "CustomCall", target_name, list(args[:-1]), args[-1])


def dot(b: Core, lhs: Any, rhs: Any) -> XlaOp:
    """Sums over the last dimension of lhs and the last but one of rhs."""
    left, right = b.operands(lhs, rhs)
    demand(left.rank > 0 and right.rank > 0, ARGUMENTS, f"lhs is {left.shape.text(False)}, rhs is "
           f"{right.shape.text(False)}: Dot takes no scalars")
    return b.emit("dot", [left, right], {"lhs_contracting_dims": (left.rank - 1,),
                                         "rhs_contracting_dims": (max(right.rank - 2, 0),)})


def dot_general(b: Core, lhs: Any, rhs: Any, dimension_numbers: Any) -> XlaOp:
    """One contracting dimension, and leading batch dimensions of the same numbers."""
    made = today(b, "DotGeneral", lhs, rhs, dimension_numbers)
    given = made.instruction.attributes
    demand(len(given.get("lhs_contracting_dims", ())) == 1, STRICTER,
           "the document of 2018 allows exactly one contracting dimension")
    batch = given.get("lhs_batch_dims", ())
    demand(batch == given.get("rhs_batch_dims", ()) == tuple(range(len(batch))), STRICTER,
           "in the document of 2018 batch dimensions are the leading ones, with the same numbers on both sides")
    return made


def _scalars(b: Core, start_indices: Any, rank: int) -> list[XlaOp]:
    """Start indices one by one."""
    from hlotool.builder.movement import index_operands

    given = index_operands(b, start_indices)
    if len(given) == 1 and given[0].shape.is_array and given[0].rank == 1:
        whole = given[0]
        given = [today(b, "Reshape", today(b, "Slice", whole, [i], [i + 1]), ()) for i in range(whole.dims[0])]
    demand(len(given) == rank, ARGUMENTS, f"{len(given)} start indices for {rank} dimensions")
    return given


def _modulo(b: Core, start: XlaOp, size: int) -> XlaOp:
    """start modulo size, not negative."""
    number = b.operand(size, start.element_type)
    found = b.emit("remainder", [start, number])
    if not start.shape.dtype.is_signed:
        return found
    return b.emit("remainder", [b.emit("add", [found, number]), number])


def _rolled(b: Core, operand: XlaOp, starts: Sequence[XlaOp]) -> XlaOp:
    """The operand rotated so that it begins at the starts."""
    for axis, start in enumerate(starts):
        twice = b.emit("concatenate", [operand, operand], {"dimensions": (axis,)})
        zeros = [b.operand(0, start.element_type) for _ in operand.dims]
        zeros[axis] = start
        operand = b.emit("dynamic-slice", [twice, *zeros], {"dynamic_slice_sizes": operand.dims})
    return operand


def wrapping_slice(b: Core, operand: Any, start_indices: Any, size_indices: Any) -> XlaOp:
    """Indices past the end count from the beginning again."""
    made, sizes = b.operand(operand), ints(size_indices, "size_indices")
    demand(len(sizes) == made.rank and all(0 <= s <= n for s, n in zip(sizes, made.dims, strict=False)), ARGUMENTS,
           f"size_indices are {list(sizes)}, the operand is {made.shape.text(False)}")
    starts = [_modulo(b, s, max(n, 1)) for s, n in zip(_scalars(b, start_indices, made.rank), made.dims, strict=True)]
    return today(b, "Slice", _rolled(b, made, starts), [0] * made.rank, sizes)


def wrapping_update(b: Core, operand: Any, update: Any, start_indices: Any) -> XlaOp:
    """Indices past the end count from the beginning again."""
    made, new = b.operands(operand, update)
    starts = [_modulo(b, s, max(n, 1)) for s, n in zip(_scalars(b, start_indices, made.rank), made.dims, strict=True)]
    kind = starts[0].element_type if starts else "s32"
    zeros = [b.operand(0, kind) for _ in starts]
    changed = b.emit("dynamic-update-slice", [_rolled(b, made, starts), new, *zeros])
    back = [b.emit("subtract", [b.operand(n, kind), s]) for s, n in zip(starts, made.dims, strict=True)]
    return _rolled(b, changed, back)


def update_modulo_update(b: Core, operand: Any, update: Any, start_indices: Any) -> XlaOp:
    """Start indices that are out of bounds count modulo the sizes of the update."""
    made, new = b.operands(operand, update)
    starts = []
    for start, size, width in zip(_scalars(b, start_indices, made.rank), made.dims, new.dims, strict=True):
        last = b.operand(max(size - width, 0), start.element_type)
        fits = b.emit("and", [b.emit("compare", [start, b.operand(0, start.element_type)], {"direction": "GE"}),
                              b.emit("compare", [start, last], {"direction": "LE"})])
        starts.append(b.emit("select", [fits, start, _modulo(b, start, max(width, 1))]))
    return b.emit("dynamic-update-slice", [made, new, *starts])


def gather_of_2018(b: Core, operand: Any, gather_indices: Any, output_window_dims: Any, elided_window_dims: Any,
                   window_bounds: Any, gather_dims_to_operand_dims: Any, index_vector_dim: int | None = None) -> XlaOp:
    """The first names of Gather; the index vectors stand last where nothing else is said."""
    indices = b.operand(gather_indices)
    numbers = {"offset_dims": output_window_dims, "collapsed_slice_dims": elided_window_dims,
               "start_index_map": gather_dims_to_operand_dims,
               "index_vector_dim": indices.rank - 1 if index_vector_dim is None else index_vector_dim}
    return today(b, "Gather", operand, indices, numbers, window_bounds)


def gather_of_2022(b: Core, operand: Any, start_indices: Any, offset_dims: Any, collapsed_slice_dims: Any,
                   slice_sizes: Any, start_index_map: Any, index_vector_dim: int | None = None,
                   indices_are_sorted: bool = False) -> XlaOp:
    """The dimension numbers stand in the call."""
    indices = b.operand(start_indices)
    numbers = {"offset_dims": offset_dims, "collapsed_slice_dims": collapsed_slice_dims,
               "start_index_map": start_index_map,
               "index_vector_dim": indices.rank - 1 if index_vector_dim is None else index_vector_dim}
    return today(b, "Gather", operand, indices, numbers, slice_sizes, indices_are_sorted)


def scatter_of_2022(b: Core, operands: Any, scatter_indices: Any, updates: Any, update_computation: Any,
                    index_vector_dim: int, update_window_dims: Any, inserted_window_dims: Any,
                    scatter_dims_to_operand_dims: Any, indices_are_sorted: bool = False,
                    unique_indices: bool = False) -> XlaOp:
    """The dimension numbers stand in the call."""
    numbers = {"update_window_dims": update_window_dims, "inserted_window_dims": inserted_window_dims,
               "scatter_dims_to_operand_dims": scatter_dims_to_operand_dims, "index_vector_dim": index_vector_dim}
    return today(b, "Scatter", operands, scatter_indices, updates, update_computation, numbers, indices_are_sorted,
                 unique_indices)


def operands_first(args: Sequence[Any]) -> list[Any]:
    """Operands that stand one by one before the computation as one list."""
    from hlotool.builder.reduction import grouped

    return grouped(args, lambda given: given if len(given) == 1 and isinstance(given[0], (list, tuple)) else [given])


def map_with_statics(b: Core, operands: Any, computation: Any, static_operands: Any = None,
                     dimensions: Any = None) -> XlaOp:
    """Static operands are scalars that the computation gets with each element."""
    made = [b.operand(o) for o in operands]
    wide = made[0].shape
    for static in static_operands or ():
        scalar = b.operand(static)
        target = Shape.array(scalar.element_type, wide.dims, None, wide.dynamic)
        made.append(b.emit("broadcast", [scalar], {"dimensions": ()}, target))
    return today(b, "Map", made, computation, dimensions)


def reshape(b: Core, operand: Any, dimensions: Any, new_sizes: Any = None) -> XlaOp:
    """Collapse the dimensions in an order, then give the elements new sizes."""
    if new_sizes is None:
        return today(b, "Reshape", operand, dimensions)
    made, order = b.operand(operand), ints(dimensions, "dimensions")
    if order != tuple(range(made.rank)):
        made = b.emit("transpose", [made], {"dimensions": order})
    return today(b, "Reshape", made, new_sizes)


def rng_bernoulli(b: Core, mean: Any, shape: Any) -> XlaOp:
    """1 with a probability, else 0."""
    wanted = shape_of(shape)
    uniform = today(b, "RngUniform", 0.0, 1.0, Shape.array("f32", wanted.dims))
    return today(b, "ConvertElementType", today(b, "Lt", uniform, b.operand(mean, "f32")), wanted.element_type)


def sign_of_three(b: Core, operand: Any) -> XlaOp:
    """-1, 0 or 1."""
    made = today(b, "Sign", operand)
    # Adding +0 makes +0 of -0, and leaves everything else.
    return today(b, "Add", made, 0.0) if made.shape.is_array and made.shape.dtype.is_floating else made


def slice_not_empty(b: Core, operand: Any, start_indices: Any, limit_indices: Any) -> XlaOp:
    """Limits lie past the starts."""
    pairs = zip(ints(start_indices, "start_indices"), ints(limit_indices, "limit_indices"), strict=False)
    demand(all(low < high for low, high in pairs), STRICTER,
           f"limit_indices {list(limit_indices)} must be greater than start_indices {list(start_indices)} in this "
           "document")
    return today(b, "Slice", operand, start_indices, limit_indices)


def while_without_while(b: Core, condition: Any, body: Any, init: Any) -> XlaOp:
    """A loop that holds no other."""
    made = today(b, "While", condition, body, init)
    seen: set[HloComputation] = set()
    stack = list(made.instruction.called_computations())
    while stack:
        one = stack.pop()
        if one in seen:
            continue
        seen.add(one)
        for inner in one.instructions:
            demand(inner.opcode != "while", STRICTER, f"{inner.name} is a while inside a while, which this document "
                   "does not allow")
            stack += inner.called_computations()
    return made
