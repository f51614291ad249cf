"""Pictures of costs, as SVG: memory over time, and instructions under the roof of a device."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from hlotool.diagnostics import format_bytes, format_count, format_seconds, visible_html
from hlotool.passes.cost import PeakMemory, Roofline

#: the size of a picture, and the room for the words at its left and below, in its own units
_WIDTH, _HEIGHT, _LEFT, _BELOW, _ABOVE = 900, 300, 86, 40, 22
#: columns of the picture of memory, and circles in the other
_MOST_COLUMNS, _MOST_CIRCLES = 600, 200


@dataclass(frozen=True, slots=True)
class _Axis:
    """A scale of values from `low` to `high` between two places, logarithmic or linear."""

    low: float
    high: float
    start: float
    end: float
    is_log: bool = False

    def at(self, value: float) -> float:
        low, high, one = self.low, self.high, value
        if self.is_log:
            low, high, one = math.log10(low), math.log10(high), math.log10(max(value, self.low))
        part = (one - low) / (high - low) if high > low else 0.0
        return self.start + min(max(part, 0.0), 1.0) * (self.end - self.start)


def memory_picture(memory: PeakMemory) -> str:
    """Bytes over time: arguments and results below, which are there all the time, temporaries above them."""
    base, columns = memory.total - memory.temporaries, _columns([size for _, size in memory.over_time])
    y = _Axis(0, max(base + max(columns, default=0), 1), _HEIGHT - _BELOW, _ABOVE)
    x = _Axis(0, max(len(columns), 1), _LEFT, _WIDTH - 8)
    steps = [f"M{x.at(0):.1f} {y.at(base):.1f}"]
    for n, size in enumerate(columns):
        steps.append(f"V{y.at(base + size):.1f}H{x.at(n + 1):.1f}")
    steps.append(f"V{y.at(base):.1f}Z")
    parts = [f'<rect class="base" x="{_LEFT}" y="{y.at(base):.1f}" width="{_WIDTH - 8 - _LEFT}" '
             f'height="{y.at(0) - y.at(base):.1f}"/>', f'<path class="area" d="{"".join(steps)}"/>']
    parts += _lines_across(y, [y.high * k / 4 for k in range(5)], format_bytes)
    if memory.at is not None and columns:
        peak = columns.index(max(columns))
        place = x.at(peak + 0.5)
        anchor = "end" if place > _WIDTH / 2 else "start"
        shift = -6 if anchor == "end" else 6
        parts.append(f'<line class="peak" x1="{place:.1f}" x2="{place:.1f}" y1="{_ABOVE - 6}" y2="{_HEIGHT - _BELOW}"/>'
                     f'<text x="{place + shift:.1f}" y="{_ABOVE - 8}" text-anchor="{anchor}">'
                     f"most at {visible_html(_short(memory.at.name))}</text>")
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 10}">instructions in the order in which they run '
                 f"({len(memory.over_time):,})</text>")
    said = (f"Memory over time: {format_bytes(base)} of arguments and results all the time, at most "
            f"{format_bytes(memory.total)} in all")
    return _svg(parts, said)


def _columns(sizes: Sequence[int]) -> list[int]:
    """Return the most of each stretch of time."""
    width = max(1, -(-len(sizes) // _MOST_COLUMNS))
    return [max(sizes[n:n + width]) for n in range(0, len(sizes), width)]


def roofline_picture(roofline: Roofline) -> str:
    """Instructions by intensity and by the arithmetic a second that the device allows them; the longer, the larger."""
    device = roofline.device
    found = sorted((t for t in roofline.times if t.row.total.work and t.seconds > 0),
                   key=lambda t: -t.seconds)[:_MOST_CIRCLES]
    peak = device.matrix_flops("bf16")
    rates = [t.row.total.work / t.seconds for t in found]
    intensities = [t.row.total.work / max(t.row.total.bytes, 1) for t in found]
    x = _Axis(min([0.1, *intensities]) / 1.5, max([4 * peak / device.bandwidth, *intensities]) * 1.5, _LEFT, _WIDTH - 8,
              True)
    y = _Axis(min([x.low * device.bandwidth, *rates]), peak * 2, _HEIGHT - _BELOW, _ABOVE, True)
    parts = _lines_across(y, _powers(y), lambda v: f"{format_count(v)}flop/s")
    parts += _lines_down(x)
    ceilings = {"bf16": peak, "outside of matrix units": device.vector_flops}
    for name, rate in ceilings.items():
        ridge = rate / device.bandwidth
        parts.append(f'<path class="roof" d="M{x.at(x.low):.1f} {y.at(x.low * device.bandwidth):.1f}'
                     f'L{x.at(ridge):.1f} {y.at(rate):.1f}H{_WIDTH - 8}"/>'
                     f'<text x="{_WIDTH - 12}" y="{y.at(rate) - 5:.1f}" text-anchor="end">{name}</text>')
    whole = sum(t.seconds for t in found)
    for time, rate, intensity in zip(found, rates, intensities, strict=True):
        radius = 3 + 14 * math.sqrt(time.seconds / whole)
        name = time.row.instruction.name
        parts.append(f'<circle cx="{x.at(intensity):.1f}" cy="{y.at(rate):.1f}" r="{radius:.1f}"><title>'
                     f"{visible_html(name)}: {format_seconds(time.seconds)}, {intensity:.3g} flop/B</title></circle>")
    parts.append(f'<text x="{_LEFT}" y="{_HEIGHT - 6}">flops and functions for each byte moved</text>')
    return _svg(parts, f"Roofline of {device.name}: {len(found)} instructions by intensity and rate")


def _powers(axis: _Axis) -> list[float]:
    first, last = math.ceil(math.log10(axis.low)), math.floor(math.log10(axis.high))
    step = max(1, -(-(last - first) // 6))
    return [10.0 ** n for n in range(first, last + 1, step)]


def _lines_across(axis: _Axis, values: Iterable[float], said: Callable[[float], str]) -> list[str]:
    return [f'<line class="grid" x1="{_LEFT}" x2="{_WIDTH - 8}" y1="{axis.at(v):.1f}" y2="{axis.at(v):.1f}"/>'
            f'<text x="{_LEFT - 6}" y="{axis.at(v) + 4:.1f}" text-anchor="end">{said(v)}</text>' for v in values]


def _lines_down(axis: _Axis) -> list[str]:
    return [f'<line class="grid" x1="{axis.at(v):.1f}" x2="{axis.at(v):.1f}" y1="{_ABOVE}" y2="{_HEIGHT - _BELOW}"/>'
            f'<text x="{axis.at(v):.1f}" y="{_HEIGHT - _BELOW + 15}" text-anchor="middle">{v:g}</text>'
            for v in _powers(axis)]


def _svg(parts: Sequence[str], said: str) -> str:
    return (f'<svg viewBox="0 0 {_WIDTH} {_HEIGHT}" role="img" aria-label="{visible_html(said)}">'
            f"{''.join(parts)}</svg>")


def _short(name: str) -> str:
    return name if len(name) <= 60 else f"{name[:57]}…"
