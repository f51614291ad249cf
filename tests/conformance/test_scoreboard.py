"""The manual's scoreboard: what reports say of each executor, and no folder of the machine that made them."""

from __future__ import annotations

from typing import Any

from write_scoreboard import PAGE, scoreboard, written

PLUGIN = "pjrt:/home/somebody/plugin.so"


def report(executor: str, *cases: tuple[str, str, str], **facts: str) -> dict[str, Any]:
    return {"started": "2026-01-02T03:04:05+00:00", "version": "1", "executors": {executor: facts}, "cases": [
        {"executor": executor, "operation": o, "status": s, "verdict": v} for o, s, v in cases]}


def test_reports_stand_side_by_side() -> None:
    reports = [report("pjrt:cpu", ("add", "pass", "passed"), ("dot", "mismatch", "explained"),
                      ("dot", "crash", "unexplained"), ("abs", "compile error", "explained"), jaxlib="0.10.2"),
               report(PLUGIN, ("add", "undecided", "undecided"), library_sha256="0123456789abcdef")]
    lines = scoreboard(reports, {}).splitlines()
    rows = {cells[1].strip(): [c.strip() for c in cells[2:-1]] for line in lines if len(cells := line.split("|")) > 3}
    assert rows[""] == ["`pjrt:cpu`", "`pjrt:plugin.so`", "`pjrt:cuda`"]
    assert rows["run on"] == ["2026-01-02", "2026-01-02", ""] and rows["jaxlib"] == ["0.10.2", "", ""]
    assert rows["**passed**"] == ["1", "0", "not measured"]
    assert rows["**failed, explained**"] == ["2", "0", "not measured"]
    assert rows["**undecided**"] == ["0", "1", "not measured"]
    assert rows["of the failed: crash"] == ["1", "0", "not measured"]
    assert rows["`dot`"] == ["2 (1 unexplained)", ""] and "`abs`" not in rows
    assert "somebody" not in "\n".join(lines) and "plugin 1.0" in scoreboard(reports, {"plugin.so": "plugin 1.0"})


def test_the_page_has_a_place_for_it() -> None:
    page = PAGE.read_text("utf-8")
    board = page.partition("<!-- scoreboard -->")[2].partition("<!-- end of scoreboard -->")[0]
    assert "| **passed** |" in board and "/" not in board
    assert written(page, [report("pjrt:cpu", ("add", "pass", "passed"))], {}) != page
