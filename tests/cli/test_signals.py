"""Whatever ends a command ends each of its processes: every command of the table, every signal."""

from __future__ import annotations

import contextlib
import os
import pathlib
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from dataclasses import dataclass

import pytest
from waiting import wait_until

from hlotool.cli import main
from hlotool.cli.commands import COMMANDS

NIGHTLY = bool(os.environ.get("HLOTOOL_NIGHTLY"))
ENDLESS = """HloModule endless
more { s = s32[] parameter(0)  ROOT c = pred[] constant(true) }
body { s = s32[] parameter(0)  o = s32[] constant(1)  ROOT t = s32[] add(s, o) }
ENTRY e { x = s32[] parameter(0)  ROOT w = s32[] while(x), condition=more, body=body }
"""


#: prints less than a pipe holds, so that nothing keeps it at work
AT_ONCE = ("completion",)


@dataclass(frozen=True)
class Slow:
    """How a command is kept at work: its words, and how many processes it has then."""

    words: tuple[str, ...]
    #: the one that waits, the one that works, and their children
    processes: int = 2
    #: what it reads from a pipe that stays open
    given: str = ""


PIPE = Slow(("-",))
#: by command, PIPE for others; `-` waits for the end of standard input, what only prints for a reader of what it prints
AT_WORK = {
    "lint": Slow(("--no-config", "-"), given="HloModule m\n"), "fmt": PIPE, "convert": PIPE, "opt": PIPE, "py": PIPE,
    "diff": Slow(("-", "endless.hlo")), "versions": PIPE,
    "run": Slow(("endless.hlo",), 3), "compare": PIPE, "cost": PIPE, "reduce": PIPE, "isolate": Slow(("endless.hlo",)),
    "roundtrip": Slow(("-j", "2", "endless.hlo", "other.hlo"), 4),
    "conform": Slow(("endless.hlo", "--executors", "reference"), 3),
    "explain": Slow(("dot",) * 60), "ops": Slow(()), "lsp": Slow((), 1), "mcp": Slow((), 1),
    "docs": Slow(("--serve", "0"), 1),
    "fuzz": Slow(("--time-limit", "60", "-j", "1"), 3), "bisect": Slow(("dumps",)),
    "corpus": Slow(("roundtrip-run", "endless.hlo", "other.hlo", "-o", "results", "-j", "2"), 6),
    "find": Slow(("*", "index", "--limit", "0")),
    "bundle": Slow(("--test", "timeout", "endless.hlo"), 3),
}
SIGNALS = [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL]
#: the rest is tried at night: each takes a second or two
BY_DAY = {("run", signal.SIGKILL), ("fmt", signal.SIGTERM), ("compare", signal.SIGINT), ("lsp", signal.SIGHUP)}

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")


def test_what_is_said_of_commands_is_of_commands() -> None:
    assert set(AT_WORK) <= set(COMMANDS)


def marked(mark: str) -> list[int]:
    """The processes that have a mark in their environment, and are no zombies."""
    found = []
    for folder in pathlib.Path("/proc").iterdir():
        if folder.name.isdigit():
            with contextlib.suppress(OSError):
                if mark.encode() in (folder / "environ").read_bytes() and (
                        "\nState:\tZ" not in (folder / "status").read_text()):
                    found.append(int(folder.name))
    return found


@contextlib.contextmanager
def at_work(command: str, folder: pathlib.Path) -> Iterator[tuple[subprocess.Popen[bytes], str]]:
    """A command with all its processes running, and their mark."""
    for name in ("endless", "other"):
        (folder / f"{name}.hlo").write_text(ENDLESS)
    (folder / "dumps").mkdir()
    for stage in ("before_optimizations", "cpu_after_optimizations"):
        # An endless loop is given up soon; products take their time.
        rows = "".join(f"  x{n + 1} = f32[2000,2000] dot(x{n}, x0), lhs_contracting_dims={{1}}, "
                       f"rhs_contracting_dims={{0}}\n" for n in range(99))
        last = "add(x99, x0)" if stage.startswith("b") else "subtract(x99, x0)"
        text = f"ENTRY e {{\n  x0 = f32[2000,2000] parameter(0)\n{rows}  ROOT r = f32[2000,2000] {last}\n}}\n"
        (folder / "dumps" / f"module_0001.endless.{stage}.txt").write_text(text)
    if command == "find":
        assert main(["corpus", "index", str(folder / "dumps"), "-o", str(folder / "index"), "-q"]) == 0
    how, mark = AT_WORK.get(command, PIPE), uuid.uuid4().hex
    process = subprocess.Popen(
        [sys.executable, "-m", "hlotool", command, *how.words], cwd=folder, stdin=subprocess.PIPE,
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True, pipesize=4096,
        env={**os.environ, "HLOTOOL_TEST_MARK": mark})
    try:
        assert process.stdin is not None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.write(how.given.encode())
            process.stdin.flush()
        wait_until(lambda: len(marked(mark)) >= how.processes or process.poll() is not None)
        time.sleep(0.7)
        assert process.poll() is None, f"{command} has ended: {process.stderr and process.stderr.read()!r}"
        assert len(marked(mark)) >= how.processes
        yield process, mark
    finally:
        for number in marked(mark):
            with contextlib.suppress(ProcessLookupError):
                os.kill(number, signal.SIGKILL)
        process.communicate()


@pytest.mark.parametrize("number", SIGNALS, ids=lambda number: number.name)
@pytest.mark.parametrize("command", [c for c in COMMANDS if c not in AT_ONCE])
def test_no_process_stays(command: str, number: signal.Signals, tmp_path: pathlib.Path) -> None:
    if not NIGHTLY and (command, number) not in BY_DAY:
        pytest.skip("tried at night")
    with at_work(command, tmp_path) as (process, mark):
        process.send_signal(number)
        wait_until(lambda: not marked(mark), "a process stays")
        code = process.wait()
        said = b"".join(stream.read() for stream in (process.stderr, process.stdout) if stream is not None).decode()
    assert "Traceback" not in said
    if number is signal.SIGINT and command not in ("lsp", "mcp", "docs"):
        assert code == 130 and "interrupted" in said, (code, said)
