"""Parts of modules: what is near an instruction, the ways from one to another, and their drawings."""

from __future__ import annotations

import itertools
import json
import pathlib
import re
from xml.etree import ElementTree

import pytest

import hlotool
from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.view import around, between, excerpt_dot, excerpt_svg, instruction_named
from hlotool.view.layered_layout import Box, laid_out

MODELS = pathlib.Path(__file__).parents[2] / "samples" / "models"

CHAIN = """HloModule chain
fused { p = f32[4] parameter(0)  q = f32[4] parameter(1)  s = f32[4] subtract(p, q)  ROOT m = f32[4] multiply(s, s) }
sum { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT r = f32[] add(x, y) }
body { t = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(t), index=0
       v = f32[4] get-tuple-element(t), index=1  w = f32[4] negate(v)  ROOT n = (s32[], f32[4]) tuple(i, w) }
cond { t = (s32[], f32[4]) parameter(0)  i = s32[] get-tuple-element(t), index=0  k = s32[] constant(3)
       ROOT l = pred[] compare(i, k), direction=LT }
ENTRY main {
  a = f32[4] parameter(0)
  b = f32[4] parameter(1)
  zero = f32[] constant(0)
  none = s32[] constant(0)
  c = f32[4] tanh(a)
  d = f32[4] fusion(c, b), kind=kLoop, calls=fused
  e = f32[4] exponential(d)
  f = (s32[], f32[4]) tuple(none, e)
  g = (s32[], f32[4]) while(f), condition=cond, body=body
  h = f32[4] get-tuple-element(g), index=1
  ROOT z = f32[] reduce(h, zero), dimensions={0}, to_apply=sum
}
"""


def names(found: object) -> list[str]:
    return [i.name for i in found]  # type: ignore[attr-defined]


@pytest.mark.parametrize(("name", "hops", "wanted"), [
    ("d", 0, "d"), ("d", 1, "b c d e"), ("d", 2, "a b c d e f"), ("zero", 1, "zero z"), ("z", 1, "h z"),
    # A parameter reads what the caller passes, a root gives its value to the caller.
    ("s", 1, "p q s m"), ("s", 2, "p q s m b c d"), ("w", 3, "t i v w n f g h")])
def test_what_is_near_an_instruction(name: str, hops: int, wanted: str) -> None:
    found = around(hlotool.parse(CHAIN), name, hops)
    assert set(names(found.boxes)) == set(wanted.split())
    assert found.rest == ""


@pytest.mark.parametrize(("start", "end", "wanted"), [
    ("c", "e", "c d e"), ("a", "z", "a c d e f g h z"), ("b", "m", "b q s m"), ("s", "e", "s m d e"),
    ("p", "m", "p s m"), ("c", "w", "c d e f t v w"), ("w", "z", "w n g h z")])
def test_ways_lead_through_calls_where_an_end_is_inside(start: str, end: str, wanted: str) -> None:
    found = between(hlotool.parse(CHAIN), start, end)
    assert set(names(found.boxes)) == set(wanted.split())
    assert [e.name for e in found.ends] == [start, end]


@pytest.mark.parametrize(("start", "end", "advice"), [("e", "c", "--around c --to e"), ("a", "b", ""), ("a", "r", "")])
def test_where_no_way_leads(start: str, end: str, advice: str) -> None:
    with pytest.raises(HloError) as error:
        between(hlotool.parse(CHAIN), start, end)
    (said,) = error.value.diagnostics
    assert said.code == "R152"
    assert advice in said.help
    assert bool(said.help) == bool(advice)


TWICE = """HloModule twice
f { p = f32[] parameter(0)  ROOT q = f32[] sine(p) }
ENTRY e { x = f32[] parameter(0)  one = f32[] call(x), to_apply=f  ROOT two = f32[] call(one), to_apply=f }
"""


@pytest.mark.parametrize(("text", "start", "end"), [(CHAIN, "w", "v"), (CHAIN, "n", "l"), (TWICE, "q", "p")])
def test_ways_through_later_rounds_and_calls_are_not_denied(text: str, start: str, end: str) -> None:
    with pytest.raises(HloError) as error:
        between(hlotool.parse(text), start, end)
    assert "only in later rounds of a loop" in error.value.diagnostics[0].message


def test_names_that_are_not_those_of_one_instruction() -> None:
    module = hlotool.parse(CHAIN)
    assert instruction_named(module, "fused").name == "m"
    assert instruction_named(module, "%body/t") is module["body"]["t"]
    for name, help in (("t", "body/t, cond/t"), ("fusd", ""), ("tanh", "")):
        with pytest.raises(HloError) as error:
            instruction_named(module, name)
        assert error.value.diagnostics[0].code == "R151"
        assert help in error.value.diagnostics[0].help
    step = hlotool.read(str(MODELS / "mlp_train_step.optimized.hlo"))
    with pytest.raises(HloError) as error:
        instruction_named(step, "ynn_fusoin.3")
    assert "ynn_fusion.3" in error.value.diagnostics[0].help


def wide(count: int) -> str:
    lines = "\n".join(f"  n{k} = f32[4] add(x, x)" for k in range(count))
    return f"ENTRY e {{\n  x = f32[4] parameter(0)\n{lines}\n  ROOT t = (f32[4]) tuple(n1)\n}}"


def test_what_has_no_room_is_told() -> None:
    module = hlotool.parse(wide(100))
    found = around(module, "x", 1, 10)
    assert len(found.boxes) == 10
    assert found.rest == "10 of 101 instructions are shown; left out: 91 add"
    assert found.missing(module.entry["x"]) == (0, 91)
    assert "91 users not shown" in excerpt_svg(found)
    assert found.rest in excerpt_svg(found)
    assert "91 add" in excerpt_dot(found)
    assert len(around(module, "x", 1, None).boxes) == 101


