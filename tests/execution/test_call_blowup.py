"""Calls that multiply without end are told before anything is run; those that no run may reach do not count."""

from __future__ import annotations

import pytest
from doubling_calls import doubling_calls

import hlotool
from hlotool.diagnostics import HloError
from hlotool.execution import Program

#: what stands around calls that double, by whether they are certain to be executed
AROUND = {
    "call(x), to_apply=LAST": True,
    "reduce(y, x), dimensions={0}, to_apply=TWO": True,
    "reduce(none, x), dimensions={0}, to_apply=TWO": False,
    "conditional(x, x, x), branch_computations={LAST, LAST}": True,
    "conditional(x, x, x), branch_computations={LAST, c0}": False,
    "while(x), condition=always, body=LAST": False,
    "while(x), condition=no, body=c0": True,
}


@pytest.mark.parametrize("around", AROUND)
def test_calls_that_multiply_without_end_are_told_before_anything_is_run(around: str) -> None:
    text = doubling_calls(60)
    extra = """two {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  c = f32[] call(a), to_apply=LAST
  ROOT d = f32[] add(b, c)
}
always { x = f32[] parameter(0)  ROOT t = pred[] constant(true) }
no { x = f32[] parameter(0)  y = f32[] call(x), to_apply=LAST  ROOT t = pred[] compare(x, y), direction=LT }
"""
    entry = f"""ENTRY e {{
  x = f32[] parameter(0)
  i = s32[] parameter(1)
  y = f32[4] broadcast(x), dimensions={{}}
  none = f32[0] broadcast(x), dimensions={{}}
  ROOT z = f32[] {around.replace("conditional(x", "conditional(i")}
}}"""
    text = (text[:text.index("ENTRY")] + extra + entry).replace("LAST", "c59").replace("TWO", "two")
    module = hlotool.parse(text)
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]
    if not AROUND[around]:
        assert Program(module).devices == 1
        return
    with pytest.raises(HloError) as error:
        Program(module)
    assert [d.code for d in error.value.diagnostics] == ["E105"] and "z never ends" in str(error.value)


def test_dead_calls_do_not_count() -> None:
    text = doubling_calls(60).replace("ROOT z = f32[] call(x), to_apply=c59\n}",
                           "z = f32[] call(x), to_apply=c59\n  ROOT r = add(x, x)\n}")
    assert Program(hlotool.parse(text)).devices == 1
