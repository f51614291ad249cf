"""HLO text to IR: modules, tables and computations. What is inside a computation is read by bodies.py.

Reading goes on after an error, so that one run reports every independent problem, each once.
"""

from __future__ import annotations

import dataclasses
import re

from hlotool.diagnostics import Diagnostic, HloError, define
from hlotool.grammars import beginning, pattern, strings_of, terminal
from hlotool.ir import (
    Attributes,
    HloComputation,
    HloInstruction,
    HloModule,
    Shape,
    Source,
    deferred,
    no_collection,
    unique_name,
    with_line_feeds,
)
from hlotool.text.bodies import BodyReader
from hlotool.text.definitions import Body, Definitions
from hlotool.text.headers import BAD_HEADER, HeaderReader
from hlotool.text.keywords import KEYWORDS
from hlotool.text.legacy import notes_of
from hlotool.text.phrase_cache import RememberedPhrases
from hlotool.text.phrases import PhraseError
from hlotool.text.reports import Reports
from hlotool.text.scan import HEADER, Cut, cut_attributes, cut_unnamed, match_bracket
from hlotool.text.syntax_errors import (
    BAD_STATEMENT,
    HAND_WRITTEN,
    MISSING_CLOSE,
    STRAY_TEXT,
    SYNTAX,
    TRUNCATED,
    CutError,
)
from hlotool.text.tokens import (
    CLOSE_PLAIN,
    MODULE_WORD,
    NAME,
    STATEMENT,
    TABLES,
    next_statement,
    skip_blank,
    table_row,
    up_to_brace,
    up_to_parameters,
)

TWO_ENTRIES = define("P020", "two-entries", "more than one computation is marked ENTRY", SYNTAX)
SAME_COMPUTATION = define("P022", "duplicate-computation", "two computations have one name", SYNTAX)
UNKNOWN_COMPUTATION = define("P023", "undefined-computation", "a computation is named that the text does not define",
                             SYNTAX)
EMPTY = define("P024", "empty-module", "the text holds no computation, or a computation no instruction", SYNTAX)
BAD_TABLE = define("P026", "bad-stack-frame-table", "a row or section of the stack-frame tables is not in order",
                   SYNTAX)
SECOND_MODULE = define("P027", "second-module", "a second module follows in the same text", SYNTAX)
ROOT_SHAPE = define("P028", "header-result-shape", "the header's result shape is not that of the root", SYNTAX)
NUL = define("P029", "nul-byte", "a NUL byte stands in the text", SYNTAX)

#: the module's name, and the colon of 2017
_MODULE = deferred(lambda: pattern("hlo", "module_name", comments=True))
_TABLE_BEGINS = deferred(lambda: rf"(?:{'|'.join(TABLES)})\b")
_COMPUTATION_START = deferred(lambda: pattern("hlo", "computation_name", comments=True))
_ENTRY = terminal("hlo", "ENTRY")
#: one line over instructions that is not a header in order, so that no rule is its: a parenthesis, the arrow or the
#: brace is missing, or a word stands in front that is none. Names, ENTRY and the statement below are the grammar's.
_BROKEN_HEADER = deferred(
    lambda: rf"(?:(?P<entry>{_ENTRY})[ \t]*+|(?P<word>[A-Z]\w++)[ \t]++)?%?(?P<name>{NAME})"
    # up to the brace that ends the line, blanks in front of it included, so that no run of blanks is read twice
    rf"(?P<rest>[ \t]*+(?:\((?:[^\n \t{{]++|[ \t]++(?!\n|\{{[ \t]*+\n)|\{{(?![ \t]*+\n))*+)?(?:[ \t]++(?=\{{))?)"
    rf"(?P<brace>\{{)?+(?P<end>)[ \t]*+\n(?=\s*+"
    rf"{beginning('hlo', 'instruction', through=('EQUALS',), spaced=('EQUALS',))})")
#: the brace of a body that begins on the line of its header, which no layout is
_BODY_OPENS = deferred(lambda: r"\{(?![ \t]*+[\d:}])")
#: a text that breaks off in a header's beginning
_HEADER_BEGUN = deferred(lambda: rf"{beginning('hlo', 'computation', before=('WORD',))}(?:{NAME})?+\s*+")


