"""Finds the values of a whole program that the values of all devices of its partitioned form are.

    tiles      each device has its part of the value, in some placement along the mesh's axes
    a total    the value is what the devices' values are together over some axes: their sum, mean, maximum or minimum
    a multiple each device has its part of the value, times one number
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

from hlotool.distributed import Grid, Groups, choices_of_axes, groups_along_axes, parts_of, placements_along_axes
from hlotool.ir import HloInstruction, Placement, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.passes.equality import are_near, share_of

#: placements that are looked at for a value, and values of one type and rank that are
_PLACEMENTS, _CANDIDATES = 64, 512
#: how far the first elements may be from each other, as a share, where values are near
_SLACK = 8.0
#: elements of which no device has the largest all by itself, unless it has what the others should have
_MANY = 8
#: whole numbers that may be factors of single numbers are less, and how near a factor is, as a share of it
_SIMPLE, _NEAR = 1000, 1e-4


@dataclass(frozen=True, eq=False)
class Tiles:
    """A value of the whole program in one placement, or what each device has of it in a region by hand."""

    of: HloInstruction
    whole: Array
    placement: Placement | None
    #: of a part; dimensions of size 1 may be more or fewer than those of the value
    dims: tuple[int, ...]
    own: Sequence[Array] = ()

    @functools.cached_property
    def parts(self) -> Sequence[Array]:
        """The part of each device."""
        if self.placement is None:
            return self.own
        parts = parts_of(self.placement, self.whole)
        return parts if parts[0].shape == self.dims else [p.reshape(self.dims) for p in parts]

    @functools.cached_property
    def reach(self) -> float:
        """How far a first element may be from another one that is near."""
        share = share_of(self.whole)
        if not share:
            return 0.0
        with np.errstate(all="ignore"):
            sizes = np.abs(self.whole).astype(np.float64)
        return _SLACK * share * float(sizes[np.isfinite(sizes)].max(initial=0))

    def are(self, values: Sequence[Array]) -> bool:
        """Return True if these are the parts."""
        for device in (0, len(values) - 1):
            one, other = self.parts[device].ravel()[:1], values[device].ravel()[:1]
            if one.size and abs(complex(one[0]) - complex(other[0])) > self.reach:
                return False
        return all(map(is_same, self.parts, values))


@dataclass(frozen=True, eq=False)
class Total:
    """A relation of the devices' values, over some axes, to a value of the whole program."""

    groups: Groups
    #: "sum", "mean", "maximum" or "minimum"
    kind: str
    tiles: Tiles


