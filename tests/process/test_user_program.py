"""Programs of the user's, and what they leave behind."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

import pytest
from waiting import PATIENCE

from hlotool.process import UserProgram, end_user_programs

linux = pytest.mark.skipif(sys.platform != "linux", reason="only Linux lets a process adopt orphans")

#: starts two processes that leave it (a session of its own; a double fork), says who they are, and waits
LEAVES = """
import os, subprocess, sys, time
folder, seconds = sys.argv[1], float(sys.argv[2])
note = "import os, time; open(%r, 'w').write(str(os.getpid())); time.sleep(60)"
subprocess.Popen([sys.executable, "-I", "-S", "-c", note % f"{folder}/session"], start_new_session=True)
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    os.environ.clear()
    os.execve(sys.executable, [sys.executable, "-I", "-S", "-c", note % f"{folder}/daemon"], {})
while not all(os.path.exists(f"{folder}/{n}") and os.path.getsize(f"{folder}/{n}") for n in ("session", "daemon")):
    time.sleep(0.01)
open(f"{folder}/ready", "w")
time.sleep(seconds)
sys.exit(3)
"""


def words(folder: pathlib.Path, seconds: float) -> list[str]:
    return [sys.executable, "-I", "-S", "-c", LEAVES, str(folder), str(seconds)]


def all_gone(folder: pathlib.Path) -> bool:
    """Return true if the processes that left the program end, before they would by themselves."""
    numbers = [int((folder / name).read_text()) for name in ("session", "daemon")]
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not any(_is_running(n) for n in numbers):
            return True
        time.sleep(0.01)
    for n in numbers:
        if _is_running(n):
            os.kill(n, signal.SIGKILL)
    return False


def _is_running(number: int) -> bool:
    try:
        status = pathlib.Path(f"/proc/{number}/stat").read_bytes().rpartition(b")")[2].split()[0]
    except OSError:
        return False
    return status not in (b"Z", b"X")


@linux
def test_what_a_program_leaves_ends_with_it(tmp_path: pathlib.Path) -> None:
    with tempfile.TemporaryFile() as out:
        assert UserProgram(words(tmp_path, 0), out).wait(PATIENCE) == 3
    assert all_gone(tmp_path)


@linux
def test_what_takes_too_long_ends_with_all_of_it(tmp_path: pathlib.Path) -> None:
    with tempfile.TemporaryFile() as out:
        program = UserProgram(words(tmp_path, 3600), out)
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        assert program.wait(0.05) is None
    assert all_gone(tmp_path)


@linux
def test_all_can_be_ended_at_once(tmp_path: pathlib.Path) -> None:
    with tempfile.TemporaryFile() as out:
        program = UserProgram(words(tmp_path, 3600), out)
        while not (tmp_path / "ready").exists():
            time.sleep(0.01)
        end_user_programs()
        assert all_gone(tmp_path)
        assert program.wait(1) is None


@linux
def test_a_kill_of_the_caller_ends_what_left_the_program(tmp_path: pathlib.Path) -> None:
    code = ("import sys, tempfile\nfrom hlotool.process import UserProgram\n"
            f"UserProgram({words(tmp_path, 3600)!r}, tempfile.TemporaryFile()).wait(3600)\n")
    root = pathlib.Path(__file__).resolve().parents[2]
    with subprocess.Popen([sys.executable, "-c", code], env={**os.environ, "PYTHONPATH": str(root)}) as caller:
        while not (tmp_path / "ready").exists():
            assert caller.poll() is None
            time.sleep(0.01)
        caller.kill()
    assert all_gone(tmp_path)


def test_a_program_has_its_exit_code_its_output_and_no_input() -> None:
    with tempfile.TemporaryFile() as out:
        code = "import sys; print('said', len(sys.stdin.read())); sys.exit(125)"
        assert UserProgram([sys.executable, "-I", "-S", "-c", code], out).wait(PATIENCE) == 125
        out.seek(0)
        assert out.read().split() == [b"said", b"0"]
        killed = "import os, signal; os.kill(os.getpid(), signal.SIGSEGV)"
        assert UserProgram([sys.executable, "-I", "-S", "-c", killed], out).wait(PATIENCE) == -signal.SIGSEGV


def test_what_is_no_program_is_an_error(tmp_path: pathlib.Path) -> None:
    (tmp_path / "text").write_text("no program")
    (tmp_path / "text").chmod(0o755)
    with tempfile.TemporaryFile() as out:
        with pytest.raises(FileNotFoundError):
            UserProgram([str(tmp_path / "absent")], out).wait(PATIENCE)
        with pytest.raises(OSError, match="Exec format"):
            UserProgram([str(tmp_path / "text")], out).wait(PATIENCE)
        with pytest.raises(PermissionError):
            UserProgram([str(tmp_path)], out).wait(PATIENCE)
