"""The page of a folder of dumps: what it says of dumps that cannot be shown, and of those that find no room in it."""

from __future__ import annotations

import html
import json
import pathlib
import re
from typing import Any

import pytest
from test_view_in_browser import SCOPED

from hlotool.cli import main
from hlotool.dumps import DumpReader, read_folder
from hlotool.view import folder_page

NAMES = ("before_optimizations", "0001.simplify.after_algsimp.before_dce", "0002.simplify.after_dce.before_x",
         "0003.simplify.after_x.before_y")
TEXTS = (SCOPED, SCOPED.replace("negate(", "sine("), SCOPED.replace("negate(", "cosine("), SCOPED)


@pytest.fixture
def dumps(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "dumps"
    folder.mkdir()
    for name, text in zip(NAMES, TEXTS, strict=True):
        (folder / f"module_0001.jit_f.{name}.txt").write_text(text)
    return folder


def shown(text: str) -> Any:
    found = re.search(r'<script type="application/json" id="page">(.*?)</script>', text, re.S)
    assert found is not None
    return json.loads(html.unescape(found[1]))


def steps(text: str) -> list[dict[str, Any]]:
    (chain,) = shown(text)["chains"]
    return list(chain["steps"])


def blocks(text: str, kind: str) -> int:
    return len(re.findall(rf'id="{kind}-\d+"', text))


def test_all_that_has_room_is_there(dumps: pathlib.Path) -> None:
    page = folder_page("dumps", read_folder(dumps).chains, DumpReader())
    assert not page.left_out
    assert shown(page.text)["verdict"] == "1 module, 4 dumps; 3 passes change something"
    assert [s["modules"] for s in steps(page.text)] == [[0], [0, 1], [1, 2], [2, 0]]
    assert (blocks(page.text, "module"), blocks(page.text, "text"), blocks(page.text, "match")) == (3, 3, 3)


@pytest.mark.parametrize("room", [0, 1, 3000, 4500, 6000])
def test_what_has_no_room_is_told_and_the_page_stays_small(dumps: pathlib.Path, room: int) -> None:
    page = folder_page("dumps", read_folder(dumps).chains, DumpReader(), most_bytes=room)
    empty = folder_page("dumps", read_folder(dumps).chains, DumpReader(), most_bytes=0)
    assert len(page.text) <= len(empty.text) + room + 1000
    left = [s for s in steps(page.text) if "left" in s]
    assert len(left) == page.left_out > 0
    assert all("too large" in s["said"] for s in left)
    assert re.search(rf"{page.left_out} dumps? (is|are) left out", shown(page.text)["verdict"])
    for step in steps(page.text):
        assert all(f'id="module-{n}"' in page.text and f'id="text-{n}"' in page.text for n in step["modules"])
        assert step.get("match") is None or f'id="match-{step["match"]}"' in page.text


def test_the_command_tells_what_is_left_out(dumps: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    page = str(dumps.parent / "page.html")
    assert main(["view", str(dumps), "-o", page]) == 0
    assert not capsys.readouterr().err
    assert main(["view", str(dumps), "-o", page, "--megabytes", "0"]) == 0
    assert "4 dumps are left out" in capsys.readouterr().err
    (dumps / "module_0009.alone.0001.p.after_a.before_b.txt").write_text(SCOPED)
    assert main(["view", str(dumps), "-o", page]) == 0
    assert "1 module with one dump only" in capsys.readouterr().err


def test_a_dump_that_is_read_but_cannot_be_shown_leaves_the_others(
        dumps: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hlotool.view import view_page

    def fail(name: str, module: Any) -> Any:
        if "dce" in name:
            raise RecursionError
        return kept(name, module)

    kept = view_page.viewed
    monkeypatch.setattr(view_page, "viewed", fail)
    page = folder_page("dumps", read_folder(dumps).chains, DumpReader())
    found = steps(page.text)
    assert [bool(s.get("problem")) for s in found] == [False, False, True, False]
    assert found[3]["modules"] == [1, 0]
    assert "1 dump cannot be read" in shown(page.text)["verdict"]
