"""Ways of accelerators, not of CPUs: operands cut to fewer bits, narrow floats computed in f16, signs of NaN."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import hlotool
from hlotool.execution import Program
from hlotool.numerics import Evidence, Kind

#: mantissa bits of TF32
_TF32 = 10


def _evidence(text: str, *arguments: np.ndarray, bits: int = 0) -> Evidence:
    return Evidence(Program(hlotool.parse(text)), [list(arguments)], product_bits=bits)


def _rounded(array: np.ndarray) -> np.ndarray:
    """f32 as NVIDIA's tensor cores read it: to the nearest number of 10 bits, ties away from zero."""
    bits = array.view(np.uint32).astype(np.uint64) + 0x1000
    return (bits & ~np.uint64(0x1FFF)).astype(np.uint32).view(np.float32)


DOT = """ENTRY e { a = f32[8,16] parameter(0)  b = f32[16,8] parameter(1)
  ROOT d = f32[8,8] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0} }"""


def _operands(seed: int = 0) -> list[np.ndarray]:
    draw = np.random.default_rng(seed)
    return [draw.normal(size=s).astype(np.float32) for s in ((8, 16), (16, 8))]


@pytest.mark.parametrize("seed", range(4))
def test_operands_are_rounded_or_cut(seed: int) -> None:
    a, b = _operands(seed)
    cut = [(x.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32) for x in (a, b)]
    for given in (_rounded(a) @ _rounded(b), cut[0] @ cut[1]):
        assert not _evidence(DOT, a, b, bits=_TF32).judge(given).is_wrong
        assert _evidence(DOT, a, b).judge(given).is_wrong


def test_the_largest_numbers_round_to_infinity() -> None:
    a, b = _operands()
    a[0, 0], b[0] = np.finfo(np.float32).max, 1e-38
    with np.errstate(all="ignore"):
        given = _rounded(a) @ _rounded(b)
    assert np.isinf(given[0]).all() and not _evidence(DOT, a, b, bits=_TF32).judge(given).is_wrong
    assert (_evidence(DOT, a, b).judge(given).kinds[0] == Kind.NON_FINITE).all()


def test_other_rows_have_to_be_right() -> None:
    a, b = _operands()
    a[0, 0], b[0] = np.finfo(np.float32).max, 1e-38
    given = a @ b
    given[1, 1] += 0.5
    assert _evidence(DOT, a, b, bits=_TF32).judge(given).is_wrong


def test_tensor_cores_add_up_products_of_8_bits_with_fewer() -> None:
    text = DOT.replace("a = f32", "a = f8e4m3fn").replace("b = f32", "b = f8e4m3fn")
    a, b = (x.astype(ml_dtypes.float8_e4m3fn) for x in _operands())
    wide = [x.astype(np.float64) for x in (a, b)]
    given = (wide[0] @ wide[1] + 2.0**-13 * (np.abs(wide[0]) @ np.abs(wide[1]))).astype(np.float32)
    assert not _evidence(text, a, b, bits=_TF32).judge(given).is_wrong and _evidence(text, a, b).judge(given).is_wrong
    highest = text.replace("rhs_contracting_dims={0}", "rhs_contracting_dims={0}, operand_precision={highest,highest}")
    assert _evidence(highest, a, b, bits=_TF32).judge(given).is_wrong


CHAIN = """ENTRY e { x = bf16[4,32] parameter(0)  w = f32[32,16] parameter(1)  g = f32[4,16] parameter(2)
  u = bf16[32,16] convert(w)  d = f32[4,16] dot(x, u), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4,16] tanh(d)  h = bf16[4,16] convert(t)  f = f32[4,16] convert(h)
  m = f32[4,16] multiply(f, g)  y = f32[32,16] dot(x, m), lhs_contracting_dims={0}, rhs_contracting_dims={0}
  n = bf16[32,16] convert(y)  o = f32[32,16] convert(n)  c = f32[] constant(0.001)
  k = f32[32,16] broadcast(c), dimensions={}  s = f32[32,16] multiply(o, k)
  ROOT r = f32[32,16] subtract(w, s) }"""


@pytest.mark.parametrize("seed", range(6))
def test_a_step_of_training_in_bf16_may_keep_bits_on_the_way(seed: int) -> None:
    """Rounded at the end, and not before: what XLA makes of it, which may keep more bits than a type has."""
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(4, 32)).astype(ml_dtypes.bfloat16)
    w, g = draw.normal(size=(32, 16)).astype(np.float32) * np.float32(0.2), draw.normal(size=(4, 16)).astype(np.float32)
    held = np.tanh(x.astype(np.float32) @ w.astype(ml_dtypes.bfloat16).astype(np.float32))
    step = (x.astype(np.float32).T @ (held * g)).astype(ml_dtypes.bfloat16).astype(np.float32)
    assert not _evidence(CHAIN, x, w, g).judge(w - step * np.float32(0.001)).is_wrong


