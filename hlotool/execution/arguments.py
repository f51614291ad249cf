"""Arguments to run a module on when the user gives none: the same for the same seed, and such that programs like them.

    floats      normal around 0 with deviation 1; f4, f6 and f8 types the same, rounded
    integers    0 to 3, so that they serve as indices, counts and class numbers of small models
    pred        false and true
    complex     both halves as floats

The special set holds, in turn through each array: 0, -0, 1, -1, a value near the largest, near the smallest, the
infinities and NaN for floats; 0, 1, the largest and the smallest for integers of a width below 64 bits.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hlotool.diagnostics import HloError
from hlotool.execution.codes import UNSUPPORTED
from hlotool.execution.program import Program
from hlotool.execution.sizes import leaves
from hlotool.ir import DType, HloInstruction, Shape
from hlotool.ir.arrays import Array, np

#: NumPy's, since its version 2
_MOST_DIMENSIONS = 64
#: how the sets of `argument_sets` differ
KINDS = ("random", "positive", "special")


def arguments_for(program: Program, seed: int = 0, kind: str = "random") -> list[Array]:
    """The arguments of one device. Raises HloError for parameters of more dimensions than arrays have."""
    for shape in program.parameters:
        if shape.is_array and shape.rank > _MOST_DIMENSIONS:
            raise HloError.of(UNSUPPORTED, f"a parameter has {shape.rank} dimensions; arrays have at most "
                              f"{_MOST_DIMENSIONS}")
    generator = np.random.default_rng(seed)
    return [_argument(generator, shape, kind) for shape in program.parameters if shape.is_array]


def _argument(generator: np.random.Generator, shape: Shape, kind: str) -> Array:
    dtype, dims = shape.dtype, shape.dims
    if dtype.family == "pred":
        return generator.integers(0, 2, dims).astype(np.bool_)
    if dtype.is_complex:
        halves = [_floats(generator, dims, kind, dtype) for _ in (0, 1)]
        made = np.empty(dims, dtype.numpy)
        made.real, made.imag = halves
        return made
    if dtype.is_floating:
        with np.errstate(all="ignore"):
            return np.asarray(_floats(generator, dims, kind, dtype)).astype(dtype.numpy)
    if kind == "special" and dtype.bits < 64:
        return np.resize(np.array(_special_integers(dtype), np.int64), dims).astype(dtype.numpy)
    # A signed type of b bits holds 2^(b-1) non-negative values.
    top = min(4, 1 << (dtype.bits - dtype.is_signed))
    return generator.integers(0, top, dims).astype(dtype.numpy)


def _special_integers(dtype: DType) -> tuple[int, ...]:
    if dtype.is_signed:
        top = 1 << (dtype.bits - 1)
        return (0, 1, -1, top - 1, -top) if dtype.bits > 1 else (0, -1)
    return (0, 1, (1 << dtype.bits) - 1)


def _floats(generator: np.random.Generator, dims: tuple[int, ...], kind: str, dtype: DType) -> Array:
    if kind == "special":
        half = np.dtype("float64" if dtype.name in ("c128", "f64") else "float32") if dtype.bits >= 32 else dtype.numpy
        values = _special_floats(half)
        return np.resize(values, dims)
    drawn = generator.normal(size=dims)
    return np.abs(drawn) + 0.5 if kind == "positive" else drawn


def _special_floats(dtype: Any) -> Array:
    import ml_dtypes

    limits = ml_dtypes.finfo(dtype)
    values = [0.0, -0.0, 1.0, -1.0, float(limits.max), float(limits.tiny), 0.5, -2.0, np.inf, -np.inf, np.nan]
    return np.array(values, np.float64)


def rows_of(parameters: Sequence[HloInstruction], wanted: Sequence[HloInstruction],
            rows: Sequence[Sequence[Array]]) -> list[list[Array]]:
    """Return the leaves of the wanted parameters among the arguments for all of them, for each device."""
    owners = [p for p in parameters for _ in leaves(p.shape)]
    return [[leaf for w in wanted for leaf, owner in zip(row, owners, strict=True) if owner is w] for row in rows]
