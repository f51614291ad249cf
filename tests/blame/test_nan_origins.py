"""Programs whose results are not finite, each with the instruction that makes it so."""

import json
from dataclasses import dataclass

import numpy as np
import pytest

import hlotool
from hlotool import parse
from hlotool.blame import find_nonfinite, nonfinite_diagnostics, record
from hlotool.cli import main
from hlotool.execution import Program

ADD = "add { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  ROOT r = f32[] add(p, q) }\n"
INF, NAN = float("inf"), float("nan")


@dataclass
class Case:
    text: str
    arguments: list
    expected: str
    verdict: str = "nan"
    computation: str = "e"
    iteration: int | None = None
    inner: str | None = None
    cause: str | None = None
    masked: tuple = ()


def entry(*lines: str, before: str = "") -> str:
    return f"HloModule m\n{before}ENTRY e {{\n" + "".join(f"  {line}\n" for line in lines) + "}\n"


X4 = "x = f32[4] parameter(0)"
CASES = {
    "the gradient of where(x > 0, log(x), 0) at 0": Case(entry(
        X4, "z = f32[] constant(0)", "zs = f32[4] broadcast(z), dimensions={}",
        "p = pred[4] compare(x, zs), direction=GT",
        "l = f32[4] log(x)", "y = f32[4] select(p, l, zs)", "one = f32[] constant(1)",
        "ones = f32[4] broadcast(one), dimensions={}", "g = f32[4] select(p, ones, zs)", "d = f32[4] divide(g, x)",
        "ROOT t = (f32[4], f32[4]) tuple(y, d)"), [np.float32([1, 0, 2, 3])], "d"),
    "the same where log gives NaN, which the gradient takes up": Case(entry(
        X4, "z = f32[] constant(0)", "zs = f32[4] broadcast(z), dimensions={}",
        "p = pred[4] compare(x, zs), direction=GT",
        "l = f32[4] log(x)", "s = f32[4] sqrt(x)", "y = f32[4] select(p, l, zs)", "g = f32[4] select(p, x, zs)",
        "d = f32[4] multiply(g, s)", "ROOT t = (f32[4], f32[4]) tuple(y, d)"),
        [np.float32([1, -1, 2, 3])], "s", masked=("l",)),
    "a mask of 0 times infinity": Case(entry(
        X4, "m = f32[4] parameter(1)", "e = f32[4] exponential(x)", "ROOT y = f32[4] multiply(e, m)"),
        [np.float32([1, 100, 2, 3]), np.float32([1, 0, 1, 1])], "y", cause="e"),
    "a variance that is below zero": Case(entry(
        X4, "z = f32[] constant(0)", "n = f32[] constant(0.25)", "s = f32[] reduce(x, z), dimensions={0}, to_apply=add",
        "m = f32[] multiply(s, n)", "q = f32[4] multiply(x, x)", "t = f32[] reduce(q, z), dimensions={0}, to_apply=add",
        "k = f32[] multiply(t, n)", "mm = f32[] multiply(m, m)", "v = f32[] subtract(k, mm)", "d = f32[] sqrt(v)",
        "ROOT y = f32[] add(d, m)", before=ADD), [np.float32([1000.0008, 1000.0009, 1000.0006, 1000.0007])], "d"),
    "a negative number to the power 1.5": Case(entry(
        X4, "c = f32[] constant(1.5)", "b = f32[4] broadcast(c), dimensions={}", "p = f32[4] power(x, b)",
        "ROOT y = f32[4] negate(p)"), [np.float32([1, 2, -3, 4])], "p"),
    "a constant that is NaN": Case(entry(
        X4, "c = f32[4] constant({1, nan, 2, 3})", "ROOT y = f32[4] add(x, c)"), [np.ones(4, np.float32)], "c"),
    "an argument that is NaN": Case(entry(X4, "ROOT y = f32[4] negate(x)"), [np.float32([1, NAN, 2, 3])], "x"),
    "an infinite argument that is subtracted from itself": Case(entry(
        X4, "s = f32[4] subtract(x, x)", "ROOT y = f32[4] negate(s)"), [np.float32([1, INF, 2, 3])], "s"),
    "f16 overflows as an infinity": Case(entry(
        X4, "h = f16[4] convert(x)", "ROOT y = f32[4] convert(h)"), [np.float32([1, 70000, 2, 3])], "h",
        verdict="infinity"),
    "f8 without infinities": Case(entry(
        X4, "h = f8e4m3fn[4] convert(x)", "ROOT y = f32[4] convert(h)"), [np.float32([1, 7000, 2, 3])], "h"),
    "bf16 products overflow": Case(entry(
        "x = bf16[4] parameter(0)", "m = bf16[4] multiply(x, x)", "ROOT y = f32[4] convert(m)"),
        [np.float32([1, 3e30, 2, 3])], "m", verdict="infinity"),
    "a reducer with a logarithm": Case(entry(
        X4, "z = f32[] constant(1)", "ROOT y = f32[] reduce(x, z), dimensions={0}, to_apply=logs",
        before="logs { p = f32[] parameter(0)\n  q = f32[] parameter(1)\n  l = f32[] log(q)\n"
               "  ROOT r = f32[] add(p, l) }\n"), [np.float32([1, -2, 2, 3])], "l", computation="logs"),
    "a sum that overflows": Case(entry(
        X4, "z = f32[] constant(0)", "s = f32[] reduce(x, z), dimensions={0}, to_apply=add", "ROOT y = f32[] negate(s)",
        before=ADD), [np.float32([3e38, 3e38, 2, 3])], "s", verdict="infinity", inner="r"),
    "softmax of a row of minus infinities": Case(entry(
        X4, "l = f32[] constant(-inf)", "t = f32[] reduce(x, l), dimensions={0}, to_apply=max",
        "b = f32[4] broadcast(t), dimensions={}", "d = f32[4] subtract(x, b)", "ROOT y = f32[4] exponential(d)",
        before=ADD.replace("add", "max", 1).replace("add(", "maximum(")), [np.float32([-INF] * 4)], "d"),
    "division by zero in the branch that is taken": Case(entry(
        "i = pred[] parameter(0)", "x = f32[4] parameter(1)",
        "ROOT y = f32[4] conditional(i, x, x), true_computation=b0, false_computation=b1",
        before="b0 {\n  x = f32[4] parameter(0)\n  ROOT y = f32[4] negate(x)\n}\n"
               "b1 {\n  x = f32[4] parameter(0)\n  d = f32[4] subtract(x, x)\n  ROOT q = f32[4] divide(x, d)\n}\n"),
        [np.bool_(False), np.float32([1, 2, 0, 3])], "q", computation="b1"),
    "a loop in a loop": Case(entry(
        X4, "z = s32[] constant(0)", "t = (s32[], f32[4]) tuple(z, x)",
        "w = (s32[], f32[4]) while(t), condition=c, body=outer", "ROOT y = f32[4] get-tuple-element(w), index=1",
        before="""c {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  n = s32[] constant(3)
  ROOT p = pred[] compare(i, n), direction=LT
}
inner {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  ones = f32[] constant(1)
  b = f32[4] broadcast(ones), dimensions={}
  s = f32[4] subtract(x, b)
  q = f32[4] sqrt(s)
  u = f32[4] multiply(q, q)
  ROOT r = (s32[], f32[4]) tuple(j, u)
}
outer {
  t = (s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(t), index=0
  x = f32[4] get-tuple-element(t), index=1
  one = s32[] constant(1)
  j = s32[] add(i, one)
  z = s32[] constant(0)
  v = (s32[], f32[4]) tuple(z, x)
  w = (s32[], f32[4]) while(v), condition=c, body=inner
  y = f32[4] get-tuple-element(w), index=1
  ROOT r = (s32[], f32[4]) tuple(j, y)
}
"""), [np.float32([9.5, 9.5, 4.5, 9.5])], "q", computation="inner", iteration=1),
    "a map": Case(entry(
        X4, "ROOT y = f32[4] map(x), dimensions={0}, to_apply=f",
        before="f {\n  p = f32[] parameter(0)\n  l = f32[] log(p)\n  ROOT n = f32[] negate(l)\n}\n"),
        [np.float32([1, 2, -1, 3])], "l", computation="f"),
    "a fusion in a called computation": Case(entry(
        X4, "ROOT y = f32[4] call(x), to_apply=g",
        before="f {\n  p = f32[4] parameter(0)\n  l = f32[4] rsqrt(p)\n  ROOT n = f32[4] negate(l)\n}\n"
               "g {\n  p = f32[4] parameter(0)\n  ROOT u = f32[4] fusion(p), kind=kLoop, calls=f\n}\n"),
        [np.float32([1, 2, -1, 3])], "l", computation="f"),
    "a dot of infinities": Case(entry(
        "x = f32[2,2] parameter(0)", "w = f32[2,2] parameter(1)",
        "d = f32[2,2] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}", "ROOT y = f32[2,2] negate(d)"),
        [np.float32([[INF, 1], [2, 3]]), np.float32([[0, 1], [2, 3]])], "d"),
    "a scatter that adds": Case(entry(
        X4, "i = s32[2,1] parameter(1)", "u = f32[2] parameter(2)",
        "s = f32[4] scatter(x, i, u), update_window_dims={}, inserted_window_dims={0}, "
        "scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=add", "ROOT y = f32[4] negate(s)", before=ADD),
        [np.float32([1, 2, 3, 4]), np.int32([[1], [1]]), np.float32([3e38, 3e38])], "s", verdict="infinity",
        inner="r"),
    "padding that a reduce-window never shows": Case(entry(
        X4, "z = f32[] constant(0)", "l = f32[4] log(x)", "k = pred[4] is-finite(l)", "y = f32[4] select(k, l, x)",
        "w = f32[4] reduce-window(y, z), window={size=2 pad=0_1}, to_apply=add",
        "e = f32[4] exponential(w)", "q = f32[4] divide(e, x)",
        "ROOT r = f32[4] negate(q)", before=ADD), [np.float32([1, -1, 2, 0])], "q", verdict="infinity", masked=("l",)),
    "nothing but a NaN that is masked": Case(entry(
        X4, "l = f32[4] log(x)", "k = pred[4] is-finite(l)", "ROOT y = f32[4] select(k, l, x)"),
        [np.float32([1, -1, 2, 3])], "", verdict="finite", masked=("l",)),
    "NaN where another element of the operand is masked": Case(entry(
        X4, "l = f32[4] log(x)", "z = f32[] constant(0)", "zs = f32[4] broadcast(z), dimensions={}",
        "q = f32[4] multiply(l, zs)", "i = s32[4] iota(), iota_dimension=0", "one = s32[] constant(1)",
        "ones = s32[4] broadcast(one), dimensions={}", "p = pred[4] compare(i, ones), direction=EQ",
        "ROOT y = f32[4] select(p, zs, q)"), [np.float32([1, -1, 2, 0])], "q", masked=("l",), cause="l"),
}


