"""Decompositions, triangular systems and Fourier transforms."""

from __future__ import annotations

from hlotool.ir import HloInstruction
from hlotool.jax.lax.codes import NotWritable
from hlotool.jax.lax.function_code import FunctionCode, writes


@writes("cholesky")
def _cholesky(code: FunctionCode, i: HloInstruction) -> str:
    """JAX reads and gives the lower triangle; the upper one is its adjoint."""
    a = code.operand(i)
    if i.attributes.get("lower", False):
        return f"lax.linalg.cholesky({a}, symmetrize_input=False)"
    return (f"jnp.conj(jnp.swapaxes(lax.linalg.cholesky(jnp.conj(jnp.swapaxes({a}, -1, -2)), "
            "symmetrize_input=False), -1, -2))")


@writes("triangular-solve")
def _triangular_solve(code: FunctionCode, i: HloInstruction) -> str:
    a = i.attributes
    form = a["transpose_a"]
    flags = {"left_side": bool(a.get("left_side", False)), "lower": bool(a.get("lower", False)),
             "transpose_a": form != "NO_TRANSPOSE", "conjugate_a": form == "ADJOINT",
             "unit_diagonal": bool(a.get("unit_diagonal", False))}
    said = ", ".join(f"{name}={flag}" for name, flag in flags.items())
    return f"lax.linalg.triangular_solve({', '.join(code.operands(i))}, {said})"


@writes("fft")
def _fft(code: FunctionCode, i: HloInstruction) -> str:
    kind = i.attributes["fft_type"]
    if kind not in ("FFT", "IFFT", "RFFT", "IRFFT"):
        raise NotWritable(f"JAX knows no transform {kind}")
    return f"lax.fft({code.operand(i)}, lax.FftType.{kind}, {tuple(i.attributes['fft_length'])})"
