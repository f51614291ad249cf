"""Shapes that the text leaves out, where element types or dynamic sizes differ: as XLA's parser fills them in."""

import pytest

import hlotool

HEAD = """HloModule m
add { p = f32[] parameter(0)  q = f32[] parameter(1)  ROOT s = f32[] add(p, q) }
two { a = f32[] parameter(0)  b = s32[] parameter(1)  c = f32[] parameter(2)  d = s32[] parameter(3)
  e = f32[] add(a, c)  f = s32[] add(b, d)  ROOT t = (f32[], s32[]) tuple(e, f) }
"""
DOT = "dot(x, y), lhs_contracting_dims={1}, rhs_contracting_dims={0}"
CONVOLUTION = "convolution(x, y), window={size=2}, dim_labels=b0f_0io->b0f"
#: operands, the instruction without its shape, the shape
CASES = [
    (("s8[2,2]", "s16[2,2]"), DOT, "s16[2,2]"),
    (("u8[2,2]", "s32[2,2]"), DOT, "s32[2,2]"),
    (("s8[2,2]", "u8[2,2]"), DOT, "s8[2,2]"),
    (("f16[2,2]", "bf16[2,2]"), DOT, "bf16[2,2]"),
    (("f8e5m2[2,2]", "f8e4m3fn[2,2]"), DOT, "f8e5m2[2,2]"),
    (("bf16[1,4,1]", "f16[2,1,1]"), CONVOLUTION, "bf16[1,3,1]"),
    (("s8[3,<=4,3]", "s32[<=2,3,2]"), CONVOLUTION, "s32[3,<=3,2]"),
    (("bf16[4,4,3]", "bf16[<=2,3,4]"), CONVOLUTION, "bf16[4,<=3,4]"),
    (("f32[4]", "bf16[]"), "reduce-window(x, y), window={size=2}, to_apply=add", "bf16[3]"),
    (("f32[4,2]", "s32[?,2]", "f32[]", "s32[]"), "reduce(x, y, z, w), dimensions={1}, to_apply=two",
     "(f32[4], s32[4])"),
    (("pred[<=2]", "f32[2]", "f32[2]"), "select(x, y, z)", "f32[<=2]"),
]


def text(operands, instruction):
    names = [f"  {'xyzw'[i]} = {shape} parameter({i})" for i, shape in enumerate(operands)]
    return "\n".join([f"{HEAD}ENTRY e {{", *names, f"  ROOT r = {instruction}", "}"])


@pytest.mark.parametrize(("operands", "instruction", "shape"), CASES)
def test_shape(operands, instruction, shape):
    assert hlotool.parse(text(operands, instruction)).entry.root.shape.text(False) == shape


@pytest.mark.parametrize(("operands", "instruction", "shape"), CASES)
def test_xla_says_the_same(operands, instruction, shape):
    from xla_library import xla_hlo

    rows = xla_hlo.hlo_module_from_text(text(operands, instruction)).to_string(xla_hlo.HloPrintOptions.short_parsable())
    expected = hlotool.parse(rows).entry.root.shape
    assert expected.text(False) == shape
