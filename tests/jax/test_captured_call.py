"""A JAX call captured with its arguments."""

from __future__ import annotations

import pathlib

import jax.numpy as jnp
import numpy as np

import hlotool
from hlotool.jax import capture


def model(weights: dict[str, jnp.ndarray], x: jnp.ndarray, times: int) -> jnp.ndarray:
    for _ in range(times):
        x = jnp.tanh(x @ weights["w"] + weights["b"])
    return x


def test_a_call_is_a_module_with_its_arguments(tmp_path: pathlib.Path) -> None:
    generator = np.random.default_rng(0)
    weights = {"w": jnp.asarray(generator.normal(size=(4, 4)), jnp.float32), "b": jnp.ones(4, jnp.float32)}
    x = jnp.asarray(generator.normal(size=(2, 4)), jnp.float32)
    call = capture(model, weights, x, 2, static_argnums=(2,))
    (given,) = hlotool.execute(call.module, call.arguments, "reference")
    np.testing.assert_allclose(given, model(weights, x, 2), rtol=1e-5)
    found = call.compare()
    assert found.verdict == "agree" and found.inputs == ["given"]
    text, arrays = call.save(tmp_path / "call")
    assert hlotool.parse(text.read_text()).entry.parameters()
    assert [a.shape for a in np.load(arrays).values()] == [(4,), (4, 4), (2, 4)]
