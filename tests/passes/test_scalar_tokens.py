"""Scalars that frameworks hand from collective to collective: they go where nobody can tell, else that is said."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.execution import Program, run_program
from hlotool.passes.legalize import legalize

TEXT = """HloModule m, replica_count=2
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT z = f32[] add(x, y) }
ENTRY e {
  a = f32[4] parameter(0)
  zero = f32[] constant(0)
  g = (f32[8], f32[]) all-gather(a, zero), replica_groups={{0,1}}, dimensions={0}
  all = f32[8] get-tuple-element(g), index=0
  tok = f32[] get-tuple-element(g), index=1
  next = f32[] multiply(tok, zero)
  ROOT s = (f32[4], f32[]) reduce-scatter(all, next), replica_groups={{0,1}}, dimensions={0}, to_apply=add
}"""


def test_zeros_go_and_the_arrays_stay() -> None:
    module = hlotool.parse(TEXT)
    arguments = [[np.arange(4, dtype=np.float32)], [np.arange(4, 8, dtype=np.float32)]]
    for executor in ("reference", "pjrt:cpu"):
        first, second = run_program(Program(module), arguments, executor)
        assert first[0].tolist() == [0, 2, 4, 6]
        assert second[0].tolist() == [8, 10, 12, 14]
        assert first[1] == second[1] == 0
    legalize(module)
    assert hlotool.verify(module) == []
    assert [len(i.operands) for i in module.instructions() if i.opcode in ("all-gather", "reduce-scatter")] == [1, 1]


def test_a_scalar_that_nobody_reads_goes() -> None:
    text = TEXT.replace("zero = f32[] constant(0)", "zero = f32[] parameter(1)").replace(
        "multiply(tok, zero)", "constant(0)")
    module = legalize(hlotool.parse(text))
    assert hlotool.verify(module) == []
    assert any(i.opcode == "all-gather" and len(i.operands) == 1 for i in module.instructions())


def test_a_scalar_whose_value_counts_is_not_guessed() -> None:
    text = TEXT.replace("zero = f32[] constant(0)", "zero = f32[] parameter(1)")
    with pytest.raises(hlotool.HloError, match="not known to be zero") as raised:
        hlotool.to_stablehlo(hlotool.parse(text, filename="m.hlo"))
    assert raised.value.diagnostics[0].code == "L105"
    assert raised.value.diagnostics[0].line == 6
    with pytest.raises(hlotool.HloError, match="not known to be zero"):
        Program(hlotool.parse(text))


def test_lint_says_what_xla_says() -> None:
    assert "all-gather-c2" in [d.code for d in hlotool.verify(hlotool.parse(TEXT))]


@pytest.mark.parametrize(("lines", "is_zero"), [
    ("z = f32[] constant(0)", True), ("z = f32[] constant(1)", False), ("z = f32[] constant(-0)", True),
    ("a = f32[] constant(0)  z = f32[] copy(a)", True), ("z = f32[] negate(x)", False), ("z = f32[] copy(x)", False),
    ("a = f32[] constant(0)  z = f32[] multiply(x, a)", True), ("z = f32[] multiply(x, x)", False),
    ("a = f32[] constant(0)  z = f32[] add(a, x)", False),
    ("a = f32[] constant(0)  t = (f32[], f32[]) tuple(x, a)  z = f32[] get-tuple-element(t), index=1", True),
    ("a = f32[] constant(0)  t = (f32[], f32[]) tuple(x, a)  z = f32[] get-tuple-element(t), index=0", False),
    ("z = f32[] get-tuple-element(p), index=0", False)])
def test_which_scalars_are_zero(lines: str, is_zero: bool) -> None:
    from hlotool.passes.legalize.scalar_tokens import _is_zero

    entry = hlotool.parse(f"ENTRY e {{ x = f32[] parameter(0)  p = (f32[], f32[]) parameter(1)  {lines}  "
                          "ROOT r = f32[] negate(z) }").entry
    assert _is_zero(entry.root.operands[0]) is is_zero
