"""The bodies of computations: statements to instructions.

A dump repeats itself, so everything distinct is read once: shape texts, attribute texts, metadata, small constants.
A statement on one line in the printer's own spelling takes the short way; any other is cut token by token.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import define
from hlotool.grammars import pattern, terminal
from hlotool.ir import (
    KINDS,
    NO_ATTRIBUTES,
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Kind,
    Literal,
    Metadata,
    Shape,
    Source,
    kind_of,
    unique_name,
)
from hlotool.text.keywords import KEYWORDS, TYPE_WORDS
from hlotool.text.legacy import NEWER_ATTRIBUTES
from hlotool.text.phrases import (
    METADATA,
    PhraseError,
    generation,
    literal_generation,
    read_literal,
    read_names,
    read_shape,
    read_value,
    shape_generation,
)
from hlotool.text.reports import Reports
from hlotool.text.scan import (
    HEADER,
    LINE,
    Cut,
    CutAttribute,
    CutOperand,
    cut_instruction,
    cut_operand,
    cut_quickly,
    split_commas,
)
from hlotool.text.shapes_text import has_orders
from hlotool.text.syntax_errors import BAD_STATEMENT, MISSING_CLOSE, NESTED_TOO_DEEP, SYNTAX, TRUNCATED, CutError
from hlotool.text.tokens import STATEMENT, next_statement, skip_blank

SAME_NAME = define("P010", "duplicate-name", "two instructions of a computation have one name", SYNTAX)
UNDEFINED = define("P011", "undefined-operand", "an operand that the computation does not define", SYNTAX)
USED_BEFORE = define("P012", "used-before-defined", "an operand that is defined only after its use", SYNTAX)
BAD_NAME = define("P013", "bad-name", "a name that HLO does not allow", SYNTAX)
OPERAND_SHAPE = define("P014", "operand-shape", "the shape written before an operand is not the operand's", SYNTAX)
NO_SHAPE = define("P015", "missing-shape", "an instruction whose shape cannot be inferred has none", SYNTAX)
SAME_ATTRIBUTE = define("P016", "duplicate-attribute", "an instruction has an attribute twice", SYNTAX)
NO_TUPLE_INDEX = define("P018", "bad-tuple-index", "`name#i` takes an element that the operand does not have", SYNTAX)
CHANNEL_NEEDED = define("P019", "global-ids-without-channel",
                        "use_global_device_ids=true stands without channel_id",
                        "xla/hlo/ir/collective_op_group_mode.cc, GetCollectiveOpGroupMode")
TWO_ROOTS = define("P021", "two-roots", "more than one instruction of a computation is marked ROOT", SYNTAX)

_RESERVED = TYPE_WORDS | KEYWORDS
_INDEX_COMMENT = re.compile(terminal("lines", "INDEX_COMMENT"))
_ANY_STATEMENT = re.compile(r"(?:ROOT\s+)?%?([\w.\-]+)")
_INDENT = re.compile(r"[ \t]*")
_STRAY_BRACE = re.compile(r"\}[^\n]*\n[ \t]+(?:ROOT\s+)?%?[\w.\-]+\s+=\s")
_TYPED_OPERAND = pattern("lines", "typed_operand")
_ILLEGAL = re.compile(r"[^\w.\-]|^[^A-Za-z_]")
#: instructions in operands and computations in attributes, inside of each other
MOST_NESTED = 100
#: opcodes whose payload stands where operands do
_PAYLOADS = ("parameter", "constant")
_REDUCING = ("all-reduce", "all-reduce-start", "reduce-scatter")


def _without_metadata(rest: str, start: int, end: int) -> str:
    """What stands before and behind the metadata, a line each, so that what it stands in the middle of is not joined.

    A statement on one line has no line feed of its own.
    """
    if end == len(rest):
        return rest[:start]
    return f"{rest[:start]}\n{rest[end:]}" if start else rest[end:]


class InstructionReader(Reports):
    """Reads bodies; hlotool.text.parse builds on it with what surrounds them."""

    module: HloModule

    def __init__(self, source: Source) -> None:
        super().__init__(source)
        self._last_brace = self.text.rfind("}")
        self.computations: dict[str, HloComputation] = {}
        #: instruction, attribute, names, offset, many: computations that are named before they are defined
        self.pending: list[tuple[HloInstruction, str, tuple[str, ...], int, bool]] = []
        #: instructions of the computation at hand by name
        self.table: dict[str, HloInstruction] = {}
        #: None, or where to put parameters that stand for unknown operands (a text of one instruction)
        self.missing_operands: list[HloInstruction] | None = None
        self._depth = 0
        self._root: HloInstruction | None = None
        #: whether a statement of the computation at hand could not be read
        self._has_failed = False
        self._shapes: dict[str, Shape] = {}
        self._attributes: dict[str | None, Attributes] = {"": NO_ATTRIBUTES, None: NO_ATTRIBUTES}
        self._values: dict[tuple[str, str], Any] = {}
        self._payloads: dict[Any, Attributes] = {}
        self._metadata: dict[str, Metadata] = {}
        self._compatible: set[tuple[int, int]] = set()
        self._undefined: list[tuple[str, int]] = []
        self._anonymous: dict[str, None] = {}
        #: elements that `name#i` stands for, by operand and index
        self._elements: dict[tuple[int, int], HloInstruction] = {}

    # Bodies

    def read_body(self, computation: HloComputation, at: int, limit: int | None = None) -> int:
        """Read instructions up to the closing brace and what follows it; returns the offset after that.

        A body inside of a statement ends at `limit` at the latest, whatever is wrong in it.
        """
        self.table = {}
        self._root = None
        self._has_failed = False
        self._undefined = []
        at = skip_blank(self.text, at)
        text, size = self.text, len(self.text) if limit is None else limit
        line_end = -1
        while True:
            if at > line_end:  # the rest of a line that the short way refused would be looked at in vain
                at = self._quick_lines(computation, at)
            if (after := skip_blank(text, at)) != at:
                at = after
                continue
            if at >= size:
                if limit is None:
                    self._truncated(computation)
                break
            if text[at] == "}" and (limit is not None or not self._is_stray_brace(at)):
                try:
                    # What follows an inline body belongs to the instruction around it.
                    at = at + 1 if limit is not None else self.end_of_body(computation, at)
                except CutError as error:
                    self.report_cut(error)
                    at = max(error.resume or 0, at + 1)
                break
            if at > line_end:
                line_end = text.find("\n", at) % (len(text) + 1)
            if text[at] == "}":
                self.report(BAD_STATEMENT, "this '}' closes nothing", at, at + 1, help="remove it")
                at = next_statement(text, at)
                continue
            if HEADER.match(text, at) is not None:
                self._unclosed(computation, at)
                break
            try:
                at = skip_blank(text, self.read_statement(computation, at))
            except CutError as error:
                if error.start > self._last_brace and error.code != TRUNCATED:
                    error.code, error.help = TRUNCATED, "the file is truncated: get the whole dump"
                self.report_cut(error)
                resume = error.resume if error.resume is not None else next_statement(text, at)
                self._define_failed(at)
                at = skip_blank(text, max(resume, at + 1))
        self._finish_body(computation)
        return at

    def _is_stray_brace(self, at: int) -> bool:
        """Whether a '}' ends a line of instructions with more of them behind it, rather than the computation."""
        line = self.text.rfind("\n", 0, at) + 1
        begin = _INDENT.match(self.text, line)
        return begin is not None and begin.end() < at and STATEMENT.match(self.text, begin.end()) is not None \
            and _STRAY_BRACE.match(self.text, at) is not None

    def _unclosed(self, computation: HloComputation, at: int) -> None:
        end = self.text.find("\n", at)
        self.report(MISSING_CLOSE, f"expected '}}' at the end of the computation {computation.name}, found another", at,
                    at + len(self.text[at:end].rstrip(" {\t")), help="add '}' on a line before",
                    second=(f"{computation.name} begins here", computation.offset,
                            computation.offset + len(computation.name)))

    def end_of_body(self, computation: HloComputation, at: int) -> int:
        raise AssertionError("hlotool.text.parse knows what follows a body")

    def read_nested_body(self, computation: HloComputation, at: int, limit: int) -> int:
        """Read a body that stands inside a statement; the computation around it goes on afterwards."""
        saved = self.table, self._root, self._undefined, self._has_failed
        try:
            return self.read_body(computation, at, limit)
        finally:
            self.table, self._root, self._undefined, self._has_failed = saved

    def inline_computation(self, value: str, offset: int) -> HloComputation:
        raise AssertionError("hlotool.text.parse makes computations")

    def _truncated(self, computation: HloComputation) -> None:
        if self.diagnostics and self.diagnostics[-1].code == TRUNCATED:
            return
        end = len(self.text.rstrip())
        comment = self.text.rfind("/*")
        if comment > self.text.rfind("*/"):
            self.report(TRUNCATED, "the text ends inside of a comment", comment, comment + 2,
                        help="close the comment with '*/'")
            return
        self.report(TRUNCATED, f"the text ends inside of the computation {computation.name}", max(0, end - 1), end,
                    second=(f"{computation.name} begins here", computation.offset,
                            computation.offset + len(computation.name)),
                    help="the file is truncated, or a '}' is missing")

    def _define_failed(self, at: int) -> None:
        """Define the name of a statement in error, so that its users are no errors as well."""
        self._has_failed = True
        found = _ANY_STATEMENT.match(self.text, at)
        if found and found[1] not in self.table:
            self.table[found[1]] = HloInstruction(found[1], "", None, offset=at)  # type: ignore[arg-type]

    def _finish_body(self, computation: HloComputation) -> None:
        for name, offset in self._undefined:
            self._report_undefined(name, offset)
        if not computation.instructions:
            if not self.diagnostics:
                self.report(BAD_STATEMENT, f"the computation {computation.name} has no instructions",
                            computation.offset, computation.offset + len(computation.name))
            return
        computation.root = self._root or computation.instructions[-1]

    def _report_undefined(self, name: str, offset: int) -> None:
        if name in self.table:
            defined = self.table[name].offset
            self.report(USED_BEFORE, f"{name} is used before it is defined", offset, offset + len(name),
                        second=(f"{name} is defined here", defined, defined + len(name)),
                        help="move the definition in front of its first use")
            return
        end = offset + len(name)
        help, fixes = self.suggest(name, self.table, offset, 0.75)
        if not help and self.table:
            known = list(itertools.islice((n for n in self.table if n.isprintable()), 9))
            help = f"it defines {', '.join(known[:8])}{', ...' if len(known) > 8 else ''}"
        self.report(UNDEFINED, f"there is no instruction {name} in this computation", offset, end, help=help,
                    fixes=fixes)

    # The short way: one line, the printer's spelling

    def _quick_lines(self, computation: HloComputation, at: int) -> int:
        """Read lines as long as the short way takes them; returns the offset of what it does not take."""
        text, table, shapes, attribute_cache = self.text, self.table, self._shapes, self._attributes
        metadata_cache, metadata_match = self._metadata, METADATA.match
        append, line, lookup = computation.instructions.append, LINE.match, table.__getitem__
        while (found := line(text, at)) is not None:
            root, name, shape_text, opcode, inside, rest = found.groups()
            shape = shapes.get(shape_text) or self._quick_shape(shape_text, at)
            if shape is None or name in table or name in _RESERVED:
                return at
            metadata = None
            if rest:
                start = rest.find(", metadata={")
                if start >= 0:
                    ending = metadata_match(rest, start + 11)
                    if ending is None:
                        return at
                    words = ending[0]
                    metadata = metadata_cache.get(words)
                    if metadata is None:
                        if "preserve_" in words or "_payload=" in words:
                            return at  # fields of another time, which the long way notes
                        metadata = metadata_cache[words] = Metadata(words)
                    rest = _without_metadata(rest, start, ending.end())
            attributes = attribute_cache.get(rest)
            if attributes is None and (attributes := self._quick_attributes(rest)) is None:
                return at
            operands: Any = ()
            if opcode in _PAYLOADS:
                payload = self._quick_payload(opcode, shape, inside or "", attributes)
                if payload is None:
                    return at
                attributes = payload
            elif inside:
                if "%" in inside:
                    inside = inside.replace("%", "")
                try:
                    if "[" in inside:
                        operands = self._typed_operands(inside, table)
                    else:
                        if "/" in inside:
                            inside = _INDEX_COMMENT.sub("", inside)
                        operands = tuple(map(lookup, inside.split(", ")))
                except KeyError:
                    return at
                if operands is None:
                    return at
            instruction = HloInstruction(name, opcode, shape, operands, attributes, metadata, at)
            if root:
                if self._root is not None:
                    return at
                self._root = instruction
            table[name] = instruction
            append(instruction)
            at = found.end()
        return at

    def _quick_shape(self, text: str, offset: int) -> Shape | None:
        try:
            return self.shape(text, offset)
        except PhraseError:
            return None

    def shape(self, text: str, offset: int = -1) -> Shape:
        """The shape of a text, remembered; raises PhraseError."""
        shape = self._shapes.get(text)
        if shape is None:
            shape = self._shapes[text] = read_shape(text)
            self._note_found(shape_generation(text), text, offset)
        return shape

    def _note_found(self, found: tuple[str, str] | None, text: str, offset: int) -> None:
        if found is not None and offset >= 0:
            self.note("", found[1], offset, offset + len(text), found[0])

    def _quick_attributes(self, rest: str) -> Attributes | None:
        """The attributes of a text that starts at the comma; None when the long way must look at it."""
        before, _, after = rest.partition("\n")
        pieces, more = cut_quickly(before), cut_quickly(after)
        if pieces is None or more is None:
            return None
        pieces += more
        values: dict[str, Any] = {}
        for name, text in pieces:
            value = self._values.get((name, text))
            if value is None and (value := self._quick_value(name, text)) is None:
                return None
            if name in values:
                return None
            values[name] = value
        if ("use_global_device_ids" in values and "channel_id" not in values) or "metadata" in values:
            return None
        found = self._attributes[rest] = Attributes(values)
        return found

    def _quick_value(self, name: str, text: str) -> Any:
        """The value of an attribute, remembered; None when the long way must look at it."""
        kind = kind_of(name, text.startswith("{{"))
        if kind is Kind.INSTRUCTIONS or name not in KINDS:
            return None
        try:
            value = self._value(kind, text, name)
        except PhraseError:
            return None
        if value is None or generation(kind, text) is not None:
            return None
        self._values[name, text] = value
        return value

    def _value(self, kind: Kind, text: str, name: str) -> Any:
        """The value of an attribute, or None where it names a computation that is not known yet."""
        if kind is Kind.COMPUTATION:
            return None if text.startswith("{") else self.computations.get(text.removeprefix("%"))
        if kind is Kind.COMPUTATIONS:
            found = tuple(self.computations.get(n) for n in read_names(text))
            return None if None in found else found
        if kind is Kind.METADATA:
            read_value(kind, text, name)  # for its errors
            return Metadata(text)
        return read_value(kind, text, name)

    def _quick_payload(self, opcode: str, shape: Shape, inside: str, attributes: Attributes) -> Attributes | None:
        key = (opcode, shape, inside)
        payload = self._payloads.get(key)
        if payload is None:
            try:
                payload = self._payload(opcode, shape, inside)
            except PhraseError:
                return None
            if opcode == "constant" and literal_generation(shape, inside) is not None:
                return None
            if len(inside) < 64:
                self._payloads[key] = payload
        return payload if not attributes else payload | attributes

    def _payload(self, opcode: str, shape: Shape, inside: str) -> Attributes:
        if opcode == "constant":
            return Attributes({"literal": read_literal(shape, inside)})
        return Attributes({"parameter_number": read_value(Kind.INT, inside.strip(), "parameter_number")})

    def _typed_operands(self, inside: str, table: dict[str, HloInstruction]) -> tuple[HloInstruction, ...] | None:
        """Operands with their shapes in front; None when the long way must look at them."""
        if "/*" in inside:
            inside = _INDEX_COMMENT.sub("", inside)
        operands, at, match = [], 0, _TYPED_OPERAND.match
        while at < len(inside):
            found = match(inside, at)
            if found is None:
                return None
            operand = table[found[2]]
            shape = self._shapes.get(found[1]) or self._quick_shape(found[1], -1)
            if shape is None or not (
                    shape is operand.shape or (self._agree(shape, operand.shape) and has_orders(shape))):
                return None
            operands.append(operand)
            at = found.end()
        return tuple(operands)

    def _agree(self, declared: Shape, actual: Shape | None) -> bool:
        """Whether a shape written before an operand fits it; layouts are not compared, as in XLA."""
        key = (id(declared), id(actual))
        if key in self._compatible or actual is None:
            return True
        if declared.compatible(actual):
            self._compatible.add(key)
            return True
        return False

    # The long way: token by token

    def read_statement(self, computation: HloComputation, at: int) -> int:
        """Read one statement, whatever its spelling; returns the offset after it. Raises CutError."""
        return self.build(computation, cut_instruction(self.text, at))

    def build(self, computation: HloComputation, cut: Cut) -> int:
        """Make the instruction of a statement; whatever is wrong with its pieces is reported."""
        for era, message, start, end in cut.legacy:
            self.note(era, message, start, end)
        shape = self._reported_shape(cut)
        instruction = HloInstruction(cut.name, cut.opcode, shape, offset=cut.start)  # type: ignore[arg-type]
        values: dict[str, Any] = {}
        if cut.opcode in _PAYLOADS:
            self._read_payload(cut, shape, values)
        else:
            instruction.operands = self._read_operands(computation, cut)
        values |= self.read_attributes(cut.attributes, instruction)
        instruction.metadata = values.pop("metadata", None)
        instruction.attributes = Attributes(values) if values else NO_ATTRIBUTES
        if cut.opcode in _REDUCING and values.get("use_global_device_ids") and "channel_id" not in values \
                and "mode" not in values:
            self.report(CHANNEL_NEEDED, f"{cut.opcode} has use_global_device_ids=true and no channel_id",
                        cut.opcode_start, cut.opcode_start + len(cut.opcode), help="add channel_id=1")
        self._define(computation, cut, instruction)
        return cut.end

    def _reported_shape(self, cut: Cut) -> Shape | None:
        if not cut.shape:
            if cut.opcode in _PAYLOADS:
                self.report(NO_SHAPE, f"a {cut.opcode} needs its shape in front of the opcode", cut.opcode_start,
                            cut.opcode_start + len(cut.opcode), help=f"write it as f32[2,3] {cut.opcode}(...)")
            return None
        try:
            return self.shape(cut.shape, cut.shape_start)
        except PhraseError as error:
            self.report_phrase(error, cut.shape_start)
            return None

    def _read_payload(self, cut: Cut, shape: Shape | None, values: dict[str, Any]) -> None:
        if shape is None and cut.opcode == "constant":
            return
        try:
            values |= self._payload(cut.opcode, shape, cut.operands)  # type: ignore[arg-type]
        except PhraseError as error:
            self.report_phrase(error, cut.operands_start)
            return
        if cut.opcode == "constant" and shape is not None:
            self._note_found(literal_generation(shape, cut.operands), cut.operands, cut.operands_start)

    def _define(self, computation: HloComputation, cut: Cut, instruction: HloInstruction) -> None:
        name, start = cut.name, cut.name_start
        end = start + max(1, len(name))
        has_percent = self.text[start:start + 1] == "%"
        end += has_percent
        if name and (name in TYPE_WORDS or (name in KEYWORDS and not has_percent)):
            self.report(BAD_NAME, f"{name} is a word of the language and cannot be a name", start, end,
                        help=f"rename it to {name}_")
        elif name and _ILLEGAL.search(name):
            self.report(BAD_NAME, f"{name} is not a name: names start with a letter or '_'", start, end,
                        help=f"rename it to _{name}")
        if name and not has_percent and self.text[start + len(name):start + len(name) + 1] == "=":
            self.note("hand-written", "XLA reads a name that touches '=' as an attribute", start, end)
        if name in self.table:
            first = self.table[name].offset
            self.report(SAME_NAME, f"the name {name} is used twice in {computation.name}", start, end,
                        second=("first defined here", first, first + len(name)),
                        help=f"rename one of them, for instance to {unique_name(name, self.table)}")
        elif name:
            self.table[name] = instruction
        if cut.is_root and self._root is not None:
            self.report(TWO_ROOTS, f"{name} is a second ROOT in {computation.name}", cut.start, cut.start + 4,
                        second=("the first ROOT is this", self._root.offset, self._root.offset + 4))
        elif cut.is_root:
            self._root = instruction
        computation.instructions.append(instruction)

    # Attributes, the long way

    def read_attributes(self, cut: Sequence[CutAttribute], owner: HloInstruction | None) -> dict[str, Any]:
        """The values of a list of attributes; whatever is wrong is reported and left out."""
        values: dict[str, Any] = {}
        first: dict[str, CutAttribute] = {}
        for attribute in cut:
            name = attribute.name
            if name in first:
                start = first[name].start
                self.report(SAME_ATTRIBUTE, f"the attribute {name} is given twice", attribute.start,
                            attribute.start + len(name), second=("first given here", start, start + len(name)))
                continue
            first[name] = attribute
            try:
                value = self._read_attribute(attribute, owner)
            except PhraseError as error:
                self.report_phrase(error, attribute.value_start)
                continue
            if value is not None:
                values[name] = value
        return values

    def _read_attribute(self, attribute: CutAttribute, owner: HloInstruction | None) -> Any:
        name, text, offset = attribute.name, attribute.value, attribute.value_start
        kind = kind_of(name, text.startswith("{{"))
        self._note_found(generation(kind, text), text, offset)
        if name not in KINDS:
            self.note("custom", f"{name} is an attribute that XLA does not know: kept as it is", attribute.start,
                      offset + len(text))
        elif name in NEWER_ATTRIBUTES:
            self.note(NEWER_ATTRIBUTES[name], f"{name} is newer than most parsers", attribute.start,
                      attribute.start + len(name))
        if kind is Kind.INSTRUCTIONS:
            return self._named_instructions(text, offset)
        if kind is Kind.COMPUTATION and text.startswith("{"):
            return self.inline_computation(text, offset)
        value = self._value(kind, text, name)
        if value is None and owner is not None and kind in (Kind.COMPUTATION, Kind.COMPUTATIONS):
            self.pending.append((owner, name, read_names(text), offset, kind is Kind.COMPUTATIONS))
        return value

    def _named_instructions(self, text: str, offset: int) -> tuple[HloInstruction, ...]:
        found, begin = [], 0
        for name in read_names(text):
            begin = max(begin, text.find(name, begin))
            at = offset + begin
            begin += len(name)
            if name in self.table:
                found.append(self.table[name])
            else:
                self._undefined.append((name, at))
        return tuple(found)

    # Operands, the long way

    def _read_operands(self, computation: HloComputation, cut: Cut) -> tuple[HloInstruction, ...]:
        return self._operand_list(computation, cut.operands, cut.operands_start)

    def _operand_list(self, computation: HloComputation, text: str, base: int) -> tuple[HloInstruction, ...]:
        operands = []
        ranges = split_commas(text, base)
        for start, end in ranges:
            try:
                cut = cut_operand(self.text, start, end)
            except CutError as error:
                self.report_cut(error)
                continue
            if not cut.name and not cut.opcode and self.missing_operands is None and (start, end) != ranges[-1]:
                # XLA reads over a comma between an operand's shape and its name, and forgets the shape.
                self.note("hand-written", "a comma stands between an operand's shape and its name", start, end)
                continue
            operand = self._operand(computation, cut)
            if operand is not None:
                operands.append(operand)
        return tuple(operands)

    def _operand(self, computation: HloComputation, cut: CutOperand) -> HloInstruction | None:
        shape = None
        if cut.shape:
            try:
                shape = self.shape(cut.shape, cut.start)
            except PhraseError as error:
                self.report_phrase(error, cut.start)
        if cut.opcode:
            return self._nested(computation, cut, shape)
        operand = self.table.get(cut.name) if cut.name else None
        if operand is None:
            return self._unknown_operand(cut, shape)
        for index in cut.index:
            operand = self._element(computation, operand, index, cut)
            if operand is None:
                return None
        if shape is not None and shape is not operand.shape and not has_orders(shape):
            self.report(OPERAND_SHAPE, f"{shape}: minor-to-major is no permutation of the dimensions",
                        cut.start, cut.end)
        if shape is not None and not self._agree(shape, operand.shape):
            self.report(OPERAND_SHAPE, f"{cut.name} is written as {shape.without_layout()} here, it is "
                        f"{operand.shape.without_layout()}", cut.start, cut.end,
                        second=(f"{cut.name} is defined here", operand.offset, operand.offset + 1))
        return operand

    def _unknown_operand(self, cut: CutOperand, shape: Shape | None) -> HloInstruction | None:
        if self.missing_operands is None:
            if cut.name:
                self._undefined.append((cut.name, cut.end - len(cut.name)))
            else:
                self.report(BAD_STATEMENT, "an operand has a shape and no name", cut.start, cut.end,
                            help="operands may be nameless only in a text of one instruction")
            return None
        if shape is None:
            self.report(NO_SHAPE, f"the operand {cut.name} has no shape, so no parameter can stand for it",
                        cut.start, cut.end, help="write the operand as f32[2] %name")
            return None
        number = len(self.missing_operands)
        # XLA numbers nameless operands: _0, _1, ...
        name = cut.name or unique_name(f"_{number}", self.table)
        operand = HloInstruction(name, "parameter", shape, (), Attributes({"parameter_number": number}), None,
                                 cut.start)
        self.missing_operands.append(operand)
        self.table[name] = operand
        return operand

    def _nested(self, computation: HloComputation, cut: CutOperand, shape: Shape | None) -> HloInstruction | None:
        """An instruction in place of an operand gets the name `<opcode>.anon`, as in XLA."""
        if self._depth >= MOST_NESTED:
            self.report(NESTED_TOO_DEEP, f"instructions are nested more than {MOST_NESTED} deep", cut.start, cut.end,
                        help="give the inner instructions names and lines of their own")
            return None
        inner = Cut(cut.start, False, "", cut.start, cut.shape, cut.start, cut.opcode, cut.start, cut.nested,
                    cut.nested_start)
        values: dict[str, Any] = {}
        operands: tuple[HloInstruction, ...] = ()
        if cut.opcode in _PAYLOADS:
            if not cut.shape:
                self._reported_shape(inner)
            self._read_payload(inner, shape, values)
        else:
            self._depth += 1
            operands = self._operand_list(computation, cut.nested, cut.nested_start)
            self._depth -= 1
        name = unique_name(f"{cut.opcode}.anon", self._anonymous)
        self._anonymous[name] = None
        instruction = HloInstruction(name, cut.opcode, shape, operands,  # type: ignore[arg-type]
                                     Attributes(values) if values else NO_ATTRIBUTES, None, cut.start)
        computation.instructions.append(instruction)
        self.table[name] = instruction
        return instruction

    def _element(self, computation: HloComputation, operand: HloInstruction, index: int,
                 cut: CutOperand) -> HloInstruction | None:
        """`t#0`: the get-tuple-element that the suffix stands for, made once, with the name that XLA gives it."""
        known = self._elements.get((id(operand), index))
        if known is not None:
            return known
        shape = operand.shape.at((index,)) if operand.shape is not None else None
        if shape is None:
            self.report(NO_TUPLE_INDEX, f"{operand.name} is {operand.shape}, which has no element {index}", cut.start,
                        cut.end)
            return None
        name = unique_name(f"{operand.name}_{index}", self.table)
        made = HloInstruction(name, "get-tuple-element", shape, (operand,), Attributes({"index": index}), None,
                              cut.start)
        self.note("2026", "`name#i` for an element of a tuple is newer than most parsers", cut.start, cut.end)
        self.table[name] = self._elements[id(operand), index] = made
        computation.instructions.append(made)
        return made


__all__ = ["MOST_NESTED", "InstructionReader", "Literal"]
