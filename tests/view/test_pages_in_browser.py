"""Every page in a real browser: no error, nothing from elsewhere, fits 360 to 2,560 pixels, and axe finds nothing."""

from __future__ import annotations

import pathlib
from collections.abc import Callable
from typing import Any

import pytest
from browser_pages import Opened, violations
from test_view_in_browser import SCOPED

import hlotool
from hlotool.bisection import BisectOptions, judge_chain
from hlotool.bisection import folder_page as bisect_page
from hlotool.cli import main
from hlotool.conformance.report import page as conformance_page
from hlotool.diagnostics.formats import Findings, written
from hlotool.dumps import DumpReader, read_folder
from hlotool.ir import Source
from hlotool.passes.cost import cost as cost_of
from hlotool.view import cost_page, folder_page, module_page, pair_page

BROKEN = """HloModule m
ENTRY e {
  a = f32[2,3] parameter(0), metadata={op_name="jit(f)/<b>x</b>" source_file="train.py" source_line=7}
  b = f32[2,3] transpose(a), dimensions={1,0}
  c = f32[2,3] copy(a)
  ROOT d = f32[2,3] add(a, c)
}
"""


def lint() -> str:
    files = {"one.hlo": BROKEN, "a/rather/long/path/to/another<file>.hlo": BROKEN.replace("ROOT d", "ROOT other")}
    found = [d for name, text in files.items() for d in hlotool.lint(text, filename=name)]
    return written("html", Findings(found, list(files), {n: Source(t, n) for n, t in files.items()}, "1"))


def conformance() -> str:
    record = {"suite": "s", "operation": "add", "edge": "", "source": "", "executor": "reference", "detail": "<i>",
              "seconds": 0.0, "agreement": "wrong", "worst": None, "reason": "", "right": "", "expectation": "",
              "text": "ENTRY e { a = f32[] parameter(0) }"}
    cases = [{**record, "case": f"{op}/{t}", "operation": op, "element_type": t, "verdict": verdict, "status": status}
             for op in ("add", "multiply", "dot") for t, verdict, status in (
                 ("f32", "passed", "pass"), ("bf16", "unexplained", "mismatch"), ("s32", "explained", "mismatch"))]
    return conformance_page({
        "tool": "hlotool", "version": "1", "started": "today", "seconds": 1.0,
        "executors": {"reference": {"numpy": "2"}}, "missing": [], "cases": cases, "totals": {
            "collected": 9, "finished": 9, "statuses": {"pass": 3, "mismatch": 6},
            "verdicts": {"passed": 3, "unexplained": 3, "explained": 3}}})


def bisect() -> str:
    chain, = read_folder(pathlib.Path(__file__).parents[2] / "samples" / "dumps" / "scaled_softmax_wrong").chains
    return bisect_page("dumps", [judge_chain(chain, BisectOptions())])


def view() -> str:
    return module_page("scoped.hlo", hlotool.parse(SCOPED))


def pair() -> str:
    return pair_page(["a", "b"], [hlotool.parse(SCOPED), hlotool.parse(SCOPED.replace("negate(", "cosine("))])


def cost() -> str:
    models = pathlib.Path(__file__).parents[2] / "samples" / "models"
    names = "mlp_train_step.optimized.hlo", "sharded_collectives.optimized.hlo"
    return cost_page([cost_of(hlotool.parse((models / n).read_text("utf-8")), "h100", name=n) for n in names])


def report() -> str:
    chains = read_folder(pathlib.Path(__file__).parents[2] / "samples" / "dumps" / "scaled_softmax_wrong").chains
    return folder_page("scaled_softmax_wrong", chains, DumpReader(), is_report=True).text


PAGES: list[Callable[[], str]] = [lint, conformance, bisect, view, pair, cost, report]


