"""Only an instruction that is wrong on the other module's values of its operands is named."""

from __future__ import annotations

import json
import pathlib

import numpy as np
import planted_pairs
import pytest
from sound_rewrites import SOUND

import hlotool
from hlotool.blame import blame_pair, pair_record
from hlotool.cli.main import main
from hlotool.execution import Program
from hlotool.verdict import ArgumentSearch

#: a loop with a conditional, a reduction and a call of a computation that only its body uses
LOOP = """HloModule m
sum { p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT plus = f32[] add(p, q) }
up { x = f32[3] parameter(0)
  e = f32[3] exponential(x)
  ROOT u = f32[3] negate(e) }
down { y = f32[3] parameter(0)
  ROOT d = f32[3] sine(y) }
cond { s = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(4)
  ROOT go = pred[] compare(i, n), direction=LT }
body { s = (s32[], f32[3], f32[3]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  h = f32[3] get-tuple-element(s), index=1
  old = f32[3] get-tuple-element(s), index=2
  one = s32[] constant(1)
  j = s32[] add(i, one)
  two = s32[] constant(2)
  odd = pred[] compare(i, two), direction=GE
  c = f32[3] conditional(odd, h, old), true_computation=up, false_computation=down
  z = f32[] constant(0)
  t = f32[] reduce(c, z), dimensions={0}, to_apply=sum
  b = f32[3] broadcast(t), dimensions={}
  k = f32[3] subtract(c, b)
  ROOT next = (s32[], f32[3], f32[3]) tuple(j, k, h) }
ENTRY e { x = f32[3] parameter(0)
  zero = s32[] constant(0)
  start = (s32[], f32[3], f32[3]) tuple(zero, x, x)
  w = (s32[], f32[3], f32[3]) while(start), condition=cond, body=body
  ROOT g = f32[3] get-tuple-element(w), index=1 }
"""
ROWS = [[np.float32([0.5, -0.25, 0.75])]]


@pytest.mark.parametrize("is_renamed", [False, True])
@pytest.mark.parametrize(("old", "new", "guilty"), [
    ("tuple(j, k, h)", "tuple(j, h, h)", "next"), ("tuple(j, k, h)", "tuple(j, k, k)", "next"),
    ("direction=LT", "direction=GT", "go"), ("direction=GE", "direction=LT", "odd"),
    ("true_computation=up, false_computation=down", "true_computation=down, false_computation=up", "c"),
    ("subtract(c, b)", "subtract(b, c)", "k"), ("subtract(c, b)", "multiply(c, b)", "k"),
    ("add(p, q)", "maximum(p, q)", "plus"), ("constant(2)", "constant(3)", "two"), ("sine(y)", "cosine(y)", "d")])
def test_the_instruction_with_the_fault_is_named(old: str, new: str, guilty: str, is_renamed: bool) -> None:
    left, right = (Program(hlotool.parse(text)) for text in (LOOP, LOOP.replace(old, new)))
    if is_renamed:
        every = [f"v{n}" for n in range(100)]
        names = {}
        for number, instruction in enumerate(right.module.instructions()):
            names.setdefault(instruction.name, every[-number])
            instruction.name = names[instruction.name]
        guilty = names[guilty]
    found = blame_pair(left, right, ROWS)
    assert found is not None and found.place is not None and found.place.instruction.name == guilty
    assert pair_record("a", "b", found)["confirmed"] is True


@pytest.mark.parametrize("form", ["copy(y)", "negate(y)", "copy(x)", "dynamic-update-slice(x, u, i)"])
def test_what_stands_for_another_operation_is_named_and_not_what_takes_it(form: str) -> None:
    text = """ENTRY e { x = f32[9] parameter(0)  i = s32[] parameter(1)  u = f32[2] parameter(2)  y = f32[9] sine(x)
  s = f32[9] dynamic-update-slice(y, u, i)  ROOT r = f32[9] tanh(s) }"""
    left, right = (Program(hlotool.parse(t)) for t in (text, text.replace("dynamic-update-slice(y, u, i)", form)))
    found = blame_pair(left, right, [[np.ones(9, "f4"), np.int32(3), np.zeros(2, "f4")]])
    assert found is not None and found.place is not None and found.place.instruction.name == "s"


