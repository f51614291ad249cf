"""IR to HLO text, in the spelling of XLA's own printer."""

from __future__ import annotations

from collections import Counter
from typing import Any

from hlotool.diagnostics import Diagnostic, HloError, define, without_controls
from hlotool.ir import (
    Attributes,
    EntryLayout,
    HloComputation,
    HloInstruction,
    HloModule,
    Kind,
    Literal,
    Shape,
    callees_before_callers,
    callees_first,
    cycles,
    deferred,
    flaws,
    foreign_operands,
    is_sound,
    kind_of,
)
from hlotool.text.keywords import KEYWORDS, RESERVED
from hlotool.text.phrases import print_literal, print_value
from hlotool.text.text_style import TODAY, PrintOptions, style_of
from hlotool.text.tokens import INDEX_COMMENT
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
#: kinds of attributes whose text is shapes
_SHAPES = frozenset({Kind.ENTRY_LAYOUT, Kind.SHAPE, Kind.SHAPES})
_SHARDINGS = frozenset({Kind.SHARDING, Kind.DOMAIN})
#: a mesh in front of dimensions, its names in quotes
_BARE_MESH = deferred(lambda: r"\bmesh\[(?:'(?:[^'\\]|\\.)*'=\d+,?)*\](?= \[)")


def print_module(module: HloModule, options: PrintOptions | None = None) -> str:
    """Return the module as HLO text, without options in the style of the text that it was read from.

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
    return ModulePrinter(module, options or style_of(module)).text(order)


def print_instruction(instruction: HloInstruction, options: PrintOptions = TODAY) -> str:
    """One instruction as a line of HLO text, without ROOT, indentation or line end."""
    return ModulePrinter(None, options).instruction(instruction, "")


class ModulePrinter:
    """Writes the parts of one module, or instructions of none."""

    def __init__(self, module: HloModule | None, options: PrintOptions) -> None:
        self.module = module
        self.options = options
        self.percent = "%" if options.percent else ""
        # Attribute sets and shapes are shared between instructions: each is spelled once.
        self._attributes: dict[int, tuple[str, str]] = {}
        self._beside_payloads: dict[tuple[int, str], tuple[str, str]] = {}
        self._shapes: dict[Shape | None, str] = {None: ""}
        # So are the literals of a program that was imported, which have no text.
        self._scalars: dict[Literal, str] = {}
        self._names: dict[int, str] = {}
        #: computations that stand in place of their names
        self._inline = _inline_bodies(module) if options.inline_bodies and module is not None else frozenset()
        self._indent = "  "
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
        behind_header, behind_tables, between, end = ("\n" * feeds for feeds in self.options.gaps)
        parts = [self.header(module), behind_header]
        if module.tables:
            parts.append("\n\n".join("\n".join([section, *rows]) for section, rows in module.tables.items()))
            parts.append(behind_tables)
        parts.append(between.join([self.computation(c, c is module.entry) for c in order if c not in self._inline]))
        parts.append(end)
        # A dump may hold raw control characters; fmt and convert print to terminals.
        return without_controls("".join(parts))

    def header(self, module: HloModule) -> str:
        """Return the line of the module's name and attributes."""
        values = module.attributes
        order = list(values) if self.options.header_as_read else [
            *(n for n in _HEADER_ORDER if n in values), *(n for n in values if n not in _HEADER_ORDER)]
        shown = "".join(f", {name}={self._header_value(name, values[name])}" for name in order)
        sign = "%" if module.name in RESERVED else ""  # a word of the language is a name behind a sign alone
        return f"HloModule {sign}{module.name}{shown}{':' * self.options.header_colon}"

    def _header_value(self, name: str, value: Any) -> str:
        if self.options.layout_blanks or not isinstance(value, EntryLayout):
            return self._value(name, value)
        return f"{{({','.join(map(self._shape, value.parameters))})->{self._shape(value.result)}}}"

    def computation(self, computation: HloComputation, is_entry: bool) -> str:
        """Return a computation from its header to its closing brace, without a line feed at the end."""
        percent, root = self.percent, computation.root
        # In front of a colon every word is a name, and a sign would be none of it.
        names = [(self.name(p).removeprefix("%"), p.shape) for p in computation.parameters()]
        parameters = ", ".join(f"{name}: {self._plain(shape)}" for name, shape in names)
        result = self._plain(root.shape)
        entry = "ENTRY " if is_entry else ""
        thread = "".join(f", {name}={self._value(name, value)}" for name, value in computation.attributes.items())
        options = self.options
        if not options.program_shapes or root.shape is None or (
                root.opcode in _OWN_SHAPES and not options.every_program_shape):
            lines = [f"{entry}{percent}{self.name(computation)} {{"]
        else:
            lines = [f"{entry}{percent}{self.name(computation)} ({parameters}) -> {result} {{"]
        write = self.instruction
        lines.extend([write(i, "  ROOT " if i is root else "  ") for i in computation.instructions])
        from_on = options.named_ends
        name = f" // {self.name(computation)}" if from_on is not None and len(lines) > from_on else ""
        lines.append(f"}}{thread}{name}")
        return "\n".join(lines)

    def _body(self, computation: HloComputation) -> str:
        """Return a computation as it stands in place of its name, on lines of its own."""
        outer = self._indent
        inner = self._indent = f"{outer}  "
        lines = [self.instruction(i, inner + "ROOT " * (i is computation.root)) for i in computation.instructions]
        self._indent = outer
        return "\n".join(["", f"{outer}{{", *lines, f"{outer}}}"])

    def _plain(self, shape: Shape | None) -> str:
        return self._shape(shape, layout=False) if shape is not None else ""

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
        rest = behind = ""
        if attributes:
            # Instructions of several opcodes may share them, and some of these show one elsewhere.
            opcode = instruction.opcode
            known = (self._attributes.get(id(attributes)) if opcode not in _PAYLOADS else
                     self._beside_payloads.get((id(attributes), opcode)))
            rest, behind = known if known is not None else self._attribute_text(attributes, instruction.opcode)
        metadata = instruction.metadata
        if metadata is not None and self.options.metadata:
            rest = f"{rest}, metadata={metadata.text}"
        return f"{indent}{percent}{self.name(instruction)} = {shape}{instruction.opcode}({inside}){rest}{behind}"

    def _operands(self, operands: tuple[HloInstruction, ...]) -> str:
        percent = self.percent
        if self._names or self.options.operand_shapes or len(operands) > 5:
            return ", ".join([self._operand(i, o) for i, o in enumerate(operands)])
        return percent + f", {percent}".join([o.name for o in operands])

    def _operand(self, index: int, operand: HloInstruction) -> str:
        # XLA marks every fifth operand with its index.
        mark = _mark(index) if self.options.operand_index else ""
        is_shaped = self.options.operand_shapes and operand.shape is not None
        shape = f"{self._shape(operand.shape)} " if is_shaped else ""
        return f"{mark}{shape}{self.percent}{self.name(operand)}"

    def _shape(self, shape: Shape, *, layout: bool = True) -> str:
        text = shape.text(layout and self.options.layouts)
        return text if self.options.shape_index or not shape.is_tuple else INDEX_COMMENT.sub("", text)

    def _literal(self, literal: Literal) -> str:
        limit, index = self.options.elide_above, self.options.literal_index
        if limit is None and literal.text is not None and not index:
            return literal.text
        text = self._scalars.get(literal)
        if text is None:
            text = print_literal(literal, elide_above=limit, index=index)
            if literal.shape.is_scalar:
                self._scalars[literal] = text
        return text

    def _attribute_text(self, attributes: Attributes, opcode: str) -> tuple[str, str]:
        """Return the attributes in front of the metadata, and those behind it."""
        payload, options = _PAYLOADS.get(opcode), self.options
        shown = [(name, f", {name}={self._value(name, value)}") for name, value in attributes.items()
                 if name != payload and (name != "backend_config" or options.backend_config)]
        front = "".join([text for name, text in shown if name not in options.behind_metadata])
        found = front, "".join([text for name, text in shown if name in options.behind_metadata])
        if payload is None:
            self._attributes[id(attributes)] = found
        else:
            self._beside_payloads[id(attributes), opcode] = found
        return found

    def _value(self, name: str, value: Any) -> str:
        kind = kind_of(name, type(value) is tuple and bool(value) and type(value[0]) is tuple)
        if self._inline and kind is Kind.COMPUTATION and value in self._inline:
            return self._body(value)
        if self._inline and kind is Kind.COMPUTATIONS and self._inline.issuperset(value):
            return "{" + ",".join(map(self._body, value)) + "\n}"
        if self._names and kind in (Kind.COMPUTATION, Kind.COMPUTATIONS, Kind.INSTRUCTIONS):
            items = value if isinstance(value, tuple) else (value,)
            names = ", ".join(f"{self.percent}{self.name(i)}" for i in items)
            return names if kind is Kind.COMPUTATION else f"{{{names}}}"
        if kind is Kind.SHARDING and value.elements and self.options.sharding_index:
            parts = [f"{_mark(n)}{self._value(name, one)}" for n, one in enumerate(value.elements)]
            return f"{{{', '.join(parts)}}}"
        text = print_value(kind, value, percent=self.options.percent)
        if self.options.mesh_comma and kind in _SHARDINGS:
            text = _BARE_MESH.sub(r"\g<0>,", text)
        return text if self.options.shape_index or kind not in _SHAPES else INDEX_COMMENT.sub("", text)


def _mark(index: int) -> str:
    """Return what printers write in front of every fifth item of a list."""
    return f"/*index={index}*/" if index and index % 5 == 0 else ""


def _inline_bodies(module: HloModule) -> frozenset[HloComputation]:
    """Return the computations that were read in place of their names, and are called in one place."""
    calls = Counter(c for i in module.instructions() for c in i.called_computations())
    text = module.source.text if module.source is not None else ""
    return frozenset(c for c in module.computations
                     if c.offset >= 0 and text.startswith("{", c.offset) and calls[c] == 1)

