"""Computations in the making, and the contexts around the calls that fill them."""

from __future__ import annotations

from typing import Any

from hlotool.builder.call_places import CallPlace
from hlotool.ir import (
    FrontendAttributes,
    HloComputation,
    HloInstruction,
    Layout,
    Shape,
    Sharding,
    sanitized_name,
    unique_name,
)

#: the order of metadata's fields; others follow
_FIELDS = ("op_type", "op_name", "source_file", "source_line")


class GrowingBody:
    """A computation in the making."""

    def __init__(self, name: str, is_entry: bool = False) -> None:
        self.computation = HloComputation(name)
        self.is_entry = is_entry
        self.names: set[str] = set()
        self.parameters: dict[int, HloInstruction] = {}
        self.root: HloInstruction | None = None
        #: the instruction with the token of the last transfer, and the token's index in it; None for a token itself
        self.last_transfer: tuple[HloInstruction, int | None] | None = None
        #: contexts around calls: sharding, frontend attributes, fields of metadata
        self.sharding: Sharding | None = None
        self.frontend: dict[str, Any] = {}
        self.metadata: dict[str, Any] = {}
        self.scope: list[str] = []

    @property
    def instructions(self) -> list[HloInstruction]:
        return self.computation.instructions

    def add(self, instruction: HloInstruction) -> None:
        """Append an instruction, under a name that is free."""
        instruction.name = unique_name(instruction.name, self.names)
        self.names.add(instruction.name)
        self.instructions.append(instruction)

    def rename(self, instruction: HloInstruction, name: str) -> None:
        """Give an instruction a name, or one like it that is free."""
        if instruction.name == name:
            return
        self.names.discard(instruction.name)
        instruction.name = unique_name(sanitized_name(name), self.names)
        self.names.add(instruction.name)

    def cut(self, length: int, last_transfer: Any = None) -> None:
        """Take back the instructions that a refused call has left, and its place in the order of transfers."""
        self.last_transfer = last_transfer
        for instruction in self.instructions[length:]:
            self.names.discard(instruction.name)
            if instruction.opcode == "parameter":
                self.parameters.pop(instruction.parameter_number, None)
        del self.instructions[length:]

    def surround(self, instruction: HloInstruction, frontend: FrontendAttributes | None) -> None:
        """Add the sharding and the frontend attributes of the contexts around the call."""
        added: dict[str, Any] = {}
        if self.sharding is not None and "sharding" not in instruction.attributes:
            fitting = _fitting(self.sharding, instruction.shape)
            if fitting is not None:
                added["sharding"] = fitting
        if frontend is not None:
            added["frontend_attributes"] = joined(frontend, instruction.attributes.get("frontend_attributes"))
        if added:
            instruction.attributes = instruction.attributes | added

    def metadata_for(self, opcode: str, place: CallPlace | None) -> dict[str, Any]:
        """Return the metadata of an instruction built at a place, by field; None for `place` where none is kept."""
        fields: dict[str, Any] = {}
        if place is not None:
            fields = {"op_name": "/".join([*self.scope, opcode]), "source_file": place.filename,
                      "source_line": place.line}
        fields |= self.metadata
        order = {name: number for number, name in enumerate(_FIELDS)}
        return {k: fields[k] for k in sorted(fields, key=lambda k: order.get(k, len(order)))}


def laid_out(shape: Shape) -> Shape:
    """Return the shape with the default layout wherever it has none."""
    if shape.is_tuple:
        return Shape.tuple(*map(laid_out, shape.elements))
    if not shape.rank or shape.layout is not None:
        return shape
    return shape.with_layout(Layout.descending(shape.rank))


def joined(first: FrontendAttributes | None, second: FrontendAttributes | None) -> FrontendAttributes:
    """Return the entries of both; of one name those of the second, but a composite keeps the name of its call."""
    found: dict[str, str] = {}
    for given in (first, second):
        for name, value in given.entries if given is not None else ():
            if not (name in found and name.startswith("composite.")):
                found[name] = value
    return FrontendAttributes(tuple(found.items()))


def _fitting(sharding: Sharding, shape: Shape) -> Sharding | None:
    """Return the sharding for a shape: repeated for the leaves of a tuple; None where its tiles do not fit."""
    if shape.is_tuple and sharding.kind != "tuple":
        rows = [_fitting(sharding, leaf) for _, leaf in shape.leaves()]
        return Sharding("tuple", elements=tuple(r for r in rows if r is not None)) if None not in rows else None
    if sharding.kind == "tiled":
        rank = len(sharding.tile_dims) - sharding.last_tile_dim_replicate - len(sharding.last_tile_dims)
        return sharding if shape.is_array and shape.rank == rank else None
    return sharding
