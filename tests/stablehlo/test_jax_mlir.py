"""StableHLO as JAX and older frameworks write it: what stands beside operations, and calls that mean operations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

import hlotool
from hlotool import from_stablehlo
from hlotool.diagnostics import HloError
from hlotool.ir import HloInstruction, HloModule

_ONE = """func.func @main(%a: tensor<4xf32>) -> tensor<4xf32> {{
  %0 = {} : (tensor<4xf32>) -> tensor<4xf32>
  return %0 : tensor<4xf32> }}"""
_X = np.array([0.5, -0.25, 0.0, 0.75], np.float32)


def _only(module: HloModule, opcode: str) -> HloInstruction:
    (found,) = [i for i in module.instructions() if i.opcode == opcode]
    return found


def test_a_configuration_beside_the_call_makes_it_typed() -> None:
    text = _ONE.format('stablehlo.custom_call @mine(%a) {backend_config = "", mhlo.backend_config = {uplo = 76 : ui8}}')
    call = _only(from_stablehlo(text), "custom-call")
    assert call.attributes["api_version"] == "API_VERSION_TYPED_FFI"
    assert call.attributes["backend_config"].text == "{uplo = 76 : ui8}"
    again = _only(from_stablehlo(hlotool.to_stablehlo(from_stablehlo(text))), "custom-call")
    assert again.attributes == call.attributes


def test_a_configuration_beside_another_operation_is_its_own() -> None:
    text = "func.func @main(%a: tensor<2xf32>) -> tensor<2xf32> " \
           '{ %0 = stablehlo.negate %a {mhlo.backend_config = "x"} : tensor<2xf32> return %0 : tensor<2xf32> }'
    assert _only(from_stablehlo(text), "negate").attributes["backend_config"].text == "x"


@pytest.mark.parametrize("written, shown", [
    ("", "{replicated}"), ("{maximal device=0}", "{maximal device=0}"),
    (r"\08\03\1A\01\02\22\02\00\01", "{devices=[2]0,1}")])
def test_shardings_come_as_text_and_as_bytes(written: str, shown: str) -> None:
    text = f'func.func @main(%a: tensor<2xf32> {{mhlo.sharding = "{written}"}}) -> tensor<2xf32> ' \
           "{ return %a : tensor<2xf32> }"
    assert f"sharding={shown}" in str(from_stablehlo(text))


def test_what_is_no_sharding_is_refused() -> None:
    with pytest.raises(HloError, match="which is no sharding"):
        from_stablehlo('func.func @main(%a: tensor<2xf32> {mhlo.sharding = "what"}) -> tensor<2xf32> '
                       "{ return %a : tensor<2xf32> }")


@pytest.mark.parametrize("name, function", [
    ("cosh", np.cosh), ("acos", np.arccos), ("asinh", np.arcsinh), ("atan", np.arctan), ("square", np.square)])
def test_calls_that_stand_for_operations(name: str, function: np.ufunc) -> None:
    text = _ONE.format(f"stablehlo.custom_call @mhlo.{name}(%a) {{mhlo.attributes = {{}}, mhlo.version = 1 : i64}}")
    module = from_stablehlo(text)
    assert "custom-call" not in {i.opcode for i in module.instructions()}
    (found,) = hlotool.execute(module, [_X], executor="reference")
    np.testing.assert_allclose(found, function(_X), rtol=1e-6)


def test_topk_keeps_its_attributes() -> None:
    text = """func.func @main(%a: tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>) {
  %0:2 = stablehlo.custom_call @mhlo.topk(%a) {mhlo.attributes = {k = 3 : i64, largest = LARGEST}}
    : (tensor<8xf32>) -> (tensor<3xf32>, tensor<3xi32>)
  return %0#0, %0#1 : tensor<3xf32>, tensor<3xi32> }"""
    assert _only(from_stablehlo(text.replace("LARGEST", "true")), "topk").attributes["k"] == 3
    with pytest.raises(HloError, match="top_k") as refused:
        from_stablehlo(text.replace("LARGEST", "false"))
    assert "smallest" in refused.value.diagnostics[0].notes[0].message


def test_a_manual_computation_is_the_calls_that_xla_makes_of_it() -> None:
    text = """module attributes {mhlo.num_partitions = 4 : i32} {
  sdy.mesh @mesh = <["x"=2, "y"=2]>
  func.func public @main(%a: tensor<8x4xf32>, %b: tensor<4x2xf32>) -> tensor<8x2xf32> {
    %0 = sdy.manual_computation(%a, %b) in_shardings=[<@mesh, [{"x"}, {}]>, <@mesh, [{}, {}]>]
      out_shardings=[<@mesh, [{"x"}, {}]>] manual_axes={"x"} (%c: tensor<4x4xf32>, %d: tensor<4x2xf32>) {
      %1 = stablehlo.dot_general %c, %d, contracting_dims = [1] x [0]
        : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
      sdy.return %1 : tensor<4x2xf32>
    } : (tensor<8x4xf32>, tensor<4x2xf32>) -> tensor<8x2xf32>
    return %0 : tensor<8x2xf32>
  }
}"""
    module = from_stablehlo(text)
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]
    targets = [i.attributes["custom_call_target"] for i in module.instructions() if i.opcode == "custom-call"]
    assert targets == ["xla.sdy.GlobalToLocalShape", "xla.sdy.LocalToGlobalShape"]
    assert 'xla.sdy.manual_axes="#sdy<manual_axes{\\"x\\"}>"' in str(module)
    assert len(list(from_stablehlo(hlotool.to_stablehlo(module)).instructions())) == len(list(module.instructions()))


