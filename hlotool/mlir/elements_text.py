"""The elements of constants from text to bytes: `[[1, 2], [3, 4]]`, `true`, `"0x0102"`."""

from __future__ import annotations

import array
import contextlib
import functools
import itertools
import re
import struct
from typing import Any

from hlotool.mlir import builtin_values as mlir
from hlotool.mlir.codes import BAD_ELEMENTS, BAD_NUMBER
from hlotool.mlir.narrow_integers import with_signs
from hlotool.mlir.print_floats import float_bits, float_width
from hlotool.mlir.print_values import stored_bytes
from hlotool.mlir.text_error import TextError

_STRING = re.compile(r'"([^"\\]*+(?:\\[\s\S][^"\\]*+)*+)"')
_COMMENT = re.compile(r"//[^\n]*")
_NOT_BRACKETS = re.compile(r"[^\[\],]+")
_ELEMENT = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+(?:\.\d*(?:[eE][+\-]?\d+)?)?)|true|false")
_INTEGER = re.compile(r"-?(?:0x[0-9a-fA-F]+|\d+)")
_MINUS_ZERO = re.compile(r"-0+|-0x0+").fullmatch
_NO_BRACKETS = str.maketrans("[]()", "    ")
_ESCAPE = re.compile(r'\\([0-9a-fA-F]{2}|[nt"\\])')
_ESCAPED = {"n": b"\n", "t": b"\t", '"': b'"', "\\": b"\\"}


def unescaped(text: str, at: int = 0) -> str:
    """Return what a string between quotes holds; bytes that are no UTF-8 become surrogates."""
    inner = text[1:-1]
    if "\\" not in inner:
        return inner
    if bad := re.search(r"\\(?![0-9a-fA-F]{2}|[nt\"\\])", inner.replace("\\\\", "  ")):
        raise TextError(BAD_NUMBER, "a backslash begins no escape", at + 1 + bad.start(), at + 2 + bad.start(),
                        help=r"write \\, \", \n, \t or two hexadecimal digits")
    pieces = _ESCAPE.split(inner)
    data = b"".join(piece.encode("utf-8", "surrogateescape") if number % 2 == 0 else
                    _ESCAPED.get(piece) or bytes.fromhex(piece) for number, piece in enumerate(pieces))
    return data.decode("utf-8", "surrogateescape")


def dense_of(text: str, type: Any, at: int, type_at: int) -> Any:
    """Return the attribute with the elements that a text lists for a type; `at` is the text's place in its source."""
    shape = getattr(type, "shape", None)
    if not isinstance(type, (mlir.TensorType, mlir.VectorType)) or shape is None or None in shape:
        raise TextError(BAD_ELEMENTS, "elements need a tensor or a vector of known sizes", type_at, type_at + 1)
    if "//" in text and '"' not in text:
        text = _COMMENT.sub(lambda m: " " * len(m[0]), text)
    element = type.element
    width = stored_bytes(element)
    if '"' in text:
        first = _STRING.search(text)
        if first is not None and first[0] == text.strip() and first[1].startswith("0x") and width:
            return mlir.DenseAttribute(type, with_signs(_from_hex(first[1][2:], type, width, at), element))
        return mlir.DenseStringsAttribute(type, _strings(text, type, at))
    if not width:
        raise TextError(BAD_ELEMENTS, "elements of this type are no numbers", type_at, type_at + 1)
    count = functools.reduce(lambda a, b: a * b, shape, 1)
    if not text.strip():
        if count:
            raise TextError(BAD_ELEMENTS, f"there are no elements, and the type has {count}", at, at + 1)
        return mlir.DenseAttribute(type, b"")
    data = _data(_pieces(text, type, count, at), element, at, text)
    return mlir.DenseAttribute(type, _splat(with_signs(data, element), width))


