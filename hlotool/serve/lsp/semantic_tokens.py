"""Colours by meaning: each word of a range as a token of the protocol, in its relative encoding.

Words of HLO are told apart by the Pygments lexer, those of MLIR in `mlir_tokens.py`; what a name stands for (a
parameter, an instruction, a computation) by the module that was read, where it was.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lsprotocol import types as lsp
from pygments.lexers import get_lexer_by_name
from pygments.token import Comment, Keyword, Literal, Name, Number, Operator, String, _TokenType

from hlotool.ir import HloComputation
from hlotool.serve.lsp.document import Document
from hlotool.serve.lsp.features import Places
from hlotool.serve.lsp.mlir_tokens import coloured_words
from hlotool.serve.lsp.names import Occurrence

_TYPES = lsp.SemanticTokenTypes
#: the protocol's type of each kind of token; kinds below are of the nearest one above
_OF_KIND = {Comment: _TYPES.Comment, Keyword: _TYPES.Keyword, Keyword.Type: _TYPES.Type, Literal: _TYPES.EnumMember,
            Name.Attribute: _TYPES.Property, Name.Class: _TYPES.Function, Name.Function: _TYPES.Method,
            Name.Variable: _TYPES.Variable, Number: _TYPES.Number, Operator: _TYPES.Operator, String: _TYPES.String}
_LEGEND = tuple(dict.fromkeys([*_OF_KIND.values(), _TYPES.Parameter]))
_INDEX = {kind: number for number, kind in enumerate(_LEGEND)}
_DECLARED = 1
#: what an editor is told of at the start
LEGEND = lsp.SemanticTokensLegend([t.value for t in _LEGEND], [lsp.SemanticTokenModifiers.Declaration.value])
#: characters of a text that is coloured as a whole; of a longer one editors ask for what they show
MOST_CHARACTERS = 400_000
#: lines above a range in which the start of a comment is looked for
_LOOKED_BACK = 200
_LEXER = get_lexer_by_name("hlo", stripnl=False, ensurenl=False)


def semantic_tokens(document: Document, places: Places, chosen: lsp.Range | None = None) -> lsp.SemanticTokens | None:
    """The tokens of a range, or of the whole text; None for a whole text that is too long to be coloured at once."""
    if chosen is None and len(document.text) > MOST_CHARACTERS:
        return None
    first = min(max(0, chosen.start.line), len(places.lines)) if chosen else 0
    behind = min(len(places.lines), chosen.end.line + 1) if chosen else len(places.lines)
    data: list[int] = []
    line, column = 0, 0
    for row, start, length, kind, declared in _tokens(document, places, first, behind):
        data += [row - line, start - (column if row == line else 0), length, kind, declared]
        line, column = row, start
    return lsp.SemanticTokens(data)


def _tokens(document: Document, places: Places, first: int, behind: int) -> Iterator[tuple[int, int, int, int, int]]:
    """Line, column, length (both in the client's units), type and modifiers of each token of some lines."""
    width = places.codec.client_num_units
    if document.mlir is not None:
        measured, behind_last, start, length = -1, 0, 0, 0
        for row, at, text, colour, declared in coloured_words(document.mlir, places.lines, first, behind):
            if row != measured:
                measured, behind_last, start, length = row, 0, 0, 0
            start, length = start + length + width(places.lines[row][behind_last:at]), width(text)
            behind_last = at + len(text)
            yield row, start, length, _INDEX[colour], _DECLARED * declared
        return
    for row, line, pieces in _lines(places.lines, first, behind):
        is_plain = line.isascii()
        behind_last, start, length = 0, 0, 0
        for at, text, kind in pieces:
            # In a line of any length each character is measured once.
            start, length = (at, len(text)) if is_plain else (start + length + width(line[behind_last:at]), width(text))
            behind_last = at + len(text)
            named = _named(document, row, at, text) if _is_in(kind, Name) else None
            if named is not None:
                yield row, start, length, _INDEX[_type_of(named)], _DECLARED * named.is_definition
            elif (meant := _nearest(kind)) is not None:
                yield row, start, length, _INDEX[meant], 0


def _lines(lines: Sequence[str], first: int, behind: int
           ) -> Iterator[tuple[int, str, list[tuple[int, str, _TokenType]]]]:
    """Each line with its words: column, text and kind. A comment that begins above is one from its first line on."""
    row, column = _start_of_comment(lines, first), 0
    found: list[tuple[int, str, _TokenType]] = []
    for kind, text in _LEXER.get_tokens("".join(line.rstrip("\r\n") + "\n" for line in lines[row:behind])):
        for number, piece in enumerate(text.split("\n")):
            if number:
                if row >= first:
                    yield row, lines[row], found
                row, column, found = row + 1, 0, []
            if found and _is_in(kind, Comment) and found[-1][2] is kind and _end(found[-1]) == column:
                found[-1] = (found[-1][0], found[-1][1] + piece, kind)
            elif piece.strip():
                found.append((column, piece, kind))
            column += len(piece)


def _end(word: tuple[int, str, _TokenType]) -> int:
    """Return the column behind a word."""
    return word[0] + len(word[1])


def _start_of_comment(lines: Sequence[str], first: int) -> int:
    """Return the line where the comment begins that a line stands in; the line itself where it stands in none."""
    for row in range(first - 1, max(-1, first - 1 - _LOOKED_BACK), -1):
        opened, closed = lines[row].rfind("/*"), lines[row].rfind("*/")
        if opened > closed:
            return row
        if closed >= 0:
            return first
    return first


def _is_in(kind: _TokenType, group: _TokenType) -> bool:
    return tuple(kind[:len(group)]) == tuple(group)


def _named(document: Document, row: int, column: int, text: str) -> Occurrence | None:
    """Return the occurrence of a name at a place, where the text was read."""
    found = document.name_at(row + 1, column + 1 + text.startswith("%"))
    return found[1] if found else None


def _type_of(named: Occurrence) -> lsp.SemanticTokenTypes:
    if isinstance(named.item, HloComputation):
        return _TYPES.Function
    return _TYPES.Parameter if named.item.opcode == "parameter" else _TYPES.Variable


def _nearest(kind: _TokenType) -> lsp.SemanticTokenTypes | None:
    """Return the protocol's type of a kind, or of the nearest kind above that has one."""
    at: _TokenType | None = kind
    while at is not None:
        if at in _OF_KIND:
            return _OF_KIND[at]
        at = at.parent
    return None
