"""One conformance case: a program, what it is given, and what must come of it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, TypeAlias

from hlotool.ir.arrays import Array

#: leaves of arguments or results, tuples flattened, of every device in replica-major order: device, then leaf
PerDevice: TypeAlias = tuple[tuple[Array, ...], ...]


@dataclass(frozen=True, eq=False)
class ConformanceCase:
    """A program with its arguments and the values, or the diagnostics, that a conforming implementation gives."""

    #: unique within the suite, without spaces: add/f32/nan
    id: str
    #: ops, spec, models, or the folder of a user's file
    suite: str
    #: the operation that is looked at; empty for whole models
    opcode: str
    #: its element type: that of its first array operand, or of its result where it has none
    dtype: str
    #: the HLO text
    text: str
    #: one row of flat leaves for each device; empty where the program takes none
    arguments: PerDevice = ()
    #: rows as those of the arguments; None stands for the values that the reference gives
    expected: PerDevice | None = None
    #: a bad case: the codes of all errors that must be reported, in their order, separated by spaces
    expected_code: str | None = None
    replicas: int = 1
    partitions: int = 1
    #: what is special about it: nan, empty, clamped, random, ...
    edge: str = ""
    #: where it comes from: a file and line, or a section of a document
    source: str = ""
    #: what the host hands to infeeds, one row of arrays for each device
    infeed: PerDevice = ()
    #: the kind of arguments to be made, for a whole module that states none; see hlotool/execution/arguments.py
    inputs: str = ""
    #: values are not determined (drawn at random): element types and dimensions are compared, nothing else
    only_shapes: bool = False

    @property
    def name(self) -> str:
        """The suite and the id: unique in a run."""
        return f"{self.suite}/{self.id}"

    @property
    def is_bad(self) -> bool:
        """Return True if the program is to be refused."""
        return self.expected_code is not None

    @property
    def devices(self) -> int:
        return self.replicas * self.partitions

    def rows(self) -> PerDevice:
        """The arguments of each device: an empty row where nothing is given."""
        return self.arguments or ((),) * self.devices

    def renamed(self, **changes: Any) -> ConformanceCase:
        """A copy with other fields."""
        return replace(self, **changes)
