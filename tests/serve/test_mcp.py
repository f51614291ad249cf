"""The server for agents, asked by the official client over standard input and output."""

from __future__ import annotations

import asyncio
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("mcp")
from mcp import ClientSession, StdioServerParameters, stdio_client

from hlotool.serve.mcp import agent_server
from hlotool.serve.mcp.agent_server import AnswerFailed, Tools
from hlotool.serve.mcp.asked_command import Lines, TooMuch, Whole
from hlotool.serve.mcp.bounded import bounded
from hlotool.serve.mcp.message_lines import Messages, Replies

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
            assert all(len(a.content[0].text) <= 20_000 for a in answers)
            return [{"error": a.content[0].text} if a.is_error else json.loads(a.content[0].text) for a in answers]

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
    inner = folder / "inner"
    (inner / "real").mkdir(parents=True)
    (inner / "link.hlo").symlink_to(folder / "small.hlo")
    (inner / "loop.hlo").symlink_to("loop.hlo")
    (inner / "linked").symlink_to(folder)
    (inner / "real" / "up").symlink_to("..")
    os.mkfifo(inner / "pipe.hlo")
    (inner / "real" / "x.hlo").write_text(SMALL)
    (inner / "a[1].hlo").write_text(SMALL)
    refused = {"../small.hlo": "outside", str(folder / "small.hlo"): "outside", "real/../../small.hlo": "outside",
               "link.hlo": "link", "loop.hlo": "link", "linked/small.hlo": "link", "real/up/real/x.hlo": "link",
               "lin?ed/small.hlo": "No such file", "*.hlo": "No such file", "linked": "link", "real": "a folder",
               "": "a folder", ".": "a folder", "pipe.hlo": "no regular file"}
    read = ("real/x.hlo", "./real/x.hlo", str(inner / "real" / "x.hlo"), "a[1].hlo")
    answers = ask(inner, *(("read", {"program": path}) for path in (*refused, *read)))
    for (path, said), answer in zip(refused.items(), answers, strict=False):
        assert said in answer.get("error", ""), (path, answer)
    assert all(a["text"].startswith("HloModule small") for a in answers[len(refused):])


def test_arguments_are_those_that_are_described(folder: Path) -> None:
    unknown, wrong = ask(folder, ("lint", {"program": "small.hlo", "fix": True}), ("lint", {"programs": "small.hlo"}))
    assert "fix" in unknown["error"] and "program" in wrong["error"]

    async def listed() -> Any:
        server = StdioServerParameters(command=sys.executable, args=["-m", "hlotool", "mcp", "--folder", str(folder)])
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return (await session.list_tools()).tools

    for tool in asyncio.run(asyncio.wait_for(listed(), 60)):
        assert all(p.get("description") for p in tool.input_schema["properties"].values()), tool.name
        assert tool.input_schema["additionalProperties"] is False and tool.annotations.read_only_hint, tool.name


def test_answers_fit_as_they_are_sent(folder: Path) -> None:
    lines = "".join(f'  a{n} = f32[4] negate(p), metadata={{op_name="\\"{n}\\""}}\n' for n in range(4000))
    (folder / "long.hlo").write_text(f"HloModule long\nENTRY e {{\n  p = f32[4] parameter(0)\n{lines}  ROOT r = f32[4] "
                                     "negate(p)\n}\n")
    read, lint, cost = ask(folder, ("read", {"program": "long.hlo", "lines": 2000}), ("lint", {"program": "long.hlo"}),
                           ("cost", {"program": "long.hlo"}))
    assert read["last_line"] > 50 and read["lines"] > 4000 and "report" in lint and cost["report"]


def test_words_are_no_options_and_what_is_missing_is_said(folder: Path) -> None:
    written = folder / "written.txt"
    option, missing, unknown = ask(
        folder, ("explain", {"word": f"-o{written}"}), ("lint", {"program": "nowhere.hlo"}),
        ("explain", {"word": "nosuch"}))
    assert "nothing is called" in option["error"] and not written.exists()
    assert "nowhere.hlo" in missing["error"] and "nosuch" in unknown["error"]


def test_a_path_is_no_option_either(folder: Path) -> None:
    (folder / "--fix").write_text(SMALL)
    (answer,) = ask(folder, ("lint", {"program": "--fix"}))
    assert answer["exit_code"] == 0


@pytest.mark.parametrize(("program", "said"), [
    ("a\0b.hlo", "null"), ("HloModule \ud800 {\n}", "surrogates not allowed"), ("..", "outside")])
def test_what_is_no_path_and_no_text_is_said(folder: Path, program: str, said: str) -> None:
    with pytest.raises(AnswerFailed, match=said):
        asyncio.run(Tools(folder.resolve(), 60).lint(program))  # which starts no process


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