def test_no_instruction_of_another_program_is_named() -> None:
    """Behind other values every instruction seems to mend the result."""
    left = Program(hlotool.parse("ENTRY e { x = f32[3] parameter(0)  y = f32[3] sine(x)  z = f32[3] multiply(y, y)\n"
                                 "  w = f32[3] tanh(z)  ROOT r = f32[3] negate(w) }"))
    right = Program(hlotool.parse("ENTRY e { x = f32[3] parameter(0)  a = f32[3] abs(x)  b = f32[3] exponential(a)\n"
                                  "  c = f32[3] log(b)  d = f32[3] sqrt(c)  f = f32[3] floor(d)\n"
                                  "  ROOT r = f32[3] ceil(f) }"))
    found = blame_pair(left, right, [[np.float32([0.5, 1.5, 2.5])]])
    assert found is not None and found.place is None


FUSED = """HloModule m
ENTRY e { x = f32[4] parameter(0)
  y = f32[4] parameter(1)
  s = f32[4] multiply(x, y)
  c = f32[] constant(0.5)
  b = f32[4] broadcast(c), dimensions={}
  m = f32[4] maximum(s, b)
  ROOT r = f32[4] subtract(m, x) }
"""
OPTIMISED = """HloModule m
f { q = f32[4] parameter(0)
  p = f32[4] parameter(1)
  c1 = f32[] constant(0.5)
  b1 = f32[4] broadcast(c1), dimensions={}
  s1 = f32[4] multiply(q, p)
  ROOT m1 = f32[4] maximum(b1, s1) }
g { a = f32[4] parameter(0)
  d = f32[4] parameter(1)
  ROOT r1 = f32[4] subtract(d, a) }
ENTRY e { x1 = f32[4] parameter(0)
  y1 = f32[4] parameter(1)
  one = f32[4] fusion(y1, x1), kind=kLoop, calls=f
  ROOT two = f32[4] fusion(x1, one), kind=kLoop, calls=g }
"""


@pytest.mark.parametrize(("old", "new", "guilty"), [
    ("maximum(b1", "minimum(b1", "m1 in f, called by one"),
    ("subtract(d, a)", "subtract(a, d)", "r1 in g, called by two"),
    ("multiply(q", "add(q", "s1 in f, called by one")])
def test_fusions_are_opened(old: str, new: str, guilty: str) -> None:
    left, right = (Program(hlotool.parse(text)) for text in (FUSED, OPTIMISED.replace(old, new)))
    rows = [[np.float32([1, 2, -3, 0.25]), np.float32([0.5, -2, 1.5, 3])]]
    found = blame_pair(left, right, rows)
    assert found is not None and str(found.place) == guilty
    assert blame_pair(left, Program(hlotool.parse(OPTIMISED)), rows) is None


def test_none_is_named_where_two_may_be_guilty() -> None:
    """1 * s is to be 1 / s, or the product is to be a quotient."""
    parameters = "x = f32[4] parameter(0)\n  s = f32[4] parameter(1)\n"
    left = Program(hlotool.parse(f"ENTRY e {{ {parameters}  ROOT r = f32[4] divide(x, s) }}"))
    right = Program(hlotool.parse(
        f"ENTRY e {{ {parameters}  c = f32[] constant(1)\n  b = f32[4] broadcast(c), dimensions={{}}\n"
        "  q = f32[4] multiply(b, s)\n  ROOT m = f32[4] multiply(x, q) }"))
    found = blame_pair(left, right, [[np.float32([1, 2, 3, 4]), np.float32([3, 5, 7, 9])]])
    assert found is not None and found.place is None and found.between is not None
    assert str(found) == "between q and m: not decided"
    record = pair_record("a", "b", found)
    assert (record["instruction"], record["confirmed"], record["between"]) == (None, False, [["q"], "m"])


@pytest.mark.parametrize("name", sorted(SOUND)[::4])
def test_no_instruction_of_a_sound_rewrite_is_named(name: str) -> None:
    pair = SOUND[name]
    left, right = (Program(hlotool.parse(f"HloModule m\n{pair.computations}ENTRY e {{ {pair.parameters}{text} }}"))
                   for text in (pair.before, pair.after))
    found = blame_pair(left, right, next(ArgumentSearch([left]).sets(["plain"])).values)
    assert found is None or found.place is None


