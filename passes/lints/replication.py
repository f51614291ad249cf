"""Rules about programs for several partitions that keep large values whole on every device."""

from __future__ import annotations

from collections.abc import Iterator

from hlotool.diagnostics import Severity
from hlotool.ir import HloInstruction, Sharding
from hlotool.passes.lints.collectives import is_partitioned
from hlotool.passes.lints.module_view import View, readable
from hlotool.passes.lints.rule import Finding, Scope, rule


@rule("W512", "replicated-parameter", on=Scope.MODULE, severity=Severity.INFO)
def replicated_parameter(view: View, *, bytes: int = 64 << 20) -> Iterator[Finding]:
    """A large parameter that every device holds whole.

    What it does
        Finds parameters of the entry of at least `bytes` bytes with a replicated sharding in modules of several
        partitions.

    Why
        The memory of all devices together is the reason to have several. Replicated embeddings and optimiser states
        are what is forgotten most.

    Bad
        HloModule m, num_partitions=8
        ENTRY main { x = f32[32768,1024] parameter(0), sharding={replicated}
                     ROOT y = bf16[32768,1024] convert(x) }

    Good
        HloModule m, num_partitions=8
        ENTRY main { x = f32[32768,1024] parameter(0), sharding={devices=[8,1]<=[8]}
                     ROOT y = bf16[32768,1024] convert(x) }

    Source
        JAX, distributed arrays and automatic parallelisation
    """
    for parameter in view.module.entry.parameters() if _is_to_be_partitioned(view) else ():
        if _is_whole(view, parameter, bytes):
            yield Finding(parameter, f"each device holds all {readable(view.bytes(parameter.shape))}",
                          help="shard it", part=r"\bsharding=\{[^}]*\}")


@rule("W516", "replicated-intermediate", on=Scope.MODULE, severity=Severity.INFO)
def replicated_intermediate(view: View, *, bytes: int = 64 << 20) -> Iterator[Finding]:
    """A large value inside of a partitioned program that is annotated to be whole on every device.

    What it does
        Finds instructions with a replicated sharding of at least `bytes` bytes, among them the constraints that
        frontends write, in modules of several partitions that are not partitioned yet.

    Why
        Every device computes it all, or gathers it from the others; what comes before cannot be sharded either.

    Bad
        HloModule m, num_partitions=8
        ENTRY main { x = f32[32768,1024] parameter(0), sharding={devices=[8,1]<=[8]}
                     h = f32[32768,1024] tanh(x)
                     c = f32[32768,1024] custom-call(h), custom_call_target="Sharding", sharding={replicated}
                     ROOT y = bf16[32768,1024] convert(c) }

    Good
        HloModule m, num_partitions=8
        ENTRY main { x = f32[32768,1024] parameter(0), sharding={devices=[8,1]<=[8]}
                     h = f32[32768,1024] tanh(x)
                     c = f32[32768,1024] custom-call(h), custom_call_target="Sharding", sharding={devices=[8,1]<=[8]}
                     ROOT y = bf16[32768,1024] convert(c) }

    Source
        JAX, distributed arrays and automatic parallelisation
    """
    for instruction in view.module.instructions() if _is_to_be_partitioned(view) else ():
        if instruction.opcode != "parameter" and instruction.shape.is_array and _is_whole(view, instruction, bytes):
            yield Finding(instruction, f"each device makes all {readable(view.bytes(instruction.shape))} of it",
                          help="shard it, or leave its sharding to the partitioner", part=r"\bsharding=\{[^}]*\}")


def _is_to_be_partitioned(view: View) -> bool:
    """Return True if a compiler is still to split the module over several partitions."""
    return int(view.module.attributes.get("num_partitions", 1)) > 1 and not is_partitioned(view)


def _is_whole(view: View, instruction: HloInstruction, bytes: int) -> bool:
    sharding = instruction.attributes.get("sharding")
    return isinstance(sharding, Sharding) and sharding.kind == "replicated" and view.bytes(instruction.shape) >= bytes
