"""Files of ours in folders of others: no links, pipes, devices or other names; whole, bounded, locked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from hlotool.diagnostics import HloError
from hlotool.process import OwnFiles, own_files, read_plain

_OTHERS: dict[str, Callable[[Path, Path], None]] = {
    "link": lambda path, theirs: path.symlink_to(theirs), "hard link": lambda path, theirs: os.link(theirs, path),
    "dangling link": lambda path, theirs: path.symlink_to(theirs.with_name("absent")),
    "device": lambda path, _: path.symlink_to("/dev/zero"), "pipe": lambda path, _: os.mkfifo(path),
    "folder": lambda path, _: path.mkdir()}


@pytest.fixture
def files(tmp_path: Path) -> OwnFiles:
    (tmp_path / "ours").mkdir()
    return OwnFiles(tmp_path / "ours", "R130", "another folder")


@pytest.mark.parametrize("name", ["a.json", "in/a.json"])
@pytest.mark.parametrize("what", _OTHERS)
def test_what_is_not_ours_is_refused_by_every_way_to_it(files: OwnFiles, what: str, name: str, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.write_text("precious")
    (files.path / name).parent.mkdir(exist_ok=True)
    _OTHERS[what](files.path / name, theirs)
    for use in (lambda: files.read(name), lambda: files.write(name, b"new"), lambda: files.append(name, 1),
                lambda: files.require(name), lambda: list(files.records(name)),
                lambda: files.lock(name, "").__enter__()):
        with pytest.raises(HloError, match=f"{name} in it is no plain file of its own .R130.") as caught:
            use()
        assert caught.value.diagnostics[0].help == "another folder"
    assert theirs.read_text() == "precious" and not (tmp_path / "absent").exists()
    assert [n for n in files.names("in" if "/" in name else "") if "unfinished" in n] == []


def test_a_folder_on_the_way_is_no_link(files: OwnFiles, tmp_path: Path) -> None:
    theirs = tmp_path / "theirs"
    theirs.mkdir()
    (theirs / "part-1").write_text("precious")
    (files.path / "in").symlink_to(theirs)
    for use in (lambda: files.read("in/part-1"), lambda: files.write("in/b", b"new"), lambda: files.names("in"),
                lambda: files.remove_others("in", (), re.compile("part-.*")), lambda: files.require("in/part-1")):
        with pytest.raises(HloError, match="in in it is no folder of its own"):
            use()
    assert [p.read_text() for p in theirs.iterdir()] == ["precious"]


def test_what_was_written_is_read(files: OwnFiles) -> None:
    assert files.read("in/a") is None and files.record("a") is None and files.names("in") == []
    files.write("in/a", b"one")
    files.write("in/a", b"two")
    assert files.read("in/a") == b"two" and files.names("in") == ["a"]
    for value in ({"a": 1}, ["b", True]):
        files.append("lines", value)
    with (files.path / "lines").open("ab") as cut:
        cut.write(b'{"cut')
    assert list(files.records("lines")) == [{"a": 1}, ["b", True]]
    files.write("deep", b"[" * 100_000)
    assert files.record("deep") is None
    assert OwnFiles(files.path / "new" / "folder", "R130").read("x") is None


def test_sizes_are_bounded(files: OwnFiles) -> None:
    files.write("a", b"12345")
    assert files.read("a", 5) == b"12345"
    with pytest.raises(HloError, match="too large"):
        files.read("a", 4)
    os.truncate(files.path / "a", own_files.MOST_BYTES + 1)
    with pytest.raises(HloError, match="too large"):
        files.require("a")


def test_a_writer_that_is_stopped_leaves_the_old_file(files: OwnFiles, monkeypatch: pytest.MonkeyPatch) -> None:
    files.write("a", b"old")
    monkeypatch.setattr(os, "fsync", lambda handle: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        files.write("a", b"new")
    assert files.read("a") == b"old" and files.names() == ["a"]


def test_only_whole_names_of_regular_files_are_removed(files: OwnFiles) -> None:
    for name in ("part-1", "part-2", ".unfinished-12-part-3", "part-1.tex", "apart-1", ".unfinished-x-part-3"):
        files.write(f"in/{name}", b"x")
    (files.path / "in" / "part-9").mkdir()
    files.remove_others("in", {"part-2"}, re.compile(r"part-\d"))
    assert files.names("in") == [".unfinished-x-part-3", "apart-1", "part-1.tex", "part-2", "part-9"]


def test_one_process_holds_a_lock(files: OwnFiles) -> None:
    code = (f"import pathlib\nfrom hlotool.process import OwnFiles\n"
            f"with OwnFiles(pathlib.Path({str(files.path)!r}), 'R130').lock('.lock', 'busy'): print('held')")
    files.write(".lock", b"kept")
    with files.lock(".lock", "busy"):
        held = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        assert held.returncode and "busy" in held.stderr
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "held\n"
    assert files.read(".lock") == b"kept", "a lock is never emptied"


@pytest.mark.parametrize(("make", "why"), [
    (os.mkfifo, "no regular file"), (lambda path: path.symlink_to("/dev/zero"), "no regular file"),
    (lambda path: path.mkdir(), "Is a directory"), (lambda path: None, "No such file"),
    (lambda path: path.write_bytes(b"12345"), "more than 4 bytes")])
def test_named_files_are_regular_and_bounded(make: Callable[[Path], None], why: str, tmp_path: Path) -> None:
    make(tmp_path / "given")
    thread = threading.Timer(20, os._exit, (3,))
    thread.daemon = True
    thread.start()
    with pytest.raises(HloError, match=f"the baseline cannot be read: .*{why}.* .C006."):
        read_plain(tmp_path / "given", "C006", "the baseline", 4)
    thread.cancel()


def test_a_named_file_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "there").write_bytes(b"text")
    (tmp_path / "here").symlink_to(tmp_path / "there")
    assert read_plain(tmp_path / "here", "C006", "the baseline") == b"text"
