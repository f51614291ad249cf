"""The instructions of modules that a watchdog's log names, and which devices never come to them.

A log knows the channel, the operation, the devices and sizes; the module the instruction and the line of the program.
Where the way to an instruction leads through branches that follow from the device's own number, the devices that take
another one are those that are waited for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from hlotool.distributed.relation_walk import Walk, nested_arguments
from hlotool.distributed.watchdog_logs import StuckCollective
from hlotool.execution import Program
from hlotool.ir import HloComputation, HloInstruction, HloModule, UnlistedDevicesError
from hlotool.ir.arrays import Array, np
from hlotool.ops import device_groups, device_pairs, flow_of
from hlotool.ops.relations import NotCarried, Relations, Value
from hlotool.process import work_time

#: seconds of work for the branches of one module
_TIME_LIMIT = 10.0


@dataclass(frozen=True)
class StuckInstruction:
    """An instruction in which devices wait."""

    module: HloModule
    instruction: HloInstruction
    #: devices that take another branch, and the conditional; (): none are known to
    elsewhere: tuple[int, ...] = ()
    branch: HloInstruction | None = None


def stuck_instructions(module: HloModule, stuck: StuckCollective) -> list[StuckInstruction]:
    """Return the instructions of a module in which a log's collective may be, each as far as the log tells it."""
    fitting = [i for i in module.instructions() if flow_of(i).exchanges and _fits(module, i, stuck)]
    if stuck.number is not None and stuck.is_channel is not False:
        of_channel = [i for i in fitting if i.attributes.get("channel_id") == stuck.number]
        fitting = of_channel if of_channel or stuck.is_channel else fitting
    if stuck.is_channel is False:
        fitting = [i for i in fitting if not i.attributes.get("channel_id")]
    return [_with_branch(module, i, stuck) for i in fitting]


def _fits(module: HloModule, instruction: HloInstruction, stuck: StuckCollective) -> bool:
    opcode = instruction.opcode.removesuffix("-start")
    if opcode.endswith("-done") or (stuck.opcode and opcode != stuck.opcode):
        return False
    counts = [o.shape.size for o in instruction.operands if o.shape.is_array]
    if stuck.sizes and not (set(stuck.sizes) <= set(counts) or sum(counts) == stuck.sizes[0]):
        return False
    try:
        return not stuck.devices or set(stuck.devices) in map(set, _meetings(module, instruction))
    except UnlistedDevicesError:
        return True


def _meetings(module: HloModule, instruction: HloInstruction) -> Iterator[tuple[int, ...]]:
    """Yield the devices that meet in a collective; pairs of a permute all together, and those that are connected."""
    replicas, partitions = module.device_counts
    if "source_target_pairs" not in instruction.attributes:
        yield from device_groups(instruction, replicas, partitions)
        return
    pairs = device_pairs(instruction, replicas, partitions)
    yield tuple(range(replicas * partitions))
    yield tuple(sorted({d for pair in pairs for d in pair}))


def _with_branch(module: HloModule, instruction: HloInstruction, stuck: StuckCollective) -> StuckInstruction:
    """Return an instruction with the devices that take another branch, of the outermost one that tells them."""
    replicas, partitions = module.device_counts
    ways = list(_ways(module, instruction))
    if replicas != 1 or partitions < 2 or not ways:
        return StuckInstruction(module, instruction)
    program = Program(module)
    relations = Relations(partitions)
    walk = Walk(relations, program, work_time() + _TIME_LIMIT)
    try:
        walk.run(module.entry, nested_arguments(
            program, lambda n, s: relations.unknown(("given", n), s.element_type, s.dims)))
    except NotCarried:
        return StuckInstruction(module, instruction)
    for caller, number in ways:
        taken = _numbers(relations, walk.values.get(caller.operands[0]), len(caller.called_computations()))
        if taken is not None and (taken != number).any():
            group = set(stuck.devices) or set(range(partitions))
            return StuckInstruction(module, instruction, tuple(
                int(d) for d in np.flatnonzero(taken != number) if int(d) in group), caller)
    return StuckInstruction(module, instruction)


def _ways(module: HloModule, instruction: HloInstruction) -> Iterator[tuple[HloInstruction, int]]:
    """Yield the conditionals around an instruction, innermost first, with the number of its branch."""
    callers, parents = module.callers(), module.parents()
    at: HloComputation | None = parents.get(instruction)
    seen = set()
    while at is not None and at not in seen and len(callers.get(at, ())) == 1:
        seen.add(at)
        (caller,) = callers[at]
        if caller.opcode == "conditional":
            yield caller, list(caller.called_computations()).index(at)
        at = parents.get(caller)


def _numbers(relations: Relations, value: Value | None, branches: int) -> Array | None:
    """Return which branch each device takes; None: it does not follow from the device alone."""
    if value is None or isinstance(value, tuple):
        return None
    found = np.full(relations.devices, -1, np.int64)
    for piece in relations.pieces_of(value):
        number = relations.number_of(piece.view)
        own = piece.view.number if number is None else np.asarray([int(number)])
        if own is None:
            return None
        live = np.broadcast_to(relations.live(piece), relations.devices)
        # the first branch is that of true, and out of range is the last one
        chosen = 1 - own if piece.view.element_type == "pred" else np.where((own < 0) | (own >= branches),
                                                                            branches - 1, own)
        found = np.where(live, np.broadcast_to(chosen, relations.devices), found)
    return found
