"""Files that a user names, or that were found in a folder, are opened without waiting for ever or leading elsewhere."""

from __future__ import annotations

import errno
import os
import pathlib
import shutil
import sys
import threading
from collections.abc import Callable

import pytest

from hlotool.diagnostics import HloError
from hlotool.text.folder_files import files_below, found_in, open_regular
from hlotool.text.input_files import bytes_of
from hlotool.text.named_files import open_input

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="pipes with names")
TEXT = "HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }\n"


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """A folder with a file, beside one that is none of its."""
    made = tmp_path / "given"
    (made / "inner").mkdir(parents=True)
    (made / "inner" / "m.hlo").write_text(TEXT)
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "m.hlo").write_text("secret")
    return made


def by_a_link(file: pathlib.Path) -> None:
    file.unlink()
    file.symlink_to(file.parents[2] / "elsewhere" / "m.hlo")


def by_a_link_to_a_folder(file: pathlib.Path) -> None:
    shutil.rmtree(file.parent)
    file.parent.symlink_to(file.parents[2] / "elsewhere")


def by_a_pipe(file: pathlib.Path) -> None:
    file.unlink()
    os.mkfifo(file)


def by_a_device(file: pathlib.Path) -> None:
    file.unlink()
    file.symlink_to("/dev/zero")


@pytest.mark.parametrize("exchange", [by_a_link, by_a_link_to_a_folder, by_a_pipe, by_a_device])
def test_what_is_exchanged_after_it_was_found_is_not_read(folder: pathlib.Path,
                                                          exchange: Callable[[pathlib.Path], None]) -> None:
    [file] = files_below(str(folder))
    assert found_in(file) == str(folder) and bytes_of(pathlib.Path(file)) == TEXT.encode()
    exchange(pathlib.Path(file))
    with pytest.raises(HloError, match="R001"):
        bytes_of(pathlib.Path(file))


def test_a_link_within_the_folder_is_followed(folder: pathlib.Path) -> None:
    (folder / "again.hlo").symlink_to("inner/m.hlo")
    for file in files_below(str(folder)):
        assert bytes_of(pathlib.Path(file)) == TEXT.encode()


def test_a_file_that_somebody_names_may_be_a_link(folder: pathlib.Path) -> None:
    by_a_link(folder / "inner" / "m.hlo")
    begin, stream = open_input(folder / "inner" / "m.hlo")
    with stream:
        assert begin + stream.read() == b"secret"


@pytest.mark.parametrize("pause", [0.0, 0.2], ids=["at once", "later"])
def test_a_pipe_is_waited_for_while_somebody_writes_to_it(tmp_path: pathlib.Path, pause: float) -> None:
    os.mkfifo(tmp_path / "pipe")
    opened = threading.Event()

    def write() -> None:
        with (tmp_path / "pipe").open("wb", buffering=0) as out:
            opened.wait(pause)
            out.write(b"one ")
            opened.wait(pause)
            out.write(b"two")

    writer = threading.Thread(target=write, daemon=True)
    writer.start()
    assert bytes_of(tmp_path / "pipe") == b"one two"
    writer.join()


def test_a_pipe_without_a_writer_is_told(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlotool.text.named_files._PATIENCE", 0.1)
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(HloError, match="nobody writes to this pipe"):
        bytes_of(tmp_path / "pipe")


def test_a_pipe_without_a_name_ends_with_its_writer() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    begin, stream = open_input(f"/dev/fd/{reading}")
    with stream:
        assert begin + stream.read() == b""
    os.close(reading)


def test_what_is_no_regular_file_is_refused(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, pathlib.Path(os.devnull)):
        with pytest.raises(OSError, match="no regular file") as caught:
            open_regular(path)
        assert caught.value.errno == errno.EINVAL
    with pytest.raises(IsADirectoryError) as refused:
        open_input(tmp_path)
    assert refused.value.filename == str(tmp_path)
