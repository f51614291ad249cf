"""What rewriting passes share: a computation rebuilt line by line, fresh names, small computations made once."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from typing import Any

from hlotool.ir import (
    NO_ATTRIBUTES,
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Literal,
    Shape,
    Sharding,
    mapped_attributes,
    unique_name,
)

PRED = Shape.array("pred")


class ModuleEditor:
    """A module under change."""

    def __init__(self, module: HloModule) -> None:
        self.module = module
        self._names = {c.name for c in module.computations}
        self._made: dict[Hashable, HloComputation] = {}

    def add(self, computation: HloComputation) -> HloComputation:
        """The computation as one of the module's, renamed where its name is taken."""
        computation.name = unique_name(computation.name, self._names)
        self._names.add(computation.name)
        self.module.computations.append(computation)
        return computation

    def binary(self, opcode: str, element_type: str) -> HloComputation:
        """The computation of two scalars that is one operation, such as the adding one of a sum."""
        key = (opcode, element_type)
        if key not in self._made:
            x, y = (scalar_parameter(name, n, element_type) for n, name in enumerate("xy"))
            root = HloInstruction("result", opcode, x.shape, (x, y))
            self._made[key] = self.add(HloComputation(f"{opcode}_{element_type}", [x, y, root]))
        return self._made[key]

    def less_than(self, element_types: Sequence[str]) -> HloComputation:
        """A sort's comparator: parameter 0 before parameter 1, the other pairs unused; floats in total order."""
        key = ("less-than", *element_types)
        if key not in self._made:
            parameters = [scalar_parameter(f"p{n}", n, element_types[n // 2]) for n in range(2 * len(element_types))]
            attributes = Attributes({"direction": "LT"})
            if parameters[0].shape.dtype.is_floating:
                attributes = attributes | {"type": "TOTALORDER"}
            root = HloInstruction("result", "compare", PRED, tuple(parameters[:2]), attributes)
            name = "_".join(("less_than", *element_types[:4]))
            self._made[key] = self.add(HloComputation(name, [*parameters, root]))
        return self._made[key]

    def program(self, key: Hashable, make: Callable[[], HloModule]) -> HloComputation:
        """The entry of a module of its own, whose computations become this one's; made once for each key."""
        if key not in self._made:
            made = make()
            for computation in made.computations:
                self.add(computation)
            self._made[key] = made.entry
        return self._made[key]

    def identity(self, shape: Shape) -> HloComputation:
        """The computation that gives its one argument back."""
        key = ("identity", shape)
        if key not in self._made:
            parameter = HloInstruction("x", "parameter", shape, (), Attributes({"parameter_number": 0}))
            self._made[key] = self.add(HloComputation("identity", [parameter]))
        return self._made[key]


def scalar_parameter(name: str, number: int, element_type: str) -> HloInstruction:
    """A scalar parameter of a computation in the making."""
    return HloInstruction(name, "parameter", Shape.array(element_type), (), Attributes({"parameter_number": number}))


class ComputationEditor:
    """A computation under change: walk `lines`, and what is added stands in front of the line at hand."""

    def __init__(self, editor: ModuleEditor, computation: HloComputation) -> None:
        self.module = editor
        self.computation = computation
        self._names = {i.name for i in computation.instructions}
        #: where additions go: the end of the computation, or what is done of it while `lines` runs
        self._lines = computation.instructions
        self._loose: dict[HloInstruction, None] = {}
        self._effects: dict[HloInstruction, HloInstruction] = {}

    def lines(self) -> Iterable[HloInstruction]:
        """Each instruction that the computation had, in order; afterwards the changes hold."""
        before, self._lines = self.computation.instructions, []
        for instruction in before:
            yield instruction
            self._lines.append(instruction)
        self.computation.instructions = self._lines
        self._settle()

    def add(self, opcode: str, shape: Shape, operands: tuple[HloInstruction, ...] = (),
            attributes: Mapping[str, Any] = NO_ATTRIBUTES, *, name: str = "",
            like: HloInstruction | None = None) -> HloInstruction:
        """A new instruction at this place; `like` gives it metadata and its place in the source."""
        name = unique_name(name or opcode, self._names)
        self._names.add(name)
        made = HloInstruction(name, opcode, shape, operands, Attributes(attributes), like.metadata if like else None,
                              like.offset if like else -1)
        self._lines.append(made)
        return made

    def mark(self) -> int:
        """How many lines there are now, for `rewind`."""
        return len(self._lines)

    def rewind(self, mark: int) -> None:
        """Drop the lines that were added after a mark."""
        del self._lines[mark:]

    def take_back(self, instruction: HloInstruction) -> bool:
        """Drop the instruction where it is the line that was added last."""
        if not self._lines or self._lines[-1] is not instruction:
            return False
        self._lines.pop()
        return True

    def constant(self, array: Any, *, like: HloInstruction) -> HloInstruction:
        """A constant of a NumPy array."""
        literal = Literal.of(array)
        return self.add("constant", literal.shape, (), {"literal": literal}, like=like)

    def element(self, operand: HloInstruction, index: int, *, like: HloInstruction) -> HloInstruction:
        """An element of a tuple; of a tuple instruction, its operand."""
        if operand.opcode == "tuple":
            return operand.operands[index]
        return self.add("get-tuple-element", operand.shape.elements[index], (operand,), {"index": index}, like=like)

    def become(self, instruction: HloInstruction, opcode: str, operands: tuple[HloInstruction, ...] = (),
               attributes: Mapping[str, Any] = NO_ATTRIBUTES) -> None:
        """Let an instruction compute its value otherwise; name, shape, users and sharding stay."""
        kept = {n: v for n, v in instruction.attributes.items() if n in ("sharding", "frontend_attributes")}
        instruction.opcode, instruction.operands = opcode, operands
        instruction.attributes = Attributes({**attributes, **kept})

    def loosen(self, instruction: HloInstruction, effect: HloInstruction | None = None) -> None:
        """Drop the instruction at the end if nothing uses it; control dependencies move to `effect`."""
        self._loose[instruction] = None
        if effect is not None:
            self._effects[instruction] = effect

    def _settle(self) -> None:
        if not self._loose:
            return
        computation = self.computation
        if self._effects:
            for instruction in computation.instructions:
                if "control-predecessors" in instruction.attributes:
                    instruction.attributes = mapped_attributes(
                        instruction.attributes, lambda item: self._effects.get(item, item))
        while True:
            used = {o for i in computation.instructions for o in (*i.operands, *i.control_predecessors())}
            unused = {i for i in self._loose if i not in used and i is not computation.root}
            if not unused:
                return
            computation.instructions = self._lines = [i for i in computation.instructions if i not in unused]
            for instruction in unused:
                del self._loose[instruction]


def with_token(attributes: Attributes, shape: Shape) -> Attributes:
    """The attributes of an instruction of that shape when it gives (shape, token): a sharding gets one leaf more."""
    sharding = attributes.get("sharding")
    if not isinstance(sharding, Sharding):
        return attributes
    leaves = sum(1 for _ in shape.leaves())
    elements = sharding.elements if sharding.kind == "tuple" else (sharding,) * leaves
    device = next((e for e in elements if e.kind == "maximal"), None)
    return attributes | {"sharding": Sharding("tuple", elements=(*elements, device or Sharding("replicated")))}
