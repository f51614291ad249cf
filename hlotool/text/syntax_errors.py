"""Explains a statement that cannot be cut into its parts, and finds the place where reading continues."""

from __future__ import annotations

import re

from hlotool.diagnostics import Note, define
from hlotool.ir import Source, deferred
from hlotool.text.tokens import BODY_END, FIRST_STATEMENT, NAME, STATEMENT_LINE, blank_start, next_statement, skip_blank

SYNTAX = "xla/hlo/parser/hlo_parser.cc, grammar in its comments"
MISSING_CLOSE = define("P001", "unclosed-bracket", "a bracket is opened and not closed in its statement", SYNTAX)
TRUNCATED = define("P002", "truncated", "the text ends in the middle of a statement or computation", SYNTAX)
BAD_STATEMENT = define("P003", "bad-statement", "a statement that is not `name = shape opcode(operands)`", SYNTAX)
STRAY_TEXT = define("P004", "stray-text", "text between statements that belongs to none", SYNTAX)
NESTED_TOO_DEEP = define("P017", "nested-too-deep",
                         "instructions nested more than 100 deep, or brackets more than 1000", SYNTAX)
BAD_NAME = define("P013", "bad-name", "a name that HLO does not allow", SYNTAX)
OPEN_QUOTE = define("P006", "unclosed-quote", "a string is opened and not closed in its statement", SYNTAX)
HAND_WRITTEN = define("P033", "hand-written", "a form that is read although XLA's parser refuses it", SYNTAX)
BAD_ATTRIBUTE = define("P005", "bad-attribute-syntax", "what follows the operands is not `, name=value`", SYNTAX)


CLOSING = {"(": ")", "[": "]", "{": "}"}


class CutError(Exception):
    """A statement that cannot be cut: offsets are those of the source; `resume` is where to go on."""

    def __init__(self, code: str, message: str, start: int, end: int, *, resume: int | None = None, help: str = "",
                 note: tuple[str, int, int] | None = None, insert: tuple[int, str] | None = None) -> None:
        self.code = code
        self.message = message
        self.start = start
        self.end = end
        self.resume = resume
        self.help = help
        self.note = note
        #: where to insert what, to mend it
        self.insert = insert
        super().__init__(message)

    def notes(self, source: Source) -> tuple[Note, ...]:
        if self.note is None:
            return ()
        message, start, end = self.note
        return (Note(message, source.position(start), source.position(end)),)


_ATTRIBUTE_BEHIND = deferred(lambda: rf",\s*({NAME})=")


def missing_bracket(text: str, opener: tuple[str, int], line_end: int) -> None:
    """Raises what is wrong with a bracket that a line leaves open."""
    bracket, opened = opener
    close = CLOSING[bracket]
    attribute = _ATTRIBUTE_BEHIND.search(text, opened, line_end)
    # Attributes stand behind the operands, so the bracket is missing in front of the first of them.
    stop = attribute.start() if attribute else opened + len(text[opened:line_end].rstrip())
    if bracket == "[":
        sizes = _SIZES.match(text, opened + 1)
        stop, attribute = opened + 1 + (len(sizes[0].rstrip()) if sizes else 0), None
    before = f"before the attribute {attribute[1]}" if attribute else "after the sizes" if bracket == "[" \
        else "before the end of the line"
    raise CutError(MISSING_CLOSE, f"expected '{close}' {before}", stop - 1, stop, resume=next_statement(text, opened),
                   help=f"add '{close}'", note=(f"this '{bracket}' is not closed", opened, opened + 1),
                   insert=(stop, close))


_SIZES = deferred(lambda: r"[\d,<=?\s]*")


def is_inline_body(text: str, opener: tuple[str, int]) -> bool:
    """Return True if a brace opens a computation that is written in place of its name."""
    bracket, opened = opener
    return bracket == "{" and FIRST_STATEMENT.match(text, skip_blank(text, opened + 1)) is not None


#: a string that ends just before another begins: where the first was not closed
_RUN_ON = deferred(lambda: r"""(["'])(?:[^"'\s,]++|(?:[^\S\n]|,)++(?!\w++=\1))*+(?=[\s,]++\w++=\1)""")


def check_quote(text: str, start: int, end: int, begin: int) -> None:
    """Raise where a string of the statement from `begin` is not closed, which its going on into other lines shows."""
    if end - start > 1:
        line_end = text.find("\n", start, end)
        after = line_end + 1
        if line_end < 0 or not (STATEMENT_LINE.match(text, after) or BODY_END.match(text, after)):
            return
    line_end = text.find("\n", start)
    line_end = len(text) if line_end < 0 else line_end
    line_start = max(begin, text.rfind("\n", 0, start) + 1)
    run_on = _RUN_ON.search(text, line_start, line_end)
    at, stop = run_on.span() if run_on else (start, start + len(text[start:line_end].rstrip()))
    last = line_end >= blank_start(text, len(text))
    raise CutError(TRUNCATED if last else OPEN_QUOTE, "the text ends inside of a string" if last
                   else "the string that begins here is not closed", at, stop,
                   resume=next_statement(text, start), help=f"add {text[at]}",
                   insert=(stop, text[at]) if run_on else None)


def missing_comma(text: str, start: int, name: str, error: CutError) -> CutError:
    """Return the error for an attribute that looks like a statement because its comma is missing, else `error`."""
    before = blank_start(text, start)
    if not before or text[before - 1] in "{,":
        return error
    return CutError(BAD_ATTRIBUTE, f"a comma is missing before the attribute {name}", before - 1, before,
                    resume=error.resume, help="add ','", note=(f"{name} stands here", start, start + len(name)))


def opcode_help(found: str) -> str:
    """Advice about a word in an opcode's place."""
    return f"is {found} an element type? write it as in f32[2,3]" if found[:1].isupper() else ""


def bad_statement(text: str, at: int, found: int | None = None) -> CutError:
    """Return the error of a text at `at` that is no statement from `found` on."""
    line_end = text.find("\n", at)
    line_end = len(text) if line_end < 0 else line_end
    shown = text[at:line_end].strip()
    if not text[at if found is None else found:].strip():
        return CutError(TRUNCATED, "the text ends in the middle of a statement", at, len(text), resume=len(text),
                        help="the file is truncated: get the whole dump")
    brace = _unopened_brace(text, at, line_end)
    resume = brace if brace > at else next_statement(text, at)
    shown = text[at:brace].rstrip() if brace > at else shown
    return CutError(BAD_STATEMENT, "expected an instruction `name = shape opcode(operands)`", at,
                    at + max(1, len(shown)), resume=resume)


def _unopened_brace(text: str, at: int, end: int) -> int:
    """Return the closing brace in a range that nothing in it opens; -1 for none."""
    depth = 0
    for found in _BRACE.finditer(text, at, end):
        depth += 1 if found[0] == "{" else -1
        if depth < 0:
            return found.start()
    return -1


_BRACE = deferred(lambda: r"[{}]")


def no_opcode(text: str, at: int, shape_start: int) -> CutError:
    """Return the error of an instruction without an opcode at `at`."""
    if at >= blank_start(text, len(text)):
        return CutError(TRUNCATED, "the text ends in the middle of an instruction", shape_start, len(text),
                        resume=len(text), help="the file is truncated: get the whole dump")
    word = re.compile(r"\S+").match(text, at)
    end = word.end() if word else at + 1
    where = "a shape and an opcode" if at == shape_start else "an opcode"
    return CutError(BAD_STATEMENT, f"expected {where}, found '{text[at:end]}'", at, end,
                    resume=next_statement(text, at))
