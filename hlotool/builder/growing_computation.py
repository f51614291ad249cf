"""Computations in the making, and what stands around the calls that fill them."""

from __future__ import annotations

from typing import Any

from hlotool.builder.call_places import Place
from hlotool.builder.codes import NO_ATTRIBUTE
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import attribute_value, metadata_of
from hlotool.ir import (
    FrontendAttributes,
    HloComputation,
    HloInstruction,
    Layout,
    Metadata,
    Shape,
    Sharding,
    sanitized_name,
    unique_name,
)

#: the order of metadata's fields; others follow
_FIELDS = ("op_type", "op_name", "source_file", "source_line")


class Body:
    """A computation in the making."""

    def __init__(self, name: str, is_entry: bool = False) -> None:
        self.computation = HloComputation(name)
        self.is_entry = is_entry
        self.names: set[str] = set()
        self.parameters: dict[int, HloInstruction] = {}
        self.root: HloInstruction | None = None
        #: what made the token of the last transfer, and the token's place in it; None for what is a token itself
        self.last_transfer: tuple[HloInstruction, int | None] | None = None
        #: what stands around calls: sharding, frontend attributes, fields of metadata
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

    def surround(self, instruction: HloInstruction) -> None:
        """Add what the contexts around the call say."""
        added: dict[str, Any] = {}
        if self.sharding is not None and "sharding" not in instruction.attributes:
            fitting = _fitting(self.sharding, instruction.shape)
            if fitting is not None:
                added["sharding"] = fitting
        if self.frontend:
            added["frontend_attributes"] = joined(attribute_value("frontend_attributes", self.frontend),
                                                  instruction.attributes.get("frontend_attributes"))
        if added:
            instruction.attributes = instruction.attributes | added

    def metadata_for(self, opcode: str, place: Place | None) -> Metadata | None:
        """The metadata of an instruction that is built at a place; None for `place` where places are not kept."""
        fields: dict[str, Any] = {}
        if place is not None:
            fields = {"op_name": "/".join([*self.scope, opcode]), "source_file": place.filename,
                      "source_line": place.line}
        fields |= self.metadata
        if not fields:
            return None
        order = {name: number for number, name in enumerate(_FIELDS)}
        return metadata_of({k: fields[k] for k in sorted(fields, key=lambda k: order.get(k, len(order)))})


def laid_out(shape: Shape) -> Shape:
    """The shape with the default layout wherever it has none."""
    if shape.is_tuple:
        return Shape.tuple(*map(laid_out, shape.elements))
    if not shape.rank or shape.layout is not None:
        return shape
    return shape.with_layout(Layout.descending(shape.rank))


def joined(first: FrontendAttributes | None, second: FrontendAttributes | None) -> FrontendAttributes:
    """The entries of both; of one name those of the second. What a composite is called stays as its call says."""
    found: dict[str, str] = {}
    for given in (first, second):
        for name, value in given.entries if given is not None else ():
            if not (name in found and name.startswith("composite.")):
                found[name] = value
    return FrontendAttributes(tuple(found.items()))


def with_sharding(value: Any, sharding: Sharding | None) -> Any:
    """The result of a call; refused where it cannot have the sharding that was set. What it is built of may not."""
    if sharding is None or not isinstance(value, XlaOp) or not value.is_valid or value.shape.is_token:
        return value
    demand("sharding" in value.instruction.attributes, NO_ATTRIBUTE,
           f"the sharding that is set does not fit {value.name}, which is {value.shape.text(False)}",
           "sharding= of the call, or a `with` around fewer calls, says it for those that it fits")
    return value


def _fitting(sharding: Sharding, shape: Shape) -> Sharding | None:
    """The sharding for a shape: repeated for the leaves of a tuple; None where its tiles do not fit."""
    if shape.is_tuple and sharding.kind != "tuple":
        rows = [_fitting(sharding, leaf) for _, leaf in shape.leaves()]
        return Sharding("tuple", elements=tuple(r for r in rows if r is not None)) if None not in rows else None
    if sharding.kind == "tiled":
        rank = len(sharding.tile_dims) - sharding.last_tile_dim_replicate - len(sharding.last_tile_dims)
        return sharding if shape.is_array and shape.rank == rank else None
    return sharding
