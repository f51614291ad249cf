"""An executor that is right but for one instruction, wherever that stands: what blame has to find.

It is the reference with one operation falsified. Instructions are known by where they stand in the text, as parts of a
module keep that and may change names.
"""

from __future__ import annotations

import random
from dataclasses import dataclass

import numpy as np

from hlotool.execution import Moment, Program, arguments_for, evaluate_program
from hlotool.ir import HloComputation, HloInstruction
from hlotool.triage.nonfinite import FOLDS
from hlotool.verdict import Evidence, judge


@dataclass
class Faulty:
    """The reference, but for the instruction at an offset of the text."""

    offset: int
    name: str = "faulty"

    def run(self, program, argument_sets):
        wanted = {i for i in program.module.instructions() if i.offset == self.offset}

        def rebind(instruction, function, keywords):
            if instruction not in wanted or instruction.opcode == "parameter":
                return function, keywords
            return lambda *given, **named: falsified(function(*given, **named)), keywords

        return [evaluate_program(program, rows, rebind=rebind) for rows in argument_sets]


def falsified(value):
    """Another value of the same type."""
    if isinstance(value, tuple):
        return (falsified(value[0]), *value[1:])
    value = np.array(value)
    if value.dtype == np.bool_:
        return ~value
    if value.dtype.kind in "iu":
        return value + np.ones((), value.dtype)
    return (value * np.asarray(1.125, value.dtype) + np.asarray(0.25, value.dtype)).astype(value.dtype)


def arguments(program: Program, kind: str = "positive"):
    return [arguments_for(program, device, kind) for device in range(program.devices)]


def candidates(program: Program, rows) -> list[tuple[HloComputation, HloInstruction]]:
    """The instructions that are evaluated and compute an array, those of reducers left out; of one place in the text
    only where it has one."""
    seen: dict[HloInstruction, HloComputation] = {}

    def watch(moment: Moment):
        instruction = moment.instruction
        if instruction.opcode not in ("parameter", "tuple", "get-tuple-element") and instruction.shape.is_array \
                and not any(call.caller.opcode in FOLDS for call in moment.path):
            seen[instruction] = moment.path[-1].computation if moment.path else program.module.entry
        return moment.value

    evaluate_program(program, rows, watch)
    offsets = [i.offset for i in program.module.instructions()]
    return [(c, i) for i, c in seen.items() if offsets.count(i.offset) == 1]


def chosen(program: Program, rows, count: int, seed: int = 0) -> list[tuple[HloComputation, HloInstruction]]:
    """Some of them that change a result, every second one in a called computation where there are such."""
    found = candidates(program, rows)
    inner = [f for f in found if f[0] is not program.module.entry] or found
    generator = random.Random(seed)
    picked: list[tuple[HloComputation, HloInstruction]] = []
    right = evaluate_program(program, rows)
    for _ in range(20 * count):
        if len(picked) == count:
            break
        one = generator.choice(inner if len(picked) % 2 else found)
        try:
            wrong = Faulty(one[1].offset).run(program, [rows])[0]
        except Exception:  # a loop that never ends well, an index that is none: no fault to look for
            continue
        if one not in picked and any(judge(w, Evidence(r)).is_wrong and large(w, r) for ws, rs in
                                     zip(wrong, right, strict=True) for w, r in zip(ws, rs, strict=True)):
            picked.append(one)
    return picked


def large(wrong, right) -> bool:
    """Whether a difference is far beyond rounding."""
    if right.dtype.kind not in "fc":
        return True
    with np.errstate(all="ignore"):
        a, b = wrong.astype(np.complex128), right.astype(np.complex128)
        return bool((np.abs(a - b) > 0.05 * np.abs(b).max(initial=1e-6)).any())