def found(case: Case):
    program = Program(parse(case.text))
    given = [a.astype(s.dtype.numpy) for a, s in zip(case.arguments, program.parameters, strict=True)]
    return find_nonfinite(program, [given])


@pytest.mark.parametrize("name", CASES)
def test_the_guilty_instruction_is_named(name: str) -> None:
    case = CASES[name]
    result = found(case)
    said = record("m", result, None, is_compared=False)
    assert (said["verdict"], said["instruction"] or "") == (case.verdict, case.expected)
    assert tuple(m.place.instruction.name for m in result.masked) == case.masked
    if case.expected:
        assert (said["computation"], said["iteration"]) == (case.computation, case.iteration)
        first = said["findings"][0]
        assert first["inner"] == case.inner
        assert (first["cause"] or {}).get("instruction") == case.cause
        assert nonfinite_diagnostics(result)[0].message.startswith(case.expected)


@pytest.mark.parametrize(("name", "words"), [
    ("a negative number to the power 1.5",
     "power of -3.0 and 1.5 is nan: a negative number to a power that is no integer"),
    ("f16 overflows as an infinity", "70000.0 as f16 is inf: that exceeds 65504.0, the largest f16"),
    ("f8 without infinities",
     "7000.0 as f8e4m3fn is nan: that exceeds 448.0, the largest f8e4m3fn, and the type has no infinity"),
    ("a variance that is below zero", "the square root of a negative number"),
    ("a mask of 0 times infinity", "inf * 0.0 is nan"),
    ("a sum that overflows", "finite terms exceed 3.4028235e+38, the largest f32"),
    ("a constant that is NaN", "the constant holds nan"),
    ("padding that a reduce-window never shows", "division by zero"),
])
def test_the_reason_is_said_in_plain_words(name: str, words: str) -> None:
    assert words in found(CASES[name]).guilty[0].reason.text


