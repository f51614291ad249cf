"""Lists the values in a module's memory when most of it is needed, by the live ranges that XLA writes too.

    HloLiveRange (max 146):
      InstructionSequence:
        0:a.1
      BufferLiveRange:
        ynn_fusion.9{}:131-132
      Live ranges at 61 (peak):

They stand behind the buffer assignment, or in a `*-live-range.txt` of their own beside it. Source: XLA, HloLiveRange.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from hlotool.dumps.buffer_assignment import Allocation, AssignedValue
from hlotool.ir import deferred

_STEP = deferred(lambda: r" {4}(\d++):(\S++)")
_RANGE = deferred(lambda: r" {4}(\S+):(\d++)-(\d++)")
_PEAK = deferred(lambda: r" {2}Live ranges at (\d++) \(peak\):")


@dataclass(slots=True)
class LiveRanges:
    """The times at which values live, both ends included, and the instruction of each time."""

    order: dict[int, str] = field(default_factory=dict)
    spans: dict[str, tuple[int, int]] = field(default_factory=dict)
    #: when XLA says that the most is needed
    peak: int | None = None


@dataclass(frozen=True, slots=True)
class AssignedPeak:
    """The moment at which the most of the memory is in use."""

    time: int
    #: the instruction that runs then; empty where the text does not say
    at: str
    #: what takes memory then, the largest first: what lives, and arguments and results, whose memory is always there
    live: list[tuple[AssignedValue, Allocation]]

    @property
    def temporaries(self) -> int:
        """Bytes of the temporary ones."""
        return sum(v.size for v, a in self.live if a.kind == "temporary")


def read_live_ranges(text: str) -> LiveRanges | None:
    """The live ranges in a text; None where there are none. Lines of other forms are passed over."""
    found, section = LiveRanges(), ""
    for line in text.splitlines():
        if line.startswith("  ") and not line.startswith("   "):
            section = line.strip()
            if (peak := _PEAK.match(line)) is not None:
                found.peak = int(peak[1])
        elif section == "InstructionSequence:" and (step := _STEP.fullmatch(line)) is not None:
            found.order[int(step[1])] = step[2]
        elif section == "BufferLiveRange:" and (span := _RANGE.fullmatch(line)) is not None:
            found.spans[span[1].removesuffix("{}")] = int(span[2]), int(span[3])
    return found if found.spans else None


def assigned_peak(allocations: Sequence[Allocation], ranges: LiveRanges) -> AssignedPeak:
    """Return the values in memory at the worst moment: the one that XLA names, else that at which most bytes live."""
    held = [(v, a) for a in allocations if a.is_held for v in a.values if v.size]
    spans = [ranges.spans.get(v.name.removesuffix("{}"), (0, -1)) for v, _ in held]
    time = _busiest(held, spans) if ranges.peak is None else ranges.peak
    live: dict[tuple[int, int, int], tuple[AssignedValue, Allocation]] = {}
    for (value, allocation), (start, end) in zip(held, spans, strict=True):
        if start <= time <= end:  # what a loop hands on has several names in one place
            live.setdefault((allocation.number, value.offset, value.size), (value, allocation))
    busy = {number for number, _, _ in live}
    always = [(a.values[-1], a) for a in allocations
              if a.is_held and a.kind != "temporary" and a.values and a.number not in busy]
    return AssignedPeak(time, ranges.order.get(time, ""),
                        sorted([*live.values(), *always], key=lambda pair: -pair[0].size))


def _busiest(held: Sequence[tuple[AssignedValue, Allocation]], spans: Sequence[tuple[int, int]]) -> int:
    """The first moment at which most bytes live."""
    changes: dict[int, int] = {}
    for (value, _), (start, end) in zip(held, spans, strict=True):
        if start <= end:
            changes[start] = changes.get(start, 0) + value.size
            changes[end + 1] = changes.get(end + 1, 0) - value.size
    now = most = when = 0
    for time in sorted(changes):
        now += changes[time]
        if now > most:
            most, when = now, time
    return when
