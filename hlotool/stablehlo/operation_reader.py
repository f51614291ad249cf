"""One StableHLO operation as its lowering's `lift` sees it: the Reader protocol of hlotool.ops.lowering."""

from __future__ import annotations

import builtins
import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NoReturn

from hlotool.ir import HloComputation, HloInstruction, Shape
from hlotool.ir.arrays import np
from hlotool.ops.lowering import shortest
from hlotool.stablehlo.dense_elements import read_dense
from hlotool.stablehlo.expansion import KEPT
from hlotool.stablehlo.module_attributes import read_sharding_attribute
from hlotool.stablehlo.strings import text_of

if TYPE_CHECKING:
    from hlotool.stablehlo.importer import Importer, Scope


class OperationReader:
    """The Reader of one operation; a bug of a lowering's `lift` shows as an exception of this class's methods."""

    __slots__ = ("_attributes", "_operation", "added", "importer", "name", "scope")

    def __init__(self, importer: Importer, scope: Scope, operation: Any, name: str) -> None:
        self.importer = importer
        self.scope = scope
        self.name = name
        self._operation = operation
        self._attributes = operation.attributes
        self.added: list[HloInstruction] = []

    def operands(self) -> tuple[HloInstruction, ...]:
        """What the operands became."""
        return tuple([self.importer.resolve(self.scope, value) for value in self._operation.operands])

    def shape(self) -> Shape:
        """The result's shape; a tuple of shapes for several results, or for none."""
        return self.importer.result_shape(self._operation)

    # Attributes.

    def has(self, attribute: str) -> builtins.bool:
        """Whether the operation has the attribute."""
        return attribute in self._attributes

    def attributes(self) -> tuple[str, ...]:
        """The names of all attributes."""
        # Iteration gives names, or in older bindings pairs.
        return tuple(n if isinstance(n, str) else n.name for n in self._attributes)

    def _get(self, attribute: str) -> Any:
        return self._attributes.get(attribute)

    def ints(self, attribute: str, default: tuple[builtins.int, ...] = ()) -> tuple[builtins.int, ...]:
        """An array or tensor of integers, in row-major order."""
        found = self._get(attribute)
        return default if found is None else self.importer.values.integers(found)

    def int(self, attribute: str, default: builtins.int = 0) -> builtins.int:
        """An integer."""
        found = self.ints(attribute)
        return found[0] if found else default

    def float(self, attribute: str, default: builtins.float = 0.0) -> builtins.float:
        """A floating-point number."""
        found = self._get(attribute)
        if found is None:
            return default
        # 0.001 in 32 bits is 0.0010000000474974513 in 64; HLO's text has the shortest number that means it.
        value = float(found.value)
        return shortest(value) if str(found.type) == "f32" else value

    def bool(self, attribute: str, default: builtins.bool = False) -> builtins.bool:
        """A truth value."""
        found = self._get(attribute)
        return default if found is None else bool(found.value) if hasattr(found, "value") else True

    def string(self, attribute: str, default: str = "") -> str:
        """The contents of a string."""
        found = self._get(attribute)
        return default if found is None else text_of(found)

    def word(self, attribute: str, default: str = "") -> str:
        """The value of an enum attribute."""
        found = self.value(attribute)
        return default if found is None else str(found)

    def text(self, attribute: str, default: str = "") -> str:
        """The attribute as MLIR prints it."""
        found = self._get(attribute)
        return default if found is None else str(found)

    def value(self, attribute: str, default: Any = None) -> Any:
        """What the attribute holds, as plain values; see hlotool.stablehlo.attribute_values."""
        found = self._get(attribute)
        return default if found is None else self.importer.values.read(found)

    def sharding(self, attribute: str) -> Any:
        """The sharding that a string holds, as HLO's text or as the bytes of an OpSharding."""
        return read_sharding_attribute(attribute, self._attributes[attribute])

    def struct(self, attribute: str) -> dict[str, Any]:
        """The fields of a struct attribute by name; none where it is missing or of another kind."""
        found = self.value(attribute)
        return found if isinstance(found, dict) else {}

    def entry_types(self, attribute: str) -> dict[str, str]:
        """The spelled MLIR types of the entries of a dictionary that have one."""
        entries = self._get(attribute) if self.struct(attribute) else ()
        return {entry.name: str(entry.attr.type) for entry in entries if hasattr(entry.attr, "type")}

    def array(self, attribute: str) -> Any:
        """A dense elements attribute as a NumPy array; one that repeats a number as a view of that number."""
        try:
            found = self._attributes[attribute]
            shape = self.importer.types.shape(found.type)
            if str(found).startswith("dense_resource<"):
                self.refuse(f"{attribute} is {str(found).split(' :')[0]}: values that stand elsewhere, or are left out")
            if getattr(found, "is_splat", False):
                # One number takes no room, however large the array is.
                return read_dense(str(found), shape)
            return np.array(found).reshape(shape.dims).astype(shape.dtype.numpy, copy=False)
        except TypeError:
            # The bindings know neither complex numbers nor the smallest types.
            return self._array_from_text(attribute)

    def once(self, attribute: str, make: Callable[[], Any]) -> Any:
        """What `make` reads of an attribute, read once for all operations that have the same one and such a result."""
        try:
            key = self._get(attribute), self.shape()
        except TypeError:
            return make()  # of complex numbers: the bindings do not even give the attribute
        found = self.importer.once.get(key)
        if found is None:
            found = self.importer.once[key] = make()
        return found

    def _array_from_text(self, attribute: str) -> Any:
        text = self._operation.get_asm(print_generic_op_form=True)
        start = re.search(rf"\b{attribute} = dense<", text)
        if start is None:
            self.refuse(f"the values of {attribute} cannot be read")
        body = text[start.end() - len("dense<"):]
        value = body[:_attribute_end(body)]
        return read_dense(value, self.importer.types.parsed(value[value.rindex(" : tensor<") + 3:]))

    # Regions and functions.

    def computation(self, region: builtins.int, hint: str = "region") -> HloComputation:
        """The region as a computation with a parameter for each of its arguments."""
        return self.importer.region(self, self._operation.regions[region], hint)

    def closure(self, region: builtins.int, hint: str = "region") -> tuple[HloComputation, tuple[HloInstruction, ...]]:
        """The region as a computation of one parameter: arguments, then captures; several are a tuple."""
        (computation,), captured = self.closures((region,), (), hint)
        return computation, captured

    def closures(self, regions: Sequence[builtins.int], carrying: Sequence[builtins.int] = (), hint: str = "region",
                 is_tuple: builtins.bool = False) -> tuple[tuple[HloComputation, ...], tuple[HloInstruction, ...]]:
        """Several regions as computations of one and the same parameter, a tuple unless it is one value."""
        return self.importer.closures(self, [self._operation.regions[i] for i in regions],
                                      [i in carrying for i in regions], hint, is_tuple)

    def called(self, attribute: str = "callee") -> HloComputation:
        """The function that a symbol attribute names, as a computation."""
        return self.importer.function(self, str(self._get(attribute).value))

    def called_all(self, attribute: str) -> tuple[HloComputation, ...]:
        """The functions that an array of symbols names."""
        return tuple(self.importer.function(self, str(symbol.value)) for symbol in self._get(attribute) or ())

    def called_signatures(self, attribute: str) -> tuple[tuple[tuple[Shape, ...], Shape], ...]:
        """The parameters' shapes and the result's of each function that an array of symbols names."""
        return tuple(self.importer.signature(self, str(symbol.value)) for symbol in self._get(attribute) or ())

    def mesh(self, name: str) -> Any:
        """What the module's mesh of that name holds, None where it has none."""
        return self.importer.mesh(name)

    def is_inside(self, operation: str) -> builtins.bool:
        """Whether the operation stands in a region of one of that name, however deep."""
        around = self._operation.parent
        while around is not None and around.name != operation:
            around = around.parent
        return around is not None

    def region_count(self) -> builtins.int:
        """How many regions the operation has."""
        return len(self._operation.regions)

    def region_operations(self, region: builtins.int) -> tuple[str, ...]:
        """The names of the operations in a region, that which ends it left out."""
        return tuple(view.operation.name for block in self._operation.regions[region].blocks
                     for view in block.operations)[:-1]

    # Writing.

    def add(self, opcode: str, shape: Shape, operands: Sequence[HloInstruction] = (),
            attributes: Mapping[str, Any] = {}) -> HloInstruction:
        """Append an instruction; it gets its name when the operation is done."""
        instruction = self.importer.append(self.scope, opcode, shape, operands, attributes)
        self.added.append(instruction)
        return instruction

    def refuse(self, reason: str) -> NoReturn:
        """Report that this operation cannot be imported, and why."""
        target = self.string("call_target_name")
        name = target.removeprefix(KEPT) if target.startswith(KEPT) else self.name
        self.importer.refuse(self._operation, f"{name} cannot be imported: {reason}")


def _attribute_end(text: str) -> int:
    """Where a `dense<...> : tensor<...>` at the start of a text ends; the type may nest (complex<f32>)."""
    close = text.index('">', len('dense<"')) + 1 if text.startswith('dense<"') else text.index(">")
    depth = 0
    for end in range(text.index("tensor<", close), len(text)):
        depth += (text[end] == "<") - (text[end] == ">")
        if text[end] == ">" and depth == 0:
            return end + 1
    return len(text)
