"""Boxes in layers, each above those that read it, and edges that cross no box, for drawings made without a browser.

The usual steps, kept simple: a layer for each box by its longest way from the top, a point for each edge in every layer
that it passes, an order in each layer by the mean place of neighbours, and places as near to neighbours as the order
allows. Source: Sugiyama, Tagawa and Toda, 1981; the places are an isotonic regression in each layer.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

_ASIDE, _BELOW, _MARGIN = 18.0, 46.0, 12.0
#: width of a layer, as long as a box is no wider
_WIDEST = 1400.0
_SWEEPS = 6


@dataclass(slots=True)
class Box:
    """A box and, once it is laid out, its upper left corner."""

    width: float
    height: float
    x: float = 0.0
    y: float = 0.0


@dataclass(slots=True)
class GraphLayout:
    """The size of a drawing, and the way of each edge: points that a curve passes, downwards but for circles."""

    width: float
    height: float
    routes: list[list[tuple[float, float]]]


def laid_out(boxes: Sequence[Box], edges: Sequence[tuple[int, int]], least_width: float = 0.0) -> GraphLayout:
    """Give every box its place. Edges that close a circle count for nothing, and go straight."""
    read, readers = _neighbours(len(boxes), edges)
    layer_of = _narrowed(_lowered(_layer_of(read, readers), read, readers), read, boxes)
    all_boxes, chains = _with_points(boxes, edges, layer_of)
    above, below = _neighbours(len(all_boxes), [pair for chain in chains for pair in itertools.pairwise(chain)])
    layers = _layers(layer_of)
    for sweep in range(_SWEEPS):
        place = {box: n for layer in layers for n, box in enumerate(layer)}
        near = above if sweep % 2 == 0 else below
        for layer in layers:
            layer.sort(key=lambda box: sum(place[o] for o in near[box]) / len(near[box]) if near[box] else place[box])
    for layer in layers:
        for number, offset in zip(layer, _offsets([all_boxes[n] for n in layer]), strict=True):
            all_boxes[number].x = offset
    for sweep in range(_SWEEPS):
        for layer in layers if sweep % 2 == 0 else reversed(layers):
            _draw_near(layer, all_boxes, above if sweep % 2 == 0 else below)
    y = _MARGIN
    bottoms = []
    for layer in layers:
        for number in layer:
            all_boxes[number].y = y
        bottoms.append(y + max((all_boxes[b].height for b in layer), default=0.0))
        y = bottoms[-1] + _BELOW
    left, right = min((b.x for b in all_boxes), default=0.0), max((b.x + b.width for b in all_boxes), default=0.0)
    width = max(right - left + 2 * _MARGIN, least_width)
    for box in all_boxes:
        box.x += (width - right - left) / 2
    height = max(bottoms, default=_MARGIN) + _MARGIN
    return GraphLayout(width, height, _routes(edges, chains, all_boxes, [bottoms[n] for n in layer_of]))


def _neighbours(count: int, edges: Sequence[tuple[int, int]]) -> tuple[list[list[int]], list[list[int]]]:
    """Return what is above each box, and what is below it."""
    above: list[list[int]] = [[] for _ in range(count)]
    below: list[list[int]] = [[] for _ in range(count)]
    for a, b in edges:
        above[b].append(a)
        below[a].append(b)
    return above, below


def _with_points(boxes: Sequence[Box], edges: Sequence[tuple[int, int]], layer_of: list[int]
                 ) -> tuple[list[Box], list[list[int]]]:
    """Return the boxes and, as boxes without size, a point of each edge in every layer that it passes; the ways."""
    found, chains = list(boxes), []
    for a, b in edges:
        passed = range(layer_of[a] + 1, layer_of[b])
        chain = [a, *range(len(found), len(found) + len(passed)), b] if layer_of[a] < layer_of[b] else []
        found += [Box(0.0, 0.0) for _ in passed]
        layer_of += passed
        chains.append(chain)
    return found, chains


def _offsets(row: Sequence[Box]) -> list[float]:
    """Return where boxes in a row begin that stand as near to each other as they may."""
    gaps = [_ASIDE if one.width and other.width else _ASIDE / 2 for one, other in itertools.pairwise(row)]
    return list(itertools.accumulate((box.width + gap for box, gap in zip(row, gaps, strict=False)), initial=0.0)) \
        if row else []


def _draw_near(layer: Sequence[int], boxes: Sequence[Box], near: Sequence[Sequence[int]]) -> None:
    """Move the boxes of a layer to the mean place of their neighbours, as far as their order leaves room.

    With the least room between boxes taken off, wanted places must only not fall: neighbours that want to be the other
    way round become a block that stands at its mean.
    """
    offsets = _offsets([boxes[n] for n in layer])
    blocks: list[tuple[float, int]] = []
    for number, offset in zip(layer, offsets, strict=True):
        box = boxes[number]
        middles = [boxes[o].x + boxes[o].width / 2 for o in near[number]]
        wanted = sum(middles) / len(middles) - box.width / 2 if middles else box.x
        place, count = wanted - offset, 1
        while blocks and blocks[-1][0] > place:
            before, many = blocks.pop()
            place, count = (before * many + place * count) / (many + count), many + count
        blocks.append((place, count))
    places = [place for place, count in blocks for _ in range(count)]
    for number, offset, place in zip(layer, offsets, places, strict=True):
        boxes[number].x = place + offset


def _routes(edges: Sequence[tuple[int, int]], chains: Sequence[Sequence[int]], boxes: Sequence[Box],
            bottoms: Sequence[float]) -> list[list[tuple[float, float]]]:
    """Return the points of each edge: out of a box, down through the layers that it passes, into a box."""
    leaving = _ports([(a, boxes[c[1]].x if c else 0.0) for (a, _), c in zip(edges, chains, strict=True)], boxes)
    entering = _ports([(b, boxes[c[-2]].x if c else 0.0) for (_, b), c in zip(edges, chains, strict=True)], boxes)
    found = []
    for (a, b), chain, start, end in zip(edges, chains, leaving, entering, strict=True):
        points = [(start, boxes[a].y + boxes[a].height)]
        if chain:
            points.append((start, bottoms[a]))
        for point in chain[1:-1]:
            points += [(boxes[point].x, boxes[point].y), (boxes[point].x, bottoms[point])]
        found.append([*points, (end, boxes[b].y)])
    return found


def _ports(ends: Sequence[tuple[int, float]], boxes: Sequence[Box]) -> list[float]:
    """Return where each edge touches its box: side by side, in the order of the places where the edges come from."""
    found = [0.0] * len(ends)
    for number, group in itertools.groupby(sorted(range(len(ends)), key=lambda n: ends[n]), lambda n: ends[n][0]):
        touching = list(group)
        for place, edge in enumerate(touching):
            found[edge] = boxes[number].x + boxes[number].width * (place + 1) / (len(touching) + 1)
    return found


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


def _lowered(layer_of: list[int], above: Sequence[Sequence[int]], below: Sequence[Sequence[int]]) -> list[int]:
    """Return the layers, boxes that read no more than read them being right above the first that reads them."""
    found = list(layer_of)
    for box in sorted(range(len(found)), key=lambda n: -layer_of[n]):
        first = min((found[b] for b in below[box]), default=0) - 1
        if len(above[box]) <= len(below[box]) and first > found[box]:
            found[box] = first
    return found


def _narrowed(layer_of: list[int], above: Sequence[Sequence[int]], boxes: Sequence[Box]) -> list[int]:
    """Return the layers, boxes for which one has no room being in one below it, and their readers further below."""
    found: dict[int, int] = {}
    widths: defaultdict[int, float] = defaultdict(float)
    for box in sorted(range(len(layer_of)), key=lambda n: (layer_of[n], n)):
        layer = max([layer_of[box], *(found[a] + 1 for a in above[box] if layer_of[a] < layer_of[box])])
        while widths[layer] and widths[layer] + boxes[box].width > _WIDEST:
            layer += 1
        widths[layer] += boxes[box].width + _ASIDE
        found[box] = layer
    return [found[n] for n in range(len(layer_of))]


def _layers(layer_of: Sequence[int]) -> list[list[int]]:
    found: list[list[int]] = [[] for _ in range(max(layer_of, default=-1) + 1)]
    for box, layer in enumerate(layer_of):
        found[layer].append(box)
    return found
