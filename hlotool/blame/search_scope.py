"""One computation in which an instruction is searched, at one time that it runs: its parts, fed by the reference."""

from __future__ import annotations

import functools
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass

from hlotool.blame.cuts import ProgramPart, part
from hlotool.blame.probe import Bench, Trial, Wrong
from hlotool.blame.reference_values import FORWARDING, ReferenceValues
from hlotool.execution import Path, Program
from hlotool.ir import HloComputation, HloInstruction
from hlotool.passes.edit import positions, varying

#: what computes nothing
_NO_STEPS = FORWARDING | {"constant"}


@dataclass
class SearchScope:
    """A computation of a module, called along `path`, and the values that its instructions have then."""

    program: Program
    bench: Bench
    computation: HloComputation
    path: Path
    values: ReferenceValues

    @functools.cached_property
    def order(self) -> dict[HloInstruction, int]:
        """Where each instruction stands in an order of evaluation."""
        return positions(self.computation)

    def part(self, targets: Sequence[HloInstruction], cut: Collection[HloInstruction]) -> ProgramPart:
        """The part that computes the targets of the parameters and of what is cut."""
        return part(self.program, self.computation, targets, cut, self.order)

    def run(self, tried: ProgramPart) -> Trial:
        """Run a part that is in a module of its own on the executor."""
        rows = self.values.of(tried.fed)
        # Parts of a manual region, which only the whole program splits over devices, are for fewer.
        can_run = bool(tried.computed) and tried.program.devices == len(rows)
        given = self.bench.run(tried.program, [rows])[0] if can_run else []
        return Trial(tried, rows, self.values.of(tried.targets), given)

    def first_wrong(self, tried: ProgramPart) -> Wrong | None:
        """The first result that the executor gets wrong of a part in a module of its own."""
        return self.judge(self.run(tried))

    def judge(self, trial: Trial) -> Wrong | None:
        """The first result that is wrong of what was run."""
        return self.bench.first_wrong(trial.part, trial.arguments, trial.given, trial.reference)


def steps_of(tried: ProgramPart) -> list[HloInstruction]:
    """The instructions of a part that can be at fault: constants and what only hands on values are not."""
    steps = [i for i in tried.computed if i.opcode not in _NO_STEPS]
    moving = varying(tried.computed, tried.fed)
    return [s for s in steps if s in moving] or steps


def sources(instruction: HloInstruction) -> Iterator[HloInstruction]:
    """Yield the operands of an instruction; of tuples that are only forwarded, their members."""
    for operand in instruction.operands:
        source = operand
        while source.opcode == "get-tuple-element":
            source = source.operands[0]
        if source.opcode == "tuple":
            yield from sources(source)
        else:
            yield source
