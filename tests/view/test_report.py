"""The report: tabs beside the graph whose rows lead to instructions, lines, searches and passes."""

from __future__ import annotations

import html
import pathlib
import re
from typing import Any
from urllib.parse import unquote

import pytest
from browser_pages import Opened, violations

import hlotool
from hlotool.cli import main
from hlotool.passes.cost import cost
from hlotool.view import report_sheets
from hlotool.view.page_data import viewed
from hlotool.view.row_tables import rows_table

DUMPS = pathlib.Path(__file__).parents[2] / "samples" / "dumps" / "scaled_softmax_wrong"
TEXT = """HloModule trained

helper {
  p = f32[64,64] parameter(0)
  ROOT same = f32[64,64] tanh(p)
}

ENTRY main {
  x = f32[64,64] parameter(0)
  y = f32[64,64] parameter(1)
  turned = f32[64,64] transpose(x), dimensions={0,1}
  product = f32[64,64] dot(turned, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="jit(f)/dot" source_file="train.py" source_line=7}
  called = f32[64,64] call(product), to_apply=helper
  same = f32[64,64] add(called, x), metadata={op_name="jit(f)/add" source_file="train.py" source_line=8}
  ROOT out = f32[64,64] subtract(same, y)
}
"""  # noqa: E501


def sheets(text: str = TEXT) -> dict[str, str]:
    shown = viewed("trained.hlo", hlotool.parse(text))
    lines = {line: n for n, line in enumerate(shown.lines)}
    from hlotool.view.overlays import findings_of

    return {s.key: s.content for s in report_sheets.module_sheets(shown, findings_of(shown.module, lines))}


def rows(content: str, title: str) -> list[tuple[str, list[str]]]:
    """The target and the cells of each row of a table."""
    table = content[content.index(f"<summary>{title} "):]
    table = table[:table.index("</table>")]
    found = []
    for row in re.findall(r"<tr><td.*?</tr>", table):
        target = re.search(r'href="#([^"]*)"', row)
        cells = [html.unescape(re.sub(r"<[^>]*>", "", cell)) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)]
        found.append((unquote(target[1]) if target else "", cells))
    return found


def test_rows_have_the_figures_of_the_commands_and_lead_to_their_places() -> None:
    found, report = sheets(), cost(hlotool.parse(TEXT))
    by_operation = {cells[0]: (target, cells) for target, cells in rows(found["cost"], "By operation")}
    assert by_operation["dot"][0] == "?op:dot" and by_operation["dot"][1][1] == "524 k"
    assert list(by_operation)[:len(report.by("opcode"))] == [k for k, c in report.by("opcode").items()
                                                             if c.work or c.bytes]
    lines = {cells[0]: target for target, cells in rows(found["cost"], "By line of the program")}
    assert lines["train.py:7"] == "?file:train.py:7" and lines["(none)"] == ""
    instructions = {cells[0]: target for target, cells in rows(found["cost"], "By instruction")}
    # Two instructions have one name.
    assert all(instructions[name] == name for name in ("main/same", "helper/same", "product"))
    live = rows(found["memory"], "Values that live when most is needed")
    assert [cells[0] for _, cells in live] == [b.name for b in report.memory.live]
    assert all(target for target, _ in live)
    place, *_ = [(target, cells) for target, cells in rows(found["findings"], "Findings") if cells[3] == "W111"]
    assert place[0] == "turned" and place[1][0] == "turned"


def test_signs_of_right_to_left_text_are_shown() -> None:
    lines = [cells[0] for _, cells in rows(sheets(TEXT.replace("train.py", "tr\u202eain.py"))["cost"],
                                           "By line of the program")]
    assert not any("\u202e" in line for line in lines) and any("202e" in line.lower() for line in lines)


def test_tables_are_bounded_and_tell_what_is_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    table = rows_table("m", "Things", ("thing",), [(str(n),) for n in range(10)], ["#a"] * 10, most=3)
    assert len(rows(table, "Things")) == 3 and "7 more rows" in table
    monkeypatch.setattr(report_sheets, "MOST_FINDINGS", 1)
    twice = TEXT.replace("subtract(same, y)", "subtract(same, again)").replace(
        "  ROOT out", "  again = f32[64,64] transpose(y), dimensions={0,1}\n  ROOT out")
    content = sheets(twice)["findings"]
    assert len(rows(content, "Findings")) == 1 and "more rows" in content


