"""Cutting text into statements and statements into phrases; no phrase is understood here.

Two ways lead to the same pieces. LINE cuts an instruction that is printed on one line, which nearly all are, in one
match. What it cannot cut, `cut_instruction` takes apart token by token: several statements on a line, comments,
missing shapes, strings with anything inside, and text that is wrong, for which it says what and where.

LINE and HEADER are made from grammars/lines.lark. The long way is not made from the rule `instruction` of
grammars/hlo.lark, for three reasons. Its brackets nest without a limit, which no regular expression follows; Lark
follows them at 390 microseconds a line, and input may be one line of megabytes. Text that is
wrong is most of what comes here: what is reported is the bracket that was opened and where reading goes on, which a
parser that stops at the first token it did not expect does not know. And where a value ends that is written over
several lines is told by what the next line begins like, not by its tokens. So the two are held against each other
instead: tests/text/test_grammar.py cuts real modules and forms of all times both ways, and a definition of hlo.lark
that is ruined fails tests/text/test_grammar_goldens.py. Names, opcodes, strings, comments and what continues a window
are the grammars' own terminals here.
"""

from __future__ import annotations

import re
from dataclasses import field
from typing import Any

from hlotool.grammars import pattern, plain, terminal
from hlotool.ir import DTYPES, KINDS, deferred, lazy_dataclass
from hlotool.text.syntax_errors import (
    BAD_ATTRIBUTE,
    BAD_STATEMENT,
    CLOSING,
    MISSING_CLOSE,
    NESTED_TOO_DEEP,
    TRUNCATED,
    CutError,
    bad_statement,
    check_quote,
    is_inline_body,
    missing_bracket,
    missing_comma,
    no_opcode,
    opcode_help,
)
from hlotool.text.tokens import (
    ANY_COMMENT,
    BODY_END,
    NAME,
    OPCODE,
    STATEMENT,
    STATEMENT_LINE,
    STRING,
    next_statement,
    skip_blank,
)

#: one instruction on one line: ROOT, name, shape, opcode, operands, the rest
LINE = pattern("lines", "line")
#: the header of a computation on one line: ENTRY, name, parameters, result
HEADER = pattern("lines", "header")
_ROOT = deferred(lambda: terminal("hlo", "ROOT"))
_NAME = deferred(lambda: rf"%?({NAME})")
_ANY_NAME = deferred(lambda: r"%?([\w.\-]+)")
_OPCODE = deferred(lambda: rf"({OPCODE})(?::k\w+)?")
_WORD = deferred(lambda: r"[\w.\-+]+")
_ATTRIBUTE_NAME = deferred(lambda: NAME)
_ATOM = deferred(lambda: rf"(?:{STRING}|[^\s,{{}}()\[\]\"'/]|/(?![/*]))+")
_STRING = deferred(lambda: STRING)
_CALM = r"""[^()\[\]{}"'/\n]*+"""
_INDEX_COMMENT = terminal("lines", "INDEX_COMMENT")


def _pairs(levels: int) -> str:
    """A pair of brackets on one line, with pairs inside of each other and comments that number, but nothing else."""
    inside = _CALM if not levels else rf"{_CALM}(?:(?:{_pairs(levels - 1)}|{_INDEX_COMMENT}){_CALM})*+"
    return rf"\({inside}\)|\[{inside}\]|\{{{inside}\}}"


#: everything that matters to bracket matching; pairs of brackets three deep with nothing of it inside are taken at once
_BRACKET = deferred(lambda: rf"{_pairs(2)}|{STRING}|{ANY_COMMENT}|[()\[\]{{}}]|\n|[\"']")
_DEVICE_IDS = deferred(lambda: terminal("sharding", "_DEVICE_IDS"))
#: brackets inside of each other; real texts stay far below, and readers of what is inside may recurse
_DEEPEST = 1000


@lazy_dataclass(slots=True)
class CutAttribute:
    """One attribute of a statement, uninterpreted, with its place in the source."""

    name: str
    value: str
    start: int
    value_start: int

    def is_apart(self, text: str) -> bool:
        """Return True if the equals sign does not touch the name."""
        end = self.start + len(self.name)
        return text.startswith(self.name, self.start) and text[end:end + 1] != "="