def test_the_command(tmp_path, capsys) -> None:
    path, arguments = tmp_path / "m.hlo", tmp_path / "x.npz"
    path.write_text(entry(X4, 'ROOT l = f32[4] log(x), metadata={op_name="jit(f)/log" source_file="train.py" '
                              'source_line=7}'))
    np.savez(arguments, arg0=np.float32([1, -1, 2, 3]))
    assert main(["isolate", str(path), "--args", str(arguments)]) == 1
    shown = capsys.readouterr()
    assert "made by l (train.py:7)" in shown.out and "log of -1.0 is nan" in shown.err and ":4:3" in shown.err
    assert main(["isolate", "--nan", "--json", str(path), "--args", str(arguments)]) == 1
    record = json.loads(capsys.readouterr().out)
    assert (record["verdict"], record["instruction"], record["file"], record["line"], record["hlo_line"]) == (
        "nan", "l", "train.py", 7, 4)
    np.savez(arguments, arg0=np.float32([1, 1, 2, 3]))
    assert main(["isolate", "--nan", str(path), "--args", str(arguments)]) == 0


@pytest.mark.parametrize(("start", "first", "dropped"), [(0, 0, 0), (1, 1, 1), (3, 3, 3), (4, 4, 4)])
def test_the_occurrence_that_a_result_shows(start: int, first: int, dropped: int) -> None:
    text = """HloModule m
body {
  s = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[] get-tuple-element(s), index=1
  sum = f32[] get-tuple-element(s), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  f = f32[] convert(i)
  d = f32[] subtract(f, x)
  l = f32[] log(d)
  start = s32[] constant(START)
  keep = pred[] compare(i, start), direction=GE
  zero = f32[] constant(0)
  kept = f32[] select(keep, l, zero)
  more = f32[] add(sum, kept)
  ROOT t = (s32[], f32[], f32[]) tuple(n, x, more)
}
cond {
  s = (s32[], f32[], f32[]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  end = s32[] constant(8)
  ROOT r = pred[] compare(i, end), direction=LT
}
ENTRY main {
  x = f32[] parameter(0)
  z = s32[] constant(0)
  o = f32[] constant(0)
  t = (s32[], f32[], f32[]) tuple(z, x, o)
  w = (s32[], f32[], f32[]) while(t), condition=cond, body=body
  ROOT r = f32[] get-tuple-element(w), index=2
}
""".replace("START", str(start))
    found = find_nonfinite(Program(parse(text)), [[np.float32(4.5)]])
    maker = found.guilty[0]
    assert maker.place.instruction.name == "l" and maker.place.path[-1].iteration == first
    assert (maker.times, maker.dropped) == (5, dropped)
    assert f"log of {first - 4.5}" in maker.reason.text


