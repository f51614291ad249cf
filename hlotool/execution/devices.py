"""Simulated devices and where they meet: the `World` that collective.py and the transfer operations ask for.

Each device runs on a thread. Whoever waits leaves a condition behind; when every device waits or is done and no
condition holds, the meeting can never happen and all who wait get a `Stuck` with the graph of who waits for whom.
"""

from __future__ import annotations

import copy
import functools
import threading
from collections import Counter, defaultdict, deque
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.ir import HloComputation, HloInstruction, Shape, post_order
from hlotool.ops import group_mode_of
from hlotool.ops.values import EvaluationError, zeros


class Abandoned(Exception):
    """Another device failed, so this one need not go on."""


class Stuck(EvaluationError):
    """Devices never meet; `places` are the instructions at which they are, with a sentence each."""

    def __init__(self, message: str, places: Sequence[tuple[HloInstruction, str]]) -> None:
        super().__init__(message)
        self.places = places


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


@dataclass(frozen=True)
class Exchange:
    """An instruction in which devices meet, as one device brings it."""

    #: the collective; None for what no instruction asks for
    instruction: HloInstruction | None
    #: all that the devices must have in common: operation, channel, mode, order of devices, reduction, shapes
    kind: tuple[Any, ...] = ()

    def __str__(self) -> str:
        if self.instruction is None:
            return "an exchange"
        channel = self.instruction.attributes.get("channel_id")
        return f"{self.instruction.opcode} {self.instruction.name}" + f" (channel {channel})" * (channel is not None)


@dataclass(frozen=True)
class _Wait:
    """A device that waits: until what holds, where, and for whom."""

    holds: Callable[[], bool]
    at: Exchange
    missing: Callable[[], Sequence[int]]


@functools.lru_cache(4096)
def exchange_of(instruction: HloInstruction) -> Exchange:
    """Return what devices must have in common to meet in an instruction. Source: XLA, rendezvous keys of collectives.

    A collective and its asynchronous start are of one kind.
    """
    given = instruction.attributes
    applied = given.get("to_apply")
    reduction = _fold_of(applied) if isinstance(applied, HloComputation) else None
    groups = given.get("replica_groups")
    stated = (groups.lists() if groups is not None else (), *(given.get(name) for name in (
        "dimensions", "split_dimension", "source_target_pairs", "slice_sizes")))
    shapes = tuple(o.shape.text(layout=False) for o in instruction.operands)
    return Exchange(instruction, (instruction.opcode.removesuffix("-start"), given.get("channel_id"),
                                  group_mode_of(instruction), reduction, stated, shapes))


def _fold_of(computation: HloComputation) -> tuple[Any, ...]:
    """Return what a reduction computes, whatever its names."""
    order = list(post_order(computation))
    number = {i: n for n, i in enumerate(order)}
    return tuple((i.opcode, i.shape.text(layout=False), i.attributes.get("parameter_number"),
                  i.attributes.get("direction"), tuple(number[o] for o in i.operands)) for i in order)


