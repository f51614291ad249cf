"""One array literal read token by token, as XLA does, to say where it goes wrong."""

from __future__ import annotations

import math
import re
from typing import NoReturn

from hlotool.grammars import pattern, terminal
from hlotool.ir import Literal, Shape, deferred
from hlotool.text.literal_elements import INTEGER, AtElement, array_of, check_floats, check_values
from hlotool.text.phrase_errors import (
    BAD_LITERAL,
    BAD_NUMBER,
    RAGGED_LITERAL,
    PhraseError,
)
from hlotool.text.shapes_text import read_shape

#: elements of a literal that is written by index, all of which its dense form spells out
_MOST_SPARSE = 2**24
#: elements of an array whose text is one number, which is the first of them, the others zero
_MOST_OF_ONE = 2**28
SHAPE = deferred(lambda: rf"\s*+(?:{terminal('literal', 'SHAPE')}|{terminal('literal', 'TUPLE_SHAPE')})", re.ASCII)
_BLANK = deferred(lambda: r"\s*+", re.ASCII)


def skipped(text: str, at: int) -> int:
    """Return the end of the white space."""
    found = _BLANK.match(text, at)
    return found.end() if found else at


def after_shape(text: str, shape: Shape) -> int:
    """Return the start of the value: after a repeated shape (2017 to 2019), which must agree with `shape`."""
    match = SHAPE.match(text)
    if match is None:
        return skipped(text, 0)
    end = match.end()
    repeated = read_shape(text[:end].strip())
    if not repeated.compatible(shape):
        raise PhraseError(BAD_LITERAL, f"the literal repeats the shape {repeated}, the constant is {shape}",
                          skipped(text, 0), end)
    return skipped(text, end)


_BRACKET = deferred(lambda: r"[{}()]")


def balanced_end(text: str, at: int) -> int:
    """Return the offset after the bracket that closes the one at `at`."""
    depth = 0
    for match in _BRACKET.finditer(text, at):
        depth += 1 if match[0] in "{(" else -1
        if depth == 0:
            return match.end()
    raise PhraseError(BAD_LITERAL, f"'{text[at]}' is never closed", at)


