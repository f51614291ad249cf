"""Integer arithmetic as XLA defines it where C and NumPy do not: division by zero, overflow, shifts past the width."""

from __future__ import annotations

from typing import Any

from hlotool.ir.arrays import Array, np
from hlotool.ops.numbers import bit_length, dtype_of, from_bits, signed_bits, to_bits


def divided(lhs: Array, rhs: Array) -> Array:
    """Quotient towards zero; x / 0 has all bits set. Floats: IEEE; complex: C99, Annex G."""
    if lhs.dtype.kind == "c":
        # NumPy makes NaN of a finite number divided by an infinite one.
        return np.where(np.isfinite(lhs) & np.isinf(rhs), 0, np.divide(lhs, rhs))
    if lhs.dtype.kind not in "iu":
        return np.divide(lhs, rhs)
    safe = np.where(rhs == 0, np.ones_like(rhs), rhs)
    quotient = np.floor_divide(lhs, safe)
    left = lhs - quotient * safe
    quotient = np.where((left != 0) & ((lhs < 0) != (safe < 0)), quotient + 1, quotient).astype(lhs.dtype)
    return np.where(rhs == 0, ~np.zeros_like(lhs), quotient)


def remaindered(lhs: Array, rhs: Array) -> Array:
    """Return the remainder of truncating division, with the sign of lhs; x rem 0 is x for integers."""
    if lhs.dtype.kind == "c":
        # No backend defines it; the quotient truncated in both parts keeps lhs = quotient * rhs + rest.
        quotient = lhs / rhs
        return lhs - (np.trunc(quotient.real) + 1j * np.trunc(quotient.imag)) * rhs
    if lhs.dtype.kind == "f":
        return np.fmod(lhs, rhs)
    return np.where(rhs == 0, lhs, np.fmod(lhs, np.where(rhs == 0, np.ones_like(rhs), rhs)))


def powered(lhs: Array, rhs: Array) -> Array:
    """lhs to the power of rhs; integers with a negative exponent: 1 and -1 stay themselves, others give 0."""
    if lhs.dtype.kind not in "iu":
        found = np.power(lhs, rhs)
        return np.where(rhs == 0, np.ones_like(lhs), found) if lhs.dtype.kind == "c" else found
    negative = rhs < 0
    found = np.power(lhs, np.where(negative, np.zeros_like(rhs), rhs))
    ones = np.where(lhs == 1, 1, np.where(lhs == lhs.dtype.type(0) - 1, np.where(rhs % 2 == 0, 1, -1), 0))
    return np.where(negative, ones.astype(np.int64), found).astype(lhs.dtype) if lhs.dtype.kind == "i" else found


def multiplied_high(lhs: Array, rhs: Array) -> Array:
    """The high half of the full product."""
    width = dtype_of(lhs.dtype).bits
    product = lhs.astype(object) * rhs.astype(object)
    return from_bits(np.asarray((product >> width) & ((1 << width) - 1), dtype=object).astype(np.uint64), lhs.dtype)


def clz(array: Array) -> Array:
    """Zero bits above the highest set bit, in the element's own width."""
    found = dtype_of(array.dtype).bits - bit_length(to_bits(array))
    return from_bits(found.view(np.uint64), array.dtype)


def popcount(array: Array) -> Array:
    """Number of bits that are 1."""
    return from_bits(np.bitwise_count(to_bits(array)).astype(np.uint64), array.dtype)


def _amount(lhs: Array, rhs: Array) -> tuple[int, Array, Any]:
    width = dtype_of(lhs.dtype).bits
    amount = to_bits(rhs)
    return width, np.minimum(amount, np.uint64(63)), amount < width


def shifted_left(lhs: Array, rhs: Array) -> Array:
    """Zeros enter; an amount past the width, or negative, gives 0."""
    _, amount, inside = _amount(lhs, rhs)
    return from_bits(np.where(inside, to_bits(lhs) << amount, np.uint64(0)), lhs.dtype)


def shifted_right_logical(lhs: Array, rhs: Array) -> Array:
    """Zeros enter; an amount past the width, or negative, gives 0."""
    _, amount, inside = _amount(lhs, rhs)
    return from_bits(np.where(inside, to_bits(lhs) >> amount, np.uint64(0)), lhs.dtype)


def shifted_right_arithmetic(lhs: Array, rhs: Array) -> Array:
    """The highest bit enters, of unsigned integers as well."""
    width, amount, inside = _amount(lhs, rhs)
    by = np.where(inside, amount, np.uint64(width - 1)).astype(np.int64)
    return from_bits((signed_bits(lhs) >> by).view(np.uint64), lhs.dtype)
