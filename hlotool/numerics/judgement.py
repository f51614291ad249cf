"""The verdict on every element of a result: what a device gave, held against what the program allows.

Four things are known of each element: the reference r (the program at its own types), the shadow s (the same at higher
precision), samples (the program with its roundings drawn at random), and d, what is to be judged.

    EQUAL            d is r: the same number, or NaN both
    WITHIN           d is as far from r or s as samples are from each other, a few times over, or a few ULPs
    EXCESS           so too, and d is nearer to s than r is: computed better than the types ask for, which is permitted
    ILL_CONDITIONED  d lies within the spread, but the spread is so wide that digits mean nothing: no verdict;
                     for integers and pred, samples disagree among each other, and d lies among them
    OPEN             the same where no rounding is the reason: samples of which only choices are drawn that the
                     specification leaves to the implementation (orders of updates, ties of sorts, bits of NaN) disagree
    RANGE_END        d is wrong on arguments at the ends of the range, as a consequence of an overflow further up: no
                     verdict (extreme_values.py)
    NON_FINITE       one of d and r is finite and the other is not, or they are different infinities, and all samples
                     are as r is: a fold at overflow, a NaN lost or made
    WRONG            everything else

Floats of fewer than 32 bits are computed as f32 and rounded once: d may be half of a last place from s, and a little.
Integers and pred are exact. A number next to infinity is not near to it. Where r is s to the last bit, and samples with
what IEEE 754 defines left alone stay with r, then the program is exact there: a d that shares no digit with r is WRONG,
however wide the spread of fused products and of sums in another order. A narrow d that is another number than r is
WRONG, too, where even samples with much enlarged roundings stay with r: nothing is rounded there but at the end, and
that is defined, ties included.
"""

from __future__ import annotations

import enum
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field

from hlotool.ir import DTYPES, DType, Shape, dtype_of_numpy
from hlotool.ir.arrays import Array, np
from hlotool.numerics.allowance import MODEL, SPREAD_FACTOR, Allowance
from hlotool.numerics.higher_precision import own
from hlotool.numerics.rounding import Draws
from hlotool.numerics.ulps import ulp_of

#: ULPs of the result that need no explanation
FREE_ULPS = 4.0
#: the same of floats of fewer than 32 bits, which are computed as f32 and rounded once, in any implementation
NARROW_ULPS = 0.5625
#: a spread wider than this share of the value leaves it no meaning
MEANINGLESS = 0.125


class Kind(enum.IntEnum):
    """Grades of an element; the larger, the worse."""

    EQUAL = 0
    WITHIN = 1
    EXCESS = 2
    ILL_CONDITIONED = 3
    OPEN = 4
    RANGE_END = 5
    NON_FINITE = 6
    WRONG = 7

    @property
    def is_wrong(self) -> bool:
        return self >= Kind.NON_FINITE

    def __str__(self) -> str:
        return _WORDS[self]


_WORDS = {Kind.EQUAL: "equal", Kind.WITHIN: "within rounding", Kind.EXCESS: "excess precision",
          Kind.ILL_CONDITIONED: "ill-conditioned", Kind.OPEN: "left open by the specification",
          Kind.RANGE_END: "range end",
          Kind.NON_FINITE: "non-finite fold", Kind.WRONG: "wrong"}


@dataclass
class Known:
    """The values of one result that are known beside what is judged; arrays of one shape."""

    #: the program at its own types
    reference: Array
    #: the same at higher precision (higher_precision.py); None where it is not known
    shadow: Array | None = None
    #: the same with random roundings
    samples: Sequence[Array] = ()
    #: gives further samples that draw something else, one by one
    others: Callable[[Draws], Iterable[Array]] | None = None