@pytest.mark.parametrize("name", ["f8e3m4", "f8e5m2", "f8e4m3", "f8e4m3fn"])
def test_functions_of_narrow_floats_may_be_rounded_to_f16_before(name: str) -> None:
    kind = np.dtype(getattr(ml_dtypes, {"f8e3m4": "float8_e3m4", "f8e5m2": "float8_e5m2", "f8e4m3": "float8_e4m3",
                                        "f8e4m3fn": "float8_e4m3fn"}[name]))
    every = np.arange(256, dtype=np.uint8).view(kind)
    x = every[np.isfinite(every.astype(np.float32)) & (np.abs(every.astype(np.float32)) < 4)]
    text = f"ENTRY e {{ x = {name}[{x.size}] parameter(0)  ROOT y = {name}[{x.size}] exponential(x) }}"
    exact = np.exp(x.astype(np.float64))
    once, twice = exact.astype(np.float32).astype(kind), exact.astype(np.float16).astype(kind)
    evidence = _evidence(text, x)
    assert not evidence.judge(once).is_wrong and not evidence.judge(twice).is_wrong
    beside = (exact * 1.3).astype(np.float32).astype(kind)
    assert evidence.judge(beside).is_wrong


@pytest.mark.parametrize("name", ["f8e3m4", "f8e5m2"])
def test_products_of_narrow_floats_are_rounded_once(name: str) -> None:
    """f16 holds every product, so that ties go to even."""
    kind = np.dtype({"f8e3m4": ml_dtypes.float8_e3m4, "f8e5m2": ml_dtypes.float8_e5m2}[name])
    every = np.arange(256, dtype=np.uint8).view(kind).astype(np.float32)
    numbers = every[(every >= 1) & (every <= 2)]
    x, y = (a.reshape(-1).astype(kind) for a in np.meshgrid(numbers, numbers))
    exact = x.astype(np.float64) * y.astype(np.float64)
    text = f"ENTRY e {{ x = {name}[{x.size}] parameter(0)  y = {name}[{x.size}] parameter(1)\n" \
           f"  ROOT z = {name}[{x.size}] multiply(x, y) }}"
    nearest = exact.astype(np.float32).astype(kind)
    other = np.nextafter(nearest, np.where(exact > nearest.astype(np.float64), np.inf, -np.inf).astype(kind))
    is_tie = np.abs(other.astype(np.float64) - exact) == np.abs(nearest.astype(np.float64) - exact)
    assert is_tie.any() and not _evidence(text, x, y).judge(nearest).is_wrong
    assert _evidence(text, x, y).judge(np.where(is_tie, other, nearest)).is_wrong


SORT = """before { p = f32[] parameter(0)  q = f32[] parameter(1)
  ROOT c = pred[] compare(p, q), direction=LT, type=TOTALORDER }
ENTRY e { x = f32[4] parameter(0)  y = f32[4] GIVEN(x)  ROOT s = f32[4] sort(y), dimensions={0}, to_apply=before }"""


def test_the_sign_of_a_computed_nan_is_open_and_that_of_an_argument_is_not() -> None:
    x = np.float32([0.5, 2.0, -0.5, 0.0])
    last = np.float32([np.arcsin(-0.5), 0, np.arcsin(0.5), np.nan])
    computed = _evidence(SORT.replace("GIVEN", "asin"), x)
    for given in (last, np.roll(last, 1)):
        assert computed.judge(given).kind <= Kind.OPEN
    held = np.float32([0.5, np.nan, -0.5, 0.0])
    moved = _evidence(SORT.replace("GIVEN", "copy"), held)
    last = np.float32([-0.5, 0, 0.5, np.nan])
    assert moved.judge(last).kind is Kind.EQUAL and moved.judge(np.roll(last, 1)).is_wrong


def test_halves_of_a_complex_transform_that_overflows_are_both_open() -> None:
    text = ("ENTRY e { x = c64[4] parameter(0)  f = c64[4] fft(x), fft_type=FFT, fft_length={4}\n"
            "  ROOT i = f32[4] imag(f) }")
    most = np.finfo(np.float32).max
    evidence = _evidence(text, np.complex64([1 + most * 1j, 2 - most * 1j, 3 + most * 1j, 1 - most * 1j]))
    assert not evidence.judge(np.float32([0.75, 1, 2, 3])).is_wrong
