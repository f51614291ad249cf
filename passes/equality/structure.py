"""Numbers for structures: two instructions get one number where they are the same operation on the same operands.

    a = f32[2] add(x, y)         the numbers of a and b are equal, whatever they and x, y, p, q are called,
    b = f32[2] add(p, q)         where those of x and p, and those of y and q are

Operands come first (hash-consing): a number stands for everything that an instruction depends on, called computations
included. Attributes that state their default are as good as absent.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from hlotool.ir import (
    Aliasing,
    BufferDonor,
    EntryLayout,
    FrontendAttributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    Shape,
    callees_first,
    post_order,
)
from hlotool.ops import OPS, acts
from hlotool.passes.equality.movements import bitcast_key

#: attributes that no compiler reads: where values came from, pictures, debuggers
IDLE_ATTRIBUTES = frozenset({"origin", "origin_recovery_table", "statistics", "debug_attributes"})

#: numbers that only name a connection; the structure tells the instructions that share one
_NUMBERED_NAMES = frozenset({"channel_id", "async_group_id", "all_reduce_id"})

CalleeKey: TypeAlias = Callable[[HloComputation], Hashable]


@dataclass(frozen=True, slots=True)
class Aspects:
    """The parts of an instruction that count as structure: attributes that are not ignored, layouts if asked for."""

    layouts: bool = False
    ignored: frozenset[str] = frozenset()

    def shape(self, shape: Shape) -> Shape:
        """Return the shape as far as it counts."""
        return shape if self.layouts else shape.without_layout()

    def attributes(self, instruction: HloInstruction, callee: CalleeKey) -> tuple[tuple[str, Hashable], ...]:
        """Return the attributes that count, by name, in a form that compares by value; `callee` maps computations."""
        given = instruction.attributes
        if not given:
            return ()
        record = OPS.get(instruction.opcode)
        if record is not None and record.plain is not None:
            given = record.plain(instruction)
        found = []
        for name in sorted(given):
            if name in IDLE_ATTRIBUTES or name in self.ignored or name == "control-predecessors":
                continue
            value = given[name]
            attribute = record.attribute(name) if record is not None else None
            if value is None or (attribute is not None and not attribute.is_required and value == attribute.default):
                continue
            found.append((name, 0 if name in _NUMBERED_NAMES else self.value(value, callee)))
        return tuple(found)

    def value(self, value: Any, callee: CalleeKey) -> Hashable:
        """Return an attribute's value in a form that compares by value."""
        if isinstance(value, HloComputation):
            return callee(value)
        if isinstance(value, tuple):
            return tuple(self.value(v, callee) for v in value)
        if isinstance(value, Literal):
            return literal_key(value)
        if isinstance(value, Shape):
            return self.shape(value)
        if isinstance(value, EntryLayout):
            return tuple(map(self.shape, value.parameters)), self.shape(value.result)
        if isinstance(value, FrontendAttributes):
            return tuple(sorted((k, v[1:-1] if v[:1] in "\"'" else v) for k, v in value.entries))
        return value if isinstance(value, Hashable) else repr(value)


def memory_of(instruction: HloInstruction) -> Hashable:
    """Return what layouts mean to an operation: bitcasts and library calls, where they always count."""
    if instruction.opcode == "bitcast" and instruction.operands:  # diff takes what verification refuses
        return bitcast_key(instruction)
    if instruction.opcode != "custom-call":
        return ()
    # A library reads its operands as they lie, and its result is what it wrote.
    shapes = [s for o in (*instruction.operands, instruction) for _, s in o.shape.leaves()]
    return () if all(s.has_default_order for s in shapes) else tuple(s.minor_to_major for s in shapes)


def literal_key(literal: Literal) -> Hashable:
    """Return a literal's type, dimensions and bits."""
    if literal.shape.is_tuple:
        return tuple(map(literal_key, literal.elements))
    shape = literal.shape.without_layout()
    if literal.is_elided or not shape.is_array:
        return shape, literal.text
    return shape, bits_of(literal.array)


