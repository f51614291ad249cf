"""Programs from MLIR's text: the generic form of every dialect, and the short forms of StableHLO's dialects.

Reading goes on after a mistake, so that one run reports every independent one. Most lines of a program differ from
others in the names of values alone: an operation on one line is read once, and lines that are the same but for their
names are made from what was found (`Line`).
"""

from __future__ import annotations

import functools
import re
import sys
from typing import Any, ClassVar

from hlotool.diagnostics import Diagnostic, HloError, Note, Severity, did_you_mean, shortened
from hlotool.grammars import Mismatch, Reader, blank_of, token_word
from hlotool.ir import Source, no_collection
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.codes import BAD_SYNTAX, NESTED, REDEFINED, UNCLOSED, UNDEFINED, UNKNOWN_OPERATION
from hlotool.mlir.elements_text import unescaped
from hlotool.mlir.operations import Block, Operation, Region, walk
from hlotool.mlir.short_forms import FULL_NAMES, ISOLATED
from hlotool.mlir.text_error import TextError
from hlotool.mlir.text_operations import Frame, OperationBuilder, Scope
from hlotool.mlir.text_values import Rules

_DEEPEST_REGIONS = 200
_CALLS = 20_000
_MOST_ERRORS = 100
_BLANK = blank_of("stablehlo")
_skip = re.compile(_BLANK, re.ASCII).match
_word = re.compile(r"[A-Za-z_][\w$.\-]*", re.ASCII).match
_RESULTS = re.compile(r"%[\w$.\-]++(?::\d++)?+(?:,\s*%[\w$.\-]++(?::\d++)?+)*+\s*=(?!=)", re.ASCII)
_RESULT_NAME = re.compile(r"(%[\w$.\-]+)(?::(\d+))?", re.ASCII)
#: results and the rest of a line that begins an operation, as printers write them
_LINE = re.compile(r"(?:(%[^\n=]*?) = )?+([A-Za-z\"][^\n]*+)", re.ASCII)
_NAMES = re.compile(r"(%[\w$.\-]++(?:#\d++)?+)", re.ASCII)
#: between an operation and what follows it, where no location, comma or the like goes on with the operation
_NEXT = re.compile(rf"{_BLANK}(?=[%}}^\"]|(?!loc\b)[A-Za-z]|\Z)", re.ASCII)
_STATEMENT_LINE = re.compile(r"^[^\S\n]*(?:%[\w$.\-]+(?::\d+)?(?:,[^\n=]*)?\s*=|\"[\w.\-]+\"\(|[a-z_]+\.[a-z_]\w*|"
                             r"(?:return|call|module)\b|\}|\^\w+)", re.M | re.ASCII)
_BRACKET_OR_STRING = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|//[^\n]*|[{}()\[\]]')


class Line:
    """What lines of one form have in common: everything but the names of their values."""

    __slots__ = ("attributes", "name", "operands", "properties", "result_types", "types")

    def __init__(self, name: str, operands: list[int], frame: Frame, operation: Operation) -> None:
        self.name = name
        #: which of the names of the line is each operand
        self.operands = operands if operands != sorted(operands) else None
        self.types = frame.operand_types or ()
        self.result_types = frame.result_types
        self.properties = dict(operation.properties)
        self.attributes = dict(operation.attributes)


def _read_operation(text: str, at: int, out: list[Any], builder: Any) -> int:
    """Read an operation: by the form of its line where that is known, else by the grammar."""
    found = _LINE.match(text, at)
    if found is None:
        return _read_by_rule(text, at, out, builder)
    body = found[2]
    place = None
    if body[-1] == ")" and (split := body.rfind(" loc(")) > 0:
        place, body = body[split + 5:-1], body[:split]
    pieces = _NAMES.split(body)
    key = tuple(pieces[::2])
    line = builder.lines.get(key, False)
    if not line:
        if line is None:
            return _read_by_rule(text, at, out, builder)
        return _read_new_line(text, at, out, builder, found, key, pieces[1::2])
    after = _NEXT.match(text, found.end())
    if after is None:
        return _read_by_rule(text, at, out, builder)
    names = pieces[1::2]
    if line.operands is not None:
        names = [names[n] for n in line.operands]
    values = builder.scope.values
    operands = []
    for name, type in zip(names, line.types, strict=True):
        value = values.get(name)
        if value is None or value.type is not type:
            return _read_by_rule(text, at, out, builder)
        operands.append(value)
    operation = Operation(line.name, operands, line.result_types, start=at)
    if line.properties:
        operation.properties = line.properties.copy()
    if line.attributes:
        operation.attributes = line.attributes.copy()
    if place is not None:
        operation.location = builder.place(place, found.end() - len(place) - 1)
    if (written := found[1]) is not None:
        results = operation.results
        if len(results) == 1 and written not in values and ":" not in written and "," not in written:
            value = results[0]
            value.name = written[1:]
            values[written] = value
            builder.scope.defined.append(written)
            if written in builder.scope.uses:
                builder._resolve(written, value)
        else:
            builder.define_results(operation, [(m[1], int(m[2] or 0), at + m.start())
                                               for m in _RESULT_NAME.finditer(written)])
    out.append(operation)
    return after.end()


