"""The instruction of a partitioned program that is guilty, and those that are not."""

from __future__ import annotations

import json
import pathlib

import pytest

import hlotool
from hlotool.blame import parts_record
from hlotool.cli import main
from hlotool.ir import HloModule

WHOLE = """HloModule f, num_partitions=4

ENTRY e {
  x = f32[4,8] parameter(0), sharding={devices=[2,2]<=[4]}
  w = f32[8,6] parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  d = f32[4,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="dot"}
  t = f32[4,6] tanh(d), metadata={op_name="tanh"}
  i = s32[4,6] iota(), iota_dimension=0, metadata={op_name="iota"}
  c = f32[4,6] convert(i), metadata={op_name="convert"}
  ROOT y = f32[4,6] add(t, c), sharding={devices=[2,1,2]<=[4] last_tile_dim_replicate}, metadata={op_name="add"}
}
"""
PART = """HloModule f, num_partitions=4

fold { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }

ENTRY e_spmd {
  x = f32[2,4] parameter(0), sharding={devices=[2,2]<=[4]}
  w = f32[4,6] parameter(1), sharding={devices=[2,1,2]<=[2,2]T(1,0) last_tile_dim_replicate}
  d = f32[2,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="dot"}
  r = f32[2,6] all-reduce(d), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=fold
  t = f32[2,6] tanh(r), metadata={op_name="tanh"}
  rows = s32[4] constant({0, 0, 2, 2})
  n = u32[] partition-id()
  start = s32[1] dynamic-slice(rows, n), dynamic_slice_sizes={1}
  flat = s32[] reshape(start)
  all = s32[2,6] broadcast(flat), dimensions={}
  own = s32[2,6] iota(), iota_dimension=0
  i = s32[2,6] add(own, all), metadata={op_name="iota"}
  c = f32[2,6] convert(i), metadata={op_name="convert"}
  ROOT y = f32[2,6] add(t, c), metadata={op_name="add"}
}
"""
REDUCE = ("all-reduce(d), channel_id=1, replica_groups={{0,1},{2,3}}, use_global_device_ids=true, to_apply=fold")


def modules(*edits: tuple[str, str]) -> tuple[HloModule, HloModule]:
    text = PART
    for old, new in edits:
        assert old in text
        text = text.replace(old, new)
    return hlotool.parse(WHOLE), hlotool.parse(text)


@pytest.mark.parametrize(("edits", "guilty", "said"), [
    ([("{{0,1},{2,3}}", "{{0,2},{1,3}}")], "r", "needs the groups along an axis: {0,1},{2,3}"),
    ([("{{0,1},{2,3}}", "{{0,3},{1,2}}")], "r", "needs the groups along an axis: {0,1},{2,3}"),
    ([("s = f32[] add(p, q)", "s = f32[] maximum(p, q)")], "r", "the reduction add"),
    ([(REDUCE, "copy(d)")], "r", "needs an all-reduce over the groups along an axis: {0,1},{2,3}"),
    ([("tanh(r)", "tanh(d)")], "t", "it takes d, a part of a sum; the value needs r"),
    ([("{0, 0, 2, 2}", "{0, 0, 2, 1}")], "rows", "1 at device 3, and 2 is needed"),
    ([("{0, 0, 2, 2}", "{0, 2, 0, 2}")], "rows", "2 at device 1, and 0 is needed, 0 at device 2, and 2 is needed"),
    ([("n = u32[] partition-id()", "o = u32[] partition-id()  k = u32[] constant(3)  n = u32[] xor(o, k)")], "n",
     "not the device's own number")])
def test_the_guilty_instruction_is_named(edits: list[tuple[str, str]], guilty: str, said: str) -> None:
    found = hlotool.isolate(*modules(*edits))
    assert found.place is not None and found.place.instruction.name == guilty
    assert said in found.diagnostics[0].message
    shown = hlotool.compare(*modules(*edits))
    assert (shown.verdict, shown.instruction) == ("differ", guilty)


