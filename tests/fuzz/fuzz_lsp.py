"""Messages to the language server: each request has its reply, and the server goes on.

An input is a message a line, each put into a frame of the right length; what breaks frames is tried in
tests/serve/test_lsp_hostile.py. The server runs in this process, without its pipes.
"""

from __future__ import annotations

import asyncio
import collections
import json
import logging
import random
import re
import time
from typing import Any

from fuzzing import hlo_texts
from mutations import OF_MESSAGES, mutant

from hlotool.serve.lsp import server as room
from hlotool.serve.lsp.transport import serve

_URI = "file:///dumps/m.hlo"
#: asked last: a server that goes on knows that there is no such method
_LAST = {"jsonrpc": "2.0", "id": "the last", "method": "nothing/such"}
#: seconds in which replies come
_PATIENCE = 20.0
_MOST = 60


def _session(text: str) -> bytes:
    """What an editor says about one text, a message a line."""
    document, at = {"uri": _URI}, {"line": 3, "character": 8}
    where: dict[str, Any] = {"textDocument": document, "position": at}
    span = {"start": {"line": 0, "character": 0}, "end": {"line": 99, "character": 0}}
    told: list[tuple[str, Any]] = [
        ("initialize", {"processId": None, "rootUri": None, "capabilities": {}}), ("initialized", {}),
        ("textDocument/didOpen", {"textDocument": {**document, "languageId": "hlo", "version": 1, "text": text}}),
        ("textDocument/hover", where), ("textDocument/definition", where),
        ("textDocument/references", {**where, "context": {"includeDeclaration": True}}),
        ("textDocument/documentHighlight", where), ("textDocument/documentSymbol", {"textDocument": document}),
        ("textDocument/didChange", {"textDocument": {**document, "version": 2}, "contentChanges": [
            {"range": {"start": at, "end": {"line": 3, "character": 12}}, "text": "f32["}]}),
        ("textDocument/foldingRange", {"textDocument": document}), ("textDocument/completion", where),
        ("textDocument/prepareRename", where), ("textDocument/rename", {**where, "newName": "other"}),
        ("textDocument/codeAction", {"textDocument": document, "range": span, "context": {"diagnostics": []}}),
        ("textDocument/formatting", {"textDocument": document, "options": {"tabSize": 2, "insertSpaces": True}}),
        ("$/cancelRequest", {"id": 7}), ("textDocument/didClose", {"textDocument": document}), ("shutdown", None)]
    rows = [{"jsonrpc": "2.0", "method": method, "params": params} for method, params in told]
    for number, row in enumerate(rows):
        if not re.search(r"/did|initialized|cancel", str(row["method"])):
            row["id"] = number
    return "\n".join(map(json.dumps, rows)).encode()


class _Replies:
    """What the server writes, by the request that it answers."""

    def __init__(self) -> None:
        self.of: collections.Counter[Any] = collections.Counter()
        self.refusals = 0

    def write(self, data: bytes) -> None:
        said = json.loads(data.partition(b"\r\n\r\n")[2])
        if "method" not in said:
            self.of[said.get("id")] += 1
            self.refusals += "error" in said

    def close(self) -> None:
        """Nothing is open."""


#: methods that the protocol has for news only
_NOTIFICATIONS = frozenset(("initialized", "exit", "$/cancelRequest", "$/setTrace", "textDocument/didOpen",
                            "textDocument/didChange", "textDocument/didClose", "textDocument/didSave",
                            "workspace/didChangeConfiguration", "workspace/didChangeWatchedFiles"))


def _asked(body: bytes) -> Any:
    """The number of the request in a body; None where it is none."""
    try:
        said = json.loads(body.decode())
    except (ValueError, RecursionError):
        return None
    if not isinstance(said, dict) or said.get("jsonrpc") != "2.0" or not isinstance(said.get("method"), str):
        return None
    if said["method"] in _NOTIFICATIONS:
        return None  # whatever number it bears, nobody answers it
    number = said.get("id")
    return number if isinstance(number, (int, str)) and not isinstance(number, bool) else None


class Messages:
    """Sessions of an editor."""

    name = "lsp"

    def corpus(self) -> list[bytes]:
        return [_session(text.decode(errors="replace")) for text in hlo_texts()[::5]]

    def mutate(self, rng: random.Random, corpus: list[bytes]) -> bytes:
        return mutant(rng, corpus, OF_MESSAGES)

    def check(self, data: bytes) -> str:
        logging.disable(logging.CRITICAL)
        room._PAUSE = 0.0
        bodies = [*data.split(b"\n")[:_MOST], json.dumps(_LAST).encode()]
        replies = _Replies()
        try:
            asyncio.run(_talk(bodies, replies))
        except SystemExit:
            return "ended"
        finally:
            logging.disable(logging.NOTSET)
        wanted = collections.Counter(n for n in map(_asked, bodies) if n is not None)
        missing = {n: count - replies.of[n] for n, count in wanted.items() if replies.of[n] < count}
        assert not missing, f"no reply to {missing}"
        return f"answered, {min(replies.refusals, 5)} by a refusal" if len(wanted) > 1 else "passed over"


async def _talk(bodies: list[bytes], replies: _Replies) -> None:
    server = room.make_server()
    server.protocol.set_writer(replies)  # type: ignore[arg-type]  # what writes and closes is enough
    reader = asyncio.StreamReader(limit=1 << 16)
    for body in bodies:
        reader.feed_data(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
    reader.feed_eof()
    await serve(server, reader)
    wanted = collections.Counter(n for n in map(_asked, bodies) if n is not None)
    until = time.monotonic() + _PATIENCE
    while wanted - replies.of and time.monotonic() < until:
        await asyncio.sleep(0.001)