def _read_new_line(text: str, at: int, out: list[Any], builder: Any, found: re.Match[str], key: tuple[str, ...],
                   names: list[str]) -> int:
    """Read an operation by the grammar, and keep its form if that is all there is on its line."""
    builder.last_frame = None
    end = _read_by_rule(text, at, out, builder)
    frame, operation = builder.last_frame, out[-1]
    is_plain = (end >= found.end() and frame is not None and frame.start == at and not frame.regions
                and not frame.successors and not text[found.end():end].strip(" \t\n\r")
                and len(names) == len(frame.operands))
    builder.lines[key] = None
    if is_plain:
        places = sorted(place for _, place in frame.operands)
        order = [places.index(place) for _, place in frame.operands]
        if len(set(places)) == len(places) and all(names[n] == name for n, (name, _) in
                                                   zip(order, frame.operands, strict=True)):
            builder.lines[key] = Line(frame.name, order, frame, operation)
    return end


def _read_by_rule(text: str, at: int, out: list[Any], builder: Any) -> int:
    outer, frame = builder.frame, Frame(at)
    builder.frame = frame
    results = _RESULTS.match(text, at)
    begins = _skip(text, results.end()).end() if results is not None else at  # type: ignore[union-attr]
    word = _word(text, begins)
    if word is not None:
        frame.name = builder.full_name(word[0], begins)
    children: list[Any] = []
    try:
        end: int = builder.rules.body_of("operation")(text, at, children, builder)
    finally:
        builder.frame = outer
    children = children[0]
    names = [c for c in children if type(c) is tuple and len(c) == 3]
    location = children[-1] if isinstance(children[-1], mlir.LOCATIONS) else None
    out.append(builder.finish(frame, names, location, end))
    builder.last_frame = frame
    return end


def _read_region(text: str, at: int, out: list[Any], builder: Any) -> int:
    """Read a region: its blocks see what its operation sees, or nothing from outside."""
    frame = builder.frame
    if not text.startswith("{", at):
        raise Mismatch(at, ('"{"',))
    builder.open_regions += 1
    if builder.open_regions > _DEEPEST_REGIONS:
        raise TextError(NESTED, f"regions are nested more than {_DEEPEST_REGIONS} deep", at, at + 1)
    isolated = frame.name in ISOLATED
    scope, blocks, labels, dialect = builder.scope, builder.blocks, builder.labels, builder.default_dialect
    if isolated:
        builder.scope = Scope()
    known = len(builder.scope.defined)
    builder.blocks, builder.labels = {}, {}
    builder.default_dialect = frame.name.partition(".")[0] if frame.name in ("func.func", "builtin.module") else ""
    region = Region()
    end: int = builder.region_inside(text, at, region, frame)
    builder.check_blocks(region)
    builder.close_scope(isolated, known)
    builder.scope, builder.blocks, builder.labels, builder.default_dialect = scope, blocks, labels, dialect
    builder.open_regions -= 1
    frame.regions.append(region)
    out.append(None)
    return end


