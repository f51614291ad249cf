"""Programs from MLIR's text: the generic form of every dialect, and the short forms of StableHLO's dialects.

Reading goes on after a mistake, so that one run reports every independent one. Most lines of a program differ from
others in the names of values alone: an operation on one line is read once, and lines that are the same but for their
names are made from what was found (`Line`).
"""

from __future__ import annotations

import functools
import re
from typing import Any, ClassVar

from hlotool.diagnostics import Diagnostic, HloError, Note, Severity, did_you_mean, in_words, shortened
from hlotool.grammars import Mismatch, Reader, token_word
from hlotool.ir import Source, deeper_calls, no_collection
from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.codes import BAD_SYNTAX, NESTED, REDEFINED, UNCLOSED, UNDEFINED, UNKNOWN_OPERATION
from hlotool.mlir.elements_text import unescaped
from hlotool.mlir.operations import Block, Operation, Region, SsaValue, walk
from hlotool.mlir.short_forms import FULL_NAMES, ISOLATED
from hlotool.mlir.text_error import TextError
from hlotool.mlir.text_operations import Frame, OperationBuilder, ValueScope, applied_region
from hlotool.mlir.text_values import BLANK, Rules, skip

_DEEPEST_REGIONS = 200
_CALLS = 20_000
#: characters of a text whose value is remembered
_SHORT_TEXT = 200
_MOST_ERRORS = 100
#: characters of a line up to which its form is kept
_LONGEST_LINE = 5000
_word = re.compile(r"[A-Za-z_][\w$.\-]*", re.ASCII).match
_RESULTS = re.compile(r"%[\w$.\-]++(?::\d++)?+(?:,\s*%[\w$.\-]++(?::\d++)?+)*+\s*=(?!=)", re.ASCII)
_is_name = re.compile(r"%[\w$.\-]+", re.ASCII).fullmatch
_RESULT_NAME = re.compile(r"(%[\w$.\-]+)(?::(\d+))?", re.ASCII)
#: results and the rest of a line that begins an operation, as printers write them, where what follows begins another
#: statement: no location, comma or the like that goes on with the operation
_LINE = re.compile(rf"(?:(%[\w$.\-:, %]*+)= )?+([A-Za-z\"][^\n]*+){BLANK}(?=[%}}^\"]|(?!loc\b)[A-Za-z]|\Z)", re.ASCII)
_NAMES = re.compile(r"(%[\w$.\-]++(?:#\d++)?+)", re.ASCII)
_STATEMENT_LINE = re.compile(r"^[^\S\n]*(?:%[\w$.\-]+(?::\d+)?(?:,[^\n=]*+)?\s*+=|\"[\w.\-]+\"\(|[a-z_]+\.[a-z_]\w*|"
                             r"(?:return|call|module)\b|\}|\^\w+)", re.M | re.ASCII)
_BRACKET_OR_STRING = re.compile(r'"[^"\\\n]*(?:\\.[^"\\\n]*)*"|//[^\n]*|[{}()\[\]]')


#: a block's label and its arguments, on a line of their own and without locations
_LABEL_LINE = re.compile(rf"(\^\w++)\(((?:%[\w$.\-]++: tensor<[\w?]*+>(?:, )?)++)\):{BLANK}", re.ASCII)
_ARGUMENT = re.compile(r"%[\w$.\-]++", re.ASCII)


class Line:
    """The common part of lines of one form: everything but the names of their values."""

    __slots__ = ("applied", "attributes", "name", "operands", "properties", "result_types", "types")

    def __init__(self, operands: list[int], frame: Frame, operation: Operation) -> None:
        self.name = frame.name
        #: which of the names of the line is each operand, where the order is another
        self.operands = operands if operands != sorted(operands) else None
        self.applied = frame.applied
        self.types = list(frame.operand_types or ())
        self.result_types = frame.result_types
        self.properties = dict(operation.properties)
        self.attributes = dict(operation.attributes)


