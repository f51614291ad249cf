"""The extension for VS Code: its grammars follow ours, and it is checked, tested and packed where npm can be asked."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import sys
import tomllib
import zipfile
from collections.abc import Iterator
from typing import Any

import pytest
from browser_pages import browser
from code_server import install, npm, running
from write_vscode_grammars import FOLDER, grammars

from hlotool.cli.lsp import config_of
from hlotool.serve.lsp.hints import STYLES

SOURCES = FOLDER.parent
SUMS = """HloModule sums, entry_computation_layout={(f32[4]{0})->f32[4]{0}}

%max.3 (a: f32[], b: f32[]) -> f32[] {
  %a = f32[] parameter(0)
  %b = f32[] parameter(1)
  ROOT %maximum.1 = f32[] maximum(%a, %b)
}

ENTRY %main (p: f32[4]) -> f32[4] {
            %p = f32[4]{0} parameter(0)
  %sum = f32[5]{0} add(%p, %p)
  %r = f32[4]{0} all-reduce(%p), replica_groups={{0,1}}, to_apply=%max.3
  ROOT %m = f32[4]{0} multiply(%r, %sum)
}
"""
PROGRAM = """module @m {
  func.func @main(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.add %arg0, %undefined : tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A copy of the extension with what it needs."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("node is not installed")
    folder = tmp_path_factory.mktemp("extension") / "vscode"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules", "*.vsix"))
    npm(folder, "ci", "--no-fund", "--no-audit", "--ignore-scripts")
    return folder


def test_grammars_are_todays() -> None:
    for file, text in grammars().items():
        assert (FOLDER / file).read_text("utf-8") == text, "python tests/write_vscode_grammars.py writes them anew"


def test_the_settings_are_those_of_the_server() -> None:
    package = json.loads((SOURCES / "package.json").read_text("utf-8"))
    settings = package["contributes"]["configuration"]["properties"]
    assert settings["hlotool.inlayHints"]["enum"] == list(STYLES)
    assert settings["hlotool.inlayHints"]["default"] == STYLES[0]
    # What is started is never chosen by a folder that somebody else has written.
    assert settings["hlotool.path"]["scope"] == "machine"
    for part in ("languages", "grammars"):
        for row in package["contributes"][part]:
            assert (SOURCES / row.get("configuration", row.get("path", ""))).is_file()


def test_types_colours_and_what_is_started(built: pathlib.Path) -> None:
    npm(built, "test")


@pytest.fixture(scope="module")
def packed(built: pathlib.Path) -> pathlib.Path:
    """The packed extension."""
    if not os.environ.get("HLOTOOL_NIGHTLY"):
        pytest.skip("downloads vsce; HLOTOOL_NIGHTLY=1 runs it")
    npm(built, "run", "package", "--", "--out", "hlotool.vsix")
    return built / "hlotool.vsix"


def test_the_extension_is_packed(packed: pathlib.Path) -> None:
    with zipfile.ZipFile(packed) as files:
        names = files.namelist()
        assert json.loads(files.read("extension/package.json"))["main"] == "./extension.js"
    assert {"extension/extension.js", "extension/syntaxes/hlo.tmLanguage.json", "extension/mlir-configuration.json",
            "extension/node_modules/vscode-languageclient/node.js"} <= set(names)
    assert not [n for n in names if "typescript" in n or n.startswith("extension/test")]


@pytest.fixture(scope="module")
def editor(packed: pathlib.Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Editor]:
    """A VS Code with the extension, in a folder with some files."""
    folder = tmp_path_factory.mktemp("opened")
    (folder / "sums.hlo").write_text(SUMS, "utf-8")
    (folder / "module_0001.jit_f.dump.txt").write_text(SUMS, "utf-8")
    (folder / "program.mlir").write_text(PROGRAM, "utf-8")
    program = pathlib.Path(sys.executable).with_name("hlotool")
    settings = {"hlotool.path": str(program), "security.workspace.trust.enabled": False,
                "editor.minimap.enabled": False, "workbench.startupEditor": "none"}
    with (browser() as chromium,
          running(install(tmp_path_factory.mktemp("code")), packed, json.dumps(settings), folder) as address):
        yield Editor(chromium, address)


class Editor:
    """VS Code as somebody at the keyboard has it."""

    def __init__(self, chromium: Any, address: str) -> None:
        self.page = chromium.new_page(viewport={"width": 1500, "height": 900})
        self.page.set_default_timeout(60_000)
        self.page.goto(address)
        self.page.wait_for_selector(".explorer-folders-view .monaco-list-row")

    def open(self, name: str, language: str) -> None:
        """Open a file of the folder, and wait until its language is shown."""
        self.page.keyboard.press("Control+p")
        self.page.wait_for_selector(".quick-input-widget input[type=text]")
        self.page.keyboard.type(name)
        self.page.wait_for_selector(f".quick-input-list .monaco-list-row.focused:has-text('{name}')")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(f".tab.active:has-text('{name}')")
        self.page.wait_for_selector(f".statusbar-item:has-text('{language}')")

    def command(self, name: str) -> None:
        """Choose a command of the palette."""
        self.page.keyboard.press("F1")
        self.page.wait_for_selector(".quick-input-widget input[type=text]")
        self.page.keyboard.type(name)
        self.page.wait_for_selector(f".quick-input-list .monaco-list-row.focused:has-text('{name}')")
        self.page.keyboard.press("Enter")

    def go_to(self, line: int, column: int) -> None:
        """Set the cursor."""
        self.page.keyboard.press("Control+g")
        self.page.wait_for_selector(".quick-input-widget input[type=text]")
        self.page.keyboard.type(f"{line}:{column}")
        self.page.keyboard.press("Enter")
        self.page.wait_for_selector(f".statusbar-item:has-text('Ln {line}, Col {column}')")

    def hover(self, text: str) -> None:
        """Ask for the hover at the cursor, and wait for a text in it."""
        self.page.keyboard.press("Control+k")
        self.page.keyboard.press("Control+i")
        self.page.wait_for_selector(f".monaco-hover:has-text({json.dumps(text)})")
        self.page.keyboard.press("Escape")

    def wait_for_line(self, text: str) -> None:
        """Wait until a line of the text shows some words; VS Code draws blanks as unbreakable ones."""
        self.page.wait_for_selector(f".view-line:has-text({json.dumps(text)})")


@pytest.mark.parametrize(("name", "language"), [("sums.hlo", "HLO"), ("module_0001.jit_f.dump.txt", "HLO"),
                                                ("program.mlir", "MLIR")])
def test_languages_and_findings_are_shown(editor: Editor, name: str, language: str) -> None:
    editor.open(name, language)
    editor.page.wait_for_selector(".squiggly-error")
    assert editor.page.locator(".unexpected-closing-bracket").count() == 0


def test_a_person_reads_and_mends_hlo(editor: Editor) -> None:
    editor.open("sums.hlo", "HLO")
    editor.wait_for_line("add(%p: f32[4]{0}, %p: f32[4]{0})")  # hints beside the operands
    editor.go_to(11, 20)
    editor.hover("add gives f32[4], but f32[5] is written")
    editor.go_to(12, SUMS.splitlines()[11].index("%max") + 3)
    editor.page.keyboard.press("F12")
    editor.page.wait_for_selector(".statusbar-item:has-text('Ln 3, Col 2')")
    editor.go_to(11, 10)
    editor.page.keyboard.press("Control+.")
    editor.page.wait_for_selector(".action-widget :text('write f32[4]{0}')")
    editor.page.keyboard.press("Enter")
    editor.wait_for_line("%sum = f32[4]{0} add")
    editor.page.wait_for_selector(".squiggly-error", state="detached")
    before = editor.page.locator(".core-guide-indent").count()
    editor.command("Format Document")
    editor.page.wait_for_function(f"document.querySelectorAll('.core-guide-indent').length < {before}")


def test_calls_and_names_are_found(editor: Editor) -> None:
    editor.open("sums.hlo", "HLO")
    editor.go_to(6, 5)
    editor.command("Peek Call Hierarchy")
    editor.page.wait_for_selector(".call-hierarchy .monaco-list-row:has-text('main')")
    editor.page.keyboard.press("Escape")
    editor.page.keyboard.press("Control+t")
    editor.page.keyboard.type("maximum")
    editor.page.wait_for_selector(".quick-input-list .monaco-list-row:has-text('module_0001.jit_f.dump.txt')")
    editor.page.keyboard.press("Escape")


def test_the_script_packs_what_is_installed_and_names_its_program() -> None:
    script = config_of("vscode")
    assert f"cp -R {SOURCES}/. " in script
    command = json.loads(script.partition("<<'END'\n")[2].partition("\n")[0])
    assert command == tomllib.loads(config_of("helix"))["language-server"]["hlotool"]["command"]


def test_files_are_recognised() -> None:
    package = json.loads((SOURCES / "package.json").read_text("utf-8"))
    languages = {row["id"]: row for row in package["contributes"]["languages"]}
    assert re.match(languages["hlo"]["firstLine"], "HloModule jit_f, entry_computation_layout={}")
    assert re.match(languages["mlir"]["firstLine"], "module @jit_f attributes {mhlo.num_partitions = 1 : i32} {")
    assert not re.match(languages["mlir"]["firstLine"], "modules are listed {")
    assert set(languages["hlo"]["extensions"]) == {".hlo", ".hlo.txt"}
