"""hlotool-core: the same package where jax, jaxlib and SciPy are not installed."""

from __future__ import annotations

import os
import pathlib
import subprocess
import sys
import time
import tomllib

import pytest

ROOT = pathlib.Path(__file__).parents[1]
WITHOUT = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hlotool-core"]["without"]
#: Python that hides packages, and then is the command line
HIDING = """
import importlib.abc, importlib.machinery, importlib.util, sys

class Hidden(importlib.abc.MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)

sys.meta_path.insert(0, Hidden())
found = importlib.util.find_spec
importlib.util.find_spec = lambda name, package=None: None if name.partition(".")[0] in HIDDEN else found(name, package)
from hlotool.cli import main
sys.exit(main())
"""
HLO = """HloModule m

add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}

ENTRY e {
  a = f32[2,3] parameter(0), metadata={op_name="a"}
  b = f32[3,4] parameter(1)
  d = f32[2,4] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  z = f32[] constant(0)
  c = c64[2] constant({(1, 2), (3, 4)})
  w = c64[2] negate(c)
  t = f32[2,4] tanh(d)
  r = f32[2] reduce(t, z), dimensions={1}, to_apply=add
  ROOT all = (f32[2], c64[2]) tuple(r, w)
}
"""


def command(folder: pathlib.Path, *words: str, hidden: list[str] = WITHOUT) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-c", HIDING.replace("HIDDEN", repr(hidden)), *words], cwd=folder, text=True,
                          capture_output=True, timeout=600, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)})


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    made = tmp_path_factory.mktemp("core")
    (made / "a.hlo").write_text(HLO)
    for words in (("convert", "a.hlo", "-o", "a.mlir"), ("convert", "a.hlo", "--target", "1.0.0", "-o", "a.bc"),
                  ("convert", "a.mlir", "-o", "b.hlo")):
        assert command(made, *words).returncode == 0
    return made


COMMANDS = [
    "lint a.hlo a.mlir a.bc", "fmt a.hlo a.mlir", "diff a.hlo b.hlo", "diff a.hlo a.bc", "convert a.bc",
    "convert a.bc -o c.mlir", "cost a.mlir", "view a.hlo -o a.html", "versions a.mlir", "explain dot", "ops",
    "opt a.hlo --passes dce", "py a.hlo", "run a.hlo --executors reference --inputs random",
    "roundtrip a.hlo --skip run", "compare a.hlo b.hlo --executors reference"]


@pytest.mark.parametrize("words", COMMANDS)
def test_commands_do_without_jax(folder: pathlib.Path, words: str) -> None:
    done = command(folder, *words.split())
    assert done.returncode == 0, done.stderr + done.stdout
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("words", ["lint a.mlir", "convert a.mlir", "versions a.mlir"])
def test_stablehlo_is_read_and_checked_without_numpy(folder: pathlib.Path, words: str) -> None:
    done = command(folder, *words.split(), hidden=[*WITHOUT, "numpy", "ml_dtypes"])
    assert done.returncode == 0, done.stderr + done.stdout


@pytest.mark.parametrize("words", ["run a.hlo", "compare a.hlo b.hlo", "run a.hlo --executors stablehlo"])
def test_what_needs_jax_says_so(folder: pathlib.Path, words: str) -> None:
    done = command(folder, *words.split())
    assert done.returncode == 2
    assert "which is not installed" in done.stderr and "--executors reference" in done.stderr


@pytest.mark.parametrize("words", [
    "convert a.hlo --no-chlo", "convert a.mlir --to stablehlo --no-chlo",
    "convert a.mlir --arg-shapes f32[2,3] f32[3,4]"])
def test_what_needs_the_passes_of_mlir_is_refused_with_a_code(folder: pathlib.Path, words: str) -> None:
    done = command(folder, *words.split())
    assert done.returncode != 0
    assert "X217" in done.stderr and "Traceback" not in done.stderr


def test_texts_are_those_that_mlir_prints(folder: pathlib.Path) -> None:
    from hlotool.stablehlo import convert

    assert (folder / "a.mlir").read_text() == convert(HLO).text()


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="builds and installs a distribution")
def test_the_distribution_is_small_and_works(tmp_path: pathlib.Path, folder: pathlib.Path) -> None:
    subprocess.run([sys.executable, ROOT / ".ci" / "core_distribution", tmp_path], check=True)
    (wheel,) = tmp_path.glob("hlotool_core-*.whl")
    assert wheel.stat().st_size < 5_000_000
    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    subprocess.run([tmp_path / "venv" / "bin" / "pip", "install", "--quiet", wheel], check=True)
    subprocess.run([tmp_path / "venv" / "bin" / "pip", "check"], check=True)
    for words in ("lint a.hlo a.mlir", "convert a.mlir", "run a.hlo --executors reference --inputs random"):
        subprocess.run([tmp_path / "venv" / "bin" / "hlotool", *words.split()], cwd=folder, check=True)


@pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="builds a program")
def test_one_file_works_where_there_is_no_python(tmp_path: pathlib.Path, folder: pathlib.Path,
                                                 capsys: pytest.CaptureFixture[str]) -> None:
    subprocess.run([sys.executable, ROOT / ".ci" / "one_file", tmp_path], check=True)
    program = tmp_path / "hlotool"

    def run(words: str) -> float:
        begin = time.monotonic()
        done = subprocess.run([program, *words.split()], cwd=folder, capture_output=True, text=True, check=False,
                              env={"PATH": "", "HOME": str(tmp_path), "TMPDIR": str(tmp_path)})
        assert done.returncode == 0 and "Traceback" not in done.stderr, (words, done.stderr, done.stdout)
        return time.monotonic() - begin

    seconds = {words: run(words) for words in ("--version", *COMMANDS)}
    size = program.stat().st_size
    with capsys.disabled():
        print(f"\none file: {size / 1e6:.0f} MB, {seconds['--version']:.2f} s for --version, "
              f"{seconds[COMMANDS[0]]:.2f} s for {COMMANDS[0]!r}")
    assert size < 100_000_000
    assert {p.name for p in tmp_path.iterdir()} <= {"hlotool", ".cache"}  # what it unpacks is gone when it ends