#: forms of lines by the dialect whose operations need no prefix, in programs without aliases of types and attributes
_shared_lines: dict[str, dict[tuple[str, ...], Line | None]] = {}
_MOST_LINES = 100_000
#: the line of a location as most are written: `plain_place` reads them
_LOCATION_LINE = re.compile(
    rf"(#loc\d*+) = loc\(\"[^\"\\\\\n]*+\"(?:\(#loc\d*+\)|:\d{{1,9}}:\d{{1,9}})?+\){BLANK}", re.ASCII)
_HAS_ALIASES = re.compile(r"^[^\S\n]*(?:![A-Za-z_]|#(?!loc\d*\b)[A-Za-z_])[\w$]*[^\S\n]*=", re.M | re.ASCII)


def _read_known_lines(text: str, at: int, out: list[Operation], builder: Any) -> int:
    """Read operations on lines of known forms, one after the other; return the place of one that is none."""
    match, split, lines, new, unknown = _LINE.match, _NAMES.split, builder.lines, Operation.__new__, mlir.UNKNOWN
    scope = builder.scope
    values, defined, uses = scope.values, scope.defined, scope.uses
    while (found := match(text, at)) is not None:
        written, body = found.groups()
        place = None
        if body[-1] == ")" and (cut := body.rfind(" loc(")) > 0:
            place, body = body[cut + 5:-1], body[:cut]
        pieces = split(body)
        line = lines.get(tuple(pieces[::2]))
        if line is None:
            return at
        names = pieces[1::2] if line.operands is None else [pieces[2 * n + 1] for n in line.operands]
        try:
            operands = [values[name] for name in names]
        except KeyError:
            return at
        if [value.type for value in operands] != line.types:
            return at
        operation = new(Operation)
        operation.name, operation.operands, operation.start = line.name, operands, at
        operation.regions, operation.successors = [], []
        operation.properties, operation.attributes = line.properties.copy(), line.attributes.copy()
        if place is None:
            operation.location = unknown
        elif (known := builder.places.get(place) or builder.plain_place(place)) is not None:
            operation.location = known
        else:
            return at
        operation.results = [SsaValue(type, operation, number) for number, type in enumerate(line.result_types)]
        if line.applied is not None:
            operation.regions.append(applied_region(line.applied[0], line.applied[1], at, operation.location))
        if written is not None:
            name = written.rstrip()
            if len(line.result_types) == 1 and name not in values and name not in uses and _is_name(name):
                value = operation.results[0]
                value.name = name[1:]
                values[name] = value
                defined.append(name)
            elif uses or _RESULTS.fullmatch(f"{written}=") is None or not builder.defines(operation, name, at):
                return at
        out.append(operation)
        at = found.end()
    return at


def _read_operation(text: str, at: int, out: list[Any], builder: Any) -> int:
    """Read an operation by the grammar, and keep the form of its line if that is all there is on it."""
    found = _LINE.match(text, at)
    body = found[2] if found is not None else ""
    if body.endswith(")") and (cut := body.rfind(" loc(")) > 0:
        body = body[:cut]
    pieces = _NAMES.split(body)
    key = tuple(pieces[::2])
    lines = builder.lines
    end = _read_by_rule(text, at, out, builder)
    if found is None or len(body) > _LONGEST_LINE or key in lines or "loc(" in body or "#loc" in body:
        return end
    frame, names = builder.last_frame, pieces[1::2]
    if len(lines) >= _MOST_LINES:
        lines.clear()
    lines[key] = None
    is_plain = (end == found.end() and frame.start == at and not frame.successors
                and (not frame.regions or frame.applied is not None) and len(names) == len(frame.operands))
    if is_plain:
        places = sorted(place for _, place in frame.operands)
        order = [places.index(place) for _, place in frame.operands]
        if len(set(places)) == len(places) and all(names[n] == name for n, (name, _) in
                                                   zip(order, frame.operands, strict=True)):
            lines[key] = Line(order, frame, out[-1])
    return end


