"""The module, its computations and their instructions."""

from __future__ import annotations

import itertools
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import field
from typing import Any

from hlotool.ir.attributes import NO_ATTRIBUTES, Attributes, Metadata
from hlotool.ir.lazy_dataclasses import lazy_dataclass
from hlotool.ir.literals import Literal
from hlotool.ir.shapes import Shape
from hlotool.ir.source import Position, Source


class HloInstruction:
    """One instruction: mutable, compared by identity.

    `operands` are instructions of the same computation. `attributes` holds everything else that the text says,
    by attribute name, the payloads included: "literal" of constant, "parameter_number" of parameter. Called
    computations are attribute values. `offset` is where the statement starts in the module's source
    (-1: it was not read from a text). Opcodes are strings, unknown ones included.
    """

    __slots__ = ("attributes", "metadata", "name", "offset", "opcode", "operands", "shape")

    def __init__(self, name: str, opcode: str, shape: Shape, operands: tuple[HloInstruction, ...] = (),
                 attributes: Attributes = NO_ATTRIBUTES, metadata: Metadata | None = None,
                 offset: int = -1) -> None:
        self.name = name
        self.opcode = opcode
        self.shape = shape
        self.operands = operands
        self.attributes = attributes
        self.metadata = metadata
        self.offset = offset

    @property
    def literal(self) -> Literal:
        """The value of a constant; KeyError elsewhere."""
        value: Literal = self.attributes["literal"]
        return value

    @property
    def parameter_number(self) -> int:
        """The number of a parameter; KeyError elsewhere."""
        value: int = self.attributes["parameter_number"]
        return value

    def called_computations(self) -> tuple[HloComputation, ...]:
        """Return the computations that the attributes name, in order."""
        attributes = self.attributes
        if not attributes:
            return ()
        if type(attributes) is not Attributes:  # somebody's dict
            return _called(attributes)
        found: tuple[HloComputation, ...] | None = attributes.called
        if found is None:
            found = attributes.called = _called(attributes)
        return found

    def control_predecessors(self) -> tuple[HloInstruction, ...]:
        value: tuple[HloInstruction, ...] = self.attributes.get("control-predecessors", ())
        return value

    def __repr__(self) -> str:
        inside = ", ".join(o.name for o in self.operands)
        if self.opcode == "parameter":
            inside = str(self.attributes.get("parameter_number", "?"))
        elif self.opcode == "constant":
            inside = repr(self.attributes.get("literal"))
        return f"<{self.name} = {self.shape} {self.opcode}({inside})>"


def _called(attributes: Attributes) -> tuple[HloComputation, ...]:
    found: list[HloComputation] = []
    for value in attributes.values():
        if type(value) is HloComputation:
            found.append(value)
        elif type(value) is tuple and value and type(value[0]) is HloComputation:
            found.extend(value)
    return tuple(found)