@lazy_dataclass(slots=True)
class Cut:
    """The pieces of one instruction, with their places in the source."""

    start: int
    is_root: bool
    name: str
    name_start: int
    shape: str
    shape_start: int
    opcode: str
    opcode_start: int
    operands: str
    operands_start: int
    #: where the next statement may begin
    end: int = 0
    #: where this one ends, without the blanks and comments behind it
    last: int = 0
    attributes: list[CutAttribute] = field(default_factory=list)
    #: legacy forms that were met while cutting: (code, message, start, end)
    legacy: list[tuple[str, str, int, int]] = field(default_factory=list)


def match_bracket(text: str, at: int, is_inside: bool = True) -> int:
    """Return the offset after the bracket that closes the one at `at`.

    Raises CutError when it is closed by another kind, by the start of the next statement, or not at all. Statements
    end it only where `is_inside` a computation: the header may hold whole modules in strings.
    """
    stack: list[tuple[str, int]] = []
    position, too_deep = at, -1
    while found := _BRACKET.search(text, position):
        token = found[0]
        position = found.end()
        if token[0] in "([{":
            if len(token) > 1:
                if not stack:
                    return position
                continue
            stack.append((token, found.start()))
            if len(stack) > _DEEPEST and too_deep < 0:
                too_deep = found.start()
        elif token in ")]}":
            opener, opened = stack[-1]
            if token != CLOSING[opener]:
                line = text.rfind("\n", opened, found.start())
                if token == "}" and line >= 0 and not text[line:found.start()].strip():
                    missing_bracket(text, stack[-1], line)
                raise CutError(MISSING_CLOSE, f"expected '{CLOSING[opener]}' before '{token}'",
                               found.start(), found.end(), resume=next_statement(text, opened),
                               note=(f"this '{opener}' is not closed", opened, opened + 1),
                               help=f"add '{CLOSING[opener]}'")
            stack.pop()
            if not stack and too_deep < 0:
                return position
            if not stack:
                more = text.startswith(",", skip_blank(text, position))
                raise CutError(NESTED_TOO_DEEP, f"brackets are nested more than {_DEEPEST} deep", too_deep,
                               too_deep + 1, resume=next_statement(text, position) if more else position)
        elif not is_inside:
            continue
        elif token == "\n":
            if (STATEMENT_LINE.match(text, position) or BODY_END.match(text, position)) \
                    and not is_inline_body(text, stack[-1]):
                missing_bracket(text, stack[-1], found.start())
        elif token[0] in "\"'":
            check_quote(text, found.start(), position, at)
    opener, opened = stack[-1]
    raise CutError(TRUNCATED, f"the text ends before '{opener}' is closed", max(at, len(text.rstrip()) - 1), len(text),
                   resume=len(text), note=(f"this '{opener}' is not closed", opened, opened + 1),
                   help="the file is truncated: get the whole dump")


def cut_instruction(text: str, start: int) -> Cut:
    """Take one instruction apart, token by token; raises CutError."""
    at = start
    is_root = False
    if found := _ROOT.match(text, at):
        is_root, at = True, skip_blank(text, found.end())
    name_start = at
    # 2025's documents write the shape in front of the name as well.
    named = _ANY_NAME.match(text, at)
    if named is None:
        raise bad_statement(text, at)
    name, at = named[1], skip_blank(text, named.end())
    if text[at:at + 1] == "[" or (text[at:at + 1] in "%{" and "[" in text[name_start:at]):
        return _cut_shape_first(text, start, name_start, is_root)
    if text[at:at + 1] != "=":
        raise bad_statement(text, name_start, at)
    try:
        return _cut_right(text, start, is_root, name, name_start, skip_blank(text, at + 1))
    except CutError as error:
        if error.code == BAD_STATEMENT and name in KINDS:
            raise missing_comma(text, start, name, error) from error
        raise