def bits_of(array: Any) -> bytes:
    """Return the bytes of an array; if all elements are the same, those of one element."""
    first: bytes = array[(0,) * array.ndim].tobytes() if array.size else b""
    if not any(array.strides):  # one that stands for all, of which there may be more than memory holds
        return first
    data: bytes = array.tobytes()
    return first if data == first * array.size else data


def has_effect(instruction: HloInstruction, effects: Iterable[HloComputation] = ()) -> bool:
    """Return True if an instruction must run as often as it is written: it acts, draws, or calls one of `effects`."""
    return acts(instruction) or any(c in effects for c in instruction.called_computations())


@dataclass(slots=True)
class Structure:
    """The numbers of one or more modules, comparable with each other."""

    aspects: Aspects = field(default_factory=Aspects)
    instructions: dict[HloInstruction, int] = field(default_factory=dict)
    computations: dict[HloComputation, int] = field(default_factory=dict)
    #: computations that act on the world
    effects: set[HloComputation] = field(default_factory=set)
    _numbers: dict[Hashable, int] = field(default_factory=dict)
    _attributes: dict[tuple[Hashable, ...], tuple[Any, Hashable]] = field(default_factory=dict)

    def add(self, module: HloModule) -> None:
        """Number every computation and instruction of a module."""
        for computation in callees_first(module):
            self._number(computation)

    def own(self, instruction: HloInstruction) -> tuple[Hashable, ...]:
        """Return opcode, shape, attributes and layouts of an instruction, as far as they count."""
        return (instruction.opcode, self.aspects.shape(instruction.shape), self._attributes_of(instruction),
                memory_of(instruction))

    def _number(self, computation: HloComputation) -> None:
        numbers, found, effects = self._numbers, self.instructions, list[int]()
        for instruction in post_order(computation):
            before = instruction.control_predecessors() if instruction.attributes else ()
            key: Hashable = (
                *self.own(instruction), tuple([found[o] for o in instruction.operands]),
                tuple(sorted({found.get(p, -1) for p in before})) if before else ())
            number = numbers.setdefault(key, len(numbers))
            if has_effect(instruction, self.effects):
                # The second of two draws of a random number is another number.
                while number in effects:
                    number = numbers.setdefault(("again", number), len(numbers))
                effects.append(number)
            found[instruction] = number
        if effects:
            self.effects.add(computation)
        root = found[computation.root] if computation.root is not None else -1
        signature = tuple(self.aspects.shape(p.shape) for p in computation.parameters())
        threads = tuple(sorted(computation.attributes.items()))
        key = ("computation", signature, root, tuple(sorted(effects)), threads)
        self.computations[computation] = numbers.setdefault(key, len(numbers))

    def _attributes_of(self, instruction: HloInstruction) -> Hashable:
        # Instructions share their attributes; the record of the opcode decides about defaults, which may depend on
        # the elements.
        record = OPS.get(instruction.opcode)
        elements = instruction.operands[0].shape.element_type if (
            record is not None and record.plain is not None and instruction.operands) else ""
        place = instruction.opcode, id(instruction.attributes), elements
        known = self._attributes.get(place)
        if known is None or known[0] is not instruction.attributes:
            key = self.aspects.attributes(instruction, lambda c: self.computations.get(c, -1))
            known = self._attributes[place] = instruction.attributes, key
        return known[1]


def module_attributes(module: HloModule, aspects: Aspects) -> Mapping[str, Hashable]:
    """Return the header attributes that count."""
    return {name: _unordered(aspects.value(value, lambda c: c.name)) for name, value in module.attributes.items()
            if name not in IDLE_ATTRIBUTES and name not in aspects.ignored and value not in (None, False, (), 1)}


def _unordered(value: Hashable) -> Hashable:
    """Return a table of aliases or donors without its order."""
    if isinstance(value, tuple) and value and isinstance(value[0], (Aliasing, BufferDonor)):
        return frozenset(value)
    return value
