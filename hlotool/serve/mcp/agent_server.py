"""The tools: each is a command of hlotool with a report in JSON, run in a process of its own within its limits.

A program is the path of a file below the server's folder, or a text. Files are opened below the folder without
following a link, and what was opened is copied into a temporary folder, where the command runs: it sees nothing else.
"""

from __future__ import annotations

import asyncio
import functools
import itertools
import json
import os
import re
import signal
import tempfile
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path, PurePath
from typing import Annotated, Any, BinaryIO, Literal, NoReturn, TypeVar

from hlotool.process import files_beneath, open_beneath
from hlotool.serve.mcp.asked_command import (
    MOST_MESSAGES,
    MOST_REPORT,
    Lines,
    Output,
    TooMuch,
    Whole,
    run_command,
)
from hlotool.serve.mcp.bounded import MOST, bounded
from hlotool.serve.mcp.message_lines import Messages, Replies

#: seconds for one answer
LIMIT = 120.0
#: questions that are answered at once
MOST_AT_ONCE = 4
#: bytes of a program, or of the files of a folder, at most, and files of a folder
MOST_BYTES, MOST_FILES = 1 << 30, 10_000
#: seconds between two notes of progress
TICK = 2.0
#: a word of a command in whose place the programs' files are put
_FILES = "\0files"
_INSTRUCTIONS = ("Tools for XLA's HLO and StableHLO. A program is the path of a file below the folder that is served, "
                 f"or its text. Answers are JSON of at most {MOST:,} characters; lists that are cut end with left_off.")
#: characters that commands take as patterns
_PATTERNS = re.compile(r"[*?\[\]]")

_PROGRAM = "The path of a file below the folder that is served (no pattern, no link), or the program's text."
Program = Annotated[str, _PROGRAM]
Kind = Annotated[Literal["random", "positive", "special"], "The arguments to make."]


_Answer = TypeVar("_Answer")


class AnswerFailed(Exception):
    """A question that cannot be answered; agents get the sentence as the error of their call."""


def make_server(folder: Path, version: str = "", seconds: float = LIMIT) -> Any:
    """Return a server of the official library.

    Programs are read below `folder`; an answer that takes more than `seconds` is an error.
    """
    return _server_of(Tools(folder.resolve(), seconds), version)


def _server_of(tools: Tools, version: str) -> Any:
    from mcp.server.mcpserver import MCPServer
    from mcp_types import ToolAnnotations

    server = MCPServer("hlotool", instructions=_INSTRUCTIONS, version=version)
    hints = ToolAnnotations(read_only_hint=True, destructive_hint=False, idempotent_hint=True, open_world_hint=False)
    for tool in (tools.list_files, tools.read, tools.lint, tools.explain, tools.find, tools.diff, tools.convert,
                 tools.run, tools.compare, tools.isolate, tools.bisect, tools.reduce, tools.cost, tools.picture):
        server.tool(annotations=hints)(_as_tool(tool, tools.seconds))
    for made in server._tool_manager.list_tools():
        _refuse_unknown_arguments(made)
    return server


def _as_tool(ask: Callable[..., Any], limit: float) -> Callable[..., Any]:
    """Return the function as the library takes it: described parameters, and failures as errors of the protocol.

    An agent that asks for notes of progress gets the seconds that have gone by, of `limit`.
    """
    import inspect
    import typing

    from mcp.server.mcpserver import Context
    from mcp.server.mcpserver.exceptions import ToolError
    from pydantic import Field

    @functools.wraps(ask)
    async def tool(context: Any, **given: Any) -> dict[str, Any]:
        ticking = asyncio.ensure_future(_note_progress(context, limit))
        try:
            answer: dict[str, Any] = bounded(await ask(**given))
        except AnswerFailed as error:
            raise ToolError(bounded(str(error))) from None
        finally:
            ticking.cancel()
        return answer

    hints = typing.get_type_hints(ask, include_extras=True)

    def described(parameter: inspect.Parameter) -> inspect.Parameter:
        kind, text = typing.get_args(hints[parameter.name])
        return parameter.replace(annotation=Annotated[kind, Field(description=text)])

    signature = inspect.signature(ask)
    parameters = [inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=Context)]
    parameters[:0] = [described(p) for p in signature.parameters.values()]
    tool.__signature__ = signature.replace(  # type: ignore[attr-defined]
        parameters=parameters, return_annotation=dict[str, Any])
    tool.__annotations__ = {p.name: p.annotation for p in parameters} | {"return": dict[str, Any]}
    return tool


