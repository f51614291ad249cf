"""Partners of the instructions of a rewritten module by the values of their operands.

    left                          right, optimised
    m = f32[4] maximum(x, y)      f { ...  n = f32[4] minimum(p, q) }        p has the value of x, and q that of y

`m` is a candidate for `n`: it has operands of the same values, and a result of the same size. An instruction that has
the value of one of its candidates is cleared. One that has none of their values, though its operands are theirs, is a
suspect. Values are the same in whatever dimensions and at whatever precision: f32[2,3] that holds the numbers of a
bf16[6] has its value.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from hlotool.blame.reference_run import UNKNOWN, ReferenceRun, Site, Time
from hlotool.execution import flat
from hlotool.ir import HloInstruction, Shape
from hlotool.ir.arrays import Array, digest, np
from hlotool.ops import Elements, flow_of, opcodes
from hlotool.passes.equality import distance, op_name, share_of

#: operations that hand values on, or whose value a computation that they call makes
_CARRIERS = opcodes(lambda flow: flow.is_trivial or flow.enters or flow.forwards or flow.step is not None)
#: different values of one size with which a value is compared
_NEAR = 64
#: instructions that have one operand's value, beyond which it tells nothing
_HUB = 256


def plain(leaf: Array) -> Array:
    """Return the numbers of an array in the widest type of their kind, in one row."""
    kinds: dict[str, Any] = {"c": np.complex128, "b": np.bool_, "i": np.int64, "u": np.int64}
    return np.ascontiguousarray(leaf).reshape(-1).astype(kinds.get(leaf.dtype.kind, np.float64))


def are_near_numbers(one: Array, other: Array) -> bool:
    """Return True if two arrays of any type and dimensions may be two ways to compute one value."""
    return distance(plain(one), plain(other)) <= max(share_of(one), share_of(other))


@dataclass(eq=False)
class LeftValues:
    """The values of the left module's run, numbered, and the instructions that take each."""

    run: ReferenceRun
    _numbers: dict[bytes, int] = field(default_factory=dict)
    #: numbers by the elements in order
    _rearranged: dict[bytes, set[int]] = field(default_factory=lambda: defaultdict(set))
    _near: dict[tuple[str, int], list[tuple[int, Array]]] = field(default_factory=lambda: defaultdict(list))
    _users: dict[tuple[int, Time], list[Site]] = field(default_factory=lambda: defaultdict(list))

    def __post_init__(self) -> None:
        for site, times in self.run.values.items():
            for time, value in times.items():
                for leaf in flat(site[-1].shape, value):
                    self._add(leaf)
                if site[-1].opcode not in _CARRIERS:
                    for number in set(self.operands(site, time)):
                        self._users[number, time].append(site)

    def _add(self, leaf: Array) -> None:
        row = plain(leaf)
        key = digest(row)
        if key not in self._numbers:
            number = self._numbers[key] = len(self._numbers)
            self._rearranged[digest(np.sort(row))].add(number)
            self._near[row.dtype.name, row.size].append((number, leaf))

    def number(self, leaf: Array) -> int:
        """Return the number of a left value."""
        return self._numbers[digest(plain(leaf))]

    def operands(self, site: Site, time: Time) -> list[int]:
        """Return the numbers of the values of a left instruction's operands, leaf by leaf."""
        return [self.number(leaf) for leaf in operand_leaves(self.run, site, time)]

    def like(self, leaf: Array) -> frozenset[int]:
        """Return the number of a value, or those of the values near it, as another way to compute it makes them."""
        row = plain(leaf)
        number = self._numbers.get(digest(row))
        if number is not None:
            return frozenset([number])
        near = self._near.get((row.dtype.name, row.size), ())[-_NEAR:]
        return frozenset(n for n, other in near if are_near_numbers(other, leaf))

    def rearranged(self, leaf: Array) -> frozenset[int]:
        """Return the numbers of values like one, and of those with its elements in another order."""
        return self.like(leaf) | self._rearranged.get(digest(np.sort(plain(leaf))), frozenset())

    def candidates(self, site: Site, time: Time, own: ReferenceRun) -> list[Site]:
        """Return the instructions with operands of the values of a right instruction's, and results of its size."""
        operands = [self.rearranged(leaf) for leaf in operand_leaves(own, site, time)]
        if not operands or not all(operands):
            return []
        first, *rest = (self._taking(o, time) for o in operands)
        given, own_sizes = frozenset[int]().union(*operands), sizes(site[-1])
        return [s for s in first if all(s in r for r in rest) and sizes(s[-1]) == own_sizes
                and given.issuperset(self.operands(s, time))]

    def _taking(self, numbers: frozenset[int], time: Time) -> dict[Site, None]:
        found = [self._users.get((n, time), ()) for n in numbers]
        return dict.fromkeys(s for sites in found if len(sites) <= _HUB for s in sites)

    def has_value(self, site: Site, time: Time, shape: Shape, value: Any) -> bool:
        """Return True if a left instruction has a value of that shape, or one near it."""
        theirs = self.run.value(site, time)
        if theirs is UNKNOWN:
            return False
        ours, theirs = list(flat(shape, value)), list(flat(site[-1].shape, theirs))
        return len(ours) == len(theirs) and all(map(are_near_numbers, ours, theirs))


