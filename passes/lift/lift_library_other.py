"""Writes calls of sorting, normalisation, scaled products and host code as the operations that they stand for.

    ENTRY main {                                  ENTRY main {
      x = f32[4,8] parameter(0)                     x = f32[4,8] parameter(0)
      ROOT t = (f32[4,3], s32[4,3])                 ROOT t = (f32[4,3], s32[4,3]) topk(x), k=3, largest=true
        custom-call(x),                           }
        custom_call_target="TopK"
    }
"""

from __future__ import annotations

from typing import Any

from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape, SliceDimension
from hlotool.passes.lift.library_calls import Call, depends_on, on_target, wide_type
from hlotool.passes.lift.lift_library_calls import lift_targets
from hlotool.passes.lift.lift_library_matmul import float_of


def lift_library_other(module: HloModule) -> HloModule:
    """Return the same module, changed in place, without those calls that say what they compute."""
    return lift_targets(module, __name__)


@on_target("TopK")
def topk(call: Call) -> HloInstruction:
    """The first elements of each row in the order of the comparator, and where they were."""
    (operand,) = call.operands
    values = call.results[0]
    call.expect(len(call.results) == 2 and values.rank > 0, "its result is no pair of values and indices")
    call.expect(values.dims[:-1] == operand.shape.dims[:-1], f"its operand is {operand.shape.text(False)}, "
                                                             f"its result {values.text(False)}")
    called = call.instruction.called_computations()
    largest = _is_greater(call, called[0]) if called else True
    shape = call.instruction.shape.without_layout()
    return call.add("topk", [operand], shape, k=values.dims[-1], largest=largest)


