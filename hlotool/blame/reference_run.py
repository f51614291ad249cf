"""The values of all instructions of a program in one run on the reference, by their calls and iterations."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.blame.places import is_loop
from hlotool.execution import Moment, Path, RunningCall, flat
from hlotool.ir import HloInstruction, Shape
from hlotool.ir.arrays import Array
from hlotool.ops import opcodes

#: the instructions that call an instruction, the outermost first, and itself
Site: TypeAlias = tuple[HloInstruction, ...]
#: the iterations of the loops around an instruction, the outermost first, and the device
Time: TypeAlias = tuple[int, ...]

#: bytes of values that are kept
_KEPT = 1 << 30
#: the value of an instruction that did not run, or whose value was not kept
UNKNOWN = object()
#: operations that apply a computation of scalars to pairs of elements; all others hand whole values to what they call
FOLDS = opcodes(lambda flow: flow.on_pairs)


def is_folded(path: Path) -> bool:
    """Return True inside of reducers and comparators, whose runs have no order."""
    return any(call.caller.opcode in FOLDS for call in path)


def site_of(path: Path, instruction: HloInstruction) -> Site:
    """Return the site of an instruction."""
    return (*(call.caller for call in path), instruction)


def time_of(path: Path, device: int) -> Time:
    """Return the iterations of the loops on a path, and the device."""
    return (*(call.iteration for call in path if is_loop(call.caller)), device)


def path_to(site: Site, time: Time) -> Path:
    """Return the path to a site at a time."""
    iterations, found = iter(time), []
    for caller, inner in itertools.pairwise(site):
        computation = next(c for c in caller.called_computations() if inner in c.instructions)
        found.append(RunningCall(caller, computation, next(iterations) if is_loop(caller) else 0))
    return tuple(found)


@dataclass
class ReferenceRun:
    """The values of a program's instructions but those of folds: whole values, tuples included."""

    #: the value at each time, by site
    values: dict[Site, dict[Time, Any]] = field(default_factory=dict)
    #: called with each moment that is kept
    beside: Callable[[Moment], None] | None = None
    #: how many values each instruction of the entry takes, those of folds included
    steps: Counter[HloInstruction] = field(default_factory=Counter)
    _size: int = 0

    def see(self, moment: Moment) -> Any:
        """Keep a value."""
        self.steps[moment.path[0].caller if moment.path else moment.instruction] += 1
        if not is_folded(moment.path):
            if not moment.instruction.shape.is_tuple:
                self._size += getattr(moment.value, "nbytes", 0)
            if self._size <= _KEPT:
                times = self.values.setdefault(site_of(moment.path, moment.instruction), {})
                times[time_of(moment.path, moment.device)] = moment.value
                if self.beside is not None:
                    self.beside(moment)
        return moment.value

    def value(self, site: Site, time: Time) -> Any:
        """Return a value; UNKNOWN where there is none."""
        return self.values.get(site, {}).get(time, UNKNOWN)

    def devices(self, site: Site, time: Time) -> list[int]:
        """Return the devices that run an instruction in the iterations of a time."""
        return sorted(t[-1] for t in self.values.get(site, {}) if t[:-1] == time[:-1])


def are_same(shape: Shape, one: Any, other: Any) -> bool:
    """Return True if two values of a shape have the same bits."""
    return one is other or all(_is_same(a, b) for a, b in zip(flat(shape, one), flat(shape, other), strict=True))


def _is_same(one: Array, other: Array) -> bool:
    return one is other or (one.dtype == other.dtype and one.shape == other.shape
                            and one.tobytes() == other.tobytes())


def leaf_pairs(shape: Shape, one: Any, other: Any) -> Iterator[tuple[Array, Array]]:
    """Yield the leaves of two values of a shape that differ."""
    for a, b in zip(flat(shape, one), flat(shape, other), strict=True):
        if not _is_same(a, b):
            yield a, b
