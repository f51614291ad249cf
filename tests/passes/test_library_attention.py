"""Transformer Engine's attention, lifted: the values of attention in NumPy, and the gradients that JAX derives."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import hlotool
from hlotool.passes.lift import lift_library_calls_recovering

B, S, H, G, D = 2, 6, 4, 2, 3
SCALE = 0.5
#: mask_type -> (causal, by length)
MASKS = {0: (False, False), 1: (False, True), 2: (True, False), 3: (True, True)}
ENDS = np.int32([0, 6, 10])  # the second sequence has four of six positions


def config(mask: int, layout: int, **more: Any) -> str:
    fields = {"attn_heads": H, "bias_batch": 0, "bias_heads": 0, "bias_type": 0, "dropout_probability": 0.0,
              "input_batch": B, "is_training": "true", "kv_max_seqlen": S, "mask_type": mask,
              "max_segments_per_seq": 1, "num_gqa_groups": G, "q_max_seqlen": S, "qk_head_dim": D,
              "qkv_layout": layout, "scaling_factor": SCALE, "v_head_dim": D, "window_size_left": -1,
              "window_size_right": -1} | more
    return "{" + ", ".join(f"{k} = {v}" + (" : i64" if isinstance(v, int) else " : f64" if isinstance(v, float) else "")
                           for k, v in fields.items()) + "}"


Q, KV, K = f"f32[{B},{S},{H},{D}]", f"f32[{B},{S},2,{G},{D}]", f"f32[{B},{S},{G},{D}]"
SUMS = f"f32[{B},{H},{S},1]"


def inputs(layout: int) -> str:
    arrays = (Q, KV, "f32[0]") if layout == 7 else (Q, K, K)
    return "\n".join(f"  {n} = {s} parameter({i})" for i, (n, s) in enumerate(zip("qkv", arrays, strict=True)))


def forward_text(mask: int, layout: int, **more: Any) -> str:
    return f"""ENTRY e {{
{inputs(layout)}
  ends = s32[{B + 1}] parameter(3)
  none = f32[0] constant({{}})
  seed = u32[2] constant({{1, 2}})
  ROOT a = ({Q}, {SUMS}, u32[2,4], u8[16]) custom-call(q, k, v, none, seed, ends, ends, none, none, none, none, none,
    none), custom_call_target="te_fused_attn_forward_ffi", api_version=API_VERSION_TYPED_FFI,
    backend_config={config(mask, layout, **more)}
}}"""


def backward_text(mask: int, layout: int) -> str:
    results = f"{Q}, {KV}, f32[0], f32[0], u8[16]" if layout == 7 else f"{Q}, {K}, {K}, f32[0], u8[16]"
    return f"""ENTRY e {{
{inputs(layout)}
  ends = s32[{B + 1}] parameter(3)
  sums = {SUMS} parameter(4)
  out = {Q} parameter(5)
  grad = {Q} parameter(6)
  none = f32[0] constant({{}})
  state = u32[2,4] constant({{...}})
  zeros = u32[2,4] broadcast(one), dimensions={{}}
  one = u32[] constant(0)
  ROOT a = ({results}) custom-call(q, k, v, none, sums, zeros, out, grad, ends, ends, none, none, none, none, none,
    none), custom_call_target="te_fused_attn_backward_ffi", api_version=API_VERSION_TYPED_FFI,
    backend_config={config(mask, layout)}
}}""".replace("  state = u32[2,4] constant({...})\n", "").replace(
        "  zeros = u32[2,4] broadcast(one), dimensions={}\n  one = u32[] constant(0)\n",
        "  one = u32[] constant(0)\n  zeros = u32[2,4] broadcast(one), dimensions={}\n")


def attention(q: Any, k: Any, v: Any, mask: int, np_: Any = np) -> tuple[Any, Any]:
    """The values and the logarithms of the sums, head by head; rows behind the end of a sequence are zero."""
    k, v = (np_.repeat(x, H // G, axis=2) for x in (k, v))
    scores = np_.einsum("bshd,bthd->bhst", q, k) * SCALE
    is_causal, by_length = MASKS[mask]
    lengths = np.diff(ENDS) if by_length else np.full(B, S)
    seen = np.ones((B, 1, S, S), bool) & (np.arange(S) < lengths[:, None])[:, None, None, :]
    seen = seen & (np.arange(S) < lengths[:, None])[:, None, :, None]
    seen = seen & (np.tril(np.ones((S, S), bool)) if is_causal else True)
    scores = np_.where(seen, scores, -1e30)
    powers = np_.exp(scores - scores.max(-1, keepdims=True)) * seen
    total = powers.sum(-1, keepdims=True)
    share = powers / np_.where(total == 0, 1, total)
    return np_.einsum("bhst,bthd->bshd", share, v), np_.log(np_.where(total == 0, 1, total)) + np_.where(
        seen.any(-1, keepdims=True), scores.max(-1, keepdims=True), 0)


def arguments(layout: int) -> tuple[list[Any], list[Any]]:
    """q, k and v, and how a layout packs them."""
    random = np.random.default_rng(3)
    q, k, v = (random.normal(size=(B, S, n, D)).astype(np.float32) for n in (H, G, G))
    return [q, k, v], [q, np.stack([k, v], 2), np.zeros(0, np.float32)] if layout == 7 else [q, k, v]


def lifted(text: str) -> Any:
    module = hlotool.parse(text)
    (call,) = lift_library_calls_recovering(module)
    assert call.reason == ""
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]
    return module


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
@pytest.mark.parametrize(("mask", "layout"), [(0, 9), (1, 9), (2, 7), (3, 9)])
def test_attention(mask: int, layout: int, executor: str) -> None:
    plain, packed = arguments(layout)
    value, sums, *_ = hlotool.execute(lifted(forward_text(mask, layout)), [*packed, ENDS], executor)
    wanted = attention(*(x.astype(np.float64) for x in plain), mask)
    np.testing.assert_allclose(value, wanted[0], rtol=1e-5, atol=1e-5)
    np.testing.assert_allclose(sums, wanted[1], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize(("mask", "layout"), [(0, 9), (2, 7), (3, 9)])
def test_its_gradients_are_those_of_jax(mask: int, layout: int) -> None:
    import jax
    import jax.numpy as jnp

    plain, packed = arguments(layout)
    gradient = np.random.default_rng(5).normal(size=(B, S, H, D)).astype(np.float32)
    gradient *= np.arange(S)[None, :, None, None] < (np.diff(ENDS) if MASKS[mask][1] else np.full(B, S))[
        :, None, None, None]
    out, back = jax.vjp(lambda q, k, v: attention(q, k, v, mask, jnp)[0], *plain)
    sums = np.float32(attention(*plain, mask)[1])
    found = hlotool.execute(lifted(backward_text(mask, layout)), [*packed, ENDS, sums, np.asarray(out), gradient],
                            "reference")
    wanted = back(jnp.asarray(gradient))
    rows = [found[0], found[1][:, :, 0], found[1][:, :, 1]] if layout == 7 else found[:3]
    for one, other in zip(rows, wanted, strict=True):
        np.testing.assert_allclose(one, other, rtol=2e-4, atol=2e-5)


@pytest.mark.parametrize(("more", "why"), [
    ({"dropout_probability": 0.1}, "drops"), ({"bias_type": 1}, "bias_type"), ({"window_size_left": 4}, "window"),
    ({"qkv_layout": 14}, "qkv_layout"), ({"mask_type": 5}, "mask_type"), ({"max_segments_per_seq": 2}, "segments"),
    ({"num_gqa_groups": 3}, "queries"), ({"attn_heads": 8}, "queries"), ({"num_gqa_groups": 1}, "queries")])
def test_attention_of_another_kind_stays_a_call(more: dict[str, Any], why: str) -> None:
    module = hlotool.parse(forward_text(0, 9, **more))
    (call,) = lift_library_calls_recovering(module)
    assert why in call.reason and module.entry.root.opcode == "custom-call"
