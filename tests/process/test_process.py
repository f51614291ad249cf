"""Children: they answer, outlive failures, import nothing from where they are started, and end with their parent."""

from __future__ import annotations

import contextlib
import importlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from waiting import PATIENCE, wait_until

import hlotool
from hlotool.diagnostics import HloError
from hlotool.process import Child, Crashed, OutOfMemory, Refusal, TimedOut, ends_at, forkserver, work_time
from hlotool.process.child import _send, kept_environment, library_paths

PARSE = "hlotool.text:parse"


#: what a child imports before its first question: nothing, or what it is then forked of
IMPORTS = {"alone": (), "forked": ("json", "no_such_module")}


@pytest.fixture(params=IMPORTS.values(), ids=IMPORTS)
def child(request: pytest.FixtureRequest) -> Iterator[Child]:
    made = Child({"XLA_FLAGS": "asked"}, request.param)
    yield made
    made.close()


def test_answers_and_failures(child: Child) -> None:
    assert child.ask("operator:add", 2, 3, timeout=60) == 5
    with pytest.raises(Refusal, match="ZeroDivisionError"):
        child.ask("operator:truediv", 1, 0, timeout=60)
    with pytest.raises(Refusal, match="has no attribute"):
        child.ask("operator:nothing", timeout=60)
    with pytest.raises(HloError, match="P"):
        child.ask(PARSE, "HloModule m\nENTRY e { a = f32[ }", timeout=60)
    assert child.is_running


def test_a_crash_and_a_time_out_are_outlived(child: Child) -> None:
    with pytest.raises(Crashed, match="exit code -6"):
        child.ask("os:abort", timeout=60)
    with pytest.raises(TimedOut):
        child.ask("time:sleep", 30, timeout=0.2)
    assert child.ask("operator:add", 2, 3, timeout=60) == 5


def test_a_moment_ends_questions_whatever_their_limits(child: Child) -> None:
    with ends_at(work_time() + 3600), pytest.raises(TimedOut):
        child.ask("time:sleep", 30, timeout=0.2)
    with ends_at(work_time() + 0.2), pytest.raises(TimedOut):
        child.ask("time:sleep", 3600, timeout=7200)
    assert child.ask("operator:add", 2, 3, timeout=60) == 5
    with ends_at(work_time()), pytest.raises(TimedOut, match="no time is left"):
        child.ask("operator:add", 2, 3, timeout=60)
    assert child.is_running  # it was not asked, and is at work for others
    with ends_at(None):
        assert child.ask("operator:add", 2, 3, timeout=60) == 5


forks = pytest.mark.skipif(not forkserver.IS_THERE, reason="children are forked where the system allows it")


@forks
def test_a_forked_child_is_replaced_by_a_fork(child: Child) -> None:
    """What the first one imported stays imported, and what it changed is gone."""
    if not child.imports:
        pytest.skip("it is not forked")
    first, server = child.ask("os:getpid", timeout=60), child.ask("os:getppid", timeout=60)
    assert child.ask("os:putenv", "CHANGED", "1", timeout=60) is None and not child.is_fresh
    for number in (signal.SIGABRT, signal.SIGSEGV, signal.SIGKILL):
        with pytest.raises(Crashed, match=f"exit code -{int(number)}"):
            child.ask("signal:raise_signal", number, timeout=60)
        assert child.is_fresh
    with pytest.raises(Crashed, match="exit code 3"):
        child.ask("os:_exit", 3, timeout=60)
    assert child.ask("os:getppid", timeout=60) == server != os.getpid()
    assert child.ask("os:getpid", timeout=60) != first and not child.is_fresh
    assert child.ask("json:dumps", [1], timeout=60) == "[1]"


@pytest.mark.skipif(not hasattr(signal, "setitimer"), reason="the system has no timers that end a process")
def test_a_child_that_ends_between_questions_is_started_anew(child: Child) -> None:
    assert child.ask("signal:setitimer", signal.ITIMER_REAL, 0.1, timeout=60) == (0.0, 0.0)
    wait_until(lambda: not child.is_running)
    assert child.ask("operator:add", 2, 3, timeout=60) == 5


def test_half_an_answer_is_no_part_of_the_next(child: Child) -> None:
    """A child that ends while it writes an answer is not replaced by a fork on the same pipes."""
    number, process = child.ask("os:getpid", timeout=60), child._started()
    _send(process.stdin, ("builtins:bytes", (1 << 22,), None))
    assert len(process.stdout.read(8)) == 8  # the rest does not fit into the pipe
    os.kill(number, signal.SIGTERM)
    assert process.wait(PATIENCE) == -signal.SIGTERM
    assert child.ask("operator:add", 2, 3, timeout=60) == 5


