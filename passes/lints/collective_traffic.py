"""Rules about the traffic of collectives: what could be less, fewer, or hidden behind arithmetic."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from hlotool.diagnostics import Severity
from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import flow_of, with_flag
from hlotool.passes.lints.collectives import COLLECTIVES, joined, same_groups
from hlotool.passes.lints.loop_work import HOST_MEMORY
from hlotool.passes.lints.module_view import View, readable
from hlotool.passes.lints.rule import Finding, Scope, rule


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
             for i in (view.users(u) if flow_of(u).rearranges or u.opcode == "convert" else [u])]
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


@rule("W508", "async-without-overlap", on=("all-reduce-start", "all-gather-start", "collective-permute-start",
                                            "async-start", "copy-start"), scheduled=True)
def async_without_overlap(view: View, instruction: HloInstruction, *, bytes: int = 1 << 16) -> Iterator[Finding]:
    """An asynchronous operation that is awaited at once.

    What it does
        Finds starts of collectives, and of copies from and to the host's memory, in a schedule, of at least `bytes`
        bytes, between which and their completion nothing is computed.

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
    if view.bytes(instruction.shape) < bytes:
        return
    if instruction.opcode == "async-start" and not any(
            i.opcode in COLLECTIVES for c in instruction.called_computations() for i in c.instructions):
        return
    if instruction.opcode == "copy-start" and not any(
            s.layout is not None and s.layout.memory_space == HOST_MEMORY for _, s in instruction.shape.leaves()):
        return  # what a compiler fetches into a fast memory is its own affair
    order = _order(view)
    done = view.users(instruction)
    if len(done) != 1 or not done[0].opcode.endswith("-done"):
        return
    rows = view.computation.instructions[order[instruction] + 1:order[done[0]]]
    if all(flow_of(i).is_free or flow_of(i).step is not None for i in rows):
        yield Finding(instruction, f"nothing is computed before {done[0].name}",
                      help="see what keeps other work from being scheduled between them")


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
    """Return the all-reduce over the same groups whose result, scaled or converted at most, an all-reduce takes."""
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


@rule("W511", "uncombined-collectives", on=Scope.COMPUTATION, severity=Severity.INFO, scheduled=True)
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
    for found in _combinable(view, computation, bytes):
        # Those that wait for each other cannot be one.
        independent = [i for i in found if all(o.opcode not in _COMBINABLE for o in i.operands)]
        if len(independent) >= count:
            total = sum(view.bytes(i.shape) for i in independent)
            yield Finding(independent[0], f"{len(independent)} {independent[0].opcode}s of {readable(total)} in all go "
                          "over the same groups", help="combine them")


_COMBINABLE = with_flag("combinable")


def _combinable(view: View, computation: HloComputation, bytes: int) -> Iterable[list[HloInstruction]]:
    """Return the collectives of at most so many bytes, together that are of one kind over the same groups."""
    groups: dict[Any, list[HloInstruction]] = {}
    for instruction in computation.instructions:
        if instruction.opcode in _COMBINABLE and view.bytes(instruction.shape) <= bytes:
            key = (instruction.opcode, *joined(instruction), instruction.attributes.get("dimensions"),
                   instruction.operands[0].shape.element_type)
            groups.setdefault(key, []).append(instruction)
    return groups.values()
