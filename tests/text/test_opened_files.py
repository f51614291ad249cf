"""Files that a user names, or that were found in a folder, are opened without waiting for ever or leading elsewhere."""

from __future__ import annotations

import ast
import errno
import os
import pathlib
import shutil
import sys
import threading
from collections.abc import Callable, Iterator

import pytest

import hlotool
from hlotool.cli import main
from hlotool.conformance.expectations import load_expectations
from hlotool.conformance.model_cuts import cut_model
from hlotool.conformance.samples import read_cases
from hlotool.corpus.corpus_inputs import listed
from hlotool.diagnostics import HloError
from hlotool.execution import executor_named
from hlotool.execution.array_files import read_array_file
from hlotool.process import Refusal
from hlotool.text.folder_files import files_below, found_in, open_regular
from hlotool.text.input_files import bytes_of
from hlotool.text.named_files import open_input
from hlotool.view.playground import pyodide_files

PRODUCT = pathlib.Path(hlotool.__file__).parent
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
    with pytest.raises(HloError, match="no process writes to this pipe"):
        bytes_of(tmp_path / "pipe")


def test_a_pipe_without_a_name_ends_with_its_writer() -> None:
    reading, writing = os.pipe()
    os.close(writing)
    begin, stream = open_input(f"/dev/fd/{reading}")
    with stream:
        assert begin + stream.read() == b""
    os.close(reading)


def test_an_opened_file_has_its_name(folder: pathlib.Path) -> None:
    with open_regular(folder / "inner" / "m.hlo", str(folder)) as stream:
        assert os.fspath(stream.name) == str(folder / "inner" / "m.hlo") and stream.read() == TEXT.encode()


def test_what_is_no_regular_file_is_refused(tmp_path: pathlib.Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path / "pipe", tmp_path, pathlib.Path(os.devnull)):
        with pytest.raises(OSError, match="no regular file") as caught:
            open_regular(path)
        assert caught.value.errno == errno.EINVAL
    with pytest.raises(IsADirectoryError) as refused:
        open_input(tmp_path)
    assert refused.value.filename == str(tmp_path)


def zero(path: pathlib.Path) -> None:
    path.symlink_to("/dev/zero")


def _plugin(path: pathlib.Path) -> object:
    return executor_named(f"pjrt:{path}").check()


def _configured(path: pathlib.Path) -> object:
    from hlotool.execution.pjrt_clients import ClientName, client

    return client(ClientName(str(path)))


def _corpus(path: pathlib.Path) -> object:
    return [given.read() for given in listed([str(path)])]


#: what reads a file that a user names, and its name
READERS: dict[str, Callable[[pathlib.Path], object]] = {
    "plugin.json": _plugin, "plugin.so": _plugin, "again.json": _configured, "a.npy": read_array_file,
    "a.npz": read_array_file, "a.safetensors": read_array_file, "b.bundle": lambda p: _run("bundle", "run", str(p)),
    "c.bundle": lambda p: _run("run", str(p)), "pyodide.tgz": pyodide_files, "corpus.hlo": _corpus,
    "corpus.tar.gz": _corpus, "corpus.txt": lambda p: _corpus(pathlib.Path("/dev/stdin")),
    "expected.toml": load_expectations,
    "cases.hlo": lambda p: list(read_cases(p, "")), "model.hlo": cut_model,
    "config.toml": lambda p: _run("lint", "--config", str(p), "m.hlo")}


def _run(*words: str) -> None:
    if main(words) == 2:
        raise OSError


@pytest.mark.parametrize("make", [os.mkfifo, zero], ids=["pipe", "zero"])
@pytest.mark.parametrize("name", READERS)
def test_what_never_ends_is_no_file(name: str, make: Callable[[pathlib.Path], None], tmp_path: pathlib.Path,
                                    monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("hlotool.text.named_files._PATIENCE", 0.1)
    monkeypatch.setattr("hlotool.text.input_files.MOST_BYTES", 1 << 20)
    make(tmp_path / name)
    with pytest.raises((HloError, OSError, Refusal)):
        READERS[name](tmp_path / name)


#: functions that open a file by its path alone, and why nobody else can have put something there
PLAIN = {
    "cli/code_catalogue.py:_defines_codes": "our own code",
    "cli/conform.py:_reporting": "reports that were written into a temporary folder",
    "cli/explain.py:_examples": "our samples",
    "cli/lsp.py:config_of": "settings of editors that come with hlotool",
    "cli/whole_files.py:_check_unchanged": "a regular file, as it was when it was read",
    "conformance/expectations.py:shipped": "our expectations",
    "conformance/suites.py:descriptions": "our suites",
    "docs/site.py:manual_pages": "our manual",
    "docs/site.py:write_site": "our pictures",
    "linting/plugins.py:_names_group": "packages that are installed",
    "process/memory.py:default_memory": "of the system",
    "process/memory.py:free_memory": "of the system",
    "process/memory.py:taken_memory": "of the system",
    "process/own_files.py:read_plain": "looks at what it opened",
    "process/reaper.py:descendants": "of the system",
    "process/work_clock.py:_times": "of the system",
    "text/folder_files.py:open_regular": "looks at what it opened",
    "view/playground/page_files.py:packed_tool": "our own code",
}


def test_files_are_opened_by_the_functions_that_look_at_them() -> None:
    found = {}
    for file in sorted(PRODUCT.rglob("*.py")):
        for function, call in _calls_that_open(ast.parse(file.read_text("utf-8"))):
            found[f"{file.relative_to(PRODUCT)}:{function}"] = ast.unparse(call)
    assert {place: found[place] for place in found if place not in PLAIN} == {}
    assert sorted(PLAIN) == sorted(found), "an exception that nobody needs"


def test_links_in_a_circle_are_no_error_of_python() -> None:
    """Path.resolve raises RuntimeError for them; only of folders that are there is it asked."""
    asking = (file for file in PRODUCT.rglob("*.py") if ".resolve()" in file.read_text("utf-8"))
    assert {str(file.relative_to(PRODUCT)) for file in asking} == {"docs/page_server.py", "serve/mcp/agent_server.py"}


@pytest.mark.parametrize("command", ["lint", "fmt", "convert", "cost", "diff x", "bisect", "run", "conform",
                                     "corpus lint -o out", "view -o v.html", "corpus cost -o out2 -n 1"])
def test_a_link_to_itself_is_a_file_that_cannot_be_read(command: str, tmp_path: pathlib.Path,
                                                        monkeypatch: pytest.MonkeyPatch,
                                                        capfd: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    assert main([*command.split(), "loop"]) in (1, 2)
    assert "a bug in" not in capfd.readouterr().err


def _calls_that_open(tree: ast.AST, function: str = "") -> Iterator[tuple[str, ast.Call]]:
    for node in ast.iter_child_nodes(tree):
        name = node.name if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) else function
        if isinstance(node, ast.Call) and _opens_a_path(node):
            yield function, node
        yield from _calls_that_open(node, name)


def _opens_a_path(call: ast.Call) -> bool:
    said = ast.unparse(call)
    if isinstance(call.func, ast.Attribute):
        return call.func.attr in ("read_text", "read_bytes") and "resources.files" not in said
    is_handle = any(k.arg == "closefd" for k in call.keywords)
    return isinstance(call.func, ast.Name) and call.func.id == "open" and not is_handle
