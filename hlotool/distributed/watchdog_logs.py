"""Logs of hangs: in which collectives devices wait for others, as watchdogs of XLA and of PyTorch's NCCL report it.

    E1126 15:55:35 21544 rendezvous.cc:116] [id=2] This thread has been waiting for `all reduce RendezvousKey{run_id=
    RunId: 52960572, global_devices=[0, 1, 2, 3], num_local_participants=4, collective_op_kind=cross_module, op_id=1}`
    for 5 seconds and may be stuck. Expected 4 threads to join the rendezvous, but not all of them arrived on time.

Sources: XLA, xla/service/rendezvous.cc and collective_ops_utils.h; PyTorch, ProcessGroupNCCL.cpp and TraceUtils.h.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from hlotool.ops import OPS

#: what waits, by the text that names it, or of older versions behind it
_WAITS = re.compile(r"(?:\[id=(\d+)\] )?This thread has been waiting for (?:`([^`]*)` for (\d+) seconds and may be "
                    r"stuck|(\d+)ms for and may be stuck: (.*))")
_ENDS = re.compile(r"(?:\[id=(\d+)\] )?Termination timeout for `([^`]*)` of (\d+) seconds exceeded")
_GOES_ON = re.compile(r"(?:\[id=(\d+)\] )?This thread is unstuck waiting for `([^`]*)`|Thread is unstuck!")
_EXPECTED = re.compile(r"(?:Expected|All) (\d+) threads")
_ARRIVED = re.compile(r"but only (\d+) of them arrived")
_THREAD = re.compile(r"(\d+) \S+\.(?:cc|h):\d+\]")
_DEVICES = re.compile(r"(?:global_devices=|clique=devices=|devices=(?:(\d+):)?)\[([\d, .]*)\]")
_FACTS = {
    "op": re.compile(r"op_id=(\d+)|op id:(\d+)|collective operation (\d+)"), "mode": re.compile(r"op_kind=(\w+)"),
    "local": re.compile(r"num_local_participants=(\d+)"), "rank": re.compile(r"clique for rank (\d+)"),
    "device": re.compile(r"device_ordinal=(\d+)|participant for device ordinal (\d+)"),
    "sizes": re.compile(r"buffers=\[([^\]]*)\]"), "run": re.compile(r"run_id=(?:RunId: )?(-?\d+)"),
}
#: the work that timed out, which some logs break off the line with the rank; of the oldest versions without a number
_WATCHDOG = re.compile(r"(?:\[(?:PG [^\]]*)?Rank (\d+)\] )?Watchdog caught collective operation timeout:")
_WORK = re.compile(r"WorkNCCL\((?:SeqNum=(\d+), )?OpType=(\w+)(?:, NumelIn=(\d+), NumelOut=(\d+))?"
                   r"(?:, TensorShape=\[[\d, ]*\])?, Timeout\(ms\)=(\d+)\)")
_RANKS = re.compile(r"\[([\d, ]+)\] (?:finished collective #\d+, but didn't join collective #(\d+)"
                    r"|(joined but didn't finish) collective #(\d+))")
_NEVER = re.compile(r"ranks \[([\d, ]+)\] are the lagging ranks")


@dataclass
class StuckCollective:
    """A collective in which devices wait for others."""

    #: its name in the log, without what differs between those that wait
    name: str
    #: its operation; "" where the log does not tell
    opcode: str = ""
    #: the channel, or the module's number where the collective has none; PyTorch: how many came before
    number: int | None = None
    #: True if the number is a channel; None: it is not told
    is_channel: bool | None = None
    #: all that meet; () where they are not told
    devices: tuple[int, ...] = ()
    #: how many have to come, and how many have
    expected: int | None = None
    arrived: int = 0
    #: those that are known to wait, or to be elsewhere
    here: set[int] = field(default_factory=set)
    absent: set[int] = field(default_factory=set)
    #: elements of the operands, where they are told
    sizes: tuple[int, ...] = ()
    seconds: int = 0
    #: True if all have come, so that the operation itself hangs
    is_complete: bool = False
    #: lines of the log, from 1 on
    lines: list[int] = field(default_factory=list)
    _waiting: dict[str, str] = field(default_factory=dict)

    @property
    def missing(self) -> tuple[int, ...]:
        """The devices that have not come, as far as the log tells them: nothing of devices of other hosts."""
        is_told = bool(self.here) and len(self.here) == self.arrived and self.expected in (None, len(self.devices))
        others = set(self.devices) - self.here if is_told else set()
        return tuple(sorted(others | self.absent))


def read_watchdog_log(text: str) -> list[StuckCollective]:
    """Return the collectives in which devices wait at the end of a log, in its order.

    >>> (stuck,) = read_watchdog_log(
    ...     "E rendezvous.cc:38] This thread has been waiting for `initialize clique for rank 0; "
    ...     "clique=devices=[4,5]; run_id=7` for 10 seconds and may be stuck. Expected 2 threads to join")
    >>> stuck.devices, stuck.missing
    ((4, 5), (5,))
    """
    found: dict[str, StuckCollective] = {}
    before = ""
    for number, line in enumerate(text.splitlines(), 1):
        whole, before = (before + line if line.lstrip().startswith("WorkNCCL(") else line), line
        for stuck in (*_of_xla(found, line, number), *_of_torch(found, whole)):
            stuck.lines.append(number)
    return [s for s in found.values() if s.arrived]


def merged_logs(logs: Iterable[list[StuckCollective]]) -> list[StuckCollective]:
    """Return the collectives of several logs, one for each host, as of one."""
    found: dict[str, StuckCollective] = {}
    for stuck in (s for log in logs for s in log):
        one = found.setdefault(stuck.name, stuck)
        if one is not stuck:
            one.here |= stuck.here
            one.absent |= stuck.absent
            one.expected = None if one.expected is None or stuck.expected is None else one.expected + stuck.expected
            one.is_complete &= stuck.is_complete
            one.arrived = len(one.here) if one.here and stuck.here else one.arrived + stuck.arrived
            one.seconds = max(one.seconds, stuck.seconds)
    return list(found.values())


def _of_xla(found: dict[str, StuckCollective], line: str, number: int) -> list[StuckCollective]:
    thread = t[1] if (t := _THREAD.search(line)) else ""
    if (goes_on := _GOES_ON.search(line)) is not None:
        for stuck in found.values():
            name = _plain_name(goes_on[2]) if goes_on[2] is not None else stuck.name
            who = goes_on[1] or thread
            if stuck.name == name and who in stuck._waiting:
                del stuck._waiting[who]
                stuck.arrived -= 1
        return []
    waits = _WAITS.search(line) or _ENDS.search(line)
    if waits is None:
        return []
    is_old = waits.lastindex == 5
    text = waits[5] if is_old else waits[2]
    name = _plain_name(text)
    stuck = found.setdefault(name, StuckCollective(name))
    stuck.seconds = max(stuck.seconds, int(waits[4]) // 1000 if is_old else int(waits[3]))
    _fill(stuck, text, line)
    who = waits[1] or thread or f"line {number}"
    stuck._waiting.setdefault(who, text)
    exact = _ARRIVED.search(line)
    stuck.arrived = int(exact[1]) if exact else len(stuck._waiting)
    if "All " in line and "threads joined" in line and stuck.expected:
        stuck.arrived, stuck.is_complete = stuck.expected, True
    return [stuck]


def _plain_name(text: str) -> str:
    """Return a rendezvous' name without the run, and without who says it."""
    key = re.search(r"(RendezvousKey\{.*?\})", text)
    kind = _kind(text)
    if key is not None:
        return re.sub(r"run_id=RunId: -?\d+, ", "", f"{kind} {key[1]}".strip())
    return re.sub(r" for rank \d+|; run_id=-?\d+|run_id=-?\d+;? ?", "", text).strip()


