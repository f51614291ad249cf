"""A confined child computes, and neither writes, nor starts programs, nor reaches others; see SECURITY.md."""

from __future__ import annotations

import os
import pathlib
from collections.abc import Iterator

import pytest

from hlotool.cli import main
from hlotool.execution import executor_named
from hlotool.process import SWITCH, Child, Refusal, sandbox_layers, scratch_folder, shared_child
from hlotool.process.sandbox import landlock_version

pytestmark = pytest.mark.skipif(len(sandbox_layers()) < 2, reason="a sandbox needs Landlock and seccomp")

TEXT = "HloModule m\nENTRY e { x = f32[2] parameter(0)\n  ROOT y = f32[2] tanh(x) }\n"


@pytest.fixture(params=[(), ("json",)], ids=["alone", "forked"])
def child(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> Iterator[Child]:
    (tmp_path / "own").mkdir()
    made = Child({}, request.param, (str(tmp_path / "own"),))
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
    assert main(["run", str(tmp_path / "m.hlo"), "--executor", "stablehlo"]) == 0
    assert asked and all(asked)
    asked.clear()
    assert main(["run", str(tmp_path / "m.hlo"), "--executor", "stablehlo", "--no-sandbox"]) == 0
    assert asked and not any(asked) and SWITCH not in os.environ


def test_the_version_tells_what_confines(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--version", "--verbose"]) == 0
    assert f"sandbox of programs that run: {', '.join(sandbox_layers())}" in capsys.readouterr().out