@pytest.mark.parametrize("devices", ["", ", device_ids=[0, 2, 1, 3]"])
def test_groups_have_the_names_of_axes(devices: str) -> None:
    """Also where the mesh lists its devices in another order."""
    names = "model", "data"
    if devices:
        names = "data", "model"
    mesh = f'{{mesh = #sdy.mesh<[\\"{names[1]}\\"=2, \\"{names[0]}\\"=2]{devices}>}}'
    whole, part = modules(("{{0,1},{2,3}}", "{{0,2},{1,3}}"))
    text = WHOLE.replace("num_partitions=4", f'num_partitions=4, frontend_attributes={{xla.sdy.meshes="{mesh}"}}')
    found = hlotool.isolate(hlotool.parse(text), part)
    assert whole is not None and "it adds over {0,2},{1,3}; the value needs the axis `model`" in found.diagnostics[
        0].message


def test_a_value_of_one_device_is_named_with_the_device() -> None:
    found = hlotool.isolate(*modules(
        (f"r = f32[2,6] {REDUCE}", f"""good = f32[2,6] {REDUCE}
  m = u32[] partition-id()
  two = u32[] constant(2)
  is = pred[] compare(m, two), direction=EQ
  wide = pred[2,6] broadcast(is), dimensions={{}}
  twice = f32[2,6] add(good, good)
  r = f32[2,6] select(wide, twice, good)""")))
    assert found.parts is not None and found.parts.devices == [2]
    assert found.place is not None and found.place.instruction.name == "r"


def test_without_proof_nothing_is_named() -> None:
    """Two faults, of which no single repair mends both."""
    found = hlotool.isolate(*modules(("{{0,1},{2,3}}", "{{0,2},{1,3}}"), ("{0, 0, 2, 2}", "{0, 0, 2, 1}")))
    assert not found.is_clean and found.place is None and found.parts is not None and found.parts.devices
    assert parts_record("a", "b", found.parts)["instruction"] == ""


