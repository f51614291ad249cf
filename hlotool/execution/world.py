"""Where simulated devices meet: each runs on a thread, and a collective is a barrier with an exchange of values."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from hlotool.ir import HloInstruction

#: seconds that a device waits for the others; longer means that they went another way
PATIENCE = 30.0


@dataclass(eq=False)
class Meeting:
    """The devices of one run: replicas x partitions, numbered replica-major."""

    replicas: int
    partitions: int
    _values: dict[int, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._barrier = threading.Barrier(self.replicas * self.partitions)

    def place(self, device: int) -> Place:
        return Place(self, device)

    def exchange(self, device: int, value: Any) -> list[Any]:
        """What every device brought, by device number. All devices must come."""
        self._values[device] = value
        self._barrier.wait(PATIENCE)
        found = [self._values[d] for d in range(self.replicas * self.partitions)]
        self._barrier.wait(PATIENCE)
        return found

    def abandon(self) -> None:
        """Let no device wait any longer."""
        self._barrier.abort()


@dataclass(frozen=True, slots=True)
class Place:
    """One device of a meeting."""

    meeting: Meeting
    device: int

    def world(self, instruction: HloInstruction) -> World:
        return World(self, instruction)


@dataclass(frozen=True, slots=True)
class World:
    """What a collective's NumPy function sees; the protocol is documented in hlotool/ops/collective.py."""

    place: Place
    instruction: HloInstruction

    @property
    def replicas(self) -> int:
        return self.place.meeting.replicas

    @property
    def partitions(self) -> int:
        return self.place.meeting.partitions

    @property
    def replica(self) -> int:
        return self.place.device // self.partitions

    @property
    def partition(self) -> int:
        return self.place.device % self.partitions

    def exchange(self, value: Any) -> list[Any]:
        """The values that all devices bring to this instruction, by device number."""
        return self.place.meeting.exchange(self.place.device, value)
