"""hlotool cost: tables for people, JSON for programs, exit codes."""

from __future__ import annotations

import json
import pathlib

import pytest

from hlotool.cli import main

MODELS = pathlib.Path(__file__).parents[2] / "samples" / "models"
STEP = str(MODELS / "mlp_train_step.optimized.hlo")


def run(capsys, *given):
    code = main(["cost", *given])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


@pytest.mark.parametrize("options", [(), ("--by", "line"), ("--memory",), ("--communication",), ("--device", "h100")])
def test_tables_fit_a_terminal(capsys, monkeypatch, options):
    monkeypatch.setenv("COLUMNS", "80")
    code, out, _ = run(capsys, STEP, *options)
    assert code == 0
    assert max(map(len, out.splitlines()[1:])) <= 80


def test_json_holds_what_the_tables_show(capsys):
    code, out, _ = run(capsys, STEP, str(MODELS / "sharded_collectives.optimized.hlo"), "--format", "json", "--device",
                       "a100")
    found = json.loads(out)
    assert code == 0
    assert found["version"] == 1
    step, sharded = found["modules"]
    assert step["total"]["flops"] == sum(r["flops"] for r in step["rows"])
    assert step["memory"]["arguments"] == 15984
    assert step["roofline"]["device"] == "a100"
    assert {t["opcode"] for t in sharded["communication"]} >= {"all-reduce", "all-gather"}
    assert all(r["source"] for r in step["rows"] if r["opcode"] == "dot")


def test_what_cannot_be_counted_is_said(capsys, tmp_path):
    broken = tmp_path / "broken.hlo"
    broken.write_text("HloModule x\nENTRY main { ROOT y = f32[] add( }")
    assert run(capsys, str(broken))[0] == 2
    code, _, err = run(capsys, STEP, "--device", "abacus")
    assert code == 2
    assert "abacus" in err
    assert run(capsys)[0] == 2


def test_devices_are_listed(capsys):
    code, out, _ = run(capsys, "--devices")
    assert code == 0
    assert "h100" in out


def test_buffer_assignments_are_tables_too(capsys, tmp_path):
    path = tmp_path / "module-buffer-assignment.txt"
    path.write_text("BufferAssignment:\nallocation 3: size 64, preallocated-temp:\n"
                    " value: <1 a\x1b[31m.1 @0> (size=64,offset=0): f32[16]{0}\n")
    code, out, _ = run(capsys, str(path))
    assert code == 0
    assert "64 B temporary" in out
    assert "\x1b" not in out
    code, out, _ = run(capsys, str(path), "--format", "json")
    assert json.loads(out)["modules"][0]["memory"]["total"] == 64


def test_live_ranges_beside_a_buffer_assignment_tell_what_lives_at_its_peak(capsys, tmp_path):
    path = tmp_path / "m-buffer-assignment.txt"
    path.write_text("BufferAssignment:\nallocation 3: size 96, preallocated-temp:\n"
                    " value: <1 a @0> (size=64,offset=0): f32[16]{0}\n value: <2 b @0> (size=96,offset=0): f32[24]\n")
    assert "no live ranges beside it" in run(capsys, str(path))[1]
    (tmp_path / "m-live-range.txt").write_text(
        "HloLiveRange (max 3):\n  InstructionSequence:\n    0:a\n    1:b\x1b[31m\n  BufferLiveRange:\n"
        "    a{}:0-0\n    b{}:1-2\n")
    code, out, _ = run(capsys, str(path))
    assert code == 0 and "most lives at b" in out and "f32[24]" in out and "f32[16]" not in out and "\x1b" not in out
    peak = json.loads(run(capsys, str(path), "--format", "json")[1])["modules"][0]["memory"]["peak"]
    assert peak["time"] == 1 and [row["name"] for row in peak["live"]] == ["b"]


def test_a_page_is_written_and_never_over_what_was_read(capsys, tmp_path):
    page, module = tmp_path / "costs.html", tmp_path / "step.hlo"
    module.write_text(pathlib.Path(STEP).read_text())
    assert run(capsys, str(module), "--html", str(page), "--device", "a100")[:2] == (0, f"{page}\n")
    assert "Roofline of a100" in page.read_text() and "Memory over time" in page.read_text()
    assert run(capsys, str(module), "--html", str(module))[0] == 2
    assert module.read_text() == pathlib.Path(STEP).read_text()
    broken = tmp_path / "broken.hlo"
    broken.write_text("HloModule x\nENTRY main { ROOT y = f32[] add( }")
    assert run(capsys, str(broken), "--html", str(tmp_path / "none.html"))[0] == 2
    assert not (tmp_path / "none.html").exists()


@pytest.mark.parametrize(("grouping", "word"), [
    ("axis", "of stride"), ("group", "{{0,1},{2,3}}"), ("opcode", "all-reduce"), ("line", "dump.py:"),
    ("scope", "shard_map")])
def test_communication_adds_up_by_axis_group_kind_and_line(capsys, grouping, word):
    sharded = str(MODELS / "sharded_collectives.optimized.hlo")
    code, out, _ = run(capsys, sharded, "--communication", "--by", grouping, "--limit", "0")
    assert code == 0
    assert word in out
    assert run(capsys, STEP, "--by", "axis")[0] == 2


def test_axes_of_a_mesh_are_named(capsys, tmp_path):
    path = tmp_path / "mesh.hlo"
    path.write_text("""HloModule ring, num_partitions=4
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[8] parameter(0)
  r = f32[8] all-reduce(x), channel_id=1, replica_groups=mesh['data'=2,'model'=2] {'data'},
    use_global_device_ids=true, to_apply=sum
  ROOT q = f32[8] all-reduce(r), channel_id=2, replica_groups=mesh['data'=2,'model'=2] {'model'},
    use_global_device_ids=true, to_apply=sum
}""")
    code, out, err = run(capsys, str(path), "--communication", "--by", "axis", "--format", "json")
    assert code == 0, err
    assert [t["axis"] for t in json.loads(out)["modules"][0]["communication"]] == ["data", "model"]
    out = run(capsys, str(path), "--communication", "--by", "axis")[1]
    assert " data " in out and " model " in out
