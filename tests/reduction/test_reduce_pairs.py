"""Pairs: a fault planted in a loop, a branch, a call, a fusion or a reducer is what is left of two modules."""

from __future__ import annotations

import os
import pathlib

import ml_dtypes
import numpy as np
import pytest

import hlotool
from hlotool.cli import main
from hlotool.execution import Program
from hlotool.reduction import Candidate, GuiltyPass, ReduceOptions, Reduction, WrongResult, pair_test, reduce_candidate
from hlotool.reduction.reducer import _last_that
from hlotool.verdict import compare

planted_jax = pytest.importorskip("planted_jax")
NIGHTLY = pytest.mark.skipif(not os.environ.get("HLOTOOL_NIGHTLY"), reason="minutes; HLOTOOL_NIGHTLY is not set")
RIGHT = """HloModule whole
fused {
  a = f32[4,8] parameter(0)
  b = f32[4,8] sine(a)
  ROOT c = f32[4,8] add(b, a)
}
called {
  d = f32[4,8] parameter(0)
  e = f32[4,8] cosine(d)
  ROOT f = f32[4,8] subtract(e, d)
}
larger {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  z = f32[] maximum(x, y)
  ROOT w = f32[] copy(z)
}
first {
  g = f32[4] parameter(0)
  h = f32[4] cosine(g)
  ROOT i = f32[4] add(h, g)
}
second {
  j = f32[4] parameter(0)
  k = f32[4] exponential(j)
  ROOT l = f32[4] abs(k)
}
condition {
  m = (s32[], f32[4,8], f32[4,8]) parameter(0)
  n = s32[] get-tuple-element(m), index=0
  o = s32[] constant(7)
  ROOT p = pred[] compare(n, o), direction=LT
}
body {
  q = (s32[], f32[4,8], f32[4,8]) parameter(0)
  r = s32[] get-tuple-element(q), index=0
  s = f32[4,8] get-tuple-element(q), index=1
  old = f32[4,8] get-tuple-element(q), index=2
  t = s32[] constant(1)
  u = s32[] add(r, t)
  v = f32[4,8] call(s), to_apply=called
  aa = f32[4,8] fusion(v), kind=kLoop, calls=fused
  ROOT ab = (s32[], f32[4,8], f32[4,8]) tuple(u, aa, s)
}
ENTRY main {
  ac = f32[4,8] parameter(0)
  ad = s32[] parameter(1)
  ae = f32[4,8] logistic(ac)
  af = s32[] constant(0)
  ag = (s32[], f32[4,8], f32[4,8]) tuple(af, ae, ac)
  ah = (s32[], f32[4,8], f32[4,8]) while(ag), condition=condition, body=body
  ai = f32[4,8] get-tuple-element(ah), index=1
  aj = f32[4,8] get-tuple-element(ah), index=2
  ak = f32[4,8] add(ai, aj)
  al = f32[] constant(0.25)
  am = f32[4] reduce(ak, al), dimensions={1}, to_apply=larger
  an = f32[4] conditional(ad, am, am), branch_computations={first, second}
  ao = f32[4] atan2(an, am)
  ROOT ap = (f32[4], f32[4,8]) tuple(ao, ak)
}
"""
FAULTS = {
    "the body of a fusion in a loop": ("sine(a)", "cosine(a)"),
    "operands in a call in a loop": ("subtract(e, d)", "subtract(d, e)"),
    "the step of a loop": ("t = s32[] constant(1)", "t = s32[] constant(2)"),
    "the limit of a loop": ("o = s32[] constant(7)", "o = s32[] constant(5)"),
    "the direction of a condition": ("direction=LT", "direction=LE"),
    "a state that stays": ("tuple(u, aa, s)", "tuple(u, aa, old)"),
    "a branch": ("cosine(g)", "sine(g)"),
    "branches exchanged": ("branch_computations={first, second}", "branch_computations={second, first}"),
    "a reducer": ("maximum(x, y)", "minimum(x, y)"),
    "before a loop": ("logistic(ac)", "tanh(ac)"),
    "after a loop": ("ak = f32[4,8] add(ai, aj)", "ak = f32[4,8] subtract(ai, aj)"),
}
ROWS = [np.random.default_rng(3).normal(size=(4, 8)).astype(np.float32), np.int32(0)]


def reduced(left: str, right: str) -> Reduction:
    return reduce_candidate(Candidate(hlotool.parse(left), [ROWS], hlotool.parse(right)), pair_test(20.0),
                            ReduceOptions(jobs=1))