def _read_by_rule(text: str, at: int, out: list[Any], builder: Any) -> int:
    outer, frame = builder.frame, Frame(at)
    builder.frame = frame
    results = _RESULTS.match(text, at)
    begins = skip(text, results.end()).end() if results is not None else at
    word = _word(text, begins)
    if word is not None:
        frame.name = builder.full_name(word[0], begins)
    children: list[Any] = []
    if results is None and text.startswith("%", at):
        builder.rules.body_of("operation")(text, at, children, builder)  # which says what is wrong
    try:
        rule = "generic" if text.startswith('"', begins) else "form"
        end: int = builder.rules.rule(rule)(text, begins, children, builder)
        location = None
        if text.startswith("loc", end):
            begin, end = end, builder.rules.rule("location")(text, end, children, builder)
            location = children[-1]
            builder.places[text[begin + 4:end].rstrip()[:-1]] = location
    finally:
        builder.frame = outer
    names = [] if results is None else [builder.result([m[1], m[2]], at + m.start(), 0)
                                        for m in _RESULT_NAME.finditer(results[0])]
    out.append(builder.finish(frame, names, location, end))
    builder.last_frame = frame
    return end


def _read_region(text: str, at: int, out: list[Any], builder: Any) -> int:
    """Read a region: its blocks see what its operation sees, or nothing from outside."""
    frame = builder.frame
    if not text.startswith("{", at):
        raise Mismatch(at, ('"{"',))
    builder.open_regions += 1
    if builder.open_regions > builder.deepest:
        raise TextError(NESTED, f"regions are nested more than {builder.deepest} deep", at, at + 1)
    isolated = frame.name in ISOLATED
    scope, blocks, labels, dialect = builder.scope, builder.blocks, builder.labels, builder.default_dialect
    if isolated:
        builder.scope = ValueScope()
    known = len(builder.scope.defined)
    builder.blocks, builder.labels = {}, {}
    builder.enter_dialect(frame.name.partition(".")[0] if frame.name in ("func.func", "builtin.module") else "")
    region = Region()
    builder.count += 1
    builder.path.append((builder.count, 0))
    end: int = builder.region_inside(text, at, region, frame)
    builder.path.pop()
    builder.check_blocks(region)
    builder.close_scope(isolated, known)
    builder.scope, builder.blocks, builder.labels = scope, blocks, labels
    builder.enter_dialect(dialect)
    builder.open_regions -= 1
    frame.regions.append(region)
    out.append(None)
    return end