class HloComputation:
    """A list of instructions in the order of the text, with a root."""

    __slots__ = ("attributes", "instructions", "name", "offset", "root")

    def __init__(self, name: str, instructions: list[HloInstruction] | None = None,
                 root: HloInstruction | None = None, attributes: Attributes = NO_ATTRIBUTES,
                 offset: int = -1) -> None:
        self.name = name
        self.instructions: list[HloInstruction] = [] if instructions is None else instructions
        if root is None and instructions:
            root = instructions[-1]
        self.root: HloInstruction = root  # type: ignore[assignment]  # a computation in the making has none
        #: what stands after the closing brace: execution_thread
        self.attributes = attributes
        self.offset = offset

    def parameters(self) -> list[HloInstruction]:
        """Return the parameter instructions in the order of their numbers."""
        found = [i for i in self.instructions if i.opcode == "parameter"]
        return sorted(found, key=lambda p: p.parameter_number)

    def results(self) -> tuple[HloInstruction, ...]:
        """Return what the computation gives: the members of its root where that is a tuple, else the root."""
        return self.root.operands if self.root.opcode == "tuple" else (self.root,)

    def __getitem__(self, name: str) -> HloInstruction:
        """The instruction of that name. Raises KeyError."""
        found = next((i for i in self.instructions if i.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[HloInstruction]:
        return iter(self.instructions)

    def find_all(self, *opcodes: str) -> list[HloInstruction]:
        """Return the instructions of these opcodes, in the order of the text."""
        wanted = frozenset(opcodes)
        return [i for i in self.instructions if i.opcode in wanted]

    def users(self) -> dict[HloInstruction, list[HloInstruction]]:
        """Return the users of each instruction in text order, one entry a use."""
        found: dict[HloInstruction, list[HloInstruction]] = defaultdict(list)
        for instruction in self.instructions:
            for operand in instruction.operands:
                found[operand].append(instruction)
        return found

    def __repr__(self) -> str:
        return f"<computation {self.name}, {len(self.instructions)} instructions>"


@lazy_dataclass(slots=True, eq=False, repr=False)
class HloModule:
    """A module. `computations` stand in the order of the text; `entry` is one of them."""

    name: str
    computations: list[HloComputation] = field(default_factory=list)
    entry: HloComputation = None  # type: ignore[assignment]  # set when the module is complete
    #: header attributes by name: is_scheduled, input_output_alias, entry_computation_layout, ...
    attributes: Attributes = NO_ATTRIBUTES
    #: FileNames, FunctionNames, FileLocations, StackFrames: section name to its lines, as written
    tables: dict[str, tuple[str, ...]] = field(default_factory=dict)
    source: Source | None = None
    #: info-level diagnostics of reading: old and new forms that were met, each with its generation
    notes: list[Any] = field(default_factory=list)
    #: the text of another language that the module was imported from, into which offsets lead where `source` is None
    imported_from: Source | None = None
    #: computations whose root waits for its shape, with the shape that their header says and the place where it does
    declared_results: list[tuple[HloComputation, Shape, int, int]] = field(default_factory=list)

    def instructions(self) -> Iterator[HloInstruction]:
        """Yield every instruction of every computation."""
        return itertools.chain.from_iterable([c.instructions for c in self.computations])

    def __getitem__(self, name: str) -> HloComputation:
        """The computation of that name. Raises KeyError."""
        found = next((c for c in self.computations if c.name == name), None)
        if found is None:
            raise KeyError(name)
        return found

    def __iter__(self) -> Iterator[HloComputation]:
        return iter(self.computations)

    def find_all(self, *opcodes: str) -> list[HloInstruction]:
        """Return the instructions of these opcodes in all computations, in the order of the text."""
        return [i for c in self.computations for i in c.find_all(*opcodes)]

    def parents(self) -> dict[HloInstruction, HloComputation]:
        """Return the computation of each instruction."""
        return {i: c for c in self.computations for i in c.instructions}

    @property
    def device_counts(self) -> tuple[int, int]:
        """The numbers of replicas and partitions that the header names; 1 where it names none."""
        return int(self.attributes.get("replica_count", 1)), int(self.attributes.get("num_partitions", 1))

    def callers(self) -> dict[HloComputation, list[HloInstruction]]:
        """Return the instructions that call each computation; none for the entry."""
        found: dict[HloComputation, list[HloInstruction]] = {c: [] for c in self.computations}
        for instruction in self.instructions():
            for called in instruction.called_computations():
                found.setdefault(called, []).append(instruction)
        return found

    def __repr__(self) -> str:
        count = sum(len(c.instructions) for c in self.computations)
        return f"<HloModule {self.name}: {len(self.computations)} computations, {count} instructions>"

    def position(self, item: HloInstruction | HloComputation) -> Position:
        """Return the place of an instruction or computation in the source; line 0 if it was not read from one."""
        source = self.source or self.imported_from
        if source is None or item.offset < 0:
            return Position(0, 0)
        return source.position(item.offset)

    def __str__(self) -> str:
        if not _printer:
            raise RuntimeError("import hlotool.text to print modules")
        return _printer[0](self)

    def _repr_html_(self) -> str | None:
        """Return the HTML that a notebook shows; None, so that it shows repr, while no printer is set."""
        return _html_printer[0](self) if _html_printer else None


#: how str(module) prints, put here by hlotool.text, which lives a floor up: `ir` may not import it, not even late, and
#: str() is where everybody looks for the text of a module, also who was handed one and imported nothing else
_printer: list[Callable[[HloModule], str]] = []


def set_printer(printer: Callable[[HloModule], str]) -> None:
    """Make str(module) print with `printer`."""
    _printer[:] = [printer]


#: how a notebook shows a module, put here like _printer
_html_printer: list[Callable[[HloModule], str]] = []


def set_html_printer(printer: Callable[[HloModule], str], *, is_plain: bool = False) -> None:
    """Make notebooks show modules with `printer`; a plain one only as long as there is no other."""
    if not _html_printer or not is_plain:
        _html_printer[:] = [printer]