def renamed(text: str) -> str:
    """The same module under other names, which pair nothing any more."""
    from hlotool.passes.edit import renamed as with_short_names

    module = with_short_names(hlotool.parse(text), "other")
    for computation in module.computations:
        computation.name = f"c_{computation.name}"
        for number, instruction in enumerate(reversed(computation.instructions)):
            instruction.name = f"v{number}"
    return str(module)


@pytest.mark.parametrize("change", [str, renamed], ids=["same names", "other names"])
@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_is_what_is_left(fault: str, change) -> None:
    old, new = FAULTS[fault]
    assert old in RIGHT
    found = reduced(RIGHT, change(RIGHT.replace(old, new)))
    small = found.candidate
    assert small.size <= 8 and found.is_complete and found.last.seen, (str(small.module), str(small.other))
    assert len(small.module.computations) == len(small.other.computations) == 1
    said = compare(hlotool.parse(str(small.module)), hlotool.parse(str(small.other)), arguments=small.rows[0],
                   executors=("reference", "reference"))
    assert said.verdict == "differ"


def test_a_fold_that_gives_infinities_is_left() -> None:
    """Alone the minimum gives -inf in place of numbers, which the steps behind it hide in one of the results."""
    text = """larger { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] maximum(p, q) }
ENTRY e { x = f32[4] parameter(0)  y = f32[4] sine(x)  c = f32[] constant(-inf)
  m = f32[] reduce(y, c), dimensions={0}, to_apply=larger  b = f32[4] broadcast(m), dimensions={}
  d = f32[4] divide(y, b)  t = f32[4] tanh(d)  n = f32[] negate(m)  ROOT u = (f32[4], f32[]) tuple(t, n) }"""
    found = reduce_candidate(Candidate(hlotool.parse(text), [[np.float32([1, 2, 3, 4])]],
                                       hlotool.parse(text.replace("maximum", "minimum"))), pair_test(20.0))
    assert found.candidate.size <= 8 and found.last.seen


def test_a_collective_in_a_loop_is_left_with_all_its_devices() -> None:
    text = """HloModule m, replica_count=2
sum { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT r = f32[] add(p, q) }
body { s = (s32[], f32[3]) parameter(0)  i = s32[] get-tuple-element(s), index=0
  x = f32[3] get-tuple-element(s), index=1  one = s32[] constant(1)  j = s32[] add(i, one)  y = f32[3] sine(x)
  z = f32[3] all-reduce(y), replica_groups={{0,1}}, to_apply=sum  w = f32[3] tanh(z)
  ROOT t = (s32[], f32[3]) tuple(j, w) }
condition { s = (s32[], f32[3]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
  ROOT g = pred[] compare(i, n), direction=LT }
ENTRY e { x = f32[3] parameter(0)  zero = s32[] constant(0)  s = (s32[], f32[3]) tuple(zero, x)
  l = (s32[], f32[3]) while(s), condition=condition, body=body  ROOT r = f32[3] get-tuple-element(l), index=1 }"""
    rows = [[np.float32([1, 2, 3])], [np.float32([-0.5, 4, 1])]]
    found = reduce_candidate(Candidate(hlotool.parse(text), rows, hlotool.parse(text.replace(
        "{{0,1}}", "{{0},{1}}"))), pair_test(20.0))
    assert found.candidate.size <= 10 and len(found.candidate.rows) == 2 and found.last.seen


def test_what_one_module_alone_takes_becomes_its_constant() -> None:
    text = """ENTRY e { x = f32[9] parameter(0)  i = s32[] parameter(1)  u = f32[2] parameter(2)  y = f32[9] sine(x)
  s = f32[9] dynamic-update-slice(y, u, i)  ROOT r = f32[9] tanh(s) }"""
    found = reduce_candidate(Candidate(hlotool.parse(text), [[np.ones(9, "f4"), np.int32(3), np.zeros(2, "f4")]],
                                       hlotool.parse(text.replace("dynamic-update-slice(y, u, i)", "copy(y)"))),
                             pair_test(20.0))
    assert found.candidate.size <= 6 and len(found.candidate.rows[0]) == 1


@pytest.mark.parametrize("name", [
    pytest.param(n, marks=[] if n == "viterbi" else [NIGHTLY]) for n in sorted(planted_jax.PROGRAMS)])
def test_faults_in_programs_of_jax(name: str) -> None:
    """Two instructions and what they take are left: 8 in all, or a few more where folds have their reducers."""
    for case in planted_jax.cases([name], 3, 1):
        found = reduce_candidate(Candidate(case.left.module, case.rows, case.right.module), pair_test(30.0),
                                 ReduceOptions(jobs=1, time_limit=300))
        assert found.candidate.size <= 16 and found.last.seen, (case.kind, case.way)


