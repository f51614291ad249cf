"""Programs that an executor compiles as one, so that its compiler is started once for all of them.

The programs share nothing, so that each computes what it computes alone; on several devices each meets in its own
collectives. Programs with effects beside their results, or with a state beside their operands, are not merged.
"""

from __future__ import annotations

from collections.abc import Sequence

from hlotool.execution.program import Program
from hlotool.execution.sizes import leaves
from hlotool.ir import Attributes
from hlotool.ir.arrays import Array
from hlotool.ops import opcodes, with_flag
from hlotool.passes.edit import merge

#: programs in one at most
MOST = 32
#: operations whose meaning depends on what else a module holds, or that act on more than their results
_APART = with_flag("opaque") | opcodes(lambda flow: flow.acts)
#: attributes of a module that say how many devices there are
_DEVICES = frozenset({"replica_count", "num_partitions"})


class Companions:
    """Choice of the programs that are merged, by what an executor took so far.

    One program that is refused costs all that it is merged with a compilation each time they are halved. Compilers
    refuse by element type, most of all, so that programs of a type that was refused and never taken run alone.
    """

    def __init__(self) -> None:
        self._taken: set[str] = set()
        self._refused: set[str] = set()

    def groups(self, programs: Sequence[Program]) -> list[list[int]]:
        """Return the numbers of the programs that are to be merged, in each group at most `MOST`."""
        doubtful = self._refused - self._taken
        alone = [number for number, program in enumerate(programs) if _element_types(program) & doubtful]
        others: dict[object, list[int]] = {}
        for number in sorted(set(range(len(programs))) - set(alone)):
            one = programs[number]
            others.setdefault((one.replicas, one.partitions, one.partitioning), []).append(number)
        return [*(members[at:at + MOST] for members in others.values() for at in range(0, len(members), MOST)),
                *([number] for number in alone)]

    def note(self, program: Program, is_taken: bool) -> None:
        """Remember the element types of a program, or of several in one, that an executor took or refused."""
        (self._taken if is_taken else self._refused).update(_element_types(program))


def _element_types(program: Program) -> frozenset[str]:
    return frozenset(s.element_type for i in program.module.instructions() for s in leaves(i.shape) if s.is_array)


def is_mergeable(program: Program) -> bool:
    """Return True if a program can be merged with others."""
    module, entry = program.module, program.module.entry
    if program.partitioning == "automatic" or not _DEVICES.issuperset(module.attributes):
        return False
    ends = [s for i in (*entry.parameters(), entry.root) for s in leaves(i.shape)]
    inside = [s for i in module.instructions() for s in leaves(i.shape)]
    return (all(s.is_array for s in ends) and all(s.is_static for s in inside if s.is_array)
            and not any(i.opcode in _APART for i in module.instructions()))


def merged(programs: Sequence[Program]) -> Program:
    """Return one program with the parameters of all, and the results of all; all are for the same devices."""
    module = merge([p.module for p in programs])
    devices = {"replica_count": programs[0].replicas, "num_partitions": programs[0].partitions}
    module.attributes = Attributes({name: count for name, count in devices.items() if count > 1})
    return Program(module)


def parted(programs: Sequence[Program], rows: Sequence[Sequence[Array]]) -> list[list[list[Array]]]:
    """Return the results of the merged program on each device as those of each program, by program, device and leaf."""
    left = [iter(row) for row in rows]
    return [[[next(rest) for _ in p.results] for rest in left] for p in programs]
