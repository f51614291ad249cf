"""Hundreds of devices: what they do alike is computed once, and sums over all of them are no differences."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest
from device_steps import ADD, step

import hlotool
from hlotool.distributed import partition_between
from hlotool.execution import Program, arguments_for, evaluate_program
from hlotool.verdict import compare

SUM = f"""HloModule m, num_partitions=DEVICES
{ADD}
ENTRY e {{ x = f32[ROWS] parameter(0)SPLIT  zero = f32[] constant(0)
  r = f32[] reduce(x, zero), dimensions={{0}}, to_apply=add
  ROOT y = f32[] TOTAL }}"""


def test_a_training_step_agrees() -> None:
    whole, part = map(hlotool.parse, step(32, 8))
    found = hlotool.compare(whole, part, inputs=("random",), time_budget=0.5)
    assert found.verdict == "agree" and found.compared


def test_what_nobody_replaces_is_computed_once_for_devices_that_hold_the_same() -> None:
    """A rebinding that leaves an operation's function alone costs no call for each device."""
    whole, part = map(hlotool.parse, step(8, 8))
    partition = partition_between(Program(whole), Program(part))
    assert partition is not None
    calls: Counter[str] = Counter()

    def counted(instruction: Any, function: Any, keywords: Any) -> tuple[Any, Any]:
        def call(*values: Any, **more: Any) -> Any:
            calls[instruction.name] += 1
            return function(*values, **more)

        return (call if instruction.name == "h" else function), keywords

    given = partition.given(arguments_for(partition.whole, 0, "random"))
    changed = evaluate_program(partition.part, given, rebind=counted)
    assert calls == {"h": 64}
    for one, other in zip(changed, evaluate_program(partition.part, given), strict=True):
        assert all(map(np.array_equal, one, other))


@pytest.mark.parametrize("bias", ["", "off"])
def test_roundings_of_a_sum_over_all_devices_are_no_difference(bias: str) -> None:
    """The same number on each of 2,048 devices is rounded in the same direction each time."""
    devices = 2048
    text = SUM.replace("DEVICES", str(devices))
    whole = text.replace("ROWS", str(devices)).replace("SPLIT", f", sharding={{devices=[{devices}]<=[{devices}]}}")
    part = text.replace("ROWS", "1").replace("SPLIT", "").replace(
        "TOTAL", "all-reduce(r), channel_id=1, replica_groups={}, to_apply=add")
    if bias:
        part = part.replace("ROOT y = f32[] all", "c = f32[] constant(1.00005)  q = f32[] all").replace(
            "to_apply=add }", "to_apply=add  ROOT y = f32[] multiply(q, c) }")
    found = compare(hlotool.parse(whole.replace("TOTAL", "copy(r)")), hlotool.parse(part),
                    arguments=[np.full(devices, 0.1, np.float32)])
    assert found.verdict == ("differ" if bias else "agree")
