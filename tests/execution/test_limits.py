"""Limits and signals hold for every command: its own processes end, and what ends them has a code."""

from __future__ import annotations

import argparse
import os
import pathlib
import signal
import subprocess
import sys

import pytest
from waiting import PATIENCE, wait_until

import hlotool
from hlotool.cli import main
from hlotool.cli.commands import COMMANDS
from hlotool.cli.limits import _stalled_after
from hlotool.cli.parsers import parser_of
from hlotool.diagnostics import HloError
from hlotool.execution import Program
from hlotool.process import bytes_in

HLOTOOL = [sys.executable, "-m", "hlotool"]
ENDLESS = """HloModule endless
body { x = s32[] parameter(0)  ROOT m = s32[] multiply(x, x) }
forever { y = s32[] parameter(0)  zero = s32[] constant(0)  ROOT t = pred[] compare(y, zero), direction=EQ }
ENTRY e { a = s32[] constant(0)  ROOT r = s32[] while(a), condition=forever, body=body }
"""
pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="a process that splits")


@pytest.fixture
def endless(tmp_path: pathlib.Path) -> str:
    path = tmp_path / "endless.hlo"
    path.write_text(ENDLESS)
    return str(path)


@pytest.mark.parametrize("command", sorted(COMMANDS))
def test_every_command_has_limits(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "--time-limit" in shown and "--memory-limit" in shown
    assert main([command, "--memory-limit", "much"]) == 2
    assert "is no size" in capsys.readouterr().err


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
def test_a_module_without_an_end(executor: str, endless: str) -> None:
    done = subprocess.run([*HLOTOOL, "run", endless, "--executors", executor, "--run-limit", "0.5"], text=True,
                          capture_output=True, timeout=60, check=False)
    assert done.returncode in (1, 2) and "E105" in done.stderr and "Traceback" not in done.stderr


#: a command whose work is what stands behind: a hang, a crash, a hunger for memory
PLANTED = """
import os, sys
from hlotool.cli import fmt, main
from hlotool.cli import main as _
import hlotool.cli.main
def work(args):
    {}
fmt.run = work
sys.argv = ["hlotool", "fmt", *sys.argv[1:]]
sys.exit(main())
"""


def planted(work: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", PLANTED.format(work), *arguments, "x"], text=True,
                          capture_output=True, timeout=60, check=False)


@pytest.mark.parametrize(("work", "arguments", "code"), [
    ("import re; re.match('(a*)*b', 'a' * 60)", ["--time-limit", "0.5"], "E113"),
    ("os.abort()", [], "E114"),
    ("import ctypes; ctypes.string_at(0)", [], "E114"),
    ("bytearray(1 << 30)", ["--memory-limit", "200MB"], "E115"),
    ("f = lambda n: f(n + 1) + 1; f(0)", [], "E116"),
], ids=["pattern", "abort", "segment", "memory", "depth"])
def test_what_ends_a_command_has_a_code(work: str, arguments: list[str], code: str) -> None:
    done = planted(work, *arguments)
    assert done.returncode == 2 and f"error[{code}]" in done.stderr and "Traceback" not in done.stderr


def test_every_command_ends_that_makes_no_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    sooner = f"import hlotool.process\nhlotool.process.STALLED = 0.5\n{PLANTED}"
    monkeypatch.setattr(sys.modules[__name__], "PLANTED", sooner)
    done = planted("import re; re.match('(a*)*b', 'a' * 60)")
    assert done.returncode == 2 and "error[E113]: no progress within 0.5 s of processor time" in done.stderr
    for command in sorted(COMMANDS):
        defaults = {action.dest: action.default for action in parser_of(command, command)._actions}
        assert defaults.get("command_time_limit") is None and _stalled_after(argparse.Namespace(**defaults)) == 60


def test_the_exit_code_of_the_work_is_the_commands() -> None:
    assert planted("print('done'); return 1").stdout == "done\n"
    assert planted("return 1").returncode == 1
    assert planted("sys.exit(7)").returncode == 7


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
def test_a_signal_ends_every_process(number: signal.Signals, executor: str, endless: str) -> None:
    with subprocess.Popen([*HLOTOOL, "run", endless, "--executors", executor], stderr=subprocess.PIPE) as process:
        found = at_work(process, 2)  # the one that works, and the executor's
        process.send_signal(number)
        process.wait(PATIENCE)
    require_gone(found)
    assert process.returncode == (130 if number == signal.SIGINT else -number)


def at_work(process: subprocess.Popen[bytes], number: int) -> set[int]:
    """Return the processes below a process, once there are so many."""
    wait_until(lambda: len(descendants(process.pid)) >= number)
    return descendants(process.pid)


def require_gone(processes: set[int]) -> None:
    try:
        wait_until(lambda: not any(map(is_alive, processes)))
    finally:
        for pid in filter(is_alive, processes):
            os.kill(pid, signal.SIGKILL)


def descendants(process: int) -> set[int]:
    """The processes that a process started, and those that they started."""
    task = pathlib.Path(f"/proc/{process}/task")
    if not task.exists():
        pytest.skip("this system does not list processes")
    found: set[int] = set()
    for thread in task.iterdir():
        try:
            children = {int(n) for n in (thread / "children").read_text().split()}
        except OSError:
            continue
        found |= children.union(*map(descendants, children))
    return found


def is_alive(process: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def test_sizes() -> None:
    assert [bytes_in(t) for t in ("10", "500MB", "4 GiB", "1.5k", "2KiB")] == [10, 500_000_000, 1 << 32, 1500, 2048]
    for text in ("", "-1", "MB", "5 bytes", "1e9"):
        with pytest.raises(ValueError, match="is no size"):
            bytes_in(text)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_several_modules_at_a_time_end_with_a_signal(number: signal.Signals, tmp_path: pathlib.Path) -> None:
    for n in range(3):
        (tmp_path / f"{n}.hlo").write_text(ENDLESS)
    with subprocess.Popen([*HLOTOOL, "roundtrip", "-j", "2", str(tmp_path)], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, start_new_session=True) as process:
        found = at_work(process, 3)  # the work, and two processes for it
        os.killpg(process.pid, number) if number == signal.SIGINT else process.send_signal(number)
        process.wait(PATIENCE)
    require_gone(found)
    assert process.returncode == (130 if number == signal.SIGINT else -number)


def test_more_dimensions_than_arrays_have() -> None:
    from hlotool.execution.arguments import arguments_for

    shape = f"f32[{','.join(['1'] * 65)}]"
    with pytest.raises(HloError) as caught:
        arguments_for(Program(hlotool.parse(f"ENTRY e {{ x = {shape} parameter(0)  ROOT r = {shape} negate(x) }}")))
    assert caught.value.diagnostics[0].code == "E106" and "65 dimensions" in str(caught.value)
