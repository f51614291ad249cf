"""The graph of `hlotool view` in a real browser: moving about in it, its edges, parts of it, search, history, print."""

from __future__ import annotations

import pathlib
from collections.abc import Iterator
from typing import Any

import pytest
from browser_pages import Opened, violations
from test_drawings import AFTER, BEFORE
from test_neighbourhood import CHAIN, wide
from test_view_in_browser import SCOPED

import hlotool
from hlotool.view import Values, around, between, module_page, pair_page

MODELS = pathlib.Path(__file__).parents[2] / "samples" / "models"
LARGE = pathlib.Path(__file__).parents[3] / "shared" / "corpus" / "modules"
LARGE_MODELS = ("backends_cpu_benchmarks_hlo_gemma2_2b_keras_jax", "tools_data_benchmarking_mobilenet_v2",
                "tools_benchmarks_hlo_hlo_llama3_8b_cp_bf16_1x4", "tools_benchmarks_hlo_hlo_llama31_405b_fp8_16x8")
STEP = MODELS / "mlp_train_step.optimized.hlo"


@pytest.fixture
def opened(chromium: Any, tmp_path: pathlib.Path) -> Iterator[Any]:
    pages = []

    def open_text(text: str, **options: Any) -> Any:
        file = tmp_path / f"page{len(pages)}.html"
        file.write_text(text, "utf-8")
        page = Opened(chromium, file, **options)
        pages.append(page)
        page.wait_until_ready()
        return page.page

    yield open_text
    for page in pages:
        page.check_clean()
        page.page.close()


def step_page() -> str:
    return module_page(str(STEP), hlotool.read(str(STEP)))


#: edges and the boxes that they cross: those that are neither their ends nor hold one of them
CROSSED = """() => app.panes.flatMap(pane => pane.edges.flatMap(edge => {
  const ends = [edge.from, ...edge.targets], length = edge.element.getTotalLength(), found = new Set();
  for (let at = 0; at <= length; at += 3) {
    const { x, y } = edge.element.getPointAtLength(at);
    for (const box of pane.boxes.values())
      if (x > box.x + 1 && x < box.x + box.w - 1 && y > box.y + 1 && y < box.y + box.h - 1
          && !ends.some(end => end === box.path || end.startsWith(`${box.path}/`))) found.add(box.path);
  }
  return [...found].map(path => `${edge.from} -> ${[...edge.targets]} crosses ${path}`);
}))"""


@pytest.mark.parametrize("model", ["mlp_train_step.optimized", "attention_kv_cache", "resnet_forward",
                                   "rnn_scan.optimized"])
def test_no_edge_crosses_a_box(opened: Any, model: str) -> None:
    page = opened(module_page(model, hlotool.read(str(MODELS / f"{model}.hlo"))), width=1400)
    page.evaluate("app.panes[0].open = app.panes[0].firstOpened(200); app.panes[0].draw()")
    assert page.locator(".edge").count() > 10
    assert page.evaluate(CROSSED) == []


@pytest.mark.parametrize("model", LARGE_MODELS)
def test_no_edge_of_a_large_model_crosses_a_box(opened: Any, model: str) -> None:
    path = LARGE / f"{model}.hlo.0.hlo"
    if not path.exists():
        pytest.skip("the corpus is not here")
    page = opened(module_page(model, hlotool.read(str(path)), lints=False), width=1400)
    assert page.locator(".edge").count() > 10
    assert page.evaluate(CROSSED) == []


CIRCLE = "ENTRY e {\n  x = f32[4] parameter(0)\n" + "\n".join(
    f"  n{k} = f32[4] tanh({f'n{k - 1}' if k else 'x'}), metadata={{op_name=\"jit(f)/{'ab'[k // 3 % 2]}/tanh\"}}"
    for k in range(30)) + "\n  ROOT z = f32[4] negate(n29)\n}\n"


