"""What of a program depends on its arguments, by kind of instruction; how many roundings stand in between."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.execution import Program
from hlotool.numerics import roundings
from hlotool.verdict.dependence import Dependence

HEAD = """HloModule m
add { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT s = f32[] add(a, b) }
four { ROOT f = f32[] constant(4) }
itself { ROOT a = f32[] parameter(0) }
again { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  n = s32[] constant(3)
        ROOT p = pred[] compare(i, n), direction=LT }
until { s = (s32[], f32[]) parameter(0)  v = f32[] get-tuple-element(s), index=1  n = f32[] constant(3)
        ROOT p = pred[] compare(v, n), direction=LT }
count { s = (s32[], f32[]) parameter(0)  i = s32[] get-tuple-element(s), index=0  one = s32[] constant(1)
        j = s32[] add(i, one)  v = f32[] get-tuple-element(s), index=1  ROOT t = (s32[], f32[]) tuple(j, v) }
swap { s = (f32[], f32[]) parameter(0)  a = f32[] get-tuple-element(s), index=0
       b = f32[] get-tuple-element(s), index=1  ROOT t = (f32[], f32[]) tuple(b, a) }
thrice { s = (f32[], f32[]) parameter(0)  ROOT p = pred[] constant(false) }
ENTRY e { x = f32[] parameter(0)  v = f32[4] parameter(1)  k = f32[] constant(2)  z = s32[] constant(0)
"""


@pytest.mark.parametrize(("body", "depends"), [
    ("ROOT r = f32[] negate(x)", True), ("ROOT r = f32[] negate(k)", False), ("ROOT r = f32[] add(k, x)", True),
    ("t = (f32[], f32[]) tuple(x, k)  ROOT r = f32[] get-tuple-element(t), index=0", True),
    ("t = (f32[], f32[]) tuple(x, k)  ROOT r = f32[] get-tuple-element(t), index=1", False),
    ("ROOT t = (f32[], f32[]) tuple(k, x)", True), ("ROOT t = (f32[], f32[]) tuple(k, k)", False),
    ("ROOT r = f32[] copy(x)", True), ("ROOT r = f32[] copy(k)", False),
    ("ROOT r = f32[] call(x), to_apply=itself", True), ("ROOT r = f32[] call(k), to_apply=itself", False),
    ("ROOT r = f32[] fusion(), kind=kLoop, calls=four", False),
    ("ROOT r = f32[] reduce(v, k), dimensions={0}, to_apply=add", True),
    ("w = f32[4] broadcast(k), dimensions={}  ROOT r = f32[] reduce(w, k), dimensions={0}, to_apply=add", False),
    ("ROOT r = u32[] replica-id()", True), ("ROOT r = f32[] rng(k, k), distribution=rng_uniform", True),
    ("i = s32[] convert(x)  ROOT r = f32[] conditional(i, k, k), branch_computations={itself, itself}", True),
    ("ROOT r = f32[] conditional(z, k, k), branch_computations={itself, itself}", False),
    ("t = (s32[], f32[]) tuple(z, x)  w = (s32[], f32[]) while(t), condition=again, body=count  "
     "ROOT r = s32[] get-tuple-element(w), index=0", False),
    ("t = (s32[], f32[]) tuple(z, x)  w = (s32[], f32[]) while(t), condition=again, body=count  "
     "ROOT r = f32[] get-tuple-element(w), index=1", True),
    # How often it runs depends on x: so does the counter.
    ("t = (s32[], f32[]) tuple(z, x)  w = (s32[], f32[]) while(t), condition=until, body=count  "
     "ROOT r = s32[] get-tuple-element(w), index=0", True),
    ("t = (f32[], f32[]) tuple(k, x)  w = (f32[], f32[]) while(t), condition=thrice, body=swap  "
     "ROOT r = f32[] get-tuple-element(w), index=0", True),
    ("t = (f32[], f32[]) tuple(k, k)  w = (f32[], f32[]) while(t), condition=thrice, body=swap  "
     "ROOT r = f32[] get-tuple-element(w), index=0", False)])
def test_what_depends_on_the_arguments(body: str, depends: bool) -> None:
    assert Dependence(Program(hlotool.parse(HEAD + body + " }"))).results is depends


def test_what_is_never_computed_depends_on_nothing() -> None:
    program = Program(hlotool.parse(HEAD + "ROOT r = f32[] call(x), to_apply=itself }"))
    items = {i.name: i for c in program.module.computations for i in c.instructions if c.name in ("add", "itself")}
    found = Dependence(program)
    assert not found.depends(items["s"]) and found.depends(program.module.entry.root)


@pytest.mark.parametrize(("body", "count"), [
    ("ROOT r = f32[] negate(x)", 0), ("ROOT r = f32[] tanh(x)", 1), ("a = f32[] tanh(x)  ROOT r = f32[] sine(a)", 2),
    ("ROOT r = s32[] add(z, z)", 0), ("ROOT r = f32[4] copy(v)", 0),
    # beside the reducer's own addition
    ("ROOT r = f32[] reduce(v, k), dimensions={0}, to_apply=add", 3),
    ("ROOT r = f32[] dot(v, v), lhs_contracting_dims={0}, rhs_contracting_dims={0}", 4),
    ("ROOT r = f32[] call(x), to_apply=itself", 0)])
def test_how_many_roundings(body: str, count: int) -> None:
    module = hlotool.parse(HEAD + body + " }")
    assert roundings(module) - roundings(hlotool.parse(HEAD + "ROOT r = f32[] negate(x) }")) == count


def test_roundings_of_one_result() -> None:
    body = "a = f32[] tanh(x)  b = f32[] sine(a)  ROOT t = (f32[], f32[], f32[]) tuple(k, a, b) }"
    module = hlotool.parse(HEAD + body)
    assert [roundings(module, n) for n in range(3)] == [0, 1, 2]