def _cut_shape_first(text: str, start: int, at: int, is_root: bool) -> Cut:
    shape_end = cut_shape(text, at)
    at = skip_blank(text, shape_end)
    named = _NAME.match(text, at)
    equals = skip_blank(text, named.end()) if named else at
    if named is None or text[equals:equals + 1] != "=":
        raise bad_statement(text, start, at)
    cut = _cut_right(text, start, is_root, named[1], named.start(), skip_blank(text, equals + 1))
    cut.legacy.append(("2022 and 2025",
                       "the shape in front of the name is the notation of the documents of 2022 and 2025", start,
                       shape_end))
    return cut


def cut_unnamed(text: str, start: int) -> Cut:
    """Return an instruction that is the whole text, without `name =` ("canonical" print)."""
    return _cut_right(text, start, True, "", start, start)


def _cut_right(text: str, start: int, is_root: bool, name: str, name_start: int, at: int) -> Cut:
    shape_start, shape_end = at, cut_shape(text, at)
    shape = text[shape_start:shape_end]
    at = skip_blank(text, shape_end)
    opcode = _OPCODE.match(text, at)
    if opcode is None:
        raise no_opcode(text, at, shape_start)
    opcode_start = at
    at = skip_blank(text, opcode.end())
    if text[at:at + 1] != "(":
        if at >= len(text):
            raise CutError(TRUNCATED, "the text ends in the middle of an instruction", start, at, resume=len(text),
                           help="the file is truncated: get the whole dump")
        word = _WORD.match(text, opcode_start)
        found = word[0] if word else text[at:at + 1]
        raise CutError(BAD_STATEMENT, f"expected '(' after the opcode {opcode[1]}" if found == opcode[1]
                       else f"expected an opcode and its operands, found '{found}'",
                       opcode_start, max(at, opcode_start + len(found)), resume=next_statement(text, start),
                       help=opcode_help(found))
    close = match_bracket(text, at)
    cut = Cut(start, is_root, name, name_start, shape, shape_start, opcode[1], opcode_start,
              text[at + 1:close - 1], at + 1)
    if opcode[0] != opcode[1]:
        cut.attributes.append(CutAttribute("kind", opcode[0].partition(":")[2], opcode.start(), opcode_start))
        cut.legacy.append(("graph label", "opcode:kind is how graphs and logs label a fusion", opcode.start(),
                           opcode.end()))
    cut_attributes(text, close, cut)
    return cut


def cut_shape(text: str, at: int) -> int:
    """Return the end of the shape at `at`, or `at` itself when something else stands there."""
    if text[at:at + 1] == "(":
        return match_bracket(text, at)
    word = _WORD.match(text, at)
    if word is None:
        return at
    end = word.end()
    dims = skip_blank(text, end)
    if text[dims:dims + 1] == "[" and (dims == end or word[0] in DTYPES):
        end = match_bracket(text, dims)
        if text.startswith("sparse{", end):
            end = match_bracket(text, end + len("sparse"))
        layout = skip_blank(text, end)
        inside = skip_blank(text, layout + 1)
        # A brace is a layout only if a number or ':' follows it; `{}` only where it touches the shape.
        if text[layout:layout + 1] == "{" and (layout == end or text[inside:inside + 1] in "0123456789:"):
            end = match_bracket(text, layout)
    elif word[0] == "b" and text[end:end + 1] == "(":
        end = match_bracket(text, end)
    else:
        return at
    return end


