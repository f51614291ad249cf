"""Drawings for other programs: dot, SVG, Model Explorer's graphs; the record of a page; values from files."""

from __future__ import annotations

import base64
import hashlib
import json
import pathlib
import re
from xml.etree import ElementTree

import jsonschema
import numpy as np
import pytest
from test_view_in_browser import HOSTILE, SCOPED

import hlotool
from hlotool.cli import main
from hlotool.cli.report_format import schema_text
from hlotool.diagnostics import HloError
from hlotool.passes.equality import became, diff
from hlotool.view import (
    DEFAULT_BOXES,
    Values,
    as_dot,
    as_model_explorer,
    as_svg,
    module_page,
    pair_page,
    read_values,
    viewed,
)
from hlotool.view.page_data import fates_record, match_record, module_record

MODELS = pathlib.Path(__file__).parents[2] / "samples" / "models"
STEP = MODELS / "mlp_train_step.optimized.hlo"


def test_dot_holds_every_instruction_and_use_where_all_is_open() -> None:
    module = hlotool.read(str(STEP))
    text = as_dot(module, None)
    boxes = re.findall(r"^ *(n[\d_]+) \[label=", text, re.M)
    assert len(boxes) == len(set(boxes)) == sum(len(c.instructions) for c in module)
    uses = {(o, i) for c in module for i in c for o in i.operands}
    edges = re.findall(r"^ *(n[\d_]+) -> (n[\d_]+);", text, re.M)
    assert len(edges) == len(uses)
    assert {name for edge in edges for name in edge} <= set(boxes)
    assert text.count("{") == text.count("}")


def test_dot_folds_what_is_large() -> None:
    text = as_dot(hlotool.parse(SCOPED), 5)
    assert "8 instructions" in text or "×8" in text
    assert "exponential.3.2" not in text


def test_svg_is_xml_with_the_folds_of_the_entry() -> None:
    root = ElementTree.fromstring(as_svg(hlotool.parse(SCOPED), 12))
    texts = ["".join(t.itertext()) for t in root.iter("{http://www.w3.org/2000/svg}text")]
    assert [t for t in texts if t.startswith("block_")] == [f"block_{n}" for n in range(8)]


def test_model_explorer_gets_what_its_schema_says() -> None:
    module = hlotool.read(str(STEP))
    found = as_model_explorer(module)
    jsonschema.validate(found, json.loads(schema_text("hlotool.view:GraphCollection", "view")))
    assert found["graphs"][0]["id"] == module.entry.name
    for graph, computation in zip(found["graphs"][1:], [c for c in module if c is not module.entry], strict=True):
        assert [n["id"] for n in graph["nodes"]] == [i.name for i in computation]
        ids = {n["id"] for n in graph["nodes"]}
        assert {e["sourceNodeId"] for n in graph["nodes"] for e in n["incomingEdges"]} <= ids
    ids = {g["id"] for g in found["graphs"]}
    assert {c for g in found["graphs"] for n in g["nodes"] for c in n.get("subgraphIds", ())} <= ids


def hostile() -> hlotool.HloModule:
    module = hlotool.parse(SCOPED)
    module.name = HOSTILE
    module.entry.instructions[5].name = HOSTILE
    return module


def test_hostile_names_are_escaped_in_every_drawing() -> None:
    ElementTree.fromstring(as_svg(hostile(), 200))
    assert "<img" not in as_svg(hostile(), 200)
    dot = as_dot(hostile(), None)
    outside = re.sub(r'"(?:[^"\\]|\\.)*"', "", dot)
    assert "onerror" in dot
    assert "onerror" not in outside
    json.dumps(as_model_explorer(hostile()))


def test_a_page_names_its_scripts_by_their_hashes_and_allows_nothing_else() -> None:
    page = module_page("x", hlotool.parse(SCOPED))
    policy = re.search(r'<meta http-equiv="Content-Security-Policy" content="([^"]*)">', page)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe" not in policy[1]
    scripts = re.findall(r"<script>(.*?)</script>", page, re.S)
    assert len(scripts) == 2
    for script in scripts:
        digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
        assert f"'sha256-{digest}'" in policy[1]
    assert not re.findall(r"""(?:src|href)\s*=\s*["']?https?:""", page)
    assert not any("innerHTML" in script for script in scripts)


def test_pairs_of_a_diff_cover_what_it_matched() -> None:
    left = viewed("a", hlotool.parse(SCOPED))
    right = viewed("b", hlotool.parse(SCOPED.replace("%exponential", "%e").replace("negate(", "cosine(")))
    found = diff(left.module, right.module)
    names = {a.name: b.name for a, b in found.pairs().items()}
    assert names["exponential.3.4"] == "e.3.4"
    assert names["last"] == "last"
    assert names["sum"] == "sum"
    record = match_record(left, right, found)
    for n, step in enumerate(record["partner"]):
        partner = n + step if step >= 0 else n + step + 1
        assert right.instructions[partner].name == names[left.instructions[n].name]
    assert [[p[0] for p in parts] for _, _, parts in record["changed"]] == [["opcode"]]


