"""LAPACK's routines as compilers for CPUs call them ("lapack_sgetrf_ffi"), on NumPy arrays.

A routine sees matrices as LAPACK does, columns first: the buffers of the call's operands in their layouts. What it
overwrites is given back. Signs are LAPACK's where it fixes them (Householder vectors, pivots); those of eigenvectors
and singular vectors are the ones of NumPy's own LAPACK. Source: LAPACK Users' Guide; jaxlib/cpu/lapack_kernels.cc.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hlotool.ir import Shape
from hlotool.ir.arrays import Array, np
from hlotool.ops.long_loops import in_time
from hlotool.ops.values import EvaluationError

Config: TypeAlias = Mapping[str, int]
#: the operands of one call of a batch, as the routine may overwrite them, and its configuration -> its results
Routine: TypeAlias = Callable[..., tuple[Any, ...]]

#: routine -> function, and how many dimensions its operands have
_ROUTINES: dict[str, tuple[Routine, tuple[int, ...]]] = {}
_TARGET = re.compile(r"lapack_[sdcz](?P<routine>\w+)_ffi")
_FIELD = re.compile(r"(\w+)\s*=\s*(-?\d+|true|false)")
_WORDS = {"true": 1, "false": 0}


def _routine(names: str, *ranks: int) -> Callable[[Routine], Routine]:
    """Declare what routines of those names do, and the ranks of their operands."""

    def declare(function: Routine) -> Routine:
        _ROUTINES.update(dict.fromkeys(names.split(), (function, ranks)))
        return function

    return declare


def is_lapack(target: str) -> bool:
    """Return True if a custom call's target is a routine that is known here."""
    found = _TARGET.fullmatch(target)
    return found is not None and found["routine"] in _ROUTINES


def lapack_targets() -> frozenset[str]:
    """The targets of all routines, in every precision that LAPACK has them in."""
    return frozenset(f"lapack_{letter}{name}_ffi" for name in _ROUTINES for letter in "sdcz")


def lapack_config(text: str) -> dict[str, int]:
    """Return the numbers of a configuration: `{uplo = 76 : ui8, left = true}`; letters are characters' numbers."""
    return {name: int(_WORDS.get(value, value)) for name, value in _FIELD.findall(text)}


def evaluate(target: str, operands: Sequence[Array], layouts: Sequence[Shape], config: str, result: Shape) -> Any:
    """The results of a call. `layouts` are the operands' shapes as the callee sees them.

    Raises EvaluationError for what is not defined here.
    """
    found = _TARGET.fullmatch(target)
    assert found is not None
    function, ranks = _ROUTINES[found["routine"]]
    if len(operands) != len(ranks):
        raise EvaluationError(f"{target} takes {len(ranks)} operands, {len(operands)} are given")
    seen = [_seen(o, s, rank) for o, s, rank in zip(operands, layouts, ranks, strict=True)]
    results = result.elements if result.is_tuple else (result,)
    made = _over_batch(function, seen, ranks, lapack_config(config), results)
    given = tuple(_given_back(m, s) for m, s in zip(made, results, strict=True))
    return given if result.is_tuple else given[0]


def _seen(array: Array, shape: Shape, rank: int) -> Array:
    """The buffer of an operand as a batch of matrices, columns first, or of vectors."""
    order = tuple(reversed(shape.minor_to_major))
    buffer = np.transpose(array, order).reshape(-1)
    dims = shape.dims
    if rank < 2:
        return buffer.reshape(dims)
    return buffer.reshape(*dims[:-2], dims[-1], dims[-2]).swapaxes(-1, -2)


def _given_back(buffer: Array, shape: Shape) -> Array:
    """The array of a result's buffer."""
    order = tuple(reversed(shape.minor_to_major))
    laid_out = buffer.reshape(tuple(shape.dims[d] for d in order))
    return np.asarray(np.transpose(laid_out, np.argsort(order)).astype(shape.dtype.numpy), order="C")


def _over_batch(function: Routine, operands: Sequence[Array], ranks: Sequence[int], fields: Config,
                results: Sequence[Shape]) -> list[Array]:
    """The buffers of the routine's results, one element of the batch after the other."""
    batch = operands[0].shape[:operands[0].ndim - ranks[0]]
    places = list(np.ndindex(*batch))
    rows = [function(*(np.array(o[place]) for o in operands), config=fields, results=results) for place in places]
    made: list[Array] = []
    for number in in_time(range(len(results))):
        parts = [np.asarray(row[number]) for row in rows]
        buffers = [p.T.reshape(-1) for p in parts]
        made.append(np.concatenate(buffers) if buffers else np.zeros(0))
    return made


def _letter(config: Config, name: str, default: str = "") -> str:
    if name not in config and not default:
        raise EvaluationError(f"the configuration has no {name}")
    return chr(config[name]) if name in config else default