def cut_attributes(text: str, at: int, cut: Cut) -> None:
    """The attributes from `at` on; sets `cut.end` to where the next statement may begin."""
    while True:
        after = skip_blank(text, at)
        if text[after:after + 1] != ",":
            cut.end = _legacy_tail(text, at, after, cut)
            return
        start = skip_blank(text, after + 1)
        line = text.rfind("\n", after, start) + 1
        if line and STATEMENT_LINE.match(text, line):
            raise CutError(BAD_ATTRIBUTE, "a comma stands at the end of the instruction", after, after + 1,
                           resume=start, help="remove it")
        name = _ATTRIBUTE_NAME.match(text, start)
        equals = skip_blank(text, name.end()) if name else start
        if name is None or text[equals:equals + 1] != "=":
            if equals >= len(text):
                raise CutError(TRUNCATED, "the text ends in the middle of an attribute", after, equals,
                               resume=len(text), help="the file is truncated: get the whole dump")
            raise CutError(BAD_ATTRIBUTE, "expected an attribute `name=value` after the comma", after,
                           max(start + 1, equals), resume=next_statement(text, cut.start))
        value_start = skip_blank(text, equals + 1)
        is_inside = bool(cut.opcode)
        at = _value_end(text, value_start, name[0], is_inside)
        if is_inside and text[at:at + 1] in ("'", '"'):
            check_quote(text, at, at + 1, cut.start)
        if at == value_start:
            raise CutError(BAD_ATTRIBUTE, f"the attribute {name[0]} has no value", start, equals + 1,
                           resume=next_statement(text, cut.start))
        cut.attributes.append(CutAttribute(name[0], text[value_start:at], start, value_start))


_PLAIN_ATTRIBUTE = deferred(lambda: pattern("lines", "plain_attribute"))
#: attributes up to this length are searched at once, in vain where one is none of `plain_attribute`
_SHORT = 2000


def cut_plainly(text: str) -> tuple[Any, ...] | None:
    """Name and value of a text that is one attribute in a plain spelling; None for others, though they may be one."""
    # What no line holds is for the slow way to judge.
    found = _PLAIN_ATTRIBUTE.fullmatch(text) if text.isprintable() else None
    return found and found.groups()


def cut_quickly(text: str) -> list[tuple[Any, ...]] | None:
    """Return names and values of a text that holds attributes and nothing else; None when it holds other things too."""
    pieces: list[tuple[Any, ...]] = _PLAIN_ATTRIBUTE.findall(text) if len(text) < _SHORT else []
    # What is found in a text may have something else in between; then it is not all of the text.
    if pieces and sum([len(name) + len(value) + 3 for name, value in pieces]) == len(text):
        return pieces
    pieces, at, match = [], 0, _PLAIN_ATTRIBUTE.match
    while found := match(text, at):
        pieces.append(found.groups())
        at = found.end()
    if at == len(text):
        return pieces
    cut = Cut(0, False, "", 0, "", 0, "", 0, "", 0)
    try:
        cut_attributes(text, at, cut)
    except CutError:
        return None
    if cut.legacy or skip_blank(text, cut.end) != len(text) or any(a.is_apart(text) for a in cut.attributes):
        return None
    return pieces + [(a.name, a.value) for a in cut.attributes]


_EARLY_METADATA = deferred(lambda: r"[ \t]*# metadata=([^\n]*)")
_EARLY_DIMS = deferred(lambda: r"[ \t]*dims: ([\w?]+->[\w?]+|[\w?]+_[\w?]+->[\w?]+)")


def _legacy_tail(text: str, at: int, after: int, cut: Cut) -> int:
    """Forms of early 2017 that stand after the attributes without a comma; sets `cut.last`."""
    cut.last = at
    if (found := _EARLY_DIMS.match(text, at)) and all(a.name not in ("dim_labels", "dims") for a in cut.attributes):
        # Not dim_labels: the letters stand in the order of the layouts.
        cut.attributes.append(CutAttribute("dims", found[1], found.start(1), found.start(1)))
        cut_attributes(text, found.end(), cut)
        return cut.end
    if found := _EARLY_METADATA.match(text, at):
        fields = re.sub(r"(\w+):\s*", r"\1=", found[1]).strip()
        cut.attributes.append(CutAttribute("metadata", f"{{{fields}}}", found.start(1), found.start(1)))
        cut.legacy.append(("early 2017", "` # metadata=...` is how early 2017 printed metadata", found.start(1),
                           found.end(1)))
        cut.last = found.end()
        return skip_blank(text, found.end())
    return after


_WINDOW_PART = deferred(lambda: rf"{terminal('attribute', 'WINDOW_PART')}|{plain('attribute', 'window_pad')}")


