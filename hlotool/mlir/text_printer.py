"""Prints MLIR's text: what every form has in common, names, types, and locations by their aliases."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.operations import Block, Operation, SsaValue, walk
from hlotool.mlir.print_values import quoted, value_text

#: the printing of an operation or a region, which yields that of each region or operation inside of it
Work: TypeAlias = Iterator[Any]


class TextPrinter:
    """Writes one text. Who derives from it names the values and writes the operations."""

    def __init__(self, locations: bool, elide_above: int | None) -> None:
        self.out: list[str] = []
        self.aliases: list[str] = []
        self.locations = locations
        self._elide_above = elide_above
        self.names: dict[SsaValue, str] = {}
        self.blocks: dict[Block, str] = {}
        self._texts: dict[Any, str] = {}
        self._places: dict[Any, str] = {mlir.UNKNOWN: "unknown"}

    def written(self, work: Work, outermost: Operation) -> str:
        """Return the text; what is inside of regions waits on a list, for which Python's stack may be too small."""
        waiting = [work]
        while waiting:
            inner = next(waiting[-1], None)
            if inner is None:
                waiting.pop()
            else:
                waiting.append(inner)
        return "".join([*self.out, *self.aliases, *_resources(outermost)])

    def begin_generic(self, operation: Operation) -> None:
        """Write the generic form of an operation up to its regions, without its results."""
        out, names = self.out, self.names
        out.append(f"{quoted(operation.name)}({', '.join([names[o] for o in operation.operands])})")
        if operation.successors:
            out.append(f"[{', '.join([self.blocks[b] for b in operation.successors])}]")
        if operation.properties:
            out.append(f" <{self.dictionary(operation.properties)}>")

    def end_generic(self, operation: Operation) -> None:
        """Write the generic form of an operation from after its regions on, without its location."""
        if operation.regions:
            self.out.append(")")
        if operation.attributes:
            self.out.append(f" {self.dictionary(operation.attributes)}")
        self.out.append(f" : {self.text(type_of(operation))}")

    def arguments(self, block: Block) -> str:
        """Return a block's arguments with their types."""
        return ", ".join([f"{self.names[a]}: {self.text(a.type)}{self.place(a.location)}" for a in block.arguments])

    def dictionary(self, entries: dict[str, mlir.AnyAttribute]) -> str:
        """Return the text of attributes by their names."""
        return self.text(mlir.DictionaryAttribute(tuple(entries.items())))

    def text(self, value: Any) -> str:
        """Return the text of a type or an attribute."""
        known = self._texts.get(value)
        if known is None:
            known = self._texts[value] = value_text(value, self.alias, self._elide_above)
        return known

    def place(self, location: Any) -> str:
        """Return a location as it stands behind what has it; empty where none are wanted."""
        return f" loc({self.alias(location)})" if self.locations else ""

    def alias(self, location: Any) -> str:
        """Return the name of a location, which the end of the text defines."""
        known = self._places.get(location)
        if known is not None:
            return known
        waiting = [location]
        while waiting:  # those inside of others first
            inner = [p for p in mlir.inner_places(waiting[-1]) if p not in self._places]
            if inner:
                waiting += reversed(inner)
                continue
            place = waiting.pop()
            if place not in self._places:
                body = value_text(place, self.alias)
                self._places[place] = f"#loc{len(self._places)}"
                self.aliases.append(f"{self._places[place]} = {body}\n")
        return self._places[location]


def type_of(operation: Operation) -> mlir.FunctionType:
    """Return the types of operands and results as a function's."""
    return mlir.FunctionType(tuple([o.type for o in operation.operands]), tuple([r.type for r in operation.results]))


def _resources(outermost: Operation) -> list[str]:
    """Return the section at the end of a text that has the bytes that elements are taken from."""
    found: dict[str, str] = {}
    for operation in walk(outermost):
        for value in (*operation.properties.values(), *operation.attributes.values()):
            if isinstance(value, mlir.DenseResourceAttribute) and value.data is not None:
                head = value.alignment.to_bytes(4, "little")
                found[value.key] = f'      {quoted(value.key)}: "0x{(head + value.data).hex().upper()}"'
    listed = ",\n".join(found.values())
    return [f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{listed}\n    }}\n  }}\n#-}}\n"] if found else []
