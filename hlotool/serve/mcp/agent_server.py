"""The tools: each is a command of hlotool with a report in JSON, run in a process of its own within its limits.

A program is a path below the server's folder, or a text. Nothing is written but temporary files of such texts.
"""

from __future__ import annotations

import asyncio
import functools
import json
import os
import signal
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from hlotool.process import die_with_parent
from hlotool.serve.mcp.bounded import bounded

#: seconds for one answer
LIMIT = 120.0
_INSTRUCTIONS = ("Tools for XLA's HLO and StableHLO. A program is a path below the folder that is served, or its text. "
                 "Answers are JSON of at most 20,000 characters; lists that were cut end with left_off.")


def make_server(folder: Path, version: str = "", seconds: float = LIMIT) -> Any:
    """Return a server of the official library; `folder` is where programs are read from, `seconds` end each answer."""
    return _server_of(Tools(folder.resolve(), seconds), version)


def _server_of(tools: Tools, version: str) -> Any:
    from mcp.server.mcpserver import MCPServer

    server = MCPServer("hlotool", instructions=_INSTRUCTIONS, version=version)
    for tool in (tools.read, tools.lint, tools.explain, tools.diff, tools.compare, tools.isolate, tools.cost):
        server.tool()(tool)
    return server


def serve(folder: Path, version: str = "", seconds: float = LIMIT) -> None:
    """Serve on standard input and output until they are closed, or a signal ends the process."""
    tools = Tools(folder.resolve(), seconds)

    def end(number: int, frame: Any) -> None:
        # The library waits for a thread that reads standard input, which nothing but its end can wake.
        tools.forget_texts()
        os._exit(128 + number)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, end)
    _server_of(tools, version).run("stdio")


class Tools:
    """The tools that agents may call."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        #: of questions that are not answered yet: where their texts lie
        self._texts: set[tempfile.TemporaryDirectory[str]] = set()

    def forget_texts(self) -> None:
        """Remove what was written for questions under way."""
        for made in list(self._texts):
            made.cleanup()

    async def read(self, program: str, first_line: int = 1, lines: int = 200) -> dict[str, Any]:
        """Return the text of a program (HLO, StableHLO, bytecode or a proto) in one format, `lines` lines of it."""
        done = await self._ask("fmt", [program], [])
        if "error" in done:
            return done
        text = done["text"].splitlines()
        start = max(1, first_line)
        return {"lines": len(text), "first_line": start,
                "text": "\n".join(text[start - 1:start - 1 + max(0, min(lines, 2000))])[:16_000]}

    async def lint(self, program: str, select: str = "") -> dict[str, Any]:
        """All that is wrong or dubious about a program: code, place, message, help. `select`: codes or categories."""
        return await self._ask("lint", [program], ["--format", "json", *([f"--select={select}"] if select else [])])

    async def explain(self, word: str) -> dict[str, Any]:
        """Explain an operation (dot), a diagnostic's code (W103) or a constraint, with an example."""
        return await self._ask("explain", [], ["--format", "json", "--", word])

    async def diff(self, before: str, after: str, values: bool = False) -> dict[str, Any]:
        """List the differences between two programs by structure, or by the values that they compute."""
        return await self._ask("diff", [before, after], ["--format", "json", *(["--values"] if values else [])])

    async def compare(self, program: str, other: str = "", seconds: float = 10.0) -> dict[str, Any]:
        """Compare the values of a program on PJRT with those on the reference, or with those of another program."""
        programs = [program, other] if other else [program]
        return await self._ask("compare", programs, ["--format", "json", "--time-budget", str(float(seconds))])

    async def isolate(self, program: str, other: str = "", nan: bool = False) -> dict[str, Any]:
        """Return the instruction that makes NaN (`nan`), or where two executors or two programs part."""
        programs = [program, other] if other else [program]
        return await self._ask("isolate", programs, ["--format", "json", *(["--nan"] if nan else [])])

    async def cost(self, program: str) -> dict[str, Any]:
        """Flops, traffic, peak memory and communication of a program, by instruction."""
        return await self._ask("cost", [program], ["--format", "json"])

    async def _ask(self, command: str, programs: Sequence[str], words: Sequence[str]) -> dict[str, Any]:
        made = tempfile.TemporaryDirectory()
        self._texts.add(made)
        try:
            files = [str(self._file(program, Path(made.name), n)) for n, program in enumerate(programs)]
            return await self._run([command, *words, *files] if command != "explain" else [command, *words])
        except (OSError, ValueError) as error:  # a path that leads out, or none that a system has; half a character
            return {"error": str(error)}
        finally:
            self._texts.discard(made)
            made.cleanup()

    def _file(self, program: str, made: Path, number: int) -> Path:
        """Return the file that holds a program. Raises PermissionError for a path that leads out of the folder."""
        if "\n" in program or "{" in program:
            path = made / f"program{number}.txt"
            path.write_text(program, "utf-8", "surrogateescape")
            return path
        path = (self.folder / program).resolve()
        if not path.is_relative_to(self.folder):
            raise PermissionError(f"{program} lies outside of {self.folder}, which is what this server reads")
        return path

    async def _run(self, words: Sequence[str]) -> dict[str, Any]:
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-P", "-m", "hlotool", *words, stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE, cwd=self.folder,
            env={**os.environ, "NO_COLOR": "1"}, start_new_session=True,
            preexec_fn=functools.partial(die_with_parent, os.getpid()))
        try:
            out, said = await asyncio.wait_for(process.communicate(), self.seconds)
        except (TimeoutError, asyncio.CancelledError) as error:
            process.terminate()
            await process.wait()
            if isinstance(error, asyncio.CancelledError):
                raise
            return {"error": f"no answer within {self.seconds:g} s"}
        return _answer(out.decode("utf-8", "replace"), said.decode("utf-8", "replace"), process.returncode or 0)


def _answer(out: str, said: str, code: int) -> dict[str, Any]:
    """Return the output of a command: its report, and its messages."""
    found: dict[str, Any] = {"exit_code": code}
    if said.strip() or code > 1:
        found["error" if code > 1 else "said"] = said.strip() or f"exit code {code}"
    try:
        found["report"] = json.loads(out)
    except ValueError:
        if code < 2:
            return found | {"text": out}
    small: dict[str, Any] = bounded(found)
    return small
