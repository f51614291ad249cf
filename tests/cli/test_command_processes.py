"""What ends a command ends every process of it, at once, and what was found until then is said."""

from __future__ import annotations

import os
import pathlib
import signal
import subprocess
import sys

import pytest
from waiting import PATIENCE, wait_until

TEXT = "HloModule m\nENTRY e { x = f32[2] parameter(0)\n  d = f32[2] tanh(x)\n  ROOT y = f32[2] negate(x) }\n"
#: reads one module, then waits as long as a test lasts; says who it is in a file
SLOW = """
import os, pathlib, time
from hlotool.cli.inputs import module_of

def slow(given):
    if given.filename.endswith("a.hlo"):
        return module_of(given)
    (pathlib.Path(HERE) / f"{os.getpid()}.pid").write_text("begun")
    time.sleep(3600)

def told(each):
    for found in each:  # asked for the next one, the command has noted this one
        yield found
        (pathlib.Path(HERE) / "a.noted").touch()

def take(loaded, args):
    slow(loaded.input)
"""
LINT = "from hlotool.cli import main, lint_run; import slow_reader, sys; lint_run.module_of = slow_reader.slow\n" \
    "each = lint_run._each; lint_run._each = lambda *given: slow_reader.told(each(*given))\n"
ROUNDTRIP = """import sys
from hlotool.cli import main, roundtrip
from hlotool import process
ask = process.answers
process.answers = lambda task, *rest: ask("slow_reader:take", *rest)
"""
COMMANDS = {"lint": (LINT, ["lint", "--no-config", "-j", "2"]), "roundtrip": (ROUNDTRIP, ["roundtrip", "-j", "2"])}


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    (tmp_path / "path").mkdir()
    (tmp_path / "path" / "slow_reader.py").write_text(SLOW.replace("HERE", repr(str(tmp_path))))
    (tmp_path / "files").mkdir()
    for name in ("a", "b", "c"):
        (tmp_path / "files" / f"{name}.hlo").write_text(TEXT)
    return tmp_path


def begun(folder: pathlib.Path, number: int, noted: int) -> list[int]:
    """Return the processes at work, once there are so many, and the command has noted so many results."""
    wait_until(lambda: len(list(folder.glob("*.pid"))) >= number and len(list(folder.glob("*.noted"))) >= noted)
    return sorted(int(p.stem) for p in folder.glob("*.pid"))


def is_alive(process: int) -> bool:
    try:
        return "\nState:\tZ" not in pathlib.Path(f"/proc/{process}/status").read_text()
    except OSError:
        return False


@pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGKILL])
@pytest.mark.parametrize("command", COMMANDS)
def test_no_process_is_left(command: str, number: signal.Signals, folder: pathlib.Path) -> None:
    setup, words = COMMANDS[command]
    code = f"{setup}if __name__ == '__main__': sys.exit(main({[*words, 'files']!r}))"
    environment = {**os.environ, "PYTHONPATH": str(folder / "path")}
    with subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environment, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True, start_new_session=True) as process:
        processes = begun(folder, 2, int(command == "lint"))
        process.send_signal(number)
        out, err = process.communicate(timeout=PATIENCE)
    wait_until(lambda: not any(map(is_alive, processes)))  # left alone they would sleep for an hour
    if number is signal.SIGINT:
        assert process.returncode == 130 and "Traceback" not in err
        assert f"hlotool {command}: interrupted; " in err and (command != "lint" or "1 of 3 files" in err)
        assert command != "lint" or "W103" in out