def test_a_fold_of_several_arrays_becomes_one_of_a_plain_operation() -> None:
    """The window is at fault: what the reducer does with the places of the largest is not needed."""
    text = """larger { a = f32[] parameter(0)  b = s32[] parameter(1)  c = f32[] parameter(2)  d = s32[] parameter(3)
  g = pred[] compare(a, c), direction=GE  v = f32[] select(g, a, c)  i = s32[] select(g, b, d)
  ROOT t = (f32[], s32[]) tuple(v, i) }
ENTRY e { x = f32[4,6] parameter(0)  i = s32[4,6] iota(), iota_dimension=1  low = f32[] constant(-inf)
  zero = s32[] constant(0)  y = f32[4,6] sine(x)
  f = (f32[2,3], s32[2,3]) reduce-window(y, i, low, zero), window={size=2x2 stride=2x2}, to_apply=larger
  v = f32[2,3] get-tuple-element(f), index=0  w = s32[2,3] get-tuple-element(f), index=1  z = f32[2,3] convert(w)
  ROOT r = f32[2,3] add(v, z) }"""
    rows = [[np.random.default_rng(0).normal(size=(4, 6)).astype("f4")]]
    found = reduce_candidate(Candidate(hlotool.parse(text), rows, hlotool.parse(text.replace("size=2x2", "size=1x2"))),
                             pair_test(20.0)).candidate
    assert found.size <= 12 and found.other is not None
    assert [[i.opcode for i in m.instructions() if i.called_computations()] for m in (found.module, found.other)] == [
        ["reduce-window"]] * 2


def test_an_operation_that_one_module_computes_in_a_wider_type() -> None:
    """A pass that makes f32 of bf16 exchanges operands, too."""
    left = """ENTRY e { x = bf16[2,3,1] parameter(0)  s = bf16[2,3,1] sqrt(x)  c = bf16[] constant(0.5)
  b = bf16[2,3,1] broadcast(c), dimensions={}  d = bf16[2,3,1] divide(b, s)  ROOT n = bf16[2,3,1] negate(d) }"""
    right = """ENTRY e { x = bf16[2,3,1] parameter(0)  r = bf16[2,3] reshape(x)  w = f32[2,3] convert(r)
  s = f32[2,3] sqrt(w)  t = bf16[2,3] convert(s)  u = f32[2,3] convert(t)  c = f32[] constant(0.5)
  b = f32[2,3] broadcast(c), dimensions={}  d = f32[2,3] divide(u, b)  k = bf16[2,3] convert(d)
  n = f32[2,3] convert(k)  m = f32[2,3] negate(n)  o = bf16[2,3] convert(m)  ROOT p = bf16[2,3,1] reshape(o) }"""
    rows = [[np.asarray(np.arange(1, 7).reshape(2, 3, 1), ml_dtypes.bfloat16)]]
    found = reduce_candidate(Candidate(hlotool.parse(left), rows, hlotool.parse(right)), pair_test(20.0)).candidate
    assert found.size <= 6 and found.other is not None
    assert [m.entry.root.opcode for m in (found.module, found.other)] == ["divide"] * 2


def test_computations_in_another_order_are_no_difference() -> None:
    """Both modules call both computations on x; one of them is at fault."""
    text = """HloModule m
f {
  a = f32[3] parameter(0)
  ROOT b = f32[3] sine(a)
}
g {
  c = f32[3] parameter(0)
  d = f32[3] cosine(c)
  ROOT e = f32[3] tanh(d)
}
ENTRY m {
  x = f32[3] parameter(0)
  y = f32[3] call(x), to_apply=FIRST
  z = f32[3] call(x), to_apply=SECOND
  ROOT r = f32[3] subtract(ONE, TWO)
}
"""
    left = text.replace("FIRST", "f").replace("SECOND", "g").replace("ONE", "y").replace("TWO", "z")
    right = text.replace("FIRST", "g").replace("SECOND", "f").replace("ONE", "z").replace("TWO", "y")
    made = reduce_candidate(Candidate(hlotool.parse(left), [[np.float32([1, 2, 3])]],
                                      hlotool.parse(right.replace("tanh", "abs"))), pair_test(20.0)).candidate
    assert [{i.opcode for i in m.instructions()} - {"parameter"} for m in (made.module, made.other)] == [
        {"tanh"}, {"abs"}]


