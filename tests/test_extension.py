"""The package of the page "Extend it" is installed, and each of its parts is found by the commands that name it."""

from __future__ import annotations

import pathlib
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable

import pytest

ROOT = pathlib.Path(__file__).parents[1]
SOURCE = ROOT / "tests" / "extension"
PAGE = (ROOT / "hlotool" / "docs" / "extending.md").read_text("utf-8")
Command = Callable[..., "subprocess.CompletedProcess[str]"]

MODULE = """HloModule m

ENTRY e {
  x = s32[4] parameter(0)
  k = s32[4] custom-call(x), custom_call_target="house_minus"
  n = s32[4] negate(k)
  i = s64[4] iota(), iota_dimension=0
  c = s32[4] convert(i)
  ROOT r = s32[4] add(n, c)
}
"""


def install(site: pathlib.Path, entry_points: dict[str, dict[str, str]] | None = None) -> None:
    """Put the package into a folder as an installer does: its files, and .dist-info with the entry points."""
    project = tomllib.loads((SOURCE / "pyproject.toml").read_text("utf-8"))["project"]
    shutil.copytree(SOURCE / "house_hlo", site / "house_hlo", ignore=shutil.ignore_patterns("__pycache__"))
    info = site / f"house_hlo-{project['version']}.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {project['name']}\nVersion: {project['version']}\n")
    points = entry_points or project["entry-points"]
    (info / "entry_points.txt").write_text("".join(
        f"[{group}]\n" + "".join(f"{name} = {value}\n" for name, value in each.items()) + "\n"
        for group, each in points.items()))


@pytest.fixture
def command(tmp_path: pathlib.Path) -> Command:
    """Runs a command where the package is installed, in a folder with a module and a configuration."""
    install(tmp_path / "site")
    (tmp_path / "m.hlo").write_text(MODULE)
    (tmp_path / "hlotool.toml").write_text('plugins = ["house"]\n')

    def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
        site = str(tmp_path / "site")
        start = f"import sys; sys.path.insert(0, {site!r}); from hlotool.cli import main; sys.exit(main())"
        done = subprocess.run([sys.executable, "-c", start, *words], cwd=tmp_path, capture_output=True, text=True,
                              check=False)
        assert done.returncode == code, (words, done.stdout, done.stderr)
        return done

    return run


def test_the_page_shows_the_package_as_it_is() -> None:
    shown = re.findall(r"```(?:python|toml)\n(.*?)```", PAGE, re.S)
    files = [SOURCE / "pyproject.toml", *(SOURCE / "house_hlo" / f"{n}.py" for n in (
        "rules", "executors", "kernels", "passes"))]
    assert shown == [file.read_text("utf-8") for file in files]


def test_a_rule(command: Command) -> None:
    assert "s64 is wide [H001]" in command("lint", "--select", "H001", "--format", "concise", "m.hlo").stdout
    assert "H001" not in command("lint", "--no-config", "--format", "concise", "m.hlo").stdout


def test_the_rule_keeps_its_word(command: Command, tmp_path: pathlib.Path) -> None:
    """Bad has the finding and Good has none."""
    text = (SOURCE / "house_hlo" / "rules.py").read_text("utf-8")
    for word, count in (("Bad", 1), ("Good", 0)):
        found = re.search(rf"{word}\n +(.*)\n", text)
        assert found is not None
        (tmp_path / "m.hlo").write_text(found[1])
        done = command("lint", "--select", "H001", "--format", "concise", "m.hlo")
        assert done.stdout.count("[H001]") == count


def test_an_executor(command: Command, tmp_path: pathlib.Path) -> None:
    (tmp_path / "m.hlo").write_text("ENTRY e { ROOT a = f32[2] constant({1, 3}) }")
    assert "0.5, 1.5" in command("run", "m.hlo", "--executors", "halves").stdout
    assert "halves" in command("compare", "m.hlo", "--executors", "halves", "reference", code=1).stdout


def test_library_calls(command: Command) -> None:
    assert "stablehlo.custom_call" in command("convert", "m.hlo").stdout
    lifted = command("convert", "--library-calls", "house-hlo", "m.hlo").stdout
    assert "custom_call" not in lifted
    assert lifted.count("stablehlo.negate") == 2


def test_a_pass(command: Command, tmp_path: pathlib.Path) -> None:
    (tmp_path / "m.hlo").write_text(MODULE.replace('custom-call(x), custom_call_target="house_minus"', "negate(x)"))
    assert "negate" not in command("opt", "--passes=merge-negations,dce", "m.hlo").stdout
    assert "negate" in command("opt", "--passes=merge-negations:integers=false,dce", "m.hlo").stdout
    assert "merge-negations\n    a pass of house-hlo 1.0" in command("opt", "--list").stdout
    assert "did you mean merge-negations?" in command("opt", "--passes=merge-negation", "m.hlo", code=2).stderr


def test_parts_that_cannot_be_loaded(command: Command, tmp_path: pathlib.Path) -> None:
    (tmp_path / "site" / "house_hlo" / "__init__.py").write_text("raise RuntimeError('broken')")
    for words, code, label in ((("lint", "m.hlo"), 2, "C005"), (("run", "m.hlo", "--executors", "halves"), 2, "E101"),
                               (("convert", "--library-calls", "house-hlo", "m.hlo"), 1, "L202"),
                               (("opt", "--passes=merge-negations", "m.hlo"), 2, "L301")):
        done = command(*words, code=code)
        assert label in done.stdout + done.stderr, words
        assert "RuntimeError: broken" in done.stdout + done.stderr
        assert "Traceback" not in done.stderr


def test_a_package_that_nobody_names_is_not_loaded(command: Command, tmp_path: pathlib.Path) -> None:
    (tmp_path / "site" / "house_hlo" / "__init__.py").write_text("raise RuntimeError('broken')")
    (tmp_path / "hlotool.toml").write_text("")
    for words in (("lint", "m.hlo"), ("convert", "m.hlo"), ("opt", "m.hlo"), ("opt", "--list")):
        assert "RuntimeError" not in command(*words).stderr