def _kind(text: str) -> str:
    """Return the collective that a text names, however its words are joined; "" where it names none."""
    words = re.sub(r"[^a-z]", "", text.partition("RendezvousKey{run_id")[0].lower())
    kinds = [o for o, op in OPS.items() if op.flow.exchanges and o.replace("-", "") in words]
    return max(kinds, key=len, default="")


def _fact(name: str, text: str) -> str | None:
    found = _FACTS[name].search(text)
    return next((g for g in found.groups() if g is not None), None) if found is not None else None


def _fill(stuck: StuckCollective, text: str, line: str) -> None:
    stuck.opcode = stuck.opcode or _kind(text)
    if (op := _fact("op", text)) is not None:
        stuck.number = int(op)
    if (mode := _fact("mode", text)) is not None:
        stuck.is_channel = mode == "cross_module"
    devices = _DEVICES.search(text)
    if devices is not None and "." not in devices[2]:
        stuck.devices = tuple(int(d) for d in devices[2].replace(" ", "").split(",") if d)
    expected = _EXPECTED.search(line)
    local = _fact("local", text)
    stuck.expected = int(expected[1]) if expected else int(local) if local else stuck.expected
    if (rank := _fact("rank", text)) is not None and int(rank) < len(stuck.devices):
        stuck.here.add(stuck.devices[int(rank)])
    device = _fact("device", text)
    if device is not None and local is not None and int(local) == len(stuck.devices):
        stuck.here.add(int(device))
    if (sizes := _fact("sizes", text)) is not None:
        stuck.sizes = tuple(map(int, re.findall(r"element_count=(\d+)", sizes)))


def _of_torch(found: dict[str, StuckCollective], line: str) -> list[StuckCollective]:
    watchdog, work = _WATCHDOG.search(line), _WORK.search(line)
    if watchdog is not None and work is not None:
        rank, (number, kind, inner, _, limit) = watchdog[1], work.groups()
        name = f"#{number or '?'} {kind}" + (f" of {inner} elements" if inner else "")
        begun = StuckCollective(name, _kind(f"collective {kind}"), int(number) if number else None)
        stuck = found.setdefault(name, begun)
        stuck.sizes = (int(inner),) if inner else ()
        if rank is not None:
            stuck.here.add(int(rank))
        stuck.arrived = max(len(stuck.here), 1)
        stuck.seconds = int(limit) // 1000
        return [stuck]
    told = []
    for ranks, late, joined, at in _RANKS.findall(line):
        for stuck in found.values():
            if stuck.name.startswith(f"#{late or at} "):
                (stuck.here if joined else stuck.absent).update(map(int, ranks.split(",")))
                stuck.arrived = len(stuck.here)
                told.append(stuck)
    if (never := _NEVER.search(line)) is not None:
        for stuck in found.values():
            if stuck.name.startswith("#"):
                stuck.absent.update(map(int, never[1].split(",")))
                told.append(stuck)
    return told
