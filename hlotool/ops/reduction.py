"""Folds and maps over whole dimensions: reduce, scan and map."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.ir import UNBOUNDED, HloComputation, HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops import index_maps
from hlotool.ops.agreement import alike
from hlotool.ops.called import (
    parameter_shapes,
    require_reducer,
    same_up_to_precision,
    scalar,
)
from hlotool.ops.costs import elements_of, folds
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import REDUCES, Calls, Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, i64_array, promoted
from hlotool.ops.random_programs import ORDERLESS, Draw, shape_text
from hlotool.ops.registry import Leading, op, require
from hlotool.ops.relation_files import relation_folds
from hlotool.ops.rules import listed, require_array, require_in_range, require_unique, same_dims, same_size
from hlotool.ops.scan_loops import emit_loop
from hlotool.ops.values import Callee, apply, as_tuple, fold

Ints = tuple[int, ...]


def halves(opcode: str, operands: Sequence[Shape], label: str) -> tuple[Sequence[Shape], Sequence[Shape]]:
    """N inputs and N initial values."""
    n, odd = divmod(len(operands), 2)
    require(n > 0 and not odd, label,
            f"{opcode} takes inputs and as many initial values, {len(operands)} operands given")
    for i, shape in enumerate(operands):
        require_array(shape, label, f"operand {i}")
    for i, shape in enumerate(operands[n:]):
        require(not shape.dims, label, f"the initial value {i} is {shape.text(False)}; it must be a scalar")
    return operands[:n], operands[n:]


def require_one_size(inputs: Sequence[Shape], label: str) -> None:
    """All inputs have the same dimensions."""
    for i, shape in enumerate(inputs):
        require(same_dims(shape, inputs[0]), label,
                f"operand 0 is {inputs[0].text(False)}, operand {i} is {shape.text(False)}: the dimensions differ")


def reduce_shape(*operands: Shape, dimensions: Ints = (), to_apply: HloComputation) -> Shape:
    """Constraints 1 to 4 of reduce."""
    inputs, inits = halves("reduce", operands, "reduce-c1")
    require_one_size(inputs, "reduce-c2")
    rank = inputs[0].rank
    require_in_range(dimensions, rank, "reduce-c3", "the reduced dimension", attribute="dimensions")
    require_unique(dimensions, "reduce-c3", "dimensions=", attribute="dimensions")
    results = require_reducer(to_apply, inputs, inits, "reduce-c4", attribute="to_apply")
    kept = [d for d in range(rank) if d not in dimensions]
    dims, flags = tuple(inputs[0].dims[d] for d in kept), tuple(inputs[0].dynamic_flags[d] for d in kept)
    return Shape.one_or_tuple([Shape.array(r.element_type, dims, None, flags) for r in results])


def _emit_reduce(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    attributes = instruction.attributes
    dimensions = tuple(sorted(attributes.get("dimensions", ())))
    return e.op("stablehlo.reduce", operands, instruction.shape, {"dimensions": i64_array(dimensions)},
                [e.region(attributes["to_apply"])])


def _lift_reduce(r: Reader) -> HloInstruction:
    to_apply = r.computation(0)
    return r.add("reduce", r.shape(), promoted_operands(r, to_apply), {
        "dimensions": r.ints("dimensions"), "to_apply": to_apply})


def promoted_operands(r: Reader, to_apply: HloComputation) -> list[HloInstruction]:
    """Inputs and initial values as the computation takes them; other floats, HLO's reductions take as they are."""
    operands, results = r.operands(), to_apply.root.shape.members
    for init in operands[len(operands) // 2:]:
        if init.shape.dims:
            r.refuse(f"its initial value is {init.shape.text(False)}, which is no scalar")
    whole = r.shape()
    for result, declared in zip(results, whole.members, strict=False):
        if result.element_type != declared.element_type:
            r.refuse(f"its region gives {result.text(False)}, its result is {declared.text(False)}")
    wanted = [o.shape if same_up_to_precision(scalar(o.shape), result) else result
              for o, result in zip(operands, (*results, *results), strict=False)]
    return promoted(r, operands, wanted)


def _draw_reduce(d: Draw) -> None:
    dims = d.dims(0, size=5)
    opcode, count = d.folding(), 2 if d.edge("two inputs") else 1
    inputs = [d.argument(dims, edges=ORDERLESS) for _ in range(count)]
    inits = [d.identity(opcode) for _ in range(count)]
    d.add("reduce", *inputs, *inits, dimensions=d.some(range(len(dims))),
          to_apply=d.combiner(opcode) if count == 1 else d.combiner_of_pairs(opcode))


def _folded(instruction: HloInstruction) -> int:
    """How often the computation runs: for each element that goes into another one."""
    inputs = instruction.operands[:max(1, len(instruction.operands) // 2)]
    results = instruction.shape.elements or (instruction.shape,)
    return elements_of(inputs[0].shape) - elements_of(results[0])


_cost_of_reduce = folds(_folded)


@op(reduce_shape, lowering=Lowering(_emit_reduce, _lift_reduce, ("stablehlo.reduce",), ("dimensions", "to_apply")),
    ulps=4.0,
    source=SPECIFICATION, draw=_draw_reduce, agreement=alike, cost=_cost_of_reduce, flow=REDUCES,
    flags=("relayouts",), freedom=Freedom.TERMS, leading=Leading(("dimensions",), begins=True),
    index_map=index_maps.of_reduce, sharding=relation_folds.reduce)
def reduce(*operands: Array, dimensions: Ints = (), to_apply: Callee) -> Any:
    """Fold the elements along dimensions into initial values: operands are N inputs, then N initial values.

    Backends choose the order, so the computation must be associative and the initial value its identity; the
    reference goes from left to right and starts with the initial value. No elements give the initial value.

    C1  N inputs, then N scalars to begin with, N at least 1.
    C2  All inputs have the same dimensions.
    C3  dimensions are in range and each is named once.
    C4  to_apply takes N accumulators, then N elements, all scalars, and gives N scalars like the accumulators;
        the types fit the inputs and initial values up to the precision of floats.
    """
    n = len(operands) // 2
    inputs = [np.asarray(a) for a in operands[:n]]
    rest = [d for d in range(inputs[0].ndim) if d not in dimensions]
    dims = tuple(inputs[0].shape[d] for d in rest)
    count = int(np.prod([inputs[0].shape[d] for d in dimensions], dtype=np.int64))
    columns = [a.transpose([*rest, *sorted(dimensions)]).reshape(*dims, count) for a in inputs]
    found = fold(to_apply, operands[n:], columns)
    return found[0] if n == 1 else found


def map_shape(*operands: Shape, dimensions: Ints | None = None, to_apply: HloComputation) -> Shape:
    """Constraints 1 to 4 of map."""
    require(bool(operands), "map-c1", "map takes at least one operand")
    for i, shape in enumerate(operands):
        require_array(shape, "map-c1", f"operand {i}")
    widest = max(operands, key=lambda s: s.rank)
    for i, shape in enumerate(operands):
        require(not shape.dims or same_dims(shape, widest), "map-c2",
                f"operand {i} is {shape.text(False)}, another is {widest.text(False)}: the dimensions differ")
    require(dimensions is None or dimensions == tuple(range(widest.rank)), "map-c3",
            f"dimensions={{{listed(dimensions or ())}}}; map goes over {{{listed(range(widest.rank))}}}",
            attribute="dimensions")
    found, root = parameter_shapes(to_apply), to_apply.root.shape
    require(len(found) == len(operands), "map-c4",
            f"to_apply {to_apply.name} takes {len(found)} parameters, map has {len(operands)} operands",
            attribute="to_apply")
    for i, (parameter, shape) in enumerate(zip(found, operands, strict=True)):
        require(parameter.is_scalar, "map-c4", f"parameter {i} of {to_apply.name} is {parameter.text(False)}; it must "
                "be a scalar, for map applies to_apply to each element", attribute="to_apply")
        require(same_up_to_precision(parameter, scalar(shape)), "map-c4",
                f"parameter {i} of {to_apply.name} is {parameter.text(False)}, operand {i} is {shape.text(False)}",
                attribute="to_apply")
    require(root.is_scalar, "map-c4", f"to_apply {to_apply.name} gives {root.text(False)}; it must give a scalar",
            attribute="to_apply")
    return Shape.array(root.element_type, widest.dims, None, widest.dynamic)


def _emit_map(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    dims = i64_array(range(instruction.shape.rank))
    return e.op("stablehlo.map", operands, instruction.shape, {"dimensions": dims},
                [e.region(instruction.attributes["to_apply"])])


def _lift_map(r: Reader) -> HloInstruction:
    return r.add("map", r.shape(), r.operands(), {"dimensions": r.ints("dimensions"), "to_apply": r.computation(0)})


def _draw_map(d: Draw) -> None:
    dims = d.dims(0)
    opcode = d.folding()
    d.add("map", d.argument(dims), d.argument(dims), dimensions=tuple(range(len(dims))), to_apply=d.combiner(opcode))


_cost_of_map = folds(lambda instruction: elements_of(instruction.shape))


@op(map_shape, lowering=Lowering(_emit_map, _lift_map, ("stablehlo.map",)), source=SPECIFICATION,
    replacement="the computation's operations, on whole arrays",
    draw=_draw_map, agreement=alike, cost=_cost_of_map, flow=Flow(calls=Calls.EACH))
def map_(*operands: Array, dimensions: Ints | None = None, to_apply: Callee) -> Array:
    """Apply a computation of scalars to each element.

    C1  At least one operand, all arrays.
    C2  All operands have the same dimensions, scalars aside.
    C3  dimensions are 0, 1, ..., rank - 1.
    C4  to_apply takes one scalar of each operand's element type and gives a scalar.
    """
    dims = np.broadcast_shapes(*(np.shape(a) for a in operands))
    return apply(to_apply, *(np.broadcast_to(a, dims) for a in operands))[0]


def scan_shape(*operands: Shape, dimensions: Ints, num_carries: int = 0, to_apply: HloComputation,
               declared: Shape | None) -> Shape:
    """Constraints 1 to 6 of scan."""
    require(len(dimensions) == 1, "scan-c1", f"dimensions={{{listed(dimensions)}}}; scan goes along exactly one",
            attribute="dimensions")
    found, results = parameter_shapes(to_apply), to_apply.root.shape.members
    require(len(found) == len(operands), "scan-c2",
            f"to_apply {to_apply.name} takes {len(found)} parameters, scan has {len(operands)} operands",
            attribute="to_apply")
    n_in, n_out, axis = len(operands) - num_carries, len(results) - num_carries, dimensions[0]
    require(num_carries >= 0 and min(n_in, n_out) >= 0 and n_in + n_out > 0, "scan-c3",
            f"num_carries is {num_carries}; there are {len(operands)} operands and {len(results)} results",
            attribute="num_carries")
    inputs, carries, size, is_dynamic = operands[:n_in], operands[n_in:], None, False
    for i, shape in enumerate(inputs):
        require(shape.is_array and 0 <= axis < shape.rank, "scan-c4",
                f"operand {i} is {shape.text(False)}; it has no dimension {axis}", attribute="dimensions")
        size = shape.dims[axis] if size in (None, UNBOUNDED) else size
        require(same_size(size, shape.dims[axis]), "scan-c4",
                f"operand 0 has {size} elements along dimension {axis}, operand {i} is {shape.text(False)}")
        is_dynamic = is_dynamic or shape.is_bounded_dim(axis)
        require(found[i].compatible(without(shape, axis)), "scan-c5",
                f"parameter {i} of {to_apply.name} is {found[i].text(False)}; a slice of operand {i} is "
                f"{without(shape, axis).text(False)}", attribute="to_apply")
    for i, shape in enumerate(carries):
        require(found[n_in + i].compatible(shape) and results[n_out + i].compatible(shape), "scan-c6",
                f"carry {i} is {shape.text(False)}; {to_apply.name} takes {found[n_in + i].text(False)} for it and "
                f"gives {results[n_out + i].text(False)}")
    if size is None:
        outer = declared.members[0] if declared is not None else None
        require(outer is not None and outer.is_array and outer.rank > axis, "scan-c4",
                "nothing says how long the scan is")
        size, is_dynamic = (outer.dims[axis], outer.is_dynamic_dim(axis)) if outer is not None else (0, False)
    outs = []
    for i, result in enumerate(results[:n_out]):
        require(0 <= axis <= result.rank, "scan-c4",
                f"result {i} of {to_apply.name} is {result.text(False)}; it takes no dimension {axis}",
                attribute="to_apply")
        flags = result.dynamic_flags
        outs.append(Shape.array(result.element_type, (*result.dims[:axis], size, *result.dims[axis:]), None,
                                (*flags[:axis], is_dynamic or size == UNBOUNDED, *flags[axis:])))
    members = [*outs, *carries]
    is_bare = len(members) == 1 and not (declared or to_apply.root.shape).is_tuple
    return members[0] if is_bare else Shape.tuple(*members)


def without(shape: Shape, axis: int) -> Shape:
    """The shape of a slice across a dimension."""
    flags = shape.dynamic_flags
    return Shape.array(shape.element_type, shape.dims[:axis] + shape.dims[axis + 1:], None,
                       flags[:axis] + flags[axis + 1:])


def _emit_scan(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    if UNBOUNDED in (d for o in instruction.operands for d in o.shape.dims):
        e.refuse(instruction, "a scan of unknown length has no StableHLO form")
    return emit_loop(e, instruction, operands)


def _draw_scan(d: Draw) -> None:
    dims = d.dims(size=5)
    at, kind, opcode = d.between(0, len(dims) - 1), d.dtype, d.folding()
    part = shape_text(kind, dims[:at] + dims[at + 1:])
    d.computation("step", f"  x = {part} parameter(0)\n  c = {part} parameter(1)\n  s = {opcode}(x, c)\n"
                          f"  ROOT t = ({part}, {part}) tuple(s, s)")
    given = d.argument(dims, edges=ORDERLESS), d.argument(dims[:at] + dims[at + 1:], edges=())
    d.add("scan", *given, dimensions=(at,), num_carries=1, is_reverse=True if d.edge("reverse") else None,
          to_apply="step", shape=f"({shape_text(kind, dims)}, {part})")


def _lift_scan(r: Reader) -> HloInstruction:
    *_, carries = r.ints("operandSegmentSizes")
    at, size, operands = r.int("dimension"), r.int("scan_dim_size", -1), r.operands()
    inputs = [o.shape for o in operands[:len(operands) - carries]]
    if r.has("scan_dim_size") and any(s.rank <= at or s.dims[at] not in (size, UNBOUNDED) for s in inputs):
        r.refuse(f"its scan_dim_size is {size}, its inputs are {', '.join(s.text(False) for s in inputs)}")
    attributes = {"dimensions": (at,), "num_carries": carries, "to_apply": r.computation(0, "scan")}
    if r.bool("is_reverse"):
        attributes["is_reverse"] = True
    if r.has("is_associative"):
        attributes["is_associative"] = r.bool("is_associative")
    return r.add("scan", r.shape(), operands, attributes)


def _steps_of_scan(instruction: HloInstruction) -> int:
    (dimension,) = instruction.attributes["dimensions"]
    arrays = [o.shape for o in instruction.operands if o.shape.rank > dimension]
    return arrays[0].dims[dimension] if arrays else 0


_cost_of_scan = folds(_steps_of_scan)


@op(scan_shape, lowering=Lowering(_emit_scan, _lift_scan, ("chlo.scan",)), ulps=4.0,
    source="XLA, xla/hlo/ir/hlo_instructions.h: HloScanInstruction", draw=_draw_scan, cost=_cost_of_scan,
    flow=Flow(calls=Calls.SCAN))
def scan(*operands: Any, dimensions: Ints, num_carries: int = 0, is_reverse: bool = False,
         is_associative: Any = None, to_apply: Callee, shape: Shape) -> Any:
    """Walk along a dimension with carries: operands are inputs, then carries.

    Each step gives the slices of the inputs and the carries to to_apply, which gives slices of the outputs and
    new carries. The result holds the outputs, joined along the dimension, then the last carries; is_reverse walks
    from the end.

    C1  dimensions names exactly one dimension.
    C2  to_apply takes a parameter for each operand.
    C3  The carries outnumber neither operands nor results, and there is an input or output beside them.
    C4  Inputs and outputs have the dimension, and one size along it.
    C5  Parameters of inputs are slices across the dimension.
    C6  Carries keep their shape from operand to parameter to result.
    """
    members = shape.members
    axis, n_in, n_out = dimensions[0], len(operands) - num_carries, len(members) - num_carries
    sliced = [np.asarray(a) for a in operands[:n_in]]
    length = sliced[0].shape[axis] if sliced else members[0].dims[axis]
    state, outputs = list(operands[n_in:]), [np.zeros(m.dims, m.dtype.numpy) for m in members[:n_out]]
    for step in reversed(range(length)) if is_reverse else range(length):
        found = as_tuple(to_apply(*(a.take(step, axis) for a in sliced), *state))
        for output, value in zip(outputs, found[:n_out], strict=True):
            output[(slice(None),) * axis + (step,)] = value
        state = list(found[n_out:])
    results = (*outputs, *state)
    return results if shape.is_tuple else results[0]
