"""Values of instructions from a file: `run --trace` writes them, compare and isolate judge them one by one."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import pytest

import hlotool
from hlotool.cli.main import main
from hlotool.diagnostics import HloError

TEXT = """HloModule traced

cond {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT c = pred[] compare(i, n), direction=LT
}

body {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  o = s32[] constant(1)
  j = s32[] add(i, o)
  s = f32[4] sine(x)
  q = f32[4] multiply(s, s)
  ROOT r = (s32[], f32[4]) tuple(j, q)
}

ENTRY e {
  x = f32[4] parameter(0)
  e = f32[4] exponential(x)
  h = f32[4] tanh(e)
  b = bf16[4] convert(h)
  k = f32[4] convert(b)
  z = s32[] constant(0)
  i = (s32[], f32[4]) tuple(z, k)
  w = (s32[], f32[4]) while(i), condition=cond, body=body
  g = f32[4] get-tuple-element(w), index=1
  ROOT y = f32[4] add(g, h)
}
"""


@pytest.fixture
def files(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, np.ndarray]:
    """The module, its arguments and the reference's values of it, in the current folder."""
    monkeypatch.chdir(tmp_path)
    pathlib.Path("m.hlo").write_text(TEXT)
    np.savez("x.npz", x=np.float32([0.5, -1.0, 0.25, 2.0]))
    assert main(["run", "m.hlo", "--executors", "reference", "--args", "x.npz", "--trace", "*", "-o", "t.npz"]) == 0
    with np.load("t.npz") as held:
        return {name: held[name] for name in held}


def compared(capsys: pytest.CaptureFixture[str], *command: str) -> tuple[int, dict[str, object]]:
    capsys.readouterr()
    code = main([*command, "m.hlo", "--executors", "stored:t.npz", "reference", "--args", "x.npz", "--format", "json"])
    return code, json.loads(capsys.readouterr().out)


