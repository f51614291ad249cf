"""The error model: the shadow, samples with random roundings, and the verdict on each element."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import hlotool
from hlotool.execution import Program, evaluate_program
from hlotool.ir import DTYPES
from hlotool.numerics import Draws, Judgement, Kind, Known, judge, sample_program, shadow_program
from hlotool.verdict.boundary_arguments import _beside


def program_of(body: str, computations: str = "") -> Program:
    return Program(hlotool.parse(f"HloModule m\n\n{computations}\nENTRY e {{\n{body}\n}}\n"))


def evidence_of(program: Program, arguments: list[np.ndarray], *, seeds: int = 6) -> Known:
    rows = [arguments]

    def samples(count: int, draws: Draws) -> list[np.ndarray]:
        return [sample_program(program, rows, (draws, seed))[0][0] for seed in range(count)]

    return Known(evaluate_program(program, rows)[0][0], shadow_program(program, rows)[0][0],
                 samples(seeds, Draws.ALL), lambda draws: samples(2, draws))


def verdict(program: Program, arguments: list[np.ndarray], given: np.ndarray) -> Judgement:
    return judge(np.asarray(given), evidence_of(program, arguments))


CHAIN = """  x = f32[4] parameter(0)
  b = bf16[4] convert(x)
  s = bf16[4] multiply(b, b)
  ROOT y = f32[4] convert(s)"""


def test_the_shadow_does_not_round_narrow_intermediates():
    x = np.float32([1.0, 1.001, 3.14159, -2.7])
    found = shadow_program(program_of(CHAIN), [[x]])[0][0]
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, x.astype(np.float64) ** 2, rtol=1e-15)
    assert not np.allclose(evaluate_program(program_of(CHAIN), [[x]])[0][0], x**2, rtol=1e-4)


def test_the_shadow_of_numbers_named_in_a_type_is_rounded():
    count = program_of("  i = bf16[300] iota(), iota_dimension=0\n  ROOT c = f32[300] convert(i)")
    assert shadow_program(count, [[]])[0][0][257] == 256.0
    whole = program_of("  n = s32[1] parameter(0)\n  b = bf16[1] convert(n)\n  ROOT f = f32[1] convert(b)")
    assert shadow_program(whole, [[np.int32([257])]])[0][0][0] == 256.0
    asked = program_of("  x = f32[1] parameter(0)\n  ROOT f = f32[1] reduce-precision(x), exponent_bits=8, "
                       "mantissa_bits=7")
    assert shadow_program(asked, [[np.float32([257])]])[0][0][0] == 256.0


def test_the_shadow_of_f64_holds_more_than_f64():
    if np.finfo(np.longdouble).nmant <= 52:
        pytest.skip("this machine has no type beyond f64")
    third = program_of("  x = f64[2] parameter(0)\n  y = f64[2] parameter(1)\n  ROOT d = f64[2] divide(x, y)")
    found = shadow_program(third, [[np.ones(2), np.full(2, 3.0)]])[0][0]
    assert found.dtype == np.longdouble
    assert found[0] * 3 - 1 == 0 and found[0] != np.float64(1) / 3


def test_samples_leave_exact_arithmetic_alone():
    body = "  x = f32[4] parameter(0)\n  y = f32[4] parameter(1)\n  ROOT s = f32[4] add(x, y)"
    whole = [np.float32([1, 2, 3, 4]), np.float32([5, 6, 7, 8])]
    for seed in range(4):
        assert (sample_program(program_of(body), [whole], seed)[0][0] == whole[0] + whole[1]).all()
    tenths = [a / np.float32(10) for a in whole]
    samples = np.stack([sample_program(program_of(body), [tenths], seed)[0][0] for seed in range(8)])
    assert (samples != samples[0]).any()
    np.testing.assert_allclose(samples, np.broadcast_to(tenths[0] + tenths[1], samples.shape), rtol=3e-7)


def test_excess_precision_is_permitted_and_said():
    x = np.float32([1.2345, 1.3456, 3.14159, -2.7])
    found = verdict(program_of(CHAIN), [x], x * x)
    assert found.kind is Kind.EXCESS and not found.is_wrong
    assert verdict(program_of(CHAIN), [x], x * x * np.float32(1.1)).kind is Kind.WRONG


def test_the_largest_finite_number_is_no_step_from_infinity():
    square = program_of("  x = f32[2] parameter(0)\n  s = f32[2] multiply(x, x)\n  ROOT r = f32[2] sqrt(s)")
    found = verdict(square, [np.float32([3e38, 2])], np.float32([np.finfo(np.float32).max, 2]))
    assert found.kind is Kind.NON_FINITE and found.worst == (0,)
    assert found.counts == {"equal": 1, "non-finite fold": 1}
    assert verdict(square, [np.float32([3e38, 2])], np.float32([np.inf, 2])).kind is Kind.EQUAL


def test_another_order_of_a_sum_is_within_rounding():
    add = "add {\n  p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q)\n}\n"
    total = program_of("  x = f32[1000] parameter(0)\n  z = f32[] constant(0)\n"
                       "  ROOT s = f32[] reduce(x, z), dimensions={0}, to_apply=add", add)
    x = np.random.default_rng(0).normal(size=1000).astype(np.float32)
    backwards = np.float32(0)
    for value in x[::-1]:
        backwards += value
    assert not verdict(total, [x], backwards).is_wrong
    assert verdict(total, [x], backwards + np.float32(0.01)).is_wrong


def test_what_cancels_in_exact_arithmetic_has_no_verdict_but_no_digit_of_an_exact_program_may_be_lost():
    product = program_of("  a = f32[1] parameter(0)\n  b = f32[1] parameter(1)\n  x = f32[1] parameter(2)\n"
                         "  p = f32[1] multiply(a, x)\n  q = f32[1] multiply(b, x)\n  ROOT r = f32[1] add(p, q)")
    given = [np.float32([0.1]), np.float32([-0.1000001]), np.float32([0.3])]
    exact = np.float64(given[0]) * given[2] + np.float64(given[1]) * given[2]
    assert verdict(product, given, exact.astype(np.float32)).kind in (Kind.EXCESS, Kind.ILL_CONDITIONED)
    same = [np.float32([0.1]), np.float32([-0.1]), np.float32([0.3])]
    # A fused product and sum leaves the rounding error of one product where the program says 0.
    assert verdict(product, same, np.float32([1e-9])).kind is Kind.WRONG


def test_a_comparison_may_flip_only_within_the_spread():
    body = ("  x = f32[2] parameter(0)\n  y = f32[2] parameter(1)\n  q = f32[2] divide(x, y)\n"
            "  p = f32[2] multiply(q, y)\n  ROOT c = pred[2] compare(p, x), direction=LT")
    x, y = np.float32([1.7, 0.3]), np.float32([3, 7])
    program = program_of(body)
    reference = evaluate_program(program, [[x, y]])[0][0]
    found = judge(~reference, evidence_of(program, [x, y], seeds=12))
    assert found.kind is Kind.ILL_CONDITIONED
    clear = program_of("  x = f32[2] parameter(0)\n  y = f32[2] parameter(1)\n"
                       "  ROOT c = pred[2] compare(x, y), direction=LT")
    assert verdict(clear, [x, y], np.array([True, False])).kind is Kind.WRONG


def test_integers_are_exact_and_shapes_must_fit():
    whole = program_of("  x = s32[2] parameter(0)\n  ROOT y = s32[2] multiply(x, x)")
    x = np.int32([3, 46341])
    assert verdict(whole, [x], x * x).kind is Kind.EQUAL
    assert verdict(whole, [x], np.abs(x * x)).kind is Kind.WRONG
    assert "int64" in verdict(whole, [x], (x * x).astype(np.int64)).problem


def test_the_wanted_accuracy_is_the_budget():
    def tangent(accuracy: str) -> Program:
        return program_of(f"  x = f32[1] parameter(0)\n  ROOT y = f32[1] tanh(x){accuracy}")

    x = np.float32([0.7])
    off = np.tanh(x) * np.float32(1.001)
    assert verdict(tangent(""), [x], off).kind is Kind.WRONG
    loose = tangent(", result_accuracy={tolerance={atol=0,rtol=0.01,ulps=0}}")
    assert not verdict(loose, [x], off).is_wrong


def test_equal_indices_may_be_written_in_any_order_but_sums_are_sums() -> None:
    def scatter(combine: str) -> Program:
        return program_of("  x = f32[4] parameter(0)\n  i = s32[2,1] parameter(1)\n  u = f32[2] parameter(2)\n"
                          "  ROOT s = f32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
                          "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=set",
                          "set {\n  a = f32[] parameter(0)\n  b = f32[] parameter(1)\n"
                          f"  ROOT r = f32[] {combine}\n}}\n")

    given = [np.float32([0, 0, 0, 0]), np.int32([[2], [2]]), np.float32([1, 5])]
    other = np.float32([0, 0, 1, 0])
    last = scatter("copy(b)")
    assert judge(other, evidence_of(last, given, seeds=16)).kind is not Kind.WRONG
    assert judge(other, evidence_of(scatter("add(a, b)"), given, seeds=16)).kind is Kind.WRONG


@pytest.mark.parametrize("number, element_type, beside", [
    (5, "s32", {4, 5, 6}), (0, "u8", {0, 1}), (255, "u8", {254, 255}), (1, "pred", set()), (np.inf, "f32", set()),
    (1.0, "f32", {1 - 2**-23, 1, 1 + 2**-23, -1}), (-2.0, "bf16", {-2 - 2**-6, -2, -2 + 2**-6, 2}),
    (0.0, "f32", {-2**-20, 0, 2**-20})])
def test_a_constant_is_tried_with_its_neighbours(number: float, element_type: str, beside: set[float]) -> None:
    """Whatever a program compares an argument with: the number, what stands next to it, and its negative."""
    assert set(_beside([number], DTYPES[element_type])) == beside


def test_a_narrow_type_allows_one_rounding_and_no_more() -> None:
    """A truncated bf16 and a dropped factor in f8 are one last place off; so is nothing that a compiler may do."""
    program = program_of("x = f32[4] parameter(0)\nROOT c = bf16[4] convert(x)")
    given = [np.array([0.6404226, 1.0, 1.00781, -3.14159], np.float32)]
    rounded = given[0].astype(ml_dtypes.bfloat16)
    truncated = (given[0].view(np.uint32) >> 16).astype(np.uint16).view(ml_dtypes.bfloat16)
    assert verdict(program, given, rounded).kind is Kind.EQUAL
    assert verdict(program, given, truncated).kind is Kind.WRONG
    small = np.array([1, 2, -1.5, 0.5], ml_dtypes.float8_e5m2)
    product = program_of("x = f8e5m2[4] parameter(0)\nc = f8e5m2[] constant(1.25)\n"
                         "b = f8e5m2[4] broadcast(c), dimensions={}\n"
                         "ROOT r = f8e5m2[4] multiply(x, b)")
    assert verdict(product, [small], small).kind is Kind.WRONG


def test_narrow_intermediates_may_be_rounded_or_not() -> None:
    program = program_of("x = bf16[64] parameter(0)\ny = bf16[64] parameter(1)\na = bf16[64] multiply(x, y)\n"
                         "b = bf16[64] add(a, y)\n"
                         "ROOT r = bf16[64] multiply(b, b)")
    generator = np.random.default_rng(3)
    given = [generator.normal(size=64).astype(ml_dtypes.bfloat16) for _ in range(2)]
    x, y = (g.astype(np.float32) for g in given)
    held = ((x * y + y) ** 2).astype(ml_dtypes.bfloat16)
    assert not verdict(program, given, held).is_wrong
    assert verdict(program, given, (held.astype(np.float32) * 1.5).astype(ml_dtypes.bfloat16)).is_wrong


def test_a_sum_of_products_in_parts_may_round_each_of_them() -> None:
    """Partial sums beyond 256 are rounded to bf16 on each device; of whole numbers too."""
    dot = program_of("x = bf16[512] parameter(0)\ny = bf16[512] parameter(1)\n"
                     "ROOT d = bf16[] dot(x, y), lhs_contracting_dims={0}, rhs_contracting_dims={0}")
    x = np.resize(np.array([7, -3, 5, 2], np.float32), 512).astype(ml_dtypes.bfloat16)
    ones = np.ones(512, ml_dtypes.bfloat16)
    ones[-256:] = -1
    assert not verdict(dot, [x, ones], np.array(1, ml_dtypes.bfloat16)).is_wrong
    few = np.zeros(512, ml_dtypes.bfloat16)
    few[:4] = 1
    assert verdict(dot, [x, few], np.array(12, ml_dtypes.bfloat16)).is_wrong


def test_what_rounds_to_the_smallest_normal_number_may_be_flushed() -> None:
    program = program_of("x = bf16[1] parameter(0)\nROOT r = bf16[1] multiply(x, x)")
    given = [np.array([1.0847e-19], ml_dtypes.bfloat16)]
    reference = evaluate_program(program, [given])[0][0]
    assert float(reference[0]) <= 2 * float(ml_dtypes.finfo(ml_dtypes.bfloat16).tiny)
    assert not verdict(program, given, np.zeros(1, ml_dtypes.bfloat16)).is_wrong


def test_large_integers_are_told_apart() -> None:
    low = np.int64(np.iinfo(np.int64).min)
    found = judge(np.array([low, low + 1]), Known(np.array([low + 3, low + 1]), samples=[np.array([low, low + 1])]))
    assert [Kind(k) for k in found.kinds] == [Kind.ILL_CONDITIONED, Kind.EQUAL]
