"""LAPACK's calls, written as loops, against LAPACK's own results on the reference."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.passes.lift import lift_library_calls_recovering
from hlotool.stablehlo import LiftOptions, LossReport

_TYPES = {"s": ("f32", "f32", "f4"), "d": ("f64", "f64", "f8"), "c": ("c64", "f32", "c8"), "z": ("c128", "f64", "c16")}


def _shape(text: str, kind: str, rank: int) -> str:
    """`T 3,3` in the routine's type, `R 3` in the real one beside it, `I 3` of integers; columns first."""
    name, _, dims = text.partition(" ")
    sizes = [d for d in dims.split(",") if d]
    batch = range(len(sizes) - rank - 1, -1, -1)
    inner = range(len(sizes) - rank, len(sizes))
    layout = ",".join(map(str, [*(inner if rank == 2 else reversed(inner)), *batch]))
    element = {"T": _TYPES[kind][0], "R": _TYPES[kind][1], "I": "s32"}[name]
    return f"{element}[{dims}]" + (f"{{{layout}}}" if sizes else "")


def _text(kind: str, routine: str, operands: str, results: str, config: str) -> str:
    """A call; a batch is what the first operand has in front of a matrix (gtsv: of a vector)."""
    given, made = operands.split("; "), results.split("; ")
    batch = _rank(given[0]) - (1 if routine == "gtsv" else 2)

    def shape(text: str) -> str:
        return _shape(text, kind, _rank(text) - batch)

    lines = [f"  p{i} = {shape(t)} parameter({i})" for i, t in enumerate(given)]
    whole = f"({', '.join(map(shape, made))})" if len(made) > 1 else shape(made[0])
    names = ", ".join(f"p{i}" for i in range(len(given)))
    return "\n".join(["ENTRY main {", *lines,
                      f'  ROOT r = {whole} custom-call({names}), custom_call_target="lapack_{kind}{routine}_ffi", '
                      f"api_version=API_VERSION_TYPED_FFI, backend_config={{{config}}}", "}"])


def _rank(text: str) -> int:
    return len([d for d in text[2:].split(",") if d])


def _arguments(module: hlotool.HloModule, positive: bool = False) -> list[Any]:
    random, found = np.random.default_rng(3), []
    for parameter in module.entry.parameters():
        dims, kind = parameter.shape.dims, parameter.shape.dtype.numpy
        value: Any = random.normal(size=dims)
        if kind.kind == "c":
            value = value + 1j * random.normal(size=dims)
        if positive:
            value = value @ value.swapaxes(-1, -2).conj() + np.eye(dims[-1])
        found.append(value.astype(kind))
    return found


def _both(text: str, arguments: list[Any] | None = None, executor: str = "reference", **options: Any
          ) -> tuple[list[Any], list[Any], list[Any]]:
    """The arguments, LAPACK's results, and those of the loops; the module is left without calls of LAPACK."""
    module, lifted = hlotool.parse(text), hlotool.parse(text)
    arguments = _arguments(module, **options) if arguments is None else arguments
    (call,) = lift_library_calls_recovering(lifted)
    assert call.reason == ""
    assert not hlotool.verify(lifted)
    assert all(i.opcode != "custom-call" for i in lifted.instructions())
    return arguments, *(hlotool.execute(m, arguments, executor=e)  # type: ignore[return-value]
                        for m, e in ((module, "reference"), (lifted, executor)))


def _close(found: list[Any], wanted: list[Any], *places: int) -> None:
    for place in places or range(len(wanted)):
        rough = wanted[place].dtype in (np.float32, np.complex64)
        np.testing.assert_allclose(found[place], wanted[place], rtol=2e-4 if rough else 1e-10,
                                   atol=2e-4 if rough else 1e-10, err_msg=f"result {place}")


_EXACT = {
    "getrf": ("T 2,4,3", "T 2,4,3; I 2,3; I 2", ""), "getrf wide": ("T 3,5", "T 3,5; I 3; I ", ""),
    "geqrf": ("T 2,4,3", "T 2,4,3; T 2,3", ""), "geqrf wide": ("T 3,4", "T 3,4; T 3", ""),
    "gehrd": ("T 5,5", "T 5,5; T 4; I ", "low = 2 : i32, high = 5 : i32"),
    "gehrd part": ("T 6,6", "T 6,6; T 5; I ", "low = 2 : i32, high = 5 : i32"),
    "gtsv": ("T 5; T 5; T 5; T 5,2", "T 5; T 5; T 5; T 5,2; I ", ""),
    "gtsv of two": ("T 2; T 2; T 2; T 2,1", "T 2; T 2; T 2; T 2,1; I ", ""),
}
_REAL = {
    "orgqr": ("T 4,3; T 3", "T 4,3", ""), "sytrd": ("T 5,5", "T 5,5; R 5; R 4; T 4; I ", "uplo = 76 : ui8"),
    **{f"ormqr {left} {adjoint}": ("T 4,3; T 3; T 4,4", "T 4,4", f"left = {left}, transpose = {adjoint}")
       for left in ("true", "false") for adjoint in ("true", "false")},
}
_COMPLEX = {name.replace("or", "un", 1).replace("sy", "he"): call for name, call in _REAL.items()}


