"""What JAX users compute in f16 and bf16: a compiler that does nothing wrong is not called wrong."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import hlotool

#: name -> function and the dimensions of its arguments
MODELS: dict[str, tuple[Callable[..., Any], list[tuple[int, ...]]]] = {
    "feed forward": (lambda x, w, u: jax.nn.silu(x @ w) @ u, [(4, 16), (16, 32), (32, 16)]),
    "root mean square": (
        lambda x, g: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + 1e-6) * g, [(4, 32), (32,)]),
    "recurrence": (
        lambda x: lax.scan(lambda c, t: (jnp.tanh(c * 0.9 + t), c), jnp.zeros_like(x[0]), x)[0], [(10, 8)]),
    "layer norm": (lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + 1e-5), [(8, 32)]),
    "softmax": (jax.nn.softmax, [(8, 32)]),
    "attention": (lambda q, k, v: jax.nn.softmax(q @ k.T / 4) @ v, [(8, 16)] * 3),
    "gelu": (lambda x, w: jax.nn.gelu(x @ w, approximate=False), [(4, 16), (16, 32)]),
    "gradient": (jax.grad(lambda x, w: jnp.sum(jax.nn.softplus(x @ w) ** 2)), [(4, 8), (8, 8)]),
    "update": (lambda p, g, m, v: p - 0.01 * (0.9 * m + 0.1 * g) / (jnp.sqrt(0.99 * v * v + 0.01 * g * g) + 1e-3),
               [(32,)] * 4),
    "logarithm of a sum": (jax.scipy.special.logsumexp, [(8, 32)]),
    "convolution": (lambda x, w: jax.nn.relu(lax.conv(x, w, (1, 1), "SAME")), [(1, 4, 8, 8), (8, 4, 3, 3)]),
    "inverse functions": (lambda x: jnp.arcsinh(x) + jnp.arctanh(jnp.tanh(x) * 0.5), [(64,)]),
    "norm": (lambda x: x / jnp.linalg.norm(x, axis=-1, keepdims=True), [(8, 16)]),
    "variance": (lambda x: jnp.var(x, -1) + jnp.std(x, 0).sum(), [(8, 16)]),
    "swish": (lambda x: x * jax.nn.sigmoid(x), [(64,)]),
    "quotients": (lambda x, y: x / (1 + y * y) + x / 0.7, [(64,), (64,)]),
}
EVERY_RUN = ("feed forward", "root mean square", "quotients")


@pytest.mark.parametrize("kind", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", [
    n if n in EVERY_RUN else pytest.param(n, marks=pytest.mark.skipif(
        "HLOTOOL_NIGHTLY" not in os.environ, reason="seconds each; HLOTOOL_NIGHTLY=1")) for n in MODELS])
def test_a_narrow_model_agrees(name: str, kind: str) -> None:
    function, dims = MODELS[name]
    lowered = jax.jit(function).lower(*(jax.ShapeDtypeStruct(d, getattr(jnp, kind)) for d in dims))
    found = hlotool.compare(lowered, executors=("pjrt:cpu", "reference"), time_budget=1.0)
    assert found.verdict == "agree", str(found)
