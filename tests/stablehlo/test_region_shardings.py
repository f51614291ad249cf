"""Shardings of loops and branches reach their regions, as XLA has them; HLO without them comes back without them."""

from __future__ import annotations

import re

import pytest

import hlotool

LOOP = """module @m attributes {mhlo.num_partitions = 2 : i32} {
  func.func @main(%x: tensor<4x4xf32> {mhlo.sharding = "{devices=[2,1]0,1}"}, %p: tensor<i32>) -> tensor<4x4xf32> {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %c, %a = %x) : tensor<i32>, tensor<4x4xf32> attributes {
        mhlo.sharding = "{{replicated}, {devices=[2,1]0,1}}"}
    cond {
      %n = stablehlo.constant dense<3> : tensor<i32>
      %1 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %1 : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %1 = stablehlo.add %i, %one : tensor<i32>
      %2 = stablehlo.add %a, %a : tensor<4x4xf32>
      stablehlo.return %1, %2 : tensor<i32>, tensor<4x4xf32>
    }
    %3 = "stablehlo.case"(%p) ({
      %4 = stablehlo.abs %0#1 : tensor<4x4xf32>
      stablehlo.return %4 : tensor<4x4xf32>
    }, {
      %4 = stablehlo.negate %0#1 : tensor<4x4xf32>
      stablehlo.return %4 : tensor<4x4xf32>
    }) {mhlo.sharding = "{devices=[2,1]0,1}"} : (tensor<i32>) -> tensor<4x4xf32>
    return %3 : tensor<4x4xf32>
  }
}
"""


def test_regions_have_the_shardings_of_their_loop() -> None:
    module = hlotool.from_stablehlo(LOOP)
    loop, branch = module.find_all("while")[0], module.find_all("conditional")[0]
    wanted, part = loop.attributes["sharding"], branch.attributes["sharding"]
    for name in ("condition", "body"):
        region = loop.attributes[name]
        (parameter,) = region.parameters()
        assert parameter.attributes["sharding"] == wanted
        for one in region.instructions:
            if one.opcode == "get-tuple-element":
                assert one.attributes["sharding"] == wanted.elements[one.attributes["index"]]
    assert loop.attributes["body"].root.attributes["sharding"] == wanted
    assert [c.root.attributes["sharding"] for c in branch.called_computations()] == [part, part]
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]


def test_they_are_where_xla_puts_them() -> None:
    from jaxlib import _jax

    theirs = _jax.mlir.mlir_module_to_xla_computation(LOOP, use_tuple_args=False, return_tuple=False).as_hlo_text()
    state = "{{replicated}, {devices=[2,1]0,1}}"
    for text in (theirs, str(hlotool.from_stablehlo(LOOP))):
        inside = text.split("ENTRY")[0]
        assert len(re.findall(r"parameter\(0\), sharding=" + re.escape(state), inside)) == 2
        assert len(re.findall(r"ROOT [^\n]* tuple\([^\n]*sharding=" + re.escape(state), inside)) == 1
        assert len(re.findall(r"get-tuple-element\([^\n]*index=1, sharding=\{devices=\[2,1\]0,1\}", inside)) >= 1


@pytest.mark.parametrize("inner", ["", ", sharding={{replicated}, {devices=[2,1]0,1}}"])
def test_hlo_comes_back_as_it_was(inner: str) -> None:
    outer = ", sharding={{replicated}, {devices=[2,1]0,1}}"
    text = f"""HloModule m, num_partitions=2
cond {{
  p = (s32[], f32[4]) parameter(0){inner}
  i = s32[] get-tuple-element(p), index=0
  n = s32[] constant(3)
  ROOT l = pred[] compare(i, n), direction=LT
}}
body {{
  p = (s32[], f32[4]) parameter(0){inner}
  i = s32[] get-tuple-element(p), index=0
  j = s32[] add(i, i)
  x = f32[4] get-tuple-element(p), index=1
  y = f32[4] add(x, x)
  ROOT t = (s32[], f32[4]) tuple(j, y){inner}
}}
ENTRY e {{
  x = f32[4] parameter(0), sharding={{devices=[2]0,1}}
  z = s32[] parameter(1), sharding={{replicated}}
  t = (s32[], f32[4]) tuple(z, x)
  w = (s32[], f32[4]) while(t), condition=cond, body=body{outer}
  ROOT r = f32[4] get-tuple-element(w), index=1, sharding={{devices=[2]0,1}}
}}""".replace("[2,1]", "[2]")
    back = hlotool.from_stablehlo(str(hlotool.to_stablehlo(hlotool.parse(text))))
    (loop,) = back.find_all("while")
    (parameter,) = loop.attributes["body"].parameters()
    assert ("sharding" in parameter.attributes) is bool(inner)
    assert ("sharding" in loop.attributes["body"].root.attributes) is bool(inner)
