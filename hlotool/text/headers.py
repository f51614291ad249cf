"""Reads a computation's header: names and shapes of its parameters, which the instructions need not repeat.

XLA reads the list and forgets it: `c (x: s32[3]) -> f32[]` may stand over parameters of other names, shapes and
numbers. What is no list of names and shapes it refuses. Source: hlo_parser.cc, ParseParamListToShape and ParseParam;
hlo_lexer.cc, LexIdentifier.
"""

from __future__ import annotations

import re

from hlotool.diagnostics import define
from hlotool.grammars import pattern, terminal
from hlotool.ir import deferred
from hlotool.text.keywords import RESERVED
from hlotool.text.phrase_cache import RememberedPhrases
from hlotool.text.phrases import PhraseError
from hlotool.text.reports import Reports
from hlotool.text.scan import cut_shape, split_commas
from hlotool.text.syntax_errors import SYNTAX, CutError
from hlotool.text.tokens import skip_blank

BAD_HEADER = define("P025", "bad-header", "a module or computation header that cannot be read", SYNTAX)

_PLAIN_PARAMETER = deferred(lambda: pattern("lines", "plain_parameter"))
_PLAIN_NAME = deferred(lambda: rf"{terminal('lines', 'NAME')}: ")
_NAME = deferred(lambda: terminal("hlo", "PARAMETER_NAME"))
_WORD = deferred(lambda: r"[^\s,()]+|.", re.S)


class HeaderReader:
    """Reads the headers of one text."""

    def __init__(self, reports: Reports, phrases: RememberedPhrases) -> None:
        self._reports = reports
        self._phrases = phrases
        self._text = reports.text
        #: plain parameters without their names, which are most of what tells them apart
        self._plain: set[str] = set()

    def check_name(self, name: str, start: int) -> None:
        """Report a module's or computation's name that is a word of the language; behind a sign it is none."""
        if name in RESERVED and not self._text.startswith("%", start - 1):
            self._reports.reserved_name(name, start)

    def check_parameters(self, start: int, end: int) -> None:
        """Report what is wrong between the parentheses of a header."""
        if start == end:
            return
        inside = self._text[start:end]
        if (nameless := _PLAIN_NAME.sub("\0", inside)) in self._plain:
            return
        if self._is_plain(inside):
            self._plain.add(nameless)
            return
        try:
            for begin, stop in split_commas(inside, start):
                self._check_parameter(begin, stop)
        except CutError as error:
            self._reports.report_cut(error)

    def _is_plain(self, inside: str) -> bool:
        """Return True if these are parameters as printers write them, with shapes that can be read."""
        known, read, match = self._phrases.shapes, self._phrases.shape_or_none, _PLAIN_PARAMETER.match
        at = 0
        while found := match(inside, at):
            shape = found[2]  # of `f32[4, 4]` the first half, which only the long way takes
            if not (known.get(shape) or (shape.count("[") == shape.count("]") and read(shape, -1))):
                return False
            at = found.end()
        return at == len(inside) and not inside.endswith(", ")

    def _check_parameter(self, start: int, end: int) -> None:
        text, report = self._text, self._reports.report
        named = _NAME.match(text, start, end)
        if named is None:
            self._report_other("expected a parameter `name: shape`", start, end)
            return
        if named[0] in RESERVED:
            self._reports.reserved_name(named[0], start)
        name, at = named[0].strip("%:"), skip_blank(text, named.end())
        stop = min(cut_shape(text, at), end)
        if stop <= at:
            self._report_other(f"expected the shape of the parameter {name}", at, end)
            return
        try:
            self._phrases.shape(text[at:stop], at)
        except PhraseError as error:
            self._reports.report_phrase(error, at)
        if (rest := skip_blank(text, stop)) < end:
            report(BAD_HEADER, f"expected ',' or ')' after the parameter {name}", rest, end)

    def _report_other(self, expected: str, start: int, end: int) -> None:
        found = _WORD.match(self._text, start, end)
        said = f"{expected}, found '{found[0]}'" if found else expected
        self._reports.report(BAD_HEADER, said, start, found.end() if found else start + 1,
                             help="write the header as `name (p: f32[2]) -> f32[2] {` or as `name {`")


__all__ = ["HeaderReader"]
