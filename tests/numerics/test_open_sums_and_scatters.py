"""What samples leave open of integral sums of float products, and of scatters whose reducer hangs on the order."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

from hlotool import parse
from hlotool.execution import Program, evaluate_program
from hlotool.numerics import Draws, sample_program
from hlotool.numerics.overflow import OpenEnds

DOT = ("HloModule m\nENTRY e {{\n  x = {0}[2] parameter(0)\n  y = {0}[2] parameter(1)\n"
       "  ROOT d = {1}[] dot(x, y), lhs_contracting_dims={{0}}, rhs_contracting_dims={{0}}\n}}\n")
SCATTER = """HloModule m
f {{
  a = s32[] parameter(0)
  b = s32[] parameter(1)
  c = s32[] parameter(2)
  d = s32[] parameter(3)
  p = s32[] {}
  q = s32[] {}
  ROOT t = (s32[], s32[]) tuple(p, q)
}}
ENTRY e {{
  x = s32[3] parameter(0)
  y = s32[3] parameter(1)
  i = s32[3,1] parameter(2)
  u = s32[3] parameter(3)
  v = s32[3] parameter(4)
  ROOT s = (s32[3], s32[3]) scatter(x, y, i, u, v), update_window_dims={{}}, inserted_window_dims={{0}},
      scatter_dims_to_operand_dims={{0}}, index_vector_dim=1, to_apply=f
}}
"""


@pytest.mark.parametrize(("kind", "target", "expected"), [
    ("f32", "s32", 6), ("f16", "s8", 6), ("bf16", "u8", 6), ("f64", "s64", 6), ("f32", "pred", True)])
def test_floats_are_added_up_before_they_become_integers(kind: str, target: str, expected: int) -> None:
    program = Program(parse(DOT.format(kind, target)))
    dtype = program.parameters[0].dtype.numpy
    found = evaluate_program(program, [[np.array([2.5, 0.75], dtype), np.array([2.5, 0.75], dtype)]])[0][0]
    assert found.item() == expected  # 6.25 + 0.5625; not 2 * 2


def test_an_integral_sum_of_floats_hangs_on_its_last_place() -> None:
    program = Program(parse(DOT.format("bf16", "s32")))
    near = [np.array([1.9921875, 0], ml_dtypes.bfloat16), np.array([1.5, 0], ml_dtypes.bfloat16)]
    whole = [np.array([2, 0], ml_dtypes.bfloat16), np.array([1.5, 0], ml_dtypes.bfloat16)]
    assert {int(sample_program(program, [near], seed)[0][0]) for seed in range(4)} == {2, 3}
    assert {int(sample_program(program, [whole], seed)[0][0]) for seed in range(4)} == {3}


@pytest.mark.parametrize(("reducer", "is_open"), [
    (("add(a, c)", "maximum(b, d)"), False), (("add(a, b)", "add(c, d)"), True),
    (("copy(c)", "copy(d)"), False), (("subtract(c, a)", "add(b, d)"), True)])
def test_updates_that_may_not_be_exchanged_leave_their_element_open(reducer: tuple[str, str], is_open: bool) -> None:
    program = Program(parse(SCATTER.format(*reducer)))
    row = [np.array(a, np.int32) for a in ([1, 2, 3], [4, 5, 6], [[1], [1], [2]], [10, 10, 30], [50, 50, 70])]
    right = evaluate_program(program, [row])[0]
    found = [sample_program(program, [row], seed)[0] for seed in range(12)]
    assert any(f[k][1] != right[k][1] for f in found for k in range(2)) == is_open
    for at in (0, 2):  # no update, and one alone
        assert all(f[k][at] == right[k][at] for f in found for k in range(2))


def test_each_of_several_ways_is_drawn_for_some_elements() -> None:
    where = np.arange(200) % 2 == 0
    ways = [np.full(200, n, np.float32) for n in range(3)]
    drawn = OpenEnds(7, np.random.default_rng(0))._one_of(ways, where)
    assert set(drawn[where]) == {0.0, 1.0, 2.0} and set(drawn[~where]) == {0.0}
    for seed in range(3):
        assert set(OpenEnds(seed, None)._one_of(ways, where)[where]) == {float(seed)}


@pytest.mark.parametrize("between", ["copy(p)", "reverse(p), dimensions={0}", "negate(p)"])
def test_a_product_that_is_handed_on_may_stay_unrounded(between: str) -> None:
    """inf - inf is NaN, and a number beyond the type's end minus infinity is minus infinity."""
    program = Program(parse("ENTRY e { x = f32[2] parameter(0)  y = f32[2] parameter(1)  z = f32[2] parameter(2)\n"
                            f"p = f32[2] multiply(x, y)  m = f32[2] {between}  ROOT s = f32[2] add(m, z) }}"))
    sign = -1 if "negate" in between else 1
    row = [np.float32([v, v]) for v in (1e30, 1e30, -sign * np.inf)]
    found = {float(v) for seed in range(12) for v in sample_program(program, [row], seed)[0][0] if not np.isnan(v)}
    assert found == {-sign * np.inf}
    assert all(np.isnan(sample_program(program, [row], (Draws.STRICT, seed))[0][0]).all() for seed in range(4))
