"""Rules about devices that meet in several collectives at a time, or that a collective-permute leaves out."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.ir import HloComputation, HloInstruction, UnlistedDevicesError
from hlotool.ops import OPS, Step, device_groups, device_pairs, flow_of, pairs_of
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, Scope, rule

#: devices above which the devices that two collectives share are not counted
_MOST_DEVICES = 4096


@rule("W518", "overlapping-collectives", on=Scope.COMPUTATION, scheduled=True)
def overlapping_collectives(view: View, computation: HloComputation) -> Iterator[Finding]:
    """Two collectives of different kinds in flight that share two devices.

    What it does
        Finds, in a schedule, starts of collectives between the start and the completion of one of another operation,
        where a group of the one and a group of the other have two devices or more in common.

    Why
        Collectives of different kinds run on streams of their own. If one of the shared devices begins with the one,
        and another device with the other, each waits for the other one forever.

    Bad
        HloModule m, is_scheduled=true, num_partitions=4
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4]{0} parameter(0)
          r = f32[4]{0} all-reduce-start(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true,
            to_apply=add
          p = (f32[4]{0}, f32[4]{0}, u32[], u32[]) collective-permute-start(x), channel_id=2,
            source_target_pairs={{0,1},{1,0},{2,3},{3,2}}
          y = f32[4]{0} tanh(x)
          pd = f32[4]{0} collective-permute-done(p)
          rd = f32[4]{0} all-reduce-done(r)
          ROOT t = (f32[4]{0}, f32[4]{0}, f32[4]{0}) tuple(rd, pd, y) }

    Good
        HloModule m, is_scheduled=true, num_partitions=4
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4]{0} parameter(0)
          r = f32[4]{0} all-reduce-start(x), channel_id=1, replica_groups={{0,1,2,3}}, use_global_device_ids=true,
            to_apply=add
          y = f32[4]{0} tanh(x)
          rd = f32[4]{0} all-reduce-done(r)
          p = (f32[4]{0}, f32[4]{0}, u32[], u32[]) collective-permute-start(x), channel_id=2,
            source_target_pairs={{0,1},{1,0},{2,3},{3,2}}
          z = f32[4]{0} cosine(x)
          pd = f32[4]{0} collective-permute-done(p)
          ROOT t = (f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}) tuple(rd, pd, y, z) }

    Source
        XLA, gpu_latency_hiding_scheduler.cc, CountOverlappingRanks
    """
    flying: dict[HloInstruction, list[set[int]]] = {}
    for instruction in computation.instructions:
        step = flow_of(instruction).step
        if step is Step.DONE and instruction.operands:
            flying.pop(instruction.operands[0], None)
        if step is not Step.START or not (groups := _meeting(view, instruction)):
            continue
        for other, theirs in flying.items():
            shared = next((g & t for g in groups for t in theirs if len(g & t) > 1), None)
            if other.opcode != instruction.opcode and shared:
                a, b = sorted(shared)[:2]
                said = f"{other.name} is in flight, in which devices {a} and {b} meet, too"
                yield Finding(instruction, said, help="complete the one before the other starts",
                              notes=view.place(other, "it starts here"))
                break
        flying[instruction] = groups


def _meeting(view: View, start: HloInstruction) -> list[set[int]]:
    """Return the groups of devices that wait for each other in what an instruction starts."""
    replicas, partitions = view.module.device_counts
    if not 1 < replicas * partitions <= _MOST_DEVICES:
        return []
    given = start.attributes
    if "source_target_pairs" in given:
        return [{a, b} for a, b in device_pairs(start, replicas, partitions) if a != b]
    if start.opcode in OPS and any(a.name == "replica_groups" for a in OPS[start.opcode].attributes):
        try:
            return [set(g) for g in device_groups(start, replicas, partitions)]
        except UnlistedDevicesError:
            return []
    is_between_devices = min(replicas, partitions) == 1 and not given.get("is_host_transfer")
    return [{a, b} for a, b in pairs_of(given.get("frontend_attributes")) if a != b and is_between_devices]


@rule("W519", "left-out-of-circle", on=("collective-permute", "collective-permute-start"))
def left_out_of_circle(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A collective-permute that leads most devices back to themselves, and leaves others with zeros.

    What it does
        Finds collective-permutes whose sources are their targets, and most of the devices, but not all of them.

    Why
        Devices that are no target get zeros. A permutation of most devices is meant to be one of all: mostly a pair is
        missing in the list. Shifts without the way around, as pipelines and halos have them, are no such circles.

    Bad
        HloModule m, num_partitions=4
        ENTRY main { x = f32[4] parameter(0)
          ROOT y = f32[4] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,0}} }

    Good
        HloModule m, num_partitions=4
        ENTRY main { x = f32[4] parameter(0)
          ROOT y = f32[4] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,0}} }

    Source
        XLA Operation Semantics, CollectivePermute
    """
    replicas, partitions = view.module.device_counts
    if replicas * partitions > _MOST_DEVICES or {"replica_count", "num_partitions"}.isdisjoint(view.module.attributes):
        return  # without a count in the header the pairs themselves tell how many devices there are
    pairs = device_pairs(instruction, replicas, partitions)
    sources, targets = {a for a, _ in pairs}, {b for _, b in pairs}
    missing = sorted(set(range(replicas * partitions)) - targets)
    if sources == targets and 0 < len(missing) < len(targets):
        said = f"device {missing[0]} is in no pair and gets zeros" if len(missing) == 1 else \
            f"devices {', '.join(map(str, missing[:8]))} are in no pair and get zeros"
        yield Finding(instruction, said, help="list a pair for each device, or leave the circle open",
                      part=r"\bsource_target_pairs=\S+")
