"""Reduction: what is planted is found again, alone."""

from __future__ import annotations

import argparse
import json
import os
import pathlib
import sys
from types import SimpleNamespace

import numpy as np
import pytest
from planted_tests import Fed, Holds, SetAnew, Sometimes, install_executors, named

import hlotool
from hlotool.cli import main
from hlotool.cli.reduce import candidate_of
from hlotool.diagnostics import HloError
from hlotool.ir import Shape
from hlotool.reduction import (
    Candidate,
    Command,
    Failure,
    GuiltyPass,
    ReduceOptions,
    ReportedCode,
    State,
    WrongResult,
    reduce_candidate,
)
from hlotool.reduction.resizing import Resizing

MODELS = pathlib.Path(__file__).parents[2] / "samples" / "models"
NESTED = """HloModule nested
fused {
  a = f32[8,16] parameter(0)
  b = f32[8,16] negate(a)
  ROOT c = f32[8,16] tanh(b)
}
condition {
  s = (s32[], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT less = pred[] compare(i, n), direction=LT
}
body {
  s = (s32[], f32[8,16]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[8,16] get-tuple-element(s), index=1
  one = s32[] constant(1)
  next = s32[] add(i, one)
  y = f32[8,16] fusion(x), kind=kLoop, calls=fused
  z = f32[8,16] cosine(y)
  q = f32[8,16] multiply(z, z)
  w = f32[8,16] sqrt(q)
  v = f32[8,16] floor(w)
  ROOT t = (s32[], f32[8,16]) tuple(next, v)
}
ENTRY main {
  p = f32[16,8] parameter(0)
  r = f32[8,16] transpose(p), dimensions={1,0}
  zero = s32[] constant(0)
  start = (s32[], f32[8,16]) tuple(zero, r)
  loop = (s32[], f32[8,16]) while(start), condition=condition, body=body
  out = f32[8,16] get-tuple-element(loop), index=1
  rev = f32[8,16] reverse(out), dimensions={0}
  ROOT result = (f32[8,16], f32[16,8]) tuple(rev, p)
}
"""


def small(text: str, test: object, rows: object = None, **options: object):
    return reduce_candidate(Candidate(hlotool.parse(text), rows), test, ReduceOptions(**options))


@pytest.mark.parametrize(("model", "user", "operand", "most"), [
    ("mlp_train_step", "add", "dot", 3), ("resnet_forward", "add", "convolution", 4),
    ("attention_kv_cache.optimized", "exponential", "subtract", 4), ("rnn_scan", "tanh", "add", 3)])
def test_what_feeds_what_is_found_in_a_model(model: str, user: str, operand: str, most: int) -> None:
    text = (MODELS / f"{model}.hlo").read_text()
    if not Fed(user, operand).look(Candidate(hlotool.parse(text))).signs:
        pytest.skip(f"{model} has no such pair any more")
    found = small(text, Fed(user, operand))
    assert found.is_complete and found.last.seen
    assert len([i for i in found.candidate.module.instructions() if i.opcode != "parameter"]) <= most
    assert not [d for d in hlotool.verify(found.candidate.module) if d.severity.name == "ERROR"]
    assert hlotool.parse(str(found.candidate.module))


def test_what_a_loop_sets_anew_becomes_zeros() -> None:
    """What it takes is no stand-in: a state that is handed on unchanged is another failure."""
    text = (NESTED[:NESTED.index("fused {")] + NESTED[NESTED.index("condition {"):]).replace(
        "y = f32[8,16] fusion(x), kind=kLoop, calls=fused", "y = f32[8,16] add(x, x)\n  k = f32[8,16] negate(x)")
    for old, new in (("(next, v)", "(next, y, k)"), ("(zero, r)", "(zero, r, r)"),
                     ("(s32[], f32[8,16])", "(s32[], f32[8,16], f32[8,16])")):
        text = text.replace(old, new)
    made = reduce_candidate(Candidate(hlotool.parse(text)), SetAnew(), ReduceOptions(time_limit=120, jobs=1))
    body, = (i.attributes["body"] for i in made.candidate.module.instructions() if i.opcode == "while")
    assert {i.opcode for i in body.instructions} <= {"parameter", "get-tuple-element", "constant", "tuple", "negate"}
    assert made.last.seen


def test_calls_and_loops_are_opened() -> None:
    found = small(NESTED, Fed("tanh", "negate"))
    module = found.candidate.module
    assert [c.name for c in module.computations] == ["main"]
    assert sorted(i.opcode for i in module.instructions()) == ["negate", "parameter", "tanh"]
    assert module.entry.root.shape.size == 1