class ProgramBuilder(OperationBuilder):
    """Reads a program, and reports what is wrong with it."""

    READERS: ClassVar[dict[str, Reader]] = {**OperationBuilder.READERS, "operation": _read_operation,
                                            "region": _read_region}

    def __init__(self, source: Source, deepest: int = _DEEPEST_REGIONS) -> None:
        super().__init__(source.text)
        self.source = source
        self.deepest = deepest
        self.diagnostics: list[Diagnostic] = []
        self._all_lines: dict[str, dict[tuple[str, ...], Line | None]] = \
            {} if _HAS_ALIASES.search(source.text) else _shared_lines
        self.lines: dict[tuple[str, ...], Line | None] = {}
        self.last_frame: Frame | None = None
        #: arguments of blocks as they are written, and their types
        self.labels_known: dict[str, list[Any]] = {}
        self.rules = _rules()
        self.places: dict[str, Any] = {"unknown": mlir.UNKNOWN}
        #: where regions that are written in braces begin and end, and where labels of blocks stand
        self.braces: dict[Region, tuple[int, int]] = {}
        self.label_starts: dict[Block, int] = {}
        self.enter_dialect("builtin")

    def enter_dialect(self, dialect: str) -> None:
        """Let operations of a dialect stand without its name."""
        self.default_dialect = dialect
        self.lines = self._all_lines.setdefault(dialect, {})

    def full_name(self, word: str, at: int) -> str:
        """Return the name of an operation with its dialect."""
        full = FULL_NAMES.get(word)
        if full is None:
            return word
        if full.partition(".")[0] != self.default_dialect and full != "builtin.module":
            raise TextError(UNKNOWN_OPERATION, f"{word} has no dialect, and it stands in no function", at,
                            at + len(word), help=f"write {full}")
        return full

    def defines(self, operation: Operation, names: str, at: int) -> bool:
        """Give results their names; False, and nothing done, where something is wrong with these."""
        known = len(self.scope.defined)
        try:
            self.define_results(operation, [self.result([m[1], m[2]], at + m.start(), 0)
                                            for m in _RESULT_NAME.finditer(names)])
        except TextError:
            for name in self.scope.defined[known:]:
                del self.scope.values[name]
            del self.scope.defined[known:]
            return False
        return True

    # Programs

    def program(self) -> Operation:
        """Read the whole text."""
        text, at = self.text, skip(self.text, 0).end()
        operations: list[Operation] = []
        while at < len(text) and len(self.diagnostics) < _MOST_ERRORS:
            if text.startswith(("#", "!", "{-#"), at):
                at = self._locations_from(text, at) or self._definition(text, at)
                continue
            before = at
            at = self._statements(text, at, operations)
            if at == before:  # a brace or a label
                self.report(TextError(BAD_SYNTAX, f"'{text[at]}' belongs to no region", at, at + 1))
                at = skip(text, at + 1).end()
        self.close_scope(True, 0)
        if len(operations) == 1 and operations[0].name == "builtin.module":
            return self._with_resources(operations[0])
        block = Block()
        block.operations += operations
        return self._with_resources(Operation("builtin.module", regions=[Region([block])]))

    def _locations_from(self, text: str, at: int) -> int:
        """Read the lines of a place that define locations as most do; 0 where the first one is another."""
        end = 0
        while (found := _LOCATION_LINE.match(text, end or at)) is not None and found[1] not in self.attribute_aliases:
            place = self.plain_place(found[1])
            if place is None:
                break
            self.attribute_aliases[found[1]] = place
            end = found.end()
        return end

    def _definition(self, text: str, at: int) -> int:
        """Read an alias or the resources; a mistake in one is reported."""
        rule = "resources" if text.startswith("{-#", at) else "alias"
        depth = self.depth
        try:
            return int(self.rules.rule(rule)(text, at, [], self))
        except TextError as error:
            self.report(error)
        except Mismatch as error:
            self.report(self.explained(text, at, error))
        self.depth = depth
        return self._resume(text, at)

    def region_inside(self, text: str, at: int, region: Region, frame: Frame) -> int:
        """Read what stands between the braces of a region."""
        opened = at
        at = skip(text, at + 1).end()
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
                self.braces[region] = opened, at
                return skip(text, at + 1).end()
            if not first or len(self.diagnostics) >= _MOST_ERRORS:
                raise TextError(UNCLOSED, "the text ends inside of a region", len(text) - 1, len(text),
                                help="add '}'", second=("the region begins here", opened, opened + 1))
            if first == "^":
                at, block = self._labelled(text, at, region)
                continue
            if block is None:  # after a label that could not be read
                block = Block()
                region.blocks.append(block)
            at = self._statements(text, at, block.operations)

    def _statements(self, text: str, at: int, out: list[Operation]) -> int:
        """Read operations up to a label or the end of the region, or past a mistake in one, which is reported."""
        state = (self.scope, self.blocks, self.labels, self.default_dialect, self.depth, self.open_regions, self.frame)
        path = len(self.path)
        defined = self.scope.defined
        known, count = len(defined), len(out)
        ends = "}^" if self.open_regions else "}^#!{"
        try:
            while True:
                at = _read_known_lines(text, at, out, self)
                if text[at:at + 1] in ends:  # or at the end of the text
                    return at
                known, count = len(defined), len(out)
                at = _read_operation(text, at, out, self)
        except TextError as error:
            if error.code == UNCLOSED and len(self.diagnostics) >= _MOST_ERRORS:
                return len(text)
            self.report(error)
        except Mismatch as error:
            self.report(self.explained(text, at, error))
        except RecursionError:
            self.report(TextError(NESTED, "the text is nested too deep", at, at + 1))
        (self.scope, self.blocks, self.labels, dialect, self.depth, self.open_regions, self.frame) = state
        self.enter_dialect(dialect)
        del self.path[path:]
        del out[count:]
        for name in defined[known:]:
            self.scope.values.pop(name, None)
        del defined[known:]
        results = _RESULTS.match(text, at)
        if results is not None:
            self.lost.update(m[1] for m in _RESULT_NAME.finditer(results[0]))
        return self._resume(text, at)

    def _labelled(self, text: str, at: int, region: Region) -> tuple[int, Block]:
        quick = _LABEL_LINE.match(text, at)
        found = self.labels_known.get(quick[2]) if quick is not None else None
        if quick is not None and found is not None:
            end, label, names = quick.end(), quick[1], _ARGUMENT.findall(quick[2])
            arguments = [(name, at, type, None) for name, type in zip(names, found, strict=True)]
        else:
            out: list[Any] = []
            end = self.rules.rule("block_label")(text, at, out, self)
            label, *arguments = out[0]
            if quick is not None and end == quick.end() and all(a is not None and a[3] is None for a in arguments):
                self.labels_known[quick[2]] = [a[2] for a in arguments]
        block = self.blocks.setdefault(label, Block())
        if any(block is other for other in region.blocks):
            raise TextError(REDEFINED, f"the block {label} is defined twice", at, at + len(label))
        region.blocks.append(block)
        self.label_starts[block] = at
        self.path[-1] = (self.path[-1][0], len(region.blocks))
        for argument in arguments:
            if argument is not None:
                name, place, type, location = argument
                self.define(name, block.add_argument(type, mlir.UNKNOWN if location is None else location), place)
        return end, block

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

    def _resume(self, text: str, at: int) -> int:
        """Return where the next statement begins: brackets that this one opens are passed over."""
        depth = 0
        place = at
        for found in _BRACKET_OR_STRING.finditer(text, at):
            sign = found[0]
            line = text.find("\n", place, found.start())
            while line >= 0 and depth <= 0:
                if _STATEMENT_LINE.match(text, line + 1) or not text[line + 1:found.start()].strip():
                    return skip(text, line + 1).end()
                line = text.find("\n", line + 1, found.start())
            place = found.end() if len(sign) > 1 else found.start()
            if sign in "{([":
                depth += 1
            elif sign in "})]":
                depth -= 1
                if depth < 0 and sign == "}":
                    return found.start()
        line = text.find("\n", place)
        return len(text) if line < 0 or depth > 0 else skip(text, line + 1).end()

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
    return in_words(listed)


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