CHOLESKY = """HloModule m
ENTRY e {
  a = f32[3,3]{0,1} parameter(0)
  c = (f32[3,3]{0,1}, s32[]) custom-call(a), custom_call_target="lapack_spotrf_ffi",
    operand_layout_constraints={f32[3,3]{0,1}}, api_version=API_VERSION_TYPED_FFI, backend_config={uplo = 76 : ui8}
  factor = f32[3,3]{0,1} get-tuple-element(c), index=0
  status = s32[] get-tuple-element(c), index=1
  zero = s32[] constant(0)
  is_good = pred[] compare(status, zero), direction=EQ
  good = pred[3,3]{0,1} broadcast(is_good), dimensions={}
  none = f32[] constant(nan)
  nans = f32[3,3]{0,1} broadcast(none), dimensions={}
  ROOT r = f32[3,3]{0,1} select(good, factor, nans)
}
"""


def test_a_library_that_found_nothing_is_named_and_quoted() -> None:
    matrix = np.float32([[1, 2, 0], [2, 1, 0], [0, 0, 1]])
    maker = find_nonfinite(Program(parse(CHOLESKY)), [[matrix]]).guilty[0]
    assert maker.place.instruction.name == "c"
    assert "LAPACK says: the leading minor of order 2 is not positive definite; none gives NaN" in maker.reason.text
    # The same constant, chosen by something else, is a constant.
    other = CHOLESKY.replace("compare(status, zero), direction=EQ", "compare(zero, zero), direction=NE")
    assert find_nonfinite(Program(parse(other)), [[matrix]]).guilty[0].place.instruction.name == "none"


def test_a_finding_is_printed_as_sentences() -> None:
    text = "HloModule m\nENTRY e { x = f32[1] parameter(0)  ROOT r = f32[1] log(x) }"
    assert "r makes NaN: log of -1.0 is nan" in str(hlotool.isolate(text, arguments=[np.float32([-1])], executors=()))
    clean = hlotool.isolate(text, arguments=[np.float32([1])], executors=())
    assert str(clean) == "nothing is found on given arguments"
