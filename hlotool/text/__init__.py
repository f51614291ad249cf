"""HLO text to IR and back.

`parse` reads a module: `parse.py` what surrounds computations, `bodies.py` their bodies, line after line
(`quick_lines.py`) or, where a line is not as printers write it, token by token (`statements.py`, `operands.py`). They
share what names stand for (`definitions.py`), the phrases that were met before (`remembered.py`), and what is said
about the text (`reports.py`). `scan.py` cuts text into statements and pieces with patterns made from
`grammars/hlo.lark` and `lines.lark`; `syntax_errors.py` says what is wrong where that fails. Pieces are phrases
(shapes, literals, attribute values): `phrase_reading.py` reads them with expressions made from the rules of their
grammars, and with Lark (`phrase_grammar.py`) what those do not take. Each grammar has one builder of values:
`shapes_text.py`, `attribute_builder.py`, `shardings_text.py`; literals are checked in bulk by `literals_text.py`.
`reread.py` reads a text again after a change. `print.py` and the files beside it write text, which reads back as the
same module.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from hlotool.ir import HloModule, lazily, set_html_printer, set_printer
from hlotool.text.parse import ROOT_SHAPE, other_result, parse, parse_recovering
from hlotool.text.tokens import TABLES

if TYPE_CHECKING:
    from hlotool.text.comments import comment_spans, comments_in
    from hlotool.text.incremental import Changed, Reading, moved, read_for_changes, reread
    from hlotool.text.legacy import LEGALIZE, OLD_ATTRIBUTES, OLD_COMPARISONS, OLD_OPCODES, is_paired_start
    from hlotool.text.literal_bits import literal_of_bits
    from hlotool.text.notebook import as_html
    from hlotool.text.phrase_grammar import parse_phrase
    from hlotool.text.phrases import PhraseError, print_value, read_value
    from hlotool.text.print import print_instruction, print_module
    from hlotool.text.print_changes import print_changes
    from hlotool.text.quoting import docstring_words, quote, text_bytes, unquote
    from hlotool.text.reports import NOTE_SEVERITIES
    from hlotool.text.scan import Cut, cut_attributes, cut_instruction, match_bracket
    from hlotool.text.syntax_errors import TRUNCATED, CutError
    from hlotool.text.text_style import STYLES, TODAY, PrintOptions, style_of
    from hlotool.text.tokens import blank_start, skip_blank
    from hlotool.text.values_text import ATTRIBUTE_WORDS
    from hlotool.text.writable import broken_values, check_writable, is_one_value, is_opcode, is_table_row

#: the sections of the stack-frame tables in the order of the text
TABLE_NAMES = tuple(TABLES)

__all__ = [
    "ATTRIBUTE_WORDS", "LEGALIZE", "NOTE_SEVERITIES", "OLD_ATTRIBUTES", "OLD_COMPARISONS", "OLD_OPCODES", "ROOT_SHAPE",
    "STYLES", "TABLE_NAMES", "TODAY", "TRUNCATED", "Changed", "Cut", "CutError", "PhraseError", "PrintOptions",
    "Reading", "as_html", "blank_start", "broken_values", "check_writable", "comment_spans", "comments_in",
    "cut_attributes", "cut_instruction", "docstring_words", "is_one_value", "is_opcode", "is_paired_start",
    "is_table_row", "literal_of_bits", "match_bracket", "moved", "other_result", "parse", "parse_phrase",
    "parse_recovering", "print_changes", "print_instruction", "print_module", "print_value", "quote",
    "read_for_changes", "read_value", "reread", "skip_blank", "style_of", "text_bytes", "unquote",
]


def _text_of(module: HloModule) -> str:
    text: str = importlib.import_module("hlotool.text.print").print_module(module)
    return text


def _html_of(module: HloModule) -> str:
    html: str = importlib.import_module("hlotool.text.notebook").as_html(module)
    return html


set_printer(_text_of)
set_html_printer(_html_of, is_plain=True)
__getattr__ = lazily(__name__, {
    "comments": ("comment_spans", "comments_in"),
    "incremental": ("Changed", "Reading", "moved", "read_for_changes", "reread"),
    "legacy": ("LEGALIZE", "OLD_ATTRIBUTES", "OLD_COMPARISONS", "OLD_OPCODES", "is_paired_start"),
    "literal_bits": ("literal_of_bits",),
    "notebook": ("as_html",),
    "phrase_grammar": ("parse_phrase",),
    "phrases": ("PhraseError", "print_value", "read_value"),
    "print": ("print_instruction", "print_module"),
    "print_changes": ("print_changes",),
    "quoting": ("docstring_words", "quote", "text_bytes", "unquote"),
    "reports": ("NOTE_SEVERITIES",),
    "scan": ("Cut", "cut_attributes", "cut_instruction", "match_bracket"),
    "syntax_errors": ("TRUNCATED", "CutError"),
    "text_style": ("STYLES", "TODAY", "PrintOptions", "style_of"),
    "tokens": ("blank_start", "skip_blank"),
    "values_text": ("ATTRIBUTE_WORDS",),
    "writable": ("broken_values", "check_writable", "is_one_value", "is_opcode", "is_table_row"),
})