def test_folds_that_read_each_other_in_a_circle_are_drawn(opened: Any) -> None:
    page = opened(module_page("circle", hlotool.parse(CIRCLE)))
    page.click("#fold")
    assert page.evaluate(CROSSED) == []
    page.evaluate("app.panes[0].open = app.panes[0].firstOpened(200); app.panes[0].draw()")
    assert page.locator('.box[aria-label^="n7,"]').count() == 1
    assert page.evaluate(CROSSED) == []


def test_edges_lead_into_opened_folds_and_out_of_them(opened: Any) -> None:
    page = opened(module_page("scoped.hlo", hlotool.parse(SCOPED)))
    assert page.locator(".edge.crossing").count() >= 2
    page.locator('.box[aria-label^="last,"]').click()
    assert page.locator(".edge.lit").count() >= 2
    assert page.locator(".box.operand").count() == 1
    page.click("#fold")
    assert page.locator(".edge.crossing").count() == 0


def test_parameters_and_constants_are_told_in_what_reads_them(opened: Any) -> None:
    text = ("ENTRY e {\n  weights = f32[] parameter(0)\n  two = f32[] constant(2)\n  y = f32[] add(weights, two)\n"
            "  ROOT z = f32[] tanh(y)\n}")
    page = opened(module_page("m", hlotool.parse(text)), anchor="#two")
    assert "◂ weights, 2" in page.locator('.box[aria-label^="y,"]').text_content()
    assert page.locator('.box[aria-label^="two,"]').count() == 0
    assert page.locator(".edge").count() == 1
    assert page.inner_text("#details-heading") == "two"
    assert page.locator(".box.user").count() == 1


def place(page: Any) -> list[float]:
    found: list[float] = page.evaluate("[app.panes[0].scroller.scrollLeft, app.panes[0].scroller.scrollTop]")
    return found


def test_a_drag_pans_and_opens_nothing(opened: Any) -> None:
    page = opened(module_page("scoped.hlo", hlotool.parse(SCOPED)))
    box = page.locator(".box.fold").first.bounding_box()
    before, count = place(page), page.locator(".box").count()
    x, y = box["x"] + 20, box["y"] + 10
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x + 60, y + 40, steps=4)
    page.mouse.up()
    assert place(page) == [before[0] - 60, before[1] - 40]
    assert page.locator(".box").count() == count
    page.mouse.click(x + 60, y + 40)
    assert page.locator(".box").count() != count


def test_the_wheel_zooms_at_the_pointer(opened: Any) -> None:
    page = opened(step_page())
    where = """([x, y]) => { const { svg, scale } = app.panes[0], box = svg.getBoundingClientRect();
        return [(x - box.x) / scale, (y - box.y) / scale, scale]; }"""
    for delta in (-240, 360):
        x, y, before = page.evaluate(where, [210, 330])
        page.mouse.move(210, 330)
        page.mouse.wheel(0, delta)
        page.wait_for_timeout(100)
        u, v, after = page.evaluate(where, [210, 330])
        assert (after > before) == (delta < 0)
        assert abs(u - x) < 2 and abs(v - y) < 2


def test_fit_shows_all_and_the_first_view_is_legible(opened: Any) -> None:
    page = opened(step_page())
    assert page.locator(".box text").first.evaluate("text => text.getBoundingClientRect().height") >= 11
    page.click("#fit")
    assert page.evaluate("""() => { const { svg, scroller } = app.panes[0], one = svg.getBoundingClientRect(),
        other = scroller.getBoundingClientRect();
        return one.left >= other.left && one.right <= other.right && one.top >= other.top
            && one.bottom <= other.bottom; }""")


def test_back_goes_back(opened: Any) -> None:
    page = opened(step_page(), anchor="#dot.1")
    page.locator("#facts .jump").first.click()
    assert page.inner_text("#details-heading") == "multiply_multiply_fusion.1"
    page.click("text=2 steps")
    assert page.evaluate("location.hash") == "#multiply_multiply_fusion.1~2"
    near = page.locator(".box").count()
    page.go_back()
    assert page.locator(".box").count() != near
    assert page.is_hidden(".part")
    page.go_back()
    assert page.inner_text("#details-heading") == "dot.1"
    page.go_forward()
    page.go_forward()
    assert page.locator(".box").count() == near


