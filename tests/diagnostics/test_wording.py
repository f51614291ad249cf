"""Number and verb agree in messages, and what is underlined is what the message is about."""

from __future__ import annotations

import pytest

import hlotool
from hlotool.diagnostics import Diagnostic
from hlotool.diagnostics.wording import agreed


@pytest.mark.parametrize("written, shown", [
    ("the operand f32[3] has 1 dimensions", "the operand f32[3] has 1 dimension"),
    ("1 start indices are given", "1 start index is given"),
    ("names operand 1; there are 1 operands", "names operand 1; there is 1 operand"),
    ("the labels name 1 spatial ones", "the labels name 1 spatial one"),
    ("11 entries, 21 axes", "11 entries, 21 axes"),
    ("dimensions={1} and f32[2,1 dimensions", "dimensions={1} and f32[2,1 dimensions"),
    ("it is 0.1 elements", "it is 0.1 elements")])
def test_one_is_singular(written: str, shown: str) -> None:
    assert agreed(written) == shown
    assert Diagnostic("V103", written, help=written).message == shown


_LINES = {
    "ROOT r = f32[5,5] slice(x), slice={[0:2]}": "slice={[0:2]}",
    "ROOT r = f32[5,5] reverse(x), dimensions={0,0}": "dimensions={0,0}",
    "ROOT r = f32[5,5] transpose(x), dimensions={0,2}": "dimensions={0,2}",
    "ROOT r = f32[5,5] reduce-precision(x), exponent_bits=0, mantissa_bits=3": "exponent_bits=0",
    "ROOT r = f32[2,2] dot(x, x), lhs_contracting_dims={7}, rhs_contracting_dims={0}": "lhs_contracting_dims={7}",
    "ROOT r = dot(x, x), lhs_contracting_dims={7}, rhs_contracting_dims={0}": "lhs_contracting_dims={7}",
    "ROOT r = f32[5,5] pad(x, z), padding=0_0_-1x0_0": "padding=0_0_-1x0_0",
    "ROOT r = f32[5,5] collective-permute(x), source_target_pairs={{0,1},{0,0}}": "source_target_pairs={{0,1},{0,0}}",
    "ROOT r = f32[5,5] reduce-window(x, z), window={size=-1x1}, to_apply=add": "window={size=-1x1}",
    "ROOT r = f32[5] reduce(x, z), dimensions={1}, to_apply=same": "to_apply=same",
    "ROOT r = f32[5,5] while(x), condition=less, body=same": "condition=less",
    "ROOT r = f32[5,5] fusion(x), kind=kLoop, calls=less": "calls=less",
    "ROOT r = f32[5,5] conditional(p, x, z), true_computation=same, false_computation=same": "false_computation=same",
    "ROOT r = f32[5,5] slice(), slice={[0:5],[0:5]}": "slice",
    "ROOT r = f32[5,5] add(x, z)": "add"}
_CALLED = """add { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = f32[] add(a, b) }
less { a = f32[] parameter(0)
  b = f32[] parameter(1)
  ROOT s = pred[] compare(a, b), direction=LT }
same { ROOT a = f32[5,5] parameter(0) }
"""


@pytest.mark.parametrize("line", _LINES)
def test_the_attribute_at_fault_is_underlined(line: str) -> None:
    text = (f"HloModule m\n{_CALLED}ENTRY e {{\n  x = f32[5,5] parameter(0)\n  z = f32[] constant(0)\n"
            f"  p = pred[] constant(true)\n  {line}\n}}\n")
    found = [d for d in hlotool.lint(text) if d.severity == "error"]
    assert len(found) == 1
    row = text.splitlines()[found[0].line - 1]
    assert row[found[0].column - 1:found[0].end_column - 1] == _LINES[line]


def test_map_says_that_its_computation_takes_scalars() -> None:
    text = """HloModule m
f { p = f32[2] parameter(0)
  ROOT r = f32[2] negate(p) }
ENTRY e { x = f32[2] parameter(0)
  ROOT r = f32[2] map(x), dimensions={0}, to_apply=f }
"""
    assert "it must be a scalar" in next(d.message for d in hlotool.lint(text) if d.code == "map-c4")
