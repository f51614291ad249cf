"""What became of instructions, told by their values: `hlotool diff --values`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.blame import ValueMatches, blame_pair, match_values
from hlotool.blame.number_text import extremes
from hlotool.cli import main
from hlotool.diagnostics import HloError
from hlotool.execution import Program, arguments_for, evaluate_program

BEFORE = """HloModule before
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
ENTRY main {
  x = f32[4,6] parameter(0)
  w = f32[6,4] parameter(1)
  d = f32[4,4] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = f32[4,4] tanh(d)
  two = f32[] constant(2)
  twos = f32[4,4] broadcast(two), dimensions={}
  h = f32[4,4] divide(t, twos)
  n = f32[4,4] negate(h)
  m = f32[4,4] negate(n)
  e = f32[4,4] exponential(m)
  zero = f32[] constant(0)
  s = f32[4] reduce(e, zero), dimensions={1}, to_apply=add
  ROOT r = f32[4] sine(s)
}
"""
AFTER = """HloModule after, is_scheduled=true
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
fused {
  p = f32[4,4] parameter(0)
  t = f32[4,4] tanh(p)
  half = f32[] constant(0.5)
  halves = f32[4,4] broadcast(half), dimensions={}
  ROOT h = f32[4,4] multiply(t, halves)
}
ENTRY main {
  x = f32[4,6]{1,0} parameter(0)
  w = f32[6,4]{1,0} parameter(1)
  d = f32[4,4]{0,1} dot(w, x), lhs_contracting_dims={0}, rhs_contracting_dims={1}
  c = f32[4,4]{1,0} transpose(d), dimensions={1,0}
  f = f32[4,4]{1,0} fusion(c), kind=kLoop, calls=fused
  e = f32[4,4]{1,0} exponential(f)
  v = f32[4,4]{1,0} reverse(e), dimensions={1}
  zero = f32[] constant(0)
  s = f32[4]{0} reduce(v, zero), dimensions={1}, to_apply=add
  ROOT r = f32[4]{0} sine(s)
}
"""


def matched(before: str, after: str) -> ValueMatches:
    left, right = (Program(hlotool.parse(t)) for t in (before, after))
    return match_values(left, right, [arguments_for(left)])


def test_each_operation_has_the_fate_that_its_value_tells() -> None:
    found = matched(BEFORE, AFTER)
    fates = {r.instruction.name: (r.fate, r.partner.name if r.partner else None, r.inside) for r in found.rows}
    assert fates["d"] == ("rewritten", "c", "")  # the transpose of the other product has its elements in order
    assert fates["t"] == ("fused", "t", "f")
    assert fates["h"] == ("rewritten", "h", "f")
    assert fates["n"] == ("gone", None, "")
    assert fates["m"] == ("rewritten", "h", "f")
    assert fates["e"] == ("kept", "e", "")
    assert fates["s"][0] in ("kept", "rounded") and fates["s"][1] == "s"
    assert fates["twos"][0] == "plain"
    assert not found.different
    assert "v" not in {i.name for i in found.new}, "the same elements in another order are not new"


def test_a_result_that_differs_is_told() -> None:
    found = matched(BEFORE, AFTER.replace("constant(0.5)", "constant(0.25)"))
    assert found.different == [0]
    fates = {r.instruction.name: r.fate for r in found.rows}
    assert fates["h"] == fates["e"] == "gone"
    assert {"h", "e"} <= {i.name for i in found.new}


def test_values_in_loops_are_those_of_all_iterations() -> None:
    loop = """cond { s = (s32[], f32[3]) parameter(0)  i = s32[] get-tuple-element(s), index=0
       n = s32[] constant(COUNT)
       ROOT p = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[3]) parameter(0)  i = s32[] get-tuple-element(s), index=0  one = s32[] constant(1)
       j = s32[] add(i, one)  x = f32[3] get-tuple-element(s), index=1  y = f32[3] sine(x)
       ROOT t = (s32[], f32[3]) tuple(j, y) }
