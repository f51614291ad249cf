"""LAPACK's calls of before 2024: sizes and letters as operands, memory to work in among the results."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.passes.legalize import legalize, needs_legalizing
from hlotool.passes.lift import lift_library_calls_recovering


def _text(target: str, scalars: str, operands: str, results: str) -> str:
    """A call of constants (`u8:86` is one of another type) and arrays."""
    lines, names = [], []
    for number, word in enumerate(scalars.split()):
        kind, _, value = word.rpartition(":")
        lines.append(f"  n{number} = {kind or 's32'}[] constant({value})")
        names.append(f"n{number}")
    shapes = operands.split()
    for number, shape in enumerate(shapes):
        lines.append(f"  p{number} = {shape} parameter({number})")
        names.append(f"p{number}")
    given = ", ".join(f"{s.split('[')[0]}[]" for s in (f"{w.rpartition(':')[0] or 's32'}[]" for w in scalars.split()))
    constraints = ", ".join(filter(None, (given, ", ".join(shapes))))
    made = results.split()
    whole = f"({', '.join(made)})" if len(made) > 1 else made[0]
    return "\n".join(["ENTRY main {", *lines, f"  ROOT r = {whole} custom-call({', '.join(names)}), "
                      f'custom_call_target="{target}", operand_layout_constraints={{{constraints}}}', "}"])


def _results(text: str, arguments: list[Any], executor: str) -> list[Any]:
    return list(hlotool.execute(hlotool.parse(text), arguments, executor=executor))


_A, _B = np.random.default_rng(0).normal(size=(4, 4)), np.random.default_rng(1).normal(size=(4, 2))
_S = _A @ _A.T + np.eye(4)
_SQUARE = "f64[4,4]{0,1}"


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
def test_factorisations(executor: str) -> None:
    text = _text("lapack_dgetrf", "1 4 4", _SQUARE, f"{_SQUARE} s32[4]{{0}} s32[]")
    lu, pivots, info = _results(text, [_A], executor)
    rows = _A.copy()
    for k, pivot in enumerate(pivots - 1):
        rows[[k, pivot]] = rows[[pivot, k]]
    np.testing.assert_allclose((np.tril(lu, -1) + np.eye(4)) @ np.triu(lu), rows, atol=1e-12)
    assert info == 0
    text = _text("lapack_dpotrf", "1 1 4", _SQUARE, f"{_SQUARE} s32[]")
    np.testing.assert_allclose(np.tril(_results(text, [_S], executor)[0]), np.linalg.cholesky(_S), atol=1e-12)
    text = _text("lapack_dpotrf", "0 1 4", _SQUARE, f"{_SQUARE} s32[]")
    np.testing.assert_allclose(np.triu(_results(text, [_S], executor)[0]), np.linalg.cholesky(_S).T, atol=1e-12)
    text = _text("lapack_dgeqrf", "1 4 4 64", _SQUARE, f"{_SQUARE} f64[4]{{0}} s32[] f64[64]{{0}}")
    form, taus, info, _ = _results(text, [_A], executor)
    text = _text("lapack_dorgqr", "1 4 4 4 64", f"{_SQUARE} f64[4]{{0}}", f"{_SQUARE} s32[] f64[64]{{0}}")
    np.testing.assert_allclose(_results(text, [form, taus], executor)[0] @ np.triu(form), _A, atol=1e-12)


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
def test_spectra(executor: str) -> None:
    text = _text("lapack_dsyevd", "1 1 4", _SQUARE, f"{_SQUARE} f64[4]{{0}} s32[] f64[99]{{0}} s32[23]{{0}}")
    v, w, info, *_ = _results(text, [_S], executor)
    np.testing.assert_allclose(v * w @ v.T, _S, atol=1e-12)
    assert info == 0
    text = _text("lapack_dgesdd", "0 1 1 4 2 99", "f64[4,2]{0,1}",
                 "f64[4,2]{0,1} f64[2]{0} f64[4,2]{0,1} f64[2,2]{0,1} s32[] s32[32]{0} f64[99]{0}")
    _, s, u, v, *_ = _results(text, [_B], executor)
    np.testing.assert_allclose(u * s @ v, _B, atol=1e-12)
    text = _text("lapack_dgeev", "1 4 u8:78 u8:86", _SQUARE, f"{_SQUARE} {_SQUARE} {_SQUARE} f64[4]{{0}} f64[4]{{0}} "
                 "c128[4,4]{0,1} c128[4,4]{0,1} s32[]")
    _, _, _, real, imaginary, _, right, info = _results(text, [_A], executor)
    np.testing.assert_allclose(_A @ right, right * (real + 1j * imaginary), atol=1e-12)
    text = _text("lapack_dgees", "1 4 u8:86 u8:78", _SQUARE,
                 f"{_SQUARE} f64[4]{{0}} f64[4]{{0}} {_SQUARE} s32[] s32[]")
    form, _, _, unitary, *_ = _results(text, [_A], executor)
    np.testing.assert_allclose(unitary @ form @ unitary.T, _A, atol=1e-12)
    text = _text("lapack_dgehrd", "4 1 4 4 1 64", _SQUARE, f"{_SQUARE} f64[3]{{0}} s32[] f64[64]{{0}}")
    assert _results(text, [_A], executor)[0].shape == (4, 4)
    text = _text("lapack_dsytrd", "4 1 4 1 64", _SQUARE,
                 f"{_SQUARE} f64[4]{{0}} f64[3]{{0}} f64[3]{{0}} s32[] f64[64]{{0}}")
    _, d, e, *_ = _results(text, [_S], executor)
    np.testing.assert_allclose(np.linalg.eigvalsh(np.diag(d) + np.diag(e, 1) + np.diag(e, -1)), np.linalg.eigvalsh(_S))


@pytest.mark.parametrize("left, lower, transposed, unit", [(1, 1, 0, 0), (0, 0, 1, 0), (1, 0, 1, 1)])
def test_triangular_systems(left: int, lower: int, transposed: int, unit: int) -> None:
    b = "f64[4,2]{0,1}" if left else "f64[2,4]{0,1}"
    text = _text("blas_dtrsm", f"{left} {lower} {transposed} {unit} 1 4 2 f64:1", f"{_SQUARE} {b}", b)
    right = _B if left else _B.T
    (found,) = _results(text, [_A, right], "reference")
    a = np.tril(_A) if lower else np.triu(_A)
    if unit:
        a = a - np.diag(np.diag(a)) + np.eye(4)
    a = a.T if transposed else a
    np.testing.assert_allclose(a @ found if left else found @ a, right, atol=1e-11)
    assert not needs_legalizing(hlotool.parse(text.replace("f64[] constant(1)", "f64[] constant(2)")))


def test_the_first_typed_calls_had_memory_to_work_in() -> None:
    text = _text("lapack_dgeqrf_ffi", "", "f64[4,2]{0,1}", "f64[4,2]{0,1} f64[2]{0} s32[] f64[64]{0}")
    text = text.replace("custom_call_target", "api_version=API_VERSION_TYPED_FFI, custom_call_target")
    form, _, info, _ = _results(text, [_B], "pjrt:cpu")
    today = _text("lapack_dgeqrf_ffi", "", "f64[4,2]{0,1}", "f64[4,2]{0,1} f64[2]{0}")
    assert not needs_legalizing(hlotool.parse(today)) and info == 0
    np.testing.assert_allclose(form, _results(today, [_B], "reference")[0], atol=1e-12)


def test_a_call_whose_letters_are_not_known_stays() -> None:
    text = _text("lapack_dpotrf", "1 1 4", _SQUARE, f"{_SQUARE} s32[]").replace("n0 = s32[] constant(1)",
                                                                             "n0 = s32[] parameter(1)")
    assert not needs_legalizing(hlotool.parse(text))


def test_an_old_call_becomes_loops_in_the_end() -> None:
    module = hlotool.parse(_text("lapack_dgetrf", "1 4 4", _SQUARE, f"{_SQUARE} s32[4]{{0}} s32[]"))
    assert "stablehlo.composite" in str(hlotool.to_stablehlo(module))
    legalize(module)
    assert not hlotool.verify(module)
    assert [c.target for c in lift_library_calls_recovering(module)] == ["lapack_dgetrf_ffi"]


#: routine -> scalars, arrays, results that it had at least, those that today's call has, in its order
ROUTINES = {
    "lapack_dgetrf": ("1 4 4", 1, 3, [0, 1, 2]), "lapack_dgeqrf": ("1 4 4 64", 1, 4, [0, 1]),
    "lapack_dorgqr": ("1 4 4 4 64", 2, 3, [0]), "lapack_zungqr": ("1 4 4 4 64", 2, 3, [0]),
    "lapack_dpotrf": ("1 1 4", 1, 2, [0, 1]), "lapack_dgesdd": ("0 1 1 4 4 99", 1, 7, [0, 1, 2, 3, 4]),
    "lapack_dsyevd": ("1 1 4", 1, 4, [0, 1, 2]), "lapack_zheevd": ("1 1 4", 1, 4, [0, 1, 2]),
    "lapack_sgeev": ("1 4 u8:78 u8:86", 1, 8, [3, 4, 5, 6, 7]),
    "lapack_dgeev": ("1 4 u8:78 u8:86", 1, 8, [3, 4, 5, 6, 7]),
    "lapack_cgeev": ("1 4 u8:78 u8:86", 1, 6, [2, 3, 4, 5]), "lapack_zgeev": ("1 4 u8:78 u8:86", 1, 6, [2, 3, 4, 5]),
    "lapack_dgees": ("1 4 u8:86 u8:78", 1, 6, [0, 3, 1, 2, 4, 5]),
    "lapack_zgees": ("1 4 u8:86 u8:78", 1, 6, [0, 3, 2, 4, 5]),
    "lapack_dgehrd": ("4 1 4 4 1 64", 1, 4, [0, 1, 2]), "lapack_dsytrd": ("4 1 4 1 64", 1, 6, [0, 1, 2, 3, 4]),
    "lapack_zhetrd": ("4 1 4 1 64", 1, 6, [0, 1, 2, 3, 4]),
    "lapack_dgeqrf_ffi": ("", 1, 4, [0, 1]), "lapack_dorgqr_ffi": ("", 2, 3, [0]), "lapack_cungqr_ffi": ("", 2, 3, [0]),
    "lapack_dgesdd_ffi": ("", 1, 7, [0, 1, 2, 3, 4]), "lapack_dsyevd_ffi": ("", 1, 5, [0, 1, 2]),
    "lapack_zheevd_ffi": ("", 1, 5, [0, 1, 2]),
}
CONFIGS = {
    "lapack_dgesdd": "mode = 83 : ui8", "lapack_dgees": "mode = 86 : ui8, sort = 78 : ui8",
    "lapack_dgeev": "compute_left = 78 : ui8, compute_right = 86 : ui8",
    "lapack_dgehrd": "high = 4 : i32, low = 1 : i32",
    "lapack_dpotrf": "uplo = 76 : ui8", "lapack_dsyevd": "mode = 86 : ui8, uplo = 76 : ui8",
    "lapack_dsytrd": "uplo = 76 : ui8"}


@pytest.mark.parametrize("target", ROUTINES)
def test_results_stay_at_their_places(target: str) -> None:
    """Of as many results as the call had at least, each of another size; with one less it is no such call."""
    scalars, arrays, least, places = ROUTINES[target]

    def given(operands: int, results: int) -> str:
        sizes = [f"f64[{n + 1}]{{0}}" for n in range(results)]
        return _text(target, scalars, " ".join([_SQUARE] * operands), " ".join(sizes))

    assert not needs_legalizing(hlotool.parse(given(arrays, least - 1)))
    assert not needs_legalizing(hlotool.parse(given(arrays + 1, least)))
    module = legalize(hlotool.parse(given(arrays, least).replace("}\n}", '}, frontend_attributes={a="b"}\n}')))
    (call,) = [i for i in module.entry.instructions if i.opcode == "custom-call"]
    whole = [call.shape] if not call.shape.is_tuple else list(call.shape.elements)
    assert [s.dims[0] - 1 for s in whole] == places
    assert call.attributes["custom_call_target"] == target.removesuffix("_ffi") + "_ffi"
    assert len(call.operands) == arrays == len(call.attributes["operand_layout_constraints"])
    assert [s.dims for s in module.entry.root.shape.elements] == [(n + 1,) for n in range(least)]
    for number, element in enumerate(module.entry.root.operands):
        is_ours = element is call or (element.opcode == "get-tuple-element" and element.operands[0] is call)
        assert is_ours is (number in places)
        if element.opcode == "get-tuple-element":
            assert places[element.attributes["index"]] == number
    if target in CONFIGS:
        assert str(call.attributes["backend_config"].text) == f"{{{CONFIGS[target]}}}"
    # What the call says of all its results holds for those of today only where they are the same.
    assert ("frontend_attributes" in call.attributes) is (len(places) == least)


@pytest.mark.parametrize(("full", "vectors", "mode"), [(0, 0, "N"), (1, 0, "N"), (0, 1, "S"), (1, 1, "A")])
def test_which_singular_vectors(full: int, vectors: int, mode: str) -> None:
    sizes = " ".join(f"f64[{n + 1}]{{0}}" for n in range(7))
    module = legalize(hlotool.parse(_text("lapack_dgesdd", f"{full} {vectors} 1 4 4 99", _SQUARE, sizes)))
    assert f"{{mode = {ord(mode)} : ui8}}" in str(module)
