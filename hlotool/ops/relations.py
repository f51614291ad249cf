"""Relations of the values on all devices to whole values: each is a view of a term, at a place of each device's own.

    whole                                on device d of 8
    x = f32[16,4] parameter(0)           p = f32[2,4] parameter(0)           p[i,j] is x[2d + i, j]
    y = f32[16,4] tanh(x)                q = f32[2,4] tanh(p)                q[i,j] is tanh(x)[2d + i, j]
    z = f32[4] reduce(y, 0), {0}         r = f32[4] reduce(q, 0), {0}        r[j] is the sum of y[2d:2d + 2, j]
                                         s = f32[4] all-reduce(r)            s[j] is the sum of y[0:16, j]

A term is a function of coordinates, whole numbers, and has a value only where what it is made of has one: a parameter
within its dimensions. A view reads it at an affine place: `rows` times the index, and an offset that each device has
for itself. Terms are made once, so that equal ones are one object, whichever program they are of. What holds of a view
holds where its term has a value; elsewhere is padding, of which nothing is known.

Coordinates are those that the operands read, in order; two that differ by the same number on all devices are one.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.ir import DTYPES
from hlotool.ir.arrays import Array, np

#: coefficients of an index's dimensions, for each coordinate of a term
Rows: TypeAlias = tuple[tuple[int, ...], ...]
#: an operation that folds, and the type of its numbers
Kind: TypeAlias = "tuple[Hashable, str]"
#: intervals of whole numbers, in order and without touching each other
Intervals: TypeAlias = tuple[tuple[int, int], ...]
#: bounds within which a coordinate has a value; None: none is known
Bounds: TypeAlias = "tuple[int | None, int | None]"
#: regions of one value at most
_MOST_PIECES = 64
#: classes of devices that are told apart at most
_MOST_CLASSES = 8
#: greatest exponents of numbers with which others are multiplied in any order, by type
_NEAR = {"float64": 20, "float32": 20, "bfloat16": 20, "float16": 4}
#: positions of a fold that are listed at most
_MOST_POSITIONS = 1 << 16


class NotCarried(Exception):
    """A rule cannot tell the relation of a result; the message says why."""


@dataclass(frozen=True, eq=False)
class DeviceTable:
    """Whole numbers of all devices, a row for each; one row where all have the same. Equal tables are one object."""

    number: int
    array: Array

    @property
    def is_same(self) -> bool:
        """True if all devices have the same numbers."""
        return len(self.array) == 1


@dataclass(frozen=True, eq=False)
class Term:
    """A function of coordinates. Equal terms are one object."""

    number: int
    key: tuple[Any, ...]
    element_type: str
    domain: tuple[Bounds, ...]
    #: of a constant: the number
    value: Array | None = None
    #: of an array that a module writes out: its elements
    array: Array | None = None
    #: terms that it is made of
    operands: tuple[Term, ...] = ()

    @property
    def kind(self) -> str:
        """The kind of term: parameter, constant, count, literal, pad, fold, joined, loop, or a function (`of`)."""
        return str(self.key[0])


@dataclass(frozen=True)
class TermView:
    """An array on each device: element i is the term's value at `rows` times i plus the device's offsets."""

    term: Term
    rows: Rows
    offsets: DeviceTable
    dims: tuple[int, ...]

    @property
    def element_type(self) -> str:
        return self.term.element_type

    @property
    def number(self) -> Array | None:
        """Return the number of each device that the view is everywhere; None: it is no such number."""
        return self.offsets.array[:, 0] if self.term.kind == "count" and not any(self.rows[0]) else None


@dataclass(frozen=True)
class TermPiece:
    """A region of each device's array, which may be empty, and the view of it; `sizes_of` tells its columns."""

    low: DeviceTable
    high: DeviceTable
    view: TermView


@dataclass(frozen=True)
class Pieces:
    """An array of regions that are views of several terms."""

    pieces: tuple[TermPiece, ...]
    dims: tuple[int, ...]

    @property
    def element_type(self) -> str:
        return self.pieces[0].view.element_type


#: a function of views of equal size
OfViews: TypeAlias = "Callable[[Sequence[TermView]], TermView | Pieces]"
#: an array, or a tuple of values
Value: TypeAlias = "TermView | Pieces | tuple[Value, ...]"


@dataclass(frozen=True)
class Read:
    """One operand of a combination: its view of the parallel dimensions, and coefficients of its own ones."""

    view: TermView
    inner: Rows = ()

    @property
    def inner_rows(self) -> Rows:
        return self.inner or ((),) * len(self.view.rows)