def test_a_loop_that_is_the_failure_is_kept_with_the_least_state() -> None:
    found = small(NESTED, Holds(("while", "floor")))
    loop, = named(found.candidate.module, "while")
    assert len(loop.shape.elements) <= 1
    assert found.candidate.size <= 12


def test_a_failure_that_comes_and_goes_is_kept_with_its_rate() -> None:
    found = small(NESTED, Sometimes(("tanh",)), repeats=6)
    assert found.is_flaky and found.first.seen < found.first.times
    assert found.candidate.size <= 2 and 0.1 < found.confidence < 0.9


def test_what_does_not_show_the_failure_is_refused() -> None:
    with pytest.raises(HloError, match=r"does not show the failure.*E150"):
        small(NESTED, Holds(("convolution",)))


def test_a_wrong_executor_with_plain_arguments(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    install_executors(tmp_path, monkeypatch)
    rows = [[np.random.default_rng(1).normal(size=(16, 8)).astype(np.float32)]]
    found = small(NESTED, WrongResult("wrong", "reference", 20.0), rows, jobs=1)
    module = found.candidate.module
    assert sorted(i.opcode for i in module.instructions()) == ["multiply", "parameter", "sqrt"]
    assert found.sign == "wrong" and found.candidate.elements == 1
    assert float(found.candidate.rows[0][0].ravel()[0]) in (0.0, 1.0)


def test_an_interrupt_ends_the_search_and_keeps_its_best() -> None:
    heard = []

    def hear(progress: object) -> None:
        heard.append(progress)
        if len(heard) == 3:
            raise KeyboardInterrupt

    found = small(NESTED, Holds(("tanh",)), hear=hear)
    assert found.is_interrupted and not found.is_complete and len(heard) == 3
    assert any(i.opcode == "tanh" for i in found.candidate.module.instructions())
    assert found.candidate.size < found.original.size


def test_the_guilty_pass_is_kept() -> None:
    text = """ENTRY e { x = f32[2] parameter(0)  y = f32[2] parameter(1)  z = f32[2] negate(y)  q = f32[2] divide(x, y)
  r = f32[2] divide(q, z)  s = f32[2] tanh(r)  ROOT t = (f32[2], f32[2]) tuple(r, s) }"""
    rows = [[np.float32([1e38, 1e38]), np.float32([1e30, 1e30])]]
    found = small(text, GuiltyPass("pjrt:cpu", "reference", 20.0), rows, jobs=1)
    assert found.sign == "wrong after algsimp" and "(x / y) / z" in found.said
    assert [i.opcode for i in found.candidate.module.instructions() if i.opcode != "parameter"] == ["divide"] * 2
    with pytest.raises(HloError, match="E150"):
        small(text, GuiltyPass("pjrt:cpu", "reference", 20.0, "fusion"), rows, jobs=1)


def test_a_crash_has_a_sign_without_numbers(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    install_executors(tmp_path, monkeypatch)
    module = hlotool.parse("ENTRY e { a = f32[4] parameter(0)  ROOT c = f32[4] reverse(a), dimensions={0} }")
    found = Failure("crashing", time_limit=20.0).look(Candidate(module, [[np.zeros(4, np.float32)]]))
    assert found.signs[0].startswith("E104") and "rank < #" in found.signs[0] and "rank < 7" in found.said


@pytest.mark.skipif("HLOTOOL_NIGHTLY" not in os.environ, reason="each crash starts a process; HLOTOOL_NIGHTLY=1")
def test_a_crash(monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path) -> None:
    install_executors(tmp_path, monkeypatch)
    text = """ENTRY e { a = f32[4] parameter(0)  b = f32[4] negate(a)  c = f32[4] reverse(b), dimensions={0}
  ROOT d = f32[4] tanh(c) }"""
    rows = [[np.zeros(4, np.float32)]]
    found = small(text, Failure("crashing", time_limit=20.0), rows, jobs=1, repeats=1)
    assert "rank" in found.said and found.sign.startswith("E104")
    assert sorted(i.opcode for i in found.candidate.module.instructions()) == ["parameter", "reverse"]
    with pytest.raises(HloError, match="E150"):
        small(text, Failure("crashing", message="another", time_limit=20.0), rows, jobs=1)


def test_a_code_of_linting() -> None:
    text = NESTED.replace("rev = f32[8,16] reverse(out), dimensions={0}",
                          "again = f32[8,16] transpose(out), dimensions={0,1}\n"
                          "  rev = f32[8,16] reverse(again), dimensions={0}")
    known = {d.code for d in hlotool.lint(NESTED)}
    code = next(d.code for d in hlotool.lint(text) if d.code not in known)
    found = small(text, ReportedCode(code), jobs=1)
    assert code in {d.code for d in hlotool.lint(str(found.candidate.module))}
    assert found.candidate.size <= 2


def test_a_command(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "check.py"
    script.write_text("import sys\ntext = open(sys.argv[1]).read()\n"
                      "sys.exit(0 if 'tanh(' in text else 125 if 'cosine(' in text else 1)\n")
    test = Command((sys.executable, "-I", str(script)), time_limit=20.0)
    found = small(NESTED, test, time_limit=60)
    assert [i.opcode for i in found.candidate.module.entry.instructions] == ["parameter", "tanh"]
    gone = Candidate(hlotool.parse("ENTRY e { a = f32[2] parameter(0)  ROOT b = f32[2] cosine(a) }"))
    assert test.look(gone).is_unknown and not test.look(gone).signs


def test_a_command_gets_arguments_and_no_shell(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "check.py"
    script.write_text("import sys\nassert sys.argv[2] == '; echo $HOME'\nimport zipfile\n"
                      "sys.exit(len(zipfile.ZipFile(sys.argv[3]).namelist()) != 1)\n")
    test = Command((sys.executable, "-I", str(script), "{}", "; echo $HOME", "{args}"))
    assert test.look(Candidate(hlotool.parse(NESTED), [[np.ones((16, 8), np.float32)]])).signs == ("exit code 0",)


def test_a_reduction_goes_on(tmp_path: pathlib.Path) -> None:
    original = Candidate(hlotool.parse(NESTED), [[np.ones((16, 8), np.float32)]])
    test = Holds(("cosine", "tanh"))
    asked = []
    for _ in range(2):
        options = ReduceOptions()
        State(tmp_path).resume(original, test, options)
        asked.append(reduce_candidate(original, test, options))
    assert asked[1].asked < asked[0].asked / 2
    assert asked[1].candidate.size == asked[0].candidate.size <= 4
    with pytest.raises(HloError, match="R130"):
        State(tmp_path).resume(original, Holds(("tanh",)), ReduceOptions())


STATE = ("reduction.json", "best.hlo", "best.npz", "answers.jsonl")


@pytest.mark.parametrize("name", STATE)
@pytest.mark.parametrize("what", ["link", "pipe", "folder", "hard link"])
def test_a_folder_with_files_of_others_is_refused(name: str, what: str, tmp_path: pathlib.Path) -> None:
    """Whatever stands there under our names would be waited for, or written over."""
    theirs, folder = tmp_path / "theirs", tmp_path / "state"
    theirs.write_text("precious")
    original = Candidate(hlotool.parse(NESTED), [[np.ones((16, 8), np.float32)]])
    State(folder).resume(original, Holds(("tanh",)), ReduceOptions())
    (folder / name).unlink(missing_ok=True)
    make = {"link": lambda p: p.symlink_to(theirs), "pipe": os.mkfifo, "folder": os.mkdir,
            "hard link": lambda p: os.link(theirs, p)}
    make[what](folder / name)
    with pytest.raises(HloError, match="R130"):
        State(folder).resume(original, Holds(("tanh",)), ReduceOptions())
    assert theirs.read_text() == "precious"


@pytest.mark.parametrize("name", STATE[1:])
def test_a_folder_without_a_description_is_not_ours(name: str, tmp_path: pathlib.Path) -> None:
    (tmp_path / name).write_text("precious")
    with pytest.raises(HloError, match="R130"):
        State(tmp_path).resume(Candidate(hlotool.parse(NESTED)), Holds(("tanh",)), ReduceOptions())
    assert [p.read_text() for p in tmp_path.iterdir()] == ["precious"]


@pytest.mark.parametrize("answers", [b"\xff\xfe\n", b"[" * 100_000 + b"\n", b"1" * 5000 + b"\n",
                                     b'5\n{"a": 1}\n["a"]\n[["a"], true]\nnull\n'])
def test_answers_that_somebody_changed_are_passed_over(answers: bytes, tmp_path: pathlib.Path) -> None:
    original, test = Candidate(hlotool.parse(NESTED)), Holds(("tanh",))
    State(tmp_path).resume(original, test, ReduceOptions())
    (tmp_path / "answers.jsonl").write_bytes(answers + b'["key", true]\n')
    (tmp_path / "best.hlo").write_bytes(b"HloModule \xff {")
    options = ReduceOptions()
    State(tmp_path).resume(original, test, options)
    assert options.known == {"key": True} and options.resumed is None


def test_the_command_line(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, out = tmp_path / "model.hlo", tmp_path / "small.hlo"
    module.write_text(NESTED)
    script = tmp_path / "check.py"
    script.write_text("import sys\nsys.exit('tanh(' not in open(sys.argv[1]).read())\n")
    command = ["reduce", str(module), "--command", f"{sys.executable} -I {script}", "--format", "json"]
    assert main([*command, "-o", str(out)]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["instructions"] == 2 and record["seen"]["seen"] == record["seen"]["of"]
    assert "tanh(" in out.read_text() and module.read_text() == NESTED
    assert main([*command, "-o", str(module)]) == 2
    assert module.read_text() == NESTED
    assert main(["reduce", str(module), "--command", "/bin/false"]) == 1
    assert "E150" in capsys.readouterr().err


def test_stablehlo_in_and_out(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    module, out = tmp_path / "model.mlir", tmp_path / "small.mlir"
    module.write_text("""func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.negate %a : tensor<4xf32>
  %1 = stablehlo.tanh %0 : tensor<4xf32>
  %2 = stablehlo.cosine %1 : tensor<4xf32>
  return %2 : tensor<4xf32>
}
""")
    script = tmp_path / "check.py"
    script.write_text("import sys\nsys.exit('stablehlo.tanh' not in open(sys.argv[1]).read())\n")
    assert main(["reduce", str(module), "--command", f"{sys.executable} -I {script}", "-o", str(out)]) == 0
    assert "stablehlo.tanh" in out.read_text() and "negate" not in out.read_text()


def test_two_modules_keep_what_lies_between_equal_values_and_the_difference() -> None:
    left = NESTED.replace("reverse(out), dimensions={0}", "cosine(out)")
    right = left.replace("rev = f32[8,16] cosine(out)", "rev = f32[8,16] sine(out)")
    rows = [[np.random.default_rng(2).normal(size=(16, 8)).astype(np.float32)]]
    pair = Candidate(hlotool.parse(left), rows, hlotool.parse(right))
    found = reduce_candidate(pair, WrongResult(), ReduceOptions(jobs=1))
    opcodes = [[i.opcode for i in m.instructions()] for m in (found.candidate.module, found.candidate.other)]
    assert opcodes == [["parameter", "cosine"], ["parameter", "sine"]]
    assert found.candidate.elements == 1 and found.last.seen


def test_random_numbers_are_no_difference() -> None:
    module = hlotool.parse("ENTRY e { a = f32[] constant(0)  b = f32[] constant(1)\n"
                           "ROOT r = f32[4] rng(a, b), distribution=rng_uniform }")
    assert WrongResult().look(Candidate(module, [[]])).is_unknown


def test_time_ends_a_command_and_the_search(tmp_path: pathlib.Path) -> None:
    script = tmp_path / "slow.py"
    script.write_text("import pathlib, sys, time\nif 'cosine(' not in open(sys.argv[1]).read():\n    time.sleep(60)\n")
    test = Command((sys.executable, "-I", str(script)), time_limit=50.0)
    text = "ENTRY e { a = f32[] parameter(0)  b = f32[] cosine(a)  ROOT c = f32[] tanh(b) }"
    assert test.look(Candidate(hlotool.parse(text))).signs
    found = small(text, Command((sys.executable, "-I", str(script)), time_limit=0.8), time_limit=30, repeats=1)
    assert "cosine(" in str(found.candidate.module) and found.last.seen


def test_a_failure_is_looked_for_with_the_arguments_that_are_given(tmp_path: pathlib.Path) -> None:
    module = hlotool.parse("ENTRY e { ROOT x = f32[3] parameter(0) }")
    np.save(tmp_path / "x.npy", np.float32([3, 5, 7]))
    loaded, test = SimpleNamespace(module=lambda: module), Failure("reference", "", 5.0)

    def values(files: list[str] | None) -> list[float]:
        found = candidate_of(argparse.Namespace(argument_files=files, seed=0), loaded, test)
        assert found.rows is not None and len(found.rows) == 1
        return found.rows[0][0].tolist()

    assert values([str(tmp_path / "x.npy")]) == [3, 5, 7]
    assert values(None) == values([]) != [3, 5, 7]


def test_arrays_without_elements_lose_dimensions() -> None:
    resizing = Resizing({}, {(0, 4, 0): (4,)}, {})
    assert resizing.array(np.zeros((0, 4, 0), np.int16), Shape.array("s16", (4,))).shape == (4,)
    assert resizing.array(np.zeros((2, 0), np.int16), Shape.array("s16", (0,))).shape == (0,)
