"""Operations as MLIR's generic text, which every reader of MLIR takes.

    %0 = "stablehlo.add"(%arg0, %arg0) <{properties}> {attributes} : (f32, f32) -> f32 loc(#loc1)
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, TypeAlias

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.operations import Block, Operation, Region, SsaValue, walk
from hlotool.mlir.value_text import quoted, value_text

_Work: TypeAlias = Iterator[Any]


def generic_text(operation: Operation, *, locations: bool = True) -> str:
    """Return the text of an operation and all that it holds; locations stand at the end, and are referred to.

    >>> print(generic_text(Operation("x.y", (), [mlir.IndexType()], attributes={"a": mlir.UNIT})), end="")
    %0 = "x.y"() {a} : () -> index loc(unknown)
    """
    printer = _GenericPrinter(locations)
    printer.write(operation)
    return "".join([*printer.out, *printer.aliases, *resources_text(operation)])


class _GenericPrinter:
    """Writes one text. Values are numbered on from those around a region, and anew after it, as MLIR does."""

    def __init__(self, locations: bool) -> None:
        self.out: list[str] = []
        self.aliases: list[str] = []
        self.locations = locations
        self.names: dict[SsaValue, str] = {}
        self.blocks: dict[Block, str] = {}
        self.texts: dict[Any, str] = {}
        self.places: dict[Any, str] = {mlir.UNKNOWN: "unknown"}

    def write(self, outermost: Operation) -> None:
        """Write an operation; what is inside of regions waits on a list, for which Python's stack may be too small."""
        self.name_results(outermost, 0)
        waiting: list[_Work] = [self.operation(outermost, "", len(outermost.results), 0)]
        while waiting:
            inner = next(waiting[-1], None)
            if inner is None:
                waiting.pop()
            else:
                waiting.append(inner)

    def operation(self, operation: Operation, indent: str, values: int, arguments: int) -> _Work:
        self.head(operation, indent)
        for number, region in enumerate(operation.regions):
            self.out.append(", {\n" if number else " ({\n")
            yield self.region(region, indent, values, arguments)
            self.out.append(f"{indent}}}")
        self.tail(operation)

    def region(self, region: Region, indent: str, values: int, arguments: int) -> _Work:
        for number, block in enumerate(region.blocks):
            self.blocks[block] = f"^bb{number}"
            for argument in block.arguments:
                self.names[argument] = f"%arg{arguments}"
                arguments += 1
            for operation in block.operations:
                if operation.results:
                    self.name_results(operation, values)
                    values += 1
        inside = indent + "  "
        for block in region.blocks:
            if block.arguments or len(region.blocks) > 1 or not block.operations:
                written = ", ".join([f"{self.names[a]}: {self.text(a.type)}{self.place(a.location)}"
                                     for a in block.arguments])
                self.out.append(f"{indent}{self.blocks[block]}{f'({written})' if written else ''}:\n")
            for operation in block.operations:
                if operation.regions:
                    yield self.operation(operation, inside, values, arguments)
                else:
                    self.head(operation, inside)
                    self.tail(operation)

    def name_results(self, operation: Operation, number: int) -> None:
        several = len(operation.results) > 1
        for value in operation.results:
            self.names[value] = f"%{number}#{value.number}" if several else f"%{number}"

    def head(self, operation: Operation, indent: str) -> None:
        """Write an operation up to its regions."""
        out, names, results = self.out, self.names, operation.results
        out.append(indent)
        if results:
            first = names[results[0]]
            out.append(f"{first} = " if len(results) == 1 else f"{first.partition('#')[0]}:{len(results)} = ")
        out.append(f"{quoted(operation.name)}({', '.join([names[o] for o in operation.operands])})")
        if operation.successors:
            out.append(f"[{', '.join([self.blocks[b] for b in operation.successors])}]")
        if operation.properties:
            out.append(f" <{self.dictionary(operation.properties)}>")

    def tail(self, operation: Operation) -> None:
        """Write an operation from after its regions on."""
        out, text = self.out, self.text
        if operation.regions:
            out.append(")")
        if operation.attributes:
            out.append(f" {self.dictionary(operation.attributes)}")
        types = mlir.FunctionType(tuple([o.type for o in operation.operands]),
                                  tuple([r.type for r in operation.results]))
        out.append(f" : {text(types)}{self.place(operation.location)}\n")

    def dictionary(self, entries: dict[str, mlir.AnyAttribute]) -> str:
        return self.text(mlir.DictionaryAttribute(tuple(entries.items())))

    def text(self, value: Any) -> str:
        known = self.texts.get(value)
        if known is None:
            known = self.texts[value] = value_text(value, self.alias)
        return known

    def place(self, location: Any) -> str:
        return f" loc({self.alias(location)})" if self.locations else ""

    def alias(self, location: Any) -> str:
        """The name of a location, which the end of the text defines."""
        known = self.places.get(location)
        if known is not None:
            return known
        waiting = [location]
        while waiting:  # those inside of others first
            inner = [p for p in _places(waiting[-1]) if p not in self.places]
            if inner:
                waiting += inner
                continue
            place = waiting.pop()
            if place not in self.places:
                body = value_text(place, self.alias)
                self.places[place] = f"#loc{len(self.places)}"
                self.aliases.append(f"{self.places[place]} = {body}\n")
        return self.places[location]


def _places(location: Any) -> tuple[Any, ...]:
    """The locations that a location holds."""
    match location:
        case mlir.NameLocation():
            return (location.place,)
        case mlir.CallLocation():
            return location.callee, location.caller
        case mlir.FusedLocation():
            return location.places
    return ()


def resources_text(outermost: Operation) -> list[str]:
    """Return the section at the end of a text with the bytes that elements are taken from."""
    found: dict[str, str] = {}
    for operation in walk(outermost):
        for value in (*operation.properties.values(), *operation.attributes.values()):
            if isinstance(value, mlir.DenseResourceAttribute) and value.data is not None:
                head = value.alignment.to_bytes(4, "little")
                found[value.key] = f'      {quoted(value.key)}: "0x{(head + value.data).hex().upper()}"'
    listed = ",\n".join(found.values())
    return [f"\n{{-#\n  dialect_resources: {{\n    builtin: {{\n{listed}\n    }}\n  }}\n#-}}\n"] if found else []
