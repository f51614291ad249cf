"""Devices that wait for each other forever: in the text, and when it runs."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program

TEXT = """HloModule m, num_partitions=2

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }

left {
  p = (f32[4], f32[4]) parameter(0)
  x = f32[4] get-tuple-element(p), index=0
  y = f32[4] get-tuple-element(p), index=1
  one = f32[4] all-reduce(x), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  z = f32[4] multiply(one, y)
  ROOT two = f32[4] all-reduce(z), channel_id=2, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
}

right {
  p.1 = (f32[4], f32[4]) parameter(0)
  x.1 = f32[4] get-tuple-element(p.1), index=0
  y.1 = f32[4] get-tuple-element(p.1), index=1
  one.1 = f32[4] all-reduce(x.1), channel_id=FIRST, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=add
  z.1 = f32[4] multiply(one.1, y.1)
  ROOT two.1 = f32[4] all-reduce(z.1), channel_id=SECOND, replica_groups={{0,1}}, to_apply=add,
      use_global_device_ids=true
}

ENTRY main {
  x.2 = f32[4] parameter(0)
  y.2 = f32[4] parameter(1)
  n = u32[] partition-id()
  i = s32[] convert(n)
  t = (f32[4], f32[4]) tuple(x.2, y.2)
  ROOT c = f32[4] conditional(i, t, t), branch_computations={left, right}
}
"""
ROWS = [[np.ones(4, np.float32)] * 2] * 2


def of(first: int, second: int) -> str:
    return TEXT.replace("FIRST", str(first)).replace("SECOND", str(second))


def test_another_order_in_another_branch_is_a_finding_and_an_error() -> None:
    assert "W502" in {d.code for d in hlotool.lint(of(2, 1))}
    with pytest.raises(HloError) as refused:
        evaluate_program(Program(hlotool.parse(of(2, 1))), ROWS)
    said = str(refused.value)
    assert "wait for ever" in said and "one (channel 1)" in said and "one.1 (channel 2)" in said


def test_one_order_in_all_branches_is_right() -> None:
    assert "W502" not in {d.code for d in hlotool.lint(of(1, 2))}
    assert evaluate_program(Program(hlotool.parse(of(1, 2))), ROWS)[0][0].tolist() == [4.0] * 4


def test_different_collectives_on_one_channel_do_not_meet() -> None:
    text = of(1, 2).replace("one.1 = f32[4] all-reduce(x.1), channel_id=1, replica_groups={{0,1}}, "
                            "use_global_device_ids=true, to_apply=add",
                            "one.1 = f32[4] collective-permute(x.1), channel_id=1, source_target_pairs={{0,1},{1,0}}")
    with pytest.raises(HloError, match=r"wait for ever|different collectives"):
        evaluate_program(Program(hlotool.parse(text)), ROWS)
