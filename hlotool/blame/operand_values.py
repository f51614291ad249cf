"""The values on which an instruction was proven guilty: with them it shows its fault alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool.blame.reference_run import UNKNOWN, Site, Time
from hlotool.ir import HloComputation, HloInstruction, HloModule


@dataclass(frozen=True)
class OperandValues:
    """An instruction, and the values of what it is computed of.

    Those are its operands; in place of one whose value is not known, the operands of that one. Constants are left out.
    """

    module: HloModule
    instruction: HloInstruction
    #: how many devices ran it
    devices: int
    #: by device
    values: dict[HloInstruction, list[Any]]

    @property
    def home(self) -> HloComputation:
        """Return the computation that holds the instruction."""
        return self.module.parents()[self.instruction]


def operand_values(module: HloModule, site: Site, time: Time, devices: Sequence[int],
                   value: Callable[[Site, Time], Any]) -> OperandValues | None:
    """Return the values that an instruction takes at a time; None where one is not known.

    `devices` are those that run it then.
    """
    found: dict[HloInstruction, list[Any]] = {}
    waiting = list(site[-1].operands)
    while waiting:
        operand = waiting.pop()
        if operand in found or operand.opcode == "constant":
            continue
        place = (*site[:-1], operand)
        here = value(place, time)
        if here is not UNKNOWN:
            found[operand] = [value(place, (*time[:-1], device)) for device in devices]
        elif operand.operands and not operand.called_computations():
            waiting += operand.operands
        else:
            return None
    return OperandValues(module, site[-1], len(devices), found)
