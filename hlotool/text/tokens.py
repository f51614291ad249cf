"""Recognises tokens of HLO text: patterns made of the grammars' terminals, and the ends of white space."""

from __future__ import annotations

import functools
import re

from hlotool.grammars import beginning, grammar, plain, references, strings_of, terminal
from hlotool.ir import deferred

NAME, OPCODE = terminal("lines", "NAME"), terminal("lines", "OPCODE")
STRING, COMMENT = terminal("terminals", "STRING"), terminal("terminals", "COMMENT")
#: the word that a module begins with
MODULE_WORD = terminal("hlo", "MODULE_WORD")
#: the sections of the stack-frame tables in the order of the text, each with the rule of its rows
TABLES = dict(zip(strings_of("hlo", "tables"), references(grammar("hlo").rules["tables"].part), strict=True))


@functools.cache
def table_row(section: str) -> re.Pattern[str]:
    """Return the pattern of a row of one of the `TABLES`."""
    return re.compile(plain("hlo", TABLES[section]))


#: the end of a computation with nothing but white space or a comment behind it
CLOSE_PLAIN = deferred(lambda: rf"\}}(?:\n\s*|[ \t\r]*(?:{COMMENT})?(?:\n\s*|\Z))", re.ASCII)
#: a comment; one that is never closed goes to the end, which is found once and not again at every '/*'
ANY_COMMENT = rf"{COMMENT}|/\*[\s\S]*"
BLANK = re.compile(rf"(?:\s+|{ANY_COMMENT})*+", re.ASCII)
#: a comment that counts elements of a tuple: /*index=5*/
INDEX_COMMENT = deferred(lambda: terminal("lines", "INDEX_COMMENT"))

# What statements and headers begin like, for not reading past them when a bracket is missing: made from the grammar's
# rules, which say nothing about text that is wrong. What is put around them is the lines that such text is told by.


def _up_to_equals() -> str:
    return beginning("hlo", "instruction", through=("EQUALS",))


def up_to_brace() -> str:
    """Return the expression of a header up to the brace behind its name, on one line."""
    return beginning("hlo", "computation", through=("{",), is_one_line=True)


def up_to_parameters() -> str:
    """Return the expression of a header up to the parenthesis behind its name, on one line."""
    return beginning("hlo", "computation", through=("(",), is_one_line=True)


def _header_line() -> str:
    return rf"(?:{up_to_brace()}|{up_to_parameters()}[^\n]*\{{[ \t]*+)\r?\n"


#: a statement up to its equals sign
STATEMENT = deferred(lambda: rf"{_up_to_equals()}(?!{terminal('hlo', 'EQUALS')})")
#: a statement up to its first bracket: with blanks around its equals sign, on a line of its own
STATEMENT_LINE = deferred(
    lambda: rf"[ \t]*+{beginning('hlo', 'instruction', through=('(', '['), spaced=('EQUALS',), is_one_line=True)}")
FIRST_STATEMENT = deferred(lambda: beginning("hlo", "instruction", through=("(", "[")))
#: the end of a body and what may follow one
BODY_END = deferred(lambda: rf"\}}[ \t]*(?:\n\s*(?:{_header_line()}|\Z)|\Z)", re.ASCII)
_NEXT = deferred(lambda: rf"\n[ \t]*(?={_up_to_equals()}(?<=\s)|\}}|{_header_line()})", re.ASCII)


def skip_blank(text: str, at: int) -> int:
    """Return the offset after white space and comments."""
    found = BLANK.match(text, at)
    return found.end() if found else at


def blank_start(text: str, at: int) -> int:
    """Return the start of the white space before an offset, without a copy of the text, which may be megabytes."""
    while at > 0 and text[at - 1].isspace():
        at -= 1
    return at


def next_statement(text: str, at: int) -> int:
    """Return the start of the next statement, closing brace or computation on a line of its own after `at`."""
    found = _NEXT.search(text, at)
    return found.end() if found else len(text)
