"""Rules about collectives and shardings: deadlocks, traffic that could be less, tiles that do not fit."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from hlotool.diagnostics import Severity
from hlotool.ir import HloComputation, HloInstruction, ReplicaGroups, Sharding
from hlotool.ops import OPS
from hlotool.passes.lints.edits import bypassed, fix_of
from hlotool.passes.lints.rule import Finding, Fixability, Scope, rule
from hlotool.passes.lints.view import View, flagged, readable

COLLECTIVES = flagged("collective")


def group_sizes(instruction: HloInstruction) -> set[int]:
    """The sizes of an instruction's replica groups; empty where there are none listed."""
    groups = instruction.attributes.get("replica_groups")
    if not isinstance(groups, ReplicaGroups):
        return set()
    return groups.sizes()


def same_groups(a: HloInstruction, b: HloInstruction) -> bool:
    """Whether two collectives join the same devices, and name them in the same way."""
    return all(a.attributes.get(n) == b.attributes.get(n) for n in ("replica_groups", "use_global_device_ids")) \
        and (a.attributes.get("channel_id") is None) == (b.attributes.get("channel_id") is None)


def is_partitioned(view: View) -> bool:
    """Whether a module is one device's part of a program, so that shapes are no longer those of the whole."""
    return view.is_optimized or any(True for _ in view.with_opcode(*COLLECTIVES))


