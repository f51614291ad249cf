"""A whole program and its partitioned form become small together, as long as compare says that they differ."""

from __future__ import annotations

import pathlib

import pytest

import hlotool
from hlotool.cli import main

WHOLE = """HloModule f, num_partitions=4

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }

ENTRY e {
  x = f32[8,4] parameter(0), sharding={devices=[4,1]<=[4]}
  w = f32[4,4] parameter(1), sharding={replicated}
  d = f32[8,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, sharding={devices=[4,1]<=[4]}
  h = f32[8,4] tanh(d), sharding={devices=[4,1]<=[4]}
  z = f32[] constant(0)
  s = f32[4] reduce(h, z), dimensions={0}, to_apply=add, sharding={replicated}
  n = f32[4] negate(s), sharding={replicated}
  c = f32[8,4] cosine(h), sharding={devices=[4,1]<=[4]}
  ROOT t = (f32[4], f32[8,4]) tuple(n, c)
}
"""
PART = """HloModule f_spmd, num_partitions=4

add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }

ENTRY e {
  x = f32[2,4] parameter(0)
  w = f32[4,4] parameter(1)
  d = f32[2,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  h = f32[2,4] tanh(d)
  z = f32[] constant(0)
  p = f32[4] reduce(h, z), dimensions={0}, to_apply=add
  s = f32[4] all-reduce(p), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=add
  n = f32[4] negate(s)
  c = f32[2,4] cosine(h)
  ROOT t = (f32[4], f32[2,4]) tuple(n, c)
}
"""


@pytest.fixture
def files(tmp_path: pathlib.Path) -> list[str]:
    for name, text in (("whole.hlo", WHOLE), ("part.hlo", PART)):
        (tmp_path / name).write_text(text)
    return [str(tmp_path / n) for n in ("whole.hlo", "part.hlo", "small.hlo", "small.other.hlo")]


def test_what_is_shared_is_handed_in_and_the_result_goes_up(files: list[str]) -> None:
    """Of both programs the sum is left: over all rows, and over two devices of four."""
    assert main(["reduce", *files[:2], "-o", files[2], "-j", "1"]) == 0
    whole, part = (hlotool.read(f) for f in files[2:])
    assert [i.opcode for i in whole.entry.instructions if i.opcode != "parameter"] == ["constant", "reduce"]
    assert {i.opcode for i in part.entry.instructions} == {"parameter", "constant", "reduce", "all-reduce"}
    assert whole.entry.parameters()[0].shape.dims == (8, 4) and part.entry.parameters()[0].shape.dims == (2, 4)
    assert hlotool.compare(whole, part).verdict == "differ"


def test_right_programs_are_not_reduced(files: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    pathlib.Path(files[1]).write_text(PART.replace("{{0,1},{2,3}}", "{{0,1,2,3}}"))
    assert main(["reduce", *files[:2], "-o", files[2], "-j", "1"]) == 1
    assert "E150" in capsys.readouterr().err
