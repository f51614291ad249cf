"""Comments that keep findings quiet, and what is said about those that keep none.

    %d = f64[8] convert(%x)  // hlolint: disable=wide-type reason=the solver needs it
    // hlolint: disable=W301,W302          on a line of its own: for the next statement
    // hlolint: disable-file=W1            anywhere: for the whole module
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import field

from hlotool.diagnostics import Diagnostic, Fix, Severity, at
from hlotool.grammars import beginning, terminal
from hlotool.ir import Source, deferred, lazy_dataclass
from hlotool.linting.codes import BAD_SUPPRESSION, NO_REASON, UNUSED_SUPPRESSION
from hlotool.linting.settings import Settings, selector_fits
from hlotool.passes.lints import RULES
from hlotool.text import skip_blank

#: the word that a comment to the linter begins with
WORD = "hlolint"
#: comments and strings; what is not closed goes to the end, so that it is looked through once
_COMMENT = deferred(lambda: r"//[^\n]*|/\*(?:.*?\*/|.*)|"
                      r"""'[^'\\\n]*+(?:\\.[^'\\\n]*+)*+'?|"[^"\\\n]*+(?:\\.[^"\\\n]*+)*+"?""", re.S)
_ORDER = deferred(lambda: r"(?P<verb>[\w\-]++)\s*+=\s*+(?P<codes>[\w.\-]++(?:\s*+,\s*+[\w.\-]++)*+)"
                    r"(?:\s++reason\s*+=\s*+(?P<reason>\S.*+))?", re.S)


@lazy_dataclass(slots=True)
class _Suppression:
    start: int
    end: int
    codes: tuple[str, ...]
    reason: str
    #: first and last line that it is about; 0 to 0: all
    first: int
    last: int
    used: set[str] = field(default_factory=set)

    def quiets(self, found: Diagnostic) -> bool:
        """Return True if the finding is suppressed, which is remembered."""
        if self.last and not (self.first <= found.line <= self.last):
            return False
        fitting = {c for c in self.codes if selector_fits(c, found)}
        self.used |= fitting
        return bool(fitting)


def suppress(found: Sequence[Diagnostic], source: Source | None, settings: Settings,
             is_complete: bool = True) -> tuple[list[Diagnostic], int]:
    """The findings that no comment suppresses, with those about the comments; and how many were suppressed.

    Comments that suppress nothing are reported where the rules were run: where `is_complete`.
    """
    if source is None or WORD not in source.text:
        return list(found), 0
    comments, problems = _read(source)
    kept = []
    at_line = _by_line(comments)
    for diagnostic in found:
        # Every comment about the line is asked, so that each that fits counts as used.
        about = (*at_line[0], *at_line.get(diagnostic.line, ()))
        if not [c for c in about if c.quiets(diagnostic)]:
            kept.append(diagnostic)
    remarks = [*(_unused(comments, source, settings) if is_complete and settings.unused_suppressions else ()),
               *(_without_reason(comments, source) if settings.require_reason else ())]
    return [*kept, *settings.apply([*problems, *remarks])], len(found) - len(kept)


def _by_line(comments: Iterable[_Suppression]) -> dict[int, list[_Suppression]]:
    """The comments about each line; at 0 those about all."""
    found: dict[int, list[_Suppression]] = {0: []}
    for comment in comments:
        for line in range(comment.first, comment.last + 1):
            found.setdefault(line, []).append(comment)
    return found


def _unused(comments: Iterable[_Suppression], source: Source, settings: Settings) -> Iterator[Diagnostic]:
    silent = {word for rule in RULES.values() if not settings.selects(rule) for word in (rule.code, rule.name)}
    for comment in comments:
        unused = [c for c in comment.codes if c not in comment.used and c not in silent]
        if not unused:
            continue
        is_whole = len(unused) == len(comment.codes)
        yield at(source, comment.start, comment.end, UNUSED_SUPPRESSION,
                 f"nothing here is reported as {' or '.join(unused)}", severity=Severity.WARNING,
                 help="remove the comment" if is_whole else f"remove {', '.join(unused)} from the comment",
                 fixes=(_removal(source, comment),) if is_whole else ())


def _without_reason(comments: Iterable[_Suppression], source: Source) -> Iterator[Diagnostic]:
    for comment in comments:
        if not comment.reason:
            yield at(source, comment.start, comment.end, NO_REASON, "the suppression does not say why",
                     severity=Severity.WARNING, help="add reason=... behind the codes")


def _removal(source: Source, comment: _Suppression) -> Fix:
    start = comment.start
    while start and source.text[start - 1] in " \t":
        start -= 1
    position = source.position
    return Fix("remove the comment", position(start), position(comment.end), "")


def _read(source: Source) -> tuple[list[_Suppression], list[Diagnostic]]:
    comments, problems, behind = [], [], 0
    for match in _COMMENT.finditer(source.text, _line_start(source.text, source.text.find(WORD))):
        words = _words(match[0])
        if words is None:
            continue
        order = _ORDER.fullmatch(words)
        if order is None or order["verb"] not in ("disable", "disable-file"):
            problems.append(at(source, match.start(), match.end(), BAD_SUPPRESSION,
                               f"{words.strip()!r} is no order to the linter", severity=Severity.WARNING,
                               help="write `// hlolint: disable=CODE reason=why`, or disable-file=CODE"))
            continue
        codes = tuple(c.strip() for c in order["codes"].split(","))
        first = last = 0
        if order["verb"] == "disable":
            first, last, behind = _lines(source, match.start(), match.end(), behind)
        comments.append(_Suppression(match.start(), match.end(), codes, order["reason"] or "", first, last))
    return comments, problems


def _words(comment: str) -> str | None:
    """Return the directive of a comment; None where it is for somebody else, or is a string."""
    if not comment.startswith("/"):
        return None
    start, colon, order = comment[2:].removesuffix("*/" if comment[1] == "*" else "").partition(":")
    return order.strip() if colon and start.strip() == WORD else None


def _line_start(text: str, at: int) -> int:
    return text.rfind("\n", 0, at) + 1


_STATEMENT_END = deferred(
    lambda: rf"\n\s*+(?:{beginning('hlo', 'instruction', through=('EQUALS',))}|\}}|{terminal('hlo', 'ENTRY')}|//)")
_INDENT = deferred(lambda: r"[^\S\n]*+")


def _lines(source: Source, start: int, end: int, behind: int) -> tuple[int, int, int]:
    """The lines of the statement that a comment is about: the one that it stands in or behind, else the next.

    Comments in a row are about one statement, which begins `behind` them if that is known; the third number is where.
    """
    text, position = source.text, source.position(start)
    indent = _INDENT.match(text, start - position.column + 1)
    if indent is not None and indent.end() < start:
        return position.line, position.line, behind
    if behind < end:
        behind = skip_blank(text, end)
    stop = _STATEMENT_END.search(text, behind)
    return source.position(behind).line, source.position(stop.start() if stop else len(text)).line, behind
