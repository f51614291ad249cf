"""The meanings of functions in older documents, built of today's functions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS, STRICTER
from hlotool.builder.dimension_numbers import ScatterDimensionNumbers, numbers_of
from hlotool.builder.functions import flattened
from hlotool.builder.handles import XlaComputation, XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import ints, shape_of
from hlotool.ir import HloComputation, Shape
from hlotool.ir.arrays import np

if TYPE_CHECKING:
    from hlotool.builder.core import Core


def after_all(b: Core, operands: Any) -> XlaOp:
    """AfterAll of a list."""
    return b.today("AfterAll", operands)


def conv(b: Core, lhs: Any, rhs: Any, window_strides: Any = None, padding: Any = None, lhs_dilation: Any = None,
         rhs_dilation: Any = None, feature_group_count: int | None = None,
         batch_group_count: int | None = None) -> XlaOp:
    """Dilations stand in the call; the roles of the dimensions are fixed."""
    return b.today("ConvGeneralDilated", lhs, rhs, window_strides, padding, lhs_dilation, rhs_dilation, None,
                   1 if feature_group_count is None else feature_group_count,
                   1 if batch_group_count is None else batch_group_count)


def dot(b: Core, lhs: Any, rhs: Any) -> XlaOp:
    """Sums over the last dimension of lhs and the last but one of rhs."""
    left, right = b.operands(lhs, rhs)
    demand(left.rank > 0 and right.rank > 0, ARGUMENTS, f"lhs is {left.shape.text(False)}, rhs is "
           f"{right.shape.text(False)}: Dot takes no scalars")
    return b.emit("dot", [left, right], {"lhs_contracting_dims": (left.rank - 1,),
                                         "rhs_contracting_dims": (max(right.rank - 2, 0),)})


def _scalars(b: Core, start_indices: Any, rank: int) -> list[XlaOp]:
    """Start indices one by one."""
    from hlotool.builder.movement import index_operands

    given = index_operands(b, start_indices)
    if len(given) == 1 and given[0].shape.is_array and given[0].rank == 1:
        whole = given[0]
        given = [b.today("Reshape", b.today("Slice", whole, [i], [i + 1]), ()) for i in range(whole.dims[0])]
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
    return b.today("Slice", _rolled(b, made, starts), [0] * made.rank, sizes)


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
    return b.today("Gather", operand, indices, numbers, window_bounds)


def gather_of_2022(b: Core, operand: Any, start_indices: Any, offset_dims: Any, collapsed_slice_dims: Any,
                   slice_sizes: Any, start_index_map: Any, index_vector_dim: int | None = None,
                   indices_are_sorted: bool = False) -> XlaOp:
    """The dimension numbers stand in the call."""
    indices = b.operand(start_indices)
    numbers = {"offset_dims": offset_dims, "collapsed_slice_dims": collapsed_slice_dims,
               "start_index_map": start_index_map,
               "index_vector_dim": indices.rank - 1 if index_vector_dim is None else index_vector_dim}
    return b.today("Gather", operand, indices, numbers, slice_sizes, indices_are_sorted)


def scatter_of_2022(b: Core, operands: Any, scatter_indices: Any, updates: Any, update_computation: Any,
                    index_vector_dim: int, update_window_dims: Any, inserted_window_dims: Any,
                    scatter_dims_to_operand_dims: Any, indices_are_sorted: bool = False,
                    unique_indices: bool = False) -> XlaOp:
    """The dimension numbers stand in the call."""
    numbers = {"update_window_dims": update_window_dims, "inserted_window_dims": inserted_window_dims,
               "scatter_dims_to_operand_dims": scatter_dims_to_operand_dims, "index_vector_dim": index_vector_dim}
    return b.today("Scatter", operands, scatter_indices, updates, update_computation, numbers, indices_are_sorted,
                   unique_indices)


def operands_first(args: Sequence[Any]) -> list[Any]:
    """Operands that stand one by one before the computation as one list."""
    from hlotool.builder.reduction import grouped

    return grouped(args, lambda given: given if len(given) == 1 and isinstance(given[0], (list, tuple)) else [given])


def sign_of_three(b: Core, operand: Any) -> XlaOp:
    """-1, 0 or 1."""
    made = b.today("Sign", operand)
    # Adding +0 makes +0 of -0, and leaves everything else.
    return b.today("Add", made, 0.0) if made.shape.is_array and made.shape.dtype.is_floating else made


def while_without_while(b: Core, condition: Any, body: Any, init: Any) -> XlaOp:
    """A loop that holds no other."""
    made = b.today("While", condition, body, init)
    seen: set[HloComputation] = set()
    stack = list(made.instruction.called_computations())
    while stack:
        one = stack.pop()
        if one in seen:
            continue
        seen.add(one)
        for inner in one.instructions:
            demand(inner.opcode != "while", STRICTER, f"While: {inner.name} is a loop inside a loop, which this "
                   "document does not allow")
            stack += inner.called_computations()
    return made


def batch_norm_grad(b: Core, operand: Any, scale: Any, mean: Any, variance: Any, grad_output: Any, epsilon: float,
                    feature_index: int) -> XlaOp:
    """The formulas of 2017, and the gradients in the order (operand, offset, scale).

    With s = sqrt(variance + epsilon): dx = dy scale s; dscale = sum(dy (x - mean) s); doffset = sum(dy).
    """
    # Today's operation knows what its operands may be.
    checked = b.today("BatchNormGrad", operand, scale, mean, variance, grad_output, epsilon, feature_index)
    x, factor, average, spread, given = (XlaOp(b, b.body, o) for o in checked.instruction.operands)
    b.take_back(checked)
    others = [d for d in range(x.rank) if d != feature_index]

    def wide(value: XlaOp) -> XlaOp:
        return b.today("BroadcastInDim", value, x.dims, [feature_index])

    deviation = wide(b.today("Sqrt", spread + epsilon))
    grad_operand = given * wide(factor) * deviation
    grad_scale = b.today("Sum", given * (x - wide(average)) * deviation, others)
    return b.today("Tuple", [grad_operand, b.today("Sum", given, others), grad_scale])


def clamp_of_2017(b: Core, args: Sequence[Any] = (), computation: Any = None, operand: Any = None, min: Any = None,
                  max: Any = None) -> XlaOp:
    """The operand stands first, as in the document's example.

    Its signature and its table are Call's, and begin with a computation: such a call applies it to the three.
    """
    from hlotool.builder.reduction import is_computation

    given = list(args)
    if computation is None and given and is_computation(given[0]):
        computation = given.pop(0)
    named = [v for v in (operand, min, max) if v is not None]
    rows = flattened(given) + named
    demand(len(rows) == 3, ARGUMENTS, f"Clamp takes operand, min and max; {len(rows)} values are given")
    if computation is not None:
        return b.today("Call", computation, *rows)
    return b.today("Clamp", rows[1], rows[0], rows[2])


def custom_call(b: Core, target_name: str, args: Sequence[Any] = (), shape: Any = None) -> XlaOp:
    """The operands stand one by one, or as a list, before the shape."""
    given = list(args)
    if shape is None and given and _is_shape(given[-1]):
        shape = given.pop()
    demand(shape is not None, ARGUMENTS, "CustomCall takes a name, operands and the shape of the result")
    return b.today("CustomCall", target_name, flattened(given), shape)


def _is_shape(value: Any) -> bool:
    """Return True for a shape as its text, or as (element type, dimensions), False for operands."""
    return isinstance(value, (str, Shape)) or (isinstance(value, tuple) and len(value) == 2
                                               and isinstance(value[1], (list, tuple)))


def map_with_statics(b: Core, operands: Any, computation: Any, dimensions: Any = None, static_operands: Any = None
                     ) -> XlaOp:
    """Static operands follow the elements as they are, the same ones for each element.

    They stand in a list, or one by one behind the computation: `Map(op1, op2, op3, computation, par1)`.
    """
    if dimensions is not None and _is_operands(dimensions):
        dimensions, static_operands = None, dimensions
    made = b.operands(*(operands if isinstance(operands, (list, tuple)) else [operands]))
    demand(bool(made), ARGUMENTS, "at least one operand is needed")
    statics = static_operands if isinstance(static_operands, (list, tuple)) else [static_operands]
    fixed = [b.operand(s) for s in statics if s is not None]
    if any(s.rank for s in fixed):
        return _mapped_in_turn(b, made, computation, dimensions, fixed)
    wide = made[0].shape
    for scalar in fixed:
        target = Shape.array(scalar.element_type, wide.dims, None, wide.dynamic)
        made.append(b.emit("broadcast", [scalar], {"dimensions": ()}, target))
    return b.today("Map", made, computation, dimensions)


def _is_operands(value: Any) -> bool:
    rows = value if isinstance(value, (list, tuple)) else [value]
    return any(isinstance(v, (XlaOp, float, np.ndarray, np.generic)) for v in rows)


def _mapped_in_turn(b: Core, operands: list[XlaOp], computation: Any, dimensions: Any, fixed: list[XlaOp]) -> XlaOp:
    """A loop over the elements: HLO's map hands on scalars only."""
    wide = operands[0].shape
    wanted = tuple(range(wide.rank))
    rows = wanted if dimensions is None else ints(dimensions, "dimensions")
    demand(all(o.dims == wide.dims for o in operands), ARGUMENTS, "Map takes operands of the same dimensions; they "
           f"are {', '.join(o.shape.text(False) for o in operands)}")
    demand(rows == wanted, ARGUMENTS, f"Map takes all dimensions in order, {list(wanted)}; they are {list(rows)}")
    scalars = [Shape.array(o.element_type) for o in operands]
    mapped = XlaComputation(b.callee(computation, [*scalars, *(f.shape for f in fixed)], "mapped"))
    result = mapped.result
    count = wide.size
    flat = [b.today("Reshape", o, [count]) for o in operands]
    start = b.today("Full", Shape.array(result.element_type, (count,)), 0 if result.element_type != "pred" else False)

    def step(i: XlaOp, found: XlaOp, *values: XlaOp) -> list[XlaOp]:
        elements = [b.today("Reshape", b.today("DynamicSlice", v, [i], [1]), ()) for v in values[:len(flat)]]
        one = b.today("Call", mapped, *elements, *values[len(flat):])
        return [b.today("DynamicUpdateSlice", found, b.today("Reshape", one, [1]), [i]), *values]

    loop = b.today("ForEachIndex", count, step, [start, *flat, *fixed])
    return b.today("Reshape", b.today("GetTupleElement", loop, 0), wide.dims)


