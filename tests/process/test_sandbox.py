"""A confined child computes, and neither writes, nor starts programs, nor reaches others; see SECURITY.md."""

from __future__ import annotations

import os
import pathlib
import struct
from collections.abc import Iterator

import pytest

from hlotool.cli import main
from hlotool.execution import executor_named
from hlotool.process import (
    SWITCH,
    Child,
    Crashed,
    Refusal,
    sandbox,
    sandbox_layers,
    scratch_folder,
    shared_child,
)
from hlotool.process.sandbox import landlock_version

pytestmark = pytest.mark.skipif(len(sandbox_layers()) < 2, reason="a sandbox needs Landlock and seccomp")

TEXT = "HloModule m\nENTRY e { x = f32[2] parameter(0)\n  ROOT y = f32[2] tanh(x) }\n"


@pytest.fixture(params=[(), ("json",)], ids=["alone", "forked"])
def child(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[Child]:
    (tmp_path / "own").mkdir()
    made = Child({}, request.param, (str(tmp_path / "own"),))
    yield made
    made.close()


@pytest.fixture(scope="module")
def confined() -> Iterator[Child]:
    made = Child({}, (), ())
    yield made
    made.close()


def test_what_a_confined_child_may_not_do(child: Child, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "theirs"
    file.write_text("kept")
    tasks: list[tuple[object, ...]] = [
        ("os:truncate", str(file), 0), ("os:unlink", str(file)), ("os:chmod", str(file), 0), ("os:utime", str(file)),
        ("os:rename", str(file), str(tmp_path / "own" / "taken")), ("os:link", str(file), str(tmp_path / "own" / "l")),
        ("os:mkdir", str(tmp_path / "folder")), ("os:open", str(tmp_path / "new"), os.O_CREAT | os.O_WRONLY),
        ("os:setxattr", str(file), "user.x", b""), ("os:symlink", str(file), str(tmp_path / "link")),
        ("os:execv", "/bin/true", ["true"]), ("subprocess:run", ["true"]), ("os:system", "true"),
        ("socket:create_connection", ("127.0.0.1", 9)), ("socket:socket",)]
    if landlock_version() >= 6:
        tasks.append(("os:kill", os.getpid(), 0))
    for task, *arguments in tasks:
        try:
            found = child.ask(str(task), *arguments, timeout=60)
        except Refusal as error:
            assert "PermissionError" in error.message or "OSError" in error.message, (task, error)
        else:
            assert task == "os:system" and found != 0, task
    assert sorted(os.listdir(tmp_path)) == ["own", "theirs"] and file.read_text() == "kept"
    assert file.stat().st_mode & 0o777 and os.listdir(tmp_path / "own") == []


#: system calls that a file has no business with, by libc's function or number: each says that it is not permitted
CALLS = {
    "a ring": "s(425, 8, b'x' * 120)",
    "a program in memory": "fd = l.memfd_create(b'x', 0); os.write(fd, open('/bin/true', 'rb').read()); "
                           "r = l.fexecve(fd, (c.c_char_p * 1)(), (c.c_char_p * 1)())",
    "a trace": "r = l.ptrace(16, PID, 0, 0)",
    "another's memory": "b = c.create_string_buffer(8); v = (c.c_size_t * 2)(c.addressof(b), 8); "
                        "r = l.process_vm_readv(PID, v, 1, v, 1, 0)",
    "another's limits": "b = (c.c_uint64 * 2)(1, 1); r = l.prlimit(PID, 0, b, None)",
    "a signal": "r = l.kill(PID, 0)", "a signal to a thread": "r = l.tgkill(PID, PID, 0)",
    "a signal with a value": "r = l.sigqueue(PID, 0, 0)",
    "a key for a terminal": "p = os.open('/dev/null', 0); r = l.ioctl(p, 0x5412, b'x')",
    "flags of a file": "p = os.open(FILE, 0); r = l.ioctl(p, 0x40086602, (c.c_int * 1)(0))",
    "shared memory": "r = l.shmget(0, 4096, 0o1600)", "a queue": "r = l.mq_open(b'/x', 0o102, 0o600, None)",
    "a name space": "r = l.unshare(0x10000000)", "a file system": "s(430, b'tmpfs', 0)",
    "a length": "r = l.truncate(FILE.encode(), 0)", "attributes": "s(469, -100, FILE.encode(), b'0' * 64, 32, 0)",
    "a host's name": "r = l.sethostname(b'x', 1)",
}


@pytest.mark.parametrize("what", CALLS)
def test_system_calls_that_are_not_permitted(confined: Child, what: str, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "theirs"
    file.write_text("kept")
    code = ("import ctypes as c, os\nl = c.CDLL(None, use_errno=True)\n"
            "def s(*a):\n    global r\n    r = l.syscall(*a)\n"
            f"PID, FILE = {os.getpid()}, {str(file)!r}\n{CALLS[what]}\nassert r < 0, r\n"
            "raise OSError(c.get_errno(), os.strerror(c.get_errno()))")
    with pytest.raises(Refusal, match=r"Operation not permitted|Function not implemented"):
        confined.ask("builtins:exec", code, {}, timeout=60)
    assert file.read_text() == "kept"


def test_a_confined_child_sets_its_own_limits_and_ends_itself(confined: Child) -> None:
    confined.ask("resource:setrlimit", 4, (0, 0), timeout=60)
    with pytest.raises(Crashed):
        confined.ask("os:abort", timeout=60)


def test_the_filter_knows_both_machines(monkeypatch: pytest.MonkeyPatch) -> None:
    for machine in ("x86_64", "aarch64"):
        monkeypatch.setattr("platform.machine", lambda machine=machine: machine)
        program = sandbox._filter()
        assert len(program) % 8 == 0 and len(program) // 8 < 4096, "the most that the system takes"
        rows = list(struct.iter_unpack("=HBBI", program))
        jumps = [(at, max(row[1:3])) for at, row in enumerate(rows) if row[0] in (sandbox._EQUAL, sandbox._AT_LEAST)]
        assert all(at + 1 + jump < len(rows) for at, jump in jumps)
        assert rows[-1][0] == 6, "the last instruction ends"


def test_what_a_confined_child_may_do(child: Child, tmp_path: pathlib.Path) -> None:
    (tmp_path / "given").write_text("read")
    assert child.ask("os:listdir", str(tmp_path), timeout=60)
    child.ask("os:mkdir", str(tmp_path / "own" / "folder"), timeout=60)
    child.ask("os:rename", str(tmp_path / "own" / "folder"), str(tmp_path / "own" / "renamed"), timeout=60)
    assert os.listdir(tmp_path / "own") == ["renamed"]


def test_executors_on_the_processor_are_confined(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("pjrt:cpu", "stablehlo", "reference"):
        assert executor_named(name).writable() == ()
    assert executor_named("pjrt:cuda").writable() is None and executor_named("pjrt:tpu").writable() is None
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={tmp_path / 'dumps'} --xla_dump_hlo_as_text")
    assert executor_named("pjrt:cpu").writable() == (str(tmp_path / "dumps"),)
    monkeypatch.setenv("XLA_FLAGS", f"--xla_dump_to={scratch_folder()}")
    assert executor_named("pjrt:cpu").writable() == (scratch_folder(),)


def test_the_sandbox_is_on_unless_somebody_leaves_it(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[bool] = []
    (tmp_path / "m.hlo").write_text(TEXT)

    def noted(*given: object, **named: object) -> Child:
        found = shared_child(*given, **named)  # type: ignore[arg-type]
        asked.append(found.writable is not None)
        return found

    monkeypatch.delenv(SWITCH, raising=False)
    monkeypatch.setattr("hlotool.execution.executor.shared_child", noted)
    assert main(["run", str(tmp_path / "m.hlo"), "--executors", "stablehlo"]) == 0
    assert asked and all(asked)
    asked.clear()
    assert main(["run", str(tmp_path / "m.hlo"), "--executors", "stablehlo", "--no-sandbox"]) == 0
    assert asked and not any(asked) and SWITCH not in os.environ


def test_the_version_tells_what_confines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version", "--verbose"]) == 0
    assert f"sandbox of programs that run: {', '.join(sandbox_layers())}" in capsys.readouterr().out