#: adopts orphans and does not wait for them, as the first process of a container; says which are left of a child
ADOPTER = """
import ctypes, os, pathlib, sys
from hlotool.process import Child, TimedOut
assert ctypes.CDLL(None).prctl(36, 1, 0, 0, 0) == 0
child = Child({}, eval(sys.argv[1]))
numbers = [child.ask(f"os:{name}", timeout=60) for name in ("getpid", "getppid")]
try:
    child.ask("time:sleep", 600, timeout=0.1)
except TimedOut:
    child.ask("operator:add", 2, 3, timeout=60)
    child.close()
print([n for n in numbers if n != os.getpid() and pathlib.Path(f"/proc/{n}").exists()])
"""


@pytest.mark.skipif(sys.platform != "linux", reason="what adopts orphans is Linux's")
@pytest.mark.parametrize("imports", IMPORTS.values(), ids=IMPORTS)
def test_no_zombie_is_left(imports: tuple[str, ...]) -> None:
    done = subprocess.run([sys.executable, "-c", ADOPTER, repr(imports)], text=True, capture_output=True, check=True)
    assert done.stdout.strip() == "[]"


def test_memory_has_a_limit(child: Child) -> None:
    with pytest.raises(OutOfMemory):
        child.ask("builtins:bytearray", 1 << 30, timeout=60, memory=1 << 28)
    assert len(child.ask("builtins:bytearray", 1 << 20, timeout=60, memory=1 << 28)) == 1 << 20


def test_what_a_child_sees(child: Child, monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    importlib.import_module("numpy")  # this process, which finds the planted files, reads the answers with the true one
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    monkeypatch.setenv("SECRET_TOKEN", "x")
    monkeypatch.setenv("JAX_ENABLE_X64", "1")
    monkeypatch.syspath_prepend(tmp_path)
    for name in ("numpy", "json", "planted"):
        (tmp_path / f"{name}.py").write_text(f"open({str(tmp_path / 'PWNED')!r}, 'w')")
    assert str(tmp_path) not in library_paths()
    assert child.ask("os:getcwd", timeout=60) == os.path.abspath(os.sep)
    assert child.ask("os:getenv", "SECRET_TOKEN", timeout=60) is None
    assert child.ask("os:getenv", "JAX_ENABLE_X64", timeout=60) == "1"
    assert child.ask("os:getenv", "XLA_FLAGS", timeout=60) == "asked"
    assert child.ask("numpy:add", 1, 2, timeout=60) == 3
    with pytest.raises(Crashed, match="No module named 'planted'"):
        child.ask("planted:run", timeout=60)
    assert not (tmp_path / "PWNED").exists()
    assert "SECRET_TOKEN" not in kept_environment() and "PYTHONPATH" not in kept_environment()


#: starts a child that sleeps in native code, or computes, and says its number
PARENT = """
import sys, threading, time
from hlotool.process import Child
child = Child({}, eval(sys.argv[2]))
print(child.ask("os:getpid", timeout=60), child.ask("os:getppid", timeout=60), flush=True)
threading.Thread(target=lambda: child.ask(*eval(sys.argv[1]), timeout=600), daemon=True).start()
time.sleep(600)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT, signal.SIGKILL])
@pytest.mark.parametrize("task", ["('time:sleep', 600)", "('builtins:sum', range(10 ** 15))"], ids=["asleep", "busy"])
@pytest.mark.parametrize("imports", IMPORTS.values(), ids=IMPORTS)
def test_no_signal_leaves_an_orphan(number: signal.Signals, task: str, imports: tuple[str, ...]) -> None:
    with subprocess.Popen([sys.executable, "-c", PARENT, task, repr(imports)], stdout=subprocess.PIPE, text=True,
                          stderr=subprocess.DEVNULL) as parent:
        assert parent.stdout is not None
        child, above = map(int, parent.stdout.readline().split())
        assert (above == parent.pid) == (not imports or not forkserver.IS_THERE)
        time.sleep(0.1)
        parent.send_signal(number)
        try:
            parent.wait(PATIENCE)
        finally:
            parent.kill()
    with contextlib.suppress(AssertionError):
        wait_until(lambda: not is_alive(child) and not is_alive(above))
        return
    for process in (child, above):
        with contextlib.suppress(OSError):
            os.kill(process, signal.SIGKILL)
    pytest.fail("the child outlived its parent")


def is_alive(process: int) -> bool:
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    status = pathlib.Path(f"/proc/{process}/stat")
    return not (status.exists() and status.read_text().rpartition(")")[2].split()[0] == "Z")


def test_a_child_has_hlotool_from_where_its_parent_has_it(tmp_path: pathlib.Path) -> None:
    """Another copy than the installed one."""
    root = pathlib.Path(hlotool.__file__).parents[1]
    shutil.copytree(root / "hlotool", tmp_path / "hlotool", ignore=shutil.ignore_patterns("__pycache__"))
    code = "import hlotool.process as i; print(i.Child({}).ask('inspect:getsourcefile', i.Child, timeout=60))"
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, text=True, capture_output=True,
                          env=os.environ | {"PYTHONPATH": str(tmp_path)}, check=True)
    assert done.stdout.strip() == str(tmp_path / "hlotool" / "process" / "child.py")
