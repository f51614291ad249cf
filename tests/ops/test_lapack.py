"""LAPACK's calls on the reference against LAPACK itself, which PJRT's CPU client calls."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from xla_library import VERSION, since

import hlotool
from hlotool.diagnostics import HloError
from hlotool.ops.lapack import is_lapack, lapack_targets

_TYPES = {"s": "f32", "d": "f64", "c": "c64", "z": "c128"}
_REAL = {"s": "f32", "d": "f64", "c": "f32", "z": "f64"}
_DTYPES = {"f32": "f4", "f64": "f8", "c64": "c8", "c128": "c16"}


def _layout(dims: str, order: str) -> str:
    """The layout of a batch of matrices, columns first or rows first."""
    rank = dims.count(",") + 1 if dims else 0
    if rank < 2:
        return "{0}" if rank else ""
    batch = list(range(rank - 3, -1, -1))
    last = [rank - 2, rank - 1] if order == "columns" else [rank - 1, rank - 2]
    return "{" + ",".join(map(str, last + batch)) + "}"


def _module(letter: str, routine: str, operands: str, results: str, config: str, order: str = "columns",
            vectors: str = "") -> str:
    """A call; shapes are `T 3,3` in the routine's type, `R 3` in the real and `C 3` in the complex one beside it."""
    wide = {"s": "c64", "d": "c128"}.get(letter, _TYPES[letter])

    def shape(text: str, *, laid_out: bool = True) -> str:
        kind, _, dims = text.partition(" ")
        name = {"T": _TYPES[letter], "R": _REAL[letter], "C": wide, "I": "s32"}[kind]
        return f"{name}[{dims}]" + (_layout(dims, order) if laid_out else "")

    given, made = operands.split("; "), results.split("; ")
    lines = [f"  p{i} = {shape(t, laid_out=False)} parameter({i})\n  c{i} = {shape(t)} copy(p{i})"
             for i, t in enumerate(given)]
    result = shape(made[0]) if len(made) == 1 else "(" + ", ".join(map(shape, made)) + ")"
    names = ", ".join(f"c{i}" for i in range(len(given)))
    return "\n".join([
        "ENTRY main {", *lines,
        f"  ROOT r = {result} custom-call({names}), custom_call_target=\"lapack_{letter}{routine}_ffi\", "
        f"operand_layout_constraints={{{', '.join(map(shape, given))}}}, api_version=API_VERSION_TYPED_FFI, "
        f"backend_config={{{config}}}", "}"])


def _arguments(text: str, seed: int = 1) -> list[np.ndarray]:
    random = np.random.default_rng(seed)
    found = []
    for parameter in hlotool.parse(text).entry.parameters():
        shape = parameter.shape
        kind = np.dtype(_DTYPES.get(shape.element_type, "i4"))
        values: Any = np.zeros(shape.dims) if kind == "i4" else random.normal(size=shape.dims)
        found.append((values + 1j * random.normal(size=shape.dims) if kind.kind == "c" else values).astype(kind))
    return found


def _compare(text: str, arguments: list[np.ndarray]) -> None:
    """Both executors give the same factors, their signs and phases included."""
    module = hlotool.parse(text)
    ours, theirs = (hlotool.execute(module, arguments, executor=e) for e in ("reference", "pjrt:cpu"))
    for number, (a, b) in enumerate(zip(ours, theirs, strict=True)):
        tolerance = 1e-5 if a.dtype in (np.float32, np.complex64) else 1e-12
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=f"result {number} of {text}")


_CALLS = {
    "getrf": ("T 2,4,3", "T 2,4,3; I 2,3; I 2", ""),
    "geqrf": ("T 4,3", "T 4,3; T 3", ""),
    "geqp3": ("T 4,3; I 3", "T 4,3; I 3; T 3", ""),
    "gehrd": ("T 5,5", "T 5,5; T 4; I ", "low = 2 : i32, high = 5 : i32"),
    "gesdd": ("T 2,4,3", "T 2,4,3; R 2,3; T 2,4,4; T 2,3,3; I 2", "mode = 65 : ui8"),
    "gesvd": ("T 3,4", "T 3,4; R 3; T 3,3; T 3,4; I ", "mode = 83 : ui8"),
    "gtsv": ("T 5; T 5; T 5; T 5,2", "T 5; T 5; T 5; T 5,2; I ", ""),
    "trsm": ("T 4,4; T 3,4", "T 3,4", "side = 82 : ui8, uplo = 85 : ui8, trans_x = 84 : ui8, diag = 78 : ui8"),
}
_REAL_ONLY = {
    "orgqr": ("T 4,3; T 3", "T 4,3", ""),
    "ormqr": ("T 4,3; T 3; T 4,2", "T 4,2", "left = true, transpose = true"),
    "syevd": ("T 2,3,3", "T 2,3,3; R 2,3; I 2", "mode = 86 : ui8, uplo = 85 : ui8"),
    "sytrd": ("T 4,4", "T 4,4; R 4; R 3; T 3; I ", "uplo = 76 : ui8"),
    "geev": ("T 4,4", "R 4; R 4; C 4,4; C 4,4; I ", "compute_left = 86 : ui8, compute_right = 86 : ui8"),
    "gees": ("T 4,4", "T 4,4; T 4,4; R 4; R 4; I ; I ", "mode = 86 : ui8, sort = 78 : ui8"),
}
_COMPLEX_ONLY = {
    "ungqr": _REAL_ONLY["orgqr"], "unmqr": _REAL_ONLY["ormqr"], "heevd": _REAL_ONLY["syevd"],
    "hetrd": _REAL_ONLY["sytrd"],
    "geev": ("T 4,4", "T 4; T 4,4; T 4,4; I ", "compute_left = 86 : ui8, compute_right = 86 : ui8"),
    "gees": ("T 4,4", "T 4,4; T 4,4; T 4; I ; I ", "mode = 86 : ui8, sort = 78 : ui8"),
}