def _value_end(text: str, at: int, name: str, is_inside: bool) -> int:
    """Return the end of an attribute's value: atoms and balanced groups without white space between them.

    Literals and mesh groups go on after a blank, and so do the protobuf texts of early 2017. The devices of a mesh are
    part of it.
    """
    start = at
    while at < len(text):
        char = text[at]
        if char in "{([":
            at = match_bracket(text, at, is_inside)
        elif found := _ATOM.match(text, at):
            if is_inside and "\n" in found[0] and (string := _STRING.search(found[0])):
                check_quote(text, at + string.start(), at + string.end(), start)
            is_arrow = found[0].endswith("-") and text.startswith(">", found.end())
            at = found.end() + is_arrow
        elif text.startswith("mesh[", start) and (found := _DEVICE_IDS.match(text, skip_blank(text, at))):
            at = found.end()
        else:
            more = skip_blank(text, at)
            goes_on = (name == "literal" or text.startswith("mesh[", start)
                       or (name == "padding" and text.startswith("dimensions", more if text[at - 1] == "}" else start))
                       or (name == "window" and _WINDOW_PART.match(text, more)))
            if not goes_on or more == at or more >= len(text) or text[more] in ",})" \
                    or (STATEMENT.match(text, more) and name != "window"):
                return at
            at = more
    return at


@lazy_dataclass(slots=True)
class CutOperand:
    """One operand: its shape text, name (or nested instruction), and place in the source."""

    shape: str
    name: str
    start: int
    end: int
    #: opcode and operand text of an instruction written in place of a name
    opcode: str = ""
    nested: str = ""
    nested_start: int = 0
    #: `#0#1` after a name: tuple indices
    index: tuple[int, ...] = ()


_INDEX = deferred(lambda: r"(?:#\d+)+")
_SEPARATOR = deferred(lambda: rf"{STRING}|{ANY_COMMENT}|[()\[\]{{}},]")


def split_commas(text: str, base: int = 0) -> list[tuple[int, int]]:
    """Ranges between top-level commas, blanks and comments trimmed on the left; [] for blank text."""
    ranges, depth, start = [], 0, 0
    for found in _SEPARATOR.finditer(text):
        token = found[0]
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
        elif token == "," and depth == 0:
            ranges.append((start, found.start()))
            start = found.end()
    ranges.append((start, len(text)))
    if len(ranges) == 1 and skip_blank(text, 0) == len(text):
        return []
    return [(base + skip_blank(text, a), base + b) for a, b in ranges]


def _small_int(digits: str) -> int:
    # No tuple has elements beyond a dozen digits, and Python refuses to read thousands of them.
    return int(digits[:12]) if digits[:12] == digits else 10**12


def cut_operand(text: str, start: int, end: int) -> CutOperand:
    """Return the pieces of the operand in a range of the source; raises CutError."""
    shape_end = min(cut_shape(text, start), end)
    shape = text[start:shape_end]
    at = skip_blank(text, shape_end)
    if at >= end:
        if not shape:
            raise CutError(BAD_STATEMENT, "an operand is missing between the commas", start, max(end, start + 1))
        return CutOperand(shape, "", start, shape_end)
    opcode = _OPCODE.match(text, at)
    inner = skip_blank(text, opcode.end()) if opcode else end
    if opcode and inner < end and text[inner] == "(":
        close = match_bracket(text, inner)
        return CutOperand(shape, "", start, close, opcode[1], text[inner + 1:close - 1], inner + 1)
    if text.startswith("...", at):
        raise CutError(BAD_STATEMENT, "operands were left out of the text (`...`)", at, end,
                       help="compact logs cannot be read back: dump the module with all operands")
    named = _ANY_NAME.match(text, at)
    if named is None:
        raise CutError(BAD_STATEMENT, f"expected an operand, found '{text[at:end].strip()}'", at, end)
    stop = named.end()
    index: tuple[int, ...] = ()
    if found := _INDEX.match(text, stop):
        stop, index = found.end(), tuple(map(_small_int, found[0][1:].split("#")))
    rest = skip_blank(text, stop)
    if rest < end:
        raise CutError(BAD_STATEMENT, f"expected ',' or ')' after the operand {named[1]}", rest, end)
    return CutOperand(shape, named[1], at, stop, index=index)
