"""The structure that a round trip keeps, and where it is told that one did not."""

import pytest

import hlotool
from hlotool.cli.main import main
from hlotool.passes.equality import NotComparable, Numbering, gone


def first_difference(one, other):
    numbering = Numbering()
    left, right = (numbering.module(hlotool.parse(t)) for t in (one, other))
    if left == right:
        return None
    pair = next((a, b) for a, b in zip(left, right, strict=True) if a != b)
    return [numbering.placed(n).instruction.name for n in numbering.first_difference(*pair)]


PLAIN = "ENTRY e { x = f32[2] parameter(0)  d = f32[2] add(x, x)  ROOT y = f32[2] negate(d) }"

SAME = {
    "names": "ENTRY e { p = f32[2] parameter(0)  q = f32[2] add(p, p)  ROOT r = f32[2] negate(q) }",
    "fusion": """f { a = f32[2] parameter(0)  ROOT b = f32[2] add(a, a) }
        ENTRY e { x = f32[2] parameter(0)  d = f32[2] fusion(x), kind=kLoop, calls=f  ROOT y = f32[2] negate(d) }""",
    "call": """f { a = f32[2] parameter(0)  b = f32[2] add(a, a)  ROOT c = f32[2] negate(b) }
        ENTRY e { x = f32[2] parameter(0)  ROOT d = f32[2] call(x), to_apply=f }""",
    "copies and layouts": """ENTRY e { x = f32[2]{0} parameter(0)  c = f32[2]{0:S(1)} copy(x)
        d = f32[2] add(c, x)  b = f32[2] bitcast(d)  ROOT y = f32[2] negate(b) }""",
    "tuples": """ENTRY e { t = (f32[2]) parameter(0)  x = f32[2] get-tuple-element(t), index=0  d = f32[2] add(x, x)
        u = (f32[2], f32[2]) tuple(x, d)  v = f32[2] get-tuple-element(u), index=1  ROOT y = f32[2] negate(v) }""",
    "asynchronous": """f { a = f32[2] parameter(0)  ROOT b = f32[2] add(a, a) }
        ENTRY e { x = f32[2] parameter(0)  s = ((f32[2]), f32[2]) async-start(x), calls=f
        d = f32[2] async-done(s)  ROOT y = f32[2] negate(d) }""",
    "repetitions": """ENTRY e { x = f32[2] parameter(0)  d = f32[2] add(x, x)  dead = f32[2] tanh(d)
        again = f32[2] add(x, x)  ROOT y = f32[2] negate(again) }""",
}


@pytest.mark.parametrize("text", SAME.values(), ids=SAME)
def test_what_a_round_trip_may_change(text):
    assert first_difference(PLAIN, text) is None


@pytest.mark.parametrize("text, names", [
    (PLAIN.replace("add(x, x)", "multiply(x, x)"), ["d", "d"]),
    (PLAIN.replace("negate(d)", "abs(d)"), ["y", "y"]),
    ("""f { a = f32[2] parameter(0)  ROOT b = f32[2] subtract(a, a) }
        ENTRY e { x = f32[2] parameter(0)  d = f32[2] fusion(x), kind=kLoop, calls=f  ROOT y = f32[2] negate(d) }""",
     ["d", "b"]),
])
def test_the_first_operation_that_differs(text, names):
    assert first_difference(PLAIN, text) == names


LOOP = """
cond { p = (s32[], f32[2], f32[2]) parameter(0)  i = s32[] get-tuple-element(p), index=0  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT }
body { p = (s32[], f32[2], f32[2]) parameter(0)  i = s32[] get-tuple-element(p), index=0
  one = s32[] constant(1)  j = s32[] add(i, one)  v = f32[2] get-tuple-element(p), index=1
  w = f32[2] get-tuple-element(p), index=2  s = f32[2] add(v, w)  ROOT t = (s32[], f32[2], f32[2]) tuple(j, s, w) }
ENTRY e { x = f32[2] parameter(0)  z = s32[] constant(0)  k = f32[2] constant({0.5, 0.5})
  init = (s32[], f32[2], f32[2]) tuple(z, x, k)
  l = (s32[], f32[2], f32[2]) while(init), condition=cond, body=body
  ROOT r = f32[2] get-tuple-element(l), index=1 }"""

