"""Reads what XLA writes of its memory: the `*-buffer-assignment.txt` of a dump folder.

    allocation 38: size 11880, preallocated-temp:
     value: <300 fusion.4 @0> (size=1024,offset=5376): f32[8,32]{1,0}
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from hlotool.ir import deferred

_ALLOCATION = deferred(lambda: r"allocation (\d++): (?:0x[0-9a-f]++, )?size (\d++)(.*+)")
_VALUE = deferred(lambda: r" value: <\d++ (\S++)(?: \(phi\))? @\d++> \(size=(\d++),offset=(\d++)\): (.*+)")


@dataclass(frozen=True, slots=True)
class AssignedValue:
    """A value in an allocation; its name may end with its place in a tuple: `cholesky.11{0}`."""

    name: str
    size: int
    offset: int
    shape: str


@dataclass(frozen=True, slots=True)
class Allocation:
    """A piece of memory that lives as long as the program runs."""

    number: int
    size: int
    #: `parameter`, `output`, `constant`, `thread-local` or `temporary`
    kind: str
    values: list[AssignedValue] = field(default_factory=list)

    @property
    def is_held(self) -> bool:
        """True if it takes memory of the device; constants are part of the program, thread-local memory of threads."""
        return self.kind in ("parameter", "output", "temporary")


def is_buffer_assignment(text: str) -> bool:
    """Return True if a text is one of these, by its first line."""
    return text.lstrip()[:17] == "BufferAssignment:"


def read_buffer_assignment(text: str) -> list[Allocation]:
    """The allocations, in the order of the text; sizes in bytes. Lines of other forms are passed over."""
    found: list[Allocation] = []
    for line in text.splitlines():
        allocation, value = _ALLOCATION.match(line), _VALUE.match(line)
        if allocation is not None:
            found.append(Allocation(int(allocation[1]), int(allocation[2]), _kind(allocation[3])))
        elif value is not None and found:
            found[-1].values.append(AssignedValue(value[1], int(value[2]), int(value[3]), value[4]))
    return found


def _kind(words: str) -> str:
    for word, kind in (("thread-local", "thread-local"), ("constant", "constant"), ("parameter", "parameter"),
                       ("live-out", "output"), ("output", "output")):
        if word in words:
            return kind
    return "temporary"


def device_bytes(allocations: Iterable[Allocation]) -> int:
    """Return the bytes that the program holds on its device."""
    return sum(a.size for a in allocations if a.is_held)