@pytest.fixture(scope="module", params=PAGES, ids=lambda page: page.__name__)
def file(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    path = tmp_path_factory.mktemp("page") / f"{request.param.__name__}.html"
    path.write_text(request.param(), "utf-8")
    return path


@pytest.mark.parametrize(("width", "scheme"), [(360, "light"), (1000, "dark"), (2560, "light")])
def test_a_page_is_sound_at_every_width(chromium: Any, file: pathlib.Path, width: int, scheme: str) -> None:
    opened = Opened(chromium, file, width=width, scheme=scheme)
    if "data-ready" in file.read_text("utf-8") or file.stem in ("view", "pair", "report"):
        opened.wait_until_ready()
    opened.check_fits()
    assert violations(opened.page) == []
    opened.check_clean()
    opened.page.close()


def test_pages_of_the_manual(chromium: Any, tmp_path: pathlib.Path) -> None:
    assert main(["docs", str(tmp_path)]) == 0
    for place in ("index.html", "viewing.html", "pages.html", "reference/commands.html"):
        opened = Opened(chromium, tmp_path / place, width=360)
        opened.check_fits()
        assert opened.errors == []
        assert "default-src 'none'" in opened.page.get_attribute("meta[http-equiv]", "content")
        opened.page.fill("#search input", "dot")
        assert opened.page.locator("#found a").count() > 0
        opened.page.fill("#search input", "")
        if place == "pages.html":
            opened.page.wait_for_selector("img")
            load = "i => { i.loading = 'eager'; return i.decode(); }"
            assert opened.page.evaluate(f"Promise.all([...document.images].map({load})).then(all => all.length)") > 15
        if place != "reference/commands.html":
            assert violations(opened.page) == []
        opened.page.close()


def test_findings_are_reached_by_keyboard_and_counts_follow_filters(chromium: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "lint.html"
    path.write_text(lint(), "utf-8")
    opened = Opened(chromium, path)
    page = opened.page
    files = page.locator("#list h2").all_inner_texts()
    assert len(files) == 2
    page.locator(".finding").first.focus()
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    page.wait_for_selector(".finding.chosen:focus")
    assert page.locator(".finding").nth(1).get_attribute("class") == "finding chosen"
    before = page.locator("#severities").inner_text()
    page.fill("#search", "another<file>")
    assert page.locator("#severities").inner_text() != before
    assert page.locator("#list h2").all_inner_texts() == files[1:]
    opened.check_clean()


HOSTILE = """HloModule m
ENTRY e {
  a = f32[2] parameter(0), metadata={op_name="</script><img src=x onerror=alert(1)>"}
  ROOT "<img src=x onerror=alert(2)>" = f32[2] add(a, "<b>b</b>")
}
"""


def test_hostile_names_are_text_in_the_page_of_findings(chromium: Any, tmp_path: pathlib.Path) -> None:
    name = "<img src=x onerror=alert(3)>.hlo"
    found = hlotool.lint(HOSTILE, filename=name)
    path = tmp_path / "lint.html"
    path.write_text(written("html", Findings(found, [name], {name: Source(HOSTILE, name)}, "1")), "utf-8")
    opened = Opened(chromium, path)
    page = opened.page
    page.wait_for_selector(".row.here")
    assert "<img" in page.inner_text("#list h2") and "<img" in page.inner_text("#lines")
    assert page.locator("img, #lines b").count() == 0
    assert page.locator(".row.here mark").count() == 1
    assert page.locator(".row.here .hlo-opcode").first.inner_text() == "add"
    page.click("summary")
    page.click("#none")
    assert page.inner_text("#list") == "Nothing fits."
    assert page.locator(".finding[data-n]").count() == 0
    opened.check_clean()


def test_lines_that_are_very_long_are_cut_around_their_finding(chromium: Any, tmp_path: pathlib.Path) -> None:
    text = "HloModule m\nENTRY e {\n  /*" + "x" * 50_000 + "*/ ROOT r = f32[2] add(none, none)\n}\n"
    path = tmp_path / "lint.html"
    path.write_text(written("html", Findings(hlotool.lint(text, filename="a"), ["a"], {"a": Source(text, "a")}, "1")),
                    "utf-8")
    opened = Opened(chromium, path)
    opened.page.wait_for_selector(".row.here mark")
    assert "none" in opened.page.inner_text(".row.here mark")
    assert len(opened.page.inner_text(".row.here")) < 5_000
    opened.check_clean()


def test_a_matrix_is_searched(chromium: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "conformance.html"
    path.write_text(conformance(), "utf-8")
    opened = Opened(chromium, path)
    assert opened.page.inner_text("h1").startswith("3 of 9 cases fail")
    opened.page.fill("#find", "mult")
    assert opened.page.locator(".matrix tbody tr:visible").count() == 1
    assert opened.page.inner_text("#found") == "1 operations, 2 cases"
    assert opened.page.inner_text("#filter").startswith("2 cases.")
    opened.page.locator("details[data-key]:visible summary").first.click()
    assert opened.page.locator("details[open] .hlo-word").first.inner_text() == "ENTRY"
    opened.check_clean()


def test_costs_are_drawn_and_searched_and_hostile_names_are_text(chromium: Any, tmp_path: pathlib.Path) -> None:
    path = tmp_path / "cost.html"
    text = ('ENTRY e { a = f32[2] parameter(0)  ROOT n = f32[2] negate(a), '
            'metadata={op_name="<img src=x onerror=alert(1)>/</table><b>" source_file="<i>" source_line=1} }')
    path.write_text(cost_page([cost_of(hlotool.parse(text), "a100", name="<img src=x>")]), "utf-8")
    opened = Opened(chromium, path)
    assert opened.page.locator("img").count() == 0
    assert opened.page.locator("svg circle").count() == 1
    said = opened.page.inner_text("main")
    assert "<img src=x onerror=alert(1)>" in said and "<i>:1" in said
    assert opened.page.locator("main b").count() == 0
    opened.check_clean()
    path.write_text(cost(), "utf-8")
    opened = Opened(chromium, path)
    rows = opened.page.locator("tbody tr:visible")
    before = rows.count()
    opened.page.fill("#find", "dynamic all-reduce")
    assert rows.count() == 0
    opened.page.fill("#find", "psum")
    assert 0 < rows.count() < before
    assert opened.page.inner_text("#found") == f"{rows.count()} rows"
    opened.check_clean()


@pytest.mark.parametrize("text", ["ENTRY e { ROOT c = f32[] constant(0) }", "ENTRY e { ROOT t = () tuple() }",
                                  "ENTRY e { a = f32[0] parameter(0)  ROOT n = f32[0] negate(a) }",
                                  "ENTRY e { a = f32[9223372036854775807,9] parameter(0)"
                                  " ROOT n = f32[9223372036854775807,9] tanh(a) }"])
def test_pages_of_odd_costs_are_made(text: str) -> None:
    assert "<svg" in cost_page([cost_of(hlotool.parse(f"HloModule m\n{text}"), "h100", name="odd")])
