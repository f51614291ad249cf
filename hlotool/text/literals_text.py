"""Literals from text: what stands inside constant(...).

Well-formed literals are checked in bulk: their braces and commas must be exactly those of the shape, and what is
left must be numbers. Everything else (legacy forms, loose commas, mistakes) goes token by token.
"""

from __future__ import annotations

import functools
import math
import re
from typing import Any, NoReturn

from hlotool.grammars import pattern, plain, terminal
from hlotool.ir import DTYPES, DType, Literal, Shape
from hlotool.text.phrase_errors import (
    BAD_LITERAL,
    BAD_NAN,
    BAD_NUMBER,
    OUT_OF_RANGE,
    RAGGED_LITERAL,
    PhraseError,
    too_long,
)
from hlotool.text.phrase_reading import blank_comments
from hlotool.text.shapes_text import read_shape

_ELIDED = "{...}"
#: far more than any compiler takes (NumPy: 64)
_MOST_DIMENSIONS = 1000
#: elements of a literal that is written by index, all of which its dense form spells out
_MOST_SPARSE = 2**24

_BRACES_TO_BLANKS = str.maketrans("{}", "  ")
_NUMBER = terminal("literal", "NUMBER")
_INTEGER = re.compile(terminal("literal", "INT"))
_SHAPE = re.compile(rf"\s*+(?:{terminal('literal', 'SHAPE')}|{terminal('literal', 'TUPLE_SHAPE')})")
_BLANK = re.compile(r"\s*+")


@functools.cache
def _scalar() -> re.Pattern[str]:
    """One number or word, with the white space around it."""
    return re.compile(rf"\s*+{plain('literal', 'scalar')}")


def read_literal(shape: Shape, text: str) -> Literal:
    """The literal of a shape that a text says; PhraseError where the text is wrong for the shape."""
    if shape.is_array and len(shape.dims) > _MOST_DIMENSIONS:
        raise PhraseError(BAD_LITERAL, f"a literal has at most {_MOST_DIMENSIONS} dimensions, not {len(shape.dims)}", 0,
                          len(text))
    try:
        return _read(shape, blank_comments(text), 0, text)
    except ValueError as error:
        raise too_long(error, text) from None


def _read(shape: Shape, text: str, offset: int, whole: str) -> Literal:
    """The literal in `text`, which stands at `offset` of `whole`."""
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
    at = _after_shape(text, shape)
    if text[at:at + 1] != "(":
        raise PhraseError(BAD_LITERAL, f"expected '(' in front of the {len(shape.elements)} elements of a tuple", at)
    at += 1
    elements: list[Literal] = []
    for number, element in enumerate(shape.elements):
        if number:
            at = _expect(text, at, ",", f"expected ',' after element {number} of {len(shape.elements)}")
        start = _skip(text, at)
        at = _segment_end(text, start)
        elements.append(_read(element, text[start:at], start, text))
    end = _expect(text, at, ")", f"expected ')' after the {len(shape.elements)} elements of the tuple")
    if text[end:].strip():
        raise PhraseError(BAD_LITERAL, "text follows the literal", _skip(text, end), len(text))
    joined = ", ".join(e.text or "" for e in elements)
    return Literal(shape, elements=tuple(elements), text=f"({joined})")


def _skip(text: str, at: int) -> int:
    found = _BLANK.match(text, at)
    return found.end() if found else at


def _expect(text: str, at: int, sign: str, message: str) -> int:
    at = _skip(text, at)
    if text[at:at + 1] != sign:
        raise PhraseError(BAD_LITERAL, message, at)
    return at + 1


def _after_shape(text: str, shape: Shape) -> int:
    """Where the value starts: behind a repeated shape (2017 to 2019), which must agree with `shape`."""
    match = _SHAPE.match(text)
    if match is None:
        return _skip(text, 0)
    end = match.end()
    repeated = read_shape(text[:end].strip())
    if not repeated.compatible(shape):
        raise PhraseError(BAD_LITERAL, f"the literal repeats the shape {repeated}, the constant is {shape}",
                          _skip(text, 0), end)
    return _skip(text, end)


_BRACKET = re.compile(r"[{}()]")


def _balanced_end(text: str, at: int) -> int:
    depth = 0
    for match in _BRACKET.finditer(text, at):
        depth += 1 if match[0] in "{(" else -1
        if depth == 0:
            return match.end()
    raise PhraseError(BAD_LITERAL, f"'{text[at]}' is never closed", at)


_SCALAR_END = re.compile(r"[^,(){}]*(?:\([^()]*\))?")


