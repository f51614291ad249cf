"""What results feed, however they get there: written examples, and models held against the slow way."""

from __future__ import annotations

from pathlib import Path

import pytest
from fed_opcodes import fed_opcodes

import hlotool
from hlotool.corpus.reached_users import ReachedUsers
from hlotool.ir import HloModule

MODELS = sorted((Path(__file__).parents[2] / "samples" / "models").glob("*.hlo"), key=lambda p: p.stat().st_size)[:12]
MODULE = """HloModule m
fused (a: f32[8,8], b: f32[8,8]) -> f32[8,8] {
  a = f32[8,8] parameter(0)
  b = f32[8,8] parameter(1)
  t = f32[8,8] transpose(a), dimensions={1,0}
  ROOT d = f32[8,8] dot(t, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
same (x: f32[8,8]) -> f32[8,8] {
  x = f32[8,8] parameter(0)
  ROOT y = f32[8,8] copy(x)
}
body (p: (s32[], f32[8,8], f32[8,8])) -> (s32[], f32[8,8], f32[8,8]) {
  p = (s32[], f32[8,8], f32[8,8]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  v1 = f32[8,8] get-tuple-element(p), index=1
  v2 = f32[8,8] get-tuple-element(p), index=2
  e = f32[8,8] exponential(v1)
  ROOT r = (s32[], f32[8,8], f32[8,8]) tuple(n, e, v2)
}
cond (p: (s32[], f32[8,8], f32[8,8])) -> pred[] {
  p = (s32[], f32[8,8], f32[8,8]) parameter(0)
  n = s32[] get-tuple-element(p), index=0
  k = s32[] constant(3)
  ROOT c = pred[] compare(n, k), direction=LT
}
ENTRY e {
  q = f32[8,8] parameter(0)
  z = s32[] constant(0)
  s = (f32[8,8], f32[8,8]) all-gather-start(q), dimensions={0}
  g = f32[8,8] all-gather-done(s)
  c = bf16[8,8] convert(g)
  f = f32[8,8] fusion(c, q), kind=kLoop, calls=fused
  sine = f32[8,8] sine(q)
  cosine = f32[8,8] cosine(q)
  one = f32[8,8] call(sine), to_apply=same
  other = f32[8,8] call(cosine), to_apply=same
  init = (s32[], f32[8,8], f32[8,8]) tuple(z, one, other)
  w = (s32[], f32[8,8], f32[8,8]) while(init), condition=cond, body=body
  w1 = f32[8,8] get-tuple-element(w), index=1
  w2 = f32[8,8] get-tuple-element(w), index=2
  l = f32[8,8] log(w2)
  abs = f32[8,8] abs(w1)
  ROOT out = (f32[8,8], f32[8,8], f32[8,8]) tuple(f, l, abs)
}
"""


def opcodes(module: HloModule, name: str, computation: str = "e") -> set[str]:
    (home,) = (c for c in module.computations if c.name == computation)
    found = ReachedUsers(module).opcodes(next(i for i in home.instructions if i.name == name))
    assert found == sorted(set(found))
    return set(found)


@pytest.mark.parametrize(("name", "computation", "fed"), [
    ("s", "e", "all-gather-done convert fusion transpose dot"),
    ("g", "e", "convert fusion transpose dot"),
    ("f", "e", "tuple"),
    ("d", "fused", "tuple"),
    ("sine", "e", "call copy tuple while get-tuple-element exponential"),
    ("cosine", "e", "call copy tuple while get-tuple-element log"),
    ("e", "body", "tuple get-tuple-element abs"),
    ("y", "same", "tuple while get-tuple-element exponential log"),
    ("z", "e", "tuple while get-tuple-element compare"),
    ("out", "e", "")])
def test_what_an_instruction_feeds(name: str, computation: str, fed: str) -> None:
    module = hlotool.parse(MODULE)
    assert opcodes(module, name, computation) == set(fed.split())


@pytest.mark.parametrize("source", [MODULE, *MODELS], ids=lambda s: getattr(s, "stem", "example"))
def test_the_quick_way_is_the_slow_one(source: str | Path) -> None:
    module = hlotool.read(source) if isinstance(source, Path) else hlotool.parse(source)
    reached = ReachedUsers(module)
    every = list(module.instructions())
    for instruction in every[::max(1, len(every) // 150)]:
        assert set(reached.opcodes(instruction)) == fed_opcodes(module, instruction), instruction.name


def test_long_chains_and_circles_come_to_an_end() -> None:
    links = "".join(f"  v{n + 1} = f32[] copy(v{n})\n" for n in range(20_000))
    text = f"HloModule m\nENTRY e {{\n  v0 = f32[] parameter(0)\n{links}  ROOT r = f32[] tan(v20000)\n}}"
    module = hlotool.parse(text)
    assert opcodes(module, "v0") == {"copy", "tan"}
    circle = hlotool.parse("HloModule m\nENTRY e {\n  a = f32[] parameter(0)\n  ROOT b = f32[] copy(a)\n}")
    first, last = circle.entry.instructions
    first.opcode, first.operands = "copy", (last,)
    assert set(ReachedUsers(circle).opcodes(first)) == {"copy"}
