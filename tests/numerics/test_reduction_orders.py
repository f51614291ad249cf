"""Reductions that choose among equal ones: any of them may come out, the initial one too."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.execution import Program
from hlotool.numerics import Draws, sample_program

LARGEST = """HloModule largest
choose {
  v = f32[] parameter(0)
  i = s32[] parameter(1)
  w = f32[] parameter(2)
  j = s32[] parameter(3)
  p = pred[] compare(v, w), direction=GT
  x = f32[] select(p, v, w)
  k = s32[] select(p, i, j)
  ROOT r = (f32[], s32[]) tuple(x, k)
}
ENTRY e {
  v = f32[4] parameter(0)
  i = s32[4] parameter(1)
  a = f32[] parameter(2)
  b = s32[] parameter(3)
  ROOT r = (f32[], s32[]) reduce(v, i, a, b), dimensions={0}, to_apply=choose
}
"""


def chosen(values: list[float], initial: float) -> set[int]:
    program = Program(hlotool.parse(LARGEST))
    row = [np.float32(values), np.int32([1, 2, 3, 4]), np.float32(initial), np.int32(9)]
    return {int(sample_program(program, [row], seed)[0][1]) for seed in range(40)}


def test_each_of_equal_ones_is_chosen_by_some_sample() -> None:
    assert chosen([0, 7, 7, 1], 7) == {2, 3, 9}


def test_the_only_largest_one_is_chosen_by_all() -> None:
    assert chosen([0, 7, 5, 1], 2) == {2}


#: the computation that sums
ADD = """add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT r = f32[] add(p, q)
}
"""
SCATTER = f"HloModule s\n{ADD}" """ENTRY e {
  x = f32[1] parameter(0)
  u = f32[2] parameter(1)
  i = s32[2,1] constant({{0},{0}})
  ROOT s = f32[1] scatter(x, i, u), to_apply=add, update_window_dims={}, inserted_window_dims={0},
    scatter_dims_to_operand_dims={0}, index_vector_dim=1
}
"""


def test_updates_of_a_scatter_may_be_summed_before_they_are_added() -> None:
    program = Program(hlotool.parse(SCATTER))
    row = [np.float32([-3e38]), np.float32([3e38, 3e38])]
    found = {float(sample_program(program, [row], seed)[0][0][0]) for seed in range(6)}
    assert np.inf in found and any(2.9e38 < f < 3.1e38 for f in found)


ACROSS = f"HloModule m, replica_count=2\n{ADD}" """ENTRY e {
  x = f32[1] parameter(0)
  y = f32[1] parameter(1)
  a = f32[1] all-reduce(x), replica_groups={{0,1}}, to_apply=add
  b = f32[1] all-reduce(y), replica_groups={{0,1}}, to_apply=add
  ROOT s = f32[1] add(a, b)
}
"""


def test_sums_over_devices_that_are_added_may_be_one() -> None:
    program = Program(hlotool.parse(ACROSS))
    rows = [[np.float32([value]), np.float32([0.001])] for value in (1e8, -1e8)]
    found = [sample_program(program, rows, seed) for seed in range(8)]
    assert max(abs(float(f[0][0][0]) - 0.002) for f in found) > 0.5  # (1e8 + 0.001) - 1e8 loses it
    assert all(f[0][0] == f[1][0] for f in found)


@pytest.mark.parametrize("draws", [Draws.ALL, Draws.STRICT])
def test_sums_in_windows_are_taken_in_other_orders(draws: Draws) -> None:
    text = (f"HloModule m\n{ADD}"
            "ENTRY e {\n  x = f32[3] parameter(0)\n  z = f32[] constant(0)\n"
            "  ROOT s = f32[3] reduce-window(x, z), window={size=3 pad=2_0}, to_apply=add\n}\n")
    program = Program(hlotool.parse(text))
    found = {float(sample_program(program, [[np.float32([1e30, -1e30, 1])]], (draws, seed))[0][0][2])
             for seed in range(16)}
    assert min(found) < 0 and max(found) > 1  # some last places of 1e30
