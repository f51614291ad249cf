"""Elementwise operations of bounded sizes: cut to the smaller one, or spread from 1 where both are set."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.execution import Program, evaluate_program

MODULE = """HloModule m
ENTRY e {{
  x = s32[4] parameter(0)
  y = s32[4] parameter(1)
  m = s32[] constant({first})
  n = s32[] constant({second})
  a = s32[<=4] set-dimension-size(x, m), dimensions={{0}}
  {other}
  ROOT r = s32[<=4] add(a, b)
}}
"""
SET = "b = s32[<=4] set-dimension-size(y, n), dimensions={0}"
WHOLE = "b = s32[<=4] broadcast(n), dimensions={}"


@pytest.mark.parametrize(("first", "second", "other", "expected"), [
    (1, 3, SET, [11, 21, 31]), (3, 1, SET, [11, 12, 13]), (2, 3, SET, [11, 22]), (1, 5, WHOLE, [6])])
def test_sizes_that_do_not_agree(first: int, second: int, other: str, expected: list[int]) -> None:
    program = Program(hlotool.parse(MODULE.format(first=first, second=second, other=other)))
    [[found]] = evaluate_program(program, [[np.int32([1, 2, 3, 4]), np.int32([10, 20, 30, 40])]])
    assert found.tolist() == expected
