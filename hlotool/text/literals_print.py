"""Literals to text: the shortest numbers that read back to the same bits."""

from __future__ import annotations

import itertools
import math
import re
from typing import Any

from hlotool.ir import DType, Literal, deferred
from hlotool.ir.arrays import np
from hlotool.text.literal_tokens import nested_text


def print_literal(literal: Literal, *, elide_above: int | None = None, index: bool = False) -> str:
    """Return the text inside constant(...); arrays of more than `elide_above` elements become `{...}`.

    `index` puts the marks `/*i0=1*/` into arrays of more than three dimensions.
    """
    shape = literal.shape
    if shape.is_tuple and literal.elements:
        return "(" + ", ".join(print_literal(e, elide_above=elide_above, index=index) for e in literal.elements) + ")"
    if elide_above is not None and shape.is_array and shape.dims and shape.size > elide_above:
        return "{...}"
    text = literal.text
    if text is None and literal.is_elided:
        return "{...}"
    if text is None:
        text = "()" if shape.is_tuple else nested_text(shape.dims, _tokens(shape.dtype, literal.array))
    return _with_index(shape.dims, text) if index and len(shape.dims) > 3 else text


def _with_index(dims: tuple[int, ...], text: str) -> str:
    """Return the text with the index of each element of all dimensions but the last two behind its brace."""
    depth, numbers = 0, [itertools.count() for _ in dims]

    def marked(brace: re.Match[str]) -> str:
        nonlocal depth
        depth += -1 if brace[0] == "}" else 1
        dimension = depth - 2
        if brace[0] == "}" or not 0 <= dimension < len(dims) - 2:
            return brace[0]
        return f"{{ /*i{dimension}={next(numbers[dimension]) % dims[dimension]}*/"

    return _BRACE.sub(marked, text)


#: a brace, and one of two blanks in an array without elements
_BRACE = deferred(lambda: r"\{(?: (?= \}))?|\}")


def _tokens(dtype: DType, array: Any) -> list[str]:
    """Return the elements of an array as HLO text, in row-major order."""
    flat = np.ascontiguousarray(array).reshape(-1)
    if dtype.family == "pred":
        if np.ndim(array) == 0:
            return ["true" if flat[0] else "false"]
        return ["1" if v else "0" for v in flat.tolist()]
    if dtype.is_integral:
        return list(map(str, flat.astype(np.uint64 if dtype.name == "u64" else np.int64).tolist()))
    if dtype.is_complex:
        component = dtype.component
        parts = _float_tokens(component, flat.view(component.numpy))
        return [f"({a}, {b})" for a, b in zip(parts[::2], parts[1::2], strict=True)]
    return _float_tokens(dtype, flat)


def _float_tokens(dtype: DType, flat: Any) -> list[str]:
    with np.errstate(all="ignore"):
        wide = flat.astype(np.float64)
        if dtype.name == "f64":
            texts = [repr(v) for v in wide.tolist()]
        elif dtype.name == "f32":
            texts = [str(v) for v in flat]
        else:
            texts = [_short_of(dtype, v, exact) for v, exact in zip(flat, wide.tolist(), strict=True)]
    finished = [t[:-2] if t.endswith(".0") else t for t in texts]
    for index in np.flatnonzero(np.isnan(wide)).tolist():
        finished[index] = _nan_text(dtype, flat[index:index + 1])
    return finished


def _short_of(dtype: DType, value: Any, wide: float) -> str:
    """Return the shortest decimal that rounds to the value in its narrow type."""
    if not math.isfinite(wide):
        return repr(wide)
    kind = dtype.numpy.type
    for digits in range(1, 18):
        text = f"{wide:.{digits}g}"
        if kind(float(text)) == value:
            return repr(float(text))
    return repr(wide)


def _nan_text(dtype: DType, one: Any) -> str:
    """Return a NaN with its sign, and its payload where it is not the default. XLA: util.h, NanWithSignAndPayload."""
    bits = int(one.view(f"u{one.dtype.itemsize}")[0])
    sign = "-" if bits >> (dtype.bits - 1) & 1 and dtype.specials not in ("no minus zero", "no sign") else ""
    if not dtype.nan_payload_bits:
        return f"{sign}nan"
    payload = bits & ((1 << dtype.mantissa_bits) - 1)
    return f"{sign}nan" if payload == 1 << (dtype.mantissa_bits - 1) else f"{sign}nan({payload:#x})"
