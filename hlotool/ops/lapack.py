"""LAPACK's routines as programs call them ("lapack_sgetrf_ffi"), on NumPy arrays: SciPy's wrappers of them.

A routine sees matrices as LAPACK does, columns first: the buffers of the call's operands in their layouts. What it
overwrites is given back. Eigenvectors, singular vectors and Schur forms are not unique; which ones come out is
LAPACK's convention, so that no algorithm of another source can stand in. jaxlib requires SciPy, and calls the same
library. Source: LAPACK Users' Guide; jaxlib/cpu/lapack_kernels.cc.

Libraries of GPUs have some of the routines, too ("cusolver_getrf_ffi"). Source: jaxlib/gpu/solver_kernels_ffi.cc and
sparse_kernels.cc; jax/_src/lax/linalg.py.
"""

from __future__ import annotations

import enum
import functools
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from hlotool.ir import HloInstruction, Shape, lazy_dataclass
from hlotool.ir.arrays import Array, np
from hlotool.ops.long_loops import in_time
from hlotool.ops.values import EvaluationError

Config: TypeAlias = Mapping[str, int]
#: the operands of one call of a batch, as the routine may overwrite them, and its configuration -> its results
Routine: TypeAlias = Callable[..., tuple[Any, ...]]


class LapackError(enum.Enum):
    """Rounding errors of a routine, by the sizes that they are shares of.

    Source: Higham, Accuracy and Stability of Numerical Algorithms, chapters 9, 10, 19 and 20.
    """

    #: its results are those of operands of which each element is off by its own size
    OF_ELEMENTS = "elements"
    #: the same, by the length of the element's column
    OF_COLUMNS = "columns"
    #: the same, by the size of the element's matrix
    OF_MATRICES = "matrices"
    #: its results themselves, by the lengths of their columns
    OF_RESULTS = "results"


@lazy_dataclass(frozen=True)
class LapackRoutine:
    """A routine as it is declared here."""

    function: Routine
    #: dimensions of the operands
    ranks: tuple[int, ...]
    error: LapackError
    #: results that hold vectors of which only the direction is defined, in columns and, with the same factors, in rows
    columns: tuple[int, ...] = ()
    rows: tuple[int, ...] = ()
    #: what a positive status, its last result, says
    failure: str = ""
    #: how many roundings of those sizes it is off by
    roundings: float = 4.0

    def refusal(self, results: Sequence[Array]) -> str:
        """Return what a call's status says in words; empty: it found what it was asked for, or has no status."""
        status = np.asarray(results[-1])
        if status.dtype.kind != "i" or not status.any():
            return ""
        first = int(status.flat[np.flatnonzero(status)[0]])
        return self.failure.format(status=first) if first > 0 else "an operand has no value that it takes"

    def with_factors(self, results: Sequence[Array], factor: Callable[[Array], Array]) -> tuple[Array, ...]:
        """Return the results with other directions; `factor` gives numbers of size one for each vector of an array."""
        found = list(results)
        factors = factor(found[self.columns[0]][..., 0, :])
        for place in self.columns:
            found[place] = _with_columns(found[place], factors)
        for place in self.rows:
            found[place] = _with_columns(found[place].swapaxes(-1, -2), np.conj(factors)).swapaxes(-1, -2)
        return tuple(found)


def _with_columns(vectors: Array, factors: Array) -> Array:
    """Return the columns times a factor each; those without one stay."""
    scaled = np.array(vectors)
    count = min(scaled.shape[-1], factors.shape[-1])
    scaled[..., :count] *= factors[..., None, :count]
    return scaled


#: routine -> what is declared of it
_ROUTINES: dict[str, LapackRoutine] = {}
_NO_CONVERGENCE = "its iteration does not converge, or the matrix is not finite"
#: library of GPUs -> the routines that programs call it for
_OF_GPUS = {"solver": ("getrf", "potrf", "geqrf", "orgqr", "ormqr", "sytrd", "syevd", "gesdd", "gesvd", "gesvdj",
                       "gesvdp"),
            "sparse": ("gtsv2",)}