@dataclass
class WholeValues:
    """The values of a whole program in all placements of parts."""

    grid: Grid
    #: instructions with their values, of the first rounds of loops
    values: list[tuple[HloInstruction, Array]] = field(default_factory=list)
    #: the same of regions that are partitioned by hand, with the value of each device
    own: list[tuple[HloInstruction, Sequence[Array]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._tiles: dict[tuple[str, tuple[int, ...]], list[Tiles]] = {}
        self.instructions = dict.fromkeys((*(i for i, _ in self.values), *(i for i, _ in self.own)))

    def __contains__(self, instruction: HloInstruction) -> bool:
        return instruction in self.instructions

    def placed(self, value: HloInstruction, part: Array) -> Iterator[Tiles]:
        """Yield the value of an instruction in parts as large as one."""
        return (t for t in self.like(part) if t.of is value)

    def like(self, part: Array) -> list[Tiles]:
        """Return all values in parts as large as one."""
        key = part.dtype.name, part.shape
        if key not in self._tiles:
            narrow = tuple(d for d in part.shape if d != 1)
            found = [(i, a, dims) for i, a in self.values if a.dtype == part.dtype for dims in (
                [part.shape] * (a.ndim == part.ndim) or [narrow] * (a.ndim == len(narrow)))]
            self._tiles[key] = [Tiles(i, a, p, part.shape) for i, a, dims in found[:_CANDIDATES]
                                for p in self._placements(a.shape, dims)]
            self._tiles[key] += [Tiles(i, row[0], None, part.shape, row) for i, row in self.own
                                 if row[0].dtype == part.dtype and row[0].shape == part.shape]
        return self._tiles[key]

    @functools.cached_property
    def _placements(self) -> Callable[[tuple[int, ...], tuple[int, ...]], list[Placement]]:
        @functools.cache
        def found(whole: tuple[int, ...], part: tuple[int, ...]) -> list[Placement]:
            each = placements_along_axes(whole, part, self.grid)
            return [p for p, _ in zip(each, range(_PLACEMENTS), strict=False) if p.size(whole) == part]

        return found

    def held(self, values: Sequence[Array]) -> list[Tiles]:
        """Return what the devices hold the tiles of, each value once."""
        found: dict[HloInstruction, Tiles] = {}
        for tiles in self.like(values[0]):
            if tiles.of not in found and tiles.are(values):
                found[tiles.of] = tiles
        return list(found.values())

    def totals(self, values: Sequence[Array]) -> Iterator[Total]:
        """Yield the values of the whole program that the devices' values are together."""
        kind = dtype_of_numpy(values[0].dtype)
        if not (kind.is_floating or kind.is_complex or kind.is_integral) or not self.like(values[0]) or all(
                is_same(values[0], v) for v in values):
            return
        stack = np.stack(values)[self.grid]
        folds = {"sum": np.add, "mean": np.add, "maximum": np.maximum, "minimum": np.minimum}
        for chosen, groups in zip(choices_of_axes(self.grid), groups_along_axes(self.grid), strict=True):
            for name, fold in folds.items():
                if (kind.is_complex and fold is not np.add) or (name == "mean" and not kind.is_floating):
                    continue
                with np.errstate(all="ignore"):
                    made = fold.reduce(stack, chosen, stack.dtype, keepdims=True)
                    made = np.asarray(made / len(groups[0])).astype(made.dtype) if name == "mean" else made
                row = self._by_device(np.broadcast_to(made, stack.shape))
                yield from (Total(groups, name, tiles) for tiles in self.held(row)
                            if fold is np.add or not _is_copied(values, groups, tiles))

    def _by_device(self, stack: Array) -> list[Array]:
        flat = stack.reshape(self.grid.size, *stack.shape[self.grid.ndim:])
        found: list[Array] = [flat[0]] * self.grid.size
        for device, value in zip(self.grid.ravel(), flat, strict=True):
            found[int(device)] = value
        return found

    def multiples(self, values: Sequence[Array]) -> Iterator[tuple[float, Tiles]]:
        """Yield the numbers by which all devices' values are larger than tiles, and those."""
        if not dtype_of_numpy(values[0].dtype).is_floating or not values[0].size:
            return
        for tiles in self.like(values[0]):
            factor = _factor(tiles.parts[0], values[0])
            is_one = values[0].size == 1 and not _is_simple(factor)
            if factor and not is_one and all(is_same(np.asarray(p * np.asarray(factor, p.dtype)), v) for p, v in zip(
                    tiles.parts, values, strict=True)):
                yield factor, tiles


def _is_copied(values: Sequence[Array], groups: Groups, tiles: Tiles) -> bool:
    """Return True if in each group a device has all of its tile, and others other elements: no part of an extreme has
    all of many."""
    if tiles.parts[0].size < _MANY:
        return False
    rest = [[values[d] for d in g if not is_same(tiles.parts[d], values[d])] for g in groups]
    return all(len(r) < len(g) and all((v != v.ravel()[0]).any() for v in r) for r, g in zip(rest, groups, strict=True))


def _factor(one: Array, other: Array) -> float:
    """Return the number by which an array is larger; 0 where it is none, or 1."""
    at = int(np.argmax(np.abs(one)))
    first, second = float(one.ravel()[at]), float(other.ravel()[at])
    with np.errstate(all="ignore"):
        found = second / first if first and np.isfinite([first, second]).all() else 0.0
    return 0.0 if not np.isfinite(found) or abs(found - 1) < 1e-3 else found


def _is_simple(factor: float) -> bool:
    """Return True for a whole number, and one by such: any number is some multiple of another one."""
    larger = max(abs(factor), abs(1 / factor)) if factor else np.inf
    return larger < _SIMPLE and abs(larger - round(larger)) < _NEAR * larger


def is_same(one: Array, other: Array) -> bool:
    """Return True if two arrays may be two ways to compute one value."""
    return bool(one.shape == other.shape and (one.tobytes() == other.tobytes() or are_near(one, other)))