async def _note_progress(context: Any, limit: float) -> None:
    """Tell an agent that asked for it how many seconds its question has taken, until this is cancelled."""
    begin = asyncio.get_running_loop().time()
    while True:
        gone = asyncio.get_running_loop().time() - begin
        await context.report_progress(round(gone, 1), None, f"{gone:.0f} s; an answer may take {limit:g} s")
        await asyncio.sleep(TICK)


def _refuse_unknown_arguments(tool: Any) -> None:
    """Let the library refuse arguments that the tool does not have; it drops them otherwise."""
    model = tool.fn_metadata.arg_model
    model.model_config["extra"] = "forbid"
    model.model_rebuild(force=True)
    tool.parameters = model.model_json_schema(by_alias=True)


def serve(folder: Path, version: str = "", seconds: float = LIMIT) -> None:
    """Serve on standard input and output until they are closed, or a signal ends the process."""
    tools = Tools(folder.resolve(), seconds)

    def end(code: int) -> NoReturn:
        # The library waits for a thread that reads standard input, which nothing but its end can wake.
        tools.forget_programs()
        os._exit(code)

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda number, frame: end(128 + number))
    given, out = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever is printed by mistake is no message

    async def write(data: bytes) -> None:
        try:
            await asyncio.to_thread(_send, out, data)
        except OSError:  # the agent has gone
            end(1)

    async def talk() -> None:
        replies = Replies(write)
        await talk_in_lines(_server_of(tools, version), Messages(functools.partial(asyncio.to_thread, given.readline),
                                                                 replies), replies)

    asyncio.run(talk())


def _send(out: BinaryIO, data: bytes) -> None:
    out.write(data)
    out.flush()


async def talk_in_lines(server: Any, messages: Messages, replies: Replies) -> None:
    """Let a server answer messages until they end."""
    from mcp.server.stdio import stdio_server

    lowlevel = server._lowlevel_server
    async with stdio_server(messages, replies) as streams:  # type: ignore[arg-type]  # it iterates, writes and flushes
        await lowlevel.run(*streams, lowlevel.create_initialization_options())


