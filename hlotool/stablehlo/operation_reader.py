"""The attributes and regions of one StableHLO operation, as a lowering's `lift` reads them.

The Reader protocol of hlotool.ops.lowering asks for more: operands, computations and new instructions, which depend on
what the operation is read for. The importer and the check of what comes back derive their readers from this one.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Sequence
from typing import Any, NoReturn

from hlotool import mlir
from hlotool.ir import HloInstruction, Literal, Shape
from hlotool.mlir import value_text
from hlotool.ops import OPS
from hlotool.ops.lowering import shortest
from hlotool.stablehlo.attribute_values import AttributeValues
from hlotool.stablehlo.dense_elements import literal_of
from hlotool.stablehlo.module_attributes import read_sharding_attribute
from hlotool.stablehlo.strings import joined, text_of
from hlotool.stablehlo.types import Types


class OperationReader:
    """A reader of one operation; a bug of a lowering's `lift` shows as an exception of this class's methods."""

    __slots__ = ("_attributes", "_operation", "_types", "_values", "added",
                 "has_read_regions", "name")

    def __init__(self, operation: mlir.Operation, name: str, types: Types, values: AttributeValues) -> None:
        self.name = name
        self._types = types
        self._values = values
        self._operation = operation
        self._attributes = joined(operation)
        self.added: list[HloInstruction] = []
        #: a lift has asked for the regions
        self.has_read_regions = False

    def shape(self) -> Shape:
        """Return the result's shape; a tuple of shapes for several results, or for none."""
        found = [self._types.shape(r.type) for r in self._operation.results]
        return Shape.one_or_tuple(found)

    @staticmethod
    def without_found_layouts(opcode: str, shape: Shape, operands: Sequence[HloInstruction]) -> Shape:
        """Return the shape of a new instruction: layouts that its operands got back are theirs, not its own.

        A call whose callee sees layouts names its own.
        """
        if "opaque" in OPS[opcode].flags or all(o.shape.without_layout() == o.shape for o in operands):
            return shape
        return shape.without_layout()

    def refuse(self, reason: str) -> NoReturn:
        """Raise ValueError: the operation cannot be read, and why."""
        raise ValueError(reason)

    # Attributes.

    def has(self, attribute: str) -> builtins.bool:
        """Return True if the operation has the attribute."""
        return attribute in self._attributes

    def attributes(self) -> tuple[str, ...]:
        """Return the names of all attributes."""
        return tuple(self._attributes)

    def _get(self, attribute: str) -> Any:
        return self._attributes.get(attribute)

    def ints(self, attribute: str, default: tuple[builtins.int, ...] = ()) -> tuple[builtins.int, ...]:
        """Return an array or tensor of integers, in row-major order."""
        found = self._get(attribute)
        return default if found is None else self._values.integers(found)

    def int(self, attribute: str, default: builtins.int = 0) -> builtins.int:
        """Return an integer."""
        found = self.ints(attribute)
        return found[0] if found else default

    def float(self, attribute: str, default: builtins.float = 0.0) -> builtins.float:
        """Return a floating-point number."""
        found = self._get(attribute)
        if found is None:
            return default
        # 0.001 in 32 bits is 0.0010000000474974513 in 64; HLO's text has the shortest number that means it.
        value = float(self._values.read(found))
        return shortest(value) if found.type == mlir.FloatType("f32") else value

    def bool(self, attribute: str, default: builtins.bool = False) -> builtins.bool:
        """Return a truth value."""
        found = self._get(attribute)
        return default if found is None else True if found is mlir.UNIT else bool(self._values.read(found))

    def string(self, attribute: str, default: str = "") -> str:
        """Return the contents of a string."""
        found = self._get(attribute)
        return default if found is None else text_of(found)

    def word(self, attribute: str, default: str = "") -> str:
        """Return the value of an enum attribute."""
        found = self.value(attribute)
        return default if found is None else str(found)

    def text(self, attribute: str, default: str = "") -> str:
        """Return the attribute as MLIR prints it."""
        found = self._get(attribute)
        return default if found is None else value_text(found)

    def value(self, attribute: str, default: Any = None) -> Any:
        """Return the attribute as plain values; see hlotool.stablehlo.attribute_values."""
        found = self._get(attribute)
        return default if found is None else self._values.read(found)

    def sharding(self, attribute: str) -> Any:
        """Return the sharding that a string holds, as HLO's text or as the bytes of an OpSharding."""
        return read_sharding_attribute(attribute, self._attributes[attribute])

    def struct(self, attribute: str) -> dict[str, Any]:
        """Return the fields of a struct attribute by name; none where it is missing or of another kind."""
        found = self.value(attribute)
        return found if isinstance(found, dict) else {}

    def entry_types(self, attribute: str) -> dict[str, str]:
        """Return the spelled MLIR types of the entries of a dictionary that have one."""
        found = self._get(attribute)
        entries = found.entries if isinstance(found, mlir.DictionaryAttribute) else ()
        types = {name: getattr(value, "type", None) for name, value in entries}
        return {name: value_text(type_) for name, type_ in types.items() if type_ is not None}

    def literal(self, attribute: str, most_repeated: builtins.int | None = None) -> tuple[Shape, Literal]:
        """Return the shape of a dense elements attribute, and its elements; one where it repeats more often than that.

        Arrays are made when they are asked for.
        """
        found = self._attributes[attribute]
        if isinstance(found, mlir.DenseResourceAttribute):
            self.refuse(f"{attribute} is {value_text(found).split(' :')[0]}: values that stand elsewhere, or are left "
                        "out")
        if not isinstance(found, mlir.DenseAttribute):
            self.refuse(f"the values of {attribute} cannot be read")
        shape = self._types.shape(found.type)
        return shape, literal_of(found, shape, most_repeated)

    def once(self, attribute: str, make: Callable[[], Any]) -> Any:
        """Return what `make` reads of an attribute."""
        return make()

    # Regions.

    def region_count(self) -> builtins.int:
        """Return the number of regions of the operation."""
        self.has_read_regions = True
        return len(self._operation.regions)

    def region_operations(self, region: builtins.int) -> tuple[str, ...]:
        """Return the names of the operations in a region, without the terminator."""
        return tuple([operation.name for block in self._operation.regions[region].blocks
                      for operation in block.operations])[:-1]
