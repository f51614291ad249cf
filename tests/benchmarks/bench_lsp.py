"""How long the language server takes: from a keystroke to its findings, to a hover beside it, to an outline.

    python tests/benchmarks/bench_lsp.py dump.hlo ...        --keys 20

Speaks with `hlotool lsp` over standard input and output as an editor does. Keys are typed into the largest computation
and into one of middle size: a name is spoilt letter by letter and mended again, so that half of the texts have errors.
Times are milliseconds from the first byte that is written to the last byte that is read.
"""

from __future__ import annotations

import argparse
import json
import queue
import statistics
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

import hlotool

#: seconds to wait for any answer
PATIENCE = 120.0
#: seconds without a key before the whole text is looked at
REST = 3.0


class Editor:
    """A client of a server of its own, which notes when each message came."""

    def __init__(self, command: list[str]) -> None:
        self._process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._next = 0
        self._came: queue.Queue[tuple[float, dict[str, Any]]] = queue.Queue()
        self._kept: list[tuple[float, dict[str, Any]]] = []
        threading.Thread(target=self._listen, daemon=True).start()

    def _listen(self) -> None:
        out = self._process.stdout
        assert out is not None
        while header := out.readline():
            length = int(header.split(b":")[1])
            while out.readline().strip():
                pass
            body = out.read(length)
            came = time.perf_counter()
            self._came.put((came, json.loads(body)))

    def tell(self, method: str, params: Any) -> float:
        """Send a notification; gives the time before it was sent."""
        return self._send({"jsonrpc": "2.0", "method": method, "params": params})

    def ask(self, method: str, params: Any) -> tuple[float, Any]:
        """Milliseconds until an answer, and its result."""
        begun, number = self.begin(method, params)
        return self.end(begun, number)

    def begin(self, method: str, params: Any) -> tuple[float, int]:
        self._next += 1
        return self._send({"jsonrpc": "2.0", "id": self._next, "method": method, "params": params}), self._next

    def end(self, begun: float, number: int) -> tuple[float, Any]:
        came, answer = self._wait(lambda m: m.get("id") == number)
        if "error" in answer:
            raise SystemExit(f"the server answered {answer['error']}")
        return 1e3 * (came - begun), answer["result"]

    def published(self, begun: float, version: int) -> tuple[float, list[Any]]:
        """Milliseconds until the findings of a version came, and those."""
        came, found = self._wait(lambda m: m.get("method") == "textDocument/publishDiagnostics"
                                 and m["params"].get("version") == version)
        return 1e3 * (came - begun), found["params"]["diagnostics"]

    def _wait(self, is_it: Any) -> tuple[float, dict[str, Any]]:
        for n, (_, message) in enumerate(self._kept):
            if is_it(message):
                return self._kept.pop(n)
        while True:
            found = self._came.get(timeout=PATIENCE)
            if is_it(found[1]):
                return found
            self._kept.append(found)

    def _send(self, message: dict[str, Any]) -> float:
        body = json.dumps(message).encode()
        stream = self._process.stdin
        assert stream is not None
        begun = time.perf_counter()
        stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
        stream.flush()
        return begun

    def close(self) -> None:
        self.ask("shutdown", None)
        self.tell("exit", None)
        self._process.wait(10)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--keys", type=int, default=20, help="keystrokes in each place (default %(default)s)")
    args = parser.parse_args()
    print(f"{'milliseconds':<28}{'key: median, worst':>22}{'hover beside':>16}{'outline':>9}{'others':>22}")
    for file in args.files:
        for row in measured(file, args.keys):
            print(row, flush=True)


def measured(file: Path, keys: int) -> list[str]:
    """A row for each place in a file where keys are typed."""
    text = file.read_text("utf-8")
    module = hlotool.parse(text)
    sizes = sorted((c for c in module.computations), key=lambda c: len(c.instructions))
    editor = Editor([sys.executable, "-m", "hlotool", "lsp"])
    editor.ask("initialize", {"processId": None, "rootUri": None, "capabilities": {}})
    editor.tell("initialized", {})
    uri = file.absolute().as_uri()
    opened = editor.tell("textDocument/didOpen", {"textDocument": {
        "uri": uri, "languageId": "hlo", "version": 0, "text": text}})
    first, _ = editor.published(opened, 0)
    rows, version = [f"{file.name[-46:]}: {len(text) / 1e6:.1f} MB, opened after {first:.0f}"], 0
    for computation in dict.fromkeys((sizes[len(sizes) // 2], sizes[-1])):
        instruction = computation.instructions[len(computation.instructions) // 2]
        line = module.position(instruction).line - 1
        column = text.split("\n")[line].index(instruction.opcode + "(") + 1
        document = {"uri": uri}
        outline, found = editor.ask("textDocument/documentSymbol", {"textDocument": document})
        assert sum(1 + len(c["children"]) for c in found) > len(module.computations)
        tokens, _ = editor.ask("textDocument/semanticTokens/range", {"textDocument": document, "range": {
            "start": {"line": max(0, line - 30), "character": 0}, "end": {"line": line + 30, "character": 0}}})
        behind = {"line": line, "character": column + len(instruction.opcode)}
        complete, _ = editor.ask("textDocument/completion", {"textDocument": document, "position": behind})
        times, hovers = [], []
        for key in range(keys):
            version += 1
            is_typed = key % 4 < 2
            at = {"line": line, "character": column + (key % 2 if is_typed else 1 - key % 2)}
            end = at if is_typed else {**at, "character": at["character"] + 1}
            begun = editor.tell("textDocument/didChange", {
                "textDocument": {"uri": uri, "version": version},
                "contentChanges": [{"range": {"start": at, "end": end}, "text": "q" if is_typed else ""}]})
            asked = editor.begin("textDocument/hover", {"textDocument": document, "position": {
                "line": line, "character": text.split("\n")[line].index(instruction.name) + 1}})
            hovers.append(editor.end(*asked)[0])
            times.append(editor.published(begun, version)[0])
            time.sleep(0.05)
        settled, _ = editor.published(begun, version)
        rows.append(f"{f'  {len(computation.instructions)} instructions':<28}"
                    f"{statistics.median(times):>13.0f}, {max(times):>7.0f}"
                    f"{statistics.median(hovers):>8.0f}, {max(hovers):>6.0f}{outline:>9.0f}"
                    f"  tokens {tokens:.0f}, completion {complete:.0f}, settled {settled:.0f}")
        time.sleep(REST)
    editor.close()
    return rows


if __name__ == "__main__":
    main()
