"""Numbers and arrays of any element type as short text for messages."""

from __future__ import annotations

from typing import Any

from hlotool.ir.arrays import Array, np


def number(value: Any) -> str:
    """One element: `-1.0`, `3.4e+38`, `nan`, `7`, `true`.

    >>> import numpy as np
    >>> number(np.float32(-1)), number(np.float32(3e38)), number(np.bool_(True)), number(np.float32(0.1))
    ('-1.0', '3e+38', 'true', '0.1')
    """
    value = np.asarray(value)
    if value.dtype == np.bool_:
        return "true" if value else "false"
    if value.dtype.kind == "c":
        return f"({number(value.real)}, {number(value.imag)})"
    if value.dtype.kind in "iu":
        return str(int(value))
    if value.dtype.itemsize >= 4:
        return str(value[()])
    try:
        return f"{float(value):.4g}" if float(value) % 1 or abs(float(value)) >= 1e6 else str(float(value))
    except (TypeError, ValueError):
        return str(value[()])


def place_in(index: tuple[int, ...]) -> str:
    """`[0, 3]`; nothing for a scalar."""
    return f"[{', '.join(map(str, index))}]" if index else ""


def extremes(array: Array) -> str:
    """Describe an array in a few words: `12 elements from -1 to 3e+38, 2 nan among them`."""
    array = np.asarray(array)
    if array.size == 1:
        return number(array.reshape(-1)[0])
    if not array.size:
        return "no elements"
    if array.dtype.kind == "c":
        return f"{array.size} elements"
    with np.errstate(all="ignore"):
        wide = array.astype(np.float64)
        finite = wide[np.isfinite(wide)]
        odd = [f"{n} {name}" for n, name in ((int(np.isnan(wide).sum()), "nan"), (int((wide == np.inf).sum()), "inf"),
                                             (int((wide == -np.inf).sum()), "-inf")) if n]
    least = f" from {finite.min():.6g} to {finite.max():.6g}" if finite.size else ""
    return f"{array.size} elements{least}" + (f", {' and '.join(odd)} among them" if odd else "")