@dataclass
class Judgement:
    """The verdict on an array."""

    #: a `Kind` for each element
    kinds: Array
    #: what is judged, and the reference
    given: Array
    reference: Array
    shadow: Array | None
    #: what a difference may be at each element
    tolerance: Array
    #: |d - r|, infinite where finiteness differs
    error: Array
    #: why there is nothing to judge element by element
    problem: str = ""
    counts: dict[str, int] = field(default_factory=dict)
    #: of two sides that were both held against the program: what it gives, and the kinds of what the reference here is
    expected: Array | None = None
    held: Array | None = None

    @property
    def kind(self) -> Kind:
        """The worst of all elements."""
        if self.problem:
            return Kind.WRONG
        return Kind(int(self.kinds.max())) if self.kinds.size else Kind.EQUAL

    @property
    def is_wrong(self) -> bool:
        return self.kind.is_wrong

    @property
    def wrong(self) -> Array:
        """True for each element that is wrong."""
        return np.asarray(self.kinds >= Kind.NON_FINITE)

    @property
    def worst(self) -> tuple[int, ...]:
        """The index of the worst element: of the worst kind, the largest error against what is allowed."""
        if not self.kinds.size:
            return ()
        with np.errstate(all="ignore"):
            share = np.nan_to_num(np.asarray(self.error / np.maximum(self.tolerance, 1e-300), np.float64), posinf=1e300)
        rank = np.where(self.kinds == self.kind, 1.0 + share, 0.0)
        return tuple(int(i) for i in np.unravel_index(int(np.argmax(rank)), rank.shape))

    def excused_by(self, one: Judgement, other: Judgement) -> Judgement:
        """Return this verdict on two sides where they are as good as equal, and both sides' own verdicts elsewhere.

        `one` and `other` are those, by the program's own evidence.
        """
        kinds = np.where(self.kinds <= Kind.WITHIN, self.kinds, np.maximum(one.kinds, other.kinds))
        tolerance = np.maximum(one.tolerance, other.tolerance)
        shadow = other.shadow if one.shadow is None else one.shadow
        return Judgement(kinds, self.given, self.reference, shadow, tolerance, self.error, expected=one.reference,
                         held=np.where(self.kinds <= Kind.WITHIN, self.kinds, other.kinds)).count()

    def count(self) -> Judgement:
        """Count the kinds anew; itself."""
        numbers = np.bincount(self.kinds.ravel(), minlength=len(Kind))
        self.counts = {str(k): int(numbers[k]) for k in Kind if numbers[k]}
        return self

    def __str__(self) -> str:
        if self.problem:
            return self.problem
        if not self.kinds.size:
            return "no elements"
        at = self.worst
        place = f"[{', '.join(map(str, at))}]"
        shadow = self.shadow
        shown = shadow is not None and shadow.dtype.kind in "fc"
        exact = f", at higher precision {shadow[at]:.9g}" if shadow is not None and shown else ""
        wrong = int((self.kinds >= Kind.NON_FINITE).sum())
        share = f"; {wrong} of {self.kinds.size} elements are wrong" if wrong else ""
        return f"element {place} is {self.given[at]}, the reference {self.reference[at]}{exact}: {self.kind}{share}"


def judge(given: Array, known: Known, allowance: Allowance = MODEL) -> Judgement:
    """Return the verdict on each element of an array."""
    given, reference = np.asarray(given), np.asarray(known.reference)
    if (found := unlike(given, reference)) is not None:
        return found
    kind = dtype_of_numpy(given.dtype)
    with np.errstate(all="ignore"):
        found = (_judged(given, known, kind, allowance) if kind.is_floating or kind.is_complex
                 else _exact(given, known))
    return found.count()


def without_elements(problem: str, given: Array | None = None, reference: Array | None = None) -> Judgement:
    """Return the verdict on what cannot be judged element by element, for that reason."""
    none = np.zeros((0,))
    return Judgement(none, none if given is None else given, none if reference is None else reference, None, none, none,
                     problem)


def unlike(given: Array, reference: Array) -> Judgement | None:
    """Return the verdict on an array of another type or shape than the reference; None where they are alike."""
    if given.dtype == reference.dtype and given.shape == reference.shape:
        return None
    return without_elements(f"{given.dtype}{list(given.shape)} against {reference.dtype}{list(reference.shape)}", given,
                            reference)


def _exact(given: Array, known: Known) -> Judgement:
    """Integers and pred: equal, or the samples say that they hang on a rounding."""
    reference = known.reference
    differs = given != reference
    kinds = np.where(differs, np.where(_is_among(given, known), Kind.ILL_CONDITIONED, Kind.WRONG),
                     Kind.EQUAL).astype(np.int8) if differs.any() else np.zeros(given.shape, np.int8)
    _tell_choices(kinds, kinds == Kind.ILL_CONDITIONED, known, lambda drawn: drawn != reference)
    error = np.where(differs, np.abs(given.astype(np.float64) - reference.astype(np.float64)), 0.0)
    return Judgement(kinds, given, reference, known.shadow, np.zeros(given.shape), error)


def _is_among(given: Array, known: Known) -> Array:
    """Return True if integers are among the samples, or as far beside them as those are from each other."""
    others = [*known.samples, *([known.shadow] if known.shadow is not None else [])]
    if not others:
        return np.zeros(given.shape, np.bool_)
    wide = np.longdouble if given.dtype.itemsize == 8 else np.float64  # f64 does not hold all of 64 bits
    among = np.stack([np.asarray(o).astype(wide) for o in (known.reference, *others)])
    low, high = among.min(axis=0), among.max(axis=0)
    number = given.astype(wide)
    found: Array = (low < high) & (number >= 2 * low - high) & (number <= 2 * high - low)
    return found


