"""Small edits of a partitioned program's instructions that make all results right: each may be guilty.

What a partitioner puts in, numbers of devices, masks and tables, has no counterpart in the whole program. Such an
instruction is edited (small_edits.py); a number is one or two more or less, its double or half, or the size of
something. What does the same as its counterpart is never edited. An edit that mends the results on the arguments at
hand and on fresh ones is an explanation of the difference; where several instructions have one, none is guilty.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from hlotool.blame.collective_repairs import COLLECTIVES
from hlotool.blame.number_repairs import fits
from hlotool.blame.parts_run import PartsRun
from hlotool.blame.small_edits import SmallEdit, SmallEdits, edit_of
from hlotool.ir import Attributes, HloInstruction, Literal, dtype_of_numpy
from hlotool.ir.arrays import np
from hlotool.process import work_time

#: edits of one instruction that are tried, edits in all, and seconds for them
_EACH, _ALL, _SECONDS = 48, 500, 8.0


def mending_edits(run: PartsRun, doubtful: Iterable[HloInstruction], rest: Iterable[HloInstruction],
                  is_acquitted: Callable[[HloInstruction], bool]) -> tuple[list[SmallEdit], bool] | None:
    """Return one edit for each instruction that has one, of the doubtful ones and, while there is time, of the rest.

    And True if all were tried. None where there was no time to try all of the doubtful ones.
    """
    small = SmallEdits(run.partition.part.module, run.partition.whole.module)
    sizes = sorted({d for p in run.partition.part.parameters for d in p.dims if d > 0})
    found: list[SmallEdit] = []
    until, left = min(work_time() + _SECONDS, run.until), _ALL
    wanted = dict.fromkeys(i for i in doubtful if _is_editable(i) and not is_acquitted(i))
    for instruction in itertools.chain(wanted, (i for i in rest if i not in wanted and not is_acquitted(i))):
        for edit in itertools.islice(_edits(small, instruction, sizes), _EACH if _is_editable(instruction) else 0):
            left -= 1
            if left < 0 or work_time() > until or run.is_exhausted:
                return None if instruction in wanted else (found, False)
            if run.is_mended_by(edit):
                found.append(edit)
                break
    return None if run.is_exhausted else (found, True)


def _is_editable(instruction: HloInstruction) -> bool:
    return instruction.opcode not in ("parameter", "partition-id")


def is_superfluous(run: PartsRun, last: HloInstruction, others: Iterable[HloInstruction]) -> bool:
    """Return True if all results are right without an instruction, and the others that can be edited serve it alone."""
    serving = _serving(run, last)
    return all(o in serving for o in others) and any(
        run.is_mended_by(edit) for edit in _drops(last))


def _serving(run: PartsRun, last: HloInstruction) -> set[HloInstruction]:
    """Return the instructions that nothing uses but one and those that serve it."""
    found, waiting = {last}, list(last.operands)
    while waiting:
        at = waiting.pop()
        if at not in found and all(u in found for u in run.users.get(at, ())):
            found.add(at)
            waiting += at.operands
    return found - {last}


def _drops(instruction: HloInstruction) -> Iterator[SmallEdit]:
    for operand in dict.fromkeys(instruction.operands):
        if instruction.shape.is_array and operand.shape.compatible(instruction.shape):
            yield edit_of(instruction, opcode="copy", operands=(operand,), attributes=Attributes())


def _edits(small: SmallEdits, instruction: HloInstruction, sizes: list[int]) -> Iterator[SmallEdit]:
    if instruction.opcode != "constant":
        if instruction.opcode not in COLLECTIVES:  # they are given other groups, pairs and dimensions before
            yield from small.of(instruction)
        return
    if not instruction.shape.is_array or instruction.shape.dims:
        return
    held, kind = instruction.literal.array, instruction.literal.array.dtype
    near = [o for o in _near(int(held), sizes) if fits(kind, o)] if instruction.shape.dtype.is_integral else []
    theirs = [c.literal.array for c in small.first.instructions() if c.opcode == "constant" and c.shape.is_array
              and not c.shape.dims and c.shape.element_type is instruction.shape.element_type]
    neutral = _neutral(kind)
    # One that fills up is another one's only if the whole program has that: else another fold would explain as much.
    for other in (*near, *theirs, *(neutral if held not in neutral else ())):
        made = Literal(instruction.shape, np.asarray(other, kind))
        if made.array.tobytes() != held.tobytes():
            yield edit_of(instruction, attributes=instruction.attributes | {"literal": made})


def _near(held: int, sizes: list[int]) -> list[int]:
    """Return numbers that an index, a number of rows or a step may have been."""
    return list(dict.fromkeys((held + 1, held - 1, held + 2, held - 2, 2 * held, held // 2, *sizes)))


def _neutral(kind: Any) -> list[float]:
    """Return the numbers that fill up what is folded, which the whole program may not have."""
    return [0.0, 1.0, -np.inf, np.inf] if dtype_of_numpy(kind).is_floating else []