def test_values_that_are_equal_by_chance_hide_no_fault() -> None:
    """The faulty minimum is zero everywhere, as other values of both modules are."""
    text = """ENTRY e { x = s32[5] parameter(0)  zero = s32[] constant(0)  z = s32[5] broadcast(zero), dimensions={}
  m = s32[5] maximum(x, z)  k = s32[5] subtract(x, x)  n = s32[5] add(m, k)  ROOT r = s32[5] negate(n) }"""
    made = reduce_candidate(Candidate(hlotool.parse(text), [[np.int32([1, 2, 3, 4, 5])]],
                                      hlotool.parse(text.replace("maximum", "minimum"))), pair_test(20.0))
    opcodes = [{i.opcode for i in m.instructions()} for m in (made.candidate.module, made.candidate.other)]
    assert "maximum" in opcodes[0] and "minimum" in opcodes[1] and made.candidate.size <= 8


def test_a_truth_value_that_chooses_nan_is_what_is_left() -> None:
    text = """ENTRY e { x = f32[4] parameter(0)  i = s32[4] parameter(1)  n = s32[] constant(9)
  b = s32[4] broadcast(n), dimensions={}  c = pred[4] compare(i, b), direction=LE  u = f32[] constant(nan)
  v = f32[4] broadcast(u), dimensions={}  s = f32[4] select(c, x, v)  ROOT r = f32[4] negate(s) }"""
    rows = [[np.float32([1, 2, 3, 4]), np.int32([3, 9, 9, 12])]]
    made = reduce_candidate(Candidate(hlotool.parse(text), rows, hlotool.parse(text.replace("LE", "LT"))),
                            pair_test(20.0)).candidate
    opcodes = [{i.opcode for i in m.instructions()} for m in (made.module, made.other)]
    assert all("compare" in o and "select" not in o for o in opcodes) and made.size <= 8


def test_modules_that_are_not_alike_keep_their_arguments() -> None:
    """Two ways to compute one value part on other arguments, which is no fault."""
    left = """ENTRY e { x = f32[3] parameter(0)  y = f32[3] sine(x)  z = f32[3] multiply(y, y)  w = f32[3] tanh(z)
  ROOT r = f32[3] negate(w) }"""
    right = """ENTRY e { x = f32[3] parameter(0)  a = f32[3] abs(x)  b = f32[3] exponential(a)  c = f32[3] log(b)
  d = f32[3] sqrt(c)  f = f32[3] floor(d)  ROOT r = f32[3] ceil(f) }"""
    rows = [[np.float32([0.5, 1.5, 2.5])]]
    found = reduce_candidate(Candidate(hlotool.parse(left), rows, hlotool.parse(right)), pair_test(20.0))
    assert [a.tolist() for a in found.candidate.rows[0]] == [rows[0][0].tolist()]


def test_saved_pairs_are_reduced_by_the_command(tmp_path: pathlib.Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [tmp_path / name for name in ("before.hlo", "after.hlo", "small.hlo", "small.other.hlo", "x.npz")]
    files[0].write_text(RIGHT)
    files[1].write_text(RIGHT.replace(*FAULTS["the body of a fusion in a loop"]))
    saved = ["-o", str(files[2]), "--save-arguments", str(files[4])]
    assert main(["reduce", *map(str, files[:2]), *saved, "-j", "1"]) == 0
    capsys.readouterr()
    assert main(["compare", *map(str, files[2:4]), "--args", str(files[4]), "--executors", "reference"]) == 1


class Denied(WrongResult):
    """A test that the judge confirms of large modules only."""

    def look(self, candidate):
        found = super().look(candidate)
        return found if self.is_quick or candidate.size > 3 else type(found)((), "denied")


def test_a_result_is_what_the_whole_test_confirms(monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick test leads too far; the search goes on from the last candidate that is confirmed."""
    text = "ENTRY e { x = f32[2] parameter(0)  a = f32[2] sine(x)  b = f32[2] cosine(a)  ROOT c = f32[2] tanh(b) }"
    pair = Candidate(hlotool.parse(text), [[np.float32([1, 2])]], hlotool.parse(text.replace("tanh", "abs")))
    monkeypatch.setattr("hlotool.reduction.oracle_pool.Asker._answer",
                        lambda self, child, candidate, limit: self.test.look(candidate))
    found = reduce_candidate(pair, Denied("OTHER", "MODULE", 20.0), ReduceOptions(jobs=1))
    assert found.last.seen and found.candidate.size > 3


def test_the_last_of_a_history_that_shows_something() -> None:
    history = [Candidate(Program(hlotool.parse(RIGHT)).module) for _ in range(9)]
    for shown in range(10):
        found = _last_that(lambda c, n=shown: history.index(c) < n, history)
        assert found == (shown - 1 if shown else None)


def test_a_pass_is_asked_for_last() -> None:
    test = GuiltyPass("pjrt:cpu", "reference", 20.0, "algsimp")
    assert isinstance(test.quick(), WrongResult) and not isinstance(test.quick(), GuiltyPass)