def _judged(given: Array, known: Known, kind: DType, allowance: Allowance) -> Judgement:
    """The verdict on floats: the evidence is asked of those elements alone that are not equal or nearly so."""
    free_ulps = allowance.free_ulps
    if free_ulps is None:
        free_ulps = NARROW_ULPS if kind.component.bits < 32 else FREE_ULPS
    d, r = _wide(given, kind), _wide(known.reference, kind)
    size = np.maximum(_size(d), _size(r))
    ulp = ulp_of(np.where(np.isfinite(size), size, 0), kind)
    # A processor may flush what is smaller than the smallest normal number, whatever else is allowed; where it flushes
    # f32's subnormals, on the way to the result as well.
    ulp = np.where(size < 4 * _smallest(kind), _smallest(kind), ulp)
    flushed = FREE_ULPS if _smallest(kind) <= _smallest(DTYPES["f32"]) else 1.0
    free = np.where(size < 4 * _smallest(kind), max(flushed, free_ulps), free_ulps) * ulp
    error = _distance(d, r)
    kinds = np.full(d.shape, Kind.WRONG, np.int8)
    kinds[error <= free] = Kind.WITHIN
    kinds[_same(d, r)] = Kind.EQUAL
    tolerance, error = np.array(free), np.where(np.isnan(error), 0.0, error)
    rest = kinds == Kind.WRONG
    if rest.any():
        _judge_rest(rest, (d, r, ulp, free), (kinds, tolerance, error), known, kind,
                    allowance.factor)
    return Judgement(kinds, given, known.reference, known.shadow, tolerance, error)


def _judge_rest(where: Array, values: tuple[Array, Array, Array, Array], made: tuple[Array, Array, Array],
                known: Known, kind: DType, factor: float) -> None:
    """Write kinds, tolerances and errors of those elements into `made`; `values` are d, r, an ULP and what is free."""
    d, r, ulp, free = (np.asarray(a)[where] for a in values)
    s = _wide(np.asarray(known.shadow)[where], kind) if known.shadow is not None else None
    samples = [_wide(np.asarray(x)[where], kind) for x in known.samples]
    spread = _spread(r, s, samples)
    tolerance, error = free + factor * spread, _distance(d, r)
    nearest = np.fmin(error, _distance(d, s)) if s is not None else error
    kinds = np.full(d.shape, Kind.WRONG, np.int8)
    inside = nearest <= tolerance
    # One last place is a large share of a number of few bits, and its last digit all the same.
    least = factor * ulp if kind.component.bits < 32 else 0.0
    hazy = factor * spread > np.maximum(MEANINGLESS * np.maximum(_size(r), 0), least)
    kinds[inside] = Kind.WITHIN
    kinds[inside & hazy] = Kind.ILL_CONDITIONED
    if s is not None:
        kinds[inside & ~hazy & (error > free) & (_distance(d, s) < _distance(r, s))] = Kind.EXCESS
    unlike = _class(d) != _class(r)
    if kind.is_complex:  # which half is not finite, and whether infinite or NaN, hangs on the formula
        unlike &= np.isfinite(d) != np.isfinite(r)
        kinds[~np.isfinite(d) & ~np.isfinite(r)] = Kind.WITHIN
    kinds[unlike] = Kind.NON_FINITE
    error = np.where(unlike, np.inf, np.where(np.isnan(error), 0.0, error))
    kinds[(kinds >= Kind.NON_FINITE) & _is_unsettled(d, r, s, samples, ulp)] = Kind.ILL_CONDITIONED
    _hold_to_the_exact(kinds, (d, r, s, samples), error, free, where, known.others, kind)
    if kind.component.bits < 32:
        _hold_to_the_tie(kinds, d, (r, *samples), where, known, kind)
    _tell_choices(kinds, (kinds == Kind.ILL_CONDITIONED) | ((kinds == Kind.WITHIN) & (error > free)), known,
                  lambda drawn: ~_same(_wide(drawn[where], kind), r))
    for whole, part in zip(made, (kinds, tolerance, error), strict=True):
        whole[where] = part


