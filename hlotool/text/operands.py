"""Reads an instruction's parentheses in all forms, old ones too: operands and payloads."""

from __future__ import annotations

from hlotool.diagnostics import define
from hlotool.ir import NO_ATTRIBUTES, Attributes, HloInstruction, Shape, unique_name
from hlotool.text.definitions import MOST_NESTED, Body, Definitions
from hlotool.text.phrase_cache import PAYLOADS, RememberedPhrases
from hlotool.text.phrases import PhraseError
from hlotool.text.reports import Reports
from hlotool.text.scan import Cut, CutOperand, cut_operand, split_commas
from hlotool.text.shapes_text import has_orders
from hlotool.text.syntax_errors import BAD_STATEMENT, NESTED_TOO_DEEP, SYNTAX, CutError

OPERAND_SHAPE = define("P014", "operand-shape", "the shape written before an operand is not the operand's", SYNTAX)
NO_SHAPE = define("P015", "missing-shape", "an instruction whose shape cannot be inferred has none", SYNTAX)
NO_TUPLE_INDEX = define("P018", "bad-tuple-index", "`name#i` takes an element that the operand does not have", SYNTAX)


class OperandReader:
    """Reads operands of one text."""

    def __init__(self, reports: Reports, phrases: RememberedPhrases, definitions: Definitions) -> None:
        self._reports = reports
        self._phrases = phrases
        self._definitions = definitions
        #: elements that `name#i` stands for, by operand and index
        self._elements: dict[tuple[int, int], HloInstruction] = {}

    def payload(self, cut: Cut, shape: Shape | None) -> Attributes:
        """Return the payload of a parameter or constant; empty where a fault is reported."""
        if shape is None and cut.opcode == "constant":
            return NO_ATTRIBUTES
        try:
            payload = self._phrases.payload(cut.opcode, shape, cut.operands)
        except PhraseError as error:
            self._reports.report_phrase(error, cut.operands_start)
            return NO_ATTRIBUTES
        if cut.opcode == "constant" and shape is not None:
            self._phrases.note_literal(shape, cut.operands, cut.operands_start)
        return payload

    def report_no_shape(self, cut: Cut) -> None:
        """Report that a parameter or constant has no shape."""
        self._reports.report(NO_SHAPE, f"a {cut.opcode} needs its shape in front of the opcode", cut.opcode_start,
                             cut.opcode_start + len(cut.opcode), help=f"write it as f32[2,3] {cut.opcode}(...)")

    def read(self, body: Body, text: str, base: int) -> tuple[HloInstruction, ...]:
        """Return the operands of a text, which begins at `base` in the source."""
        operands = []
        ranges = split_commas(text, base)
        for start, end in ranges:
            try:
                cut = cut_operand(self._reports.text, start, end)
            except CutError as error:
                self._reports.report_cut(error)
                continue
            if not cut.name and not cut.opcode and self._definitions.missing_operands is None \
                    and (start, end) != ranges[-1]:
                # XLA reads over a comma between an operand's shape and its name, and forgets the shape.
                self._reports.note("hand-written", "a comma stands between an operand's shape and its name", start, end)
                continue
            operand = self._operand(body, cut)
            if operand is not None:
                operands.append(operand)
        return tuple(operands)

    def _operand(self, body: Body, cut: CutOperand) -> HloInstruction | None:
        shape = None
        if cut.shape:
            try:
                shape = self._phrases.shape(cut.shape, cut.start)
            except PhraseError as error:
                self._reports.report_phrase(error, cut.start)
        if cut.opcode:
            return self._nested(body, cut, shape)
        operand = body.table.get(cut.name) if cut.name else None
        if operand is None:
            return self._unknown(body, cut, shape)
        for index in cut.index:
            operand = self._element(body, operand, index, cut)
            if operand is None:
                return None
        if shape is not None:
            self._check_shape(shape, operand, cut)
        return operand

    def _check_shape(self, shape: Shape, operand: HloInstruction, cut: CutOperand) -> None:
        if shape is not operand.shape and not has_orders(shape):
            self._reports.report(OPERAND_SHAPE, f"{shape}: minor-to-major is no permutation of the dimensions",
                                 cut.start, cut.end)
        if not self._phrases.agree(shape, operand.shape):
            self._reports.report(OPERAND_SHAPE, f"{cut.name} is written as {shape.without_layout()} here, it is "
                                 f"{operand.shape.without_layout()}", cut.start, cut.end,
                                 second=(f"{cut.name} is defined here", operand.offset, operand.offset + 1))

    def _unknown(self, body: Body, cut: CutOperand, shape: Shape | None) -> HloInstruction | None:
        missing = self._definitions.missing_operands
        if missing is None:
            if cut.name:
                body.undefined.append((cut.name, cut.end - len(cut.name)))
            else:
                self._reports.report(BAD_STATEMENT, "an operand has a shape and no name", cut.start, cut.end,
                                     help="operands may be nameless only in a text of one instruction")
            return None
        if shape is None:
            self._reports.report(NO_SHAPE, f"the operand {cut.name} has no shape, so no parameter can stand for it",
                                 cut.start, cut.end, help="write the operand as f32[2] %name")
            return None
        number = len(missing)
        # XLA numbers nameless operands: _0, _1, ...
        name = cut.name or unique_name(f"_{number}", body.table)
        operand = HloInstruction(name, "parameter", shape, (), Attributes({"parameter_number": number}), None,
                                 cut.start)
        missing.append(operand)
        body.table[name] = operand
        return operand

    def _nested(self, body: Body, cut: CutOperand, shape: Shape | None) -> HloInstruction | None:
        """An instruction in place of an operand gets the name `<opcode>.anon`, as in XLA."""
        known = self._definitions
        if known.depth >= MOST_NESTED:
            self._reports.report(NESTED_TOO_DEEP, f"instructions are nested more than {MOST_NESTED} deep", cut.start,
                                 cut.end, help="give the inner instructions names and lines of their own")
            return None
        attributes = NO_ATTRIBUTES
        operands: tuple[HloInstruction, ...] = ()
        if cut.opcode in PAYLOADS:
            inner = Cut(cut.start, False, "", cut.start, cut.shape, cut.start, cut.opcode, cut.start, cut.nested,
                        cut.nested_start)
            if not cut.shape:
                self.report_no_shape(inner)
            attributes = self.payload(inner, shape)
        else:
            known.depth += 1
            operands = self.read(body, cut.nested, cut.nested_start)
            known.depth -= 1
        name = unique_name(f"{cut.opcode}.anon", known.anonymous)
        known.anonymous[name] = None
        instruction = HloInstruction(name, cut.opcode, shape, operands, attributes, None,  # type: ignore[arg-type]
                                     cut.start)
        body.computation.instructions.append(instruction)
        body.table[name] = instruction
        known.suspects.append(instruction)
        return instruction

    def _element(self, body: Body, operand: HloInstruction, index: int, cut: CutOperand) -> HloInstruction | None:
        """`t#0`: the get-tuple-element that the suffix stands for, made once, with the name that XLA gives it."""
        known = self._elements.get((id(operand), index))
        if known is not None:
            return known
        shape = operand.shape.at((index,)) if operand.shape is not None else None
        if shape is None:
            self._reports.report(NO_TUPLE_INDEX, f"{operand.name} is {operand.shape}, which has no element {index}",
                                 cut.start, cut.end)
            return None
        name = unique_name(f"{operand.name}_{index}", body.table)
        made = HloInstruction(name, "get-tuple-element", shape, (operand,), Attributes({"index": index}), None,
                              cut.start)
        self._reports.note("2026", "`name#i` for an element of a tuple is newer than most parsers", cut.start, cut.end)
        body.table[name] = self._elements[id(operand), index] = made
        body.computation.instructions.append(made)
        return made


__all__ = ["NO_SHAPE", "OperandReader"]
