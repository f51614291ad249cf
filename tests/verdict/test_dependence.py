"""What of a program depends on its arguments."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.execution import Program
from hlotool.verdict.dependence import Dependence

BRANCHES = """HloModule m
same { a = f32[] parameter(0)  ROOT b = f32[] tanh(a) }
fixed { a = f32[] parameter(0)  ROOT b = f32[] constant(1) }
ENTRY e {
  x = f32[] parameter(0)
  which = s32[] constant(0)
  ROOT r = f32[] conditional(which, x, x, x), branch_computations={BRANCHES}
}
"""


@pytest.mark.parametrize(("branches", "depends"), [
    ("same, fixed, fixed", True), ("fixed, same, fixed", True), ("fixed, fixed, same", True),
    ("fixed, fixed, fixed", False)])
def test_any_branch_may_be_the_one(branches: str, depends: bool) -> None:
    text = BRANCHES.replace("{BRANCHES}", f"{{{branches}}}")
    assert Dependence(Program(hlotool.parse(text))).results is depends