def _is_unsettled(d: Array, r: Array, s: Array | None, samples: Sequence[Array], ulp: Array) -> Array:
    """Return True if samples are finite and not, and d is like one: not finite in the same way, or near to it."""
    mixed, like = np.zeros(d.shape, np.bool_), np.zeros(d.shape, np.bool_)
    finite = [np.where(np.isfinite(x), x, np.nan) for x in (r, *([] if s is None else [s]), *samples)]
    spread = np.zeros(d.shape)
    for sample in samples:
        mixed |= _class(sample) != _class(r)
        like |= (_class(sample) == _class(d)) & (_class(d) != 0)
    if not mixed.any():
        return mixed
    for a in finite:
        for b in finite:
            spread = np.fmax(spread, _distance(a, b).astype(np.float64))
    for a in finite:
        like |= _distance(a, d) <= FREE_ULPS * ulp + np.maximum(SPREAD_FACTOR * spread, MEANINGLESS * _size(a))
    return np.asarray(mixed & like)


def _hold_to_the_exact(kinds: Array, values: tuple[Array, Array, Array | None, Sequence[Array]], error: Array,
                       free: Array, where: Array, others: Callable[[Draws], Iterable[Array]] | None,
                       kind: DType) -> None:
    """Turn to WRONG what the spread excuses although the program is exact there (this file's docstring)."""
    d, r, s, samples = values
    if s is None or others is None:
        return
    excused = (kinds == Kind.ILL_CONDITIONED) | (kinds == Kind.WITHIN)
    for sample in samples:
        excused &= np.isfinite(sample) & (sample != d)
    suspect = (excused & np.isfinite(r) & np.isfinite(d) & (error > free) & (error > 0.5 * _size(r))
               & (own(s, Shape.array(kind.name, r.shape)).astype(r.dtype) == r))
    if not suspect.any():
        return
    _stay(suspect, others(Draws.STRICT), lambda drawn: _wide(drawn[where], kind) == r)
    kinds[suspect] = Kind.WRONG


def _hold_to_the_tie(kinds: Array, d: Array, known_values: Sequence[Array], where: Array, known: Known,
                     kind: DType) -> None:
    """Turn to WRONG a narrow number beside the nearest one of what no rounding has changed before."""
    r, *samples = known_values
    suspect = (kinds > Kind.EQUAL) & (kinds <= Kind.ILL_CONDITIONED) & np.isfinite(d) & (np.abs(r) >= _smallest(kind))
    for sample in samples:
        suspect &= _same(sample, r)
    if not samples or known.others is None or not suspect.any():
        return
    _stay(suspect, known.others(Draws.ENLARGED), lambda drawn: _same(_wide(drawn[where], kind), r))
    kinds[suspect] = Kind.WRONG


def _stay(suspect: Array, samples: Iterable[Array], stays: Callable[[Array], Array]) -> None:
    """Keep the elements that stay in all of the samples."""
    for drawn in samples:
        suspect &= stays(np.asarray(drawn))
        if not suspect.any():
            return


def _tell_choices(kinds: Array, excused: Array, known: Known, moves: Callable[[Array], Array]) -> None:
    """Turn to OPEN the excused elements that move where nothing is drawn but what the specification leaves open."""
    if known.others is None or not excused.any():
        return
    moved = np.zeros(kinds.shape, np.bool_)
    for drawn in known.others(Draws.CHOICES):
        moved |= excused & moves(np.asarray(drawn))
        if (moved == excused).all():
            break
    kinds[moved] = Kind.OPEN


def _wide(values: Array, kind: DType) -> Array:
    """Numbers of an element type in one that has room for their differences."""
    wide = {"f64": np.longdouble, "c128": np.clongdouble, "c64": np.complex128}.get(kind.name, np.float64)
    return np.asarray(values.astype(wide, copy=False))


def _spread(r: Array, s: Array | None, samples: Sequence[Array]) -> Array:
    """How far the samples, the reference and the shadow are from each other, where they are finite."""
    found = np.zeros(r.shape, r.real.dtype)
    centre = r
    for other in (*([] if s is None else [s]), *samples):
        distance = _distance(other, centre)
        found = np.maximum(found, np.where(np.isfinite(distance), distance, 0.0))
    return found


def _distance(a: Array, b: Array) -> Array:
    return np.asarray(np.abs(a - b))


def _size(a: Array) -> Array:
    return np.asarray(np.abs(a))


def _same(a: Array, b: Array) -> Array:
    return np.asarray((a == b) | (np.isnan(a) & np.isnan(b)))


def _class(a: Array) -> Array:
    """0 finite, 1 and 2 the infinities, 3 NaN; of complex numbers, whether they are finite."""
    if a.dtype.kind == "c":
        return np.where(np.isfinite(a), 0, 3)
    return np.where(np.isnan(a), 3, np.where(np.isinf(a), np.where(a > 0, 1, 2), 0))


def _smallest(kind: DType) -> float:
    bits = kind.component.exponent_bits
    return float(2.0 ** (2 - 2 ** (bits - 1))) if kind.bits >= 16 else 0.0

