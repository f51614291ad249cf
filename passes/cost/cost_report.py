"""The cost of a module: arithmetic, traffic, memory, communication, and the least time on a device."""

from __future__ import annotations

from dataclasses import dataclass

from hlotool.ir import HloModule
from hlotool.ops import Cost
from hlotool.passes.cost.communication import Transfer, sent_by, transfers
from hlotool.passes.cost.live_ranges import PeakMemory, peak_memory
from hlotool.passes.cost.module_costs import ModuleCost, module_cost
from hlotool.passes.cost.rooflines import Device, Roofline, devices, roofline


@dataclass(frozen=True, slots=True)
class CostReport:
    """The cost of one run of a module on one device; loops count as often as they run.

    >>> import hlotool
    >>> found = hlotool.cost("ENTRY e { x = f32[8,4] parameter(0)  ROOT y = f32[8,4] tanh(x) }")
    >>> found.flops, found.transcendentals, found.bytes_read, found.bytes_written, found.peak_memory
    (0, 32, 128, 128, 256)
    """

    #: name that the module's reader gave it; empty where it gave none
    name: str
    #: instructions with the cost of one execution and their number of executions
    cost: ModuleCost
    memory: PeakMemory
    #: collectives, in decreasing order of the bytes they send
    transfers: list[Transfer]
    #: least times on a device; None where no device was named
    roofline: Roofline | None

    def __str__(self) -> str:
        return (f"{self.flops} flops, {self.transcendentals} transcendental functions, {self.bytes_read} bytes read, "
                f"{self.bytes_written} written, {self.peak_memory} needed at once, {self.communication} sent")

    @property
    def flops(self) -> int:
        """Additions, multiplications, comparisons and the like, of integers too."""
        return self.cost.total.flops

    @property
    def transcendentals(self) -> int:
        """Evaluations of exp, tanh, sqrt and the like, which are no `flops`."""
        return self.cost.total.transcendentals

    @property
    def bytes_read(self) -> int:
        """Bytes read from memory; a fusion reads each operand once."""
        return self.cost.total.bytes_read

    @property
    def bytes_written(self) -> int:
        """Bytes written to memory."""
        return self.cost.total.bytes_written

    @property
    def peak_memory(self) -> int:
        """Bytes that arguments, results and temporary values need at once."""
        return self.memory.total

    @property
    def communication(self) -> int:
        """Bytes that each device sends in all collectives."""
        return sum(t.total for t in self.transfers)

    @property
    def seconds(self) -> float | None:
        """Least time of a run on the device that was named, in seconds; None where none was."""
        return self.roofline.seconds if self.roofline is not None else None

    def by(self, grouping: str) -> dict[str, Cost]:
        """Return costs by `instruction`, `opcode`, `computation`, `scope` or `line` (of the Python program).

        The most expensive comes first; of what happens inside a fusion see `ModuleCost.by`. Raises KeyError for another
        grouping.
        """
        return self.cost.by(grouping)

    def sent_by(self, grouping: str) -> dict[str, tuple[int, int]]:
        """Return bytes sent and executions by `axis`, `group` or a grouping of `by`, largest first.

        Raises KeyError for another grouping.
        """
        return sent_by(self.cost.module, self.transfers, grouping)


def cost(module: HloModule, device: Device | str | None = None, *, name: str = "") -> CostReport:
    """Count the flops, traffic, live memory and communication of a module, and its least time on a device.

    A loop whose number of rounds is not known counts once and is in `.cost.unknown_loops`; of a conditional the most
    expensive branch counts; a custom call without a rule has traffic and no flops (`.cost.opaque`). `device` is a name
    of `hlotool cost --devices`. Raises KeyError for an unknown name, HloError for a module that cannot be counted.
    Source of the memory model: XLA, xla/service/buffer_assignment.cc; of the collectives: rings (communication.py).
    """
    found = module_cost(module)
    device = devices()[device] if isinstance(device, str) else device
    return CostReport(name, found, peak_memory(module), transfers(found),
                      roofline(found, device) if device is not None else None)
