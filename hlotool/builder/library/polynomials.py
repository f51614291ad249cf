"""Polynomials by their coefficients, and values that depend on a flag of the caller's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp

if TYPE_CHECKING:
    from hlotool.builder.signatures import Methods


@function()
def evaluate_polynomial(b: Methods, x: Any, coefficients: Sequence[float]) -> XlaOp:
    """The polynomial of x with those coefficients, the one of the highest power first: Horner's scheme."""
    made = b.operand(x)
    found = b.ZerosLike(made)
    for coefficient in coefficients:
        found = b.Add(b.Mul(found, made), float(coefficient))
    return found


@function()
def evaluate_chebyshev_polynomial(b: Methods, x: Any, coefficients: Sequence[float]) -> XlaOp:
    """The sum of Chebyshev's polynomials of x/2, the one of the highest degree first, the last halved: Clenshaw's.

    As Cephes has it: what x in [-2, 2] gives.
    """
    made = b.operand(x)
    now = before = last = b.ZerosLike(made)
    for coefficient in coefficients:
        last, before = before, now
        now = b.Add(b.Sub(b.Mul(made, before), last), float(coefficient))
    return b.Mul(b.Sub(now, last), 0.5)


@function()
def maybe_conjugate(b: Methods, x: Any, conjugate: bool) -> XlaOp:
    """The complex conjugate where that is asked for and x is complex, else x."""
    made = b.operand(x)
    return b.Conj(made) if conjugate and made.shape.dtype.is_complex else made


@function()
def maybe_transpose_in_minor_dims(b: Methods, x: Any, transpose: bool) -> XlaOp:
    """The last two dimensions exchanged where that is asked for."""
    made = b.operand(x)
    return b.TransposeInMinorDims(made) if transpose else made
