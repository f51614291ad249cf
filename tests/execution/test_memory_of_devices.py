"""What many devices hold together is held against the memory that there is, before it is made."""

from __future__ import annotations

import hlotool
from hlotool.execution import arguments_problem
from hlotool.ir import Shape

MANY = """HloModule m, num_partitions=256
ENTRY e {
  x = f32[65536,8192] parameter(0)
  ROOT n = f32[65536,8192] negate(x)
}
"""


def test_arguments_of_many_devices_that_find_no_room_are_refused_at_once() -> None:
    found = hlotool.compare(MANY, time_budget=1.0)
    assert found.verdict == "none"
    assert [d.code for d in found.diagnostics] == ["E112"]
    assert "256 devices" in found.diagnostics[0].message


def test_small_arguments_are_not_looked_at() -> None:
    assert not arguments_problem(8, [Shape.array("f32", (16,))])
    assert arguments_problem(1 << 20, [Shape.array("f32", (1 << 30,))])