def operand_leaves(run: ReferenceRun, site: Site, time: Time) -> Iterator[Array]:
    """Yield the values of an instruction's operands, leaf by leaf; those that were not kept are left out."""
    for operand in site[-1].operands:
        value = run.value((*site[:-1], operand), time)
        if value is not UNKNOWN:
            yield from flat(operand.shape, value)


def sizes(instruction: HloInstruction) -> list[int]:
    """Return how many elements each leaf of a value has."""
    return [s.size if s.is_array else 0 for _, s in instruction.shape.leaves()]


def value_suspects(left: LeftValues, own: ReferenceRun) -> Iterator[tuple[Site, list[Site], Time]]:
    """Yield the right module's suspects with their candidates and the first time, in the order of evaluation."""
    for site, times in own.values.items():
        if site[-1].opcode in _CARRIERS:
            continue
        for time, value in times.items():
            if flow_of(site[-1]).keeps_numbers and any(
                    are_near_numbers(value, o) for o in operand_leaves(own, site, time)):
                continue
            found = left.candidates(site, time, own)
            if found and not any(left.has_value(s, time, site[-1].shape, value) for s in found):
                yield site, sorted(found, key=lambda s: _unlikeness(s[-1], site[-1])), time
                break


def _unlikeness(one: HloInstruction, other: HloInstruction) -> tuple[bool, bool]:
    return op_name(one) != op_name(other), one.opcode != other.opcode


def named_suspects(left: LeftValues, own: ReferenceRun) -> Iterator[tuple[Site, list[Site], Time]]:
    """Yield instructions that have another value than those of their op_name and opcode, with these and the time."""
    named = defaultdict(list)
    for site in left.run.values:
        if op_name(site[-1]) and site[-1].opcode not in _CARRIERS:
            named[_origin(site)].append(site)
    for site, times in own.values.items():
        found = named.get(_origin(site), []) if site[-1].opcode not in _CARRIERS else []
        for time, value in times.items() if found else ():
            theirs = [s for s in found if left.run.value(s, time) is not UNKNOWN]
            if theirs and not any(left.has_value(s, time, site[-1].shape, value) for s in theirs):
                yield site, theirs, time
                break


def _origin(site: Site) -> tuple[str, str, list[int]] | Any:
    return op_name(site[-1]).rpartition("/")[2], site[-1].opcode, tuple(sizes(site[-1]))


def made_at(site: Site) -> Site:
    """Return the site of the instruction that makes a value; those that hand it on are passed by."""
    while True:
        *callers, instruction = site
        flow = flow_of(instruction)
        if instruction.opcode == "get-tuple-element":
            inner = _element(made_at((*callers, instruction.operands[0])), int(instruction.attributes["index"]))
            if inner is None:
                return site
            site = inner
        elif instruction.opcode == "parameter" and callers and flow_of(callers[-1]).in_place:
            site = (*callers[:-1], callers[-1].operands[instruction.parameter_number])
        elif flow.in_place and flow.enters:
            site = (*site, instruction.called_computations()[0].root)
        elif flow.forwards or instruction.opcode == "reshape" or _is_widened(instruction):
            site = (*callers, instruction.operands[0])
        else:
            return site


def _is_widened(instruction: HloInstruction) -> bool:
    """Return True for conversions between floating types."""
    return flow_of(instruction).elements is Elements.CONVERTED and all(
        i.shape.is_array and i.shape.dtype.is_floating for i in (instruction, *instruction.operands))


def _element(site: Site, index: int) -> Site | None:
    """Return the site of an element of a tuple; None where the tuple is a value of another instruction's own."""
    return (*site[:-1], site[-1].operands[index]) if site[-1].opcode == "tuple" else None