#: platform -> how the targets begin that its runtime has
_OF_PLATFORMS = {"cpu": ("lapack_",), "cuda": ("cu",), "rocm": ("hip",), "gpu": ("cu", "hip")}
#: those of them that are no routines of LAPACK
_ONLY_OF_GPUS = frozenset({"gesvdj", "gesvdp", "gtsv2"})
_FIELD = re.compile(r"(\w+)\s*=\s*(-?\d+|true|false)")
_WORDS = {"true": 1, "false": 0}
#: routines of BLAS
_OF_BLAS = frozenset({"trsm"})
#: rows or columns that a routine may take at a time; its workspace holds so many
_WORK = 64


def _routine(names: str, *ranks: int, error: LapackError = LapackError.OF_MATRICES, columns: tuple[int, ...] = (),
             rows: tuple[int, ...] = (), failure: str = _NO_CONVERGENCE, roundings: float = 4.0
             ) -> Callable[[Routine], Routine]:
    """Declare routines of those names: what they do, their operands' ranks, what they are off by, leave free, say."""

    def declare(function: Routine) -> Routine:
        made = LapackRoutine(function, ranks, error, columns, rows, failure, roundings)
        _ROUTINES.update(dict.fromkeys(names.split(), made))
        return function

    return declare


def names_library(target: str) -> bool:
    """Return True if a custom call's target begins with the name of a library, as most of them do."""
    return target.startswith(tuple(begin for begins in _OF_PLATFORMS.values() for begin in begins))


def is_lapack(target: str) -> bool:
    """Return True if a custom call's target is a routine that is known here."""
    return lapack_routine(target) is not None


def targets_of(routine: str, letters: str = "sdcz") -> tuple[str, ...]:
    """Return the targets under which programs call a routine: on CPUs in the precisions of `letters`, and on GPUs."""
    own = () if routine in _ONLY_OF_GPUS else tuple(f"lapack_{letter}{routine}_ffi" for letter in letters)
    return (*own, *(f"{vendor}{library}_{routine}_ffi" for library, names in _OF_GPUS.items() if routine in names
                    for vendor in ("cu", "hip")))


@functools.cache
def _by_target() -> dict[str, LapackRoutine]:
    return {target: declared for name, declared in _ROUTINES.items() for target in targets_of(name)}


def lapack_targets(platform: str = "") -> frozenset[str]:
    """The targets of all routines, in every precision; or those that a platform's runtime has."""
    begin = _OF_PLATFORMS.get(platform, ()) if platform else ("",)
    return frozenset(target for target in _by_target() if target.startswith(begin))


def lapack_routine(target: str) -> LapackRoutine | None:
    """Return what is declared of a custom call's target; None: it is no routine that is known here."""
    return _by_target().get(target)


def called_routine(instruction: HloInstruction) -> LapackRoutine | None:
    """Return what is declared of the routine that an instruction calls; None: it calls none that is known here."""
    if instruction.opcode != "custom-call":
        return None
    return lapack_routine(str(instruction.attributes.get("custom_call_target", "")))


def error_sizes(error: LapackError, array: Array, layout: Shape) -> Array:
    """Return the size by which each element of an operand or result is off, in roundings of its type."""
    sizes = np.abs(array).astype(np.float64)
    if error is LapackError.OF_ELEMENTS or not array.ndim:
        return sizes
    rank = array.ndim
    minor = layout.minor_to_major[0] if layout.minor_to_major else rank - 1
    first = max(0, rank - 2)
    axis: Any = tuple(range(first, rank)) if error is LapackError.OF_MATRICES else max(minor, first)
    # Squares of what is large or small would be lost.
    most = sizes.max(axis, keepdims=True, initial=0.0)
    scaled = np.sqrt(((sizes / np.where(most > 0, most, 1)) ** 2).sum(axis, keepdims=True))
    return np.broadcast_to(most * scaled, sizes.shape)