def test_an_address_lands_on_the_line(opened: Any) -> None:
    page = opened(step_page(), anchor="#dot.1")
    row = page.locator(".row.here")
    assert "%dot.1 =" in row.inner_text()
    lines, box = page.locator("#lines").bounding_box(), row.bounding_box()
    assert lines["y"] <= box["y"] <= lines["y"] + lines["height"]


def test_names_that_computations_share_have_addresses_of_their_own(opened: Any) -> None:
    page = opened(module_page("chain", hlotool.parse(CHAIN)), anchor="#cond%2Fi")
    assert "cond" in page.inner_text("#facts")
    page.locator("#facts .jump >> text=l").first.click()
    assert page.evaluate("decodeURIComponent(location.hash)") == "#l"
    page.evaluate("app.choose(app.panes[0], app.panes[0].module.byName('cond/t'))")
    assert page.evaluate("decodeURIComponent(location.hash)") == "#cond/t"


@pytest.mark.parametrize(("query", "opcodes"), [
    ("shape:f32[7,9] op:dot", set()), ("op:dot shape:[32,32]", {"dot"}), ("attr:lhs_contracting_dims={0}", {"dot"}),
    ("/^dot(\\.\\d)?$/ op:dot", {"dot"}), ("file:dump.py op:dot", {"dot"}), ("name:/^tuple\\.2$/", {"tuple"}),
    ("kind=kloop", {"fusion"}), ("op:constant attr:/^0\\b/", {"constant"})])
def test_search_knows_shapes_files_attributes_and_patterns(opened: Any, query: str, opcodes: set[str]) -> None:
    page = opened(step_page())
    found = page.evaluate("""query => { app.search(query); return app.hits.map(([pane, n]) =>
        pane.module.opcodes[pane.module.opcode[n]]); }""", query)
    assert set(found) == opcodes


def test_a_pattern_that_is_none_is_reported(opened: Any) -> None:
    page = opened(step_page())
    page.fill("#search", "/(/")
    assert "no regular expression" in page.inner_text("#hits")
    assert violations(page) == []
    page.keyboard.press("Enter")


def test_every_hit_and_every_row_can_be_reached(opened: Any) -> None:
    page = opened(module_page("wide", hlotool.parse(wide(250))), anchor="#x")
    page.fill("#search", "op:add")
    assert page.locator("#hits li").count() == 101
    for _ in range(240):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    assert page.inner_text("#details-heading") == "n240"
    page.fill("#search", "op:add")
    page.locator("#hit-more").click()
    page.locator("#hit-more").click()
    assert page.locator("#hits li").count() == 250
    page.evaluate("app.closeHits(); app.choose(app.panes[0], app.panes[0].module.byName('x'))")
    rows = page.locator("#facts li .jump")
    for _ in range(5):
        if page.locator("#facts .jump", has_text=" more").count():
            page.locator("#facts .jump", has_text=" more").click()
    assert rows.count() == 250


@pytest.mark.parametrize(("name", "hops"), [("d", 1), ("s", 2), ("w", 3), ("z", 1), ("zero", 1)])
def test_the_page_and_the_command_find_the_same_neighbourhood(opened: Any, name: str, hops: int) -> None:
    module = hlotool.parse(CHAIN)
    page = opened(module_page("chain", module))
    found = page.evaluate("""([name, hops]) => { const m = app.panes[0].module;
        return m.around(m.byName(name), hops, 99).numbers.map(n => m.names[n]); }""", [name, hops])
    assert sorted(found) == sorted(i.name for i in around(module, name, hops).boxes)


