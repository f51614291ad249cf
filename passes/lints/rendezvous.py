"""Rules about devices that meet in several collectives at a time, or that a collective-permute leaves out."""

from __future__ import annotations

import itertools
from collections.abc import Container, Iterable, Iterator
from typing import TypeAlias

from hlotool.diagnostics import Severity
from hlotool.ir import HloComputation, HloInstruction, UnlistedDevicesError, post_order
from hlotool.ops import OPS, AsyncStep, device_groups, device_pairs, flow_of, pairs_of
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, Scope, rule

#: devices above which the devices that two collectives share are not counted
_MOST_DEVICES = 4096


@rule("W518", "overlapping-collectives", on=Scope.COMPUTATION)
def overlapping_collectives(view: View, computation: HloComputation) -> Iterator[Finding]:
    """Two collectives of different kinds in flight that share two devices.

    What it does
        Finds starts of collectives between the start and the completion of one of another operation, where a group of
        the one and a group of the other have two devices or more in common. Without a schedule it looks at data and
        control: such starts of which neither waits for the other's completion. The finding is for information where a
        scheduler may still put one behind the other, and a warning where each starts before the other is complete in
        any order. A send and a recv are one kind, as they meet each other.

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
    met = {i: groups for i in computation.instructions
           if flow_of(i).step is AsyncStep.START and (groups := _meeting(view, i))}
    if len({_kind(i) for i in met}) < 2:
        return
    pairs = _pairs_in_flight(computation, met) if view.is_scheduled else _unordered_pairs(computation, met)
    reported: set[HloInstruction] = set()
    for start, other, is_certain in pairs:
        shared = next((g & t for g in met[start] for t in met[other] if len(g & t) > 1), None)
        if shared and start not in reported and _kind(start) != _kind(other):
            reported.add(start)
            a, b = sorted(shared)[:2]
            yield Finding(start, f"{other.name} {'is' if is_certain else 'may be'} in flight, in which devices {a} and "
                          f"{b} meet, too", help="complete the one before the other starts",
                          notes=view.place(other, "it starts here"), severity=None if is_certain else Severity.INFO)


def _kind(start: HloInstruction) -> str:
    """Return the operation that runs: the wrapped one of an async-start; one for the two ends of a transfer."""
    calls = start.attributes.get("calls")
    opcode = calls.root.opcode if isinstance(calls, HloComputation) else start.opcode.removesuffix("-start")
    return "send" if opcode == "recv" else opcode


def _chains(order: Iterable[HloInstruction], starts: Container[HloInstruction]
            ) -> Iterator[tuple[HloInstruction, HloInstruction | None]]:
    """Yield instructions in their order, each with the start that it is, updates or completes."""
    chains: dict[HloInstruction, HloInstruction] = {}
    for i in order:
        found = i if i in starts else chains.get(i.operands[0]) if i.operands and flow_of(i).step is not None else None
        if found is not None:
            chains[i] = found
        yield i, found


def _pairs_in_flight(computation: HloComputation, starts: Container[HloInstruction]
                     ) -> Iterator[tuple[HloInstruction, HloInstruction, bool]]:
    """Yield each start of a schedule with those that are begun and not complete, and True: the order is given."""
    flying: dict[HloInstruction, None] = {}
    for i, start in _chains(computation.instructions, starts):
        if start is i:
            yield from ((i, other, True) for other in flying)
            flying[i] = None
        elif start is not None and flow_of(i).step is AsyncStep.DONE:
            flying.pop(start, None)


def _unordered_pairs(computation: HloComputation, starts: Container[HloInstruction]
                     ) -> Iterator[tuple[HloInstruction, HloInstruction, bool]]:
    """Yield each start with earlier ones of which neither waits, by data and control, for the other's completion.

    The third member is True where both have begun before either is complete, in any order.
    """
    before: dict[HloInstruction, int] = {}  # a bit for each start and each completion that runs earlier, or is it
    bits: dict[HloInstruction, tuple[int, int]] = {}
    ends: dict[HloInstruction, int] = {}
    for i, start in _chains(post_order(computation), starts):
        mask = 0
        for earlier in (*i.operands, *i.control_predecessors()):
            mask |= before.get(earlier, 0)
        if start is i:
            bits[i] = 1 << 2 * len(bits), 2 << 2 * len(bits)
            mask |= bits[i][0]
        elif start is not None and flow_of(i).step is AsyncStep.DONE:
            mask |= bits[start][1]
            ends[start] = mask
        before[i] = mask
    for (a, (a_begins, a_ends)), (b, (b_begins, b_ends)) in itertools.combinations(bits.items(), 2):
        if not before[b] & a_ends and not before[a] & b_ends:
            yield b, a, bool(ends.get(a, 0) & b_begins and ends.get(b, 0) & a_begins)


def _meeting(view: View, start: HloInstruction) -> list[set[int]]:
    """Return the groups of devices that wait for each other in what an instruction starts."""
    replicas, partitions = view.module.device_counts
    if not 1 < replicas * partitions <= _MOST_DEVICES:
        return []
    if isinstance(calls := start.attributes.get("calls"), HloComputation):
        start = calls.root
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


@rule("W521", "unmatched-transfer", on=Scope.MODULE, needs=("send", "recv"))
def unmatched_transfer(view: View) -> Iterator[Finding]:
    """A send that no recv takes, or a recv that no send answers.

    What it does
        Finds pairs of source and target of sends for which no recv has the pair, the channel and the shape, and the
        other way round. It ignores transfers of the host, channels with an end without pairs, and modules with one end
        only whose header does not count the devices: other programs may hold the other end.

    Why
        The device at the one end waits forever for the device at the other end, or takes what another recv should.

    Bad
        HloModule m, num_partitions=2
        ENTRY main { x = f32[4] parameter(0)  t = token[] after-all()
          r = (f32[4], u32[], token[]) recv(t), channel_id=1,
            frontend_attributes={_xla_send_recv_source_target_pairs={{1,0}}}
          s = (f32[4], u32[], token[]) send(x, t), channel_id=1,
            frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
          sd = token[] send-done(s), channel_id=1
          rd = (f32[4], token[]) recv-done(r), channel_id=1
          ROOT y = f32[4] get-tuple-element(rd), index=0 }

    Good
        HloModule m, num_partitions=2
        ENTRY main { x = f32[4] parameter(0)  t = token[] after-all()
          r = (f32[4], u32[], token[]) recv(t), channel_id=1,
            frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
          s = (f32[4], u32[], token[]) send(x, t), channel_id=1,
            frontend_attributes={_xla_send_recv_source_target_pairs={{0,1}}}
          sd = token[] send-done(s), channel_id=1
          rd = (f32[4], token[]) recv-done(r), channel_id=1
          ROOT y = f32[4] get-tuple-element(rd), index=0 }

    Source
        XLA Operation Semantics, Send and Recv
    """
    sends, recvs = _ends(view, "send"), _ends(view, "recv")
    devices = [d for _, pair, _ in (*sends, *recvs) for d in pair]
    if not (sends and recvs) and max(devices, default=0) >= max(view.module.device_counts):
        return
    reported: set[HloInstruction] = set()
    for ends, others, said in ((sends, recvs, "device {0} sends {2} to {1} on channel {3}, and no recv takes it"),
                               (recvs, sends, "device {1} waits for {2} from {0} on channel {3}, and no send answers")):
        for end, instruction in ends.items():
            if end in others or instruction in reported:
                continue
            channel, (source, target), shape = end
            # the other end as it may be meant: with the same pair, or else on the same channel
            other = next((i for same in (1, 0) for e, i in others.items()
                          if e not in ends and e[same] == end[same]), None)
            reported |= {instruction} if other is None else {instruction, other}
            yield Finding(instruction, said.format(source, target, shape, channel),
                          help="give both ends one channel, one list of pairs and one shape",
                          notes=view.place(other, "the nearest other end is here") if other is not None else ())


#: the channel, the source and the target, and the shape of the data of a transfer
_End: TypeAlias = tuple[int, tuple[int, int], str]


def _ends(view: View, opcode: str) -> dict[_End, HloInstruction]:
    """Return the ends of transfers between devices that sends or recvs are, of channels on which all name pairs."""
    found = [(i, i.attributes.get("channel_id") or 0, pairs_of(i.attributes.get("frontend_attributes")))
             for i, _ in view.with_opcode("send", "recv") if not i.attributes.get("is_host_transfer")]
    unknown = {channel for _, channel, pairs in found if not pairs}
    return {(channel, pair, i.shape.members[0].text(False)): i
            for i, channel, pairs in found if i.opcode == opcode and channel not in unknown for pair in pairs}


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
