"""Requests of agents: each has its reply of the promised size, nothing outside of the folder is opened, and no words of
an agent become options of a command.

An input is a message a line. The server runs in this process, without its pipes; the
commands that it would start are noted, and answered by a report that is as long as it pleases.
"""

from __future__ import annotations

import asyncio
import collections
import json
import logging
import os
import random
import re
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from unittest.mock import patch

from fuzzing import hlo_texts
from mutations import ODD_VALUES, OF_MESSAGES, mutant

from hlotool.cli.parsers import parser_of
from hlotool.serve.mcp import agent_server
from hlotool.serve.mcp.asked_command import Output
from hlotool.serve.mcp.bounded import MOST
from hlotool.serve.mcp.message_lines import Messages, Replies

_TOOLS = ("read", "lint", "explain", "diff", "compare", "isolate", "cost")
_SECRET = "a line of somebody else's"
_TEXT = "HloModule small\nENTRY e { a = f32[4] parameter(0)  ROOT c = f32[4] exponential(a) }\n"
#: asked last: a server that goes on answers it
_LAST = {"jsonrpc": "2.0", "id": "the last", "method": "tools/call",
         "params": {"name": "lint", "arguments": {"program": "small.hlo"}}}
_FIRST = [
    {"jsonrpc": "2.0", "id": "the first", "method": "initialize", "params": {
        "protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "fuzzer", "version": "1"}}},
    {"jsonrpc": "2.0", "method": "notifications/initialized"}]
#: seconds in which replies come, and lines of an input
_PATIENCE, _MOST_LINES = 30.0, 40
#: options that the tools give themselves
_OPTIONS = frozenset(("--format", "--no-config", "--select", "--values", "--time-budget", "--nan", "--"))

_PATHS = ("small.hlo", "inner/a[1].hlo", "./small.hlo", "../secret.hlo", "/etc/passwd", "link.hlo", "up/secret.hlo",
          "inner/../../secret.hlo", "*.hlo", "[s]mall.hlo", "pipe", "zero", "inner", ".", "..", "", "~", "~/x", "-",
          "--fix", "-o/tmp/x", "--config=/etc/passwd", "small.hlo\0", "x" * 300, "x/" * 3000, "\udcff", "\ud800", "é",
          "\u202e", "a\x1b[31m", "file:///etc/passwd", "http://127.0.0.1/", "/proc/self/environ", "/dev/zero",
          "/dev/fd/0", "@small.hlo", "$HOME", "`id`", "small.hlo::x", "small.hlo/", "//small.hlo", ".\\small.hlo")
_VALUES: tuple[Any, ...] = (*ODD_VALUES, "1", "W1", "ALL", "dot", "W103", ["small.hlo"], _TEXT, _TEXT * 50)
_METHODS = ("tools/call", "tools/call", "tools/call", "tools/call", "tools/list", "ping", "initialize",
            "resources/list", "resources/read", "prompts/list", "prompts/get", "logging/setLevel",
            "completion/complete", "nothing/such",
            "notifications/cancelled", "notifications/initialized", "sampling/createMessage", "", "tools/call\n")
_ARGUMENTS = ("program", "program", "before", "after", "other", "word", "select", "values", "nan", "seconds", "lines",
              "first_line", "unknown", "self", "__class__", "program\n")


def _nested(rng: random.Random, depth: int) -> Any:
    value: Any = rng.choice(_VALUES)
    for _ in range(depth):
        value = [value] if rng.random() < 0.5 else {"a": value}
    return value


def _request(rng: random.Random, number: int) -> dict[str, Any]:
    tool = rng.choice((*_TOOLS, *_TOOLS, "nothing", "", "_ask", "lint\n", None, 7))
    given = {rng.choice(_ARGUMENTS): rng.choice(_VALUES) for _ in range(rng.choice((0, 0, 0, 1, 2)))}
    for name in {"diff": ("before", "after"), "explain": ("word",)}.get(str(tool), ("program",)):
        if rng.random() < 0.9:
            given[name] = rng.choice((*_PATHS, *_PATHS, _TEXT, *_VALUES))
    arguments: Any = given if rng.random() < 0.9 else _nested(rng, rng.choice((0, 1, 50)))
    method = rng.choice(_METHODS)
    params: Any = {"name": tool, "arguments": arguments} if method.startswith("tools/call") else rng.choice(
        ({}, None, {"uri": rng.choice(_PATHS)}, {"requestId": number - 1}, {"name": tool, "cursor": "x"}, arguments))
    row: dict[str, Any] = {"jsonrpc": "2.0", "method": method, "params": params}
    if not method.startswith("notifications"):
        row["id"] = rng.choice((number, number, number, str(number), number * 10**15, f"\u202e{number}"))
    return row


class Agents:
    """Sessions of an agent."""

    name = "agents"

    def corpus(self) -> list[bytes]:
        rng = random.Random(7)
        texts = [t.decode(errors="replace") for t in hlo_texts()[::40]]
        rows = [[_request(rng, n) for n in range(8)] for _ in range(40)]
        rows += [[{"jsonrpc": "2.0", "id": n, "method": "tools/call", "params": {
            "name": "lint", "arguments": {"program": text}}} for n in range(3)] for text in texts]
        return ["\n".join(map(json.dumps, row)).encode() for row in rows]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        if rng.random() < 0.4:
            return mutant(rng, corpus, OF_MESSAGES)
        rows = [json.dumps(_request(rng, n), ensure_ascii=rng.random() < 0.9) for n in range(rng.choice((1, 2, 8, 30)))]
        return "\n".join(rows).encode("utf-8", "surrogatepass")

    def check(self, data: bytes) -> str:
        logging.disable(logging.CRITICAL)
        lines = [line for line in data.split(b"\n")[:_MOST_LINES] if line.strip()]
        try:
            with tempfile.TemporaryDirectory() as made:
                replies = asyncio.run(_talk(_filled(Path(made)), lines))
        finally:
            logging.disable(logging.NOTSET)
        missing = {n: count - replies.of[n] for n, count in _all_asked(lines).items() if replies.of[n] < count}
        assert not missing, f"no reply to {missing}"
        assert replies.of["'the last'"], "the server has ended"
        return f"{min(replies.answers, 3)} answers, {min(replies.refusals, 3)} refusals"


def _filled(made: Path) -> Path:
    """A folder to serve, beside what must not be read."""
    folder = made / "served"
    (folder / "inner").mkdir(parents=True)
    for name in ("small.hlo", "inner/a[1].hlo", "--fix"):
        (folder / name).write_text(_TEXT)
    (made / "secret.hlo").write_text(_SECRET)
    (folder / "link.hlo").symlink_to("../secret.hlo")
    (folder / "up").symlink_to("..")
    (folder / "zero").symlink_to("/dev/zero")
    os.mkfifo(folder / "pipe")
    return folder


def _all_asked(lines: Sequence[bytes]) -> collections.Counter[str]:
    """The numbers of the requests in lines, as they are written, how often each; of those that nobody cancels."""
    rows = [row for row in map(_request_in, lines) if row is not None]
    cancelled = {repr(row.get("params", {}).get("requestId")) for row in rows
                 if row["method"] == "notifications/cancelled"}
    numbers = (row.get("id") for row in rows if not row["method"].startswith("notifications/"))
    asked = collections.Counter(repr(n) for n in numbers if isinstance(n, (int, str)) and not isinstance(n, bool))
    return collections.Counter({n: count for n, count in asked.items() if n not in cancelled})


def _request_in(line: bytes) -> dict[str, Any] | None:
    """The request or notification in a line; None where it is none."""
    try:
        said = json.loads(line.decode())
    except (ValueError, RecursionError):
        return None
    is_one = (isinstance(said, dict) and said.get("jsonrpc") == "2.0" and isinstance(said.get("method"), str)
              and isinstance(said.get("params", {}), dict) and not said.keys() & {"result", "error"})
    return said if is_one else None


class _Replies:
    """Output of the server, a reply a line."""

    def __init__(self) -> None:
        self.of: collections.Counter[str] = collections.Counter()
        self.answers = self.refusals = 0

    async def write(self, data: bytes) -> None:
        assert data.endswith(b"\n") and data.count(b"\n") == 1, data[:200]
        said = json.loads(data)
        if "method" in said:
            return
        self.of[repr(said.get("id"))] += 1
        contents = said.get("result", {}).get("content", [])
        assert all(len(c.get("text", "")) <= MOST for c in contents), "an answer is longer than it was promised"
        assert not re.search(rb"somebody else's|root:x:0|Traceback", data), data[:2000]
        if "error" in said or said.get("result", {}).get("isError"):
            self.refusals += 1
        else:
            self.answers += 1


class _Given:
    """The lines that the server reads, and the end once all is answered."""

    def __init__(self, lines: Sequence[bytes], replies: _Replies) -> None:
        self.replies, self.asked = replies, {**_all_asked(lines), "'the last'": 1}
        self._rows = iter([*(json.dumps(row).encode() for row in _FIRST), None, *lines, json.dumps(_LAST).encode()])

    async def read(self, most: int) -> bytes:
        row = next(self._rows, b"")
        if row is None:
            await self._wait_for({"'the first'": 1})
            row = next(self._rows)
        if not row:
            await self._wait_for(self.asked)
        return row + b"\n" if row else b""

    async def _wait_for(self, wanted: dict[str, int]) -> None:
        until = time.monotonic() + _PATIENCE
        while any(self.replies.of[n] < count for n, count in wanted.items()) and time.monotonic() < until:
            await asyncio.sleep(0.001)


async def _run_command(words: Sequence[str], place: Path, seconds: float, out: Output, said: Output) -> int:
    """Take the place of a command: check what it is asked, and answer."""
    options = {w.partition("=")[0] for w in words[1:(words.index("--") if "--" in words else len(words))]
               if w.startswith("-")}
    assert options <= _OPTIONS, words
    with tempfile.TemporaryFile("w+") as heard, patch("sys.stderr", heard):
        try:
            args = parser_of(words[0], "hlotool").parse_args(list(words[1:]))
        except SystemExit:
            said.feed(b"the command line is refused")
            return 2
    for path in getattr(args, "paths", None) or ():
        _check_file(str(path), place)
    rng = random.Random(repr(words))
    kind = rng.randrange(6)
    if kind == 0:
        said.feed(b"no report, \xff\x1b[31m\n" * rng.choice((1, 9000)))
        return rng.choice((2, 137))
    if kind == 1:
        out.feed(b"x\n\xff" * rng.choice((1, 30_000)))
    elif kind == 2:
        out.feed(b"[" * (1 << 20))
    else:
        count, size = rng.choice((1, 3000)), rng.choice((1, 9000))
        out.feed(json.dumps([{"code": "W1", "message": "m" * size, "rows": [n] * 9} for n in range(count)]).encode())
    await asyncio.sleep(0)
    return rng.choice((0, 1))


def _check_file(path: str, place: Path) -> None:
    file = place / path
    assert re.match(r"\./", path) and not re.search(r"[*?\[\]]", path), path
    assert file.resolve().is_relative_to(place.resolve()) and file.is_file() and not file.is_symlink(), path
    assert _SECRET not in file.read_text("utf-8", "replace"), path


async def _talk(folder: Path, lines: Sequence[bytes]) -> _Replies:
    heard = _Replies()
    replies = Replies(heard.write)
    with patch.object(agent_server, "run_command", _run_command):
        await agent_server.talk_in_lines(agent_server.make_server(folder),
                                         Messages(_Given(lines, heard).read, replies), replies)
    return heard
