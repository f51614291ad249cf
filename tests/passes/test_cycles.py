"""Modules made through the API whose instructions wait for themselves: a diagnostic, never an endless walk."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.ir import Attributes, HloModule, cycles, post_order


def chain(n: int) -> HloModule:
    rows = "".join(f"  v{i} = f32[2] add(v{i - 1}, v{i - 1})\n" for i in range(1, n))
    return hlotool.parse(f"ENTRY e {{\n  v0 = f32[2] parameter(0)\n{rows}  ROOT r = f32[2] negate(v{n - 1})\n}}\n")


def codes(module: HloModule) -> set[str]:
    return {d.code for d in hlotool.verify(module)}


@pytest.mark.parametrize("size", [2, 40])
def test_operands_in_a_circle(size: int) -> None:
    module = chain(size)
    first, last = module.entry.instructions[1], module.entry.instructions[-2]
    first.operands = (last, last)
    assert cycles(module.entry)
    assert sorted(i.name for i in post_order(module.entry)) == sorted(i.name for i in module.entry.instructions)
    assert "V106" in codes(module)


def test_control_predecessors_in_a_circle() -> None:
    module = chain(40)
    first, last = module.entry.instructions[1], module.entry.instructions[-1]
    first.attributes = Attributes({"control-predecessors": (last,)})
    assert cycles(module.entry)
    assert len(post_order(module.entry)) == len(module.entry.instructions)
    assert "V106" in codes(module)


def test_an_instruction_that_waits_for_itself() -> None:
    module = chain(3)
    second = module.entry.instructions[2]
    second.attributes = Attributes({"control-predecessors": (second,)})
    assert cycles(module.entry) == [second]
    assert "V106" in codes(module)


def test_no_circle_is_seen_where_there_is_none() -> None:
    module = chain(40)
    module.entry.instructions.reverse()
    module.entry.instructions[0].attributes = Attributes({
        "control-predecessors": tuple(module.entry.instructions[1:])})
    assert cycles(module.entry) == []
    assert "V106" not in codes(module)
    order = post_order(module.entry)
    assert all(order.index(o) < order.index(i) for i in order for o in i.operands)
