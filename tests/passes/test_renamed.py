"""The names that a reduced module gets."""

from __future__ import annotations

import hlotool
from hlotool.passes.edit import renamed

TEXT = """HloModule long_name
add.region.7 { a = f32[] parameter(0)  b = f32[] parameter(1)  ROOT c = f32[] add(a, b) }
again.8 { s = (s32[], f32[]) parameter(0)  ROOT t = pred[] constant(false) }
round.9 { s = (s32[], f32[]) parameter(0)  ROOT t = (s32[], f32[]) copy(s) }
inner.10 { a = f32[2] parameter(0)  ROOT b = f32[2] tanh(a) }
ENTRY e {
  x.1 = f32[2] parameter(0)
  y.2 = f32[2] fusion(x.1), kind=kLoop, calls=inner.10
  z.3 = f32[] constant(0)
  s.4 = f32[] reduce(y.2, z.3), dimensions={0}, to_apply=add.region.7
  i.5 = s32[] constant(0)
  t.6 = (s32[], f32[]) tuple(i.5, s.4)
  ROOT w.7 = (s32[], f32[]) while(t.6), condition=again.8, body=round.9
}
"""


def test_computations_are_named_for_what_they_are_to_their_callers() -> None:
    found = renamed(hlotool.parse(TEXT), "reduced")
    assert [c.name for c in found.computations] == ["add", "condition", "body", "called", "main"]
    assert [i.name for i in found.entry.instructions] == [
        "p0", "fusion", "constant", "reduce", "constant.1", "tuple", "while"]
