"""Small JAX programs whose optimised dumps hold what XLA's CPU compiler makes: fusions, library calls, loops, sorts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

#: name -> function and the shapes (with a letter for the type) of its arguments
PROGRAMS: dict[str, tuple[Callable[..., Any], tuple[str, ...]]] = {}


def program(*arguments: str) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Declare a program: its arguments as `f 2 3` (f32), `h` (bf16), `i` (s32 from 0 to 9), `c` (c64), `u` (u8)."""

    def declare(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS[function.__name__] = function, arguments
        return function

    return declare


def argument(text: str, seed: int) -> np.ndarray:
    """An array for an argument's description."""
    letter, *dims = text.split()
    shape, random = tuple(map(int, dims)), np.random.default_rng(seed)
    if letter in "iu":
        return random.integers(0, 10, shape).astype("i4" if letter == "i" else "u1")
    values = random.normal(size=shape).astype("f4")
    if letter == "c":
        return (values + 1j * random.normal(size=shape)).astype("c8")
    return values if letter == "f" else np.asarray(values.astype(jnp.bfloat16))


@program("f 4 8", "f 8 8", "f 8")
def dense_layer(x, w, b):
    return jax.nn.gelu(x @ w + b)


@program("f 4 8")
def softmax(x):
    return jax.nn.softmax(x), jax.nn.log_softmax(x, axis=0), jax.nn.logsumexp(x)


@program("f 3 8", "f 8", "f 8")
def layer_norm(x, scale, shift):
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * scale + shift


@program("f 2 5 4", "f 2 5 4", "f 2 5 4")
def attention(q, k, v):
    scores = jnp.einsum("bqd,bkd->bqk", q, k) / 2
    mask = jnp.tril(jnp.ones((5, 5), bool))
    return jnp.einsum("bqk,bkd->bqd", jax.nn.softmax(jnp.where(mask, scores, -1e9)), v)


@program("f 2 8 8 3", "f 3 3 3 4")
def convolution(x, w):
    y = lax.conv_general_dilated(x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@program("f 2 8 8 3", "f 3 3 3 4")
def convolution_gradients(x, w):
    def loss(x, w):
        y = lax.conv_general_dilated(x, w, (1, 2), ((1, 1), (0, 2)), dimension_numbers=("NHWC", "HWIO", "NHWC"))
        return (y**2).sum()

    return jax.grad(loss, (0, 1))(x, w)


@program("f 4 6", "f 6 3", "f 4 3")
def training_step(x, w, y):
    def loss(w):
        return ((jnp.tanh(x @ w) - y) ** 2).mean()

    value, gradient = jax.value_and_grad(loss)(w)
    return value, w - 0.1 * gradient


@program("f 7 3", "f 3 3")
def recurrence(xs, w):
    def step(carry, x):
        new = jnp.tanh(x + carry @ w)
        return new, new.sum()

    return lax.scan(step, jnp.zeros(3), xs)


@program("f", "i")
def while_loop(x, n):
    return lax.while_loop(lambda s: s[1] < n + 5, lambda s: (s[0] * 1.5 + 1, s[1] + 1), (x, 0))


@program("i", "f 5")
def branches(which, x):
    return (lax.switch(which % 3, [jnp.sin, jnp.cos, lambda v: v * 2], x),
            lax.cond(which > 4, lambda v: v + 1, lambda v: v - 1, x))


@program("f 6 5")
def sorting(x):
    return jnp.sort(x, axis=0), jnp.argsort(x, axis=1), lax.top_k(x, 3), jnp.median(x)


@program("f 8 4", "i 5", "f 5 4")
def gather_and_scatter(table, rows, values):
    added, bounded = table.at[rows % 8].add(values), table.at[rows % 8, 1].max(2.0)
    return table[rows], added, bounded, jnp.take(table, rows, mode="clip")


@program("f 9", "i")
def slices(x, at):
    cut = lax.dynamic_slice(x, (at,), (4,))
    return cut, lax.dynamic_update_slice(x, cut * 2, (at - 3,)), jnp.pad(x, (2, 1), mode="reflect"), x[::-2]


@program("f 3 3", "f 3 2")
def linear_algebra(a, b):
    spd = a @ a.T + 3 * jnp.eye(3)
    return jnp.linalg.cholesky(spd), jax.scipy.linalg.solve_triangular(spd, b, lower=True, trans=1)


@program("c 4 8")
def fourier(x):
    return jnp.fft.fft(x), jnp.fft.ifft2(x), jnp.fft.irfft(x), jnp.abs(x), jnp.angle(x)


@program("h 4 8", "h 8 4")
def half_precision(x, w):
    return x @ w, jnp.exp(x).sum(-1), (x.astype(jnp.float32) * 2).astype(jnp.bfloat16)


@program("u 4 8", "i 8 4")
def integers(x, w):
    y = x.astype(jnp.int32) @ w
    return y, y // 7, y % 5, jnp.bitwise_xor(x, 85), lax.population_count(x), x << 1, lax.clz(w)


@program("f 6")
def special_functions(x):
    return (lax.erf(x), lax.erf_inv(jnp.tanh(x)), lax.lgamma(jnp.abs(x) + 1), lax.digamma(jnp.abs(x) + 1),
            jnp.arctan2(x, x[::-1]), jnp.cbrt(x), jnp.log1p(jnp.abs(x)), jnp.expm1(x))


@program("i 2")
def random_numbers(seed):
    key = jax.random.key(seed[0])
    return jax.random.normal(key, (5,)), jax.random.randint(key, (4,), 0, 100), jax.random.permutation(key, 6)


@program("f 3 5", "f 3 5")
def cumulative(x, y):
    return jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(y, axis=1), jnp.convolve(x[0], y[1])


@program("f 4 3")
def reductions(x):
    return x.argmax(1), x.argmin(0), x.std(), (x > 0).any(1), (x > 0).all(), jnp.count_nonzero(x > 0)


@program("f 2 3 4", "f 4 3 5")
def contractions(x, y):
    return jnp.einsum("abc,cbd->ad", x, y), jnp.einsum("abc,cbd->bad", x, y), jnp.tensordot(x, y, ((2,), (0,)))
