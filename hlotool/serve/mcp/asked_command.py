"""Runs a command of hlotool for an agent: its output is read as it comes, and no more of it is kept than is needed."""

from __future__ import annotations

import asyncio
import contextlib
import functools
import os
import signal
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from hlotool.process import die_with_parent, kept_environment, safe_environment

#: bytes of a report and of messages at most; an answer holds a small part of either
MOST_REPORT, MOST_MESSAGES = 1 << 26, 1 << 16
#: seconds that a command has to end after it was told to
_PATIENCE = 5.0


class TooMuch(Exception):
    """A command wrote more than is kept of it."""


class Output(Protocol):
    """Output of a command, as it comes."""

    def feed(self, data: bytes) -> None:
        """Take the next bytes. Raises TooMuch."""
        ...


@dataclass
class Whole:
    """An output of bounded size. A `cut` one is kept up to there; any other raises TooMuch."""

    most: int
    is_cut: bool = False
    data: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> None:
        if len(self.data) + len(data) > self.most and not self.is_cut:
            raise TooMuch(f"the report has more than {self.most:,} bytes; ask about a smaller program")
        self.data += data[:self.most - len(self.data)]

    def text(self) -> str:
        return self.data.decode("utf-8", "replace").strip()


@dataclass
class Lines:
    """Some lines of an output: `count` of them from number `first`, at most `most` bytes; the others are counted."""

    first: int
    count: int
    most: int
    #: line breaks until now, and bytes since the last
    _breaks: int = 0
    _since: int = 0
    _kept: bytearray = field(default_factory=bytearray)

    def feed(self, data: bytes) -> None:
        pieces = data.split(b"\n")
        for number, piece in enumerate(pieces):
            is_last = number == len(pieces) - 1
            if self.first <= self._breaks + 1 < self.first + self.count:
                self._kept += (piece if is_last else piece + b"\n")[:max(0, self.most - len(self._kept))]
            self._since = self._since + len(piece) if is_last else 0
            self._breaks += not is_last

    def kept(self) -> list[str]:
        """Return the lines, of which the last may be cut where they have `most` bytes together."""
        return self._kept.decode("utf-8", "replace").removesuffix("\n").split("\n") if self._kept else []

    @property
    def total(self) -> int:
        """The number of lines that were written."""
        return self._breaks + (self._since > 0)


async def run_command(words: Sequence[str], place: Path, seconds: float, out: Output, said: Output) -> int:
    """Run a command in a folder, hand on what it writes, and return its exit code.

    Raises TimeoutError after so many seconds, and TooMuch; the command has ended then.
    """
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-P", "-m", "hlotool", *words, stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=place,
        env={**kept_environment(), **safe_environment(), "NO_COLOR": "1"}, start_new_session=True,
        preexec_fn=functools.partial(die_with_parent, os.getpid()))
    assert process.stdout is not None and process.stderr is not None
    readers = [asyncio.ensure_future(_feed(*pair)) for pair in ((process.stdout, out), (process.stderr, said))]
    try:
        async with asyncio.timeout(seconds):
            await asyncio.gather(*readers)
            await process.wait()
    finally:
        for reader in readers:
            reader.cancel()
        if process.returncode is None:
            await _end(process)
    return process.returncode or 0


async def _feed(stream: asyncio.StreamReader, output: Output) -> None:
    while data := await stream.read(1 << 16):
        output.feed(data)


async def _end(process: asyncio.subprocess.Process) -> None:
    """End a command with all that it started, at once where it does not heed what it is told."""
    with contextlib.suppress(ProcessLookupError):
        process.terminate()
    try:
        await asyncio.wait_for(process.wait(), _PATIENCE)
    except TimeoutError:
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
