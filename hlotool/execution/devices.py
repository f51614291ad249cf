"""Simulated devices and where they meet: the `World` that collective.py and the transfer operations ask for.

Each device runs on a thread. Whoever waits leaves a condition behind; when every device waits or is done and no
condition holds, the meeting can never happen and all who wait get an EvaluationError.
"""

from __future__ import annotations

import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.ir import Shape
from hlotool.ops.values import EvaluationError, zeros


class Abandoned(Exception):
    """Another device failed, so this one need not go on."""


@dataclass
class Queues:
    """Queues into and out of a device beside arguments and results, declared before it runs."""

    #: values for infeed, in order
    infeed: deque[Any] = field(default_factory=deque)
    #: values that the host sends, by channel
    from_host: dict[int | None, deque[Any]] = field(default_factory=lambda: defaultdict(deque))
    #: what the device gave out
    outfeed: list[Any] = field(default_factory=list)
    to_host: dict[int | None, list[Any]] = field(default_factory=lambda: defaultdict(list))


def fed(infeed: Sequence[Sequence[Any]]) -> list[Queues] | None:
    """The queues of every device that hold what the host hands to it; None where it hands out nothing."""
    return [Queues(deque(row)) for row in infeed] or None


class Meeting:
    """State that the devices of one run share."""

    def __init__(self, replicas: int, partitions: int) -> None:
        self.replicas = replicas
        self.partitions = partitions
        self._changed = threading.Condition()
        self._meetings: Counter[tuple[int, tuple[int, ...]]] = Counter()
        #: a set of devices and the number of its meeting -> what was brought so far, and how many have left
        self._rooms: dict[tuple[tuple[int, ...], int], dict[int, Any]] = {}
        self._left: Counter[tuple[tuple[int, ...], int]] = Counter()
        #: channel, source and target -> values under way
        self._mail: dict[tuple[int | None, int, int], deque[Any]] = defaultdict(deque)
        self._waiting: dict[int, Callable[[], bool]] = {}
        self._done: set[int] = set()
        self._is_stuck = False
        self._is_abandoned = False

    def exchange(self, device: int, value: Any, participants: Sequence[int]) -> list[Any]:
        """Bring a value to the next meeting of those devices; what each brought."""
        members = tuple(sorted(set(participants)))
        with self._changed:
            room = (members, self._meetings[device, members])
            self._meetings[device, members] += 1
            brought = self._rooms.setdefault(room, {})
            brought[device] = value
            self._changed.notify_all()
            self._wait(device, lambda: len(brought) == len(members),
                       f"device {device} waits for a collective of the devices {', '.join(map(str, members))}, "
                       "which not all of them reach")
            self._left[room] += 1
            if self._left.get(room) == len(members):
                del self._rooms[room], self._left[room]
            return [brought[d] for d in participants]

    def put(self, channel: int | None, source: int, target: int, value: Any) -> None:
        """Send a value on its way."""
        with self._changed:
            self._mail[channel, source, target].append(value)
            self._changed.notify_all()

    def take(self, channel: int | None, source: int, target: int) -> Any:
        """The next value from the source, when it is there."""
        with self._changed:
            mail = self._mail[channel, source, target]
            self._wait(target, lambda: bool(mail), f"device {target} waits for device {source} to send on channel "
                                                   f"{channel}, which it never does")
            return mail.popleft()

    def finish(self, device: int) -> None:
        """The device has come to its end."""
        with self._changed:
            self._done.add(device)
            self._look_whether_stuck()

    def abandon(self) -> None:
        """A device failed: nobody shall wait any longer."""
        with self._changed:
            self._is_abandoned = True
            self._changed.notify_all()

    def _wait(self, device: int, condition: Callable[[], bool], otherwise: str) -> None:
        self._waiting[device] = condition
        self._look_whether_stuck()
        self._changed.wait_for(lambda: condition() or self._is_stuck or self._is_abandoned)
        del self._waiting[device]
        if condition():
            return
        if self._is_abandoned:
            raise Abandoned
        raise EvaluationError(otherwise)

    def _look_whether_stuck(self) -> None:
        at_rest = len(self._waiting) + len(self._done) == self.replicas * self.partitions
        if self._waiting and at_rest and not any(holds() for holds in self._waiting.values()):
            self._is_stuck = True
            self._changed.notify_all()


class DeviceWorld:
    """One device's view; the protocol is documented in hlotool/ops/collective.py."""

    def __init__(self, meeting: Meeting, device: int, queues: Queues | None = None) -> None:
        self.meeting = meeting
        self.device = device
        self.replicas, self.partitions = meeting.replicas, meeting.partitions
        self.replica, self.partition = divmod(device, meeting.partitions)
        self.storage: dict[str, Any] = {}
        self.queues = queues if queues is not None else Queues()

    def exchange(self, value: Any, participants: Sequence[int]) -> list[Any]:
        """Return what every participant brings to this meeting, in their order."""
        if tuple(participants) == (self.device,):
            return [value]
        return self.meeting.exchange(self.device, value, participants)

    def send(self, channel: int | None, value: Any, pairs: Sequence[tuple[int, int]], is_host: bool) -> None:
        """Put a value into a channel, without waiting."""
        if is_host:
            self.queues.to_host[channel].append(value)
            return
        for target in self._targets(pairs):
            self.meeting.put(channel, self.device, target, value)

    def recv(self, channel: int | None, pairs: Sequence[tuple[int, int]], is_host: bool, shape: Shape) -> Any:
        """The next value of a channel. A device to which nobody sends gets zeros."""
        if is_host:
            if not self.queues.from_host[channel]:
                raise EvaluationError(f"the host has nothing to send on channel {channel}")
            return self.queues.from_host[channel].popleft()
        sources = self._targets([(target, source) for source, target in pairs])
        return self.meeting.take(channel, sources[0], self.device) if sources else zeros(shape)

    def infeed(self, shape: Shape) -> Any:
        """The next value that was declared for infeed."""
        if not self.queues.infeed:
            raise EvaluationError(f"no infeed value is declared for {shape.text(layout=False)}")
        return self.queues.infeed.popleft()

    def outfeed(self, value: Any) -> None:
        """Keep what the device gives out."""
        self.queues.outfeed.append(value)

    def _targets(self, pairs: Sequence[tuple[int, int]]) -> list[int]:
        """The devices that the pairs lead to from this one: itself where there are no pairs."""
        if not pairs:
            return [self.device]
        if self.partitions > 1:
            return [self.replica * self.partitions + t for s, t in pairs if s == self.partition]
        return [t for s, t in pairs if s == self.replica]
