"""Losses of an export, noted while it is written: on a list for the report, and on the operations themselves.

What an operation does not say of its instruction is found in roundtrip_check.py; what is found travels as a discardable
attribute where one operation stands for the instruction, and the way back restores it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from hlotool import mlir
from hlotool.diagnostics import shortened
from hlotool.ir import HloComputation, HloInstruction, HloModule, Shape
from hlotool.ops import OPS, Op
from hlotool.ops.lowering import Value, is_regrouped
from hlotool.stablehlo import codes
from hlotool.stablehlo.async_ops import is_in_flight
from hlotool.stablehlo.implicit_dynamic_sizes import changed_shapes
from hlotool.stablehlo.loss_attributes import (
    HEADER,
    LOST,
    NAME,
    TABLES,
    WITHOUT,
    computations_of,
    header_text,
    value_text,
)
from hlotool.stablehlo.loss_report import Loss, code_of, layout_losses
from hlotool.stablehlo.roundtrip_check import NOTHING, RoundtripCheck, RoundtripLosses, undeclared

#: attributes that stand beside an operation
BESIDE = frozenset(("sharding", "frontend_attributes"))


@dataclass(slots=True)
class Written:
    """The operations written for the current instruction."""

    #: the last operation
    last: Any = None
    #: its name, which is slow to ask for
    last_name: str = ""
    #: how many operations
    count: int = 0
    #: the instructions of a called computation stand for it
    is_inlined: bool = False
    #: the computations that the regions of the last operation will hold
    regions: tuple[HloComputation, ...] = ()


class LossNotes:
    """The losses of one module, and what remembers them for equal instructions."""

    def __init__(self, module: HloModule, losses: list[Loss], check: RoundtripCheck, *, carry: bool) -> None:
        self.losses = losses
        self._module = module
        self._check = check
        self._carry = carry
        #: opcode and names of attributes -> those that are lost, and those that depend on their values
        self._names: dict[tuple[str, ...], tuple[tuple[str, ...], tuple[str, ...]]] = {}
        #: opcode, shapes and those values -> what does not come back
        self._verdicts: dict[tuple[Any, ...], RoundtripLosses] = {}
        self._layouts: dict[Shape, tuple[tuple[str, str], ...]] = {}
        self._arguments = frozenset(module.entry.parameters() if module.entry is not None else ())
        #: the instructions that left no operation, so far
        self._without_operation: set[HloInstruction] = set()
        #: the instructions whose operations cannot tell their names
        self._nameless: set[HloInstruction] = set()
        #: the instructions that others wait for, whose names travel with them
        self._awaited = frozenset(p for i in module.instructions() for p in i.control_predecessors())
        #: the computations of which something was written: as functions, regions, or in place of what calls them
        self._computations: set[HloComputation] = set()

    def said(self, shape: Shape) -> tuple[tuple[str, str], ...]:
        """Return the losses in a shape's layouts, remembered."""
        found = self._layouts.get(shape)
        if found is None:
            found = self._layouts[shape] = layout_losses(shape)
        return found

    def lose(self, code: str, instruction: HloInstruction, detail: str) -> None:
        """Note a loss for good."""
        self.losses.append(Loss(code, instruction.name, instruction.offset, detail))

    def is_awaited(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction is the control predecessor of another."""
        return instruction in self._awaited

    def is_split(self, instruction: HloInstruction, written: Written) -> bool:
        """Return True if the last operation gives a part of the result alone, so that it cannot say all."""
        shape, last = instruction.shape, written.last
        return shape.is_tuple and last is not None and not written.is_inlined and not any(
            isinstance(r.type, mlir.TupleType) for r in last.results) and (
            len(last.results) < sum(1 for _ in shape.leaves()))

    def judged(self, instruction: HloInstruction, written: Written) -> RoundtripLosses:
        """Return the attributes of an instruction that the operation written for it does not carry."""
        opcode, attributes = instruction.opcode, instruction.attributes
        record = OPS[opcode]
        names = (opcode, *attributes)
        known = self._names.get(names)
        if known is None:
            known = self._names[names] = undeclared(record, tuple(attributes))
        common, rest = known
        if rest and record.lowering.carries_if:
            conditions = record.lowering.carries_if
            rest = tuple(n for n in rest if n not in conditions or not conditions[n](attributes[n], instruction))
        if not rest:
            return RoundtripLosses(common) if common else NOTHING
        if written.last is None or written.is_inlined:
            return RoundtripLosses((*common, *rest))
        if is_expanded(instruction, written):
            # The operation's own attributes are in the operations that represent it.
            return RoundtripLosses((*common, *(n for n in rest if record.attribute(n) is None)))
        shapes = tuple([o.shape for o in instruction.operands])
        key = (opcode, shapes, instruction.shape, *((n, attributes[n]) for n in rest))
        found = self._verdicts.get(key)
        if found is None:
            found = self._verdicts[key] = self._check.verdict(written.last, instruction, rest, written.regions)
        if common:
            found = found._replace(lost=(*common, *found.lost))
        return found if found.lost or found.added or found.is_laid_out else NOTHING

    def note(self, instruction: HloInstruction, value: Value, operands: Sequence[Value], written: Written,
             found: RoundtripLosses) -> None:
        """Note what an instruction lost, and let it travel where one operation stands for the instruction."""
        record = OPS.get(instruction.opcode)
        assert record is not None
        is_split = self.is_split(instruction, written)
        is_other = is_expanded(instruction, written) or found.is_other or is_split
        said = self.said(instruction.shape) if written.last is not None and not found.is_laid_out else ()
        lost = {name: text for name in found.lost if (text := _lost_text(record, instruction, name)) is not None}
        if written.is_inlined and record.flow.step is None:
            self.lose(codes.LOST_FUSION, instruction, " ".join((
                instruction.opcode, *(lost.pop(n) for n in tuple(lost) if code_of(n) == codes.LOST_ATTRIBUTE),
                "stands as its instructions")))
        elif is_other and record.flow.step is None:
            self.lose(codes.LOST_OPERATION, instruction, f"{instruction.opcode} became {written.last_name}"
                      + (" and others" if written.count > 1 or is_split else ""))
        is_carried = (self._carry and written.last is not None and not written.is_inlined and not is_other
                      and written.last_name in record.lowering.names)
        astray = self._astray(instruction)
        for code, detail in (*((code_of(n), f"{n}={t}") for n, t in lost.items()), *said):
            is_kept = is_carried and not (astray and code == codes.LOST_CONTROL)
            self.losses.append(Loss(code, instruction.name, instruction.offset, detail, is_kept))
        if not written.is_inlined:
            self._lose_computations(instruction, record, found, written.regions)
        if written.last is None:
            self._without_operation.add(instruction)
            self._note_no_operation(instruction, value, operands)
        if record.flow.step is not None and not (is_in_flight(value) or is_in_flight(tuple(operands))):
            self.lose(codes.LOST_ASYNC, instruction, f"{instruction.opcode} is synchronous now")
        if astray:
            lost.pop("control-predecessors", None)
        without = {WITHOUT: ",".join(found.added)} if found.added else {}
        is_awaited = instruction in self._awaited
        if is_carried and (lost or said or without or is_awaited):
            self.keep(written.last, instruction, {**lost, **without}, bool(said))
        elif is_awaited:
            self._nameless.add(instruction)

    def _astray(self, instruction: HloInstruction) -> bool:
        """Return True if an instruction waits for one without an operation, by whose name the wait would come back.

        The parameters of a loop's body come back as others.
        """
        return any(p in self._without_operation or p in self._nameless or (p.opcode == "parameter" and (
            p.shape.is_tuple or p not in self._arguments))
            for p in instruction.attributes.get("control-predecessors", ()))

    def _lose_computations(self, instruction: HloInstruction, record: Op, found: RoundtripLosses,
                           regions: Sequence[HloComputation]) -> None:
        """Note the computations that an instruction names and that what was written for it does not call."""
        for name in found.lost:
            called = computations_of(instruction.attributes[name])
            if called and (record.attribute(name) is None or not self._computations.issuperset(
                    c for c in called if c not in regions)):
                self.lose(codes.LOST_ATTRIBUTE, instruction, f"{name}={', '.join(c.name for c in called)}")

    def lose_grouping(self, instruction: HloInstruction, written: Written) -> None:
        """Note a tuple of one or with tuples inside whose values come back in another tuple, or in none."""
        if OPS[instruction.opcode].flow.step is not None or is_expanded(instruction, written):
            return
        back = self._check.shape_back(written.last, instruction, written.regions)
        if back is not None and not _is_grouped_alike(instruction.shape, back):
            self.lose(codes.LOST_SHAPE, instruction, _comes_back(instruction.shape, back))

    def lose_grouping_of_values(self, computation: HloComputation, *, is_entry: bool) -> None:
        """Note the tuples that a function takes as one argument each, and that the program gives in another grouping.

        What another function gives is a value of what calls it.
        """
        for parameter in computation.parameters():
            if parameter.shape.is_tuple:
                leaves = [leaf.without_layout() for _, leaf in parameter.shape.leaves()]
                self.lose(codes.LOST_SHAPE, parameter, f"{parameter.shape.text(layout=False)} comes back as "
                          f"{len(leaves)} parameter{'' if len(leaves) == 1 else 's'}")
        if is_entry and is_regrouped(shape := computation.root.shape):
            leaves = [leaf.without_layout() for _, leaf in shape.leaves()]
            back = Shape.one_or_tuple(leaves)
            self.lose(codes.LOST_SHAPE, computation.root, f"the program's result {_comes_back(shape, back)}")

    def _note_no_operation(self, instruction: HloInstruction, value: Value, operands: Sequence[Value]) -> None:
        if operands and value is operands[0]:
            self.lose(codes.LOST_INSTRUCTION, instruction, f"{instruction.opcode} left no operation")
        # The sharding of the program's result stands beside the function.
        held = {"sharding"} if instruction is self._module.entry.root else set()
        for name in (BESIDE - held) & instruction.attributes.keys():
            self.lose(codes.LOST_ATTRIBUTE, instruction, f"{name} of an instruction that left no operation")

    def keep_name(self, operation: Any, instruction: HloInstruction) -> None:
        """Put the name of an instruction that others wait for onto its operation; None: it has none to stand at."""
        if operation is None or not self._carry:
            self._nameless.add(instruction)
        elif instruction in self._awaited:
            self.keep(operation, instruction, {}, False)

    def keep(self, operation: Any, instruction: HloInstruction, lost: Mapping[str, str], is_shaped: bool) -> None:
        """Put what an instruction lost onto the operation that stands for it."""
        found = {**lost, "opcode": instruction.opcode}
        if instruction in self._awaited:
            found[NAME] = instruction.name
        if is_shaped:
            found["shape"] = str(instruction.shape)
        operation.attributes[LOST] = _strings(found)

    def note_header(self, attributes: dict[str, mlir.AnyAttribute]) -> None:
        """Note, and let travel on the program's attributes, what the header says and StableHLO has no place for."""
        module, found = self._module, {}
        for name, value in module.attributes.items():
            text = header_text(name, value)
            if text is None:
                continue
            found[name] = text
            code = codes.LOST_SCHEDULE if name == "is_scheduled" else codes.LOST_HEADER
            self.losses.append(Loss(code, "", -1, shortened(f"{name}={text}"), self._carry))
        if found and self._carry:
            attributes[HEADER] = _strings(found)
        if module.tables and not self._carry:
            self.losses.append(Loss(codes.LOST_HEADER, "", -1, f"{', '.join(module.tables)}: only the places that "
                                    "instructions name by them stand in the program"))
        elif module.tables:
            attributes[TABLES] = mlir.DictionaryAttribute(tuple(sorted(
                (name, mlir.ArrayAttribute(tuple(map(_string, rows)))) for name, rows in module.tables.items())))

    def note_argument(self, parameter: HloInstruction, leaf: Shape) -> dict[str, str]:
        """Note what a parameter and the layout of its leaf say that no argument does; the texts by their names."""
        lost = {} if parameter.shape.is_tuple else {
            name: text for name, value in parameter.attributes.items()
            if name not in ("parameter_number", *BESIDE) and (text := value_text(name, value)) is not None}
        details = [(code_of(n), f"{n}={t}") for n, t in lost.items()] + list(said := self.said(leaf))
        # Other instructions than arguments are written later, and may leave no operation.
        astray = self._astray(parameter) or any(p.opcode != "parameter" for p in parameter.control_predecessors())
        if astray:
            lost.pop("control-predecessors", None)
        self.losses.extend(Loss(code, parameter.name, parameter.offset, detail, self._carry and not (
            astray and code == codes.LOST_CONTROL)) for code, detail in details)
        name = {NAME: parameter.name} if parameter in self._awaited and not parameter.shape.is_tuple else {}
        return lost | name | ({"shape": str(leaf)} if said else {})

    def note_computation(self, computation: HloComputation, *, is_function: bool = False) -> dict[str, str]:
        """Note, the first time, what a computation says behind its body; the texts by their names, for its function."""
        if computation in self._computations:
            return {}
        self._computations.add(computation)
        lost = {name: text for name, value in computation.attributes.items()
                if (text := value_text(name, value)) is not None}
        self.losses.extend(Loss(code_of(name), computation.name, computation.offset, f"{name}={text}",
                                is_function and self._carry) for name, text in lost.items())
        return lost if self._carry else {}

    def lose_uncalled(self) -> None:
        """Note the computations of which nothing was written."""
        self.losses.extend(Loss(codes.LOST_COMPUTATION, c.name, c.offset, "nothing calls this computation")
                           for c in self._module.computations if c not in self._computations)

    def lose_denied_sizes(self) -> None:
        """Note the shapes that deny a size which is set: StableHLO's types may, and the way back says it."""
        for instruction, shape in changed_shapes(self._module.computations).items():
            self.lose(codes.LOST_SHAPE, instruction, _comes_back(instruction.shape, shape))

    def lose_beside(self, parameter: HloInstruction) -> None:
        """Note what a parameter says that none of its arguments can: a tuple's attributes, and computations."""
        for name, value in parameter.attributes.items():
            if called := computations_of(value):
                self.lose(codes.LOST_ATTRIBUTE, parameter, f"{name}={', '.join(c.name for c in called)}")
            elif parameter.shape.is_tuple and name not in ("parameter_number", *BESIDE):
                self.lose(code_of(name), parameter, f"{name}={value_text(name, value)}")

    def lose_parameters(self, parameters: Sequence[HloInstruction]) -> None:
        """Note what the parameters of a region, or of what stands as its instructions, say beside their types."""
        for parameter in parameters:
            for code, detail in self.said(parameter.shape):
                self.lose(code, parameter, detail)
            if len(parameter.attributes) > 1:
                for name, value in parameter.attributes.items():
                    text = value_text(name, value) or ", ".join(c.name for c in computations_of(value))
                    if name != "parameter_number" and text:
                        self.lose(code_of(name), parameter, f"{name}={text}")


def _string(text: str) -> mlir.StringAttribute:
    """Return the attribute of a text, whose bytes that are no UTF-8 become question marks."""
    return mlir.StringAttribute(text if text.isascii() else text.encode(errors="replace").decode())


def _strings(entries: Mapping[str, str]) -> mlir.DictionaryAttribute:
    return mlir.DictionaryAttribute(tuple(sorted((name, _string(text)) for name, text in entries.items())))


def _is_grouped_alike(one: Shape, other: Shape) -> bool:
    return len(one.elements) == len(other.elements) and one.is_tuple == other.is_tuple and all(
        map(_is_grouped_alike, one.elements, other.elements))


def _comes_back(before: Shape, after: Shape) -> str:
    return f"{before.text(layout=False)} comes back as {after.text(layout=False)}"


def is_expanded(instruction: HloInstruction, written: Written) -> bool:
    """Return True if other operations than its own represent an instruction."""
    return written.last is not None and written.last_name not in OPS[instruction.opcode].lowering.names


def _lost_text(record: Op, instruction: HloInstruction, name: str) -> str | None:
    """The text of an attribute that was not looked at; None where it says what its absence would."""
    value, known = instruction.attributes[name], record.attribute(name)
    return None if known is not None and value == known.default else value_text(name, value)
