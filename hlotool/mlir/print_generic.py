"""Operations as MLIR's generic text, which every reader of MLIR takes.

    %0 = "stablehlo.add"(%arg0, %arg0) <{properties}> {attributes} : (f32, f32) -> f32 loc(#loc1)
"""

from __future__ import annotations

from hlotool.mlir.operations import Operation, Region
from hlotool.mlir.text_printer import TextPrinter, Work


def generic_text(operation: Operation, *, locations: bool = True, elide_above: int | None = None) -> str:
    """Return the text of an operation and all that it holds; locations stand at the end, and are referred to.

    Constants of more than `elide_above` elements are left out.

    >>> from hlotool import mlir
    >>> print(generic_text(Operation("x.y", (), [mlir.IndexType()], attributes={"a": mlir.UNIT})), end="")
    %0 = "x.y"() {a} : () -> index loc(unknown)
    """
    printer = _GenericPrinter(locations, elide_above)
    printer.name_results(operation, 0)
    return printer.written(printer.operation(operation, "", len(operation.results), 0), operation)


class _GenericPrinter(TextPrinter):
    """Writes one text. Values are numbered on from those around a region, and anew after it, as MLIR does."""

    def operation(self, operation: Operation, indent: str, values: int, arguments: int) -> Work:
        self.head(operation, indent)
        for number, region in enumerate(operation.regions):
            self.out.append(", {\n" if number else " ({\n")
            yield self.region(region, indent, values, arguments)
            self.out.append(f"{indent}}}")
        self.tail(operation)

    def region(self, region: Region, indent: str, values: int, arguments: int) -> Work:
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
                written = self.arguments(block)
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
        out, results = self.out, operation.results
        out.append(indent)
        if results:
            first = self.names[results[0]]
            out.append(f"{first} = " if len(results) == 1 else f"{first.partition('#')[0]}:{len(results)} = ")
        self.begin_generic(operation)

    def tail(self, operation: Operation) -> None:
        """Write an operation from after its regions on."""
        self.end_generic(operation)
        self.out.append(f"{self.place(operation.location)}\n")