class ProgramBuilder(OperationBuilder):
    """Reads a program, and reports what is wrong with it."""

    READERS: ClassVar[dict[str, Reader]] = {**OperationBuilder.READERS, "operation": _read_operation,
                                            "region": _read_region}

    def __init__(self, source: Source) -> None:
        super().__init__(source.text)
        self.source = source
        self.diagnostics: list[Diagnostic] = []
        self.lines: dict[tuple[str, ...], Line | None] = {}
        self.last_frame: Frame | None = None
        self.rules = _rules()
        self.places: dict[str, Any] = {"unknown": mlir.UNKNOWN}
        self.default_dialect = "builtin"

    def full_name(self, word: str, at: int) -> str:
        """Return the name of an operation with its dialect."""
        full = FULL_NAMES.get(word)
        if full is None:
            return word
        if full.partition(".")[0] != self.default_dialect and full != "builtin.module":
            raise TextError(UNKNOWN_OPERATION, f"{word} has no dialect, and it stands in no function", at,
                            at + len(word), help=f"write {full}")
        return full

    def place(self, written: str, at: int) -> Any:
        """Return the location whose text between the brackets is given."""
        known = self.places.get(written)
        if known is None:
            value, _ = self.read("location", self.text.rindex("loc", 0, at))
            known = self.places[written] = value
        return known

    # Programs

    def program(self) -> Operation:
        """Read the whole text."""
        text, at = self.text, _skip(self.text, 0).end()  # type: ignore[union-attr]
        operations: list[Any] = []
        while at < len(text):
            at = self.guarded(text, at, operations, self._item)
            if len(self.diagnostics) >= _MOST_ERRORS:
                break
        self.close_scope(True, 0)
        if len(operations) == 1 and operations[0].name == "builtin.module":
            return self._with_resources(operations[0])
        block = Block()
        block.operations += operations
        return self._with_resources(Operation("builtin.module", regions=[Region([block])]))

    def _item(self, text: str, at: int, out: list[Any]) -> int:
        if text.startswith(("#", "!"), at):
            return int(self.rules.rule("alias")(text, at, [], self))
        if text.startswith("{-#", at):
            return int(self.rules.rule("resources")(text, at, [], self))
        return _read_operation(text, at, out, self)

    def region_inside(self, text: str, at: int, region: Region, frame: Frame) -> int:
        """Read what stands between the braces of a region."""
        opened = at
        at = _skip(text, at + 1).end()  # type: ignore[union-attr]
        block: Block | None = None
        if frame.arguments is not None or (not text.startswith(("^", "}"), at)):
            block = Block()
            region.blocks.append(block)
            for name, place, type, location in frame.arguments or []:
                value = block.add_argument(type, mlir.UNKNOWN if location is None else location)
                if name:
                    self.define(name, value, place)
        while True:
            first = text[at:at + 1]
            if first == "}":
                return _skip(text, at + 1).end()  # type: ignore[union-attr]
            if not first or len(self.diagnostics) >= _MOST_ERRORS:
                raise TextError(UNCLOSED, "the text ends inside of a region", len(text) - 1, len(text),
                                help="add '}'", second=("the region begins here", opened, opened + 1))
            if first == "^":
                at, block = self._labelled(text, at, region)
                continue
            if block is None:  # after a label that could not be read
                block = Block()
                region.blocks.append(block)
            at = self.guarded(text, at, block.operations, lambda t, a, o: _read_operation(t, a, o, self))

    def _labelled(self, text: str, at: int, region: Region) -> tuple[int, Block]:
        out: list[Any] = []
        end = self.rules.rule("block_label")(text, at, out, self)
        label, *arguments = out[0]
        block = self.blocks.setdefault(label, Block())
        if any(block is other for other in region.blocks):
            raise TextError(REDEFINED, f"the block {label} is defined twice", at, at + len(label))
        region.blocks.append(block)
        for argument in arguments:
            if argument is not None:
                name, place, type, location = argument
                self.define(name, block.add_argument(type, mlir.UNKNOWN if location is None else location), place)
        return end, block

    def operation(self, children: list[Any], start: int, end: int) -> list[Any]:
        return children

    def block_label(self, children: list[Any], start: int, end: int) -> Any:
        return children

    def check_blocks(self, region: Region) -> None:
        """Report blocks that are named and not defined."""
        for label, block in self.blocks.items():
            if not any(block is other for other in region.blocks):
                at = self.labels[label]
                self.report(TextError(UNDEFINED, f"the region has no block {label}", at, at + len(label)))

    def close_scope(self, isolated: bool, known: int) -> None:
        """Forget the values of a region; what is used in one that sees nothing from outside has to be defined there."""
        scope = self.scope
        for name in scope.defined[known:]:
            del scope.values[name]
        del scope.defined[known:]
        if isolated:
            for name, uses in scope.uses.items():
                at = uses[0][2]
                if name.partition("#")[0] not in self.lost:
                    self.report(TextError(UNDEFINED, f"{name} is not defined", at, at + len(name),
                                          help=did_you_mean(name, scope.values)))

    # Aliases and resources

    def attribute_alias(self, children: list[Any], start: int, end: int) -> None:
        name, value = children
        if name in self.attribute_aliases:
            raise TextError(REDEFINED, f"{name} is defined twice", start, start + len(name))
        self.attribute_aliases[name] = value

    def type_alias(self, children: list[Any], start: int, end: int) -> None:
        name, value = children
        if name in self.type_aliases:
            raise TextError(REDEFINED, f"{name} is defined twice", start, start + len(name))
        self.type_aliases[name] = value

    def blob(self, children: list[Any], start: int, end: int) -> Any:
        return children

    def group(self, children: list[Any], start: int, end: int) -> Any:
        return children

    def section(self, children: list[Any], start: int, end: int) -> None:
        kind, *groups = children
        for group in groups:
            if group is None or kind != "dialect_resources" or group[0] != "builtin":
                continue
            for blob in group[1:]:
                if blob is not None and len(blob) == 2 and blob[1].startswith('"0x'):
                    key = unescaped(blob[0], start) if blob[0][0] == '"' else blob[0]
                    self._resource(key, blob[1][3:-1], start)

    def _resource(self, key: str, digits: str, start: int) -> None:
        try:
            data = bytes.fromhex(digits)
        except ValueError:
            raise TextError(BAD_SYNTAX, f"the bytes of {key} are no pairs of hexadecimal digits", start,
                            start + 1) from None
        if len(data) < 4:
            raise TextError(BAD_SYNTAX, f"the bytes of {key} lack their alignment", start, start + 1)
        self.resources[key] = data[4:], int.from_bytes(data[:4], "little")

    def _with_resources(self, program: Operation) -> Operation:
        """Fill in the bytes of resources, which stand behind the program."""
        if self.resources:
            for operation in walk(program):
                for held in (operation.properties, operation.attributes):
                    for name, value in held.items():
                        if isinstance(value, mlir.DenseResourceAttribute) and value.key in self.resources:
                            held[name] = mlir.DenseResourceAttribute(value.type, value.key, *self.resources[value.key])
        return program

    # Mistakes

    def guarded(self, text: str, at: int, out: list[Any], read: Any) -> int:
        """Read a statement; report what is wrong with it, and return the place where the next one begins."""
        state = (self.scope, self.blocks, self.labels, self.default_dialect, self.depth, self.open_regions, self.frame)
        scope = self.scope
        known, count = len(scope.defined), len(out)
        try:
            return int(read(text, at, out))
        except TextError as error:
            if error.code == UNCLOSED and len(self.diagnostics) >= _MOST_ERRORS:
                return len(text)
            self.report(error)
        except Mismatch as error:
            self.report(self.explained(text, at, error))
        except RecursionError:
            self.report(TextError(NESTED, "the text is nested too deep", at, at + 1))
        (self.scope, self.blocks, self.labels, self.default_dialect, self.depth, self.open_regions,
         self.frame) = state
        del out[count:]
        for name in scope.defined[known:]:
            scope.values.pop(name, None)
        del scope.defined[known:]
        results = _RESULTS.match(text, at)
        if results is not None:
            self.lost.update(m[1] for m in _RESULT_NAME.finditer(results[0]))
        return self._resume(text, at)

    def _resume(self, text: str, at: int) -> int:
        """Return where the next statement begins: brackets that this one opens are passed over."""
        depth = 0
        place = at
        for found in _BRACKET_OR_STRING.finditer(text, at):
            sign = found[0]
            line = text.find("\n", place, found.start())
            while line >= 0 and depth <= 0:
                if _STATEMENT_LINE.match(text, line + 1) or not text[line + 1:found.start()].strip():
                    return _skip(text, line + 1).end()  # type: ignore[union-attr]
                line = text.find("\n", line + 1, found.start())
            place = found.end() if len(sign) > 1 else found.start()
            if sign in "{([":
                depth += 1
            elif sign in "})]":
                depth -= 1
                if depth < 0 and sign == "}":
                    return found.start()
        line = text.find("\n", place)
        return len(text) if line < 0 or depth > 0 else _skip(text, line + 1).end()  # type: ignore[union-attr]

    def explained(self, text: str, at: int, error: Mismatch) -> TextError:
        """Return the mistake of a place at which no token fits."""
        if error.at >= len(text):
            return TextError(UNCLOSED, f"expected {_either(error.expected)}, and the text ends", len(text) - 1,
                             len(text))
        before = len(text[:error.at].rstrip())
        if "\n" in text[before:error.at] and error.at > at and len(error.expected) <= 60:
            return TextError(BAD_SYNTAX, f"expected {_either(error.expected)} before the end of the line", before,
                             before + 1)
        word = re.compile(r'[\w$.\-]+|"[^"\n]*"?|\S').match(text, error.at)
        found = word[0] if word is not None else text[error.at]
        end = error.at + len(found)
        if len(error.expected) > 60 and word is not None:
            names = [token_word(n) for n in error.expected]
            help = did_you_mean(found, names) or f'write the generic form, "{found}"(...) : (...) -> ...'
            return TextError(UNKNOWN_OPERATION, f"{found} is no operation with a short form", error.at, end, help=help)
        if found.startswith('"') and (len(found) == 1 or not found.endswith('"')):
            return TextError(UNCLOSED, "the string that begins here is not closed on its line", error.at, end,
                             help='add \'"\'')
        shown = found if len(found) < 60 else found[:60] + "..."
        return TextError(BAD_SYNTAX, f"expected {_either(error.expected)}, found '{shown}'", error.at, end,
                         help=did_you_mean(found, [token_word(n) for n in error.expected]))

    def report(self, error: TextError) -> None:
        """Add the diagnostic of a mistake."""
        position = self.source.position
        start = max(0, min(error.start, len(self.text) - 1))
        first, last = position(start), position(max(start + 1, error.end))
        notes = () if error.second is None else (Note(error.second[0], position(error.second[1]),
                                                      position(error.second[2])),)
        self.diagnostics.append(Diagnostic(error.code, shortened(error.message), Severity.ERROR, first.line,
                                           first.column, last.line, last.column, self.source.filename, notes,
                                           shortened(error.help)))