LEAST = """HloModule m
least { v = f32[] parameter(0)
  w = f32[] parameter(2)
  lt = pred[] compare(v, w), direction=LT
  ne = pred[] compare(v, v), direction=NE
  left = pred[] or(lt, ne)
  eq = pred[] compare(v, w), direction=EQ
  i = s32[] parameter(1)
  j = s32[] parameter(3)
  first = pred[] compare(i, j), direction=LT
  tie = pred[] and(eq, first)
  which = pred[] or(left, tie)
  x = f32[] select(left, v, w)
  k = s32[] select(which, i, j)
  ROOT t = (f32[], s32[]) tuple(x, k) }
"""
ARGUMENT_OF_LEAST = LEAST + """ENTRY e { x = f32[3,5] parameter(0)
  n = s32[3,5] iota(), iota_dimension=1
  big = f32[] constant(inf)
  zero = s32[] constant(0)
  r = (f32[3], s32[3]) reduce(x, n, big, zero), dimensions={1}, to_apply=least
  ROOT g = s32[3] get-tuple-element(r), index=1 }
"""
FUSED_LEAST = (LEAST.replace("or(left, tie)", "or(tie, left)").replace("compare(v, w), direction=LT",
               "compare(w, v), direction=GT") + """fused { y = f32[3,5] parameter(0)
  m = s32[3,5] iota(), iota_dimension=1
  inf1 = f32[] constant(inf)
  nought = s32[] constant(0)
  ROOT r1 = (f32[3], s32[3]) reduce(y, m, inf1, nought), dimensions={1}, to_apply=least }
ENTRY e { x1 = f32[3,5] parameter(0)
  f = (f32[3], s32[3]) fusion(x1), kind=kInput, calls=fused
  ROOT g1 = s32[3] get-tuple-element(f), index=1 }
""").replace("HloModule m", "HloModule m, is_scheduled=true")


@pytest.mark.parametrize(("old", "new", "guilty"), [
    ("and(eq, first)", "or(eq, first)", "tie"), ("compare(i, j), direction=LT", "compare(i, j), direction=GT", "first"),
    ("select(which, i, j)", "select(which, j, i)", "k"), ("reduce(y, m", "reduce(y, m", None)])
def test_the_instruction_in_a_reducer_is_named(old: str, new: str, guilty: str | None) -> None:
    left, right = (Program(hlotool.parse(t)) for t in (ARGUMENT_OF_LEAST, FUSED_LEAST.replace(old, new)))
    rows = [[np.float32([[3, 1, 2, 1, 5], [0, 4, 0, 1, 2], [-1, -3, 2, 2, -3]])]]
    found = blame_pair(left, right, rows)
    if guilty is None:
        assert found is None
    else:
        assert found is not None and str(found.place) == f"{guilty} in least, called by r1, called by f"
        assert pair_record("a", "b", found)["confirmed"] is True


def test_a_fold_is_named_where_two_instructions_in_its_reducer_may_be_guilty() -> None:
    """Another direction, or exchanged operands of the select, mend it."""
    text = """larger { p = f32[] parameter(0)
  q = f32[] parameter(1)
  ROOT m = f32[] maximum(p, q) }
ENTRY e { x = f32[5] parameter(0)
  c = f32[] constant(0)
  ROOT r = f32[] reduce(x, c), dimensions={0}, to_apply=larger }
"""
    left, right = (Program(hlotool.parse(t)) for t in (text, text.replace(
        "ROOT m = f32[] maximum(p, q)", "t = pred[] compare(p, q), direction=LE\n  ROOT s = f32[] select(t, p, q)")))
    found = blame_pair(left, right, [[np.float32([1, 5, 2, 3, 1])]])
    assert found is not None and (found.place is None or found.place.instruction.name in ("r", "t", "s"))


def test_planted_faults_of_every_kind() -> None:
    left = Program(hlotool.parse(LOOP))
    for way in ("same", "renamed"):
        met = set()
        for case in planted_pairs.planted("loop", left, left, ROWS, way, 8, seed=2):
            found = blame_pair(case.left, case.right, case.rows)
            assert found is not None and found.place is not None, case.kind
            assert found.place.instruction.name in case.wanted, case.kind
            met.add(case.kind)
        assert len(met) >= 5