class Tools:
    """The tools that agents may call. Each raises AnswerFailed for what cannot be answered."""

    def __init__(self, folder: Path, seconds: float) -> None:
        self.folder, self.seconds = folder, seconds
        #: questions that are answered at once; others wait, and their time does not run yet
        self._turns = asyncio.Semaphore(MOST_AT_ONCE)
        #: of questions that are not answered yet: where their programs lie
        self._copies: set[tempfile.TemporaryDirectory[str]] = set()

    def forget_programs(self) -> None:
        """Remove what was copied for questions under way."""
        for made in list(self._copies):
            made.cleanup()

    async def list_files(self, folder: Annotated[str, "A folder below the one that is served; empty: that one."] = ""
                         ) -> dict[str, Any]:
        """List the files below a folder, with their sizes in bytes. Links are passed over."""
        return await self._within(lambda: asyncio.to_thread(self._listed, folder))

    def _listed(self, folder: str) -> dict[str, Any]:
        found = list(itertools.islice(files_beneath(self.folder, folder), MOST_FILES + 1))
        rows = [{"path": str(path), "bytes": size} for path, size in found[:MOST_FILES]]
        more = {"more": f"only the first {MOST_FILES:,} are listed"} if len(found) > len(rows) else {}
        return {"files": rows} | more

    async def read(self, program: Program, first_line: Annotated[int, "The first line to give, from 1."] = 1,
                   lines: Annotated[int, "The number of lines to give, at most 2000."] = 200) -> dict[str, Any]:
        """Give the text of a program (HLO, StableHLO, bytecode or a proto) in one format, `lines` lines of it."""
        start = max(1, first_line)
        out = Lines(start, max(0, min(lines, 2000)), MOST)
        code, said = await self._ask([program], out, ["fmt", _FILES])
        if code not in (0, 1):
            raise AnswerFailed(said or f"exit code {code}")
        wanted = out.kept()
        # Escaped as JSON, a line takes more characters than it has.
        while len(json.dumps("\n".join(wanted))) > MOST - 500:
            wanted = wanted[:-1] if len(wanted) > 1 else [f"{wanted[0][:MOST // 8]} ... (the line is longer)"]
        return {"lines": out.total, "first_line": start, "last_line": start - 1 + len(wanted),
                "text": "\n".join(wanted)}

    async def lint(self, program: Program,
                   select: Annotated[str, "Codes or categories to look for, with commas; empty: the usual ones."] = ""
                   ) -> dict[str, Any]:
        """List all that is wrong or dubious about a program: code, place, message, help."""
        return await self._asked("lint", [program], ["--no-config", *([f"--select={select}"] if select else [])])

    async def explain(self, word: Annotated[str, "An opcode, a diagnostic's code or a constraint's label."]
                      ) -> dict[str, Any]:
        """Explain an operation (dot), a diagnostic's code (W103) or a constraint, with an example."""
        return await self._asked("explain", [], ["--", word])

    async def find(self, program: Program,
                   query: Annotated[str, "For example: dot where bytes >= 4kB and in attention; or: all-gather where "
                                         "feeds dot. Fields: bytes, elements, rank, operands, users, line, name, "
                                         "opcode, dtype, shape, scope, computation, dim[0]."],
                   limit: Annotated[int, "Instructions at most, the largest first."] = 20) -> dict[str, Any]:
        """Find instructions of a program by opcode, size, shape, name, scope and what they feed."""
        out = Whole(MOST_REPORT)
        code, said = await self._ask([program], out, ["corpus", "index", "--quiet", "-j", "1", "-o", "index", _FILES],
                                     ["find", "--format", "json", f"--limit={limit}", "--", query, "index"])
        return _report(out.text(), said, code)

    async def convert(self, program: Program,
                      to: Annotated[Literal["stablehlo", "hlo"], "The form to write."] = "stablehlo") -> dict[str, Any]:
        """Convert a program to StableHLO or to HLO; the report has its text and what was lost on the way."""
        return await self._asked("convert", [program], [f"--to={to}"])

    async def run(self, program: Program, inputs: Kind = "random",
                  seed: Annotated[int, "The seed of the arguments."] = 0,
                  executor: Annotated[Literal["pjrt:cpu", "reference", "stablehlo"], "What runs it."] = "pjrt:cpu"
                  ) -> dict[str, Any]:
        """Run a program on made arguments; the report has the results."""
        return await self._asked("run", [program], [f"--inputs={inputs}", f"--seed={seed}", f"--executors={executor}"])

    async def diff(self, before: Program, after: Program,
                   values: Annotated[bool, "Compare the values that instructions compute, too."] = False
                   ) -> dict[str, Any]:
        """List the differences between two programs by structure, or by the values that they compute."""
        return await self._asked("diff", [before, after], ["--values"] if values else [])

    async def compare(self, program: Program,
                      other: Annotated[str, f"A second program; empty: the reference. {_PROGRAM}"] = "",
                      seconds: Annotated[float, "Seconds to look for arguments that show a difference."] = 10.0
                      ) -> dict[str, Any]:
        """Compare the values of a program on PJRT with those on the reference, or with those of another program."""
        programs = [program, other] if other else [program]
        return await self._asked("compare", programs, ["--time-budget", str(float(seconds))])

    async def isolate(self, program: Program,
                      other: Annotated[str, f"A second program; empty: the reference. {_PROGRAM}"] = "",
                      nan: Annotated[bool, "Find the instruction that makes NaN or an infinity instead."] = False
                      ) -> dict[str, Any]:
        """Find the instruction that makes NaN (`nan`), or where two executors or two programs part."""
        programs = [program, other] if other else [program]
        return await self._asked("isolate", programs, ["--nan"] if nan else [])

    async def bisect(self, folder: Annotated[str, "A folder of a compiler's dumps, below the one that is served."],
                     module: Annotated[str, "Only modules of that name (jit_step, jit_*); empty: all."] = ""
                     ) -> dict[str, Any]:
        """Name the pass of a compiler that changes what a module computes, in a folder of its dumps."""
        return await self._asked("bisect", [], [*([f"--module={module}"] if module else []), "./dumps"], folder)

    async def reduce(self, program: Program,
                     other: Annotated[str, f"A second program; empty: the reference. {_PROGRAM}"] = "",
                     code: Annotated[str, "Keep this diagnostic's code (W105, X101) instead of a wrong value."] = "",
                     seconds: Annotated[float, "Seconds to make it small."] = 60.0) -> dict[str, Any]:
        """Make a program that computes something wrong, or shows a diagnostic, as small as it can be."""
        words = [f"--time-limit={float(seconds)}", *([f"--code={code}"] if code else [])]
        return await self._asked("reduce", [program, other] if other else [program], words)

    async def picture(self, program: Program, instruction: Annotated[str, "The name of the instruction in the middle."],
                      hops: Annotated[int, "Steps to operands and users."] = 2,
                      to: Annotated[str, "Show the ways to this instruction instead; empty: what is near."] = "",
                      form: Annotated[Literal["svg", "dot"], "An image, or text for Graphviz."] = "svg"
                      ) -> dict[str, Any]:
        """Draw what is near an instruction, or the ways from it to another one."""
        out = Whole(MOST_REPORT)
        wanted = [f"--around={instruction}", f"--to={to}" if to else f"--hops={hops}", f"--format={form}"]
        code, said = await self._ask([program], out, ["view", *wanted, _FILES])
        if code not in (0, 1):
            raise AnswerFailed(said or f"exit code {code}")
        if len(json.dumps(out.text())) > MOST - 500:
            raise AnswerFailed(f"the drawing has more than {MOST:,} characters; ask for fewer hops")
        return {"form": form, "text": out.text()} | ({"said": said} if said else {})

    async def cost(self, program: Program) -> dict[str, Any]:
        """Count flops, traffic, peak memory and communication of a program, by instruction."""
        return await self._asked("cost", [program], [])

    async def _asked(self, command: str, programs: Sequence[str], words: Sequence[str],
                     folder: str | None = None) -> dict[str, Any]:
        """Return the report of a command, its exit code and its messages. Raises AnswerFailed."""
        out = Whole(MOST_REPORT)
        code, said = await self._ask(programs, out, [command, "--format", "json", *words, _FILES], folder=folder)
        return _report(out.text(), said, code)

    async def _ask(self, programs: Sequence[str], out: Output, *commands: Sequence[str],
                   folder: str | None = None) -> tuple[int, str]:
        """Run commands on copies of programs, and of a folder; return the last exit code and its messages.

        Only what the last one writes is kept. Raises AnswerFailed, also where one before it fails.
        """
        async with self._turns:
            made = tempfile.TemporaryDirectory()
            self._copies.add(made)
            try:
                return await self._within(lambda: self._done(programs, out, commands, folder, Path(made.name)))
            finally:
                self._copies.discard(made)
                made.cleanup()

    async def _done(self, programs: Sequence[str], out: Output, commands: Sequence[Sequence[str]], folder: str | None,
                    place: Path) -> tuple[int, str]:
        files = [self._copy(program, place, n) for n, program in enumerate(programs)]
        if folder is not None:
            await asyncio.to_thread(self._copy_folder, folder, place / "dumps")
        code, said = 0, ""
        for command in commands:
            words = [w for word in command for w in (files if word == _FILES else [word])]
            is_last = command is commands[-1]
            code, said = await self._run(words, place, out if is_last else Whole(MOST_REPORT, is_cut=True))
            if code not in (0, 1) and not is_last:
                raise AnswerFailed(said or f"exit code {code}")
        return code, said

    async def _within(self, work: Callable[[], Awaitable[_Answer]]) -> _Answer:
        """Return what a piece of work gives. Raises AnswerFailed for what the system says of files."""
        try:
            return await work()
        except OSError as error:
            raise AnswerFailed(f"{error.filename}: {error.strerror}" if error.strerror else str(error)) from None
        except ValueError as error:  # a zero byte in a path, half a character in a text
            raise AnswerFailed(str(error)) from None

    def _copy_folder(self, folder: str, made: Path) -> None:
        """Copy the files of a folder below the served one. Raises OSError, AnswerFailed for one that is too large."""
        found = list(itertools.islice(files_beneath(self.folder, folder), MOST_FILES + 1))
        if len(found) > MOST_FILES or sum(size for _, size in found) > MOST_BYTES:
            raise AnswerFailed(f"{folder} holds more than {MOST_FILES:,} files or {MOST_BYTES:,} bytes")
        made.mkdir()
        above = PurePath(folder) if not PurePath(folder).is_absolute() else PurePath(folder).relative_to(self.folder)
        for path, _ in found:
            opened, _ = open_beneath(self.folder, str(path))
            _write(opened, made / path.relative_to(above), str(path))

    def _copy(self, program: str, made: Path, number: int) -> str:
        """Write the program below a folder that is made for this question; gives its path from there.

        Raises OSError for what is no regular file below the served folder, or too large.
        """
        if "\n" in program or "{" in program:
            (made / f"program{number}.txt").write_text(program, "utf-8", "surrogateescape")
            return f"./program{number}.txt"
        opened, path = open_beneath(self.folder, program)
        copy = made.joinpath(*(_PATTERNS.sub("_", part) for part in path.parts))
        _write(opened, copy, program)
        return f"./{copy.relative_to(made)}"

    async def _run(self, words: Sequence[str], place: Path, out: Output) -> tuple[int, str]:
        """Run a command; return its exit code and its messages. Raises AnswerFailed."""
        said = Whole(MOST_MESSAGES, is_cut=True)
        try:
            code = await run_command(words, place, self.seconds, out, said)
        except TimeoutError:
            raise AnswerFailed(f"no answer within {self.seconds:g} s") from None
        except TooMuch as error:
            raise AnswerFailed(str(error)) from None
        return code, said.text()