def lapack_config(text: str) -> dict[str, int]:
    """Return the numbers of a configuration: `{uplo = 76 : ui8, left = true}`; letters are characters' numbers.

    What libraries of GPUs are told in words, LAPACK's letters say as well: `lower`, `compute_uv`, `full_matrices`.
    """
    found = {name: int(_WORDS.get(value, value)) for name, value in _FIELD.findall(text)}
    if "lower" in found:
        found["uplo"] = ord("L" if found["lower"] else "U")
    if "compute_uv" in found:
        found["mode"] = ord("N" if not found["compute_uv"] else "A" if found.get("full_matrices") else "S")
    return found


def evaluate(target: str, operands: Sequence[Array], layouts: Sequence[Shape], config: str, result: Shape) -> Any:
    """The results of a call. `layouts` are the operands' shapes as the callee sees them.

    Raises EvaluationError for what is not defined here.
    """
    routine = lapack_routine(target)
    assert routine is not None
    ranks = routine.ranks
    if len(operands) != len(ranks):
        raise EvaluationError(f"{target} takes {len(ranks)} operands, {len(operands)} are given")
    seen = [_seen(o, s, rank) for o, s, rank in zip(operands, layouts, ranks, strict=True)]
    results = result.members
    made = _over_batch(routine.function, seen, ranks, lapack_config(config), results)
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
    if operands[0].size:
        rows = [function(*(np.array(o[place], order="F") for o in operands), config=fields, results=results)
                for place in in_time(places)]
    else:  # nothing is left to compute, and LAPACK refuses it
        rows = [tuple(np.zeros(s.dims[len(batch):]) for s in results) for _ in places]
    made: list[Array] = []
    for number in range(len(results)):
        parts = [np.asarray(row[number]) for row in rows]
        buffers = [p.T.reshape(-1) for p in parts]
        made.append(np.concatenate(buffers) if buffers else np.zeros(0))
    return made


def _library(name: str, like: Array) -> Callable[..., Any]:
    """Return the routine of that name for the type of an array; what is wider than f64 is taken as f64."""
    from scipy.linalg import blas, lapack

    letter = {"f": "sd", "c": "cz"}[like.dtype.kind][like.dtype.itemsize > (8 if like.dtype.kind == "c" else 4)]
    found: Callable[..., Any] = getattr(blas if name in _OF_BLAS else lapack, letter + name)
    return found


def _letter(config: Config, name: str, default: str = "") -> str:
    if name not in config and not default:
        raise EvaluationError(f"the configuration has no {name}")
    return chr(config[name]) if name in config else default


def _unless(info: int, *results: Array) -> tuple[Array, ...]:
    """The results, or NaN where a routine found none and left what its buffers held before."""
    return tuple(np.full_like(r, np.nan) for r in results) if info else results


def _nothing(results: Sequence[Shape], *ranks: int) -> tuple[Array, ...]:
    """NaN for results of which a matrix of the batch has so many dimensions."""
    return tuple(np.full(s.dims[s.rank - n:], np.nan, s.dtype.numpy) for s, n in zip(results, ranks, strict=True))


def _is_finite(a: Array) -> bool:
    """Return False for what some routines refuse, which LAPACK says on the terminal."""
    return bool(np.isfinite(a).all())


# Factorisations


