"""Rules about collectives and shardings that do not fit: devices that wait for ever, uneven groups, tiles."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Any

from hlotool.ir import HloComputation, HloInstruction, Sharding, post_order
from hlotool.ops import (
    OPS,
    Effect,
    circle_of,
    flow_of,
    group_mode_of,
    pairs_of,
    with_flag,
)
from hlotool.passes.lints.device_numbers import numbers_of
from hlotool.passes.lints.edits import bypassed, fix_of
from hlotool.passes.lints.module_view import View
from hlotool.passes.lints.rule import Finding, Fixability, Scope, rule
from hlotool.passes.lints.varying import Varying, groups_of, listed_groups

#: opcodes of collectives, in the order of their declaration
COLLECTIVES = tuple(opcode for opcode in OPS if opcode in with_flag("collective"))


def joined(instruction: HloInstruction) -> tuple[Any, ...]:
    """Return what a collective says of the devices that it joins, so that equal ones name them in the same way."""
    return instruction.attributes.get("replica_groups"), group_mode_of(instruction)


def same_groups(a: HloInstruction, b: HloInstruction) -> bool:
    """Return True if two collectives join the same devices, and name them in the same way."""
    return joined(a) == joined(b)


def is_partitioned(view: View) -> bool:
    """Return True if a module is one device's part of a program, so that shapes are no longer those of the whole."""
    return view.is_optimized or any(True for _ in view.with_opcode(*COLLECTIVES))


@rule("W501", "reused-channel", on=Scope.MODULE, needs=COLLECTIVES)
def reused_channel(view: View) -> Iterator[Finding]:
    """Two different collectives with one channel_id.

    What it does
        Finds collectives that share a channel_id and differ in operation, shape or groups, in modules that use
        several channels. Where all collectives have one channel, as JAX writes them, numbers mean nothing, and a
        finding is made only of different operations, in modules that no frontend wrote; nor do numbers mean
        anything in optimised modules, whose compilers copy collectives with their channels, nor channel 1 beside
        others where a partitioner has added collectives of its own to those that JAX wrote.

    Why
        The channel pairs the devices that take part: two operations on one channel may be matched with each other,
        which ends in wrong data or in a hang. It happens where modules are joined or copied by hand.

    Bad
        HloModule m, num_partitions=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4] parameter(0)
          r = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
          g = f32[8] all-gather(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}
          p = f32[8] collective-permute(g), channel_id=2, source_target_pairs={{0,1},{1,0}}
          ROOT t = (f32[4], f32[8]) tuple(r, p) }

    Good
        HloModule m, num_partitions=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4] parameter(0)
          r = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
          g = f32[8] all-gather(x), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, dimensions={0}
          p = f32[8] collective-permute(g), channel_id=3, source_target_pairs={{0,1},{1,0}}
          ROOT t = (f32[4], f32[8]) tuple(r, p) }

    Source
        XLA, hlo_channel_ids; XLA Operation Semantics, AllReduce
    """
    if view.is_optimized:
        return
    first: dict[int, HloInstruction] = {}
    found = [(i.attributes["channel_id"], i) for i, _ in view.with_opcode(*COLLECTIVES)
             if i.attributes.get("channel_id")]
    has_several = len({channel for channel, _ in found}) > 1
    is_written = view.is_traced or view.module.name.startswith("jit_") or any(i.metadata is not None for _, i in found)
    if has_several or not is_written:
        for channel, instruction in found:
            if is_written and channel == _OF_JAX:
                continue
            other = first.setdefault(channel, instruction)
            if other.opcode != instruction.opcode or (has_several and (_kind(other), other.shape) != (
                    _kind(instruction), instruction.shape)):
                yield Finding(instruction, f"channel {channel} is that of {other.name}, too: {_article(other)}",
                              help="give each collective a channel of its own", part=r"\bchannel_id=\d+",
                              notes=view.place(other, "the first stands here"))


def _article(instruction: HloInstruction) -> str:
    return f"{'an' if instruction.opcode[0] in 'aeiou' else 'a'} {instruction.opcode}"


#: the channel that JAX gives to all collectives. Source: JAX, COLLECTIVE_CHANNEL_ID
_OF_JAX = 1
#: collectives in which groups of devices wait for each other
_GROUPED = frozenset(o for o in COLLECTIVES if not o.endswith("-done") and any(
    a.name == "replica_groups" for a in OPS[o].attributes))


