"""Elements of literals: which numbers a type takes, and arrays of them."""

from __future__ import annotations

import functools
import math
from typing import Any, NoReturn

from hlotool.grammars import terminal
from hlotool.ir import DTYPES, DType, Shape, deferred
from hlotool.ir.arrays import np
from hlotool.text.phrase_errors import (
    BAD_LITERAL,
    BAD_NAN,
    BAD_NUMBER,
    OUT_OF_RANGE,
    PhraseError,
)

BRACES_TO_BLANKS = str.maketrans("{}", "  ")
_NUMBER = terminal("literal", "NUMBER")
INTEGER = deferred(lambda: terminal("literal", "INT"))


def _ranges(dtype: DType) -> tuple[int, int]:
    if dtype.family == "unsigned":
        return 0, 2**dtype.bits - 1
    return -(2 ** (dtype.bits - 1)), 2 ** (dtype.bits - 1) - 1


def check_values(dtype: DType, pieces: list[str]) -> None:
    """Raise where a number has the wrong form or does not fit; positions are found by `_blame`."""
    if dtype.family == "pred":
        if any(p.strip() not in ("0", "1", "true", "false") for p in pieces):
            for number, piece in enumerate(pieces):
                _pred_of(piece.strip(), number)
        return
    if dtype.is_integral:
        _check_integers(dtype, pieces)
        return
    check_floats(dtype, pieces)


def _pred_of(token: str, number: int) -> bool:
    if token in ("true", "false"):
        return token == "true"
    if INTEGER.fullmatch(token):
        _check_word_size(token, number)
        return int(token) != 0
    _blame(number, BAD_LITERAL, f"a pred is true or false, 1 or 0, not {token}")


class AtElement(PhraseError):
    """A complaint about one element by its number; the token reader turns the number into a place."""

    def __init__(self, number: int, code: str, message: str) -> None:
        super().__init__(code, message)
        self.number = number


def _blame(number: int, code: str, message: str) -> NoReturn:
    raise AtElement(number, code, message)


def _check_integers(dtype: DType, pieces: list[str]) -> None:
    try:
        values = list(map(int, pieces))
    except ValueError:
        for number, piece in enumerate(pieces):
            if not INTEGER.fullmatch(piece.strip()):
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


def check_floats(dtype: DType, pieces: list[str]) -> None:
    """Raise PhraseError, or AtElement for one of several, where a piece is no number that the type has."""
    try:
        values = list(map(float, pieces))
    except ValueError:
        values = [_float_of(dtype, p.strip(), n) for n, p in enumerate(pieces)]
    highest, lowest, ties = _float_limits(dtype.name)
    top, bottom = max(values, default=0.0), min(values, default=0.0)
    if not (bottom > -(2.0**63) and top < 2.0**63):
        for number, piece in enumerate(pieces):
            _check_word_size(piece.strip(), number)
    if lowest < bottom and top < highest:  # false where a nan stands
        return
    for number, value in enumerate(values):
        if math.isnan(value) or (math.isinf(value) and "inf" in pieces[number]):
            continue
        if value > highest or value < lowest or (not ties and value in (highest, lowest)):
            low, high = float(dtype.component.least), float(dtype.component.largest)
            _blame(number, OUT_OF_RANGE, f"{pieces[number].strip()} does not fit {dtype}, whose finite values are "
                   f"{low:.8g} to {high:.8g}")


def _check_word_size(token: str, number: int) -> None:
    """A whole number without a point is one of 64 bits, whatever the type. Source: XLA, hlo_lexer.cc, LexNumber."""
    if INTEGER.fullmatch(token) and not -(2**63) <= int(token) < 2**64:
        _blame(number, OUT_OF_RANGE, f"{token} does not fit 64 bits, as a number without a point must; write {token}.0")


def _payload_of(token: str) -> int | None:
    """Return the payload of a NaN, written nan(0x7); None where a token gives none."""
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
    """Return the bounds of a float type, and True if a number may reach them: XLA rounds before it compares."""
    kind = DTYPES[name].component
    # f64 overflows into an infinity; types without one or a NaN saturate.
    if kind.name == "f64" or kind.specials == "none":
        return math.inf, -math.inf, kind.specials == "none"
    # Halfway goes to the even neighbour.
    limit = float(kind.largest + kind.largest_ulp / 2)
    return limit, (0.0 if kind.specials == "no sign" else -limit), kind.specials == "one"


_ELEMENT = deferred(lambda: rf"{_NUMBER}|{terminal('literal', 'BOOLEAN')}")


#: elements from which on zeros are a view that takes no memory
_LARGE = 1 << 20


def array_of(shape: Shape, text: str) -> Any:
    """Return the NumPy array of a literal's normalised text."""
    dtype = shape.dtype
    plain = "(" not in text
    tokens = text.translate(BRACES_TO_BLANKS).replace(",", " ").split() if plain else _ELEMENT.findall(text)
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
