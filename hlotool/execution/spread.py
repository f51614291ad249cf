"""Values of many devices at once: devices that are known to hold the same value hold it once.

A value is either one for all devices, as the evaluator has it, or a `Spread`, or a tuple of values. Classes divide the
devices into those that hold the same; classes of several operands are joined before an operation runs once for each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from hlotool.ir.arrays import Array, np
from hlotool.ops.values import AsyncState

#: arrays of up to so many bytes are compared, so that devices which come to hold the same share it again
_SMALL = 64


@dataclass(eq=False)
class Classes:
    """A division of the devices: the number of each device's class, from 0, and a device of each class."""

    of: Array
    first: Array

    @classmethod
    def numbered(cls, keys: Sequence[Any]) -> Classes:
        """Return the classes of devices with equal keys."""
        numbers: dict[Any, int] = {}
        of = np.array([numbers.setdefault(key, len(numbers)) for key in keys], np.int64)
        return cls(of, np.unique(of, return_index=True)[1])

    @property
    def count(self) -> int:
        """How many classes there are."""
        return len(self.first)


@dataclass(eq=False)
class Spread:
    """A value of each class of devices: a list, or an array with the classes as its leading dimension."""

    classes: Classes
    values: Sequence[Any] | Array

    def stacked(self) -> Array:
        """Return the values as one array with the classes as its leading dimension."""
        stack = self.values = self.values if isinstance(self.values, np.ndarray) else np.stack(list(self.values))
        return stack

    def __bool__(self) -> bool:
        return bool(self._common())

    def __int__(self) -> int:
        return int(self._common())

    def __array__(self, dtype: Any = None, copy: Any = None) -> Array:
        return np.asarray(self._common(), dtype)

    def _common(self) -> Any:
        """Return the value that all devices have. Raises Apart where it is not one."""
        kinds = {np.asarray(v).tobytes() for v in self.values}
        if len(kinds) > 1:
            raise Apart
        return self.values[0]


class Apart(Exception):
    """The devices do not go the same way, so that they cannot be run in step."""


@dataclass
class Joins:
    """Remembers which classes two divisions have together."""

    known: dict[tuple[int, int], tuple[Classes, Classes, Classes]] = field(default_factory=dict)

    def of(self, one: Classes, other: Classes) -> Classes:
        """Return the classes of devices that are of one class in both."""
        if one is other:
            return one
        key = (id(one), id(other))
        if key not in self.known:
            both = one.of * other.count + other.of
            _, first, of = np.unique(both, return_index=True, return_inverse=True)
            made = next((c for c in (one, other) if c.count == len(first)), Classes(of.ravel(), first))
            self.known[key] = made, one, other
        return self.known[key][0]


def spread(rows: Sequence[Any]) -> Any:
    """Return the value of which each device has the given part; parts that are one object are one value."""
    first = rows[0]
    if all(r is first for r in rows):
        return first
    classes = Classes.numbered(list(map(id, rows)))
    return gathered(classes, [rows[d] for d in classes.first])


def gathered(classes: Classes, values: Sequence[Any] | Array) -> Any:
    """Return the value of which each class has the given one; tuples become tuples of values."""
    first = values[0]
    if isinstance(first, tuple) and not isinstance(first, AsyncState):
        return tuple(gathered(classes, [v[n] for v in values]) for n in range(len(first)))
    if len(values) == 1:
        return first
    if all(v is first for v in values):
        return first
    if isinstance(first, np.ndarray | np.generic) and first.nbytes <= _SMALL:
        return _shared(classes, values)
    return Spread(classes, values)


def _shared(classes: Classes, values: Sequence[Any] | Array) -> Any:
    """Return small values with those that are the same held once."""
    numbers: dict[bytes, int] = {}
    same = np.array([numbers.setdefault(v.tobytes(), len(numbers)) for v in values], np.int64)
    if len(numbers) == len(values):
        return Spread(classes, values)
    if len(numbers) == 1:
        return values[0]
    of = same[classes.of]
    _, first = np.unique(of, return_index=True)
    return Spread(Classes(of, first), [values[int(n)] for n in np.unique(same, return_index=True)[1]])


def classes_of(values: Sequence[Any], joins: Joins) -> Classes | None:
    """Return the classes in which all of the values are the same; None: they are the same on all devices."""
    found: Classes | None = None
    for value in values:
        own = value.classes if isinstance(value, Spread) else (
            classes_of(value, joins) if isinstance(value, tuple) else None)
        if own is not None:
            found = own if found is None else joins.of(found, own)
    return found


def picked(value: Any, devices: Array) -> Callable[[int], Any]:
    """Return what gives the value of the n-th of some devices."""
    if isinstance(value, Spread):
        values, numbers = value.values, value.classes.of[devices].tolist()
        return lambda n: values[numbers[n]]
    if isinstance(value, tuple):
        members = [picked(v, devices) for v in value]
        if isinstance(value, AsyncState):
            return lambda n: AsyncState.of([m(n) for m in members], value.run, value.bound)
        return lambda n: tuple(m(n) for m in members)
    return lambda n: value


def each(value: Any, devices: int) -> list[Any]:
    """Return the value of each device."""
    at = picked(value, np.arange(devices))
    return [at(n) for n in range(devices)]


def each_of(value: Any, function: Callable[[Any], Any]) -> Any:
    """Return an array's value after a function of it, which devices that hold the same share."""
    return Spread(value.classes, [function(v) for v in value.values]) if isinstance(value, Spread) else function(value)
