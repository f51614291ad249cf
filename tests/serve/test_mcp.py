"""The server for agents, asked by the official client over standard input and output."""

from __future__ import annotations

import asyncio
import json
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")
from mcp import ClientSession, StdioServerParameters, stdio_client

from hlotool.serve.mcp.agent_server import Tools
from hlotool.serve.mcp.bounded import bounded

SMALL = "HloModule small\nENTRY e { a = f32[4] parameter(0)  b = f32[4] exponential(a)  ROOT c = f32[4] log(b) }\n"
OTHER = SMALL.replace("log(b)", "negate(b)")
BAD = SMALL.replace("ROOT c = f32[4] log(b)", "ROOT c = f32[5] log(b)")


def ask(folder: Path, *calls: tuple[str, dict[str, Any]]) -> list[dict[str, Any]]:
    """The answers of one server to calls of its tools, one after another."""

    async def asked() -> list[dict[str, Any]]:
        server = StdioServerParameters(command=sys.executable, args=["-m", "hlotool", "mcp", "--folder", str(folder)])
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            answers = [await session.call_tool(name, given) for name, given in calls]
            return [json.loads(a.content[0].text) for a in answers]

    return asyncio.run(asyncio.wait_for(asked(), 120))


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    for name, text in (("small", SMALL), ("other", OTHER), ("bad", BAD)):
        (tmp_path / f"{name}.hlo").write_text(text)
    return tmp_path


def test_tools_answer_about_files_and_texts(folder: Path) -> None:
    read, lint, explained, same, apart, cost = ask(
        folder, ("read", {"program": "small.hlo", "lines": 1}), ("lint", {"program": "bad.hlo"}),
        ("explain", {"word": "W103"}), ("diff", {"before": "small.hlo", "after": SMALL}),
        ("diff", {"before": "small.hlo", "after": OTHER}), ("cost", {"program": "small.hlo"}))
    assert read["text"].startswith("HloModule small") and read["lines"] > 3
    assert lint["exit_code"] == 1 and lint["report"][0]["start"]["line"] == 2
    assert explained["report"][0]["code"] == "W103"
    assert same["report"]["equal"] and not apart["report"]["equal"]
    assert cost["report"]["modules"][0]["total"]["transcendentals"] == 8


def test_programs_are_run_and_judged(folder: Path) -> None:
    differs, nan = ask(folder, ("compare", {"program": "small.hlo", "other": "other.hlo", "seconds": 2}),
                       ("isolate", {"program": SMALL.replace("exponential", "negate"), "nan": True}))
    assert differs["report"]["verdict"] == "differ" and differs["report"]["instruction"] == "c"
    assert nan["report"]["verdict"] in ("nan", "infinity", "finite")


def test_nothing_outside_of_the_folder_is_read(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "link.hlo").symlink_to(folder / "small.hlo")
    answers = ask(folder / "inner", *(("lint", {"program": path}) for path in (
        "../small.hlo", str(folder / "small.hlo"), "link.hlo")))
    assert all("outside" in answer["error"] for answer in answers)


def test_words_are_no_options_and_what_is_missing_is_said(folder: Path) -> None:
    written = folder / "written.txt"
    option, missing, unknown = ask(
        folder, ("explain", {"word": f"-o{written}"}), ("lint", {"program": "nowhere.hlo"}),
        ("explain", {"word": "nosuch"}))
    assert "nothing is called" in option["error"] and not written.exists()
    assert "nowhere.hlo" in json.dumps(missing) and "nosuch" in unknown["error"]


def test_a_path_is_no_option_either(folder: Path) -> None:
    (folder / "--fix").write_text(SMALL)
    (answer,) = ask(folder, ("lint", {"program": "--fix"}))
    assert answer["exit_code"] == 0


@pytest.mark.parametrize(("program", "said"), [
    ("a\0b.hlo", "null"), ("HloModule \ud800 {\n}", "surrogates not allowed"), ("..", "outside")])
def test_what_is_no_path_and_no_text_is_said(folder: Path, program: str, said: str) -> None:
    answer = asyncio.run(Tools(folder.resolve(), 60).lint(program))  # which starts no process
    assert said in answer["error"], answer


def test_long_names_and_options_among_the_codes_are_said(folder: Path) -> None:
    before = (folder / "small.hlo").read_bytes()
    long, option = ask(folder, ("lint", {"program": "x" * 5000}), ("lint", {"program": "small.hlo", "select": "--fix"}))
    assert "too long" in long["error"] and "--fix" in option["error"]
    assert (folder / "small.hlo").read_bytes() == before


def test_long_answers_are_cut_and_say_so() -> None:
    value = {"rows": [{"name": f"row {n}", "numbers": list(range(50))} for n in range(1000)], "text": "x" * 100_000}
    small = bounded(value, 5000)
    assert len(json.dumps(small)) <= 5000
    assert small["rows"][-1]["left_off"] == 1000 - (len(small["rows"]) - 1) and "characters more" in small["text"]
    assert bounded(value, 10**7) == value and bounded([1, 2], 100) == [1, 2]
    assert "characters more" in bounded({"text": "x" * 100_000}, 5000)["text"]
    assert "too long" in str(bounded({str(n): n for n in range(10_000)}, 1000))


def test_each_tool_asks_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hlotool.serve.mcp.agent_server import Tools

    asked: list[list[str]] = []

    async def note(self: Tools, words: list[str]) -> dict[str, Any]:
        asked.append([Path(w).name for w in words])
        return {"text": "a\nb\nc\nd"}

    monkeypatch.setattr(Tools, "_run", note)
    tools = Tools(tmp_path, 5.0)

    async def ask_all() -> dict[str, Any]:
        await tools.lint("a")
        await tools.lint("a", "W1")
        await tools.diff("a", "b")
        await tools.diff("a", "b", values=True)
        await tools.compare("a")
        await tools.compare("a", "b", 3)
        await tools.isolate("a")
        await tools.isolate("a", "b", nan=True)
        return await tools.read("a", 2, 2)

    assert asyncio.run(ask_all()) == {"lines": 4, "first_line": 2, "text": "b\nc"}
    form = ["--format", "json"]
    assert asked == [
        ["lint", *form, "a"], ["lint", *form, "--select=W1", "a"], ["diff", *form, "a", "b"],
        ["diff", *form, "--values", "a", "b"], ["compare", *form, "--time-budget", "10.0", "a"],
        ["compare", *form, "--time-budget", "3.0", "a", "b"], ["isolate", *form, "a"],
        ["isolate", *form, "--nan", "a", "b"], ["fmt", "a"]]
