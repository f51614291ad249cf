"""Values of the entries of two modules on the same arguments, and where the two part.

Instructions whose values are equal on every device form a class, across the modules; so do values that may be two ways
to compute one (`is_near`). A pair of instructions is *guilty* if the right module, with the left one's value in place
of its own, gives a result of the left module that it did not give before.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

from hlotool.execution import Moment
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape, post_order
from hlotool.ir.arrays import Array, digest, np
from hlotool.numerics import Rows
from hlotool.passes.edit import is_cuttable, varying
from hlotool.passes.equality import are_near
from hlotool.reduction.candidate import Candidate
from hlotool.reduction.entry_values import EntryValues, results_on, values_of

#: values of one shape that a value is compared with
_COMPARED = 32
#: instructions that a value counts for which one side takes and the other one does not
_UNLIKE = 4

#: a class of equal values
Class = bytes


@dataclass
class Side:
    """One of the modules, with the values of its entry."""

    module: HloModule
    #: instructions that some argument changes
    moving: set[HloInstruction]
    #: of every instruction with a value: the arrays of each device
    arrays: dict[HloInstruction, list[list[Array]]]
    classes: dict[HloInstruction, Class]

    @staticmethod
    def of(module: HloModule, rows: Rows) -> Side:
        """Evaluate a module on the arguments."""
        values, arrays = values_of(Candidate(module, rows)), {}
        for instruction in module.entry.instructions:
            if is_cuttable(instruction):
                found = _arrays(instruction, values, len(rows))
                if found is not None:
                    arrays[instruction] = found
        order = post_order(module.entry)
        return Side(module, varying(order, module.entry.parameters()), arrays,
                    {i: class_of(i, found) for i, found in arrays.items()})

    @property
    def entry(self) -> HloComputation:
        """Return the entry."""
        return self.module.entry

    def region(self, target: HloInstruction, shared: set[Class]) -> tuple[set[HloInstruction], set[HloInstruction]]:
        """Return the instructions between shared values and a target, the target among them, and those shared.

        A target that only takes a shared value out of a tuple is nothing but that value.
        """
        if target.opcode == "get-tuple-element" and self.classes.get(target) in shared:
            return set(), {target}
        seen, cut, waiting = {target}, set[HloInstruction](), list(target.operands)
        while waiting:
            instruction = waiting.pop()
            if instruction in seen or instruction in cut:
                continue
            # Constants, and what is one operation away from them, cost no more than the parameter that stands for them.
            is_far = instruction in self.moving or any(o.operands for o in instruction.operands)
            is_shared = is_far and self.classes.get(instruction) in shared
            if is_shared or instruction.opcode == "parameter":
                cut.add(instruction)
            else:
                seen.add(instruction)
                waiting.extend(instruction.operands)
        return seen, cut


def _arrays(instruction: HloInstruction, values: EntryValues, devices: int) -> list[list[Array]] | None:
    found = [values.leaves(instruction, device) for device in range(devices)]
    return [f for f in found if f is not None] if all(f is not None for f in found) else None


def class_of(instruction: HloInstruction, arrays: list[list[Array]]) -> Class:
    """Return the same for all instructions of those values, by device and leaf."""
    # Equal arrays are of one class in any dimensions: a compiler moves reshapes about.
    shape = b"" if instruction.shape.is_array else instruction.shape.text(layout=False).encode()
    return b"\0".join([shape, *(digest(leaf) for row in arrays for leaf in row)])


@dataclass
class Sides:
    """Two modules on the same arguments."""

    left: Side
    right: Side
    rows: Rows
    #: True if values that many instructions have by chance, such as zeros, are no shared ones
    is_strict: bool = False
    _results: tuple[list[Array] | None, list[Array] | None] | None = None
    _repaired: dict[tuple[HloInstruction, HloInstruction], bool] = field(default_factory=dict)

    @staticmethod
    def of(base: Candidate) -> Sides:
        """Evaluate both modules of a pair."""
        assert base.other is not None
        rows = base.rows or []
        return Sides(Side.of(base.module, rows), Side.of(base.other, rows), rows)

    def __post_init__(self) -> None:
        #: the classes that both sides have
        self.shared = set(self.left.classes.values()) & set(self.right.classes.values())
        if self.is_strict:
            self.shared -= {self.left.classes[i] for i, arrays in self.left.arrays.items() if _is_plain(arrays)}

    def strict(self) -> Sides:
        """Return the sides without plain values among the shared ones."""
        return Sides(self.left, self.right, self.rows, True, self._results, self._repaired)

    def with_near(self) -> Sides | None:
        """Return the sides with values of the right module in the classes of near ones; None: there are none."""
        known = set(self.left.classes.values())
        classes = dict(self.right.classes)
        by_shape: dict[Hashable, list[HloInstruction]] = {}
        for instruction in self.left.arrays:
            by_shape.setdefault(_kind_of(instruction.shape), []).append(instruction)
        for instruction, arrays in self.right.arrays.items():
            if classes[instruction] not in known and instruction.opcode != "constant":
                partners = by_shape.get(_kind_of(instruction.shape), [])[-_COMPARED:]
                near = [p for p in partners if _are_near(self.left.arrays[p], arrays)]
                if near:
                    named = next((p for p in near if p.name == instruction.name), near[0])
                    classes[instruction] = self.left.classes[named]
        if classes == self.right.classes:
            return None
        return Sides(self.left, replace(self.right, classes=classes), self.rows, False, self._results)

    def arrays(self, side: Side, instruction: HloInstruction) -> list[list[Array]] | None:
        """Return the arrays of each device that both modules take for an instruction's value: the left module's."""
        wanted = side.classes.get(instruction)
        source = next((i for i, c in self.left.classes.items() if c == wanted), None) if side is self.right else None
        return self.left.arrays[source] if source is not None else side.arrays.get(instruction)

    def may_be_guilty(self, one: HloInstruction, other: HloInstruction) -> bool:
        """Return True if the right module, with the left one's value, gives a left result that it did not give."""
        if (one, other) not in self._repaired:
            self._repaired[one, other] = self._is_repaired(one, other)
        return self._repaired[one, other]

    def _is_repaired(self, one: HloInstruction, other: HloInstruction) -> bool:
        before, given = self._known_results()
        wanted = self.left.arrays.get(one)
        if before is None or given is None or wanted is None or not one.shape.is_array:
            return False
        # Copies of the guilty instruction have its value.
        same = {i.name for i, c in self.right.classes.items() if c == self.right.classes.get(other)} | {other.name}

        def repair(moment: Moment) -> Any:
            is_it = not moment.path and moment.instruction.name in same and moment.instruction.opcode == other.opcode
            return wanted[moment.device][0].reshape(np.shape(moment.value)) if is_it else moment.value

        repaired = results_on(self.right.module, self.rows, repair)
        return repaired is not None and len(repaired) == len(given) == len(before) and any(
            not are_near(a, b) and are_near(a, c) for a, b, c in zip(before, given, repaired, strict=True))

    def _known_results(self) -> tuple[list[Array] | None, list[Array] | None]:
        if self._results is None:
            self._results = results_on(self.left.module, self.rows), results_on(self.right.module, self.rows)
        return self._results