@pytest.mark.parametrize("kind, name, call", [*(("s", n, c) for n, c in (_EXACT | _REAL).items()),
                                              *(("z", n, c) for n, c in (_EXACT | _COMPLEX).items())])
def test_loops_give_what_lapack_gives(kind: str, name: str, call: tuple[str, str, str]) -> None:
    _, wanted, found = _both(_text(kind, name.split(maxsplit=1)[0], *call))
    _close(found, wanted)


@pytest.mark.parametrize("name", ["getrf", "geqrf"])
def test_loops_compile(name: str) -> None:
    _, wanted, found = _both(_text("d", name, *_EXACT[name]), executor="pjrt:cpu")
    _close(found, wanted)


@pytest.mark.parametrize("letter", ["L", "U"])
@pytest.mark.parametrize("kind", "sz")
def test_a_cholesky_factor_says_where_it_failed(kind: str, letter: str) -> None:
    text = _text(kind, "potrf", "T 2,3,3", "T 2,3,3; I 2", f"uplo = {ord(letter)} : ui8")
    (good,), *_ = _both(text, positive=True)
    good[1, 1, 1] = -1
    _, wanted, found = _both(text, [good])
    assert wanted[1].tolist() == [0, 2]
    _close(found, wanted)


@pytest.mark.parametrize("matrix, info", [
    ([[1, 2, 3], [2, 4, 6], [1, 1, 1]], 3), ([[0, 2, 3], [0, 4, 6], [0, 1, 1]], 1), ([[0, 0], [0, 0]], 1)])
def test_an_lu_form_names_the_first_pivot_of_zero(matrix: list[list[int]], info: int) -> None:
    n = len(matrix)
    _, wanted, found = _both(_text("d", "getrf", f"T {n},{n}", f"T {n},{n}; I {n}; I ", ""), [np.array(matrix, float)])
    assert found[2] == info
    _close(found, wanted)


def test_a_system_of_three_diagonals_that_has_no_solution_says_so() -> None:
    text = _text("d", "gtsv", "T 3; T 3; T 3; T 3,1", "T 3; T 3; T 3; T 3,1; I ", "")
    rows = [np.array(r, float) for r in ([0, 1, 0], [1, 1, 1], [1, 0, 0])]
    _, wanted, found = _both(text, [*rows, np.ones((3, 1))])
    assert found[4] == wanted[4] == 2
    _close(found, wanted)


@pytest.mark.parametrize("letter", ["L", "U"])
@pytest.mark.parametrize("kind, name", [("s", "syevd"), ("z", "heevd")])
def test_eigenvectors_of_symmetric_matrices(kind: str, name: str, letter: str) -> None:
    config = f"mode = 86 : ui8, uplo = {ord(letter)} : ui8"
    (a,), wanted, found = _both(_text(kind, name, "T 2,4,4", "T 2,4,4; R 2,4; I 2", config))
    _close(found, wanted, 1, 2)
    v, w, _ = found
    half = np.tril(a) if letter == "L" else np.triu(a).conj().swapaxes(-1, -2)
    strict, diagonal = np.tril(half, -1), np.einsum("...ii->...i", a).real
    whole = strict + strict.conj().swapaxes(-1, -2) + np.eye(4) * diagonal[..., None]
    np.testing.assert_allclose(v * w[..., None, :] @ v.conj().swapaxes(-1, -2), whole, atol=2e-5)
    np.testing.assert_allclose(v.conj().swapaxes(-1, -2) @ v, np.broadcast_to(np.eye(4), v.shape), atol=2e-5)


