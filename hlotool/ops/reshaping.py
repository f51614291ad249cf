"""The same elements under another shape: reshape, dynamic-reshape, copy and bitcast."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from hlotool.ir import DTYPES, UNBOUNDED, HloInstruction, Layout, Shape, SliceDimension
from hlotool.ir.arrays import Array, np
from hlotool.ops import index_maps
from hlotool.ops.conversion import bitcast_elements, declared_array
from hlotool.ops.costs import is_free, moves
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import FORWARDS, REARRANGES, Elements, Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, check_sizes, i64, i64_array, settled_shape
from hlotool.ops.movement import transpose_shape
from hlotool.ops.numbers import from_bits, to_bits
from hlotool.ops.random_programs import Draw, shape_text
from hlotool.ops.registry import Leading, op, require
from hlotool.ops.relation_files import relation_moves
from hlotool.ops.rules import (
    ANY,
    require_array,
)


def reshape_shape(operand: Shape, *, declared: Shape | None) -> Shape:
    """Constraints 1 and 2 of reshape."""
    require_array(operand, "reshape-c1")
    result = declared_array(declared, "reshape-c1", "reshape")
    _require_same_count(operand, result, "reshape-c2")
    return result.with_element_type(operand.element_type)


def _require_same_count(operand: Shape, result: Shape, label: str) -> None:
    # With an unbounded dimension anywhere nothing can be said before the program runs.
    if UNBOUNDED in operand.dims or UNBOUNDED in result.dims:
        return
    require(operand.size == result.size, label,
            f"the operand {operand.text(False)} has {operand.size} elements, "
            f"the result {result.text(False)} has {result.size}")


def _lift_reshape(r: Reader) -> HloInstruction:
    return r.add("reshape", settled_shape(r), r.operands())


def _emit_reshape(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return e.op("stablehlo.reshape", operands, instruction.shape)


def _draw_reshape(d: Draw) -> None:
    dims = d.dims(0)
    d.add("reshape", d.argument(dims), shape=shape_text(d.dtype, d.regrouped(dims)))


@op(reshape_shape, lowering=Lowering(_emit_reshape, _lift_reshape, ("stablehlo.reshape",)), element_types=ANY,
    source=SPECIFICATION, draw=_draw_reshape, cost=moves, flow=REARRANGES, flags=("relayouts",), leading=Leading(),
    index_map=index_maps.of_reshape, sharding=relation_moves.reshape)
def reshape(operand: Array, *, inferred_dimension: int | None = None, shape: Shape) -> Array:
    """Give the elements, in row-major order, other dimensions.

    `inferred_dimension` names the dimension whose run-time size follows from the others.

    C1  The operand and the result are arrays.
    C2  Both have the same number of elements.
    """
    dims = list(shape.dims)
    if math.prod(dims) != operand.size:
        # An array with a dynamic size is as large as it is now; one dimension takes what the others leave.
        free = inferred_dimension if inferred_dimension is not None else next(
            (i for i, flag in enumerate(shape.dynamic_flags) if flag or dims[i] == UNBOUNDED), 0)
        dims[free] = -1
    return operand.reshape(dims)


def dynamic_reshape_shape(operand: Shape, *dim_sizes: Shape, declared: Shape | None) -> Shape:
    """Constraints 1 to 4 of dynamic-reshape."""
    require_array(operand, "dynamic-reshape-c1")
    result = declared_array(declared, "dynamic-reshape-c1", "dynamic-reshape")
    _require_same_count(operand, result, "dynamic-reshape-c2")
    require(len(dim_sizes) == result.rank, "dynamic-reshape-c3",
            f"{len(dim_sizes)} sizes are given, the result {result.text(False)} has {result.rank} dimensions")
    for i, size in enumerate(dim_sizes):
        require(size.is_scalar and size.element_type == "s32", "dynamic-reshape-c4", f"size {i} is {size}, not s32[]")
    return result.with_element_type(operand.element_type)


def _emit_dynamic_reshape(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    one, count = Shape.array("s32", (1,)), len(operands) - 1
    rows = [e.op("stablehlo.reshape", [size], one) for size in operands[1:]]
    sizes = e.op("stablehlo.concatenate", rows, Shape.array("s32", (count,)), {"dimension": i64(0)})
    return e.op("stablehlo.dynamic_reshape", [operands[0], sizes], instruction.shape)


def _lift_dynamic_reshape(r: Reader) -> HloInstruction:
    operand, sizes = r.operands()
    shape = r.shape()
    given = check_sizes(r, sizes, shape)
    if given is not None and operand.shape.is_static and math.prod(given) != operand.shape.size:
        r.refuse(f"its sizes are {given}, its operand is {operand.shape.text(False)}")
    if shape.is_static:
        return r.add("reshape", shape, (operand,))
    word = Shape.array("s32")
    if sizes.shape.element_type != "s32":
        sizes = r.add("convert", sizes.shape.with_element_type("s32"), (sizes,))
    each = []
    for i in range(shape.rank):
        row = r.add("slice", word.with_dims((1,)), (sizes,), {"slice": (SliceDimension(i, i + 1),)})
        each.append(r.add("reshape", word, (row,)))
    return r.add("dynamic-reshape", shape, (operand, *each))


def _draw_dynamic_reshape(d: Draw) -> None:
    operand = d.argument(d.dims())
    dims = d.regrouped(operand.dims) or (1,)
    sizes = [d.argument((), "s32", among=(n,)) for n in dims]
    bounded = [f"<={n}" if i == len(dims) - 1 and n else str(n) for i, n in enumerate(dims)]
    d.add("dynamic-reshape", operand, *sizes, shape=f"{d.dtype}[{','.join(bounded)}]")


@op(dynamic_reshape_shape, element_types=ANY, source=SPECIFICATION,
    lowering=Lowering(_emit_dynamic_reshape, _lift_dynamic_reshape, ("stablehlo.dynamic_reshape",)),
    draw=_draw_dynamic_reshape, cost=moves, flow=REARRANGES, flags=("relayouts",))
def dynamic_reshape(operand: Array, *dim_sizes: Array) -> Array:
    """Reshape to sizes that are known when the program runs.

    C1  The operand and the result are arrays.
    C2  Both have the same number of elements, each dimension at its bound.
    C3  There is one size for each dimension of the result.
    C4  Each size is s32[].
    """
    return operand.reshape([int(size) for size in dim_sizes])


def copy_shape(operand: Shape) -> Shape:
    """The operand's shape: all but an opaque value's, which nobody may look into."""
    require(operand.element_type != "opaque", "copy-c1", f"the operand is {operand}")
    return operand


def _lift_cast(r: Reader) -> HloInstruction:
    """A cast that only forgets sizes, or remembers those that are known: the operand itself."""
    (operand,) = r.operands()
    known, wanted = operand.shape, r.shape()
    is_same = known.element_type == wanted.element_type and known.rank == wanted.rank and all(
        w in (n, UNBOUNDED) for n, w in zip(known.dims, wanted.dims, strict=True))
    if not is_same:
        r.refuse(f"it makes {r.shape().text(False)} of {operand.shape.text(False)}")
    return operand


def _lift_copy(r: Reader) -> HloInstruction:
    return _lift_cast(r) if r.name == "tensor.cast" else r.add("copy", r.shape(), r.operands())


def _emit_copy(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    return operands[0]


@op(copy_shape, lowering=Lowering(_emit_copy, _lift_copy, ("tensor.cast", "mhlo.copy")),
    flags=("elementwise", "relayouts"), freedom=Freedom.EXACT, source=SPECIFICATION, cost=moves, flow=FORWARDS,
    index_map=index_maps.of_copy)
def copy(operand: Any) -> Any:
    """The same value, possibly in another layout or memory.

    C1  The operand is no opaque value.
    """
    return operand


def bitcast_shape(operand: Shape, *, declared: Shape | None) -> Shape:
    """Constraints 1 and 2 of bitcast."""
    require_array(operand, "bitcast-c1")
    result = declared_array(declared, "bitcast-c1", "bitcast")
    # Before layouts are assigned XLA asks nothing of a bitcast.
    is_laid_out = operand.layout is not None and result.layout is not None
    if is_laid_out and operand.is_static and result.is_static:
        old, new = operand.size * operand.dtype.bits, result.size * result.dtype.bits
        require((old + 7) // 8 == (new + 7) // 8, "bitcast-c2",
                f"the operand {operand.text(False)} has {old} bits, the result {result.text(False)} {new}")
    return result


def physical_order(shape: Shape) -> tuple[int, ...]:
    """The dimensions from the most major to the most minor one; the default layout where none is written."""
    return tuple(reversed(shape.minor_to_major))


def _inverse(order: Sequence[int]) -> tuple[int, ...]:
    return tuple(sorted(range(len(order)), key=lambda i: order[i]))


def _permuted(e: Emitter, value: Value, shape: Shape, order: Sequence[int]) -> tuple[Value, Shape]:
    if tuple(order) == tuple(range(shape.rank)):
        return value, shape
    result = transpose_shape(shape, dimensions=tuple(order))
    return e.op("stablehlo.transpose", [value], result, {"permutation": i64_array(order)}), result


def _emit_bitcast(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    source, target = instruction.operands[0].shape, instruction.shape
    if source.without_layout() is target.without_layout() and physical_order(source) == physical_order(target):
        return operands[0]
    if source.size * source.dtype.bits != target.size * target.dtype.bits:
        e.refuse(instruction, f"{source} and {target} differ in size, so this bitcast has no meaning")
    value, shape = _permuted(e, operands[0], source.without_layout(), physical_order(source))
    order = physical_order(target)
    stored = target.with_dims(tuple(target.dims[d] for d in order))
    value = _emit_stored(e, value, shape, stored)
    return _permuted(e, value, stored, _inverse(order))[0]


def _emit_stored(e: Emitter, value: Value, source: Shape, target: Shape) -> Value:
    """The same bytes in row-major order under other dimensions and perhaps another element type."""
    old, new = source.dtype, target.dtype
    if old is new:
        return value if source.dims == target.dims else e.op("stablehlo.reshape", [value], target)
    if old.bits < new.bits:
        grouped = source.with_dims((*target.dims, new.bits // old.bits))
        return bitcast_elements(e, e.op("stablehlo.reshape", [value], grouped), grouped, target)
    ratio = old.bits // new.bits
    split = target.with_dims((*source.dims, ratio) if ratio > 1 else source.dims)
    return e.op("stablehlo.reshape", [bitcast_elements(e, value, source, split)], target)


def _lift_bitcast(r: Reader) -> HloInstruction:
    """MHLO's bitcast: it may name the layouts of operand and result."""
    (operand,), shape = r.operands(), r.shape()
    source = r.ints("source_layout", operand.shape.minor_to_major)
    if tuple(source) != operand.shape.minor_to_major:
        r.refuse(f"its operand has the layout {list(source)}, and values of StableHLO have the default one")
    result = r.ints("result_layout", shape.minor_to_major)
    return r.add("bitcast", shape if result == shape.minor_to_major else shape.with_layout(Layout(result)), (operand,))


