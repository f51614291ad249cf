"""Messages in and out: whatever an editor sends gets an answer, and the server ends with its editor.

A message is a header with its length and a JSON object. One that cannot be read is answered with the protocol's error
and passed over: reading goes on at the next header.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import re
import sys
import threading
import time
from collections.abc import AsyncIterator, Callable
from typing import Any, BinaryIO

from lsprotocol import types as lsp
from pygls.lsp.server import LanguageServer

#: bytes of a message, and of a header's line
LARGEST, _LONGEST_LINE = 1 << 28, 1 << 16
#: seconds between two looks at whether the editor still runs
_LOOK = 1.0
# After a message that was not understood the next header follows whatever is left of it, on the same line.
_LENGTH = re.compile(rb"content-length:[ \t]*([0-9]{1,9})[ \t]*\r?\n\Z", re.IGNORECASE)
#: the first line of a request by HTTP: a page in a browser can send one to a port of this machine, with a message in it
_OF_BROWSER = re.compile(rb" HTTP/[0-9.]+\r?\n\Z")
_LENGTH_KEY = re.compile(rb"content-length:", re.IGNORECASE)


class Unreadable(Exception):
    """Bytes that are no message, with the protocol's code for why."""

    def __init__(self, code: int, why: str, asked: Any = None) -> None:
        super().__init__(why)
        self.code, self.why = code, why
        #: the number of the request, where that much could be read
        self.asked = asked if isinstance(asked, (int, str)) and not isinstance(asked, bool) else None

    def reply(self) -> dict[str, Any]:
        return {"jsonrpc": "2.0", "id": self.asked, "error": {"code": int(self.code), "message": self.why}}


async def bodies(reader: asyncio.StreamReader) -> AsyncIterator[bytes | Unreadable]:
    """Yield the bodies of messages until the input ends; between them what is none, once for each run of it.

    A request by HTTP is the end, too: no editor sends one.
    """
    length: int | None = None
    is_lost = False
    while (line := await _line(reader)) and not _OF_BROWSER.search(line):
        if (found := _LENGTH.search(line)) is not None and (is_lost or found.start() == 0):
            length, is_lost = int(found[1]), False
        elif not is_lost and _LENGTH_KEY.match(line):
            is_lost = True
            yield Unreadable(lsp.ErrorCodes.ParseError, "Content-Length is no number of bytes")
        elif not line.strip() and length is not None:
            if length > LARGEST:
                yield Unreadable(lsp.ErrorCodes.InvalidRequest, f"{length} bytes are too long for a message")
                is_lost = True
            else:
                try:
                    yield await reader.readexactly(length)
                except asyncio.IncompleteReadError:
                    return
            length = None
        elif not line.strip() and not is_lost:
            is_lost = True
            yield Unreadable(lsp.ErrorCodes.ParseError, "a message's header has no Content-Length")


async def _line(reader: asyncio.StreamReader) -> bytes:
    """Return a header's line; a piece of one that is too long. Empty at the end of the input."""
    try:
        return await reader.readuntil(b"\n")
    except asyncio.IncompleteReadError as error:
        return error.partial
    except asyncio.LimitOverrunError as error:
        return await reader.readexactly(max(1, error.consumed))


def message_of(server: LanguageServer, body: bytes) -> Any:
    """Return the protocol's message in a body. Raises Unreadable."""
    try:
        given = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise Unreadable(lsp.ErrorCodes.ParseError, "the message is no UTF-8") from None
    except (ValueError, RecursionError) as error:
        raise Unreadable(lsp.ErrorCodes.ParseError, f"the message is no JSON: {error}") from None
    if not isinstance(given, dict) or given.get("jsonrpc") != "2.0":
        raise Unreadable(lsp.ErrorCodes.InvalidRequest, "the message is no object of JSON-RPC 2.0",
                         given.get("id") if isinstance(given, dict) else None)
    asked, method = given.get("id"), given.get("method")
    if "method" in given and not isinstance(method, str):
        raise Unreadable(lsp.ErrorCodes.InvalidRequest, "the method is no name", asked)
    # pygls says nothing to requests behind `shutdown`, and keeps only here that it was told; the protocol wants this.
    if method is not None and asked is not None and server.protocol._shutdown:
        raise Unreadable(lsp.ErrorCodes.InvalidRequest, f"{method} is asked behind shutdown", asked)
    try:
        return server.protocol.structure_message(given)
    except Exception:  # whatever a converter raises about values of any kind
        what = f"the parameters of {method} are not what the protocol says" if method else "the reply is malformed"
        raise Unreadable(lsp.ErrorCodes.InvalidParams, what, asked) from None