def test_no_configuration_of_the_temporary_folder_counts(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for where in (folder, folder / "temporary"):
        where.mkdir(exist_ok=True)
        (where / "hlotool.toml").write_text('ignore = ["ALL"]\nplugins = ["*"]\nunknown = 1\n')
    monkeypatch.setattr("tempfile.tempdir", str(folder / "temporary"))
    tools = Tools(folder.resolve(), 60)
    for program in ("bad.hlo", BAD):
        assert asyncio.run(tools.lint(program))["exit_code"] == 1


def test_output_is_bounded_while_it_is_read() -> None:
    whole, cut = Whole(10), Whole(10, is_cut=True)
    for output in (whole, cut):
        output.feed(b"123456789")
    cut.feed(b"0abc")
    assert cut.text() == "1234567890"
    with pytest.raises(TooMuch, match="more than 10 bytes"):
        whole.feed(b"0abc")


@pytest.mark.parametrize("size", [1, 2, 3, 7, 1000])
def test_lines_are_those_of_the_text_wherever_it_is_cut(size: int) -> None:
    for text in ("a\nbb\n\nccc\x0c\u2028c\n\nd", "a\nb\n", "\n\n", "one", ""):
        for first, count in ((1, 2), (2, 3), (3, 100), (9, 1), (1, 0)):
            lines = Lines(first, count, 1000)
            data = text.encode()
            for at in range(0, len(data), size):
                lines.feed(data[at:at + size])
            rows = text.split("\n")[:None if not text.endswith("\n") else -1] if text else []
            assert (lines.total, lines.kept()) == (len(rows), rows[first - 1:first - 1 + count]), (text, first, count)
    lines = Lines(2, 5, 4)
    lines.feed(b"x" * 100 + b"\nabc\ndef\n")
    assert (lines.total, lines.kept()) == (3, ["abc"])


def test_a_command_that_writes_without_end_is_ended(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(agent_server, "MOST_REPORT", 100)
    with pytest.raises(AnswerFailed, match="more than 100 bytes"):
        asyncio.run(Tools(folder.resolve(), 60).lint("bad.hlo"))
    monkeypatch.setattr(agent_server, "MOST_BYTES", 20)
    with pytest.raises(AnswerFailed, match="more than 20 bytes"):
        asyncio.run(Tools(folder.resolve(), 60).lint("bad.hlo"))
    with pytest.raises(AnswerFailed, match="no answer within"):
        asyncio.run(Tools(folder.resolve(), 0.01).lint(BAD))


def test_many_questions_take_turns(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    now, most = 0, 0

    async def run(self: Tools, words: list[str], place: Path, out: Any) -> tuple[int, str]:
        nonlocal now, most
        now += 1
        most = max(now, most)
        await asyncio.sleep(0)
        now -= 1
        out.feed(b"{}")
        return 0, ""

    monkeypatch.setattr(Tools, "_run", run)

    async def ask_all() -> int:
        tools = Tools(folder.resolve(), 60)
        return len(await asyncio.gather(*(tools.lint("bad.hlo") for _ in range(50))))

    assert asyncio.run(ask_all()) == 50 and most == agent_server.MOST_AT_ONCE


def test_each_tool_asks_its_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[list[str]] = []

    async def note(self: Tools, words: list[str], place: Path, out: Any) -> tuple[int, str]:
        asked.append([Path(w).name for w in words])
        out.feed(b"a\nb\nc\nd\n")
        return 0, ""

    monkeypatch.setattr(Tools, "_run", note)
    for name in "ab":
        (tmp_path / name).write_text(SMALL)
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

    assert asyncio.run(ask_all()) == {"lines": 4, "first_line": 2, "last_line": 3, "text": "b\nc"}
    form = ["--format", "json"]
    assert asked == [
        ["lint", *form, "--no-config", "a"], ["lint", *form, "--no-config", "--select=W1", "a"],
        ["diff", *form, "a", "b"], ["diff", *form, "--values", "a", "b"],
        ["compare", *form, "--time-budget", "10.0", "a"],
        ["compare", *form, "--time-budget", "3.0", "a", "b"], ["isolate", *form, "a"],
        ["isolate", *form, "--nan", "a", "b"], ["fmt", "a"]]


def test_every_line_is_answered(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlotool.serve.mcp.message_lines.LARGEST", 500)
    rows = [b'{"jsonrpc": "2.0", "id": 1, "method": "ping", "params": {"x": "\xff"}}', b'{"jsonrpc": "2.0", "id": 2',
            b'{"jsonrpc": "2.0", "id": 3, "method": "ping", "params": {"x": "\\ud800"}}', b"[" * 400, b"x" * 2000,
            b"  ", b"{}",
            b'{"jsonrpc": "1.0", "id": 4, "method": "ping"}', b'{"jsonrpc": "2.0", "id": 5, "method": "nothing"}', b"7"]
    given = io.BytesIO(b"\n".join(rows) + b"\n")
    heard = list[dict[str, Any]]()

    async def read(most: int) -> bytes:
        if not (line := given.readline(most)):
            while len(heard) < 9:  # the library cancels what is under way when the input ends
                await asyncio.sleep(0.01)
        return line

    async def write(data: bytes) -> None:
        heard.append(json.loads(data))

    replies = Replies(write)
    server = agent_server.make_server(folder)
    asyncio.run(asyncio.wait_for(agent_server.talk_in_lines(server, Messages(read, replies), replies), 60))
    assert all("error" in row for row in heard)
    assert sorted((row["id"] or 0) for row in heard) == [0, 0, 0, 0, 0, 0, 3, 4, 5]
    assert {row["error"]["code"] for row in heard if not row["id"]} == {-32700, -32600}


def test_an_agent_that_goes_away_ends_the_server(folder: Path) -> None:
    process = subprocess.Popen([sys.executable, "-m", "hlotool", "mcp", "--folder", str(folder)], text=True,
                               stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdin is not None and process.stdout is not None and process.stderr is not None
    process.stdout.close()
    process.stdin.write("x\n")
    process.stdin.flush()
    assert process.wait() == 1 and process.stderr.read() == ""


def test_files_are_listed_and_links_are_not(folder: Path) -> None:
    (folder / "inner").mkdir()
    (folder / "inner" / "x.hlo").write_text(SMALL)
    (folder / "inner" / "link.hlo").symlink_to(folder / "small.hlo")
    (folder / "linked").symlink_to("/etc")
    every, inner, link, outside = ask(folder, ("list_files", {}), ("list_files", {"folder": "inner"}),
                                      ("list_files", {"folder": "linked"}), ("list_files", {"folder": "../.."}))
    assert [row["path"] for row in every["files"]] == ["bad.hlo", "other.hlo", "small.hlo", "inner/x.hlo"]
    assert inner["files"] == [{"path": "inner/x.hlo", "bytes": len(SMALL)}]
    assert "link" in link["error"] and "outside" in outside["error"]


def test_programs_are_converted_run_and_searched(folder: Path) -> None:
    there, ran, found, misspelt, native = ask(
        folder, ("convert", {"program": "small.hlo"}),
        ("run", {"program": SMALL, "executor": "reference", "inputs": "positive"}),
        ("find", {"program": "small.hlo", "query": "* where feeds log"}),
        ("find", {"program": "small.hlo", "query": "dot where bites"}),
        ("run", {"program": SMALL, "executor": "pjrt:/tmp/x.so"}))
    assert "stablehlo.exponential" in there["report"][0]["text"]
    assert ran["report"]["results"][0]["dims"] == [4] and min(ran["report"]["results"][0]["values"]) > 0
    assert [row["name"] for row in found["report"]["instructions"]] == ["b"]
    assert "R172" in misspelt["error"] and "executor" in native["error"]


def test_passes_are_bisected_and_programs_made_small(folder: Path) -> None:
    dumps = folder / "dumps"
    dumps.mkdir()
    doubled = "HloModule m\nENTRY e { a = f32[2] parameter(0)  ROOT r = f32[2] add(a, a) }\n"
    for number, text in enumerate((doubled, doubled.replace("add", "subtract"))):
        (dumps / f"module_0001.jit_f.000{number}.p.after_pass{number}.before_pass{number + 1}.txt").write_text(text)
    (dumps / "link.txt").symlink_to(folder / "small.hlo")
    wrong, small, missing = ask(folder, ("bisect", {"folder": "dumps"}),
                                ("reduce", {"program": "bad.hlo", "code": "V103", "seconds": 20}),
                                ("bisect", {"folder": "nowhere"}))
    assert wrong["exit_code"] == 1 and "pass1" in json.dumps(wrong["report"])
    assert small["report"]["instructions"] <= 3 and "No such file" in missing["error"]


def test_what_is_near_an_instruction_is_drawn(folder: Path) -> None:
    near, text, unknown = ask(folder, ("picture", {"program": "small.hlo", "instruction": "b", "hops": 1}),
                              ("picture", {"program": SMALL, "instruction": "a", "to": "c", "form": "dot"}),
                              ("picture", {"program": SMALL, "instruction": "nosuch"}))
    assert near["text"].lstrip().startswith("<svg") and "digraph" in text["text"] and "nosuch" in unknown["error"]


def test_progress_is_told_to_those_who_ask(folder: Path) -> None:
    seen: list[float] = []

    async def noted(progress: float, total: float | None, message: str | None) -> None:
        assert message is not None and "120 s" in message
        seen.append(progress)

    async def asked() -> Any:
        server = StdioServerParameters(command=sys.executable, args=["-m", "hlotool", "mcp", "--folder", str(folder)])
        async with stdio_client(server) as streams, ClientSession(*streams) as session:
            await session.initialize()
            return await session.call_tool("compare", {"program": "small.hlo", "seconds": 5}, progress_callback=noted)

    answer = asyncio.run(asyncio.wait_for(asked(), 120))
    assert not answer.is_error and seen and seen == sorted(seen)
