"""What `hlotool lsp --print-config` prints is well-formed in the language of each editor, and names its program."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sysconfig
import tomllib
from pathlib import Path

import pytest

from hlotool.cli import main
from hlotool.cli.lsp import config_of, editors

EDITORS = ["emacs", "helix", "neovim", "vscode", "zed"]


def here_documents(script: str) -> dict[str, str]:
    """The files that a script writes."""
    return dict(re.findall(r"^cat > (\S+) <<'END'\n(.*?)^END$", script, re.M | re.S))


def test_each_editor_has_a_file(capsys: pytest.CaptureFixture[str]) -> None:
    assert editors() == EDITORS
    for editor in EDITORS:
        assert main(["lsp", "--print-config", editor]) == 0
        printed = capsys.readouterr().out
        assert printed == config_of(editor) and "@" not in printed
        own = Path(sysconfig.get_path("scripts"), "hlotool")
        assert not own.is_file() or json.dumps(str(own), ensure_ascii=False) in printed


def test_helix_starts_the_server_for_hlo() -> None:
    given = tomllib.loads(config_of("helix"))
    assert given["language-server"]["hlotool"]["args"] == ["lsp"]
    assert {k["name"]: k["language-servers"] for k in given["language"]} == {"hlo": ["hlotool"], "mlir": ["hlotool"]}


def test_the_extension_for_zed_is_whole() -> None:
    files = here_documents(config_of("zed"))
    extension = tomllib.loads(files["extension.toml"])
    names = [tomllib.loads(text)["name"] for file, text in files.items() if file.startswith("languages/")]
    assert extension["language_servers"]["hlotool"]["languages"] == names == ["HLO", "MLIR"]
    assert "zed_extension_api" in tomllib.loads(files["Cargo.toml"])["dependencies"]
    assert files["src/lib.rs"].count("{") == files["src/lib.rs"].count("}")


@pytest.mark.parametrize("editor", ["vscode", "zed"])
def test_scripts_are_shell(editor: str) -> None:
    assert subprocess.run(["sh", "-n"], input=config_of(editor), text=True, check=False).returncode == 0


@pytest.mark.skipif(shutil.which("emacs") is None, reason="Emacs is not installed")
def test_emacs_reads_its_file(tmp_path: Path) -> None:
    (tmp_path / "hlo.el").write_text(config_of("emacs"), "utf-8")
    asked = "(progn (find-file \"x.hlo\") (princ major-mode))"
    done = subprocess.run(["emacs", "--batch", "-Q", "--eval", "(defun eglot-ensure ())", "-l", "hlo.el",
                           "--eval", asked],
                          cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "hlo-mode" in done.stdout, done.stderr


def test_an_editor_that_is_not_known(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lsp", "--print-config", "ed"]) == 2
    assert "emacs" in capsys.readouterr().err
