"""Modules planted under every name that Python, a library or hlotool imports run in no process of any command."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Iterator

import pytest

TEXT = "HloModule m\nENTRY e { x = f32[2] parameter(0)\n  d = f32[2] tanh(x)\n  ROOT y = f32[2] negate(x) }\n"
#: imports nothing from the folders of its caller, as an installed program does
PROGRAM = "import sys\nfrom hlotool.programs import hlotool\nif __name__ == '__main__':\n    sys.exit(hlotool())\n"
#: command lines; HERE is the folder worked on, which is the current one in half of the cases
OFTEN = (
    "lint --no-config -j 2 HERE", "conform --executors reference -q --jobs 2 HERE/m0.hlo HERE/m1.hlo",
    "corpus lint HERE -o HERE/../out -n 2 --quiet", "corpus lint HERE -o HERE/../dask --engine dask --quiet",
    "run HERE/m0.hlo",
)
SELDOM = (
    "explain add", "ops", "fmt --check HERE", "convert HERE/m0.hlo", "opt HERE/m0.hlo", "py --check HERE/m0.hlo",
    "py --target jax HERE/m0.hlo", "run --executors reference HERE/m0.hlo", "compare HERE/m0.hlo HERE/m1.hlo",
    "isolate HERE/m0.hlo", "bisect HERE/dump", "reduce HERE/m0.hlo --code W103 -o HERE/../small.hlo",
    "bundle HERE/m0.hlo -o HERE/../b.zip", "fuzz --programs 1 --seed 3", "roundtrip -j 2 HERE",
    "view HERE/m0.hlo -o HERE/../m.html", "diff HERE/m0.hlo HERE/m1.hlo --values", "cost HERE/m0.hlo",
    "corpus index HERE -o HERE/../index -n 1 --quiet", "find negate HERE/../index", "docs HERE/../docs",
    "conform --executors pjrt:cpu -q HERE", "lsp", "mcp --folder HERE",
)
NIGHTLY = bool(os.environ.get("HLOTOOL_NIGHTLY"))


def planted_names() -> set[str]:
    """Names of modules of Python and of every package that is installed, and those that Python or a tool looks for."""
    return {*sys.stdlib_module_names, *importlib.metadata.packages_distributions(), "conftest", "sitecustomize",
            "usercustomize", "jax_plugins", "__editable__"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A folder of modules of both kinds, beside a program."""
    above = tmp_path_factory.mktemp("planted")
    (above / "program").mkdir()
    (above / "program" / "start.py").write_text(PROGRAM)
    made, empty = above / "work", above / "empty"
    made.mkdir()
    empty.mkdir()
    code = f"open({str(above / 'PWNED')!r}, 'a').write(__file__ + chr(10))\n"
    for name in planted_names():
        with contextlib.suppress(OSError, ValueError):
            (made / f"{name}.py").write_text(code)
    for n in range(2):
        (made / f"m{n}.hlo").write_text(TEXT)
    (made / "dump").mkdir()
    for n, name in enumerate(("after_pipeline-start", "after_dce")):
        (made / "dump" / f"module_0001.m.000{n}.p.{name}.before_q.txt").write_text(TEXT)
    return made


def lines(words: tuple[str, ...]) -> Iterator[object]:
    return (pytest.param(w, id=w.replace("HERE/", "").replace("HERE", "")) for w in words)


@pytest.mark.parametrize("line", [*lines(OFTEN), *(lines(SELDOM) if NIGHTLY else ())])
@pytest.mark.parametrize("where", ["work", *(["empty"] if NIGHTLY else [])])
def test_nothing_planted_runs(folder: pathlib.Path, where: str, line: str, tmp_path: pathlib.Path) -> None:
    here = folder if where == "empty" else pathlib.Path(".")
    words = [word.replace("HERE/../", f"{tmp_path}/").replace("HERE", str(here)) for word in line.split()]
    environment = {**os.environ, "PYTHONPATH": "", "HLOTOOL_TRACEBACK": "1"}
    if words[0] == "find":  # it needs what an earlier command makes
        index = ["corpus", "index", "-j", "1", "--quiet", str(here), "-o", str(tmp_path / "index")]
        run(index, folder, where, environment)
    done = run(words, folder, where, environment)
    assert not (folder.parent / "PWNED").exists(), (folder.parent / "PWNED").read_text()
    assert done.returncode in (0, 1), done.stderr


def run(words: list[str], folder: pathlib.Path, where: str, environment: dict[str, str]
        ) -> subprocess.CompletedProcess[str]:
    asked = ""
    if words[0] == "mcp":
        called = {"name": "lint", "arguments": {"program": "m0.hlo"}}
        opening = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        messages = ({"id": 1, "method": "initialize", "params": opening}, {"method": "notifications/initialized"},
                    {"id": 2, "method": "tools/call", "params": called})
        asked = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
    return subprocess.run([sys.executable, str(folder.parent / "program" / "start.py"), *words], input=asked,
                          cwd=folder.parent / where, env=environment, capture_output=True, text=True, check=False)