#: terminals in words
_WORDS = {"VALUE_NAME": "a value", "STRING": "a string", "INTEGER": "an integer", "FLOAT": "a number",
          "SYMBOL": "a symbol", "LABEL": "a block", "WORD": "a word", "TYPE_ALIAS": "a type",
          "ATTRIBUTE_ALIAS": "an attribute", "APPLIED": "a commutative operation", "RESULT_NUMBER": "'#'",
          "ELEMENTS": "elements"}


def _either(names: tuple[str, ...]) -> str:
    """Return the names of tokens as a list in words."""
    if "TYPE_ALIAS" in names and "INTEGER_TYPE" in names:
        kept = [n for n in names if n in ("INTEGER", '"["', "STRING", '")"')] if "ATTRIBUTE_ALIAS" in names else []
        listed = ["an attribute" if "ATTRIBUTE_ALIAS" in names and '"unit"' in names else "a type",
                  *map(_spelled, kept if '"unit"' not in names else [])]
    else:
        listed = list(dict.fromkeys(map(_spelled, names)))[:8]
    return listed[0] if len(listed) == 1 else f"{', '.join(listed[:-1])} or {listed[-1]}"


def _spelled(name: str) -> str:
    if name.startswith('"'):
        return f"'{token_word(name)}'"
    return _WORDS.get(name) or name.lower().replace("_", " ")


@functools.cache
def _rules() -> Rules:
    return Rules(ProgramBuilder)


def read_program(text: str, filename: str = "<string>") -> Operation:
    """Return the program of a text of MLIR, usually a `builtin.module`.

    Raises HloError with every mistake, each at its place.
    """
    program, diagnostics = read_recovering(Source(text, filename))
    if diagnostics:
        raise HloError(diagnostics)
    return program


def read_recovering(source: Source) -> tuple[Operation, list[Diagnostic]]:
    """Return whatever could be read of a program, and what is wrong with the text."""
    builder = ProgramBuilder(source)
    calls = sys.getrecursionlimit()
    with no_collection():
        try:
            sys.setrecursionlimit(max(calls, _CALLS))
            program = builder.program()
        finally:
            sys.setrecursionlimit(calls)
    return program, builder.diagnostics

