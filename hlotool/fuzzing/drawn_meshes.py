"""Meshes of devices with named axes, and how arrays are split over them, in the words of GSPMD and of Shardy.

A split names for each dimension the parts of axes that it is cut over, in order; the rest of the mesh holds copies.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias

from hlotool.ir import FrontendAttributes, IotaTile, Sharding

_SIZES = ((2,), (4,), (8,), (2, 2), (2, 4), (4, 2), (2, 2, 2))
#: names of axes
_NAMES = "xyz"


@dataclass(frozen=True)
class Part:
    """A part of an axis: `size` places behind `before` larger ones."""

    axis: str
    before: int
    size: int


#: for each dimension the parts of axes that it is cut over, major to minor
Split: TypeAlias = Sequence[Sequence[Part]]


@dataclass(frozen=True)
class DrawnMesh:
    """A mesh: the sizes of its axes by name, the parts that they are taken in, and the devices in row-major order."""

    sizes: Mapping[str, int]
    parts: tuple[Part, ...]
    devices: tuple[int, ...]
    #: True if programs say it in Shardy's words beside GSPMD's
    is_shardy: bool

    @property
    def count(self) -> int:
        """The number of devices."""
        return len(self.devices)

    @property
    def is_ordered(self) -> bool:
        """True if the devices have the numbers of their places."""
        return self.devices == tuple(range(self.count))

    def of(self, axes: Collection[str]) -> tuple[Part, ...]:
        """Return the parts of those axes, in the order of the mesh."""
        return tuple(p for p in self.parts if p.axis in axes)

    def frontend(self) -> FrontendAttributes:
        """Return the header's attribute that tells Shardy of the mesh."""
        axes = ", ".join(f'"{name}"={size}' for name, size in self.sizes.items())
        order = "" if self.is_ordered else f", device_ids=[{', '.join(map(str, self.devices))}]"
        return FrontendAttributes((("xla.sdy.meshes", f"{{mesh = #sdy.mesh<[{axes}]{order}>}}"),))

    def sharding(self, split: Split, manual: Sequence[Part] = ()) -> Sharding:
        """Return GSPMD's sharding of a value; `manual` are the axes of a region by hand in which it is."""
        if manual and len(manual) == len(self.parts):
            return Sharding("manual")
        cut = [p for row in split for p in row]
        if not cut and not manual:
            return Sharding("replicated")
        rest = [p for p in self.parts if p not in cut and p not in manual]
        groups = [("manual", manual), ("replicated", rest)]
        counts = [_size(row) for row in split]
        kinds = [(kind, _size(row)) for kind, row in groups if row]
        order = [self.parts.index(p) for p in (*cut, *manual, *rest)]
        tiles = (*counts, *(n for _, n in kinds))
        iota = IotaTile(tiles, tuple(p.size for p in self.parts), tuple(order))
        devices = iota if self.is_ordered else tuple(self.devices[n] for n in iota.devices())
        return Sharding("tiled", tile_dims=tiles, devices=devices, last_tile_dim_replicate=bool(rest and not manual),
                        last_tile_dims=tuple(kind for kind, _ in kinds) if manual else ())

    def shardy(self, split: Split, open_dimensions: Collection[int] = ()) -> str:
        """Return Shardy's sharding of a value, where `open_dimensions` may be cut further: `<@mesh, [{"x"}, {?}]>`."""
        rows = []
        for number, row in enumerate(split):
            words = [_word(p, self.sizes[p.axis]) for p in _joined(row)] + ["?"] * (number in open_dimensions)
            rows.append("{" + ", ".join(words) + "}")
        return f"<@mesh, [{', '.join(rows)}]>"

    def groups(self, parts: Sequence[Part]) -> list[list[int]]:
        """Return the devices that differ in their places along those parts only, each group in the order of them."""
        along = [self.parts.index(p) for p in parts]
        found: dict[tuple[int, ...], dict[tuple[int, ...], int]] = {}
        for device, place in zip(self.devices, itertools.product(*(range(p.size) for p in self.parts)), strict=True):
            rest = tuple(n for k, n in enumerate(place) if k not in along)
            found.setdefault(rest, {})[tuple(place[k] for k in along)] = device
        return [[group[key] for key in sorted(group)] for group in found.values()]


def drawn_mesh(dice: random.Random) -> DrawnMesh:
    """Draw a mesh: half of them in Shardy's words, some of those with parts of axes and devices in another order."""
    sizes = dict(zip(_NAMES, dice.choice(_SIZES), strict=False))
    is_shardy = dice.random() < 0.5
    parts: list[Part] = []
    for axis, size in sizes.items():
        first = 2 if is_shardy and size > 2 and dice.random() < 0.25 else size
        parts += [Part(axis, 1, first), *[Part(axis, first, size // first)] * (first < size)]
    devices = list(range(math.prod(sizes.values())))
    if is_shardy and dice.random() < 0.1:
        dice.shuffle(devices)
    return DrawnMesh(sizes, tuple(parts), tuple(devices), is_shardy)


def drawn_split(dims: Sequence[int], parts: Iterable[Part], dice: random.Random, *, is_even: bool) -> Split:
    """Give each part to a dimension, or to none; several parts of one dimension in any order.

    `is_even`: only where the dimension has pieces of one size.
    """
    rows: list[list[Part]] = [[] for _ in dims]
    order = list(parts)
    dice.shuffle(order)
    for part in order:
        fitting = [d for d, size in enumerate(dims) if size > 1 and (
            not is_even or size % (_size(rows[d]) * part.size) == 0)]
        if fitting and dice.random() < 0.8:
            rows[dice.choice(fitting)].append(part)
    return rows


def _size(parts: Iterable[Part]) -> int:
    return math.prod(p.size for p in parts)


def _joined(row: Iterable[Part]) -> list[Part]:
    """Parts of one axis that follow each other, as one. Source: Shardy, SubAxisInfoAttr, which wants that."""
    found: list[Part] = []
    for part in row:
        last = found[-1] if found else None
        if last is not None and last.axis == part.axis and last.before * last.size == part.before:
            found[-1] = Part(part.axis, last.before, last.size * part.size)
        else:
            found.append(part)
    return found


def _word(part: Part, whole: int) -> str:
    return f'"{part.axis}"' if part.size == whole else f'"{part.axis}":({part.before}){part.size}'
