"""Polynomials by their coefficients, and values that depend on a flag of the caller's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp

if TYPE_CHECKING:
    from hlotool.builder.core import Core


@function()
def evaluate_polynomial(b: Core, x: Any, coefficients: Sequence[float]) -> XlaOp:
    """The polynomial of x with those coefficients, the one of the highest power first: Horner's scheme."""
    made = b.operand(x)
    found = b.today("ZerosLike", made)
    for coefficient in coefficients:
        found = b.today("Add", b.today("Mul", found, made), float(coefficient))
    return found


@function()
def evaluate_chebyshev_polynomial(b: Core, x: Any, coefficients: Sequence[float]) -> XlaOp:
    """The sum of Chebyshev's polynomials of x/2, the one of the highest degree first, the last halved: Clenshaw's.

    As Cephes has it: what x in [-2, 2] gives.
    """
    made = b.operand(x)
    now = before = last = b.today("ZerosLike", made)
    for coefficient in coefficients:
        last, before = before, now
        now = b.today("Add", b.today("Sub", b.today("Mul", made, before), last), float(coefficient))
    return b.today("Mul", b.today("Sub", now, last), 0.5)


@function()
def maybe_conjugate(b: Core, x: Any, conjugate: bool) -> XlaOp:
    """The complex conjugate where that is asked for and x is complex, else x."""
    made = b.operand(x)
    return b.today("Conj", made) if conjugate and made.shape.dtype.is_complex else made


@function()
def maybe_transpose_in_minor_dims(b: Core, x: Any, transpose: bool) -> XlaOp:
    """The last two dimensions exchanged where that is asked for."""
    made = b.operand(x)
    return b.today("TransposeInMinorDims", made) if transpose else made