@pytest.mark.parametrize("letter, name, call", [
    *(("s", n, c) for n, c in {**_CALLS, **_REAL_ONLY}.items()),
    *(("z", n, c) for n, c in {**_CALLS, **_COMPLEX_ONLY}.items())])
def test_a_routine_gives_what_lapack_gives(letter: str, name: str, call: tuple[Any, ...]) -> None:
    if name in ("ormqr", "unmqr") and VERSION < (0, 10, 0):
        pytest.skip("jaxlib 0.10.0 is the first that has it")
    operands, results, config = call
    text = _module(letter, name, operands, results, config)
    _compare(text, _arguments(text))


@pytest.mark.parametrize("name", ["getrf", "geqrf"])
def test_a_routine_sees_rows_as_columns_where_rows_come_first(name: str) -> None:
    operands, results, config = _CALLS[name]
    text = _module("d", name, operands, results, config, "rows")
    _compare(text, _arguments(text))


@since((0, 10, 0), "jaxlib's ?unmqr")
@pytest.mark.parametrize("left", ["true", "false"])
@pytest.mark.parametrize("transpose", ["true", "false"])
def test_products_with_reflections(left: str, transpose: str) -> None:
    text = _module("z", "unmqr", "T 4,3; T 3; T 4,4", "T 4,4", f"left = {left}, transpose = {transpose}")
    _compare(text, _arguments(text))


@pytest.mark.parametrize("name, matrix, info", [
    ("getrf", [[1, 2, 3], [2, 4, 6], [1, 1, 1]], 3), ("getrf", [[0, 2, 3], [0, 4, 6], [0, 1, 1]], 1),
    ("potrf", [[4, 0, 0], [2, 5, 0], [1, 2, 6]], 0), ("potrf", [[4, 0, 0], [4, 1, 0], [1, 2, 6]], 2),
    ("potrf", [[-1, 0, 0], [4, 1, 0], [1, 2, 6]], 1)])
def test_what_a_routine_says_of_itself(name: str, matrix: list[list[int]], info: int) -> None:
    results = "T 3,3; I 3; I " if name == "getrf" else "T 3,3; I "
    text = _module("d", name, "T 3,3", results, "" if name == "getrf" else "uplo = 76 : ui8")
    arguments = [np.array(matrix, float)]
    assert hlotool.execute(hlotool.parse(text), arguments, executor="reference")[-1] == info
    _compare(text, arguments)


@pytest.mark.parametrize("name", ["gesdd", "geev", "gees", "syevd"])
def test_what_is_not_finite_has_no_factors(name: str, capfd: pytest.CaptureFixture[str]) -> None:
    text = _module("s", name, *{**_CALLS, **_REAL_ONLY}[name])
    matrix = _arguments(text)[0]
    matrix[..., 0, 0] = np.nan
    try:
        found = hlotool.execute(hlotool.parse(text), [matrix], executor="reference")
    except HloError as error:
        assert "not finite" in str(error)
    else:
        assert all(np.isnan(a[0]).all() for a in found[1:3] if a.dtype.kind == "f")
    assert not "".join(capfd.readouterr())  # LAPACK would complain on the terminal


@pytest.mark.parametrize("name, operands, results, config", [
    ("getrf", "T 0,0", "T 0,0; I 0; I ", ""), ("gesdd", "T 0,0", "T 0,0; R 0; T 0,0; T 0,0; I ", "mode = 65 : ui8"),
    ("gtsv", "T 1; T 1; T 1; T 1,2", "T 1; T 1; T 1; T 1,2; I ", "")])
def test_matrices_of_nothing_and_of_one_element(name: str, operands: str, results: str, config: str) -> None:
    text = _module("d", name, operands, results, config)
    assert not hlotool.execute(hlotool.parse(text), _arguments(text), executor="reference")[-1].any()


def test_a_schur_form_is_one() -> None:
    text = _module("d", "gees", *_REAL_ONLY["gees"])
    (matrix,) = _arguments(text)
    form, unitary, *_ = hlotool.execute(hlotool.parse(text), [matrix], executor="reference")
    np.testing.assert_allclose(unitary @ form @ unitary.T, matrix, atol=1e-10)
    np.testing.assert_allclose(unitary @ unitary.T, np.eye(4), atol=1e-12)
    assert not np.tril(form, -2).any()


def test_what_is_not_defined_is_refused() -> None:
    text = _module("d", "gees", "T 2,2", "T 2,2; T 2,2; R 2; R 2; I ; I ", "mode = 86 : ui8, sort = 83 : ui8")
    with pytest.raises(HloError, match="in a given order"):
        hlotool.execute(hlotool.parse(text), [np.array([[1.0, 1.0], [0.0, 1.0]])], executor="reference")


def test_targets() -> None:
    assert "lapack_zheevd_ffi" in lapack_targets() and is_lapack("lapack_sgesdd_ffi")
    assert not is_lapack("lapack_sfoo_ffi") and not is_lapack("blas_dgemm")
