"""Meshes are shrunk where an axis only repeats; what depends on its places is refused, at the place."""

from __future__ import annotations

import pathlib

import device_steps
import numpy as np
import pytest

import hlotool
from hlotool.cli import main
from hlotool.execution import Program, evaluate_program
from hlotool.passes.shrink_mesh import devices_left, shrink_axes

EXCHANGE = """HloModule m, num_partitions=6

add {{ a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }}

ENTRY e {{
  x = f32[2] parameter(0)
  ROOT y = {0}
}}
"""


def test_a_step_on_4096_devices_becomes_one_on_four_with_the_same_values() -> None:
    """Where all along the axes have the same parts, a sum over them is so many times theirs."""
    module = hlotool.parse(device_steps.step(512, 8)[1])
    axes = shrink_axes(module)
    assert [a.axis.size for a in axes] == [512, 8] and module.device_counts == (1, 4)
    assert "run the same instructions" in axes[0].reason
    assert devices_left(axes, 4096) == [0, 1, 8, 9]
    few = hlotool.parse(device_steps.step(2, 2)[1])
    one, other = ([sorted(map(sorted, i.attributes["replica_groups"].lists())) for i in m.instructions()
                   if "replica_groups" in i.attributes] for m in (module, few))
    assert one == other


def test_values_of_the_devices_that_are_left_are_kept_but_for_the_length_of_sums() -> None:
    text = EXCHANGE.format("f32[2] all-reduce(x), channel_id=1, replica_groups={{0,2,4},{1,3,5}}, "
                           "use_global_device_ids=true, to_apply=add")
    module = hlotool.parse(text)
    shrink_axes(module)
    given = [[np.float32([d, 1])] for d in range(4)]
    made = evaluate_program(Program(module), [[given[d % 2][0]] for d in range(module.device_counts[1])])
    many = evaluate_program(Program(hlotool.parse(text)), [[given[d % 2][0]] for d in range(6)])
    for few, full in zip(made, many, strict=False):
        np.testing.assert_allclose(few[0] / 2, full[0] / 3)


@pytest.mark.parametrize("exchange", [
    "f32[12] all-gather(x), channel_id=1, replica_groups={{0,1,2,3,4,5}}, dimensions={0}, use_global_device_ids=true",
    "f32[2] collective-permute(x), channel_id=1, source_target_pairs={{0,1},{1,2},{2,3},{3,4},{4,5},{5,0}}",
    "f32[2] all-reduce(x), channel_id=1, replica_groups={{0,1},{2,3,4,5}}, use_global_device_ids=true, to_apply=add"])
def test_what_joins_places_in_another_way_is_refused(exchange: str) -> None:
    module = hlotool.parse(EXCHANGE.format(exchange))
    with pytest.raises(hlotool.HloError) as error:
        shrink_axes(module)
    found = error.value.diagnostics[0]
    assert found.code == "V271" and found.line and " y " in found.message


def test_a_number_of_each_device_is_refused_and_one_of_another_axis_is_not() -> None:
    table = """HloModule m, num_partitions=6
ENTRY e {{
  p = u32[] partition-id()
  t = s32[6] constant({{{0}}})
  ROOT o = s32[1] dynamic-slice(t, p), dynamic_slice_sizes={{1}}
}}"""
    with pytest.raises(hlotool.HloError, match="depends on the number of the device"):
        shrink_axes(hlotool.parse(table.format("0,1,2,3,4,5")))
    module = hlotool.parse(table.format("7,8,7,8,7,8"))
    shrink_axes(module)
    assert module.entry["t"].literal.array.tolist() == [7, 8, 7, 8]


def test_the_command_says_why_two_are_enough(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "part.hlo"
    path.write_text(device_steps.step(16, 4)[1])
    assert main(["shrink", str(path), "-o", str(tmp_path / "small.hlo")]) == 0
    said = capsys.readouterr().err
    assert "the 16 devices along an axis of stride 4 run the same instructions" in said and "64 -> 4 devices" in said
    assert hlotool.read(tmp_path / "small.hlo").device_counts == (1, 4)
    path.write_text(EXCHANGE.format("f32[2] negate(x)").replace("num_partitions=6", "num_partitions=2"))
    assert main(["shrink", str(path)]) == 1
    assert "V271" in capsys.readouterr().err