def test_shardys_rule_of_a_library_call_is_kept_as_xla_keeps_it() -> None:
    text = """func.func @main(%a: tensor<3x3xf32>) -> tensor<3x3xf32> {
  %0 = stablehlo.custom_call @f(%a) {sdy.sharding_rule = #sdy.op_sharding_rule<([i, j])->([i, j]) {i=3, j=3}, custom>}
    : (tensor<3x3xf32>) -> tensor<3x3xf32>
  return %0 : tensor<3x3xf32> }"""
    entries = _only(from_stablehlo(text), "custom-call").attributes["frontend_attributes"].entries
    rule = "#sdy.op_sharding_rule<([i, j])->([i, j]) {i=3, j=3}, custom>"
    assert entries == (("xla.sdy.sharding_rule", f'"{rule}"'),)


def test_partners_of_a_send_come_back() -> None:
    text = """func.func @main(%a: tensor<8xf32>, %t: !stablehlo.token) -> !stablehlo.token {
  %0 = "stablehlo.send"(%a, %t) {channel_handle = #stablehlo.channel_handle<handle = 2, type = 1>,
    source_target_pairs = dense<[[0, 1], [1, 0]]> : tensor<2x2xi64>, is_host_transfer = false}
    : (tensor<8xf32>, !stablehlo.token) -> !stablehlo.token
  return %0 : !stablehlo.token }"""
    module = from_stablehlo(text)
    assert '_xla_send_recv_source_target_pairs="{{0,1},{1,0}}"' in str(module)
    assert "dense<[[0, 1], [1, 0]]>" in str(hlotool.to_stablehlo(module))


def test_a_slice_at_a_computed_start_needs_no_refinement() -> None:
    text = """func.func @main(%a: tensor<8xf32>, %i: tensor<i32>) -> tensor<3xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [3] : (tensor<8xf32>, tensor<i32>) -> tensor<3xf32>
  %1 = chlo.square %0 : tensor<3xf32> -> tensor<3xf32>
  %2 = call @f(%1, %i) : (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>
  return %2 : tensor<3xf32> }
func.func private @f(%a: tensor<3xf32>, %i: tensor<i32>) -> tensor<3xf32> {
  %0 = stablehlo.dynamic_slice %a, %i, sizes = [3] : (tensor<3xf32>, tensor<i32>) -> tensor<3xf32>
  return %0 : tensor<3xf32> }"""
    arguments = [np.arange(8, dtype=np.float32), np.int32(2)]
    (found,) = hlotool.execute(from_stablehlo(text), arguments, executor="reference")
    np.testing.assert_array_equal(found, [4, 9, 16])


def test_the_dialect_of_old_dumps_is_read() -> None:
    text = """func.func @main(%a: tensor<2xf32> {mhlo.sharding = "{replicated}"}, %t: !mhlo.token) -> tensor<2xi1> {
  %c = arith.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %b = mhlo.add %a, %c : tensor<2xf32> // mhlo.add in a comment
  %d = tensor.cast %b : tensor<2xf32> to tensor<2xf32>
  %0 = "mhlo.compare"(%d, %a) {comparison_direction = #mhlo<comparison_direction GT>}
    : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>
  return %0 : tensor<2xi1> }"""
    module = from_stablehlo(text)
    assert [i.opcode for i in module.entry.instructions] == ["parameter", "parameter", "constant", "add", "compare"]
    assert "sharding" in module.entry.instructions[0].attributes


@pytest.mark.parametrize("dim, batch, wanted", [
    (0, 0, lambda x, i: x[i]), (1, 0, lambda x, i: x[:, i]),
    (1, 1, lambda x, i: np.stack([r[j] for r, j in zip(x, i, strict=True)]))])
def test_index_select_is_a_gather(dim: int, batch: int, wanted: Callable[..., np.ndarray]) -> None:
    x, i = np.arange(24, dtype=np.float32).reshape(2, 3, 4), np.array([[1, 0, 1, 1], [0, 1, 1, 0]], np.int32)
    index = i if batch else i[0]
    result = wanted(x, index)

    def tensor(array: np.ndarray, kind: str) -> str:
        return f"tensor<{'x'.join(map(str, array.shape))}x{kind}>"

    types = f"({tensor(x, 'f32')}, {tensor(index, 'i32')}) -> {tensor(result, 'f32')}"
    text = f"""func.func @main(%a: {tensor(x, 'f32')}, %i: {tensor(index, 'i32')}) -> {tensor(result, 'f32')} {{
  %0 = "stablehlo.torch_index_select"(%a, %i) {{dim = {dim} : i64, batch_dims = {batch} : i64}} : {types}
  return %0 : {tensor(result, 'f32')} }}"""
    (found,) = hlotool.execute(from_stablehlo(text), [x, index], executor="reference")
    np.testing.assert_array_equal(found, result)


def test_a_call_of_no_named_interface_has_the_first_one() -> None:
    text = 'ENTRY e { a = f32[2] parameter(0)  ROOT c = f32[2] custom-call(a), custom_call_target="t", ' \
           "api_version=API_VERSION_UNSPECIFIED }"
    module = hlotool.parse(text)
    assert not hlotool.verify(module)
    program = hlotool.to_stablehlo(module)
    assert _only(from_stablehlo(program), "custom-call").attributes["api_version"] == "API_VERSION_UNSPECIFIED"