@_routine("getrf", 2, failure="the matrix is singular: pivot {status} is zero")
def _getrf(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """L and U with row exchanges; info is the number of the first pivot that is zero."""
    factors, pivots, info = _library("getrf", a)(a)
    return factors, pivots + 1, info


@_routine("potrf", 2, error=LapackError.OF_ELEMENTS,
          failure="the leading minor of order {status} is not positive definite")
def _potrf(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """One triangle is replaced by Cholesky's factor; info is the order of the first minor that is not positive."""
    found: tuple[Any, ...] = _library("potrf", a)(a, lower=_letter(config, "uplo") == "L", clean=False)
    return found


@_routine("geqrf", 2, error=LapackError.OF_COLUMNS)
def _geqrf(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """R above the diagonal, the tails of the reflections below it, and their factors."""
    factors, taus, _, info = _library("geqrf", a)(a)
    return (factors, taus, info)[:len(results)]


@_routine("geqp3", 2, 1, error=LapackError.OF_COLUMNS)
def _geqp3(a: Array, first: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """geqrf of the columns in the order of their remaining lengths. Columns that are to come first are refused."""
    if first.any():
        raise EvaluationError("geqp3 with columns that stay in front is not defined here")
    factors, order, taus, _, info = _library("geqp3", a)(a)
    return (factors, order, taus, info)[:len(results)]


@_routine("orgqr ungqr", 2, 1, error=LapackError.OF_RESULTS)
def _orgqr(a: Array, taus: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """The columns of the product of reflections."""
    name = "ungqr" if np.iscomplexobj(a) else "orgqr"
    columns, _, info = _library(name, a)(a, taus)
    return (columns, info)[:len(results)]


@_routine("ormqr unmqr", 2, 1, 2, error=LapackError.OF_RESULTS)
def _ormqr(a: Array, taus: Array, c: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """c times the product of reflections, or its adjoint, from the left or the right."""
    is_complex = np.iscomplexobj(a)
    left = bool(config["left"]) if "left" in config else _letter(config, "side") == "L"
    is_adjoint = config.get("transpose", config.get("trans", 0)) in (1, ord("T"), ord("C"))
    product, _, info = _library("unmqr" if is_complex else "ormqr", a)(
        "L" if left else "R", ("C" if is_complex else "T") if is_adjoint else "N", a, taus, c, _WORK * max(c.shape))
    return (product, info)[:len(results)]


@_routine("gehrd", 2)
def _gehrd(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Hessenberg's form between rows `low` and `high`, and the reflections that lead there."""
    found: tuple[Any, ...] = _library("gehrd", a)(a, lo=config["low"] - 1, hi=config["high"] - 1)
    return found


@_routine("sytrd hetrd", 2)
def _sytrd(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """The tridiagonal form of a symmetric matrix: both diagonals, and the reflections that lead there."""
    name = "hetrd" if np.iscomplexobj(a) else "sytrd"
    found: tuple[Any, ...] = _library(name, a)(a, lower=_letter(config, "uplo") == "L", lwork=_WORK * len(a))
    return found


# Eigenvalues and singular values


@_routine("syevd heevd", 2, columns=(0,))
def _syevd(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Eigenvalues, ascending, and eigenvectors of a symmetric matrix, one triangle of which is read."""
    name, is_wanted = "heevd" if np.iscomplexobj(a) else "syevd", _letter(config, "mode", "V") == "V"
    values, vectors, info = _library(name, a)(a, compute_v=is_wanted, lower=_letter(config, "uplo") == "L")
    return vectors, values, info


@_routine("gesdd", 2, columns=(2,), rows=(3,))
def _gesdd(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Singular values and vectors, by halving the problem."""
    return _singular("gesdd", a, config, results)


@_routine("gesvd", 2, columns=(2,), rows=(3,))
def _gesvd(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Singular values and vectors, by QR iteration; `transposed`: of the matrix whose rows are the buffer's columns."""
    return _singular("gesvd", a.reshape(a.shape[::-1], order="F") if config.get("transposed") else a, config, results)


# Measured on an H200: singular values of 12 x 6 matrices in f32 that are off by 35 roundings.
@_routine("gesvdj gesvdp", 2, columns=(2, 3), roundings=16.0)
def _gesvdj(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Singular values and vectors, both of them in columns, whether they are asked for or not."""
    mode = ord("A" if config.get("full_matrices") else "S")
    rest, values, left, right, info = _singular("gesdd", a, {"mode": mode}, results)
    return rest, values, left, np.conj(right).T, info


def _singular(name: str, a: Array, config: Config, results: Any) -> tuple[Any, ...]:
    """Singular values, descending, and singular vectors: all (A), as many as there are values (S), or none (N)."""
    mode = _letter(config, "mode", "A")
    if mode not in "ASN":
        raise EvaluationError(f"singular vectors in mode {mode} are not defined here")
    if not _is_finite(a):
        return a, *_nothing(results[1:4], 1, 2, 2), -4
    work = int(_library(f"{name}_lwork", a)(*a.shape, compute_uv=mode != "N", full_matrices=mode == "A")[0].real)
    left, values, right, info = _library(name, a)(a, compute_uv=mode != "N", full_matrices=mode == "A", lwork=work,
                                                  overwrite_a=True)
    if mode == "N":
        left, right = (np.zeros(s.dims[-2:], a.dtype) for s in results[2:4])
    return a, *_unless(info, values, left, right), info


@_routine("geev", 2, columns=(-3, -2))
def _geev(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Eigenvalues of any square matrix, and its left and right eigenvectors, of length 1."""
    sides = [_letter(config, f"compute_{side}", "N") == "V" for side in ("left", "right")]
    if not _is_finite(a):
        return *_nothing(results[:-1], *(1,) * (len(results) - 3), 2, 2), 1
    work = int(_library("geev_lwork", a)(len(a), compute_vl=sides[0], compute_vr=sides[1])[0].real)
    *parts, left, right, info = _library("geev", a)(a, compute_vl=sides[0], compute_vr=sides[1], lwork=work)
    vectors = [_of_pairs(v, parts) if is_wanted else np.zeros(a.shape, np.result_type(a.dtype, np.complex64))
               for v, is_wanted in zip((left, right), sides, strict=True)]
    return (*_unless(info, *parts, *vectors), info)


def _of_pairs(vectors: Array, parts: Sequence[Array]) -> Array:
    """Eigenvectors as complex numbers; of two conjugate ones LAPACK gives the real and the imaginary part."""
    if np.iscomplexobj(vectors):
        return vectors
    found = vectors.astype(np.result_type(vectors.dtype, np.complex64))
    for k in np.flatnonzero(parts[1] > 0):
        found[:, k] = vectors[:, k] + 1j * vectors[:, k + 1]
        found[:, k + 1] = found[:, k].conj()
    return found


@_routine("gees", 2, columns=(1, 0), rows=(0,))
def _gees(a: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """Schur's form and the unitary matrix that leads there: blocks of two for complex pairs."""
    if _letter(config, "sort", "N") != "N":
        raise EvaluationError("a Schur form in a given order is not defined here")
    is_wanted = _letter(config, "mode", "V") == "V"
    if not _is_finite(a):
        return *_nothing(results[:-2], 2, 2, *(1,) * (len(results) - 4)), 0, 1
    form, count, *parts, unitary, _, info = _library("gees", a)(lambda *_: 0, a, compute_v=is_wanted, sort_t=0)
    unitary = unitary if is_wanted else np.zeros_like(a)
    return *_unless(info, form, unitary, *parts), count, info


# Solutions


@_routine("trsm", 2, 2, error=LapackError.OF_ELEMENTS)
def _trsm(a: Array, b: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """x of a x = b or x a = b, of a triangular a."""
    return (_library("trsm", a)(
        1, a, b, side=_letter(config, "side") == "R", lower=_letter(config, "uplo") == "L",
        trans_a="NTC".index(_letter(config, "trans_x", "N")), diag=_letter(config, "diag", "N") == "U"),)


@_routine("gtsv", 1, 1, 1, 2, failure="the matrix is singular: pivot {status} is zero")
def _gtsv(below: Array, middle: Array, above: Array, b: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """x of a x = b, of a tridiagonal a; its first element below the diagonal stands second. Source: LAPACK, ?gtsv."""
    sides = (below[1:], above[:-1]) if len(middle) > 1 else (below, above)
    second, diagonal, beside, x, info = _library("gtsv", middle)(sides[0], middle, sides[1], b)
    return np.append(below[:1], second)[:len(below)], diagonal, np.append(beside, above[-1:])[:len(above)], x, info


@_routine("gtsv2", 1, 1, 1, 2)
def _gtsv2(below: Array, middle: Array, above: Array, b: Array, *, config: Config, results: Any) -> tuple[Any, ...]:
    """x of gtsv alone."""
    return (_gtsv(below, middle, above, b, config=config, results=results)[3],)
