"""Work beyond the limit of time by its size is refused before it begins."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.execution import Options, execute
from hlotool.execution.hopeless import refuse_hopeless

ADD = "add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }\n"
LESS = "less { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = pred[] compare(a, b), direction=LT }\n"
HUGE = {
    "convolution": "ENTRY e { z = f32[] parameter(0)  x = f32[1,4000,4000,64] broadcast(z), dimensions={}\n"
                   "k = f32[129,129,64,64] broadcast(z), dimensions={}\nROOT big = f32[1,3872,3872,64] "
                   "convolution(x, k), window={size=129x129}, dim_labels=b01f_01io->b01f }",
    "reduce-window": ADD + "ENTRY e { z = f32[] parameter(0)  x = f32[10000000] broadcast(z), dimensions={}\n"
                     "ROOT big = f32[5000001] reduce-window(x, z), window={size=5000000}, to_apply=add }",
    "dot": "ENTRY e { z = f32[] parameter(0)  x = f32[60000,60000] broadcast(z), dimensions={}\nROOT big = "
           "f32[60000,60000] dot(x, x), lhs_contracting_dims={1}, rhs_contracting_dims={0} }",
    "sort": LESS + "ENTRY e { z = f32[] parameter(0)  x = f32[400000000] broadcast(z), dimensions={}\n"
            "ROOT big = f32[400000000] sort(x), dimensions={0}, to_apply=less }"}


@pytest.mark.parametrize("opcode", HUGE)
def test_huge_work_is_named_and_not_begun(opcode: str) -> None:
    with pytest.raises(hlotool.HloError) as caught:
        refuse_hopeless(hlotool.parse(HUGE[opcode]), 60.0)
    (found,) = caught.value.diagnostics
    assert found.code == "E105" and found.message.startswith(f"{opcode} big: ")
    assert "B, take the reference more than" in found.message
    refuse_hopeless(hlotool.parse(HUGE[opcode]), 1e9)


def test_what_only_some_runs_reach_is_not_counted() -> None:
    inner = HUGE["dot"].replace("ENTRY e", "branch").replace("ROOT big", "big").replace(
        "rhs_contracting_dims={0} }", "rhs_contracting_dims={0}\nROOT r = f32[1,1] slice(big), slice={[0:1],[0:1]} }")
    other = "other { z = f32[] parameter(0)  ROOT r = f32[1,1] broadcast(z), dimensions={} }\n"
    module = hlotool.parse(f"{inner}\n{other}ENTRY e {{ p = pred[] parameter(0)  z = f32[] parameter(1)\n"
                           "ROOT c = f32[1,1] conditional(p, z, z), true_computation=branch, "
                           "false_computation=other }")
    refuse_hopeless(module, 60.0)


def test_the_reference_asks_before_it_begins() -> None:
    module = hlotool.parse(HUGE["reduce-window"])
    with pytest.raises(hlotool.HloError) as caught:
        execute(module, [1.0], "reference", Options(time_limit=40.0))
    assert "the limit is 40 s" in caught.value.diagnostics[0].message
