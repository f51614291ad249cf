"""Rules about collectives that need not be: of values that all devices have, that nobody uses, or that run twice."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hlotool.ir import HloComputation, HloInstruction
from hlotool.ops import binary_opcode, with_flag
from hlotool.passes.lints.collective_traffic import summed_before
from hlotool.passes.lints.collectives import COLLECTIVES
from hlotool.passes.lints.edits import bypassed, fix_of, removed
from hlotool.passes.lints.module_view import View, readable
from hlotool.passes.lints.rule import Finding, Fixability, Scope, rule
from hlotool.passes.lints.varying import Varying, groups_of

#: collectives whose result is known where all devices of a group bring the same
_MOVING = tuple(sorted(with_flag("uniform") | with_flag("combinable") | {"all-to-all"}))


@rule("W513", "shared-operand", on=_MOVING)
def shared_operand(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A collective of a value that its devices have already.

    What it does
        Finds all-reduces, all-gathers, reduce-scatters and all-to-alls whose operand is the same on all devices that
        they join: it is computed from constants, from what was reduced or gathered over those devices, or from
        parameters that their sharding replicates over them.

    Why
        A sum of equal values is the value times the number of devices: a mean that was taken twice, or a gradient
        that is too large. A maximum, or a gathering, moves what is there. In either case the network is busy for
        nothing that each device could not compute alone.

    Bad
        HloModule m, num_partitions=4
        add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
        ENTRY main { x = f32[8] parameter(0), sharding={replicated}
                     t = f32[8] tanh(x)
                     ROOT r = f32[8] all-reduce(t), channel_id=1, replica_groups={{0,1},{2,3}},
                                                    use_global_device_ids=true, to_apply=add }

    Good
        HloModule m, num_partitions=4
        ENTRY main { x = f32[8] parameter(0), sharding={replicated}
                     t = f32[8] tanh(x)
                     two = f32[] constant(2)
                     twos = f32[8] broadcast(two), dimensions={}
                     ROOT r = f32[8] multiply(t, twos) }

    Source
        XLA, hlo_replication_analysis.cc, all_reduce_simplifier.cc
    """
    groups = groups_of(view, instruction)
    if groups is None or min(map(len, groups)) < 2 or not instruction.operands or (
            instruction.opcode == "all-reduce" and summed_before(view, instruction)):
        return
    varying = Varying.between(view, groups)
    assert varying is not None  # no analysis is under way
    if any(map(varying.differs, instruction.operands)):
        return
    count = max(map(len, groups))
    yield Finding(instruction, f"{instruction.operands[0].name} is the same on all {count} devices of each group, so "
                  f"{_outcome(view, instruction, count)}", help="compute it on each device, without the collective")


def _outcome(view: View, instruction: HloInstruction, count: int) -> str:
    opcode = instruction.opcode.removesuffix("-start")
    if opcode in ("all-reduce", "reduce-scatter"):
        if binary_opcode(instruction.attributes["to_apply"]) == "add":
            return f"the sum is {count} times it"
        return "it is reduced with itself"
    if opcode == "all-gather":
        return f"{readable(view.bytes(instruction.operands[0].shape))} are gathered {count} times over"
    return "what each is sent, it has already"


@rule("W514", "dead-collective", on=tuple(COLLECTIVES), fix=Fixability.UNSAFE)
def dead_collective(view: View, instruction: HloInstruction) -> Iterator[Finding]:
    """A collective whose result nothing uses.

    What it does
        Finds collectives without users that are not the root and that nothing waits for.

    Why
        All devices wait for each other and move data that is thrown away. Compilers keep it, because a collective
        is also a meeting: they cannot know that no other program takes part.

    Bad
        HloModule m, replica_count=2
        ENTRY main { x = f32[4] parameter(0)
                     r = f32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0}
                     ROOT y = f32[4] negate(x) }

    Good
        HloModule m, replica_count=2
        ENTRY main { x = f32[4] parameter(0)  ROOT y = f32[4] negate(x) }

    Source
        XLA, hlo_dce.cc, HloInstruction::HasSideEffect
    """
    if instruction.opcode.endswith("-done") or view.users(instruction) or view.pinned(instruction) \
            or instruction is view.computation.root:
        return
    yield Finding(instruction, f"nothing uses the {readable(view.bytes(instruction.shape))} that it gives",
                  help="remove it, or use it", fix=fix_of(view.module.source, f"remove {instruction.name}",
                                                          removed(view, [instruction]), is_safe=False))


#: attributes by which two collectives that do the same may differ
_OWN = frozenset({"channel_id", "metadata", "backend_config", "frontend_attributes", "to_apply", "sharding"})


@rule("W515", "duplicate-collective", on=Scope.COMPUTATION, needs=COLLECTIVES, fix=Fixability.UNSAFE, tidied=True)
def duplicate_collective(view: View, computation: HloComputation) -> Iterator[Finding]:
    """The same collective of the same operand, twice.

    What it does
        Finds collectives of one computation with equal operands, groups and dimensions, and reducers that are the
        same operation. Their channels may differ.

    Why
        The same data cross the network twice. Compilers merge them before they optimise; where a forward and a
        backward pass gather the same weights, it is meant only if memory is short.

    Bad
        HloModule m, replica_count=2
        ENTRY main { x = f32[4] parameter(0)
                     a = f32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0}
                     b = f32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0}
                     ROOT y = f32[8] multiply(a, b) }

    Good
        HloModule m, replica_count=2
        ENTRY main { x = f32[4] parameter(0)
                     a = f32[8] all-gather(x), replica_groups={{0,1}}, dimensions={0}
                     ROOT y = f32[8] multiply(a, a) }

    Source
        XLA, hlo_cse.cc; JAX, jax.checkpoint
    """
    seen: dict[Any, HloInstruction] = {}
    for instruction in computation.instructions:
        if instruction.opcode not in COLLECTIVES or instruction.opcode.endswith("-done") or not instruction.operands:
            continue
        reducer = instruction.attributes.get("to_apply")
        folded = binary_opcode(reducer)
        if reducer is not None and not folded:
            continue
        key = (instruction.opcode, instruction.operands, instruction.shape, folded,
               instruction.attributes.get("channel_id") is None,
               frozenset((k, str(v)) for k, v in instruction.attributes.items() if k not in _OWN))
        first = seen.setdefault(key, instruction)
        if first is not instruction:
            changes = bypassed(view, instruction, first) if not instruction.opcode.endswith("-start") else None
            yield Finding(instruction, f"{first.name} is the same {instruction.opcode} of the same operands",
                          help=f"use {first.name}", notes=view.place(first, "the first stands here"),
                          fix=fix_of(view.module.source, f"use {first.name}", changes, is_safe=False))