def _segment_end(text: str, at: int) -> int:
    """Where the literal that starts at `at` ends inside a tuple."""
    repeated = _SHAPE.match(text, at)
    if repeated is not None:
        return _segment_end(text, _skip(text, repeated.end()))
    if text[at:at + 1] in ("{", "("):
        return _balanced_end(text, at)
    match = _SCALAR_END.match(text, at)
    return match.end() if match else at


# Arrays

def _read_array(shape: Shape, text: str) -> Literal:
    try:
        return _read_quickly(shape, text) or _TokenReader(shape, text).read()
    except _AtElement:
        return _TokenReader(shape, text).read()  # finds the same mistake, and where it stands


def _read_quickly(shape: Shape, text: str) -> Literal | None:
    """Scalars and well-formed arrays; None where a closer look is needed."""
    dtype = shape.dtype
    if not shape.dims:
        token = text.strip()
        if _scalar().fullmatch(token) is None or dtype.is_complex:
            return None
        _check_values(dtype, [token])
        return Literal(shape, text=token, reader=array_of)
    if dtype.is_complex:
        return None
    pieces = _bulk_pieces(shape, text)
    if pieces is None:
        return None
    _check_values(dtype, pieces)
    return Literal(shape, text=" ".join(text.split()), reader=array_of)


def _visible(dims: tuple[int, ...]) -> tuple[int, ...]:
    """The dimensions up to the first that is empty: no text shows those inside of it."""
    return dims[:dims.index(0) + 1] if 0 in dims else dims


def _skeleton_size(dims: tuple[int, ...]) -> int:
    """The length of the skeleton."""
    dims = _visible(dims)
    size = dims[-1] + 1 if dims[-1] else 2
    for extent in reversed(dims[:-1]):
        size = extent * (size + 1) + 1 if extent else 2
    return size


@functools.lru_cache(256)
def _skeleton(dims: tuple[int, ...]) -> str:
    """The braces and commas of a literal of these dimensions."""
    dims = _visible(dims)
    row = "{" + "," * (dims[-1] - 1) + "}"
    for size in reversed(dims[:-1]):
        row = "{" + ",".join([row] * size) + "}"
    return row


def _bulk_pieces(shape: Shape, text: str) -> list[str] | None:
    """The numbers of a well-formed array literal, blanks around them; None where a closer look is needed."""
    if text.count(",") != text.count("{") - 1 + shape.size - max(math.prod(shape.dims[:-1]), 0) \
            and shape.size:
        return None
    structure = "".join(_scalar().sub("", text).split())
    # Of sizes that do not fit the text, the skeleton may be larger than the memory.
    if len(structure) != _skeleton_size(shape.dims) or structure != _skeleton(shape.dims):
        return None
    blanked = text.translate(_BRACES_TO_BLANKS)
    return blanked.split(",") if shape.size else ([] if not blanked.replace(",", "").strip() else None)


def _ranges(dtype: DType) -> tuple[int, int]:
    if dtype.family == "unsigned":
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


def _check_values(dtype: DType, pieces: list[str]) -> None:
    """Raise where a number has the wrong form or does not fit; positions are found by `_blame`."""
    if dtype.family == "pred":
        if any(p.strip() not in ("0", "1", "true", "false") for p in pieces):
            for number, piece in enumerate(pieces):
                _pred_of(piece.strip(), number)
        return
    if dtype.is_integral:
        _check_integers(dtype, pieces)
        return
    _check_floats(dtype, pieces)


def _pred_of(token: str, number: int) -> bool:
    if token in ("true", "false"):
        return token == "true"
    if _INTEGER.fullmatch(token):
        return int(token) != 0
    _blame(number, BAD_LITERAL, f"a pred is true or false, 1 or 0, not {token}")


class _AtElement(PhraseError):
    """A complaint about one element by its number; the token reader turns the number into a place."""

    def __init__(self, number: int, code: str, message: str) -> None:
        super().__init__(code, message)
        self.number = number


def _blame(number: int, code: str, message: str) -> NoReturn:
    raise _AtElement(number, code, message)


def _check_integers(dtype: DType, pieces: list[str]) -> None:
    try:
        values = list(map(int, pieces))
    except ValueError:
        for number, piece in enumerate(pieces):
            if not _INTEGER.fullmatch(piece.strip()):
                _blame(number, BAD_LITERAL, f"{dtype} needs whole numbers, not {piece.strip()}")
        raise
    low, high = _ranges(dtype)
    if dtype.name == "u64":
        low = -(2**63)  # XLA reads through int64, and old printers wrote u64 so
    if values and (min(values) < low or max(values) > high):
        number = next(n for n, v in enumerate(values) if not low <= v <= high)
        wider = next((t.name for t in sorted(DTYPES.values(), key=lambda t: t.bits) if t.family == dtype.family
                      and _ranges(t)[0] <= values[number] <= _ranges(t)[1]), "")
        _blame(number, OUT_OF_RANGE, f"{values[number]} does not fit {dtype}, which holds {_ranges(dtype)[0]} to "
               f"{high}{wider and f'; {wider} holds it'}")