class Meeting:
    """State that the devices of one run share."""

    def __init__(self, replicas: int, partitions: int) -> None:
        self.replicas = replicas
        self.partitions = partitions
        self._changed = threading.Condition()
        self._meetings: Counter[tuple[int, Any]] = Counter()
        #: devices, channel and mode, and the number of their meeting -> what was brought so far, and how many have left
        self._rooms: dict[tuple[Any, int], dict[int, tuple[Exchange, Any]]] = {}
        self._left: Counter[tuple[Any, int]] = Counter()
        #: channel, source and target -> values under way
        self._mail: dict[tuple[int | None, int, int], deque[Any]] = defaultdict(deque)
        self._waiting: dict[int, _Wait] = {}
        self._done: set[int] = set()
        self._stuck: Stuck | None = None
        self._is_abandoned = False

    def exchange(self, device: int, value: Any, participants: Sequence[int], at: Exchange) -> list[Any]:
        """Bring a value to the next meeting of those devices in that channel and mode; what each brought.

        Raises Stuck where the devices meet in instructions that are not of one kind, or never meet.
        """
        members = tuple(sorted(set(participants)))
        with self._changed:
            place = (members, at.kind[1:3])
            room = (place, self._meetings[device, place])
            self._meetings[device, place] += 1
            brought = self._rooms.setdefault(room, {})
            brought[device] = at, value
            other = next((d for d, (its, _) in brought.items()
                          if its.instruction is not at.instruction and its.kind != at.kind), None)
            if other is not None:
                raise _clash(dict(sorted([(other, brought[other][0]), (device, at)])))
            self._changed.notify_all()
            self._wait(device, _Wait(lambda: len(brought) == len(members), at,
                                     lambda: [m for m in members if m not in brought]))
            self._left[room] += 1
            if self._left.get(room) == len(members):
                del self._rooms[room], self._left[room]
            return [brought[d][1] for d in participants]

    def put(self, channel: int | None, source: int, target: int, value: Any) -> None:
        """Send a value on its way."""
        with self._changed:
            self._mail[channel, source, target].append(value)
            self._changed.notify_all()

    def is_sent(self, channel: int | None, source: int, target: int) -> bool:
        """Return True if a value from the source is on its way."""
        return bool(self._mail[channel, source, target])

    def take(self, channel: int | None, source: int, target: int, at: Exchange) -> Any:
        """The next value from the source, when it is there."""
        with self._changed:
            mail = self._mail[channel, source, target]
            self._wait(target, _Wait(lambda: bool(mail), at, lambda: [source]))
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

    def _wait(self, device: int, wait: _Wait) -> None:
        self._waiting[device] = wait
        self._look_whether_stuck()
        self._changed.wait_for(lambda: wait.holds() or self._stuck is not None or self._is_abandoned)
        del self._waiting[device]
        if wait.holds():
            return
        if self._stuck is not None:
            raise self._stuck
        raise Abandoned

    def _look_whether_stuck(self) -> None:
        at_rest = len(self._waiting) + len(self._done) == self.replicas * self.partitions
        if self._waiting and at_rest and not any(w.holds() for w in self._waiting.values()):
            self._stuck = self._graph()
            self._changed.notify_all()

    def _graph(self) -> Stuck:
        """Return where each device waits and for whom, devices that wait for the same together, and a circle."""
        waits: dict[tuple[str, str], list[int]] = {}
        missing = {d: tuple(w.missing()) for d, w in sorted(self._waiting.items())}
        for device, others in missing.items():
            waits.setdefault((str(self._waiting[device].at), numbered(others)), []).append(device)
        said = [f"{numbered(devices)} at {at}, for {others}" for (at, others), devices in waits.items()]
        said += [f"{numbered(sorted(self._done))} at the end of the program"] * bool(self._done)
        places = [(at.instruction, f"{numbered(devices)} wait{'s' * (len(devices) == 1)} here for {others}")
                  for (_, others), devices in waits.items()
                  if (at := self._waiting[devices[0]].at).instruction is not None]
        return Stuck(f"the devices wait for ever: {'; '.join(said)}{self._circle(missing)}", places)

    def _circle(self, missing: Mapping[int, Sequence[int]]) -> str:
        """Return the shortest sentence about devices that wait for each other; "" where all wait for one at its end."""
        for begin in missing:
            way, at = [begin], missing[begin][0]
            while at in missing and at not in way:
                way.append(at)
                at = missing[at][0]
            if at in way:
                circle = [*way[way.index(at):], at]
                return f" ({' waits for '.join(f'device {d}' for d in circle)})"
        return ""


def _clash(met: Mapping[int, Exchange]) -> Stuck:
    """Return the error of two devices that meet in different collectives."""
    said = " and ".join(f"{at} on device {device}" for device, at in met.items())
    return Stuck(f"devices {' and '.join(map(str, met))} meet in different collectives: {said}",
                 [(at.instruction, f"device {device} is here") for device, at in met.items() if at.instruction])


def numbered(devices: Sequence[int]) -> str:
    """Return devices in words, runs of numbers as their ends: "device 3", "devices 0 to 3, 6"."""
    runs: list[list[int]] = []
    for device in devices:
        if runs and runs[-1][-1] + 1 == device:
            runs[-1].append(device)
        else:
            runs.append([device])
    said = [f"{run[0]} to {run[-1]}" if len(run) > 2 else ", ".join(map(str, run)) for run in runs]
    return f"device{'s' * (len(devices) != 1)} {', '.join(said)}"


class DeviceWorld:
    """One device's view; the protocol is documented in hlotool/ops/collective.py."""

    def __init__(self, meeting: Meeting, device: int, queues: Queues | None = None) -> None:
        self.meeting = meeting
        self.device = device
        self.replicas, self.partitions = meeting.replicas, meeting.partitions
        self.replica, self.partition = divmod(device, meeting.partitions)
        self.storage: dict[str, Any] = {}
        #: the instruction that runs
        self.instruction: HloInstruction | None = None
        self.queues = queues if queues is not None else Queues()

    def at(self, instruction: HloInstruction) -> DeviceWorld:
        """Return the same view for an instruction, by which the devices that meet in it know each other."""
        found = copy.copy(self)
        found.instruction = instruction
        return found

    def exchange(self, value: Any, participants: Sequence[int]) -> list[Any]:
        """Return what every participant brings to this meeting, in their order."""
        if tuple(participants) == (self.device,):
            return [value]
        return self.meeting.exchange(self.device, value, participants, self._at())

    def _at(self) -> Exchange:
        return exchange_of(self.instruction) if self.instruction is not None else Exchange(None)

    def together(self, members: Sequence[int], compute: Callable[[], Any]) -> Any:
        """Return the value that is the same for all of some devices."""
        return compute()

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
        return self.meeting.take(channel, sources[0], self.device, self._at()) if sources else zeros(shape)

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
