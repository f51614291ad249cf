"""Small edits of one instruction: what it may have been before a fault was made in it.

    another operation     minimum for maximum, of the same signature; an operand as it is
    operands              two exchanged; another value of the same shape
    attributes            the first module's, those of a like instruction; a number moved by one, dimensions permuted
    constants             constant_edits.py

An edit is legal: the shape rule of its operation gives the shape that stands there. Which operations and attributes
there are is asked of the operations' records.
"""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

from hlotool.ir import KINDS, Attributes, HloComputation, HloInstruction, HloModule, Kind, Shape, post_order
from hlotool.ops import DIRECTIONS, OPS, ConstraintError, flow_of, is_a, with_flag
from hlotool.passes.edit import clone_module, mapped_attributes, varying

#: instructions before one that are tried in place of an operand
_NEAREST = 12
#: most dimensions of which all orders are tried
_PERMUTED = 4
#: computations that are tried in place of one that is called, and orders of branches
_COMPUTATIONS, _ORDERS = 8, 24
#: what a shape rule may raise for attributes or operands that do not fit
_MISFITS = (ConstraintError, ValueError, TypeError, KeyError, IndexError, AttributeError, ArithmeticError)


@dataclass(frozen=True)
class SmallEdit:
    """Another form of an instruction."""

    instruction: HloInstruction
    opcode: str
    operands: tuple[HloInstruction, ...]
    attributes: Attributes
    #: an operation that its value goes through, which makes the edit two instructions; "" for none
    after: str = ""
    #: the shape that it has with it; None: its own
    shape: Shape | None = None

    @property
    def text(self) -> str:
        """The edit in short: `minimum(a, b)`, `dimensions={1,0}`, `constant(0.5)`."""
        old = self.instruction
        called = ", ".join(o.name for o in self.operands)
        if self.after:
            return f"{self.after} of it"
        if self.opcode == "constant":
            literal = self.attributes["literal"]
            return f"constant({literal.array.item() if literal.array.size == 1 else '...'})"
        if self.opcode != old.opcode or self.operands != old.operands:
            return f"{self.opcode}({called})"
        changed = [n for n, v in self.attributes.items() if old.attributes.get(n) != v]
        return f"another {', '.join(changed) or 'form'}"


def edit_of(instruction: HloInstruction, **changed: Any) -> SmallEdit:
    """Return an instruction with another opcode, other operands or attributes."""
    return SmallEdit(instruction, **{"opcode": instruction.opcode, "operands": instruction.operands,
                                     "attributes": instruction.attributes} | changed)


def apply_edit(edit: SmallEdit, copies: Mapping[Any, Any]) -> HloInstruction:
    """Give the copy of an instruction its other form, and return it; `copies` are of computations and instructions."""
    copy: HloInstruction = copies[edit.instruction]
    copy.opcode = edit.opcode
    copy.operands = tuple(copies.get(o, o) for o in edit.operands)
    copy.attributes = mapped_attributes(edit.attributes, lambda item: copies.get(item, item))
    copy.shape = edit.shape or copy.shape
    return copy


def mended_module(edit: SmallEdit, module: HloModule) -> HloModule | None:
    """Return a copy of a module with an edit; None where that calls a computation of the first module."""
    copies: dict[Any, Any] = {}
    found = clone_module(module, copies=copies)
    copy = apply_edit(edit, copies)
    return found if not edit.after and set(copy.called_computations()) <= set(found.computations) else None


def is_legal(edit: SmallEdit) -> bool:
    """Return True if the instruction has its shape in that form, too."""
    record, shape = OPS.get(edit.opcode), edit.instruction.shape
    if record is None:
        return False
    made = HloInstruction(edit.instruction.name, edit.opcode, shape, edit.operands, edit.attributes)
    try:
        found: Shape = record.infer_instruction(made)
    except _MISFITS:
        return False
    return found.compatible(shape)


