"""Boxes in layers, each above those that read it, for drawings that are made without a browser.

The usual three steps, kept simple: a layer for each box by its longest way from the top, an order in each layer by the
mean place of its neighbours, and places side by side. Source: Sugiyama, Tagawa and Toda, 1981.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

_ASIDE, _BELOW, _MARGIN = 18.0, 46.0, 12.0
_SWEEPS = 6


@dataclass(slots=True)
class Box:
    """A box and, once it is laid out, its upper left corner."""

    width: float
    height: float
    x: float = 0.0
    y: float = 0.0


def laid_out(boxes: Sequence[Box], edges: Sequence[tuple[int, int]]) -> tuple[float, float]:
    """Give every box its place; gives width and height of the drawing. Edges that close a circle count for nothing."""
    above: list[list[int]] = [[] for _ in boxes]
    below: list[list[int]] = [[] for _ in boxes]
    for a, b in edges:
        above[b].append(a)
        below[a].append(b)
    layers = _layers(_layer_of(above, below))
    for sweep in range(_SWEEPS):
        place = {box: n for layer in layers for n, box in enumerate(layer)}
        near = above if sweep % 2 == 0 else below
        for layer in layers:
            layer.sort(key=lambda box: sum(place[o] for o in near[box]) / len(near[box]) if near[box] else place[box])
    widths = [sum(boxes[b].width + _ASIDE for b in layer) - _ASIDE for layer in layers]
    whole = max(widths, default=0.0)
    y = _MARGIN
    for layer, width in zip(layers, widths, strict=True):
        x = _MARGIN + (whole - width) / 2
        for number in layer:
            boxes[number].x, boxes[number].y = x, y
            x += boxes[number].width + _ASIDE
        y += max(boxes[b].height for b in layer) + _BELOW
    return whole + 2 * _MARGIN, max(y - _BELOW, _MARGIN) + _MARGIN


def _layer_of(above: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> list[int]:
    """Return the layer of each box: one more than the lowest of those above it."""
    found = [0] * len(above)
    waiting = [len(a) for a in above]
    ready = [n for n, count in enumerate(waiting) if not count]
    seen = [False] * len(above)
    unseen = (n for n in range(len(above)) if not seen[n])
    # Folds may read each other in a circle, which then is begun somewhere.
    while ready or (ready := list(itertools.islice(unseen, 1))):
        box = ready.pop()
        if seen[box]:
            continue
        seen[box] = True
        for other in below[box]:
            if not seen[other]:
                found[other] = max(found[other], found[box] + 1)
                waiting[other] -= 1
                if not waiting[other]:
                    ready.append(other)
    return found


def _layers(layer_of: Sequence[int]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(max(layer_of, default=-1) + 1)]
    for box, layer in enumerate(layer_of):
        found[layer].append(box)
    return [layer for layer in found if layer]