BEFORE = """HloModule before
ENTRY e { p = f32[4] parameter(0), metadata={op_name="p"}
  a = f32[4] multiply(p, p), metadata={op_name="f/mul"}  b = f32[4] tanh(a), metadata={op_name="f/tanh"}
  c = f32[4] add(b, p), metadata={op_name="f/add"}  d = f32[4] sine(c), metadata={op_name="f/sin"}
  ROOT r = f32[4] negate(d), metadata={op_name="f/neg"} }
"""
AFTER = """HloModule after, is_scheduled=true
fused { q = f32[4] parameter(0)  m = f32[4] multiply(q, q), metadata={op_name="f/mul"}
  ROOT t = f32[4] tanh(m), metadata={op_name="f/tanh"} }
ENTRY e { p.1 = f32[4] parameter(0)  fusion = f32[4] fusion(p.1), kind=kLoop, calls=fused, metadata={op_name="f/tanh"}
  s = f32[4] add(fusion, p.1), metadata={op_name="f/add"}  k = f32[4] cosine(s), metadata={op_name="f/sin"}
  ROOT w = f32[4] copy(k) }
"""


def test_a_fusion_lists_what_went_into_it() -> None:
    left, right = viewed("a", hlotool.parse(BEFORE)), viewed("b", hlotool.parse(AFTER))
    record = fates_record(left, right, became(left.module, right.module))
    names = [i.name for i in left.instructions], [i.name for i in right.instructions]
    assert {names[0][n]: (fate, [names[1][o] for o in others]) for n, fate, others in record["fates"]} == {
        "a": ("fused", ["m"]), "b": ("fused", ["t"]), "c": ("kept", ["s"]), "d": ("rewritten", ["k"]),
        "r": ("not found", [])}
    assert [(names[1][n], [names[0][k] for k in parts]) for n, parts in record["into"]] == [("fusion", ["a", "b"])]
    assert [names[1][n] for n in record["added"]] == ["w"]
    partners = {names[0][n]: names[1][n + (step if step >= 0 else step + 1)]
                for n, step in enumerate(record["partner"]) if step != -1}
    assert partners == {"p": "p.1", "a": "m", "b": "t", "c": "s", "d": "k"}
    assert record["summary"].startswith("b is a optimised. 5 operations: 1 kept, 2 fused")


def test_pairs_of_equal_modules_are_in_order() -> None:
    module, other = hlotool.read(str(STEP)), hlotool.read(str(STEP))
    pairs = diff(module, other).pairs()
    assert len(pairs) == sum(len(c.instructions) for c in module)
    assert all(a.name == b.name for a, b in pairs.items() if a.opcode not in ("constant", "parameter"))


def test_a_module_that_was_not_read_from_text_gets_one() -> None:
    module = hlotool.parse(SCOPED)
    module.source = None
    shown = viewed("made", module)
    assert shown.text.startswith("HloModule scoped")
    assert shown.text.splitlines()[shown.lines[3] - 1].strip().startswith(("%x", "x"))


def test_values_of_a_trace_and_of_isolate(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, traced, page = tmp_path / "m.hlo", tmp_path / "v.npz", tmp_path / "p.html"
    module.write_text("ENTRY e { a = f32[3] parameter(0)  b = f32[3] log(a)  c = bf16[3] convert(b)  "
                      "ROOT d = f32[3] negate(b) }")
    given = tmp_path / "a.npy"
    np.save(given, np.array([-1, 0, 1], np.float32))
    words = ["--executors", "reference", "--trace", "*", "--args", str(given), "-o", str(traced)]
    assert main(["run", str(module), *words]) == 0
    shown = viewed("m", hlotool.read(str(module)))
    record = module_record(shown, read_values(str(traced)))
    states = {shown.instructions[n].name: (state, lines) for n, state, lines in record["values"]}
    assert states["a"][0] == "finite"
    assert states["b"] == ("nan", ["b: 3, 1 NaN, 1 infinite, 0 to 0, mean 0"])
    assert states["c"][0] == "nan"
    capsys.readouterr()
    assert main(["isolate", str(module), "--nan", "--args", str(given), "--format", "json"]) == 1
    blamed = tmp_path / "b.json"
    blamed.write_text(capsys.readouterr().out)
    found = module_record(shown, read_values(str(blamed)))["values"]
    assert [(shown.instructions[n].name, state) for n, state, _ in found] == [("b", "nan")]
    assert main(["view", str(module), "--values", str(blamed), "-o", str(page)]) == 0


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b"{}", b'{"a": [1]}', b"[1, 2]", b"name\n", b"alone\n1\n",
                                     b"a,1\na,2\n", b'[{"name": "a", "t": 1}, {"name": "a", "t": 2}]',
                                     b"\xff\xfe,1", b"\x93NUMPY", b"PK\x03\x04", b"[" * 100_000])
