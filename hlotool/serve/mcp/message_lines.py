"""Messages of an agent, a line each: the library gets those that it understands, every other one is answered here.

The library passes over what it cannot read, so that an agent would wait for the answer for ever.
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

#: bytes of a message at most
LARGEST = 1 << 28
_PARSE_ERROR, _INVALID_REQUEST = -32700, -32600


class Replies:
    """Where the library writes; one line at a time, whoever writes it."""

    def __init__(self, write: Callable[[bytes], Awaitable[None]]) -> None:
        self._write, self._turn = write, asyncio.Lock()

    async def write(self, text: str) -> None:
        """Write a line."""
        async with self._turn:
            await self._write(text.encode())

    async def flush(self) -> None:
        """Do nothing: what is written is sent."""

    async def refuse(self, code: int, why: str, asked: Any) -> None:
        """Answer a message that the library does not get."""
        await self.write(json.dumps({"jsonrpc": "2.0", "id": asked, "error": {"code": code, "message": why}}) + "\n")


class Messages:
    """The lines that the library reads. `read` gives the next line, or so many bytes of it; nothing at the end."""

    def __init__(self, read: Callable[[int], Awaitable[bytes]], replies: Replies) -> None:
        self._read, self._replies = read, replies

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self._read(LARGEST + 1):
            if len(line) > LARGEST:
                while not line.endswith(b"\n") and (more := await self._read(LARGEST)):
                    line = more
                await self._replies.refuse(_INVALID_REQUEST, f"the message has more than {LARGEST:,} bytes", None)
            elif (problem := _problem(line)) is not None:
                await self._replies.refuse(*problem)
            elif line.strip():
                yield line.decode()


def _problem(line: bytes) -> tuple[int, str, Any] | None:
    """Return the code, the reason and the request's number of a line that is no message; None for one that is."""
    from mcp_types import jsonrpc_message_adapter

    try:
        text = line.decode()
    except UnicodeDecodeError:
        return _PARSE_ERROR, "the message is no UTF-8", None
    try:
        if text.strip():
            jsonrpc_message_adapter.validate_json(text, by_name=False)
    except ValueError as error:
        said = _read(text)
        asked = said.get("id") if isinstance(said, dict) else None
        is_number = isinstance(asked, (int, str)) and not isinstance(asked, bool)
        code = _PARSE_ERROR if said is None else _INVALID_REQUEST
        return code, f"the message is none of JSON-RPC 2.0: {_first_of(error)}", asked if is_number else None
    return None


def _read(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


def _first_of(error: ValueError) -> str:
    """Return the first problem of the library's list."""
    problems: Any = getattr(error, "errors", None)
    return str(error) if problems is None else str(problems(include_url=False, include_input=False)[0]["msg"])
