"""Pairs the members of two sides: instructions of two modules, or numbered values.

    x   add    op_name="f/add"            a   fusion
    y   tanh   op_name="f/tanh"           b   tanh     op_name="f/tanh"            y and b are a pair by op_name

Three keys tell what may be a pair: the structure (a number of structure.py or numbering.py), the op_name that compilers
keep in the metadata, and the values that a caller has computed. A member is in one pair at most; callers try the surest
key first.
"""

from __future__ import annotations

import math
from collections import defaultdict, deque
from collections.abc import Callable, Container, Hashable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Generic, TypeVar

from hlotool.ir import HloInstruction
from hlotool.ir.arrays import Array, digest, np
from hlotool.ops import dtype_of

Item = TypeVar("Item")

#: shares of the largest element by which two ways to compute a value may differ, by bits of the mantissa
_SHARES = {52: 1e-9, 23: 1e-4, 10: 1e-2}
#: the share for shorter mantissas
_SHARE_OF_SHORT = 5e-2


class Candidates(Generic[Item]):
    """Members of one side by key, in order; those that are `taken` have a partner."""

    def __init__(self, taken: Container[Item] = ()) -> None:
        self._taken = taken
        self._items: dict[Hashable, list[Item]] = defaultdict(list)
        #: how many at the beginning of each list are taken
        self._passed: dict[Hashable, int] = defaultdict(int)

    def add(self, item: Item, *keys: Hashable) -> None:
        """Add a member under some keys."""
        for key in keys:
            self._items[key].append(item)

    def free(self, *keys: Hashable) -> Item | None:
        """Return the first member without a partner, under the first of the keys that has one."""
        for key in keys:
            items, at = self._items.get(key, ()), self._passed[key]
            while at < len(items) and items[at] in self._taken:
                at += 1
            self._passed[key] = at
            if at < len(items):
                return items[at]
        return None

    def best(self, *keys: Hashable) -> Item | None:
        """Return the first member under the first key that has any, those without a partner first."""
        key = next((k for k in keys if k in self._items), None)
        if key is None:
            return None
        free = self.free(key)
        return self._items[key][0] if free is None else free


class Pairing(Generic[Item]):
    """The members of two sides, and the pairs that were found."""

    def __init__(self, left: Sequence[Item], right: Sequence[Item]) -> None:
        self.members = left, right
        self.partner: dict[Item, Item] = {}
        self.taken: dict[Item, Item] = {}

    def add(self, left: Item, right: Item) -> None:
        """Make two members a pair."""
        self.partner[left] = right
        self.taken[right] = left

    def are_free(self, left: Item, right: Item) -> bool:
        """Return True if neither of two members has a partner."""
        return left not in self.partner and right not in self.taken

    def rest(self, side: int) -> list[Item]:
        """Return the members of one side without a partner, in order."""
        known = self.taken if side else self.partner
        return [i for i in self.members[side] if i not in known]

    def pair(self, key: Callable[[Item], Hashable], keys: Callable[[Item], Iterable[Hashable]] | None = None) -> None:
        """Pair the members of one key in their order.

        `keys` are those that a member of the left side may have on the right side, if they are not its own one.
        """
        waiting = Candidates[Item](self.taken)
        rest = self.rest(1)
        for item in rest:
            waiting.add(item, key(item))
        for item in self.rest(0) if rest else ():
            found = waiting.free(*(keys(item) if keys is not None else (key(item),)))
            if found is not None:
                self.add(item, found)


def op_name(instruction: HloInstruction) -> str:
    """Return the op_name of an instruction's metadata; "" if it has none."""
    return instruction.metadata.op_name if instruction.metadata is not None else ""


@dataclass
class ValueIndex(Generic[Item]):
    """Members of one side by their values; the last `most` values of one type and size are kept to find near ones."""

    most: int
    #: bytes of values that may be kept, and that are
    room: float = math.inf
    kept: int = 0
    _equal: dict[bytes, list[Item]] = field(default_factory=dict)
    _near: dict[tuple[str, int], deque[tuple[Item, Array]]] = field(default_factory=dict)

    def add(self, item: Item, array: Array) -> bool:
        """Add a member with its value; return True if there is room to keep the value."""
        self._equal.setdefault(digest(array), []).append(item)
        self.kept += array.nbytes
        if self.kept < self.room:
            self._near.setdefault((array.dtype.name, array.size), deque(maxlen=self.most)).append((item, array))
        return self.kept < self.room

    def equal(self, array: Array) -> Sequence[Item]:
        """Return the members that have a value, in any dimensions."""
        return self._equal.get(digest(array), ())

    def near(self, array: Array) -> Iterator[tuple[float, Item]]:
        """Yield members whose value may be another way to compute one, with its `distance` from theirs."""
        for item, other in self._near.get((array.dtype.name, array.size), ()):
            away = distance(other, array)
            if away <= share_of(array):
                yield away, item


def distance(reference: Array, array: Array) -> float:
    """Return the largest difference of two arrays, in any dimensions, as a share of the reference's largest element.

    It is infinite for other types and sizes, for whole numbers that differ, and where NaN and infinities are elsewhere.
    """
    if reference.dtype != array.dtype or reference.size != array.size:
        return math.inf
    kind, one, other = dtype_of(reference.dtype), reference.reshape(-1), array.reshape(-1)
    if not (kind.is_floating or kind.is_complex):
        return 0.0 if np.array_equal(one, other) else math.inf
    wide = np.complex128 if kind.is_complex else np.float64
    with np.errstate(all="ignore"):
        one, other = one.astype(wide), other.astype(wide)
        finite = np.isfinite(one)
        if not np.array_equal(one[~finite], other[~finite], equal_nan=True) or not np.isfinite(other[finite]).all():
            return math.inf
        away = float(np.abs(one - other)[finite].max(initial=0.0))
        largest = float(np.abs(one[finite]).max(initial=0.0))
    return away / largest if largest else math.inf if away else 0.0


def share_of(array: Array) -> float:
    """Return the `distance` by which two ways to compute an array may differ."""
    kind = dtype_of(array.dtype)
    if not (kind.is_floating or kind.is_complex):
        return 0.0
    return _SHARES.get(kind.component.mantissa_bits, _SHARE_OF_SHORT)


def are_near(reference: Array, array: Array) -> bool:
    """Return True if two arrays may be two ways to compute one value."""
    return distance(reference, array) <= share_of(reference)
