"""The extension for VS Code: its grammars follow ours, and it is checked, tested and packed where npm can be asked."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import tomllib
import zipfile

import pytest
from write_vscode_grammars import FOLDER, grammars

from hlotool.cli.lsp import config_of
from hlotool.serve.lsp.hints import STYLES

SOURCES = FOLDER.parent


def npm(folder: pathlib.Path, *words: str) -> str:
    """The output of npm in a folder. Skips the test where the registry cannot be reached."""
    command = shutil.which("npm")
    assert command is not None
    done = subprocess.run([command, *words], cwd=folder, capture_output=True, text=True, timeout=300, check=False)
    said = done.stdout + done.stderr
    if done.returncode and any(word in said for word in ("ENOTFOUND", "EAI_AGAIN", "ECONNREFUSED", "ETIMEDOUT")):
        pytest.skip("the registry of npm cannot be reached")
    assert done.returncode == 0, said
    return said


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


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="downloads vsce; HLOTOOL_NIGHTLY=1 runs it")
def test_the_extension_is_packed(built: pathlib.Path) -> None:
    npm(built, "run", "package", "--", "--out", "hlotool.vsix")
    with zipfile.ZipFile(built / "hlotool.vsix") as packed:
        names = packed.namelist()
        assert json.loads(packed.read("extension/package.json"))["main"] == "./extension.js"
    assert {"extension/extension.js", "extension/syntaxes/hlo.tmLanguage.json", "extension/mlir-configuration.json",
            "extension/node_modules/vscode-languageclient/node.js"} <= set(names)
    assert not [n for n in names if "typescript" in n or n.startswith("extension/test")]


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
