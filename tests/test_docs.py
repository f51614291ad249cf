"""Every example in the documentation runs: doctests, README's Python and HLO, and the output of its commands.

`python tests/test_docs.py` writes today's output of the commands into README.md.
"""

import doctest
import importlib
import os
import pathlib
import pkgutil
import re
import subprocess
import sys
import tempfile

import pytest

import hlotool
import hlotool.passes

ROOT = pathlib.Path(__file__).parents[1]
README = ROOT / "README.md"
_BLOCK = re.compile(r"(?:<!-- file: (\S+) -->\n)?```(\w*)\n(.*?)```", re.S)
_CONSOLE = re.compile(r"```console\n\$ (\S+ .*)\n((?:.*\n)*?)```")
#: takes a minute, and the table that it prints is looked at by its own test
_LONG = "hlotool roundtrip samples/models"
#: prints what depends on the processor: the numbers may differ, and of a comparison which inputs are the worst
_APPROXIMATE = ("hlotool compare ", "hlotool run ")


def modules() -> list[str]:
    found = []
    for package in (hlotool, hlotool.passes):
        found += [m.name for m in pkgutil.walk_packages(package.__path__, f"{package.__name__}.")]
    return sorted({m for m in found if not m.endswith("__main__")})


@pytest.mark.parametrize("name", modules())
def test_doctests(name):
    failed, _ = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert not failed


def blocks(language: str) -> list[str]:
    return [body for _, found, body in _BLOCK.findall(README.read_text("utf-8")) if found == language]


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that README shows, and the samples beside them."""
    return furnish(tmp_path)


def furnish(path: pathlib.Path) -> pathlib.Path:
    for name, _, body in _BLOCK.findall(README.read_text("utf-8")):
        if name:
            (path / name).write_text(body, "utf-8")
    (path / "samples").symlink_to(ROOT / "samples")
    return path


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python_in_readme(number, folder):
    """In a process of its own: a block may declare operations."""
    done = subprocess.run([sys.executable, "-c", blocks("python")[number]], capture_output=True, text=True, cwd=folder,
                          check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", blocks("hlo"), ids=lambda t: t.split()[1])
def test_hlo_in_readme(text):
    assert hlotool.lint(text) == []


def output_of(command: str, folder: pathlib.Path) -> str:
    """What a command prints, standard error included, without spaces at line ends."""
    scripts = pathlib.Path(sys.executable).parent
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                          env=dict(os.environ, COLUMNS="120", PATH=f"{scripts}{os.pathsep}{os.environ['PATH']}"),
                          check=False)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n") + "\n"


def commands() -> list[tuple[str, str]]:
    return [found for found in _CONSOLE.findall(README.read_text("utf-8")) if found[0] != _LONG]


@pytest.mark.parametrize(("command", "shown"), commands(), ids=[command for command, _ in commands()])
def test_commands_in_readme(command, shown, folder):
    found = output_of(command, folder)
    if command.startswith(_APPROXIMATE):
        found, shown = (re.sub(r"-?\d[\d.e+\-]*", "N", t) for t in (found, shown))
    if command.startswith("hlotool compare "):
        found, shown = (t.splitlines()[0] for t in (found, shown))
    assert found == shown


def test_table_of_sample_models():
    """README's table names every sample, and all came back equal when it was written."""
    [table] = [shown for command, shown in _CONSOLE.findall(README.read_text("utf-8")) if command == _LONG]
    rows = re.findall(r"^ (\S+\.hlo) +\d+ +(.*)$", table, re.M)
    assert [name for name, _ in rows] == sorted(p.name for p in (ROOT / "samples" / "models").glob("*.hlo"))
    assert not [name for name, states in rows if "fail" in states]


def test_links_in_readme():
    targets = re.findall(r"\]\(([^)#:]+)\)", README.read_text("utf-8"))
    assert targets
    assert not [t for t in targets if not (ROOT / t).exists()]


def test_folders_in_readme():
    """The table of floors names the folders that there are."""
    named = {f.strip("/") for f in re.findall(r"`((?:hlotool/)?\w+/?)`", README.read_text("utf-8"))}
    rooms = {f"hlotool/{p.name}" for p in (ROOT / "hlotool").iterdir()
             if (p / "__init__.py").exists() and not p.is_symlink()}
    assert rooms - named == set()


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        place = furnish(pathlib.Path(made))
        README.write_text(_CONSOLE.sub(lambda m: f"```console\n$ {m[1]}\n{output_of(m[1], place)}```",
                                       README.read_text("utf-8")), "utf-8")
