"""What an operation says of the instruction that it was just written for: lifted back at once, and compared.

    dot(a, b), operand_precision={packed_nibble,default}   ->  stablehlo.dot_general precision = [DEFAULT, DEFAULT]
    lifted back                                            ->  dot(a, b): operand_precision is not carried
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

from hlotool.ir import Attributes, HloComputation, HloInstruction, Shape
from hlotool.ops import COMMON_ATTRIBUTES, OPS, Op
from hlotool.stablehlo.lifts import lift_of
from hlotool.stablehlo.operation_reader import OperationReader
from hlotool.stablehlo.types import NoType

if TYPE_CHECKING:
    from hlotool.stablehlo.exporter import Exporter

#: attributes that are the instruction itself, where its operation requires them, and those that stand beside any other
_ITSELF = frozenset(("literal", "parameter_number"))
BESIDE = frozenset(("sharding", "frontend_attributes", *_ITSELF))

#: what a lift may raise on an operation whose regions are still empty
_MISREADINGS = (KeyError, IndexError, TypeError, ValueError, AttributeError, StopIteration, NoType)


class Verdict(NamedTuple):
    """What does not come back of one instruction, and what would come back that it does not have."""

    lost: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    #: the operation, lifted back, is no instruction of this opcode
    is_other: bool = False
    #: the layouts of the result come back as well
    is_laid_out: bool = False


NOTHING = Verdict()


def undeclared(record: Op, names: Sequence[str]) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Of an instruction's attributes: those that are lost whatever they say, and those that have to be looked at.

    What every instruction may carry has no place in any operation, but for what stands beside it; of the others a
    lowering declares which come back with every value (`carries`).
    """
    configured = "opaque" in record.flags
    common = tuple(n for n in names if n in COMMON_ATTRIBUTES and n not in BESIDE
                   and not (configured and n == "backend_config"))
    beside = BESIDE - {n for n in _ITSELF if (a := record.attribute(n)) is None or not a.is_required}
    return common, tuple(n for n in names if n not in beside and n not in common and n not in record.lowering.carries)


class LiftedBack(OperationReader):
    """Reads an operation whose regions are still empty: the exporter knows what they will hold."""

    __slots__ = ("_computations", "_exporter", "_instruction")

    def __init__(self, exporter: Exporter, operation: Any, instruction: HloInstruction,
                 computations: Sequence[HloComputation]) -> None:
        super().__init__(exporter, None, operation, operation.name)  # type: ignore[arg-type]  # for its types and values alone
        self._exporter = exporter
        self._instruction = instruction
        self._computations = computations

    def operands(self) -> tuple[HloInstruction, ...]:
        """The instruction's own operands where they are as many, else something of their shapes."""
        values, own = list(self._operation.operands), self._instruction.operands
        if len(values) == len(own) and not any(o.shape.is_tuple for o in own):
            return own
        return tuple(HloInstruction("", "parameter", self.importer.types.shape(v.type), (),
                                    Attributes(parameter_number=0)) for v in values)

    def shape(self) -> Shape:
        """The shape of the results together."""
        found = [self.importer.types.shape(r.type) for r in self._operation.results]
        return found[0] if len(found) == 1 else Shape.tuple(*found)

    def once(self, attribute: str, make: Callable[[], Any]) -> Any:
        """What `make` reads of the attribute."""
        return make()

    def computation(self, region: builtins.int, hint: str = "region") -> HloComputation:
        """What the region will hold."""
        return self._computations[region]

    def closures(self, regions: Sequence[builtins.int], carrying: Sequence[builtins.int] = (), hint: str = "region",
                 is_tuple: builtins.bool = False) -> tuple[tuple[HloComputation, ...], tuple[HloInstruction, ...]]:
        """What the regions will hold; what they capture is no attribute."""
        return tuple(self._computations[i] for i in regions), ()

    def closure(self, region: builtins.int, hint: str = "region") -> tuple[HloComputation, tuple[HloInstruction, ...]]:
        """What the region will hold."""
        return self._computations[region], ()

    def called(self, attribute: str = "callee") -> HloComputation:
        """The computation whose function is called."""
        return self._exporter.computation_of(str(self._attributes[attribute].value))

    def called_all(self, attribute: str) -> tuple[HloComputation, ...]:
        """The computations whose functions are named."""
        return tuple(self._exporter.computation_of(str(s.value)) for s in self._attributes.get(attribute) or ())

    def called_signatures(self, attribute: str) -> tuple[tuple[tuple[Shape, ...], Shape], ...]:
        """The shapes of the computations whose functions are named."""
        return tuple((tuple(p.shape for p in c.parameters()), c.root.shape) for c in self.called_all(attribute))

    def mesh(self, name: str) -> None:
        """Nothing: what is written names devices."""

    def is_inside(self, operation: str) -> bool:
        """Nothing is known of what stands around."""
        return False

    def add(self, opcode: str, shape: Shape, operands: Sequence[HloInstruction] = (),
            attributes: Mapping[str, Any] = {}) -> HloInstruction:
        """An instruction that belongs nowhere."""
        made = HloInstruction("", opcode, shape, tuple(operands), Attributes(attributes))
        self.added.append(made)
        return made

    def refuse(self, reason: str) -> NoReturn:
        """The operation does not come back at all."""
        raise ValueError(reason)


def verdict(exporter: Exporter, operation: Any, instruction: HloInstruction, names: Sequence[str],
            computations: Sequence[HloComputation]) -> Verdict:
    """What of the attributes `names` an operation does not say."""
    record = OPS[instruction.opcode]
    made = _lifted(exporter, operation, instruction, computations)
    if made is None:
        return Verdict(tuple(names), is_other=True)
    given = instruction.attributes
    same = _said_otherwise(made, instruction)
    lost = tuple(n for n in names if n not in same and (n not in made.attributes or made.attributes[n] != given[n]))
    added = tuple(n for n, value in made.attributes.items()
                  if n not in given and n not in BESIDE and n not in same and not _is_default(record, n, value))
    return Verdict(lost, added, is_laid_out=made.shape == instruction.shape)


def _said_otherwise(made: HloInstruction, instruction: HloInstruction) -> tuple[str, ...]:
    """Attributes that say the same under two names: `to_apply` of a custom call is its one called computation."""
    one = instruction.attributes.get("to_apply")
    if instruction.opcode == "custom-call" and one is not None and made.attributes.get("called_computations") == (one,):
        return "to_apply", "called_computations"
    return ()


def _lifted(exporter: Exporter, operation: Any, instruction: HloInstruction,
            computations: Sequence[HloComputation]) -> HloInstruction | None:
    """What a lift makes of the operation; None where that is no instruction of the same opcode."""
    lift = lift_of(operation, operation.name)
    if lift is None:
        return None
    reader = LiftedBack(exporter, operation, instruction, computations)
    try:
        lift(reader)
    except _MISREADINGS:
        return None
    return next((made for made in reader.added if made.opcode == instruction.opcode), None)


def _is_default(record: Op, name: str, value: Any) -> bool:
    known = record.attribute(name)
    return known is not None and value == known.default
