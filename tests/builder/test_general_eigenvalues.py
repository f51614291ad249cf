"""Eigenvalues, eigenvectors and Schur forms of any square matrix as loops, against what defines them and LAPACK."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.passes.lift import lift_library_calls_recovering

_TYPES = {"s": ("f32", "c64", "f4"), "d": ("f64", "c128", "f8"), "c": ("c64", "c64", "c8"),
          "z": ("c128", "c128", "c16")}


def _call(kind: str, name: str, dims: str, config: str) -> str:
    """geev or gees of f[dims], the last two sizes of which are those of matrices; columns first."""
    sizes = dims.split(",")
    batch = sizes[:-2]
    element, wide, _ = _TYPES[kind]
    outer = [str(n) for n in reversed(range(len(batch)))]
    layout = "{" + ",".join([str(len(batch)), str(len(batch) + 1), *outer]) + "}"
    matrix, values, info = f"{dims}]{layout}", ",".join(sizes[:-1]) + "]", f"s32[{','.join(batch)}]"
    eigenvalues = [f"{element}[{values}"] * (2 if kind in "sd" else 1)
    rows = ([*eigenvalues, f"{wide}[{matrix}", f"{wide}[{matrix}", info] if name == "geev" else
            [f"{element}[{matrix}", f"{element}[{matrix}", *eigenvalues, info, info])
    return f"""ENTRY main {{
  a = {element}[{matrix} parameter(0)
  ROOT r = ({", ".join(rows)}) custom-call(a), custom_call_target="lapack_{kind}{name}_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={{{config}}}
}}"""


_BOTH, _SCHUR = "compute_left = 86 : ui8, compute_right = 86 : ui8", "mode = 86 : ui8, sort = 78 : ui8"


def _lifted(text: str) -> hlotool.HloModule:
    module = hlotool.parse(text)
    (call,) = lift_library_calls_recovering(module)
    assert call.reason == ""
    assert not hlotool.verify(module)
    assert all(i.opcode != "custom-call" for i in module.instructions())
    return module


def _run(module: hlotool.HloModule, a: Any, executor: str = "reference") -> list[Any]:
    return [np.asarray(r) for r in hlotool.execute(module, [a], executor=executor)]


def _random(kind: str, dims: tuple[int, ...], seed: int = 5) -> Any:
    random = np.random.default_rng(seed)
    a = random.normal(size=dims)
    if kind in "cz":
        a = a + 1j * random.normal(size=dims)
    return a.astype(_TYPES[kind][2])


def _adjoint(a: Any) -> Any:
    return a.conj().swapaxes(-1, -2)


def _off(found: Any, wanted: Any) -> float:
    """The largest difference, in units of rounding of the largest element wanted."""
    largest = float(abs(wanted).max()) or 1.0
    return float(abs(found - wanted).max()) / largest / float(np.finfo(wanted.dtype).eps)


_SPECIAL = {
    "zeros": np.zeros((5, 5)), "identity": np.eye(5), "one eigenvector": np.eye(5, k=1),
    "one eigenvector, from below": np.eye(5, k=-1) + 2 * np.eye(5), "a shift, which needs unusual shifts":
    np.roll(np.eye(6), 1, 0), "turns": np.kron(np.eye(2), [[0, 1], [-1, 0]]), "rank one": np.ones((4, 4)),
    "nearly equal": np.kron(np.eye(2), [[1, 1], [1e-12, 1]]), "large": 1e30 * np.arange(1, 17).reshape(4, 4) ** 0.5,
    "small": 1e-30 * np.arange(1, 17).reshape(4, 4) ** 1.5, "triangular from below": np.tril(np.ones((4, 4))) +
    np.diag([0, 1, 2, 3]), "blocks of two": np.kron(np.diag([1, 2, 3]), [[1, 4], [-2, 1]]),
}


def _check_schur(kind: str, a: Any, form: Any, vectors: Any) -> None:
    size = a.shape[-1]
    assert _off(vectors @ form @ _adjoint(vectors), a) < 100
    assert _off(vectors @ _adjoint(vectors), np.broadcast_to(np.eye(size, dtype=a.dtype), a.shape)) < 100
    below = np.tril(form, -1 if kind in "cz" else -2)
    assert not below.any()
    if kind in "sd":
        for k in np.argwhere(np.diagonal(form, -1, -2, -1)):
            (*batch, i) = k
            block = form[(*batch, slice(i, i + 2), slice(i, i + 2))]
            assert block[0, 0] == block[1, 1]
            assert block[0, 1] * block[1, 0] < 0


@pytest.mark.parametrize("kind, dims", [("s", (5, 5)), ("d", (1, 1)), ("d", (2, 3, 3)), ("c", (4, 4)), ("z", (2, 2))])
def test_a_schur_form_is_one(kind: str, dims: tuple[int, ...]) -> None:
    a = _random(kind, dims)
    form, vectors, *_, chosen, info = _run(_lifted(_call(kind, "gees", ",".join(map(str, dims)), _SCHUR)), a)
    assert not info.any()
    assert not chosen.any()
    _check_schur(kind, a, form, vectors)


@pytest.mark.parametrize("name", _SPECIAL)
def test_schur_forms_of_matrices_that_are_not_at_random(name: str) -> None:
    for kind in "sz":
        a = _SPECIAL[name].astype(_TYPES[kind][2])
        n = len(a)
        form, vectors, *_, info = _run(_lifted(_call(kind, "gees", f"{n},{n}", _SCHUR)), a)
        assert not info.any()
        _check_schur(kind, a, form, vectors)


@pytest.mark.parametrize("kind, dims", [("s", (4, 4)), ("d", (2, 1, 3, 3)), ("c", (3, 3)), ("z", (5, 5)),
                                        ("z", (1, 1))])
def test_eigenvectors_are_what_defines_them(kind: str, dims: tuple[int, ...]) -> None:
    a = _random(kind, dims)
    *values, left, right, info = _run(_lifted(_call(kind, "geev", ",".join(map(str, dims)), _BOTH)), a)
    w = values[0] + 1j * values[1] if kind in "sd" else values[0]
    assert not info.any()
    assert _off(right * w[..., None, :], a @ right) < 200
    assert _off(w[..., :, None] * _adjoint(left), _adjoint(left) @ a) < 200
    for side in (left, right):
        assert _off(np.linalg.norm(side, axis=-2), np.ones(w.shape, w.real.dtype)) < 10


@pytest.mark.parametrize("kind", "dz")
def test_eigenvectors_are_those_of_lapack(kind: str) -> None:
    """Also their order, where a matrix needs no balancing; real ones but for their sign, which nothing fixes."""
    text = _call(kind, "geev", "6,6", _BOTH)
    a = _random(kind, (6, 6), seed=2)
    for found, wanted in zip(_run(_lifted(text), a), _run(hlotool.parse(text), a, "pjrt:cpu"), strict=True):
        signs = 1.0
        if kind == "d" and found.ndim == 2:
            signs = np.sign((found.conj() * wanted).real.sum(axis=-2))
        np.testing.assert_allclose(found * signs, wanted, atol=1e-12)


def test_the_eigenvalues_of_a_real_matrix_are_exact_pairs() -> None:
    a = _random("d", (6, 6), seed=2)
    real, imaginary, left, right, _ = _run(_lifted(_call("d", "geev", "6,6", _BOTH)), a)
    (first,) = np.nonzero(imaginary > 0)
    assert first.size
    np.testing.assert_array_equal(real[first], real[first + 1])
    np.testing.assert_array_equal(imaginary[first], -imaginary[first + 1])
    for side in (left, right):
        np.testing.assert_array_equal(side[:, first].conj(), side[:, first + 1])
        assert not side[:, imaginary == 0].imag.any()


def test_vectors_that_are_not_asked_for_are_zeros() -> None:
    text = _call("d", "geev", "3,3", "compute_left = 78 : ui8, compute_right = 86 : ui8")
    *_, left, right, _ = _run(_lifted(text), _random("d", (3, 3)))
    assert not left.any()
    assert right.all()


@pytest.mark.parametrize("name, config", [("geev", _BOTH), ("gees", _SCHUR)])
def test_one_matrix_of_a_batch_that_is_not_finite_is_told(name: str, config: str) -> None:
    a = _random("d", (2, 3, 3))
    a[1, 0, 2] = np.inf
    *parts, info = _run(_lifted(_call("d", name, "2,3,3", config)), a)
    assert info.tolist() == [0, 1]
    for part in parts:
        if part.dtype.kind in "fc":
            assert np.isnan(part[1]).all()
            assert np.isfinite(part[0]).all()


def test_no_rows_have_no_eigenvalues() -> None:
    *values, info = _run(_lifted(_call("z", "geev", "0,0", _BOTH)), np.zeros((0, 0), complex))
    assert [v.shape for v in values] == [(0,), (0, 0), (0, 0)]
    assert info == 0


def test_a_composite_of_stablehlo_comes_back_with_the_same_values() -> None:
    module = hlotool.parse(_call("s", "geev", "3,3", _BOTH))
    program = hlotool.to_stablehlo(module)
    assert 'stablehlo.composite "lapack.sgeev"' in str(program)
    assert "custom_call" not in str(program)
    a = _random("s", (3, 3))
    for found, wanted in zip(_run(hlotool.from_stablehlo(program), a), _run(_lifted(str(module)), a), strict=True):
        np.testing.assert_array_equal(found, wanted)


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="compiling nested loops takes seconds")
@pytest.mark.parametrize("kind", "sdcz")
def test_loops_compile(kind: str) -> None:
    a = _random(kind, (12, 12))
    form, vectors, *_, info = _run(_lifted(_call(kind, "gees", "12,12", _SCHUR)), a, "pjrt:cpu")
    assert info == 0
    _check_schur(kind, a, form, vectors)