def _pieces(text: str, type: Any, count: int, at: int) -> list[str]:
    """Return the texts of the elements in their order; one where one stands for all."""
    is_complex = isinstance(type.element, mlir.ComplexType)
    flat = text if not is_complex else re.sub(r"\(([^()\[\]]*)\)", lambda m: m[1].replace(",", ";"), text)
    if "(" in flat or (is_complex and flat.count(";") != flat.count(",") + 1 and "[" not in flat):
        raise TextError(BAD_ELEMENTS, "the elements are no numbers of the type", at, at + len(text.rstrip()))
    if "[" not in flat:
        pieces = [flat.strip()]
        if "," in flat:
            raise TextError(BAD_ELEMENTS, "several elements stand in brackets", at, at + len(text.rstrip()),
                            help="write [...]")
    else:
        if "".join(_NOT_BRACKETS.sub("", flat).split()) != _skeleton(type.shape, len(flat)):
            raise TextError(BAD_ELEMENTS, f"the list does not have the sizes {'x'.join(map(str, type.shape))} of its "
                            "type", at, at + len(text.rstrip()))
        pieces = flat.translate(_NO_BRACKETS).split(",") if count else []
    if is_complex:
        halves = [piece.split(";") for piece in pieces]
        if any(len(half) != 2 for half in halves):
            raise TextError(BAD_ELEMENTS, "an element of a complex type is (real, imaginary)", at,
                            at + len(text.rstrip()))
        pieces = list(itertools.chain.from_iterable(halves))
    return [piece.strip() for piece in pieces]


def _skeleton(shape: tuple[int, ...], longest: int) -> str:
    """The brackets and commas of a list of a shape; "" for one that is longer than the text."""
    inner = ""
    for size in reversed(shape):
        if (len(inner) + 1) * size > longest + 2:
            return ""
        inner = f"[{','.join([inner] * size)}]"
    return inner


def _data(pieces: list[str], element: Any, at: int, text: str) -> bytes:
    part = element.element if isinstance(element, mlir.ComplexType) else element
    if isinstance(part, mlir.FloatType):
        return _floats(pieces, part, at, text)
    return _integers(pieces, part, at, text)


def _bad(text: str, piece: str, at: int, what: str) -> TextError:
    start = max(text.find(piece), 0) if piece else 0
    shown = piece if len(piece) < 40 else piece[:40] + "..."
    return TextError(BAD_NUMBER, f"{shown or 'nothing'} is {what}", at + start, at + start + max(1, len(piece)))


_CODES = {"f64": "d", "f32": "f"}


def _floats(pieces: list[str], type: Any, at: int, text: str) -> bytes:
    name = type.name
    width = (float_width(name) + 7) // 8
    code = _CODES.get(name)
    if "x" not in text and code is not None and all("." in p for p in pieces) and all(map(_ELEMENT.fullmatch, pieces)):
        try:
            return struct.pack(f"<{len(pieces)}{code}", *map(float, pieces))
        except OverflowError:  # beyond the largest number, which becomes infinite
            pass
    return b"".join([_float_of(p, name, at, text).to_bytes(width, "little") for p in pieces])


def _float_of(piece: str, name: str, at: int, text: str) -> int:
    if not _ELEMENT.fullmatch(piece) or piece in ("true", "false"):
        raise _bad(text, piece, at, f"no number of {name}")
    if piece.startswith("0x"):
        bits = int(piece, 16)
        if bits >> float_width(name):
            raise _bad(text, piece, at, f"too large for the {float_width(name)} bits of {name}")
        return bits
    if "." not in piece:
        raise _bad(text, piece, at, f"an integer, and {name} has floats")
    found = float_bits(float(piece), name)
    if found is None:
        raise _bad(text, piece, at, f"not to be written in {name}; give its bits, as 0x...")
    return found


def integer_range(type: Any) -> tuple[int, int]:
    """Return the least and the largest number that may be written for an integer type."""
    if isinstance(type, mlir.IndexType):
        return -(1 << 63), (1 << 64) - 1
    width, sign = type.width, type.signedness
    return (0 if sign == "u" else -(1 << width - 1) if width else 0,
            (1 << width - 1) - 1 if sign == "s" else (1 << width) - 1)


