"""The long way: one instruction token by token, whatever its spelling; what is wrong with its pieces is reported."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from hlotool.diagnostics import define
from hlotool.ir import (
    KINDS,
    NO_ATTRIBUTES,
    Attributes,
    HloComputation,
    HloInstruction,
    Kind,
    Shape,
    deferred,
    is_of_backends,
    kind_of,
    sanitized_name,
    unique_name,
)
from hlotool.text.definitions import Body, Definitions, PendingCall
from hlotool.text.keywords import KEYWORDS, TYPE_WORDS
from hlotool.text.legacy import NEWER_ATTRIBUTES
from hlotool.text.operands import OperandReader
from hlotool.text.phrase_cache import PAYLOADS, RememberedPhrases
from hlotool.text.phrase_errors import BAD_ATTRIBUTE
from hlotool.text.phrases import PhraseError, read_names
from hlotool.text.reports import Reports
from hlotool.text.scan import Cut, CutAttribute, cut_instruction, split_commas
from hlotool.text.syntax_errors import BAD_NAME, HAND_WRITTEN, SYNTAX
from hlotool.text.tokens import NAME, blank_start

SAME_NAME = define("P010", "duplicate-name", "two instructions of a computation have one name", SYNTAX)
SAME_ATTRIBUTE = define("P016", "duplicate-attribute", "an instruction has an attribute twice", SYNTAX)
CHANNEL_NEEDED = define("P019", "global-ids-without-channel",
                        "use_global_device_ids=true stands without channel_id",
                        "xla/hlo/ir/collective_op_group_mode.cc, GetCollectiveOpGroupMode")
TWO_ROOTS = define("P021", "two-roots", "more than one instruction of a computation is marked ROOT", SYNTAX)

_NAME = deferred(lambda: NAME)
#: kinds of attributes that name what an instruction calls or waits for
_NAMING = (Kind.COMPUTATION, Kind.COMPUTATIONS, Kind.INSTRUCTIONS)


def lacks_channel(attributes: Mapping[str, Any]) -> bool:
    """Return True if use_global_device_ids lacks the channel_id that it needs, which reading refuses."""
    return ("to_apply" in attributes and bool(attributes.get("use_global_device_ids"))
            and "channel_id" not in attributes and "mode" not in attributes)


class StatementReader:
    """Reads statements of one text; `read_inline` makes the computation of a body that stands in a name's place."""

    def __init__(self, reports: Reports, phrases: RememberedPhrases, definitions: Definitions,
                 read_inline: Callable[[str, int], HloComputation]) -> None:
        self._reports = reports
        self._text = reports.text
        self._phrases = phrases
        self._definitions = definitions
        self._read_inline = read_inline
        self._operands = OperandReader(reports, phrases, definitions)

    def read(self, body: Body, at: int) -> int:
        """Read one statement; returns the offset after it. Raises CutError."""
        return self.build(body, cut_instruction(self._text, at))

    def build(self, body: Body, cut: Cut) -> int:
        """Make the instruction of a statement that is cut; returns the offset after it."""
        for era, message, start, end in cut.legacy:
            self._reports.note(era, message, start, end)
        shape = self._shape(cut)
        instruction = HloInstruction(cut.name, cut.opcode, shape, offset=cut.start)  # type: ignore[arg-type]
        values: dict[str, Any] = {}
        if cut.opcode in PAYLOADS:
            values |= self._operands.payload(cut, shape)
        else:
            instruction.operands = self._operands.read(body, cut.operands, cut.operands_start)
        values |= self.attributes(cut.attributes, body, instruction)
        instruction.metadata = values.pop("metadata", None)
        instruction.attributes = Attributes(values) if values else NO_ATTRIBUTES
        if lacks_channel(values):
            self._reports.report(CHANNEL_NEEDED, f"{cut.opcode} has use_global_device_ids=true and no channel_id",
                                 cut.opcode_start, cut.opcode_start + len(cut.opcode), help="add channel_id=1")
        self._define(body, cut, instruction)
        self._definitions.suspects.append(instruction)
        return cut.end

    def _shape(self, cut: Cut) -> Shape | None:
        if not cut.shape:
            if cut.opcode in PAYLOADS:
                self._operands.report_no_shape(cut)
            return None
        try:
            return self._phrases.shape(cut.shape, cut.shape_start)
        except PhraseError as error:
            self._reports.report_phrase(error, cut.shape_start)
            return None

    def _define(self, body: Body, cut: Cut, instruction: HloInstruction) -> None:
        name, start, report = cut.name, cut.name_start, self._reports.report
        end = start + max(1, len(name))
        has_percent = self._text[start:start + 1] == "%"
        end += has_percent
        if name and (name in TYPE_WORDS or (name in KEYWORDS and not has_percent)):
            self._reports.reserved_name(name, start + has_percent)
        elif name and _NAME.fullmatch(name) is None:
            report(BAD_NAME, f"{name} is not a name: names start with a letter or '_'" if name.isascii() else
                   f"{name} is not a name: its letters and digits must be ASCII's", start, end,
                   help=f"rename it to {sanitized_name(name) if not name.isascii() else f'_{name}'}")
        elif is_of_backends(name):
            self._reports.note("", f"{name} begins with '__', as no instruction may that XLA reads", start, end,
                               HAND_WRITTEN)
        if name and not has_percent and self._text[start + len(name):start + len(name) + 1] == "=":
            self._reports.note("", "XLA reads a name that touches '=' as an attribute", start, end, HAND_WRITTEN)
        if name in body.table:
            first = body.table[name].offset
            report(SAME_NAME, f"the name {name} is used twice in {body.computation.name}", start, end,
                   second=("first defined here", first, first + len(name)),
                   help=f"rename one of them, for instance to {unique_name(name, body.table)}")
        elif name:
            body.table[name] = instruction
        if cut.is_root and body.root is not None:
            report(TWO_ROOTS, f"{name} is a second ROOT in {body.computation.name}", cut.start, cut.start + 4,
                   second=("the first ROOT is this", body.root.offset, body.root.offset + 4))
        elif cut.is_root:
            body.root = instruction
        body.computation.instructions.append(instruction)

    # Attributes

    def attributes(self, cut: Sequence[CutAttribute], body: Body | None = None,
                   owner: HloInstruction | None = None) -> dict[str, Any]:
        """Return the values of a list of attributes, of an instruction (`owner` in its `body`) or of a header."""
        values: dict[str, Any] = {}
        first: dict[str, CutAttribute] = {}
        for attribute in cut:
            name = attribute.name
            if name in first:
                start = first[name].start
                self._reports.report(SAME_ATTRIBUTE, f"the attribute {name} is given twice", attribute.start,
                                     attribute.start + len(name),
                                     second=("first given here", start, start + len(name)))
                continue
            first[name] = attribute
            if attribute.is_apart(self._text):
                self._reports.note("", "XLA reads an attribute only where '=' touches its name", attribute.start,
                                   attribute.start + len(name), HAND_WRITTEN)
            try:
                value = self._attribute(attribute, body, owner)
            except PhraseError as error:
                self._reports.report_phrase(error, attribute.value_start)
                continue
            if value is not None:
                values[name] = value
        return values

    def _attribute(self, attribute: CutAttribute, body: Body | None, owner: HloInstruction | None) -> Any:
        name, text, offset = attribute.name, attribute.value, attribute.value_start
        kind = kind_of(name, text.startswith("{{"))
        if owner is None and kind in _NAMING:
            raise PhraseError(BAD_ATTRIBUTE, f"{name} belongs behind an instruction: a module or computation has none",
                              0, len(text), "remove it, or move it behind the instruction that it is of")
        self._phrases.note_value(kind, text, offset)
        if name not in KINDS:
            self._reports.note("custom", f"{name} is an attribute that XLA does not know: kept as it is",
                               attribute.start, offset + len(text))
        elif name in NEWER_ATTRIBUTES:
            self._reports.note(NEWER_ATTRIBUTES[name], f"{name} is newer than most parsers", attribute.start,
                               attribute.start + len(name))
        if kind is Kind.INSTRUCTIONS and body is not None:
            return _named_instructions(text, offset, body)
        if kind is Kind.COMPUTATION and text.startswith("{"):
            return self._read_inline(text, offset)
        if kind is Kind.COMPUTATIONS and (bodies := _bodies_in_list(text)):
            return tuple(self._read_inline(text[start:end], offset + start) for start, end in bodies)
        value = self._phrases.value(kind, text, name)
        if value is None and owner is not None and kind in (Kind.COMPUTATION, Kind.COMPUTATIONS):
            self._definitions.pending.append(
                PendingCall(owner, name, read_names(text), offset, kind is Kind.COMPUTATIONS))
        return value


def _bodies_in_list(text: str) -> list[tuple[int, int]]:
    """Return where the bodies of `{ {...}, {...} }` begin and end, which stand in place of computations' names."""
    if not text[1:].lstrip().startswith("{"):
        return []
    ranges = [(start, blank_start(text, end)) for start, end in split_commas(text[1:-1], 1)]
    return ranges if all(text[start] == "{" and text[end - 1] == "}" for start, end in ranges) else []


def _named_instructions(text: str, offset: int, body: Body) -> tuple[HloInstruction, ...]:
    """Return the instructions of a body that a list names."""
    found, begin = [], 0
    for name in read_names(text, "some_names"):
        begin = max(begin, text.find(name, begin))
        at = offset + begin
        begin += len(name)
        if name in body.table:
            found.append(body.table[name])
        else:
            body.undefined.append((name, at))
    return tuple(found)


__all__ = ["StatementReader", "lacks_channel"]
