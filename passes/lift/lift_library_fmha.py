"""Writes cuDNN's fused attention, forward, as the operations that it stands for.

    ENTRY main {                                  ENTRY main {
      q = bf16[2,6,8,4] parameter(0)                q = bf16[2,6,8,4] parameter(0)
      ...                                           ...
      ROOT a = (bf16[2,6,8,4], u8[0])               s = f32[2,6,8,8] dot(q, k), ...
        custom-call(q, k, v),                       p = f32[2,6,8,8] exponential(...)
        custom_call_target=                         a = f32[2,6,8,4] dot(...), ...
          "__cudnn$fmhaSoftmax", ...                ...
    }                                             }

Without dropout, paddings and windows. Source of what calls mean: XLA, gpu_fused_mha_runner and cudnn_fused_mha tests;
cuDNN, scaled dot product attention: the bias is added to what is scaled, the statistics are logarithms of sums.
"""

from __future__ import annotations

from typing import Any

from hlotool.ir import HloInstruction, HloModule, Shape
from hlotool.passes.edit import PRED
from hlotool.passes.lift.library_calls import Call, dot_attributes, on_target, wide_type
from hlotool.passes.lift.lift_library_calls import lift_targets


def lift_library_fmha(module: HloModule) -> HloModule:
    """Return the same module, changed in place, without cuDNN's calls of attention that say what they compute."""
    return lift_targets(module, __name__)


@on_target("__cudnn$fmhaSoftmax", "__cudnn$fmhaScaleBiasSoftmax")
def forward(call: Call) -> tuple[HloInstruction, ...]:
    """softmax(scale * q k^T + bias, masked) v, and the logarithms of the sums of the softmax if asked for."""
    config = call.config("cudnn_fmha_backend_config")
    has_bias = "Bias" in call.target
    mask = str(config.get("mask_type", "NO_MASK"))
    call.expect(float(config.get("dropout_rate", 0)) == 0, f"it drops {config.get('dropout_rate')} of its weights")
    call.expect(mask in ("NO_MASK", "CAUSAL"), f"its mask_type is {mask}")
    call.expect(int(config.get("sliding_window_length", 0)) <= 0, "it sees a window only")
    call.expect(int(config.get("max_seg_per_batch", 0)) <= 1, "it has several segments in a sequence")
    call.expect(len(call.operands) == 3 + has_bias, f"it has {len(call.operands)} operands")
    q, k, v = (call.cast(o, wide_type(o.shape)) for o in call.operands[:3])
    scores = call.scaled(_dot(call, q, k, config, "bmm1_dot_dimension_numbers"), float(config.get("fmha_scale", 1)))
    call.expect(scores.shape.rank == 4, f"its scores are {scores.shape.text(False)}")
    if has_bias:
        scores = call.add("add", [scores, _spread_out(call, call.operands[3], scores.shape)])
    if mask == "CAUSAL":
        query, key = (call.add("iota", [], scores.shape.with_element_type("s32"), iota_dimension=d) for d in (2, 3))
        seen = call.add("compare", [key, query], PRED.with_dims(scores.shape.dims), direction="LE")
        scores = call.add("select", [seen, scores, call.splat(float("-inf"), scores.shape)])
    share, most, total = call.softmax(scores, scores.shape.rank - 1)
    out, *others = call.results
    value = _dot(call, share, v, config, "bmm2_dot_dimension_numbers")
    call.expect(value.shape.dims == out.dims, f"its value is {value.shape.text(False)}, its result {out.text(False)}")
    found = [call.cast(value, out.element_type)]
    if others and others[0].element_type != "u8":
        call.expect(others[0].dims == total.shape.dims, f"its statistics are {others[0].text(False)}")
        logarithm = call.add("add", [most, call.add("log", [total])])
        found.append(call.cast(logarithm, others[0].element_type))
    return call.with_workspaces(*found)


def _dot(call: Call, lhs: HloInstruction, rhs: HloInstruction, config: dict[str, Any], name: str) -> HloInstruction:
    numbered = config.get(name)
    call.expect(isinstance(numbered, dict), f"its configuration has no {name}")
    assert isinstance(numbered, dict)
    return call.add("dot", [lhs, rhs], **dot_attributes(numbered))


def _spread_out(call: Call, bias: HloInstruction, shape: Shape) -> HloInstruction:
    """Return a bias whose dimensions of one element stand for as many as the scores have."""
    dims = bias.shape.dims
    call.expect(len(dims) == len(shape.dims) and all(b in (1, n) for b, n in zip(dims, shape.dims, strict=True)),
                f"its bias is {bias.shape.text(False)}, its scores {shape.text(False)}")
    kept = tuple(d for d, n in enumerate(dims) if n == shape.dims[d])
    wide = call.cast(bias, shape.element_type)
    flat = call.add("reshape", [wide], wide.shape.with_dims(tuple(dims[d] for d in kept)))
    return call.spread(flat, shape, kept)