_ZERO = """HloModule m
ENTRY e { x = f32[4] parameter(0)
  z = f32[] constant(0)
  b = f32[4] broadcast(z), dimensions={}
  s = f32[4] add(x, b)
  ROOT r = s32[4] bitcast-convert(s) }
"""


def test_the_sign_of_a_zero_is_named_where_it_is_all_that_differs() -> None:
    """Both zeros are equal numbers, and `subtract` in the place of the sum would mend it, too."""
    rows = [[np.float32([-0.0, 1.0, -0.0, 2.0])]]
    left, right = (Program(hlotool.parse(text)) for text in (_ZERO, _ZERO.replace("constant(0)", "constant(-0)")))
    found = blame_pair(left, right, rows)
    assert found is not None and found.place is not None and found.place.instruction.name == "z"


_ROOT = """HloModule m
ENTRY e {{ x = u32[2] parameter(0)
  f = {0}[2] convert(x)
  s = {0}[2] sqrt(f)
  ROOT r = u32[2] convert(s) }}
"""


def test_what_is_alike_in_both_modules_is_innocent() -> None:
    """A square root in f32 in place of f64 reaches 65536: the conversion of it is right."""
    left, right = (Program(hlotool.parse(_ROOT.format(kind))) for kind in ("f64", "f32"))
    found = blame_pair(left, right, [[np.uint32([4294967295, 4])]])
    assert found is not None
    assert found.place is None or found.place.instruction.name in ("f", "s"), str(found)


def test_arguments_are_searched_where_made_ones_show_nothing() -> None:
    text = ("HloModule m\nENTRY e {\n  x = s32[4] parameter(0)\n  k = s32[] constant(31337)\n"
            "  b = s32[4] broadcast(k), dimensions={}\n  c = pred[4] compare(x, b), direction=GT\n"
            "  n = s32[4] negate(x)\n  ROOT r = s32[4] select(c, n, x)\n}\n")
    found = hlotool.isolate(text, text.replace("direction=GT", "direction=GE"))
    assert found.place is not None and found.place.instruction.name == "c"
    assert hlotool.isolate(text, text.replace("HloModule m", "HloModule n")).is_clean


