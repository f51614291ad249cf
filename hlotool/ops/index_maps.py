"""Operations on arrays as functions of indices, in terms: what each element of a result is, whatever the sizes are.

    y = slice(x), slice={[A:B]}      y has B - A elements; y[i] is x[i + A]; valid where 0 <= A <= B <= size of x

Sizes and indices are terms of SMT-LIB (`WholeNumber`); numbers that are known are computed with. Elements are what is
read of an operand, functions of elements (opcodes), choices between them, and folds over ranges. Source: XLA
Operation Semantics, by operation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import field
from typing import Any, NamedTuple, TypeAlias

from hlotool.ir import lazy_dataclass
from hlotool.ops.dimension_parts import common_parts, places_of_parts

#: a condition on whole numbers, as a term; "true" and "false" are known
Condition: TypeAlias = str


@lazy_dataclass(frozen=True, slots=True)
class WholeNumber:
    """A whole number as a term; equal terms are equal numbers."""

    text: str
    #: the number, where it is known
    value: int | None = None
    #: the sizes of which it is the product, where it is written as one
    factors: tuple[WholeNumber, ...] = field(default=(), compare=False)
    #: an index that was put together of others: each with its size, the major one first
    digits: tuple[tuple[WholeNumber, WholeNumber], ...] = field(default=(), compare=False)

    def __add__(self, other: WholeNumber) -> WholeNumber:
        if self.value == 0:
            return other
        return self if other.value == 0 else _joined("+", self, other, lambda a, b: a + b)

    def __sub__(self, other: WholeNumber) -> WholeNumber:
        if self == other:
            return ZERO
        return self if other.value == 0 else _joined("-", self, other, lambda a, b: a - b)

    def __mul__(self, other: WholeNumber) -> WholeNumber:
        if self.value == 1:
            return other
        if other.value == 1:
            return self
        made = _joined("*", self, other, lambda a, b: a * b)
        return WholeNumber(made.text, made.value, (*self.parts, *other.parts) if made.value is None else ())

    def __floordiv__(self, other: WholeNumber) -> WholeNumber:
        return self if other.value == 1 else _joined("div", self, other, lambda a, b: a // b)

    def __mod__(self, other: WholeNumber) -> WholeNumber:
        return ZERO if other.value == 1 else _joined("mod", self, other, lambda a, b: a % b)

    @property
    def parts(self) -> tuple[WholeNumber, ...]:
        """The factors, or the number itself; none of one."""
        return self.factors or (() if self.value == 1 else (self,))

    def at_least(self, other: WholeNumber) -> Condition:
        return _related(">=", self, other, lambda a, b: a >= b)

    def below(self, other: WholeNumber) -> Condition:
        return _related("<", self, other, lambda a, b: a < b)

    def equals(self, other: WholeNumber) -> Condition:
        return "true" if self == other else _related("=", self, other, lambda a, b: a == b)


def _joined(operator: str, left: WholeNumber, right: WholeNumber, compute: Callable[[int, int], int]) -> WholeNumber:
    if left.value is not None and right.value is not None and (operator in "+-*" or right.value > 0):
        return whole(compute(left.value, right.value))
    return WholeNumber(f"({operator} {left.text} {right.text})")


def _related(operator: str, left: WholeNumber, right: WholeNumber, holds: Callable[[int, int], bool]) -> Condition:
    if left.value is not None and right.value is not None:
        return "true" if holds(left.value, right.value) else "false"
    return f"({operator} {left.text} {right.text})"


def whole(number: int | WholeNumber) -> WholeNumber:
    """Return a number as a term."""
    if isinstance(number, WholeNumber):
        return number
    return WholeNumber(str(number) if number >= 0 else f"(- {-number})", number)


ZERO, ONE = WholeNumber("0", 0), WholeNumber("1", 1)


def both(*conditions: Condition) -> Condition:
    """Return the condition that holds where all do."""
    open_ones = [c for c in dict.fromkeys(conditions) if c != "true"]
    if "false" in open_ones:
        return "false"
    return f"(and {' '.join(open_ones)})" if len(open_ones) > 1 else open_ones[0] if open_ones else "true"


def negated(condition: Condition) -> Condition:
    """Return the condition that holds where another one does not."""
    return {"true": "false", "false": "true"}.get(condition, f"(not {condition})")


# Elements


@lazy_dataclass(frozen=True, slots=True)
class Read:
    """An element of an operand; `kind` is its element type, "" the one that is being asked about."""

    name: str
    places: tuple[WholeNumber, ...]
    kind: str = ""


@lazy_dataclass(frozen=True, slots=True)
class Scalar:
    """A constant, as HLO writes it."""

    text: str


@lazy_dataclass(frozen=True, slots=True)
class Count:
    """An index as an element, of an iota."""

    place: WholeNumber


@lazy_dataclass(frozen=True, slots=True)
class Selected:
    """One of two elements, by a condition on indices."""

    when: Condition
    yes: Element
    no: Element


@lazy_dataclass(frozen=True, slots=True)
class Mapped:
    """An elementwise operation on elements."""

    opcode: str
    operands: tuple[Element, ...]
    attributes: tuple[tuple[str, Any], ...] = ()


@lazy_dataclass(frozen=True, slots=True)
class Folded:
    """Elements for all indices below some sizes, folded by an operation into a start, in an order that is open."""

    opcode: str
    sizes: tuple[WholeNumber, ...]
    body: Callable[[tuple[WholeNumber, ...]], Element]
    #: None: they are folded into something else
    start: Element | None


#: a whole number is the element of an operand that gives indices
Element: TypeAlias = "Read | Scalar | Count | Selected | Mapped | Folded | WholeNumber"
Places: TypeAlias = tuple[WholeNumber, ...]


@lazy_dataclass(frozen=True, slots=True)
class Sized:
    """An array: its sizes, what its elements are, and the conditions under which its operations are valid."""

    dims: tuple[WholeNumber, ...]
    element: Callable[[Places], Element]
    valid: tuple[Condition, ...] = ()


#: an operation on arrays; attributes as keywords
IndexMap: TypeAlias = Callable[..., Sized]


def chosen(when: Condition, yes: Callable[[], Element], no: Callable[[], Element]) -> Element:
    """Return one of two elements; of what never holds nothing is made."""
    if when in ("true", "false"):
        return yes() if when == "true" else no()
    return Selected(when, yes(), no())


# Movements


def of_copy(x: Sized) -> Sized:
    """The operand itself."""
    return x


def of_transpose(x: Sized, *, dimensions: Sequence[int]) -> Sized:
    """Element i is that at the place whose coordinate dimensions[k] is i[k]."""
    order = [list(dimensions).index(d) for d in range(len(dimensions))]
    return Sized(tuple(x.dims[d] for d in dimensions), lambda i: x.element(tuple(i[d] for d in order)), x.valid)


def of_reverse(x: Sized, *, dimensions: Sequence[int]) -> Sized:
    """Count some dimensions from the end."""
    def element(i: Places) -> Element:
        return x.element(tuple(n - ONE - p if d in dimensions else p
                               for d, (p, n) in enumerate(zip(i, x.dims, strict=True))))

    return Sized(x.dims, element, x.valid)


def of_broadcast(x: Sized, *, shape: Sequence[int | WholeNumber], dimensions: Sequence[int] = ()) -> Sized:
    """Leave out the coordinates that the operand does not have."""
    dims = tuple(map(whole, shape))
    fits = tuple(n.equals(dims[d]) for n, d in zip(x.dims, dimensions, strict=True))
    return Sized(dims, lambda i: x.element(tuple(i[d] for d in dimensions)), (*x.valid, *fits))


def of_reshape(x: Sized, *, shape: Sequence[int | WholeNumber]) -> Sized:
    """Count the elements in row-major order."""
    target = tuple(map(whole, shape))
    atoms = _atoms(x.dims, target)
    fits = () if atoms is not None else (_product(x.dims).equals(_product(target)),)
    own, others = atoms or (((),) * len(x.dims), ((),) * len(target))

    def element(i: Places) -> Element:
        if atoms is None:
            rest = joined_index([(p, n) for p, n in zip(i, target, strict=True)])
            return x.element(split_index(rest, x.dims))
        digits = iter([d for p, sizes in zip(i, others, strict=True) for d in split_index(p, sizes)])
        return x.element(tuple(joined_index([(next(digits), n) for n in sizes]) for sizes in own))

    return Sized(target, element, (*x.valid, *fits))


def _product(sizes: Sequence[WholeNumber]) -> WholeNumber:
    made = ONE
    for size in sizes:
        made = made * size
    return made


_Atoms: TypeAlias = "tuple[tuple[Places, ...], tuple[Places, ...]]"


def _atoms(source: Places, target: Places) -> _Atoms | None:
    """Return the sizes of which the dimensions of both shapes are products, in order; None: there are none."""
    numbers = [[n.value for n in dims] for dims in (source, target)]
    if all(v is not None and v > 0 for row in numbers for v in row):
        return _atoms_of_numbers(*([v or 0 for v in row] for row in numbers))
    sides = tuple(tuple(n.parts for n in dims) for dims in (source, target))
    flat = [[p for parts in side for p in parts] for side in sides]
    return (sides[0], sides[1]) if flat[0] == flat[1] else None


def _atoms_of_numbers(source: Sequence[int], target: Sequence[int]) -> _Atoms | None:
    parts = common_parts(source, target)
    if parts is None:
        return None
    own, others = (tuple(tuple(whole(parts[p]) for p in places) for places in places_of_parts(parts, dims))
                   for dims in (source, target))
    return own, others


def split_index(index: WholeNumber, sizes: Places) -> Places:
    """Return the coordinates of an index that counts arrays of those sizes in row-major order."""
    if len(sizes) < 2:
        return (index,) if sizes else ()
    if index.digits and tuple(n for _, n in index.digits) == sizes:
        return tuple(d for d, _ in index.digits)
    found, rest = list[WholeNumber](), index
    for size in reversed(sizes[1:]):
        found.append(rest % size)
        rest = rest // size
    return (rest, *reversed(found))


def joined_index(digits: Sequence[tuple[WholeNumber, WholeNumber]]) -> WholeNumber:
    """Return the number of a place in row-major order, of its coordinates and the sizes."""
    kept = [(d, n) for d, n in digits if n.value != 1]
    if len(kept) < 2:
        return kept[0][0] if kept else ZERO
    made = kept[0][0]
    for digit, size in kept[1:]:
        made = made * size + digit
    return WholeNumber(made.text, made.value, (), tuple(kept))


def of_slice(x: Sized, *, slice: Sequence[Any]) -> Sized:
    """Take places from a start to a limit, by a stride."""
    parts = [(whole(s.start), whole(s.limit), whole(s.stride)) for s in slice]
    fits = tuple(c for (start, limit, stride), n in zip(parts, x.dims, strict=True) for c in (
        start.at_least(ZERO), limit.at_least(start), n.at_least(limit), stride.at_least(ONE)))
    dims = tuple((limit - start + (stride - ONE)) // stride for start, limit, stride in parts)
    return Sized(dims, lambda i: x.element(tuple(start + p * stride for p, (start, _, stride) in
                                                 zip(i, parts, strict=True))), (*x.valid, *fits))


def of_pad(x: Sized, value: Sized, *, padding: Any) -> Sized:
    """Put a value before, after and between elements; negative numbers take elements away."""
    rows = [(whole(p.low), whole(p.high), whole(p.interior)) for p in padding.dimensions]
    dims, inside = [], []
    for n, (low, high, interior) in zip(x.dims, rows, strict=True):
        gaps = ZERO if interior.value == 0 else at_least(n - ONE, ZERO) * interior
        dims.append(low + n + gaps + high)
        inside.append(interior + ONE)

    def element(i: Places) -> Element:
        offsets = [p - low for p, (low, _, _) in zip(i, rows, strict=True)]
        places = tuple(o // step for o, step in zip(offsets, inside, strict=True))
        is_own = both(*(c for o, p, step, n in zip(offsets, places, inside, x.dims, strict=True)
                        for c in (o.at_least(ZERO), (o % step).equals(ZERO), p.below(n))))
        return chosen(is_own, lambda: x.element(places), lambda: value.element(()))

    fits = (*(d.at_least(ZERO) for d in dims), *(interior.at_least(ZERO) for _, _, interior in rows))
    return Sized(tuple(dims), element, (*x.valid, *value.valid, *fits))


def at_least(number: WholeNumber, least: WholeNumber) -> WholeNumber:
    """Return the larger one of two numbers."""
    if number.value is not None and least.value is not None:
        return whole(max(number.value, least.value))
    return WholeNumber(f"(ite (>= {number.text} {least.text}) {number.text} {least.text})")


def of_concatenate(*parts: Sized, dimensions: Sequence[int]) -> Sized:
    """One operand behind the other."""
    (along,) = dimensions
    total, starts = ZERO, []
    for part in parts:
        starts.append(total)
        total = total + part.dims[along]

    def element(i: Places, n: int = 0) -> Element:
        place = (*i[:along], i[along] - starts[n], *i[along + 1:])
        if n == len(parts) - 1:
            return parts[n].element(place)
        return chosen(place[along].below(parts[n].dims[along]), lambda: parts[n].element(place),
                      lambda: element(i, n + 1))

    fits = tuple(a.equals(b) for part in parts[1:] for d, (a, b) in
                 enumerate(zip(parts[0].dims, part.dims, strict=True)) if d != along)
    dims = tuple(total if d == along else n for d, n in enumerate(parts[0].dims))
    return Sized(dims, element, (*(v for p in parts for v in p.valid), *fits))


def _starts(places: Sequence[Sized], whole_dims: Places, part: Places) -> list[WholeNumber]:
    """Return where a part begins, moved so that it fits. Raises TypeError where a start is no index."""
    found = []
    for given, n, size in zip(places, whole_dims, part, strict=True):
        start, most = given.element(()), n - size
        if not isinstance(start, WholeNumber):
            raise TypeError("a start is no index")
        if start.value is not None and most.value is not None:
            found.append(whole(max(0, min(start.value, most.value))))
        else:
            found.append(WholeNumber(f"(ite (< {start.text} 0) 0 (ite (> {start.text} {most.text}) {most.text} "
                                     f"{start.text}))"))
    return found


def of_dynamic_slice(x: Sized, *starts: Sized, dynamic_slice_sizes: Sequence[int | WholeNumber]) -> Sized:
    """Take a part whose start is moved so that it fits."""
    sizes = tuple(map(whole, dynamic_slice_sizes))
    at = _starts(starts, x.dims, sizes)
    fits = tuple(c for size, n in zip(sizes, x.dims, strict=True) for c in (size.at_least(ZERO), n.at_least(size)))
    return Sized(sizes, lambda i: x.element(tuple(p + s for p, s in zip(i, at, strict=True))),
                 (*x.valid, *(v for s in starts for v in s.valid), *fits))


def of_dynamic_update_slice(x: Sized, update: Sized, *starts: Sized) -> Sized:
    """Replace a part whose start is moved so that it fits."""
    at = _starts(starts, x.dims, update.dims)
    fits = tuple(n.at_least(size) for size, n in zip(update.dims, x.dims, strict=True))

    def element(i: Places) -> Element:
        places = tuple(p - s for p, s in zip(i, at, strict=True))
        is_new = both(*(c for p, n in zip(places, update.dims, strict=True) for c in (p.at_least(ZERO), p.below(n))))
        return chosen(is_new, lambda: update.element(places), lambda: x.element(i))

    return Sized(x.dims, element, (*x.valid, *update.valid, *(v for s in starts for v in s.valid), *fits))


def of_gather(x: Sized, indices: Sized, *, slice_sizes: Sequence[int | WholeNumber], index_vector_dim: int,
              start_index_map: Sequence[int] = (), offset_dims: Sequence[int] = (),
              collapsed_slice_dims: Sequence[int] = ()) -> Sized:
    """Take a part for each row of indices, whose start is moved so that it fits."""
    sizes, rank = tuple(map(whole, slice_sizes)), len(indices.dims)
    kept = [d for d in range(len(x.dims)) if d not in collapsed_slice_dims]
    batch = [n for d, n in enumerate(indices.dims) if d != index_vector_dim]
    total = len(kept) + len(batch)

    def element(i: Places) -> Element:
        row = [p for d, p in enumerate(i) if d not in offset_dims]
        inner = dict(zip(kept, (i[d] for d in offset_dims), strict=True))
        for number, d in enumerate(start_index_map):
            index = (*row[:index_vector_dim], whole(number), *row[index_vector_dim:])[:rank]
            start = Sized((), lambda _, index=index: indices.element(tuple(index)))  # type: ignore[misc]
            (at,) = _starts([start], (x.dims[d],), (sizes[d],))
            inner[d] = inner.get(d, ZERO) + at
        return x.element(tuple(inner.get(d, ZERO) for d in range(len(x.dims))))

    rows, blocks = iter(batch), iter(sizes[d] for d in kept)
    dims = tuple(next(blocks) if d in offset_dims else next(rows) for d in range(total))
    fits = (*(c for size, n in zip(sizes, x.dims, strict=True) for c in (size.at_least(ZERO), n.at_least(size))),
            *(sizes[d].equals(ONE) for d in collapsed_slice_dims))
    return Sized(dims, element, (*x.valid, *indices.valid, *fits))


def of_iota(*, shape: Sequence[int | WholeNumber], iota_dimension: int) -> Sized:
    """Each element is a coordinate of its place."""
    return Sized(tuple(map(whole, shape)), lambda i: Count(i[iota_dimension]))


# Folds


def of_reduce(x: Sized, start: Sized, *, dimensions: Sequence[int], fold: str) -> Sized:
    """Folded the elements along some dimensions by an operation, `fold`."""
    kept = [d for d in range(len(x.dims)) if d not in dimensions]

    def element(i: Places) -> Element:
        def body(k: Places) -> Element:
            places = dict(zip(kept, i, strict=True)) | dict(zip(sorted(dimensions), k, strict=True))
            return x.element(tuple(places[d] for d in range(len(x.dims))))

        return Folded(fold, tuple(x.dims[d] for d in sorted(dimensions)), body, start.element(()))

    return Sized(tuple(x.dims[d] for d in kept), element, (*x.valid, *start.valid))


def of_dot(x: Sized, y: Sized, *, lhs_contracting_dims: Sequence[int] = (), rhs_contracting_dims: Sequence[int] = (),
           lhs_batch_dims: Sequence[int] = (), rhs_batch_dims: Sequence[int] = ()) -> Sized:
    """Sum products along the contracted dimensions; first come batch dimensions, then the left's, then the right's."""
    free = [[d for d in range(len(side.dims)) if d not in (*batch, *terms)] for side, batch, terms in (
        (x, lhs_batch_dims, lhs_contracting_dims), (y, rhs_batch_dims, rhs_contracting_dims))]

    def element(i: Places) -> Element:
        counts = len(lhs_batch_dims), len(lhs_batch_dims) + len(free[0])
        left = dict(zip((*lhs_batch_dims, *free[0]), i[:counts[1]], strict=True))
        right = dict(zip((*rhs_batch_dims, *free[1]), (*i[:counts[0]], *i[counts[1]:]), strict=True))

        def body(k: Places) -> Element:
            own = left | dict(zip(lhs_contracting_dims, k, strict=True))
            other = right | dict(zip(rhs_contracting_dims, k, strict=True))
            return Mapped("multiply", (x.element(tuple(own[d] for d in range(len(x.dims)))),
                                       y.element(tuple(other[d] for d in range(len(y.dims))))))

        return Folded("add", tuple(x.dims[d] for d in lhs_contracting_dims), body, Scalar("0"))

    pairs = (*zip(lhs_batch_dims, rhs_batch_dims, strict=True),
             *zip(lhs_contracting_dims, rhs_contracting_dims, strict=True))
    fits = tuple(x.dims[a].equals(y.dims[b]) for a, b in pairs)
    dims = (*(x.dims[d] for d in (*lhs_batch_dims, *free[0])), *(y.dims[d] for d in free[1]))
    return Sized(dims, element, (*x.valid, *y.valid, *fits))


def elementwise_map(opcode: str, *operands: Sized, **attributes: Any) -> Sized:
    """Return the array of which each element is made of those at the same place; scalars are taken everywhere."""
    rank = max((len(o.dims) for o in operands), default=0)
    dims = next((o.dims for o in operands if len(o.dims) == rank), ())
    fits = tuple(a.equals(b) for o in operands if len(o.dims) == rank for a, b in zip(o.dims, dims, strict=True))
    symbols = {"add": WholeNumber.__add__, "subtract": WholeNumber.__sub__}

    def element(i: Places) -> Element:
        given = tuple(o.element(i if o.dims else ()) for o in operands)
        if opcode in symbols and all(isinstance(g, WholeNumber) for g in given):
            left, right = (g for g in given if isinstance(g, WholeNumber))
            return symbols[opcode](left, right)
        return Mapped(opcode, given, tuple(sorted(attributes.items())))

    return Sized(dims, element, (*(v for o in operands for v in o.valid), *fits))


class TermWindow(NamedTuple):
    """A dimension of a window in terms; its fields are those of `WindowDimension`."""

    size: WholeNumber = ONE
    stride: WholeNumber = ONE
    pad_low: WholeNumber = ZERO
    pad_high: WholeNumber = ZERO
    base_dilation: WholeNumber = ONE
    window_dilation: WholeNumber = ONE
    reversal: bool = False

    def places(self, n: WholeNumber) -> WholeNumber:
        """Return the number of windows in a dimension of n elements."""
        padded = self.pad_low + _dilated(n, self.base_dilation) + self.pad_high
        return at_least((padded - _dilated(self.size, self.window_dilation) + self.stride) // self.stride, ZERO)

    def place(self, i: WholeNumber, k: WholeNumber, n: WholeNumber) -> tuple[WholeNumber, Condition]:
        """Return the operand's index of element k of window i, and the condition that there is one."""
        offset = i * self.stride + k * self.window_dilation - self.pad_low
        at = offset // self.base_dilation
        return at, both(offset.at_least(ZERO), (offset % self.base_dilation).equals(ZERO), at.below(n))

    @property
    def valid(self) -> tuple[Condition, ...]:
        return tuple(n.at_least(ONE) for n in (self.size, self.stride, self.base_dilation, self.window_dilation))


def _dilated(n: WholeNumber, step: WholeNumber) -> WholeNumber:
    return n if step.value == 1 else at_least((n - ONE) * step + ONE, ZERO)
