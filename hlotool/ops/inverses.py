"""Inverses of elementwise operations on arrays: the operand that, with the others as they are, gives a result.

A search for arguments carries a value that it wants back through a program with them, and runs the program on what it
finds. So an inverse gives its best guess where there is no such operand (an odd product of an even factor), or several.

    undo(number, result, operands)    the operand of that number; `operands` are the values of all of them now
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TypeAlias

from hlotool.ir.arrays import Array, np
from hlotool.ops.numbers import dtype_of, from_bits, signed_bits, to_bits

Undo: TypeAlias = Callable[[int, Array, Sequence[Array]], Array]


def of_identity(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the result: maximum, minimum and remainder give an operand back where the other one lets them."""
    return result


def of_add(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the difference of the sum and the other term."""
    other = operands[1 - number]
    return _wrapped(lambda r, o: r - o, result, other) if _is_integral(result) else _nearest(
        lambda x: x + other, np.asarray(result - other), result)


def of_subtract(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the sum of the difference and what is subtracted, or the first operand less the difference."""
    other = operands[1 - number]
    if _is_integral(result):
        return _wrapped((lambda r, o: r + o) if number == 0 else (lambda r, o: o - r), result, other)
    return _nearest((lambda x: x - other) if number == 0 else (lambda x: other - x),
                    np.asarray(result + other if number == 0 else other - result), result)


def of_multiply(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the quotient; of integers the product with the inverse of the other factor modulo 2^bits."""
    other = operands[1 - number]
    if not _is_integral(result):
        return _nearest(lambda x: x * other, np.asarray(result / other), result)
    factor, bits = _bits(other), _bits(result)
    lowest = np.where(factor == 0, np.uint64(1), factor & (~factor + np.uint64(1)))
    odd = factor // lowest | np.uint64(1)
    inverse = odd.copy()
    for _ in range(6):  # Newton: each step doubles the bits that are right, of which there are three at first
        inverse *= np.uint64(2) - odd * inverse
    return from_bits(bits // lowest * inverse, result.dtype)


def of_divide(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the product of quotient and divisor, or the dividend by the quotient."""
    other = operands[1 - number]
    if _is_integral(result):
        if number == 0:
            return _wrapped(lambda r, o: r * o, result, other)
        return np.asarray(other // np.where(result == 0, np.ones((), result.dtype), result), result.dtype)
    return (_nearest(lambda x: x / other, np.asarray(result * other), result) if number == 0
            else _nearest(lambda x: other / x, np.asarray(other / result), result))


def of_power(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the root; of the exponent nothing better than it is now."""
    if number or _is_integral(result):
        return operands[number]
    return np.asarray(np.abs(result) ** (1 / operands[1]), result.dtype)


def of_xor(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the exclusive or of the result and the other operand."""
    return np.asarray(result ^ operands[1 - number])


def of_and(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the bits of the result where the other operand has ones, and the operand's own bits elsewhere."""
    other = operands[1 - number]
    return np.asarray(result & other | operands[number] & ~other)


def of_or(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the bits of the result where the other operand has zeros, and zeros elsewhere."""
    return np.asarray(result & ~operands[1 - number])


def of_shift_left(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the bits moved down, those that are lost as they are now."""
    if number:
        return operands[number]
    width = np.uint64(dtype_of(result.dtype).bits)
    amount = np.minimum(_bits(operands[1]), width - np.uint64(1))
    lost = _bits(operands[0]) >> (width - amount) << (width - amount) if width < 64 else np.uint64(0)
    return from_bits(_bits(result) >> amount | lost, result.dtype)


def of_shift_right(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the bits moved up, those that are lost as they are now."""
    if number:
        return operands[number]
    amount = np.minimum(_bits(operands[1]), np.uint64(dtype_of(result.dtype).bits - 1))
    lost = _bits(operands[0]) & ((np.uint64(1) << amount) - np.uint64(1))
    return from_bits(_bits(result) << amount | lost, result.dtype)


def of_negate(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return minus the result."""
    return _wrapped(lambda r, _: np.uint64(0) - r, result, result) if _is_integral(result) else np.asarray(-result)


def of_not(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the complement."""
    return np.asarray(~result)


def of_popcnt(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return a number with so many ones, the lowest bits."""
    count = np.minimum(_bits(result), np.uint64(63))
    return from_bits((np.uint64(1) << count) - np.uint64(1), result.dtype)


def of_count_leading_zeros(number: int, result: Array, operands: Sequence[Array]) -> Array:
    """Return the power of two with so many zeros above it."""
    width = np.uint64(dtype_of(result.dtype).bits)
    count = np.minimum(_bits(result), width)
    return from_bits(np.where(count == width, np.uint64(0), np.uint64(1) << (width - np.uint64(1) - np.minimum(
        count, width - np.uint64(1)))), result.dtype)


def _is_integral(array: Array) -> bool:
    return dtype_of(array.dtype).is_integral


def _bits(array: Array) -> Array:
    return np.asarray(to_bits(np.asarray(array))).astype(np.uint64)


def _wrapped(function: Callable[[Array, Array], Array], result: Array, other: Array) -> Array:
    """Return a function of integers modulo 2^64, cut to the result's type."""
    signed = [np.asarray(signed_bits(np.asarray(a))).astype(np.int64).view(np.uint64) for a in (result, other)]
    return from_bits(function(*signed), result.dtype)


def _nearest(function: Callable[[Array], Array], guess: Array, result: Array) -> Array:
    """Return the guess, or one of its neighbours that the function takes to the result exactly."""
    found = np.asarray(guess, result.dtype)
    if result.dtype.kind != "f":
        return found
    for target in (np.inf, -np.inf):
        beside = np.nextafter(found, np.asarray(target, found.dtype))
        found = np.where((function(found) != result) & (function(beside) == result), beside, found)
    return np.asarray(found)
