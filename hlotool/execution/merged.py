"""Several programs as one, so that a compiler is started once for all of them.

    ENTRY merged {
      p.0 = f32[2] parameter(0)
      p.1 = s32[3] parameter(1)
      c.0 = f32[2] call(p.0), to_apply=first
      c.1 = s32[3] call(p.1), to_apply=second
      ROOT all = (f32[2], s32[3]) tuple(c.0, c.1)
    }

The programs share nothing, so that each computes what it computes alone; on several devices each meets in its own
collectives, over channels with numbers of its own. What has effects beside its results, or a state beside its operands,
is not merged.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from hlotool.execution.program import Program
from hlotool.execution.sizes import leaves
from hlotool.ir import Attributes, HloComputation, HloInstruction, HloModule, Shape, clone_module

Array: TypeAlias = Any

#: programs in one at most
MOST = 32
#: operations whose meaning hangs on what else a module holds, or that act on more than their results
_APART = frozenset({
    "infeed", "outfeed", "send", "send-done", "recv", "recv-done", "rng", "rng-get-and-update-state", "custom-call"})
#: attributes of a module that say how many devices there are
_DEVICES = frozenset({"replica_count", "num_partitions"})


class Companions:
    """Which programs are merged with which, by what an executor took so far.

    One program that is refused costs all that it is merged with a compilation each time they are halved. Compilers
    refuse by element type, most of all, so that programs of a type that was refused and never taken stand alone.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._refused: set[str] = set()

    def groups(self, programs: Sequence[Program]) -> list[list[int]]:
        """The numbers of the programs that are to be merged, in each group at most `MOST`."""
        doubtful = self._refused - self._taken
        alone = [number for number, program in enumerate(programs) if _element_types(program) & doubtful]
        others: dict[object, list[int]] = {}
        for number in sorted(set(range(len(programs))) - set(alone)):
            one = programs[number]
            others.setdefault((one.replicas, one.partitions, one.partitioning), []).append(number)
        return [*(members[at:at + MOST] for members in others.values() for at in range(0, len(members), MOST)),
                *([number] for number in alone)]

    def note(self, program: Program, is_taken: bool) -> None:
        """What became of a program, or of several in one."""
        (self._taken if is_taken else self._refused).update(_element_types(program))


def _element_types(program: Program) -> frozenset[str]:
    return frozenset(s.element_type for i in program.module.instructions() for s in leaves(i.shape) if s.is_array)


def is_mergeable(program: Program) -> bool:
    """Whether a program can be merged with others."""
    module, entry = program.module, program.module.entry
    if program.partitioning == "automatic" or not _DEVICES.issuperset(module.attributes):
        return False
    ends = [s for i in (*entry.parameters(), entry.root) for s in leaves(i.shape)]
    inside = [s for i in module.instructions() for s in leaves(i.shape)]
    return (all(s.is_array for s in ends) and all(s.is_static for s in inside if s.is_array)
            and not any(i.opcode in _APART for i in module.instructions()))


def merged(programs: Sequence[Program]) -> Program:
    """One program with the parameters of all, and the results of all; all are for the same devices."""
    instructions: list[HloInstruction] = []
    calls: list[HloInstruction] = []
    modules = _with_own_channels([p.module for p in programs])
    for number, entry in enumerate(m.entry for m in modules):
        given = tuple(HloInstruction(f"p.{number}.{n}", "parameter", p.shape, (), Attributes(
            {"parameter_number": len(instructions) + n})) for n, p in enumerate(entry.parameters()))
        instructions += given
        calls.append(HloInstruction(f"c.{number}", "call", entry.root.shape, given, Attributes({"to_apply": entry})))
    root = HloInstruction("all", "tuple", Shape.tuple(*(c.shape for c in calls)), tuple(calls))
    whole = HloComputation("merged", [*instructions, *calls, root], root)
    parts = [c for m in modules for c in m.computations]
    devices = {"replica_count": programs[0].replicas, "num_partitions": programs[0].partitions}
    return Program(HloModule("merged", [*parts, whole], whole, Attributes({k: n for k, n in devices.items() if n > 1})))


def _with_own_channels(modules: Sequence[HloModule]) -> list[HloModule]:
    """The modules with channels numbered anew: two programs that meet over one would take each other's values."""
    found: list[HloModule] = []
    used = 0
    for module in modules:
        if not any(map(_channel, module.instructions())):
            found.append(module)
            continue
        own = clone_module(module)
        numbers: dict[int, int] = {}
        for instruction in own.instructions():
            if channel := _channel(instruction):
                number = numbers.setdefault(channel, used + len(numbers) + 1)
                instruction.attributes = instruction.attributes | {"channel_id": number}
        used += len(numbers)
        found.append(own)
    return found


def _channel(instruction: HloInstruction) -> int:
    found: int | None = instruction.attributes.get("channel_id")
    return found or 0


def parted(programs: Sequence[Program], rows: Sequence[Sequence[Array]]) -> list[list[list[Array]]]:
    """The results of the merged program on each device as those of each program: program, then device, then leaf."""
    left = [iter(row) for row in rows]
    return [[[next(rest) for _ in p.results] for rest in left] for p in programs]
