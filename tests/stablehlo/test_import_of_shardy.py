"""Operations of Shardy and of other passes that HLO says otherwise, or does not need to say."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool import execute, from_stablehlo

MESH = 'sdy.mesh @mesh = <["a"=2]>'
MAIN = "func.func @main(%a: tensor<8xf32>) -> tensor<8xf32>"


@pytest.mark.parametrize("operation", [
    '%0 = sdy.reshard %a <@mesh, [{"a"}]> : tensor<8xf32>',
    '%0 = sdy.all_gather [{"a"}] %a out_sharding=<@mesh, [{}]> : tensor<8xf32>',
    '%0 = sdy.all_reduce {"a"} %a out_sharding=<@mesh, [{}]> : tensor<8xf32>',
    '%0 = sdy.sharding_constraint %a <@mesh, [{"a"}]> : tensor<8xf32>'])
def test_another_sharding_is_the_same_value(operation: str) -> None:
    given = " {sdy.sharding = #sdy.sharding<@mesh, [{\"a\"}]>}" if "all_gather" in operation else ""
    main = MAIN.replace("tensor<8xf32>)", f"tensor<8xf32>{given})")
    module = from_stablehlo(f"module {{ {MESH}\n {main} {{\n {operation}\n return %0 : tensor<8xf32> }} }}")
    (call,) = module.find_all("custom-call")
    assert call.attributes["custom_call_target"] == "Sharding" and module.entry.root is call
    assert "sdy.sharding_per_value<[<@mesh" in call.attributes["frontend_attributes"].get("xla.sdy.sharding")


def test_a_group_of_shardings_is_a_call() -> None:
    module = from_stablehlo(f"module {{ {MAIN} {{\n sdy.sharding_group %a group_id=21 : tensor<8xf32>\n"
                            " return %a : tensor<8xf32> } }")
    (call,) = module.find_all("custom-call")
    assert call.attributes["custom_call_target"] == "xla.sdy.ShardingGroup" and call.shape.is_tuple
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]


def test_constants_of_shardy_and_values_that_constants_make() -> None:
    module = from_stablehlo("""module { func.func @main(%a: tensor<8xf32>) -> tensor<f32> {
  %c = sdy.constant dense<0.0> : tensor<f32>
  %two = sdy.constant dense<2.0> : tensor<f32>
  %four = stablehlo.multiply %two, %two : tensor<f32>
  %0 = "stablehlo.map"(%a) ({ ^bb0(%x: tensor<f32>):
    %s = stablehlo.add %x, %four : tensor<f32>
    stablehlo.return %s : tensor<f32> }) {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  %1 = stablehlo.reduce(%0 init: %c) applies stablehlo.add across dimensions = [0]
    : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32> } }""")
    assert execute(module, [np.ones(8, np.float32)], executor="reference")[0] == 40


def test_values_of_arguments_are_refused_in_regions() -> None:
    with pytest.raises(hlotool.HloError) as caught:
        from_stablehlo("""module { func.func @main(%a: tensor<8xf32>, %b: tensor<f32>) -> tensor<8xf32> {
  %0 = "stablehlo.map"(%a) ({ ^bb0(%x: tensor<f32>):
    %s = stablehlo.add %x, %b : tensor<f32>
    stablehlo.return %s : tensor<f32> }) {dimensions = array<i64: 0>} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32> } }""")
    assert caught.value.diagnostics[0].code == "X203"


def test_sizes_that_are_fixed_need_no_operand() -> None:
    module = from_stablehlo("""module { func.func @main(%a: tensor<8xf32>, %s: tensor<2xi64>) -> tensor<4x8xf32> {
  %0 = stablehlo.dynamic_broadcast_in_dim %a, %s, dims = [1] : (tensor<8xf32>, tensor<2xi64>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32> } }""")
    assert module.entry.root.opcode == "broadcast" and str(module.entry.root.shape) == "f32[4,8]"


def test_nested_modules() -> None:
    inner = f"builtin.module @inner {{ {MAIN} {{ return %a : tensor<8xf32> }} }}"
    assert from_stablehlo(f"module {{ {inner} }}").name == "inner"
    module = from_stablehlo(f"module {{ {MAIN} {{ return %a : tensor<8xf32> }} {inner} }}")
    assert [d.code for d in module.notes] == ["X202"]
