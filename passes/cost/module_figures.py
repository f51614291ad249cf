"""All figures of one module together, for those who show them."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.ir import HloModule
from hlotool.passes.cost.communication import Transfer, transfers
from hlotool.passes.cost.live_ranges import PeakMemory, peak_memory
from hlotool.passes.cost.module_costs import ModuleCost, module_cost
from hlotool.passes.cost.rooflines import Device, Roofline, roofline


@dataclass(frozen=True, slots=True)
class Figures:
    """What is known of a module under the name that its reader gave it."""

    name: str
    cost: ModuleCost
    memory: PeakMemory
    transfers: list[Transfer]
    #: least times, where a device was named
    roofline: Roofline | None


def figures(name: str, module: HloModule, device: Device | None = None) -> Figures:
    """Costs, memory and communication of a module, and its roofline on a device. Raises HloError."""
    cost = module_cost(module)
    return Figures(name, cost, peak_memory(module), transfers(cost),
                   roofline(cost, device) if device is not None else None)
