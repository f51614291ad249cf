"""Differences at the ends of the range in programs of many roundings: what counts, and what has no verdict."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import hlotool
from hlotool.execution import Program, evaluate_program
from hlotool.numerics import Kind, Known, judge, roundings, sample_program, shadow_program
from hlotool.numerics.extreme_values import is_extreme
from hlotool.verdict import Comparison, compare


def deep(first: str, last: str = "") -> str:
    """Forty roundings between a first and a last line that make a of x, and y of z."""
    lines = [first, "k0 = f32[4] copy(a)"]
    lines += [f"k{n + 1} = f32[4] {('sine', 'add')[n % 2]}(k{n}{', a' * (n % 2)})" for n in range(40)]
    body = "\n  ".join(["x = f32[4] parameter(0)", *lines, last or "ROOT y = f32[4] add(k40, a)"])
    return f"HloModule deep\nENTRY e {{\n  {body}\n}}\n"


def test_a_fold_at_overflow_is_found_in_a_large_program() -> None:
    """exp overflows, so log gives infinity, and sine NaN: the rewritten program is finite."""
    before, after = deep("e = f32[4] exponential(x)\n  a = f32[4] log(e)"), deep("a = f32[4] copy(x)")
    arguments = {"inputs": ("wide", "targets"), "executors": ("reference",)}
    found = hlotool.compare(before, after, **arguments)
    assert found.verdict == "differ" and found.instruction == "a"


def test_what_becomes_of_a_nan_in_a_large_program_has_no_verdict() -> None:
    """A product with 0 or 1 rewritten as a select: another value only where NaN comes from further up."""
    rest = ("z = f32[] constant(0)\n  zs = f32[4] broadcast(z), dimensions={}\n"
            "  p = pred[4] compare(x, zs), direction=GT\n")
    first = "q = f32[4] multiply(x, x)\n  a = f32[4] multiply(q, q)"
    product = deep(first, rest + "  f = f32[4] convert(p)\n  ROOT y = f32[4] multiply(f, k40)").replace("[4]", "[32]")
    select = deep(first, rest + "  ROOT y = f32[4] select(p, k40, zs)").replace("[4]", "[32]")

    def judged(*kinds: str, **options: bool) -> Comparison:
        return hlotool.compare(product, select, inputs=kinds, executors=("reference",), **options)

    found = judged("plain", "wide")
    assert found.verdict == "agree" and found.noted and found.counts["range end"] and not found.undecided
    assert judged("wide", counts_extremes=True).verdict == "differ"
    assert judged("wide").undecided and judged("wide", counts_extremes=False).undecided


@pytest.mark.parametrize("turned", [False, True])
def test_constants_multiplied_first_count_in_small_programs_only(turned: bool) -> None:
    """x * 4 overflows where x / 16 does not; in a large program that says nothing but that x was at the end."""
    def program(first: str, is_deep: bool) -> str:
        constants = "".join(f"c{n} = f32[] constant({v})\n  b{n} = f32[4] broadcast(c{n}), dimensions={{}}\n  "
                            for n, v in enumerate((4, 0.015625, 0.0625)))
        lines = deep(constants + first)
        return lines if is_deep else lines[:lines.index("  k0")] + "  ROOT y = f32[4] copy(a)\n}\n"

    twice, once = "q = f32[4] multiply(x, b0)\n  a = f32[4] multiply(q, b1)", "a = f32[4] multiply(x, b2)"
    options = {"inputs": ("plain", "near", *["wide", "targets"] * 12), "executors": ("reference",)}
    for is_deep in (False, True):
        pair = [program(first, is_deep) for first in (twice, once)]
        found = hlotool.compare(*(pair[::-1] if turned else pair), **options)
        assert found.verdict == ("agree" if is_deep else "differ"), str(found)
        assert bool(found.noted) is is_deep


def test_sums_and_factorisations_are_many_roundings() -> None:
    def count(body: str) -> int:
        add = "add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"
        return roundings(hlotool.parse(f"{add}ENTRY e {{ x = f32[8,8] parameter(0)\n  {body} }}"))

    assert count("ROOT y = f32[8,8] negate(x)") == 1 and count("ROOT y = f32[8,8] sine(x)") == 2
    assert count("ROOT y = f32[8,8] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0}") == 9
    assert count("z = f32[] constant(0)\n  ROOT y = f32[8] reduce(x, z), dimensions={1}, to_apply=add") == 8
    assert count("ROOT y = f32[8,8] cholesky(x), lower=true") == 65
    assert count('ROOT y = (f32[8,8], s32[]) custom-call(x), custom_call_target="lapack_spotrf_ffi"') == 65


@pytest.mark.parametrize(("value", "at_an_end"), [
    (0.0, False), (1.0, False), (-0.9e9, False), (1.1e9, True), (-1.1e-9, False), (0.9e-9, True), (np.inf, True),
    (np.nan, True)])
def test_which_arguments_stand_at_the_ends(value: float, at_an_end: bool) -> None:
    assert is_extreme([[np.float64([1.0, value])]]) is at_an_end
    assert is_extreme([[np.int32([5])], [np.complex128([complex(1.0, value)])]]) is (
        not abs(value) <= 1e9)
    assert not is_extreme([[np.int32([2**31 - 1])]])


def test_where_nothing_tells_finite_numbers_count() -> None:
    """Without a search for the instruction, what the program's own types give decides."""
    before, after = deep("a = f32[4] negate(x)"), deep("a = f32[4] negate(x)", "ROOT y = f32[4] clamp(a, k40, a)")
    found = compare(before, after, inputs=("wide",), executors=("reference",))
    assert found.verdict == "differ"


