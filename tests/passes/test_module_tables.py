"""Rows, graphs and fingerprints of modules; edits that are verified where they end."""

from __future__ import annotations

import pathlib

import pytest

import hlotool
from hlotool.passes.equality import size_blind_fingerprint

MODELS = sorted((pathlib.Path(__file__).parents[2] / "samples" / "models").glob("*.hlo"))
TEXT = """HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY e { x = f32[4] parameter(0)  z = f32[] constant(0)  y = f32[4] multiply(x, x)
          ROOT r = f32[] reduce(y, z), dimensions={0}, to_apply=sum }
"""


def test_rows_hold_every_instruction():
    rows = hlotool.to_records(TEXT)
    assert [r["name"] for r in rows] == ["a", "b", "s", "x", "z", "y", "r"]
    reduce = rows[-1]
    assert (reduce["computation"], reduce["opcode"], reduce["bytes"]) == ("e", "reduce", 4)
    assert (reduce["operands"], reduce["called"], reduce["text_line"]) == (["y", "z"], ["sum"], 4)


def test_graphs_have_uses_and_calls():
    pytest.importorskip("networkx")
    graph = hlotool.to_networkx(TEXT)
    assert set(graph.predecessors("e/r")) == {"e/y", "e/z", "sum/s"}
    assert graph.number_of_edges("e/x", "e/y") == 2
    assert graph.nodes["e/y"]["opcode"] == "multiply"


@pytest.mark.parametrize("path", MODELS, ids=lambda p: p.stem)
def test_fingerprints_are_blind_to_names_and_metadata_and_to_nothing_else(path):
    module, again = hlotool.read(path), hlotool.read(path)
    again.name = "another"
    for n, instruction in enumerate(again.instructions()):
        instruction.name, instruction.metadata = f"v{n}", None
    assert hlotool.fingerprint(module) == hlotool.fingerprint(again)
    again.entry.root.opcode = "custom"
    assert hlotool.fingerprint(module) != hlotool.fingerprint(again)


def test_the_tables_that_metadata_refers_to_are_metadata():
    bare, one, other = (hlotool.parse(TEXT) for _ in range(3))
    rest = {"FunctionNames": ('1 "f"',), "FileLocations": (), "StackFrames": ()}
    one.tables = {"FileNames": ('1 "/here/model.py"',), **rest}
    other.tables = {"FileNames": ('1 "/elsewhere/model.py"',), **rest}
    assert "/here/model.py" in str(one)
    assert hlotool.fingerprint(one) == hlotool.fingerprint(other) == hlotool.fingerprint(bare)
    assert one.tables


SIZED = """HloModule m
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
ENTRY e {
  x = f32[8,16]{1,0} parameter(0)
  y = f32[16,4]{1,0} parameter(1)
  d = f32[8,4]{1,0} dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0.125)
  p = f32[8,4]{1,0} broadcast(z), dimensions={}
  q = f32[8,4]{1,0} multiply(d, p)
  s = f32[4,4]{1,0} slice(q), slice={[0:4], [0:4]}
  ROOT r = f32[4]{0} reduce(s, z), dimensions={1}, to_apply=sum
}
"""


@pytest.mark.parametrize("change", [
    {"8,": "32,", "0.125": "0.03125"}, {"x": "renamed", "e {": "main {"}, {"f32[8,4]{1,0} d": "f32[8,4]{0,1} d"},
    {"slice={[0:4], [0:4]}": "slice={[4:8], [0:4]}"}, {"multiply(d, p)": 'multiply(d, p), metadata={op_name="a/b"}'}])
def test_a_size_blind_fingerprint_is_that_of_another_batch(change):
    changed = SIZED
    for old, new in change.items():
        assert old in changed
        changed = changed.replace(old, new)
    found = {size_blind_fingerprint(hlotool.parse(t)) for t in (SIZED, changed)}
    assert len(found) == 1


@pytest.mark.parametrize(("old", "new"), [
    ("multiply(d, p)", "add(d, p)"), ("multiply(d, p)", "multiply(p, d)"), ("dimensions={1}", "dimensions={0}"),
    ("add(a, b)", "maximum(a, b)"), ("f32", "bf16"), ("ROOT c = f32[] add", "c = f32[] add"),
    ("lhs_contracting_dims={1}, rhs_contracting_dims={0}", "lhs_contracting_dims={0}, rhs_contracting_dims={0}"),
    ("y = f32[16,4]{1,0} parameter(1)", "y = f32[16,4]{1,0} parameter(2)"), ("broadcast(z)", "reshape(z)")])
def test_a_size_blind_fingerprint_tells_other_programs(old, new):
    assert old in SIZED
    changed = SIZED.replace(old, new)
    if old.startswith("ROOT"):
        changed = SIZED.replace("b = f32[] parameter(1)  ROOT c", "ROOT b = f32[] parameter(1)  c")
    assert size_blind_fingerprint(hlotool.parse(SIZED)) != size_blind_fingerprint(hlotool.parse(changed))


def test_edits_are_verified_where_they_end():
    module = hlotool.parse(TEXT)
    with hlotool.editing(module) as edit:
        y = module.entry["y"]
        edit.replace_uses({y: edit.insert(module.entry, "negate", y.shape, (module.entry["x"],), before=y)})
        edit.sweep()
    assert [i.opcode for i in module.entry] == ["parameter", "constant", "negate", "reduce"]
    with pytest.raises(hlotool.HloError) as caught, hlotool.editing(module) as edit:
        edit.insert(module.entry, "dot", module.entry.root.shape, (module.entry["x"],), before=module.entry.root)
    assert caught.value.diagnostics