def _check_floats(dtype: DType, pieces: list[str]) -> None:
    try:
        values = list(map(float, pieces))
    except ValueError:
        values = [_float_of(dtype, p.strip(), n) for n, p in enumerate(pieces)]
    highest, lowest, ties = _float_limits(dtype.name)
    top, bottom = max(values, default=0.0), min(values, default=0.0)
    if lowest < bottom and top < highest:  # false where a nan stands
        return
    for number, value in enumerate(values):
        if math.isnan(value) or (math.isinf(value) and "inf" in pieces[number]):
            continue
        if value > highest or value < lowest or (not ties and value in (highest, lowest)):
            low, high = float(dtype.component.least), float(dtype.component.largest)
            _blame(number, OUT_OF_RANGE, f"{pieces[number].strip()} does not fit {dtype}, whose finite values are "
                   f"{low:.8g} to {high:.8g}")


def _payload_of(token: str) -> int | None:
    """The payload of a NaN, written nan(0x7); None where a token gives none."""
    digits = token.partition("(0x")[2]
    return int(digits[:-1], 16) if digits else None


def _float_of(dtype: DType, token: str, number: int) -> float:
    payload = _payload_of(token)
    if payload is not None:
        _check_payload(dtype, payload, number)
        return math.nan
    try:
        return float(token)
    except ValueError:
        if token in ("true", "false"):
            _blame(number, BAD_LITERAL, f"{dtype} needs numbers, not {token}")
        _blame(number, BAD_NUMBER, f"{token or 'nothing'} is not a number")


def _check_payload(dtype: DType, payload: int, number: int) -> None:
    bits = dtype.nan_payload_bits
    if payload == 0:
        _blame(number, BAD_NAN, "the payload of a NaN cannot be 0: that would be an infinity")
    if payload == 1 << 51:  # the default of f64 stands for the default of every type
        return
    if bits == 0:
        _blame(number, BAD_NAN, f"NaNs of {dtype} have no payload")
    if payload >= 1 << bits:
        _blame(number, BAD_NAN, f"the payload {payload:#x} does not fit the {bits} mantissa bits of {dtype}")


@functools.cache
def _float_limits(name: str) -> tuple[float, float, bool]:
    """What a number may not pass, and whether it may reach it: XLA rounds before it compares."""
    kind = DTYPES[name].component
    # f64 overflows into an infinity; types without one or a NaN saturate.
    if kind.name == "f64" or kind.specials == "none":
        return math.inf, -math.inf, kind.specials == "none"
    # Halfway goes to the even neighbour.
    limit = float(kind.largest + kind.largest_ulp / 2)
    return limit, (0.0 if kind.specials == "no sign" else -limit), kind.specials == "one"


class _TokenReader:
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
        """The literal; PhraseError at the first mistake."""
        start = _after_shape(self.text, self.shape)
        head = self.text[start:start + 1]
        if head == "{":
            elided = self._nested(start)
        elif head == "(" and not self.dtype.is_complex:
            raise PhraseError(BAD_LITERAL, f"parentheses are for complex numbers and tuples, not for {self.dtype}",
                              start)
        else:
            return self._scalar(start)
        if elided:
            return Literal(self.shape, text=_ELIDED, is_elided=True)
        self._check()
        if self.sparse or (not self.tokens and self.shape.size):
            return self._from_sparse()
        return Literal(self.shape, text=self._dense_text(self.tokens), reader=array_of)

    def _check(self) -> None:
        try:
            tokens = self.tokens
            if self.dtype.is_complex:
                tokens = [part for token in tokens for part in token[1:-1].split(",")]
                _check_floats(self.dtype, tokens)
            else:
                _check_values(self.dtype, tokens)
        except _AtElement as error:
            number = error.number // 2 if self.dtype.is_complex else error.number
            place = self.places[number] if number < len(self.places) else (0, len(self.text))
            raise PhraseError(error.code, error.message, *place, help=error.help) from None

    def _scalar(self, start: int) -> Literal:
        at = self._element(start)
        if self.text[at:].strip():
            self._unexpected(_skip(self.text, at))
        self._check()
        shape, token = self.shape, self.tokens[0]
        if not shape.dims:
            return Literal(shape, text=token, reader=array_of)
        # One number for a whole array is kept as it is written, so that every reader makes of it what it does.
        return Literal(shape, text=token, reader=array_of)

    def _element(self, at: int) -> int:
        """Take one number, word or complex pair that starts at `at`; returns its end."""
        if self.text[at:at + 1] == "(":
            match = pattern("literal", "complex").match(self.text, at)
            if match is None:
                raise PhraseError(BAD_NUMBER, "expected a complex number like (1, -2.5)", at,
                                  _balanced_end(self.text, at))
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
        at = _skip(self.text, at)
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
            at = _skip(text, at)
            sign = text[at:at + 1]
            if sign == "{":
                self._open(at)
            elif sign == "}":
                self._close(at, elided)
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
                if entry:
                    at = self._sparse_entry(at)
                elif pair or scalar:
                    at = self._counted(at, at + len((pair or scalar).rstrip()))
                else:
                    at = match.end()
                continue
            at += 1
        if self.text[at:].strip():
            raise PhraseError(BAD_LITERAL, "text follows the literal", _skip(self.text, at), len(self.text))
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

    def _close(self, at: int, elided: bool) -> None:
        dims = self.shape.dims
        self.depth -= 1
        depth = self.depth
        if not (elided and depth == 0) and not self.sparse and self.seen[depth] != dims[depth]:
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
        index = tuple(map(int, _INTEGER.findall(match[1])))
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


