"""cuDNN's fused attention in operations: the values of NumPy's attention."""

from __future__ import annotations

import json

import numpy as np
import pytest

import hlotool
from hlotool.diagnostics import HloError

B, H, S, T, D = 2, 3, 5, 5, 4


def _call(mask: str = "NO_MASK", bias: str = "", stats: bool = False, **more: object) -> str:
    numbers = {"lhs_contracting_dimensions": ["3"], "lhs_batch_dimensions": ["0", "1"],
               "rhs_batch_dimensions": ["0", "1"]}
    config = {"cudnn_fmha_backend_config": {
        "fmha_scale": 0.5, "dropout_rate": 0, "mask_type": mask,
        "bmm1_dot_dimension_numbers": {**numbers, "rhs_contracting_dimensions": ["3"]},
        "bmm2_dot_dimension_numbers": {**numbers, "rhs_contracting_dimensions": ["2"]}, **more}}
    result = f"(f32[{B},{H},{S},{D}]{', f32[2,3,5]' if stats else ''}, u8[0])"
    target = "__cudnn$fmhaScaleBiasSoftmax" if bias else "__cudnn$fmhaSoftmax"
    parameters = f"  b = f32[{bias}] parameter(3)\n" if bias else ""
    return f"""HloModule m
ENTRY e {{
  q = f32[{B},{H},{S},{D}] parameter(0)
  k = f32[{B},{H},{T},{D}] parameter(1)
  v = f32[{B},{H},{T},{D}] parameter(2)
{parameters}  c = {result} custom-call(q, k, v{', b' if bias else ''}), custom_call_target="{target}",
    backend_config={json.dumps(config)}
  o = f32[{B},{H},{S},{D}] get-tuple-element(c), index=0
  {'s = f32[2,3,5] get-tuple-element(c), index=1' if stats else ''}
  ROOT r = ({'f32[2,3,5,4], f32[2,3,5]' if stats else 'f32[2,3,5,4]'}) tuple(o{', s' if stats else ''})
}}"""


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
@pytest.mark.parametrize(("mask", "bias"), [
    ("NO_MASK", ""), ("CAUSAL", ""), ("NO_MASK", "2,3,5,5"), ("CAUSAL", "1,1,5,5")])
def test_forward(mask: str, bias: str, executor: str) -> None:
    random = np.random.default_rng(1)
    arrays = [random.normal(size=(B, H, S, D)).astype(np.float32) for _ in range(3)]
    if bias:
        arrays.append(random.normal(size=tuple(map(int, bias.split(",")))).astype(np.float32))
    q, k, v = arrays[:3]
    scores = 0.5 * np.einsum("bhsd,bhtd->bhst", q, k) + (arrays[3] if bias else 0)
    if mask == "CAUSAL":
        scores = np.where(np.tril(np.ones((S, T), bool)), scores, -np.inf)
    sums = np.log(np.exp(scores).sum(-1))
    wanted = np.einsum("bhst,bhtd->bhsd", np.exp(scores - sums[..., None]), v)
    found = hlotool.execute(hlotool.parse(_call(mask, bias, stats=True)), arrays, executor=executor)
    np.testing.assert_allclose(found[0], wanted, 1e-5, 1e-5)
    np.testing.assert_allclose(found[1], sums, 1e-5, 1e-5)


@pytest.mark.parametrize("more", [{"dropout_rate": 0.1}, {"mask_type": "PADDING"}, {"sliding_window_length": 3},
                                  {"max_seg_per_batch": 2}])
def test_what_it_does_beside_is_not_guessed(more: dict[str, object]) -> None:
    arrays = [np.ones((B, H, S, D), np.float32)] * 3
    with pytest.raises(HloError) as caught:
        hlotool.execute(hlotool.parse(_call(**more)), arrays, executor="reference")
    assert caught.value.diagnostics[0].code == "E108"
