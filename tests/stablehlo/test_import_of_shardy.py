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


@pytest.mark.parametrize(("direction", "number"), [("NONE", 0), ("FORWARD", 1), ("BACKWARD", 2)])
def test_a_barrier_of_propagation_is_a_call(direction: str, number: int) -> None:
    module = from_stablehlo(f"""module {{ {MAIN} {{
  %0 = sdy.propagation_barrier %a allowed_direction={direction} : tensor<8xf32>
  return %0 : tensor<8xf32> }} }}""")
    (call,) = module.find_all("custom-call")
    assert call.attributes["custom_call_target"] == "xla.sdy.PropagationBarrier"
    assert call.attributes["frontend_attributes"].get("xla.sdy.allowed_direction") == f"{number} : i32"
    assert execute(module, [np.ones(8, np.float32)], executor="reference")[0].sum() == 8


def test_named_computations_and_marks_for_propagation() -> None:
    module = from_stablehlo(f"""module {{ {MESH}
 {MAIN} {{
  %0 = sdy.data_flow_edge %a : tensor<8xf32>
  %1 = sdy.named_computation<"twice">(%0) in_shardings=[<@mesh, [{{"a"}}]>] (%x: tensor<8xf32>) {{
    %2 = stablehlo.add %x, %x : tensor<8xf32>
    sdy.return %2 : tensor<8xf32> }} : (tensor<8xf32>) -> tensor<8xf32>
  %3 = sdy.data_flow_edge %1 sharding=<@mesh, [{{"a"}}]> : tensor<8xf32>
  return %3 : tensor<8xf32> }} }}""")
    (call,), (mark,) = module.find_all("call"), module.find_all("custom-call")
    assert call.attributes["to_apply"].name == "twice" and mark.attributes["custom_call_target"] == "Sharding"
    assert "[<@mesh" in call.attributes["frontend_attributes"].get("xla.sdy.in_shardings")
    assert execute(module, [np.ones(8, np.float32)], executor="reference")[0].sum() == 16


#: shard_map over one axis of two, as jaxlib 0.12 writes it before optimisation
PARTLY_MANUAL = """HloModule m, frontend_attributes={xla.sdy.meshes={mesh = #sdy.mesh<["a"=2, "b"=2]>}}
add { x = f32[] parameter(0)  y = f32[] parameter(1)  ROOT s = f32[] add(x, y) }
body {
  p = f32[4,8] parameter(0)
  r = f32[4,8] all-reduce(p), channel_id=1, replica_groups=mesh['a'=2,'b'=2] {'a'},
    use_global_device_ids=true, to_apply=add
  ROOT c = f32[4,8] custom-call(r), custom_call_target="Sharding", sharding={replicated},
    frontend_attributes={xla.sdy.sharding="#sdy.sharding_per_value<[<@mesh, [{?}, {?}]>]>"}
}
ENTRY main {
  v = f32[8,8] parameter(0)
  l = f32[4,8] custom-call(v), custom_call_target="xla.sdy.GlobalToLocalShape", custom_call_has_side_effect=true,
    frontend_attributes={xla.sdy.in_shardings="#sdy.sharding_per_value<[<@mesh, [{\\"a\\", ?}, {\\"b\\":(1)2, ?}p1]>]>",
      xla.sdy.manual_axes="#sdy<manual_axes{\\"a\\"}>"}
  c = f32[4,8] call(l), to_apply=body, frontend_attributes={inlineable="xla_late"}
  ROOT g = f32[4,8] custom-call(c), custom_call_target="xla.sdy.LocalToGlobalShape", custom_call_has_side_effect=true,
    frontend_attributes={xla.sdy.manual_axes="#sdy<manual_axes{\\"a\\"}>",
      xla.sdy.out_shardings="#sdy.sharding_per_value<[<@mesh, [{?}, {?}], replicated={\\"a\\"}>]>"}
}
"""


def test_a_region_that_leaves_axes_to_the_partitioner_runs() -> None:
    value = np.arange(64, dtype=np.float32).reshape(8, 8)
    module = hlotool.parse(PARTLY_MANUAL)
    (found,) = execute(module, [value], executor="reference")
    np.testing.assert_array_equal(found, value[:4] + value[4:])
    # XLA takes its older partitioner, which knows no such region, where a function has a sharding of HLO's.
    lines = str(hlotool.to_stablehlo(module)).split("\n")
    assert not [line for line in lines if "func.func private" in line and "mhlo.sharding" in line]


def test_the_sharding_of_a_result_is_not_a_calls_own() -> None:
    module = from_stablehlo("""module attributes {mhlo.num_partitions = 2 : i32} {
 func.func @main(%a: tensor<8xf32>) -> (tensor<8xf32> {mhlo.sharding = "{devices=[2]<=[2]}"}) {
  %0 = stablehlo.custom_call @xla.sdy.FuncResultSharding(%a) {has_side_effect = true} : (tensor<8xf32>) -> tensor<8xf32>
  return %0 : tensor<8xf32> } }""")
    (call,) = module.find_all("custom-call")
    assert "sharding" not in call.attributes and "sharding" in module.entry.root.attributes


def test_shardings_of_results_are_kept() -> None:
    text = """module attributes {mhlo.num_partitions = 2 : i32} {
  sdy.mesh @mesh = <["a"=2]>
  func.func public @main(%x: tensor<8x8xf32>, %y: tensor<4xf32>)
      -> (tensor<8x8xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"a"}, {}]>}, tensor<4xf32>) {
    %0 = stablehlo.negate %x : tensor<8x8xf32>
    return %0, %y : tensor<8x8xf32>, tensor<4xf32>
  }
}"""
    module = hlotool.from_stablehlo(text)
    kept, plain = module.entry.root.operands
    assert kept.attributes["custom_call_target"] == "xla.sdy.FuncResultSharding" and plain.opcode == "parameter"
    assert r'#sdy.sharding_per_value<[<@mesh, [{\"a\"}, {}]>]>' in hlotool.print_module(module)
    assert not hlotool.verify(module)
    again = hlotool.from_stablehlo(hlotool.to_stablehlo(module))
    assert hlotool.diff(module, again), hlotool.diff(module, again)
