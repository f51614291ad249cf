"""Lays out a text of MLIR anew: its tokens as they are, each statement as MLIR's printer spaces it, comments in place.

    // of the program                           // of the program
    func.func @f(%x:tensor<f32>)->tensor<f32>{  func.func @f(%x: tensor<f32>) -> tensor<f32> {
      %y=stablehlo.add %x,%x:tensor<f32>//twice   %y = stablehlo.add %x, %x : tensor<f32>  //twice
        return %y:tensor<f32>                     return %y : tensor<f32>
    }                                           }

Names, aliases, numbers and the choice between short and generic forms are the writer's. A statement begins a line, and
what is in a region is indented by two; a comment in front of a statement stays there, and one behind it stays behind
it. Statements that are laid out over several lines by hand, or hold comments, keep that layout and move as a whole.
Empty lines stay, several become one.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from hlotool.diagnostics import HloError
from hlotool.ir import Source, deeper_calls, no_collection
from hlotool.mlir.operations import Operation, Region, SsaValue, walk, written_names
from hlotool.mlir.print_generic import generic_text
from hlotool.mlir.print_short import ShortPrinter, TakenNames
from hlotool.mlir.text_printer import Work
from hlotool.mlir.text_program import ProgramBuilder

_STRING = r'"(?:[^"\\\n]|\\.)*+"'
_COMMENT = r"//[^\n]*+"
#: the elements of a constant are one token: of millions none needs a place of its own
_ELEMENTS = rf"dense<(?:[^<>\"/]++|{_STRING}|{_COMMENT}|/)*+>"
_TOKEN = re.compile(rf"(?P<comment>{_COMMENT})|(?P<string>{_STRING})|(?P<elements>{_ELEMENTS})|(?P<arrow>->)"
                    r"|(?P<name>[%@#!^][\w$.\-]*+)|(?P<word>[\w$.?]++)|(?P<sign>\S)", re.ASCII)
_SPACES = re.compile(r"\s+")
_GENERIC = re.compile(r"[^\"=]*+=?\s*+\"")
#: nested calls for regions in regions, of which a text has at most so many that it can be read
_CALLS = 20_000
#: stands for what is inside of a region
_INSIDE = "\0"


class TextLost(Exception):
    """Why a text cannot be laid out without losing something."""


class _Token(NamedTuple):
    kind: str
    text: str
    start: int
    end: int


@dataclass(slots=True)
class _Statement:
    """A part of the text that begins a line: a statement up to its first region, from one to the next, a label."""

    start: int
    depth: int
    kind: str = "statement"
    #: as MLIR prints it; "" where it has no such text
    printed: str = ""
    #: from its first to its last one, comments between them included
    tokens: list[_Token] = field(default_factory=list)
    before: list[str] = field(default_factory=list)
    behind: list[str] = field(default_factory=list)

    @property
    def end(self) -> int:
        return self.tokens[-1].end if self.tokens else self.start


def laid_out(source: Source) -> str:
    """Return the text of a program in one layout; what it says, its comments included, stays the same.

    Raises HloError for syntax errors, TextLost where the text would say something else.

    >>> print(laid_out(Source('%0="a.b"():()->i32 // c')), end="")
    %0 = "a.b"() : () -> i32  // c
    """
    program, builder = _read(source)
    with deeper_calls(_CALLS):
        try:
            return _compared(source, program, _TextLayout(source.text, program, builder).text())
        except TextLost:  # lines in the body of an attribute that nobody takes apart may not move
            return _compared(source, program, _TextLayout(source.text, program, builder, moves=False).text())


def comments_of(text: str) -> list[str]:
    """Return the comments of a text of MLIR, in order.

    >>> comments_of('a // b \\n "// c"')
    ['// b']
    """
    return [found[0].rstrip() for found in re.finditer(f"{_STRING}|{_COMMENT}", text) if found[0][0] == "/"]


def _read(source: Source) -> tuple[Operation, ProgramBuilder]:
    builder = ProgramBuilder(source)
    with no_collection(), deeper_calls(_CALLS):
        program = builder.program()
    if builder.diagnostics:
        raise HloError(builder.diagnostics)
    return program, builder


def _compared(source: Source, program: Operation, text: str) -> str:
    """Return a text. Raises TextLost if it does not say what it was made of."""
    if text == source.text:
        return text
    if comments_of(text) != comments_of(source.text):
        raise TextLost("the comments would stand in another order")
    try:
        again = _read(Source(text, source.filename))[0]
    except HloError as error:
        raise TextLost(f"the text would have mistakes: {error.diagnostics[0].message}") from error
    if generic_text(again) != generic_text(program):
        raise TextLost("the text would read as another program")
    return text


class _StatementPrinter(ShortPrinter):
    """Prints operations one by one, with the names of their text, and a mark for what is inside of regions."""

    def __init__(self, program: Operation) -> None:
        super().__init__(False, None)
        for operation in walk(program):
            self.name(operation.results)
            for block in (block for region in operation.regions for block in region.blocks):
                self.name(block.arguments)
                self.blocks[block] = "^bb"

    def name(self, values: Sequence[SsaValue]) -> None:
        """Give values the names of the text; several of one name are numbered."""
        for value, name in zip(values, written_names(values), strict=True):
            self.names[value] = f"%{name}"

    def name_region(self, operation: Operation, region: Region, names: TakenNames) -> None:
        """Leave the names of the text."""

    def region(self, operation: Operation, region: Region, indent: str, names: TakenNames, labels: bool) -> Work:
        self.out.append(_INSIDE)
        return iter(())

    def pieces(self, operation: Operation, indent: str, dialect: str, *, is_generic: bool, locations: bool
               ) -> list[str]:
        """Return the text of an operation without its location, cut at its regions."""
        self.out, self.locations = [], locations
        if is_generic:
            self.out.append(self.bound(operation))
        for _ in (self.generic(operation, indent, TakenNames()) if is_generic
                  else self.statement(operation, indent, TakenNames(), dialect)):
            pass  # regions are marks
        return [piece.strip() for piece in "".join(self.out).split(_INSIDE)]


class _TextLayout:
    def __init__(self, source: str, program: Operation, builder: ProgramBuilder, *, moves: bool = True) -> None:
        self.source, self.program, self.builder, self.moves = source, program, builder, moves
        self.pieces = [_Statement(0, 0, "begin")]
        self.printer = _StatementPrinter(program)

    def text(self) -> str:
        """Return the whole text. Raises TextLost."""
        for operation in [self.program] if self.program.start >= 0 else self.program.regions[0].blocks[0].operations:
            self._statement(operation, 0, "builtin")
        end = _Statement(len(self.source), 0, "end")
        self.pieces.append(end)
        if any(a.start > b.start for a, b in itertools.pairwise(self.pieces)):
            raise TextLost("its statements stand in another order")
        self._give_tokens()
        self._give_comments()
        return "".join(f"{line}\n" for piece in self.pieces for line in self._lines(piece))

    def _statement(self, operation: Operation, depth: int, dialect: str) -> None:
        """Add the pieces of an operation and of all that it holds."""
        braces = [(region, *found) for region in operation.regions if (found := self.builder.braces.get(region))]
        start, begin = operation.start, braces[0][1] if braces else operation.start
        printed = self.printer.pieces(operation, "  " * depth, dialect, locations="loc(" in self.source[start:begin],
                                      is_generic=_GENERIC.match(self.source, start) is not None)
        if len(printed) != len(braces) + 1:
            printed = [""] * (len(braces) + 1)
        self.pieces.append(_Statement(start, depth, printed=printed[0]))
        inner = operation.dialect if operation.name in ("func.func", "builtin.module") else ""
        for (region, _, closed), text in zip(braces, printed[1:], strict=True):
            for block in region.blocks:
                if block in self.builder.label_starts:
                    self.pieces.append(_Statement(self.builder.label_starts[block], depth, "label"))
                for held in block.operations:
                    self._statement(held, depth + 1, inner)
            self.pieces.append(_Statement(closed, depth, "close", text))

    def _give_tokens(self) -> None:
        """Give each piece its tokens; definitions of aliases and resources begin pieces of their own."""
        waiting, found = iter(self.pieces[1:]), [self.pieces[0]]
        following = next(waiting)
        tokens = [_Token(str(m.lastgroup), m[0], *m.span()) for m in _TOKEN.finditer(self.source)]
        for token, after in zip(tokens, [*tokens[1:], None], strict=True):
            while token.start >= following.start:
                found.append(following)
                following = next(waiting)
            if found[-1].depth == 0 and found[-1].kind != "label" and after is not None and _defines(token, after):
                found.append(_Statement(token.start, 0, "resources" if token.text == "{" else "definition"))
            found[-1].tokens.append(token)
        self.pieces = [*found, following, *waiting]

    def _give_comments(self) -> None:
        """Give comments and empty lines between pieces to them."""
        for piece, following in itertools.pairwise(self.pieces):
            count = len(piece.tokens)
            while count and piece.tokens[count - 1].kind == "comment":
                count -= 1
            comments, piece.tokens = piece.tokens[count:], piece.tokens[:count]
            at = piece.end
            for comment in comments:
                feeds = self.source.count("\n", at, comment.start)
                if feeds or piece.kind == "begin":
                    following.before += [""] * (feeds > 1) + [comment.text.rstrip()]
                else:
                    piece.behind.append(comment.text.rstrip())
                at = comment.end
            following.before += [""] * (self.source.count("\n", at, following.start) > 1)
            if piece.kind == "begin" or (piece.tokens and piece.tokens[-1].text == "{"):
                following.before[:1] = [line for line in following.before[:1] if line]
            if following.kind in ("close", "end"):
                following.before[-1:] = [line for line in following.before[-1:] if line]

    # One piece

    def _lines(self, piece: _Statement) -> Iterator[str]:
        inside = "  " * (piece.depth + (piece.kind == "close"))
        for line in piece.before:
            yield inside + line if line else ""
        if piece.tokens:
            indent = "  " * piece.depth
            yield indent + "  ".join([self._spaced(piece, indent), *piece.behind])

    def _spaced(self, piece: _Statement, indent: str) -> str:
        """Return the text of a piece, as it is printed or as it is written."""
        written = self.source[piece.start:piece.end]
        if written == piece.printed:
            return written
        tokens, place = _without_location(piece.tokens)
        is_kept = piece.kind == "resources" or any(t.kind == "comment" for t in piece.tokens)
        if not is_kept:
            behind = "" if not place else f" {self._respaced(place, False)}"
            if (found := self._as_printed(tokens, piece.printed)) is not None and "\n" not in behind:
                return found + behind
            if "\n" not in written:
                return self._respaced(tokens, piece.kind == "label") + behind
        return self._moved(piece, written, len(indent))

    def _as_printed(self, tokens: list[_Token], printed: str) -> str | None:
        """Return tokens with the spaces between those that are printed; None where other tokens are printed, or a line
        is broken where MLIR breaks none."""
        meant = [_Token(str(m.lastgroup), m[0], *m.span()) for m in _TOKEN.finditer(printed)]
        if len(meant) != len(tokens) or not all(map(_is_alike, tokens, meant)):
            return None
        pieces = [_compact(tokens[0])] if tokens else []
        for (a, b), (c, d) in zip(itertools.pairwise(tokens), itertools.pairwise(meant), strict=True):
            gap = printed[c.end:d.start]
            if "\n" in self.source[a.end:b.start] and "\n" not in gap:
                return None
            pieces += [gap, _compact(b)]
        return "".join(pieces)

    def _respaced(self, tokens: list[_Token], is_label: bool) -> str:
        """Return tokens with the spaces that are written, single ones, and those that every printer writes.

        Between angle brackets spaces stay: they may belong to an attribute.
        """
        pieces = [_compact(tokens[0])]
        angles, squares, is_bound = 0, 0, tokens[0].text[0] not in "%#!"
        for a, b in itertools.pairwise(tokens):
            angles += (a.text == "<") - (a.text == ">")
            squares += (a.text == "[") - (a.text == "]")
            is_type = b.text[0].isalpha() or b.text[0] in "!("
            gap = self.source[a.end:b.start]
            if angles == 0:
                gap = gap[:1] and " "
                if b.text in (",", ")", "]") or a.text in ("(", "[") or (is_label and b.text == ":"):
                    gap = ""
                elif a.text == "," or "->" in (a.text, b.text) or (a.text == ":" and is_type and not squares) or (
                        not is_bound and "=" in (a.text, b.text)) or (b is tokens[-1] and b.text == "{"):
                    gap = " "
            is_bound = is_bound or a.text == "="
            pieces += [gap, _compact(b)]
        return "".join(pieces)

    def _moved(self, piece: _Statement, written: str, indent: int) -> str:
        """Return the lines of a piece as they are written, moved with the first one."""
        first, *rest = written.split("\n")
        line = self.source[self.source.rfind("\n", 0, piece.start) + 1:piece.start + 1].expandtabs()
        by = indent - (len(line) - len(line.lstrip())) if self.moves else 0
        return "\n".join([first.rstrip(), *(_shifted(line, by) for line in rest)])


def _defines(token: _Token, after: _Token) -> bool:
    """Return True for the first token of a definition: `#a =`, `!t =`, `{-#`."""
    if token.text == "{":
        return after.text == "-" and after.start == token.end
    return token.kind == "name" and token.text[0] in "#!" and after.text == "="


def _without_location(tokens: list[_Token]) -> tuple[list[_Token], list[_Token]]:
    """Return tokens, and those of the location at their end."""
    depth = 0
    for number in range(len(tokens) - 1, 0, -1):
        depth += (tokens[number].text == ")") - (tokens[number].text == "(")
        if depth <= 0:
            is_location = tokens[number].text == "(" and tokens[number - 1].text == "loc"
            return (tokens[:number - 1], tokens[number - 1:]) if is_location else (tokens, [])
    return tokens, []


def _is_alike(written: _Token, printed: _Token) -> bool:
    """Return True for tokens with the same spaces around them."""
    if written.kind != printed.kind:
        return False
    if written.kind == "name":
        return written.text[0] == printed.text[0]
    return written.kind in ("string", "elements", "word") or written.text == printed.text


def _compact(token: _Token) -> str:
    """Return a token; elements without line feeds have a space behind each comma, and no other."""
    text = token.text
    if token.kind != "elements" or any(sign in text for sign in '\n"/'):
        return text
    return _SPACES.sub("", text).replace(",", ", ")


def _shifted(line: str, by: int) -> str:
    """Return a line with its indentation changed."""
    bare = line.strip()
    indent = len(line := line.expandtabs()) - len(line.lstrip())
    return " " * max(0, indent + by) + bare if bare else ""