#: the same, the constant in the loop
INSIDE = """
cond { p = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(p), index=0  n = s32[] constant(5)
  ROOT c = pred[] compare(i, n), direction=LT }
body { p = (s32[], f32[2]) parameter(0)  i = s32[] get-tuple-element(p), index=0  half = f32[] constant(0.5)
  one = s32[] constant(1)  j = s32[] add(i, one)  v = f32[2] get-tuple-element(p), index=1
  w = f32[2] broadcast(half), dimensions={}  s = f32[2] add(v, w)  ROOT t = (s32[], f32[2]) tuple(j, s) }
ENTRY e { x = f32[2] parameter(0)  z = s32[] constant(0)  init = (s32[], f32[2]) tuple(z, x)
  l = (s32[], f32[2]) while(init), condition=cond, body=body  ROOT r = f32[2] get-tuple-element(l), index=1 }"""


def test_what_a_loop_takes_along_unchanged():
    assert first_difference(LOOP, INSIDE) is None
    assert first_difference(LOOP, INSIDE.replace("add(v, w)", "add(w, v)")) == ["s", "s"]
    assert first_difference(LOOP, INSIDE.replace("constant(5)", "constant(6)")) == ["n", "n"]


def test_random_numbers_are_drawn_as_often_as_written():
    one = """ENTRY e { z = f32[] constant(0)  o = f32[] constant(1)  a = f32[2] rng(z, o), distribution=rng_uniform
              b = f32[2] rng(z, o), distribution=rng_uniform  ROOT s = f32[2] add(a, b) }"""
    assert first_difference(one, one) is None
    numbering = Numbering()
    assert numbering.module(hlotool.parse(one)) != numbering.module(
        hlotool.parse(one.replace("add(a, b)", "add(a, a)")))


def test_operations_that_are_gone():
    one = hlotool.parse("""ENTRY e { x = f32[2] parameter(0)  c = f32[2] copy(x)  b = s32[2] bitcast(c)
        ROOT y = s32[2] custom-call(b), custom_call_target="f" }""")
    other = hlotool.parse("ENTRY e { x = f32[2] parameter(0)  ROOT y = s32[2] bitcast-convert(x) }")
    assert gone(one, other) == ["bitcast", "custom-call f"] and gone(other, other) == []


def test_calls_without_end_are_not_written_out(monkeypatch):
    monkeypatch.setattr("hlotool.passes.equality.numbering._LARGEST", 20_000)  # a hundredth of what it is, for time
    rows = ["c0 { a = f32[] parameter(0)  ROOT b = f32[] negate(a) }"]
    for n in range(1, 40):
        rows.append(f"c{n} {{ a = f32[] parameter(0)  b = f32[] call(a), to_apply=c{n - 1}\n"
                    f"  c = f32[] call(b), to_apply=c{n - 1}  ROOT d = f32[] add(b, c) }}")
    rows.append("ENTRY e { x = f32[] parameter(0)  ROOT y = f32[] call(x), to_apply=c39 }")
    module = hlotool.parse("\n".join(rows))
    with pytest.raises(NotComparable):
        Numbering().module(module)


def test_round_trip_of_stablehlo(tmp_path, capsys):
    path = tmp_path / "p.mlir"
    path.write_text("""
    func.func @main(%x: tensor<4xf32>, %p: tensor<i1>) -> (tensor<4xf32>, tensor<f32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f32>
      %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0]
        : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      %r = "stablehlo.if"(%p) ({
        %n = stablehlo.negate %s : tensor<f32>
        stablehlo.return %n : tensor<f32>
      }, { stablehlo.return %s : tensor<f32> }) : (tensor<i1>) -> tensor<f32>
      return %x, %r : tensor<4xf32>, tensor<f32>
    }""")
    assert main(["roundtrip", str(path), "--skip", "reference", "interp"]) == 0
    assert "1 of 1 modules came back equal" in capsys.readouterr().out


def test_a_structure_that_is_lost_is_a_failure_with_a_place(tmp_path, capsys, monkeypatch):
    import hlotool.stablehlo

    wrong = hlotool.parse(PLAIN.replace("add", "subtract"))
    monkeypatch.setattr(hlotool, "from_stablehlo", lambda code, **_: wrong)
    path = tmp_path / "a.hlo"
    path.write_text("HloModule m\n\n" + PLAIN.replace("  ", "\n  "))
    assert main(["roundtrip", str(path), "--skip", "run"]) == 1
    shown = capsys.readouterr().err
    assert "X210" in shown and "%d = f32[2] add(%x, %x)" in shown and "subtract" in shown and f"{path}:4:" in shown


def test_what_is_not_compared_can_be_listed(capsys):
    assert main(["roundtrip", "--list"]) == 0
    assert "fusions" in capsys.readouterr().out