def _header() -> str:
    return rf"(?:{up_to_brace()}|{up_to_parameters()}[^\n]*\)\s*{terminal('hlo', 'ARROW')}[^\n]*\{{)"


#: what every text has that is a piece of a module: an assignment, brackets of a shape, a word of the headers
_SIGN_OF_HLO = deferred(lambda: rf"=|\w\[[^\[\]\n]*\]|{MODULE_WORD}|{_ENTRY}")
_MODULE_BEGINS = deferred(lambda: rf"{MODULE_WORD}\b")
_LOOKS_LIKE_HLO = deferred(lambda: rf"{_ENTRY}|{_header()}|{STATEMENT.pattern}\S")
_BEGINS_ENTRY = deferred(lambda: _ENTRY)
_MODULE_LINE = deferred(lambda: rf"^{terminal('hlo', '_HLO_MODULE')}", re.M)
_HEADER_LINE = deferred(lambda: rf"^(?:{_ENTRY}|{_header()}[ \t]*$)", re.M)
_SHAPE_BEGINS = deferred(lambda: beginning("shape", "shape", through=("(", "[")))


def parse(text: str, filename: str = "<string>") -> HloModule:
    """Return the module that a text holds.

    Raises HloError with every syntax error, each located. Shapes that the text leaves out are None until
    hlotool.passes.infer_shapes fills them. Old and new forms that were met are in the module's `notes`.
    Source of the syntax: grammars/*.lark.
    """
    module, diagnostics = parse_recovering(Source(_normal(text), filename))
    if diagnostics:
        raise HloError(diagnostics)
    return module


def parse_recovering(source: Source) -> tuple[HloModule, list[Diagnostic]]:
    """Return the module as far as it can be read, and the errors; it is whole only if there are none."""
    with no_collection():
        reader = ModuleReader(source)
        module = reader.read()
    return module, in_order(reader.reports.diagnostics)


def other_result(computation: HloComputation, declared: Shape) -> str:
    """Return what is wrong with a computation whose header says another result than its root is."""
    root = computation.root
    return (f"the header says that {computation.name} gives {declared.without_layout()}, its root {root.name} is "
            f"{root.shape.without_layout()}")


def in_order(found: list[Diagnostic]) -> list[Diagnostic]:
    """Errors in the order of the text, each once: two ways to the same place find the same mistake."""
    distinct = {(d.line, d.column, d.code): d for d in reversed(found)}
    return sorted(distinct.values(), key=lambda d: (d.line, d.column))


def _normal(text: str) -> str:
    """Return the text without byte-order mark and carriage returns, which change no line number."""
    return with_line_feeds(text.removeprefix("\ufeff"))