@rule("W501", "reused-channel", on=Scope.MODULE)
def reused_channel(view: View) -> Iterator[Finding]:
    """Two different collectives with one channel_id.

    What it does
        Finds collectives that share a channel_id and differ in operation, shape or groups, in modules that use
        several channels. Where all collectives have one channel, as JAX writes them, numbers mean nothing; nor do they
        in optimised modules, whose compilers copy collectives with their channels.

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
    if len({channel for channel, _ in found}) > 1:
        for channel, instruction in found:
            other = first.setdefault(channel, instruction)
            if other is not instruction and (_kind(other), other.shape) != (_kind(instruction), instruction.shape):
                yield Finding(instruction, f"channel {channel} is that of {other.name}, too: another {other.opcode}",
                              help="give each collective a channel of its own", part=r"\bchannel_id=\d+",
                              notes=view.place(other, "the first stands here"))


_WITH_CHANNEL = frozenset(COLLECTIVES)


def _kind(instruction: HloInstruction) -> tuple[Any, ...]:
    return instruction.opcode, instruction.attributes.get("replica_groups"), \
        instruction.attributes.get("source_target_pairs")


@rule("W502", "divergent-collective", on=("conditional",))
def divergent_collective(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A collective in one branch of a conditional and not in the others.

    What it does
        Finds conditionals whose branches run different collectives, unless the choice is a constant or comes from
        a collective over all devices.

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
    choice = view.origin(instruction.operands[0])
    while choice.opcode in ("convert", "compare", "clamp", "get-tuple-element") and choice.operands:
        choice = view.origin(choice.operands[0])
    record = OPS.get(choice.opcode)
    if choice.opcode == "constant" or (record is not None and "collective" in record.flags):
        return
    runs = [sorted(_collectives(view, c)) for c in instruction.called_computations()]
    if any(r != runs[0] for r in runs):
        most = max(runs, key=len)
        yield Finding(instruction, f"the branches run different collectives ({', '.join(dict.fromkeys(most))}), so "
                      "devices that choose differently wait forever",
                      help="run the collective outside of the conditional, or make sure that all devices agree")


def _collectives(view: View, computation: HloComputation) -> list[str]:
    """The opcodes of the collectives that running a computation runs."""
    known = view.memory.setdefault("collectives", {})
    assert isinstance(known, dict)
    if computation not in known:
        known[computation] = []
        found: list[str] = []
        for instruction in computation.instructions:
            if instruction.opcode in _WITH_CHANNEL and max(group_sizes(instruction), default=2) > 1:
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
    sizes = group_sizes(instruction)
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
    if group_sizes(instruction) == {1}:
        operand = instruction.operands[0]
        changes = bypassed(view, instruction, operand) if len(instruction.operands) == 1 \
            and operand.shape is instruction.shape else None
        # Without a count in the header, the groups of collectives tell how many devices run the module.
        is_safe = not {"replica_count", "num_partitions"}.isdisjoint(view.module.attributes)
        yield Finding(instruction, "every group has one device", help=f"use {operand.name}",
                      fix=fix_of(view.module.source, f"use {operand.name}", changes, is_safe))


@rule("W505", "gather-then-slice", on=("all-gather",))
def gather_then_slice(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """An all-gather of which each device uses a part.

    What it does
        Finds all-gathers all of whose users are slices or dynamic-slices.

    Why
        Everything is sent to everyone, and most of it dropped: if each device cuts its own part out, nothing had to
        be sent; if it cuts another's, a collective-permute or all-to-all sends just that.

    Bad
        HloModule m, replica_count=4
        ENTRY main { x = f32[8] parameter(0)  i = s32[] parameter(1)
                     g = f32[32] all-gather(x), replica_groups={{0,1,2,3}}, dimensions={0}
                     ROOT y = f32[8] dynamic-slice(g, i), dynamic_slice_sizes={8} }

    Good
        HloModule m, replica_count=4
        ENTRY main { x = f32[8] parameter(0)  ROOT y = f32[8] collective-permute(x),
                     source_target_pairs={{0,1},{1,2},{2,3},{3,0}} }

    Source
        XLA, all_gather_dynamic_slice_simplifier.cc
    """
    users = [i for u in view.users(instruction)
             for i in (view.users(u) if u.opcode in ("bitcast", "reshape", "copy", "convert") else [u])]
    size = view.bytes(instruction.shape)
    if users and all(u.opcode in ("slice", "dynamic-slice") and view.bytes(u.shape) * 2 <= size for u in users):
        yield Finding(instruction, f"{readable(size)} are gathered, and {users[0].name} takes "
                      f"{readable(view.bytes(users[0].shape))} of it", help="slice before, or permute")


@rule("W506", "reduce-scatter-opportunity", on=("all-reduce",), tidied=True)
def reduce_scatter_opportunity(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """An all-reduce of which each device uses its own part.

    What it does
        Finds all-reduces all of whose users are dynamic-slices of at most half.

    Why
        A reduce-scatter gives each device its part with half the traffic.

    Bad
        HloModule m, replica_count=4
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[32] parameter(0)
                     r = f32[32] all-reduce(x), replica_groups={{0,1,2,3}}, to_apply=add
                     id = u32[] replica-id()  eight = u32[] constant(8)  at = u32[] multiply(id, eight)
                     ROOT y = f32[8] dynamic-slice(r, at), dynamic_slice_sizes={8} }

    Good
        HloModule m, replica_count=4
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[32] parameter(0)
                     ROOT r = f32[8] reduce-scatter(x), replica_groups={{0,1,2,3}}, dimensions={0}, to_apply=add }

    Source
        XLA, reduce_scatter_creator.cc
    """
    users = view.users(instruction)
    size = view.bytes(instruction.shape)
    if users and instruction.shape.is_array and all(
            u.opcode == "dynamic-slice" and u.operands[0] is instruction and view.bytes(u.shape) * 2 <= size
            for u in users):
        yield Finding(instruction, f"{readable(size)} are reduced on every device, each uses "
                      f"{readable(view.bytes(users[0].shape))}", help="use reduce-scatter")


@rule("W507", "undividable-sharding", on=Scope.MODULE)
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


@rule("W508", "async-without-overlap", on=("all-reduce-start", "all-gather-start", "collective-permute-start",
                                            "async-start", "copy-start"))
def async_without_overlap(view: View, instruction: HloInstruction, *, bytes: int = 1 << 16) -> Iterator[Finding]:
    """An asynchronous operation that is awaited at once.

    What it does
        Finds starts of collectives and copies in a schedule, of at least `bytes` bytes, between which and their
        completion nothing is computed.

    Why
        The point of starting early is to work meanwhile. Here the device waits for the network or the memory.

    Bad
        HloModule m, is_scheduled=true, replica_count=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[65536]{0} parameter(0)
                     s = f32[65536]{0} all-reduce-start(x), replica_groups={{0,1}}, to_apply=add
                     d = f32[65536]{0} all-reduce-done(s)
                     ROOT y = f32[65536]{0} tanh(x), control-predecessors={d} }

    Good
        HloModule m, is_scheduled=true, replica_count=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[65536]{0} parameter(0)
                     s = f32[65536]{0} all-reduce-start(x), replica_groups={{0,1}}, to_apply=add
                     y = f32[65536]{0} tanh(x)
                     d = f32[65536]{0} all-reduce-done(s)
                     ROOT t = (f32[65536]{0}, f32[65536]{0}) tuple(y, d) }

    Source
        XLA, latency_hiding_scheduler.cc
    """
    if not view.is_scheduled or view.bytes(instruction.shape) < bytes:
        return
    if instruction.opcode == "async-start" and not any(
            i.opcode in _WITH_CHANNEL for c in instruction.called_computations() for i in c.instructions):
        return
    order = _order(view)
    done = view.users(instruction)
    if len(done) != 1 or not done[0].opcode.endswith("-done"):
        return
    rows = view.computation.instructions[order[instruction] + 1:order[done[0]]]
    if all(i.opcode in _FREE or i.opcode.endswith(("-start", "-done")) for i in rows):
        yield Finding(instruction, f"nothing is computed before {done[0].name}",
                      help="see what keeps other work from being scheduled between them")


_FREE = frozenset({"bitcast", "get-tuple-element", "tuple", "parameter", "constant", "opt-barrier", "after-all"})


def _order(view: View) -> dict[HloInstruction, int]:
    key = f"order of {id(view.computation)}"
    found = view.memory.get(key)
    if not isinstance(found, dict):
        found = view.memory[key] = {i: n for n, i in enumerate(view.computation.instructions)}
    return found


@rule("W509", "repeated-all-reduce", on=("all-reduce",))
def repeated_all_reduce(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """An all-reduce of an all-reduce.

    What it does
        Finds all-reduces over the same groups of a value that has just been summed over them, possibly scaled or
        converted in between.

    Why
        After the first every device has the sum; the second adds up equal values, so the result is the group's size
        times too large. It happens where both a library and the model average gradients. A maximum is only wasted.

    Bad
        HloModule m, replica_count=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4] parameter(0)  r = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add
                     ROOT y = f32[4] all-reduce(r), replica_groups={{0,1}}, to_apply=add }

    Good
        HloModule m, replica_count=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[4] parameter(0)  ROOT r = f32[4] all-reduce(x), replica_groups={{0,1}}, to_apply=add }

    Source
        XLA, all_reduce_folder.cc
    """
    if at := summed_before(view, instruction):
        yield Finding(instruction, f"{at.name} has reduced the value over the same devices already",
                      help=f"use {at.name}")


def summed_before(view: View, instruction: HloInstruction) -> HloInstruction | None:
    """The all-reduce over the same groups whose result, scaled or converted at most, an all-reduce takes."""
    at = view.origin(instruction.operands[0])
    while at.opcode == "convert" or (at.opcode in ("multiply", "divide") and view.constant(at.operands[1]) is not None):
        at = view.origin(at.operands[0])
    return at if at.opcode == "all-reduce" and same_groups(at, instruction) else None


@rule("W510", "identity-permute", on=("collective-permute",))
def identity_permute(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A collective-permute that sends to its own device.

    What it does
        Finds collective-permutes all of whose pairs have one device on both sides, or that have no pairs.

    Why
        Nothing moves between devices; those that are not listed get zeros. Often an offset modulo the number of
        devices has become 0.

    Bad
        HloModule m, replica_count=2
        ENTRY main { x = f32[4] parameter(0)
                     ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,0},{1,1}} }

    Good
        HloModule m, replica_count=2
        ENTRY main { x = f32[4] parameter(0)
                     ROOT y = f32[4] collective-permute(x), source_target_pairs={{0,1},{1,0}} }

    Source
        XLA Operation Semantics, CollectivePermute
    """
    pairs = instruction.attributes.get("source_target_pairs")
    if pairs is not None and all(a == b for a, b in pairs):
        yield Finding(instruction, "no pair has two devices" if pairs else "there are no pairs, so all get zeros",
                      help="mend the pairs", part=r"\bsource_target_pairs=\S+")