def test_isolate_and_compare_say_the_same_where_nothing_is_named(tmp_path: pathlib.Path,
                                                                 capsys: pytest.CaptureFixture[str]) -> None:
    text = """HloModule m
        ENTRY e { x = f32[4] parameter(0)  z = f32[] constant(0)  b = f32[4] broadcast(z), dimensions={}
            ROOT r = f32[4] multiply(b, b) }"""
    before, after = tmp_path / "before.hlo", tmp_path / "after.hlo"
    before.write_text(text)
    after.write_text(text.replace("multiply", "add"))  # of zeros, which no argument reaches
    found = hlotool.isolate(str(before), str(after))
    assert found.is_clean and found.comparison is not None and found.comparison.kind == "vacuous"
    assert main(["isolate", str(before), str(after)]) == 0
    told = capsys.readouterr().out
    assert "no arguments show a difference" in told and "none (vacuous)" in told
    assert main(["isolate", str(before), str(after), "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["verdict"] == "none"


NOT_REVERSED = ("""ENTRY e { x = f32[6] parameter(0)
  o = f32[6] abs(x)
  n = f32[6] negate(o)
  w = f32[6] reverse(x), dimensions={0}
  m = f32[6] negate(w)
  b = s32[6] bitcast-convert(m)
  ROOT t = (s32[6], f32[6]) tuple(b, n) }
""", """HloModule m, is_scheduled=true
f { p = f32[6] parameter(0)
  w = f32[6] copy(p)
  m = f32[6] negate(w)
  ROOT c = s32[6] bitcast-convert(m) }
g { p = f32[6] parameter(0)
  o = f32[6] abs(p)
  ROOT n = f32[6] negate(o) }
ENTRY e { x = f32[6] parameter(0)
  b = s32[6] fusion(x), kind=kLoop, calls=f
  n = f32[6] fusion(x), kind=kLoop, calls=g
  ROOT t = (s32[6], f32[6]) tuple(b, n) }
""")
TWO_COUNTERS = """c { s = (s32[], s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT }
k { i = s32[] parameter(0)
  j = s32[] parameter(1)
  one = s32[] constant(1)
  a = s32[] add(i, one)
  b = s32[] add(j, one)
  ROOT t = (s32[], s32[]) tuple(a, b) }
b { s = (s32[], s32[], f32[4]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  j = s32[] get-tuple-element(s), index=1
  x = f32[4] get-tuple-element(s), index=2
  r = (s32[], s32[]) call(i, j), to_apply=k
  i2 = s32[] get-tuple-element(r), index=0
  j2 = s32[] get-tuple-element(r), index=1
  f = f32[] convert(i2)
  w = f32[4] broadcast(f), dimensions={}
  y = f32[4] multiply(x, w)
  ROOT t = (s32[], s32[], f32[4]) tuple(j2, i2, y) }
ENTRY e { x = f32[4] parameter(0)
  z = s32[] constant(0)
  s = (s32[], s32[], f32[4]) tuple(z, z, x)
  w = (s32[], s32[], f32[4]) while(s), condition=c, body=b
  ROOT y = f32[4] get-tuple-element(w), index=2 }
"""


@pytest.mark.parametrize(("left", "right", "guilty"), [
    (*NOT_REVERSED, "w"),
    (TWO_COUNTERS, TWO_COUNTERS.replace("a = s32[] add(i, one)", "a = s32[] copy(i)").replace(
        "b = s32[] add(j, one)", "b = s32[] add(j, one)\n  d = s32[] add(one, i)"), "a")])
def test_what_takes_a_wrong_value_without_a_partner_is_innocent(left: str, right: str, guilty: str) -> None:
    """The operand has the elements of the wanted one in another order, or its partner is another one's."""
    one, other = Program(hlotool.parse(left)), Program(hlotool.parse(right))
    found = blame_pair(one, other, [[np.float32([3, 1, 4, 1.5, 9, 2.5])[:one.parameters[0].dims[0]]]])
    assert found is not None
    assert found.place is None or found.place.instruction.name == guilty, found.place


def test_a_copied_constant_is_named_and_not_its_copy() -> None:
    """The constant has the number of another one of the first module, with which it is paired."""
    left = """ENTRY e { x = s32[4] parameter(0)
  k = s32[] constant(1)
  u = s32[4] broadcast(k), dimensions={}
  z = s32[] constant(0)
  w = s32[4] broadcast(z), dimensions={}
  s = s32[4] add(x, w)
  v = s32[4] subtract(s, u)
  ROOT t = (s32[4], s32[]) tuple(v, z) }
"""
    right = """ENTRY e { x = s32[4] parameter(0)
  u = s32[4] constant({1, 1, 1, 1})
  o = s32[] constant(1)
  c = s32[] copy(o)
  w = s32[4] broadcast(c), dimensions={}
  s = s32[4] add(x, w)
  v = s32[4] subtract(s, u)
  ROOT t = (s32[4], s32[]) tuple(v, c) }
"""
    found = blame_pair(Program(hlotool.parse(left)), Program(hlotool.parse(right)), [[np.int32([1, 2, 3, 4])]])
    assert found is not None and found.place is not None and found.place.instruction.name == "o"


def test_a_transposition_that_is_too_much_is_named() -> None:
    """It has the elements of the right value in another order, and takes the right value itself."""
    left = """ENTRY e { x = f32[3,3] parameter(0)
  w = f32[3,3] parameter(1)
  a = f32[3,3] tanh(x)
  ROOT d = f32[3,3] dot(a, w), lhs_contracting_dims={1}, rhs_contracting_dims={0} }
"""
    right = left.replace("dot(a,", "dot(t,").replace(
        "  ROOT d", "  t = f32[3,3] transpose(a), dimensions={1,0}\n  ROOT d")
    given = [np.float32([[1, 2, 3], [4, 5, 6], [7, 8, 9.5]]) / 8, np.float32([[1, 0, 2], [0, 3, 1], [5, 1, 0]])]
    found = blame_pair(Program(hlotool.parse(left)), Program(hlotool.parse(right)), [given])
    assert found is not None and found.place is not None and found.place.instruction.name in ("t", "d"), found