@pytest.mark.parametrize(("given", "kind"), [(3, Kind.ILL_CONDITIONED), (5, Kind.ILL_CONDITIONED), (6, Kind.WRONG),
                                             (-40, Kind.WRONG)])
def test_integers_that_hang_on_a_rounding_stay_among_the_samples(given: int, kind: Kind) -> None:
    evidence = Known(np.int32([4]), np.int32([4]), [np.int32([4]), np.int32([3])])
    assert judge(np.int32([given]), evidence).kind is kind


@pytest.mark.parametrize(("given", "kind"), [
    (np.nan, Kind.ILL_CONDITIONED), (1.001, Kind.ILL_CONDITIONED), (7.0, Kind.NON_FINITE), (-np.inf, Kind.NON_FINITE)])
def test_what_may_overflow_is_one_of_the_ways_it_may_go(given: float, kind: Kind) -> None:
    samples = [np.float32([np.nan]), np.float32([1.0]), np.float32([np.inf])]
    evidence = Known(np.float32([np.inf]), np.float64([1.0]), samples)
    assert judge(np.float32([given]), evidence).kind is kind


def test_a_result_that_is_mostly_open_has_no_verdict() -> None:
    """x - x in another order of a sum: all digits are lost, whatever goes in."""
    add = "add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"
    text = (f"HloModule lost\n{add}ENTRY e {{\n  x = f32[64] parameter(0)\n  z = f32[] constant(0)\n"
            "  t = f32[64] tanh(x)\n"
            "  s = f32[] reduce(t, z), dimensions={0}, to_apply=add\n  v = f32[64] reverse(t), dimensions={0}\n"
            "  u = f32[] reduce(v, z), dimensions={0}, to_apply=add\n  d = f32[] subtract(s, u)\n"
            "  c = f32[] constant(1e9)\n  ROOT y = f32[] multiply(d, c)\n}\n")
    found = hlotool.compare(text, executors=("pjrt:cpu", "reference"), inputs=("plain", "positive"))
    assert found.verdict == "none" and found.kind == "ill-conditioned" and found.undecided == found.elements == 1


HOLED = """HloModule holes
ENTRY e { x = f32[1,4,1] parameter(0)
  k = f32[3,1,1] parameter(1)
  ROOT c = f32[1,4,1] convolution(x, k), window={size=3 pad=1_1}, dim_labels=b0f_0io->b0f }
"""


def evidence_of(text: str, *arguments: np.ndarray) -> Known:
    program, rows = Program(hlotool.parse(text)), [list(arguments)]
    samples = [sample_program(program, rows, seed)[0][0] for seed in range(12)]
    return Known(evaluate_program(program, rows)[0][0], shadow_program(program, rows)[0][0], samples)


def test_zeros_of_padding_may_be_multiplied_with_infinity_or_not() -> None:
    x, k = np.float32([[[1], [2], [3], [4]]]), np.float32([[[np.inf]], [[1]], [[1]]])
    evidence = evidence_of(HOLED, x, k)
    given = evidence.reference.copy()
    assert np.isnan(given[0, 0, 0])  # infinity times the zero beside the first element
    given[0, 0, 0] = 3.0
    assert judge(given, evidence).counts == {"equal": 3, "ill-conditioned": 1}
    given[0, 0, 0] = 30.0
    assert judge(given, evidence).is_wrong
    finite = evidence_of(HOLED, x, np.float32([[[1]], [[1]], [[1]]]))
    assert judge(given, finite).is_wrong


def test_the_size_of_infinity_and_nan_is_infinite() -> None:
    """C99, Annex G: that is no rounding, so a size that is NaN is a difference."""
    text = "HloModule m\nENTRY e { z = c64[2] parameter(0)\n  ROOT s = f32[2] abs(z) }"
    evidence = evidence_of(text, np.complex64([complex(np.inf, np.nan), 3 + 4j]))
    assert judge(np.float32([np.nan, 5]), evidence).kind is Kind.NON_FINITE
    assert judge(np.float32([np.inf, 5]), evidence).kind is Kind.EQUAL
    assert judge(np.float32([np.inf, np.nan]), evidence).kind is Kind.NON_FINITE


def test_a_factorisation_of_infinities_leaves_anything() -> None:
    text = ("HloModule m\nENTRY e { x = f32[2,2] parameter(0)\n"
            "  ROOT c = f32[2,2] cholesky(x), lower=true }")
    evidence = evidence_of(text, np.float32([[np.inf, 1], [1, np.inf]]))
    assert not judge(np.float32([[0, 17], [np.nan, -3e30]]), evidence).is_wrong
    finite = evidence_of(text, np.float32([[4, 0], [0, 9]]))
    assert judge(np.float32([[2, 0], [0, 4]]), finite).is_wrong


@pytest.mark.parametrize(("element_type", "largest"), [("float32", 1e9), ("bfloat16", 1e9), ("float16", 127.0)])
def test_ordinary_numbers_have_squares_in_their_type(element_type: str, largest: float) -> None:
    values = np.array([0, 1, -largest], ml_dtypes.bfloat16 if element_type == "bfloat16" else element_type)
    assert not is_extreme([[values[:2]]]) and is_extreme([[values * values[2:]]])
    assert not is_extreme([[values / values.dtype.type(1.25), values[1:2] * 1e-7]])
