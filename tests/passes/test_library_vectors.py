"""Convolutions of small integers as cuDNN stores them: a few features side by side, and the values of plain ones."""

from __future__ import annotations

import numpy as np
import pytest

import hlotool
from hlotool.passes.lift import lift_library_calls_recovering

#: labels of the call -> how [batch, y, x, features] and [output, y, x, features] become its operands, and back
FORMS = {
    "b01f_o01i->b01f": (lambda x: x.reshape(*x.shape[:3], -1, 4), lambda w: w.reshape(*w.shape[:3], -1, 4),
                        lambda r: r.reshape(*r.shape[:3], -1)),
    "bf01_oi01->bf01": (lambda x: x.reshape(*x.shape[:3], -1, 4).transpose(0, 3, 1, 2, 4),
                        lambda w: w.reshape(*w.shape[:3], -1, 4).transpose(0, 3, 1, 2, 4),
                        lambda r: r.transpose(0, 2, 3, 1, 4).reshape(r.shape[0], *r.shape[2:4], -1)),
    "b?f01_o?i01->b?f01": (lambda x: x.reshape(*x.shape[:3], -1, 4).transpose(0, 4, 3, 1, 2),
                           lambda w: w.reshape(*w.shape[:3], -1, 4).transpose(0, 4, 3, 1, 2),
                           lambda r: r.transpose(0, 3, 4, 2, 1).reshape(r.shape[0], *r.shape[3:], -1)),
}


def text(labels: str, x: np.ndarray, w: np.ndarray, result: tuple[int, ...], rest: str = "", names: str = "x, w",
         target: str = "convForward", scale: float = 1.0) -> str:
    config = f'{{"cudnn_conv_backend_config":{{"activation_mode":"kNone","conv_result_scale":{scale}}}}}'
    return f"""ENTRY e {{
  x = s8{list(x.shape)} parameter(0)
  w = s8{list(w.shape)} parameter(1){rest}
  ROOT c = (s8{list(result)}, u8[8]) custom-call({names}), window={{size=2x2}}, dim_labels={labels},
    custom_call_target="__cudnn${target}", backend_config={config}
}}"""


def plain(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """Sums of products over windows of 2 x 2, as whole numbers."""
    b, y, z, _ = x.shape
    found = np.zeros((b, y - 1, z - 1, w.shape[0]), np.int64)
    for i in range(2):
        for j in range(2):
            part = x[:, i:y - 1 + i, j:z - 1 + j].astype(np.int64)
            found += np.einsum("byxf,of->byxo", part, w[:, i, j].astype(np.int64))
    return found


@pytest.mark.parametrize("executor", ["reference", "pjrt:cpu"])
@pytest.mark.parametrize("labels", FORMS)
def test_features_side_by_side(labels: str, executor: str) -> None:
    random = np.random.default_rng(1)
    x, w = (random.integers(-9, 9, size).astype(np.int8) for size in ((1, 3, 4, 8), (4, 2, 2, 8)))
    vectors, taps, back = FORMS[labels]
    wanted = np.clip(plain(x, w), -128, 127)
    shape = vectors(np.zeros((1, 2, 3, 4), np.int8)).shape
    module = hlotool.parse(text(labels, vectors(x), taps(w), shape))
    assert [c.reason for c in lift_library_calls_recovering(module)] == [""]
    assert not [d for d in hlotool.verify(module) if d.severity == "error"]
    found = hlotool.execute(module, [vectors(x), taps(w)], executor)[0]
    assert found.shape == shape and (back(found) == wanted).all()


def test_scale_and_bias_of_vectors() -> None:
    random = np.random.default_rng(2)
    x, w = (random.integers(-9, 9, size).astype(np.int8) for size in ((1, 3, 3, 4), (4, 2, 2, 4)))
    vectors, taps, back = FORMS["b01f_o01i->b01f"]
    module = hlotool.parse(text("b01f_o01i->b01f", vectors(x), taps(w), (1, 2, 2, 1, 4), "\n  b = f32[4] parameter(2)",
                                "x, w, b", "convBiasActivationForward", 0.25))
    assert [c.reason for c in lift_library_calls_recovering(module)] == [""]
    bias = np.float32([1, -2, 3, 4])
    found = hlotool.execute(module, [vectors(x), taps(w), bias], "reference")[0]
    assert (back(found) == np.clip(np.rint(plain(x, w) * 0.25 + bias), -128, 127)).all()


def test_vectors_on_one_side_stay_a_call() -> None:
    module = hlotool.parse(text("b01f_o01i->b01f", np.zeros((1, 3, 4, 2, 4), np.int8), np.zeros((4, 2, 2, 8), np.int8),
                                (1, 2, 3, 1, 4)))
    (call,) = lift_library_calls_recovering(module)
    assert "one side only" in call.reason
