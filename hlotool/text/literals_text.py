"""Literals from text: what stands inside constant(...).

Well-formed literals are checked in bulk: their braces and commas must be exactly those of the shape, and what is
left must be numbers. Everything else (legacy forms, loose commas, mistakes) goes token by token.
"""

from __future__ import annotations

import functools
import re

from hlotool.grammars import plain
from hlotool.ir import Literal, Shape, deferred
from hlotool.text.literal_elements import BRACES_TO_BLANKS, AtElement, array_of, check_values
from hlotool.text.literal_tokens import SHAPE, TokenReader, after_shape, balanced_end, on_one_line, skipped
from hlotool.text.phrase_errors import (
    BAD_LITERAL,
    PhraseError,
    too_long,
)
from hlotool.text.phrase_reading import blank_comments

#: far more than any compiler takes (NumPy: 64)
_MOST_DIMENSIONS = 1000


@functools.cache
def _scalar() -> re.Pattern[str]:
    """One number or word, with the white space around it."""
    return re.compile(rf"\s*+{plain('literal', 'scalar')}", re.ASCII)


def read_literal(shape: Shape, text: str) -> Literal:
    """Return the literal of a shape that a text says; PhraseError where the text is wrong for the shape."""
    if shape.is_array and len(shape.dims) > _MOST_DIMENSIONS:
        raise PhraseError(BAD_LITERAL, f"a literal has at most {_MOST_DIMENSIONS} dimensions, not {len(shape.dims)}", 0,
                          len(text))
    try:
        return _read(shape, blank_comments(text), 0, text)
    except ValueError as error:
        raise too_long(error, text) from None


def _read(shape: Shape, text: str, offset: int, whole: str) -> Literal:
    """Return the literal in `text`, which stands at `offset` of `whole`."""
    try:
        if shape.is_array:
            return _read_array(shape, text)
        if shape.is_tuple:
            return _read_tuple(shape, text)
    except PhraseError as error:
        error.start += offset
        error.end += offset
        raise
    raise PhraseError(BAD_LITERAL, f"a {shape} has no literal", offset, offset + len(text))


# Tuples

def _read_tuple(shape: Shape, text: str) -> Literal:
    at = after_shape(text, shape)
    if text[at:at + 1] != "(":
        raise PhraseError(BAD_LITERAL, f"expected '(' in front of the {len(shape.elements)} elements of a tuple", at)
    at += 1
    elements: list[Literal] = []
    for number, element in enumerate(shape.elements):
        if number:
            at = _expect(text, at, ",", f"expected ',' after element {number} of {len(shape.elements)}")
        start = skipped(text, at)
        at = _segment_end(text, start)
        elements.append(_read(element, text[start:at], start, text))
    end = _expect(text, at, ")", f"expected ')' after the {len(shape.elements)} elements of the tuple")
    if text[end:].strip():
        raise PhraseError(BAD_LITERAL, "text follows the literal", skipped(text, end), len(text))
    joined = ", ".join(e.text or "" for e in elements)
    return Literal(shape, elements=tuple(elements), text=f"({joined})")


def _expect(text: str, at: int, sign: str, message: str) -> int:
    at = skipped(text, at)
    if text[at:at + 1] != sign:
        raise PhraseError(BAD_LITERAL, message, at)
    return at + 1


_SCALAR_END = deferred(lambda: r"[^,(){}]*(?:\([^()]*\))?")


def _segment_end(text: str, at: int) -> int:
    """Return the end of the literal that starts at `at` inside a tuple."""
    repeated = SHAPE.match(text, at)
    if repeated is not None:
        return _segment_end(text, skipped(text, repeated.end()))
    if text[at:at + 1] in ("{", "("):
        return balanced_end(text, at)
    match = _SCALAR_END.match(text, at)
    return match.end() if match else at


# Arrays

def _read_array(shape: Shape, text: str) -> Literal:
    try:
        return _read_quickly(shape, text) or TokenReader(shape, text).read()
    except AtElement:
        return TokenReader(shape, text).read()  # finds the same mistake, and where it stands


def _read_quickly(shape: Shape, text: str) -> Literal | None:
    """Scalars and well-formed arrays; None where a closer look is needed."""
    dtype = shape.dtype
    if not shape.dims:
        token = text.strip()
        if _scalar().fullmatch(token) is None or dtype.is_complex:
            return None
        check_values(dtype, [token])
        return Literal(shape, text=token, reader=array_of)
    if dtype.is_complex:
        return None
    # Rows without a blank in front are no printer's, and get printers' blanks when they are read the long way.
    pieces = _bulk_pieces(shape, text) if shape.rank == 1 or text.lstrip().startswith("{ {") else None
    if pieces is None:
        return None
    check_values(dtype, pieces)
    return Literal(shape, text=on_one_line(text), reader=array_of)


def _visible(dims: tuple[int, ...]) -> tuple[int, ...]:
    """Return the dimensions up to the first that is empty: no text shows those inside of it."""
    return dims[:dims.index(0) + 1] if 0 in dims else dims


def _skeleton_size(dims: tuple[int, ...]) -> int:
    """Return the length of the skeleton."""
    dims = _visible(dims)
    size = dims[-1] + 1 if dims[-1] else 2
    for extent in reversed(dims[:-1]):
        size = extent * (size + 1) + 1 if extent else 2
    return size


@functools.lru_cache(256)
def _skeleton(dims: tuple[int, ...]) -> str:
    """Return the braces and commas of a literal of these dimensions."""
    dims = _visible(dims)
    row = "{" + "," * (dims[-1] - 1) + "}"
    for size in reversed(dims[:-1]):
        row = "{" + ",".join([row] * size) + "}"
    return row


def _bulk_pieces(shape: Shape, text: str) -> list[str] | None:
    """Return the numbers of a well-formed array literal, blanks around them; None where a closer look is needed."""
    if not text.isascii():  # Python takes other alphabets' digits and blanks for such
        return None
    if shape.size and text.count(",") != shape.size - 1:
        return None
    structure = "".join(_scalar().sub("", text).split())
    # Of sizes that do not fit the text, the skeleton may be larger than the memory.
    if len(structure) != _skeleton_size(shape.dims) or structure != _skeleton(shape.dims):
        return None
    blanked = text.translate(BRACES_TO_BLANKS)
    return blanked.split(",") if shape.size else ([] if not blanked.replace(",", "").strip() else None)
