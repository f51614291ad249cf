"""Linear algebra and Fourier transforms: cholesky, triangular-solve, fft."""

from __future__ import annotations

import math
from collections.abc import Sequence

from hlotool.ir import HloInstruction, Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.costs import elements_of, extent, flops
from hlotool.ops.curves import DEFINITE, POSITIVE
from hlotool.ops.elementwise import SPECIFICATION
from hlotool.ops.flow import Flow
from hlotool.ops.freedom import Freedom
from hlotool.ops.long_loops import in_time
from hlotool.ops.lowering import Emitter, Lowering, Reader, Value, boolean, enum_attribute, i64_array
from hlotool.ops.numbers import narrow, wide_dtype
from hlotool.ops.random_programs import Draw
from hlotool.ops.registry import op, require
from hlotool.ops.rules import FLOAT_OR_COMPLEX, listed, require_type, same_size


def _require_square(shape: Shape, rank_label: str, square_label: str, what: str) -> None:
    require(shape.rank >= 2, rank_label, f"{what} is {shape.text(False)}; it must have at least 2 dimensions")
    require(same_size(*shape.dims[-2:]), square_label,
            f"{what} is {shape.text(False)}; its last two dimensions must be equal")


def cholesky_shape(a: Shape) -> Shape:
    """Constraints 1 to 3 of cholesky."""
    require_type(a, FLOAT_OR_COMPLEX, "cholesky-c1")
    _require_square(a, "cholesky-c2", "cholesky-c3", "the operand")
    return a


