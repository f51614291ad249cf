"""Programs of whole arrays with regions that are partitioned by hand, on the reference."""

from __future__ import annotations

import pathlib

import numpy as np
import pytest

import hlotool
from hlotool.blame import blame_pair
from hlotool.diagnostics import HloError
from hlotool.execution import Program, evaluate_program, executor_named
from hlotool.numerics import sample_program, shadow_program

SHARD_MAP = pathlib.Path(__file__).parents[2] / "samples/models/sharded_collectives.hlo"
ROWS = """HloModule rows, num_partitions=4
add {
  p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT s = f32[] add(p, q)
}
ENTRY e {
  x = f32[4,6] parameter(0), sharding={SPLIT}
  c = f32[4,6] copy(x), sharding={SPLIT}
  s = f32[2,3] custom-call(c), custom_call_target="SPMDFullToShardShape", sharding={manual}
  i = u32[] partition-id(), sharding={manual}
  j = f32[] convert(i), sharding={manual}
  b = f32[2,3] broadcast(j), dimensions={}, sharding={manual}
  m = f32[2,3] MAKE, sharding={manual}
  f = f32[4,6] custom-call(m), custom_call_target="SPMDShardToFullShape", sharding={SPLIT}
  ROOT r = f32[4,6] add(f, x)
}
"""
X = np.arange(24, dtype=np.float32).reshape(4, 6)


def rows(make: str, split: str = "devices=[2,2]<=[4]") -> Program:
    return Program(hlotool.parse(ROWS.replace("MAKE", make).replace("SPLIT", split)))


@pytest.mark.parametrize(("split", "order"), [("devices=[2,2]<=[4]", [[0, 1], [2, 3]]),
                                              ("devices=[2,2]<=[2,2]T(1,0)", [[0, 2], [1, 3]]),
                                              ("devices=[2,2]3,1,0,2", [[3, 1], [0, 2]])])
def test_each_partition_has_its_own_part(split: str, order: list[list[int]]) -> None:
    [[found]] = evaluate_program(rows("add(s, b)", split), [[X]])
    assert np.array_equal(found, 2 * X + np.kron(np.float32(order), np.ones((2, 3), np.float32)))


def test_partitions_meet_in_a_region() -> None:
    program = rows("all-reduce(s), channel_id=1, use_global_device_ids=true, replica_groups={{0,1},{2,3}}, "
                   "to_apply=add")
    expected = X + np.tile(X[:, :3] + X[:, 3:], 2)
    for [[found]] in (evaluate_program(program, [[X]]), shadow_program(program, [[X]]),
                      sample_program(program, [[X]], 0)):
        assert np.array_equal(found, expected)


def test_jax_shard_map_gives_what_xla_gives() -> None:
    program = Program(hlotool.read(SHARD_MAP))
    generator = np.random.default_rng(0)
    row = [generator.normal(size=s.dims).astype(np.float32) for s in program.parameters]
    [ours], [xlas] = evaluate_program(program, [row]), executor_named("pjrt:cpu").run(program, [[row]])[0]
    assert len(ours) == len(xlas) == 5
    for one, other in zip(ours, xlas, strict=True):
        assert np.allclose(one, other, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("old", "new", "said"), [
    ("devices=[2,2]<=[4]", "devices=[1,4]<=[4]", "in parts of other sizes"),
    ("devices=[2,2]<=[4]", "devices=[2,2,1]<=[4] last_tile_dims={manual}", "not in tiles of whole devices"),
    ("devices=[2,2]<=[4]", "devices=[2,1]<=[2]", "is not over 4 devices"),
    ("ROOT r = f32[4,6] add(f, x)", "ROOT r = f32[2,3] negate(m), sharding={manual}", "a result is a part"),
    ("ROOT r = f32[4,6] add(f, x)", "ROOT r = f32[4,6] all-reduce(f), channel_id=2, replica_groups={{0,1,2,3}}, "
     "use_global_device_ids=true, to_apply=add", "is outside of it")])
def test_what_is_not_understood_is_refused(old: str, new: str, said: str) -> None:
    text = ROWS.replace("MAKE", "add(s, b)").replace("SPLIT", "devices=[2,2]<=[4]").replace(old, new)
    with pytest.raises(HloError, match=said) as refused:
        evaluate_program(Program(hlotool.parse(text)), [[X]])
    assert refused.value.diagnostics[0].code == "E106" and refused.value.diagnostics[0].line


ALIKE = """HloModule alike, num_partitions=4
ENTRY e {
  x = f32[8] parameter(0), sharding={devices=[4]<=[4]}
  s = f32[2] custom-call(x), custom_call_target="SPMDFullToShardShape", MANUAL
  g = f32[8] all-gather(s), channel_id=1, replica_groups={{0,1,2,3}}, dimensions={0}, use_global_device_ids=true, MANUAL
  i = u32[] partition-id(), MANUAL
  d = u32[] constant(DEVICE), MANUAL
  c = pred[] compare(i, d), direction=EQ, MANUAL
  b = pred[8] broadcast(c), dimensions={}, MANUAL
  n = f32[8] negate(g), MANUAL
  v = f32[8] select(b, n, g), MANUAL
  ROOT r = f32[8] custom-call(v), custom_call_target="SPMDShardToFullShape", sharding={replicated}
}
""".replace("MANUAL", "sharding={manual}")


def test_partitions_that_leave_a_region_with_other_values_of_one_array_are_told() -> None:
    """The array of the first partition is not the program's: `compare` would agree about what is wrong elsewhere."""
    right, wrong = (hlotool.parse(ALIKE.replace("DEVICE", device)) for device in ("7", "3"))
    found = hlotool.compare(right, wrong, executors=("reference",), time_budget=1.0)
    assert found.verdict == "none"
    assert "partitions 0 and 3 leave the region with different values" in found.diagnostics[0].message
    assert hlotool.compare(right, right, executors=("reference",), time_budget=1.0).verdict == "agree"
    # Roundings may be drawn for each partition by itself.
    x = np.arange(8, dtype=np.float32)
    assert sample_program(Program(wrong), [[x]], 0)


def test_parts_are_compared_at_higher_precision_too() -> None:
    """NumPy's widest floats are no element type, and equal ones may have other bytes."""
    right, wrong = (Program(hlotool.parse(ALIKE.replace("DEVICE", d).replace("f32", "f64"))) for d in ("7", "3"))
    x = np.arange(8) / 3
    assert np.array_equal(shadow_program(right, [[x]])[0][0].astype(np.float64), x)
    with pytest.raises(HloError, match="partitions 0 and 3 leave the region"):
        shadow_program(wrong, [[x]])


def test_the_cause_of_several_values_of_one_part_is_searched_where_the_first_partition_shows_it() -> None:
    right, first, last = (Program(hlotool.parse(ALIKE.replace("DEVICE", device))) for device in ("7", "0", "3"))
    rows = [[np.arange(1, 9, dtype=np.float32)]]
    found = blame_pair(right, first, rows)
    assert found is not None and found.place is not None and found.place.instruction.name == "d"
    with pytest.raises(HloError, match="partitions 0 and 3 leave the region"):
        blame_pair(right, last, rows)