@pytest.mark.parametrize("mode", ["A", "S", "N"])
@pytest.mark.parametrize("kind, rows, columns", [("s", 4, 3), ("d", 3, 5), ("z", 4, 2), ("c", 3, 3)])
def test_singular_vectors(kind: str, rows: int, columns: int, mode: str) -> None:
    least = min(rows, columns)
    left, right = (rows, columns) if mode == "A" else (least, least)
    text = _text(kind, "gesdd", f"T {rows},{columns}", f"T {rows},{columns}; R {least}; T {rows},{left}; "
                 f"T {right},{columns}; I ", f"mode = {ord(mode)} : ui8")
    (a,), wanted, found = _both(text)
    _close(found, wanted, 1, 4)
    if mode != "N":
        _, s, u, v, _ = found
        np.testing.assert_allclose(u[:, :least] * s @ v[:least], a, atol=2e-5)
        for side, inner in ((u, u.conj().T @ u), (v, v @ v.conj().T)):
            np.testing.assert_allclose(inner, np.eye(len(inner)), atol=2e-5, err_msg=str(side))


def test_a_matrix_of_less_than_full_rank_has_singular_vectors_too() -> None:
    text = _text("d", "gesdd", "T 3,3", "T 3,3; R 3; T 3,3; T 3,3; I ", "mode = 65 : ui8")
    a = np.outer([1.0, 2, 2], [2.0, 0, 1])
    _, wanted, (_, s, u, v, _) = _both(text, [a])
    np.testing.assert_allclose(s, wanted[1], atol=1e-12)
    np.testing.assert_allclose(u * s @ v, a, atol=1e-12)
    np.testing.assert_allclose(u.T @ u, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("name, operands, results, config", [
    ("syevd", "T 2,2", "T 2,2; R 2; I ", "mode = 86 : ui8, uplo = 76 : ui8"),
    ("gesdd", "T 2,2", "T 2,2; R 2; T 2,2; T 2,2; I ", "mode = 65 : ui8")])
def test_what_is_not_finite_has_no_eigenvalues(name: str, operands: str, results: str, config: str) -> None:
    _, wanted, found = _both(_text("d", name, operands, results, config), [np.array([[1.0, np.nan], [np.nan, 1]])])
    _close(found[:-1], wanted[:-1])  # of its status LAPACK makes nothing of NaN in some routines
    assert found[-1] != 0 and np.isnan(found[1]).all()


def test_columns_in_the_order_of_their_lengths() -> None:
    text = """ENTRY main {
  a = f64[5,4]{0,1} parameter(0)
  zero = s32[] constant(0)
  free = s32[4]{0} broadcast(zero), dimensions={}
  ROOT r = (f64[5,4]{0,1}, s32[4]{0}, f64[4]{0}) custom-call(a, free), custom_call_target="lapack_dgeqp3_ffi",
    api_version=API_VERSION_TYPED_FFI, backend_config={}
}"""
    _, wanted, found = _both(text)
    _close(found, wanted)
    module = hlotool.parse(text.replace("constant(0)", "constant(1)"))
    assert "stay in front" in lift_library_calls_recovering(module)[0].reason


def test_what_is_not_written_as_loops_stays_and_is_told() -> None:
    results = "T 3,3; T 3,3; R 3; R 3; I ; I "
    losses = LossReport()
    text = _text("d", "gees", "T 3,3", results, "mode = 86 : ui8, sort = 83 : ui8")
    program = hlotool.to_stablehlo(hlotool.parse(text), losses=losses)
    assert "lapack_dgees_ffi" in str(program)
    assert [loss.code for loss in losses if "an order of its own" in loss.detail] == ["X317"]


def test_stablehlo_has_a_composite_that_comes_back_and_computes_the_same() -> None:
    text = _text("d", "getrf", *_EXACT["getrf wide"])
    module = hlotool.parse(text)
    program = hlotool.to_stablehlo(module)
    assert 'stablehlo.composite "lapack.dgetrf"' in str(program) and "custom_call" not in str(program)
    assert "lapack_dgetrf_ffi" in str(hlotool.to_stablehlo(module, options=LiftOptions(library=False)))
    back = hlotool.from_stablehlo(program)
    arguments = _arguments(module)
    _close(*(hlotool.execute(m, arguments, executor="reference") for m in (back, module)))


def test_equal_calls_share_one_decomposition() -> None:
    module = hlotool.parse("""ENTRY main {
  a = f32[3,3]{0,1} parameter(0)
  x = (f32[3,3]{0,1}, f32[3]{0}) custom-call(a), custom_call_target="lapack_sgeqrf_ffi"
  y = f32[3,3]{0,1} get-tuple-element(x), index=0
  ROOT z = (f32[3,3]{0,1}, f32[3]{0}) custom-call(y), custom_call_target="lapack_sgeqrf_ffi"
}""")
    assert len(lift_library_calls_recovering(module)) == 2
    assert sum(c.name.startswith("lapack_sgeqrf") for c in module.computations) == 1
    (a,) = _arguments(module)
    once = np.asfortranarray(hlotool.execute(module, [a], executor="reference")[0])
    assert once.shape == (3, 3) and np.isfinite(once).all()
