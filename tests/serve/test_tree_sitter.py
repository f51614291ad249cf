"""The grammar for tree-sitter follows ours; it reads dumps where tree-sitter's program and a compiler are installed."""

from __future__ import annotations

import os
import pathlib
import random
import re
import shutil
import subprocess

import pytest
from cases import SAMPLES
from write_tree_sitter_grammar import FOLDER, files

import hlotool
from hlotool.diagnostics import HloError

MODULES = pathlib.Path(__file__).parents[2].parent / "shared" / "corpus" / "modules"
TEXT = """HloModule jit_f, is_scheduled=true

%add.1 (a.1: f32[], b: f32[]) -> f32[] {
  %a.1 = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT ROOT-x = f32[] add(f32[] %a.1, b) // a note
}

ENTRY %main (p: f32[4,8]{1,0}) -> (f32[4], f32[]) {
  %p = f32[4,8]{1,0:T(8,128)} parameter(0), metadata={op_name="say \\"x\\""}
  c = f32[] constant(-1.5e3)
  r = f32[4]{0} reduce(%p, c), dimensions={1}, to_apply=%add.1
  ROOT t = (f32[4], f32[]) tuple(r, c)
}
"""
COLOURS = {"comment": "// a note", "string": '"say \\"x\\""', "keyword": "ENTRY", "module": "jit_f",
           "function": "main", "variable.parameter": "a.1:", "variable": "ROOT-x", "function.builtin": "reduce",
           "property": "dimensions",
           "type": "f32", "constant.builtin": "true", "number": "-1.5e3", "operator": "->"}


def test_the_grammar_is_todays() -> None:
    for name, text in files().items():
        assert (FOLDER / name).read_text("utf-8") == text, "python tests/write_tree_sitter_grammar.py writes them anew"


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder with the grammar's parser."""
    if shutil.which("tree-sitter") is None or shutil.which("cc") is None:
        pytest.skip("tree-sitter or a compiler is not installed")
    folder = tmp_path_factory.mktemp("grammar") / "tree_sitter"
    shutil.copytree(FOLDER, folder)
    _tree_sitter(folder, "generate", "src/grammar.json")
    return folder


def _tree_sitter(folder: pathlib.Path, *words: str) -> str:
    """Return the output of tree-sitter in a folder; its exit status of texts with mistakes is 1."""
    done = subprocess.run(["tree-sitter", *words], cwd=folder, capture_output=True, text=True, timeout=600, check=False,
                          env={**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "XDG_CONFIG_HOME": str(folder)})
    assert done.returncode in (0, 1), done.stderr
    assert words[0] == "parse" or done.returncode == 0, done.stderr
    return done.stdout


def _unread(folder: pathlib.Path, texts: list[pathlib.Path]) -> set[str]:
    """Those of some files of which a tree has mistakes in it."""
    listed = folder / "texts"
    listed.write_text("".join(f"{path}\n" for path in texts), "utf-8")
    said = _tree_sitter(folder, "parse", "--quiet", "--paths", str(listed))
    return {line.split("\t")[0].strip() for line in said.splitlines() if re.search(r"\((ERROR|MISSING)", line)}


def test_it_reads_the_samples(built: pathlib.Path) -> None:
    texts = sorted((SAMPLES / "models").glob("*.hlo")) + sorted((SAMPLES / "dumps").rglob("*.txt"))
    assert len(texts) > 20
    assert _unread(built, texts) == set()


def test_mistakes_are_found(built: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.hlo").write_text("ENTRY e { a = f32[2 constant(3) }", "utf-8")
    assert _unread(built, [tmp_path / "a.hlo"]) == {str(tmp_path / "a.hlo")}


@pytest.mark.skipif(not MODULES.is_dir(), reason="the corpus is not there")
def test_it_reads_what_we_read(built: pathlib.Path) -> None:
    texts = random.Random(5).sample(sorted(MODULES.iterdir()), 400)
    for name in _unread(built, texts):
        with pytest.raises(HloError):
            hlotool.parse(pathlib.Path(name).read_text("utf-8"))


def test_colours(built: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.hlo").write_text(TEXT, "utf-8")
    assert _unread(built, [tmp_path / "a.hlo"]) == set()
    said = _tree_sitter(built, "query", "--captures", "queries/highlights.scm", str(tmp_path / "a.hlo"))
    found = set(re.findall(r"capture: \d+ - ([\w.]+),.*text: `(.*)`", said))
    missing = set(COLOURS.items()) - found
    assert not missing, sorted(found)
