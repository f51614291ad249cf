"""Several programs as one, so that a compiler is started once for all of them.

    ENTRY merged {
      p.0 = f32[2] parameter(0)
      p.1 = s32[3] parameter(1)
      c.0 = f32[2] call(p.0), to_apply=first
      c.1 = s32[3] call(p.1), to_apply=second
      ROOT all = (f32[2], s32[3]) tuple(c.0, c.1)
    }

The programs share nothing, so that each computes what it computes alone. What has effects beside its results, random
numbers, or devices that meet, is not merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from hlotool.execution.program import Program
from hlotool.execution.sizes import leaves
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, Shape

Array: TypeAlias = Any

#: programs in one at most
MOST = 32
#: operations whose meaning hangs on what else a module holds, or that act on more than their results
_APART = frozenset({
    "infeed", "outfeed", "send", "send-done", "recv", "recv-done", "rng", "rng-bit-generator",
    "rng-get-and-update-state", "custom-call", "after-all", "add-dependency", "replica-id", "partition-id", "domain",
    "async-start", "async-update", "async-done"})


def is_mergeable(program: Program) -> bool:
    """Whether a program can be merged with others."""
    if program.module.attributes or program.devices != 1 or program.partitioning != "none":
        return False
    shapes = [s for i in program.module.instructions() for s in leaves(i.shape)]
    return (all(s.is_array and s.is_static for s in shapes)
            and not any(i.opcode in _APART or "channel_id" in i.attributes for i in program.module.instructions()))


def merged(programs: Sequence[Program]) -> Program:
    """One program with the parameters of all, and the results of all."""
    instructions: list[HloInstruction] = []
    calls: list[HloInstruction] = []
    for number, program in enumerate(programs):
        entry = program.module.entry
        given = tuple(HloInstruction(f"p.{number}.{n}", "parameter", p.shape, (), Attributes(
            {"parameter_number": len(instructions) + n})) for n, p in enumerate(entry.parameters()))
        instructions += given
        calls.append(HloInstruction(f"c.{number}", "call", entry.root.shape, given, Attributes({"to_apply": entry})))
    root = HloInstruction("all", "tuple", Shape.tuple(*(c.shape for c in calls)), tuple(calls))
    whole = HloComputation("merged", [*instructions, *calls, root], root)
    parts = [c for p in programs for c in p.module.computations]
    return Program(HloModule("merged", [*parts, whole], whole))


def parted(programs: Sequence[Program], row: Sequence[Array]) -> list[list[Array]]:
    """The results of the merged program as those of each."""
    rest = iter(row)
    return [[next(rest) for _ in p.results] for p in programs]