@rule("W511", "uncombined-collectives", on=Scope.COMPUTATION, severity=Severity.INFO)
def uncombined_collectives(view: View, computation: HloComputation, *, count: int = 8,
                           bytes: int = 1 << 16) -> Iterator[Finding]:
    """Many small collectives that could be one.

    What it does
        Finds, in scheduled modules, at least `count` all-reduces, all-gathers or reduce-scatters of one computation,
        each of at most `bytes` bytes, over the same groups.

    Why
        Each one costs a launch and a round trip; the data are nothing beside that. Compilers combine them up to a
        threshold that can be raised.

    Bad
        HloModule m, is_scheduled=true, replica_count=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main {
          a = f32[4]{0} parameter(0)
          b = f32[4]{0} parameter(1)
          c = f32[4]{0} parameter(2)
          d = f32[4]{0} parameter(3)
          e = f32[4]{0} parameter(4)
          f = f32[4]{0} parameter(5)
          g = f32[4]{0} parameter(6)
          h = f32[4]{0} parameter(7)
          ra = f32[4]{0} all-reduce(a), replica_groups={{0,1}}, to_apply=add
          rb = f32[4]{0} all-reduce(b), replica_groups={{0,1}}, to_apply=add
          rc = f32[4]{0} all-reduce(c), replica_groups={{0,1}}, to_apply=add
          rd = f32[4]{0} all-reduce(d), replica_groups={{0,1}}, to_apply=add
          re = f32[4]{0} all-reduce(e), replica_groups={{0,1}}, to_apply=add
          rf = f32[4]{0} all-reduce(f), replica_groups={{0,1}}, to_apply=add
          rg = f32[4]{0} all-reduce(g), replica_groups={{0,1}}, to_apply=add
          rh = f32[4]{0} all-reduce(h), replica_groups={{0,1}}, to_apply=add
          ROOT t = (f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0})
                   tuple(ra, rb, rc, rd, re, rf, rg, rh) }

    Good
        HloModule m, is_scheduled=true, replica_count=2
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main {
          a = f32[4]{0} parameter(0)
          b = f32[4]{0} parameter(1)
          c = f32[4]{0} parameter(2)
          d = f32[4]{0} parameter(3)
          e = f32[4]{0} parameter(4)
          f = f32[4]{0} parameter(5)
          g = f32[4]{0} parameter(6)
          h = f32[4]{0} parameter(7)
          ROOT t = (f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0}, f32[4]{0})
                   all-reduce(a, b, c, d, e, f, g, h), replica_groups={{0,1}}, to_apply=add }

    Source
        XLA, all_reduce_combiner.cc
    """
    if not view.is_scheduled:
        return
    groups: dict[Any, list[HloInstruction]] = {}
    for instruction in computation.instructions:
        if instruction.opcode in _COMBINABLE and view.bytes(instruction.shape) <= bytes:
            key = (instruction.opcode, instruction.attributes.get("replica_groups"),
                   instruction.attributes.get("dimensions"), instruction.operands[0].shape.element_type)
            groups.setdefault(key, []).append(instruction)
    for found in groups.values():
        # Those that wait for each other cannot be one.
        independent = [i for i in found if all(o.opcode not in _COMBINABLE for o in i.operands)]
        if len(independent) >= count:
            total = sum(view.bytes(i.shape) for i in independent)
            yield Finding(independent[0], f"{len(independent)} {independent[0].opcode}s of {readable(total)} in all go "
                          "over the same groups", help="combine them")


_COMBINABLE = frozenset({"all-reduce", "all-gather", "reduce-scatter", "all-reduce-start", "all-gather-start"})