def test_a_trace_of_the_reference_agrees(files: dict[str, np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    assert {"e", "h", "b", "w[2]/s"} <= set(files)
    code, found = compared(capsys, "compare")
    assert (code, found["verdict"]) == (0, "agree")


@pytest.mark.parametrize("wrong, after, iteration", [
    ("e", ("h", "b", "k", "y"), None),
    ("w[1]/s", ("w[1]/q", "w[2]/x", "w[2]/s", "w[2]/q", "y"), 1)])
def test_the_cause_is_named_and_not_what_follows_from_it(
        files: dict[str, np.ndarray], capsys: pytest.CaptureFixture[str], wrong: str, after: tuple[str, ...],
        iteration: int | None) -> None:
    """What comes after a wrong value is computed of it, as a device would."""
    values = dict(files)
    values[wrong] = values[wrong] * np.float32(1.01)
    for name in after:
        if name in ("h", "y", "k", "w[1]/q", "w[2]/x", "w[2]/s", "w[2]/q"):
            values[name] = recomputed(name, values)
    np.savez("t.npz", **values)
    code, found = compared(capsys, "compare")
    assert (code, found["verdict"], found["instruction"]) == (1, "differ", wrong.rsplit("/", 1)[-1])
    assert found["iteration"] == iteration
    code, found = compared(capsys, "isolate")
    assert (code, found["instruction"]) == (1, wrong.rsplit("/", 1)[-1])


def recomputed(name: str, values: dict[str, np.ndarray]) -> np.ndarray:
    way, last = name[:5] if "/" in name else "", name.rsplit("/", 1)[-1]
    if last == "x":
        return values["w[1]/q"]
    if last == "k":
        return values["k"]  # not far enough from a rounding of bf16 to change
    return {"h": lambda: np.tanh(values["e"]), "s": lambda: np.sin(values[f"{way}x"]),
            "q": lambda: values[f"{way}s"] ** 2, "y": lambda: values["y"] * np.float32(1.002)}[last]()


def test_values_without_arguments_or_without_an_instruction_are_refused(files: dict[str, np.ndarray]) -> None:
    module = hlotool.parse(TEXT)
    with pytest.raises(HloError, match="arguments are not given"):
        hlotool.compare(module, executors=("stored:t.npz", "reference"))
    np.savez("t.npz", **{"w[7]/s": files["e"]})
    with pytest.raises(HloError, match=r"w\[7\]/s"):
        hlotool.compare(module, executors=("stored:t.npz", "reference"), arguments=[np.zeros(4, np.float32)])


def test_a_misspelt_name_beside_others_is_refused(files: dict[str, np.ndarray]) -> None:
    np.savez("t.npz", **files, H=files["h"] + 1)
    with pytest.raises(HloError, match=r"holds 'H' beside values of instructions"):
        hlotool.compare(hlotool.parse(TEXT), executors=("stored:t.npz", "reference"),
                        arguments=[np.float32([0.5, -1.0, 0.25, 2.0])])


def test_a_name_of_condition_and_body_names_both(files: dict[str, np.ndarray]) -> None:
    """The condition runs once more than the body, and each of its values has a name of its own."""
    assert [files[f"w[{n}]/cond/i"] for n in range(4)] == [0, 1, 2, 3]
    assert [files[f"w[{n}]/body/i"] for n in range(3)] == [0, 1, 2] and "w[3]/body/i" not in files
    assert not any(name.endswith("]/i") for name in files) and "w[2]/s" in files


def test_a_wrong_value_of_a_body_is_told_from_the_condition_s(
        files: dict[str, np.ndarray], capsys: pytest.CaptureFixture[str]) -> None:
    np.savez("t.npz", **(files | {"w[1]/body/i": np.int32(7)}))
    code, found = compared(capsys, "isolate")
    assert (code, found["instruction"], found["computation"]) == (1, "i", "body")


CHAIN = """HloModule chain
ENTRY e {
  x = f32[4] parameter(0)
  y = f32[4] exponential(x)
  z = f32[4] negate(y)
  ROOT w = f32[4] sine(z)
}
"""


@pytest.fixture
def results(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Options for results alone, one of which is wrong, of a program all of whose values have one shape."""
    monkeypatch.chdir(tmp_path)
    pathlib.Path("m.hlo").write_text(CHAIN)
    pathlib.Path("n.hlo").write_text(CHAIN.replace("sine", "cosine"))
    x = np.float32([0.1, 0.2, 0.3, 0.4])
    np.savez("x.npz", x=x)
    np.savez("out.npz", result0=np.sin(-np.exp(x)) + np.float32([0, 0.5, 0, 0]))
    return ["--executors", "stored:out.npz", "reference", "--args", "x.npz"]


def test_of_results_alone_no_instruction_is_named(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "m.hlo", *results]) == 1
    told = capsys.readouterr()
    assert "differ: wrong" in told.out and "result 0 differs" in told.err and "exponential" not in told.err
    assert main(["isolate", "m.hlo", *results]) == 2
    told = capsys.readouterr()
    assert "E106" in told.err and "holds the results of one program" in told.err and "E134" not in told.err


@pytest.mark.parametrize("command", [
    ["compare", "m.hlo", "n.hlo"], ["reduce", "m.hlo", "-o", "r.hlo"], ["bundle", "m.hlo", "-o", "b.zip"]])
def test_results_of_one_program_are_not_those_of_another(command: list[str], results: list[str],
                                                         capsys: pytest.CaptureFixture[str]) -> None:
    assert main([*command, *results]) == 2
    assert "holds the results of one program" in capsys.readouterr().err
    assert not pathlib.Path(command[-1]).exists() or command[0] == "compare"


def test_what_draws_programs_takes_no_stored_results(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["fuzz", "--programs", "1", "--executors", results[1]]) == 2
    assert "holds the results of one program" in capsys.readouterr().err


def test_results_need_the_arguments_of_their_run(results: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["compare", "m.hlo", *results[:3]]) == 2
    assert "give its arguments, too" in capsys.readouterr().err
