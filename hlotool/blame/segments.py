"""A part in segments, each fed with the reference's values, so that a wrong one is wrong by itself.

Small segments stand side by side in one module, as a compiler's work on a small one is mostly the work on any. Large
ones get modules of their own: a compiler takes more than twice as long for twice as much, and what lies behind the
first wrong segment need not be run.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

from hlotool.blame.cuts import ProgramPart
from hlotool.blame.probe import Trial
from hlotool.blame.search_scope import SearchScope, steps_of
from hlotool.execution import Program
from hlotool.ir import HloInstruction
from hlotool.passes.edit import merge

#: segments of one round
SEGMENTS = 16
#: instructions, called ones too, of segments that stand in one module
_TOGETHER = 640


def segment_trials(scope: SearchScope, tried: ProgramPart, steps: Sequence[HloInstruction], size: int, shift: int
                   ) -> Iterator[Trial]:
    """The segments of so many steps, in the order of data flow, as they are run; the first is shorter by `shift`."""
    numbers = {s: (n + shift) // size for n, s in enumerate(steps)}
    whole = len(steps_of(tried))
    parts = [p for p in _segments(scope, tried, numbers) if len(steps_of(p)) < whole]
    # At once, for what is not known takes a run of the reference.
    scope.values.of(list(dict.fromkeys(i for p in parts for i in (*p.fed, *p.targets))))
    for group in _groups(parts):
        yield from _run(scope, group)


def _segments(scope: SearchScope, whole: ProgramPart, numbers: dict[HloInstruction, int]) -> Iterator[ProgramPart]:
    """The parts of a program, one for each number, each fed with what earlier ones compute."""
    members: dict[int, list[HloInstruction]] = {}
    for step, number in numbers.items():
        members.setdefault(number, []).append(step)
    inside = set(whole.computed)
    users: dict[HloInstruction, list[HloInstruction]] = {}
    for instruction in whole.computed:
        for operand in instruction.operands:
            users.setdefault(operand, []).append(instruction)
    every = set(numbers) | set(whole.fed)
    for _, own in sorted(members.items()):
        own_set = set(own)
        targets = [i for i in own if i in whole.targets or any(
            u not in own_set and u in inside for u in users.get(i, ()))]
        if targets:
            yield scope.part(targets, every - own_set)


def _groups(parts: Sequence[ProgramPart]) -> Iterator[list[ProgramPart]]:
    """Parts that follow each other, as many as one module shall hold."""
    group: list[ProgramPart] = []
    held = 0
    for part in parts:
        size = sum(len(c.instructions) for c in part.program.module.computations)
        if group and held + size > _TOGETHER:
            yield group
            group, held = [], 0
        group.append(part)
        held += size
    if group:
        yield group


def _joined(parts: Sequence[ProgramPart]) -> Program:
    """The parts in one module, so that one compilation gives the values of all."""
    module = merge([p.program.module for p in parts])
    # Of programs still to be partitioned, parts without shardings are for one partition.
    module.attributes = max(parts, key=lambda p: p.program.partitions).program.module.attributes
    return Program(module)


def _run(scope: SearchScope, parts: Sequence[ProgramPart]) -> Iterator[Trial]:
    """Trials of parts, by one run of a module that holds them all; each alone where the executor refuses that."""
    if len(parts) > 1:
        joined = _joined(parts)
        fed = [scope.values.of(p.fed) for p in parts]
        rows = [[leaf for row in fed for leaf in row[device]] for device in range(scope.program.devices)]
        given = scope.bench.run(joined, [rows])[0] if joined.devices == len(rows) else []
        if given:
            counts = [len(p.owners()) for p in parts]
            ends = list(itertools.accumulate(counts))
            for part, row, end, count in zip(parts, fed, ends, counts, strict=True):
                yield Trial(part, row, scope.values.of(part.targets), [r[end - count:end] for r in given], True)
            return
    for part in parts:
        yield scope.run(part)
