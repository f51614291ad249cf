"""MLIR in memory: operations with their regions, blocks and values.

These are mutable and compared by identity; types, attributes and locations are values (`builtin_values.py`). Nothing
derived is stored but for a value's owner: uses, parents and orders are computed when asked. A program is its outermost
operation, usually `builtin.module`.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from hlotool.mlir.builtin_values import UNKNOWN, AnyAttribute, AnyType, DenseArrayAttribute, Location


class SsaValue:
    """A result of an operation, or an argument of a block: the owner's value of this number.

    `name` is what the text called it, without "%"; a printer may ignore it. The location is an argument's own; that of
    a result is its operation's.
    """

    __slots__ = ("location", "name", "number", "owner", "type")

    def __init__(self, type: AnyType, owner: Operation | Block, number: int, location: Location = UNKNOWN,
                 name: str = "") -> None:
        self.type = type
        self.owner = owner
        self.number = number
        self.location = location
        self.name = name


class Block:
    """Arguments, and operations of which the last one may name successors."""

    __slots__ = ("arguments", "operations")

    def __init__(self) -> None:
        self.arguments: list[SsaValue] = []
        self.operations: list[Operation] = []

    def add_argument(self, type: AnyType, location: Location = UNKNOWN, name: str = "") -> SsaValue:
        """Append an argument and return it."""
        value = SsaValue(type, self, len(self.arguments), location, name)
        self.arguments.append(value)
        return value


class Region:
    """A list of blocks, of which the first one is the entry."""

    __slots__ = ("blocks",)

    def __init__(self, blocks: Sequence[Block] = ()) -> None:
        self.blocks = list(blocks)


class Operation:
    """One operation by its whole name, such as "stablehlo.add".

    `properties` are the attributes that belong to the operation's definition, printed in `<{...}>`; `attributes` all
    others. `start` is where its source has it: the first character of a text, the first byte of bytecode, or -1.
    """

    __slots__ = ("attributes", "location", "name", "operands", "properties", "regions", "results", "start",
                 "successors")

    def __init__(self, name: str, operands: Sequence[SsaValue] = (), types: Sequence[AnyType] = (), *,
                 properties: dict[str, AnyAttribute] | None = None, attributes: dict[str, AnyAttribute] | None = None,
                 regions: Sequence[Region] = (), successors: Sequence[Block] = (), location: Location = UNKNOWN,
                 start: int = -1) -> None:
        self.name = name
        self.operands = list(operands)
        self.results = [SsaValue(type, self, number) for number, type in enumerate(types)]
        self.properties = {} if properties is None else properties
        self.attributes = {} if attributes is None else attributes
        self.regions = list(regions)
        self.successors = list(successors)
        self.location: Location = location
        self.start = start

    @property
    def dialect(self) -> str:
        """The part of the name before the first dot."""
        return self.name.partition(".")[0]

    def attribute(self, name: str) -> AnyAttribute | None:
        """Return an attribute by its name, be it of the definition or not; None where the operation has none."""
        found = self.properties.get(name)
        return found if found is not None else self.attributes.get(name)


def walk(operation: Operation) -> Iterator[Operation]:
    """Yield an operation and all that its regions hold, each before what it holds itself, in the order of the text."""
    waiting = [iter((operation,))]
    while waiting:
        found = next(waiting[-1], None)
        if found is None:
            waiting.pop()
            continue
        yield found
        if found.regions:
            waiting.append(o for region in found.regions for block in region.blocks for o in block.operations)


def written_names(values: Sequence[SsaValue]) -> list[str]:
    """Return the names of results, or of arguments, as operands write them: several of one name are numbered.

    >>> results = Operation("x.y", types=[None, None]).results
    >>> results[0].name = results[1].name = "a"
    >>> written_names(results)
    ['a#0', 'a#1']
    """
    counts, numbers, found = Counter([v.name for v in values]), Counter[str](), []
    for value in values:
        found.append(f"{value.name}#{numbers[value.name]}" if counts[value.name] > 1 else value.name)
        numbers[value.name] += 1
    return found


def wrong_segments(operation: Operation) -> Iterator[tuple[str, int]]:
    """Yield each attribute that says how many values each group of operands or results has, if their sum is not the
    number of the operands or results, with that number. Source: MLIR, traits AttrSizedOperandSegments and
    AttrSizedResultSegments."""
    for name, values in (("operandSegmentSizes", operation.operands), ("resultSegmentSizes", operation.results)):
        given = operation.attribute(name)
        if isinstance(given, DenseArrayAttribute) and sum(given.values) != len(values):
            yield name, len(values)