class SmallEdits:
    """The small edits of a module's instructions, with what a first module has for them."""

    def __init__(self, module: HloModule, first: HloModule) -> None:
        self.first = first
        self._homes = module.parents()
        self._order: dict[HloComputation, list[HloInstruction]] = {}
        self._users: dict[HloComputation, dict[HloInstruction, list[HloInstruction]]] = {}
        self._varying: dict[HloComputation, Collection[HloInstruction]] = {}
        self._computations = [*module.computations, *first.computations]
        self._like: dict[str, dict[Attributes, None]] = defaultdict(dict)
        for instruction in (*first.instructions(), *module.instructions()):
            self._like[instruction.opcode].setdefault(instruction.attributes)

    def of(self, instruction: HloInstruction) -> Iterator[SmallEdit]:
        """Yield the edits of an instruction that are legal, but for other values of constants."""
        seen = {(instruction.opcode, instruction.operands, instruction.attributes)}
        if flow_of(instruction).is_trivial and not instruction.operands:
            return
        for make in (self._exchanged, self._operations, self._attributes, self._operands, self._dropped):
            for edit in make(instruction):
                key = (edit.opcode, edit.operands, edit.attributes)
                if key not in seen:
                    seen.add(key)
                    if is_legal(edit):
                        yield edit

    def _exchanged(self, instruction: HloInstruction) -> Iterator[SmallEdit]:
        operands = instruction.operands
        if is_a(instruction, "commutative"):
            return
        for n, m in itertools.combinations(range(len(operands)), 2):
            if operands[n].shape.compatible(operands[m].shape) and operands[n] is not operands[m]:
                changed = list(operands)
                changed[n], changed[m] = changed[m], changed[n]
                yield edit_of(instruction, operands=tuple(changed))

    def _operations(self, instruction: HloInstruction) -> Iterator[SmallEdit]:
        if not is_a(instruction, "elementwise"):
            return
        for opcode in sorted(with_flag("elementwise")):
            record = OPS[opcode]
            if len(record.operands) == len(instruction.operands):
                names = {a.name for a in record.attributes}
                kept = Attributes({n: v for n, v in instruction.attributes.items() if n in names})
                yield edit_of(instruction, opcode=opcode, attributes=kept)

    def _attributes(self, instruction: HloInstruction) -> Iterator[SmallEdit]:
        record = OPS.get(instruction.opcode)
        if record is None:
            return
        given = instruction.attributes
        # An edit of what a fusion, a loop or a branch runs is not small.
        own = [n for n in given if record.attribute(n) and not (flow_of(instruction).enters and _calls(given[n]))]
        for like in self._like[instruction.opcode]:
            yield edit_of(instruction, attributes=given | {n: v for n, v in like.items() if n in own})
        for name in own:
            for value in itertools.chain((a[name] for a in self._like[instruction.opcode] if name in a),
                                         self._values(name, given[name])):
                yield edit_of(instruction, attributes=given | {name: value})
        branches = next((n for n, v in given.items() if _calls(v) and isinstance(v, tuple)), None)
        if branches is not None:
            yield from (edit_of(instruction, attributes=given | {branches: value})
                        for value in itertools.islice(itertools.permutations(given[branches]), _ORDERS))
        called = [n for n, v in given.items() if isinstance(v, HloComputation)]
        for one, other in itertools.combinations(called, 2):
            yield edit_of(instruction, attributes=given | {one: given[other], other: given[one]})

    def _values(self, name: str, value: Any) -> Iterable[Any]:
        """Return other values of an attribute, near its own."""
        if isinstance(value, str):
            return DIRECTIONS if value in DIRECTIONS else ()
        if isinstance(value, HloComputation):
            return self._callable(value)
        return _VALUES[KINDS[name]](value) if KINDS[name] in _VALUES else _of_dimensions(value)

    def _callable(self, computation: HloComputation) -> Iterator[HloComputation]:
        """Yield computations that take and give the same."""
        def signature(one: HloComputation) -> list[str]:
            return [i.shape.text(layout=False) for i in (*one.parameters(), one.root)]

        own = signature(computation)
        like = (c for c in self._computations if c is not computation and len(c.instructions) < 64)
        yield from itertools.islice((c for c in like if signature(c) == own), _COMPUTATIONS)

    def _operands(self, instruction: HloInstruction) -> Iterator[SmallEdit]:
        before = self._before(instruction)
        for n, operand in enumerate(instruction.operands):
            # Where an operand is dropped, one of its own operands takes its place.
            beneath = operand.operands if len(self._users_of(operand)) < 2 else ()
            like = (b for b in before if b is not operand and b not in beneath and b.shape.compatible(operand.shape))
            for other in itertools.islice(like, _NEAREST):
                yield edit_of(instruction, operands=(*instruction.operands[:n], other, *instruction.operands[n + 1:]))

    def _before(self, instruction: HloInstruction) -> list[HloInstruction]:
        """Return the instructions that are evaluated before one, the nearest first."""
        home = self._homes[instruction]
        if home not in self._order:
            self._order[home] = post_order(home)
        order = self._order[home]
        return order[:order.index(instruction)][::-1] if instruction in order else []

    def _users_of(self, instruction: HloInstruction) -> list[HloInstruction]:
        home = self._homes[instruction]
        if home not in self._users:
            self._users[home] = home.users()
        return self._users[home].get(instruction, [])

    def _varying_in(self, home: HloComputation) -> Collection[HloInstruction]:
        if home not in self._varying:
            self._varying[home] = varying(post_order(home), home.parameters())
        return self._varying[home]

    def _dropped(self, instruction: HloInstruction) -> Iterator[SmallEdit]:
        for operand in instruction.operands:
            if instruction.shape.is_array and operand.shape.compatible(instruction.shape):
                yield edit_of(instruction, opcode="copy", operands=(operand,), attributes=Attributes())

    def of_two(self, instruction: HloInstruction) -> Iterator[SmallEdit]:
        """Yield edits that take another instruction: the value goes through an operation of one number.

        That of a constant is only another constant.
        """
        if not instruction.shape.is_array or flow_of(instruction).packs or instruction not in self._varying_in(
                self._homes[instruction]):
            return
        for opcode in sorted(with_flag("elementwise")):
            record = OPS[opcode]
            made = HloInstruction("after", opcode, instruction.shape, (instruction,))
            if len(record.operands) == 1 and not flow_of(made).keeps_numbers and is_legal(edit_of(made)):
                yield edit_of(instruction, after=opcode)


