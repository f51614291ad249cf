"""IR to HLO text, in the spelling of XLA's own printer."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, define, without_controls
from hlotool.ir import (
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Kind,
    Literal,
    Shape,
    callees_before_callers,
    callees_first,
    cycles,
    flaws,
    foreign_operands,
    is_sound,
    kind_of,
    set_printer,
)
from hlotool.text.keywords import KEYWORDS, RESERVED
from hlotool.text.phrases import print_literal, print_value
from hlotool.text.writable import broken_values

BROKEN = define("R107", "broken-module", "A module whose objects do not hang together: its text would be another "
                "program, or none.")

#: what stands in the operands' place, and so not among the attributes
_PAYLOADS = {"constant": "literal", "parameter": "parameter_number"}
#: XLA gives these the shape that it infers, whatever is written: a header that repeats the written one would clash
#: (a habit of XLA's parser; text knows no operations)
_OWN_SHAPES = frozenset({"send", "send-done", "recv", "recv-done", "infeed", "outfeed", "after-all", "add-dependency"})
_HEADER_ORDER = ("is_scheduled", "input_output_alias", "buffer_donor", "alias_passthrough_params",
                 "entry_computation_layout")


@dataclass(frozen=True, slots=True)
class PrintOptions:
    """Options of printing; the defaults give text that XLA reads back as the same module.

    The names follow XLA's HloPrintOptions. `elide_above` replaces constants of more elements by `{...}`; None
    keeps them all. `canonical` renames computations and instructions by their order, so that two modules that
    differ in names only print alike.
    """

    percent: bool = True
    operand_shapes: bool = False
    layouts: bool = True
    metadata: bool = True
    backend_config: bool = True
    elide_above: int | None = None
    canonical: bool = False


DEFAULT = PrintOptions()


def print_module(module: HloModule, options: PrintOptions = DEFAULT) -> str:
    """Return the module as HLO text, ended by a line feed.

    Computations stand in an order that XLA reads: callees first; that of the module where it is such an order.
    Raises HloError (R107) where the module's objects do not hang together: the text would be another program, or none.
    """
    found: list[str] = []
    if not is_sound(module):
        found = [flaw.message for flaw in flaws(module, shapes=False)]
        found = found or [f"{i.name} uses {o.name} of another computation" for i, o in foreign_operands(module)]
        found = found or [f"{c.name} has no instructions" for c in module.computations if not c.instructions]
        found = found or [f"{i.name} depends on its own result" for c in module.computations for i in cycles(c)]
    circles: list[tuple[HloComputation, HloComputation]] = []
    order = callees_before_callers(module.computations, circles) if not found else []
    found = found or [f"{caller.name} calls {callee.name}, which calls it in turn" for caller, callee in circles]
    if found := found or list(broken_values(module)):
        raise HloError([Diagnostic(BROKEN, f"the module cannot be written: {message}") for message in found])
    return _Printer(module, options).text(order)


def print_instruction(instruction: HloInstruction, options: PrintOptions = DEFAULT) -> str:
    """One instruction as a line of HLO text, without ROOT, indentation or line end."""
    return _Printer(None, options).instruction(instruction, "")


class _Printer:
    def __init__(self, module: HloModule | None, options: PrintOptions) -> None:
        self.module = module
        self.options = options
        self.percent = "%" if options.percent else ""
        # Attribute sets and shapes are shared between instructions: each is spelled once.
        self._attributes: dict[int, str] = {}
        self._beside_payloads: dict[tuple[int, str], str] = {}
        self._shapes: dict[Shape | None, str] = {None: ""}
        # So are the literals of a program that was imported, which have no text.
        self._scalars: dict[Literal, str] = {}
        self._names: dict[int, str] = {}
        if options.canonical and module is not None:
            self._rename(module)
        elif not options.percent and module is not None:
            # Words of the language are names only where a percent sign says so.
            self._names = {id(i): f"%{i.name}" for i in module.instructions() if i.name in KEYWORDS} | {
                id(c): f"%{c.name}" for c in module.computations if c.name in RESERVED}

    def _rename(self, module: HloModule) -> None:
        for number, computation in enumerate(callees_first(module)):
            self._names[id(computation)] = f"c{number}"
            for index, instruction in enumerate(computation.instructions):
                self._names[id(instruction)] = f"i{index}"

    def name(self, item: HloInstruction | HloComputation) -> str:
        return self._names.get(id(item), item.name) if self._names else item.name

    def text(self, order: list[HloComputation]) -> str:
        module = self.module
        assert module is not None
        parts = [self._header(module)]
        for section, rows in module.tables.items():
            parts.append("\n".join(["", section, *rows, ""]))
        for computation in order:
            parts.append(self._computation(computation, computation is module.entry))
        # A dump may hold raw control characters; fmt and convert print to terminals.
        return without_controls("\n".join(parts))

    def _header(self, module: HloModule) -> str:
        values = module.attributes
        order = [n for n in _HEADER_ORDER if n in values] + [n for n in values if n not in _HEADER_ORDER]
        shown = "".join(f", {name}={self._value(name, values[name])}" for name in order)
        sign = "%" if module.name in RESERVED else ""  # a word of the language is a name behind a sign alone
        return f"HloModule {sign}{module.name}{shown}\n"

    def _computation(self, computation: HloComputation, is_entry: bool) -> str:
        percent, root = self.percent, computation.root
        # In front of a colon every word is a name, and a sign would be none of it.
        names = [(self.name(p).removeprefix("%"), p.shape) for p in computation.parameters()]
        parameters = ", ".join(f"{name}: {self._plain(shape)}" for name, shape in names)
        result = self._plain(root.shape)
        entry = "ENTRY " if is_entry else ""
        thread = "".join(f", {name}={self._value(name, value)}" for name, value in computation.attributes.items())
        if root.shape is None or root.opcode in _OWN_SHAPES:
            lines = [f"{entry}{percent}{self.name(computation)} {{"]
        else:
            lines = [f"{entry}{percent}{self.name(computation)} ({parameters}) -> {result} {{"]
        write = self.instruction
        lines.extend([write(i, "  ROOT " if i is root else "  ") for i in computation.instructions])
        lines.append(f"}}{thread}\n")
        return "\n".join(lines)

    def _plain(self, shape: Shape | None) -> str:
        return shape.text(layout=False) if shape is not None else ""

    def instruction(self, instruction: HloInstruction, indent: str) -> str:
        """One line; `indent` stands in front of it."""
        shape = self._shapes.get(instruction.shape)
        if shape is None:
            shape = self._shapes[instruction.shape] = self._shape(instruction.shape) + " "
        attributes = instruction.attributes
        operands, percent = instruction.operands, self.percent
        if operands:
            inside = self._operands(operands)
        elif instruction.opcode == "constant" and "literal" in attributes:
            inside = self._literal(attributes["literal"])
        elif instruction.opcode == "parameter" and "parameter_number" in attributes:
            inside = str(attributes["parameter_number"])
        else:
            inside = ""
        rest = ""
        if attributes:
            # Instructions of several opcodes may share them, and some of these show one elsewhere.
            opcode = instruction.opcode
            known = (self._attributes.get(id(attributes)) if opcode not in _PAYLOADS else
                     self._beside_payloads.get((id(attributes), opcode)))
            rest = known if known is not None else self._attribute_text(attributes, instruction.opcode)
        metadata = instruction.metadata
        if metadata is not None and self.options.metadata:
            rest = f"{rest}, metadata={metadata.text}"
        return f"{indent}{percent}{self.name(instruction)} = {shape}{instruction.opcode}({inside}){rest}"

    def _operands(self, operands: tuple[HloInstruction, ...]) -> str:
        percent = self.percent
        if self._names or self.options.operand_shapes or len(operands) > 5:
            return ", ".join([self._operand(i, o) for i, o in enumerate(operands)])
        return percent + f", {percent}".join([o.name for o in operands])

    def _operand(self, index: int, operand: HloInstruction) -> str:
        # XLA marks every fifth operand with its index.
        mark = f"/*index={index}*/" if index and index % 5 == 0 else ""
        shape = f"{self._shape(operand.shape)} " if self.options.operand_shapes else ""
        return f"{mark}{shape}{self.percent}{self.name(operand)}"

    def _shape(self, shape: Shape) -> str:
        return shape.text(self.options.layouts)

    def _literal(self, literal: Literal) -> str:
        limit = self.options.elide_above
        if limit is None and literal.text is not None:
            return literal.text
        text = self._scalars.get(literal)
        if text is None:
            text = print_literal(literal, elide_above=limit)
            if literal.shape.is_scalar:
                self._scalars[literal] = text
        return text

    def _attribute_text(self, attributes: Attributes, opcode: str) -> str:
        payload = _PAYLOADS.get(opcode)
        shown = [f", {name}={self._value(name, value)}" for name, value in attributes.items()
                 if name != payload and (name != "backend_config" or self.options.backend_config)]
        text = "".join(shown)
        if payload is None:
            self._attributes[id(attributes)] = text
        else:
            self._beside_payloads[id(attributes), opcode] = text
        return text

    def _value(self, name: str, value: Any) -> str:
        kind = kind_of(name, type(value) is tuple and bool(value) and type(value[0]) is tuple)
        if self._names and kind in (Kind.COMPUTATION, Kind.COMPUTATIONS, Kind.INSTRUCTIONS):
            items = value if isinstance(value, tuple) else (value,)
            names = ", ".join(f"{self.percent}{self.name(i)}" for i in items)
            return names if kind is Kind.COMPUTATION else f"{{{names}}}"
        return print_value(kind, value, percent=self.options.percent)


set_printer(print_module)
