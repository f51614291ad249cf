"""Random numbers, and the linear algebra whose attributes are words."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from hlotool.builder.codes import ARGUMENTS, NOT_ALLOWED
from hlotool.builder.functions import function
from hlotool.builder.handles import XlaOp
from hlotool.builder.problems import demand
from hlotool.builder.python_values import ints, shape_of
from hlotool.ir import UNBOUNDED, Shape

if TYPE_CHECKING:
    from hlotool.builder.core import Core


@function()
def rng_uniform(b: Core, a: Any, b_: Any, shape: Any) -> XlaOp:
    """Independent numbers, uniform in [a, b)."""
    return _rng(b, a, b_, shape, "rng_uniform")


@function()
def rng_normal(b: Core, mu: Any, sigma: Any, shape: Any) -> XlaOp:
    """Independent numbers, normal with mean mu and standard deviation sigma."""
    return _rng(b, mu, sigma, shape, "rng_normal")


def _rng(b: Core, first: Any, second: Any, shape: Any, distribution: str) -> XlaOp:
    wanted = shape_of(shape)
    return b.emit("rng", [b.operand(first, wanted.element_type), b.operand(second, wanted.element_type)],
                  {"distribution": distribution}, wanted)


_ALGORITHMS = {"default": "rng_default", "threefry": "rng_three_fry", "three_fry": "rng_three_fry",
               "philox": "rng_philox"}


@function()
def rng_bit_generator(b: Core, algorithm: Any, initial_state: Any, shape: Any) -> XlaOp:
    """Random bits and the state after them: a tuple. algorithm is rng_default, rng_three_fry or rng_philox."""
    word = (algorithm if isinstance(algorithm, str) else algorithm.name).lower()
    state = b.operand(initial_state)
    return b.emit("rng-bit-generator", [state], {"algorithm": _ALGORITHMS.get(word, word)},
                  Shape.tuple(state.shape.without_layout(), shape_of(shape)))


@function(synonyms={"ftt_type": "fft_type"})  # so in the signature of 2025
def fft(b: Core, operand: Any, fft_type: Any, fft_length: Iterable[int]) -> XlaOp:
    """Fourier transform over the last dimensions: fft_type is FFT, IFFT, RFFT or IRFFT."""
    word = (fft_type if isinstance(fft_type, str) else fft_type.name).upper()
    made, lengths = b.operand(operand), ints(fft_length, "fft_length")
    # HLO's fft of complex numbers reads no length; the documents say that it is that of the axes.
    axes = made.dims[-len(lengths):] if lengths and made.shape.is_array else ()
    demand(word not in ("FFT", "IFFT") or len(axes) != len(lengths) or UNBOUNDED in axes or axes == lengths,
           NOT_ALLOWED, f"Fft: fft_length is {list(lengths)}, the last axes of the operand have {list(axes)} elements")
    return b.emit("fft", [made], {"fft_type": word, "fft_length": lengths})


_TRANSPOSES = {0: "NO_TRANSPOSE", 1: "NO_TRANSPOSE", 2: "TRANSPOSE", 3: "ADJOINT"}


@function()
def triangular_solve(b: Core, a: Any, b_: Any, left_side: bool, lower: bool, unit_diagonal: bool,
                     transpose_a: Any = "NO_TRANSPOSE") -> XlaOp:
    """Solve op(a) x = b (left_side) or x op(a) = b for a triangular a."""
    word = transpose_a if isinstance(transpose_a, str) else getattr(transpose_a, "name", _TRANSPOSES.get(transpose_a))
    demand(isinstance(word, str), ARGUMENTS,
           f"transpose_a is {transpose_a!r}; it is NO_TRANSPOSE, TRANSPOSE or ADJOINT")
    found = {"left_side": left_side, "lower": lower, "unit_diagonal": unit_diagonal, "transpose_a": word}
    return b.emit("triangular-solve", b.operands(a, b_), {k: v for k, v in found.items() if v is not False})


@function()
def batch_norm_grad(b: Core, operand: Any, scale: Any, batch_mean: Any, batch_var: Any, grad_output: Any,
                    epsilon: float, feature_index: int) -> XlaOp:
    """The gradients of batch normalisation: a tuple of those of operand, scale and offset."""
    made = [b.operand(o) for o in (operand, scale, batch_mean, batch_var, grad_output)]
    return b.emit("batch-norm-grad", made, {"epsilon": epsilon, "feature_index": feature_index})