ENTRY main { x = f32[3] parameter(0)  z = s32[] constant(0)  t = (s32[], f32[3]) tuple(z, x)
  w = (s32[], f32[3]) while(t), condition=cond, body=body
  ROOT r = f32[3] get-tuple-element(w), index=1 }"""
    unrolled = "ENTRY main { x = f32[3] parameter(0)  a = f32[3] sine(x)  ROOT b = f32[3] sine(a) }"
    found = matched(unrolled, loop.replace("COUNT", "2"))
    assert [(r.fate, r.partner.name) for r in found.rows if r.partner] == [("kept", "y"), ("kept", "y")]
    assert not found.different


def test_what_takes_too_long_is_a_diagnostic() -> None:
    program = Program(hlotool.parse(BEFORE))
    with pytest.raises(HloError, match="in the time that was given"):
        match_values(program, program, [arguments_for(program)], seconds=0.0)


def test_the_command_wraps_lists_and_says_whether_results_differ(
        tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    before, after = tmp_path / "before.hlo", tmp_path / "after.hlo"
    before.write_text(BEFORE)
    after.write_text(AFTER)
    assert main(["diff", "--values", str(before), str(after)]) == 0
    shown = capsys.readouterr().out
    assert "divide -> multiply x1" in shown
    assert max(len(line) for line in shown.splitlines() if str(tmp_path) not in line) <= 80
    after.write_text(AFTER.replace("constant(0.5)", "constant(0.25)"))
    assert main(["diff", "--values", "--json", str(before), str(after)]) == 1
    assert json.loads(capsys.readouterr().out)["different_results"] == [0]
    assert main(["diff", "--values", "--all", str(before), str(after)]) == 1
    assert "  t tanh -> t in f" in capsys.readouterr().out.splitlines()


ONE = "HloModule one\nENTRY e {\n  x = f32[8] parameter(0)\n  ROOT r = f32[8] add(x, x)\n}\n"
PAIRS = {
    "they take arguments for 1 and 4 devices":
        "HloModule four, replica_count=4\nsum { a = f32[] parameter(0)  b = f32[] parameter(1)  "
        "ROOT s = f32[] add(a, b) }\nENTRY e {\n  x = f32[8] parameter(0)\n  "
        "ROOT r = f32[8] all-reduce(x), to_apply=sum\n}\n",
    r"their parameters are \(f32\[8\]\) and \(f32\[8\], f32\[8\]\)":
        "HloModule two\nENTRY e {\n  x = f32[8] parameter(0)\n  y = f32[8] parameter(1)\n  "
        "ROOT r = f32[8] add(x, y)\n}\n",
    r"their parameters are \(f32\[8\]\) and \(f32\[9\]\)":
        "HloModule nine\nENTRY e {\n  x = f32[9] parameter(0)\n  ROOT r = f32[9] add(x, x)\n}\n",
}


@pytest.mark.parametrize("message", PAIRS)
@pytest.mark.parametrize("asked", [match_values, blame_pair])
def test_modules_that_take_other_arguments_are_no_pair(asked: Any, message: str) -> None:
    one, other = Program(hlotool.parse(ONE)), Program(hlotool.parse(PAIRS[message]))
    with pytest.raises(HloError, match=message) as found:
        asked(one, other, [arguments_for(one, 0)] * one.devices)
    assert [d.code for d in found.value.diagnostics] == ["E107"]


def test_results_of_a_pair_may_differ_for_values_and_not_for_blame() -> None:
    one = Program(hlotool.parse(ONE))
    other = Program(hlotool.parse(ONE.replace("ROOT r", "s").replace("}", "  ROOT r = f32[] constant(1)\n}")))
    rows = [arguments_for(one, 0)]
    assert [row.instruction.name for row in match_values(one, other, rows).rows] == ["r"]
    with pytest.raises(HloError, match=r"their results are \(f32\[8\]\) and \(f32\[\]\)"):
        blame_pair(one, other, rows)


@pytest.mark.parametrize(("rows", "message"), [
    ([], "arguments are given for 0"), ([[]], "1 argument expected, 0 given"), ([[0], [0]], "given for 2"),
    ([[0, 0]], "1 argument expected, 2 given")])
def test_the_reference_wants_a_row_for_each_device_and_a_value_for_each_parameter(rows: Any, message: str) -> None:
    with pytest.raises(HloError, match=message):
        evaluate_program(Program(hlotool.parse(ONE)), rows)


@pytest.mark.parametrize(("array", "said"), [
    (np.float32(2.5), "2.5"), (np.zeros((0, 3)), "no elements"), (np.ones((2, 2), np.complex64), "4 elements"),
    (np.array([1, -3, 7]), "3 elements from -3 to 7"),
    (np.array([np.nan, 1.0, np.inf]), "3 elements from 1 to 1, 1 nan and 1 inf among them")])
def test_what_an_array_holds_in_a_few_words(array: Any, said: str) -> None:
    assert said in extremes(array)
