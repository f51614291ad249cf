"""The times that an instruction calls computations on the reference: with what, and what they compute."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from hlotool.blame.cuts import ProgramPart
from hlotool.execution import Moment, Program, evaluate_program, flat, leaves
from hlotool.ir import HloComputation, HloInstruction
from hlotool.ir.arrays import Array
from hlotool.numerics import Rows


@dataclass
class Activation:
    """One run of a called computation, of every device: the values of its parameters, and of what its root takes."""

    values: list[dict[HloInstruction, Any]] = field(default_factory=list)

    def arguments(self, whole: ProgramPart) -> list[list[Array]]:
        """The arguments of the computation's part."""
        return self._leaves(whole.fed)

    def results(self, whole: ProgramPart) -> list[list[Array]]:
        """The results of the computation's part, which ends at `inner_targets`."""
        return self._leaves(whole.targets)

    def _leaves(self, wanted: tuple[HloInstruction, ...]) -> list[list[Array]]:
        return [[leaf for i in wanted for leaf in flat(i.shape, row[i])] for row in self.values]


def inner_targets(computation: HloComputation) -> list[HloInstruction]:
    """Return the results of a computation that hold an array, each once; its root where none does."""
    found = dict.fromkeys(computation.results())
    return [i for i in found if any(True for _ in leaves(i.shape))] or [computation.root]


def called(program: Program, arguments: Rows, caller: HloInstruction
           ) -> list[tuple[HloComputation, list[Activation]]]:
    """Return the computations that an instruction of a program's entry calls, with each of its calls in order.

    The instruction may be one that the program has a copy of, of the same name.
    """
    found: dict[HloComputation, dict[int, Activation]] = {}
    kept: dict[HloComputation, set[HloInstruction]] = {}
    devices = program.devices

    def watch(moment: Moment) -> Any:
        if len(moment.path) == 1 and moment.path[0].caller.name == caller.name:
            call, instruction = moment.path[0], moment.instruction
            if call.computation not in kept:
                kept[call.computation] = {*call.computation.parameters(), *inner_targets(call.computation)}
            if instruction in kept[call.computation]:
                times = found.setdefault(call.computation, {})
                time = times.setdefault(call.iteration, Activation([{} for _ in range(devices)]))
                time.values[moment.device][instruction] = moment.value
        return moment.value

    evaluate_program(program, arguments, watch)
    return [(c, [times[n] for n in sorted(times)]) for c, times in found.items()]