@dataclass
class Relations:
    """The terms of two programs, and what makes views of views."""

    devices: int
    #: True if a sum or a product of floats was put together in another order
    is_reordered: bool = False
    #: numbers of which one program multiplies what it adds up, and the other one the sum, or in another order
    factors: set[float] = field(default_factory=set)
    #: number of terms that the whole program has; None: it is not known yet
    known_terms: int | None = None
    _tables: dict[tuple[int, bytes], DeviceTable] = field(default_factory=dict)
    _terms: dict[tuple[Hashable, ...], Term] = field(default_factory=dict)
    _coordinates: dict[Hashable, Any] = field(default_factory=dict)

    def begin_part(self) -> None:
        """Take the terms so far for those of the whole program."""
        self.known_terms = len(self._terms)

    # tables and terms

    def table(self, array: Array) -> DeviceTable:
        """Return the table of numbers, a row for each device or one for all."""
        array = np.asarray(array, np.int64)
        if len(array) > 1 and (array == array[:1]).all():
            array = array[:1]
        key = (array.shape[1], array.tobytes())
        if key not in self._tables:
            self._tables[key] = DeviceTable(len(self._tables), array)
        return self._tables[key]

    def same(self, numbers: Sequence[int]) -> DeviceTable:
        """Return the table of numbers that all devices have."""
        return self.table(np.asarray([list(numbers)], np.int64).reshape(1, len(numbers)))

    def term(self, key: tuple[Hashable, ...], element_type: str, domain: Sequence[Bounds] = (),
             **facts: Any) -> Term:
        """Return the term of a key."""
        full = (*key, element_type)
        if full not in self._terms:
            self._terms[full] = Term(len(self._terms), full, element_type, tuple(domain), **facts)
        return self._terms[full]

    def parameter(self, number: int, element_type: str, dims: Sequence[int]) -> TermView:
        """Return the view of a whole array that is given."""
        term = self.term(("parameter", number, tuple(dims)), element_type, [(0, n) for n in dims])
        return self.view(term, _unit(len(dims)), self.same((0,) * len(dims)), dims)

    def unknown(self, key: Hashable, element_type: str, dims: Sequence[int]) -> TermView:
        """Return the view of an array of which only its name is known."""
        term = self.term(("unknown", key, tuple(dims)), element_type, [(0, n) for n in dims])
        return self.view(term, _unit(len(dims)), self.same((0,) * len(dims)), dims)

    def count(self, element_type: str, rows: Sequence[int], offsets: DeviceTable, dims: Sequence[int]) -> TermView:
        """Return the view whose elements are whole numbers: an offset of each device's and multiples of indices."""
        return self.view(self.term(("count",), element_type, [(None, None)]), (tuple(rows),), offsets, dims)

    def constant(self, element_type: str, value: Any, dims: Sequence[int] = ()) -> TermView:
        """Return the view of one number everywhere."""
        number = np.asarray(value)
        if DTYPES[element_type].is_integral and -2 ** 63 <= int(number) < 2 ** 63:
            return self.count(element_type, (0,) * len(dims), self.same((int(number),)), dims)
        term = self.term(("constant", number.tobytes()), element_type, value=number)
        return self.view(term, (), self.same(()), dims)

    def literal(self, element_type: str, array: Array) -> TermView:
        """Return the view of an array that a module writes out."""
        if array.size and (array.ndim == 0 or (array.reshape(-1)[:1].tobytes() * array.size == array.tobytes())):
            return self.constant(element_type, array.reshape(-1)[0], array.shape)
        term = self.term(("literal", array.shape, array.tobytes()), element_type, [(0, n) for n in array.shape],
                         array=array)
        return self.view(term, _unit(array.ndim), self.same((0,) * array.ndim), array.shape)

    def view(self, term: Term, rows: Rows, offsets: DeviceTable, dims: Sequence[int]) -> TermView:
        """Return a view in its plain form: dimensions of one element have no part in the place that is read.

        Numbers that are looked up in an array of a module are those numbers, and of what was padded is left out what
        is not read.
        """
        dims = tuple(dims)
        if 1 in dims:
            rows = tuple(tuple(0 if n == 1 else c for c, n in zip(row, dims, strict=True)) for row in rows)
        made = TermView(term, rows, offsets, dims)
        if term.array is not None and DTYPES[term.element_type].is_integral and not any(map(any, rows)):
            places = offsets.array
            if (places >= 0).all() and (places < term.array.shape).all():
                numbers = term.array[tuple(places.T)].astype(np.int64)
                return self.count(term.element_type, (0,) * len(dims), self.table(numbers[:, None]), dims)
        return self._unpadded(made) if term.kind == "pad" else made

    def _unpadded(self, view: TermView) -> TermView:
        inner, windows = view.term.operands[0], view.term.key[2]
        low, high = self.reached(view)
        is_inside = is_outside = True
        for t, (start, stop) in enumerate(windows):
            is_inside &= (start is None or bool((low[:, t] >= start).all())) and (
                stop is None or bool((high[:, t] < stop).all()))
        is_outside = any((start is not None and bool((high[:, t] < start).all()))
                         or (stop is not None and bool((low[:, t] >= stop).all()))
                         for t, (start, stop) in enumerate(windows))
        if is_inside:
            return self.view(inner, view.rows, view.offsets, view.dims)
        return self.constant(view.element_type, view.term.value, view.dims) if is_outside else view

    def reached(self, view: TermView) -> tuple[Array, Array]:
        """Return the least and the greatest place that each device reads, coordinate by coordinate."""
        low, high = view.offsets.array.copy(), view.offsets.array.copy()
        for t, row in enumerate(view.rows):
            for coefficient, n in zip(row, view.dims, strict=True):
                (low if coefficient < 0 else high)[:, t] += coefficient * max(n - 1, 0)
        return low, high

    def number_of(self, view: TermView) -> Array | None:
        """Return the number that a view is everywhere; None: it is none, or not known."""
        if view.term.value is not None and view.term.kind == "constant":
            return view.term.value
        if view.term.kind == "count" and view.offsets.is_same and not any(view.rows[0]):
            return np.asarray(view.offsets.array[0, 0]).astype(DTYPES[view.element_type].numpy)
        return None

    # views of views

    def moved(self, value: TermView | Pieces, matrix: Sequence[Sequence[int]], offsets: Array, dims: Sequence[int]
              ) -> TermView | Pieces:
        """Return the array whose element i is that of another one at `matrix` times i plus offsets."""
        if isinstance(value, Pieces):
            return self.pieces([self._moved_piece(p, matrix, offsets, dims) for p in value.pieces], dims)
        coefficients = np.asarray(value.rows, np.int64).reshape(len(value.rows), len(value.dims))
        by = np.asarray(matrix, np.int64).reshape(len(value.dims), len(dims))
        rows = tuple(tuple(int(c) for c in row) for row in coefficients @ by)
        shifts = np.asarray(offsets, np.int64).reshape(len(offsets), len(value.dims)) @ coefficients.T
        return self.view(value.term, rows, self.table(value.offsets.array + shifts), dims)

    def _moved_piece(self, piece: TermPiece, matrix: Sequence[Sequence[int]], offsets: Array, dims: Sequence[int]
                     ) -> TermPiece:
        shifts = np.asarray(offsets, np.int64).reshape(len(offsets), len(piece.view.dims))
        count = max(len(shifts), len(piece.low.array), len(piece.high.array))
        low = np.zeros((count, len(sizes_of(dims))), np.int64)
        high = np.broadcast_to(np.asarray(sizes_of(dims), np.int64), low.shape).copy()
        for k, row in enumerate(matrix or ((),)):
            used = [d for d, c in enumerate(row) if c]
            shift = shifts[:, k] if matrix else 0
            start, stop = (t.array[:, k] - shift for t in (piece.low, piece.high))
            if len(used) > 1:
                raise NotCarried("a region would no longer be a range of indices")
            if not used:
                high[:, 0] = np.where((start <= 0) & (stop > 0), high[:, 0], 0)
                continue
            (d,), c = used, row[used[0]]
            first, last = (-(-start // c), -(-stop // c)) if c > 0 else (stop // c + 1, start // c + 1)
            low[:, d], high[:, d] = np.maximum(low[:, d], first), np.minimum(high[:, d], last)
        view = self.moved(piece.view, matrix, offsets, dims)
        assert isinstance(view, TermView)
        return TermPiece(self.table(low), self.table(high), view)

    def whole_piece(self, view: TermView) -> TermPiece:
        """Return a view as the one region that it is."""
        sizes = sizes_of(view.dims)
        return TermPiece(self.same((0,) * len(sizes)), self.same(sizes), view)

    def pieces_of(self, value: TermView | Pieces) -> tuple[TermPiece, ...]:
        """Return the regions of an array."""
        return value.pieces if isinstance(value, Pieces) else (self.whole_piece(value),)

    def live(self, piece: TermPiece) -> Array:
        """Return for each device, or for all at once, whether a region has elements."""
        return np.asarray((piece.low.array < piece.high.array).all(axis=1))

    def pieces(self, parts: Iterable[TermPiece], dims: Sequence[int]) -> TermView | Pieces:
        """Return the array of some regions, in as few as possible."""
        left = [p for p in parts if self.live(p).any()]
        is_merged = True
        while is_merged and len(left) > 1:
            is_merged = False
            for a, b in itertools.combinations(left, 2):
                if (made := self._merged(a, b)) is not None:
                    left = [made, *(p for p in left if p is not a and p is not b)]
                    is_merged = True
                    break
        if len(left) > _MOST_PIECES:
            raise NotCarried(f"an array of {len(left)} regions")
        if not left:
            raise NotCarried("an array without elements")
        if len(left) == 1 and self._is_full(left[0], dims):
            return left[0].view
        return self._padded(left, dims) or Pieces(tuple(left), tuple(dims))

    def _is_full(self, piece: TermPiece, dims: Sequence[int]) -> bool:
        return bool((piece.low.array <= 0).all() and (piece.high.array >= np.asarray(sizes_of(dims))).all())

    def _merged(self, a: TermPiece, b: TermPiece) -> TermPiece | None:
        if a.view.term is not b.view.term:
            return None
        if a.view.rows != b.view.rows:
            turned = self._with_rows(a, b.view.rows)
            a, b = (turned, b) if turned is not None else (a, self._with_rows(b, a.view.rows) or b)
            if a.view.rows != b.view.rows:
                return None
        lows, highs = (np.broadcast_arrays(getattr(a, n).array, getattr(b, n).array) for n in ("low", "high"))
        has_a, has_b = np.broadcast_arrays(self.live(a), self.live(b))
        count = max(len(lows[0]), len(highs[0]), len(has_a), len(a.view.offsets.array), len(b.view.offsets.array))
        has_a, has_b = (np.broadcast_to(h, count) for h in (has_a, has_b))
        own, other = (np.broadcast_to(v.view.offsets.array, (count, v.view.offsets.array.shape[1])) for v in (a, b))
        both = has_a & has_b
        if not (own == other)[both].all():
            rows = self._stepped(a, b, (other - own)[both])
            one, next_one = (self._with_rows(p, rows) if rows is not None else None for p in (a, b))
            return self._merged(one, next_one) if one is not None and next_one is not None else None
        (low_a, low_b), (high_a, high_b) = ([np.broadcast_to(x, (count, x.shape[1])) for x in s] for s in (lows, highs))
        if both.any():
            differs = (low_a != low_b) | (high_a != high_b)
            touches = (high_a == low_b) | (high_b == low_a)
            if not ((differs.sum(axis=1) == 1) & (touches | ~differs).all(axis=1))[both].all():
                return None
        pick = [np.where(both[:, None], f(x, y), np.where(has_a[:, None], x, y))
                for f, x, y in ((np.minimum, low_a, low_b), (np.maximum, high_a, high_b))]
        offsets = self.table(np.where(has_a[:, None] | ~has_b[:, None], own, other))
        view = TermView(a.view.term, a.view.rows, offsets, a.view.dims)
        return TermPiece(self.table(pick[0]), self.table(pick[1]), view)

    def _stepped(self, a: TermPiece, b: TermPiece, steps: Array) -> Rows | None:
        """Return the coefficients by which a region of one index goes on to the next one's; None: none do."""
        sizes = [p.high.array - p.low.array for p in (a, b)]
        along = [k for k in range(len(a.view.dims)) if (b.low.array[:, k] == a.low.array[:, k] + 1).all()
                 and all((s[:, k] <= 1).all() for s in sizes) and not any(row[k] for row in a.view.rows)]
        if len(along) != 1 or not len(steps) or (steps != steps[0]).any():
            return None
        return tuple((*row[:along[0]], int(c), *row[along[0] + 1:])
                     for row, c in zip(a.view.rows, steps[0], strict=True))

    def _with_rows(self, piece: TermPiece, rows: Rows) -> TermPiece | None:
        """Return a region with other coefficients for dimensions in which it has one index; None: it has more."""
        change = np.asarray(piece.view.rows, np.int64) - np.asarray(rows, np.int64)
        live = self.live(piece)
        if not ((piece.high.array - piece.low.array == 1) | ~change.any(axis=0))[live].all():
            return None
        offsets = self.table(piece.view.offsets.array + piece.low.array @ change.T)
        return TermPiece(piece.low, piece.high, TermView(piece.view.term, rows, offsets, piece.view.dims))

    def _padded(self, parts: Sequence[TermPiece], dims: Sequence[int]) -> TermView | None:
        """Return the view of a padded term that some regions are: one of a term, and one number everywhere else."""
        inner = [p for p in parts if self.number_of(p.view) is None]
        numbers = {n.tobytes(): n for p in parts if (n := self.number_of(p.view)) is not None}
        if len(inner) != 1 or len(numbers) != 1:
            return None
        (piece,), (fill,) = inner, numbers.values()
        return self.padded(piece.view, piece.low.array, piece.high.array, fill)

    def padded(self, view: TermView, low: Array, high: Array, fill: Array) -> TermView | None:
        """Return the view that is another one within a region, and a number outside; None: no padded term says it."""
        windows: list[Bounds] = [(None, None)] * len(view.rows)
        offsets = view.offsets.array
        live = np.asarray((low < high).all(axis=1))
        for k, n in enumerate(view.dims):
            start, stop = np.maximum(low[:, k], 0), np.minimum(high[:, k], n)
            begins, ends = live & (start > 0), live & (stop < n)
            if not begins.any() and not ends.any() and not (~live & (start >= stop)).any():
                continue
            used = [t for t, row in enumerate(view.rows) if row[k]]
            if len(used) != 1 or sum(map(bool, view.rows[used[0]])) != 1 or view.rows[used[0]][k] != 1:
                return None
            t = used[0]
            first, last = (np.broadcast_to(offsets[:, t] + edge, np.broadcast_shapes(live.shape, edge.shape,
                                                                                     offsets[:, t].shape))
                           for edge in (start, stop))
            begins, ends = (np.broadcast_to(e, first.shape) for e in (begins, ends))
            begin = int(first[begins].min()) if begins.any() else None
            end = int(last[ends].max()) if ends.any() else None
            windows[t] = self._widened(view, t, (begin, end), live)
        if not self._is_region(view, windows, low, high):
            return None
        return self._pad(view, tuple(windows), fill)

    def _widened(self, view: TermView, t: int, window: Bounds, live: Array) -> Bounds:
        """Return a window with the bounds of its term in place of missing ones, where nothing beyond them is read."""
        least, most = view.term.domain[t]
        low, high = (np.broadcast_arrays(r[:, t], live)[0][np.broadcast_arrays(r[:, t], live)[1]]
                     for r in self.reached(view))
        is_above = least is not None and bool((low >= least).all())
        is_below = most is not None and bool((high < most).all())
        return (least if window[0] is None and is_above else window[0],
                most if window[1] is None and is_below else window[1])

    def _is_region(self, view: TermView, windows: Sequence[Bounds], low: Array, high: Array) -> bool:
        """Return True if the indices of a region are those whose places are within windows, on each device."""
        count = max(len(low), len(high), len(view.offsets.array))
        sizes = np.asarray(sizes_of(view.dims), np.int64)
        own_low = np.zeros((count, len(sizes)), np.int64)
        own_high = np.broadcast_to(sizes, own_low.shape).copy()
        nowhere = np.zeros(count, bool)
        for t, (begin, end) in enumerate(windows):
            used = [k for k, c in enumerate(view.rows[t]) if c]
            place = np.broadcast_to(view.offsets.array[:, t], count)
            if not used:
                nowhere |= (begin is not None and place < begin) | (end is not None and place >= end)
                continue
            (k,) = used if len(used) == 1 else (0,)
            if begin is not None:
                own_low[:, k] = np.maximum(own_low[:, k], begin - place)
            if end is not None:
                own_high[:, k] = np.minimum(own_high[:, k], end - place)
        own_live = (own_low < own_high).all(axis=1) & ~nowhere
        low = np.broadcast_to(np.maximum(low, 0), own_low.shape)
        high = np.broadcast_to(np.minimum(high, sizes), own_low.shape)
        live = np.asarray((low < high).all(axis=1))
        return bool((own_live == live).all() and (own_low == low)[live].all() and (own_high == high)[live].all())

    def _pad(self, view: TermView, windows: tuple[Bounds, ...], fill: Array) -> TermView:
        term = view.term
        if term.kind == "pad" and term.value is not None and term.value.tobytes() == fill.tobytes():
            windows = tuple((_most(a[0], b[0], max), _most(a[1], b[1], min))
                            for a, b in zip(term.key[2], windows, strict=True))
            term = term.operands[0]
        domain = [(None, None) if w != (None, None) else d for w, d in zip(windows, term.domain, strict=True)]
        made = self.term(("pad", term.number, windows, fill.tobytes()), view.element_type, domain, value=fill,
                         operands=(term,))
        return self.view(made, view.rows, view.offsets, view.dims)

    # functions of several views

    def each(self, function: OfViews, values: Sequence[TermView | Pieces], dims: Sequence[int]) -> TermView | Pieces:
        """Return the array of a function of elements at the same index, region by region."""
        if 0 in dims and all(isinstance(v, TermView) for v in values):
            return function([v for v in values if isinstance(v, TermView)])
        found = []
        for parts in itertools.product(*map(self.pieces_of, values)):
            low = _joined([p.low.array for p in parts], np.maximum)
            high = _joined([p.high.array for p in parts], np.minimum)
            live = np.asarray((low < high).all(axis=1))
            if not live.any():
                continue
            made = self._within(function, parts, live)
            if isinstance(made, Pieces):
                if len(values) == sum(isinstance(v, TermView) for v in values):
                    return made
                raise NotCarried("an operand is put together of parts of several values")
            found += self._of_classes(function, parts, made, low, high, live)
            if len(found) > _MOST_PIECES:
                raise NotCarried(f"an array of more than {_MOST_PIECES} regions")
        return self.pieces(found, dims)

    def _within(self, function: OfViews, parts: Sequence[TermPiece], live: Array) -> TermView | Pieces:
        """Return a function of the views of regions, which devices without an element of them do not disturb."""
        own = function([p.view for p in parts])
        if live.all() or isinstance(own, Pieces):
            return own
        made = function([self.where(p.view, live) for p in parts])
        return own if isinstance(made, Pieces) or (own.term is made.term and own.rows == made.rows) else made

    def _of_classes(self, function: OfViews, parts: Sequence[TermPiece], made: TermView, low: Array, high: Array,
                    live: Array) -> list[TermPiece]:
        """Return a function of views as a region; as one for each class of devices where the whole program has those.

        Devices are of one class if the places that operands read differ by the same numbers.
        """
        alone = [TermPiece(self.table(low), self.table(high), made)]
        if self.known_terms is None or made.term.number < self.known_terms:
            return alone
        views = [p.view for p in parts]
        one = (np.broadcast_to(high - low, (len(live), low.shape[1]))[live] == 1).all(axis=0)
        single = [k for k in range(len(views[0].dims)) if one[k]] if views else []
        found = []
        for mask in self._classes(views, live, low, single):
            view = next((v for v in self._forms(function, views, mask, low, single) if v is not None), None)
            if view is None:
                return alone
            found.append(TermPiece(self.table(np.where(mask[:, None], low, 0)),
                                   self.table(np.where(mask[:, None], high, 0)), view))
        return found or alone

    def _classes(self, views: Sequence[TermView], live: Array, low: Array, single: Sequence[int]) -> list[Array]:
        """Return the classes of devices, as masks; none if there are more than a few."""
        alive, places = np.broadcast_to(live, self.devices), list[tuple[tuple[int, ...], Array]]()
        for view in views:
            for t, row in enumerate(view.rows):
                column = np.broadcast_to(self._at(view, low, single)[:, t], self.devices)
                places.append((tuple(c for k, c in enumerate(row) if k not in single), column))
        for is_wanted in (any, lambda row: True):
            first: dict[tuple[int, ...], Array] = {}
            columns = [column - first.setdefault(row, column) for row, column in places if is_wanted(row)]
            if columns:
                _, numbers = np.unique(np.stack(columns, 1), axis=0, return_inverse=True)
                numbers = np.reshape(numbers, -1)
                kinds = np.unique(numbers[alive])
                if 1 < len(kinds) <= _MOST_CLASSES:
                    return [alive & (numbers == k) for k in kinds]
        return [alive]

    def _at(self, view: TermView, low: Array, single: Sequence[int]) -> Array:
        """Return the places that are read where dimensions of one index have that index, and the others 0."""
        rows = np.asarray(view.rows, np.int64).reshape(len(view.rows), len(view.dims))[:, list(single)]
        return np.asarray(view.offsets.array + low[:, list(single)] @ rows.T)

    def _forms(self, function: OfViews, views: Sequence[TermView], mask: Array, low: Array, single: Sequence[int]
               ) -> Iterator[TermView | None]:
        """Yield what the whole program has of a function of views: with coefficients of dimensions of one index as
        they are, as those of another view, and with none."""
        def known(given: Sequence[TermView]) -> TermView | None:
            made = function([self.where(v, mask) for v in given])
            return made if isinstance(made, TermView) and made.term.number < (self.known_terms or 0) else None

        yield known(views)
        if not single:
            return
        rows = {tuple(c for k, c in enumerate(row) if k not in single): row for v in views for row in v.rows
                if any(row[k] for k in single)}
        for is_alike in (True, False):
            changed = []
            for view in views:
                bare = [tuple(c for k, c in enumerate(row) if k not in single) for row in view.rows]
                zeros = [tuple(0 if k in single else c for k, c in enumerate(row)) for row in view.rows]
                own = [rows.get(b, z) if is_alike else z for b, z in zip(bare, zeros, strict=True)]
                plain = TermView(view.term, tuple(own), self.same((0,) * len(own)), view.dims)
                offsets = self._at(view, low, single) - self._at(plain, low, single)
                changed.append(TermView(view.term, tuple(own), self.table(offsets), view.dims))
            yield known(changed)

    def where(self, view: TermView, live: Array) -> TermView:
        """Return a view whose offsets on devices that do not read it are those of one that does."""
        if view.offsets.is_same or len(live) == 1:
            return view
        offsets = np.where(live[:, None], view.offsets.array, view.offsets.array[np.argmax(live)])
        return TermView(view.term, view.rows, self.table(offsets), view.dims)

    def combined(self, label: Hashable, element_type: str, operands: Sequence[Read], dims: Sequence[int],
                 own: Sequence[int] = (), **facts: Any) -> TermView:
        """Return the view of a function of what operands read at the same index of `dims`; `own` dimensions follow.

        Raises NotCarried where a place that an operand reads for itself depends on the device.
        """
        geometry = tuple((o.view.rows, o.inner_rows, o.view.offsets.number) for o in operands)
        if (geometry, tuple(dims)) not in self._coordinates:
            self._coordinates[geometry, tuple(dims)] = self._places(operands, len(dims))
        rows, offsets, specs = self._coordinates[geometry, tuple(dims)]
        domain: list[Bounds] = [(None, None)] * len(rows)
        for operand, spec in zip(operands, specs, strict=True):
            for (q, factor, constant, inner), bounds in zip(spec, operand.view.term.domain, strict=True):
                if factor == 1 and not any(inner):
                    domain[q] = (_most(domain[q][0], _less(bounds[0], constant), max),
                                 _most(domain[q][1], _less(bounds[1], constant), min))
        key = ("of", label, tuple((o.view.term.number, spec) for o, spec in zip(operands, specs, strict=True)),
               tuple(own))
        term = self.term(key, element_type, [*domain, *((0, n) for n in own)],
                         operands=tuple(o.view.term for o in operands), **facts)
        all_rows = (*((*row, *(0,) * len(own)) for row in rows),
                    *((*(0,) * len(dims), *unit) for unit in _unit(len(own))))
        table = offsets if not own else self.table(np.pad(offsets.array, ((0, 0), (0, len(own)))))
        return self.view(term, all_rows, table, (*dims, *own))

    def reads_of(self, view: TermView) -> list[Read]:
        """Return what a function reads, of the view of one whose result has no dimensions of its own."""
        found = []
        for term, (_, spec) in zip(view.term.operands, view.term.key[2], strict=True):
            rows = tuple(tuple(factor * c for c in view.rows[q]) if q >= 0 else (0,) * len(view.dims)
                         for q, factor, _, _ in spec)
            offsets = [factor * view.offsets.array[:, q] + constant if q >= 0
                       else np.full(len(view.offsets.array), constant, np.int64) for q, factor, constant, _ in spec]
            table = np.stack(offsets, 1) if offsets else np.zeros((1, 0), np.int64)
            moved = TermView(term, rows, self.table(table), view.dims)
            found.append(Read(moved, tuple(inner for _, _, _, inner in spec)))
        return found

    def _places(self, operands: Sequence[Read], rank: int) -> tuple[Rows, DeviceTable, tuple[tuple[Any, ...], ...]]:
        """Return coordinates for what operands read, and each operand's coordinates in terms of them."""
        rows: list[tuple[int, ...]] = []
        columns: list[Array] = []
        specs = []
        for operand in operands:
            spec = []
            for t, (row, inner) in enumerate(zip(operand.view.rows, operand.inner_rows, strict=True)):
                column = operand.view.offsets.array[:, t]
                found = self._place(row, column, rows, columns)
                if found is None:
                    rows.append(row)
                    columns.append(column)
                    found = (len(rows) - 1, 1, 0)
                spec.append((*found, inner))
            specs.append(tuple(spec))
        count = max([1, *map(len, columns)])
        table = np.stack([np.broadcast_to(c, count) for c in columns], 1) if columns else np.zeros((1, 0), np.int64)
        return tuple(rows), self.table(table), tuple(specs)

    def _place(self, row: tuple[int, ...], column: Array, rows: Sequence[tuple[int, ...]], columns: Sequence[Array]
               ) -> tuple[int, int, int] | None:
        """Return a coordinate of which a place is a multiple, the factor, and what is added."""
        if not any(row) and (column == column[0]).all():
            return (-1, 0, int(column[0]))
        for q, (other, base) in enumerate(zip(rows, columns, strict=True)):
            for factor in _factors(row, other):
                shift = column - factor * base
                if (shift == shift[0]).all():
                    return (q, factor, int(shift[0]))
        return None

    # folds

    def folded(self, kind: Kind, view: TermView, over: Sequence[int], is_idempotent: bool) -> TermView:
        """Return the fold of a view over some of its dimensions by an operation, the order of which is open."""
        if (apart := self.factor_of(kind, view)) is not None:
            return self.times(kind, apart[0], self.folded(kind, apart[1], over, is_idempotent))
        kept = [k for k in range(len(view.dims)) if k not in over]
        made = TermView(view.term, tuple(tuple(row[k] for k in kept) for row in view.rows), view.offsets,
                        tuple(view.dims[k] for k in kept))
        for k in over:
            direction = tuple(row[k] for row in view.rows)
            made = self.summed(kind, made, direction, ((0, view.dims[k]),), is_idempotent)
        return self.trimmed(made)

    def factor_of(self, kind: Kind, view: TermView) -> tuple[TermView, TermView] | None:
        """Return a number and a value of whose products a sum is that number's product with a sum, whose order is open
        as well; None: they are no such products."""
        term = view.term
        if kind[0] != "add" or term.kind != "of" or term.key[1] != _product(kind) or DTYPES[kind[1]].is_integral:
            return None
        one, other = (r.view for r in self.reads_of(view))
        for number, value in ((one, other), (other, one)):
            known = self.number_of(number)
            if known is not None and is_near(known):
                return number, value
        return None

    def times(self, kind: Kind, number: TermView, value: TermView) -> TermView:
        """Return the product of a number and a value, in another order than it was computed."""
        self.is_reordered = True
        if (known := self.number_of(number)) is not None:
            self.factors.add(float(known))
        both = sorted((value, TermView(number.term, (), self.same(()), value.dims)), key=lambda v: v.term.number)
        return self.combined(_product(kind), kind[1], list(map(Read, both)), value.dims)

    def summed(self, kind: Kind, view: TermView, direction: tuple[int, ...], positions: Intervals,
               is_idempotent: bool, *, is_across: bool = False) -> TermView:
        """Return the fold of a view's term at positions along a direction, in units of it, from each place on."""
        count = sum(b - a for a, b in positions)
        if count == 0:
            raise NotCarried("a fold of nothing")
        if view.term.kind == "constant":  # it has no coordinates; what was padded may have become one
            direction = ()
        if not any(direction) or count == 1:
            shift = np.asarray(direction, np.int64) * positions[0][0]
            if count == 1:
                return self.view(view.term, view.rows, self.table(view.offsets.array + shift), view.dims)
            return view if is_idempotent else self._fold(kind, view, {}, count, is_across)
        scale = math.gcd(*direction) * (1 if next(c for c in direction if c) > 0 else -1)
        if abs(scale) != 1 and count > _MOST_POSITIONS:
            raise NotCarried("a fold of too many elements")
        scaled = positions if scale == 1 else tuple((1 - b, 1 - a) for a, b in reversed(positions)) if scale == -1 \
            else _intervals([p * scale for a, b in positions for p in range(a, b)], False)
        least = scaled[0][0]
        unit = tuple(c // scale for c in direction)
        moved = TermView(view.term, view.rows, self.table(view.offsets.array + np.asarray(unit, np.int64) * least),
                         view.dims)
        return self._fold(kind, moved, {unit: tuple((a - least, b - least) for a, b in scaled)}, 1, is_across,
                          is_idempotent)

    def _fold(self, kind: Kind, view: TermView, pattern: dict[tuple[int, ...], Intervals], times: int,
              is_across: bool, is_idempotent: bool = False) -> TermView:
        term, patterns = view.term, dict(pattern)
        if term.kind == "fold" and term.key[1] == kind:
            inner = dict(term.key[3])
            for direction, positions in pattern.items():
                inner[direction] = _spread(inner[direction], positions, is_idempotent) if direction in inner \
                    else positions
            patterns, times = inner, times * term.key[4]
            term = term.operands[0]
            is_across = True
        if is_across and kind[0] in ("add", "multiply") and not DTYPES[kind[1]].is_integral:
            self.is_reordered = True
        domain: list[Bounds] = [
            (None, None) if any(d[t] for d in patterns) else bounds for t, bounds in enumerate(term.domain)]
        made = self.term(("fold", kind, term.number, tuple(sorted(patterns.items())), times), view.element_type, domain,
                         operands=(term,))
        return TermView(made, view.rows, view.offsets, view.dims)

    def trimmed(self, view: TermView) -> TermView:
        """Return a fold without the neutral elements that its term was padded with, where its place is known."""
        term = view.term
        if term.kind != "fold" or term.operands[0].kind != "pad":
            return view
        pad, kind, patterns = term.operands[0], term.key[1], dict(term.key[3])
        if pad.value is None or not is_neutral(kind, pad.value):
            return view
        windows = list(pad.key[2])
        offsets = view.offsets.array.copy()
        for t, (begin, end) in enumerate(windows):
            unit = tuple(int(q == t) for q in range(len(windows)))
            touched = [d for d in patterns if d[t]]
            if (begin, end) == (None, None) or touched != [unit] or any(view.rows[t]) or not (
                    offsets[:, t] == offsets[0, t]).all():
                continue
            start = int(offsets[0, t])
            within = [(max(a + start, begin) if begin is not None else a + start,
                       min(b + start, end) if end is not None else b + start) for a, b in patterns[unit]]
            within = [(a, b) for a, b in within if a < b]
            if not within:
                continue
            offsets[:, t] = within[0][0]
            patterns[unit] = tuple((a - within[0][0], b - within[0][0]) for a, b in within)
            windows[t] = (None, None)
        body = TermView(pad.operands[0], view.rows, self.table(offsets), view.dims)
        if any(w != (None, None) for w in windows):
            body = self._pad(body, tuple(windows), pad.value)
        for direction, positions in patterns.items():
            body = self.summed(kind, body, direction, positions, False)
        return body if term.key[4] == 1 else self._fold(kind, body, {}, term.key[4], False)


def sizes_of(dims: Sequence[int]) -> tuple[int, ...]:
    """Return the sizes along which regions are told: those of an array's dimensions, and 1 of a scalar."""
    return tuple(dims) or (1,)


def is_near(number: Array) -> bool:
    """Return True for a number with which others may be multiplied in any order: it is far from over- and underflow."""
    largest = 2.0 ** _NEAR.get(number.dtype.name, 0)
    return bool(1 / largest <= abs(float(number)) <= largest)


def _product(kind: Kind) -> Hashable:
    return ("multiply", (kind[1], kind[1]), ())


def is_neutral(kind: Any, fill: Array) -> bool:
    """Return True if a number leaves what it is folded with as it is, by an opcode on an element type."""
    from hlotool.ops.table import OPS

    identity = OPS[kind[0]].identity if kind[0] in OPS else None
    if identity is None:
        return False
    neutral = np.asarray(identity(DTYPES[kind[1]])).astype(fill.dtype)
    return bool(neutral == fill)


def _unit(rank: int) -> Rows:
    return tuple(tuple(int(a == b) for b in range(rank)) for a in range(rank))


def _joined(arrays: Sequence[Array], function: Any) -> Array:
    found = arrays[0]
    for array in arrays[1:]:
        found = function(found, array)
    return found


def _most(a: int | None, b: int | None, which: Callable[[int, int], int]) -> int | None:
    """Return the stricter of two bounds."""
    return b if a is None else a if b is None else which(a, b)


def _less(bound: int | None, by: int) -> int | None:
    return None if bound is None else bound - by


def _factors(row: Sequence[int], other: Sequence[int]) -> tuple[int, ...]:
    """Return the whole factors by which one row may be a multiple of another one."""
    if not any(row) and not any(other):
        return (1, -1)
    at = next((k for k, c in enumerate(other) if c), None)
    if at is None or not row[at] or row[at] % other[at]:
        return ()
    factor = row[at] // other[at]
    return (factor,) if all(c == factor * o for c, o in zip(row, other, strict=True)) else ()


def _intervals(points: Iterable[int], is_idempotent: bool) -> Intervals:
    """Return points as intervals. Raises NotCarried where one stands twice and that matters."""
    return _tidy([(p, p + 1) for p in points], is_idempotent)


def _tidy(intervals: Iterable[tuple[int, int]], is_idempotent: bool) -> Intervals:
    found: list[tuple[int, int]] = []
    for start, stop in sorted(intervals):
        if found and start < found[-1][1] and not is_idempotent:
            raise NotCarried("an element is added more than once")
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], stop))
        else:
            found.append((start, stop))
    return tuple(found)


def _spread(one: Intervals, other: Intervals, is_idempotent: bool) -> Intervals:
    """Return the sums of two sets of positions."""
    few, many = sorted((one, other), key=lambda s: sum(b - a for a, b in s))
    points = [p for a, b in few for p in range(a, b)]
    if len(points) * len(many) > _MOST_POSITIONS:
        raise NotCarried("a fold of too many ranges")
    return _tidy([(a + p, b + p) for p in points for a, b in many], is_idempotent)
