"""One name for one thing: options that several commands have, and their old names."""

from __future__ import annotations

import argparse
import json
import pathlib

import pytest

from hlotool.cli import main
from hlotool.cli.commands import COMMANDS
from hlotool.cli.old_options import OLD_OPTIONS, renamed
from hlotool.cli.parsers import parser_of

#: names that nothing may have: an option of the house stands for the same
_NOT_TAKEN = {"--executor", "--processes", "--top", "--deadline", "--time", "--workers", "--timeout", "-n"}


def _options(command: str) -> dict[str, argparse.Action]:
    return parser_of(command, f"hlotool {command}")._option_string_actions


@pytest.mark.parametrize("command", COMMANDS)
def test_options_have_the_names_of_the_house(command: str) -> None:
    given = _options(command)
    assert not _NOT_TAKEN & set(given)
    assert {"--color", "--time-limit", "--memory-limit"} <= set(given)
    assert ("-j" in given) == ("--jobs" in given)


@pytest.mark.parametrize(("command", "old"), [(c, o) for c, names in OLD_OPTIONS.items() for o in names])
def test_an_old_name_is_understood_with_a_warning(command: str, old: str, capsys: pytest.CaptureFixture[str]) -> None:
    new = OLD_OPTIONS[command][old]
    assert old not in _options(command) and new in _options(command)
    for words in ([old, "1", "x"], [f"{old}=1", "x"]):
        assert renamed(command, words, "hlotool") == [f"{new}=1", "x"]
        assert f"{old} is called {new} now" in capsys.readouterr().err
    assert renamed(command, ["--", old, "1"], "hlotool") == ["--", old, "1"]
    assert renamed(command, [old], "hlotool") == [old] and not capsys.readouterr().err


def test_old_names_do_what_the_new_ones_do(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                                           capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "m.hlo").write_text("ENTRY e {\n  x = f32[2] parameter(0)\n  ROOT n = f32[2] negate(x)\n}\n")
    found = []
    for words in (["--executors", "reference"], ["--executor", "reference"]):
        assert main(["run", "m.hlo", *words, "--json"]) == 0
        said = capsys.readouterr()
        found.append(json.loads(said.out))
        assert bool(said.err) == (words[0] == "--executor")
    assert found[0] == found[1]
    assert main(["compare", "m.hlo", "--executors", "reference", "stablehlo", "--inputs", "plain"]) == 0
    assert "called random now" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["explain", "find", "ops"])
def test_color_is_an_option_of_every_command(command: str, capsys: pytest.CaptureFixture[str],
                                             monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert main(["run", "--color", "always", "no such file.hlo"]) == 2
    assert "\x1b[" in capsys.readouterr().err
    assert main([command, "--color", "never", "no such file.hlo"]) == 2
    assert "\x1b[" not in capsys.readouterr().err
    monkeypatch.setenv("FORCE_COLOR", "1")
    assert main(["run", "no such file.hlo"]) == 2
    assert "\x1b[" in capsys.readouterr().err
