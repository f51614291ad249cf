"""`hlotool py`: the code that it prints builds the same module."""

from __future__ import annotations

import pathlib
import random
import subprocess
import sys
from typing import Any

import pytest

import hlotool
from hlotool.builder import to_python
from hlotool.cli import main
from hlotool.text import TODAY, print_module
from hlotool.text.input_files import read_inputs

ROOT = pathlib.Path(__file__).parents[2]
CORPUS = ROOT.parent / "shared" / "corpus" / "modules"


def rebuilt(module: hlotool.HloModule) -> hlotool.HloModule:
    names: dict[str, Any] = {}
    exec(compile(to_python(module), "<made>", "exec"), names)
    found: hlotool.HloModule = names["build"]()
    return found


def samples() -> list[pathlib.Path]:
    """All models and a third of the operations, whose cases are alike."""
    return [*sorted((ROOT / "samples/models").glob("*.hlo")), *sorted((ROOT / "samples/ops").glob("*.hlo"))[::3]]


@pytest.mark.parametrize("part", range(2))
def test_samples_are_rebuilt(part: int) -> None:
    """Good and bad ones: what a module holds decides, not whether it is right."""
    count = 0
    for path in samples()[part::2]:
        for given in read_inputs([str(path)]):
            assert given.source is not None
            try:
                module = hlotool.parse(given.source.text)
            except hlotool.HloError:
                continue
            made = print_module(rebuilt(module), TODAY)
            assert made == print_module(module, TODAY), f"{path}:{given.source.first_line}"
            count += 1
    assert count > 50


@pytest.mark.skipif(not CORPUS.exists(), reason="the corpus is not here")
def test_real_dumps_are_rebuilt() -> None:
    paths = sorted(p for p in CORPUS.glob("*.hlo") if p.stat().st_size < 60_000)
    random.Random(3).shuffle(paths)
    read, equal = 0, 0
    for path in paths[:100]:
        try:
            module = hlotool.parse(path.read_text(errors="replace"))
        except hlotool.HloError:
            continue
        read += 1
        equal += print_module(rebuilt(module), TODAY) == print_module(module, TODAY)
    assert read > 80 and equal / read >= 0.98


_ODD = {
    "the entry comes first": "HloModule m\nENTRY e { ROOT x = f32[] parameter(0) }\n"
                             "f { ROOT y = f32[] parameter(0) }\n",
    "control": "HloModule m\nENTRY e { x = f32[] parameter(0)  y = f32[] negate(x)  "
               "ROOT z = f32[] negate(x), control-predecessors={y} }\n",
    "unknown": "HloModule m\nENTRY e { x = f32[] parameter(0)  ROOT z = f32[2]{0} what-is(x, x), odd={1} }\n",
    "wrong": "HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT z = f32[7] negate(x) }\n",
    "python's words": "HloModule m\nENTRY build { b = pred[] parameter(0)  lambda = pred[] not(b)  "
                      "class.1 = pred[] and(b, lambda)  ROOT XlaBuilder = pred[] or(class.1, b) }\n",
    "root first": "HloModule m\nENTRY e { x = f32[] parameter(0)  ROOT y = f32[] negate(x)  z = f32[] negate(x) }\n",
    "threads": "HloModule m\nf { ROOT y = f32[] parameter(0) }, execution_thread=\"host\"\n"
               "ENTRY e { x = f32[] parameter(0)  s = ((f32[]), f32[], s32[]) async-start(x), "
               "async_execution_thread=\"host\", calls=f  ROOT d = f32[] async-done(s) }\n",
    "header": "HloModule m, is_scheduled=true, input_output_alias={ {}: (0, {}, may-alias) }, num_partitions=2\n"
              "ENTRY e { ROOT x = f32[2]{0} parameter(0), sharding={devices=[2]<=[2]}, "
              "metadata={op_name=\"a \\\"b\\\"\" source_line=3} }\n",
    "elided": "HloModule m\nENTRY e { ROOT c = f32[100] constant({...}) }\n",
    "tuples": "HloModule m\nENTRY e { c = (f32[], s32[2]) constant((1, {2, 3}))  "
              "ROOT g = s32[2] get-tuple-element(c), index=1 }\n",
    "payloads": "HloModule m\nENTRY e { a = f32[2] constant({nan, -inf})  b = bf16[] constant(-nan(0x41))  "
                "ROOT t = (f32[2], bf16[]) tuple(a, b) }\n",
}


@pytest.mark.parametrize("name", _ODD)
def test_odd_modules_are_rebuilt(name: str) -> None:
    module = hlotool.parse(_ODD[name])
    assert str(rebuilt(module)) == str(module), to_python(module)


def test_the_command_prints_writes_and_checks(tmp_path: pathlib.Path, capfd: pytest.CaptureFixture[str]) -> None:
    source, made = tmp_path / "m.hlo", tmp_path / "m.py"
    source.write_text("HloModule m\nENTRY e { x = f32[2] parameter(0)  ROOT y = f32[2] negate(x) }\n")
    assert main(["py", str(source)]) == 0
    printed = capfd.readouterr().out
    assert "y = b.Neg(x, name='y')" in printed
    assert main(["py", str(source), "-o", str(made)]) == 0 and made.read_text() == printed
    assert main(["py", "--check", str(source)]) == 0
    run = subprocess.run([sys.executable, str(made)], capture_output=True, text=True, check=True)
    assert run.stdout.strip() == str(hlotool.parse(source.read_text())).strip()
    assert main(["py", str(tmp_path / "none.hlo")]) == 2
    assert main(["py", "-o", str(made), str(source), str(source)]) == 2


def test_wrong_parameters_are_rebuilt() -> None:
    module = hlotool.parse("HloModule m\nENTRY e { a = f32[] parameter(0)  b = f32[] parameter(0)  "
                           "c = f32[] parameter(3)  ROOT s = f32[] add(a, b) }\n")
    assert str(rebuilt(module)) == str(module)
