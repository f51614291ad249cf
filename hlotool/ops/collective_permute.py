"""collective-permute: every source sends to its target, at once or started and awaited."""

from __future__ import annotations

import collections
from collections.abc import Sequence
from typing import Any

from hlotool.ir import HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.asynchronous import contexts
from hlotool.ops.collective import (
    Ints,
    World,
    emit_second,
    group_of,
    packed,
    require_arrays,
    second_of,
    shown,
)
from hlotool.ops.costs import begun, communicates, is_free
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import AWAITS, EXCHANGES, AsyncStep, Effect, Elements, Flow
from hlotool.ops.groups import channel_attributes, lifted_attributes, lifted_table
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, enum_attribute, i64_array, i64_tensor
from hlotool.ops.random_programs import Draw
from hlotool.ops.registry import op, require
from hlotool.ops.relation_files import collective_relations
from hlotool.ops.rules import listed
from hlotool.ops.values import EvaluationError, as_tuple, zeros


def collective_permute_shape(*operands: Shape, source_target_pairs: tuple[tuple[int, int], ...],
                             slice_sizes: Any = None) -> Shape:
    """Constraints 1 to 3 of collective-permute."""
    return _permute("collective-permute", operands, source_target_pairs, slice_sizes)


def _permute(opcode: str, operands: Sequence[Shape], pairs: Sequence[Sequence[int]], slice_sizes: Any) -> Shape:
    for pair in pairs:
        require(len(pair) == 2 and min(pair) >= 0, f"{opcode}-c2",
                f"source_target_pairs has {{{listed(pair)}}}; it is a source and a target, neither negative",
                attribute="source_target_pairs")
    if slice_sizes is None:
        require_arrays(opcode, operands)
        _require_ends(opcode, pairs, 1)
        return Shape.one_or_tuple(operands)
    require(len(operands) == 4, f"{opcode}-c3", f"in place it takes 4 operands (input, output, and their offsets), "
            f"{len(operands)} given")
    source, target = operands[:2]
    require(source.is_tuple == target.is_tuple and len(source.elements) == len(target.elements), f"{opcode}-c3",
            f"the input is {source.text(False)}, the output {target.text(False)}; "
            "both are arrays, or tuples of one length")
    for buffer, offsets, what in ((source, operands[2], "input"), (target, operands[3], "output")):
        _require_offsets(opcode, buffer, offsets, what)
    _require_ends(opcode, pairs, max(1, len(slice_sizes) // max(1, len(source.elements))))
    return target


def _require_ends(opcode: str, pairs: Sequence[Sequence[int]], slices: int) -> None:
    """A device sends each slice once, and gets each once."""
    for side, what in ((0, "source"), (1, "target")):
        device, count = max(collections.Counter(pair[side] for pair in pairs).items(), key=lambda e: e[1],
                            default=(0, 0))
        require(count <= slices, f"{opcode}-c2", f"{device} is a {what} {_times(count)} in source_target_pairs"
                + (f"; {slices} slices are sent" if slices > 1 else ""), attribute="source_target_pairs")


def _times(count: int) -> str:
    return "twice" if count == 2 else f"{count} times"


def _require_offsets(opcode: str, buffer: Shape, offsets: Shape, what: str) -> None:
    """One index for each dimension of a buffer, or a tuple of such, one for each slice; tuples of these for tuples."""
    require(offsets.is_tuple, f"{opcode}-c3", f"the offsets in the {what} are {offsets.text(False)}, no tuple")
    if buffer.is_tuple:
        require(len(offsets.elements) == len(buffer.elements), f"{opcode}-c3",
                f"the {what} is a tuple of {len(buffer.elements)}, its offsets are {offsets.text(False)}")
        for array, given in zip(buffer.elements, offsets.elements, strict=True):
            _require_offsets(opcode, array, given, what)
        return
    for one in offsets.elements if any(e.is_tuple for e in offsets.elements) else (offsets,):
        require(one.is_tuple and len(one.elements) == buffer.rank, f"{opcode}-c3",
                f"an offset in the {what} is {one.text(False)}, {buffer.text(False)} has {buffer.rank} dimensions")


def _emit_collective_permute(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    if "slice_sizes" in instruction.attributes:
        return _emit_in_place(e, instruction, operands)
    return packed([_emit_permuted(e, instruction, value, operand.shape)
                   for operand, value in zip(instruction.operands, operands, strict=True)])


def _emit_permuted(e: Emitter, instruction: HloInstruction, value: Value, shape: Shape) -> Value:
    pairs = instruction.attributes["source_target_pairs"]
    table = i64_tensor(pairs) if pairs else "dense<> : tensor<0x2xi64>"
    return e.op("stablehlo.collective_permute", [value], shape,
                {"source_target_pairs": table, **channel_attributes(instruction)})


def _emit_in_place(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    """Slices cut, permuted and put in; a flag that is permuted as well tells the targets from the others."""
    source, target, *_ = (o.shape for o in instruction.operands)
    sizes = instruction.attributes["slice_sizes"]
    leaving = _emitted_places(operands[0], operands[2])
    arriving = _emitted_places(operands[1], operands[3])
    buffers, results = [s.without_layout() for s in (target.elements or (target,))], list(as_tuple(operands[1]))
    ends = [t for _, t in instruction.attributes["source_target_pairs"]]
    if not len(leaving) == len(arriving) == len(sizes) or len(set(ends)) != len(ends):
        e.refuse(instruction, "which slices each pair of this collective-permute carries is not defined")
    one = Shape.array("s32")
    flag = _emit_permuted(e, instruction, e.constant(np.int32(1), one), one)
    is_target = e.op("stablehlo.compare", [flag, e.constant(np.int32(1), one)], Shape.array("pred"),
                     {"comparison_direction": enum_attribute("comparison_direction", "EQ")})
    for (number, starts), (index, places), size in zip(leaving, arriving, sizes, strict=True):
        shape = buffers[index].with_dims(size)
        cut = e.op("stablehlo.dynamic_slice", [as_tuple(operands[0])[number], *starts], shape,
                   {"slice_sizes": i64_array(size)})
        moved = _emit_permuted(e, instruction, cut, shape)
        updated = e.op("stablehlo.dynamic_update_slice", [results[index], moved, *places], buffers[index])
        results[index] = e.op("stablehlo.select", [is_target, updated, results[index]], buffers[index])
    return tuple(results) if source.is_tuple else results[0]


def _emitted_places(buffer: Value, offsets: Value) -> list[tuple[int, Sequence[Value]]]:
    """For each slice the number of its buffer and its starts."""
    rows = list(enumerate(offsets)) if isinstance(buffer, tuple) else [(0, offsets)]
    if not all(isinstance(given, tuple) for _, given in rows):
        return []
    return [(number, one) for number, given in rows
            for one in (given if given and isinstance(given[0], tuple) else (given,))]


def _lift_collective_permute(r: Reader) -> HloInstruction:
    pairs = lifted_table(r, "source_target_pairs")
    if any(len(pair) != 2 for pair in pairs):
        r.refuse(f"source_target_pairs has rows of {len(pairs[0])}; each is a source and a target")
    attributes = lifted_attributes(r)
    attributes.pop("replica_groups", None)
    return r.add("collective-permute", r.shape(), r.operands(), {
        **attributes, "source_target_pairs": pairs})


def _draw_collective_permute(d: Draw) -> None:
    is_partitions, devices = d.edge("cross partition"), d.pick((2, 4))
    d.devices(*((1, devices) if is_partitions else (devices, 1)))
    pairs = zip(d.shuffled(range(devices))[:d.between(0, devices)], d.shuffled(range(devices)), strict=False)
    numbers: dict[str, Any] = {"source_target_pairs": "{" + ",".join(f"{{{s},{t}}}" for s, t in pairs) + "}",
               "channel_id": 1 if is_partitions else None}
    operand = d.argument(d.dims(0))
    if d.opcode == "collective-permute":
        d.add("collective-permute", operand, **numbers)
    else:
        d.add("collective-permute-done", d.add("collective-permute-start", operand, **numbers))


@op(collective_permute_shape, flags=("collective", "mixed"), source=SPECIFICATION, lowering=Lowering(
    _emit_collective_permute, _lift_collective_permute, ("stablehlo.collective_permute",)),
    draw=_draw_collective_permute, cost=communicates, flow=EXCHANGES,
    sharding=collective_relations.collective_permute)
def collective_permute(*operands: Any, source_target_pairs: tuple[tuple[int, int], ...], channel_id: int | None = None,
                       slice_sizes: Any = None, world: Any) -> Any:
    """Each target gets its source's operand; devices that are no target get zeros.

    In place, each target gets its output with slices of its source's input put in: read at the source's offsets,
    written at the target's. Devices that are no target keep their output.

    C1  At least one operand, all arrays.
    C2  Pairs hold a source and a target that are not negative; none is a source or a target more often than there are
        slices, which is once where nothing is sent in place.
    C3  In place (slice_sizes=) it takes an input, an output and the offsets in both.
    """
    if slice_sizes is not None:
        return _permute_in_place(world, operands, source_target_pairs, channel_id, slice_sizes)
    found = _received(world, operands, source_target_pairs, channel_id)
    return packed(found if found is not None else [np.zeros_like(a) for a in operands])


def _received(world: World, brought: Sequence[Array], pairs: Sequence[tuple[int, int]], channel_id: int | None
              ) -> Sequence[Array] | None:
    """Return the value of this device's source; None where the device is no target."""
    crosses_partitions = channel_id is not None
    count = world.partitions if crosses_partitions else world.replicas
    own = world.partition if crosses_partitions else world.replica
    theirs = world.exchange(brought, group_of(world, None, channel_id, None) or [])
    sources = [s for s, t in pairs if t == own]
    if len(sources) > 1:
        raise EvaluationError(f"{own} is the target of {listed(sources)}; which slices come from which is not defined")
    if sources and not 0 <= sources[0] < count:
        raise EvaluationError(f"there is no source {sources[0]}; there are {count}")
    return theirs[sources[0]] if sources else None


def _permute_in_place(world: World, operands: Sequence[Any], pairs: Sequence[tuple[int, int]], channel_id: int | None,
                      sizes: Sequence[Ints]) -> Any:
    """Slices of the source's input, put into a copy of the target's output."""
    source, target, source_offsets, target_offsets = operands
    result = tuple(a.copy() for a in target) if isinstance(target, tuple) else target.copy()
    leaving, arriving = _places(source, source_offsets, sizes), _places(result, target_offsets, sizes)
    if not len(leaving) == len(arriving) == len(sizes):
        raise EvaluationError(f"there are {len(leaving)} slices of the input, {len(arriving)} of the output, and "
                              f"{len(sizes)} sizes")
    found = _received(world, [array[place] for array, place in leaving], pairs, channel_id)
    for (array, place), piece in zip(arriving, found or (), strict=False):
        array[place] = piece
    return result


def _places(buffer: Any, offsets: Any, sizes: Sequence[Ints]) -> list[tuple[Array, tuple[slice, ...]]]:
    """For each slice the array that it is of and where it lies; starts are clamped, as a dynamic-slice's are."""
    rows: list[tuple[Array, Any]] = []
    for array, given in zip(buffer, offsets, strict=True) if isinstance(buffer, tuple) else ((buffer, offsets),):
        several = bool(given) and isinstance(given[0], tuple)
        rows += [(array, one) for one in (given if several else (given,))]
    return [(array, tuple(slice(at, at + n) for at, n in zip(
        (min(max(int(i), 0), max(length - n, 0)) for i, n, length in zip(starts, size, array.shape, strict=True)),
        size, strict=True))) for (array, starts), size in zip(rows, sizes, strict=False)]


def collective_permute_start_shape(*operands: Shape, source_target_pairs: tuple[tuple[int, int], ...],
                                   slice_sizes: Any = None, declared: Shape | None) -> Shape:
    """Constraints 1 to 4 of collective-permute-start."""
    output = _permute("collective-permute-start", operands, source_target_pairs, slice_sizes)
    inputs = Shape.one_or_tuple(operands) if slice_sizes is None else operands[0]
    fits = declared is None or (declared.is_tuple and len(declared.elements) >= 2
                                and declared.elements[1].compatible(output))
    require(fits, "collective-permute-start-c4",
            f"the result is {shown(declared)}; it must be ({inputs.text(False)}, {output.text(False)}, ...)")
    if declared is None:
        return Shape.tuple(inputs, output)
    return Shape.tuple(inputs, output, *declared.elements[2:])


def _emit_collective_permute_start(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    found = _emit_collective_permute(e, instruction, operands)
    return packed(operands), found, *contexts(e, instruction.shape)


@op(collective_permute_start_shape, flags=("collective",), lowering=Lowering(_emit_collective_permute_start),
    source=SPECIFICATION, draw=_draw_collective_permute, cost=begun(communicates),
    flow=Flow(Elements.ASSEMBLED, effect=Effect.EXCHANGE, step=AsyncStep.START),
    sharding=collective_relations.collective_permute_start)
def collective_permute_start(*operands: Any, source_target_pairs: tuple[tuple[int, int], ...],
                             channel_id: int | None = None, slice_sizes: Any = None, shape: Shape, world: Any) -> Any:
    """collective-permute, begun: the operands, what collective-permute-done gives, and contexts.

    C1  At least one operand, all arrays.
    C2  Pairs hold a source and a target that are not negative; none is a source or a target more often than there are
        slices, which is once where nothing is sent in place.
    C3  In place (slice_sizes=) it takes an input, an output and the offsets in both.
    C4  The result is the operands, the results, and contexts.
    """
    found = collective_permute.evaluate(*operands, source_target_pairs=source_target_pairs, channel_id=channel_id,
                                        slice_sizes=slice_sizes, world=world)
    return packed(operands), found, *map(zeros, shape.elements[2:])


def collective_permute_done_shape(start: Shape) -> Shape:
    """Constraint 1 of collective-permute-done."""
    return second_of("collective-permute-done-c1", start)


@op(collective_permute_done_shape, lowering=Lowering(emit_second),
    source=SPECIFICATION, draw=_draw_collective_permute, cost=is_free, flow=AWAITS,
    sharding=collective_relations.awaited)
def collective_permute_done(start: Any) -> Any:
    """Wait for collective-permute-start and give what it brought.

    C1  The operand is a tuple of operands, results and contexts.
    """
    return start[1]