# Factorisations


def _size(x: Array) -> Array:
    """Return the sizes by which LAPACK compares pivots: of complex numbers, the sum of both parts' sizes."""
    return abs(x.real) + abs(x.imag) if np.iscomplexobj(x) else abs(x)


@_routine("getrf", 2)
def _getrf(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """L and U with row exchanges; info is the number of the first pivot that is zero."""
    rows, columns = a.shape
    pivots, info = np.arange(1, min(rows, columns) + 1, dtype=np.int32), 0
    for k in in_time(range(min(rows, columns))):
        sizes = _size(a[k:, k])
        pivot = k + int(sizes.argmax() if not np.isnan(sizes).all() else 0)
        pivots[k] = pivot + 1
        if a[pivot, k] == 0:
            info = info or k + 1
            continue
        a[[k, pivot]] = a[[pivot, k]]
        a[k + 1:, k] = a[k + 1:, k] / a[k, k]
        a[k + 1:, k + 1:] -= np.outer(a[k + 1:, k], a[k, k + 1:])
    return a, pivots, info


@_routine("potrf", 2)
def _potrf(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """One triangle is replaced by Cholesky's factor; info is the order of the first minor that is not positive."""
    lower = _letter(config, "uplo") == "L"
    low = a if lower else a.conj().T
    for k in in_time(range(len(a))):
        pivot = (low[k, k] - low[k, :k] @ low[k, :k].conj()).real
        if not pivot > 0:
            low[k, k] = pivot
            return (low if lower else low.conj().T), k + 1
        low[k, k] = np.sqrt(pivot)
        low[k + 1:, k] = (low[k + 1:, k] - low[k + 1:, :k] @ low[k, :k].conj()) / low[k, k]
    return (low if lower else low.conj().T), 0


def _reflector(alpha: Any, x: Array) -> tuple[Any, Array, Any]:
    """beta, the vector's tail and tau of the reflection that leaves only beta. Source: LAPACK, ?larfg."""
    norm, real, imaginary = np.linalg.norm(x), np.real(alpha), np.imag(alpha)
    if norm == 0 and imaginary == 0:
        return alpha, x, alpha * 0
    beta = -np.copysign(np.hypot(np.hypot(real, imaginary), norm), real)
    tau = (beta - real) / beta if not np.iscomplexobj(x) else complex((beta - real) / beta, -imaginary / beta)
    return beta, x / (alpha - beta), tau


def _reflect(a: Array, tail: Array, tau: Any) -> None:
    """a less tau v v^H a, in place; v begins with a one."""
    vector = np.concatenate((np.ones(1, a.dtype), tail))
    a -= np.outer(tau * vector, vector.conj() @ a)


@_routine("geqrf", 2)
def _geqrf(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """R above the diagonal, the tails of the reflections below it, and their factors."""
    count = min(a.shape)
    taus = np.zeros(count, a.dtype)
    for k in in_time(range(count)):
        a[k, k], a[k + 1:, k], taus[k] = _reflector(a[k, k], a[k + 1:, k])
        _reflect(a[k:, k + 1:], a[k + 1:, k], np.conj(taus[k]))
    return (a, taus, 0)[:len(results)]


@_routine("geqp3", 2, 1)
def _geqp3(a: Array, first: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """geqrf of the columns in the order of their remaining lengths. Columns that are to come first are refused."""
    if first.any():
        raise EvaluationError("geqp3 with columns that stay in front is not defined here")
    count, order = min(a.shape), np.arange(1, a.shape[1] + 1, dtype=np.int32)
    taus = np.zeros(count, a.dtype)
    for k in in_time(range(count)):
        pivot = k + int(np.linalg.norm(a[k:, k:], axis=0).argmax())
        a[:, [k, pivot]], order[[k, pivot]] = a[:, [pivot, k]], order[[pivot, k]]
        a[k, k], a[k + 1:, k], taus[k] = _reflector(a[k, k], a[k + 1:, k])
        _reflect(a[k:, k + 1:], a[k + 1:, k], np.conj(taus[k]))
    return (a, order, taus, 0)[:len(results)]


@_routine("orgqr ungqr", 2, 1)
def _orgqr(a: Array, taus: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """The columns of the product of reflections."""
    q = np.eye(*a.shape, dtype=a.dtype)
    for k in reversed(range(len(taus))):
        _reflect(q[k:], a[k + 1:, k], taus[k])
    return (q, 0)[:len(results)]


@_routine("ormqr unmqr", 2, 1, 2)
def _ormqr(a: Array, taus: Array, c: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """c times the product of reflections, or its adjoint, from the left or the right."""
    left = bool(config["left"]) if "left" in config else _letter(config, "side") == "L"
    given = config.get("transpose", config.get("trans", 0))
    adjoint = given in (1, ord("T"), ord("C"))
    side = c if left else c.conj().T
    # From the right: (c q)^H is q^H c^H.
    order = range(len(taus)) if adjoint == left else reversed(range(len(taus)))
    for k in order:
        _reflect(side[k:], a[k + 1:, k], np.conj(taus[k]) if adjoint == left else taus[k])
    return ((side if left else side.conj().T), 0)[:len(results)]


@_routine("gehrd", 2)
def _gehrd(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Hessenberg's form between rows `low` and `high`, and the reflections that lead there."""
    first, last = config["low"] - 1, config["high"]
    taus = np.zeros(max(len(a) - 1, 0), a.dtype)
    for k in range(first, last - 1):
        a[k + 1, k], a[k + 2:last, k], taus[k] = _reflector(a[k + 1, k], a[k + 2:last, k])
        tail = a[k + 2:last, k].copy()
        from_right = a[:last, k + 1:last].conj().T
        _reflect(from_right, tail, np.conj(taus[k]))
        a[:last, k + 1:last] = from_right.conj().T
        _reflect(a[k + 1:last, k + 1:], tail, np.conj(taus[k]))
    return a, taus, 0


@_routine("sytrd hetrd", 2)
def _sytrd(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """The tridiagonal form of a symmetric matrix: both diagonals, and the reflections that lead there."""
    if _letter(config, "uplo") != "L":
        raise EvaluationError("sytrd of the upper triangle is not defined here")
    size = len(a)
    beside, taus = np.zeros(max(size - 1, 0), a.real.dtype), np.zeros(max(size - 1, 0), a.dtype)
    for k in in_time(range(size - 1)):
        beta, tail, tau = _reflector(a[k + 1, k], a[k + 2:, k])
        vector = np.concatenate((np.ones(1, a.dtype), tail))
        rest = np.tril(a[k + 1:, k + 1:], -1)
        whole = rest + rest.conj().T + np.diag(np.diag(a[k + 1:, k + 1:]).real)
        x = tau * (whole @ vector)
        w = x - tau * (x.conj() @ vector) / 2 * vector
        update = np.outer(vector, w.conj()) + np.outer(w, vector.conj())
        a[k + 1:, k + 1:] -= np.tril(update)
        a[k + 1, k], a[k + 2:, k], beside[k], taus[k] = beta, tail, np.real(beta), tau
    middle = np.diag(a).real
    np.fill_diagonal(a, middle)
    return a, middle, beside, taus, 0


# Eigenvalues and singular values


def _is_finite(*arrays: Array) -> bool:
    return all(bool(np.isfinite(a).all()) for a in arrays)


@_routine("syevd heevd", 2)
def _syevd(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix, one triangle of which is read."""
    if not _is_finite(a):
        return np.full_like(a, np.nan), np.full(len(a), np.nan), len(a) + 1
    values, vectors = np.linalg.eigh(a, UPLO="L" if _letter(config, "uplo") == "L" else "U")
    return (vectors if _letter(config, "mode", "V") == "V" else a), values, 0


@_routine("gesdd gesvd", 2)
def _gesdd(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Singular values, descending, and singular vectors: all (A), as many as there are values (S), or none (N)."""
    mode = _letter(config, "mode", "A")
    if mode not in "ASN":
        raise EvaluationError(f"singular vectors in mode {mode} are not defined here")
    if not _is_finite(a):
        shapes = [s.dims[-2:] for s in results[2:4]]
        return a, np.full(min(a.shape), np.nan), *(np.full(s, np.nan) for s in shapes), -4
    if mode == "N":
        values = np.linalg.svd(a, compute_uv=False)
        return a, values, *(np.zeros(s.dims[-2:], a.dtype) for s in results[2:4]), 0
    left, values, right = np.linalg.svd(a, full_matrices=mode == "A")
    return a, values, left, right, 0


@_routine("geev", 2)
def _geev(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Eigenvalues of any square matrix, and its left and right eigenvectors, of length 1."""
    is_real, size = not np.iscomplexobj(a), len(a)
    wide = np.result_type(a.dtype, np.complex64)
    if not _is_finite(a):
        nothing = np.full((size, size), np.nan, wide)
        values, left, right, info = np.full(size, np.nan, wide), nothing, nothing, 1
    else:
        values, right = np.linalg.eig(a)
        values, right, info = values.astype(wide), right.astype(wide), 0
        left = np.zeros_like(right)
        if _letter(config, "compute_left", "N") == "V":
            left = _left_vectors(right)
        if _letter(config, "compute_right", "N") != "V":
            right = np.zeros_like(right)
    parts = (values.real, values.imag) if is_real else (values,)
    return (*parts, left, right, info)


def _left_vectors(right: Array) -> Array:
    """The rows of the inverse, of length 1, their largest element real."""
    try:
        left = np.linalg.inv(right).conj().T
    except np.linalg.LinAlgError:
        raise EvaluationError("left eigenvectors of a matrix that lacks eigenvectors are not defined here") from None
    left = left / np.linalg.norm(left, axis=0)
    largest = np.take_along_axis(left, abs(left).argmax(0)[None], 0)
    return np.asarray(left * (largest.conj() / abs(largest)))


@_routine("gees", 2)
def _gees(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Schur's form and the unitary matrix that leads there, from eigenvectors: blocks of two for complex pairs."""
    if _letter(config, "sort", "N") != "N":
        raise EvaluationError("a Schur form in a given order is not defined here")
    if not _is_finite(a):
        raise EvaluationError("a Schur form of what is not finite is not defined here")
    wide = a.astype(np.result_type(a.dtype, np.float64))
    values, vectors = np.linalg.eig(wide)
    is_real = not np.iscomplexobj(a)
    columns = [(v.real if not is_real or w.imag >= 0 else v.imag) if is_real else v
               for w, v in zip(values, vectors.T, strict=True)]
    unitary = np.linalg.qr(np.stack(columns, 1) if columns else wide)[0]
    if is_real:
        _standardise(wide, unitary, values)
    form = unitary.conj().T @ wide @ unitary
    kept = np.triu(form)
    if is_real and len(a) > 1:
        kept += np.diag(np.where(values.imag[:-1] > 0, np.diag(form, -1), 0), -1)
    scale = np.linalg.norm(wide) + 1e-300
    if np.linalg.norm(unitary @ kept @ unitary.conj().T - wide) > 1e-8 * scale:
        raise EvaluationError("the Schur form of a matrix that lacks eigenvectors is not defined here")
    parts = (values.real, values.imag) if is_real else (values,)
    return kept, unitary, *parts, 0, 0


def _standardise(a: Array, unitary: Array, values: Array) -> None:
    """Turn each block of two until its diagonal is one number twice. Source: LAPACK, ?lanv2."""
    for k in np.flatnonzero(values.imag > 0):
        pair = unitary[:, k:k + 2]
        block = pair.T @ a @ pair
        angle = np.arctan2(block[1, 1] - block[0, 0], block[0, 1] + block[1, 0]) / 2
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]])
        unitary[:, k:k + 2] = pair @ turn


# Solutions


@_routine("trsm", 2, 2)
def _trsm(a: Array, b: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """x of a x = b or x a = b, of a triangular a."""
    lower, how = _letter(config, "uplo") == "L", _letter(config, "trans_x", "N")
    a = np.tril(a) if lower else np.triu(a)
    if _letter(config, "diag", "N") == "U":
        np.fill_diagonal(a, 1)
    if how != "N":
        a, lower = (a.T if how == "T" else a.conj().T), not lower
    left = _letter(config, "side") == "L"
    if not left:
        a, b, lower = a.T, b.T, not lower
    x = np.array(b)
    order = range(len(a)) if lower else reversed(range(len(a)))
    for k in order:
        x[k] = x[k] / a[k, k]
        rest = slice(k + 1, None) if lower else slice(None, k)
        x[rest] -= np.outer(a[rest, k], x[k])
    return (x if left else x.T,)


@_routine("gtsv", 1, 1, 1, 2)
def _gtsv(below: Array, middle: Array, above: Array, b: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """x of a x = b, of a tridiagonal a; its first element below the diagonal stands second. Source: LAPACK, ?gtsv."""
    size = len(middle)
    dl = below[1:]
    for k in in_time(range(size - 1)):
        if _size(middle[k]) >= _size(dl[k]):
            if middle[k] == 0:
                return below, middle, above, b, k + 1
            factor = dl[k] / middle[k]
            middle[k + 1] -= factor * above[k]
            b[k + 1] -= factor * b[k]
            if k < size - 2:
                dl[k] = 0
            continue
        factor = middle[k] / dl[k]
        middle[k], following = dl[k], middle[k + 1]
        middle[k + 1] = above[k] - factor * following
        if k < size - 2:
            dl[k] = above[k + 1]
            above[k + 1] = -factor * dl[k]
        above[k] = following
        b[[k, k + 1]] = b[[k + 1, k]]
        b[k + 1] = b[k + 1] - factor * b[k]
    if size and middle[-1] == 0:
        return below, middle, above, b, size
    for k in reversed(range(size)):
        total = b[k]
        if k + 1 < size:
            total = total - above[k] * b[k + 1]
        if k + 2 < size:
            total = total - dl[k] * b[k + 2]
        b[k] = total / middle[k]
    return below, middle, above, b, 0