@pytest.mark.parametrize(("start", "end"), [("c", "e"), ("a", "z"), ("b", "m"), ("s", "e"), ("c", "w"), ("w", "z")])
def test_the_page_and_the_command_find_the_same_ways(opened: Any, start: str, end: str) -> None:
    module = hlotool.parse(CHAIN)
    page = opened(module_page("chain", module, opened_at=between(module, start, end).address()))
    shown = page.eval_on_selector_all(".box", "boxes => boxes.map(b => b.getAttribute('aria-label').split(',')[0])")
    assert sorted(shown) == sorted(i.name for i in between(module, start, end).boxes)
    assert page.evaluate(CROSSED) == []
    assert violations(page) == []


def test_a_way_is_found_between_two_boxes_whichever_comes_first(opened: Any) -> None:
    page = opened(step_page(), anchor="#dot.1")
    page.click("text=Way to …")
    page.keyboard.type("ynn_fusion.3")
    page.keyboard.press("Enter")
    assert "From ynn_fusion.3 to dot.1" in page.inner_text(".part")
    assert page.locator(".box.end").count() == 2
    page.click("text=Whole graph")
    assert page.is_hidden(".part")


def test_a_page_is_printed_whole(opened: Any) -> None:
    page = opened(step_page(), scheme="dark")
    page.emulate_media(media="print", color_scheme="light")
    assert page.is_hidden("#tools") and page.is_hidden("#text")
    assert page.evaluate("""() => { const { svg, scroller } = app.panes[0];
        return svg.getBoundingClientRect().width <= document.body.clientWidth && scroller.scrollHeight
            <= scroller.clientHeight + 1; }""")


def test_marks_that_turn_text_around_are_shown(opened: Any) -> None:
    text = SCOPED.replace("jit(f)/block_0", "jit(f)/\u202eblock_0")
    page = opened(module_page("\u202egpj.hlo", hlotool.parse(text)), anchor="#exponential.0.1")
    assert "\\u202e" in page.inner_text("h1")
    assert "\\u202e" in page.inner_text("#facts")
    assert "\\u202e" in page.inner_text(".row.here")
    assert page.evaluate("document.body.innerText.includes('\\u202e')") is False


def test_titles_name_the_module_and_the_file(opened: Any) -> None:
    page = opened(step_page())
    assert page.title() == "jit_step (mlp_train_step.optimized.hlo) · hlotool view"
    assert page.inner_text("h1").startswith("jit_step")
    two = opened(pair_page(["a/one.hlo", "b/two.hlo"], [hlotool.parse(SCOPED), hlotool.parse(SCOPED)]))
    assert two.title() == "scoped (one.hlo and two.hlo) · hlotool view"


def test_data_of_other_programs_are_colours(opened: Any) -> None:
    values = Values(columns={"time_us": {"last": 4.0, "exponential.3.2": 2.5}, "unit": {"last": "mxu", "x": "host"}})
    page = opened(module_page("scoped.hlo", hlotool.parse(SCOPED), values))
    assert page.input_value("#colour") == "data time_us"
    assert "time_us" in page.inner_text("#legend")
    assert page.locator('.box[aria-label^="last,"]').get_attribute("aria-label").endswith(", 4")
    page.click("#fold")
    assert "2.5" in page.locator(".box.fold").first.get_attribute("aria-label")
    page.select_option("#colour", "data unit")
    assert "mxu" in page.inner_text("#legend")
    page.locator('.box[aria-label^="last,"]').click()
    assert "time_us\n4\n" in page.inner_text("#facts")
    assert violations(page) == []


def test_a_program_beside_its_optimised_form(opened: Any) -> None:
    page = opened(pair_page(["before", "after"], [hlotool.parse(BEFORE), hlotool.parse(AFTER)]), anchor="#@fusion")
    facts = page.inner_text("#facts")
    assert "What went into it (2)" in facts and "multiply" in facts
    assert page.locator('.box[aria-label*="from 2 operations"]').count() == 1
    page.locator("#facts .jump", has_text="a").first.click()
    assert page.inner_text("#details-heading") == "a"
    assert "Fused" in page.inner_text("#facts") and "as m in fusion" in page.inner_text("#facts")
    page.locator('.box[aria-label^="r,"]').click()
    assert "Not found" in page.inner_text("#facts")
    assert violations(page) == []
