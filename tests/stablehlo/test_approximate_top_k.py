"""ApproxTopK in StableHLO: what XLA takes comes in, and what XLA refuses is refused at its place."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import pytest

import hlotool
from hlotool.diagnostics import HloError

_CONFIGURATION = ("aggregate_to_topk = true, recall_target = 0.95 : f32, reduction_dim = 0 : i64, "
                  "reduction_input_size_override = -1 : i64, top_k = 4 : i64, is_fallback = true")
_PROGRAM = """func.func @main(%a: tensor<16xf32>, %i: tensor<16xi32>, %x: tensor<f32>, %y: tensor<i32>
    ) -> (tensor<4xf32>, tensor<4xi32>) {
  %0:2 = stablehlo.custom_call @ApproxTopK(%a, %i, %x, %y) {called_computations = [@gt], mhlo.backend_config = {CFG}
    } : (tensor<16xf32>, tensor<16xi32>, tensor<f32>, tensor<i32>) -> (tensor<4xf32>, tensor<4xi32>)
  return %0#0, %0#1 : tensor<4xf32>, tensor<4xi32>
}
func.func private @gt(%p: tensor<f32>, %q: tensor<f32>, %r: tensor<i32>, %s: tensor<i32>) -> tensor<i1> {
  %0 = stablehlo.compare GT, %p, %q : (tensor<f32>, tensor<f32>) -> tensor<i1>
  return %0 : tensor<i1>
}""".replace("CFG", _CONFIGURATION)


@pytest.mark.parametrize("size, k, settings", [
    (1000, 4, {}), (1000, 4, {"aggregate_to_topk": False}), (5000, 1, {"aggregate_to_topk": False}),
    (5000, 20, {"aggregate_to_topk": False, "recall_target": 0.8}),
    (1000, 4, {"aggregate_to_topk": False, "reduction_input_size_override": 4000})])
def test_what_jax_writes_comes_in(size, k, settings):
    traced = jax.jit(lambda x: jax.lax.approx_max_k(x, k, **settings)).trace(jnp.zeros((2, size)))
    module = hlotool.from_stablehlo(traced.lower(lowering_platforms=("tpu",)).as_text())
    assert [i.attributes["custom_call_target"] for i in module.instructions() if i.opcode == "custom-call"
            ] == ["ApproxTopK"]


@pytest.mark.parametrize("old, new, said", [
    (f", mhlo.backend_config = {{{_CONFIGURATION}}}", "", "needs mhlo.backend_config"),
    ("top_k = 4 : i64, ", "", "top_k is missing"),
    ("recall_target = 0.95 : f32, ", "", "recall_target is missing"),
    ("0.95 : f32", "1 : i64", "must be an f32"),
    ("0.95 : f32", "1.5 : f32", "lies in (0, 1]"),
    ("top_k = 4 : i64", 'top_k = "4"', "must be an i64"),
    ("top_k = 4", "top_k = 40", "has 16 elements"),
    ("topk = true", 'topk = "y"', "must be a bool"),
    ("reduction_dim = 0", "reduction_dim = 3", "no dimension of f32[16]"),
    ("is_fallback = true", "other = 1 : i64", "other is not part"),
    ("tensor<4x", "tensor<5x", "ApproxTopK gives f32[4]"),
    ("called_computations = [@gt], ", "", "one called computation"),
    (", %r: tensor<i32>, %s: tensor<i32>", "", "the comparator is (f32[], f32[]) -> pred[]")])
def test_what_xla_refuses_is_refused_at_its_place(old, new, said):
    assert hlotool.from_stablehlo(_PROGRAM) and old in _PROGRAM
    with pytest.raises(HloError) as raised:
        hlotool.from_stablehlo(_PROGRAM.replace(old, new))
    assert (raised.value.diagnostics[0].code, raised.value.diagnostics[0].line) == ("X203", 3)
    assert said in raised.value.diagnostics[0].message