def test_a_report_is_of_one_module_or_a_folder(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.hlo").write_text(TEXT)
    file = str(tmp_path / "m.hlo")
    for words in ([file, file], [file, "--format", "svg"]):
        assert main(["view", *words, "--report"]) == 2
        assert "--report is a page of one module" in capsys.readouterr().err
    assert main(["view", file, "-o", str(tmp_path / "plain.html")]) == 0
    assert 'id="tabs"' not in (tmp_path / "plain.html").read_text()


@pytest.fixture
def module_report(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "m.hlo").write_text(TEXT)
    assert main(["view", str(tmp_path / "m.hlo"), "--report", "-o", str(tmp_path / "report.html")]) == 0
    return tmp_path / "report.html"


@pytest.fixture
def folder_report(tmp_path: pathlib.Path) -> pathlib.Path:
    assert main(["view", str(DUMPS), "--report", "-o", str(tmp_path / "report.html")]) == 0
    return tmp_path / "report.html"


def opened(chromium: Any, file: pathlib.Path, anchor: str = "", width: int = 1000) -> Opened:
    found = Opened(chromium, file, width=width, anchor=anchor)
    found.wait_until_ready()
    return found


def visible_tab(page: Any) -> str:
    return str(page.get_attribute("[role=tab][aria-selected=true]", "id")).removeprefix("tab-")


def test_rows_lead_to_the_graph_and_the_text_and_back(chromium: Any, module_report: pathlib.Path) -> None:
    report = opened(chromium, module_report)
    page = report.page
    page.click("#tab-findings")
    assert page.is_visible("#sheet-findings") and not page.is_visible("#graphs")
    page.click("#sheet-findings a >> text=turned")
    page.wait_for_selector("#graphs", state="visible")
    assert page.inner_text("#details-heading") == "turned"
    assert "turned = " in page.inner_text(".row.here")
    # And from the instruction to its rows.
    page.click("#facts >> text=Findings >> nth=-1")
    page.wait_for_selector("#sheet-findings", state="visible")
    assert page.evaluate("document.activeElement.textContent") == "turned"
    page.go_back()
    page.wait_for_selector("#graphs", state="visible")
    assert visible_tab(page) == "graph"
    page.click("#tab-cost")
    page.click("#sheet-cost a >> text=helper/same")
    page.wait_for_selector("#graphs", state="visible")
    assert page.inner_text("#details-heading") == "same" and "tanh" in page.inner_text(".row.here")
    report.check_clean()
    page.close()


def test_a_row_of_a_sum_leads_to_a_search(chromium: Any, module_report: pathlib.Path) -> None:
    page = opened(chromium, module_report, "#:cost").page
    assert visible_tab(page) == "cost"
    page.click("#sheet-cost a >> text=/^train.py:7$/")
    page.wait_for_selector("#hits", state="visible")
    assert page.input_value("#search") == "file:train.py:7"
    assert [row.split()[0] for row in page.locator("#hits li").all_inner_texts()] == ["product"]
    page.close()


def test_tabs_by_keyboard_and_rows_by_words(chromium: Any, module_report: pathlib.Path) -> None:
    report = opened(chromium, module_report)
    page = report.page
    page.focus("#tab-graph")
    for key, tab in (("ArrowRight", "findings"), ("ArrowRight", "cost"), ("End", "memory"), ("ArrowRight", "graph"),
                     ("ArrowLeft", "memory"), ("Home", "graph"), ("ArrowRight", "findings"), ("ArrowRight", "cost")):
        page.keyboard.press(key)
        assert visible_tab(page) == tab and page.evaluate("document.activeElement.id") == f"tab-{tab}"
    assert page.locator("[role=tab][tabindex='0']").count() == 1
    page.fill("#find", "train.py:7")
    assert page.locator("#sheet-cost tbody tr:visible").count() == 1
    page.fill("#find", "")
    assert violations(page) == []
    page.close()


def test_a_pass_is_shown_and_a_row_of_the_last_module_leads_to_it(chromium: Any, folder_report: pathlib.Path) -> None:
    report = opened(chromium, folder_report)
    page = report.page
    page.click("#tab-passes")
    page.click("#sheet-passes a >> text=/^fusion/")
    page.wait_for_selector("#graphs", state="visible")
    page.wait_for_selector("#passes p >> text=/^3 of 5/")
    page.click("#tab-memory")
    name = page.inner_text("#sheet-memory tbody a >> nth=-1")
    page.click("#sheet-memory tbody a >> nth=-1")
    page.wait_for_selector("#passes p >> text=/^5 of 5/")
    page.wait_for_selector(f"#details-heading >> text={name}")
    for tab in ("findings", "cost", "memory", "passes", "graph"):
        page.click(f"#tab-{tab}")
        assert violations(page) == []
        report.check_fits()
    report.check_clean()
    page.close()


def test_a_print_has_every_tab(chromium: Any, module_report: pathlib.Path) -> None:
    page = opened(chromium, module_report).page
    page.emulate_media(media="print")
    for key in ("findings", "cost", "memory"):
        assert page.is_visible(f"#sheet-{key} h2")
    assert not page.is_visible("#tabs")
    page.close()