def _integers(pieces: list[str], type: Any, at: int, text: str) -> bytes:
    if not pieces:
        return b""
    width = stored_bytes(type)
    low, high = integer_range(type)
    is_bool = getattr(type, "width", 0) == 1
    if is_bool and ("t" in text or "f" in text):
        pieces = [{"true": "1", "false": "0"}.get(p, p) for p in pieces]
    numbers = []
    with contextlib.suppress(ValueError):
        numbers = list(map(int, pieces)) if "x" not in text and "_" not in text else []
    if not numbers or len(text) > 4300 * len(pieces):
        numbers = [_integer_of(p, at, text) for p in pieces]
    if "-0" in text and 0 in numbers and (wrong := next(filter(_MINUS_ZERO, pieces), "")):
        raise _bad(text, wrong, at, "no integer: zero has no sign")
    least, most = min(numbers), max(numbers)
    if least < low or most > high:
        wrong = next(p for p, n in zip(pieces, numbers, strict=True) if not low <= n <= high)
        raise _bad(text, wrong, at, f"out of the range of the type, {low} to {high}")
    if not is_bool and (code := {1: "b", 2: "h", 4: "i", 8: "q"}.get(width)):
        bits = 8 * width
        limit = 1 << bits - 1
        if most >= limit:
            numbers = [n - (1 << bits) if n >= limit else n for n in numbers]
        return struct.pack(f"<{len(numbers)}{code}", *numbers)
    mask = (1 << 8 * width) - 1
    return b"".join([(n & mask).to_bytes(width, "little") for n in numbers])


def _integer_of(piece: str, at: int, text: str) -> int:
    if not _INTEGER.fullmatch(piece) or len(piece) > 4000:
        raise _bad(text, piece, at, "no integer")
    return int(piece, 16 if "x" in piece else 10)


def _splat(data: bytes, width: int) -> bytes:
    """Return the bytes of one element where all have the same."""
    return data[:width] if data == data[:width] * (len(data) // width) else data


def _from_hex(digits: str, type: Any, width: int, at: int) -> bytes:
    try:
        data = bytes.fromhex(digits)
    except ValueError:
        raise TextError(BAD_ELEMENTS, "the bytes are no pairs of hexadecimal digits", at, at + 1) from None
    count = functools.reduce(lambda a, b: a * b, type.shape, 1)
    if type.element == mlir.IntegerType(1) and len(data) != count:
        return _from_bits(data, count, at)
    if len(data) not in (width, width * count):
        raise TextError(BAD_ELEMENTS, f"there are {len(data)} bytes, and the type has {width * count}", at, at + 1)
    return _splat(data, width) if count else b""


def _from_bits(data: bytes, count: int, at: int) -> bytes:
    """One byte for each of the truths that MLIR packs eight to a byte."""
    if len(data) == 1 and data[0] in (0, 0xFF):
        return bytes([data[0] & 1]) if count else b""
    if len(data) != (count + 7) // 8:
        raise TextError(BAD_ELEMENTS, f"there are {len(data)} bytes, and the type has {(count + 7) // 8}", at, at + 1)
    return _splat(bytes(data[n >> 3] >> (n & 7) & 1 for n in range(count)), 1)


def _strings(text: str, type: Any, at: int) -> tuple[str, ...]:
    found = [(m.start(), m[0]) for m in _STRING.finditer(text)]
    rest = "".join(_STRING.sub("", text).split())
    if "[" not in text:
        if rest or len(found) != 1:
            raise TextError(BAD_ELEMENTS, "several elements stand in brackets", at, at + len(text.rstrip()))
    elif rest != _skeleton(type.shape, len(text)):
        raise TextError(BAD_ELEMENTS, f"the list does not have the sizes {'x'.join(map(str, type.shape))} of its type",
                        at, at + len(text.rstrip()))
    texts = tuple(unescaped(string, at + start) for start, string in found)
    return texts[:1] if len(set(texts)) == 1 else texts


def array_values(element: Any, pieces: list[str], at: int, text: str) -> tuple[int, ...]:
    """Return the elements of `array<element: ...>`, floats as their bits."""
    if isinstance(element, mlir.FloatType):
        return tuple(_float_of(p, element.name, at, text) for p in pieces)
    if not isinstance(element, mlir.IntegerType):
        raise TextError(BAD_ELEMENTS, "an array has integers or floats", at, at + 1)
    data = _integers(pieces, element, at, text) if pieces else b""
    if element.width == 1:
        return tuple(data)
    numbers = array.array({1: "b", 2: "h", 4: "i", 8: "q"}.get(stored_bytes(element), "b"))
    numbers.frombytes(data)
    return tuple(numbers)
