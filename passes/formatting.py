"""Printing a module over the text that it was read from: one format, and every comment where it stood.

    // what is added                        // what is added
    ENTRY e {                               ENTRY %e (x: f32[]) -> f32[] {
      x=f32[] parameter(0) // the one         %x = f32[] parameter(0)  // the one
                                        ->
      ROOT y = add(x, // and                  ROOT y = add(x, // and
                   x)                                      x)
    }                                       }

A comment on lines of its own stays in front of what follows it, one behind a statement stays behind it, and a
statement with a comment inside stays as it is written. Empty lines between statements stay, several become one.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import Any, NoReturn

from hlotool import mlir
from hlotool.diagnostics import Diagnostic, HloError, define
from hlotool.grammars import beginning, terminal
from hlotool.ir import HloComputation, HloModule, Source, callees_first, with_line_feeds
from hlotool.passes.read import parse_source
from hlotool.text import (
    TODAY,
    Cut,
    CutError,
    PrintOptions,
    comment_spans,
    comments_in,
    cut_attributes,
    match_bracket,
    print_module,
    style_of,
)
from hlotool.text.input_files import is_mlir, split_modules, split_programs

NOT_FORMATTABLE = define("P030", "not-formattable", "A text that would lose something in one format: a comment that "
                         "cannot stay in its place, what a logger wrote in front of lines.")

_NO_CHANGES: Mapping[str, Any] = MappingProxyType({})
_TOKEN = re.compile(r"\n|//[^\n]*|/\*.*?\*/", re.S)
_EMPTY_LINE = re.compile(rf"\n[ \t]*\n[ \t]*{beginning('hlo', 'instruction', through=('EQUALS',))}")
_HEADER = re.compile(rf"\s*({terminal('hlo', 'MODULE_WORD')}\b)")
_ENTRY = re.compile(rf"(?:^|(?<=[\s}}])){terminal('hlo', 'ENTRY')}\s*%?\Z")


def formatted(module: HloModule, options: PrintOptions | None = None, changes: Mapping[str, Any] = _NO_CHANGES) -> str:
    """Return the text of a module that was read from text, with the comments of that text.

    Without options it is in the style of that text; `changes` are made to the options in either case.
    Raises HloError (P030) where a comment cannot be kept in its place.
    """
    own = style_of(module)
    options = replace(options or own, **changes)
    printed = print_module(module, options)
    source = module.source
    if source is None or source.text == printed:
        return printed
    kept = comments_in(source.text)
    if not kept and not _EMPTY_LINE.search(source.text):
        return printed
    plain = replace(options, gaps=TODAY.gaps, named_ends=None, inline_bodies=False)
    try:
        text = _Formatter(module, source.text, print_module(module, plain), is_own=options in (own, TODAY)).text()
    except _Lost as error:
        if not kept:  # only empty lines
            return printed
        _refuse_comments(source, str(error))
    if comments_in(text) != kept:
        _refuse_comments(source, "the comments would stand in another order")
    again = Source(text, source.filename)
    try:
        is_same = print_module(parse_source(again), options) == printed
    except HloError:
        is_same = False
    if not is_same:
        _refuse_comments(source, "the text would read as another module with its comments in their places")
    return text


def formatted_program(source: Source, options: PrintOptions | None = None, changes: Mapping[str, Any] = _NO_CHANGES
                      ) -> str:
    """Return a text of StableHLO, or of another program of MLIR, in one layout with its comments where they stand.

    The options are those of HLO text. Raises HloError for syntax errors, and (P030) where the text would say something
    else, or where options are given.
    """
    if options is not None or changes:
        _refuse(source, "the options for its style are for HLO text, and this is StableHLO", "leave them out")
    try:
        return mlir.laid_out(source)
    except mlir.TextLost as error:
        _refuse(source, f"not formatted: {error}", "report it: a layout may not change what a text says")


def format_text(text: str, filename: str = "<string>", options: PrintOptions | None = None,
                changes: Mapping[str, Any] = _NO_CHANGES) -> tuple[str, int]:
    """Return the text of a file with its modules formatted where they stand, and how many of them change.

    A text of MLIR is laid out by `formatted_program`. Raises HloError for syntax errors, and (P030) where something
    would be lost.
    """
    plain = with_line_feeds(text)
    pieces: list[str] = []
    at = changed = 0
    is_program = is_mlir(plain)
    for source in split_programs(plain, filename) if is_program else split_modules(plain, filename):
        start = plain.find(source.text, at)
        if start < 0:
            raise HloError([Diagnostic(NOT_FORMATTABLE, "its lines have a logger's prefixes: they cannot be rewritten",
                                       filename=filename, help="take the module out of the log first")])
        own = source.text.strip("\n")
        new = (formatted_program(source, options, changes) if is_program
               else formatted(parse_source(source), options, changes)).strip("\n")
        lead = source.text[:len(source.text) - len(source.text.lstrip("\n"))]
        pieces += [plain[at:start], lead, new, source.text[len(source.text.rstrip("\n")):]]
        changed += own != new
        at = start + len(source.text)
    whole = "".join([*pieces, plain[at:]])
    if not changed:
        return plain, 0
    return (whole.strip("\n") + "\n" if whole.strip() else whole), changed


def _refuse_comments(source: Source, message: str) -> NoReturn:
    _refuse(source, f"not formatted, its comments would be lost: {message}",
            "move the comment to a line of its own in front of a statement")


def _refuse(source: Source, message: str, help: str) -> NoReturn:
    raise HloError([Diagnostic(NOT_FORMATTABLE, message, filename=source.filename, line=source.first_line, column=1,
                               end_line=source.first_line, end_column=2, help=help)])


class _Lost(Exception):
    """Why comments cannot be placed."""


@dataclass(slots=True)
class _Item:
    """A piece of the text that is printed as one: a header, a statement, a closing brace."""

    start: int
    end: int
    #: what is printed for it
    lines: list[str]
    indent: str = ""
    is_end: bool = False
    #: comments and empty lines in front of it, and comments behind it
    before: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)


class _Formatter:
    def __init__(self, module: HloModule, source: str, printed: str, *, is_own: bool) -> None:
        self.module, self.source, self.is_own = module, source, is_own
        self.lines = printed.removesuffix("\n").split("\n")
        # Strings stay, comments are blank: what is cut here was read already.
        self.blank = "".join(_blanked(source))

    def text(self) -> str:
        """Return the formatted text. Raises _Lost."""
        items = {c: self._items(c, lines) for c, lines in self._printed()}
        ordered = sorted(items, key=lambda c: c.offset)
        head = self._head(items[ordered[0]][0].start)
        end = _Item(len(self.source), len(self.source), [])
        self._place([head, *(i for c in ordered for i in items[c]), end])
        for opening in (head, *(pieces[0] for pieces in items.values())):
            while opening.before[:1] == [""]:
                del opening.before[0]
        while end.before[-1:] == [""]:
            end.before.pop()
        written = [*self._written(head)]
        for pieces in items.values():
            written += ["", *(line for item in pieces for line in self._written(item))]
        written += end.before
        return "\n".join(written) + "\n"

    def _printed(self) -> Iterator[tuple[HloComputation, list[str]]]:
        """Yield the printed lines of each computation, in the order of printing."""
        order = callees_first(self.module)
        at = len(self.lines) - sum(len(c.instructions) + 3 for c in order) + 1
        if at < 2 or len(set(order)) != len(self.module.computations):
            raise _Lost("a value takes several lines")
        self.head_lines = self.lines[:at - 1]
        for computation in order:
            size = len(computation.instructions) + 2
            yield computation, self.lines[at:at + size]
            at += size + 1

    def _items(self, computation: HloComputation, lines: Sequence[str]) -> list[_Item]:
        """Return the header, the statements and the end of a computation."""
        starts = [i.offset for i in computation.instructions]
        if computation.offset < 0 or sorted({computation.offset, *starts}) != [computation.offset, *starts]:
            raise _Lost("an instruction or a computation stands inside of another")
        opened = self.blank.rfind("{", computation.offset, starts[0])
        try:
            close = match_bracket(self.blank, opened) - 1
            end = self._end_of_attributes(close + 1)
        except CutError as error:
            raise _Lost("a bracket of a computation is not found") from error
        if opened < 0 or starts[-1] > close or self.blank[opened + 1:starts[0]].strip():
            raise _Lost("a computation stands inside of another")
        start = self._start(computation.offset)
        ends = [self._before_space(at) for at in (*starts[1:], close)]
        if not lines[0].endswith("{") or not lines[-1].startswith("}"):
            raise _Lost("a value takes several lines")
        return [self._item(start, opened + 1, [lines[0]], ""),
                *(self._item(at, stop, [line], "  ") for at, stop, line in zip(starts, ends, lines[1:-1], strict=True)),
                self._item(close, end, [lines[-1]], "", is_end=True)]

    def _item(self, start: int, end: int, lines: list[str], indent: str, *, is_end: bool = False) -> _Item:
        """Return an item; one with comments inside is printed as it is written."""
        written = self.source[start:end]
        if comments_in(written):
            if not self.is_own:
                raise _Lost("a comment stands inside of a statement, which keeps its own format")
            lines = [indent + written]
        return _Item(start, end, lines, indent, is_end)

    def _head(self, first: int) -> _Item:
        """Return the module's header with its tables; where there is none, what is printed for it."""
        header = _HEADER.match(self.blank)
        if header is None or header.start(1) >= first:
            return _Item(0, 0, self.head_lines)
        start, end = header.start(1), self._before_space(first)
        return self._item(start, end, self.head_lines, "")

    def _start(self, at: int) -> int:
        """Return the start of the header of the computation whose name is at an offset."""
        line = self.blank[max(0, at - 200):at]
        found = _ENTRY.search(line)
        if found is not None:
            return at - len(line) + found.start()
        return at - 1 if line.endswith("%") else at

    def _before_space(self, at: int) -> int:
        while at > 0 and self.blank[at - 1].isspace():
            at -= 1
        return at

    def _end_of_attributes(self, at: int) -> int:
        cut = Cut(at, False, "", at, "", at, "", at, "", at)
        cut_attributes(self.blank, at, cut)
        return max(at, self._before_space(cut.end))

    def _place(self, items: Sequence[_Item]) -> None:
        """Give the comments and empty lines between items to them."""
        previous: _Item | None = None
        for item in items:
            begin = previous.end if previous is not None else 0
            if previous is not None and previous.start == previous.end == 0:
                previous = None  # a header that the text does not have: what is in front stands above it
            if item.start < begin or self.blank[begin:item.start].strip():
                raise _Lost("something stands between two statements")
            self._share(self.source[begin:item.start], previous, item if previous is not None else items[0])
            previous = item

    def _share(self, gap: str, previous: _Item | None, following: _Item) -> None:
        """Give what stands between two items to the one whose line it stands on, else to the next one."""
        feeds = 0
        for found in _TOKEN.finditer(gap):
            token = found[0]
            if token == "\n":
                feeds, previous = feeds + 1, None
            elif previous is not None and "\n" not in token:
                previous.behind.append(token.rstrip())
            else:
                following.before += [""] * (feeds > 1) + [token.rstrip()]
                feeds, previous = 0, None
        following.before += [""] * (feeds > 1)

    def _written(self, item: _Item) -> Iterator[str]:
        inside = "  " if item.is_end else item.indent
        while item.is_end and item.before[-1:] == [""]:
            item.before.pop()
        for line in item.before:
            yield inside + line if line else ""
        behind = "".join(f"  {comment}" for comment in item.behind)
        yield from item.lines[:-1]
        if item.lines:
            yield item.lines[-1] + behind


def _blanked(text: str) -> Iterator[str]:
    """Yield the text with every comment as spaces, line feeds kept."""
    at = 0
    for start, end in comment_spans(text):
        yield text[at:start]
        yield re.sub(r"[^\n]", " ", text[start:end])
        at = end
    yield text[at:]
