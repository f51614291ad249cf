"""Reductions that choose among equal ones: any of them may come out, the initial one too."""

from __future__ import annotations

import numpy as np

import hlotool
from hlotool.execution import Program, sample_program

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
