"""Every example in the documentation runs: doctests, Python and HLO of README and the manual, and what commands print.

`python tests/test_docs.py` writes today's output of the commands into README.md and the pages of the manual.
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

import draw_floors
import pytest
import test_floors

import hlotool
import hlotool.passes
from hlotool.cli import main
from hlotool.cli.commands import COMMANDS
from hlotool.cli.parsers import parser_of
from hlotool.cli.reference_pages import reference_pages
from hlotool.passes.lints import RULES, Fixability

ROOT = pathlib.Path(__file__).parents[1]
README = ROOT / "README.md"
#: pages that people read; those of reference/ are generated, and held by their generator
PAGES = [README, ROOT / "CONTRIBUTING.md", *sorted((ROOT / "hlotool" / "docs").glob("*.md"))]
TEXT = "\n".join(page.read_text("utf-8") for page in PAGES)
_BLOCK = re.compile(r"(?:<!-- file: (\S+) -->\n)?```(\w*)\n(.*?)```", re.S)
_CONSOLE = re.compile(r"```console\n\$ (\S+ .*)\n((?:.*\n)*?)```")
#: takes a minute, and the table that it prints is looked at by its own test
_LONG = "hlotool roundtrip samples/models"
#: prints what depends on the processor: the numbers may differ, and of a comparison which inputs are the worst
_APPROXIMATE = ("hlotool compare ", "hlotool run ", "hlotool fuzz ")


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
    return list(dict.fromkeys(body for _, found, body in _BLOCK.findall(TEXT) if found == language))


@pytest.fixture
def folder(tmp_path):
    """A folder with the files that the pages show, and the samples beside them."""
    return furnish(tmp_path)


def furnish(path: pathlib.Path) -> pathlib.Path:
    for name, _, body in _BLOCK.findall(TEXT):
        if name:
            (path / name).write_text(body, "utf-8")
    (path / "samples").symlink_to(ROOT / "samples")
    return path


@pytest.mark.parametrize("number", range(len(blocks("python"))))
def test_python(number, folder):
    """In a process of its own: a block may declare operations."""
    done = subprocess.run([sys.executable, "-c", blocks("python")[number]], capture_output=True, text=True, cwd=folder,
                          check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("text", blocks("hlo"), ids=lambda t: t.split()[1])
def test_hlo(text):
    assert hlotool.lint(text) == []


def output_of(command: str, folder: pathlib.Path) -> str:
    """What a command prints, standard error included, without spaces at line ends."""
    scripts = pathlib.Path(sys.executable).parent
    done = subprocess.run(command, shell=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, cwd=folder,
                          env=dict(os.environ, COLUMNS="120", PATH=f"{scripts}{os.pathsep}{os.environ['PATH']}"),
                          check=False)
    return "\n".join(line.rstrip() for line in done.stdout.splitlines()).strip("\n") + "\n"


def commands() -> list[tuple[str, str]]:
    return sorted({found for found in _CONSOLE.findall(TEXT) if found[0] != _LONG})


@pytest.mark.parametrize(("command", "shown"), commands(), ids=[command for command, _ in commands()])
def test_commands(command, shown, folder):
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


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_links(page):
    targets = re.findall(r"\]\(([^)#:]+)\)", page.read_text("utf-8"))
    written_with_the_site = {"playground/index.html"}
    assert not [t for t in targets if t not in written_with_the_site and not (page.parent / t).exists()]


#: a command of ours in a page, in a block or between backticks, up to the end of its line
_OURS = re.compile(r"(?:(?<=`)|(?<=^)|(?<=\$ ))(hlotool \w+|hlo-lint|hlo-to-stablehlo|hlo-conformance)\b([^`\n|#]*)",
                   re.M)
_PROGRAMS = {"hlo-lint": "lint", "hlo-to-stablehlo": "convert", "hlo-conformance": "conform"}


def test_every_option_of_a_command_in_a_page_is_one_of_its_options():
    unknown = []
    for page in PAGES:
        for command, rest in _OURS.findall(page.read_text("utf-8")):
            name = _PROGRAMS.get(command, command.removeprefix("hlotool "))
            if name in COMMANDS:
                known = parser_of(name, name)._option_string_actions
                own = re.sub(r"'[^']*'", "", rest.partition(" -- ")[0])
                given = re.findall(r"(?<= )(?:--[a-z][\w-]*|-[a-zA-Z])", own)
                unknown += [f"{page.name}: {command} {option}" for option in given if option not in known]
    assert unknown == ["terminal.md: hlotool compare --allow-opn"] * 2  # mistyped on purpose, to show the message


def test_readme_is_short_and_leads_to_every_page():
    text = README.read_text("utf-8")
    [table] = [shown for command, shown in _CONSOLE.findall(text) if command == _LONG]  # grows with the samples
    assert len(text.replace(table, "").encode()) <= 7_500
    manual = (ROOT / "hlotool" / "docs" / "index.md").read_text("utf-8")
    assert not [p.name for p in PAGES[2:] if p.name not in ("index.md",) and f"({p.name})" not in manual]


def test_one_file_has_one_content():
    """A file that two pages show is the same on both."""
    shown = {}
    for name, _, body in _BLOCK.findall(TEXT):
        if name:
            assert shown.setdefault(name, body) == body, name


def test_rooms_are_described():
    """The table of rooms in CONTRIBUTING names the folders that there are."""
    named = {f.strip("/") for f in re.findall(r"`((?:hlotool/)?\w+/?)`", (ROOT / "CONTRIBUTING.md").read_text("utf-8"))}
    rooms = {f"hlotool/{p.name}" for p in (ROOT / "hlotool").iterdir()
             if (p / "__init__.py").exists() and not p.is_symlink()}
    assert rooms - named == set()


def test_the_picture_of_floors_is_todays():
    text = draw_floors.CONTRIBUTING.read_text("utf-8")
    assert draw_floors.drawn(text) == text, "python tests/draw_floors.py"


@pytest.mark.parametrize("page", reference_pages(), ids=lambda p: p.place)
def test_reference_pages_are_todays(page):
    path = ROOT / "hlotool" / "docs" / f"{page.place}.md"
    assert path.read_text("utf-8") == page.text, "hlotool docs --update"


def test_every_code_is_documented():
    """Whatever module defines a code, the reference lists it."""
    text = next(p for p in reference_pages() if p.place.endswith("codes")).text
    sources = [path.read_text("utf-8") for _, path in test_floors.FILES]
    found = {code for source in sources for code in re.findall(r'define\(\s*"(\w+)"', source)}
    assert len(found) > 100 and not sorted(code for code in found if f"| {code} |" not in text)


def test_the_manual_as_a_site(tmp_path):
    """Every link between the pages of the site leads to one, and every rule and operation has its page."""
    assert main(["docs", str(tmp_path)]) == 0
    broken = []
    for path in tmp_path.rglob("*.html"):
        text = path.read_text("utf-8")
        assert not re.search(r"\{\{[A-Z]+\}\}", text)
        broken += [(path.name, link) for link in re.findall(r'<a[^>]* href="([^"#:]+)', text)
                   if not (path.parent / link).exists()]
    assert not broken
    assert (tmp_path / "reference" / "dot.html").exists() and (tmp_path / "reference" / "W111.html").exists()


def test_the_manual_counts_the_lint_rules():
    text = (ROOT / "hlotool" / "docs" / "checking.md").read_text("utf-8")
    assert f"{len(RULES)} rules in seven" in text
    assert f"{sum(rule.default_on for rule in RULES.values())} of them on by default" in text
    assert f"({sum(rule.fixability is Fixability.SAFE for rule in RULES.values())} rules have one)" in text


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as made:
        place = furnish(pathlib.Path(made))
        for page in PAGES:
            page.write_text(_CONSOLE.sub(lambda m: f"```console\n$ {m[1]}\n{output_of(m[1], place)}```",
                                         page.read_text("utf-8")), "utf-8")