def _calls(value: Any) -> bool:
    """Return True for an attribute that names computations."""
    return isinstance(value[0] if isinstance(value, tuple) and value else value, HloComputation)


def _numbers(value: int) -> Iterator[int]:
    yield from (value + 1, *([value - 1] if value else []), *(n for n in range(4) if abs(n - value) > 1))


def _lists(value: tuple[int, ...]) -> Iterator[tuple[int, ...]]:
    """Yield lists of whole numbers: in another order, with one number changed."""
    if 1 < len(value) <= _PERMUTED:
        yield from itertools.permutations(value)
    for n, number in enumerate(value):
        yield from ((*value[:n], other, *value[n + 1:]) for other in _numbers(number))


def _labels(value: Any) -> Iterator[Any]:
    """Yield dimension labels with two letters of one side exchanged."""
    for part in fields(value):
        letters = getattr(value, part.name)
        for n, m in itertools.combinations(range(len(letters)), 2):
            changed = list(letters)
            changed[n], changed[m] = changed[m], changed[n]
            yield replace(value, **{part.name: "".join(changed)})


def _of_dimensions(value: Any) -> Iterator[Any]:
    """Yield slices, paddings and windows with one or two numbers of one dimension changed."""
    dimensions = value if isinstance(value, tuple) else getattr(value, "dimensions", ())
    for n, one in enumerate(dimensions):
        if is_dataclass(one):
            for other in _near(one):
                changed = (*dimensions[:n], other, *dimensions[n + 1:])
                yield changed if isinstance(value, tuple) else replace(value, dimensions=changed)


def _near(dimension: Any) -> Iterator[Any]:
    """Yield a dimension with one of its flags, or one or two of its numbers, changed."""
    names = [f.name for f in fields(dimension)]
    ways = [(n, v) for n in names for v in _ways(getattr(dimension, n))]
    for one in ways:
        yield replace(dimension, **dict([one]))
    for one, other in itertools.combinations(ways, 2):
        if one[0] != other[0]:
            yield replace(dimension, **dict([one, other]))


def _ways(value: Any) -> list[Any]:
    return [not value] if isinstance(value, bool) else [value + 1, value - 1] if isinstance(value, int) else []


#: kind of an attribute -> values near one
_VALUES: dict[Kind, Callable[[Any], Iterable[Any]]] = {
    Kind.BOOL: lambda value: (not value,),
    Kind.INT: _numbers,
    Kind.INTS: _lists,
    Kind.DIM_LABELS: _labels,
}