async def serve(server: LanguageServer, reader: asyncio.StreamReader) -> None:
    """Handle messages until the input ends or the client says exit."""
    async for body in bodies(reader):
        try:
            if isinstance(body, Unreadable):
                raise body
            _handle(server, message_of(server, body))
        except Unreadable as problem:
            # What is no request asks for no answer, except where nobody can tell whether it was one.
            if problem.asked is not None or problem.code != lsp.ErrorCodes.InvalidParams:
                server.protocol._send_data(problem.reply())
        except OSError:
            return
        # Tasks that a message began get their turn before the next message.
        await asyncio.sleep(0)


def _handle(server: LanguageServer, message: Any) -> None:
    """Let the library handle a message. Raises Unreadable for values with which it fails, OSError for a lost editor."""
    try:
        server.protocol.handle_message(message)
    except OSError:
        raise
    except Exception:  # the number of a request that is cancelled may be a list
        raise Unreadable(lsp.ErrorCodes.InvalidParams, "the values that were sent are not what the protocol says",
                         getattr(message, "id", None)) from None


async def in_background(work: Callable[..., Any], *given: Any) -> Any:
    """Return the result of `work`, done in a thread that does not keep the process from ending."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[Any] = loop.create_future()

    def settle(set_it: Callable[[Any], None], value: Any) -> None:
        if not done.done():
            set_it(value)

    def run() -> None:
        try:
            outcome = (done.set_result, work(*given))
        except Exception as error:
            outcome = (done.set_exception, error)
        with contextlib.suppress(RuntimeError):  # the loop has ended meanwhile
            loop.call_soon_threadsafe(settle, *outcome)

    threading.Thread(target=run, daemon=True).start()
    return await done


class _Output:
    """Standard output for the protocol. An editor that went away ends the server: nobody is left to tell."""

    def __init__(self, stream: BinaryIO) -> None:
        self.stream = stream

    def write(self, data: bytes) -> None:
        try:
            self.stream.write(data)
            self.stream.flush()
        except (OSError, ValueError):
            os._exit(1)

    def close(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self.stream.flush()


def serve_streams(server: LanguageServer, given: BinaryIO, out: BinaryIO) -> int:
    """Serve an editor on standard input and output; gives the exit code."""

    async def whole() -> int:
        reader = asyncio.StreamReader(limit=_LONGEST_LINE)
        loop = asyncio.get_running_loop()

        def read() -> None:
            with contextlib.suppress(OSError, ValueError, RuntimeError):
                while data := os.read(given.fileno(), 1 << 16):
                    loop.call_soon_threadsafe(reader.feed_data, data)
                loop.call_soon_threadsafe(reader.feed_eof)

        server.protocol.set_writer(_Output(out))
        threading.Thread(target=read, daemon=True).start()
        threading.Thread(target=_end_with_editor, args=(server,), daemon=True).start()
        await serve(server, reader)
        return 1  # the client said no exit

    return _until_exit(whole)


def serve_port(make: Callable[[], LanguageServer], host: str, port: int) -> int:
    """Serve editors on a port, each by a server of its own, until an interrupt."""

    async def connected(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        server = make()
        server.protocol.set_writer(writer)
        with contextlib.suppress(SystemExit, OSError):
            await serve(server, reader)
        writer.close()

    async def whole() -> int:
        listening = await asyncio.start_server(connected, host, port, limit=_LONGEST_LINE)
        where = ", ".join("{}:{}".format(*s.getsockname()[:2]) for s in listening.sockets)
        print(f"hlotool lsp: listening on {where}", file=sys.stderr, flush=True)
        async with listening:
            await listening.serve_forever()
        return 0

    return _until_exit(whole)


def _until_exit(whole: Callable[[], Any]) -> int:
    try:
        return int(asyncio.run(whole()))
    except SystemExit as stop:  # the notification `exit`
        return stop.code if isinstance(stop.code, int) else 0


def _end_with_editor(server: LanguageServer) -> None:
    """End the process when its parent, or the editor that `initialize` named, is gone, though the pipe be open."""
    parent = os.getppid()
    while os.getppid() == parent and _runs(server.process_id):
        time.sleep(_LOOK)
    os._exit(1)


def _runs(process: int | None) -> bool:
    if not isinstance(process, int) or process <= 0 or os.name != "posix":
        return True
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True