def read_recovering(source: Source, *, deepest: int = _DEEPEST_REGIONS) -> tuple[Operation, list[Diagnostic]]:
    """Return whatever could be read of a program, and what is wrong with the text.

    Regions may be nested `deepest` times; a caller whose stack has room for it may ask for more.
    """
    builder = ProgramBuilder(source, deepest)
    with no_collection(), deeper_calls(_CALLS):
        program = builder.program()
    return program, builder.diagnostics


def read_attribute(text: str) -> mlir.AnyAttribute:
    """Return the attribute that a text spells. Raises ValueError.

    >>> read_attribute("5 : i32")
    IntegerAttribute(value=5, type=IntegerType(width=32, signedness=''))
    """
    found: mlir.AnyAttribute = _remembered("attribute", text)
    return found


def read_type(text: str) -> mlir.AnyType:
    """Return the type that a text spells. Raises ValueError."""
    found: mlir.AnyType = _remembered("type", text)
    return found


def _remembered(rule: str, text: str) -> Any:
    """Return the value of a text, remembered where the text is short: constants may be of any size."""
    return _short(rule, text) if len(text) <= _SHORT_TEXT else _single(rule, text)


@functools.lru_cache(maxsize=4096)
def _short(rule: str, text: str) -> Any:
    return _single(rule, text)


def _single(rule: str, text: str) -> Any:
    """Return the value of a text that is one phrase of the grammar."""
    builder = ProgramBuilder(Source(text, f"<{rule}>"))
    try:
        with deeper_calls(_CALLS):
            value, end = builder.read(rule, skip(text, 0).end())
    except TextError as error:
        raise ValueError(f"{shortened(text)!r} is no {rule} of MLIR: {error}") from None
    except Mismatch as error:
        raise ValueError(f"{shortened(text)!r} is no {rule} of MLIR: {builder.explained(text, 0, error)}") from None
    if end != len(text):
        raise ValueError(f"{shortened(text)!r} is no {rule} of MLIR: it ends before {shortened(text[end:])!r}")
    return value