def test_the_shortest_ways_come_first() -> None:
    longer = "\n".join(f"  m{n} = f32[4] negate({f'm{n - 1}' if n else 'a'})" for n in range(30))
    module = hlotool.parse(f"ENTRY e {{\n  a = f32[4] parameter(0)\n{longer}\n  s = f32[4] tanh(a)\n"
                           "  ROOT z = f32[4] add(s, m29)\n}")
    found = between(module, "a", "z", 5)
    assert {"a", "s", "z"} <= set(names(found.boxes))
    assert "28 negate" in found.rest


def test_constants_are_written_into_what_reads_them() -> None:
    module = hlotool.parse(CHAIN)
    found = around(module, "z", 1)
    assert "zero" not in names(found.boxes)
    assert "zero = 0" in excerpt_svg(found)
    assert found.missing(module.entry["z"]) == (0, 0)


def test_no_edge_of_a_drawing_crosses_a_box() -> None:
    for model in ("mlp_train_step", "attention_kv_cache", "resnet_forward", "rnn_scan"):
        module = hlotool.read(str(MODELS / f"{model}.optimized.hlo"))
        numbers = {i: n for n, i in enumerate(module.entry.instructions)}
        edges = sorted({(numbers[o], n) for i, n in numbers.items() for o in i.operands})
        boxes = [Box(40 + 7 * len(i.name), 20 + len(i.opcode)) for i in numbers]
        layout = laid_out(boxes, edges)
        for (a, b), route in zip(edges, layout.routes, strict=True):
            assert route[0][1] == boxes[a].y + boxes[a].height
            assert route[-1][1] == boxes[b].y
            for (x, y), (u, v) in itertools.pairwise(route):
                assert v >= y
                for box in boxes:
                    # An upright piece stands between boxes; a bent one keeps to the room between two layers.
                    if x == u:
                        assert not (box.x < x < box.x + box.width and box.y < v and box.y + box.height > y)
                    else:
                        assert box.y >= v or box.y + box.height <= y


def test_boxes_do_not_overlap() -> None:
    boxes = [Box(30 + n % 5 * 20, 20 + n % 3 * 10) for n in range(40)]
    layout = laid_out(boxes, [(n, m) for n in range(40) for m in range(n + 1, 40) if (n * m) % 7 == 1])
    for n, one in enumerate(boxes):
        assert one.x >= 0
        assert one.x + one.width <= layout.width
        assert one.y + one.height <= layout.height
        for other in boxes[:n]:
            assert one.x + one.width <= other.x + .01 or other.x + other.width <= one.x + .01 \
                or one.y + one.height <= other.y or other.y + other.height <= one.y


def test_circles_of_folds_are_drawn() -> None:
    layout = laid_out([Box(10, 10), Box(10, 10), Box(10, 10)], [(0, 1), (1, 2), (2, 0), (1, 1)])
    assert len(layout.routes) == 4
    assert laid_out([], []).routes == []


def test_every_form_of_the_command(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(CHAIN)
    assert main(["view", str(file), "--around", "d", "--hops", "1", "--format", "svg"]) == 0
    root = ElementTree.fromstring(capsys.readouterr().out)
    assert len(root.findall(".//{http://www.w3.org/2000/svg}rect")) == 4
    assert "d and what is within 1 step of it" in "".join(root.itertext())
    assert main(["view", str(file), "--around", "b", "--to", "m", "--format", "dot"]) == 0
    text = capsys.readouterr().out
    assert len(re.findall(r"^  n\d -> n\d", text, re.M)) == 3
    assert text.count("style=dashed") == 1
    assert main(["view", str(file), "--around", "b", "--to", "m", "--format", "json"]) == 0
    graphs = json.loads(capsys.readouterr().out)["graphs"]
    assert [(g["id"], [n["id"] for n in g["nodes"]]) for g in graphs] == [("main", ["b"]), ("fused", ["q", "s", "m"])]
    assert graphs[1]["nodes"][1]["incomingEdges"] == [
        {"sourceNodeId": "q", "sourceNodeOutputId": "0", "targetNodeInputId": "1"}]
    page = tmp_path / "near.html"
    assert main(["view", str(file), "--around", "body/i", "--hops", "1", "-o", str(page)]) == 0
    assert '"start":"body/i~1"' in page.read_text()
    assert main(["view", str(file), "--around", "b", "--to", "m", "-o", str(page)]) == 0
    assert '"start":"main/b\\u003efused/m"' in page.read_text()
    capsys.readouterr()
    file.write_text(wide(100))
    assert main(["view", str(file), "--around", "x", "--format", "dot"]) == 0
    assert "left out: 77 add, 1 tuple" in capsys.readouterr().err
    assert main(["view", str(file), "--around", "y", "--format", "dot"]) == 2
    assert "R151" in capsys.readouterr().err


@pytest.mark.parametrize("words", [["--hops", "1"], ["--to", "x"], ["--around", "x", "--to", "t", "--hops", "1"],
                                   ["m.hlo", "--around", "x", "--format", "svg"]])
def test_options_that_do_not_go_together(words: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
                                         ) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.hlo").write_text(CHAIN)
    assert main(["view", "m.hlo", *words]) == 2


def test_hostile_names_are_escaped_in_drawings_of_parts() -> None:
    module = hlotool.parse(CHAIN)
    module.entry["d"].name = "</svg><script>\u202e\"\\"
    for text in (excerpt_svg(around(module, "c", 1)), excerpt_dot(around(module, "c", 1))):
        assert "<script>" not in re.sub(r'"(?:[^"\\]|\\.)*"', "", text)
        assert "\u202e" not in text