def reshape(b: Core, operand: Any, dimensions: Any = None, new_sizes: Any = None) -> XlaOp:
    """Collapse the dimensions in an order, then give the elements new sizes."""
    if new_sizes is None or dimensions is None:
        sizes = dimensions if new_sizes is None else new_sizes
        demand(sizes is not None, ARGUMENTS, "Reshape takes an operand and new_sizes")
        return b.today("Reshape", operand, sizes)
    made, order = b.operand(operand), ints(dimensions, "dimensions")
    demand(sorted(order) == list(range(made.rank)), STRICTER, f"Reshape: dimensions {list(order)} are no permutation "
           f"of those of {made.shape.text(False)}")
    if order != tuple(range(made.rank)):
        made = b.emit("transpose", [made], {"dimensions": order})
    return b.today("Reshape", made, new_sizes)


def rng_bernoulli(b: Core, mean: Any, shape: Any) -> XlaOp:
    """1 with a probability, else 0."""
    wanted = shape_of(shape)
    uniform = b.today("RngUniform", 0.0, 1.0, Shape.array("f32", wanted.dims))
    return b.today("ConvertElementType", b.today("Lt", uniform, b.operand(mean, "f32")), wanted.element_type)


def rng_normal_of_2017(b: Core, mean: Any, sigma: Any, shape: Any) -> XlaOp:
    """Numbers of F32; a result of another type is converted."""
    wanted = shape_of(shape)
    made = b.today("RngNormal", mean, sigma, Shape.array("f32", wanted.dims))
    return made if wanted.element_type == "f32" else b.today("ConvertElementType", made, wanted.element_type)


def scatter_of_2025(b: Core, operands: Any, scatter_indices: Any, updates: Any, update_computation: Any,
                    dimension_numbers: Any = None, indices_are_sorted: bool = False, unique_indices: bool = False,
                    **numbers: Any) -> XlaOp:
    """The dimension numbers stand in one record, as in the signature, or one by one, as in the table."""
    given = numbers_of(ScatterDimensionNumbers, dimension_numbers)
    given |= {n: v for n, v in numbers.items() if v is not None}
    demand(dimension_numbers is not None or bool(given), ARGUMENTS,
           "Scatter takes dimension_numbers, or update_window_dims, inserted_window_dims, "
           "scatter_dims_to_operand_dims and index_vector_dim one by one")
    return b.today("Scatter", operands, scatter_indices, updates, update_computation, given,
                   indices_are_sorted, unique_indices)