def test_the_right_program_is_clean_and_the_command_writes_a_record(tmp_path: pathlib.Path,
                                                                     capsys: pytest.CaptureFixture[str]) -> None:
    assert hlotool.isolate(*modules()).is_clean
    whole, part = tmp_path / "whole.hlo", tmp_path / "part.hlo"
    whole.write_text(WHOLE)
    part.write_text(PART.replace("{{0,1},{2,3}}", "{{0,2},{1,3}}"))
    assert main(["isolate", str(whole), str(part), "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    assert record["instruction"] == "r" and record["devices"] == [0, 1, 2, 3] and record["hlo_line"]
    assert main(["isolate", str(whole), str(part)]) == 1
    assert "part at r" in capsys.readouterr().out


def test_values_of_all_devices_are_held_against_the_whole_program(tmp_path: pathlib.Path,
                                                                   capsys: pytest.CaptureFixture[str]) -> None:
    whole, part = tmp_path / "whole.hlo", tmp_path / "part.hlo"
    whole.write_text(WHOLE)
    part.write_text(PART)
    assert main(["diff", "--values", str(whole), str(part), "--json"]) == 0
    found = {o["name"]: (o["fate"], o["became"]) for o in json.loads(capsys.readouterr().out)["operations"]}
    assert found["d"] == ("rewritten", "r") and found["t"] == ("kept", "t") and found["y"] == ("kept", "y")
    part.write_text(PART.replace("{{0,1},{2,3}}", "{{0,2},{1,3}}"))
    assert main(["diff", "--values", str(whole), str(part), "--json"]) == 1
    record = json.loads(capsys.readouterr().out)
    found = {o["name"]: o["fate"] for o in record["operations"]}
    assert (found["d"], found["t"], found["y"]) == ("gone",) * 3 and record["different_results"] == [0]


def test_a_collective_of_one_device_each_is_named_behind_a_fusion() -> None:
    """A part of a sum that leaves a fusion for an all-reduce over groups of one device is not taken together by it."""
    product = "f32[2,6] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
    fused = "inner { x = f32[2,4] parameter(0)  w = f32[4,6] parameter(1)  ROOT p = " + product + " }\n\nENTRY"
    found = hlotool.isolate(*modules(
        ("d = " + product + ', metadata={op_name="dot"}', "d = f32[2,6] fusion(x, w), kind=kOutput, calls=inner"),
        ("ENTRY", fused), ("{{0,1},{2,3}}", "{{0},{1},{2},{3}}")))
    assert found.place is not None and found.place.instruction.name == "r"
    assert "needs an all-reduce over" in found.diagnostics[0].message


RING = """HloModule f, num_partitions=4

ENTRY e {
  x = f32[4,3] parameter(0), sharding={devices=[4,1]<=[4]}
  s = f32[1,3] custom-call(x), custom_call_target="SPMDFullToShardShape", sharding={manual}
  a = f32[1,3] collective-permute(s), channel_id=1, source_target_pairs=PAIRS, sharding={manual}
  b = f32[1,3] collective-permute(a), channel_id=1, source_target_pairs=PAIRS, sharding={manual}
  g = f32[1,3] tanh(a), sharding={manual}
  h = f32[1,3] tanh(b), sharding={manual}
  y = f32[1,3] subtract(g, h), sharding={manual}
  ROOT r = f32[4,3] custom-call(y), custom_call_target="SPMDShardToFullShape", sharding={devices=[4,1]<=[4]}
}
"""
RING_PART = """HloModule f, num_partitions=4

ENTRY e_spmd {
  s = f32[1,3] parameter(0), sharding={devices=[4,1]<=[4]}
  a = f32[1,3] collective-permute(s), channel_id=1, source_target_pairs=PAIRS
  b = f32[1,3] collective-permute(a), channel_id=1, source_target_pairs=OTHERS
  g = f32[1,3] tanh(a)
  h = f32[1,3] tanh(b)
  ROOT y = f32[1,3] subtract(g, h)
}
"""


def test_a_permute_that_gives_what_another_one_of_the_region_gives_is_named() -> None:
    """The second step of a ring goes back: devices hold what they hold elsewhere in the region of the whole program."""
    ring, back = "{{0,1},{1,2},{2,3},{3,0}}", "{{1,0},{2,1},{3,2},{0,3}}"
    whole, right, wrong = (hlotool.parse(text.replace("PAIRS", ring).replace("OTHERS", others)) for text, others in (
        (RING, ""), (RING_PART, ring), (RING_PART, back)))
    assert hlotool.isolate(whole, right).is_clean
    found = hlotool.isolate(whole, wrong)
    assert found.place is not None and found.place.instruction.name == "b", found.diagnostics[0]


MASKED = """HloModule f, num_partitions=4

ENTRY e {
  x = f32[4,6] parameter(0), sharding={devices=[4,1]<=[4]}
  i = s32[6] iota(), iota_dimension=0, metadata={op_name="iota"}
  j = s32[4,6] broadcast(i), dimensions={1}, metadata={op_name="columns"}
  k = s32[] constant(3)
  l = s32[4,6] broadcast(k), dimensions={}, metadata={op_name="limit"}
  m = pred[4,6] compare(j, l), direction=LT, metadata={op_name="mask"}
  zero = f32[] constant(0)
  z = f32[4,6] broadcast(zero), dimensions={}, metadata={op_name="zeros"}
  one = f32[] constant(1)
  o = f32[4,6] broadcast(one), dimensions={}, metadata={op_name="ones"}
  t = f32[4,6] select(m, x, z), metadata={op_name="where"}
  s = f32[4,6] exponential(t), metadata={op_name="exp"}
  u = f32[4,6] add(s, o), metadata={op_name="add"}
  ROOT r = f32[4,6] tanh(u), metadata={op_name="tanh"}, sharding={devices=[4,1]<=[4]}
}
"""


@pytest.mark.parametrize(("old", "new", "guilty"), [
    ("constant(3)", "constant(4)", "k"), ("direction=LT", "direction=NE", "m"),
    ("broadcast(one)", "broadcast(zero)", "o"), ("exponential(t)", "copy(t)", "s"), ("add(s, o)", "add(t, o)", "u"),
    ("add(s, o)", "add(s, s)", "u"), ("select(m, x, z)", "select(m, z, x)", "t"),
    ("compare(j, l)", "compare(l, j)", "m"),
    ("constant(1)", "constant(2)", "one"), ("exponential(t)", "negate(t)", "s"),
    ("add(s, o)", "multiply(s, o)", "u"), ("tanh(u)", "tanh(s)", "r"), ("tanh(u)", "tanh(t)", "r"),
])
def test_those_that_do_what_their_counterparts_do_are_innocent(old: str, new: str, guilty: str) -> None:
    """A wrong value shows behind masks and numbers, which are none of the whole program's."""
    right = MASKED.replace("4,6]", "1,6]")
    assert hlotool.isolate(MASKED, right).is_clean
    found = hlotool.isolate(MASKED, right.replace(old, new))
    assert found.place is not None and found.place.instruction.name == guilty, found.diagnostics[0]


LOOP = """HloModule f, num_partitions=4

body {
  s = (s32[], f32[4,3]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  one = s32[] constant(1)
  m = s32[] add(n, one), metadata={op_name="next"}
  x = f32[4,3] get-tuple-element(s), index=1
  t = f32[4,3] tanh(x), metadata={op_name="tanh"}
  half = f32[] constant(0.5)
  h = f32[4,3] broadcast(half), dimensions={}, metadata={op_name="half"}
  y = f32[4,3] subtract(t, h), metadata={op_name="sub"}
  ROOT r = (s32[], f32[4,3]) tuple(m, y)
}

condition {
  s = (s32[], f32[4,3]) parameter(0)
  n = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT p = pred[] compare(n, three), direction=LT, metadata={op_name="less"}
}

ENTRY e {
  x = f32[4,3] parameter(0), sharding={devices=[4,1]<=[4]}
  zero = s32[] constant(0)
  s = (s32[], f32[4,3]) tuple(zero, x)
  w = (s32[], f32[4,3]) while(s), condition=condition, body=body
  ROOT y = f32[4,3] get-tuple-element(w), index=1, sharding={devices=[4,1]<=[4]}
}
"""


@pytest.mark.parametrize(("old", "new", "guilty"), [
    ("subtract(t, h)", "subtract(h, t)", "y"), ("tanh(x)", "cosine(x)", "t"), ("tanh(x)", "copy(x)", "t"),
    ("constant(0.5)", "constant(1.5)", "half"), ("direction=LT", "direction=LE", "p"),
    ("constant(3)", "constant(5)", "three")])
def test_the_guilty_instruction_of_a_loop_is_named_with_its_round(old: str, new: str, guilty: str) -> None:
    right = LOOP.replace("4,3]", "1,3]")
    assert hlotool.isolate(LOOP, right).is_clean
    found = hlotool.isolate(LOOP, right.replace(old, new))
    assert found.place is not None and found.place.instruction.name == guilty, found.diagnostics[0]
    assert found.place.iterations == (0,)


NORM = """HloModule f, num_partitions=4

fold { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT t = f32[] add(p, q), metadata={op_name="sum"} }

ENTRY e {
  x = f32[8,3] parameter(0), sharding={devices=[4,1]<=[4]}
  zero = f32[] constant(0)
  s = f32[3] reduce(x, zero), dimensions={0}, to_apply=fold, metadata={op_name="sum"}
  b = f32[8,3] broadcast(s), dimensions={1}, metadata={op_name="spread"}
  c = f32[8,3] subtract(x, b), metadata={op_name="sub"}
  d = f32[8,3] multiply(c, c), metadata={op_name="square"}
  v = f32[3] reduce(d, zero), dimensions={0}, to_apply=fold, metadata={op_name="sum"}
  eight = f32[] constant(8)
  n = f32[3] broadcast(eight), dimensions={}, metadata={op_name="count"}
  ROOT m = f32[3] divide(v, n), metadata={op_name="div"}
}
"""
NORM_PART = """HloModule f, num_partitions=4

fold { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT t = f32[] add(p, q), metadata={op_name="sum"} }
taken { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT l = f32[] add(p, q), metadata={op_name="sum"} }

ENTRY e_spmd {
  x = f32[2,3] parameter(0), sharding={devices=[4,1]<=[4]}
  zero = f32[] constant(0)
  s.1 = f32[3] reduce(x, zero), dimensions={0}, to_apply=taken, metadata={op_name="sum"}
  s = f32[3] all-reduce(s.1), channel_id=1, GROUPS, to_apply=fold, metadata={op_name="sum"}
  b = f32[2,3] broadcast(s), dimensions={1}, metadata={op_name="spread"}
  c = f32[2,3] subtract(x, b), metadata={op_name="sub"}
  d = f32[2,3] multiply(c, c), metadata={op_name="square"}
  v.1 = f32[3] reduce(d, zero), dimensions={0}, to_apply=fold, metadata={op_name="sum"}
  v = f32[3] all-reduce(v.1), channel_id=2, GROUPS, to_apply=fold, metadata={op_name="sum"}
  eight = f32[] constant(8)
  n = f32[3] broadcast(eight), dimensions={}, metadata={op_name="count"}
  ROOT m = f32[3] divide(v, n), metadata={op_name="div"}
}
""".replace("GROUPS", "replica_groups={{0,1,2,3}}, use_global_device_ids=true")


@pytest.mark.parametrize(("old", "new", "guilty"), [
    ("l = f32[] add(p, q)", "l = f32[] add(p, p)", "s.1"), ("l = f32[] add(p, q)", "l = f32[] maximum(p, q)", "l"),
    ("subtract(x, b)", "subtract(b, x)", None), ("subtract(x, b)", "add(x, b)", "c"),
    ("divide(v, n)", "divide(n, v)", "m"), ("multiply(c, c)", "multiply(c, b)", "d"),
    ("subtract(x, b)", "copy(x)", "c")])
def test_what_is_computed_of_a_wrong_value_is_innocent(old: str, new: str, guilty: str | None) -> None:
    """An all-reduce of what a wrong reduction gives is not guilty, nor is what takes a value under another name."""
    assert hlotool.isolate(NORM, NORM_PART).is_clean
    found = hlotool.isolate(NORM, NORM_PART.replace(old, new))
    if guilty is None:  # the square of a difference does not tell its sign
        assert found.is_clean
        return
    assert found.place is not None and found.place.instruction.name == guilty, found.diagnostics[0]


def test_of_several_that_can_be_mended_none_is_named() -> None:
    """A mask is turned round: the other direction of its comparison mends it, and so do the choices exchanged."""
    whole = MASKED.replace(', metadata={op_name="mask"}', "").replace(', metadata={op_name="where"}', "")
    right = whole.replace("4,6]", "1,6]")
    assert hlotool.isolate(whole, right).is_clean
    found = hlotool.isolate(whole, right.replace("direction=LT", "direction=GE"))
    assert found.place is None and found.parts is not None
    assert {"m", "t"} <= {p.instruction.name for p in found.parts.remaining}
    assert "not decided" in found.diagnostics[0].message
    record = parts_record("a", "b", found.parts)
    assert record["instruction"] == "" and {"m", "t"} <= set(record["remaining"])


MASKED_SUM = """HloModule f, num_partitions=2

fold { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }

ENTRY e {
  x = f32[7] parameter(0), sharding={replicated}
  y = f32[7] multiply(x, x), metadata={op_name="mul"}, sharding={devices=[2]<=[2]}
  none = s32[] constant(0)
  zero = f32[] convert(none), metadata={op_name="zero"}
  ROOT r = f32[] reduce(y, zero), dimensions={0}, to_apply=fold, metadata={op_name="sum"}
}
"""
MASKED_SUM_PART = """HloModule f, num_partitions=2

fold { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }

ENTRY e_spmd {
  x = f32[7] parameter(0)
  none = s32[] constant(0)
  zero = f32[] convert(none), metadata={op_name="zero"}
  wide = f32[8] pad(x, zero), padding=0_1
  n = u32[] partition-id()
  firsts = s32[2] constant({0, 4}), metadata={op_name="sum"}
  at = s32[1] dynamic-slice(firsts, n), dynamic_slice_sizes={1}, metadata={op_name="sum"}
  first = s32[] reshape(at), metadata={op_name="sum"}
  own = f32[4] dynamic-slice(wide, first), dynamic_slice_sizes={4}
  y = f32[4] multiply(own, own), metadata={op_name="mul"}
  rows = s32[4] iota(), iota_dimension=0, metadata={op_name="sum"}
  all = s32[4] broadcast(first), dimensions={}, metadata={op_name="sum"}
  row = s32[4] add(rows, all), metadata={op_name="sum"}
  end = s32[] constant(7), metadata={op_name="sum"}
  ends = s32[4] broadcast(end), dimensions={}, metadata={op_name="sum"}
  mask = pred[4] compare(row, ends), direction=LT, metadata={op_name="sum"}
  zeros = f32[4] broadcast(zero), dimensions={}, metadata={op_name="sum"}
  held = f32[4] select(mask, y, zeros), metadata={op_name="sum"}
  part = f32[] reduce(held, zero), dimensions={0}, to_apply=fold, metadata={op_name="sum"}
  ROOT r = f32[] all-reduce(part), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=fold
}
"""


@pytest.mark.parametrize(("old", "new", "guilty"), [
    ("broadcast(end)", "broadcast(first)", "ends"), ("constant(7)", "constant(5)", "end"),
    ("select(mask, y, zeros)", "select(mask, zeros, y)", "held")])
def test_behind_a_wrong_mask_no_innocent_is_named(old: str, new: str, guilty: str) -> None:
    """A sum of nothing is the zero of the whole program by chance, and any number is a multiple of its sum."""
    assert hlotool.isolate(MASKED_SUM, MASKED_SUM_PART).is_clean
    found = hlotool.isolate(MASKED_SUM, MASKED_SUM_PART.replace(old, new))
    named = found.place.instruction.name if found.place is not None else None
    assert not found.is_clean and named in (guilty, None), found.diagnostics[0]
    assert found.parts is not None
    assert named or guilty in {p.instruction.name for p in found.parts.remaining}, found.diagnostics[0]


def test_a_number_that_fills_up_what_is_added_is_doubted_before_the_sum_is_named() -> None:
    """The value that a sum should have makes the results right, and so does another number in its padding."""
    filled = MASKED_SUM_PART.replace("  wide = ", "  fill = f32[] constant(0.5)\n  wide = ").replace(
        "broadcast(zero)", "broadcast(fill)")
    found = hlotool.isolate(MASKED_SUM, filled)
    named = found.place.instruction.name if found.place is not None else None
    assert not found.is_clean and found.parts is not None and named in ("fill", "zeros", None), found.diagnostics[0]
    assert named or {"fill", "zeros"} & {p.instruction.name for p in found.parts.remaining}, found.diagnostics[0]


def test_what_takes_a_value_out_of_a_call_is_not_named_for_the_tuple_that_gives_it() -> None:
    whole = """HloModule f, num_partitions=2
ENTRY e { x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  s = f32[4] sine(x), sharding={devices=[2]<=[2]}
  t = f32[4] tanh(s), sharding={devices=[2]<=[2]}
  ROOT r = (f32[4], f32[4]) tuple(t, s), sharding={{devices=[2]<=[2]}, {devices=[2]<=[2]}}
}
"""
    part = """HloModule f, num_partitions=2
inner { x = f32[2] parameter(0)
  s = f32[2] sine(x)
  t = f32[2] tanh(s)
  ROOT both = (f32[2], f32[2]) tuple(s, s)
}
ENTRY e_spmd { x = f32[2] parameter(0)
  c = (f32[2], f32[2]) call(x), to_apply=inner
  first = f32[2] get-tuple-element(c), index=0
  t = f32[2] copy(first)
  s = f32[2] get-tuple-element(c), index=1
  ROOT r = (f32[2], f32[2]) tuple(t, s)
}
"""
    found = hlotool.isolate(whole, part)
    assert found.place is None and found.parts is not None, found.diagnostics[0]
    assert "both" in {p.instruction.name for p in found.parts.remaining}, found.diagnostics[0]


def test_a_constant_that_others_take_is_not_named_for_the_one_that_takes_it_wrongly() -> None:
    """The product is zero whatever it begins with, so that another number in the place of `one` mends the results."""
    whole = """HloModule f, num_partitions=2
fold { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] multiply(p, q) }
ENTRY e { x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  two = f32[] constant(2)
  twos = f32[4] broadcast(two), dimensions={}, metadata={op_name="twos"}
  y = f32[4] multiply(x, twos), metadata={op_name="mul"}
  none = f32[4] subtract(x, x), metadata={op_name="none"}
  one = f32[] constant(1)
  r = f32[] reduce(none, one), dimensions={0}, to_apply=fold, metadata={op_name="product"}
  ROOT t = (f32[4], f32[]) tuple(y, r), sharding={{devices=[2]<=[2]}, {replicated}}
}
"""
    part = """HloModule f, num_partitions=2
fold { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] multiply(p, q) }
ENTRY e_spmd { x = f32[2] parameter(0)
  one = f32[] constant(1)
  twos = f32[2] broadcast(one), dimensions={}, metadata={op_name="twos"}
  y = f32[2] multiply(x, twos), metadata={op_name="mul"}
  none = f32[2] subtract(x, x), metadata={op_name="none"}
  own = f32[] reduce(none, one), dimensions={0}, to_apply=fold, metadata={op_name="product"}
  r = f32[] all-reduce(own), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=fold
  ROOT t = (f32[2], f32[]) tuple(y, r)
}
"""
    found = hlotool.isolate(whole, part)
    assert not found.is_clean and (found.place is None or found.place.instruction.name == "twos"), found.place


def test_a_wrong_reduction_is_named_though_another_filling_would_do() -> None:
    whole = """HloModule f, num_partitions=2
ENTRY e { x = f32[4] parameter(0), sharding={devices=[2]<=[2]}
  ROOT r = f32[1] slice(x), slice={[0:1]}, metadata={op_name="slice"}, sharding={replicated}
}
"""
    part = """HloModule f, num_partitions=2
fold { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] multiply(p, q) }
ENTRY e_spmd { x = f32[2] parameter(0)
  n = u32[] partition-id()
  first = u32[] constant(0), metadata={op_name="slice"}
  is = pred[] compare(n, first), direction=EQ, metadata={op_name="slice"}
  mask = pred[1] broadcast(is), dimensions={}, metadata={op_name="slice"}
  own = f32[1] slice(x), slice={[0:1]}, metadata={op_name="slice"}
  zero = f32[] constant(0), metadata={op_name="slice"}
  zeros = f32[1] broadcast(zero), dimensions={}, metadata={op_name="slice"}
  held = f32[1] select(mask, own, zeros), metadata={op_name="slice"}
  ROOT r = f32[1] all-reduce(held), channel_id=1, replica_groups={{0,1}}, use_global_device_ids=true, to_apply=fold
}
"""
    found = hlotool.isolate(whole, part)
    assert found.place is not None and found.place.instruction.name == "r", found.diagnostics[0]