def _kind(instruction: HloInstruction) -> tuple[Any, ...]:
    return instruction.opcode, *joined(instruction), instruction.attributes.get("source_target_pairs")


@rule("W502", "divergent-collective", on=("conditional",))
def divergent_collective(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A collective in one branch of a conditional and not in the others.

    What it does
        Finds conditionals whose branches run different collectives, or the same in another order (by data, control or
        schedule), unless the choice is a constant, or devices that meet in one of them choose alike: by their numbers,
        by what collectives over all of them have given, by what shardings say.

    Why
        If the devices of a group choose different branches, some wait for the others forever.

    Bad
        HloModule m, replica_count=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        a { x = f32[4] parameter(0)  ROOT y = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add }
        b { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }
        ENTRY main { p = pred[] parameter(0)  x = f32[4] parameter(1)
                     ROOT y = f32[4] conditional(p, x, x), true_computation=a, false_computation=b }

    Good
        HloModule m, replica_count=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        a { x = f32[4] parameter(0)  ROOT y = f32[4] tanh(x) }
        b { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }
        ENTRY main { p = pred[] parameter(0)  x = f32[4] parameter(1)
                     c = f32[4] conditional(p, x, x), true_computation=a, false_computation=b
                     ROOT y = f32[4] all-reduce(c), replica_groups={{0,1}}, to_apply=add }

    Source
        XLA Operation Semantics, Conditional and AllReduce
    """
    branches = instruction.called_computations()
    runs = [sorted(_collectives(view, c)) for c in branches]
    if any(r != runs[0] for r in runs):
        if not _may_part(view, instruction):
            return
        most = max(runs, key=len)
        yield Finding(instruction, f"the branches run different collectives ({', '.join(dict.fromkeys(most))}), so "
                      "devices that choose differently wait forever",
                      help="run the collective outside of the conditional, or make sure that all devices agree")
        return
    for one, other in itertools.combinations(branches, 2):
        if crossed := _crossed(view, one, other):
            first, second = crossed
            yield Finding(instruction, f"{one.name} runs {first.name} before {second.name}, and {other.name} the same "
                          "two in the other order, so devices that choose differently wait forever",
                          help="run them in one order in all branches", notes=view.place(first, "the first of them"))
            return


def _may_part(view: View, conditional: HloInstruction) -> bool:
    """Return True if devices that meet in a collective of one branch may take another branch."""
    inner = [i for c in conditional.called_computations() for i in _grouped_in(view, c)]
    numbers = numbers_of(view, conditional.operands[0])
    if numbers is not None:
        last = len(conditional.called_computations()) - 1
        taken = [0 if n else 1 for n in numbers] if numbers.dtype == bool else [
            int(n) if 0 <= n <= last else last for n in numbers]
        rows = [group for i in inner for group in listed_groups(view, i) or (range(len(taken)),)]
        return any(len({taken[d] for d in group}) > 1 for group in rows)
    if all(groups_of(view, i) is not None and not _differs_within(view, conditional.operands[0], i, trusts=False)
           for i in inner):
        return False
    choice = view.origin(conditional.operands[0])
    while choice.opcode in ("convert", "compare", "clamp", "get-tuple-element") and choice.operands:
        choice = view.origin(choice.operands[0])
    if choice.opcode == "constant":
        return False
    record = OPS.get(choice.opcode)
    if record is None or "collective" not in record.flags:
        return True
    if flow_of(choice).effect is Effect.DEVICE:  # devices of one group may well choose alike
        return any(len(listed_groups(view, i)) <= 1 for i in inner)
    return any(_differs_within(view, conditional.operands[0], i, trusts=True) for i in inner)


def _differs_within(view: View, value: HloInstruction, collective: HloInstruction, *, trusts: bool) -> bool:
    """Return True if devices that meet in a collective may have different values of an instruction."""
    groups = groups_of(view, collective)
    known = Varying.between(view, groups, trusts) if groups is not None else None
    return known is not None and known.differs(value)


def _grouped_in(view: View, computation: HloComputation) -> list[HloInstruction]:
    """Return the collectives of several devices in which running a computation makes groups meet."""
    found, seen, waiting = [], {computation}, [computation]
    while waiting:
        for i in waiting.pop().instructions:
            if i.opcode in _GROUPED and max(view.group_sizes(i), default=2) > 1:
                found.append(i)
            inner = [c for c in i.called_computations() if c not in seen] if i.attributes else []
            seen.update(inner)
            waiting += inner
    return found


@rule("W520", "divergent-loop", on=("while",))
def divergent_loop(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A collective in a loop that may run further on some of the devices which meet in it.

    What it does
        Finds loops with collectives whose condition may differ between the devices of one group: it depends on the
        device's number, on a parameter that is split, or on what a collective over other devices has given.

    Why
        Devices that go on wait forever in the collective for those that have left the loop.

    Bad
        HloModule m, num_partitions=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        goes_on { t = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(t), index=0
          p = u32[] partition-id()  n = s32[] convert(p)  ROOT c = pred[] compare(i, n), direction=LT }
        body { t = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(t), index=0
          x = f32[4] get-tuple-element(t), index=1  one = s32[] constant(1)  j = s32[] add(i, one)
          r = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
          ROOT u = (s32[], f32[4]) tuple(j, r) }
        ENTRY main { x = f32[4] parameter(0)  z = s32[] constant(0)  s = (s32[], f32[4]) tuple(z, x)
          ROOT w = (s32[], f32[4]) while(s), condition=goes_on, body=body }

    Good
        HloModule m, num_partitions=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        goes_on { t = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(t), index=0
          n = s32[] constant(3)  ROOT c = pred[] compare(i, n), direction=LT }
        body { t = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(t), index=0
          x = f32[4] get-tuple-element(t), index=1  one = s32[] constant(1)  j = s32[] add(i, one)
          r = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
          ROOT u = (s32[], f32[4]) tuple(j, r) }
        ENTRY main { x = f32[4] parameter(0)  z = s32[] constant(0)  s = (s32[], f32[4]) tuple(z, x)
          ROOT w = (s32[], f32[4]) while(s), condition=goes_on, body=body }

    Source
        XLA Operation Semantics, While and AllReduce
    """
    condition = instruction.attributes.get("condition")
    if not isinstance(condition, HloComputation):
        return
    for inner in (i for c in instruction.called_computations() for i in _grouped_in(view, c)):
        if _differs_within(view, condition.root, inner, trusts=True):
            yield Finding(instruction, f"its condition may differ between devices that meet in {inner.name}, so that "
                          "some wait forever for those which have left the loop",
                          help="let the condition depend on what all of them have alike",
                          notes=view.place(inner, "devices meet here"))
            return


def _crossed(view: View, one: HloComputation, other: HloComputation) -> tuple[HloInstruction, HloInstruction] | None:
    """Return two collectives of a computation that follow each other there, and the other way round in another one."""
    mine, theirs = _by_kind(one), _by_kind(other)
    if len(mine) < 2 or mine.keys() != theirs.keys():
        return None
    own, foreign = _following(view, one), _following(view, other)
    return next(((mine[a], mine[b]) for a, b in itertools.permutations(mine, 2)
                 if mine[a] in own[mine[b]] and theirs[b] in foreign[theirs[a]]
                 and _share(view, mine[a], mine[b])), None)


def _by_kind(computation: HloComputation) -> dict[Any, HloInstruction]:
    """Return the collectives of a computation by channel, operation and groups; none of those that occur twice."""
    found: dict[Any, list[HloInstruction]] = {}
    for i in computation.instructions:
        if i.opcode in _GROUPED:
            found.setdefault((i.attributes.get("channel_id"), *_kind(i)), []).append(i)
    return {key: rows[0] for key, rows in found.items() if len(rows) == 1}


def _following(view: View, computation: HloComputation) -> dict[HloInstruction, set[HloInstruction]]:
    """Return the collectives that run before each instruction: in a schedule, by data or by control."""
    found: dict[HloInstruction, set[HloInstruction]] = {}
    ran: set[HloInstruction] = set()
    for i in computation.instructions if view.is_scheduled else post_order(computation):
        before = (*i.operands, *i.control_predecessors())
        found[i] = set(ran) if view.is_scheduled else {
            c for p in before for c in (*found.get(p, ()), *[p] * (p.opcode in _GROUPED))}
        if i.opcode in _GROUPED:
            ran.add(i)
    return found


def _share(view: View, a: HloInstruction, b: HloInstruction) -> bool:
    """Return True if two devices meet in both of two collectives."""
    rows = [listed_groups(view, i) for i in (a, b)]
    return not all(rows) or any(len(set(x) & set(y)) > 1 for x in rows[0] for y in rows[1])


def _collectives(view: View, computation: HloComputation) -> list[str]:
    """Return the opcodes of the collectives that running a computation runs."""
    known = view.memory.setdefault("collectives", {})
    assert isinstance(known, dict)
    if computation not in known:
        known[computation] = []
        found: list[str] = []
        for instruction in computation.instructions:
            if instruction.opcode in COLLECTIVES and max(view.group_sizes(instruction), default=2) > 1:
                found.append(instruction.opcode)
            for callee in instruction.called_computations() if instruction.attributes else ():
                found.extend(_collectives(view, callee))
        known[computation] = found
    result: list[str] = known[computation]
    return result


@rule("W503", "uneven-groups", on=COLLECTIVES)
def uneven_groups(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """Replica groups of different sizes.

    What it does
        Finds all-reduces whose groups differ in size; other collectives may not have such groups at all.

    Why
        Means that divide by a fixed size are wrong in the smaller groups, and most backends refuse such groups.
        Mostly a device is missing in a list.

    Bad
        HloModule m, replica_count=3
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4] parameter(0)
                     ROOT y = f32[4] all-reduce(x), replica_groups={{0,1},{2}}, to_apply=add }

    Good
        HloModule m, replica_count=4
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4] parameter(0)
                     ROOT y = f32[4] all-reduce(x), replica_groups={{0,1},{2,3}}, to_apply=add }

    Source
        StableHLO specification, all_reduce; XLA, hlo_verifier.cc, CheckReplicaGroups
    """
    sizes = view.group_sizes(instruction)
    if len(sizes) > 1:
        yield Finding(instruction, f"the groups have {' and '.join(map(str, sorted(sizes)))} devices",
                      help="list every device in groups of one size", part=r"\breplica_groups=\S+")


@rule("W504", "lonely-collective", on=("all-reduce", "all-gather", "reduce-scatter", "all-to-all"),
      fix=Fixability.SAFE)
def lonely_collective(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A collective whose groups have one device each.

    What it does
        Finds all-reduces, all-gathers, reduce-scatters and all-to-alls over groups of one.

    Why
        Nothing is exchanged; the operation still costs a launch and stops fusion.

    Bad
        HloModule m, replica_count=2
        ENTRY main {
          x = f32[4] parameter(0)
          r = f32[4] all-gather(x), replica_groups={{0},{1}}, dimensions={0}
          ROOT y = f32[4] negate(r)
        }

    Good
        HloModule m, replica_count=2
        ENTRY main {
          x = f32[4] parameter(0)
          ROOT y = f32[4] negate(x)
        }

    Source
        XLA, all_reduce_simplifier.cc
    """
    if view.group_sizes(instruction) == {1}:
        operand = instruction.operands[0]
        changes = bypassed(view, instruction, operand) if len(instruction.operands) == 1 \
            and operand.shape is instruction.shape else None
        # Without a count in the header, the groups of collectives tell how many devices run the module.
        is_safe = not {"replica_count", "num_partitions"}.isdisjoint(view.module.attributes)
        yield Finding(instruction, "every group has one device", help=f"use {operand.name}",
                      fix=fix_of(view.module.source, f"use {operand.name}", changes, is_safe))


@rule("W507", "undividable-sharding", on=Scope.MODULE, needs=("sharding",))
def undividable_sharding(view: View) -> Iterator[Finding]:
    """A sharding whose tiles do not divide a dimension.

    What it does
        Finds tiled shardings with a number of tiles that does not divide the dimension's size. Each combination of
        size and tiles is reported once. Modules with collectives are partitioned already: their shapes are those of
        one device.

    Why
        The last tiles are padded: devices hold and compute what is not there, reductions mask it, and programs of
        one partition see other shapes than expected. JAX refuses such shardings at its borders.

    Bad
        HloModule m, num_partitions=4
        ENTRY main { x = f32[6,8] parameter(0), sharding={devices=[4,1]0,1,2,3}  ROOT y = f32[6,8] negate(x) }

    Good
        HloModule m, num_partitions=4
        ENTRY main { x = f32[8,8] parameter(0), sharding={devices=[4,1]0,1,2,3}  ROOT y = f32[8,8] negate(x) }

    Source
        XLA, hlo_sharding.h; JAX, NamedSharding
    """
    seen: set[tuple[int, int]] = set()
    if is_partitioned(view):
        return
    for computation in view.module.computations:
        for instruction in computation.instructions:
            sharding = instruction.attributes.get("sharding")
            if isinstance(sharding, Sharding):
                yield from _undividable(instruction, sharding, seen)


def _undividable(instruction: HloInstruction, sharding: Sharding, seen: set[tuple[int, int]]) -> Iterator[Finding]:
    shapes = [s for _, s in instruction.shape.leaves()]
    for shape, element in zip(shapes, sharding.elements or (sharding,), strict=False):
        for dimension, (size, tiles) in enumerate(zip(shape.dims, _tiles(element), strict=False)):
            if size > 0 and tiles > 1 and size % tiles and (size, tiles) not in seen:
                seen.add((size, tiles))
                padded = math.ceil(size / tiles) * tiles
                yield Finding(instruction, f"dimension {dimension} of {shape.text(False)} is cut into {tiles} tiles; "
                              f"it is padded to {padded}", help="choose a size that they divide, or another mesh",
                              part=r"\bsharding=")


def _tiles(sharding: Sharding) -> tuple[int, ...]:
    if sharding.kind == "named" and sharding.mesh is not None:
        sizes = dict(sharding.mesh.axes)
        return tuple(math.prod(a.size if a.size is not None else sizes.get(a.name, 1) for a in d.axes)
                     for d in sharding.dim_shardings)
    return sharding.tile_dims


@rule("W517", "receive-before-send", on=("send",))
def receive_before_send(view: View, send: HloInstruction) -> Iterator[Finding]:
    """A send that waits for what is received on its channel, on devices that send in a circle.

    What it does
        Finds sends that depend, by data or token, on the recv-done of their channel, where the pairs of source and
        target lead from a device back to itself.

    Why
        Each device of the circle waits for the value of another one before it sends its own: all wait forever.

    Bad
        HloModule m, num_partitions=2
        ENTRY main { x = f32[4] parameter(0)  t = token[] after-all()
          r = (f32[4], u32[], token[]) recv(t), channel_id=1,
            frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}
          rd = (f32[4], token[]) recv-done(r), channel_id=1
          u = token[] get-tuple-element(rd), index=1
          s = (f32[4], u32[], token[]) send(x, u), channel_id=1,
            frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}
          sd = token[] send-done(s), channel_id=1
          ROOT y = f32[4] get-tuple-element(rd), index=0 }

    Good
        HloModule m, num_partitions=2
        ENTRY main { x = f32[4] parameter(0)  t = token[] after-all()
          r = (f32[4], u32[], token[]) recv(t), channel_id=1,
            frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}
          s = (f32[4], u32[], token[]) send(x, t), channel_id=1,
            frontend_attributes={_xla_send_recv_source_target_pairs={{0,1},{1,0}}}
          sd = token[] send-done(s), channel_id=1
          rd = (f32[4], token[]) recv-done(r), channel_id=1
          ROOT y = f32[4] get-tuple-element(rd), index=0 }

    Source
        XLA, hlo_verifier.cc, VerifyNoCollectiveDeadlocks
    """
    pairs = pairs_of(send.attributes.get("frontend_attributes"))
    if send.attributes.get("is_host_transfer") or circle_of(pairs) is None:
        return
    seen, waiting = {send}, [send]
    while waiting:
        at = waiting.pop()
        channel = at.attributes.get("channel_id")
        if at.opcode == "recv-done" and channel == send.attributes.get("channel_id") and at.operands and pairs_of(
                at.operands[0].attributes.get("frontend_attributes")) == pairs:
            yield Finding(send, f"it waits for {at.name}: devices that send in a circle wait for each other forever",
                          help="send before the recv-done", notes=view.place(at, "what is received before"))
            return
        for before in (*at.operands, *at.control_predecessors()):
            if before not in seen:
                seen.add(before)
                waiting.append(before)