def _emit_cholesky(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    lower = instruction.attributes.get("lower", False)
    return e.op("stablehlo.cholesky", operands, instruction.shape, {"lower": boolean(lower)})


def _lift_cholesky(r: Reader) -> HloInstruction:
    return r.add("cholesky", r.shape(), r.operands(), {"lower": True} if r.bool("lower") else {})


def _draw_cholesky(d: Draw) -> None:
    n, lower = d.between(1, 4), d.chance()
    dims = (*d.dims(most=1, size=2), n, n) if d.chance() else (n, n)
    wide = np.complex128 if d.kind.is_complex else np.float64
    square = d.values(dims, edges=()).astype(wide)
    # Hermitian and, with so much on its diagonal, positive definite; for an edge it is not.
    positive = square @ square.conj().swapaxes(-1, -2) + np.eye(n) * (-9 if d.edge("indefinite") else n)
    d.add("cholesky", d.parameter([positive.astype(d.kind.numpy)], d.dtype), lower=lower)


@flops
def _cost_of_cholesky(instruction: HloInstruction) -> int:
    """n^3 / 3 for each matrix. Source: XLA, HloCostAnalysis::HandleCholesky."""
    a = instruction.operands[0].shape
    return elements_of(a) * extent(a.dims[-1]) // 3


@op(cholesky_shape, lowering=Lowering(_emit_cholesky, _lift_cholesky, ("stablehlo.cholesky",)),
    element_types=FLOAT_OR_COMPLEX, ulps=64.0, freedom=Freedom.BACKWARD, source=SPECIFICATION, draw=_draw_cholesky,
    cost=_cost_of_cholesky, curve=DEFINITE, flow=Flow(updates=(0, 1)))
def cholesky(a: Array, *, lower: bool = False) -> Array:
    """The triangular factor of each positive definite matrix: lower L with L * L^H, or upper U with U^H * U.

    Only the named triangle is read; the other one of the result is zero. A matrix that is not positive definite
    gives NaN.

    C1  The operand is an array of floats or complex numbers.
    C2  It has at least 2 dimensions.
    C3  Its last two dimensions are equal.
    """
    wide = np.complex128 if a.dtype.kind == "c" else np.float64
    matrix = a.astype(wide)
    half = np.tril(matrix) if lower else np.conj(np.swapaxes(np.triu(matrix), -1, -2))
    diagonal = np.real(np.diagonal(half, axis1=-2, axis2=-1))
    strict = np.tril(half, -1)
    full = strict + np.conj(np.swapaxes(strict, -1, -2)) + diagonal[..., None] * np.eye(a.shape[-1], dtype=wide)
    factor = np.zeros_like(full)
    for index in in_time(np.ndindex(*a.shape[:-2])):
        try:
            factor[index] = np.linalg.cholesky(full[index])
        except np.linalg.LinAlgError:
            factor[index] = np.nan
    return narrow(factor if lower else np.conj(np.swapaxes(factor, -1, -2)), a.dtype)


TRANSPOSES = ("NO_TRANSPOSE", "TRANSPOSE", "ADJOINT")


def triangular_solve_shape(a: Shape, b: Shape, *, left_side: bool = False, transpose_a: str) -> Shape:
    """Constraints 1 to 6 of triangular-solve."""
    require_type(a, FLOAT_OR_COMPLEX, "triangular-solve-c1", "a")
    require_type(b, FLOAT_OR_COMPLEX, "triangular-solve-c1", "b")
    both = f"a is {a.text(False)}, b is {b.text(False)}"
    require(a.element_type == b.element_type, "triangular-solve-c1", f"{both}: the element types differ")
    require(a.rank >= 2 and a.rank == b.rank, "triangular-solve-c2",
            f"{both}; both must have the same rank, at least 2")
    _require_square(a, "triangular-solve-c2", "triangular-solve-c3", "a")
    require(all(map(same_size, a.dims[:-2], b.dims[:-2])), "triangular-solve-c4",
            f"{both}: the batch dimensions differ")
    side = b.dims[-2 if left_side else -1]
    require(same_size(side, a.dims[-1]), "triangular-solve-c5",
            f"{both}; with left_side={boolean(left_side)} b must have {a.dims[-1]} "
            f"{'rows' if left_side else 'columns'}, it has {side}", attribute="left_side")
    require(transpose_a in TRANSPOSES, "triangular-solve-c6",
            f"transpose_a is {transpose_a}; it is one of {', '.join(TRANSPOSES)}", attribute="transpose_a")
    return b


def _emit_triangular_solve(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    given = instruction.attributes
    flags = {name: boolean(given.get(name, False)) for name in ("left_side", "lower", "unit_diagonal")}
    return e.op("stablehlo.triangular_solve", operands, instruction.shape, {
        **flags, "transpose_a": enum_attribute("transpose", given["transpose_a"])})


def _lift_triangular_solve(r: Reader) -> HloInstruction:
    flags = {name: True for name in ("left_side", "lower", "unit_diagonal") if r.bool(name)}
    return r.add("triangular-solve", r.shape(), r.operands(), {**flags, "transpose_a": r.word("transpose_a")})


def _draw_triangular_solve(d: Draw) -> None:
    n, m, left, unit = d.between(1, 4), d.between(1, 3), d.chance(), d.chance()
    outer = d.dims(most=1, size=2) if d.chance() else ()
    wide = np.complex128 if d.kind.is_complex else np.float64
    matrix = d.values((*outer, n, n), edges=()).astype(wide) / 4 + (0 if d.edge("singular") else 2) * np.eye(n)
    a = d.parameter([matrix.astype(d.kind.numpy)], d.dtype)
    b = d.argument((*outer, n, m) if left else (*outer, m, n), edges=("zeros",))
    d.add("triangular-solve", a, b, left_side=left, lower=d.chance(), unit_diagonal=unit,
          transpose_a=d.pick(TRANSPOSES))


@flops
def _cost_of_triangular_solve(instruction: HloInstruction) -> int:
    """A multiplication and an addition for each element of b and each row of a, half of which are zeros.

    Source: XLA, HloCostAnalysis::HandleTriangularSolve, which counts the zeros too.
    """
    a, b = (o.shape for o in instruction.operands)
    return elements_of(b) * extent(a.dims[-1])


@op(triangular_solve_shape, element_types=FLOAT_OR_COMPLEX, ulps=64.0, freedom=Freedom.BACKWARD,
    source=SPECIFICATION, lowering=Lowering(
    _emit_triangular_solve, _lift_triangular_solve, ("stablehlo.triangular_solve",)), draw=_draw_triangular_solve,
    cost=_cost_of_triangular_solve, curve=POSITIVE, flow=Flow(updates=(1, None)))
def triangular_solve(a: Array, b: Array, *, left_side: bool = False, lower: bool = False, unit_diagonal: bool = False,
                     transpose_a: str) -> Array:
    """Solve op(a) * x = b (left_side) or x * op(a) = b for x, op being what transpose_a names.

    Only the named triangle of a is read, and with unit_diagonal its diagonal counts as ones. A zero on the diagonal
    divides by zero.

    C1  a and b are arrays of floats or complex numbers of one element type.
    C2  a and b have the same rank, at least 2.
    C3  The last two dimensions of a are equal.
    C4  The batch dimensions of a and b are equal.
    C5  With left_side b has as many rows as a, else as many columns.
    C6  transpose_a is NO_TRANSPOSE, TRANSPOSE or ADJOINT.
    """
    wide = wide_dtype(a.dtype, precise=True)
    matrix, x = a.astype(wide), b.astype(wide)
    if transpose_a != "NO_TRANSPOSE":
        matrix, lower = np.swapaxes(matrix, -1, -2), not lower
        matrix = np.conj(matrix) if transpose_a == "ADJOINT" else matrix
    if not left_side:
        matrix, lower, x = np.swapaxes(matrix, -1, -2), not lower, np.swapaxes(x, -1, -2)
    x = _substituted(matrix, x.copy(), lower, unit_diagonal)
    return narrow(x if left_side else np.swapaxes(x, -1, -2), b.dtype)


def _substituted(matrix: Array, x: Array, lower: bool, unit_diagonal: bool) -> Array:
    """Forward or backward substitution, row by row, for all batches and columns at once."""
    size = matrix.shape[-1]
    with np.errstate(all="ignore"):
        for i in range(size) if lower else reversed(range(size)):
            known = slice(0, i) if lower else slice(i + 1, size)
            x[..., i, :] -= (matrix[..., i, known, None] * x[..., known, :]).sum(-2)
            if not unit_diagonal:
                x[..., i, :] /= matrix[..., i, i, None]
    return x


KINDS_OF_FFT = ("FFT", "IFFT", "RFFT", "IRFFT")


def fft_shape(operand: Shape, *, fft_type: str, fft_length: tuple[int, ...]) -> Shape:
    """Constraints 1 to 5 of fft."""
    require(fft_type in KINDS_OF_FFT, "fft-c1", f"fft_type is {fft_type}; it is one of {', '.join(KINDS_OF_FFT)}",
            attribute="fft_type")
    require(1 <= len(fft_length) <= 3, "fft-c2", f"fft_length={{{listed(fft_length)}}}; it has 1 to 3 entries",
            attribute="fft_length")
    require_type(operand, ("f32", "f64") if fft_type == "RFFT" else ("complex",), "fft-c3")
    text, n = operand.text(False), len(fft_length)
    require(operand.rank >= n, "fft-c4",
            f"the operand is {text}; fft_length={{{listed(fft_length)}}} needs {n} dimensions", attribute="fft_length")
    inner, last = operand.dims[-n:], fft_length[-1]
    if not fft_type.startswith(("R", "IR")):
        # Complex transforms take the operand's own sizes: XLA and StableHLO bind fft_length for real ones only.
        return operand
    expected = (*fft_length[:-1], _half(last)) if fft_type == "IRFFT" else fft_length
    require(min(fft_length) >= 0 and all(map(same_size, inner, expected)), "fft-c5",
            f"the operand is {text}; {fft_type} of length {{{listed(fft_length)}}} needs [...,{listed(expected)}]")
    flags = (*operand.dynamic_flags[:-1], operand.is_bounded_dim(operand.rank - 1))
    if fft_type == "RFFT":
        return Shape.array("c64" if operand.element_type == "f32" else "c128", (*operand.dims[:-1], _half(last)), None,
                           flags)
    return Shape.array(operand.dtype.component.name, (*operand.dims[:-1], last), None, flags)


def _half(length: int) -> int:
    """How many frequencies of a real signal are kept."""
    return length // 2 + 1 if length else 0


def _emit_fft(e: Emitter, instruction: HloInstruction, operands: Sequence[Value]) -> Value:
    given = instruction.attributes
    return e.op("stablehlo.fft", operands, instruction.shape, {
        "fft_type": enum_attribute("fft_type", given["fft_type"]), "fft_length": i64_array(given["fft_length"])})


def _lift_fft(r: Reader) -> HloInstruction:
    return r.add("fft", r.shape(), r.operands(), {"fft_type": r.word("fft_type"), "fft_length": r.ints("fft_length")})


def _draw_fft(d: Draw) -> None:
    length = tuple(d.pick((1, 2, 3, 4, 5, 8)) for _ in range(d.between(1, 3)))
    outer = d.dims(most=1, size=2) if d.chance() else ()
    fft_type = d.pick(("FFT", "IFFT", "IRFFT")) if d.kind.is_complex else "RFFT"
    last = length[-1] // 2 + 1 if fft_type == "IRFFT" else length[-1]
    d.add("fft", d.argument((*outer, *length[:-1], last), edges=("zeros",)), fft_type=fft_type, fft_length=length)


@flops
def _cost_of_fft(instruction: HloInstruction) -> int:
    """5 n log2 n for each transform of n complex numbers, half of it where one side is real."""
    lengths = instruction.attributes["fft_length"]
    arrays = (instruction.shape, instruction.operands[0].shape)
    is_real = any(not s.dtype.is_complex for s in arrays)
    points = max(elements_of(s) for s in arrays)
    # Counted in 2^-20, as products of hostile sizes are too large for floats.
    logarithm = round(sum(math.log2(max(n, 1)) for n in lengths) * (1 << 20))
    return (5 * points * logarithm >> 20) // (2 if is_real else 1)


@op(fft_shape, lowering=Lowering(_emit_fft, _lift_fft, ("stablehlo.fft",)), ulps=128.0, freedom=Freedom.BACKWARD,
    source=SPECIFICATION,
    draw=_draw_fft, cost=_cost_of_fft)
def fft(operand: Array, *, fft_type: str, fft_length: tuple[int, ...], shape: Shape) -> Array:
    """The discrete Fourier transform over the innermost dimensions; inverse ones divide by the number of elements.

    RFFT transforms real numbers and keeps the frequencies that determine the rest; IRFFT is its inverse and ignores
    the imaginary parts of the first and the middle frequency.

    C1  fft_type is FFT, IFFT, RFFT or IRFFT.
    C2  fft_length has 1 to 3 entries.
    C3  RFFT takes f32 or f64, the others complex numbers.
    C4  The operand has at least as many dimensions as fft_length entries.
    C5  RFFT: the innermost dimensions equal fft_length; IRFFT: so do they, the last one being half the length plus 1.
    """
    if not operand.size or not all(fft_length):
        return np.zeros(shape.dims, shape.dtype.numpy)
    axes = tuple(range(operand.ndim - len(fft_length), operand.ndim))
    wide = operand.astype(np.float64 if fft_type == "RFFT" else np.complex128)
    if fft_type in ("RFFT", "IRFFT"):
        transform = np.fft.rfftn if fft_type == "RFFT" else np.fft.irfftn
        return narrow(transform(wide, fft_length, axes), shape.dtype.numpy)
    return narrow((np.fft.fftn if fft_type == "FFT" else np.fft.ifftn)(wide, None, axes), shape.dtype.numpy)
