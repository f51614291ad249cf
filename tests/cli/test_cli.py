"""The commands, most of them in this process."""

from __future__ import annotations

import contextlib
import gzip
import json
import os
import pathlib
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator

import numpy as np
import pytest
from waiting import PATIENCE

from hlotool.cli import main, main_convert, main_lint

GOOD = """HloModule good

ENTRY %main (a: f32[4], b: f32[4]) -> f32[4] {
  %a = f32[4] parameter(0)
  %b = f32[4] parameter(1)
  %c = f32[4] add(%a, %b)
  ROOT %d = f32[4] negate(%c)
}
"""
MODELS = pathlib.Path(__file__).parents[2] / "samples" / "models"


@pytest.fixture
def good(tmp_path: pathlib.Path) -> pathlib.Path:
    path = tmp_path / "good.hlo"
    path.write_text(GOOD)
    return path


def child(*args: str, stdin: bytes = b"", **environment: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run([sys.executable, "-m", "hlotool", *args], input=stdin, capture_output=True, check=False,
                          env={**os.environ, **environment}, timeout=PATIENCE)


# The command line itself.


def test_help_and_usage(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--help"]) == 0
    assert "roundtrip" in capsys.readouterr().out
    assert main([]) == 2
    assert main(["lnt", "x"]) == 2
    assert "did you mean lint?" in capsys.readouterr().err
    assert main(["lint"]) == 2
    assert main(["lint", "--nonsense", "x"]) == 2
    for command in ("lint", "fmt", "convert", "run", "compare", "roundtrip", "explain", "ops"):
        assert main([command, "--help"]) == 0
        assert command in capsys.readouterr().out


def test_version(capsys: pytest.CaptureFixture[str]) -> None:
    from hlotool import __version__

    assert main(["--version"]) == main_lint(["--version"]) == main_convert(["--version"]) == 0
    assert capsys.readouterr().out == f"hlotool {__version__}\nhlo-lint {__version__}\nhlo-to-stablehlo {__version__}\n"


def test_nothing_heavy_is_imported(good: pathlib.Path) -> None:
    code = ("import sys; from hlotool.cli import main_lint; c = main_lint({}); "
            "print(sorted({{'jax', 'jaxlib', 'numpy', 'lark', 'rich', 'pygments', 'subprocess', 'hashlib', "
            "'hlotool.text.print', 'hlotool.text.incremental', 'hlotool.process.child', 'hlotool.ops.relations'}} & "
            "set(sys.modules)), c)")
    version = subprocess.run([sys.executable, "-c", code.format(["--version"])], capture_output=True, check=True)
    assert version.stdout.splitlines()[-1] == b"[] 0"
    lint = subprocess.run([sys.executable, "-c", code.format([str(good)])], capture_output=True, check=True)
    assert lint.stdout.splitlines()[-1] == b"[] 0"


@pytest.mark.parametrize("command", ["lint", "fmt", "convert"])
def test_stablehlo_is_read_and_checked_without_jax_and_numpy(command: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / "a.mlir").write_text("""func.func @main(%a: tensor<4xf32>, %b: tensor<8x4xf32>) -> tensor<8xf32> {
  %c = stablehlo.constant dense<[1.0, 2.5, 3.0, -4.0]> : tensor<4xf32>
  %i = stablehlo.constant dense<2> : tensor<4xi32>
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %f = stablehlo.convert %i : (tensor<4xi32>) -> tensor<4xf32>
  %0 = stablehlo.multiply %c, %f : tensor<4xf32>
  %1 = stablehlo.add %a, %0 : tensor<4xf32>
  %2 = stablehlo.dot_general %b, %1, contracting_dims = [1] x [0] : (tensor<8x4xf32>, tensor<4xf32>) -> tensor<8xf32>
  %3 = stablehlo.reduce(%b init: %z) applies stablehlo.add across dimensions = [1]
    : (tensor<8x4xf32>, tensor<f32>) -> tensor<8xf32>
  %4 = stablehlo.add %2, %3 : tensor<8xf32>
  return %4 : tensor<8xf32>
}
""")
    code = (f"import sys; from hlotool.cli import main; main({[command, 'a.mlir']}); "
            "print(sorted({'jax', 'jaxlib', 'numpy', 'lark'} & set(sys.modules)))")
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, cwd=tmp_path)
    assert done.stdout.splitlines()[-1] == b"[]", done.stdout


@pytest.mark.parametrize("arguments", [["missing.hlo"], ["*.nothing"], ["empty"], ["bad.gz"], ["bin.pb"],
                                       ["a", "/dev/null/x"]])
@pytest.mark.parametrize("command", ["lint", "fmt", "convert", "run", "compare", "roundtrip"])
def test_unusable_paths(command: str, arguments: list[str], tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch,
                        capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "bad.gz").write_bytes(gzip.compress(GOOD.encode())[:40])
    (tmp_path / "bin.pb").write_bytes(bytes(range(256)))
    code = main([command, *arguments])
    out = "".join(capsys.readouterr())
    assert code in ((1, 2) if command in ("lint", "roundtrip") else (2,)), out
    assert "error[" in out and "Traceback" not in out and "a bug in hlotool" not in out


def test_broken_pipe(good: pathlib.Path) -> None:
    many = ["fmt", *[str(good)] * 3000]
    program, pipe = [sys.executable, "-m", "hlotool"], subprocess.PIPE
    with subprocess.Popen([*program, *many], stdout=pipe, stderr=pipe) as p:
        assert p.stdout is not None and p.stderr is not None
        p.stdout.read(10)
        p.stdout.close()
        assert p.stderr.read() == b""
        assert p.wait() == 0


#: modules whose import is a moment of a command's life, from the first to one that the command asks for
MOMENTS = ["enum", "argparse", "hlotool.ir.shapes", "hlotool.cli.main", "hlotool.text", "hlotool.process"]


@pytest.mark.parametrize("moment", MOMENTS)
def test_an_interrupt_at_any_moment(moment: str) -> None:
    """Python tells on standard error which modules it has imported."""
    command = [sys.executable, "-X", "importtime", "-m", "hlotool", "fmt", "-"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE) as p, ended_at_last(p):
        assert p.stderr is not None
        for line in p.stderr:
            if line.rpartition(b"|")[2].strip() == moment.encode():
                break
        p.send_signal(signal.SIGINT)
        rest = [line for line in p.stderr if not line.startswith(b"import time:")]
        assert rest == [b"hlotool fmt: interrupted\n"]
        assert p.wait() == 130


@contextlib.contextmanager
def ended_at_last(process: subprocess.Popen[bytes]) -> Iterator[None]:
    """End a process that waits for ever, so that the test fails."""
    timer = threading.Timer(PATIENCE, process.kill)
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def test_an_interrupt_while_input_is_awaited(tmp_path: pathlib.Path) -> None:
    """The command takes the first bytes from the pipe, and waits for the rest."""
    with subprocess.Popen([sys.executable, "-m", "hlotool", "fmt", "-"], stdin=subprocess.PIPE,
                          stderr=subprocess.PIPE) as p, ended_at_last(p):
        assert p.stdin is not None and p.stderr is not None
        p.stdin.write(b"HloModule m\n" * 100_000)  # more than a pipe holds
        p.stdin.flush()
        p.send_signal(signal.SIGINT)
        assert p.stderr.read() == b"hlotool fmt: interrupted\n"
        assert p.wait() == 130


def test_an_interrupt_in_the_code_of_a_string(tmp_path: pathlib.Path) -> None:
    """A handled interrupt ends with the command's exit code, though CPython saw it leave `exec`, as in a dataclass."""
    (tmp_path / "interrupted.py").write_text(
        "import hlotool.cli\nfrom hlotool.programs import hlotool as program\n\n\n"
        "def main():\n    try:\n        exec('raise KeyboardInterrupt')\n    except KeyboardInterrupt:\n"
        "        return 130\n\n\nhlotool.cli.main = main\nraise SystemExit(program())\n")
    found = subprocess.run([sys.executable, "-m", "interrupted"], check=False, cwd=tmp_path)
    assert found.returncode == 130


def test_an_interrupt_that_nobody_shall_heed() -> None:
    """Whoever starts a program with interrupts ignored (`nohup`, a shell in the background) wants it to go on."""
    code = ("import runpy, signal, sys; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.argv = ['hlotool', '-V']; "
            "from hlotool.programs import hlotool; hlotool(); "
            "print(signal.getsignal(signal.SIGINT) is signal.SIG_IGN)")
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
    assert found.stdout.splitlines()[-1] == b"True"


def test_bytes_that_are_no_text(tmp_path: pathlib.Path) -> None:
    text = GOOD.replace("negate(%c)", 'negate(%c), metadata={op_name="\udcff"}').encode("utf-8", "surrogateescape")
    found = child("fmt", "-", stdin=text)
    assert found.returncode == 0 and b'"\xff"' in found.stdout
    marked = GOOD.replace("negate(%c)", 'negate(%c), frontend_attributes={k="\udcff"}')
    marked_bytes = marked.encode("utf-8", "surrogateescape")
    assert child("convert", "-", stdin=marked_bytes).returncode == 0
    mlir = child("convert", "-", stdin=b"module @m { func.func @main() { return \xff } }")
    assert mlir.returncode == 2 and b"error[P202]" in mlir.stderr
    text = b"HloModule m\nENTRY e { ROOT a = f32[\xff\xfe] parameter(0) }\n"
    bad = child("lint", "-", stdin=text, PYTHONIOENCODING="ascii")
    assert bad.returncode == 1 and b"error[" in bad.stdout and b"Traceback" not in bad.stderr


# lint


def test_lint(good: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["lint", str(good)]) == 0
    assert capsys.readouterr().err == "no findings in 1 file\n"
    bad = tmp_path / "bad.hlo"
    bad.write_text(GOOD.replace("%d = f32[4]", "%d = f32[5]").replace("%b = f32[4] p", "%b = f99[4] p"))
    worse = tmp_path / "worse.hlo"
    worse.write_text(GOOD.replace("%d = f32[4]", "%d = f32[5]"))
    assert main(["lint", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert f"{bad}:5:" in out and f"{worse}:7:" in out and "good.hlo" not in out
    assert err.endswith("errors in 3 files\n")
    assert main(["lint", "--format", "json", str(worse)]) == 1
    (record,) = json.loads(capsys.readouterr().out)
    assert record["start"]["line"] == 7 and record["severity"] == "error"
    assert main(["lint", "--format", "concise", str(worse)]) == 1
    assert capsys.readouterr().out.startswith(f"{worse}:7:")


def test_lint_of_several_modules_in_a_file(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    both = tmp_path / "both.hlo"
    both.write_text(GOOD + "// -----\n" + GOOD.replace("%d = f32[4]", "%d = f32[5]"))
    assert main(["lint", str(both)]) == 1
    out = capsys.readouterr().out
    line = GOOD.count("\n") + 1 + 7
    assert f"{both}:{line}:" in out and f"{line} |   ROOT %d = f32[5] negate(%c)" in out


# fmt


def test_fmt(good: pathlib.Path, capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["fmt", str(good)]) == 0
    assert capsysbinary.readouterr().out.decode() == GOOD
    assert main(["fmt", "--check", str(good)]) == 0
    good.write_text(GOOD.replace("%", ""))
    assert main(["fmt", "--check", "--diff", str(good)]) == 1
    assert b"+  ROOT %d = f32[4] negate(%c)\n" in capsysbinary.readouterr().out
    assert good.read_text() == GOOD.replace("%", "")
    assert main(["fmt", "--write", str(good)]) == 0
    assert good.read_text() == GOOD
    assert main(["fmt", "--no-percent", "--operand-shapes", str(good)]) == 0
    assert b"add(f32[4] a, f32[4] b)" in capsysbinary.readouterr().out


def test_fmt_leaves_files_alone_that_do_not_read(good: pathlib.Path, tmp_path: pathlib.Path) -> None:
    bad = tmp_path / "bad.hlo"
    bad.write_text(GOOD.replace("add(%a", "add(%nobody"))
    good.write_text(GOOD.replace("%", ""))
    assert main(["fmt", "--write", str(good), str(bad)]) == 2
    assert "%" not in good.read_text() and "nobody" in bad.read_text()
    assert [p.name for p in tmp_path.iterdir() if p.name.startswith(".")] == []


# convert


def test_convert_there_and_back(good: pathlib.Path, tmp_path: pathlib.Path,
                                capsysbinary: pytest.CaptureFixture[bytes]) -> None:
    assert main(["convert", str(good)]) == 0
    text = capsysbinary.readouterr().out
    assert b"stablehlo.add" in text
    for name, start in (("x.mlir", b"module"), ("x.mlirbc", b"ML\xefR")):
        assert main_convert([str(good), "-o", str(tmp_path / name)]) == 0
        assert (tmp_path / name).read_bytes().startswith(start)
        assert main(["convert", str(tmp_path / name)]) == 0
        assert b"add(" in capsysbinary.readouterr().out
    assert main(["convert", str(good), "--target", "1.0.0", "-o", str(tmp_path / "art" / "x.mlirbc")]) == 0
    assert b"StableHLO_v1.0.0" in (tmp_path / "art" / "x.mlirbc").read_bytes()
    assert main(["convert", str(tmp_path / "art" / "x.mlirbc"), "-o", str(tmp_path / "y.hlo")]) == 0
    assert main(["compare", str(good), str(tmp_path / "y.hlo")]) == 0


def test_convert_to_a_folder(good: pathlib.Path, tmp_path: pathlib.Path) -> None:
    good.write_text(GOOD + "// -----\n" + GOOD)
    assert main(["convert", str(good), "-o", f"{tmp_path}/out/"]) == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["good.2.mlir", "good.mlir"]


def test_convert_refuses(good: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    good.write_text(GOOD.replace("negate(%c)", "frobnicate(%c)"))
    assert main(["convert", str(good), "-o", str(tmp_path / "x.mlir")]) == 1
    assert f"{good}:7:" in capsys.readouterr().err
    assert not (tmp_path / "x.mlir").exists()
    mlir = tmp_path / "bad.mlir"
    mlir.write_text("module {\n  func.func @main() { return %0 : i32 }\n}\n")
    assert main(["convert", str(mlir)]) == 2
    assert str(mlir) in capsys.readouterr().err
    assert main(["convert", str(mlir), "--target", "99.0.0"]) == 2


# run, compare


def test_run_with_files(good: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    np.savez(tmp_path / "in.npz", arg0=np.float32([1, 2, 3, 4]), arg1=np.float32([10, 20, 30, 40]))
    assert main(["run", str(good), "--args", str(tmp_path / "in.npz"), "--executors", "reference"]) == 0
    assert capsys.readouterr().out == "result 0: f32[4]\n  [-11., -22., -33., -44.]\n"
    np.save(tmp_path / "a.npy", np.float32([1, 2, 3, 4]))
    files = [str(tmp_path / "a.npy")] * 2
    assert main(["run", str(good), "--args", *files, "-o", str(tmp_path / "out.npz")]) == 0
    assert np.load(tmp_path / "out.npz")["result0"].tolist() == [-2, -4, -6, -8]
    assert main(["run", str(good), "--args", files[0]]) == 2
    assert "2 arguments expected, 1 given" in capsys.readouterr().err
    assert main(["run", str(good), "--args", str(good)]) == 2
    assert "R110" in capsys.readouterr().err
    assert main(["run", str(good), "--executors", "abacus"]) == 2


def test_run_reads_small_floats_back(tmp_path: pathlib.Path) -> None:
    path = tmp_path / "bf16.hlo"
    path.write_text("HloModule m\nENTRY e { a = bf16[3] parameter(0)  ROOT b = bf16[3] negate(a) }\n")
    assert main(["run", str(path), "-o", str(tmp_path / "one.npz")]) == 0
    assert main(["run", str(path), "--args", str(tmp_path / "one.npz"), "-o", str(tmp_path / "two.npz")]) == 0
    one, two = (np.load(tmp_path / f"{n}.npz")["result0"].view(np.int16) for n in ("one", "two"))
    assert (one ^ two).tolist() == [-32768] * 3


def test_compare(good: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", str(good)]) == 0
    assert "agree" in capsys.readouterr().out
    other = tmp_path / "other.hlo"
    other.write_text(GOOD.replace("add(", "subtract("))
    assert main(["compare", str(good), str(other)]) == 1
    out, err = capsys.readouterr()
    assert "differ" in out and "error[E140]" in err
    assert main(["compare", str(good), str(other), "--each"]) == 0
    assert main(["compare", str(good), "--executors", "reference", "abacus"]) == 2


# roundtrip


def test_roundtrip(good: pathlib.Path, tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["roundtrip", str(good)]) == 0
    out = capsys.readouterr().out
    assert "1 of 1 modules came back equal; 4 instructions" in out
    assert out.count("ok") == 8
    bad = tmp_path / "bad.hlo"
    bad.write_text(GOOD.replace("negate(%c)", "frobnicate(%c)"))
    assert main(["roundtrip", str(tmp_path)]) == 1
    out, err = capsys.readouterr()
    assert "1 of 2 modules came back equal" in out
    assert "error[" in err and f"{bad}:7:" in err


@pytest.mark.parametrize("name", ["rnn_scan", "linear_algebra.optimized", "sharded_collectives",
                                  "sharded_collectives.optimized"])
def test_roundtrip_of_sample_models(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    # All of them take half a minute; these hold what is not plain arithmetic: loops, library calls, collectives.
    assert main(["roundtrip", str(MODELS / f"{name}.hlo")]) == 0, "".join(capsys.readouterr())
    assert "1 of 1 modules came back equal" in capsys.readouterr().out


# explain, ops


def test_explain(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["explain", "clamp", "clamp-c1", "E105"]) == 0
    out = capsys.readouterr().out
    assert "clamp(min, operand, max)" in out and "min is a scalar" in out and "executor-timeout" in out
    assert "// expect: f32[4] {0, 0.5, 1, nan}" in out and "// error: [clamp-c1]" in out
    assert main(["explain", "clmp"]) == 2
    assert "did you mean clamp?" in capsys.readouterr().err
    assert main(["explain", "--format", "json", "clamp"]) == 0
    assert json.loads(capsys.readouterr().out)[0]["operands"] == ["min", "operand", "max"]


def test_ops(capsys: pytest.CaptureFixture[str]) -> None:
    from hlotool.ops import OPS

    assert main(["ops"]) == 0
    assert f"{len(OPS)} operations" in capsys.readouterr().out
    assert main(["ops", "--format", "json", "dynamic-*"]) == 0
    assert {r["opcode"] for r in json.loads(capsys.readouterr().out)} == {o for o in OPS if o.startswith("dynamic-")}
    assert main(["ops", "--format", "markdown", "clamp"]) == 0
    assert "| `clamp` | min, operand, max |" in capsys.readouterr().out
    assert main(["ops", "nothing*"]) == 2


def test_unknown_flags_and_operations_get_the_nearest_name(tmp_path, capsys):
    assert main(["lint", "--selct", "W1", str(tmp_path)]) == 2
    assert "--selct; did you mean --select?" in capsys.readouterr().err
    assert main(["lint", "--xyzzyx", str(tmp_path)]) == 2
    assert "did you mean" not in capsys.readouterr().err
    assert main(["ops", "tranpose"]) == 2
    assert "did you mean transpose?" in capsys.readouterr().err


@pytest.mark.parametrize(("words", "said"), [
    (["cost", "a.hlo", "--by", "memory"], "group; did you mean --memory?"),
    (["run", "a.hlo", "--inputs", "x.npy"], "special; --args reads arguments from files;"),
    (["cost", "a.hlo", "--by", "opcod"], "did you mean opcode?")])
def test_a_value_that_is_another_option_names_it(words: list[str], said: str,
                                                 capsys: pytest.CaptureFixture[str]) -> None:
    assert main(words) == 2
    assert said in capsys.readouterr().err