class ModuleReader:
    """Reads one module from one source."""

    def __init__(self, source: Source) -> None:
        self.text = source.text
        self.reports = Reports(source)
        self.report, self.note = self.reports.report, self.reports.note
        self.module = HloModule("", source=source)
        self._definitions = Definitions(self.module)
        self._phrases = RememberedPhrases(self.reports, self._definitions)
        self._bodies = BodyReader(self.reports, self._phrases, self._definitions)
        self._headers = HeaderReader(self.reports, self._phrases)
        #: where each body begins and ends: offsets behind its opening and in front of its closing brace
        self.bodies: dict[HloComputation, tuple[int, int]] = {}
        #: what stands for the statements of a body that could not be read
        self.failed: dict[HloComputation, list[HloInstruction]] = {}

    def read(self) -> HloModule:
        """Read the whole text; errors are in `diagnostics`."""
        text = self.text
        if "\0" in text:
            at = text.index("\0")
            self.report(NUL, "a NUL byte stands in the text", at, at + 1,
                        help="the file is truncated or not text" if text.rstrip("\0").find("\0") < 0 else "")
            return self.module
        at = skip_blank(text, 0)
        if at >= len(text):
            self.report(EMPTY, "the text is empty", 0, max(1, len(text)))
            return self.module
        at = self._skip_prose(at)
        if text.startswith(MODULE_WORD, at):
            at = self._tables(self._header(at))
        elif not self._is_computation(at):
            if _SIGN_OF_HLO.search(text, at) is None:
                self.report(EMPTY, "the text is no HLO: it has no module, no computation, no instruction and no shape",
                            at, at + len(text[at:at + 120].split("\n", 1)[0].rstrip()))
                return self.module
            self._single_instruction(at)
            return self._finish()
        else:
            self._without_header(at)
        while (at := skip_blank(text, at)) < len(text):
            at = self._top_level(at)
        return self._finish()

    def _without_header(self, at: int) -> None:
        """XLA reads computations alone where the text begins with ENTRY, or with a name and a brace."""
        self.module.name = ""
        found = _computation_start(self.text, at)
        if found is not None and not found[1] and self.text[found.end()] != "{":
            self.note("", "XLA reads a text that begins so only behind `HloModule name`", at, found.end(), HAND_WRITTEN)

    def _skip_prose(self, at: int) -> int:
        """Past what stands in front of the module, which is reported."""
        text = self.text
        begun = _computation_start(text, at)
        if _MODULE_BEGINS.match(text, at) or _LOOKS_LIKE_HLO.match(text, at) or _SHAPE_BEGINS.match(text, at) or (
                begun is not None and text[begun.end()] == "{"):
            return at
        found = _MODULE_LINE.search(text, at) or _HEADER_LINE.search(text, at)
        if found is None:
            return at
        end = len(text[:found.start()].rstrip())
        self.report(STRAY_TEXT, "text stands in front of the module", at, min(end, at + 120),
                    help="remove it: a module starts with `HloModule name`, or with `//` in front of a comment")
        return found.start()

    def _is_computation(self, at: int) -> bool:
        found = _computation_start(self.text, at)
        if found is None:
            return _BEGINS_ENTRY.match(self.text, at) is not None
        if self.text[found.end()] == "{":
            return True
        try:
            after = skip_blank(self.text, match_bracket(self.text, found.end()))
        except CutError:
            return True
        return self.text.startswith("->", after)

    # The header

    def _header(self, at: int) -> int:
        text = self.text
        found = _MODULE.match(text, at)
        if found is None:
            self.report(BAD_HEADER, "expected a name after HloModule", at, at + len(MODULE_WORD))
            return at + len(MODULE_WORD)
        if found[1] in KEYWORDS and "\n" in text[at:found.start(1)]:
            return at + len(MODULE_WORD)  # a word that begins what follows; verification says that there is no name
        self.module.name = found[1].removeprefix("%")
        self._headers.check_name(found[1], found.start(1))
        if found[2]:
            self.note("2017", "a colon ends the header in the text of 2017 and 2018", found.start(2), found.end(2))
        cut = Cut(at, False, "", at, "", at, "", at, "", at)
        try:
            cut_attributes(text, found.end(), cut)
        except CutError as error:
            self.reports.report_cut(error)
            return error.resume if error.resume is not None else next_statement(text, found.end())
        values = self._bodies.statements.attributes(cut.attributes)
        self.module.attributes = Attributes(values)
        return cut.end

    def _tables(self, at: int) -> int:
        text = self.text
        at = skip_blank(text, at)
        if not _TABLE_BEGINS.match(text, at):
            return at
        for section in TABLES:
            if not text.startswith(section, at):
                self.report(BAD_TABLE, f"expected the section {section}", at, at + 1,
                            help=f"the four tables {', '.join(TABLES)} go together")
                return next_statement(text, at)
            at = skip_blank(text, at + len(section))
            row, rows = table_row(section), []
            while found := row.match(text, at):
                rows.append(found[0].rstrip())
                at = found.end()
            self.module.tables[section] = tuple(rows)
            if text[at:at + 1].isdigit():
                line_end = text.find("\n", at)
                self.report(BAD_TABLE, f"a row of {section} lacks a field or has one too many", at,
                            len(text) if line_end < 0 else line_end, help=_row_help(section))
                at = _after_rows(text, at)
                if at >= len(text):
                    return at
            at = skip_blank(text, at)
        return at

    # Computations

    def _top_level(self, at: int) -> int:
        text = self.text
        found = HEADER.match(text, at)
        if found is not None:
            entry, name, parameters, result = found.groups()
            if parameters:
                self._headers.check_parameters(*found.span(3))
            return self._computation(at, bool(entry), name, found.start(2), result,
                                     found.start(4) if result else 0, found.end())
        start = _computation_start(text, at)
        if (body := self._broken_header(at)) is not None:
            return body
        if start is None:
            return self._stray(at)
        try:
            return self._slow_header(at, start)
        except CutError as error:
            self.reports.report_cut(error)
            return error.resume if error.resume is not None and error.resume > at else next_statement(text, at)

    def _broken_header(self, at: int) -> int | None:
        """Report a header that is not one but has instructions under it, and read those; None for other texts."""
        found = _BROKEN_HEADER.match(self.text, at)
        if found is None or STATEMENT.match(self.text, at):
            return None
        arrow = found["rest"].find("->")
        opening = _BODY_OPENS.search(found["rest"], arrow) if arrow >= 0 else None
        rest = found["rest"][:opening.start() if opening else None]
        is_open, has_brace = rest.count("(") > rest.count(")"), bool(opening or found["brace"])
        if has_brace and ("->" in rest or not rest.strip()) and not found["word"] and not is_open:
            return None
        line_end = found.start("end")
        if found["word"]:
            self.report(BAD_HEADER, f"expected ENTRY or a computation's name alone, found {found['word']}", at,
                        found.end("word"), help="did you mean ENTRY?")
        elif is_open:
            stop = found.start("rest") + len((rest.partition("->")[0] if rest.count("->") == 1 else rest).rstrip())
            self.report(MISSING_CLOSE, "expected ')' in the computation's header", stop - 1, stop, help="add ')'")
        elif not has_brace:
            self.report(BAD_HEADER, "expected '{' at the end of the computation's header", line_end - 1, line_end,
                        help="add '{'")
        else:
            self.report(BAD_HEADER, "expected '->' and the result's shape after the parameters", found.start("rest"),
                        found.end("rest"), help="write the header as `name (p: f32[2]) -> f32[2] {` or as `name {`")
        is_entry = bool(found["entry"]) or bool(found["word"])
        body = found.start("rest") + opening.end() if opening else found.end("end")
        return self._computation(at, is_entry, found["name"], found.start("name"), None, 0, body)

    def _slow_header(self, at: int, start: re.Match[str]) -> int:
        text = self.text
        result, result_start, position = None, 0, start.end()
        if text[position] == "(":
            inside, position = position + 1, match_bracket(text, position)
            self._headers.check_parameters(inside, position - 1)
            position = skip_blank(text, position)
            if not text.startswith("->", position):
                self.report(BAD_HEADER, "expected '->' and the result's shape after the parameters", at, position,
                            help="write the header as `name (p: f32[2]) -> f32[2] {` or as `name {`")
                return next_statement(text, position)
            result_start = skip_blank(text, position + 2)
            brace = self._header_brace(result_start)
            result = text[result_start:brace].rstrip()
            position = brace
        return self._computation(at, bool(start[1]), start[3], start.start(3), result, result_start, position + 1)

    def _header_brace(self, at: int) -> int:
        """Return the brace that opens the body, after a result shape that may have layouts of its own."""
        text = self.text
        position = at
        while True:
            found = re.compile(r"[({\[]").search(text, position)
            if found is None:
                raise CutError(TRUNCATED, "the text ends in a computation's header", at, len(text), resume=len(text))
            inside = skip_blank(text, found.end())
            inner = text[inside:inside + 1]
            if found[0] == "{" and not (inner.isdigit() or inner in ":}"):
                return found.start()
            if found[0] == "{" and inner == "}" and text[found.start() - 1].isspace():
                return found.start()
            position = match_bracket(text, found.start())

    def _computation(self, at: int, is_entry: bool, name: str, name_start: int, result: str | None,
                     result_start: int, body: int) -> int:
        self._headers.check_name(name, name_start)
        inner = Body(computation := HloComputation(name, offset=name_start))
        at = self._bodies.read(inner, body)
        self.bodies[computation] = body, at
        if inner.failed:
            self.failed[computation] = inner.stand_ins()
        if is_closed := self.text.startswith("}", at):
            at = self._behind_body(computation, at)
        self._close(computation, is_entry, name_start)
        # The root of a computation that breaks off is no root.
        if result is not None and is_closed and not inner.failed:
            self._check_result(computation, result, result_start)
        return at

    def _close(self, computation: HloComputation, is_entry: bool, offset: int) -> None:
        first = self._definitions.computations.setdefault(computation.name, computation)
        if first is not computation:
            self.report(SAME_COMPUTATION, f"the computation {computation.name} is defined twice", offset,
                        offset + len(computation.name), second=("first defined here", first.offset,
                                                                first.offset + len(first.name)))
        self.module.computations.append(computation)
        if not is_entry:
            return
        if self.module.entry is not None:
            self.report(TWO_ENTRIES, "a second computation is marked ENTRY", offset, offset + len(computation.name),
                        second=("the first is this one", self.module.entry.offset,
                                self.module.entry.offset + len(self.module.entry.name)))
            return
        self.module.entry = computation

    def _check_result(self, computation: HloComputation, text: str, offset: int) -> None:
        try:
            declared = self._phrases.shape(text)
        except PhraseError as error:
            self.reports.report_phrase(error, offset)
            return
        root = computation.root
        # A root that is in error has no shape to compare with.
        actual: Shape | None = root.shape if root is not None else None
        if root is not None and actual is None:
            self.module.declared_results.append((computation, declared, offset, offset + len(text)))
        if actual is not None and declared is not actual and not declared.agrees(actual):
            self.report(ROOT_SHAPE, other_result(computation, declared), root.offset,
                        root.offset + len(root.name), second=("the header says so here", offset, offset + len(text)))

    def _behind_body(self, computation: HloComputation, at: int) -> int:
        """Read what stands behind a computation's closing brace at `at`; returns the offset after it."""
        try:
            return self._computation_attributes(computation, at)
        except CutError as error:
            self.reports.report_cut(error)
            return max(error.resume or 0, at + 1)

    def _computation_attributes(self, computation: HloComputation, at: int) -> int:
        text = self.text
        found = CLOSE_PLAIN.match(text, at)
        if found is not None and text[found.end():found.end() + 1] != ",":
            return found.end()
        after = skip_blank(text, at + 1)
        if text[after:after + 1] == ",":
            cut = Cut(at, False, "", at, "", at, "", at, "", at)
            cut_attributes(text, at + 1, cut)
            computation.attributes = Attributes(self._bodies.statements.attributes(cut.attributes))
            return cut.end
        return after

    def _stray(self, at: int) -> int:
        text = self.text
        resume = max(next_statement(text, at), at + 1)
        if text.startswith(MODULE_WORD, at):
            self.report(SECOND_MODULE, "a second module follows in the same text", at, at + len(MODULE_WORD),
                        help="read files with hlotool.read_modules, which splits them")
            return len(text)
        if STATEMENT.match(text, at):
            end = text.find("\n", at)
            self.report(BAD_STATEMENT, "an instruction stands outside of any computation", at,
                        len(text) if end < 0 else end)
            return max(resume, at + 1)
        if _HEADER_BEGUN.fullmatch(text, at):
            self.report(TRUNCATED, "the text ends in a computation's header", at, len(text.rstrip()),
                        help="the file is truncated: get the whole dump")
            return len(text)
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        self.report(STRAY_TEXT, f"expected a computation, found '{text[at:min(end, at + 40)]}'", at, end)
        return resume

    def _single_instruction(self, at: int) -> None:
        """A text that is one instruction: every unknown operand that carries a shape becomes a parameter."""
        computation = HloComputation("_", offset=at)
        body = Body(computation)
        missing = self._definitions.missing_operands = []
        found = STATEMENT.match(self.text, at)
        try:
            if found is not None:
                end = self._bodies.statements.read(body, at)
            else:
                end = self._bodies.statements.build(body, cut_unnamed(self.text, at))
        except CutError as error:
            self.reports.report_cut(error)
            end = len(self.text)
        if (rest := skip_blank(self.text, end)) < len(self.text) and not self.reports.diagnostics:
            self.report(STRAY_TEXT, "text follows the single instruction", rest, len(self.text),
                        help="write `HloModule name` and `ENTRY main { ... }` around several instructions")
        computation.instructions[:0] = missing
        if computation.instructions:
            root = computation.root or computation.instructions[-1]
            root.name = root.name or unique_name("_", body.table)
            computation.root = root
            self.module.entry = computation
            self.module.computations.append(computation)
            self.module.name = "_"
            self.note("single instruction", "the text is one instruction: its operands became parameters", at, at + 1)

    # The end

    def _finish(self) -> HloModule:
        module = self.module
        self._resolve_pending()
        self._call_truncated()
        if not module.computations:
            if not self.reports.diagnostics:
                self.report(EMPTY, "the module has no computations", 0, max(1, min(len(self.text), 40)),
                            help="is the text truncated?")
            return module
        if module.entry is None:
            module.entry = module.computations[-1]
        if not module.name:
            module.name = f"module_{module.entry.name}"
        module.notes = [*self.reports.notes, *notes_of(module, self._definitions.suspects)]
        return module

    def _call_truncated(self) -> None:
        """Report only that the text breaks off, in place of errors at its end."""
        found = self.reports.diagnostics
        if not found:
            return
        text = self.text.rstrip()
        if any(d.code == TRUNCATED for d in found):
            end = self.reports.source.position(len(text))
            found[:] = [d for d in found if d.code == TRUNCATED or (d.end_line, d.end_column) < (end.line, end.column)]
            return
        if text.endswith("}"):
            return
        last = max(found, key=lambda d: (d.line, d.column))
        is_begun = bool(self.module.name) or bool(self.module.computations) or MODULE_WORD.startswith(text.lstrip())
        if is_begun and last.code not in (STRAY_TEXT, SECOND_MODULE) and \
                last.line >= self.reports.source.position(len(text)).line:
            found.remove(last)
            found.append(dataclasses.replace(
                last, code=TRUNCATED, message=f"the text ends in the middle: {last.message}", fixes=(),
                help="the file is truncated: get the whole dump"))

    def _resolve_pending(self) -> None:
        for call in self._definitions.pending:
            found = []
            for name in call.names:
                computation = self._definitions.computations.get(name)
                if computation is None:
                    self._undefined_computation(name, self._named_at(name, call.offset))
                    break
                found.append(computation)
            else:
                value = tuple(found) if call.is_many else found[0]
                call.instruction.attributes = call.instruction.attributes | {call.attribute: value}
                first, at = call.names[0], self._named_at(call.names[0], call.offset)
                self.note("", f"{first} is called before it is defined, which XLA does not read", at, at + len(first),
                          HAND_WRITTEN)

    def _named_at(self, name: str, at: int) -> int:
        """Return where a name stands in the value of an attribute that begins at `at`."""
        found = re.compile(rf"(?<![\w.\-]){re.escape(name)}(?![\w.\-])").search(self.text, at)
        return at if found is None else found.start()

    def _undefined_computation(self, name: str, offset: int) -> None:
        help, fixes = self.reports.suggest(name, self._definitions.computations, offset, 0.6)
        self.report(UNKNOWN_COMPUTATION, f"there is no computation {name}", offset, offset + len(name), help=help,
                    fixes=fixes)


def _computation_start(text: str, at: int) -> re.Match[str] | None:
    """ENTRY and the name of a computation, where its parameters or its body follow."""
    found = _COMPUTATION_START.match(text, at)
    return found if found is not None and text[found.end():found.end() + 1] in ("(", "{") else None


def _row_help(section: str) -> str:
    fields = [text.rstrip("=") for text in strings_of("hlo", TABLES[section]) if text.endswith("=")]
    return f"its fields are, in this order: {' '.join(fields)}" if fields else 'a row is a number and a quoted string'


def _after_rows(text: str, at: int) -> int:
    """Past the rest of a table whose row is in error."""
    found = re.compile(r"^(?=[^\d\s])", re.M).search(text, at)
    return found.start() if found else len(text)


__all__ = ["ModuleReader", "parse", "parse_recovering"]