def _is_plain(arrays: list[list[Array]]) -> bool:
    """Return True for truth values, whole scalars, zeros and ones, and arrays whose elements are all the same."""
    return all(_is_plain_leaf(leaf) for row in arrays for leaf in row)


def _is_plain_leaf(leaf: Array) -> bool:
    if not leaf.size or leaf.dtype == np.bool_:
        return True
    first = leaf.reshape(-1)[0]
    return bool((leaf == first).all()) and bool(leaf.size > 1 or leaf.dtype.kind in "iu" or first in (0, 1))


def _are_near(one: list[list[Array]], other: list[list[Array]]) -> bool:
    return all(are_near(a, b) for x, y in zip(one, other, strict=True) for a, b in zip(x, y, strict=True))


def parting_pairs(sides: Sides) -> Iterator[tuple[int, HloInstruction, HloInstruction, bool]]:
    """Yield pairs that differ, with the size of what lies between them and shared values, in no order.

    Results that stand for each other are certain (True). Others are to be asked (`Sides.may_be_guilty`): pairs of one
    name, first ones of one size whose value the other module does not have, and those that take the same values.
    """
    left, right, shared = sides.left, sides.right, sides.shared
    certain = dict.fromkeys(zip(left.entry.results(), right.entry.results(), strict=False))
    found = dict(certain)
    names = {i.name: i for i in left.entry.instructions}
    found |= dict.fromkeys((names[i.name], i) for i in right.entry.instructions if i.name in names)
    found |= dict.fromkeys((a, b) for b in _first_unknown(right, shared) for a in _first_unknown(left, shared))
    found |= dict.fromkeys(_of_equal_operands(left, right))
    for a, b in found:
        # One of many results may be another argument; with no other result no instruction would be left.
        is_result = (a, b) in certain and len(certain) > 1
        if _may_part(left, right, a, b, is_result):
            (one, cut), (two, other_cut) = left.region(a, shared), right.region(b, shared)
            taken = {left.classes.get(i) for i in cut} ^ {right.classes.get(i) for i in other_cut}
            # What takes other values gives another one, whether it is at fault or not.
            yield _size(one) + _size(two) + _UNLIKE * len(taken), a, b, (a, b) in certain


def _may_part(left: Side, right: Side, a: HloInstruction, b: HloInstruction, is_result: bool) -> bool:
    known = left.classes.get(a), right.classes.get(b)
    return (None not in known and known[0] != known[1] and (is_result or not a.opcode == b.opcode == "parameter")
            and _kind_of(a.shape) == _kind_of(b.shape))


def _kind_of(shape: Shape) -> Hashable:
    """Return the element type and size of an array; of a tuple its shape."""
    return (shape.element_type, shape.size) if shape.is_array else shape.without_layout()


def _first_unknown(side: Side, shared: set[Class]) -> list[HloInstruction]:
    """Return the instructions whose values are of this side only, and which are computed of shared values."""
    unknown = {i for i, c in side.classes.items() if c not in shared and i.shape.is_array and i.opcode != "parameter"}
    return [i for i in unknown if not unknown.intersection(side.region(i, shared)[0] - {i})]


def _of_equal_operands(left: Side, right: Side) -> Iterator[tuple[HloInstruction, HloInstruction]]:
    """Yield instructions that take the same values and give another one, which the other module makes nowhere of them.
    """
    one, other = _by_operands(left), _by_operands(right)
    for operands in one.keys() & other.keys():
        made = [{side.classes[i] for i in found[operands]} for side, found in ((left, one), (right, other))]
        for a in one[operands]:
            for b in other[operands]:
                if left.classes[a] not in made[1] and right.classes[b] not in made[0]:
                    yield a, b


def _by_operands(side: Side) -> dict[tuple[Class, ...], list[HloInstruction]]:
    found: dict[tuple[Class, ...], list[HloInstruction]] = {}
    for instruction in side.classes:
        taken = [o for o in instruction.operands if o in side.moving]
        if taken and all(o in side.classes for o in taken):
            found.setdefault(tuple(side.classes[o] for o in taken), []).append(instruction)
    return found


def _size(region: set[HloInstruction]) -> int:
    return len(region) + sum(len(c.instructions) for c in {c for i in region for c in i.called_computations()})