def test_files_of_values_that_are_none(content: bytes, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "values"
    file.write_bytes(content)
    with pytest.raises(HloError) as error:
        read_values(str(file))
    assert error.value.diagnostics[0].code in ("R110", "R150")


@pytest.mark.parametrize(("name", "text", "columns"), [
    ("t.csv", "name,time_us,unit\nx,1.5,a\nlast,2,b\n",
     {"time_us": {"x": 1.5, "last": 2}, "unit": {"x": "a", "last": "b"}}),
    ("t.csv", "x,1.5\n%last,-2e3\n", {"t": {"x": 1.5, "%last": -2000}}),
    ("t.csv", "x,1,2\nlast,3,\n", {"column 2": {"x": 1, "last": 3}, "column 3": {"x": 2}}),
    ("t.tsv", 'instruction\tstage\n"x"\tfirst, second\n', {"stage": {"x": "first, second"}}),
    ("t.csv", "op;cost\nx;nan\nlast;1\n", {"cost": {"x": "nan", "last": "1"}}),
    ("t.csv", "\ufeffx,1\n\nlast,2", {"t": {"x": 1, "last": 2}}),
    ("t.json", '{"x": 1.5, "last": 2, "other": null}', {"t": {"x": 1.5, "last": 2}}),
    ("t.json", '[{"name": "x", "ms": 1, "unit": "a"}, {"name": "last", "ms": 2}]',
     {"ms": {"x": 1, "last": 2}, "unit": {"x": "a"}}),
    ("t.jsonl", '{"name": "x", "ms": 1}\n{"name": "last", "ms": 2}\n', {"ms": {"x": 1, "last": 2}}),
])
def test_data_of_other_programs(name: str, text: str, columns: dict[str, dict[str, float | str]], tmp_path: pathlib.Path
                                ) -> None:
    file = tmp_path / name
    file.write_text(text, "utf-8")
    found = read_values(str(file))
    assert found.columns == columns
    shown = viewed("m", hlotool.parse(SCOPED))
    record = module_record(shown, found)
    assert [[heading, {shown.instructions[n].name for n, _ in rows}] for heading, _, rows in record["columns"]] == [
        [heading, {n.removeprefix("%") for n in column}] for heading, column in columns.items()]
    assert record["lost"] == 0


def test_names_of_data_that_no_instruction_has_are_counted() -> None:
    shown = viewed("m", hlotool.parse(SHARED))
    values = Values(columns={"t": {"sum/x": 1.0, "even/x": 2.0, "y": 3.0, "gone": 4.0, "e/c": 5.0}})
    record = module_record(shown, values)
    parents = shown.module.parents()
    ((heading, is_number, rows),) = record["columns"]
    assert (heading, is_number, record["lost"]) == ("t", True, 2)
    assert [(parents[shown.instructions[n]].name, v) for n, v in rows] == [("sum", 1.0), ("even", 2.0), ("e", 5.0)]
    assert "2 values have the name of no instruction" in module_page("m", hlotool.parse(SHARED), values)
    with pytest.raises(HloError):
        module_page("m", hlotool.parse(SHARED), Values(columns={"t": {"gone": 1.0}}))


def test_values_under_names_that_no_instruction_has_are_passed_over() -> None:
    shown = viewed("m", hlotool.parse(SCOPED))
    record = module_record(shown, Values({"nobody": np.zeros(2), "x": np.zeros((0,))}, [{"instruction": None}]))
    assert [shown.instructions[n].name for n, _, _ in record["values"]] == ["x"]


SHARED = """HloModule shared
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = f32[] add(x, y) }
even { y = f32[] parameter(0)  ROOT x = f32[] negate(y) }
ENTRY e { x = f32[2] parameter(0)  z = f32[] constant(0)  c = f32[] reduce(x, z), dimensions={0}, to_apply=sum
          ROOT q = f32[] call(c), to_apply=even }
"""


@pytest.mark.parametrize(("name", "place"), [
    ("x", ("e", "x")), ("c[1]/x", ("sum", "x")), ("q[0]/x", ("even", "x")), ("q[0]/y", ("even", "y")),
    ("r", ("sum", "r")), ("y", None), ("gone[0]/x", None), ("c[0]/q[0]/x", None), ("", None), ("/", None)])
def test_values_belong_to_the_instruction_that_their_calls_lead_to(name: str, place: tuple[str, str] | None) -> None:
    shown = viewed("m", hlotool.parse(SHARED))
    found = module_record(shown, Values({name: np.float32(1)}))["values"]
    parents = shown.module.parents()
    places = [(parents[i].name, i.name) for i in (shown.instructions[n] for n, _, _ in found)]
    assert places == ([place] if place else [])


def test_the_record_of_isolate_names_a_computation() -> None:
    shown = viewed("m", hlotool.parse(SHARED))
    blamed = [{"instruction": "x", "computation": "even"}, {"instruction": "y", "computation": None}]
    (row,) = module_record(shown, Values(blamed=blamed))["values"]
    assert shown.instructions[row[0]].opcode == "negate"


def test_values_beside_two_modules_are_those_of_the_first() -> None:
    module, other = hlotool.parse(SHARED), hlotool.parse(SHARED.replace("ROOT q", "ROOT new"))
    pair_page(["a", "b"], [module, other], Values({"q": np.float32(1)}))
    with pytest.raises(HloError) as error:
        pair_page(["a", "b"], [module, other], Values({"new": np.float32(1)}))
    assert error.value.diagnostics[0].code == "R150"
    with pytest.raises(HloError):
        module_page("a", module, Values({"nobody": np.float32(1)}))


@pytest.mark.parametrize("words", [[], ["a", "b", "c"], ["one.hlo", "two.hlo", "--format", "svg"],
                                   ["one.hlo", "--format", "dot", "--values", "v.npz"], [".", "--values", "v.npz"],
                                   [".", "--format", "dot"]])
def test_what_view_refuses(words: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("one.hlo", "two.hlo"):
        (tmp_path / name).write_text(SCOPED)
    assert main(["view", *words]) == 2


def test_view_never_writes_over_what_it_reads(tmp_path: pathlib.Path) -> None:
    module = tmp_path / "m.hlo"
    module.write_text(SCOPED)
    assert main(["view", str(module), "-o", str(module)]) == 2
    assert module.read_text() == SCOPED


def test_notebooks_show_the_graph_as_an_image_of_bounded_size() -> None:
    lines = ["x0 = f32[2] parameter(0)", *(f"x{n + 1} = f32[2] negate(x{n})" for n in range(3_000))]
    module = hlotool.parse("ENTRY e {\n" + "\n".join(lines) + "\n}")
    shown = module._repr_html_()
    assert shown is not None and len(shown) < 300_000
    data = re.search(r'src="data:image/svg\+xml;base64,([^"]+)"', shown)
    assert data is not None
    drawn = ElementTree.fromstring(base64.b64decode(data[1]))
    boxes = drawn.findall("{http://www.w3.org/2000/svg}rect")
    assert 2 <= len(boxes) <= DEFAULT_BOXES
    assert "x3000" in shown or "more lines" in shown


def test_characters_that_xml_has_not_are_written_out_in_drawings() -> None:
    module = hlotool.parse("ENTRY e { ROOT a = f32[] parameter(0) }")
    module.entry.instructions[0].name = "a\uffff\ufffe\x01\ud800"
    assert r"a\uffff\ufffe\x01\ud800" in "".join(ElementTree.fromstring(as_svg(module)).itertext())


def test_notebooks_show_escaped_text() -> None:
    shown = hlotool.parse(SCOPED.replace(
        "negate(%exponential.7.5)", f"custom-call(), custom_call_target={json.dumps(HOSTILE)}"))._repr_html_()
    assert shown is not None
    assert shown.count("<img") == 1  # the drawing; what the module's strings say is text
    assert "onerror" in shown
    assert "exponential.5.5" in shown
    broken = hostile()._repr_html_()  # its names cannot be printed
    assert broken is not None
    assert "<img" not in broken and "data:" not in broken
    assert "no name" in broken


def test_what_could_be_read_of_a_truncated_text_is_drawn(tmp_path: pathlib.Path,
                                                         capsys: pytest.CaptureFixture[str]) -> None:
    text = """HloModule jit_f
sum { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[4] parameter(0)
  zero = f32[] constant(0)
  total = f32[] reduce(x, zero), dimensions={0}, to_apply=sum
  ROOT last = f32[] negate(tot"""
    file = tmp_path / "dump.hlo"
    for end, drawn in ((len(text), "total"), (text.index("total ="), "zero"), (text.index("zero), dim"), "zero")):
        file.write_text(text[:end])
        assert main(["view", "--format", "dot", str(file)]) == 1
        found = capsys.readouterr()
        assert drawn in found.out and "P002" in found.err and "could be read is drawn" in found.err
    for refused in (text[:12], text.replace("negate(tot", "negate(nobody) }")):
        file.write_text(refused)
        assert main(["view", "--format", "dot", str(file)]) == 2