def nested_text(dims: tuple[int, ...], tokens: list[str]) -> str:
    """Elements in row-major order as a literal of these dimensions, rows separated as XLA does on one line."""
    if not dims:
        return tokens[0]
    rows = tokens
    for depth in range(len(dims) - 1, -1, -1):
        count = math.prod(dims[:depth])
        width = dims[depth]
        left, right = ("{", "}") if depth == len(dims) - 1 else ("{ ", " }" if width else "}")
        rows = [left + ", ".join(rows[i * width:(i + 1) * width]) + right for i in range(count)]
    return rows[0] if rows else "{}"


# Arrays from normalised text

_ELEMENT = re.compile(rf"{_NUMBER}|{terminal('literal', 'BOOLEAN')}")


#: elements from which on zeros are a view that takes no memory
_LARGE = 1 << 20


def array_of(shape: Shape, text: str) -> Any:
    """The NumPy array of a literal's normalised text."""
    import numpy as np

    dtype = shape.dtype
    plain = "(" not in text
    tokens = text.translate(_BRACES_TO_BLANKS).replace(",", " ").split() if plain else _ELEMENT.findall(text)
    if dtype.family == "pred":
        flat = np.array([_pred_of(t, n) for n, t in enumerate(tokens)], bool)
    elif dtype.is_integral:
        wide = np.uint64 if dtype.name == "u64" else np.int64
        flat = np.array([int(t) % 2**64 if dtype.name == "u64" else int(t) for t in tokens], wide).astype(dtype.numpy)
    elif dtype.is_complex:
        flat = _floats(dtype.component, tokens).view(dtype.numpy)
    else:
        flat = _floats(dtype, tokens)
    if flat.size == 1 and shape.size > 1:
        # One number for several elements: XLA's parser takes it as the first one and leaves the others zero.
        if shape.size > _LARGE and not flat.view(np.uint8).any():
            return np.broadcast_to(flat.reshape(()), shape.dims)
        flat = np.concatenate([flat, np.zeros(shape.size - 1, flat.dtype)])
    return flat[:shape.size].reshape(shape.dims)


def _floats(dtype: DType, tokens: list[str]) -> Any:
    import numpy as np

    values = np.array([math.nan if "nan" in t else float(t) for t in tokens], np.float64)
    with np.errstate(all="ignore"):
        if dtype.bits == 16:
            values = values.astype(np.float32)  # XLA goes through float for both 16-bit types
        flat = values.astype(dtype.numpy)
    if any("nan" in t for t in tokens):
        _set_nans(dtype, tokens, flat)
    return flat


def _set_nans(dtype: DType, tokens: list[str], flat: Any) -> None:
    bits = dtype.nan_payload_bits
    if bits == 0:
        return
    view = flat.view(f"u{flat.dtype.itemsize}")
    infinity = ((1 << dtype.exponent_bits) - 1) << bits
    quiet = 1 << (bits - 1)
    for number, token in enumerate(tokens):
        if "nan" not in token:
            continue
        payload = _payload_of(token)
        payload = quiet if payload in (None, 1 << 51) else payload
        view[number] = infinity | payload | ((1 << (dtype.bits - 1)) if token[0] == "-" else 0)