def _write(opened: BinaryIO, copy: Path, name: str) -> None:
    """Copy an opened file. Raises AnswerFailed for one that is too large."""
    copy.parent.mkdir(parents=True, exist_ok=True)
    with opened, copy.open("wb") as written:
        left = MOST_BYTES + 1  # it may grow meanwhile
        while left and (data := opened.read(min(left, 1 << 20))):
            left -= written.write(data)
    if not left:
        raise AnswerFailed(f"{name} has more than {MOST_BYTES:,} bytes")


def _report(out: str, said: str, code: int) -> dict[str, Any]:
    """Return the output of a command: its report, and its messages. Raises AnswerFailed where it failed."""
    if code not in (0, 1):
        raise AnswerFailed(said or _messages(out) or f"exit code {code}")
    found: dict[str, Any] = {"exit_code": code} | ({"said": said} if said else {})
    try:
        return found | {"report": json.loads(out)}
    except ValueError:
        return found | {"text": out}


def _messages(out: str) -> str:
    """Return what a report in JSON says of unusable input, or the output as it is."""
    try:
        report = json.loads(out)
    except ValueError:
        return out.strip()
    rows = report if isinstance(report, list) else [report]
    return "\n".join(str(row.get("message", row)) if isinstance(row, dict) else str(row) for row in rows)
