"""What the scanner knows HLO text by: patterns made of the grammars' terminals, and where white space ends."""

from __future__ import annotations

import re

from hlotool.grammars import terminal

NAME, OPCODE = terminal("lines", "NAME"), terminal("lines", "OPCODE")
STRING, COMMENT = terminal("terminals", "STRING"), terminal("terminals", "COMMENT")
#: the end of a computation with nothing but white space or a comment behind it
CLOSE_PLAIN = re.compile(r"\}[ \t\r]*(?://[^\n]*)?(?:\n\s*|\Z)")
#: a comment; one that is never closed goes to the end, which is found once and not again at every '/*'
ANY_COMMENT = rf"{COMMENT}|/\*[\s\S]*"
BLANK = re.compile(rf"(?:\s+|{ANY_COMMENT})*+")

#: what the beginning of a statement looks like, for not reading past it when a bracket is missing
STATEMENT = re.compile(rf"(?:ROOT\s+)?%?({NAME})\s*=\s*(?![=\s])")
STATEMENT_LINE = re.compile(rf"[ \t]*(?:ROOT\s+)?%?{NAME}\s+=\s+(?:\(|\w+\[|{OPCODE}\()")
#: the end of a body and what may follow one
BODY_END = re.compile(
    rf"\}}[ \t]*(?:\n\s*(?:(?:ENTRY\s+)?%?{NAME}\s*(?:\([^\n]*)?\{{[ \t\r]*\n|\Z)|\Z)")
FIRST_STATEMENT = re.compile(rf"(?:ROOT\s+)?%?{NAME}\s*=\s*(?:\(|\w+\[|{OPCODE}\()")
_NEXT = re.compile(rf"\n[ \t]*(?=(?:ROOT\s+)?%?{NAME}\s*=\s|\}}|(?:ENTRY\s+)?%?{NAME}\s*(?:\(.*)?\{{[ \t\r]*\n)")


def skip_blank(text: str, at: int) -> int:
    """The offset after white space and comments."""
    found = BLANK.match(text, at)
    return found.end() if found else at


def blank_start(text: str, at: int) -> int:
    """Where the white space in front of an offset begins; no copy of the text is made, which may be megabytes long."""
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return at


def next_statement(text: str, at: int) -> int:
    """Where the next statement, closing brace or computation begins on a line of its own after `at`."""
    found = _NEXT.search(text, at)
    return found.end() if found else len(text)
