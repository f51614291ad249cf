"""The language server against what no editor should send: it answers, goes on, and ends when it should."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from waiting import PATIENCE, wait_until

pytest.importorskip("pygls")

URI = "file:///dumps/a%20b.hlo"
TEXT = """HloModule m
ENTRY e {
  x = f32[2] parameter(0)
  ROOT y = f32[3] negate(x), metadata={op_name="``` [a](http://b)\\n# `c`" source_file="`<b>`" source_line=1}
}
"""
AT = {"textDocument": {"uri": URI}, "position": {"line": 3, "character": 8}}


class Editor:
    """A server and what is said to it, byte by byte."""

    def __init__(self, **options: Any) -> None:
        self.process = subprocess.Popen([sys.executable, "-m", "hlotool", "lsp"], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=subprocess.PIPE, **options)
        self.asked = 0

    def raw(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def say(self, method: str, params: Any, asked: Any = None) -> None:
        told = {"jsonrpc": "2.0", "method": method, "params": params, **({} if asked is None else {"id": asked})}
        body = json.dumps(told).encode()
        self.raw(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))

    def heard(self) -> dict[str, Any]:
        out = self.process.stdout
        assert out is not None
        length = 0
        while line := out.readline().strip():
            if line.lower().startswith(b"content-length:"):
                length = int(line.partition(b":")[2])
        found: dict[str, Any] = json.loads(out.read(length))
        return found

    def answer(self, asked: Any) -> dict[str, Any]:
        while (found := self.heard()).get("id", "none") != asked or "method" in found:
            pass
        return found

    def ask(self, method: str, params: Any) -> dict[str, Any]:
        self.asked += 1
        self.say(method, params, self.asked)
        return self.answer(self.asked)

    def begin(self, text: str = TEXT) -> list[dict[str, Any]]:
        """Open a document; gives the findings."""
        self.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
        self.say("initialized", {})
        return self.open(text)

    def open(self, text: str) -> list[dict[str, Any]]:
        item = {"uri": URI, "languageId": "hlo", "version": 1, "text": text}
        self.say("textDocument/didOpen", {"textDocument": item})
        return self.published()

    def published(self) -> list[dict[str, Any]]:
        while (found := self.heard()).get("method") != "textDocument/publishDiagnostics":
            pass
        assert found["params"]["uri"] == URI
        return list(found["params"]["diagnostics"])

    def lives(self) -> bool:
        return "contents" in self.ask("textDocument/hover", AT)["result"]


@contextlib.contextmanager
def editor(**options: Any) -> Iterator[Editor]:
    made = Editor(**options)
    try:
        yield made
    finally:
        made.process.kill()
        made.process.communicate()


def test_what_is_no_message_is_answered_and_passed_over() -> None:
    def framed(body: bytes) -> bytes:
        return b"Content-Length: %d\r\n\r\n%s" % (len(body), body)

    good = b'{"jsonrpc": "2.0", "id": 900, "method": "nothing/such"}'
    with editor() as one:
        one.begin()
        for data, code in [
                (b"Content-Length: abc\r\n\r\n" + good, -32700), (b"\r\n" + good, -32700),
                (b"Content-Length: -7\r\n\r\n" + good, -32700), (b"Content-Length:\r\n\r\n" + good, -32700),
                (b"Content-Type: x\r\n\r\n" + good, -32700),
                (b"Content-Length: 999999999\r\n\r\n" + good, -32600),
                (b"Content-Length: 99999999999999999999\r\n\r\n" + good, -32700),
                (framed(b"\xff\xfe{}"), -32700), (framed(b"{"), -32700), (framed(b"[" * 100_000), -32700),
                (framed(b"1" * 100_000), -32700), (framed(b"[]"), -32600), (framed(b"null"), -32600),
                (framed(b"{}"), -32600), (framed(b'{"jsonrpc": "1.0"}'), -32600),
                (framed(b'{"jsonrpc": "2.0", "method": 7, "id": null}'), -32600)]:
            one.raw(data)
            found = one.answer(None)
            assert found["error"]["code"] == code, (data[:60], found)
            assert one.lives(), data[:60]
        one.raw(b"x" * 300_000 + b"\r\n")
        assert one.lives()


def test_wrong_parameters_get_an_error_reply() -> None:
    methods = ["textDocument/hover", "textDocument/definition", "textDocument/references", "textDocument/rename",
               "textDocument/documentHighlight", "textDocument/documentSymbol", "textDocument/foldingRange",
               "textDocument/completion", "textDocument/prepareRename", "textDocument/codeAction",
               "textDocument/formatting"]
    unopened = {"textDocument": {"uri": "file:///dev/zero"}, "position": {"line": 0, "character": 0}}
    whole = {**unopened, "context": {"includeDeclaration": True, "diagnostics": [], "triggerKind": 1}, "newName": "n",
             "options": {"tabSize": 1, "insertSpaces": True},
             "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}}
    with editor() as one:
        assert one.ask("textDocument/hover", AT)["error"]["code"] == -32002
        one.begin()
        for method in methods:
            for params in ({}, None, [], 7, "x", {"textDocument": None}, {"textDocument": {"uri": 7}, "position": -1}):
                assert one.ask(method, params)["error"]["code"] == -32602, (method, params)
            found = one.ask(method, whole)
            assert found["error"] == {"code": -32602, "message": "the document is not open"}, (method, found)
        for line, character in ((-5, -5), (2**31, 0), (0, 2**31), (10**30, 10**30)):
            at = {**whole, **AT, "position": {"line": line, "character": character}}
            for method in methods:
                assert not {"result", "error"}.isdisjoint(one.ask(method, at)), method
        far = {"start": {"line": 9**9, "character": 0}, "end": {"line": -1, "character": 3}}
        for told, params in [
                ("textDocument/didChange", {"textDocument": {"uri": "file:///x", "version": 1}, "contentChanges": []}),
                ("textDocument/didChange", {"textDocument": {"uri": URI, "version": 2},
                                            "contentChanges": [{"range": far, "text": ""}]}),
                ("textDocument/didClose", {"textDocument": {"uri": "file://[x"}}), ("$/cancelRequest", {"id": 77}),
                ("$/cancelRequest", None), ("textDocument/didOpen", {}), ("no/such", {}), ("$/setTrace", {"value": 7})]:
            one.say(told, params)
            assert not {"result", "error"}.isdisjoint(one.ask("textDocument/hover", AT)), told
        one.ask("shutdown", None)
        one.say("exit", None)
        _, err = one.process.communicate(timeout=PATIENCE)
        assert one.process.returncode == 0 and err == b""


def test_what_a_file_says_is_no_markdown() -> None:
    with editor() as one:
        one.begin()
        shown = one.ask("textDocument/hover", AT)["result"]["contents"]["value"]
        # Without code, which Markdown shows as it is, nothing of the file's own is left.
        text = re.sub(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)", "", shown, flags=re.S)
        assert "http" in shown and "<b>" in shown
        assert "http" not in text and "<" not in text and "\n#" not in text, text


def test_a_text_in_which_every_line_breaks() -> None:
    lines = "".join(f"  a{i} = f32[2] add(x, x)\n" for i in range(2000))
    text = f"HloModule m\nENTRY e {{\n  x = f32[2] parameter(0)\n{lines}  ROOT r = f32[2] negate(x)\n}}\n"
    with editor() as one:
        one.begin(text)
        for version in range(2, 60):
            change = {"range": {"start": {"line": 2, "character": 3}, "end": {"line": 2, "character": 3}}, "text": "x"}
            one.say("textDocument/didChange", {"textDocument": {"uri": URI, "version": version},
                                               "contentChanges": [change]})
        found = one.published()
        assert len(found) == 1001 and "3001 more findings are not shown" in found[-1]["message"], found[-1]
        # A burst of changes is looked at once, or twice where it came in pieces: nothing else is under way.
        one.say("textDocument/didClose", {"textDocument": {"uri": URI}})
        assert one.published() in ([], found)


def test_it_ends_with_its_reader() -> None:
    with editor() as one:
        one.begin()
        assert one.process.stdout is not None
        one.process.stdout.close()
        one.say("textDocument/hover", AT, 1)
        assert one.process.wait(PATIENCE) == 1
        assert one.process.stderr is not None and one.process.stderr.read() == b""


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
def test_signals_end_it(number: signal.Signals) -> None:
    with editor(restore_signals=True) as one:
        one.begin()
        children = pathlib.Path(f"/proc/{one.process.pid}/task/{one.process.pid}/children").read_text().split()
        one.process.send_signal(number)
        one.process.wait(PATIENCE)
        assert b"Traceback" not in one.process.communicate()[1] and not children


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
def test_it_ends_with_its_parent() -> None:
    """Though another process holds its input open."""
    read, write = os.pipe()
    code = "import subprocess, sys, time; p = subprocess.Popen([sys.executable, '-m', 'hlotool', 'lsp']); " \
           "print(p.pid, flush=True); time.sleep(3600)"
    body = b'{"jsonrpc": "2.0", "id": 1, "method": "no/such"}'
    os.write(write, b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    with subprocess.Popen([sys.executable, "-c", code], stdin=read, stdout=subprocess.PIPE) as parent:
        assert parent.stdout is not None
        server = int(parent.stdout.readline())
        assert parent.stdout.readline().startswith(b"Content-Length")
        assert pathlib.Path(f"/proc/{server}").exists()
        parent.kill()
    wait_until(lambda: not pathlib.Path(f"/proc/{server}").exists() or "\nState:\tZ" in pathlib.Path(
        f"/proc/{server}/status").read_text(), "the server outlives its parent")
    os.close(read)
    os.close(write)
