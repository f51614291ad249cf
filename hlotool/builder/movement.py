"""Functions that move elements: broadcasts, reshapes, slices, concatenation, padding, gather and scatter."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.argument_types import Ints
from hlotool.builder.broadcasting import checked_in_dim
from hlotool.builder.codes import (
    ARGUMENTS,
    BOUNDS,
    COLLAPSED,
    NEW_SIZES,
    NO_SHAPE,
    ONE_IN_THE_MIDDLE,
    SPLIT_AND_MERGED,
    UNBOUNDED_RESHAPE,
)
from hlotool.builder.dimension_numbers import GatherDimensionNumbers, ScatterDimensionNumbers, numbers_of
from hlotool.builder.functions import flattened, function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import element_type_of, ints, padding_of, shape_of
from hlotool.builder.reduction import grouped, several
from hlotool.ir import UNBOUNDED, PaddingDimension, Shape
from hlotool.ir.arrays import np

if TYPE_CHECKING:
    from hlotool.builder.core import Core


@function()
def broadcast(b: Core, operand: Any, broadcast_sizes: Ints) -> XlaOp:
    """Put dimensions of those sizes in front; the operand is repeated along them."""
    made, sizes = b.operand(operand), ints(broadcast_sizes, "broadcast_sizes")
    shape = made.shape
    demand(all(s >= 0 for s in sizes), NEW_SIZES, f"broadcast_sizes are {list(sizes)}; they must be known and not "
           "negative")
    demand(UNBOUNDED not in shape.dims, NEW_SIZES, f"the operand is {shape.text(False)}, of unknown size")
    target = Shape.array(shape.element_type, (*sizes, *shape.dims), None, ((False,) * len(sizes) + shape.dynamic_flags))
    return b.emit("broadcast", [made], {"dimensions": tuple(range(len(sizes), len(sizes) + shape.rank))}, target)


@function()
def broadcast_in_dim(b: Core, operand: Any, out_dim_size: Ints, broadcast_dimensions: Ints = ()) -> XlaOp:
    """Give the operand the sizes out_dim_size; its dimension i becomes dimension broadcast_dimensions[i].

    Dimensions of size 1 may stretch.
    """
    made = b.operand(operand)
    shape, dims = made.shape, ints(out_dim_size, "out_dim_size")
    dimensions = ints(broadcast_dimensions, "broadcast_dimensions")
    flags = [False] * len(dims)
    for i, d in enumerate(dimensions[:shape.rank]):
        if 0 <= d < len(dims) and shape.is_dynamic_dim(i) and shape.dims[i] == dims[d]:
            flags[d] = True
    target = Shape.array(shape.element_type, dims, None, tuple(flags))
    return b.led_through(made, checked_in_dim(shape, target, dimensions))


@function()
def reshape(b: Core, operand: Any, dimensions: Any = None, inferred_dimension: Any = None, *,
            shape: Any = None) -> XlaOp:
    """Give the elements, in row-major order, other dimensions; -1 stands for the size that is left over.

    Also `Reshape(shape, operand)`, which names the whole shape, and `Reshape(operand, permutation, sizes)`, which
    first transposes: what the documents say that Transpose is the same as.
    """
    if isinstance(inferred_dimension, (list, tuple)):
        operand, dimensions, inferred_dimension = transpose(b, operand, dimensions), inferred_dimension, None
    if shape is not None:
        return _reshape_to(b, b.operand(operand), shape_of(shape), inferred_dimension)
    demand(dimensions is not None, ARGUMENTS, "Reshape takes an operand and the new dimensions, or a shape")
    if isinstance(dimensions, XlaOp):
        return _reshape_to(b, dimensions, shape_of(operand), inferred_dimension)
    if isinstance(dimensions, (str, Shape)):
        return _reshape_to(b, b.operand(operand), shape_of(dimensions), inferred_dimension)
    made, sizes = b.operand(operand), ints(dimensions, "dimensions")
    before = made.shape
    if sizes.count(-1) == 1 and before.is_array and before.is_static:
        others = math.prod(s for s in sizes if s != -1)
        sizes = tuple(before.size // others if s == -1 and others else s for s in sizes)
    demand(all(s >= 0 for s in sizes), UNBOUNDED_RESHAPE,
           f"dimensions are {list(sizes)}; they must be known and not negative")
    is_unbounded = UNBOUNDED in before.dims
    is_bounded = any(before.is_dynamic_dim(d) and n != UNBOUNDED for d, n in enumerate(before.dims))
    demand(not (is_bounded and is_unbounded), UNBOUNDED_RESHAPE,
           f"the operand is {before.text(False)}, bounded and unbounded at once")
    flags = _carried_flags(before, sizes, inferred_dimension) if is_bounded else ()
    return _reshape_to(b, made, Shape.array(before.element_type, sizes, None, flags), inferred_dimension)


def _reshape_to(b: Core, operand: Any, shape: Shape, inferred: int | None) -> XlaOp:
    found = {} if inferred is None else {"inferred_dimension": inferred}
    return b.emit("reshape", [operand], found, shape)


def _carried_flags(shape: Shape, sizes: Sequence[int], inferred: int | None) -> tuple[bool, ...]:
    """Return True for each dimension of the result that is dynamic. XLA: ShapeInference::InferReshapeShape."""
    if not sizes:
        return ()  # XLA: the one element of a bounded array becomes a scalar
    flags = [False] * len(sizes)
    ones = {d for d in range(shape.rank) if shape.is_dynamic_dim(d) and shape.dims[d] == 1}
    for d in ones:
        flags[_place_of_one(shape, d, sizes)] = True
    for old, new in _factors(shape.dims, sizes):
        dynamic = [d for d in old if shape.is_dynamic_dim(d) and d not in ones]
        if not dynamic:
            continue
        what = f"the operand is {shape.text(False)}, dimensions are {list(sizes)}"
        demand(len(old) == 1 or len(new) == 1, SPLIT_AND_MERGED, f"{what}: dimension {dynamic[0]} would be split and "
               "merged")
        if len(new) == 1:
            flags[new[0]] = True
            continue
        if inferred is not None and inferred in new:
            flags[inferred] = True
            continue
        wide = [d for d in new if sizes[d] != 1]
        # The most major part takes what the size is at run time.
        flags[wide[0] if wide else new[0]] = True
    return tuple(flags)


def _place_of_one(shape: Shape, dimension: int, sizes: Sequence[int]) -> int:
    """Where a dynamic dimension of size 1 goes: it stays, or stands first or last."""
    if len(sizes) == shape.rank and sizes[dimension] == 1:
        return dimension
    found = next((d for d in (0, len(sizes) - 1) if sizes and sizes[d] == 1), None)
    demand(found is not None, ONE_IN_THE_MIDDLE, f"the operand is {shape.text(False)}, dimensions are {list(sizes)}: "
           f"dimension {dimension}, of size 1, is neither first nor last")
    assert found is not None
    return found


def _factors(old: Sequence[int], new: Sequence[int]) -> list[tuple[list[int], list[int]]]:
    """Runs of dimensions, of the operand and of the result, that hold the same elements. XLA: CommonFactors."""
    found: list[tuple[list[int], list[int]]] = []
    i = j = 0
    while i < len(old) or j < len(new):
        left, right = ([i] if i < len(old) else []), ([j] if j < len(new) else [])
        i, j = i + len(left), j + len(right)
        a, c = (old[left[0]] if left else 1), (new[right[0]] if right else 1)
        while a != c and (i < len(old) or j < len(new)):
            if (a < c or j >= len(new)) and i < len(old):
                left.append(i)
                a, i = a * old[i], i + 1
            else:
                right.append(j)
                c, j = c * new[j], j + 1
        found.append((left, right))
    return found


@function()
def collapse(b: Core, operand: Any, dimensions: Ints) -> XlaOp:
    """Make one dimension of several neighbours: consecutive numbers in order."""
    made, rows = b.operand(operand), ints(dimensions, "dimensions")
    shape = made.shape
    demand(all(0 <= d < shape.rank for d in rows), COLLAPSED,
           f"dimensions are {list(rows)}, the operand is {shape.text(False)}")
    demand(list(rows) == list(range(rows[0], rows[0] + len(rows))) if rows else True, COLLAPSED,
           f"dimensions are {list(rows)}; Collapse takes neighbours in order", "transpose first")
    if len(rows) <= 1:
        return made
    size = math.prod(shape.dims[d] for d in rows)
    return reshape(b, made, (*shape.dims[:rows[0]], size, *shape.dims[rows[-1] + 1:]))


@function()
def transpose(b: Core, operand: Any, permutation: Ints | None = None) -> XlaOp:
    """Dimension i of the result is dimension permutation[i] of the operand; by default the order is reversed."""
    made = b.operand(operand)
    order = tuple(range(made.rank - 1, -1, -1)) if permutation is None else ints(permutation, "permutation")
    return b.emit("transpose", [made], {"dimensions": order})


@function("Reverse")
def rev(b: Core, operand: Any, dimensions: Ints) -> XlaOp:
    """Reverse the order of the elements along those dimensions."""
    return b.emit("reverse", [operand], {"dimensions": ints(dimensions, "dimensions")})


@function("Concatenate", "Concat")
def concat_in_dim(b: Core, *operands: Any, dimension: int | None = None) -> XlaOp:
    """Join arrays along a dimension: `ConcatInDim([a, b], 0)`."""
    given = list(operands)
    if dimension is None:
        demand(len(given) > 1 and isinstance(given[-1], int), ARGUMENTS, "ConcatInDim needs the dimension")
        dimension = given.pop()
    if given and isinstance(given[0], int) and isinstance(given[-1], (list, tuple)):
        given = [*given[1:]]
    return b.emit("concatenate", b.operands(*flattened(given)), {"dimensions": (dimension,)})


@function()
def slice_(b: Core, operand: Any, start_indices: Ints, limit_indices: Ints, strides: Ints | None = None) -> XlaOp:
    """Cut out the elements from start (inclusive) to limit (exclusive), every stride-th one."""
    starts, limits = ints(start_indices, "start_indices"), ints(limit_indices, "limit_indices")
    steps = (1,) * len(starts) if strides is None else ints(strides, "strides")
    demand(len(starts) == len(limits) == len(steps), ARGUMENTS,
           f"{len(starts)} start_indices, {len(limits)} limit_indices and {len(steps)} strides: as many are needed as "
           "the operand has dimensions")
    return b.emit("slice", [operand], {"slice": tuple(zip(starts, limits, steps, strict=True))})


@function()
def slice_in_dim(b: Core, operand: Any, start_index: int, limit_index: int, stride: int = 1, dimno: int = 0) -> XlaOp:
    """Slice along one dimension, the others whole."""
    made = b.operand(operand)
    rows = [(0, n, 1) for n in made.dims]
    demand(0 <= dimno < len(rows), ARGUMENTS, f"dimno is {dimno}, the operand is {made.shape.text(False)}")
    rows[dimno] = (start_index, limit_index, stride)
    return b.emit("slice", [made], {"slice": tuple(rows)})


@function()
def pad(b: Core, operand: Any, padding_value: Any, padding_config: Any) -> XlaOp:
    """Put the padding value around and between the elements: (low, high, interior) for each dimension."""
    made = b.operand(operand)
    value = b.operand(padding_value, made.element_type if made.shape.is_array else None)
    padded = b.emit("pad", [made, value], {"padding": padding_of(padding_config)})
    if padded.rank:
        return padded
    b.take_back(padded)  # a scalar has no edges, and HLO text no spelling of padding without dimensions
    return made


@function()
def pad_in_dim(b: Core, operand: Any, padding_value: Any, dimno: int, pad_lo: int, pad_hi: int) -> XlaOp:
    """Pad one dimension."""
    made = b.operand(operand)
    rows = [PaddingDimension(pad_lo, pad_hi) if i == dimno else PaddingDimension(0, 0) for i in range(made.rank)]
    return pad(b, made, padding_value, rows)


@function()
def iota(b: Core, shape: Any, iota_dimension: int = 0) -> XlaOp:
    """Numbers that count up along one dimension; also `Iota(element_type, size)`."""
    try:
        wanted = shape_of(shape)
    except Exception:
        wanted = Shape.array(element_type_of(shape), (iota_dimension,))
        iota_dimension = 0
    if isinstance(shape, str) and "[" not in shape and wanted.rank == 0:
        wanted, iota_dimension = Shape.array(wanted.element_type, (iota_dimension,)), 0
    # XLA: XlaBuilder::Iota; text may say otherwise.
    demand(not wanted.is_array or wanted.is_static, NO_SHAPE, f"the shape is {wanted.text(False)}; the numbers of Iota "
           "have static sizes", "SetDimensionSize shortens what it gives")
    return b.emit("iota", (), {"iota_dimension": iota_dimension}, wanted)


@function()
def dynamic_reshape(b: Core, operand: Any, dim_sizes: Sequence[Any], new_size_bounds: Ints,
                    dims_are_dynamic: Sequence[bool]) -> XlaOp:
    """Reshape to sizes that are known when the program runs, each at most its bound."""
    bounds, flags = ints(new_size_bounds, "new_size_bounds"), tuple(map(bool, dims_are_dynamic))
    demand(len(bounds) == len(flags), BOUNDS, f"{len(bounds)} new_size_bounds, {len(flags)} dims_are_dynamic")
    made = b.operand(operand)
    return b.emit("dynamic-reshape", [made, *(b.operand(s, "s32") for s in dim_sizes)],
                  shape=Shape.array(made.element_type, bounds, None, flags))


def index_operands(b: Core, start_indices: Any) -> list[XlaOp]:
    """Start indices: scalars, a list of them, or (of old) one array of rank 1."""
    if isinstance(start_indices, XlaOp):
        return [start_indices]
    if isinstance(start_indices, np.ndarray) and start_indices.ndim:
        return [b.operand(start_indices)]
    rows = start_indices if isinstance(start_indices, (list, tuple)) else [start_indices]
    return b.operands(*rows) if rows else []


@function()
def dynamic_slice(b: Core, operand: Any, start_indices: Any, slice_sizes: Ints) -> XlaOp:
    """Cut a block at start indices that are computed; starts are clamped so that the block fits."""
    return b.emit("dynamic-slice", [operand, *index_operands(b, start_indices)],
                  {"dynamic_slice_sizes": ints(slice_sizes, "slice_sizes")})


@function()
def dynamic_update_slice(b: Core, operand: Any, update: Any, start_indices: Any) -> XlaOp:
    """Overwrite a block at start indices that are computed; starts are clamped so that the block fits."""
    made = b.operands(operand, update)
    return b.emit("dynamic-update-slice", [*made, *index_operands(b, start_indices)])


@function()
def gather(b: Core, operand: Any, start_indices: Any, dimension_numbers: Any, slice_sizes: Ints,
           indices_are_sorted: bool = False) -> XlaOp:
    """Take many slices of an operand, at start indices that an array holds."""
    found = {"offset_dims": (), "collapsed_slice_dims": (), "start_index_map": (), "index_vector_dim": 0}
    found |= numbers_of(GatherDimensionNumbers, dimension_numbers)
    optional = ("operand_batching_dims", "start_indices_batching_dims")
    kept = {k: v for k, v in found.items() if k not in optional or v}
    kept["slice_sizes"] = ints(slice_sizes, "slice_sizes")
    if indices_are_sorted:
        kept["indices_are_sorted"] = True
    return b.emit("gather", [operand, start_indices], kept)


def _around_indices(args: Sequence[Any]) -> list[Any]:
    """`x, y, indices, u, v, computation` as `[x, y], indices, [u, v], computation`."""
    return grouped(args, lambda given: given if len(given) <= 3 or len(given) % 2 == 0 else [
        given[:len(given) // 2], given[len(given) // 2], given[len(given) // 2 + 1:]])


@function(regroup=_around_indices)
def scatter(b: Core, operands: Any, scatter_indices: Any, updates: Any, update_computation: Any,
            dimension_numbers: Any, indices_are_sorted: bool = False, unique_indices: bool = False) -> XlaOp:
    """Combine updates into operands at indices that an array holds, by a computation."""
    targets = several(operands)
    demand(bool(targets), ARGUMENTS, "at least one operand is needed")
    made = [b.operand(t) for t in targets]
    given = [b.operand(u, m.element_type) for u, m in zip(several(updates), made, strict=False)]
    given += [b.operand(u) for u in several(updates)[len(made):]]
    found = {"update_window_dims": (), "inserted_window_dims": (), "scatter_dims_to_operand_dims": (),
             "index_vector_dim": 0} | numbers_of(ScatterDimensionNumbers, dimension_numbers)
    optional = ("input_batching_dims", "scatter_indices_batching_dims")
    kept: dict[str, Any] = {k: v for k, v in found.items() if k not in optional or v}
    if indices_are_sorted:
        kept["indices_are_sorted"] = True
    if unique_indices:
        kept["unique_indices"] = True
    scalars = [Shape.array(m.element_type) for m in made]
    kept["to_apply"] = b.callee(update_computation, [*scalars, *scalars], "combine")
    return b.emit("scatter", [*made, b.operand(scatter_indices), *given], kept)


@function()
def get_dimension_size(b: Core, operand: Any, dimension: int) -> XlaOp:
    """The size that a dimension has when the program runs, s32[]."""
    return b.emit("get-dimension-size", [operand], {"dimensions": (dimension,)})


@function()
def set_dimension_size(b: Core, operand: Any, val: Any, dimension: int) -> XlaOp:
    """Let a dimension have a size that is computed; its present size becomes the bound."""
    made = b.operand(operand)
    return b.emit("set-dimension-size", [made, b.operand(val, "s32")], {"dimensions": (dimension,)})


@function()
def remove_dynamic_dimension(b: Core, operand: Any, dimension: int) -> XlaOp:
    """Let a dimension have the size of its bound again."""
    made = b.operand(operand)
    shape = made.shape
    demand(shape.is_array and 0 <= dimension < shape.rank, NO_SHAPE,
           f"dimension is {dimension}, the operand is {shape.text(False)}")
    flags = tuple(f and i != dimension for i, f in enumerate(shape.dynamic_flags))
    return b.emit("set-dimension-size", [made, b.operand(shape.dims[dimension], "s32")], {"dimensions": (dimension,)},
                  Shape.array(shape.element_type, shape.dims, None, flags))


@function()
def index(b: Core, operand: Any, key: Any) -> XlaOp:
    """Build `operand[key]`: slices and numbers as NumPy reads them, values of the program as start indices."""
    from hlotool.builder.subscripts import indexed

    return indexed(b, b.operand(operand), key)