def _draw_bitcast(d: Draw) -> None:
    operand = d.argument(d.dims(0))
    fitting = [t for t in DTYPES.values() if t.bits == d.kind.bits >= 8 and t.is_complex == d.kind.is_complex]
    target = d.pick(fitting).name if fitting and d.edge("other type") else d.dtype
    d.add("bitcast", operand, shape=shape_text(target, d.regrouped(operand.dims)))


@op(bitcast_shape, lowering=Lowering(_emit_bitcast, _lift_bitcast, ("mhlo.bitcast",)), source=SPECIFICATION,
    draw=_draw_bitcast, cost=is_free, flow=Flow(Elements.REARRANGED, (0, 1), is_free=True), flags=("relayouts",),
    sharding=relation_moves.bitcast)
def bitcast(operand: Array, *, shape: Shape, operand_shapes: tuple[Shape, ...] = ()) -> Array:
    """Read the operand's memory as another shape and layout (the default layout where none is written).

    C1  The operand and the result are arrays.
    C2  Both have the same size in bytes, once they have layouts.
    """
    target = shape.dtype
    if operand_shapes:
        operand = np.ascontiguousarray(np.transpose(operand, physical_order(operand_shapes[0])))
    order = physical_order(shape)
    stored = [shape.dims[d] for d in order]
    if operand.dtype == target.numpy:
        return np.asarray(operand.reshape(stored).transpose(_inverse(order)), order="C")
    if target.bits >= 8 and operand.dtype.kind in "fiucb":
        found = np.ascontiguousarray(operand).reshape(-1).view(target.numpy).reshape(stored)
        return np.asarray(found.transpose(_inverse(order)), order="C")
    return from_bits(to_bits(operand), target.numpy).reshape(stored).transpose(_inverse(order))
