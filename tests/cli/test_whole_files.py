"""Files that commands write: whole or not at all, through links, as they were, and nothing beside them."""

from __future__ import annotations

import errno
import gzip
import os
import pathlib
import random
import signal
import subprocess
import sys
import time

import pytest
from waiting import wait_until

from hlotool.cli.main import main
from hlotool.cli.whole_files import each_once, write_whole
from hlotool.diagnostics import HloError

NIGHTLY = bool(os.environ.get("HLOTOOL_NIGHTLY"))
TEXT = "HloModule m\nENTRY e { x=f32[2] parameter(0)\n ROOT y = f32[2] negate(x) }\n"


def formatted(text: str = TEXT) -> str:
    from hlotool.passes.formatting import format_text

    return format_text(text)[0]


def test_links_modes_and_owners_stay(tmp_path: pathlib.Path) -> None:
    file, link = tmp_path / "real" / "m.hlo", tmp_path / "link.hlo"
    file.parent.mkdir()
    file.write_text(TEXT)
    file.chmod(0o751)
    link.symlink_to("real/m.hlo")
    before = file.stat()
    assert main(["fmt", "-w", str(link)]) == 0
    after = file.stat()
    assert link.is_symlink() and file.read_text() == formatted()
    assert (after.st_mode, after.st_uid, after.st_gid) == (before.st_mode, before.st_uid, before.st_gid)
    assert sorted(os.listdir(tmp_path)) == ["link.hlo", "real"] and os.listdir(file.parent) == ["m.hlo"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_the_owner_stays(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(TEXT)
    os.chown(file, 12345, 12346)
    assert main(["fmt", "-w", str(file)]) == 0
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 12346) and file.read_text() == formatted()


@pytest.mark.parametrize("command", [["fmt", "-w"], ["lint", "--fix", "--unsafe-fixes", "--select", "ALL"]])
def test_hard_links_are_refused(tmp_path: pathlib.Path, command: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "m.hlo"
    file.write_text(TEXT.replace(" ROOT", "  d = f32[2] negate(x)\n ROOT"))
    os.link(file, tmp_path / "other.hlo")
    before = file.read_text()
    assert main([*command, str(file)]) == 2
    assert "R120" in capsys.readouterr().err and file.read_text() == before


def test_what_changed_meanwhile_is_not_overwritten(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "m"
    file.write_bytes(b"theirs")
    with pytest.raises(HloError) as caught:
        write_whole(file, b"ours", read=b"as it was")
    assert caught.value.diagnostics[0].code == "R120" and file.read_bytes() == b"theirs"
    write_whole(file, b"ours", read=b"theirs")
    assert file.read_bytes() == b"ours"
    file.unlink()
    with pytest.raises(HloError):
        write_whole(file, b"ours", read=b"ours")
    assert not os.listdir(tmp_path)


def test_each_file_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    pathlib.Path("a.hlo").write_text(TEXT)
    os.symlink("a.hlo", "b.hlo")
    assert each_once(["a.hlo", "./a.hlo", str(tmp_path / "a.hlo"), "b.hlo", "none", "none"]) == ["a.hlo", "none"]
    assert main(["fmt", "-w", "a.hlo", "./a.hlo", "b.hlo", "."]) == 0
    assert pathlib.Path("a.hlo").read_text() == formatted()
    assert main(["fmt", "--check", "a.hlo"]) == 0


FORMS = {"m.mlir": b"module @m {}\n", "m.pb": b"\x0a\x01m\x12\x01e\x1a\x00", "m.mlirbc": b"ML\xefR\x0d", "e.hlo": b""}


@pytest.mark.parametrize("name", FORMS)
def test_other_forms_are_not_replaced(name: str, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / name
    file.write_bytes(FORMS[name])
    for command in (["fmt", "-w"], ["lint", "--fix"])[name == "m.mlir":]:  # fmt formats StableHLO
        assert main([*command, str(file)]) in (1, 2)
        assert file.read_bytes() == FORMS[name] and capsys.readouterr().err


def test_compressed_text_comes_back_compressed(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "m.hlo.gz"
    file.write_bytes(gzip.compress(TEXT.encode()))
    assert main(["fmt", "-w", str(file)]) == 0
    assert gzip.decompress(file.read_bytes()).decode() == formatted()


def test_line_ends_and_marks_stay(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "m.hlo"
    file.write_bytes(b"\xef\xbb\xbf" + TEXT.replace("\n", "\r\n").encode())
    assert main(["fmt", "-w", str(file)]) == 0
    assert file.read_bytes() == b"\xef\xbb\xbf" + formatted().replace("\n", "\r\n").encode()


@pytest.mark.parametrize("command", [
    ["lint"], ["fmt", "-w"], ["fmt"], ["lint", "--fix"], ["convert"], ["diff", "."], ["run"], ["compare"],
    ["roundtrip"], ["opt"], ["py"], ["cost"], ["bisect"], ["isolate"], ["reduce"], ["reduce", "m.hlo"],
    ["bundle"], ["bundle", "run"], ["conform"], ["docs"],
    *([command, "m.hlo", option] for command, options in {
        "run": ["-o", "--args"], "convert": ["-o", "--loss-report"], "opt": ["-o"], "py": ["-o"], "lint": ["--output"],
        "reduce": ["-o", "--state", "--save-arguments"], "bundle": ["-o", "--issue"], "isolate": ["--reproduce"],
        "conform": ["--save-json", "--html", "--junitxml", "--expectations", "--against"],
        "bisect": ["--html", "--save-arguments", "--against"]}.items() for option in options)])
def test_an_empty_word_is_an_error(command: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                   capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.hlo").write_text(TEXT)
    assert main([*command, ""]) == 2
    shown = capsys.readouterr()
    assert "empty word" in shown.err + shown.out and (tmp_path / "m.hlo").read_text() == TEXT
    assert os.listdir(tmp_path) == ["m.hlo"]


def test_pipes_and_links_to_nothing_in_folders(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "m.hlo").write_text(TEXT)
    for name in ("p.hlo", "q.txt", "module_0001.f.before_optimizations.txt"):
        os.mkfifo(tmp_path / name)
    os.symlink("nothing", tmp_path / "l.hlo")
    for command in (["lint"], ["fmt", "--check"], ["convert"], ["fmt", "-w"], ["lint", "--fix"]):
        assert main([*command, str(tmp_path)]) in (0, 1)
    capsys.readouterr()


def test_a_pipe_that_nobody_reads_is_refused(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    monkeypatch.setattr("hlotool.cli.whole_files._WAIT_FOR_READER", 0.05)
    with pytest.raises(HloError) as refused:
        write_whole(pipe, b"text")
    assert [d.code for d in refused.value.diagnostics] == ["R120"]
    with (tmp_path / "read").open("wb") as out, subprocess.Popen(["cat", str(pipe)], stdout=out):
        monkeypatch.setattr("hlotool.cli.whole_files._WAIT_FOR_READER", 20.0)
        write_whole(pipe, b"text" * 100_000)  # more than a pipe holds
    assert (tmp_path / "read").read_bytes() == b"text" * 100_000


@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="links of processes are Linux's")
def test_the_pipe_behind_a_link_is_written_into() -> None:
    reader, writer = os.pipe()
    write_whole(pathlib.Path(f"/proc/self/fd/{writer}"), b"text")  # where /dev/stdout leads
    os.close(writer)
    with os.fdopen(reader, "rb") as pipe:
        assert pipe.read() == b"text"


@pytest.mark.parametrize("option", ["--save-json", "--html", "--junitxml"])
def test_a_report_of_conform_takes_no_place_of_a_case(option: str, tmp_path: pathlib.Path,
                                                      capsys: pytest.CaptureFixture[str]) -> None:
    file, link = tmp_path / "cases" / "m.hlo", tmp_path / "link"
    file.parent.mkdir()
    file.write_text(TEXT)
    link.symlink_to(file)
    for words in ([str(file.parent)], [str(file)], ["--from", str(file)]):
        assert main(["conform", *words, option, str(link)]) == 2
        assert "R120" in capsys.readouterr().err and file.read_text() == TEXT


def test_decompression_is_bounded(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                  capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr("hlotool.text.input_files.MOST_BYTES", 1 << 20)
    file = tmp_path / "m.hlo.gz"
    file.write_bytes(gzip.compress(bytes(3 << 20)))
    assert main(["lint", str(file)]) == 2 and "R003" in "".join(capsys.readouterr())
    file.write_bytes(gzip.compress(TEXT.encode() + b" " * 800_000))  # less than the most, from a file of a thousandth
    assert main(["lint", "--no-config", str(file)]) == 0
    capsys.readouterr()
    monkeypatch.setattr("hlotool.text.input_files._UNSUSPECTED", 1 << 19)
    assert main(["lint", str(file)]) == 2 and "R003" in "".join(capsys.readouterr())
    assert main(["fmt", "/dev/zero"]) == 2 and "R003" in "".join(capsys.readouterr())


WRITER = """
import itertools, pathlib, sys
from hlotool.cli.whole_files import write_whole
path, size = pathlib.Path(sys.argv[1]), int(sys.argv[2])
print("ready", flush=True)
for n in itertools.count():
    write_whole(path, bytes([65 + n % 2]) * size)
"""


def test_kills_leave_whole_files_and_nothing_else(tmp_path: pathlib.Path) -> None:
    file, size, dice = tmp_path / "m.hlo", 4_000_000, random.Random(1)
    file.write_bytes(b"A" * size)
    for _ in range(200 if NIGHTLY else 8):
        process = subprocess.Popen([sys.executable, "-c", WRITER, str(file), str(size)], stdout=subprocess.PIPE)
        assert process.stdout is not None and process.stdout.readline() == b"ready\n"
        time.sleep(dice.uniform(0.0, 0.05))
        process.kill()
        process.communicate()
        data = file.read_bytes()
        assert data in (b"A" * size, b"B" * size)
        assert os.listdir(tmp_path) == ["m.hlo"]


SLOW_MOVE = """
import os, time
move = os.replace
def slowly(*names):
    while not os.path.exists(os.environ["MAY_MOVE"]):
        time.sleep(0.01)
    move(*names)
os.replace = slowly
"""


@pytest.mark.skipif(not hasattr(os, "O_TMPFILE"), reason="files without names are Linux's")
def test_a_kill_between_naming_and_moving_leaves_nothing(tmp_path: pathlib.Path) -> None:
    folder, may_move = tmp_path / "folder", tmp_path / "may-move"
    folder.mkdir()
    file = folder / "m.hlo"
    file.write_bytes(b"B" * 8)
    words = [sys.executable, "-c", SLOW_MOVE + WRITER, str(file), "8"]
    with subprocess.Popen(words, stdout=subprocess.PIPE, start_new_session=True,
                          env={**os.environ, "MAY_MOVE": str(may_move)}) as process:
        wait_until(lambda: len(os.listdir(folder)) == 2)
        os.killpg(process.pid, signal.SIGKILL)
    may_move.touch()
    wait_until(lambda: os.listdir(folder) == ["m.hlo"])
    assert file.read_bytes() in (b"A" * 8, b"B" * 8)


@pytest.mark.skipif(not NIGHTLY, reason="some minutes of processor time")
@pytest.mark.parametrize("command", ["fmt -w", "lint --fix --unsafe-fixes --select ALL"])
def test_kills_of_commands(command: str, tmp_path: pathlib.Path) -> None:
    rows = "".join(f"  a{n} = f32[2,3]{{1,0}} negate(a{n - 1})\n  d{n} = f32[2,3]{{1,0}} tanh(a{n})\n"
                   for n in range(1, 53_000))
    text = ("HloModule m\nENTRY e {\n  a0 = f32[2,3]{1,0} parameter(0)\n"
            f"{rows}  ROOT r = f32[2,3]{{1,0}} copy(a52999)\n}}\n")
    file, dice, seen = tmp_path / "m.hlo", random.Random(2), set[str]()
    words = [sys.executable, "-m", "hlotool", *command.split(), str(file)]
    file.write_text(text)
    start = time.monotonic()
    subprocess.run(words, check=False, capture_output=True)
    seconds, new = time.monotonic() - start, file.read_text()
    assert len(text) > 4_000_000 and new != text
    for _ in range(100):
        file.write_text(text)
        process = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        time.sleep(dice.uniform(0.3, 1.0) * seconds)
        process.send_signal(signal.SIGKILL)
        process.wait()
        found = file.read_text()
        assert found in (text, new) and os.listdir(tmp_path) == ["m.hlo"]
        seen.add("new" if found == new else "old")
    assert "old" in seen


@pytest.mark.parametrize("named", [False, True])
def test_a_fork_that_hangs_costs_no_file(named: bool, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fork beside threads may wait for a lock that nobody gives back, before or after it has named the file."""
    from hlotool.cli import whole_files

    own, name, hung = os.getpid(), whole_files._name, tmp_path / "hung"

    def hang(handle: int, path: pathlib.Path) -> None:
        if os.getpid() != own:
            if named:
                name(handle, path)
            hung.write_text(str(os.getpid()))
            time.sleep(60)
        name(handle, path)

    monkeypatch.setattr(whole_files, "_name", hang)
    monkeypatch.setattr(whole_files, "_PATIENCE", 0.3)
    target = tmp_path / "x.hlo"
    target.write_text("before")
    write_whole(target, b"after")
    assert target.read_bytes() == b"after"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["hung", "x.hlo"]
    with pytest.raises(ProcessLookupError):
        os.kill(int(hung.read_text()), 0)


def test_what_a_killed_writer_left_is_cleared(tmp_path: pathlib.Path) -> None:
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    (tmp_path / f".m.hlo.hlotool-{gone.pid}~").write_text("half")
    (tmp_path / f".m.hlo.hlotool-{os.getppid()}~").write_text("another writer at work")
    write_whole(tmp_path / "m.hlo", b"whole")
    assert sorted(os.listdir(tmp_path)) == [f".m.hlo.hlotool-{os.getppid()}~", "m.hlo"]


def test_writing_beside_threads_warns_of_nothing(tmp_path: pathlib.Path) -> None:
    file = tmp_path / "a.hlo"
    file.write_text("before")
    code = ("import os, sys, pathlib, threading, warnings\n"
            "os.register_at_fork(before=lambda: warnings.warn('os.fork() was called', RuntimeWarning))\n"
            "threading.Thread(target=threading.Event().wait, daemon=True).start()\n"
            "from hlotool.cli.whole_files import write_whole\n"
            "write_whole(pathlib.Path(sys.argv[1]), b'after')\n")
    done = subprocess.run([sys.executable, "-W", "error", "-c", code, str(file)], capture_output=True, text=True,
                          check=False)
    assert (done.returncode, done.stderr, file.read_text()) == (0, "", "after")


@pytest.mark.parametrize("number", [errno.EPERM, errno.EACCES, errno.EIO, errno.ENOSPC])
def test_why_a_file_could_not_be_written_is_said(number: int, tmp_path: pathlib.Path,
                                                  monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "m.hlo"
    file.write_text("before")

    def refuse(*names: object, **rest: object) -> None:
        raise OSError(number, "refused")

    monkeypatch.setattr(os, "replace", refuse)
    with pytest.raises(OSError) as raised:
        write_whole(file, b"after")
    assert raised.value.errno == number and file.read_text() == "before"