def test_nothing_is_imported_from_where_a_command_runs(tmp_path: pathlib.Path) -> None:
    for name in ("numpy", "pickle", "struct", "multiprocessing", "hlotool", "conftest", "sitecustomize", "jaxlib"):
        (tmp_path / f"{name}.py").write_text("open('planted', 'w').write('ran')")
    for n in range(3):
        (tmp_path / f"m{n}.hlo").write_text(TEXT)
    tool = ["-I", "-c", "import sys; from hlotool.cli.main import main; sys.exit(main())"]
    more = (["roundtrip", "-j", "2", "."], ["convert", "m0.hlo"], ["run", "m0.hlo"], ["conform", "."])
    for words in (["lint", "-j", "2", "."], *(more if os.environ.get("HLOTOOL_NIGHTLY") else ())):
        ran = subprocess.run([sys.executable, *tool, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert ran.returncode in (0, 1), ran.stderr
        assert not (tmp_path / "planted").exists(), words


def test_python_m_imports_nothing_from_where_it_runs(tmp_path: pathlib.Path) -> None:
    """But for what Python imports itself before it begins with a module (contextlib and what that needs)."""
    for name in ("argparse", "typing", "re", "numpy", "json", "struct", "tomllib", "difflib"):
        (tmp_path / f"{name}.py").write_text("open('planted', 'w').write('ran')")
    (tmp_path / "m.hlo").write_text(TEXT)
    ran = subprocess.run([sys.executable, "-m", "hlotool", "lint", "m.hlo"], cwd=tmp_path, capture_output=True,
                         text=True, check=False)
    assert ran.returncode in (0, 1) and not (tmp_path / "planted").exists(), ran.stderr


def test_what_one_call_allows_is_forgotten(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from hlotool.cli import main

    (tmp_path / "m.hlo").write_text("no module")
    for before in (None, "mine"):
        monkeypatch.delenv("HLOTOOL_ALLOW_CUSTOM_CALLS", raising=False)
        if before is not None:
            monkeypatch.setenv("HLOTOOL_ALLOW_CUSTOM_CALLS", before)
        assert main(["run", "--allow-custom-calls", "all", str(tmp_path / "m.hlo")]) != 0
        assert os.environ.get("HLOTOOL_ALLOW_CUSTOM_CALLS") == before


def test_nothing_in_the_tested_folder_runs(tmp_path: pathlib.Path) -> None:
    cases = tmp_path / "cases"
    cases.mkdir()
    code = f"open({str(tmp_path / 'planted')!r}, 'w').write('ran')"
    for name in ("conftest", "__init__", "test_a", "setup", "numpy"):
        (cases / f"{name}.py").write_text(code)
    (cases / "test_a.txt").write_text(f">>> {code}\n")
    (cases / "pytest.ini").write_text("[pytest]\naddopts = -p test_a\npython_files = *.py\n")
    (cases / "m.hlo").write_text(TEXT)
    tool = ["-I", "-c", "import sys; from hlotool.cli.main import main_conform; sys.exit(main_conform())"]
    more = (["-j1", "."], [str(cases)]) if os.environ.get("HLOTOOL_NIGHTLY") else ()
    for words in (["."], *more, ["test_a.txt", "m.hlo"], ["test_a.py", "m.hlo"]):
        ran = subprocess.run([sys.executable, *tool, "--executors=reference", *words], cwd=cases,
                             capture_output=True, text=True, check=False)
        assert not (tmp_path / "planted").exists(), words
        assert "2 passed" in ran.stdout or "test_a" in words[0], ran.stdout + ran.stderr


def test_cases_that_cannot_be_read_are_no_interrupt(tmp_path: pathlib.Path) -> None:
    from hlotool.cli import main

    (tmp_path / "a.hlo").write_bytes(b"// name: \x00\n" + bytes(range(256)))
    assert main(["conform", str(tmp_path), "--executors", "reference", "-q"]) == 2


def test_a_case_that_fails_now_and_then_is_flaky(monkeypatch: pytest.MonkeyPatch) -> None:
    from hlotool.conformance import judge as room
    from hlotool.conformance.case import ConformanceCase
    from hlotool.conformance.judge import CaseOutcome, Status, asked_again

    case = ConformanceCase("c", "s", "negate", "f32", TEXT)
    crash = CaseOutcome(Status.CRASH, "exit code -11")
    later = [CaseOutcome(Status.TIME_OUT, "late"), CaseOutcome(Status.PASS)]
    monkeypatch.setattr(room, "judge", lambda *_: later.pop(0))
    found = asked_again(case, "pjrt:cpu", crash)
    assert found.status is Status.FLAKY and found.detail.startswith("failed 2 of 3 times (crash, time-out): exit")
    monkeypatch.setattr(room, "judge", lambda *_: crash)
    assert asked_again(case, "pjrt:cpu", crash) is crash
    # What is late costs its whole limit: asked once more, and not at all for other arguments of the same program.
    asked: list[str] = []
    late = CaseOutcome(Status.TIME_OUT, "late")
    monkeypatch.setattr(room, "judge", lambda case, *_: asked.append(case.id) or late)
    assert asked_again(case, "pjrt:cpu", late) is late and asked == ["c"]
    unsupported = CaseOutcome(Status.UNSUPPORTED, "no")
    assert asked_again(case, "pjrt:cpu", unsupported) is unsupported