@on_target("ApproxTopK")
def approximate_topk(call: Call) -> tuple[HloInstruction, ...]:
    """The first elements of each line in the order of the comparator: what XLA falls back to, and of any recall.

    Without aggregate_to_topk more elements are left than asked for, and which is the platform's.
    """
    config, called = call.config(), call.instruction.called_computations()
    call.expect(bool(config.get("aggregate_to_topk")), "how many elements it leaves, and which, is the platform's")
    inputs = call.operands[:len(call.operands) // 2]
    call.expect(len(called) == 1 and len(inputs) == len(call.results), f"it has {len(call.operands)} operands, "
                f"{len(called)} comparators and {len(call.results)} results")
    axis, count = config["reduction_dim"], config["top_k"]
    shapes = [o.shape.without_layout() for o in inputs]
    whole = Shape.one_or_tuple(shapes)
    # XLA does not ask for a stable sort: which of equal elements come first is open.
    ordered = call.add("sort", inputs, whole, dimensions=(axis,), to_apply=called[0])
    parts = [call.edit.element(ordered, n, like=call.instruction) for n in range(len(shapes))] if len(shapes) > 1 else [
        ordered]
    cut = [tuple(SliceDimension(0, count if d == axis else n) for d, n in enumerate(s.dims)) for s in shapes]
    return tuple(call.add("slice", [part], result, slice=taken)
                 for part, result, taken in zip(parts, call.results, cut, strict=True))


def _is_greater(call: Call, comparator: HloComputation) -> bool:
    """Return True if a comparator puts larger elements first."""
    root = comparator.root
    direction = root.attributes.get("direction", "")
    call.expect(root.opcode == "compare" and direction in ("GT", "LT", "GE", "LE"),
                f"its comparator {comparator.name} ends in {root.opcode} {direction}")
    sides = [depends_on(o, comparator) for o in root.operands]
    call.expect(sides in ([{0}, {1}], [{1}, {0}]), f"its comparator {comparator.name} does not compare its first two "
                                                   "parameters")
    return bool(direction[0] == "G") == (sides[0] == {0})


@on_target("__cub$DeviceRadixSort", "xla.gpu.ext.cub_sort_unassigned_scratch_size",
           "xla.gpu.ext.cub_sort_keys", "xla.gpu.ext.cub_sort_pairs")
def radix_sort(call: Call) -> tuple[HloInstruction, ...]:
    """Rows of keys, and of the values that go with them, in the order of the keys."""
    keys, *values = call.operands
    call.expect(keys.shape.rank > 0 and len(values) <= 1, f"it has {len(call.operands)} operands")
    config = call.config()
    call.expect(isinstance(config.get("descending"), bool), "its configuration does not say whether it is descending")
    comparator = call.edit.module.comparator([o.shape.element_type for o in call.operands],
                                             "GT" if config["descending"] else "LT")
    shapes = [o.shape.without_layout() for o in call.operands]
    shape = Shape.tuple(*shapes) if values else shapes[0]
    sorted_ = call.add("sort", call.operands, shape, dimensions=(keys.shape.rank - 1,), is_stable=True,
                       to_apply=comparator)
    if not values:
        return call.with_workspaces(sorted_)
    return call.with_workspaces(*(call.add("get-tuple-element", [sorted_], s, index=i) for i, s in enumerate(shapes)))


@on_target("__onednn$softmax")
def softmax(call: Call) -> HloInstruction:
    """e to the elements less the largest one, divided by their sum, along one dimension."""
    (operand,) = call.operands
    axis, shape = int(call.config("onednn_softmax_config").get("softmax_axis", -1)), call.results[0]
    axis += shape.rank if axis < 0 else 0
    call.expect(0 <= axis < shape.rank, f"its axis is {axis}")
    wide = call.cast(operand, wide_type(operand.shape))
    return call.cast(call.softmax(wide, axis)[0], shape.element_type)


@on_target("__onednn$layernorm")
def layer_norm(call: Call) -> HloInstruction:
    """The elements of each row less their mean, divided by their deviation, scaled and shifted."""
    config, shape = call.config("onednn_layer_norm_config"), call.results[0]
    words = str(config.get("rescale", config.get("fused_ops", "SCALE_AND_SHIFT")))
    known = {"SCALE_AND_SHIFT": 2, "SCALE": 1, "SHIFT": 1, "UNDEFINED": 0, "RESCALE_UNDEFINED": 0}
    call.expect(words in known and len(call.operands) == 1 + known[words],
                f"it has {len(call.operands)} operands and rescales by {words}")
    call.expect("epsilon_typecast" in config, "its configuration has no epsilon")
    axis, count = shape.rank - 1, shape.dims[-1]
    wide = call.cast(call.operands[0], wide_type(call.operands[0].shape))
    centred = call.add("subtract", [wide, call.scaled(call.folded_and_spread(wide, axis, "add"), 1 / count)])
    square = call.add("multiply", [centred, centred])
    variance = call.scaled(call.folded_and_spread(square, axis, "add"), 1 / count)
    epsilon = call.splat(float_of(int(config["epsilon_typecast"])), variance.shape)
    shifted = call.add("add", [variance, epsilon])
    value = call.add("multiply", [centred, call.add("rsqrt", [shifted])])
    for opcode, operand in zip(("multiply", "add") if words != "SHIFT" else ("add",), call.operands[1:], strict=False):
        vector = call.cast(operand, value.shape.element_type)
        value = call.add(opcode, [value, call.spread(vector, value.shape, (axis,))])
    return call.cast(value, shape.element_type)


@on_target("__op$block_scaled_dot")
def block_scaled_dot(call: Call) -> HloInstruction:
    """The product over the last dimensions of operands whose blocks are scaled; the first of three is the batch."""
    lhs, rhs, *scales = call.operands
    rank = lhs.shape.rank
    call.expect(rank in (2, 3) and rhs.shape.rank == rank and len(scales) in (1, 2),
                f"its operands are {', '.join(o.shape.text(False) for o in call.operands)}")
    if len(scales) == 1:
        scales.append(call.splat(1, Shape.array(scales[0].shape.element_type)))
    attributes: dict[str, Any] = {"lhs_contracting_dims": (rank - 1,), "rhs_contracting_dims": (rank - 1,)}
    if rank == 3:
        attributes |= {"lhs_batch_dims": (0,), "rhs_batch_dims": (0,)}
    value = call.add("scaled-dot", [lhs, rhs, *scales], call.results[0], **attributes)
    return value


@on_target("__op$dequantize")
def dequantize(call: Call) -> HloInstruction:
    """Each block of values times its scale."""
    values, scale = call.operands
    shape = call.results[0]
    call.expect(values.shape.dims == shape.dims and values.shape.rank == scale.shape.rank and all(
        s and d % s == 0 for d, s in zip(shape.dims, scale.shape.dims, strict=True)),
        f"its operands are {values.shape.text(False)} and {scale.shape.text(False)}")
    blocks = shape.with_dims(tuple(n for d, s in zip(shape.dims, scale.shape.dims, strict=True) for n in (s, d // s)))
    wide = call.cast(scale, shape.element_type)
    spread = call.add("reshape", [call.spread(wide, blocks, range(0, 2 * shape.rank, 2))], shape)
    return call.add("multiply", [call.cast(values, shape.element_type), spread])


@on_target("AllocateBuffer")
def allocate_buffer(call: Call) -> HloInstruction:
    """Memory whose contents mean nothing yet."""
    (shape,) = call.results
    call.expect(not call.operands and shape.is_array, f"it gives {call.instruction.shape.text(False)}")
    return call.splat(0, shape)


@on_target("HostExecute")
def host_execute(call: Call) -> HloInstruction:
    """A computation that runs on the host."""
    called = call.instruction.called_computations()
    call.expect(len(called) == 1, "it names no computation")
    taken = [p.shape.without_layout() for p in called[0].parameters()]
    call.expect(taken == [o.shape.without_layout() for o in call.operands],
                f"its operands are not what {called[0].name} takes")
    return call.add("call", call.operands, call.instruction.shape.without_layout(), to_apply=called[0])


@on_target("__xla_internal_call_marker_before", "__xla_internal_call_marker_after")
def marker(call: Call) -> tuple[HloInstruction, ...]:
    """Return the operands as they are: the call marks the ends of a computation that was inlined."""
    return operands_as_they_are(call)


def operands_as_they_are(call: Call) -> tuple[HloInstruction, ...]:
    """Return the operands of a call whose results have their shapes."""
    call.expect(tuple(o.shape.without_layout() for o in call.operands) == call.results,
                f"its operands are not its result {call.instruction.shape.text(False)}")
    return call.operands
