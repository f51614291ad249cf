"""Integers whose bits do not fill their bytes, such as i4: MLIR has zeros above them, and memory here their sign."""

from __future__ import annotations

import functools
from typing import Any

from hlotool.mlir import builtin_values as mlir


def with_signs(data: bytes, element: Any) -> bytes:
    """Return elements as they are held in memory: numbers of the bytes that each takes."""
    width = _narrow_width(element)
    return data if width is None else _each(data, width, is_signed=element.signedness != "u")


def without_signs(data: bytes, element: Any) -> bytes:
    """Return elements as MLIR stores them."""
    width = _narrow_width(element)
    return data if width is None else _each(data, width, is_signed=False)


def _narrow_width(element: Any) -> int | None:
    """Return the bits of an integer type that has some to spare; None for others, and for truths."""
    if not isinstance(element, mlir.IntegerType) or element.width <= 1 or not element.width % 8:
        return None
    return element.width


def _each(data: bytes, width: int, *, is_signed: bool) -> bytes:
    if width < 8:
        return data.translate(_table(width, is_signed))
    taken = (width + 7) // 8
    return b"".join([(_number(int.from_bytes(data[n:n + taken], "little"), width, is_signed) % (1 << 8 * taken))
                     .to_bytes(taken, "little") for n in range(0, len(data), taken)])


@functools.cache
def _table(width: int, is_signed: bool) -> bytes:
    return bytes([_number(byte, width, is_signed) % 256 for byte in range(256)])


def _number(bits: int, width: int, is_signed: bool) -> int:
    """Return the number that the lowest bits are.

    >>> _number(0b1111, 4, True), _number(0b1111, 4, False)
    (-1, 15)
    """
    low = bits % (1 << width)
    return low - (1 << width) if is_signed and low >> width - 1 else low
