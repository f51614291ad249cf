"""The round trip of one instruction: the operation written for it is lifted back at once, and compared.

    dot(a, b), operand_precision={packed_nibble,default}   ->  stablehlo.dot_general precision = [DEFAULT, DEFAULT]
    lifted back                                            ->  dot(a, b): operand_precision is not carried
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from hlotool.ir import Attributes, HloComputation, HloInstruction, Shape
from hlotool.ops import COMMON_ATTRIBUTES, OPS, Op
from hlotool.stablehlo.attribute_values import AttributeValues
from hlotool.stablehlo.lifts import lift_of
from hlotool.stablehlo.operation_reader import OperationReader
from hlotool.stablehlo.strings import text_of
from hlotool.stablehlo.types import NoType, Types

#: attributes that are the instruction itself, where its operation requires them, and those that stand beside any other
_ITSELF = frozenset(("literal", "parameter_number"))
BESIDE = frozenset(("sharding", "frontend_attributes", *_ITSELF))

#: exceptions of a lift on an operation whose regions are still empty
_MISREADINGS = (KeyError, IndexError, TypeError, ValueError, AttributeError, StopIteration, NoType)


class RoundtripLosses(NamedTuple):
    """Attributes of one instruction that do not come back, and those that come back without being there."""

    lost: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    #: the operation, lifted back, is no instruction of this opcode
    is_other: bool = False
    #: the layouts of the result come back as well
    is_laid_out: bool = False


NOTHING = RoundtripLosses()


def undeclared(record: Op, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Return an instruction's attributes that are lost whatever they say, and those that depend on their values.

    What every instruction may carry has no place in any operation, but for what stands beside it; of the others a
    lowering declares which come back with every value (`carries`).
    """
    configured = "opaque" in record.flags
    common = tuple(n for n in names if n in COMMON_ATTRIBUTES and n not in BESIDE
                   and not (configured and n == "backend_config"))
    beside = BESIDE - {n for n in _ITSELF if (a := record.attribute(n)) is None or not a.is_required}
    return common, tuple(n for n in names if n not in beside and n not in common and n not in record.lowering.carries)


class LiftedBack(OperationReader):
    """A reader of an operation whose regions are still empty: the exporter knows what they will hold."""

    __slots__ = ("_check", "_computations", "_instruction")

    def __init__(self, check: RoundtripCheck, operation: Any, instruction: HloInstruction,
                 computations: Sequence[HloComputation]) -> None:
        super().__init__(operation, operation.name, check.types, check.values)
        self._check = check
        self._instruction = instruction
        self._computations = computations

    def operands(self) -> tuple[HloInstruction, ...]:
        """Return the instruction's own operands where they are as many, else something of their shapes."""
        values, own = list(self._operation.operands), self._instruction.operands
        if len(values) == len(own) and not any(o.shape.is_tuple for o in own):
            return own
        return tuple(HloInstruction("", "parameter", self._types.shape(v.type), (),
                                    Attributes(parameter_number=0)) for v in values)

    def computation(self, region: int, hint: str = "region") -> HloComputation:
        """Return the computation that the region will hold."""
        return self._computations[region]

    def closures(self, regions: Sequence[int], carrying: Sequence[int] = (), hint: str = "region",
                 is_tuple: bool = False) -> tuple[tuple[HloComputation, ...], tuple[HloInstruction, ...]]:
        """Return the computations that the regions will hold; captures are no attributes."""
        return tuple(self._computations[i] for i in regions), ()

    def closure(self, region: int, hint: str = "region") -> tuple[HloComputation, tuple[HloInstruction, ...]]:
        """Return the computation that the region will hold."""
        return self._computations[region], ()

    def called(self, attribute: str = "callee") -> HloComputation:
        """Return the computation whose function is called."""
        return self._check.functions[text_of(self._attributes[attribute])]

    def called_all(self, attribute: str) -> tuple[HloComputation, ...]:
        """Return the computations whose functions are named."""
        found = self._attributes.get(attribute)
        return tuple([self._check.functions[text_of(name)] for name in getattr(found, "members", ())])

    def called_signatures(self, attribute: str) -> tuple[tuple[tuple[Shape, ...], Shape], ...]:
        """Return the shapes of the computations whose functions are named."""
        return tuple((tuple(p.shape for p in c.parameters()), c.root.shape) for c in self.called_all(attribute))

    def mesh(self, name: str) -> None:
        """Return None: exported operations name devices, not meshes."""

    def is_inside(self, operation: str) -> bool:
        """Return False: the operations around this one are not known."""
        return False

    def add(self, opcode: str, shape: Shape, operands: Sequence[HloInstruction] = (),
            attributes: Mapping[str, Any] = {}) -> HloInstruction:
        """Return a new instruction that belongs to no computation."""
        shape = self.without_found_layouts(opcode, shape, operands)
        made = HloInstruction("", opcode, shape, tuple(operands), Attributes(attributes))
        self.added.append(made)
        return made


@dataclass(slots=True)
class RoundtripCheck:
    """The check of one module's operations; `functions` are the computations that are functions so far, by name."""

    types: Types
    values: AttributeValues
    functions: Mapping[str, HloComputation]

    def verdict(self, operation: Any, instruction: HloInstruction, names: Sequence[str],
                computations: Sequence[HloComputation]) -> RoundtripLosses:
        """Return which of the attributes `names` an operation does not carry.

        `computations` are those that its regions will hold.
        """
        record = OPS[instruction.opcode]
        made = self._lifted(operation, instruction, computations)
        if made is None:
            return RoundtripLosses(tuple(names), is_other=True)
        given = instruction.attributes
        same = _synonyms(made, instruction)
        lost = tuple(n for n in names if n not in same and (n not in made.attributes or made.attributes[n] != given[n]))
        added = tuple(n for n, value in made.attributes.items()
                      if n not in given and n not in BESIDE and n not in same and not _is_default(record, n, value))
        return RoundtripLosses(lost, added, is_laid_out=made.shape == instruction.shape)

    def shape_back(self, operation: Any, instruction: HloInstruction, computations: Sequence[HloComputation]
                   ) -> Shape | None:
        """Return the shape with which an instruction comes back from its operation; None if as another opcode."""
        made = self._lifted(operation, instruction, computations)
        return None if made is None else made.shape

    def _lifted(self, operation: Any, instruction: HloInstruction, computations: Sequence[HloComputation]
                ) -> HloInstruction | None:
        """Return the instruction that a lift makes of the operation; None if its opcode is another."""
        lift = lift_of(operation, operation.name)
        if lift is None:
            return None
        reader = LiftedBack(self, operation, instruction, computations)
        try:
            lift(reader)
        except _MISREADINGS:
            return None
        return next((made for made in reader.added if made.opcode == instruction.opcode), None)


def _synonyms(made: HloInstruction, instruction: HloInstruction) -> tuple[str, ...]:
    """Return two names of one attribute: `to_apply` of a custom call is its one called computation."""
    one = instruction.attributes.get("to_apply")
    if instruction.opcode == "custom-call" and one is not None and made.attributes.get("called_computations") == (one,):
        return "to_apply", "called_computations"
    return ()


def _is_default(record: Op, name: str, value: Any) -> bool:
    known = record.attribute(name)
    return known is not None and value == known.default