class TokenReader:
    """Reads one array literal token by token, as XLA does, and says where it goes wrong."""

    def __init__(self, shape: Shape, text: str) -> None:
        self.shape = shape
        self.dtype = shape.dtype
        self.text = text
        self.tokens: list[str] = []
        self.places: list[tuple[int, int]] = []
        self.seen = [0] * len(shape.dims)
        self.depth = 0
        self.sparse: dict[tuple[int, ...], int] = {}

    def read(self) -> Literal:
        """Return the literal; PhraseError at the first mistake."""
        start = after_shape(self.text, self.shape)
        head = self.text[start:start + 1]
        if head == "{":
            elided = self._nested(start)
        elif head == "(" and not self.dtype.is_complex:
            raise PhraseError(BAD_LITERAL, f"parentheses are for complex numbers and tuples, not for {self.dtype}",
                              start)
        else:
            return self._scalar(start)
        self._check()
        if elided:
            return Literal.elided(self.shape)
        if self.sparse or (not self.tokens and self.shape.size):
            return self._from_sparse()
        written, dense = on_one_line(self.text[start:]), self._dense_text(self.tokens)
        # Printers differ in their blanks inside of the inner braces.
        is_printed = written.startswith("{ {") and written.replace(" ", "") == dense.replace(" ", "")
        return Literal(self.shape, text=written if is_printed else dense, reader=array_of)

    def _check(self) -> None:
        try:
            tokens = self.tokens
            if self.dtype.is_complex:
                tokens = [part for token in tokens for part in token[1:-1].split(",")]
                check_floats(self.dtype, tokens)
            else:
                check_values(self.dtype, tokens)
        except AtElement as error:
            number = error.number // 2 if self.dtype.is_complex else error.number
            place = self.places[number] if number < len(self.places) else (0, len(self.text))
            raise PhraseError(error.code, error.message, *place, help=error.help) from None

    def _scalar(self, start: int) -> Literal:
        at = self._element(start)
        if self.text[at:].strip():
            self._unexpected(skipped(self.text, at))
        self._check()
        shape, token = self.shape, self.tokens[0]
        if not shape.dims:
            return Literal(shape, text=token, reader=array_of)
        if shape.size > _MOST_OF_ONE and array_of(Shape.array(self.dtype.name, ()), token).tobytes().strip(b"\0"):
            raise PhraseError(BAD_LITERAL, f"{shape.size} elements are too many to be made of one number", start, at)
        # One number for a whole array is kept as it is written, so that every reader makes of it what it does.
        return Literal(shape, text=token, reader=array_of)

    def _element(self, at: int) -> int:
        """Take one number, word or complex pair that starts at `at`; returns its end."""
        if self.text[at:at + 1] == "(":
            match = pattern("literal", "complex").match(self.text, at)
            if match is None:
                raise PhraseError(BAD_NUMBER, "expected a complex number like (1, -2.5)", at,
                                  balanced_end(self.text, at))
            self.tokens.append(f"({match[1]}, {match[2]})")
        else:
            match = pattern("literal", "scalar").match(self.text, at)
            if match is None:
                self._unexpected(at)
            if self.dtype.is_complex:
                raise PhraseError(BAD_LITERAL, f"{self.dtype} needs pairs like (1, 2), not {match[1]}", *match.span(1))
            self.tokens.append(match[1])
        end = at + len(match[0].rstrip())
        self.places.append((at, end))
        return end

    def _unexpected(self, at: int) -> NoReturn:
        at = skipped(self.text, at)
        match = re.compile(r"[^\s{},()]+|.|$", re.S).match(self.text, at)
        word = match[0] if match else ""
        if not word:
            raise PhraseError(BAD_LITERAL, f"the {self.shape} literal ends too early", at)
        if word.lower().startswith(("0x", "-0x")):
            raise PhraseError(BAD_NUMBER, f"{word}: hexadecimal numbers are not HLO text", at, at + len(word))
        if word[:1] in "+.":
            raise PhraseError(BAD_NUMBER, f"{word}: a number starts with a digit or '-'", at, at + len(word))
        raise PhraseError(BAD_LITERAL, f"unexpected '{word}' in a {self.shape} literal", at, at + len(word))

    def _nested(self, at: int) -> bool:
        """Read from '{' to its '}'; says whether the values are elided."""
        elided, text, piece = False, self.text, pattern("literal", "piece").match
        while True:
            at = skipped(text, at)
            sign = text[at:at + 1]
            if sign == "{":
                self._open(at)
            elif sign == "}":
                self._close(at)
                if self.depth == 0:
                    at += 1
                    break
            elif sign != ",":
                match = piece(text, at)
                if match is None:
                    self._unexpected(at)
                entry, pair, scalar, _, dots = match.groups()
                elided |= dots is not None
                if dots and self.depth != 1:
                    raise PhraseError(BAD_LITERAL, "'...' stands for a whole literal, directly inside the first brace, "
                                      f"not at depth {self.depth}", at, match.end())
                if dots:
                    self.seen[0] = self.shape.dims[0]  # XLA: ParseDenseLiteral, whose dots stand for every row
                if entry:
                    at = self._sparse_entry(at)
                elif pair or scalar:
                    at = self._counted(at, at + len((pair or scalar).rstrip()))
                else:
                    at = match.end()
                continue
            at += 1
        if self.text[at:].strip():
            raise PhraseError(BAD_LITERAL, "text follows the literal", skipped(self.text, at), len(self.text))
        return elided

    def _counted(self, start: int, end: int) -> int:
        if self.text[start] == "(" and not self.dtype.is_complex:
            raise PhraseError(BAD_LITERAL, f"parentheses are for complex numbers, not for {self.dtype}", start)
        self._count(start, end)
        return self._element(start)

    def _row(self, depth: int) -> str:
        index = ", ".join(str(n - 1) for n in self.seen[:depth])
        return f"row [{index}]" if depth else "the literal"

    def _open(self, at: int) -> None:
        dims = self.shape.dims
        self.depth += 1
        if self.depth > len(dims):
            raise PhraseError(RAGGED_LITERAL, f"{self.shape} has {len(dims)} dimensions, the literal nests deeper", at)
        if self.depth > 1:
            self.seen[self.depth - 2] += 1
            if self.seen[self.depth - 2] > dims[self.depth - 2]:
                raise PhraseError(RAGGED_LITERAL, f"{self._row(self.depth - 2)} has more than the "
                                  f"{dims[self.depth - 2]} rows that {self.shape} wants", at)

    def _close(self, at: int) -> None:
        dims = self.shape.dims
        self.depth -= 1
        depth = self.depth
        if not self.sparse and self.seen[depth] != dims[depth]:
            what = "elements" if depth == len(dims) - 1 else "rows"
            raise PhraseError(RAGGED_LITERAL, f"{self._row(depth)} has {self.seen[depth]} {what}, {self.shape} wants "
                              f"{dims[depth]}", at,
                              help=f"add {dims[depth] - self.seen[depth]} more, or write another shape")
        self.seen[depth] = 0

    def _count(self, start: int, end: int) -> None:
        dims = self.shape.dims
        if self.depth != len(dims):
            raise PhraseError(RAGGED_LITERAL, f"a number at depth {self.depth}: {self.shape} nests {len(dims)} deep",
                              start, end)
        self.seen[-1] += 1
        if self.seen[-1] > dims[-1]:
            raise PhraseError(RAGGED_LITERAL, f"{self._row(self.depth - 1)} has more than the {dims[-1]} elements that "
                              f"{self.shape} wants", start, end)

    # Sparse literals, 2018 to 2020: {[0, 1]: 5, [1, 2]: 6}, of rank 1 {1: 2, 3: 4}

    def _sparse_entry(self, start: int) -> int:
        match = pattern("literal", "entry").match(self.text, start)
        if match is None or self.depth != 1:
            self._unexpected(start)
        index = tuple(map(int, INTEGER.findall(match[1])))
        inside = len(index) == self.shape.rank and all(0 <= i < d for i, d in zip(index, self.shape.dims, strict=True))
        if not inside:
            raise PhraseError(BAD_LITERAL, f"the index {list(index)} is outside {self.shape}", start,
                              match.end(1))
        self.sparse[index] = len(self.tokens)
        return self._element(match.start(2 if match[2] else 3))

    def _from_sparse(self) -> Literal:
        if self.shape.size > _MOST_SPARSE:
            raise PhraseError(BAD_LITERAL, f"{self.shape.size} elements are too many for a sparse literal", 0,
                              len(self.text))
        zero = "(0, 0)" if self.dtype.is_complex else "false" if self.dtype.family == "pred" else "0"
        tokens = [zero] * self.shape.size
        for index, number in self.sparse.items():
            flat = 0
            for i, size in zip(index, self.shape.dims, strict=True):
                flat = flat * size + i
            tokens[flat] = self.tokens[number]
        return Literal(self.shape, text=self._dense_text(tokens), reader=array_of)

    def _dense_text(self, tokens: list[str]) -> str:
        return nested_text(self.shape.dims, tokens)


def on_one_line(text: str) -> str:
    """Return a literal with the blanks that XLA's printer writes: two in a row without elements, or else one."""
    return " ".join(text.split()).replace("{ }", "{  }")


def nested_text(dims: tuple[int, ...], tokens: list[str]) -> str:
    """Elements in row-major order as a literal of these dimensions, rows separated as XLA does on one line."""
    if not dims:
        return tokens[0]
    rows = tokens
    for depth in range(len(dims) - 1, -1, -1):
        count = math.prod(dims[:depth])
        width = dims[depth]
        left, right = ("{", "}") if depth == len(dims) - 1 else ("{ ", " }")
        rows = [left + ", ".join(rows[i * width:(i + 1) * width]) + right for i in range(count)]
    return rows[0] if rows else "{}"
